"""The page of an analysis: every picture with what it shows, and the table of the features."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.captions import positions_sentence
from motif.reports.document import Picture, html_document, html_figure
from motif.runtime.version import VERSION


def analysis_page(analysis: Analysis, pictures: Sequence[Picture], found: Mapping[str, Any]) -> str:
    """The report of an analysis whose summary is `found`."""
    kind = f"{analysis.class_name} positions" if analysis.class_name else "all positions"
    title = f"{analysis.name}: analysis"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_opening(analysis, kind)}</p>",
        f"<p>{escape(positions_sentence(analysis))}</p>",
        *map(html_figure, pictures),
        "<h2>Features</h2>",
        f"<p>{_columns(analysis)}</p>",
        _features_table(analysis),
        f"<footer>Drawn by motif {escape(VERSION)}. The same numbers, with more digits, are in "
        f"{escape(', '.join(name for name in found['files'] if name.endswith(('.csv', '.json'))))}.</footer>",
    ]
    return html_document(title, parts)


def _opening(analysis: Analysis, kind: str) -> str:
    scale, count = analysis.scale, len(analysis.parameters)
    degree = "and for pairs of them" if analysis.judged.second_degree else "and none for pairs"
    most = [analysis.parameters.names[k] for k in analysis.by_importance[:3]]
    return (
        f"How <strong>{escape(analysis.name)}</strong> judges {kind}: its head "
        f"<strong>{escape(analysis.head)}</strong> has weights for {count} features of the set "
        f"{escape(analysis.parameters.name)} {degree}, adds them up to {escape(scale.raw)}, and squashes "
        f"that to {escape(scale.named)}. What moves {escape(scale.raw)} most is "
        f"{escape(', '.join(most))}."
    )


def _columns(analysis: Analysis) -> str:
    """What the columns mean."""
    scale = analysis.scale
    return (
        f"The most important first. Weight: what {escape(scale.raw)} gains a unit of the feature"
        f"{', on average over the positions' if analysis.judged.second_degree else ''}; importance: "
        f"|weight| × SD; gain: what {escape(scale.named)} gains a unit, on average; VIF: variance "
        "inflation factor."
    )


def _features_table(analysis: Analysis) -> str:
    table = analysis.table
    titles = ("weight", "mean", "SD", "importance", "gain", "VIF")
    heads = "".join(f'<th scope="col">{title}</th>' for title in titles)
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>", "<tbody>"]
    for k in analysis.by_importance:
        parameter = analysis.parameters.parameters[k]
        numbers = (table.weight[k], table.mean[k], table.std[k], table.importance[k])
        cells = [f"{number:.3f}" for number in numbers] + [
            analysis.scale.shown(table.sensitivity[k]),
            _factor(table.vif[k]),
        ]
        row = "".join(f"<td>{cell.replace('-', chr(0x2212))}</td>" for cell in cells)
        name = f'<th scope="row">{_breakable(parameter.name)}</th>'
        lines.append(f"<tr>{name}{row}</tr>")
    lines.append("</tbody>")
    body = "\n".join(lines)
    meanings = "\n".join(
        f"<li><strong>{_breakable(p.name)}</strong>: {escape(p.sentence)}</li>"
        for p in analysis.parameters.parameters
    )
    return (
        f'<div class="wide"><table>\n{body}\n</table></div>\n'
        f"<h2>What the features measure</h2>\n<ul>\n{meanings}\n</ul>"
    )


def _breakable(name: str) -> str:
    """A name whose line may break behind an underscore."""
    return escape(name).replace("_", "_<wbr>")


def _factor(vif: float) -> str:
    if np.isnan(vif):
        return "constant"
    return "∞" if np.isinf(vif) else f"{vif:,.1f}"
