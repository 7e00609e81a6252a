"""What `motif benchmark` prints."""

from collections.abc import Sequence

from motif.benchmark.error_rate import ErrorRate, ErrorRates
from motif.benchmark.worst_decisions import WorstDecision
from motif.board.identifiers import gnubg_id
from motif.cli.common import print_table

_MOST_BEST = 3
"""Best plays named of one decision."""


def print_losses(player: str, rates: ErrorRates, cube_decisions: int) -> None:
    """Print error rates by file, by class and together, and how the losses are spread."""
    rows = [_row(path, rate) for path, rate in rates.files.items()]
    rows += [_row(f"{name} positions", rate) for name, rate in rates.classes.items()]
    rows.append(_row("all decisions", rates.overall))
    print_table(("", "error rate", "standard error", "decisions", "unlisted"), rows)
    print(f"error rate: millipoints that {player} loses a decision;")
    print("an unlisted choice costs the worst loss listed for the decision")
    spread = rates.distribution
    together = [*spread.at_most.values(), 1.0]
    print_table(
        ("millipoints lost", "% of decisions", "% up to here", "% of all lost"),
        [
            (it.name, *(f"{100 * share:.1f}" for share in (it.decisions, up_to, it.lost)))
            for it, up_to in zip(spread.ranges, together, strict=True)
        ],
    )
    print(
        f"median {spread.median:.1f}, 90 % lose at most {spread.percentile_90:.1f}, 99 % at most "
        f"{spread.percentile_99:.1f}, largest {spread.largest:.1f};\n"
        f"the best play is found in {spread.best_found:.1%} of the decisions"
    )
    if cube_decisions:
        print(f"{cube_decisions:,} cube decision{'s' * (cube_decisions > 1)}, not used")


def print_worst(decisions: Sequence[WorstDecision]) -> None:
    """Print the decisions that cost most, a few lines each."""
    for number, decision in enumerate(decisions, 1):
        roll = "{}{}".format(*decision.roll)
        line = "" if decision.line is None else f", line {decision.line}"
        best = " or ".join(play.notation for play in decision.best[:_MOST_BEST])
        at_least = "" if decision.is_listed else "at least "
        place = f"{decision.class_name}, {decision.path}{line}"
        print(f"\n{number}. {gnubg_id(decision.position)} {roll}  {place}")
        print(f"   {decision.played.notation} loses {at_least}{decision.played.loss:.1f}; best is {best}")


def _row(name: str, rate: ErrorRate) -> tuple[str, ...]:
    return name, f"{rate.er:.2f}", f"{rate.se:.2f}", f"{rate.decisions:,}", f"{rate.unlisted:,}"
