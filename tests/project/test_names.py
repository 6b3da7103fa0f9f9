"""Names: one for one thing, and a reason beside every limit."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

import pytest

from tests.project.failures import fail_with
from tests.project.floors import LIMIT_WORDS, SAME_CLASS_NAME, WORDS_FOR_MAX
from tests.project.sources import PACKAGES, Source, sources


@lru_cache
def product() -> list[Source]:
    """The modules of the packages."""
    return sources(*PACKAGES)


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
    body = [*source.tree.body, None]
    return [
        f"{source.path}:{statement.lineno}: {name}"
        for statement, following in pairwise(body)
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for name in _assigned(statement)
        if name.strip("_").split("_")[0] in LIMIT_WORDS and name.isupper()
        if not (_is_text(following) or _has_comment(lines, statement))
    ]


def other_words_for_max(source: Source) -> list[str]:
    """The constants whose names begin with another word for a maximum."""
    return [
        f"{source.path}:{statement.lineno}: {name}"
        for statement in source.tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for name in _assigned(statement)
        if name.strip("_").startswith(tuple(f"{word}_" for word in WORDS_FOR_MAX))
    ]


def _assigned(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_text(statement: ast.stmt | None) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


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
    fail_with(differences(shared(class_names(product())), SAME_CLASS_NAME))


def test_every_limit_has_a_reason() -> None:
    fail_with(found for source in product() for found in limits_without_reason(source))


def test_the_word_for_a_limit_is_max() -> None:
    fail_with(
        found
        for source in sources(*PACKAGES, "benchmarks", "tests")
        for found in other_words_for_max(source)
    )


def test_another_word_for_max_is_seen() -> None:
    source = Source("a.py", "_MOST_TERMS: int = 24\nMAX_TERMS = 24\nMOST = 1")
    assert other_words_for_max(source) == ["a.py:1: _MOST_TERMS"]


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("MAX_TERMS = 24", True),
        ("_MAX_TERMS: Final = 24", True),
        ("MAX_TERMS = 24\nOTHER = 25\n'''Text.'''", True),
        ("MAX_TERMS = 24\n'''Each is compared with each.'''", False),
        ("# Each is compared with each.\nMAX_TERMS = 24", False),
        ("MAX_TERMS = 24  # each is compared with each", False),
        ("MAXIMUM = 24", False),
        ("def f():\n    MAX_TERMS = 24", False),
    ],
)
def test_a_limit_without_reason_is_seen(text: str, is_wrong: bool) -> None:
    assert bool(limits_without_reason(Source("a.py", text))) == is_wrong


def test_a_shared_name_is_seen() -> None:
    files = [Source("a.py", "class A: ..."), Source("b.py", "class B:\n    class _A: ...")]
    assert shared(class_names(files)) == {"A": ["a.py", "b.py"]}
