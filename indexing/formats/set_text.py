"""The text of sets: ``(d0, d1)<N>: d0 in [0, N - 1], d1 in [1, 9] step 2 or d0 in [40, 40]``.

Alternatives are joined by ``or``. What an alternative does not limit is unbounded. A condition such
as ``d0 < d1`` may stand for an interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexing.domain import Domain
from indexing.formats.text import read_declarations, read_ends
from indexing.symbolic_bounds import limits
from indexing.variable import Variable
from simplifier import Interval
from simplifier.bounds.facts import facts_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.expression_lexer import ExpressionLexer
from simplifier.expr.parser import read_expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indexing.domain import Constraint
    from simplifier.expr.form import Form


class ReadSet(NamedTuple):
    """The variables of a set, without bounds, and a domain for each alternative."""

    hull: Domain
    pieces: tuple[Domain, ...]


def read_set_text(text: str, file: str = "") -> ReadSet:
    """The set that a text describes.

    Raises:
        TextError: with line, column, and a caret under the place.
    """
    lexer = ExpressionLexer(text, file)
    coordinates, ranges, runtime, parameters = read_declarations(lexer)
    if ranges:
        raise lexer.error("a set has no ranges", hint="expected such as (d0, d1){rt0}<N>")
    roles = (_open(coordinates), (), _open(runtime), (), _open(parameters))
    hull = Domain.of(*roles)
    if not lexer.text:
        return ReadSet(hull, (hull,))
    lexer.expect(":", "before the limits")
    if lexer.accept("EMPTY"):
        lexer.finish()
        return ReadSet(hull, ())
    known = hull.by_name
    ends = {name: known[name] for name in parameters}
    pieces = [_read_alternative(lexer, hull, ends)]
    while lexer.accept("or"):
        pieces.append(_read_alternative(lexer, hull, ends))
    lexer.finish()
    return ReadSet(hull, tuple(pieces))


def _open(names: Mapping[str, None]) -> list[Variable]:
    return [Variable(Interval(None, None), name) for name in names]


def _read_alternative(lexer: ExpressionLexer, hull: Domain, ends: Mapping[str, Form]) -> Domain:
    constraints = [*_read_limits(lexer, hull, ends)]
    while lexer.accept(","):
        constraints += _read_limits(lexer, hull, ends)
    return hull.constrained(constraints)


def _read_limits(
    lexer: ExpressionLexer, hull: Domain, ends: Mapping[str, Form]
) -> Iterator[Constraint]:
    """``d0 in [0, 9]``, ``d0 in [0, 18] step 2``, or a condition."""
    form = read_expression(lexer, hull.by_name, takes_conditions=True)
    if lexer.text != "in":
        yield from facts_of(form)
        return
    found = read_ends(lexer, ends)
    interval, others = limits(form, found)
    yield form, interval
    yield from others
    if lexer.accept("step"):
        yield _read_step(lexer, form, found.lower if found.lower is not None else found.upper)


def _read_step(lexer: ExpressionLexer, form: Form, start: Form | None) -> Constraint:
    span = lexer.span
    step = lexer.integer()
    if step < 1 or start is None:
        message = "a step needs an end to count from" if start is None else "a step of 0"
        raise lexer.error(message, span, "expected such as [0, 18] step 2")
    apart = form - start
    return operations.mod(apart, forms.constant(step)), Interval(0, 0)
