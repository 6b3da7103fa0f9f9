"""The pictures of the documentation are those that the code draws."""

from __future__ import annotations

from typing import Final

import pytest

from tests.figures import IMAGES, figures

DRAWN: Final = figures()


@pytest.mark.parametrize("file", DRAWN)
def test_figures_of_the_documentation_are_up_to_date(file: str) -> None:
    assert (IMAGES / file).read_text("utf-8") == DRAWN[file]
