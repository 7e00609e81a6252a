"""Processes that use one folder of games simultaneously, contend for revisions, and are killed."""

import multiprocessing
import random
import sys
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from motif.serve.game_database import GameDatabase, GameWentOn
from motif.serve.game_store import GameStore
from tests.serve.kept_games import begun, decided

CONTEXT = multiprocessing.get_context("spawn")
PATIENCE = 600.0
"""Seconds: only what hangs takes so long."""
SERVERS, THREADS = 2, 4

Accepted = list[tuple[str, int, Any]]
"""Game, revision and event of each decision that a process has reported."""


def contested(target: Any, folder: Path, *arguments: Any) -> list[Accepted]:
    """The decisions that each server accepts when its threads decide at the same revisions simultaneously."""
    barrier = CONTEXT.Barrier(SERVERS * THREADS)
    pipes = [CONTEXT.Pipe(duplex=False) for _ in range(SERVERS)]
    processes = [
        CONTEXT.Process(target=_contend, args=(number, sender, target, folder, barrier, *arguments))
        for number, (_, sender) in enumerate(pipes)
    ]
    for process, (_, sender) in zip(processes, pipes, strict=True):
        process.start()
        sender.close()
    try:
        return [receiver.recv() for receiver, _ in pipes]
    finally:
        for process in processes:
            process.kill()
            process.join()


def _contend(number: int, sender: Any, target: Any, folder: Path, barrier: Barrier, *arguments: Any) -> None:
    """One server: its threads work on shared games."""
    accepted: Accepted = []
    shared = target(folder)

    def work(thread: int) -> None:
        try:
            shared(accepted, barrier, random.Random(100 * number + thread), *arguments)
        except BaseException:
            barrier.abort()  # or the others would wait for it
            raise

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sender.send(accepted)


class StoreContender:
    """Plays games of a store; all contenders make every decision at the same revision."""

    def __init__(self, folder: Path) -> None:
        self._store = GameStore(folder)

    def __call__(
        self, accepted: Accepted, barrier: Barrier, chance: random.Random, games: list[str], rounds: int
    ) -> None:
        """One thread of it."""
        for game in games:
            for _ in range(rounds):
                state = self._store.state(game)
                barrier.wait(PATIENCE)
                try:
                    _, event = decided(self._store, state, chance)
                except GameWentOn:
                    pass
                else:
                    accepted.append((game, state["revision"], event))
                barrier.wait(PATIENCE)


class DatabaseContender:
    """Changes a game of a database without reading it."""

    def __init__(self, folder: Path) -> None:
        self._database = GameDatabase(folder, 10)

    def __call__(
        self, accepted: Accepted, barrier: Barrier, chance: random.Random, game: str, revisions: int
    ) -> None:
        """One thread of it, which goes on until the game has had so many revisions."""
        barrier.wait(PATIENCE)
        while (row := self._database.read(game)).revision <= revisions:
            mark = f"{chance.random()}"
            try:
                self._database.update(game, row.revision, f"{row.document} {mark}", False, "")
            except GameWentOn:
                continue
            accepted.append((game, row.revision, mark))


def play_until_killed(folder: Path, seed: int) -> None:
    """Play games in `folder`, and print a line for each accepted decision."""
    store, chance = GameStore(folder), random.Random(seed)
    while True:
        state = begun(store, seed=chance.randrange(1000))
        for _ in range(10):
            revision = state["revision"]
            state, event = decided(store, state, chance)
            print(state["game"], revision, *event, flush=True)


def open_at_once(folder: Path, barrier: Barrier, sender: Any) -> None:
    """List the games of `folder` with a store opened at the same time as others."""
    store = GameStore(folder)
    barrier.wait(PATIENCE)
    sender.send(store.summaries())


if __name__ == "__main__":
    play_until_killed(Path(sys.argv[1]), int(sys.argv[2]))
