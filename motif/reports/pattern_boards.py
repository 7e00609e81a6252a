"""Positions where a pattern is largest and smallest, drawn as text and as Markdown."""

from collections.abc import Iterator, Sequence

from motif.analysis.pattern_report import Extremes, PatternBoard, ToldPattern
from motif.board.diagram import text_diagram
from motif.board.position import Position


def facts_of(pattern: ToldPattern) -> str:
    """How often a pattern is large, and what it is worth, in a sentence or two."""
    return (
        f"These inputs tell {pattern.share:.0%} of it. It is on in {pattern.on:.0%} of the positions, off in "
        f"{pattern.off:.0%}. On the tenth where it is largest it is worth {pattern.high:+.3f} points beside "
        f"its mean, on the tenth where it is smallest {pattern.low:+.3f}."
    )


def board_blocks(found: Sequence[PatternBoard]) -> Iterator[tuple[str, str]]:
    """A line on each board, and the board drawn; X is the player on roll."""
    for one in found:
        line = f"pattern {one.squashed:+.2f}, worth {one.adds:+.3f} of an equity of {one.equity:+.3f}"
        yield line, text_diagram(Position(one.board))


def kinds(found: Extremes) -> tuple[tuple[str, tuple[PatternBoard, ...]], ...]:
    """Both kinds of boards with their headings."""
    return ("Where it is largest", found.largest), ("Where it is smallest", found.smallest)


def pattern_text(found: Extremes) -> str:
    """The boards as text."""
    blocks: list[str] = []
    for heading, boards in kinds(found):
        blocks += [heading, *("\n".join(block) for block in board_blocks(boards))]
    return "\n\n".join(blocks)


def pattern_markdown(pattern: ToldPattern, found: Extremes, level: int = 3) -> Iterator[str]:
    """What a pattern is about, and its boards, as lines of Markdown below a heading of a `level`."""
    yield from (f"{'#' * level} {pattern.name}", "", f"*{pattern.words}*", "", facts_of(pattern), "")
    for heading, boards in kinds(found):
        yield from (f"**{heading}**", "")
        for line, board in board_blocks(boards):
            yield from (f"{line[0].upper()}{line[1:]}:", "", "```text", *board.split("\n"), "```", "")
