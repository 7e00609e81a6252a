"""Weight files: the output of a fit, in YAML that people can read and compare.

Numbers are written with the fewest digits that give back the same float32, the precision of play; reading and
writing a file again produces the same file.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import yaml

from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.point_table import table_sums, tables_of
from motif.evaluators.probabilities import HEADS, OUTPUTS
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.documents import yaml_text
from motif.runtime.errors import WeightFileError, plain_text, shown
from motif.runtime.files import write_text

WEIGHTS_FORMAT = "motif-weights/1"
PAIR = "*"
"""Separator of the two names of a second-degree term."""

HEAD_NAMES = {
    "equity": "equity",
    "win": "win probability",
    "win_gammon": "probability of winning a gammon",
    "win_backgammon": "probability of winning a backgammon",
    "lose_gammon": "probability of losing a gammon",
    "lose_backgammon": "probability of losing a backgammon",
}
"""Names of heads in sentences."""
HEAD_WORDS = {head: head.replace("_", " ") for head in HEAD_NAMES}
"""Names of heads in pictures."""

SIDES = ("own", "opponent")
"""Sides whose checkers are counted; each side has its own numbering."""
_DIGITS = 4
"""Significant digits of rounded weights, so that people can read files of many weights."""
_MIN_WEIGHT = 1e-4
WORDS_KEY = "words"
"""Key of the sentences of each class."""
HIDDEN_KEY = "hidden"
MARGIN_KEY = "margin"
"""Key of a class's hidden units, by name."""
LINE_WANTED = "must be a line of 1 to 1000 visible characters"


def is_line(text: object) -> TypeGuard[str]:
    """Return whether a name or a sentence is one line that can be printed as it is, and not blank."""
    return isinstance(text, str) and bool(text.strip()) and plain_text(text) == text


class HeadKey(NamedTuple):
    """The name of a head in a weight file."""

    class_name: str
    head: str


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Weights of one head in one class, in the order of the parameter set."""

    bias: float
    linear: Float32Array
    """(n,): linear weights."""
    pairs: IntArray
    """(m, 2) indices i <= j of the second-degree terms; none for a linear head."""
    quadratic: Float32Array
    """(m,): weights of the second-degree terms."""


def linear_head(bias: float, linear: npt.ArrayLike) -> HeadWeights:
    """Return a head without second-degree terms."""
    no_pairs, no_weights = np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    return HeadWeights(bias, np.asarray(linear, np.float32), no_pairs, no_weights)


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """The m hidden units of a class, which add to the raw sums of its five probabilities."""

    names: tuple[str, ...]
    bias: Float32Array
    """(m,): biases."""
    inputs: Float32Array
    """(m, n): weights of the parameters, in the order of the set."""
    points: Float32Array
    """(m, 2, 25, POINT_STEPS): weights of the checkers on each point, by side."""
    outputs: Float32Array
    """(5, m): output weights, in the order of `OUTPUTS`."""

    def added_to(self, head: str) -> Float32Array | None:
        """Return the output weights (m,) to a head; None for the equity, which has none."""
        return self.outputs[OUTPUTS.index(head)] if head in OUTPUTS else None

    def sums(self, features: Float32Array, packed: npt.NDArray[np.int8]) -> FloatArray:
        """Return the sums (rows, m) of features (rows, n) and packed boards (rows, 64), before the squash."""
        points = np.stack([table_sums(table, packed) for table in tables_of(self.points)], axis=1)
        return np.asarray(features.astype(np.float64) @ self.inputs.T.astype(np.float64) + points + self.bias)


@dataclass(frozen=True, eq=False)
class FilterUnits:
    """The m hidden units of a move filter for one class; see `motif.evaluators.filter_units`."""

    bias: Float32Array
    """(m,): biases."""
    points: Float32Array
    """(m, 2, 25, POINT_STEPS): weights by scored side and other side, place and step."""
    outputs: Float32Array
    """(m,): output weights."""
    margin: float = math.inf
    """A play is dropped if its score is below that of the best play by more than this."""


@dataclass(frozen=True, eq=False)
class FilterWeights:
    """Move filter of a weight file, which selects the plays for full evaluation.

    It is a point table, to which hidden units may add.
    """

    kept: int
    """Maximum number of plays per decision that get the full evaluation."""
    steps: dict[str, Float32Array]
    """For each class (2, 25, POINT_STEPS): scored side and other side, place, step."""
    units: dict[str, FilterUnits] = field(default_factory=dict)
    """The hidden units of the classes that have any."""

    def scores(self, class_name: str, packed: npt.NDArray[np.int8]) -> FloatArray:
        """Return the scores (n,) of plays in a class, which lead to the packed boards (n, 64)."""
        # In a point table the scored side, which is the opponent of the player on roll, comes first.
        moved = np.roll(packed, packed.shape[1] // 2, axis=1)
        scores = table_sums(tables_of(self.steps[class_name]), moved)
        if class_name in self.units:
            units = self.units[class_name]
            for bias, table, output in zip(units.bias, tables_of(units.points), units.outputs, strict=True):
                scores += output * squash_units(bias + table_sums(table, moved))
        return scores

    def tables(self) -> Float32Array:
        """Return point tables (3, 2, 25, 16); a class without one uses contact's."""
        contact = self.steps["contact"]
        return np.stack([tables_of(self.steps.get(name, contact)) for name in CLASS_NAMES])

    def largest_output(self) -> float:
        """Return the largest magnitude of an output weight of the hidden units."""
        return max((float(np.abs(units.outputs).max()) for units in self.units.values()), default=0.0)


@dataclass(frozen=True, repr=False, eq=False)
class WeightFile:
    """The contents of a weight file."""

    name: str
    version: int
    parent: str | None
    """The player whose rollouts labelled the samples."""
    parameters: ParameterSet
    classes: Mapping[str, Mapping[str, HeadWeights]]
    """Class name -> head name -> weights."""
    move_filter: FilterWeights | None = None
    fit: Mapping[str, Any] = field(default_factory=dict)
    """Record of the fit: method, samples, dataset, errors, seed, version of motif."""
    bearoff: bool = False
    """Whether the bearoff tables replace the weights in positions that they cover."""
    calibration: Mapping[str, KnotRows] = field(default_factory=dict)
    """Class name -> knots (k, 2) of its win probability; a class without any is not calibrated."""
    hidden_layers: Mapping[str, HiddenLayer] = field(default_factory=dict)
    """Class name -> its hidden layer."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Class name -> sentences for readers about what matters most; they do not affect values."""

    def __post_init__(self) -> None:
        """Raise `WeightFileError` for a hidden layer beside an equity head, and for invalid knots."""
        for class_name in self.hidden_layers:
            heads = self.classes.get(class_name, {})
            if "win" not in heads or "equity" in heads:
                raise WeightFileError(
                    f"hidden layer of {class_name}: it adds to probabilities, so the class must have heads "
                    "for these and no equity head"
                )
        for class_name, rows in self.calibration.items():
            if class_name not in CLASS_NAMES:
                raise WeightFileError(f"no class of positions is called {shown(class_name)}")
            if fault := knot_fault(rows):
                number, problem = fault
                raise WeightFileError(f"calibration of {class_name}, knot {number + 1}: {problem}")

    def __repr__(self) -> str:
        weights = sum(
            len(head.linear) + len(head.quadratic)
            for heads in self.classes.values()
            for head in heads.values()
        )
        size = f"{len(self.classes)} classes, {weights:,} weights"
        return f"<weights {self.name}: {size} of {self.parameters.name}>"

    def _source(self, class_name: str) -> str:
        """Return the class whose weights apply: a class without weights uses contact's."""
        return class_name if class_name in self.classes else "contact"

    def heads_of(self, class_name: str) -> Mapping[str, HeadWeights]:
        """Return the weights that apply in a class, by head."""
        return self.classes[self._source(class_name)]

    def hidden_of(self, class_name: str) -> HiddenLayer | None:
        """Return the hidden layer that applies in a class, if any."""
        return self.hidden_layers.get(self._source(class_name))

    def head_names(self) -> tuple[str, ...]:
        """Return the heads of all classes, in the order of `HEADS`."""
        present = {head for heads in self.classes.values() for head in heads}
        return tuple(head for head in HEADS if head in present)

    def save(self, path: Path | str) -> None:
        """Write the file atomically; raises `WeightFileError` for a name that is not one line."""
        for key, name in (("name", self.name), ("parent", self.parent)):
            if name is not None and not is_line(name):
                raise WeightFileError(f"{key}: {LINE_WANTED}, not {shown(name)}")
        write_text(Path(path), "".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield f"format: {WEIGHTS_FORMAT}\n"
        yield _yaml({"name": self.name, "version": self.version, "parent": self.parent})
        fingerprint = self.parameters.fingerprint
        yield f'parameters: {{set: {self.parameters.name}, fingerprint: "{fingerprint}"}}\n'
        if self.bearoff:
            yield "bearoff: true\n"
        if self.words:
            yield f"{WORDS_KEY}:\n"
        for class_name, sentences in self.words.items():
            yield f"  {class_name}:\n"
            yield from (f"    - {json.dumps(sentence, ensure_ascii=False)}\n" for sentence in sentences)
        yield "classes:\n"
        for class_name in sorted(self.classes, key=CLASS_NAMES.index):
            yield f"  {class_name}:\n"
            heads = self.classes[class_name]
            for head in sorted(heads, key=HEADS.index):
                yield f"    {head}:\n"
                yield from (f"      {line}" for line in _head_lines(heads[head], self.parameters.names))
            if class_name in self.hidden_layers:
                yield f"    {HIDDEN_KEY}:\n"
                yield from (f"      {line}" for line in _unit_lines(self.hidden_layers[class_name]))
        if self.move_filter is not None:
            yield from _filter_lines(self.move_filter)
        if self.calibration:
            yield from _calibration_lines(self.calibration)
        yield "fit: " + _yaml(self.fit, default_flow_style=True)


def to_digits(weights: npt.NDArray[np.floating], digits: int = _DIGITS) -> Float32Array:
    """Return `weights` rounded to significant digits; those below 1e-4 are rounded as if they were 1e-4."""
    places = digits - 1 - np.floor(np.log10(np.maximum(np.abs(weights), _MIN_WEIGHT))).astype(np.int64)
    shift = 10.0 ** np.maximum(places, 0)
    return np.ascontiguousarray(np.round(weights * shift) / shift, np.float32)


def _yaml(values: Mapping[str, Any], **style: Any) -> str:
    return yaml_text(values, width=10**6, **style)


_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _key(name: str) -> str:
    """Return `name` as a key, quoted unless it is a word that YAML 1.1 also reads as a text (not ``off``)."""
    is_plain = _WORD.fullmatch(name) and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _number(value: float) -> str:
    """Return the shortest text that YAML reads back as the same float32."""
    text = str(np.float32(value))
    mantissa, exponent_mark, exponent = text.partition("e")
    return text if not exponent_mark or "." in mantissa else f"{mantissa}.0e{exponent}"


def _head_lines(head: HeadWeights, names: tuple[str, ...]) -> Iterator[str]:
    yield f"bias: {_number(head.bias)}\n"
    yield "linear:\n"
    for name, weight in zip(names, head.linear, strict=True):
        yield f"  {_key(name)}: {_number(weight)}\n"
    if not len(head.pairs):
        yield "quadratic: {}\n"
        return
    yield "quadratic:\n"
    for (i, j), weight in zip(head.pairs, head.quadratic, strict=True):
        yield f'  "{names[i]}{PAIR}{names[j]}": {_number(weight)}\n'


def _unit_lines(layer: HiddenLayer) -> Iterator[str]:
    """Yield the lines of hidden units, with their numbers in rows."""
    for k, name in enumerate(layer.names):
        yield f"{_key(name)}:\n"
        yield f"  bias: {_number(layer.bias[k])}\n"
        yield f"  outputs: {_row(layer.outputs[:, k])}\n"
        yield f"  inputs: {_row(layer.inputs[k])}\n"
        yield from _side_lines(layer.points[k])


def _filter_lines(move_filter: FilterWeights) -> Iterator[str]:
    yield "filter:\n"
    yield f"  kept: {move_filter.kept}\n"
    for class_name in sorted(move_filter.steps, key=CLASS_NAMES.index):
        units = move_filter.units.get(class_name)
        yield f"  {class_name}:\n"
        if units is not None and units.margin < math.inf:
            yield f"    {MARGIN_KEY}: {_number(units.margin)}\n"
        for side, rows in zip(SIDES, move_filter.steps[class_name], strict=True):
            yield f"    {side}:\n"
            for point, row in enumerate(rows, 1):
                yield f"      {point}: {_row(row)}\n"
        if units is not None:
            yield f"    {HIDDEN_KEY}:\n"
            yield from (f"      {line}" for line in _filter_unit_lines(units))


def _filter_unit_lines(units: FilterUnits) -> Iterator[str]:
    for k, points in enumerate(units.points):
        yield f"{k + 1}:\n"
        yield f"  bias: {_number(units.bias[k])}\n"
        yield f"  output: {_number(units.outputs[k])}\n"
        yield from _side_lines(points)


def _side_lines(points: Float32Array) -> Iterator[str]:
    """Yield the weights (2, 25, POINT_STEPS) of a hidden unit, a line for each side."""
    for side, steps in zip(SIDES, points, strict=True):
        yield f"  {side}: {_row(steps.reshape(-1))}\n"


def _row(numbers: Float32Array) -> str:
    return f"[{', '.join(map(_number, numbers))}]"


def _calibration_lines(calibration: Mapping[str, KnotRows]) -> Iterator[str]:
    yield "calibration:\n"
    for class_name in sorted(calibration, key=CLASS_NAMES.index):
        yield f"  {class_name}:\n    {CALIBRATED_HEAD}:\n"
        yield from (f"    - {_row(row)}\n" for row in calibration[class_name])
