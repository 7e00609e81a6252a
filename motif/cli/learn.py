"""Commands that learn: sample and fit, and bootstrap, which does both by turns.

The command that learns from nothing: sample, fit, and again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

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
    StratifiedOption,
    check_target,
    checked_seed,
    error_text,
    example,
    json_line,
    print_table,
    static_evaluator,
    tell,
)
from motif.cli.completion import complete_parameters, complete_preset
from motif.cli.interruption import resumable
from motif.runtime.parallel import working_on


def bootstrap(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run, runs/NAME.")],
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="A config.yaml of one's own, instead of a preset."),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset", metavar="NAME", help="demo, classic or strong.", autocompletion=complete_preset
        ),
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
    from motif.benchmark.benchmark_files import shipped_lines
    from motif.learning import load_config, load_preset, run_bootstrap, with_seed
    from motif.reports.run_report import draw_run, draw_version

    config = with_seed(load_preset(preset) if config_file is None else load_config(config_file), seed)
    with resumable("the same command goes on"), working_on(cluster):
        versions = run_bootstrap(out, config, jobs=jobs, tell=tell, on_version=draw_version)
        draw_run(out, benchmarks=shipped_lines(), jobs=jobs, tell=tell)
    if json:
        print(json_line({"versions": versions}))
        return
    rows = [
        (
            summary["name"],
            str(summary["positions"]),
            f"{summary['seconds']:.0f}",
            error_text(summary["rmse_validation"]),
            error_text(summary.get("choice_error", {}).get("all")),
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
        "choice error",
        "against the one before",
        "against pubeval",
    )
    print_table(titles, rows)
    print("choice error: the points that a validation decision costs by its labels")
    print("points a game ± standard error; version zero is compared with the start player")
    print(f"weights: {', '.join(str(out / f'v{k}' / 'weights.yaml') for k in range(len(versions)))}")


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
    stratified: StratifiedOption = False,
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
        stratified=stratified,
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
        str,
        typer.Option(
            "--parameters",
            metavar="SET",
            help="Measured: motif, keith, bras, phase, or a FILE.py of one's own.",
            autocompletion=complete_parameters,
        ),
    ] = "motif",
    terms: Annotated[
        Literal["pairs", "linear"], typer.Option("--terms", help="Weights for pairs too, or for single ones.")
    ] = "pairs",
    points: Annotated[
        bool, typer.Option("--points", help="Weights for the checkers on each point too.")
    ] = False,
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
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop pairs that do not earn their place, and fit again.")
    ] = False,
    prune_z: Annotated[
        float | None,
        typer.Option(
            "--prune-z",
            metavar="Z",
            help="Prune pairs nearer to 0 than this many standard errors.",
            show_default="2 with --prune",
        ),
    ] = None,
    plans: Annotated[
        bool, typer.Option("--plans", help="An equity head for each game plan too, near its class's.")
    ] = False,
    plan_shrinkage: Annotated[
        float,
        typer.Option("--plan-shrinkage", metavar="C", help="Positions that draw a plan to its class."),
    ] = 2000.0,
    plan_rows: Annotated[
        int, typer.Option("--plan-rows", metavar="N", help="Plans with fewer positions go without.")
    ] = 4000,
    bearoff: Annotated[
        bool, typer.Option("--bearoff", help="Leave what the bearoff tables cover to these, also in play.")
    ] = False,
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
    term_table: Annotated[
        Path | None,
        typer.Option("--term-table", metavar="FILE", help="Write terms and standard errors, NAME.parquet."),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Fit weights to datasets.

    Several are pooled.
    """
    from motif.fitting.solve import PRUNE_Z
    from motif.learning.fit import FitSettings, fit_dataset
    from motif.reports.style import check_picture

    settings = FitSettings(
        method=method,
        parameters=parameters,
        terms=terms,
        points=points,
        heads=heads,
        ranking=ranking,
        ridge=ridge,
        equity_ridge=equity_ridge,
        prune=PRUNE_Z if prune and prune_z is None else prune_z,
        plans=plans,
        plan_shrinkage=plan_shrinkage,
        plan_rows=plan_rows,
        bearoff=bearoff,
        validation=validation,
        seed=seed,
    )
    settings.check()
    for target in filter(None, (out, plot, term_table)):
        check_target(target)
    if plot is not None:
        check_picture(plot)
    fitted = fit_dataset(
        folders,
        settings,
        name=name or out.stem,
        version=version,
        parent=parent,
        term_table=term_table,
        jobs=jobs,
    )
    fitted.weights.save(out)
    if plot is not None:
        from motif.reports.convergence import plot_convergence

        plot_convergence(fitted.history_rows(), plot)
    facts = fitted.as_dict()
    if json:
        print(json_line(facts))
        return
    columns = ("head", "terms", "RMSE training", "validation", "sweeps", "stopped")
    print_table(columns, [_head_cells(head, of) for head, of in {**facts["heads"], **facts["plans"]}.items()])
    for label, losses in (
        ("choice error, the points that a validation decision costs by its labels", facts["choice_error"]),
        ("before pruning", facts["choice_error_before_pruning"]),
    ):
        if losses:
            print(f"{label}: {', '.join(f'{name} {error:.4f}' for name, error in losses.items())}")
    print(f"{out}: fitted to {facts['samples']} positions in {facts['seconds']:.1f} s by {method}")


def _head_cells(head: str, facts: Mapping[str, Any]) -> list[str]:
    """A row of the table of heads; what pruning changed stands there before and after."""
    ways = [of for of in (facts.get("before_pruning"), facts) if of]
    measured = [[f"{of['terms']:,}" for of in ways]]
    measured += [[error_text(of[name]) for of in ways] for name in ("rmse_train", "rmse_validation")]
    cells = (" -> ".join(dict.fromkeys(filter(None, values))) for values in measured)
    return [head, *cells, str(facts["sweeps"]), facts["stopped"]]
