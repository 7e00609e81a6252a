"""Sampling: games of self-play whose positions are labelled by rollouts, in parallel, into a dataset."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from motif.board.identifiers import gnubg_ids
from motif.board.movegen import MAX_PLAYS
from motif.board.position import Position, pack_many, unpack_many
from motif.evaluators import StaticEvaluator, load_static
from motif.evaluators.model import Model
from motif.evaluators.probabilities import OUTPUTS
from motif.evaluators.static import filtered, model_fingerprint, thread_workspace
from motif.parameters.position_class import classify_many
from motif.rollout.statistics import mean_and_error
from motif.runtime.errors import DatasetError
from motif.runtime.files import is_temporary
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.version import VERSION
from motif.sampling.dataset import (
    Part,
    checksum,
    part_name,
    read_manifest,
    write_manifest,
    write_part,
)
from motif.sampling.self_play import new_record, self_play
from motif.sampling.settings import SampleSettings

_PARTS = 64
"""A dataset has about as many parts; a part is what a worker does at a time and what a stop loses."""


@dataclass(frozen=True)
class SampleResult:
    """What sampling has done."""

    folder: Path
    positions: int
    trials: int
    """Rollouts a position."""
    games: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Numbers for a report."""
        return {
            "positions": self.positions,
            "trials": self.trials,
            "games": self.games,
            "seconds": self.seconds,
            "games_per_second": self.games / self.seconds if self.seconds > 0 else 0.0,
        }


def sample(
    settings: SampleSettings,
    folder: Path | str,
    *,
    resume: bool = False,
    jobs: int | None = None,
    player_label: str | None = None,
) -> SampleResult:
    """Play, label and write a dataset to `folder`.

    The same settings give the same bytes for any number of `jobs`, also after a stop and `resume`.
    `player_label` is what the dataset calls the player, by default the name that loads it; what the
    player is stands there as a fingerprint of its weights.
    Raises `DatasetError` when `folder` holds a dataset already and `resume` is not set, or when that
    one was made with other settings.
    """
    settings.check()
    folder = Path(folder)
    evaluator = filtered(load_static(settings.player))
    provenance = {
        **asdict(settings),
        "player": player_label or settings.player,
        "player_fingerprint": model_fingerprint(evaluator.model),
        "games_a_part": -(-settings.games // _PARTS),
        "motif": VERSION,
    }
    kept = _kept_parts(folder, provenance, resume)
    started = time.monotonic()
    parts = list(_all_parts(settings, provenance, folder, evaluator, kept, jobs))
    write_manifest(folder, provenance, parts, complete=True)
    seconds = time.monotonic() - started
    positions = sum(part.rows for part in parts)
    return SampleResult(folder, positions, settings.trials, settings.games, seconds)


def _kept_parts(folder: Path, provenance: dict[str, Any], resume: bool) -> dict[str, Part]:
    """The whole parts of an earlier run with the same settings, by name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{folder}: cannot be made: {error}") from None
    if all(map(is_temporary, folder.iterdir())):
        return {}
    settings, parts, _ = read_manifest(folder)
    if not resume:
        raise DatasetError(f"{folder}: holds a dataset already; --resume continues it")
    for key, value in provenance.items():
        if settings.get(key) != value:
            raise DatasetError(
                f"{folder}: was made with {key} = {settings.get(key)!r}, not {value!r}: cannot be resumed"
            )
    return {part.name: part for part in parts if _is_whole(folder, part)}


def _is_whole(folder: Path, part: Part) -> bool:
    path = folder / part.name
    return path.is_file() and checksum(path) == part.sha256


def _all_parts(
    settings: SampleSettings,
    provenance: dict[str, Any],
    folder: Path,
    evaluator: StaticEvaluator,
    kept: dict[str, Part],
    jobs: int | None,
) -> Iterator[Part]:
    """Every part in order, made where it is not kept; the manifest follows each one."""
    games_a_part = provenance["games_a_part"]
    starts = range(0, settings.games, games_a_part)
    missing = [k for k in range(len(starts)) if part_name(k) not in kept]
    calls = (
        (settings, evaluator.model, starts[k], min(games_a_part, settings.games - starts[k])) for k in missing
    )
    write_manifest(folder, provenance, sorted(kept.values(), key=lambda part: part.name), complete=False)
    with (
        progress(f"sampling {settings.games} games of {settings.player}", len(starts)) as advance,
        closing(run_ordered(sample_games, calls, jobs)) as made,
    ):
        advance(len(kept))
        done: list[Part] = []
        for k in range(len(starts)):
            if part_name(k) in kept:
                part = kept[part_name(k)]
            else:
                part = write_part(folder, k, next(made), provenance)
                advance(1)
            done.append(part)
            later = [kept[part_name(j)] for j in range(k + 1, len(starts)) if part_name(j) in kept]
            write_manifest(folder, provenance, done + later, complete=False)
            yield part


def sample_games(settings: SampleSettings, model: Model, first: int, count: int) -> dict[str, Any]:
    """Columns of the dataset for the games first .. first + count - 1."""
    start = pack_many(Position.start().board[None])[0]
    record, tried, space = new_record(), new_record(MAX_PLAYS), thread_workspace()
    columns: dict[str, list[Any]] = {}
    rates = settings.rates()
    for game in range(first, first + count):
        rows = self_play(
            model,
            start,
            settings.seed,
            game,
            settings.decide == "rollout",
            settings.candidates,
            rates,
            settings.noise,
            settings.trials,
            settings.cut,
            settings.stop_at_race,
            space,
            record,
            tried,
        )
        means, errors = mean_and_error(record.sums[:rows], record.squares[:rows], settings.trials)
        made = {
            "position": gnubg_ids(unpack_many(record.boards[:rows])),
            **{name: means[:, k].astype(np.float32) for k, name in enumerate(OUTPUTS)},
            "equity": means[:, -1].astype(np.float32),
            "equity_se": errors[:, -1].astype(np.float32),
            "trials": np.full(rows, settings.trials, np.int32),
            "game": np.full(rows, game, np.int32),
            "ply": record.plies[:rows].copy(),
            "decision": record.items[:rows].copy(),
            "chosen": record.chosen[:rows].copy(),
            "cls": classify_many(record.boards[:rows]),
        }
        for name, values in made.items():
            columns.setdefault(name, []).append(values)
    ids = list(chain.from_iterable(columns.pop("position")))
    return {"position": ids, **{name: np.concatenate(values) for name, values in columns.items()}}
