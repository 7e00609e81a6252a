import pytest

from motif.board.position import Position
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.known_players import default_player, shipped_weights

SHIPPED = ("keith-v0", "keith-v1", "motif-v0", "motif-v1", default_player())


def test_versions_are_in_order():
    names = [name for name in shipped_weights() if name in SHIPPED]
    assert names == list(SHIPPED)


def test_every_file_in_weights_loads_by_its_short_name_and_says_the_same():
    assert set(SHIPPED) <= set(shipped_weights())
    for name, path in shipped_weights().items():
        evaluator = load_static(name)
        assert evaluator.name == name
        assert evaluator.weights.name == name
        assert evaluator.evaluate(Position.start()) == load_static(str(path)).evaluate(Position.start())


def test_short_names_look_ahead_too():
    assert load_evaluator("keith-v1@1").name == "keith-v1@1"


def test_the_newest_motif_is_the_default_player():
    assert default_player() == max(
        (name for name in SHIPPED if name.startswith("motif")), key=lambda name: int(name.rpartition("v")[2])
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_the_starting_position_has_about_the_usual_value(name):
    # gnubg's 0-ply: .5215; later engines have about the same.
    assert load_static(name).evaluate(Position.start()).win == pytest.approx(0.52, abs=0.03)
