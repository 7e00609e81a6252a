"""The tutorial: its commands are valid and work as written, and it adds a single file."""

import re
import shlex

import pytest
import typer

from motif.cli.main import app
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from tests.fitting.fitting_samples import random_boards
from tools.tutorial import COMMANDS, FILE, PAGE, ROOT, SHOWN, blocks, command_lines, run_page, write_file

BLOCKS = blocks(PAGE.read_text("utf-8"))


def test_commands_are_followed_by_what_they_print():
    kinds = [block.kind for block in BLOCKS if block.kind in (COMMANDS, SHOWN)]
    assert kinds == [COMMANDS, SHOWN] * (len(kinds) // 2)
    assert all(block.text.strip() for block in BLOCKS)


@pytest.mark.parametrize("line", command_lines(BLOCKS))
def test_every_command_is_valid(line, monkeypatch):
    # Its paths are those of a checkout.
    monkeypatch.chdir(ROOT)
    program, name, *words = shlex.split(line.partition(" | ")[0])
    assert program == "motif"
    with typer.main.get_command(app).commands[name].make_context(name, words) as context:
        assert context.params


def written_set(folder):
    (block,) = (block for block in BLOCKS if block.kind == FILE)
    return parameter_set(str(write_file(block, folder)))


def exposed_by_hand(board) -> int:
    """Return the number of blots that an opposing checker can hit with one die."""
    reached = {place + die for place in range(25) if board[place] < 0 for die in range(1, 7)}
    return sum(board[point] == 1 for point in range(1, 25) if point in reached)


def test_the_parameter_agrees_with_its_sentence(tmp_path):
    chosen = written_set(tmp_path)
    boards = random_boards(300, seed=4)
    values = features(chosen, boards) / chosen.scales
    for name, seen in (("exposed_blots", boards), ("exposed_blots_opponent", -boards[:, ::-1])):
        found = values[:, chosen.names.index(name)].round(4).tolist()
        assert found == [exposed_by_hand(board) for board in seen]


def test_the_message_on_the_page_is_current(tmp_path):
    page = PAGE.read_text("utf-8")
    (told,) = re.findall(r"`(my_parameters\.py: exposed_blots: [^`]*)`", page)
    (block,) = (block for block in BLOCKS if block.kind == FILE)
    path = write_file(block._replace(text=block.text.replace("range(1, 25)", "range(1, 27)")), tmp_path)
    with pytest.raises(Exception, match=re.escape(told)):
        parameter_set(str(path))


@pytest.mark.slow
def test_the_page_works_from_beginning_to_end(tmp_path):
    printed = run_page(BLOCKS, tmp_path)
    shown = [block.text for block in BLOCKS if block.kind == SHOWN]
    assert len(printed) == len(shown)
    # Numbers, and so the order of terms, may differ where another processor rounds differently.
    for text, expected in zip(printed, shown, strict=True):
        assert len(text.strip("\n").splitlines()) == pytest.approx(len(expected.splitlines()), abs=8)
    assert "exposed_blots" in "".join(printed)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "runs", "my_parameters.py"}
