"""The HTML report of a run: one file that needs nothing else, no scripts."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from motif.bootstrap import BootstrapConfig, VersionStep
from motif.evaluators import WeightFile
from motif.evaluators.weight_file import class_of_plan
from motif.fitting.term_table import HeadTerms
from motif.reports.document import Picture, html_document, html_figure
from motif.reports.largest_terms import LargeTerm, full_value, largest_terms
from motif.reports.next_version import advice, next_commands
from motif.reports.terms import told_terms
from motif.reports.terms_page import reading, terms_table
from motif.runtime.version import VERSION

_TERMS = 20
_HEAD_SENTENCES = {
    "equity": "The raw sum of all terms is squashed to an equity in points, 3 tanh(x).",
    "win": "The raw sum of all terms is squashed to a win chance, (tanh(x) + 1) / 2.",
}


def report_page(
    config: BootstrapConfig,
    config_text: str,
    summaries: Sequence[Mapping[str, Any]],
    weights: WeightFile,
    terms: HeadTerms | None,
    pictures: Sequence[Picture],
) -> str:
    """The report of a run; `weights` are those of the last version, `config_text` is its config.yaml.

    `terms` are the statistics of a head of `weights`, where they are known.
    """
    last = summaries[-1]
    parts = [
        f"<h1>{escape(config.name)}: bootstrap report</h1>",
        f"<p>{_opening(config, summaries)}</p>",
        "<h2>Versions</h2>",
        _versions_table(config, summaries),
        *map(html_figure, pictures),
        *(_largest_section(weights) if terms is None else _told_section(weights, terms)),
        "<h2>The next version</h2>",
        *(f"<p>{escape(sentence)}</p>" for sentence in advice(last)),
        f"<p>In the run's folder, these commands make version {last['version'] + 1} the way version "
        f"{last['version']} was made, and measure it:</p>",
        _preformatted("\n\n".join(next_commands(config, last["version"]))),
        "<h2>Configuration</h2>",
        "<p>All that is needed to repeat the run (config.yaml):</p>",
        _preformatted(config_text),
        f"<footer>Drawn by motif {escape(VERSION)} from the files of the run.</footer>",
    ]
    return html_document(f"{config.name}: bootstrap report", parts)


def _opening(config: BootstrapConfig, summaries: Sequence[Mapping[str, Any]]) -> str:
    last, count = summaries[-1], len(summaries)
    made = "One version" if count == 1 else f"{count} versions"
    of = "" if count == len(config.versions) else f" of {len(config.versions)}"
    points = _points(last, "ppg_vs_pubeval", "ppg_se")
    return (
        f"{made}{of}, learned from self-play that {escape(config.start)} began. The last, "
        f"<strong>{escape(str(last['name']))}</strong>, scores <strong>{points}</strong> points a game "
        f"against PubEval over {config.strength_games:,} games (± is one standard error throughout)."
    )


def _versions_table(config: BootstrapConfig, summaries: Sequence[Mapping[str, Any]]) -> str:
    """Versions from left to right, so that each row compares them."""
    parents = [config.start, *(f"v{summary['version']}" for summary in summaries)]
    versions = [_facts(*facts) for facts in zip(summaries, config.versions, parents, strict=False)]
    heads = "".join(f'<th scope="col">v{summary["version"]}</th>' for summary in summaries)
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>"]
    for group, names in versions[0].items():
        heading = f'<th scope="rowgroup" colspan="{len(versions) + 1}">{group}</th>'
        lines.append(f'<tbody><tr class="group">{heading}</tr>')
        for name in names:
            cells = "".join(f"<td>{escape(version[group][name])}</td>" for version in versions)
            lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
        lines.append("</tbody>")
    table = "\n".join(lines)
    return f'<div class="wide"><table>\n{table}\n</table></div>'


def _facts(summary: Mapping[str, Any], step: VersionStep, parent: str) -> dict[str, dict[str, str]]:
    """One version's column, by group and row."""
    seconds = summary["seconds_by_step"]
    return {
        "Samples": {
            "rolled out by": parent,
            "games": f"{step.games:,}",
            "positions fitted": f"{summary['positions']:,}",
            "trials a position": f"{summary['trials']:,}",
            "trials end with": _ending(step),
        },
        "Seconds": {
            "sampling": f"{seconds['sample']:,.0f}",
            "fitting": f"{seconds['fit']:,.0f}",
            "measuring": f"{seconds['measure']:,.0f}",
        },
        "Error of the win chance (RMSE)": {
            "training": _error(summary["rmse_train"]),
            "validation": _error(summary["rmse_validation"]),
            "passes at most": f"{summary['sweeps']}",
            "ended": str(summary["stopped"]),
        },
        "Points a game": {
            "against PubEval": _points(summary, "ppg_vs_pubeval", "ppg_se"),
            "against the one before": _points(summary, "ppg_vs_previous", "ppg_vs_previous_se"),
        },
    }


def _ending(step: VersionStep) -> str:
    ends = [f"ply {step.cut}"] if step.cut else []
    ends += ["contact"] if step.stop_at_race else []
    return " or ".join(ends) or "the game"


def _error(rmse: float | None) -> str:
    return "none held out" if rmse is None else f"{rmse:.4f}"


def _points(summary: Mapping[str, Any], value: str, error: str) -> str:
    # A line may break before the sign, not behind it.
    return f"{_signed(summary[value])} ±\N{NO-BREAK SPACE}{summary[error]:.3f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _told_section(weights: WeightFile, terms: HeadTerms) -> list[str]:
    told, count = told_terms(weights, terms, _TERMS), len(terms.names) - 1
    notes = " ".join(reading(told, terms.head))
    return [
        f"<h2>Most important terms of {escape(weights.name)}</h2>",
        f"<p>How it judges {escape(terms.class_name)} positions: of the {count:,} terms of the "
        f"{escape(terms.head)} head those {len(told)} that move its value most, over the positions that it "
        f"was fitted to. {escape(notes)}{_left_out(weights, terms.class_name)}</p>",
        terms_table(told, terms.head),
    ]


def _largest_section(weights: WeightFile) -> list[str]:
    chosen = largest_terms(weights, _TERMS)
    parts = [
        f"<h2>Largest terms of {escape(weights.name)}</h2>",
        f"<p>How it judges {escape(chosen.class_name)} positions: the {escape(chosen.head)} head. "
        f"{_HEAD_SENTENCES[chosen.head]} A weight is what x gains when the parameter stands at its full "
        "value, given as “1 =”; plus is good for the player on roll. Terms overlap, so a single one "
        f"tells only part of the story.{_left_out(weights, chosen.class_name, chosen.head)}</p>",
        "<h3>Linear</h3>",
        _terms_table(chosen.linear),
    ]
    if chosen.quadratic:
        parts += ["<h3>Second degree</h3>", _terms_table(chosen.quadratic)]
    return parts


def _left_out(weights: WeightFile, class_name: str, pointless: str | None = None) -> str:
    """A sentence on what is not shown of the weights of a class, where there is any.

    That is those of its game plans, and the points of the head called `pointless`.
    """
    kinds = []
    plans = sum(class_of_plan(plan) == class_name for plan in weights.plans)
    if plans:
        kinds.append(f"weights of {plans} game plan{'s' if plans > 1 else ''}")
    if pointless is not None and weights.classes[class_name][pointless].points is not None:
        kinds.append("what the checkers on each point add")
    return f" Not shown: {', and '.join(kinds)}." if kinds else ""


def _terms_table(terms: Sequence[LargeTerm]) -> str:
    rows = "\n".join(f"<tr><td>{_signed(term.weight)}</td><td>{_factors(term)}</td></tr>" for term in terms)
    return (
        '<table class="terms"><thead><tr><th scope="col">weight</th>'
        f'<th scope="col">of what</th></tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
    )


def _factors(term: LargeTerm) -> str:
    """What a term multiplies, a factor a line."""
    squared = ", squared" if len(set(term.parameters)) < len(term.parameters) else ""
    return "<br>× ".join(
        f"{escape(parameter.sentence)}{squared} <small>1 = {escape(full_value(parameter))}</small>"
        for parameter in dict.fromkeys(term.parameters)
    )


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>"
