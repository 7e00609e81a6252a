"""Tables of results: data frames, text, and HTML for notebooks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from motif.runtime.errors import SettingError
from motif.runtime.layout import html_table, text_table

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, object]
"""A row of a table, or a JSON record."""
Record = dict[str, Any]
"""A JSON record whose values are read."""
_PLAIN = (str, int, float, bool)
_TITLES = {"ppg": "points per game", "er": "error rate"}
"""Titles of figures whose names in JSON are short."""
_PREFIXES = {"without_luck": "luck-adjusted"}
"""Titles of groups of figures, by their names in JSON."""


def frame(columns: Mapping[str, object]) -> "DataFrame":
    """Return a pandas data frame, or a polars one if pandas is not installed.

    Raises `SettingError` if neither is installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        try:
            from polars import DataFrame
        except ImportError:
            raise SettingError("a data frame requires pandas or polars: pip install pandas") from None
    return DataFrame(columns)


class Tabular:
    """A result that can be converted to a dict, a data frame, and a table in text or HTML."""

    def to_dict(self) -> Row:
        """Return the result as a dict that JSON can represent."""
        raise NotImplementedError

    def records(self) -> list[Row]:
        """Return the rows of the table; by default one row with all figures of the result."""
        row: Row = {}
        for name, value in self.to_dict().items():
            if isinstance(value, _PLAIN):
                row[name] = value
            elif isinstance(value, dict):
                row |= {f"{name}_{key}": one for key, one in value.items() if isinstance(one, _PLAIN)}
        return [row]

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas data frame, or as a polars one if pandas is not installed."""
        rows = self.records()
        return frame({name: [row.get(name) for row in rows] for name in _names(rows)})

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = self.records()
        names = _names(rows)
        shown = [[_shown(row.get(name)) for name in names] for row in rows]
        titles = [_title(name) for name in names]
        if len(rows) == 1:
            return ["", ""], [[title, value] for title, value in zip(titles, shown[0], strict=True)]
        return titles, shown

    def __str__(self) -> str:
        titles, rows = self._cells()
        lines = text_table(titles, rows)
        return lines if any(titles) else lines.partition("\n")[2]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def _names(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _title(name: str) -> str:
    """Return the title of the figure called `name` in JSON."""
    for prefix, words in _PREFIXES.items():
        name = name.replace(prefix, words, 1) if name.startswith(f"{prefix}_") else name
    return _TITLES.get(name, name.replace("_", " "))


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
