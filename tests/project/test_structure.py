"""The picture of the architecture page shows the floors; the measures of the code are right."""

from __future__ import annotations

from tests.project.sources import Source
from tests.project.structure import (
    PICTURE,
    QUESTIONS,
    calls_of,
    code_lines,
    drawing,
    function_lengths,
    import_lines,
)

WRITE = "run `python -m tests.project.structure`"

FILE = Source(
    "a.py",
    '''"""A file."""

import ast
from html import (
    escape,
)

def f():
    """A

    B.
    """
    return 1  # one


def g(): ...
''',
)


def test_the_picture_shows_the_floors() -> None:
    assert PICTURE.read_text("utf-8") == drawing(), WRITE


def test_the_main_job_enters_files() -> None:
    entered, deepest = calls_of(next(iter(QUESTIONS.values())))
    assert 10 < entered < 100
    assert deepest > 10


def test_docstrings_do_not_make_functions_long() -> None:
    assert list(function_lengths(FILE)) == [("f", 2), ("g", 1)]


def test_only_lines_with_code_are_counted() -> None:
    assert (code_lines(FILE), import_lines(FILE)) == (7, 4)
