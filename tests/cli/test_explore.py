"""`explore` writes a page, and says what it wrote."""

from __future__ import annotations

import pytest

from ops import explore, hlo
from tests.cli.command_line import SOFTMAX, CommandLine


def test_the_page_is_that_of_the_library(cli: CommandLine) -> None:
    page = cli.folder / "page.html"
    said = cli("explore", SOFTMAX, "-o", page)
    assert page.read_text("utf-8") == explore(hlo.load(SOFTMAX)).html
    size = page.stat().st_size
    assert said == f"{page}: 28 instructions, {size:,} bytes\n"
    (written,) = cli.document("explore", SOFTMAX, "-o", page)["pages"]
    about = {"module": "jit_softmax", "instructions": 28, "page": str(page), "bytes": size}
    assert written == about


WRONG = {
    "no module": ("missing.hlo", "page.html", "error: missing.hlo: No such file or directory\n"),
    "a picture": (SOFTMAX, "page.png", "page.png: the page is HTML; expected a name in .html\n"),
    "no folder": (SOFTMAX, "missing/page.html", "missing/page.html: No such file or directory\n"),
}


@pytest.mark.parametrize(("file", "output", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_written_is_refused(
    file: str, output: str, message: str, cli: CommandLine
) -> None:
    assert cli.error("explore", file, "-o", cli.folder / output).endswith(message)


def test_a_file_to_write_must_be_named(cli: CommandLine) -> None:
    assert "-o" in cli.misuse("explore", SOFTMAX)
