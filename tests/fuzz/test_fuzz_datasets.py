"""Datasets: manifests, damaged parts, and parts that are wrong although their checksum is right.

pyarrow, which reads Parquet, may crash on damaged bytes, so the checksum is compared first. Here the readers
get such bytes nevertheless, in a separate process.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from motif.board.identifiers import gnubg_id
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.sampling.dataset_files import write_manifest, write_part
from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated, mutated_file, mutated_tree
from tests.fuzz.test_fuzz_positions import POSITIONS

FOOTER = 3000
"""Approximate number of bytes of the metadata at the end of a part."""
ROWS = 12
JSON_TOKENS = [
    *ODD_TOKENS, b"[" * 300, b"[" * 100_000, b'{"a":' * 50_000, b'"\\ud800"', b"1E400", b"[]", b"{}",
    b'"format":', b'"rows": 1e400', b"../../part", b"part-00000.parquet", b"part-99999.parquet",
    b"A" * 64, b'"rows": -1',
]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Write a dataset of one part with a few rows, as sampling does."""
    folder = tmp_path_factory.mktemp("dataset")
    settings = {"player": "simple", "seed": 1, "games": 2, "rate": 0.5, "cut": 3, "race_rate": None}
    write_manifest(folder, settings, [write_part(folder, 0, columns(ROWS), settings)], complete=True)
    return folder


def columns(rows: int) -> dict[str, Any]:
    random = np.random.default_rng(rows)
    chances = np.sort(random.random((rows, len(OUTPUTS)), np.float32))[:, ::-1]
    return {
        "position": [gnubg_id(POSITIONS[k % len(POSITIONS)]) for k in range(rows)],
        **{name: chances[:, k] for k, name in enumerate(OUTPUTS)},
        "equity": chances.sum(axis=1) - 1,
        "equity_se": random.random(rows, np.float32),
        "trials": np.full(rows, 36, np.int32),
        "game": np.arange(rows, dtype=np.int32) // 4,
        "ply": np.arange(rows, dtype=np.int32),
        "decision": np.arange(rows) // 2,
        "chosen": np.arange(rows) % 2 == 0,
        "cls": np.arange(rows, dtype=np.int8) % len(CLASS_NAMES),
    }


@pytest.fixture(scope="module")
def part(whole) -> tuple[bytes, int]:
    """Return the bytes of a part and its number of rows."""
    content = (whole / checks.PART).read_bytes()
    return content, pq.read_metadata(io.BytesIO(content)).num_rows


def test_manifests(fuzz, whole, part):
    text = (whole / "_manifest.json").read_bytes()
    document = json.loads(text)
    as_json = mutated_tree(document).map(lambda tree: json.dumps(tree).encode())
    cases = (mutated_file([text], JSON_TOKENS) | as_json).map(lambda content: (content, part[0]))
    fuzz(checks.manifest_check, cases, valid=[(text, part[0])])


def test_torn_parts(fuzz, part):
    content, rows = part
    cases = mutated([content]).map(lambda found: (found, content, rows))
    fuzz(checks.torn_part_check, cases, valid=[(content, content, rows)])


def test_parts_of_any_bytes(fuzz, part):
    content, rows = part
    cases = mutated_file([content, plain(content)], tail=FOOTER).map(lambda found: (found, rows))
    fuzz(checks.part_check, cases, valid=[(content, rows), (plain(content), rows)])


def test_parts_of_any_columns(fuzz, part):
    content, rows = part
    table = pq.read_table(io.BytesIO(content))
    fuzz(checks.part_check, odd_tables(table).map(lambda found: (written(found), rows)), valid=[part])


def plain(content: bytes) -> bytes:
    """Write a table without compression, dictionaries and statistics, so that damage reaches the values."""
    table = pq.read_table(io.BytesIO(content))
    return written(table, compression="none", use_dictionary=False, write_statistics=False)


def written(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


TYPES = (
    pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_(), pa.string(),
    pa.large_string(), pa.binary(), pa.list_(pa.int32()), pa.timestamp("ns"), pa.decimal128(10, 2),
    pa.null(), pa.float16(), pa.struct([("a", pa.int8())]), pa.map_(pa.string(), pa.int8()),
)  # fmt: skip
VALUES = {
    "string": ["", "4HPwATDgc/ABMA", "contact", "blitz", "\0", "é", "1" * 99],
    "float": [0.0, -1.0, 2.0, 1e30, float("nan"), float("inf")],
    "int": [0, 1, -1, 127, -128],
    "bool": [True, False],
}


@st.composite
def odd_tables(draw: st.DrawFn, table: pa.Table) -> pa.Table:
    """Draw `table` with one to three columns removed or changed in type, values, nulls or name."""
    for _ in range(draw(st.integers(1, 3))):
        if not table.num_columns:
            break
        place = draw(st.integers(0, table.num_columns - 1))
        field = table.schema.field(place)
        what = draw(
            st.sampled_from(["type", "type", "nulls", "values", "values", "rows", "drop", "name", "twice"])
        )
        if what == "drop":
            table = table.remove_column(place)
        elif what == "rows":
            table = table.slice(draw(st.integers(0, 3)))
        elif what == "name":
            table = table.rename_columns([*table.schema.names[:place], "x", *table.schema.names[place + 1 :]])
        elif what == "twice":
            table = table.append_column(field.name, table.column(place))
        elif what == "type":
            column = pa.nulls(table.num_rows, draw(st.sampled_from(TYPES)))
            table = table.set_column(place, field.name, column)
        elif what == "nulls":
            mask = draw(st.lists(st.booleans(), min_size=table.num_rows, max_size=table.num_rows))
            values = [
                None if gone else value for gone, value in zip(mask, table[place].to_pylist(), strict=True)
            ]
            table = table.set_column(place, field.name, pa.array(values, field.type))
        else:
            table = table.set_column(place, field.name, odd_column(draw, table.num_rows))
    return table


def odd_column(draw: st.DrawFn, rows: int) -> pa.Array:
    kind = draw(st.sampled_from(sorted(VALUES)))
    values = draw(st.lists(st.sampled_from(VALUES[kind]), min_size=rows, max_size=rows))
    types = {"string": pa.string(), "float": pa.float32(), "int": pa.int32(), "bool": pa.bool_()}
    column = pa.array(values, types[kind])
    return column.dictionary_encode() if draw(st.booleans()) and kind == "string" else column


CSV = b"position_id,win,win_g,win_bg,lose_g,lose_bg\n4HPwATDgc/ABMA,0.52,0.15,0.01,0.13,0.005\n"
CSV += b"sGfwATDgc/ABMA,0.4,0.1,0,0.2,0.001\n"
LINES = b"# comment\nOAHDPAABDAOAHDPAABDA 0.52 0.15 0.01 0.13 0.005\nLAGHPAABDAOAHDPAABDA 1 0 0 0 0\n"


def test_labels_of_other_programs(fuzz):
    fuzz(checks.labels_check, mutated_file([CSV, LINES]), valid=[CSV, LINES])
