"""A bitcast as reshapes and transposes, each of them a bitcast by itself."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from indexing.layout.bitcasts import bitcast_map
from indexing.layout.digits import dims_of
from indexing.layout.errors import ShapeError
from indexing.layout.free_operations import deduce_transpose, keeps_places
from indexing.layout.steps import Crop, Pad, Reshape, Transpose, forward, memory_steps
from indexing.map import UndefinedMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.layout.shape import Shape
    from indexing.layout.steps import Step

_Steps = tuple["Step", ...]


def decompose_bitcast(source: Shape, target: Shape) -> tuple[Step, ...]:
    """The steps that a bitcast is made of; those that change nothing are left out.

    The first of these that is a bitcast: nothing, a reshape, a transpose, a transpose to the order
    in memory with a reshape and a transpose from it. Where tiles do not allow any of them, the
    steps lead through memory: tiles are cut, and put together again; padding comes and goes.

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
    found = bitcast_map(source, target)
    if isinstance(found, UndefinedMap):
        raise ShapeError(f"there is no bitcast: {found.reason}")
    widths = source.element_size_in_bits, target.element_size_in_bits
    if widths[0] != widths[1]:
        raise ShapeError(
            f"elements of {widths[0]} bits become elements of {widths[1]} bits; "
            "expected a bitcast that keeps their width, to decompose it"
        )
    index = dims_of(source.dimensions)
    for steps in _without_tiles(source, target):
        if keeps_places(source, target, forward(steps, index)):
            return _shortened(steps)
    return _shortened(_through_memory(source, target))


def _without_tiles(source: Shape, target: Shape) -> Iterator[_Steps]:
    """What the bitcast is if the tiles do not matter, from the simplest on."""
    if source.element_count != target.element_count:
        return
    yield (Reshape.between(source.dimensions, target.dimensions),)
    permutation = deduce_transpose(source, target)
    if permutation:
        yield (Transpose.of(source.dimensions, permutation),)
    here, there = (
        Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)
        for shape in (source, target)
    )
    yield here, Reshape.between(here.sizes, there.sizes), there.inverse


def _through_memory(source: Shape, target: Shape) -> _Steps:
    back = (step.inverse for step in reversed(memory_steps(target)))
    return (*memory_steps(source), *back)


def _shortened(steps: _Steps) -> _Steps:
    """The steps with neighbours of one kind as one, and without those that change nothing."""
    return reduce(_added, steps, ())


def _added(steps: _Steps, step: Step) -> _Steps:
    """A step after others, into the last of which it may go."""
    if step.changes_nothing:
        return steps
    joined = _joined(steps[-1], step) if steps else None
    return _added(steps[:-1], joined) if joined else (*steps, step)


def _joined(first: Step, second: Step) -> Step | None:
    """One step that does the work of two, if there is one."""
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
