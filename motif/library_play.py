"""Measure players: error rates and speed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
from motif.benchmarks.choices import (
    DatasetDecisions,
    ErrorRates,
    WorstDecision,
    choosing_by_value,
    dataset_decisions,
    dataset_losses,
    player_choices,
    summary,
    worst_decisions,
)
from motif.benchmarks.losses import ByGroup, Losses, PairedRate, paired
from motif.benchmarks.speed import measure_speed
from motif.evaluators import StaticEvaluator
from motif.evaluators.named import LATEST
from motif.library import evaluator_of
from motif.players.player import Player, PlayerLike, as_player
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.frames import Row
from motif.sampling import Dataset, read_parts


def speed(player: PlayerLike = LATEST, *, seconds: float = 2.0, jobs: int | None = None) -> dict[str, float]:
    """Measure games, plays and evaluations per second, each for about `seconds`, on one core and on all.

    Raises `PlayerError` for a player without weights.
    """
    evaluator = evaluator_of(player)
    if not isinstance(evaluator, StaticEvaluator):
        raise PlayerError(f"speed is measured of weights, without lookahead, not of {evaluator.name!r}")
    return measure_speed(evaluator, jobs, seconds)


@dataclass(frozen=True, repr=False)
class BenchmarkResult(ErrorRates):
    """Error rates of a player, on each file, by class of position and on all together."""

    player: str
    worst: tuple[WorstDecision, ...]
    """The decisions that cost most, where they were asked for."""
    versus: ByGroup[PairedRate] | None
    """Differences to another player's error rates, where one was named."""

    def to_dict(self) -> Row:
        """Return everything by name, as JSON has it."""
        return {
            **{name: value for name, value in super().to_dict().items() if name in _RATES},
            "player": self.player,
            "worst": [decision.to_dict() for decision in self.worst],
            **({} if self.versus is None else {"paired": asdict(self.versus)}),
        }

    def records(self) -> list[Row]:
        """Return a row for each file, each class and all."""
        named = [*self.files.items(), *self.classes.items(), ("all", self.overall)]
        return [{"decisions of": name, **rate.to_dict()} for name, rate in named]


_RATES = ("files", "classes", "overall", "distribution")


def benchmark(
    player: PlayerLike = LATEST,
    files: Sequence[Path | str | Dataset] | Path | str | Dataset | None = None,
    *,
    versus: PlayerLike | None = None,
    worst: int = 0,
    seed: int = 0,
    jobs: int | None = None,
) -> BenchmarkResult:
    """Measure the error rate of a player: ``benchmark("latest").overall.er``, millipoints per decision.

    Parameters
    ----------
    player
        In any form.
    files
        GNUbg benchmark files (.gz too), or datasets; by default those of motif's source, data/bench.
    versus
        A player to compare with, decision by decision.
    worst
        How many of the decisions that cost most are returned.
    seed, jobs
        Where chance plays a part; processes.

    Raises
    ------
    BenchmarkError, DatasetError
        For a file or a dataset that cannot be read.
    SettingError
        Where no files are given and none came with motif.
    """
    players = [as_player(one) for one in ([player] if versus is None else [player, versus])]
    if files is None and not shipped_lines():
        raise SettingError("files: name benchmark files or datasets; none came with this motif", "files")
    paths = [files] if isinstance(files, str | Path | Dataset) else list(files or ())
    folders = [path for path in paths if isinstance(path, Dataset) or Path(path).is_dir()]
    if folders and len(folders) < len(paths):
        raise SettingError("files: datasets and benchmark files are not measured together", "files")
    if folders and worst:
        raise SettingError("worst: a dataset does not tell the positions before its plays", "worst")
    if folders:
        decisions = [_decisions(folder) for folder in folders]
        evaluators = [choosing_by_value(one) for one in players]
        lost = [[dataset_losses(one, of, jobs=jobs) for of in decisions] for one in evaluators]
        return _result(players, lost, [])
    lines = shipped_lines() if files is None else [read_benchmark(str(path)) for path in paths]
    chosen = [[player_choices(one, file, seed=seed, jobs=jobs) for file in lines] for one in players]
    return _result(players, chosen, worst_decisions(chosen[0], worst) if worst else [])


def _decisions(data: Dataset | Path | str) -> DatasetDecisions:
    if isinstance(data, Dataset):
        return dataset_decisions("the dataset", [data])
    return dataset_decisions(str(data), read_parts(Path(data)))


def _result(
    players: Sequence[Player], lost: Sequence[Sequence[Losses]], worst: Sequence[WorstDecision]
) -> BenchmarkResult:
    rates = summary(lost[0])
    return BenchmarkResult(
        rates.files,
        rates.classes,
        rates.overall,
        rates.distribution,
        players[0].name,
        tuple(worst),
        paired(*lost) if len(players) > 1 else None,
    )
