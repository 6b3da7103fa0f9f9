"""The architecture page shows the packages as they are."""

from __future__ import annotations

import re
from dataclasses import asdict

from tests.pages import generated_in
from tests.project.sources import Source
from tests.project.structure import (
    PAGE,
    PICTURE,
    ROWS,
    STRUCTURE,
    Structure,
    calls_of_the_main_job,
    drawing,
    function_lengths,
    measured,
    table,
)

WRITE = "run `python -m tests.project.structure`"


def numbers_in(text: str) -> list[int]:
    """The last number of each row of a table."""
    return [
        int(found.replace(",", "")) for found in re.findall(r"([\d,]+) \|$", text, re.MULTILINE)
    ]


def test_the_picture_shows_the_floors() -> None:
    assert PICTURE.read_text("utf-8") == drawing(), WRITE


def test_the_table_holds_what_is_measured() -> None:
    """To one in twenty: a line more does not make the page wrong."""
    shown = generated_in(PAGE.read_text("utf-8"), STRUCTURE)
    now = measured()
    assert re.sub(r"[\d,]+ \|$", "", shown, flags=re.MULTILINE) == re.sub(
        r"[\d,]+ \|$", "", table(now), flags=re.MULTILINE
    ), WRITE
    for number, value in zip(numbers_in(shown), asdict(now).values(), strict=True):
        assert 20 * abs(number - value) <= value, WRITE


def test_every_measure_has_a_row() -> None:
    assert list(ROWS) == list(Structure.__dataclass_fields__)


def test_the_main_job_enters_files() -> None:
    assert 10 < calls_of_the_main_job()["files_entered"] < 100


def test_docstrings_do_not_make_functions_long() -> None:
    text = 'def f():\n    """A\n\n    B.\n    """\n    return 1\n\n\ndef g(): ...\n'
    assert list(function_lengths(Source("a.py", text))) == [2, 1]
