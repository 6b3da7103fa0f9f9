"""Errors in the text of a module, and of its file."""

from __future__ import annotations

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


class DetachedError(IndexingError, LookupError):
    """A question about the surroundings of an instruction or computation that has none."""


class AttributeValueError(IndexingError, ValueError):
    """An attribute or an instruction that makes no sense, such as a stride of 0."""
