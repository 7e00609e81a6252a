"""Self-contained HTML pages without scripts, made from templates and plain data."""

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.runtime.package import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment

Groups = Mapping[str, Mapping[str, Sequence[str]]]
"""Table cells by group, row and column; the group "" has no heading."""


@dataclass(frozen=True)
class Picture:
    """A plot with heading and caption."""

    heading: str
    png: bytes
    caption: str
    text: str = ""
    """Alternative text, if not the caption."""


def drawn_picture(heading: str, draw: Callable[[Path], None], caption: str, text: str = "") -> Picture:
    """Return the picture that `draw` draws to a path."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        draw(path)
        return Picture(heading, path.read_bytes(), caption, text)


@dataclass(frozen=True)
class ShownAction:
    """A possible action in a decision."""

    number: str
    """Loss or equity of the action."""
    name: str
    made: bool = False


@dataclass(frozen=True)
class ShownDecision:
    """A wrong decision as shown on pages."""

    heading: str
    position: Position
    state: MatchState
    boards: Sequence[tuple[str, Sequence[tuple[int, int]]]]
    """Captions of the boards, and the moves shown by arrows."""
    heads: tuple[str, str] = ("", "")
    """Headings of the choices' numbers and names."""
    choices: Sequence[ShownAction] = ()
    drawn_state: MatchState | None = None
    """The state drawn if it differs from `state`, for example with a double on offer."""
    place: str = ""
    words: str = ""
    reasons: Sequence[str] = ()


def with_error(value: float, se: float, digits: int, sign: str = "") -> str:
    """Return `value` with its standard error, unless that is NaN."""
    text = f"{value:{sign}z.{digits}f}"
    return text if math.isnan(se) else f"{text} ±\N{NO-BREAK SPACE}{se:.{digits}f}"


def rendered(template: str, title: str, **facts: object) -> str:
    """Return a page or drawing with the `title` from a `template` in templates/ and `facts`."""
    return _environment().get_template(template).render(title=title, **facts)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def _environment() -> "Environment":
    # Slow imports.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def breakable(name: str) -> Markup:
        """Return a name with possible line breaks after underscores and stars."""
        return Markup(re.sub(r"([_*])", r"\1<wbr>", str(escape(name))))

    environment = Environment(
        autoescape=True,
        loader=PackageLoader("motif.reports"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"VERSION": VERSION, "svg_diagram": svg_diagram}
    environment.globals |= {"gnubg_id": gnubg_id, "match_id": match_id, "xgid": xgid}
    environment.filters |= {"base64": _base64, "breakable": breakable}
    return environment
