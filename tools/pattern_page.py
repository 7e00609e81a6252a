"""Where the patterns of a weight file are largest and smallest, as boards, for docs/explanation/patterns.md.

``python -m tools.pattern_page docs/explanation/patterns.md [WEIGHTS]`` takes the ten patterns of contact
positions that move the equity of WEIGHTS most, by default the newest version, along 5,000 positions of its
own games, and writes into the page what each is about, what it is worth, and the two boards on which it is
largest and the two on which it is smallest.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from motif.analysis.explain.judged import EQUITY
from motif.analysis.pattern_report import extremes, pattern_markdown, told_patterns
from motif.analysis.term_report import game_boards
from motif.evaluators import StaticEvaluator, load_static
from motif.players.player import static_player
from motif.runtime.errors import MotifError
from tools.marked_page import region, write_region

REGION = "patterns"
CLASS = "contact"
_PATTERNS, _BOARDS, _POSITIONS, _SEED = 10, 2, 5_000, 0


def lines(evaluator: StaticEvaluator, positions: int = _POSITIONS) -> Iterator[str]:
    """The region: the patterns that move most, along so many positions of the evaluator's own games."""
    weights = evaluator.weights
    if weights is None or CLASS not in weights.patterns:
        yield f"{evaluator.name if weights is None else weights.name} has no patterns."
        return
    boards = game_boards(static_player(evaluator), positions, CLASS, "", seed=_SEED)
    told = told_patterns(weights, CLASS, EQUITY, boards)
    yield (
        f"The {min(_PATTERNS, len(told))} of {len(told)} patterns of {weights.name} for {CLASS} positions "
        f"that move its equity most, along {positions:,} positions of its games."
    )
    for pattern in told[:_PATTERNS]:
        yield ""
        found = extremes(weights, CLASS, pattern.name, boards, _BOARDS)
        yield from list(pattern_markdown(pattern, found))[:-1]


def main(arguments: list[str]) -> int:
    """Write the region; 2 when something is wrong with the page or the weights."""
    if not 1 <= len(arguments) <= 2:
        print("python -m tools.pattern_page PAGE [WEIGHTS]", file=sys.stderr)
        return 2
    page = Path(arguments[0])
    try:
        region(page, REGION)
        write_region(page, REGION, lines(load_static(arguments[1] if arguments[1:] else "latest")))
    except MotifError as error:
        print(f"tools.pattern_page: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
