"""The decisions that cost most, as text: each play with the boards after it and after the better one."""

from collections.abc import Iterator

from motif.board.diagram import text_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_state import match_id
from motif.board.moves import Play
from motif.reports.match_analysis.analysis import MatchAnalysis
from motif.reports.match_analysis.rows import loss_text, play_text
from motif.reports.match_analysis.worst import WorstCube, WorstPlay

_BOARD_WIDTH = 49
"""What stands to the right of a diagram begins here."""


def worst_lines(analysis: MatchAnalysis, width: int) -> Iterator[str]:
    """Lines for a terminal of `width` columns; boards stand side by side where they fit."""
    in_match = bool(analysis.length)
    if analysis.plays:
        yield from ("The plays that cost most", "")
    for number, play in enumerate(analysis.plays, 1):
        yield from _play_lines(number, play, in_match, width)
    if analysis.cubes:
        yield from ("The cube decisions that cost most", "")
    for number, cube in enumerate(analysis.cubes, 1):
        yield from _cube_lines(number, cube, analysis.names, in_match)


def _play_lines(number: int, play: WorstPlay, in_match: bool, width: int) -> Iterator[str]:
    moment = play.moment
    yield f"{number}. {play.heading}: loses {loss_text(play.error, play.cost, in_match)}"
    yield f" {gnubg_id(moment.position)}:{match_id(moment.state)}"
    made, better = (
        [f" {caption}", *_board(after)]
        for caption, after in zip(play_text(play), (play.played, play.better), strict=True)
    )
    if width >= 2 * _BOARD_WIDTH:
        yield from (
            f"{left:{_BOARD_WIDTH}}{right}".rstrip() for left, right in zip(made, better, strict=True)
        )
    else:
        yield from (*made, *better)
    if play.why.summary:
        yield f" {play.why.summary}"
    yield from (f" - {sentence}" for sentence in play.why.sentences)
    yield ""


def _cube_lines(number: int, cube: WorstCube, names: tuple[str, str], in_match: bool) -> Iterator[str]:
    moment = cube.act.chance
    seats = names[moment.player], names[1 - moment.player]
    yield f"{number}. {cube.heading}, loses {loss_text(cube.act.error, cube.cost, in_match)}"
    yield text_diagram(moment.position, cube.shown_state, seats)
    yield " " + ", ".join(f"{what}: {value:+.3f}" for what, value in cube.equities)
    yield from (f" {cube.act.decision.words}", "")


def _board(play: Play) -> list[str]:
    """The board after `play`, seen by who made it."""
    # Without the identifier, which would be that of a player who is not on roll.
    lines = text_diagram(play.position.switch_sides()).split("\n")[1:]
    return [line[:_BOARD_WIDTH].rstrip() for line in lines]
