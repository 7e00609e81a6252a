"""Effects of parameters: planted values, a plain regression, and what players expect."""

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import self_play_positions
from motif.analysis.observed_effects import Observed, observed
from motif.analysis.term_report import effect_summaries, observed_positions
from motif.board.packed import Board
from motif.evaluators import load_static
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.players.player import static_player
from tests.reports.made_run import made_boards

_KEITH, _MOTIF = parameter_set("keith"), parameter_set("motif")
_BOARDS = made_boards(1500, np.random.default_rng(7))
_SLOPE = 1e-3
"""Small enough that the squash is straight."""


def _planted(size: float = _SLOPE, **weights: float) -> WeightFile:
    """A weight file of the set motif with only linear terms."""
    linear = np.zeros(len(_MOTIF), np.float32)
    for name, weight in weights.items():
        linear[_MOTIF.names.index(name)] = weight * size
    none = np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    head = {"equity": HeadWeights(0.0, linear, *none)}
    return WeightFile("planted", 0, None, _MOTIF, {"contact": head, "crashed": head, "race": head})


def _gain(seen: Observed, name: str) -> float:
    return seen.feature_gain(seen.parameters.names.index(name)) / _SLOPE


def test_what_is_planted_is_reported():
    """A value of one parameter and the frame yields the slope, whatever else correlates with it."""
    seen = observed(_planted(home_points=0.5, pip_count=-2, pip_count_opponent=1), _BOARDS, "equity")
    assert _gain(seen, "home_points") == pytest.approx(3 * 0.5, rel=1e-3)
    assert _gain(seen, "longest_prime") == pytest.approx(0, abs=1e-2)


def test_companions_move_as_they_usually_do():
    """With weights that offset each other, the total effect is shown, not the parts."""
    seen = observed(_planted(pip_lead=-1, pip_count=-3, pip_count_opponent=3), _BOARDS, "equity")
    assert seen.gradient[_MOTIF.names.index("pip_lead")] < 0
    assert _gain(seen, "pip_lead") > 1
    lead = _MOTIF.names.index("pip_lead")
    assert seen.companions(lead).sum() == pytest.approx(seen.feature_gain(lead), rel=1e-3)


def test_it_is_a_regression():
    """Compared with the textbook formula on all columns at once."""
    seen = observed(_planted(hitting_rolls=1, blots_home=-1, contained=2), _BOARDS, "equity")
    place = _MOTIF.names.index("direct_shots")
    frame = seen.feature_frame(place)
    facts = [seen._facts[name] for name in frame.held]
    design = np.column_stack(
        [np.ones(len(_BOARDS)), *facts, *(fact**2 for fact in facts), seen.features[:, place]]
    )
    coefficients = np.linalg.lstsq(design, seen.values, rcond=1e-9)[0]
    assert seen.feature_gain(place) == pytest.approx(coefficients[-1], rel=1e-6)


def test_a_curve_follows_what_is_planted():
    seen = observed(_planted(home_points=1, pip_count=-1), _BOARDS, "equity")
    place = _MOTIF.names.index("home_points")
    curve = seen.curve(place)
    assert sum(step.share for step in curve) == pytest.approx(1)
    rises = np.diff([step.worth for step in curve]) / np.diff([step.value for step in curve])
    assert rises == pytest.approx(3 * _SLOPE, rel=1e-2)
    mean = sum(step.worth * step.share for step in curve)
    assert mean == pytest.approx(seen.values.mean(), rel=1e-6)


def test_a_constant_is_worth_nothing():
    seen = observed(_planted(home_points=1), np.repeat(_BOARDS[:1], 200, axis=0), "equity")
    assert _gain(seen, "home_points") == 0
    assert effect_summaries(seen, 5) == ()


def test_an_unexpected_sign_is_explained():
    """Blots are planted as bad, but shots, which come with the opponent's blots, as far worse."""
    weights = _planted(0.05, blots_elsewhere_opponent=1, hitting_rolls=-9, direct_shots=-9)
    (effect,) = (
        effect
        for effect in effect_summaries(observed(weights, _BOARDS, "equity"), len(_MOTIF))
        if effect.name == "blots_elsewhere_opponent"
    )
    assert not effect.expected
    assert "Players would expect the opposite" in effect.sentence
    assert "this is usually higher too" in effect.sentence
    assert "can hit" in effect.sentence


def test_an_unexpected_weight_is_called_one():
    seen = observed(_planted(0.05, home_points=-9), _BOARDS, "equity")
    (effect,) = (effect for effect in effect_summaries(seen, 5) if effect.name == "home_points")
    assert effect.sentence.endswith(
        "Players would expect the opposite, but the parameter's own weights say so."
    )


@pytest.fixture(scope="module")
def motif_v1() -> tuple[Observed, Board]:
    evaluator = load_static("motif-v1")
    boards = self_play_positions(static_player(evaluator), 4000, "contact", seed=0)
    return observed_positions(evaluator.weights, boards, "contact", "equity"), boards


@pytest.mark.parametrize(
    ("names", "sign"),
    [
        (("pip_lead", "home_points", "longest_prime", "on_bar_opponent", "hitting_rolls", "mobility"), 1),
        (("pip_count", "on_bar", "home_points_opponent", "deep_checkers", "back_checkers"), -1),
        (("blots_elsewhere_opponent", "blots_back_opponent"), 1),
        (("blots_elsewhere", "blots_back"), -1),
    ],
)
def test_motif_v1_is_described_as_players_see_it(motif_v1, names, sign):
    seen, _ = motif_v1
    for name in names:
        assert np.sign(seen.feature_gain(seen.parameters.names.index(name))) == sign, name


def test_nothing_against_common_sense_is_reported_without_saying_why(motif_v1):
    seen, _ = motif_v1
    effects = effect_summaries(seen, len(seen.parameters))
    against = [effect for effect in effects if not effect.expected]
    assert len(against) <= 3
    assert all("Players would expect the opposite" in effect.sentence for effect in against)
    (lead,) = (effect for effect in effects if effect.name == "pip_lead")
    assert "leads are worth" in lead.sentence


def test_twins_are_seen_in_one_frame(motif_v1):
    seen, _ = motif_v1
    for k, parameter in enumerate(seen.parameters.parameters):
        if parameter.twin:
            twin = seen.parameters.names.index(parameter.twin)
            assert seen.feature_frame(k).number == seen.feature_frame(twin).number


def test_other_sets_have_the_same_frames():
    seen = observed(_of_keith(), _BOARDS, "equity")
    rows = features(_KEITH, _BOARDS)
    assert seen.features == pytest.approx(rows)
    assert seen.feature_gain(_KEITH.names.index("blots")) == pytest.approx(-3 * _SLOPE, rel=1e-2)


def _of_keith() -> WeightFile:
    linear = np.zeros(len(_KEITH), np.float32)
    linear[_KEITH.names.index("blots")] = -_SLOPE
    head = {"equity": HeadWeights(0.0, linear, np.zeros((0, 2), np.int64), np.zeros(0, np.float32))}
    return WeightFile("keith", 0, None, _KEITH, {"contact": head, "crashed": head, "race": head})
