"""Statements about integers as text: ``A <= B and B < A + c``, ``0 <= x <= 63``.

The sides are expressions as :mod:`simplifier.expr.parser` reads them, so what laws say is data that
programs can read, too. A statement is a conjunction of comparisons; comparisons may be chained.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simplifier.bounds.interval import Interval
from simplifier.errors import Span, TextError
from simplifier.expr.form import Form, variables_of
from simplifier.expr.parser import parse_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

RELATIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_RELATION: Final = re.compile("|".join(RELATIONS))
_AND: Final = re.compile(r"\band\b")


class Comparison(NamedTuple):
    """``left relation right``."""

    left: Form
    relation: str
    right: Form

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    def interval(self) -> tuple[Form, Interval]:
        """The form that lies in an interval, where the other side is a constant.

        >>> form, interval = statement("x > 3")[0].interval()
        >>> str(form), interval.lower, interval.upper
        ('x', 4, None)
        """
        difference = self.left - self.right
        form, limit = Form(0, difference.terms), -difference.constant
        lower = {"==": limit, ">=": limit, ">": limit + 1}.get(self.relation)
        upper = {"==": limit, "<=": limit, "<": limit - 1}.get(self.relation)
        if self.left.is_constant:
            form, lower, upper = -form, _negated(upper), _negated(lower)
        return form, Interval(lower, upper)


def _negated(end: int | None) -> int | None:
    return None if end is None else -end


def statement(text: str) -> tuple[Comparison, ...]:
    """The comparisons that a text joins; an empty text says nothing.

    Raises:
        TextError: where a part compares nothing, or a side is not an expression.

    >>> [str(comparison) for comparison in statement("0 <= x < 8 and y == 2 * x")]
    ['0 <= x', 'x < 8', 'y == x * 2']
    """
    if not text.strip():
        return ()
    return tuple(
        comparison
        for start, stop in _between(_AND, text, 0, len(text))
        for comparison in _chain(text, start, stop)
    )


def _chain(text: str, start: int, stop: int) -> list[Comparison]:
    """``a <= b < c`` as two comparisons."""
    relations = [match[0] for match in _RELATION.finditer(text, start, stop)]
    if not relations:
        raise TextError("expected a comparison", Span(text, start, stop))
    sides = [_side(text, *place) for place in _between(_RELATION, text, start, stop)]
    return [Comparison(*parts) for parts in zip(sides[:-1], relations, sides[1:], strict=True)]


def _side(text: str, start: int, stop: int) -> Form:
    try:
        return parse_form(text[start:stop])
    except TextError as error:
        place = Span(text, start + error.span.start, start + error.span.stop)
        raise TextError(error.message, place, error.hint) from None


def _between(
    separator: re.Pattern[str], text: str, start: int, stop: int
) -> Iterator[tuple[int, int]]:
    """The places of what stands between the separators."""
    for match in separator.finditer(text, start, stop):
        yield start, match.start()
        start = match.end()
    yield start, stop


def variables_in(comparisons: tuple[Comparison, ...]) -> tuple[str, ...]:
    """The names that occur, in the order of the alphabet."""
    sides = [side for comparison in comparisons for side in (comparison.left, comparison.right)]
    return tuple(sorted(variables_of(sides)))
