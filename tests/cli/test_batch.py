"""--batch: the lines of a file give the same answers, in order, as single calls."""

import io
import json
import random
import sys
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis import position_records as records
from motif.board.identifiers import gnubg_ids, position_key
from motif.board.match_state import MatchState, match_id
from motif.board.packed import unpack_many
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.sampling.dataset import read_dataset


@pytest.fixture
def decisions(dataset):
    """Identifiers and rolls of positions from games."""
    chance = random.Random(5)
    boards = chance.sample(list(read_dataset(dataset).boards), 60)
    return [(identifier, chance.randint(1, 6), chance.randint(1, 6)) for identifier in gnubg_ids(boards)]


def rounded(number: str) -> float:
    return round(float(number), 12)


def lines(text: str) -> list[dict]:
    return [json.loads(line, parse_float=rounded) for line in text.splitlines()]


@pytest.mark.parametrize("player", ["pubeval", "FILE", "simple@1"])
@pytest.mark.parametrize("command", ["evaluate", "hint"])
def test_a_batch_equals_single_calls(motif, decisions, tmp_path, weight_file, command, player):
    decisions = decisions[:20]
    words = [decision[:1] if command == "evaluate" else decision for decision in decisions]
    path = tmp_path / "lines.txt"
    path.write_text("# comment\n\n" + "".join(" ".join(map(str, each)) + "\n" for each in words))
    options = ("--player", str(weight_file) if player == "FILE" else player)
    ending = motif(command, "--batch", path, "--json", *options)
    assert (ending.code, ending.err) == (0, "")
    single = "".join(motif(command, *each, *options, "--json").out for each in words)
    # With many positions, lookahead sums equities in a different order.
    assert ending.out == single or (player == "simple@1" and lines(ending.out) == lines(single))


def test_a_batch_of_plays_equals_single_calls(motif, motif_json, decisions, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(f"  {identifier} {die1}  {die2}" for identifier, die1, die2 in decisions))
    assert lines(motif("plays", "--batch", path, "--json").out) == [
        motif_json("plays", *decision) for decision in decisions
    ]


def test_a_batch_of_hints_counts_the_match_of_each_id(motif, decisions, tmp_path):
    """Lines with match states, in any order beside others, give the numbers of single calls."""
    short = MatchState(length=3)
    states = [replace(short, dice=(4, 4)), None, MatchState(jacoby=True, dice=(6, 2)), short]
    words = []
    for (identifier, *dice), state in zip(decisions[:12], states * 3, strict=True):
        holds_roll = state is not None and state.dice is not None
        name = identifier if state is None else xgid(Position.from_id(identifier), state)
        words.append([name] if holds_roll else [name, *dice])
    path = tmp_path / "lines.txt"
    path.write_text("".join(" ".join(map(str, each)) + "\n" for each in words))
    for options in (("--player", "motif-v1"), ("--player", "motif-v1", "--cube", "2", "--owner", "me")):
        ending = motif("hint", "--batch", path, "--json", *options)
        assert (ending.code, ending.err) == (0, "")
        single = "".join(motif("hint", *each, *options, "--json").out for each in words)
        assert lines(ending.out) == lines(single)


def test_a_batch_of_hints_lists_as_many_plays_as_asked(motif, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("4HPwATDgc/ABMA 3 1\n")
    (whole,), (two,) = (
        motif("hint", "--batch", path, "--player", "pubeval", "--plays", plays).out.splitlines()
        for plays in (100, 2)
    )
    assert whole.count(", ") == 15
    assert two == ", ".join(whole.split(", ")[:2])


def test_parts_and_workers_change_nothing(motif, decisions, tmp_path, monkeypatch):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(" ".join(map(str, decision)) for decision in decisions))
    words = ("hint", "--batch", path, "--json", "--player")
    for player in ("pubeval", "pubeval@1"):
        whole = lines(motif(*words, player, "--jobs", 1).out)
        monkeypatch.setattr(records, "_ROWS_AT_ONCE", 7)
        monkeypatch.setattr(records, "_LOOKAHEAD_ROWS_AT_ONCE", 7)
        monkeypatch.setattr(records, "_PLAYS_AT_ONCE", 1)
        assert lines(motif(*words, player, "--jobs", 2).out) == whole
        monkeypatch.undo()


def test_every_form_is_read(motif, tmp_path):
    position = Position.from_points({24: 2, 6: 5}, {24: 1, 5: 3})
    (identifier,) = gnubg_ids(position.board[None])
    forms = [
        identifier,
        f"{identifier}:{match_id(MatchState())}",
        xgid(position),
        xgid(position).removeprefix("XGID="),
        position_key(position),
    ]
    path = tmp_path / "lines.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(forms).encode())
    found = lines(motif("evaluate", "--batch", path, "--json").out)
    assert len(found) == len(forms)
    assert all(record == found[0] for record in found)
    assert found[0]["position"] == identifier


def test_standard_input_is_a_file_too(motif, monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"4HPwATDgc/ABMA 31\nsGfwATDgc/ABMA 4 2\n"))
    )
    found = lines(motif("plays", "--batch", "-", "--json").out)
    assert [record["position"] for record in found] == ["4HPwATDgc/ABMA", "sGfwATDgc/ABMA"]
    assert [record["roll"] for record in found] == [[3, 1], [4, 2]]


def test_an_empty_file_prints_nothing(motif, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("# nothing\n")
    for command in ("evaluate", "plays", "hint"):
        assert motif(command, "--batch", path, "--json") == (0, "", "")


def test_people_get_a_line_each(motif, decisions, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(" ".join(map(str, decision)) for decision in decisions))
    for command in ("plays", "hint"):
        ending = motif(command, "--batch", path)
        assert [line.split()[0] for line in ending.out.splitlines()] == [each[0] for each in decisions]


def test_a_bar_does_not_get_into_the_output(motif, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("motif.runtime.progress._QUIET_SECONDS", 0)
    path = tmp_path / "lines.txt"
    path.write_text("4HPwATDgc/ABMA\n" * 2500)
    ending = motif("evaluate", "--batch", path, "--json")
    assert len(lines(ending.out)) == 2500
    assert "2,500 lines" in ending.err


def test_many_lines_take_no_time(motif, tmp_path):
    board = np.zeros((1, 64), np.int8)
    board[0, [5, 37]] = 15
    identifier = gnubg_ids(unpack_many(board))[0]
    path = tmp_path / "lines.txt"
    path.write_text(f"{identifier} 6 5\n" * 5000)
    ending = motif("hint", "--batch", path, "--json", "--player", "pubeval")
    assert ending.out.count("\n") == 5000
    assert len(set(ending.out.splitlines())) == 1
