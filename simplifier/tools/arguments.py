"""Checks of arguments where callers come in: what was given, to which argument, what was expected.

Inside the library, types are checked before anything runs; callers may be untyped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, SupportsIndex, TypeGuard

from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplifier.errors import IndexingError


@dataclass(frozen=True, slots=True)
class Argument:
    """What an argument must be, in words and as a test."""

    expected: str
    accepts: Callable[[object], bool]

    @classmethod
    def of(cls, expected: str, *types: type) -> Argument:
        """The values of some types."""
        return cls(expected, lambda value: isinstance(value, types))


def check(error: type[IndexingError], kind: Argument, where: str, /, **arguments: object) -> None:
    """Raise an error that names the first argument that is not of a kind.

    >>> from simplifier import IndexingError
    >>> check(IndexingError, TEXT, "parse_expr", text=None)
    Traceback (most recent call last):
    simplifier.errors.IndexingError: parse_expr: text is None; expected a string
    """
    for name, value in arguments.items():
        if not kind.accepts(value):
            raise error(f"{where}: {name} is {quoted(value)}; expected {kind.expected}")


def _is_sequence(value: object) -> bool:
    """Whether it can be counted and gone through; so can arrays, but a text is none."""
    return isinstance(value, Collection) and not isinstance(value, str | Mapping)


def _are_integers(value: object) -> bool:
    return _is_iterable(value) and all(isinstance(item, SupportsIndex) for item in value)


def _is_iterable(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping)


MAPPING: Final = Argument.of("a mapping from names", Mapping)
TEXT: Final = Argument.of("a string", str)
ITERABLE: Final = Argument("a sequence", _is_iterable)
SEQUENCE: Final = Argument("a sequence", _is_sequence)
INTEGERS: Final = Argument(
    "a sequence of integers", lambda value: _is_sequence(value) and _are_integers(value)
)
