"""The command calibrate."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    check_target,
    evaluator_of,
    example,
    json_line,
    print_table,
)
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    from motif.fitting.isotonic import Change
    from motif.learning.recalibration import Calibration, Measured


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    lines = (
        "motif calibrate runs/try --player bras --out bras-calibrated.yaml --plot bras.png",
        "motif evaluate 4HPwATDgc/ABMA --player bras-calibrated.yaml",
    )
    app.command(epilog=example(*lines))(calibrate)


def calibrate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset made by sample.")],
    player: PlayerOption = DEFAULT_PLAYER,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the player's weights, calibrated: NAME.yaml."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw chances before and after, to a PNG or SVG."),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", metavar="SHARE", help="Share of the games to fit on.")
    ] = 0.5,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Make the win chances of a player agree with rollouts.

    For each class of positions a rising curve from the chance that he states to the share of rollouts
    won is fitted to some of the games. The Brier score and the log-loss, before and after, are those on
    the other games; differences are after less before, with their standard errors over games. The curve
    rises: two plays of one class that the win chance ranks keep their order.
    """
    from motif.learning.recalibration import ALL, calibrated_weights, fitted_to, weights_behind
    from motif.learning.recalibration import calibrate as make_calibration
    from motif.reports.style import check_picture

    for target in filter(None, (out, plot)):
        check_target(target)
    if out is not None and out.suffix not in (".yaml", ".yml"):
        raise SettingError(f"--out {out}: a weight file's name must end in .yaml or .yml")
    if plot is not None:
        check_picture(plot)
    evaluator = evaluator_of(player)
    if out is not None:
        weights_behind(evaluator)
    found = make_calibration(folder, evaluator, share=share, seed=seed, jobs=jobs)
    seen = fitted_to(evaluator, folder)
    if out is not None:
        calibrated_weights(evaluator, found, out.stem).save(out)
    if plot is not None:
        from motif.reports.calibration_plots import plot_recalibration

        plot_recalibration(found, player, plot)
    if json:
        print(json_line(_record(found, player) | {"seen": seen, "files": _files(out, plot)}))
        return
    _print_groups(found)
    whole = found.groups[ALL]
    print(
        f"fitted on {found.facts['positions']:,} positions of {found.facts['games']:,} games, measured on "
        f"{whole.positions:,} of {whole.games:,} others"
    )
    print(_verdict(whole.log_loss))
    if seen:
        print(f"{player} was itself fitted to this dataset: games that it has not seen tell more")
    for path in filter(None, (out, plot)):
        print(path)


def _files(out: Path | None, plot: Path | None) -> dict[str, str | None]:
    return {"weights": None if out is None else str(out), "plot": None if plot is None else str(plot)}


def _record(found: "Calibration", player: str) -> dict[str, Any]:
    from motif.learning.recalibration import ALL

    def scores(name: str) -> dict[str, Any]:
        changes = {group: asdict(getattr(of, name)) for group, of in found.groups.items()}
        return {**changes.pop(ALL), "classes": changes}

    whole = found.groups[ALL]
    return {
        "player": player,
        "brier": scores("brier"),
        "log_loss": scores("log_loss"),
        "fitted": {"positions": found.facts["positions"], "games": found.facts["games"]},
        "measured": {
            "positions": whole.positions,
            "games": whole.games,
            "classes": {
                name: {"positions": of.positions, "games": of.games}
                for name, of in found.groups.items()
                if name != ALL
            },
        },
        "knots": {name: rows.tolist() for name, rows in found.knots.items()},
    }


def _print_groups(found: "Calibration") -> None:
    columns = ("class", "positions", "games", "knots", "log-loss", "after", "difference", "Brier", "after")
    print_table(
        (*columns, "difference"), [_cells(name, of, found.knots) for name, of in found.groups.items()]
    )


def _cells(name: str, measured: "Measured", knots: Mapping[str, Any]) -> list[str]:
    counts = f"{measured.positions:,}", f"{measured.games:,}", str(len(knots[name])) if name in knots else ""
    return [name, *counts, *_change_cells(measured.log_loss), *_change_cells(measured.brier)]


def _change_cells(of: "Change") -> tuple[str, str, str]:
    return f"{of.before:.4f}", f"{of.after:.4f}", f"{of.difference:+.4f} ± {of.se:.4f}"


def _verdict(log_loss: "Change") -> str:
    if log_loss.clear:
        return "a clear gain: the log-loss falls by more than its standard error"
    return "no clear gain: the log-loss does not fall by more than its standard error"
