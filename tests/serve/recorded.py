"""The recorded requests of gnubg, and their contents."""

import ast
import re
from itertools import pairwise
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"
_REQUEST = re.compile(r"(?:A->P|<-) (b'.*')")
_ANSWER = re.compile(r"P->A (b'.*')")


def requests() -> list[str]:
    """Each different board line, without the text after it."""
    found = [ast.literal_eval(match[1]).decode() for match in _matches(_REQUEST)]
    assert all(line.endswith("\n\0") for line in found)
    return list(dict.fromkeys(line.rstrip("\n\0") for line in found))


def conversation() -> list[tuple[str, str]]:
    """Board lines of the match between two gnubgs, and their answers."""
    lines = (_FOLDER / "two-gnubgs.log").read_text().splitlines()
    return [
        (ast.literal_eval(asked[1]).decode().rstrip("\n\0"), ast.literal_eval(answer[1]).decode().strip())
        for first, second in pairwise(lines)
        if (asked := _REQUEST.fullmatch(first)) and (answer := _ANSWER.fullmatch(second))
    ]


def _matches(pattern: re.Pattern[str]) -> list[re.Match[str]]:
    texts = [path.read_text() for path in sorted(_FOLDER.glob("*.log"))]
    return [match for text in texts for line in text.splitlines() if (match := pattern.fullmatch(line))]
