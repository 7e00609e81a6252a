"""Draw positions as text, in gnubg's layout, and as self-contained SVG images.

The player on roll has the light checkers and moves from the 24 point (top right) to the 1 point (bottom
right). Light checkers have a dark outline and dark checkers a light inner ring, so that the two sides can
be distinguished without colour.  An SVG contains no scripts, style sheets, fonts or ids, so that one page
can show several.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from math import hypot

from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.packed import CHECKERS, OPPONENT_BAR, OWN_BAR, POINTS
from motif.board.position import Position
from motif.runtime.errors import SettingError

_ROWS = 5
"""Maximum number of checkers drawn in a stack; the innermost checker of a taller stack shows its size."""
_TOP_LINE = " +13-14-15-16-17-18------19-20-21-22-23-24-+"
_BAR_LINE = "v|                  |BAR|                  |"
_BOTTOM_LINE = " +12-11-10--9--8--7-------6--5--4--3--2--1-+"
_NOTES_FROM = 49
_MAX_NOTE_WIDTH = 31
"""Width in characters of the notes beside the board on an 80-column terminal."""

_COLUMN, _RADIUS, _STEP = 46, 20, 41
_LEFT, _BAR, _RIGHT = 88, 364, 410
"""Left edges of the left half of the board, the bar and the right half."""
_CUBE_X, _TRAY_X, _TRAY_WIDTH = 51, 696, 58
_TOP, _BOTTOM, _RIM = 64, 538, 24
_MIDDLE = (_TOP + _BOTTOM) / 2
_WIDTH, _HEIGHT = 778, 602
_SLAB = 13
"""Height of a checker in the tray."""

_FRAME, _BAR_COLOUR, _FIELD, _TRAY = "#4a3b32", "#7a6656", "#ece1cc", "#cdbb9c"
_POINT_COLOURS = ("#b58a60", "#d3b78f")
_LIGHT, _DARK, _ARROW, _PAPER = "#fffaf0", "#2f2b2a", "#b3202c", "#ffffff"
_PIPS = {1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "acdfgi"}
"""Positions of a die's pips, with the letters abc, def and ghi for the three rows."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 forbids, even escaped; names in match files may contain them."""


def text_diagram(
    position: Position,
    match: MatchState | None = None,
    names: tuple[str, str] = ("player on roll", "opponent"),
    *,
    from_opponent: bool = False,
) -> str:
    """Draw `position` in 15 or 16 lines of text; X is the player on roll and moves from 24 to 1.

    Notes beside the board show the players' `names` (X first), the checkers borne off, the pip counts and,
    with a `match`, the score, cube and dice.  With `from_opponent`, the board is drawn from the opponent's
    side: the opponent is X and comes first in `names`.
    """
    lines = [f" Position ID: {gnubg_id(position)}"]
    if match is not None:
        lines.append(f" Match ID   : {match_id(match)}")
    if from_opponent:
        position = position.switch_sides()
    notes = _notes(position, match, names, from_opponent=from_opponent)
    rows = [
        _TOP_LINE,
        *(_row(position, row, top=True) for row in range(_ROWS)),
        _BAR_LINE,
        *(_row(position, row, top=False) for row in reversed(range(_ROWS))),
        _BOTTOM_LINE,
    ]
    lines += [f"{row:{_NOTES_FROM}}{note}".rstrip() for row, note in zip(rows, notes, strict=True)]
    return "\n".join(lines)


def fit_width(diagram: str, width: int | None) -> str:
    """Move the notes of a text diagram below the board if it is wider than `width`."""
    lines = diagram.split("\n")
    if width is None or max(map(len, lines)) <= width:
        return diagram
    heads = [line for line in lines if line[1:2] not in "+|"]
    rows = lines[len(heads) :]
    notes = [row[_NOTES_FROM:] for row in rows if len(row) > _NOTES_FROM]
    return "\n".join([*heads, *(row[:_NOTES_FROM].rstrip() for row in rows), *(f" {note}" for note in notes)])


def boards_after(captioned: Sequence[tuple[str, Position]], width: int | None) -> list[str]:
    """Return the lines of two boards after plays, each below a caption, as the player who moved sees them.

    `captioned` are captions and positions, seen by the next player on roll.  The boards are side by side if
    they fit into `width` columns; None is unlimited.
    """
    # The line with the ID is left out, because it would be for the wrong player on roll.
    first, second = (
        [caption, *(row[:_NOTES_FROM].rstrip() for row in text_diagram(after.switch_sides()).split("\n")[1:])]
        for caption, after in captioned
    )
    if width is not None and width < 2 * _NOTES_FROM:
        return [*first, "", *second]
    return [f"{left:{_NOTES_FROM}}{right}".rstrip() for left, right in zip(first, second, strict=True)]


def describe_rules(match: MatchState) -> str:
    """Describe the match length or money play, and the rules in force."""
    if match.length:
        crawford = ", Crawford game" if match.crawford else ", post-Crawford" * match.is_post_crawford
        return f"{match.length}-point match{crawford}"
    extras = ", Jacoby rule" * match.jacoby + ", beavers" * match.beavers
    extras += ", raccoons" * match.raccoons
    return "money play" + extras


SCORE_WORDS = {
    "away": "{own}-away {other}-away",
    "last": "double match point",
    "money": "money",
    "jacoby": "money, Jacoby rule",
    "crawford": "{score}, Crawford game",
    "post_crawford": "{score}, post-Crawford",
    "no_cube": "{score}, no cube",
    "centre": "{score}, cube in the centre",
    "raised": "{score}, cube at {cube} in the centre",
    "me": "{score}, cube {cube} yours",
    "opponent": "{score}, cube {cube} theirs",
}
"""English words of `describe_score`, the same as in the English phrase file."""


def describe_score(match: MatchState, words: Mapping[str, str] = SCORE_WORDS) -> str:
    """Describe the score and the cube, as in "3-away 5-away, cube 2 yours"; "you" is the player on roll."""
    if match.length:
        own, other = match.length - match.own_score, match.length - match.opponent_score
        is_last = own == other == 1
        score = words["last"] if is_last else words["away"].format(own=own, other=other)
        if match.crawford:
            return words["crawford"].format(score=score)
        if is_last:
            return score
        if match.is_post_crawford:
            score = words["post_crawford"].format(score=score)
    else:
        score = words["jacoby" if match.jacoby else "money"]
    if not match.has_cube:
        return words["no_cube"].format(score=score)
    key = "raised" if match.cube_owner == "centre" and match.cube > 1 else match.cube_owner
    return words[key].format(score=score, cube=match.cube)


def describe_turn(match: MatchState) -> str:
    """Describe the last action or the pending decision of the player on roll."""
    if match.resignation != "none":
        return f"resigns a {match.resignation}" + (" game" if match.resignation == "single" else "")
    if match.doubled:
        return f"doubles to {2 * match.cube}"
    return "rolled {}{}".format(*match.dice) if match.dice else "on roll"


def _row(position: Position, row: int, *, top: bool) -> str:
    """Return a row of the top or bottom half; row 0 is at the edge of the board."""
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
    position: Position, match: MatchState | None, names: tuple[str, str], *, from_opponent: bool
) -> list[str]:
    """Return the notes beside the 13 lines of the board; with `from_opponent`, the player on roll is O."""
    notes = [""] * (2 * _ROWS + 3)
    middle = len(notes) // 2
    notes[0], notes[-1] = f"O: {names[1]}", f"X: {names[0]}"
    notes[1] = f"pips {position.pip_count_opponent}, off {position.opponent_off}"
    notes[-2] = f"pips {position.pip_count}, off {position.own_off}"
    if match is not None:
        me, opponent = (0, -1) if from_opponent else (-1, 0)
        cube, rules = f" (cube:\xa0{match.cube})", describe_rules(match)
        if match.cube_owner == "centre":
            rules += cube
        else:
            notes[opponent if match.cube_owner == "opponent" else me] += cube
        lines = textwrap.wrap(rules, _MAX_NOTE_WIDTH, break_on_hyphens=False)
        notes[middle : middle + len(lines)] = lines
        notes[_inward(opponent, 2)] = f"score {match.opponent_score}"
        notes[_inward(me, 2)] = f"score {match.own_score}"
        if match.game_state == "playing":
            notes[_inward(me, 3)] = describe_turn(match)
    return [note.replace("\xa0", " ") for note in notes]


def _inward(rim: int, lines: int) -> int:
    """Return the index of the line that is `lines` inward from the top (0) or bottom (-1) line."""
    return lines if rim == 0 else rim - lines


def svg_diagram(
    position: Position,
    match: MatchState | None = None,
    moves: Sequence[tuple[int, int]] = (),
    *,
    size: int = 640,
    title: str | None = None,
    captions: Sequence[str] = (),
) -> str:
    """Return an SVG document of `position`, `size` pixels wide.

    `match` adds the score, the cube, the dice and the pending decision.  Each of `moves` (from, to), which
    must be legal for the player on roll, is drawn as an arrow.  Screen readers read `title` (default: the
    GNUbg ID) and a description.  `captions` (top left, top right, bottom left, bottom right) replace the
    English captions and the description.  Raises `SettingError` if `size` is below 1.
    """
    if size < 1:
        raise SettingError(f"a diagram must be at least 1 pixel wide, not {size}")
    height = round(size * _HEIGHT / _WIDTH)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{_escaped(title or f'Backgammon position {gnubg_id(position)}')}</title>",
        f"<desc>{_escaped('; '.join(filter(None, captions)) or _description(position, match))}</desc>",
        _rect(0, 0, _WIDTH, _HEIGHT, _PAPER),
        *_empty_board(),
        *_checkers(position),
        *_corner_texts(captions or _captions(position, match)),
    ]
    if match is not None:
        parts += _cube(match) + _dice(match)
    parts += _arrows(position, moves)
    return "\n".join([*parts, "</svg>\n"])


def _description(position: Position, match: MatchState | None) -> str:
    sides = []
    for name, view, pips, off in (
        ("Player on roll (light)", position, position.pip_count, position.own_off),
        ("Opponent (dark)", position.switch_sides(), position.pip_count_opponent, position.opponent_off),
    ):
        places = [
            f"{count} on {'the bar' if place == OWN_BAR else place}"
            for place, count in reversed(list(enumerate(view.board)))
            if count > 0
        ]
        sides.append(
            f"{name}, numbered from that side: {', '.join(places) or 'none'}; {off} off; {pips} pips."
        )
    if match is not None:
        owners = {"me": "owned by the player on roll", "opponent": "owned by the opponent"}
        owner = owners.get(match.cube_owner, "in the centre")
        sides.append(
            f"{describe_rules(match)}, score {match.own_score} to {match.opponent_score}, "
            f"cube {match.cube} {owner}; the player on roll: {describe_turn(match)}."
        )
    return " ".join(sides)


def _empty_board() -> list[str]:
    """Draw the frame, the playing surface, the numbered points and the trays."""
    depth, inner = _BOTTOM - _TOP, 6 * _COLUMN
    parts = [_rect(10, _TOP - _RIM, _WIDTH - 20, depth + 2 * _RIM, _FRAME, rx=8)]
    for left, width, colour in (
        (_BAR, _COLUMN, _BAR_COLOUR),
        (_LEFT, inner, _FIELD),
        (_RIGHT, inner, _FIELD),
        (_TRAY_X, _TRAY_WIDTH, _TRAY),
        (_CUBE_X - 27, 54, _TRAY),
    ):
        parts.append(_rect(left, _TOP, width, depth, colour))
    for point in range(1, POINTS + 1):
        x, top = _centre(point), point > POINTS // 2
        rim, tip = (_TOP, _TOP + _ROWS * _STEP) if top else (_BOTTOM, _BOTTOM - _ROWS * _STEP)
        half = _COLUMN / 2
        outline = f"M{x - half:g} {rim}H{x + half:g}L{x:g} {tip}Z"
        parts.append(_element("path", d=outline, fill=_POINT_COLOURS[point % 2]))
        parts.append(_text(x, _TOP - 7 if top else _BOTTOM + 18, str(point), 15, _FIELD))
    return parts


def _checkers(position: Position) -> list[str]:
    parts = []
    for place, signed in enumerate(position.board):
        count, light = abs(int(signed)), signed > 0
        for slot in range(min(count, _ROWS)):
            parts.append(_checker(*_slot(place, slot), light))
        if count > _ROWS:
            x, y = _slot(place, _ROWS - 1)
            parts.append(_text(x, y + 6, str(count), 17, _DARK if light else _LIGHT, weight="bold"))
    for light, off in ((True, position.own_off), (False, position.opponent_off)):
        fill, line = (_LIGHT, _DARK) if light else (_DARK, _LIGHT)
        for slab in range(off):
            y = _BOTTOM - (slab + 1) * _SLAB if light else _TOP + slab * _SLAB
            parts.append(_rect(_TRAY_X + 4, y, _TRAY_WIDTH - 8, _SLAB, fill, rx=3, stroke=line))
        if off:
            y = _BOTTOM - off * _SLAB - 8 if light else _TOP + off * _SLAB + 18
            parts.append(_text(_TRAY_X + _TRAY_WIDTH / 2, y, f"{off} off", 14, _DARK))
    return parts


def _checker(x: float, y: float, light: bool) -> str:
    if light:
        return _circle(x, y, _RADIUS - 1, _LIGHT, stroke=_DARK, stroke_width=2)
    ring = _circle(x, y, _RADIUS - 5, "none", stroke=_LIGHT, stroke_width=1.5)
    return _circle(x, y, _RADIUS, _DARK) + ring


def _captions(position: Position, match: MatchState | None) -> tuple[str, str, str, str]:
    """Return the captions: top left, top right, bottom left and bottom right."""
    top = f"Opponent (dark): {position.pip_count_opponent} pips"
    bottom = f"On roll (light): {position.pip_count} pips"
    if match is None:
        return top, "", bottom, ""
    top, bottom = f"{top}, score {match.opponent_score}", f"{bottom}, score {match.own_score}"
    return top, describe_rules(match), bottom, describe_turn(match)


def _corner_texts(captions: Sequence[str]) -> list[str]:
    corners = (12, "start"), (_WIDTH - 12, "end")
    places = [(x, y, anchor) for y in (27, _HEIGHT - 14) for x, anchor in corners]
    return [
        _text(x, y, caption, 17, _DARK, anchor=anchor)
        for (x, y, anchor), caption in zip(places, captions, strict=False)
        if caption
    ]


def _cube(match: MatchState) -> list[str]:
    y = {"opponent": _TOP + 30, "centre": _MIDDLE, "me": _BOTTOM - 30}[match.cube_owner]
    value = "64" if match.cube == 1 else str(match.cube)  # a cube has no 1
    return [
        _rect(_CUBE_X - 21, y - 21, 42, 42, _PAPER, rx=6, stroke=_DARK, stroke_width=2),
        _text(_CUBE_X, y + 7, value, 22 if len(value) < 3 else 14, _DARK, weight="bold"),
    ]


def _dice(match: MatchState) -> list[str]:
    parts = []
    for number, die in enumerate(match.dice or ()):
        x, y = _RIGHT + 3 * _COLUMN - 42 + 46 * number, _MIDDLE - 19
        parts.append(_rect(x, y, 38, 38, _LIGHT, rx=7, stroke=_DARK, stroke_width=2))
        for pip in _PIPS[die]:
            row, column = divmod(ord(pip) - ord("a"), 3)
            parts.append(_circle(x + 9 + 10 * column, y + 9 + 10 * row, 3.6, _DARK))
    return parts


def _arrows(position: Position, moves: Sequence[tuple[int, int]]) -> list[str]:
    """Return an arrow for each of `moves`, from the checker to where it lands."""
    counts = [max(int(count), 0) for count in position.board]
    counts[0] = 0
    parts = []
    for start, end in moves:
        counts[start] = max(counts[start] - 1, 0)
        x1, y1 = _slot(start, min(counts[start], _ROWS - 1))
        if end:
            x2, y2 = _slot(end, min(counts[end], _ROWS - 1))
            counts[end] += 1
            line: dict[str, float | str] = {"stroke": _ARROW, "stroke_width": 2.5, "stroke_dasharray": "5 4"}
            parts.append(_circle(x2, y2, _RADIUS - 1, "none", **line))
        else:
            x2, y2 = _TRAY_X + _TRAY_WIDTH / 2, _BOTTOM - 40
        parts.append(_arrow(x1, y1, x2, y2))
    return parts


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return an arrow with a white outline, which makes it visible on the checkers."""
    length = hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    # Start at the checker's edge, so that the size shown on a stack stays readable.
    x1, y1, xb, yb = x1 + _RADIUS * ux, y1 + _RADIUS * uy, x2 - 15 * ux, y2 - 15 * uy
    line = f"M{x1:.1f} {y1:.1f}L{xb:.1f} {yb:.1f}"
    head = f"M{x2:.1f} {y2:.1f}L{xb - 9 * uy:.1f} {yb + 9 * ux:.1f}L{xb + 9 * uy:.1f} {yb - 9 * ux:.1f}Z"
    return (
        _element("path", d=line, stroke=_PAPER, stroke_width=8, stroke_linecap="round")
        + _element("path", d=head, fill=_ARROW, stroke=_PAPER, stroke_width=2)
        + _element("path", d=line, stroke=_ARROW, stroke_width=4.5, stroke_linecap="round")
    )


def _centre(point: int) -> float:
    """Return the x coordinate of the centre of a point."""
    column = (point - 13) % 12 if point > POINTS // 2 else POINTS // 2 - point
    return (_LEFT if column < 6 else _RIGHT) + (column % 6 + 0.5) * _COLUMN


def _slot(place: int, slot: int) -> tuple[float, float]:
    """Return the centre of checker number `slot` on a point or a bar (filled from the board's centre)."""
    if place in (OWN_BAR, OPPONENT_BAR):
        way = 30 + slot * _STEP
        return (_BAR + _RIGHT) / 2, _MIDDLE + (way if place == OWN_BAR else -way)
    way = _RADIUS + 1 + slot * _STEP
    return _centre(place), _TOP + way if place > POINTS // 2 else _BOTTOM - way


def _rect(x: float, y: float, width: float, height: float, fill: str, **more: float | str) -> str:
    return _element("rect", x=x, y=y, width=width, height=height, fill=fill, **more)


def _circle(x: float, y: float, radius: float, fill: str, **more: float | str) -> str:
    return _element("circle", cx=x, cy=y, r=radius, fill=fill, **more)


def _element(name: str, **attributes: float | str) -> str:
    """Return an XML element without content; underscores in attribute names become hyphens."""
    words = (
        f'{key.replace("_", "-")}="{value if isinstance(value, str) else format(round(value, 1), "g")}"'
        for key, value in attributes.items()
    )
    return f"<{name} {' '.join(words)}/>"


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


def _text(
    x: float, y: float, text: str, size: int, colour: str, *, anchor: str = "middle", weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}">{_escaped(text)}</text>'
    )
