"""The two stages of training, epoch by epoch."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from motif.bootstrap.phase_net.net import PhaseNet
from motif.bootstrap.phase_net.samples import Samples
from motif.bootstrap.phase_net.settings import PhaseNetSettings
from motif.runtime.progress import progress

SMALL_GAIN, ALL_EPOCHS = "small gain", "all epochs"
"""Why stage 1 ended."""


class Epoch(NamedTuple):
    """One pass over the boards of a round; stage 1 is round 0."""

    round: int
    epoch: int
    """From 1 on."""
    boards: int
    rmse_train: float
    """Of the pass, each batch before its step."""
    rmse_validation: float
    """After it, on boards of games that taught nothing (stage 1: boards that did not)."""


def learn_heuristic(
    net: PhaseNet, settings: PhaseNetSettings, samples: Samples, validation: Samples
) -> tuple[list[Epoch], str]:
    """Stage 1: train until the loss falls no more; return its epochs and why it ended.

    As in the source the loss is the sum of the squared errors of an epoch's batches.
    """
    epochs: list[Epoch] = []
    best, waited = math.inf, 0
    with progress("learning the heuristic", settings.epochs) as advance:
        for epoch in _trained(net, 0, samples, validation, settings.epochs, settings.rate):
            epochs.append(epoch)
            advance(1)
            loss = epoch.rmse_train**2 * epoch.boards
            waited = 0 if loss < best - settings.gain else waited + 1
            best = min(best, loss)
            if waited == settings.patience:
                return epochs, SMALL_GAIN
    return epochs, ALL_EPOCHS


def learn_outcomes(
    net: PhaseNet, number: int, settings: PhaseNetSettings, samples: Samples, validation: Samples
) -> list[Epoch]:
    """Round `number` of stage 2: train on the buffer's `samples`; return its epochs."""
    epochs = []
    with progress(f"round {number}", settings.round_epochs) as advance:
        for epoch in _trained(net, number, samples, validation, settings.round_epochs, settings.round_rate):
            epochs.append(epoch)
            advance(1)
    return epochs


def _trained(
    net: PhaseNet, number: int, samples: Samples, validation: Samples, epochs: int, rate: float
) -> Iterator[Epoch]:
    for epoch, loss in enumerate(net.train(*samples, epochs, rate), 1):
        yield Epoch(number, epoch, len(samples.targets), math.sqrt(loss), net.rmse(*validation))
