"""The Makefile's environment: when motif is installed, by a Python that only records what it is asked."""

import os
import subprocess
from pathlib import Path
from shutil import copyfile, which

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
_PYTHON = """\
#!/bin/sh
echo "$*" >> "$RECORD"
case "$*" in *" venv "*)
    for folder; do :; done
    case "$*" in *--clear*) rm -rf "$folder";; esac
    mkdir -p "$folder/bin" && touch "$folder/pyvenv.cfg" && ln -s "$0" "$folder/bin/python";;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with the Makefile, whose path has a space."""
    if which("make") is None:
        pytest.skip("there is no make")
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        copyfile(ROOT / name, folder / name)
    (tmp_path / "python").write_text(_PYTHON)
    (tmp_path / "python").chmod(0o755)
    return folder


def installations(folder: Path, *targets: str) -> int:
    """Make `targets` in `folder`; return how often this installed motif."""
    record = folder / "record"
    record.write_text("")
    words = ["make", f"PYTHON={folder.parent / 'python'}", *targets]
    # Without what a make that runs these tests passes on.
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment = {**outer, "RECORD": str(record)}
    ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return record.read_text().count("--editable")


def test_motif_is_installed_once(checkout):
    assert installations(checkout, ".venv/.installed") == 1
    assert installations(checkout, ".venv/.installed") == 0
    assert installations(checkout, ".venv/.installed-dev") == 1
    assert installations(checkout, ".venv/.installed", ".venv/.installed-dev") == 0


def test_motif_is_installed_again_when_its_python_is_gone(checkout):
    installations(checkout, ".venv/.installed")
    (checkout / ".venv" / "bin" / "python").unlink()
    assert installations(checkout, ".venv/.installed") == 1
    assert installations(checkout, ".venv/.installed") == 0


def test_motif_is_installed_again_when_pyproject_changes(checkout):
    installations(checkout, ".venv/.installed")
    installed = (checkout / ".venv" / ".installed").stat().st_mtime
    os.utime(checkout / "pyproject.toml", (installed + 1, installed + 1))
    assert installations(checkout, ".venv/.installed") == 1
