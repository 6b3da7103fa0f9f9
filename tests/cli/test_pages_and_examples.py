"""Pages and examples: what `explore` writes, and what comes with the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops import explore, hlo
from ops.cli import others
from tests.cli.command_line import SOFTMAX, CommandLine
from tests.project.sources import ROOT

EXAMPLES = ROOT / "examples"


def test_all_are_listed_and_one_is_printed_as_it_is(cli: CommandLine) -> None:
    found = [*sorted(EXAMPLES.glob("*.hlo")), *sorted(EXAMPLES.glob("passes/*.py"))]
    assert cli("example").split() == [each.name for each in found]
    text = (EXAMPLES / "softmax.hlo").read_text("utf-8")
    assert cli("example", "softmax") == cli("example", "softmax.hlo") == text
    document = cli.document("example", "softmax")
    assert document["examples"] == [{"file": "softmax.hlo", "text": text}]


def test_a_wheel_has_them_inside(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    (cli.folder / "examples" / "passes").mkdir(parents=True)
    cli.file("HloModule one\n", "examples/one.hlo")

    def installed(_: str) -> Path:
        return cli.folder

    monkeypatch.setattr(others, "resources", installed)
    assert cli("example", "one") == "HloModule one\n"


def test_the_page_is_that_of_the_library(cli: CommandLine) -> None:
    page = cli.folder / "page.html"
    said = cli("explore", SOFTMAX, "-o", page)
    assert page.read_text("utf-8") == explore(hlo.load(SOFTMAX)).html
    size = page.stat().st_size
    assert said == f"{page}: 28 instructions, {size:,} bytes\n"
    (written,) = cli.document("explore", SOFTMAX, "-o", page)["pages"]
    about = {"module": "jit_softmax", "instructions": 28, "page": str(page), "bytes": size}
    assert written == about
