"""What stands below each picture: how to read it, and what it shows here."""

from collections.abc import Iterable, Sequence

import numpy as np

from motif.analysis.evaluator.analysis_tables import HIGH_VIF, MOST_IMPORTANT
from motif.analysis.evaluator.evaluator_analysis import Analysis
from motif.analysis.evaluator.statistics import Floats
from motif.parameters.position_class import CLASS_NAMES
from motif.reports.analysis_plots import MOST_COMPONENTS

_BRAS = "bras"
_FEW = 4
_STRONG = 0.8
_SLIGHT = 0.1


def scores(analysis: Analysis) -> str:
    """Of the distributions of raw sums and values."""
    scale = analysis.scale
    low, high = np.percentile(analysis.values, [25, 75])
    unit = f" {scale.unit}" if scale.unit else ""
    text = (
        f"How the raw sum {scale.raw} is spread, and {scale.named} that comes of it, each class for "
        "itself; the outermost bins of the raw sum hold what lies beyond. "
        f"Here {scale.raw} has mean {_mean(analysis.judged.raw)} and standard deviation (SD) "
        f"{analysis.judged.raw.std():.2f}, {scale.named} mean {_mean(analysis.values)}{unit} and SD "
        f"{analysis.values.std():.2f}; the middle half lies between {scale.shown(low)} and "
        f"{scale.shown(high)}{unit}."
    )
    if analysis.name == _BRAS:
        text += " On the article's random positions D had mean -0.20 and SD 0.77, S mean 46.9 and SD 12.1."
    return text


def features(analysis: Analysis) -> str:
    """Of the histograms."""
    text = "How often each feature has which value; values are as weights multiply them."
    constant = _names(analysis, np.flatnonzero(np.isnan(analysis.table.vif)))
    return text + (f" Always the same here: {_listed(constant)}." if constant else " All of them vary here.")


def correlations(analysis: Analysis) -> str:
    """Of the heat map."""
    order = analysis.clusters.order
    pairs = [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]
    pairs.sort(key=lambda pair: -abs(analysis.correlation[pair]))
    named = [
        f"{first} and {second} ({analysis.correlation[i, j]:+.2f})"
        for i, j in pairs[:_FEW]
        for first, second in [_names(analysis, (i, j))]
    ]
    strong = sum(abs(analysis.correlation[pair]) > _STRONG for pair in pairs)
    return (
        "Blue: both are high together; red: one is high when the other is low. Columns have the rows' "
        "numbers. Features that tell the same stand side by side; the tree joins them at 1 - |r|. "
        f"The strongest: {_listed(named)}; {strong} of {len(pairs)} pairs are beyond ±{_STRONG}."
    )


def importance(analysis: Analysis) -> str:
    """Of importance and weights."""
    table, raw = analysis.table, analysis.scale.raw
    first = analysis.by_importance[:MOST_IMPORTANT]
    named = [
        f"{name} {table.importance[k]:.3f}" for name, k in zip(_names(analysis, first), first, strict=True)
    ]
    share = table.importance[first].sum() / max(table.importance.sum(), np.finfo(float).tiny)
    text = f"By how much {raw} changes when a feature changes by its standard deviation: |weight| x SD. "
    if analysis.judged.second_degree:
        text += (
            f"Pairs of features have weights too, so a feature's weight is the mean of d{raw}/df over the "
            "positions, the line its SD. Diamonds: the SD of all that the feature adds, its half of each "
            "pair's term included; one far beyond its bar works mainly together with others. "
        )
    text += f"The most important: {_listed(named)}; they have {share:.0%} of the sum of all."
    if analysis.name == _BRAS:
        text += (
            " The order depends on the positions: on its random ones the article finds pip, bar, off and "
            f"blot; these are from {analysis.source}."
        )
    return text


def sensitivity(analysis: Analysis) -> str:
    """Of the gains a unit."""
    gains = analysis.table.sensitivity_size
    first = np.argsort(-gains, kind="stable")[:_FEW]
    named = [
        f"{name} {analysis.scale.shown(gains[k])}"
        for name, k in zip(_names(analysis, first), first, strict=True)
    ]
    return (
        f"What {analysis.scale.named} would gain if one feature grew by 1 and all others stayed: the "
        "slope there, over the positions. Where the game is as good as decided, nothing gains much. The "
        f"largest, by the mean of their size: {_listed(named)}."
    )


def transform(analysis: Analysis) -> str:
    """Of the curve."""
    scale = analysis.scale
    steepness, most = scale.steepness(analysis.judged.raw), float(scale.steepness(0.0))
    return (
        f"Above, what {scale.named} is for each {scale.raw}; in the middle its slope; below, "
        f"where the positions lie. The slope is {most:.2f} at {scale.raw} = 0 and {steepness.mean():.2f} on "
        f"average; at {(steepness < most / 2).mean():.0%} of the positions it is below half of the largest."
    )


def relations(analysis: Analysis) -> str:
    """Of the hexagons."""
    table, gone = analysis.table, []
    for k in analysis.by_importance[:MOST_IMPORTANT]:
        if table.std[k] > 0 and analysis.values.std() > 0:
            r = np.corrcoef(analysis.judged.features[:, k], analysis.values)[0, 1]
            gone += _names(analysis, [k]) if r * np.sign(table.weight[k]) < -_SLIGHT else []
    against = f" So it does here for {_listed(gone)}." if gone else " Here none does."
    return (
        f"The most important features against {analysis.scale.named}; the darker a cell, the more "
        "positions. The line joins the means of groups of positions; r is the correlation. Where the line "
        f"goes against a feature's weight, it comes together with others that matter more.{against}"
    )


def inflation(analysis: Analysis) -> str:
    """Of the variance inflation factors."""
    vif = analysis.table.vif
    high, endless = int((vif > HIGH_VIF).sum()), _names(analysis, np.flatnonzero(np.isinf(vif)))
    text = (
        "How well the others tell a feature: 1 / (1 - R²) of its regression on them. From about "
        f"{HIGH_VIF:g} on, how much of a weight belongs to the feature and how much to the others is "
        f"arbitrary. Here {high} of {int((~np.isnan(vif)).sum())} are above."
    )
    if endless:
        text += f" Others tell exactly: {_listed(endless)}; their weights can be moved among them at no loss."
    return text


def components(analysis: Analysis) -> str:
    """Of the principal components."""
    found = analysis.components
    parts = []
    for number, loadings in enumerate(found.loadings[:2], 1):
        first = np.argsort(-np.nan_to_num(np.abs(loadings)), kind="stable")[:_FEW]
        named = [f"{name} {loadings[k]:+.2f}" for name, k in zip(_names(analysis, first), first, strict=True)]
        parts.append(f"component {number} goes with {_listed(named)}")
    return (
        "The directions in which standardised features vary most, and how much of all variance each "
        "explains; below, the correlation of each feature with the first "
        f"{min(MOST_COMPONENTS, len(found.shares))}. "
        f"{found.needed(0.9)} of {len(found.shares)} explain 90 %; {'; '.join(parts)}."
    )


def positions_sentence(analysis: Analysis) -> str:
    """How many positions of which class, and where they are from."""
    classes = analysis.judged.classes
    if analysis.class_name:
        return f"{len(classes):,} {analysis.class_name} positions from {analysis.source}."
    counts = {name: int((classes == code).sum()) for code, name in enumerate(CLASS_NAMES)}
    kinds = _listed([f"{count:,} {name}" for name, count in counts.items() if count])
    return f"{len(classes):,} positions ({kinds}) from {analysis.source}."


def _names(analysis: Analysis, numbers: Iterable[int]) -> list[str]:
    return [analysis.parameters.names[int(k)] for k in numbers]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _mean(values: Floats) -> str:
    """A mean, without the sign of a zero."""
    return f"{round(float(values.mean()), 2) + 0.0:.2f}"
