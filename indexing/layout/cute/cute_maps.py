"""CuTe layouts as maps from coordinates to offsets, and the layouts that maps are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact.differences import first_difference
from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.int_tuple import product
from indexing.layout.cute.layout_algebra import coalesce
from indexing.layout.cute.swizzle import ComposedLayout
from indexing.map import IndexingMap
from indexing.variable import Variable
from simplifier.errors import ArgumentError, check_type, quoted
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.expr.form import Atom

Coordinates: TypeAlias = Literal["natural", "modes", "index"]
"""A coordinate for each size of the shape, for each mode, or one for the whole."""


def to_map(
    layout: CuteLayout | ComposedLayout, coordinates: Coordinates = "natural"
) -> IndexingMap:
    """The map from coordinates to the offset; its :meth:`inverse` leads back.

    ``"natural"`` has a dimension for each size of the shape, ``"modes"`` one for each mode, and
    ``"index"`` one for the whole.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.

    >>> from indexing.layout.cute import parse, parse_composed
    >>> layout = parse("((2,4),8):((1,8),2)")
    >>> print(to_map(layout))
    (d0, d1, d2) -> (d1 * 8 + d2 * 2 + d0), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 7]
    >>> print(to_map(parse("(4,8):(8,1)"), "index"))
    (d0) -> ((d0 mod 4) * 8 + d0 floordiv 4), domain: d0 in [0, 31]
    >>> print(to_map(parse("(4,8):(8,1)"), "modes").inverse())
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    >>> print(to_map(parse_composed("Sw<3,4,3> o 0 o (8,64):(64,1)")))
    (d0, d1) -> (d0 * 64 + bitxor(d1, (d0 floordiv 2) * 16)), domain: d0 in [0, 7], d1 in [0, 63]
    """
    check_type(layout, (CuteLayout, ComposedLayout), "to_map: the layout", "a layout of CuTe")
    if coordinates not in get_args(Coordinates):
        expected = "expected 'natural', 'modes' or 'index'"
        raise ArgumentError(f"to_map: the coordinates: {quoted(coordinates)}; {expected}")
    plain = layout if isinstance(layout, CuteLayout) else layout.layout
    groups = _groups(plain, coordinates)
    offset = sum((_offset(f"d{number}", group) for number, group in enumerate(groups)), forms.ZERO)
    if isinstance(layout, ComposedLayout):
        offset = _swizzled(offset + layout.offset, layout)
    domain = Domain.of(Variable.of_size(group.size) for group in groups)
    return IndexingMap.from_forms([offset], domain).simplify(preserve_ranges=True)


def _groups(layout: CuteLayout, coordinates: Coordinates) -> tuple[CuteLayout, ...]:
    """The layout of each dimension."""
    if coordinates == "natural":
        return layout.flat().modes
    return layout.modes if coordinates == "modes" else (layout,)


def _offset(name: str, layout: CuteLayout) -> Form:
    """The offset of a layout at an index, as a sum of digits with strides."""
    index, total = forms.variable(name), forms.ZERO
    *leaves, (_, last) = coalesce(layout).leaves
    for size, stride in leaves:
        total += operations.mod(index, forms.constant(size)) * stride
        index = operations.floordiv(index, forms.constant(size))
    return total + index * last


def _swizzled(offset: Form, layout: ComposedLayout) -> Form:
    swizzle = layout.swizzle
    flipping = operations.floordiv(offset, forms.constant(1 << swizzle.source))
    bits = operations.mod(flipping, forms.constant(1 << swizzle.bits)) * (1 << swizzle.target)
    return operations.bitwise(AtomKind.BITXOR, (offset, bits))


def from_map(indexing_map: IndexingMap) -> CuteLayout:
    """The layout that a map from coordinates to an offset is, with a mode for each dimension.

    Each mode is coalesced. Whatever coordinates :func:`to_map` wrote, the same offsets come back.

    Raises:
        ArgumentError: the argument is no map.
        MapError: the map is no layout of CuTe, with the reason.

    >>> from indexing import parse_map
    >>> print(from_map(parse_map("(d0, d1) -> (d0 mod 2 + (d0 floordiv 2) * 8 + d1 * 2), "
    ...                          "domain: d0 in [0, 7], d1 in [0, 7]")))
    ((2,4),8):((1,8),2)
    >>> from_map(parse_map("(d0) -> (bitxor(d0, d0 floordiv 8)), domain: d0 in [0, 63]"))
    Traceback (most recent call last):
    indexing.errors.MapError: from_map: bitxor(d0, d0 floordiv 8) is no sum of digits with strides
    """
    check_type(indexing_map, IndexingMap, "from_map: the map", "an IndexingMap")
    simplest = indexing_map.simplify(preserve_ranges=True)
    sizes = _checked_sizes(simplest)
    (form,) = simplest.forms
    for _, term in _terms(form):
        _check_digit(simplest, term)
    names = [f"d{number}" for number in range(len(sizes))]
    modes = [_mode(form, name, size) for name, size in zip(names, sizes, strict=True)]
    found = modes[0] if len(modes) == 1 else CuteLayout.of_modes(modes)
    _check_equal(simplest, found, to_map(found, "index" if len(modes) == 1 else "modes"))
    return found


def _checked_sizes(indexing_map: IndexingMap) -> list[int]:
    """The sizes of the dimensions of a map that has nothing else than one result over them."""
    domain = indexing_map.domain
    expected = {
        "one result": len(indexing_map.forms) == 1,
        "dimensions": bool(indexing_map.dims),
        "no ranges": not indexing_map.ranges,
        "no runtime variables": not indexing_map.runtime,
        "no parameters": not indexing_map.parameters,
        "no constraints": not domain.constraints,
    }
    for what, is_so in expected.items():
        if not is_so:
            raise MapError(f"from_map: {indexing_map}; expected {what}")
    sizes: list[int] = []
    for variable in indexing_map.dims:
        lower, upper = variable.bounds.lower, variable.bounds.upper
        if lower != 0 or upper is None or upper < 0:
            message = f"{variable.name} is in {variable.bounds}; expected from 0 to an end"
            raise MapError(f"from_map: {message}")
        sizes.append(upper + 1)
    return sizes


def _check_digit(indexing_map: IndexingMap, term: Form) -> None:
    """Raise an error unless a term is made of quotients and remainders of one variable."""
    is_digit = {atom.kind for atom in forms.postorder([term])} <= _DIGITS
    if not is_digit or len({*forms.variables_of([term])}) != 1:
        named = indexing_map.domain.named(term)
        raise MapError(f"from_map: {named} is no sum of digits with strides")


_DIGITS = {AtomKind.VARIABLE, AtomKind.FLOORDIV, AtomKind.MOD}


def _mode(form: Form, name: str, size: int) -> CuteLayout:
    """The layout along a dimension: its digits begin where quotients and remainders do.

    A guess, which holds if the form is a layout.
    """
    if size == 1:
        return CuteLayout(1, 0)
    others = [atom for atom, term in _terms(form) if name not in forms.variables_of([term])]
    along = form.without(*others)
    ends = {each or size for atom in along.terms for both in _ends(atom) for each in both}
    edges = [1, *sorted(end for end in ends if 1 < end < size), size]
    sizes = tuple(following // start for start, following in pairwise(edges))
    if product(sizes) != size:
        return CuteLayout(size, _slope(along, name, 1))
    return coalesce(CuteLayout(sizes, tuple(_slope(along, name, start) for start in edges[:-1])))


def _terms(form: Form) -> Iterator[tuple[Atom, Form]]:
    return ((atom, Form(0, {atom: 1})) for atom in form.terms)


def _ends(atom: Atom) -> Iterator[tuple[int, int | None]]:
    """Where the digits of a quotient or remainder of a variable begin and, maybe, end."""
    if atom.kind is AtomKind.VARIABLE:
        yield 1, None
        return
    numerator, divisor = atom.arguments
    for part in numerator.terms:
        for start, end in _ends(part):
            after = start * divisor.constant
            if atom.kind is AtomKind.FLOORDIV:
                yield after, end
            else:
                yield start, after if end is None else min(end, after)


def _slope(form: Form, name: str, value: int) -> int:
    """How much the form is at a value of its only variable, compared with that at 0."""
    there, here = (
        operations.substitute([form], {name: forms.constant(each)})[0] for each in (value, 0)
    )
    return there.constant - here.constant


def _check_equal(indexing_map: IndexingMap, found: CuteLayout, as_map: IndexingMap) -> None:
    try:
        difference = first_difference(indexing_map, as_map)
    except (NotQuasiAffineError, BudgetError) as error:
        raise MapError(f"from_map: {indexing_map}: {error}") from error
    if difference is not None:
        raise MapError(f"from_map: {indexing_map} is not {found}: {difference}")
