"""Noise of labels due to the luck of rollouts, and the error of a fit without this noise.

A label is the mean of n trials, so even the true values would differ from it: the mean squared difference is
the label's variance. The held-out samples were not used in the fit, so their mean squared error is that of
the evaluator plus the mean variance of their labels. Subtracting that variance gives the error without noise,
which can be compared between versions whose rollouts have different numbers of trials.

The variance of an equity is the square of the standard error in the dataset. The variance of a probability p
is p (1 - p) / (n - 1) if each trial is a whole game. Trials that end early return an evaluator's
probabilities instead, and stratified dice make trials dependent; datasets have no standard errors of these
probabilities, so their noise is unknown. Labels by an evaluator contain no luck. These numbers do not include
the bias of labels from a weak player.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.evaluators.known_players import rolls_out
from motif.evaluators.probabilities import HEADS
from motif.runtime.arrays import Float32Array
from motif.runtime.layout import counted
from motif.sampling.dataset import Dataset
from motif.sampling.dataset_files import ROLLOUTS, Manifest
from motif.sampling.sample import OUTCOME

_ENDED_EARLY = ("cut", "stop_at_race", "stop_at_bearoff", "stratified")
"""Settings of a dataset with rollouts that do not give the standard error of a probability."""
NOT_KNOWN = (
    "Truncated rollouts, and rollouts with stratified dice, give a standard error only for the equity, not "
    "for probabilities; a single trial gives none at all."
)

LEVELS_UNKNOWN = "Unknown for labels with the levels of a player."


def label_variances(samples: Dataset) -> Float32Array:
    """Return the variances of the labels (n, 6): five probabilities and the equity; NaN if unknown."""
    labels = samples.origin.labels
    variances = np.full((len(samples), len(HEADS)), np.nan, np.float32)
    if "label" not in labels:
        variances[:, -1] = samples.equity_se.astype(np.float64) ** 2
        return variances
    labeller = str(labels["label"])
    if labeller not in (ROLLOUTS, OUTCOME):
        if not rolls_out(labeller):
            variances[:] = 0.0
        return variances
    variances[:, -1] = samples.equity_se.astype(np.float64) ** 2
    if not any(labels.get(name) for name in _ENDED_EARLY):
        chances = np.clip(samples.probabilities.astype(np.float64), 0.0, 1.0)
        several = samples.trials > 1
        spread = chances[several] * (1 - chances[several])
        variances[several, :-1] = spread / (samples.trials[several, None] - 1)
    return variances


def label_source(manifest: Manifest) -> str:
    """Return the source of the labels of a dataset, in words."""
    labeller = str(manifest.origin.labels.get("label", "an unknown source"))
    if labeller == ROLLOUTS:
        trials = manifest.settings.get("trials")
        return f"rollouts of {counted(trials, 'trial')}" if isinstance(trials, int) else "rollouts"
    return "results of games" if labeller == OUTCOME else labeller


@dataclass(frozen=True)
class NoiseFreeError:
    """The error of a head over validation samples, and the noise of their labels."""

    rmse: float | None
    """Root mean square error; None if no sample is held out."""
    noise: float | None
    """Root mean square of the labels' standard errors; None if unknown."""

    @property
    def without_noise(self) -> float | None:
        """The error without the noise of the labels; 0 if the noise explains all of it."""
        if self.rmse is None or self.noise is None:
            return None
        return math.sqrt(max(self.rmse**2 - self.noise**2, 0.0))

    def to_dict(self) -> dict[str, float | None]:
        """Return the numbers for a report."""
        return {
            "rmse_validation": self.rmse,
            "label_noise": self.noise,
            "rmse_without_noise": self.without_noise,
        }


def root_mean(parts: Iterable[npt.NDArray[np.floating]]) -> float | None:
    """Return the root of the mean of all `parts`; None if there are none or one is unknown."""
    total, count = 0.0, 0
    for part in parts:
        total += float(np.sum(part, dtype=np.float64))
        count += len(part)
    mean = total / count if count else math.nan
    return math.sqrt(mean) if math.isfinite(mean) else None
