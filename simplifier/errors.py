"""The root of all exceptions, and errors that point into a text.

An error about a text holds a :class:`Span`; printing the error draws the line and a caret
under it.
"""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import Any, Final, ParamSpec, SupportsIndex, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MAX_EXCERPT: Final = 120
"""Characters of a source line that a message shows; longer lines are cut around the caret."""

_MAX_QUOTE: Final = 60
"""Characters of a value or word that a message quotes."""

_MAX_NAMES: Final = 20
"""Names that a message lists."""

INTEGER: Final = (int, SupportsIndex)
"""Types that count as integers; a protocol takes long to ask, and most are ``int``."""

_OF_SEVERAL: Final = (Collection, Iterable, Sequence, Sized)


def quoted(value: object) -> str:
    """A value as Python writes it, cut where it is long.

    >>> quoted("d0"), len(quoted("d0" * 1_000_000))
    ("'d0'", 63)
    """
    try:
        text = repr(value[: _MAX_QUOTE + 1] if isinstance(value, str) else value)
    except (RecursionError, ValueError):  # deeply nested, or with an integer of very many digits
        text = f"a large {type(value).__name__}"
    return beginning_of(text)


def beginning_of(text: str, most: int = _MAX_QUOTE) -> str:
    """A text, without the end of a long one.

    >>> beginning_of("d0"), beginning_of("d0 + s0", 3)
    ('d0', 'd0 ...')
    """
    return text if len(text) <= most else f"{text[:most]}..."


def listed(names: Collection[str], most: int = _MAX_NAMES) -> str:
    """Names for a message: the first of them, and how many more there are.

    >>> listed(["d0", "s0"]), listed([])
    ('d0, s0', 'none')
    """
    first = ", ".join(islice(names, most))
    more = len(names) - most
    return f"{first} and {more} more" if more > 0 else first or "none"


class IndexingError(Exception):
    """Root of every exception that this library raises on purpose.

    A word of hundreds of characters is cut in the message.
    """

    def __str__(self) -> str:
        return _with_short_words(super().__str__())


_LONG_WORD: Final = re.compile(r"\S{300,}")


def _with_short_words(message: str) -> str:
    return _LONG_WORD.sub(lambda word: beginning_of(word[0]), message)


class ArgumentError(IndexingError, TypeError):
    """An argument of another kind than the function takes, such as a text for a module."""


def check_type(value: object, kind: type | tuple[type, ...], what: str, expected: str) -> None:
    """Raise an :class:`ArgumentError` unless a value, ``what``, is of a kind.

    >>> check_type(None, str, "parse: the text", "a string")
    Traceback (most recent call last):
    simplifier.errors.ArgumentError: parse: the text is None; expected a string
    """
    if not isinstance(value, kind) or not _has_rank_of(value, kind):
        raise ArgumentError(f"{what} is {quoted(value)}; expected {expected}")


def _has_rank_of(value: object, kind: type | tuple[type, ...]) -> bool:
    """Whether the rank of a NumPy array fits: it has the methods of integers and of lists."""
    rank: int | None = getattr(value, "ndim", None)
    if not isinstance(rank, int) or (kind is not INTEGER and kind not in _OF_SEVERAL):
        return True
    return (rank == 0) is (kind is INTEGER)


def check_integers(value: object, what: str) -> None:
    """Raise an :class:`ArgumentError` unless a value, ``what``, is a sequence of integers.

    >>> check_integers([3, "x"], "covers: sizes")
    Traceback (most recent call last):
    simplifier.errors.ArgumentError: covers: sizes is [3, 'x']; expected a sequence of integers
    """
    if not _are_integers(value):
        raise ArgumentError(f"{what} is {quoted(value)}; expected a sequence of integers")


def _are_integers(value: object) -> bool:
    if not _has_rank_of(value, Collection) or isinstance(value, (Mapping, AbstractSet)):
        return False
    if not isinstance(value, Collection):
        return False
    items = cast("Collection[object]", value)
    return all(isinstance(item, INTEGER) and _has_rank_of(item, INTEGER) for item in items)


def naming_wrong_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A public function; where it fails by an argument of another type, the error names that.

    Types are those of its annotations, which are looked at only after it failed.

    >>> @naming_wrong_arguments
    ... def digits(number: int) -> int:
    ...     return number.bit_length()
    >>> digits("9")
    Traceback (most recent call last):
    simplifier.errors.ArgumentError: digits: number is '9'; expected int
    """

    @wraps(function)
    def call(*arguments: _P.args, **named: _P.kwargs) -> _R:
        try:
            return function(*arguments, **named)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            was_called = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if was_called and not isinstance(error, IndexingError):
                given = inspect.signature(function).bind(*arguments, **named).arguments
                _check_annotated(function, given)
            raise

    return call


def _check_annotated(function: Any, given: Mapping[str, object]) -> None:  # noqa: ANN401 - of any kind
    """Check the arguments whose annotations are types, or a choice of types."""
    known: dict[str, Any] = {
        **vars(builtins),
        "None": type(None),
        **inspect.unwrap(function).__globals__,
    }
    for name, value in given.items():
        annotation = str(function.__annotations__.get(name))
        words = [part.partition("[")[0] for part in annotation.split(" | ")]
        found = [SupportsIndex if word == "int" else known.get(word) for word in words]
        kinds = [kind for kind in found if isinstance(kind, type)]
        if len(kinds) == len(words):
            check_type(value, tuple(kinds), f"{function.__name__}: {name}", annotation)


class UndecidedError(IndexingError, TypeError):
    """A comparison that can be true or false was used as a condition.

    ``question`` is the comparison as text, such as ``[0, 5] < [3, 9]``.
    """

    def __init__(self, question: str) -> None:
        super().__init__(
            f"{question}: true for some values and false for others; "
            "test `is True` or `is False` instead"
        )
        self.question = question


@dataclass(frozen=True, slots=True)
class Span:
    r"""The characters ``source[start:stop]`` of a text, which may come from the file ``file``.

    >>> span = Span("(d0) ->\n(d1)", 9, 11)
    >>> span.line, span.column
    (2, 2)
    >>> print(span.excerpt())
    (d1)
     ^^
    """

    source: str
    start: int
    stop: int
    file: str = ""

    @property
    def line(self) -> int:
        """Number of the line of the first character, counted from 1."""
        return self.source.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """Number of the first character in its line, counted from 1."""
        return self.start - self._line_start() + 1

    def excerpt(self) -> str:
        """The source line with carets under the span."""
        begin = self._line_start()
        line = self.source[begin:].partition("\n")[0].rstrip("\r")
        offset = self.start - begin
        width = max(1, min(self.stop - self.start, len(line) - offset))
        if len(line) > _MAX_EXCERPT:
            cut = max(0, offset - _MAX_EXCERPT // 2)
            line, offset = line[cut : cut + _MAX_EXCERPT], offset - cut
            width = max(1, min(width, _MAX_EXCERPT - offset))
        return f"{''.join(map(_visible, line))}\n{' ' * offset}{'^' * width}"

    def __str__(self) -> str:
        position = f"{self.line}:{self.column}"
        return f"{self.file}:{position}" if self.file else position

    def _line_start(self) -> int:
        return self.source.rfind("\n", 0, self.start) + 1


def _visible(character: str) -> str:
    """A character for an excerpt, one column wide."""
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


class TextError(IndexingError, ValueError):
    """A text that does not follow its grammar, or says something impossible.

    ``span`` says where, ``message`` what is wrong there and what was expected, ``hint``
    advice or ``""``.

    >>> print(TextError("expected a result", Span("(d0) -> ()", 9, 10)))
    1:10: expected a result
    (d0) -> ()
             ^
    """

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message, span, hint)
        self.message = message
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.span}: {_with_short_words(self.message)}\n{self.span.excerpt()}"
        return f"{text}\nhint: {_with_short_words(self.hint)}" if self.hint else text


class TextWarning(UserWarning):
    """Warning about parts of a text that its reader leaves out, or that may be meant otherwise."""
