"""A computation that is being changed: its root, and who reads whom at the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from ops.hlo.errors import EditError
from ops.hlo.module import Computation, Instruction, detached_instruction, with_copies
from simplifier.tools.postorder import CircleError, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_N = TypeVar("_N", Instruction, Computation)

CONTROL: Final = "control-predecessors"


class ComputationDraft:
    """The instructions of a computation with their operands and users, as they are by now.

    A change takes time for the uses that it changes, however large the computation is.
    """

    __slots__ = ("_instead", "_names", "_users", "computation", "operands", "root")

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.root = computation.root
        self.operands: dict[Instruction, list[Instruction]] = {}
        self._users: dict[Instruction, dict[Instruction, list[int]]] = {}
        self._names = UnusedNames()
        self._instead: dict[Instruction, tuple[Instruction, ...]] = {}
        for each in computation.instructions:
            self._names.take(each.name)
            self.add(each)

    def users(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that read this one, each once."""
        return tuple(self._users[instruction])

    def is_used(self, instruction: Instruction) -> bool:
        """Whether something reads the instruction, or it is the result."""
        return bool(self._users[instruction]) or self.root is instruction

    def unused_name(self, stem: str) -> str:
        """A name that no instruction has or had."""
        return self._names.like(stem)

    def add(self, instruction: Instruction) -> None:
        """Take in an instruction, of which all operands are there."""
        self.operands[instruction] = [*instruction.operands]
        self._users[instruction] = {}
        for place, operand in enumerate(instruction.operands):
            self._users[operand].setdefault(instruction, []).append(place)

    def replace_uses(
        self, old: Instruction, new: Instruction, users: Iterable[Instruction]
    ) -> None:
        """Let some users of an instruction read another one."""
        for user in users:
            places = self._users[old].pop(user, [])
            for place in places:
                self.operands[user][place] = new
            if places:
                self._users[new].setdefault(user, []).extend(places)

    def discard(
        self, instruction: Instruction, instead: tuple[Instruction, ...] | None = None
    ) -> list[Instruction]:
        """Take out an instruction that nothing reads; the operands that nothing else reads.

        Who waited for it waits for those ``instead`` of it, or for what it waited for.
        """
        operands = dict.fromkeys(self.operands.pop(instruction))
        del self._users[instruction]
        for operand in operands:
            del self._users[operand][instruction]
        waits = instruction.attributes.get(CONTROL, ())
        self._instead[instruction] = waits if instead is None else instead
        return [operand for operand in operands if not self.is_used(operand)]

    def predecessors(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that one waits for by now, without reading them."""
        found: dict[Instruction, None] = {}
        waiting: list[Instruction] = [*instruction.attributes.get(CONTROL, ())]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found[each] = None
                waiting += self._instead.get(each, ())
        return tuple(each for each in found if each in self.operands)

    def ordered(self) -> list[Instruction]:
        """The instructions, each after what it reads and waits for, else in their order.

        Raises:
            EditError: some need each other.
        """
        return ordered(self.operands, lambda each: (*self.operands[each], *self.predecessors(each)))

    def built(self, called: Mapping[Computation, Computation]) -> Computation:
        """The changed computation, which calls the new computations.

        Raises:
            EditError: some instructions need each other.
        """
        copies: dict[Instruction, Instruction] = {}
        for each in self.ordered():
            operands = tuple(copies[operand] for operand in self.operands[each])
            waits = tuple(copies[earlier] for earlier in self.predecessors(each))
            copies[each] = copy_of(each, each.name, operands, waits, called)
        name, thread = self.computation.name, self.computation.execution_thread
        return Computation(name, tuple(copies.values()), copies[self.root], thread)


def copy_of(
    instruction: Instruction,
    name: str,
    operands: tuple[Instruction, ...],
    waits: tuple[Instruction, ...],
    called: Mapping[Computation, Computation],
) -> Instruction:
    """A copy that belongs to no computation yet."""
    attributes = {
        key: with_copies(value, called)
        for key, value in instruction.attributes.items()
        if key != CONTROL
    }
    return detached_instruction(
        name,
        instruction.opcode,
        instruction.shape,
        operands,
        attributes | ({CONTROL: waits} if waits else {}),
        instruction.literal,
        instruction.parameter_number,
        instruction.sizes,
    )


class UnusedNames:
    """Names that are taken, and new ones like them."""

    __slots__ = ("_counts", "_taken")

    def __init__(self) -> None:
        self._taken = set[str]()
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> None:
        """Keep a name from being given."""
        self._taken.add(name)

    def like(self, stem: str) -> str:
        """The name itself, or with a number behind it, if it is taken."""
        name, base = stem, stem.rstrip("0123456789").removesuffix(".") or stem
        while name in self._taken:
            self._counts[base] = self._counts.get(base, 0) + 1
            name = f"{base}.{self._counts[base]}"
        self._taken.add(name)
        return name


def ordered(things: Iterable[_N], needs: Callable[[_N], Iterable[_N]]) -> list[_N]:
    """Each thing after what it needs, otherwise in the order given.

    Raises:
        EditError: some need each other.
    """
    try:
        return postorder(things, needs)
    except CircleError as error:
        names = [f"%{each.name}" for each in error.circle]
        shown = names if len(names) < 6 else [*names[:3], "...", *names[-2:]]  # noqa: PLR2004
        message = f"edit: each of these needs the next one: {' -> '.join(shown)}"
        raise EditError(message) from None
