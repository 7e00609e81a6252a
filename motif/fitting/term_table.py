"""The table of terms on disk: what `term_statistics` and `significance` found of every fitted head.

One Parquet file with one row a term; the terms of a head stand together, in the order of its weight
vector.  It stands beside a weight file, whose weights it repeats with more digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from motif.evaluators.probabilities import HEADS
from motif.evaluators.weight_file import PAIR, SIDES, HeadWeights
from motif.fitting.significance import TermStatistics
from motif.fitting.terms import POINT_SHAPE, FloatArray, Terms
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES, PLANS
from motif.runtime.errors import DatasetError, shown
from motif.runtime.files import replacing

BIAS = "bias"
_COLUMNS = {
    "weight": "weights",
    "se": "errors",
    "z": "z",
    "spread": "spreads",
    "effect": "effects",
    "effect_se": "effect_errors",
    "deviation": "deviations",
    "mean": "means",
}
"""Columns of numbers, and the attributes of `TermStatistics` that they hold."""
_MAY_LACK = ("se", "z", "effect_se")
"""NaN where nobody has computed standard errors."""
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("class", "plan", "head", "term")),
        *((name, pa.float64()) for name in _COLUMNS),
        ("slope", pa.float64()),
    ]
)


@dataclass(frozen=True, eq=False)
class HeadTerms:
    """The statistics of one fitted head."""

    class_name: str
    plan: str
    """Name of a game plan; empty for the head of the class itself."""
    head: str
    names: tuple[str, ...]
    """See `term_names`."""
    statistics: TermStatistics

    @property
    def place(self) -> tuple[str, str, str]:
        """Class, plan and head."""
        return self.class_name, self.plan, self.head


def term_names(terms: Terms, parameters: ParameterSet) -> tuple[str, ...]:
    """Names of the weights (count,): ``bias``, ``blots``, ``blots*pip_lead``, ``own 6: 2 checkers``.

    A point term names the side, the place (or ``bar``) and how many checkers stand there; the last of a
    place, ``own 6: each further checker``, counts those beyond three.
    """
    names = parameters.names
    points: list[str] = []
    if terms.points:
        steps = ("1 checker", "2 checkers", "3 checkers", "each further checker")
        places = [*map(str, range(1, POINT_SHAPE[1])), "bar"]
        points = [f"{side} {place}: {step}" for side in SIDES for place in places for step in steps]
    return BIAS, *names, *(f"{names[i]}{PAIR}{names[j]}" for i, j in terms.pairs), *points


def weight_vector(head: HeadWeights) -> tuple[Terms, FloatArray]:
    """The terms of a head of a weight file, and its weights (count,) in their order."""
    terms = Terms(len(head.linear), head.pairs, head.points is not None)
    points = [] if head.points is None else [head.points.ravel()]
    return terms, np.concatenate([[head.bias], head.linear, head.quadratic, *points]).astype(np.float64)


def write_terms(path: Path, heads: Sequence[HeadTerms]) -> None:
    """Write the table whole or not at all; `FileError` when it cannot be written."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for head in heads:
        count = len(head.names)
        columns["term"] += head.names
        for name, value in zip(("class", "plan", "head"), head.place, strict=True):
            columns[name] += [value] * count
        columns["slope"] += [head.statistics.slope] * count
        for name, attribute in _COLUMNS.items():
            columns[name] += getattr(head.statistics, attribute).tolist()
    with replacing(Path(path)) as temporary:
        pq.write_table(pa.table(columns, schema=SCHEMA), temporary, compression="zstd")


def read_terms(path: Path) -> tuple[HeadTerms, ...]:
    """The heads of a table of terms, in its order.

    Raises `DatasetError`, which names the file and what is wrong, for one that is missing or no such table.
    """
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(SCHEMA):
                names = ", ".join(SCHEMA.names)
                raise DatasetError(f"{path}: no table of terms: its columns are not {names}")
            table = file.read()
            table.validate(full=True)
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: no table of terms: {' '.join(str(error).split())}") from None
    if any(column.null_count for column in table.columns):
        raise DatasetError(f"{path}: a value is missing")
    texts = {name: table.column(name).to_pylist() for name in ("class", "plan", "head", "term")}
    numbers = {name: table.column(name).to_numpy() for name in (*_COLUMNS, "slope")}
    _check_numbers(path, numbers, texts["term"])
    places = list(zip(texts["class"], texts["plan"], texts["head"], strict=True))
    starts = [row for row, place in enumerate(places) if row == 0 or place != places[row - 1]]
    heads: list[HeadTerms] = []
    for start, end in pairwise([*starts, len(places)]):
        rows = slice(start, end)
        _check_place(path, places[start], {head.place for head in heads})
        values = {_COLUMNS[name]: numbers[name][rows].copy() for name in _COLUMNS if name != "z"}
        statistics = TermStatistics(**values, slope=float(numbers["slope"][start]))
        heads.append(HeadTerms(*places[start], tuple(texts["term"][rows]), statistics))
    return tuple(heads)


def _check_numbers(path: Path, numbers: dict[str, npt.NDArray[np.float64]], terms: Sequence[str]) -> None:
    for name, column in numbers.items():
        faulty = np.isinf(column) | (np.isnan(column) if name not in _MAY_LACK else False)
        if name in ("se", "spread", "effect_se", "deviation", "slope"):
            faulty |= column < 0
        for row in np.flatnonzero(faulty)[:1]:
            raise DatasetError(f"{path}: the {name} of {shown(terms[row])} in row {row} is {column[row]}")


def _check_place(path: Path, place: tuple[str, str, str], places: set[tuple[str, str, str]]) -> None:
    class_name, plan, head = place
    if class_name not in CLASS_NAMES or (plan and plan not in PLANS) or head not in HEADS:
        raise DatasetError(f"{path}: no class, game plan and head is called {', '.join(map(shown, place))}")
    if place in places:
        raise DatasetError(f"{path}: the terms of {' '.join(filter(None, place))} do not stand together")
