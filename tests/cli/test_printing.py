"""Sentences, tables and boards fit into terminals, and are not wrapped in files."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.cli.printing import note, print_board, print_table, say
from motif.runtime.layout import columns, wrapped

SENTENCE = "The opponent hits with no roll after 8/5 6/5, with 6 of 36 rolls after 13/9; a well-known fact."
TITLES = ("", "play", "equity", "standard error", "difference", "its standard error", "p")
ROWS = [
    ("1.", "8/5 6/5", "+0.1878", "0.0282", "", "", ""),
    ("2.", "24/23 13/10", "+0.0006", "0.0350", "-0.1553", "0.0405", "< 0.0001"),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Capture the output on a terminal of a given width."""

    def shown(width: int, function, *arguments) -> list[str]:
        stream = Terminal()
        monkeypatch.setenv("COLUMNS", str(width))
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(f"sys.{name}", stream)
        function(*arguments)
        return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).split("\n")

    return shown


@given(st.text("ab -/.", max_size=200), st.integers(20, 90))
def test_breaking_adds_and_tears_nothing(text, width):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        lines = wrapped(text, Terminal()).split("\n")
    assert " ".join(lines).split() == text.split()
    for line in lines:
        assert len(line) <= width or " " not in line.strip()


def test_a_file_has_each_sentence_on_one_line(capsys):
    say(SENTENCE, "short")
    note(SENTENCE)
    assert capsys.readouterr() == (f"{SENTENCE}\nshort\n", f"motif: {SENTENCE}\n")
    assert columns(io.StringIO()) is None


@pytest.mark.parametrize("width", [60, 80])
def test_a_terminal_breaks_sentences_between_words(terminal, width):
    for function in (say, note):
        lines = terminal(width, function, SENTENCE)
        assert max(map(len, lines)) <= width < len(SENTENCE)
        assert " ".join(lines).split()[-len(SENTENCE.split()) :] == SENTENCE.split()
    assert terminal(width, say, f"  {SENTENCE}")[1].startswith("  ")


@pytest.mark.parametrize("width", [40, 60, 72, 80, 100])
def test_no_table_tears_a_word(terminal, width):
    lines = terminal(width, print_table, TITLES, ROWS, 2)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for word in ("difference", "+0.0006", "-0.1553", "0.0001", "24/23", "13/10", "standard"):
        assert any(word == each.strip(",") for each in words), word


@pytest.mark.parametrize("width", [31, 33, 36])
def test_a_standard_error_stays_on_one_line(terminal, width):
    rows = [("v0", "-1.233 ± 0.188", "818"), ("v1", "+0.167 ± 0.150", "926")]
    lines = terminal(width, print_table, ("version", "against pubeval", "positions"), rows)
    assert max(map(len, lines)) <= width
    for error in ("± 0.188", "± 0.150"):
        assert any(error in line for line in lines), lines


@pytest.mark.parametrize("width", range(24, 60))
def test_an_amount_in_a_sentence_stays_on_one_line(terminal, width):
    amounts = ("± 0.103", "(p < 0.0001)", "12.5 %", "p = 0.25,")
    sentence = "A beats B by 0.545 ± 0.103 points per game (p < 0.0001) in 12.5 % of 200 games; p = 0.25, too"
    rows = [("race", *amounts, "a rather long text")]
    for function, *arguments in ((say, sentence), (print_table, ("", *"abcde"), rows)):
        lines = terminal(width, function, *arguments)
        assert max(map(len, lines)) <= width
        for amount in amounts:
            assert any(amount in line for line in lines), lines


@pytest.mark.parametrize("width", [36, 120])
def test_columns_line_up_below_names_with_wide_letters(terminal, width):
    names = ("王小明", "e\N{COMBINING ACUTE ACCENT}ric", "ｆｕｌｌ ｗｉｄｔｈ ｎａｍｅ", "🎲🎲")
    lines = terminal(width, print_table, ("player", "小明", "p"), [(name, "1.0", "0") for name in names])
    assert {cell_len(line) for line in lines if line} == {cell_len(lines[1])}
    assert cell_len(lines[1]) <= width


def test_a_sentence_with_wide_letters_fits_into_a_terminal(terminal):
    for line in terminal(40, say, "王小明 さくら " * 20):
        assert cell_len(line) <= 40


def test_a_table_that_fits_is_not_broken(terminal):
    lines = terminal(100, print_table, TITLES, ROWS, 2)
    assert (
        " 2.   24/23 13/10   +0.0006           0.0350      -0.1553               0.0405   < 0.0001 " in lines
    )


@pytest.mark.parametrize("width", [60, 80])
def test_no_board_is_wider_than_the_terminal(terminal, width):
    state = MatchState(jacoby=True, beavers=True, cube=64)
    lines = terminal(width, print_board, Position.start(), state)
    assert max(map(len, lines)) <= width
    assert any("(cube: 64)" in line for line in lines)


def test_the_board_shows_the_roll_that_is_asked_about(motif):
    start = "XGID=-b----E-C---eE---c-e----B-:0:0:1:64:3:6:0:7:10"
    for name in ("plays", "hint"):
        words = (name, start, *(("--player", "pubeval") * (name == "hint")))
        assert "rolled 64" in motif(*words).out
        assert "rolled 31" in motif(*words, 1, 3).out


def test_a_match_that_is_won_has_no_xgid(motif):
    for state, is_shown in (("EYEqAUAAEAAE", True), ("EUugABAAQAAE", False)):
        ending = motif("evaluate", f"4HPwATDgc/ABMA:{state}", "--player", "pubeval")
        assert (ending.code, "XGID=" in ending.out, "OGID=" in ending.out) == (0, is_shown, True)
