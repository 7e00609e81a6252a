"""Texts for which a careless reader takes quadratic or cubic time."""

import re
import time
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

import motif
from motif.board.fibs_board import parse_fibs_board
from motif.board.identifiers import position_from_gnubg_id, position_from_key
from motif.board.mat_file import mat_name, parse_mat
from motif.board.match_file import parse_match
from motif.board.match_state import match_state_from_id
from motif.board.moves import legal_plays, parse_roll
from motif.board.notation import find_play, parse_moves
from motif.board.parsing import parse_decision, parse_position
from motif.board.position import Position
from motif.board.sgf_file import parse_sgf
from motif.board.xgid_ogid import position_from_ogid, position_from_xgid
from motif.evaluators.known_players import description_of, entry_of, load_evaluator
from motif.players import load
from tests.board.bounded import answer

RUNS = {
    "spaces": " ",
    "tabs": "\t",
    "digits": "1",
    "zeros": "0",
    "letters": "a",
    "capitals": "W",
    "colons": ":",
    "slashes": "/",
    "dashes": "-",
    "stars": "*",
    "commas": ",",
    "dots": ".",
    "question marks": "?",
    "brackets": "[",
    "closing brackets": "]",
    "escapes": "\\",
    "escaped brackets": "\\]",
    "quotes": '"',
    "parentheses": "(",
    "closing parentheses": ")",
    "pairs": "()",
    "semicolons": ";",
    "nodes": "(;",
    "values": "[a]",
    "properties": "W[a]",
    "at signs": "@",
    "plies": "@1",
    "depths": "@1:a",
    "plus": "+bearoff",
    "rolls": "31:",
    "rolls apart": " 31:",
    "points": "8/5",
    "words": "a ",
    "doubles": " Doubles",
    "wins": " Wins",
    "games": " Game 1",
    "new lines": "\n",
    "returns": "\r",
    "points to come": " 1 points",
    "cubes": " => 2",
    "names": "a : 1 ",
    "tags": '[a "b"]',
    "comments": "; ",
    "wide": "\u3000",
    "beyond": "é",
    "none": "\0",
    "braces": "{",
    "digits apart": "1 1,",
    "stops": "/5*",
}
LONG = 30_000
"""Characters of a run; a loop over all pairs of them takes ten seconds or more."""
IN_A_LINE = 9_000
"""Characters of a run that fits in a line of a .mat file."""
PACKAGE = Path(motif.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if "re.compile(" in path.read_text("utf-8")
)
FRAMES = (
    "{}",
    "{}x",
    "x{}",
    "x {}",
    " {}x",
    "1{}x",
    "1 point{}x",
    "1 points and the match{}x",
    "[{}x",
    '[a{}"b"]x',
    '; [a{}"b"]x',
    "[a{}x",
    "a:\n{}x",
    "a:\n  b: 1.0{}x",
    "a{}: 1",
    "13/{}",
    "8/5{}x",
    "31{}x",
    "W+1{}x",
    "W:W:B1{}x",
    "=>{}x",
    "3 {}1x",
)
EXPRESSIONS = {
    f"{module}.{name}": value
    for module in MODULES
    for name, value in vars(import_module(f"motif.{module}")).items()
    if isinstance(value, re.Pattern)
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    """Expressions applied to input: as a full match, at the beginning and, if used so, in a search."""
    expression = EXPRESSIONS[name]
    # The expression for the start of a line, and the expressions that search for words.
    searched = name.endswith(("documents._NUMBERS", "_ESCAPED", "_NOT_IN_NAMES", "_CELL"))
    for run, frame in product(RUNS.values(), FRAMES):
        text: str | bytes = frame.replace("{}", run * (LONG // len(run)))
        if isinstance(expression.pattern, bytes):
            text = text.encode()
        started = time.process_time()
        expression.fullmatch(text)
        expression.match(text)
        if searched:
            expression.sub(text[:0], text)
        taken = time.process_time() - started
        assert taken < 1, f"{frame!r} with {run!r} took {taken:.1f} seconds"


LINE = (
    " 7 point match\n\n Game 1\n Ann : 0                        Bob : 0\n  1) {}\n",
    " 7 point match\n\n Game 1\n{}\n",
    " 7 point match\n\n Game 1\n Ann : 0 {} : 0\n",
    " 7 point match\n\n Game 1\n Ann {}: 0 Bob : 0\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0{}x\n",
    " 7 point match\n\n Game {}x\n",
    " 7 point match{}\n",
    " 7{}point match\n",
    "{}",
    "{}x",
    '; [{}x "value"]\n 7 point match\n',
    '; [name{}x "value"]\n 7 point match\n',
    '; [name "value{}x\n 7 point match\n',
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) 31:{}x\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) 31: 8/5 6/5 {} 42: x\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) 31: 8/5 6/5\n  Wins 1 point{}x\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) Doubles{}x\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) Doubles =>{}x\n",
    " 7 point match\n\n Game 1\n Ann : 0 Bob : 0\n  1) 31:{}Game 1\n",
)
TREES = (
    "{}",
    "(;GM[6]{}",
    "(;GM[6]PW[{}",
    "(;GM[6]PW[{}]",
    "(;GM[6]PW[{}])",
    "(;GM[6]PW{}x)",
    "(;GM[6]{}PW[a])",
    "(;GM[{}])",
    "(;GM[6]GC[{}x])",
    '(;GM[6]GC[\\[name{}x "a"\\]])',
    "(;GM[6]MI[{}x])",
    "(;GM[6]MI[length{}x])",
    "(;GM[6]MI[length:1{}x])",
    "(;GM[6]RU[{}])",
    "(;GM[6]RE[W+1{}x])",
    "(;GM[6];W[{}])",
    "(;GM[6];W[31hefe{}])",
    "(;GM[6];DI[{}])",
    "(;GM[6]({}",
    "(;GM[6]){}x",
    "(;GM[6]PW[a]{}[b]x)",
)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_mat_files(run):
    for form in LINE:
        answer(parse_mat, form.replace("{}", run * (IN_A_LINE // len(run))))
    answer(parse_match, (run * LONG).encode(), "a.mat")
    answer(parse_match, f" 7 point match\n{run * LONG}".encode(), "a.mat")


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_sgf_files(run):
    for form in TREES:
        answer(parse_sgf, form.replace("{}", run * (LONG // len(run))))


START = Position.start()
PLAYS = legal_plays(START, (3, 1))
READERS = {
    "GNUbg ID": position_from_gnubg_id,
    "key": position_from_key,
    "XGID": position_from_xgid,
    "OGID": position_from_ogid,
    "Match ID": match_state_from_id,
    "position": parse_position,
    "decision": parse_decision,
    "FIBS board": parse_fibs_board,
    "roll": parse_roll,
    "moves": parse_moves,
    "play": lambda text: find_play(text, PLAYS),
    "name in a file": mat_name,
}
FORMS = (
    "{}",
    "{}x",
    "x{}",
    "XGID={}",
    "XGID=-b----E-C---eE---c-e----B-:{}",
    "OGID={}",
    "0:{}",
    "4HPwATDgc/ABMA:{}",
    "board:{}",
    "8/{}",
    "8/5{}x",
    "bar/{}",
    "8/5({}",
    "1{}1",
    "31{}",
)


@pytest.mark.parametrize("name", READERS)
def test_identifiers_and_notation(name):
    for form, run in product(FORMS, RUNS.values()):
        answer(READERS[name], form.replace("{}", run * (LONG // len(run))))


PLAYERS = {"player": load, "evaluator": load_evaluator, "entry": entry_of, "described": description_of}
NAMES = (
    "{}",
    "rollout:{}",
    "rollout:latest{}",
    "onnx:{}",
    "latest{}",
    "latest@{}",
    "latest@1:{}",
    "gnubg@{}",
    "{}.yaml",
    "{}.yaml.xz",
    "{}+bearoff",
)


@pytest.mark.parametrize("name", PLAYERS)
def test_names_of_players(name):
    for form, run in product(
        NAMES, ["a", " ", "1", "@", "@1", "@1:a", ":", "+bearoff", "latest", ",", ".yaml", "-"]
    ):
        answer(PLAYERS[name], form.replace("{}", run * (LONG // len(run))))
