"""Commands that learn: sample, fit, bootstrap, report and train-phase-net."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motif.analysis.judge import evaluator_of
from motif.cli.interrupts import resumable
from motif.cli.options import (
    ClusterOption,
    JobsOption,
    JsonOption,
    SeedOption,
    Settings,
    SeveralSources,
    argument,
    checked_seed,
    command,
    complete_preset,
    file_option,
    html_option,
    option,
    picture_option,
    weights_name,
    weights_option,
)
from motif.cli.printing import error_text, note, print_table, printed_json, say, tell
from motif.runtime.errors import SettingError
from motif.runtime.files import check_apart
from motif.runtime.frames import Record
from motif.runtime.layout import counted
from motif.runtime.parallel import working_on

if TYPE_CHECKING:
    from motif.learning.fit import FittedWeights
    from motif.learning.fit_settings import FitSettings
    from motif.learning.version_summary import VersionSummary
    from motif.phase_net.phase_settings import PhaseNetSettings
    from motif.phase_net.phase_training import FinalGames
    from motif.reports.run_report import RunReport
    from motif.sampling.sample import SampleSettings


@command(
    "sample --out runs/try --games 100 --trials 36",
    "sample --out runs/taught --games 100 --label wildbg",
    "sample --out runs/real --from matches/ --rate 0.2 --label latest@2",
    "sample --out runs/rare --games 1000 --starts FILE --noise 0.1",
    cls=SeveralSources,
)
def sample(
    out: Annotated[Path, option("Folder of the dataset to write.", "DIR")],
    settings: Annotated["SampleSettings", Settings("motif.sampling.sample")],
    recorded: Annotated[
        list[Path] | None,
        option("Match files or folders to sample from, instead of self-play.", "FILE...", name="--from"),
    ] = None,
    starts: Annotated[
        str | None,
        option(
            "File of positions, one per line, at which the games of self-play begin in turn; - is standard "
            "input.",
            "FILE",
            show_default="the starting position",
        ),
    ] = None,
    resume: Annotated[bool, option("Continue an interrupted sample.")] = False,
    json: JsonOption = False,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Sample positions from self-play or from recorded games.

    Rollouts label each position with probabilities and an equity.  With --label, the labels come from another
    player or, for recorded games, from the outcomes of the games.
    """
    from motif.analysis.batch_files import read_positions
    from motif.sampling.recorded_games import read_games
    from motif.sampling.sample import sample as make_samples

    evaluator_of(settings.player)
    games = read_games(recorded) if recorded else []
    boards = None if starts is None else read_positions(starts)
    if not (settings.is_rolled_out or settings.is_by_outcome):
        evaluator_of(settings.label)
    settings.check_effects()
    if not games:
        if not settings.games:
            raise SettingError("--games must be at least 1, not 0; give it, or matches in --from")
        settings.check()
    with resumable("continue with the same command and --resume"), working_on(cluster):
        result = make_samples(settings, out, recorded=games, starts=boards, resume=resume, jobs=jobs)
    facts = result.to_dict()
    if printed_json(json, facts):
        return
    by = "outcome" if settings.is_by_outcome else settings.label
    labels = f"{counted(result.trials, 'trial')} each" if settings.is_rolled_out else f"labelled by {by}"
    say(f"{counted(result.positions, 'position')} of {counted(result.games, 'game')} in {out}, {labels}")
    rate = f"{facts['games_per_second']:.1f}"
    say(f"{result.seconds:.1f} s" + (f", {rate} games per second" if float(rate) else ""))


@dataclass(frozen=True)
class FitOutputs:
    """Name and origin of the weights, and other files to write."""

    name: Annotated[str | None, option("Name of the weights.", show_default="the name of --out")] = None
    version: Annotated[int, option("Version of the weights.", min=0, hidden=True)] = 0
    parent: Annotated[
        str | None, option("Player whose rollouts labelled the samples.", "NAME", hidden=True)
    ] = None
    start: Annotated[
        str | None,
        option("Weights to start from, with the same number of hidden units.", "NAME", hidden=True),
    ] = None
    levels: Annotated[
        str | None,
        option("Player that sets the mean of the labels of each decision.", "PLAYER", hidden=True),
    ] = None
    plot: Annotated[Path | None, picture_option("Plot of the error by pass")] = None
    term_table: Annotated[
        Path | None,
        file_option("Table of terms with standard errors to write, NAME.parquet.", ".parquet", hidden=True),
    ] = None


_RARE = ("terms", "backgammons", "ranking", "equity_ridge", "bearoff", "tolerance")
"""Settings whose options are hidden, because they belong in a --config file."""


@command("fit runs/try --out runs/try.yaml --plot runs/try.png")
def fit(
    context: typer.Context,
    folders: Annotated[list[Path], argument("Datasets made by `motif sample`.", "DIR...")],
    out: Annotated[Path, weights_option("Weight file to write, NAME.yaml.")],
    settings: Annotated[
        "FitSettings", Settings("motif.learning.fit_settings", without=("prune",), hidden=_RARE)
    ],
    *,
    config: Annotated[
        Path | None, option("YAML file of settings (the fields of motif.FitSettings); options override it.")
    ] = None,
    prune: Annotated[bool, option("Remove insignificant pairs and fit again.")] = False,
    prune_z: Annotated[
        float | None,
        option(
            "With --prune: minimum weight of a pair to keep, in standard errors.",
            "Z",
            show_default="2 with --prune",
            hidden=True,
        ),
    ] = None,
    outputs: Annotated[FitOutputs, Settings()],
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Fit weights to one dataset, or to several datasets pooled.

    Further options, each with two dashes: start (weights to continue from), levels (the player that sets the
    mean label of each decision), terms and backgammons (which pairs to fit), ranking (weight of errors
    between plays), equity-ridge, bearoff (play with the tables), tolerance (early stop), prune-z (limit of
    prune), term-table (standard errors), version and parent (origin of the weights).  See
    docs/how-to/files.md in motif's source, and docs/how-to/terms.md in motif's source.
    """
    from motif.analysis.term_report import with_words
    from motif.evaluators.known_players import weights_called
    from motif.learning.fit import fit_dataset
    from motif.parameters.named_sets import check_found

    check_apart([config, outputs.start, outputs.levels], out)
    if config is not None:
        settings = _configured(config, settings, context)
    settings = _pruned(settings, prune, prune_z)
    settings.check()
    settings.check_effects()
    check_found(settings.parameters, out.parent)
    fitted = fit_dataset(
        folders,
        settings,
        name=outputs.name or weights_name(out),
        version=outputs.version,
        parent=outputs.parent,
        start=None if outputs.start is None else weights_called(outputs.start),
        levels=None if outputs.levels is None else evaluator_of(outputs.levels),
        term_table=outputs.term_table,
        jobs=jobs,
    )
    with_words(fitted.weights).save(out)
    for line in fitted.warnings:
        note(line)
    if not printed_json(json, fitted.to_dict()):
        _print_fit(fitted, out)
    if outputs.plot is not None:
        from motif.reports.convergence import plot_convergence

        plot_convergence(fitted.history_rows(), outputs.plot)


def _pruned(settings: "FitSettings", prune: bool, prune_z: float | None) -> "FitSettings":
    """Return the settings with the options --prune and --prune-z."""
    from motif.fitting.solvers import PRUNE_Z
    from motif.learning.fit_settings import check_size

    check_size("prune_z", prune_z)
    if not prune and prune_z is None:
        return settings
    return replace(settings, prune=PRUNE_Z if prune_z is None else prune_z)


def _configured(config: Path, settings: "FitSettings", context: typer.Context) -> "FitSettings":
    """Return the settings of a file, overridden by the options given."""
    from motif.learning.bootstrap_config import read_fit_settings

    given = {
        name: value
        for name, value in vars(settings).items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return replace(read_fit_settings(config), **given)


def _print_fit(fitted: "FittedWeights", out: Path) -> None:
    from motif.learning.label_noise import LEVELS_UNKNOWN, NOT_KNOWN

    heads = fitted.head_figures()
    columns = (
        "head", "terms", "RMSE training", "validation", "label noise", "without noise", "passes", "stopped",
    )  # fmt: skip
    print_table(columns, [_head_cells(head, of) for head, of in heads.items()])
    for label, losses in (
        ("choice error in millipoints per validation decision, by the labels", fitted.choice_error),
        ("before pruning", fitted.unpruned_choice_error),
    ):
        if losses:
            say(f"{label}: {', '.join(f'{name} {_choice(error)}' for name, error in losses.items())}")
    if any(of["label_noise"] is None and of["rmse_validation"] is not None for of in heads.values()):
        why = LEVELS_UNKNOWN if "levels" in fitted.weights.fit else NOT_KNOWN
        say(f"label noise: {why[0].lower()}{why[1:]}")
    method = fitted.weights.fit["method"]
    say(f"{out}: {counted(fitted.samples, 'position')} fitted in {fitted.seconds:.1f} s by {method}")


def _choice(error: float | None) -> str:
    """Return a choice error, in points, as millipoints; an empty text for None."""
    from motif.board.marks import MILLIPOINTS

    return "" if error is None else f"{MILLIPOINTS * error:.1f}"


def _head_cells(head: str, facts: Record) -> list[str]:
    """Return a row of the table of heads, with figures before and after pruning."""
    ways = [of for of in (facts.get("before_pruning"), facts) if of]
    measured = [[f"{of['terms']:,}" for of in ways]]
    measured += [[error_text(of[name]) for of in ways] for name in ("rmse_train", "rmse_validation")]
    measured += [[error_text(facts.get(name))] for name in ("label_noise", "rmse_without_noise")]
    cells = (" -> ".join(dict.fromkeys(filter(None, values))) for values in measured)
    return [head, *cells, str(facts["sweeps"]), facts["stopped"]]


@command("bootstrap --out runs/demo --preset demo")
def bootstrap(
    out: Annotated[Path, option("Folder of the run, such as runs/NAME.", "DIR")],
    config_file: Annotated[
        Path | None, option("YAML file with the settings of the run, instead of --preset.", name="--config")
    ] = None,
    preset: Annotated[
        str | None,
        option(
            "Preset settings: demo, classic or strong.", show_default="demo", autocompletion=complete_preset
        ),
    ] = None,
    json: JsonOption = False,
    seed: Annotated[
        int | None, option("Random seed.", callback=checked_seed, show_default="as in the settings")
    ] = None,
    versions: Annotated[
        int | None, option("Number of versions after which to stop.", min=1, show_default="all")
    ] = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Learn from scratch: sample, fit, repeat.

    Each version plays the games for the next version and labels their positions.  The same command continues
    an interrupted run.  To add versions to a finished run, append them to its --config file and run the
    command again.
    """
    from motif.analysis.term_report import with_words
    from motif.benchmarks.benchmark_files import shipped_lines
    from motif.learning.bootstrap_config import configured, with_seed
    from motif.learning.bootstrap_run import run_bootstrap
    from motif.reports.run_report import draw_run, drawn_beside

    config = with_seed(configured(preset, config_file), seed)
    with resumable("the same command continues"), working_on(cluster), drawn_beside() as draw:
        summaries = run_bootstrap(
            out, config, versions=versions, jobs=jobs, tell=tell, on_version=draw, finish=with_words
        )
        draw_run(out, benchmarks=shipped_lines(), jobs=jobs, tell=tell)
    if printed_json(json, {"versions": [summary.to_dict() for summary in summaries]}):
        return
    _print_summaries(summaries, out)


def _print_summaries(summaries: "Sequence[VersionSummary]", out: Path) -> None:
    rows = [
        (
            summary.name,
            f"{summary.positions:,}",
            f"{summary.seconds:.0f}",
            error_text(summary.rmse_validation),
            _without_noise(summary),
            _choice(summary.choice_error.get("all")),
            f"{summary.ppg_vs_previous:+z.3f} ± {summary.ppg_vs_previous_se:.3f}",
            f"{summary.ppg_vs_pubeval:+z.3f} ± {summary.ppg_se:.3f}",
        )
        for summary in summaries
    ]
    titles = (
        "version", "positions", "seconds", "RMSE validation", "without noise", "choice error",
        "against the previous", "against pubeval",
    )  # fmt: skip
    print_table(titles, rows)
    say(
        "RMSE validation: of the win probability; without noise: of the equity (or the win probability, "
        "if no equity is fitted) after removing label noise; each version has its own positions"
    )
    say("choice error: millipoints per validation decision, by the labels")
    say("against: points per game ± standard error; the first version plays against the start player")
    say(f"weights: {', '.join(str(out / f'v{k}' / 'weights.yaml') for k in range(len(summaries)))}")


def _without_noise(summary: "VersionSummary") -> str:
    """Return the main error of a version without label noise; an empty text if unknown."""
    errors = summary.validation_errors
    error = errors.get("equity", errors.get("win"))
    return error_text(None if error is None else error.without_noise)


@command(
    "train-phase-net --out runs/phase-net",
    "train-phase-net --out b --stage 2 --start a.onnx --opponent simple",
)
def train_phase_net(
    out: Annotated[Path, option("Folder to write, new or empty.", "DIR")],
    settings: Annotated[
        "PhaseNetSettings", Settings("motif.phase_net.phase_settings", without=("batch", "patience", "gain"))
    ],
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Train a neural net on the phase heuristic.

    Stage 1 trains the net on the heuristic's scores, stage 2 on the outcomes of games that best-of-four plays
    against itself or other players.  The nets after the two stages are DIR/pretrained.onnx and
    DIR/refined.onnx, which play as onnx:DIR/NAME.onnx.  Each net plays games against random, phase, simple
    and the opponents.  Shows their results, and the mean and variance of the difference between each net and
    the heuristic.
    """
    from motif.phase_net import train_phase_net as train
    from motif.reports.convergence import draw_training

    with resumable("the same command starts again"):
        training = train(out, settings, jobs=jobs, tell=tell)
        draw_training(training, out)
    if printed_json(json, training.to_dict()):
        return
    titles = ("player", "against", "games won", "points per game")
    print_table(titles, [_match_cells(match) for match in training.matches], left=2)
    rows = [
        (name, f"{of.mean:+z.4f}", f"{of.variance:.6f}", f"{of.mean_size:.4f}", f"{of.boards:,}")
        for name, of in training.difference_to_heuristic.items()
    ]
    print_table(("net", "net minus heuristic", "variance", "size", "boards of random games"), rows)
    second = training.stage_2
    kept = (
        "" if second is None
        else f"; refined is round {second.chosen_round} of {len(second.rounds)} ({second.stopped})"
    )  # fmt: skip
    say(f"± standard error{kept}, {training.seconds:.0f} s in total")
    say(f"play it as the player onnx:{out / ('pretrained.onnx' if second is None else 'refined.onnx')}")


def _match_cells(games: "FinalGames") -> tuple[str, ...]:
    it = games.result
    share = f"{100 * it.win_share:.1f} ± {100 * it.win_share_se:.1f} %"
    return games.player, games.opponent, share, f"{it.ppg:+z.3f} ± {it.ppg_se:.3f}"


_TERMS_ELSEWHERE = "use `motif terms WEIGHTS` for a weight file"


@command("report runs/demo", "report runs/demo --benchmark data/bench/race.bm.gz --worst 5")
def report(
    folder: Annotated[Path, argument("Folder of a run.", "RUN")],
    benchmark: Annotated[
        list[Path] | None,
        option(
            "Benchmark file to measure the versions on; repeatable.",
            show_default="data/bench in motif's source",
        ),
    ] = None,
    worst: Annotated[
        int, option("Number of worst decisions of the last version to show.", min=0, max=1000)
    ] = 10,
    top: Annotated[int, option("Number of terms to show.", min=1)] = 20,
    html: Annotated[Path | None, html_option(show_default="RUN/report.html")] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Write the report of a run.

    The report shows the course of the run, the strength of each version, the most important terms, the worst
    decisions of the last version on the benchmark files, and what to try next.
    """
    if not folder.is_dir():
        raise SettingError(f"{str(folder)!r} is not the folder of a run; {_TERMS_ELSEWHERE}")
    from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
    from motif.reports.run_report import draw_run

    check_apart(benchmark or (), html)
    lines = [read_benchmark(path) for path in dict.fromkeys(benchmark)] if benchmark else shipped_lines()
    drawn = draw_run(folder, html, benchmarks=lines, worst=worst, top=top, seed=seed, jobs=jobs, tell=tell)
    if printed_json(json, drawn.to_dict()):
        return
    _print_versions(drawn)
    print(drawn.page)


def _print_versions(drawn: "RunReport") -> None:
    titles = ["version", "positions", "error", "v PubEval", "v previous", "choice error"]
    errors = {} if drawn.benchmark is None else drawn.benchmark.rows()
    rows = [
        (
            one.name,
            f"{one.positions:,}",
            _without_noise(one),
            f"{one.ppg_vs_pubeval:+z.3f} ± {one.ppg_se:.3f}",
            f"{one.ppg_vs_previous:+z.3f} ± {one.ppg_vs_previous_se:.3f}",
            _choice(one.choice_error.get("all")),
            *(f"{of[version].er:.1f} ± {of[version].se:.1f}" for of in errors.values()),
        )
        for version, one in enumerate(drawn.run.summaries)
    ]
    print_table([*titles, *errors], rows)
    say("error: of the equity (or the win probability, if no equity is fitted) without label noise")
    say("v: points per game; choice error (by the labels) and benchmark files: millipoints per decision")
    say("± is one standard error")
