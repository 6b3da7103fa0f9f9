"""Facts times products: with ``i < N`` and ``j < M``, ``(i*M + j)*K - N*M*K`` is at most ``-K``.

``F <= u`` says ``m*F <= m*u`` of every product ``m`` of symbols that is not negative. Where a form
has ``m*F``, ``m*u`` takes its place and is nowhere less. So an index of any number of dimensions of
symbolic size is compared with the size.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from simplifier.bounds.context import variables_multiplied
from simplifier.bounds.interval import Infinity, Range
from simplifier.bounds.polynomials import factors, monomial_form
from simplifier.expr.form import Form
from simplifier.limits import MAX_TERMS_MULTIPLIED

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from simplifier.bounds.context import Context, Fact
    from simplifier.expr.form import Atom

_ORDER = attrgetter("order")


def at_most(context: Context, form: Form) -> Form | None:
    """A shorter form that is nowhere less; ``None`` if no fact says so.

    Nor of a sum of many terms, or of one sign: nothing cancels there.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.parser import parse_form
    >>> naturals, positive = Interval(0, None), Interval(1, None)
    >>> bounds = ("i", naturals), ("j", naturals), *((size, positive) for size in "KMN")
    >>> facts = (parse_form("N - i"), positive), (parse_form("M - j"), positive)
    >>> scope = scope_of(bounds, facts)
    >>> print(at_most(scope, scope.canonical(parse_form("(i * M + j - N * M) * K"))))
    -K
    """
    signs = {value > 0 for value in form.terms.values()}
    if len(form.terms) > MAX_TERMS_MULTIPLIED or len(signs) < 2:  # noqa: PLR2004 - both
        return None
    polynomials = [fact for fact in context.facts if _multiplies(fact)]
    limits = [limit for fact in polynomials for limit in _limits(fact.form, fact.ends)]
    return _bounded(context, form, limits) if _are_about_factor(limits, form) else None


def _are_about_factor(limits: Iterable[Form], form: Form) -> bool:
    """Whether a fact can multiply; by bounds alone other readings are as tight."""
    known = {atom for limit in limits for atom in limit.terms}
    return bool(known) and any(
        not known.isdisjoint(parts) for parts in map(factors, form.terms) if len(parts) > 1
    )


def _multiplies(fact: Fact) -> bool:
    """Whether a fact compares polynomials; what bounds a single atom is in its range."""
    terms = fact.form.terms
    return len(terms) > 1 and all(map(variables_multiplied, terms))


def _bounded(context: Context, form: Form, limits: Sequence[Form]) -> Form | None:
    """A form that is nowhere less, by facts and by bounds; ``None`` if no fact helps."""
    is_by_fact = False
    for _ in form.terms:
        shorter = next(_steps(context, form, lambda _: limits), None)
        if shorter is not None:
            is_by_fact = True
        else:
            shorter = next(_steps(context, form, partial(_bounds_of, context)), None)
        if shorter is None:
            break
        form = shorter
    return form if is_by_fact else None


def _steps(
    context: Context, form: Form, limits_of: Callable[[Atom], Iterable[Form]]
) -> Iterator[Form]:
    """Shorter forms that are nowhere less, by one limit each."""
    products = {factors(atom): atom for atom in form.terms}
    for parts in sorted(products, key=len, reverse=True):
        atom = products[parts]
        value = form.terms[atom]
        for factor in dict.fromkeys(parts) if len(parts) > 1 else ():
            others = list(parts)
            others.remove(factor)
            for limit in limits_of(factor):
                weight = limit.terms.get(factor, 0)
                if value * weight <= 0 or value % weight:
                    continue
                if _may_shorten(products, others, limit, factor):
                    added = limit.times(-value // weight)
                    yield from _with_added(context, form, atom, others, added)


def _may_shorten(
    known: Container[tuple[Atom, ...]], others: Sequence[Atom], limit: Form, factor: Atom
) -> bool:
    """Whether as many products as a limit adds are in the form already, and may go."""
    added = [factors(term) for term in limit.terms if term != factor]
    if limit.constant:
        added.append(())
    present = sum(tuple(sorted((*others, *each), key=_ORDER)) in known for each in added)
    return 2 * present >= len(added)


def _with_added(
    context: Context, form: Form, atom: Atom, others: list[Atom], limit: Form
) -> Iterator[Form]:
    """The form and a product with what is at least 0, if an atom goes and the form is shorter."""
    scale = monomial_form(context, others)
    if context.range_of(scale)[0] >= 0:
        shorter = form.plus(context.product(scale, limit))
        if atom not in shorter.terms and len(shorter.terms) < len(form.terms):
            yield shorter


def _bounds_of(context: Context, atom: Atom) -> Iterator[Form]:
    """Forms that are at most 0 by the bounds of an atom."""
    return _limits(Form(0, {atom: 1}), context.known_range(atom))


def _limits(form: Form, ends: Range) -> Iterator[Form]:
    """Forms that are at most 0 where a form lies between two ends."""
    lower, upper = ends
    if not isinstance(upper, Infinity):
        yield form.plus_constant(-upper)
    if not isinstance(lower, Infinity):
        yield -form.plus_constant(-lower)
