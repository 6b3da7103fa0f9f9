"""What every module keeps: short functions, one name for one thing, a reason for each limit."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

import pytest

from tests.cases import for_all
from tests.project.failures import fail_with
from tests.project.floors import LIMIT_WORDS, SAME_CLASS_NAME, WORDS_FOR_MAX
from tests.project.sources import PACKAGES, Source, sources
from tests.project.structure import function_lengths

MAX_FUNCTION_LINES = 60
RUNS_TEXT = {"__import__", "compile", "eval", "exec", "literal_eval", "parse_expr", "sympify", "S"}
"""Functions that run text as Python, sympy's readers among them."""


def long_functions(source: Source) -> list[str]:
    """The functions with more lines than allowed, less their docstrings."""
    return [name for name, length in function_lengths(source) if length > MAX_FUNCTION_LINES]


def text_runners(source: Source) -> list[str]:
    """The calls in a file of Python's and sympy's functions that run text."""
    own = {name for name, _ in function_lengths(source)}
    return [each for each in calls(source) if _runs_text(each) and each not in own]


def _runs_text(called: str) -> bool:
    owner, _, name = called.rpartition(".")
    return name in RUNS_TEXT and owner in {"", "ast", "builtins", "sympy"}


def calls(source: Source) -> list[str]:
    nodes = source.nodes(ast.Call)
    return [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]


def without_docstring(source: Source) -> list[str]:
    """That a module does not say what it is for."""
    return [] if ast.get_docstring(source.tree) else ["no docstring"]


def hidden_skips(source: Source) -> list[str]:
    """CI runs what skipped by the marker ``needs``; it would not find an ``importorskip``."""
    return [name for name in calls(source) if name.endswith("importorskip")]


def limits_without_reason(source: Source) -> list[str]:
    """The constants that bound something and have neither a comment nor a docstring."""
    lines = source.text.splitlines()
    texts = {before for before, after in pairwise(source.tree.body) if isinstance(after, ast.Expr)}
    return [
        name
        for name, statement in constants(source)
        if name.strip("_").split("_")[0] in LIMIT_WORDS and name.isupper()
        if statement not in texts and not _has_comment(lines, statement)
    ]


def _has_comment(lines: list[str], statement: ast.stmt) -> bool:
    above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
    return above.startswith("#") or "  # " in lines[statement.lineno - 1]


def possessive_groups(source: Source) -> list[str]:
    """Possessive repeats of groups in regular expressions.

    Before Python 3.11.5 they end behind what the last attempt read in vain (gh-106052 of CPython):
    ``(?>(?:...)*)`` is the same, and right.
    """
    nodes = source.nodes(ast.Constant)
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [found for text in texts if isinstance(text, str) for found in _POSSESSIVE.findall(text)]


_POSSESSIVE = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")


def other_words_for_max(source: Source) -> list[str]:
    """The constants whose names begin with another word for a maximum."""
    words = tuple(f"{word}_" for word in WORDS_FOR_MAX)
    return [name for name, _ in constants(source) if name.strip("_").startswith(words)]


def constants(source: Source) -> Iterator[tuple[str, ast.stmt]]:
    for statement in source.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            is_plain = isinstance(statement, ast.Assign)
            for target in statement.targets if is_plain else [statement.target]:
                if isinstance(target, ast.Name):
                    yield target.id, statement


Rule: TypeAlias = "Callable[[Source], list[str]]"
RULES: list[tuple[Rule, tuple[str, ...]]] = [
    (without_docstring, (*PACKAGES, "tests", "benchmarks")),
    (long_functions, (*PACKAGES, "tests", "benchmarks")),
    (other_words_for_max, (*PACKAGES, "tests", "benchmarks")),
    (text_runners, PACKAGES),
    (possessive_groups, PACKAGES),
    (limits_without_reason, PACKAGES),
    (hidden_skips, ("tests",)),
]
"""What no file in some folders has."""

LONG = "\n".join("    x = 1" for _ in range(MAX_FUNCTION_LINES))
SEEN: list[tuple[Rule, str, list[str]]] = [
    (without_docstring, "import ast", ["no docstring"]),
    (long_functions, f"def f():\n{LONG}", ["f"]),
    (long_functions, f"def f():\n    '''{LONG}'''", []),
    (hidden_skips, "pytest.importorskip('x')", ["pytest.importorskip"]),
    (text_runners, "eval('1')", ["eval"]),
    (text_runners, "ast.literal_eval('1')", ["ast.literal_eval"]),
    (text_runners, "sympy.sympify('x')", ["sympy.sympify"]),
    (text_runners, "re.compile('x')", []),
    (text_runners, "simplifier.parse_expr('x')", []),
    (text_runners, "def parse_expr(text): ...\nparse_expr('x')", []),
    (possessive_groups, "A = re.compile(r'(?:a++b)*+')", [")*+"]),
    (possessive_groups, "A = rf'({B}){{1,2}}+', r'(a){2}+'", ["){2}+", "){1,2}+"]),
    (possessive_groups, "A = r'(?>(?:a++b)*)(c)+'", []),
    (other_words_for_max, "_MOST_TERMS: int = 24\nMAX_TERMS = 24\nMOST = 1", ["_MOST_TERMS"]),
    (limits_without_reason, "MAX_TERMS = 24", ["MAX_TERMS"]),
    (limits_without_reason, "_MAX_TERMS: Final = 24", ["_MAX_TERMS"]),
    (limits_without_reason, "MAX_TERMS = 24\nOTHER = 25\n'''Text.'''", ["MAX_TERMS"]),
    (limits_without_reason, "MAX_TERMS = 24\n'''Each is compared with each.'''", []),
    (limits_without_reason, "# Each is compared with each.\nMAX_TERMS = 24", []),
    (limits_without_reason, "MAX_TERMS = 24  # each is compared with each", []),
    (limits_without_reason, "MAXIMUM = 24", []),
    (limits_without_reason, "def f():\n    MAX_TERMS = 24", []),
]


@pytest.mark.parametrize(("rule", "folders"), RULES, ids=[rule.__name__ for rule, _ in RULES])
def test_every_file_keeps_the_rules(rule: Rule, folders: tuple[str, ...]) -> None:
    fail_with(f"{each.path}: {found}" for each in sources(*folders) for found in rule(each))


@for_all(SEEN)
def test_what_breaks_a_rule_is_seen(rule: Rule, text: str, expected: list[str]) -> None:
    assert rule(Source("a.py", text)) == expected


def test_every_folder_with_modules_is_a_package() -> None:
    paths = {source.path for source in sources(*PACKAGES)}
    folders = sorted({path.rpartition("/")[0] for path in paths})
    fail_with(f"{folder}/__init__.py" for folder in folders if f"{folder}/__init__.py" not in paths)


def shared_classes(files: Iterable[Source]) -> dict[str, list[str]]:
    """The classes of one name, and where; a leading underscore does not make another name."""
    found: dict[str, list[str]] = defaultdict(list)
    for source in files:
        for node in source.nodes(ast.ClassDef):
            found[getattr(node, "name", "").lstrip("_")].append(source.path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_no_two_classes_carry_one_name() -> None:
    found = shared_classes(sources(*PACKAGES))
    fail_with(f"{name}: {paths}" for name, paths in found.items() if name not in SAME_CLASS_NAME)
    fail_with(f"{name} is not shared" for name in SAME_CLASS_NAME.keys() - found.keys())
    files = [Source("a.py", "class A: ..."), Source("b.py", "class B:\n    class _A: ...")]
    assert shared_classes(files) == {"A": ["a.py", "b.py"]}
