"""The page of a match analysis: figures of both players, and what cost most drawn as boards."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from motif.analysis.match.match_analysis import MatchAnalysis
from motif.analysis.match.record_walk import Moment
from motif.analysis.match.worst import WorstCube, WorstPlay
from motif.board.identifiers import gnubg_id
from motif.board.match_state import match_id
from motif.board.svg import svg_diagram
from motif.board.xgid import xgid
from motif.reports.document import html_document
from motif.reports.match_rows import loss_text, opening, play_text, reading, sections, title
from motif.runtime.files import write_text
from motif.runtime.version import VERSION


def write_match_page(analysis: MatchAnalysis, path: Path) -> None:
    """Write the page of `analysis` to `path`; raises `FileError`."""
    write_text(path, match_page(analysis))


def match_page(analysis: MatchAnalysis) -> str:
    """The page of `analysis`: one HTML document that needs nothing else."""
    heading = title(analysis)
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f"<p>{escape(opening(analysis))}</p>",
        _figures(analysis),
        *(f"<p>{escape(sentence)}</p>" for sentence in reading(analysis)),
        "<h2>The plays that cost most</h2>",
        *_plays(analysis),
        "<h2>The cube decisions that cost most</h2>",
        *_cubes(analysis),
        f"<footer>Drawn by motif {escape(VERSION)}.</footer>",
    ]
    return html_document(heading, parts)


def _figures(analysis: MatchAnalysis) -> str:
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in analysis.names)
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>", "<tbody>"]
    for name, rows in sections(analysis):
        lines.append(f'<tr class="group"><th scope="rowgroup" colspan="3">{escape(name)}</th></tr>')
        for what, first, second in rows:
            cells = f"<td>{_unbroken(first)}</td><td>{_unbroken(second)}</td>"
            lines.append(f'<tr><th scope="row">{escape(what)}</th>{cells}</tr>')
    body = "\n".join([*lines, "</tbody>"])
    return f'<div class="wide"><table>\n{body}\n</table></div>'


def _plays(analysis: MatchAnalysis) -> Iterator[str]:
    if not analysis.plays:
        yield "<p>None cost anything, or none were asked for.</p>"
        return
    yield (
        "<p>The light checkers are on roll and move to the lower right. Below the boards stand a GNUbg ID "
        "and an XGID, to look at the position elsewhere.</p>"
    )
    for number, play in enumerate(analysis.plays, 1):
        yield from _play(number, play, bool(analysis.length))


def _play(number: int, play: WorstPlay, in_match: bool) -> Iterator[str]:
    loss = loss_text(play.error, play.cost, in_match)
    yield f"<h3>{number}. {escape(play.heading)}: loses {_unbroken(loss)}</h3>"
    moment = play.moment
    yield '<div class="boards">'
    for caption, drawn in zip(play_text(play), (play.played, play.better), strict=True):
        drawing = svg_diagram(moment.position, moment.state, drawn.moves, title=caption)
        yield f"<figure>\n{drawing}<figcaption>{escape(caption)}</figcaption>\n</figure>"
    yield "</div>"
    if play.why.summary:
        yield f"<p>{escape(play.why.summary)}</p>"
    if play.why.sentences:
        items = "\n".join(f"<li>{escape(sentence)}</li>" for sentence in play.why.sentences)
        yield f"<ul>\n{items}\n</ul>"
    yield _identifiers(moment)


def _cubes(analysis: MatchAnalysis) -> Iterator[str]:
    if not analysis.cubes:
        yield "<p>None cost anything, or none were asked for.</p>"
    for number, cube in enumerate(analysis.cubes, 1):
        yield from _cube(number, cube, bool(analysis.length))


def _cube(number: int, cube: WorstCube, in_match: bool) -> Iterator[str]:
    loss = loss_text(cube.act.error, cube.cost, in_match)
    yield f"<h3>{number}. {escape(cube.heading)}, loses {_unbroken(loss)}</h3>"
    moment = cube.act.chance
    drawing = svg_diagram(moment.position, cube.shown_state, title=cube.heading)
    yield f'<div class="boards"><figure>\n{drawing}</figure>\n{_equities(cube)}</div>'
    yield f"<p>{escape(cube.act.decision.words)}</p>"
    yield _identifiers(moment)


def _equities(cube: WorstCube) -> str:
    rows = "\n".join(
        f'<tr><th scope="row">{what}</th><td>{value:+.3f}</td></tr>' for what, value in cube.equities
    )
    heads = '<td></td><th scope="col">equity</th>'
    return f"<figure><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></figure>"


def _unbroken(text: str) -> str:
    """`text` for a page, where no line breaks between a number and its unit."""
    return escape(text).replace(" % MWC", "&nbsp;%&nbsp;MWC").replace(" points", "&nbsp;points")


def _identifiers(moment: Moment) -> str:
    gnubg = f"{gnubg_id(moment.position)}:{match_id(moment.state)}"
    return f"<pre>{escape(gnubg)}\n{escape(xgid(moment.position, moment.state))}</pre>"
