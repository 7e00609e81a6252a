"""Functions for learning: sample positions, fit and calibrate weights, run a bootstrap, write a report."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from motif.analysis.term_report import with_words
from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
from motif.board.position import Positions, as_boards
from motif.evaluators import Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.known_players import LATEST, WRITTEN_WEIGHT_SUFFIXES
from motif.evaluators.static import from_weights, weights_of
from motif.fitting.significance import TERM_TABLE_SUFFIX
from motif.learning.bootstrap_config import configured, with_seed
from motif.learning.bootstrap_run import run_bootstrap
from motif.learning.fit import FittedWeights, fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.recalibration import Calibration, calibrated_weights, weights_behind
from motif.learning.recalibration import calibrate as calibration_of
from motif.library_options import FitKeywords, SampleKeywords, lists_fields
from motif.parameters.named_sets import check_found
from motif.players.player import Player, PlayerLike, evaluator_of, load_player
from motif.runtime.arrays import ArrayLike, Float32Array
from motif.runtime.errors import PlayerError, SettingError, shown
from motif.runtime.files import check_target, path_if_given, path_of, paths_of
from motif.runtime.frames import Row
from motif.runtime.settings import changed, check_count, check_flag, check_seed, settings_with
from motif.sampling.dataset_folders import Data, dataset_folders
from motif.sampling.game_results import ScoreResults, read_results
from motif.sampling.recorded_games import read_games
from motif.sampling.sample import SampleResult, SampleSettings
from motif.sampling.sample import sample as make_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from motif.reports.run_report import RunReport


@lists_fields(SampleSettings)
def sample(
    settings: SampleSettings | None = None,
    out: Path | str | None = None,
    *,
    player: PlayerLike | None = None,
    label: PlayerLike | None = None,
    recorded: Iterable[Path | str] | Path | str = (),
    starts: Positions | None = None,
    resume: bool = False,
    jobs: int | None = None,
    **changes: Unpack[SampleKeywords],
) -> SampleResult:
    """Play games, or read recorded ones, and label their positions.

    Parameters
    ----------
    settings
        Settings of the sample; without them `player` is required.
    out
        Folder of the dataset, empty or new; `read_dataset` reads it.
    player
        A player in any form, which plays both sides and rolls positions out.  Weights are about a hundred
        times as fast as other players.
    label
        Source of the labels: ``"rollout"``, a player in any form or, for recorded games, ``"outcome"``; by
        default that of `settings`, ``"rollout"`` without them.
    recorded
        Match files, or folders of match files, to sample from instead of self-play.
    starts
        Positions at which the games of self-play begin, in turn; by default the starting position.
    resume
        Whether to continue an interrupted sample.
    jobs
        Number of processes, by default all cores; the dataset does not depend on it.
    **changes
        Fields of `SampleSettings` that override `settings`, such as ``games=300``.

    Returns
    -------
    SampleResult
        The folder and the numbers of positions and games.

    Raises
    ------
    DatasetError
        If `out` contains a dataset, unless `resume` is set and the settings are the same.
    PlayerError, PositionError, WeightFileError, SettingError, RecordError, FileError
        For an invalid player, position, setting or match file, or a folder that cannot be written.

    Examples
    --------
    >>> import motif
    >>> motif.sample(player="simple", games=300, out="runs/try").positions  # doctest: +SKIP
    """
    if out is None:
        raise SettingError("out: missing folder of the dataset, such as out='runs/try'", "out")
    folder = path_of("out", out)
    if not isinstance(settings, SampleSettings | None):
        raise SettingError(f"settings must be SampleSettings, not {shown(settings)}; did you mean player=?")
    if settings is None and player is None:
        raise SettingError("player: missing player, such as player='latest'", "player")
    base = settings or SampleSettings(player="")
    own, name = _named(base.player if player is None else player)
    labeller, label_name = _named(base.label if label is None else label)
    said = changed(base, {**changes, "player": name, "label": label_name})
    if labeller is None and not (said.is_rolled_out or said.is_by_outcome):
        evaluator_of(label_name)
    said.check_effects()
    check_flag("resume", resume)
    is_recorded = not isinstance(recorded, tuple | list) or bool(recorded)
    paths = paths_of("recorded", recorded) if is_recorded else []
    if not paths and "games" not in changes and not said.games:
        raise SettingError("games: missing number of games, such as games=300", "games")
    games = read_games(paths) if paths else []
    return make_samples(
        said,
        folder,
        recorded=games,
        starts=None if starts is None else as_boards(starts),
        resume=resume,
        jobs=jobs,
        player=own,
        labeller=labeller,
    )


def _named(player: PlayerLike) -> tuple[Evaluator | None, str]:
    """Return a player's evaluator, or None if it is given by name, and its name."""
    if isinstance(player, str | Path):
        return None, str(player)
    evaluator = evaluator_of(player)
    return evaluator, evaluator.name


@dataclass(frozen=True, repr=False, eq=False)
class Fit(FittedWeights):
    """Fitted weights, with the errors of the fit after each pass; accepted wherever a player is."""

    @property
    def player(self) -> Player:
        """A player with these weights."""
        return load_player(self.weights)

    @cached_property
    def evaluator(self) -> StaticEvaluator:
        """The evaluator with these weights."""
        return from_weights(self.weights)

    def evaluate_many(self, positions: ArrayLike) -> Float32Array:
        """Return the probabilities (n, 5) of positions (n, 26) by these weights."""
        return self.evaluator.evaluate_many(positions)

    @property
    def history(self) -> list[Row]:
        """The errors, as a row for each pass, class and head."""
        return self.history_rows()

    def records(self) -> list[Row]:
        """Return a row for each head."""
        names = ("terms", "rmse_train", "rmse_validation", "sweeps", "stopped", "seconds")
        heads = self.head_figures().items()
        return [{"head": head, **{name: of[name] for name in names}} for head, of in heads]

    def plot(self, path: Path | str | None = None) -> "Figure":
        """Plot the errors by pass.

        Parameters
        ----------
        path
            A PNG or SVG file to write; None writes no file.

        Returns
        -------
        Figure
            The figure of matplotlib.

        Raises
        ------
        SettingError, FileError
            For a name that is not that of a picture, or a file that cannot be written.
        """
        from motif.reports.convergence import plot_convergence

        return plot_convergence(self.history, path_if_given("path", path))

    def write(self, path: Path | str) -> Path:
        """Write the weights to a file, whose path then names a player.

        Parameters
        ----------
        path
            The file, ``NAME.yaml``.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        SettingError, FileError
            For a name that is not that of a weight file, or a file that cannot be written.
        """
        file = path_of("path", path)
        check_target(file, *WRITTEN_WEIGHT_SUFFIXES)
        with_words(self.weights).save(file)
        return file


@dataclass(frozen=True, eq=False, repr=False)
class PlayerCalibration(Calibration):
    """A calibration of a player's win probabilities, and its quality."""

    source: str
    """Name of the player, or of the file of the scores if no player is named."""
    evaluator: Evaluator | None
    """Evaluator of the player."""

    @property
    def weights(self) -> WeightFile:
        """The player's weights with the calibration; raises `PlayerError` for a player without weights."""
        return self._weights_called(f"{self.source}-calibrated")

    def _weights_called(self, name: str) -> WeightFile:
        if self.evaluator is None:
            raise PlayerError(f"{self.source}: name the player whose scores it contains, player=")
        return calibrated_weights(self.evaluator, self, name)

    def plot(self, path: Path | str | None = None) -> "Figure":
        """Plot the win probabilities against the results, before and after, on the games that measure them.

        Parameters
        ----------
        path
            A PNG or SVG file to write; None writes no file.

        Returns
        -------
        Figure
            The figure of matplotlib.

        Raises
        ------
        SettingError, FileError
            For a name that is not that of a picture, or a file that cannot be written.
        """
        from motif.reports.calibration_plots import plot_recalibration

        return plot_recalibration(self, self.source, path_if_given("path", path))

    def write(self, path: Path | str) -> Path:
        """Write the weights with the calibration to a file, whose path then names a player.

        Parameters
        ----------
        path
            The file, ``NAME.yaml``; NAME is the name of the weights.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        PlayerError
            For a player without weights or with lookahead.
        SettingError, FileError
            For a name that is not that of a weight file, or a file that cannot be written.
        """
        file = path_of("path", path)
        check_target(file, *WRITTEN_WEIGHT_SUFFIXES)
        self._weights_called(file.stem).save(file)
        return file


@lists_fields(FitSettings)
def fit(
    data: Data,
    settings: FitSettings | None = None,
    *,
    out: Path | str | None = None,
    name: str | None = None,
    version: int = 0,
    parent: str | None = None,
    start: PlayerLike | None = None,
    levels: PlayerLike | None = None,
    term_table: Path | str | None = None,
    jobs: int | None = None,
    **changes: Unpack[FitKeywords],
) -> Fit:
    """Fit weights to one or more datasets.

    Parameters
    ----------
    data
        Folders of datasets, or datasets in memory; several are pooled.
    settings
        Settings of the fit; by default those of ``FitSettings()``.
    out
        Weight file to write, ``NAME.yaml``, whose path then names a player.
    name
        Name of the weights, by default that of `out`.
    version
        Version of the weights.
    parent
        Name of the player that labelled the data.
    start
        Initial weights in any form, with as many hidden units as the fit; random by default.
    levels
        Player whose probabilities set the means of the labels of each decision; by default they remain as
        they are.
    term_table
        File ``NAME.parquet`` to write, with all terms and their standard errors.
    jobs
        Number of processes, by default all cores; the weights do not depend on it.
    **changes
        Fields of `FitSettings` that override `settings`, such as ``parameters="motif"``; `parameters` may
        also be a `ParameterSet` or a Path.

    Returns
    -------
    Fit
        The ``.weights`` and the errors of each head.

    Raises
    ------
    DatasetError
        For data that cannot be read.
    FitError
        For data that cannot be fitted, or an invalid field of `FitSettings`, except its seed.
    ParameterError, PlayerError, WeightFileError
        For an unknown parameter set, or an invalid player in `start` or `levels`.
    SettingError, FileError
        For any other invalid setting, or a file that cannot be written.

    Examples
    --------
    >>> import motif
    >>> weights = motif.fit("runs/try", parameters="motif").weights  # doctest: +SKIP
    """
    version = check_count("version", version, 0)
    for label, path, suffixes in (
        ("out", out, WRITTEN_WEIGHT_SUFFIXES),
        ("term_table", term_table, (TERM_TABLE_SUFFIX,)),
    ):
        if path is not None:
            check_target(path_of(label, path), *suffixes)
    with dataset_folders(data) as folders:
        chosen = settings_with(FitSettings, settings, changes)
        chosen.check()
        chosen.check_effects()
        if out is not None:
            check_found(chosen.parameters, Path(out).parent)
        fitted = fit_dataset(
            folders,
            chosen,
            name=(Path(out).stem if out else "fit") if name is None else name,
            version=version,
            parent=parent,
            start=None if start is None else weights_of(evaluator_of(start)),
            levels=None if levels is None else evaluator_of(levels),
            term_table=None if term_table is None else Path(term_table),
            jobs=jobs,
        )
    result = Fit(**vars(fitted))
    if out is not None:
        result.write(out)
    return result


def bootstrap(
    out: Path | str,
    preset: str | None = None,
    *,
    config: Path | str | None = None,
    versions: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Row]:
    """Learn from scratch: sample positions, fit weights, and repeat with the new weights.

    To continue an interrupted run, call the function again.

    Parameters
    ----------
    out
        Folder of the run.
    preset
        ``"demo"``, the default, ``"classic"`` or ``"strong"``.
    config
        A YAML file with the settings of the run, instead of a preset.
    versions
        Number of versions after which to stop; by default the number in the settings.
    seed
        Random seed; by default the seed in the settings.
    jobs
        Number of processes, by default all cores; the weights do not depend on it.
    tell
        Function that receives a line about each step; none by default.

    Returns
    -------
    list of dict
        Figures of each version, such as its validation error and its points per game against the previous
        version.

    Raises
    ------
    SettingError, DatasetError, FitError, FileError
        For invalid settings, data that cannot be fitted, or files that cannot be written.
    """
    chosen = configured(preset, path_if_given("config", config))
    summaries = run_bootstrap(
        path_of("out", out),
        with_seed(chosen, seed),
        versions=versions,
        jobs=jobs,
        tell=tell,
        finish=with_words,
    )
    return [summary.to_dict() for summary in summaries]


def calibrate(
    data: Data,
    player: PlayerLike | None = None,
    *,
    share: float = 0.5,
    seed: int = 0,
    jobs: int | None = None,
) -> PlayerCalibration:
    """Calibrate the win probabilities of a player to the results of games or rollouts.

    Parameters
    ----------
    data
        A dataset or its folder, match files, or a CSV file of outcomes.
    player
        A player in any form, by default the newest weights without lookahead.  A CSV file of scores needs
        none; the player whose scores it contains can then be written with the calibration.
    share
        Share of the games to fit on, 0 to 1; the remaining games are for the measurement.
    seed
        Random seed of the split.
    jobs
        Number of processes, by default all cores.

    Returns
    -------
    PlayerCalibration
        The curve for each class of positions, and the log-loss and Brier score before and after; ``.weights``
        and ``write`` give the player with the calibration, and ``plot`` draws it.

    Raises
    ------
    DatasetError, PlayerError, WeightFileError, SettingError
        For data that cannot be read, or an invalid player or share.

    Examples
    --------
    >>> import motif
    >>> motif.calibrate("runs/chances", "bras").write("bras-calibrated.yaml")  # doctest: +SKIP
    """
    evaluator = None if player is None else evaluator_of(player)
    with dataset_folders(data) as paths:
        results = read_results(paths)
        if not isinstance(results, ScoreResults):
            evaluator = evaluator or evaluator_of(LATEST)
        made = calibration_of(results, evaluator, share=share, seed=seed, jobs=jobs)
    return PlayerCalibration(
        **vars(made), source=results.name if evaluator is None else evaluator.name, evaluator=evaluator
    )


def report(
    folder: Path | str,
    *,
    benchmark: Iterable[Path | str] | Path | str | None = None,
    worst: int = 10,
    top: int = 20,
    html: Path | str | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> "RunReport":
    """Write the report of a bootstrap run, an HTML page with plots.

    Parameters
    ----------
    folder
        Folder of the run.
    benchmark
        Benchmark files to measure the versions on; by default the files in motif's source, if available.
    worst
        Number of worst decisions of the last version to show.
    top
        Number of terms to show.
    html
        HTML page to write; by default report.html in `folder`.
    seed
        Random seed for players that choose plays at random.
    jobs
        Number of processes, by default all cores.

    Returns
    -------
    RunReport
        The figures of the report, with its path in ``.page``.

    Raises
    ------
    MotifError
        For files that cannot be read or written.
    """
    from motif.reports.run_report import draw_run

    for label, count in (("worst", worst), ("top", top)):
        check_count(label, count, 0)
    check_seed(seed)
    lines = (
        shipped_lines()
        if benchmark is None
        else [read_benchmark(str(path)) for path in paths_of("benchmark", benchmark)]
    )
    page = path_if_given("html", html)
    return draw_run(
        path_of("folder", folder), page, benchmarks=lines, worst=worst, top=top, seed=seed, jobs=jobs
    )


def export(player: PlayerLike, onnx: Path | str) -> Path:
    """Write weights as an ONNX graph, which plays as ``onnx:PATH``.

    Parameters
    ----------
    player
        Weights in any form.
    onnx
        ONNX file to write, or an existing folder for the file evaluator.onnx.

    Returns
    -------
    Path
        The path of the written file.

    Raises
    ------
    PlayerError, WeightFileError
        For a player without weights, or if the extra ``onnx`` is not installed.
    SettingError, FileError
        For a name that does not end in .onnx, or a file that cannot be written.
    """
    from motif.evaluators.nets import write_exported

    path, weights = path_of("onnx", onnx), weights_behind(evaluator_of(player))
    if not path.is_dir():
        check_target(path, ".onnx")
    return write_exported(weights, path)
