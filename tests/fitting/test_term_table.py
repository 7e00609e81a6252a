"""The table of terms: names, round trip, and invalid files."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from motif.evaluators.weight_file import HeadWeights
from motif.fitting.problem import PROBABILITY
from motif.fitting.significance import (
    STATISTICS_SCHEMA,
    HeadTerms,
    read_terms,
    term_names,
    term_statistics,
    weight_vector,
    write_terms,
)
from motif.fitting.terms import Terms
from motif.parameters import parameter_set
from motif.runtime.errors import DatasetError
from tests.evaluators.written_out import row_sum

_KEITH = parameter_set("keith")


def _head(class_name: str = "contact", head: str = "win", seed: int = 0) -> HeadTerms:
    rng = np.random.default_rng(seed)
    terms = Terms(len(_KEITH), [[0, 0], [2, 5]])
    features = rng.random((50, len(_KEITH)), np.float32)
    found = term_statistics(terms, rng.standard_normal(terms.count), PROBABILITY, features)
    errors = rng.random((2, terms.count))
    errors[:, 3] = 0
    known = replace(found, errors=errors[0], effect_errors=errors[1])
    return HeadTerms(class_name, head, term_names(terms, _KEITH), known if seed else found)


def _heads() -> list[HeadTerms]:
    return [_head(), _head("race", seed=1), _head(head="equity", seed=2)]


def test_names_of_terms():
    names = term_names(Terms(len(_KEITH), [[0, 0], [2, 5]]), _KEITH)
    assert names[:2] == ("bias", "pip_count")
    assert names[1 + len(_KEITH) :] == ("pip_count*pip_count", "on_bar*blots")
    assert len(set(names)) == len(names) == 1 + len(_KEITH) + 2


def test_the_order_of_a_weight_file_is_that_of_the_terms():
    rng = np.random.default_rng(1)
    linear = rng.standard_normal(len(_KEITH)).astype(np.float32)
    head = HeadWeights(0.5, linear, np.array([[0, 1], [3, 3]]), np.array([2.0, 3.0], np.float32))
    terms, weights = weight_vector(head)
    rows = rng.random((20, len(_KEITH)), np.float32)
    raw = terms.expand(rows) @ weights
    np.testing.assert_allclose(raw, [row_sum(head, row) for row in rows], rtol=1e-5)
    assert len(weights) == terms.count


def test_round_trip(tmp_path):
    path = tmp_path / "terms.parquet"
    write_terms(path, _heads())
    for read, written in zip(read_terms(path), _heads(), strict=True):
        assert (read.key, read.names) == (written.key, written.names)
        for name in written.statistics.__dataclass_fields__:
            values = (getattr(of.statistics, name) for of in (read, written))
            np.testing.assert_array_equal(*values)
    table = pq.read_table(path)
    assert table.schema == STATISTICS_SCHEMA
    assert table.column_names[:7] == ["class", "head", "term", "weight", "se", "z", "spread"]
    row = table.slice(table.num_rows - 1).to_pylist()[0]
    assert row["z"] == row["weight"] / row["se"]


def test_an_empty_table(tmp_path):
    write_terms(tmp_path / "none.parquet", [])
    assert read_terms(tmp_path / "none.parquet") == ()


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("weight", float("nan"), "the weight of 'bias' in row 0 is nan"),
        ("se", float("inf"), "the se of 'bias' in row 0 is inf"),
        ("spread", -1.0, "the spread of 'bias' in row 0 is -1"),
        ("class", "bearoff", "no class and head are called 'bearoff', 'win'"),
        ("head", "draw", "called 'contact', 'draw'"),
        ("head", None, "a value is missing"),
    ],
)
def test_faults_are_named(tmp_path, column, value, words):
    path = tmp_path / "bad.parquet"
    write_terms(path, [_head()])
    rows = pq.read_table(path).to_pylist()
    rows[0][column] = value
    pq.write_table(pa.Table.from_pylist(rows, STATISTICS_SCHEMA), path)
    with pytest.raises(DatasetError, match=words) as error:
        read_terms(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(DatasetError, match="there is no such file"):
        read_terms(tmp_path / "missing")
    with pytest.raises(DatasetError, match="not a regular file"):
        read_terms(tmp_path)
    path = tmp_path / "text"
    path.write_text("motif")
    with pytest.raises(DatasetError, match="not a table of terms"):
        read_terms(path)
    pq.write_table(pa.table({"weight": [1.0]}), path)
    with pytest.raises(DatasetError, match="the columns must be class, head"):
        read_terms(path)
    first, second = _heads()[:2]
    write_terms(path, [first, second, first])
    with pytest.raises(DatasetError, match="the terms of contact win are not consecutive"):
        read_terms(path)


def test_z_of_a_weight_and_z_of_its_effect_are_two_columns(tmp_path):
    path = tmp_path / "terms.parquet"
    write_terms(path, _heads())
    row = pq.read_table(path).slice(60).to_pylist()[0]
    assert row["effect_z"] == row["effect"] / row["effect_se"]
    assert row["z"] == row["weight"] / row["se"]
    assert row["z"] != row["effect_z"]
