"""What every module of the project keeps: a docstring, short functions, no text run as Python."""

from __future__ import annotations

import ast
from typing import TypeAlias

import pytest

from tests.project.failures import fail_with
from tests.project.sources import PACKAGES, Source, sources

MAX_FUNCTION_LINES = 60
RUNS_TEXT = frozenset(
    ["__import__", "compile", "eval", "exec", "literal_eval", "parse_expr", "sympify", "S"]
)
"""Functions that run text as Python, sympy's readers among them."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def long_functions(source: Source) -> list[str]:
    """The functions with more lines than allowed, less their docstrings."""
    functions = [node for node in source.nodes(ast.FunctionDef) if isinstance(node, _Function)]
    return [function.name for function in functions if _length(function) > MAX_FUNCTION_LINES]


def _length(function: _Function) -> int:
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    docstring = ast.get_docstring(function, clean=False)
    return lines if docstring is None else lines - docstring.count("\n") - 1


def text_runners(source: Source) -> list[str]:
    """The calls in a file of Python's and sympy's functions that run text."""
    calls = [node.func for node in source.nodes(ast.Call) if isinstance(node, ast.Call)]
    own = {name.name for name in source.nodes(ast.FunctionDef) if isinstance(name, ast.FunctionDef)}
    return [
        called for called in map(ast.unparse, calls) if _runs_text(called) and called not in own
    ]


def _runs_text(called: str) -> bool:
    owner, _, name = called.rpartition(".")
    return name in RUNS_TEXT and owner in {"", "ast", "builtins", "sympy"}


def test_every_module_says_what_it_is_for() -> None:
    files = sources(*PACKAGES, "tests", "benchmarks")
    fail_with(f"{f.path} has no docstring" for f in files if not ast.get_docstring(f.tree))


def test_functions_are_short() -> None:
    files = sources(*PACKAGES, "tests", "benchmarks")
    fail_with(f"{f.path}: {name} is long" for f in files for name in long_functions(f))


def test_text_is_never_run() -> None:
    files = sources(*PACKAGES)
    fail_with(f"{f.path} calls {name}" for f in files for name in text_runners(f))


def test_what_is_missing_is_said_by_the_marker() -> None:
    """CI runs what skipped by the marker ``needs``; it would not find an ``importorskip``."""
    calls = (
        (source.path, ast.unparse(node.func))
        for source in sources("tests")
        for node in source.nodes(ast.Call)
        if isinstance(node, ast.Call)
    )
    fail_with(f"{path} calls {name}" for path, name in calls if name.endswith("importorskip"))


def test_every_folder_with_modules_is_a_package() -> None:
    paths = {source.path for source in sources(*PACKAGES)}
    folders = sorted({path.rpartition("/")[0] for path in paths})
    fail_with(f"{folder}/__init__.py" for folder in folders if f"{folder}/__init__.py" not in paths)


def test_a_long_function_is_seen() -> None:
    body = "\n".join("    x = 1" for _ in range(MAX_FUNCTION_LINES))
    assert long_functions(Source("a.py", f"def f():\n{body}")) == ["f"]
    assert long_functions(Source("a.py", f"def f():\n    '''{body}'''")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eval('1')", ["eval"]),
        ("ast.literal_eval('1')", ["ast.literal_eval"]),
        ("sympy.sympify('x')", ["sympy.sympify"]),
        ("re.compile('x')", []),
        ("simplifier.parse_expr('x')", []),
        ("def parse_expr(text): ...\nparse_expr('x')", []),
    ],
)
def test_a_call_that_runs_text_is_seen(text: str, expected: list[str]) -> None:
    assert text_runners(Source("a.py", text)) == expected
