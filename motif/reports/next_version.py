"""How the version after the last could be made, and what the numbers say would help."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from motif.bootstrap import BootstrapConfig
from motif.bootstrap.fit_settings import option_of
from motif.bootstrap.run import SAMPLES, TERMS, WEIGHTS

_WIDE_GAP = 1.1
"""Validation error over training error from which the samples count as too few."""
_CLEAR = 2.0
"""Standard errors that a difference must exceed to count."""
# Said in other ways than by an option of the field's name.
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
    pools = [f"v{k}/{SAMPLES}" for k in range(max(0, version - step.pooled), version + 1)]
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
            words += [option_of(name), *([] if value is True else [value])]
    return words


def _command(words: Sequence[object]) -> str:
    """A line for the shell, broken before each option so that it fits a narrow page."""
    line = "motif"
    for word in map(str, words):
        line += (" \\\n  " if word.startswith("--") else " ") + shlex.quote(word)
    return line


def advice(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about what would help, from the numbers of the last version."""
    sentences = []
    if summary["rmse_validation"] and summary["rmse_train"]:
        ratio = summary["rmse_validation"] / summary["rmse_train"]
        side = "above" if ratio > 1 else "below"
        gap = f"The validation error of the win chance is {abs(ratio - 1):.0%} {side}"
        if ratio > _WIDE_GAP:
            sentences.append(f"{gap} the training error: more games, or a larger ridge, would help.")
        else:
            sentences.append(
                f"{gap} the training error: more games would change little; "
                "more trials a position or other parameters might."
            )
    gain, se = summary["ppg_vs_previous"], summary["ppg_vs_previous_se"]
    if gain > _CLEAR * se:
        sentences.append(
            f"{summary['name']} clearly beats what it learned from, so learning from it may gain again."
        )
    else:
        sentences.append(
            f"{summary['name']} does not clearly beat what it learned from: "
            "another round of the same kind will hardly gain."
        )
    return sentences
