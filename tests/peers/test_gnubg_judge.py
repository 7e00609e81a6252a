"""The judge's equity of the best play of a roll, compared with gnubg's cubeful 2-ply."""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.parsing import parse_decision
from motif.board.position import Position
from motif.board.rules import may_double
from motif.doubling import cube_decision
from motif.evaluators import load_evaluator
from motif.parameters.position_class import RACE, classify_many
from motif.players.ranking import Ranking, rank_plays
from tests.games import some_decisions
from tools.text_gnubg import TABLE

JUDGE = "latest@2"
SEED = 20261124
RACES, CONTACT, MATCHES = 100, 200, 100
MAX_FROM_GNUBG = {"race": 0.015, "contact": 0.04}
"""Largest mean absolute differences of the best play's equity."""

_MONEY = [
    MatchState(),
    MatchState(jacoby=True),
    MatchState(cube=2, cube_owner="me"),
    MatchState(cube=2, cube_owner="opponent"),
]
_SCORES = [
    MatchState(length=7),
    MatchState(length=7, own_score=2, opponent_score=4),
    MatchState(length=5, own_score=3, opponent_score=1, cube=2, cube_owner="me"),
    MatchState(length=9, own_score=5, opponent_score=6, cube=2, cube_owner="opponent"),
    MatchState(length=5, own_score=2, opponent_score=4, crawford=True),
    MatchState(length=5, own_score=4, opponent_score=2),
    MatchState(length=7, own_score=5, opponent_score=5),
]
_SETTINGS = [
    "set output digits 4",
    "set output matchpc off",
    "set output winpc off",
    f"set met {TABLE}",
    "set beavers 0",
    *(
        f"set evaluation {kind} evaluation {what}"
        for kind in ("cubedecision", "chequerplay")
        for what in ("plies 2", "cubeful on", "prune on", "noise 0")
    ),
]
_BEST = re.compile(r"^ *1\. Cubeful \d-ply +(.*?) {2,}(?:Eq\.|MWC): *([-+][0-9.]+)", re.MULTILINE)
_AT_ONCE = 40
CLOSE = 0.02


class Asked(NamedTuple):
    """A decision, and both programs' answers."""

    position: Position
    roll: tuple[int, int]
    state: MatchState
    is_race: bool
    gnubg: float
    """Equity of gnubg's best play."""
    play: str
    """gnubg's best play."""
    ranking: Ranking

    @property
    def difference(self) -> float:
        """The difference between the equities of the two best plays."""
        return abs(self.ranking[0].equity - self.gnubg)

    def __str__(self) -> str:
        return (
            f"{gnubg_id(self.position)}:{match_id(self.state)} {self.roll}: "
            f"motif {self.ranking[0]} ({self.ranking[0].source}), gnubg {self.play} {self.gnubg:+.3f}"
        )


def chosen_decisions() -> list[tuple[Position, tuple[int, int], MatchState]]:
    """Return races and contact positions for money, then all kinds at match scores, with several plays."""
    boards, rolls = some_decisions("motif-v1", 4_000, SEED)
    races = classify_many(pack_many(boards)) == RACE
    pairs = list(zip(boards, rolls.tolist(), races.tolist(), strict=True))
    free = [
        (Position(board), (high, low), race)
        for board, (high, low), race in pairs
        if len(legal_plays(Position(board), (high, low))) > 1
    ]
    random = np.random.default_rng(SEED)
    race, contact = ([one[:2] for one in free if one[2] is is_race] for is_race in (True, False))
    both = contact[CONTACT : CONTACT + 2 * MATCHES // 3] + race[RACES : RACES + MATCHES // 3 + 1]
    money = [(*one, _MONEY[random.integers(len(_MONEY))]) for one in [*race[:RACES], *contact[:CONTACT]]]
    return money + [(*one, _SCORES[random.integers(len(_SCORES))]) for one in both[:MATCHES]]


def gnubg_best(gnubg, decisions) -> list[tuple[str, float]]:
    """Return gnubg's 2-ply play and its equity, for each of `decisions`."""
    found = []
    for start in range(0, len(decisions), _AT_ONCE):
        commands = [*_SETTINGS]
        for position, (high, low), state in decisions[start : start + _AT_ONCE]:
            commands += [
                f"set jacoby {'on' if state.jacoby else 'off'}",
                f"set gnubgid {gnubg_id(position)}:{match_id(state)}",
                f"set dice {high} {low}",
                "hint 1",
            ]
        found += _BEST.findall("\n".join(gnubg._answers("off", commands)))
    assert len(found) == len(decisions)
    return [(play, float(equity)) for play, equity in found]


def asked_of(gnubg, decisions) -> list[Asked]:
    """Return every decision with the answers of gnubg and of motif."""
    judge = load_evaluator(JUDGE)
    races = classify_many(pack_many(np.array([one[0].board for one in decisions]))) == RACE
    rankings = [rank_plays(*one[:2], judge, one[2]) for one in decisions]
    return [
        Asked(*decision, race, equity, play, ranking)
        for decision, (play, equity), race, ranking in zip(
            decisions, gnubg_best(gnubg, decisions), races.tolist(), rankings, strict=True
        )
    ]


def test_best_plays_have_gnubgs_equities(gnubg):
    compared = asked_of(gnubg, chosen_decisions())
    assert len(compared) == RACES + CONTACT + MATCHES
    for is_race, name in ((True, "race"), (False, "contact")):
        own = sorted((one for one in compared if one.is_race is is_race), key=lambda one: -one.difference)
        mean = float(np.mean([one.difference for one in own]))
        worst = "\n".join(map(str, own[:8]))
        print(f"{name}: {len(own)} decisions, {mean:.4f} apart on average; the farthest:\n{worst}")
        assert mean <= MAX_FROM_GNUBG[name], worst
    judge = load_evaluator(JUDGE)
    for one in compared:
        opponent = one.state.switch_sides()
        after = one.ranking.best.position
        if may_double(opponent) and not outcome(after):
            decision = cube_decision(judge.evaluate(after), opponent, after, judge)
            assert one.ranking[0].equity <= -decision.doubled + 1e-6, str(one)


CASHED = [
    ("XGID=----BBDBBA---B--ab-dccb---:0:0:1:64:0:0:0:0:10", "13/3"),
    ("XGID=-B-ABBB------------bab-b--:0:0:1:31:0:0:0:0:10", "3/off 1/off"),
    ("XGID=---BBbCBB-B-bB---c-cbba---:0:0:1:64:0:0:0:0:10", "10/6 10/4"),
]
"""Positions in which plays were once valued as if the opponent could not double."""


@pytest.mark.parametrize(("identifier", "notation"), CASHED)
def test_the_cube_counts_right_after_the_play(gnubg, identifier, notation):
    position, state, roll = parse_decision(identifier)
    asked = replace(state, dice=None)
    ((_, equity),) = gnubg_best(gnubg, [(position, roll, asked)])
    ranking = rank_plays(position, roll, load_evaluator(JUDGE), asked)
    (play,) = (one for one in ranking if one.play.notation == notation)
    assert ranking[0].equity == pytest.approx(equity, abs=CLOSE)
    assert play.equity == pytest.approx(equity, abs=CLOSE)
