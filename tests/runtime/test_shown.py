"""Values in error messages: short, on one line, and computed quickly."""

import pytest

from motif.runtime.errors import plain_text, shown


@pytest.mark.parametrize(
    "value", [3, -1.5, None, "a", [1, 2], {"a": [None]}, float("nan"), "line\nbreak", ()]
)
def test_small_values_are_shown_as_python_has_them(value):
    assert shown(value) == repr(value)


@pytest.mark.parametrize("value", ["x" * 10**7, [0] * 10**6, {k: k for k in range(10**5)}, 10**400])
def test_large_values_are_cut(value):
    text = shown(value)
    assert len(text) <= 40
    assert "..." in text[-4:]
    assert text[:5] == repr(value)[:5]


def test_numbers_that_python_refuses_to_write():
    assert shown(10**5000) == "a number of 16610 bits"
    assert shown([10**5000]) == "[a number of 16610 bits]"


class Counted:
    """Counts how many of its kind have been written."""

    written = 0

    def __repr__(self) -> str:
        Counted.written += 1
        return "ha"


def test_lists_that_unfold_and_lists_of_themselves():
    for levels in (3, 30):
        laughs: list = [Counted()] * 10
        for _ in range(levels - 1):
            laughs = [laughs] * 10
        assert shown(laughs).endswith("...")
    # Of 10^3 and of 10^30, which would take for ever.
    assert 0 < Counted.written < 500
    own: list = []
    own.append(own)
    assert shown(own) == "[[[[...]]]]"
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "[[[[...]]]]"


def test_plain_text():
    assert plain_text("classes.contact") == "classes.contact"
    assert plain_text("a\nb") == "'a\\nb'"
    assert len(plain_text("x" * 5000)) == 40
