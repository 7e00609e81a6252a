"""JSON records of evaluate, plays and hint for many positions at once.

Batch files have one position, or one position and roll, per line.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.analysis.judge import MatchOptions, for_match
from motif.board.identifiers import ID_LENGTH, boards_from_gnubg_ids, gnubg_ids
from motif.board.match_state import MatchState
from motif.board.moves import Play, PlayBatch, check_goes_on, decode_path, parse_roll, play_batches
from motif.board.notation import format_moves
from motif.board.outcome import finished_points_many
from motif.board.packed import BOARD_SIZE, Board, pack_many
from motif.board.parsing import parse_decision, parse_position
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator, Probabilities, StaticEvaluator
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players.ranking import (
    FULL_DEPTH,
    Ranking,
    best_first,
    estimate_plays,
    probabilities_of,
    rank_plays,
    source_words,
)
from motif.runtime.arrays import IntArray
from motif.runtime.errors import MotifError, SettingError, plain_text
from motif.runtime.files import STDIN, content_of
from motif.runtime.frames import Record
from motif.runtime.layout import counted
from motif.runtime.limits import BATCH_FILE, BATCH_LINES, TEXT_LINE, lines_of, pieces_of, read_within
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import end_if_cancelled

if TYPE_CHECKING:
    from motif.analysis.explain import PositionExplanation

_COMMENT = "#"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DICE = 2
_roll = lru_cache(parse_roll)


_Result = TypeVar("_Result")


class Decisions(NamedTuple):
    """Rolls in n positions, whose plays are to be ranked."""

    boards: Board
    """The positions (n, 26)."""
    rolls: IntArray
    """The rolls (n, 2), higher die first."""
    matches: Sequence[MatchState | None]
    """The match states of the IDs that have one (n)."""


class _BatchFile:
    """The numbered non-empty lines of a file; can be iterated repeatedly."""

    def __init__(self, path: str) -> None:
        """Read the file at `path`, or standard input; raises `SettingError`."""
        self.name = "standard input" if path == STDIN else plain_text(path)
        if path == STDIN:
            self._content = read_within(sys.stdin.buffer, BATCH_FILE, self.name, SettingError)
        else:
            self._content = content_of(Path(path), SettingError, BATCH_FILE)
        BATCH_LINES.check(self._content.count(b"\n"), self.name, SettingError)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        content = self._content.removeprefix(_BYTE_ORDER_MARK)
        for number, line in lines_of(pieces_of(BytesIO(content)), TEXT_LINE, self.name, SettingError):
            words = line.decode("utf-8", "replace").split()
            if words and not words[0].startswith(_COMMENT):
                yield number, words


def read_positions(path: str) -> Board:
    """Read the boards (n, 26) from a file with one position per line; ``-`` is standard input.

    Empty lines and lines starting with # are skipped.  Raises a `MotifError` naming the file and line of an
    invalid position.
    """
    return _read(path, lambda lines: boards_of([_only_word(words) for _, words in lines]), _parse_state)


def read_states(path: str) -> list[tuple[Position, MatchState | None]]:
    """Read positions like `read_positions`, with the match state of each ID that has one."""
    return _read(path, lambda lines: [_parse_state(words) for _, words in lines], _parse_state)


def read_decisions(path: str) -> Decisions:
    """Read decisions from lines ``ID D1 D2``, or ``ID`` if the ID holds the roll.

    Otherwise like `read_positions`.
    """

    def read(lines: _BatchFile) -> Decisions:
        texts, rolls = list[str](), list[tuple[int, int]]()
        matches: list[MatchState | None] = []
        for _, words in lines:
            texts.append(words[0])
            if len(words) > 1 and len(words[0]) == ID_LENGTH:  # decoded in bulk
                rolls.append(_roll(*_dice(words)))
                matches.append(None)
            else:
                _, match, roll = _parse_decision(words)
                rolls.append(roll)
                matches.append(match)
        boards = boards_of(texts)
        _check_go_on(boards)
        return Decisions(boards, np.array(rolls, np.int64).reshape(-1, _DICE), matches)

    return _read(path, read, _parse_decision)


def _read(path: str, read: Callable[[_BatchFile], _Result], parse: Callable[[list[str]], object]) -> _Result:
    """Return what `read` makes of a file; an error names the first line that `parse` rejects."""
    lines = _BatchFile(path)
    try:
        return read(lines)
    except MotifError:
        for number, words in lines:
            try:
                parse(words)
            except MotifError as fault:
                raise type(fault)(f"{lines.name}: line {number}: {fault}") from None
        raise


def boards_of(texts: Sequence[str]) -> Board:
    """Return the boards (n, 26) of position IDs in any format; GNUbg IDs are decoded in bulk.

    Raises `PositionError` without naming the invalid ID.
    """
    usual = np.array([len(text) == ID_LENGTH for text in texts], np.bool_)
    boards = np.empty((len(texts), BOARD_SIZE), np.int8)
    boards[usual] = boards_from_gnubg_ids([text for text in texts if len(text) == ID_LENGTH])
    for row in np.flatnonzero(~usual).tolist():
        boards[row] = parse_position(texts[row])[0].board
    return boards


def _check_go_on(boards: Board) -> None:
    for row in np.flatnonzero(finished_points_many(pack_many(boards).view(np.int64))):
        check_goes_on(Position(boards[row]))


def _parse_state(words: Sequence[str]) -> tuple[Position, MatchState | None]:
    return parse_position(_only_word(words))


def _only_word(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise SettingError(f"expected one position, got {len(words)} words")
    return words[0]


def _dice(words: Sequence[str]) -> Sequence[str]:
    if not 1 < len(words) <= 1 + _DICE:
        raise SettingError(f"expected a position and two dice, got {counted(len(words), 'word')}")
    return words[1:]


def _parse_decision(words: Sequence[str]) -> tuple[Position, MatchState | None, tuple[int, int]]:
    """Return the position, match state and roll of a line."""
    position, match, roll = parse_decision(words[0])
    if roll is None or len(words) > 1:
        roll = parse_roll(*_dice(words))
    check_goes_on(position)
    return position, match, roll


# Small batches keep all workers busy with lookahead; without it, large batches are faster.
_ROWS_AT_ONCE = 2048
_LOOKAHEAD_ROWS_AT_ONCE = 64
_PLAYS_AT_ONCE = 1 << 17


def evaluations(
    boards: Board, evaluator: Evaluator, player: str, jobs: int | None = None
) -> Iterator[Record]:
    """Yield the five probabilities, equity and class of each of `boards`."""
    classes = classify_many(pack_many(boards)).tolist()
    chances = probabilities_of_each(boards, evaluator, jobs)
    for five, class_code, position in zip(chances, classes, gnubg_ids(boards), strict=True):
        facts = {"equity": five.equity, "class": CLASS_NAMES[class_code]}
        yield {**five._asdict(), **facts, "player": player, "position": position}


def probabilities_of_each(
    boards: Board, evaluator: Evaluator, jobs: int | None = None
) -> Iterator[Probabilities]:
    """Yield the probabilities of each of `boards`."""
    return _spread(partial(_probabilities, evaluator), evaluator, jobs, boards)


def plays(boards: Board, rolls: IntArray) -> Iterator[Record]:
    """Yield the legal plays of each board and roll; raises `PositionError` for a finished game."""
    _check_go_on(boards)
    for batch in play_batches(boards, rolls, _PLAYS_AT_ONCE):
        yield from _listed(boards, rolls, batch, _described(batch, rolls))


def hints(
    decisions: Decisions, evaluator: Evaluator, player: str, options: MatchOptions, jobs: int | None = None
) -> Iterator[Record]:
    """Yield the legal plays of each decision with the mover's equities, best first, as `hint` does."""
    matches = np.empty(len(decisions.matches), object)
    matches[:] = decisions.matches
    function = partial(_hints, evaluator, player, options)
    return _spread(function, evaluator, jobs, decisions.boards, decisions.rolls, matches)


def hint(
    position: Position,
    roll: tuple[int, int],
    match: MatchState | None,
    evaluator: Evaluator,
    player: str,
    options: MatchOptions,
    full_depth: int = FULL_DEPTH,
    asked: Sequence[Play] = (),
) -> tuple[Ranking, Record]:
    """Return the ranked plays of a roll, with probabilities, and their JSON record.

    Plays are valued at the score and cube given by `options` and by the ID's `match`, the `full_depth` best
    and those `asked` for to full depth.
    """
    state, valued = for_match(evaluator, options, match)
    ranking = rank_plays(
        position,
        roll,
        evaluator,
        state,
        full_depth=full_depth,
        asked=asked,
        with_probabilities=True,
        name=player,
    )
    return ranking, {**ranking.to_dict(), **valued}


class Details(NamedTuple):
    """Details of how an evaluator values a position."""

    seen: Record
    """`Evaluator.details`: features, raw sums, scores."""
    explanation: "PositionExplanation | None"
    """The parts of the value, if it is a sum of terms."""

    def to_dict(self) -> Record:
        """Return the JSON record, without the evaluation."""
        words = {} if self.explanation is None else {"explanation": self.explanation.to_dict()}
        return {"details": self.seen, **words}


def details(position: Position, evaluator: Evaluator) -> Details:
    """Return the details of how `evaluator` values `position`; raises `PlayerError` if it has none."""
    from motif.analysis.explain import explain_position

    seen = evaluator.details(position)
    # Only weight files have raw sums, which consist of terms.
    return Details(seen, explain_position(evaluator, position) if "raw" in seen else None)


def _spread(
    function: Callable[..., list[_Result]], evaluator: Evaluator, jobs: int | None, *arrays: npt.NDArray[Any]
) -> Iterator[_Result]:
    """Yield the results of `function` on slices of `arrays`; lookahead runs in worker processes."""
    quick = isinstance(evaluator, StaticEvaluator)
    size = _ROWS_AT_ONCE if quick else _LOOKAHEAD_ROWS_AT_ONCE
    total = len(arrays[0])
    calls = (tuple(array[k : k + size] for array in arrays) for k in range(0, total, size))
    for results in run_ordered(function, calls, 1 if quick or total <= size else jobs):
        yield from results


def _probabilities(evaluator: Evaluator, boards: Board) -> list[Probabilities]:
    return [Probabilities(*row) for row in evaluator.evaluate_many(boards).astype(np.float64).tolist()]


def _hints(
    evaluator: Evaluator,
    player: str,
    options: MatchOptions,
    boards: Board,
    rolls: IntArray,
    matches: npt.NDArray[np.object_],
) -> list[Record]:
    """Return a record for each board and roll; those of one match state are ranked together."""
    records: dict[int, Record] = {}
    rows_of: dict[MatchState | None, list[int]] = {}
    for row, match in enumerate(matches):
        rows_of.setdefault(match, []).append(row)
    for match, rows in rows_of.items():
        end_if_cancelled()
        state, facts = for_match(evaluator, options, match)
        ranked = _ranked(evaluator, state, boards[rows], rolls[rows])
        for row, record in zip(rows, ranked, strict=True):
            records[row] = {**record, "player": player, **facts}
    return [records[row] for row in range(len(boards))]


def _ranked(
    evaluator: Evaluator, state: MatchState | None, boards: Board, rolls: IntArray
) -> Iterator[Record]:
    """Yield the ranked plays of each board and roll, all in one state of the match."""
    for batch in play_batches(boards, rolls, _PLAYS_AT_ONCE):
        before = boards[batch.decisions]
        values, sources = estimate_plays(before, batch, evaluator, state)
        described = _described(batch, rolls)
        dice = rolls[batch.decisions][batch.decision].tolist()
        for play, path, roll, equity, source in zip(
            described, batch.paths.tolist(), dice, values.tolist(), sources.tolist(), strict=True
        ):
            play["moves"] = [list(move) for move in _decoded(path, *roll)[1]]
            play["equity"], play["source"] = equity, source_words(source)
        chances = probabilities_of(evaluator, state, batch.boards, sources)
        for play, five in zip(described, chances.tolist(), strict=True):
            play |= dict(zip(OUTPUTS, five, strict=True))
        ranked = [described[row] for row in best_first(values, before, batch, evaluator).tolist()]
        yield from _listed(boards, rolls, batch, ranked)


def _described(batch: PlayBatch, rolls: IntArray) -> list[Record]:
    """Return the notation and resulting position of each play of `batch`."""
    dice = rolls[batch.decisions][batch.decision].tolist()
    return [
        {"notation": _decoded(path, high, low)[0], "position": position}
        for path, (high, low), position in zip(
            batch.paths.tolist(), dice, gnubg_ids(batch.boards), strict=True
        )
    ]


@lru_cache(maxsize=1 << 18)
def _decoded(path: int, high: int, low: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    moves, hits = decode_path(path, (high, low))
    return format_moves(moves, hits), moves


def _listed(boards: Board, rolls: IntArray, batch: PlayBatch, described: list[Record]) -> Iterator[Record]:
    """Yield the record of each decision with its plays."""
    ends, here = batch.offsets.tolist(), batch.decisions
    places = zip(ends[:-1], ends[1:], gnubg_ids(boards[here]), rolls[here].tolist(), strict=True)
    for start, end, position, roll in places:
        yield {"plays": described[start:end], "position": position, "roll": roll}
