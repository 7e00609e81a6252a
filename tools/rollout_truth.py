"""Make the rollout-truth set: decisions rolled out to the end by motif and gnubg.

``python -m tools.rollout_truth collect FOLDER`` plays games between motif, gnubg and PubEval at 0-ply, and
samples decisions from them. ``... run FOLDER`` lets the players choose and rolls out their choices; a stopped
run can be resumed. Decisions are processed in random order with fixed shares of the classes, so the finished
part is always a random sample. ``... write FOLDER data/bench/rollout-truth`` writes benchmark files, and
``... table docs/explanation/frontier.md`` the tables in the page.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from motif.benchmarks.benchmark_files import RolledDecision, shipped_lines, write_benchmark
from motif.board.identifiers import boards_from_keys, position_key
from motif.board.moves import legal_plays
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators.known_players import default_player
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import load
from motif.rollouts.games import SeededDice, lockstep, starts
from motif.runtime.arrays import IntArray
from motif.runtime.documents import Entry
from motif.runtime.errors import FileError
from motif.runtime.files import json_of, make_folder, whole_lines, working_in, write_text
from motif.runtime.package import VERSION
from motif.runtime.parallel import one_thread, run_ordered
from tools.marked_page import reporting, write_region
from tools.truth_decision import RULES, decided, players_of, rollers
from tools.truth_table import REGION, read_truth, table

SHARES = {"contact": 10, "crashed": 3, "race": 3}
"""Decisions of each class per round."""
FIRST_PLY = 4
"""First ply sampled: earlier decisions recur in many games, so motif was fitted to some of them."""
_SEED = 370_005
_DECISIONS, _RESULTS = "decisions.json", "results.jsonl"


def collected(own: str, games: int, rounds: int, seed: int) -> list[dict[str, Any]]:
    """Return decisions of games between `own`, gnubg and PubEval, `games` per pairing, in order.

    Each has at least two different plays. None is in motif's benchmark lines.
    """
    boards, rolls, places = (np.concatenate(part) for part in zip(*_met(own, games, seed), strict=True))
    rng = np.random.default_rng(seed)
    classes = classify_many(pack_many(boards))
    known = {board.tobytes() for lines in shipped_lines() for board in lines.boards}
    by_class: dict[str, list[dict[str, Any]]] = {name: [] for name in SHARES}
    wanted = {name: share * rounds for name, share in SHARES.items()}
    for row in rng.permutation(len(boards)).tolist():
        name = CLASS_NAMES[classes[row]]
        board, roll = boards[row], rolls[row].tolist()
        key = board.tobytes()
        if len(by_class[name]) == wanted[name] or key in known:
            continue
        if len(legal_plays(Position(board), (roll[0], roll[1]))) > 1:
            known.add(key)
            by_class[name].append(
                {"position": position_key(Position(board)), "roll": roll, "game": places[row].tolist()}
            )
    rounds = min(len(by_class[name]) // share for name, share in SHARES.items())
    return [
        decision
        for number in range(rounds)
        for name, share in SHARES.items()
        for decision in by_class[name][number * share : (number + 1) * share]
    ]


def _met(own: str, games: int, seed: int) -> Iterator[tuple[Board, IntArray, IntArray]]:
    """Return boards, rolls, and (pairing, game, ply) of all games; each player begins half of them."""
    names = (own, "gnubg", "pubeval")
    players = [load(name) for name in names]
    meetings = [(one, other) for one in range(3) for other in range(3) if one != other]
    for meeting, (one, other) in enumerate(meetings):
        numbers = np.arange(games // 2) + meeting * games
        dice = SeededDice(seed).of(numbers)
        for ply in lockstep(players[one].choose_many, dice, starts(len(numbers)), players[other].choose_many):
            going = ply.points == 0
            if ply.number < FIRST_PLY or not going.any():
                continue
            rolled, _ = dice(ply.games[going], ply.number)
            places = np.full((len(rolled), 3), (meeting, 0, ply.number))
            places[:, 1] = numbers[ply.games[going]]
            yield ply.boards[going], rolled, places
        print(f"{names[one]} against {names[other]}: {len(numbers)} games", file=sys.stderr, flush=True)


def collect(folder: Path, games: int, rounds: int, seed: int) -> None:
    """Write the decisions to `folder`; raises `FileError` if it already has some."""
    make_folder(folder)
    if (folder / _DECISIONS).exists():
        raise FileError(f"{folder / _DECISIONS}: already exists, and the results belong to it")
    own = default_player()
    with one_thread():
        decisions = collected(own, games, rounds, seed)
    state = {"player": own, "seed": seed, "games": games, "decisions": decisions}
    write_text(folder / _DECISIONS, json.dumps(state, indent=0) + "\n")
    print(f"{len(decisions)} decisions", file=sys.stderr)


def _state(folder: Path) -> dict[str, Any]:
    """Return the collected decisions and their settings."""
    path = folder / _DECISIONS
    return Entry(json_of(path, FileError, "no decisions: collect them first"), str(path), FileError).of(dict)


def results_of(folder: Path) -> list[dict[str, Any]]:
    """Return the results so far, without an incomplete line left by a killed run."""
    results = [json.loads(line) for line in whole_lines(folder / _RESULTS)]
    return sorted(results, key=lambda record: record["decision"])


def run(folder: Path, jobs: int, most: int | None) -> None:
    """Process the unfinished decisions of `folder`, up to number `most`."""
    state = _state(folder)
    decisions = state["decisions"][:most]
    boards = boards_from_keys([record["position"] for record in decisions])
    codes = classify_many(pack_many(boards))
    with working_in(folder):
        results = results_of(folder)
        done = {record["decision"] for record in results}
        write_text(folder / _RESULTS, "".join(json.dumps(record) + "\n" for record in results))
        left = [number for number in range(len(decisions)) if number not in done]
        calls = ((k, boards[k], tuple(decisions[k]["roll"]), int(codes[k])) for k in left)
        work = partial(decided, state["player"], state["seed"])
        start = time.monotonic()
        with (folder / _RESULTS).open("a", encoding="utf-8") as file:
            for count, record in enumerate(run_ordered(work, calls, jobs), 1):
                file.write(json.dumps(record) + "\n")
                file.flush()
                seconds = time.monotonic() - start
                if count % 16 == 0:
                    rest = seconds / count * (len(left) - count)
                    print(
                        f"{len(done) + count} of {len(decisions)} decisions, {seconds / count:.2f} s each, "
                        f"{rest / 3600:.1f} h to go",
                        file=sys.stderr,
                        flush=True,
                    )


def write(folder: Path, target: Path) -> None:
    """Write a benchmark file per class to the folder `target`."""
    state = _state(folder)
    results = results_of(folder)
    # Only complete rounds are written, so that slow decisions are not omitted.
    whole = sum(record["decision"] == place for place, record in enumerate(results))
    whole -= whole % sum(SHARES.values())
    for name in SHARES:
        ours = [record for record in results[:whole] if record["class"] == name]
        rule = RULES[name]
        settings = {
            "motif": VERSION,
            "rollers": ",".join(one.name for one in rollers(state["player"], name, state["seed"])),
            "players": ",".join(players_of(state["player"])),
            "seed": state["seed"],
            "se": rule.se,
            "certain": rule.certain,
            "seconds": round(sum(sum(record["seconds"]) for record in ours)),
        }
        write_benchmark(target / f"{name}.bm.gz", settings, map(RolledDecision.from_dict, ours))
        print(f"{target / name}.bm.gz: {len(ours)} decisions", file=sys.stderr)


@reporting
def main(arguments: Sequence[str] | None = None) -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(prog="tools.rollout_truth", description=(__doc__ or "").splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("collect", help="play games and sample decisions")
    step.add_argument("folder", type=Path)
    step.add_argument("--games", type=int, default=2000, help="games per pairing")
    step.add_argument("--rounds", type=int, default=200, help="of 10 contact, 3 crashed and 3 race decisions")
    step.add_argument("--seed", type=int, default=_SEED)
    step = steps.add_parser("run", help="choose and roll out plays")
    step.add_argument("folder", type=Path)
    step.add_argument("--jobs", type=int, default=2)
    step.add_argument("--most", type=int, help="stop after this number of decisions")
    step = steps.add_parser("write", help="write benchmark files of finished decisions")
    step.add_argument("folder", type=Path)
    step.add_argument("target", type=Path)
    step = steps.add_parser("table", help="write the tables into a page")
    step.add_argument("page", type=Path)
    step.add_argument("--lines", type=Path, default=Path("data/bench/rollout-truth"))
    options = parser.parse_args(arguments)
    if options.step == "collect":
        collect(options.folder, options.games, options.rounds, options.seed)
    elif options.step == "write":
        write(options.folder, options.target)
    elif options.step == "table":
        paths = [options.lines / f"{name}.bm.gz" for name in SHARES]
        write_region(options.page, REGION, table([read_truth(path) for path in paths]))
    else:
        run(options.folder, options.jobs, options.most)


if __name__ == "__main__":
    sys.exit(main())
