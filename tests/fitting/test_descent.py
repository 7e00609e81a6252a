"""Steps of descent: systems of equations solved, and errors that never rise."""

from dataclasses import dataclass

import numpy as np
import pytest

from motif.fitting.gauss_newton import conjugate_gradients, line_search


def made_system(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((size, size))
    return root @ root.T + 0.1 * np.eye(size), rng.standard_normal(size)


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_as_many_steps_as_unknowns_solve_a_system(shape):
    matrix, gradient = made_system(6)
    steps = conjugate_gradients(
        gradient.reshape(shape), lambda v: (matrix @ v.ravel()).reshape(shape), lambda v: v / 7
    )
    promises = []
    for _, (direction, promise) in zip(range(6), steps, strict=False):
        promises.append(promise)
        flat = direction.ravel()
        # The expected gain of the steps so far is twice the decrease of the quadratic model.
        fall = -(gradient @ flat + flat @ matrix @ flat / 2)
        assert sum(promises) == pytest.approx(2 * fall)
    np.testing.assert_allclose(direction.ravel(), np.linalg.solve(matrix, -gradient), rtol=1e-6)


def test_a_perfect_preconditioner_takes_one_step_and_no_gradient_none():
    matrix, gradient = made_system(5)
    inverse = np.linalg.inv(matrix)
    steps = conjugate_gradients(gradient, lambda v: matrix @ v, lambda v: inverse @ v)
    np.testing.assert_allclose(next(steps)[0], -inverse @ gradient, rtol=1e-8)
    assert list(conjugate_gradients(0 * gradient, lambda v: matrix @ v, lambda v: v)) == []


@dataclass
class Seen:
    error: float


def test_a_step_is_halved_until_it_helps():
    def bowl(weights: np.ndarray) -> Seen:
        return Seen(float(weights @ weights))

    weights = np.array([1.0, 0.0])
    for direction, reached in (([-1, 0], [0, 0]), ([-8, 0], [0, 0]), ([-5, 0], [-0.25, 0])):
        found, point, failure = line_search(
            bowl, weights, bowl(weights), np.array(direction, float), 2 * weights
        )
        np.testing.assert_allclose(found, reached)
        assert point.error == pytest.approx(bowl(found).error)
        assert failure is None


@pytest.mark.parametrize(
    ("direction", "gradient", "failure"),
    [
        ([1.0, 0.0], [2.0, 0.0], "not a descent direction"),
        ([0.0, 1.0], [2.0, 0.0], "not a descent direction"),
        ([np.nan, 0.0], [2.0, 0.0], "not finite"),
        ([-1.0, 0.0], [np.inf, 0.0], "not finite"),
        # The gradient is wrong: the error rises however often the step is halved.
        ([1.0, 0.0], [-2.0, 0.0], "line search failed"),
    ],
)
def test_a_step_that_cannot_help_is_not_taken_and_says_why(direction, gradient, failure):
    def bowl(weights: np.ndarray) -> Seen:
        return Seen(float(weights @ weights))

    weights = np.array([1.0, 0.0])
    found, _, why = line_search(bowl, weights, bowl(weights), np.array(direction), np.array(gradient))
    assert (why, found.tolist()) == (failure, [1.0, 0.0])
