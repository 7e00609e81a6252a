"""The keys that each command promises, and the consistency of their values."""

import math
import re

import numpy as np
import pytest

from motif import rank
from motif.board.identifiers import gnubg_id, position_from_gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.movegen import ROLLS
from motif.board.moves import PlayBatch, legal_plays
from motif.board.position import Position
from motif.cli.options import DEFAULT_PLAYER
from motif.cli.printing import json_line
from motif.evaluators import OUTPUTS, load_evaluator
from motif.learning import bootstrap_config as bootstrap
from motif.parameters.position_class import CLASS_NAMES
from motif.players import load
from motif.sampling.dataset_files import read_manifest

START = "4HPwATDgc/ABMA"
CLOSED_OUT = Position.from_points({25: 1, 6: 14}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 3})
FORMS = [
    START,
    f"{START}:cIkFAAAAAAAE",
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10",
    "OAHDPAABDAOAHDPAABDA",
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_position_is_evaluated(motif_json, form):
    record = motif_json("evaluate", form, "--player", "pubeval")
    assert set(OUTPUTS) < record.keys()
    assert (record["class"], record["player"], record["position"]) == ("contact", "pubeval", START)


@pytest.mark.parametrize("player", ["pubeval", "simple", "pubeval@1", "FILE"])
def test_evaluate_says_what_the_library_says(motif_json, weight_file, player):
    player = str(weight_file) if player == "FILE" else player
    record = motif_json("evaluate", "sGfwATDgc/ABMA", "--player", player)
    chances = load_evaluator(player).evaluate(position_from_gnubg_id("sGfwATDgc/ABMA"))
    assert tuple(record[name] for name in OUTPUTS) == chances
    gains = record["win_gammon"] + record["win_backgammon"]
    losses = record["lose_gammon"] + record["lose_backgammon"]
    assert record["equity"] == pytest.approx(2 * record["win"] - 1 + gains - losses, abs=1e-12)


def test_the_default_player_is_named(motif_json):
    assert motif_json("evaluate", START)["player"] == DEFAULT_PLAYER


def test_a_race_is_a_race(motif_json):
    race = Position.from_points({1: 3, 6: 2}, {2: 4})
    assert motif_json("evaluate", gnubg_id(race))["class"] == CLASS_NAMES[2]


@pytest.mark.parametrize("dice", [("3", "1"), ("1", "3"), ("31",)])
def test_plays_lists_every_legal_play(motif_json, dice):
    record = motif_json("plays", START, *dice)
    expected = {play.notation: play.position for play in legal_plays(Position.start(), (3, 1))}
    assert {p["notation"]: position_from_gnubg_id(p["position"]) for p in record["plays"]} == expected
    assert {"notation": "8/5 6/5", "position": "sGfwATDgc/ABMA"} in record["plays"]


def test_a_dance_is_one_play_without_notation(motif_json):
    identifier = gnubg_id(CLOSED_OUT)
    after = gnubg_id(CLOSED_OUT.switch_sides())
    for command in ("plays", "hint"):
        (play,) = motif_json(command, identifier, 6, 6)["plays"]
        assert (play["notation"], play["position"]) == ("", after)
    assert str(rank(identifier, "66", "pubeval")).startswith("no legal play of 66, ranked by pubeval")


@pytest.mark.parametrize("player", ["pubeval", "pubeval@1", "FILE"])
def test_hint_ranks_by_the_movers_equity(motif_json, weight_file, player):
    player = str(weight_file) if player == "FILE" else player
    record = motif_json("hint", START, 6, 4, "--player", player)
    evaluator = load_evaluator(player)
    equities = [play["equity"] for play in record["plays"]]
    assert equities == sorted(equities, reverse=True)
    assert len(equities) == len(legal_plays(Position.start(), (6, 4)))
    for play in record["plays"]:
        if play["source"] != ("1-ply" if player == "pubeval@1" else "0-ply"):
            continue
        after = position_from_gnubg_id(play["position"]).board[None]
        alone = PlayBatch(np.array([0, 1]), after, np.zeros(1, np.uint64))
        value = evaluator.play_equities(Position.start().board[None], alone)[0]
        assert play["equity"] == pytest.approx(value, abs=1e-12)
    # In a table of plays, the best ones have the same depth, and probabilities.
    assert len({play["source"] for play in record["plays"][:5]}) == 1
    assert all({"win", "lose_gammon", "moves"} <= play.keys() for play in record["plays"])


@pytest.mark.parametrize("shown", [1, 3, 100])
def test_hint_shows_as_many_plays_as_one_asks_for(motif, shown):
    ending = motif("hint", START, 3, 1, "--player", "pubeval", "--plays", shown)
    ranks = [line.split()[0] for line in ending.out.splitlines() if line.lstrip()[:1].isdigit()]
    legal = len(legal_plays(Position.start(), (3, 1)))
    assert ending.code == 0
    assert ranks[:-1] == [f"{rank}." for rank in range(1, min(shown, legal) + 1)]
    assert ranks[-1] == str(legal)


def test_hint_agrees_with_the_player_who_plays(motif_json, weight_file):
    player = load(str(weight_file))
    for roll in ROLLS.tolist():
        best = motif_json("hint", START, *roll, "--player", weight_file)["plays"][0]
        assert position_from_gnubg_id(best["position"]) == player.choose(Position.start(), roll).position


def test_rollout_gives_means_and_errors(motif_json, weight_file):
    record = motif_json("rollout", START, "--player", weight_file, "--trials", 36, "--seed", 3, "--jobs", 1)
    names = {*OUTPUTS, "equity"}
    assert (record["mean"].keys(), record["se"].keys(), record["trials"]) == (names, names, 36)
    assert record["seconds"] >= 0
    assert 0 <= record["mean"]["win"] <= 1
    assert record["se"]["equity"] > 0
    again = motif_json("rollout", START, "--player", weight_file, "--trials", 36, "--seed", 3, "--jobs", 2)
    assert again["mean"] == record["mean"]


@pytest.mark.parametrize(
    "option",
    [
        ("--cut", "2"),
        ("--stop-at-race",),
        ("--stop-at-bearoff",),
        ("--every-play",),
        ("--stratified",),
        ("--luck-plies", "1"),
        ("--luck-plies", "all"),
    ],
)
def test_rollout_takes_its_options(motif_json, option):
    record = motif_json("rollout", START, "--player", "pubeval", "--trials", 4, *option)
    assert (record["trials"], record["scoring"]) == (4, "money")
    assert record["sd"]["win"] == pytest.approx(2 * record["se"]["win"])
    assert record["trials_per_second"] == pytest.approx(4 / record["seconds"])


def test_rollout_for_wins_alone(motif_json):
    record = motif_json("rollout", START, "--player", "pubeval", "--trials", 20, "--scoring", "dmp")
    assert record["scoring"] == "dmp"
    assert record["mean"]["equity"] == pytest.approx(2 * record["mean"]["win"] - 1)


def test_rollout_stops_at_a_wanted_error(motif_json):
    options = ("--trials", 5000, "--cut", 1, "--se", 0.5)
    record = motif_json("rollout", START, "--player", "pubeval", *options)
    assert record["trials"] == 324
    assert record["se"]["equity"] <= 0.5


def test_rollout_compares_plays(motif_json):
    words = ("rollout", START, "3", "1", "--compare", "--player", "pubeval", "--trials", 72, "--cut", 4)
    record = motif_json(*words)
    plays = record["plays"]
    assert (len(plays), record["trials"], record["roll"]) == (5, 72, [3, 1])
    assert plays[0]["difference"] == 0
    for play in plays:
        assert play["difference"] == pytest.approx(play["equity"] - plays[0]["equity"])
        assert play["equity"] == play["mean"]["equity"]
        assert play["se"].keys() == {*OUTPUTS, "equity"}
        assert 0 <= play["p_value"] <= 1
        assert play["position"] in {it["position"] for it in motif_json("plays", START, "3", "1")["plays"]}
    assert record["settled"] == (record["doubt"] < 0.05)
    assert len(motif_json(*words, "--candidates", 2)["plays"]) == 2
    named = motif_json(*words, "--play", "8/5 6/5", "--play", "24/20", "--play", "6/5 8/5")["plays"]
    assert {play["notation"] for play in named} == {"8/5 6/5", "24/20"}


def test_plays_are_dropped_when_they_are_certainly_worse(motif_json):
    words = ("rollout", START, "3", "1", "--compare", "--player", "pubeval", "--trials", 324, "--cut", 2)
    record = motif_json(*words, "--stratified", "--candidates", 16, "--eliminate", "--significance", 0.5)
    dropped = [play for play in record["plays"] if play["dropped"]]
    left = [play for play in record["plays"] if not play["dropped"]]
    assert dropped
    assert {play["trials"] for play in left} == {record["trials"]}
    assert all(72 <= play["trials"] <= record["trials"] for play in dropped)
    assert record["significance"] == 0.5
    assert record["settled"] == (len(left) == 1)


def test_hint_rolls_out_its_best(motif_json, motif):
    words = ("hint", START, "3", "1", "--player", "pubeval")
    plain = motif_json(*words)
    record = motif_json(*words, "--rollout", "--trials", 72, "--candidates", 3)
    assert record["plays"] == plain["plays"]
    rolled = record["rollout"]
    assert {play["position"] for play in rolled["plays"]} == {play["position"] for play in plain["plays"][:3]}
    assert (rolled["trials"], rolled["significance"]) == (72, None)
    assert {play["trials"] for play in rolled["plays"]} == {72}
    assert "36 trials per play by pubeval" in motif(*words, "--rollout", "--trials", 36).out
    # The player with lookahead ranks the plays; the static one plays them out.
    for player in ("pubeval@1", "pubeval@1:wide"):
        record = motif_json(*words[:-1], player, "--rollout", "--trials", 36, "--candidates", 2)
        assert record["rollout"]["player"] == "pubeval"


def test_a_hint_with_a_rollout_shows_the_numbers_of_explain(motif_json):
    decision = (START, "6", "2", "--player", "motif-v1@1")
    first, second = motif_json("hint", *decision, "--rollout", "--candidates", 2)["rollout"]["plays"]
    explained = motif_json("explain", *decision)
    assert explained["judged_source"] == "rollout"
    assert explained["judged"] == pytest.approx([first["equity"], second["equity"]], abs=1e-12)
    assert explained["judged_se"] == pytest.approx(second["difference_se"], abs=1e-12)


def test_a_rollout_is_a_player(motif_json):
    player = "rollout:pubeval,trials=4,cut=2,stratified"
    assert motif_json("evaluate", START, "--player", player)["player"] == player
    plays = motif_json("hint", START, "3", "1", "--player", player)["plays"]
    assert len(plays) == 16


def test_one_trial_has_no_error(motif_json):
    record = motif_json("rollout", START, "--player", "pubeval", "--trials", 1)
    assert set(record["se"].values()) == {None}


def test_match_counts_games(motif_json):
    words = ("match", "pubeval", "random", "--games", 20, "--jobs", 1)
    record = motif_json(*words)
    assert {"ppg", "se", "wins", "gammons", "backgammons", "p_value"} < record.keys()
    assert record["games"] == 20 == record["wins"] + record["losses"]
    assert record["ppg"] > 0
    assert motif_json(*words) == record
    assert motif_json(*words, "--seed", 1) != record
    assert motif_json("match", "pubeval", "random", "--games", 2)["se"] is None


def test_benchmark_reports_every_file(motif_json, tmp_path):
    paths = [tmp_path / "one.bm", tmp_path / "two.bm"]
    best = "m OAHDPAABDAOAHDPAABDA 3 1 LAGHPAABDAOAHDPAABDA 0.1\n"
    paths[0].write_text(best)
    paths[1].write_text(best * 2)
    record = motif_json("benchmark", *paths, "--player", "pubeval")
    assert list(record["files"]) == list(map(str, paths))
    assert record["player"] == "pubeval"
    first, second = record["files"].values()
    assert first == {"er": 0.0, "se": None, "decisions": 1, "unlisted": 0}
    assert second == {"er": 0.0, "se": 0.0, "decisions": 2, "unlisted": 0}


def test_sample_counts_what_it_made(motif, motif_json, tmp_path):
    words = (
        "sample",
        "--out",
        tmp_path / "a",
        "--player",
        "simple",
        "--games",
        3,
        "--trials",
        2,
        "--jobs",
        1,
    )
    options = ("--decide", "rollout", "--candidates", 2, "--rate", 0.5, "--cut", 3, "--stop-at-race")
    record = motif_json(*words, *options)
    assert record.keys() == {"positions", "trials", "games", "seconds", "games_per_second"}
    assert (record["games"], record["trials"]) == (3, 2)
    assert record["positions"] > 0
    assert motif_json(*words, *options, "--resume")["positions"] == record["positions"]
    # Nothing was left to sample, so there is no rate.
    *_, last = motif(*words, *options, "--resume").out.splitlines()
    assert re.fullmatch(r"\d+\.\d s", last)


def test_sample_with_stratified_dice(motif_json, tmp_path):
    words = ("sample", "--out", tmp_path / "a", "--player", "simple", "--games", 1, "--trials", 36)
    record = motif_json(*words, "--cut", 1, "--rate", 0.2, "--candidates", 2, "--stratified", "--jobs", 1)
    assert record["trials"] == 36
    assert read_manifest(tmp_path / "a").settings["stratified"] is True


def test_fit_makes_a_player(motif_json, dataset, tmp_path):
    path = tmp_path / "new" / "fitted.yaml"
    options = ("--parameters", "keith", "--heads", "win", "--terms", "linear", "--jobs", 1)
    record = motif_json("fit", dataset, "--out", path, *options, "--version", 3, "--parent", "pubeval")
    assert {"rmse_train", "rmse_validation", "sweeps", "stopped", "seconds"} < record.keys()
    evaluator = load_evaluator(str(path))
    assert (evaluator.weights.name, evaluator.weights.version) == ("fitted", 3)
    assert evaluator.weights.parent == "pubeval"
    assert 0 < motif_json("evaluate", START, "--player", path)["win"] < 1


def test_fit_with_hidden_units_and_bearoffs(motif_json, dataset, tmp_path):
    path = tmp_path / "fitted.yaml"
    options = ("--parameters", "keith", "--hidden", 3, "--passes", 2, "--bearoff", "--jobs", 1)
    record = motif_json("fit", dataset, "--out", path, *options)
    weights = load_evaluator(str(path)).weights
    assert weights.bearoff
    assert set(weights.hidden_layers) == set(weights.classes) != set()
    assert all(len(layer.names) == 3 for layer in weights.hidden_layers.values())
    assert not any("equity" in heads for heads in weights.classes.values())
    assert "all" in record["choice_error"]
    assert (weights.fit["hidden"], weights.fit["passes"]) == (3, 2)
    assert 0 < motif_json("evaluate", START, "--player", path)["win"] < 1


def test_fit_plots_how_the_error_fell(motif_json, dataset, tmp_path):
    options = ("--parameters", "keith", "--heads", "win", "--terms", "linear", "--jobs", 1)
    motif_json("fit", dataset, "--out", tmp_path / "a.yaml", *options, "--plot", tmp_path / "a.svg")
    assert "</svg>" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("method", ["coordinate", "least-squares", "gauss-newton", "keith"])
def test_every_method_fits(motif_json, dataset, tmp_path, method):
    options = ("--parameters", "keith", "--heads", "win", "--terms", "linear", "--validation", 0)
    record = motif_json(
        "fit", dataset, "--out", tmp_path / "a.yaml", "--method", method, *options, "--jobs", 1
    )
    assert record["rmse_validation"] is None


@pytest.mark.slow
def test_bootstrap_reports_each_version(motif_json, tmp_path, monkeypatch):
    steps = tuple(bootstrap.VersionStep(games=30, trials=trials) for trials in (1, 2))
    fit = {"parameters": "keith", "terms": "linear", "heads": "win"}
    config = bootstrap.BootstrapConfig("tiny", "simple", 1, 60, fit, steps)
    monkeypatch.setattr(bootstrap, "load_preset", {"demo": config}.__getitem__)
    words = ("bootstrap", "--out", tmp_path / "run", "--preset", "demo", "--jobs", 1)
    versions = motif_json(*words)["versions"]
    assert [version["version"] for version in versions] == [0, 1]
    for version in versions:
        assert {"rmse_validation", "ppg_vs_pubeval", "ppg_se"} < version.keys()
    assert motif_json(*words)["versions"] == versions


def test_numbers_that_are_not_finite_become_null():
    assert json_line({"a": math.nan, "b": [math.inf, 1.5], "c": {"d": -math.inf}}) == (
        '{"a": null, "b": [null, 1.5], "c": {"d": null}}'
    )


def test_rollout_with_a_cube(motif, motif_json):
    """A last roll with 19 of 36 winning rolls: doubling gains 2 / 36 for money, but loses in the match."""
    words = ("rollout", "AQAAiAAAAAAAAA", "--cubeful", "--trials", 36, "--stratified", "--jobs", 1)
    record = motif_json(*words)
    assert record["action"] == record["static"]["action"] == "double, take"
    assert record["difference"] == pytest.approx(2 / 36)
    assert (record["double_pass"], record["cubeful"], record["length"]) == (1, True, 0)
    match = motif_json(*words, "--length", 5, "--score", "1-3")
    assert match["action"] == "no double, take"
    assert match["mwc_double_take"] < match["mwc_no_double"] < match["mwc_double_pass"]
    owned = motif_json(*words, "--cube", 2, "--owner", "you")
    assert (owned["double_take"], owned["difference"]) == (None, None)
    assert "Double, take: double +0.0556" in motif(*words).out
    plays = ("rollout", START, "3", "1", "--compare", "--cubeful", "--trials", 72, "--cut", 4, "--jobs", 1)
    compared = motif_json(*plays, "--length", 5, "--score", "3-4", "--eliminate")
    assert compared["cubeful"]
    assert "cubeful" in motif(*plays).out
    assert "with a cube the match determines" in motif(*words, "--scoring", "dmp").err


def test_a_rollout_without_a_cube_says_that_it_does_not_use_the_match_in_the_id(motif):
    words = ("rollout", "--trials", 36, "--cut", 2, "--jobs", 1)
    of_match = match_id(MatchState(5, 1, 3))
    note = "motif: the match in the ID is not used; --cubeful rolls out the cube decision at its score\n"
    assert motif(*words, f"{START}:{of_match}", "--json").err == note
    assert motif(*words, START).err == motif(*words, f"{START}:{match_id(MatchState())}").err == ""
