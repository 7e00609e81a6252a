import sys
import time

from motif.runtime import jit as announce


class _Terminal:
    def __init__(self, is_terminal: bool) -> None:
        self.text = ""
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def _said(monkeypatch, *, is_terminal: bool, seconds: float) -> str:
    terminal = _Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(announce, "_QUIET_SECONDS", 0.05)
    announcer = announce._Announcer()
    for _ in range(2):  # a second long compilation says nothing more
        announcer.on_start(None)
        announcer.on_start(None)
        time.sleep(seconds)
        announcer.on_end(None)
        announcer.on_end(None)
    return terminal.text


def test_a_long_compilation_is_announced_once_on_a_terminal(monkeypatch):
    assert _said(monkeypatch, is_terminal=True, seconds=0.2).count("compiling") == 1


def test_quick_compilations_and_files_stay_quiet(monkeypatch):
    assert _said(monkeypatch, is_terminal=True, seconds=0.0) == ""
    assert _said(monkeypatch, is_terminal=False, seconds=0.2) == ""
