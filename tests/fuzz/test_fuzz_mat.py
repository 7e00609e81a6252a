"""Records of games."""

from motif.board.mat_file import mat_text
from tests.board.test_mat_file import BY_GNUBG, played
from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated_file

TOKENS = [
    *ODD_TOKENS, b" Game 2\n", b" Wins 2 points", b" Doubles => 2", b" Beavers => 4", b" Raccoons", b" Takes",
    b" Drops", b" 61: ", b" 66: 24/18 24/18 13/7 13/7", b"; [", b'"]\n', b" 3 point match\n", b")", b"  1) ",
    b"Cannot Move", b"????", b" Ann : 0   Bob : 0\n", b"25/", b"/0", b"*", b",",
]  # fmt: skip


def test_mat_files(fuzz):
    written = [mat_text(played(seed)).encode() for seed in range(4)]
    fuzz(checks.mat_check, mutated_file([BY_GNUBG.encode(), *written], TOKENS), valid=written)
