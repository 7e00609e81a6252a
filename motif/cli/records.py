"""What evaluate, plays and hint print of each position, computed for many positions at once."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from motif.board.identifiers import gnubg_ids
from motif.board.moves import PlayBatch, decode_path, play_batches
from motif.board.notation import format_moves
from motif.board.position import Board, pack_many
from motif.cli.lines import Rolls
from motif.evaluators import OUTPUTS, Evaluator, Probabilities, StaticEvaluator
from motif.evaluators.probabilities import turned_equities
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.parallel import run_ordered

Record = dict[str, Any]

# Small parts keep every worker busy with lookahead; large ones are quicker without.
_ROWS_AT_ONCE = 2048
_LOOKAHEAD_ROWS_AT_ONCE = 64
_PLAYS_AT_ONCE = 1 << 17


def evaluations(
    boards: Board, evaluator: Evaluator, player: str, jobs: int | None = None
) -> Iterator[Record]:
    """For each of `boards` its five probabilities, equity and class."""
    return _spread(partial(_evaluations, evaluator, player), evaluator, jobs, boards)


def plays(boards: Board, rolls: Rolls) -> Iterator[Record]:
    """For each of `boards` and `rolls` the legal plays."""
    for decisions, batch in _batches(boards, rolls):
        yield from _listed(boards, rolls, decisions, batch, _described(batch, rolls[decisions]))


def hints(
    boards: Board, rolls: Rolls, evaluator: Evaluator, player: str, jobs: int | None = None
) -> Iterator[Record]:
    """For each of `boards` and `rolls` the legal plays with the mover's equities, best first."""
    return _spread(partial(_hints, evaluator, player), evaluator, jobs, boards, rolls)


def _spread(
    function: Callable[..., list[Record]], evaluator: Evaluator, jobs: int | None, *arrays: Board | Rolls
) -> Iterator[Record]:
    """Records that `function` makes of slices of `arrays`; lookahead is spread over worker processes."""
    quick = isinstance(evaluator, StaticEvaluator)
    size = _ROWS_AT_ONCE if quick else _LOOKAHEAD_ROWS_AT_ONCE
    total = len(arrays[0])
    calls = (tuple(array[k : k + size] for array in arrays) for k in range(0, total, size))
    for records in run_ordered(function, calls, 1 if quick or total <= size else jobs):
        yield from records


def _evaluations(evaluator: Evaluator, player: str, boards: Board) -> list[Record]:
    rows = evaluator.evaluate_many(boards).astype(np.float64).tolist()
    classes = classify_many(pack_many(boards)).tolist()
    records = []
    for row, class_code, position in zip(rows, classes, gnubg_ids(boards), strict=True):
        chances = Probabilities(*row)
        records.append(
            {
                **dict(zip(OUTPUTS, row, strict=True)),
                "equity": chances.equity,
                "class": CLASS_NAMES[class_code],
                "player": player,
                "position": position,
            }
        )
    return records


def _hints(evaluator: Evaluator, player: str, boards: Board, rolls: Rolls) -> list[Record]:
    records: list[Record] = []
    for decisions, batch in _batches(boards, rolls):
        values = evaluator.play_equities(boards[decisions], batch)
        described = _described(batch, rolls[decisions])
        for play, equity in zip(described, values.tolist(), strict=True):
            play["equity"] = equity
        # Ascending ranks of a descending order: nothing is negated but by the one function for it.
        order = np.lexsort((turned_equities(values), _decision_of_each(batch))).tolist()
        ranked = [described[row] for row in order]
        for record in _listed(boards, rolls, decisions, batch, ranked):
            records.append({**record, "player": player})
    return records


def _batches(boards: Board, rolls: Rolls) -> Iterator[tuple[slice, PlayBatch]]:
    """The legal plays of all decisions in batches, each with the decisions that it is about."""
    done = 0
    for batch in play_batches(boards, rolls, _PLAYS_AT_ONCE):
        count = len(batch.offsets) - 1
        yield slice(done, done + count), batch
        done += count


def _decision_of_each(batch: PlayBatch) -> Rolls:
    counts = np.diff(batch.offsets)
    return np.repeat(np.arange(len(counts)), counts)


def _described(batch: PlayBatch, rolls: Rolls) -> list[Record]:
    """Notation and resulting position of each play of `batch`."""
    dice = rolls[_decision_of_each(batch)].tolist()
    return [
        {"notation": _notation(path, high, low), "position": position}
        for path, (high, low), position in zip(
            batch.paths.tolist(), dice, gnubg_ids(batch.boards), strict=True
        )
    ]


@lru_cache(maxsize=1 << 18)
def _notation(path: int, high: int, low: int) -> str:
    return format_moves(*decode_path(path, (high, low)))


def _listed(
    boards: Board, rolls: Rolls, decisions: slice, batch: PlayBatch, described: list[Record]
) -> Iterator[Record]:
    """The record of each decision, with its share of the plays `described`."""
    ends = batch.offsets.tolist()
    places = zip(ends[:-1], ends[1:], gnubg_ids(boards[decisions]), rolls[decisions].tolist(), strict=True)
    for start, end, position, roll in places:
        yield {"plays": described[start:end], "position": position, "roll": roll}
