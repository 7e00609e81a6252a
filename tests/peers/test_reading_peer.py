"""The reading test's statements about gnubg are checked for some of its decisions."""

from motif.board.moves import legal_plays
from motif.board.notation import find_play
from tools.reading_test import read_decisions

SOME = read_decisions()[::6]


def test_gnubg_prefers_the_plays_of_theory(gnubg):
    asked = [(it.position, it.roll) for it in SOME]
    for it, play in zip(SOME, gnubg.best_plays(asked, 2), strict=True):
        plays = legal_plays(it.position, it.roll)
        assert find_play(play, plays).position == find_play(it.play, plays).position, it.name
