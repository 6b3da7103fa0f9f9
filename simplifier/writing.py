"""From canonical form to the cheapest spelling: remainders, minima, factored products come back.

Writing is a search: from the canonical form, exact rewritings of one step are priced, the cheapest
is taken, and so on until no step is cheaper. Remainders are tried first, they are the natural
digits. What a step yields is a *spelling*, a form whose atoms stand for themselves and whose
arguments are still canonical; the arguments are spelled in the end.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier import form as forms
from simplifier import operations
from simplifier.cost import cost_of_atom, cost_of_sum
from simplifier.form import ZERO, Atom, Form, Kind, constant, postorder
from simplifier.ranges import factors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simplifier.form import Key
    from simplifier.scope import Scope

    Steps: TypeAlias = Callable[[Scope, Form], Iterator[Form]]
    """Yields forms that are equal to the given one."""


_UNIT: Final = 256
"""The price of an operator, when a negative number costs one more."""

_ODD: Final = 2
"""What a negative divisor costs beside: nobody likes to read one."""

_FEW_QUOTIENTS: Final = 6
"""A sum of more quotients than this is only searched for remainders."""

_MANY_QUOTIENTS: Final = 16
"""A sum of more quotients than this is written as it is."""


def written(scope: Scope, form: Form) -> Form:
    """The cheapest spelling found for a canonical form, arguments and all."""
    speller = _speller(scope)
    for atom in postorder((form,)):
        speller.cost(atom)
    finished: dict[Atom, Form] = {}
    stack = list(speller.spelling(form).terms)
    while stack:
        atom = stack[-1]
        if atom in finished:
            stack.pop()
            continue
        arguments = speller.arguments(atom)
        missing = [
            inner for argument in arguments for inner in argument.terms if inner not in finished
        ]
        if missing:
            stack += missing
            continue
        stack.pop()
        parts = tuple(forms.combine(argument, finished) for argument in arguments)
        finished[atom] = operations.build(atom.kind, parts) if parts else Form(0, {atom: 1})
    return forms.combine(speller.spelling(form), finished)


class Speller:
    """Finds spellings by some steps, and remembers them.

    Pricing a candidate means pricing what it brings in, which again means spelling it: so each
    speller leaves new atoms to a helper, and the last helper makes no steps. Otherwise the work
    would grow exponentially with nesting.
    """

    def __init__(self, scope: Scope, steps: Sequence[Steps], helper: Speller | None) -> None:
        self._scope = scope
        self._steps = steps
        self._helper = helper
        self._costs: dict[Atom, int] = {}
        self._spellings: dict[Key, Form] = {}

    def cost(self, atom: Atom) -> int:
        """What it costs to write the atom, its arguments spelled."""
        cost = self._costs.get(atom)
        if cost is None:
            spelled = self.arguments(atom)
            prices = iter([_price(argument, self.cost) for argument in spelled])
            cost = cost_of_atom(atom, lambda _: next(prices), _UNIT)
            if atom.divisor and spelled[1].constant < 0:
                cost += _ODD
            self._costs[atom] = cost
        return cost

    def arguments(self, atom: Atom) -> tuple[Form, ...]:
        """The arguments in their cheapest spelling; a quotient of negative terms turns signs."""
        arguments = tuple(map(self.spelling, atom.arguments))
        if atom.kind in (Kind.FLOORDIV, Kind.QUOTIENT):
            numerator, divisor = arguments
            sign = divisor if divisor.terms else numerator
            if not _has_positive_term(sign):
                return tuple(self.spelling(-argument) for argument in atom.arguments)
        return arguments

    def spelling(self, form: Form) -> Form:
        """The cheapest spelling of a form, its arguments left as they are."""
        if not self._steps or all(atom.kind is Kind.VARIABLE for atom in form.terms):
            return form
        found = self._spellings.get(form.key)
        if found is None:
            found = self._spellings[form.key] = self._search(form)
        return found

    def _search(self, form: Form) -> Form:
        own = frozenset(postorder((form,)))
        helper = self._helper or self

        def cost_of(atom: Atom) -> int:
            return self.cost(atom) if atom in own else helper.cost(atom)

        current, price, least = form, _price(form, cost_of), _least_price(form) * _UNIT
        for steps in self._steps[: _affordable(form)]:
            while price > least:
                best = None
                for candidate in steps(self._scope, current):
                    candidate_price = _price(candidate, cost_of)
                    if candidate_price < price:
                        best, price = candidate, candidate_price
                if best is None:
                    break
                current = best
        return current


def _price(form: Form, cost_of: Callable[[Atom], int]) -> int:
    """The cost in fine units: of equally dear spellings the one with fewer signs is better."""
    return cost_of_sum(form, cost_of, _UNIT, 1)


def _affordable(form: Form) -> int:
    """How many kinds of steps to try: their number grows with the square of a sum's quotients."""
    quotients = sum(atom.kind is Kind.FLOORDIV for atom in form.terms)
    return 2 if quotients <= _FEW_QUOTIENTS else 1 if quotients <= _MANY_QUOTIENTS else 0


def _speller(scope: Scope) -> Speller:
    if scope.speller is None:
        plain = Speller(scope, (), None)
        brief = Speller(scope, (_remainder_steps, _steps), plain)
        scope.speller = Speller(scope, (_remainder_steps, _steps), brief)
    return scope.speller


def _has_positive_term(form: Form) -> bool:
    return form.constant > 0 or any(factor > 0 for factor in form.terms.values())


def _least_price(form: Form) -> int:
    """What any spelling costs: one division, and every variable once."""
    quotients = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
    if not quotients:
        return 0
    seen = {inner for atom in quotients for inner in atom.numerator.terms}
    seen.update(atom for atom in form.terms if atom not in quotients)
    return 2 + sum(atom.kind is Kind.VARIABLE for atom in seen)


# Steps: each yields forms that are equal to the given one.


def _steps(scope: Scope, form: Form) -> Iterator[Form]:
    yield from _remainder_steps(scope, form)
    yield from _absorbing_steps(form)
    yield from _extremum_steps(form)


def _remainder_steps(scope: Scope, form: Form) -> Iterator[Form]:
    if any(atom.kind in (Kind.PRODUCT, Kind.QUOTIENT) for atom in form.terms):
        yield from _factored(scope, form)
        yield from _symbolic_remainders(scope, form)
    yield from _remainders(scope, form)


def _remainders(scope: Scope, form: Form) -> Iterator[Form]:
    """``k*floor(N/c) = m*(L mod n) - m*L`` with ``L = floor(N/g)``, ``n = c/g``, ``m = -k/n``."""
    quotients = [(atom, factor) for atom, factor in form.terms.items() if _is_quotient(scope, atom)]
    for atom, factor in quotients:
        divisor = atom.divisor
        smallest = divisor // gcd(factor, divisor)
        chain = {smallest, *(other.divisor for other, _ in quotients)}
        for step in sorted(chain):
            if step >= divisor or divisor % step or step % smallest:
                continue
            source = scope.floordiv(atom.numerator, step)
            radix, weight = divisor // step, -factor * step // divisor
            rest = form.plus(source, -weight).without(atom)
            yield from _as_remainder(rest, source, radix, weight)
            # L mod n = n - 1 - ((n - 1 - L) mod n).
            yield from _as_remainder(
                rest.plus_constant(weight * (radix - 1)),
                (-source).plus_constant(radix - 1),
                radix,
                -weight,
            )


def _is_quotient(scope: Scope, atom: Atom) -> bool:
    """Whether the atom is a quotient in normal shape, not one that was only spelled."""
    if atom.kind is not Kind.FLOORDIV:
        return False
    itself = Form(0, {atom: 1})
    return scope.canonical(itself) == itself


def _as_remainder(rest: Form, source: Form, radix: int, weight: int) -> Iterator[Form]:
    """Spellings of ``rest + weight * (source mod radix)``."""
    for numerator in _residues(source, radix):
        yield rest.plus(operations.mod(numerator, constant(radix)), weight)
    if weight < 0:
        for numerator in _residues(-source, radix):
            yield rest.plus(operations.mod(numerator, constant(-radix)), -weight)
    offset = rest.constant
    if weight > 1 and 0 <= offset < weight:
        # m*(L mod n) + r = (m*L + r) mod (m*n) for 0 <= r < m.
        for numerator in _residues(source.times(weight).plus_constant(offset), radix * weight):
            yield rest.plus_constant(-offset).plus(
                operations.mod(numerator, constant(radix * weight))
            )


def _residues(source: Form, radix: int) -> list[Form]:
    """Forms congruent to the source with small coefficients: none negative, or nearest to zero."""
    positive = forms.collected(
        source.constant % radix, {atom: value % radix for atom, value in source.terms.items()}
    )
    if source.constant >= 0 and all(value > 0 for value in source.terms.values()):
        return [positive]
    return [positive, _nearest(positive, radix, 0), _nearest(positive, radix, 1)]


def _nearest(positive: Form, radix: int, tie: int) -> Form:
    terms = {
        atom: value if 2 * value + tie <= radix else value - radix
        for atom, value in positive.terms.items()
    }
    return Form(positive.constant, terms)


def _absorbing_steps(form: Form) -> Iterator[Form]:
    """``k*floor(N/c) + t = k*floor((N + c*t/k)/c)``, with either sign of the quotient."""
    for atom, factor in form.terms.items():
        if atom.kind is not Kind.FLOORDIV or atom.divisor < 1:
            continue
        divisor, rest = atom.divisor, form.without(atom)
        turned = (-atom.numerator).plus_constant(divisor - 1)
        yield rest.plus(_quotient(turned, divisor), -factor)
        for numerator, weight in ((atom.numerator, factor), (turned, -factor)):
            for moved in _movable(rest, numerator, weight):
                inside = numerator.plus(moved.exactly_divided(weight), divisor)
                yield rest.plus(moved, -1).plus(_quotient(inside, divisor), weight)


def _quotient(numerator: Form, divisor: int) -> Form:
    return operations.floordiv(numerator, constant(divisor))


def _movable(rest: Form, numerator: Form, weight: int) -> Iterator[Form]:
    """Sets of terms, as sums, that may move into a quotient of this weight."""
    terms = [Form(0, {atom: factor}) for atom, factor in rest.terms.items() if factor % weight == 0]
    if rest.constant and rest.constant % weight == 0:
        terms.append(constant(rest.constant))
    near = [term for term in terms if all(atom in numerator.terms for atom in term.terms)]
    yield from near
    plain = [term for term in terms if all(atom.kind is Kind.VARIABLE for atom in term.terms)]
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


def _extremum_steps(form: Form) -> Iterator[Form]:
    clamps = [(atom, factor) for atom, factor in form.terms.items() if _is_clamp(atom)]
    for atom, factor in clamps:
        rest = form.without(atom)
        yield from _shifted_extrema(rest, factor, atom.arguments)
        if len(atom.arguments) == 2:  # noqa: PLR2004 - 0 and D
            yield from _double_clamps(rest, atom, factor, clamps)


def _is_clamp(atom: Atom) -> bool:
    return atom.kind is Kind.MAX and atom.arguments[0] == ZERO


def _double_clamps(
    rest: Form, atom: Atom, factor: int, clamps: Sequence[tuple[Atom, int]]
) -> Iterator[Form]:
    """``max(0, D) - max(0, D - b) = min(max(0, D), b)``."""
    for other, value in clamps:
        if value == -factor and len(other.arguments) == 2:  # noqa: PLR2004 - 0 and D
            step = atom.arguments[1].plus(other.arguments[1], -1)
            if step.is_constant and step.constant > 0:
                operands = (Form(0, {atom: -1}), -step)
                near = atom.arguments[1]
                yield from _shifted_extrema(rest.without(other), -factor, operands, near)


def _shifted_extrema(
    rest: Form, weight: int, operands: Sequence[Form], near: Form = ZERO
) -> Iterator[Form]:
    """``k*max(A, B) + t = k*max(A + t/k, B + t/k)``, also as a minimum of negated operands."""
    close = {atom for operand in (*operands, near) for atom in operand.terms}
    for factor, join, sign in ((weight, operations.maximum, 1), (-weight, operations.minimum, -1)):
        signed = [operand.times(sign) for operand in operands]
        can_move = _part_divisible(rest, factor, close)
        for moved in _moves_into(can_move, signed):
            outside = rest.plus(moved, -factor)
            inside = [operand.plus(moved) for operand in signed]
            yield outside.plus(join(inside), factor)
            if abs(factor) > 1:
                scaled = join([operand.times(abs(factor)) for operand in inside])
                yield outside.plus(scaled, 1 if factor > 0 else -1)


def _part_divisible(rest: Form, factor: int, close: set[Atom]) -> Form:
    """The terms of near atoms, and the constant, that the factor divides; divided."""
    terms = {
        atom: value // factor
        for atom, value in rest.terms.items()
        if atom in close and value % factor == 0
    }
    return Form(rest.constant // factor if rest.constant % factor == 0 else 0, terms)


def _moves_into(can_move: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, all, each alone, what cancels in one operand, all but the constant."""
    yield ZERO
    yield can_move
    for atom, value in can_move.terms.items():
        yield Form(0, {atom: value})
    if can_move.constant:
        yield constant(can_move.constant)
    for operand in operands:
        terms = {
            atom: value
            for atom, value in can_move.terms.items()
            if operand.terms.get(atom) == -value
        }
        offset = (
            can_move.constant if can_move.constant and operand.constant == -can_move.constant else 0
        )
        yield Form(offset, terms)
    yield Form(0, can_move.terms)


# Steps for products and symbolic divisors.


def _factored(scope: Scope, form: Form) -> Iterator[Form]:
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
        scale = scale if _has_positive_term(shared) else -scale
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
) -> Iterator[Form]:
    single = Form(0, {factor: 1})
    yield rest.plus(operations.product((single, shared)), scale)
    lead = next(iter(shared.terms), None)
    repeats = rest.terms.get(lead, 0) // (shared.terms[lead] * scale) if lead is not None else 0
    if repeats and rest == shared.times(repeats * scale):
        yield operations.product((single.plus_constant(repeats), shared)).times(scale)
    spelled = _speller(scope).spelling(shared)
    if len(spelled.terms) == 1 and not spelled.constant:
        yield rest.plus(operations.product((single, spelled)), scale)


def _symbolic_remainders(scope: Scope, form: Form) -> Iterator[Form]:
    """``m*A - m*B*floor(A/B) = m*(A mod B)``."""
    seen = dict.fromkeys(factor for atom in form.terms for factor in _factors(atom))
    for atom in seen:
        if atom.kind is not Kind.QUOTIENT or not atom.arguments[1].terms:
            continue
        numerator, divisor = atom.arguments
        for scale in sorted({1, gcd(divisor.constant, *divisor.terms.values())}):
            source = scope.floordiv(numerator, scale)
            radix = Form(
                divisor.constant // scale, {a: value // scale for a, value in divisor.terms.items()}
            )
            multiple = scope.product(radix, Form(0, {atom: 1}))
            lead = next(iter(multiple.terms))
            weight = -(form.terms.get(lead, 0) // multiple.terms[lead])
            if weight and all(
                form.terms.get(a, 0) == -weight * value for a, value in multiple.terms.items()
            ):
                rest = form.plus(multiple, weight).plus(source, -weight)
                yield rest.plus(operations.mod(source, radix), weight)
