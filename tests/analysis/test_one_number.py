"""A decision has the same numbers in match analysis, `hint`, `explain`, `cube` and the tutor."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import motif
from motif.analysis.confirmation import ROLLOUT_THRESHOLD
from motif.analysis.match.decision_errors import valued_state
from motif.analysis.match.decisions import CostUnit
from motif.analysis.match.match_analysis import MatchAnalysis
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.cli.main import main
from motif.evaluators import load_evaluator
from motif.evaluators.known_players import default_player
from motif.session.advisor import Advisor
from tests.short_rollouts import shorten_rollouts

EXACTLY = 1e-9


def analysed(folder: Path, judge: str, matches: int) -> list[MatchAnalysis]:
    """Matches to three points between two players, one of them weak."""
    found = []
    for seed in range(1, matches + 1):
        path = folder / f"{seed}.mat"
        game = ["play", "motif-v1", "pubeval", "--length", "3", "--seed", str(seed), "--save", str(path)]
        assert main(game) == 0
        found.append(motif.analyse(path, judge, worst=0, jobs=1))
    return found


def table(advisor: Advisor, one) -> SimpleNamespace:
    """The tutor's view of the table at a decision."""
    moment = one.moment
    return SimpleNamespace(
        position=moment.position,
        roll=getattr(moment, "roll", None),
        valued_state=lambda: valued_state(moment.state),
        state=lambda: moment.state,
        can_raccoon=False,
        games=moment.game - 1,
        ply=1,
        on_roll=moment.player,
        to_decide=one.player,
    )


def check_play(one, record, judge: str, advisor: Advisor) -> None:
    """Compare the analysis of a play with `hint`, `explain` and the tutor."""
    ranking = {ranked.play.notation: ranked for ranked in motif.rank(record["xgid"], player=judge)}
    rolled_out = any(ranked.source == "rollout" for ranked in ranking.values())
    deepest = "rollout" if rolled_out else judge[-1]
    for candidate in one.candidates:
        lookahead = candidate.equity if candidate.lookahead is None else candidate.lookahead
        ranked = ranking[candidate.done]
        # The actual play has the full depth in an analysis, but perhaps not in a list of hints.  In late
        # endings the full depth is a rollout.
        if candidate.done != one.done or ranked.source.startswith(deepest):
            assert ranked.equity == pytest.approx(lookahead, abs=EXACTLY), (candidate, ranked)
    session = table(advisor, one)
    play = find_play(one.done, legal_plays(session.position, session.roll))
    choice = advisor.compared(session, play)
    cost = 0.0 if choice is None else max(choice.difference, 0.0)
    assert cost == pytest.approx(one.error, abs=EXACTLY)
    if one.error > 0:
        told = motif.explain(record["xgid"], player=judge, better=one.best, versus=one.done)
        first, second = told.evidence.judged
        assert first - second == pytest.approx(one.error, abs=EXACTLY)


def check_cube(one, record, judge: str, advisor: Advisor) -> None:
    """Compare the analysis of a double, take or pass with `cube` and the tutor."""
    decision = motif.cube(record["xgid"], judge)
    doing = {"no double": "roll"}.get(one.done, one.done)
    assert advisor.judged_cube(table(advisor, one), doing).error == pytest.approx(one.error, abs=EXACTLY)
    if one.source != "rollout":
        shown = {candidate.done: candidate.equity for candidate in one.candidates}
        sign = -1 if one.done in ("take", "pass") else 1
        answer = decision.double_take if sign < 0 else decision.no_double
        assert shown["take" if sign < 0 else "no double"] == pytest.approx(sign * answer, abs=EXACTLY)
        # Without a rollout, errors that are too small to roll out count as 0.
        cost = decision.cost(doing)
        known = 0.0 if not decision.exact and cost < ROLLOUT_THRESHOLD else cost
        assert known == pytest.approx(one.error, abs=1e-6)


def check(analyses: list[MatchAnalysis], judge: str, every: int = 1) -> int:
    """Check one in `every` plays of `analyses`, and all decisions with the cube; return their number."""
    advisor, count = Advisor(load_evaluator(judge)), 0
    for analysis in analyses:
        for number, one in enumerate(analysis.decisions):
            if one.counts and not (one.is_play and number % every):
                record = one.to_dict(analysis.names, CostUnit.MWC)
                (check_play if one.is_play else check_cube)(one, record, judge, advisor)
                count += 1
        listed = analysis.errors()
        assert [one.error for one in listed] == sorted((one.error for one in listed), reverse=True)
        for player, totals in enumerate(analysis.players):
            own = sum(one.error for one in analysis.errors(player))
            assert own == pytest.approx(totals.overall.total, abs=EXACTLY)
    return count


def test_one_decision_has_one_number(tmp_path, monkeypatch):
    shorten_rollouts(monkeypatch)
    judge = f"{default_player()}@1"
    assert check(analysed(tmp_path, judge, 1), judge, every=2) > 20


@pytest.mark.slow
def test_500_decisions_have_one_number_each(tmp_path):
    assert check(analysed(tmp_path, "latest@2", 8), "latest@2") >= 500
