"""What becomes of known integers: a table by opcode, in forms over an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.layout import Kind
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo import Instruction
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class Known:
    """A value, and an interval that holds it."""

    form: Form
    bounds: Interval


Function: TypeAlias = "Callable[[Instruction, Sequence[Known]], Form | None]"
"""From an instruction and the values of its operands to its own; ``None`` if that is not known."""


def between(value: Known, bounds: Interval) -> Form:
    """The value, or the bound that it lies beyond; only those bounds that it may lie beyond."""
    form, lower, upper = value.form, bounds.lower, bounds.upper
    if lower is not None and not Interval(lower, None).contains(value.bounds):
        form = operations.maximum([form, forms.constant(lower)])
    if upper is not None and not Interval(None, upper).contains(value.bounds):
        form = operations.minimum([form, forms.constant(upper)])
    return form


def _copy(_: Instruction, known: Sequence[Known]) -> Form | None:
    """What may be copied, if that is always the same."""
    first, *others = (each.form for each in known)
    return first if all(other == first for other in others) else None


def _of_one(function: Callable[[Form], Form]) -> Function:
    return lambda _, known: function(known[0].form)


def _of_two(function: Callable[[Form, Form], Form]) -> Function:
    return lambda _, known: function(known[0].form, known[1].form)


def _multiply(_: Instruction, known: Sequence[Known]) -> Form | None:
    """A product of two variables would be no affine expression."""
    left, right = sorted((each.form for each in known), key=lambda form: form.is_constant)
    return left * right.constant if right.is_constant else None


def _on_predicates(function: Function) -> Function:
    """On other integers these work bit by bit."""

    def decided(instruction: Instruction, known: Sequence[Known]) -> Form | None:
        is_predicate = instruction.shape.element_type.kind is Kind.BOOLEAN
        return function(instruction, known) if is_predicate else None

    return decided


def _division(function: Callable[[Form, Form], Form]) -> Function:
    """HLO rounds towards zero; this is the same as down where nothing is negative."""

    def divided(_: Instruction, known: Sequence[Known]) -> Form | None:
        numerator, divisor = known
        is_plain = divisor.form.is_constant and divisor.form.constant > 0
        if not is_plain or numerator.bounds.lower is None or numerator.bounds.lower < 0:
            return None
        return function(numerator.form, divisor.form)

    return divided


def _compare(instruction: Instruction, known: Sequence[Known]) -> Form | None:
    """Decided by bounds: what it says of some elements but not of all is not known."""
    difference = known[0].bounds - known[1].bounds
    if known[0].form == known[1].form:
        difference = Interval(0, 0)
    holds = _HOLDS[instruction.attributes["direction"]]
    answers = {
        answer
        for part, answer in zip(_PARTS, holds, strict=True)
        if not difference.intersect(part).is_empty
    }
    return forms.constant(int(answers.pop())) if len(answers) == 1 else None


def _clamp(_: Instruction, known: Sequence[Known]) -> Form | None:
    """The upper bound is the last one to be met, where the lower one lies above it."""
    least, value, most = known
    bounds = Interval(least.form.constant, most.form.constant)
    if least.form.is_constant and most.form.is_constant and not bounds.is_empty:
        return between(value, bounds)
    return operations.minimum([operations.maximum([value.form, least.form]), most.form])


_PARTS: Final = (Interval(None, -1), Interval(0, 0), Interval(1, None))

_HOLDS: Final = {
    "LT": (True, False, False),
    "LE": (True, True, False),
    "EQ": (False, True, False),
    "NE": (True, False, True),
    "GE": (False, True, True),
    "GT": (False, False, True),
}
"""Whether a comparison holds for a difference in each of :data:`_PARTS`."""

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

FUNCTIONS: Final[Mapping[str, Function]] = {
    **dict.fromkeys(_COPIES, _copy),
    "abs": _of_one(lambda form: operations.maximum([form, -form])),
    "add": _of_two(lambda left, right: left + right),
    "and": _on_predicates(_minimum),
    "clamp": _clamp,
    "compare": _compare,
    "divide": _division(operations.floordiv),
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _multiply,
    "negate": _of_one(lambda form: -form),
    "not": _on_predicates(_of_one(lambda form: 1 - form)),
    "or": _on_predicates(_maximum),
    "remainder": _division(operations.mod),
    "subtract": _of_two(lambda left, right: left - right),
}
"""Opcode -> the value, from those of the operands; what overflows is found out afterwards."""
