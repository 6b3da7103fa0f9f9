"""What every module of the project keeps: a docstring, short functions, no text run as Python."""

from __future__ import annotations

import ast
from typing import TypeAlias

import pytest

from tests.project.sources import PACKAGES, Source, path_of, sources

LONGEST_FUNCTION = 60
RUNS_TEXT = frozenset(
    ["__import__", "compile", "eval", "exec", "literal_eval", "parse_expr", "sympify", "S"]
)
"""Functions that run text as Python, sympy's readers among them."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def long_functions(source: Source) -> list[str]:
    """The functions with more lines than allowed, less their docstrings."""
    functions = [node for node in source.nodes(ast.FunctionDef) if isinstance(node, _Function)]
    return [function.name for function in functions if _length(function) > LONGEST_FUNCTION]


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


@pytest.mark.parametrize("source", sources(*PACKAGES, "tests", "benchmarks"), ids=path_of)
def test_module_says_what_it_is_for(source: Source) -> None:
    assert ast.get_docstring(source.tree), f"{source.path} has no docstring"


@pytest.mark.parametrize("source", sources(*PACKAGES, "tests", "benchmarks"), ids=path_of)
def test_functions_are_short(source: Source) -> None:
    assert long_functions(source) == []


@pytest.mark.parametrize("source", sources(*PACKAGES), ids=path_of)
def test_text_is_never_run(source: Source) -> None:
    assert text_runners(source) == []


@pytest.mark.parametrize("source", sources("tests"), ids=path_of)
def test_what_is_missing_is_said_by_the_marker(source: Source) -> None:
    """CI runs what skipped by the marker ``needs``; it would not find an ``importorskip``."""
    called = [ast.unparse(n.func) for n in source.nodes(ast.Call) if isinstance(n, ast.Call)]
    assert not [name for name in called if name.endswith("importorskip")]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_with_modules_is_a_package(package: str) -> None:
    paths = {source.path for source in sources(package)}
    folders = {path.rpartition("/")[0] for path in paths}
    assert sorted(folder for folder in folders if f"{folder}/__init__.py" not in paths) == []


def test_a_long_function_is_seen() -> None:
    body = "\n".join("    x = 1" for _ in range(LONGEST_FUNCTION))
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
