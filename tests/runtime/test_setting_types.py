"""Settings of the wrong type are refused in one line, whichever way they are given."""

from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.benchmarks.benchmark_making import MakeSettings
from motif.learning.fit_settings import FitSettings
from motif.runtime.errors import FitError, MotifError, SettingError
from motif.sampling.sample import SampleSettings

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
