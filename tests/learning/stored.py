"""Datasets stored again, in different parts or repeated."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from motif.board.identifiers import gnubg_ids
from motif.evaluators import OUTPUTS
from motif.sampling.dataset import Dataset, joined
from motif.sampling.dataset_files import write_manifest, write_part


def stored(folder: Path, samples: Dataset, rows_a_part: int, times: int = 1) -> Path:
    """Write `samples`, repeated `times` times as different games, to `folder`."""
    folder.mkdir()
    ids, parts = np.array(gnubg_ids(samples.boards)), []
    games, decisions = int(samples.game.max()) + 1, int(samples.decision.max()) + 1
    for start in range(0, len(samples) * times, rows_a_part):
        rows = np.arange(start, min(start + rows_a_part, len(samples) * times))
        turn, row = np.divmod(rows, len(samples))
        part = samples.rows(row)
        names = ("equity", "equity_se", "trials", "ply", "chosen")
        columns = {
            "position": ids[row].tolist(),
            **{name: part.probabilities[:, k] for k, name in enumerate(OUTPUTS)},
            **{name: getattr(part, name) for name in names},
            "game": (part.game + turn * games).astype(np.int32),
            "decision": part.decision + turn * decisions,
            "cls": part.position_class,
        }
        parts.append(write_part(folder, len(parts), columns, {}))
    write_manifest(folder, {}, parts, complete=True)
    return folder


def put_behind(first: Dataset, second: Dataset) -> Dataset:
    """Both datasets, with new game and decision numbers for the second."""
    return joined(
        [
            first,
            replace(
                second,
                game=second.game + first.game.max() + 1,
                decision=second.decision + first.decision.max() + 1,
            ),
        ]
    )
