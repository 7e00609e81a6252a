"""What was measured of each player: a small file that grows player by player."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from motif.benchmark.error_rate import ErrorRate
from motif.runtime.errors import BenchmarkError, plain_text
from motif.runtime.files import write_text

FORMAT = "motif-players/1"


@dataclass(frozen=True)
class Conditions:
    """What a record is only good for."""

    motif: str
    """Its version."""
    seed: int
    """Of the match, and of players' random choices."""
    games: int
    files: Mapping[str, str]
    """SHA-256 of each benchmark file, by its class."""
    weights: str = ""
    """SHA-256 of the file that holds the player's weights; empty for one without."""


@dataclass(frozen=True)
class Record:
    """One player, measured; or why not."""

    conditions: Conditions
    date: str
    """ISO 8601."""
    error_rates: Mapping[str, ErrorRate] = field(default_factory=dict)
    """By class."""
    ppg: float | None = None
    """Points a game against the reference player; None for that one himself."""
    se: float | None = None
    evaluations_per_second: float | None = None
    """On one core; None for a player who chooses plays without evaluating positions."""
    missing: str = ""
    """Why the player could not be measured, where he could not."""


def read_records(path: Path) -> dict[str, Record]:
    """Records by the players' names; none where there is no file.  Raises `BenchmarkError`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        return {name: _record(content) for name, content in document["players"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = plain_text(f"{type(error).__name__}: {error}")
        raise BenchmarkError(
            f"{path}: holds no measured players ({why}); delete it to measure anew"
        ) from None


def write_records(path: Path, records: Mapping[str, Record]) -> None:
    """Write `records` to `path`, whole or not at all; raises `FileError`."""
    players = {name: asdict(record) for name, record in records.items()}
    write_text(path, json.dumps({"format": FORMAT, "players": players}, indent=1) + "\n")


def _record(content: Mapping[str, Any]) -> Record:
    rates = {name: ErrorRate(**rate) for name, rate in content["error_rates"].items()}
    conditions = Conditions(**content["conditions"])
    return Record(**{**content, "conditions": conditions, "error_rates": rates})
