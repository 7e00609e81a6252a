"""Large documents that are kept, parsed."""

import pytest
import yaml

from motif.runtime import yaml_text as kept_yaml
from motif.runtime.yaml_text import YamlTextError, parse_large_yaml, parse_yaml


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder for documents."""
    monkeypatch.setattr(kept_yaml, "cache_root", lambda: tmp_path)
    return tmp_path / "documents"


def large(seed: int) -> str:
    values = {f"name {k}": k * seed + 0.1 for k in range(20_000)}
    return yaml.safe_dump({"numbers": values, 3: [True, None, "off"], "seed": seed}, sort_keys=False)


def test_a_document_is_the_same_read_and_kept(folder):
    text = large(1)
    first, second = parse_large_yaml(text), parse_large_yaml(text)
    assert first == second == parse_yaml(text)
    assert len(list(folder.iterdir())) == 1


def test_kept_documents_are_what_is_read(folder, monkeypatch):
    text = large(2)
    known = parse_large_yaml(text)
    monkeypatch.setattr(kept_yaml, "parse_yaml", lambda text: pytest.fail("parsed again"))
    assert parse_large_yaml(text) == known


@pytest.mark.parametrize("damage", [b"", b"no pickle", b"\x80\x05cnothing\nhere\n."])
def test_a_damaged_file_is_made_anew(folder, damage):
    text = large(3)
    known = parse_large_yaml(text)
    (path,) = folder.iterdir()
    path.write_bytes(damage)
    assert parse_large_yaml(text) == known
    assert path.read_bytes() != damage


def test_other_text_is_another_document(folder):
    assert parse_large_yaml(large(4))["seed"] == 4
    assert parse_large_yaml(large(5))["seed"] == 5


def test_small_documents_are_not_kept(folder):
    assert parse_large_yaml("seed: 1") == {"seed": 1}
    assert not folder.exists()


def test_faults_are_told_and_not_kept(folder):
    with pytest.raises(YamlTextError):
        parse_large_yaml(large(6) + "\n]")
    assert not folder.exists()


def test_few_are_kept(folder, monkeypatch):
    monkeypatch.setattr(kept_yaml, "_MOST_KEPT", 2)
    for seed in range(4):
        parse_large_yaml(large(seed))
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    folder.parent.joinpath("documents").write_text("a file")
    assert parse_large_yaml(large(7))["seed"] == 7
