"""Analyse the source: which file imports which, on which floor it is, where kernels are."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "motif"

FLOORS = {
    "board": 0,
    "parameters": 1,
    "evaluators": 2,
    "rollouts": 3,
    "doubling": 4,
    "players": 5,
    "sampling": 6,
    "fitting": 6,
    "contests": 6,
    "benchmarks": 6,
    "learning": 7,
    "analysis": 8,
    "phase_net": 8,
    "session": 9,
    "reports": 9,
    "serve": 10,
    "cli": 11,
}
CELLARS = ("runtime", "compiler")
"""Folders below all floors, open to each of them."""
TOP = ""
"""The folder of motif/__init__.py, which may import everything and is not imported inside the package."""
CORE = {"board", "parameters", "evaluators", "rollouts", "players", "sampling"}
"""Folders of the compiled core."""
_JIT = "motif.compiler.jit"
_WITHIN = {Path("motif/compiler/jit.py"), Path("motif/compiler/simd.py"), Path("motif/runtime/arrays.py")}
"""The files that define the kernel decorators and the types of arrays."""
_IMPORTERS = {"__import__", "import_module"}
_POSITION = Path("motif/board/position.py")


@dataclass(frozen=True)
class Import:
    """One imported name: ``from module import name``; with ``import module`` the name is empty."""

    module: str
    name: str = ""


def source_files() -> list[Path]:
    """Return the modules of the package, relative to the root."""
    return sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))


def sources() -> dict[Path, str]:
    """Return the text of every module of the package, by its path relative to the root."""
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in source_files()}


@cache
def imports(text: str, path: Path) -> tuple[Import, ...]:
    """Return everything that the source `text` of the module at `path` imports, lazily too.

    Imports for type checkers (``if TYPE_CHECKING:``) do not count, nor do imports in the methods of a
    position, whose texts and drawings come from modules that import it.
    """
    return tuple(_imports(ast.parse(text), path))


def _imports(tree: ast.Module, path: Path) -> Iterator[Import]:
    for node in _nodes_that_run(tree, lazily=path != _POSITION):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[: len(path.parts) - node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (Import(base, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and _name(node.func) in _IMPORTERS:
            yield from (Import(str(it.value)) for it in node.args[:1] if isinstance(it, ast.Constant))


def _nodes_that_run(tree: ast.AST, *, lazily: bool) -> Iterator[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        children: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            children = node.orelse
        if isinstance(node, ast.FunctionDef) and not lazily:
            children = ()
        waiting.extend(children)


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name; an empty text for anything else."""
    return getattr(node, "attr", getattr(node, "id", ""))


def folder_of(name: str) -> str:
    """Return the folder of motif that contains a dotted name; `TOP` for names of the package itself."""
    folder = name.split(".")[1] if "." in name else TOP
    return folder if folder in {*FLOORS, *CELLARS} else TOP


def may_import(importer: str, imported: str) -> bool:
    """Return whether a module of the folder `importer` may import from the folder `imported`."""
    if imported in (importer, *CELLARS) or importer == TOP:
        return True
    if importer in CELLARS or imported == TOP:
        return False
    return FLOORS[imported] < FLOORS[importer]


def file_graph(texts: Mapping[Path, str]) -> dict[Path, set[Path]]:
    """Return the files that each of the files `texts` imports, by their paths relative to the root.

    ``from package import name`` imports the package's ``__init__.py``, and the module `name` if there is one.
    """
    files = {_dotted(path): path for path in texts}
    graph: dict[Path, set[Path]] = {}
    for path, text in texts.items():
        names = {name for it in imports(text, path) for name in (it.module, f"{it.module}.{it.name}")}
        graph[path] = {files[name] for name in names if name in files} - {path}
    return graph


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(graph: Mapping[Path, set[Path]]) -> list[list[Path]]:
    """Return the import cycles: strongly connected components of files."""
    reach = {path: _reached(graph, path) for path in graph}
    rings = {frozenset(other for other in reach[path] if path in reach[other]) for path in graph}
    return sorted(sorted(ring) for ring in rings if ring)


def _reached(graph: Mapping[Path, set[Path]], start: Path) -> set[Path]:
    """Return the files that `start` reaches by imports, including itself only if it is part of a cycle."""
    reached: set[Path] = set()
    waiting = set(graph[start])
    while waiting:
        path = waiting.pop()
        reached.add(path)
        waiting |= graph[path] - reached
    return reached


def kernel_references(text: str, path: Path) -> set[tuple[str, str]] | None:
    """Return the modules and names of motif that kernels in the source `text` refer to.

    None if there is no kernel. A kernel is a function decorated with a name that ends in "kernel" and comes
    from motif/compiler/jit.py.
    """
    origin = {it.name: it.module for it in imports(text, path) if it.module.split(".")[0] == "motif"}
    makers = {name for name, module in origin.items() if module == _JIT and name.endswith("kernel")}
    if not makers:
        return None
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator).partition("(")[0] in makers for decorator in node.decorator_list)
    ]
    if not functions:
        return None
    bodies = (node for function in functions for line in function.body for node in ast.walk(line))
    names = {node.id for node in bodies if isinstance(node, ast.Name)}
    return {(origin[name], name) for name in names & set(origin)}


class CompiledCore:
    """Files with kernels in the folders of `CORE`, and what those called from other files may import."""

    def __init__(self, texts: Mapping[Path, str]) -> None:
        """Take the sources of all files by their paths relative to the root."""
        self._files = {_dotted(path): path for path in texts}
        self._graph = file_graph(texts)
        references = {path: kernel_references(text, path) for path, text in texts.items()}
        self.references = {path: names for path, names in references.items() if names is not None}
        """References of kernels, by file; see `kernel_references`."""
        called = {self._files[module] for names in self.references.values() for module, _ in names}
        self.called = sorted(path for path in called & set(self.references) if path.parts[1] in CORE)
        """Files whose kernels are called by other files."""
        self._within = self._files_within()

    def breaches(self) -> list[str]:
        """Return references of kernels, and imports of called files, beyond kernels and constants."""
        lines = [
            f"{path}: a kernel refers to {name} of {self._files[module]}"
            for path, names in self.references.items()
            for module, name in sorted(names)
            if path.parts[1] in CORE and self._files[module] not in self._within
        ]
        lines += [
            f"{path}: its kernels are called from other files, but it imports {imported}"
            for path in self.called
            for imported in sorted(self._graph[path])
            if imported not in self._within
        ]
        return lines

    def _files_within(self) -> set[Path]:
        """Return the files that contain only kernels and constants, as far as motif is concerned."""
        firm = {*self.references, *_WITHIN}
        within = firm | {path for path in self._graph if path.parts[1] not in CELLARS}
        while True:
            leaks = {path for path in within - firm if not self._graph[path] <= within}
            if not leaks:
                return within
            within -= leaks
