"""Selection of a command: instructions by name, computation and opcode, and answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from ops.fusion import Fusion
from ops.hlo import Computation, HloModule, Instruction
from ops.hlo.errors import NoSuchComputationError, NoSuchInstructionError
from ops.hlo.opcodes import bare, check_opcode, near_names
from ops.performance.kernels import kernels_of
from simplifier.errors import IndexingError


class MaybeUnknown(Protocol):
    """An answer, or a row of a table."""

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown in it."""
        ...


_Answer = TypeVar("_Answer", bound=MaybeUnknown | IndexingError)


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
    parameters: Sequence[str] = ()
    """Patterns of operands: only reads of these are answered; a fusion's have two names."""
    unknown: bool = False
    """Whether to give only answers in which something is unknown."""
    limit: int | None = None
    """Greatest number of answers about a module."""

    @property
    def is_everything(self) -> bool:
        """Whether no instruction is left out."""
        return not (self.instructions or self.computations or self.opcodes)

    @property
    def whatever_is_read(self) -> Selection:
        """The same instructions, whatever they read."""
        return replace(self, parameters=())

    def of(self, module: HloModule) -> tuple[Instruction, ...]:
        """The instructions of a module that are meant, in order.

        Raises:
            NoSuchInstructionError, NoSuchComputationError: nothing has a name like a pattern.
            ArgumentError: there is no such opcode.
        """
        self.check(module)
        return tuple(
            each
            for each in module.instructions
            if self.has(each) and (not self.parameters or self.reads_some(each.operands))
        )

    def kernels(self, module: HloModule) -> Iterator[Fusion]:
        """The kernels of the selected instructions.

        Raises:
            NoSuchInstructionError, NoSuchComputationError, ArgumentError: as :meth:`of`.
        """
        self.check(module)
        return (
            each
            for each in kernels_of(module)
            if self.has(each.roots[0]) and (not self.parameters or self.reads_some(each.operands))
        )

    def check(self, module: HloModule) -> None:
        """Raise an error if nothing in the module has a name like one of the patterns."""
        for opcode in self.opcodes:
            if not _is_pattern(opcode):
                check_opcode(opcode, "--opcode")
        for patterns in (self.instructions, self.parameters):
            self._check_names(patterns, module.instructions, NoSuchInstructionError, module)
        self._check_names(self.computations, module.computations, NoSuchComputationError, module)

    def check_any(self, modules: Iterable[HloModule]) -> None:
        """Raise an error if none of some modules has anything with a name like a pattern."""
        errors: list[Exception] = []
        for count, module in enumerate(modules, 1):
            try:
                self.check(module)
            except (NoSuchInstructionError, NoSuchComputationError) as error:
                errors.append(error)
            if len(errors) < count:
                return
        raise errors[-1]

    def _check_names(
        self,
        patterns: Sequence[str],
        named: Iterable[Computation | Instruction],
        error: type[NoSuchInstructionError | NoSuchComputationError],
        module: HloModule,
    ) -> None:
        names = [each.name for each in named] if patterns else []
        for pattern in patterns:
            if not any(_matches((pattern,), name) for name in names):
                wanted = bare(pattern, "the pattern")
                raise error(wanted, tuple(near_names(wanted, names)), module.file)

    def has(self, instruction: Instruction) -> bool:
        """Whether an instruction is meant."""
        return (
            _matches(self.instructions, instruction.name)
            and _matches(self.computations, instruction.computation.name)
            and _matches(self.opcodes, instruction.opcode)
        )

    def is_read(self, *names: Instruction) -> bool:
        """Whether answers are about an operand, which has one or several names."""
        return any(_matches(self.parameters, each.name) for each in names)

    def reads_some(self, operands: Iterable[Instruction]) -> bool:
        """Whether one of some operands is meant."""
        return any(map(self.is_read, operands))

    def kept(self, answers: Iterable[_Answer]) -> Iterator[_Answer]:
        """The answers that are asked for, up to the limit; errors are among them."""
        count = 0
        for each in answers:
            if isinstance(each, IndexingError):
                yield each
            elif each.is_unknown or not self.unknown:
                count += 1
                yield each
            if count == self.limit:
                return


def _matches(patterns: Sequence[str], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, bare(each, "the pattern")) for each in patterns)


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")
