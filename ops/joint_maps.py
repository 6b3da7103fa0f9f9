"""Maps of one domain that are simplified together, so that they go on sharing it.

An element, the replica that holds it, and where the values of runtime variables are found are
told by maps of the same variables.
"""

from __future__ import annotations

from itertools import compress, islice
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap
from indexing.domain import Domain
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from simplifier import Interval
    from simplifier.form import Form


class JointMaps(NamedTuple):
    """Maps over what is left of a domain; ``dropped`` are runtime variables that are not.

    The first map has all variables of the domain, the others have runtime variables only if they
    depend on them. A replica is ``None`` where it is the one that asks.
    """

    maps: list[IndexingMap]
    replicas: list[IndexingMap | None]
    dropped: Collection[int]


def joint_maps(
    joint: IndexingMap,
    lengths: Sequence[int],
    has_replica: Sequence[bool],
    asking: Mapping[int, Interval],
) -> JointMaps:
    """The simplified parts of a map.

    ``joint`` has the results of maps of these lengths, and then of one map to a replica for each
    that there is. ``asking`` are the runtime variables that are the number of the device that asks,
    with the numbers of all devices: such a variable stays if only some of them are answered.
    """
    simple = joint.simplify()
    numbers = {forms.variable(f"rt{place}"): every for place, every in asking.items()}
    count = sum(lengths)
    elsewhere = [form not in numbers for form in simple.forms[count:]]
    kept = [*simple.forms[:count], *compress(simple.forms[count:], elsewhere)]
    told = [rt for rt, every in numbers.items() if _limits(simple.domain, rt, every)]
    wide = IndexingMap.from_forms((*kept, *told), simple.domain)
    narrow = wide.without_unused_symbols()
    results, still = iter(narrow.forms), iter(elsewhere)
    first, *others = [_taken(results, length, narrow.domain) for length in lengths]
    replicas = [
        _without_runtime(_taken(results, 1, narrow.domain)) if has and next(still) else None
        for has in has_replica
    ]
    return JointMaps([first, *map(_without_runtime, others)], replicas, wide.unused_symbols()[2])


def _taken(results: Iterator[Form], count: int, domain: Domain) -> IndexingMap:
    return IndexingMap.from_forms(islice(results, count), domain)


def _limits(domain: Domain, number: Form, every: Interval) -> bool:
    """Whether a domain says more of a variable than its natural bounds."""
    place = number.single_variable()
    if place is None or domain.bounds[place] != every:
        return True
    return place in forms.variables_of(form for form, _ in domain.constraints)


def _without_runtime(indexing_map: IndexingMap) -> IndexingMap:
    """The map without runtime variables, if nothing depends on them."""
    if any(name.startswith("rt") for name in forms.variables_of(indexing_map.forms)):
        return indexing_map
    domain = indexing_map.domain
    places = {*domain.places[: len(domain.dims) + len(domain.ranges)]}
    known = tuple(
        pair for pair in domain.constraints if places.issuperset(forms.variables_of((pair[0],)))
    )
    return IndexingMap.from_forms(indexing_map.forms, Domain(domain.dims, domain.ranges, (), known))
