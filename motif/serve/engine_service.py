"""The service behind the HTTP routes: loaded players, lanes of threads, and long jobs."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_hex
from threading import Lock
from typing import TypeVar

from pydantic_core import to_json

from motif.analysis.cube_records import cube_answers
from motif.analysis.judge import MatchOptions, evaluator_of, judge_name, judge_of
from motif.analysis.position_records import evaluations, hint
from motif.board.game_record import MatchRecord
from motif.board.match_state import MatchState
from motif.board.parsing import parse_boards
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.evaluators.known_players import (
    SERVED_PLIES,
    Kind,
    default_player,
    entry_of,
    known_players,
    own_name,
    static_words,
    without_plies,
)
from motif.evaluators.static import BEAROFF_SUFFIX, StaticEvaluator
from motif.runtime.errors import MotifError, PlayerError, SettingError
from motif.runtime.frames import Record
from motif.runtime.layout import counted
from motif.runtime.parallel import worker_count
from motif.runtime.progress import heard_by
from motif.serve.costs import RequestKind, cost_of, may_play_out, plays_endings
from motif.serve.lanes import BusyError, Cancellation, Lane, MemoryLimit, while_wanted
from motif.serve.serve_settings import ServeSettings
from motif.serve.upload import Upload, UploadReader

_Result = TypeVar("_Result")
_Key = tuple[str | None, bool, bool] | str
"""A judge by its player, fast and deep, or an evaluator by its name."""
_A_ROLL = (3, 1)
_KINDS = (Kind.STATIC, Kind.NET)
_QUICK = 0.3
"""Longest request of the quick lane, in seconds of a core."""
_SLOW = 10.0
"""Longest request of the slow lane; longer ones are large batches."""
_LOADING = 1.0
"""Estimated seconds to load a player, whose kernels may have to be compiled; or to play out an ending."""
_PART_ENDS = re.compile(r"[,=]|(?<=[A-Za-z0-9]{2}):")
"""The ends of the parts of a player's name; a colon after a single letter belongs to a drive of Windows."""
_FOLDER_ENDS = re.compile(r"[/\\]")
_SMALL_FILE = 50_000
"""Bytes of a match file that is not read after larger ones."""
_BODIES = 2
"""Requests of the largest size that are decoded at the same time."""
_ANSWERS = 80_000_000
"""Bytes of large answers that may be unread."""
_STORAGE = 2
"""Minimum number of threads that read and write stores."""


class Job:
    """Long work in a thread; it reports its progress, and is cancelled when its client leaves."""

    def __init__(self, work: Callable[[], bytes], seconds: float, threads: ThreadPoolExecutor) -> None:
        """Begin in one of `threads`; `work` returns JSON within some `seconds` of a core."""
        self.id = token_hex(8)
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._stop = Cancellation(seconds)
        self._news = asyncio.Event()
        self._latest: Record | None = None
        self.end = self._loop.run_in_executor(threads, self._run)
        """The result, as JSON, when the thread has ended."""
        self.end.add_done_callback(self._note_end)

    def cancel(self) -> None:
        """Let the job end at its next step."""
        self._stop.cancel()

    def _run(self) -> bytes:
        with heard_by(self._hear):
            return self._stop.run(self._work)

    def _hear(self, what: str, done: int, total: int) -> None:
        try:
            self._loop.call_soon_threadsafe(self._note, {"what": what, "done": done, "total": total})
        except RuntimeError:
            self.cancel()  # the loop has ended

    def _note(self, progress: Record) -> None:
        self._latest = progress
        self._news.set()

    def _note_end(self, end: "asyncio.Future[bytes]") -> None:
        if not end.cancelled():
            end.exception()  # retrieved here, because the client may have left
        self._news.set()

    async def events(self) -> AsyncIterator[bytes]:
        """Yield its ID, its progress, and its result or an error, as JSON."""
        try:
            yield to_json({"job": self.id})
            while not self.end.done():
                await while_wanted(asyncio.ensure_future(self._news.wait()))
                self._news.clear()
                if self._latest is not None and not self.end.done():
                    latest, self._latest = self._latest, None
                    yield to_json({"progress": latest})
            yield b'{"result":%s}' % self.end.result()
        except MotifError as error:
            yield to_json({"error": str(error)})
        except Exception as error:
            yield to_json({"error": f"internal error: {type(error).__name__}"})
        finally:
            self.cancel()

    async def result(self) -> bytes:
        """Return the result as JSON."""
        try:
            return await while_wanted(asyncio.shield(self.end))
        finally:
            self.cancel()


class EngineService:
    """The players, threads and limits that requests share."""

    def __init__(self, settings: ServeSettings) -> None:
        """Raise `PlayerError` if the player is another program, which answers one request at a time."""
        self.settings = settings
        entry = None if settings.player is None else entry_of(without_plies(own_name(settings.player)))
        if entry is not None and entry.kind is Kind.PROGRAM:
            raise PlayerError(
                f"{settings.player!r} is {entry.kind}, which cannot answer several requests at once"
            )
        self._default = settings.player or default_player()
        self.default = self.public(self._default)
        """Public name of the default player."""
        self._loaded: dict[_Key, tuple[str, Evaluator]] = {}
        self._loading = Lock()
        cores, waiting, budget = worker_count(None), settings.waiting, settings.budget
        self._quick = Lane("motif-quick", cores, waiting, budget)
        self._slow = Lane("motif-slow", cores, waiting, budget)
        self._batches = Lane("motif-batches", cores, waiting, budget)
        self.reading = Lane("motif-reading", 1, waiting, budget)
        """Reads large bodies, one after the other."""
        self._uploads = [
            (Lane(f"motif-{name}", 1, waiting, budget), UploadReader(settings.reading, settings.batch))
            for name in ("upload", "large-upload")
        ]
        """For small files, and for large ones, which may take long."""
        self._storage = Lane("motif-storage", max(_STORAGE, cores), waiting, budget)
        uploads = (lane for lane, _ in self._uploads)
        self._lanes = self._quick, self._slow, self._batches, self.reading, self._storage, *uploads
        self._long_threads = ThreadPoolExecutor(settings.rollouts, "motif-long")
        self._jobs: dict[str, Job] = {}
        self.bodies = MemoryLimit(_BODIES * settings.body)
        """Bytes of large requests that are being decoded."""
        self.answers = MemoryLimit(_ANSWERS)
        """Bytes of large answers that are not sent."""
        self.is_exporting = False
        """Whether everything stored is being sent to a client."""

    def warm(self) -> None:
        """Load the default player and compile its kernels before the first request."""
        position, state = Position.start(), MatchState()
        for fast in (True, False):
            name, judge = self.judge(None, fast, False)
            _, record = hint(position, _A_ROLL, state, judge, name, MatchOptions())
            next(cube_answers([(position, state)], judge, name, jobs=1))
        name, evaluator = self.evaluator(None)
        next(evaluations(parse_boards([record["position"]]), evaluator, name, jobs=1))

    def close(self) -> None:
        """End the threads as soon as possible."""
        for job in self._jobs.values():
            job.cancel()
        self._long_threads.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.close()
        for _, reader in self._uploads:
            reader.close()

    @property
    def is_at_work(self) -> bool:
        """Whether a thread is busy, even with cancelled work."""
        return bool(self._jobs) or any(lane.is_at_work for lane in self._lanes)

    async def compute(
        self, function: Callable[..., _Result], *arguments: object, cost: float = 0.0
    ) -> _Result:
        """Run `function` in a thread and return its result.

        `cost`, the estimated seconds of a core, decides on the lane.  Raises the errors of `Lane.do`.
        """
        lane = self._quick if cost <= _QUICK else self._slow if cost <= _SLOW else self._batches
        return await lane.do(partial(function, *arguments))

    async def stored(
        self, function: Callable[..., _Result], *arguments: object, cost: float = 0.0
    ) -> _Result:
        """Run `function`, which may wait for a store, in a thread like `compute`.

        Nothing in the quick lane waits for it.
        """
        lane = self._storage if cost <= _QUICK else self._slow
        return await lane.do(partial(function, *arguments))

    async def read_upload(self, upload: Upload) -> tuple[str, MatchRecord]:
        """Return name and record of the match file in `upload`.

        Raises `RecordError` for a file that is not a match, or has too many rolls, `OverdueError` for slow
        ones.
        """
        lane, reader = self._uploads[len(upload.body) > _SMALL_FILE]
        return await lane.do(partial(reader.read, upload))

    def start(self, work: Callable[[], bytes]) -> Job:
        """Start long `work` in a thread; raises `BusyError` if too many jobs are under way."""
        if len(self._jobs) >= self.settings.rollouts:
            raise BusyError(f"{len(self._jobs)} rollouts or analyses are already running; try again later")
        job = Job(work, self.settings.budget, self._long_threads)
        self._jobs[job.id] = job
        job.end.add_done_callback(lambda _: self._jobs.pop(job.id))
        return job

    def cancel(self, job: str) -> bool:
        """Cancel a job by its ID, and return whether there was one."""
        if job not in self._jobs:
            return False
        self._jobs[job].cancel()
        return True

    def evaluator(self, player: str | None) -> tuple[str, Evaluator]:
        """Return name and evaluator of a player, by default of the newest weights without lookahead."""
        name = self._checked(player) or self._default
        return self._cached(name, lambda: (name, evaluator_of(name)))

    def quick_evaluator(self, player: str | None) -> tuple[str, Evaluator] | None:
        """Return the same if it is loaded, otherwise None."""
        return self._loaded.get(self._checked(player) or self._default)

    def judge(
        self, player: str | None = None, fast: bool = False, deep: bool = False
    ) -> tuple[str, Evaluator]:
        """Return name and evaluator for plays and cube decisions: see `judge_of`."""
        name = self._checked(player) or self.settings.player
        return self._cached((name, fast, deep), lambda: judge_of(name, fast, deep))

    def cost(
        self,
        ask: RequestKind,
        player: str | None,
        fast: bool = False,
        deep: bool = False,
        count: int = 1,
        position: Position | None = None,
        effort: float = 1.0,
    ) -> float:
        """Return the estimated seconds of a core for `count` positions, or for one known `position`.

        `effort` is a factor for unusual decisions, which are never refused for it: see `effort_of`.  Raises
        `PlayerError` for a player that requests may not name, `SettingError` beyond the budget.
        """
        name = self._checked(player) or self.settings.player
        if ask is RequestKind.EVALUATION:
            name = name or self._default
        key = name if ask is RequestKind.EVALUATION else (name, fast, deep)
        evaluator = self._loaded[key][1] if key in self._loaded else None
        late = evaluator is not None and position is not None and may_play_out(evaluator, position)
        cost = count * cost_of(ask, judge_name(name, fast, deep), late)
        if cost > (budget := self.settings.budget):
            what = f"{counted(count, 'position')} at this depth"
            raise SettingError(
                f"a request may take {budget} s of computing time, but {what} would take about "
                f"{cost:.0f} s: ask for fewer positions, or with less lookahead",
                *["fast"] * (ask is RequestKind.REVIEW),  # what the page offers instead
            )
        if evaluator is None or (position is None and plays_endings(evaluator)):
            return max(effort * cost, _LOADING)
        return effort * cost

    def static(self, player: str | None) -> StaticEvaluator:
        """Return the evaluator of a rollout; raises `PlayerError` for one with lookahead."""
        name, evaluator = self.evaluator(player)
        if not isinstance(evaluator, StaticEvaluator):
            raise PlayerError(
                f"rollouts are played by {static_words()}, without lookahead, not by {name!r}", "player"
            )
        return evaluator

    def players(self) -> list[Record]:
        """List the available players for JSON."""
        known = [entry for entry in known_players() if entry.is_one and entry.kind in _KINDS]
        return [
            {
                "name": entry.name,
                "kind": str(entry.kind),
                "who": entry.description,
                "chances": entry.gives_chances,
                "rollouts": entry.kind is Kind.STATIC,
            }
            for entry in known
        ]

    def _cached(self, key: _Key, load: Callable[[], tuple[str, Evaluator]]) -> tuple[str, Evaluator]:
        if key not in self._loaded:
            with self._loading:
                if key not in self._loaded:
                    name, evaluator = load()
                    for one in _evaluators_in(evaluator):
                        one.name = self.public(one.name)
                    self._loaded[key] = self.public(name), evaluator
        return self._loaded[key]

    def public(self, text: str) -> str:
        """Return `text` without the folders of the server's own player, which clients must not see."""
        for part in map(without_plies, _PART_ENDS.split(self.settings.player or "")):
            text = text.replace(part, _FOLDER_ENDS.split(part)[-1])
        return text

    def _checked(self, player: str | None) -> str | None:
        """Return the name of a player that a request may name: no files and no programs."""
        if player is None or player in (self.settings.player, self.settings.player and self.default):
            return player and self.settings.player
        name = own_name(player)
        base = without_plies(name)
        entry = entry_of(base.removesuffix(BEAROFF_SUFFIX))
        known = entry is not None and entry.is_one and entry.kind in _KINDS
        if not known or not SERVED_PLIES.fullmatch(name[len(base) :]):
            names = ", ".join(entry["name"] for entry in self.players())
            raise PlayerError(
                f"unknown player {player[:60]!r}: it must be {names}, also with @1 or @2", "player"
            )
        return name


def _evaluators_in(value: object) -> Iterator[Evaluator]:
    """Yield the evaluators in `value`, and those that they use."""
    if isinstance(value, Evaluator):
        yield value
        value = vars(value)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _evaluators_in(one)
