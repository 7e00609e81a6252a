"""Point terms.  Oracles: an obvious loop over places, numpy, and a point table of a weight file."""

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.point_table import checkers_by_place, tables_of
from motif.fitting import design
from motif.fitting.coordinate import solve_coordinate
from motif.fitting.curvature import centring
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.keith_descent import solve_keith
from motif.fitting.problem import EQUITY, Problem
from motif.fitting.solve import solve_least_squares
from motif.fitting.terms import POINT_COLUMNS, POINT_SHAPE, Terms, step_columns
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import correlated_features, decision_ids, planted_weights, random_boards

SIZE = 5


def obvious_columns(board: np.ndarray) -> list[float]:
    """The definition: own then opponent, each in his own numbering, 1, 2, 3 checkers and those beyond."""
    columns = []
    for counts in (board[1:26], -board[24::-1]):
        for count in np.maximum(counts, 0):
            columns += [count == 1, count == 2, count >= 3, max(int(count) - 3, 0)]
    return [float(value) for value in columns]


def test_columns_are_the_definition():
    boards = random_boards(60)
    assert boards.max() > 4
    assert (boards[:, 25] > 0).any()
    assert (boards[:, 0] < 0).any()
    for board, columns in zip(boards, step_columns(boards), strict=True):
        assert columns.tolist() == obvious_columns(board)


def test_the_start_in_words():
    columns = step_columns(Position.start().board[None]).reshape(POINT_SHAPE)
    for side in (0, 1):
        told = {
            int(place) + 1: columns[side, place].tolist() for place in np.flatnonzero(columns[side].any(1))
        }
        assert told == {6: [0, 0, 1, 2], 8: [0, 0, 1, 0], 13: [0, 0, 1, 2], 24: [0, 1, 0, 0]}


@pytest.mark.parametrize("count", [1, 300, design.CHUNK_ROWS + 17])
@pytest.mark.parametrize("terms", [Terms.all_pairs(SIZE, True), Terms.linear(SIZE, True)])
def test_products_agree_with_the_expanded_matrix(terms, count):
    features, boards = correlated_features(count, SIZE), random_boards(count)
    matrix = terms.expand(features, boards).astype(np.float64)
    assert matrix.shape == (count, terms.count)
    assert (matrix[:, -POINT_COLUMNS:] == step_columns(boards)).all()
    rng = np.random.default_rng(1)
    weights, rows = rng.standard_normal(terms.count), rng.standard_normal(count)
    raw = raw_predictions(terms, features, weights, boards=boards)
    np.testing.assert_allclose(raw, matrix @ weights, atol=1e-5)
    sums = term_sums(terms, features, rows, boards=boards)
    np.testing.assert_allclose(sums, rows @ matrix, atol=1e-5 * count**0.5)
    squares = matrix**2
    np.testing.assert_allclose(
        raw_predictions(terms, features, weights, 2, boards), squares @ weights, rtol=1e-5, atol=1e-4
    )
    np.testing.assert_allclose(
        term_sums(terms, features, rows**2, 2, boards), rows**2 @ squares, rtol=1e-5, atol=1e-9
    )


def test_weights_mean_what_they_mean_in_a_weight_file():
    terms, boards = Terms.linear(1, True), random_boards(50)
    steps = np.random.default_rng(2).standard_normal(POINT_SHAPE).astype(np.float32)
    weights = np.concatenate([[0.25, 0.0], steps.ravel()])
    assert (terms.split(weights).points == steps).all()
    raw = raw_predictions(terms, np.zeros((50, 1), np.float32), weights, boards=boards)
    counts = checkers_by_place(pack_many(boards)).astype(np.int64)
    expected = np.take_along_axis(tables_of(steps)[None], counts[..., None], axis=-1).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(raw, 0.25 + expected, atol=1e-5)


def test_bytes_do_not_depend_on_threads(monkeypatch):
    count, terms = 3 * design.CHUNK_ROWS, Terms.linear(SIZE, True)
    features, boards = correlated_features(count, SIZE), np.tile(random_boards(64), (count // 64, 1))
    weights, answers = planted_weights(terms, features, boards=boards), []
    for threads in (1, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        raw = raw_predictions(terms, features, weights, boards=boards)
        answers.append((raw.tobytes(), term_sums(terms, features, raw, boards=boards).tobytes()))
    assert answers[0] == answers[1]


def test_centring():
    terms = Terms.all_pairs(SIZE, True)
    features, boards = correlated_features(50, SIZE), random_boards(50)
    of_features, of_points = features.mean(axis=0), step_columns(boards).mean(axis=0)
    centred = terms.expand(features - of_features, boards).astype(np.float64)
    centred[:, terms.first_point :] -= of_points
    found = centred @ centring(terms, np.concatenate([of_features, of_points]))
    np.testing.assert_allclose(found, terms.expand(features, boards), atol=1e-6)


def planted_problem(count: int, noise: float = 0.0, **settings) -> tuple[Problem, np.ndarray]:
    features, boards, terms = (
        correlated_features(count, SIZE),
        random_boards(count),
        Terms.all_pairs(SIZE, True),
    )
    weights = planted_weights(terms, features, 3, boards)
    raw = terms.expand(features, boards).astype(np.float64) @ weights
    labels = EQUITY.predict(raw) + noise * np.random.default_rng(4).standard_normal(count)
    labels = np.clip(labels, -3, 3)
    return Problem(
        features, labels, terms, EQUITY, boards=boards, decisions=decision_ids(count), **settings
    ), raw


@pytest.mark.parametrize("solve", [solve_coordinate, solve_gauss_newton, solve_least_squares])
def test_planted_weights_predict_again(solve):
    problem, raw = planted_problem(3000)
    result = solve(problem, tolerance=1e-9, max_passes=200)
    assert result.rmse_train < 1e-4
    fitted = raw_predictions(problem.terms, problem.features, result.weights, boards=problem.boards)
    np.testing.assert_allclose(fitted, raw, atol=2e-3)


def test_solvers_agree_on_noisy_labels():
    problem, _ = planted_problem(3000, 0.3, ridge=1e-5, ranking=4.0, training=decision_ids(3000) % 5 != 0)
    exact = solve_least_squares(problem, tolerance=1e-10)
    assert exact.rmse_validation < 0.5
    for solve, tolerance, rel in (
        (solve_coordinate, 1e-10, 1e-7),
        (solve_gauss_newton, 1e-10, 1e-7),
        (solve_keith, 1e-6, 1e-4),
    ):
        result = solve(problem, tolerance=tolerance)
        assert result.history[-1].error == pytest.approx(exact.history[-1].error, rel=rel)
        assert result.rmse_validation == pytest.approx(exact.rmse_validation, rel=1e-4)


@pytest.mark.parametrize(("solve", "passes"), [(solve_coordinate, 20), (solve_gauss_newton, 12)])
def test_collinear_terms_do_not_slow_a_fit(solve, passes):
    """Pip counts and checkers on the board are exact sums of point terms."""
    boards = random_boards(20_000)
    own, pips = np.maximum(boards, 0), np.arange(26)
    features = np.column_stack([own @ pips / 200, own.sum(1) / 15, (own > 1).sum(1) / 6]).astype(np.float32)
    terms = Terms.all_pairs(3, True)
    labels = EQUITY.predict(
        terms.expand(features, boards).astype(np.float64) @ planted_weights(terms, features, 5, boards)
    )
    result = solve(Problem(features, labels, terms, EQUITY, boards=boards))
    assert result.stopped == "converged"
    assert result.passes < passes
    assert result.rmse_train < 1e-3


def test_what_is_refused():
    features, labels = correlated_features(20, SIZE), np.zeros(20)
    boards, terms = random_boards(20), Terms.linear(SIZE, True)
    bad = boards.copy()
    bad[7, 3] = 16

    def refused(**changes) -> str:
        with pytest.raises(FitError) as caught:
            Problem(features, labels, terms, **changes)
        return str(caught.value)

    assert refused() == "point terms are read off the board of every row, and no boards are given"
    shapes = "there must be one board a row, int8 (20, 26), not "
    assert refused(boards=boards[:5]) == shapes + "int8 (5, 26)"
    assert refused(boards=boards.astype(float)) == shapes + "float64 (20, 26)"
    assert refused(boards=bad).startswith("row 7: invalid position: the player on roll has ")
