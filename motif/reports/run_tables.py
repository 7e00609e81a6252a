"""The tables of a run's report: how each version came about, and how strong it plays."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from motif.benchmark.losses import MILLIPOINTS
from motif.learning import VersionStep
from motif.reports.run_benchmark import RunBenchmark
from motif.reports.run_files import STEPS, RunFiles

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
