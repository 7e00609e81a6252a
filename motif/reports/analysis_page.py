"""The folder of an analysis: pictures, tables and a page that explains them."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motif.analysis.evaluator_analysis import (
    EVERY,
    HIGH_VIF,
    MAX_IMPORTANT,
    MIN_BOARDS,
    EvaluatorAnalysis,
    analysis_of,
    analysis_summary,
    components_csv,
    correlation_csv,
    dataset_positions,
    features_csv,
    rounded,
    self_play_positions,
    weights_to_analyse,
)
from motif.analysis.observed_effects import Observed, observed_in
from motif.analysis.position_clusters import (
    PositionCluster,
    PositionClusters,
    clusters_csv,
    position_clusters,
)
from motif.analysis.position_table import (
    POSITIONS_CSV,
    POSITIONS_PARQUET,
    ValueRange,
    ranges_csv,
    value_ranges,
    write_positions,
)
from motif.analysis.score_tests import FAILS, HOLDS, LEVEL, REJECTED, ScoreTest, score_tests
from motif.analysis.term_report import EffectSummary, effect_summaries
from motif.board.identifiers import gnubg_id
from motif.board.packed import Board
from motif.board.position import Position
from motif.evaluators.probabilities import HEADS
from motif.parameters.position_class import ALL, CLASS_NAMES
from motif.players.player import Player, PlayerLike, load_player, static_player, weighted_evaluator
from motif.reports import analysis_plots as plots
from motif.reports.document import Picture, rendered
from motif.reports.term_pages import effect_rows, effects_reading
from motif.runtime.arrays import FloatArray
from motif.runtime.errors import SettingError
from motif.runtime.files import (
    LOCK,
    TEMPORARY_SUFFIX,
    clear_temporaries,
    contents,
    path_of,
    refusals,
    working_in,
    write_text,
)
from motif.runtime.frames import Record, Row, Tabular
from motif.runtime.layout import capitalized, listed, p_text, percent
from motif.runtime.progress import progress
from motif.runtime.settings import check_count, check_only_one, check_seed, check_word
from motif.sampling.dataset import Dataset
from motif.sampling.dataset_folders import dataset_folder

_TABLES = {"features.csv": features_csv, "correlation.csv": correlation_csv, "components.csv": components_csv}
_SUMMARY, _REPORT = "summary.json", "report.html"
TESTS = "tests.html"
_EFFECTS, _RANGES, _CLUSTERS = "10_effects.png", "11_ranges.png", "12_clusters.png"
_NORMALITY = "13_normality.png"
MAX_EFFECTS = 12
"""Number of parameters whose effects are reported."""
_BRAS = "bras"
_ARTICLE_RANGES = {-0.5: 45.8, 0.0: 54.1, 1.0: 69.2, 2.0: 81.0}
"""The article's mean S by the start of a range of D, 0.5 wide."""
_APART = (
    (0.5, "well separated groups"),
    (0.25, "overlapping groups"),
    (-1.0, "no clear groups: a cloud without gaps"),
)
"""Kaufman and Rousseeuw's interpretation of silhouettes, by minimum."""
_FEW = 4
_STRONG = 0.8
_SLIGHT = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class WrittenAnalysis(Tabular):
    """An analysis of an evaluator's features, and its folder."""

    _printed = ("name", "weight", "importance", "sensitivity", "vif")

    analysis: EvaluatorAnalysis
    out: Path
    """The folder."""
    summary: Record
    """The main numbers, as in summary.json."""

    @property
    def files(self) -> list[Path]:
        """The files in the folder."""
        return [self.out / name for name in self.summary["files"]]

    @property
    def page(self) -> Path:
        """The page that shows everything."""
        return self.out / _REPORT

    def records(self) -> list[Row]:
        """Return a row for each feature, the most important first, with the columns of features.csv."""
        names, columns = self.analysis.parameters.names, vars(self.analysis.table)
        return [
            {"name": names[k], **{column: float(values[k]) for column, values in columns.items()}}
            for k in self.analysis.by_importance
        ]

    def to_dict(self) -> Row:
        """Return the summary for JSON, with the folder and the paths of its files."""
        return {**self.summary, "out": str(self.out), "files": list(map(str, self.files))}


def inspect(
    weights: PlayerLike,
    out: Path | str,
    *,
    player: PlayerLike | None = None,
    dataset: Path | str | Dataset | None = None,
    positions: int = 10_000,
    position_class: str = ALL,
    head: str = "win",
    seed: int = 0,
    jobs: int | None = None,
) -> WrittenAnalysis:
    """Analyse the features of weights: write a folder with plots, tables and an HTML page.

    Parameters
    ----------
    weights
        A name such as ``"bras"``, a weight file, weights, or a `Fit`.
    out
        Folder to write, new or empty.
    player, dataset
        Player in any form whose games provide the positions, by default the weights; or a dataset or its
        folder to take positions from instead.
    positions
        Number of positions, at least 100; all of a smaller dataset.
    position_class
        ``"contact"``, ``"crashed"``, ``"race"`` or ``"all"``.
    head
        Output to analyse, such as ``"win"`` or ``"equity"``.
    seed, jobs
        Random seed of the games, and number of processes, by default all cores.

    Returns
    -------
    WrittenAnalysis
        The statistics of each feature, the most important first; ``.page`` is the HTML page.

    Raises
    ------
    PlayerError, WeightFileError, DatasetError
        For a player without weights, weights that lack the head, or a dataset that cannot be read or has
        fewer than 100 positions of the class.
    SettingError, FileError
        For any other invalid setting, or a folder that exists or cannot be written.
    """
    evaluator, chosen = weighted_evaluator(weights), None if player is None else load_player(player)
    out = path_of("out", out)
    seed, positions = check_seed(seed), check_count("positions", positions, MIN_BOARDS)
    check_word("head", head, HEADS)
    check_word("position_class", position_class, (*CLASS_NAMES, ALL))
    check_only_one(player=player, dataset=dataset)
    class_name = None if position_class == ALL else position_class
    weights_to_analyse(evaluator, head, class_name)
    with new_folder(out) as folder:
        if dataset is not None:
            boards, source = _of_dataset(dataset, positions, class_name)
        else:
            boards, source = _self_play(chosen or static_player(evaluator), positions, class_name, seed, jobs)
        analysis = analysis_of(evaluator, boards, source=source, head=head, class_name=class_name)
        return WrittenAnalysis(analysis, out, _write(analysis, score_tests(analysis, evaluator), folder))


def _of_dataset(dataset: Path | str | Dataset, positions: int, class_name: str | None) -> tuple[Board, str]:
    """Return positions of `dataset`, and their source in words."""
    with dataset_folder("dataset", dataset) as folder:
        boards = dataset_positions(folder, positions, class_name)
    return boards, "a dataset" if isinstance(dataset, Dataset) else f"the dataset {folder.name}"


def _self_play(
    player: Player, positions: int, class_name: str | None, seed: int, jobs: int | None
) -> tuple[Board, str]:
    """Return positions from games of `player`, and their source in words."""
    boards = self_play_positions(player, positions, class_name, seed=seed, jobs=jobs)
    return boards, f"games of {player.name} against itself, one in {EVERY} of each game"


def _write(analysis: EvaluatorAnalysis, tests: Sequence[ScoreTest], folder: Path) -> Record:
    """Write pictures, tables, summary and pages to `folder`; return the summary."""
    observed = observed_in(analysis)
    effects = effect_summaries(observed, MAX_EFFECTS)
    found = _Findings(position_clusters(analysis), value_ranges(analysis), observed, effects, tests)
    pictures, drawings = {}, list(_plots(analysis, found))
    with progress("drawing pictures", len(drawings)) as advance:
        for name, heading, draw, caption in drawings:
            draw(analysis, path=folder / name)
            pictures[name] = Picture(heading, (folder / name).read_bytes(), caption)
            advance(1)
    tables = {name: table(analysis) for name, table in _TABLES.items()}
    tables |= {"ranges.csv": ranges_csv(found.ranges), "clusters.csv": clusters_csv(analysis, found.clusters)}
    for name, table in tables.items():
        write_text(folder / name, table)
    write_positions(analysis, found.clusters.labels, folder)
    files = [*pictures, *tables, POSITIONS_CSV, POSITIONS_PARQUET, _SUMMARY, _REPORT, TESTS]
    facts = {
        **analysis_summary(analysis, files),
        "effects": [_effect(effect) for effect in effects],
        "ranges": [{name: rounded(value) for name, value in vars(span).items()} for span in found.ranges],
        "clusters": [_group(analysis, group) for group in found.clusters.groups],
        "silhouette": rounded(found.clusters.silhouette),
        "tests": [test.to_dict() for test in tests],
    }
    write_text(folder / TESTS, tests_page(analysis, tests, pictures[_NORMALITY]))
    write_text(folder / _SUMMARY, json.dumps(facts, indent=1, allow_nan=False) + "\n")
    write_text(folder / _REPORT, _page(analysis, found, pictures, files))
    return facts


class _Findings(NamedTuple):
    """Results beyond the features' statistics."""

    clusters: PositionClusters
    ranges: list[ValueRange]
    observed: Observed
    effects: Sequence[EffectSummary]
    tests: Sequence[ScoreTest]


def _group(analysis: EvaluatorAnalysis, cluster: PositionCluster) -> dict[str, object]:
    """Return a cluster for the JSON summary."""
    return {
        "number": cluster.number,
        "positions": cluster.positions,
        "share": rounded(cluster.share),
        "classes": cluster.classes,
        "raw": rounded(cluster.raw),
        "value": rounded(cluster.value),
        "marks": {name: rounded(amount) for name, amount in cluster.marks(analysis.parameters.names)},
        "typical": gnubg_id(Position(analysis.boards[cluster.typical])),
    }


def _effect(effect: EffectSummary) -> dict[str, object]:
    """Return an effect for the JSON summary."""
    return {
        "name": effect.name,
        "sentence": effect.sentence,
        "held": effect.held,
        "amount": rounded(effect.amount),
        "gain": rounded(effect.gain),
        "expected": effect.expected,
    }


def _plots(
    analysis: EvaluatorAnalysis, found: _Findings
) -> Iterator[tuple[str, str, Callable[..., None], str]]:
    """Yield file name, heading, drawing function and caption of each plot."""
    scale, pages = analysis.scale, list(plots.feature_pages(analysis))
    yield "01_scores.png", "Scores", plots.draw_scores, scores_caption(analysis)
    for number, page in enumerate(pages, 1):
        name, heading = "02_features", "Distributions of the features"
        if len(pages) > 1:
            name, heading = f"{name}_{number}", f"{heading}, page {number} of {len(pages)}"
        draw = partial(plots.draw_histograms, features=page)
        yield f"{name}.png", heading, draw, features_caption(analysis)
    yield "03_correlations.png", "Correlations", plots.draw_correlations, correlations_caption(analysis)
    yield "04_importance.png", "Importance", plots.draw_importance, importance_caption(analysis)
    yield "05_sensitivity.png", "Sensitivity", plots.draw_sensitivity, sensitivity_caption(analysis)
    heading = f"From {scale.raw} to {scale.value}"
    yield "06_transform.png", heading, plots.draw_transform, transform_caption(analysis)
    heading = f"Features and {scale.value}"
    yield "07_relations.png", heading, plots.draw_relations, relations_caption(analysis)
    yield "08_vif.png", "Collinearity", plots.draw_inflation, inflation_caption(analysis)
    yield "09_components.png", "Principal components", plots.draw_components, components_caption(analysis)
    heading = f"{capitalized(scale.value)} by range of {scale.raw}"
    draw = partial(plots.draw_ranges, ranges=found.ranges)
    yield _RANGES, heading, draw, ranges_caption(analysis, found.ranges)
    draw = partial(plots.draw_clusters, clusters=found.clusters)
    yield _CLUSTERS, "Clusters of positions", draw, clusters_caption(found.clusters)
    heading = f"Distribution of {scale.raw}"
    yield _NORMALITY, heading, plots.draw_normality, normality_caption(analysis)
    title = plots.title_of(analysis, "effects of the parameters")
    yield (
        _EFFECTS,
        plots.EFFECTS_HEADING,
        lambda _, path: plots.draw_effects(found.observed, found.effects, title, path),
        plots.effects_caption(found.observed),
    )


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Provide a temporary folder that becomes `out` if the block succeeds and is removed otherwise.

    Leftovers of a killed process are removed.  Raises `SettingError` if `out` exists and is not an empty
    folder, `FileError` if it cannot be made or another process is making it.
    """
    out = Path(os.path.realpath(out))
    with refusals(out):
        if out.exists() and not (out.is_dir() and not any(out.iterdir())):
            raise SettingError(f"{out}: already exists: choose a new folder")
    temporary = out.absolute().with_name(f".{out.absolute().name}{TEMPORARY_SUFFIX}")
    done = False
    with refusals(out):
        try:
            with working_in(temporary):
                clear_temporaries(temporary)
                for left in contents(temporary):
                    left.unlink()
                yield temporary
                done = True
        finally:
            # Another process may be working in it.
            if not done and not (temporary / LOCK).exists():
                shutil.rmtree(temporary, ignore_errors=True)
        if out.exists():
            out.rmdir()
        temporary.rename(out)


def _page(
    analysis: EvaluatorAnalysis, found: _Findings, pictures: Mapping[str, Picture], files: Iterable[str]
) -> str:
    """Return the page of an analysis that wrote `files`."""
    table, shown = analysis.table, analysis.scale.shown
    numbers = {
        analysis.parameters.names[k]: [
            *(f"{column[k]:.3f}" for column in (table.weight, table.mean, table.std, table.importance)),
            shown(table.sensitivity[k]),
            _factor(table.vif[k]),
        ]
        for k in analysis.by_importance
    }
    return rendered(
        "analysis_page.html",
        f"{analysis.name}: analysis",
        analysis=analysis,
        kind=f"{analysis.class_name} positions" if analysis.class_name else "all positions",
        scale=analysis.scale,
        pairs=analysis.judged.second_degree,
        hidden_units=analysis.judged.hidden_units,
        parameters=analysis.parameters.parameters,
        most=[analysis.parameters.names[k] for k in analysis.by_importance[:3]],
        positions=positions_sentence(analysis),
        pictures=pictures,
        effects_file=_EFFECTS,
        ranges_file=_RANGES,
        clusters_file=_CLUSTERS,
        effects=effect_rows(found.effects, analysis.head),
        effects_note=effects_reading(analysis.head),
        features={
            name: [cell.replace("-", "\N{MINUS SIGN}") for cell in cells] for name, cells in numbers.items()
        },
        ranges={
            f"{span.low:g} to {span.high:g}".replace("-", "\N{MINUS SIGN}"): [
                f"{span.positions:,}",
                shown(span.value),
                shown(span.value_sd),
            ]
            for span in found.ranges
        },
        clusters=[_cluster_facts(analysis, group) for group in found.clusters.groups],
        tests=found.tests,
        tests_page=TESTS,
        data_files=[name for name in files if name.endswith((".csv", ".json", ".parquet"))],
    )


def _cluster_facts(analysis: EvaluatorAnalysis, cluster: PositionCluster) -> dict[str, object]:
    """Return the heading, sentence and typical position of a cluster."""
    scale = analysis.scale
    unit = f" {scale.unit}" if scale.unit else ""
    marks = [f"{name} {amount:+z.1f}" for name, amount in cluster.marks(analysis.parameters.names)]
    classes = listed([f"{count:,} {name}" for name, count in cluster.classes.items()])
    words = (
        f"{cluster.positions:,} positions ({classes}), {scale.raw} {cluster.raw:+z.2f} and {scale.named} "
        f"{scale.shown(cluster.value)}{unit} on average (SD {scale.shown(cluster.value_sd)})."
    )
    if marks:
        words += f" Largest deviations from the mean, in SD: {listed(marks)}."
    return {
        "heading": f"Cluster {cluster.number}: {percent(cluster.share, 0)} of the positions",
        "words": words.replace(" -", " \N{MINUS SIGN}"),
        "position": Position(analysis.boards[cluster.typical]),
    }


def tests_page(analysis: EvaluatorAnalysis, tests: Sequence[ScoreTest], shown: Picture) -> str:
    """Return the page of the statistical tests."""
    counts = {verdict: sum(test.verdict == verdict for test in tests) for verdict in (HOLDS, FAILS, REJECTED)}
    properties = counts[HOLDS] + counts[FAILS]
    hypotheses = [test for test in tests if test.p is not None]
    rows = [{**test.to_dict(), "p_text": "" if test.p is None else p_text(test.p, "= ")} for test in tests]
    return rendered(
        "tests_page.html",
        f"{analysis.name}: tests of its scores",
        name=analysis.name,
        positions=positions_sentence(analysis),
        verdicts=f"{counts[HOLDS]} of {properties} properties hold; {counts[REJECTED]} of {len(hypotheses)} "
        "hypotheses are rejected.",
        tests=rows,
        picture=shown,
        level=LEVEL,
    )


def _factor(vif: float) -> str:
    if np.isnan(vif):
        return "constant"
    return "∞" if np.isinf(vif) else f"{vif:,.1f}"


def scores_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the distributions of raw sums and values."""
    scale = analysis.scale
    low, high = np.percentile(analysis.values, [25, 75])
    unit = f" {scale.unit}" if scale.unit else ""
    text = (
        f"The distributions of the raw sum {scale.raw} and of {scale.named} by class; the outermost bins of "
        "the raw sum include everything beyond them. "
        f"{scale.raw} has mean {_mean(analysis.judged.raw)} and standard deviation (SD) "
        f"{analysis.judged.raw.std():.2f}, {scale.named} has mean {_mean(analysis.values)}{unit} and SD "
        f"{analysis.values.std():.2f}; the middle half is between {scale.shown(low)} and "
        f"{scale.shown(high)}{unit}."
    )
    if analysis.name == _BRAS:
        text += " On the article's random positions D had mean -0.20 and SD 0.77, S mean 46.9 and SD 12.1."
    return text


def features_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the distributions of the features."""
    text = "Histograms of the scaled features, which the weights multiply."
    constant = _names(analysis, np.flatnonzero(np.isnan(analysis.table.vif)))
    return text + (f" Constant: {listed(constant)}." if constant else " None of them is constant.")


def correlations_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the correlations."""
    order = analysis.clusters.order
    pairs = [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]
    pairs.sort(key=lambda pair: -abs(analysis.correlation[pair]))
    named = [
        f"{first} and {second} ({analysis.correlation[i, j]:+z.2f})"
        for i, j in pairs[:_FEW]
        for first, second in [_names(analysis, (i, j))]
    ]
    strong = sum(abs(analysis.correlation[pair]) > _STRONG for pair in pairs)
    strongest = (
        f"The strongest correlations: {listed(named)}; {strong} of {len(pairs)} pairs exceed ±{_STRONG}."
        if pairs
        else "Fewer than two features vary, so there are no correlations."
    )
    return (
        "Blue is a positive, red a negative correlation; columns have the rows' numbers. Strongly correlated "
        f"features are next to each other; the tree joins them at 1 - |r|. {strongest}"
    )


def importance_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the importance of the features."""
    table, raw = analysis.table, analysis.scale.raw
    first = analysis.by_importance[:MAX_IMPORTANT]
    named = [f"{analysis.parameters.names[k]} {table.importance[k]:.3f}" for k in first]
    share = table.importance[first].sum() / max(table.importance.sum(), np.finfo(float).tiny)
    text = f"The change in {raw} when a feature changes by one standard deviation: |weight| x SD. "
    judged = analysis.judged
    weighted, shares = [], []
    if judged.second_degree:
        weighted, shares = ["pairs of features"], ["its half of each pair's term"]
    if judged.hidden_units:
        weighted.append(f"{judged.hidden_units} hidden units")
        shares.append("its share of each hidden unit")
    if weighted:
        text += (
            f"{listed(weighted).capitalize()} also have weights, so a feature's weight here is the mean of "
            f"d{raw}/df over the positions, and the line shows its SD. Diamonds: the SD of the feature's "
            f"contribution, including {listed(shares)}; a diamond far beyond its bar marks a feature that "
            f"acts mainly together with others. "
        )
    text += f"The most important are {listed(named)}, with {percent(share, 0)} of the total."
    if analysis.name == _BRAS:
        text += (
            " The order depends on the positions, which are from "
            f"{analysis.source}; for random positions, the article finds pip, bar, off and blot."
        )
    return text


def sensitivity_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the sensitivity to each feature."""
    gains = analysis.table.sensitivity_size
    first = np.argsort(-gains, kind="stable")[:_FEW]
    named = [f"{analysis.parameters.names[k]} {analysis.scale.shown(gains[k])}" for k in first]
    return (
        f"The derivative of {analysis.scale.named} with respect to each feature, over the positions; it is "
        "small if the game is almost decided. "
        f"The largest mean absolute values: {listed(named)}."
    )


def transform_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the curve from raw sums to values."""
    scale = analysis.scale
    steepness, most = scale.steepness(analysis.judged.raw), float(scale.steepness(0.0))
    return (
        f"Top: {scale.named} as a function of {scale.raw}; middle: its slope; bottom: the distribution of "
        f"the positions. The slope is {most:.2f} at {scale.raw} = 0 and {steepness.mean():.2f} on average; "
        f"for {percent((steepness < most / 2).mean(), 0)} of the positions it is less than half its maximum."
    )


def relations_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the relations of features and value."""
    table, gone = analysis.table, []
    for k in analysis.by_importance[:MAX_IMPORTANT]:
        if table.std[k] > 0 and analysis.values.std() > 0:
            r = np.corrcoef(analysis.judged.features[:, k], analysis.values)[0, 1]
            gone += _names(analysis, [k]) if r * np.sign(table.weight[k]) < -_SLIGHT else []
    against = f" This happens for {listed(gone)}." if gone else " This happens for none of them."
    return (
        f"The most important features and {analysis.scale.named}; darker cells have more positions. The line "
        "joins the means of groups of positions; r is the correlation. A slope that contradicts the sign of "
        f"a feature's weight means that the feature is correlated with more important ones.{against}"
    )


def inflation_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the variance inflation."""
    vif = analysis.table.vif
    high, endless = int((vif > HIGH_VIF).sum()), _names(analysis, np.flatnonzero(np.isinf(vif)))
    text = (
        "How well the other features predict a feature: 1 / (1 - R²) of its regression on them. Above about "
        f"{HIGH_VIF:g}, the division of weight between the feature and the others is arbitrary, which is the "
        f"case for {high} of {int((~np.isnan(vif)).sum())} features."
    )
    if endless:
        text += f" The others determine {listed(endless)}; moving weight between these changes nothing."
    return text


def components_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the principal components."""
    directions = analysis.components
    parts = []
    for number, loadings in enumerate(directions.loadings[:2], 1):
        first = np.argsort(-np.nan_to_num(np.abs(loadings)), kind="stable")[:_FEW]
        named = [f"{analysis.parameters.names[k]} {loadings[k]:+z.2f}" for k in first]
        parts.append(f"component {number} correlates with {listed(named)}")
    return (
        "The principal components of the standardised features and the share of variance each explains; "
        "below, the correlation of each feature with the first "
        f"{min(plots.MAX_COMPONENTS, len(directions.shares))}. "
        f"{directions.needed(0.9)} of {len(directions.shares)} explain 90 %; {'; '.join(parts)}."
    )


def ranges_caption(analysis: EvaluatorAnalysis, ranges: Sequence[ValueRange]) -> str:
    """Describe the mean value by range of the raw sum."""
    scale = analysis.scale
    text = (
        f"Mean and standard deviation of {scale.named} by range of {scale.raw}; the line is the curve from "
        f"{scale.raw} to {scale.named}. Below, the share of positions in each range."
    )
    if analysis.name == _BRAS:
        means = {span.low: span.value for span in ranges}
        here = [f"{means[low]:.1f} ({article})" if low in means else f"none ({article})"
                for low, article in _ARTICLE_RANGES.items()]  # fmt: skip
        text += (
            " In the ranges that start at D = -0.5, 0, 1 and 2, the means are "
            f"{listed(here)}; the means of the article's doubling set are in brackets."
        )
    return text


def clusters_caption(clusters: PositionClusters) -> str:
    """Describe the clusters of positions."""
    tried = len(clusters.silhouettes)
    apart = next(words for least, words in _APART if clusters.silhouette >= least)
    return (
        "Positions with similar features, by Ward's method. Above, positions on the first two principal "
        "components, with a large marker at the mean of each group; below, the features that differ most "
        "between groups, as deviations from the overall mean in standard deviations. "
        f"Of the {tried} numbers of groups tried, {len(clusters.groups)} separates best: the mean silhouette "
        f"is {clusters.silhouette:.2f}, {apart}."
    )


def normality_caption(analysis: EvaluatorAnalysis) -> str:
    """Describe the comparison of raw sums with a normal distribution."""
    raw = analysis.scale.raw
    return (
        f"Above, the distribution of {raw} and the normal distribution with the same mean and standard "
        f"deviation. Below, quantiles of {raw} against those of a normal distribution: on the line if {raw} "
        "is normal, steeper at the ends for longer tails, flatter for shorter ones."
    )


def positions_sentence(analysis: EvaluatorAnalysis) -> str:
    """Return a sentence on the positions and their source."""
    classes = analysis.judged.classes
    if analysis.class_name:
        return f"{len(classes):,} {analysis.class_name} positions from {analysis.source}."
    kinds = listed([f"{count:,} {name}" for name, count in analysis.judged.class_counts.items()])
    return f"{len(classes):,} positions ({kinds}) from {analysis.source}."


def _names(analysis: EvaluatorAnalysis, numbers: Iterable[int]) -> list[str]:
    return [analysis.parameters.names[int(k)] for k in numbers]


def _mean(values: FloatArray) -> str:
    """Return a mean as text, without negative zero."""
    return f"{round(float(values.mean()), 2) + 0.0:.2f}"
