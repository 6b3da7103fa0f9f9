"""Instructions of HLO made one after the other, with names that no other one has.

Frontends use it: what they read becomes such instructions.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import TYPE_CHECKING, Any, Final, Self

from indexing.layout import ElementType, Shape
from indexing.layout.shape import SHAPE_TYPES
from ops.hlo.module import Computation, Instruction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.literal import Literal
    from ops.sizes import Size


class InstructionBuilder:
    """The instructions of a computation so far, and the computations that they call."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.computations: list[Computation] = []
        self._folds: dict[tuple[str, ElementType], Computation] = {}
        self._names: Counter[str] = Counter()
        self._called_names: Counter[str] = Counter()

    def nested(self, *, own_names: bool = False) -> Self:
        """A builder for a computation that is called in the same module.

        With ``own_names``, its instructions may have the names of those in other computations.
        """
        inside = copy(self)
        inside.instructions = []
        if own_names:
            inside._names = Counter()  # noqa: SLF001 - of the same class
        return inside

    def made(  # noqa: PLR0913 - the fields of an instruction
        self,
        opcode: str,
        shape: Shape,
        sizes: tuple[tuple[Size, ...], ...] | None,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        literal: Literal | None = None,
        number: int | None = None,
        name: str = "",
        place: tuple[int, int] = (0, 0),
    ) -> Instruction:
        """An instruction with a name that no other one has; ``place`` is where its text stands."""
        unique = _unused(self._names, legal_name(name or opcode), is_numbered=not name)
        fields = (unique, opcode, shape, tuple(operands), attributes or {}, literal, number)
        made = Instruction(*fields, *place, sizes=sizes)
        self.instructions.append(made)
        return made

    def fold(self, opcode: str, shape: Shape) -> Computation:
        """The computation of a fold, on scalars; that of ``second`` gives its second operand."""
        key = opcode, shape.element_type
        if key not in self._folds:
            scalar = Shape(shape.element_type)
            one, other = pair = tuple(
                Instruction(name, "parameter", scalar, parameter_number=number)
                for number, name in enumerate("ab")
            )
            made = () if opcode == "second" else (Instruction("r", opcode, scalar, (one, other)),)
            self._folds[key] = self.computation(f"{opcode}_{shape.element_type}", (*pair, *made))
        return self._folds[key]

    def computation(
        self, name: str, instructions: Sequence[Instruction], root: Instruction | None = None
    ) -> Computation:
        """A computation that others call; without a ``root``, the last instruction is it."""
        unique = _unused(self._called_names, name)
        made = Computation(unique, tuple(instructions), root or instructions[-1])
        self.computations.append(made)
        return made


def legal_name(name: str) -> str:
    """A name that XLA takes: words of its language are none, and ``__`` begins its own.

    >>> legal_name("pred"), legal_name("__x"), legal_name("add.1")
    ('pred_', 'a_x', 'add.1')
    """
    if name in _WORDS:
        return f"{name}_"
    return f"a{name[1:]}" if name.startswith("__") and not name.startswith("__xla_") else name


_MODULE_WORDS: Final = """HloModule ENTRY ROOT true false inf nan replicated maximal manual shard_as
shard_like last_tile_dim_replicate unknown unreduced"""

_WORDS: Final = {*SHAPE_TYPES, *_MODULE_WORDS.split()}
"""Of the language of HLO: types cannot name instructions, and none of them names a module."""


def _unused(names: Counter[str], base: str, *, is_numbered: bool = False) -> str:
    """A name, or the first one with a number behind it that is not taken; now it is."""
    while True:
        names[base] += 1
        if names[base] == 1 and not is_numbered:
            return base
        found = f"{base}.{names[base]}"
        if not names[found]:
            names[found] += 1
            return found
