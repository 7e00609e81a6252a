"""Files are whole or not there."""

import pytest

from motif.runtime.files import replacing, write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_with_its_folder(tmp_path):
    path = tmp_path / "runs" / "demo" / "weights.yaml"
    write_text(path, "Gänge: 1\n")
    assert path.read_bytes() == "Gänge: 1\n".encode()
    assert names(path.parent) == ["weights.yaml"]


def test_an_old_file_is_replaced(tmp_path):
    path = tmp_path / "history.csv"
    path.write_text("old")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["history.csv"]


def test_the_temporary_file_lies_beside_and_keeps_the_suffix(tmp_path):
    path = tmp_path / "plot.png"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".png"
        assert temporary.name != path.name
        temporary.write_bytes(b"image")
        assert not path.exists()
    assert names(tmp_path) == ["plot.png"]


@pytest.mark.parametrize("failure", [RuntimeError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path, failure):
    path = tmp_path / "weights.yaml"
    path.write_text("old")

    def write_half():
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["weights.yaml"]


def test_a_failure_before_anything_is_written(tmp_path):
    with pytest.raises(RuntimeError), replacing(tmp_path / "new.yaml"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_block_that_writes_nothing_is_an_error_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "weights.yaml"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert path.read_text() == "old"
