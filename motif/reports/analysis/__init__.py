"""What an evaluator with weights looks at, measured on many positions and drawn."""

from motif.reports.analysis.report import analyse

__all__ = ["analyse"]
