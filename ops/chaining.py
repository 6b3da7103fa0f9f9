"""One dependence after the other: maps composed, with the origins of their runtime variables."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from indexing.variables import arranged, moved
from ops.adapters.values import clamped, value_of
from ops.answers import Answer, OperandIndexing, RuntimeOrigin, Unknown
from ops.building import dim
from simplifier import Interval
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
    chained = _smallest(_chained(consumer, producer))
    known = with_known_values(chained)
    return chained if known is chained else _smallest(known)


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    """Layers of a model repeat themselves, and so do the compositions along them."""
    return consumer.compose(producer).simplify().without_unused_symbols()


def _chained(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """The same without simplification.

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
    second = IndexingMap.from_forms((*own.forms, *_beside(producer), *through), wider)
    joint = first.compose(second)
    results = iter(joint.forms)
    composed = _taken(results, own, joint.domain)
    near, near_replica = _read_beside(results, producer, joint.domain)
    far, far_replica = _read_beside(results, consumer, joint.domain)
    replica = near_replica or far_replica
    return OperandIndexing(composed, (*near, *far), replica, producer.element)


def _smallest(way: OperandIndexing) -> OperandIndexing:
    """Everything simplified together, without the variables that nothing depends on."""
    joint = _joint(way).simplify()
    _, _, dropped = joint.unused_symbols()
    return _read(joint.without_unused_symbols(), way, dropped)


def with_known_values(way: OperandIndexing) -> OperandIndexing:
    """The same with those runtime variables replaced of which the values are known already.

    A value is clamped into the bounds of its variable, as the operation does it.
    """
    known = dict(_known_values(way))
    if not known:
        return way
    free = {place for place, form in known.items() if known.keys().isdisjoint(_variables(form))}
    domain = way.map.domain
    plain = replace(domain, constraints=())
    replaced = moved(_joint(way), plain, {place: known[place] for place in free})
    dims, ranges, runtime = domain.by_role(domain.places)
    left = arranged(replaced, dims, ranges, [place for place in runtime if place not in free])
    gone = [number for number, place in enumerate(runtime) if place in free]
    return with_known_values(_read(left, way, gone))


def _known_values(way: OperandIndexing) -> Iterator[tuple[str, Form]]:
    """The runtime variables that have a known value, by place."""
    for number, (variable, origin) in enumerate(zip(way.map.runtime, way.runtime, strict=True)):
        value = value_of(origin.instruction, origin.map)
        if value is not None:
            yield f"rt{number}", clamped(value, variable.bounds, origin.map)


def _variables(form: Form) -> Iterator[str]:
    return forms.variables_of((form,))


# Everything that a dependence holds, as the results of one map.


def _joint(way: OperandIndexing) -> IndexingMap:
    """One map with all results: those of the map, of the origins, and the replica."""
    return IndexingMap.from_forms((*way.map.forms, *_beside(way)), way.map.domain)


def _read(joint: IndexingMap, like: OperandIndexing, gone: Collection[int]) -> OperandIndexing:
    """The dependence of which :func:`_joint` gave the results, less some runtime variables."""
    results = iter(joint.forms)
    element = _taken(results, like.map, joint.domain)
    origins, replica = _read_beside(results, like, joint.domain)
    kept = (origin for number, origin in enumerate(origins) if number not in gone)
    return OperandIndexing(element, tuple(kept), replica, like.element)


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
        RuntimeOrigin(origin.instruction, _taken_from(results, origin.map, domain))
        for origin in indexing.runtime
    ]
    replica = indexing.replica_id
    return origins, _taken_from(results, replica, domain) if replica else None


def _taken(results: Iterable[Form], like: IndexingMap, domain: Domain) -> IndexingMap:
    """A map of as many results as another one has."""
    return IndexingMap.from_forms(islice(results, len(like.forms)), domain)


def _taken_from(results: Iterable[Form], like: IndexingMap, domain: Domain) -> IndexingMap:
    """The same without the runtime variables, if nothing depends on them."""
    taken = _taken(results, like, domain)
    if any(name.startswith("rt") for name in forms.variables_of(taken.forms)):
        return taken
    places = {*domain.places[: len(domain.dims) + len(domain.ranges)]}
    known = [
        pair for pair in domain.constraints if places.issuperset(forms.variables_of((pair[0],)))
    ]
    return IndexingMap.from_forms(taken.forms, Domain(domain.dims, domain.ranges, (), tuple(known)))


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
