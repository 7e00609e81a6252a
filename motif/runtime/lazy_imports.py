"""Names that a package imports on first use."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from motif.runtime.errors import did_you_mean


def lazy_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a `package` whose names are imported on first use.

    The names are those that its source `file` exports to type checkers under ``if TYPE_CHECKING:``, by
    ``import name as name`` or by an assignment of an imported name.
    """

    @cache
    def places() -> dict[str, tuple[str, str]]:
        imported, exported = {}, {}
        parsed = ast.parse(Path(file).read_text("utf-8")).body
        for node in chain.from_iterable(node.body for node in parsed if isinstance(node, ast.If)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    imported[alias.name] = str(node.module), alias.name
                    if alias.asname:
                        exported[alias.asname] = imported[alias.name]
            elif isinstance(node, ast.Assign):
                home = imported[ast.unparse(node.value)]
                exported |= {ast.unparse(target): home for target in node.targets}
        return exported

    def attribute(name: str) -> object:
        if name not in places():
            hint = did_you_mean(name, places()) if not name.startswith("_") else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home, there = places()[name]
        value = getattr(import_module(home), there)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: sorted(places())
