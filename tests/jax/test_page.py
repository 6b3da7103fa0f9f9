"""The table of primitives in docs/jax.md is what the installed JAX gives."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from tests.extent import in_ci
from tests.jax.documentation import PAGE, TABLE, table
from tests.pages import generated_in

pytestmark = pytest.mark.needs("jax")


@in_ci
def test_the_page_says_what_is_known_of_each_primitive() -> None:
    if not version("jax").startswith("0.10."):
        pytest.skip("the primitives are those of JAX 0.10")
    page = PAGE.read_text("utf-8")
    assert generated_in(page, TABLE) == table(), "python -m tests.jax.documentation writes it"
