"""An HTML page: one file that needs nothing else and has no scripts, made of a template and plain data.

Templates hold the markup and escape what they are given; `templates/parts.html` has what several pages show.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_ids import xgid
from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.runtime.package import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment

Groups = Mapping[str, Mapping[str, Sequence[str]]]
"""Cells of a table by group, row and column; a group called "" has no heading."""


@dataclass(frozen=True)
class Picture:
    """A plot and what a reader needs to know to read it."""

    heading: str
    png: bytes
    text: str
    """Read out in place of the picture."""
    caption: str


@dataclass(frozen=True)
class ShownAction:
    """One of the actions of a decision."""

    number: str
    """What it loses, or is worth."""
    name: str
    made: bool = False


@dataclass(frozen=True)
class ShownDecision:
    """A decision that cost something, as pages show it."""

    heading: str
    position: Position
    state: MatchState
    boards: Sequence[tuple[str, Sequence[tuple[int, int]]]]
    """Captions of its boards, and the moves that arrows show on each."""
    heads: tuple[str, str] = ("", "")
    """What the numbers and the names of the choices are."""
    choices: Sequence[ShownAction] = ()
    drawn_state: MatchState | None = None
    """What the boards show where it is not `state`, that of the identifiers: a double on offer, say."""
    place: str = ""
    words: str = ""
    reasons: Sequence[str] = ()


def html_page(template: str, title: str, **facts: object) -> str:
    """Return the page called `title` that `template`, a file in templates/, makes of `facts`."""
    return _environment().get_template(template).render(title=title, **facts)


@cache
def _environment() -> "Environment":
    # Only who makes a page waits for them.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def breakable(name: str) -> Markup:
        """Return a name whose line may break behind an underscore or a star."""
        return Markup(re.sub(r"([_*])", r"\1<wbr>", str(escape(name))))

    def base64_text(data: bytes) -> str:
        return base64.b64encode(data).decode("ascii")

    environment = Environment(
        autoescape=True,
        loader=PackageLoader("motif.reports"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    functions: list[Any] = [svg_diagram, gnubg_id, match_id, xgid]
    environment.globals |= {function.__name__: function for function in functions} | {"VERSION": VERSION}
    environment.filters |= {"base64": base64_text, "breakable": breakable}
    return environment
