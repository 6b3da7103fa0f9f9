"""The integers that instructions compute from constants and iotas, as forms over an index.

Such values are known before the program runs: the offset of a slice, the rows of a gather. Values
that depend on the number of the device, or on scalars that the asker gives, are known as formulas
in them. A value is unknown if that of an operand is unknown, or if it may overflow.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from indexing import IndexingMap
from indexing.layout import Kind
from indexing.parameters import PARAMETER
from indexing.symbolic_bounds import Ends
from ops.devices.numbering import value_on
from ops.hlo.true_sizes import array_sizes
from ops.rules import (
    broadcast,
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
from ops.rules.rule import only_dimension
from ops.rules.sources import source_of
from ops.sizes import as_form
from simplifier import Interval
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

    from indexing.domain import Constraint
    from ops.hlo import Instruction
    from ops.rules.rule import MapsFunction
    from ops.rules.sources import Array
    from simplifier.expr.form import Form


_INTEGERS: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}

MAX_DEPTH: Final = 32
"""How many instructions a value is followed through; real offsets take fewer than ten."""

MAX_TABLE: Final = 1 << 16
"""How many elements of a constant are looked at: so many take some hundredths of a second."""

_REMEMBERED: Final = 1 << 10
"""How many values are remembered."""


Given: TypeAlias = "tuple[tuple[Array, Form], ...]"
"""Scalars that are computed otherwise, such as the counter of a loop, with their values."""


def value_of(
    instruction: Instruction,
    element_map: IndexingMap,
    device: Form | None = None,
    given: Given = (),
    *,
    number: int = 0,
) -> Form | None:
    """The value of the element that a map leads to, as a form over the variables of the map.

    ``device`` is the number of the device that computes it, and ``given`` are values of other
    scalars, over the dimensions of the map, if the value may depend on them. Of a tuple, the array
    of this ``number`` is meant. ``None`` if the value is no integer, or unknown.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { i = s32[8] iota(), iota_dimension=0 ROOT r = s32[8] add(i, i) }"
    >>> element_map = parse_map("(d0) -> (d0 + 1), domain: d0 in [0, 3]")
    >>> print(value_of(hlo.parse(text).entry.root, element_map))
    d0 * 2 + 2
    """
    return _value(instruction, _Element(element_map, device, given, number))


class _Element(NamedTuple):
    """The map to an element, and through how many instructions its value may be followed."""

    element_map: IndexingMap
    device: Form | None
    given: Given = ()
    number: int = 0
    depth: int = MAX_DEPTH

    @property
    def is_none(self) -> bool:
        """Whether the map leads to no element at all; an undefined map may lead to some."""
        return not self.element_map.is_undefined and self.element_map.is_known_empty

    def under(self, constraint: Constraint) -> _Element:
        """The element where a constraint on sizes holds."""
        domain = self.element_map.domain.constrained([constraint])
        return self._replace(element_map=IndexingMap.from_forms(self.element_map.forms, domain))

    def through(self, to_operand: IndexingMap) -> _Element:
        """The element of an operand from which this one is computed."""
        return self._replace(element_map=self.element_map.compose(to_operand), depth=self.depth - 1)


def clamped(value: Form, bounds: Interval | Ends, element_map: IndexingMap) -> Form:
    """A value over the variables of a map, clamped into bounds."""
    if isinstance(bounds, Ends):
        below = value if bounds.upper is None else operations.minimum((value, bounds.upper))
        return below if bounds.lower is None else operations.maximum((below, bounds.lower))
    return clamp(BoundedForm(value, _range(value, element_map)), bounds)


def _range(form: Form, element_map: IndexingMap) -> Interval:
    (bounds,) = IndexingMap.from_forms([form], element_map.domain).result_bounds()
    return bounds


@lru_cache(maxsize=_REMEMBERED)
def _value(instruction: Instruction, element: _Element) -> Form | None:
    element_type = instruction.shape.arrays[element.number].element_type
    is_integer = element_type.kind in _INTEGERS
    if not is_integer or element.depth < 0 or element.element_map.is_undefined or element.is_none:
        return None
    source, number = array = source_of((instruction, element.number))
    found = dict(element.given).get(array)
    if found is None and not source.shape.is_tuple:
        find = _SOURCES.get(source.opcode, _computed)
        found = find(source, element._replace(number=number))
    is_sound = found is not None and element_type.value_range.contains(
        _range(found, element.element_map)
    )
    return found if is_sound else None


def _computed(instruction: Instruction, element: _Element) -> Form | None:
    """The result of the function of an opcode, if the values of all operands are known."""
    function = _FUNCTIONS.get(instruction.opcode)
    arguments: list[BoundedForm] = []
    for operand, there in _read(instruction, element) if function else ():
        form = _value(operand, there)
        if form is None:
            return None
        arguments.append(BoundedForm(form, _range(form, there.element_map)))
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

# Values that are computed from those of all operands; overflow is checked afterwards.

_Function: TypeAlias = "Callable[[Instruction, Sequence[BoundedForm]], Form | None]"
"""From an instruction and the values of its operands to its value; ``None`` if that is unknown."""


def _copy(_: Instruction, known: Sequence[BoundedForm]) -> Form | None:
    """The value of the operands, if it is the same for all."""
    first, *others = (each.form for each in known)
    return first if all(other == first for other in others) else None


def _of_one(function: Callable[[Form], Form]) -> _Function:
    return lambda _, known: function(known[0].form)


def _of_two(function: Callable[[Form, Form], Form]) -> _Function:
    return lambda _, known: function(known[0].form, known[1].form)


def _of_bounded(function: Callable[..., Form | None]) -> _Function:
    return lambda _, known: function(*known)


def _on_predicates(function: _Function) -> _Function:
    """The function for predicates; on other integers these opcodes work bit by bit."""

    def decided(instruction: Instruction, known: Sequence[BoundedForm]) -> Form | None:
        is_predicate = instruction.shape.element_type.kind is Kind.BOOLEAN
        return function(instruction, known) if is_predicate else None

    return decided


def _compare(instruction: Instruction, known: Sequence[BoundedForm]) -> Form | None:
    left, right = known
    answer = compare(left, right, instruction.attributes["direction"])
    if answer is not None:
        return forms.constant(int(answer))
    apart = left.form - right.form
    return _CONDITIONS[instruction.attributes["direction"]](apart) if _is_size(apart) else None


_CONDITIONS: Final[Mapping[str, Callable[[Form], Form]]] = {
    "LT": lambda apart: operations.nonnegative(-apart - 1),
    "LE": lambda apart: operations.nonnegative(-apart),
    "EQ": operations.zero,
    "NE": lambda apart: operations.negation(operations.zero(apart)),
    "GE": operations.nonnegative,
    "GT": lambda apart: operations.nonnegative(apart - 1),
}
"""What each direction says of the difference."""


def _is_size(form: Form) -> bool:
    """Whether a value is a number or over sizes alone, so that it may divide and decide."""
    return all(name[0] == PARAMETER for name in forms.variables_of((form,)))


def _multiply(one: BoundedForm, other: BoundedForm) -> Form | None:
    if _is_size(one.form) or _is_size(other.form):
        return operations.product((one.form, other.form))
    return multiply(one, other)


def _by_size(
    plain: Callable[[BoundedForm, BoundedForm], Form | None],
    operation: Callable[[Form, Form], Form],
) -> _Function:
    """A quotient or remainder, also by a size, where nothing is negative."""

    def divided(numerator: BoundedForm, divisor: BoundedForm) -> Form | None:
        lowers = numerator.bounds.lower, divisor.bounds.lower
        is_natural = lowers[0] is not None and lowers[0] >= 0
        if is_natural and lowers[1] is not None and lowers[1] > 0 and _is_size(divisor.form):
            return operation(numerator.form, divisor.form)
        return plain(numerator, divisor)

    return _of_bounded(divided)


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
    "divide": _by_size(divide, operations.floordiv),
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _of_bounded(_multiply),
    "negate": _of_one(lambda form: -form),
    "not": _on_predicates(_of_one(lambda form: 1 - form)),
    "or": _on_predicates(_maximum),
    "remainder": _by_size(remainder, operations.mod),
    "subtract": _of_two(lambda left, right: left - right),
}
"""Opcode -> the function that gives its value."""


# Values that are not computed from those of all operands.

_Source: TypeAlias = "Callable[[Instruction, _Element], Form | None]"


def _constant(instruction: Instruction, element: _Element) -> Form | None:
    return _element_of_constant(instruction, element.element_map)


def _element_of_constant(constant: Instruction, element_map: IndexingMap) -> Form | None:
    """The integer that a map leads to in a constant, as a form over the variables of the map.

    ``None`` if the text leaves out the values, if there are too many, or if the values in the range
    of the map are not affine in their index.

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
    bounds = zip(element_map.result_bounds(), sizes, strict=True)
    box = [_within(interval, size) for interval, size in bounds]
    if not 0 < prod(map(len, box)) <= MAX_TABLE:
        return None
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    values = literal.values
    table = {entry: int(values[sum(map(mul, entry, strides))].real) for entry in product(*box)}
    return tabulated_affinely(table, box, element_map.forms)


def _within(bounds: Interval, size: int) -> range:
    """The indices of a dimension that lie within bounds."""
    first = 0 if bounds.lower is None else max(0, bounds.lower)
    return range(first, size if bounds.upper is None else min(size, bounds.upper + 1))


def _iota(instruction: Instruction, element: _Element) -> Form | None:
    dimension: int = instruction.attributes["iota_dimension"]
    return element.element_map.forms[dimension]


def _dimension_size(instruction: Instruction, element: _Element) -> Form | None:
    """A size over parameters that the map knows, too."""
    size = array_sizes(instruction.operands[0])[only_dimension(instruction)]
    form = None if size is None else as_form(size)
    known = {*element.element_map.domain.parameter_identifiers}
    return form if form is not None and known.issuperset(forms.variables_of((form,))) else None


def _number_of_device(instruction: Instruction, element: _Element) -> Form | None:
    return None if element.device is None else value_on(instruction, element.device)


def _selected(instruction: Instruction, element: _Element) -> Form | None:
    """The value of the chosen operand, if the choice is constant, or one that sizes make."""
    read = _read(instruction, element)
    choice = _value(*read[0]) if read else None
    if choice is None or not _is_size(choice):
        return None
    if choice.is_constant:
        return _value(*read[1 if choice.constant else 2])
    (one, there), (another, elsewhere) = read[1:]
    chosen = _value(one, there.under((choice, Interval(1, 1))))
    other = _value(another, elsewhere.under((choice, Interval(0, 0))))
    return None if chosen is None or other is None else operations.select(choice, chosen, other)


_SOURCES: Final[Mapping[str, _Source]] = {
    "constant": _constant,
    "get-dimension-size": _dimension_size,
    "iota": _iota,
    "select": _selected,
    "partition-id": _number_of_device,
    "replica-id": _number_of_device,
}
