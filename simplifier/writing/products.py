"""Products are factored again, and quotients by symbols come back as remainders."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier import operations
from simplifier.form import ZERO, Atom, Form, Kind
from simplifier.laws import symbolic
from simplifier.ranges import factors
from simplifier.writing.rewriting import Rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.scope import Scope


def product_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """Common factors leave sums of products; quotients by symbols become remainders."""
    yield from _factored(scope, form)
    yield from _symbolic_remainders(scope, form)


def _factored(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """``x*A + x*B = x*(A + B)``."""
    counts: dict[Atom, int] = {}
    for atom in form.terms:
        for factor in dict.fromkeys(_factors(atom)):
            counts[factor] = counts.get(factor, 0) + 1
    for factor, count in counts.items():
        if count < 2:  # noqa: PLR2004 - a factor of one term is not shared
            continue
        inside = {atom: value for atom, value in form.terms.items() if factor in _factors(atom)}
        rest = Form(
            form.constant, {atom: value for atom, value in form.terms.items() if atom not in inside}
        )
        shared = _cofactor(Form(0, inside), factor)
        scale = gcd(shared.constant, *shared.terms.values())
        scale = scale if shared.has_positive_term else -scale
        yield from _with_cofactor(scope, rest, factor, shared.exactly_divided(scale), scale)


def _cofactor(form: Form, factor: Atom) -> Form:
    """What is left of a form without constant all of whose terms have the factor."""
    total = ZERO
    for atom, value in form.terms.items():
        left = list(_factors(atom))
        left.remove(factor)
        total = total.plus(operations.product(Form(0, {other: 1}) for other in left), value)
    return total


def _factors(atom: Atom) -> tuple[Atom, ...]:
    """The atoms that a product multiplies; a spelled product of sums counts as one."""
    if atom.kind is Kind.PRODUCT and any(
        argument.constant or len(argument.terms) > 1 for argument in atom.arguments
    ):
        return (atom,)
    return factors(atom)


def _with_cofactor(
    scope: Scope, rest: Form, factor: Atom, shared: Form, scale: int
) -> Iterator[Rewriting]:
    single = Form(0, {factor: 1})
    yield Rewriting(rest, scale, Kind.PRODUCT, [(single, shared)])
    lead = next(iter(shared.terms), None)
    repeats = rest.terms.get(lead, 0) // (shared.terms[lead] * scale) if lead is not None else 0
    if repeats and rest == shared.times(repeats * scale):
        yield Rewriting(ZERO, scale, Kind.PRODUCT, [(single.plus_constant(repeats), shared)])
    spelled = scope.speller.spelling(shared) if scope.speller else shared
    if len(spelled.terms) == 1 and not spelled.constant:
        yield Rewriting(rest, scale, Kind.PRODUCT, [(single, spelled)])


def _symbolic_remainders(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """``m*A - m*B*floor(A/B) = m*(A mod B)``, and ``A`` may be ``floor(N/g)`` for ``B >= 1``."""
    seen = dict.fromkeys(factor for atom in form.terms for factor in _factors(atom))
    for atom in seen:
        if atom.kind is not Kind.QUOTIENT or not atom.arguments[1].terms:
            continue
        numerator, divisor = atom.arguments
        for scale in sorted({1, gcd(divisor.constant, *divisor.terms.values())}):
            source, radix = scope.floordiv(numerator, scale), divisor.exactly_divided(scale)
            if scale > 1 and symbolic.divisor_range(scope, radix)[0] < 1:
                continue
            multiple = scope.product(radix, Form(0, {atom: 1}))
            lead = next(iter(multiple.terms))
            weight = -(form.terms.get(lead, 0) // multiple.terms[lead])
            if weight and all(
                form.terms.get(a, 0) == -weight * value for a, value in multiple.terms.items()
            ):
                rest = form.plus(multiple, weight).plus(source, -weight)
                yield Rewriting(rest, weight, Kind.MOD, [(source, radix)])
