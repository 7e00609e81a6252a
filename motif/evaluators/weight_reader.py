"""Read and check weight files; faults are reported with the path of the key."""

import hashlib
import math
from pathlib import Path

import numpy as np

from motif.board.packed import PACKED_BAR
from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.filter_units import MAX_FILTER_UNITS
from motif.evaluators.hidden_layer import MAX_UNITS
from motif.evaluators.model import MAX_KEPT
from motif.evaluators.point_table import POINT_STEPS
from motif.evaluators.probabilities import HEADS, OUTPUTS
from motif.evaluators.weight_cache import keep_weights, kept_weights
from motif.evaluators.weight_file import (
    HIDDEN_KEY,
    LINE_WANTED,
    MARGIN_KEY,
    PAIR,
    SIDES,
    WEIGHTS_FORMAT,
    WORDS_KEY,
    FilterUnits,
    FilterWeights,
    HeadWeights,
    HiddenLayer,
    WeightFile,
    is_line,
)
from motif.parameters import KNOWN_SETS, ParameterSet, fitted_set
from motif.parameters.position_class import CLASS_NAMES, REQUIRED_CLASSES
from motif.runtime.arrays import Float32Array
from motif.runtime.documents import Entry, YamlSizeError, YamlTextError, parse_large_yaml
from motif.runtime.errors import ParameterError, WeightFileError, plain_text, shown
from motif.runtime.files import content_of
from motif.runtime.limits import YAML_FILE, YAML_UNPACKED, unpacked

_NEEDED_KEYS = ("name", "version", "parameters", "classes")
_TOP_KEYS = (
    "format", "name", "version", "parent", "parameters",
    "bearoff", WORDS_KEY, "classes", "filter", "calibration", "fit",
)  # fmt: skip
_BEYOND = 1e6
"""Magnitude that no number reaches, so that scores are finite."""
_COMPRESSED = b"\xfd7zXZ\0"
"""First bytes of a file compressed by xz."""
_STEPS_OF_SIDE = (PACKED_BAR + 1) * POINT_STEPS
_LARGE = 1 << 18
"""Size in bytes from which a file is cached in binary form."""


def read_weight_file(path: Path | str) -> WeightFile:
    """Read and check a weight file.

    Parameters
    ----------
    path
        The file, .yaml or .yaml.xz.

    Returns
    -------
    WeightFile
        Its contents, from a cache if the same file was read before.

    Raises
    ------
    WeightFileError
        For a file that is missing, truncated, of another format or other parameters, or that has an unknown
        key, a missing parameter or a non-finite number.
    """
    if not isinstance(path, str | Path):
        raise WeightFileError(f"invalid weight file {shown(path)}: it must be a path")
    path = Path(path)
    where = plain_text(str(path))
    content = content_of(path, WeightFileError, YAML_FILE, "no such weight file")
    if len(content) < _LARGE:
        return _read(content, where, path.parent)
    digest = hashlib.sha256(content).hexdigest()
    weights = kept_weights(digest, path.parent)
    if weights is None:
        weights = _read(content, where, path.parent)
        keep_weights(digest, weights)
    return weights


def _read(content: bytes, where: str, folder: Path) -> WeightFile:
    """Return the weight file with this `content`, located in `folder`."""
    if content.startswith(_COMPRESSED):
        content = unpacked(content, "xz", YAML_UNPACKED, where, WeightFileError)
    try:
        document = Entry(parse_large_yaml(content.decode("utf-8")), where, WeightFileError, "document")
    except UnicodeDecodeError as error:
        raise WeightFileError(f"{where}: cannot be read: {error}") from None
    except YamlSizeError as error:
        raise WeightFileError(f"{where}: {error}") from None
    except YamlTextError as error:
        raise WeightFileError(f"{where}: not YAML, or cut short: {error}") from None
    document.mapping()
    if document["format"].value != WEIGHTS_FORMAT:
        document["format"].fail(f"must be {WEIGHTS_FORMAT!r}, not {shown(document['format'].value)}")
    document.mapping(_TOP_KEYS, needed=_NEEDED_KEYS)
    words = document.get(WORDS_KEY, {})
    words.mapping(CLASS_NAMES)
    parameters = _parameters(document["parameters"], folder, _names_in(document["classes"].value))
    classes = _classes(document["classes"], parameters)
    hidden_layers = {
        class_name: _hidden_layer(heads[HIDDEN_KEY], parameters)
        for class_name, heads in document["classes"].items()
        if HIDDEN_KEY in heads.value
    }
    parent = document.get("parent")
    parent.of(str, type(None))
    return WeightFile(
        _line(document["name"]),
        document["version"].whole(0),
        None if parent.value is None else _line(parent),
        parameters,
        classes,
        _filter(document["filter"]) if "filter" in document.value else None,
        # The last entry, so a file truncated between two lines lacks it.
        document["fit"].mapping(),
        document.get("bearoff", False).of(bool),
        _calibration(document.get("calibration", {})),
        hidden_layers,
        {
            class_name: tuple(_line(sentence) for sentence in sentences.entries())
            for class_name, sentences in words.items()
        },
    )


def _line(entry: Entry) -> str:
    """Return the text of an entry, which is shown as it is."""
    if not is_line(entry.of(str)):
        entry.fail(f"{LINE_WANTED}, not {shown(entry.value)}")
    return entry.of(str)


def _names_in(value: object) -> set[str]:
    """Return all parameters with a linear weight in any class of a document."""
    if not isinstance(value, dict):
        return set()
    linear = value.get("linear")
    return set(linear if isinstance(linear, dict) else ()).union(*map(_names_in, value.values()))


def _parameters(entry: Entry, folder: Path, names: set[str]) -> ParameterSet:
    entry.mapping(("set", "fingerprint"))
    name, fingerprint = entry.get("set"), entry.get("fingerprint")
    try:
        parameters = fitted_set(name.value, fingerprint.value, folder, names)
    except ParameterError as error:
        name.fail(str(error))
    if parameters is None:
        name.fail(f"no such set: {shown(name.value)}; there are {', '.join(KNOWN_SETS)}")
    if fingerprint.value != parameters.fingerprint:
        fingerprint.fail(
            f"the file was fitted to another revision of the set {parameters.name}: it says "
            f"{shown(fingerprint.value)}, this program has {parameters.fingerprint[:19]}..."
        )
    return parameters


def _classes(entry: Entry, parameters: ParameterSet) -> dict[str, dict[str, HeadWeights]]:
    entry.mapping(CLASS_NAMES, needed=REQUIRED_CLASSES)
    classes: dict[str, dict[str, HeadWeights]] = {}
    for class_name, content in entry.items():
        content.mapping((*HEADS, HIDDEN_KEY), needed=("win",))
        classes[class_name] = {
            head: _head(weights, parameters) for head, weights in content.items() if head in HEADS
        }
    return classes


def _head(entry: Entry, parameters: ParameterSet) -> HeadWeights:
    entry.mapping(("bias", "linear", "quadratic"), needed=("bias", "linear"))
    index = {name: k for k, name in enumerate(parameters.names)}
    linear = np.zeros(len(parameters), np.float32)
    given = entry["linear"]
    for name, weight in given.numbers(_BEYOND).items():
        if name not in index:
            given[name].fail(f"no such parameter in the set {parameters.name}")
        linear[index[name]] = weight
    given.mapping(needed=parameters.names)
    terms = entry.get("quadratic", {})
    pairs: dict[tuple[int, int], float] = {}
    for term, weight in terms.numbers(_BEYOND).items():
        names = str(term).split(PAIR)
        if len(names) != 2:
            terms[term].fail(f"must be two parameters joined by {PAIR}")
        for name in names:
            if name not in index:
                terms[term].fail(f"no parameter {name!r} in the set {parameters.name}")
        first, second = sorted((index[names[0]], index[names[1]]))
        if (first, second) in pairs:
            terms[term].fail("the pair is given twice")
        pairs[first, second] = weight
    bias = np.float32(entry["bias"].number(_BEYOND))
    indices = np.array(list(pairs), np.int64).reshape(-1, 2)
    quadratic = np.array(list(pairs.values()), np.float32)
    return HeadWeights(float(bias), linear, indices, quadratic)


def _hidden_layer(entry: Entry, parameters: ParameterSet) -> HiddenLayer:
    names = tuple(map(str, entry.mapping()))
    if not 0 < len(names) <= MAX_UNITS:
        entry.fail(f"must be 1 to {MAX_UNITS} hidden units, not {len(names)}")
    for name in names:
        _line(entry.child(name, "name of a hidden unit"))
    size = len(parameters)
    lengths = {"outputs": len(OUTPUTS), "inputs": size, **dict.fromkeys(SIDES, _STEPS_OF_SIDE)}
    rows = {key: np.zeros((len(names), length), np.float32) for key, length in lengths.items()}
    bias = np.zeros(len(names), np.float32)
    for k, (_, unit) in enumerate(entry.items()):
        unit.mapping(("bias", *lengths), needed=("bias", *lengths))
        bias[k] = unit["bias"].number(_BEYOND)
        for key, length in lengths.items():
            rows[key][k] = unit[key].row(length, f"{length} numbers", _BEYOND)
    points = np.stack([rows[side] for side in SIDES], axis=1)
    return HiddenLayer(
        names,
        bias,
        rows["inputs"],
        points.reshape(len(names), 2, PACKED_BAR + 1, POINT_STEPS),
        np.ascontiguousarray(rows["outputs"].T),
    )


def _filter(entry: Entry) -> FilterWeights:
    entry.mapping(("kept", *CLASS_NAMES))
    kept = entry.get("kept").whole(1, MAX_KEPT)
    entry.mapping(needed=("contact",))
    classes = {name: of_class for name, of_class in entry.items() if name != "kept"}
    units = {}
    for name, of_class in classes.items():
        keys = of_class.mapping((MARGIN_KEY, *SIDES, HIDDEN_KEY))
        if HIDDEN_KEY in keys:
            units[name] = _filter_units(of_class[HIDDEN_KEY], _margin(of_class))
        elif MARGIN_KEY in keys:
            of_class[MARGIN_KEY].fail("only a filter with hidden units has a margin")
    return FilterWeights(kept, {name: _steps(of_class) for name, of_class in classes.items()}, units)


def _margin(of_class: Entry) -> float:
    if MARGIN_KEY not in of_class.value:
        return math.inf
    margin = of_class[MARGIN_KEY].number(_BEYOND)
    if margin < 0:
        of_class[MARGIN_KEY].fail(f"must be at least 0, not {shown(margin)}")
    return margin


def _filter_units(entry: Entry, margin: float) -> FilterUnits:
    count = len(entry.mapping())
    if not 0 < count <= MAX_FILTER_UNITS:
        entry.fail(f"must be 1 to {MAX_FILTER_UNITS} hidden units, not {count}")
    bias, outputs = (np.zeros(count, np.float32) for _ in range(2))
    points = np.zeros((count, len(SIDES), _STEPS_OF_SIDE), np.float32)
    numbers = ("bias", "output")
    for k, (_, unit) in enumerate(entry.items()):
        unit.mapping((*numbers, *SIDES), needed=(*numbers, *SIDES))
        bias[k], outputs[k] = (unit[key].number(_BEYOND) for key in numbers)
        for side, name in enumerate(SIDES):
            points[k, side] = unit[name].row(_STEPS_OF_SIDE, f"{_STEPS_OF_SIDE} numbers", _BEYOND)
    return FilterUnits(bias, points.reshape(count, 2, PACKED_BAR + 1, POINT_STEPS), outputs, margin)


def _calibration(entry: Entry) -> dict[str, KnotRows]:
    entry.mapping(CLASS_NAMES)
    calibration = {}
    for class_name, heads in entry.items():
        heads.mapping((CALIBRATED_HEAD,))
        calibration[class_name] = _knots(heads.get(CALIBRATED_HEAD))
    return calibration


def _knots(entry: Entry) -> KnotRows:
    value = entry.value
    if not isinstance(value, list) or not value:
        entry.fail(f"must be a list of knots [score, chance], not {shown(value)}")
    knots = [entry.child(row, str(number)) for number, row in enumerate(value, 1)]
    rows = np.array([knot.row(2, "two numbers [score, chance]", _BEYOND) for knot in knots], np.float32)
    if fault := knot_fault(rows):
        knots[fault[0]].fail(fault[1])
    return rows


def _steps(entry: Entry) -> Float32Array:
    """Read the numbers (2, 25, POINT_STEPS) of a move filter by side and point."""
    steps = np.zeros((2, PACKED_BAR + 1, POINT_STEPS), np.float32)
    points = range(1, PACKED_BAR + 2)
    for side, name in enumerate(SIDES):
        rows = entry.get(name)
        rows.mapping(points)
        for point in points:
            row = rows.get(point).row(POINT_STEPS, f"{POINT_STEPS} numbers", _BEYOND)
            steps[side, point - 1] = row
    return steps
