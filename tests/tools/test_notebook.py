"""The example notebook runs from top to bottom, and shows what it says it shows."""

from copy import deepcopy
from itertools import groupby

import pytest

pytest.importorskip("nbclient", reason="the notebook is run by nbclient")

from tools.notebook import NOTEBOOK, read, run_notebook

KEPT = read(NOTEBOOK)


def kinds(cell) -> list[tuple[str, list[str]]]:
    """What a cell shows, without what it says; a stream is one, however many pieces it came in."""
    every = [(output.output_type, sorted(output.get("data", {}))) for output in cell.get("outputs", [])]
    return [kind for kind, _ in groupby(every)]


def test_the_notebook_runs_and_shows_what_is_kept(tmp_path):
    fresh = run_notebook(deepcopy(KEPT), tmp_path)
    for cell, kept in zip(fresh.cells, KEPT.cells, strict=True):
        assert kinds(cell) == kinds(kept), cell.source
    assert not list(tmp_path.iterdir())


def test_cells_are_kept_with_what_they_show():
    code = [cell for cell in KEPT.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert all(cell.outputs and not any(it.output_type == "error" for it in cell.outputs) for cell in code)
    assert set(KEPT.metadata) == {"kernelspec"}
