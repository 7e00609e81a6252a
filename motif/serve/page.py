"""The page at ``/``: its files, and its routes for IDs, drawings and reviews of matches."""

import gzip
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import unquote

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field, StrictBool, StrictInt

from motif.analysis.match.review import Review
from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.moves import as_roll, legal_plays
from motif.board.notation import find_play
from motif.board.outcome import outcome
from motif.board.packed import BOARD_SIZE, CHECKERS
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS, gammons_count, may_beaver_in_play, may_double_in_play
from motif.board.xgid_ogid import ogid, xgid
from motif.runtime.errors import MotifError, PlayError, PositionError
from motif.runtime.files import state_root
from motif.runtime.frames import Record
from motif.runtime.progress import heard_by
from motif.serve import game_api, stored_analysis_api
from motif.serve.analysis_answers import ReviewLineAnswer
from motif.serve.analysis_store import AnalysisStore, Source, with_ratings
from motif.serve.answers import ERRORS, PlacedAnswer, answers, errors
from motif.serve.bodies import BodyRoute, encoded, json_answer, service_of
from motif.serve.costs import RequestKind
from motif.serve.database import StorageError
from motif.serve.engine_service import EngineService
from motif.serve.game_store import GameStore
from motif.serve.questions import HintQuestion, Id, ItemId, Notation, PlayerName, Question, examples
from motif.serve.serve_settings import ServeSettings
from motif.serve.themes import themes_of
from motif.serve.upload import SHORT_MATCH, Upload, rolls_of
from motif.session.session import SessionRules

FILES = Path(__file__).with_name("web")
"""Files of the page."""
_WIDEST = 2000
_Checkers = Annotated[StrictInt, Field(ge=-CHECKERS, le=CHECKERS)]
_TYPES = {".webmanifest": "application/manifest+json", ".js": "text/javascript"}
"""Types of files that a system may not know."""
_XGID = re.compile(r"(?:XGID=|(?<![^\s/]))[-A-Oa-o]{26}(?::-?[0-9DBR]+){8,9}")
_GNUBG_ID = re.compile(r"(Position|Match) ID *: *([A-Za-z0-9+/]{12,14})")
_LINK = re.compile(r"#/(?:position|from)/(\S+)")
_UNLISTED = ("index.html", "sw.js")
_GZIP = re.compile(r"(?:gzip|\*)(?:\s*;\s*q=(?!0(?:\.0*)?\s*$).*)?")
"""A coding of an Accept-Encoding header that accepts gzip: its quality is not 0."""
router = APIRouter(prefix="/api/v1", route_class=BodyRoute, responses=ERRORS)


class JsonLines(StreamingResponse):
    """A stream of JSON objects, one per line."""

    media_type = "application/x-ndjson"


class SvgResponse(Response):
    """A drawing."""

    media_type = "image/svg+xml"


class PlacedQuestion(HintQuestion):
    """A position by its ID, by a text with an ID, or by a board; with match, cube and roll."""

    id: Id = ""
    text: Annotated[str, Field(max_length=20_000)] = ""
    """A link, or what eXtreme Gammon or gnubg copies."""
    board: Annotated[list[_Checkers], Field(min_length=BOARD_SIZE, max_length=BOARD_SIZE)] | None = None
    """Seen by the player on roll."""


@lru_cache(maxsize=128)
def _content(path: Path, changed: int, is_zipped: bool) -> tuple[bytes, str]:
    """Return a file of the page, and a tag of its content."""
    content = gzip.compress(path.read_bytes(), mtime=0) if is_zipped else path.read_bytes()
    return content, f'"{sha256(content).hexdigest()[:20]}"'


def _accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header accepts gzip, which a quality of 0 refuses."""
    return any(_GZIP.fullmatch(coding.strip()) for coding in header.lower().split(","))


def _answering(name: str) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of a file, which browsers revalidate, so that the page is always of this version."""
    path = FILES / name
    media_type = guess_type(name)[0] or _TYPES[path.suffix]

    async def answer(request: Request) -> Response:
        is_zipped = _accepts_gzip(request.headers.get("accept-encoding", ""))
        content, tag = _content(path, path.stat().st_mtime_ns, is_zipped)
        headers = {"vary": "accept-encoding", "cache-control": "no-cache", "etag": tag}
        if is_zipped:
            headers["content-encoding"] = "gzip"
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    return answer


def add_page(app: FastAPI, settings: ServeSettings) -> None:
    """Add the page and its stores to `app`."""
    folder = Path(settings.games) if settings.games else state_root() / "games"
    app.state.games = GameStore(folder)
    app.state.analyses = AnalysisStore(folder)
    for routes in (game_api.router, stored_analysis_api.router, router):
        app.include_router(routes)
    names = [path.relative_to(FILES).as_posix() for path in sorted(FILES.rglob("*.*"))]
    for name in names:
        app.add_route(f"/{name}", _answering(name), include_in_schema=False)
    app.add_route("/", _answering("index.html"), include_in_schema=False)

    async def listed(_: Request) -> Response:
        return json_answer(["./", *(name for name in names if name not in _UNLISTED)])

    app.add_route("/files.json", listed, include_in_schema=False)


def found_id(text: str) -> str:
    """Return the ID in a text: alone, in a link, or among the lines of eXtreme Gammon or gnubg."""
    words = unquote(text.strip())
    if found := _XGID.search(words):
        return found[0]
    ids = dict(_GNUBG_ID.findall(words))
    if "Position" in ids:
        return ":".join(ids[name] for name in ("Position", "Match") if name in ids)
    link = _LINK.search(words)
    return link[1] if link else words


@router.post("/position", responses=answers(PlacedAnswer))
async def position(question: PlacedQuestion) -> Response:
    """Return a position in every form: board, IDs and match state."""
    if question.board is not None:
        try:
            placed, match = Position(question.board), None
        except PositionError as error:
            raise PositionError(error.problem, "board") from None
    else:
        placed, match = parse_position(question.id or found_id(question.text))
    state = question.options().state_of(match)
    dice = None if question.dice is None else as_roll(question.dice)
    if match is not None:
        dice = dice or match.dice
        if match.doubled and dice is None:
            state = replace(state, doubled=True, decision="opponent")
    return json_answer(_placed(placed, replace(state, dice=dice)))


def _placed(placed: Position, state: MatchState) -> Record:
    won = abs(outcome(placed))
    points = state.cube * (won if gammons_count(state) else min(won, 1))
    result = won and {
        "kind": list(RESIGNATIONS)[won - 1],
        "points": points,
        "jacoby": points < state.cube * won,
    }
    return {
        "board": placed.board.tolist(),
        "id": f"{gnubg_id(placed)}:{match_id(state)}",
        "gnubg": gnubg_id(placed),
        "xgid": xgid(placed, state),
        "ogid": ogid(placed, state),
        "dice": state.dice,
        "doubled": state.doubled,
        "length": state.length,
        "score": [state.own_score, state.opponent_score],
        "cube": state.cube,
        "owner": state.cube_owner,
        "crawford": state.crawford,
        "jacoby": state.jacoby,
        "beavers": state.beavers,
        "over": won > 0,
        "points": points,
        "result": result or None,
        "can_double": may_double_in_play(state),
        "can_beaver": may_double_in_play(state) and may_beaver_in_play(state),
    }


class ReviewQuestion(Question):
    """A match to review."""

    model_config = examples({"content": b64encode(SHORT_MATCH).decode()})
    name: Annotated[str, Field(max_length=200)] = "the file"
    """The file's name, for messages."""
    content: str = ""
    """The content of the file, in base64."""
    game: ItemId | None = None
    """A session of the page, not a file."""
    number: Annotated[StrictInt, Field(ge=1)] | None = None
    """The only game of that session."""
    keep: StrictBool = False
    """Store the analysis among those of the page."""
    analysis: ItemId | None = None
    """ID of a stored analysis that is repeated."""
    player: PlayerName = None
    fast: StrictBool = False


@router.post("/review", response_class=JsonLines, responses={**answers(ReviewLineAnswer), **errors(404)})
async def review(question: ReviewQuestion, request: Request) -> Response:
    """Review a match: a JSON object per line, decisions as they are judged, then the totals."""
    service = service_of(request)
    _, evaluator = await service.compute(service.judge, question.player, question.fast, False)
    source = Source(question.name, question.content, question.game, question.number, is_fast=question.fast)
    rules = SessionRules()
    if question.game is None:
        upload = Upload("", question.content.encode(), question.name, in_base64=True)
        _, record = await service.read_upload(upload)
    else:
        games: GameStore = request.app.state.games
        record, settings = await service.stored(
            games.record, question.game, question.number, cost=game_api.SECONDS_TO_FOLLOW
        )
        source, rules = source._replace(seat=settings.seat), settings.rules
    cost = service.cost(RequestKind.REVIEW, question.player, question.fast, count=rolls_of(record))
    match_review = await service.compute(
        partial(Review, record, evaluator, beavers=rules.beavers, raccoons=rules.raccoons)
    )
    store, known = request.app.state.analyses if question.keep else None, None
    if store is not None and question.game is not None:
        known = await service.stored(_finished, store, match_review, question)
    if known is not None and len(known.part) == len(known.record["decisions"]):
        records, cost = known.lines(match_review), 0.0
    elif known is not None:
        records = _review_records(match_review, source, None, known.record["analysis"])
    else:
        records = _review_records(match_review, source, store, question.analysis)
    return JsonLines(_review_lines(records, service, cost))


class _Finished(NamedTuple):
    """A finished analysis that has the decisions of a review."""

    store: AnalysisStore
    record: Record
    part: list[Record]
    """Those decisions."""

    def lines(self, review: Review) -> Iterator[Record]:
        """Yield the lines of the review that was stored; themes are found if its reader left before."""
        record = self.record
        yield {"match": record["match"] | {name: record[name] for name in ("analysis", "seat")}}
        yield {"decisions": record["decisions"]}
        yield {"players": record["players"]}
        yield {"themes": record["themes"]}
        if not record["themes"]:
            yield from _theme_lines(review, self.part, self.store, record["analysis"])


def _finished(store: AnalysisStore, review: Review, question: ReviewQuestion) -> _Finished | None:
    """Return the analysis that answers a question about a game, unless it asks for another analyst."""
    if question.game is None:
        return None
    is_any, analyst = question.player is None and not question.fast, review.evaluator.name
    with suppress(StorageError, LookupError, TypeError):  # a damaged one answers nothing
        for record in store.finished(question.game, question.number):
            is_asked = is_any or record["match"]["player"] == analyst
            if is_asked and (part := review.own_part(record["decisions"])) is not None:
                return _Finished(store, record, part)
    return None


def _review_records(
    review: Review, source: Source, store: AnalysisStore | None, known: str | None
) -> Iterator[Record]:
    """Yield the lines of a review, which is stored while it is sent if `store` can be written.

    The heading then has the ID of the analysis, which is null if it cannot be stored.  `known` is the ID of
    an analysis that is repeated or, without `store`, that has these decisions already.
    """
    heading, analysis, decisions = review.heading(), known, list[Record]()
    if store is not None:
        analysis = None
        with suppress(StorageError):
            analysis = store.begin(source, heading, known)
    if store is not None or known is not None:
        heading |= {"analysis": analysis, "seat": source.seat}
    yield {"match": heading}
    parts = review.parts()
    while True:
        with heard_by(lambda what, done, total: None):  # the page sees by the decisions how far it is
            part = next(parts, None)
        if part is None:
            break
        records = review.records(part)
        decisions += records
        yield {"decisions": records}
    players = review.players()
    if store is not None and analysis is not None:
        with suppress(StorageError):
            store.finish(analysis, decisions, players)
    yield {"players": with_ratings(players)}
    if store is not None:
        yield from _theme_lines(review, decisions, store, analysis)


def _theme_lines(
    review: Review, decisions: list[Record], store: AnalysisStore, analysis: str | None
) -> Iterator[Record]:
    """Yield the themes found so far, which are stored at once: a reader may leave after the totals."""
    for themes in themes_of(decisions, review.evaluator):
        if analysis is not None and themes:
            with suppress(StorageError):
                store.note_themes(analysis, themes)
        yield {"themes": themes}


async def _review_lines(
    records: Iterator[Record], service: EngineService, cost: float
) -> AsyncIterator[bytes]:
    """Yield the lines of the answer; the work, of `cost` in all, ends with the connection."""
    lines = (encoded(record) + b"\n" for record in records)
    try:
        while (line := await service.compute(next, lines, None, cost=cost)) is not None:
            yield line
    except MotifError as error:
        yield encoded({"message": str(error)}) + b"\n"


@router.get("/diagram", response_class=SvgResponse)
async def diagram(
    request: Request,
    id: Annotated[str, Query(max_length=200, examples=[gnubg_id(Position.start())])],
    play: Notation = "",
    size: Annotated[int, Query(ge=50, le=_WIDEST)] = 640,
    caption: Annotated[list[Annotated[str, Field(max_length=80)]] | None, Query(max_length=4)] = None,
) -> Response:
    """Return a position as an SVG drawing, with a play of the ID's roll as arrows.

    Four captions replace the English ones: top left and right, bottom left and right.
    """
    place, match = parse_position(id)
    moves: tuple[tuple[int, int], ...] = ()
    if play:
        roll = None if match is None else match.dice
        if roll is None:
            raise PlayError("play: the ID holds no roll")
        moves = await service_of(request).compute(lambda: find_play(play, legal_plays(place, roll)).moves)
    return SvgResponse(svg_diagram(place, match, moves, size=size, captions=caption or ()))
