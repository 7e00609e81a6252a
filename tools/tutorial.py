"""Run the commands of the tutorial in order, and store their output.

``python -m tools.tutorial docs/tutorial/first-hour.md`` runs them and writes the output into the page.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.import_graph import ROOT

PAGE = ROOT / "docs" / "tutorial" / "first-hour.md"
COMMANDS, FILE, SHOWN = "sh", "python", "text"

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of the page."""

    kind: str
    """`COMMANDS`, a file to write (`FILE`), the output of the previous commands (`SHOWN`), or another."""
    text: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [Block(*parts) for parts in _BLOCK.findall(page)]


def command_lines(page_blocks: list[Block]) -> list[str]:
    """Return every command line of the blocks."""
    return [line for block in page_blocks if block.kind == COMMANDS for line in block.text.splitlines()]


def write_file(block: Block, folder: Path) -> Path:
    """Write a block that begins with ``# NAME: ...`` to the file NAME."""
    name = re.match(r"# ([\w.]+)", block.text)
    assert name is not None
    path = folder / name[1]
    path.write_text(block.text)
    return path


def run(block: Block, folder: Path) -> str:
    """Run a block of commands in `folder` and return the output."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = ["sh", "-e", "-c", block.text]
    ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("motif: compiling kernels")]
    assert (ended.returncode, said) == (0, []), f"{block.text}{ended.stderr}"
    return ended.stdout


def run_page(page_blocks: list[Block], folder: Path) -> list[str]:
    """Follow a page in `folder`; return the output of each block of commands."""
    (folder / "data").symlink_to(ROOT / "data")
    printed = []
    for block in page_blocks:
        if block.kind == FILE:
            write_file(block, folder)
        elif block.kind == COMMANDS:
            printed.append(run(block, folder))
    return printed


def refresh(path: Path) -> None:
    """Run the page at `path` and update its output blocks."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = iter(run_page(blocks(page), Path(folder)))

    def filled(match: re.Match[str]) -> str:
        if match[1] != SHOWN:
            return match[0]
        lines = (line.rstrip() for line in next(printed).strip("\n").splitlines())
        return "\n".join((f"```{SHOWN}", *lines, "```"))

    path.write_text(_BLOCK.sub(filled, page), encoding="utf-8")


if __name__ == "__main__":
    refresh(Path(sys.argv[1]))
