"""Settings of the wrong type are refused in one line, whichever way they are given."""

import inspect
import json
import re
from dataclasses import fields, replace

import numpy as np
import pytest

import motif
from motif.analysis.judge import MatchOptions
from motif.benchmarks.benchmark_making import MakeSettings
from motif.contests.result import ContestRules
from motif.learning.fit_settings import FitSettings
from motif.phase_net.phase_settings import PhaseNetSettings
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.errors import FitError, MotifError, SettingError
from motif.sampling.sample import SampleSettings
from motif.session.session import SessionRules

NUMBER, WHOLE, TRUTH = "a number", "a whole number", "True or False"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("prune", True, NUMBER),
        ("prune", False, NUMBER),
        ("ridge", None, NUMBER),
        ("ridge", "a", NUMBER),
        ("validation", "a", NUMBER),
        ("hidden", 2.0, WHOLE),
        ("hidden", True, WHOLE),
        ("passes", 2.5, WHOLE),
        ("passes", True, WHOLE),
        ("bearoff", "no", TRUTH),
        ("bearoff", 1, TRUTH),
    ],
)
def test_settings_of_a_fit(name, value, rule):
    with pytest.raises(FitError) as refused:
        FitSettings(**{name: value}).check()
    assert str(refused.value) == f"{name} must be {rule}, not {value!r}"
    assert refused.value.fields == (name,)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("stop_at_race", "no", TRUTH),
        ("rate", "a", NUMBER),
        ("race_rate", "a", NUMBER),
        ("noise", "a", NUMBER),
        ("games", True, WHOLE),
    ],
)
def test_settings_of_a_sample(name, value, rule):
    with pytest.raises(SettingError, match=f"{name} must be {rule}, not {value!r}"):
        SampleSettings(**{"player": "simple", "games": 1, name: value}).check()


def test_settings_of_a_benchmark_file():
    with pytest.raises(SettingError, match="se must be a number, not 'a'"):
        MakeSettings(se="a").check()


def test_numbers_of_numpy():
    FitSettings(ridge=np.float64(2), passes=np.int64(3), hidden=np.int8(0), bearoff=np.True_).check()
    SampleSettings(player="simple", games=np.int64(3), rate=1, stop_at_race=np.False_).check()


@pytest.mark.parametrize("whole", [np.int64, np.uint8])
@pytest.mark.parametrize("real", [np.float64, np.float32, np.float16])
def test_numbers_of_numpy_become_numbers_of_python(whole, real):
    for given, expected in (
        (
            FitSettings(ridge=real(0.5), passes=whole(3), bearoff=np.True_),
            FitSettings(ridge=0.5, passes=3, bearoff=True),
        ),
        (
            replace(SampleSettings(player="simple"), games=whole(3), rate=real(0.5), seed=whole(7)),
            SampleSettings(player="simple", games=3, rate=0.5, seed=7),
        ),
        (RolloutSettings(se=real(0.5), stratified=np.False_), RolloutSettings(se=0.5)),
        (MakeSettings(se=real(0.5), decisions=whole(9)), MakeSettings(se=0.5, decisions=9)),
        (PhaseNetSettings(gain=real(0.5), games=whole(9)), PhaseNetSettings(gain=0.5, games=9)),
        (MatchOptions(length=whole(5), crawford=np.False_), MatchOptions(length=5, crawford=False)),
        (SessionRules(length=whole(5)), SessionRules(length=5)),
        (ContestRules(length=whole(5), cube=np.True_), ContestRules(length=5, cube=True)),
    ):
        assert repr(given) == repr(expected)


def test_results_of_numbers_of_numpy_can_be_written(tmp_path):
    two, seed = np.int64(2), np.random.default_rng(0).integers(100)
    sampled = motif.sample(
        player="simple", games=two, trials=two, seed=seed, rate=np.float32(0.5), out=tmp_path / "data", jobs=1
    )
    data = motif.read_dataset(sampled.folder)
    options = {
        "ridge": np.logspace(0, 2, 3)[1],
        "passes": two,
        "version": two,
        "heads": "win",
        "terms": "linear",
    }
    fitted = motif.fit(data, parameters="keith", out=tmp_path / "x.yaml", jobs=1, **options)
    assert motif.read_weight_file(tmp_path / "x.yaml").version == 2
    results = [
        sampled,
        fitted,
        motif.play_matches("simple", "simple", two, length=np.int64(1), seed=seed, jobs=1),
        motif.play_tournament(["simple", "random"], games=two, seed=seed, jobs=1),
        motif.cube("4HPwATDgc/ABMA", "simple", length=np.int64(5), score=np.array([1, 2])),
    ]
    for result in results:
        json.dumps(result.to_dict())


def test_docstrings_list_the_fields_of_settings():
    for settings in (FitSettings, SampleSettings, RolloutSettings, MakeSettings, PhaseNetSettings):
        text = inspect.getdoc(settings)
        assert "\n\nParameters\n----------\n" in text
        for one in fields(settings):
            assert re.search(rf"^{one.name} : .+\n    \S", text, re.MULTILINE), one.name
    assert "terms : {'pairs', 'linear'}, default 'pairs'\n    Weights of" in inspect.getdoc(FitSettings)
    assert "passes : int or None, default None\n" in inspect.getdoc(motif.fit)
    assert "\n    Random seed.\n\nReturns\n-------\n" in inspect.getdoc(motif.rollout)
    assert inspect.getdoc(motif.sample).count("\nplayer") == 1


@pytest.mark.parametrize(
    ("settings", "name", "value", "when"),
    [
        (FitSettings(hidden=2), "ridge", 77.0, "with hidden units"),
        (FitSettings(hidden=2), "equity_ridge", 5.0, "with hidden units"),
        (FitSettings(hidden=2), "method", "keith", "with hidden units"),
        (FitSettings(hidden=2), "tolerance", 1e-3, "with hidden units"),
        (FitSettings(hidden=2), "backgammons", "pairs", "with hidden units"),
        (FitSettings(heads="win"), "ranking", 5.0, "on the win probability"),
        (FitSettings(heads="win"), "equity_ridge", 9.0, "on the win probability"),
        (SampleSettings(player="simple", label="pubeval"), "trials", 6, "on labels without rollouts"),
        (
            SampleSettings(player="simple", label="outcome"),
            "stop_at_race",
            True,
            "on labels without rollouts",
        ),
    ],
)
def test_settings_without_effect(settings, name, value, when):
    settings.check_effects()
    with pytest.raises(MotifError, match=f"^{name}: has no effect {when}$") as refused:
        replace(settings, **{name: value}).check_effects()
    assert refused.value.fields == (name,)


def test_a_call_refuses_what_has_no_effect(tmp_path):
    with pytest.raises(FitError, match="ridge: has no effect with hidden units"):
        motif.fit(tmp_path, hidden=2, ridge=1.0)
    with pytest.raises(SettingError, match="trials: has no effect on labels without rollouts"):
        motif.sample(player="simple", label="pubeval", games=1, trials=6, out=tmp_path / "data")
