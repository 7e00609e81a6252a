"""Rules of the source that a parser can check: imports between modules, and names."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.import_graph import (
    CELLARS,
    FLOORS,
    ROOT,
    TOP,
    CompiledCore,
    circles,
    file_graph,
    folder_of,
    imports,
    may_import,
    source_files,
    sources,
)

SOURCES = sources()
SERVERS = sorted(path.relative_to(ROOT) for path in (ROOT / "motif" / "serve").glob("*.py"))
COMPILERS = [
    *(path.relative_to(ROOT) for path in sorted((ROOT / "motif" / "compiler").glob("*.py"))),
    Path("motif/parameters/own_measures.py"),
]
ONLY_IN = {
    "joblib": [Path("motif/runtime/parallel.py"), Path("motif/evaluators/own.py")],
    "dask": [Path("motif/runtime/cluster.py")],
    "distributed": [Path("motif/runtime/cluster.py")],
    "numba": COMPILERS,
    "onnx": [Path("motif/evaluators/nets/net.py")],
    "onnxruntime": [Path("motif/evaluators/nets/net.py")],
    "skl2onnx": [Path("motif/phase_net/phase_classifier.py")],
    "sklearn": [
        Path("motif/phase_net/phase_classifier.py"),
        Path("motif/learning/recalibration.py"),
        Path("motif/analysis/evaluator_analysis.py"),
        Path("motif/analysis/position_clusters.py"),
    ],
    "llvmlite": COMPILERS,
    "jinja2": [Path("motif/reports/document.py")],
    "gvformat": [Path("motif/board/xg_file.py")],
    "markupsafe": [Path("motif/reports/document.py")],
    **dict.fromkeys(("fastapi", "pydantic", "pydantic_core", "starlette", "uvicorn"), SERVERS),
}

_BEFORE_A_PATH = r"(?<![\w.~/}>-])"
MACHINE_PATH = re.compile(
    _BEFORE_A_PATH + r"/(?:home|Users|root|tmp|work|var/tmp|var/folders)/[\w.]" + r"|\b[A-Z]:\\{1,2}Users\b"
)
NOT_SOURCE = {".git", "__pycache__", "build", "dist", "runs"}


def imported_modules(source: str, module: Path) -> set[str]:
    """Return the dotted names that `source`, located at `module`, imports anywhere, lazily too.

    ``from motif import board`` yields ``motif.board``; any other ``from a import b`` yields ``a``.
    """
    return {
        f"{it.module}.{it.name}" if it.module == "motif" and it.name else it.module
        for it in imports(source, module)
    }


def breaches(source: str, module: Path) -> list[str]:
    """Return the imports of `source`, located at `module` relative to the root, that violate the rules."""
    names = imported_modules(source, module)
    folder = module.parts[1] if len(module.parts) > 2 else TOP
    lines = [
        f"{module}: {folder} may not import from {imported or 'the package itself'}"
        for imported in sorted({folder_of(name) for name in names if name.split(".")[0] == "motif"})
        if not may_import(folder, imported)
    ]
    for package in sorted({name.split(".")[0] for name in names}):
        if package in ("tests", "tools"):
            lines.append(f"{module}: the package may not import its {package}")
        if module not in ONLY_IN.get(package, [module]):
            lines.append(f"{module}: only {', '.join(map(str, ONLY_IN[package]))} may import {package}")
    return lines


def test_every_folder_has_a_floor():
    folders = {path.parts[1] for path in source_files() if len(path.parts) > 2}
    assert folders <= {*FLOORS, *CELLARS}


def test_modules_import_only_what_their_floor_allows():
    lines = [line for path, text in SOURCES.items() for line in breaches(text, path)]
    assert not lines, "\n".join(lines)


def test_the_compiler_does_not_import_the_package():
    for path, text in SOURCES.items():
        if path.parts[1] == "compiler":
            names = imported_modules(text, path)
            assert {name for name in names if name.startswith("motif")} <= {
                name for name in names if name.startswith("motif.compiler.")
            }, path
            lines = [line for line in text.splitlines() if "motif" in line and "motif.compiler" not in line]
            assert not lines, path


def test_tools_import_no_tests():
    """Tests may use tools, so tools must not use tests."""
    for path in sorted((ROOT / "tools").glob("*.py")):
        packages = {it.module.split(".")[0] for it in imports(path.read_text("utf-8"), path)}
        assert "tests" not in packages, path


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("motif/doubling/equities.py", "from motif.board.position import Position"),
        ("motif/doubling/equities.py", "from motif.doubling.table import TABLE"),
        ("motif/doubling/equities.py", "from . import table\nfrom .table import TABLE"),
        ("motif/doubling/equities.py", "from motif import board, runtime"),
        ("motif/board/moves.py", "import motif.compiler.jit"),
        ("motif/cli/main.py", "from motif.serve import http"),
        ("motif/__init__.py", "from motif.cli.main import main"),
        ("motif/compiler/jit.py", "import numba\nfrom llvmlite import ir"),
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
        (
            "motif/board/moves.py",
            "from importlib import import_module\nimport_module('motif.doubling.equities')",
        ),
        ("motif/doubling/equities.py", "from motif.players.match import play"),
        ("motif/doubling/equities.py", "from motif import players"),
        ("motif/doubling/equities.py", "from motif import Position"),
        ("motif/doubling/equities.py", "import motif"),
        ("motif/compiler/jit.py", "import motif.board"),
        ("motif/compiler/jit.py", "import joblib"),
        ("motif/sampling/label.py", "from joblib import Parallel"),
        ("motif/board/moves.py", "from numba import njit"),
        ("motif/__init__.py", "from numba import njit"),
        ("motif/cli/main.py", "from tests.board import oracle"),
        ("motif/cli/main.py", "from tools.import_graph import FLOORS"),
    ],
)
def test_forbidden_imports(module, source):
    assert len(breaches(source, Path(module))) == 1


def test_there_are_no_import_cycles():
    rings = circles(file_graph(SOURCES))
    assert not rings, "\n".join(" <-> ".join(map(str, ring)) for ring in rings)


def test_import_cycles_are_detected():
    """Lazy imports and imports through a package's `__init__` count; imports for type checkers do not."""
    texts = {
        Path("motif/a.py"): "def late():\n    from motif.b import B",
        Path("motif/b.py"): "from motif.c import C",
        Path("motif/c.py"): "import motif.a",
        Path("motif/d.py"): "from motif import e",
        Path("motif/e.py"): "if TYPE_CHECKING:\n    from motif.d import D\nelse:\n    import motif.f",
        Path("motif/f.py"): "from . import d",
        Path("motif/g.py"): "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from motif.h import H",
        Path("motif/h.py"): "from motif.g import G",
        Path("motif/p/__init__.py"): "from motif.p.q import Q",
        Path("motif/p/q.py"): "from motif.p import R",
    }
    rings = [[path.stem for path in ring] for ring in circles(file_graph(texts))]
    assert rings == [["a", "b", "c"], ["d", "e", "f"], ["__init__", "q"]]


def test_module_names_are_unique():
    places = defaultdict(list)
    for path in source_files():
        places[path.name].append(str(path))
    del places["__init__.py"]
    assert not [same for same in places.values() if len(same) > 1]


SAME_NAME = {
    "Board": "an array, and the name of a board in the schema of bgweb-api",
    "METHOD": "each method of fitting states its name",
    "OUTCOME": "a label of samples, and a column of results",
    "TOLERANCE": "of a fit, and of a recalibration",
    "evaluator_of": "one calls the other, which is slow to import",
    "router": "each part of the server has its routes",
    "warm_up": "what a second process compiles, by module",
}
"""Public names that several modules may define, with the reason."""
NAMED_BY_USERS = re.compile(r"motif/(?:library\w*|parameters/\w+_set)\.py")
"""Files of functions that users import, which call another of that name, and of a set's own parameters."""


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the public names that a module defines, without commands and routes, whose names users type."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
            if not any(one == "command" or one.startswith("router.") for one in decorators):
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            yield from (one.id for one in names)


def test_public_names_are_unique():
    places: dict[str, set[str]] = defaultdict(set)
    for path, text in SOURCES.items():
        if not NAMED_BY_USERS.fullmatch(path.as_posix()):
            for name in public_names(ast.parse(text)):
                if not name.startswith("_"):
                    places[name].add(str(path))
    same = {name: sorted(files) for name, files in places.items() if len(files) > 1}
    assert same.keys() == SAME_NAME.keys(), same


def test_the_compiled_core_is_kernels_and_constants():
    lines = CompiledCore(SOURCES).breaches()
    assert not lines, "\n".join(lines)


_JIT = "from motif.compiler.jit import kernel\n"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("", "", 0),
        ("from motif.board.table import TABLE", "", 0),
        ("from motif.board.shell import Shell", "", 1),
        ("def late():\n    import motif.runtime.errors", "", 1),
        ("", "from motif.board.shell import SIZE\n@kernel\ndef more():\n    return SIZE", 1),
        # A file whose kernels no other file calls may also handle messages and files.
        ("", "from motif.runtime.errors import PlayError\nfrom motif.board.shell import Shell", 0),
    ],
)
def test_violations_by_kernel_files_are_detected(low, high, expected):
    low_kernel = f"{_JIT}{low}\n@kernel\ndef low():\n    return 1"
    high_kernel = f"{_JIT}from motif.board.low import low\n{high}\n@kernel\ndef high():\n    return low()"
    texts = {
        "motif/runtime/errors.py": "class PlayError(Exception):\n    pass",
        "motif/compiler/jit.py": "import motif.runtime.files",
        "motif/board/table.py": "TABLE = 1",
        "motif/board/shell.py": "from motif.runtime.errors import PlayError",
        "motif/board/low.py": low_kernel,
        "motif/rollouts/high.py": high_kernel,
    }
    lines = CompiledCore({Path(name): text for name, text in texts.items()}).breaches()
    assert len(lines) == expected


def text_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text files of the repository below `folder`, without hidden folders (except .ci) and runs."""
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


def test_no_file_contains_a_machine_path():
    lines = [
        f"{path}:{number}: {line.strip()}"
        for path, text in text_files(ROOT)
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not lines, "\n".join(lines)


def test_machine_paths_are_recognised():
    slash = "/"
    for path in ("home/ann/motif", "tmp/x", "root/.cache", "work/main", "Users/ann", "var/folders/ab"):
        assert MACHINE_PATH.search(f"see {slash}{path}.")
        assert MACHINE_PATH.search(f'"{slash}{path}"')
    assert MACHINE_PATH.search("C:" + "\\Users\\ann")
    assert not MACHINE_PATH.search("8/5* 6/5, runs/demo, https://example.org/home/x, motif/work/x, a/tmp/b")


def test_all_text_files_are_searched():
    seen = {str(path) for path, _ in text_files(ROOT)}
    assert {"Makefile", ".ci/run", "pyproject.toml", "README.md", "tests/test_floors.py"} <= seen
