"""Sizes as values: instructions that compute a size from the sizes of arguments.

The size ``b floordiv 2`` is ``divide(get-dimension-size(x), 2)`` where an argument ``x`` has the
size ``b``; of an argument of the size ``4*s``, ``s`` is the size divided by 4.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.hlo.module import Instruction
from ops.sizes import as_form
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexing.domain import Constraint
    from ops.jaxpr.jaxpr_builder import JaxprBuilder
    from ops.jaxpr.primitives import OfJax
    from ops.sizes import Size
    from simplifier.expr.form import Atom


class _Computed(NamedTuple):
    """An instruction, and the form that it computes."""

    instruction: Instruction
    form: Form


class SizeValues:
    """The values of sizes, as instructions that a builder adds.

    ``forms`` has what each of these computes, for those who ask whether it overflows.
    """

    def __init__(self, builder: JaxprBuilder, kind: OfJax, facts: Iterable[Constraint]) -> None:
        self.forms: dict[Instruction, Form] = {}
        self._builder = builder
        self._kind = kind
        self._facts = tuple(facts)
        self._sizes = [*_sizes_of_arguments(builder.instructions)]
        self._solved = _solved(self._sizes)

    def of(self, size: Size) -> Instruction | None:
        """The value of a size; ``None`` if the sizes of arguments do not tell it."""
        value = self._sum(as_form(size))
        return None if value is None else value.instruction

    def _sum(self, form: Form) -> _Computed | None:
        for size, argument, axis in self._sizes:
            if (form - size).is_constant and len(size.terms) > 1:
                whole = self._size(_Told(argument, axis, 1, forms.ZERO))
                rest = (form - size).constant
                return self._made("add", whole, self._constant(rest)) if rest else whole
        parts = [self._term(atom, factor) for atom, factor in form.terms.items()]
        if form.constant or not parts:
            parts.append(self._constant(form.constant))
        return self._of_all("add", parts)

    def _term(self, atom: Atom, factor: int) -> _Computed | None:
        known = self._solved.get(atom)
        if known is None:
            value = self._atom(atom)
            return None if value is None else self._times(value, factor)
        value = self._size(known)
        if known.rest != forms.ZERO:
            rest = self._sum(known.rest)
            value = value if rest is None else self._made("subtract", value, rest)
        times, left = divmod(factor, known.factor)
        if not left:
            return self._times(value, times)
        return self._times(self._made("divide", value, self._constant(known.factor)), factor)

    def _size(self, known: _Told) -> _Computed:
        asked = {"dimensions": (known.axis,)}
        added = self._builder.add("get-dimension-size", [self._kind], [known.argument], asked)
        size = as_form((known.argument.sizes or ((),))[0][known.axis])
        self.forms[added] = size
        return _Computed(added, size)

    def _atom(self, atom: Atom) -> _Computed | None:
        """The value of a quotient, a remainder, an extremum or a product."""
        values = [self._sum(argument) for argument in atom.arguments]
        if atom.kind in _OF_SEVERAL:
            return self._of_all(_OF_SEVERAL[atom.kind], values)
        if atom.kind in _DIVISIONS:
            numerator, divisor = values
            return (
                numerator and divisor and self._divided(_DIVISIONS[atom.kind], numerator, divisor)
            )
        return None

    def _divided(self, opcode: str, numerator: _Computed, divisor: _Computed) -> _Computed | None:
        """A quotient or remainder rounded down: as HLO has it of what is not negative."""
        least = self._least(numerator.form)
        if least is None or (self._least(divisor.form) or 0) < 1:
            return None
        if least >= 0:
            return self._made(opcode, numerator, divisor)
        above = self._made("add", numerator, self._times(divisor, -least))
        value = self._made(opcode, above, divisor)
        return value if opcode == "remainder" else self._made("add", value, self._constant(least))

    def _least(self, form: Form) -> int | None:
        """The least value of a form over sizes, of which JAX has none below 1."""
        bounds = ((name, Interval(1, None)) for name in sorted({*forms.variables_of((form,))}))
        scope = scope_of(tuple(bounds), self._facts)
        return Interval.from_range(scope.range_of(scope.canonical(form))).lower

    def _times(self, value: _Computed, factor: int) -> _Computed:
        return value if factor == 1 else self._made("multiply", value, self._constant(factor))

    def _of_all(self, opcode: str, values: Iterable[_Computed | None]) -> _Computed | None:
        return reduce(lambda one, other: one and other and self._made(opcode, one, other), values)

    def _constant(self, value: int) -> _Computed:
        return _Computed(self._builder.constant(self._kind, value), forms.constant(value))

    def _made(self, opcode: str, one: _Computed, other: _Computed) -> _Computed:
        pair = [one.instruction, other.instruction]
        added = self._builder.add(opcode, [self._kind], pair)
        self.forms[added] = _COMPUTED[opcode](one.form, other.form)
        return _Computed(added, self.forms[added])


_COMPUTED: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "add": lambda one, other: one + other,
    "subtract": lambda one, other: one - other,
    "multiply": lambda one, other: operations.product((one, other)),
    "divide": operations.floordiv,
    "remainder": operations.mod,
    "maximum": lambda one, other: operations.maximum((one, other)),
    "minimum": lambda one, other: operations.minimum((one, other)),
}
_OF_SEVERAL: Final = {
    AtomKind.MAX: "maximum",
    AtomKind.MIN: "minimum",
    AtomKind.PRODUCT: "multiply",
}
_DIVISIONS: Final = {
    AtomKind.FLOORDIV: "divide",
    AtomKind.QUOTIENT: "divide",
    AtomKind.MOD: "remainder",
}


class _Told(NamedTuple):
    """An atom times a factor is the size of an argument less a rest, which is known, too."""

    argument: Instruction
    axis: int
    factor: int
    rest: Form


def _sizes_of_arguments(
    instructions: Iterable[Instruction],
) -> Iterator[tuple[Form, Instruction, int]]:
    """The symbolic sizes, the argument and the dimension."""
    for each in instructions:
        for sizes in (each.sizes or ()) if _is_argument(each) else ():
            for axis, size in enumerate(sizes):
                if isinstance(size, Form):
                    yield size, each, axis


def _is_argument(instruction: Instruction) -> bool:
    """Whether an instruction is an array that its computation is given, maybe in a tuple."""
    if instruction.opcode == "get-tuple-element":
        (instruction,) = instruction.operands
        return instruction.opcode == "parameter"
    return instruction.opcode == "parameter" and not instruction.shape.is_tuple


def _solved(rows: Iterable[tuple[Form, Instruction, int]]) -> dict[Atom, _Told]:
    """The atoms that sizes tell: each is the only one in its size that others do not tell."""
    found: dict[Atom, _Told] = {}
    waiting = sorted(rows, key=lambda row: (len(row[0].terms), sum(row[0].terms.values())))
    before = len(waiting) + 1
    while len(waiting) < before:
        before, left = len(waiting), list[tuple[Form, Instruction, int]]()
        for size, argument, axis in waiting:
            unknown = [atom for atom in size.terms if atom not in found]
            if len(unknown) > 1:
                left.append((size, argument, axis))
            elif unknown:
                (atom,) = unknown
                factor = size.terms[atom]
                found[atom] = _Told(argument, axis, factor, size - Form(0, {atom: factor}))
        waiting = left
    return found
