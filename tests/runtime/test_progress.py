"""Progress is shown at a terminal after a second."""

import io
import re
import sys
import time

import pytest

from motif.runtime import progress as progress_module
from motif.runtime.progress import heard_by, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal. This is not a fixture, because pytest replaces stderr between a fixture and its
    test.
    """
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_quiet_when_not_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", -1.0)
    with progress("rolling out", 3) as advance:
        advance()
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_quiet_on_a_terminal_when_it_is_over_at_once(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with progress("rolling out", 3) as advance:
        advance(3)
    assert terminal.getvalue() == ""


def wait_for_a_bar(terminal: Terminal, seconds: float = 10.0) -> None:
    """Wait until the terminal shows something."""
    end = time.monotonic() + seconds
    while not terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_bar_on_stderr_before_a_long_first_step_ends(capsys, monkeypatch):
    terminal = use_terminal(monkeypatch)
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0.0)
    with progress("rolling out", 3) as advance:
        wait_for_a_bar(terminal)
        with progress("a step", 2) as advance_step:
            advance_step(2)
        advance(3)
    assert "rolling out" in terminal.getvalue()
    assert "a step" not in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_a_notice_appears_above_the_bar(monkeypatch):
    terminal = use_terminal(monkeypatch)
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0.0)
    with progress("rolling out", 3):
        wait_for_a_bar(terminal)
        print("a notice", file=sys.stderr)
    assert "\x1b[2Ka notice\n" in terminal.getvalue()
    assert sys.stderr is terminal


def test_a_bar_of_long_work_shows_its_steps_and_leaves_room_for_the_terminals_own_letters(monkeypatch):
    terminal = use_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0.0)
    with progress("sampling 400 games of composite:race=/a/long/path/of/some/weights.yaml", 58):
        wait_for_a_bar(terminal)
    line = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()).strip().splitlines()[0]
    assert line.startswith("sampling 400 games")
    assert " 0/58 " in line
    assert len(line) + len("^C") < 60


def test_a_terminal_that_cannot_erase_has_no_bar(monkeypatch):
    terminal = use_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0.0)
    with progress("rolling out", 3) as advance:
        wait_for_a_bar(terminal, 0.3)
        advance(3)
    assert terminal.getvalue() == ""


def test_an_error_passes_through_and_the_bar_is_gone(monkeypatch):
    use_terminal(monkeypatch)
    monkeypatch.setattr(progress_module, "_QUIET_SECONDS", -1.0)

    def stopped():
        with progress("rolling out", 3) as advance:
            advance()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stopped()


def test_a_function_hears_of_the_steps_and_may_end_the_work(capsys):
    heard = []
    with heard_by(lambda *news: heard.append(news)), progress("counting", 3) as advance:
        advance()
        advance(2)
    with progress("nobody listens", 1) as advance:
        advance()
    assert heard == [("counting", 0, 3), ("counting", 1, 3), ("counting", 3, 3)]

    def enough(what, done, total):
        if done == 2:
            raise KeyError(what)

    def count():
        with heard_by(enough), progress("counting", 3) as advance:
            for _ in range(3):
                advance()

    with pytest.raises(KeyError):
        count()
    assert capsys.readouterr() == ("", "")
