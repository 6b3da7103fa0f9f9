"""The integers that instructions compute from constants and iotas, as forms over an index.

Such a value is known before the program runs: the offset of a slice, the rows of a gather. So is
one that is computed from the number of the device. What is computed from operands that are not
known, or overflows, is not known either.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from indexing import IndexingMap
from indexing.layout import Kind
from ops.devices.numbering import value_on
from ops.rules import (
    broadcast,
    control,
    dot,
    elementwise,
    generated,
    pad,
    reduce,
    reshape,
    slice,  # noqa: A004 - the operation's name
    transpose,
)
from ops.rules.op_indexing import OpIndexing
from simplifier.bounds.bounded_form import (
    BoundedForm,
    clamp,
    clamp_between,
    compare,
    divide,
    multiply,
    remainder,
)
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tabulate import tabulated_affinely

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo import Computation, HloModule, Instruction
    from ops.rules.rule import MapsFunction
    from simplifier import Interval
    from simplifier.expr.form import Form


_INTEGERS: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}

MAX_DEPTH: Final = 32
"""How many instructions a value is followed through; real offsets take fewer than ten."""

MAX_TABLE: Final = 1 << 16
"""How many elements of a constant are looked at: so many take some hundredths of a second."""

_REMEMBERED: Final = 1 << 10
"""How many values are remembered."""


def value_of(
    instruction: Instruction, place: IndexingMap, device: Form | None = None
) -> Form | None:
    """The value of the element that ``place`` leads to, over the variables of ``place``.

    ``device`` is the number of the device that computes it, if that may count, over the same
    variables. ``None`` if the value is no integer, or not known.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { i = s32[8] iota(), iota_dimension=0 ROOT r = s32[8] add(i, i) }"
    >>> place = parse_map("(d0) -> (d0 + 1), domain: d0 in [0, 3]")
    >>> print(value_of(hlo.parse(text).entry.root, place))
    d0 * 2 + 2
    """
    return _value(instruction, _Element(place, device))


class _Element(NamedTuple):
    """Where an element is, and how far its value may be looked for."""

    place: IndexingMap
    device: Form | None
    depth: int = MAX_DEPTH

    @property
    def is_none(self) -> bool:
        """Whether ``place`` leads to no element at all; one that nobody knows may be some."""
        return not self.place.is_undefined and self.place.is_known_empty

    def deeper(self) -> _Element:
        """The same element of what is passed on as it is."""
        return self._replace(depth=self.depth - 1)

    def through(self, to_operand: IndexingMap) -> _Element:
        """The element of an operand from which this one is computed."""
        return self._replace(place=self.place.compose(to_operand), depth=self.depth - 1)


def clamped(value: Form, bounds: Interval, place: IndexingMap) -> Form:
    """A value over the variables of ``place`` as an operation clamps it into bounds."""
    return clamp(BoundedForm(value, _range(value, place)), bounds)


def _range(form: Form, place: IndexingMap) -> Interval:
    (bounds,) = IndexingMap.from_forms([form], place.domain).result_bounds()
    return bounds


@lru_cache(maxsize=_REMEMBERED)
def _value(instruction: Instruction, element: _Element) -> Form | None:
    is_integer = instruction.shape.element_type.kind in _INTEGERS
    if not is_integer or element.depth < 0 or element.place.is_undefined or element.is_none:
        return None
    find = _SOURCES.get(instruction.opcode, _computed)
    found = find(instruction, element)
    possible = instruction.shape.element_type.value_range
    is_sound = found is not None and possible.contains(_range(found, element.place))
    return found if is_sound else None


def _computed(instruction: Instruction, element: _Element) -> Form | None:
    """What a function makes of the values of operands, if all of them are known."""
    function = _FUNCTIONS.get(instruction.opcode)
    arguments: list[BoundedForm] = []
    for operand, there in _read(instruction, element) if function else ():
        form = _value(operand, there)
        if form is None:
            return None
        arguments.append(BoundedForm(form, _range(form, there.place)))
    return function(instruction, arguments) if function and arguments else None


def _read(instruction: Instruction, element: _Element) -> list[tuple[Instruction, _Element]]:
    """The operands that an element is computed from, and their elements."""
    maps = _MAPS[instruction.opcode](instruction)
    if not isinstance(maps, OpIndexing):
        return []
    elements = map(element.through, maps.output_to_input)
    pairs = zip(instruction.operands, elements, strict=True)
    return [(operand, there) for operand, there in pairs if not there.is_none]


_MAPS: Final[Mapping[str, MapsFunction]] = {
    opcode: rule.maps
    for family in (broadcast, dot, elementwise, generated, pad, reduce, reshape, slice, transpose)
    for opcode, rule in family.RULES.items()
    if rule.maps
}

# What is computed from the values of all operands. What overflows is found out afterwards.

_Function: TypeAlias = "Callable[[Instruction, Sequence[BoundedForm]], Form | None]"
"""From an instruction and the values of its operands to its own; ``None`` if that is not known."""


def _copy(_: Instruction, known: Sequence[BoundedForm]) -> Form | None:
    """What may be copied, if that is always the same."""
    first, *others = (each.form for each in known)
    return first if all(other == first for other in others) else None


def _of_one(function: Callable[[Form], Form]) -> _Function:
    return lambda _, known: function(known[0].form)


def _of_two(function: Callable[[Form, Form], Form]) -> _Function:
    return lambda _, known: function(known[0].form, known[1].form)


def _of_bounded(function: Callable[..., Form | None]) -> _Function:
    return lambda _, known: function(*known)


def _on_predicates(function: _Function) -> _Function:
    """On other integers these work bit by bit."""

    def decided(instruction: Instruction, known: Sequence[BoundedForm]) -> Form | None:
        is_predicate = instruction.shape.element_type.kind is Kind.BOOLEAN
        return function(instruction, known) if is_predicate else None

    return decided


def _compare(instruction: Instruction, known: Sequence[BoundedForm]) -> Form | None:
    left, right = known
    answer = compare(left, right, instruction.attributes["direction"])
    return None if answer is None else forms.constant(int(answer))


_minimum: Final = _of_two(lambda left, right: operations.minimum([left, right]))
_maximum: Final = _of_two(lambda left, right: operations.maximum([left, right]))
_COPIES: Final = (
    "bitcast",
    "broadcast",
    "concatenate",
    "convert",
    "copy",
    "pad",
    "reshape",
    "reverse",
    "slice",
    "transpose",
)

_FUNCTIONS: Final[Mapping[str, _Function]] = {
    **dict.fromkeys(_COPIES, _copy),
    "abs": _of_one(lambda form: operations.maximum([form, -form])),
    "add": _of_two(lambda left, right: left + right),
    "and": _on_predicates(_minimum),
    "clamp": _of_bounded(clamp_between),
    "compare": _compare,
    "divide": _of_bounded(divide),
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _of_bounded(multiply),
    "negate": _of_one(lambda form: -form),
    "not": _on_predicates(_of_one(lambda form: 1 - form)),
    "or": _on_predicates(_maximum),
    "remainder": _of_bounded(remainder),
    "subtract": _of_two(lambda left, right: left - right),
}
"""Opcode -> the value, from those of the operands."""


# Values that are not computed from those of all operands.

_Source: TypeAlias = "Callable[[Instruction, _Element], Form | None]"


def _constant(instruction: Instruction, element: _Element) -> Form | None:
    return _element_of_constant(instruction, element.place)


def _element_of_constant(constant: Instruction, place: IndexingMap) -> Form | None:
    """The integer that ``place`` leads to, over the variables of ``place``.

    ``None`` if the text does not say the values, if they are too many, or if those that may be
    meant follow no pattern.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { ROOT c = s32[3,3] constant({{0, 9, 0}, {0, 7, 0}, {0, 5, 1}}) }"
    >>> column = parse_map("(d0) -> (d0, 1), domain: d0 in [0, 2]")
    >>> print(_element_of_constant(hlo.parse(text).entry.root, column))
    d0 * -2 + 9
    """
    literal, sizes = constant.literal, constant.shape.dimensions
    if literal is None or literal.values is None:
        return None
    bounds = zip(place.result_bounds(), sizes, strict=True)
    box = [_within(interval, size) for interval, size in bounds]
    if not 0 < prod(map(len, box)) <= MAX_TABLE:
        return None
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    values = literal.values
    table = {index: int(values[sum(map(mul, index, strides))].real) for index in product(*box)}
    return tabulated_affinely(table, box, place.forms)


def _within(bounds: Interval, size: int) -> range:
    """The indices of a dimension that lie within bounds."""
    first = 0 if bounds.lower is None else max(0, bounds.lower)
    return range(first, size if bounds.upper is None else min(size, bounds.upper + 1))


def _iota(instruction: Instruction, element: _Element) -> Form | None:
    dimension: int = instruction.attributes["iota_dimension"]
    return element.place.forms[dimension]


def _number_of_device(instruction: Instruction, element: _Element) -> Form | None:
    return None if element.device is None else value_on(instruction, element.device)


def _parameter(instruction: Instruction, element: _Element) -> Form | None:
    """The argument, if there is one call only."""
    callers = _callers(instruction.computation.module).get(instruction.computation, [])
    if len(callers) != 1 or callers[0].opcode not in control.CALLEE_ATTRIBUTES:
        return None
    return _value(callers[0].operands[instruction.parameter_number or 0], element.deeper())


@lru_cache(maxsize=4)
def _callers(module: HloModule) -> dict[Computation, list[Instruction]]:
    """Which instructions name a computation among their attributes."""
    callers: dict[Computation, list[Instruction]] = {}
    for instruction in module.instructions:
        for callee in instruction.computations:
            callers.setdefault(callee, []).append(instruction)
    return callers


def _called(instruction: Instruction, element: _Element) -> Form | None:
    callee: Computation = instruction.attributes[control.CALLEE_ATTRIBUTES[instruction.opcode]]
    return _value(callee.root, element.deeper())


def _selected(instruction: Instruction, element: _Element) -> Form | None:
    """The one that is chosen, if that is always the same."""
    read = _read(instruction, element)
    choice = _value(*read[0]) if read else None
    if choice is None or not choice.is_constant:
        return None
    return _value(*read[1 if choice.constant else 2])


def _part(instruction: Instruction, element: _Element) -> Form | None:
    (operand,) = instruction.operands
    if operand.opcode != "tuple":
        return None
    index: int = instruction.attributes["index"]
    return _value(operand.operands[index], element.deeper())


_SOURCES: Final[Mapping[str, _Source]] = {
    **dict.fromkeys(control.CALLEE_ATTRIBUTES, _called),
    "constant": _constant,
    "get-tuple-element": _part,
    "iota": _iota,
    "parameter": _parameter,
    "select": _selected,
    "partition-id": _number_of_device,
    "replica-id": _number_of_device,
}
