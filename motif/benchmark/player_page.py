"""The table of players as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from motif.benchmark.error_rate import ErrorRate
from motif.benchmark.player_records import Conditions, Record
from motif.benchmark.player_table_entries import CLASSES, PUBLISHED, REFERENCE, Entry

_NONE = "-"
_SHORT_HASH = 12


def page_lines(entries: Sequence[Entry], records: Mapping[str, Record]) -> Iterator[str]:
    """Lines of the table of `entries`, who they are, the published figures beside theirs, the settings."""
    known = [(entry, records[entry.name]) for entry in entries if entry.name in records]
    measured = [(entry, record) for entry, record in known if not record.missing]
    heads = [f"ER {name}" for name in CLASSES]
    yield from _table(
        ("player", *heads, f"points a game v `{REFERENCE}`", "games", "evaluations/s"),
        [_row(entry, record) for entry, record in known],
    )
    yield ""
    for entry, _ in known:
        yield f"- `{entry.name}`: {entry.who}."
    yield ""
    comparisons = [line for entry, record in measured for line in _comparisons(entry.name, record)]
    if comparisons:
        yield "Published for the same lines, and measured here:"
        yield ""
        yield from _table(("player", "class", "published", "here", "apart, in standard errors"), comparisons)
        yield ""
    yield from _settings(measured)


def _row(entry: Entry, record: Record) -> Sequence[str]:
    if record.missing:
        return (f"`{entry.name}`", f"not measured: {record.missing}", *[""] * (len(CLASSES) + 2))
    rates = [_rate(record.error_rates[name]) for name in CLASSES]
    speed = record.evaluations_per_second
    points, games = "0 (himself)", _NONE
    if record.ppg is not None:
        points, games = f"{record.ppg:+.3f} ± {record.se:.3f}", f"{record.conditions.games:,}"
    return (f"`{entry.name}`", *rates, points, games, _NONE if speed is None else _rounded(speed))


def _rate(rate: ErrorRate) -> str:
    return f"{rate.er:.1f} ± {rate.se:.1f}" if rate.er >= 10 else f"{rate.er:.2f} ± {rate.se:.2f}"


def _rounded(number: float) -> str:
    """Three digits of it, as a timing deserves."""
    return f"{float(f'{number:.3g}'):,.0f}"


def _comparisons(name: str, record: Record) -> Iterator[Sequence[str]]:
    for kind, (published, error) in PUBLISHED.get(name, {}).items():
        rate = record.error_rates[kind]
        apart = f"{(rate.er - published) / rate.se:+.1f}" if rate.se > 0 else "?"
        yield f"`{name}`", kind, f"{published} ± {error}", _rate(rate), apart


def _settings(measured: Sequence[tuple[Entry, Record]]) -> Iterator[str]:
    """What was measured how; all records of one page have the same lines and seed."""
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


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
