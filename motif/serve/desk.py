"""Where requests are answered: players that are loaded once, lanes of threads, and who has to wait.

Long work that somebody waits for is heard of while it goes on, and called off when nobody does.
"""

import asyncio
import re
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_hex
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from pydantic_core import to_json

from motif.analysis.cube_records import cube_answers
from motif.analysis.judge import MatchOptions, evaluator_of, judge_name, judge_of
from motif.analysis.position_records import boards_of, evaluations, hint
from motif.board.game_record import MatchRecord
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on, decode_path, play_batches
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
from motif.runtime.errors import MotifError, PlayerError, SettingError
from motif.runtime.parallel import worker_count
from motif.runtime.progress import heard_by
from motif.serve.costs import Ask, cost_of
from motif.serve.lanes import BusyError, Lane, Room, Stop, while_wanted
from motif.serve.serve_settings import ServeSettings
from motif.serve.upload import Upload, UploadReader

_Result = TypeVar("_Result")
_PLIES = re.compile(r"(@[12](:(narrow|normal|wide|rollout))?)?")
"""Lookahead that a request may ask for."""
_A_ROLL = (3, 1)
_KINDS = (Kind.STATIC, Kind.NET)
_QUICK = 0.3
"""Seconds of a core, at most, that the quick lane spends on a request."""
_LOADING = 1.0
"""Seconds, about, that it takes to load a player, whose kernels may have to be compiled."""
_FOLDER = re.compile(r"(?:(?<![A-Za-z])[A-Za-z]:)?[^:,=]*[/\\]")
"""What stands before the name of a file, in a player's name."""
_BODIES = 2
"""Requests of the largest size that are decoded at a time."""
_ANSWERS = 80_000_000

Record = dict[str, Any]


class Job:
    """One piece of work, done by a thread."""

    def __init__(self, work: Callable[[], bytes], seconds: float) -> None:
        """Made in the event loop, before a thread runs it; `work` comes to JSON within so many seconds."""
        self.id = token_hex(8)
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._stop = Stop(seconds)
        self._news = asyncio.Event()
        self._latest: Record | None = None
        self._end: asyncio.Future[bytes] = self._loop.create_future()
        # Its client may have left.
        self._end.add_done_callback(lambda end: end.cancelled() or end.exception())

    def call_off(self) -> None:
        """Let it end at its next step."""
        self._stop.call_off()

    def run(self) -> None:
        """Do the work; for a thread."""
        try:
            with heard_by(self._hear):
                result = self._stop.run(self._work)
        except BaseException as error:  # whatever it is, somebody waits for it
            self._tell(self._fail, error)
        else:
            self._tell(self._finish, result)

    def _hear(self, what: str, done: int, total: int) -> None:
        self._tell(self._note, {"what": what, "done": done, "total": total})

    def _tell(self, function: Callable[[Any], None], news: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, news)
        except RuntimeError:
            self.call_off()  # the loop has ended

    def _note(self, progress: Record) -> None:
        self._latest = progress
        self._news.set()

    def _finish(self, result: bytes) -> None:
        if not self._end.done():
            self._end.set_result(result)
        self._news.set()

    def _fail(self, error: BaseException) -> None:
        if not self._end.done():
            self._end.set_exception(error)
        self._news.set()

    async def events(self) -> AsyncIterator[bytes]:
        """Yield what is heard of it, as JSON: its ID, progress now and then, its result or an error.

        A client that stops listening calls it off.
        """
        try:
            yield to_json({"job": self.id})
            while not self._end.done():
                await self._news.wait()
                self._news.clear()
                if self._latest is not None and not self._end.done():
                    latest, self._latest = self._latest, None
                    yield to_json({"progress": latest})
            try:
                yield b'{"result":%s}' % self._end.result()
            except MotifError as error:
                yield to_json({"error": str(error)})
            except Exception as error:
                yield to_json({"error": f"internal error: {type(error).__name__}"})
        finally:
            self.call_off()

    async def result(self) -> bytes:
        """Return what it comes to, as JSON; it is called off when its client leaves."""
        try:
            return await while_wanted(self._end)
        finally:
            self.call_off()


class Desk:
    """What requests share."""

    def __init__(self, settings: ServeSettings) -> None:
        """Raise `PlayerError` for another program as the player: its answers would be mixed up."""
        self.settings = settings
        entry = None if settings.player is None else entry_of(without_plies(own_name(settings.player)))
        if entry is not None and entry.kind is Kind.PROGRAM:
            raise PlayerError(f"{settings.player!r} is {entry.kind}, which many cannot ask at a time")
        self._default = settings.player or default_player()
        self.player = settings.player and self.public(settings.player)
        """Who answers by default, as clients may know it; None is the usual one."""
        self._loaded: dict[tuple[str | None, bool, bool] | str, tuple[str, Evaluator]] = {}
        self._loading = Lock()
        cores, waiting, budget = worker_count(None), settings.waiting, settings.budget
        self._quick = Lane("motif-quick", cores, waiting, budget)
        self._slow = Lane("motif-slow", cores, waiting, budget)
        self._reading = Lane("motif-reading", 1, waiting, budget)
        self._upload_reading = Lane("motif-upload", 1, waiting, budget)
        self._uploads = UploadReader(settings.reading, settings.batch)
        self._long_threads = ThreadPoolExecutor(settings.rollouts, "motif-long")
        self._jobs: dict[str, Job] = {}
        self.bodies = Room(_BODIES * settings.body)
        """Bytes of large requests that have been decoded and are not answered."""
        self.answers = Room(_ANSWERS)
        """Bytes of large answers that their clients have not read."""

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
        self._long_threads.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.close()
        self._uploads.close()

    @property
    def _lanes(self) -> tuple[Lane, ...]:
        return self._quick, self._slow, self._reading, self._upload_reading

    @property
    def is_at_work(self) -> bool:
        """Whether a thread is busy, also with what nobody waits for."""
        return bool(self._jobs) or any(lane.is_at_work for lane in self._lanes)

    def check_budget(self, cost: float, what: str) -> None:
        """Raise `SettingError` for a request, as messages call it, that would cost more than one may."""
        budget = self.settings.budget
        if cost > budget:
            raise SettingError(
                f"the budget of a request here is {budget} s of computing, and {what} would take about "
                f"{cost:.0f} s: ask for fewer positions, or with less lookahead"
            )

    async def compute(
        self, function: Callable[..., _Result], *arguments: Any, cost: float = 0.0, **settings: Any
    ) -> _Result:
        """Return what `function` returns, computed by a thread.

        Parameters
        ----------
        function, arguments, settings
            What to call.
        cost
            Seconds of a core, about, that it takes: they decide which lane does it.

        Raises
        ------
        BusyError, CalledOffError, OverdueError
            See `Lane.do`.
        """
        lane = self._quick if cost <= _QUICK else self._slow
        return await lane.do(partial(function, *arguments, **settings))

    async def read(self, function: Callable[[], _Result]) -> _Result:
        """Return what `function` makes of a large body; one is read at a time."""
        return await self._reading.do(function)

    async def read_upload(self, upload: Upload) -> tuple[str, MatchRecord]:
        """Name and record of the match file in `upload`.

        Raises
        ------
        RecordError
            For no record of a match, or one of too many rolls.
        OverdueError
            Where reading it takes too long.
        """
        return await self._upload_reading.do(partial(self._uploads.read, upload))

    def start(self, work: Callable[[], bytes]) -> Job:
        """Let a thread do long `work`; raises `BusyError` where as much is under way as may be."""
        if len(self._jobs) >= self.settings.rollouts:
            raise BusyError(f"{len(self._jobs)} rollouts or analyses are under way already; try again later")
        job = Job(work, self.settings.budget)
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

    def quick_evaluator(self, player: str | None) -> "tuple[str, Evaluator] | None":
        """Return the same where it is loaded already; else None."""
        return self._loaded.get(self._checked(player) or self._default)

    def judge(self, player: str | None, fast: bool, deep: bool) -> "tuple[str, Evaluator]":
        """Name and evaluator of who judges plays and cubes: see `judge_of`."""
        name = self._checked(player) or self.settings.player
        return self._cached((name, fast, deep), lambda: judge_of(name, fast, deep))

    def cost(
        self, ask: Ask, player: str | None, fast: bool = False, deep: bool = False, count: int = 1
    ) -> float:
        """Seconds of a core, about, that `count` positions take.

        Raises
        ------
        PlayerError
            For a player that no request may name.
        SettingError
            Where that is more than the budget of a request.
        """
        name = self._checked(player) or self.settings.player
        if ask is Ask.EVALUATION:
            name = name or self._default
        cost = count * cost_of(ask, judge_name(name, fast, deep))
        self.check_budget(cost, f"{count} position{'s' * (count != 1)} at this depth")
        key = name if ask is Ask.EVALUATION else (name, fast, deep)
        return cost if key in self._loaded else max(cost, _LOADING)

    def static(self, player: str | None) -> StaticEvaluator:
        """Return the evaluator of who rolls out; raises `PlayerError` for one who is not static."""
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
                    name, evaluator = load()
                    self._rename(evaluator)
                    self._loaded[key] = self.public(name), evaluator
        return self._loaded[key]

    def _rename(self, evaluator: Evaluator) -> None:
        """Let an evaluator, and those that it is made of, have names that clients may know."""
        evaluator.name = self.public(evaluator.name)
        for part in vars(evaluator).values():
            for one in part.values() if isinstance(part, dict) else (part,):
                if isinstance(one, Evaluator):
                    self._rename(one)

    def public(self, text: str) -> str:
        """`text` without the folders of the server's own player, which are nothing for clients."""
        own = self.settings.player
        if own is None:
            return text
        base = without_plies(own)
        return text.replace(base, _FOLDER.sub("", base))

    def _checked(self, player: str | None) -> str | None:
        """Return the name of a player whom a request may ask for: no files and no programs."""
        if player is None or player in (self.settings.player, self.player):
            return player and self.settings.player
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
    """Return the legal plays of `roll`, the higher die first; raises `PositionError` in a finished game."""
    check_goes_on(position)
    return next(play_batches(position.board[None], np.array([roll])))


def moves_of(batch: PlayBatch, roll: tuple[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """Return the moves of each play of `batch`."""
    return [decode_path(path, roll)[0] for path in batch.paths.tolist()]
