"""Probabilities and match states for tests of the cube."""

from hypothesis import strategies as st

from motif.board.match_state import MatchState
from motif.doubling import DEFAULT_EFFICIENCY, Efficiency, cubeful_equities
from motif.evaluators import Probabilities

SHARES = st.floats(0, 1).map(lambda share: round(share, 6))


@st.composite
def probabilities(draw) -> Probabilities:
    """Five consistent probabilities."""
    win = draw(SHARES)
    win_gammon, lose_gammon = win * draw(SHARES), (1 - win) * draw(SHARES)
    return Probabilities(win, win_gammon, win_gammon * draw(SHARES), lose_gammon, lose_gammon * draw(SHARES))


@st.composite
def money_states(draw) -> MatchState:
    """Any cube in money play."""
    owner = draw(st.sampled_from(["centre", "me", "opponent"]))
    cube = 1 if owner == "centre" else 2 ** draw(st.integers(1, 6))
    return MatchState(cube=cube, cube_owner=owner, jacoby=draw(st.booleans()), beavers=draw(st.booleans()))


@st.composite
def match_states(draw) -> MatchState:
    """Any cube at any score, in matches within the tables and beyond them."""
    length = draw(st.integers(1, 30))
    own, opponent = draw(st.integers(0, length - 1)), draw(st.integers(0, length - 1))
    if length - 1 in (own, opponent) and draw(st.booleans()):
        return MatchState(length, own, opponent, crawford=True)
    owner = draw(st.sampled_from(["centre", "me", "opponent"]))
    cube = 1 if owner == "centre" else 2 ** draw(st.integers(1, 4))
    return MatchState(length, own, opponent, cube, owner)


def cubeful_equity(
    chances: Probabilities, state: MatchState, efficiency: float = DEFAULT_EFFICIENCY.contact
) -> float:
    """Return the cubeful equity of one position."""
    return float(cubeful_equities(chances, state, efficiency)[0])


def class_efficiency(efficiency: Efficiency, name: str, pips: int = 0) -> float:
    """Return the x of a class by name; in a race it depends on the pips."""
    if name != "race":
        return getattr(efficiency, name)
    x = efficiency.race_base + efficiency.race_per_pip * pips
    return min(max(x, efficiency.race_lowest), efficiency.race_highest)


STATES = money_states() | match_states()
