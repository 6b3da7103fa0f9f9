"""What a test finds in many files at once, said in one failure: a line for each finding."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def fail_with(lines: Iterable[str]) -> None:
    """Fail with these lines as the whole message; pass if there are none."""
    message = "\n".join(lines)
    if message:
        pytest.fail(message, pytrace=False)
