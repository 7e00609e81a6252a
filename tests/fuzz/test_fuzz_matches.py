"""Records of games in other programs' files."""

import zlib

import pytest
from hypothesis import strategies as st

from motif.board.mat_file import mat_text
from motif.board.sgf_file import sgf_text
from tests.board.test_mat_file import BY_GNUBG, played
from tests.board.test_sgf_file import BY_GNUBG as SGF_BY_GNUBG
from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated, mutated_file, mutated_tree

TOKENS = [
    *ODD_TOKENS, b"(;", b"(", b")", b";", b"[", b"]", b"\\", b"\\]", b"GM[6]", b"W[double]", b"B[take]",
    b"W[drop]", b"B[31hefe]", b"W[66]", b"DI[21]", b"PL[W]", b"AE[a:y]", b"CV[2]", b"RE[W+2R]", b"RE[B+3]",
    b"MI[length:3]", b"RU[Jacoby]", b"RU[Crawford:CrawfordGame]", b'GC[[EventDate "2026.01.02"\\]]',
    b"DT[2026-01-02]", b"y", b"z",
]  # fmt: skip
WRITTEN = [sgf_text(played(seed)).encode() for seed in range(3)]


def test_sgf_files(fuzz):
    fuzz(checks.sgf_check, mutated_file([SGF_BY_GNUBG.encode(), *WRITTEN], TOKENS), valid=WRITTEN)


def test_files_of_any_kind(fuzz):
    mat = [BY_GNUBG.encode(), mat_text(played(1)).encode()]
    begun = st.sampled_from([b"", b"RGMH", b"{", b"(", b"\xef\xbb\xbf", b" \n"])
    some = st.builds(bytes.__add__, begun, mutated_file([*mat, WRITTEN[0]], TOKENS))
    fuzz(checks.match_check, some, valid=[*mat, WRITTEN[0]])


SHORT_MATCHES = (113, 141)
"""Seeds of random matches of 30 actions or so: gammonview takes milliseconds for each."""


def test_xg_files(fuzz):
    pytest.importorskip("gvformat")
    from tests.board.test_xg_file import match
    from tests.board.xg_writer import xg_content

    whole = [xg_content(match(seed)) for seed in SHORT_MATCHES]
    heads = [content[: content.index(b"x", 8232)] for content in whole]
    records = [zlib.decompress(content[len(head) :]) for content, head in zip(whole, heads, strict=True)]
    damaged = mutated(records).map(lambda content: heads[0] + zlib.compress(content, 1))
    fuzz(checks.xg_check, damaged | mutated_file(whole), valid=whole)


BGF_TOKENS = [
    *ODD_TOKENS, b"\xf8", b"\xf9", b"\xfa", b"\xfb", b"\xff", b"\x20", b"\x21", b"\x22", b"\x23", b"\x24\x80",
    b"\x24" + b"\1" * 12 + b"\x80", b"\x24" + b"\x3f" * 9 + b"\xbe", b"\x28\x7f\x7f\xff\xff",
    b"\x29" + b"\x7f" * 10,
    b"\xc0", b"\xdf", b"\xe4a\xfc", b"\xe4", b"\x41ab", b"\x61abc", b"\x40", b"\x30\0", b"\xf8" * 2000,
    b"\xf8" + b"\x21" * 1500 + b"\xf9", b":)\n\1", b"\x84moves", b"\x85points", b"\x83from", b"\x84equity",
]  # fmt: skip


def test_bgf_files(fuzz):
    pytest.importorskip("gvformat")
    from tests.board.bgf_writer import bgf_content, document, packed, smile
    from tests.board.test_bgf_file import match

    records = [match(seed) for seed in SHORT_MATCHES]
    payloads = [smile(document(record)) for record in records]
    documents = st.one_of(*(mutated_tree(document(record)) for record in records))
    damaged = mutated(payloads, BGF_TOKENS) | documents.map(smile)
    whole = [bgf_content(record) for record in records]
    fuzz(checks.bgf_check, damaged.map(packed) | mutated_file(whole), valid=whole)
