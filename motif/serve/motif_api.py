"""motif's own HTTP interface: the routes below /api/v1, which answer as commands do with --json.

There is a short way to the answer that is asked for most, a position's evaluation.

Finding the route, and what its function takes, costs the framework several times what the evaluation does.
"""

from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from motif.analysis.cube_records import cube_answers
from motif.analysis.explain import explain_choice
from motif.analysis.judge import for_match
from motif.analysis.match import analyse_match
from motif.analysis.position_records import boards_of, details, evaluations, hint, hints, plays
from motif.analysis.rollout_records import (
    RolloutQuestion,
    comparison_record,
    cube_rollout_record,
    result_record,
)
from motif.board.match_file import parse_match
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.packed import BOARD_SIZE
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.probabilities import equities
from motif.evaluators.static import StaticEvaluator
from motif.rollout import RolloutSettings
from motif.runtime.errors import MotifError, RecordError, SettingError, plain_text
from motif.runtime.package import VERSION
from motif.serve.desk import Desk
from motif.serve.questions import (
    CubeBatch,
    CubeQuestion,
    Decision,
    EvaluateBatch,
    EvaluateQuestion,
    ExplainQuestion,
    HintBatch,
    HintQuestion,
    PlaysQuestion,
    RolloutRequest,
)

Record = dict[str, Any]
_Item = TypeVar("_Item")
_Read = TypeVar("_Read")
_DIGITS = 7
"""Decimals of a batch's numbers: as many as single precision has."""

PATH = "/api/v1/evaluate"


class ErrorMessage(BaseModel):
    """What was wrong, in one line."""

    message: str


ERRORS: dict[int | str, Record] = {
    400: {"model": ErrorMessage, "description": "What was asked makes no sense."},
    503: {"model": ErrorMessage, "description": "Too much is asked at a time."},
}
router = APIRouter(prefix="/api/v1", tags=["motif"], responses=ERRORS)
_CHANCES = {
    "win": 0.5162,
    "win_gammon": 0.1297,
    "win_backgammon": 0.0053,
    "lose_gammon": 0.1106,
    "lose_backgammon": 0.0048,
    "equity": 0.052,
}
_PLAY = {"notation": "8/5 6/5", "position": "sGfwATDgc/ABMA"}
_RANKED = {
    **_PLAY,
    "moves": [[8, 5], [6, 5]],
    "equity": 0.168,
    "source": "2-ply",
    "win": 0.551,
    "win_gammon": 0.171,
    "win_backgammon": 0.011,
    "lose_gammon": 0.122,
    "lose_backgammon": 0.006,
}
_PLAYED = {"position": "4HPwATDgc/ABMA", "roll": [3, 1]}


def _answers(example: Record) -> dict[int | str, Record]:
    """What the schema says of an answer; long lists are cut short."""
    return {200: {"content": {"application/json": {"example": example}}}}


def json_answer(document: Any) -> Response:
    """`document` as JSON; a number that is not finite becomes null."""
    return Response(to_json(document, inf_nan_mode="null"), media_type="application/json")


def desk_of(request: Request) -> Desk:
    """The desk of the application that has got `request`."""
    desk: Desk = request.app.state.desk
    return desk


@router.get("/health", responses=_answers({"status": "ok", "version": VERSION}))
async def health() -> Response:
    """Whether the server answers, and its version."""
    return json_answer({"status": "ok", "version": VERSION})


@router.get("/players")
async def players(request: Request) -> Response:
    """Who may be asked."""
    desk = desk_of(request)
    return json_answer({"players": desk.players(), "default": desk.settings.player})


@router.post(
    "/evaluate",
    responses=_answers({**_CHANCES, "class": "contact", "player": "motif-v6", "position": "4HPwATDgc/ABMA"}),
)
async def evaluate(question: EvaluateQuestion, request: Request) -> Response:
    """The chances and the equity of a position, before the roll, for the player on roll."""
    desk = desk_of(request)
    answer = quick_evaluation(desk, question)
    if answer is not None:
        return answer
    return json_answer(await desk.compute(_evaluation, question, *desk.evaluator(question.player)))


def quick_evaluation(desk: Desk, question: EvaluateQuestion) -> Response | None:
    """The answer to a `question` that is answered sooner than a thread could begin with it; else None."""
    name, evaluator = desk.evaluator(question.player)
    if question.detailed or not isinstance(evaluator, StaticEvaluator):
        return None
    return json_answer(_evaluation(question, name, evaluator))


def _evaluation(question: EvaluateQuestion, name: str, evaluator: Evaluator) -> Record:
    try:
        boards = boards_of([question.id])
    except MotifError:
        boards = question.position()[0].board[None]  # which says better what is wrong
    record = next(evaluations(boards, evaluator, name, jobs=1))
    return {**record, **details(Position(boards[0]), evaluator).to_dict()} if question.detailed else record


@router.post("/plays", responses=_answers({"plays": [_PLAY], **_PLAYED}))
async def list_plays(question: PlaysQuestion) -> Response:
    """Every legal play of a roll, with the position after it as the next player on roll sees it."""
    position, _, roll = question.decision()
    return json_answer(next(plays(position.board[None], np.array([roll]))))


@router.post(
    "/hint",
    responses=_answers({"plays": [_RANKED], **_PLAYED, "player": "motif-v13@2"}),
)
async def rank_plays(question: HintQuestion, request: Request) -> Response:
    """The legal plays of a roll, the best first; without a roll the cube decision, as `/cube` has it."""
    return json_answer(await desk_of(request).compute(_hint, desk_of(request), question))


def _hint(desk: Desk, question: HintQuestion) -> Record:
    if not question.has_roll():
        return _cube(desk, question)
    position, match, roll = question.decision()
    name, evaluator = desk.judge(question.player, question.fast, question.deep)
    return hint(position, roll, match, evaluator, name, question.options())[1]


@router.post(
    "/cube",
    responses=_answers(
        {
            "action": "no double, take",
            "no_double": 0.671,
            "double_take": 0.654,
            "double_pass": 1.0,
            "take_point": 0.199,
        }
    ),
)
async def decide_cube(question: CubeQuestion, request: Request) -> Response:
    """Whether to double, and whether to take."""
    return json_answer(await desk_of(request).compute(_cube, desk_of(request), question))


def _cube(desk: Desk, question: CubeQuestion | HintQuestion) -> Record:
    position, match = question.position()
    name, evaluator = desk.judge(question.player, question.fast, question.deep)
    state = question.options().state_of(match)
    return next(cube_answers([(position, state)], evaluator, name, jobs=1)).record()


@router.post(
    "/explain",
    responses=_answers(
        {
            "better": _PLAY,
            "worse": {"notation": "24/23 13/10", "position": "4HPiASjgc/ABMA"},
            "difference": 0.153,
            "terms": [{"name": "blots", "contribution": 0.05}],
        }
    ),
)
async def explain(question: ExplainQuestion, request: Request) -> Response:
    """Why one play is better than another, term by term and in words."""
    return json_answer(await desk_of(request).compute(_explanation, desk_of(request), question))


def _explanation(desk: Desk, question: ExplainQuestion) -> Record:
    position, match, roll = question.decision()
    worse = None if question.versus is None else find_play(question.versus, legal_plays(position, roll))
    _, evaluator = desk.judge(question.player, question.fast, question.deep)
    context, valued = for_match(evaluator, question.options(), match)
    explanation = explain_choice(
        evaluator, position, roll, worse=worse, context=context, language=question.language
    )
    return {**explanation.to_dict(), **valued}


@router.post(
    "/rollout",
    responses=_answers({"mean": _CHANCES, "se": {**dict.fromkeys(_CHANCES, 0.01)}, "trials": 1296}),
)
async def rollout(question: RolloutRequest, request: Request) -> Response:
    """Games played out: chances with standard errors, plays compared, or whether to double.

    Settings are called and mean what the options of `motif rollout` do.
    """
    desk = desk_of(request)
    settings = question.settings()
    if settings.trials > desk.settings.trials:
        raise SettingError(f"trials must be {desk.settings.trials} at most here, not {settings.trials}")
    work = _rollout_work(question, settings, desk.static(question.player))
    return await _worked(desk, work, request, question.stream)


def _rollout_work(
    question: RolloutRequest, settings: RolloutSettings, evaluator: StaticEvaluator
) -> Callable[[], Record]:
    """What a thread has to do; raises `PositionError`, `PlayError` and `SettingError` for what it cannot."""
    options = question.options()
    if question.compare:
        position, match, roll = question.decision()
    else:
        position, match = parse_position(question.id)
        roll = (0, 0)
    if question.cubeful:
        match = options.state_of(match)
    asked = RolloutQuestion(position, match, evaluator, settings, question.cubeful, jobs=1)

    def work() -> Record:
        if question.compare:
            comparison, valued = asked.compare(roll, options, question.candidates, question.play)
            return asked.record(comparison_record(comparison) | valued | {"roll": list(roll)})
        if question.cubeful:
            return asked.record(cube_rollout_record(*asked.decide()))
        return asked.record(result_record(asked.play_out()))

    return work


@router.post(
    "/analyse",
    responses=_answers({"analyst": "motif-v6@2", "players": [{"name": "Ann", "error_rate": 6.1}]}),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {"file": {"type": "string", "format": "binary"}},
                    }
                },
            },
        }
    },
)
async def analyse(
    request: Request,
    player: str | None = None,
    fast: bool = False,
    deep: bool = False,
    worst: Annotated[int, Query(ge=0, le=1000)] = 10,
    moves: bool = False,
    jokers: Annotated[int, Query(ge=0, le=1000)] = 5,
    cube: bool = True,
    jacoby: bool | None = None,
    stream: bool = False,
) -> Response:
    """How well a match was played: the body is its record, such as a .mat file, or a form with one."""
    desk = desk_of(request)
    name, content = uploaded(request.headers.get("content-type", ""), await request.body())
    _, evaluator = desk.judge(player, fast, deep)

    def work() -> Record:
        record = parse_match(content, name)
        match = analyse_match(
            record,
            evaluator,
            worst=worst,
            cube=cube,
            jacoby=jacoby,
            jobs=1,
        )
        return {"file": name, **match.with_lists(jokers, moves)}

    return await _worked(desk, work, request, stream)


async def _worked(desk: Desk, work: Callable[[], Record], request: Request, stream: bool) -> Response:
    """The result of long work, or what is heard of it: as JSON lines, or as events where these are wanted."""
    job = desk.start(work)
    if "text/event-stream" in request.headers.get("accept", ""):
        events = (b"data: %s\n\n" % to_json(event, inf_nan_mode="null") async for event in job.events())
        return StreamingResponse(events, media_type="text/event-stream")
    if stream:
        lines = (b"%s\n" % to_json(event, inf_nan_mode="null") async for event in job.events())
        return StreamingResponse(lines, media_type="application/x-ndjson")
    return json_answer(await job.result(request.is_disconnected))


@router.delete("/jobs/{job}")
async def call_off(job: str, request: Request) -> Response:
    """Call off a rollout or an analysis, whose stream begins with its ID."""
    if not desk_of(request).call_off(job):
        raise HTTPException(404, "no rollout or analysis under way has that ID")
    return json_answer({"job": job, "called_off": True})


@router.post(
    "/batches/evaluate",
    responses=_answers({**{name: [value] for name, value in _CHANCES.items()}, "player": "motif-v6"}),
)
async def evaluate_batch(batch: EvaluateBatch, request: Request) -> Response:
    """The chances and equities of many positions, each kind of number as one list."""
    desk = desk_of(request)
    _check_size(desk, batch.ids)
    name, evaluator = desk.evaluator(batch.player)
    return await desk.compute(_evaluated, batch.ids, name, evaluator)


def _evaluated(ids: list[str], name: str, evaluator: Evaluator) -> Response:
    boards = _each(ids, boards_of, parse_position)
    rows = evaluator.evaluate_many(boards).astype(np.float64)
    columns = dict(zip(OUTPUTS, rows.round(_DIGITS).T.tolist(), strict=True))
    return json_answer({**columns, "equity": equities(rows).round(_DIGITS).tolist(), "player": name})


@router.post("/batches/hint", responses=_answers({"hints": [{"plays": [_PLAY], **_PLAYED}]}))
async def hint_batch(batch: HintBatch, request: Request) -> Response:
    """The legal plays of many rolls, the best first."""
    desk = desk_of(request)
    _check_size(desk, batch.decisions)
    return json_answer({"hints": await desk.compute(_hinted, desk, batch)})


def _hinted(desk: Desk, batch: HintBatch) -> list[Record]:
    name, evaluator = desk.judge(batch.player, batch.fast, batch.deep)
    context, valued = for_match(evaluator, batch.options(), None)
    decided = _each(
        batch.decisions, lambda decisions: [one.decision() for one in decisions], Decision.decision
    )
    boards = np.array([position.board for position, _, _ in decided], np.int8).reshape(-1, BOARD_SIZE)
    rolls = np.array([roll for _, _, roll in decided], np.int64).reshape(-1, 2)
    records = hints(boards, rolls, evaluator, name, jobs=1, context=context)
    return [{**record, "plays": record["plays"][: batch.plays], **valued} for record in records]


@router.post("/batches/cube", responses=_answers({"cubes": [{"action": "no double, take"}]}))
async def cube_batch(batch: CubeBatch, request: Request) -> Response:
    """Cube decisions of many positions."""
    desk = desk_of(request)
    _check_size(desk, batch.ids)
    return json_answer({"cubes": await desk.compute(_cubes, desk, batch)})


def _cubes(desk: Desk, batch: CubeBatch) -> list[Record]:
    name, evaluator = desk.judge(batch.player, batch.fast, batch.deep)
    options = batch.options()
    items = _each(batch.ids, lambda ids: [parse_position(text) for text in ids], parse_position)
    questions = [(position, options.state_of(match)) for position, match in items]
    return [answer.record() for answer in cube_answers(questions, evaluator, name, jobs=1)]


def _check_size(desk: Desk, items: list[Any]) -> None:
    if len(items) > desk.settings.batch:
        raise SettingError(f"a batch has {desk.settings.batch} positions at most here, not {len(items)}")


def _each(
    items: list[_Item], read: Callable[[list[_Item]], _Read], read_one: Callable[[_Item], Any]
) -> _Read:
    """What `read` makes of all `items`; its error says which of them `read_one` cannot read."""
    try:
        return read(items)
    except MotifError as error:
        for number, item in enumerate(items):
            try:
                read_one(item)
            except MotifError as fault:
                raise type(fault)(f"number {number}: {fault}") from None
        raise error


def uploaded(content_type: str, body: bytes) -> tuple[str, bytes]:
    """Name and content of the first file in a request's `body`: of a form, or the whole body."""
    if not content_type.lower().startswith("multipart/form-data"):
        return "the record", body
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    for part in BytesParser(policy=HTTP).parsebytes(head + body).walk():
        name = part.get_filename()
        if name is not None:
            content = part.get_payload(decode=True)
            return plain_text(name), content if isinstance(content, bytes) else b""
    raise RecordError("the form has no file")


class Shortcut:
    """An ASGI application that answers evaluations itself and hands everything else to another one.

    So it does with what it cannot answer: errors are worded in one place.
    """

    def __init__(self, app: Any, desk: Desk) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first: Any
        try:
            first = await receive()
        except HTTPException as error:
            first = error
        answer = self._answer(first)
        if answer is not None:
            await answer(scope, receive, send)
            return

        async def again() -> Any:
            nonlocal first
            message, first = first, None
            if isinstance(message, HTTPException):
                raise message
            return await receive() if message is None else message

        await self._app(scope, again, send)

    def _answer(self, message: Any) -> Response | None:
        """The answer to a request whose body is all in `message`, if it is plain."""
        if isinstance(message, HTTPException) or message.get("more_body") or not message.get("body"):
            return None
        try:
            return quick_evaluation(self._desk, EvaluateQuestion.model_validate_json(message["body"]))
        except (ValidationError, MotifError):
            return None
