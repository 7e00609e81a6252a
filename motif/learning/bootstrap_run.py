"""The bootstrap: sample, label, fit, and repeat with the new version.

A run's folder contains ``config.yaml`` and a folder for each version: ``v0/samples``, ``v0/weights.yaml``,
``v0/history.csv`` and ``v0/summary.json``, which is written last and marks the version as finished. With
``terms: true`` in the configuration there is also ``v0/terms.parquet``, the table of the terms with their
standard errors. A run that was stopped or killed keeps its samples and repeats the other steps of that
version.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from motif.compiler.background import precompile_in_background
from motif.contests import play_money_games
from motif.contests.result import ContestResult
from motif.evaluators import load_static
from motif.evaluators.weight_file import WeightFile
from motif.learning.bootstrap_config import (
    CONFIG,
    MIN_STRENGTH_GAMES,
    BootstrapConfig,
    VersionStep,
    load_config,
)
from motif.learning.fit import fit_dataset
from motif.learning.fit import warm_up as warm_up_fit
from motif.learning.fitted_weights import FittedWeights
from motif.learning.version_summary import VersionSummary, read_summary
from motif.parameters.named_sets import check_found
from motif.players import load
from motif.runtime.errors import DatasetError, SettingError
from motif.runtime.files import (
    clear_temporaries,
    contents,
    csv_text,
    make_folder,
    working_in,
    write_text,
)
from motif.runtime.layout import counted
from motif.runtime.parallel import worker_count
from motif.runtime.progress import Stopwatch
from motif.runtime.settings import check_count
from motif.sampling.dataset_files import manifest_of, read_manifest
from motif.sampling.sample import sample
from motif.sampling.sample import warm_up as warm_up_sampling

SAMPLES, WEIGHTS, HISTORY, SUMMARY = "samples", "weights.yaml", "history.csv", "summary.json"
TERMS = "terms.parquet"
CHECKPOINTS = "fit"
"""Folder for the progress of the fit of hidden layers, from which a stopped run resumes."""
_FILES = ("start", "parameters")
"""Settings that may be paths."""
_REFERENCE = "pubeval"

OnVersion = Callable[[Path, VersionSummary], None]
"""Function that is called with the folder and the summary of each finished version."""
Finish = Callable[[WeightFile], WeightFile]
"""Function that adds information to weights without changing their values, such as words for readers."""


def run_bootstrap(
    folder: Path | str,
    config: BootstrapConfig,
    *,
    versions: int | None = None,
    jobs: int | None = None,
    on_version: OnVersion | None = None,
    tell: Callable[[str], None] | None = None,
    finish: Finish = lambda weights: weights,
) -> list[VersionSummary]:
    """Run or resume the bootstrap in `folder`; return the summaries of its versions.

    The run ends after `versions` versions, if given; the same call without it continues. The same
    configuration produces the same weights for any number of `jobs`, resumed or not. `tell` receives a
    line about each step when it begins; `finish` prepares a version's weights for saving. Raises
    `SettingError` if `folder` contains a run with another configuration (apart from versions added at the
    end), `PlayerError` or `WeightFileError` for a start player that cannot be loaded, `ParameterError`
    for a parameter file that the weights would not find, `DatasetError` for a finished version that has lost
    samples, `FileError` if a file cannot be written or another run works in `folder`. Ctrl-C during sampling
    is handled as by `sample`; otherwise it ends the step immediately.
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
    summaries: list[VersionSummary] = []
    with working_in(folder):
        _claim(folder, config)
        clear_temporaries(folder)
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
    play_money_games(load("simple"), load(_REFERENCE), MIN_STRENGTH_GAMES, seed=0, jobs=1)


def _claim(folder: Path, config: BootstrapConfig) -> None:
    if (folder / CONFIG).exists():
        made = load_config(folder / CONFIG, find_parameters=False)
        if difference := _difference(made, config):
            raise SettingError(f"{folder}: contains a run with {difference}; choose another folder")
        if len(config.versions) > len(made.versions):
            config.save(folder)
    elif contents(folder):
        raise SettingError(f"{folder}: not a bootstrap run: the folder is not empty and has no {CONFIG}")
    else:
        config.save(folder)


def _difference(made: BootstrapConfig, config: BootstrapConfig) -> str:
    """Return the first setting of a run `made` so far that differs from `config`, if it cannot continue.

    Versions may be added at the end.
    """
    steps = zip(made.versions, config.versions, strict=False)
    pairs: list[tuple[str, BootstrapConfig | VersionStep, object]] = [("", made, config)]
    pairs += [(f"versions[{number}].", *two) for number, two in enumerate(steps)]
    for where, old, new in pairs:
        for name in (field.name for field in fields(old) if field.name != "versions"):
            before, now = getattr(old, name), getattr(new, name)
            if _without_folder(name, before) != _without_folder(name, now):
                return f"{where}{name} = {before!r}, not {now!r}"
    more = len(made.versions) > len(config.versions)
    return f"{len(made.versions)} versions, not {len(config.versions)}" if more else ""


def _without_folder(name: str, value: object) -> object:
    """Return a setting without folders of its files, which depend on the working folder."""
    if isinstance(value, dict):
        return {key: _without_folder(key, one) for key, one in value.items()}
    return Path(value).name if name in _FILES and isinstance(value, str) else value


def _finished(home: Path, version: int) -> VersionSummary | None:
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
) -> VersionSummary:
    home, step = folder / f"v{version}", config.versions[version]
    previous = config.start if version == 0 else str(folder / f"v{version - 1}" / WEIGHTS)
    name, parent = config.label(version), config.label(version - 1)
    seconds = {}

    pools = [folder / f"v{k}" / SAMPLES for k in step.pooled_versions(version)]
    for pool in pools[:-1]:
        _check_samples(pool.parent)
    labels = f"{counted(step.trials, 'trial')} each" if step.is_rolled_out else f"labelled by {step.labels}"
    tell(f"{name}: sampling {counted(step.games, 'game')} of {parent}, {labels}")
    stopwatch = Stopwatch()
    settings = step.sample_settings(previous, config.step_seed(version))
    sample(settings, home / SAMPLES, resume=True, jobs=jobs, player_label=parent)
    seconds["sample"] = stopwatch.seconds

    positions = sum(read_manifest(pool).positions for pool in pools)
    tell(f"{name}: fitting {counted(positions, 'position')}")
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

    tell(f"{name}: measuring strength in contests of {config.strength_games:,} games")
    stopwatch = Stopwatch()
    strength = _strength(config, home, previous, version, jobs)
    seconds["measure"] = stopwatch.seconds
    summary = _summary(config, version, positions, seconds, fit, strength)
    write_text(home / SUMMARY, json.dumps(summary.to_dict(), indent=1) + "\n")
    return summary


def _check_samples(home: Path) -> None:
    """Raise `DatasetError` if the samples of the finished version in `home` have lost a file."""
    paths = [manifest_of(home / SAMPLES)]
    if paths[0].exists():
        paths += [home / SAMPLES / part.name for part in read_manifest(home / SAMPLES).parts]
    for path in paths:
        if not path.exists():
            raise DatasetError(f"{path}: missing; delete {home / SUMMARY} to make the version again")


def _strength(
    config: BootstrapConfig, home: Path, previous: str, version: int, jobs: int | None
) -> tuple[ContestResult, ContestResult]:
    """Return the results of money games against PubEval and against the previous version."""
    player, seed = load(str(home / WEIGHTS)), config.strength_seed(version)
    reference, before = (
        play_money_games(player, load(opponent), config.strength_games, seed=seed, jobs=jobs)
        for opponent in (_REFERENCE, previous)
    )
    return reference, before


def _summary(
    config: BootstrapConfig,
    version: int,
    positions: int,
    seconds: dict[str, float],
    fit: FittedWeights,
    strength: tuple[ContestResult, ContestResult],
) -> VersionSummary:
    step, (reference, before) = config.versions[version], strength
    # Guaranteed by `MIN_STRENGTH_GAMES`.
    assert reference.se is not None
    assert before.se is not None
    return VersionSummary(
        version=version,
        name=config.label(version),
        positions=positions,
        trials=step.trials if step.is_rolled_out else 1,
        sample_settings=step.plan(),
        seconds=sum(seconds.values()),
        seconds_by_step=seconds,
        rmse_train=fit.rmse_train,
        rmse_validation=fit.rmse_validation,
        validation_errors=fit.overall,
        sweeps=fit.passes,
        stopped=fit.stopped,
        samples=fit.samples,
        choice_error=fit.choice_error,
        choice_error_se=fit.choice_error_se,
        choice_error_before_pruning=fit.unpruned_choice_error,
        warnings=list(fit.warnings),
        heads=fit.head_figures(),
        cross_check=fit.check,
        ppg_vs_pubeval=reference.ppg,
        ppg_se=reference.se,
        ppg_vs_previous=before.ppg,
        ppg_vs_previous_se=before.se,
    )
