"""Evaluators of your own: objects, files and scikit-learn models."""

import re

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.contests import play_matches, play_money_games, play_tournament
from motif.evaluators.known_players import load_evaluator
from motif.evaluators.own import as_evaluator, from_sklearn
from motif.evaluators.probabilities import OUTPUTS, equities
from motif.library import load_evaluator as load_evaluator_of
from motif.library import rank
from motif.players import Player, load_player
from motif.runtime.errors import PlayerError
from motif.sampling.dataset import Dataset, labelled
from tests.games import some_boards

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


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (np.float32([1.0000001, 0, 0, 0, 0]), [1, 0, 0, 0, 0]),
        (np.array([0.5, -1e-9, -1e-12, 0, 0]), [0.5, 0, 0, 0, 0]),
        (3.0000002, [1, 1, 1, 0, 0]),
        (-3.0000002, [0, 0, 0, 1, 1]),
    ],
)
def test_rounding_is_no_fault(given, meant):
    class Rounded:
        def evaluate_many(self, boards):
            return np.array([given] * len(boards))

    rows = as_evaluator(Rounded()).evaluate_many(Position.start().board[None])
    assert rows.tolist() == [meant]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1.00200001, 0, 0, 0, 0], "win must be 0 to 1, not 1.00200001"),
        ([-0.002, 0, 0, 0, 0], "win must be 0 to 1, not -0.002"),
        ([float("nan"), 0, 0, 0, 0], "win must be 0 to 1, not nan"),
        (3.0020001, "an equity must be -3 to 3, not 3.0020001"),
        (float("nan"), "an equity must be -3 to 3, not nan"),
        (0.5j, "evaluate_many must return (n, 5) probabilities or (n,) equities, not complex numbers"),
    ],
)
def test_other_values_are_refused_with_their_digits(given, said):
    class Outside:
        def evaluate_many(self, boards):
            return np.array([given] * len(boards))

    with pytest.raises(PlayerError) as refused:
        as_evaluator(Outside()).evaluate_many(Position.start().board[None])
    assert str(refused.value) == f"Outside: {said}"


def test_a_file_and_an_object_rank_alike(tmp_path):
    path = tmp_path / "my_eval.py"
    path.write_text(FILE)
    by_object = rank("4HPwATDgc/ABMA", "31", player=load_player(Lead()))
    by_file = rank("4HPwATDgc/ABMA", "31", player=str(path))
    assert [play.play for play in by_object.plays] == [play.play for play in by_file.plays]
    assert load_evaluator(f"{path}:Racer@1").plies == 1


def test_an_invalid_evaluator_is_reported(tmp_path):
    path = tmp_path / "none.py"
    with pytest.raises(PlayerError, match=r"none\.py: no such file"):
        load_evaluator(str(path))
    path.write_text("x = 1 / 0")
    with pytest.raises(
        PlayerError, match=r"none\.py: the file cannot be executed: ZeroDivisionError: division by zero"
    ):
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

    with pytest.raises(PlayerError, match=r"Wrong: win must be 0 to 1, not 1\.5"):
        as_evaluator(Wrong()).evaluate_many(Position.start().board[None])

    class Gammons:
        def evaluate_many(self, boards):
            return np.tile([0.1, 0.9, 0, 0, 0], (len(boards), 1))

    with pytest.raises(PlayerError, match=r"Gammons: win_gammon must be at most win, not 0\.9"):
        as_evaluator(Gammons()).evaluate_many(Position.start().board[None])


LEAVER = """
import sys
def leave(where):
    if where == "{where}":
        sys.exit(0)
class Leaver:
    def __init__(self): leave("constructor")
    def evaluate_many(self, boards): leave("method")
leave("file")
"""


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("file", "the file cannot be executed: SystemExit: 0"),
        ("constructor", "Leaver() failed: SystemExit: 0"),
        ("method", "evaluate_many failed: SystemExit: 0"),
    ],
)
def test_a_file_that_exits_is_an_error(tmp_path, where, said):
    path = tmp_path / "leaver.py"
    path.write_text(LEAVER.format(where=where))
    with pytest.raises(PlayerError, match=re.escape(f"{path}: {said}")):
        load_evaluator(str(path)).evaluate_many(Position.start().board[None])


@pytest.mark.parametrize("scaled", [True, False])
def test_a_model_has_the_features_of_the_dataset(scaled):
    """`Dataset.X` and `from_sklearn` measure the same parameters, in the same scale."""
    data = Dataset.from_frame(
        {"position": ["4HPwATDgc/ABMA", "dPexAAB07zMAAA"], **{name: [0.5, 0.25] for name in OUTPUTS}}
    )
    seen = []

    class Model:
        def predict(self, rows):
            seen.append(rows)
            return rows[:, 0] * 0

    from_sklearn(Model(), "keith", scaled=scaled).evaluate_many(data.boards)
    np.testing.assert_array_equal(seen[-1], data.X("keith", scaled=scaled))


def test_models_of_scikit_learn():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.linear_model import LinearRegression, LogisticRegression

    data = Dataset.from_frame(
        {
            "position": ["4HPwATDgc/ABMA", "dPexAAB07zMAAA", "sGfwATDgc/ABMA"],
            "win": [0.9, 0.1, 0.4],
            **{name: [0.1, 0.05, 0.1] for name in OUTPUTS[1:]},
        }
    )
    rows, start = data.X("keith"), data.boards[:1]
    of_equity = from_sklearn(LinearRegression().fit(rows, data.y()), "keith")
    assert of_equity.name == "LinearRegression"
    assert equities(of_equity.evaluate_many(start).astype(float))[0] == pytest.approx(data.y()[0], abs=1e-4)
    of_chances = from_sklearn(LinearRegression().fit(rows, data.y("probabilities")), "keith", "mine")
    assert of_chances.name == "mine"
    np.testing.assert_allclose(of_chances.evaluate_many(start)[0], data.probabilities[0], atol=1e-4)
    wins = LogisticRegression().fit(rows, data.y("win") > 0.5)
    classifier = from_sklearn(wins, "keith")
    assert classifier.evaluate_many(start)[0, 0] == pytest.approx(wins.predict_proba(rows[:1])[0, 1])
    with pytest.raises(PlayerError, match="was fitted to 19 columns, but the parameters motif"):
        from_sklearn(LinearRegression().fit(rows, data.y()))
    of_wins = from_sklearn(LinearRegression().fit(rows, data.y("win")), "keith", target="win")
    assert of_wins.evaluate_many(start)[0, 0] == pytest.approx(data.y("win")[0], abs=1e-4)
    with pytest.raises(PlayerError, match="LinearRegression instance is not fitted yet"):
        from_sklearn(LinearRegression())
    with pytest.raises(
        PlayerError, match=r"LogisticRegression must have two classes, loss and win: .*\(3,\)"
    ):
        from_sklearn(LogisticRegression().fit(rows, [0, 1, 2]), "keith")
    with pytest.raises(PlayerError, match=r"LogisticRegression is a model, .* with motif\.from_sklearn"):
        as_evaluator(wins)
    with pytest.raises(PlayerError, match=r"^3 is not a fitted estimator: it has no method predict$"):
        from_sklearn(3)
    with pytest.raises(PlayerError, match=r"^LinearRegression is a class: give an instance that is fitted$"):
        from_sklearn(LinearRegression)


@pytest.mark.parametrize("labels", [[False, True, True], [0, 1, 1], ["loss", "win", "win"]], ids=str)
def test_a_classifier_without_probabilities_is_refused(labels):
    """Its classes 0 and 1 are no equities."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = Dataset.from_frame(
        {
            "position": ["4HPwATDgc/ABMA", "dPexAAB07zMAAA", "sGfwATDgc/ABMA"],
            **{name: [0.1, 0.05, 0.1] for name in OUTPUTS},
        }
    ).X("keith")
    model = make_pipeline(StandardScaler(), RidgeClassifier()).fit(rows, labels)
    for one, name in ((model, "Pipeline"), (model[-1], "RidgeClassifier")):
        with pytest.raises(PlayerError, match=f"^{name} predicts classes without probabilities: it has no"):
            from_sklearn(one, "keith")


@pytest.mark.filterwarnings("error")
def test_a_model_of_a_data_frame_is_given_its_columns():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pandas = pytest.importorskip("pandas")
    from sklearn.linear_model import Ridge

    boards = some_boards("pubeval", 60, seed=7)
    data = labelled(boards, load_evaluator("keith-v1").evaluate_many(boards))
    names = data.feature_names("keith")
    table = pandas.DataFrame(data.X("keith"), columns=names)
    expected = from_sklearn(Ridge().fit(data.X("keith"), data.y()), "keith").evaluate_many(boards)
    for order in (names, names[::-1]):
        evaluator = from_sklearn(Ridge().fit(table[order], data.y()), "keith")
        np.testing.assert_allclose(evaluator.evaluate_many(boards), expected, atol=1e-4)
    two = [names[5], names[2]]
    evaluator = from_sklearn(Ridge().fit(table[two], data.y()), "keith")
    own = Ridge().fit(table[two].to_numpy(), data.y()).predict(table[two].to_numpy())
    equities = evaluator.evaluate_many(boards).astype(float) @ [2, 1, 1, -1, -1] - 1
    over = abs(load_evaluator("keith-v1").equity_many(boards)) >= 1
    np.testing.assert_allclose(equities[~over], own[~over], atol=1e-4)
    with pytest.raises(PlayerError, match="Ridge was fitted to the column 'pips', which is none of the par"):
        from_sklearn(Ridge().fit(table.rename(columns={names[0]: "pips"}), data.y()), "keith")


def test_an_object_that_only_predicts_probabilities():
    class Even:
        def predict_proba(self, rows):
            return np.full((len(rows), 2), 0.5)

    assert from_sklearn(Even()).evaluate("4HPwATDgc/ABMA").equity == 0


def test_an_object_looks_ahead():
    ahead = load_evaluator_of(Lead(), plies=1)
    assert ahead.plies == 1
    assert ahead.evaluate("4HPwATDgc/ABMA").win > 0.4
    with pytest.raises(PlayerError, match="'Lead@1' already looks ahead"):
        load_evaluator_of(ahead, plies=1)


PLAYER_FILE = """
import numpy as np
import motif

class Runner(motif.Player):
    def choose_many(self, boards, rolls, states):
        return np.array([motif.legal_plays(*pair)[0].position.board for pair in zip(boards, rolls)])
"""


def test_a_player_that_chooses_is_loaded_from_a_file(tmp_path):
    path = tmp_path / "runner.py"
    path.write_text(PLAYER_FILE)
    for name in (path, f"{path}:Runner"):
        player = load_player(name)
        assert (player.name, player.evaluator) == (str(name), None)
        assert player.choose("4HPwATDgc/ABMA", "31") == legal_plays("4HPwATDgc/ABMA", "31")[0]
        with pytest.raises(PlayerError, match=r"^the player '.*' chooses plays but cannot evaluate pos"):
            load_evaluator(str(name))
        with pytest.raises(
            PlayerError, match=r"^the player '.*@1' chooses|^the player '.*' chooses plays but"
        ):
            load_player(f"{name}@1")
    # Workers load the file again.
    assert play_money_games(str(path), "random", 20, jobs=2) == play_money_games(path, "random", 20, jobs=1)
    assert play_matches(path, "random", 2, length=1, jobs=1).matches == 2
    assert play_tournament([path, "random"], 2, jobs=1).names == (str(path), "random")


def test_a_class_and_its_only_object_are_one(tmp_path):
    path = tmp_path / "racer.py"
    path.write_text(FILE + "\nevaluator = Racer()\n")
    assert load_evaluator(str(path)).name == str(path)
    path.write_text(FILE + "\none, other = Racer(), Racer()\n")
    with pytest.raises(PlayerError, match=r"several objects with a method evaluate_many; .*: one, other$"):
        load_evaluator(str(path))
    path.write_text(FILE + "\nclass Other(Racer):\n    pass\n\nmine = Other()\n")
    with pytest.raises(PlayerError, match=r"several objects with a method evaluate_many; .*: Racer, mine$"):
        load_evaluator(str(path))
    assert load_evaluator(f"{path}:Racer").name == f"{path}:Racer"


def test_an_exception_in_choose_many_names_the_player():
    class Broken(Player):
        def choose_many(self, boards, rolls, states):
            raise KeyError("x")

    class Ragged(Player):
        def choose_many(self, boards, rolls, states):
            return [[1, 2], [3]]

    with pytest.raises(PlayerError, match=r"^Broken: choose_many failed: KeyError: 'x'$"):
        Broken().choose("4HPwATDgc/ABMA", "31")
    with pytest.raises(PlayerError, match=r"^Ragged: choose_many failed: ValueError: "):
        play_money_games(Ragged(), "random", 2, jobs=1)
