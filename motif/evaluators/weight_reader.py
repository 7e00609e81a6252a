"""Reading a weight file: everything in it is checked, and a fault is named by its key's path."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motif.board.position import PACKED_BAR
from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.model import HEADS, MAX_KEPT
from motif.evaluators.weight_file import (
    FILTER_STEPS,
    FORMAT,
    PAIR,
    PLANS_KEY,
    SIDES,
    HeadWeights,
    PreFilter,
    WeightFile,
    class_of_plan,
)
from motif.parameters import KNOWN_SETS, ParameterSet, fitted_set
from motif.parameters.game_plan import PLANS
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import ParameterError, WeightFileError, plain_text, shown
from motif.runtime.files import reason
from motif.runtime.yaml_text import YamlTextError, parse_large_yaml

_TOP_KEYS = (
    "format",
    "name",
    "version",
    "parent",
    "parameters",
    "bearoff",
    "classes",
    "filter",
    "calibration",
    "fit",
)
_REQUIRED_CLASSES = ("contact", "race")
# From here on a number rounds to an infinite float32.
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103


Heads = dict[str, HeadWeights]
"""By their names."""


class _Reader:
    """Walks the document and remembers where it is."""

    def __init__(self, path: Path) -> None:
        self.where = plain_text(str(path))
        self.folder = path.parent

    def fail(self, key: str, problem: str) -> NoReturn:
        raise WeightFileError(f"{self.where}: {plain_text(key)}: {problem}")

    def mapping(self, value: object, key: str) -> Mapping[Any, Any]:
        if not isinstance(value, dict):
            self.fail(key, f"must be a mapping, not {shown(value)}")
        return value

    def number(self, value: object, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, f"must be a number, not {shown(value)}")
        if not abs(value) < _BEYOND_FLOAT32:
            self.fail(key, f"must be a finite number, not {shown(value)}")
        return float(value)

    def keys(self, mapping: Mapping[Any, Any], known: Sequence[object], prefix: str) -> None:
        for key in mapping:
            if key not in known:
                self.fail(f"{prefix}{key}", f"unknown key; known are {', '.join(map(str, known))}")


def read_weight_file(path: Path | str) -> WeightFile:
    """Read and check the weight file at `path`.

    Raises `WeightFileError` for a file that is missing, torn, of another format, fitted to other
    parameters, or that holds an unknown key, a missing parameter or a number that is not finite.
    """
    path = Path(path)
    reader = _Reader(path)
    document = reader.mapping(_parsed(path, reader.where), "document")
    if document.get("format") != FORMAT:
        reader.fail("format", f"must be {FORMAT!r}, not {shown(document.get('format'))}")
    reader.keys(document, _TOP_KEYS, "")
    for key in ("name", "version", "parameters", "classes"):
        if key not in document:
            reader.fail(key, "missing")
    name, version, parent = document["name"], document["version"], document.get("parent")
    if not isinstance(name, str):
        reader.fail("name", f"must be text, not {shown(name)}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        reader.fail("version", f"must be a whole number from 0, not {shown(version)}")
    if parent is not None and not isinstance(parent, str):
        reader.fail("parent", f"must be text or null, not {shown(parent)}")
    parameters = _parameters(reader, document["parameters"])
    bearoff = document.get("bearoff", False)
    if not isinstance(bearoff, bool):
        reader.fail("bearoff", f"must be true or false, not {shown(bearoff)}")
    classes, plans = _classes(reader, document["classes"], parameters)
    chosen = _filter(reader, document["filter"]) if "filter" in document else None
    calibration = _calibration(reader, document.get("calibration", {}))
    # It stands last, so a file that was cut short between two lines lacks it.
    if "fit" not in document:
        reader.fail("fit", "missing")
    fit = reader.mapping(document["fit"], "fit")
    return WeightFile(name, version, parent, parameters, classes, chosen, fit, plans, bearoff, calibration)


def _parsed(path: Path, where: str) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise WeightFileError(f"{where}: no such weight file") from None
    except OSError as error:
        raise WeightFileError(f"{where}: cannot be read: {reason(error)}") from None
    # Bytes that are no UTF-8, or a name with a zero byte in it.
    except ValueError as error:
        raise WeightFileError(f"{where}: cannot be read: {error}") from None
    try:
        return parse_large_yaml(text)
    except YamlTextError as error:
        raise WeightFileError(f"{where}: not YAML, or cut short: {error}") from None


def _parameters(reader: _Reader, value: object) -> ParameterSet:
    mapping = reader.mapping(value, "parameters")
    reader.keys(mapping, ("set", "fingerprint"), "parameters.")
    name = mapping.get("set")
    try:
        chosen = fitted_set(name, mapping.get("fingerprint"), reader.folder)
    except ParameterError as error:
        reader.fail("parameters.set", str(error))
    if chosen is None:
        known = ", ".join(KNOWN_SETS)
        reader.fail("parameters.set", f"no such set: {shown(name)}; there are {known}")
    if mapping.get("fingerprint") != chosen.fingerprint:
        reader.fail(
            "parameters.fingerprint",
            f"the file was fitted to another revision of the set {chosen.name}: it says "
            f"{shown(mapping.get('fingerprint'))}, this program has {chosen.fingerprint[:19]}...",
        )
    return chosen


def _classes(
    reader: _Reader, value: object, parameters: ParameterSet
) -> tuple[dict[str, Heads], dict[str, Heads]]:
    """The heads by class, and those by game plan."""
    mapping = reader.mapping(value, "classes")
    reader.keys(mapping, CLASS_NAMES, "classes.")
    for required in _REQUIRED_CLASSES:
        if required not in mapping:
            reader.fail(f"classes.{required}", "missing")
    classes: dict[str, Heads] = {}
    plans: dict[str, Heads] = {}
    for class_name, content in mapping.items():
        prefix = f"classes.{class_name}"
        content = reader.mapping(content, prefix)
        reader.keys(content, (*HEADS, PLANS_KEY), prefix + ".")
        if "win" not in content:
            reader.fail(f"{prefix}.win", "missing")
        heads = {key: head for key, head in content.items() if key != PLANS_KEY}
        classes[class_name] = _heads(reader, heads, parameters, prefix)
        given = reader.mapping(content.get(PLANS_KEY, {}), f"{prefix}.{PLANS_KEY}")
        plans |= _plans(reader, given, parameters, class_name)
    return classes, plans


def _heads(reader: _Reader, mapping: Mapping[Any, Any], parameters: ParameterSet, prefix: str) -> Heads:
    return {head: _head(reader, value, parameters, f"{prefix}.{head}") for head, value in mapping.items()}


def _plans(
    reader: _Reader, mapping: Mapping[Any, Any], parameters: ParameterSet, class_name: str
) -> dict[str, Heads]:
    plans = {}
    for plan, content in mapping.items():
        prefix = f"classes.{class_name}.{PLANS_KEY}.{plan}"
        if plan not in PLANS:
            reader.fail(prefix, "no such game plan")
        if class_of_plan(plan) != class_name:
            reader.fail(prefix, f"a game plan of the class {class_of_plan(plan)}, not of {class_name}")
        heads = reader.mapping(content, prefix)
        reader.keys(heads, HEADS, prefix + ".")
        plans[plan] = _heads(reader, heads, parameters, prefix)
    return plans


def _head(reader: _Reader, value: object, parameters: ParameterSet, prefix: str) -> HeadWeights:
    mapping = reader.mapping(value, prefix)
    reader.keys(mapping, ("bias", "linear", "points", "quadratic"), prefix + ".")
    for key in ("bias", "linear"):
        if key not in mapping:
            reader.fail(f"{prefix}.{key}", "missing")
    index = {name: k for k, name in enumerate(parameters.names)}
    linear = np.zeros(len(parameters), np.float32)
    given = reader.mapping(mapping["linear"], f"{prefix}.linear")
    for name, weight in given.items():
        if name not in index:
            reader.fail(f"{prefix}.linear.{name}", f"no such parameter in the set {parameters.name}")
        linear[index[name]] = reader.number(weight, f"{prefix}.linear.{name}")
    for name in parameters.names:
        if name not in given:
            reader.fail(f"{prefix}.linear.{name}", "missing")
    terms = reader.mapping(mapping.get("quadratic", {}), f"{prefix}.quadratic")
    pairs: dict[tuple[int, int], float] = {}
    for term, weight in terms.items():
        key = f"{prefix}.quadratic.{term}"
        names = str(term).split(PAIR)
        if len(names) != 2:
            reader.fail(key, f"must be two parameters joined by {PAIR}")
        for name in names:
            if name not in index:
                reader.fail(key, f"no parameter {name!r} in the set {parameters.name}")
        first, second = sorted((index[names[0]], index[names[1]]))
        if (first, second) in pairs:
            reader.fail(key, "the pair is given twice")
        pairs[first, second] = reader.number(weight, key)
    bias = np.float32(reader.number(mapping["bias"], f"{prefix}.bias"))
    indices = np.array(list(pairs), np.int64).reshape(-1, 2)
    quadratic = np.array(list(pairs.values()), np.float32)
    points = None
    if "points" in mapping:
        points = _steps(reader, mapping["points"], f"{prefix}.points", every_place=False)
    return HeadWeights(float(bias), linear, indices, quadratic, points)


def _filter(reader: _Reader, value: object) -> PreFilter:
    mapping = reader.mapping(value, "filter")
    reader.keys(mapping, ("kept", *CLASS_NAMES), "filter.")
    kept = mapping.get("kept")
    if not isinstance(kept, int) or isinstance(kept, bool) or not 1 <= kept <= MAX_KEPT:
        reader.fail("filter.kept", f"must be a whole number from 1 to {MAX_KEPT}, not {shown(kept)}")
    if "contact" not in mapping:
        reader.fail("filter.contact", "missing")
    steps = {
        name: _steps(reader, mapping[name], f"filter.{name}", every_place=True)
        for name in mapping
        if name != "kept"
    }
    return PreFilter(kept, steps)


def _calibration(reader: _Reader, value: object) -> dict[str, KnotRows]:
    mapping = reader.mapping(value, "calibration")
    reader.keys(mapping, CLASS_NAMES, "calibration.")
    found = {}
    for class_name, content in mapping.items():
        heads = reader.mapping(content, f"calibration.{class_name}")
        reader.keys(heads, (CALIBRATED_HEAD,), f"calibration.{class_name}.")
        found[class_name] = _knots(
            reader, heads.get(CALIBRATED_HEAD), f"calibration.{class_name}.{CALIBRATED_HEAD}"
        )
    return found


def _knots(reader: _Reader, value: object, prefix: str) -> KnotRows:
    if not isinstance(value, list) or not value:
        reader.fail(prefix, f"must be a list of knots [score, chance], not {shown(value)}")
    rows = np.zeros((len(value), 2), np.float32)
    for number, row in enumerate(value):
        key = f"{prefix}.{number + 1}"
        if not isinstance(row, list) or len(row) != 2:
            reader.fail(key, f"must be two numbers [score, chance], not {shown(row)}")
        rows[number] = [reader.number(entry, key) for entry in row]
    if fault := knot_fault(rows):
        reader.fail(f"{prefix}.{fault[0] + 1}", fault[1])
    return rows


def _steps(reader: _Reader, value: object, prefix: str, *, every_place: bool) -> npt.NDArray[np.float32]:
    """Numbers (2, 25, FILTER_STEPS) by side and place; all must be given, or what is not given is 0."""
    mapping = reader.mapping(value, prefix)
    reader.keys(mapping, SIDES, prefix + ".")
    steps = np.zeros((2, PACKED_BAR + 1, FILTER_STEPS), np.float32)
    for side, side_name in enumerate(SIDES):
        if not every_place and side_name not in mapping:
            continue
        rows = reader.mapping(mapping.get(side_name), f"{prefix}.{side_name}")
        places = range(1, PACKED_BAR + 2)
        reader.keys(rows, places, f"{prefix}.{side_name}.")
        for place in places if every_place else rows:
            key = f"{prefix}.{side_name}.{place}"
            row = rows.get(place)
            if not isinstance(row, list) or len(row) != FILTER_STEPS:
                reader.fail(key, f"must be {FILTER_STEPS} numbers, not {shown(row)}")
            steps[side, place - 1] = [reader.number(number, key) for number in row]
    return steps
