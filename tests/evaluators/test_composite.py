"""Compositions: each position goes to the evaluator for its class."""

import numpy as np
import pytest

import motif
from motif.board.packed import pack_many
from motif.cli.main import main
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.composite import CompositeEvaluator
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import load
from motif.runtime.errors import PlayerError
from tests.games import some_boards, some_decisions

PARTS = {"race": "motif-v1", "contact": "pubeval", "crashed": "motif-v1"}
NAME = "composite:" + ",".join(f"{one}={player}" for one, player in PARTS.items())


def test_each_class_has_its_evaluator():
    boards = some_boards("motif-v1", 300, 3)
    codes = classify_many(pack_many(boards))
    assert len(np.unique(codes)) == len(CLASS_NAMES)
    composite = load_evaluator(NAME)
    for code, class_name in enumerate(CLASS_NAMES):
        rows, part = codes == code, load_static(PARTS[class_name])
        assert (composite.evaluate_many(boards)[rows] == part.evaluate_many(boards[rows])).all()
        assert (composite.equity_many(boards)[rows] == part.equity_many(boards[rows])).all()


def test_crashed_positions_count_as_contact_by_default():
    boards = some_boards("motif-v1", 300, 3)
    two, three = (
        load_evaluator(f"composite:race=bras,contact=simple{more}") for more in ("", ",crashed=simple")
    )
    assert (two.evaluate_many(boards) == three.evaluate_many(boards)).all()


def test_of_one_evaluator_it_is_that_evaluator():
    """This includes choices and lookahead, although these use other code."""
    boards, rolls = some_decisions("motif-v1", 60, 8)
    states = np.zeros(len(boards), np.uint64)
    same = load("composite:race=motif-v1,contact=motif-v1")
    expected = load("motif-v1").choose_many(boards, rolls, states)
    assert (same.choose_many(boards, rolls, states) == expected).all()
    ahead = load_evaluator("composite:race=motif-v1,contact=motif-v1@1:full")
    assert ahead.plies == 1
    assert ahead.equity_many(boards[:5]) == pytest.approx(
        load_evaluator("motif-v1@1:full").equity_many(boards[:5]), abs=1e-5
    )


def test_it_is_a_player_everywhere():
    assert motif.rank("4HPwATDgc/ABMA", "31", player=NAME).player == NAME
    assert motif.play_money_games(NAME, "random", games=4, seed=1, jobs=1).games == 4
    assert CompositeEvaluator({one: load_static(name) for one, name in PARTS.items()}).name == NAME


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("composite:", "invalid part '': the composition must be composite:race=PLAYER,contact=PLAYER[,"),
        (
            "composite:race=" * 400 + "bras,contact=bras",
            f"invalid part 'race={'composite:race=' * 5}'...: a composition cannot be part of another",
        ),
        ("composite:race=bras", "the composition needs an evaluator for contact: composite:race="),
        (
            "composite:crashed=bras",
            "the composition needs an evaluator for contact and race: composite:race=PLAYER,contact=PLAYER[",
        ),
        ("composite:race=bras,contact=", "invalid part 'contact='"),
        ("composite:rase=bras,contact=bras", "no position class is called 'rase'; did you mean 'race'?"),
        ("composite:race=bras,race=bras", "'composite:race=bras,race=bras' names race twice"),
        ("composite:race=nobody,contact=bras", "no player is called 'nobody'"),
        ("composite:race=random,contact=bras", "the player 'random' has no values"),
    ],
)
def test_invalid_compositions(name, message, capsys):
    with pytest.raises(PlayerError) as error:
        load(name)
    assert str(error.value).startswith(message)
    assert main(["evaluate", "4HPwATDgc/ABMA", "--player", name]) == 2
    assert capsys.readouterr().err.count("\n") == 1
