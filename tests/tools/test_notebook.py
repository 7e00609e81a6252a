"""The example notebooks run from top to bottom, and the kinds of their stored output are current.

The test replaces amounts of work by smaller ones.
"""

from copy import deepcopy
from itertools import groupby

import pytest

pytest.importorskip("nbclient", reason="the notebook is run by nbclient")

from tools.notebook import NOTEBOOKS, read, run_notebook

every_notebook = pytest.mark.parametrize(
    "kept", [pytest.param(read(path), id=path.stem) for path in NOTEBOOKS]
)


SMALLER = {"max_iter=60": "max_iter=6", "games=40": "games=16", "games=20": "games=2"}
"""Part of a cell -> its replacement in the test."""


def kinds(cell) -> list[tuple[str, list[str]]]:
    """Return the kinds of a cell's outputs, without their contents; a stream counts once."""
    every = [(output.output_type, sorted(output.get("data", {}))) for output in cell.get("outputs", [])]
    return [kind for kind, _ in groupby(every)]


@every_notebook
def test_a_notebook_runs_and_shows_the_stored_output(kept, tmp_path):
    if any("sklearn" in cell.source for cell in kept.cells):
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    smaller = deepcopy(kept)
    for cell in smaller.cells:
        for part, instead in SMALLER.items():
            cell.source = cell.source.replace(part, instead)
    fresh = run_notebook(smaller, tmp_path)
    for cell, before in zip(fresh.cells, kept.cells, strict=True):
        assert kinds(cell) == kinds(before), cell.source
    assert not list(tmp_path.iterdir())


def test_every_replacement_is_needed():
    text = "".join(cell.source for path in NOTEBOOKS for cell in read(path).cells)
    assert [part for part in SMALLER if part not in text] == []


@every_notebook
def test_cells_are_stored_with_their_output(kept):
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert all(cell.outputs and not any(it.output_type == "error" for it in cell.outputs) for cell in code)
    assert set(kept.metadata) == {"kernelspec"}
