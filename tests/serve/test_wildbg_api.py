"""wildbg's clients get the answers of its own server: fields, types, order, messages.

The requests and messages are those of the tests of https://github.com/carsten-wenderdel/wildbg,
crates/web/src/axum.rs.
"""

import jsonschema
import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position

OPENING = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2"
CHANCES = {"win", "winG", "winBg", "loseG", "loseBg"}


def checked(client, path, answer):
    """The answer's document, checked against both schemas."""
    for place in ("/openapi.json", "/api-docs/openapi.json"):
        schema = client.get(place).json()
        described = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        document = answer.json()
        jsonschema.validate(document, {**described, "components": schema["components"]})
    assert answer.headers["content-type"] == "application/json"
    return document


def test_moves_of_the_opening(client):
    answer = client.get(f"/move?die1=3&die2=1&{OPENING}")
    document = checked(client, "/move", answer)
    assert set(document) == {"moves"}
    assert len(document["moves"]) == len(legal_plays(Position.start(), (3, 1)))
    for move in document["moves"]:
        assert set(move) == {"play", "probabilities"}
        assert set(move["probabilities"]) == CHANCES
        assert all(type(chance) is float and 0 <= chance <= 1 for chance in move["probabilities"].values())
        for step in move["play"]:
            assert set(step) == {"from", "to"}
            assert type(step["from"]) is int
            assert step["from"] - step["to"] in (1, 3)


def test_dice_may_come_in_any_order(client):
    one, other = (client.get(f"/move?{dice}&{OPENING}").json() for dice in ("die1=3&die2=1", "die2=3&die1=1"))
    assert one == other


def test_a_forced_move(client):
    """Single steps in order; nothing is borne off."""
    document = client.get("/move?die1=3&die2=1&p5=1&p24=-1").json()
    assert [len(move["play"]) for move in document["moves"]] == [2]
    steps = document["moves"][0]["play"]
    assert steps[0]["from"] == 5
    assert steps[0]["to"] == steps[1]["from"]
    assert steps[1]["to"] == 1


def test_a_double_has_its_three_results(client):
    document = client.get("/move?die1=1&die2=1&p5=2&p24=-1").json()
    assert sorted(len(move["play"]) for move in document["moves"]) == [4, 4, 4]


def test_the_bar_is_25_and_off_is_0(client):
    entering = client.get("/move?die1=2&die2=1&p25=1&p6=5&p1=-2&p12=-5").json()
    assert all(move["play"][0]["from"] == 25 for move in entering["moves"])
    bearing_off = client.get("/move?die1=6&die2=6&p6=4&p1=1&p24=-1").json()
    assert {step["to"] for step in bearing_off["moves"][0]["play"]} == {0}


def test_a_dance_is_one_move_without_steps(client):
    closed = "&".join(f"p{point}=-2" for point in range(19, 25))
    document = client.get(f"/move?die1=3&die2=1&p25=1&p6=2&{closed}").json()
    assert [move["play"] for move in document["moves"]] == [[]]


def test_evaluation_of_the_opening(client):
    document = checked(client, "/eval", client.get(f"/eval?{OPENING}"))
    assert set(document) == {"cube", "probabilities"}
    assert document["cube"]["double"] is False
    assert document["cube"]["accept"] is True
    assert set(document["probabilities"]) == CHANCES


def test_a_match_may_change_the_decision(client):
    """A trailer doubles at once after the Crawford game."""
    score = f"{OPENING}&x_away=2&o_away=1"
    assert client.get(f"/eval?{OPENING}").json()["cube"]["double"] is False
    assert client.get(f"/eval?{score}").json()["cube"]["double"] is True
    assert client.get(f"/eval?{score}&crawford=true").json()["cube"]["double"] is False


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "/eval?p0=1&p4=4&p5=-5",
            "Index 0 is the bar for player o, number of checkers needs to be negative.",
        ),
        ("/move?die1=2&die2=0&p4=4&p5=-5", "Dice values must be between 1 and 6."),
        (
            "/move?die1=2&die2=1&p4=4&p5=-5&p25=-2",
            "Index 25 is the bar for player x, number of checkers needs to be positive.",
        ),
        ("/move?die1=2&die2=1&p4=16", "Player x has more than 15 checkers on the board."),
        ("/move?die1=2&die2=1&p4=-16", "Player o has more than 15 checkers on the board."),
    ],
)
def test_bad_positions_and_dice(client, query, message):
    answer = client.get(query)
    assert (answer.status_code, answer.json()) == (400, {"message": message})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("/move", "missing field `die1`"),
        ("/move?die1=3", "missing field `die2`"),
        ("/move?die1=x&die2=1", "die1: invalid digit found in string"),
        ("/eval?p3=-%2B5", "p3: invalid digit found in string"),
        (f"/eval?p3=-{'9' * 20}", "p3: number too small to fit in target type"),
        (f"/eval?p3={'9' * 20}", "p3: number too large to fit in target type"),
        ("/move?die1=3&die2=1&p3=1000", "p3: number too large to fit in target type"),
        ("/eval?p3=-1000", "p3: number too small to fit in target type"),
        ("/eval?p3=1&p3=1", "duplicate field `p3`"),
        ("/eval?p3=1&crawford=true&crawford=false", "duplicate field `crawford`"),
    ],
)
def test_bad_queries_are_answered_in_plain_text(client, query, message):
    answer = client.get(query)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == f"Failed to deserialize query string: {message}"


def test_an_away_score_of_neither_player_is_refused(client):
    assert client.get(f"/eval?{OPENING}&x_away=3").status_code == 400
    assert client.get(f"/eval?{OPENING}&x_away=99&o_away=1").status_code == 400
