"""Make the pictures and pages of the site's gallery by running the commands on its page.

``python -m tools.gallery`` makes them without building the site.
"""

import hashlib
from collections.abc import Callable
from shutil import rmtree

from motif.evaluators.known_players import default_player
from motif.runtime.files import write_text
from motif.runtime.package import VERSION
from tools.import_graph import ROOT
from tools.tutorial import COMMANDS, Block, blocks, command_lines, run

PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "_made" / "gallery"
"""Where the commands of the page run."""
_STAMP = "made-of.txt"


def _sections() -> list[Block]:
    return [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.kind == COMMANDS]


def gallery_lines() -> list[str]:
    """Return every command line of the page."""
    return command_lines(_sections())


def make_gallery(tell: Callable[[str], object] = print) -> None:
    """Run the page's commands in `FOLDER`, unless the same commands and motif have run there before."""
    lines = "\n".join(gallery_lines())
    made_of = hashlib.sha256(f"{VERSION} {default_player()}\n{lines}".encode()).hexdigest()
    stamp = FOLDER / _STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == made_of:
        return
    rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for block in _sections():
        tell(block.text.strip())
        run(block, FOLDER)
    write_text(stamp, made_of)


if __name__ == "__main__":
    make_gallery()
