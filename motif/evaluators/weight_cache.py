"""Weight files in a binary form that loads fast, cached by the hash of their bytes.

Reading megabytes of YAML takes much longer than loading the cache. It contains only numbers and texts, no
code; a damaged or foreign file is ignored, and a folder that cannot be written is not an error.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_BAR
from motif.evaluators.point_table import POINT_STEPS
from motif.evaluators.probabilities import OUTPUTS
from motif.evaluators.weight_file import FilterUnits, FilterWeights, HeadWeights, HiddenLayer, WeightFile
from motif.parameters import fitted_set
from motif.runtime.cache_folder import cache_folder
from motif.runtime.errors import FileError
from motif.runtime.files import replacing

_Stored = Mapping[str, npt.NDArray[Any]]

_FORMAT = "motif-kept-weights/9"
_MAX_KEPT_FILES = 16
_SUFFIX = ".npz"
_POINTS = (2, PACKED_BAR + 1, POINT_STEPS)


def kept_weights(digest: str, folder: Path) -> WeightFile | None:
    """Return the cached weight file in `folder` whose bytes have the SHA-256 `digest`; None if absent."""
    # Any error from a damaged or foreign file.
    # Opened here, because np.load does not close a file that it cannot read.
    with (
        suppress(Exception),
        open(_path(digest), "rb") as handle,
        np.load(handle, allow_pickle=False) as arrays,
    ):
        weights = _unpacked(arrays, digest, folder)
        with suppress(OSError):  # the folder may be read only
            _path(digest).touch()
        return weights
    return None


def keep_weights(digest: str, weights: WeightFile) -> None:
    """Cache the contents of the weight file with the SHA-256 `digest`."""
    facts = json.dumps(_facts(weights, digest))
    # JSON's keys differ from YAML's: data that would not survive the round trip are not cached.
    if repr(json.loads(facts)["fit"]) != repr(weights.fit):
        return
    path = _path(digest)
    arrays = {"facts": np.frombuffer(facts.encode(), np.uint8), **_arrays(weights)}
    with suppress(OSError, FileError):
        with replacing(path) as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
        by_age = sorted(path.parent.glob("*" + _SUFFIX), key=lambda kept: kept.stat().st_mtime)
        for old in by_age[:-_MAX_KEPT_FILES]:
            old.unlink(missing_ok=True)


def _path(digest: str) -> Path:
    return cache_folder("weights") / (digest + _SUFFIX)


def _facts(weights: WeightFile, digest: str) -> dict[str, Any]:
    """Return everything but the arrays."""
    move_filter = weights.move_filter
    return {
        "format": _FORMAT,
        "digest": digest,
        "name": weights.name,
        "version": weights.version,
        "parent": weights.parent,
        "set": weights.parameters.name,
        "fingerprint": weights.parameters.fingerprint,
        "parameters": weights.parameters.names,
        "classes": {
            name: {head: of.bias for head, of in heads.items()} for name, heads in weights.classes.items()
        },
        "filter": None
        if move_filter is None
        else {
            "kept": move_filter.kept,
            "classes": [*move_filter.steps],
            "units": {name: (len(units.bias), units.margin) for name, units in move_filter.units.items()},
        },
        "fit": weights.fit,
        "bearoff": weights.bearoff,
        "calibration": [*weights.calibration],
        "hidden": {name: layer.names for name, layer in weights.hidden_layers.items()},
        "words": weights.words,
    }


def _arrays(weights: WeightFile) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {}
    for class_name, heads in weights.classes.items():
        for name, head in heads.items():
            arrays[f"{class_name}/{name}/linear"] = head.linear
            arrays[f"{class_name}/{name}/pairs"] = head.pairs.astype(np.int16)
            arrays[f"{class_name}/{name}/quadratic"] = head.quadratic
    for class_name, layer in weights.hidden_layers.items():
        for name in ("bias", "inputs", "points", "outputs"):
            arrays[f"{class_name}/hidden/{name}"] = getattr(layer, name)
    if weights.move_filter is not None:
        arrays |= {f"{name}/filter": steps for name, steps in weights.move_filter.steps.items()}
        for class_name, units in weights.move_filter.units.items():
            for name in ("bias", "points", "outputs"):
                arrays[f"{class_name}/filter/{name}"] = getattr(units, name)
    return arrays | {f"{class_name}/calibration": each for class_name, each in weights.calibration.items()}


def _unpacked(arrays: _Stored, digest: str, folder: Path) -> WeightFile:
    """Return the weight file in `arrays`; raises any error if they are not those of this digest."""
    facts = json.loads(arrays["facts"].tobytes())
    if (facts["format"], facts["digest"]) != (_FORMAT, digest):
        raise ValueError(digest)
    parameters = fitted_set(facts["set"], facts["fingerprint"], folder, facts["parameters"])
    if parameters is None or (parameters.fingerprint, [*parameters.names]) != (
        facts["fingerprint"],
        facts["parameters"],
    ):
        raise ValueError(digest)
    size = len(parameters)
    heads = {
        class_name: {name: _head(arrays, f"{class_name}/{name}", bias, size) for name, bias in of.items()}
        for class_name, of in facts["classes"].items()
    }
    return WeightFile(
        facts["name"],
        facts["version"],
        facts["parent"],
        parameters,
        heads,
        None if facts["filter"] is None else _filter(arrays, **facts["filter"]),
        facts["fit"],
        facts["bearoff"],
        {name: _array(arrays, f"{name}/calibration", (-1, 2)) for name in facts["calibration"]},
        {name: _layer(arrays, f"{name}/hidden", units, size) for name, units in facts["hidden"].items()},
        {name: tuple(sentences) for name, sentences in facts["words"].items()},
    )


def _filter(
    arrays: _Stored, kept: int, classes: list[str], units: dict[str, tuple[int, float]]
) -> FilterWeights:
    steps = {name: _array(arrays, f"{name}/filter", _POINTS) for name in classes}
    return FilterWeights(
        kept, steps, {name: _filter_units(arrays, f"{name}/filter", *of) for name, of in units.items()}
    )


def _filter_units(arrays: _Stored, key: str, count: int, margin: float) -> FilterUnits:
    return FilterUnits(
        _array(arrays, f"{key}/bias", (count,)),
        _array(arrays, f"{key}/points", (count, *_POINTS)),
        _array(arrays, f"{key}/outputs", (count,)),
        margin,
    )


def _head(arrays: _Stored, key: str, bias: float, size: int) -> HeadWeights:
    pairs = _array(arrays, f"{key}/pairs", (-1, 2)).astype(np.int64)
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < size):
        raise ValueError(key)
    quadratic = _array(arrays, f"{key}/quadratic", (len(pairs),))
    return HeadWeights(bias, _array(arrays, f"{key}/linear", (size,)), pairs, quadratic)


def _layer(arrays: _Stored, key: str, names: list[str], size: int) -> HiddenLayer:
    count = len(names)
    return HiddenLayer(
        tuple(names),
        _array(arrays, f"{key}/bias", (count,)),
        _array(arrays, f"{key}/inputs", (count, size)),
        _array(arrays, f"{key}/points", (count, *_POINTS)),
        _array(arrays, f"{key}/outputs", (len(OUTPUTS), count)),
    )


def _array(arrays: _Stored, key: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an array of this shape, in which -1 is any length; raises `ValueError` for another."""
    array = arrays[key]
    wanted = tuple(there if here < 0 else here for here, there in zip(shape, array.shape, strict=True))
    if array.shape != wanted:
        raise ValueError(key)
    return array
