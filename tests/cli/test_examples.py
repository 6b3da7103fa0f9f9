"""The examples that come with the library, from a checkout and from a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.cli import others
from tests.cli.command_line import CommandLine
from tests.project.sources import ROOT

EXAMPLES = ROOT / "examples"


def test_all_are_listed(cli: CommandLine) -> None:
    found = [*sorted(EXAMPLES.glob("*.hlo")), *sorted(EXAMPLES.glob("passes/*.py"))]
    assert cli("example").split() == [each.name for each in found]


def test_one_is_printed_as_it_is(cli: CommandLine) -> None:
    text = (EXAMPLES / "softmax.hlo").read_text("utf-8")
    assert cli("example", "softmax") == cli("example", "softmax.hlo") == text
    document = cli.document("example", "softmax")
    assert document["examples"] == [{"file": "softmax.hlo", "text": text}]


WRONG = {
    "sofmax": "sofmax; did you mean softmax?\n",
    "softmax.py": "softmax.py; did you mean softmax?\n",
    "xyzzy": "xyzzy; expected one of layernorm, mean_square, ",
}


@pytest.mark.parametrize(("name", "message"), WRONG.items(), ids=WRONG)
def test_what_is_no_example_is_refused(name: str, message: str, cli: CommandLine) -> None:
    expected = f"error: example: there is no example {message}"
    assert cli.error("example", name).startswith(expected)


def test_a_wheel_has_them_inside_of_its_package(
    monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    (cli.folder / "examples" / "passes").mkdir(parents=True)
    cli.file("HloModule one\n", "examples/one.hlo")

    def installed(_: str) -> Path:
        return cli.folder

    monkeypatch.setattr(others, "resources", installed)
    assert cli("example", "one") == "HloModule one\n"
