"""Inputs for readers: arbitrary ones, and damaged valid ones."""

import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

_WORD = re.compile(rb"[\w.+-]+")
_CHANGES = (1, 1, 1, 2, 3, 5)
_MAX_PIECE = 24

ODD_TOKENS: Sequence[bytes] = (
    b"", b"0", b"-0", b"-1", b"1", b"00", b"3.5", b"1e5", b"nan", b"NaN", b"inf", b"-Infinity", b"1e999",
    b"2147483648", b"9223372036854775808", b"-9223372036854775809", b"1" * 400, b"1" * 5000,
    b"0x" + b"f" * 4000, b"null", b"true", b"\0", b"\n", b"\r", b"\xc2\x85", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b"\xff\xfe", b"\xd9\xa3", b"\xc2\xb2", b" ", b"\t", b":", b"*", b"/", b"(2)", b"#",
    b"-", b"=", b'"', b"'",
)  # fmt: skip


@st.composite
def mutated(
    draw: st.DrawFn, seeds: Sequence[bytes], tokens: Sequence[bytes] = ODD_TOKENS, tail: int = 0
) -> bytes:
    """Draw one of `seeds` with one to five changes; with `tail`, half of them in its last `tail` bytes."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.sampled_from(_CHANGES))):
        content = _changed(draw, content, seeds, tokens, tail)
    return content


def _changed(
    draw: st.DrawFn, content: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], tail: int
) -> bytes:
    size = len(content)
    lowest = max(0, size - tail) if tail and draw(st.booleans()) else 0
    here = draw(st.integers(lowest, size))
    kind = draw(st.sampled_from(_KINDS))
    if kind == "flip" and here < size:
        return content[:here] + bytes([content[here] ^ (1 << draw(st.integers(0, 7)))]) + content[here + 1 :]
    if kind == "byte" and here < size:
        return content[:here] + bytes([draw(st.integers(0, 255))]) + content[here + 1 :]
    if kind == "insert":
        return content[:here] + draw(st.binary(min_size=1, max_size=4)) + content[here:]
    if kind == "token":
        return content[:here] + draw(st.sampled_from(tokens)) + content[here:]
    if kind == "truncate":
        return content[:here]
    if kind == "splice":
        other = draw(st.sampled_from(seeds))
        return content[:here] + other[draw(st.integers(0, len(other))) :]
    if kind == "word":
        return _another_word(draw, content, seeds, tokens, here)
    end = here + draw(st.integers(1, _MAX_PIECE))
    if kind == "delete":
        return content[:here] + content[end:]
    times = draw(st.integers(2, 5))
    return content[:here] + content[here:end] * times + content[end:]


_KINDS = ("flip", "byte", "insert", "token", "truncate", "splice", "word", "word", "delete", "duplicate")


def _another_word(
    draw: st.DrawFn, content: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], here: int
) -> bytes:
    """Replace the word or number of `content` at or after `here` by a token, or by a word of a seed."""
    found = _WORD.search(content, here)
    if not found:
        return content
    words = _WORD.findall(draw(st.sampled_from(seeds)))
    word = draw(st.sampled_from([*tokens, *words[:50]]) if draw(st.booleans()) else st.sampled_from(tokens))
    return content[: found.start()] + word + content[found.end() :]


def mutated_text(seeds: Sequence[str], tokens: Sequence[bytes] = ODD_TOKENS) -> st.SearchStrategy[str]:
    """Return texts like `mutated`, a few arbitrary; bytes that are not UTF-8 become lone surrogates."""
    damaged = mutated([seed.encode() for seed in seeds], tokens)
    return damaged.map(lambda content: content.decode("utf-8", "surrogateescape")) | st.text(max_size=40)


def mutated_file(
    seeds: Sequence[bytes], tokens: Sequence[bytes] = ODD_TOKENS, tail: int = 0
) -> st.SearchStrategy[bytes]:
    """Return files like `mutated`; a few are arbitrary bytes."""
    often = mutated(seeds, tokens, tail)
    return st.one_of(often, often, often, st.binary(max_size=200))


def odd_values() -> st.SearchStrategy[Any]:
    """Return JSON or YAML values that may appear where others are expected."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from([0, 1, -1, 2**31, 2**63, -(2**63) - 1, 10**400, 1.5, -0.0, 1e300, float("nan")]),
        st.sampled_from(
            [float("inf"), "", "a", "\n", "..", "../x", "\0", "é", "1" * 300, "pubeval", "keith"]
        ),
        st.sampled_from([[], {}, [[]], [{}], {"": None}, [None], {"a": {"a": {"a": []}}}]),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
    )


@st.composite
def mutated_tree(draw: st.DrawFn, tree: Any) -> Any:
    """Draw a copy of `tree`, of dicts and lists, with one to three places changed, removed or renamed."""
    for _ in range(draw(st.integers(1, 3))):
        tree = _changed_tree(draw, tree)
    return tree


def _changed_tree(draw: st.DrawFn, tree: Any) -> Any:
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    if not keys or draw(st.integers(0, 9)) == 0:
        return draw(odd_values())
    key = draw(st.sampled_from(keys))
    copy = tree.copy()
    what = draw(st.integers(0, 9))
    if what == 0:
        del copy[key]
    elif what == 1 and isinstance(tree, dict):
        copy[draw(st.sampled_from(keys) | st.text(max_size=6))] = copy.pop(key)
    elif what == 2 and isinstance(tree, list):
        copy.insert(key, draw(st.sampled_from(tree)))
    elif what == 3:
        copy[key] = tree[draw(st.sampled_from(keys))]
    else:
        copy[key] = _changed_tree(draw, tree[key])
    return copy
