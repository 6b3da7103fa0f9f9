"""The pictures of the documentation are those that the code draws."""

from __future__ import annotations

import pytest

from tests.figures import FILES, IMAGES, drawn


@pytest.mark.parametrize("file", FILES)
def test_figures_of_the_documentation_are_up_to_date(file: str) -> None:
    assert (IMAGES / file).read_text("utf-8") == drawn(file)
