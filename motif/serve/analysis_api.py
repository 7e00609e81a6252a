"""The page's own routes for stored analyses, /api/v1/analyses, and for learning, /api/v1/learn."""

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from motif.analysis.position_records import Record
from motif.board.moves import legal_plays
from motif.serve.analysis_store import AnalysisStore
from motif.serve.bodies import BodyRoute, json_answer, service_of
from motif.serve.costs import RequestKind
from motif.serve.game_view import tree_view
from motif.serve.questions import PlaysQuestion, Question
from motif.serve.quiz import AskedQuestion, judged
from motif.serve.trainers import KINDS, new_question

router = APIRouter(prefix="/api/v1", include_in_schema=False, route_class=BodyRoute)
_TRIES = 40
"""Number of new questions to try before a known one is repeated."""
_SECONDS_TO_FIND = 1.0
"""Longest estimated time for a new question of a trainer."""

_Result = TypeVar("_Result")
Kind = Literal["error", "opening", "reply", "bearoff", "cube"]


class SeatQuestion(Question):
    """The reader's seat in an analysis."""

    seat: Annotated[int, Field(ge=0, le=1)]


class CardQuestion(Question):
    """The kind of the next question."""

    kind: Kind = "error"
    analysis: Annotated[str | None, Field(max_length=40)] = None
    skip: Annotated[tuple[Annotated[str, Field(max_length=80)], ...], Field(max_length=500)] = ()


class CardAnswer(Question):
    """An answer to a question: a play, or a cube action such as ``double, take``."""

    key: Annotated[str, Field(max_length=80)]
    kind: Kind
    question: AskedQuestion
    answer: Annotated[str, Field(max_length=60)]


async def _compute(request: Request, method: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a method of the store in a thread."""
    return await service_of(request).compute(method, request.app.state.analyses, *arguments)


@router.get("/analyses")
async def analyses(request: Request) -> Response:
    """Return the stored analyses, without their decisions."""
    return json_answer({"analyses": await _compute(request, AnalysisStore.summaries)})


@router.get("/analyses/{analysis}")
async def analysis(analysis: str, request: Request) -> Response:
    """Return a stored analysis."""
    return json_answer(await _compute(request, AnalysisStore.read, analysis))


@router.get("/history")
async def history(request: Request) -> Response:
    """Return the stored analyses, and the reader's rating, luck and error themes."""
    return json_answer(await _compute(request, AnalysisStore.history))


@router.post("/analyses/{analysis}")
async def take_seat(analysis: str, question: SeatQuestion, request: Request) -> Response:
    """Store which player the reader is."""
    await _compute(request, AnalysisStore.take_seat, analysis, question.seat)
    return json_answer({"analysis": analysis, "seat": question.seat})


@router.delete("/analyses/{analysis}")
async def forget(analysis: str, request: Request) -> Response:
    """Delete an analysis."""
    await _compute(request, AnalysisStore.delete, analysis)
    return json_answer({"analysis": analysis})


@router.get("/everything")
async def everything(request: Request) -> Response:
    """Return everything stored: games as .mat files, analyses, and learning progress."""
    store, games = request.app.state.analyses, request.app.state.games

    def gathered() -> Record:
        kept = [store.read(one["analysis"]) for one in store.summaries()]
        return {"games": games.all_mats(), "analyses": kept, "learned": store.progress()}

    answer = json_answer(await service_of(request).compute(gathered, cost=_SECONDS_TO_FIND))
    answer.headers["content-disposition"] = 'attachment; filename="motif.json"'
    return answer


@router.delete("/everything")
async def forget_everything(request: Request) -> Response:
    """Delete everything: games, analyses and learning progress."""
    await _compute(request, AnalysisStore.delete_all)
    return json_answer({"games": await service_of(request).compute(request.app.state.games.delete_all)})


@router.get("/learn")
async def progress(request: Request) -> Response:
    """Count all cards and the due ones, by kind."""
    known = await _compute(request, AnalysisStore.progress)
    empty = dict.fromkeys(("cards", "due", "asked", "known", "learned"), 0)
    return json_answer({"progress": {kind: known.get(kind, empty) for kind in ("error", *KINDS)}})


@router.post("/learn/next")
async def next_card(question: CardQuestion, request: Request) -> Response:
    """Return a due question, or a trainer's new one; ``card`` is null if there is none."""
    store: AnalysisStore = request.app.state.analyses

    def found() -> Record | None:
        card = store.next_card(question.kind, question.analysis, question.skip)
        if card is not None or question.kind == "error":
            return card
        for _ in range(_TRIES):
            key, new = new_question(question.kind)
            if not store.knows_card(key) and key not in question.skip:
                break
        return {"key": key, "kind": question.kind, "question": new, "box": 0, "asked": 0, "known": 0}

    return json_answer({"card": await service_of(request).compute(found, cost=_SECONDS_TO_FIND)})


@router.post("/learn")
async def answered(question: CardAnswer, request: Request) -> Response:
    """Judge and store an answer; return its cost, the best answer, and when the question is due again."""
    service, store = service_of(request), request.app.state.analyses
    asked = question.question

    def stored() -> Record:
        judgement = judged(asked, question.answer, service.judge(None, False, False)[1])
        due = store.answer(question.key, question.kind, asked.model_dump(), judgement.is_right)
        return due | judgement._asdict() | {"right": judgement.is_right}

    kind = RequestKind.EXPLANATION if asked.is_play else RequestKind.CUBE
    return json_answer(await service.compute(stored, cost=service.cost(kind, None)))


@router.post("/turn")
async def turn(question: PlaysQuestion, request: Request) -> Response:
    """Return the board, and the tree of all ways to play a roll."""
    return json_answer(await service_of(request).compute(_turn, question))


def _turn(question: PlaysQuestion) -> Record:
    position, _, roll = question.decision()
    plays = legal_plays(position, roll)
    return {"board": position.board.tolist(), "roll": list(roll), "tree": tree_view(position, roll, plays)}
