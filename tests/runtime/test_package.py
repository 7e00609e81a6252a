"""How to install an extra: in a checkout and from the package index."""

import re
import tomllib
from pathlib import Path

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
