"""Made-up samples for the solvers: correlated features of various kinds, as in measured positions."""

import numpy as np

from motif.fitting.problem import PROBABILITY, Link, Problem, link_of
from motif.fitting.terms import Terms

EQUITY = link_of("equity")
PLAYS = 10
"""Number of rows of each decision."""


def correlated_features(count: int, size: int, seed: int = 0) -> np.ndarray:
    """Smooth, counting, mostly-zero and saturating features with shared causes; some nearly collinear."""
    rng = np.random.default_rng(seed)
    decisions = -(-count // PLAYS)
    causes = np.repeat(rng.standard_normal((decisions, 6)) * 0.8, PLAYS, axis=0)[:count]
    causes += rng.standard_normal((count, 6)) * 0.5
    z = causes @ rng.standard_normal((6, size)) * 0.8 + 0.6 * rng.standard_normal((count, size))
    kinds = (
        lambda v: np.clip(0.45 + 0.15 * v, 0, 1.2),
        lambda v: np.clip(np.round(1.5 + v), 0, 6) / 6,
        lambda v: np.clip(np.round(v - 1.5), 0, 4) / 4,
        lambda v: 1 / (1 + np.exp(-v)),
    )
    features = np.column_stack([kinds[i % 4](z[:, i]) for i in range(size)])
    if size > 6:
        features[:, -1] = features[:, 0] - features[:, 4] + 0.5 + 0.01 * rng.standard_normal(count)
        features[:, -2] = np.maximum(features[:, 1], features[:, 5])
    return features.astype(np.float32)


def random_boards(count: int, seed: int = 0) -> np.ndarray:
    """Boards int8 (count, 26) with some of each side's checkers anywhere, including stacks and both bars."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 26), np.int8)
    for board in boards:
        places = rng.permutation(np.arange(1, 25))
        own, other = rng.multinomial(rng.integers(8, 16, 2), rng.dirichlet(np.full(7, 0.7), 2))
        board[places[:6]], board[places[6:12]] = own[:6], -other[:6]
        # At most two on a bar, so that boards are always valid positions.
        board[25], board[0] = min(own[6], 2), -min(other[6], 2)
    return boards


def planted_weights(terms: Terms, features: np.ndarray, seed: int = 0) -> np.ndarray:
    """Weights whose raw predictions on `features` have mean 0 and standard deviation 0.8."""
    weights = np.random.default_rng(seed).standard_normal(terms.count)
    raw = terms.expand(features).astype(np.float64) @ weights
    weights *= 0.8 / raw.std()
    weights[0] -= 0.8 * raw.mean() / raw.std()
    return weights


def decision_ids(count: int) -> np.ndarray:
    return np.arange(count) // PLAYS


def noisy_problem(
    count: int, size: int, *, noise: float = 0.07, link: Link = PROBABILITY, seed: int = 0, **settings
) -> Problem:
    """All pairs, labels with `noise` as a share of the range, and a bend that the model cannot follow."""
    features, terms = correlated_features(count, size, seed), Terms.all_pairs(size)
    raw = terms.expand(features).astype(np.float64) @ planted_weights(terms, features, seed)
    values = link.inverse_link(raw + 0.1 * np.sin(3 * raw))
    noises = noise * (link.high - link.low) * np.random.default_rng(seed + 1).standard_normal(count)
    labels = np.clip(values + noises, link.low, link.high)
    return Problem(features, labels, terms, link, decisions=decision_ids(count), **settings)


def exact_problem(count: int, size: int, **settings) -> tuple[Problem, np.ndarray]:
    """Labels that planted weights reproduce exactly, from features that are far from collinear."""
    features = np.random.default_rng(5).random((count, size), np.float32)
    terms = Terms.all_pairs(size)
    weights = planted_weights(terms, features, 6)
    labels = PROBABILITY.inverse_link(terms.expand(features).astype(np.float64) @ weights)
    return Problem(features, labels, terms, **settings), weights
