"""Every view of a decision shows the same numbers: hints, explanations, the quiz, lists and totals."""

import json
from base64 import b64encode

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from motif.analysis import confirmation
from motif.analysis.explain.reasons import row, with_shown
from motif.analysis.match.decision_errors import judge_plays
from motif.analysis.match.decisions import match_decisions
from motif.analysis.match.record_walk import PlayedRoll
from motif.board.marks import MIN_RATED
from motif.board.mat_file import mat_text
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_position
from motif.evaluators import load_evaluator
from motif.evaluators.known_players import default_player
from motif.serve.analysis_store import with_ratings
from motif.serve.quiz import AskedQuestion, judge_answer
from tests.serve.page_client import answered, opened
from tests.session.test_kept_game import SessionRules, begun, play_on
from tests.short_rollouts import shorten_rollouts

ANALYST = f"{default_player()}@1"
EXACTLY = 1e-9


@pytest.fixture(name="client", scope="module")
def _client(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, opened(tmp_path_factory.mktemp("games")) as client:
        shorten_rollouts(patch)
        yield client


@pytest.fixture(name="lines", scope="module")
def _lines(client):
    game = begun(SessionRules(length=3), seed=6)
    play_on(game, 30)
    content = b64encode(mat_text(game.session.record()).encode()).decode()
    answer = client.post("/api/v1/review", json={"content": content, "player": ANALYST, "keep": True})
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.fixture(name="decisions", scope="module")
def _decisions(lines):
    return [one for line in lines if "decisions" in line for one in line["decisions"]]


@pytest.fixture(name="errors", scope="module")
def _errors(decisions):
    """The 30 largest errors of play, and all those with the cube."""
    plays = [one for one in decisions if one["is_play"] and one["counts"] and one["best"] != one["done"]]
    return sorted(plays, key=lambda one: -one["error"])[:30]


def pair_of(decision):
    candidates = {one["done"]: one for one in decision["candidates"]}
    return [estimate(candidates[decision[name]]) for name in ("best", "done")]


def estimate(one):
    """A play as the page sends it: with the digits it shows."""
    kept = {name: one[name] for name in ("source", "se", "lookahead") if name in one}
    return {"done": one.get("done", one.get("notation")), "equity": round(one["equity"], 3), **kept}


def points(decision):
    return decision["error"] / 1000


def test_the_list_of_an_analysis_agrees_with_its_errors(decisions):
    assert sum(one["error"] > 0 for one in decisions) > 10
    for one in decisions:
        assert points(one) == pytest.approx(round(points(one), 3), abs=EXACTLY)
        candidates = one.get("candidates", [])
        assert all(each["difference"] is None or each["difference"] < 0 for each in candidates)
        made = next((each for each in candidates if each["done"] == one["done"]), None)
        if one["is_play"] and made and made["difference"] is not None and one["best"] != one["done"]:
            assert -made["difference"] == pytest.approx(points(one), abs=EXACTLY)


def test_totals_are_the_sums_of_the_errors_shown(lines, decisions):
    (players,) = (line["players"] for line in lines if "players" in line)
    for seat, player in enumerate(players):
        own = [one for one in decisions if one["counts"] and one["decider"] == seat]
        assert player["overall"]["decisions"] == len(own)
        assert player["overall"]["total"] == pytest.approx(sum(map(points, own)), abs=EXACTLY)


def test_hint_why_and_quiz_have_the_number_of_the_analysis(client, errors):
    evaluator = load_evaluator(ANALYST)
    for one in errors:
        about = {"id": one["id"], "player": ANALYST}
        known = {"known": pair_of(one), "known_se": one["error_se"] and one["error_se"] / 1000}
        why = answered(client, "explain", **about, **known)
        assert why["judged_difference"] == pytest.approx(points(one), abs=EXACTLY)
        assert sum(each["shown"] for each in why["reasons"]) == pytest.approx(points(one), abs=EXACTLY)
        assert why["judged_source"] == one["source"]
        assert not one["error"] or f"{points(one):.3f}" in why["summary"]
        candidates = [estimate(each) for each in one["candidates"]]
        hint = answered(client, "hint", **about, asked=[one["done"]], known_plays=candidates, shown=True)
        differences = {each["notation"]: each["difference"] for each in hint["plays"]}
        assert differences[one["done"]] == pytest.approx(-points(one), abs=1.01e-3)
        assert all(value is None or value <= 0 for value in differences.values())
        verdict = judge_answer(AskedQuestion(**one), one["done"], evaluator)
        assert (verdict.cost, verdict.best) == (pytest.approx(points(one), abs=EXACTLY), one["best"])
        assert verdict.source == one["source"]


def test_an_answer_that_the_analysis_has_not_judged_has_one_number_too(client, errors):
    evaluator = load_evaluator(ANALYST)
    for one in errors[:5]:
        other = next(each for each in one["candidates"] if each["done"] not in (one["best"], one["done"]))
        verdict = judge_answer(AskedQuestion(**one), other["done"], evaluator)
        if verdict.known is None:
            continue
        why = answered(client, "explain", id=one["id"], player=ANALYST, known=verdict.known)
        assert max(why["judged_difference"], 0) == pytest.approx(verdict.cost, abs=EXACTLY)
        assert why["judged_source"] == verdict.source


def test_a_hint_has_one_source_and_its_reasons_add_up_to_its_differences(client, errors):
    for one in errors[:6]:
        about = {"id": one["id"], "player": ANALYST}
        hint = answered(client, "hint", **about, shown=True, full_depth=8, asked=[one["done"]])
        best, *others = hint["plays"]
        made = next(each for each in (best, *others) if each["notation"] == one["done"])
        assert {each["source"] for each in (best, *others[:7], made)} in ({"1-ply"}, {"exact"})
        assert "win" in made
        for other in others[:7]:
            why = answered(client, "explain", **about, known=[estimate(best), estimate(other)])
            shown = sum(each["shown"] for each in why["reasons"])
            assert shown == pytest.approx(-other["difference"], abs=EXACTLY)
            assert why["judged_source"] == other["source"]


def test_in_late_endings_confirming_rollouts_come_first(client):
    """Lookahead rolls out late endings as well; such estimates are not mixed with those of more trials."""
    judge = f"{default_player()}@2"
    position, state = parse_position("XGID=a-C-BBCAC-----------A-bcb-:1:1:1:22:0:0:1:0:10")
    made = find_play("7/3 5/3(2)", legal_plays(position, (2, 2)))
    roll = PlayedRoll(1, 34, 0, position, state, (2, 2), made, False)
    judged = judge_plays([roll], load_evaluator(judge), confirm=confirmation.SHORT)
    (decision,) = match_decisions(judged, ())
    assert {one.source for one in decision.candidates} == {"rollout"}
    assert [one.se is not None for one in decision.candidates] == [True, True, False, False, False]
    assert [one.done for one in decision.candidates[:2]] == [decision.best, decision.done]
    assert decision.differences()[2:] == [None] * 3
    candidates = [estimate(one.to_dict()) for one in decision.candidates]
    about = {"id": roll.xgid, "player": judge}
    hint = answered(client, "hint", **about, asked=[decision.done], known_plays=candidates, shown=True)
    best, second, *others = hint["plays"]
    assert [best["notation"], second["notation"]] == [decision.best, decision.done]
    assert second["difference"] == pytest.approx(-decision.error, abs=1.01e-3)
    assert {one["difference"] for one in others} == {None}
    mixed = next(one for one in candidates if one["done"] not in (decision.best, decision.done))
    why = answered(client, "explain", **about, known=[mixed, candidates[1]])
    ahead = decision.candidates[1].lookahead
    assert why["judged_difference"] == pytest.approx(mixed["equity"] - ahead, abs=1.01e-3)
    asked = AskedQuestion(
        id=roll.xgid, is_play=True, done=decision.done, best=decision.best, candidates=candidates
    )
    verdict = judge_answer(asked, mixed["done"], load_evaluator(judge))
    assert verdict.se is not None


def test_cube_advice_has_the_numbers_of_the_analysis(client, decisions):
    evaluator = load_evaluator(ANALYST)
    cubes = [one for one in decisions if not one["is_play"]]
    assert {one["kind"] for one in cubes} == {"double", "take"}
    for one in cubes:
        is_answer = one["kind"] == "take"
        question = {
            "id": one["id"],
            "player": ANALYST,
            "known": one["known"],
            "answer": is_answer,
            "shown": True,
        }
        advice = answered(client, "cube", **question)
        assert advice["source"] == one["source"]
        shown = {row["action"].replace("redouble", "double"): row for row in advice["table"]["rows"]}
        for each in one["candidates"]:
            assert shown[each["done"]]["equity"] == pytest.approx(each["equity"], abs=1e-6)
            assert shown[each["done"]]["difference"] == each["difference"]
        if is_answer:
            assert advice["table"]["right"] in ("take", "pass")
            assert "double" not in advice["words"]
        if one["error"]:
            verdict = judge_answer(AskedQuestion(**one), one["done"], evaluator)
            assert verdict.cost == pytest.approx(points(one), abs=EXACTLY)
            assert f"{points(one):.3f}" in advice["words"]


def test_a_rollout_on_the_page_agrees_with_the_analysis(client, errors):
    one = next(each for each in errors if each["source"] == "rollout")
    names = ("trials", "cut", "luck_plies", "stop_at_bearoff", "stratified")
    settings = {name: getattr(confirmation.SHORT, name) for name in names}
    plays = [each["done"] for each in pair_of(one)]
    rolled = answered(client, "rollout", id=one["id"], compare=True, play=plays, **settings)
    for each in rolled["plays"]:
        known = next(estimate for estimate in pair_of(one) if estimate["done"] == each["notation"])
        assert each["se"]["equity"] == pytest.approx(known["se"], rel=0.5)
        assert each["equity"] == pytest.approx(known["equity"], abs=5 * known["se"])


def test_few_decisions_are_not_rated():
    player = {"pr": 3.0, "overall": {"decisions": MIN_RATED - 1}}
    assert with_ratings([player])[0]["pr_word"] is None
    assert with_ratings([player | {"overall": {"decisions": MIN_RATED}}])[0]["pr_word"] == "world class"


@pytest.mark.parametrize(
    ("amounts", "total", "expected"),
    [
        ((0.0104, 0.0203, 0.0103), 0.041, [0.011, 0.020, 0.010]),
        ((0.0106, -0.0036, 0.0002), 0.007, [0.011, -0.004, 0.0]),
        ((0.1007, 0.0506), 0.151, [0.101, 0.050]),
        ((0.0003, -0.0002), 0.001, [0.001, 0.0]),
        ((-0.0002, 0.0001), 0.0, [0.0, 0.0]),
    ],
)
def test_amounts_are_rounded_so_that_they_add_up(amounts, total, expected):
    shown = [one.shown for one in with_shown([row("a", amount, "") for amount in amounts], total)]
    assert sum(shown) == pytest.approx(total)
    assert sorted(shown) == pytest.approx(sorted(expected))
