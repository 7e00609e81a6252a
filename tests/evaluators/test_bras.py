"""BRAS, compared with its article: the example, the opening, and the claimed properties."""

import numpy as np
import pytest

from motif.board.position import Position, as_boards, first_bad_board
from motif.evaluators import load_evaluator
from motif.evaluators.bras import ARTICLE, ARTICLE_WEIGHTS, SIGMA, formula_of, read_formula
from motif.parameters.named_sets import features
from motif.parameters.sets import PARAMETER_SETS
from motif.runtime.errors import MotifError, PlayerError

BRAS = PARAMETER_SETS["bras"]
SAMPLE_2 = Position.from_points(
    {25: 1, 24: 2, 23: 1, 21: 1, 11: 1, 8: 3, 6: 5, 5: 1},
    {23: 2, 21: 1, 16: 1, 15: 1, 13: 4, 11: 3, 8: 1, 6: 2},
)
"""A position with the features of the article's sample 2, whose board it does not show."""


def of_features(boards: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(BRAS.names, features(BRAS, boards).astype(np.float64).T, strict=True))


def switched(boards: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(-boards[:, ::-1])


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """10,000 random positions: up to 15 checkers per side anywhere, including stacks, bars and bearoffs."""
    random = np.random.default_rng(5)
    found: list[np.ndarray] = []
    while len(found) < 10_000:
        board = np.zeros(26, np.int64)
        mine = random.permutation(25)[: random.integers(1, 12)] + 1
        theirs = np.setdiff1d(np.arange(25), mine)[: random.integers(1, 25)]
        np.add.at(board, random.choice(mine, random.integers(0, 16)), 1)
        np.add.at(board, random.choice(theirs, random.integers(0, 16)), -1)
        if first_bad_board(board.astype(np.int8)[None]) < 0:
            found.append(board)
    return as_boards(np.array(found))


def test_the_opening_is_even():
    details = load_evaluator("bras").details(Position.start())
    assert (details["D"], details["S_me"], details["S_op"]) == (0, 50, 50)
    assert set(details["features"].values()) == {0}


def test_the_articles_example():
    """D = -0.1265, S_me = 47.893, S_op = 52.107."""
    details = load_evaluator("bras").details(SAMPLE_2)
    given = {"pip": 0.0427, "blot": -0.0311, "bar": -0.0667, "out": -0.0833, "x1": -0.0111}
    assert {name: round(value, 4) for name, value in details["features"].items() if value} == given
    assert details["D"] == pytest.approx(-0.1265, abs=5e-5)
    assert details["g"] == pytest.approx(np.tanh(-0.1265 / 3), abs=2e-5)
    assert details["S_me"] == pytest.approx(47.893, abs=1e-3)
    assert details["S_op"] == pytest.approx(52.107, abs=1e-3)


def test_scores_are_antisymmetric(boards):
    assert np.abs(ARTICLE.raw_scores(boards) + ARTICLE.raw_scores(switched(boards))).max() <= 1e-12
    chances = load_evaluator("bras").evaluate_many(np.concatenate([boards, switched(boards)]))
    mine, theirs = np.split(chances[:, 0].astype(np.float64), 2)
    assert np.abs(mine + theirs - 1).max() < 1e-6


def test_features_and_scores_keep_their_bounds(boards):
    values = features(BRAS, boards)
    assert np.abs(values).max() <= 1
    share = load_evaluator("bras").evaluate_many(boards)[:, 0]
    assert ((share >= 0) & (share <= 1)).all()


def test_the_evaluator_agrees_with_the_formula(boards):
    chances = load_evaluator("bras").evaluate_many(boards)[:, 0]
    unfinished = (boards > 0).any(axis=1) & (boards < 0).any(axis=1)
    expected = (1 + np.tanh(ARTICLE.raw_scores(boards) / SIGMA)) / 2
    np.testing.assert_allclose(chances[unfinished], expected[unfinished], atol=1e-6)


def test_pips_are_good_and_a_checker_on_the_bar_is_bad(boards):
    """Moving a checker from one stack to another changes only the pip count."""
    for far, near in ((18, 17), (12, 9), (18, 8)):
        fitting = boards[(boards[:, far] >= 3) & (boards[:, far] <= 5) & (boards[:, near] >= 2)]
        fitting = fitting[fitting[:, near] <= 4]
        moved = fitting.copy()
        moved[:, far] -= 1
        moved[:, near] += 1
        assert (ARTICLE.raw_scores(moved) > ARTICLE.raw_scores(fitting)).all()
    # On the bar instead of on a stack: worse, especially against a stronger home board.
    fitting = boards[(boards[:, 24] >= 3) & (boards[:, 24] <= 5)]
    hit = fitting.copy()
    hit[:, 24] -= 1
    hit[:, 25] += 1
    assert len(fitting) > 20
    assert (ARTICLE.raw_scores(hit) < ARTICLE.raw_scores(fitting)).all()


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (
            Position.from_points({25: 15}, {6: 3, 5: 3, 4: 3, 3: 2, 2: 2, 1: 2}),
            {"bar": -1, "hb": -1, "x1": -1, "pip": -(375 - 57) / 375, "prime": -1, "anch": 0, "off": 0},
        ),
        (Position.from_points({}, {6: 15}), {"off": 1, "pip": 90 / 375, "stack": 1, "hb": -1 / 6}),
        (Position.from_points({1: 15}, {1: 15}), {"stack": 0, "hb": 0, "pip": 0, "off": 0}),
        (Position.from_points({24: 15}, {}), {"stack": -1, "anch": 1 / 6, "off": -1, "pip": -360 / 375}),
    ],
    ids=["all on the bar", "all off", "stacks", "all on one point, the opponent off"],
)
def test_edge_cases(position, expected):
    found = {name: column[0] for name, column in of_features(position.board[None]).items()}
    assert {name: pytest.approx(value, abs=1e-6) for name, value in expected.items()} == {
        name: found[name] for name in expected
    }
    assert (
        ARTICLE.raw_scores(position.board[None]) + ARTICLE.raw_scores(position.switch_sides().board[None])
        == 0
    )


def test_weights_of_your_own(tmp_path, boards):
    path = tmp_path / "mine.yaml"
    path.write_text("# cautious\nformat: motif-bras/1\nsigma: 2\nweights:\n  blot: 3.3\n  x2: 0\n")
    formula = read_formula(path)
    assert formula.sigma == 2
    assert dict(formula.weights) == {**ARTICLE_WEIGHTS, "blot": 3.3, "x2": 0}
    found = of_features(boards)
    expected = sum(weight * found[name] for name, weight in formula.weights.items())
    np.testing.assert_allclose(formula.raw_scores(boards), expected, atol=1e-6)
    evaluator = load_evaluator(f"bras:{path}")
    assert evaluator.name == f"bras:{path}"
    details = evaluator.details(SAMPLE_2)
    assert details["D"] == pytest.approx(formula.raw_scores(SAMPLE_2.board[None])[0])
    assert details["S_me"] == pytest.approx(50 + 50 * np.tanh(details["D"] / 2))
    one = evaluator.evaluate(SAMPLE_2).win
    assert one == pytest.approx(details["S_me"] / 100, abs=1e-6)
    assert load_evaluator(f"bras:{path}@1").evaluate(SAMPLE_2).win != one
    path.write_text("format: motif-bras/1\n")
    assert (read_formula(path).raw_scores(boards) == ARTICLE.raw_scores(boards)).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be a mapping with format, sigma and weights, not None"),
        ("weights: {}", "format: missing"),
        ("format: motif-weights/1", "format: must be motif-bras/1"),
        ("format: motif-bras/1\nsigma: 0", "sigma: must be at least 0.001, not 0"),
        ("format: motif-bras/1\nsigma: -3", "sigma: must be at least 0.001, not -3"),
        ("format: motif-bras/1\nsigma: 2.0e-113", "sigma: must be at least 0.001, not 2e-113"),
        ("format: motif-bras/1\nsigma: .inf", "sigma: must be a finite number"),
        (f"format: motif-bras/1\nsigma: 1{400 * '0'}", "sigma: must be a finite number"),
        ("format: motif-bras/1\nsigma: wide", "sigma: must be a number, not 'wide'"),
        (
            "format: motif-bras/1\nweights: {blots: 1}",
            "weights.blots: unknown key; known keys: pip, bar, off",
        ),
        ("format: motif-bras/1\nweights: {blot: .nan}", "weights.blot: must be a finite number"),
        ("format: motif-bras/1\nweights: {blot: 1.0e+9}", "weights.blot: must be a number below 1000"),
        ("format: motif-bras/1\nweights: [1, 2]", "weights: must be a mapping"),
        ("format: motif-bras/1\nweight: {}", "weight: unknown key; known keys: format, sigma, weights"),
        ("format: [", "not YAML"),
    ],
)
def test_files_that_are_refused_by_their_key(tmp_path, text, said):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(MotifError) as refused:
        load_evaluator(f"bras:{path}")
    assert str(refused.value).startswith(f"{path}: {said}")
    assert "\n" not in str(refused.value)


def test_names_that_are_no_scores(tmp_path):
    assert formula_of("bras") is ARTICLE
    with pytest.raises(PlayerError, match="not 'phase'"):
        formula_of("phase")
    with pytest.raises(PlayerError, match="must be followed by the path of a YAML file"):
        load_evaluator("bras:")
    with pytest.raises(MotifError, match="no such file of BRAS weights"):
        load_evaluator(f"bras:{tmp_path / 'none.yaml'}")
