"""Triton kernels that people wrote: their loads and stores as maps."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod
from typing import Any, Final, NamedTuple, cast

import sympy

from indexing import IndexingMap, IndexSet, MapError, Variable, VariableKind
from indexing.layout import ElementType, Shape, ShapeError
from indexing.layout.linear import LinearLayout, blocked_for, to_map
from ops.performance import Coalescing, Device, coalescing
from ops.triton import expressions, symbolic
from ops.triton.expressions import TritonError
from ops.triton.interpreter import AccessRecord, KernelInterpreter
from ops.triton.symbolic import Formula, IntegerBlock, Kept, unmarked
from simplifier import FloorDiv, Mod, bounds_of, symbol
from simplifier.errors import ArgumentError, check_integers, check_type, quoted
from simplifier.forms import Interval
from simplifier.tools.display import Displayed, html_of_table

__all__ = ["KernelAccess", "KernelAccesses", "OutOfBoundsElement", "TritonError", "read_kernel"]


# Accesses: which elements of an argument a kernel loads or stores, and where.


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
        overflows = (self._beyond(each, symbolic.INT32) for each in self.kept)
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
        below = Interval(None, (limits.lower or 0) - 1)
        above = Interval((limits.upper or 0) + 1, None)
        bounds = checked.result_bounds()[0]
        possible = (side for side in (below, above) if not bounds.intersect(side).is_empty)
        wrong = (checked.with_constraint(checked.results[0], side) for side in possible)
        return next(filter(None, map(self._first, wrong)), None)

    def _first(self, wrong: IndexingMap) -> OutOfBoundsElement | None:
        """The first point of a map of these variables, which leads to a wrong element."""
        dims = [*wrong.dims, *wrong.parameters]  # so that a point has values for parameters
        found = wrong.replace(dims=dims, parameters=()).sample()
        if found is None:
            return None
        dims, ranges, _, (*overflow, offset) = found
        counters = dict(zip((each.name for each in wrong.ranges), ranges, strict=True))
        loops = tuple((each.name, counters[each.name]) for each in self.map.ranges)
        programs = len(self.map.dims) - len(self.block)
        where = tuple(dims[:programs]), tuple(dims[programs : len(self.map.dims)]), loops
        numbers = map(int, (offset, *overflow))
        return OutOfBoundsElement(self.line, self.argument, *where, *numbers)

    def __str__(self) -> str:
        about = "" if self.is_exact else ", at most"
        return f"line {self.line}: {self.kind} {self.argument}{about}: {self.map}"


def _tensor(sizes: Sequence[int], strides: Sequence[int] | None) -> IndexingMap:
    """The map from the index of an element to its offset."""
    check_integers(sizes, "out_of_bounds: sizes")
    if strides is None:
        strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
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
    thread = symbol("th_x")
    of_thread = {symbol("lane"): Mod(thread, lanes), symbol("warp"): FloorDiv(thread, lanes)}
    values = [symbol(kind.value) for _, kind in coordinates]
    values += [place.xreplace(of_thread) for place in places.results]
    given = {symbol(each.name): value for each, value in zip(access.dims, values, strict=True)}
    results = [result.xreplace(given) for result in access.results]
    constraints = [(limited.xreplace(given), within) for limited, within in access.constraints]
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


# Reader of a Triton kernel: from its text to the maps of its loads and stores.


@dataclass(frozen=True, slots=True, repr=False)
class KernelAccesses(Displayed):
    """The accesses of a kernel, in the order of its text; see :func:`read_kernel`."""

    name: str
    accesses: tuple[KernelAccess, ...]

    def of(self, argument: str) -> tuple[KernelAccess, ...]:
        """The accesses through a pointer argument."""
        return tuple(each for each in self.accesses if each.argument == argument)

    def __str__(self) -> str:
        return "\n".join([f"kernel {self.name}", *(f"  {each}" for each in self.accesses)])

    def _repr_html_(self) -> str:
        rows = ((str(each.line), each.kind, each.argument, str(each.map)) for each in self.accesses)
        return html_of_table(("line", "function", "pointer", "offset"), rows, title=self.name)


def read_kernel(
    kernel: object,
    constants: Mapping[str, object] | None = None,
    arguments: Mapping[str, int] | None = None,
    *,
    grid: Sequence[int] | None = None,
    name: str = "",
) -> KernelAccesses:
    """The loads, stores and atomic operations of a Triton kernel, as maps.

    The kernel is the text of a module, or a function of which Python knows the text. It is parsed
    and never run, so Triton is not needed. Functions of the text that it calls are read in place.

    Args:
        kernel: the text, or the function.
        constants: the parameters that are ``tl.constexpr``, by name.
        arguments: the integer arguments whose values are known, such as sizes and strides. Others
            are parameters of the maps, at least 0.
        grid: how many programs there are along each axis; without it, any number.
        name: of the kernel; without it, the last function of the text.

    In maps, numbers have no end; ``out_of_bounds`` finds those that 32 bits do not hold. Divisors
    are positive, and divisions round toward zero.

    Raises:
        TritonError: what cannot be read, with its line and column, and a caret.
        ArgumentError: an argument is of another kind, or a constant has no value.

    >>> print(read_kernel('''
    ... @triton.jit
    ... def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    ...     offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     mask = offsets < n
    ...     total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    ...     tl.store(out_ptr + offsets, total, mask=mask)
    ... ''', {"BLOCK": 128}, {"n": 1000}, grid=(8,)))
    kernel add
      line 6: load x_ptr: (pid0, i0) -> (pid0 * 128 + i0), domain: pid0 in [0, 7], i0 in [0, 127],
    pid0 * 128 + i0 in [0, 999]
      line 6: load y_ptr: (pid0, i0) -> (pid0 * 128 + i0), domain: pid0 in [0, 7], i0 in [0, 127],
    pid0 * 128 + i0 in [0, 999]
      line 7: store out_ptr: (pid0, i0) -> (pid0 * 128 + i0), domain: pid0 in [0, 7],
    i0 in [0, 127], pid0 * 128 + i0 in [0, 999]
    """
    known = {**_checked(constants, "constants"), **_numbers(_checked(arguments, "arguments"))}
    if grid is not None:
        _check_grid(grid)
    text, own_name = expressions.KernelText.of(kernel)
    function = text.kernel(name or own_name)
    interpreter = KernelInterpreter(text, grid)
    unknown = [each.arg for each in _unknown_parameters(function, known)]
    interpreter.arguments = frozenset(unknown)
    for argument in unknown:
        interpreter.bounds[argument] = Interval(0, None)
        known[argument] = IntegerBlock((), symbol(argument))
    interpreter.run_kernel(function, known)
    records = [_multiplied_out(text, each) for each in interpreter.records]
    integers = _integers(records)
    pairs = zip(interpreter.records, records, strict=True)
    accesses = (_access(interpreter, *pair, unknown, integers) for pair in pairs)
    return KernelAccesses(function.name, tuple(accesses))


def _checked(given: Mapping[str, Any] | None, role: str) -> Mapping[str, Any]:
    check_type(given or {}, Mapping, f"read_kernel: {role}", "a mapping from names to values")
    return {name: _plain(value) for name, value in (given or {}).items()}


def _plain(value: object) -> object:
    """An integer of NumPy as one of Python; anything else as it is."""
    is_other = hasattr(value, "__index__") and not isinstance(value, int)
    return operator.index(cast("Any", value)) if is_other else value


def _numbers(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, value in arguments.items():
        check_type(value, (int, float), f"read_kernel: arguments: {name}", "a number")
    return {
        name: symbolic.RuntimeInteger(value)
        if symbolic.is_integer(value) and symbolic.is_narrow(value)
        else value
        for name, value in arguments.items()
    }


def _check_grid(grid: Sequence[int]) -> None:
    check_integers(grid, "read_kernel: grid")
    if len(grid) > symbolic.MAX_AXES or any(size < 1 for size in grid):
        expected = f"expected one to {symbolic.MAX_AXES} sizes of at least 1"
        raise ArgumentError(f"read_kernel: grid is {tuple(grid)}; {expected}")


def _unknown_parameters(
    function: ast.FunctionDef, known: Mapping[str, object]
) -> Iterator[ast.arg]:
    """The parameters that have no value: pointers and integers.

    Raises:
        ArgumentError: one is a constant, or has the name of a variable of the maps.
    """
    defaults = expressions.defaults_of(function)
    for each in expressions.parameters_of(function):
        if each.arg in known or each.arg in defaults:
            continue
        if each.annotation is not None and ast.unparse(each.annotation).endswith("constexpr"):
            message = f"read_kernel: {each.arg} is a constexpr without a value"
            raise ArgumentError(f"{message}; expected one in constants")
        if symbolic.is_reserved(each.arg):
            message = f"read_kernel: {quoted(each.arg)} is the name of a variable of the maps"
            raise ArgumentError(f"{message}; expected another name, or a value in arguments")
        yield each


# Accesses.


def _multiplied_out(text: expressions.KernelText, record: AccessRecord) -> AccessRecord:
    """The access with its address as a sum of terms, of which one is the pointer."""
    formula = symbolic.multiplied_out(unmarked(record.address.formula))
    if formula is None:
        message = f"this address is a product of more than {symbolic.MAX_FACTORS} factors"
        text.refuse(record.node, message)
    address = IntegerBlock(record.address.shape, formula)
    loops = (replace(each, trip_count=unmarked(each.trip_count)) for each in record.loops)
    condition = unmarked(record.condition)
    return replace(record, address=address, condition=condition, loops=tuple(loops))


def _integers(records: Sequence[AccessRecord]) -> set[str]:
    """The names that cannot be pointers: conditions compare them, or they are factors."""
    found: set[str] = set()
    for record in records:
        formulas = [record.condition, *(loop.trip_count for loop in record.loops)]
        terms = sympy.Add.make_args(record.address.formula)
        formulas += [term for term in terms if not term.is_Symbol]
        found |= {each.name for formula in formulas for each in formula.free_symbols}
    return found


def _access(
    interpreter: KernelInterpreter,
    marked: AccessRecord,
    record: AccessRecord,
    arguments: Sequence[str],
    integers: set[str],
) -> KernelAccess:
    """The access with its pointer apart from the offset."""
    address = record.address.formula
    terms = {str(term) for term in sympy.Add.make_args(address) if term.is_Symbol}
    pointers = [name for name in arguments if name in terms - integers]
    if len(pointers) != 1:
        names = " or ".join(pointers) or "no argument"
        message = f"{names} is the pointer of this address; expected one"
        hint = "give the values of integers in arguments" if pointers else ""
        interpreter.text.refuse(record.node, message, hint)
    (pointer,) = pointers
    offset = address - symbol(pointer)
    found = _map_of(interpreter, record, interpreter.bounds, record.condition, offset)
    narrow = symbolic.narrow_bounds(interpreter.bounds)
    what = record.kind, pointer, record.node.lineno
    simplest = found.simplify(preserve_ranges=True)
    kept = tuple(
        _map_of(interpreter, record, narrow, condition, value, offset)
        for value, condition in _kept(marked, record.condition)
        if symbol(pointer) not in value.free_symbols
    )
    return KernelAccess(*what, simplest, record.address.shape, record.is_exact, kept)


def _kept(record: AccessRecord, condition: Formula) -> Iterator[tuple[Formula, Formula]]:
    """Values that have to fit: the condition everywhere, the address where the condition holds."""
    everywhere = [record.condition, *(loop.trip_count for loop in record.loops)]
    pairs = [*((each, sympy.true) for each in everywhere), (record.address.formula, condition)]
    found = ((each, where) for formula, where in pairs for each in formula.atoms(Kept))
    for each, where in sorted(found, key=str):
        yield unmarked(each), where


def _map_of(
    interpreter: KernelInterpreter,
    record: AccessRecord,
    bounds: Mapping[str, Interval],
    condition: Formula,
    *results: Formula,
) -> IndexingMap:
    """The map to some results, for the programs, places and iterations where a condition holds."""
    programs = [interpreter.program_id(number) for number in range(interpreter.axes)]
    dims = [Variable(bounds[each.name], each.name) for each in programs]
    places = (symbolic.axis(number).name for number in range(len(record.address.shape)))
    dims += map(Variable.of_size, record.address.shape, places)
    counted = ((loop, bounds_of(loop.trip_count - 1, bounds).upper) for loop in record.loops)
    ranges = [Variable(Interval(0, most), loop.counter.name) for loop, most in counted]
    unbounded = [loop for loop in record.loops if not loop.trip_count.is_Integer]
    last = [each.trip_count - 1 - each.counter for each in unbounded]
    conditions: list[Any] = [(each, Interval(0, None)) for each in last]
    conditions += [] if condition == sympy.true else [condition]
    formulas = [*results, condition, *(loop.trip_count for loop in record.loops)]
    names = {each.name for formula in formulas for each in formula.free_symbols}
    left = sorted(names - {each.name for each in (*dims, *ranges)})
    parameters = [Variable(bounds[name], name) for name in left]
    return IndexingMap(results, dims, ranges, (), conditions, parameters)
