"""Weight files in a binary form that loads fast, cached by the hash of their bytes.

Reading megabytes of YAML takes much longer than loading the cache. It contains only numbers and texts, no
code; a damaged or foreign file is ignored, and a folder that cannot be written is not an error.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from motif.evaluators.weight_file import FilterUnits, FilterWeights, HeadWeights, HiddenLayer, WeightFile
from motif.parameters import fitted_set
from motif.runtime.cache_folder import cache_folder
from motif.runtime.errors import FileError
from motif.runtime.files import replacing

_Arrays = dict[str, npt.NDArray[Any]]

_FORMAT = "motif-kept-weights/10"
_MAX_KEPT_FILES = 16
_SUFFIX = ".npz"


def kept_weights(digest: str, folder: Path) -> WeightFile | None:
    """Return the cached weight file in `folder` whose bytes have the SHA-256 `digest`; None if absent."""
    # Any error from a damaged or foreign file.
    # Opened here, because np.load does not close a file that it cannot read.
    with (
        suppress(Exception),
        open(_path(digest), "rb") as handle,
        np.load(handle, allow_pickle=False) as stored,
    ):
        weights = _unpacked(dict(stored), digest, folder)
        with suppress(OSError):  # the folder may be read only
            _path(digest).touch()
        return weights
    return None


def keep_weights(digest: str, weights: WeightFile) -> None:
    """Cache the contents of the weight file with the SHA-256 `digest`."""
    parameters = weights.parameters
    arrays: _Arrays = {}
    fields = _without_arrays({**vars(weights), "parameters": None}, "weights", arrays)
    facts = json.dumps(
        {
            **_marks(digest, arrays),
            "set": parameters.name,
            "fingerprint": parameters.fingerprint,
            "parameters": parameters.names,
            "weights": fields,
        }
    )
    # JSON's keys differ from YAML's: data that would not survive the round trip are not cached.
    if repr(json.loads(facts)["weights"]["fit"]) != repr(weights.fit):
        return
    path = _path(digest)
    arrays["facts"] = np.frombuffer(facts.encode(), np.uint8)
    with suppress(OSError, FileError):
        with replacing(path) as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
        by_age = sorted(path.parent.glob("*" + _SUFFIX), key=lambda kept: kept.stat().st_mtime)
        for old in by_age[:-_MAX_KEPT_FILES]:
            old.unlink(missing_ok=True)


def _path(digest: str) -> Path:
    return cache_folder("weights") / (digest + _SUFFIX)


def _marks(digest: str, arrays: _Arrays) -> dict[str, Any]:
    """Return what a file of this digest says of itself, with the type, shape and checksum of each array."""
    sums = {key: [of.dtype.str, [*of.shape], crc32(of.tobytes())] for key, of in arrays.items()}
    return {"format": _FORMAT, "digest": digest, "arrays": sums}


def _without_arrays(value: Any, path: str, arrays: _Arrays) -> Any:
    """Return `value` as JSON holds it: `arrays` gets its arrays, by path, and None takes their places."""
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return None
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: _without_arrays(each, f"{path}/{key}", arrays) for key, each in value.items()}
    return value


def _with_arrays(value: Any, path: str, arrays: _Arrays) -> Any:
    """Return `value` with the arrays in the places that `_without_arrays` gave to None."""
    if isinstance(value, dict):
        return {key: _with_arrays(each, f"{path}/{key}", arrays) for key, each in value.items()}
    return arrays.get(path, value)


def _unpacked(arrays: _Arrays, digest: str, folder: Path) -> WeightFile:
    """Return the weight file in `arrays`; raises any error if they are not those of this digest."""
    facts = json.loads(arrays.pop("facts").tobytes())
    if any(facts[key] != mark for key, mark in _marks(digest, arrays).items()):
        raise ValueError(digest)
    parameters = fitted_set(facts["set"], facts["fingerprint"], folder, facts["parameters"])
    if parameters is None or (parameters.fingerprint, [*parameters.names]) != (
        facts["fingerprint"],
        facts["parameters"],
    ):
        raise ValueError(digest)
    fields = _with_arrays(facts["weights"], "weights", arrays)
    fields["parameters"] = parameters
    for heads in fields["classes"].values():
        heads.update({head: HeadWeights(**weights) for head, weights in heads.items()})
    for name, layer in fields["hidden_layers"].items():
        fields["hidden_layers"][name] = HiddenLayer(tuple(layer.pop("names")), **layer)
    if fields["move_filter"] is not None:
        units = fields["move_filter"]["units"]
        units.update({name: FilterUnits(**of) for name, of in units.items()})
        fields["move_filter"] = FilterWeights(**fields["move_filter"])
    fields["words"] = {name: tuple(sentences) for name, sentences in fields["words"].items()}
    return WeightFile(**fields)
