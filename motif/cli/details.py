"""What a player sees in a position, printed for people."""

from typing import TYPE_CHECKING, Any

from motif.cli.common import print_table

if TYPE_CHECKING:
    from motif.board.position import Position
    from motif.evaluators import Evaluator
    from motif.reports.explain import PositionExplanation


def print_details(details: dict[str, Any]) -> None:
    """Print `Evaluator.details`: features and raw sums in a table each, scores in another."""
    for name, value in details.items():
        if isinstance(value, dict):
            print_table((name, ""), [(key, f"{number:+.4f}") for key, number in value.items()])
    rest = [(name, _shown(value)) for name, value in details.items() if not isinstance(value, dict)]
    if rest:
        print_table(("score", ""), [(name.replace("_", " "), text) for name, text in rest])


def what_makes_up(
    evaluator: "Evaluator", position: "Position", details: dict[str, Any]
) -> "PositionExplanation | None":
    """What the value of a position is made of, where `details` are those of a weight file's raw sums."""
    if "raw" not in details:
        return None
    from motif.reports.explain import explain_position

    return explain_position(evaluator, position)


def print_explanation(explanation: "PositionExplanation") -> None:
    """Print what the value of a position is made of, in groups and sentences."""
    print("\nwhat makes it up, against the same position with the sides exchanged:")
    print(explanation.summary)
    for sentence in explanation.sentences:
        print(sentence)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"
