"""A document of mappings, lists, texts and numbers, read entry by entry; a fault is named by its key's path.

weights.yaml: classes.contact.win.bias: must be a number, not None
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields
from typing import Any, NoReturn, Self

from motif.runtime.errors import MotifError, plain_text, shown

_KINDS: dict[Any, tuple[type, ...]] = {
    int: (int,),
    float: (float, int),
    str: (str,),
    bool: (bool,),
    int | None: (int, type(None)),
    float | None: (float, int, type(None)),
}
"""What may stand for a field of a dataclass, by its annotation; anything for other ones."""


class Entry:
    """A value in a document, which knows where it stands; the first is the whole document."""

    def __init__(
        self, value: Any, where: str, error: type[MotifError], key: str = "", joint: str = "."
    ) -> None:
        """`where` begins every message of `error`; `key` names the document, `joint` joins its keys."""
        self.value, self.key = value, key
        self._where, self._error, self._joint, self._prefix = where, error, joint, ""

    def fail(self, problem: str) -> NoReturn:
        """Raise the document's error."""
        key = f"{plain_text(self.key)}: " if self.key else ""
        raise self._error(f"{self._where}: {key}{problem}")

    def child(self, value: Any, key: object) -> Self:
        """`value`, which stands in this one under `key`."""
        return self._at(value, f"{self._prefix}{key}")

    def _at(self, value: Any, key: str) -> Self:
        entry = type(self)(value, self._where, self._error, key, self._joint)
        entry._prefix = key + self._joint
        return entry

    def of(self, *kinds: type, wanted: str = "") -> Any:
        """The value, which is of one of `kinds`; True and False are no numbers."""
        if type(self.value) not in kinds:
            self.fail(f"must be {wanted or kinds[0].__name__}, not {shown(self.value)}")
        return self.value

    def mapping(
        self, known: Collection[object] = (), needed: Collection[str] = (), wanted: str = "a mapping"
    ) -> dict[Any, Any]:
        """The mapping, which has all `needed` keys and, where some are `known`, no others."""
        self.of(dict, wanted=wanted)
        for key in self.value:
            if known and key not in known:
                message = f"unknown key; known are {', '.join(map(str, known))}"
                self.child(None, key).fail(message)
        for name in needed:
            self[name]
        return self.value

    def __getitem__(self, name: object) -> Self:
        """The entry of a mapping that must have it."""
        if name not in self.value:
            self.child(None, name).fail("missing")
        return self.child(self.value[name], name)

    def get(self, name: object, default: Any = None) -> Self:
        """The entry of a mapping, of `default` where there is none."""
        return self.child(self.value.get(name, default), name)

    def items(self) -> Iterator[tuple[Any, Self]]:
        """Keys and entries of a mapping."""
        for name, value in self.mapping().items():
            yield name, self.child(value, name)

    def entries(self, wanted: str = "a list") -> list[Self]:
        """The entries of a list."""
        return [self._at(value, f"{self.key}[{k}]") for k, value in enumerate(self.of(list, wanted=wanted))]

    def fields(self, kind: Any, *, partly: bool = False) -> dict[str, Any]:
        """The fields of the dataclass `kind`; none without a default may lack, unless given `partly`."""
        known = {item.name: item for item in fields(kind)}
        needed = [
            name
            for name, item in known.items()
            if not partly and item.default is MISSING and item.default_factory is MISSING
        ]
        self.mapping(known)
        for name, entry in self.items():
            if kinds := _KINDS.get(known[name].type):
                entry.of(*kinds)
        return dict(self.mapping(needed=needed))

    def text(self) -> str:
        """The text."""
        return str(self.of(str, wanted="text"))

    def truth(self) -> bool:
        """True or False."""
        return bool(self.of(bool, wanted="true or false"))

    def whole(self, low: int, high: float = math.inf) -> int:
        """The whole number from `low` to `high`."""
        if type(self.value) is not int or not low <= self.value <= high:
            upper = f" to {high}" if high < math.inf else ""
            self.fail(f"must be a whole number from {low}{upper}, not {shown(self.value)}")
        return self.value

    def number(self, below: float = math.inf) -> float:
        """The number, whose amount is finite and less than `below`."""
        number = self.of(float, int, wanted="a number")
        if not abs(number) < below:
            self.fail(f"must be a finite number, not {shown(number)}")
        return float(number)

    def numbers(self, below: float = math.inf) -> dict[Any, float]:
        """A mapping of such numbers."""
        numbers: dict[Any, float] = self.mapping()
        if not all(type(value) is float and abs(value) < below for value in numbers.values()):
            return {name: entry.number(below) for name, entry in self.items()}
        return numbers

    def row(self, count: int, wanted: str, below: float = math.inf) -> list[float]:
        """A list of `count` such numbers; faults of theirs are named by the list."""
        if type(self.value) is not list or len(self.value) != count:
            self.fail(f"must be {wanted}, not {shown(self.value)}")
        return [self._at(value, self.key).number(below) for value in self.value]
