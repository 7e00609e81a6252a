"""The HTML report of a run: one file that needs nothing else, no scripts.

The tables of a run's report: how each version came about, and how strong it plays.

The terms that matter of the last version of a run, with standard errors where these can be had.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from motif.analysis.term_report import (
    ToldTerm,
    board_terms,
    chosen_head,
    game_boards,
    table_terms,
    told_terms,
)
from motif.benchmark.losses import MILLIPOINTS
from motif.evaluators.weight_file import class_of_plan
from motif.fitting.term_table import HeadTerms
from motif.learning import VersionStep
from motif.learning.bootstrap_run import TERMS
from motif.learning.rows import class_rows
from motif.learning.term_errors import settings_of, term_errors
from motif.reports.document import Picture, Section, html_captioned, html_document, html_sections
from motif.reports.next_version import advice, next_commands
from motif.reports.run_files import STEPS, RunBenchmark, RunFiles, static_player
from motif.reports.terms_page import reading, terms_table
from motif.reports.worst_page import worst_parts
from motif.runtime.version import VERSION

Groups = Mapping[str, Mapping[str, Sequence[str]]]
"""Cells by group, row and version."""
_STEP_NAMES = dict(zip(STEPS, ("sampling", "fitting", "measuring"), strict=True))
_UNKNOWN = "\N{EN DASH}"


def run_table(run: RunFiles) -> str:
    """How the versions came about, from left to right so that each row compares them."""
    summaries, steps = run.summaries, run.config.versions
    seconds = [summary["seconds_by_step"] for summary in summaries]
    parents = [run.config.start, *(f"v{summary['version']}" for summary in summaries)]
    pooled = [min(step.pooled, version) for version, step in enumerate(steps)]
    samples = {
        "rolled out by": parents[: len(summaries)],
        "games": [f"{step.games:,}" for step in steps],
        "trials a position": [f"{summary['trials']:,}" for summary in summaries],
        "trials end with": [_ending(step) for step in steps],
    }
    if any(pooled):
        samples["earlier samples added"] = [_pool(version, count) for version, count in enumerate(pooled)]
    samples["positions fitted"] = [f"{summary['positions']:,}" for summary in summaries]
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Samples": samples,
        "Seconds": {
            **{name: [f"{of[step]:,.0f}" for of in seconds] for step, name in _STEP_NAMES.items()},
            "all steps": [f"{sum(of[step] for step in STEPS):,.0f}" for of in seconds],
        },
        "Fit: error of the win chance (RMSE)": {
            "training": [_rmse(summary["rmse_train"]) for summary in summaries],
            "validation": [_rmse(summary["rmse_validation"]) for summary in summaries],
            "passes at most": [f"{summary['sweeps']}" for summary in summaries],
            "ended": [summary["stopped"] for summary in summaries],
        },
    }
    return _table(groups, run)


def strength_table(run: RunFiles, benchmark: RunBenchmark | None) -> str:
    """How strong the versions play, by all measures that there are."""
    summaries = run.summaries
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Points a game": {
            "against PubEval": [points(one, "ppg_vs_pubeval", "ppg_se") for one in summaries],
            "against the one before": [
                points(one, "ppg_vs_previous", "ppg_vs_previous_se") for one in summaries
            ],
        },
    }
    if choices := _choice_rows(summaries):
        groups["Choice error: millipoints a decision"] = choices
    if benchmark is not None:
        groups["Benchmark lines: millipoints a decision"] = {
            name: [_with_error(rate.er, rate.se) for rate in rates]
            for name, rates in benchmark.rows().items()
        }
    return _table(groups, run)


def points(summary: Mapping[str, Any], value: str, error: str) -> str:
    """Points a game of a summary with their standard error, by the names of both."""
    # A line may break before the sign, not behind it.
    text = f"{summary[value]:+.3f} ±\N{NO-BREAK SPACE}{summary[error]:.3f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _choice_rows(summaries: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What validation decisions cost, by class."""
    names = dict.fromkeys(name for summary in summaries for name in summary.get("choice_error", ()))
    return {name: [_choice(summary, name) for summary in summaries] for name in names}


def _choice(summary: Mapping[str, Any], name: str) -> str:
    error = summary.get("choice_error", {}).get(name)
    if error is None:
        return _UNKNOWN
    se = summary.get("choice_error_se", {}).get(name)
    return _with_error(MILLIPOINTS * error, math.nan if se is None else MILLIPOINTS * se)


def _with_error(value: float, se: float) -> str:
    return f"{value:.1f}" if math.isnan(se) else f"{value:.1f} ±\N{NO-BREAK SPACE}{se:.1f}"


def _rmse(error: float | None) -> str:
    return "none held out" if error is None else f"{error:.4f}"


def _pool(version: int, pooled: int) -> str:
    return ", ".join(f"v{k}" for k in range(version - pooled, version)) or "none"


def _ending(step: VersionStep) -> str:
    ends = [f"ply {step.cut}"] if step.cut else []
    ends += ["contact"] if step.stop_at_race else []
    ends += ["bearoff"] if step.stop_at_bearoff else []
    return " or ".join(ends) or "the game"


def _table(groups: Groups, run: RunFiles) -> str:
    count = len(run.summaries)
    heads = "".join(f'<th scope="col">v{version}</th>' for version in range(count))
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>"]
    for group, rows in groups.items():
        # The words stay in sight, whatever the table is scrolled to.
        heading = f'<th scope="rowgroup" colspan="{count + 1}"><span>{escape(group)}</span></th>'
        lines.append(f'<tbody><tr class="group">{heading}</tr>')
        for name, texts in rows.items():
            cells = "".join(f"<td>{escape(text)}</td>" for text in texts[:count])
            lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
        lines.append("</tbody>")
    table = "\n".join(lines)
    return f'<div class="wide"><table>\n{table}\n</table></div>'


CLASS = "contact"
"""The class whose terms the report of a run tells: most decisions are made there."""
_POSITIONS = 2000


@dataclass(frozen=True)
class RunTerms:
    """Terms of the head that chooses plays in contact."""

    head: str
    count: int
    """How many terms it has but for the bias."""
    source: str
    """Over which positions they are compared: "the positions that it was fitted to", say."""
    told: tuple[ToldTerm, ...]
    """Those that move its value most, most first."""


def run_terms(
    run: RunFiles,
    top: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RunTerms:
    """The `top` terms of the last version that matter most.

    From its table of terms, or else from the samples that it was fitted to, both with standard errors;
    where these are gone, from its own games, drawn by `seed`, without.  Raises a `MotifError` for files
    that cannot be read.
    """
    weights = run.weights[run.last]
    head = chosen_head(weights, CLASS, None, None)
    found, source = _found(run, head, seed, jobs, tell)
    return RunTerms(head, len(found.names) - 1, source, told_terms(weights, found, top))


def _found(
    run: RunFiles, head: str, seed: int, jobs: int | None, tell: Callable[[str], None]
) -> tuple[HeadTerms, str]:
    weights, fitted = run.weights[run.last], "the positions that it was fitted to"
    table, place = run.homes[run.last] / TERMS, (CLASS, "", head)
    if table.exists():
        return table_terms(table, weights, *place), fitted
    if run.pools is not None:
        tell(f"{weights.name}: standard errors of the terms")
        settings = settings_of(weights)
        with class_rows(run.pools, weights.parameters, settings.validation, settings.seed) as rows:
            return term_errors(rows, weights, settings, *place), fitted
    boards = game_boards(static_player(weights), _POSITIONS, CLASS, "", seed=seed, jobs=jobs)
    found, count = board_terms(boards, weights, *place)
    return found, f"{count:,} positions of its own games"


_CHOICES = (
    "The choice error is what the version's own choices cost in decisions of games that the fit never saw, "
    "by the labels of the plays. Labels have noise, and even perfect choices would have an error: compare it "
    "only between versions whose trials are alike."
)
_LINES = (
    "On benchmark lines the plays are judged by an engine of others. They are for measuring only, never for "
    "fitting, and what is to be tried next does not depend on them."
)


def report_page(
    run: RunFiles, terms: RunTerms, benchmark: RunBenchmark | None, pictures: Mapping[str, Picture]
) -> str:
    """The report of a run; the `pictures` are called strength, convergence and, where known, calibration."""
    title = f"{run.config.name}: bootstrap report"
    sections = [
        Section("run", "How the run went", [*_paragraphs(*_course(run)), run_table(run)]),
        _strength(run, benchmark, pictures["strength"]),
        *(
            Section(name, pictures[name].heading, [html_captioned(pictures[name])])
            for name in ("convergence", "calibration")
            if name in pictures
        ),
        _terms(run, terms),
        *([] if benchmark is None else [_worst(run, benchmark)]),
        _next(run),
        Section(
            "configuration",
            "Configuration",
            [
                *_paragraphs("All that is needed to repeat the run (config.yaml):"),
                _preformatted(run.config_text),
            ],
        ),
    ]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_opening(run)}</p>",
        *html_sections(sections),
        f"<footer>Drawn by motif {escape(VERSION)} from the files of the run.</footer>",
    ]
    return html_document(title, parts)


def duration(seconds: float) -> str:
    """A time in the unit that suits it, such as "34 minutes"."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.0f} seconds"


def _opening(run: RunFiles) -> str:
    last, count, planned = run.summaries[run.last], len(run.summaries), len(run.config.versions)
    made = "One version" if count == 1 else f"{count} versions"
    of = "" if count == planned else f" of {planned}"
    return (
        f"{made}{of}, learned from self-play that began with the player {escape(run.config.start)}. "
        f"The last, <strong>{escape(last['name'])}</strong>, scores "
        f"<strong>{points(last, 'ppg_vs_pubeval', 'ppg_se')}</strong> points a game against PubEval over "
        f"{run.config.strength_games:,} games (± is one standard error throughout)."
    )


def _course(run: RunFiles) -> list[str]:
    """Sentences on time, and on fits that did not converge."""
    spent = [sum(summary["seconds_by_step"][step] for summary in run.summaries) for step in STEPS]
    sample, fit, measure = map(duration, spent)
    sentences = [
        f"The run took {duration(sum(spent))}: {sample} of sampling, {fit} of fitting, {measure} of "
        "matches that measure strength. Of a version that was interrupted the last go alone is counted."
    ]
    if missing := len(run.config.versions) - len(run.summaries):
        ahead = "One version is" if missing == 1 else f"{missing} versions are"
        sentences.append(f"{ahead} not made yet: the command that began the run goes on with it.")
    return sentences


def _strength(run: RunFiles, benchmark: RunBenchmark | None, picture: Picture) -> Section:
    notes = ["Version zero is compared with the player that the run began with."]
    notes += [_CHOICES] if any(summary.get("choice_error") for summary in run.summaries) else []
    notes += [] if benchmark is None else [_LINES]
    parts = [html_captioned(picture), strength_table(run, benchmark), *_paragraphs(*notes)]
    return Section("strength", "Strength by version", parts)


def _terms(run: RunFiles, terms: RunTerms) -> Section:
    weights = run.weights[run.last]
    opening = (
        f"How {weights.name} judges {CLASS} positions: of the {terms.count:,} terms of the {terms.head} head "
        f"those {len(terms.told)} that move its value most, over {terms.source}."
    )
    plans = sum(class_of_plan(plan) == CLASS for plan in weights.plans)
    if plans:
        opening += f" Not shown: weights of {plans} game plan{'s' if plans > 1 else ''}."
    notes = reading(terms.told, terms.head)
    parts = [*_paragraphs(opening, *notes), terms_table(terms.told, terms.head)]
    return Section("terms", "The terms that matter", parts)


def _worst(run: RunFiles, benchmark: RunBenchmark) -> Section:
    rate = benchmark.rates[-1].overall
    opening = (
        f"Of {rate.decisions:,} decisions on the benchmark lines, those that cost "
        f"{run.weights[run.last].name} most. On all of them together it loses {rate.er:.1f} millipoints a "
        "decision."
    )
    return Section("worst", "The worst decisions", [*_paragraphs(opening), *worst_parts(benchmark.worst)])


def _next(run: RunFiles) -> Section:
    made = run.last
    parts = [
        *_paragraphs(
            *advice(run.summaries),
            f"In the run's folder, these commands make version {made + 1} the way version {made} was made, "
            "and measure it:",
        ),
        _preformatted("\n\n".join(next_commands(run.config, made))),
    ]
    return Section("next", "What to try next", parts)


def _paragraphs(*sentences: str) -> list[str]:
    return [f"<p>{escape(sentence)}</p>" for sentence in sentences]


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>"
