"""What is installed: extras, in a checkout and from the package index, and no files of an earlier build."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copyfile

import pytest

from motif.runtime import package
from motif.runtime.package import install_command

ROOT = Path(__file__).resolve().parent.parent.parent
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])


def test_hints_and_documentation_name_extras_that_exist():
    source = "".join(path.read_text("utf-8") for path in (ROOT / "motif").rglob("*.py"))
    named = set(re.findall(r"""(?:install_command\(|EXTRA = )["'](\w+)["']""", source))
    pages = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    told = {name for names in re.findall(r"pip install \S*\[([\w,]+)\]", pages) for name in names.split(",")}
    assert named == {"serve", "cluster", "xg", "onnx"}
    assert named <= told <= EXTRAS


def test_a_checkout_is_installed_from_its_source(tmp_path, monkeypatch):
    assert install_command("serve") == "pip install '.[serve]' in the checkout"
    monkeypatch.setattr(package, "_CHECKOUT", tmp_path)
    assert install_command("serve") == "pip install 'motif-backgammon[serve]'"


def test_a_build_without_files_that_are_gone(tmp_path):
    pytest.importorskip("setuptools")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "THIRD_PARTY.md"):
        copyfile(ROOT / name, tmp_path / name)
    names = {"motif/__init__.py", "motif/weights/README.md", "motif/weights/motif-v2.yaml"}
    for name in ("weights/README.md", "weights/motif-v2.yaml", "motif/__init__.py", "motif/gone.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "lib" / "motif" / "weights").mkdir(parents=True)
    (tmp_path / "lib" / "motif" / "weights" / "motif-v1.yaml").touch()
    for was_built in (False, True):
        if was_built:
            (tmp_path / "motif" / "gone.py").unlink()
        words = [sys.executable, "setup.py", "-q", "build", "--build-lib", "lib"]
        subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
        built = {path.relative_to(tmp_path / "lib").as_posix() for path in (tmp_path / "lib").rglob("*.*")}
        assert built == names | (set() if was_built else {"motif/gone.py"})
