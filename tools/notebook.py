"""Run the example notebooks from top to bottom.

``python -m tools.notebook docs/notebooks/first-hour.ipynb`` runs one and stores its output in it.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from motif.runtime.files import write_text
from tools.import_graph import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_MAX_SECONDS = 300
"""Maximum seconds for a cell, which may have to compile kernels."""


def read(path: Path) -> nbformat.NotebookNode:
    """Return the notebook at `path`."""
    return nbformat.read(path, as_version=4)


def run_notebook(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run the cells of a notebook in `folder`, in place, and keep their output.

    Standard error is dropped: whether it has the notice of compilation depends on the cache.  Raises
    `nbclient.exceptions.CellExecutionError` for a cell that fails, with its message.
    """
    client = NotebookClient(
        notebook, timeout=_MAX_SECONDS, resources={"metadata": {"path": str(folder)}}, record_timing=False
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def refresh(path: Path) -> None:
    """Run the notebook at `path` in its folder, and store the output of its cells."""
    notebook = run_notebook(read(path), path.parent)
    # Machine-dependent metadata is dropped.
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    write_text(path, nbformat.writes(notebook).rstrip("\n") + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))
