"""Maps of one domain that are simplified together, so that they go on sharing it.

An element, the replica that holds it, and where the values of runtime variables are found are
told by maps of the same variables.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap
from indexing.domain import Domain
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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
    results: Sequence[Sequence[Form]],
    replicas: Sequence[Form | None],
    domain: Domain,
    asking: Mapping[int, Interval],
) -> JointMaps:
    """Simplified maps with these results, and of these replicas.

    ``asking`` are the runtime variables that are the number of the device that asks, with the
    numbers of all devices: such a variable stays if only some of them are answered.
    """
    given = [replica for replica in replicas if replica is not None]
    joint = IndexingMap.from_forms((*chain(*results), *given), domain).simplify()
    numbers = [forms.variable(f"rt{place}") for place in asking]
    found = iter(joint.forms)
    simple = [[next(found) for _ in part] for part in results]
    elsewhere = [None if form is None or (own := next(found)) in numbers else own for form in replicas]
    parts = [*simple, *([form] for form in elsewhere if form is not None)]
    told = [rt for rt, every in zip(numbers, asking.values(), strict=True) if _limits(joint.domain, rt, every)]
    wide = IndexingMap.from_forms((*chain(*parts), *told), joint.domain)
    narrow = wide.without_unused_symbols()
    left = iter(narrow.forms)
    maps = [IndexingMap.from_forms([next(left) for _ in part], narrow.domain) for part in simple]
    return JointMaps(
        [maps[0], *map(_without_runtime, maps[1:])],
        [
            None if form is None else _without_runtime(IndexingMap.from_forms([next(left)], narrow.domain))
            for form in elsewhere
        ],
        wide.unused_symbols()[2],
    )


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
    return IndexingMap.from_forms(
        indexing_map.forms, Domain(domain.dims, domain.ranges, (), known)
    )
