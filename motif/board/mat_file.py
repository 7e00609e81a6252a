"""Records of games as .mat files, the text form of Jellyfish that gnubg and others write and read.

A line holds a roll and play of each player, the first one's to the left; every die's move is spelled
out, 25 is the bar and 0 is off.  As gnubg does, a reader takes a roll without moves for a dance, for
the play where only one is legal, and otherwise for a roll that was never played; and points won before
the game is over mean that the other player resigned.

Source: files that gnubg 1.07 wrote, and what it made of files that it was given.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from motif.board.game_progress import GameProgress
from motif.board.game_record import Action, CubeAction, CubeKind, GameRecord, MatchRecord
from motif.board.moves import Play
from motif.runtime.files import write_text

EVENT_DATE = "EventDate"
"""The tag that holds the day, such as 2026.11.20."""

_LONGEST_NAME = 60
_NOT_IN_NAMES = re.compile(r"[:,\s]+")
"""gnubg ends a name at a colon, and takes what follows a comma for a rating."""
_NAMELESS = "player"
_NAME_WIDTH, _CELL_WIDTH = 30, 27
_COLUMN_WORDS: dict[CubeKind, str] = {
    "double": " Doubles => {}",
    "beaver": " Beavers => {}",
    "raccoon": " Raccoons => {}",
    "take": " Takes",
    "drop": " Drops",
}


def write_mat(path: Path, record: MatchRecord) -> None:
    """Write `record` to `path`, whole or not at all; raises `FileError`, and `RecordError` as `mat_text`."""
    write_text(path, mat_text(record))


def mat_text(record: MatchRecord) -> str:
    """`record` as the text of a .mat file.

    Names are written as `mat_name` has them.  Raises `RecordError` for actions in an order that no
    game has.
    """
    lines = [f'; [{key} "{value}"]' for key, value in record.tags]
    lines += [""] * bool(lines) + [f" {record.length} point match"]
    for number, game in enumerate(record.games, 1):
        left, right = (
            f"{mat_name(name)} : {points}" for name, points in zip(record.players, game.score, strict=True)
        )
        lines += ["", f" Game {number}", f" {left:{_NAME_WIDTH}} {right}", *_game_lines(game)]
    return "\n".join(lines) + "\n"


def mat_name(name: str) -> str:
    """`name` as a file can hold it: on one line, without colons and commas, not too long, not empty."""
    printable = "".join(mark if mark.isprintable() else " " for mark in name)
    return _NOT_IN_NAMES.sub(" ", printable).strip()[:_LONGEST_NAME].strip() or _NAMELESS


def single_moves(play: Play) -> list[str]:
    """The moves of single dice as a file spells them, the rearmost first, such as ``25/22*``."""
    hits = {end for (_, end), hit in zip(play.moves, play.hits, strict=True) if hit}
    words = []
    for start, end in sorted(play.moves, reverse=True):
        words.append(f"{start}/{end}" + "*" * (end in hits))
        hits.discard(end)
    return words


def _game_lines(game: GameRecord) -> Iterator[str]:
    rows: list[list[str]] = []
    for player, text in _cells(game.actions):
        # The right column stays empty, but is there, when the other player goes on below.
        if not rows or player == 0 or rows[-1][1]:
            rows.append(["", ""])
        rows[-1][player] = text
    for number, (left, right) in enumerate(rows, 1):
        # Not stripped: behind a short line gnubg 1.07 reads on in the line before it.
        yield f"{number:3}) {left:{_CELL_WIDTH}} {right}"
    if game.result is not None:
        points = f"Wins {game.result.points} point" + "s" * (game.result.points != 1)
        yield " " * (6 + game.result.winner * (_CELL_WIDTH + 1)) + points


def _cells(actions: tuple[Action, ...]) -> Iterator[tuple[int, str]]:
    """Column and text of each action."""
    progress = GameProgress()
    for action in actions:
        progress.apply(action)
        if isinstance(action, CubeAction):
            # Named is what the cube will show when this is accepted.
            yield action.player, _COLUMN_WORDS[action.kind].format(2 * progress.cube)
        else:
            moves = single_moves(action.play) if action.play else []
            yield action.player, " ".join(["{}{}:".format(*action.roll), *moves])
