"""Tests of peers that are not installed are skipped, with a message about how to install them."""

from pathlib import Path

import pytest

from tools.text_gnubg import TextGnubg, gnubg_path


@pytest.fixture
def gnubg(tmp_path: Path) -> TextGnubg:
    """Return gnubg in text mode."""
    path = gnubg_path()
    if path is None:
        pytest.skip("gnubg is not installed (Debian: apt install gnubg)")
    return TextGnubg(path, tmp_path)
