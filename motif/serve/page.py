"""The page at ``/``: its files, and what it alone asks: IDs, drawings, and matches decision by decision."""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field

from motif.analysis.match.review import Review
from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_ids import ogid, xgid
from motif.board.match_state import MatchState, match_id
from motif.board.moves import as_roll, legal_plays
from motif.board.notation import find_play
from motif.board.outcome import outcome
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.runtime.errors import MotifError, PlayError
from motif.runtime.files import state_root
from motif.runtime.progress import heard_by
from motif.serve import game_api
from motif.serve.bodies import BodyRoute, desk_of, encoded, json_answer
from motif.serve.costs import Ask
from motif.serve.desk import Desk
from motif.serve.game_store import GameStore
from motif.serve.questions import HintQuestion, Id, Player
from motif.serve.serve_settings import ServeSettings
from motif.serve.upload import Upload, rolls_of

FILES = Path(__file__).with_name("web")
"""What the page is made of."""
_SHORT_MATCH = b64encode(b" 1 point match\n\n Game 1\n Ann : 0  Bob : 0\n  1) 31: 8/5 6/5\n").decode()
_WIDEST = 2000
_PLACES = 26
router = APIRouter(prefix="/api/v1", route_class=BodyRoute)


class _Files(StaticFiles):
    """Files that a browser asks about again each time, so that a newer motif has a newer page."""

    def answering(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers a request for the file of that name."""

        async def answer(request: Request) -> Response:
            return await self.get_response(name, request.scope)

        return answer

    def file_response(self, *arguments: Any, **settings: Any) -> Response:
        """See `StaticFiles.file_response`."""
        answer = super().file_response(*arguments, **settings)
        answer.headers["cache-control"] = "no-cache"
        return answer


class PlacedQuestion(HintQuestion):
    """A position by its ID, or by the 26 numbers of a board, with match and cube, and a roll."""

    id: Id = ""
    board: Annotated[
        list[Annotated[int, Field(ge=-15, le=15)]] | None,
        Field(min_length=_PLACES, max_length=_PLACES, description="Seen by the player on roll."),
    ] = None


def add_page(app: FastAPI, settings: ServeSettings) -> None:
    """Let `app` keep games and serve the page."""
    folder = Path(settings.games) if settings.games else state_root() / "games"
    app.state.games = GameStore(folder)
    app.include_router(game_api.router)
    app.include_router(router)
    for error in game_api.PROBLEMS:
        app.add_exception_handler(error, game_api.problem)
    files = _Files(directory=FILES)
    for path in sorted(FILES.rglob("*.*")):
        name = path.relative_to(FILES).as_posix()
        app.add_route(f"/{name}", files.answering(name), include_in_schema=False)
    app.add_route("/", files.answering("index.html"), include_in_schema=False)


@router.post("/position")
async def position(question: PlacedQuestion) -> Response:
    """Return a position in every form: board, IDs, match; `fault` says why nothing can be asked about it."""
    if question.board is not None:
        place, match = Position(question.board), None
    else:
        place, match = parse_position(question.id)
    state = question.options().state_of(match)
    dice = None if question.dice is None else as_roll(question.dice)
    if match is not None:
        dice = dice or match.dice
        if match.doubled and dice is None:
            state = replace(state, doubled=True, decision="opponent")
    return json_answer(_placed(place, replace(state, dice=dice)))


def _placed(place: Position, state: MatchState) -> Mapping[str, Any]:
    return {
        "board": place.board.tolist(),
        "id": f"{gnubg_id(place)}:{match_id(state)}",
        "gnubg": gnubg_id(place),
        "xgid": xgid(place, state),
        "ogid": ogid(place, state),
        "dice": state.dice,
        "doubled": state.doubled,
        "length": state.length,
        "score": [state.own_score, state.opponent_score],
        "cube": state.cube,
        "owner": state.cube_owner,
        "crawford": state.crawford,
        "jacoby": state.jacoby,
        "over": bool(outcome(place)),
    }


class ReviewQuestion(BaseModel):
    """A match to be judged decision by decision."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"content": _SHORT_MATCH}]}
    )
    name: Annotated[str, Field(max_length=200, description="The file's name, for messages.")] = "the file"
    content: Annotated[str, Field(description="The content of the file, in base64.")]
    player: Player = None
    fast: bool = False


@router.post("/review")
async def review(question: ReviewQuestion, request: Request) -> Response:
    """Yield a match decision by decision as they are judged, a JSON object per line, then the totals."""
    desk = desk_of(request)
    _, evaluator = await desk.compute(desk.judge, question.player, question.fast, False)
    upload = Upload("", question.content.encode(), question.name, in_base64=True)
    _, record = await desk.read_upload(upload)
    cost = desk.cost(Ask.REVIEW, question.player, question.fast, count=rolls_of(record))
    one = await desk.compute(Review, record, evaluator)
    return StreamingResponse(_told(one, desk, cost), media_type="application/x-ndjson")


async def _told(review: Review, desk: Desk, cost: float) -> AsyncIterator[bytes]:
    """Lines of the answer; the work, of such a `cost` in all, ends with the connection."""
    parts = review.parts()

    def decisions() -> bytes | None:
        with heard_by(lambda what, done, total: None):  # the page sees by the decisions how far it is
            part = next(parts, None)
        return None if part is None else _line({"decisions": review.told(part)})

    yield _line({"match": review.heading()})
    try:
        while (line := await desk.compute(decisions, cost=cost)) is not None:
            yield line
        yield await desk.compute(lambda: _line({"players": review.players()}))
    except MotifError as error:
        yield _line({"message": str(error)})


def _line(document: Any) -> bytes:
    return encoded(document) + b"\n"


@router.get("/diagram")
async def diagram(
    id: Annotated[str, Query(max_length=200)],
    play: Annotated[str, Query(max_length=60)] = "",
    size: Annotated[int, Query(ge=50, le=_WIDEST)] = 640,
) -> Response:
    """Return a position as a drawing, SVG; the roll of the ID may be played, and is shown as arrows."""
    place, match = parse_position(id)
    moves: tuple[tuple[int, int], ...] = ()
    if play:
        if match is None or match.dice is None:
            raise PlayError("play: the ID holds no roll")
        moves = find_play(play, legal_plays(place, match.dice)).moves
    return Response(svg_diagram(place, match, moves, size=size), media_type="image/svg+xml")
