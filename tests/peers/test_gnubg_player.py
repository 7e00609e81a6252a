"""The player gnubg with the real program: its plays and values, its strength, and that it ends."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from motif.benchmarks import read_benchmark
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.cli.main import main
from motif.contests import play_money_games
from motif.evaluators import OUTPUTS
from motif.players import Player, load
from motif.players.gnubg_process import idle_processes
from motif.runtime.parallel import REQUESTS
from tests.benchmarks.rates import error_rate
from tests.board.oracle import legal_results
from tests.peers.games import decisions
from tests.peers.test_gnubg_plays import after
from tools.player_table import CLASSES, PUBLISHED

ROOT = Path(__file__).resolve().parent.parent.parent
LINES = ROOT / "data" / "bench"
START_CHANCES = [0.521514, 0.153921, 0.007563, 0.129847, 0.007546]
PROCESSORS = 5e-5
"""Largest difference of gnubg's probabilities between processors with different vector instructions."""
GAMES = 200
MARK = "MOTIF_TEST_MARK"


@pytest.fixture(autouse=True)
def _installed(gnubg):
    """Skip if gnubg is not installed; check that no gnubg is left afterwards."""
    yield
    idle_processes.end()
    assert gnubgs_below(os.getpid()) == []


class CheckedPlayer(Player):
    """A player that chooses like another player, and checks that every play is legal."""

    def __init__(self, inner: Player) -> None:
        self.name = inner.name
        self.inner = inner
        self.checked = 0

    def choose_many(self, boards, rolls, states):
        results = self.inner.choose_many(boards, rolls, states)
        for board, roll, result in zip(boards.tolist(), rolls.tolist(), results.tolist(), strict=True):
            assert tuple(result) in legal_results(tuple(board), tuple(roll)), (board, roll, result)
        self.checked += len(boards)
        return results


def processes() -> dict[int, tuple[int, str]]:
    """Return the parent, and the first word of the command, of each living process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if state not in "ZX":
            found[int(folder.name)] = int(parent), command
    return found


def gnubgs_below(ancestor: int) -> list[int]:
    """Return the gnubgs started by this process or one of its children."""
    known = processes()

    def is_below(pid: int) -> bool:
        return pid in known and (known[pid][0] == ancestor or is_below(known[pid][0]))

    return [pid for pid, (_, command) in known.items() if command.endswith("gnubg") and is_below(pid)]


def marked_gnubgs(mark: str) -> list[int]:
    """Return the gnubgs with `mark` in their environment, whatever process started them."""
    found = []
    for pid, (_, command) in processes().items():
        try:
            surroundings = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if command.endswith("gnubg") and f"{MARK}={mark}".encode() in surroundings:
            found.append(pid)
    return found


def wait_until(happened, seconds: float = 300.0) -> None:
    limit = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_200_games_without_an_illegal_play():
    first, second = CheckedPlayer(load("gnubg")), CheckedPlayer(load("motif-v1"))
    result = play_money_games(first, second, GAMES, seed=3, jobs=1)
    assert result.games == result.wins + result.losses == GAMES
    assert min(first.checked, second.checked) > 20 * GAMES
    assert len(gnubgs_below(os.getpid())) == 1
    first.inner.close()
    assert gnubgs_below(os.getpid()) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_program_leaves_no_gnubg(tmp_path, jobs):
    """No gnubg is left at the end of a match, and after a kill in the middle."""
    mark = f"{os.getpid()}-{jobs}-{tmp_path.name}"
    surroundings = {**os.environ, MARK: mark}
    words = [
        sys.executable,
        str(ROOT / "cli.py"),
        "match",
        "gnubg",
        "motif-v1",
        "--jobs",
        str(jobs),
        "--json",
    ]
    done = subprocess.run(
        [*words, "--games", str(GAMES)], capture_output=True, text=True, env=surroundings, check=True
    )
    assert json.loads(done.stdout)["games"] == GAMES
    assert marked_gnubgs(mark) == []
    for number in (9, *REQUESTS):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([*words, "--games", "100000"], env=surroundings, **silent) as process:
            wait_until(lambda: len(marked_gnubgs(mark)) == jobs)
            process.send_signal(number)
            process.wait(300)
        wait_until(lambda: not marked_gnubgs(mark))


def test_the_start_position():
    player = load("gnubg")
    assert player.evaluate_many([Position.start().board])[0].tolist() == pytest.approx(
        START_CHANCES, abs=PROCESSORS
    )
    assert player.choose(Position.start(), (3, 1)).notation == "8/5 6/5"


@pytest.mark.parametrize(("plies", "number"), [(0, 300), (1, 100), (2, 30)])
def test_plays_agree_with_gnubgs_command_line(gnubg, plies, number):
    """The two may differ where plays have equal values."""
    free = [(position, roll) for position, roll, plays in decisions(2 * number, seed=5) if len(plays) > 1]
    player = load(f"gnubg@{plies}")
    best = gnubg.best_plays(free[:number], plies)
    others = 0
    for (position, roll), text in zip(free[:number], best, strict=True):
        chosen, ranked_first = player.choose(position, roll).position, after(position, text)
        if chosen != ranked_first:
            others += 1
            values = player.evaluator.equity_many(np.array([chosen.board, ranked_first.board]))
            assert values[0] == pytest.approx(values[1], abs=2e-6), f"{position!r} {roll}"
    assert others <= 0.05 * number


def test_any_position_can_be_evaluated():
    """The boards include positions that rarely occur in games, with few checkers or many on the bar."""
    player = load("gnubg")
    for position, roll, _ in decisions(200, seed=9):
        board = position.board.copy()
        board[[0, 25]] += np.array(
            [-1 if position.opponent_off else 0, 1 if position.own_off else 0], np.int8
        )
        changed = Position(board)
        assert player.choose(changed, roll) in legal_plays(changed, roll)
        chances = player.evaluate(changed)
        assert 0 <= chances.win_gammon <= chances.win <= 1


@pytest.mark.parametrize("name", CLASSES)
def test_the_error_rate_agrees_with_the_published_one(name):
    er, se = PUBLISHED["gnubg"][name]
    result = error_rate(load("gnubg"), read_benchmark(LINES / f"{name}.bm.gz"), jobs=1)
    assert abs(result.er - er) <= 2 * math.hypot(se, result.se)


def test_commands_accept_gnubg(capsys):
    assert main(["evaluate", "4HPwATDgc/ABMA", "--player", "gnubg", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [told[name] for name in OUTPUTS] == pytest.approx(START_CHANCES, abs=PROCESSORS)
    assert main(["hint", "4HPwATDgc/ABMA", "3", "1", "--player", "gnubg@1", "--json"]) == 0
    plays = json.loads(capsys.readouterr().out)["plays"]
    assert plays[0]["notation"] == "8/5 6/5"
    assert len(plays) == 16
