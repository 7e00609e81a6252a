"""Size limits in the package; the lists of exceptions may only become shorter."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "motif"
FILE_LINES, FUNCTION_LINES, PARAMETERS, FIELDS = 700, 60, 12, 15
LONG_FUNCTIONS = {"analyse", "benchmark", "compare_plays", "fit", "match", "sample"}
"""Long only because of their docstrings, which are the help of commands or the library's reference."""
MANY_PARAMETERS: set[str] = set()

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def nodes() -> list[ast.AST]:
    paths = sorted(ROOT.rglob("*.py"))
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]


def lines_of(function: Function) -> int:
    return function.end_lineno - function.lineno + 1


def code_lines_of(function: Function) -> int:
    """Count the lines of a function without its docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    return lines_of(function) - (first.end_lineno - first.lineno + 1 if has_docstring else 0)


def test_files_are_not_long():
    lengths = {path: path.read_text("utf-8").count("\n") for path in ROOT.rglob("*.py")}
    assert [path for path, length in lengths.items() if length > FILE_LINES] == []


def test_functions_are_not_long():
    functions = [node for node in nodes() if isinstance(node, Function)]
    assert {node.name for node in functions if lines_of(node) > FUNCTION_LINES} == LONG_FUNCTIONS
    assert {node.name for node in functions if code_lines_of(node) > FUNCTION_LINES} == set()
    arguments = {node.name: node.args for node in functions}
    many = {
        name
        for name, of in arguments.items()
        if len(of.posonlyargs) + len(of.args) + len(of.kwonlyargs) > PARAMETERS
    }
    assert many == MANY_PARAMETERS


def test_classes_have_unique_names_and_few_fields():
    classes = [node for node in nodes() if isinstance(node, ast.ClassDef)]
    counts = Counter(node.name for node in classes if not node.name.startswith("_"))
    assert [name for name, count in counts.items() if count > 1] == []
    fields = {node.name: sum(isinstance(part, ast.AnnAssign) for part in node.body) for node in classes}
    assert [name for name, count in fields.items() if count > FIELDS] == []
