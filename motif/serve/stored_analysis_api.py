"""The page's own routes for stored analyses, /api/v1/analyses, and for learning, /api/v1/learn."""

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field, StrictInt
from starlette.types import Receive, Scope, Send

from motif.board.moves import legal_plays
from motif.board.parsing import parse_position
from motif.runtime.errors import MotifError, RecordError
from motif.runtime.frames import Record
from motif.serve.analysis_store import AnalysisStore, CardCounts
from motif.serve.bodies import BodyRoute, LargeAnswer, computed, encoded, json_answer, problem, service_of
from motif.serve.costs import RequestKind
from motif.serve.database import NotStoredError
from motif.serve.engine_service import EngineService
from motif.serve.game_api import SECONDS_TO_FOLLOW
from motif.serve.game_store import GameStore
from motif.serve.game_view import tree_view
from motif.serve.lanes import BusyError, OverdueError
from motif.serve.questions import ItemId, Notation, PlaysQuestion, Question
from motif.serve.quiz import AskedQuestion, judge_answer
from motif.serve.trainers import TRAINER_KINDS, new_question

router = APIRouter(prefix="/api/v1", include_in_schema=False, route_class=BodyRoute)
_TRIES = 40
"""Number of new questions to try before a known one is repeated."""
_SECONDS_TO_FIND = 1.0
"""Longest estimated time for a new question of a trainer."""

_Piece = Callable[[], bytes]
Key = Annotated[str, Field(max_length=80)]
QuestionKind = Literal["error", "opening", "reply", "bearoff", "cube"]


class SeatQuestion(Question):
    """The reader's seat in an analysis."""

    seat: Annotated[StrictInt, Field(ge=0, le=1)]


class CardQuestion(Question):
    """The kind of the next question."""

    kind: QuestionKind = "error"
    analysis: ItemId | None = None
    skip: Annotated[tuple[Key, ...], Field(max_length=500)] = ()
    """Keys that were asked; those that are due are asked again, except among the errors of an `analysis`."""


class CardAnswer(Question):
    """An answer to a question: a play, or a cube action such as ``double, take``."""

    key: Key
    kind: QuestionKind
    question: AskedQuestion
    answer: Notation


def _store(request: Request) -> AnalysisStore:
    store: AnalysisStore = request.app.state.analyses
    return store


@router.get("/analyses")
async def analyses(request: Request) -> Response:
    """Return the stored analyses, without their decisions."""
    service, store = service_of(request), _store(request)
    return LargeAnswer(await service.stored(lambda: encoded({"analyses": store.summaries()})), service)


@router.get("/analyses/{analysis}")
async def analysis(analysis: str, request: Request) -> Response:
    """Return a stored analysis."""
    service = service_of(request)
    return LargeAnswer(await service.stored(_analysis, _store(request), analysis), service)


@router.get("/history")
async def history(request: Request) -> Response:
    """Return the stored analyses, and the reader's rating, luck and error themes."""
    service, store = service_of(request), _store(request)
    return LargeAnswer(await service.stored(lambda: encoded(store.history())), service)


@router.post("/analyses/{analysis}")
async def take_seat(analysis: str, question: SeatQuestion, request: Request) -> Response:
    """Store which player the reader is."""
    await service_of(request).stored(_store(request).take_seat, analysis, question.seat)
    return json_answer({"analysis": analysis, "seat": question.seat})


@router.delete("/analyses/{analysis}")
async def forget(analysis: str, request: Request) -> Response:
    """Delete an analysis."""
    await service_of(request).stored(_store(request).delete, analysis)
    return json_answer({"analysis": analysis})


@router.get("/everything")
async def everything(request: Request) -> Response:
    """Return everything stored: games as .mat files, analyses, and learning progress.

    It is read while it is sent, one game or analysis at a time; damaged ones are left out.
    """
    service, store = service_of(request), _store(request)
    games: GameStore = request.app.state.games

    def asked() -> tuple[list[str], list[str], bytes]:
        return games.ids(), store.ids(), encoded(store.progress())

    if service.is_exporting:
        raise BusyError("everything is already being exported; try again later")
    all_games, analyses, learned = await service.stored(asked)
    pieces = _pieces(
        service,
        [partial(_mat, games, game) for game in all_games],
        [partial(_analysis, store, analysis) for analysis in analyses],
        learned,
    )
    return _Export(pieces, service)


def _mat(games: GameStore, game: str) -> bytes:
    return encoded({"game": game, "mat": games.mat(game)})


def _analysis(store: AnalysisStore, analysis: str) -> bytes:
    return encoded(store.read(analysis))


async def _pieces(
    service: EngineService, games: Sequence[_Piece], analyses: Sequence[_Piece], learned: bytes
) -> AsyncGenerator[bytes, None]:
    """Yield the JSON of an export, one game or analysis at a time."""
    for before, pieces, cost in ((b'{"games":[', games, SECONDS_TO_FOLLOW), (b'],"analyses":[', analyses, 0)):
        yield before
        is_first = True
        for piece in pieces:
            try:
                encoded_one = await service.stored(piece, cost=cost)
            except (RecordError, NotStoredError, OverdueError):
                continue  # it is damaged, was deleted meanwhile, or is too long
            yield encoded_one if is_first else b"," + encoded_one
            is_first = False
    yield b'],"learned":%s}' % learned


class _Export(StreamingResponse):
    """An export that is sent as fast as its client reads, one at a time."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], service: EngineService) -> None:
        name = {"content-disposition": 'attachment; filename="motif.json"'}
        super().__init__(pieces, headers=name, media_type="application/json")
        self._pieces, self._service = pieces, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the export, which is cut off where it cannot be continued."""
        if self._service.is_exporting:
            await problem(503, "everything is already being exported; try again later")(scope, receive, send)
            return
        self._service.is_exporting = True
        try:
            await super().__call__(scope, receive, send)
        except MotifError:
            return
        finally:
            self._service.is_exporting = False
            await self._pieces.aclose()


@router.delete("/everything")
async def forget_everything(request: Request) -> Response:
    """Delete everything: games, analyses and learning progress."""
    service = service_of(request)
    await service.stored(_store(request).delete_all)
    return json_answer({"games": await service.stored(request.app.state.games.delete_all)})


@router.get("/learn")
async def progress(request: Request) -> Response:
    """Count all cards and the due ones, by kind."""
    known = await service_of(request).stored(_store(request).progress)
    empty = CardCounts(cards=0, due=0, asked=0, known=0, learned=0)
    return json_answer({"progress": {kind: known.get(kind, empty) for kind in ("error", *TRAINER_KINDS)}})


@router.post("/learn/next")
async def next_card(question: CardQuestion, request: Request) -> Response:
    """Return a due question, or a trainer's new one; ``card`` is null if there is none."""
    store = _store(request)

    def found() -> Record:
        skip = question.skip if question.analysis else ()
        card = store.next_card(question.kind, question.analysis, skip)
        if card is not None or question.kind == "error":
            return {"card": card}
        for _ in range(_TRIES):
            key, new = new_question(question.kind)
            if not store.knows_card(key) and key not in question.skip:
                break
        counts = dict.fromkeys(("box", "asked", "known"), 0)
        return {"card": {"key": key, "kind": question.kind, "question": new, **counts}}

    return json_answer(await service_of(request).stored(found, cost=_SECONDS_TO_FIND))


@router.post("/learn")
async def answered(question: CardAnswer, request: Request) -> Response:
    """Judge and store an answer; return its cost, the best answer, and when the question is due again."""
    service, store = service_of(request), _store(request)
    asked = question.question

    def stored() -> Record:
        judgement = judge_answer(asked, question.answer, service.judge()[1])
        due = store.answer(question.key, question.kind, asked.model_dump(), judgement.is_right)
        return due | judgement._asdict() | {"right": judgement.is_right}

    kind = RequestKind.EXPLANATION if asked.is_play else RequestKind.CUBE
    position = parse_position(asked.id)[0]
    cost = service.cost(kind, None, position=position)
    return json_answer(await service.stored(stored, cost=cost))


@router.post("/turn")
async def turn(question: PlaysQuestion, request: Request) -> Response:
    """Return the board, and the tree of all ways to play a roll."""
    return await computed(request, _turn, question)


def _turn(question: PlaysQuestion) -> Record:
    position, _, roll = question.decision()
    plays = legal_plays(position, roll)
    return {"board": position.board.tolist(), "roll": list(roll), "tree": tree_view(position, roll, plays)}
