"""One dependence after the other: maps composed, with the origins of their runtime variables."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from ops.answers import Answer, OperandIndexing, RuntimeOrigin, Unknown
from ops.building import dim
from ops.known_values import with_known_values, without_unused_runtime
from simplifier import Interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simplifier.form import Form

_ANY_INTEGER = Variable(Interval(None, None))
MOST_WAYS = 1024
"""An array that more different maps lead to is given up, and what lies behind it."""

_REMEMBERED = 1 << 14
"""How many compositions of maps are remembered."""


def compose(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """``producer`` after ``consumer``: see :meth:`OperandIndexing.compose`."""
    if not (consumer.runtime or producer.runtime or consumer.replica_id or producer.replica_id):
        return OperandIndexing(_composed(consumer.map, producer.map), element=producer.element)
    joint = _joint(consumer, producer).simplify()
    trimmed = joint.without_unused_symbols()
    _, _, dropped = joint.unused_symbols()
    results = iter(trimmed.forms)
    composed = _taken(results, producer.map, trimmed.domain)
    near, near_replica = _read_beside(results, producer, trimmed.domain)
    far, far_replica = _read_beside(results, consumer, trimmed.domain)
    kept = (origin for number, origin in enumerate(near + far) if number not in dropped)
    replica = near_replica or far_replica
    return with_known_values(OperandIndexing(composed, tuple(kept), replica, producer.element))


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    """Layers of a model repeat themselves, and so do the compositions along them."""
    return consumer.compose(producer).simplify().without_unused_symbols()


def _joint(consumer: OperandIndexing, producer: OperandIndexing) -> IndexingMap:
    """One map with all results: the element, the producer's origins and replica, the consumer's.

    What the consumer has beside its map passes through the producer in dimensions of its own.
    """
    passed = _beside(consumer)
    own = producer.map
    through = [dim(place) for place in range(len(own.dims), len(own.dims) + len(passed))]
    domain = own.domain
    wider = Domain(
        (*domain.dims, *[_ANY_INTEGER] * len(passed)),
        domain.ranges,
        domain.runtime,
        domain.constraints,
    )
    first = IndexingMap.from_forms((*consumer.map.forms, *passed), consumer.map.domain)
    return first.compose(IndexingMap.from_forms((*own.forms, *_beside(producer), *through), wider))


def _beside(indexing: OperandIndexing) -> list[Form]:
    """The results of all maps but the first, in the numbering of the first."""
    others = [origin.map for origin in indexing.runtime]
    if indexing.replica_id:
        others.append(indexing.replica_id)
    return [form for other in others for form in other.forms]


def _read_beside(
    results: Iterable[Form], indexing: OperandIndexing, domain: Domain
) -> tuple[list[RuntimeOrigin], IndexingMap | None]:
    """The maps that :func:`_beside` gave the results of, over a new domain."""
    origins = [
        replace(origin, map=without_unused_runtime(_taken(results, origin.map, domain)))
        for origin in indexing.runtime
    ]
    replica = indexing.replica_id
    if replica is None:
        return origins, None
    return origins, without_unused_runtime(_taken(results, replica, domain))


def _taken(results: Iterable[Form], like: IndexingMap, domain: Domain) -> IndexingMap:
    """A map of as many results as another one has."""
    return IndexingMap.from_forms(islice(results, len(like.forms)), domain)


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
