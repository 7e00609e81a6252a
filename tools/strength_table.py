"""Write the strength table into several pages, from docs/reference/players.json.

``python -m tools.strength_table`` measures nothing: it uses the figures stored by `tools.player_table`, and
also writes the table of players.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from motif.evaluators.known_players import default_player, shipped_weights
from motif.runtime.errors import BenchmarkError
from motif.runtime.layout import listed
from tools import player_table
from tools.import_graph import ROOT
from tools.marked_page import reporting, write_region
from tools.player_table import CLASSES, PLAYERS, REFERENCE, Record

REGION = "strength"
_WIDTH = 106
RECORDS = Path("docs/reference/players.json")
NEWEST = int(default_player().removeprefix("motif-v"))
"""Number of the newest version."""

NOTES = {
    "random": "",
    "simple": ", where learning starts",
    "pubeval": "",
    "bras": ", the Backgammon Relative Advantage Score",
    "phase": ", a course project's heuristic",
    "keith-v0": "",
    "keith-v1": "",
    **{f"motif-v{number}": "" for number in range(9)},
    "motif-v8-plain": ", without hidden units",
    **{f"motif-v{number}": "" for number in range(9, NEWEST)},
    **dict.fromkeys(shipped_weights(), ""),
    "wildbg": "'s nets",
    "gnubg": ", 0-ply",
}
"""Players of the table in order, each with a note after its name; unmeasured players are left out."""
SHORT = ("simple", "pubeval", "keith-v1", "motif-v1", default_player(), "wildbg", "gnubg")
"""Players of the README's table."""
CURRENT = tuple(name for name in NOTES if any(name == entry.name for entry in PLAYERS))
PAGES = {
    Path("README.md"): SHORT,
    Path("weights/README.md"): CURRENT,
    Path("docs/explanation/strength.md"): tuple(NOTES),
}
"""Pages with the table, relative to the root, and its players; the page of all players is beside `RECORDS`.
"""


def records_alike(records: Mapping[str, Record]) -> dict[str, Record]:
    """Return the records with the lines and seed of the reference player; raises `BenchmarkError`."""
    if REFERENCE not in records:
        raise BenchmarkError(f"{REFERENCE} has not been measured: run make players")
    conditions = records[REFERENCE].conditions
    return {
        name: record
        for name, record in records.items()
        if (record.conditions.seed, record.conditions.files) == (conditions.seed, conditions.files)
    }


def strength_lines(records: Mapping[str, Record], names: Collection[str] = NOTES) -> Iterator[str]:
    """Yield the table of the players in `names` that have `records`, and a note on the figures."""
    rows = [
        (name, records[name])
        for name in NOTES
        if name in names and name in records and not records[name].missing
    ]
    yield from player_table.table_lines(
        ("player", *(f"ER {name}" for name in CLASSES), f"points per game v `{REFERENCE}`"),
        [(f"`{name}`{NOTES[name]}", *_figures(record)) for name, record in rows],
    )
    rates = records[REFERENCE].error_rates
    decisions = [f"{rates[name].decisions:,} {name}" for name in CLASSES]
    yield ""
    text = (
        f"ER is the error rate, in millipoints per decision, on {listed(decisions)} decisions that no "
        f"fit has used. Points are from cubeless money games with paired dice, {_games(rows)}. ± is the "
        "standard error."
    )
    yield from wrap(text, _WIDTH)


def _figures(record: Record) -> list[str]:
    rates = [player_table.rate_text(record.error_rates[name]) for name in CLASSES]
    return [*rates, "0" if record.ppg is None else player_table.points_text(record)]


def _games(rows: Sequence[tuple[str, Record]]) -> str:
    """Return, in words, the number of games per player, with the exceptions."""
    names: dict[int, list[str]] = {}
    for name, record in rows:
        if record.ppg is not None:
            names.setdefault(record.conditions.games, []).append(f"`{name}`")
    usual, *others = sorted(names, key=lambda games: -len(names[games]))
    apart = ", ".join(f"{games:,} for {listed(names[games])}" for games in others)
    return f"{usual:,} per player" + (f" ({apart})" if apart else "")


def write_pages(root: Path = ROOT) -> None:
    """Write the tables into all pages below `root`; raises a `MotifError` for a bad page or record."""
    records = records_alike(player_table.read_records(root / RECORDS))
    for page, names in PAGES.items():
        write_region(root / page, REGION, strength_lines(records, names))
    page = (root / RECORDS).with_suffix(".md")
    write_region(page, player_table.REGION, player_table.page_lines(PLAYERS, records))


@reporting
def main() -> None:
    """Write the pages."""
    write_pages()


if __name__ == "__main__":
    sys.exit(main())
