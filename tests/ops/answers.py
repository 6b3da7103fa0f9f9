"""Answers that a test expects to be known."""

from __future__ import annotations

from ops import OperandIndexing, Unknown
from ops.dependence.dependence import Indexings


def known(answer: Indexings) -> tuple[OperandIndexing, ...]:
    assert not isinstance(answer, Unknown), answer
    return answer


def only(answer: Indexings) -> OperandIndexing:
    (indexing,) = known(answer)
    return indexing


def texts(answer: Indexings) -> list[str]:
    """The maps of an answer, without their domains."""
    return [str(indexing).partition(", domain")[0] for indexing in known(answer)]
