"""Where the cache folder is."""

from pathlib import Path

from motif.runtime.files import cache_root


def test_the_environment_says_where(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "kernels")
    assert cache_root() == Path("kernels")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    assert cache_root() == Path("caches", "motif")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "motif"
