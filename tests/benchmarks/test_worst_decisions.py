"""The worst decisions: which they are, and their descriptions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motif.benchmarks import read_benchmark
from motif.benchmarks.choices import Choices, player_choices, worst_decisions
from motif.board.identifiers import gnubg_id, position_key
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.players import load

DATA = Path(__file__).resolve().parent.parent / "data"
START = position_key(Position.start())
PLAYS = {play.notation: play.position for play in legal_plays(Position.start(), (3, 1))}


@pytest.fixture(scope="module")
def choices() -> list[Choices]:
    return [
        player_choices(load("pubeval"), read_benchmark(DATA / f"{name}.bm"), jobs=1)
        for name in ("contact", "race", "crashed")
    ]


def test_those_that_cost_most_come_first(choices):
    worst = worst_decisions(choices, 25)
    losses = sorted((1000 * loss for one in choices for loss in one.losses.tolist()), reverse=True)
    assert [decision.played.loss for decision in worst] == pytest.approx(losses[:25])
    assert {Path(decision.path).stem for decision in worst} > {"contact"}


def test_the_command_agrees_with_the_file(choices):
    for decision in worst_decisions(choices, 25):
        words = Path(decision.path).read_text().splitlines()[decision.line - 1].split()
        assert words[1] == position_key(decision.position)
        assert sorted(map(int, words[2:4]), reverse=True) == list(decision.roll)
        plays = legal_plays(decision.position, decision.roll)
        losses = {find_play(play.notation, plays).position: play.loss for play in decision.listed}
        expected = {words[4]: 0.0} | dict(zip(words[6::2], map(float, words[7::2]), strict=True))
        assert {position_key(after): loss for after, loss in losses.items()} == pytest.approx(
            {key: 1000 * loss for key, loss in expected.items()}
        )
        played = find_play(decision.played.notation, plays)
        assert played.moves == decision.played.moves
        assert played.position == load("pubeval").choose(decision.position, decision.roll).position
        assert decision.is_listed == (played.position in losses)
        assert decision.played.loss == losses.get(played.position, max(losses.values()))
        assert decision.best[0] == decision.listed[0]


def one_decision(tmp_path, text: str, chosen: str) -> Choices:
    """The play `chosen`, in notation, on the only decision of a file."""
    path = tmp_path / "one.bm"
    path.write_text(text)
    benchmark = read_benchmark(path)
    board = PLAYS[chosen].board[None]
    same = (benchmark.listed == board).all(axis=1)
    loss = benchmark.losses[same] if same.any() else benchmark.losses.max(keepdims=True)
    listed, classes = same.any(keepdims=True), np.zeros(1, np.int8)
    return Choices(benchmark.path, loss, listed, classes, np.zeros(1, np.int64), benchmark, board)


def line(*plays: tuple[str, float]) -> str:
    words = " ".join(f"{position_key(PLAYS[name])} {number}" for name, number in plays)
    return f"# one\nm {START} 1 3 {words}\n"


def test_one_decision(tmp_path):
    text = line(("8/5 6/5", 0.15), ("24/23 13/10", 0.0), ("24/20", 0.125))
    text = text.replace(position_key(PLAYS["24/20"]), START)
    (decision,) = worst_decisions([one_decision(tmp_path, text, "24/23 24/21")], 5)
    assert (decision.line, decision.roll, decision.class_name) == (2, (3, 1), "contact")
    assert not decision.is_listed
    assert decision.played.notation == "24/23 24/21"
    # A "play" that the dice do not allow is identified by its key.
    assert [play.notation for play in decision.listed][2] == f"{START} (not a legal play)"
    assert [play.notation for play in decision.best] == ["8/5 6/5", "24/23 13/10"]
    told = decision.to_dict()
    position, state = parse_position(told["xgid"])
    assert (position, state.dice, gnubg_id(position)) == (Position.start(), (3, 1), told["position"])
    assert told["loss"] == told["listed"][2]["loss"] == 125


def test_what_costs_nothing_is_not_shown(tmp_path):
    text = line(("8/5 6/5", 0.15), ("24/20", 0.125))
    assert worst_decisions([one_decision(tmp_path, text, "8/5 6/5")], 5) == []


def test_decisions_from_no_file_have_no_line(tmp_path):
    choices = one_decision(tmp_path, line(("8/5 6/5", 0.15), ("24/20", 0.125)), "24/20")
    (decision,) = worst_decisions([replace(choices, benchmark=replace(choices.benchmark, record=None))], 1)
    assert decision.line is None
