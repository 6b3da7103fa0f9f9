"""Facts times products: with ``i < N`` and ``j < M``, ``(i*M + j)*K - N*M*K`` is at most ``-K``.

``F <= u`` says ``m*F <= m*u`` of every product ``m`` of symbols that is not negative. Where a form
has ``m*F``, ``m*u`` takes its place and is nowhere less. So an index of any number of dimensions of
symbolic size is compared with the size.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from simplifier.bounds.interval import Infinity, Range
from simplifier.bounds.polynomials import factors, monomial_form
from simplifier.expr.form import Form
from simplifier.limits import MAX_TERMS_MULTIPLIED

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from simplifier.bounds.context import Context
    from simplifier.bounds.interval import End
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
    known = context.memory(_FactLimits)
    if len(form.terms) > MAX_TERMS_MULTIPLIED or not any(map(known.may_multiply, form.terms)):
        return None
    signs = {value > 0 for value in form.terms.values()}
    return _bounded(context, form, known) if len(signs) > 1 else None


class _FactLimits:
    """Forms that are at most 0 by facts that compare polynomials, by the atoms in them.

    A fact about a single atom is in its range; by bounds alone other readings are as tight.
    """

    def __init__(self, context: Context) -> None:
        self._about: dict[Atom, list[Form]] = {}
        for fact in context.facts:
            if len(fact.form.terms) > 1 and fact.is_polynomial:
                for is_upper in (True, False):
                    for limit in _limit(fact.form, fact.ends, is_upper=is_upper):
                        for atom in limit.terms:
                            self._about.setdefault(atom, []).append(limit)

    def about(self, atom: Atom, *, is_upper: bool) -> Iterator[Form]:
        """Those in which the atom counts positively, or negatively."""
        for limit in self._about.get(atom, ()):
            if (limit.terms[atom] > 0) == is_upper:
                yield limit

    def may_multiply(self, atom: Atom) -> bool:
        """Whether an atom is a product, and some fact is about a factor of it."""
        parts = factors(atom) if self._about else ()
        return len(parts) > 1 and not self._about.keys().isdisjoint(parts)


def _bounded(context: Context, form: Form, known: _FactLimits) -> Form | None:
    """A form that is nowhere less, by facts and by bounds; ``None`` if no fact helps."""
    is_by_fact = False
    for _ in form.terms:
        shorter = next(_steps(context, form, known.about), None)
        if shorter is not None:
            is_by_fact = True
        else:
            shorter = next(_steps(context, form, partial(_bound_of, context)), None)
        if shorter is None:
            break
        form = shorter
    return form if is_by_fact else None


def _steps(
    context: Context, form: Form, limits_of: Callable[..., Iterator[Form]]
) -> Iterator[Form]:
    """Shorter forms that are nowhere less, by one limit each."""
    products = {factors(atom): atom for atom in form.terms}
    for parts in sorted(products, key=len, reverse=True):
        atom = products[parts]
        value = form.terms[atom]
        for factor in dict.fromkeys(parts) if len(parts) > 1 else ():
            others = list(parts)
            others.remove(factor)
            for limit in limits_of(factor, is_upper=value > 0):
                count, remainder = divmod(value, limit.terms[factor])
                if not remainder and _may_shorten(products, others, limit, factor):
                    added = limit.times(-count)
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


def _bound_of(context: Context, atom: Atom, *, is_upper: bool) -> Iterator[Form]:
    """A form that is at most 0 by a bound of an atom."""
    return _limit(Form(0, {atom: 1}), context.known_range(atom), is_upper=is_upper)


def _limit(form: Form, ends: Range, *, is_upper: bool) -> Iterator[Form]:
    """The form less its upper end, or its lower end less the form; none if that is infinite."""
    end: End = ends[is_upper]
    if not isinstance(end, Infinity):
        limit = form.plus_constant(-end)
        yield limit if is_upper else -limit
