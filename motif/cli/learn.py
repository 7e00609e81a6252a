"""Commands that learn: sample, fit, bootstrap."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    ClusterOption,
    CutOption,
    JobsOption,
    JsonOption,
    SeedOption,
    StaticOption,
    StopAtBearoffOption,
    StopAtRaceOption,
    checked_seed,
    example,
    json_line,
    print_table,
    static_evaluator,
    tell,
)
from motif.cli.interruption import resumable
from motif.runtime.errors import SettingError
from motif.runtime.parallel import working_on


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif sample --out runs/try --games 100 --trials 36"))(sample)
    app.command(epilog=example("motif fit runs/try --out runs/try.yaml --plot runs/try.png"))(fit)
    app.command(epilog=example("motif bootstrap --out runs/demo --preset demo"))(bootstrap)


def sample(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the dataset.")],
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games of self-play.")],
    trials: Annotated[int, typer.Option("--trials", metavar="T", help="Rollouts that label each position.")],
    player: StaticOption = DEFAULT_PLAYER,
    decide: Annotated[
        Literal["evaluator", "rollout"],
        typer.Option("--decide", help="Who chooses the plays: the evaluator, or rollouts of each play."),
    ] = "evaluator",
    candidates: Annotated[
        int, typer.Option("--candidates", metavar="K", help="Plays recorded of a decision at most; 0: all.")
    ] = 0,
    rate: Annotated[
        float, typer.Option("--rate", metavar="R", help="Share of the decisions recorded.")
    ] = 1.0,
    crashed_rate: Annotated[
        float | None,
        typer.Option("--crashed-rate", metavar="R", help="The same for crashed positions, which are few."),
    ] = None,
    race_rate: Annotated[
        float | None, typer.Option("--race-rate", metavar="R", help="The same for races.")
    ] = None,
    noise: Annotated[
        float, typer.Option("--noise", metavar="SHARE", help="Share of the plays that are drawn by lot.")
    ] = 0.0,
    cut: CutOption = 0,
    stop_at_race: StopAtRaceOption = False,
    stop_at_bearoff: StopAtBearoffOption = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a dataset that was interrupted.")
    ] = False,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Sample positions from self-play.

    Rollouts label each position with chances and an equity.
    """
    from motif.sampling import SampleSettings
    from motif.sampling import sample as make_samples

    settings = SampleSettings(
        player=player,
        games=games,
        trials=trials,
        decide=decide,
        candidates=candidates,
        rate=rate,
        crashed_rate=crashed_rate,
        race_rate=race_rate,
        noise=noise,
        cut=cut,
        stop_at_race=stop_at_race,
        stop_at_bearoff=stop_at_bearoff,
        seed=seed,
    )
    settings.check()
    static_evaluator(player)
    with resumable("the same command with --resume goes on"), working_on(cluster):
        result = make_samples(settings, out, resume=resume, jobs=jobs)
    facts = result.as_dict()
    if json:
        print(json_line(facts))
        return
    print(f"{result.positions} positions of {result.games} games in {out}, {result.trials} trials each")
    print(f"{result.seconds:.1f} s, {facts['games_per_second']:.1f} games a second")


def fit(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Datasets made by sample.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The weight file, NAME.yaml.")],
    method: Annotated[
        Literal["coordinate", "least-squares", "gauss-newton"], typer.Option("--method", help="The solver.")
    ] = "gauss-newton",
    parameters: Annotated[
        str, typer.Option("--parameters", metavar="SET", help="Measured: motif, keith, bras or phase.")
    ] = "motif",
    terms: Annotated[
        Literal["pairs", "linear"], typer.Option("--terms", help="Weights for pairs too, or for single ones.")
    ] = "pairs",
    heads: Annotated[
        Literal["all", "win"],
        typer.Option("--heads", help="All chances and equity, or the win chance alone."),
    ] = "all",
    ranking: Annotated[
        float | None,
        typer.Option("--ranking", metavar="BETA", help="How much the order of a decision's plays counts."),
    ] = None,
    ridge: Annotated[
        float, typer.Option("--ridge", metavar="R", help="Penalty on large weights of chances.")
    ] = 5.0,
    equity_ridge: Annotated[
        float, typer.Option("--equity-ridge", metavar="R", help="Penalty on large weights of equity heads.")
    ] = 50.0,
    validation: Annotated[
        float, typer.Option("--validation", metavar="SHARE", help="Share of the games held out.")
    ] = 0.1,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the weights; by default FILE's.")
    ] = None,
    version: Annotated[
        int, typer.Option("--version", metavar="N", min=0, help="Version of the weights.")
    ] = 0,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="NAME", help="Whose rollouts labelled the samples.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw how the error fell, to a PNG or SVG.")
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Fit weights to datasets.

    Several are pooled.
    """
    from motif.bootstrap.dataset_fit import FitSettings, fit_dataset
    from motif.reports.style import check_picture

    settings = FitSettings(
        method=method,
        parameters=parameters,
        terms=terms,
        heads=heads,
        ranking=ranking,
        ridge=ridge,
        equity_ridge=equity_ridge,
        validation=validation,
        seed=seed,
    )
    settings.check()
    for target in filter(None, (out, plot)):
        _check_target(target)
    if plot is not None:
        check_picture(plot)
    fitted = fit_dataset(folders, settings, name=name or out.stem, version=version, parent=parent, jobs=jobs)
    fitted.weights.save(out)
    if plot is not None:
        from motif.reports.convergence import plot_convergence

        plot_convergence(fitted.history_rows(), plot)
    facts = fitted.as_dict()
    if json:
        print(json_line(facts))
        return
    rows = [
        (head, *map(_error, (of["rmse_train"], of["rmse_validation"])), str(of["sweeps"]), of["stopped"])
        for head, of in facts["heads"].items()
    ]
    print_table(("head", "RMSE training", "validation", "sweeps", "stopped"), rows)
    print(f"{out}: fitted to {facts['samples']} positions in {facts['seconds']:.1f} s by {method}")


def bootstrap(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run, runs/NAME.")],
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="A config.yaml of one's own, instead of a preset."),
    ] = None,
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="demo, classic or standard.")
    ] = "demo",
    json: JsonOption = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", callback=checked_seed, help="Another seed than the preset's."),
    ] = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Learn from nothing: sample, fit, and again.

    Each version plays and labels the next one's samples.  A run that was stopped goes on where it was.
    """
    from motif.bootstrap import load_config, load_preset, run_bootstrap, with_seed
    from motif.reports.run_report import draw_run, draw_version

    config = with_seed(load_preset(preset) if config_file is None else load_config(config_file), seed)
    with resumable("the same command goes on"), working_on(cluster):
        versions = run_bootstrap(out, config, jobs=jobs, tell=tell, on_version=draw_version)
        draw_run(out)
    if json:
        print(json_line({"versions": versions}))
        return
    rows = [
        (
            summary["name"],
            str(summary["positions"]),
            f"{summary['seconds']:.0f}",
            _error(summary["rmse_validation"]),
            f"{summary['ppg_vs_previous']:+.3f} ± {summary['ppg_vs_previous_se']:.3f}",
            f"{summary['ppg_vs_pubeval']:+.3f} ± {summary['ppg_se']:.3f}",
        )
        for summary in versions
    ]
    titles = (
        "version",
        "positions",
        "seconds",
        "RMSE validation",
        "against the one before",
        "against pubeval",
    )
    print_table(titles, rows)
    print("points a game ± standard error; version zero is compared with the start player")
    print(f"weights: {', '.join(str(out / f'v{k}' / 'weights.yaml') for k in range(len(versions)))}")


def _check_target(path: Path) -> None:
    """Fail before the work, not after it, when `path` cannot be written."""
    if path.is_dir():
        raise SettingError(f"{path}: is a folder, not a file to write")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise SettingError(f"{path}: cannot be written: {parent} is not a folder open to writing")


def _error(rmse: float | None) -> str:
    return "" if rmse is None else f"{rmse:.4f}"
