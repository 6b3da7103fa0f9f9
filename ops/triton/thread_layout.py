"""Which thread of a program holds which elements of a block, and so accesses what."""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, Variable, VariableKind
from indexing.layout import Shape, ShapeError
from indexing.layout.linear import LinearLayout, blocked_for, to_map
from simplifier import FloorDiv, Interval, Mod, symbol
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import sympy

    from indexing.layout import ElementType
    from ops.performance import Device

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
