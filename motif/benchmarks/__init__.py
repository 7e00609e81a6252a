"""Error rates on benchmark files and recorded decisions, and speed."""

from motif.benchmarks.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmarks.choices import ErrorRate, ErrorRates

__all__ = ["BenchmarkFile", "ErrorRate", "ErrorRates", "read_benchmark"]
