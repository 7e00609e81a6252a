"""The command report.

What the command report does for the folder of a run.

What the command report does for a weight file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example, json_line, print_table, tell
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    from motif.evaluators import StaticEvaluator
    from motif.fitting.term_table import HeadTerms
    from motif.reports.run_report import RunReport


def report_on_run(
    folder: Path,
    *,
    html: Path | None,
    benchmarks: Sequence[Path] | None,
    worst: int,
    top: int,
    json: bool,
    seed: int,
    jobs: int | None,
) -> None:
    """Draw the page of the run in `folder` and print its key figures; see `motif report`."""
    from motif.benchmark.benchmark_files import read_benchmark, shipped_lines
    from motif.reports.run_report import draw_run

    lines = [read_benchmark(path) for path in dict.fromkeys(benchmarks)] if benchmarks else shipped_lines()
    drawn = draw_run(folder, html, benchmarks=lines, worst=worst, top=top, seed=seed, jobs=jobs, tell=tell)
    if json:
        print(json_line(drawn.as_dict()))
        return
    _print_versions(drawn)
    print(drawn.page)


def _print_versions(drawn: "RunReport") -> None:
    from motif.benchmark.losses import MILLIPOINTS

    titles = ["version", "positions", "v PubEval", "v previous", "choices"]
    errors = {} if drawn.benchmark is None else drawn.benchmark.rows()
    rows = []
    for version, one in enumerate(drawn.run.summaries):
        choice = one.get("choice_error", {}).get("all")
        rows.append(
            (
                one["name"],
                f"{one['positions']:,}",
                f"{one['ppg_vs_pubeval']:+.3f} ± {one['ppg_se']:.3f}",
                f"{one['ppg_vs_previous']:+.3f} ± {one['ppg_vs_previous_se']:.3f}",
                "" if choice is None else f"{MILLIPOINTS * choice:.1f}",
                *(f"{of[version].er:.1f} ± {of[version].se:.1f}" for of in errors.values()),
            )
        )
    print_table([*titles, *errors], rows)
    print("v: points a game; choices by the labels, and on benchmark lines: millipoints a decision")
    print("± is one standard error")


_POSITIONS = 2000


def report_on_weights(
    name: str,
    *,
    terms: Path | None,
    data: Path | None,
    positions: str | None,
    head: str | None,
    class_name: str,
    plan: str | None,
    top: int,
    html: Path | None,
    json: bool,
    seed: int,
    jobs: int | None,
) -> None:
    """Print the terms of the weights called `name` that matter most; see `motif report`."""
    from dataclasses import asdict

    from motif.analysis.term_report import chosen_head, told_terms
    from motif.evaluators import load_static
    from motif.reports.terms_page import errors_known, moved, reading, signed, terms_page

    given = [option for option, value in _sources(terms, data, positions) if value is not None]
    if len(given) > 1:
        raise SettingError(f"{' and '.join(given)} exclude each other")
    evaluator = load_static(name)
    if evaluator.weights is None:
        raise SettingError(f"{name!r} has no weights to report on")
    head_name = chosen_head(evaluator.weights, class_name, plan, head)
    place = class_name, plan or "", head_name
    found, source = _found(evaluator, place, terms, data, positions, seed, jobs)
    told = told_terms(evaluator.weights, found, top)
    where = f"positions of the plan {plan!r}" if plan else f"{class_name} positions"
    title = f"{evaluator.weights.name}: what it looks at in {where}"
    count = len(found.names) - 1
    opening = (
        f"The {len(told)} most important of the {count:,} terms of the {head_name} head, from {source}. "
        "The values are those of the player on roll."
    )
    notes = reading(told, head_name)
    if html is not None:
        from motif.runtime.files import write_text

        write_text(html, terms_page(title, opening, notes, told, head_name))
    if json:
        page = None if html is None else str(html)
        asked = {"weights": evaluator.weights.name, "class": class_name, "plan": plan, "head": head_name}
        facts = {"source": source, "count": count, "slope": found.statistics.slope, "html": page}
        print(json_line({**asked, **facts, "terms": [asdict(term) for term in told]}))
        return
    print(f"{title}\n{opening}")
    titles = ("what it does", "moves", *(["z"] if errors_known(told) else []))
    rows = [
        (f"{term.sentence}\n{term.name}", moved(term, head_name), signed(term.effect_z, 1))[: len(titles)]
        for term in told
    ]
    print_table(titles, rows)
    print("\n".join(notes))


def _sources(terms: Path | None, data: Path | None, positions: str | None) -> tuple[tuple[str, object], ...]:
    return ("--terms", terms), ("--data", data), ("--positions", positions)


def _found(
    evaluator: "StaticEvaluator",
    place: tuple[str, str, str],
    terms: Path | None,
    data: Path | None,
    positions: str | None,
    seed: int,
    jobs: int | None,
) -> "tuple[HeadTerms, str]":
    """The statistics of the head at `place` (class, plan, head), and what they come from."""
    from motif.analysis.term_report import board_terms, dataset_terms, game_boards, table_terms
    from motif.players.player import CompiledPlayer

    weights = evaluator.weights
    assert weights is not None
    if terms is not None:
        return table_terms(terms, weights, *place), str(terms)
    if data is not None:
        found, count = dataset_terms(data, weights, *place)
        return found, f"{count:,} positions in {data}"
    if positions is not None:
        from motif.cli.records import read_positions

        found, count = board_terms(read_positions(positions), weights, *place)
        return found, f"{count:,} positions in {positions}"
    player = CompiledPlayer(evaluator.name, evaluator.model, evaluator)
    boards = game_boards(player, _POSITIONS, *place[:2], seed=seed, jobs=jobs)
    found, count = board_terms(boards, weights, *place)
    return found, f"{count:,} positions of its own games"


_CONTACT = "contact"
_USUAL_TERMS, _USUAL_WORST, _MOST_WORST = 20, 10, 1000


class _Common(TypedDict):
    """What both kinds of reports are told."""

    top: int
    html: Path | None
    json: bool
    seed: int
    jobs: int | None


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    lines = (
        "runs/demo",
        "runs/demo --html demo.html --benchmark data/bench/race.bm.gz --worst 5",
        "motif-v2",
        "runs/demo/v1/weights.yaml --data runs/demo/v1/samples --class race --top 5",
    )
    app.command(epilog=example(*(f"motif report {line}" for line in lines)))(report)


def report(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="RUN|WEIGHTS",
            help="The folder of a run; or a weight file, the name of one, bras or phase.",
        ),
    ],
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            "--benchmark",
            metavar="FILE",
            help="Of a run: measure its versions on this file, too; may be given again.",
            show_default="data/bench",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            metavar="N",
            min=0,
            max=_MOST_WORST,
            help="Of a run: draw the N decisions there that cost its last version most.",
            show_default=str(_USUAL_WORST),
        ),
    ] = None,
    terms: Annotated[
        Path | None, typer.Option("--terms", metavar="FILE", help="The table of terms made with the weights.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The dataset they were fitted to.")
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            "--positions",
            metavar="FILE",
            help="Positions, one a line, over which terms are compared; - is standard input.",
            show_default="2000 of its own games",
        ),
    ] = None,
    head: Annotated[
        Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"] | None,
        typer.Option("--head", help="What they judge.", show_default="what chooses plays"),
    ] = None,
    class_name: Annotated[
        Literal["contact", "crashed", "race"] | None,
        typer.Option("--class", help="Positions of which class.", show_default=_CONTACT),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="NAME", help="The weights of this game plan of the class.")
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many terms.")] = _USUAL_TERMS,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="The page to write; of a run RUN/report.html, of weights none."
        ),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Report on a run, or on a weight file.

    Of a run: write a page that tells how it went, how strong each version plays, which terms matter, the
    worst decisions of the last version on benchmark lines, and what to try next.

    Of a weight file: say in words which terms matter most; with --terms or --data also how sure each is,
    the standard error of its weight.
    """
    common: _Common = {"top": top, "html": html, "json": json, "seed": seed, "jobs": jobs}
    folder = Path(subject)
    if folder.is_dir():
        of_weights = {
            "--terms": terms, "--data": data, "--positions": positions, "--head": head, "--class": class_name,
            "--plan": plan,
        }  # fmt: skip
        _refuse(of_weights, f"{folder} is the folder of a run")
        report_on_run(folder, benchmarks=benchmark, worst=_USUAL_WORST if worst is None else worst, **common)
        return
    _refuse({"--benchmark": benchmark, "--worst": worst}, f"{subject!r} is no folder of a run")
    report_on_weights(
        subject,
        terms=terms,
        data=data,
        positions=positions,
        head=head,
        class_name=class_name or _CONTACT,
        plan=plan,
        **common,
    )


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise `SettingError` when one of `options`, by name, is given."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise SettingError(f"{', '.join(given)}: {why}")
