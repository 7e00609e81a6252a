"""The bootstrap (sample, label, fit, and repeat with the new version) and its configuration.

The configuration lists the versions, how each is sampled and fitted, and how strength is measured.

A run's folder contains ``config.yaml`` and a folder for each version: ``v0/samples``, ``v0/weights.yaml``,
``v0/history.csv`` and ``v0/summary.json``, which is written last and marks the version as finished. With
``terms: true`` in the configuration there is also ``v0/terms.parquet``, the table of the terms with their
standard errors. A run that was stopped or killed keeps its samples and repeats the other steps of that
version.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from motif.compiler.background import precompile_in_background
from motif.contests import play_money_games
from motif.contests.result import MIN_PAIRS
from motif.evaluators import load_static
from motif.evaluators.lookahead import DEFAULT_DEPTH, DEPTHS, MAX_PLIES
from motif.evaluators.weight_file import WeightFile
from motif.learning.fit import NO_TERM_TABLE, fit_dataset
from motif.learning.fit import warm_up as warm_up_fit
from motif.learning.fit_settings import FitSettings
from motif.learning.version_summary import read_summary
from motif.parameters.named_sets import check_found
from motif.players import load
from motif.runtime.documents import Entry, yaml_document, yaml_text
from motif.runtime.errors import MotifError, SettingError, plain_text, shown
from motif.runtime.files import (
    clear_temporaries,
    contents,
    csv_text,
    make_folder,
    text_of,
    working_in,
    write_text,
)
from motif.runtime.limits import YAML_FILE
from motif.runtime.parallel import worker_count
from motif.runtime.progress import Stopwatch
from motif.runtime.settings import SEED_LIMIT, changed, check_count, check_seed
from motif.sampling.dataset import ROLLOUTS, read_manifest_positions
from motif.sampling.sample import OF_ROLLOUTS, SamplePlan, SampleSettings, sample
from motif.sampling.sample import warm_up as warm_up_sampling

SAMPLES, WEIGHTS, HISTORY, SUMMARY = "samples", "weights.yaml", "history.csv", "summary.json"
_DEFAULT_PRESET = "demo"
TERMS = "terms.parquet"
CHECKPOINTS = "fit"
"""Folder for the progress of the fit of hidden layers, from which a stopped run resumes."""
_REFERENCE = "pubeval"

Summary = dict[str, object]
"""The figures of a version, as in its summary.json."""
OnVersion = Callable[[Path, Summary], None]
"""Function that is called with the folder and the summary of each finished version."""
Finish = Callable[[WeightFile], WeightFile]
"""Function that adds information to weights without changing their values, such as words for readers."""

CONFIG = "config.yaml"
_SEEDS_A_RUN = 1000
_FIRST_STRENGTH_SEED = 900
_MAX_VERSIONS = _SEEDS_A_RUN - _FIRST_STRENGTH_SEED
_MIN_STRENGTH_GAMES = 2 * MIN_PAIRS
_SEED_LIMIT = SEED_LIMIT // _SEEDS_A_RUN
_LOOKAHEAD = re.compile(rf"@([1-{MAX_PLIES}])(?::(.*))?")
_PRESETS = resources.files("motif").joinpath("data", "presets")


@dataclass(frozen=True)
class VersionStep(SamplePlan):
    """Settings of one version: its samples, and the earlier samples that its fit includes."""

    labels: str = ROLLOUTS
    """The labeller of the samples: `rollout`, or lookahead by the previous version, such as ``@2:thin``."""
    pooled: int = 0
    """Number of earlier versions whose samples are included in the fit."""
    fit: dict[str, object] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from the run's."""

    def plan(self) -> dict[str, object]:
        """Return the fields of `SamplePlan`."""
        return {item.name: getattr(self, item.name) for item in fields(SamplePlan)}

    @property
    def is_rolled_out(self) -> bool:
        """Whether rollouts label the samples."""
        return self.labels == ROLLOUTS

    def pooled_versions(self, version: int) -> range:
        """Return the versions whose samples the fit of this `version` includes; its own are last."""
        return range(max(0, version - self.pooled), version + 1)

    def check_labels(self) -> None:
        """Raise `SettingError` unless `labels` is ``rollout`` or lookahead, such as ``@2:thin``."""
        ahead = _LOOKAHEAD.fullmatch(self.labels)
        if not self.is_rolled_out and (ahead is None or (ahead[2] or DEFAULT_DEPTH) not in DEPTHS):
            raise SettingError(
                f"labels must be rollout or lookahead such as @2:thin, not {shown(self.labels)}"
            )

    def sample_settings(self, player: str, seed: int) -> SampleSettings:
        """Return settings for sampling with `player`; those of rollouts only if rollouts label it."""
        label = self.labels if self.is_rolled_out else player + self.labels
        without = () if self.is_rolled_out else OF_ROLLOUTS
        plan = {name: value for name, value in self.plan().items() if name not in without}
        return changed(SampleSettings(player=player, label=label, seed=seed), plan)


@dataclass(frozen=True)
class BootstrapConfig:
    """Everything needed to repeat a run."""

    name: str
    """Versions are called NAME-v0, NAME-v1, ..."""
    start: str
    """The player for version zero's games and rollouts."""
    seed: int
    strength_games: int
    """Number of money games that measure a version."""
    fit: dict[str, object] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from its defaults."""
    versions: tuple[VersionStep, ...] = ()
    terms: bool = False
    """Whether to write the table of each version's terms with their standard errors."""

    def fit_settings(self, version: int | None = None) -> FitSettings:
        """Return the settings of the run's fits, or of one version's."""
        own = {} if version is None else self.versions[version].fit
        return changed(FitSettings(seed=self.seed), {**self.fit, **own})

    def check(self) -> None:
        """Raise a `MotifError` for an invalid value."""
        if not 0 <= self.seed < _SEED_LIMIT:
            raise SettingError(f"seed must be at least 0 and below {_SEED_LIMIT}, not {shown(self.seed)}")
        self.fit_settings().check()
        for version, step in enumerate(self.versions):
            try:
                step.sample_settings(self.start, self.step_seed(version)).check()
                self.fit_settings(version).check()
                if self.terms and self.fit_settings(version).hidden:
                    raise SettingError(NO_TERM_TABLE.replace("term_table", "terms", 1))
                step.check_labels()
                if step.pooled < 0:
                    raise SettingError(f"pooled must be at least 0, not {shown(step.pooled)}")
            except MotifError as error:
                raise SettingError(f"versions[{version}]: {error}") from None
        if len(self.versions) > _MAX_VERSIONS:
            raise SettingError(f"versions: there must be at most {_MAX_VERSIONS}, not {len(self.versions)}")
        # Fewer games have no standard error.
        if self.strength_games < _MIN_STRENGTH_GAMES:
            raise SettingError(
                f"strength_games must be at least {_MIN_STRENGTH_GAMES}, not {shown(self.strength_games)}"
            )

    def step_seed(self, version: int) -> int:
        """Return the seed of a version's samples, which have their own random streams."""
        return self.seed * _SEEDS_A_RUN + version

    def strength_seed(self, version: int) -> int:
        """Return the seed of the matches that measure a version, unused by sampling."""
        return self.seed * _SEEDS_A_RUN + _FIRST_STRENGTH_SEED + version

    def label(self, version: int) -> str:
        """Return the name of a version, or of the start player for -1."""
        return self.start if version < 0 else f"{self.name}-v{version}"

    def save(self, folder: Path) -> None:
        """Write `config.yaml`."""
        write_text(folder / CONFIG, yaml_text(asdict(self)))


def preset_names() -> list[str]:
    """Return the names of the presets that come with motif."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _PRESETS.iterdir())


def load_preset(name: str) -> BootstrapConfig:
    """Return the preset called `name`; raises `SettingError` if there is none."""
    if name not in preset_names():
        raise SettingError(f"no preset is called {name!r}; there are {', '.join(preset_names())}")
    return parse_config(_PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"preset {name}")


def load_config(path: Path) -> BootstrapConfig:
    """Return the configuration in a file; raises `SettingError`."""
    return parse_config(text_of(path, SettingError, YAML_FILE), plain_text(str(path)))


def read_fit_settings(path: Path) -> FitSettings:
    """Return the settings of a fit from a YAML file; raises `SettingError`."""
    text = text_of(path, SettingError, YAML_FILE)
    entry = yaml_document(text, plain_text(str(path)), SettingError, joint=": ")
    return changed(FitSettings(), entry.fields(FitSettings, partly=True))


def parse_config(text: str, where: str) -> BootstrapConfig:
    """Read a configuration; raises `SettingError`, which names `where` and the invalid key."""
    entry = yaml_document(text, where, SettingError, joint=": ")
    values = _values(entry, BootstrapConfig)
    steps = entry.get("versions")
    if not isinstance(steps.value, list) or not steps.value:
        steps.fail("must list at least one version")
    values["versions"] = tuple(VersionStep(**_values(step, VersionStep)) for step in steps.entries())
    config = BootstrapConfig(**values)
    try:
        config.check()
    except MotifError as error:
        raise SettingError(f"{where}: {error}") from None
    return config


def _values(entry: Entry, kind: type[VersionStep | BootstrapConfig]) -> dict[str, Any]:
    """Return the fields of `kind`, including the nested settings of the fit."""
    return {**entry.fields(kind), "fit": entry.get("fit", {}).fields(FitSettings, partly=True)}


def run_bootstrap(
    folder: Path | str,
    config: BootstrapConfig,
    *,
    versions: int | None = None,
    jobs: int | None = None,
    on_version: OnVersion | None = None,
    tell: Callable[[str], None] | None = None,
    finish: Finish = lambda weights: weights,
) -> list[Summary]:
    """Run or resume the bootstrap in `folder`; return the summaries of its versions.

    The run ends after `versions` versions, if given; the same call without it continues. The same
    configuration produces the same weights for any number of `jobs`, resumed or not. `tell` receives a line
    about each step when it begins; `finish` prepares a version's weights for saving. Raises `SettingError` if
    `folder` contains a run with another configuration, `PlayerError` or `WeightFileError` for a start player
    that cannot be loaded, `ParameterError` for a parameter file that the weights would not find, `FileError`
    if a file cannot be written or another run works in `folder`. Ctrl-C during sampling is handled as by
    `sample`; otherwise it ends the step immediately.
    """
    config.check()
    if versions is not None:
        check_count("versions", versions, 1)
    for version in range(len(config.versions)):
        check_found(config.fit_settings(version).parameters, Path(folder) / f"v{version}")
    tell = tell or (lambda line: None)
    if worker_count(jobs) > 1:
        precompile_in_background("motif.learning.bootstrap_run:warm_up")
    folder = Path(folder)
    if not (folder / CONFIG).exists():
        # Before its folder is created.
        load_static(config.start)
    summaries: list[Summary] = []
    with working_in(folder):
        _claim(folder, config)
        try:
            for version in range(len(config.versions))[:versions]:
                home = folder / f"v{version}"
                make_folder(home)
                clear_temporaries(home)
                summaries.append(
                    _finished(home, version) or _make_version(folder, config, version, jobs, tell, finish)
                )
                if on_version is not None:
                    on_version(home, summaries[-1])
        except KeyboardInterrupt as interrupt:
            state = f"{folder}: {len(summaries)} of {len(config.versions)} versions are done"
            raise KeyboardInterrupt(str(interrupt) or state) from None
    return summaries


def warm_up() -> None:
    """Compile the kernels of a run, step by step, in a process beside the first run."""
    warm_up_sampling()
    warm_up_fit()
    play_money_games(load("simple"), load(_REFERENCE), _MIN_STRENGTH_GAMES, seed=0, jobs=1)


def _claim(folder: Path, config: BootstrapConfig) -> None:
    if (folder / CONFIG).exists():
        if load_config(folder / CONFIG) != config:
            raise SettingError(f"{folder}: contains a run with another {CONFIG}; choose another folder")
    elif contents(folder):
        raise SettingError(f"{folder}: not a bootstrap run: the folder is not empty and has no {CONFIG}")
    else:
        config.save(folder)


def _finished(home: Path, version: int) -> Summary | None:
    """Return the summary of a finished version; None for an unfinished one."""
    path = home / SUMMARY
    if not path.exists():
        return None
    try:
        return read_summary(path, version)
    except SettingError as error:
        raise SettingError(f"{error}; delete the file to make it again") from None


def _make_version(
    folder: Path,
    config: BootstrapConfig,
    version: int,
    jobs: int | None,
    tell: Callable[[str], None],
    finish: Finish,
) -> Summary:
    home, step = folder / f"v{version}", config.versions[version]
    previous = config.start if version == 0 else str(folder / f"v{version - 1}" / WEIGHTS)
    name, parent = config.label(version), config.label(version - 1)
    seconds = {}

    labels = f"{step.trials} trials each" if step.is_rolled_out else f"labelled by {step.labels}"
    tell(f"{name}: sampling {step.games} games of {parent}, {labels}")
    stopwatch = Stopwatch()
    settings = step.sample_settings(previous, config.step_seed(version))
    sample(settings, home / SAMPLES, resume=True, jobs=jobs, player_label=parent)
    seconds["sample"] = stopwatch.seconds

    pools = [folder / f"v{k}" / SAMPLES for k in step.pooled_versions(version)]
    positions = sum(read_manifest_positions(pool) for pool in pools)
    tell(f"{name}: fitting {positions} positions")
    stopwatch = Stopwatch()
    fit = fit_dataset(
        pools,
        config.fit_settings(version),
        name=name,
        version=version,
        parent=parent,
        term_table=home / TERMS if config.terms else None,
        cross_check=True,
        checkpoints=home / CHECKPOINTS,
        jobs=jobs,
    )
    finish(fit.weights).save(home / WEIGHTS)
    shutil.rmtree(home / CHECKPOINTS, ignore_errors=True)
    history = fit.history_rows()
    write_text(home / HISTORY, csv_text(history[0], (row.values() for row in history)))
    seconds["fit"] = stopwatch.seconds

    tell(f"{name}: measuring strength in contests of {config.strength_games} games")
    stopwatch = Stopwatch()
    strength = _strength(config, home, previous, version, jobs)
    seconds["measure"] = stopwatch.seconds
    summary = {
        "version": version,
        "name": name,
        "positions": positions,
        "trials": step.trials if step.is_rolled_out else 1,
        "sample_settings": step.plan(),
        "seconds": sum(seconds.values()),
        "seconds_by_step": seconds,
        **{key: value for key, value in fit.to_dict().items() if key != "seconds"},
        **strength,
    }
    write_text(home / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def _strength(
    config: BootstrapConfig, home: Path, previous: str, version: int, jobs: int | None
) -> dict[str, float | None]:
    player, seed = load(str(home / WEIGHTS)), config.strength_seed(version)
    reference, before = (
        play_money_games(player, load(opponent), config.strength_games, seed=seed, jobs=jobs)
        for opponent in (_REFERENCE, previous)
    )
    return {
        "ppg_vs_pubeval": reference.ppg,
        "ppg_se": reference.se,
        "ppg_vs_previous": before.ppg,
        "ppg_vs_previous_se": before.se,
    }


def configured(preset: str | None, config: Path | None) -> BootstrapConfig:
    """Return the configuration in a file, or that of a preset, by default ``demo``.

    Raises `SettingError` if both are given, or as `load_preset` and `load_config` do.
    """
    if config is None:
        return load_preset(_DEFAULT_PRESET if preset is None else preset)
    if preset is not None:
        raise SettingError("preset: has no effect with a file of settings: give one of the two", "preset")
    return load_config(config)


def with_seed(config: BootstrapConfig, seed: int | None) -> BootstrapConfig:
    """Return the configuration with another seed; unchanged for None.  Raises `SettingError`."""
    if seed is None:
        return config
    check_seed(seed)
    return replace(config, seed=seed)
