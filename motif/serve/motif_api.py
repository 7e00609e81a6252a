"""motif's own HTTP interface: the routes below /api/v1, which answer as commands do with --json."""

from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic_core import to_json

from motif.analysis.cube_records import cube_answers
from motif.analysis.explain import explain_choice
from motif.analysis.judge import for_match
from motif.analysis.position_records import details, evaluations, hint, plays
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.evaluators.static import StaticEvaluator
from motif.runtime.version import VERSION
from motif.serve.desk import Desk
from motif.serve.questions import (
    CubeQuestion,
    EvaluateQuestion,
    ExplainQuestion,
    HintQuestion,
    PlaysQuestion,
)

Record = dict[str, Any]
router = APIRouter(prefix="/api/v1")


def json_answer(document: Any) -> Response:
    """`document` as JSON; a number that is not finite becomes null."""
    return Response(to_json(document, inf_nan_mode="null"), media_type="application/json")


def desk_of(request: Request) -> Desk:
    """The desk of the application that has got `request`."""
    desk: Desk = request.app.state.desk
    return desk


@router.get("/health")
async def health() -> Response:
    """Whether the server answers, and its version."""
    return json_answer({"status": "ok", "version": VERSION})


@router.get("/players")
async def players(request: Request) -> Response:
    """Who may be asked."""
    desk = desk_of(request)
    return json_answer({"players": desk.players(), "default": desk.settings.player})


@router.post("/evaluate")
async def evaluate(question: EvaluateQuestion, request: Request) -> Response:
    """The chances and the equity of a position, before the roll, for the player on roll."""
    desk = desk_of(request)
    name, evaluator = desk.evaluator(question.player)
    if isinstance(evaluator, StaticEvaluator) and not question.detailed:
        # Done sooner than a thread could begin with it.
        return json_answer(_evaluation(question, name, evaluator))
    return json_answer(await desk.compute(_evaluation, question, name, evaluator))


def _evaluation(question: EvaluateQuestion, name: str, evaluator: Any) -> Record:
    position, _ = question.position()
    record = next(evaluations(position.board[None], evaluator, name, jobs=1))
    return {**record, **details(position, evaluator).to_dict()} if question.detailed else record


@router.post("/plays")
async def list_plays(question: PlaysQuestion) -> Response:
    """Every legal play of a roll, with the position after it as the next player on roll sees it."""
    position, _, roll = question.decision()
    return json_answer(next(plays(position.board[None], np.array([roll]))))


@router.post("/hint")
async def rank_plays(question: HintQuestion, request: Request) -> Response:
    """The legal plays of a roll, the best first."""
    return json_answer(await desk_of(request).compute(_hint, desk_of(request), question))


def _hint(desk: Desk, question: HintQuestion) -> Record:
    position, match, roll = question.decision()
    name, evaluator = desk.judge(question.player, question.fast, question.deep)
    return hint(position, roll, match, evaluator, name, question.options())[0]


@router.post("/cube")
async def decide_cube(question: CubeQuestion, request: Request) -> Response:
    """Whether to double, and whether to take."""
    return json_answer(await desk_of(request).compute(_cube, desk_of(request), question))


def _cube(desk: Desk, question: CubeQuestion) -> Record:
    position, match = question.position()
    name, evaluator = desk.judge(question.player, question.fast, question.deep)
    state = question.options().state_of(match)
    return next(cube_answers([(position, state)], evaluator, name, jobs=1)).record()


@router.post("/explain")
async def explain(question: ExplainQuestion, request: Request) -> Response:
    """Why one play is better than another, term by term and in words."""
    return json_answer(await desk_of(request).compute(_explanation, desk_of(request), question))


def _explanation(desk: Desk, question: ExplainQuestion) -> Record:
    position, match, roll = question.decision()
    worse = None if question.versus is None else find_play(question.versus, legal_plays(position, roll))
    _, evaluator = desk.judge(question.player, question.fast, question.deep)
    stakes, valued = for_match(evaluator, question.options(), match)
    return {**explain_choice(evaluator, position, roll, worse=worse, stakes=stakes).to_dict(), **valued}
