"""Compare motif's speed with that of gnubg and bgsage: `make bench`.

All programs run in turn, on one core each. A peer is measured immediately before and after motif, because
machines are noisy; ratios are those of the means.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from motif.benchmarks.speed import speed
from motif.board.position import Position
from motif.evaluators import load_static
from motif.evaluators.known_players import default_player
from motif.rollouts import RolloutSettings, rollout
from tools.text_gnubg import TextGnubg, gnubg_path

ROUNDS = 3
SECONDS = 3.0
GNUBG_TRIALS = 36, 1332
SAGE_GAMES = 3000


def gnubg_trials_per_second() -> float | None:
    """Return gnubg's full 0-ply playouts of the start position per second; None if it is not installed."""
    path = gnubg_path()
    if path is None:
        return None
    few, many = GNUBG_TRIALS
    with tempfile.TemporaryDirectory() as home:
        gnubg = TextGnubg(path, Path(home))
        seconds = [gnubg.rollout_seconds(Position.start(), trials) for trials in (few, many)]
    return (many - few) / (seconds[1] - seconds[0])


def bgsage_games_per_second() -> float | None:
    """Return games per second of bgsage's PubEval against itself; None if it is not installed."""
    try:
        from bgbot_cpp import play_games_pubeval
    except ImportError:
        return None
    started = time.perf_counter()
    play_games_pubeval(SAGE_GAMES, seed=1, n_threads=1)
    return SAGE_GAMES / (time.perf_counter() - started)


def motif_trials_per_second(every_play: bool) -> float:
    """Return full playouts of the start position per second by the default weights."""
    evaluator = load_static(default_player())
    trials = 10_000
    settings = RolloutSettings(trials=trials, every_play=every_play)
    rollout(Position.start(), evaluator, RolloutSettings(trials=36, every_play=every_play), jobs=1)
    return trials / rollout(Position.start(), evaluator, settings, jobs=1).seconds


def mean_of(figures: list[float | None]) -> float | None:
    """Return the mean of the rounds; None if the peer is missing."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def line(what: str, figure: float | None, base: float | None = None) -> str:
    """Return one line of the table: a figure, and its ratio to `base`."""
    if figure is None:
        return f"{what:<58}not installed"
    ratio = "" if base is None else f"{figure / base:8.2f} x"
    return f"{what:<58}{figure:>10,.0f}{ratio}"


def main() -> None:
    """Measure and print."""
    tasks: dict[str, Callable[[], float | None]] = {
        "gnubg": gnubg_trials_per_second,
        "bgsage": bgsage_games_per_second,
        "every": lambda: motif_trials_per_second(True),
        "filtered": lambda: motif_trials_per_second(False),
    }
    rounds: dict[str, list[float | None]] = {name: [] for name in tasks}
    speeds = []
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            rounds[name].append(task())
        speeds.append(speed(load_static(default_player()), seconds=SECONDS / ROUNDS, jobs=2))
    means = {name: mean_of(figures) for name, figures in rounds.items()}
    print(f"one core, per second; means of {ROUNDS} rounds; motif plays {default_player()}")
    print(line("full rollout trials, gnubg 0-ply", means["gnubg"]))
    print(line("full rollout trials, motif, every play evaluated", means["every"], means["gnubg"]))
    print(line("full rollout trials, motif, filtered", means["filtered"], means["gnubg"]))
    print(line("games, PubEval in bgsage (C++)", means["bgsage"]))
    for name in speeds[0]:
        if not name.endswith("_all_cores"):
            one, two = (mean_of([rates[key] for rates in speeds]) for key in (name, name + "_all_cores"))
            base = means["bgsage"] if name.startswith("pubeval") else None
            print(line(name.replace("_", " "), one, base))
            print(line("    two cores", two, one))


if __name__ == "__main__":
    main()
