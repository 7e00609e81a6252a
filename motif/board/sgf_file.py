"""Match records in .sgf files (Smart Game Format, GM[6]), in which gnubg saves matches.

Each game is a separate tree; only its main line is read.  White is player 0 and Black is player 1. A move
is the roll followed by two letters for each move of one checker, its start and its end: a to x are White's
points 1 to 24, which are Black's points 24 to 1; y is the bar and z is off.  A roll without moves is read
as in a .mat file; a roll that was never played is written as PL and DI. MI contains the length and the
scores, RU the rules, whether there is a cube and whether the game is the Crawford game, CV the cube after
automatic doubles, and RE the winner, the points and an R after a resignation.

The date, event, round, place and annotator are written as the properties that other programs read.  If a
record has other tags, all tags are also written as a game comment (GC), one per line, so that none are
lost.

Sources: the format's page on backgammon (red-bean.com/sgf/backgammon.html), and files written and read by
gnubg 1.07.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from motif.board.game_record import (
    NO_CUBE_TAG,
    SET_UP,
    Annotations,
    CubeAction,
    GameProgress,
    GameRecord,
    GameRecorder,
    MatchRecord,
    Turn,
    check_variation,
    crawford_game,
    jacoby_rule,
    uses_cube,
    with_crawford,
)
from motif.board.identifiers import quoted, whole_number
from motif.board.marks import Mark
from motif.board.mat_file import mat_name
from motif.board.moves import parse_roll
from motif.board.rules import MAX_SCORE, is_match_point
from motif.runtime.errors import MotifError, RecordError, plain_text
from motif.runtime.limits import GAME_MOVES, MATCH_GAMES, MATCH_MOVES, SGF_PARTS
from motif.runtime.package import VERSION

_COLOURS = "WB"
"""Colours of players 0 and 1."""
_LETTERS = tuple(f"z{points}y" for points in ("abcdefghijklmnopqrstuvwx", "xwvutsrqponmlkjihgfedcba"))
"""Letters of 0 (off) to 25 (the bar) in the numbering of each player."""
_TEXT = r"\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\]"
# Possessive quantifiers (++, *+): adjacent parts match different characters, so no backtracking is needed.
_TOKEN = re.compile(rf"\s*+(?:([();])|([A-Za-z]++)\s*+({_TEXT}(?:\s*+{_TEXT})*+))", re.DOTALL)
_VALUE = re.compile(_TEXT, re.DOTALL)
_ESCAPED = re.compile(r"\\(\n?)(.?)", re.DOTALL)
_MOVE = re.compile(r"([1-6][1-6])((?:[a-z]{2}){0,4})", re.ASCII)
_RESIGNATION = re.compile(r"resign(?::\d)?|accept|reject", re.ASCII)
"""A resignation and its answer, as Gibbon writes them; like gnubg, the reader takes the result from RE."""
_INFORMATION = re.compile(r"\s*(\w+)\s*:\s*(\d{1,9})\s*", re.ASCII)
_RESULT = re.compile(r"\s*([WB])\+(\d{1,9})(?:\s*R(?:esign)?)?\s*", re.ASCII)
_NO_RESULT = re.compile(
    r"(?:\?|void|0|draw|[WB]\+(?:\?|R(?:esign)?|F(?:orfeit)?|T(?:ime)?)?)?", re.IGNORECASE
)
"""Results without points: unknown, none, or a winner by forfeit, time or a resignation of unknown size."""
_NEWLINE = re.compile(r"\r\n|\n|\r")
_TAG_LINE = re.compile(r'\[([^"\]]*[^"\]\s])\s*"(.*)"\]')
_DATE = re.compile(r"(\d{4})[.-](\d\d)[.-](\d\d)", re.ASCII)
_KNOWN_TAGS = {"Event": "EV", "Round": "RO", "Site": "PC", "EventDate": "DT", "Annotator": "AN"}
_BACKGAMMON = "6"
_CRAWFORD_GAME, _NO_CUBE = "CrawfordGame", "NoCube"
_SETUPS = ("AB", "AW", "AE")
_MARKS: dict[Mark, str] = {"doubtful": "DO[]", "bad": "BM[1]", "very bad": "BM[2]", "": ""}
"""gnubg's property for each mark."""


def sgf_text(record: MatchRecord, notes: Annotations | None = None) -> str:
    """Return `record` as the text of an .sgf file, with `notes` as comments and gnubg's marks.

    Raises `RecordError` for actions in an impossible order.
    """
    lines = []
    for number, game in enumerate(record.games):
        lines += [f"(;{_opening(record, number)}", *_nodes(game, number, notes or {}), ")"]
    return "\n".join(lines) + "\n"


def parse_sgf(text: str, name: str = "text") -> MatchRecord:
    """Parse the `text` of an .sgf file; errors call the file `name`.

    Raises `RecordError`, naming the file, line and game, if the text is not a record or has an impossible
    action.
    """
    games: list[GameRecord] = []
    tags: dict[tuple[str, str], None] = {}
    rules: list[list[str]] = []
    players, length = (mat_name(""), mat_name("")), 0
    # Read all trees first, so that limits are checked before any play is looked up.
    for number, nodes in enumerate(list(_Trees(text, name)), 1):
        if not any(nodes):
            raise RecordError(f"{name}: game {number}: it is empty")
        reader = _GameReader(name, number, nodes)
        games.append(reader.game())
        players, length = reader.players, reader.length
        tags |= dict.fromkeys(reader.tags())
        rules.append(reader.rules)
    if not games:
        raise RecordError(f"{name}: not an .sgf file: it contains no game")
    record = MatchRecord(players, length, tuple(games), tuple(tags))
    if any("Jacoby" in each for each in rules) and not length and not jacoby_rule(record):
        record = replace(record, tags=(*record.tags, ("Jacoby", "On")))
    if all(_NO_CUBE in each for each in rules) and uses_cube(record):
        record = replace(record, tags=(*record.tags, NO_CUBE_TAG))
    return with_crawford(record, [_CRAWFORD_GAME in each for each in rules])


class _Property(NamedTuple):
    line: int
    name: str
    values: list[str]


_Node = list[_Property]


class _Trees:
    """Iterates over the games of a text; each game is the nodes of its main line."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        self._line = 1
        self._nodes: list[_Node] = []
        self._open: list[bool] = []
        """Whether each open tree belongs to the main line."""
        self._main_trees = 0
        """Number of trees of the game's main line that have begun."""
        self._games = self._moves = self._parts = 0

    def __iter__(self) -> Iterator[list[_Node]]:
        here, text = 0, self._text
        while match := _TOKEN.match(text, here):
            sign, key, values = match.groups()
            begun = match.start(1 if sign else 2)
            self._line += text.count("\n", here, begun)
            here = match.end()
            self._parts += 1 if sign else values.count("[")
            SGF_PARTS.check(self._parts, self._name, RecordError)
            if sign is None:
                self._property(key, values)
            elif sign == "(":
                # Only the first subtree of a tree continues the main line.
                self._open.append(all(self._open[-1:]) and len(self._open) == self._main_trees)
                self._main_trees += self._open[-1]
            elif not self._open:
                raise self._error("not an .sgf file: it must begin with (;GM[6]")
            elif sign == ";":
                if self._open[-1]:
                    self._begin_node()
            else:
                self._open.pop()
                if not self._open:
                    self._games += 1
                    MATCH_GAMES.check(self._games, self._name, RecordError)
                    yield self._nodes
                    self._nodes, self._main_trees = [], 0
            self._line += text.count("\n", begun, here)
        self._check_end(here)

    def _begin_node(self) -> None:
        self._nodes.append([])
        self._moves += 1
        # The first node of a game contains no move.
        GAME_MOVES.check(len(self._nodes) - 1, f"{self._name}: game {self._games + 1}", RecordError)
        MATCH_MOVES.check(self._moves - self._games - 1, self._name, RecordError)

    def _property(self, key: str, values: str) -> None:
        if not self._open:
            raise self._error("not an .sgf file: it must begin with (;GM[6]")
        if not self._open[-1]:
            return
        if not self._nodes:
            raise self._error("a property must be part of a node, which begins with ;")
        texts = [_ESCAPED.sub(r"\2", value[1:-1]) for value in _VALUE.findall(values)]
        self._nodes[-1].append(_Property(self._line, "".join(filter(str.isupper, key)), texts))

    def _check_end(self, here: int) -> None:
        rest = self._text[here:].lstrip()
        self._line += self._text.count("\n", here, len(self._text) - len(rest))
        if rest and self._open:
            raise self._error(f"{quoted(rest.splitlines()[0])} is not a property such as PW[Ann]")
        if self._open:
            raise self._error("the file ends in the middle of a game")
        if rest and not here:
            raise self._error("not an .sgf file: it must begin with (;GM[6]")

    def _error(self, what: str) -> RecordError:
        return RecordError(f"{self._name}: line {self._line}: {what}")


class _GameReader:
    """Reads one game; errors name the line and game."""

    def __init__(self, name: str, number: int, nodes: list[_Node]) -> None:
        self._name, self._number = name, number
        self._nodes = nodes
        self._root = {item.name: item for item in self._nodes[0]}
        self._line = self._nodes[0][0].line if self._nodes[0] else 0
        self._on_roll: int | None = None
        self._dice: Turn | None = None
        """Roll that has not been played yet."""
        self.rules = self._text("RU").split(":")
        self._check_kind()
        pairs = map(_INFORMATION.fullmatch, self._values("MI"))
        facts = {pair[1]: pair[2] for pair in pairs if pair}
        self.length = self._fact(facts, "length")
        self._score = self._fact(facts, "ws"), self._fact(facts, "bs")
        self._game = self._recorder()
        self.players = mat_name(self._text("PW")), mat_name(self._text("PB"))

    def tags(self) -> list[tuple[str, str]]:
        """Return the names and values of the game's tags."""
        lines = (_TAG_LINE.fullmatch(line.strip()) for line in _NEWLINE.split(self._text("GC")))
        if tags := [(match[1], match[2]) for match in lines if match]:
            return tags
        texts = {tag: " ".join(self._text(key).split()) for tag, key in _KNOWN_TAGS.items()}
        return list(_tags_of({tag: text.replace('"', "'") for tag, text in texts.items() if text}))

    def game(self) -> GameRecord:
        """Return the record of the game."""
        try:
            for item in chain.from_iterable(self._nodes):
                self._line = item.line
                self._read(item.name, item.values[0].strip())
            # The last roll was not played.
            if self._dice is not None and self._game.result is None:
                self._game.add(self._dice)
            self._read_result()
        except MotifError as error:
            raise self._error(str(error)) from None
        return self._game.record(self._score)

    def _read(self, name: str, text: str) -> None:
        if name in ("W", "B"):
            self._act(_COLOURS.index(name), text)
        elif name in _SETUPS:
            raise RecordError(SET_UP)
        elif name == "CV" and text != str(self._game.cube):
            raise RecordError(f"the cube was set to {quoted(text)} here; only doubles may change it")
        elif name in ("CP", "CO") and text not in ("c", "n", ""):
            raise RecordError("the cube was given to a player here; only doubles may change it")
        elif name == "PL":
            self._on_roll = {"w": 0, "b": 1}.get(text[:1].lower())
        elif name == "DI":
            player = self._game.turn if self._on_roll is None else self._on_roll
            self._dice = Turn(player or 0, parse_roll(text), None)

    def _act(self, player: int, text: str) -> None:
        self._dice, self._on_roll = None, None
        word = text.lower()
        if match := _MOVE.fullmatch(word):
            points = [_LETTERS[player].index(letter) for letter in match[2]]
            steps = zip(points[::2], points[1::2], strict=True)
            self._game.add_roll(player, match[1], " ".join(f"{start}/{end}" for start, end in steps))
        elif word == "double":
            self._game.add(CubeAction(player, self._game.answer_to(player)))
        elif word in ("take", "drop"):
            self._game.add(CubeAction(player, "take" if word == "take" else "drop"))
        elif not _RESIGNATION.fullmatch(word):
            raise RecordError(f"{quoted(text)} is not a move such as 31hefe, double, take or drop")

    def _read_result(self) -> None:
        text = self._text("RE")
        if _NO_RESULT.fullmatch(text.strip()):
            return
        self._line = self._root["RE"].line
        match = _RESULT.fullmatch(text)
        if not match:
            raise RecordError(f"the result must have the form W+2 or B+1R, not {quoted(text)}")
        self._game.win(_COLOURS.index(match[1]), int(match[2]))

    def _check_kind(self) -> None:
        kind = self._text("GM").strip() or _BACKGAMMON
        if kind != _BACKGAMMON:
            raise self._error(f"the game must be backgammon (GM[{_BACKGAMMON}]), not GM[{plain_text(kind)}]")
        try:
            for rule in self.rules:
                if "gammon" in rule.lower():
                    check_variation(rule)
        except RecordError as error:
            raise self._error(str(error)) from None

    def _values(self, key: str) -> list[str]:
        return self._root[key].values if key in self._root else []

    def _text(self, key: str) -> str:
        return next(iter(self._values(key)), "")

    def _fact(self, facts: dict[str, str], key: str) -> int:
        number = int(facts.get(key, 0))
        if number > MAX_SCORE:
            raise self._error(f"MI[{key}] must be at most {MAX_SCORE}, not {number}")
        return number

    def _recorder(self) -> GameRecorder:
        text = self._text("CV").strip() or "1"
        try:
            return GameRecorder(money=not self.length, first_cube=whole_number(text) or 0)
        except RecordError as error:
            raise self._error(f"the cube begins at {quoted(text)}: {error}") from None

    def _error(self, what: str) -> RecordError:
        where = [f"line {self._line}"] if self._line else []
        return RecordError(": ".join([self._name, *where, f"game {self._number}", what]))


def _opening(record: MatchRecord, number: int) -> str:
    """Return the properties of the first node of a game."""
    game = record.games[number]
    facts = {"length": record.length, "game": number, "ws": game.score[0], "bs": game.score[1]}
    rules = [_NO_CUBE] * (not uses_cube(record))
    if record.length:
        crawford = crawford_game(record)
        # The Crawford game may precede the first game of the record, but no other game at match point.
        later = any(is_match_point(record.length, other.score) for other in record.games[1:])
        rules += ["Crawford"] * (crawford is not None or not later)
        rules += [_CRAWFORD_GAME] * (crawford == number)
    elif jacoby_rule(record):
        rules += ["Jacoby"]
    words = [
        f"FF[4]GM[{_BACKGAMMON}]CA[UTF-8]AP[motif:{VERSION}]",
        "MI" + "".join(f"[{key}:{value}]" for key, value in facts.items()),
        *(
            f"P{colour}[{_escaped(mat_name(name))}]"
            for colour, name in zip(_COLOURS, record.players, strict=True)
        ),
        *_tag_properties(record.tags),
    ]
    words += [f"RU[{':'.join(rules)}]"] * bool(rules)
    if game.first_cube > 1:
        words.append(f"CV[{game.first_cube}]")
    if game.result is not None:
        resigned = "R" * game.result.resigned
        words.append(f"RE[{_COLOURS[game.result.winner]}+{game.result.points}{resigned}]")
    return "".join(words)


def _tags_of(texts: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the tags in a node's properties, in their order; dates have dots, as in .mat files."""
    known = {tag: _dated(tag, texts[tag], ".") for tag in _KNOWN_TAGS if tag in texts}
    return tuple((tag, text) for tag, text in known.items() if text or tag != "EventDate")


def _dated(tag: str, text: str, mark: str) -> str:
    """Return the `text` of a tag; a date is written with `mark`, and is empty if it has another form."""
    if tag != "EventDate":
        return text
    date = _DATE.fullmatch(text)
    return mark.join(date.groups()) if date else ""


def _tag_properties(tags: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for tag, key in _KNOWN_TAGS.items():
        if text := _dated(tag, dict(tags).get(tag, ""), "-"):
            yield f"{key}[{_escaped(text)}]"
    if tags != _tags_of(dict(tags)):
        lines = "\n".join(f'[{name} "{text}"]' for name, text in tags)
        yield f"GC[{_escaped(lines)}]"


def _nodes(game: GameRecord, number: int, notes: Annotations) -> Iterator[str]:
    progress = GameProgress(game.first_cube)
    for index, action in enumerate(game.actions):
        # gnubg needs the take of a beaver or raccoon, which a roll implies.
        if isinstance(action, Turn) and progress.is_beavered:
            yield f";{_COLOURS[1 - game.actions[index - 1].player]}[take]"
        progress.apply(action)
        note = notes.get((number, index))
        said = f"C[{_escaped(note.text)}]{_MARKS[note.mark]}" if note else ""
        if isinstance(action, CubeAction):
            word = action.kind if action.kind in ("take", "drop") else "double"
            yield f";{_COLOURS[action.player]}[{word}]{said}"
            continue
        roll = "{}{}".format(*action.roll)
        if action.play is None:
            yield f";PL[{_COLOURS[action.player]}]DI[{roll}]{said}"
            continue
        letters = _LETTERS[action.player]
        steps = "".join(
            letters[start] + letters[end] for start, end in sorted(action.play.moves, reverse=True)
        )
        yield f";{_COLOURS[action.player]}[{roll}{steps}]{said}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")
