"""Names and descriptions of hidden units, made from their strongest inputs.

A unit has many weights, and parameters overlap, so the largest weights may cancel. A unit is therefore
described by the inputs that predict its value: the input that correlates most with it on typical positions,
then the input that correlates most with the residual, up to three inputs. Inputs are the parameters, made
points and points with a blot.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import boards_from_gnubg_ids
from motif.board.packed import PACKED_BAR, Board, pack_many
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.point_table import checkers_by_place
from motif.evaluators.weight_file import SIDES, HiddenLayer, WeightFile
from motif.parameters import Parameter, ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.registry import SIDE_WORDS
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray

MAX_INPUTS = 3
"""Maximum number of inputs in a description."""
_NAMED_INPUTS = 2
"""Number of inputs in a name."""
_MIN_GAIN = 0.03
"""Share of a unit's variance that a further input must explain."""
_RARE = 0.02
"""Share of the positions on which an input must differ from its usual value."""
_LEFT = 0.05
"""Share of an input's variance that the previous inputs must leave unexplained."""
_CONSTANT = 1e-9
"""Standard deviation below which a unit counts as constant."""
_NOTHING = "much the same everywhere"
_STEADY = "steady"
_BAR = PACKED_BAR + 1
_COUNTED = re.compile(r"\b\w\w+s\b")
"""A plural noun before the first "of"."""


@dataclass(frozen=True)
class _Input:
    """A possible input for a unit's name."""

    side: str
    """``own``, ``opponent``, or another value for inputs of both sides."""
    key: str
    """Parts of names: where the input is high, and where it is low."""
    few_key: str
    words: str
    """The same in words."""
    few_words: str


@dataclass(frozen=True)
class UnitWords:
    """The description of a unit."""

    words: str
    """The conditions in which the unit is large, strongest first."""
    share: float
    """Share of the unit's variance that these inputs explain, 0 to 1."""


def unit_names(layer: HiddenLayer, parameters: ParameterSet, boards: Board) -> tuple[str, ...]:
    """Return a name for each unit from its two strongest inputs, such as ``home_points_vs_few_spare_pips``.

    ``vs`` joins inputs of different sides and ``with`` joins others; inputs of the opponent begin with
    ``opp_``. Names are unique: the second unit with a name is called ``NAME_2``. Inputs are compared on
    `boards` (n, 26), several hundred positions of the class; weight files are described on `typical_boards`.
    """
    names: list[str] = []
    for inputs, _ in _strongest(layer, parameters, boards):
        base = name = _joined(inputs[:_NAMED_INPUTS])
        number = 1
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return tuple(names)


def unit_words(layer: HiddenLayer, parameters: ParameterSet, boards: Board) -> tuple[UnitWords, ...]:
    """Return each unit's description in words, such as "many own home points, few opponent's spare pips".

    `boards` (n, 26) are as for `unit_names`.
    """
    return tuple(
        UnitWords(", ".join(one.words if much else one.few_words for one, much in inputs) or _NOTHING, share)
        for inputs, share in _strongest(layer, parameters, boards)
    )


def words_of_units(weights: WeightFile, class_name: str) -> dict[str, UnitWords]:
    """Return the descriptions of the hidden units of a class, by name, in the file's order.

    Descriptions are based on typical positions, so a file always has the same ones.
    """
    layer = weights.hidden_of(class_name)
    return {} if layer is None else _words_of(layer, weights.parameters, class_name)


def unit_term(class_name: str, name: str) -> str:
    """Return a unit's name with its class, because units of two classes may have the same name."""
    return f"{class_name} unit {name}"


@cache
def typical_boards(class_name: str) -> Board:
    """Return 500 different positions (500, 26) of a class, from money games of an earlier version."""
    lines = resources.files("motif").joinpath("data", "typical_positions.txt").read_text("ascii").splitlines()
    begin = lines.index(class_name) + 1
    end = next((k for k in range(begin, len(lines)) if lines[k] in CLASS_NAMES), len(lines))
    boards = boards_from_gnubg_ids(lines[begin:end])
    boards.flags.writeable = False
    return boards


@lru_cache(maxsize=8)
def _words_of(layer: HiddenLayer, parameters: ParameterSet, class_name: str) -> dict[str, UnitWords]:
    words = unit_words(layer, parameters, typical_boards(class_name))
    return dict(zip(layer.names, words, strict=True))


_Strongest = list[tuple[_Input, bool]]
"""Inputs of a unit, strongest first, and whether each is high where the unit is large."""


def _strongest(layer: HiddenLayer, parameters: ParameterSet, boards: Board) -> list[tuple[_Strongest, float]]:
    """Return the inputs for each unit's name, and the share of its variance that they explain."""
    packed, rows = pack_many(boards), features(parameters, boards)
    known, used, columns = _inputs(layer, parameters, rows, checkers_by_place(packed))
    squashed = squash_units(layer.sums(rows, packed))
    centred = columns - columns.mean(axis=0)
    spreads = columns.std(axis=0)
    scaled = centred / np.where(spreads > 0, spreads, 1)
    deviations = squashed - squashed.mean(axis=0)
    size = deviations.std(axis=0)
    deviations /= np.where(size > _CONSTANT, size, 1)
    together = np.einsum("ri,rj->ij", scaled, scaled, optimize=False) / len(boards)
    along = np.einsum("ri,rk->ki", scaled, deviations, optimize=False) / len(boards)
    frequent = (columns != np.median(columns, axis=0)).mean(axis=0) >= _RARE
    strongest = []
    for k, row in enumerate(along):
        may = frequent & used[k] & (size[k] > _CONSTANT)
        places, share = _steps(row, together, may)
        strongest.append(([(known[place], bool(row[place] > 0)) for place in places], share))
    return strongest


def _steps(along: FloatArray, together: FloatArray, may: BoolArray) -> tuple[list[int], float]:
    """Select the inputs that explain most of a variable, one by one; return them and the share explained.

    `along` (c,) are the correlations of the inputs with the variable, `together` (c, c) their correlations
    with each other. An input is used only if its effect has the same sign with and without the other inputs,
    because readers judge each input separately.
    """
    places: list[int] = []
    share = 0.0
    while len(places) < MAX_INPUTS and may.any():
        among = together[np.ix_(places, places)]
        by_others = np.linalg.solve(among, together[places]) if places else np.zeros((0, len(along)))
        rest = along - (along[places, None] * by_others).sum(axis=0)
        free = 1 - (together[places] * by_others).sum(axis=0)
        counts = may & (free > _LEFT) & (rest * along > 0)
        gains = np.where(counts, rest**2 / np.where(counts, free, 1), 0)
        # Rounded, so that the first of two equivalent inputs is chosen on every machine.
        best = int(gains.round(9).argmax())
        if gains[best] < (_MIN_GAIN if places else _CONSTANT):
            break
        places.append(best)
        share += float(gains[best])
    return places, min(share, 1.0)


def _inputs(
    layer: HiddenLayer,
    parameters: ParameterSet,
    rows: Float32Array,
    checkers: npt.NDArray[np.int8],
) -> tuple[list[_Input], BoolArray, FloatArray]:
    """Return the c possible inputs, which of them each unit has (m, c), and their values (n, c)."""
    known = [_of_parameter(parameter) for parameter in parameters.parameters]
    used, columns = [layer.inputs != 0], [rows.astype(np.float64)]
    read = (layer.points != 0).any(axis=-1)
    for side, whose in enumerate(SIDES):
        for place in range(PACKED_BAR + 1):
            known += _of_place(whose, place + 1)
            here = checkers[:, side, place]
            there = [here > 0] if place == PACKED_BAR else [here > 1, here == 1]
            columns.append(np.stack(there, axis=1).astype(np.float64))
            used.append(np.repeat(read[:, side, place, None], len(there), axis=1))
    return known, np.concatenate(used, axis=1), np.concatenate(columns, axis=1)


def _of_parameter(parameter: Parameter) -> _Input:
    label, key = parameter.short, parameter.base_name
    if parameter.is_flag:
        return _Input(parameter.side, key, f"no_{key}", f"{label}: yes", f"{label}: no")
    head = label.removeprefix(SIDE_WORDS.get(parameter.side, "")).partition(" of ")[0]
    if _COUNTED.search(head):
        return _Input(parameter.side, key, f"few_{key}", f"many {label}", f"few {label}")
    return _Input(parameter.side, key, f"low_{key}", f"high {label}", f"low {label}")


def _of_place(side: str, place: int) -> Iterable[_Input]:
    """Yield the inputs of a place: a made point and a blot; for the bar, whether it is occupied."""
    whose = SIDE_WORDS[side]
    if place == _BAR:
        words = f"{whose} bar"
        yield _Input(side, "bar", "no_bar", f"{words} occupied", f"{words} empty")
        return
    point, blot = f"{whose} {place} point", f"blot on {whose} {place} point"
    yield _Input(side, f"point_{place}", f"no_point_{place}", f"{point} made", f"{point} not made")
    yield _Input(side, f"blot_{place}", f"no_blot_{place}", blot, f"no {blot}")


def _joined(inputs: _Strongest) -> str:
    """Return the name of one or two inputs."""
    if not inputs:
        return _STEADY
    keys = [one.key if much else one.few_key for one, much in inputs]
    sides = [one.side for one, _ in inputs]
    opponents = [f"opp_{key}" if side == SIDES[1] else key for key, side in zip(keys, sides, strict=True)]
    if len(inputs) == 1:
        return opponents[0]
    if sides[0] not in SIDES:
        return f"{keys[0]}_with_{opponents[1]}"
    across = sides[1] in SIDES and sides[1] != sides[0]
    return f"{opponents[0]}_{'vs' if across else 'with'}_{keys[1]}"
