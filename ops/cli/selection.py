"""Which instructions of a module a command is about: by name, computation and opcode."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ops.hlo.errors import NoSuchComputationError, NoSuchInstructionError
from ops.hlo.names import check_opcode, near_names
from ops.performance.kernels import kernels_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ops.fusion import Fusion
    from ops.hlo import HloModule, Instruction


@dataclass(frozen=True, slots=True)
class Selection:
    """Instructions that match one of the patterns of each kind; without patterns, any.

    In a pattern, ``*`` is any text, ``?`` any character, and ``[12]`` one of some.

    >>> from ops.hlo import load
    >>> module = load("examples/softmax.hlo")
    >>> [each.name for each in Selection(("*fusion",), opcodes=("fusion",)).of(module)]
    ['ynn_fusion', 'broadcast_divide_fusion', 'broadcast_multiply_fusion']
    """

    instructions: Sequence[str] = ()
    computations: Sequence[str] = ()
    opcodes: Sequence[str] = ()

    @property
    def is_everything(self) -> bool:
        """Whether no instruction is left out."""
        return not (self.instructions or self.computations or self.opcodes)

    def of(self, module: HloModule) -> tuple[Instruction, ...]:
        """The instructions of a module that are meant, in order.

        Raises:
            NoSuchInstructionError, NoSuchComputationError: nothing has a name like a pattern.
            ArgumentError: there is no such opcode.
        """
        self.check(module)
        return tuple(filter(self.has, module.instructions))

    def kernels(self, module: HloModule) -> Iterator[Fusion]:
        """What runs as one kernel each, of the instructions that are meant.

        Raises:
            NoSuchInstructionError, NoSuchComputationError, ArgumentError: as :meth:`of`.
        """
        self.check(module)
        return (each for each in kernels_of(module) if self.has(each.roots[0]))

    def check(self, module: HloModule) -> None:
        """Raise an error if nothing in the module has a name like one of the patterns."""
        for opcode in self.opcodes:
            if not _is_pattern(opcode):
                check_opcode(opcode, "--opcode")
        names = {each.name: None for each in module.instructions} if self.instructions else ()
        for pattern in self.instructions:
            if not _any_like(pattern, names):
                near = tuple(near_names(_bare(pattern), names))
                raise NoSuchInstructionError(_bare(pattern), near, module.file)
        homes = [each.name for each in module.computations]
        for pattern in self.computations:
            if not _any_like(pattern, homes):
                near = tuple(near_names(_bare(pattern), homes))
                raise NoSuchComputationError(_bare(pattern), near, module.file)

    def has(self, instruction: Instruction) -> bool:
        """Whether an instruction is meant."""
        return (
            _matches(self.instructions, instruction.name)
            and _matches(self.computations, instruction.computation.name)
            and _matches(self.opcodes, instruction.opcode)
        )


def _matches(patterns: Sequence[str], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, _bare(pattern)) for pattern in patterns)


def _any_like(pattern: str, names: Iterable[str]) -> bool:
    return any(fnmatchcase(name, _bare(pattern)) for name in names)


def _bare(pattern: str) -> str:
    return pattern.removeprefix("%")


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")
