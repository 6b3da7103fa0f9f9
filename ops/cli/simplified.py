"""Texts of maps and of expressions, and their smallest forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from indexing import parse_map
from ops.cli.documents import Row
from ops.cli.module_questions import read_input
from ops.cli.reports import MapReport
from simplifier import format_expr
from simplifier.errors import IndexingError, Span, TextError
from simplifier.expr.form import natural_order, variables_of
from simplifier.expr.parser import parse_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from ops.cli.documents import Fields


@dataclass(frozen=True, slots=True)
class ExpressionReport(Row):
    """An expression by itself."""

    expression: str

    def text(self) -> str:
        """The expression."""
        return self.expression

    def fields(self) -> Fields:
        """The expression."""
        return {"expression": self.expression}


# Texts.

_SEPARATOR: Final = re.compile(r"^---[ \t\r]*$", re.MULTILINE)


def spans_of_file(file: str) -> list[Span]:
    """The texts between lines of ``---`` in a file or standard input, without blank ones.

    Raises:
        HloFileError: there is no such file, or it is not text.
    """
    return _spans(*read_input(file))


def spans_of_texts(texts: Sequence[str]) -> list[Span]:
    """The same of texts that are arguments."""
    return [span for text in texts for span in _spans(text, "")]


def _spans(text: str, name: str) -> list[Span]:
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(text))]
    stops = [*(match.start() for match in _SEPARATOR.finditer(text)), len(text)]
    ends = zip(starts, stops, strict=True)
    return [Span(text, *span, name) for span in ends if text[slice(*span)].strip()]


def simplified(span: Span) -> MapReport | ExpressionReport:
    """The smallest form of a map or an expression.

    Raises:
        TextError: the text is neither.
    """
    text = span.source[span.start : span.stop]
    if "->" in text:
        return MapReport(_read(text, span, 0, len(text)).simplify())
    return ExpressionReport(_simplified_expression(text, span))


_DOMAIN: Final = re.compile(r"\s*,?\s*domain\s*:\s*")


def _simplified_expression(text: str, span: Span) -> str:
    """An expression, which ``domain:`` and what is known of its variables may stand behind.

    They are read as a map of one result from all of its variables.
    """
    known = _DOMAIN.search(text)
    expression = text[: known.start()] if known else text
    facts = text[known.end() :].strip().rstrip(".") if known else ""
    try:
        variables = variables_of((parse_form(expression),))
    except TextError as error:
        raise _moved(error, span, 0) from None
    names = sorted(variables, key=natural_order)
    head = f"({', '.join(names)}) -> ("
    bounds = ", ".join(f"{name} in [-inf, inf]" for name in names)
    begin = f"{head}{' '.join(expression.split())}), domain: {bounds}"
    whole = f"{begin}, {facts}" if facts and names else begin
    at = known.end() if known else 0
    found = _read(whole, span, at - len(begin) - 2, at)
    return format_expr(found.simplify().results[0])


def _read(text: str, span: Span, shift: int, least: int) -> IndexingMap:
    """The map from its text, which stands in the span, moved by so many characters.

    Raises:
        TextError: the text is no map.
    """
    try:
        return parse_map(text)
    except TextError as error:
        raise _moved(error, span, shift) from None
    except IndexingError as error:
        raise TextError(str(error), replace(span, start=span.start + least)) from None


def _moved(error: TextError, span: Span, shift: int) -> TextError:
    """The error at its place in the whole text."""
    ends = (
        max(span.start, span.start + end + shift) for end in (error.span.start, error.span.stop)
    )
    start, stop = (min(end, span.stop) for end in ends)
    return TextError(error.message, replace(span, start=start, stop=stop), error.hint)
