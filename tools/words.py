"""Find unidiomatic words and suggest better ones: ``python -m tools.words [PATH...]``.

The rules are in ``tools/words.yaml``. Pages, texts and templates are searched completely; of programs, only
comments and strings. Code in backticks and code blocks are skipped.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.import_graph import ROOT

RULES = Path(__file__).with_name("words.yaml")
SUFFIXES = {".cff", ".css", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".toml", ".yaml", ".yml", ""}
SKIPPED = {"__pycache__", "de.json", "de.yaml", "players.json", "test_words.py", "words.yaml"}
"""Files and folders that are skipped: other languages, figures, the rules and their test."""
_CODE = re.compile(
    r"^( *)(```|~~~).*?^\1\2 *$|``[^`]+``|`[^`]+`|<!--.*?-->|--[a-z][a-z-]+", re.DOTALL | re.MULTILINE
)
_SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL
)
_CELL = re.compile(r"\"source\": \[\n.*?\n *\]", re.DOTALL)
"""The source of a notebook's cell."""
_FIELD = re.compile(r"\{[^{}\n]*\}")
"""A replacement field of an f-string."""
_QUOTES = re.compile(r"""^[rbfuRBFU]*("{3}|'{3}|"|')|("{3}|'{3}|"|')$""")


@dataclass(frozen=True)
class Rules:
    """Words to avoid with better ones, the folders to search, and exceptions by file."""

    pattern: re.Pattern[str]
    say: list[str]
    folders: list[str]
    allowed: dict[str, list[str]]
    quick: re.Pattern[str]
    """The rules for text in small letters, which is searched several times as fast."""

    @classmethod
    def read(cls, path: Path = RULES) -> "Rules":
        """Read the rules at `path`."""
        data = yaml.safe_load(path.read_text("utf-8"))
        parts = ["|".join(rule["not"]).replace(" ", r"\s+(?:#\s+)?") for rule in data["rules"]]
        pattern = "|".join(f"(?P<r{number}>{part})" for number, part in enumerate(parts))
        found, quick = (
            rf"\b(?=\w)(?<![@'’-])(?:{each})(?![\w-]|['’]t)" for each in (pattern, "|".join(parts))
        )
        quick = re.sub(r"\\.|[A-Z]", lambda one: one[0] if one[0][0] == "\\" else one[0].lower(), quick)
        say = [rule["say"] for rule in data["rules"]]
        return cls(
            re.compile(found, re.IGNORECASE), say, data["folders"], data["allow"] or {}, re.compile(quick)
        )

    def breaches(self, path: Path, text: str) -> Iterator[str]:
        """Yield a line for each match of a rule in `text`, the file at `path`."""
        if not self.quick.search(text.lower()):
            return
        allowed = {word.lower() for word in self.allowed.get(path.as_posix(), [])}
        for found in self.pattern.finditer(prose(path, text)):
            words = " ".join(found[0].split())
            if words.lower() not in allowed:
                line = text.count("\n", 0, found.start()) + 1
                better = self.say[int((found.lastgroup or "r0")[1:])]
                yield f"{path}:{line}: '{words}': better: {better}"


def prose(path: Path, text: str) -> str:
    """Return the text of the file at `path` that people read; everything else is blank."""
    if path.suffix == ".py":
        text = _FIELD.sub(_blank, _kept(text, _python_spans(text)))
    elif path.suffix == ".ipynb":
        text = _kept(text, [found.span() for found in _CELL.finditer(text)])
    elif path.suffix in (".js", ".css"):
        text = _kept(text, [found.span() for found in _SCRIPT.finditer(text)])
    return _CODE.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _kept(text: str, spans: list[tuple[int, int]]) -> str:
    characters = [character if character == "\n" else "\0" for character in text]
    for start, end in spans:
        characters[start:end] = text[start:end]
    return "".join(characters)


def _python_spans(text: str) -> list[tuple[int, int]]:
    """Return the positions of a program's comments and strings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    wanted = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in wanted:
            start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            if token.type == tokenize.STRING:
                opened, closed = _QUOTES.match(token.string), _QUOTES.search(token.string[1:])
                start += opened.end() if opened else 0
                end -= len(closed[0]) if closed else 0
            spans.append((start, end))
    return spans


def files(folders: list[str]) -> Iterator[Path]:
    """Yield the files below `folders`, relative to the root, that are searched."""
    for top in (top for name in folders for top in sorted(ROOT.glob(name))):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in SUFFIXES and path.is_file() and not SKIPPED & {*path.parts}:
                yield path.relative_to(ROOT)


def breaches(rules: Rules, folders: list[str]) -> list[str]:
    """Return all matches of the rules below `folders`."""
    return [
        line
        for path in files(folders)
        for line in rules.breaches(path, (ROOT / path).read_text("utf-8", "replace"))
    ]


def main() -> int:
    """Print all matches in the given paths, or in the folders of the rules."""
    rules = Rules.read()
    lines = breaches(rules, sys.argv[1:] or rules.folders)
    print("\n".join(lines), end="\n" if lines else "")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
