"""Excerpts of what commands print in the README and in docs/how-to.

``python -m tools.excerpts`` runs the commands and writes the excerpts again. Their figures follow the weights
of the default player.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from textwrap import fill

import motif
from motif.runtime.errors import SettingError
from motif.runtime.files import write_text
from tools.import_graph import ROOT
from tools.marked_page import reporting
from tools.tutorial import blocks

DAY = "2026-11-30"
"""Shown as the day of the commands, so that excerpts stay the same."""
ELLIPSIS = " ..."
"""Line between two spans."""


@dataclass(frozen=True)
class Excerpt:
    """A fenced block that shows parts of the output of the last of some commands."""

    pages: tuple[str, ...]
    commands: tuple[str, ...]
    """Words after ``motif``."""
    spans: tuple[tuple[str, str], ...]
    """Beginnings of the first line of a span and of the first line after it, which may be empty: the end."""
    typed: str = ""
    """Input of the commands."""

    def printed(self) -> str:
        """Run the commands in a new folder and return what the excerpt shows."""
        with tempfile.TemporaryDirectory() as folder:
            for words in self.commands:
                command = [sys.executable, "-m", "motif", *words.split()]
                out = subprocess.run(
                    command, cwd=folder, input=self.typed, capture_output=True, text=True, check=True
                ).stdout
        # Matches that motif saves are dated.
        lines = [line.rstrip() for line in out.replace(str(date.today()), DAY).splitlines()]
        parts = ["\n".join(_between(lines, *span)).rstrip() for span in self.spans]
        return f"\n{ELLIPSIS}\n\n".join(parts) + "\n"

    def shown(self, text: str) -> str:
        """Return the block of a page that shows the excerpt.

        Raises `SettingError` unless there is just one.
        """
        found = [block.text for block in blocks(text) if block.text.startswith(self.spans[0][0])]
        if len(found) != 1:
            raise SettingError(f"{len(found)} blocks begin with {self.spans[0][0]!r} instead of one")
        return found[0]


def _between(lines: list[str], first: str, after: str) -> Iterator[str]:
    """Yield the lines of a span; those before its first line are left out."""
    ahead = iter(lines)
    line = next(line for line in ahead if line.startswith(first))
    yield line
    for line in ahead:
        if after and line.startswith(after):
            return
        yield line


EXCERPTS = (
    Excerpt(
        ("README.md", "docs/how-to/explain.md"),
        ("explain z92DAADNdgEwGA 32 --versus 18/15*,6/4",),
        (("18/15* 7/5 is better than", ""),),
    ),
    Excerpt(
        ("docs/how-to/match-analysis.md",),
        ("play keith-v1 pubeval --length 5 --seed 4 --save match.mat", "analyse match.mat"),
        (("keith-v1 - pubeval", "   PR"), ("1. Game 1", "2. Game")),
    ),
    Excerpt(
        ("docs/how-to/play.md",),
        ("play human human --names Ann,Bob --dice manual --length 7 --tutor",),
        (("Bob to play 44", "Play it anyway? [yes, no, why]: no"),),
        typed="21\n24/23 13/11\n44\n24/16 6/2*(2)\nwhy\nno\nquit\nno\n",
    ),
)
EFFECTS_PAGE = "docs/how-to/terms.md"
_EFFECTS = "bring_home", "pip_lead"
"""Parameters whose effects that page quotes, in this order."""
_QUOTE = re.compile(r"^> .+\n(?:> .+\n)*", re.MULTILINE)
_WIDTH = 120


def with_effects(text: str) -> str:
    """Return the text of `EFFECTS_PAGE` with the effects that the newest weights have."""
    said = {effect.name: effect.sentence for effect in motif.terms("latest").effects}
    quotes = iter([fill(f"> {said[name]}", _WIDTH, subsequent_indent="> ") + "\n" for name in _EFFECTS])
    return _QUOTE.sub(lambda match: next(quotes), text)


@reporting
def main() -> None:
    """Write all excerpts into their pages."""
    effects = ROOT / EFFECTS_PAGE
    write_text(effects, with_effects(effects.read_text("utf-8")))
    for excerpt in EXCERPTS:
        printed = excerpt.printed()
        for page in excerpt.pages:
            text = (ROOT / page).read_text("utf-8")
            write_text(ROOT / page, text.replace(excerpt.shown(text), printed))


if __name__ == "__main__":
    sys.exit(main())
