"""Symbol tables: the instructions and computations that are defined so far, by name."""

from __future__ import annotations

from dataclasses import dataclass, field

from ops.hlo.module import Computation, Instruction


@dataclass(slots=True)
class InstructionTable:
    """The instructions of the computation that is being read.

    In a scrap, a text of instructions without a computation, operands need not be defined.
    """

    is_scrap: bool = False
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    by_name: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    parameters: dict[int, Instruction] = field(default_factory=dict[int, Instruction])
    root: Instruction | None = None
    _given: set[str] = field(default_factory=set[str])

    @property
    def result(self) -> Instruction:
        """The root: the last instruction, unless the text names another one."""
        return self.root or self.instructions[-1]

    def add(self, instruction: Instruction) -> None:
        """Define an instruction; its name is new."""
        self.instructions.append(instruction)
        self.by_name[instruction.name] = instruction
        if instruction.parameter_number is not None:
            self.parameters[instruction.parameter_number] = instruction

    def unused_name(self, stem: str) -> str:
        """A name for an instruction without one; it is not given to another one, defined or not."""
        name, count = stem, len(self.instructions)
        while name in self.by_name or name in self._given:
            name, count = f"{stem}.{count}", count + 1
        self._given.add(name)
        return name


@dataclass(slots=True)
class ComputationTable:
    """The computations of the module that is being read; some have no name in the text."""

    computations: list[Computation] = field(default_factory=list[Computation])
    by_name: dict[str, Computation] = field(default_factory=dict[str, Computation])
    entry: Computation | None = None
    _unnamed: dict[str, int] = field(default_factory=dict[str, int])

    def unused_name(self, stem: str) -> str:
        """A name for a computation without one."""
        count = self._unnamed[stem] = self._unnamed.get(stem, -1) + 1
        return f"{stem}.{count}" if count else stem
