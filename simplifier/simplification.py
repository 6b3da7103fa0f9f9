"""The public functions: simplify an expression, its bounds, equality, its cost, its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, get_args, overload

import sympy

from simplifier.bounds.interval import EMPTY, Interval
from simplifier.bounds.parametric import parametric_ends
from simplifier.canonical.scope import Scope, scope_of
from simplifier.errors import ArgumentError, check_type
from simplifier.exact import (
    BUDGET,
    MAX_ATTEMPTS,
    Allowance,
    Budget,
    differing_point,
    exact_range,
    finished,
)
from simplifier.expr.form import ZERO, Form, variable, variables_of
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import from_sympy, to_sympy
from simplifier.expr.text import parse_form
from simplifier.extraction import costs_of, expanded
from simplifier.extraction.cost import cost_of_form, operator_count_of_form
from simplifier.fixpoint import for_target, range_of, settled, simplified
from simplifier.problem import (
    NOTHING,
    Bounds,
    BoundsError,
    Constraints,
    Expression,
    Facts,
    Name,
    Problem,
    Trace,
    ask,
    up_to_names,
)

Target: TypeAlias = Literal["c", "cuda", "triton", "torch"]
"""A language whose division of integers rounds to 0."""
OutputForm: TypeAlias = Literal["sum"]
"""Whatever it costs: a sum of products."""


def simplify(  # noqa: PLR0913 - options
    expression: Expression,
    bounds: Bounds | Facts = NOTHING,
    constraints: Constraints = (),
    *,
    exact: bool = False,
    budget: Budget = BUDGET,
    trace: Trace | None = None,
    target: Target | None = None,
    form: OutputForm | None = None,
) -> sympy.Expr:
    """The cheapest expression found that is equal wherever all bounds and constraints hold.

    Args:
        expression: integer arithmetic of sympy, including ``floor``, ``ceiling``, ``sympy.Mod``,
            ``Min``, ``Max``, or a condition. A function that is not known stays, on simplified
            arguments, if its values are integers.
        bounds: for symbols or their names, closed intervals or pairs, whose ends may be
            expressions; a symbol without bounds may be any integer that its own assumptions allow.
            Or :class:`Facts`, which are both. Bounds of what does not occur are not used; a name
            among them that is like one without bounds (``do``, ``d0``) is a ``BoundsWarning``.
        constraints: pairs of an expression and the interval that it is known to lie in, conditions
            that hold, or :class:`Facts`.
        exact: whether to finish by isl what the fast way leaves: parts that are constant or affine
            on the domain, equal to each other, redundant in a minimum or maximum, too small to
            change a quotient, or functions of one variable in few steps. Every step is proved
            equal; takes milliseconds in everyday cases.
        budget: operations of isl that all exact attempts together may take, ``None`` for no
            limit. An attempt ends after a hundredth of them; steps proved before stay.
        trace: takes the steps that lead to the result, found anew and not from memory; the result
            is the same without it.
        target: a language whose division rounds to 0. Dividends get as many divisors as make them
            at least 0, where that is known to be possible. A dividend that is never negative in
            the expression stays so. At equal cost a sum has dividends in place of their remainders.
        form: ``"sum"`` for those who compare results term by term: a sum of products, multiplied
            out at the top and inside, whose factors are variables, digits such as ``x mod 8``,
            quotients and maxima. It depends on the canonical form alone, whatever it costs; where
            nested dividends make it far too long, it is the cheapest expression.

    Returns:
        An expression over the symbols that were given; simplifying it again changes nothing. It is
        never costlier than the input, unless that divides by a negative number or needs far wider
        integers than the result. Where the bounds leave no value, 0.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.
        BoundsError: bounds that contradict the symbols.
        ArgumentError: a target or a form that is not known.
        NotQuasiAffineError: if ``exact``, a product of variables or a divisor that is not a
            constant is left after the fast way; ``MissingIslError`` where islpy is not installed.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x = symbol("x")
    >>> simplify(8 * FloorDiv(x, 8) + Mod(x, 8), {x: (0, 63)})
    x
    >>> simplify(FloorDiv(x, 64), {"x": (0, 100)}, constraints=[(x, (0, 63))])
    0
    >>> simplify(Mod(3 * Mod(x, 4), 5), {x: (0, 99)}, [(Mod(x, 4) + Mod(x, 6), 0)], exact=True)
    0
    >>> for target in (None, "c"):
    ...     print(simplify(FloorDiv(x - 2, 8), {x: (0, 63)}, target=target))
    (x - 2)//8
    ((x + 6)//8) - 1
    >>> y = symbol("y")
    >>> simplify((x + 1) * (y - Mod(x, 8)), {}, form="sum")
    x*y - x*(x % 8) + y - (x % 8)
    """
    if trace is not None:
        check_type(trace, Trace, "simplify: trace", "a Trace")
    for name, value, known in (("target", target, Target), ("form", form, OutputForm)):
        if value not in (None, *get_args(known)):
            expected = f"expected one of {', '.join(get_args(known))}"
            raise ArgumentError(f"simplify: {name} is {value!r}; {expected}")
    options = _Options(exact, budget if exact else None, trace, target, form)
    return ask("simplify", _simplified, (expression,), bounds, constraints, options)


class _Options(NamedTuple):
    """How an expression is simplified."""

    exact: bool
    budget: Budget
    trace: Trace | None
    target: Target | None
    form: OutputForm | None


def _simplified(problem: Problem, options: _Options) -> sympy.Expr:
    if options.exact or options.trace is not None:
        return problem.restored(_simplest(problem, options))
    return problem.restored(up_to_names(_simplest, problem, options))


def _simplest(problem: Problem, options: _Options) -> Form:
    scope, trace = problem.scope(), options.trace
    begun = ZERO if trace is None else trace.follow(problem)
    if scope is None:
        return ZERO

    def best(form: Form) -> Form:
        form = simplified(scope, form)
        if not options.exact:
            return form
        known = problem.bounds, problem.constraints
        return finished(scope, form, *known, Allowance(options.budget, MAX_ATTEMPTS))

    def wanted(form: Form) -> Form:
        found = best(form)
        if options.form is not None:
            found = form = expanded(scope, best(scope.canonical(form))) or found
        return found if options.target is None else for_target(scope, form, found)

    result = last = best(problem.form)
    if options.target is not None or options.form is not None:
        (*_, result) = settled(scope, problem.form, wanted)
    if trace is not None:
        trace.finish(problem, begun, last, "proved by isl")
        trace.finish(problem, last, result, f"for {options.target or options.form}")
    return result


class SymbolicInterval(NamedTuple):
    """All integers from one expression to another; ``None`` is an end without bound.

    >>> from simplifier import symbol
    >>> print(SymbolicInterval(sympy.Integer(0), symbol("N") - 1))
    [0, N - 1]
    """

    lower: sympy.Expr | None
    upper: sympy.Expr | None

    def __str__(self) -> str:
        lower = "-inf" if self.lower is None else format_expr(self.lower)
        upper = "inf" if self.upper is None else format_expr(self.upper)
        return f"[{lower}, {upper}]"


@overload
def bounds_of(
    expression: Expression,
    bounds: Bounds | Facts = ...,
    constraints: Constraints = ...,
    *,
    over: None = ...,
    exact: bool = ...,
    budget: Budget = ...,
) -> Interval: ...


@overload
def bounds_of(
    expression: Expression,
    bounds: Bounds | Facts = ...,
    constraints: Constraints = ...,
    *,
    over: Iterable[Name],
    exact: bool = ...,
    budget: Budget = ...,
) -> SymbolicInterval: ...


def bounds_of(
    expression: Expression,
    bounds: Bounds | Facts = NOTHING,
    constraints: Constraints = (),
    *,
    over: Iterable[Name] | None = None,
    exact: bool = False,
    budget: Budget = BUDGET,
) -> Interval | SymbolicInterval:
    """An interval that holds every value of the expression; arguments as for :func:`simplify`.

    It is never wider than that of the simplified expression.
    With ``exact`` it is the smallest one: both ends are values, ``None`` is an end that the values
    really go beyond, and a domain without points gives an empty interval.

    With ``over``, symbols or their names, the ends are expressions over these parameters. They
    bound the expression at all values of the parameters that leave some to the other variables. If
    the expression is affine, and all that is known is one end over the parameters on each side of
    a variable, both ends are values.

    Raises:
        ConversionError, BoundsError: as :func:`simplify`; if ``exact`` and ``over`` are both given.
        NotQuasiAffineError, BudgetError: as :func:`equivalent`, if ``exact``.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> s0, s1 = symbol("s0"), symbol("s1")
    >>> print(bounds_of(s0 + s1 * 32 - FloorDiv(s0, 32) * 32, {s0: (0, 1023), s1: (0, 31)}))
    [0, 1023]
    >>> difference = Mod(s0, 4) - Mod(s0, 6)
    >>> print(bounds_of(difference, {}), bounds_of(difference, {}, exact=True))
    [-5, 3] [-4, 2]
    >>> n = symbol("n")
    >>> bounds_of(s0 - 2 * s1, {s0: (0, n - 1), s1: (1, n)}, over=[n])
    SymbolicInterval(lower=-2*n, upper=n - 3)
    """
    if over is not None:
        names = _names_of(over, exact=exact)
        return ask("bounds_of", _symbolic_bounds, (expression,), bounds, constraints, names)
    if exact:
        return ask("bounds_of", _exact_bounds, (expression,), bounds, constraints, budget)
    return ask("bounds_of", _bounds, (expression,), bounds, constraints)


def _names_of(over: Iterable[Name], *, exact: bool) -> frozenset[str]:
    """The names of parameters."""
    if exact:
        raise BoundsError("bounds_of: exact bounds are numbers; expected either exact or over")
    is_many = isinstance(over, Iterable) and not isinstance(over, str)  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
    given = tuple(over) if is_many else (None,)
    if not all(isinstance(each, str | sympy.Symbol) for each in given):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise BoundsError(f"bounds_of: over is {over!r}; expected symbols or names, such as [n]")
    return frozenset(str(each) for each in given)


def _bounds(problem: Problem) -> Interval:
    return up_to_names(_range_of, problem)


def _range_of(problem: Problem) -> Interval:
    scope = problem.scope()
    if scope is None:
        return EMPTY
    form = problem.form
    interval = range_of(scope, form)
    if form.is_affine and not problem.constraints:
        return interval
    return interval.intersect(range_of(scope, simplified(scope, form)))


def _symbolic_bounds(problem: Problem, parameters: frozenset[str]) -> SymbolicInterval:
    scope = problem.scope(about=map(variable, parameters))
    if scope is None:
        return SymbolicInterval(sympy.Integer(0), sympy.Integer(-1))
    form, known = simplified(scope, problem.form), _bounds(problem).ends
    ends = parametric_ends(scope, form, parameters, known, scope.given[1])
    outside = _about(scope, parameters)
    lower, upper = (
        None if end is None else problem.expression_of(simplified(outside, end))
        for end in (ends.greatest, ends.least)
    )
    return SymbolicInterval(lower, upper)


def _about(scope: Scope, parameters: frozenset[str]) -> Scope:
    """The facts about parameters alone, so that expressions over them stay over them."""
    constraints = (each for each in scope.given[1] if parameters.issuperset(variables_of(each[:1])))
    bounds = ((name, interval) for name, interval in scope.bounds.items() if name in parameters)
    return scope_of(tuple(sorted(bounds)), tuple(constraints))


def _exact_bounds(problem: Problem, budget: Budget) -> Interval:
    return exact_range(problem.form, problem.bounds, problem.constraints, budget)


def equivalent(
    a: Expression,
    b: Expression,
    bounds: Bounds | Facts = NOTHING,
    constraints: Constraints = (),
    *,
    budget: Budget = BUDGET,
) -> bool:
    """Whether two expressions have the same value at every point within bounds and constraints.

    A variable without bounds is any integer that its assumptions allow. Where there is no point,
    everything is equivalent. The budget counts operations of isl; the default is seconds.

    Raises:
        NotQuasiAffineError: a product of variables, a divisor that is not a constant, or a foreign
            function is left in ``a - b`` or in a constraint, after variables that have only one
            value are replaced by it.
        BudgetError: the answer was not found within the budget.
        MissingIslError: islpy is not installed.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x = symbol("x")
    >>> equivalent(8 * FloorDiv(x, 8) + Mod(x, 8), x, {})
    True
    >>> equivalent(Mod(x, 8), x, {x: (0, 7)}), equivalent(Mod(x, 8), x, {x: (0, 8)})
    (True, False)
    """
    return ask("equivalent", _witness, (a, b), bounds, constraints, budget) is None


def _witness(problem: Problem, budget: Budget) -> dict[str, int] | None:
    a, b = problem.forms
    return differing_point(a, b, problem.bounds, problem.constraints, budget)


def cost(
    expression: Expression, bounds: Bounds | Facts | None = None, constraints: Constraints = ()
) -> int:
    """What a machine executes to compute the expression; :func:`simplify` looks for the least.

    ``+``, ``-``, a comparison, and times, floordiv or mod by a power of two cost 1; times another
    constant, a product of variables, and each further operand of ``min`` and ``max`` 2; floordiv by
    another number 4, mod 6. Beside the quotient of the same numbers a remainder costs 2. A
    dividend that may be negative makes such a division 4 dearer. What is used again costs nothing.

    Args:
        expression: as for :func:`simplify`.
        bounds: as for :func:`simplify`.
        constraints: as for :func:`simplify`; without either no dividend counts as negative.

    >>> cost(parse_expr("d0 * 8 + s0 mod 3"))
    8
    >>> cost(parse_expr("(d0 mod 7) * 4 + d0 floordiv 7"))
    8
    >>> cost(parse_expr("d0 floordiv 7"), {"d0": (-5, 9)})
    8
    """
    if bounds is None and constraints == ():
        return cost_of_form(from_sympy(expression))
    return ask("cost", _cost, (expression,), NOTHING if bounds is None else bounds, constraints)


def _cost(problem: Problem) -> int:
    scope = problem.scope()
    return 0 if scope is None else costs_of(scope).of(problem.form)


def operator_count(expression: Expression) -> int:
    """The operators of the expression as it is printed, weighted; a measure to compare with.

    ``+ - *`` cost 1 each; ``floordiv``, ``mod`` and each further operand of ``min`` and ``max``
    cost 3; ``ceildiv`` costs 4. Each operator counts wherever it stands, also where a machine
    computes it once. Terms whose coefficients have the same size share one multiplication. Earlier
    versions had it as :func:`cost`.

    >>> operator_count(parse_expr("(d0 mod 8) * 4 + d0 floordiv 8"))
    8
    >>> operator_count(parse_expr("d0 * 4 - (d0 floordiv 8) * 31"))
    6
    """
    return operator_count_of_form(from_sympy(expression))


def parse_expr(text: str) -> sympy.Expr:
    """The expression that a text describes; nothing is simplified.

    Raises:
        TextError: with line, column, and a caret under the error.

    >>> parse_expr("(d0 * 8 + s0) floordiv 3 - d0 % 2")
    ((8*d0 + s0)//3) - (d0 % 2)
    """
    check_type(text, str, "parse_expr: the text", "a string")
    return to_sympy(parse_form(text))


def format_expr(expression: Expression) -> str:
    """The text of an expression, as XLA writes it; ``parse_expr`` reads it back.

    >>> format_expr(parse_expr("d1 + 8 * (d0 // 3) - 1"))
    '(d0 floordiv 3) * 8 + d1 - 1'
    """
    return format_form(from_sympy(expression))
