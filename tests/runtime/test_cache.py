"""Where the cache folder is."""

from pathlib import Path

from motif.runtime.files import cache_root


def test_a_user_without_a_home(monkeypatch, tmp_path):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_root().parent == tmp_path


def test_a_home_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    no_folder = tmp_path / "file"
    no_folder.touch()
    monkeypatch.setenv("HOME", str(no_folder / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = cache_root()
    assert own.parent == tmp_path
    assert own.stat().st_mode & 0o077 == 0
    own.chmod(0o777)  # somebody else could put code there
    assert cache_root() == no_folder / "home" / ".cache" / "motif"


def test_the_environment_says_where(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "kernels")
    assert cache_root() == Path("kernels")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    assert cache_root() == Path("caches", "motif")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "motif"
