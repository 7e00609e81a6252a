"""The positions of an analysis as a table, and their values by range of the raw sum.

The table is written as CSV and Parquet, one row per position.  Columns: ``position`` (GNUbg ID), ``class``,
``cluster``, one for each feature, the raw sum and the value under their own names: ``x`` and ``win_percent``,
``equity`` ...; for BRAS ``D``, ``S_me`` and ``S_op``, as in its article's dataset.csv.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, rounded
from motif.board.identifiers import gnubg_ids
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import IntArray
from motif.runtime.files import csv_text, write_text

POSITIONS_CSV, POSITIONS_PARQUET = "positions.csv", "positions.parquet"
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Possible widths of a range of raw sums; the first that is at least a seventh of the raw factor is used: 0.5
for BRAS, as in its article, and 0.2 for x."""
_PARTS = 7

Column = npt.NDArray[np.generic] | Sequence[str]


def position_columns(analysis: EvaluatorAnalysis, clusters: IntArray) -> dict[str, Column]:
    """Return the columns (n,) by name; `clusters` (n,) are group numbers.

    A parameter with the name of another column, such as ``position``, is called ``parameter_position``.
    """
    judged, scale = analysis.judged, analysis.scale
    place: dict[str, Column] = {
        "position": gnubg_ids(analysis.boards),
        "class": [CLASS_NAMES[code] for code in judged.classes.tolist()],
        "cluster": clusters,
    }
    values: dict[str, Column] = {scale.raw: judged.raw}
    if scale.value == "S":
        values |= {"S_me": analysis.values, "S_op": 100.0 - analysis.values}
    else:
        values[analysis.head if scale.unit != "%" else f"{analysis.head}_percent"] = analysis.values
    taken = {*place, *values}
    measured = {
        f"parameter_{name}" if name in taken else name: column.astype(np.float32)
        for name, column in zip(analysis.parameters.names, judged.features.T, strict=True)
    }
    return {**place, **measured, **values}


def write_positions(analysis: EvaluatorAnalysis, clusters: IntArray, folder: Path) -> None:
    """Write the table to `folder` as CSV and Parquet; raises `FileError`."""
    import pyarrow as pa

    from motif.runtime.parquet import write_parquet

    columns = position_columns(analysis, clusters)
    rows = zip(*(map(str, column) for column in columns.values()), strict=True)
    write_text(folder / POSITIONS_CSV, csv_text(columns, rows))
    write_parquet(folder / POSITIONS_PARQUET, pa.table(columns))


@dataclass(frozen=True)
class ValueRange:
    """Positions whose raw sum is in a range."""

    low: float
    high: float
    positions: int
    share: float
    value: float
    """Mean value."""
    value_sd: float


def value_ranges(analysis: EvaluatorAnalysis) -> list[ValueRange]:
    """Return the values by range of the raw sum, without empty ranges."""
    factor = analysis.scale.raw_factor / _PARTS
    width = next((step for step in _STEPS if step >= factor), _STEPS[-1])
    numbers = np.floor(analysis.judged.raw / width).astype(np.int64)
    ranges = []
    for number in np.unique(numbers).tolist():
        values = analysis.values[numbers == number]
        # Rounding removes floating-point error such as 0.30000000000000004.
        low, high = (round(place * width, 9) for place in (number, number + 1))
        share = len(values) / len(numbers)
        ranges.append(ValueRange(low, high, len(values), share, float(values.mean()), float(values.std())))
    return ranges


def ranges_csv(ranges: Sequence[ValueRange]) -> str:
    """Return one row per range."""
    names = [field.name for field in fields(ValueRange)]
    rows = (
        [span.low, span.high, span.positions, *map(rounded, (span.share, span.value, span.value_sd))]
        for span in ranges
    )
    return csv_text(names, rows)
