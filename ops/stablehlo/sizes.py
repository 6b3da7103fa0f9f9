"""Sizes that a program computes: those of ``jax.export`` with symbolic shapes.

JAX writes such sizes as arithmetic on ``get_dimension_size``. It is followed here, as forms over
the sizes of the arguments, so that arrays of open sizes (``?``) have them. Functions are part of
their callers. JAX names the symbols, ``jax.global_constant``: the sizes are solved for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from indexing.layout import UNBOUNDED_SIZE, Kind, Shape
from indexing.passes import Constraint, parameter_identifier
from ops.hlo.builder import InstructionBuilder
from ops.hlo.module import Instruction
from ops.hlo.shape_inference import sizes_of_result, values_of_result
from ops.index_maps import Size, as_form, plain
from simplifier import forms
from simplifier.forms import AtomKind, Form, Interval

Values = tuple["Size | None", ...]
"""The elements of a small array of integers, as far as they are known."""

RAW: Final = parameter_identifier("size_of_argument_")
"""How identifiers of sizes begin of which no symbol of JAX is known yet."""

_MAX_ELEMENTS: Final = 16
"""Of an array whose values are followed: a shape has as many as dimensions."""


class SizedBuilder(InstructionBuilder):
    """A builder that follows the values of small arrays of integers, and the sizes of arrays.

    It does if some ``is_open``. In programs of JAX, ``keeps_shapes``, no iteration of a loop
    changes a size.
    """

    def __init__(self, *, is_open: bool, keeps_shapes: bool) -> None:
        super().__init__()
        self._is_open = is_open
        self._keeps_shapes = keeps_shapes
        self.facts: dict[Constraint, None] = {}
        self._values: dict[Instruction, Values] = {}

    def made(
        self,
        opcode: str,
        shape: Shape,
        sizes: tuple[tuple[Size, ...], ...] | None,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        **others: Any,  # noqa: ANN401 - those of the builder
    ) -> Instruction:
        """An instruction, of which sizes and values are followed."""
        if not self._is_open:
            return super().made(opcode, shape, sizes, operands, attributes, **others)
        if sizes is None and any(array.dynamic_dimensions for array in shape.arrays):
            sizes = self._rows(opcode, shape, operands, attributes or {})
        made = super().made(opcode, shape, sizes, operands, attributes, **others)
        self._note(made)
        return made

    def sizes(self, instruction: Instruction, element: int = 0) -> Sequence[Size]:
        """The sizes of an array; an open one is :data:`UNBOUNDED_SIZE`."""
        if instruction.sizes is not None:
            return instruction.sizes[element]
        return instruction.shape.arrays[element].dimensions

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar, for the rules of sizes."""
        found = self.values(instruction)
        return UNBOUNDED_SIZE if found is None else found[0]

    def values(self, instruction: Instruction) -> tuple[Size, ...] | None:
        """The elements of an array of integers, if all are known."""
        found = self._values.get(instruction, (None,))
        known = tuple(each for each in found if each is not None)
        return known if len(known) == len(found) else None

    def set_values(self, instruction: Instruction, values: Values) -> None:
        """Set the values that an instruction computes."""
        self._values[instruction] = values

    def _note(self, instruction: Instruction) -> None:
        """Follow the values of an instruction."""
        shape = instruction.shape
        is_small = shape.is_array and shape.rank < 2 and not shape.is_unbounded  # noqa: PLR2004
        if not is_small or shape.element_count > _MAX_ELEMENTS:
            return
        if shape.element_type.kind not in {Kind.SIGNED, Kind.UNSIGNED}:
            return
        found = values_of_result(instruction, self)
        if found is not None and len(found) == shape.element_count:
            self._values[instruction] = tuple(found)

    def _rows(
        self,
        opcode: str,
        shape: Shape,
        operands: Sequence[Instruction],
        attributes: Mapping[str, Any],
    ) -> tuple[tuple[Size, ...], ...] | None:
        """The sizes of the arrays of a result, if all follow."""
        if opcode == "while":
            return operands[0].sizes if self._keeps_shapes else None
        if opcode == "conditional":
            return self._of_branches(Instruction("", opcode, shape, (), attributes))
        if not all(self._is_known(each) for each in operands):
            return None
        made = Instruction("", opcode, shape, tuple(operands), attributes)
        found = sizes_of_result(made, self)
        if len(found) != len(shape.arrays):
            return None
        rows = [*zip(found, shape.arrays, strict=True)]
        if any(len(row) != array.rank for row, array in rows):
            return None
        return closed(
            tuple(
                tuple(
                    known if size == UNBOUNDED_SIZE else size
                    for known, size in zip(row, array.dimensions, strict=True)
                )
                for row, array in rows
            )
        )

    def _of_branches(self, conditional: Instruction) -> tuple[tuple[Size, ...], ...] | None:
        """The sizes of the results of all branches, if those of each are the same."""
        roots = [branch.root for branch in conditional.branches]
        rows = {
            tuple(tuple(self.sizes(root, number)) for number in root.shape.array_indices)
            for root in roots
        }
        return closed(next(iter(rows))) if len(rows) == 1 else None

    def _is_known(self, instruction: Instruction) -> bool:
        arrays = range(len(instruction.shape.arrays))
        return not any(UNBOUNDED_SIZE in self.sizes(instruction, each) for each in arrays)


def closed(rows: Sequence[Sequence[Size | None]]) -> tuple[tuple[Size, ...], ...] | None:
    """Sizes of arrays, if none is open."""
    found = tuple(tuple(size for size in row if size is not None) for row in rows)
    is_closed = all(len(row) == len(given) for row, given in zip(found, rows, strict=True))
    return found if is_closed and all(UNBOUNDED_SIZE not in row for row in found) else None


# Values.


def _of_forms(combine: Callable[[Form, Form], Form]) -> Callable[[Size, Size], Size]:
    return lambda one, other: plain(combine(as_form(one), as_form(other)))


_DIVISIONS: Final[Mapping[str, tuple[Callable[[Size, Size], Size], ...]]] = {
    "divmod": (_of_forms(forms.floordiv), _of_forms(forms.mod)),
    "floor_divide": (_of_forms(forms.floordiv),),
    "remainder": (_of_forms(forms.mod),),
}
"""Functions of JAX that divide and round down; their bodies do it by cases."""


def note_division(
    builder: SizedBuilder,
    function: str,
    operands: Sequence[Instruction],
    results: Sequence[Instruction],
) -> None:
    """Follow the results of a function that JAX divides sizes with."""
    combines = _DIVISIONS.get(re.sub(r"_\d+$", "", function), ())
    values = [builder.values(operand) for operand in operands[-2:]]  # symbols stand before them
    if len(combines) != len(results) or len(values) != 2:  # noqa: PLR2004 - a pair
        return
    one, other = values
    if one is None or other is None or not isinstance(other[0], int) or other[0] < 1:
        return
    for combine, result in zip(combines, results, strict=True):
        builder.set_values(result, (combine(one[0], other[0]),))


# Symbols.


def solved(symbols: Mapping[str, Size], facts: Iterable[Constraint]) -> dict[str, Form]:
    """The sizes of arguments in terms of symbols, from each symbol in terms of sizes.

    Sizes of which no symbol is made are solved for where ``facts`` say that others equal them.
    """
    found = _of_symbols(symbols)
    for form, interval in facts:
        zero = forms.substitute((form,), found)[0]
        sizes = (name for name in forms.variables_of((zero,)) if name.startswith(RAW))
        name = next(sizes, None)
        alone = {} if name is None else forms.variable(name).terms
        coefficient = next((zero.terms.get(atom, 0) for atom in alone), 0)
        if interval == Interval(0, 0) and name is not None and abs(coefficient) == 1:
            found[name] = forms.variable(name) - zero * coefficient
    return found


def _of_symbols(symbols: Mapping[str, Size]) -> dict[str, Form]:
    found: dict[str, Form] = {}
    for name, value in symbols.items():
        form = forms.substitute((as_form(value),), found)[0]
        factor, whole = 1, form
        atom = form.only_atom
        if atom is not None and atom.kind is AtomKind.FLOORDIV and atom.arguments[1].is_constant:
            whole, factor = atom.arguments[0], atom.arguments[1].constant
        known = forms.variable(parameter_identifier(name))
        for unknown, coefficient in whole.terms.items():
            if unknown.kind is AtomKind.VARIABLE and unknown.name.startswith(RAW):
                if coefficient == 1:
                    rest = whole - Form(0, {unknown: 1})
                    found[unknown.name] = known * factor - rest
                break
    return found


def fact(left: Size, right: Size, direction: str) -> Constraint | None:
    """The fact in a comparison of sizes; ``None`` if it always holds."""
    interval = {"EQ": Interval(0, 0), "GE": Interval(0, None)}.get(direction)
    form = as_form(left) - as_form(right)
    is_size = form.constant == -1 and len(form.terms) == 1 and 1 in form.terms.values()
    if interval is None or form.is_constant or (direction == "GE" and is_size):
        return None
    return form, interval
