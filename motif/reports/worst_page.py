"""The page of a benchmark: error rates, how the losses are spread, and the worst decisions as boards.

The distribution of a player's losses, drawn.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.axes import Axes

from motif.benchmark.choices import ErrorRate, ErrorRates
from motif.benchmark.losses import LossDistribution
from motif.benchmark.worst_decisions import JudgedPlay, WorstDecision
from motif.board.identifiers import gnubg_id
from motif.board.match_state import match_id
from motif.board.svg import svg_diagram
from motif.board.xgid import xgid
from motif.reports.document import Picture, html_document, html_figure
from motif.reports.style import BLUE, INK, SMALL, VERMILION, picture
from motif.runtime.files import write_text
from motif.runtime.version import VERSION

_ROOM = 1.3
"""Of the longest bar, for the number behind it."""


def plot_losses(distribution: LossDistribution, player: str, path: Path) -> None:
    """Draw how often `player` loses how much, and which losses weigh how much, to `path`.

    Raises `SettingError` for a name that is no picture's, `FileError` when it cannot be written.
    """
    ranges = distribution.ranges
    with picture(path, 3.0, f"What {player} loses a decision") as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _bars(left, [it.decisions for it in ranges], BLUE, "% of decisions")
        _bars(right, [it.lost for it in ranges], VERMILION, "% of all that is lost")
        left.set_yticks(range(len(ranges)), [it.name for it in ranges])
        left.invert_yaxis()
        left.set_ylabel("millipoints lost", fontsize=SMALL)


def _bars(axes: Axes, shares: list[float], colour: str, label: str) -> None:
    per_cent = [100 * share for share in shares]
    bars = axes.barh(range(len(per_cent)), per_cent, color=colour)
    axes.bar_label(bars, [f"{share:.1f}" for share in per_cent], padding=3, fontsize=SMALL, color=INK)
    axes.set_xlim(0, _ROOM * max(*per_cent, 1.0))
    axes.set_xlabel(label)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


_DANCE = "no move"
_SPACE = "\N{NO-BREAK SPACE}"


def write_worst_page(player: str, rates: ErrorRates, worst: Sequence[WorstDecision], path: Path) -> None:
    """Write the page of the decisions that cost `player` most to `path`; raises `FileError`."""
    with TemporaryDirectory() as folder:
        drawn = Path(folder) / "losses.png"
        plot_losses(rates.distribution, player, drawn)
        picture = _losses_picture(rates, drawn.read_bytes())
    title = f"{player}: benchmark"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_opening(player, rates)}</p>",
        "<h2>Error rates</h2>",
        _rates_table(rates),
        html_figure(picture),
        "<h2>The decisions that cost most</h2>",
        *worst_parts(worst),
        f"<footer>Drawn by motif {escape(VERSION)}.</footer>",
    ]
    write_text(path, html_document(title, parts))


def worst_parts(worst: Sequence[WorstDecision]) -> list[str]:
    """HTML of decisions, for a section of a page: how they are to be read, then each under a heading."""
    decisions = (part for number, decision in enumerate(worst, 1) for part in _decision(number, decision))
    return [f"<p>{_explanation(worst)}</p>", *decisions]


def _opening(player: str, rates: ErrorRates) -> str:
    rate, spread = rates.overall, rates.distribution
    unlisted = ""
    if rate.unlisted:
        unlisted = (
            f" {_plural(rate.unlisted, 'choice is', 'choices are')} not among the plays that the files list; "
            "the worst play listed counts for each."
        )
    return (
        f"<strong>{escape(player)}</strong> loses <strong>{_with_error(rate)}</strong> millipoints a "
        f"decision over {_plural(rate.decisions, 'decision', 'decisions')}, and finds the best play in "
        f"{spread.best_found:.1%} of them. A millipoint is a thousandth of a point in cubeless money play; "
        f"± is one standard error.{unlisted}"
    )


def _rates_table(rates: ErrorRates) -> str:
    rows = [(name, rate) for name, rate in rates.files.items()]
    rows += [(f"{name} positions", rate) for name, rate in rates.classes.items()]
    rows.append(("all decisions", rates.overall))
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("error rate", "decisions", "not listed"))
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>", "<tbody>"]
    for name, rate in rows:
        cells = f"<td>{_with_error(rate)}</td><td>{rate.decisions:,}</td><td>{rate.unlisted:,}</td>"
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    body = "\n".join([*lines, "</tbody>"])
    return f'<div class="wide"><table>\n{body}\n</table></div>'


def _losses_picture(rates: ErrorRates, png: bytes) -> Picture:
    spread = rates.distribution
    facts = (
        f"The median is {spread.median:.1f} millipoints; 90 % of the decisions lose at most "
        f"{spread.percentile_90:.1f}, 99 % at most {spread.percentile_99:.1f}; the most that one loses is "
        f"{spread.largest:.1f}."
    )
    return Picture(
        "How the losses are spread",
        png,
        f"Two rows of bars: shares of the decisions, and of all that is lost, by millipoints lost. {facts}",
        f"Left: how many decisions lose so much. Right: what they make up of the error rate. {facts}",
    )


def _explanation(worst: Sequence[WorstDecision]) -> str:
    if not worst:
        return "No decision cost anything."
    return (
        "The light checkers are on roll and move to the lower right. Losses are in millipoints. Below the "
        "boards stand a GNUbg ID and an XGID, to look at the position elsewhere."
    )


def _decision(number: int, decision: WorstDecision) -> Iterator[str]:
    roll = "{}{}".format(*decision.roll)
    line = "" if decision.line is None else f", line {decision.line}"
    yield f"<h3>{number}. Rolled {roll}: loses {_loss(decision)}</h3>"
    yield f"<p>{decision.class_name.capitalize()}; {escape(decision.path)}{line}.</p>"
    yield '<div class="boards">'
    yield _board(decision, decision.played, f"Played: {_play(decision.played)}")
    if decision.best:
        yield _board(decision, decision.best[0], f"Best: {_play(decision.best[0])}")
    yield "</div>"
    yield _plays_table(decision)
    state = decision.state
    gnubg = f"{gnubg_id(decision.position)}:{match_id(state)}"
    yield f"<pre>{escape(gnubg)}\n{escape(xgid(decision.position, state))}</pre>"


def _board(decision: WorstDecision, play: JudgedPlay, caption: str) -> str:
    drawing = svg_diagram(decision.position, decision.state, play.moves, title=caption)
    return f"<figure>\n{drawing}<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _plays_table(decision: WorstDecision) -> str:
    rows = [(play, play == decision.played) for play in decision.listed]
    if not decision.is_listed:
        rows.append((decision.played, True))
    lines = []
    for play, is_played in rows:
        loss = _loss(decision) if is_played else f"{play.loss:.1f}"
        name = f"<strong>{escape(_play(play))}</strong> (played)" if is_played else escape(_play(play))
        lines.append(f"<tr><td>{loss}</td><td>{name}</td></tr>")
    body = "\n".join(lines)
    heads = '<th scope="col">loses</th><th scope="col">play</th>'
    return f'<table class="terms">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>'


def _loss(decision: WorstDecision) -> str:
    """What the play lost; a play that is not listed may have lost more."""
    return f"{'' if decision.is_listed else 'at least '}{decision.played.loss:.1f}"


def _play(play: JudgedPlay) -> str:
    return play.notation or _DANCE


def _with_error(rate: ErrorRate) -> str:
    return f"{rate.er:.2f}" if isnan(rate.se) else f"{rate.er:.2f}{_SPACE}±{_SPACE}{rate.se:.2f}"


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
