"""Instructions that move into a computation of their own: what they read, and who reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexing.layout import Shape
from ops.hlo.draft import ComputationDraft, UnusedNames, copy_of, ordered
from ops.hlo.module import Computation, Instruction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Outline(NamedTuple):
    """The instructions inside, each after its operands; what they read of the outside; and results.

    Results are what the outside reads, or the last one if it reads nothing. What neither leads to
    them nor ``stays`` is not ``copied``. ``waits`` are those outside that some inside wait for.
    """

    draft: ComputationDraft
    inside: Mapping[Instruction, None]
    copied: tuple[Instruction, ...]
    outside: tuple[Instruction, ...]
    results: tuple[Instruction, ...]
    waits: tuple[Instruction, ...]

    @classmethod
    def around(
        cls,
        draft: ComputationDraft,
        chosen: Iterable[Instruction],
        stays: Callable[[Instruction], bool],
    ) -> Outline:
        """The outline of some instructions of a computation."""
        wanted = dict.fromkeys(chosen)

        def needed(each: Instruction) -> Iterable[Instruction]:
            before = (*draft.operands[each], *draft.predecessors(each))
            return filter(wanted.__contains__, before)

        inside = dict.fromkeys(ordered(wanted, needed))
        results = tuple(
            each
            for each in inside
            if draft.root is each or any(user not in inside for user in draft.users(each))
        )
        results = results or ([*inside][-1],)
        needed_inside = {*ordered((*filter(stays, inside), *results), needed)}
        copied = tuple(filter(needed_inside.__contains__, inside))
        reads = (operand for each in copied for operand in draft.operands[each])
        earlier = (before for each in copied for before in draft.predecessors(each))
        outside, waits = (
            tuple(dict.fromkeys(each for each in others if each not in inside))
            for others in (reads, earlier)
        )
        return cls(draft, inside, copied, outside, results, waits)

    def readers(self, result: Instruction) -> tuple[Instruction, ...]:
        """The instructions outside that read a result."""
        return tuple(user for user in self.draft.users(result) if user not in self.inside)

    def body(self, name: str) -> Computation:
        """The computation of copies, with a parameter for each operand outside."""
        names, copies = UnusedNames(), dict[Instruction, Instruction]()
        for number, operand in enumerate(self.outside):
            known = names.like(f"param_{number}")
            copies[operand] = Instruction(
                known, "parameter", operand.shape, parameter_number=number
            )
        for each in self.copied:
            reads = tuple(copies[operand] for operand in self.draft.operands[each])
            earlier = filter(self.inside.__contains__, self.draft.predecessors(each))
            waits = tuple(copies[before] for before in earlier)
            copies[each] = copy_of(each, names.like(each.name), reads, waits, {})
        results = tuple(copies[each] for each in self.results)
        if len(results) == 1:
            return Computation(name, tuple(copies.values()), results[0])
        shape = Shape.of_tuple(each.shape for each in results)
        root = Instruction(names.like("tuple"), "tuple", shape, results)
        return Computation(name, (*copies.values(), root), root)
