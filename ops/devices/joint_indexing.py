"""The joint form of an indexing: all its maps over one domain, in which devices are a variable.

An indexing consists of several maps of the same variables: to the element, to the device that
holds it, and to the values of its runtime variables. When it is composed or widened, these maps go
on sharing their variables. So algorithms work on the joint form, and separate it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Final, NamedTuple, Protocol

from indexing import IndexingMap, Variable
from indexing.passes import Domain, Ends, arranged, retabulated, shortened
from ops.index_maps import dim
from simplifier import forms
from simplifier.forms import Form, Interval

ANY: Final = Interval(None, None)


class Clamped(Protocol):
    """A value that the program computes."""

    @property
    def clamp(self) -> Interval | Ends | None:
        """The interval that the program clamps the value to, if it does."""
        ...


class NumberedSource(NamedTuple):
    """The source of a value by its number: all that maps depend on is its clamp."""

    number: int
    clamp: Interval | Ends | None = None


class DeviceIndex(NamedTuple):
    """The coordinates of an element, and the device that holds it.

    If a value of the program is read there, ``source`` is what the rules or the analysis say of it.
    """

    coordinates: tuple[Form, ...]
    device: Form
    source: Any = None


class Separated(NamedTuple):
    """The simplified maps of an indexing, in which the own device is no longer a dimension.

    The own device is the one that a map starts from. ``replica`` is ``None`` if the element is on
    it. ``runtime`` are the sources of the runtime variables that are left, with the maps to the
    index and the replica of their values. If anything depends on the number of the own device, that
    is the first of them.
    """

    map: IndexingMap
    replica: IndexingMap | None
    runtime: tuple[tuple[Any, IndexingMap, IndexingMap | None], ...]


@dataclass(frozen=True, slots=True)
class JointIndexing:
    """An indexing as parts over one domain, whose last dimension is the number of the own device.

    The first part is the element. For each runtime variable there is one more part, which tells
    where its value is found. ``devices`` holds the numbers of all devices, ``own`` is the source of
    the number of the own device. ``approximation`` is the reason why the indexing holds more than
    the program says, if it does.
    """

    parts: tuple[DeviceIndex, ...]
    domain: Domain
    devices: Interval = ANY
    own: Any = None
    approximation: str = ""

    def compose(self, producer: JointIndexing) -> JointIndexing:
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
        wider = replace(own, dims=(*own.dims, *free))
        after = IndexingMap.from_forms(_flat(parts), wider)
        whole = replace(
            self,
            parts=parts,
            approximation=self.approximation or producer.approximation,
        )
        return whole.with_results_of(before.compose(after))

    @property
    def flat(self) -> IndexingMap:
        """One map of all parts."""
        return IndexingMap.from_forms(_flat(self.parts), self.domain)

    @property
    def element(self) -> IndexingMap:
        """The map of the element and the device that holds it."""
        return IndexingMap.from_forms(_flat(self.parts[:1]), self.domain)

    def element_as(self, element: IndexingMap) -> JointIndexing:
        """The element alone, as another map from the same variables or less."""
        return replace(self, parts=self.parts[:1]).with_results_of(element)

    def for_any_values(self) -> JointIndexing:
        """The element for any values of the runtime variables, which become further ranges.

        Values that only say when the element is meant are gone, with what they say.
        """
        dims, ranges, runtime = self.domain.by_role(self.domain.identifiers)
        element = self.element
        deciding = {*runtime} - {*forms.variables_of(element.forms)}
        kept = (
            pair
            for pair in self.domain.constraints
            if deciding.isdisjoint(forms.variables_of(pair[:1]))
        )
        wider = IndexingMap.from_forms(element.forms, self.domain.with_constraints(kept))
        return self.element_as(arranged(wider, dims, ranges + runtime))

    def shortened(self, most: int, limits: Sequence[Interval], reason: str) -> JointIndexing:
        """The element without formulas of more than ``most`` terms, marked with a reason.

        ``limits`` hold the indices and devices that it leads to.
        """
        *index, device = limits
        known = [*index, device.intersect(self.devices)]
        short = self.element_as(shortened(self.element, most, known))
        return replace(short, approximation=reason)

    def with_tables_of_devices(self) -> JointIndexing:
        """The same with shorter formulas in the number of a device."""
        flat = self.flat
        shorter = retabulated(flat, f"d{len(self.domain.dims) - 1}")
        return self if shorter is flat else self.with_results_of(shorter)

    @property
    def sources(self) -> tuple[Any, ...]:
        """Sources of the values."""
        return tuple(part.source for part in self.parts[1:])

    def numbered(self, first: int) -> JointIndexing:
        """The same wherever values are found: equal for instructions that are read alike.

        Sources have numbers, from a first one on; that of the own device is 0.
        """
        values = (
            part._replace(source=NumberedSource(number, part.source.clamp))
            for number, part in enumerate(self.parts[1:], first)
        )
        return replace(self, parts=(self.parts[0], *values), own=NumberedSource(0))

    def with_results_of(self, joint: IndexingMap) -> JointIndexing:
        """The parts as the results of one map of all of them, over its domain."""
        return replace(self, parts=_like(self.parts, iter(joint.forms)), domain=joint.domain)

    def separate(self) -> Separated:
        """The maps in their smallest form, without the variables that nothing depends on."""
        return _separated(self.with_results_of(self.flat.simplify()))


def _separated(joint: JointIndexing) -> Separated:
    (*dims, device), ranges, runtime = joint.domain.by_role(joint.domain.identifiers)
    wanted = [
        form for part in joint.parts for form in (*part.coordinates, *_elsewhere(part, joint))
    ]
    own = [device] if _depends_on_device(joint, wanted) else []
    kept = map(forms.variable, [*own, *deciding(joint.domain, joint.sources)])
    wide = IndexingMap.from_forms([*wanted, *kept], joint.domain)
    narrow = arranged(wide, dims, ranges, [*own, *runtime]).without_unused_symbols()
    results, domain = iter(narrow.forms), narrow.domain
    (element, holder), *values = [
        (
            tuple(islice(results, len(part.coordinates))),
            tuple(islice(results, len(_elsewhere(part, joint)))),
        )
        for part in joint.parts
    ]
    dropped = wide.unused_symbols()[2]
    runtime = (
        (source, _over(domain, index), _over(domain, on) if on else None)
        for number, (source, (index, on)) in enumerate(zip(joint.sources, values, strict=True))
        if number not in dropped
    )
    return Separated(
        IndexingMap.from_forms(element, domain),
        _over(domain, holder) if holder else None,
        (*((joint.own, _over(domain, ()), None) for _ in own), *runtime),
    )


def _over(domain: Domain, results: Iterable[Form]) -> IndexingMap:
    return without_unused_runtime(IndexingMap.from_forms(results, domain))


def _elsewhere(part: DeviceIndex, joint: JointIndexing) -> list[Form]:
    """The device of a part, if it is not the own device."""
    is_own = part.device == dim(len(joint.domain.dims) - 1)
    is_only = joint.devices == Interval(0, 0) or joint.domain.is_known_empty
    return [] if is_own or is_only else [part.device]


def _depends_on_device(joint: JointIndexing, wanted: Sequence[Form]) -> bool:
    """Whether the results or the domain depend on the own device."""
    if joint.domain.is_known_empty:
        return False
    device = joint.domain.identifiers[len(joint.domain.dims) - 1]
    limited = (form for form, _ in joint.domain.constraints)
    is_used = device in forms.variables_of((*wanted, *limited))
    return is_used or joint.domain.bounds[device] != joint.devices


def deciding(domain: Domain, origins: Iterable[Clamped]) -> Iterator[str]:
    """The runtime variables that say when an element is meant, even if no result uses them.

    A constraint is on them, or some value that the program may give lies outside of their bounds.
    """
    if domain.is_known_empty:
        return
    *_, runtime = domain.by_role(domain.identifiers)
    limited = {*forms.variables_of(form for form, _ in domain.constraints)}
    for identifier, origin in zip(runtime, origins, strict=True):
        possible = origin.clamp if isinstance(origin.clamp, Interval) else ANY
        if identifier in limited or not domain.bounds[identifier].contains(possible):
            yield identifier


def _flat(parts: Iterable[DeviceIndex]) -> Iterator[Form]:
    return chain.from_iterable((*part.coordinates, part.device) for part in parts)


def _like(parts: Iterable[DeviceIndex], results: Iterator[Form]) -> tuple[DeviceIndex, ...]:
    return tuple(
        DeviceIndex(tuple(islice(results, len(part.coordinates))), next(results), part.source)
        for part in parts
    )


def without_unused_runtime(indexing_map: IndexingMap) -> IndexingMap:
    """The map without its runtime variables, if no result depends on them."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    if not {*runtime}.isdisjoint(forms.variables_of(indexing_map.forms)):
        return indexing_map
    others = {*dims, *ranges, *domain.parameter_identifiers}
    kept = (pair for pair in domain.constraints if others.issuperset(forms.variables_of(pair[:1])))
    left = replace(domain, runtime=(), constraints=tuple(kept))
    return IndexingMap.from_forms(indexing_map.forms, left)
