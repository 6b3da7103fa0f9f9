"""Triton's blocked layouts: which thread holds which elements of a block."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, Variable, VariableKind
from indexing.layout import Shape
from simplifier import FloorDiv, Interval, Mod, symbol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import sympy

    from indexing.layout import ElementType
    from ops.performance import Device

_VECTOR_BITS: Final = 128
"""The most that Triton lets a thread load with one instruction."""

_PROGRAMS: Final = (VariableKind.BL_X, VariableKind.BL_Y, VariableKind.BL_Z)


@dataclass(frozen=True, slots=True)
class BlockedLayout:
    """Which elements of a block each thread holds: ``#ttg.blocked``.

    A thread holds ``size_per_thread`` neighbours, a warp that many for each of its threads, and a
    program that many for each warp; beyond that the layout begins again. Along a dimension where it
    is larger than the block, several threads hold the same elements.

    Attributes:
        block: the sizes of the block.
        size_per_thread: elements of a thread along each dimension.
        threads_per_warp: threads along each dimension.
        warps: along each dimension.
        order: the dimensions, the fastest first.

    >>> layout = BlockedLayout.of((64, 64), size_per_thread=(1, 4), order=(1, 0), num_warps=4)
    >>> layout.threads_per_warp, layout.warps
    ((2, 16), (4, 1))
    """

    block: tuple[int, ...]
    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps: tuple[int, ...]
    order: tuple[int, ...]

    @classmethod
    def of(
        cls,
        block: Sequence[int],
        *,
        size_per_thread: Sequence[int],
        order: Sequence[int],
        num_warps: int,
        warp_size: int = 32,
    ) -> BlockedLayout:
        """The layout whose threads are placed along the fastest dimensions first.

        Source:
            The builder of Triton's ``BlockedEncodingAttr`` from a shape and sizes per thread.
        """
        lanes, warps, threads = warp_size, num_warps, num_warps * warp_size
        lanes_of, warps_of = [1] * len(block), [1] * len(block)
        for number in order[:-1]:
            wanted = max(1, block[number] // size_per_thread[number])
            here = min(threads, wanted)
            lanes_of[number] = min(here, lanes)
            warps_of[number] = max(1, min(here // lanes_of[number], warps))
            lanes //= lanes_of[number]
            warps //= warps_of[number]
            threads //= here
        if order:
            lanes_of[order[-1]], warps_of[order[-1]] = lanes, warps
        return cls(
            tuple(block), tuple(size_per_thread), tuple(lanes_of), tuple(warps_of), tuple(order)
        )

    @property
    def threads(self) -> int:
        """The threads of a program; a block without dimensions is one thread's."""
        return prod(self.threads_per_warp) * prod(self.warps)

    def by_thread(self, access: IndexingMap) -> IndexingMap:
        """The map of an access from the coordinates of a launch, ``th_x`` and ``bl_x`` to ``bl_z``.

        The registers of a thread are the innermost loops.
        """
        programs = access.dims[: len(access.dims) - len(self.block)]
        coordinates = list(zip(programs, _PROGRAMS, strict=False))
        places, registers = self._places()
        given: dict[sympy.Expr, sympy.Expr] = {
            symbol(each.name): symbol(kind.value) for each, kind in coordinates
        }
        for each, place in zip(access.dims[len(programs) :], places, strict=True):
            given[symbol(each.name)] = place
        results = [result.xreplace(given) for result in access.results]
        constraints = [
            (expression.xreplace(given), interval) for expression, interval in access.constraints
        ]
        threads = Variable(Interval(0, self.threads - 1), kind=VariableKind.TH_X)
        blocks = [Variable(each.bounds, kind=kind) for each, kind in coordinates]
        ranges = [*access.ranges, *registers]
        return IndexingMap(results, [threads, *blocks], ranges, (), constraints)

    def _places(self) -> tuple[list[sympy.Expr], list[Variable]]:
        """The places that a thread holds, over its number and the loops over its registers."""
        count = prod(self.threads_per_warp)
        lane, warp = Mod(symbol("th_x"), count), FloorDiv(symbol("th_x"), count)
        places: dict[int, sympy.Expr] = {}
        inner: list[Variable] = []
        outer: list[Variable] = []
        for number in self.order:
            size, lanes, warps = (
                each[number] for each in (self.size_per_thread, self.threads_per_warp, self.warps)
            )
            held = min(size * lanes * warps, self.block[number])
            first = (Mod(warp, warps) * lanes + Mod(lane, lanes)) * size
            lane, warp = FloorDiv(lane, lanes), FloorDiv(warp, warps)
            again = Variable(Interval(0, self.block[number] // held - 1), f"again{number}")
            register = Variable(Interval(0, min(size, held) - 1), f"register{number}")
            beside, repeated = symbol(register.name), symbol(again.name)
            places[number] = Mod(first, held) + beside + repeated * held
            inner.insert(0, register)
            outer.insert(0, again)
        return [places[number] for number in range(len(self.block))], [*outer, *inner]


def coalesced_layout(
    access: IndexingMap,
    block: Sequence[int],
    device: Device,
    element_type: ElementType | str,
    num_warps: int,
) -> BlockedLayout:
    """The layout that Triton's coalescing pass picks for an access.

    The dimension along which elements follow each other in memory is the fastest, and each thread
    holds as many neighbours as it can load at once. Of an access that Triton looks at together with
    others, as of two loads of one sum, it may pick a larger number.

    Source:
        Triton's ``tritongpu-coalesce``.
    """
    warp_size = device.figure("warp_size", "coalescing")
    bits = Shape.parse(f"{element_type}[]").element_size_in_bits
    runs = [*_runs(access, len(block))]
    order = sorted(range(len(block)), key=lambda number: (-runs[number], -number))
    sizes = [1] * len(block)
    if order:
        widest = max(1, min(_VECTOR_BITS // bits, prod(block) // (num_warps * warp_size)))
        sizes[order[0]] = _power_of_two(min(widest, runs[order[0]], block[order[0]]))
    return BlockedLayout.of(
        block, size_per_thread=sizes, order=order, num_warps=num_warps, warp_size=warp_size
    )


def _runs(access: IndexingMap, rank: int) -> Iterator[int]:
    """How many neighbours along each dimension of a block lie side by side, and are aligned."""
    (by_variable,) = access.contiguity()
    for variable in access.dims[len(access.dims) - rank :]:
        found = by_variable[variable.name]
        size = variable.bounds.size or 1
        run = min(found.contiguity or size, size)
        yield _power_of_two(gcd(found.divisibility, 1 << run.bit_length()) if run > 1 else 1, run)


def _power_of_two(*most: int) -> int:
    """The greatest power of two that is no more than some numbers."""
    return 1 << (max(1, min(most)).bit_length() - 1)
