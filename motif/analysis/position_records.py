"""JSON records of evaluate, plays and hint, for one position or many at once."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.analysis.judge import MatchOptions, for_match, valued_record
from motif.board.identifiers import gnubg_ids
from motif.board.match_state import MatchState
from motif.board.moves import Play, PlayBatch, check_all_go_on, decode_path, play_batches
from motif.board.notation import format_moves
from motif.board.packed import Board, pack_many
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
    rows_by_state,
    source_words,
)
from motif.runtime.arrays import IntArray, slices
from motif.runtime.frames import Record
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import end_if_cancelled

if TYPE_CHECKING:
    from motif.analysis.explain.explanation import PositionExplanation

_Result = TypeVar("_Result")


class Decisions(NamedTuple):
    """Rolls in n positions, whose plays are to be ranked."""

    boards: Board
    """The positions (n, 26)."""
    rolls: IntArray
    """The rolls (n, 2), higher die first."""
    matches: Sequence[MatchState | None]
    """The match states of the IDs that have one (n)."""


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
    check_all_go_on(boards)
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
    state = for_match(evaluator, options, match)
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
    return ranking, {**ranking.to_dict(), **valued_record(state)}


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
    from motif.analysis.explain.explanation import explain_position

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
    calls = (tuple(array[part] for array in arrays) for part in slices(total, size))
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
    for match, rows in rows_by_state(matches).items():
        end_if_cancelled()
        state = for_match(evaluator, options, match)
        facts = valued_record(state)
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
        estimates = estimate_plays(before, batch, evaluator, state)
        values, sources = estimates
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
        ranked = [described[row] for row in best_first(estimates, before, batch, evaluator).tolist()]
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
