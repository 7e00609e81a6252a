"""What a player sees in a position, printed for people."""

from typing import Any

from motif.cli.common import print_table


def print_details(details: dict[str, Any]) -> None:
    """Print `Evaluator.details`: features and raw sums in a table each, scores in another."""
    for name, value in details.items():
        if isinstance(value, dict):
            print_table((name, ""), [(key, f"{number:+.4f}") for key, number in value.items()])
    rest = [(name, _shown(value)) for name, value in details.items() if not isinstance(value, dict)]
    if rest:
        print_table(("score", ""), [(name.replace("_", " "), text) for name, text in rest])


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"
