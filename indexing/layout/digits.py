"""Indices and offsets as sums of digits, which is how people write the maps of layouts.

A digit is a part of one variable, ``(d0 floordiv 8) mod 4``, with its stride before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.layout.shape import UNBOUNDED_SIZE
from indexing.map import IndexingMap
from indexing.variable import Variable
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.form import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.domain import Constraint
    from indexing.layout.steps import Index, Limit, Sizes, Value


def dims_of(sizes: Sizes) -> Index:
    """The index of an element of an array, as dimension variables."""
    return tuple(forms.variable(f"d{place}") for place in range(len(sizes)))


def box_of(sizes: Sizes, ranges: Sizes = ()) -> Domain:
    """The dimensions of an array, and ranges, without constraints."""
    return Domain.of(map(_variable, sizes), map(_variable, ranges))


def _variable(size: int) -> Variable:
    return Variable((0, None)) if size == UNBOUNDED_SIZE else Variable.of_size(size)


def form_of(value: Value) -> Form:
    """A part of an index, which may be an integer, as a form."""
    return value if isinstance(value, Form) else forms.constant(value)


def within(limits: Iterable[Limit]) -> list[Constraint]:
    """That parts of an index, which are sums of digits, are below their sizes."""
    return [part for value, size in limits for part in _below(form_of(value), size)]


def _below(value: Form, size: int) -> Iterator[Constraint]:
    """That a sum of digits is below a size: those that weigh as much must all be 0."""
    heavy = [atom for atom, weight in value.terms.items() if weight >= size]
    for atom in heavy:
        yield Form(0, {atom: 1}), Interval(0, 0)
    yield value.without(*heavy), Interval(0, size - 1)


# Neighbouring digits of one number are one digit: (x floordiv 8) * 8 + x mod 8 is x.


def joined_digits(results: Iterable[Form], box: Domain) -> Iterator[Form]:
    """Sums with as few terms as there are, if each is to be one digit of one variable."""
    for result in results:
        digits: list[Form] = []
        for atom, factor in result.terms.items():
            _add(digits, simplified_in(box, Form(0, {atom: factor})), box)
        yield sum(digits, forms.constant(result.constant))


def _add(digits: list[Form], digit: Form, box: Domain) -> None:
    """Put a digit beside the others, or into the one that it is a neighbour of."""
    for place, other in enumerate(digits):
        both = simplified_in(box, other + digit)
        if both.is_affine or _is_digit(both):
            del digits[place]
            _add(digits, both, box)  # it may be a neighbour of a third one
            return
    digits.append(digit)


def _is_digit(form: Form) -> bool:
    """Whether a form is a multiple of a variable, or of a quotient or remainder of a digit."""
    if form.constant or len(form.terms) != 1:
        return False
    (atom,) = form.terms
    if atom.kind is Kind.VARIABLE:
        return True
    return atom.kind in {Kind.FLOORDIV, Kind.MOD} and _is_part(atom.numerator)


def _is_part(form: Form) -> bool:
    return _is_digit(form) and set(form.terms.values()) == {1}


def simplified_in(box: Domain, form: Form) -> Form:
    """The smallest form with the same values on a domain."""
    return IndexingMap.from_forms([form], box).simplify().forms[0]
