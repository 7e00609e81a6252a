"""Configurations of bootstrap runs: their text, and invalid ones."""

from dataclasses import replace

import pytest

from motif.learning.bootstrap_config import (
    BootstrapConfig,
    VersionStep,
    load_config,
    load_preset,
    parse_config,
    preset_names,
    with_seed,
)
from motif.learning.fit import FitSettings
from motif.runtime.errors import FitError, SettingError
from motif.sampling.sample import SampleSettings

TEXT = """
name: tiny
start: simple
seed: 4
strength_games: 60
fit: {parameters: keith, terms: linear, ranking: null}
versions:
  - {games: 3, trials: 2}
  - {games: 5, trials: 4, rate: 0.5, race_rate: null, cut: 3, stop_at_race: true, pooled: 1}
"""


def complaint(text: str) -> str:
    with pytest.raises(SettingError) as caught:
        parse_config(text, "tiny.yaml")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("tiny.yaml: ")
    return message.removeprefix("tiny.yaml: ")


def test_a_configuration():
    config = parse_config(TEXT, "tiny.yaml")
    assert config == BootstrapConfig(
        "tiny",
        "simple",
        4,
        60,
        {"parameters": "keith", "terms": "linear", "ranking": None},
        (VersionStep(3, 2), VersionStep(5, 4, rate=0.5, cut=3, stop_at_race=True, pooled=1)),
    )
    assert config.fit_settings() == FitSettings(parameters="keith", terms="linear", seed=4)
    sampled = config.versions[1].sample_settings("pubeval", 9)
    assert sampled == SampleSettings(5, 4, player="pubeval", rate=0.5, cut=3, stop_at_race=True, seed=9)


def test_a_version_fits_in_its_own_way(tmp_path):
    text = TEXT.replace("games: 5", "games: 5, stratified: true, trials: 36, fit: {bearoff: true, ridge: 2}")
    config = parse_config(text.replace("trials: 4, ", ""), "tiny.yaml")
    run = FitSettings(parameters="keith", terms="linear", seed=4)
    assert config.fit_settings() == config.fit_settings(0) == run
    assert config.fit_settings(1) == replace(run, bearoff=True, ridge=2)
    assert config.versions[1].sample_settings("pubeval", 9).stratified
    assert "fit" not in config.versions[1].plan()
    config.save(tmp_path)
    assert load_config(tmp_path / "config.yaml") == config


def test_saved_and_loaded(tmp_path):
    text = TEXT.replace("ranking: null", "ranking: null, prune: 2")
    assert not parse_config(text, "tiny.yaml").terms
    config = parse_config(text + "terms: true\n", "tiny.yaml")
    assert (config.terms, config.fit_settings().prune) == (True, 2)
    config.save(tmp_path)
    assert load_config(tmp_path / "config.yaml") == config
    assert load_config(tmp_path / "config.yaml") != with_seed(config, 5)


def test_presets():
    assert {"demo", "classic", "strong"} <= set(preset_names())
    for name in preset_names():
        config = load_preset(name)
        config.check()
        assert len(config.versions) >= 2
    with pytest.raises(SettingError, match=r"no preset is called 'none'; there are .*demo"):
        load_preset("none")


def test_numbers_with_an_exponent_and_a_name_like_one(tmp_path):
    text = TEXT.replace("ranking: null", "tolerance: 1e-6").replace("rate: 0.5", "rate: 5e-1")
    config = parse_config(text.replace("name: tiny", "name: '1e6'"), "tiny.yaml")
    assert (config.fit_settings().tolerance, config.versions[1].rate) == (1e-6, 0.5)
    config.save(tmp_path)
    assert load_config(tmp_path / "config.yaml") == config


def test_another_seed():
    config = parse_config(TEXT, "tiny.yaml")
    assert with_seed(config, None) is config
    assert with_seed(config, 7) == replace(config, seed=7)
    assert with_seed(config, 7).fit_settings().seed == 7
    fixed = parse_config(TEXT.replace("ranking: null", "seed: 1"), "tiny.yaml")
    assert fixed.fit_settings().seed == 1


def test_no_two_uses_share_a_seed():
    configs = [replace(parse_config(TEXT, "tiny.yaml"), seed=seed) for seed in (0, 1, 2)]
    seeds = [use(version) for c in configs for version in range(9) for use in (c.step_seed, c.strength_seed)]
    assert len(set(seeds)) == len(seeds)


WRONG: list[tuple[str, str, str]] = [
    ("name: tiny\n", "", "name: missing"),
    ("seed: 4\n", "", "seed: missing"),
    ("strength_games: 60\n", "", "strength_games: missing"),
    ("name: tiny", "name: 3", "name: must be text, not 3"),
    # Otherwise only the fit would refuse the name, after the sample.
    ("name: tiny", 'name: "a\\nb"', "name must be a line of 1 to 1000 visible characters, including the "),
    ("name: tiny", 'name: ""', "name must be a line of 1 to 1000 visible characters, including the "),
    ("name: tiny", "name: " + "x" * 999, "name must be a line of 1 to 1000 visible characters, including"),
    ("seed: 4", "seed: 4.5", "seed: must be a whole number, not 4.5"),
    ("seed: 4", "seed: true", "seed: must be a whole number, not True"),
    ("seed: 4", "seed: -1", "seed must be at least 0 and below 9223372036854775, not -1"),
    (
        "seed: 4",
        "seed: 9223372036854775",
        "seed must be at least 0 and below 9223372036854775, not 922337203",
    ),
    ("strength_games: 60", "strength_games: 59", "strength_games must be at least 60, not 59"),
    ("name: tiny", "name: tiny\nauthor: me", "author: unknown key; known keys: name, start, seed, "),
    ("versions:", "versions: []\nsteps:", "steps: unknown key"),
    ("{games: 3, trials: 2}", "[3, 2]", "versions[0]: must be a mapping, not [3, 2]"),
    ("{games: 3, trials: 2}", "{trials: 2}", "versions[0]: games: missing"),
    (
        "{games: 3, trials: 2}",
        "{games: 3, trials: few}",
        "versions[0]: trials: must be a whole number, not 'few'",
    ),
    ("games: 5", "games: 5, turns: 3", "versions[1]: turns: unknown key; known keys: games, trials, "),
    ("rate: 0.5", "rate: most", "versions[1]: rate: must be a number, not 'most'"),
    ("race_rate: null", "race_rate: most", "versions[1]: race_rate: must be a number or null, not 'most'"),
    ("stop_at_race: true", "stop_at_race: 1", "versions[1]: stop_at_race: must be true or false, not 1"),
    ("games: 5", "games: 0", "versions[1]: games must be at least 1, not 0"),
    ("rate: 0.5", "rate: .nan", "versions[1]: rate must be between 0 and 1, not nan"),
    ("race_rate: null", "race_rate: 2", "versions[1]: race_rate must be between 0 and 1, not 2"),
    ("games: 3", "decide: coin, games: 3", "versions[0]: decide must be evaluator or rollout, not 'coin'"),
    ("pooled: 1", "labels: gnubg", "versions[1]: labels must be rollout or lookahead such as @2:thin, not"),
    ("pooled: 1", 'labels: "@9"', "versions[1]: labels must be rollout or lookahead"),
    ("pooled: 1", 'labels: "@2:deep"', "versions[1]: labels must be rollout or lookahead"),
    ("pooled: 1", "pooled: -1", "versions[1]: pooled must be at least 0, not -1"),
    ("fit: {", "fit: {speed: 3, ", "fit: speed: unknown key; known keys: method, "),
    ("parameters: keith", "parameters: [keith]", "fit: parameters: must be text, not ['keith']"),
    ("parameters: keith", "parameters: tesauro", "unknown parameter set 'tesauro'"),
    ("terms: linear", "terms: cubic", "terms must be pairs or linear, not 'cubic'"),
    ("terms: linear", "heads: two", "heads must be all or win, not 'two'"),
    ("terms: linear", "method: magic", "unknown method 'magic': choose one of "),
    ("terms: linear", "method: []", "unknown method []: choose one of "),
    ("terms: linear", "validation: 1", "validation must be at least 0 and below 1, not 1"),
    ("terms: linear", "ridge: -1", "ridge must be finite and at least 0, not -1"),
    ("terms: linear", "equity_ridge: .inf", "equity_ridge must be finite and at least 0, not inf"),
    ("terms: linear", "passes: 0", "passes must be at least 1, not 0"),
    ("terms: linear", "tolerance: -1", "tolerance must be finite and at least 0, not -1"),
    ("terms: linear", "passes: few", "fit: passes: must be a whole number or null, not 'few'"),
    ("ranking: null", "ranking: high", "fit: ranking: must be a number or null, not 'high'"),
    ("terms: linear", "seed: -1", "seed must be at least 0, not -1"),
    ("terms: linear", "seed: 9223372036854775808", "seed must be below 2**63, not 9223372036854775808"),
    ("terms: linear", "ridge: 1" + "0" * 400, "ridge must be finite and at least 0, not 1000"),
    ("games: 3", "games: 2147483648", "versions[0]: games must be below 2**31, not 2147483648"),
    ("cut: 3", "cut: 1" + "0" * 99, "versions[1]: cut must be below 2**31, not 1000"),
    (
        "versions:\n",
        "versions:\n" + "  - {games: 1, trials: 1}\n" * 99,
        "versions: there must be at most 100",
    ),
    (
        "games: 3",
        "games: 3, stratified: true",
        "versions[0]: stratified: trials must be a multiple of 36",
    ),
    ("games: 5", "games: 5, fit: 3", "versions[1]: fit: must be a mapping, not 3"),
    ("games: 5", "games: 5, fit: {speed: 3}", "versions[1]: fit: speed: unknown key; known keys: method, "),
    ("games: 5", "games: 5, fit: {bearoff: 1}", "versions[1]: fit: bearoff: must be true or false, not 1"),
    ("games: 5", "games: 5, fit: {ridge: -1}", "versions[1]: ridge must be finite and at least 0, not -1"),
    ("terms: linear", "equity_ridge: -1", "equity_ridge must be finite and at least 0, not -1"),
    ("terms: linear", "passes: 0", "passes must be at least 1, not 0"),
    ("ranking: null", "prune: -1", "prune must be finite and at least 0, not -1"),
    ("ranking: null", "prune: true", "fit: prune: must be a number or null, not True"),
    ("seed: 4", "seed: 4\nterms: 1", "terms: must be true or false, not 1"),
    ("ranking: null", "ranking: .nan", "ranking must be finite and at least 0, not nan"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[row[2][:40] for row in WRONG])
def test_faults_are_named_by_their_key(old, new, message):
    assert old in TEXT
    assert complaint(TEXT.replace(old, new, 1)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a mapping, not None"),
        ("[1]", "must be a mapping, not [1]"),
        ("{", "not YAML: "),
        ("a: !!int 1", "not YAML: line 1: tags are not accepted"),
        (TEXT + "name: again", "not YAML: line 10: duplicate key 'name'"),
        (
            TEXT.replace("{games: 3", "{games: 3, games: 4"),
            "not YAML: line 8: duplicate key 'games'",
        ),
        ("a: " + "[" * 20_000, "not YAML: "),
        ("? {a: 1}\n: 2", "not YAML: "),
        (TEXT.split("versions:")[0], "versions: must list at least one version"),
        (TEXT.split("versions:")[0] + "versions: {games: 3}", "versions: must list at least one version"),
    ],
)
def test_invalid_configurations(text, message):
    assert complaint(text).startswith(message)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SettingError, match=r"none\.yaml: cannot be read: "):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"\xff")
    with pytest.raises(SettingError, match=r"latin\.yaml: cannot be read: "):
        load_config(tmp_path / "latin.yaml")


def test_fit_settings_in_the_library():
    with pytest.raises(FitError, match="ridge must be finite and at least 0, not nan"):
        FitSettings(ridge=float("nan")).check()


@pytest.mark.parametrize("method", ["coordinate", "gauss-newton", "keith", "least-squares"])
def test_every_method_knows_ranking(method):
    settings = FitSettings(method=method, ranking=5.0)
    settings.check()
    assert settings.ranking_weight == 5.0
    assert FitSettings(method=method).ranking_weight == (5.0 if method == "gauss-newton" else 0.0)
