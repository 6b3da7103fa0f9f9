"""What rules, devices and schedules share: variables, maps over boxes, and checks of sizes."""

from __future__ import annotations

import operator
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from indexing.layout import ShapeError
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv, mod

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from indexing.domain import Constraint
    from simplifier.expr.form import Form


Sizes: TypeAlias = "Sequence[int]"
"""The sizes of the dimensions of a tensor, major first."""

Extent: TypeAlias = "int | Interval"
"""The values of a variable: a size ``n`` for ``[0, n - 1]``, or an interval."""


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


def block_and_offset(index: Form, size: int) -> tuple[Form, Form]:
    """The number of the block of some size that holds an index, and the offset in the block.

    >>> block_and_offset(dim(0), 4)
    (Form(d0 floordiv 4), Form(d0 mod 4))
    """
    divisor = forms.constant(max(size, 1))
    return floordiv(index, divisor), mod(index, divisor)


def index_map(
    results: Iterable[Form],
    dims: Iterable[Extent],
    ranges: Iterable[Extent] = (),
    constraints: Iterable[Constraint] = (),
    runtime: Iterable[Extent] = (),
) -> IndexingMap:
    """The map with these results over a box of dimensions, ranges and runtime variables."""
    domain = Domain.of(
        map(_variable, dims), map(_variable, ranges), map(_variable, runtime), constraints
    )
    return IndexingMap.from_forms(results, domain)


def _variable(extent: Extent) -> Variable:
    return Variable(extent) if isinstance(extent, Interval) else Variable.of_size(extent)


def constrained(indexing_map: IndexingMap, form: Form, interval: Interval) -> IndexingMap:
    """The map where a form over its variables lies in an interval."""
    return IndexingMap.from_forms(
        indexing_map.forms, indexing_map.domain.constrained([(form, interval)])
    )


def every_element(sizes: Sizes) -> IndexingMap:
    """From a scalar to every element of a tensor."""
    return index_map((symbol(position) for position in range(len(sizes))), (), sizes)


def no_dimensions(sizes: Sizes) -> IndexingMap:
    """From every element of a tensor to a scalar."""
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


def checked_sizes(op: str, role: str, sizes: Iterable[int]) -> tuple[int, ...]:
    """The sizes as integers that are not negative."""
    checked = checked_integers(op, f"{role} sizes", sizes)
    for axis, size in enumerate(checked):
        if size < 0:
            raise ShapeError(f"{op}: {role} dimension {axis} has size {size}; expected 0 or more")
    return checked


def checked_integers(op: str, role: str, values: Iterable[int]) -> tuple[int, ...]:
    """The values as a tuple of integers."""
    try:
        listed = tuple(values)
    except TypeError:
        raise ShapeError(f"{op}: {role} are {values!r}; expected integers") from None
    for value in listed:
        if not hasattr(value, "__index__"):
            raise ShapeError(f"{op}: {role} hold {value!r}; expected integers")
    return tuple(map(operator.index, listed))


def checked_dimensions(op: str, role: str, dimensions: Iterable[int], rank: int) -> tuple[int, ...]:
    """The numbers of distinct dimensions of a tensor of some rank."""
    checked = checked_integers(op, role, dimensions)
    for axis, number in enumerate(checked):
        if not 0 <= number < rank:
            raise ShapeError(f"{op}: {role} lists dimension {number} of a tensor of rank {rank}")
        if number in checked[:axis]:
            raise ShapeError(f"{op}: {role} lists dimension {number} twice; expected it once")
    return checked


def check_count(op: str, role: str, values: Sequence[object], expected: int) -> None:
    """Raise a :class:`ShapeError` unless there is one value for each dimension."""
    if len(values) != expected:
        raise ShapeError(
            f"{op}: {role} has {len(values)} entries; expected {expected}, one for each dimension"
        )


def check_sizes(op: str, role: str, sizes: Sizes, expected: Sizes, why: str = "") -> None:
    """Raise a :class:`ShapeError` unless the sizes are those expected, for a reason.

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
    for axis, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        if size != wanted:
            message = f"{op}: dimension {axis} of {role} has size {size}"
            raise ShapeError(f"{message}; expected {wanted}{reason}")
