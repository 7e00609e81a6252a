"""bgweb-api's clients get the answers of its own server, for the requests in its repository's tests.

Source: https://github.com/foochu/bgweb-api, internal/api/getmoves_test.go and api/openapi.yaml.
"""

import jsonschema
import pytest

PATH = "/api/v1/getmoves"
START = {"6": 5, "8": 3, "13": 5, "24": 2}
OPENING = {
    "board": {"x": START, "o": START},
    "dice": [3, 1],
    "player": "x",
    "max-moves": 9,
    "score-moves": True,
    "cubeful": False,
}


def asked(client, **changes):
    """The moves, checked against the schema."""
    answer = client.post(PATH, json={**OPENING, **changes})
    assert answer.status_code == 200, answer.text
    schema = client.get("/openapi.json").json()
    described = schema["paths"][PATH]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), {**described, "components": schema["components"]})
    return answer.json()


@pytest.mark.parametrize("cubeful", [False, True])
def test_scored_moves_of_the_opening(client, cubeful):
    moves = asked(client, cubeful=cubeful)
    assert len(moves) == 9
    for move in moves:
        assert set(move) == {"play", "evaluation"}
        evaluation = move["evaluation"]
        assert set(evaluation) == {"info", "eq", "diff", "probability"}
        assert evaluation["info"] == {"cubeful": cubeful, "plies": 1}
        assert set(evaluation["probability"]) == {"win", "winG", "winBG", "lose", "loseG", "loseBG"}
        assert evaluation["probability"]["win"] + evaluation["probability"]["lose"] == pytest.approx(1)
        numbers = [evaluation["eq"], evaluation["diff"], *evaluation["probability"].values()]
        assert all(number == round(number, 3) for number in numbers)
        assert all(type(step[key]) is str for step in move["play"] for key in ("from", "to"))
    diffs = [move["evaluation"]["diff"] for move in moves]
    assert diffs[0] == 0
    assert diffs == sorted(diffs, reverse=True)


def test_moves_without_scores(client):
    moves = asked(client, **{"score-moves": False})
    assert len(moves) == 9
    assert all(set(move) == {"play"} for move in moves)
    assert len(asked(client, **{"score-moves": False, "max-moves": 0})) == 16


def test_entering_from_the_bar(client):
    board = {
        "o": {"6": 5, "8": 4, "13": 4, "15": 1, "24": 1},
        "x": {"6": 5, "7": 2, "8": 3, "13": 2, "24": 2, "bar": 1},
    }
    moves = asked(client, board=board, dice=[6, 1], **{"score-moves": False})
    expected = {(("bar", "24"), rest) for rest in (("24", "18"), ("13", "7"), ("8", "2"), ("7", "1"))}
    assert {tuple((step["from"], step["to"]) for step in move["play"]) for move in moves} == expected


def test_bearing_off(client):
    moves = asked(client, board={"x": {"1": 1}, "o": {"2": 1}}, dice=[6, 1], **{"score-moves": False})
    assert moves == [{"play": [{"from": "1", "to": "off"}]}]


def test_o_on_roll_saves_the_gammon(judge):
    """As in the recorded answer, seven moves lose one point, the next ones two."""
    board = {"x": {"1": 1}, "o": {"1": 4, "2": 3, "3": 1, "4": 2, "5": 2, "6": 3}}
    moves = asked(judge, board=board, dice=[4, 1], player="o")
    assert [move["evaluation"]["eq"] for move in moves] == [-1] * 7 + [-2] * 2
    assert moves[0]["evaluation"]["probability"] == {
        "win": 0, "winG": 0, "winBG": 0, "lose": 1, "loseG": 0, "loseBG": 0,
    }  # fmt: skip


def test_nothing_to_move(client):
    closed = {str(point): 2 for point in range(1, 7)}
    assert asked(client, board={"x": {"6": 2, "bar": 1}, "o": closed}) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"dice": [0, 1]},
        {"dice": [3]},
        {"player": "z"},
        {"board": {"x": START}},
        {"board": {"x": {"6": 16}, "o": START}},
        {"board": {"x": {"6": -1}, "o": START}},
        {"board": {"x": {"6": 2}, "o": {"19": 2}}},
        {"board": {"x": {}, "o": {}}},
    ],
)
def test_bad_requests(client, changes):
    answer = client.post(PATH, json={**OPENING, **changes})
    assert answer.status_code == 400
    assert "\n" not in answer.json()["message"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"board": {"x": {**START, "26": 1}, "o": START}}, "board.x.26: unknown field"),
        ({"board": {"x": START, "o": START, "z": {}}}, "board.z: unknown field"),
        ({"max_moves": 3}, "max_moves: unknown field; did you mean 'max-moves'?"),
    ],
)
def test_unknown_fields_are_named(client, changes, said):
    answer = client.post(PATH, json={**OPENING, **changes})
    assert (answer.status_code, answer.json()["message"]) == (400, said)
