"""Peers that are not installed skip their tests, in words that say how to get them."""

from pathlib import Path

import pytest

from tools.text_gnubg import TextGnubg, gnubg_path


@pytest.fixture
def gnubg(tmp_path: Path) -> TextGnubg:
    """A gnubg to be asked in text mode."""
    path = gnubg_path()
    if path is None:
        pytest.skip("gnubg is not installed (Debian: apt install gnubg)")
    return TextGnubg(path, tmp_path)
