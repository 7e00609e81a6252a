"""Commands that measure, and precompile: benchmark, speed, warm."""

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from motif.cli.interrupts import resumable
from motif.cli.options import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    Settings,
    StaticOption,
    command,
    option,
    player_option,
    several_values,
)
from motif.cli.printing import json_line, note, print_table, say
from motif.runtime.errors import SettingError
from motif.runtime.files import check_target

if TYPE_CHECKING:
    from motif.benchmarks.benchmark_making import MakeSettings
    from motif.benchmarks.choices import Choices, ErrorRates, WorstDecision
    from motif.benchmarks.losses import ByGroup, Losses, PairedRate
    from motif.board.packed import Board

_USUALLY_SHOWN, _MOST_SHOWN = 20, 1000
"""Decisions on a page of the worst ones."""


@command(
    "benchmark data/bench/*.bm.gz --player pubeval",
    "benchmark data/bench/contact.bm.gz --worst 20 --html worst.html",
    "benchmark runs/strong/v2/samples --player latest --versus motif-v1",
)
def benchmark(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="GNUbg benchmark files, .gz too; or datasets that motif sample made."
        ),
    ],
    player: PlayerOption = DEFAULT_PLAYER,
    versus: Annotated[
        str | None, player_option("Tell the difference to the error rate of PLAYER too.")
    ] = None,
    worst: Annotated[
        int | None, option("Show the N decisions that cost most.", min=1, max=_MOST_SHOWN)
    ] = None,
    html: Annotated[
        Path | None, option(f"Draw them as boards on a page; {_USUALLY_SHOWN} without --worst.")
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure the error rate of a player on files.

    That is how many millipoints per decision the player's choices lose: on each file, by class of
    position, and on all files together; and how the losses are spread. data/bench in motif's source has
    files to measure on.

    In a dataset, every decision with two recorded plays or more counts. The player chooses among these by
    its values of the positions after them, their labels say what the choice loses, and the class is that
    after the best play. Labels have noise: the level of such an error rate means little, differences
    between players on the same dataset much; --versus tells them, with their standard errors. Weights
    that were fitted to a dataset have an advantage on it: take another one.
    """
    from motif.benchmarks.choices import summary, worst_decisions
    from motif.benchmarks.losses import paired

    paths, names = list(dict.fromkeys(files)), [player] if versus is None else [player, versus]
    shown = worst or (_USUALLY_SHOWN if html else 0)
    measured: Sequence[Sequence[Losses]]
    decisions: list[WorstDecision] = []
    unused = 0
    if of_datasets := _are_datasets(paths):
        if shown:
            raise SettingError("--worst and --html: a dataset does not tell the positions before its plays")
        measured = _on_datasets(paths, names, jobs)
    else:
        choices, unused = _on_files(paths, names, seed, jobs)
        decisions = worst_decisions(choices[0], shown)
        measured = choices
    rates = summary(measured[0])
    compared = None if versus is None else (versus, paired(*measured))
    if json:
        record = rates.to_dict() | {"cube_decisions": unused, "player": player}
        if shown:
            record["worst"] = [decision.to_dict() for decision in decisions]
        if compared:
            record |= {"versus": compared[0], "paired": asdict(compared[1])}
        print(json_line(record))
    else:
        print_losses(player, rates, unused, of_datasets)
        if compared:
            print_paired(player, *compared)
        if shown and html is None:
            print_worst(decisions)
    if html is not None:
        from motif.reports.worst_page import write_worst_page

        write_worst_page(player, rates, decisions, html)
        if not json:
            print(html)


@command(
    "benchmark make own.bm.gz --from runs/try --decisions 200",
    "benchmark make own.bm --from match.mat --rollers latest,gnubg",
    cls=several_values("--from"),
)
def benchmark_make(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to make, NAME.bm or NAME.bm.gz.")],
    settings: Annotated["MakeSettings", Settings("motif.benchmarks.benchmark_making")],
    sources: Annotated[
        list[Path],
        option(
            "Where the positions come from: datasets that motif sample made, match files, folders of these.",
            "DATASET|FILE...",
            name="--from",
        ),
    ],
    resume: Annotated[bool, option("Continue with a run that was interrupted.")] = False,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Make a benchmark file from positions.

    Some positions are selected at random, some because 0-ply and 2-ply choose different plays there; each
    gets a random roll. The plays that the players choose, and the next best ones, are rolled out to the end
    with common random numbers, until each is certain to be worse than the best or known to be nearly as good.
    The file has the lines of the GNUbg team's benchmark: motif benchmark and gnubg's own tools read it.
    """
    from motif.benchmarks.benchmark_making import make_benchmark

    if out.suffix not in (".bm", ".gz"):
        raise SettingError(f"{out}: a benchmark file ends in .bm or .bm.gz")
    check_target(out)
    settings.check()
    boards = _positions(sources)
    with resumable("the same command with --resume goes on"):
        made = make_benchmark(out, boards, settings, resume=resume, jobs=jobs)
    if json:
        print(json_line(made.to_dict()))
        return
    say(f"{made.decisions:,} decisions in {out}, {made.disagree:,} of them where 0-ply and 2-ply disagree")
    say(f"{made.plays:,} plays rolled out, {made.trials:,} trials; {made.open:,} decisions are not settled")
    if made.decisions < settings.decisions:
        note(f"the positions do not suffice for {settings.decisions:,} decisions")


def _positions(sources: Sequence[Path]) -> "Board":
    """Positions before a roll: those of datasets, and of the plays in match files."""
    import numpy as np

    from motif.board.packed import unpack_many
    from motif.sampling import read_parts
    from motif.sampling.dataset import is_dataset
    from motif.sampling.recorded_games import read_games

    datasets = [source for source in sources if is_dataset(source)]
    files = [source for source in sources if source not in datasets]
    boards = [part.boards for folder in datasets for part in read_parts(folder)]
    boards += [unpack_many(game.before) for game in (read_games(files) if files else [])]
    return np.concatenate(boards)


def _are_datasets(paths: Sequence[str]) -> bool:
    """Whether `paths` are folders, all of them; raises `SettingError` where only some are."""
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and (others := [path for path in paths if path not in folders]):
        raise SettingError(f"a dataset and a file are not measured together: {folders[0]}, {others[0]}")
    return bool(folders)


def _on_files(
    paths: Sequence[str], names: Sequence[str], seed: int, jobs: int | None
) -> tuple[list[list["Choices"]], int]:
    """Choices of each of the players on each of the files, and the number of cube decisions there."""
    from motif.benchmarks.benchmark_files import read_benchmark
    from motif.benchmarks.choices import player_choices
    from motif.players import load

    players = [load(name) for name in names]
    files = [read_benchmark(path) for path in paths]
    unused = sum(file.record.cube_decisions for file in files if file.record)
    return [
        [player_choices(player, file, seed=seed, jobs=jobs) for file in files] for player in players
    ], unused


def _on_datasets(paths: Sequence[str], names: Sequence[str], jobs: int | None) -> list[list["Losses"]]:
    """Losses of each of the players on each of the datasets."""
    from motif.benchmarks.choices import choosing_by_value, dataset_decisions, dataset_losses
    from motif.players import load
    from motif.sampling import read_parts

    evaluators = [choosing_by_value(load(name)) for name in names]
    datasets = [dataset_decisions(path, read_parts(Path(path))) for path in paths]
    return [
        [dataset_losses(evaluator, dataset, jobs=jobs) for dataset in datasets] for evaluator in evaluators
    ]


@command("speed --seconds 2")
def speed(
    seconds: Annotated[float, option("How long each number is measured.", "S", min=0.01)] = 2.0,
    player: StaticOption = DEFAULT_PLAYER,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Measure games and evaluations per second.

    On one core, and on all; the motif figures are those of PLAYER, a weight file.
    """
    from motif.benchmarks.speed import measure_speed

    rates = measure_speed(player, jobs, seconds)
    if json:
        print(json_line(rates))
        return
    print_table(("", "a second"), [(name.replace("_", " "), f"{rate:,.0f}") for name, rate in rates.items()])


_MOST_BEST = 3
"""Best plays named of one decision."""
_Rate = TypeVar("_Rate")


def print_losses(player: str, rates: "ErrorRates", cube_decisions: int, of_datasets: bool = False) -> None:
    """Print error rates by file, by class and together, and how the losses are spread."""
    rows = [
        (*_row(name, rate.er, rate.se, rate.decisions), f"{rate.unlisted:,}") for name, rate in _named(rates)
    ]
    print_table(("", "error rate", "standard error", "decisions", "unlisted"), rows)
    say(f"error rate: millipoints that {player} loses per decision;")
    if of_datasets:
        say("labels have noise: it tells less than differences between players do")
    else:
        say("an unlisted choice costs the worst loss listed for the decision")
    spread = rates.distribution
    together = [*spread.at_most.values(), 1.0]
    print_table(
        ("millipoints lost", "% of decisions", "% up to here", "% of all lost"),
        [
            (it.name, *(f"{100 * share:.1f}" for share in (it.decisions, up_to, it.lost)))
            for it, up_to in zip(spread.ranges, together, strict=True)
        ],
    )
    say(
        f"median {spread.median:.1f}, 90 % lose at most {spread.percentile_90:.1f}, 99 % at most "
        f"{spread.percentile_99:.1f}, largest {spread.largest:.1f};\n"
        f"the best play is found in {spread.best_found:.1%} of the decisions"
    )
    if cube_decisions:
        say(f"{cube_decisions:,} cube decision{'s' * (cube_decisions > 1)}, not used")


def print_paired(player: str, versus: str, compared: "ByGroup[PairedRate]") -> None:
    """Print the difference between what `player` and `versus` lose, on the same groups of decisions."""
    rows = [_row(name, rate.difference, rate.se, rate.decisions) for name, rate in _named(compared)]
    print_table(("", "difference", "standard error", "decisions"), rows)
    overall = compared.overall
    more = "more" if overall.difference > 0 else "less"
    say(
        f"difference: millipoints per decision that {player} loses, less those that {versus} loses;\n"
        f"over all decisions {player} loses {abs(overall.difference):.2f} ± {overall.se:.2f} {more}"
    )


def print_worst(decisions: "Sequence[WorstDecision]") -> None:
    """Print the decisions that cost most, a few lines each."""
    from motif.board.identifiers import gnubg_id

    for number, decision in enumerate(decisions, 1):
        roll = "{}{}".format(*decision.roll)
        line = "" if decision.line is None else f", line {decision.line}"
        best = " or ".join(play.notation for play in decision.best[:_MOST_BEST])
        at_least = "" if decision.is_listed else "at least "
        place = f"{decision.class_name}, {decision.path}{line}"
        say(f"\n{number}. {gnubg_id(decision.position)} {roll}  {place}")
        say(f"   {decision.played.notation} loses {at_least}{decision.played.loss:.1f}; best is {best}")


def _named(rates: "ByGroup[_Rate]") -> Iterator[tuple[str, _Rate]]:
    """Rates as they are in a table, one below the other, and what each is called there."""
    yield from rates.files.items()
    for name, rate in rates.classes.items():
        yield f"{name} positions", rate
    yield "all decisions", rates.overall


def _row(name: str, mean: float, se: float, decisions: int) -> tuple[str, ...]:
    return name, f"{mean:.2f}", f"{se:.2f}", f"{decisions:,}"


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
"""What is run, in small, for what it compiles; each list one line after the other."""


@command("warm")
def warm(json: JsonOption = False, jobs: JobsOption = None) -> None:
    """Precompile all kernels.

    What commands compile on their first use, and keep in the user's cache folder, is compiled at once: for an
    image, a classroom, or a first impression.
    """
    from motif.compiler.kernel_cache import cached_kernel_count, kernel_folder, kernel_folder_problem
    from motif.runtime.errors import FileError
    from motif.runtime.parallel import run_ordered
    from motif.runtime.progress import COMPILATION, SECONDS_OF_ALL, progress

    if problem := kernel_folder_problem():
        raise FileError(problem)
    note(f"compiling every kernel that is not kept yet: all take about {SECONDS_OF_ALL} s on two idle cores")
    COMPILATION.is_said = True
    started = time.monotonic()
    before = cached_kernel_count()
    with TemporaryDirectory() as folder, progress("compiling kernels", len(_WARMING)) as advance:
        for line, error in run_ordered(_run_lines, [(lines, folder) for lines in _WARMING], jobs):
            if error:
                raise FileError(f"motif {line}: {error}")
            advance()
    seconds, kernels = time.monotonic() - started, cached_kernel_count()
    if json:
        record = {"seconds": seconds, "kernels": kernels, "compiled": kernels - before}
        print(json_line({**record, "folder": kernel_folder()}))
        return
    say(f"{kernels - before} kernels compiled in {seconds:.0f} s; {kernels} are kept in {kernel_folder()}")


def _run_lines(lines: Sequence[str], folder: str) -> tuple[str, str]:
    """Run command lines until one fails; that one, and what it says, or nothing."""
    from motif.cli.main import main

    for line in lines:
        own = Path(folder) / lines[0].split()[0]
        own.mkdir(exist_ok=True)
        said, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(errors):
            code = main([word.format(own) for word in line.split()])
        if code:
            return line, errors.getvalue().strip() or f"ended with {code}"
    return "", ""
