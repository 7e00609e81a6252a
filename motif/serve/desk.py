"""Where requests are answered: players that are loaded once, threads that compute, and who has to wait.

Long work that somebody waits for is heard of while it goes on, and called off when nobody does.

The plays of a roll are ranked, with moves, equity and chances of each, as other programs want them.
"""

import asyncio
import re
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_hex
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from motif.analysis.cube_records import cube_answers
from motif.analysis.judge import MatchOptions, evaluator_of, judge_of
from motif.analysis.position_records import boards_of, evaluations, hint
from motif.board.match_state import MatchState
from motif.board.moves import decode_path, play_batches
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.evaluators.evaluator import PlayBatch
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
from motif.runtime.errors import MotifError, PlayerError, PositionError
from motif.runtime.parallel import worker_count
from motif.runtime.progress import heard_by
from motif.serve.serve_settings import ServeSettings

if TYPE_CHECKING:
    from motif.evaluators import Evaluator

_Result = TypeVar("_Result")
_PLIES = re.compile(r"(@[12](:(narrow|normal|wide|rollout))?)?")
"""Lookahead that a request may ask for."""
_A_ROLL = (3, 1)
_KINDS = (Kind.STATIC, Kind.NET)

Record = dict[str, Any]


class CalledOffError(MotifError):
    """Work ended before it was done, because somebody wanted that."""


class Job:
    """One piece of work, done by a thread."""

    def __init__(self, work: Callable[[], Record]) -> None:
        """Made in the event loop, before a thread runs it."""
        self.id = token_hex(8)
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._is_called_off = Event()
        self._news = asyncio.Event()
        self._latest: Record | None = None
        self._end: asyncio.Future[Record] = self._loop.create_future()
        # Whoever waits for it may have gone.
        self._end.add_done_callback(lambda end: end.exception())

    def call_off(self) -> None:
        """Let it end at its next step."""
        self._is_called_off.set()

    def run(self) -> None:
        """Do the work; for a thread."""
        try:
            with heard_by(self._hear):
                result = self._work()
        except BaseException as error:  # whatever it is, somebody waits for it
            self._tell(self._fail, error)
        else:
            self._tell(self._finish, result)

    def _hear(self, what: str, done: int, total: int) -> None:
        if self._is_called_off.is_set():
            raise CalledOffError("called off")
        self._tell(self._note, {"what": what, "done": done, "total": total})

    def _tell(self, function: Callable[[Any], None], news: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, news)
        except RuntimeError:
            self.call_off()  # the loop has ended

    def _note(self, progress: Record) -> None:
        self._latest = progress
        self._news.set()

    def _finish(self, result: Record) -> None:
        if not self._end.done():
            self._end.set_result(result)
        self._news.set()

    def _fail(self, error: BaseException) -> None:
        if not self._end.done():
            self._end.set_exception(error)
        self._news.set()

    async def events(self) -> AsyncIterator[Record]:
        """What is heard of it: its ID, the latest progress now and then, at last its result or an error.

        Who stops listening calls it off.
        """
        try:
            yield {"job": self.id}
            while not self._end.done():
                await self._news.wait()
                self._news.clear()
                if self._latest is not None and not self._end.done():
                    latest, self._latest = self._latest, None
                    yield {"progress": latest}
            try:
                yield {"result": self._end.result()}
            except MotifError as error:
                yield {"error": str(error)}
            except Exception as error:
                yield {"error": f"internal error: {type(error).__name__}"}
        finally:
            self.call_off()

    async def result(self, has_gone: Callable[[], Any], seconds_between_looks: float = 0.5) -> Record:
        """What it has come to; it is called off as soon as `has_gone`, awaited, says that nobody waits."""
        try:
            while True:
                done, _ = await asyncio.wait([self._end], timeout=seconds_between_looks)
                if done:
                    return self._end.result()
                if await has_gone():
                    raise CalledOffError("called off")
        finally:
            self.call_off()


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
            _, record = hint(position, _A_ROLL, state, judge, name, MatchOptions())
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


def play_batch(position: Position, roll: tuple[int, int]) -> PlayBatch:
    """The legal plays of `roll`, the higher die first; raises `PositionError` when the game is over."""
    if outcome(position):
        raise PositionError("no plays: the game is over, one player has borne off all checkers")
    return next(play_batches(position.board[None], np.array([roll])))


def moves_of(batch: PlayBatch, roll: tuple[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """The moves of each play of `batch`."""
    return [decode_path(path, roll)[0] for path in batch.paths.tolist()]
