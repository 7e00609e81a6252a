"""motif's own HTTP interface: the routes below /api/v1, which answer as commands do with --json.

Evaluations have a shortcut, as routing and validation take several times as long as the evaluation.
"""

import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, TypeVar

import numpy as np
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from motif.analysis.confirmation import KnownPlay, cube_source, difference_shown, estimate_kind, known_pair
from motif.analysis.cube_records import cube_answers, cube_words
from motif.analysis.explain.explanation import explain_play
from motif.analysis.judge import for_match, valued_record
from motif.analysis.match.match_analysis import analyse_match, check_jacoby
from motif.analysis.position_records import Decisions, details, evaluations, hint, hints, plays
from motif.analysis.rollout_records import RolloutQuestion
from motif.analysis.turn import decide_turn
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.packed import BOARD_SIZE
from motif.board.parsing import parse_boards, parse_position
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.probabilities import equities
from motif.evaluators.static import StaticEvaluator
from motif.players.ranking import ROLLOUT
from motif.rollouts import RolloutSettings
from motif.runtime.arrays import slices
from motif.runtime.errors import MotifError, PlayError, RecordError, SettingError
from motif.runtime.frames import Record
from motif.runtime.package import VERSION
from motif.runtime.progress import end_if_cancelled
from motif.serve.analysis_answers import AnalysisAnswer
from motif.serve.answers import (
    ERRORS,
    CancelledAnswer,
    ComparisonAnswer,
    CubeDecisionAnswer,
    CubeRolloutAnswer,
    CubesAnswer,
    EvaluationAnswer,
    EvaluationsAnswer,
    ExplanationAnswer,
    HealthAnswer,
    HintAnswer,
    HintsAnswer,
    PlayersAnswer,
    PlaysAnswer,
    RolloutAnswer,
    TurnAnswer,
    answers,
    errors,
    streamed_answers,
)
from motif.serve.bodies import (
    BodyRoute,
    InvalidRequest,
    LargeAnswer,
    computed,
    encoded,
    json_answer,
    read_json,
    service_of,
)
from motif.serve.costs import RequestKind, effort_of
from motif.serve.engine_service import EngineService
from motif.serve.questions import (
    BatchDecision,
    CubeBatch,
    CubeQuestion,
    EvaluateBatch,
    EvaluateQuestion,
    ExplainQuestion,
    HintBatch,
    HintQuestion,
    KnownEstimate,
    PlaysQuestion,
    RolloutRequest,
)
from motif.serve.upload import Upload, rolls_of

_Item = TypeVar("_Item")
_Read = TypeVar("_Read")
_DIGITS = 7
"""Decimals of a batch's numbers: those of single precision."""
_AT_ONCE = 256
"""Positions of a batch that are answered and encoded together."""
_EVALUATED_AT_ONCE, _HINTED_AT_ONCE = 2048, 64
_MAX_LISTED = 60_000_000
"""Maximum bytes of a list of answers."""
_FILE = {"type": "string", "format": "binary"}
"""Schema of a file in a form."""
EVALUATE_PATH = "/api/v1/evaluate"
router = APIRouter(prefix="/api/v1", tags=["motif"], responses=ERRORS, route_class=BodyRoute)


@router.get("/health", responses=answers(HealthAnswer))
async def health() -> Response:
    """Return the state of the server, and its version."""
    return json_answer({"status": "ok", "version": VERSION})


@router.get("/players", responses=answers(PlayersAnswer))
async def players(request: Request) -> Response:
    """List the available players."""
    service = service_of(request)
    return json_answer({"players": service.players(), "default": service.default})


@router.post("/evaluate", responses=answers(EvaluationAnswer))
async def evaluate(question: EvaluateQuestion, request: Request) -> Response:
    """Return the probabilities and the equity of a position for the player on roll, before the roll."""
    service = service_of(request)
    answer = quick_evaluation(service, question)
    if answer is not None:
        return answer
    position = question.position()[0]
    cost = service.cost(RequestKind.EVALUATION, question.player, position=position)
    return await computed(
        request, lambda: _evaluation(question, *service.evaluator(question.player)), cost=cost
    )


def quick_evaluation(service: EngineService, question: EvaluateQuestion) -> Response | None:
    """Answer a `question` that takes less time than starting a thread; return None for others."""
    loaded = None if question.detailed else service.quick_evaluator(question.player)
    if loaded is None or not isinstance(loaded[1], StaticEvaluator):
        return None
    return json_answer(_evaluation(question, *loaded))


def _evaluation(question: EvaluateQuestion, name: str, evaluator: Evaluator) -> Record:
    try:
        boards = parse_boards([question.id])
    except MotifError:
        boards = question.position()[0].board[None]  # whose message is more exact
    record = next(evaluations(boards, evaluator, name, jobs=1))
    return {**record, **details(Position(boards[0]), evaluator).to_dict()} if question.detailed else record


@router.post("/plays", responses=answers(PlaysAnswer))
async def list_plays(question: PlaysQuestion, request: Request) -> Response:
    """List the legal plays of a roll, with the position after each as the next player on roll sees it."""
    return await computed(request, _plays, question)


def _plays(question: PlaysQuestion) -> Record:
    position, _, roll = question.decision()
    return next(plays(position.board[None], np.array([roll])))


async def _answered(
    request: Request, kind: RequestKind, work: Callable[..., Record], question: HintQuestion | CubeQuestion
) -> Response:
    service = service_of(request)
    position, effort = question.position()[0], 1.0
    if isinstance(question, HintQuestion) and question.has_roll():
        position, _, roll = question.decision()
        effort = effort_of(position, roll, question.full_depth + len(question.asked))
    depth = question.fast, question.deep
    cost = service.cost(kind, question.player, *depth, position=position, effort=effort)
    return await computed(request, work, service, question, cost=cost)


@router.post("/hint", responses=answers(HintAnswer, CubeDecisionAnswer))
async def rank_plays(question: HintQuestion, request: Request) -> Response:
    """Rank the legal plays of a roll, the best first; without a roll decide on the cube."""
    return await _answered(request, RequestKind.PLAYS, _hint, question)


def _hint(service: EngineService, question: HintQuestion) -> Record:
    if not question.has_roll():
        return _cube(service, question)
    position, match, roll = question.decision()
    name, evaluator = service.judge(question.player, question.fast, question.deep)
    legal = legal_plays(position, roll)
    asked = [find_play(play, legal) for play in question.asked]
    record = hint(position, roll, match, evaluator, name, question.options(), question.full_depth, asked)[1]
    if question.shown:
        record["plays"] = _with_known(record["plays"], question.known_plays)
    return record


def _with_known(plays: Sequence[Record], known: Sequence[KnownEstimate]) -> list[Record]:
    """Return ranked plays with the confirming rollouts among `known` estimates first.

    Each has its difference from the first play as shown; None if that is from another source.
    """
    rolled = {one.done: one.model_dump(exclude={"done"}, exclude_none=True) for one in known}
    # Without an equity by lookahead, a rollout is the lookahead's own, of a late ending.
    rolled = {done: one for done, one in rolled.items() if one["source"] == ROLLOUT and "lookahead" in one}
    merged = [
        play | {"lookahead": play["equity"]} | rolled[play["notation"]]
        if play["notation"] in rolled
        else play
        for play in plays
    ]
    if rolled:
        merged.sort(key=lambda one: -one["equity"] if one["notation"] in rolled else math.inf)
    kinds = [estimate_kind(one["source"], one.get("lookahead")) for one in merged]
    for one, kind in zip(merged, kinds, strict=True):
        is_alike = kind == kinds[0]
        one["difference"] = difference_shown(one["equity"], merged[0]["equity"]) if is_alike else None
    return merged


@router.post("/cube", responses=answers(CubeDecisionAnswer))
async def decide_cube(question: CubeQuestion, request: Request) -> Response:
    """Decide whether to double, and whether to take."""
    return await _answered(request, RequestKind.CUBE, _cube, question)


@router.post("/decide", responses=answers(TurnAnswer))
async def decide(question: HintQuestion, request: Request) -> Response:
    """Decide what to do now: play a roll, roll or double, or answer the double or resignation of the ID."""
    return await _answered(request, RequestKind.PLAYS, _turn, question)


def _turn(service: EngineService, question: HintQuestion) -> Record:
    position, match = question.position()
    roll = question.decision()[2] if question.has_roll() else None
    name, evaluator = service.judge(question.player, question.fast, question.deep)
    decided = decide_turn(position, roll, match, evaluator, question.options(), name)
    return {**decided.to_dict(), "position": position.gnubg_id, "player": name}


def _cube(service: EngineService, question: CubeQuestion | HintQuestion) -> Record:
    position, match = question.position()
    name, evaluator = service.judge(question.player, question.fast, question.deep)
    state = question.options().state_of(match)
    answer = next(cube_answers([(position, state)], evaluator, name, jobs=1))
    if isinstance(question, HintQuestion):
        return answer.record()
    known = question.known
    source: Record = {"source": cube_source(answer.decision, evaluator), "se": None}
    if known is not None and answer.decision.double_take is not None:
        answer = answer.with_equities(known.no_double, known.double_take)
        source = {"source": known.source, "se": known.se}
    words = cube_words(answer.decision, question.language, answer=question.answer)
    shown = {**source, "table": answer.table(answer=question.answer).to_dict()} if question.shown else {}
    return {**answer.record(), **shown, "words": words}


@router.post("/explain", responses=answers(ExplanationAnswer))
async def explain(question: ExplainQuestion, request: Request) -> Response:
    """Explain why one play is better than another, term by term and in words."""
    kind = RequestKind.EXPLANATION if question.known is None else RequestKind.REASONS
    return await _answered(request, kind, _explanation, question)


def _explanation(service: EngineService, question: ExplainQuestion) -> Record:
    position, match, roll = question.decision()
    legal = legal_plays(position, roll)
    worse = None if question.versus is None else find_play(question.versus, legal)
    choice = None
    if question.known is not None:
        better, other = (
            KnownPlay(find_play(one.done, legal), one.equity, one.source, one.se, one.lookahead)
            for one in question.known
        )
        if better.play.position == other.play.position:
            raise PlayError(f"{other.play.notation!r} cannot be compared with itself; name another play")
        choice = known_pair(better, other, question.known_se)
    _, evaluator = service.judge(question.player, question.fast, question.deep)
    state = for_match(evaluator, question.options(), match)
    explanation = explain_play(
        evaluator, position, roll, worse=worse, state=state, language=question.language, choice=choice
    )
    return {**explanation.to_dict(), **valued_record(state)}


@router.post("/rollout", responses=streamed_answers(RolloutAnswer, ComparisonAnswer, CubeRolloutAnswer))
async def rollout(question: RolloutRequest, request: Request) -> Response:
    """Roll out a position, compare plays, or decide whether to double.

    The settings are the options of `motif rollout`.
    """
    service = service_of(request)
    settings = question.settings()
    if settings.trials > service.settings.trials:
        raise SettingError(
            f"trials must be at most {service.settings.trials}, not {settings.trials}", "trials"
        )
    evaluator = await service.compute(service.static, question.player)
    work = _rollout_work(question, settings, evaluator)
    return await _worked(service, work, request, question.stream)


def _rollout_work(
    question: RolloutRequest, settings: RolloutSettings, evaluator: StaticEvaluator
) -> Callable[[], Record]:
    """Return the work of a thread; raises `PositionError`, `PlayError` and `SettingError`."""
    if question.compare:
        position, match, roll = question.decision()
    else:
        position, match = parse_position(question.id)
        roll = (0, 0)
    options = question.options()
    state = options.state_of(match) if question.cubeful else None
    asked = RolloutQuestion(position, match, options, evaluator, settings, state, jobs=1)

    def work() -> Record:
        if question.compare:
            return asked.compare(roll, question.candidates, question.play)[-1]
        return asked.decide()[-1] if question.cubeful else asked.play_out()[-1]

    return work


@router.post(
    "/analyse",
    responses=streamed_answers(AnalysisAnswer),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "multipart/form-data": {"schema": {"type": "object", "properties": {"file": _FILE}}},
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
    """Analyse a match: the body is its record, such as a .mat file, or a form with one."""
    service = service_of(request)
    upload = Upload(request.headers.get("content-type", ""), await request.body())
    _, evaluator = await service.compute(service.judge, player, fast, deep)
    try:
        name, record = await service.read_upload(upload)
        check_jacoby(record, jacoby)
        service.cost(RequestKind.REVIEW, player, fast, deep, rolls_of(record))
    except RecordError as error:
        if stream or _wants_events(request):
            return _streamed(request, _fault(error))
        raise

    def work() -> Record:
        match = analyse_match(record, evaluator, worst=worst, cube=cube, jacoby=jacoby, jobs=1)
        return {"file": name, **match.with_lists(jokers, moves)}

    return await _worked(service, work, request, stream)


async def _worked(
    service: EngineService, work: Callable[[], Record], request: Request, stream: bool
) -> Response:
    """Return the result of long work, or its progress as JSON lines or events."""
    job = service.start(lambda: encoded(work()))
    if stream or _wants_events(request):
        return _streamed(request, job.events())
    return Response(await job.result(), media_type="application/json")


def _wants_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


def _streamed(request: Request, events: AsyncIterator[bytes]) -> Response:
    if _wants_events(request):
        return StreamingResponse(
            (b"data: %s\n\n" % event async for event in events), media_type="text/event-stream"
        )
    return StreamingResponse((b"%s\n" % event async for event in events), media_type="application/x-ndjson")


async def _fault(error: MotifError) -> AsyncIterator[bytes]:
    yield encoded({"error": str(error)})


@router.delete("/jobs/{job}", responses={**answers(CancelledAnswer), **errors(404)})
async def call_off(job: str, request: Request) -> Response:
    """Cancel a rollout or an analysis, whose stream begins with its ID."""
    if not service_of(request).cancel(job):
        raise HTTPException(404, "no running rollout or analysis has that ID")
    return json_answer({"job": job, "called_off": True})


async def _batch_answer(
    request: Request,
    kind: RequestKind,
    work: Callable[..., bytes | bytearray],
    batch: EvaluateBatch | HintBatch | CubeBatch,
    size: int,
) -> Response:
    service = service_of(request)
    if size > service.settings.batch:
        raise SettingError(f"a batch must have at most {service.settings.batch} positions, not {size}")
    depth = (False, False) if isinstance(batch, EvaluateBatch) else (batch.fast, batch.deep)
    cost = service.cost(kind, batch.player, *depth, size)
    return LargeAnswer(await service.compute(work, service, batch, cost=cost), service)


@router.post("/batches/evaluate", responses=answers(EvaluationsAnswer))
async def evaluate_batch(batch: EvaluateBatch, request: Request) -> Response:
    """Return the probabilities and equities of many positions, each kind of number as one list."""
    return await _batch_answer(request, RequestKind.EVALUATION, _evaluated, batch, len(batch.ids))


def _evaluated(service: EngineService, batch: EvaluateBatch) -> bytes:
    name, evaluator = service.evaluator(batch.player)
    try:
        boards = parse_boards(batch.ids)
    except MotifError:
        _each("ids", batch.ids, parse_position)  # whose message names the item
        raise
    rows = np.empty((len(boards), len(OUTPUTS)))
    for part in _parts(len(boards), _EVALUATED_AT_ONCE):
        rows[part] = evaluator.evaluate_many(boards[part])
    columns = dict(zip(OUTPUTS, rows.round(_DIGITS).T.tolist(), strict=True))
    return encoded({**columns, "equity": equities(rows).round(_DIGITS).tolist(), "player": name})


def _parts(count: int, size: int = _AT_ONCE) -> Iterator[slice]:
    """Yield the parts of a batch; between them it may be cancelled."""
    for part in slices(count, size):
        end_if_cancelled()
        yield part


@router.post("/batches/hint", responses=answers(HintsAnswer))
async def hint_batch(batch: HintBatch, request: Request) -> Response:
    """Return the legal plays of many rolls, the best first."""
    return await _batch_answer(request, RequestKind.PLAYS, _hinted, batch, len(batch.decisions))


def _hinted(service: EngineService, batch: HintBatch) -> bytearray:
    name, evaluator = service.judge(batch.player, batch.fast, batch.deep)
    decided = _each("decisions", batch.decisions, BatchDecision.decision)
    boards = np.array([position.board for position, _, _ in decided], np.int8).reshape(-1, BOARD_SIZE)
    rolls = np.array([roll for _, _, roll in decided], np.int64).reshape(-1, 2)
    matches = [match for _, match, _ in decided]

    def part_of(part: slice) -> list[Record]:
        decisions = Decisions(boards[part], rolls[part], matches[part])
        records = hints(decisions, evaluator, name, batch.options(), jobs=1)
        return [{**record, "plays": record["plays"][: batch.plays]} for record in records]

    return _listed("hints", (part_of(part) for part in _parts(len(boards), _HINTED_AT_ONCE)))


def _listed(name: str, parts: Iterable[list[Record]]) -> bytearray:
    """Return as JSON an object with one list, `name`, of all `parts`; raises `SettingError` if it is long."""
    document = bytearray(b'{"%s":[' % name.encode())
    for record in chain.from_iterable(parts):
        if document[-1:] != b"[":
            document += b","
        document += encoded(record)
        if len(document) > _MAX_LISTED:
            instead = "limit the plays of each with plays, or ask" if name == "hints" else "ask"
            raise SettingError(
                f"the answer would have more than {_MAX_LISTED} bytes: {instead} for fewer positions",
                *(["plays"] if name == "hints" else []),
            )
    document += b"]}"
    return document


@router.post("/batches/cube", responses=answers(CubesAnswer))
async def cube_batch(batch: CubeBatch, request: Request) -> Response:
    """Return the cube decisions of many positions."""
    return await _batch_answer(request, RequestKind.CUBE, _cubes, batch, len(batch.ids))


def _cubes(service: EngineService, batch: CubeBatch) -> bytearray:
    name, evaluator = service.judge(batch.player, batch.fast, batch.deep)
    options = batch.options()
    items = _each("ids", batch.ids, parse_position)
    questions = [(position, options.state_of(match)) for position, match in items]

    def part_of(part: slice) -> list[Record]:
        records = []
        for answer in cube_answers(questions[part], evaluator, name, jobs=1):
            end_if_cancelled()
            records.append(answer.record())
        return records

    return _listed("cubes", (part_of(part) for part in _parts(len(questions))))


def _each(name: str, items: list[_Item], read: Callable[[_Item], _Read]) -> list[_Read]:
    """Read each of the `items` of the field `name`; an error names the item."""
    found = []
    for number, item in enumerate(items):
        try:
            found.append(read(item))
        except MotifError as fault:
            raise type(fault)(f"{name}[{number}]: {fault}", name) from None
    return found


class Shortcut:
    """An ASGI application that answers evaluations, and passes on everything else and all errors."""

    def __init__(self, app: ASGIApp, service: EngineService) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_plain = scope["type"] == "http" and scope["path"] == EVALUATE_PATH and scope["method"] == "POST"
        if not is_plain or scope["query_string"]:
            await self._app(scope, receive, send)
            return
        try:
            first: Message | HTTPException = await receive()
        except HTTPException as error:
            first = error
        answer = self._answer(first)
        if answer is not None:
            await answer(scope, receive, send)
            return
        unread = [first]

        async def again() -> Message:
            message = unread.pop() if unread else await receive()
            if isinstance(message, HTTPException):
                raise message
            return message

        await self._app(scope, again, send)

    def _answer(self, message: Message | HTTPException) -> Response | None:
        """Return the answer to a plain request whose whole body is in `message`, or None."""
        if isinstance(message, HTTPException) or message.get("more_body") or not message.get("body"):
            return None
        try:
            question = read_json(EvaluateQuestion, message["body"], self._service.settings.batch)
            return quick_evaluation(self._service, question)
        except (InvalidRequest, MotifError):
            return None
