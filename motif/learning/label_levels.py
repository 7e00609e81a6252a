"""Levels of labels: the values that the plays of a decision have in common.

Labels by lookahead distinguish plays well, but repeat systematic errors of the player that looks ahead: most
positions are of the same kind two plies later. Rollouts to the end have no such errors, but too much noise to
distinguish plays. So one evaluator is fitted to rollouts, and gives labels by lookahead their levels.
"""

from dataclasses import replace

import numpy as np

from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.probabilities import equities
from motif.fitting.problem import decision_starts
from motif.learning.heads import possible
from motif.sampling.dataset import Dataset


def with_levels(data: Dataset, evaluator: Evaluator) -> Dataset:
    """Return a dataset in which `evaluator` sets the mean of each probability over each decision.

    Differences between the plays of a decision remain, except that probabilities stay between 0 and 1 and
    those of impossible results 0.
    """
    starts = decision_starts(data.decision, len(data))
    lengths = np.diff(starts)
    missing = evaluator.evaluate_many(data.boards) - data.probabilities
    means = np.add.reduceat(missing, starts[:-1], axis=0) / lengths[:, None].astype(np.float32)
    probabilities = np.clip(data.probabilities + np.repeat(means, lengths, axis=0), 0, 1)
    for number, head in enumerate(OUTPUTS):
        probabilities[~possible(head, data.boards), number] = 0
    change = equities(probabilities) - equities(data.probabilities)
    return replace(data, probabilities=probabilities, equity=data.equity + change.astype(np.float32))
