"""Cost of an expression for a reader and a machine.

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

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, pairwise, starmap
from typing import Final

from simplifier.bounds.digits import common_weight
from simplifier.expr import form as forms
from simplifier.expr.form import CONDITIONS, EXTREMA, FLOORDIV, Atom, AtomKind, Digits, Form, Key
from simplifier.expr.operations import is_condition
from simplifier.expr.printer import sides
from simplifier.limits import MAX_QUOTIENTS

OPERATOR: Final = 1
DIVISION: Final = 3
USED_AGAIN: Final = 1


def cost_of_operation(kind: AtomKind, operands: int) -> int:
    """Cost of an operation without its operands."""
    if kind in EXTREMA:
        return DIVISION * (operands - 1)
    if kind is AtomKind.PRODUCT:
        return OPERATOR * (operands - 1)
    if kind is AtomKind.CEILDIV:
        return DIVISION + OPERATOR
    if kind is AtomKind.SUM:
        return 0
    if kind in CONDITIONS:
        return OPERATOR * max(operands - 1, 1)
    return DIVISION if operands else 0


def operators_of_sum(form: Form) -> int:
    """Cost of a sum without its atoms: its operators, and digits that overlap."""
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
"""Cost of ``x mod 8`` in a sum with ``x``, where nothing else reads digits of ``x``."""

SAME_DIGITS: Final = 2
"""Cost of ``x floordiv 8`` in a sum with ``x``."""

TAKEN_BACK: Final = 8
"""Cost of either of the two where their signs differ."""


def overlaps(form: Form) -> int:
    """Cost of terms of a sum that read the same digits of one number.

    With opposite signs one takes back what the other has given, and nobody reads a stride off. A
    remainder alone beside its dividend is easier to read.

    >>> from simplifier.expr.text import parse_form
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
                readings.setdefault(digits.number, []).append((digits, factor * digits.sign))
    cost = 0
    for found in readings.values():
        source = found[0][0].source
        weight = common_weight(terms, source)
        if weight or len(found) > 1:
            cost += _cost_of_readings(found, source, weight, form.constant)
    return cost


def _cost_of_readings(
    found: list[tuple[Digits, int]], source: Form, weight: int, constant: int
) -> int:
    """Cost of the readings of one number, which itself is a term of the sum so many times."""
    cost = 0
    if not source.constant or constant == weight * source.constant:
        if weight:
            found.append((Digits((), source, 1, 0, 1), weight))
    else:
        expanded = (factor * weight < 0 or (weight and digits.high) for digits, factor in found)
        cost += SAME_DIGITS * sum(map(bool, expanded))
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
    """Digits that a division reads of its dividend, and those that the divisions in it read."""
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
    return Digits(Form(0, source.terms).key, source, *ends, sign)


def _cost_of_overlap(one: tuple[Digits, int], other: tuple[Digits, int]) -> int:
    """Cost of two readings of one number, if digits of it are in both."""
    (_, source, low, high, _), factor = one
    (_, other_source, other_low, other_high, _), other_factor = other
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

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("x floordiv 8 + y", "x floordiv 8 + x mod 8", "(x mod 8) * 3 - x"):
    ...     print(cost_of_form(parse_form(text)))
    4
    5
    13
    """
    if form.cost is None:
        form.cost = operators_as_written(form) if form.is_affine else _Shared().cost(form)
    return form.cost


class _Shared:
    """The cost of a form in which each division is paid once, and its further uses less."""

    def __init__(self) -> None:
        self._uses: dict[Atom, int] = {}
        self._divisions: set[Key] = set()
        self._deciding: dict[Atom, int] = {}
        """How often conditions decide something; elsewhere they are numbers, chosen by them."""

    def cost(self, form: Form) -> int:
        """The cost of all atoms, those outside first: then it is known how often each is used."""
        total = 0 if forms.negated(form) else operators_of_sum(form)
        self._use(form, 1)
        if is_condition(form):
            self._decide(form, 1)
        inside = forms.postorder((form,))
        self._divisions = divided_by_digits(inside)
        for atom in reversed(inside):
            if atom.arguments:
                total += self._cost_of_atom(atom, self._uses[atom])
        return total

    def _cost_of_atom(self, atom: Atom, uses: int) -> int:
        times = uses
        again = 0
        if atom.kind in DIVISIONS:
            key = atom.division or division_of(atom)
            is_known = key in self._divisions
            self._divisions.add(key)
            times = 0 if is_known else 1
            again = (uses - times) * USED_AGAIN
        if not times:
            return again
        if atom.kind in _CHOOSING:
            if atom.kind in CONDITIONS:
                again = DIVISION * (uses - self._deciding.get(atom, 0))
            for condition in _conditions_in(atom):
                self._decide(condition, times)
        for argument in atom.arguments:
            self._use(argument, times)
        return again + times * (atom.own_cost if atom.own_cost >= 0 else _own_cost(atom))

    def _decide(self, condition: Form, times: int) -> None:
        for atom in condition.terms:
            self._deciding[atom] = self._deciding.get(atom, 0) + times

    def _use(self, form: Form, times: int) -> None:
        for atom in form.terms:
            self._uses[atom] = self._uses.get(atom, 0) + times


def _own_cost(atom: Atom) -> int:
    """Cost of an operation with the sums that it is applied to, without their atoms."""
    cost = cost_of_operation(atom.kind, len(atom.arguments)) + (atom.divisor < 0)
    if atom.kind in _CHOOSING:
        cost += operators_inside(atom, operators_of_sum)
    else:
        cost += sum(map(operators_of_sum, atom.arguments))
    atom.own_cost = cost
    return cost


_CHOOSING: Final = frozenset({*CONDITIONS, AtomKind.SELECT})


def _conditions_in(atom: Atom) -> tuple[Form, ...]:
    """The conditions that a choice or condition looks at."""
    if atom.kind is AtomKind.SELECT:
        return atom.arguments[:1]
    return atom.arguments if atom.kind is AtomKind.AND else ()


def operators_inside(atom: Atom, of_sum: Callable[[Form], int]) -> int:
    """The operators of an atom's sums; a comparison has two sides, a negation costs nothing."""
    arguments = atom.arguments
    if atom.kind in (AtomKind.NONNEGATIVE, AtomKind.ZERO):
        left, _, right = sides(arguments[0], ">=")
        return of_sum(left) + of_sum(right)
    return sum(of_sum(each) for each in arguments if not forms.negated(each))


DIVISIONS: Final = frozenset({AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV})
"""Operations that divide."""


def division_of(atom: Atom) -> Key:
    """Key that two divisions share if a computer does them at once.

    Digits are not divided further: a quotient or a remainder of one is written as one digit.
    """
    numerator, divisor = atom.arguments
    inner = numerator.only_atom
    is_digit = inner is not None and inner.kind in DIVISIONS
    is_apart = atom.kind is AtomKind.CEILDIV or is_digit
    atom.division = (numerator.key, divisor.key, atom.kind if is_apart else None)
    return atom.division


def divided_by_digits(atoms: Iterable[Atom]) -> set[Key]:
    """The divisions that the digits among the atoms contain.

    The digit ``(x floordiv 4) mod 8`` divides by 8 once more, which gives ``x floordiv 32``.
    """
    return {
        (inner.numerator.key, forms.constant(inner.divisor * atom.divisor).key, None)
        for atom in atoms
        if atom.kind is AtomKind.MOD
        and atom.divisor > 1
        and (inner := atom.numerator.only_atom) is not None
        and inner.kind is FLOORDIV
        and inner.divisor > 0
    }


# How many operators an expression has as it is written, weighted: a measure to compare by.
#
# It was the cost function of earlier versions. Operators weigh as much as in the cost, but
# nothing is shared, and digits that overlap cost no more.


def operator_count_of_form(form: Form) -> int:
    """The weighted number of operators of a form, each counted wherever it stands.

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("x mod 8 + x floordiv 8", "min(x, y, 3) * 5", "select(x > y, x + 1, 0)"):
    ...     print(operator_count_of_form(parse_form(text)))
    7
    7
    5
    """
    own = 0 if forms.negated(form) else operators_as_written(form)
    return own + _of_atoms(form, forms.fold((form,), _of_atom, _of_atoms))


def _of_atom(atom: Atom, inside: tuple[int, ...]) -> int:
    own = cost_of_operation(atom.kind, len(inside))
    return own + operators_inside(atom, operators_as_written) + sum(inside)


def _of_atoms(form: Form, counts: Mapping[Atom, int]) -> int:
    """The operators inside the atoms of a sum."""
    return sum(counts[atom] for atom in form.terms)
