"""The tables of an analysis: CSV files, and the summary."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from motif.analysis.evaluator.evaluator_analysis import Analysis, FeatureTable
from motif.analysis.evaluator.statistics import Floats
from motif.runtime.files import csv_text
from motif.runtime.version import VERSION

FORMAT = "motif-analysis/1"
MOST_IMPORTANT = 6
"""Features that the summary names, and whose relation to the value is drawn."""
HIGH_VIF = 10.0
"""A rule of thumb: from here on a feature's weight cannot be told from those of others."""

_DIGITS = ".6g"
"""Features are float32: more digits would be noise."""
_QUANTILES = (5, 25, 50, 75, 95)


def features_csv(analysis: Analysis) -> str:
    """A row a feature, in the set's order: its name and the numbers of `FeatureTable`."""
    names = [field.name for field in fields(FeatureTable)]
    columns = [getattr(analysis.table, name) for name in names]
    rows = ([name, *row] for name, *row in zip(analysis.parameters.names, *columns, strict=True))
    return _csv(["name", *names], rows)


def correlation_csv(analysis: Analysis) -> str:
    """The correlations of the features, with their names; empty for a constant feature."""
    names = analysis.parameters.names
    rows = ([name, *row] for name, row in zip(names, analysis.correlation, strict=True))
    return _csv(["name", *names], rows)


def components_csv(analysis: Analysis) -> str:
    """A row a principal component: the share that it explains, and its correlation with each feature."""
    components = analysis.components
    rows = (
        [number, share, *loadings]
        for number, (share, loadings) in enumerate(
            zip(components.shares, components.loadings, strict=True), 1
        )
    )
    return _csv(["component", "explained_share", *analysis.parameters.names], rows)


def summary(analysis: Analysis, files: Sequence[str]) -> dict[str, Any]:
    """The main numbers, with the names of the `files` that hold the rest; not finite ones are None."""
    table, names, scale = analysis.table, analysis.parameters.names, analysis.scale
    return {
        "format": FORMAT,
        "motif": VERSION,
        "player": analysis.name,
        "parameters": analysis.parameters.name,
        "head": analysis.head,
        "class": analysis.class_name or "all",
        "source": analysis.source,
        "positions": len(analysis.judged.classes),
        "positions_by_class": analysis.judged.class_counts,
        "raw": {"name": scale.raw, **spread(analysis.judged.raw)},
        "value": {"name": scale.value, "unit": scale.unit, **spread(analysis.values)},
        "slope_at_zero": rounded(scale.steepness(0.0)),
        "mean_slope": rounded(scale.steepness(analysis.judged.raw).mean()),
        "second_degree": analysis.judged.second_degree,
        "most_important": [
            {"name": names[k], "weight": rounded(table.weight[k]), "importance": rounded(table.importance[k])}
            for k in analysis.by_importance[:MOST_IMPORTANT]
        ],
        "constant": [names[k] for k in np.flatnonzero(np.isnan(table.vif))],
        "collinear": [names[k] for k in np.flatnonzero(np.isinf(table.vif))],
        "vif_above_10": int((table.vif > HIGH_VIF).sum()),
        "components_for_90_percent": analysis.components.needed(0.9),
        "explained_shares": [rounded(share) for share in analysis.components.shares[:MOST_IMPORTANT]],
        "files": list(files),
    }


def spread(values: Floats) -> dict[str, float]:
    """Mean, standard deviation and quantiles."""
    quantiles = np.percentile(values, _QUANTILES)
    by_share = {f"p{share}": rounded(value) for share, value in zip(_QUANTILES, quantiles, strict=True)}
    return {"mean": rounded(values.mean()), "std": rounded(values.std()), **by_share}


def rounded(value: Any) -> float:
    """A number with the digits that tables show."""
    return float(format(float(value), _DIGITS))


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return csv_text(header, ([_cell(value) for value in row] for row in rows))


def _cell(value: Any) -> str:
    if not isinstance(value, float | np.floating):
        return str(value)
    return "" if math.isnan(value) else format(value, _DIGITS)
