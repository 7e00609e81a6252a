"""Small pieces of HTML, which objects show of themselves in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(columns: Sequence[object], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A table; its first `left` columns are aligned to the left, the others to the right."""
    sides = ["left" if index < left else "right" for index in range(len(columns))]

    def row(tag: str, cells: Sequence[object]) -> str:
        filled = (
            f'<{tag} style="text-align:{side}">{escape(str(cell))}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(filled)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f"<table><thead>{row('th', columns)}</thead><tbody>{body}</tbody></table>"


def html_lines(lines: Iterable[str]) -> str:
    """A paragraph for each line."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)


def side_by_side(*parts: str) -> str:
    """Pictures and other parts in a row, below each other where there is no room."""
    cells = "".join(f"<div>{part}</div>" for part in parts)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:start">{cells}</div>'


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """The same as `html_table`, in characters."""
    lines = [[*columns], *([*cells] for cells in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if index < left else f"{cell:>{width}}"
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
