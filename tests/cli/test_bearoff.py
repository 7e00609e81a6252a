"""The command bearoff."""

import pytest

from motif.board.identifiers import gnubg_id
from motif.board.position import Position
from motif.evaluators import OUTPUTS
from motif.evaluators.bearoff import bearoff_chances, race_distribution

FEW = Position.from_points({6: 2, 1: 3}, {5: 4, 2: 1})
GAMMON = Position.from_points({1: 2, 2: 2}, {6: 10, 5: 5})
ONE_SIDE = Position.from_points({1: 2, 2: 2}, {6: 10, 8: 5})
OVER = Position.from_points({}, {6: 10, 5: 5})


@pytest.mark.parametrize(("position", "exact"), [(FEW, True), (GAMMON, False)])
def test_both_sides_and_their_probabilities(motif_json, position, exact):
    record = motif_json("bearoff", gnubg_id(position))
    chances = bearoff_chances(position)
    assert tuple(record[name] for name in OUTPUTS) == chances.probabilities
    assert record["equity"] == chances.probabilities.equity
    assert record["exact"] == chances.exact == exact
    assert record["position"] == gnubg_id(position)
    for name, seen in (("player_on_roll", position), ("opponent", position.switch_sides())):
        race = race_distribution(seen)
        assert record[name] == {
            "mean": race.mean,
            "sd": race.sd,
            "all_off": race.all_off.tolist(),
            "first_off": race.first_off.tolist(),
        }


@pytest.mark.parametrize("position", [ONE_SIDE, ONE_SIDE.switch_sides()])
def test_one_side_alone_has_no_probabilities(motif_json, motif, position):
    record = motif_json("bearoff", gnubg_id(position))
    at_home = "player_on_roll" if position is ONE_SIDE else "opponent"
    assert {name for name in ("player_on_roll", "opponent") if record[name]} == {at_home}
    assert "win" not in record
    text = motif("bearoff", gnubg_id(position)).out
    assert "standard deviation" in text
    assert "wins" not in text


def test_people_see_a_board_and_a_table(motif):
    ending = motif("bearoff", gnubg_id(FEW))
    assert (ending.code, ending.err) == (0, "")
    assert max(map(len, ending.out.splitlines())) <= 80
    assert "+13-14-15-16-17-18------19-20-21-22-23-24-+" in ending.out
    lines = [line.split() for line in ending.out.splitlines()]
    assert ["3", "rolls", "64.14", "%", "32.98", "%"] in lines
    assert ["mean", "3.269", "3.672"] in lines
    assert "wins 82.676 %, equity +0.6535 (exact)" in ending.out
    text = motif("bearoff", gnubg_id(GAMMON)).out
    assert "wins 100.000 %, gammons 33.025 %, loses gammons 0.000 %, equity +1.3302" in text
    assert "each side minimising its number of rolls" in text


def test_without_a_position_the_tables_are_described(motif_json, motif):
    record = motif_json("bearoff")
    assert record["one_sided_positions"] == 54264
    assert record["two_sided_positions"] == 924 * 924
    assert record["bytes"] < 15e6
    assert record["seconds"] >= 0
    text = motif("bearoff").out
    assert "54,264" in text
    assert record["file"] in text


def test_the_example_works(motif):
    assert motif("bearoff", motif("bearoff", "--help").out.split("motif bearoff ")[2].split()[0]).code == 0


@pytest.mark.parametrize(
    ("position", "said"),
    [
        (
            Position.start(),
            "no bearoff: the player on roll: checkers on 8, 13, 24 are outside the home board; "
            "the opponent: checkers on 8, 13, 24 are outside the home board",
        ),
        (
            Position.from_points({6: 2}, {25: 1, 6: 1}),
            "no bearoff: the player on roll: the opponent has checkers behind, and may hit or block; "
            "the opponent: checkers on the bar are outside the home board",
        ),
        (OVER, "no bearoff: the game is over"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_other_positions_than_bearoffs_get_a_one_line_error(motif, position, said, options):
    assert motif("bearoff", gnubg_id(position), *options) == (2, "", f"motif: error: {said}\n")
