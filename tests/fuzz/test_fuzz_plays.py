"""Rolls, plays and the names of players."""

from hypothesis import strategies as st

from motif.board.identifiers import gnubg_id
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators.static import BEAROFF_SUFFIX
from tests.fuzz import checks
from tests.fuzz.mutations import mutated_text
from tests.fuzz.test_fuzz_positions import POSITIONS

ROLLS = ["31", "3 1", "6-6", "1,2", "4 / 5"]
PLAYS = ["8/5 6/5", "bar/22*/16 13/8(2)", "24/18*/13", "6/off(2) 5/o", "b/20, 13/11*(2)", "25/24 2/0", ""]
TOKENS = [b"bar", b"off", b"/", b"*", b"(2)", b"(4)", b"25", b"0", b"26", b"99", b" ", b",", b"24/23*/22"]
OPENING = legal_plays(Position.start(), (6, 6)) + legal_plays(Position.start(), (3, 1))


def test_rolls(fuzz):
    dice = st.sampled_from(
        ["1", "6", " 3", "-1", "0", "7", "²", "٣", "1" * 5000, 3, -1, 7, 10**5000]
    ) | mutated_text(["5"])
    one = st.tuples(mutated_text(ROLLS), st.none())
    fuzz(checks.roll_check, one | st.tuples(dice, dice), valid=[("31", None), ("3", "1"), ("4 / 5", None)])


def test_notation(fuzz):
    seeds = PLAYS + [play.notation for play in OPENING]
    fuzz(checks.notation_check, mutated_text(seeds, TOKENS) | mutated_text(seeds), valid=seeds)


DECISIONS = [
    (gnubg_id(position), (high, low), [play.notation for play in legal_plays(position, (high, low))])
    for position in POSITIONS
    for high in range(1, 7)
    for low in range(1, high + 1)
]


@st.composite
def plays_and_texts(draw: st.DrawFn) -> tuple[str, tuple[int, int], str]:
    """Draw a position, a roll, and a legal play, possibly damaged."""
    identifier, roll, notations = draw(st.sampled_from(DECISIONS))
    notation = draw(st.sampled_from(notations))
    return identifier, roll, draw(st.just(notation) | mutated_text([notation or "8/5"], TOKENS))


def test_plays(fuzz):
    start = gnubg_id(Position.start())
    fuzz(checks.play_check, plays_and_texts(), valid=[(start, (3, 1), "8/5 6/5")])


PLAYER_TOKENS = [
    BEAROFF_SUFFIX.encode(),
    BEAROFF_SUFFIX.encode() * 2000,
    b"@",
    b"@1",
    b"@2",
    b"@9",
    b"@" + b"9" * 5000,
    b".yaml",
    b"\0",
    b"/",
    b"..",
    b"x.yaml@1",
    b"\n",
]


def test_names_of_players(fuzz):
    names = mutated_text(["random", "simple", "pubeval", "simple@1", "pubeval@0", "none.yaml"], PLAYER_TOKENS)
    fuzz(checks.player_check, names, valid=["random", "simple", "pubeval", "simple@1", "pubeval@0"])


def test_seeds(fuzz):
    odd = st.sampled_from(
        [0, -1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**5000, 1.0, None, "3", True, float("nan")]
    )
    fuzz(checks.seed_check, odd | st.integers() | st.floats(), valid=[0, 7, 2**63 - 1])
