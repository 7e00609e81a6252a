"""Show where hidden units are largest and smallest, as boards, in docs/explanation/hidden-layer.md.

``python -m tools.unit_page docs/explanation/hidden-layer.md [WEIGHTS]`` takes the three hidden units of
contact positions that move the equity of WEIGHTS (by default the newest version) most over 5,000 positions of
its own games.  No board is shown twice: a unit has the most extreme boards that those before it do not have.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from motif.analysis.evaluator_analysis import self_play_positions
from motif.analysis.unit_report import (
    Extremes,
    UnitBoard,
    UnitSummary,
    board_blocks,
    extremes,
    facts_of,
    kinds,
    unit_summaries,
)
from motif.evaluators import StaticEvaluator, load_static
from motif.players.player import static_player
from motif.runtime.errors import SettingError
from tools.marked_page import region, reporting, write_region

REGION = "units"
CLASS = "contact"
_UNITS, _BOARDS, _POSITIONS, _SEED = 3, 1, 5_000, 0


def lines(evaluator: StaticEvaluator, positions: int = _POSITIONS) -> Iterator[str]:
    """Yield the section: the hidden units that move the equity most, over the evaluator's own games."""
    weights = evaluator.weights
    if weights is None or CLASS not in weights.hidden_layers:
        yield f"{evaluator.name if weights is None else weights.name} has no hidden units."
        return
    boards = self_play_positions(static_player(evaluator), positions, CLASS, seed=_SEED)
    told = unit_summaries(weights, CLASS, "win", boards)
    yield (
        f"The {min(_UNITS, len(told))} of the {len(told)} hidden units of {weights.name} for {CLASS} "
        f"positions that move its equity most, over {positions:,} positions of its games. Each unit is shown "
        "with its most extreme board; a board already shown for a unit above is skipped."
    )
    shown: set[bytes] = set()
    for unit in told[:_UNITS]:
        yield ""
        found = extremes(weights, CLASS, unit.name, boards, _BOARDS + len(shown))
        new = replace(found, largest=_new(found.largest, shown), smallest=_new(found.smallest, shown))
        yield from list(unit_markdown(unit, new))[:-1]


def _new(boards: Sequence[UnitBoard], shown: set[bytes]) -> tuple[UnitBoard, ...]:
    """Return the first boards that are not `shown` yet, and add them to these."""
    new = [board for board in boards if board.board.tobytes() not in shown][:_BOARDS]
    shown |= {one.board.tobytes() for one in new}
    return tuple(new)


def unit_markdown(unit: UnitSummary, found: Extremes, level: int = 3) -> Iterator[str]:
    """Yield a unit's description and boards as Markdown lines below a heading of a `level`."""
    yield from (f"{'#' * level} {unit.name}", "", f"*{unit.words}*", "", facts_of(unit), "")
    for heading, boards in kinds(found):
        yield from (f"**{heading}**", "")
        for line, board in board_blocks(boards):
            yield from (f"{line[0].upper()}{line[1:]}:", "", "```text", *board.split("\n"), "```", "")


@reporting
def main(arguments: list[str]) -> None:
    """Write the section."""
    if not 1 <= len(arguments) <= 2:
        raise SettingError("usage: python -m tools.unit_page PAGE [WEIGHTS]")
    page = Path(arguments[0])
    region(page, REGION)
    write_region(page, REGION, lines(load_static(arguments[1] if arguments[1:] else "latest")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
