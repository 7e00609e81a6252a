"""Weight files: what a fit leaves behind and players load, in YAML that a person can read and diff.

Numbers are written with the fewest digits that give back the same float32, which is what players
compute with; reading and writing again gives the same file.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.point_table import table_sums, tables_of
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, OUTPUTS
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES, PLAN_CLASS, PLANS
from motif.runtime.errors import WeightFileError, shown
from motif.runtime.files import write_text

FORMAT = "motif-weights/1"
PAIR = "*"
"""Joins the two names of a second-degree term."""

HEAD_NAMES = {
    "equity": "equity",
    "win": "win chance",
    "win_gammon": "chance of winning a gammon",
    "win_backgammon": "chance of winning a backgammon",
    "lose_gammon": "chance of losing a gammon",
    "lose_backgammon": "chance of losing a backgammon",
}
"""What heads are called in sentences."""
HEAD_WORDS = {head: head.replace("_", " ") for head in HEAD_NAMES}
"""What the heads of weight files are called in pictures."""

FILTER_STEPS = 4
"""Numbers a place in a pre-filter and in a head's point terms: what exactly 1, 2 and 3 checkers there add,
and each further one."""
SIDES = ("own", "opponent")
"""Whose checkers they count: those of the player on roll, and the other's in his own numbering."""
PLANS_KEY = "plans"
"""Stands among the heads of a class, before the weights of its game plans."""
DIGITS = 4
"""Significant digits that rounded weights keep: there are many, and files are read by people."""
_LEAST_WEIGHT = 1e-4
WORDS_KEY = "words"
"""Stands before the sentences of each class."""
PATTERNS_KEY = "patterns"
"""Stands there too, before the class's patterns by their names."""
HIDDEN_KEY = "hidden"
"""Stands there before the class's hidden units, which add to its probabilities, by their names."""
AMOUNTS_KEY = "amounts"
"""Stands in a plan beside its heads, before what the class's patterns add there, by their names."""


@dataclass(frozen=True)
class HeadWeights:
    """Weights of one head in one class or game plan, in the order of the parameter set."""

    bias: float
    linear: npt.NDArray[np.float32]
    """(n,)"""
    pairs: npt.NDArray[np.int64]
    """(m, 2) indices i <= j of the second-degree terms; none for a linear head."""
    quadratic: npt.NDArray[np.float32]
    """(m,)"""
    points: npt.NDArray[np.float32] | None = None
    """(2, 25, FILTER_STEPS) raw point terms, by side and place; None for a head without them."""

    def point_sums(self, packed: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """What the point terms add to the raw sums (n,) of packed boards (n, 64)."""
        if self.points is None:
            return np.zeros(len(packed))
        return table_sums(tables_of(self.points), packed)


def linear_head(bias: float, linear: npt.ArrayLike) -> HeadWeights:
    """A head without second-degree terms."""
    no_pairs, no_weights = np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    return HeadWeights(bias, np.asarray(linear, np.float32), no_pairs, no_weights)


@dataclass(frozen=True, eq=False)
class Patterns:
    """The m patterns of a class: what `motif.evaluators.patterns` adds to its equity heads."""

    names: tuple[str, ...]
    amounts: npt.NDArray[np.float32]
    """(m,): what each adds to the raw sum where it is 1."""
    bias: npt.NDArray[np.float32]
    """(m,)"""
    inputs: npt.NDArray[np.float32]
    """(m, n): weights of the parameters, in the order of the set."""
    points: npt.NDArray[np.float32]
    """(m, 2, 25, FILTER_STEPS): of the checkers on each place, as in `HeadWeights.points`."""
    outputs: npt.NDArray[np.float32] | None = None
    """(5, m): what each adds to the raw sum of each probability, in the order of `OUTPUTS`; None where they
    add to the equity alone."""

    def added_to(self, head: str) -> npt.NDArray[np.float32] | None:
        """What each adds to the raw sum of `head` where it is 1 (m,); None where they add nothing."""
        if self.outputs is None:
            return self.amounts if head == HEADS[EQUITY_HEAD] else None
        return self.outputs[OUTPUTS.index(head)] if head in OUTPUTS else None

    def sums(
        self, features: npt.NDArray[np.float32], packed: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float64]:
        """The sums (rows, m) of features (rows, n) and packed boards (rows, 64), before they are squashed."""
        tables = tables_of(self.points)
        places = np.stack([table_sums(table, packed) for table in tables], axis=1)
        return np.asarray(features.astype(np.float64) @ self.inputs.T.astype(np.float64) + places + self.bias)


@dataclass(frozen=True)
class PreFilter:
    """The version's own cheap linear part: a point table that picks the plays worth evaluating."""

    kept: int
    """Plays of a decision that are left to the full evaluation."""
    steps: dict[str, npt.NDArray[np.float32]]
    """For each class (2, 25, FILTER_STEPS): scored side and other side, place, step."""

    def tables(self) -> npt.NDArray[np.float32]:
        """Point tables (3, 2, 25, 16); a class without one takes contact's."""
        contact = self.steps["contact"]
        return np.stack([tables_of(self.steps.get(name, contact)) for name in CLASS_NAMES])


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
    plans: Mapping[str, Mapping[str, HeadWeights]] = field(default_factory=dict)
    """Game plan -> head name -> weights, in place of those that its class has for the head."""
    bearoff: bool = False
    """Whether the bearoff tables' values stand for those of the weights wherever they reach."""
    calibration: Mapping[str, KnotRows] = field(default_factory=dict)
    """Class name -> knots (k, 2) of its win chance; a class without any keeps its chances."""
    patterns: Mapping[str, Patterns] = field(default_factory=dict)
    """Class name -> what adds to its equity head, and to those of its plans."""
    plan_amounts: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    """Game plan -> what each of the m patterns of its class adds there, in place of their own amounts."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Class name -> sentences that say what matters most, for readers; values do not depend on them."""

    def __post_init__(self) -> None:
        """Raise `WeightFileError` for a plan that is none, or whose class has no weights of its own, and for
        knots that cannot stand."""
        for plan in self.plans:
            if plan not in PLANS:
                raise WeightFileError(f"no game plan is called {shown(plan)}")
            if class_of_plan(plan) not in self.classes:
                raise WeightFileError(f"the plan {plan!r} has weights, but its class has none")
        self._check_patterns()
        for plan, amounts in self.plan_amounts.items():
            of_class = self.patterns.get(class_of_plan(plan)) if plan in self.plans else None
            if of_class is None or amounts.shape != of_class.amounts.shape:
                raise WeightFileError(
                    f"amounts of the plan {shown(plan)}: its class must have as many patterns"
                )
        for class_name, rows in self.calibration.items():
            if class_name not in CLASS_NAMES:
                raise WeightFileError(f"no class of positions is called {shown(class_name)}")
            if fault := knot_fault(rows):
                number, problem = fault
                raise WeightFileError(f"calibration of {class_name}, knot {number + 1}: {problem}")

    def _check_patterns(self) -> None:
        for class_name, patterns in self.patterns.items():
            has_equity = "equity" in self.classes.get(class_name, {})
            if patterns.outputs is None and not has_equity:
                raise WeightFileError(
                    f"patterns of {class_name}: it has no equity head that they could add to"
                )
            if patterns.outputs is not None and has_equity:
                raise WeightFileError(
                    f"patterns of {class_name}: they add to probabilities, so it can have no equity head"
                )
        if len({patterns.outputs is None for patterns in self.patterns.values()}) > 1:
            raise WeightFileError("patterns must add to equities in all classes, or to probabilities in all")

    def heads_of(self, class_name: str) -> Mapping[str, HeadWeights]:
        """Head name -> weights of a class; one without weights of its own takes contact's."""
        return self.classes.get(class_name, self.classes["contact"])

    @property
    def patterns_by_class(self) -> dict[str, Patterns]:
        """The patterns in force: a class without weights of its own takes contact's with contact's heads."""
        sources = {name: name if name in self.classes else "contact" for name in CLASS_NAMES}
        return {name: self.patterns[of] for name, of in sources.items() if of in self.patterns}

    def patterns_at(self, class_name: str, plan: str | None) -> Patterns | None:
        """The patterns in force in a game plan of a class, or in the class where it is None; or None."""
        patterns = self.patterns_by_class.get(class_name)
        if patterns is None or plan is None or plan not in self.plan_amounts:
            return patterns
        return replace(patterns, amounts=self.plan_amounts[plan])

    def heads_at(self, class_name: str, plan: str | None) -> Mapping[str, HeadWeights]:
        """Head name -> the weights in force in a game plan of a class, or in the class where it is None."""
        return {**self.heads_of(class_name), **(self.plans.get(plan, {}) if plan else {})}

    def head_names(self) -> tuple[str, ...]:
        """The heads that any class or plan has, in the order of `HEADS`."""
        present = {head for heads in (*self.classes.values(), *self.plans.values()) for head in heads}
        return tuple(head for head in HEADS if head in present)

    def rounded(self) -> "WeightFile":
        """These weights with `DIGITS` significant digits in the heads of classes, for a shorter file."""
        classes = {
            class_name: {
                name: HeadWeights(
                    float(to_digits(np.array([head.bias]))[0]),
                    to_digits(head.linear),
                    head.pairs,
                    to_digits(head.quadratic),
                    None if head.points is None else to_digits(head.points),
                )
                for name, head in heads.items()
            }
            for class_name, heads in self.classes.items()
        }
        return replace(self, classes=classes)

    def save(self, path: Path | str) -> None:
        """Write the file, whole or not at all."""
        write_text(Path(path), "".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield f"format: {FORMAT}\n"
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
            yield from _heads_lines(self.classes[class_name], self.parameters.names, "    ")
            plans = [plan for plan in PLANS if plan in self.plans and class_of_plan(plan) == class_name]
            if plans:
                yield f"    {PLANS_KEY}:\n"
            for plan in plans:
                heads, amounts = self.plans[plan], self.plan_amounts.get(plan)
                yield f"      {_key(plan)}:{' {}' if not heads and amounts is None else ''}\n"
                yield from _heads_lines(heads, self.parameters.names, "        ")
                if amounts is not None:
                    yield f"        {AMOUNTS_KEY}:\n"
                    named = zip(self.patterns[class_name].names, amounts, strict=True)
                    yield from (f"          {_key(name)}: {_number(value)}\n" for name, value in named)
            if class_name in self.patterns:
                has_outputs = self.patterns[class_name].outputs is not None
                yield f"    {HIDDEN_KEY if has_outputs else PATTERNS_KEY}:\n"
                lines = _pattern_lines(self.patterns[class_name], self.parameters.names)
                yield from (f"      {line}" for line in lines)
        if self.pre_filter is not None:
            yield from _filter_lines(self.pre_filter)
        if self.calibration:
            yield from _calibration_lines(self.calibration)
        yield "fit: " + _yaml(self.fit, default_flow_style=True)


def to_digits(weights: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """`weights` with `DIGITS` significant digits; those below 1e-4 are rounded as if they were as large."""
    places = DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(weights), _LEAST_WEIGHT))).astype(np.int64)
    shift = 10.0 ** np.maximum(places, 0)
    return np.ascontiguousarray(np.round(weights * shift) / shift, np.float32)


def class_of_plan(plan: str) -> str:
    """Name of the class that a game plan belongs to."""
    return CLASS_NAMES[PLAN_CLASS[PLANS.index(plan)]]


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


def _heads_lines(heads: Mapping[str, HeadWeights], names: tuple[str, ...], margin: str) -> Iterator[str]:
    for head in sorted(heads, key=HEADS.index):
        yield f"{margin}{head}:\n"
        yield from (f"{margin}  {line}" for line in _head_lines(heads[head], names))


def _head_lines(head: HeadWeights, names: tuple[str, ...]) -> Iterator[str]:
    yield f"bias: {_number(head.bias)}\n"
    yield "linear:\n"
    for name, weight in zip(names, head.linear, strict=True):
        yield f"  {_key(name)}: {_number(weight)}\n"
    if head.points is not None:
        lines = [f"  {line}" for line in _step_lines(head.points, every_place=False)]
        yield from ["points:\n", *lines] if lines else ["points: {}\n"]
    if not len(head.pairs):
        yield "quadratic: {}\n"
        return
    yield "quadratic:\n"
    for (i, j), weight in zip(head.pairs, head.quadratic, strict=True):
        yield f'  "{names[i]}{PAIR}{names[j]}": {_number(weight)}\n'


def _unit_lines(patterns: Patterns) -> Iterator[str]:
    """Hidden units that add to probabilities, whose numbers stand in rows."""
    assert patterns.outputs is not None
    for k, name in enumerate(patterns.names):
        yield f"{_key(name)}:\n"
        rows = {"outputs": patterns.outputs[:, k], "inputs": patterns.inputs[k]}
        rows |= {side: steps.reshape(-1) for side, steps in zip(SIDES, patterns.points[k], strict=True)}
        yield f"  bias: {_number(patterns.bias[k])}\n"
        yield from (f"  {key}: [{', '.join(map(_number, row))}]\n" for key, row in rows.items())


def _pattern_lines(patterns: Patterns, names: tuple[str, ...]) -> Iterator[str]:
    if patterns.outputs is not None:
        yield from _unit_lines(patterns)
        return
    for k, name in enumerate(patterns.names):
        yield f"{_key(name)}:\n"
        yield f"  amount: {_number(patterns.amounts[k])}\n"
        yield f"  bias: {_number(patterns.bias[k])}\n"
        used = np.flatnonzero(patterns.inputs[k])
        yield "  inputs:\n" if len(used) else "  inputs: {}\n"
        for place in used:
            yield f"    {_key(names[place])}: {_number(patterns.inputs[k, place])}\n"
        lines = [f"    {line}" for line in _step_lines(patterns.points[k], every_place=False)]
        yield from ["  points:\n", *lines] if lines else []


def _filter_lines(pre_filter: PreFilter) -> Iterator[str]:
    yield "filter:\n"
    yield f"  kept: {pre_filter.kept}\n"
    for class_name in sorted(pre_filter.steps, key=CLASS_NAMES.index):
        yield f"  {class_name}:\n"
        yield from (f"    {line}" for line in _step_lines(pre_filter.steps[class_name], every_place=True))


def _calibration_lines(calibration: Mapping[str, KnotRows]) -> Iterator[str]:
    yield "calibration:\n"
    for class_name in sorted(calibration, key=CLASS_NAMES.index):
        yield f"  {class_name}:\n    {CALIBRATED_HEAD}:\n"
        yield from (f"    - [{', '.join(map(_number, row))}]\n" for row in calibration[class_name])


def _step_lines(steps: npt.NDArray[np.float32], *, every_place: bool) -> Iterator[str]:
    """The numbers (2, 25, FILTER_STEPS) by side and place; maybe without the places where all are 0."""
    for side, rows in zip(SIDES, steps, strict=True):
        # A zero with a sign is a number to keep.
        written = every_place | ((rows != 0) | np.signbit(rows)).any(axis=1)
        if written.any():
            yield f"{side}:\n"
        for place in np.flatnonzero(written):
            numbers = ", ".join(map(_number, rows[place]))
            yield f"  {place + 1}: [{numbers}]\n"
