"""The bootstrap: sample, label, fit; and again with the version that came of it.

A run's folder holds ``config.yaml`` and a folder for each version: ``v0/samples``,
``v0/weights.yaml``, ``v0/history.csv`` and ``v0/summary.json``, which is written last and says that
the version is finished; with ``terms: true`` in the configuration also ``v0/terms.parquet``, the table
of its terms with their standard errors.  A run that was stopped or killed keeps what was sampled and
makes the rest of that version anew.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from motif.evaluators import load_static
from motif.evaluators.weight_file import WeightFile
from motif.learning.bootstrap_config import CONFIG, BootstrapConfig, load_config
from motif.learning.fit import fit_dataset
from motif.players import load
from motif.players.match import MatchResult, play_match
from motif.runtime.errors import SettingError
from motif.runtime.files import clear_temporaries, contents, csv_text, make_folder, working_in, write_text
from motif.runtime.progress import Stopwatch
from motif.sampling import read_manifest_positions, sample

SAMPLES, WEIGHTS, HISTORY, SUMMARY = "samples", "weights.yaml", "history.csv", "summary.json"
TERMS = "terms.parquet"
_REFERENCE = "pubeval"

OnVersion = Callable[[Path, dict[str, Any]], None]
"""Called with a version's folder and summary when it is finished."""
Finish = Callable[[WeightFile], WeightFile]
"""Adds to weights what does not change their values, such as words for readers."""


def run_bootstrap(
    folder: Path | str,
    config: BootstrapConfig,
    *,
    jobs: int | None = None,
    on_version: OnVersion | None = None,
    tell: Callable[[str], None] = lambda line: None,
    finish: Finish = lambda weights: weights,
) -> list[dict[str, Any]]:
    """Run or resume the bootstrap in `folder` and return the summaries of its versions.

    The same configuration gives the same weights for any number of `jobs`, stopped and resumed or
    not.  `tell` is given a line about each step as it begins; `finish` makes of a version's weights what
    is saved.  Raises `SettingError` when `folder`
    holds a run with another configuration, `PlayerError` or `WeightFileError` for a start player that
    cannot be loaded, `FileError` when a file cannot be written or another run works in `folder`.
    Ctrl-C while a version is sampled is heard as `sample` does; elsewhere it ends the step at once.
    """
    config.check()
    folder = Path(folder)
    if not (folder / CONFIG).exists():
        # Before a folder is made for it.
        load_static(config.start)
    summaries: list[dict[str, Any]] = []
    with working_in(folder):
        _claim(folder, config)
        try:
            for version in range(len(config.versions)):
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


def _claim(folder: Path, config: BootstrapConfig) -> None:
    if (folder / CONFIG).exists():
        if load_config(folder / CONFIG) != config:
            raise SettingError(f"{folder}: holds a run with another {CONFIG}; choose another folder")
    elif contents(folder):
        raise SettingError(f"{folder}: is not empty and holds no {CONFIG}: not a bootstrap run")
    else:
        config.save(folder)


def _finished(home: Path, version: int) -> dict[str, Any] | None:
    """The summary of a version that is finished; None for one that is not."""
    try:
        summary: dict[str, Any] = json.loads((home / SUMMARY).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SettingError(f"{home / SUMMARY}: cannot be read: {error}; delete it to make it anew") from None
    if not isinstance(summary, dict) or summary.get("version") != version:
        raise SettingError(f"{home / SUMMARY}: is no summary of version {version}; delete it to make it anew")
    return summary


def _make_version(
    folder: Path,
    config: BootstrapConfig,
    version: int,
    jobs: int | None,
    tell: Callable[[str], None],
    finish: Finish,
) -> dict[str, Any]:
    home, step = folder / f"v{version}", config.versions[version]
    previous = config.start if version == 0 else str(folder / f"v{version - 1}" / WEIGHTS)
    name = f"{config.name}-v{version}"
    seconds = {}

    labels = f"{step.trials} trials each" if step.is_rolled_out else f"labelled by {step.labels}"
    tell(f"{name}: sampling {step.games} games of {_label(config, version - 1)}, {labels}")
    stopwatch = Stopwatch()
    settings = step.sample_settings(previous, config.step_seed(version))
    sample(settings, home / SAMPLES, resume=True, jobs=jobs, player_label=_label(config, version - 1))
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
        parent=_label(config, version - 1),
        term_table=home / TERMS if config.terms else None,
        jobs=jobs,
    )
    finish(fit.weights).save(home / WEIGHTS)
    history = fit.history_rows()
    write_text(home / HISTORY, csv_text(history[0], (row.values() for row in history)))
    seconds["fit"] = stopwatch.seconds

    tell(f"{name}: measuring strength in matches of {config.strength_games} games")
    stopwatch = Stopwatch()
    strength = _strength(config, home, previous, version, jobs)
    seconds["measure"] = stopwatch.seconds
    summary = {
        "version": version,
        "name": name,
        "positions": positions,
        "trials": step.trials,
        "sample_settings": step.plan(),
        "seconds": sum(seconds.values()),
        "seconds_by_step": seconds,
        **{key: value for key, value in fit.as_dict().items() if key != "seconds"},
        **strength,
    }
    write_text(home / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def _label(config: BootstrapConfig, version: int) -> str:
    """Name of a version, or of the start player for -1."""
    return config.start if version < 0 else f"{config.name}-v{version}"


def _strength(
    config: BootstrapConfig, home: Path, previous: str, version: int, jobs: int | None
) -> dict[str, float]:
    player = load(str(home / WEIGHTS))

    def against(opponent: str, seed: int) -> MatchResult:
        return play_match(player, load(opponent), config.strength_games, seed=seed, jobs=jobs)

    seed = config.strength_seed(version)
    reference, before = against(_REFERENCE, seed), against(previous, seed)
    return {
        "ppg_vs_pubeval": reference.ppg,
        "ppg_se": reference.se,
        "ppg_vs_previous": before.ppg,
        "ppg_vs_previous_se": before.se,
    }


def with_seed(config: BootstrapConfig, seed: int | None) -> BootstrapConfig:
    """The configuration with another seed, or as it is for None."""
    return config if seed is None else replace(config, seed=seed)
