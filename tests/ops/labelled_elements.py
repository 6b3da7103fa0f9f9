"""Operations run by NumPy on arrays whose elements know where they come from.

An element is a set of places ``(operand, index)``. What moves elements moves the sets, what
combines elements unites them; so each element of a result says what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce as fold
from math import prod
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

import ops
from ops import OpIndexing
from tests.ops.programs import array, braced, module

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Sizes: TypeAlias = tuple[int, ...]
Place: TypeAlias = tuple[int, Sizes]

MAX_ELEMENTS = 100
NOTHING: frozenset[Place] = frozenset()


@dataclass(frozen=True)
class Case:
    """An operation: what the rule says, what NumPy does, and how it is written in HLO."""

    opcode: str
    attributes: str
    indexing: OpIndexing
    operand_sizes: list[Sizes]
    run: Callable[..., Array]
    wider: frozenset[int] = field(default=frozenset())
    """Operands whose maps may hold more than what is needed."""
    element_types: tuple[str, str] = ("s32", "s32")
    """Of the operands, and of the results."""
    results: int = 1
    computation: str = ""
    is_program: bool = True
    """Whether XLA runs it just as it is."""

    def __repr__(self) -> str:
        return f"{self.opcode} {self.attributes} of {self.operand_sizes}"

    @property
    def text(self) -> str:
        """A program of this one instruction."""
        operand_type, result_type = self.element_types
        result = array(result_type, self.indexing.output_sizes)
        if self.results > 1:
            result = f"({', '.join([result] * self.results)})"
        operands = [array(operand_type, sizes) for sizes in self.operand_sizes]
        return module(result, self.opcode, operands, self.attributes, self.computation)

    def result(self) -> Array:
        """The result, whose elements are sets of places."""
        operands = (labelled(number, sizes) for number, sizes in enumerate(self.operand_sizes))
        return array_of(self.run(*operands))


def unary(
    written: str,
    indexing: OpIndexing,
    operand: Sizes,
    run: Callable[[Array], Array],
    **more: Any,  # noqa: ANN401 - of a case
) -> Case:
    """An operation with one operand, from its opcode and attributes."""
    opcode, _, attributes = written.partition(" ")
    return Case(opcode, attributes, indexing, [operand], run, **more)


def labelled(operand: int, sizes: Sizes) -> Array:
    """An array whose elements are the sets of their own place."""
    array = np.empty(sizes, dtype=object)
    for index in np.ndindex(sizes):
        array[index] = frozenset({(operand, index)})
    return array


_united = np.frompyfunc(lambda left, right: left | right, 2, 1)


def summing(arguments: int, results: int = 1) -> str:
    """A computation of which each of one or two results is a sum of all its arguments.

    The sums differ, as two that are equal would double what they add to again and again.
    """
    given = [f"  a{number} = s32[] parameter({number})" for number in range(arguments)]
    sums = ["  b0 = s32[] copy(a0)"]
    sums += [f"  b{n} = s32[] add(b{n - 1}, a{n})" for n in range(1, arguments)]
    last = f"b{arguments - 1}"
    more = f"  more = s32[] add({last}, a0)"
    root = "(s32[], s32[]) tuple(more, " if results > 1 else "s32[] copy("
    return "\n".join(["sum {", *given, *sums, more, f"  ROOT r = {root}{last})", "}"])


def array_of(value: object) -> Array:
    """NumPy gives the element in place of an array of rank 0."""
    return np.asarray(value, dtype=object)


def united(*arrays: Array) -> Array:
    """Elementwise; scalars broadcast."""
    return array_of(fold(_united, arrays))


def folded(array: Array, axes: Sequence[int]) -> Array:
    """All elements along some axes in one."""
    for axis in sorted(axes, reverse=True):
        array = array_of(_united.reduce(array, axis=axis, initial=NOTHING, keepdims=True))
    return np.reshape(array, [size for axis, size in enumerate(array.shape) if axis not in axes])


@st.composite
def shapes(
    draw: st.DrawFn, most_dimensions: int = 5, smallest: int = 0, most_elements: int = MAX_ELEMENTS
) -> Sizes:
    """Sizes of small tensors, of rank 0 too, with sizes 0 and 1 among them."""
    sizes = draw(st.lists(st.integers(smallest, 5), max_size=most_dimensions))
    while prod(sizes) > most_elements:
        sizes[sizes.index(max(sizes))] -= 1
    return tuple(sizes)


@st.composite
def factorizations(draw: st.DrawFn, size: int) -> Sizes:
    """Sizes of as many elements."""
    if not size:
        sizes = list(draw(shapes(most_dimensions=3)))
        sizes.insert(draw(st.integers(0, len(sizes))), 0)
        return tuple(sizes)
    sizes: list[int] = [1] * draw(st.integers(0, 2))
    while size > 1:
        divisors = [divisor for divisor in range(2, size + 1) if size % divisor == 0]
        sizes.append(draw(st.sampled_from(divisors)))
        size //= sizes[-1]
    return tuple(draw(st.permutations(sizes)))


def dimensions(rank: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(rank)).flatmap(
        lambda order: st.integers(0, rank).map(lambda count: list(order[:count]))
    )


@st.composite
def elementwises(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    operands = [sizes, *draw(st.lists(st.sampled_from([sizes, ()]), max_size=2))]
    operands = list(draw(st.permutations(operands)))
    case = Case("map", "to_apply=sum", ops.elementwise(operands), operands, united)
    is_program = len(set(operands)) == 1
    return replace(case, computation=summing(len(operands)), is_program=is_program)


@st.composite
def broadcasts(draw: st.DrawFn) -> Case:
    output = draw(shapes())
    targets = draw(dimensions(len(output)))
    stretches = [draw(st.booleans()) and draw(st.booleans()) for _ in targets]
    pairs = zip(targets, stretches, strict=True)
    operand = tuple(1 if is_one else output[target] for target, is_one in pairs)

    def run(array: Array) -> Array:
        order = sorted(range(len(targets)), key=targets.__getitem__)
        sizes = dict(zip(targets, operand, strict=True))
        padded = [sizes.get(axis, 1) for axis in range(len(output))]
        return np.broadcast_to(array.transpose(order).reshape(padded), output)

    written = f"broadcast dimensions={braced(targets)}"
    indexing = ops.broadcast(operand, output, targets)
    is_plain = operand == tuple(output[target] for target in targets)
    return unary(written, indexing, operand, run, is_program=is_plain)


@st.composite
def transposes(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    order = draw(st.permutations(range(len(sizes))))
    indexing, written = ops.transpose(sizes, order), f"transpose dimensions={braced(order)}"
    return unary(written, indexing, sizes, lambda array: array.transpose(order))


@st.composite
def reshapes(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    target = draw(factorizations(prod(sizes)))
    indexing = ops.reshape(sizes, target)
    return unary("reshape", indexing, sizes, lambda array: array.reshape(target))


@st.composite
def dynamic_reshapes(draw: st.DrawFn) -> Case:
    sizes = draw(shapes(most_dimensions=4))
    target = draw(factorizations(prod(sizes)))
    dynamic = draw(st.sampled_from(([], [0] if target else [])))

    def run(array: Array, *given: Array) -> Array:
        return united(array.reshape(target), *given)

    indexing = ops.dynamic_reshape(sizes, target, (), dynamic)
    operands = [sizes, *[()] * len(target)]
    return Case("dynamic-reshape", "", indexing, operands, run, is_program=False)


@st.composite
def dimension_sizes(draw: st.DrawFn) -> Case:
    sizes = draw(shapes().filter(len))
    axis = draw(st.integers(0, len(sizes) - 1))
    written = f"dimensions={braced([axis])}"
    if draw(st.booleans()):
        indexing = ops.set_dimension_size(sizes, axis)
        operands = [sizes, ()]
        return Case("set-dimension-size", written, indexing, operands, united, is_program=False)
    indexing = ops.get_dimension_size(sizes, axis)
    return unary(f"get-dimension-size {written}", indexing, sizes, lambda _: array_of(NOTHING))


@st.composite
def bitcast_converts(draw: st.DrawFn) -> Case:
    sizes, parts = draw(shapes(most_dimensions=4)), draw(st.sampled_from((1, 2, 4)))
    narrow, more = f"s{32 // parts}", (*sizes, parts)
    rows: list[tuple[Sizes, Sizes, tuple[str, str], Callable[[Array], Array]]] = [
        (sizes, sizes, ("s32", "f32"), lambda array: array),
        (sizes, more, ("s32", narrow), lambda array: np.broadcast_to(array[..., None], more)),
        (more, sizes, (narrow, "s32"), lambda array: folded(array, [len(sizes)])),
    ]
    operand, result, types, run = draw(st.sampled_from(rows))
    indexing = ops.bitcast_convert(operand, result)
    case = unary("bitcast-convert", indexing, operand, run, element_types=types)
    return replace(case, is_program=operand == result or parts > 1)  # else not as wide as said


@st.composite
def reverses(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    axes = draw(dimensions(len(sizes)))
    indexing, written = ops.reverse(sizes, axes), f"reverse dimensions={braced(axes)}"
    return unary(written, indexing, sizes, lambda array: np.flip(array, tuple(axes)))


@st.composite
def rotates(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    axes = draw(dimensions(len(sizes)))
    shifts = [draw(st.integers(-7, 7)) for _ in axes]
    pairs = [(-shift, axis) for shift, axis in zip(shifts, axes, strict=True)]

    def run(array: Array) -> Array:
        return fold(lambda turned, pair: np.roll(turned, *pair), pairs, array)

    indexing = ops.rotate(sizes, axes, shifts)
    return unary(f"rotate {axes} by {shifts}", indexing, sizes, run, is_program=False)


@st.composite
def permutes(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    axes = draw(dimensions(len(sizes)))
    table = tuple(
        np.array([draw(st.integers(0, size - 1)) for _ in range(prod(sizes))], int).reshape(sizes)
        if axis in axes
        else place
        for axis, (size, place) in enumerate(zip(sizes, np.indices(sizes), strict=True))
    )

    def run(array: Array) -> Array:
        return array[table]

    indexing = ops.permute(sizes, axes)
    return unary(f"permute {axes}", indexing, sizes, run, wider=frozenset({0}), is_program=False)


@st.composite
def slices(draw: st.DrawFn) -> Case:
    sizes = draw(shapes())
    starts = [draw(st.integers(0, size)) for size in sizes]
    limits = [draw(st.integers(start, size)) for start, size in zip(starts, sizes, strict=True)]
    steps = [draw(st.integers(1, 4)) for _ in sizes]
    cuts = tuple(map(slice, starts, limits, steps))
    written = [f"[{cut.start}:{cut.stop}:{cut.step}]" for cut in cuts]
    indexing = ops.slice(sizes, starts, limits, steps)
    return unary(f"slice slice={braced(written)}", indexing, sizes, lambda array: array[cuts])


@st.composite
def concatenates(draw: st.DrawFn) -> Case:
    sizes = draw(shapes(most_dimensions=4).filter(len))
    axis = draw(st.integers(0, len(sizes) - 1))
    lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    operands = [(*sizes[:axis], length, *sizes[axis + 1 :]) for length in lengths]

    def run(*arrays: Array) -> Array:
        return np.concatenate(arrays, axis)

    indexing = ops.concatenate(operands, axis)
    return Case("concatenate", f"dimensions={braced([axis])}", indexing, operands, run)


@st.composite
def pads(draw: st.DrawFn) -> Case:
    sizes = draw(shapes(most_dimensions=3))
    ends, inner = st.integers(-2, 2), [draw(st.integers(0, 2)) for _ in sizes]
    spread = [size + max(0, size - 1) * gap for size, gap in zip(sizes, inner, strict=True)]
    low = [draw(ends) for _ in sizes]
    high = [max(draw(ends), -first - size) for first, size in zip(low, spread, strict=True)]

    def run(array: Array, value: Array) -> Array:
        """Padding first, cutting then."""
        added = [(max(0, first), max(0, last)) for first, last in zip(low, high, strict=True)]
        grown = [sum(ends) + size for ends, size in zip(added, spread, strict=True)]
        result = np.full(grown, value[()], dtype=object)
        places = zip(added, spread, inner, strict=True)
        filled = [slice(first, first + size, gap + 1) for (first, _), size, gap in places]
        result[tuple(filled)] = array
        cuts = zip(low, high, grown, strict=True)
        kept = [slice(max(0, -first), size - max(0, -last)) for first, last, size in cuts]
        return result[tuple(kept)]

    padding = [*zip(low, high, inner, strict=True)]
    written = "padding=" + "x".join("_".join(map(str, along)) for along in padding)
    indexing, wider = ops.pad(sizes, padding), frozenset({1})
    return Case("pad", written, indexing, [sizes, ()], run, wider, is_program=bool(sizes))


@st.composite
def reduces(draw: st.DrawFn) -> Case:
    sizes, inputs = draw(shapes()), draw(st.integers(1, 2))
    axes = draw(dimensions(len(sizes)))

    def run(*arrays: Array) -> Array:
        return united(*(folded(array, axes) for array in arrays[:inputs]), *arrays[inputs:])

    operands = [sizes] * inputs + [()] * inputs
    indexing, written = ops.reduce(sizes, axes, inputs), f"dimensions={braced(axes)}, to_apply=sum"
    case = Case("reduce", written, indexing, operands, run, results=inputs)
    # Where there is nothing to combine, XLA forgets initial values.
    is_program = prod(sizes[axis] for axis in axes) > 1
    return replace(case, computation=summing(2 * inputs, inputs), is_program=is_program)


@st.composite
def dots(draw: st.DrawFn) -> Case:
    """Operands whose dimensions have letters: of a batch, contracted, or of one of them alone."""
    sizes = {f"{kind}{n}": draw(st.integers(0, 5)) for kind in "bc" for n in range(draw(PAIR))}
    sizes |= {f"{kind}{n}": draw(st.integers(0, 3)) for kind in "lr" for n in range(draw(PAIR))}
    lhs, rhs = (draw(st.permutations([d for d in sizes if d[0] in own])) for own in ("bcl", "bcr"))
    batch, contracted = ([each for each in sizes if each[0] == kind] for kind in "bc")
    order = [*batch, *(d for d in (*lhs, *rhs) if d[0] in "lr"), *contracted]

    def spread(array: Array, dims: Sequence[str]) -> Array:
        """All dimensions in one order, those that the array has not of size 1."""
        array = array.transpose([dims.index(each) for each in order if each in dims])
        return array.reshape([sizes[each] if each in dims else 1 for each in order])

    def run(left: Array, right: Array) -> Array:
        products = united(spread(left, lhs), spread(right, rhs))
        return folded(products, range(len(order) - len(contracted), len(order)))

    attributes = {
        f"{side}_{name}_dims": [dims.index(each) for each in chosen]
        for name, chosen in (("contracting", contracted), ("batch", batch))
        for side, dims in (("lhs", lhs), ("rhs", rhs))
    }
    written = ", ".join(f"{name}={braced(dims)}" for name, dims in attributes.items() if dims)
    operands = [tuple(sizes[each] for each in dims) for dims in (lhs, rhs)]
    return Case("dot", written, ops.dot(*operands, **attributes), operands, run)


PAIR = st.integers(0, 2)


@st.composite
def scaled_dots(draw: st.DrawFn) -> Case:
    case = draw(dots())
    scales = [draw(_scales_of(sizes)) for sizes in case.operand_sizes]
    given = re.findall(r"(\w+)={([\d,]*)}", case.attributes)
    attributes = {name: tuple(map(int, dims.split(","))) for name, dims in given}

    def run(left: Array, right: Array, left_scale: Array, right_scale: Array) -> Array:
        scaled = (left, left_scale), (right, right_scale)
        return case.run(*(united(each, repeated(scale, each.shape)) for each, scale in scaled))

    operands = [*case.operand_sizes, *scales]
    indexing = ops.scaled_dot(*operands, **attributes)
    return Case("scaled-dot", case.attributes, indexing, operands, run, is_program=False)


@st.composite
def _scales_of(draw: st.DrawFn, sizes: Sizes) -> Sizes:
    """One scale for a block of elements along each dimension, or one for all."""
    if draw(st.booleans()) and draw(st.booleans()):
        return ()
    divisors = ([part for part in range(1, size + 1) if size % part == 0] for size in sizes)
    return tuple(draw(st.sampled_from(each or [0])) for each in divisors)


def repeated(array: Array, sizes: Sizes) -> Array:
    """Every element several times along each dimension, until there are so many."""
    if not array.ndim:
        return np.broadcast_to(array, sizes)
    for axis, (size, count) in enumerate(zip(sizes, array.shape, strict=True)):
        array = np.repeat(array, size // max(1, count), axis)
    return array


FAMILIES: dict[str, st.SearchStrategy[Case]] = {
    made.__name__.removesuffix("s").replace("_", "-"): made()
    for made in (
        *(bitcast_converts, broadcasts, concatenates, dimension_sizes, dots),
        *(dynamic_reshapes, elementwises, pads, permutes, reduces, reshapes, reverses, rotates),
        *(scaled_dots, slices, transposes),
    )
}
"""Every function of the rules with a strategy that draws calls of it."""
