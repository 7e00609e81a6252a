"""The tutor of `motif play`: its warnings, its texts and its counts."""

import json
import re

import pytest
import typer

from motif.board.match_file import read_match
from motif.cli.options import optional_value
from motif.players import load
from tests.short_rollouts import shorten_rollouts

OPPONENT = ("pubeval", "--seed", "2027")
"""PubEval begins with 54, and 43 is to be played: 24/20 13/10* is good, 6/3 6/2 a blunder."""
TUTOR = ("--tutor", "motif-v1")


def cost(notation: str) -> float:
    """The cost of a play by motif-v1 with a centred cube, computed independently of the tutor."""
    from motif.board.match_state import MatchState
    from motif.board.moves import legal_plays
    from motif.board.position import Position
    from motif.doubling import DEFAULT_EFFICIENCY, cubeful_equities

    evaluator = load("motif-v1").evaluator
    opening = next(play for play in legal_plays(Position.start(), (5, 4)) if play.notation == "24/15")
    plays = legal_plays(opening.position, (4, 3))
    state = MatchState(jacoby=True)
    chances = [evaluator.evaluate(play.position) for play in plays]
    values = -cubeful_equities(chances, state, DEFAULT_EFFICIENCY.contact)
    worth = dict(zip((play.notation for play in plays), values.tolist(), strict=True))
    return max(worth.values()) - worth[notation]


def test_a_blunder_is_objected_to_and_taken_back(typing):
    out = typing(["", "6/3 6/2", "no", "24/20 13/10*"], *OPPONENT, *TUTOR).out
    said = re.search(
        r"motif-v1: that costs (\d\.\d{3}) points; 24/20 13/10\* is better\.\nPlay it anyway\? \[", out
    )
    assert float(said[1]) == pytest.approx(cost("6/3 6/2"), abs=6e-4)
    assert "human rolled 43 and plays 24/20 13/10*." in out
    assert "human rolled 43 and plays 6/3 6/2." not in out
    assert out.count("that costs") == 1


def test_a_deliberate_blunder(typing):
    out = typing(["", "6/3 6/2", "perhaps", "yes"], *OPPONENT, *TUTOR).out
    assert "please type one of: yes, no, why" in out
    assert "human rolled 43 and plays 6/3 6/2." in out
    assert f"{cost('6/3 6/2'):.3f} points lost per decision; 1 play (" in out


def test_the_tutor_says_why(typing):
    out = typing(["", "6/3 6/2", "why", "no"], *OPPONENT, *TUTOR).out
    assert re.search(r"24/20 13/10\* is better than 6/3 6/2 by \d\.\d{3} points\.", out)
    figures = typing(["", "6/3 6/2", "w", "n"], *OPPONENT, "--tutor", "pubeval").out
    assert re.search(r"wins +gammons +loses gammons\n  24/20 13/10\* +\d\d\.\d % ", figures)


@pytest.mark.parametrize(("limit", "objects"), [("0.01", True), ("3", False)])
def test_the_limit(typing, limit, objects):
    out = typing(["", "6/3 6/2"], *OPPONENT, *TUTOR, "--tutor-limit", limit).out
    assert ("that costs" in out) == objects


def test_wrong_cube_actions_are_objected_to(typing, tmp_path):
    path = tmp_path / "a.mat"
    out = typing(["double", "why", "no", "", "17"], *OPPONENT, *TUTOR, "--save", path).out
    assert re.search(r"motif-v1: doubling costs \d\.\d{3} points\.\nDouble anyway\? \[yes, no, why", out)
    assert re.search(r"A .* no double: doubling costs \d\.\d{3}\.", out)
    assert "human doubles" not in out
    assert len(read_match(path).games[0].actions) >= 2
    people = ("human", "human", "--names", "Ann,Bob", "--seed", "7", "--hint-player", "motif-v1", *TUTOR)
    out = typing(["1", "yes", "double", "yes", "pass", "no", "take"], *people, "--tutor-limit", "0.1").out
    assert re.search(r"motif-v1: passing costs \d\.\d{3} points\.\nPass anyway\? \[", out)
    assert " takes.\n" in out


@pytest.mark.parametrize("lines", [["double", "yes"], ["1", "yes", "double", "yes", "beaver"]])
def test_the_sum_counts_a_double_as_the_warning_did(typing, lines):
    """Also where beavers make a wrong double more expensive."""
    players = ["motif-v1"] if len(lines) == 2 else ["human", "human"]
    out = typing([*lines, "quit", "no"], *players, *TUTOR, "--beavers", "--seed", "3").out
    (warned,) = re.findall(r"doubling costs (\d\.\d{3}) points", out)
    assert f"1 cube decision ({warned} lost)" in out
    if len(players) == 2:
        assert "human 2, " in out
        assert "1 cube decision (0.000 lost)" in out


def test_what_was_taken_back_does_not_count(typing):
    lines = ["", "6/3 6/2", "yes", "undo", "24/20 13/10*"]
    out = typing(lines, *OPPONENT, *TUTOR).out
    assert "human, judged by motif-v1: 0.000 points lost per decision; 1 play (0.000 lost)." in out


def test_json_has_the_errors_of_persons(typing):
    lines = ["", "6/3 6/2", "yes", "quit", "no"]
    ending = typing(lines, *OPPONENT, *TUTOR, "--json")
    ((name, errors),) = json.loads(ending.out)["errors"].items()
    assert name == "human"
    assert errors["chequer"]["decisions"] == 1
    assert errors["chequer"]["lost"] == pytest.approx(cost("6/3 6/2"), abs=1e-5)
    assert errors["chequer"]["per_decision"] == errors["chequer"]["lost"]
    # No player would have doubled: not a decision, as gnubg counts.
    assert errors["cube"] == {"decisions": 0, "lost": 0, "per_decision": None}
    assert errors["overall"] == errors["chequer"]


def test_without_the_cube_only_plays_count(typing):
    out = typing(["6/3 6/2", "yes"], *OPPONENT, *TUTOR, "--no-cube").out
    assert "; 1 play (" in out
    assert "cube decision" not in out


def test_the_tutor_needs_no_name(typing, monkeypatch):
    shorten_rollouts(monkeypatch)
    out = typing(["", "6/3 6/2", "no"], *OPPONENT, "--tutor").out
    assert re.search(r"motif-v\d+@2: that costs", out)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (["--tutor"], "somebody"),
        (["--tutor", "--other", "1"], "somebody"),
        (["--tutor", "bras"], "bras"),
        (["--tutor=bras"], "bras"),
        (["one", "--tutor"], "somebody"),
        ([], "nobody"),
    ],
)
def test_an_option_whose_value_may_be_left_out(typed, value):
    app, seen = typer.Typer(), []

    @app.command(cls=optional_value("--tutor", "somebody"))
    def command(name: str = typer.Argument(""), tutor: str = "nobody", other: int = 0) -> None:
        seen.append(tutor)

    app(typed, standalone_mode=False)
    assert seen == [value]


def test_players_alone_are_not_taught(typing):
    ending = typing([], "pubeval", "simple", "--games", 1, "--seed", 3, *TUTOR, "--no-cube", "--json")
    assert json.loads(ending.out)["errors"] == {}
    assert "motif-v1" not in ending.err
