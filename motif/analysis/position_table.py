"""The positions of an analysis as a table, a row per position, and their values by range of the raw sum.

The table is written as CSV, which every program reads, and as Parquet, which keeps types.  Columns:
``position`` (GNUbg ID), ``class``, ``cluster``, one for each feature, the raw sum and the value under their
own names: ``x`` and ``win_percent``, ``equity`` ...; for BRAS ``D``, ``S_me`` and ``S_op``, as its article's
dataset.csv has them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, rounded
from motif.board.identifiers import gnubg_ids
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.files import csv_text, replacing, write_text

POSITIONS_CSV, POSITIONS_PARQUET = "positions.csv", "positions.parquet"
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Widths that a range of raw sums may have: the first that is at least a seventh of what is squashed to
tanh(1).  For BRAS that is 0.5, as in its article, for x 0.2."""
_PARTS = 7
_HUNDRED = 100.0

Column = npt.NDArray[np.generic] | Sequence[str]


def position_columns(analysis: EvaluatorAnalysis, clusters: npt.NDArray[np.int64]) -> dict[str, Column]:
    """Return the columns by their names, n rows each; `clusters` (n,) are the groups' numbers."""
    judged, scale = analysis.judged, analysis.scale
    columns: dict[str, Column] = {
        "position": gnubg_ids(analysis.boards),
        "class": [CLASS_NAMES[code] for code in judged.classes.tolist()],
        "cluster": clusters,
    }
    for k, name in enumerate(analysis.parameters.names):
        # Features are float32: more digits would be noise.
        columns[name] = judged.features[:, k].astype(np.float32)
    columns[scale.raw] = judged.raw
    if scale.value == "S":
        return {**columns, "S_me": analysis.values, "S_op": _HUNDRED - analysis.values}
    return {**columns, analysis.head if scale.unit != "%" else f"{analysis.head}_percent": analysis.values}


def write_positions(analysis: EvaluatorAnalysis, clusters: npt.NDArray[np.int64], folder: Path) -> None:
    """Write the table to `folder`, as CSV and as Parquet; raises `FileError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = position_columns(analysis, clusters)
    rows = zip(*(_texts(column) for column in columns.values()), strict=True)
    write_text(folder / POSITIONS_CSV, csv_text(columns, rows))
    with replacing(folder / POSITIONS_PARQUET) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")


def _texts(column: Column) -> list[str]:
    """Its values with all digits that they have."""
    return [str(value) for value in column]


@dataclass(frozen=True)
class ValueRange:
    """The positions whose raw sum lies in a range."""

    low: float
    high: float
    positions: int
    share: float
    value: float
    """Mean value."""
    value_sd: float


def value_ranges(analysis: EvaluatorAnalysis) -> list[ValueRange]:
    """Return the values of the positions by ranges of the raw sum, which begin at multiples of their width.

    Ranges without positions are left out.
    """
    factor = analysis.scale.raw_factor / _PARTS
    width = next((step for step in _STEPS if step >= factor), _STEPS[-1])
    numbers = np.floor(analysis.judged.raw / width).astype(np.int64)
    ranges = []
    for number in np.unique(numbers).tolist():
        values = analysis.values[numbers == number]
        # Rounded: 3 x 0.1 is 0.30000000000000004.
        low, high = (round(place * width, 9) for place in (number, number + 1))
        share = len(values) / len(numbers)
        ranges.append(ValueRange(low, high, len(values), share, float(values.mean()), float(values.std())))
    return ranges


def ranges_csv(ranges: Sequence[ValueRange]) -> str:
    """Return a row a range."""
    names = [field.name for field in fields(ValueRange)]
    rows = (
        [one.low, one.high, one.positions, *map(rounded, (one.share, one.value, one.value_sd))]
        for one in ranges
    )
    return csv_text(names, rows)


def ranges_record(ranges: Sequence[ValueRange]) -> list[dict[str, float]]:
    """Return what the summary has of them."""
    return [{name: rounded(value) for name, value in asdict(one).items()} for one in ranges]
