"""What `motif benchmark` prints."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from motif.benchmark.choices import ErrorRates
from motif.benchmark.losses import ByGroup, PairedRate
from motif.benchmark.worst_decisions import WorstDecision
from motif.board.identifiers import gnubg_id
from motif.cli.common import print_table

_MOST_BEST = 3
"""Best plays named of one decision."""
_Rate = TypeVar("_Rate")


def print_losses(player: str, rates: ErrorRates, cube_decisions: int, of_datasets: bool = False) -> None:
    """Print error rates by file, by class and together, and how the losses are spread."""
    rows = [
        (*_row(name, rate.er, rate.se, rate.decisions), f"{rate.unlisted:,}") for name, rate in _named(rates)
    ]
    print_table(("", "error rate", "standard error", "decisions", "unlisted"), rows)
    print(f"error rate: millipoints that {player} loses a decision;")
    if of_datasets:
        print("labels have noise: it tells less than differences between players do")
    else:
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


def print_paired(player: str, versus: str, compared: ByGroup[PairedRate]) -> None:
    """Print what `player` loses more than `versus`, on the same groups of decisions."""
    rows = [_row(name, rate.difference, rate.se, rate.decisions) for name, rate in _named(compared)]
    print_table(("", "difference", "standard error", "decisions"), rows)
    print(f"difference: millipoints a decision that {player} loses more than {versus}")


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


def _named(rates: ByGroup[_Rate]) -> Iterator[tuple[str, _Rate]]:
    """Rates as they stand in a table, one below the other, and what each is called there."""
    yield from rates.files.items()
    for name, rate in rates.classes.items():
        yield f"{name} positions", rate
    yield "all decisions", rates.overall


def _row(name: str, mean: float, se: float, decisions: int) -> tuple[str, ...]:
    return name, f"{mean:.2f}", f"{se:.2f}", f"{decisions:,}"
