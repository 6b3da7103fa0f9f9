"""isl's text of sets and relations: what is checked before isl reads it, and names it can hold."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from simplifier.errors import Span, TextError, beginning_of
from simplifier.exact.isl import load_isl
from simplifier.expr.expression_lexer import is_name

if TYPE_CHECKING:
    import islpy

_MAX_NESTING: Final = 200
"""Nesting of brackets in a text: isl reads them recursively, and would crash the process."""

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_WORDS: Final = frozenset(
    [
        *("and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infinity"),
        *("infty", "max", "min", "mod", "NaN", "not", "or", "rat", "true"),
    ]
)
"""Words that isl does not read as the name of a variable."""

_MAX_SHOWN: Final = 60
"""Characters of a value in a message: one line."""


def isl_set(
    points: str | islpy.Set | islpy.BasicSet, context: islpy.Context, asker: str = "from_isl"
) -> islpy.Set:
    """A set of isl's in a context, with a name neither for itself nor for the parts of its tuples.

    No budget may count in the context: isl takes its end for an error in the text.

    Raises:
        TextError: the text is not isl's.
        MapError: it is something else, or holds rational numbers.
    """
    isl = load_isl()
    if isinstance(points, str):
        check_isl_text(points)
    elif not isinstance(points, isl.Set | isl.BasicSet):
        raise MapError(f"{asker}: {shown(points)} is no set; expected islpy's Set, or isl's text")
    text = str(points)
    try:
        found = isl.Set.read_from_str(context, text).reset_tuple_id().flatten()
    except isl.Error:
        hint = "expected such as { [i, j] : 0 <= i < j }"
        message = "isl does not read this as a set"
        raise TextError(message, Span(text, 0, len(text)), hint) from None
    if any(piece.is_rational() for piece in found.get_basic_sets()):
        raise MapError(f"{asker}: the set has rational numbers; expected integers alone")
    return found


def readable(name: str | None) -> str:
    """The name if both isl's texts and ours can hold it, else an empty one."""
    is_read = name is not None and name.isascii() and is_name(name) and name not in _WORDS
    return name if name is not None and is_read else ""


def shown(value: object) -> str:
    """A value for a message, on one line."""
    text = f"{type(value).__name__} {value}"
    return beginning_of(text, _MAX_SHOWN)


def check_isl_text(text: str) -> None:
    """Refuses what isl rejects without saying where, does not read on, or crashes of."""
    if unreadable := re.search("[\0\ud800-\udfff]", text):
        raise _error(f"unexpected character {unreadable[0]!r}", unreadable)
    for number in re.finditer(r"\d+", text):
        if 0 < sys.get_int_max_str_digits() < len(number[0]):
            raise _error(f"integer of {len(number[0])} digits; Python reads fewer", number)
    opened: list[re.Match[str]] = []
    for mark in re.finditer(r"[()\[\]{}^]", text):
        if mark[0] in _CLOSING:
            opened.append(mark)
        elif mark[0] == "^":
            raise _error("a power; expected the number itself", mark)
        elif not opened or _CLOSING[opened.pop()[0]] != mark[0]:
            raise _error(f"{mark[0]!r} closes nothing", mark)
        if len(opened) > _MAX_NESTING:
            raise _error(f"more than {_MAX_NESTING} brackets in each other", mark)
    if opened:
        raise _error(f"expected a {_CLOSING[opened[-1][0]]!r} for this", opened[-1])


def _error(message: str, mark: re.Match[str]) -> TextError:
    return TextError(message, Span(mark.string, *mark.span()))
