"""How the version after the last could be made, and what the numbers say would help."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import takewhile
from typing import Any

from motif.fitting.objective import PASS_LIMIT, VALIDATION_RISES
from motif.learning import BootstrapConfig
from motif.learning.bootstrap_run import SAMPLES, TERMS, WEIGHTS

_WIDE_GAP = 1.1
"""Validation error over training error from which the samples count as too few."""
_CLEAR = 2.0
"""Standard errors that a difference must exceed to count."""
_RATES = {"crashed": "--crashed-rate", "race": "--race-rate"}
"""Options by which there are more samples of a class that games alone give few of."""
_NAMES = {"prune": "prune_z"}
"""Options that are not called as their fields are."""
# Said in other ways than by an option.
_NOT_OPTIONS = {"games", "trials", "pooled", "fit", "max_passes"}


def next_commands(config: BootstrapConfig, last: int) -> list[str]:
    """Commands, for the run's folder, that make the version after `last` as `last` itself was made."""
    step, version = config.versions[last], last + 1
    weights, previous = f"v{version}/{WEIGHTS}", f"v{last}/{WEIGHTS}"
    sample: list[object] = ["sample", "--out", f"v{version}/{SAMPLES}", "--player", previous]
    sample += ["--games", step.games, "--trials", step.trials]
    sample += _options(
        {f.name: getattr(step, f.name) for f in fields(step) if getattr(step, f.name) != f.default}
    )
    sample += ["--seed", config.seed * 1000 + version]
    pools = [f"v{k}/{SAMPLES}" for k in step.pooled_versions(version)]
    fit: list[object] = ["fit", *pools, "--out", weights, "--name", f"{config.name}-v{version}"]
    fit += ["--version", version, "--parent", f"{config.name}-v{last}", "--seed", config.seed]
    fit += _options({**config.fit, **step.fit})
    fit += ["--term-table", f"v{version}/{TERMS}"] if config.terms else []
    match = ["match", weights, previous, "--games", config.strength_games]
    return [_command(words) for words in (sample, fit, match)]


def _options(settings: Mapping[str, object]) -> list[object]:
    """Options of the command line for settings of a fit or of samples."""
    words: list[object] = []
    for name, value in settings.items():
        if name not in _NOT_OPTIONS and value is not None and value is not False:
            words += ["--" + _NAMES.get(name, name).replace("_", "-"), *([] if value is True else [value])]
    return words


def _command(words: Sequence[object]) -> str:
    """A line for the shell, broken before each option so that it fits a narrow page."""
    line = "motif"
    for word in map(str, words):
        line += (" \\\n  " if word.startswith("--") else " ") + shlex.quote(word)
    return line


def advice(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about what would help, from the numbers of a run's versions, of the last above all."""
    last = summaries[-1]
    return [*_on_samples(last), *_on_passes(last), _on_another_round(summaries)]


def _on_samples(last: Mapping[str, Any]) -> Iterator[str]:
    """On gaps between training and validation: together, in a class of positions, in game plans."""
    ratio = _ratio(last)
    if ratio is None:
        return
    side = "above" if ratio > 1 else "below"
    gap = f"The validation error of the win chance is {abs(ratio - 1):.0%} {side} the training error"
    if ratio > _WIDE_GAP:
        yield f"{gap}: more games, or a larger ridge, would help."
    else:
        yield (f"{gap}: more games would change little; more trials a position or other parameters might.")
    heads = last.get("heads", {})
    classes = {name: _ratio(heads.get(f"{name}.win", {})) or 0.0 for name in _RATES}
    widest = max(classes, key=lambda name: classes[name])
    if classes[widest] > _WIDE_GAP:
        yield (
            f"In {widest} positions it is {classes[widest] - 1:.0%} above: more of them among the samples "
            f"({_RATES[widest]}) would help there."
        )
    plans = last.get("plans", {})
    wide = [name for name, facts in plans.items() if (_ratio(facts) or 0.0) > _WIDE_GAP]
    if wide:
        yield (
            f"In {len(wide)} of {len(plans)} game plans the validation error is more than "
            f"{_WIDE_GAP - 1:.0%} above the training error: they have too few positions, and more games, or "
            "a larger plan_shrinkage, would help."
        )


def _on_passes(last: Mapping[str, Any]) -> Iterator[str]:
    """On fits that ended before they converged."""
    if last["stopped"] == PASS_LIMIT:
        yield (
            f"A fit of {last['name']} ended at its limit of passes before it converged: a higher max_passes "
            "may lower its error."
        )
    elif last["stopped"] == VALIDATION_RISES:
        yield (
            f"A fit of {last['name']} ended because its validation error rose: more games, or a larger "
            "ridge, would let it go on."
        )


def _on_another_round(summaries: Sequence[Mapping[str, Any]]) -> str:
    last = summaries[-1]
    level = len(list(takewhile(lambda summary: not _clearly_gains(summary), reversed(summaries))))
    if not level:
        return f"{last['name']} clearly beats what it learned from, so learning from it may gain again."
    text = f"{last['name']} does not clearly beat what it learned from"
    if level > 1:
        text += f", and neither did the {_times(level - 1)} before it"
    return f"{text}: another round of the same kind will hardly gain."


def _clearly_gains(summary: Mapping[str, Any]) -> bool:
    return bool(summary["ppg_vs_previous"] > _CLEAR * summary["ppg_vs_previous_se"])


def _times(count: int) -> str:
    return "version" if count == 1 else f"{count} versions"


def _ratio(errors: Mapping[str, Any]) -> float | None:
    """Validation error over training error; None where one is not known."""
    train, validation = errors.get("rmse_train"), errors.get("rmse_validation")
    return validation / train if train and validation else None
