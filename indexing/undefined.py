"""The map that does not exist: why it does not, and that nothing built on it exists either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from indexing.errors import MapError
from indexing.map import IndexingMap

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD: Final = "UNDEFINED"


class UndefinedMap(IndexingMap):
    """A map that could not be told, with the reason, in place of a guess.

    What is made of it, by composition, simplification, renaming and so on, is the undefined map
    itself. It has no variables, results or points: a question after them raises a
    :class:`MapError` with the reason. Equal to an undefined map with the same reason; prints
    and parses as ``UNDEFINED: reason``.

    Args:
        reason: why there is no map, on one line; other white space becomes blanks.

    >>> nobody_knows = UndefinedMap("the layout of the operand is not known")
    >>> print(IndexingMap.identity([4]).compose(nobody_knows))
    UNDEFINED: the layout of the operand is not known
    >>> nobody_knows.dims
    Traceback (most recent call last):
    indexing.errors.MapError: the map is undefined: the layout of the operand is not known
    """

    __slots__ = ("_reason",)

    _reason: str

    def __init__(self, reason: str = "") -> None:
        self._reason = " ".join(reason.split())

    @property
    def reason(self) -> str:
        """Why there is no map; empty if nobody said."""
        return self._reason

    @property
    def is_undefined(self) -> bool:
        """Always: there is no map."""
        return True

    @property
    def domain(self) -> NoReturn:
        """Not there: raises a :class:`MapError` with the reason."""
        raise self._error()

    @property
    def forms(self) -> NoReturn:
        """Not there: raises a :class:`MapError` with the reason."""
        raise self._error()

    def _error(self) -> MapError:
        return MapError(": ".join(filter(None, ("the map is undefined", self._reason))))

    def _itself(self: IndexingMap, *_: object, **__: object) -> IndexingMap:
        """The undefined map: nothing can be made of it."""
        return self

    simplify = with_constraint = _itself
    without_unused_variables = without_unused_symbols = _itself
    ranges_to_dims = symbols_to_dims = rescale_symbols = rename = substitute = _itself
    select_results = _itself

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexingMap):
            return NotImplemented
        return isinstance(other, UndefinedMap) and self._reason == other._reason

    def __hash__(self) -> int:
        return hash((_WORD, self._reason))

    def __reduce__(self) -> tuple[Callable[..., UndefinedMap], tuple[object, ...]]:
        return UndefinedMap, (self._reason,)

    def __str__(self) -> str:
        return ": ".join(filter(None, (_WORD, self._reason)))

    def __repr__(self) -> str:
        return f"UndefinedMap({self._reason!r})"


def read_undefined(text: str) -> UndefinedMap | None:
    """The undefined map that a text is; ``None`` if it is none.

    >>> read_undefined("UNDEFINED: a sort")
    UndefinedMap('a sort')
    """
    word, _, reason = text.partition(":")
    return UndefinedMap(reason) if word.strip() == _WORD else None
