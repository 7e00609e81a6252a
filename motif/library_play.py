"""Functions that measure players: error rates and speed."""

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
    """Measure games, plays and evaluations per second, on one core and on all cores.

    Parameters
    ----------
    player
        Weights in any form, by default the newest.
    seconds
        Duration of each measurement, at least 0.01.
    jobs
        Number of processes, by default all cores.

    Returns
    -------
    dict
        Rates per second by name.

    Raises
    ------
    PlayerError
        For a player that is not a static evaluator.
    """
    evaluator = evaluator_of(player)
    if not isinstance(evaluator, StaticEvaluator):
        raise PlayerError(f"invalid player {evaluator.name!r}: speed requires weights without lookahead")
    return measure_speed(evaluator, jobs, seconds)


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
        return {
            **{name: value for name, value in super().to_dict().items() if name in _RATES},
            "player": self.player,
            "worst": [decision.to_dict() for decision in self.worst],
            **({} if self.versus is None else {"paired": asdict(self.versus)}),
        }

    def records(self) -> list[Row]:
        """Return a row for each file, each class and all decisions."""
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
    """Measure the error rate of a player in millipoints per decision.

    Parameters
    ----------
    player
        A player in any form, by default the newest weights without lookahead.
    files
        GNUbg benchmark files (also .gz) or datasets; by default the files in data/bench of motif's source.
    versus
        Player to compare with, decision by decision.
    worst
        Number of worst decisions to return.
    seed
        Random seed for players that choose plays at random.
    jobs
        Number of processes, by default all cores; the result does not depend on it.

    Returns
    -------
    BenchmarkResult
        Error rates, such as ``.overall.er``, with standard errors.

    Raises
    ------
    BenchmarkError, DatasetError
        For a file or a dataset that cannot be read.
    PlayerError, SettingError
        For an invalid player or contradictory arguments, or if there are no files.

    Examples
    --------
    >>> import motif
    >>> motif.benchmark("latest").overall.er  # doctest: +SKIP
    """
    players = [as_player(one) for one in ([player] if versus is None else [player, versus])]
    if files is None and not shipped_lines():
        raise SettingError("files: missing benchmark files or datasets; this installation has none", "files")
    paths = [files] if isinstance(files, str | Path | Dataset) else list(files or ())
    folders = [path for path in paths if isinstance(path, Dataset) or Path(path).is_dir()]
    if folders and len(folders) < len(paths):
        raise SettingError("files: datasets and benchmark files cannot be measured together", "files")
    if folders and worst:
        raise SettingError("worst: a dataset does not contain the positions before its plays", "worst")
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
