"""Sizes: integers, or forms over parameters such as ``N * 4``.

Rules compute with both. Where a number would be checked, a form becomes a condition: a constraint
that the maps then have, so that they have no points for other values of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd
from operator import index
from typing import TypeAlias

import sympy

from indexing import Variable
from indexing.layout import ShapeError
from indexing.passes import (
    PARAMETER,
    Constraint,
    Ends,
    check_parameters,
    counted,
    is_symbolic,
    limits,
    over_parameters,
    united,
)
from simplifier import forms
from simplifier.forms import AtomKind, Form, Interval, scope_of, to_sympy

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
    if not is_symbolic(value):
        return index(value)
    form, parameters = over_parameters(value)
    check_parameters(parameters, "sizes")
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
    return tuple(to_sympy(_named(size)) if isinstance(size, Form) else size for size in sizes)


def _named(size: Form) -> Form:
    names = {
        identifier: forms.variable(identifier.removeprefix(PARAMETER))
        for identifier in forms.variables_of((size,))
    }
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


def is_negative(size: Size) -> bool:
    """Whether a size is a negative number; nothing is known of forms."""
    return isinstance(size, int) and size < 0


def between(lower: Size, upper: Size) -> Interval | Ends:
    """The interval of these ends."""
    if isinstance(lower, int) and isinstance(upper, int):
        return Interval(lower, upper)
    return Ends(as_form(lower), as_form(upper))


def met(one: Interval | Ends, other: Interval | Ends) -> Interval | Ends:
    """The values in both."""
    if isinstance(one, Interval) and isinstance(other, Interval):
        return one.intersect(other)
    lowers, uppers = zip(_ends(one), _ends(other), strict=True)
    return Ends(
        forms.maximum(lower for lower in lowers if lower is not None),
        forms.minimum(upper for upper in uppers if upper is not None),
    )


def _ends(interval: Interval | Ends) -> Ends:
    if isinstance(interval, Ends):
        return interval
    lower, upper = interval.lower, interval.upper
    return Ends(
        None if lower is None else forms.constant(lower),
        None if upper is None else forms.constant(upper),
    )


def inside(form: Form, interval: Interval | Ends) -> list[Constraint]:
    """The constraints that a form lies in an interval."""
    if isinstance(interval, Interval):
        return [(form, interval)]
    numbers, constraints = limits(form, interval)
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
    numbers, constraints = limits(forms.variable(identifier), ends)
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
    names = {
        name.removeprefix(PARAMETER)
        for name in forms.variables_of(used)
        if name.startswith(PARAMETER)
    }
    forms_of_sizes = (size for size in map(_form_of_extent, sizes) if size is not None)
    bounded = (each for size in forms_of_sizes for each in counted(size))
    return united((*(Variable((None, None), name) for name in sorted(names)), *bounded))


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
    found = [size for size in listed if isinstance(size, int)]
    return found if len(found) == len(listed) else None


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
