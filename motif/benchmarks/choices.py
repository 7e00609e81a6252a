"""Losses of players' choices, on benchmark files and on the recorded plays of datasets.

A dataset contains labelled positions after plays, but neither the roll nor the position before, so plays are
chosen by the values of the positions after them. The best of several noisy labels is too high on average, so
even perfect choices have a loss: only differences between players on the same decisions are meaningful.
Measure fitted weights on a dataset that they were not fitted to.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from motif.benchmarks.benchmark_files import BenchmarkFile
from motif.benchmarks.losses import (
    ByGroup,
    LossDistribution,
    Losses,
    PairedRate,
    Rows,
    by_group,
    joined_losses,
    loss_distribution,
    mean_in_millipoints,
    paired,
)
from motif.board.identifiers import gnubg_id, position_key
from motif.board.marks import MILLIPOINTS
from motif.board.match_state import MatchState
from motif.board.moves import Play, legal_plays
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.evaluators import Evaluator
from motif.evaluators.evaluator import first_best
from motif.evaluators.probabilities import switched_equities
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import BenchmarkError, PlayerError
from motif.runtime.frames import Row, Tabular
from motif.runtime.parallel import run_batches
from motif.runtime.settings import check_seed
from motif.runtime.streams import derive_states

if TYPE_CHECKING:
    from motif.sampling.dataset import Dataset

_DECISIONS_AT_ONCE, _POSITIONS_AT_ONCE = 500, 2048
_Rate = TypeVar("_Rate")


@dataclass(frozen=True)
class Choices(Losses):
    """A player's plays on the decisions of a file, in order.

    A play that is not listed counts as the worst listed one.  Classes are those of the positions before the
    roll.
    """

    benchmark: BenchmarkFile
    chosen: Board
    """(n, 26): boards after the chosen plays."""


def player_choices(
    player: Player, benchmark: BenchmarkFile, *, seed: int = 0, jobs: int | None = None
) -> Choices:
    """Let `player` choose a play in each decision; raises `SettingError` for an invalid seed."""
    check_seed(seed)
    columns = benchmark.boards, benchmark.rolls, derive_states(seed, 0, len(benchmark), 0)
    title = f"{player.name} on {benchmark.path}"
    after = np.concatenate([*run_batches(player.choose_many, columns, _DECISIONS_AT_ONCE, title, jobs)])
    decision = np.repeat(np.arange(len(benchmark)), np.diff(benchmark.offsets))
    same = (benchmark.listed == after[decision]).all(axis=1)
    losses = np.maximum.reduceat(benchmark.losses, benchmark.offsets[:-1])
    losses[decision[same]] = benchmark.losses[same]
    listed = np.zeros(len(benchmark), np.bool_)
    listed[decision[same]] = True
    classes = classify_many(pack_many(benchmark.boards))
    return Choices(benchmark.path, losses, listed, classes, np.arange(len(benchmark)), benchmark, after)


@dataclass(frozen=True)
class RecordedDecisions:
    """The n decisions of a dataset with at least two recorded plays, m plays in all."""

    path: str
    rows: npt.NDArray[np.intp]
    """(m,): rows of the dataset, by decision."""
    gains: FloatArray
    """(m,): labels of the plays for the mover, in points."""
    classes: npt.NDArray[np.int8]
    """(m,): position classes after the plays, as in `motif.parameters.position_class`."""
    starts: npt.NDArray[np.intp]
    """(n,): first play of each decision."""
    games: IntArray
    """(n,): game of each decision."""

    def __len__(self) -> int:
        return len(self.starts)

    def losses(self, values: FloatArray) -> Losses:
        """Return the losses of choosing the play with the highest of `values` (m,), for the mover.

        The first of equal plays counts.  The class of a decision is that of the position after its best play.
        """
        best, choice = first_best(self.gains, self.starts), first_best(values, self.starts)
        lost = self.gains[best] - self.gains[choice]
        listed = np.ones(len(self), np.bool_)
        return Losses(self.path, lost, listed, self.classes[best], self.games, is_pooled=True)


def recorded_decisions(
    path: str,
    decisions: IntArray,
    gains: FloatArray,
    classes: npt.NDArray[np.int8],
    games: npt.NDArray[np.integer],
) -> RecordedDecisions:
    """Return the decisions with at least two plays, by ascending id.

    Parameters are arrays (positions,): the id of the decision, the label in points for the player who
    chose (`for_chooser`), the class, and the game.
    """
    order = np.argsort(decisions, kind="stable")
    _, plays = np.unique(decisions, return_counts=True)
    rows = order[np.repeat(plays > 1, plays)]
    starts = np.cumsum(plays[plays > 1]) - plays[plays > 1]
    return RecordedDecisions(
        path, rows, gains[rows], classes[rows], starts, games[rows[starts]].astype(np.int64)
    )


def for_chooser(equities: npt.NDArray[np.floating], after_replies: BoolArray | bool) -> FloatArray:
    """Return equities (n,) of positions after plays for the player who chose the play.

    This player is on roll only in positions `after_replies`, a mask (n,) or one flag for all.
    """
    values = equities.astype(np.float64)
    return np.where(after_replies, values, switched_equities(values))


@dataclass(frozen=True)
class DatasetDecisions(RecordedDecisions):
    """Recorded decisions with their boards."""

    boards: Board
    """(m, 26): boards after the plays, from the side of the next player on roll."""
    after_replies: bool
    """Whether this player is the one who chose the play."""


def dataset_decisions(path: str, data: "Dataset") -> DatasetDecisions:
    """Return the decisions of the dataset called `path`.

    Raises `BenchmarkError` if no decision has two recorded plays, or for a label that is not finite.
    """
    after_replies = data.origin.after_replies
    gains = for_chooser(data.equity, after_replies)
    recorded = recorded_decisions(path, data.decision, gains, data.position_class, data.game)
    if not len(recorded):
        raise BenchmarkError(f"{path}: no decision has two recorded plays")
    if not np.isfinite(recorded.gains).all():
        raise BenchmarkError(f"{path}: the equity of a position is not finite")
    return DatasetDecisions(**vars(recorded), boards=data.boards[recorded.rows], after_replies=after_replies)


def choosing_by_value(player: Player) -> Evaluator:
    """Return the evaluator whose values of positions determine the plays of `player`.

    Raises `PlayerError` for other players, such as ``random``, ``best-of-four`` and ``gnubg``.
    """
    if player.evaluator is None or not isinstance(player, CompiledPlayer | EvaluatorPlayer):
        raise PlayerError(
            f"the player {player.name!r} does not choose plays by values of positions; a dataset has no "
            "rolls for other players"
        )
    return player.evaluator


def dataset_losses(evaluator: Evaluator, decisions: DatasetDecisions, *, jobs: int | None = None) -> Losses:
    """Return the losses of the plays that `evaluator` values highest.

    Point tables are chosen by the class after the play, because the dataset lacks the position before it.
    """
    title = f"{evaluator.name} on {decisions.path}"
    parts = run_batches(evaluator.equity_many, [decisions.boards], _POSITIONS_AT_ONCE, title, jobs)
    return decisions.losses(for_chooser(np.concatenate([*parts]), decisions.after_replies))


@dataclass(frozen=True)
class ErrorRate:
    """Mean loss of a player."""

    er: float
    """Millipoints per decision."""
    se: float
    """Standard error of `er`, clustered by game; NaN for a single game.

    In a benchmark file, each decision counts as a game of its own.
    """
    decisions: int
    unlisted: int
    """Choices that the file does not list; each counts as the worst listed play."""

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class ErrorRates(Tabular, ByGroup[ErrorRate]):
    """Error rates of a player on several files."""

    distribution: LossDistribution

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name."""
        return asdict(self) | {"distribution": self.distribution.to_dict()}


def summary(choices: Sequence[Losses]) -> ErrorRates:
    """Return the error rates of a player on several files; raises `BenchmarkError` if there is none."""
    every = joined_losses(choices)
    rates = by_group(choices, lambda rows: _rate(every, rows))
    distribution = loss_distribution(every.losses, every.listed)
    return ErrorRates(rates.files, rates.classes, rates.overall, distribution)


def _rate(every: Losses, rows: Rows = slice(None)) -> ErrorRate:
    losses, listed = every.losses[rows], every.listed[rows]
    return ErrorRate(
        *mean_in_millipoints(losses, every.games[rows]), len(losses), int(len(losses) - listed.sum())
    )


@dataclass(frozen=True)
class JudgedPlay:
    """A play and its loss in millipoints."""

    notation: str
    """Notation of the play; empty if there is no legal move, the position's key if the play is not legal."""
    loss: float
    moves: tuple[tuple[int, int], ...]
    """Moves (from, to) of single checkers."""


@dataclass(frozen=True)
class WorstDecision:
    """A decision and the play made."""

    path: str
    line: int | None
    """Line number in the file, from 1; None for decisions that are not from a file."""
    position: Position
    roll: tuple[int, int]
    """The higher die first."""
    class_name: str
    played: JudgedPlay
    is_listed: bool
    """Whether the file lists the play; if not, its loss is that of the worst listed play."""
    listed: tuple[JudgedPlay, ...]
    """The listed plays, best first."""

    @property
    def state(self) -> MatchState:
        """The state of a money game with this roll."""
        return MatchState(dice=self.roll)

    @property
    def best(self) -> tuple[JudgedPlay, ...]:
        """The plays without a loss."""
        return tuple(play for play in self.listed if play.loss == 0)

    def to_dict(self) -> dict[str, object]:
        """Return files and lines, identifiers and plays, for JSON."""
        return {
            "file": self.path,
            "line": self.line,
            "position": gnubg_id(self.position),
            "xgid": xgid(self.position, self.state),
            "roll": list(self.roll),
            "class": self.class_name,
            "play": self.played.notation,
            "loss": self.played.loss,
            "is_listed": self.is_listed,
            "listed": [{"play": play.notation, "loss": play.loss} for play in self.listed],
        }


def worst_decisions(choices: Sequence[Choices], count: int) -> list[WorstDecision]:
    """Return the `count` decisions with the largest losses above 0."""
    losses = np.concatenate([choice.losses for choice in choices])
    ends = np.cumsum([len(choice.losses) for choice in choices])
    worst = np.argsort(-losses, kind="stable")[:count]
    decisions = []
    for row in worst[losses[worst] > 0].tolist():
        number = int(np.searchsorted(ends, row, side="right"))
        decisions.append(_decision(choices[number], row - int(ends[number]) + len(choices[number].losses)))
    return decisions


def _decision(choices: Choices, row: int) -> WorstDecision:
    benchmark = choices.benchmark
    position = Position(benchmark.boards[row])
    high, low = benchmark.rolls[row].tolist()
    plays = {play.position: play for play in legal_plays(position, (high, low))}
    part = slice(*benchmark.offsets[row : row + 2].tolist())
    listed = [
        _judged_play(Position(board), plays, loss)
        for board, loss in zip(benchmark.listed[part], benchmark.losses[part].tolist(), strict=True)
    ]
    return WorstDecision(
        benchmark.path,
        int(benchmark.record.lines[row]) if benchmark.record else None,
        position,
        (high, low),
        CLASS_NAMES[choices.classes[row]],
        _judged_play(Position(choices.chosen[row]), plays, float(choices.losses[row])),
        bool(choices.listed[row]),
        tuple(listed),
    )


def _judged_play(after: Position, plays: dict[Position, Play], loss: float) -> JudgedPlay:
    play = plays.get(after)
    if play is None:
        return JudgedPlay(f"{position_key(after)} (not a legal play)", MILLIPOINTS * loss, ())
    return JudgedPlay(play.notation, MILLIPOINTS * loss, play.moves)


@dataclass(frozen=True, repr=False)
class BenchmarkResult(ErrorRates):
    """Error rates of a player by file, by class of position and for all decisions."""

    player: str
    """Name of the player."""
    worst: tuple[WorstDecision, ...]
    """The worst decisions, if requested."""
    versus: ByGroup[PairedRate] | None
    """Differences from the error rates of a second player, if given."""

    def to_dict(self) -> Row:
        """Return the error rates as a dict that JSON can represent."""
        rates = super().to_dict()
        paired = rates.pop("versus")
        worst = [decision.to_dict() for decision in self.worst]
        return rates | {"worst": worst} | ({} if paired is None else {"paired": paired})

    def records(self) -> list[Row]:
        """Return a row for each file, each class and all decisions."""
        rows: list[Row] = [{"decisions of": name, **rate.to_dict()} for name, rate in _named(self)]
        if self.versus is not None:
            for row, (_, compared) in zip(rows, _named(self.versus), strict=True):
                row |= {"difference": compared.difference, "difference_se": compared.se}
        return rows


def _named(rates: ByGroup[_Rate]) -> list[tuple[str, _Rate]]:
    return [*rates.files.items(), *rates.classes.items(), ("all", rates.overall)]


def benchmark_players(
    players: Sequence[Player],
    files: Sequence[BenchmarkFile] = (),
    datasets: Sequence[DatasetDecisions] = (),
    *,
    worst: int = 0,
    seed: int = 0,
    jobs: int | None = None,
) -> BenchmarkResult:
    """Measure the error rate of a player, and its difference from that of a second one, if given.

    Measure it on `files`, with the `worst` decisions, or else on `datasets`.  Raises as `player_choices`,
    `choosing_by_value` and `summary` do.
    """
    lost: Sequence[Sequence[Losses]]
    decisions: list[WorstDecision] = []
    if datasets:
        evaluators = [choosing_by_value(player) for player in players]
        lost = [[dataset_losses(evaluator, of, jobs=jobs) for of in datasets] for evaluator in evaluators]
    else:
        chosen = [
            [player_choices(player, file, seed=seed, jobs=jobs) for file in files] for player in players
        ]
        lost, decisions = chosen, worst_decisions(chosen[0], worst) if worst else []
    compared = paired(*lost) if len(players) > 1 else None
    rates = summary(lost[0])
    return BenchmarkResult(**vars(rates), player=players[0].name, worst=tuple(decisions), versus=compared)
