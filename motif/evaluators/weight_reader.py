"""Reading a weight file: everything in it is checked, and a fault is named by its key's path.

Files that were read before are kept in the cache folder as arrays and a little JSON.

A person reads YAML; a program takes seconds to parse megabytes of it, and hundredths of a second to load
this.  What is kept is found by the hash of the YAML's bytes, so whatever changes in a file is read anew.
It holds numbers and texts alone, nothing that could run; what is damaged or foreign is as good as none,
and a folder that cannot be written is no error.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_BAR
from motif.evaluators.calibration import CALIBRATED_HEAD, KnotRows, knot_fault
from motif.evaluators.model import MAX_KEPT
from motif.evaluators.patterns import MAX_PATTERNS
from motif.evaluators.probabilities import HEADS, OUTPUTS
from motif.evaluators.weight_file import (
    AMOUNTS_KEY,
    FILTER_STEPS,
    FORMAT,
    HIDDEN_KEY,
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
from motif.runtime.cache_folder import cache_folder
from motif.runtime.documents import Entry, YamlSizeError, YamlTextError, parse_large_yaml
from motif.runtime.errors import FileError, ParameterError, WeightFileError, plain_text, shown
from motif.runtime.files import content_of, replacing
from motif.runtime.limits import YAML_FILE, YAML_UNPACKED, unpacked

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
_STEPS_OF_SIDE = (PACKED_BAR + 1) * FILTER_STEPS
_LARGE = 1 << 18
"""Bytes from which on a file is worth keeping in its binary form."""

Heads = dict[str, HeadWeights]
"""By their names."""

_FORMAT = "motif-kept-weights/5"
_MOST_KEPT = 16
_SUFFIX = ".npz"
_HeadsBy = Mapping[str, Mapping[str, HeadWeights]]


def read_weight_file(path: Path | str) -> WeightFile:
    """Read and check the weight file at `path`, or take what was kept when it was read before.

    Raises `WeightFileError` for a file that is missing, torn, of another format, fitted to other
    parameters, or that holds an unknown key, a missing parameter or a number that is not finite.
    """
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
    """The weight file with that `content`, which lies in `folder`."""
    if content.startswith(_COMPRESSED):
        content = unpacked(content, "xz", YAML_UNPACKED, where, WeightFileError)
    try:
        parsed = parse_large_yaml(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise WeightFileError(f"{where}: cannot be read: {error}") from None
    except YamlSizeError as error:
        raise WeightFileError(f"{where}: {error}") from None
    except YamlTextError as error:
        raise WeightFileError(f"{where}: not YAML, or cut short: {error}") from None
    document = Entry(parsed, where, WeightFileError, "document")
    document.mapping()
    if document.get("format").value != FORMAT:
        document.get("format").fail(f"must be {FORMAT!r}, not {shown(parsed.get('format'))}")
    document.mapping(_TOP_KEYS, needed=_NEEDED_KEYS)
    parameters = _parameters(document["parameters"], folder, _names_in(parsed["classes"]))
    classes, plans = _classes(document["classes"], parameters)
    patterns = {
        class_name: reader(content[key], parameters)
        for key, reader in ((PATTERNS_KEY, _patterns), (HIDDEN_KEY, _units))
        for class_name, content in document["classes"].items()
        if key in content.value
    }
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
        patterns,
        _plan_amounts(document["classes"], patterns),
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
        content.mapping((*HEADS, PLANS_KEY, PATTERNS_KEY, HIDDEN_KEY), needed=("win",))
        classes[class_name] = {
            head: _head(weights, parameters) for head, weights in content.items() if head in HEADS
        }
        for plan, heads in content.get(PLANS_KEY, {}).items():
            if plan not in PLANS:
                heads.fail("no such game plan")
            if class_of_plan(plan) != class_name:
                heads.fail(f"a game plan of the class {class_of_plan(plan)}, not of {class_name}")
            heads.mapping((*HEADS, AMOUNTS_KEY))
            plans[plan] = {
                head: _head(weights, parameters) for head, weights in heads.items() if head in HEADS
            }
    return classes, plans


def _plan_amounts(entry: Entry, patterns: Mapping[str, Patterns]) -> dict[str, npt.NDArray[np.float32]]:
    """What patterns add in game plans that say so, by plan."""
    amounts = {}
    for class_name, content in entry.items():
        for plan, heads in content.get(PLANS_KEY, {}).items():
            if AMOUNTS_KEY not in heads.value:
                continue
            given = heads[AMOUNTS_KEY]
            if class_name not in patterns:
                given.fail(f"{class_name} has no patterns")
            names = content[PATTERNS_KEY].value
            given.mapping(names, needed=names)
            numbers = given.numbers(_BEYOND_FLOAT32)
            amounts[plan] = np.array([numbers[name] for name in names], np.float32)
    return amounts


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


def _units(entry: Entry, parameters: ParameterSet) -> Patterns:
    """Hidden units that add to probabilities; their numbers stand in rows."""
    names = tuple(map(str, entry.mapping()))
    if not 0 < len(names) <= MAX_PATTERNS:
        entry.fail(f"must be 1 to {MAX_PATTERNS} hidden units, not {len(names)}")
    size = len(parameters)
    lengths = {"outputs": len(OUTPUTS), "inputs": size, **dict.fromkeys(SIDES, _STEPS_OF_SIDE)}
    rows = {key: np.zeros((len(names), length), np.float32) for key, length in lengths.items()}
    bias = np.zeros(len(names), np.float32)
    for k, (_, unit) in enumerate(entry.items()):
        unit.mapping(("bias", *lengths), needed=("bias", *lengths))
        bias[k] = unit["bias"].number(_BEYOND_FLOAT32)
        for key, length in lengths.items():
            rows[key][k] = unit[key].row(length, f"{length} numbers", _BEYOND_FLOAT32)
    points = np.stack([rows[side] for side in SIDES], axis=1)
    return Patterns(
        names,
        np.zeros(len(names), np.float32),
        bias,
        rows["inputs"],
        points.reshape(len(names), 2, PACKED_BAR + 1, FILTER_STEPS),
        np.ascontiguousarray(rows["outputs"].T),
    )


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


def _path(digest: str) -> Path:
    return cache_folder("weights") / (digest + _SUFFIX)


def kept_weights(digest: str, folder: Path) -> WeightFile | None:
    """The weight file in `folder` whose bytes have the SHA-256 `digest`; None where it is not kept."""
    # Whatever a torn or foreign file raises.
    # Opened here, because np.load leaves a file open that it cannot read.
    with (
        suppress(Exception),
        open(_path(digest), "rb") as handle,
        np.load(handle, allow_pickle=False) as arrays,
    ):
        weights = _unpacked(dict(arrays), digest, folder)
        _path(digest).touch()
        return weights
    return None


def keep_weights(digest: str, weights: WeightFile) -> None:
    """Keep what the weight file of the SHA-256 `digest` holds."""
    arrays = _packed(weights, digest)
    # JSON has other keys than YAML: what would not come back as it is stays unkept.
    if repr(_facts(arrays)["fit"]) != repr(weights.fit):
        return
    path = _path(digest)
    with suppress(OSError, FileError):
        with replacing(path) as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
        by_age = sorted(path.parent.glob("*" + _SUFFIX), key=lambda kept: kept.stat().st_mtime)
        for old in by_age[:-_MOST_KEPT]:
            old.unlink(missing_ok=True)


def _packed(weights: WeightFile, digest: str) -> dict[str, npt.NDArray[Any]]:
    heads = [
        head for by_name in (*weights.classes.values(), *weights.plans.values()) for head in by_name.values()
    ]
    points = [head.points for head in heads if head.points is not None]
    pre_filter, size = weights.pre_filter, len(weights.parameters)
    no_steps = np.zeros((2, PACKED_BAR + 1, FILTER_STEPS), np.float32)
    facts = {
        "format": _FORMAT,
        "digest": digest,
        "name": weights.name,
        "version": weights.version,
        "parent": weights.parent,
        "set": weights.parameters.name,
        "fingerprint": weights.parameters.fingerprint,
        "parameters": weights.parameters.names,
        "classes": _outline(weights.classes),
        "plans": _outline(weights.plans),
        "bearoff": weights.bearoff,
        "filter": None if pre_filter is None else [pre_filter.kept, *pre_filter.steps],
        "knots": {name: len(rows) for name, rows in weights.calibration.items()},
        "patterns": {name: of.names for name, of in weights.patterns.items()},
        "outputs": [name for name, of in weights.patterns.items() if of.outputs is not None],
        "amounts": {plan: len(amounts) for plan, amounts in weights.plan_amounts.items()},
        "words": weights.words,
        "fit": weights.fit,
    }
    every = [np.zeros((0, _columns(size)), np.float32), *map(_pattern_rows, weights.patterns.values())]
    return {
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "bias": np.array([head.bias for head in heads]),
        "linear": np.array([head.linear for head in heads]).reshape(-1, size),
        "pairs": np.concatenate([head.pairs for head in heads]).astype(np.int16),
        "quadratic": np.concatenate([head.quadratic for head in heads]),
        "points": np.stack([no_steps, *points])[1:],
        "steps": np.stack([no_steps, *(pre_filter.steps.values() if pre_filter else ())])[1:],
        "knots": np.concatenate([np.zeros((0, 2), np.float32), *weights.calibration.values()]),
        "patterns": np.concatenate(every),
        "amounts": np.concatenate([np.zeros(0, np.float32), *weights.plan_amounts.values()]),
    }


def _columns(size: int) -> int:
    """Numbers of a pattern over `size` parameters."""
    return 2 + len(OUTPUTS) + size + 2 * (PACKED_BAR + 1) * FILTER_STEPS


def _pattern_rows(patterns: Patterns) -> npt.NDArray[np.float32]:
    points = patterns.points.reshape(len(patterns.names), -1)
    outputs = np.zeros((len(OUTPUTS), len(points))) if patterns.outputs is None else patterns.outputs
    columns = [patterns.amounts, patterns.bias, outputs.T, patterns.inputs, points]
    return np.column_stack(columns).astype(np.float32)


def _kept_patterns(names: list[str], rows: npt.NDArray[np.float32], size: int, has_outputs: bool) -> Patterns:
    ends = np.cumsum([1, 1, len(OUTPUTS), size])
    amounts, bias, outputs, inputs, points = np.split(rows, ends, axis=1)
    shape = (len(rows), 2, PACKED_BAR + 1, FILTER_STEPS)
    of_outputs = np.ascontiguousarray(outputs.T) if has_outputs else None
    return Patterns(tuple(names), amounts[:, 0], bias[:, 0], inputs, points.reshape(shape), of_outputs)


def _outline(heads_by: _HeadsBy) -> dict[str, dict[str, list[int]]]:
    """For each head how many pairs it has, and whether it has point terms."""
    return {
        name: {head: [len(of.pairs), of.points is not None] for head, of in heads.items()}
        for name, heads in heads_by.items()
    }


def _facts(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(arrays["facts"].tobytes())
    return facts


def _unpacked(arrays: Mapping[str, npt.NDArray[Any]], digest: str, folder: Path) -> WeightFile:
    """The weight file in `arrays`; raises anything for what `_packed` cannot have made of this digest."""
    facts = _facts(arrays)
    parameters = fitted_set(facts["set"], facts["fingerprint"], folder, facts["parameters"])
    expected = [_FORMAT, digest, facts["fingerprint"], facts["parameters"]]
    if parameters is None or expected != [
        facts["format"],
        facts["digest"],
        parameters.fingerprint,
        [*parameters.names],
    ]:
        raise ValueError(digest)
    outlines = [
        of for part in ("classes", "plans") for heads in facts[part].values() for of in heads.values()
    ]
    ends = [0, *accumulate(count for count, _ in outlines)]
    kept, *filtered = facts["filter"] or [0]
    steps = (2, PACKED_BAR + 1, FILTER_STEPS)
    shapes = {
        "bias": (len(outlines),),
        "linear": (len(outlines), len(parameters)),
        "pairs": (ends[-1], 2),
        "quadratic": (ends[-1],),
        "points": (sum(pointed for _, pointed in outlines), *steps),
        "steps": (len(filtered), *steps),
        "knots": (sum(facts["knots"].values()), 2),
        "patterns": (sum(map(len, facts["patterns"].values())), _columns(len(parameters))),
        "amounts": (sum(facts["amounts"].values()),),
    }
    pairs = arrays["pairs"].astype(np.int64)
    if any(arrays[name].shape != shape for name, shape in shapes.items()) or (
        pairs.size and not (pairs.min() >= 0 and pairs.max() < len(parameters))
    ):
        raise ValueError(digest)
    rows = iter(zip(outlines, ends, arrays["bias"].tolist(), arrays["linear"], strict=False))
    points = iter(arrays["points"])

    def unpacked(part: str) -> dict[str, dict[str, HeadWeights]]:
        return {name: {head: following() for head in heads} for name, heads in facts[part].items()}

    def following() -> HeadWeights:
        (count, pointed), start, bias, linear = next(rows)
        own = slice(start, start + count)
        return HeadWeights(
            bias, linear, pairs[own], arrays["quadratic"][own], next(points) if pointed else None
        )

    pre_filter = PreFilter(kept, dict(zip(filtered, arrays["steps"], strict=True))) if kept else None
    knots = np.split(arrays["knots"], [*accumulate(facts["knots"].values())])
    patterns = np.split(arrays["patterns"], [*accumulate(map(len, facts["patterns"].values()))])
    amounts = np.split(arrays["amounts"], [*accumulate(facts["amounts"].values())])
    return WeightFile(
        facts["name"],
        facts["version"],
        facts["parent"],
        parameters,
        unpacked("classes"),
        pre_filter,
        facts["fit"],
        unpacked("plans"),
        facts["bearoff"],
        dict(zip(facts["knots"], knots, strict=False)),
        {
            name: _kept_patterns(names, part, len(parameters), name in facts["outputs"])
            for (name, names), part in zip(facts["patterns"].items(), patterns, strict=False)
        },
        dict(zip(facts["amounts"], amounts, strict=False)),
        {name: tuple(sentences) for name, sentences in facts["words"].items()},
    )
