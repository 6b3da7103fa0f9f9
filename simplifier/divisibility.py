"""Whether a fraction is an integer, by what is known: ``K*x/2`` of even ``K``, ``n*(n + 1)/2``."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from simplifier.bounds.context import variables_multiplied
from simplifier.bounds.interval import Interval
from simplifier.expr import operations
from simplifier.expr.form import ZERO, AtomKind
from simplifier.fixpoint import range_of
from simplifier.limits import MAX_NESTED_CHOICES, MAX_RESIDUES
from simplifier.surroundings import hidden, outermost

if TYPE_CHECKING:
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def is_multiple(scope: Scope, form: Form, divisor: Form, choices: int = MAX_NESTED_CHOICES) -> bool:
    """Whether a form is seen to be a multiple of another; so many choices are looked into.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.parser import parse_form
    >>> even = scope_of((), ((parse_form("k mod 2"), Interval(0, 0)),))
    >>> is_multiple(even, parse_form("select(x > 5, k, y * 4)"), parse_form("2"))
    True
    >>> is_multiple(even, parse_form("n * n + n"), parse_form("2"))
    True
    """
    # Mostly the remainder vanishes where all equations are solved, whatever its choices are.
    remainder = operations.mod(form, divisor)
    rest = hidden(remainder)
    within = scope.of_variables_in(rest)
    while within.smaller is not None:
        solution, within = within.smaller
        rest = solution.substituted(rest)
    if _has_residues_of_multiple(rest, within) or within.canonical(rest) == ZERO:
        return True
    if range_of(scope.of_variables_in(remainder), remainder) == Interval(0, 0):
        return True
    return _is_multiple_in_branches(scope, form, divisor, choices)


def _has_residues_of_multiple(remainder: Form, scope: Scope) -> bool:
    """Whether a remainder by a number is that of a polynomial which is 0 for all residues."""
    atom = remainder.only_atom
    if atom is None or atom.kind is not AtomKind.MOD or not atom.divisor:
        return False
    number = abs(atom.divisor)
    return _is_zero_modulo(atom.numerator, number) or (
        not atom.numerator.is_affine and _is_zero_modulo(scope.canonical(atom.numerator), number)
    )


def _is_zero_modulo(form: Form, number: int) -> bool:
    """Whether a form is 0 modulo a number for all residues of what it multiplies.

    >>> from simplifier.expr.parser import parse_form
    >>> _is_zero_modulo(parse_form("n * n + n * 3 + (x floordiv 4) * 2"), 2)
    True
    """
    terms = [
        (factor, variables_multiplied(atom))
        for atom, factor in form.terms.items()
        if factor % number
    ]
    names = {variable: None for _, variables in terms for variable in variables}
    if not all(variables for _, variables in terms) or number ** len(names) > MAX_RESIDUES:
        return False
    return all(
        (
            form.constant
            + sum(factor * prod(map(values.__getitem__, each)) for factor, each in terms)
        )
        % number
        == 0
        for residues in product(range(number), repeat=len(names))
        for values in [dict(zip(names, residues, strict=True))]
    )


def _is_multiple_in_branches(scope: Scope, form: Form, divisor: Form, choices: int) -> bool:
    """Whether both branches of the first choice are multiples, each under its condition."""
    found = outermost((form,), (AtomKind.SELECT,))
    if not found or not choices:
        return False
    condition, chosen, other = found[0].arguments
    branches = (condition, chosen), (operations.negation(condition), other)
    return all(
        within.is_empty
        or is_multiple(within, operations.replace(form, {found[0]: value}), divisor, choices - 1)
        for holds, value in branches
        for within in [scope.under(holds)]
    )
