"""Tools of rules, devices and schedules: variables, maps over boxes, and checks of sizes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TypeAlias, TypeVar, cast

from indexing import IndexingMap, Variable
from indexing.layout import ShapeError
from indexing.passes import LETTERS, ByRole, Constraint, Domain, bare, conditioned, united
from ops.limits import MAX_OPERANDS
from ops.sizes import (
    Extent,
    Size,
    SizeLike,
    equal,
    is_numeric,
    parameters_in,
    read_integer,
    shown_sizes,
    variable_of,
)
from simplifier import ConversionError, forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval, floordiv, mod

T = TypeVar("T")


Sizes: TypeAlias = "Sequence[SizeLike]"
"""The sizes of the dimensions of a tensor, major first."""

CheckedSizes: TypeAlias = "Sequence[Size]"
"""Sizes as rules compute with them."""


@cache
def dim(position: int) -> Form:
    """The dimension variable at a position: ``d0``, ``d1``, ..."""
    return forms.variable(f"d{position}")


@cache
def symbol(position: int) -> Form:
    """The range variable at a position: ``s0``, ``s1``, ..."""
    return forms.variable(f"s{position}")


@cache
def runtime_value(position: int) -> Form:
    """The runtime variable at a position: ``rt0``, ``rt1``, ..."""
    return forms.variable(f"rt{position}")


def dimensions_of(sizes: Sizes) -> list[Form]:
    """The index of an element of a tensor, as dimension variables."""
    return [dim(position) for position in range(len(sizes))]


def with_value(values: Sequence[T], index: int, value: T) -> tuple[T, ...]:
    """The values with another value at an index."""
    return (*values[:index], value, *values[index + 1 :])


def block_and_offset(index: Form, size: Size) -> tuple[Form, Form]:
    """The number of the block of some size that holds an index, and the offset in the block.

    >>> block_and_offset(dim(0), 4)
    (Form(d0 floordiv 4), Form(d0 mod 4))
    """
    divisor = size if isinstance(size, Form) else forms.constant(max(size, 1))
    return floordiv(index, divisor), mod(index, divisor)


def index_map(
    results: Iterable[Form],
    dims: Iterable[Extent],
    ranges: Iterable[Extent] = (),
    constraints: Iterable[Constraint] = (),
    runtime: Iterable[Extent] = (),
    over: Iterable[Size] = (),
) -> IndexingMap:
    """The map with these results over a box of dimensions, ranges and runtime variables.

    ``over`` are further sizes that results and constraints use, which may have parameters.
    """
    roles = (tuple(dims), tuple(ranges), tuple(runtime))
    if not is_numeric(chain(*roles, over)):
        return _symbolic_map(tuple(results), roles, tuple(constraints))
    own, counted, read = (map(_variable, role) for role in roles)
    return IndexingMap.from_forms(results, Domain.of(own, counted, read, constraints))


def _variable(extent: Extent) -> Variable:
    return Variable(extent) if isinstance(extent, Interval) else Variable.of_size(extent)  # pyright: ignore[reportArgumentType] - numbers alone


def _symbolic_map(
    results: tuple[Form, ...], roles: ByRole[Extent], constraints: tuple[Constraint, ...]
) -> IndexingMap:
    """:func:`index_map` with parameters."""
    variables: list[list[Variable]] = []
    limited = [*constraints]
    for letter, role in zip(LETTERS, roles, strict=True):
        variables.append([])
        for position, extent in enumerate(role):
            variable, ends = variable_of(f"{letter}{position}", extent)
            variables[-1].append(variable)
            limited += ends
    used = (*results, *(form for form, _ in limited))
    parameters = parameters_in(used, chain(*roles))
    dims, ranges, runtime = variables
    domain = Domain.of(dims, ranges, runtime, map(bare, limited), parameters)
    return IndexingMap.from_forms(results, domain)


def on_condition(indexing_map: IndexingMap, conditions: Sequence[Constraint]) -> IndexingMap:
    """The map where conditions on parameters hold; those that bounds decide are left out.

    >>> square = index_map([dim(1), dim(0)], [forms.variable("~M"), forms.variable("~N")])
    >>> same = (forms.variable("~M") - forms.variable("~N"), Interval(0, 0))
    >>> print(on_condition(square, [same]))
    (d0, d1)<M, N> -> (d1, d0), domain: d0 in [0, M - 1], d1 in [0, N - 1], M in [0, inf],
    N in [0, inf], M - N in [0, 0]
    """
    if not conditions or indexing_map.is_undefined:
        return indexing_map
    domain = indexing_map.domain
    used = parameters_in((form for form, _ in conditions), ())
    wider = replace(domain, parameters=united((*domain.parameters, *used)))
    limited = conditioned(wider, conditions)
    return IndexingMap.from_forms(indexing_map.forms, limited)


def constrained(indexing_map: IndexingMap, form: Form, interval: Interval) -> IndexingMap:
    """The map where a form over its variables lies in an interval."""
    return IndexingMap.from_forms(
        indexing_map.forms, indexing_map.domain.constrained([(form, interval)])
    )


def every_element(sizes: Sizes) -> IndexingMap:
    """Map from a scalar to every element of a tensor."""
    return index_map((symbol(position) for position in range(len(sizes))), (), sizes)


def no_dimensions(sizes: Sizes) -> IndexingMap:
    """Map from every element of a tensor to a scalar."""
    return index_map((), sizes)


def paired(
    output_sizes: Sizes, operand_sizes: Sizes, pairs: Iterable[tuple[int, int]] = ()
) -> tuple[IndexingMap, IndexingMap]:
    """Maps in both directions between elements with equal indices in paired dimensions.

    Each pair is a dimension of the result and one of the operand. An element is related to every
    element of the other side whose indices in the paired dimensions are equal.

    >>> to_input, to_output = paired((2, 3), (5, 2), [(0, 1)])
    >>> print(to_input)
    (d0, d1)[s0] -> (s0, d0), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 4]
    >>> print(to_output)
    (d0, d1)[s0] -> (d1, s0), domain: d0 in [0, 4], d1 in [0, 1], s0 in [0, 2]
    """
    there = {operand: output for output, operand in pairs}
    back = {output: operand for operand, output in there.items()}
    return (
        _with_the_same(output_sizes, operand_sizes, there),
        _with_the_same(operand_sizes, output_sizes, back),
    )


def _with_the_same(sizes: Sizes, others: Sizes, pairs: Mapping[int, int]) -> IndexingMap:
    free = [axis for axis in range(len(others)) if axis not in pairs]
    element = {axis: symbol(number) for number, axis in enumerate(free)}
    element |= {axis: dim(same) for axis, same in pairs.items()}
    results = (element[axis] for axis in range(len(others)))
    return index_map(results, sizes, [others[axis] for axis in free])


def unrelated(output_sizes: Sizes, operand_sizes: Sizes) -> tuple[IndexingMap, IndexingMap]:
    """Empty maps in both directions: the result does not depend on the operand."""
    never = [(forms.constant(1), Interval(0, 0))]
    pairs = (output_sizes, operand_sizes), (operand_sizes, output_sizes)
    there, back = (
        index_map([forms.constant(0)] * len(others), sizes, (), never) for sizes, others in pairs
    )
    return there, back


# Checks.


def checked_sizes(op: str, role: str, sizes: Iterable[SizeLike]) -> tuple[Size, ...]:
    """The sizes: integers that are not negative, and forms of expressions."""
    checked = checked_numbers(op, f"{role} sizes", sizes)
    for axis, size in enumerate(checked):
        if isinstance(size, int) and size < 0:
            raise ShapeError(f"{op}: {role} dimension {axis} has size {size}; expected 0 or more")
    return checked


def checked_numbers(op: str, role: str, values: Iterable[SizeLike]) -> tuple[Size, ...]:
    """The values as integers, or forms of expressions."""
    listed = _listed(op, role, values)
    return tuple(_checked_number(op, role, value) for value in listed)


def _checked_number(op: str, role: str, value: SizeLike) -> Size:
    try:
        if hasattr(value, "__index__"):
            return operator.index(cast("int", value))
        return read_integer(value)
    except ConversionError as error:
        raise ShapeError(f"{op}: {role}: {error}") from None
    except TypeError:
        raise ShapeError(f"{op}: {role} hold {value!r}; expected integers") from None


def _listed(op: str, role: str, values: Iterable[T]) -> tuple[T, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise ShapeError(f"{op}: {role} are {values!r}; expected integers") from None


def checked_numeric_sizes(op: str, role: str, sizes: Iterable[SizeLike]) -> tuple[int, ...]:
    """The sizes as integers that are not negative, where no others have maps."""
    numbers: list[int] = []
    for size in checked_sizes(op, role, sizes):
        if not isinstance(size, int):
            (shown,) = shown_sizes((size,))
            raise ShapeError(f"{op}: {role} has the size {shown}; expected numbers alone")
        numbers.append(size)
    return tuple(numbers)


def checked_integers(op: str, role: str, values: Iterable[int]) -> tuple[int, ...]:
    """The values as a tuple of integers."""
    return tuple(_checked_integer(op, role, value) for value in _listed(op, role, values))


def _checked_integer(op: str, role: str, value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ShapeError(f"{op}: {role} hold {value!r}; expected integers") from None


def checked_operand_count(op: str, role: str, count: int) -> int:
    """Number of operands of a kind, each of which takes a map."""
    (checked,) = checked_integers(op, f"the numbers of {role}", [count])
    if not 0 <= checked <= MAX_OPERANDS:
        raise ShapeError(f"{op}: there are {checked} {role}; expected 0 to {MAX_OPERANDS}")
    return checked


def checked_dimensions(op: str, role: str, dimensions: Iterable[int], rank: int) -> tuple[int, ...]:
    """The numbers of distinct dimensions of a tensor of some rank."""
    checked = checked_integers(op, role, dimensions)
    for axis, number in enumerate(checked):
        if not 0 <= number < rank:
            raise ShapeError(f"{op}: {role} lists dimension {number} of a tensor of rank {rank}")
        if number in checked[:axis]:
            raise ShapeError(f"{op}: {role} lists dimension {number} twice; expected it once")
    return checked


def check_count(
    op: str, role: str, values: Sequence[object], expected: int, each: str = "dimension"
) -> None:
    """Raise a :class:`ShapeError` unless there is one value for each dimension (or other thing)."""
    check_type(values, Sequence, f"{op}: {role}", "a list or tuple")
    if len(values) != expected:
        raise ShapeError(
            f"{op}: {role} has {len(values)} entries; expected {expected}, one for each {each}"
        )


def check_sizes(
    op: str, role: str, sizes: CheckedSizes, expected: Sizes, why: str = ""
) -> list[Constraint]:
    """Raise a :class:`ShapeError` unless the sizes are those expected, for a reason.

    Equalities of symbolic sizes are conditions: these are returned.

    >>> check_sizes("negate", "the result", (2, 3), (2, 4), "as in the operand")
    Traceback (most recent call last):
        ...
    indexing.errors.ShapeError: negate: dimension 1 of the result has size 3; expected 4, \
as in the operand
    """
    reason = f", {why}" if why else ""
    if len(sizes) != len(expected):
        message = f"{op}: the rank of {role} is {len(sizes)}"
        raise ShapeError(f"{message}; expected {len(expected)}{reason}")
    conditions: list[Constraint] = []
    for axis, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        if size != wanted:
            message = f"{op}: dimension {axis} of {role} has size {size}"
            conditions += equal(size, read_integer(wanted), f"{message}; expected {wanted}{reason}")
    return conditions
