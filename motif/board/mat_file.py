"""Match records in .mat files, the text format of Jellyfish that gnubg and others read and write.

A line contains a roll and play of each player, with the first player on the left.  Each move of one die is
written separately, with 25 for the bar and 0 for off.  The reader checks that plays are legal.

Sources: files written by gnubg 1.07, and how gnubg reads other files.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile, zip_longest
from typing import NamedTuple

from motif.board.game_record import (
    NO_WORDS,
    SET_UP,
    Action,
    Annotations,
    CubeAction,
    CubeKind,
    GameProgress,
    GameRecord,
    GameRecorder,
    MatchRecord,
    check_variation,
    crawford_game,
    move_numbers,
    with_crawford,
)
from motif.board.identifiers import quoted
from motif.board.moves import Play
from motif.board.rules import MAX_SCORE
from motif.runtime.errors import MotifError, RecordError
from motif.runtime.limits import MATCH_GAMES, MATCH_LINE, MATCH_LINES, MATCH_MOVES

_MAX_NAME = 60
_NOT_IN_NAMES = re.compile(r"[:,\s]+")
"""Characters not allowed in names: gnubg ends a name at a colon and reads text after a comma as a rating."""
_NAMELESS = "player"
_NAME_WIDTH, _CELL_WIDTH = 30, 27
_VARIATION_TAG, _CRAWFORD_TAG = "variation", "crawford"
_CRAWFORD_GAME = re.compile(r"game (\d{1,9})", re.IGNORECASE | re.ASCII)
"""motif's own value of the Crawford tag, for a match whose Crawford game cannot be inferred."""
_TAG = re.compile(r'[;#]\s*\[([^"\]]*[^"\]\s])\s*"(.*)"\]\s*')
_LENGTH = re.compile(r"\s*(\d{1,9})\s+point\s+match\b.*", re.IGNORECASE | re.ASCII)
_GAME = re.compile(r"\s*Game\s+\d{1,9}\s*(?::\s*)?", re.ASCII)
_SCORED = re.compile(r"\s*(\d{1,9})(?:\s+(\S.*))?", re.ASCII | re.DOTALL)
"""After a player's name and colon: the score, and the other player's name."""
_GAME_BEHIND_ROLL = re.compile(r"(.*[1-6][1-6]:)\s+(Game\s+\d{1,9})", re.ASCII)
"""The next game on the line of a roll that was not played, after which gnubg writes no line end."""
_BLANKS = " \t\r\f\v"
_NUMBER = re.compile(r"\s*\d+\)", re.ASCII)
_CELL = re.compile(
    r"(?<!\S)(?:(?P<roll>[0-9][0-9]):|"
    # Galaxy may write the number of the line again before a resignation.
    r"(?:\d{1,3}\) ++)?(?P<word>"
    r"(?:doubles|beavers|raccoons|takes|drops|passes|resigns|resigned|resign|losses|wins)\b|"
    r"(?<!: )(?<!:  )(?:concedes\b|\?{2,})))",
    re.IGNORECASE | re.ASCII,
)
_POINTS = re.compile(
    r"(\d{1,9})\s+points?(?:\s+with\s+a\s+(?:back)?gammon)?(?:\s+and\s+the\s+match)?(?:\s*\.)?",
    re.IGNORECASE | re.ASCII,
)
_RESIGNED = re.compile(r"(?:\d{1,9}\s+points?)?", re.IGNORECASE | re.ASCII)
_RAISED = re.compile(r"(?:=+>\s*(\d{1,9}))?", re.ASCII)
_SET_UP = re.compile(r"illegal play\b", re.IGNORECASE)
"""How Snowie, and DailyGammon for Nackgammon, write a position that was set up, after a roll."""
_NOTHING = re.compile(r"cannot move|\?*|concedes", re.IGNORECASE)
"""A roll without moves, as written by gnubg, eXtreme Gammon and, for a resignation, Backgammon Studio.

In all these expressions, adjacent parts match different characters, so that matching takes linear time.
"""
_KINDS: dict[str, CubeKind] = {
    "doubles": "double", "beavers": "beaver", "raccoons": "raccoon", "takes": "take", "drops": "drop",
}  # fmt: skip
_COLUMN_WORDS = {
    kind: f" {word.capitalize()}" + " => {}" * (kind not in ("take", "drop")) for word, kind in _KINDS.items()
}
_WON, _RESIGNS = "wins", "resigns"
_GIVEN_UP = ("resigned", "resign", "losses", "concedes", "?")
"""Other programs' words for a resignation, such as ``Resigned Game``, ``Losses 1 point`` and ``????``."""
_PASSES = "passes"
"""Other programs' word for a drop."""
_NO_ROLL = "00"
"""Written by some programs for a resignation before the roll."""
_UNUSED_DIE = "0/0"
"""Written by some programs for a die that was left when the last checker was off."""
_LEFT_CELL_STARTS_BEFORE = 16


class NoMatError(RecordError):
    """Raised for text that does not begin like a .mat file."""


def mat_text(record: MatchRecord, notes: Annotations | None = None) -> str:
    """Return `record` as the text of a .mat file, with `notes` as comments at the top.

    The comments name their game and move, because gnubg would read a comment between moves as a move.
    `mat_name` cleans the players' names.  Raises `RecordError` for actions in an impossible order.
    """
    lines = [f'; [{printable(key)} "{printable(value)}"]' for key, value in _tags(record)]
    lines += _comments(record, notes or {})
    lines += [""] * bool(lines) + [f" {record.length} point match"]
    for number, game in enumerate(record.games, 1):
        if game.first_cube > 1:
            raise RecordError(f"game {number}: only .sgf files can begin with the cube at {game.first_cube}")
        left, right = (
            f"{mat_name(name)} : {points}" for name, points in zip(record.players, game.score, strict=True)
        )
        lines += ["", f" Game {number}", f" {left:{_NAME_WIDTH}} {right}", *_game_lines(game)]
    return "\n".join(lines) + "\n"


def printable(text: str) -> str:
    """Replace each unprintable character, such as a line end, with a space."""
    return "".join(character if character.isprintable() else " " for character in text)


def mat_name(name: str) -> str:
    """Make `name` valid in a file: one line, no colons or commas, not too long, not empty."""
    return _NOT_IN_NAMES.sub(" ", printable(name)).strip()[:_MAX_NAME].strip() or _NAMELESS


def parse_mat(text: str, name: str = "text") -> MatchRecord:
    """Parse the `text` of a .mat file; errors call the file `name`.

    Raises `RecordError`, naming the file, line, game and move, if the text is not a record or has an
    impossible action.
    """
    if "\n" not in text:
        text = text.replace("\r", "\n")
    MATCH_LINES.check(text.count("\n"), name, RecordError)
    first, length = _length(text, name)
    lines = list(_lines(text, name))
    texts = (_TAG.fullmatch(printable(line.text)) for line in lines)
    tags = [(match[1].strip(), match[2]) for match in texts if match]
    _check_variation(tags, name)
    body = list(_body([line for line in lines if line.number > first]))
    MATCH_GAMES.check(sum(map(_is_game, body)), name, RecordError)
    cells = islice((cell for line in body for cell in _CELL.finditer(line.text)), MATCH_MOVES.size + 1)
    MATCH_MOVES.check(sum(1 for _ in cells), name, RecordError)
    reader = _Reader(name, length)
    games = tuple(reader.games(body))
    record = MatchRecord(reader.players, length, games, tuple(tags))
    return with_crawford(record, _stated_crawford(record))


def _stated_crawford(record: MatchRecord) -> list[bool | None]:
    """Return what the tags of `record` say of each game: whether it is the Crawford game."""
    count = len(record.games)
    for value in (value.lower() for key, value in record.tags if key.lower() == _CRAWFORD_TAG):
        if value in NO_WORDS:
            return [False] * count
        if match := _CRAWFORD_GAME.fullmatch(value):
            return [number == int(match[1]) for number in range(1, count + 1)]
    return [None] * count


def _tags(record: MatchRecord) -> Sequence[tuple[str, str]]:
    """Return the tags of `record`, with one for the Crawford game if a reader would infer another."""
    crawford = crawford_game(record)
    if crawford_game(with_crawford(record, _stated_crawford(record))) == crawford:
        return record.tags
    tags = [tag for tag in record.tags if tag[0].lower() != _CRAWFORD_TAG]
    return [*tags, ("Crawford", "Off" if crawford is None else f"Game {crawford + 1}")]


def _length(text: str, name: str) -> tuple[int, int]:
    """Return the number of the line with the match length, and the length; there may be titles before it."""
    lines = [_MatLine(number, line) for number, line in enumerate(text.split("\n"), 1) if not _is_aside(line)]
    titles = takewhile(lambda line: not _is_game(line), lines)
    found = ((line.number, match) for line in titles if (match := _LENGTH.fullmatch(line.text)))
    number, match = next(found, (0, None))
    if match is None:
        where = f"line {lines[0].number}: " if lines else ""
        raise NoMatError(f"{name}: {where}not a .mat file: it must begin with a line such as '7 point match'")
    length = int(match[1])
    if length > MAX_SCORE:
        raise RecordError(f"{name}: line {number}: the length must be at most {MAX_SCORE}, not {length}")
    return number, length


def _check_variation(tags: Sequence[tuple[str, str]], name: str) -> None:
    for key, value in tags:
        if key.lower() == _VARIATION_TAG:
            try:
                check_variation(value)
            except RecordError as error:
                raise RecordError(f"{name}: {error}") from None


def _body(lines: Sequence["_MatLine"]) -> Iterator["_MatLine"]:
    """Yield `lines` without blank lines and comments; a line of scores may begin like a comment."""
    after_game = False
    for line in lines:
        if not _is_aside(line.text) or (after_game and _sides(line.text)):
            after_game = _is_game(line)
            yield line


def _is_aside(line: str) -> bool:
    """Return whether a line is blank or a comment."""
    return line.lstrip()[:1] in ("", ";", "#")


def _is_game(line: "_MatLine") -> bool:
    return bool(_GAME.fullmatch(line.text))


def _comments(record: MatchRecord, notes: Annotations) -> Iterator[str]:
    for number, game in enumerate(record.games):
        rows = move_numbers(game.actions)
        for index, (action, row) in enumerate(zip(game.actions, rows, strict=True)):
            if note := notes.get((number, index)):
                where = f"; game {number + 1}, move {row}, {mat_name(record.players[action.player])}: "
                yield from (where + line for line in note.text.splitlines())


def _game_lines(game: GameRecord) -> Iterator[str]:
    numbers = move_numbers(game.actions)
    rows = [["", ""] for _ in range(max(numbers, default=0))]
    for number, (player, text) in zip(numbers, _cells(game.actions), strict=True):
        rows[number - 1][player] = text
    for number, (left, right) in enumerate(rows, 1):
        # Trailing spaces stay: after a short line, gnubg 1.07 continues to read the previous line.
        yield f"{number:3}) {left:{_CELL_WIDTH}} {right}"
    if game.result is not None:
        points = f"Wins {game.result.points} point" + "s" * (game.result.points != 1)
        yield " " * (6 + game.result.winner * (_CELL_WIDTH + 1)) + points


def _cells(actions: tuple[Action, ...]) -> Iterator[tuple[int, str]]:
    """Yield the column and the text of each action."""
    progress = GameProgress()
    for action in actions:
        progress.apply(action)
        if isinstance(action, CubeAction):
            # The text contains the value of the cube after a take.
            yield action.player, _COLUMN_WORDS[action.kind].format(2 * progress.cube)
        else:
            moves = _single_moves(action.play) if action.play else []
            yield action.player, " ".join(["{}{}:".format(*action.roll), *moves])


def _single_moves(play: Play) -> list[str]:
    """Return the moves of single dice in .mat notation, such as ``25/22*``, the rearmost checker first."""
    hits = play.hit_points
    words = []
    for start, end in sorted(play.moves, reverse=True):
        words.append(f"{start}/{end}" + "*" * (end in hits))
        hits.discard(end)
    return words


class _MatLine(NamedTuple):
    number: int
    text: str


class _Cell(NamedTuple):
    player: int
    roll: str | None
    word: str
    """A word such as ``doubles`` or ``wins`` if there is no roll."""
    rest: str


def _lines(text: str, name: str) -> Iterator[_MatLine]:
    for number, line in enumerate(text.split("\n"), 1):
        MATCH_LINE.check(len(line), f"{name}: line {number}", RecordError)
        line = line.expandtabs().rstrip()
        glued = _GAME_BEHIND_ROLL.fullmatch(line)
        for part in glued.groups() if glued else (line,):
            yield _MatLine(number, part)


class _Reader:
    """Reads games line by line; errors name the line, game and move."""

    def __init__(self, name: str, length: int) -> None:
        self.length = length
        self.players = (mat_name(""), mat_name(""))
        self._name = name
        self._line = _MatLine(0, "")
        self._game = 0
        self._move = 0

    def games(self, lines: list[_MatLine]) -> Iterator[GameRecord]:
        starts = [row for row, line in enumerate(lines) if _is_game(line)]
        if lines and starts[:1] != [0]:
            self._line = lines[0]
            raise self._error(f"expected a line such as 'Game 1', not {quoted(self._line.text.strip())}")
        for self._game, (start, end) in enumerate(pairwise([*starts, len(lines)]), 1):
            self._move = 0
            self._line = lines[min(start + 1, len(lines) - 1)]
            yield self._read_game(self._score(), lines[start + 2 : end])

    def _score(self) -> tuple[int, int]:
        sides = _sides(self._line.text)
        if sides is None:
            line = quoted(self._line.text.strip())
            raise self._error(f"expected the players and scores, such as 'Ann : 0     Bob : 0', not {line}")
        names, scores = sides
        if max(scores) > MAX_SCORE:
            raise self._error(f"a score must be at most {MAX_SCORE}")
        # The text after a comma is a rating.
        first, second = (mat_name(name.partition(",")[0]) for name in names)
        if self._game > 1 and first != second and (second, first) == self.players:
            raise self._error(f"{first} and {second} have changed columns since the previous game")
        self.players = first, second
        return scores

    def _read_game(self, score: tuple[int, int], rows: list[_MatLine]) -> GameRecord:
        game = GameRecorder(money=not self.length)
        for self._line in rows:
            self._move += bool(_NUMBER.match(self._line.text))
            was_over = game.result is not None
            for cell in self._cells():
                if cell.word == _WON and game.result is not None and not was_over:
                    # On the line of the action that ends the game, the column says nothing about the winner.
                    cell = cell._replace(player=game.result.winner)
                try:
                    self._record(cell, game)
                except MotifError as error:
                    raise self._error(str(error)) from None
        return game.record(score)

    def _cells(self) -> list[_Cell]:
        text = self._line.text
        number = _NUMBER.match(text)
        start = number.end() if number else 0
        matches = list(_CELL.finditer(text, start))
        before = text[start : matches[0].start() if matches else None].strip()
        if before or sum(match["word"] is None or match["word"].lower() != _WON for match in matches) > 2:
            excerpt = quoted(before or text.strip())
            if _LENGTH.fullmatch(before):
                raise self._error(f"another match begins with {excerpt}; a file must contain a single match")
            raise self._error(f"expected a roll and play of each player or a cube action, not {excerpt}")
        cells = []
        for column, (match, following) in enumerate(zip_longest(matches, matches[1:])):
            word = (match["word"] or "").lower()
            alone = len(matches) == 1 or word == _WON
            player = int(match.start() >= _LEFT_CELL_STARTS_BEFORE) if alone else column
            rest = text[match.end() : following.start() if following else None]
            cells.append(_Cell(player, match["roll"], word, rest))
        return cells

    def _record(self, cell: _Cell, game: GameRecorder) -> None:
        rest, text = cell.rest.strip(), quoted((cell.word + cell.rest).strip())
        if cell.roll is not None:
            if _SET_UP.match(rest):
                raise RecordError(SET_UP)
            if cell.roll == _NO_ROLL and _NOTHING.fullmatch(rest):
                return
            game.add_roll(cell.player, cell.roll, "" if _NOTHING.fullmatch(rest) else _used_dice(rest))
        elif cell.word == _WON:
            if not (match := _POINTS.fullmatch(rest)):
                raise RecordError(f"expected a result such as 'Wins 2 points', not {text}")
            if points := self._points(int(match[1]), game):
                game.win(cell.player, points)
        elif cell.word == _RESIGNS:
            # The line of the result follows.
            if not _RESIGNED.fullmatch(rest):
                raise RecordError(f"expected a resignation such as 'Resigns', not {text}")
        elif not cell.word.startswith(_GIVEN_UP):
            _record_cube(cell, game)

    def _points(self, written: int, game: GameRecorder) -> int:
        """Return the points won, like gnubg; 0 if the game is unfinished.

        Some programs write only the points that the winner needs to win the match or no more than its length,
        a large number for a match that was resigned or forfeited, or 0 if nobody has won.
        """
        if game.result is not None:
            return max(written, game.result.points) if self.length else written
        if written == 0:
            return 0
        costs = game.costs_of_resigning
        return min((cost for cost in costs if cost >= written), default=max(costs))

    def _error(self, what: str) -> RecordError:
        where = [f"line {self._line.number}"] if self._line.number else []
        if self._game:
            where.append(f"game {self._game}" + (f", move {self._move}" if self._move else ""))
        return RecordError(": ".join([self._name, *where, what]))


def _sides(text: str) -> tuple[tuple[str, str], tuple[int, int]] | None:
    """Return the names and scores in a line such as ``Ann : 0 Bob : 0``; None for any other line.

    If names contain colons, the one that ends a name is the one after a space, as gnubg writes it.  A name
    may be empty, as on Backgammon Galaxy.
    """
    *parts, last = text.split(":")
    alone = len(parts) == 2
    scored = [_SCORED.fullmatch(part.rstrip(_BLANKS)) for part in (*parts, last)]
    middles = [
        (place, match)
        for place, match in enumerate(scored[1:-1], 1)
        if match
        and (match[2] or (alone and parts[place][-1:].isspace()))
        and (alone or parts[place - 1][-1:].isspace())
    ]
    ends = scored[-1]
    if len(middles) != 1 or ends is None or ends[2] is not None:
        return None
    ((place, middle),) = middles
    first, second = ":".join(parts[:place]), ":".join([middle[2] or "", *parts[place + 1 :]])
    return (first, second), (int(middle[1]), int(ends[1]))


def _used_dice(moves: str) -> str:
    """Return `moves` without dice at their end that could not be used because the last checker was off."""
    words = moves.split()
    while words[-1:] == [_UNUSED_DIE]:
        words.pop()
    return " ".join(words)


def _record_cube(cell: _Cell, game: GameRecorder) -> None:
    kind: CubeKind = "drop" if cell.word == _PASSES else _KINDS[cell.word]
    match = _RAISED.fullmatch(cell.rest.strip())
    if not match or (match[1] and kind in ("take", "drop")):
        raise RecordError(f"{quoted((cell.word + cell.rest).strip())} is not a cube action")
    if match[1] and kind == "double" and int(match[1]) != 2 * game.cube:
        raise RecordError(f"the cube is at {game.cube} and cannot be doubled to {match[1]}")
    if kind == game.raised == "beaver":
        kind = "raccoon"  # gnubg has one word for both
    game.add(CubeAction(cell.player, kind))
