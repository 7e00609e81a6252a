import sys
import threading

from motif.runtime import jit as announce


class _Terminal:
    def __init__(self, is_terminal: bool) -> None:
        self.text = ""
        self.flushed = threading.Event()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        self.flushed.set()


def _said(monkeypatch, *, is_terminal: bool, long: bool) -> str:
    """What is said of two compilations that take longer than the quiet time, or less."""
    terminal = _Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(announce, "_QUIET_SECONDS", 0.0 if long else 1000.0)
    announcer = announce._Announcer()
    for _ in range(2):  # a second long compilation says nothing more
        announcer.on_start(None)
        announcer.on_start(None)
        if long and is_terminal:
            terminal.flushed.wait()
        timer = announcer._timer
        announcer.on_end(None)
        announcer.on_end(None)
        if timer is not None:
            timer.join()  # it says nothing later
    return terminal.text


def test_a_long_compilation_is_announced_once_on_a_terminal(monkeypatch):
    assert _said(monkeypatch, is_terminal=True, long=True).count("compiling") == 1


def test_quick_compilations_and_files_stay_quiet(monkeypatch):
    assert _said(monkeypatch, is_terminal=True, long=False) == ""
    assert _said(monkeypatch, is_terminal=False, long=True) == ""
