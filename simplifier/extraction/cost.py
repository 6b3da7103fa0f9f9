"""What an expression costs a reader and a machine, and what a spelling costs at least.

``+ - *`` cost 1 each; ``floordiv``, ``mod`` and each further operand of ``min`` and ``max`` cost 3;
``a ceildiv c`` costs 4, as ``(a + c - 1) floordiv c`` does. A negative divisor costs 1 more, as the
sign of ``-x`` does. A second use of the same numerator and divisor, as quotient or remainder, costs
1: a compiler computes both at once. So does ``x floordiv 32`` beside the digit ``(x floordiv 4) mod
8``, which divides ``x floordiv 4`` by 8, too.

Terms of a sum whose coefficients have the same size share one multiplication, as if it were written
``(a - b) * 3``; a sum without a positive term needs a sign, which costs 1. Terms of a sum that read
the same digits of one number cost 2 more, with opposite signs 8 more: nobody reads a stride off
``x - (x floordiv 8) * 7``. A remainder alone beside its dividend costs 1 more.
"""

from __future__ import annotations

from itertools import combinations, pairwise, starmap
from typing import TYPE_CHECKING, Final

from simplifier.bounds.digits import common_weight
from simplifier.bounds.interval import meet
from simplifier.expr.form import (
    EXTREMA,
    FLOORDIV,
    Atom,
    AtomKind,
    Digits,
    Form,
    constant,
    postorder,
)
from simplifier.extraction.width import magnitude
from simplifier.limits import MAX_QUOTIENTS
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from simplifier.bounds.interval import Range
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key

    CostOf: TypeAlias = Callable[[Atom], int]


OPERATOR: Final = 1
DIVISION: Final = 3
USED_AGAIN: Final = 1


def cost_of_operation(kind: AtomKind, operands: int) -> int:
    """What an operation costs beside its operands."""
    if kind in EXTREMA:
        return DIVISION * (operands - 1)
    if kind is AtomKind.PRODUCT:
        return OPERATOR * (operands - 1)
    if kind is AtomKind.CEILDIV:
        return DIVISION + OPERATOR
    if kind is AtomKind.SUM:
        return 0
    return DIVISION if operands else 0


def operators_of_sum(form: Form) -> int:
    """What a sum costs beside its atoms: its operators, and digits that overlap."""
    return operators_as_written(form) + overlaps(form)


def operators_as_written(form: Form) -> int:
    """The additions, multiplications and the sign of a sum."""
    count = len(form.terms) + (form.constant != 0)
    if not count:
        return 0
    factors = form.terms.values()
    multipliers = set(map(abs, factors))
    multipliers.discard(1)
    cost = count - 1 + len(multipliers)
    if form.constant <= 0 and max(factors, default=0) < 0 and not (count == 1 and multipliers):
        cost += 1
    return cost


BESIDE_DIVIDEND: Final = 1
"""What ``x mod 8`` costs beside ``x``, where nothing else reads digits of ``x``."""

SAME_DIGITS: Final = 2
"""What ``x floordiv 8`` costs beside ``x``."""

TAKEN_BACK: Final = 8
"""What either of the two costs where their signs differ."""


def overlaps(form: Form) -> int:
    """What it costs that terms of a sum read the same digits of one number.

    With opposite signs one takes back what the other has given, and nobody reads a stride off. A
    remainder alone beside its dividend is easier to read.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x - (x floordiv 8) * 7", "x + x floordiv 8", "x mod 8 + x floordiv 8"):
    ...     print(overlaps(parse_form(text)))
    8
    2
    0
    """
    terms = form.terms
    if len(terms) == 1:
        return 0
    readings: dict[Key, list[tuple[Digits, int]]] = {}
    for atom, factor in terms.items():
        if atom.divisor > 0:
            for digits in atom.digits or digits_of(atom):
                reading = digits, factor * digits.sign
                readings.setdefault(Form(0, digits.source.terms).key, []).append(reading)
    cost = 0
    for found in readings.values():
        source = found[0][0].source
        weight = common_weight(terms, source)
        if not source.constant or form.constant == weight * source.constant:
            if weight:
                found.append((Digits(source, 1, 0, 1), weight))
        else:
            torn = (factor * weight < 0 or (weight and digits.high) for digits, factor in found)
            cost += SAME_DIGITS * sum(map(bool, torn))
        if 1 < len(found) <= MAX_QUOTIENTS:
            cost += (
                BESIDE_DIVIDEND
                if _is_remainder_beside(found)
                else sum(starmap(_cost_of_overlap, combinations(found, 2)))
            )
    return cost


def _is_remainder_beside(found: list[tuple[Digits, int]]) -> bool:
    """Whether only a remainder and its dividend are there, with one sign."""
    if len(found) > 2:  # noqa: PLR2004 - there is more than a remainder and its dividend
        return False
    (one, factor), (other, other_factor) = found
    return one.low == other.low == 1 and bool(one.high) and factor * other_factor > 0


def digits_of(atom: Atom) -> tuple[Digits, ...]:
    """What a division reads of its dividend, and what the divisions in that read."""
    found = [_main_digits(atom)]
    inside = atom.numerator.only_atom
    if inside is None or inside.kind is not FLOORDIV:
        for inner, factor in atom.numerator.terms.items():
            if inner.divisor > 0:
                digits = _main_digits(inner)
                found.append(digits if factor > 0 else digits._replace(sign=-digits.sign))
    atom.digits = tuple(found)
    return atom.digits


def _main_digits(atom: Atom) -> Digits:
    """The digits from the divisor up, or those below it; of ``-x`` as those of ``x``."""
    source, low, divisor, sign = atom.numerator, 1, atom.divisor, 1
    if source.terms and next(iter(source.terms.values())) < 0:
        source, sign = (-source).plus_constant(divisor - 1), -1
    inner = source.only_atom
    if inner is not None and inner.kind is FLOORDIV:
        source, low = inner.numerator, inner.divisor
    is_remainder = atom.kind is AtomKind.MOD
    ends = (low, low * divisor) if is_remainder else (low * divisor, 0)
    return Digits(source, *ends, sign)


def _cost_of_overlap(one: tuple[Digits, int], other: tuple[Digits, int]) -> int:
    """What two readings of one number cost, if digits of it are in both."""
    (source, low, high, _), factor = one
    (other_source, other_low, other_high, _), other_factor = other
    if (high and high <= other_low) or (other_high and other_high <= low):
        return 0
    ends = sorted({low, other_low, high, other_high} - {0})
    if any(larger % smaller for smaller, larger in pairwise(ends)):
        return 0  # digits of different radices
    is_taken_back = factor * other_factor < 0
    if source.constant == other_source.constant:
        return TAKEN_BACK if is_taken_back else SAME_DIGITS
    return SAME_DIGITS if is_taken_back or high or other_high else 0


def cost_of_form(form: Form) -> int:
    """The cost of a form as it stands.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x floordiv 8 + y", "x floordiv 8 + x mod 8", "(x mod 8) * 3 - x"):
    ...     print(cost_of_form(parse_form(text)))
    4
    5
    13
    """
    if form.cost is None:
        form.cost = _Shared().cost(form)
    return form.cost


class _Shared:
    """The cost of a form in which each division is paid once, and its further uses less."""

    def __init__(self) -> None:
        self._uses: dict[Atom, int] = {}
        self._divisions: set[tuple[Key, ...]] = set()

    def cost(self, form: Form) -> int:
        """The cost of all atoms, those outside first: then it is known how often each is used."""
        total = operators_of_sum(form)
        self._use(form, 1)
        inside = postorder((form,))
        self._divisions = divided_by_digits(inside)
        for atom in reversed(inside):
            if atom.arguments:
                total += self._cost_of_atom(atom, self._uses[atom])
        return total

    def _cost_of_atom(self, atom: Atom, uses: int) -> int:
        times = uses
        again = 0
        if atom.kind in DIVISIONS:
            key = division_key(atom)
            is_known = key in self._divisions
            self._divisions.add(key)
            times = 0 if is_known else 1
            again = (uses - times) * USED_AGAIN
        if not times:
            return again
        inside = cost_of_operation(atom.kind, len(atom.arguments)) + (atom.divisor < 0)
        for argument in atom.arguments:
            inside += operators_of_sum(argument)
            self._use(argument, times)
        return again + times * inside

    def _use(self, form: Form, times: int) -> None:
        for atom in form.terms:
            self._uses[atom] = self._uses.get(atom, 0) + times


DIVISIONS: Final = frozenset({AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV})
"""Operations that divide."""


def division_key(atom: Atom) -> tuple[Key, ...]:
    """What two divisions have in common that a computer does once.

    Digits are not divided further: a quotient or a remainder of one is written as one digit.
    """
    numerator, divisor = atom.arguments
    inner = numerator.only_atom
    is_digit = inner is not None and inner.kind in DIVISIONS
    if atom.kind is AtomKind.CEILDIV or is_digit:
        return numerator.key, divisor.key, (atom.kind,)
    return numerator.key, divisor.key


def divided_by_digits(atoms: Iterable[Atom]) -> set[tuple[Key, ...]]:
    """The divisions that the digits among the atoms contain.

    The digit ``(x floordiv 4) mod 8`` divides by 8 once more, which gives ``x floordiv 32``.
    """
    return {
        (inner.numerator.key, constant(inner.divisor * atom.divisor).key)
        for atom in atoms
        if atom.kind is AtomKind.MOD
        and atom.divisor > 1
        and (inner := atom.numerator.only_atom) is not None
        and inner.kind is FLOORDIV
        and inner.divisor > 0
    }


# Fine costs: of spellings of equal cost, the one with fewer terms is better, then the one with
# fewer numbers, then that with fewer signs.

FINE: Final = 4096
"""The cost of an operator in fine units."""

TERM: Final = 256
"""The cost of a further term of a sum, beside that of the operator, in fine units."""

NUMBER: Final = 8
"""The cost of a number in fine units; a negative one costs 1 more."""

WIDE: Final = 1 << 48
"""The cost of a term that needs wider integers than the problem: above any number of operators."""


class Prices:
    """The costs of sums in fine units, where atoms cost what ``cost_of`` says.

    A term that may be greater than ``widest`` costs :data:`WIDE`, unless nothing bounds the form.
    """

    __slots__ = ("_cost_of", "_is_alone", "_magnitudes", "_scope", "_widest")

    def __init__(
        self, scope: Scope, cost_of: CostOf, widest: int | None, *, is_alone: bool = True
    ) -> None:
        self._scope = scope
        self._cost_of = cost_of
        self._widest = widest
        self._is_alone = is_alone
        self._magnitudes: dict[Atom, int | None] = {}

    def sum(self, form: Form, further: int = 0) -> int:
        """The cost of a form and, if ``further`` is not zero, of one more term of this weight.

        What the further term costs itself is not counted.
        """
        cost = fine_cost(form, self._cost_of, further, is_alone=self._is_alone)
        if self._widest is not None:
            for atom, factor in form.terms.items():
                if self._is_wide(atom, factor, self._widest):
                    cost += WIDE
        return cost

    def _is_wide(self, atom: Atom, factor: int, widest: int) -> bool:
        magnitudes = self._magnitudes
        if atom not in magnitudes:
            magnitudes[atom] = magnitude(range_of_spelled(self._scope, atom))
        greatest = magnitudes[atom]
        return greatest is not None and abs(factor) * greatest > widest

    def is_narrow_term(self, operation: Form, weight: int) -> bool:
        """Whether an operation, if it is one, times its weight is no greater than the widest."""
        atom = operation.only_atom
        if self._widest is None or atom is None:
            return True
        return not self._is_wide(atom, weight, self._widest)

    def is_narrow(self, operands: Iterable[Form]) -> bool:
        """Whether no operand may be greater than the widest number."""
        widest = self._widest
        if widest is not None:
            for operand in operands:
                greatest = magnitude(self._scope.range_of(self._scope.canonical(operand)))
                if greatest is not None and greatest > widest:
                    return False
        return True


def range_of_spelled(scope: Scope, atom: Atom) -> Range:
    """The range of an atom of a spelling."""
    ends = scope.ranges.get(atom)
    if ends is None:
        ends = scope.range_of(scope.canonical(Form(0, {atom: 1})))
        if atom.kind is AtomKind.MOD and atom.divisor > 0:
            ends = meet(ends, (0, atom.divisor - 1))
    return ends


def fine_cost(form: Form, cost_of: CostOf, further: int = 0, *, is_alone: bool = True) -> int:
    """The cost in fine units of a form, and of one more term of this weight.

    A sum that is not alone stands beside a positive term, so that it needs no sign of its own.
    """
    terms, constant = form.terms, form.constant
    count = len(terms)
    multipliers: set[int] = set()
    negative = cost = 0
    if constant:
        count += 1
        cost = NUMBER
        negative = constant < 0
    if further:
        count += 1
        multipliers.add(abs(further))
        negative += further < 0
    if not count:
        return 0
    divisions = 0
    for atom, factor in terms.items():
        cost += cost_of(atom)
        if factor < 0:
            negative += 1
            multipliers.add(-factor)
        else:
            multipliers.add(factor)
        if atom.kind in DIVISIONS:
            divisions += 1
    multipliers.discard(1)
    operators = count - 1 + len(multipliers)
    if is_alone and negative == count and not (count == 1 and (multipliers or constant)):
        cost += FINE + TERM + 2 * NUMBER
    if divisions:
        cost += overlaps(form) * (FINE + TERM)
        if divisions > 1:
            cost -= _shared(terms, cost_of)
    return cost + operators * FINE + (count - 1) * TERM + len(multipliers) * NUMBER + negative


def _shared(terms: dict[Atom, int], cost_of: CostOf) -> int:
    """What second uses of divisions save."""
    seen = divided_by_digits(terms)
    saved = 0
    for atom in terms:
        if atom.kind in DIVISIONS:
            key = division_key(atom)
            if key in seen:
                saved += cost_of(atom) - USED_AGAIN * FINE
            seen.add(key)
    return saved


def least_cost_at_a_glance(form: Form) -> int:
    """The cost of one division, if there is any, and of every variable once."""
    quotients = [atom for atom in form.terms if atom.kind is AtomKind.FLOORDIV]
    if not quotients:
        return 0
    seen = {inner for atom in quotients for inner in atom.numerator.terms}
    seen.update(atom for atom in form.terms if atom not in quotients)
    return (2 + sum(atom.kind is AtomKind.VARIABLE for atom in seen)) * FINE


def least_cost(form: Form) -> int:
    """The least cost of parts without a variable in common, which stay apart in any spelling.

    Each holds every variable once, and a division if there was one. Numbers that are multiplied are
    seen in how the form grows; if none is added, the form is zero where all variables are.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x * 2 - (x floordiv 3) * 3", "(y floordiv 3) * 9 + x * 2"):
    ...     print(least_cost(parse_form(text)) // FINE)
    4
    6
    """
    if not all(map(_is_simple, form.terms)):
        return _least_of_kinds(form)
    parts = connected_components(form.terms, _variables)
    operators = len(parts) - 1 + (_at_zero(form) != 0)
    factors: set[int] = set()
    for atoms in parts:
        variables = {variable for atom in atoms for variable in _variables(atom)}
        quotients = [atom for atom in atoms if atom.arguments]
        operators += len(variables) - 1 + (DIVISION if quotients else 0)
        if len(atoms) == 1 and abs(form.terms[atoms[0]]) != atoms[0].divisor:
            factors.add(abs(form.terms[atoms[0]]))
        if len(quotients) == 1:
            factors.update(_growths(form, quotients[0]))
    return (operators + len(factors - {1})) * FINE


def least_cost_of_parts(form: Form, canonical: Callable[[Form], Form]) -> int:
    """What the form costs at least when its operations stay, and only their operands are extracted.

    Nothing is said where terms may vanish: where an extremum may lose all operands but one, or two
    operations have one value.
    """
    total = -FINE
    seen: set[Key] = set()
    for atom in form.terms:
        value = canonical(Form(0, {atom: 1}))
        if value.key in seen or (atom.kind in _VANISHING and value.is_affine):
            return 0
        seen.add(value.key)
        if value.terms:
            total += FINE + _least_of_operation(atom, value, canonical)
    return max(total, 0)


def _least_of_operation(atom: Atom, value: Form, canonical: Callable[[Form], Form]) -> int:
    least = least_cost(value)
    if atom.kind not in DIVISIONS:
        return least
    operands = sum(least_cost(canonical(operand)) for operand in atom.arguments)
    return max(least, DIVISION * FINE + operands)


_VANISHING: Final = (AtomKind.SUM, *EXTREMA)


def _least_of_kinds(form: Form) -> int:
    """Each extremum once, a division if there is one, and every variable once."""
    inside = postorder((form,))
    kinds = [atom.kind for atom in inside]
    extrema = sum(len(atom.arguments) - 1 for atom in inside if atom.kind in EXTREMA)
    joints = max(kinds.count(AtomKind.VARIABLE) - 1 - extrema, 0)
    return (DIVISION * (extrema + (AtomKind.FLOORDIV in kinds)) + joints) * FINE


def _is_simple(atom: Atom) -> bool:
    return atom.kind is AtomKind.VARIABLE or (
        atom.kind is AtomKind.FLOORDIV and atom.numerator.is_affine
    )


def _variables(atom: Atom) -> Iterable[Atom]:
    return atom.numerator.terms if atom.arguments else (atom,)


def _growths(form: Form, quotient: Atom) -> Iterator[int]:
    """How fast the form grows with a variable, in units of the divisor, if that takes a number.

    It needs none to grow like a fraction ``x floordiv k``, or not at all, like a remainder.
    """
    divisor, factor = quotient.divisor, form.terms[quotient]
    for variable, value in quotient.numerator.terms.items():
        growth = abs(form.terms.get(variable, 0) * divisor + factor * value)
        if growth == divisor or (growth and divisor % growth):
            yield growth


def _at_zero(form: Form) -> int:
    """The value where all variables are zero."""
    value = form.constant
    for atom, factor in form.terms.items():
        if atom.arguments:
            value += factor * (atom.numerator.constant // atom.divisor)
    return value
