"""Facts times products: with ``i < N`` and ``j < M``, ``(i*M + j)*K - N*M*K`` is at most ``-K``.

``F <= u`` says ``m*F <= m*u`` of every product ``m`` of symbols that is not negative. Where a form
has ``m*F``, ``m*u`` takes its place and is nowhere less. So an index of any number of dimensions of
symbolic size is compared with the size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.bounds.context import variables_multiplied
from simplifier.bounds.interval import Infinity, Range
from simplifier.bounds.polynomials import factors, monomial_form
from simplifier.expr.form import Form
from simplifier.limits import MAX_TERMS_MULTIPLIED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.bounds.context import Context, Fact
    from simplifier.bounds.interval import End
    from simplifier.expr.form import Atom


def least_and_most(context: Context, form: Form) -> tuple[Form, Form] | None:
    """Shorter forms that are nowhere greater, and nowhere less; ``None`` if no fact says so.

    Nor of a sum of many terms, or of one sign: nothing cancels there.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.parser import parse_form
    >>> naturals, positive = Interval(0, None), Interval(1, None)
    >>> bounds = ("i", naturals), ("j", naturals), *((size, positive) for size in "KMN")
    >>> facts = (parse_form("N - i"), positive), (parse_form("M - j"), positive)
    >>> scope = scope_of(bounds, facts)
    >>> _, most = least_and_most(scope, scope.canonical(parse_form("(i * M + j - N * M) * K")))
    >>> print(most)
    -K
    """
    signs = {value > 0 for value in form.terms.values()}
    if len(form.terms) > MAX_TERMS_MULTIPLIED or len(signs) < 2:  # noqa: PLR2004 - both
        return None
    if not _has_fact_about_factor(context, form):
        return None
    most, least = _bounded(context, form), -_bounded(context, -form)
    return None if most == least == form else (least, most)


def _has_fact_about_factor(context: Context, form: Form) -> bool:
    """Whether a fact can multiply; by bounds alone other readings are as tight."""
    known = {atom for fact in context.facts if _multiplies(fact) for atom in fact.form.terms}
    return bool(known) and any(
        not known.isdisjoint(parts) for parts in map(factors, form.terms) if len(parts) > 1
    )


def _multiplies(fact: Fact) -> bool:
    """Whether a fact compares polynomials; what bounds a single atom is in its range."""
    terms = fact.form.terms
    return len(terms) > 1 and all(map(variables_multiplied, terms))


def _bounded(context: Context, form: Form) -> Form:
    """A form that is nowhere less."""
    for _ in form.terms:
        shorter = next(_steps(context, form), None)
        if shorter is None:
            break
        form = shorter
    return form


def _steps(context: Context, form: Form) -> Iterator[Form]:
    """Shorter forms that are nowhere less, by one fact or bound each; facts come first."""
    products = [(atom, factors(atom)) for atom in form.terms]
    products.sort(key=lambda product: -len(product[1]))
    for limits in (_limits_by_facts, _limits_by_bounds):
        for atom, parts in products:
            for factor in dict.fromkeys(parts) if len(parts) > 1 else ():
                others = list(parts)
                others.remove(factor)
                for limit in limits(context, factor, form.terms[atom]):
                    yield from _with_limit(context, form, others, limit, atom, factor)


def _with_limit(
    context: Context, form: Form, others: list[Atom], limit: Form, atom: Atom, factor: Atom
) -> Iterator[Form]:
    """The form less a product times what is at most 0, if a term goes and the form is shorter."""
    multiple, remainder = divmod(form.terms[atom], limit.terms[factor])
    if remainder:
        return
    scale = monomial_form(context, others)
    if context.range_of(scale)[0] >= 0:
        shorter = form.plus(context.product(scale, limit), -multiple)
        if atom not in shorter.terms and len(shorter.terms) < len(form.terms):
            yield shorter


def _limits_by_facts(context: Context, atom: Atom, sign: int) -> Iterator[Form]:
    """Forms that are at most 0, with this sign of the atom, by facts that are polynomials."""
    for fact in context.facts:
        terms = fact.form.terms
        if atom in terms and _multiplies(fact):
            yield from _limit(fact.form, fact.ends, is_upper=terms[atom] * sign > 0)


def _limits_by_bounds(context: Context, atom: Atom, sign: int) -> Iterator[Form]:
    """The same by the bounds of the atom."""
    yield from _limit(Form(0, {atom: 1}), context.known_range(atom), is_upper=sign > 0)


def _limit(form: Form, ends: Range, *, is_upper: bool) -> Iterator[Form]:
    """The form less its upper end, or its lower end less the form; none if that is infinite."""
    end: End = ends[is_upper]
    if not isinstance(end, Infinity):
        limit = form.plus_constant(-end)
        yield limit if is_upper else -limit
