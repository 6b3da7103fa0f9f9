"""The integers that instructions compute from constants and iotas, as forms over an index.

Such values are known before the program runs: the offset of a slice, the rows of a gather. Values
that depend on the number of the device, or on scalars that the asker gives, are known as formulas
in them. A value is unknown if that of an operand is unknown, or if it may overflow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from functools import reduce as fold
from itertools import accumulate, product
from math import prod
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, Variable, passes
from indexing.layout import UNBOUNDED_SIZE, Kind
from indexing.passes import PARAMETER, Constraint, Domain, Ends
from ops.devices import value_on
from ops.hlo import Instruction
from ops.hlo.opcodes import PASS_ELEMENTS
from ops.hlo.true_sizes import array_sizes
from ops.index_maps import as_form, dim
from ops.rules import control, data_movement, elementwise, linear_algebra, reduce
from ops.rules.control import Array, source_of
from ops.rules.rule import MapsFunction, OpIndexing, only_dimension
from simplifier import forms
from simplifier.forms import EVERYTHING, AtomKind, Form, Interval, tabulated, tabulated_affinely

# Arithmetic on bounded forms: bounds decide comparisons, clamps and roundings where they can.
#
# The operations are those of machine integers without overflow: division rounds towards zero.


@dataclass(frozen=True, slots=True)
class BoundedForm:
    """A form, and an interval that holds its values."""

    form: Form
    bounds: Interval


def clamp(value: BoundedForm, bounds: Interval) -> Form:
    """The value, or the bound that it lies beyond; only bounds that it may lie beyond are written.

    >>> value = BoundedForm(forms.variable("x"), Interval(0, 9))
    >>> clamp(value, Interval(0, 5))
    Form(min(x, 5))
    """
    form, lower, upper = value.form, bounds.lower, bounds.upper
    if lower is not None and not Interval(lower, None).contains(value.bounds):
        form = forms.maximum([form, forms.constant(lower)])
    if upper is not None and not Interval(None, upper).contains(value.bounds):
        form = forms.minimum([form, forms.constant(upper)])
    return form


def clamp_between(least: BoundedForm, value: BoundedForm, most: BoundedForm) -> Form:
    """The value, or the bound that it lies beyond. ``most`` wins where it lies below ``least``."""
    bounds = Interval(least.form.constant, most.form.constant)
    if least.form.is_constant and most.form.is_constant and not bounds.is_empty:
        return clamp(value, bounds)
    return forms.minimum([forms.maximum([value.form, least.form]), most.form])


def divide(numerator: BoundedForm, divisor: BoundedForm) -> Form | None:
    """The quotient, rounded towards zero; ``None`` for zero, or a divisor that is not known enough.

    It is a constant, or a size where nothing is negative.

    >>> two = BoundedForm(forms.constant(2), Interval(2, 2))
    >>> divide(BoundedForm(forms.variable("x"), Interval(-9, 0)), two)
    Form(-((-x) floordiv 2))
    """
    quotient = _with_its_sign(forms.floordiv, numerator, divisor)
    is_negative = divisor.form.is_constant and divisor.form.constant < 0
    return -quotient if quotient is not None and is_negative else quotient


def remainder(numerator: BoundedForm, divisor: BoundedForm) -> Form | None:
    """Remainder of :func:`divide`: it has the sign of the numerator."""
    return _with_its_sign(forms.mod, numerator, divisor)


def _with_its_sign(
    operation: Callable[[Form, Form], Form], numerator: BoundedForm, divisor: BoundedForm
) -> Form | None:
    """An operation on both numbers without their signs, with the sign of the numerator."""
    is_natural = Interval(0, None).contains(numerator.bounds)
    if is_natural and _is_size(divisor.form) and Interval(1, None).contains(divisor.bounds):
        return operation(numerator.form, divisor.form)
    form, by = numerator.form, forms.constant(abs(divisor.form.constant))
    if not divisor.form.is_constant or not by.constant:
        return None
    above, below = operation(form, by), -operation(-form, by)
    if is_natural:
        return above
    if Interval(None, 0).contains(numerator.bounds):
        return below
    return forms.select(forms.nonnegative(form), above, below)


def _is_size(form: Form) -> bool:
    """Whether a value is a number or over sizes alone, so that it may divide and decide."""
    return all(name[0] == PARAMETER for name in forms.variables_of((form,)))


def compare(left: BoundedForm, right: BoundedForm, direction: str) -> Form:
    """Whether a comparison holds: a number if it does for all values, or for none.

    ``direction`` is one of ``LT LE EQ NE GE GT``.

    >>> value = BoundedForm(forms.variable("x"), Interval(0, 9))
    >>> compare(value, BoundedForm(forms.constant(10), Interval(10, 10)), "LT")
    Form(1)
    """
    difference = left.bounds - right.bounds
    if left.form == right.form:
        difference = Interval(0, 0)
    holds = forms.RELATIONS[DIRECTIONS[direction]]
    signs = (sign for sign, part in _BY_SIGN.items() if not difference.intersect(part).is_empty)
    answers = {*map(holds, signs)}
    return answers.pop() if len(answers) == 1 else holds(left.form - right.form)


_BY_SIGN: Final = {
    forms.constant(-1): Interval(None, -1),
    forms.ZERO: Interval(0, 0),
    forms.ONE: Interval(1, None),
}

DIRECTIONS: Final = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
"""The comparisons of HLO, and their signs."""


# Folding.

_INTEGERS: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}

MAX_DEPTH: Final = 32
"""How many instructions a value is followed through; real offsets take fewer than ten."""

MAX_TABLE: Final = 1 << 16
"""How many elements of a constant are looked at: so many take some hundredths of a second."""


_REMEMBERED: Final = 1 << 15
"""How many values are remembered."""


Given: TypeAlias = "tuple[tuple[Array, Form], ...]"
"""Scalars that are computed otherwise, such as the counter of a loop, with their values."""


class Element(NamedTuple):
    """The map to an element, and through how many instructions its value may be followed.

    ``device`` is the number of the device that computes it, and ``given`` are values of other
    scalars, over the dimensions of the map, if the value may depend on them. Of a tuple, the array
    of this ``number`` is meant.
    """

    element_map: IndexingMap
    device: Form | None = None
    given: Given = ()
    number: int = 0
    depth: int = MAX_DEPTH

    @property
    def is_none(self) -> bool:
        """Whether the map leads to no element at all; an undefined map may lead to some."""
        return not self.element_map.is_undefined and self.element_map.is_known_empty

    def under(self, constraint: Constraint) -> Element:
        """The element where a constraint on sizes holds."""
        domain = self.element_map.domain.constrained([constraint])
        return self._replace(element_map=IndexingMap.from_forms(self.element_map.forms, domain))

    def through(self, to_operand: IndexingMap) -> Element:
        """The element of an operand from which this one is computed."""
        there = _composed(self.element_map, to_operand)
        return self._replace(element_map=there, depth=self.depth - 1)


@lru_cache(maxsize=_REMEMBERED)
def _composed(element_map: IndexingMap, to_operand: IndexingMap) -> IndexingMap:
    """The element of an operand; values are followed through many instructions of one map."""
    return element_map.compose(to_operand)


def clamped(value: Form, bounds: Interval | Ends, element_map: IndexingMap) -> Form:
    """A value over the variables of a map, clamped into bounds."""
    if isinstance(bounds, Ends):
        below = value if bounds.upper is None else forms.minimum((value, bounds.upper))
        return below if bounds.lower is None else forms.maximum((below, bounds.lower))
    return clamp(BoundedForm(value, range_in(value, element_map.domain, bounds)), bounds)


def range_in(form: Form, domain: Domain, expected: Interval | None = None) -> Interval:
    """The bounds of a form; those of its values if they are few, and others not as expected."""
    (bounds,) = IndexingMap.from_forms([form], domain).result_bounds()
    is_affine = all(atom.kind is AtomKind.VARIABLE for atom in form.terms)
    if expected is None or is_affine or expected.contains(bounds):
        return bounds
    values = passes.values_in_box(form, domain)
    return Interval(min(values), max(values)) if values else bounds


def _holds(source: Instruction, element: Element) -> bool:
    """Whether an array has a place of so many dimensions; a wrong program passes on another."""
    is_array = not source.shape.is_tuple
    return is_array and len(element.element_map.forms) == len(source.shape.dimensions)


@lru_cache(maxsize=_REMEMBERED)
def value_of(instruction: Instruction, element: Element) -> Form | None:
    """The value of an element, as a form over the variables of the map that leads there.

    ``None`` if the value is no integer, or unknown.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { i = s32[8] iota(), iota_dimension=0 ROOT r = s32[8] add(i, i) }"
    >>> element = Element(parse_map("(d0) -> (d0 + 1), domain: d0 in [0, 3]"))
    >>> print(value_of(hlo.parse(text).entry.root, element))
    d0 * 2 + 2
    """
    element_type = instruction.shape.arrays[element.number].element_type
    is_integer = element_type.kind in _INTEGERS
    if not is_integer or element.depth < 0 or element.element_map.is_undefined or element.is_none:
        return None
    source, number = array = source_of((instruction, element.number))
    found = dict(element.given).get(array)
    if found is None and _holds(source, element):
        find = _SOURCES.get(source.opcode, _computed)
        found = find(source, element._replace(number=number))
    every = element_type.value_range
    is_sound = found is not None and every.contains(
        range_in(found, element.element_map.domain, every)
    )
    return found if is_sound else None


def _computed(instruction: Instruction, element: Element) -> Form | None:
    """The result of the function of an opcode, if the values of all operands are known."""
    function = _FUNCTIONS.get(instruction.opcode)
    arguments: list[BoundedForm] = []
    for operand, there in _read(instruction, element) if function else ():
        form = value_of(operand, there)
        if form is None:
            return None
        arguments.append(BoundedForm(form, range_in(form, there.element_map.domain)))
    return function(instruction, arguments) if function and arguments else None


def _read(instruction: Instruction, element: Element) -> list[tuple[Instruction, Element]]:
    """The operands that an element is computed from, and their elements."""
    maps = _MAPS[instruction.opcode](instruction)
    if not isinstance(maps, OpIndexing):
        return []
    elements = map(element.through, maps.output_to_input)
    pairs = zip(instruction.operands, elements, strict=True)
    return [(operand, there) for operand, there in pairs if not there.is_none]


_MAPS: Final[Mapping[str, MapsFunction]] = {
    opcode: rule.maps
    for family in (data_movement, elementwise, control, linear_algebra, reduce)
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


def _of_forms(function: Callable[..., Form]) -> _Function:
    return lambda _, known: function(*(each.form for each in known))


def _of_bounded(function: Callable[..., Form | None]) -> _Function:
    return lambda _, known: function(*known)


def _bit_by_bit(kind: AtomKind, of_conditions: Callable[[Sequence[Form]], Form]) -> _Function:
    """The function of integers as bits; that of conditions for predicates."""

    def combined(instruction: Instruction, known: Sequence[BoundedForm]) -> Form:
        operands = [each.form for each in known]
        if instruction.shape.element_type.kind is Kind.BOOLEAN:
            return of_conditions([*map(_condition, operands)])
        return forms.bitwise(kind, operands)

    return combined


def _condition(predicate: Form) -> Form:
    """A form that is 0 or 1 as a condition."""
    is_condition = forms.is_condition(predicate)
    return predicate if is_condition else forms.zero(predicate.plus_constant(-1))


def _differ(conditions: Sequence[Form]) -> Form:
    left, right = conditions
    return forms.select(left, forms.negation(right), right)


def _not(instruction: Instruction, known: Sequence[BoundedForm]) -> Form:
    """All bits turned: the sum of both is that of the least and the greatest value."""
    values = instruction.shape.element_type.value_range
    return forms.constant((values.lower or 0) + (values.upper or 0)) - known[0].form


def _shifted(shift: Callable[[Form, Form], Form], shifted: Callable[[int], Interval]) -> _Function:
    """The function for a constant number of places, on some of the values, by half their number."""

    def moved(instruction: Instruction, known: Sequence[BoundedForm]) -> Form | None:
        value, places = known
        count = places.form.constant if places.form.is_constant else -1
        values = instruction.shape.element_type.value_range.size or 0
        is_known = shifted(values // 2).contains(value.bounds)
        if not is_known or not 0 <= count < values.bit_length() - 1:
            return None
        return shift(value.form, forms.constant(1 << count))

    return moved


def _times(one: Form, other: Form) -> Form:
    return forms.product((one, other))


def _multiply(one: BoundedForm, other: BoundedForm) -> Form | None:
    is_affine = _is_size(one.form) or _is_size(other.form)
    return _times(one.form, other.form) if is_affine else None


_COPIES: Final = (*PASS_ELEMENTS, "convert", "pad")

_FUNCTIONS: Final[Mapping[str, _Function]] = {
    **dict.fromkeys(_COPIES, _copy),
    "abs": lambda _, known: forms.maximum([known[0].form, -known[0].form]),
    "add": _of_forms(operator.add),
    "and": _bit_by_bit(AtomKind.BITAND, forms.conjunction),
    "clamp": _of_bounded(clamp_between),
    "compare": lambda op, known: compare(known[0], known[1], op.attributes["direction"]),
    "divide": _of_bounded(divide),
    "maximum": lambda _, known: forms.maximum(each.form for each in known),
    "minimum": lambda _, known: forms.minimum(each.form for each in known),
    "multiply": _of_bounded(_multiply),
    "negate": lambda _, known: -known[0].form,
    "not": _not,
    "or": _bit_by_bit(AtomKind.BITOR, forms.disjunction),
    "remainder": _of_bounded(remainder),
    "shift-left": _shifted(_times, lambda _: EVERYTHING),
    "shift-right-arithmetic": _shifted(forms.floordiv, lambda half: Interval(-half, half - 1)),
    "shift-right-logical": _shifted(forms.floordiv, lambda _: Interval(0, None)),
    "sign": lambda _, known: clamp(known[0], Interval(-1, 1)),
    "subtract": _of_forms(operator.sub),
    "xor": _bit_by_bit(AtomKind.BITXOR, _differ),
}
"""Opcode -> the function that gives its value."""


# Values that are not computed from those of all operands.

_Source: TypeAlias = "Callable[[Instruction, Element], Form | None]"


def _constant(constant: Instruction, element: Element) -> Form | None:
    """The integer that a map leads to in a constant, as a form over the variables of the map.

    ``None`` if the text leaves out the values, if there are too many, or if the values in the range
    of the map follow no pattern.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { ROOT c = s32[3,3] constant({{0, 9, 0}, {0, 7, 0}, {0, 5, 1}}) }"
    >>> column = parse_map("(d0) -> (d0, 1), domain: d0 in [0, 2]")
    >>> print(_constant(hlo.parse(text).entry.root, Element(column)))
    d0 * -2 + 9
    """
    element_map = element.element_map
    box, table = _table(constant, element_map)
    affine = tabulated_affinely(table, box, element_map.forms) if table else None
    return _irregular([*table.values()], box, element_map) if affine is None else affine


_Table: TypeAlias = "tuple[Sequence[range], Mapping[tuple[int, ...], int]]"
"""Indices along each dimension of a constant, and the values there."""


def _table(constant: Instruction, element_map: IndexingMap) -> _Table:
    """The values of a constant in the range of a map; ``None`` if they are too many or left out."""
    literal, sizes = constant.literal, constant.shape.dimensions
    bounds = zip(element_map.result_bounds(), sizes, strict=True)
    box = [_within(interval, size) for interval, size in bounds]
    if literal is None or literal.values is None or not 0 < prod(map(len, box)) <= MAX_TABLE:
        return box, {}
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    values = literal.values
    return box, {
        each: int(values[sum(map(operator.mul, each, strides))].real) for each in product(*box)
    }


def _irregular(
    values: Sequence[int], box: Sequence[range], element_map: IndexingMap
) -> Form | None:
    """The entry of a table over a box, in order, if it makes no long formula."""
    if not 0 < len(values) <= passes.MAX_VALUES:
        return None
    number = forms.constant(0)
    for form, along in zip(element_map.forms, box, strict=True):
        number = number * len(along) + (form - along.start)
    table = tabulated(values, number)
    return table if passes.terms_in(table) <= passes.MAX_TABLE_TERMS else None


def _within(bounds: Interval, size: int) -> range:
    """The indices of a dimension that lie within bounds."""
    first = 0 if bounds.lower is None else max(0, bounds.lower)
    return range(first, size if bounds.upper is None else min(size, bounds.upper + 1))


def _iota(instruction: Instruction, element: Element) -> Form | None:
    dimension: int = instruction.attributes["iota_dimension"]
    return element.element_map.forms[dimension]


def _dimension_size(instruction: Instruction, element: Element) -> Form | None:
    """A size over parameters that the map knows, too."""
    size = array_sizes(instruction.operands[0])[only_dimension(instruction)]
    form = None if size is None else as_form(size)
    known = {*element.element_map.domain.parameter_identifiers}
    return form if form is not None and known.issuperset(forms.variables_of((form,))) else None


def _number_of_device(instruction: Instruction, element: Element) -> Form | None:
    return None if element.device is None else value_on(instruction, element.device)


def _selected(instruction: Instruction, element: Element) -> Form | None:
    """The value of the operand that is chosen; of both, where that differs between elements."""
    read = _read(instruction, element)
    choice = value_of(*read[0]) if read else None
    if choice is None:
        return None
    if choice.is_constant:
        return value_of(*read[1 if choice.constant else 2])
    condition = _condition(choice)
    branches = [
        (operand, there.under((condition, Interval(holds, holds))))
        for holds, (operand, there) in zip((1, 0), read[1:], strict=True)
    ]
    found = [value_of(*branch) for branch in branches if not branch[1].is_none]
    if len(found) < len(branches):
        return found[0] if found else None
    one, other = found
    return None if one is None or other is None else forms.select(condition, one, other)


def _joined(instruction: Instruction, element: Element) -> Form | None:
    """The value of the operand of a concatenation that the index lies in."""
    axis, maps = only_dimension(instruction), _MAPS[instruction.opcode](instruction)
    sizes = [operand.shape.dimensions[axis] for operand in instruction.operands]
    if not isinstance(maps, OpIndexing) or UNBOUNDED_SIZE in sizes:
        return None
    index, found = element.element_map.forms[axis], None
    ends = accumulate(sizes)
    for row in reversed([*zip(instruction.operands, maps.output_to_input, ends, strict=True)]):
        operand, to_operand, end = row
        there = element.through(to_operand)
        if not there.is_none:
            value = value_of(operand, there)
            if value is None:
                return None
            is_before = forms.nonnegative(-index + (end - 1))
            found = value if found is None else forms.select(is_before, value, found)
    return found


_SOURCES: Final[Mapping[str, _Source]] = {
    "concatenate": _joined,
    "constant": _constant,
    "get-dimension-size": _dimension_size,
    "iota": _iota,
    "select": _selected,
    "partition-id": _number_of_device,
    "replica-id": _number_of_device,
}


# Bounds of what is not known.

_Bounds: TypeAlias = "Callable[[Instruction, Element], Interval]"


@lru_cache(maxsize=_REMEMBERED)
def bounds_of(instruction: Instruction, element: Element) -> Interval:
    """The least interval that is found to hold the elements that a map leads to.

    Nothing is said of values that are no integers.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { p = s32[] parameter(0) c = s32[] constant(7) ROOT r = s32[] and(p, c) }"
    >>> print(bounds_of(hlo.parse(text).entry.root, Element(parse_map("() -> ()"))))
    [0, 7]
    """
    element_type = instruction.shape.arrays[element.number].element_type
    if element_type.kind not in _INTEGERS or element.depth < 0 or element.element_map.is_undefined:
        return element_type.value_range
    value = value_of(instruction, element)
    if value is not None:
        return range_in(value, element.element_map.domain, passes.NO_VALUES)
    source, number = source_of((instruction, element.number))
    if element.is_none or not _holds(source, element):
        return element_type.value_range
    found = _BOUNDS.get(source.opcode, _computed_bounds)(source, element._replace(number=number))
    is_sound = element_type.value_range.contains(found)
    return found if is_sound else element_type.value_range


def _computed_bounds(instruction: Instruction, element: Element) -> Interval:
    """The bounds of the function of an opcode for operands within theirs."""
    function = _FUNCTIONS.get(instruction.opcode)
    operands = dict.fromkeys(_read(instruction, element) if function else ())
    kinds = {operand.shape.element_type.kind for operand, _ in operands}
    if function is None or not operands or not kinds <= _INTEGERS:
        return EVERYTHING
    places = {each: number for number, each in enumerate(operands)}
    box = [bounds_of(*each) for each in operands]
    known = [
        BoundedForm(forms.constant(bounds.lower or 0) if bounds.is_point else dim(number), bounds)
        for number, bounds in enumerate(box)
    ]
    arguments = [known[places[each]] for each in _read(instruction, element)]
    form = function(instruction, arguments)
    if form is None:
        return EVERYTHING
    return range_in(form, Domain(tuple(map(Variable, box))))


def _bounds_of_constant(constant: Instruction, element: Element) -> Interval:
    values = _table(constant, element.element_map)[1].values()
    return Interval(min(values), max(values)) if values else EVERYTHING


def _bounds_of_choice(instruction: Instruction, element: Element) -> Interval:
    """Bounds of the operand that is chosen, or of both."""
    choice, one, other = (bounds_of(*each) for each in _read(instruction, element))
    if choice.is_point:
        return one if choice.lower else other
    return one.union(other)


def _bounds_of_any(instruction: Instruction, element: Element) -> Interval:
    """Bounds of all operands that an element may be one of; a slice of nothing has none."""
    found = [bounds_of(*each) for each in _read(instruction, element)]
    return fold(Interval.union, found or [EVERYTHING])


def _bounds_of_whole(count: int) -> _Bounds:
    """Bounds of all elements of the first operands."""

    def found(instruction: Instruction, element: Element) -> Interval:
        operands = instruction.operands[:count]
        if any(operand.shape.dynamic_dimensions for operand in operands):
            return EVERYTHING
        deeper = element._replace(depth=element.depth - 1, given=())
        every = (IndexingMap.identity(operand.shape.dimensions) for operand in operands)
        elements = (deeper._replace(element_map=each) for each in every)
        return fold(Interval.union, map(bounds_of, operands, elements))

    return found


def _number_of_bits(instruction: Instruction, _: Element) -> Interval:
    return Interval(0, instruction.shape.element_type.bits)


_BOUNDS: Final[Mapping[str, _Bounds]] = {
    **dict.fromkeys((*_COPIES, "concatenate"), _bounds_of_any),
    "constant": _bounds_of_constant,
    **dict.fromkeys(("count-leading-zeros", "popcnt"), _number_of_bits),
    **dict.fromkeys(("dynamic-slice", "gather"), _bounds_of_whole(1)),
    "dynamic-update-slice": _bounds_of_whole(2),
    "select": _bounds_of_choice,
}
"""Opcode -> the bounds of its value, where no function gives them."""
