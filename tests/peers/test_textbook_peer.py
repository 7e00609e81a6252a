"""The textbook file's statements about gnubg are checked for some of its positions."""

import re

import pytest

from tests.doubling.test_textbook import BOOK, CUBE_ACTIONS, Textbook
from tools.text_gnubg import TABLE

_SETTINGS = [
    "set output digits 4",
    "set output matchpc off",
    "set output winpc off",
    f"set met {TABLE}",
    "set jacoby off",
    "set beavers 0",
    *(
        f"set evaluation {kind} evaluation {what}"
        for kind in ("cubedecision", "chequerplay")
        for what in ("plies 2", "cubeful on", "prune on", "noise 0")
    ),
]
_PLAY = re.compile(r"^ *1\. Cubeful \d-ply +(.*?) {2,}Eq\.: *([-+][0-9.]+)", re.MULTILINE)
_NO_DOUBLE = re.compile(r"[123]\. No (?:re)?double +([-+][0-9.]+)")
_EQUITY_ROUNDING = 2e-4


@pytest.mark.parametrize("it", BOOK[::8], ids=lambda it: it.name)
def test_gnubg_still_agrees(gnubg, it: Textbook):
    dice = [f"set dice {it.roll[0]} {it.roll[1]}"] if it.roll else []
    commands = [*_SETTINGS, f"set gnubgid {it.record['id']}", *dice, "hint 1"]
    text = "\n".join(gnubg._answers("off", commands))
    recorded = it.record["gnubg"]
    if it.roll:
        play, equity = _PLAY.search(text).groups()
        assert it.result(play) == it.result(it.answer)
        assert float(equity) == pytest.approx(recorded["plays"][0]["equity"], abs=_EQUITY_ROUNDING)
        return
    action = text.partition("Proper cube action:")[2].strip().lower()
    action = action.removeprefix("optional ").replace("redouble", "double")
    assert next(name for name in CUBE_ACTIONS if action.startswith(name)) == it.answer
    equity = float(_NO_DOUBLE.search(text)[1])
    assert equity == pytest.approx(recorded["no_double"], abs=_EQUITY_ROUNDING)
