"""How much is tested: all where ``CI`` is set, elsewhere a part that stands for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

import pytest
from hypothesis import settings

IN_CI: Final = bool(os.environ.get("CI"))
"""Whether everything is tested, however long it takes."""

_Case = TypeVar("_Case")


def part(cases: Sequence[_Case], count: int) -> Sequence[_Case]:
    """Some cases, far from each other in their table; all in CI."""
    return cases if IN_CI else cases[:: max(1, -(-len(cases) // count))]


in_ci = pytest.mark.skipif(not IN_CI, reason="run with CI=1")
"""Marks a test that takes seconds for what quick ones nearly say."""


def examples(count: int) -> settings:
    """So many random examples in CI, and a third elsewhere."""
    return settings(max_examples=count if IN_CI else max(5, count // 3))


seldom: Final = examples(40)
"""For what takes tenths of a second for each random example."""
