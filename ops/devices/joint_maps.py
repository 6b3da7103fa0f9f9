"""All that a dependence tells, as parts of one map, so that they go on sharing its variables.

An element, the device that holds it, and where the values of runtime variables are found are told
by maps of the same variables. Here the device that asks is one of these variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from indexing.transform.hull import shortened
from indexing.transform.substitute import arranged
from ops.index_maps import dim
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simplifier.expr.form import Form

ANY: Final = Interval(None, None)


class Part(NamedTuple):
    """An index, and the device on which it is meant."""

    place: tuple[Form, ...]
    device: Form


@dataclass(frozen=True, slots=True)
class JointMap:
    """Parts over one domain, whose last dimension is the number of the device that asks.

    The first part is the element, then there is one for each runtime variable: where its value is
    found. ``devices`` holds the numbers of all devices.
    """

    parts: tuple[Part, ...]
    domain: Domain
    devices: Interval = ANY

    def compose(self, producer: JointMap) -> JointMap:
        """The producer's parts as they are at this element, then all other parts of this.

        These pass through the producer in dimensions of their own.
        """
        element, *others = self.parts
        passing = [*_flat(others)]
        before = IndexingMap.from_forms((*_flat([element]), *passing), self.domain)
        own = producer.domain
        through = map(dim, range(len(own.dims), len(own.dims) + len(passing)))
        parts = (*producer.parts, *_like(others, through))
        free = [Variable(ANY)] * len(passing)
        wider = Domain((*own.dims, *free), own.ranges, own.runtime, own.constraints)
        after = IndexingMap.from_forms(_flat(parts), wider)
        return replace(self, parts=parts).with_results_of(before.compose(after))

    @property
    def flat(self) -> IndexingMap:
        """One map of all parts."""
        return IndexingMap.from_forms(_flat(self.parts), self.domain)

    @property
    def element(self) -> IndexingMap:
        """The map of the element and the device that holds it."""
        return IndexingMap.from_forms(_flat(self.parts[:1]), self.domain)

    def for_any_values(self) -> JointMap:
        """The element for any values of the runtime variables, which become further ranges."""
        alone = replace(self, parts=self.parts[:1])
        dims, ranges, runtime = self.domain.by_role(self.domain.places)
        return alone.with_results_of(arranged(self.element, dims, ranges + runtime))

    def shortened(self, most: int, limits: Sequence[Interval]) -> JointMap:
        """The element without formulas of more than ``most`` terms."""
        alone = replace(self, parts=self.parts[:1])
        *index, device = limits
        known = [*index, device.intersect(self.devices)]
        return alone.with_results_of(shortened(self.element, most, known))

    def simplified(self) -> SimplifiedParts:
        """The parts as maps in their smallest form."""
        return _separated(self.with_results_of(self.flat.simplify()))

    def with_results_of(self, joint: IndexingMap) -> JointMap:
        """The parts as the results of one map of all of them, over its domain."""
        return replace(self, parts=_like(self.parts, iter(joint.forms)), domain=joint.domain)


class Read(NamedTuple):
    """Where the value of a runtime variable is found; ``number`` counts all that there were."""

    number: int
    place: IndexingMap
    replica: IndexingMap | None


class SimplifiedParts(NamedTuple):
    """Maps from dimensions, without the device that asks; a replica is ``None`` where that is it.

    If anything depends on the device that asks, it is the first runtime variable, and ``asking``
    leads to a scalar. ``reads`` are those of the other runtime variables that are left.
    """

    element: IndexingMap
    replica: IndexingMap | None
    asking: IndexingMap | None
    reads: tuple[Read, ...]


def _separated(joint: JointMap) -> SimplifiedParts:
    """The parts as maps, less the variables that nothing depends on."""
    (*dims, device), ranges, runtime = joint.domain.by_role(joint.domain.places)
    told = [form for part in joint.parts for form in (*part.place, *_elsewhere(part, joint))]
    asked = [device] if _depends_on_device(joint, told) else []
    wide = IndexingMap.from_forms([*told, *map(forms.variable, asked)], joint.domain)
    narrow = arranged(wide, dims, ranges, [*asked, *runtime]).without_unused_symbols()
    results, domain = iter(narrow.forms), narrow.domain
    (element, holder), *reads = [
        (
            tuple(islice(results, len(part.place))),
            tuple(islice(results, len(_elsewhere(part, joint)))),
        )
        for part in joint.parts
    ]
    dropped = wide.unused_symbols()[2]
    return SimplifiedParts(
        IndexingMap.from_forms(element, domain),
        _over(domain, holder) if holder else None,
        _over(domain, ()) if asked else None,
        tuple(
            Read(number, _over(domain, place), _over(domain, on) if on else None)
            for number, (place, on) in enumerate(reads)
            if number not in dropped
        ),
    )


def _over(domain: Domain, results: Iterable[Form]) -> IndexingMap:
    return without_unused_runtime(IndexingMap.from_forms(results, domain))


def _elsewhere(part: Part, joint: JointMap) -> list[Form]:
    """The device of a part, if it is not the one that asks."""
    is_own = part.device == dim(len(joint.domain.dims) - 1)
    is_only = joint.devices == Interval(0, 0) or joint.domain.is_known_empty
    return [] if is_own or is_only else [part.device]


def _depends_on_device(joint: JointMap, told: Sequence[Form]) -> bool:
    """Whether what is told, or whether there is a point, differs between devices that ask."""
    if joint.domain.is_known_empty:
        return False
    device = joint.domain.places[len(joint.domain.dims) - 1]
    limited = (form for form, _ in joint.domain.constraints)
    is_used = device in forms.variables_of((*told, *limited))
    return is_used or joint.domain.bounds[device] != joint.devices


def _flat(parts: Iterable[Part]) -> Iterator[Form]:
    return chain.from_iterable((*part.place, part.device) for part in parts)


def _like(parts: Iterable[Part], results: Iterator[Form]) -> tuple[Part, ...]:
    return tuple(Part(tuple(islice(results, len(part.place))), next(results)) for part in parts)


def without_unused_runtime(indexing_map: IndexingMap) -> IndexingMap:
    """The map without its runtime variables, if no result depends on them."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(domain.places)
    if not {*runtime}.isdisjoint(forms.variables_of(indexing_map.forms)):
        return indexing_map
    others = {*dims, *ranges}
    kept = (pair for pair in domain.constraints if others.issuperset(forms.variables_of(pair[:1])))
    left = Domain(domain.dims, domain.ranges, (), tuple(kept))
    return IndexingMap.from_forms(indexing_map.forms, left)
