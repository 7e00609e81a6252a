"""The data of fits, by class, in memory-mapped files.

Datasets are read one part at a time and their features are appended to temporary files. All fits, including
those in other processes, share the pages of these files, so the dataset is in memory only once, and the
system can drop pages when memory is short. Whole games are held out for validation.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from motif.board.packed import BOARD_SIZE, Board
from motif.evaluators import OUTPUTS
from motif.evaluators.probabilities import HEADS
from motif.fitting.problem import decision_starts, link_of
from motif.learning.label_noise import label_variances
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import BoolArray, Float32Array, IntArray, slices
from motif.runtime.errors import FitError
from motif.runtime.files import refusals, scratch_folder
from motif.sampling.dataset import Dataset, drawn_games, joined, read_parts
from motif.sampling.dataset_files import read_column, read_manifest
from motif.sampling.origin import GameNumbers, pooled_games

_CONTENT = ("game", "ply", "decision", "trials", *HEADS)
"""Columns that tell datasets of the same games apart."""
_SIDES = ("training", "validation")
_Scalar = TypeVar("_Scalar", bound=np.generic)
_SCRATCH = "motif-fit-"
"""Beginning of the names of temporary files and folders."""
_MIN_MAPPED = 1 << 26
"""Minimum size in bytes of a selection of rows that is stored in a file."""
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The n positions of one class: training rows in order, then held-out rows."""

    class_name: str
    features: Float32Array
    """(n, size of the parameter set): scaled features."""
    labels: Float32Array
    """(n, len(HEADS)): labels."""
    decisions: IntArray
    """(n,): ids; the rows of one decision are consecutive."""
    boards: Board
    """(n, 26): positions."""
    games: npt.NDArray[np.int32]
    """(n,): number of each row's game."""
    training: int
    """Number of training rows."""
    after_replies: BoolArray
    """(n,): whether the position is one after a reply, in which the player who chose is on roll again."""
    variances: Float32Array | None = None
    """(n, len(HEADS)): variances of the labels, NaN if unknown; None if all are unknown."""

    def __len__(self) -> int:
        return len(self.decisions)


@contextmanager
def class_rows(
    folders: Sequence[Path],
    parameters: ParameterSet,
    validation: float,
    seed: int,
    *,
    changed: Callable[[Dataset], Dataset] | None = None,
) -> Iterator[dict[str, ClassRows]]:
    """Provide the rows of each class of the datasets in `folders`, as a context manager.

    Approximately the share `validation` of the games, drawn with `seed`, is held out. `changed` changes
    labels of whole decisions, whose variances are then unknown. The files are in a temporary folder (TMPDIR
    selects it): per position, 87 bytes and 4 for each parameter. Raises `DatasetError` for data that cannot
    be read, `FileError` if the files cannot be written.
    """
    games = validation_games(folders, validation, seed)
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(_SCRATCH))
        parts = pooled_parts(folders)
        for part in parts if changed is None else _with_whole_decisions(parts):
            variances = label_variances(part)
            if changed is not None:
                part = changed(part)
                variances[:] = np.nan
            with refusals(str(folder)):
                _append(folder, part, variances, np.isin(part.game, games), parameters)
        with refusals(str(folder)):
            rows = {
                name: _mapped(folder, name, len(parameters))
                for name in CLASS_NAMES
                if _path(folder, name, "decisions", _SIDES[0]).exists()
            }
        yield rows


def rows_where(values: npt.NDArray[_Scalar], mask: BoolArray) -> npt.NDArray[_Scalar]:
    """Return the rows of `values` (n, ...) where `mask` (n,) is true.

    If all rows are selected, `values` itself is returned. A large selection is stored in a memory-mapped
    temporary file, like those of `class_rows`, which exists as long as the array. Raises `FileError` if it
    cannot be written.
    """
    if mask.all():
        return values
    count = int(np.count_nonzero(mask))
    shape = (count, *values.shape[1:])
    if count * values[:1].nbytes <= _MIN_MAPPED:
        return values[mask]
    with refusals("a temporary file"), tempfile.TemporaryFile(prefix=_SCRATCH) as file:
        for part in slices(len(mask), _ROWS_AT_ONCE):
            file.write(values[part][mask[part]].tobytes())
        file.flush()
        return np.asarray(np.memmap(file, values.dtype, "c", shape=shape))


def pooled_parts(folders: Sequence[Path]) -> Iterator[Dataset]:
    """Yield the datasets in `folders`, one after the other, with distinct numbers of games and decisions.

    The same game has the same number in all of them (`pooled_games`). Each part has a limited number of
    positions, so datasets can be of any size. Raises `FitError` for a label that is not a valid probability
    or equity.
    """
    if not folders:
        raise FitError("at least one dataset is needed")
    decisions = 0
    for folder, numbers in zip(map(Path, folders), _game_numbers(folders), strict=True):
        first_decision, rows = decisions, 0
        for part in read_parts(folder):
            _check_labels(part, folder, rows)
            rows += len(part)
            game = numbers.of(part.game)
            decision = part.decision.astype(np.int64) + first_decision
            decisions = max(decisions, int(decision.max()) + 1)
            yield replace(part, game=game, decision=decision)


def _with_whole_decisions(parts: Iterable[Dataset]) -> Iterator[Dataset]:
    """Yield `parts` again, cut only between decisions."""
    held: Dataset | None = None
    for part in parts:
        if held is not None:
            if held.decision[-1] == part.decision[0]:
                last = int(decision_starts(held.decision, len(held))[-2])
                held, part = held[:last], joined([held[last:], part])
            if len(held):
                yield held
        held = part
    if held is not None:
        yield held


def _game_numbers(folders: Sequence[Path]) -> list[GameNumbers]:
    """Return the numbers of the games of each dataset, which are the same for the same games."""
    origins = [read_manifest(Path(folder)).origin for folder in folders]
    counts = [0] if len(folders) == 1 else [int(read_column(Path(one), "game").max()) + 1 for one in folders]
    return pooled_games(origins, counts)


def check_different(folders: Sequence[Path]) -> None:
    """Raise `FitError` for two datasets in `folders` with the same positions and labels."""
    if len(folders) == 1:
        return
    places = dict[tuple[str, int], list[Path]]()
    for folder in folders:
        manifest = read_manifest(folder)
        alike = places.setdefault((manifest.games_key, manifest.positions), [])
        for other in alike:
            if all(
                np.array_equal(read_column(folder, name), read_column(other, name), equal_nan=True)
                for name in _CONTENT
            ):
                raise FitError(f"{folder}: the dataset is given twice: it is that in {other}")
        alike.append(folder)


def _check_labels(part: Dataset, folder: Path, first_row: int) -> None:
    columns = {name: part.probabilities[:, k] for k, name in enumerate(OUTPUTS)} | {"equity": part.equity}
    for name, values in columns.items():
        link = link_of(name)
        for row in np.flatnonzero(~link.covers(values))[:1]:
            raise FitError(
                f"{folder}: {name} of row {first_row + row} is {values[row]}: it must be {link.bounds_text}"
            )


def validation_games(folders: Sequence[Path], validation: float, seed: int) -> IntArray:
    """Return the held-out games, numbered as in `pooled_parts`: approximately the share `validation`."""
    every: list[IntArray] = [np.empty(0, np.int64)]
    for folder, numbers in zip(folders, _game_numbers(folders), strict=True):
        every.append(numbers.of(read_column(Path(folder), "game").astype(np.int64)))
    return drawn_games(np.unique(np.concatenate(every)), validation, seed)


def held_out(folders: Sequence[Path], validation: float, seed: int) -> tuple[Dataset, Float32Array]:
    """Return the n validation positions of a fit to `folders` with this `validation` and `seed`.

    Also return the variances of their labels (n, len(HEADS)); see `label_variances`.
    """
    games = validation_games(folders, validation, seed)
    parts = [part.rows(np.isin(part.game, games)) for part in pooled_parts(folders)]
    return joined(parts), np.concatenate([label_variances(part) for part in parts])


def _path(folder: Path, class_name: str, column: str, side: str) -> Path:
    return folder / f"{class_name}-{column}-{side}"


def _append(
    folder: Path,
    part: Dataset,
    variances: Float32Array,
    validation: BoolArray,
    parameters: ParameterSet,
) -> None:
    for code in np.unique(part.position_class):
        for side, on_side in zip(_SIDES, (~validation, validation), strict=True):
            which = on_side & (part.position_class == code)
            rows = part.rows(which)
            columns: dict[str, npt.NDArray[Any]] = {
                "features": features(parameters, rows.boards),
                "labels": np.column_stack([rows.probabilities, rows.equity]),
                "decisions": rows.decision,
                "boards": rows.boards,
                "games": rows.game.astype(np.int32),
                "after_replies": np.full(len(rows), rows.origin.after_replies),
                "variances": variances[which],
            }
            for column, values in columns.items():
                with open(_path(folder, CLASS_NAMES[code], column, side), "ab") as file:
                    file.write(values.tobytes())


def _mapped(folder: Path, class_name: str, size: int) -> ClassRows:
    """Return the files of one class as arrays, training and validation joined."""

    def column(name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        path, rest = (_path(folder, class_name, name, side) for side in _SIDES)
        with open(path, "ab") as file, open(rest, "rb") as tail:
            shutil.copyfileobj(tail, file)
        rest.unlink()
        # Copy-on-write, because kernels are compiled for writable arrays.
        return np.asarray(np.memmap(path, kind, "c"))

    training = _path(folder, class_name, "games", _SIDES[0]).stat().st_size // np.dtype(np.int32).itemsize
    return ClassRows(
        class_name,
        column("features", np.float32).reshape(-1, size),
        column("labels", np.float32).reshape(-1, len(HEADS)),
        column("decisions", np.int64),
        column("boards", np.int8).reshape(-1, BOARD_SIZE),
        column("games", np.int32),
        training,
        column("after_replies", np.bool_),
        column("variances", np.float32).reshape(-1, len(HEADS)),
    )
