"""One dependence after the other: maps composed, with the origins of their runtime variables.

What is read on another device is computed there: the values that lead to it are that device's, and
its own number is the one that a collective operation behind it asks with.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ops.analysis.answers import Answer, OperandIndexing
from ops.analysis.dependences import dependence_of, devices_in
from ops.analysis.known_values import with_known_values
from ops.builders.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Collection

    from indexing import IndexingMap

MOST_WAYS = 1024
"""An array that more different maps lead to is given up, and what lies behind it."""

_REMEMBERED = 1 << 14
"""How many compositions of maps are remembered."""


def compose(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """``producer`` after ``consumer``: see :meth:`OperandIndexing.compose`."""
    if not (consumer.runtime or producer.runtime or consumer.replica_id or producer.replica_id):
        return OperandIndexing(_composed(consumer.map, producer.map), element=producer.element)
    devices = devices_in(consumer, producer)
    whole = dependence_of(consumer, devices).compose(dependence_of(producer, devices))
    return with_known_values(whole.simplified(producer.element))


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    """Layers of a model repeat themselves, and so do the compositions along them."""
    return consumer.compose(producer).simplify().without_unused_symbols()


# Sets of dependences.


def joined(left: Answer, right: Answer) -> Answer:
    """All ways of both, each once; unknown if one of them is, or if there are too many."""
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    return _limited(dict.fromkeys(left + right))


def _limited(ways: Collection[OperandIndexing]) -> Answer:
    if len(ways) > MOST_WAYS:
        return Unknown(f"more than {MOST_WAYS} different maps lead here")
    return tuple(ways)


def followed(answer: Answer, step: Answer) -> Answer:
    """Every way of the one after every way of the other; unknown as for :func:`joined`."""
    if isinstance(answer, Unknown):
        return answer
    if isinstance(step, Unknown):
        return step
    return _limited(dict.fromkeys(first.compose(second) for first in answer for second in step))
