"""Reading a weight file: everything in it is checked, and a fault is named by its key's path."""

import hashlib
import lzma
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_BAR
from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.kept_weights import keep_weights, kept_weights
from motif.evaluators.model import MAX_KEPT
from motif.evaluators.patterns import MAX_PATTERNS
from motif.evaluators.probabilities import HEADS
from motif.evaluators.weight_file import (
    FILTER_STEPS,
    FORMAT,
    PAIR,
    PATTERNS_KEY,
    PLANS_KEY,
    SIDES,
    WORDS_KEY,
    HeadWeights,
    Patterns,
    PreFilter,
    WeightFile,
    class_of_plan,
)
from motif.parameters import KNOWN_SETS, ParameterSet, fitted_set
from motif.parameters.position_class import CLASS_NAMES, PLANS
from motif.runtime.documents import Entry, YamlTextError, parse_large_yaml
from motif.runtime.errors import ParameterError, WeightFileError, plain_text, shown
from motif.runtime.files import reading

_NEEDED_KEYS = ("name", "version", "parameters", "classes")
_TOP_KEYS = (
    "format",
    "name",
    "version",
    "parent",
    "parameters",
    "bearoff",
    WORDS_KEY,
    "classes",
    "filter",
    "calibration",
    "fit",
)
_REQUIRED_CLASSES = ("contact", "race")
# From here on a number rounds to an infinite float32.
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103
_COMPRESSED = b"\xfd7zXZ\0"
"""What a file begins with that xz has compressed."""
_LARGEST = 1 << 28
"""Bytes that a compressed file may hold."""
_LARGE = 1 << 18
"""Bytes from which on a file is worth keeping in its binary form."""

Heads = dict[str, HeadWeights]
"""By their names."""


def read_weight_file(path: Path | str) -> WeightFile:
    """Read and check the weight file at `path`, or take what was kept when it was read before.

    Raises `WeightFileError` for a file that is missing, torn, of another format, fitted to other
    parameters, or that holds an unknown key, a missing parameter or a number that is not finite.
    """
    path = Path(path)
    where = plain_text(str(path))
    with reading(path, WeightFileError, "no such weight file"):
        content = path.read_bytes()
    if len(content) < _LARGE:
        return _read(content, where, path.parent)
    digest = hashlib.sha256(content).hexdigest()
    weights = kept_weights(digest, path.parent)
    if weights is None:
        weights = _read(content, where, path.parent)
        keep_weights(digest, weights)
    return weights


def _uncompressed(content: bytes, where: str) -> bytes:
    """What the compressed `content` holds; raises `WeightFileError` where it is damaged."""
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        result = decompressor.decompress(content, _LARGEST)
    except lzma.LZMAError as error:
        raise WeightFileError(f"{where}: its compression is damaged: {error}") from None
    if not decompressor.eof:
        what = "cut short" if decompressor.needs_input else f"holds more than {_LARGEST >> 20} MB"
        raise WeightFileError(f"{where}: {what}")
    return result


def _read(content: bytes, where: str, folder: Path) -> WeightFile:
    """The weight file with that `content`, which lies in `folder`."""
    if content.startswith(_COMPRESSED):
        content = _uncompressed(content, where)
    try:
        parsed = parse_large_yaml(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise WeightFileError(f"{where}: cannot be read: {error}") from None
    except YamlTextError as error:
        raise WeightFileError(f"{where}: not YAML, or cut short: {error}") from None
    document = Entry(parsed, where, WeightFileError, "document")
    document.mapping()
    if document.get("format").value != FORMAT:
        document.get("format").fail(f"must be {FORMAT!r}, not {shown(parsed.get('format'))}")
    document.mapping(_TOP_KEYS, needed=_NEEDED_KEYS)
    parameters = _parameters(document["parameters"], folder, _names_in(parsed["classes"]))
    classes, plans = _classes(document["classes"], parameters)
    return WeightFile(
        document["name"].text(),
        document["version"].whole(0),
        document.get("parent").of(str, type(None), wanted="text or null"),
        parameters,
        classes,
        _filter(document["filter"]) if "filter" in parsed else None,
        # Stands last, so a file that was cut short between two lines lacks it.
        document["fit"].mapping(),
        plans,
        document.get("bearoff", False).truth(),
        _calibration(document.get("calibration", {})),
        {
            class_name: _patterns(content[PATTERNS_KEY], parameters)
            for class_name, content in document["classes"].items()
            if PATTERNS_KEY in content.value
        },
        {
            str(class_name): tuple(sentence.text() for sentence in sentences.entries())
            for class_name, sentences in document.get(WORDS_KEY, {}).items()
        },
    )


def _names_in(value: object) -> set[str]:
    """All parameters that have a linear weight anywhere in the classes of a document."""
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


def _classes(entry: Entry, parameters: ParameterSet) -> tuple[dict[str, Heads], dict[str, Heads]]:
    """The heads by class, and those by game plan."""
    entry.mapping(CLASS_NAMES, needed=_REQUIRED_CLASSES)
    classes: dict[str, Heads] = {}
    plans: dict[str, Heads] = {}
    for class_name, content in entry.items():
        content.mapping((*HEADS, PLANS_KEY, PATTERNS_KEY), needed=("win",))
        classes[class_name] = {
            head: _head(weights, parameters) for head, weights in content.items() if head in HEADS
        }
        for plan, heads in content.get(PLANS_KEY, {}).items():
            if plan not in PLANS:
                heads.fail("no such game plan")
            if class_of_plan(plan) != class_name:
                heads.fail(f"a game plan of the class {class_of_plan(plan)}, not of {class_name}")
            heads.mapping(HEADS)
            plans[plan] = {head: _head(weights, parameters) for head, weights in heads.items()}
    return classes, plans


def _head(entry: Entry, parameters: ParameterSet) -> HeadWeights:
    mapping = entry.mapping(("bias", "linear", "points", "quadratic"), needed=("bias", "linear"))
    index = {name: k for k, name in enumerate(parameters.names)}
    linear = np.zeros(len(parameters), np.float32)
    given = entry["linear"]
    for name, weight in given.numbers(_BEYOND_FLOAT32).items():
        if name not in index:
            given[name].fail(f"no such parameter in the set {parameters.name}")
        linear[index[name]] = weight
    given.mapping(needed=parameters.names)
    terms = entry.get("quadratic", {})
    pairs: dict[tuple[int, int], float] = {}
    for term, weight in terms.numbers(_BEYOND_FLOAT32).items():
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
    bias = np.float32(entry["bias"].number(_BEYOND_FLOAT32))
    indices = np.array(list(pairs), np.int64).reshape(-1, 2)
    quadratic = np.array(list(pairs.values()), np.float32)
    points = _steps(entry["points"], every_place=False) if "points" in mapping else None
    return HeadWeights(float(bias), linear, indices, quadratic, points)


def _patterns(entry: Entry, parameters: ParameterSet) -> Patterns:
    rows = entry.mapping()
    if not 0 < len(rows) <= MAX_PATTERNS:
        entry.fail(f"must be 1 to {MAX_PATTERNS} patterns, not {len(rows)}")
    index = {name: k for k, name in enumerate(parameters.names)}
    inputs = np.zeros((len(rows), len(parameters)), np.float32)
    points = np.zeros((len(rows), 2, PACKED_BAR + 1, FILTER_STEPS), np.float32)
    singles = np.zeros((2, len(rows)), np.float32)
    for k, (_, pattern) in enumerate(entry.items()):
        mapping = pattern.mapping(("amount", "bias", "inputs", "points"), needed=("amount", "bias", "inputs"))
        singles[:, k] = [pattern[key].number(_BEYOND_FLOAT32) for key in ("amount", "bias")]
        given = pattern["inputs"]
        for name, weight in given.numbers(_BEYOND_FLOAT32).items():
            if name not in index:
                given[name].fail(f"no such parameter in the set {parameters.name}")
            inputs[k, index[name]] = weight
        if "points" in mapping:
            points[k] = _steps(pattern["points"], every_place=False)
    return Patterns(tuple(map(str, rows)), singles[0], singles[1], inputs, points)


def _filter(entry: Entry) -> PreFilter:
    entry.mapping(("kept", *CLASS_NAMES))
    kept = entry.get("kept").whole(1, MAX_KEPT)
    entry.mapping(needed=("contact",))
    return PreFilter(
        kept, {name: _steps(steps, every_place=True) for name, steps in entry.items() if name != "kept"}
    )


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
    rows = np.array(
        [knot.row(2, "two numbers [score, chance]", _BEYOND_FLOAT32) for knot in knots], np.float32
    )
    if fault := knot_fault(rows):
        knots[fault[0]].fail(fault[1])
    return rows


def _steps(entry: Entry, *, every_place: bool) -> npt.NDArray[np.float32]:
    """Numbers (2, 25, FILTER_STEPS) by side and place; all must be given, or what is not given is 0."""
    entry.mapping(SIDES)
    steps = np.zeros((2, PACKED_BAR + 1, FILTER_STEPS), np.float32)
    places = range(1, PACKED_BAR + 2)
    for side, name in enumerate(SIDES):
        if not every_place and name not in entry.value:
            continue
        rows = entry.get(name)
        rows.mapping(places)
        for place in places if every_place else rows.value:
            row = rows.get(place).row(FILTER_STEPS, f"{FILTER_STEPS} numbers", _BEYOND_FLOAT32)
            steps[side, place - 1] = row
    return steps
