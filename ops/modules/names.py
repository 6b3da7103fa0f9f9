"""Instructions by the names that the text gives them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.hlo import HloModule, Instruction


class NoSuchInstructionError(IndexingError, LookupError):
    """A name that no instruction of the module has."""

    def __init__(self, name: str, module: HloModule) -> None:
        near = get_close_matches(name, [instruction.name for instruction in module.instructions])
        hint = f"\nhint: there is {', '.join(f'%{other}' for other in near)}" if near else ""
        where = f"{module.file}: " if module.file else ""
        super().__init__(f"{where}no instruction is called %{name}{hint}")


class AmbiguousNameError(IndexingError, LookupError):
    """A name that instructions of several computations have."""

    def __init__(self, name: str, found: Sequence[Instruction]) -> None:
        homes = ", ".join(f"%{instruction.computation.name}" for instruction in found)
        super().__init__(f"instructions of {homes} are called %{name}; expected one of them")


def instructions_named(module: HloModule, name: str) -> list[Instruction]:
    """The instructions of a name, with or without its percent sign: one in each computation.

    Raises:
        NoSuchInstructionError: there is none.

    >>> from ops import hlo
    >>> module = hlo.parse("ENTRY e { p.1 = f32[] parameter(0) ROOT r = f32[] negate(p.1) }")
    >>> instructions_named(module, "%r")
    [<%r = f32[] negate(%p.1)>]
    >>> instructions_named(module, "p1")
    Traceback (most recent call last):
        ...
    ops.modules.names.NoSuchInstructionError: no instruction is called %p1
    hint: there is %p.1
    """
    bare = name.removeprefix("%")
    found = [instruction for instruction in module.instructions if instruction.name == bare]
    if not found:
        raise NoSuchInstructionError(bare, module)
    return found


def instruction_named(module: HloModule, name: str) -> Instruction:
    """The only instruction of a name.

    Raises:
        NoSuchInstructionError: there is none.
        AmbiguousNameError: there is one in each of several computations.
    """
    first, *others = instructions_named(module, name)
    if others:
        raise AmbiguousNameError(first.name, [first, *others])
    return first
