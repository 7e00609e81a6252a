"""A position drawn in characters, the way gnubg prints it."""

import textwrap

from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.packed import CHECKERS, OPPONENT_BAR, OWN_BAR
from motif.board.position import Position

_ROWS = 5
"""Checkers drawn of a stack; the innermost shows the number of a higher one."""
_TOP = " +13-14-15-16-17-18------19-20-21-22-23-24-+"
_MIDDLE = "v|                  |BAR|                  |"
_BOTTOM = " +12-11-10--9--8--7-------6--5--4--3--2--1-+"
_NOTES_FROM = 49
_WIDEST_NOTE = 31
"""Letters that stand beside the board on a terminal of 80 columns."""


def text_diagram(
    position: Position,
    match: MatchState | None = None,
    names: tuple[str, str] = ("player on roll", "opponent"),
    *,
    turned: bool = False,
) -> str:
    """`position` in 15 or 16 lines: X is the player on roll, who plays from the 24 to the 1 point.

    Beside the board stand the two players' `names`, X first, the checkers borne off, pip counts, and,
    when `match` is given, score, cube and dice.  With `turned` X, first in `names`, is the opponent of the
    player on roll, and it is his side that the board is drawn from.
    """
    lines = [f" Position ID: {gnubg_id(position)}"]
    if match is not None:
        lines.append(f" Match ID   : {match_id(match)}")
    if turned:
        position = position.switch_sides()
    notes = _notes(position, match, names, turned=turned)
    rows = [
        _TOP,
        *(_row(position, row, top=True) for row in range(_ROWS)),
        _MIDDLE,
        *(_row(position, row, top=False) for row in reversed(range(_ROWS))),
        _BOTTOM,
    ]
    lines += [f"{row:{_NOTES_FROM}}{note}".rstrip() for row, note in zip(rows, notes, strict=True)]
    return "\n".join(lines)


def narrowed(diagram: str, width: int | None) -> str:
    """A text diagram, its notes below the board where `width` columns have no room for them beside it."""
    lines = diagram.split("\n")
    if width is None or max(map(len, lines)) <= width:
        return diagram
    heads = [line for line in lines if line[1:2] not in "+|"]
    rows = lines[len(heads) :]
    notes = [row[_NOTES_FROM:] for row in rows if len(row) > _NOTES_FROM]
    return "\n".join([*heads, *(row[:_NOTES_FROM].rstrip() for row in rows), *(f" {note}" for note in notes)])


def describe_rules(match: MatchState) -> str:
    """Match length or money play, with the rules in force, in a few words."""
    if match.length:
        return f"{match.length}-point match" + (", Crawford game" if match.crawford else "")
    extras = ", Jacoby rule" * match.jacoby + ", beavers" * match.beavers
    extras += ", raccoons" * match.raccoons
    return "money play" + extras


def describe_stakes(match: MatchState) -> str:
    """What is played for, as "3-away 5-away, cube 2 yours", the player on roll being "you"."""
    if match.length:
        aways = match.length - match.own_score, match.length - match.opponent_score
        score = "double match point" if aways == (1, 1) else "{}-away {}-away".format(*aways)
        if match.crawford:
            return f"{score}, Crawford game"
        if aways == (1, 1):
            return score
    else:
        score = "money" + ", Jacoby rule" * match.jacoby
    if match.cube_owner == "centre":
        return f"{score}, cube {'in the centre' if match.cube == 1 else f'at {match.cube} in the centre'}"
    return f"{score}, cube {match.cube} {'yours' if match.cube_owner == 'me' else 'theirs'}"


def describe_turn(match: MatchState) -> str:
    """What the player on roll has to do or has done, in a few words."""
    if match.resignation != "none":
        return f"resigns a {match.resignation}" + (" game" if match.resignation == "single" else "")
    if match.doubled:
        return f"doubles to {2 * match.cube}"
    return "rolled {}{}".format(*match.dice) if match.dice else "on roll"


def _row(position: Position, row: int, *, top: bool) -> str:
    """One of the rows of the top or bottom half; row 0 lies at the rim."""
    board = [int(count) for count in position.board]
    if top:
        left, right, bar = board[13:19], board[19:25], board[OPPONENT_BAR]
        off, side = position.opponent_off, "O"
    else:
        left, right, bar = board[12:6:-1], board[6:0:-1], board[OWN_BAR]
        off, side = position.own_off, "X"
    columns = range(row, CHECKERS, _ROWS)
    tray = "".join(side if off > filled else " " for filled in columns)
    halves = ["".join(_cell(count, row) for count in half) for half in (left, [bar], right)]
    return f" |{halves[0]}|{halves[1]}|{halves[2]}| {tray}"


def _cell(count: int, row: int) -> str:
    checkers = abs(count)
    if checkers <= row:
        return "   "
    if row == _ROWS - 1 and checkers > _ROWS:
        return f"{checkers:>2} "
    return " X " if count > 0 else " O "


def _notes(
    position: Position, match: MatchState | None, names: tuple[str, str], *, turned: bool
) -> list[str]:
    """Texts to the right of the 13 lines of the board; `turned`, the player on roll is O."""
    notes = [""] * (2 * _ROWS + 3)
    middle = len(notes) // 2
    notes[0], notes[-1] = f"O: {names[1]}", f"X: {names[0]}"
    notes[1] = f"pips {position.pip_count_opponent}, off {position.opponent_off}"
    notes[-2] = f"pips {position.pip_count}, off {position.own_off}"
    if match is not None:
        me, opponent = (0, -1) if turned else (-1, 0)
        cube, rules = f" (cube:\xa0{match.cube})", describe_rules(match)
        if match.cube_owner == "centre":
            rules += cube
        else:
            notes[opponent if match.cube_owner == "opponent" else me] += cube
        lines = textwrap.wrap(rules, _WIDEST_NOTE, break_on_hyphens=False)
        notes[middle : middle + len(lines)] = lines
        notes[_inward(opponent, 2)] = f"score {match.opponent_score}"
        notes[_inward(me, 2)] = f"score {match.own_score}"
        if match.game_state == "playing":
            notes[_inward(me, 3)] = describe_turn(match)
    return [note.replace("\xa0", " ") for note in notes]


def _inward(rim: int, lines: int) -> int:
    """The line so many `lines` away from the top (0) or bottom (-1) one."""
    return lines if rim == 0 else rim - lines
