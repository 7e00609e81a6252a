"""Evaluators of one's own: objects, files and scikit-learn models."""

import numpy as np
import pytest

from motif.board.position import Position
from motif.evaluators.named import load_evaluator
from motif.evaluators.own import as_evaluator, from_sklearn
from motif.evaluators.probabilities import equities
from motif.library import rank
from motif.players import as_player
from motif.runtime.errors import PlayerError

FILE = '''
import numpy as np

class Racer:
    """Values pips alone."""

    def evaluate_many(self, boards):
        points = np.arange(26)
        own = np.maximum(boards, 0) @ points
        other = np.maximum(-boards, 0) @ (25 - points)
        return np.tanh((other - own) / 100)
'''


class Lead:
    def __init__(self, shape=()):
        self.shape = shape

    def evaluate_many(self, boards):
        points = np.arange(26)
        own, other = np.maximum(boards, 0) @ points, np.maximum(-boards, 0) @ (25 - points)
        return np.tanh((other - own) / 100)


def test_equities_come_back_as_they_were_given():
    given = np.array([-2.5, -1.0, -0.3, 0.0, 0.7, 1.4, 3.0])

    class Fixed:
        def evaluate_many(self, boards):
            return given

    boards = np.repeat(Position.start().board[None], len(given), axis=0)
    rows = as_evaluator(Fixed()).evaluate_many(boards)
    assert np.allclose(equities(rows.astype(float)), given, atol=1e-6)


def test_a_file_and_an_object_rank_alike(tmp_path):
    path = tmp_path / "my_eval.py"
    path.write_text(FILE)
    by_object = rank("4HPwATDgc/ABMA", "31", player=as_player(Lead()))
    by_file = rank("4HPwATDgc/ABMA", "31", player=str(path))
    assert [play.play for play in by_object.plays] == [play.play for play in by_file.plays]
    assert load_evaluator(f"{path}:Racer@1").plies == 1


def test_what_is_no_evaluator_is_said(tmp_path):
    path = tmp_path / "none.py"
    with pytest.raises(PlayerError, match=r"none\.py: no such file"):
        load_evaluator(str(path))
    path.write_text("x = 1 / 0")
    with pytest.raises(PlayerError, match=r"none\.py: it cannot be run: ZeroDivisionError: division by zero"):
        load_evaluator(str(path))
    path.write_text("x = 1")
    with pytest.raises(PlayerError, match=r"none\.py: no object with a method evaluate_many"):
        load_evaluator(str(path))
    with pytest.raises(PlayerError, match=r"Lead is a class: give an instance, Lead"):
        as_evaluator(Lead)
    with pytest.raises(PlayerError, match=r"or \(n,\) equities, not 3: int has no such method"):
        as_evaluator(3)

    class Wrong:
        def evaluate_many(self, boards):
            return np.full((len(boards), 5), 1.5)

    with pytest.raises(PlayerError, match=r"Wrong: a probability must be 0 to 1, not 1\.5"):
        as_evaluator(Wrong()).evaluate_many(Position.start().board[None])


def test_a_model_of_scikit_learn():
    from sklearn.linear_model import LinearRegression

    rows = np.random.default_rng(1).random((40, 70))
    evaluator = from_sklearn(LinearRegression().fit(rows, rows[:, 0]))
    assert evaluator.name == "LinearRegression"
    assert evaluator.evaluate_many(Position.start().board[None]).shape == (1, 5)
    with pytest.raises(PlayerError, match="it has no method predict"):
        from_sklearn(3)
