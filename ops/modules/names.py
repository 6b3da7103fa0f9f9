"""Instructions by the names that the text gives them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.hlo import HloModule, Instruction


class NoSuchInstructionError(IndexingError, LookupError):
    """A name that no instruction has: ``near`` are names that some have, ``where`` the files."""

    def __init__(self, name: str, near: Sequence[str] = (), where: str = "") -> None:
        super().__init__(name, near, where)
        self.name = name
        self.near = near
        self.where = where

    @classmethod
    def in_module(cls, name: str, module: HloModule) -> NoSuchInstructionError:
        """What is said of a module without such an instruction."""
        near = get_close_matches(name, [instruction.name for instruction in module.instructions])
        return cls(name, tuple(near), module.file)

    def __str__(self) -> str:
        hint = f"\nhint: there is {', '.join(f'%{other}' for other in self.near)}"
        where = f"{self.where}: " if self.where else ""
        return f"{where}no instruction is called %{self.name}{hint if self.near else ''}"


class AmbiguousNameError(IndexingError, LookupError):
    """A name that instructions of several computations have, those named ``homes``."""

    def __init__(self, name: str, homes: Sequence[str]) -> None:
        super().__init__(name, homes)
        self.name = name
        self.homes = homes

    def __str__(self) -> str:
        homes = ", ".join(f"%{home}" for home in self.homes)
        return f"instructions of {homes} are called %{self.name}; expected one of them"


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
        raise NoSuchInstructionError.in_module(bare, module)
    return found


def instruction_named(module: HloModule, name: str) -> Instruction:
    """The only instruction of a name.

    Raises:
        NoSuchInstructionError: there is none.
        AmbiguousNameError: there is one in each of several computations.
    """
    first, *others = instructions_named(module, name)
    if others:
        homes = [each.computation.name for each in (first, *others)]
        raise AmbiguousNameError(first.name, homes)
    return first
