"""The command report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example, json_line, print_table
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    from motif.evaluators import StaticEvaluator
    from motif.fitting.term_table import HeadTerms

_POSITIONS = 2000


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    lines = ("motif-v2", "runs/demo/v1/weights.yaml --data runs/demo/v1/samples --class race --top 5")
    app.command(epilog=example(*(f"motif report {line}" for line in lines)))(report)


def report(
    weights: Annotated[
        str, typer.Argument(metavar="WEIGHTS", help="A weight file, the name of one, bras or phase.")
    ],
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
            show_default=f"{_POSITIONS} of its own games",
        ),
    ] = None,
    head: Annotated[
        Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"] | None,
        typer.Option("--head", help="What they judge.", show_default="what chooses plays"),
    ] = None,
    class_name: Annotated[
        Literal["contact", "crashed", "race"], typer.Option("--class", help="Positions of which class.")
    ] = "contact",
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="NAME", help="The weights of this game plan of the class.")
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many terms.")] = 20,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report to a page, too.")
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Say in words which terms of a weight file matter most.

    With --terms or --data also how sure each is: the standard error of its weight.
    """
    from dataclasses import asdict

    from motif.evaluators import load_static
    from motif.reports.terms import chosen_head, told_terms
    from motif.reports.terms_page import errors_known, moved, reading, signed, terms_page

    given = [name for name, value in _sources(terms, data, positions) if value is not None]
    if len(given) > 1:
        raise SettingError(f"{' and '.join(given)} exclude each other")
    evaluator = load_static(weights)
    if evaluator.weights is None:
        raise SettingError(f"{weights!r} has no weights to report on")
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
    from motif.players.player import CompiledPlayer
    from motif.reports.terms import board_terms, dataset_terms, game_boards, table_terms

    weights = evaluator.weights
    assert weights is not None
    if terms is not None:
        return table_terms(terms, weights, *place), str(terms)
    if data is not None:
        found, count = dataset_terms(data, weights, *place)
        return found, f"{count:,} positions in {data}"
    if positions is not None:
        from motif.cli.lines import read_positions

        found, count = board_terms(read_positions(positions), weights, *place)
        return found, f"{count:,} positions in {positions}"
    player = CompiledPlayer(evaluator.name, evaluator.model, evaluator)
    boards = game_boards(player, _POSITIONS, *place[:2], seed=seed, jobs=jobs)
    found, count = board_terms(boards, weights, *place)
    return found, f"{count:,} positions of its own games"
