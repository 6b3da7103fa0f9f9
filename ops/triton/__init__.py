"""Triton kernels that people wrote: their loads and stores as maps."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import sympy

from indexing import IndexingMap, Variable
from ops.triton.access import KernelAccess, OutOfBoundsElement
from ops.triton.expressions import (
    MAX_AXES,
    MAX_FACTORS,
    Formula,
    IntegerBlock,
    Kept,
    KernelText,
    RuntimeInteger,
    TritonError,
    axis,
    defaults_of,
    is_integer,
    is_narrow,
    is_reserved,
    multiplied_out,
    narrow_bounds,
    parameters_of,
    unmarked,
)
from ops.triton.interpreter import AccessRecord, KernelInterpreter, KernelLoop
from simplifier import bounds_of, symbol
from simplifier.errors import ArgumentError, check_integers, check_type, quoted
from simplifier.forms import Interval
from simplifier.tools.display import Displayed, html_of_table

__all__ = ["KernelAccess", "KernelAccesses", "OutOfBoundsElement", "TritonError", "read_kernel"]


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
    text, own_name = KernelText.of(kernel)
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
    return KernelAccesses(
        function.name, tuple(_access(interpreter, *pair, unknown, integers) for pair in pairs)
    )


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
        name: RuntimeInteger(value) if is_integer(value) and is_narrow(value) else value
        for name, value in arguments.items()
    }


def _check_grid(grid: Sequence[int]) -> None:
    check_integers(grid, "read_kernel: grid")
    if len(grid) > MAX_AXES or any(size < 1 for size in grid):
        message = f"read_kernel: grid is {tuple(grid)}"
        raise ArgumentError(f"{message}; expected one to {MAX_AXES} sizes of at least 1")


def _unknown_parameters(
    function: ast.FunctionDef, known: Mapping[str, object]
) -> Iterator[ast.arg]:
    """The parameters that have no value: pointers and integers.

    Raises:
        ArgumentError: one is a constant, or has the name of a variable of the maps.
    """
    defaults = defaults_of(function)
    for each in parameters_of(function):
        if each.arg in known or each.arg in defaults:
            continue
        if each.annotation is not None and ast.unparse(each.annotation).endswith("constexpr"):
            message = f"read_kernel: {each.arg} is a constexpr without a value"
            raise ArgumentError(f"{message}; expected one in constants")
        if is_reserved(each.arg):
            message = f"read_kernel: {quoted(each.arg)} is the name of a variable of the maps"
            raise ArgumentError(f"{message}; expected another name, or a value in arguments")
        yield each


# Accesses.


def _multiplied_out(text: KernelText, record: AccessRecord) -> AccessRecord:
    """The access with its address as a sum of terms, of which one is the pointer."""
    formula = multiplied_out(unmarked(record.address.formula))
    if formula is None:
        message = f"this address is a product of more than {MAX_FACTORS} factors"
        text.refuse(record.node, message)
    return replace(
        record,
        address=IntegerBlock(record.address.shape, formula),
        condition=unmarked(record.condition),
        loops=tuple(replace(loop, trip_count=unmarked(loop.trip_count)) for loop in record.loops),
    )


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
    narrow = narrow_bounds(interpreter.bounds)
    return KernelAccess(
        record.kind,
        pointer,
        record.node.lineno,
        found.simplify(preserve_ranges=True),
        record.address.shape,
        record.is_exact,
        tuple(
            _map_of(interpreter, record, narrow, condition, value, offset)
            for value, condition in _kept(marked, record.condition)
            if symbol(pointer) not in value.free_symbols
        ),
    )


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
    dims += [
        Variable.of_size(size, axis(number).name)
        for number, size in enumerate(record.address.shape)
    ]
    ranges = [_counter(loop, bounds) for loop in record.loops]
    conditions: list[Any] = [
        (loop.trip_count - 1 - loop.counter, Interval(0, None))
        for loop in record.loops
        if not loop.trip_count.is_Integer
    ]
    conditions += [] if condition == sympy.true else [condition]
    formulas = [*results, condition, *(loop.trip_count for loop in record.loops)]
    names = {each.name for formula in formulas for each in formula.free_symbols}
    left = sorted(names - {each.name for each in (*dims, *ranges)})
    parameters = [Variable(bounds[name], name) for name in left]
    return IndexingMap(results, dims, ranges, (), conditions, parameters)


def _counter(loop: KernelLoop, bounds: Mapping[str, Interval]) -> Variable:
    most = bounds_of(loop.trip_count - 1, bounds).upper
    return Variable(Interval(0, most), loop.counter.name)
