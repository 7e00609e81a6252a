"""The page of a benchmark: error rates, the distribution of losses, and the worst decisions."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from motif.benchmarks.choices import ErrorRate, ErrorRates, JudgedPlay, WorstDecision
from motif.benchmarks.losses import LossDistribution
from motif.board.notation import NO_MOVE
from motif.reports.document import Picture, ShownAction, ShownDecision, drawn_picture, rendered, with_error
from motif.reports.style import BLUE, INK, SMALL, VERMILION, picture
from motif.runtime.files import write_text
from motif.runtime.layout import counted

_ROOM = 1.3
"""Length of the axis relative to the longest bar."""


def plot_losses(distribution: LossDistribution, player: str, path: Path) -> None:
    """Draw the distribution of the losses of `player`, by decisions and by total loss, to `path`.

    Raises `SettingError` for an invalid picture name, `FileError` if it cannot be written.
    """
    ranges = distribution.ranges
    with picture(path, 3.0, f"Losses of {player} per decision") as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _bars(left, [it.decisions for it in ranges], BLUE, "% of decisions")
        _bars(right, [it.lost for it in ranges], VERMILION, "% of the total loss")
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


def write_worst_page(player: str, rates: ErrorRates, worst: Sequence[WorstDecision], path: Path) -> None:
    """Write the page of the worst decisions of `player` to `path`; raises `FileError`."""
    rate = rates.overall
    rows = {**rates.files, **{f"{name} positions": of for name, of in rates.classes.items()}}
    page = rendered(
        "worst_page.html",
        f"{player}: benchmark",
        player=player,
        rate=_unbroken(rate),
        decided=counted(rate.decisions, "decision"),
        best_found=f"{100 * rates.distribution.best_found:.1f}\N{NO-BREAK SPACE}%",
        unlisted=counted(rate.unlisted, "play is", "plays are") if rate.unlisted else "",
        rates={
            name: [_unbroken(of), f"{of.decisions:,}", f"{of.unlisted:,}"]
            for name, of in {**rows, "all decisions": rate}.items()
        },
        losses=_losses_picture(rates, player),
        worst=list(map(shown_decision, worst)),
    )
    write_text(path, page)


def shown_decision(decision: WorstDecision) -> ShownDecision:
    """Return a benchmark decision for display."""
    line = "" if decision.line is None else f", line {decision.line}"
    # An unlisted play may have lost more.
    loss = f"{'' if decision.is_listed else 'at least '}{decision.played.loss:.1f}"
    choices = [
        ShownAction(f"{play.loss:.1f}", _name(play), play == decision.played) for play in decision.listed
    ]
    if not decision.is_listed:
        choices.append(ShownAction(loss, _name(decision.played), made=True))
    boards = [("Played", decision.played), *(("Best", play) for play in decision.best[:1])]
    return ShownDecision(
        "Rolled {}{}: loses {}".format(*decision.roll, loss),
        decision.position,
        decision.state,
        [(f"{what}: {_name(play)}", play.moves) for what, play in boards],
        ("loses", "play"),
        choices,
        place=f"{decision.class_name.capitalize()}; {decision.path}{line}.",
    )


def _losses_picture(rates: ErrorRates, player: str) -> Picture:
    spread = rates.distribution
    facts = (
        f"The median is {spread.median:.1f} millipoints; 90 % of the decisions lose at most "
        f"{spread.percentile_90:.1f}, 99 % at most {spread.percentile_99:.1f}; the largest loss is "
        f"{spread.largest:.1f}."
    )
    return drawn_picture(
        "Distribution of the losses",
        partial(plot_losses, spread, player),
        f"Left: share of decisions by loss. Right: share of the total loss. {facts}",
        f"Two bar charts: share of decisions and of the total loss, by millipoints lost. {facts}",
    )


def _name(play: JudgedPlay) -> str:
    return play.notation or NO_MOVE


def _unbroken(rate: ErrorRate) -> str:
    return with_error(rate.er, rate.se, 2).replace(" ", "\N{NO-BREAK SPACE}")
