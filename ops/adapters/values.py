"""The integers that instructions compute from constants and iotas, as forms over an index.

Such a value is known before the program runs: the offset of a slice, the rows of a gather. What
is computed from operands that are not known, or overflows, is not known either.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from indexing import IndexingMap
from indexing.layout import Kind
from ops.adapters import computation, control, data_movement
from ops.adapters.arithmetic import FUNCTIONS, Known, between
from ops.answers import OpIndexing
from simplifier import Interval
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ops.adapters.shared import Builder
    from ops.hlo import Computation, HloModule, Instruction
    from simplifier.form import Form

_INTEGERS: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}
_DEEPEST: Final = 32
"""How many instructions a value is followed through."""
_LARGEST: Final = 1 << 16
"""How many elements of a constant are looked at."""
_REMEMBERED: Final = 1 << 10
"""How many values are remembered."""


def value_of(instruction: Instruction, place: IndexingMap) -> Form | None:
    """The value of the element that ``place`` leads to, over the variables of ``place``.

    ``None`` if it is no integer, or not known.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { i = s32[8] iota(), iota_dimension=0 ROOT r = s32[8] add(i, i) }"
    >>> place = parse_map("(d0) -> (d0 + 1), domain: d0 in [0, 3]")
    >>> print(value_of(hlo.parse(text).entry.root, place))
    d0 * 2 + 2
    """
    return _value(instruction, place, _DEEPEST)


def clamped(value: Form, bounds: Interval, place: IndexingMap) -> Form:
    """A value over the variables of ``place`` as an operation clamps it into bounds."""
    return between(Known(value, _range(value, place)), bounds)


def _range(form: Form, place: IndexingMap) -> Interval:
    (bounds,) = IndexingMap.from_forms([form], place.domain).result_bounds()
    return bounds


@lru_cache(maxsize=_REMEMBERED)
def _value(instruction: Instruction, place: IndexingMap, depth: int) -> Form | None:
    if instruction.shape.element_type.kind not in _INTEGERS or place.is_known_empty:
        return None
    source = _SOURCES.get(instruction.opcode)
    if source:
        return source(instruction, place, depth)
    function = FUNCTIONS.get(instruction.opcode)
    if function is None or not depth:
        return None
    arguments: list[Known] = []
    for operand, there in _read(instruction, place):
        form = _value(operand, there, depth - 1)
        if form is None:
            return None
        arguments.append(Known(form, _range(form, place)))
    found = function(instruction, arguments) if arguments else None
    possible = instruction.shape.element_type.value_range
    return None if found is None or not possible.contains(_range(found, place)) else found


def _read(
    instruction: Instruction, place: IndexingMap
) -> Iterator[tuple[Instruction, IndexingMap]]:
    """The operands that an element is computed from, and the places in them."""
    maps = _BUILDERS[instruction.opcode](instruction)
    if isinstance(maps, OpIndexing):
        for operand, to_operand in zip(instruction.operands, maps.output_to_input, strict=True):
            there = place.compose(to_operand)
            if not there.is_known_empty:
                yield operand, there


_BUILDERS: Final[Mapping[str, Builder]] = {**computation.BUILDERS, **data_movement.BUILDERS}


# Values that are not computed from those of all operands.

_Source: TypeAlias = "Callable[[Instruction, IndexingMap, int], Form | None]"


def _constant(instruction: Instruction, place: IndexingMap, _: int) -> Form | None:
    """The element of a constant, if those that ``place`` leads to form an affine table."""
    literal, sizes = instruction.literal, instruction.shape.dimensions
    if literal is None or literal.values is None:
        return None
    box = [
        _in_range(bounds, size) for bounds, size in zip(place.result_bounds(), sizes, strict=True)
    ]
    if not 0 < prod(map(len, box)) <= _LARGEST:
        return None
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    values = literal.values
    table = {index: int(values[sum(map(mul, index, strides))].real) for index in product(*box)}
    return _affine(table, box, place.forms)


def _in_range(bounds: Interval, size: int) -> range:
    first, last = bounds.lower or 0, size - 1 if bounds.upper is None else bounds.upper
    return range(max(0, first), min(size, last + 1))


def _affine(
    table: Mapping[tuple[int, ...], int], box: Sequence[range], index: Sequence[Form]
) -> Form | None:
    """The entry of a table at an index in a box, if each step along a dimension adds the same."""
    corner = tuple(along.start for along in box)
    steps = [
        table[(*corner[:number], along[1], *corner[number + 1 :])] - table[corner]
        if len(along) > 1
        else 0
        for number, along in enumerate(box)
    ]
    at_zero = table[corner] - sum(map(mul, corner, steps))
    if any(value != at_zero + sum(map(mul, each, steps)) for each, value in table.items()):
        return None
    terms = (form * step for form, step in zip(index, steps, strict=True))
    return sum(terms, forms.constant(at_zero))


def _iota(instruction: Instruction, place: IndexingMap, _: int) -> Form | None:
    dimension: int = instruction.attributes["iota_dimension"]
    return place.forms[dimension]


def _parameter(instruction: Instruction, place: IndexingMap, depth: int) -> Form | None:
    """The argument, if there is one call only."""
    callers = _callers(instruction.computation.module).get(instruction.computation, [])
    if len(callers) != 1 or callers[0].opcode not in control.CALLS or not depth:
        return None
    return _value(callers[0].operands[instruction.parameter_number or 0], place, depth - 1)


@lru_cache(maxsize=4)
def _callers(module: HloModule) -> dict[Computation, list[Instruction]]:
    """Which instructions name a computation among their attributes."""
    callers: dict[Computation, list[Instruction]] = {}
    for instruction in module.instructions:
        for computation_named in _computations_in(instruction.attributes.values()):
            callers.setdefault(computation_named, []).append(instruction)
    return callers


def _computations_in(values: Iterable[object]) -> Iterator[Computation]:
    from ops.hlo import Computation  # noqa: PLC0415

    for value in values:
        nested = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        yield from (each for each in nested if isinstance(each, Computation))


def _called(instruction: Instruction, place: IndexingMap, depth: int) -> Form | None:
    callee: Computation = instruction.attributes[control.CALLS[instruction.opcode]]
    return _value(callee.root, place, depth - 1) if depth else None


def _selected(instruction: Instruction, place: IndexingMap, depth: int) -> Form | None:
    """The one that is chosen, if that is always the same."""
    if not depth:
        return None
    (predicate, at), *sides = _read(instruction, place)
    choice = _value(predicate, at, depth - 1)
    if choice is None or not choice.is_constant:
        return None
    chosen, there = sides[0 if choice.constant else 1]
    return _value(chosen, there, depth - 1)


def _element(instruction: Instruction, place: IndexingMap, depth: int) -> Form | None:
    (operand,) = instruction.operands
    if operand.opcode != "tuple" or not depth:
        return None
    index: int = instruction.attributes["index"]
    return _value(operand.operands[index], place, depth - 1)


_SOURCES: Final[Mapping[str, _Source]] = {
    **dict.fromkeys(control.CALLS, _called),
    "constant": _constant,
    "get-tuple-element": _element,
    "iota": _iota,
    "parameter": _parameter,
    "select": _selected,
}
