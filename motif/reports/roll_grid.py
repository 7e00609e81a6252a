"""The opponent's 36 rolls as one SVG image: after which of them the one of two plays is better.

Colours are not needed to read it: every square has its number with its sign, those for the other play are
framed, and a description says the same in words.
"""

from collections.abc import Sequence
from html import escape

DICE = 6
_SIZE, _MARGIN, _GAP = 52, 30, 4
_WIDTH = _MARGIN + DICE * _SIZE
_GREEN, _RED, _NEUTRAL, _INK = "#2e7d4f", "#b3202c", "#8a8178", "#1f1b1a"
_STRONG = 0.3
"""Points of equity from which on a square has its full colour."""
_HUNDREDTHS = 100
_NOTHING = 0.005
"""Points of equity that are 0 in the digits that are shown."""


def roll_grid(grid: Sequence[Sequence[float]], title: str, description: str) -> str:
    """An SVG of `grid` (6, 6): by how many points the first play is better after a roll, by its two dice."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_WIDTH}" width="{_WIDTH}" '
        f'style="max-width:100%" role="img" font-family="Helvetica, Arial, sans-serif" font-size="15" '
        f'text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
    ]
    for die in range(DICE):
        middle = _MARGIN + die * _SIZE + _SIZE / 2
        for x, y in ((middle, _MARGIN - 9), (_MARGIN - 15, middle + 5)):
            parts.append(f'<text x="{x:g}" y="{y:g}" fill="currentColor" font-weight="bold">{die + 1}</text>')
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            parts += _square(_MARGIN + column * _SIZE, _MARGIN + row * _SIZE, value)
    return "\n".join([*parts, "</svg>\n"])


def _square(x: int, y: int, value: float) -> list[str]:
    worse, none = value < 0, abs(value) < _NOTHING
    colour = _NEUTRAL if none else _RED if worse else _GREEN
    depth = 0.12 if none else 0.15 + 0.45 * min(abs(value) / _STRONG, 1)
    size, middle = _SIZE - _GAP, _SIZE / 2
    frame = f' stroke="{_RED}" stroke-width="2.5" stroke-dasharray="5 3"' if worse and not none else ""
    text = "0" if none else f"{'−' if worse else '+'}{abs(value) * _HUNDREDTHS:.0f}"
    left, top = x + _GAP // 2, y + _GAP // 2
    place = f'x="{left}" y="{top}" width="{size}" height="{size}" rx="4"'
    return [
        f'<rect {place} fill="#fff"/>',
        f'<rect {place} fill="{colour}" fill-opacity="{depth:.2f}"{frame}/>',
        f'<text x="{x + middle:g}" y="{y + middle + 5:g}" fill="{_INK}">{text}</text>',
    ]
