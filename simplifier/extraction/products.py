"""Products are factored again, and quotients by symbols come back as remainders."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier.bounds.polynomials import (
    as_quotient,
    factors,
    from_its_end,
    is_symbolic_quotient,
    strided_digits,
    symbolic_digits,
)
from simplifier.canonical.nonlinear import turned
from simplifier.expr import operations
from simplifier.expr.form import ONE, ZERO, Atom, AtomKind, Form, weighted_sum
from simplifier.extraction.candidates import Candidates
from simplifier.laws.catalogue.quotients import FLATTEN
from simplifier.laws.catalogue.spellings import (
    FACTORED,
    REFLECTED_REMAINDER,
    ROUNDED_UP,
    SYMBOLIC_REMAINDER,
)
from simplifier.laws.catalogue.symbolic import INTEGER_OUTSIDE, TURNED_BY_SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simplifier.bounds.polynomials import SymbolicDigit
    from simplifier.canonical.scope import Scope
    from simplifier.laws.law import Law


def product_steps(
    scope: Scope, form: Form, extracted: Callable[[Form], Form]
) -> Iterator[Candidates]:
    """Common factors leave sums of products; quotients by symbols become remainders."""
    yield from _factored(form, extracted)
    yield from _symbolic_remainders(scope, form)
    yield from _symbolic_quotients(scope, form)


def _factored(form: Form, extracted: Callable[[Form], Form]) -> Iterator[Candidates]:
    """``x*A + x*B = x*(A + B)``."""
    sharing: dict[Atom, list[Atom]] = {}
    for atom in form.terms:
        for factor in dict.fromkeys(factors(atom)):
            sharing.setdefault(factor, []).append(atom)
    for factor, inside in sharing.items():
        if len(inside) > 1:
            shared = weighted_sum((form.terms[atom], _cofactor(atom, factor)) for atom in inside)
            scale = gcd(shared.constant, *shared.terms.values())
            scale = scale if shared.has_positive_term else -scale
            shared = shared.exactly_divided(scale)
            rest = form.without(*inside)
            yield from _with_cofactor(rest, factor, shared, extracted(shared), scale)


def _cofactor(atom: Atom, factor: Atom) -> Form:
    """What is left of a monomial without one of its factors."""
    left = list(factors(atom))
    left.remove(factor)
    return operations.product(Form(0, {other: 1}) for other in left)


def _with_cofactor(
    rest: Form, factor: Atom, shared: Form, extracted: Form, scale: int
) -> Iterator[Candidates]:
    single = Form(0, {factor: 1})
    yield Candidates(rest, scale, AtomKind.PRODUCT, [(single, shared)], (FACTORED,))
    lead = next(iter(shared.terms), None)
    repeats = rest.terms.get(lead, 0) // (shared.terms[lead] * scale) if lead is not None else 0
    if repeats and rest == shared.times(repeats * scale):
        both = single.plus_constant(repeats)
        yield Candidates(ZERO, scale, AtomKind.PRODUCT, [(both, shared)], (FACTORED,))
    if len(extracted.terms) == 1 and not extracted.constant:
        yield Candidates(rest, scale, AtomKind.PRODUCT, [(single, extracted)], (FACTORED,))


def _symbolic_remainders(scope: Scope, form: Form) -> Iterator[Candidates]:
    """``m*L - m*R*floor(L/R) = m*(L mod R)``, also counted from its other end."""
    if not any(is_symbolic_quotient(factor) for atom in form.terms for factor in factors(atom)):
        return
    terms = {atom: value for atom, value in form.terms.items() if _is_canonical(scope, atom)}
    kept = form.without(*terms)
    canonical = Form(0, terms)
    for digit in (*symbolic_digits(scope, canonical), *strided_digits(scope, canonical)):
        readings: list[tuple[SymbolicDigit, tuple[Law, ...]]] = [(digit, (SYMBOLIC_REMAINDER,))]
        if scope.divisor_range(digit.radix)[0] >= 1:
            turned = from_its_end(scope, digit)
            readings.append((turned, (SYMBOLIC_REMAINDER, REFLECTED_REMAINDER)))
        for (rest, weight, source, radix, stride), laws in readings:
            if stride == ONE:
                yield Candidates(rest.plus(kept), weight, AtomKind.MOD, [(source, radix)], laws)
            else:
                strided = stride, operations.mod(source, radix)
                yield Candidates(rest.plus(kept), weight, AtomKind.PRODUCT, [strided], laws)


def _is_canonical(scope: Scope, atom: Atom) -> bool:
    return all(map(scope.is_canonical, factors(atom)))


def _symbolic_quotients(scope: Scope, form: Form) -> Iterator[Candidates]:
    """Quotients by symbols are flattened, turned, and rounded up instead of down."""
    for atom, factor in form.terms.items():
        divided = as_quotient(scope, atom)
        if divided is None or not scope.is_canonical(atom):
            continue
        numerator, divisor = divided
        rest = form.without(atom)
        flat: tuple[Law, ...] = ()
        if atom.kind is AtomKind.FLOORDIV:
            flat = (INTEGER_OUTSIDE,) if len(atom.numerator.terms) == 1 else (FLATTEN,)
        yield Candidates(rest, factor, AtomKind.QUOTIENT, [divided], flat)
        up = (*flat, ROUNDED_UP)
        yield Candidates(rest, -factor, AtomKind.CEILDIV, [(-numerator, divisor)], up)
        if scope.divisor_range(divisor)[0] >= 1:
            # floor(A/B) + 1 = ceil((A + 1)/B) = -floor((-A - 1)/B).
            less = rest.plus_constant(-factor)
            above, other = [(numerator.plus_constant(1), divisor)], (*flat, TURNED_BY_SYMBOLS)
            yield Candidates(less, factor, AtomKind.CEILDIV, above, (*other, ROUNDED_UP))
            yield Candidates(
                less, -factor, AtomKind.QUOTIENT, [(turned(numerator), divisor)], other
            )
