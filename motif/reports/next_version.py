"""How the version after the last could be made, and what the numbers say would help."""

import shlex
from collections.abc import Mapping
from typing import Any

from motif.bootstrap import BootstrapConfig
from motif.bootstrap.run import SAMPLES, WEIGHTS

_WIDE_GAP = 1.1
"""Validation error over training error from which the samples count as too few."""
_CLEAR = 2.0
"""Standard errors that a difference must exceed to count."""
_FIT_FLAGS = ("method", "parameters", "terms", "heads", "ranking", "ridge", "validation")


def next_commands(config: BootstrapConfig, last: int) -> list[str]:
    """Commands, for the run's folder, that make the version after `last` as `last` itself was made."""
    step, version = config.versions[last], last + 1
    weights, previous = f"v{version}/{WEIGHTS}", f"v{last}/{WEIGHTS}"
    sample: list[object] = ["sample", "--out", f"v{version}/{SAMPLES}", "--player", previous]
    sample += ["--games", step.games, "--trials", step.trials, "--decide", step.decide]
    sample += ["--candidates", step.candidates, "--rate", step.rate, "--cut", step.cut]
    sample += ["--stop-at-race"] if step.stop_at_race else []
    sample += ["--seed", config.seed * 1000 + version]
    pools = [f"v{k}/{SAMPLES}" for k in range(max(0, version - step.pooled), version + 1)]
    fit: list[object] = ["fit", *pools, "--out", weights, "--name", f"{config.name}-v{version}"]
    fit += ["--version", version, "--parent", f"{config.name}-v{last}", "--seed", config.seed]
    for flag in _FIT_FLAGS:
        if config.fit.get(flag) is not None:
            fit += [f"--{flag}", config.fit[flag]]
    match = ["match", weights, previous, "--games", config.strength_games]
    return [shlex.join(map(str, ["motif", *words])) for words in (sample, fit, match)]


def advice(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about what would help, from the numbers of the last version."""
    sentences = []
    if summary["rmse_validation"] is not None:
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
            "It clearly beats what it learned from, so a version that learns from it may gain again."
        )
    else:
        sentences.append(
            "It does not clearly beat what it learned from: another round alike will hardly gain."
        )
    return sentences
