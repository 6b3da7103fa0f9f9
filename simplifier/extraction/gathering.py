"""Quotients of one source put together, as they are written: before the canonical form hides it."""

from __future__ import annotations

from simplifier.expr.fold import fold
from simplifier.expr.form import Atom, AtomKind, Form, combine, constant, postorder
from simplifier.expr.operations import floordiv, rebuilt
from simplifier.extraction.cost import cost_of_form
from simplifier.laws.catalogue.quotients import FLATTEN, REMAINDER
from simplifier.laws.rewrite_log import Rewrite


def gathered(form: Form) -> Rewrite | None:
    """The form without remainders by constants, and with one quotient for each quotient of another.

    In ``(N floordiv 36) * 36 + ((N floordiv 18) mod 2) * 18 + N mod 18`` the quotients by 36 and 18
    cancel, whatever ``N`` is. Each of them in canonical form may look so different under its bounds
    that nobody sees it any more. ``None`` where the canonical form sees as much: where no quotient
    is divided and nothing gets cheaper.
    """
    inside = postorder((form,))
    if not any(atom.kind is AtomKind.MOD and atom.divisor > 1 for atom in inside):
        return None
    after = combine(form, fold((form,), _as_quotient, combine))
    is_nested = any(_divides_by_number(atom) and _only_quotient(atom.numerator) for atom in inside)
    if not is_nested and cost_of_form(after) >= cost_of_form(form):
        return None
    return Rewrite((REMAINDER, FLATTEN), form, after)


def _as_quotient(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    """``N mod c = N - c*floor(N/c)``; ``floor((floor(N/g) + k)/c) = floor((N + g*k)/(g*c))``."""
    if not _divides_by_number(atom):
        return rebuilt(atom, arguments)
    source, divisor = arguments[0], atom.divisor
    inner = _only_quotient(source)
    if inner is not None:
        source = inner.numerator.plus_constant(source.constant * inner.divisor)
        divisor *= inner.divisor
    quotient = floordiv(source, constant(divisor))
    return (
        quotient if atom.kind is AtomKind.FLOORDIV else arguments[0].plus(quotient, -atom.divisor)
    )


def _divides_by_number(atom: Atom) -> bool:
    return atom.divisor > 1 and (atom.kind is AtomKind.FLOORDIV or atom.kind is AtomKind.MOD)


def _only_quotient(form: Form) -> Atom | None:
    """The quotient that is the only term of the form, with coefficient 1."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        if factor == 1 and atom.kind is AtomKind.FLOORDIV and atom.divisor > 1:
            return atom
    return None
