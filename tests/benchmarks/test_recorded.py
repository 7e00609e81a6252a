"""Choices among recorded plays, compared with a loop over the decisions of a dataset."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import motif
from motif import library_play as library
from motif.benchmarks.choices import (
    choosing_by_value,
    dataset_decisions,
    dataset_losses,
    for_chooser,
    recorded_decisions,
    summary,
)
from motif.board.position import Position
from motif.parameters.position_class import position_class
from motif.players import load
from motif.players.player import Player
from motif.runtime.errors import BenchmarkError, PlayerError
from motif.sampling.dataset import Dataset, joined, read_dataset
from motif.sampling.sample import SampleSettings
from tests.sampling.folders import made

GAMES = SampleSettings(
    player="simple", games=12, trials=3, candidates=4, rate=0.15, race_rate=0.5, cut=4, seed=2
)


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> Dataset:
    return read_dataset(made(tmp_path_factory.mktemp("recorded") / "samples", GAMES))


def plain_losses(samples: Dataset, name: str) -> list[tuple[float, str]]:
    """Loss and class of each decision, one position at a time, from the perspective of the mover's
    opponent.
    """
    evaluator, found = load(name).evaluator, []
    for decision in sorted(set(samples.decision.tolist())):
        rows = [row for row, it in enumerate(samples.decision.tolist()) if it == decision]
        if len(rows) < 2:
            continue
        values = {row: float(evaluator.equity_many(samples.boards[row : row + 1])[0]) for row in rows}
        chosen = min(rows, key=values.__getitem__)
        best = min(rows, key=lambda row: float(samples.equity[row]))
        loss = float(samples.equity[chosen]) - float(samples.equity[best])
        found.append((loss, position_class(Position(samples.boards[best]))))
    return found


@pytest.mark.parametrize("name", ["motif-v1", "pubeval", "wildbg"])
def test_losses_by_a_slow_loop(samples, name):
    expected = plain_losses(samples, name)
    assert {of for _, of in expected} >= {"contact", "race"}
    losses = dataset_losses(load(name).evaluator, dataset_decisions("some", samples), jobs=1)
    rates = summary([losses])
    assert losses.losses == pytest.approx([loss for loss, _ in expected])
    assert rates.overall.er == pytest.approx(1000 * np.mean([loss for loss, _ in expected]))
    assert rates.files == {"some": rates.overall}
    assert (rates.overall.decisions, rates.overall.unlisted) == (len(expected), 0)
    for class_name, rate in rates.classes.items():
        of_class = [loss for loss, of in expected if of == class_name]
        assert rate.er == pytest.approx(1000 * np.mean(of_class))
        assert rate.decisions == len(of_class)


def test_a_player_looks_ahead(samples):
    few = samples.rows(slice(24))
    expected = plain_losses(few, "pubeval@1")
    losses = dataset_losses(load("pubeval@1").evaluator, dataset_decisions("few", few), jobs=1)
    assert losses.losses == pytest.approx([loss for loss, _ in expected])


def test_the_same_for_any_parts_and_number_of_workers(samples, monkeypatch):
    evaluator = load("motif-v1").evaluator
    whole = dataset_losses(evaluator, dataset_decisions("some", samples), jobs=1)
    parts = [samples.rows(slice(start, start + 7)) for start in range(0, len(samples), 7)]
    monkeypatch.setattr(sys.modules["motif.benchmarks.choices"], "_POSITIONS_AT_ONCE", 37)
    split = dataset_losses(evaluator, dataset_decisions("some", joined(parts)), jobs=2)
    assert split.losses.tolist() == whole.losses.tolist()
    assert split.classes.tolist() == whole.classes.tolist()


plays = st.tuples(st.integers(0, 6), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2))


@given(st.lists(plays, max_size=30))
def test_decisions_whatever_the_order_of_their_plays(rows):
    """Of equal plays the first one counts; equities are those of the mover's opponent."""
    ids, equities, values, classes = np.array(rows, np.int64).reshape(-1, 4).T
    gains = for_chooser(equities.astype(np.float32), after_replies=False)
    recorded = recorded_decisions("some", ids, gains, classes.astype(np.int8), ids // 2)
    expected = []
    for decision in sorted(set(ids.tolist())):
        here = [row for row in rows if row[0] == decision]
        if len(here) > 1:
            best, chosen = min(here, key=lambda row: row[1]), max(here, key=lambda row: row[2])
            expected.append((float(chosen[1] - best[1]), best[3]))
    found = recorded.losses(values[recorded.rows].astype(np.float64))
    assert list(zip(found.losses.tolist(), found.classes.tolist(), strict=True)) == expected
    assert len(recorded) == len(expected)
    assert found.games.tolist() == [
        number // 2 for number in sorted(set(ids.tolist())) if (ids == number).sum() > 1
    ]
    assert found.listed.all()


def test_choosing_by_the_labels_loses_nothing(samples):
    recorded = dataset_decisions("some", samples)
    assert not recorded.losses(recorded.gains).losses.any()
    assert (recorded.losses(-recorded.gains).losses >= 0).all()


class Obstinate(Player):
    """A player that evaluates by one rule and plays by another."""

    def __init__(self) -> None:
        self.name = "obstinate"
        self.evaluator = load("pubeval").evaluator

    def choose_many(self, boards, rolls, states):
        return boards


@pytest.mark.parametrize(
    "player", [load("random"), load("best-of-four"), Obstinate()], ids=lambda it: it.name
)
def test_who_does_not_choose_by_value_is_refused(player):
    with pytest.raises(PlayerError, match=f"'{player.name}' does not choose plays by values of positions"):
        choosing_by_value(player)


def test_datasets_without_a_choice(samples):
    _, first = np.unique(samples.decision, return_index=True)
    with pytest.raises(BenchmarkError, match="alone: no decision has two recorded plays"):
        dataset_decisions("alone", samples.rows(first))
    with pytest.raises(BenchmarkError, match="odd: the equity of a position is not finite"):
        dataset_decisions("odd", replace(samples, equity=np.full_like(samples.equity, np.nan)))


def test_a_decision_counts_once_in_the_library(samples, tmp_path):
    folder = samples.write(tmp_path / "samples")
    once = library.benchmark("pubeval", folder, jobs=1).overall
    assert library.benchmark("pubeval", [str(folder), folder], jobs=1).overall == once
    assert library.benchmark("pubeval", [folder, f"{tmp_path}/./samples/"], jobs=1).overall == once
    assert library.benchmark("pubeval", [samples, samples], jobs=1).overall == once


def test_after_a_reply_the_player_who_chose_is_on_roll(tmp_path):
    """So of two plays, the one with the higher label is better."""
    settings = SampleSettings(
        player="simple", games=8, label="motif-v1", candidates=4, rate=0.3, replies=True, noise=0.3, seed=4
    )
    folder = made(tmp_path / "replies", settings)
    data = read_dataset(folder)
    recorded = dataset_decisions("replies", data)
    assert recorded.gains.tolist() == data.equity[recorded.rows].astype(float).tolist()
    evaluator = load("pubeval").evaluator
    losses = dataset_losses(evaluator, recorded, jobs=1)
    values = evaluator.equity_many(data.boards)
    expected = []
    for decision in np.unique(data.decision):
        rows = np.flatnonzero(data.decision == decision)
        if len(rows) > 1:
            chosen = rows[np.argmax(values[rows])]
            expected.append(float(data.equity[rows].max()) - float(data.equity[chosen]))
    assert losses.losses == pytest.approx(expected)
    fitted = motif.fit(folder, parameters="keith", heads="all", validation=0.5)
    held = data.split(0.5)[1]
    rates = motif.benchmark(fitted.weights, held, jobs=1).overall
    assert fitted.choice_error["all"] == pytest.approx(rates.er / 1000)


def test_errors_of_datasets_with_the_same_games_are_clustered(tmp_path):
    """Games of one player and seed are the same games, however often they are labelled."""
    few, many = (
        made(
            tmp_path / str(trials), SampleSettings(player="simple", games=12, trials=trials, rate=0.2, seed=3)
        )
        for trials in (2, 4)
    )
    alone = [motif.benchmark("pubeval", folder, jobs=1).overall for folder in (few, many)]
    both = motif.benchmark("pubeval", [few, many], jobs=1).overall
    separate = math.hypot(*(one.se * one.decisions for one in alone)) / both.decisions
    assert both.decisions == sum(one.decisions for one in alone)
    assert both.er == pytest.approx(np.mean([one.er for one in alone]))
    assert both.se > 1.2 * separate
    assert motif.benchmark("pubeval", [read_dataset(few), many], jobs=1).overall.se == both.se
