"""The integers that instructions compute from constants and iotas, as forms over an index.

Such a value is known before the program runs: the offset of a slice, the rows of a gather. So is
one that is computed from the number of the device. What is computed from operands that are not
known, or overflows, is not known either.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from operator import eq, mul
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from indexing import IndexingMap
from indexing.layout import Kind
from ops.adapters import computation, control, data_movement
from ops.adapters.arithmetic import FUNCTIONS, Known, between
from ops.answers import OpIndexing
from ops.devices.numbering import value_on
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
    depth: int = _DEEPEST

    def deeper(self) -> _Element:
        return self._replace(depth=self.depth - 1)

    def through(self, to_operand: IndexingMap) -> _Element:
        return self._replace(place=self.place.compose(to_operand))


def clamped(value: Form, bounds: Interval, place: IndexingMap) -> Form:
    """A value over the variables of ``place`` as an operation clamps it into bounds."""
    return between(Known(value, _range(value, place)), bounds)


def _range(form: Form, place: IndexingMap) -> Interval:
    (bounds,) = IndexingMap.from_forms([form], place.domain).result_bounds()
    return bounds


@lru_cache(maxsize=_REMEMBERED)
def _value(instruction: Instruction, element: _Element) -> Form | None:
    place = element.place
    if instruction.shape.element_type.kind not in _INTEGERS or place.is_known_empty:
        return None
    source = _SOURCES.get(instruction.opcode)
    if source:
        return source(instruction, element)
    function = FUNCTIONS.get(instruction.opcode)
    if function is None or not element.depth:
        return None
    arguments = list(_arguments(instruction, element.deeper()))
    known = [argument for argument in arguments if argument]
    found = function(instruction, known) if len(known) == len(arguments) else None
    fits = found and instruction.shape.element_type.value_range.contains(_range(found, place))
    return found if fits else None


def _arguments(instruction: Instruction, element: _Element) -> Iterator[Known | None]:
    """The values of the operands' elements that an element is computed from."""
    maps = _BUILDERS[instruction.opcode](instruction)
    if not isinstance(maps, OpIndexing):
        yield None
        return
    for operand, to_operand in zip(instruction.operands, maps.output_to_input, strict=True):
        form = _value(operand, element.through(to_operand))
        yield Known(form, _range(form, element.place)) if form else None


_BUILDERS: Final[Mapping[str, Builder]] = {**computation.BUILDERS, **data_movement.BUILDERS}


# Where values begin.

_Source: TypeAlias = "Callable[[Instruction, _Element], Form | None]"


def _constant(instruction: Instruction, element: _Element) -> Form | None:
    literal = instruction.literal
    if literal is None or literal.values is None or len(literal.values) > _LARGEST:
        return None
    sizes = instruction.shape.dimensions
    values, place = tuple(int(value.real) for value in literal.values), element.place
    offset = sum((form * step for form, step in zip(place.forms, _strides(sizes), strict=True)), _0)
    if offset.is_constant:
        return (
            forms.constant(values[offset.constant])
            if offset.constant in range(prod(sizes))
            else None
        )
    steps = _steps(values, sizes)
    if steps is None:
        return None
    terms = (form * step for form, step in zip(place.forms, steps, strict=True))
    return sum(terms, forms.constant(values[0]))


_0: Final = forms.constant(0)


def _strides(sizes: Sequence[int]) -> list[int]:
    """How far apart in row-major order elements lie that are neighbours along each dimension."""
    return [prod(sizes[place + 1 :]) for place in range(len(sizes))]


def _steps(values: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """What one step along each dimension adds, if it is always the same: an affine table."""
    steps = [
        values[stride] - values[0] if size > 1 else 0
        for size, stride in zip(sizes, _strides(sizes), strict=True)
    ]
    indices = product(*map(range, sizes))
    expected = (values[0] + sum(map(mul, index, steps)) for index in indices)
    return steps if all(map(eq, values, expected)) else None


def _iota(instruction: Instruction, element: _Element) -> Form | None:
    dimension: int = instruction.attributes["iota_dimension"]
    return element.place.forms[dimension]


def _number_of_device(instruction: Instruction, element: _Element) -> Form | None:
    return value_on(instruction, element.device) if element.device else None


def _parameter(instruction: Instruction, element: _Element) -> Form | None:
    """The argument, if there is one call only."""
    callers = _callers(instruction.computation.module).get(instruction.computation, [])
    if len(callers) != 1 or callers[0].opcode not in control.CALLS or not element.depth:
        return None
    return _value(callers[0].operands[instruction.parameter_number or 0], element.deeper())


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


def _called(instruction: Instruction, element: _Element) -> Form | None:
    callee: Computation = instruction.attributes[control.CALLS[instruction.opcode]]
    return _value(callee.root, element.deeper()) if element.depth else None


def _part(instruction: Instruction, element: _Element) -> Form | None:
    (operand,) = instruction.operands
    if operand.opcode != "tuple" or not element.depth:
        return None
    index: int = instruction.attributes["index"]
    return _value(operand.operands[index], element.deeper())


_SOURCES: Final[Mapping[str, _Source]] = {
    **dict.fromkeys(control.CALLS, _called),
    "constant": _constant,
    "get-tuple-element": _part,
    "iota": _iota,
    "parameter": _parameter,
    "partition-id": _number_of_device,
    "replica-id": _number_of_device,
}
