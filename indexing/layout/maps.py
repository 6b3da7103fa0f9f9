"""Layouts as maps from an index to an offset in memory, and back.

Every map is a bijection. Padding is not in the domain of the maps that lead back.

Maps are written as people write them: the number of each tile and the position in it are terms with
a stride. ``simplify()`` often finds something shorter, ``d0 * 128 - (d0 floordiv 8) * 896`` where a
person writes ``(d0 floordiv 8) * 128 + (d0 mod 8) * 128``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexing.domain import Constraint, Domain
from indexing.layout.layout import UNBOUNDED_SIZE, check_shapes
from indexing.layout.shape import Shape
from indexing.layout.steps import (
    Crop,
    Index,
    Limit,
    Sizes,
    Step,
    Transpose,
    Value,
    backward,
    cached,
    forward,
    memory_size,
    memory_steps,
    tiled_sizes,
    tiling_steps,
)
from indexing.map import IndexingMap
from indexing.simplify import simplified_in
from indexing.variable import Variable
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import AtomKind, Form, Interval


def logical_to_physical(shape: Shape) -> IndexingMap:
    """From an index to the same index with the dimensions in their order in memory, major first.

    Tiles do not count.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(logical_to_physical(Shape.parse("f32[2,3,4]{1,0,2}")))
    (d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 3]
    """
    check_shapes("logical_to_physical", shape=shape)
    order = _order_in_memory(shape)
    return _map(order.sizes_before, order.forward(dims_of(order.sizes_before)))


def physical_to_logical(shape: Shape) -> IndexingMap:
    """Map from an index with the dimensions in their order in memory to the one that users write.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(physical_to_logical(Shape.parse("f32[2,3,4]{1,0,2}")))
    (d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 3], d1 in [0, 1], d2 in [0, 2]
    """
    check_shapes("physical_to_logical", shape=shape)
    order = _order_in_memory(shape)
    return _map(order.sizes, order.backward(dims_of(order.sizes)))


@cached
def logical_to_tiled(shape: Shape) -> IndexingMap:
    """From an index to the index in the tiled dimensions: number of the tile, position in it, ...

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(logical_to_tiled(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    (d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2),
    domain: d0 in [0, 2], d1 in [0, 4]
    """
    sizes = shape.dimensions
    return _map(sizes, forward(tiling_steps(shape), dims_of(sizes))).simplify()


@cached
def tiled_to_logical(shape: Shape) -> IndexingMap:
    """Map from an index in the tiled dimensions to the index of the element there, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(tiled_to_logical(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    (d0, d1, d2, d3) -> (d0 * 2 + d2, d1 * 2 + d3),
    domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 1], d3 in [0, 1],
    d0 * 2 + d2 in [0, 2], d1 * 2 + d3 in [0, 4]
    """
    return _backward(tiled_sizes(shape), tiling_steps(shape))


@cached
def logical_to_linear(shape: Shape) -> IndexingMap:
    """Map from an index to the offset in memory, counted in elements.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(logical_to_linear(Shape.parse("f32[32,500]{1,0:T(8,128)}")))
    (d0, d1) -> ((d0 mod 8) * 128 + (d0 floordiv 8) * 4096 + (d1 floordiv 128) * 1024 + d1 mod 128),
    domain: d0 in [0, 31], d1 in [0, 499]
    """
    box = box_of(shape.dimensions)
    tiled = logical_to_tiled(shape).forms
    (offset,) = forward(memory_steps(shape)[len(tiling_steps(shape)) :], tiled)
    return IndexingMap.from_forms(joined_digits([form_of(offset)], box), box)


@cached
def linear_to_logical(shape: Shape) -> IndexingMap:
    """Map from an offset in memory, counted in elements, to the index of the element there, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(linear_to_logical(Shape.parse("f32[32,500]{1,0:T(8,128)}")))
    (d0) -> ((d0 floordiv 4096) * 8 + (d0 floordiv 128) mod 8,
             ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128),
    domain: d0 in [0, 16383], ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128 in [0, 499]
    """
    sizes = (memory_size(shape),)
    steps = memory_steps(shape)
    tiled, _ = backward(steps[len(tiling_steps(shape)) :], dims_of(sizes))
    digits = {f"d{axis}": form_of(digit) for axis, digit in enumerate(tiled)}
    index = forms.substitute(tiled_to_logical(shape).forms, digits)
    domain = _backward(sizes, steps).domain
    return IndexingMap.from_forms(joined_digits(index, box_of(sizes)), domain)


def strides(shape: Shape) -> tuple[int | None, ...]:
    """The distance in memory to the next element along each dimension, counted in elements.

    ``None`` if a tile cuts the dimension, so that the distance varies; 0 if there is no next
    element.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> strides(Shape.parse("f32[6,1,10]{0,1,2}"))
    (1, 0, 6)
    >>> strides(Shape.parse("f32[5,64,200]{2,1,0:T(8,128)}"))
    (16384, None, None)
    >>> strides(Shape.parse("f32[5,64,100]{2,1,0:T(8,128)}"))  # one tile is as wide as the array
    (8192, 128, 1)
    """
    check_shapes("strides", shape=shape)
    offset = logical_to_linear(shape)
    return tuple(_stride(offset, axis, size) for axis, size in enumerate(shape.dimensions))


def _stride(offset: IndexingMap, axis: int, size: int) -> int | None:
    if size <= 1:
        return 0
    name = f"d{axis}"
    here = forms.variable(name)
    (there,) = forms.substitute(offset.forms, {name: here + 1})
    not_the_last = offset.domain.constrained([(here, Interval(0, size - 2))])
    step = IndexingMap.from_forms([there - offset.forms[0]], not_the_last)
    (form,) = step.simplify(exact=True, preserve_ranges=True).forms
    return form.constant if form.is_constant else None


def step_map(step: Step) -> IndexingMap:
    """Map from an index before a step of a layout to the index after it.

    Composed, the maps of :func:`~indexing.layout.tiling_steps` are :func:`logical_to_tiled`.

    >>> from indexing.layout import Shape
    >>> pad, reshape, transpose = tiling_steps(Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    >>> print(step_map(reshape))
    (d0, d1) -> (d0 floordiv 2, d0 mod 2, d1 floordiv 2, d1 mod 2),
    domain: d0 in [0, 3], d1 in [0, 5]
    >>> print(step_map(transpose))
    (d0, d1, d2, d3) -> (d0, d2, d1, d3),
    domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 2], d3 in [0, 1]
    """
    check_type(step, Step, "step_map: the step", "one of tiling_steps")
    index = dims_of(step.sizes_before)
    limits = step.limits(index) if isinstance(step, Crop) else ()
    return _map(step.sizes_before, step.forward(index), limits).simplify()


def _order_in_memory(shape: Shape) -> Transpose:
    return Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)


def _backward(sizes: Sizes, steps: Sequence[Step]) -> IndexingMap:
    index, limits = backward(steps, dims_of(sizes))
    return _map(sizes, index, limits).simplify()


def _map(sizes: Sizes, results: Index, limits: Iterable[Limit] = ()) -> IndexingMap:
    return IndexingMap.from_forms(map(form_of, results), box_of(sizes).constrained(within(limits)))


# Indices and offsets as sums of digits, as people write them. A digit is a part of one variable
# with a stride, such as ((d0 floordiv 8) mod 4) * 128.


def dims_of(sizes: Sizes) -> Index:
    """The index of an element as dimension variables ``d0, d1, ...``."""
    return tuple(forms.variable(f"d{axis}") for axis in range(len(sizes)))


def box_of(sizes: Sizes, ranges: Sizes = ()) -> Domain:
    """The domain of these dimensions and ranges, without constraints."""
    return Domain.of(map(_variable, sizes), map(_variable, ranges))


def _variable(size: int) -> Variable:
    return Variable((0, None)) if size == UNBOUNDED_SIZE else Variable.of_size(size)


def form_of(value: Value) -> Form:
    """A component of an index as a form; it may be an integer."""
    return value if isinstance(value, Form) else forms.constant(value)


def within(limits: Iterable[Limit]) -> list[Constraint]:
    """The constraints that components of an index, which are sums of digits, keep their limits."""
    return [part for value, size in limits for part in _below(form_of(value), size)]


def _below(value: Form, size: int) -> Iterator[Constraint]:
    """The constraints that a sum of digits is less than a size: heavier digits must be 0."""
    heavy = [atom for atom, weight in value.terms.items() if weight >= size]
    for atom in heavy:
        yield Form(0, {atom: 1}), Interval(0, 0)
    yield value.without(*heavy), Interval(0, size - 1)


# Neighbouring digits of one number are one digit: (x floordiv 8) * 8 + x mod 8 is x.


def joined_digits(results: Iterable[Form], box: Domain) -> Iterator[Form]:
    """The sums with as few terms as possible, each of them one digit of one variable."""
    for result in results:
        digits: list[Form] = []
        for atom, factor in result.terms.items():
            _add(digits, simplified_in(box, Form(0, {atom: factor})), box)
        yield sum(digits, forms.constant(result.constant))


def _add(digits: list[Form], digit: Form, box: Domain) -> None:
    """Add a digit to the others, joined with the one that it is a neighbour of."""
    for position, other in enumerate(digits):
        both = simplified_in(box, other + digit)
        if both.is_affine or _is_digit(both):
            del digits[position]
            _add(digits, both, box)  # it may be a neighbour of a third one
            return
    digits.append(digit)


def _is_digit(form: Form) -> bool:
    """Whether a form is a multiple of a variable, or of a quotient or remainder of a digit."""
    if form.constant or len(form.terms) != 1:
        return False
    (atom,) = form.terms
    if atom.kind is AtomKind.VARIABLE:
        return True
    return atom.kind in {AtomKind.FLOORDIV, AtomKind.MOD} and _is_part(atom.numerator)


def _is_part(form: Form) -> bool:
    return _is_digit(form) and set(form.terms.values()) == {1}
