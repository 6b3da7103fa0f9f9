"""Terms move into quotients, and quotients turn their signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import ZERO, Form, Kind, constant
from simplifier.extraction.rewriting import Rewriting
from simplifier.laws.catalogue.spellings import ABSORB_TERM, TURNED_QUOTIENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.extraction.pricing import Limit


def quotient_steps(form: Form, limit: Limit) -> Iterator[Rewriting]:
    """``k*floor(N/c) + t = k*floor((N + c*t/k)/c)``, with either sign of the quotient."""
    for atom, factor in form.terms.items():
        if atom.kind is not Kind.FLOORDIV or atom.divisor < 1:
            continue
        divisor, rest = atom.arguments[1], form.without(atom)
        turned = (-atom.numerator).plus_constant(atom.divisor - 1)
        if limit.admits_division(rest):
            yield Rewriting(rest, -factor, Kind.FLOORDIV, [(turned, divisor)], (TURNED_QUOTIENT,))
        for numerator, weight, laws in (
            (atom.numerator, factor, (ABSORB_TERM,)),
            (turned, -factor, (TURNED_QUOTIENT, ABSORB_TERM)),
        ):
            for moved in _movable(rest, numerator, weight):
                yield Rewriting(
                    rest.plus(moved, -1),
                    weight,
                    Kind.FLOORDIV,
                    _with_term(numerator, moved, weight, divisor),
                    laws,
                )


def _with_term(
    numerator: Form, moved: Form, weight: int, divisor: Form
) -> Iterator[tuple[Form, Form]]:
    yield numerator.plus(moved.exactly_divided(weight), divisor.constant), divisor


def _movable(rest: Form, numerator: Form, weight: int) -> Iterator[Form]:
    """Sets of terms, as sums, that may move into a quotient of this weight."""
    terms = [Form(0, {atom: factor}) for atom, factor in rest.terms.items() if factor % weight == 0]
    if rest.constant and rest.constant % weight == 0:
        terms.append(constant(rest.constant))
    near = [term for term in terms if all(atom in numerator.terms for atom in term.terms)]
    yield from near
    plain = [term for term in terms if term.is_affine]
    for group in (near, plain):
        if len(group) > 1 or (group and group is plain and plain != near):
            yield _sum(group)
    for term in terms:
        if any(atom.kind is Kind.FLOORDIV for atom in term.terms):
            yield term
            if near and term not in near:
                yield _sum([*near, term])


def _sum(terms: Iterable[Form]) -> Form:
    total = ZERO
    for term in terms:
        total = total.plus(term)
    return total
