"""What several tests of operations watch."""

from __future__ import annotations

import pytest

from ops import OperandIndexing


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[OperandIndexing]:
    """All that is composed in a test."""
    made: list[OperandIndexing] = []
    compose = OperandIndexing.compose

    def counted(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
        made.append(compose(consumer, producer))
        return made[-1]

    monkeypatch.setattr(OperandIndexing, "compose", counted)
    return made
