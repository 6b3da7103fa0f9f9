"""Triton kernels that people wrote: their loads and stores as maps."""

from __future__ import annotations

import ast
import operator
import re
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
from ops.triton.interpreter import (
    AccessRecord,
    KernelInterpreter,
    KernelLoop,
    trip_counts,
    with_trip_counts,
)
from ops.triton.symbolic import Formula, IntegerBlock, Kept, unmarked
from simplifier import Facts, FloorDiv, Mod, bounds_of, symbol
from simplifier.errors import ArgumentError, check_integers, check_type, quoted
from simplifier.forms import Interval
from simplifier.tools.display import Displayed, html_of_table

__all__ = [
    "KeptNumber",
    "KernelAccess",
    "KernelAccesses",
    "LoadedInteger",
    "OutOfBoundsElement",
    "TensorDescriptor",
    "TritonError",
    "read_kernel",
]


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
        values: of the runtime variables, by name.
        overflow: a number that the kernel computes on the way to the element, and that does not fit
            in the bits of its type. If arguments lack values, the offset is as if it did.
        bits: of that type.
    """

    line: int
    argument: str
    program: tuple[int, ...]
    place: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]
    offset: int
    overflow: int | None = None
    values: tuple[tuple[str, int], ...] = ()
    bits: int = 32

    def __str__(self) -> str:
        loops = "".join(f", iteration {number} of {name}" for name, number in self.loops)
        place = f"place {self.place} of its block" if self.place else "its scalar"
        what = f"accesses element {self.offset} at {place}"
        if self.overflow is not None:
            what = f"computes {self.overflow} for {place}, which does not fit in {self.bits} bits"
        given = "".join(f", for {name} = {value}" for name, value in self.values)
        return f"line {self.line}: {self.argument}: program {self.program}{loops} {what}{given}"


class LoadedInteger(NamedTuple):
    """Origin of a runtime variable: an element that a load or an atomic operation gives.

    Attributes:
        argument: the pointer.
        line: of the access.
        map: to the offset of the element, from the dimensions and ranges of the map that has the
            variable, and from runtime variables if the element depends on them. Elsewhere than in
            its domain, where the mask of the load holds, the value is another one.
        runtime: where the runtime variables of that map come from.
    """

    argument: str
    line: int
    map: IndexingMap
    runtime: tuple[LoadedInteger, ...] = ()

    def __str__(self) -> str:
        return f"{self.argument} in line {self.line} at {self.map}{_origins(self)}"


class KeptNumber(NamedTuple):
    """A number on the way to an element that the bits of its type may not hold.

    Attributes:
        map: from the variables of the access to the number, and to the offset of the element.
        limits: of its type.
        wraps: whether the map of the access has what the bits hold of it. Otherwise, as for numbers
            over arguments without values, that map is right only where the number fits.
    """

    map: IndexingMap
    limits: Interval
    wraps: bool

    @property
    def may_wrap(self) -> bool:
        """Whether the map of the access is wrong unless something is known to exclude it."""
        return not self.wraps and not self.limits.contains(self.map.result_bounds()[0])

    def __str__(self) -> str:
        fitting = self.limits.intersect(self.map.result_bounds()[0])
        return f"{self.map.domain.text_of(self.map.forms[0])} in {fitting}"


class TensorDescriptor(NamedTuple):
    """What the host gives a kernel for a tensor that it reads in blocks, without the tensor.

    Of each dimension it has the size, the stride in elements, and the size of a block.
    """

    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]


@dataclass(frozen=True, slots=True, repr=False)
class KernelAccess(Displayed):
    """The elements that a load, a store or an atomic operation of a kernel touches.

    Attributes:
        kind: the function, such as ``load``.
        argument: the pointer argument.
        line: of the kernel's text, counted from 1.
        map: from the program ids and the place in the block, for each iteration of the loops
            around, to the offset of an element from the pointer. Its domain is where the mask
            holds. Of a descriptor without a value it leads from the program ids to the index of the
            first element of a block.
        block: the shape of the block; ``None`` if it is of a descriptor without a value.
        is_exact: whether all of the mask is known; otherwise it touches no more than this.
        runtime: where each runtime variable of the map comes from.
        kept: the numbers on the way to an element that their types may not hold.
    """

    kind: str
    argument: str
    line: int
    map: IndexingMap
    block: tuple[int, ...] | None
    is_exact: bool = True
    runtime: tuple[LoadedInteger, ...] = ()
    kept: tuple[KeptNumber, ...] = field(default=(), compare=False)

    @property
    def may_wrap(self) -> tuple[KeptNumber, ...]:
        """The numbers of which nobody knows if they fit: the map is right only where they do."""
        return tuple(each for each in self.kept if each.may_wrap)

    def out_of_bounds(
        self, sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> OutOfBoundsElement | None:
        """An element that is accessed outside of a tensor; ``None`` is a proof that there is none.

        The pointer points at the first element of a tensor of these sizes and strides, in elements;
        without strides the last dimension is the fastest, and nothing lies between. Arguments that
        have no value may have any. Integers have 32 bits, as in Triton, unless the kernel asks for
        others: numbers on the way to an element that do not fit count, too.

        Raises:
            MapError: there are other numbers of sizes and strides, or too many points to look at,
                or the access is by a descriptor without a value.
            NotQuasiAffineError: an argument is a factor that has no value.
        """
        self._check_offset("out_of_bounds")
        elements = _tensor(sizes, strides)
        return self._overflow(wraps=True) or self._outside(elements) or self._overflow(wraps=False)

    def _overflow(self, *, wraps: bool) -> OutOfBoundsElement | None:
        """A number that does not fit in the bits of its type."""
        for each in self.kept:
            found = self._beyond(each.map, each.limits) if each.wraps is wraps else None
            if found is not None:
                return found._replace(bits=(each.limits.size or 0).bit_length() - 1)
        return None

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
            MapError: a program id or a loop is not bounded, or an argument has no value, also a
                descriptor, or the address depends on values that are loaded.
            DeviceError: the device lacks a figure.
        """
        block = self._check_offset("coalescing")
        if layout is None:
            layout = coalesced_layout(self.map, block, device, element_type, num_warps)
        threads = by_thread(self.map, block, layout)
        return coalescing(threads, device, element_type=element_type)

    def _check_offset(self, question: str) -> tuple[int, ...]:
        """The shape of the block, of which the map gives the offset."""
        if self.block is None:
            message = f"{question}: {self.argument} is a descriptor without a value"
            raise MapError(f"{message}; expected a TensorDescriptor in arguments")
        return self.block

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
        # A sample has values for dimensions, so for all that may have any value.
        loaded = [Variable(each.bounds, each.name) for each in wrong.runtime]
        given = [*wrong.dims, *loaded, *wrong.parameters]
        found = wrong.replace(dims=given, runtime=(), parameters=()).sample()
        if found is None:
            return None
        dims, ranges, _, (*overflow, offset) = found
        counters = dict(zip((each.name for each in wrong.ranges), ranges, strict=True))
        loops = tuple((each.name, counters[each.name]) for each in self.map.ranges)
        programs = len(self.map.dims) - len(self.block or ())
        where = tuple(dims[:programs]), tuple(dims[programs : len(self.map.dims)]), loops
        numbers = dict(zip((each.name for each in given), dims, strict=True))
        values = tuple((each.name, numbers[each.name]) for each in loaded)
        beyond = int(overflow[0]) if overflow else None
        what = self.line, self.argument, *where, int(offset), beyond
        return OutOfBoundsElement(*what, values)

    def __str__(self) -> str:
        about = "" if self.is_exact else ", at most"
        said = dict.fromkeys(f",\nmay wrap unless {each}" for each in self.may_wrap)
        text = f"line {self.line}: {self.kind} {self.argument}{about}: {self.map}{_origins(self)}"
        return "".join([text, *said])


def _origins(of: KernelAccess | LoadedInteger) -> str:
    """Text of where runtime variables come from."""
    pairs = zip(of.map.runtime, of.runtime, strict=True)
    return "".join(f",\n{variable.name}: {origin}" for variable, origin in pairs)


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
    return IndexingMap(results, [threads, *blocks], ranges, access.runtime, constraints)


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
    arguments: Mapping[str, int | float | str | TensorDescriptor] | None = None,
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
        arguments: the arguments whose values are known, such as sizes and strides, and descriptors.
            Others are parameters of the maps, at least 0. Pointers may have a type, as in Triton's
            signatures: of ``"*i32"``, loaded numbers have bounds.
        grid: how many programs there are along each axis; without it, any number.
        name: of the kernel; without it, the last function of the text.

    A number that is loaded, and that an address or a loop needs, is a runtime variable. Any other
    value that is no formula of integers is unknown, which is an error only where an address or a
    loop needs it.

    Integers have Triton's types, 32 bits as a rule. What does not fit wraps in the maps, too, if
    all that it depends on has bounds. Otherwise maps are right where it fits: ``may_wrap`` of an
    access has such numbers. Divisors are positive, and divisions round toward zero.

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
    given = _arguments(_checked(arguments, "arguments"))
    element_types = {name: value for name, value in given.items() if isinstance(value, str)}
    values = {name: value for name, value in given.items() if name not in element_types}
    known = {**_checked(constants, "constants"), **values}
    if grid is not None:
        _check_grid(grid)
    text, own_name = expressions.KernelText.of(kernel)
    function = text.kernel(name or own_name)
    interpreter = KernelInterpreter(text, grid)
    unknown = [each.arg for each in _unknown_parameters(function, known)]
    interpreter.arguments = frozenset(unknown)
    interpreter.element_types = element_types
    for argument in unknown:
        interpreter.bounds[argument] = Interval(0, None)
        known[argument] = IntegerBlock((), symbol(argument))
    descriptors = [name for name in known if isinstance(known[name], symbolic.TensorPointer)]
    pointers = [*unknown, *descriptors]
    interpreter.run_kernel(function, known)
    accesses = _PointerReader(interpreter, pointers).accesses()
    return KernelAccesses(function.name, tuple(accesses))


def _checked(given: Mapping[str, Any] | None, role: str) -> Mapping[str, Any]:
    check_type(given or {}, Mapping, f"read_kernel: {role}", "a mapping from names to values")
    return {name: _plain(value) for name, value in (given or {}).items()}


def _plain(value: object) -> Any:  # noqa: ANN401 - as it is
    """An integer of NumPy as one of Python; anything else as it is."""
    is_other = hasattr(value, "__index__") and not isinstance(value, int)
    return operator.index(cast("Any", value)) if is_other else value


def _arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: _argument(name, value) for name, value in arguments.items()}


def _argument(name: str, value: Any) -> object:  # noqa: ANN401 - of a user, or of Triton
    """A number, or a descriptor: one of ours, or one of Triton with its tensor."""
    if all(hasattr(value, each) for each in TensorDescriptor._fields):
        return _descriptor(name, *(getattr(value, each) for each in TensorDescriptor._fields))
    expected = "a number, a TensorDescriptor or a type of pointers such as '*i32'"
    if isinstance(value, str) and _POINTER_TYPE.fullmatch(value):
        return value[1:]
    check_type(value, (int, float), f"read_kernel: arguments: {name}", expected)
    is_narrow = isinstance(value, int) and not isinstance(value, bool) and symbolic.is_narrow(value)
    return symbolic.RuntimeInteger(value) if is_narrow else value


_POINTER_TYPE: Final = re.compile(r"\*([iu]\d+|(fp|bf)\d+\w*)")
"""As Triton writes it in signatures."""


def _descriptor(
    name: str, shape: Sequence[int], strides: Sequence[int], block: Sequence[int]
) -> symbolic.TensorPointer:
    sizes, steps, block = (tuple(map(_plain, each)) for each in (shape, strides, block))
    for each in (sizes, steps, block):
        check_integers(each, f"read_kernel: arguments: {name}")
    if not len(sizes) == len(steps) == len(block):
        expected = "expected as many sizes, strides and sizes of a block"
        raise ArgumentError(f"read_kernel: arguments: {name}: {expected}")
    start = (sympy.Integer(0),) * len(block)
    numbers, distances = (tuple(map(sympy.Integer, each)) for each in (sizes, steps))
    tensor = symbol(name), numbers, distances, start, block
    return symbolic.TensorPointer(*tensor, is_descriptor=True)


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


# Accesses: from what the interpreter keeps to maps.


@dataclass(frozen=True, slots=True)
class _ChosenRecord:
    """An access through one pointer, and the same with marks of numbers that have to fit."""

    record: AccessRecord
    marked: AccessRecord


class _PointerReader:
    """The maps of the accesses that an interpreter has kept."""

    def __init__(self, interpreter: KernelInterpreter, arguments: Sequence[str]) -> None:
        self._interpreter = interpreter
        self._arguments = arguments
        self._choices = [[*self._chosen(each)] for each in interpreter.records]
        self.bounds = interpreter.bounds
        self._integers = _integers([each.record for found in self._choices for each in found])

    def accesses(self) -> Iterator[KernelAccess]:
        """An access for each pointer of each access, in the order of the text."""
        self._check_passed_on()
        return (self._access(each) for found in self._choices for each in found)

    def _check_passed_on(self) -> None:
        """Refuse a function that nobody knows if it may read memory."""
        for node, function, names in self._interpreter.passed_on:
            for name in sorted(names - self._integers):
                message = f"the function {function} cannot be read, and may access {name}"
                hint = f"if {name} is a number, give its value in arguments"
                self._interpreter.text.refuse(node, message, hint)

    def _chosen(self, marked: AccessRecord) -> Iterator[_ChosenRecord]:
        """The access, for each pointer that conditions may choose."""
        formula = symbolic.multiplied_out(unmarked(marked.address.formula))
        if formula is None:
            message = f"this address is a product of more than {symbolic.MAX_FACTORS} factors"
            self._interpreter.text.refuse(marked.node, message)
        choice = _choice_of_pointers(formula, self._arguments)
        if choice is None:
            address = IntegerBlock(marked.address.shape, formula)
            loops = with_trip_counts(marked.loops, unmarked)
            condition = unmarked(marked.condition)
            record = replace(marked, address=address, condition=condition, loops=loops)
            yield _ChosenRecord(record, marked)
            return
        others: Formula = sympy.true
        for value, test in choice.args:
            address = replace(marked.address, formula=formula.xreplace({choice: value}))
            condition = sympy.And(marked.condition, others, test)
            others = sympy.And(others, sympy.Not(test))
            yield from self._chosen(replace(marked, address=address, condition=condition))

    def _access(self, choice: _ChosenRecord) -> KernelAccess:
        """The access with its pointer apart from the offset."""
        record = choice.record
        pointer = self._pointer(record)
        offset = record.address.formula - symbol(pointer)
        descriptor = record.descriptor
        results = [offset] if descriptor is None else [*map(unmarked, descriptor.offsets)]
        shape = record.address.shape if descriptor is None else None
        runtime = _RuntimeVariables(self, record)
        found = runtime.map(self.bounds, record.condition, results)
        simplest = found.simplify(preserve_ranges=True)
        narrow = symbolic.narrow_bounds(self.bounds)
        kept = tuple(
            KeptNumber(runtime.map(narrow, where, [value, offset]), each.limits, each.wraps)
            for each, where in _kept(choice.marked, record.condition)
            if symbol(pointer) not in (value := each.without_end()).free_symbols
        )
        what = record.kind, pointer, record.node.lineno, simplest, shape, record.is_exact
        return KernelAccess(*what, runtime.origins_in(simplest), kept)

    def _pointer(self, record: AccessRecord) -> str:
        terms = {str(term) for term in _terms(record.address.formula) if term.is_Symbol}
        pointers = [name for name in self._arguments if name in terms - self._integers]
        if len(pointers) != 1:
            names = " or ".join(pointers) or "no argument"
            message = f"{names} is the pointer of this address; expected one"
            hint = "give the values of integers in arguments" if pointers else ""
            self._interpreter.text.refuse(record.node, message, hint)
        return pointers[0]

    def loaded(
        self, access: sympy.Integer, *given: Formula
    ) -> tuple[str, AccessRecord, Formula, Formula]:
        """The pointer, the access, the offset and the condition of a number that is loaded."""
        first, *others = self._choices[int(access)]
        record = first.record
        if others:
            message = "an address needs what is loaded here, by a pointer that is chosen"
            self._interpreter.text.refuse(record.node, message)
        pointer = self._pointer(record)
        names = [each.counter for each in record.loops]
        names += map(symbolic.axis, range(len(record.address.shape)))
        values = dict(zip(names, given, strict=True))
        offset = record.address.formula - symbol(pointer)
        return pointer, record, offset.xreplace(values), record.condition.xreplace(values)

    def map_of(
        self,
        record: AccessRecord,
        bounds: Mapping[str, Interval],
        results: Sequence[Formula],
        runtime: Mapping[str, Interval],
    ) -> IndexingMap:
        """The map to some results, for programs, places and iterations where a condition holds."""
        condition = record.condition
        interpreter = self._interpreter
        programs = [interpreter.program_id(number) for number in range(interpreter.axes)]
        dims = [Variable(bounds[each.name], each.name) for each in programs]
        places = (symbolic.axis(number).name for number in range(len(record.address.shape)))
        dims += map(Variable.of_size, record.address.shape, places)
        bounds = {**bounds, **runtime}
        ranges = [_counter(each, bounds) for each in record.loops]
        conditions: list[Any] = [
            (each.trip_count - 1 - each.counter, Interval(0, None))
            for each in record.loops
            if each.trip_count is not None and not each.trip_count.is_Integer
        ]
        conditions += [] if condition == sympy.true else [condition]
        formulas = [*results, condition, *trip_counts(record.loops)]
        names = {each.name for formula in formulas for each in formula.free_symbols}
        loaded = [Variable(within, name) for name, within in runtime.items() if name in names]
        others = sorted(names - {each.name for each in (*dims, *ranges, *loaded)})
        parameters = [Variable(bounds[name], name) for name in others]
        return IndexingMap(results, dims, ranges, loaded, conditions, parameters)


def _counter(loop: KernelLoop, bounds: Mapping[str, Interval]) -> Variable:
    trips = loop.trip_count
    most = None if trips is None else bounds_of(trips - 1, Facts(bounds)).upper
    return Variable(Interval(0, most), loop.counter.name)


class _RuntimeVariables:
    """The numbers that are loaded and that an access needs, as variables of its maps."""

    def __init__(self, reader: _PointerReader, record: AccessRecord) -> None:
        self._reader = reader
        self._record = record
        self._variables: dict[tuple[Formula, ...], sympy.Symbol] = {}
        self._bounds: dict[str, Interval] = {}
        self._origins: dict[str, LoadedInteger] = {}

    def map(
        self, bounds: Mapping[str, Interval], condition: Formula, results: Sequence[Formula]
    ) -> IndexingMap:
        """The map of the access, or of another number over its variables."""
        loops = with_trip_counts(self._record.loops, self._formula)
        return self._map(loops, bounds, condition, results)

    def origins_in(self, found: IndexingMap) -> tuple[LoadedInteger, ...]:
        """Where the runtime variables of a map come from."""
        return tuple(self._origins[each.name] for each in found.runtime)

    def _map(
        self,
        loops: tuple[KernelLoop, ...],
        bounds: Mapping[str, Interval],
        condition: Formula,
        results: Sequence[Formula],
    ) -> IndexingMap:
        plain = [self._formula(each) for each in results]
        record = replace(self._record, loops=loops, condition=self._formula(condition))
        return self._reader.map_of(record, bounds, plain, self._bounds)

    def _formula(self, formula: Formula) -> Formula:
        """A formula with variables in the place of numbers that are loaded, the innermost first."""
        return formula.replace(symbolic.Loaded, self._variable, simultaneous=False)

    def _variable(self, *loaded: Formula) -> Formula:
        if loaded not in self._variables:
            pointer, record, offset, condition = self._reader.loaded(*loaded)
            # How often a loop runs may depend on this very number, so here it may run for ever.
            loops = with_trip_counts(self._record.loops, _without_loads)
            found = self._map(loops, self._reader.bounds, condition, [offset])
            element = found.simplify(preserve_ranges=True).without_unused_symbols()
            name = f"rt{len(self._origins)}"
            origins = self.origins_in(element)
            self._origins[name] = LoadedInteger(pointer, record.node.lineno, element, origins)
            of_access = symbolic.name_of_load(loaded[0])
            self._bounds[name] = self._reader.bounds.get(of_access, symbolic.ANY)
            self._variables[loaded] = symbol(name)
        return self._variables[loaded]


def _without_loads(formula: Formula) -> Formula | None:
    return None if formula.has(symbolic.Loaded) else formula


def _choice_of_pointers(address: Formula, arguments: Sequence[str]) -> Formula | None:
    """The part of an address by which conditions choose its pointer."""
    terms = _terms(address)
    plain = {term for term in terms if str(term) in arguments}
    for term in terms:
        if not isinstance(term, sympy.Piecewise):
            continue
        parts = {part for value, _ in term.args for part in _terms(value)}
        if any(str(part) in arguments for part in parts) and (
            not plain or plain & term.free_symbols
        ):
            return term
    return None


def _terms(formula: Formula) -> Sequence[Formula]:
    return sympy.Add.make_args(formula)


def _integers(records: Sequence[AccessRecord]) -> set[str]:
    """The names that cannot be pointers: conditions compare them, or they are factors."""
    found: set[str] = set()
    for record in records:
        formulas = [record.condition, *trip_counts(record.loops)]
        formulas += [term for term in _terms(record.address.formula) if not term.is_Symbol]
        found |= {each.name for formula in formulas for each in formula.free_symbols}
    return found


def _kept(record: AccessRecord, condition: Formula) -> Iterator[tuple[Kept, Formula]]:
    """Values that have to fit: the condition everywhere, the address where the condition holds."""
    everywhere = [record.condition, *trip_counts(record.loops)]
    pairs = [*((each, sympy.true) for each in everywhere), (record.address.formula, condition)]
    found = ((each, where) for formula, where in pairs for each in formula.atoms(Kept))
    yield from sorted(found, key=str)
