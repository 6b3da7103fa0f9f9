"""An access of a kernel: which elements of an argument it loads or stores, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import Final, NamedTuple

import sympy

from indexing import IndexingMap, IndexSet, MapError, Variable, VariableKind
from indexing.layout import ElementType, Shape, ShapeError
from indexing.layout.linear import LinearLayout, blocked_for, to_map
from ops.performance import Coalescing, Device, coalescing
from ops.triton.expressions import INT32
from simplifier import FloorDiv, Mod, symbol
from simplifier.errors import check_integers, check_type
from simplifier.forms import Interval
from simplifier.tools.display import Displayed


class OutOfBoundsElement(NamedTuple):
    """An element outside of its tensor that a kernel accesses.

    Attributes:
        line: of the access, counted from 1.
        argument: the pointer.
        program: the program ids.
        place: in the block.
        loops: the counters of the loops around the access, by name.
        offset: of the element from the pointer.
        overflow: a number that the kernel computes on the way to the element, and that does not fit
            in the 32 bits of its type: the element that is accessed is another one.
    """

    line: int
    argument: str
    program: tuple[int, ...]
    place: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]
    offset: int
    overflow: int | None = None

    def __str__(self) -> str:
        loops = "".join(f", iteration {number} of {name}" for name, number in self.loops)
        place = f"place {self.place} of its block" if self.place else "its scalar"
        what = f"accesses element {self.offset} at {place}"
        if self.overflow is not None:
            what = f"computes {self.overflow} for {place}, which does not fit in 32 bits"
        return f"line {self.line}: {self.argument}: program {self.program}{loops} {what}"


@dataclass(frozen=True, slots=True, repr=False)
class KernelAccess(Displayed):
    """The elements that a load, a store or an atomic operation of a kernel touches.

    Attributes:
        kind: the function, such as ``load``.
        argument: the pointer argument.
        line: of the kernel's text, counted from 1.
        map: from the program ids and the place in the block, for each iteration of the loops
            around, to the offset of an element from the pointer. Its domain is where the mask
            holds.
        block: the shape of the block.
        is_exact: whether all of the mask is known; otherwise it touches no more than this.
        kept: maps to each number that has to fit in 32 bits for that, and to the offset.
    """

    kind: str
    argument: str
    line: int
    map: IndexingMap
    block: tuple[int, ...]
    is_exact: bool = True
    kept: tuple[IndexingMap, ...] = field(default=(), compare=False)

    def out_of_bounds(
        self, sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> OutOfBoundsElement | None:
        """An element that is accessed outside of a tensor; ``None`` is a proof that there is none.

        The pointer points at the first element of a tensor of these sizes and strides, in elements;
        without strides the last dimension is the fastest, and nothing lies between. Arguments that
        have no value may have any. Integers have 32 bits, as in Triton, unless the kernel asks for
        64: numbers on the way to an element that do not fit count, too.

        Raises:
            MapError: there are other numbers of sizes and strides, or too many points to look at.
            NotQuasiAffineError: an argument is a factor that has no value.
        """
        overflows = (self._beyond(each, INT32) for each in self.kept)
        return self._outside(_tensor(sizes, strides)) or next(filter(None, overflows), None)

    def _outside(self, elements: IndexingMap) -> OutOfBoundsElement | None:
        """An element that is none of a tensor."""
        reach = elements.result_bounds()[0] if elements.dims else Interval(0, 0)
        is_dense = elements.count_results() == reach.size
        (touched,) = self.map.result_bounds()
        if is_dense and reach.contains(touched):
            return None
        found = self._beyond(self.map, reach)
        if is_dense or found is not None:
            return found
        between = IndexSet.box((reach.lower, reach.upper)) - elements.image()
        wrong = self.map.restrict_results(between)
        return self._first(wrong)

    def coalescing(
        self,
        device: Device,
        element_type: ElementType | str,
        *,
        num_warps: int = 4,
        layout: LinearLayout | None = None,
    ) -> Coalescing:
        """The sectors that the warps of the whole grid load, or store.

        Triton gives the elements of a block to threads by a linear layout: the blocked one of its
        coalescing pass, unless one is given.

        Raises:
            ShapeError: the layout is not of this block, or a size is no power of two.
            MapError: a program id or a loop is not bounded, or an argument has no value.
            DeviceError: the device lacks a figure.
        """
        if layout is None:
            layout = coalesced_layout(self.map, self.block, device, element_type, num_warps)
        threads = by_thread(self.map, self.block, layout)
        return coalescing(threads, device, element_type=element_type)

    def _beyond(self, checked: IndexingMap, limits: Interval) -> OutOfBoundsElement | None:
        """The first point of a map of these variables whose first result lies beyond limits."""
        for values in (
            Interval(None, (limits.lower or 0) - 1),
            Interval((limits.upper or 0) + 1, None),
        ):
            if not checked.result_bounds()[0].intersect(values).is_empty:
                found = self._first(checked.with_constraint(checked.results[0], values))
                if found is not None:
                    return found
        return None

    def _first(self, wrong: IndexingMap) -> OutOfBoundsElement | None:
        """The first point of a map of these variables, which leads to a wrong element."""
        found = _with_arguments(wrong).sample()
        if found is None:
            return None
        dims, ranges, _, (*overflow, offset) = found
        counters = dict(zip((each.name for each in wrong.ranges), ranges, strict=True))
        programs = len(self.map.dims) - len(self.block)
        return OutOfBoundsElement(
            self.line,
            self.argument,
            tuple(dims[:programs]),
            tuple(dims[programs : len(self.map.dims)]),
            tuple((each.name, counters[each.name]) for each in self.map.ranges),
            int(offset),
            *map(int, overflow),
        )

    def __str__(self) -> str:
        about = "" if self.is_exact else ", at most"
        return f"line {self.line}: {self.kind} {self.argument}{about}: {self.map}"


def _with_arguments(indexing_map: IndexingMap) -> IndexingMap:
    """The map with its parameters as dimensions, so that a point has values for them."""
    if not indexing_map.parameters:
        return indexing_map
    return indexing_map.replace(dims=[*indexing_map.dims, *indexing_map.parameters], parameters=())


def _tensor(sizes: Sequence[int], strides: Sequence[int] | None) -> IndexingMap:
    """The map from the index of an element to its offset."""
    check_integers(sizes, "out_of_bounds: sizes")
    if strides is None:
        strides = [1] * len(sizes)
        for number in reversed(range(len(sizes) - 1)):
            strides[number] = strides[number + 1] * sizes[number + 1]
    check_integers(strides, "out_of_bounds: strides")
    if len(strides) != len(sizes):
        message = f"out_of_bounds: there are {len(sizes)} sizes and {len(strides)} strides"
        raise MapError(f"{message}; expected as many")
    offset = sum(symbol(f"d{number}") * stride for number, stride in enumerate(strides))
    return IndexingMap.from_sizes([offset], dims=sizes)


# Threads of a program with the elements of a block that they hold, and access.

_VECTOR_BITS: Final = 128
"""The most that Triton lets a thread load with one instruction."""

_PROGRAMS: Final = (VariableKind.BL_X, VariableKind.BL_Y, VariableKind.BL_Z)

_THREADS: Final = ("register", "lane", "warp", "block")
"""The in-dimensions of a layout of threads."""


def by_thread(access: IndexingMap, block: Sequence[int], layout: LinearLayout) -> IndexingMap:
    """The map of an access from the coordinates of a launch, ``th_x`` and ``bl_x`` to ``bl_z``.

    The registers of a thread are the innermost loops.

    Raises:
        ArgumentError: the layout is no linear layout.
        ShapeError: it is of another block, of memory, or of several blocks.
    """
    _check(layout, block)
    boxes = _boxes_of_registers(layout)
    places = to_map(LinearLayout({**layout.bases, **boxes}, layout.out_dims))
    programs = access.dims[: len(access.dims) - len(block)]
    coordinates = list(zip(programs, _PROGRAMS, strict=False))
    lanes, warps = (layout.in_dims.get(name, 1) for name in ("lane", "warp"))
    of_thread: dict[sympy.Expr, sympy.Expr] = {
        symbol("lane"): Mod(symbol("th_x"), lanes),
        symbol("warp"): FloorDiv(symbol("th_x"), lanes),
    }
    given: dict[sympy.Expr, sympy.Expr] = {
        symbol(each.name): symbol(kind.value) for each, kind in coordinates
    }
    for each, place in zip(access.dims[len(programs) :], places.results, strict=True):
        given[symbol(each.name)] = place.xreplace(of_thread)
    results = [result.xreplace(given) for result in access.results]
    constraints = [
        (expression.xreplace(given), interval) for expression, interval in access.constraints
    ]
    threads = Variable(Interval(0, lanes * warps - 1), kind=VariableKind.TH_X)
    blocks = [Variable(each.bounds, kind=kind) for each, kind in coordinates]
    registers = [Variable.of_size(1 << len(bases), name) for name, bases in boxes.items()]
    ranges = [*access.ranges, *reversed(registers)]
    return IndexingMap(results, [threads, *blocks], ranges, (), constraints)


def _boxes_of_registers(layout: LinearLayout) -> dict[str, list[tuple[int, ...]]]:
    """The bases of registers by runs in which each is twice the one before: a loop for each run."""
    runs: list[list[tuple[int, ...]]] = [[]]
    for basis in layout.bases.get("register", ()):
        if runs[-1] and basis != tuple(2 * each for each in runs[-1][-1]):
            runs.append([])
        runs[-1].append(basis)
    return {"register" if not n else f"register{n}": run for n, run in enumerate(runs)}


def _check(layout: LinearLayout, block: Sequence[int]) -> None:
    check_type(layout, LinearLayout, "coalescing: layout", "a LinearLayout")
    sizes = tuple(layout.out_dims.values())
    if sizes != tuple(block):
        raise ShapeError(f"coalescing: the layout is of the shape {sizes}; expected {tuple(block)}")
    if not layout.in_dims.keys() <= {*_THREADS} or layout.in_dims.get("block", 1) > 1:
        names = ", ".join(f"{name} (size {size})" for name, size in layout.in_dims.items())
        expected = "expected register, lane and warp, and one block"
        raise ShapeError(f"coalescing: the layout is from {names}; {expected}")


def coalesced_layout(
    access: IndexingMap,
    block: Sequence[int],
    device: Device,
    element_type: ElementType | str,
    num_warps: int,
) -> LinearLayout:
    """The layout that Triton's coalescing pass picks for an access.

    The dimension along which elements follow each other in memory is the fastest, and each thread
    holds as many neighbours as it can load at once. Of an access that Triton looks at together with
    others, as of two loads of one sum, it may pick a larger number.

    Raises:
        ShapeError: a size of the block or the number of warps is no power of two.

    Source:
        Triton's ``tritongpu-coalesce``.
    """
    if not block:
        return LinearLayout.empty()
    warp_size = device.figure("warp_size", "coalescing")
    bits = Shape.parse(f"{element_type}[]").element_size_in_bits
    runs = [*_runs(access, len(block))]
    order = sorted(range(len(block)), key=lambda number: (-runs[number], -number))
    sizes = [1] * len(block)
    widest = max(1, min(_VECTOR_BITS // bits, prod(block) // max(1, num_warps * warp_size)))
    sizes[order[0]] = _power_of_two(min(widest, runs[order[0]], block[order[0]]))
    return blocked_for(block, num_warps, size_per_thread=sizes, order=order, lanes=warp_size)


def _runs(access: IndexingMap, rank: int) -> Iterator[int]:
    """Number of neighbours along each dimension of a block side by side, and aligned."""
    (by_variable,) = access.contiguity()
    for variable in access.dims[len(access.dims) - rank :]:
        found = by_variable[variable.name]
        size = variable.bounds.size or 1
        run = min(found.contiguity or size, size)
        yield _power_of_two(gcd(found.divisibility, 1 << run.bit_length()) if run > 1 else 1, run)


def _power_of_two(*most: int) -> int:
    """The greatest power of two that is no more than some numbers."""
    return 1 << (max(1, min(most)).bit_length() - 1)
