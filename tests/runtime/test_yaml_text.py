"""YAML as motif reads it: what is accepted, and what a small text is refused for."""

import math
import re
import time

import pytest

from motif.runtime.documents import MAX_DEPTH, YamlTextError, parse_large_yaml, parse_yaml, yaml_text


def refusal(text: str) -> str:
    with pytest.raises(YamlTextError) as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_plain_data():
    text = (
        "a: 1\nb: [1.5, .inf, null, true, False, yes, off]\nc: {d: text, 3: '4'}\n"
        "date: 2026-11-21\nbad: 2001-99-99\n"
    )
    assert parse_yaml(text) == {
        "a": 1,
        "b": [1.5, math.inf, None, True, False, "yes", "off"],
        "c": {"d": "text", 3: "4"},
        "date": "2026-11-21",
        "bad": "2001-99-99",
    }


@pytest.mark.parametrize("text", ["1e-6", "1E6", "-2e+3", "+.5e1", "2.5e1", "7.e2"])
def test_numbers_with_an_exponent(text):
    number = parse_yaml(f"a: [{text}, '{text}']\n{text}: b")
    assert number == {"a": [float(text), text], float(text): "b"}


@pytest.mark.parametrize("text", ["e6", "1e", "1e6x", "e-6", "1_0e6", "1e6.5", "0x1e6z", "1 e6", "1e-6\n  2"])
def test_texts_that_resemble_numbers(text):
    assert parse_yaml(f"a: {text}") == {"a": " ".join(text.split())}


@pytest.mark.parametrize("text", ["1:30", "1:30:00", "-1:30", "1:30:00.5", ":".join(["59"] * 180) + ":59.5"])
def test_numbers_in_base_60_are_texts(text):
    """As in YAML 1.2."""
    assert parse_yaml(f"a: {text}") == {"a": text}


@pytest.mark.parametrize("text", ["1e-6", "1E6", "1.5", "yes", "null", "x"])
def test_texts_are_written_as_texts(text):
    assert parse_yaml(yaml_text({"a": text, "b": [1e-6, 1e22]})) == {"a": text, "b": [1e-6, 1e22]}


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3", "{a: 1, a: 1}", "c: {1: 2, 0x1: 3}"])
def test_a_key_given_twice(text):
    assert "duplicate key" in refusal(text)


@pytest.mark.parametrize("text", ["a: &x [1]\nb: *x", "&x [*x]", "a: &x {k: 1}\nb: {<<: *x}"])
def test_aliases(text):
    assert refusal(text).endswith("aliases are not accepted")


# The constructors of PyYAML fail on the first four with an IndexError, a KeyError, an AttributeError ...
@pytest.mark.parametrize(
    "text", ['!!int ""', "!!bool maybe", "!!timestamp x", "!!float ''", "!!set {a}", "! a"]
)
def test_tags(text):
    assert refusal(text) == "line 1: tags are not accepted"


def test_depth():
    assert parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for opening in ("[", "{a: ", "- ", "? ", "[{a: "):
        assert f"more than {MAX_DEPTH} nested lists and mappings" in refusal(opening * 400)
        # From a thousand on, libyaml may refuse first.
        started = time.process_time()
        assert re.search("more than .* lists and mappings|maximum nesting depth", refusal(opening * 200_000))
        assert time.process_time() - started < 1


# int() itself refuses decimal numbers of that many digits.
@pytest.mark.parametrize("text", ["1" * 5000, "0x" + "f" * 5000])
def test_numbers_that_cannot_be_written_again(text):
    assert "Exceeds the limit" in refusal(f"a: {text}")


def test_long_values():
    assert refusal("a: " + "x" * 10_001) == "line 1: a value has more than 10000 characters"


@pytest.mark.parametrize(
    "text", ["{", "a: b: c", "\0", '"\\ud800"', "a\n---\nb", "? [a]\n: b", "<<: 3", "=", "\ud800"]
)
def test_invalid_yaml(text):
    assert refusal(text)


NUMBERS = 'a:\n  one: 1.0\n  "one*two": -2.5e-07\n  off: 0.25\nb: {}\n'
ROWS = "own:\n  1: [-1.0, 0.25, 3.5e-07]\n  24: [2.5]\nb: [0.0]\n"
INSIDE = [
    NUMBERS,
    NUMBERS.replace("b: {}\n", ""),
    NUMBERS.replace("a:", "x:\n a:").replace("\n  ", "\n   "),
    NUMBERS.replace("  off", "  null"),
    NUMBERS.replace("  off", "  one"),
    NUMBERS.replace("off: 0.25", "off: many"),
    NUMBERS.replace("off: 0.25", "off: 7"),
    NUMBERS.replace("off: 0.25", "off:\n    deep: 1.0"),
    NUMBERS.replace("  off", "# aside\n  off"),
    NUMBERS.replace("  off", "\n  off"),
    NUMBERS.replace("  off", "   off"),
    NUMBERS.replace("  off", " off"),
    NUMBERS.replace("one: 1.0", '"one: 1.0'),
    NUMBERS.replace("a:", "t: |\n a:").replace("\n  ", "\n   "),
    NUMBERS.replace("a:", 't: "').replace("b:", '"\nb:'),
    NUMBERS.replace("a:", 't: "\na:').replace("b:", '"\nb:'),
    NUMBERS + NUMBERS,
    NUMBERS + "a: &x [1]\n",
    "- " + NUMBERS.replace("\n", "\n  "),
    "numbers left out: 0\n" + NUMBERS,
    "t: 'numbers left out: 0'\n" + NUMBERS,
    't: "numbers left ou\\x74: 0"\n' + NUMBERS,
    't: "numbers left ou\\x74: 7"\n' + NUMBERS,
    't: "numbers left ou\\x74: x"\n' + NUMBERS,
    ROWS,
    ROWS.removesuffix("\n"),
    ROWS + NUMBERS,
    ROWS.replace("0.25", "7"),
    ROWS.replace("0.25", "1_0.5"),
    ROWS.replace("0.25", "25e-2"),
    ROWS.replace("0.25", "'25e-2'"),
    NUMBERS.replace("0.25", "25e-2"),
    NUMBERS.replace("  off", "  1e6"),
    ROWS.replace("0.25", "007.5"),
    ROWS.replace("0.25", "1.0e400"),
    ROWS.replace("0.25", "1:20.5"),
    ROWS.replace("0.25", "0.25,"),
    ROWS.replace("1: ", "1:"),
    ROWS.replace("1: ", "1: # "),
    ROWS.replace("1: ", "- "),
    ROWS.replace("1: ", "- 1: "),
    ROWS.replace("1: ", "? "),
    ROWS.replace("1: ", "1: &x "),
    ROWS.replace("1: ", "1: !!set "),
    ROWS.replace("1: ", "own: "),
    ROWS.replace("]\n", "] # aside\n"),
    ROWS.replace("]\n", "]\n   1.0\n"),
    ROWS.replace("]\n", "]\r\n"),
    ROWS.replace("own:", "own: |"),
    ROWS.replace("own:", "own: >\n  a:"),
    ROWS.replace("own:", 'own: "').replace("b:", '"\nb:'),
    'a: "x: [0.5]\n"',
    "a: [x: [0.5]\n]",
    "a: {x: [0.5]\n}",
    "a: {x: [0.5], y: [0.25]}",
    "a: b: [0.5]",
    "'a: [0.5]'",
]


def outcome(parse, text: str) -> str:
    try:
        return repr(parse(text))
    except YamlTextError as error:
        return str(error)


@pytest.mark.parametrize("text", INSIDE)
def test_separately_read_numbers_equal_those_of_yaml(text):
    assert outcome(parse_large_yaml, text) == outcome(parse_yaml, text)
