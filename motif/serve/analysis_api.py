"""The page's own routes: analyses that are kept, /api/v1/analyses, and what is learned, /api/v1/learn."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from motif.board.moves import legal_plays
from motif.serve.analysis_store import AnalysisStore
from motif.serve.bodies import BodyRoute, desk_of, json_answer
from motif.serve.game_store import GameStore
from motif.serve.game_view import tree_view
from motif.serve.questions import PlaysQuestion
from motif.serve.trainers import KINDS, new_question

router = APIRouter(prefix="/api/v1", include_in_schema=False, route_class=BodyRoute)
_TRIES = 40
"""New questions that are looked at before one that is known comes again."""
_SECONDS_TO_FIND = 1.0
"""What a new question of a trainer may take to be found."""

Kind = Literal["error", "opening", "reply", "bearoff", "cube"]


class _Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TakenSeat(_Wish):
    """Which player the reader of an analysis is."""

    seat: Annotated[int, Field(ge=0, le=1)]


class CardQuestion(_Wish):
    """Which question comes next?"""

    kind: Kind = "error"
    analysis: Annotated[str | None, Field(max_length=40)] = None
    skip: Annotated[list[Annotated[str, Field(max_length=80)]], Field(max_length=500)] = []


class CardAnswer(_Wish):
    """Whether the answer to a question was right."""

    key: Annotated[str, Field(max_length=80)]
    kind: Kind
    question: dict[str, Any]
    right: bool


def _stores(request: Request) -> tuple[AnalysisStore, GameStore]:
    return request.app.state.analyses, request.app.state.games


@router.get("/analyses")
async def analyses(request: Request) -> Response:
    """Return the analyses that are kept, without their decisions."""
    store, _ = _stores(request)
    return json_answer({"analyses": await desk_of(request).compute(store.listed)})


@router.get("/analyses/{analysis}")
async def analysis(analysis: str, request: Request) -> Response:
    """Return an analysis as it was made."""
    store, _ = _stores(request)
    return json_answer(await desk_of(request).compute(store.read, analysis))


@router.post("/analyses/{analysis}")
async def take_seat(analysis: str, wish: TakenSeat, request: Request) -> Response:
    """Note which player the reader is."""
    store, _ = _stores(request)
    await desk_of(request).compute(store.take_seat, analysis, wish.seat)
    return json_answer({"analysis": analysis, "seat": wish.seat})


@router.delete("/analyses/{analysis}")
async def forget(analysis: str, request: Request) -> Response:
    """Keep an analysis no longer."""
    store, _ = _stores(request)
    await desk_of(request).compute(store.delete, analysis)
    return json_answer({"analysis": analysis})


@router.get("/everything")
async def everything(request: Request) -> Response:
    """Return all that is kept: games as .mat files, analyses, and what was learned."""
    store, games = _stores(request)

    def gathered() -> dict[str, Any]:
        kept = [store.read(one["analysis"]) for one in store.listed()]
        return {"games": games.mats(), "analyses": kept, "learned": store.progress()}

    answer = json_answer(await desk_of(request).compute(gathered, cost=_SECONDS_TO_FIND))
    answer.headers["content-disposition"] = 'attachment; filename="motif.json"'
    return answer


@router.delete("/everything")
async def forget_everything(request: Request) -> Response:
    """Keep nothing: no games, no analyses, nothing learned."""
    store, games = _stores(request)
    await desk_of(request).compute(store.delete_all)
    return json_answer({"games": await desk_of(request).compute(games.forget_all)})


@router.get("/learn")
async def progress(request: Request) -> Response:
    """Count cards, and those due, by kind."""
    store, _ = _stores(request)
    known = await desk_of(request).compute(store.progress)
    empty = {"cards": 0, "due": 0, "asked": 0, "known": 0, "learned": 0}
    return json_answer({"progress": {kind: known.get(kind, empty) for kind in ("error", *KINDS)}})


@router.post("/learn/next")
async def next_card(wish: CardQuestion, request: Request) -> Response:
    """Return the question that is due, or a new one of a trainer; ``card`` is null where there is none."""
    store, _ = _stores(request)

    def found() -> dict[str, Any] | None:
        card = store.next_card(wish.kind, wish.analysis, wish.skip)
        if card is not None or wish.kind == "error":
            return card
        for _ in range(_TRIES):
            key, question = new_question(wish.kind)
            if not store.knows_card(key) and key not in wish.skip:
                break
        return {"key": key, "kind": wish.kind, "question": question, "box": 0, "asked": 0, "known": 0}

    return json_answer({"card": await desk_of(request).compute(found, cost=_SECONDS_TO_FIND)})


@router.post("/learn")
async def answered(wish: CardAnswer, request: Request) -> Response:
    """Note an answer; the card says when the question comes again."""
    store, _ = _stores(request)
    return json_answer(
        await desk_of(request).compute(store.answer, wish.key, wish.kind, wish.question, wish.right)
    )


@router.post("/turn")
async def turn(question: PlaysQuestion, request: Request) -> Response:
    """Return every way to play a roll, step by step, with the board that it is played on."""
    return json_answer(await desk_of(request).compute(_turn, question))


def _turn(question: PlaysQuestion) -> dict[str, Any]:
    position, _, roll = question.decision()
    plays = legal_plays(position, roll)
    return {"board": position.board.tolist(), "roll": list(roll), "tree": tree_view(position, roll, plays)}
