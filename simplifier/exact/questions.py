"""Whether two expressions are equal, where they differ, what values one has: exact, by isl."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from simplifier.bounds.interval import Interval
from simplifier.exact import points
from simplifier.exact.budget import BUDGET, asked
from simplifier.exact.points import points_with_values
from simplifier.exact.space import Space, quasi_affine
from simplifier.expr import form as forms
from simplifier.problem import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import islpy

    from simplifier.exact.budget import Allowance, Budget
    from simplifier.exact.points import Chunk
    from simplifier.expr.form import Form
    from simplifier.problem import Bounds, Constraints, Expression, Facts, Problem

    Answer = TypeVar("Answer")

EVERYTHING: Final = Interval(None, None)


def equivalent(
    a: Expression,
    b: Expression,
    bounds: Bounds | Facts,
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


def witness(
    a: Expression,
    b: Expression,
    bounds: Bounds | Facts,
    constraints: Constraints = (),
    *,
    budget: Budget = BUDGET,
) -> dict[str, int] | None:
    """A point where two expressions differ, by name; ``None`` where they are equivalent.

    >>> from simplifier import Mod, symbol
    >>> x = symbol("x")
    >>> witness(Mod(x, 8), x, {x: (0, 8)})
    {'x': 8}
    """
    point = ask("witness", _witness, (a, b), bounds, constraints, budget)
    return None if point is None else dict(point)


def _witness(problem: Problem, budget: Budget) -> dict[str, int] | None:
    a, b = problem.forms
    return differing_point(a, b, problem.bounds, problem.constraints, budget)


def differing_point(
    a: Form,
    b: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[tuple[Form, Interval]] = (),
    budget: Budget = BUDGET,
) -> dict[str, int] | None:
    """A point where two forms differ, or ``None``; terms that both share may be anything."""
    return _asked(
        lambda space, domain, value: space.sample(domain.intersect(value.non_zero_set())),
        points.first_other_than_zero,
        a - b,
        bounds,
        constraints,
        budget,
    )


def exact_range(
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[tuple[Form, Interval]] = (),
    budget: Budget = BUDGET,
) -> Interval:
    """The least and the greatest value of a form; ``None`` is an end that it really goes beyond."""
    return _asked(_extent, points.extent, form, bounds, constraints, budget)


def range_within(
    allowance: Allowance,
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[tuple[Form, Interval]],
) -> Interval:
    """The same, as one attempt of a greater question."""
    with allowance.attempt(all_bounds((form,), bounds, constraints)) as space:
        return _answer(_extent, space, form, constraints)


def _extent(space: Space, domain: islpy.Set, value: islpy.PwAff) -> Interval:
    return space.extent(value.intersect_domain(domain))


def _asked(
    question: Callable[[Space, islpy.Set, islpy.PwAff], Answer],
    of_points: Callable[[Iterable[Chunk]], Answer],
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[tuple[Form, Interval]],
    budget: Budget,
) -> Answer:
    """The answer to a question about a space, the domain in it, and the value of a form there.

    Where isl takes long, all points answer if there are few.
    """
    known = all_bounds((form,), bounds, constraints)

    def enumerated(most: int) -> tuple[Answer] | None:
        simpler, *limited = quasi_affine(known, (form, *(each for each, _ in constraints)))
        intervals = [interval for _, interval in constraints]
        found = points_with_values(simpler, known, [*zip(limited, intervals, strict=True)], most)
        return None if found is None else (of_points(found),)

    def by_isl(space: Space) -> tuple[Answer]:
        return (_answer(question, space, form, constraints),)

    (answer,) = asked(by_isl, budget, known, otherwise=enumerated)
    return answer


def _answer(
    question: Callable[[Space, islpy.Set, islpy.PwAff], Answer],
    space: Space,
    form: Form,
    constraints: Sequence[tuple[Form, Interval]],
) -> Answer:
    (value,) = space.expressions([form])
    return question(space, space.domain(constraints), value)


def all_bounds(
    wanted: Iterable[Form],
    bounds: Mapping[str, Interval],
    constraints: Iterable[tuple[Form, Interval]],
) -> dict[str, Interval]:
    """Bounds of every variable that is bounded or occurs."""
    involved = forms.variables_of(chain(wanted, (form for form, _ in constraints)))
    return {**dict.fromkeys(involved, EVERYTHING), **bounds}
