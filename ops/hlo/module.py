"""What HLO text says, as values: :class:`HloModule`, its computations and their instructions.

A module is a view of its text and never changes. Instructions and computations belong to one
module, and two of them are equal only if they are the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from simplifier.errors import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indexing.layout import Shape
    from ops.hlo.literal import Literal

NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Instruction:
    """One operation on values: ``%sum = f32[4]{0} add(%a, %b)``.

    ``attributes`` are keyed by their names in HLO; a called computation is a :class:`Computation`.
    ``literal`` is the value of a constant, ``parameter_number`` the number of a parameter. The
    instruction is ``source[start:stop]`` of the text of its module.
    """

    name: str
    opcode: str
    shape: Shape
    operands: tuple[Instruction, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    literal: Literal | None = None
    parameter_number: int | None = None
    start: int = 0
    stop: int = 0
    computation: Computation = field(init=False)

    @property
    def is_root(self) -> bool:
        """Whether the value is the result of the computation."""
        return self.computation.root is self

    @property
    def span(self) -> Span:
        """The place of the instruction in the text, for messages."""
        module = self.computation.module
        return Span(module.source, self.start, self.stop, module.file)

    @property
    def computations(self) -> tuple[Computation, ...]:
        """The computations among the attributes, in order."""
        parts: list[object] = []
        for value in self.attributes.values():
            parts += cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        return tuple(part for part in parts if isinstance(part, Computation))

    def __str__(self) -> str:
        from ops.hlo.printer import instruction_text  # noqa: PLC0415  (printing is a layer above what is printed)

        return instruction_text(self)

    @property
    def definition(self) -> str:
        """The text without attributes, and without the values of a large constant."""
        from ops.hlo.printer import definition_text  # noqa: PLC0415

        return definition_text(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _instruction_of, (self.computation, self.computation.instructions.index(self))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Computation:
    """Instructions in their order, each after its operands, and the one that gives the result.

    ``parameters`` are in the order of their numbers.
    """

    name: str
    instructions: tuple[Instruction, ...]
    root: Instruction
    execution_thread: str = "main"
    parameters: tuple[Instruction, ...] = field(init=False)
    module: HloModule = field(init=False)

    def __post_init__(self) -> None:
        for instruction in self.instructions:
            object.__setattr__(instruction, "computation", self)
        numbered = [(i.parameter_number, i) for i in self.instructions]
        found = {number: i for number, i in numbered if number is not None}
        object.__setattr__(self, "parameters", tuple(found[number] for number in sorted(found)))

    @property
    def is_entry(self) -> bool:
        """Whether the program begins here."""
        return self.module.entry is self

    def __str__(self) -> str:
        from ops.hlo.printer import computation_text  # noqa: PLC0415

        return computation_text(self)

    def __repr__(self) -> str:
        return f"<computation %{self.name} of {len(self.instructions)} instructions>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _computation_of, (self.module, self.module.computations.index(self))


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class HloModule:
    """A program: its computations, callees before their callers, and the entry among them.

    ``source`` is the text it was read from and ``file`` where that came from. ``tables`` are the
    tables of source places that ``stack_frame_id`` in the metadata of instructions points into.

    >>> from ops.hlo import parse
    >>> module = parse("HloModule m ENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }")
    >>> module.name, module.entry.root.opcode, module.entry.root.operands
    ('m', 'negate', (<%a = f32[2]{0} parameter(0)>,))
    """

    name: str
    computations: tuple[Computation, ...]
    entry: Computation
    attributes: Mapping[str, Any]
    source: str
    file: str = ""
    tables: Mapping[str, Mapping[int, str | Mapping[str, int]]] = field(
        default_factory=lambda: NO_ATTRIBUTES
    )

    def __post_init__(self) -> None:
        for computation in self.computations:
            object.__setattr__(computation, "module", self)

    @property
    def instructions(self) -> Iterator[Instruction]:
        """The instructions of all computations, in order."""
        return (
            instruction
            for computation in self.computations
            for instruction in computation.instructions
        )

    def __str__(self) -> str:
        from ops.hlo.printer import module_text  # noqa: PLC0415

        return module_text(self)

    def __repr__(self) -> str:
        return f"<HLO module {self.name} of {len(self.computations)} computations>"

    def __reduce__(self) -> tuple[Any, ...]:
        from ops.hlo.pickles import packed  # noqa: PLC0415  (reading is a layer above what is read)

        return packed(self)


def _computation_of(module: HloModule, position: int) -> Computation:
    return module.computations[position]


def _instruction_of(computation: Computation, position: int) -> Instruction:
    return computation.instructions[position]
