"""Sets only grow: weights fitted to a smaller set still load, and evaluate and play as before."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import motif
from motif.evaluators import load_static
from motif.evaluators.bras import BrasEvaluator
from motif.evaluators.static import model_fingerprint
from motif.parameters import PARAMETER_SETS, fitted_set
from motif.parameters.registry import ParameterSet, SetBuilder
from tests.fitting.fitting_samples import random_boards

ROOT = Path(motif.__file__).parents[1]
SHIPPED = ("latest", "motif-v1", "keith-v1")

DECLARED = """
DOUBLE_BLOTS = _side("double_blots", "twice the blots of {side}", unit="blots", full=8, group="safety")
OUTSIDE = _shared("pips_both", "pips of both players", unit="pips", full=300, group="race")
MOTIF_SET = _builder.build()
"""
MEASURED = """
    for base in (0, _SIDE):
        out[base + DOUBLE_BLOTS] = 2 * (out[base + BLOTS_HOME] + out[base + BLOTS_ELSEWHERE])
    out[_BOTH + OUTSIDE] = out[PIPS] + out[_SIDE + PIPS]
"""
PROGRAM = """
import sys
import numpy as np
from motif.evaluators import load_static
from motif.evaluators.bras import BrasEvaluator
from motif.evaluators.static import model_fingerprint
from motif.parameters import PARAMETER_SETS
from motif.parameters.named_sets import features

boards = np.load(sys.argv[1])
chosen = PARAMETER_SETS["motif"]
rows = features(chosen, boards) / chosen.scales
column = {name: rows[:, k] for k, name in enumerate(chosen.names)}
for side in ("", "_opponent"):
    blots = column["blots_home" + side] + column["blots_elsewhere" + side]
    assert np.allclose(column["double_blots" + side], 2 * blots)
assert np.allclose(column["pips_both"], column["pip_count"] + column["pip_count_opponent"])
results = {"bras": BrasEvaluator().evaluate_many(boards)}
for name in sys.argv[3:]:
    evaluator = load_static(name)
    results[name] = evaluator.evaluate_many(boards)
    results[name + " equity"] = evaluator.equity_many(boards)
    results[name + " features"] = features(evaluator.weights.parameters, boards)
    print(model_fingerprint(evaluator.model), evaluator.weights.parameters.fingerprint)
np.savez(sys.argv[2], **results)
"""


@pytest.mark.slow
def test_one_file_changed_adds_parameters_and_shipped_weights_play_as_before(tmp_path):
    shutil.copytree(ROOT / "motif", tmp_path / "motif", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "weights").symlink_to(ROOT / "weights")
    path = tmp_path / "motif" / "parameters" / "motif_set.py"
    text = path.read_text()
    assert text.count("\nMOTIF_SET = _builder.build()\n") == 1
    path.write_text(text.replace("MOTIF_SET = _builder.build()\n", DECLARED.lstrip()).rstrip() + MEASURED)
    boards = random_boards(400, seed=7)
    np.save(tmp_path / "boards.npy", boards)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, "boards.npy", "results.npz", *SHIPPED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    evaluators = [load_static(name) for name in SHIPPED]
    expected = [f"{model_fingerprint(e.model)} {e.weights.parameters.fingerprint}" for e in evaluators]
    assert ended.stdout.splitlines() == expected
    with np.load(tmp_path / "results.npz") as results:
        assert results["bras"].tobytes() == BrasEvaluator().evaluate_many(boards).tobytes()
        for name, evaluator in zip(SHIPPED, evaluators, strict=True):
            assert results[name].tobytes() == evaluator.evaluate_many(boards).tobytes()
            assert results[name + " equity"].tobytes() == evaluator.equity_many(boards).tobytes()


def grown(chosen: ParameterSet) -> ParameterSet:
    """A set with one more parameter for each side, and one more for both."""
    builder = SetBuilder(chosen.name, chosen.revision, chosen)
    builder.side("luck", "luck of {side}", unit="points", full=3, group="race")
    builder.shared("fun", "fun of the game", unit="points", full=3, group="race")
    return builder.build()


@pytest.mark.parametrize("chosen", PARAMETER_SETS.values(), ids=PARAMETER_SETS)
def test_a_grown_set_contains_the_earlier_one(chosen, monkeypatch, tmp_path):
    larger = grown(chosen)
    monkeypatch.setitem(PARAMETER_SETS, chosen.name, larger)
    known = fitted_set(chosen.name, chosen.fingerprint, tmp_path, set(chosen.names))
    assert (known.names, known.fingerprint, known.side_count) == (
        chosen.names,
        chosen.fingerprint,
        chosen.side_count,
    )
    assert [larger.names[k] for k in known.places] == list(chosen.names)
    assert known.full_set is larger
    assert fitted_set(chosen.name, larger.fingerprint, tmp_path, larger.names) is larger
    assert not len(larger.places)
    # Weights of other parameters, or of parameters with another meaning, match neither set.
    for names, fingerprint in (
        (chosen.names[1:], chosen.fingerprint),
        (chosen.names, "sha256:0"),
        (chosen.names, larger.fingerprint),
    ):
        assert fitted_set(chosen.name, fingerprint, tmp_path, names) is larger
