"""The table of players in docs/players.md: error rates, points a game, evaluations a second.

``python -m motif.benchmark.player_table docs/players.md`` measures one player after the other.  Figures
are kept beside the page, in docs/players.json, as they come: a run that was stopped goes on with the
next player, and a player who was measured under the same conditions is not measured again, unless
``--only`` names him.  All but the evaluations a second is the same whoever repeats it.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from motif.benchmark.error_rate import error_rate
from motif.benchmark.files import BenchmarkFile, read_benchmark
from motif.benchmark.marked_page import check_marks, write_between
from motif.benchmark.player_page import page_lines
from motif.benchmark.player_records import Conditions, Record, read_records, write_records
from motif.benchmark.player_table_entries import CLASSES, PLAYERS, REFERENCE, Entry
from motif.benchmark.speed import bulk_evaluations_per_second
from motif.evaluators.named import NET_PREFIX
from motif.evaluators.shipped import shipped_weights
from motif.evaluators.static import BEAROFF_SUFFIX
from motif.players import Player, load
from motif.players.match import play_match
from motif.rollout.rollout_settings import check_count
from motif.runtime.errors import BenchmarkError, MotifError, PlayerError, shown
from motif.runtime.version import VERSION

MARKS = "<!-- player table -->\n", "<!-- end of player table -->\n"
SEED = 2
"""One that no sampling, no fit and no choice of settings has used."""

_FOLDER = Path("data/bench")
_SUFFIXES = (".bm.gz", ".bm")
_FEWEST_GAMES = 4
"""Two pairs: fewer have no standard error."""


@dataclass(frozen=True)
class Lines:
    """The benchmark files."""

    files: Mapping[str, BenchmarkFile]
    """By class."""
    digests: Mapping[str, str]
    """SHA-256 of each, in hexadecimal digits."""


def read_lines(folder: Path) -> Lines:
    """The files ``contact.bm.gz`` (or ``.bm``) and so on in `folder`; raises `BenchmarkError`."""
    paths = {}
    for name in CLASSES:
        found = [path for suffix in _SUFFIXES if (path := folder / (name + suffix)).is_file()]
        if not found:
            raise BenchmarkError(f"{folder}: there is no {' or '.join(name + s for s in _SUFFIXES)}")
        paths[name] = found[0]
    files = {name: read_benchmark(path) for name, path in paths.items()}
    return Lines(files, {name: _sha256(path) for name, path in paths.items()})


def weights_digest(name: str) -> str:
    """SHA-256 of the weight file or net that the player called `name` plays by; empty where there is none."""
    base = name.partition("@")[0].removesuffix(BEAROFF_SUFFIX).removeprefix(NET_PREFIX)
    path = shipped_weights().get(base, Path(base))
    return _sha256(path) if path.is_file() else ""


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def measure(
    entry: Entry, lines: Lines, conditions: Conditions, *, seconds: float = 1.0, jobs: int | None = None
) -> Record:
    """Measure one player; evaluations are timed for about `seconds`.

    Where he cannot play here, because a program or library that he needs is missing, the record says so.
    """
    today = date.today().isoformat()
    try:
        player = load(entry.name)
        speed = bulk_evaluations_per_second(player.evaluator, seconds) if player.evaluator else None
        rates = {
            name: error_rate(player, file, seed=conditions.seed, jobs=jobs)
            for name, file in lines.files.items()
        }
        ppg, se = _against_reference(player, conditions, jobs)
    except MotifError as error:
        return Record(conditions, today, missing=str(error))
    return Record(conditions, today, rates, ppg, se, speed)


def _against_reference(
    player: Player, conditions: Conditions, jobs: int | None
) -> tuple[float | None, float | None]:
    if player.name == REFERENCE:
        return None, None
    result = play_match(player, load(REFERENCE), conditions.games, seed=conditions.seed, jobs=jobs)
    return result.ppg, result.se


def write_table(
    page: Path,
    *,
    entries: Sequence[Entry] = PLAYERS,
    folder: Path = _FOLDER,
    only: Sequence[str] = (),
    most_games: int | None = None,
    seconds: float = 1.0,
    jobs: int | None = None,
) -> None:
    """Measure who is not yet measured, or those named in `only`, and write the table into `page`.

    With `most_games` nobody plays more.  Players who were measured on other lines or with another seed
    are left out until they are measured again.  Raises `PlayerError` for a name in `only` that is not in
    the table, `SettingError` for a page without the marks, `BenchmarkError` for bad files.
    """
    entries = _shorter(entries, most_games)
    names = [entry.name for entry in entries]
    for name in only:
        if name not in names:
            raise PlayerError(f"no player of the table is called {shown(name)}; there are {', '.join(names)}")
    check_marks(page, *MARKS)
    lines = read_lines(folder)
    kept = page.with_suffix(".json")
    records = read_records(kept)
    for entry in entries:
        conditions = Conditions(VERSION, SEED, entry.games, lines.digests, weights_digest(entry.name))
        if _to_be_measured(entry.name, records, conditions, only):
            print(f"measuring {entry.name} ...", end=" ", file=sys.stderr, flush=True)
            started = time.monotonic()
            records[entry.name] = measure(entry, lines, conditions, seconds=seconds, jobs=jobs)
            print(f"{time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
            write_records(kept, records)
            _write_page(page, entries, records, lines)
    _write_page(page, entries, records, lines)


def _write_page(page: Path, entries: Sequence[Entry], records: Mapping[str, Record], lines: Lines) -> None:
    alike = {
        name: record
        for name, record in records.items()
        if (record.conditions.seed, record.conditions.files) == (SEED, lines.digests)
    }
    write_between(page, *MARKS, page_lines(entries, alike))


def _to_be_measured(
    name: str, records: Mapping[str, Record], conditions: Conditions, only: Sequence[str]
) -> bool:
    if only:
        return name in only
    record = records.get(name)
    return record is None or bool(record.missing) or record.conditions != conditions


def _shorter(entries: Sequence[Entry], most_games: int | None) -> Sequence[Entry]:
    if most_games is None:
        return entries
    check_count("games", most_games, _FEWEST_GAMES)
    return [replace(entry, games=min(entry.games, most_games)) for entry in entries]


def main(words: Sequence[str]) -> int:
    """Write the page named in `words`; returns the exit code, 2 after one line for bad input."""
    parser = argparse.ArgumentParser(prog="player_table", description="Measure the table of players.")
    parser.add_argument("page", type=Path, help="a page with the table's marks; figures are kept beside it")
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], help="measure this player anew, and no other"
    )
    parser.add_argument("--lines", metavar="DIR", type=Path, default=_FOLDER, help="benchmark files")
    parser.add_argument("--games", metavar="N", type=int, help="nobody plays more: for a quick look")
    parser.add_argument("--jobs", metavar="N", type=int, help="processes; all cores by default")
    given = parser.parse_args(words)
    try:
        write_table(given.page, folder=given.lines, only=given.only, most_games=given.games, jobs=given.jobs)
    except MotifError as error:
        print(f"motif: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
