"""Where requests are answered: players that are loaded once, threads that compute, and who has to wait."""

import re
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from motif.analysis.cube_records import cube_answers
from motif.analysis.judge import MatchOptions, evaluator_of, judge_of
from motif.analysis.position_records import boards_of, evaluations, hint
from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.evaluators.named import (
    Kind,
    default_player,
    entry_of,
    own_name,
    roster,
    static_words,
    without_plies,
)
from motif.evaluators.static import BEAROFF_SUFFIX, StaticEvaluator
from motif.runtime.errors import MotifError, PlayerError
from motif.runtime.parallel import worker_count
from motif.serve.jobs import Job, Record
from motif.serve.serve_settings import ServeSettings

if TYPE_CHECKING:
    from motif.evaluators import Evaluator

_Result = TypeVar("_Result")
_PLIES = re.compile(r"(@[12](:(narrow|normal|wide|rollout))?)?")
"""Lookahead that a request may ask for."""
_A_ROLL = (3, 1)
_KINDS = (Kind.STATIC, Kind.NET)


class BusyError(MotifError):
    """More is asked at a time than the settings allow."""


class Desk:
    """What requests share."""

    def __init__(self, settings: ServeSettings) -> None:
        """Raises `PlayerError` for another program as the player: its answers would be mixed up."""
        self.settings = settings
        entry = None if settings.player is None else entry_of(without_plies(own_name(settings.player)))
        if entry is not None and entry.kind is Kind.PROGRAM:
            raise PlayerError(f"{settings.player!r} is {entry.kind}, which many cannot ask at a time")
        self._default = settings.player or default_player()
        self._loaded: dict[tuple[str | None, bool, bool] | str, tuple[str, Evaluator]] = {}
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(worker_count(None), "motif")
        self._waiting = 0
        self._long_threads = ThreadPoolExecutor(settings.rollouts, "motif-long")
        self._jobs: dict[str, Job] = {}

    def warm(self) -> None:
        """Load who answers by default, and what answers need, before somebody waits for it."""
        position, state = Position.start(), MatchState()
        for fast in (True, False):
            name, judge = self.judge(None, fast, False)
            record, _ = hint(position, _A_ROLL, state, judge, name, MatchOptions())
            next(cube_answers([(position, state)], judge, name, jobs=1))
        name, evaluator = self.evaluator(None)
        next(evaluations(boards_of([record["position"]]), evaluator, name, jobs=1))

    def close(self) -> None:
        """Let the threads end as soon as they can."""
        for job in self._jobs.values():
            job.call_off()
        for threads in (self._threads, self._long_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    async def compute(self, function: Callable[..., _Result], *arguments: Any, **settings: Any) -> _Result:
        """What `function` returns, computed by a thread; raises `BusyError` where too many wait for one."""
        if self._waiting >= self.settings.waiting:
            raise BusyError(f"{self._waiting} requests are waiting already; try again later")
        self._waiting += 1
        try:
            return await get_running_loop().run_in_executor(
                self._threads, partial(function, *arguments, **settings)
            )
        finally:
            self._waiting -= 1

    def start(self, work: Callable[[], Record]) -> Job:
        """Let a thread do long `work`; raises `BusyError` where as much is under way as may be."""
        if len(self._jobs) >= self.settings.rollouts:
            raise BusyError(f"{len(self._jobs)} rollouts or analyses are under way already; try again later")
        job = Job(work)
        self._jobs[job.id] = job
        ended = get_running_loop().run_in_executor(self._long_threads, job.run)
        ended.add_done_callback(lambda _: self._jobs.pop(job.id))
        return job

    def call_off(self, job: str) -> bool:
        """Let the long work of that ID end; whether there is any."""
        if job not in self._jobs:
            return False
        self._jobs[job].call_off()
        return True

    def evaluator(self, player: str | None) -> "tuple[str, Evaluator]":
        """Name and evaluator of who evaluates a position, by default statically, with the newest weights."""
        name = self._checked(player) or self._default
        return self._cached(name, lambda: (name, evaluator_of(name)))

    def judge(self, player: str | None, fast: bool, deep: bool) -> "tuple[str, Evaluator]":
        """Name and evaluator of who judges plays and cubes: see `judge_of`."""
        name = self._checked(player) or self.settings.player
        return self._cached((name, fast, deep), lambda: judge_of(name, fast, deep))

    def static(self, player: str | None) -> StaticEvaluator:
        """The evaluator of who rolls out; raises `PlayerError` for one who is not static."""
        name, evaluator = self.evaluator(player)
        if not isinstance(evaluator, StaticEvaluator):
            raise PlayerError(f"rollouts are played by {static_words()}, without lookahead, not by {name!r}")
        return evaluator

    def players(self) -> list[dict[str, Any]]:
        """Who may be asked, for JSON."""
        known = [entry for entry in roster() if entry.is_one and entry.kind in _KINDS]
        return [
            {"name": entry.name, "kind": str(entry.kind), "who": entry.who, "chances": entry.gives_chances}
            for entry in known
        ]

    def _cached(self, key: Any, load: "Callable[[], tuple[str, Evaluator]]") -> "tuple[str, Evaluator]":
        if key not in self._loaded:
            with self._loading:
                if key not in self._loaded:
                    self._loaded[key] = load()
        return self._loaded[key]

    def _checked(self, player: str | None) -> str | None:
        """The name of a player whom a request may ask for: no files and no programs."""
        if player is None or player == self.settings.player:
            return player
        name = own_name(player)
        base = without_plies(name)
        entry = entry_of(base.removesuffix(BEAROFF_SUFFIX))
        known = entry is not None and entry.is_one and entry.kind in _KINDS
        if not known or not _PLIES.fullmatch(name[len(base) :]):
            names = ", ".join(entry["name"] for entry in self.players())
            raise PlayerError(
                f"no player to ask is called {player[:60]!r}; there are {names}, also with @1 or @2"
            )
        return name
