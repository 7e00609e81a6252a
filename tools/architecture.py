"""Generate the layer diagram and the file list of docs/dev/architecture.md.

``python -m tools.architecture`` writes both.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise, permutations
from pathlib import Path
from random import Random
from textwrap import fill
from typing import Any
from xml.sax.saxutils import unescape

from motif.runtime.files import write_text
from tools.import_graph import CELLARS, FLOORS, ROOT, TOP, CompiledCore, folder_of, imports, sources
from tools.marked_page import reporting, write_region

PAGE = ROOT / "docs" / "dev" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
REGION = "files"


@dataclass(frozen=True)
class House:
    """Contents of the diagram."""

    rooms: Mapping[str, str]
    """A short description of each folder of the package, from the top floor down; those below all floors come
    last.
    """
    doors: frozenset[tuple[str, str]]
    """Pairs of a folder and a lower folder that it imports from, without pairs implied by others."""
    compiled: frozenset[str]
    """Folders with kernels."""

    @property
    def text(self) -> str:
        """The contents as text, for comparison."""
        below = {name: sorted(other for above, other in self.doors if above == name) for name in self.rooms}
        lines = [
            f"{name}: {words}; kernels: {name in self.compiled}; imports: {', '.join(below[name])}".rstrip()
            for name, words in self.rooms.items()
        ]
        return "\n".join(lines)


def house(texts: Mapping[Path, str]) -> House:
    """Return the diagram's contents for the sources `texts`."""
    used: dict[str, set[str]] = {}
    for path, text in texts.items():
        if len(path.parts) > 2:
            names = {it.module for it in imports(text, path) if it.module.split(".")[0] == "motif"}
            folder = path.parts[1]
            used.setdefault(folder, set()).update(
                {folder_of(name) for name in names} - {folder, *CELLARS, TOP}
            )
    above = sorted(set(used) - {*CELLARS}, key=lambda name: (-FLOORS[name], list(FLOORS).index(name)))
    doors = {
        (name, below)
        for name in above
        for below in used[name]
        if not any(below in _below(used, other) for other in used[name])
    }
    rooms = {name: _clause(texts[Path("motif") / name / "__init__.py"]) for name in (*above, *CELLARS)}
    core = CompiledCore(texts)
    return House(rooms, frozenset(doors), frozenset(path.parts[1] for path in core.references))


def _below(used: Mapping[str, set[str]], folder: str) -> set[str]:
    return used[folder].union(*(_below(used, other) for other in used[folder]))


def sentence(text: str) -> str:
    """Return the first sentence of a module's docstring, in one line and without its full stop."""
    first = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    return re.split(r"\.(?:\s|$)", " ".join(first.split()))[0].replace("``", "`")


def _clause(text: str) -> str:
    """Return the beginning of a module's first sentence, up to the first punctuation mark."""
    return re.split(r"[:;,]", sentence(text))[0]


def _plain_files(folder: str, where: str) -> Iterator[str]:
    """Return the files of a `folder` without floors as Markdown, not those in folders below it."""
    yield f"### `{folder}/`, {where}"
    yield ""
    for path in sorted((ROOT / folder).glob("*.py")):
        if path.name != "__init__.py":
            relative = path.relative_to(ROOT)
            yield f"- [`{path.name}`](../../{relative}) {sentence(path.read_text('utf-8'))}."


def page_lines(texts: Mapping[Path, str]) -> Iterator[str]:
    """Return every folder with its floor and files as Markdown, from the lowest floor up."""
    core = CompiledCore(texts)
    for folder in (*reversed(CELLARS), *sorted(FLOORS, key=lambda name: FLOORS[name])):
        files = [path for path in texts if len(path.parts) > 2 and path.parts[1] == folder]
        if not files:
            continue
        top = Path("motif") / folder / "__init__.py"
        floor = "open to every floor" if folder in CELLARS else f"floor {FLOORS[folder]}"
        yield f"### `{folder}/`, {floor}"
        yield ""
        yield f"{sentence(texts[top])}."
        yield ""
        for path in sorted(set(files) - {top}):
            inside = path.relative_to(Path("motif") / folder)
            name = f"{inside.parent}/" if inside.name == "__init__.py" else str(inside)
            mark = " ◆" if path in core.references else ""
            yield f"- [`{name}`](../../{path}){mark} {sentence(texts[path])}."
        yield ""
    yield from _plain_files("motif", "on top of the floors")
    yield ""
    yield from _plain_files("tools", "beside the package")


_GAP, _LANE = 0.12, 0.1
"""Gap between the rooms of a floor, and width of the lane of a line that passes a floor, in room widths."""
_Row = tuple[str, ...]
_STARTS = 8
"""Number of initial orders that are improved; the best result is used."""


def paths(drawn: House) -> list[list[str]]:
    """Return the path of each arrow: a room, ``above>below`` for each floor passed, a room."""
    level = _levels(drawn)
    return [
        [above, *[f"{above}>{below}"] * (level[below] - level[above] - 1), below]
        for above, below in sorted(drawn.doors)
    ]


def _levels(drawn: House) -> dict[str, int]:
    """Return the floor of each room, counted from the top."""
    floors = sorted({FLOORS[name] for name in drawn.rooms if name not in CELLARS}, reverse=True)
    return {name: floors.index(FLOORS[name]) for name in drawn.rooms if name not in CELLARS}


def rows(drawn: House) -> list[_Row]:
    """Return the floors from the top down, ordered to minimise crossing lines."""
    level = _levels(drawn)
    made: list[list[str]] = [[] for _ in {*level.values()}]
    for name, number in level.items():
        made[number].append(name)
    for above, *lanes, _ in paths(drawn):
        for number, lane in enumerate(lanes, level[above] + 1):
            made[number].append(lane)
    joined = links(drawn)
    orders = [_sorted(made, joined, Random(start)) for start in range(_STARTS)]
    return min(orders, key=lambda order: _badness(order, joined))


def _sorted(made: list[list[str]], joined: list[list[tuple[str, str]]], random: Random) -> list[_Row]:
    """Improve the order on each floor in turn, down and up again."""
    order: list[_Row] = [tuple(random.sample(row, len(row))) for row in made]
    for number in [*range(len(order)), *reversed(range(len(order)))] * 2:
        near = slice(max(number - 1, 0), number + 1)

        def badness(row: _Row, number: int = number, near: slice = near) -> tuple[int, float]:
            return _badness(
                [*order[:number], row, *order[number + 1 :]][near.start : near.stop + 1], joined[near]
            )

        order[number] = min(permutations(order[number]), key=badness)
    return order


def links(drawn: House) -> list[list[tuple[str, str]]]:
    """Return the ends of the lines between each floor, from the top down, and the next lower floor."""
    level = _levels(drawn)
    joined: list[list[tuple[str, str]]] = [[] for _ in range(max(level.values()))]
    for path in paths(drawn):
        for number, link in enumerate(pairwise(path), level[path[0]]):
            joined[number].append(link)
    return joined


def _width(name: str) -> float:
    return _LANE if ">" in name else 1.0


def _row_width(row: _Row) -> float:
    return sum(map(_width, row)) + _GAP * (len(row) - 1)


def _places(row: _Row) -> dict[str, float]:
    """Return the horizontal centre of each room or lane; the middle of the row is 0."""
    left = -_row_width(row) / 2
    places = {}
    for name in row:
        places[name] = left + _width(name) / 2
        left += _width(name) + _GAP
    return places


def _badness(order: list[_Row], joined: list[list[tuple[str, str]]]) -> tuple[int, float]:
    """Return the number of crossings, and the sum of the lines' squared horizontal lengths."""
    crossings, lean = 0, 0.0
    for (upper, lower), between in zip(pairwise(order), joined, strict=False):
        tops, bottoms = _places(upper), _places(lower)
        spans = [(tops[top], bottoms[bottom]) for top, bottom in between]
        crossings += sum((a - c) * (b - d) < 0 for a, b in spans for c, d in spans)
        lean += sum((top - bottom) ** 2 for top, bottom in spans)
    return crossings, lean


_WIDTH = 4.7
"""Width of the picture in inches; its text is legible on a telephone."""
_HIGH, _APART = 0.58, 0.3
"""A room's height and the distance between floors, in room widths."""
_CELLAR = 0.42
"""Height of the bottom row."""
_LETTERS = 18
"""Letters per line in a room."""
_INK, _PAPER, _CORE, _LINE = "#1d2733", "#ffffff", "#dbe9f6", "#6b7c8f"


def draw(drawn: House) -> str:
    """Return the diagram as SVG, whose description holds the contents as text."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    order = rows(drawn)
    across = max(map(_row_width, order)) + _GAP
    down = len(order) * (_HIGH + _APART) + _CELLAR + 0.2
    with matplotlib.rc_context({"svg.hashsalt": "motif", "font.family": "DejaVu Sans"}):
        figure = pyplot.figure(figsize=(_WIDTH, _WIDTH * down / across), facecolor=_PAPER)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-across / 2, across / 2), ylim=(-down, 0.06))
        axes.axis("off")
        for number, row in enumerate(order):
            for name, middle in _places(row).items():
                if ">" not in name:
                    _draw_room(axes, name, drawn, middle, -number * (_HIGH + _APART), 1.0, _HIGH)
        for number, (joined, (upper, lower)) in enumerate(zip(links(drawn), pairwise(order), strict=True)):
            tops, bottoms = _places(upper), _places(lower)
            for top, bottom in joined:
                _draw_line(axes, (tops[top], bottoms[bottom]), number, ">" in bottom)
        ground = -len(order) * (_HIGH + _APART) + _APART / 2
        half = (across - _GAP) / 2
        for name, middle in zip(CELLARS, (-half / 2, half / 2), strict=True):
            _draw_room(axes, name, drawn, middle, ground, half, _CELLAR)
        legend = "arrow: imports; an arrow implied by others is left out\nblue: contains compiled kernels"
        axes.text(0, ground - _CELLAR - 0.06, legend, ha="center", va="top", size=7.5, color=_LINE)
        picture = _svg(figure, drawn.text)
        pyplot.close(figure)
    return picture


def _draw_room(
    axes: Any, name: str, drawn: House, middle: float, top: float, width: float, height: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (middle - width / 2 + 0.02, top - height + 0.02),
            *(width - 0.04, height - 0.04),
            boxstyle="round,pad=0.02",
            facecolor=_CORE if name in drawn.compiled else _PAPER,
            edgecolor=_INK,
            linewidth=0.9,
        )
    )
    words = fill(drawn.rooms[name], _LETTERS if width == 1.0 else 60)
    axes.text(middle, top - 0.06, name, ha="center", va="top", size=9.5, weight="bold", color=_INK)
    axes.text(middle, top - 0.22, words, ha="center", va="top", size=8.2, color=_INK, linespacing=1.1)


def _draw_line(axes: Any, places: tuple[float, float], number: int, passes_by: bool) -> None:
    """Return a line down from floor `number`, counted from the top, to a room or into a lane."""
    start = -number * (_HIGH + _APART) - _HIGH
    end = start - _APART
    style = {"arrowstyle": "-" if passes_by else "-|>", "color": _LINE, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(places[1], end), xytext=(places[0], start), arrowprops=style)
    if passes_by:
        axes.plot([places[1]] * 2, [end, end - _HIGH], color=_LINE, lw=1.0)


def _svg(figure: Any, description: str) -> str:
    file = StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Description": description})
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def shown_house(picture: str) -> str:
    """Return the contents that a diagram shows."""
    match = re.search(r"<dc:description>(.*?)</dc:description>", picture, re.DOTALL)
    return unescape(match[1]) if match else ""


@reporting
def main() -> None:
    """Write the diagram and the list."""
    texts = sources()
    write_region(PAGE, REGION, page_lines(texts))
    write_text(PICTURE, draw(house(texts)))


if __name__ == "__main__":
    sys.exit(main())
