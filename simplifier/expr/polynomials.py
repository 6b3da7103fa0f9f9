"""Forms read as polynomials: the factors of their terms, common factors, division."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import ONE, ZERO, Atom, Form, Kind, collected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplifier.canonical.scope import Scope


def factors(atom: Atom) -> tuple[Atom, ...]:
    """The atoms that a monomial multiplies; a product of sums, as it is spelled, counts as one."""
    if atom.kind is not Kind.PRODUCT:
        return (atom,)
    found: list[Atom] = []
    for argument in atom.arguments:
        if argument.constant or len(argument.terms) > 1:
            return (atom,)
        found += argument.terms
    return tuple(found)


def degree(form: Form) -> int:
    """The most factors that a term has."""
    return max((len(factors(atom)) for atom in form.terms), default=0)


def shared_factors(atoms: Sequence[Atom], atom: Atom) -> list[Atom]:
    """What factors a product of atoms and a monomial have in common, each as often as in both."""
    left = list(factors(atom))
    shared: list[Atom] = []
    for factor in atoms:
        if factor in left:
            left.remove(factor)
            shared.append(factor)
    return shared


def factors_left(atom: Atom, divisor: Sequence[Atom]) -> list[Atom] | None:
    """The factors of a monomial less others; ``None`` if some of them are missing."""
    left = list(factors(atom))
    for factor in divisor:
        if factor not in left:
            return None
        left.remove(factor)
    return left


def monomial_form(scope: Scope, atoms: Sequence[Atom]) -> Form:
    """The product of atoms that are what is left of a monomial, maybe none."""
    return Form(0, {scope.monomial(atoms): 1}) if atoms else ONE


def cofactor(scope: Scope, form: Form, factor: Atom) -> Form:
    """What is left of a form all of whose terms have the factor."""
    return multiples(scope, form, (factor,))[0]


def multiples(scope: Scope, form: Form, group: Sequence[Atom]) -> tuple[Form, Form]:
    """``A`` and ``S`` of the form ``G*A + S``, for a product ``G`` of atoms."""
    total = 0
    whole: dict[Atom, int] = {}
    rest: dict[Atom, int] = {}
    for atom, value in form.terms.items():
        left = factors_left(atom, group)
        if left is None:
            rest[atom] = value
        elif left:
            whole[scope.monomial(left)] = value
        else:
            total = value
    return collected(total, whole), Form(form.constant, rest)


def divided(scope: Scope, dividend: Form, divisor: Form) -> tuple[Form, Form]:
    """``T`` and ``A`` of ``dividend = T*divisor + A``, taken out as long as ``A`` gets shorter.

    The divisor is not a constant.
    """
    lead = max(divisor.terms, key=lambda atom: (len(factors(atom)), atom.order))
    outside = ZERO
    for atom in list(dividend.terms):
        whole, remainder = divmod(dividend.terms.get(atom, 0), divisor.terms[lead])
        left = factors_left(atom, factors(lead))
        if remainder or not whole or left is None:
            continue
        step = monomial_form(scope, left).times(whole)
        shorter = dividend.plus(scope.product(step, divisor), -1)
        if _size(shorter) < _size(dividend):
            dividend = shorter
            outside = outside.plus(step)
    return outside, dividend


def exactly_divided(scope: Scope, dividend: Form, divisor: Form) -> Form | None:
    """The quotient, where the divisor is seen to divide the dividend."""
    quotient, rest = divided(scope, dividend, divisor)
    return quotient if rest == ZERO else None


def _size(form: Form) -> int:
    return len(form.terms) + (form.constant != 0)
