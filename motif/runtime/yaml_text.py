"""The YAML that motif reads: plain data, not deep, every key given once.

Weight files and configurations hold texts, numbers, lists and mappings.  What else YAML knows is
refused, because a small file of it can take all memory or time: aliases (a list of ten lists of ten
lists ...), explicit tags, deep nesting.  A date stays the text that it is, and so do yes, no, on and off.
"""

import re
from contextlib import suppress
from typing import Any

import yaml

MAX_DEPTH = 20
"""Lists and mappings within each other."""
LONGEST_SCALAR = 10_000
"""Characters of one text or number."""
_TRUTH: dict[str, Any] = {"true": True, "false": False}
_C_OR_PYTHON: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlTextError(ValueError):
    """A text that is no YAML, or YAML of a kind that is not read here; the message is one line."""


class _Loader(_C_OR_PYTHON):
    """A safe loader that refuses a key given twice and a number that could not be written again."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) != len(node.value):
            seen: set[Any] = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key in seen:
                    raise YamlTextError(f"{_line(key_node)}: the key {key_node.value!r} is given twice")
                seen.add(key)
        return mapping

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number: int = super().construct_yaml_int(node)
        # Hexadecimal digits and sexagesimal ones (1:30:00) pass int()'s own limit, which this meets.
        str(number)
        return number

    def construct_yaml_bool(self, node: yaml.ScalarNode) -> Any:
        # As in YAML 1.2; before that, checkers that are `off` were a truth value.
        return _TRUTH.get(node.value.lower(), node.value)


_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_yaml_bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)


def parse_yaml(text: str) -> Any:
    """The data in `text`; raises `YamlTextError`."""
    try:
        _check_shape(text)
        return yaml.load(text, _Loader)
    # A fault in the text shows itself as a KeyError or an AttributeError, too, in the constructors.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise YamlTextError(" ".join(str(error).split())) from None


def _check_shape(text: str) -> None:
    """Look for what is refused, event by event, before anything is built: building recurses."""
    depth = 0
    for event in yaml.parse(text, _C_OR_PYTHON):
        if isinstance(event, yaml.AliasEvent):
            raise YamlTextError(f"{_line(event)}: aliases are not read here")
        if getattr(event, "tag", None) is not None:
            raise YamlTextError(f"{_line(event)}: tags are not read here")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > LONGEST_SCALAR:
            raise YamlTextError(f"{_line(event)}: a value has more than {LONGEST_SCALAR} characters")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlTextError(f"{_line(event)}: more than {MAX_DEPTH} lists and mappings in each other")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _line(marked: Any) -> str:
    """Where a node or an event stands."""
    return f"line {marked.start_mark.line + 1}"


_NUMBERS = re.compile(
    r"^(?P<margin> *)(?P<key>[a-z_]+):\n"
    r'(?P<lines>(?:(?P=margin)  (?:[a-z]\w*|"[a-z][\w*]*"): -?\d+\.\d+(?:e[-+]\d+)?\n)+)'
    r"(?!(?P=margin)  )",
    re.MULTILINE | re.ASCII,
)
"""A key, and below it nothing but names with a number each."""
_NO_NAMES = {"null", "true", "false"}
_MARK = "numbers left out: "


def parse_large_yaml(text: str) -> Any:
    """What `parse_yaml` gives for `text`, sooner where most of it are lines of a name and a number.

    These are read apart, and the rest as YAML; whatever is unusual is read as a whole.  Raises
    `YamlTextError`.
    """
    left_out: list[dict[str, float]] = []

    def marked(match: re.Match[str]) -> str:
        pairs = [line.split(": ") for line in match["lines"].splitlines()]
        numbers = {name.strip(' "'): float(number) for name, number in pairs}
        if len(numbers) < len(pairs) or not _NO_NAMES.isdisjoint(numbers):
            return match[0]
        left_out.append(numbers)
        return f"{match['margin']}{match['key']}: '{_MARK}{len(left_out) - 1}'\n"

    if _MARK not in text:
        rest = _NUMBERS.sub(marked, text)
        # A mark that was not made here is a LookupError.
        with suppress(ValueError, LookupError):
            document = parse_yaml(rest)
            if _put_back(document, left_out) == len(left_out):
                return document
    return parse_yaml(text)


def _put_back(document: Any, left_out: list[dict[str, float]]) -> int:
    """Put the numbers where their marks stand in the mappings of `document`; return how many there are."""
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
