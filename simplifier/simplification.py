"""What users ask of an expression: its smallest form, its range, its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.convert import from_sympy, to_sympy
from simplifier.cost import cost_of_form
from simplifier.form import ZERO, Atom, Form, combine, constant, postorder
from simplifier.interval import EMPTY, Interval
from simplifier.operations import rebuilt, replace
from simplifier.problem import Problem
from simplifier.ranges import range_as_written, ranges_as_written
from simplifier.text import format_form, parse_form
from simplifier.writing import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import sympy

    from simplifier.interval import IntervalLike
    from simplifier.scope import Scope


def simplify(
    expression: sympy.Expr | int,
    bounds: Mapping[sympy.Symbol, IntervalLike] | Mapping[str, IntervalLike],
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
) -> sympy.Expr:
    """The cheapest expression found that is equal wherever all bounds and constraints hold.

    Args:
        expression: integer arithmetic of sympy, including ``floor``, ``ceiling``, ``sympy.Mod``,
            ``Min``, ``Max``.
        bounds: for symbols or their names, closed intervals or pairs; a symbol without bounds may
            be any integer that its own assumptions allow.
        constraints: pairs of an expression and the interval that it is known to lie in.

    Returns:
        An expression over the symbols that were given, never costlier than the input; simplifying
        it again changes nothing. Where the bounds leave no value, 0.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.
        BoundsError: bounds that contradict the symbols.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x = symbol("x")
    >>> simplify(8 * FloorDiv(x, 8) + Mod(x, 8), {x: (0, 63)})
    x
    >>> simplify(FloorDiv(x, 64), {"x": (0, 100)}, constraints=[(x, (0, 63))])
    0
    """
    known = tuple(constraints)
    problem = Problem(bounds, [expression, *(constraint for constraint, _ in known)])
    scope = problem.scope(known)
    form = from_sympy(expression)
    return problem.restored(ZERO if scope is None else simplified(scope, form))


def bounds_of(
    expression: sympy.Expr | int,
    bounds: Mapping[sympy.Symbol, IntervalLike] | Mapping[str, IntervalLike],
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
) -> Interval:
    """An interval that holds every value of the expression; arguments as for :func:`simplify`.

    >>> from simplifier import FloorDiv, symbol
    >>> s0, s1 = symbol("s0"), symbol("s1")
    >>> print(bounds_of(s0 + s1 * 32 - FloorDiv(s0, 32) * 32, {s0: (0, 1023), s1: (0, 31)}))
    [0, 1023]
    """
    known = tuple(constraints)
    problem = Problem(bounds, [expression, *(constraint for constraint, _ in known)])
    scope = problem.scope(known)
    return EMPTY if scope is None else range_of(scope, from_sympy(expression))


def cost(expression: sympy.Expr | int) -> int:
    """What the expression costs a reader, as :mod:`simplifier.cost` counts.

    >>> cost(parse_expr("d0 * 8 + s0 mod 3"))
    5
    """
    return cost_of_form(from_sympy(expression))


def parse_expr(text: str) -> sympy.Expr:
    """The expression that a text describes; nothing is simplified.

    Raises:
        TextError: with line, column, and a caret under the place.

    >>> parse_expr("(d0 * 8 + s0) floordiv 3 - d0 % 2")
    ((8*d0 + s0)//3) - (d0 % 2)
    """
    return to_sympy(parse_form(text))


def format_expr(expression: sympy.Expr | int) -> str:
    """The text of an expression, as XLA writes it; ``parse_expr`` reads it back.

    >>> format_expr(parse_expr("d1 + 8 * (d0 // 3) - 1"))
    '(d0 floordiv 3) * 8 + d1 - 1'
    """
    return format_form(from_sympy(expression))


# The same on forms, within a scope.


def simplified(scope: Scope, form: Form) -> Form:
    """The cheapest form found; simplifying it again changes nothing."""
    known = scope.simplified.get(form.key)
    if known is None:
        known = scope.simplified[form.key] = _settled(scope, form)
    return known


def _settled(scope: Scope, form: Form) -> Form:
    """Step after step, until nothing changes; in a round trip, its cheapest form."""
    trail = [form]
    while (following := _step(scope, trail[-1])) not in trail:
        trail.append(following)
    circle = trail[trail.index(following) :]
    cheapest = min(circle, key=lambda candidate: (cost_of_form(candidate), candidate.order))
    return _without_constants(scope, cheapest)


def _without_constants(scope: Scope, form: Form) -> Form:
    """The form with a number for every part that interval arithmetic sees to have one value."""
    found = ranges_as_written(scope, form)
    points = {
        atom: constant(lower)
        for atom, (lower, upper) in found.items()
        if isinstance(lower, int) and lower == upper
    }
    shorter = simplified(scope, replace(form, points)) if points else form
    return form if cost_of_form(shorter) > cost_of_form(form) else shorter


def _step(scope: Scope, form: Form) -> Form:
    """The canonical form written out; where that is dearer, the form with its parts written out."""
    spelling = _spelling(scope, form)
    return spelling if spelling is not form else _by_parts(scope, form)


def _spelling(scope: Scope, form: Form) -> Form:
    """The canonical form written out, unless the form itself is cheaper."""
    spelling = written(scope, scope.canonical(form))
    return form if cost_of_form(spelling) > cost_of_form(form) else spelling


def _by_parts(scope: Scope, form: Form) -> Form:
    """The form with each argument of its atoms written out where that is cheaper."""
    values: dict[Atom, Form] = {}
    for atom in postorder((form,)):
        arguments = (combine(argument, values) for argument in atom.arguments)
        values[atom] = rebuilt(atom, tuple(_spelling(scope, argument) for argument in arguments))
    return combine(form, values)


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    return Interval.from_range(range_as_written(scope, form))
