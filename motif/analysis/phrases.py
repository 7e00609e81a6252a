"""The sentences of explanations, cube decisions and term reports, in several languages.

A language is a file `motif/data/phrases/LANGUAGE.yaml` with the same keys and placeholders as the English
one.
"""

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from importlib import resources
from operator import getitem
from string import Formatter
from typing import TYPE_CHECKING, Any

from motif.runtime.errors import SettingError, shown

if TYPE_CHECKING:
    # Slow to import, and the command line lists the languages.
    from motif.board.match_state import MatchState

LANGUAGE = "en"
_SUFFIX = ".yaml"


def languages() -> tuple[str, ...]:
    """Return the available languages, such as ``en``."""
    files = resources.files("motif").joinpath("data", "phrases").iterdir()
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX)))


class _PluralFormatter(Formatter):
    """Fills in placeholders; ``{number:one|many}`` selects a plural form by a number.

    One and many are the CLDR plural categories of English and German for whole numbers.
    """

    def format_field(self, value: object, format_spec: str) -> str:
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if int(str(value)) == 1 else many


_FORMATTER = _PluralFormatter()


class Phrases:
    """The phrases of one language."""

    def __init__(self, language: str, table: Mapping[str, object]) -> None:
        self.language = language
        self._table: Any = table

    def say(self, *keys: str, **facts: object) -> str:
        """Return the text under `keys` with `facts` filled in.

        ``count`` selects one of the forms none, one and many; ``nth`` and ``length`` are whole numbers that
        are written as words.
        """
        text = reduce(getitem, keys, self._table)
        if isinstance(text, Mapping):
            form = {0: "none", 1: "one"}.get(int(str(facts["count"])), "many")
            text = text.get(form, text["many"])
        if "length" in facts:
            facts["length"] = self._table["numbers"][int(str(facts["length"]))]
        if "nth" in facts:
            ordinals = self._table["ordinals"]
            facts["nth"] = ordinals[min(int(str(facts["nth"])), len(ordinals)) - 1]
        return _FORMATTER.vformat(str(text), (), facts)

    def find(self, *keys: str, default: str, **facts: object) -> str:
        """Return the text under `keys` with any `facts` filled in; `default` if the last key is missing."""
        text = str(reduce(getitem, keys[:-1], self._table).get(keys[-1], default))
        return _FORMATTER.vformat(text, (), facts) if facts else text

    def group(self, name: str) -> str:
        """Return the label of a group of parameters, by default its name."""
        return self.find("groups", name, default=name)

    def result(self, points: int) -> str:
        """Return the name of a result of `points`, 0 to 3, with the cube at 1."""
        return str(self._table["measured"]["results"][points])

    def score(self, match: "MatchState") -> str:
        """Describe the score and the cube, as `motif.board.diagram.describe_score` does in English."""
        # Slow to import.
        from motif.board.diagram import describe_score

        return describe_score(match, self._table["match"])

    def listed(self, things: Sequence[str], last: str = "and") -> str:
        """Return the `things` as a list with commas, and ``and`` or ``or`` before the last."""
        *some, end = things
        return str(self._table[last]).join([", ".join(some), end]) if some else end

    def number(self, value: float) -> str:
        """Return a value with at most one decimal."""
        return self._decimal(f"{round(value, 1) + 0.0:g}")

    def count(self, number: int) -> str:
        """Return a whole number with a thousands separator."""
        return f"{number:,}".replace(",", self._table["thousands"])

    def amount(self, value: float, digits: int = 3) -> str:
        """Return a number with `digits` decimals."""
        return self._decimal(f"{value:.{digits}f}")

    def signed(self, value: float, digits: int = 3) -> str:
        """Return a number with its sign and `digits` decimals."""
        return ("-" if round(value, digits) < 0 else "+") + self.amount(abs(value), digits)

    def _decimal(self, digits: str) -> str:
        return digits.replace(".", self._table["decimal"])


@cache
def phrases(language: str = LANGUAGE) -> Phrases:
    """Return the phrases of `language`; raises `SettingError` if there are none."""
    # Imported here because listing the languages needs no YAML.
    from motif.runtime.documents import yaml_document

    known = languages()
    if language not in known:
        raise SettingError(f"unknown language {shown(language)}: it must be one of {', '.join(known)}")
    file = resources.files("motif").joinpath("data", "phrases", language + _SUFFIX)
    return Phrases(language, yaml_document(file.read_text("utf-8"), file.name, SettingError).mapping())
