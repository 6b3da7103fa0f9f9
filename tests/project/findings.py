"""What a test finds in many files at once, said in one failure: a line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_Name = TypeVar("_Name", str, tuple[str, str])


def report(found: Mapping[_Name, str], known: frozenset[_Name]) -> list[str]:
    """What is new among the findings, and which of those known are no longer there."""
    new = sorted(said for name, said in found.items() if name not in known)
    gone = sorted(f"{name} is mended: strike it out" for name in known - found.keys())
    return [*new, *gone]


def fail_with(lines: Iterable[str]) -> None:
    """Fail with these lines as the whole message; pass if there are none."""
    message = "\n".join(lines)
    if message:
        pytest.fail(message, pytrace=False)
