"""Functions that measure players: error rates and speed."""

from collections.abc import Sequence
from pathlib import Path

from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
from motif.benchmarks.choices import BenchmarkResult, benchmark_players, dataset_decisions
from motif.benchmarks.speed import measure_speed
from motif.evaluators import StaticEvaluator
from motif.evaluators.named import LATEST
from motif.library import evaluator_of
from motif.players.player import PlayerLike, as_player
from motif.runtime.errors import PlayerError, SettingError
from motif.sampling.samples import Dataset, read_parts


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
    lines = list(shipped_lines()) if files is None else []
    if files is None and not lines:
        raise SettingError("files: missing benchmark files or datasets; this installation has none", "files")
    paths = [files] if isinstance(files, str | Path | Dataset) else list(files or ())
    folders = [path for path in paths if isinstance(path, Dataset) or Path(path).is_dir()]
    if folders and len(folders) < len(paths):
        raise SettingError("files: datasets and benchmark files cannot be measured together", "files")
    if folders and worst:
        raise SettingError("worst: a dataset does not contain the positions before its plays", "worst")
    datasets = [
        dataset_decisions("the dataset", [data])
        if isinstance(data, Dataset)
        else dataset_decisions(str(data), read_parts(Path(data)))
        for data in folders
    ]
    lines += [read_benchmark(str(path)) for path in paths if not folders]
    return benchmark_players(players, lines, datasets, worst=worst, seed=seed, jobs=jobs)
