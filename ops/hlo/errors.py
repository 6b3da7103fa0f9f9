"""Errors in the text of a module, of its file, and of names that are looked up in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from simplifier.errors import IndexingError, Span, TextError


class HloTextError(TextError):
    """HLO text that does not follow its grammar, or says something impossible.

    ``instruction`` is the name of the instruction with the error, or ``""`` outside of one.
    """

    def __init__(self, message: str, span: Span, hint: str = "", instruction: str = "") -> None:
        super().__init__(f"%{instruction}: {message}" if instruction else message, span, hint)
        self.instruction = instruction
        self.args = (message, span, hint, instruction)


class HloFileError(IndexingError, OSError):
    """A file that cannot be read as text, or not be written: missing, a folder, or binary."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class RunError(IndexingError, RuntimeError):
    """A module that cannot run here, or arguments that do not fit its parameters."""


class DetachedError(IndexingError, LookupError):
    """A question about the surroundings of an instruction or computation that has none."""


class AttributeValueError(IndexingError, ValueError):
    """An attribute or an instruction that makes no sense, such as a stride of 0."""


class _NoSuchNameError(IndexingError, LookupError):
    """Nothing of a kind has this name; ``near`` are names of others, ``where`` are the files."""

    kind: ClassVar[str]

    def __init__(self, name: str, near: Sequence[str] = (), where: str = "") -> None:
        super().__init__(name, near, where)
        self.name = name
        self.near = near
        self.where = where

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        near = ", ".join(f"%{other}" for other in self.near)
        hint = f"\nhint: there is {near}" if near else ""
        return f"{where}no {self.kind} is called %{self.name}{hint}"


class NoSuchInstructionError(_NoSuchNameError):
    """No instruction has this name; ``near`` are names that some have, ``where`` is the files."""

    kind = "instruction"


class NoSuchComputationError(_NoSuchNameError):
    """No computation has this name; ``near`` are names that some have, ``where`` is the files."""

    kind = "computation"


class AmbiguousNameError(IndexingError, LookupError):
    """Instructions of several computations, the ``homes``, have this name."""

    def __init__(self, name: str, homes: Sequence[str]) -> None:
        super().__init__(name, homes)
        self.name = name
        self.homes = homes

    def __str__(self) -> str:
        homes = ", ".join(f"%{home}" for home in self.homes)
        return f"instructions of {homes} are called %{self.name}; expected one of them"


class EditError(IndexingError, ValueError):
    """A change of a module that would make it say nothing, or something else."""
