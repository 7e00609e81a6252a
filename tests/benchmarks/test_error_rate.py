"""Error rates, compared with a slow reading of the same lines."""

import gzip
import math
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest

from motif.benchmarks import read_benchmark
from motif.benchmarks.choices import player_choices
from motif.benchmarks.losses import loss_distribution
from motif.board.position import Position
from motif.parameters.position_class import position_class
from motif.players import CompiledPlayer, Player, load
from motif.runtime.errors import BenchmarkError
from tests.benchmarks.rates import error_rate, error_rates
from tests.board.oracle import PlainBoard
from tests.evaluators import tesauro
from tests.evaluators.made_weights import evaluator_of, made_weights

DATA = Path(__file__).resolve().parent.parent / "data"
WHOLE = DATA.parent.parent / "data" / "bench"
NAMES = ("contact", "crashed", "race")
every_file = pytest.mark.parametrize("name", NAMES)


def plain_board(key: str) -> PlainBoard:
    """Decode a 20-letter key by its definition: two letters per byte, lowest bit first."""
    octets = [
        16 * (ord(high) - ord("A")) + ord(low) - ord("A")
        for high, low in zip(key[::2], key[1::2], strict=True)
    ]
    bits = "".join(f"{octet:08b}"[::-1] for octet in octets)
    runs = [len(run) for run in bits.split("0")][:50]
    board = [0] * 26
    for place, count in enumerate(runs[:25], start=1):  # the player NOT on roll, ace point first
        board[25 - place] -= count
    for place, count in enumerate(runs[25:], start=1):
        board[place] += count
    return tuple(board)


def pubevals_losses(path: Path) -> list[tuple[float, bool]]:
    """For each decision, the loss of PubEval's play and whether it is listed."""
    losses = []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] != "m":
            continue
        scores = tesauro.scores(plain_board(words[1]), (int(words[2]), int(words[3])))
        choice = max(scores, key=scores.__getitem__)
        listed = {plain_board(words[4]): 0.0}
        for key, loss in zip(words[6::2], words[7::2], strict=True):
            listed[plain_board(key)] = float(loss)
        losses.append((listed.get(choice, max(listed.values())), choice in listed))
    return losses


@every_file
def test_pubevals_error_rate_by_a_slow_loop(name):
    path = DATA / f"{name}.bm"
    expected = pubevals_losses(path)
    losses = [loss for loss, _ in expected]
    result = error_rate(load("pubeval"), read_benchmark(path), jobs=1)
    assert result.decisions == 300
    assert result.er == pytest.approx(1000 * statistics.mean(losses), abs=0.05)
    assert result.se == pytest.approx(1000 * statistics.stdev(losses) / math.sqrt(300), abs=0.05)
    assert result.unlisted == sum(not listed for _, listed in expected)
    choices = player_choices(load("pubeval"), read_benchmark(path), jobs=1)
    assert (np.abs(choices.losses - losses) > 1e-9).sum() <= 1  # plays of equal score
    assert choices.listed.dtype == bool


@every_file
def test_the_excerpts_match_their_captions(name):
    lines = (DATA / f"{name}.bm").read_text().splitlines()
    assert len(lines) == 300
    # The lines separate contact and crashed by other rules.
    races = [tesauro.position_class(plain_board(line.split()[1])) == "race" for line in lines]
    assert all(races) if name == "race" else not any(races)


class Chooses(Player):
    """A player that chooses by a function of the plays listed for each decision."""

    def __init__(self, benchmark, pick) -> None:
        self.name = "chooses"
        self.benchmark = benchmark
        self.pick = pick
        self.done = 0

    def choose_many(self, boards, rolls, states):
        chosen = []
        for k in range(self.done, self.done + len(boards)):
            listed = slice(*self.benchmark.offsets[k : k + 2])
            chosen.append(self.pick(self.benchmark.listed[listed], self.benchmark.losses[listed]))
        self.done += len(boards)
        return np.array(chosen)


@every_file
def test_the_best_plays_cost_nothing(name):
    benchmark = read_benchmark(DATA / f"{name}.bm")
    result = error_rate(Chooses(benchmark, lambda plays, losses: plays[0]), benchmark, jobs=1)
    assert (result.er, result.se, result.decisions, result.unlisted) == (0, 0, 300, 0)


def test_listed_plays_have_the_listed_cost():
    benchmark = read_benchmark(DATA / "contact.bm")
    last = Chooses(benchmark, lambda plays, losses: plays[-1])
    choices = player_choices(last, benchmark, jobs=1)
    assert choices.losses.tolist() == benchmark.losses[benchmark.offsets[1:] - 1].tolist()
    assert choices.listed.all()


def test_an_unlisted_choice_costs_the_largest_loss():
    benchmark = read_benchmark(DATA / "contact.bm")
    nothing = Position.start().board
    player = load("random")
    # The plays of other classes of players are checked.
    player.choose_many = lambda boards, rolls, states: np.repeat(nothing[None], len(boards), axis=0)
    choices = player_choices(player, benchmark, jobs=1)
    largest = [
        benchmark.losses[a:b].max()
        for a, b in zip(benchmark.offsets[:-1], benchmark.offsets[1:], strict=True)
    ]
    assert choices.losses.tolist() == largest
    assert not choices.listed.any()
    assert (choices.chosen == nothing).all()
    result = error_rate(player, benchmark, jobs=1)
    assert result.unlisted == 300
    assert result.er == pytest.approx(1000 * np.mean(largest))


@pytest.mark.parametrize("player", [load("pubeval"), load("random")], ids=lambda player: player.name)
def test_the_same_for_any_number_of_workers_and_blocks(player, monkeypatch):
    benchmark = read_benchmark(DATA / "contact.bm")
    one = error_rate(player, benchmark, seed=1, jobs=1)
    monkeypatch.setattr(sys.modules["motif.benchmarks.choices"], "_DECISIONS_AT_ONCE", 37)
    assert error_rate(player, benchmark, seed=1, jobs=2) == one
    assert error_rate(player, benchmark, seed=1, jobs=1) == one
    if player.name == "random":
        assert error_rate(player, benchmark, seed=2, jobs=1) != one


def test_pubeval_does_better_than_random_play():
    for name in NAMES:
        benchmark = read_benchmark(DATA / f"{name}.bm")
        assert error_rate(load("pubeval"), benchmark).er < error_rate(load("random"), benchmark).er / 2


def test_any_player_can_be_measured():
    benchmark = read_benchmark(DATA / "race.bm")
    evaluator = evaluator_of(made_weights("keith", pairs=5))
    result = error_rate(CompiledPlayer("made up", evaluator.model), benchmark, jobs=1)
    assert result.decisions == 300
    assert list(result.to_dict()) == ["er", "se", "decisions", "unlisted"]


def test_a_single_decision_has_no_error(tmp_path):
    path = tmp_path / "one.bm.gz"
    path.write_bytes(gzip.compress((DATA / "contact.bm").read_bytes().splitlines()[0]))
    result = error_rate(load("pubeval"), read_benchmark(path), jobs=1)
    assert result.decisions == 1
    assert math.isnan(result.se)


def test_several_files_together():
    player = load("random")
    benchmarks = [read_benchmark(DATA / f"{name}.bm") for name in NAMES]
    rates = error_rates(player, benchmarks, seed=3, jobs=1)
    choices = [player_choices(player, benchmark, seed=3, jobs=1) for benchmark in benchmarks]
    losses = np.concatenate([one.losses for one in choices])
    listed = np.concatenate([one.listed for one in choices])
    assert rates.files == {
        benchmark.path: error_rate(player, benchmark, seed=3, jobs=1) for benchmark in benchmarks
    }
    assert rates.overall.er == pytest.approx(1000 * losses.mean())
    assert rates.overall.se == pytest.approx(1000 * losses.std(ddof=1) / 30)
    assert (rates.overall.decisions, rates.overall.unlisted) == (900, (~listed).sum())
    assert rates.distribution == loss_distribution(losses, listed)
    names = np.array([position_class(Position(board)) for one in benchmarks for board in one.boards])
    assert list(rates.classes) == ["contact", "crashed", "race"]
    for name, rate in rates.classes.items():
        part = losses[names == name]
        assert rate.er == pytest.approx(1000 * part.mean())
        assert rate.se == pytest.approx(1000 * part.std(ddof=1) / math.sqrt(len(part)))
        assert (rate.decisions, rate.unlisted) == (len(part), (~listed[names == name]).sum())


def test_only_classes_that_occur():
    rates = error_rates(load("pubeval"), [read_benchmark(DATA / "race.bm")], jobs=1)
    assert list(rates.classes) == ["race"]
    assert rates.classes["race"] == rates.overall
    assert list(rates.to_dict()) == ["files", "classes", "overall", "distribution"]


def test_no_file_at_all():
    with pytest.raises(BenchmarkError, match="at least one benchmark file is needed"):
        error_rates(load("pubeval"), [])


PUBLISHED = {"contact": (8000, 35.6), "crashed": (4000, 33.1), "race": (4000, 7.4)}


@every_file
def test_pubevals_published_error_rates(name):
    decisions, er = PUBLISHED[name]
    benchmark = read_benchmark(WHOLE / f"{name}.bm.gz")
    result = error_rate(load("pubeval"), benchmark, jobs=1)
    assert result.decisions == decisions
    assert result.er == pytest.approx(er, abs=0.1)
    excerpt = read_benchmark(DATA / f"{name}.bm")
    assert (benchmark.boards[: len(excerpt)] == excerpt.boards).all()
