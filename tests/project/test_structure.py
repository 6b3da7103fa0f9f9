"""The picture of the architecture page shows the floors; the measures of the code are right."""

from __future__ import annotations

from tests.project import structure
from tests.project.sources import Source

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
    drawn = structure.PICTURE.read_text("utf-8")
    assert drawn == structure.drawing(), "run `python -m tests.project.structure`"


def test_code_is_counted_without_docstrings_and_the_main_job_enters_files() -> None:
    assert [*structure.function_lengths(FILE)] == [("f", 2), ("g", 1)]
    assert (structure.code_lines(FILE), structure.import_lines(FILE)) == (7, 4)
    entered, deepest = structure.calls_of(next(iter(structure.QUESTIONS.values())))
    assert 10 < entered < 100
    assert deepest > 10
