"""motif's cube decisions, compared with gnubg's, both from gnubg's own 0-ply probabilities.

gnubg decides at 0-ply by the same model; for money, in bearoffs of at most six checkers per side, by its
exact tables if it has them. Matches are compared within the match equity table: beyond 25-away the two
programs extend it differently.
"""

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.board.rules import is_double_useful
from motif.doubling import DEFAULT_EFFICIENCY, CubeDecision, cube_decision
from motif.evaluators import Probabilities
from tests.peers.games import decisions
from tests.peers.test_gnubg_bearoff import FOLDERS
from tools.text_gnubg import CubeAnalysis as Analysis


def games_positions(number: int, seed: int) -> list[Position]:
    """Return every thirtieth position of games between players of different strength."""
    return [position for position, _, _ in decisions(30 * number, seed)[::30]]


def by_the_model(position: Position, chances: Probabilities, state: MatchState) -> CubeDecision:
    """Return motif's decision without its exact tables."""
    return cube_decision(chances, state, position, efficiency=DEFAULT_EFFICIENCY)


def few_checkers(position: Position) -> bool:
    """Return whether gnubg's exact tables may contain the position: at most six checkers per side."""
    return max(np.maximum(position.board, 0).sum(), np.maximum(-position.board, 0).sum()) <= 6


def difference(decision: CubeDecision, analysis: Analysis) -> float:
    """Return the largest difference between the two programs' equities."""
    ours = {"double": decision.no_double, "take": decision.double_take, "pass": decision.double_pass}
    return max(abs(ours[name] - equity) for name, equity in analysis.equities.items())


def closeness(decision: CubeDecision) -> float:
    """Return the margin of motif's own decision over another decision."""
    return min(abs(decision.no_double - decision.doubled), abs(decision.double_take - decision.double_pass))


def expected(analysis: Analysis) -> str:
    """Return gnubg's action in motif's words, without distinctions that make no difference."""
    return analysis.action.removeprefix("optional ")


@pytest.mark.parametrize(
    "state",
    [
        MatchState(),
        MatchState(jacoby=True),
        MatchState(cube=2, cube_owner="me"),
    ],
    ids=["centred", "jacoby", "redouble"],
)
def test_money_decisions_agree(gnubg, state):
    positions = [position for position in games_positions(300, seed=3) if not few_checkers(position)]
    found = gnubg.cube_analyses([(position, state) for position in positions])
    pairs = [
        (by_the_model(position, analysis.chances, state), analysis)
        for position, analysis in zip(positions, found, strict=True)
    ]
    apart = [decision for decision, analysis in pairs if decision.action != expected(analysis)]
    assert len(apart) <= 0.03 * len(pairs)
    assert all(closeness(decision) < 0.02 for decision in apart)
    assert max(difference(*pair) for pair in pairs) < 1e-4


@pytest.mark.parametrize(
    "state", [MatchState(), MatchState(cube=2, cube_owner="me")], ids=["centred", "redouble"]
)
def test_exact_decisions_agree(gnubg, state):
    if not any((folder / "gnubg_ts0.bd").is_file() for folder in FOLDERS):
        pytest.skip("gnubg's gnubg_ts0.bd is not installed (Debian: apt install gnubg)")
    random = np.random.default_rng(8)
    sides = random.integers(1, 7, (200, 2, 6)) * (np.arange(6) < random.integers(1, 7, (200, 2, 1)))
    counts = (sides[..., None] == np.arange(1, 7)).sum(axis=2).tolist()
    positions = [
        Position.from_points(*({point: n for point, n in enumerate(side, 1) if n} for side in pair))
        for pair in counts
    ]
    for position, analysis in zip(
        positions, gnubg.cube_analyses([(position, state) for position in positions]), strict=True
    ):
        decision = cube_decision(analysis.chances, state, position)
        assert decision.exact
        assert difference(decision, analysis) < 1e-3
        if closeness(decision) > 1e-3:
            assert decision.action == expected(analysis)


def test_beavers_agree(gnubg):
    state = MatchState(jacoby=True, beavers=True)
    positions = games_positions(300, seed=5)
    found = gnubg.cube_analyses([(position, state) for position in positions])
    beavered = 0
    for position, analysis in zip(positions, found, strict=True):
        # gnubg does not report a beaver if the double loses more than the doubled cube.
        if analysis.equities["take"] < -2:
            continue
        decision = by_the_model(position, analysis.chances, state)
        assert decision.action == expected(analysis)
        beavered += decision.should_beaver
    assert beavered > 30


def match_states(number: int, seed: int) -> list[MatchState]:
    """Return match states in which a double is useful, after the Crawford game as well."""
    random = np.random.default_rng(seed)
    found: list[MatchState] = []
    while len(found) < number:
        length = int(random.choice([3, 5, 7, 9, 13, 25]))
        own, opponent = (int(score) for score in random.integers(0, length, 2))
        cube = 1 << int(random.integers(0, 4))
        owner = "me" if cube > 1 else "centre"
        state = MatchState(length, own, opponent, cube, owner)
        if is_double_useful(state):
            found.append(state)
    return found


def test_match_decisions_agree(gnubg):
    positions = games_positions(300, seed=4)
    questions = list(zip(positions, match_states(len(positions), seed=1), strict=True))
    for (position, state), analysis in zip(questions, gnubg.cube_analyses(questions), strict=True):
        decision = by_the_model(position, analysis.chances, state)
        assert difference(decision, analysis) < 1e-3, state
        if closeness(decision) > 1e-3:
            assert decision.action == expected(analysis), state
