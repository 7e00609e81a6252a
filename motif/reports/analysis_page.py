"""The page of an analysis: every picture with what it shows, and the table of the features."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from motif.analysis.evaluator.analysis_tables import components_csv, correlation_csv, features_csv, summary
from motif.analysis.evaluator.evaluator_analysis import Analysis, analysis_of, checked_weights
from motif.analysis.trial_positions import EVERY, FEWEST, dataset_positions, self_play_positions
from motif.evaluators import StaticEvaluator
from motif.players import CompiledPlayer, Player
from motif.reports import analysis_captions as captions
from motif.reports.analysis_captions import positions_sentence
from motif.reports.analysis_plots import (
    draw_components,
    draw_correlations,
    draw_histograms,
    draw_importance,
    draw_inflation,
    draw_relations,
    draw_scores,
    draw_sensitivity,
    draw_transform,
    feature_pages,
)
from motif.reports.document import Picture, html_document, html_figure
from motif.rollout.rollout_settings import check_count
from motif.runtime.errors import SettingError
from motif.runtime.files import LOCK, TEMPORARY_SUFFIX, contents, refusals, working_in, write_text
from motif.runtime.seeds import check_seed
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


FEATURES, CORRELATION, COMPONENTS = "features.csv", "correlation.csv", "components.csv"
SUMMARY, REPORT = "summary.json", "report.html"


def analyse(
    evaluator: StaticEvaluator,
    out: Path,
    *,
    positions: int,
    player: Player | None = None,
    dataset: Path | None = None,
    head: str = "win",
    class_name: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Analyse one head of an evaluator into the new folder `out`; return the summary.

    The positions are from games of `player`, by default the evaluator itself, or from `dataset`, at most
    `positions` of them; of the class called `class_name`, or of all.  The folder is written whole or not
    at all; the same arguments give the same bytes for any number of `jobs`.  Raises `SettingError` for a
    folder that exists and for options that make no sense, `PlayerError` for an evaluator without such
    weights, `DatasetError` for a dataset that cannot be read, `FileError` when `out` cannot be written.
    """
    check_seed(seed)
    check_count("positions", positions, FEWEST)
    if player is not None and dataset is not None:
        message = "give either player, whose games are played, or dataset, not both"
        raise SettingError(message, "player", "dataset")
    checked_weights(evaluator, head, class_name)
    with new_folder(out) as folder:
        if dataset is not None:
            boards = dataset_positions(dataset, positions, class_name)
            source = f"the dataset {dataset.name}"
        else:
            chosen = player or CompiledPlayer(evaluator.name, evaluator.model, evaluator)
            boards = self_play_positions(chosen, positions, class_name, seed=seed, jobs=jobs)
            source = f"games of {chosen.name} against itself, one in {EVERY} of each game"
        analysis = analysis_of(evaluator, boards, source=source, head=head, class_name=class_name)
        return write_analysis(analysis, folder)


def write_analysis(analysis: Analysis, folder: Path) -> dict[str, Any]:
    """Write pictures, tables, summary and page to `folder`; return the summary."""
    pictures = list(_draw(analysis, folder))
    for name, table in (
        (FEATURES, features_csv),
        (CORRELATION, correlation_csv),
        (COMPONENTS, components_csv),
    ):
        write_text(folder / name, table(analysis))
    files = [*(name for name, _ in pictures), FEATURES, CORRELATION, COMPONENTS, SUMMARY, REPORT]
    found = summary(analysis, files)
    write_text(folder / SUMMARY, json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_text(folder / REPORT, analysis_page(analysis, [shown for _, shown in pictures], found))
    return found


def _draw(analysis: Analysis, folder: Path) -> Iterator[tuple[str, Picture]]:
    """Draw all pictures; yield their names and how the page shows them."""

    def shown(name: str, heading: str, caption: str) -> tuple[str, Picture]:
        return name, Picture(heading, (folder / name).read_bytes(), f"Plot: {caption}", caption)

    scale = analysis.scale
    name = "01_scores.png"
    draw_scores(analysis, folder / name)
    yield shown(name, "Scores", captions.scores(analysis))
    pages = list(feature_pages(analysis))
    for number, page in enumerate(pages, 1):
        name = "02_features.png" if len(pages) == 1 else f"02_features_{number}.png"
        draw_histograms(analysis, page, folder / name)
        which = "" if len(pages) == 1 else f", page {number} of {len(pages)}"
        yield shown(name, f"How features are spread{which}", captions.features(analysis))
    single: list[tuple[str, str, Callable[[Analysis, Path], None], Callable[[Analysis], str]]] = [
        ("03_correlations.png", "Correlations", draw_correlations, captions.correlations),
        ("04_importance.png", "Importance", draw_importance, captions.importance),
        ("05_sensitivity.png", "Sensitivity", draw_sensitivity, captions.sensitivity),
        ("06_transform.png", f"From {scale.raw} to {scale.value}", draw_transform, captions.transform),
        ("07_relations.png", f"Features and {scale.value}", draw_relations, captions.relations),
        ("08_vif.png", "Collinearity", draw_inflation, captions.inflation),
        ("09_components.png", "Principal components", draw_components, captions.components),
    ]
    for name, heading, draw, caption in single:
        draw(analysis, folder / name)
        yield shown(name, heading, caption(analysis))


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside `out` that becomes `out` when the block ends well, and goes otherwise.

    What a killed process left there is removed.  Raises `SettingError` when `out` exists, unless it is
    an empty folder; `FileError` when it cannot be made, or another process is making it.
    """
    with refusals(out):
        if out.exists() and not (out.is_dir() and not any(out.iterdir())):
            raise SettingError(f"{out}: exists already: name a new folder")
    temporary = out.absolute().with_name(f".{out.absolute().name}{TEMPORARY_SUFFIX}")
    done = False
    with refusals(out):
        try:
            with working_in(temporary):
                for left in contents(temporary):
                    left.unlink()
                yield temporary
                done = True
        finally:
            # Not while another one is at work in it.
            if not done and not (temporary / LOCK).exists():
                shutil.rmtree(temporary, ignore_errors=True)
        if out.exists():
            out.rmdir()
        temporary.rename(out)
