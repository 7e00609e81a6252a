"""Labelled positions in memory, as NumPy arrays and data frames.

`read_dataset` reads a dataset from its folder, `Dataset.from_frame` makes a dataset from a data frame, and
`Dataset.write` writes a dataset to a folder, to which weights can be fitted.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from motif.board.identifiers import ID_LENGTH, boards_from_gnubg_ids, gnubg_ids
from motif.board.packed import Board, pack_many
from motif.board.position import Position, as_boards
from motif.evaluators.probabilities import OUTPUTS, equities, probability_fault
from motif.parameters import ParametersLike, parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.arrays import ArrayLike, BoolArray, Float32Array, IntArray
from motif.runtime.errors import DatasetError, PositionError, SettingError, did_you_mean, shown
from motif.runtime.files import clear_temporaries, path_of, working_in
from motif.runtime.frames import frame
from motif.runtime.layout import counted
from motif.runtime.package import VERSION
from motif.runtime.parquet import texts_of
from motif.runtime.settings import check_seed, is_truth, require
from motif.runtime.streams import derive_states
from motif.sampling.dataset_files import (
    DatasetPart,
    batches_of,
    is_dataset,
    kept_parts,
    numbers_of,
    read_manifest,
    whole_parts,
    write_manifest,
    write_part,
)
from motif.sampling.origin import UNKNOWN, Origin, joint_origin, pooled_games

if TYPE_CHECKING:
    from pandas import DataFrame

_PLAIN_COLUMNS = ("equity", "equity_se", "trials", "game", "ply", "decision", "chosen")
"""Columns of a part that are unchanged fields of `Dataset`."""
_MINIMA = {"equity_se": 0, "trials": 1, "game": 0, "ply": 0, "decision": 0}
"""Smallest values of columns."""
_ROUNDING = 0.01
"""Difference, in points, between an equity in a table and that of its rounded probabilities."""
ROWS_A_PART = 50_000
"""Number of positions per part of a dataset that was not sampled."""


class FrameLike(Protocol):
    """A data frame, or another mapping of names to columns."""

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> Iterable[object]: ...


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled positions in memory; index it by slices, masks or row numbers, and join two with ``+``.

    ``+`` counts the games of the two as different, so join different datasets, not pieces of one: if a game
    is in both pieces, splits and standard errors treat its halves as independent.

    Examples
    --------
    >>> import motif
    >>> data = motif.read_dataset("runs/try")  # doctest: +SKIP
    >>> train, validation = data.split(validation=0.1)  # doctest: +SKIP
    >>> model.fit(train.X(), train.y("equity"))  # doctest: +SKIP
    """

    boards: Board
    """Boards (n, 26), from the side of the player on roll."""
    probabilities: Float32Array
    """Labels (n, 5)."""
    equity: Float32Array
    equity_se: Float32Array
    """Standard error of `equity`; NaN for a single trial."""
    trials: npt.NDArray[np.int32]
    game: npt.NDArray[np.integer]
    ply: npt.NDArray[np.int32]
    decision: IntArray
    chosen: BoolArray
    position_class: npt.NDArray[np.int8]
    """Indices into `CLASS_NAMES`."""
    origin: Origin = UNKNOWN
    """Where the positions come from, as far as it is known."""

    def __len__(self) -> int:
        return len(self.boards)

    def __repr__(self) -> str:
        return f"<dataset of {counted(len(self), 'position')}, {counted(len(np.unique(self.game)), 'game')}>"

    def rows(self, which: slice | BoolArray | npt.NDArray[np.integer]) -> "Dataset":
        """Return the rows of a slice, of a mask (n,) or with the given numbers."""
        arrays = {name: getattr(self, name)[which] for name in _ARRAYS}
        return replace(self, **arrays, origin=self.origin.of_rows)

    def __getitem__(self, which: slice | ArrayLike) -> "Dataset":
        if isinstance(which, slice):
            return self.rows(which)
        numbers = np.atleast_1d(np.asarray(which))
        if numbers.ndim > 1 or (numbers.size and numbers.dtype.kind not in "biu"):
            given = numbers.shape if numbers.ndim > 1 else shown(which)
            raise DatasetError(f"rows must be a slice, a mask (n,) or row numbers (n,), not {given}")
        return self.rows(numbers if numbers.size else numbers.astype(np.intp))

    def __add__(self, other: "Dataset") -> "Dataset":
        """Join two datasets of different games, whose games and decisions get new numbers if necessary."""
        if not isinstance(other, Dataset):
            return NotImplemented
        games = _apart(self.game, other.game, _MAX_GAME)
        decisions = _apart(self.decision, other.decision, _MAX_DECISION)
        renumbered = (
            replace(one, game=game, decision=decision.astype(np.int64))
            for one, game, decision in zip((self, other), games, decisions, strict=True)
        )
        return replace(joined(renumbered), origin=self.origin + other.origin)

    @property
    def positions(self) -> list[Position]:
        """The positions, from the side of the player on roll."""
        return [Position(board) for board in self.boards]

    @property
    def groups(self) -> npt.NDArray[np.integer]:
        """Game of each position (n,), for the argument ``groups`` in scikit-learn."""
        return self.game

    @property
    def decisions(self) -> IntArray:
        """Decision of each position (n,); the candidate plays of a decision have the same number."""
        return self.decision

    def X(  # noqa: N802
        self, parameters: ParametersLike = "motif", *, scaled: bool = True
    ) -> Float32Array:
        """Measure the parameters of every position.

        Parameters
        ----------
        parameters : str, Path or ParameterSet
            A set, its name, or a file of your own.
        scaled : bool
            Whether values are scaled for weights, or are in the units of the parameters.

        Returns
        -------
        ndarray of float32, shape (n, parameters)
            Values in the order of `feature_names`.
        """
        return features(parameter_set(parameters), self.boards, scaled=scaled)

    @staticmethod
    def feature_names(parameters: ParametersLike = "motif") -> list[str]:
        """Return the names of the columns of `X`."""
        return list(parameter_set(parameters).names)

    def y(self, target: str = "equity") -> Float32Array:
        """Return labels: ``equity``, one of the five probabilities by name, or all ``probabilities``.

        Returns
        -------
        ndarray of float32, shape (n,), or (n, 5) for ``probabilities``
            Equity of the player on roll in points, or probabilities from 0 to 1.
        """
        known = ("equity", "probabilities", *OUTPUTS)
        if not isinstance(target, str) or target not in known:
            hint = did_you_mean(target, known) if isinstance(target, str) else ""
            raise SettingError(f"target must be one of {', '.join(known)}, not {shown(target)}{hint}")
        if target == "equity":
            return self.equity.copy()
        if target == "probabilities":
            return self.probabilities.copy()
        return self.probabilities[:, OUTPUTS.index(target)].copy()

    def split(self, validation: float = 0.1, seed: int = 0) -> tuple["Dataset", "Dataset"]:
        """Split off a share `validation` of the games, drawn with `seed`; return both parts.

        The second part has the games that a fit with the same `validation` and `seed` holds out.
        """
        check_seed(seed)
        is_valid = isinstance(validation, Real) and 0 <= validation < 1
        require(is_valid, "validation", validation, "at least 0 and below 1")
        held = np.isin(self.game, drawn_games(np.unique(self.game).astype(np.int64), validation, seed))
        return self.rows(~held), self.rows(held)

    def to_frame(self) -> "DataFrame":
        """Return a data frame of pandas (or polars without pandas) with the columns of the files."""
        return frame(self.columns() | {"cls": np.array(CLASS_NAMES)[self.position_class]})

    @classmethod
    def from_frame(cls, table: "FrameLike | pa.Table") -> "Dataset":
        """Make a dataset from a data frame, a table of PyArrow or any other mapping of names to columns.

        Parameters
        ----------
        table : DataFrame, pyarrow.Table or mapping
            The column ``position`` has positions in any format, and the five probabilities are columns by
            name.  The columns ``equity``, ``equity_se``, ``trials``, ``game``, ``ply``, ``decision`` and
            ``chosen`` are optional; without them, equity is computed from the probabilities, each position
            is a separate decision, and each decision a separate game.

        Raises
        ------
        DatasetError
            If a column is missing, a value is impossible, or a decision occurs in two games or plies, as
            after joining the frames of two datasets: join datasets with ``+`` instead.
        """
        if isinstance(table, pa.Table):
            table = {name: table[name].to_numpy() for name in table.column_names}
        # In a record array or a list, `in` looks for values.
        is_mapping = hasattr(table, "__getitem__") and hasattr(table, "__contains__")
        if not is_mapping or isinstance(table, np.ndarray | Sequence):
            raise DatasetError(f"the table must be a data frame or a mapping of columns, not {shown(table)}")
        missing = [name for name in ("position", *OUTPUTS) if name not in table]
        if missing:
            needed = ", ".join(("position", *OUTPUTS))
            raise DatasetError(f"the data frame lacks the column {missing[0]!r}: it must have {needed}")
        if not isinstance(table["position"], Iterable):
            raise DatasetError(f"position must be a column of positions, not {shown(table['position'])}")
        boards = _boards_of_column(list(table["position"]))
        count = len(boards)
        probabilities = np.column_stack([_column(table, name, np.float32, count) for name in OUTPUTS])
        if fault := probability_fault(probabilities):
            row, name, rule = fault
            value = probabilities[row, OUTPUTS.index(name)]
            raise DatasetError(f"{name} of row {row} is {value}: it must be {rule}")
        data = labelled(boards, np.clip(probabilities, 0, 1))
        plain: dict[str, Any] = {
            name: _column(table, name, getattr(data, name).dtype, count)
            for name in _PLAIN_COLUMNS
            if name in table
        }
        if "decision" in plain and "game" not in plain:
            plain["game"] = np.unique(plain["decision"], return_inverse=True)[1].astype(np.int32)
        given = replace(data, **plain)
        close = np.abs(given.equity - data.equity) <= _ROUNDING
        _check_rows(given, "equity", close, "that of the probabilities")
        _check_ranges(given)
        _check_decisions(given)
        return replace(given, origin=Origin(_content_key(given)))

    def write(self, folder: Path | str) -> Path:
        """Write the dataset to `folder`, which must be empty or new; return its path.

        The rows of a decision are written one after the other: if they are not, rows are sorted by decision.
        Raises `DatasetError` if `folder` is not empty, and `FileError` if it cannot be written.
        """
        folder = path_of("folder", folder)
        runs = 1 + np.count_nonzero(np.diff(self.decision))
        is_sorted = len(self) == 0 or runs == len(np.unique(self.decision))
        data = self if is_sorted else self.rows(np.argsort(self.decision, kind="stable"))
        pieces = (data[start : start + ROWS_A_PART] for start in range(0, len(data), ROWS_A_PART))
        write_pieces(folder, pieces, self.origin, source="python")
        return folder

    def columns(self) -> dict[str, object]:
        """Return the columns of a part's file, keyed by name."""
        return {
            "position": gnubg_ids(self.boards),
            **dict(zip(OUTPUTS, self.probabilities.T, strict=True)),
            **{name: getattr(self, name) for name in _PLAIN_COLUMNS},
            "cls": self.position_class,
        }


_ARRAYS = [field.name for field in fields(Dataset) if field.name != "origin"]
_MAX_GAME, _MAX_DECISION = (int(np.iinfo(kind).max) for kind in (np.int32, np.int64))
_Numbers = npt.NDArray[np.integer]


def _apart(first: _Numbers, second: _Numbers, limit: int) -> tuple[_Numbers, _Numbers]:
    """Return the numbers with those of `second` above those of `first`; new ones if one exceeds `limit`."""
    above = int(first.max()) + 1 if len(first) else 0
    if len(second) and int(second.max()) + above > limit:
        first, second = (np.unique(one, return_inverse=True)[1].astype(one.dtype) for one in (first, second))
        above = int(first.max()) + 1 if len(first) else 0
    return first, second + second.dtype.type(above)


def _boards_of_column(positions: list[object]) -> Board:
    try:
        # Much faster than other forms.
        if all(isinstance(position, str) and len(position) == ID_LENGTH for position in positions):
            return boards_from_gnubg_ids(cast("list[str]", positions))
        return as_boards(cast("list[Position | str]", positions))
    except PositionError as error:
        raise DatasetError(f"position: {error}") from None


def labelled(
    boards: Board,
    probabilities: Float32Array,
    game: npt.NDArray[np.integer] | None = None,
    ply: npt.NDArray[np.int32] | None = None,
) -> Dataset:
    """Make a dataset of `boards` (n, 26), each a separate decision, with labels (n, 5) without rollouts.

    Without `game` (n,), each board is also a separate game.
    """
    count = len(boards)
    numbers = np.arange(count)
    return Dataset(
        boards=boards,
        probabilities=probabilities,
        equity=equities(probabilities.astype(np.float64)).astype(np.float32),
        equity_se=np.full(count, np.nan, np.float32),
        trials=np.ones(count, np.int32),
        game=(numbers if game is None else game).astype(np.int32),
        ply=np.zeros(count, np.int32) if ply is None else ply,
        decision=numbers,
        chosen=np.ones(count, np.bool_),
        position_class=classify_many(pack_many(boards)),
    )


def write_pieces(folder: Path, pieces: Iterable[Dataset], origin: Origin = UNKNOWN, **source: object) -> int:
    """Write a dataset that was not sampled, one part per piece that is not empty; return the number of rows.

    `source` names what the positions were read from.  Raises `DatasetError` if `folder` is not empty.
    """
    provenance = {**source, **origin.settings(), "games": 0, "games_a_part": 1, "motif": VERSION}
    with working_in(folder):
        if is_dataset(folder):
            raise DatasetError(f"{folder}: already contains a dataset; name a new folder")
        kept_parts(folder, provenance, range(0), resume=False)
        clear_temporaries(folder)
        parts: list[DatasetPart] = []
        try:
            for piece in pieces:
                if len(piece):
                    parts.append(write_part(folder, len(parts), piece.columns(), provenance))
            write_manifest(folder, provenance, parts, True, origin.recorded_games)
        except BaseException:
            for part in parts:
                (folder / part.name).unlink(missing_ok=True)
            raise
    return sum(part.rows for part in parts)


def _check_rows(data: Dataset, name: str, right: BoolArray, rule: str, where: str = "") -> None:
    """Raise `DatasetError` for the first row of a column of `data` that is not `right` (n,)."""
    for row in np.flatnonzero(~right)[:1]:
        raise DatasetError(f"{where}{name} of row {row} is {getattr(data, name)[row]}: it must be {rule}")


def _check_ranges(data: Dataset, where: str = "") -> None:
    """Raise `DatasetError`, which begins with `where`, for the first value too small, or infinite."""
    for name, least in _MINIMA.items():
        # A standard error may be NaN.
        _check_rows(data, name, ~(getattr(data, name) < least), f"at least {least}", where)
    _check_rows(data, "equity_se", ~np.isinf(data.equity_se), "finite", where)


def _check_decisions(data: Dataset) -> None:
    """Raise `DatasetError` for a decision with rows of several games or plies."""
    order = np.argsort(data.decision, kind="stable")
    same = np.diff(data.decision[order]) == 0
    for name in ("game", "ply"):
        values = getattr(data, name)[order]
        for row in np.flatnonzero(same & (np.diff(values) != 0))[:1]:
            before, after = order[row : row + 2].tolist()
            raise DatasetError(
                f"decision {data.decision[after]} is of {name} {values[row]} in row {before} and of {name} "
                f"{values[row + 1]} in row {after}: a decision belongs to one {name}; join datasets with +"
            )


def _column(table: FrameLike, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
    """Return a column of `count` rows as `dtype`; raises `DatasetError` for values of another type."""
    wanted = np.dtype(dtype)
    try:
        values = np.asarray(table[name])
    except ValueError:
        raise DatasetError(
            f"{name} must have one value in each row, not lists of different lengths"
        ) from None
    if values.shape != (count,):
        rows = f"{len(values)} rows" if values.ndim == 1 else f"the shape {values.shape}"
        raise DatasetError(f"{name} must have {count} rows, like position, not {rows}")
    if wanted.kind == "f":
        try:
            return values.astype(wanted)
        except (TypeError, ValueError, OverflowError) as error:
            raise DatasetError(f"{name}: all values must be of type {wanted} ({error})") from None
    is_right, rule = is_truth, "True or False"
    if wanted.kind == "i":
        low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
        low = _MINIMA.get(name, low)
        is_right, rule = partial(_is_whole, low=low, high=high), f"a whole number from {low} to {high}"
    if values.dtype != wanted:
        for row, value in enumerate(values.tolist()):
            if not is_right(value):
                raise DatasetError(f"{name} of row {row} is {shown(value)}: it must be {rule}")
    return values.astype(wanted)


def _is_whole(value: object, *, low: int, high: int) -> bool:
    """Return whether `value` is a whole number from `low` to `high`; one may be written as 1.0."""
    if is_truth(value) or not isinstance(value, Real):
        return False
    if isinstance(value, Integral):
        return low <= int(value) <= high
    number = float(value)
    return number.is_integer() and low <= int(number) <= high


def _content_key(data: Dataset) -> str:
    """Return a key of the games of a dataset without a record of them: a hash of its positions and games."""
    content = data.boards.tobytes() + data.game.astype(np.int64).tobytes()
    return "sha256:" + hashlib.sha256(content).hexdigest()


def joined(pieces: Iterable[Dataset]) -> Dataset:
    """Join the pieces of a dataset; there must be at least one."""
    pieces = list(pieces)
    arrays = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in _ARRAYS}
    return Dataset(**arrays, origin=joint_origin(piece.origin for piece in pieces))


def in_one_pool(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Return the datasets with numbers of games that are the same for the same games, and only for these."""
    counts = [int(data.game.max()) + 1 if len(data) else 0 for data in datasets]
    numbers = pooled_games([data.origin for data in datasets], counts)
    return [replace(data, game=of.of(data.game)) for data, of in zip(datasets, numbers, strict=True)]


def without_copies(datasets: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Return the datasets, keyed by name, without those that have the same rows as an earlier one."""
    kept: dict[str, Dataset] = {}
    for name, data in datasets.items():
        if not any(_has_same_rows(data, other) for other in kept.values()):
            kept[name] = data
    return kept


def _has_same_rows(one: Dataset, other: Dataset) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in _ARRAYS]
    return all(np.array_equal(*pair, equal_nan=True) for pair in pairs)


def read_parts(folder: Path) -> Iterator[Dataset]:
    """Yield the parts of a dataset, with large parts in pieces of at most `ROWS_AT_ONCE` positions.

    Raises `DatasetError`, which names a missing or damaged part.
    """
    origin = read_manifest(folder).origin
    for path, part in whole_parts(folder):
        start = 0
        for batch in batches_of(path, part):
            data = _samples(batch, f"{path}: counted from row {start}" if start else str(path))
            yield replace(data, origin=origin)
            start += batch.num_rows


def read_dataset(folder: Path | str) -> Dataset:
    """Read a whole dataset into memory.

    Parameters
    ----------
    folder
        Folder of the dataset, as written by `sample`.

    Returns
    -------
    Dataset
        The positions and labels.

    Raises
    ------
    DatasetError, SettingError
        If the dataset is missing, empty or damaged, or `folder` is not a path.
    """
    return joined(read_parts(path_of("folder", folder)))


def drawn_games(games: IntArray, validation: float, seed: int) -> IntArray:
    """Draw about a share `validation` of the ascending `games` (n,) with `seed`; none if n is below 2."""
    if validation == 0 or len(games) < 2:
        return games[:0]
    order = np.argsort(derive_states(seed, 0, len(games), 1), kind="stable")
    return np.sort(games[order[: max(1, round(validation * len(games)))]])


def _samples(batch: pa.RecordBatch, where: str) -> Dataset:
    try:
        boards = boards_from_gnubg_ids(texts_of(batch.column("position"), where, DatasetError))
    except PositionError as error:
        raise DatasetError(f"{where}: {error}") from None
    names = texts_of(batch.column("cls"), where, DatasetError)
    if unknown := set(names) - set(CLASS_NAMES):
        raise DatasetError(f"{where}: unknown position class {shown(min(map(str, unknown)))}")
    plain: dict[str, Any] = {name: numbers_of(batch, name) for name in _PLAIN_COLUMNS}
    probabilities = np.stack([numbers_of(batch, name) for name in OUTPUTS], axis=1).astype(np.float32)
    codes = np.array([CLASS_NAMES.index(name) for name in names], np.int8)
    data = Dataset(boards=boards, probabilities=probabilities, position_class=codes, **plain)
    _check_ranges(data, f"{where}: ")
    return data
