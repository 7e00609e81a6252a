"""Measure the players of docs/reference/players.md: error rates, points per game, evaluations per second.

``python -m tools.player_table docs/reference/players.md`` measures one player after another and stores the
figures in docs/reference/players.json. A stopped run resumes with the next player, and a player measured
under the same conditions is not measured again, unless ``--only`` names it. Everything except evaluations per
second is reproducible. `tools.strength_table` writes a shorter table into other pages.
"""

import argparse
import hashlib
import json
import lzma
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path

from motif.benchmarks.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmarks.choices import ErrorRate, benchmark_players
from motif.benchmarks.speed import midgame_boards, timed
from motif.contests import play_money_games
from motif.contests.result import MIN_PAIRS
from motif.evaluators import Evaluator
from motif.evaluators.known_players import NET_PREFIX, default_player, entry_of, shipped_weights
from motif.evaluators.static import BEAROFF_SUFFIX
from motif.players import Player, load
from motif.runtime import documents
from motif.runtime.errors import BenchmarkError, MotifError, PlayerError, plain_text, shown
from motif.runtime.files import write_text
from motif.runtime.package import VERSION
from motif.runtime.progress import Stopwatch
from motif.runtime.settings import check_count
from tools.marked_page import region, reporting, write_region

CLASSES = ("contact", "crashed", "race")
"""The benchmark files, by name, and the columns of error rates."""
REFERENCE = "pubeval"
"""The opponent in all matches."""
_MOST, _MANY, _SOME = 40_000, 20_000, 6_000
_FIRST_BATCH, _LONG_CALL = 16, 0.05
"""Number of positions in the first call of an evaluator, and minimum seconds per call."""


@dataclass(frozen=True)
class Entry:
    """A player of the table."""

    name: str
    """Name by which the player is loaded."""
    who: str
    """A one-line description."""
    games: int = _MANY
    """Games against `REFERENCE`; fewer for slow players."""


def _known(name: str, games: int = _MANY) -> Entry:
    """Return the entry of a built-in player."""
    entry = entry_of(name)
    assert entry is not None
    return Entry(name, entry.description, games)


PLAYERS = (
    *map(_known, ("random", "simple", "pubeval", "bras", "phase", "best-of-four")),
    Entry(
        "onnx:weights/phase-net/pretrained.onnx",
        "a 48-64-64-1 net that learned the evaluations of `phase` in random games",
    ),
    Entry(
        "onnx:weights/phase-net/refined.onnx",
        "the same net, trained further on the results of games of `best-of-four`",
    ),
    Entry("keith-v0", "Keith's procedure of 1996: 19 features, win probability alone; learned from `simple`"),
    Entry("keith-v1", "the next version, learned from rollouts by `keith-v0`"),
    Entry("motif-v0", "70 features and all their pairs, with gammons; learned from `simple`"),
    Entry("motif-v1", "the next version, learned from rollouts by `motif-v0`"),
    Entry(
        default_player(),
        "learned from lookahead and rollouts: pairs and one hidden layer",
        _MOST,
    ),
    _known("wildbg"),
    _known("gnubg", _SOME),
)
PUBLISHED = {
    "random": {"contact": (153.9, 1.6), "crashed": (122.4, 1.9), "race": (56.9, 1.8)},
    "pubeval": {"contact": (35.6, 0.8), "crashed": (33.1, 1.1), "race": (7.4, 0.9)},
    "wildbg": {"contact": (8.9, 0.3), "crashed": (10.5, 0.4), "race": (2.5, 0.2)},
    "gnubg": {"contact": (4.95, 0.17), "crashed": (5.3, 0.3), "race": (1.1, 0.1)},
}
"""Error rates and their standard errors, in millipoints, that came with the benchmark lines."""

FORMAT = "motif-players/1"


@dataclass(frozen=True)
class Conditions:
    """Conditions under which a record is valid."""

    motif: str
    """The version of motif."""
    seed: int
    """Seed of the match and of players' random choices."""
    games: int
    files: Mapping[str, str]
    """SHA-256 of each benchmark file, by its class."""
    weights: str = ""
    """SHA-256 of the player's weight file; empty if it has none."""


@dataclass(frozen=True)
class Record:
    """Measurements of one player, or the reason why there are none."""

    conditions: Conditions
    date: str
    """Date of the measurement, in ISO 8601."""
    error_rates: Mapping[str, ErrorRate] = field(default_factory=dict)
    """Error rates by the class of the lines."""
    ppg: float | None = None
    """Points per game against the reference player; None for that player itself."""
    se: float | None = None
    evaluations_per_second: float | None = None
    """Speed on one core; None for a player that chooses plays without evaluating positions."""
    missing: str = ""
    """Why the player could not be measured; otherwise empty."""


def read_records(path: Path) -> dict[str, Record]:
    """Return the records by player name; empty if there is no file. Raises `BenchmarkError`."""
    try:
        document = documents.Entry(json.loads(path.read_text(encoding="utf-8")), path.name, BenchmarkError)
        document.mapping(("format", "players"))
        if document["format"].value != FORMAT:
            document["format"].fail(f"must be {FORMAT}")
        return {name: _record(record) for name, record in document["players"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, BenchmarkError) as error:
        raise BenchmarkError(
            f"{path}: not a file of measured players ({plain_text(str(error))}); delete it to measure again"
        ) from None


def write_records(path: Path, records: Mapping[str, Record]) -> None:
    """Write `records` to `path` atomically; raises `FileError`."""
    players = {name: asdict(record) for name, record in records.items()}
    write_text(path, json.dumps({"format": FORMAT, "players": players}, indent=1) + "\n")


def _record(record: documents.Entry) -> Record:
    rates = {name: rate.made(ErrorRate) for name, rate in record.get("error_rates", {}).items()}
    return record.made(Record, conditions=record["conditions"].made(Conditions), error_rates=rates)


_NONE = "-"
_SHORT_HASH = 12


def page_lines(entries: Sequence[Entry], records: Mapping[str, Record]) -> Iterator[str]:
    """Return the table of `entries`, their descriptions, the published figures, and the settings."""
    known = [(entry, records[entry.name]) for entry in entries if entry.name in records]
    measured = [(entry, record) for entry, record in known if not record.missing]
    heads = [f"ER {name}" for name in CLASSES]
    yield from table_lines(
        ("player", *heads, f"points per game v `{REFERENCE}`", "games", "evaluations/s"),
        [_row(entry, record) for entry, record in known],
    )
    yield ""
    for entry, _ in known:
        yield f"- `{entry.name}`: {entry.who}."
    yield ""
    comparisons = [line for entry, record in measured for line in _comparisons(entry.name, record)]
    if comparisons:
        yield "Published figures for the same lines, compared with these:"
        yield ""
        yield from table_lines(
            ("player", "class", "published", "here", "difference, in standard errors"), comparisons
        )
        yield ""
    yield from _settings(measured)


def _row(entry: Entry, record: Record) -> Sequence[str]:
    if record.missing:
        return (f"`{entry.name}`", f"not measured: {record.missing}", *[""] * (len(CLASSES) + 2))
    rates = [rate_text(record.error_rates[name]) for name in CLASSES]
    speed = record.evaluations_per_second
    points, games = "0 (itself)", _NONE
    if record.ppg is not None:
        points, games = points_text(record), f"{record.conditions.games:,}"
    return (f"`{entry.name}`", *rates, points, games, _NONE if speed is None else _rounded(speed))


def points_text(record: Record) -> str:
    """Return points per game, with the standard error if there are enough games."""
    return f"{record.ppg:+.3f}" if record.se is None else f"{record.ppg:+.3f} ± {record.se:.3f}"


def rate_text(rate: ErrorRate) -> str:
    """Return an error rate with its standard error, in significant digits."""
    return f"{rate.er:.1f} ± {rate.se:.1f}" if rate.er >= 10 else f"{rate.er:.2f} ± {rate.se:.2f}"


def _rounded(number: float) -> str:
    """Round to three significant digits."""
    return f"{float(f'{number:.3g}'):,.0f}"


def _comparisons(name: str, record: Record) -> Iterator[Sequence[str]]:
    for kind, (published, error) in PUBLISHED.get(name, {}).items():
        rate = record.error_rates[kind]
        apart = f"{(rate.er - published) / rate.se:+.1f}" if rate.se > 0 else "?"
        yield f"`{name}`", kind, f"{published} ± {error}", rate_text(rate), apart


def _settings(measured: Sequence[tuple[Entry, Record]]) -> Iterator[str]:
    """Yield the settings; all records of one page have the same lines and seed."""
    if not measured:
        return
    conditions: Conditions = measured[0][1].conditions
    rates = measured[0][1].error_rates
    lines = [
        f"{kind} {rates[kind].decisions:,} decisions (sha256 {digest[:_SHORT_HASH]})"
        for kind, digest in conditions.files.items()
    ]
    dates = sorted({record.date for _, record in measured})
    versions = sorted({record.conditions.motif for _, record in measured})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    yield (
        f"Lines: {', '.join(lines)}. Matches and random choices: seed {conditions.seed}. "
        f"Measured {when} by motif {', '.join(versions)}."
    )


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return a table as Markdown."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


REGION = "players"
SEED = 2
"""A seed that no sampling, fit or choice of settings has used."""
_FOLDER = Path("data/bench")
_SUFFIXES = (".bm.gz", ".bm")
_MIN_GAMES = 2 * MIN_PAIRS
"""Minimum number of games, since fewer have no standard error."""


@dataclass(frozen=True)
class Lines:
    """The benchmark files."""

    files: Mapping[str, BenchmarkFile]
    """Contents of the files, by class."""
    digests: Mapping[str, str]
    """SHA-256 of each file in hexadecimal digits, by class."""


def read_lines(folder: Path) -> Lines:
    """Return the files ``contact.bm.gz`` (or ``.bm``) and so on in `folder`; raises `BenchmarkError`."""
    paths = {}
    for name in CLASSES:
        existing = [path for suffix in _SUFFIXES if (path := folder / (name + suffix)).is_file()]
        if not existing:
            raise BenchmarkError(f"{folder}: no {' or '.join(name + s for s in _SUFFIXES)}")
        paths[name] = existing[0]
    files = {name: read_benchmark(path) for name, path in paths.items()}
    return Lines(files, {name: _sha256(path) for name, path in paths.items()})


def weights_digest(name: str) -> str:
    """Return the SHA-256 of the weight file or net of the player `name`; empty if there is none."""
    base = name.partition("@")[0].removesuffix(BEAROFF_SUFFIX).removeprefix(NET_PREFIX)
    path = shipped_weights().get(base, Path(base))
    return _sha256(path) if path.is_file() else ""


def _sha256(path: Path) -> str:
    """Return the SHA-256 of the contents of `path`, decompressed."""
    content = path.read_bytes()
    return hashlib.sha256(lzma.decompress(content) if path.suffix == ".xz" else content).hexdigest()


def bulk_evaluations_per_second(evaluator: Evaluator, seconds: float = 1.0) -> float:
    """Return the positions per second of `evaluate_many` on one core, measured for about `seconds`.

    Slow evaluators get small batches.
    """
    boards, size = midgame_boards(), _FIRST_BATCH
    evaluator.evaluate_many(boards[:size])  # compile or load kernels
    stopwatch = Stopwatch()
    while size < len(boards) and stopwatch.seconds < _LONG_CALL:
        size *= 2
        stopwatch = Stopwatch()
        evaluator.evaluate_many(boards[:size])
    return timed(lambda _: len(evaluator.evaluate_many(boards[:size])), seconds)


def measure(
    entry: Entry, lines: Lines, conditions: Conditions, *, seconds: float = 1.0, jobs: int | None = None
) -> Record:
    """Measure one player; evaluations are timed for about `seconds`.

    If the player needs a missing program or library, the record says so.
    """
    today = date.today().isoformat()
    try:
        player = load(entry.name)
        speed = bulk_evaluations_per_second(player.evaluator, seconds) if player.evaluator else None
        rates = {
            name: benchmark_players([player], [file], seed=conditions.seed, jobs=jobs).overall
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
    result = play_money_games(player, load(REFERENCE), conditions.games, seed=conditions.seed, jobs=jobs)
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
    """Measure new players, or those named in `only`, and write the table into `page`.

    `most_games` limits the games of each player. Players measured on other lines or with another seed are
    omitted until they are measured again. Raises `PlayerError` for an unknown name in `only`, `SettingError`
    for a page without the markers, `BenchmarkError` for bad files.
    """
    entries = _shorter(entries, most_games)
    names = [entry.name for entry in entries]
    for name in only:
        if name not in names:
            raise PlayerError(f"no player {shown(name)} in the table; choose from {', '.join(names)}")
    region(page, REGION)
    lines = read_lines(folder)
    kept = page.with_suffix(".json")
    records = read_records(kept)
    for entry in entries:
        conditions = Conditions(VERSION, SEED, entry.games, lines.digests, weights_digest(entry.name))
        if _to_be_measured(entry, records, conditions, only):
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
    write_region(page, REGION, page_lines(entries, alike))


def _to_be_measured(
    entry: Entry, records: Mapping[str, Record], conditions: Conditions, only: Sequence[str]
) -> bool:
    if only:
        return entry.name in only
    record = records.get(entry.name)
    return record is None or bool(record.missing) or record.conditions != conditions


def _shorter(entries: Sequence[Entry], most_games: int | None) -> Sequence[Entry]:
    if most_games is None:
        return entries
    check_count("games", most_games, _MIN_GAMES)
    return [replace(entry, games=min(entry.games, most_games)) for entry in entries]


@reporting
def main(words: Sequence[str]) -> None:
    """Write the page named in `words`."""
    parser = argparse.ArgumentParser(prog="player_table", description="Measure the table of players.")
    parser.add_argument("page", type=Path, help="page with the table's markers; figures are stored beside it")
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], help="measure only this player, again"
    )
    parser.add_argument("--lines", metavar="DIR", type=Path, default=_FOLDER, help="benchmark files")
    parser.add_argument("--games", metavar="N", type=int, help="maximum games per player, for a quick look")
    parser.add_argument("--jobs", metavar="N", type=int, help="processes; all cores by default")
    given = parser.parse_args(words)
    write_table(given.page, folder=given.lines, only=given.only, most_games=given.games, jobs=given.jobs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
