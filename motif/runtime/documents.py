"""Documents that are checked entry by entry, with errors that name the key, and a safe subset of YAML.

An error reads ``weights.yaml: classes.contact.win.bias: must be a number, not None``.

YAML may contain texts, numbers, lists and mappings with unique keys.  Aliases, explicit tags and deep nesting
are refused, because with them a small file can exhaust memory or time.  Dates, yes, no, on and off remain
texts, and 1e-6 is a number, as in YAML 1.2.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import yaml

from motif.runtime.errors import MotifError, plain_text, shown
from motif.runtime.limits import YAML_BREAKS, YAML_UNPACKED, YAML_VALUES

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Value = TypeVar("_Value")
_Record = TypeVar("_Record", bound="DataclassInstance")
_KINDS: dict[Any, tuple[type, ...]] = {
    int: (int,),
    float: (float, int),
    str: (str,),
    bool: (bool,),
    int | None: (int, type(None)),
    float | None: (float, int, type(None)),
}
"""Accepted types of a dataclass field, by its annotation; other annotations accept anything."""
_IN_WORDS: dict[type, str] = {
    float: "a number",
    int: "a whole number",
    str: "text",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}
MAX_DEPTH = 20
"""Maximum depth of nested lists and mappings."""
MAX_SCALAR = 10_000
"""Maximum length of a text or number in characters."""
_TRUTH: dict[str, Any] = {"true": True, "false": False}
_C_OR_PYTHON: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Entry:
    """A value in a document, with its path; the first entry is the whole document."""

    def __init__(
        self, value: object, where: str, error: type[MotifError], key: str = "", joint: str = "."
    ) -> None:
        """Messages of the class `error` begin with `where`; `key` is the path, and `joint` its separator."""
        self.key = key
        self.value: Any = value
        self._where, self._error, self._joint, self._prefix = where, error, joint, ""

    def fail(self, problem: str) -> NoReturn:
        """Raise the error of the document, with a `problem`."""
        key = f"{plain_text(self.key)}: " if self.key else ""
        raise self._error(f"{self._where}: {key}{problem}")

    def child(self, value: object, key: object) -> Self:
        """Return the entry of a `value` below this one."""
        return self._at(value, f"{self._prefix}{key}")

    def _at(self, value: object, key: str) -> Self:
        entry = type(self)(value, self._where, self._error, key, self._joint)
        entry._prefix = key + self._joint
        return entry

    def of(self, *kinds: type[_Value], wanted: str = "") -> _Value:
        """Return the value if its type is one of `kinds`; bool is not int."""
        if type(self.value) not in kinds:
            rule = wanted or next(words for kind, words in _IN_WORDS.items() if kind in kinds)
            self.fail(f"must be {rule}{' or null' * (type(None) in kinds)}, not {shown(self.value)}")
        return self.value

    def mapping(
        self, known: Collection[object] = (), needed: Collection[str] = (), wanted: str = "a mapping"
    ) -> dict[str, object]:
        """Return the mapping if it has all `needed` keys and, if `known` keys are given, no others."""
        self.of(dict, wanted=wanted)
        for key in self.value:
            if known and key not in known:
                message = f"unknown key; known keys: {', '.join(map(str, known))}"
                self.child(None, key).fail(message)
        for name in needed:
            self[name]
        return self.value

    def __getitem__(self, name: object) -> Self:
        """Return a required entry of a mapping."""
        if name not in self.value:
            self.child(None, name).fail("missing")
        return self.child(self.value[name], name)

    def get(self, name: object, default: object = None) -> Self:
        """Return an entry of a mapping, by default an entry with the value `default`."""
        return self.child(self.value.get(name, default), name)

    def items(self) -> Iterator[tuple[str, Self]]:
        """Yield the keys and entries of a mapping."""
        for name, value in self.mapping().items():
            yield name, self.child(value, name)

    def entries(self, wanted: str = "a list") -> list[Self]:
        """Return the entries of a list."""
        return [self._at(value, f"{self.key}[{k}]") for k, value in enumerate(self.of(list, wanted=wanted))]

    def fields(self, kind: "type[DataclassInstance]", *, partly: bool = False) -> dict[str, object]:
        """Return the fields of the dataclass `kind`; unless `partly`, all without defaults are required."""
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

    def made(self, kind: type[_Record], **given: object) -> _Record:
        """Return a dataclass `kind` with the `fields` of this mapping, but with those that are `given`."""
        return kind(**{**self.fields(kind), **given})

    def whole(self, low: int, high: float = math.inf) -> int:
        """Return the whole number from `low` to `high`."""
        if type(self.value) is not int or not low <= self.value <= high:
            upper = f" to {high}" if high < math.inf else ""
            self.fail(f"must be a whole number from {low}{upper}, not {shown(self.value)}")
        return self.value

    def number(self, below: float = math.inf) -> float:
        """Return the number if its absolute value is finite and less than `below`."""
        value = self.of(float, int)
        try:
            number = float(value)
        except OverflowError:  # an int of more than 308 digits
            number = math.inf
        if not abs(number) < math.inf:
            self.fail(f"must be a finite number, not {shown(value)}")
        if not abs(number) < below:
            self.fail(f"must be a number below {below:g} in magnitude, not {shown(value)}")
        return number

    def numbers(self, below: float = math.inf) -> dict[str, float]:
        """Return a mapping of numbers with absolute values less than `below`."""
        self.mapping()
        numbers: dict[str, float] = self.value
        if not all(type(value) is float and abs(value) < below for value in numbers.values()):
            return {name: entry.number(below) for name, entry in self.items()}
        return numbers

    def row(self, count: int, wanted: str, below: float = math.inf) -> list[float]:
        """Return a list of `count` numbers with absolute values less than `below`."""
        if type(self.value) is not list or len(self.value) != count:
            self.fail(f"must be {wanted}, not {shown(self.value)}")
        return [self._at(value, self.key).number(below) for value in self.value]


class YamlTextError(ValueError):
    """Invalid YAML, or YAML outside the accepted subset; the message is one line."""


class YamlSizeError(YamlTextError):
    """A text that exceeds a size limit."""


_SEXAGESIMAL = ":"
"""Sign of a number in base 60, such as 1:30:00, which is a text in YAML 1.2."""


class _Loader(_C_OR_PYTHON):
    """A safe loader that refuses duplicate keys and numbers that could not be written back."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) != len(node.value):
            seen: set[Any] = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key in seen:
                    raise YamlTextError(f"{_line(key_node)}: duplicate key {key_node.value!r}")
                seen.add(key)
        return mapping

    def construct_yaml_int(self, node: yaml.ScalarNode) -> Any:
        if _SEXAGESIMAL in node.value:
            return node.value
        number: int = super().construct_yaml_int(node)
        # Hexadecimal numbers bypass the limit of digits, which str() checks.
        str(number)
        return number

    def construct_yaml_float(self, node: yaml.ScalarNode) -> Any:
        return node.value if _SEXAGESIMAL in node.value else super().construct_yaml_float(node)

    def construct_yaml_bool(self, node: yaml.ScalarNode) -> Any:
        # As in YAML 1.2; in YAML 1.1 `off` would be false.
        return _TRUTH.get(node.value.lower(), node.value)


class _Dumper(yaml.SafeDumper):
    """A safe dumper that quotes the texts that `_Loader` would read as numbers."""


# In YAML 1.1, a number with an exponent needs a dot, and the exponent a sign.
_EXPONENT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)[eE][-+]?\d+\Z", re.ASCII)
for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+.0123456789"))
_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_yaml_bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)


def parse_yaml(text: str) -> object:
    """Return the data in `text`; raises `YamlTextError`."""
    _check_size(text)
    try:
        _check_shape(text)
        return yaml.load(text, _Loader)
    except YamlSizeError:
        raise
    # The constructors also raise KeyError and AttributeError for faults in the text.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise YamlTextError(" ".join(str(error).split())) from None


def yaml_text(values: Mapping[str, object], **style: Any) -> str:
    """Return `values` as YAML that `parse_yaml` reads; `style` are options of PyYAML."""
    text: str = yaml.dump(dict(values), Dumper=_Dumper, sort_keys=False, **style)
    return text


def yaml_document(text: str, where: str, error: type[MotifError], joint: str = ".") -> Entry:
    """Return the data in `text` as an entry; raises `error`, whose message begins with `where`."""
    try:
        return Entry(parse_yaml(text), where, error, joint=joint)
    except YamlSizeError as fault:
        raise error(f"{where}: {fault}") from None
    except YamlTextError as fault:
        raise error(f"{where}: not YAML: {fault}") from None


def _check_size(text: str) -> None:
    """Raise `YamlTextError` for a text that is too large to be parsed."""
    for limit, count in ((YAML_UNPACKED, len(text)), (YAML_BREAKS, text.count("\n") + text.count(","))):
        if count > limit.size:
            raise YamlSizeError(limit.refusal)


def _check_shape(text: str) -> None:
    """Check the events of a text before its values are constructed recursively."""
    depth = values = documents = 0
    for event in yaml.parse(text, _C_OR_PYTHON):
        if isinstance(event, yaml.ScalarEvent):
            values += 1
            if len(event.value) > MAX_SCALAR:
                raise YamlTextError(f"{_line(event)}: a value has more than {MAX_SCALAR} characters")
        elif isinstance(event, yaml.CollectionStartEvent):
            values += 1
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlTextError(f"{_line(event)}: more than {MAX_DEPTH} nested lists and mappings")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        _check_event(event, values, documents)


def _check_event(event: yaml.Event, values: int, documents: int) -> None:
    """Raise `YamlTextError` for events that let a text expand, and for too many `values`."""
    if getattr(event, "tag", None) is not None:
        raise YamlTextError(f"{_line(event)}: tags are not accepted")
    if isinstance(event, yaml.AliasEvent):
        raise YamlTextError(f"{_line(event)}: aliases are not accepted")
    if documents > 1:
        raise YamlTextError(f"{_line(event)}: a second document begins; only one is accepted")
    if values > YAML_VALUES.size:
        raise YamlSizeError(YAML_VALUES.refusal)


def _line(marked: Any) -> str:
    """Return the line of a node or an event."""
    return f"line {marked.start_mark.line + 1}"


_NUMBER = r"-?\d+\.\d+(?:e[-+]\d+)?"
_NUMBERS = re.compile(
    r"^(?P<margin> *)(?P<key>[a-z_]+):\n"
    rf'(?P<lines>(?:(?P=margin)  (?:[a-z]\w*|"[a-z][\w*]*"): {_NUMBER}\n)++)'
    r"(?!(?P=margin)  )"
    rf"|(?<=: )(?P<row>\[{_NUMBER}(?:, {_NUMBER})*+\])$",
    re.MULTILINE | re.ASCII,
)
"""A key with a block of names and numbers below it, or a key's list of numbers on one line.

The quantifiers ++ and *+ are possessive: backtracking would not help, and would store a state for each
number.
"""
_NO_NAMES = {"null", "true", "false"}
_MARK = "numbers left out: "


def parse_large_yaml(text: str) -> object:
    """Parse a text like `parse_yaml`, but faster for long blocks and rows of numbers.

    They are parsed separately and the rest as YAML; anything unusual is parsed as a whole.  Raises
    `YamlTextError`.
    """
    _check_size(text)
    left_out: list[dict[str, float] | list[float]] = []

    def marked(match: re.Match[str]) -> str:
        if match["row"]:
            left_out.append([float(number) for number in match["row"][1:-1].split(", ")])
            return f"'{_MARK}{len(left_out) - 1}'"
        lines = match["lines"].split("\n")[:-1]
        pairs = (line.split(": ") for line in lines)
        numbers = {name.strip(' "'): float(number) for name, number in pairs}
        if len(numbers) < len(lines) or not _NO_NAMES.isdisjoint(numbers):
            return match[0]
        left_out.append(numbers)
        return f"{match['margin']}{match['key']}: '{_MARK}{len(left_out) - 1}'\n"

    if _MARK not in text:
        rest = _NUMBERS.sub(marked, text)
        try:
            document = parse_yaml(rest)
            if _put_back(document, left_out) == len(left_out):
                return document
        except YamlSizeError:
            raise
        # A LookupError means that the text itself has a mark.
        except (ValueError, LookupError):
            pass
    return parse_yaml(text)


def _put_back(document: object, left_out: list[dict[str, float] | list[float]]) -> int:
    """Replace the marks in `document` with their numbers; return the number of marks."""
    if not isinstance(document, dict):
        return 0
    count = 0
    for key, value in document.items():
        if isinstance(value, str) and value.startswith(_MARK):
            document[key] = left_out[int(value.removeprefix(_MARK))]
            count += 1
        else:
            count += _put_back(value, left_out)
    return count
