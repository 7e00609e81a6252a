"""The house rules that a parser can check: which module imports which, what it names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "motif"

FLOORS = {
    "board": 0,
    "parameters": 1,
    "evaluators": 2,
    "rollout": 3,
    "players": 4,
    "cube": 4,
    "sampling": 5,
    "fitting": 5,
    "benchmark": 5,
    "learning": 6,
    "analysis": 7,
    "phase_net": 7,
    "session": 8,
    "reports": 8,
    "serve": 9,
    "cli": 10,
}
CELLAR = "runtime"
TOP = ""
"""The folder of motif/__init__.py, which may import from everywhere and is imported by nobody inside."""
ONLY_IN = {
    "joblib": [Path("motif/runtime/parallel.py")],
    "dask": [Path("motif/runtime/cluster.py")],
    "distributed": [Path("motif/runtime/cluster.py")],
    "numba": [
        *(Path("motif/runtime") / f"kernel{part}.py" for part in ("", "_cache", "_cells", "_digest")),
        Path("motif/runtime/jit.py"),
        Path("motif/runtime/simd.py"),
        Path("motif/parameters/board_functions.py"),
    ],
    "onnx": [Path("motif/evaluators/nets/net.py")],
    "onnxruntime": [Path("motif/evaluators/nets/net.py")],
    "skl2onnx": [Path("motif/phase_net/phase_classifier.py")],
    "sklearn": [
        Path("motif/phase_net/phase_classifier.py"),
        Path("motif/fitting/isotonic.py"),
        Path("motif/analysis/evaluator/statistics.py"),
    ],
    "llvmlite": [
        *(Path("motif/runtime") / f"kernel{part}.py" for part in ("", "_cells", "_digest")),
        Path("motif/runtime/jit.py"),
        Path("motif/runtime/simd.py"),
        Path("motif/parameters/board_functions.py"),
    ],
}

_BEFORE_A_PATH = r"(?<![\w.~/}>-])"
MACHINE_PATH = re.compile(
    _BEFORE_A_PATH + r"/(?:home|Users|root|tmp|work|var/tmp|var/folders)/[\w.]" + r"|\b[A-Z]:\\{1,2}Users\b"
)
NOT_SOURCE = {"__pycache__", "build", "dist", "runs"}


def source_files() -> list[Path]:
    """Modules of the package, relative to the root."""
    return sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))


def imported_modules(source: str, module: Path) -> Iterator[str]:
    """Dotted names that `source`, lying at `module`, imports anywhere in it, also lazily.

    ``from motif import board`` yields ``motif.board``; any other ``from a import b`` yields ``a``.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.parts[: len(module.parts) - node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names) if base == "motif" else [base]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func)
            if called in ("__import__", "import_module", "importlib.import_module"):
                yield str(node.args[0].value)


def folder_of(name: str) -> str:
    """The folder of motif that a dotted name lies in; `TOP` for what the package itself offers."""
    folder = name.split(".")[1] if "." in name else TOP
    return folder if folder in {*FLOORS, CELLAR} else TOP


def may_import(importer: str, imported: str) -> bool:
    """Whether a module of the folder `importer` may import from the folder `imported`."""
    if imported in (importer, CELLAR) or importer == TOP:
        return True
    if importer == CELLAR or imported == TOP:
        return False
    return FLOORS[imported] < FLOORS[importer]


def breaches(source: str, module: Path) -> list[str]:
    """What `source`, lying at `module` relative to the root, imports against the rules."""
    names = set(imported_modules(source, module))
    folder = module.parts[1] if len(module.parts) > 2 else TOP
    found = [
        f"{module}: {folder} may not import from {imported or 'the package itself'}"
        for imported in sorted({folder_of(name) for name in names if name.split(".")[0] == "motif"})
        if not may_import(folder, imported)
    ]
    for package in sorted({name.split(".")[0] for name in names}):
        if package == "tests":
            found.append(f"{module}: the package may not import its tests")
        if module not in ONLY_IN.get(package, [module]):
            found.append(f"{module}: only {', '.join(map(str, ONLY_IN[package]))} may import {package}")
    return found


def test_every_folder_has_a_floor():
    folders = {path.parts[1] for path in source_files() if len(path.parts) > 2}
    assert folders <= {*FLOORS, CELLAR}


def test_modules_import_only_what_their_floor_allows():
    found = [line for path in source_files() for line in breaches((ROOT / path).read_text("utf-8"), path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("motif/cube/equities.py", "from motif.board.position import Position"),
        ("motif/cube/equities.py", "from motif.cube.table import TABLE"),
        ("motif/cube/equities.py", "from . import table\nfrom .table import TABLE"),
        ("motif/cube/equities.py", "from motif import board, runtime"),
        ("motif/board/moves.py", "import motif.runtime.jit"),
        ("motif/cli/main.py", "from motif.serve import http"),
        ("motif/__init__.py", "from motif.cli.main import main"),
        ("motif/runtime/jit.py", "import numba\nfrom llvmlite import ir"),
    ],
)
def test_allowed_imports(module, source):
    assert breaches(source, Path(module)) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("motif/board/moves.py", "from motif.parameters.sets import SETS"),
        ("motif/board/moves.py", "def late():\n    import motif.parameters"),
        ("motif/board/moves.py", "from ..players import match"),
        ("motif/board/moves.py", "from importlib import import_module\nimport_module('motif.cube.equities')"),
        ("motif/cube/equities.py", "from motif.players.match import play"),
        ("motif/cube/equities.py", "from motif import players"),
        ("motif/cube/equities.py", "from motif import Position"),
        ("motif/cube/equities.py", "import motif"),
        ("motif/runtime/jit.py", "import motif.board"),
        ("motif/runtime/jit.py", "import joblib"),
        ("motif/sampling/label.py", "from joblib import Parallel"),
        ("motif/board/moves.py", "from numba import njit"),
        ("motif/__init__.py", "from numba import njit"),
        ("motif/cli/main.py", "from tests.board import oracle"),
    ],
)
def test_forbidden_imports(module, source):
    assert len(breaches(source, Path(module))) == 1


def text_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Text files of the repository below `folder`; hidden folders (but .ci) and what runs leave are not."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in NOT_SOURCE or path.suffix == ".egg-info":
            continue
        if path.is_dir():
            if (not path.name.startswith(".") or path.name == ".ci") and not (path / "pyvenv.cfg").exists():
                yield from text_files(path)
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            yield path.relative_to(ROOT), content.decode("utf-8", "replace")


def test_no_file_names_a_path_of_some_machine():
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in text_files(ROOT)
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)


def test_machine_paths_are_recognised():
    slash = "/"
    for path in ("home/ann/motif", "tmp/x", "root/.cache", "work/main", "Users/ann", "var/folders/ab"):
        assert MACHINE_PATH.search(f"see {slash}{path}.")
        assert MACHINE_PATH.search(f'"{slash}{path}"')
    assert MACHINE_PATH.search("C:" + "\\Users\\ann")
    assert not MACHINE_PATH.search("8/5* 6/5, runs/demo, https://example.org/home/x, motif/work/x, a/tmp/b")


def test_the_walk_sees_the_repository():
    seen = {str(path) for path, _ in text_files(ROOT)}
    assert {"Makefile", ".ci/run", "pyproject.toml", "README.md", "tests/test_floors.py"} <= seen
