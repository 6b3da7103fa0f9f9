"""What conditions and assumptions say as facts: forms, and the intervals that they lie in."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from simplifier.bounds.interval import Interval
from simplifier.expr.form import CONDITIONS, AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.bounds.context import Constraints
    from simplifier.expr.form import Atom


def facts_of(condition: Form) -> Constraints:
    """The facts that a condition is; what cannot be one stays a condition, which is 1.

    A condition that is 1 by itself says nothing.

    >>> from simplifier.expr.parser import parse_form
    >>> condition = parse_form("x < y and z mod 8 == 0 and not (x > 5 and y > 5)")
    >>> for form, interval in facts_of(condition):
    ...     print(form, "in", interval)
    x - y in [..., -1]
    z mod 8 in [0, 0]
    (x >= 6 and y >= 6) in [0, 0]
    """
    return tuple(_facts(condition, Interval(1, 1)))


def read_fact(form: Form, interval: Interval) -> Constraints:
    """A fact as it was given; of a condition that is 0 or 1, what that says.

    >>> from simplifier.expr.parser import parse_form
    >>> ((form, interval),) = read_fact(parse_form("x >= 5"), Interval(0, 0))
    >>> print(form, "in", interval)
    x in [..., 4]
    """
    return tuple(_facts(form, interval))


def assumed(known: Any) -> Interval:  # noqa: ANN401 - of sympy
    """The interval that assumptions leave to a symbol, an expression, or the values of a function.

    >>> import sympy
    >>> print(assumed(sympy.Symbol("n", positive=True)), assumed(sympy.Function("f")))
    [1, inf] [-inf, inf]
    """
    # What a function does not assume, its class has as a property, which is no answer but true.
    lower = 1 if known.is_positive is True else 0 if known.is_nonnegative is True else None
    upper = -1 if known.is_negative is True else 0 if known.is_nonpositive is True else None
    return Interval(lower, upper)


def _facts(form: Form, interval: Interval) -> Iterator[tuple[Form, Interval]]:
    if not form.terms and form.constant in interval:
        return
    if len(form.terms) != 1 or not interval.is_point or interval.lower is None:
        yield form, interval
        return
    ((atom, factor),) = form.terms.items()
    value, remainder = divmod(interval.lower - form.constant, factor)
    if atom.kind not in CONDITIONS or remainder or value not in (0, 1):
        yield form, interval
    else:
        yield from _of_condition(atom, holds=value == 1)


def _of_condition(atom: Atom, *, holds: bool) -> Iterator[tuple[Form, Interval]]:
    if atom.kind is AtomKind.NONNEGATIVE:
        yield _compared(atom.arguments[0], Interval(0, None) if holds else Interval(None, -1))
    elif holds and atom.kind is AtomKind.ZERO:
        yield _compared(atom.arguments[0], Interval(0, 0))
    elif holds:
        for condition in atom.arguments:
            yield from _facts(condition, Interval(1, 1))
    else:
        if atom.kind is AtomKind.AND:
            yield from _of_branches(_facts(each, Interval(0, 0)) for each in atom.arguments)
        yield Form(0, {atom: 1}), Interval(0, 0)


def _of_branches(branches: Iterable[Iterable[tuple[Form, Interval]]]) -> Constraints:
    """What some branch says of each form of which all say something: ``x < 5 or x < 3``."""
    said = [_joined(branch) for branch in branches]
    shared = (form for form in said[0] if all(form in each for each in said))
    hulls = {form: reduce(Interval.union, (each[form] for each in said)) for form in shared}
    return tuple((form, hull) for form, hull in hulls.items() if hull != _EVERYTHING)


def _joined(facts: Iterable[tuple[Form, Interval]]) -> dict[Form, Interval]:
    """The facts, one for each form."""
    joined: dict[Form, Interval] = {}
    for form, interval in facts:
        joined[form] = joined.get(form, _EVERYTHING).intersect(interval)
    return joined


_EVERYTHING: Final = Interval(None, None)


def _compared(difference: Form, interval: Interval) -> tuple[Form, Interval]:
    """The fact without a constant: ``x in [..., 4]``. The first coefficient is positive."""
    return difference.plus_constant(-difference.constant), interval - difference.constant
