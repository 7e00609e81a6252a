"""The command fit with pruning and standard errors."""

import re
import shutil

import pytest

from motif.evaluators import read_weight_file
from motif.fitting.solvers import PRUNE_Z
from motif.runtime.errors import IncompleteDatasetWarning
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest, write_manifest

_OPTIONS = ("--parameters", "keith", "--heads", "win", "--jobs", 1)


def test_a_pruned_fit_and_its_table_of_terms(motif_json, dataset, tmp_path):
    path, table = tmp_path / "few.yaml", tmp_path / "few.parquet"
    record = motif_json("fit", dataset, "--out", path, *_OPTIONS, "--prune", "--term-table", table)
    contact = record["heads"]["contact.win"]
    assert contact["terms"] < contact["before_pruning"]["terms"]
    assert contact["rmse_validation"] != contact["before_pruning"]["rmse_validation"]
    assert record["choice_error"].keys() == record["choice_error_before_pruning"].keys()
    weights = read_weight_file(path)
    assert weights.fit["prune"] == PRUNE_Z == 2
    head = weights.classes["contact"]["win"]
    assert len(head.linear) + len(head.pairs) == contact["terms"]
    told = motif_json("terms", path, "--terms", table, "--top", 3)
    assert told["count"] == contact["terms"]
    assert all(term["se"] > 0 for term in told["terms"])


@pytest.mark.parametrize(
    ("words", "z"), [(("--prune-z", 3), 3), (("--prune", "--prune-z", 1.5), 1.5), ((), None)]
)
def test_the_threshold(motif, dataset, tmp_path, words, z):
    path = tmp_path / "few.yaml"
    ending = motif("fit", dataset, "--out", path, *_OPTIONS, *words)
    assert ending.code == 0
    assert read_weight_file(path).fit.get("prune") == z
    pruned = bool(re.search(r"contact\.win +\d+ -> \d+ +0\.\d{4} -> 0\.\d{4} ", ending.out))
    assert pruned == (z is not None)
    assert bool(re.search(r"\nbefore pruning: all \d+\.\d\b", ending.out)) == (z is not None)


def test_what_is_refused_before_the_work(motif, dataset, tmp_path):
    out = ("fit", dataset, "--out", tmp_path / "x.yaml")
    for words, message in (
        (("--prune", "--hidden", 4), "--prune: not available with hidden units"),
        (("--prune-z", "nan"), "--prune-z must be finite and at least 0, not nan"),
        (("--prune", "--terms", "linear"), "--prune: has no effect without pairs"),
        (("--backgammons", "race", "--terms", "linear"), "--backgammons: has no effect without pairs"),
        (("--term-table", tmp_path), "is a folder, not a file"),
    ):
        ending = motif(*out, *words)
        assert ending.code == 2
        assert message in ending.err
        assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_whose_sampling_was_stopped_is_read_with_a_warning(motif, dataset, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(dataset, half)
    manifest = read_manifest(half)
    assert manifest.complete
    parts = manifest.parts
    write_manifest(half, manifest.settings, parts[: len(parts) // 2], complete=False)
    share = f"{len(parts) // 2} of {len(parts)} parts"
    said = f"{half} has {share} because the sample was interrupted; `motif sample ... --resume` completes it"
    for words in (
        ("fit", half, "--out", tmp_path / "half.yaml", *_OPTIONS),
        ("benchmark", half, "--player", "simple"),
    ):
        ending = motif(*words)
        assert (ending.code, ending.err) == (0, f"motif: {said}\n")
    with pytest.warns(IncompleteDatasetWarning, match=f"^{re.escape(said)}$"):
        assert len(read_dataset(half)) == sum(part.rows for part in parts[: len(parts) // 2])


def test_unknown_label_noise_is_explained_only_where_it_is_unknown(motif, dataset, tmp_path):
    short = (
        "fit",
        dataset,
        "--out",
        tmp_path / "x.yaml",
        "--parameters",
        "keith",
        "--terms",
        "linear",
        "--jobs",
        1,
    )
    assert "label noise: " not in motif(*short, "--heads", "win").out
    # Without validation games there are no errors, with or without noise.
    assert "label noise: " not in motif(*short, "--heads", "win", "--validation", 0).out
    ending = motif(*short, "--heads", "win", "--levels", "pubeval")
    assert "label noise: unknown for labels with the levels of a player.\n" in ending.out
