"""Advice on the next version of a bootstrap run, and the commands that make it."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

from motif.fitting.objective import Ending
from motif.learning.bootstrap_config import BootstrapConfig, VersionStep
from motif.learning.bootstrap_run import SAMPLES, TERMS, WEIGHTS
from motif.learning.fit_settings import FitSettings
from motif.learning.version_summary import VersionSummary
from motif.parameters.named_sets import parameter_file
from motif.runtime.layout import percent
from motif.sampling.sample import SampleSettings

_WIDE_GAP = 1.1
"""Minimum ratio of validation to training error that indicates too few samples."""
_CLEAR = 2.0
"""Minimum significant difference in standard errors."""
_RATES = {"crashed": "--crashed-rate", "race": "--race-rate"}
"""Options that add samples of rare classes."""
_NAMES = {"prune": "prune_z"}
"""Options with names that differ from their fields."""


def next_commands(config: BootstrapConfig, last: int, folder: Path = Path()) -> list[str]:
    """Return commands, for the run's `folder`, that make the version after `last` in the same way."""
    step, version = config.versions[last], last + 1
    weights, previous = f"v{version}/{WEIGHTS}", f"v{last}/{WEIGHTS}"
    sampling = step.sample_settings(previous, config.step_seed(version))
    sample: list[object] = ["sample", "--out", f"v{version}/{SAMPLES}", *_options(sampling)]
    pools = [f"v{k}/{SAMPLES}" for k in step.pooled_versions(version)]
    fit: list[object] = ["fit", *pools, "--out", weights, "--name", f"{config.name}-v{version}"]
    fit += ["--version", version, "--parent", f"{config.name}-v{last}"]
    fit += _options(_seen_from(folder, config.fit_settings(last)))
    fit += ["--term-table", f"v{version}/{TERMS}"] if config.terms else []
    match = ["match", weights, previous, "--games", config.strength_games]
    match += ["--seed", config.strength_seed(version)]
    return [_command(words) for words in (sample, fit, match)]


def _seen_from(folder: Path, settings: FitSettings) -> FitSettings:
    """Return `settings` with the path of a parameter file relative to `folder`."""
    file = parameter_file(settings.parameters, folder)
    return settings if file is None else replace(settings, parameters=os.path.relpath(file, folder))


def _options(settings: SampleSettings | FitSettings) -> list[object]:
    """Return the command-line options of `settings` that differ from the defaults."""
    words: list[object] = []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if value != field.default:
            words += ["--" + _NAMES.get(field.name, field.name).replace("_", "-")]
            words += [] if value is True else [value]
    return words


def _command(words: Sequence[object]) -> str:
    """Return a shell command with a line break before each option."""
    line = "motif"
    for word in map(str, words):
        line += (" \\\n  " if word.startswith("--") else " ") + shlex.quote(word)
    return line


def advice(config: BootstrapConfig, summaries: Sequence[VersionSummary]) -> list[str]:
    """Return advice from the numbers of a run's versions, mainly the last."""
    last = summaries[-1]
    step = config.versions[last.version]
    return [*_on_samples(last, step), *_on_passes(last), _on_another_round(summaries)]


def _on_samples(last: VersionSummary, step: VersionStep) -> Iterator[str]:
    """Yield advice on gaps between training and validation error, overall and by class."""
    ratio = _ratio(last.rmse_train, last.rmse_validation)
    if ratio is None:
        return
    side = "above" if ratio > 1 else "below"
    share = percent(abs(ratio - 1), 0)
    gap = f"The validation error of the win probability is {share} {side} the training error"
    if ratio > _WIDE_GAP:
        yield f"{gap}: more games, or a larger ridge, would help."
    else:
        others = "more trials per position or other parameters" if step.is_rolled_out else "other parameters"
        yield f"{gap}: more games would change little; {others} might."
    wins = {name: last.heads.get(f"{name}.win", {}) for name in _RATES}
    classes = {
        name: _ratio(of.get("rmse_train"), of.get("rmse_validation")) or 0.0 for name, of in wins.items()
    }
    widest = max(classes, key=lambda name: classes[name])
    if classes[widest] > _WIDE_GAP:
        yield (
            f"In {widest} positions it is {percent(classes[widest] - 1, 0)} above: more samples of these "
            f"({_RATES[widest]}) would help."
        )


def _on_passes(last: VersionSummary) -> Iterator[str]:
    """Yield advice on fits that did not converge."""
    yield from (f"{last.name}: {warning}." for warning in last.warnings)
    if last.stopped == Ending.PASS_LIMIT:
        yield (
            f"A fit of {last.name} reached the pass limit before converging: more passes may lower its error."
        )


def _on_another_round(summaries: Sequence[VersionSummary]) -> str:
    last = summaries[-1]
    gains = [summary.ppg_vs_previous > _CLEAR * summary.ppg_vs_previous_se for summary in reversed(summaries)]
    level = gains.index(True) if any(gains) else len(gains)
    if not level:
        return f"{last.name} clearly beats its predecessor, so another round may improve it again."
    text = f"{last.name} does not clearly beat its predecessor"
    if level > 1:
        text += f", and neither did the {'version' if level == 2 else f'{level - 1} versions'} before it"
    return f"{text}: another round of the same kind is unlikely to help."


def _ratio(train: float | None, validation: float | None) -> float | None:
    """Return validation error / training error; None if one is unknown."""
    return validation / train if train and validation else None
