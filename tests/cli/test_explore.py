"""`explore` writes a page, and says what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops import explore, hlo
from ops.cli import main

SOFTMAX = "examples/softmax.hlo"


def test_the_page_is_that_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", SOFTMAX, "-o", str(page)]) == 0
    assert page.read_text("utf-8") == explore(hlo.load(SOFTMAX)).html
    size = page.stat().st_size
    assert capsys.readouterr().out == f"{page}: 28 instructions, {size:,} bytes\n"


def test_json_says_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", SOFTMAX, "-o", str(page), "--json"]) == 0
    (written,) = json.loads(capsys.readouterr().out)["pages"]
    size = page.stat().st_size
    assert written == {
        "module": "jit_softmax",
        "instructions": 28,
        "page": str(page),
        "bytes": size,
    }


WRONG = {
    "no module": ("missing.hlo", "page.html", "error: missing.hlo: No such file or directory\n"),
    "a picture": (SOFTMAX, "page.png", "page.png: the page is HTML; expected a name in .html\n"),
    "no folder": (SOFTMAX, "missing/page.html", "missing/page.html: No such file or directory\n"),
}


@pytest.mark.parametrize(("file", "output", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_written_is_refused(
    file: str, output: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", file, "-o", str(tmp_path / output)]) == 1
    assert capsys.readouterr().err.endswith(message)


def test_a_file_to_write_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["explore", SOFTMAX])
    assert "-o" in capsys.readouterr().err
