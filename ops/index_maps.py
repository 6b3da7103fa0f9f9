"""Tools of rules, devices and schedules: variables, maps over boxes, and checks of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from itertools import chain
from math import gcd
from operator import index
from typing import TypeAlias, TypeVar, cast

import simplifier
from indexing import IndexingMap, Variable, passes
from indexing.layout import ShapeError
from indexing.passes import LETTERS, PARAMETER, ByRole, Constraint, Domain, Ends
from ops.limits import MAX_OPERANDS
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import AtomKind, Form, Interval, floordiv, mod, scope_of
from simplifier.tools.late import sympy

T = TypeVar("T")
Number = TypeVar("Number", int, "Size")


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


def quotient_toward_zero(
    numerator: sympy.Expr, divisor: sympy.Expr, *, is_nonnegative: bool
) -> sympy.Expr:
    """The quotient by a positive divisor as in C, if the numerator may be negative.

    >>> import simplifier
    >>> quotient_toward_zero(simplifier.symbol("x"), 4, is_nonnegative=True)
    x//4
    """
    quotient = simplifier.FloorDiv(numerator, divisor)
    if is_nonnegative:
        return quotient
    opposite = simplifier.FloorDiv(-numerator, divisor)
    return simplifier.Max(quotient, 0) - simplifier.Max(opposite, 0)


def with_value(values: Sequence[T], index: int, value: T) -> tuple[T, ...]:
    """The values with another value at an index."""
    return (*values[:index], value, *values[index + 1 :])


def in_order(values: Mapping[int, T]) -> tuple[T, ...]:
    """The values by their numbers."""
    return tuple(values[number] for number in sorted(values))


def row_major(index: Sequence[Form], sizes: Sequence[Size], order: Iterable[int]) -> Form:
    """The number of an element, if the dimensions lie in an order, the major ones first.

    >>> n, first, second = map(dim, range(3))
    >>> row_major([first, second], [4, n], [0, 1])
    Form(d0 * d1 + d2)
    """
    total = forms.ZERO
    for dimension in order:
        total = scaled(total, sizes[dimension]) + index[dimension]
    return total


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
    domain = Domain.of(dims, ranges, runtime, map(passes.bare, limited), parameters)
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
    wider = replace(domain, parameters=passes.united((*domain.parameters, *used)))
    limited = passes.conditioned(wider, conditions)
    return IndexingMap.from_forms(indexing_map.forms, limited)


def constrained(indexing_map: IndexingMap, form: Form, interval: Interval) -> IndexingMap:
    """The map where a form over its variables lies in an interval."""
    limited = indexing_map.domain.constrained([(form, interval)])
    return IndexingMap.from_forms(indexing_map.forms, limited)


def paired(
    output_sizes: Sizes, operand_sizes: Sizes, pairs: Iterable[tuple[int, int]] = ()
) -> tuple[IndexingMap, IndexingMap]:
    """Maps in both directions between elements with equal indices in paired dimensions.

    Each pair is a dimension of the result and one of the operand. An element is related to every
    element of the other side whose indices in the paired dimensions are equal: a scalar, which has
    none, to all.

    >>> to_input, to_output = paired((2, 3), (5, 2), [(0, 1)])
    >>> print(to_input)
    (d0, d1)[s0] -> (s0, d0), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 4]
    >>> print(to_output)
    (d0, d1)[s0] -> (d1, s0), domain: d0 in [0, 4], d1 in [0, 1], s0 in [0, 2]
    """
    there = {operand: output for output, operand in pairs}
    back = {output: operand for operand, output in there.items()}
    to_input = _with_the_same(output_sizes, operand_sizes, there)
    return to_input, _with_the_same(operand_sizes, output_sizes, back)


def _with_the_same(sizes: Sizes, others: Sizes, pairs: Mapping[int, int]) -> IndexingMap:
    free = [axis for axis in range(len(others)) if axis not in pairs]
    element = {axis: symbol(number) for number, axis in enumerate(free)}
    element |= {axis: dim(same) for axis, same in pairs.items()}
    return index_map(in_order(element), sizes, [others[axis] for axis in free])


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


def checked_operands(op: str, operand_sizes: Iterable[Sizes]) -> tuple[tuple[Size, ...], ...]:
    """The sizes of each operand, as :func:`checked_sizes` gives them."""
    check_type(operand_sizes, Iterable, f"{op}: operand_sizes", "the sizes of each operand")
    listed = enumerate(operand_sizes)
    return tuple(checked_sizes(op, f"operand {number}", sizes) for number, sizes in listed)


def checked_numbers(op: str, role: str, values: Iterable[SizeLike]) -> tuple[Size, ...]:
    """The values as integers, or forms of expressions."""
    return tuple(_checked(op, role, values, _read_number))


def _read_number(value: SizeLike) -> Size:
    return index(cast("int", value)) if hasattr(value, "__index__") else read_integer(value)


def _checked(
    op: str, role: str, values: Iterable[T], read: Callable[[T], Number]
) -> Iterator[Number]:
    try:
        listed = tuple(values)
    except TypeError:
        raise ShapeError(f"{op}: {role} are {values!r}; expected integers") from None
    for value in listed:
        try:
            yield read(value)
        except simplifier.ConversionError as error:
            raise ShapeError(f"{op}: {role}: {error}") from None
        except TypeError:
            raise ShapeError(f"{op}: {role} hold {value!r}; expected integers") from None


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
    return tuple(_checked(op, role, values, index))


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
        message = f"{op}: {role} has {len(values)} entries"
        raise ShapeError(f"{message}; expected {expected}, one for each {each}")


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


# Sizes: integers, or forms over parameters such as `N * 4`.
#
# Rules compute with both. Where a number would be checked, a form becomes a condition: a
# constraint that the maps then have, so that they have no points for other values of the
# parameters.

Size: TypeAlias = "int | Form"
"""A number, or a form over parameters."""

SizeLike: TypeAlias = "int | sympy.Expr | Form"
"""A size as users give it: an integer, or an expression whose symbols are parameters."""

Extent: TypeAlias = "SizeLike | Interval | Ends"
"""The values of a variable: a size ``n`` for ``[0, n - 1]``, or an interval."""


def read_integer(value: SizeLike) -> Size:
    """An integer, or the form of an expression.

    Raises:
        TypeError: the value is neither.
        MapError: a symbol cannot be a parameter.

    >>> from simplifier import symbol
    >>> read_integer(symbol("N") * 4), read_integer(8)
    (Form(~N * 4), 8)
    """
    if isinstance(value, Form):
        return value
    if not passes.is_symbolic(value):
        return index(value)
    form, parameters = passes.over_parameters(value)
    passes.check_parameters(parameters, "sizes")
    return plain(form)


def plain(form: Form | None) -> Size:
    """The form, or the integer that it is."""
    if form is None:
        return 0
    return form.constant if form.is_constant else form


def shown_sizes(sizes: Iterable[SizeLike]) -> tuple[sympy.Expr | int, ...]:
    """The sizes as users write them, in the names of the parameters.

    >>> shown_sizes((4, forms.variable("~N") * 4))
    (4, 4*N)
    """
    return tuple(forms.to_sympy(_named(size)) if isinstance(size, Form) else size for size in sizes)


def _named(size: Form) -> Form:
    own = forms.variables_of((size,))
    names = {each: forms.variable(each.removeprefix(PARAMETER)) for each in own}
    return forms.substitute((size,), names)[0]


def as_form(size: Size) -> Form:
    """A form with this value."""
    return size if isinstance(size, Form) else forms.constant(size)


def product(sizes: Iterable[Size]) -> Size:
    """The number of elements of a tensor of these sizes."""
    return reduce(_times, sizes, 1)


def _times(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    return plain(forms.product((as_form(left), as_form(right))))


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes."""
    return plain(as_form(sum(sizes)))


def difference(left: Size, right: Size) -> Size:
    """The one less the other.

    >>> n = forms.variable("~N")
    >>> difference(product((n + 1, n)), product((n, n)) + n)
    0
    """
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return plain(scope_of(()).canonical(as_form(left) - as_form(right)))


def may_be(size: Size, number: int) -> bool:
    """Whether a size may be a number: not if the parameters in it come in multiples that skip it.

    >>> n = forms.variable("~N")
    >>> may_be(n + 2, 1), may_be(n * 4, 1)
    (True, False)
    """
    if isinstance(size, int):
        return size == number
    return (number - size.constant) % gcd(*size.terms.values()) == 0


def between(lower: Size, upper: Size) -> Interval | Ends:
    """The interval of these ends."""
    if isinstance(lower, int) and isinstance(upper, int):
        return Interval(lower, upper)
    return Ends(as_form(lower), as_form(upper))


def inside(form: Form, size: Size, first: Size = 0) -> list[Constraint]:
    """The constraints that a form is one of so many indices, from the first one on."""
    indices = between(first, first + size - 1)
    if isinstance(indices, Interval):
        return [(form, indices)]
    numbers, constraints = passes.limits(form, indices)
    return [(form, numbers), *constraints]


def variable_of(identifier: str, extent: Extent) -> tuple[Variable, list[Constraint]]:
    """A variable with these values, and the constraints for its ends over parameters.

    >>> variable_of("d0", forms.variable("~N"))[1]
    [(Form(d0 - ~N), Interval(lower=None, upper=-1))]
    """
    if isinstance(extent, Interval):
        return Variable(extent), []
    if not isinstance(extent, Ends):
        extent = read_integer(extent)
    if isinstance(extent, int):
        return Variable.of_size(extent), []
    ends = Ends(forms.ZERO, _last_index(extent)) if isinstance(extent, Form) else extent
    numbers, constraints = passes.limits(forms.variable(identifier), ends)
    return Variable(numbers), constraints


def _last_index(size: Form) -> Form:
    """The greatest index in a dimension. Of a minimum of sizes, it is the minimum of theirs.

    A maximum with zero does not matter: no index is below zero and below a negative size.

    >>> _last_index(forms.maximum((forms.ZERO, forms.variable("~N") - 2)))
    Form(~N - 3)
    >>> _last_index(forms.minimum((forms.constant(8), forms.variable("~N"))))
    Form(min(~N - 1, 7))
    """
    atom = size.only_atom
    if atom is not None and atom.kind is AtomKind.MIN:
        return forms.minimum(each - 1 for each in atom.arguments)
    if atom is not None and atom.kind is AtomKind.MAX:
        others = [each for each in atom.arguments if each != forms.ZERO]
        return (others[0] if len(others) == 1 else size) - 1
    return size - 1


def parameters_in(used: Iterable[Form], sizes: Iterable[Extent]) -> tuple[Variable, ...]:
    """The parameters that forms use, with the bounds that follow from sizes not being negative."""
    own = (each for each in forms.variables_of(used) if each.startswith(PARAMETER))
    names = {each.removeprefix(PARAMETER) for each in own}
    forms_of_sizes = (size for size in map(_form_of_extent, sizes) if size is not None)
    bounded = (each for size in forms_of_sizes for each in passes.counted(size))
    return passes.united((*(Variable((None, None), name) for name in sorted(names)), *bounded))


def _form_of_extent(extent: Extent) -> Form | None:
    """The size over parameters that an extent is."""
    if isinstance(extent, int | Interval | Ends):
        return None
    size = read_integer(extent)
    return size if isinstance(size, Form) else None


def equal(one: Size, other: Size, message: str) -> list[Constraint]:
    """The condition that two sizes are equal; empty if they always are.

    Nothing else may say that they are not negative: a map need not have variables of these sizes.

    Raises:
        ShapeError: they never are.
    """
    apart = difference(one, other)
    if isinstance(apart, Form):
        return [(apart, Interval(0, 0)), *not_negative((one, other))]
    if apart:
        raise ShapeError(_for_people(message))
    return []


def not_negative(sizes: Iterable[Size]) -> list[Constraint]:
    """The conditions that sizes over parameters are sizes."""
    return [(size, Interval(0, None)) for size in sizes if isinstance(size, Form)]


def at_most(one: Size, other: Size, message: str) -> list[Constraint]:
    """The condition that a size is no greater than another one; empty if it always is.

    Raises:
        ShapeError: it always is.
    """
    apart = difference(one, other)
    if isinstance(apart, Form):
        return [(apart, Interval(None, 0))]
    if apart > 0:
        raise ShapeError(_for_people(message))
    return []


def _for_people(message: str) -> str:
    """A message with names in place of the identifiers of parameters."""
    return message.replace(PARAMETER, "")


def numbers(sizes: Iterable[Size]) -> list[int] | None:
    """The sizes, if all are integers."""
    listed = [*sizes]
    return cast("list[int]", listed) if is_numeric(listed) else None


def is_numeric(extents: Iterable[object]) -> bool:
    """Whether all extents are numbers or intervals between numbers."""
    for extent in extents:
        if type(extent) is not int and not isinstance(extent, Interval):
            return False
    return True


def scaled(form: Form, size: Size) -> Form:
    """A form times a size.

    >>> scaled(forms.variable("d0"), forms.variable("~N"))
    Form(d0 * ~N)
    """
    return forms.product((form, size)) if isinstance(size, Form) else form * size


def divided(size: Size, count: Size, message: str) -> tuple[Size, list[Constraint]]:
    """A size in a number of equal parts, and the condition that it can be cut so.

    Raises:
        ShapeError: it cannot.

    >>> divided(forms.variable("~N"), 4, "")
    (Form(~N floordiv 4), [(Form(~N mod 4), Interval(lower=0, upper=0))])
    >>> divided(forms.variable("~N") * 4, forms.variable("~N"), "")
    (4, [])
    """
    if not count:
        return 0, equal(size, 0, message)
    if count == 1:
        return size, []
    times = _times_of(size, count)
    if times is not None:
        return times, []
    whole, parts = as_form(size), as_form(count)
    rest = forms.mod(whole, parts)
    if rest.is_constant and rest.constant:
        raise ShapeError(_for_people(message))
    needed: list[Constraint] = [] if rest.is_constant else [(rest, Interval(0, 0))]
    return plain(forms.floordiv(whole, parts)), needed


def _times_of(size: Size, part: Size) -> int | None:
    """Factor between a size over parameters and another one, if that is a number."""
    if isinstance(size, int) or isinstance(part, int):
        return None
    atom, factor = next(iter(part.terms.items()))
    times = size.terms.get(atom, 0) // factor
    return times if difference(size, part * times) == 0 else None


def at_least(number: int, size: Size) -> Size:
    """The greater of a number and a size."""
    if isinstance(size, int):
        return max(number, size)
    return forms.maximum((forms.constant(number), size))


def least(one: Size, other: Size) -> Size:
    """The lesser of two sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return plain(forms.minimum((as_form(one), as_form(other))))


def floor_divided(size: Size, divisor: Size) -> Size:
    """The quotient by a positive size, rounded down."""
    if isinstance(size, int) and isinstance(divisor, int):
        return size // divisor
    return size if divisor == 1 else plain(forms.floordiv(as_form(size), as_form(divisor)))


def ceil_divided(size: Size, divisor: Size) -> Size:
    """The quotient by a positive size, rounded up."""
    if isinstance(size, int) and isinstance(divisor, int):
        return -(-size // divisor)
    return size if divisor == 1 else plain(forms.ceildiv(as_form(size), as_form(divisor)))
