"""Small files that expand, endless files, and oversized files: a one-line error, quickly.

The limits are 300 MB of memory beyond the program's own, and ten seconds of processor time.
"""

import gzip
import hashlib
import json
import lzma
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from onnx import TensorProto, helper

from motif.fitting.significance import STATISTICS_SCHEMA as TERMS_SCHEMA
from motif.sampling.dataset_files import MANIFEST, SCHEMA
from tests.board.bgf_writer import HEADER, MAGIC, key, packed

MAX_MEMORY = 300 << 20
MAX_SECONDS = 10.0
"""Processor seconds; readers take up to two on an idle machine."""
MB = 1 << 20
START = "4HPwATDgc/ABMA"


def members(piece: bytes, megabytes: int) -> bytes:
    """Return, quickly, a gzip file that unpacks to many copies of `piece`, a megabyte."""
    return gzip.compress(piece * (MB // len(piece)), 1, mtime=0) * megabytes


def opened_lists(depth: int) -> bytes:
    return MAGIC + b"\xfa" + key("games") + b"\xf8" * depth


def parquet(folder: Path, schema: pa.Schema, rows: int, **columns: pa.Array) -> bytes:
    """Return a part, or a table of terms, with identical rows except for the given `columns`."""
    usual = {pa.string(): "contact", pa.bool_(): True, pa.float32(): 0.5, pa.float64(): 0.5}
    arrays = []
    for field in schema:
        kind = pa.string() if pa.types.is_dictionary(field.type) else field.type
        constant = pa.repeat(pa.scalar(usual.get(kind, 1), kind), rows)
        arrays.append(columns.get(field.name, constant.cast(field.type)))
    path = folder / "made.parquet"
    pq.write_table(pa.table(arrays, schema=schema), path, compression="zstd", use_dictionary=not columns)
    return path.read_bytes()


def graph(nodes: list, outputs: list, initializers: list = ()) -> bytes:
    inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 16])]
    made = helper.make_graph(nodes, "made", inputs, outputs, list(initializers))
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


FLOATS = [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)]


def far_tensor() -> bytes:
    tensor = TensorProto(
        name="far", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL
    )
    tensor.external_data.add(key="location", value="/etc/passwd")
    return graph([helper.make_node("Add", ["input", "far"], ["output"])], FLOATS, [tensor])


def large_tensor(operator: str) -> bytes:
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [1 << 16, 1 << 14])
    one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
    given = ["shape"] if operator == "ConstantOfShape" else ["one", "shape"]
    return graph([helper.make_node(operator, given, ["output"])], FLOATS, [shape, one])


def endless_loop() -> bytes:
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["still"])],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("still", TensorProto.BOOL, [])],
    )
    true = helper.make_tensor("true", TensorProto.BOOL, [], [True])
    most = helper.make_tensor("most", TensorProto.INT64, [], [2**62])
    return graph([helper.make_node("Loop", ["most", "true"], [], body=body)], FLOATS, [true, most])


def constant(schema: pa.Schema) -> Callable[[Path], bytes]:
    """Return two million rows of the same values, in a few kilobytes."""
    return lambda folder: parquet(folder, schema, 2_000_000)


def long_texts(schema: pa.Schema, column: str) -> Callable[[Path], bytes]:
    """Return a text of a megabyte in every row, packed to a few kilobytes."""
    return lambda folder: parquet(folder, schema, 600, **{column: pa.array(["x" * MB] * 600)})


def page_of_lists(folder: Path) -> bytes:
    """Return a part whose first page header has many long lists of booleans, whose bytes are not there."""
    # The numbers cannot be compressed, so the file is long enough.
    noise = [number * 0x9E3779B97F4A7C15 % 2**63 for number in range(1000)]
    content = bytearray(parquet(folder, SCHEMA, len(noise), decision=pa.array(noise)))
    longest = b"\xf1\x80\x80\x04"
    header = b"\x19\xf9\xe8\x07" + longest * 1000 + b"\0"
    content[4 : 4 + len(header)] = header
    return bytes(content)


def one_long_text(folder: Path) -> bytes:
    """Return a text of half a megabyte, stored once in a dictionary and used in many rows."""
    rows = 60_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * (MB // 2)]))
    arrays = [
        text if field.name == "term" else pa.repeat(pa.scalar("contact"), rows) for field in TERMS_SCHEMA
    ]
    for k, field in enumerate(TERMS_SCHEMA):
        if not pa.types.is_string(field.type):
            arrays[k] = pa.repeat(pa.scalar(0.5, field.type), rows)
    path = folder / "long.parquet"
    table = pa.Table.from_arrays(arrays, names=TERMS_SCHEMA.names)
    # With pyarrow's own type metadata, pyarrow would return a dictionary.
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path.read_bytes()


BOMBS: dict[str, tuple[str, str, Callable[[Path], bytes], str | None]] = {
    "xz of zeros": (
        "weights",
        "a.yaml.xz",
        lambda _: lzma.compress(bytes(300 * MB), preset=0),
        "more than 32 MB",
    ),
    "xz of a list": (
        "weights",
        "b.yaml.xz",
        lambda _: lzma.compress(b"a: [" + b"0," * (15 * MB) + b"0]", preset=0),
        "500,000 lines and c",
    ),
    "xz of a hundred lists": (
        "weights",
        "c.yaml.xz",
        lambda _: lzma.compress(b"a: [" + b"[[[[[[0]]]]]]," * 400_000 + b"]", preset=0),
        "600,000 val",
    ),
    "flow list": (
        "weights",
        "d.yaml",
        lambda _: b"a: [" + b"0," * (5 * MB) + b"0]",
        "500,000 lines and commas",
    ),
    "block list": ("weights", "e.yaml", lambda _: b"a:\n" + b"- 0\n" * (3 * MB), "500,000 lines and commas"),
    "numbers": (
        "weights",
        "f.yaml",
        lambda _: b"a:\n" + b"  x: 1.0\n" * (3 * MB),
        "500,000 lines and commas",
    ),
    "numbers of many names": (
        "weights",
        "g.yaml",
        lambda _: b"a:\n" + b"".join(b"  x%d: 1.0\n" % k for k in range(499_000)),
        "format: missing",
    ),
    "many documents": ("weights", "h.yaml", lambda _: b"--- a\n" * 400_000, "a second document begins"),
    "long text": ("weights", "i.yaml", lambda _: b"a: " + b"x" * (30 * MB), "a value has more than"),
    "long quote": ("weights", "j.yaml", lambda _: b'a: "' + b"x\n" * 450_000, "not YAML"),
    "spaces": ("weights", "k.yaml", lambda _: b" " * (31 * MB), "must be a mapping"),
    "large weights": ("weights", "l.yaml", lambda _: b"#" * (33 * MB), "more than 32 MB"),
    "configuration": (
        "config",
        "m.yaml",
        lambda _: b"a: [" + b"0," * (5 * MB) + b"0]",
        "500,000 lines and commas",
    ),
    "one line": (
        "benchmark",
        "a.bm.gz",
        lambda _: members(b"a", 1500),
        "more than 128 MB unpacked",
    ),
    "empty lines": ("benchmark", "b.bm.gz", lambda _: members(b"\n", 100), "more than 1,000,000 lines"),
    "zeros": ("benchmark", "c.bm.gz", lambda _: members(b"\0", 120), "line 1: the file holds more than"),
    "long lines": (
        "benchmark",
        "d.bm.gz",
        lambda _: members(b" " * 65535 + b"\n", 1500),
        "more than 128 MB unpacked",
    ),
    "comments": ("benchmark", "e.bm.gz", lambda _: members(b"#\n", 100), "more than 1,000,000 lines"),
    "words": ("benchmark", "f.bm.gz", lambda _: members(b"m " * 32767 + b"a\n", 60), "line 1: invalid roll"),
    "bgf of zeros": ("match", "a.bgf", lambda _: HEADER + members(b"\0", 512), "more than 64 MB unpacked"),
    "bgf of lists": ("match", "b.bgf", lambda _: packed(opened_lists(10 * MB)), "more than 3,000,000 values"),
    "bgf of a long number": (
        "match",
        "c.bgf",
        lambda _: packed(MAGIC + b"\x24" + b"\1" * (8 * MB)),
        "a whole number has more",
    ),
    "bgf of many checkers": (
        "match",
        "d.bgf",
        lambda _: packed(MAGIC + b"\xfa" + key("points") + b"\xf8\x24" + b"\x3f" * 8 + b"\xbe\xf9\xfb"),
        "checkers and points must be whole numbers up to 30",
    ),
    "bgf of many moves": (
        "match",
        "e.bgf",
        lambda _: packed(MAGIC + b"\xfa" + key("moves") + b"\xf8" + b"\x21" * 1001 + b"\xf9\xfb"),
        "1,000 moves in a game",
    ),
    "bgf of deep lists": ("match", "f.bgf", lambda _: packed(opened_lists(100_000)), "damaged"),
    "bgf of a deep header": (
        "match",
        "g.bgf",
        lambda _: b'{"a":' * 100_000 + b"\n" + packed(MAGIC + b"\x21")[len(HEADER) :],
        "cannot read",
    ),
    "xg of zeros": (
        "match",
        "a.xg",
        lambda _: xg(zlib.compress(bytes(200 * MB), 1)),
        "more than 64 MB unpacked",
    ),
    "xg of many games": (
        "match",
        "b.xg",
        lambda _: xg(zlib.compress(xg_record(1) * 1001, 1)),
        "more than 1,000 games",
    ),
    "xg of a long game": (
        "match",
        "c.xg",
        lambda _: xg(zlib.compress(xg_record(1) + xg_record(3) * 1001, 1)),
        "1,000 moves in a game",
    ),
    "xg of moves alone": (
        "match",
        "d.xg",
        lambda _: xg(zlib.compress(xg_record(3) * 20_001, 1)),
        "more than 20,000 moves",
    ),
    "xg of plain moves": (
        "match",
        "e.xg",
        lambda _: xg(xg_record(1) + xg_record(3) * 1001),
        "1,000 moves in a game",
    ),
    "mat of many games": (
        "match",
        "a.mat",
        lambda _: b" 3 point match\n" + b"\n Game 1\n a : 0 b : 0\n" * 30_000,
        "more than 1,000 games",
    ),
    "mat of spaces": (
        "match",
        "b.mat",
        lambda _: b" 3 point match\n\n Game 1\n" + b" " * 40_000 + b":",
        "10,000 characters in a line",
    ),
    "mat of many spaces": (
        "match",
        "c.mat",
        lambda _: b" 3 point match\n\n Game 1\n" + b" " * 9_000 + b":",
        "expected the players and scores",
    ),
    "mat of many moves": (
        "match",
        "d.mat",
        lambda _: b" 3 point match\n\n Game 1\n a : 0 b : 0\n" + b" 1) 31: 8/5 6/5 31: 8/5 6/5\n" * 30_000,
        "more than 50,000 m",
    ),
    "mat of a long game": (
        "match",
        "e.mat",
        lambda _: (
            b" 0 point match\n\n Game 1\n a : 0 b : 0\n" + b" 1) 31: 24/21 24/23 31: 24/21 24/23\n" * 900
        ),
        "game 1, move 2",
    ),
    "mat of lines": (
        "match",
        "f.mat",
        lambda _: b" 3 point match\n" + b"\n" * (20 * MB),
        "more than 500,000 lines",
    ),
    "mat of tabs": ("match", "g.mat", lambda _: b" 3 point match\n" + (b"\t" * 9_999 + b"\n") * 3000, None),
    "large mat": ("match", "h.mat", lambda _: b" 3 point match\n" + b" " * (33 * MB), "more than 32 MB"),
    "mat of tags": (
        "match",
        "i.mat",
        lambda _: b" 3 point match\n" + (b'; [a "' + b'"]' * 4000 + b"x\n") * 3000,
        None,
    ),
    "sgf of many games": ("match", "a.sgf", lambda _: b"(;GM[6])" * (2 * MB), "more than 1,000 games"),
    "sgf of trees": ("match", "b.sgf", lambda _: b"(" * (30 * MB), "500,000 nodes, properties and values"),
    "sgf of nodes": ("match", "c.sgf", lambda _: b"(" + b";" * (30 * MB), "1,000 moves in a game"),
    "sgf of values": (
        "match",
        "d.sgf",
        lambda _: b"(;GM[6]GC" + b"[]" * (15 * MB),
        "500,000 nodes, properties and values",
    ),
    "sgf of escapes": ("match", "e.sgf", lambda _: b"(;GM[6]GC[" + b"\\]" * (15 * MB), "is not a property"),
    "sgf of a long value": ("match", "f.sgf", lambda _: b"(;GM[6]MI[" + b" " * (30 * MB) + b"x])", None),
    "no file of a match": ("match", "g.mat", lambda _: bytes(31 * MB), "not a .mat file"),
    "labels of one line": (
        "labels",
        "a.csv",
        lambda _: b"position_id,win,win_g,win_bg,lose_g,lose_bg\n" + b"a," * (40 * MB),
        "line 2: the file holds more than",
    ),
    "positions on one line": (
        "positions",
        "a.txt",
        lambda _: b"a " * (30 * MB),
        "line 1: the file holds more than 10,000",
    ),
    "many positions": (
        "positions",
        "b.txt",
        lambda _: b"\n" * (60 * MB) + b"a\n",
        "more than 5,000,000 lines",
    ),
    "large batch": ("positions", "c.txt", lambda _: f"{START}\n".encode() * (5 * MB), "more than 64 MB"),
    "decisions on one line": (
        "decisions",
        "d.txt",
        lambda _: b"1 " * (30 * MB),
        "line 1: the file holds more than 10,000",
    ),
    "terms without end": ("terms", "a.parquet", constant(TERMS_SCHEMA), "more than 500,000 rows"),
    "long terms": ("terms", "b.parquet", long_texts(TERMS_SCHEMA, "term"), "MB"),
    "long terms once": ("terms", "c.parquet", one_long_text, "bytes in a text"),
    "part without end": ("dataset", "part-00000.parquet", constant(SCHEMA), "rows: must be 0 to 1000000"),
    "long positions": ("dataset", "part-00000.parquet", long_texts(SCHEMA, "position"), "MB"),
    "lists in a page's header": ("dataset", "part-00000.parquet", page_of_lists, "too many values"),
    "entities": (
        "equities",
        "a.xml",
        lambda _: (
            b"<?xml version='1.0'?><!DOCTYPE met [<!ENTITY a 'aaaaaaaaaa'>"
            + b"".join(b"<!ENTITY %c '%s'>" % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9))
            + b"]><met>&j;</met>"
        ),
        "entities are not supported",
    ),
    "large table": ("equities", "b.xml", lambda _: b"<met>" + b" " * (2 * MB), "more than 1 MB"),
    "deep table": ("equities", "c.xml", lambda _: b"<a>" * 300_000, "invalid match equity table"),
    "columns": (
        "history",
        "history.csv",
        lambda _: b"a," * (3 * MB) + b"\n" + b"1\n" * 90_000,
        "more than 50 columns",
    ),
    "rows": ("history", "history.csv", lambda _: b"a,b\n" + b"1\n" * (3 * MB), "more than 100,000 lines"),
    "far tensor": ("net", "a.onnx", lambda _: far_tensor(), "a tensor is stored in another file"),
    "large tensor": ("net", "b.onnx", lambda _: large_tensor("ConstantOfShape"), "numbers in one tensor"),
    "expanded tensor": ("net", "c.onnx", lambda _: large_tensor("Expand"), "numbers in one tensor"),
    "loop": ("net", "d.onnx", lambda _: endless_loop(), "the operator Loop"),
    "large net": ("net", "e.onnx", lambda _: bytes(65 * MB), "more than 64 MB"),
}
ENDLESS = {
    "match": "32 MB",
    "weights": "32 MB",
    "config": "32 MB",
    "benchmark": "128 MB",
    "positions": "64 MB",
    "labels": "10,000 characters in a line",
    "net": "64 MB",
}


def xg(records: bytes) -> bytes:
    header = bytearray(8232)
    header[:4] = b"RGMH"
    return bytes(header) + records


def xg_record(kind: int) -> bytes:
    return bytes(8) + bytes([kind]) + bytes(2551)


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, list]:
    """Read all bombs; return the results by name."""
    asked, wanted = [], []
    for number, (name, (reader, file, content, _)) in enumerate(BOMBS.items()):
        folder = tmp_path_factory.mktemp(f"bomb{number}")
        path = folder / file
        path.write_bytes(content(folder))
        if reader == "dataset":
            vouch(path)
        wanted.append(name)
        asked += [reader, str(path)]
    sparse = tmp_path_factory.mktemp("sparse") / "labels.csv"
    sparse.write_bytes(b"position_id,win,win_g,win_bg,lose_g,lose_bg\n")
    os.truncate(sparse, 10 << 30)
    for reader in ENDLESS:
        wanted += [f"{reader}: endless", f"{reader}: sparse"]
        asked += [reader, "/dev/zero", reader, str(sparse)]
    command = [sys.executable, "-m", "tests.faults.bomb_reader", *asked]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=1200)
    return dict(zip(wanted, map(json.loads, done.stdout.splitlines()), strict=True))


def vouch(part: Path) -> None:
    """Write a manifest that names `part`."""
    rows = pq.ParquetFile(part).metadata.num_rows
    facts = {"name": part.name, "rows": rows, "sha256": hashlib.sha256(part.read_bytes()).hexdigest()}
    document = {
        "format": "motif-dataset/1",
        "complete": True,
        "positions": rows,
        "settings": {},
        "parts": [facts],
    }
    (part.parent / MANIFEST).write_text(json.dumps(document), encoding="utf-8")


def check(answer: list, message: str | None) -> None:
    """Check that the answer is a one-line error, quick, and with little memory."""
    kind, said, seconds, memory = answer
    assert kind == "MotifError" or (message is None and kind == "accepted"), said
    assert "\n" not in said
    assert len(said) < 2000
    assert any(part in said for part in (message or "").split("|")), said
    assert memory < MAX_MEMORY, f"{memory >> 20} MB"
    assert seconds < MAX_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_bombs(answers, name):
    check(answers[name], BOMBS[name][3])


@pytest.mark.slow
@pytest.mark.parametrize("reader", ENDLESS)
def test_files_without_an_end(answers, reader):
    check(answers[f"{reader}: endless"], ENDLESS[reader])
    check(answers[f"{reader}: sparse"], "more than")
