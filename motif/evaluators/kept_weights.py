"""Weight files that were read before, kept in the cache folder as arrays and a little JSON.

A person reads YAML; a program takes seconds to parse megabytes of it, and hundredths of a second to load
this.  What is kept is found by the hash of the YAML's bytes, so whatever changes in a file is read anew.
It holds numbers and texts alone, nothing that could run; what is damaged or foreign is as good as none,
and a folder that cannot be written is no error.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_BAR
from motif.evaluators.weight_file import FILTER_STEPS, HeadWeights, Patterns, PreFilter, WeightFile
from motif.parameters import fitted_set
from motif.runtime.errors import FileError
from motif.runtime.files import cache_root, replacing

_FORMAT = "motif-kept-weights/3"
_MOST_KEPT = 16
_SUFFIX = ".npz"
_HeadsBy = Mapping[str, Mapping[str, HeadWeights]]


def _path(digest: str) -> Path:
    return cache_root() / "weights" / (digest + _SUFFIX)


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
    }


def _columns(size: int) -> int:
    """Numbers of a pattern over `size` parameters."""
    return 2 + size + 2 * (PACKED_BAR + 1) * FILTER_STEPS


def _pattern_rows(patterns: Patterns) -> npt.NDArray[np.float32]:
    points = patterns.points.reshape(len(patterns.names), -1)
    return np.column_stack([patterns.amounts, patterns.bias, patterns.inputs, points])


def _patterns(names: list[str], rows: npt.NDArray[np.float32], size: int) -> Patterns:
    amounts, bias, inputs, points = np.split(rows, [1, 2, 2 + size], axis=1)
    shape = (len(rows), 2, PACKED_BAR + 1, FILTER_STEPS)
    return Patterns(tuple(names), amounts[:, 0], bias[:, 0], inputs, points.reshape(shape))


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
            name: _patterns(names, part, len(parameters))
            for (name, names), part in zip(facts["patterns"].items(), patterns, strict=False)
        },
        {name: tuple(sentences) for name, sentences in facts["words"].items()},
    )
