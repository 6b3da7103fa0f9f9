"""Share of each operand that a kernel uses, and number of times that it reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import chain, combinations, islice, zip_longest
from math import prod
from typing import Final, NamedTuple

from indexing import IndexingMap, MapError, passes
from indexing.passes import MAX_INT64, Ends
from ops.analysis.dataflow import Array
from ops.dependence.dependence import free_and_turned
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.devices import deciding
from ops.fusion import Fusion, Reads
from ops.hlo.module import Computation, HloModule, Instruction
from ops.index_maps import dim
from ops.performance import tally
from ops.performance.coalescing import may_be_same
from ops.performance.kernels import (
    AccessKind,
    Likeness,
    evaluated_by,
    kernels_of,
    kinds_of_accesses,
    likeness_of,
    tile_of,
)
from ops.performance.tally import Column, Count, Deadline, OutOfTimeError, Size, Tally
from ops.rules.registry import REGISTRY, Registry
from ops.rules.rule import Doubt, Unknown
from simplifier import forms
from simplifier.errors import listed
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.forms import Form, Interval, np, points_in, substitute
from simplifier.tools.display import Displayed, html_of_table
from simplifier.tools.graphs import united

SECONDS: Final = 10.0
"""What a question may take unless somebody gives it more; it takes milliseconds mostly."""


@dataclass(frozen=True, slots=True, repr=False)
class OperandUtilization(Displayed):
    """Share of an operand that a kernel uses.

    A count is a number if it is the same whatever values the program computes, an expression if
    sizes are symbolic, else the interval from the least to the most over all values.

    Attributes:
        fusion: what runs as one kernel.
        operand: what it reads.
        element: the number of the array that is meant where the operand is a tuple.
        elements: of the array.
        elements_read: that are needed at all.
        reads: one for each element that an evaluation needs, as :meth:`Fusion.reads
            <ops.Fusion.reads>` counts them.
        bytes: of the elements that are read, each once.
        bounds: why the counts are bounds that need not be met; empty if they are exact.
        ways: the accesses; none if nobody knows them.
        kinds: of the accesses, such as a transpose.
    """

    fusion: Fusion
    operand: Instruction
    element: int
    elements: Count
    elements_read: Count
    reads: Count
    bytes: Count
    bounds: str = ""
    ways: tuple[OperandIndexing, ...] = ()
    kinds: tuple[AccessKind, ...] = ()

    @property
    def conditions(self) -> tuple[OperandIndexing, ...]:
        """The accesses that only happen for some values.

        Constraints and bounds of their maps say for which ones.
        """
        return tuple(way for way in self.ways if any(deciding(way.map.domain, way.runtime)))

    @property
    def reuse(self) -> float | None:
        """Reads for each element that is read; ``None`` if that depends on values."""
        return tally.ratio(self.reads, self.elements_read)

    @property
    def unused_bytes(self) -> Size:
        """Bytes of the operand that nobody needs; at least that many, if it depends on values."""
        if isinstance(self.elements, Interval) or isinstance(self._most_elements, Interval):
            return 0
        return self._bytes(tally.simplest(self.elements - self._most_elements))

    @property
    def reread_bytes(self) -> Size:
        """Bytes read again, after the first time; at least that many, if it depends on values."""
        least = (self.reads.lower or 0) if isinstance(self.reads, Interval) else self.reads
        most = self._most_elements
        again = 0 if isinstance(most, Interval) else tally.simplest(least - most)
        return self._bytes(max(0, again) if isinstance(again, int) else again)

    @property
    def _most_elements(self) -> Count:
        """Greatest number of elements read."""
        read = self.elements_read
        most = read.upper if isinstance(read, Interval) else read
        return self.elements if most is None else most

    def _bytes(self, elements: Size) -> Size:
        bits = self.operand.shape.arrays[self.element].element_size_in_bits
        return tally.bytes_of(elements, bits)

    def __str__(self) -> str:
        place = f" output {self.element}" if self.operand.shape.is_tuple else ""
        reuse = "" if self.reuse is None else f", {self.reuse:.4g} of each"
        counts = (self.elements_read, self.elements, self.bytes, self.reads)
        read, of, of_bytes, reads = map(tally.text_of_count, counts)
        head = f"%{self.operand.name}{place}: {read} of {of} elements, {of_bytes} bytes"
        head += f", {reads} reads{reuse}"
        lines = [f"{head} (bounds: {self.bounds})" if self.bounds else head]
        lines += (f"  only where {way}".replace("\n", "\n  ") for way in self.conditions)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class Utilization(Displayed):
    """Shares of their operands that kernels use: a row for each array that a kernel reads."""

    rows: tuple[OperandUtilization, ...]

    def __iter__(self) -> Iterator[OperandUtilization]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, operand: Instruction, element: int = 0) -> tuple[OperandUtilization, ...]:
        """The rows of the kernels that read an operand."""
        return tuple(row for row in self.rows if row.operand is operand and row.element == element)

    @property
    def bytes(self) -> Count:
        """Bytes that all kernels read, if each reads an element once."""
        return tally.sum_of_counts(row.bytes for row in self.rows)

    def __repr__(self) -> str:
        return f"<utilization of {len(self)} operand{'s' * (len(self) != 1)}>"

    def _repr_html_(self) -> str:
        heading = ("kernel", "operand", "used", "of", "bytes", "reads", "reuse")
        return html_of_table(heading, map(_cells, self.rows), total=len(self))

    def __str__(self) -> str:
        kernels = {id(row.fusion): row.fusion for row in self.rows}
        if len(kernels) == 1:
            return "\n".join(map(str, self.rows))
        return "\n".join(
            "\n".join([str(fusion), *(f"  {row}" for row in self.rows if row.fusion is fusion)])
            for fusion in kernels.values()
        )


def _cells(row: OperandUtilization) -> tuple[str, ...]:
    """A row of the table that a notebook shows."""
    counts = (row.elements_read, row.elements, row.bytes, row.reads)
    reuse = "" if row.reuse is None else f"{row.reuse:.4g}"
    roots = ", ".join(f"%{root.name}" for root in row.fusion.roots)
    return roots, f"%{row.operand.name}", *map(tally.text_of_count, counts), reuse


def utilization(
    fusion_or_module: Fusion | Instruction | Computation | HloModule,
    *,
    seconds: float | None = SECONDS,
    registry: Registry = REGISTRY,
) -> Utilization:
    """Numbers of elements of each operand that a kernel needs, of reads, and their bytes.

    Of an instruction, a fusion, a pair that may be fused (:meth:`Fusion.of_pair
    <ops.Fusion.of_pair>`), a computation, or of every kernel of a module: of all instructions that
    run, but for those that move nothing. A kernel evaluates each element of its results on its own,
    and what has a loop once for each of them (:class:`ops.Reads`).

    The counts are exact, however large the arrays are, unless a row says so in ``bounds``: when
    ``seconds`` have passed, what is not known yet stays between bounds.

    Raises:
        ArgumentError: an argument is of another kind.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   x = f32[9] parameter(0)
    ...   start = s32[] parameter(1)
    ...   nothing = f32[] constant(0)
    ...   wide = f32[12] pad(x, nothing), padding=3_0
    ...   ROOT part = f32[4] dynamic-slice(wide, start), dynamic_slice_sizes={4}
    ... }''')
    >>> print(utilization(Fusion.of_computation(module.entry)).rows[0])
    %x: 1 to 4 of 9 elements, 4 to 16 bytes, 1 to 4 reads
      only where (d0){rt0} -> (d0 + rt0 - 3),
      domain: d0 in [0, 3], rt0 in [0, 8], d0 + rt0 in [3, 11]
      rt0: %start = s32[] parameter(1); (d0) -> ()
    """
    kernels = kernels_of(fusion_or_module, registry=registry)
    counter = OperandCounter(Deadline.of("utilization", seconds))
    return Utilization(tuple(row for kernel in kernels for row in counter.rows(kernel)))


class OperandCounter:
    """Counts the operands of kernels within a time, and those of kernels that are alike once.

    The layers of a model repeat their kernels.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._known: dict[Likeness | Fusion, tuple[OperandUtilization, ...]] = {}

    def rows(self, kernel: Fusion) -> tuple[OperandUtilization, ...]:
        """A row for each array that a kernel reads.

        Raises:
            HloTextError: what a rule of the user answers does not fit an instruction.
        """
        known = self._known[self.key(kernel)]
        if not known or known[0].fusion is kernel:
            return known
        pairs = zip(kernel.operands, known, strict=True)
        return tuple(replace(row, fusion=kernel, operand=operand) for operand, row in pairs)

    def key(self, kernel: Fusion) -> Likeness | Fusion:
        """Common key of the kernels whose rows are equal but for names.

        Raises:
            HloTextError: as :meth:`rows` does.
        """
        likeness = likeness_of(kernel) or kernel
        if likeness in self._known:
            return likeness
        if kernel not in self._known:
            rows = tuple(_rows(kernel, self._deadline))
            # A row may name facts of this kernel alone: values, or why nobody knows.
            is_own = any(row.bounds or any(way.runtime for way in row.ways) for row in rows)
            if len(rows) == len(kernel.operands) and not is_own:
                self._known[likeness] = rows
                return likeness
            self._known[kernel] = rows
        return kernel


def _rows(kernel: Fusion, deadline: Deadline) -> Iterator[OperandUtilization]:
    starts = tuple(array for each in evaluated_by(kernel) for array in each.read)
    for array, reads in kernel.reads_of_operands(starts).items():
        is_read = isinstance(reads, Unknown) or reads.ways
        if is_read or not (array[0].shape.is_tuple or starts != kernel.results):
            yield _row(kernel, array, reads, deadline)


def _row(
    kernel: Fusion, array: Array, reads: Reads | Unknown, deadline: Deadline
) -> OperandUtilization:
    operand, number = array
    elements = tally.elements_of(operand, number)
    bits = operand.shape.arrays[number].element_size_in_bits
    if isinstance(reads, Unknown):
        found, bounds, ways, kinds = NO_IDEA, reads.reason, (), ()
    else:
        ways, results = reads.ways, [each.written for each in evaluated_by(kernel)]
        kinds = kinds_of_accesses(ways, array, results)
        symbolic = _symbolic(reads, deadline)
        if symbolic is not None:
            counts = (*symbolic, tally.bytes_of(symbolic[0], bits))
            return OperandUtilization(kernel, operand, number, elements, *counts, "", ways, kinds)
        found = _footprint(reads, tile_of(kernel), deadline)
        bounds = "" if found.is_exact else _reason(reads)
    most = elements.upper if isinstance(elements, Interval) else elements
    read = found.elements.intersect(Interval(0, most if isinstance(most, int) else None))
    counts = (tally.count_of(read), tally.count_of(found.reads), tally.bytes_of(read, bits))
    return OperandUtilization(kernel, operand, number, elements, *counts, bounds, ways, kinds)


def _footprint(reads: Reads, tile: Sequence[int] | None, deadline: Deadline) -> Footprint:
    """Elements read; a block that computes a tile reads an element once for all of the tile."""
    found = footprint_of(reads.ways, reads.sizes, deadline, reads.doubts)
    if tile is None:
        return found
    number = [dim(axis) // size for axis, size in enumerate(tile)]
    placed = [way.with_results(number).simplify() for way in reads.ways]
    sizes = [*reads.sizes, *[MAX_INT64] * len(tile)]
    by_tile = footprint_of(placed, sizes, deadline, reads.doubts)
    return Footprint(by_tile.elements, found.elements, found.is_exact and by_tile.is_exact)


def _symbolic(reads: Reads, deadline: Deadline) -> tuple[Size, Size] | None:
    """Elements that are read, and reads, over symbolic sizes; ``None`` if nobody knows."""
    if not any(way.map.parameters for way in reads.ways):
        return None
    try:
        deadline.check()
        return reads.distinct(), reads.total()
    except (MapError, NotQuasiAffineError, BudgetError, OutOfTimeError):
        return None


def _reason(reads: Reads) -> str:
    """The reason why the counts of some accesses are no more than bounds."""
    if doubt := next(filter(None, reads.doubts), None):
        return doubt.reason
    ways = reads.ways
    for way in ways:
        if way.approximation:
            return way.approximation
        if way.replica_id is not None:
            return "elements are read on other devices"
    values = dict.fromkeys(f"%{origin.instruction.name}" for way in ways for origin in way.runtime)
    return f"not all values of {listed([*values])} were tried" if values else "no time was left"


# How many elements some accesses touch, and how often, over all offsets that there may be.
#
# The elements of an access split into parts that share no variable: their numbers multiply.


@dataclass(frozen=True, slots=True)
class Footprint:
    """Least and most over all offsets, of the reads and of the elements that they touch.

    Attributes:
        is_exact: whether there are offsets with these numbers; else they are bounds.
    """

    reads: Interval
    elements: Interval
    is_exact: bool = True

    def times(self, other: Footprint) -> Footprint:
        """The counts for pairs of independent coordinates."""
        is_exact = self.is_exact and other.is_exact
        return Footprint(self.reads * other.reads, self.elements * other.elements, is_exact)

    def or_nothing(self) -> Footprint:
        """The same if there are also offsets for which nothing is read."""
        reads, elements = Interval(0, self.reads.upper), Interval(0, self.elements.upper)
        return Footprint(reads, elements, self.is_exact)

    def but_for(self, doubt: Doubt | None) -> Footprint:
        """The same if values decide which elements are needed."""
        if doubt is None:
            return self
        sure = 0 if doubt.spared is None else (self.elements.lower or 0) - doubt.spared
        reads, elements = (Interval(max(0, sure), of.upper) for of in (self.reads, self.elements))
        return Footprint(reads, elements, is_exact=False)


_NONE: Final = Footprint(Interval(0, 0), Interval(0, 0))
_ONE: Final = Footprint(Interval(1, 1), Interval(1, 1))
NO_IDEA: Final = Footprint(Interval(0, None), Interval(0, None), is_exact=False)

_FAILURES: Final = (OutOfTimeError, NotQuasiAffineError, MapError)
"""Why there may be no exact answer."""


def footprint_of(
    ways: Sequence[OperandIndexing],
    sizes: Sequence[int],
    deadline: Deadline,
    doubts: Sequence[Doubt | None] = (),
) -> Footprint:
    """The footprint of some accesses to an array; each point of a map is a read, but for doubts.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> from ops.performance.tally import Deadline
    >>> window = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
    >>> found = footprint_of([OperandIndexing(window)], [20], Deadline(1))
    >>> print(found.reads, found.elements, found.is_exact)
    [30, 30] [12, 12] True
    """
    pairs = [pair for pair in zip_longest(ways, doubts) if not pair[0].map.is_known_empty]
    found = [_of_way(way, deadline).but_for(doubt) for way, doubt in pairs]
    ways = [way for way, _ in pairs]
    if len(found) <= 1:
        return found[0] if found else _NONE
    bounds = _sum_of(found, prod(sizes))
    is_unsure = any(doubts) or any(way.approximation or way.replica_id is not None for way in ways)
    is_symbolic = any(way.map.parameters for way in ways)
    if bounds.is_exact or is_unsure or is_symbolic:
        return bounds
    return _together(ways, bounds, deadline)


def _sum_of(found: Sequence[Footprint], size: int) -> Footprint:
    """Numbers of elements that several accesses to an array touch at least and at most."""
    reads = sum((each.reads for each in found), _NONE.reads)
    least = max(each.elements.lower or 0 for each in found)
    most = sum((each.elements for each in found), _NONE.elements).min(size).upper
    is_exact = all(each.is_exact for each in found) and reads.size == 1 and least == most
    return Footprint(reads, Interval(least, most), is_exact)


def _together(ways: Sequence[OperandIndexing], bounds: Footprint, deadline: Deadline) -> Footprint:
    """The footprint of several accesses, for the values that they have together; or its bounds."""
    try:
        if any(way.runtime for way in ways):
            return together_at_each_offset(ways, deadline)
        found = tally.tally_of([way.map for way in ways], deadline)
    except _FAILURES:
        return replace(bounds, is_exact=False)
    return Footprint(bounds.reads, Interval.of(found.elements))


# One access.


def _of_way(way: OperandIndexing, deadline: Deadline) -> Footprint:
    if way.approximation or way.replica_id is not None:
        return Footprint(Interval(0, None), _bounds(way.map).elements, is_exact=False)
    found = _parts(way) if way.runtime else _plain_parts(way.map)
    whole = reduce(Footprint.times, (_of_part(part, deadline) for part in found), _ONE)
    if way.runtime and any(deciding(way.map.domain.with_constraints(), way.runtime)):
        whole = whole.or_nothing()  # a value that the program may give lies outside the bounds
    is_known = whole.reads.size == whole.elements.size == 1
    return whole if is_known or not _reads_twice(way) else _together([way], whole, deadline)


def _reads_twice(way: OperandIndexing) -> bool:
    """Whether two variables are one scalar, maybe clamped in two ways."""
    sources = [source_of(origin) for origin in way.runtime if not key_of(origin)]
    return len({*sources}) < len(sources)


def _bounds(whole: IndexingMap) -> Footprint:
    """Cheap bounds: each point may be a read of another element, or none."""
    points, hull = tally.volume(whole), tally.size_of(passes.hull_of([whole]))
    most = (each if each < MAX_INT64 else None for each in (points, min(points, hull)))
    return Footprint(*(Interval(0, each) for each in most), is_exact=False)


class _Part(NamedTuple):
    """Coordinates and variables that depend on each other.

    Attributes:
        map: from the variables, as dimensions, and from runtime variables to the coordinates.
        keys: the index of the value of each runtime variable; none for a scalar.
        are_free: whether no two of the values are the same element of an array.
    """

    map: IndexingMap
    keys: tuple[tuple[Form, ...], ...]
    are_free: bool


@lru_cache(maxsize=tally.REMEMBERED)
def _plain_parts(whole: IndexingMap) -> Sequence[_Part]:
    """The independent parts of a map without runtime variables."""
    return [*_parts(OperandIndexing(whole))]


def _parts(way: OperandIndexing) -> Iterator[_Part]:
    """The independent parts of an access."""
    domain = way.map.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    origins = dict(zip(runtime, way.runtime, strict=True))
    for group in united(_dependent(way, origins)):
        coordinates = sorted(node for node in group if isinstance(node, int))
        static = [name for name in (*dims, *ranges) if name in group]
        values = [name for name in runtime if name in group]
        results = [way.map.forms[number] for number in coordinates]
        keys = [key_of(origins[name]) for name in values]
        part = passes.part_over(way.map, [*results, *chain.from_iterable(keys)], static, values)
        behind = iter(part.forms[len(results) :])
        renamed = tuple(tuple(islice(behind, len(key))) for key in keys)
        are_free = _are_free([origins[name] for name in values])
        yield _Part(part.select_results(range(len(results))), renamed, are_free)


def _are_free(origins: Sequence[RuntimeOrigin]) -> bool:
    """Whether values of elements are found at indices that differ in a constant coordinate."""
    pairs = combinations(origins, 2)
    return all(map(key_of, origins)) and not any(may_be_same(*pair) for pair in pairs)


def _dependent(
    way: OperandIndexing, origins: Mapping[str, RuntimeOrigin]
) -> Iterator[set[int | str]]:
    """Coordinates and variables that depend on each other."""
    domain = way.map.domain
    for coordinate, form in enumerate(way.map.forms):
        yield {coordinate, *forms.variables_of((form,))}
    for form, _ in domain.constraints:
        yield {*forms.variables_of((form,))}
    alike: dict[object, set[int | str]] = defaultdict(set)
    for name, origin in origins.items():
        yield {name, *forms.variables_of(origin.map.forms)}
        alike[source_of(origin)].add(name)
    yield from alike.values()
    for name in domain.identifiers:
        yield {name}


def _of_part(part: _Part, deadline: Deadline) -> Footprint:
    if part.map.parameters:
        return _bounds(part.map)
    try:
        if any(part.keys):
            return _of_values(part, deadline)
        found = alike_at_each_offset(part.map, deadline)
        if found is None:
            return at_each_offset(part.map, deadline)
    except _FAILURES:
        return _bounds(part.map)
    return Footprint(Interval.of(found.points), Interval.of(found.elements))


def _of_values(part: _Part, deadline: Deadline) -> Footprint:
    """The footprint of a part in which elements have values of their own."""
    deadline.check()
    exact = if_same_or_different(part.map, part.keys, deadline) if part.are_free else None
    return exact or bounds_for_any_values(part.map, part.keys, deadline) or _bounds(part.map)


# Elements of accesses whose places depend on values, over all of these values.
#
# The value is either a scalar, such as the start of a slice: then the access is looked at for
# each value. Or each element has a value of its own, such as the indices of a gather: then all
# may be the same, or all different.


def source_of(origin: RuntimeOrigin) -> object:
    """Key that tells a value from others; the values of different elements have one source."""
    return origin.instruction, origin.callers, None if key_of(origin) else origin.map.forms


def key_of(origin: RuntimeOrigin) -> tuple[Form, ...]:
    """The index of a value where elements have values of their own."""
    return origin.map.forms if any(forms.variables_of(origin.map.forms)) else ()


# Scalars.


def alike_at_each_offset(part: IndexingMap, deadline: Deadline) -> Tally | None:
    """The numbers if they are seen to be the same for all values of its runtime variables.

    Values only move what is touched, or what is left out of it. ``None`` if they may do more.

    Raises:
        MapError, OutOfTimeError, NotQuasiAffineError: as :func:`tally_of`.

    >>> from indexing import parse_map
    >>> from ops.performance.tally import Deadline
    >>> text = "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 8], d0 - rt0 in [0, 1]"
    >>> alike_at_each_offset(parse_map(text), Deadline(1))
    Tally(points=2, elements=2)
    >>> left = text.replace("d0 - rt0 in [0, 1]", "max(rt0 - d0, d0 - rt0 - 1) in [1, 9]")
    >>> alike_at_each_offset(parse_map(left), Deadline(1))
    Tally(points=8, elements=8)
    """
    if (still := at_one_offset(_from_values(part))) is not None:
        return tally.tally_of([still], deadline)
    found = map(at_one_offset, map(_from_values, _whole_and_hole(part)))
    pieces = [each for each in found if each is not None]
    if len(pieces) != 2:  # noqa: PLR2004 - the whole, and what is left out of it
        return None
    whole, hole = (tally.tally_of([each], deadline) for each in pieces)
    left = whole.points - hole.points
    return Tally(left, left) if whole.points == whole.elements else None


def _whole_and_hole(part: IndexingMap) -> Sequence[IndexingMap]:
    """The map without its only constraint on values, and the map where that does not hold.

    None if that always holds for some value, or never.
    """
    domain = part.domain
    moving = [each for each in domain.constraints if _uses_values(each[:1], part)]
    found = free_and_turned(part, moving[0]) if len(moving) == 1 else None
    if found is None:
        return ()
    whole, hole = found[0], found[1].simplify()
    return [whole, hole] if hole.domain.runtime == domain.runtime else ()


def _uses_values(given: Iterable[Form], part: IndexingMap) -> bool:
    """Whether forms depend on runtime variables of a map."""
    *_, runtime = part.domain.by_role(part.domain.identifiers)
    return not {*runtime}.isdisjoint(forms.variables_of(given))


def at_one_offset(part: IndexingMap) -> IndexingMap | None:
    """The map at one value of its runtime variables, if others only move its elements.

    >>> from indexing import parse_map
    >>> window = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 8]"
    >>> print(at_one_offset(parse_map(window)))
    (d0) -> (d0), domain: d0 in [0, 3]
    """
    domain = part.domain
    dims, _, runtime = domain.by_role(domain.identifiers)
    values = {*map(forms.variable_atom, runtime)}
    still = [form.without(*values.intersection(form.terms)) for form in part.forms]
    if _uses_values([*still, *(form for form, _ in domain.constraints)], part):
        return None
    return passes.arranged(IndexingMap.from_forms(still, domain), dims)


def _from_values(part: IndexingMap) -> IndexingMap:
    """The map with dimensions counted from values on, where a constraint limits their distance."""
    dims, *_ = part.domain.by_role(part.domain.identifiers)
    for form, inside in part.domain.constraints:
        for name in dims if _uses_values([form], part) else ():
            factor = form.terms.get(forms.variable_atom(name), 0)
            if abs(factor) == 1:
                moved = _counted_from(part, name, form * factor, inside * factor)
                if moved is not None:
                    return _from_values(moved)
    return part


def _counted_from(
    part: IndexingMap, name: str, distance: Form, inside: Interval
) -> IndexingMap | None:
    """The map with a distance in the place of a dimension; ``None`` if that may be out of bounds.

    The distance lies in an interval.
    """
    domain = part.domain
    place = {name: forms.variable(name) * 2 - distance}
    free = domain.with_constraints().with_variables(
        each.within(inside) if identifier == name else each
        for identifier, each in zip(domain.identifiers, domain.variables, strict=True)
    )
    (reach,) = IndexingMap.from_forms(place.values(), free).result_bounds()
    if not domain.bounds[name].contains(reach):
        return None
    limits = passes.substituted_constraints(domain.constraints, place)
    return IndexingMap.from_forms(substitute(part.forms, place), free.constrained(limits))


def at_each_offset(part: IndexingMap, deadline: Deadline) -> Footprint:
    """The numbers for the values of its runtime variables, one by one.

    Raises:
        OutOfTimeError: there are too many, or no time is left.
    """
    points, is_reached = _by_offset(part, part.result_bounds(), deadline)
    return Footprint(_range(points), _range(is_reached.sum(axis=1)))


def together_at_each_offset(ways: Sequence[OperandIndexing], deadline: Deadline) -> Footprint:
    """The numbers of several accesses for the values that they have together, one by one.

    Raises:
        OutOfTimeError: there are too many, or they differ from element to element.
    """
    values, hull = _values_of(ways), passes.hull_of([way.map for way in ways])
    count = tally.size_of(values.values())
    if count * tally.size_of(hull) > tally.MAX_MARKS:
        raise OutOfTimeError
    columns = points_in(values, np.arange(count, dtype=np.int64))
    points = np.zeros(count, dtype=np.int64)
    is_reached = np.zeros((count, tally.size_of(hull)), dtype=bool)
    for way in ways:
        own_points, own_reached = _by_offset(way.map, hull, deadline)
        own, is_met = _own_offset(way, columns, count)
        points[is_met] += own_points[own[is_met]]
        is_reached[is_met] |= own_reached[own[is_met]]
    return Footprint(_range(points), _range(is_reached.sum(axis=1)))


def _values_of(ways: Sequence[OperandIndexing]) -> dict[object, Interval]:
    """The values of each scalar that make a difference."""
    values: dict[object, Interval] = {}
    for way in ways:
        for origin, variable in zip(way.runtime, way.map.runtime, strict=True):
            if key_of(origin) or isinstance(origin.clamp, Ends):
                raise OutOfTimeError
            first, last = variable.bounds.ends  # a value beyond stands for all that lie there
            reach = origin.clamp or Interval.from_range((first - 1, last + 1))
            source = source_of(origin)
            values[source] = values.get(source, reach).union(reach)
    return values


def _own_offset(
    way: OperandIndexing, columns: Mapping[object, Column], count: int
) -> tuple[Column, Column]:
    """The numbers of an access's offsets at each combination, and where it has one."""
    own: list[Column] = []
    is_met: Column = np.ones(count, dtype=bool)
    for origin, variable in zip(way.runtime, way.map.runtime, strict=True):
        value = columns[source_of(origin)]
        if origin.clamp is not None:
            value = value.clip(origin.clamp.lower, origin.clamp.upper)
        lower, upper = variable.bounds.ends
        is_met &= (value >= lower) & (value <= upper)
        own.append(value)
    number = passes.numbered(own, [variable.bounds for variable in way.map.runtime])
    return np.broadcast_to(number, count), is_met


def _by_offset(
    part: IndexingMap, hull: Sequence[Interval], deadline: Deadline
) -> tuple[Column, Column]:
    """The points at each offset, and a row of the places in a box that they lead to."""
    domain = part.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    wanted = [*map(forms.variable, runtime), *part.forms]
    by_offset = passes.arranged(IndexingMap.from_forms(wanted, domain), [*runtime, *dims, *ranges])
    return tally.marked([by_offset], [domain.bounds[name] for name in runtime], hull, deadline)


def _range(column: Column) -> Interval:
    return Interval(int(column.min()), int(column.max()))


# A value for each element.


def if_same_or_different(
    part: IndexingMap, keys: Sequence[Sequence[Form]], deadline: Deadline
) -> Footprint | None:
    """The numbers if all values are the same, and if they differ as much as they can.

    ``keys`` are the indices of the values of the runtime variables. ``None`` if a coordinate is
    computed from a value, or a constraint is on one.

    Raises:
        OutOfTimeError: there are too many points, or no time is left.
    """
    _, _, runtime = part.domain.by_role(part.domain.identifiers)
    static = [form for form in part.forms if {*runtime}.isdisjoint(forms.variables_of((form,)))]
    if part.domain.constraints or not _are_values(part.forms, static, runtime):
        return None
    choices = tally.size_of(part.domain.bounds[name] for name in runtime)
    known = _of_single_variables(part, static, [form for key in keys for form in key], choices)
    if known is not None:
        return known
    points, is_there = _by_place_and_key(part, static, keys, deadline)
    different = is_there.sum(axis=1)
    most = different.clip(max=choices).sum()
    return Footprint(points, Interval(int((different > 0).sum()), int(most)))


def _of_single_variables(
    part: IndexingMap, places: Sequence[Form], keys: Sequence[Form], choices: int
) -> Footprint | None:
    """The numbers as products of sizes, where each place and key is a dimension or a constant.

    ``None`` where one is more than that. Most gathers are so plain, and need no NumPy.
    """
    bounds, points = part.domain.bounds, tally.volume(part)
    _, ranges, _ = part.domain.by_role(part.domain.identifiers)
    if ranges or not 0 < points < MAX_INT64:
        return None
    of_places, of_keys = _dimensions(places), _dimensions(keys)
    if of_places is None or of_keys is None:
        return None
    reached = tally.size_of(bounds[name] for name in of_places)
    different = tally.size_of(bounds[name] for name in of_keys - of_places)
    return Footprint(Interval(points, points), Interval(reached, reached * min(different, choices)))


def _dimensions(index: Sequence[Form]) -> set[str] | None:
    """The dimensions that are coordinates; ``None`` if a coordinate is computed from some."""
    moved = [form for form in index if form.terms]
    names = [name for form in moved if (name := form.single_variable()) is not None]
    return {*names} if len(names) == len(moved) else None


def _are_values(wanted: Sequence[Form], static: Sequence[Form], runtime: Sequence[str]) -> bool:
    """Whether the other coordinates are the values themselves, each of them once."""
    names = [form.single_variable() for form in wanted if form not in static]
    return None not in names and sorted(filter(None, names)) == sorted(runtime)


def bounds_for_any_values(
    part: IndexingMap, keys: Sequence[Sequence[Form]], deadline: Deadline
) -> Footprint | None:
    """Bounds of the numbers: a part with one value keeps its shape, wherever it is.

    ``None`` if a constraint is on a value, or it does more than move elements.

    Raises:
        OutOfTimeError: there are too many points, or no time is left.
    """
    still = at_one_offset(part)
    if still is None:
        return None
    points, is_there = _by_place_and_key(part, still.forms, keys, deadline)
    together = is_there.sum(axis=0)
    most = min(int(together.sum()), tally.size_of(part.result_bounds()))
    elements = Interval(int(together.max()), most)
    return Footprint(points, elements, is_exact=elements.size == 1)


def _by_place_and_key(
    part: IndexingMap, places: Sequence[Form], keys: Sequence[Sequence[Form]], deadline: Deadline
) -> tuple[Interval, Column]:
    """The points, and for each place a row of the values that lead there."""
    dims, *_ = part.domain.by_role(part.domain.identifiers)
    index = [form for key in keys for form in key]
    both = passes.arranged(IndexingMap.from_forms([*places, *index], part.domain), dims)
    hull, rank = passes.hull_of([both]), len(places)
    points, is_there = tally.marked([both], hull[:rank], hull[rank:], deadline)
    return Interval.of(int(points.sum())), is_there
