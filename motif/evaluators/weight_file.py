"""Weight files: what a fit leaves behind and players load, in YAML that a person can read and diff.

Numbers are written with the fewest digits that give back the same float32, which is what players
compute with; reading and writing again gives the same file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from motif.board.position import CHECKERS, PACKED_BAR
from motif.evaluators.model import HEADS
from motif.evaluators.point_table import TABLE_SHAPE
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.files import write_text

FORMAT = "motif-weights/1"
PAIR = "*"
"""Joins the two names of a second-degree term."""

FILTER_STEPS = 4
"""Numbers a place in a pre-filter: what 1, 2 and 3 checkers add, and each further one."""


@dataclass(frozen=True)
class HeadWeights:
    """Weights of one head in one class, in the order of the parameter set."""

    bias: float
    linear: npt.NDArray[np.float32]
    """(n,)"""
    pairs: npt.NDArray[np.int64]
    """(m, 2) indices i <= j of the second-degree terms; none for a linear head."""
    quadratic: npt.NDArray[np.float32]
    """(m,)"""

    def raw(self, row: npt.NDArray[np.float32]) -> float:
        """The raw sum, before the squash, of one row of features (n,)."""
        low, high = self.pairs.T
        terms = self.linear * row, self.quadratic * row[low] * row[high]
        return float(self.bias) + float(sum(part.sum(dtype=np.float64) for part in terms))


def linear_head(bias: float, linear: npt.ArrayLike) -> HeadWeights:
    """A head without second-degree terms."""
    none: tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]] = (
        np.zeros((0, 2), np.int64),
        np.zeros(0, np.float32),
    )
    return HeadWeights(bias, np.asarray(linear, np.float32), *none)


@dataclass(frozen=True)
class PreFilter:
    """The version's own cheap linear part: a point table that picks the plays worth evaluating."""

    kept: int
    """Plays of a decision that are left to the full evaluation."""
    steps: dict[str, npt.NDArray[np.float32]]
    """For each class (2, 25, FILTER_STEPS): scored side and other side, place, step."""

    def tables(self) -> npt.NDArray[np.float32]:
        """Point tables (3, 2, 25, 16); a class without one takes contact's."""
        checkers = np.arange(CHECKERS + 1)
        tables = np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.float32)
        for code, name in enumerate(CLASS_NAMES):
            steps = self.steps.get(name, self.steps["contact"])
            for count in (1, 2, 3):
                tables[code, :, :, count] = steps[:, :, count - 1]
            more = np.maximum(checkers - 3, 0).astype(np.float32)
            tables[code, :, :, 4:] = steps[:, :, 2:3] + steps[:, :, 3:4] * more[4:]
        return tables


@dataclass(frozen=True)
class WeightFile:
    """Everything in a weight file."""

    name: str
    version: int
    parent: str | None
    """Whose rollouts labelled the samples."""
    parameters: ParameterSet
    classes: Mapping[str, Mapping[str, HeadWeights]]
    """Class name -> head name -> weights."""
    pre_filter: PreFilter | None = None
    fit: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: method, samples, dataset, errors, seed, version of motif."""

    def heads_of(self, class_name: str) -> Mapping[str, HeadWeights]:
        """Head name -> weights of a class; one without weights of its own takes contact's."""
        return self.classes.get(class_name, self.classes["contact"])

    def save(self, path: Path | str) -> None:
        """Write the file, whole or not at all."""
        write_text(Path(path), "".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield f"format: {FORMAT}\n"
        yield _yaml({"name": self.name, "version": self.version, "parent": self.parent})
        fingerprint = self.parameters.fingerprint
        yield f'parameters: {{set: {self.parameters.name}, fingerprint: "{fingerprint}"}}\n'
        yield "classes:\n"
        for class_name in sorted(self.classes, key=CLASS_NAMES.index):
            yield f"  {class_name}:\n"
            heads = self.classes[class_name]
            for head in sorted(heads, key=HEADS.index):
                yield f"    {head}:\n"
                yield from _head_lines(heads[head], self.parameters.names)
        if self.pre_filter is not None:
            yield from _filter_lines(self.pre_filter)
        yield "fit: " + _yaml(self.fit, default_flow_style=True)


def _yaml(values: Mapping[str, Any], **style: Any) -> str:
    return yaml.safe_dump(dict(values), sort_keys=False, width=10**6, **style)


def _key(name: str) -> str:
    """`name` as a key, in quotes where YAML 1.1 would read something else, as of ``off``."""
    return name if yaml.safe_load(name) == name else f'"{name}"'


def _number(value: float) -> str:
    """The shortest text that reads back as the same float32, in a form that YAML takes for a number."""
    text = str(np.float32(value))
    mantissa, exponent_mark, exponent = text.partition("e")
    return text if not exponent_mark or "." in mantissa else f"{mantissa}.0e{exponent}"


def _head_lines(head: HeadWeights, names: tuple[str, ...]) -> Iterator[str]:
    yield f"      bias: {_number(head.bias)}\n"
    yield "      linear:\n"
    for name, weight in zip(names, head.linear, strict=True):
        yield f"        {_key(name)}: {_number(weight)}\n"
    if not len(head.pairs):
        yield "      quadratic: {}\n"
        return
    yield "      quadratic:\n"
    for (i, j), weight in zip(head.pairs, head.quadratic, strict=True):
        yield f'        "{names[i]}{PAIR}{names[j]}": {_number(weight)}\n'


def _filter_lines(chosen: PreFilter) -> Iterator[str]:
    yield "filter:\n"
    yield f"  kept: {chosen.kept}\n"
    for class_name in sorted(chosen.steps, key=CLASS_NAMES.index):
        yield f"  {class_name}:\n"
        for side, rows in zip(("own", "opponent"), chosen.steps[class_name], strict=True):
            yield f"    {side}:\n"
            for place in range(PACKED_BAR + 1):
                numbers = ", ".join(map(_number, rows[place]))
                yield f"      {place + 1}: [{numbers}]\n"
