"""What every module keeps: short functions, one name for one thing, a reason for each limit."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from tests.cases import for_all
from tests.project.failures import fail_with
from tests.project.floors import LIMIT_WORDS, SAME_CLASS_NAME, WORDS_FOR_MAX
from tests.project.sources import PACKAGES, Source, sources
from tests.project.structure import function_lengths

MAX_FUNCTION_LINES = 60
RUNS_TEXT = frozenset(
    ["__import__", "compile", "eval", "exec", "literal_eval", "parse_expr", "sympify", "S"]
)
"""Functions that run text as Python, sympy's readers among them."""


def long_functions(source: Source) -> list[str]:
    """The functions with more lines than allowed, less their docstrings."""
    return [name for name, length in function_lengths(source) if length > MAX_FUNCTION_LINES]


def text_runners(source: Source) -> list[str]:
    """The calls in a file of Python's and sympy's functions that run text."""
    own = {name for name, _ in function_lengths(source)}
    return [each for each in calls(source) if _runs_text(each) and each not in own]


def calls(source: Source) -> list[str]:
    """What a file calls, as it is written there."""
    nodes = source.nodes(ast.Call)
    return [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]


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
    found = ((source.path, name) for source in sources("tests") for name in calls(source))
    fail_with(f"{path} calls {name}" for path, name in found if name.endswith("importorskip"))


def test_every_folder_with_modules_is_a_package() -> None:
    paths = {source.path for source in sources(*PACKAGES)}
    folders = sorted({path.rpartition("/")[0] for path in paths})
    fail_with(f"{folder}/__init__.py" for folder in folders if f"{folder}/__init__.py" not in paths)


def test_a_long_function_is_seen() -> None:
    body = "\n".join("    x = 1" for _ in range(MAX_FUNCTION_LINES))
    assert long_functions(Source("a.py", f"def f():\n{body}")) == ["f"]
    assert long_functions(Source("a.py", f"def f():\n    '''{body}'''")) == []


RUNNING = {
    "eval('1')": ["eval"],
    "ast.literal_eval('1')": ["ast.literal_eval"],
    "sympy.sympify('x')": ["sympy.sympify"],
    "re.compile('x')": [],
    "simplifier.parse_expr('x')": [],
    "def parse_expr(text): ...\nparse_expr('x')": [],
}


@for_all([*RUNNING.items()])
def test_a_call_that_runs_text_is_seen(text: str, expected: list[str]) -> None:
    assert text_runners(Source("a.py", text)) == expected


def shared(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that occur more than once, and the files that they are in."""
    files: dict[str, list[str]] = defaultdict(list)
    for name, path in names:
        files[name].append(path)
    return {name: paths for name, paths in files.items() if len(paths) > 1}


def class_names(files: Iterable[Source]) -> Iterator[tuple[str, str]]:
    """Every class, and the file that it is in; a leading underscore does not make another name."""
    for source in files:
        for node in source.nodes(ast.ClassDef):
            if isinstance(node, ast.ClassDef):
                yield node.name.lstrip("_"), source.path


def limits_without_reason(source: Source) -> list[str]:
    """The constants that bound something and have neither a comment nor a docstring."""
    lines = source.text.splitlines()
    texts = {before for before, after in pairwise(source.tree.body) if isinstance(after, ast.Expr)}
    return [
        f"{source.path}:{statement.lineno}: {name}"
        for name, statement in constants(source)
        if name.strip("_").split("_")[0] in LIMIT_WORDS and name.isupper()
        if statement not in texts and not _has_comment(lines, statement)
    ]


def other_words_for_max(source: Source) -> list[str]:
    """The constants whose names begin with another word for a maximum."""
    return [
        f"{source.path}:{statement.lineno}: {name}"
        for name, statement in constants(source)
        if name.strip("_").startswith(tuple(f"{word}_" for word in WORDS_FOR_MAX))
    ]


def constants(source: Source) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a module gives to values, and where."""
    for statement in source.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            is_plain = isinstance(statement, ast.Assign)
            for target in statement.targets if is_plain else [statement.target]:
                if isinstance(target, ast.Name):
                    yield target.id, statement


def _has_comment(lines: list[str], statement: ast.stmt) -> bool:
    above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
    return above.startswith("#") or "  # " in lines[statement.lineno - 1]


def differences(found: Mapping[str, list[str]], allowed: Mapping[str, str]) -> Iterator[str]:
    """The shared names that nothing allows, and the allowed ones that are not shared."""
    for name, paths in found.items():
        if name not in allowed:
            yield f"{name}: {', '.join(paths)}"
    yield from (f"{name} is not shared" for name in allowed.keys() - found.keys())


def test_no_two_classes_carry_one_name() -> None:
    fail_with(differences(shared(class_names(sources(*PACKAGES))), SAME_CLASS_NAME))


def test_every_limit_has_a_reason() -> None:
    fail_with(found for source in sources(*PACKAGES) for found in limits_without_reason(source))


def test_the_word_for_a_limit_is_max() -> None:
    files = sources(*PACKAGES, "benchmarks", "tests")
    fail_with(found for source in files for found in other_words_for_max(source))


def test_another_word_for_max_is_seen() -> None:
    source = Source("a.py", "_MOST_TERMS: int = 24\nMAX_TERMS = 24\nMOST = 1")
    assert other_words_for_max(source) == ["a.py:1: _MOST_TERMS"]


LIMITS = {
    "MAX_TERMS = 24": True,
    "_MAX_TERMS: Final = 24": True,
    "MAX_TERMS = 24\nOTHER = 25\n'''Text.'''": True,
    "MAX_TERMS = 24\n'''Each is compared with each.'''": False,
    "# Each is compared with each.\nMAX_TERMS = 24": False,
    "MAX_TERMS = 24  # each is compared with each": False,
    "MAXIMUM = 24": False,
    "def f():\n    MAX_TERMS = 24": False,
}


@for_all([*LIMITS.items()])
def test_a_limit_without_reason_is_seen(text: str, is_wrong: bool) -> None:
    assert bool(limits_without_reason(Source("a.py", text))) == is_wrong


def test_a_shared_name_is_seen() -> None:
    files = [Source("a.py", "class A: ..."), Source("b.py", "class B:\n    class _A: ...")]
    assert shared(class_names(files)) == {"A": ["a.py", "b.py"]}
