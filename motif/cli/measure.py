"""Commands that measure players and speed, and precompile kernels: benchmark, speed, warm."""

import io
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, TypeVar

from motif.cli.interrupts import resumable
from motif.cli.options import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    Settings,
    SeveralSources,
    StaticOption,
    argument,
    command,
    html_option,
    option,
    player_option,
)
from motif.cli.printing import note, print_table, printed_json, say
from motif.runtime.errors import SettingError
from motif.runtime.files import check_apart, check_target
from motif.runtime.layout import counted, percent, plus_minus

if TYPE_CHECKING:
    from motif.benchmarks.benchmark_making import MakeSettings
    from motif.benchmarks.choices import ErrorRates, WorstDecision
    from motif.benchmarks.losses import ByGroup, PairedRate
    from motif.board.packed import Board

_USUALLY_SHOWN, _MAX_SHOWN = 20, 1000
"""Default and maximum number of worst decisions on a page."""


@command(
    "benchmark data/bench/*.bm.gz --player pubeval",
    "benchmark data/bench/contact.bm.gz --worst 20 --html worst.html",
    "benchmark runs/strong/v2/samples --player latest --versus motif-v1",
)
def benchmark(
    files: Annotated[
        list[str],
        argument("GNUbg benchmark files (also .gz), or datasets made by `motif sample`.", "FILE..."),
    ],
    player: PlayerOption = DEFAULT_PLAYER,
    versus: Annotated[str | None, player_option("Player to compare with, decision by decision.")] = None,
    worst: Annotated[int | None, option("Number of worst decisions to show.", min=1, max=_MAX_SHOWN)] = None,
    html: Annotated[
        Path | None, html_option(f"HTML page of the worst decisions to write; {_USUALLY_SHOWN} by default.")
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure the error rate of a player.

    Shows the average loss in millipoints per decision for each file, for each class of position and for all
    decisions, and the distribution of losses.  data/bench in motif's source has benchmark files.

    In a dataset, each decision with at least two recorded plays counts.  The player chooses among these by
    its evaluation of the resulting positions, and the labels determine the loss; the class is that of the
    position after the best play.  Standard errors are clustered by game.  Labels are noisy, so compare
    players on the same dataset (--versus) rather than rely on the error rate itself.  Weights have an
    advantage on the dataset they were fitted to.
    """
    from motif.benchmarks.benchmark_files import read_benchmark
    from motif.benchmarks.choices import benchmark_players, dataset_decisions
    from motif.learning.recalibration import fitted_to
    from motif.players import load
    from motif.sampling.dataset import in_one_pool, read_dataset, without_copies
    from motif.sampling.dataset_files import read_manifest

    check_apart(files, html)
    paths = list({Path(path).absolute(): path for path in files}.values())
    shown = worst or (_USUALLY_SHOWN if html else 0)
    of_datasets = _are_datasets(paths)
    if of_datasets and shown:
        raise SettingError("--worst and --html: a dataset does not contain the positions before its plays")
    players = [load(name) for name in (player, versus) if name is not None]
    benchmarks = [read_benchmark(path) for path in paths if not of_datasets]
    data = without_copies({str(path): read_dataset(path) for path in paths if of_datasets})
    datasets = list(map(dataset_decisions, data, in_one_pool([*data.values()])))
    unused = sum(file.record.cube_decisions for file in benchmarks if file.record)
    result = benchmark_players(players, benchmarks, datasets, worst=shown, seed=seed, jobs=jobs)
    if html is not None:
        from motif.reports.worst_page import write_worst_page

        write_worst_page(player, result, result.worst, html)
    compared = {} if versus is None else {"versus": versus}
    for one, path in product(players, paths if of_datasets else ()):
        if fitted_to(one.evaluator, read_manifest(Path(path)).fingerprints):
            note(f"{one.name} was fitted to {path}; held-out games are a better test")
    record = {**result.to_dict(), "player": player, "cube_decisions": unused, **compared}
    if not shown:
        del record["worst"]
    if printed_json(json, record):
        return
    _print_losses(player, result, unused, of_datasets)
    if versus is not None and result.versus is not None:
        _print_paired(player, versus, result.versus)
    if html is not None:
        print(html)
    elif shown:
        _print_worst(result.worst)


@command(
    "benchmark make own.bm.gz --from runs/try --decisions 200",
    "benchmark make own.bm --from match.mat --rollers latest,gnubg",
    cls=SeveralSources,
)
def benchmark_make(
    out: Annotated[Path, argument("Benchmark file to write, NAME.bm or NAME.bm.gz.", "OUT")],
    settings: Annotated["MakeSettings", Settings("motif.benchmarks.benchmark_making")],
    sources: Annotated[
        list[Path],
        option(
            "Sources of positions: datasets made by `motif sample`, match files, folders of match files.",
            "DATASET|FILE...",
            name="--from",
        ),
    ],
    resume: Annotated[bool, option("Continue an interrupted run.")] = False,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Make a benchmark file from positions.

    Selects positions at random, and positions in which static evaluation and 2-ply lookahead choose different
    plays; each gets a random roll.  The plays chosen by the players and the next best ones are rolled out to
    the end with common random numbers, until each is either significantly worse than the best or almost as
    good.  The file has the format of the GNUbg team's benchmark, which `motif benchmark` and gnubg's tools
    read.
    """
    from motif.benchmarks.benchmark_making import make_benchmark

    if not out.name.endswith((".bm", ".bm.gz")):
        raise SettingError(f"{out}: the name of a benchmark file must end in .bm or .bm.gz")
    check_target(out)
    check_apart(sources, out)
    settings.check()
    boards = _positions(sources)
    with resumable("continue with the same command and --resume"):
        made = make_benchmark(out, boards, settings, resume=resume, jobs=jobs)
    if printed_json(json, made.to_dict()):
        return
    say(f"{made.decisions:,} decisions in {out}; static and 2-ply evaluation differ in {made.disagree:,}")
    say(f"{made.plays:,} plays rolled out in {made.trials:,} trials; {made.open:,} decisions remain open")
    if made.decisions < settings.decisions:
        note(f"there are too few positions for {settings.decisions:,} decisions")


def _positions(sources: Sequence[Path]) -> "Board":
    """Return positions before a roll, from datasets and from the plays in match files."""
    import numpy as np

    from motif.board.packed import unpack_many
    from motif.sampling.dataset import read_parts
    from motif.sampling.dataset_files import is_dataset
    from motif.sampling.recorded_games import read_games

    datasets = [source for source in sources if is_dataset(source)]
    files = [source for source in sources if source not in datasets]
    boards = [part.boards for folder in datasets for part in read_parts(folder)]
    boards += [unpack_many(game.before) for game in (read_games(files) if files else [])]
    return np.concatenate(boards)


def _are_datasets(paths: Sequence[str]) -> bool:
    """Return whether all `paths` are folders; raises `SettingError` if only some are."""
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and (others := [path for path in paths if path not in folders]):
        raise SettingError(
            f"datasets and benchmark files cannot be measured together: {folders[0]}, {others[0]}"
        )
    return bool(folders)


@command("speed --seconds 2")
def speed(
    seconds: Annotated[float, option("Seconds per measurement.", "S", min=0.01)] = 2.0,
    player: StaticOption = DEFAULT_PLAYER,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Measure games and evaluations per second.

    Each rate is measured on one core and on all cores, with the weights of --player.
    """
    from motif.benchmarks.speed import ALL_CORES
    from motif.benchmarks.speed import speed as measured
    from motif.evaluators import load_static

    rates = measured(load_static(player), seconds=seconds, jobs=jobs)
    if printed_json(json, rates):
        return
    rows = [
        (
            name.removesuffix("_per_second").replace("_", " "),
            f"{rate:,.0f}",
            f"{rates[name + ALL_CORES]:,.0f}",
        )
        for name, rate in rates.items()
        if not name.endswith(ALL_CORES)
    ]
    print_table(("per second", "one core", "all cores"), rows)


_MAX_BEST = 3
"""Number of best plays to show per decision."""
_Rate = TypeVar("_Rate")


def _print_losses(player: str, rates: "ErrorRates", cube_decisions: int, of_datasets: bool) -> None:
    """Print error rates by file, by class and for all decisions, and the distribution of losses."""
    rows = [
        (*_row(name, rate.er, rate.se, rate.decisions), f"{rate.unlisted:,}") for name, rate in _named(rates)
    ]
    print_table(("", "error rate", "standard error", "decisions", "unlisted"), rows)
    say(f"error rate: millipoints lost by {player} per decision;")
    if of_datasets:
        say("labels are noisy, so differences between players are more reliable")
    else:
        say("an unlisted play counts as the largest loss listed for its decision")
    spread = rates.distribution
    together = [*spread.at_most.values(), 1.0]
    print_table(
        ("millipoints lost", "% of decisions", "cumulative %", "% of total loss"),
        [
            (it.name, *(f"{100 * share:.1f}" for share in (it.decisions, up_to, it.lost)))
            for it, up_to in zip(spread.ranges, together, strict=True)
        ],
    )
    say(
        f"median {spread.median:.1f}, 90th percentile {spread.percentile_90:.1f}, 99th "
        f"{spread.percentile_99:.1f}, largest {spread.largest:.1f};\n"
        f"the best play is chosen in {percent(spread.best_found)} of the decisions"
    )
    if cube_decisions:
        say(f"{counted(cube_decisions, 'cube decision')}, not used")


def _print_paired(player: str, versus: str, compared: "ByGroup[PairedRate]") -> None:
    rows = [_row(name, rate.difference, rate.se, rate.decisions) for name, rate in _named(compared)]
    print_table(("", "difference", "standard error", "decisions"), rows)
    overall = compared.overall
    lost = f"{abs(overall.difference):.2f}{plus_minus(overall.se)} millipoints"
    more = "more" if overall.difference > 0 else "less"
    say(
        f"difference: error rate of {player} minus that of {versus};\n"
        f"over all decisions {player} loses {lost} {more}"
    )


def _print_worst(decisions: "Sequence[WorstDecision]") -> None:
    from motif.board.identifiers import gnubg_id

    for number, decision in enumerate(decisions, 1):
        roll = "{}{}".format(*decision.roll)
        line = "" if decision.line is None else f", line {decision.line}"
        best = " or ".join(play.notation for play in decision.best[:_MAX_BEST])
        at_least = "" if decision.is_listed else "at least "
        place = f"{decision.class_name}, {decision.path}{line}"
        say(f"\n{number}. {gnubg_id(decision.position)} {roll}  {place}")
        say(f"   {decision.played.notation} loses {at_least}{decision.played.loss:.1f}; the best is {best}")


def _named(rates: "ByGroup[_Rate]") -> Iterator[tuple[str, _Rate]]:
    """Yield the rates with the names of their table rows."""
    yield from rates.files.items()
    for name, rate in rates.classes.items():
        yield f"{name} positions", rate
    yield "all decisions", rates.overall


def _row(name: str, mean: float, se: float, decisions: int) -> tuple[str, ...]:
    return name, f"{mean:.2f}", "" if math.isnan(se) else f"{se:.2f}", f"{decisions:,}"


_START, _RACE = "4HPwATDgc/ABMA", "dPexAAB07zMAAA"
_SHORTEST = "--games 2 --seed 1"
_WARMING = (
    (
        f"hint {_START} 3 1",
        f"explain {_START} 3 1",
        f"hint {_START} 3 1 --rollout --trials 36",
        f"cube {_RACE}",
        f"cube {_RACE} --length 5 --score 1-2",
        "bearoff 0QYAAJkDAAAAAA",
        f"hint {_START} 3 1 --length 5 --score 1-2",
    ),
    (
        "sample --player latest --out {0}/samples --games 30 --trials 6 --rate 0.3 --candidates 2",
        "fit {0}/samples --out {0}/weights.yaml",
        "fit {0}/samples --out {0}/keith.yaml --parameters keith --method coordinate --heads win",
        "fit {0}/samples --out {0}/newton.yaml --parameters keith --method gauss-newton --heads win",
        "fit {0}/samples --out {0}/own.yaml --method keith --terms linear --heads win --passes 2",
        "fit {0}/samples --out {0}/rich.yaml --hidden 16 --passes 2",
        "benchmark {0}/samples --player latest",
    ),
    (
        f"rollout {_START} --trials 36",
        f"rollout {_START} 3 1 --compare --trials 36 --cut 4 --stratified",
        f"match latest pubeval {_SHORTEST}",
        f"match latest pubeval --length 1 {_SHORTEST}",
        f"evaluate {_START} --detailed",
        "play latest pubeval --length 1 --seed 1 --save {0}/match.mat",
        "analyse {0}/match.mat",
        "play latest pubeval --length 1 --tutor --seed 1",
    ),
)
"""Small commands that together compile every kernel; the commands of a list run in order."""


@command("warm")
def warm(json: JsonOption = False, jobs: JobsOption = None) -> None:
    """Precompile all kernels.

    Compiles everything that commands would compile on first use, and stores it in the user's cache folder.
    This is useful for container images, classrooms and demonstrations.
    """
    from motif.compiler.kernel_cache import cached_kernel_count, kernel_folder, kernel_folder_problem
    from motif.runtime.errors import FileError
    from motif.runtime.parallel import run_ordered
    from motif.runtime.progress import COMPILATION, SECONDS_OF_ALL, progress

    if problem := kernel_folder_problem():
        raise FileError(problem)
    note(f"compiling the kernels not cached; all of them take about {SECONDS_OF_ALL} s on two idle cores")
    COMPILATION.is_said = True
    started = time.monotonic()
    before = cached_kernel_count()
    with TemporaryDirectory() as folder, progress("compiling kernels", len(_WARMING)) as advance:
        for line, error in run_ordered(_run_lines, [(lines, folder) for lines in _WARMING], jobs):
            if error:
                raise FileError(f"motif {line}: {error}")
            advance()
    seconds, kernels = time.monotonic() - started, cached_kernel_count()
    compiled, folder_used = kernels - before, kernel_folder()
    record = {"seconds": seconds, "kernels": kernels, "compiled": compiled, "folder": folder_used}
    if not printed_json(json, record):
        say(f"{compiled} kernels compiled in {seconds:.0f} s; {kernels} are cached in {folder_used}")


def _run_lines(lines: Sequence[str], folder: str) -> tuple[str, str]:
    """Run command lines until one fails; return that line and its message, or two empty texts."""
    from motif.cli.main import main

    for line in lines:
        own = Path(folder) / lines[0].split()[0]
        own.mkdir(exist_ok=True)
        said, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(errors):
            code = main([word.format(own) for word in line.split()])
        if code:
            return line, errors.getvalue().strip() or f"exit code {code}"
    return "", ""
