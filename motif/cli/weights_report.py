"""What the command report does for a weight file."""

from pathlib import Path
from typing import TYPE_CHECKING

from motif.cli.common import json_line, print_table
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    from motif.evaluators import StaticEvaluator
    from motif.fitting.term_table import HeadTerms

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

    from motif.evaluators import load_static
    from motif.reports.terms import chosen_head, told_terms
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
