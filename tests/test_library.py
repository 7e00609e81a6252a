"""The high-level functions of `import motif`: they accept any form, and their results print themselves."""

import ast
import builtins
import doctest
import inspect
import json
import pickle
import pydoc
import re
import subprocess
import sys
import typing
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import motif
from motif.analysis.judge import MatchOptions
from motif.board.game_record import MatchRecord
from motif.cli.main import main
from motif.evaluators.known_players import default_player
from motif.evaluators.probabilities import OUTPUTS as PROBABILITIES
from motif.library_options import FitKeywords, MatchKeywords, RolloutKeywords, SampleKeywords
from motif.parameters import ParameterSet
from motif.rollouts.playout import MAX_GAME_PLIES

START = "4HPwATDgc/ABMA"
ROLLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
FORMS = [
    START,
    ROLLED,
    f"{START}:cAkAAAAAAAAA",
    motif.Position.start(),
    motif.Position.start().board,
    motif.Position.start().board.tolist(),
    motif.Position.start().board.astype(float),
]
AT_TWO = "XGID=-b----E-C---eE---c-e----B-:1:1:1:00:0:0:0:0:10"
PLAYER = "motif-v0"


@pytest.mark.parametrize("position", FORMS, ids=str)
@pytest.mark.parametrize("roll", ["31", "3 1", (3, 1), (1, 3), 31, np.array([3, 1])], ids=str)
def test_rank_takes_any_form(position, roll):
    ranking = motif.rank(position, roll, PLAYER)
    assert str(ranking.best) == "8/5 6/5"
    assert ranking.roll == (3, 1)
    assert len(ranking) == 16
    assert [one.equity for one in ranking] == sorted((one.equity for one in ranking), reverse=True)


def test_an_id_may_hold_the_roll():
    assert motif.rank(ROLLED, player=PLAYER).best == motif.rank(START, "31", PLAYER).best
    assert motif.explain(ROLLED, player=PLAYER).roll == (3, 1)
    with pytest.raises(
        motif.MotifError, match=r"^missing roll, such as .3, 1. or '31': the position has none"
    ):
        motif.rank(START)


def test_a_player_may_be_a_name_a_player_or_an_evaluator():
    player = motif.load(PLAYER)
    rankings = [motif.rank(START, "31", who) for who in (PLAYER, player, player.evaluator)]
    assert rankings[0] == rankings[1] == rankings[2]
    assert motif.evaluate(START, player) == player.evaluate(START) == motif.evaluate(START, PLAYER)


def test_the_name_of_the_judge_has_weights_and_depth():
    assert motif.rank(START, "31").player == f"{default_player()}@2"
    assert motif.load("latest").name == motif.load("latest").evaluator.name == default_player()


def test_match_and_cube_are_keywords():
    money, match = (
        motif.cube("dPexAAB07zMAAA", PLAYER, **said) for said in ({}, {"length": 7, "score": (3, 5)})
    )
    assert money.state.length == 0
    assert (match.state.length, match.state.own_score, match.state.opponent_score) == (7, 3, 5)
    at_the_score = motif.rank(START, "64", PLAYER, length=5, score="3-4", crawford=True)
    assert at_the_score.valued_for == "2-away 1-away, Crawford game"


def test_cube_and_rollout_are_functions():
    assert motif.cube("AQAAiAAAAAAAAA").action == "double, take"
    assert motif.rollout(START, PLAYER, trials=36, cut=2, seed=4).trials.tolist() == [36]


@pytest.mark.parametrize("position", FORMS, ids=str)
def test_rollout_and_evaluate_take_any_form(position):
    assert motif.evaluate(position, PLAYER) == motif.evaluate(START, PLAYER)
    rolled, wanted = (motif.rollout(one, PLAYER, trials=36, cut=2, jobs=1) for one in (position, START))
    assert (rolled.mean == wanted.mean).all()


def test_rollout_takes_several_positions():
    board = motif.Position.start().board
    for several in ([START] * 2, [board.tolist()] * 2, np.stack([board] * 2), (one for one in [board] * 2)):
        assert len(motif.rollout(several, PLAYER, trials=2, cut=2, jobs=1).trials) == 2
    assert len(motif.rollout([], PLAYER, trials=2, jobs=1).trials) == 0


@pytest.mark.parametrize("wrong", [0.5, float("nan"), float("inf"), 1e300, 2**40])
def test_boards_of_other_numbers_are_refused(wrong):
    board = motif.Position.start().board.tolist()
    board[3] = wrong
    for ask in (motif.evaluate, motif.rollout):
        with pytest.raises(motif.MotifError, match=r"^(row 0: )?invalid position: "):
            ask(board, PLAYER)


def test_a_frame_of_boards_and_the_index_of_a_series():
    pandas = pytest.importorskip("pandas")
    boards = pandas.DataFrame(np.stack([motif.Position.start().board] * 2), index=["a", "b"])
    rows = motif.evaluate_many(boards, PLAYER)
    assert np.array_equal(rows, motif.evaluate_many([START] * 2, PLAYER))
    assert len(motif.rollout(boards, PLAYER, trials=2, cut=2, jobs=1).trials) == 2
    assert list(motif.evaluate_many(boards, PLAYER, as_frame=True).index) == ["a", "b"]
    table = motif.evaluate_many(pandas.Series([START, START], index=[7, 3]), PLAYER, as_frame=True)
    assert list(table.index) == [7, 3]
    assert list(table["position"]) == [START, START]


def test_boards_of_a_mixed_data_frame_are_positions():
    """Its rows are arrays of objects."""
    pandas = pytest.importorskip("pandas")
    boards = pandas.DataFrame(np.stack([motif.Position.start().board] * 2))
    mixed = boards.assign(name=["a", "b"])
    row = mixed.loc[0][list(boards)]
    assert row.dtype == object
    assert motif.evaluate(row, PLAYER) == motif.evaluate(START, PLAYER)
    rows = motif.evaluate_many(mixed[["name", *boards]].to_numpy()[:, 1:], PLAYER)
    assert np.array_equal(rows, motif.evaluate_many([START] * 2, PLAYER))
    row[3] = 1.5
    with pytest.raises(motif.PositionError, match="a board must contain whole numbers of checkers"):
        motif.evaluate(row, PLAYER)


def test_evaluate_many_takes_a_list_or_an_array():
    boards = np.stack([motif.Position.start().board] * 2)
    rows = motif.evaluate_many(boards, PLAYER)
    assert rows.shape == (2, 5)
    assert rows.dtype == np.float32
    assert np.array_equal(rows, motif.evaluate_many([START, motif.Position.start()], PLAYER))
    assert motif.evaluate_many([], PLAYER).shape == (0, 5)
    assert motif.evaluate([], PLAYER) == []
    assert motif.evaluate([START], PLAYER) == [motif.evaluate(START, PLAYER)]


def test_legal_plays_take_dice_of_any_type():
    plays = motif.legal_plays(START, "31")
    for dice in [(3, 1), (np.int64(3), 1), (1, np.int8(3)), ("3", "1")]:
        assert motif.legal_plays(START, *dice) == motif.legal_plays(START, dice) == plays
    with pytest.raises(motif.MotifError, match="each die must be 1 to 6, not 31"):
        motif.legal_plays(START, "31", 1)


def test_frames():
    pandas = pytest.importorskip("pandas")
    table = motif.evaluate_many([START], PLAYER, as_frame=True)
    assert isinstance(table, pandas.DataFrame)
    assert table.loc[0, "equity"] == pytest.approx(motif.evaluate(START, PLAYER).equity, abs=1e-6)
    assert motif.rank(START, "31", PLAYER).to_frame()["play"][0] == "8/5 6/5"


def test_without_pandas_and_polars(monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(motif.MotifError, match=r"^a data frame requires pandas or polars"):
        motif.evaluate_many([START], PLAYER, as_frame=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: motif.rank(START, "71"), "invalid roll: each die must be 1 to 6, not 7"),
        (lambda: motif.rank(START, 3.5), "a roll must be two dice, such as"),
        (lambda: motif.rank(3, "31"), "a position must be a Position, an ID or 26 numbers, not 3"),
        (lambda: motif.evaluate(None), "a position must be a Position, an ID or 26 numbers, not None"),
        (lambda: motif.rank("4H", "31"), "invalid position '4H': it has 2 characters"),
        (lambda: motif.rank(START, "31", "lates"), "no player is called 'lates'; did you mean 'latest'"),
        (lambda: motif.rank(START, "31", 5), "a player must be a name such as 'latest', weights"),
        (lambda: motif.rank(START, "31", "random"), "the player 'random' chooses plays but cannot"),
        (lambda: motif.rank(START, "31", lenght=3), "unknown setting 'lenght'; did you mean 'length'"),
        (lambda: motif.rank(START, "31", length="5"), "length must be a whole number, not '5'"),
        (lambda: motif.cube(START, cube="2"), "cube must be a whole number, not '2'"),
        (lambda: motif.cube(START, jacoby="yes"), "jacoby must be True or False, not 'yes'"),
        (lambda: motif.cube(START, owner=["me"]), r"owner must be me, opponent or none, not \['me'\]"),
        (lambda: motif.rollout(START, trails=3), "unknown setting 'trails'; did you mean 'trials'"),
        (lambda: motif.rollout(START, "random"), "the player 'random' chooses plays but cannot"),
        (lambda: motif.rollout(START, 7), "a player must be a name such as 'latest', weights"),
        (lambda: motif.play_matches("latest", 5), "a player must be a name such as 'latest', weights"),
        (lambda: motif.evaluate_many(START), "positions must be a list or an array"),
        (
            lambda: motif.evaluate_many([[1, 2], [3]]),
            "row 0: invalid position: a board must have 26 numbers, not 2",
        ),
        (lambda: motif.evaluate([1, [2]]), "invalid position: a board must have 26 numbers, not nest"),
        (lambda: motif.Position([1, [2]]), "invalid position: a board must have 26 numbers, not nest"),
        (lambda: motif.evaluate(np.array(3)), r"a position must be .* not array\(3\)"),
        (lambda: motif.evaluate_many([START], as_frame="no"), "as_frame must be True or False, not 'no'"),
        (lambda: motif.parse_position(3), "a position must be an ID, not 3"),
        (
            lambda: motif.best_play(START, "31"),
            r"value must be a function of boards, not None; the best play of a player is rank\(...\).best$",
        ),
        (
            lambda: motif.rank(START, "31", length=3, score=(-1, 2)),
            r"invalid score \(-1, 2\): it must be two",
        ),
        (
            lambda: motif.rank(START, "31", length=3, score=2),
            r"invalid score 2: it must be two whole numbers",
        ),
        (lambda: motif.export(PLAYER, "x.txt"), "x.txt: the name must end in .onnx"),
        (lambda: motif.load_static(3), "name must be a name such as 'latest' or a weight file, not 3"),
        (lambda: motif.load_evaluator(PLAYER, 1.5), "plies must be 0 to 3, not 1.5"),
        (lambda: motif.load_evaluator(PLAYER, True), "plies must be 0 to 3, not True"),
        (lambda: motif.load_evaluator(PLAYER, "1"), "plies must be 0 to 3, not '1'"),
        (lambda: motif.load_evaluator(PLAYER, -1), "plies must be 0 to 3, not -1"),
        (lambda: motif.load_evaluator(PLAYER, 4), "plies must be 0 to 3, not 4"),
        (lambda: motif.cube_windows(PLAYER, 2, formula=3), "formula must be a BrasFormula, not 3"),
        (lambda: motif.cube(START, cube=1, owner="me"), "cube: nobody owns a cube at 1: give another cube"),
        (lambda: motif.cube(AT_TWO, cube=1), "cube: nobody owns a cube at 1: give another cube or no owner"),
        (lambda: motif.analyse(5), "invalid match 5: it must be a file or a MatchRecord"),
        (lambda: motif.analyse("none.mat"), "none.mat: "),
    ],
)
def test_impossible_input_is_reported_in_one_line(call, message):
    with pytest.raises(motif.MotifError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)


class Regressed:
    """A model that is fitted."""

    def predict(self, rows):
        return 0 * rows[:, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: motif.fit("none", version="a"), "version must be a whole number, not 'a'"),
        (lambda: motif.fit("none", version=-1), "version must be at least 0, not -1"),
        (lambda: motif.fit("none", version=1.5), "version must be a whole number, not 1.5"),
        (lambda: motif.fit("none", version=True), "version must be a whole number, not True"),
        (lambda: motif.fit("none", term_table="x.csv"), "x.csv: the name must end in .parquet"),
        (lambda: motif.fit("none", term_table=3), "term_table must be a path, not 3"),
        (lambda: motif.fit("none", out=3), "out must be a path, not 3"),
        (lambda: motif.fit("none", name=3), "name must be a line of 1 to 1000 visible characters, not 3"),
        (lambda: motif.fit("none", parent=3), "parent must be a line of 1 to 1000 visible characters, no"),
        (lambda: motif.fit([]), "data: at least one dataset or file is needed"),
        (lambda: motif.calibrate([]), "data: at least one dataset or file is needed"),
        (lambda: motif.benchmark(PLAYER, worst=-1), "worst must be at least 0, not -1"),
        (lambda: motif.benchmark(PLAYER, seed="x"), "seed must be a whole number, not 'x'"),
        (lambda: motif.benchmark(PLAYER, seed=-1), "seed must be at least 0, not -1"),
        (lambda: motif.benchmark(PLAYER, 3), "files must be benchmark files or datasets, not 3"),
        (lambda: motif.report("none", worst=-1), "worst must be at least 0, not -1"),
        (lambda: motif.report("none", top="x"), "top must be a whole number, not 'x'"),
        (lambda: motif.report("none", seed="x"), "seed must be a whole number, not 'x'"),
        (lambda: motif.report(3), "folder must be a path, not 3"),
        (lambda: motif.play_money_games(PLAYER, PLAYER, cube="x"), "cube must be True or False, not 'x'"),
        (lambda: motif.play_money_games(PLAYER, PLAYER, jacoby="x"), "jacoby must be True or False, not 'x'"),
        (
            lambda: motif.play_money_games(PLAYER, PLAYER, until_certain="x"),
            "until_certain must be True or False, not 'x'",
        ),
        (
            lambda: motif.play_money_games(PLAYER, PLAYER, significance="x"),
            "significance must be above 0 and below 1, not 'x'",
        ),
        (lambda: motif.play_money_games(PLAYER, PLAYER, 2, jobs=True), "jobs must be a whole number, not Tr"),
        (lambda: motif.rollout(START, PLAYER, jobs=True), "jobs must be a whole number, not True"),
        (lambda: motif.play_matches(PLAYER, PLAYER, length="3"), "length must be a whole number, not '3'"),
        (lambda: motif.play_matches(PLAYER, PLAYER, cube="x"), "cube must be True or False, not 'x'"),
        (lambda: motif.from_sklearn(Regressed(), scaled="x"), "scaled must be True or False, not 'x'"),
        (lambda: motif.cube_efficiency(PLAYER, 2, 1, jobs=1), "trials: 1 are too few to fit any class"),
        (lambda: motif.speed(PLAYER, seconds="x"), "seconds must be at least 0.01, not 'x'"),
        (lambda: motif.speed(PLAYER, seconds=0), "seconds must be at least 0.01, not 0"),
        (lambda: motif.Game(names=("a",)), r"names must be two names, not \('a',\)"),
        (lambda: motif.Game(names=(1, 2)), r"names must be two names, not \(1, 2\)"),
        (lambda: motif.Game(names=("Ann", " ")), r"names must be two names, not \('Ann', ' '\)"),
        (lambda: motif.Game(names="ab"), "names must be two names, not 'ab'"),
        (
            lambda: motif.Game().resign(None),
            "invalid resignation None: it must be single, gammon or backgammon$",
        ),
        (lambda: motif.Game().pop(), "no decision to take back: no game is in progress"),
        (lambda: motif.Game().write(3), "path must be a path, not 3"),
        (lambda: motif.write_match(_record(), "x.mat"), "path must be a path, not <money games"),
        (lambda: motif.write_match("x.mat", 3), "record must be a MatchRecord, not 3"),
        (lambda: motif.train_phase_net("f", 3), "settings must be PhaseNetSettings, not 3$"),
        (lambda: motif.make_benchmark("x.bm", [START], 3), "settings must be MakeSettings, not 3$"),
        (lambda: motif.make_benchmark("x.bm", None), "positions must be a list or an array"),
        (lambda: motif.make_benchmark("x.bm", [START, "x"]), "row 1: invalid position 'x'"),
        (lambda: motif.make_benchmark("x.bm", [START], resume="x"), "resume must be True or False, not 'x'"),
        (
            lambda: motif.make_benchmark("x.bm", [START], motif.MakeSettings(position_class="race")),
            "no race decision between two plays among the 1 position",
        ),
        (lambda: motif.sample(player=PLAYER, out="none"), "games: missing number of games, such as games="),
        (lambda: motif.sample(player=PLAYER, out="none", games=0), "games must be at least 1, not 0"),
        (
            lambda: motif.sample(player=PLAYER, out="none", games=1, trials=2, label="nobody"),
            "no player is called 'nobody'",
        ),
        (
            lambda: motif.sample(player=PLAYER, out="none", games=1, resume="yes"),
            "resume must be True or False, not 'yes'",
        ),
        (lambda: motif.analyse(_record(), PLAYER, confirm=False, jobs=0), "jobs must be at least 1, or -1"),
        (lambda: motif.rollout(START, PLAYER, eliminate=True), "eliminate: has no effect without compared"),
        (
            lambda: motif.rollout(START, PLAYER, significance=0.3),
            "significance: has no effect without compared",
        ),
        (lambda: motif.rollout_cube(START, PLAYER, eliminate=True), "eliminate: has no effect without comp"),
        (
            lambda: motif.compare_plays(START, "31", PLAYER, significance=0.3),
            "significance: has no effect without eliminate",
        ),
        (
            lambda: motif.rollout_cube(START, PLAYER, beavers=True),
            "beavers: has no effect in cubeful rollouts, which are played without beavers",
        ),
        (lambda: motif.rollout_cube(START, PLAYER, raccoons=True), "raccoons: has no effect in cubeful roll"),
        (
            lambda: motif.compare_plays(START, "31", PLAYER, cubeful=True, raccoons=True),
            "raccoons: has no effect in cubeful rollouts",
        ),
        # The cube is in play with either, as with any keyword for match or cube.
        (lambda: motif.compare_plays(START, "31", PLAYER, beavers=True), "beavers: has no effect in cubeful"),
        (
            lambda: motif.rollout_cube(START, PLAYER, scoring="dmp"),
            "with a cube the match determines the scoring, not scoring=dmp",
        ),
        (
            lambda: motif.rollout(START, PLAYER, luck_plies="most"),
            "luck_plies must be a number of plies or all, not '",
        ),
        (lambda: motif.Game().resign([]), r"invalid resignation \[\]: it must be single"),
        (lambda: _rolled().push(3), "a play must be a Play, or notation such as '8/5 6/5', not 3"),
        (lambda: motif.explain(START, "31", PLAYER, better=3), "a play must be a Play, or notation such as"),
        (lambda: motif.compare_plays(START, "31", PLAYER, plays=[3]), "a play must be a Play, or notation"),
        (lambda: motif.compare_plays(START, "31", PLAYER, plays=[]), "no plays to compare"),
        (lambda: motif.analyse(_record(), confirm="x"), "confirm must be RolloutSettings, True or False, no"),
        (lambda: motif.analyse(_record(), worst="x"), "worst must be a whole number, not 'x'"),
        (lambda: motif.analyse(_record(), cube="x"), "cube must be True or False, not 'x'"),
        (lambda: motif.bootstrap("none", seed="x"), "seed must be a whole number, not 'x'"),
        (lambda: motif.bootstrap(3), "out must be a path, not 3"),
        (
            lambda: motif.bootstrap("none", "demo", config="x.yaml"),
            "preset: has no effect with a file of sett",
        ),
        (
            lambda: motif.Dataset.from_frame(3),
            "the table must be a data frame or a mapping of columns, not 3",
        ),
        (lambda: motif.sample(player=PLAYER, out="none", recorded=3), "recorded must be a path, not 3"),
        (lambda: motif.sample(player=PLAYER, out=3), "out must be a path, not 3"),
        (lambda: motif.convert(3, "x"), "sources must be a path, not 3"),
        (lambda: motif.convert([], "x"), "sources: at least one file is needed"),
        (lambda: motif.convert("nosuch", "x.csv"), "nosuch: cannot be read: No such file or directory"),
        (lambda: motif.read_weight_file(None), "invalid weight file None: it must be a path"),
        (lambda: motif.read_dataset(None), "folder must be a path, not None"),
        (lambda: motif.read_match(3), "invalid match file 3: it must be a path"),
    ],
)
def test_plausible_mistakes_are_reported_in_one_line(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(motif.MotifError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_analyse_takes_truth_values_of_numpy():
    assert motif.analyse(_record(), PLAYER, confirm=np.False_, jobs=1).trials == 0


NOTHING = np.zeros(0)
LONG = "x" * 300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: motif.rank(START, "31", PLAYER, length=NOTHING), "length must be a whole number, not array"),
        (lambda: motif.rank(START, "31", PLAYER, cube=NOTHING), "cube must be a whole number, not array"),
        (
            lambda: motif.rollout(START, PLAYER, luck_plies=NOTHING),
            "luck_plies must be a whole number, not a",
        ),
        (lambda: motif.rollout(START, PLAYER, jobs=NOTHING), "jobs must be a whole number, not array"),
        (lambda: motif.rollout(START, PLAYER, se=NOTHING), "se must be a number, not array"),
        (lambda: motif.fit("none", terms=NOTHING), "terms must be pairs or linear, not array"),
        (
            lambda: motif.fit("none", name=NOTHING),
            "name must be a line of 1 to 1000 visible characters, not",
        ),
        (lambda: motif.benchmark(PLAYER, NOTHING), None),
        (lambda: motif.bootstrap("none", NOTHING), "no preset is called array"),
        (lambda: motif.sample(NOTHING, "none"), "settings must be SampleSettings, not array"),
        (
            lambda: motif.sample(player=PLAYER, out="none", games=NOTHING),
            "games must be a whole number, not a",
        ),
        (
            lambda: motif.sample(player=PLAYER, out="none", recorded=NOTHING),
            "recorded: at least one file is needed",
        ),
        (lambda: motif.Dataset.from_frame(b"31"), "the table must be a data frame or a mapping of columns"),
        (lambda: motif.Dataset.from_frame([3]), "the table must be a data frame or a mapping of columns"),
    ],
)
def test_an_empty_array_is_no_value(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(motif.MotifError, match=message):
        call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: motif.read_dataset(LONG),
        lambda: motif.fit(LONG),
        lambda: motif.fit("none", out=f"{LONG}.yaml"),
        lambda: motif.fit("none", term_table=f"{LONG}.parquet"),
        lambda: motif.calibrate(LONG),
        lambda: motif.benchmark(PLAYER, LONG),
        lambda: motif.convert(LONG, "x.sgf"),
        lambda: motif.convert("none", LONG),
        lambda: motif.export(PLAYER, f"{LONG}.onnx"),
        lambda: motif.report(LONG),
        lambda: motif.bootstrap(LONG),
        lambda: motif.sample(player=PLAYER, out=LONG, games=1),
        lambda: motif.sample(player=PLAYER, out="none", recorded=LONG),
    ],
)
def test_a_name_that_is_too_long_is_reported_in_one_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(motif.MotifError, match=rf"^{LONG}[.a-z]*: File name too long$"):
        call()
    assert list(tmp_path.iterdir()) == []


def _rolled() -> motif.Game:
    game = motif.Game(seed=1)
    game.roll()
    return game


def _record() -> MatchRecord:
    game = _rolled()
    game.push(game.legal_plays[0])
    return game.record


def test_results_show_themselves():
    position = motif.Position.from_id(START)
    assert position.gnubg_id == START
    assert motif.Position.from_id(position.xgid) == position
    assert START in str(position)
    assert position._repr_svg_().startswith("<svg")
    explanation = motif.explain(START, "31", PLAYER)
    ranking, rolled = motif.rank(START, "31", PLAYER), motif.rollout(START, PLAYER, trials=36, cut=2)
    for result in (explanation, ranking, rolled, motif.cube("AQAAiAAAAAAAAA", PLAYER)):
        assert "<" in result._repr_html_()
        assert str(result)
    assert str(explanation).startswith(explanation.summary)
    assert "8/5 6/5" in str(ranking)
    assert (
        repr(motif.load("motif-v0@1")) == "<player motif-v0@1: weights that come with motif, 1-ply lookahead>"
    )


def test_results_that_are_no_tables_are_short():
    assert repr(motif.rank(START, "31", PLAYER).best) == "<play 8/5 6/5>"
    assert repr(motif.Probabilities(0.5, 0.12345, 0, 1 / 3, 0)) == (
        "Probabilities(win=0.5000, win_gammon=0.1235, win_backgammon=0.0000, lose_gammon=0.3333, "
        "lose_backgammon=0.0000)"
    )
    assert repr(_record()) == "<money games player 0 v player 1: 1 game>"
    assert repr(MatchRecord(("a", "b"), 3)) == "<3-point match a v b: 0 games>"
    assert repr(motif.Game(3)) == "<3-point match, 0-0, cube 1, player 0 on roll>"
    assert repr(motif.Game()) == "<money game, 0-0, cube 1, player 0 on roll>"


@pytest.mark.parametrize(
    ("roll", "turn"), [("13", 1), (31, 0), ("1-3", 1), ((3, 1), 0), (np.array([3, 1]), 0)], ids=str
)
def test_the_first_roll_has_the_die_of_player_0_first(roll, turn):
    game = motif.Game()
    assert (game.roll(roll), game.turn) == ((3, 1), turn)


def test_the_first_roll_may_be_a_series():
    """Its text begins with the index."""
    pandas = pytest.importorskip("pandas")
    for dice, turn in (([1, 3], 1), ([3, 1], 0)):
        for given in (pandas.Series(dice), pandas.Series(dice, index=["a", "b"]), iter(dice)):
            game = motif.Game()
            assert (game.roll(given), game.turn) == ((3, 1), turn)
    with pytest.raises(motif.PlayError, match="a roll must be two dice"):
        motif.Game().roll(np.array(31))


@pytest.mark.parametrize(
    ("given", "jacoby"),
    [({}, True), ({"jacoby": False}, False), ({"cube": False}, False), ({"length": 3}, False)],
)
def test_the_jacoby_rule_applies_by_default_as_in_play(given, jacoby):
    game = motif.Game(**given, seed=1)
    game.roll()
    assert game.position.match.jacoby == jacoby


def test_a_compared_benchmark_shows_the_difference(tmp_path):
    motif.sample(player="simple", games=4, trials=2, cut=4, out=tmp_path, jobs=1)
    alone = motif.benchmark(PLAYER, tmp_path, jobs=1)
    compared = motif.benchmark(PLAYER, tmp_path, versus="simple", jobs=1)
    assert "difference" not in str(alone)
    assert "difference se" in str(compared)
    table = compared.to_frame()
    assert table["difference"].iloc[-1] == compared.versus.overall.difference
    assert list(table["er"]) == list(alone.to_frame()["er"])


def _results(folder: Path) -> dict[str, object]:
    motif.sample(player="simple", games=4, trials=2, cut=4, out=folder, jobs=1)
    short = {"trials": 36, "cut": 2, "jobs": 1}
    return {
        "rank": motif.rank(START, "31", PLAYER),
        "explain": motif.explain(START, "31", PLAYER),
        "cube": motif.cube("dPexAAB07zMAAA", PLAYER),
        "decide": motif.decide(START, "31", PLAYER),
        "rollout": motif.rollout(START, PLAYER, **short),
        "compare_plays": motif.compare_plays(START, "31", PLAYER, candidates=2, **short),
        "rollout_cube": motif.rollout_cube(START, PLAYER, **short),
        "money games": motif.play_money_games("pubeval", "random", 4, jobs=1),
        "matches": motif.play_matches("pubeval", "random", 2, length=1, jobs=1),
        "tournament": motif.play_tournament(["pubeval", "random"], 2, jobs=1),
        "analyse": motif.analyse(_record(), PLAYER, jobs=1),
        "cube_windows": motif.cube_windows(PLAYER, 4),
        "cube_efficiency": motif.cube_efficiency(PLAYER, 2, 36, rounds=1, jobs=1),
        "fit": motif.fit(folder, parameters="keith", heads="win", jobs=1),
        "calibrate": motif.calibrate(folder, PLAYER, jobs=1),
        "weights": motif.load_static(PLAYER).weights,
        "bearoff": motif.bearoff("AQAAiAAAAAAAAA"),
        "evaluate": motif.evaluate(START, PLAYER),
        "terms": motif.terms(PLAYER, top=3, jobs=1),
        "inspect": motif.inspect("bras", folder.with_name("bras"), positions=100, jobs=1),
    }


@pytest.mark.usefixtures("undrawn")
def test_every_result_can_be_converted_shown_and_compared(tmp_path):
    for name, result in _results(tmp_path / "data").items():
        assert len(repr(result)) < 4000, name
        again = pickle.loads(pickle.dumps(result))
        assert isinstance(again == result, bool), name
        assert result == result, name
        if name == "weights":
            assert repr(result) == "<weights motif-v0: 3 classes, 28,525 weights of motif>"
            continue
        json.dumps(result.to_dict())
        if name not in ("bearoff", "evaluate"):
            assert len(result.to_frame().columns), name
            assert "<table" in result._repr_html_() or name == "explain", name


def test_a_dict_of_one_trial_is_json(tmp_path):
    one = {"trials": 1, "cut": 2, "jobs": 1}
    results = [
        motif.rollout(START, PLAYER, **one),
        motif.rollout_cube(START, PLAYER, **one),
        motif.compare_plays(START, "31", PLAYER, candidates=2, **one),
    ]
    for result in results:
        json.dumps(result.to_dict(), allow_nan=False)
        assert None in result.to_dict().values() or result.to_frame().isna().to_numpy().any()
    assert results[0].to_dict()["positions"][0]["equity_se"] is None
    assert results[2].to_dict()["plays"][0]["se"]["win"] is None
    assert np.isnan(results[1].to_frame()["no_double_se"][0])
    boards = motif.Dataset.from_frame({"position": [START], **dict.fromkeys(PROBABILITIES, (0.0,))})
    assert boards.to_frame()["equity_se"].isna().all()


def test_a_frame_of_compared_plays_has_their_probabilities_and_errors():
    compared = motif.compare_plays(START, "31", PLAYER, trials=36, cut=2, candidates=2, jobs=1)
    table = compared.to_frame()
    for row, play in enumerate(compared.plays):
        for k, name in enumerate((*PROBABILITIES, "equity")):
            assert table[name][row] == play.mean[k]
            assert table[f"{name}_se"][row] == play.se[k]
    assert "win gammon" not in str(compared)
    assert "equity se" in str(compared)


def test_variance_reduction_on_all_rolls():
    few = {"trials": 36, "cut": 2, "seed": 1, "jobs": 1}
    every = motif.rollout(START, PLAYER, luck_plies="all", **few)
    assert (every.mean == motif.rollout(START, PLAYER, luck_plies=2, **few).mean).all()
    assert (every.se < motif.rollout(START, PLAYER, **few).se)[0, -1]
    assert motif.RolloutSettings(luck_plies="all") == motif.RolloutSettings(luck_plies=MAX_GAME_PLIES)


def test_a_frame_of_a_contest_has_the_same_columns_for_few_games():
    pytest.importorskip("pandas")
    few, many = (motif.play_money_games("pubeval", "random", n, jobs=1).to_frame() for n in (4, 60))
    assert list(few.columns) == list(many.columns)
    assert np.isnan(few["se"][0])
    assert few["se"].dtype == many["se"].dtype
    assert few["note"][0] == "fewer than 60 games are too few for a standard error"
    assert many["note"][0] == ""
    matches = [motif.play_matches("pubeval", "random", n, length=1, jobs=1).to_frame() for n in (2, 60)]
    assert list(matches[0].columns) == list(matches[1].columns)
    adjusted = [
        motif.play_money_games("pubeval", "random", n, luck_adjusted=PLAYER, jobs=1).to_frame()
        for n in (2, 60)
    ]
    assert list(adjusted[0].columns) == list(adjusted[1].columns)
    assert {"luck_adjusted_se", "luck_adjusted_mean"} <= set(adjusted[0].columns)


def declared() -> list[str]:
    """Return the names that a type checker finds."""
    tree = ast.parse(Path(motif.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {name.asname for node in ast.walk(block) for name in getattr(node, "names", ())}
    assigned = {
        name.id
        for node in ast.walk(block)
        if isinstance(name := node, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    return sorted(filter(None, imported | assigned))


def test_the_library_can_be_discovered():
    assert declared() == dir(motif)
    for name in dir(motif):
        assert getattr(motif, name) is not None
    script = "import pydoc, motif; print(pydoc.plain(pydoc.render_doc(motif)))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert len(shown.splitlines()) < 55
    for name in dir(motif):
        if callable(getattr(motif, name)) and name[0].islower() and name not in UNSUNG:
            assert name in shown, name


def test_exceptions_that_docstrings_name_are_public():
    assert issubclass(motif.PositionError, motif.MotifError)
    assert issubclass(motif.FailedFitError, motif.FitError)
    named = {"MotifError"}
    for name in set(dir(motif)):
        of = getattr(motif, name)
        parts = [of, *(getattr(of, part) for part in dir(of) if not part.startswith("_"))]
        for part in parts if getattr(of, "__module__", "").startswith("motif") else ():
            named |= set(re.findall(r"\b[A-Z][A-Za-z]*Error\b", inspect.getdoc(part) or ""))
    assert {"PlayError", "RecordError", "ClusterError"} <= named - set(dir(builtins)) <= set(dir(motif))
    with pytest.raises(motif.PositionError):
        motif.evaluate("4H")


UNSUNG = {"load"}
"""Functions that the first page of help leaves out."""


def test_functions_have_the_name_by_which_they_are_called():
    for name in set(dir(motif)) - UNSUNG:
        if inspect.isfunction(getattr(motif, name)):
            assert getattr(motif, name).__name__ == name
    assert motif.load is motif.load_player
    assert pickle.loads(pickle.dumps(motif.load_player)) is motif.load_player


def test_signatures_list_their_parameters():
    for name in dir(motif):
        function = getattr(motif, name)
        if name[0].isupper() or name.startswith("_") or name == "working_on":
            continue
        parameters = inspect.signature(function).parameters.values()
        assert not [one for one in parameters if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL)], name
        assert not [one for one in parameters if one.annotation in (Any, "Any")], name
    assert {"length", "score", "player"} <= inspect.signature(motif.cube).parameters.keys()
    assert {"trials", "seed"} <= inspect.signature(motif.rollout).parameters.keys()


def test_help_shows_what_functions_accept():
    for function in (motif.rank, motif.cube, motif.decide, motif.explain, motif.compare_plays):
        assert "tuple[int, int]" in str(inspect.signature(function).parameters["score"].annotation)
        assert "score : tuple[int, int] or list[int] or str or None, default None" in function.__doc__
    assert inspect.signature(motif.rollout).parameters["luck_plies"].annotation == int | Literal["all"]
    assert inspect.signature(motif.fit).parameters["parameters"].annotation == str | Path | ParameterSet
    assert "parameters : str or Path or ParameterSet, default 'motif'" in motif.fit.__doc__
    for name in set(dir(motif)) - {"__version__"}:
        assert "numpy._typing" not in pydoc.render_doc(getattr(motif, name)), name


def _mentions_any(hint: object) -> bool:
    """Return whether a type contains `Any`, except in numpy's own types."""
    if "numpy" in getattr(typing.get_origin(hint), "__module__", "") or "numpy" in str(hint):
        return False
    return hint is Any or any(map(_mentions_any, typing.get_args(hint)))


def test_no_type_is_left_open():
    checked = 0
    for name in dir(motif):
        of = getattr(motif, name)
        members = vars(of).items() if inspect.isclass(of) else [("", of)]
        for member, function in members:
            function = getattr(function, "fget", None) or getattr(function, "__func__", function)
            if member.startswith("_") or not inspect.isfunction(function):
                continue
            # Types that are imported for type checkers alone cannot be resolved.
            with suppress(NameError):
                hints = typing.get_type_hints(function)
                assert not [key for key, hint in hints.items() if _mentions_any(hint)], (name, member)
                checked += 1
    assert checked > 150


def test_functions_document_parameters_and_results():
    for name in set(dir(motif)) - {"working_on"}:
        function = getattr(motif, name)
        if inspect.isfunction(function):
            doc = inspect.getdoc(function)
            assert "Parameters\n----------" in doc, name
            returns_nothing = inspect.signature(function).return_annotation in (None, "None")
            assert "Returns\n-------" in doc or returns_nothing, name
            assert "Raises\n------" in doc, name


@pytest.mark.parametrize(
    ("keywords", "settings", "without"),
    [
        (MatchKeywords, MatchOptions, set()),
        (RolloutKeywords, motif.RolloutSettings, set()),
        (SampleKeywords, motif.SampleSettings, {"player", "label"}),
        (FitKeywords, motif.FitSettings, set()),
    ],
)
def test_keywords_are_the_fields_of_settings(keywords, settings, without):
    assert keywords.__annotations__.keys() == {one.name for one in fields(settings)} - without


@pytest.mark.parametrize("position", ["AQAAiAAAAAAAAA", "dPexAAB07zMAAA"])
def test_cube_agrees_with_the_command(position, capsys):
    assert main(["cube", position, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    decision = motif.cube(position)
    assert (told["action"], told["no_double"], told["double_take"]) == (
        decision.action,
        decision.no_double,
        decision.double_take,
    )


def test_best_play_by_a_value_function_of_boards():
    """The value belongs to the opponent, who is the player on roll after the play."""
    ranking = motif.rank(START, "31", PLAYER)
    evaluator = motif.load_static(PLAYER)
    assert motif.best_play(START, "31", value=evaluator.equity_many) == ranking.best
    assert motif.best_play(ROLLED, value=lambda boards: -evaluator.equity_many(boards)) == ranking[-1].play
    seen = []
    assert motif.best_play(START, (3, 1), value=lambda boards: seen.append(boards) or [0] * len(boards))
    (boards,) = seen
    assert (boards.dtype, boards.shape) == (np.int8, (16, 26))
    legal = motif.legal_plays(START, "31")
    assert (boards == [play.position.board for play in legal]).all()


def test_best_play_recognises_the_end_of_the_game():
    """Bearing two checkers off wins a gammon; the value function sees only the other plays."""
    board, asked = np.zeros(26, np.int8), []
    board[[1, 3, 19]] = 1, 1, -15

    def nearly_a_gammon(boards):
        asked.extend(boards)
        return [-1.999] * len(boards)

    play = motif.best_play(board, "31", value=nearly_a_gammon)
    assert not (play.position.board < 0).any()
    assert len(asked) == len(motif.legal_plays(board, "31")) - 1 > 0
    assert all((board < 0).any() for board in asked)


def test_best_play_may_be_a_dance():
    board = np.zeros(26, np.int8)
    board[19:25], board[[1, 25]] = -2, (14, 1)
    assert motif.best_play(board, "66", value=lambda boards: [0.5]).moves == ()


@pytest.mark.parametrize(
    "given",
    [
        lambda n: [0.0] * (n - 1),
        lambda n: [[0.0], *[0.0] * (n - 1)],
        lambda n: 0.0,
        lambda n: [float("nan")] * n,
        lambda n: ["a"] * n,
    ],
)
def test_a_value_function_must_return_numbers(given):
    with pytest.raises(motif.MotifError, match=r"^value must return 16 finite numbers, one for each board$"):
        motif.best_play(START, "31", value=lambda boards: given(len(boards)))


@pytest.mark.parametrize("name", ["best_play", "Game"])
def test_the_example_of_a_docstring(name):
    example = doctest.DocTestFinder(recurse=False).find(getattr(motif, name), name, globs={})[0]
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


class Last(motif.Player):
    """A player of a user's own that makes the last legal play."""

    def choose_many(self, boards, rolls, states):
        pairs = zip(boards, rolls, strict=True)
        return np.array([motif.legal_plays(board, roll)[-1].position.board for board, roll in pairs])


class Cheat(motif.Player):
    """A player that passes the dice on."""

    name = "cheat"

    def choose_many(self, boards, rolls, states):
        return -boards[:, ::-1]


@pytest.mark.parametrize(
    "play",
    [
        lambda: motif.play_money_games(Cheat(), "random", 2, jobs=1),
        lambda: motif.play_money_games("random", Cheat(), 2, cube=True, jobs=1),
        lambda: motif.play_matches(Cheat(), "random", 2, length=1, jobs=1),
        lambda: Cheat().choose(START, "31"),
    ],
)
def test_illegal_plays_of_a_players_own_class_are_refused(play):
    with pytest.raises(motif.MotifError, match=r"^cheat: illegal play of \d\d in the position [\w+/]{14}$"):
        play()


def test_a_player_of_a_class_of_ones_own():
    assert repr(Last()) == "<player Last>"
    assert Last().choose(START, "31") == motif.legal_plays(START, "31")[-1]
    assert motif.play_money_games(Last(), "random", 2, jobs=1).games == 2


@pytest.mark.parametrize(("length", "valued_for"), [(0, ""), (3, "3-away 3-away, no cube")])
def test_a_game_without_a_cube_is_valued_without_one(length, valued_for):
    game = motif.Game(length, cube=False, seed=1)
    game.roll()
    assert motif.rank(game.position, player=PLAYER).valued_for == valued_for
    game.push(game.legal_plays[0])
    assert motif.decide(game.position, player=PLAYER).action == "roll"
    assert "cube in the centre" in motif.rank(game.position, "31", PLAYER, cube=1).valued_for


@pytest.mark.parametrize(("match", "loser_is_on_roll"), [("QRkAAAAAAAAE", True), ("QhEAAAAAAAAE", False)])
def test_a_beaver_and_a_raccoon_are_answered(match, loser_is_on_roll):
    answer = motif.decide(f"sGfwATDgc/ABMA:{match}", player=PLAYER)
    assert answer.action == "take"
    assert (answer.cube.state.cube, answer.cube.state.cube_owner) == (1, "centre")
    sides = [{6: 5, 5: 5, 4: 4}, {1: 1}]
    lost = motif.Position.from_points(*(sides if loser_is_on_roll else reversed(sides)))
    assert motif.decide(f"{lost.gnubg_id}:{match}", player=PLAYER).action == "pass"


def test_a_game_that_has_ended_by_a_resignation_needs_no_decision():
    with pytest.raises(motif.MotifError, match="the game is over"):
        motif.decide("ttuQAgS7+MMAAA:ASsAAAAAEAAE", player=PLAYER)
