"""Pages about JAX: the table of primitives, and programs that print what stands below them."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from tests.extent import in_ci
from tests.jax.documentation import PAGE, TABLE, table
from tests.pages import generated_in
from tests.project.sources import ROOT

pytestmark = pytest.mark.needs("jax")


@in_ci
def test_the_page_says_what_is_known_of_each_primitive() -> None:
    if not version("jax").startswith("0.10."):
        pytest.skip("the primitives are those of JAX 0.10")
    page = PAGE.read_text("utf-8")
    assert generated_in(page, TABLE) == table(), "python -m tests.jax.documentation writes it"


def test_the_first_program_of_the_readme_prints_what_stands_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"```python\n(import jax.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert found
    exec(found[1], {})  # noqa: S102
    assert capsys.readouterr().out == found[2]
