"""The HTML report of a run: one file that needs nothing else, no scripts."""

from collections.abc import Mapping
from html import escape

from motif.evaluators.weight_file import class_of_plan
from motif.reports.document import Picture, Section, html_captioned, html_document, html_sections
from motif.reports.next_version import advice, next_commands
from motif.reports.run_benchmark import RunBenchmark
from motif.reports.run_files import STEPS, RunFiles
from motif.reports.run_tables import points, run_table, strength_table
from motif.reports.run_terms import CLASS, RunTerms
from motif.reports.terms_page import reading, terms_table
from motif.reports.worst_decisions import worst_parts
from motif.runtime.version import VERSION

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
