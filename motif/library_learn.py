"""Learn: sample positions, fit weights to them, calibrate, and all of it from nothing."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from motif.analysis.term_report import with_words
from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
from motif.evaluators import Evaluator, WeightFile
from motif.evaluators.named import LATEST, weights_called
from motif.learning.bootstrap_run import load_config, load_preset, run_bootstrap, with_seed
from motif.learning.fit import FittedWeights, fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.recalibration import Calibration, weights_behind
from motif.learning.recalibration import calibrate as calibration_of
from motif.library import evaluator_of
from motif.library_options import FitKeywords, SampleKeywords, lists_fields
from motif.players.player import Player, PlayerLike, as_player
from motif.runtime.errors import SettingError, changed, shown
from motif.runtime.frames import Row
from motif.sampling import Dataset, SampleResult, SampleSettings
from motif.sampling import sample as make_samples
from motif.sampling.game_results import read_results
from motif.sampling.recorded_games import read_games

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from motif.reports.run_report import RunReport


@lists_fields(SampleSettings, without=("player", "label"))
def sample(
    settings: SampleSettings | None = None,
    out: Path | str | None = None,
    *,
    player: PlayerLike | None = None,
    label: PlayerLike = "rollout",
    recorded: Sequence[Path | str] | Path | str = (),
    resume: bool = False,
    jobs: int | None = None,
    **changes: Unpack[SampleKeywords],
) -> SampleResult:
    """Play games and label their positions: ``sample(player="simple", games=300, out="runs/try")``.

    Parameters
    ----------
    settings
        A settings object; without one the keywords say everything, and `player` is needed.
    out
        The folder of the dataset, empty or new; `read_dataset` reads it.
    player
        Plays both sides and rolls out.  Weights do so some hundred times as fast as other players.
    label
        What labels the positions: ``rollout``, a player, or for recorded games ``outcome``.
    recorded
        Match files, and folders of these, to sample instead of games of the player.
    resume
        Continue with a dataset that was interrupted.
    jobs
        Processes.  The dataset does not depend on it.
    **changes
        Fields of the settings.

    Raises
    ------
    DatasetError
        Where `out` holds a dataset already, without `resume` or with other settings.
    PlayerError, SettingError, FileError
        For a player that is none, settings that make no sense, and a folder that cannot be written.
    """
    if out is None:
        raise SettingError("out: the folder of the dataset is missing: out='runs/try'", "out")
    if not isinstance(settings, SampleSettings | None):
        raise SettingError(f"settings must be SampleSettings, not {shown(settings)}: is it player=?")
    if settings is None and player is None:
        raise SettingError("player: who plays is missing: player='latest'", "player")
    base = settings or SampleSettings(player="")
    own, name = _named(base.player if player is None else player)
    labeller, label_name = _named(base.label if settings and label == "rollout" else label)
    said = changed(base, {**changes, "player": name, "label": label_name})
    paths = [recorded] if isinstance(recorded, Path | str) else list(recorded)
    games = read_games(map(Path, paths)) if paths else []
    return make_samples(said, out, recorded=games, resume=resume, jobs=jobs, player=own, labeller=labeller)


def _named(player: PlayerLike) -> tuple[Evaluator | None, str]:
    """Return the evaluator of a player that no name loads, and its name."""
    if isinstance(player, str):
        return None, player
    evaluator = evaluator_of(player)
    return evaluator, evaluator.name


@dataclass(frozen=True, repr=False)
class Fit(FittedWeights):
    """Fitted weights: a player by ``.weights``, with how the fit went."""

    @property
    def player(self) -> Player:
        """The player of the weights."""
        return as_player(self.weights)

    @property
    def history(self) -> list[Row]:
        """Errors by pass, class and head, a row each."""
        return self.history_rows()

    def records(self) -> list[Row]:
        """Return a row for each head."""
        names = ("terms", "rmse_train", "rmse_validation", "sweeps", "stopped", "seconds")
        heads: dict[str, Row] = self.to_dict()["heads"]
        return [{"head": head, **{name: of[name] for name in names}} for head, of in heads.items()]

    def plot(self, path: Path | str | None = None) -> "Figure":
        """Draw how the errors fell; write the picture to `path`, a PNG or SVG, if there is one."""
        from motif.reports.convergence import plot_convergence

        return plot_convergence(self.history, None if path is None else Path(path))

    def write(self, path: Path | str) -> Path:
        """Write the weights to a file, ``NAME.yaml``, which is a player by its name."""
        with_words(self.weights).save(Path(path))
        return Path(path)


@lists_fields(FitSettings)
def fit(
    data: Path | str | Dataset | Sequence[Path | str | Dataset],
    settings: FitSettings | None = None,
    *,
    out: Path | str | None = None,
    name: str | None = None,
    version: int = 0,
    parent: str | None = None,
    start: str | WeightFile | None = None,
    term_table: Path | str | None = None,
    jobs: int | None = None,
    **changes: Unpack[FitKeywords],
) -> Fit:
    """Fit weights to a dataset, or to several pooled: ``fit("runs/try", parameters="motif").weights``.

    Parameters
    ----------
    data
        Folders of datasets, or datasets in memory.
    settings
        A settings object; `changes` are fields of it.
    out
        The weight file to write, ``NAME.yaml``.
    name, version, parent
        Name of the weights (by default that of `out`), their version, and what labelled the data.
    start
        Weights, or their name, from which a fit with as many hidden units starts; by default random ones.
    term_table
        A file for the terms with their standard errors, ``NAME.parquet``.
    jobs
        Processes.  The weights do not depend on it.

    Raises
    ------
    DatasetError, FitError
        For data that cannot be read or fitted.
    """
    chosen = changed(settings or FitSettings(), changes)
    several = [data] if isinstance(data, str | Path | Dataset) else list(data)
    with ExitStack() as stack:
        folders = []
        for one in several:
            if isinstance(one, Dataset):
                one = one.write(stack.enter_context(tempfile.TemporaryDirectory()))
            folders.append(Path(one))
        fitted = fit_dataset(
            folders,
            chosen,
            name=name or (Path(out).name.partition(".")[0] if out else "fit"),
            version=version,
            parent=parent,
            start=weights_called(start) if isinstance(start, str) else start,
            term_table=None if term_table is None else Path(term_table),
            jobs=jobs,
        )
    result = Fit(**vars(fitted))
    if out is not None:
        result.write(out)
    return result


def bootstrap(
    out: Path | str,
    preset: str = "demo",
    *,
    config: Path | str | None = None,
    versions: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Learn from nothing: sample, fit, and again; return the figures of each version.

    `preset` is demo, classic or strong, unless there is a `config` file; `versions` ends the run early, and
    the same call continues with it.  `tell` is given a line about each step.
    """
    chosen = load_preset(preset) if config is None else load_config(Path(config))
    return run_bootstrap(
        out, with_seed(chosen, seed), versions=versions, jobs=jobs, tell=tell, finish=with_words
    )


def calibrate(
    data: Sequence[Path | str] | Path | str,
    player: PlayerLike = LATEST,
    *,
    share: float = 0.5,
    seed: int = 0,
    jobs: int | None = None,
) -> Calibration:
    """Make the win probabilities of a player agree with results of games or rollouts.

    `data` are datasets, match files or a CSV of outcomes; about this `share` of the games is fitted on, and
    the rest measured on.
    """
    paths = [data] if isinstance(data, Path | str) else list(data)
    results = read_results([Path(path) for path in paths])
    return calibration_of(results, evaluator_of(player), share=share, seed=seed, jobs=jobs)


def report(
    folder: Path | str,
    *,
    benchmark: Sequence[Path | str] | None = None,
    worst: int = 10,
    top: int = 20,
    html: Path | str | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> "RunReport":
    """Write the page of a bootstrap run, by default its report.html, and draw its plots.

    It tells `top` terms, and where there are `benchmark` files (by default those of motif's source) error
    rates and the `worst` decisions.  Raises a `MotifError` for files that cannot be read or written.
    """
    from motif.reports.run_report import draw_run

    lines = shipped_lines() if benchmark is None else [read_benchmark(str(path)) for path in benchmark]
    page = None if html is None else Path(html)
    return draw_run(Path(folder), page, benchmarks=lines, worst=worst, top=top, seed=seed, jobs=jobs)


def export(player: PlayerLike, onnx: Path | str) -> Path:
    """Write weights as one ONNX graph, a player called ``onnx:PATH``; return its path.

    Raises `PlayerError` for a player without weights, `SettingError` where the extra `onnx` is missing.
    """
    from motif.evaluators.nets import write_exported

    return write_exported(weights_behind(evaluator_of(player)), onnx)
