"""Tables of results: data frames, text, and HTML for notebooks."""

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

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
_PREFIXES = {"luck_adjusted": "luck-adjusted"}
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


def finite(value: object) -> Any:
    """Return a JSON record in which non-finite numbers, which JSON cannot represent, are None."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_finite_numbers(to_dict: Callable[[Any], Row]) -> Callable[[Any], Row]:
    @wraps(to_dict)
    def converted(self: "Tabular") -> Row:
        record: Row = finite(to_dict(self))
        return record

    return converted


class Tabular:
    """A result that can be converted to a dict, a data frame, and a table in text or HTML.

    The methods `to_dict` of its subclasses return None for numbers that are not finite, such as the standard
    error of a single trial.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "to_dict" in vars(cls):
            setattr(cls, "to_dict", _of_finite_numbers(cls.to_dict))  # noqa: B010

    _printed: ClassVar[tuple[str, ...]] = ()
    """Columns of the table in text and HTML; all columns if there are none."""
    _decimals: ClassVar[Mapping[str, int]] = {}
    """Numbers of decimals in text and HTML, by column; other numbers have four digits."""

    def to_dict(self) -> Row:
        """Return the result as a dict that JSON can represent."""
        raise NotImplementedError

    def records(self) -> list[Row]:
        """Return the rows of the table; by default one row with all figures of the result."""
        row: Row = {}
        # In tables unknown figures are NaN.
        figures: Any = getattr(type(self).to_dict, "__wrapped__", type(self).to_dict)
        for name, value in figures(self).items():
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
        names = self._printed or _names(rows)
        shown = [[_shown(row.get(name), self._decimals.get(name)) for name in names] for row in rows]
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


def _shown(value: object, decimals: int | None = None) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    # Adding 0 turns a negative zero into a positive one.
    return f"{value:.4g}" if decimals is None else f"{round(value, decimals) + 0.0:.{decimals}f}"
