"""Bitcasts: which elements of two shapes are the same memory, and the steps of a bitcast.

All tiles of both layouts count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import mul

from indexing.domain import Constraint, Domain, substituted_constraints
from indexing.errors import ShapeError
from indexing.exact.few_points import first_elsewhere, has_few_points
from indexing.layout import maps
from indexing.layout.layout import check_shapes, common_blocks
from indexing.layout.maps import Crop, Index, Pad, Reshape, Sizes, Step, Transpose
from indexing.layout.shape import Shape
from indexing.map import IndexingMap, UndefinedMap
from indexing.simplify import simplified_in
from simplifier import forms
from simplifier.errors import check_integers
from simplifier.exact import BudgetError
from simplifier.forms import Form

_REMEMBERED = 1 << 12


def bitcast_map(source: Shape, target: Shape) -> IndexingMap:
    """From an index to the index of the element at the same position in memory, in another shape.

    Each element leads to one, and the map from ``target`` to ``source`` is the inverse. If an
    element of the source is as wide as several of the target, a range runs over these, from the
    lowest bits on; if it is narrower, several elements lead to one. Elements that lie in padding
    of the target are not in the domain.

    Returns:
        The map; or, with the reason, an :class:`~indexing.UndefinedMap`: there are no offsets
        (:func:`~indexing.layout.tiling_steps`), the memory is not of one size, no width of elements
        divides the other, or each array has elements that lie, in part or whole, in padding of the
        other.

    >>> from indexing.layout import Shape
    >>> tiled, flat = Shape.parse("f32[8,256]{1,0:T(8,128)}"), Shape.parse("f32[2048]{0:T(1024)}")
    >>> print(bitcast_map(flat, tiled))
    (d0) -> ((d0 floordiv 128) mod 8, (d0 floordiv 1024) * 128 + d0 mod 128),
    domain: d0 in [0, 2047]
    >>> words = Shape.parse("u32[32,512]{1,0:T(4,128)}")
    >>> print(bitcast_map(words, Shape.parse("bf16[64,512]{1,0:T(8,128)(2,1)}")))
    (d0, d1)[s0] -> (d0 * 2 + s0, d1), domain: d0 in [0, 31], d1 in [0, 511], s0 in [0, 1]
    >>> print(bitcast_map(flat, words))
    UNDEFINED: f32[2048]{0:T(1024)} fills 8192 bytes, u32[32,512]{1,0:T(4,128)} 65536
    """
    check_shapes("bitcast_map", source=source, target=target)
    return _bitcast_map(source, target)


@lru_cache(maxsize=_REMEMBERED)
def _bitcast_map(source: Shape, target: Shape) -> IndexingMap:
    reason = _obstacle(source, target)
    if reason:
        return UndefinedMap(reason)
    here, there = _parts(source, target)
    try:
        missing = _first_without_counterpart(here, there)
        other = missing and _first_without_counterpart(there, here)
    except BudgetError as error:
        return UndefinedMap(f"which elements lie in padding is too much work to tell: {error}")
    if not missing or not other:
        return _between(here, there)
    here = f"element {missing} of {source} lies in padding of {target}"
    return UndefinedMap(f"{here}, and element {other} of that in padding of the other")


def _obstacle(source: Shape, target: Shape) -> str:
    """The reason why both cannot be the same memory; empty if they can."""
    try:
        sizes = [_bytes(source), _bytes(target)]
    except ShapeError as error:
        return str(error)
    if sizes[0] != sizes[1]:
        return f"{source} fills {sizes[0]} bytes, {target} {sizes[1]}"
    narrow, wide = sorted(shape.element_size_in_bits for shape in (source, target))
    if wide % narrow:
        return f"elements of {narrow} bits do not fill those of {wide} bits"
    return ""


def _bytes(shape: Shape) -> int:
    return -(-maps.memory_size(shape) * shape.element_size_in_bits // 8)


@dataclass(frozen=True, slots=True)
class _Array:
    """An array whose elements are cut into parts of equal width."""

    shape: Shape
    parts: int

    @property
    def box(self) -> Domain:
        """The dimensions, and a range over the parts of an element if it has several."""
        return maps.box_of(self.shape.dimensions, (self.parts,) if self.parts > 1 else ())

    @property
    def part(self) -> Form:
        """The number of the part of an element."""
        return forms.variable("s0") if self.parts > 1 else forms.ZERO

    @property
    def sizes(self) -> Sizes:
        """The tiled dimensions, and the parts of each element."""
        return (*maps.tiled_sizes(self.shape), self.parts)

    @property
    def position(self) -> Index:
        """Position of a part of an element in these."""
        dims = maps.dims_of(self.shape.dimensions)
        return (*maps.forward(maps.tiling_steps(self.shape), dims), self.part)


def _parts(source: Shape, target: Shape) -> tuple[_Array, _Array]:
    """Both arrays in parts as wide as the narrower elements."""
    narrow = min(source.element_size_in_bits, target.element_size_in_bits)
    here, there = (
        _Array(shape, shape.element_size_in_bits // narrow) for shape in (source, target)
    )
    return here, there


@lru_cache(maxsize=_REMEMBERED)
def _between(source: _Array, target: _Array) -> IndexingMap:
    """The map on the elements that have a counterpart; also asked which elements lie in padding."""
    if source.box.is_known_empty:
        return IndexingMap.from_forms([forms.ZERO] * target.shape.rank, source.box)
    cuts = _common_cuts(source.sizes, target.sizes)
    return _by_digits(source, target, cuts) if cuts else _by_offsets(source, target)


def _common_cuts(sizes: Sizes, others: Sizes) -> Sizes:
    """The largest sizes whose neighbours multiply to both lists; empty if there are none.

    >>> _common_cuts((4, 6), (2, 12)), _common_cuts((4, 6), (3, 8))
    ((2, 2, 6), ())
    """
    strides = sorted({*_strides(sizes), *_strides(others)}, reverse=True)
    pairs = [*itertools.pairwise(strides)]
    is_same_memory = _strides(sizes)[0] == _strides(others)[0]
    if not is_same_memory or any(larger % smaller for larger, smaller in pairs):
        return ()
    return tuple(larger // smaller for larger, smaller in pairs) or (1,)


def _strides(sizes: Sizes) -> list[int]:
    """The size of all, and the distance of neighbours along each dimension."""
    return [*itertools.accumulate(reversed(sizes), mul, initial=1)][::-1]


def _by_digits(source: _Array, target: _Array, cuts: Sizes) -> IndexingMap:
    """Each digit of a position in memory is a digit of both indices."""
    digits = map(maps.form_of, Reshape.between(source.sizes, cuts).forward(source.position))
    simple = IndexingMap.from_forms(digits, source.box).simplify(preserve_ranges=True).forms
    values = {f"d{axis}": digit for axis, digit in enumerate(simple)}
    index, limits = _of_digits(target, cuts)
    results = forms.substitute(index, values)
    constrained = source.box.constrained(substituted_constraints(limits, values))
    domain = _simplified_domain(IndexingMap.from_forms(results, constrained))
    box = replace(domain, constraints=())
    return IndexingMap.from_forms(maps.joined_digits(results, box), domain)


def _of_digits(target: _Array, cuts: Sizes) -> tuple[tuple[Form, ...], list[Constraint]]:
    """The index of an element by the digits of its position, and their constraints."""
    position = Reshape.between(cuts, target.sizes).forward(maps.dims_of(cuts))
    index, limits = maps.backward(maps.tiling_steps(target.shape), position[:-1])
    simple = IndexingMap.from_forms(map(maps.form_of, index), maps.box_of(cuts)).simplify()
    return simple.forms, maps.within(limits)


def _simplified_domain(made: IndexingMap) -> Domain:
    """The domain of the map; its ranges stay, because the results are in terms of them."""
    domain = made.simplify(preserve_ranges=True).domain
    return made.simplify(exact=True, preserve_ranges=True).domain if domain.constraints else domain


def _by_offsets(source: _Array, target: _Array) -> IndexingMap:
    """The map through the offset, where dimensions overlap: ``[4,6]`` and ``[3,8]``."""
    there = _place(source) // target.parts
    to_offset = IndexingMap.from_forms([there], source.box)
    found = to_offset.compose(maps.linear_to_logical(target.shape)).simplify()
    return found.simplify(exact=True) if found.constraints else found


def _first_without_counterpart(source: _Array, target: _Array) -> str | None:
    """The first element of which a part lies in padding of the other array."""
    if maps.memory_size(target.shape) == target.shape.element_count:
        return None
    index = _first_in_padding(source, target)
    return None if index is None else f"({', '.join(map(str, index[: source.shape.rank]))})"


def _first_in_padding(source: _Array, target: _Array) -> tuple[int, ...] | None:
    """The index of that element, and perhaps its part."""
    if not _common_cuts(source.sizes, target.sizes):  # formulas of overlapping digits are long
        places = [IndexingMap.from_forms([_place(each)], each.box) for each in (source, target)]
        if all(map(has_few_points, places)):
            return first_elsewhere(*places)
    kept = _between(source, target).domain
    if kept == source.box:
        return None
    names = [*map(forms.variable, source.box.identifiers)]
    every, some = (IndexingMap.from_forms(names, domain) for domain in (source.box, kept))
    difference = every.first_difference(some)
    return None if difference is None else difference.dims


def _place(array: _Array) -> Form:
    """Position of a part of an element in memory, counted in parts."""
    (offset,) = maps.logical_to_linear(array.shape).forms
    return offset * array.parts + array.part


# Decomposition.


_Steps = tuple["Step", ...]


def decompose_bitcast(source: Shape, target: Shape) -> tuple[Step, ...]:
    """A bitcast as steps, each of them a bitcast; those that change nothing are left out.

    It is the first of these that is a bitcast: nothing, a reshape, a transpose, or a transpose to
    the order in memory, a reshape, and a transpose from it. If tiles allow none of them, the steps
    lead through memory: they cut tiles and put them together again, and padding comes and goes.

    Raises:
        ShapeError: there is no :func:`bitcast_map`, or elements change their width.

    Source: XLA's ``ShapeUtil::DecomposeBitcast``, which knows no tiles.

    >>> from indexing.layout import Shape
    >>> def show(source, target):
    ...     for step in decompose_bitcast(Shape.parse(source), Shape.parse(target)):
    ...         print(step)
    >>> show("f32[16,3,17]{1,2,0}", "f32[16,51]{0,1}")
    transpose (16,3,17) to (16,17,3)
    reshape (16,17,3) to (51,16)
    transpose (51,16) to (16,51)
    >>> show("f32[8,256]{1,0:T(8,128)}", "f32[2048]{0:T(1024)}")
    reshape (8,256) to (1,8,2,128)
    transpose (1,8,2,128) to (1,2,8,128)
    reshape (1,2,8,128) to (2048)
    """
    check_shapes("decompose_bitcast", source=source, target=target)
    found = bitcast_map(source, target)
    if isinstance(found, UndefinedMap):
        raise ShapeError(f"there is no bitcast: {found.reason}")
    before, after = source.element_size_in_bits, target.element_size_in_bits
    if before != after:
        expected = "expected a bitcast that keeps their width, to decompose it"
        raise ShapeError(f"elements of {before} bits become elements of {after} bits; {expected}")
    index = maps.dims_of(source.dimensions)
    for steps in _without_tiles(source, target):
        if keeps_offsets(source, target, maps.forward(steps, index)):
            return _shortened(steps)
    back = (step.inverse for step in reversed(maps.memory_steps(target)))
    return _shortened((*maps.memory_steps(source), *back))


def _without_tiles(source: Shape, target: Shape) -> Iterator[_Steps]:
    """Candidates for the bitcast if the tiles do not matter, from the simplest on."""
    if source.element_count != target.element_count:
        return
    yield (Reshape.between(source.dimensions, target.dimensions),)
    permutation = deduce_transpose(source, target)
    if permutation:
        yield (Transpose.of(source.dimensions, permutation),)
    here, there = map(maps.order_in_memory, (source, target))
    yield here, Reshape.between(here.sizes, there.sizes), there.inverse


def _shortened(steps: _Steps) -> _Steps:
    """The steps with neighbours of one kind joined, and without those that change nothing."""
    return reduce(_added, steps, ())


def _added(steps: _Steps, step: Step) -> _Steps:
    """The steps and one more, joined with the last one if possible."""
    if step.changes_nothing:
        return steps
    joined = _joined(steps[-1], step) if steps else None
    return _added(steps[:-1], joined) if joined else (*steps, step)


def _joined(first: Step, second: Step) -> Step | None:
    """One step in place of two, if there is one."""
    match first, second:
        case Reshape(), Reshape():
            return Reshape.between(first.sizes_before, second.sizes)
        case Transpose(), Transpose():
            return Transpose.of(first.sizes_before, second.forward(first.order))
        case Pad(), Crop():
            return _resized(first, second)
        case _:
            return None


def _resized(pad: Pad, crop: Crop) -> Step | None:
    pairs = [*zip(pad.sizes_before, crop.sizes, strict=True)]
    if all(before <= after for before, after in pairs):
        return Pad(pad.sizes_before, crop.sizes)
    if all(before >= after for before, after in pairs):
        return Crop(pad.sizes_before, crop.sizes)
    return None


# Reshapes, transposes and changes of layout that move nothing in memory.
#
# All tiles of both layouts count. XLA's helpers, which are named as sources, look only at the
# order of dimensions.


def reshape_is_bitcast(source: Shape, target: Shape, *, ignore_element_type: bool = False) -> bool:
    """Whether a reshape leaves every element at its offset, and the memory as large.

    Args:
        source: the operand.
        target: the result.
        ignore_element_type: whether the types may differ, and how wide elements are; offsets count
            elements.

    Raises:
        ShapeError: the numbers of elements differ; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::ReshapeIsBitcast``.

    >>> from indexing.layout import Shape
    >>> rows = Shape.parse("f32[16,256]{1,0:T(8,128)}")
    >>> reshape_is_bitcast(rows, Shape.parse("f32[2,8,256]{2,1,0:T(8,128)}"))
    True
    >>> reshape_is_bitcast(rows, Shape.parse("f32[4,4,256]{2,1,0:T(4,128)}"))
    False
    >>> reshape_is_bitcast(rows, Shape.parse("s8[4096]{0:T(8)}"), ignore_element_type=True)
    False
    """
    check_shapes("reshape_is_bitcast", source=source, target=target)
    reshape = Reshape.between(source.dimensions, target.dimensions)
    index = reshape.forward(maps.dims_of(source.dimensions))
    is_alike = ignore_element_type or source.element_type is target.element_type
    return is_alike and keeps_offsets(
        source, target, index, ignore_element_size=ignore_element_type
    )


def transpose_is_bitcast(source: Shape, target: Shape, permutation: Sequence[int]) -> bool:
    """Whether a transpose leaves every element at its offset, and the memory as large.

    Dimension ``k`` of the target is dimension ``permutation[k]`` of the source.

    Raises:
        ShapeError: the target is no such transpose; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::TransposeIsBitcast``.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3,500]{1,0:T(4,128)}")
    >>> transpose_is_bitcast(shape, Shape.parse("f32[500,3]{0,1:T(4,128)}"), [1, 0])
    True
    """
    check_integers(permutation, "transpose_is_bitcast: permutation")
    check_shapes("transpose_is_bitcast", source=source, target=target)
    if sorted(permutation) != list(range(source.rank)):
        raise ShapeError(f"{tuple(permutation)} is no permutation of the dimensions of {source}")
    transpose = Transpose.of(source.dimensions, tuple(permutation))
    if transpose.sizes != target.dimensions:
        raise ShapeError(f"{target} is not {source} with the dimensions {tuple(permutation)}")
    return keeps_offsets(source, target, transpose.forward(maps.dims_of(source.dimensions)))


def copy_is_bitcast(source: Shape, target: Shape) -> bool:
    """Whether a change of layout leaves every element at its offset, and the memory as large.

    Raises:
        ShapeError: the dimensions differ; or as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> copy_is_bitcast(Shape.parse("f32[1,8]{1,0:T(1,128)}"), Shape.parse("f32[1,8]{0,1:T(128)}"))
    False
    >>> copy_is_bitcast(Shape.parse("f32[1,8]{1,0:T(1,128)}"), Shape.parse("f32[1,8]{1,0:T(128)}"))
    True
    """
    check_shapes("copy_is_bitcast", source=source, target=target)
    return transpose_is_bitcast(source, target, range(source.rank))


def keeps_offsets(
    source: Shape, target: Shape, index: Index, *, ignore_element_size: bool = False
) -> bool:
    """Whether each element of the source has the offset of the target's element at ``index``.

    The index is made of forms in the dimensions of the source. Both memories must have one size.
    """
    is_as_wide = source.element_size_in_bits == target.element_size_in_bits
    if not (ignore_element_size or is_as_wide):
        return False
    if maps.memory_size(source) != maps.memory_size(target):
        return False
    box = maps.box_of(source.dimensions)
    values = {f"d{axis}": maps.form_of(value) for axis, value in enumerate(index)}
    (there,) = forms.substitute(maps.logical_to_linear(target).forms, values)
    (here,) = maps.logical_to_linear(source).forms
    if source.element_count == 0 or simplified_in(box, there - here) == forms.ZERO:
        return True
    return IndexingMap.from_forms([there], box).equals(IndexingMap.from_forms([here], box))


def deduce_transpose(source: Shape, target: Shape) -> tuple[int, ...] | None:
    """The permutation whose transpose is a bitcast from one shape to the other, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::DeduceTransposeDimensionsForBitcast``.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[5,3]{1,0}")
    >>> deduce_transpose(shape, Shape.parse("f32[3,5]{0,1}"))
    (1, 0)
    >>> deduce_transpose(shape, Shape.parse("f32[3,5]{1,0}")) is None
    True
    """
    check_shapes("deduce_transpose", source=source, target=target)
    here, there = _wide_dimensions_first(source), _wide_dimensions_first(target)
    if len(here) != len(there):
        return None
    pairs = dict(zip(there, here, strict=True))
    permutation = tuple(pairs[axis] for axis in range(target.rank))
    if Transpose.of(source.dimensions, permutation).sizes != target.dimensions:
        return None
    return permutation if transpose_is_bitcast(source, target, permutation) else None


def _wide_dimensions_first(shape: Shape) -> list[int]:
    """The dimensions as they lie in memory, those of size 1 last: they could lie anywhere.

    A transpose that moves nothing keeps the distance to the next element along each of them.
    """
    offset = maps.logical_to_linear(shape)

    def place(axis: int) -> tuple[bool, int]:
        is_narrow = shape.dimensions[axis] == 1
        second = [int(each == axis) for each in range(shape.rank)]
        return is_narrow, 0 if is_narrow else -offset.evaluate(second)[0]

    return sorted(shape.array_layout.major_to_minor, key=place)


def align_layouts(source: Shape, dimensions: Iterable[int]) -> Shape | None:
    """An array of these dimensions with a layout that makes the reshape to it a bitcast, if any.

    The layout of the source keeps its tiles and all else but the order of dimensions. A new
    dimension of size 1 comes behind the one listed before it.

    Raises:
        ShapeError: the numbers of elements differ; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::AlignLayouts``.

    >>> from indexing.layout import Shape
    >>> print(align_layouts(Shape.parse("f32[3,8,5,7,11]{3,2,1,0,4}"), [3, 2, 4, 35, 11]))
    f32[3,2,4,35,11]{3,2,1,0,4}
    >>> print(align_layouts(Shape.parse("f32[4,16,256]{2,1,0:T(8,128)}"), [64, 256]))
    f32[64,256]{1,0:T(8,128)}
    >>> align_layouts(Shape.parse("f32[6,8]{0,1}"), [48]) is None
    True
    """
    check_integers(dimensions, "align_layouts: dimensions")
    check_shapes("align_layouts", source=source)
    sizes = tuple(dimensions)
    order = _aligned_order(source, sizes)
    if order is None:
        return None
    layout = replace(source.array_layout, minor_to_major=order[::-1])
    try:
        target = replace(source, dimensions=sizes, dynamic_dimensions=(), layout=layout)
    except ShapeError:  # a tile has more dimensions than are left
        return None
    return target if reshape_is_bitcast(source, target) else None


def _aligned_order(source: Shape, sizes: Sizes) -> tuple[int, ...] | None:
    """The new dimensions as they lie in memory, if each block of old ones is in one piece."""
    layout = source.array_layout
    wide = [axis for axis in layout.major_to_minor if source.dimensions[axis] != 1]
    at = -1
    blocks: list[tuple[int, range]] = []
    for before, after in common_blocks(source.dimensions, sizes):
        block = [axis for axis in before if source.dimensions[axis] != 1]
        if block:
            at = wide.index(block[0])
            if wide[at : at + len(block)] != block:
                return None
        blocks.append((at, after))
    ordered = sorted(blocks, key=lambda pair: pair[0])
    return tuple(axis for _, after in ordered for axis in after)
