"""What a test finds in many files at once, said in one failure: a line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def fail_with(lines: Iterable[str]) -> None:
    """Fail with these lines as the whole message; pass if there are none."""
    message = "\n".join(lines)
    if message:
        pytest.fail(message, pytrace=False)
