"""Cost of an expression: what a machine executes, each distinct subexpression once.

| operation | cost |
| --- | --- |
| ``+``, ``-``; times, floordiv and mod by a power of two; a comparison | 1 |
| times another constant, or a product of variables; an extremum of two; a choice | 2 |
| floordiv by another number | 4 |
| mod by another number; beside the floordiv of the same numbers | 6; 2 |
| the dividend of these may be negative, or the divisor | + 4 |
| a subexpression used again | 0 |

The prices are fitted to the instructions of two C compilers, PTX and SASS. Of forms of equal cost
that one is better from which strides can be read off, then the one with fewer operators.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise, starmap
from operator import attrgetter
from typing import Any, Final, TypeAlias

from simplifier.bounds.digits import is_power_of_two
from simplifier.expr import form as forms
from simplifier.expr.form import CONDITIONS, EXTREMA, FLOORDIV, Atom, AtomKind, Digits, Form, Key
from simplifier.expr.operations import is_condition
from simplifier.expr.printer import sides
from simplifier.limits import MAX_DEPTH, MAX_QUOTIENTS

Node: TypeAlias = "Atom | Key"
"""What a machine computes once: an operation, a multiple of one, a sum, or a division."""

Operations: TypeAlias = "dict[Node, int]"
"""The operations inside a form, each with its price."""


ADDITION: Final = 1
NEGATION: Final = 1
BY_POWER: Final = 1
"""Times, floordiv or mod by a power of two: a shift or a mask."""

MULTIPLICATION: Final = 2
EXTREMUM: Final = 2
DIVISION: Final = 4
REMAINDER: Final = 2
"""The remainder of a division that is paid already."""

MAY_BE_NEGATIVE: Final = 4
CALL: Final = 4
CHOICE: Final = 2
"""Of two values by a condition; a condition that is a number chooses between 0 and 1."""


DIVISIONS: Final = frozenset({FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV})
"""Operations that divide."""


class Costs:
    """The costs of forms, where it is known which dividends and divisors may be negative."""

    __slots__ = ("_costs", "_may_be_negative", "_measures", "_operations", "_readings", "_torn")

    def __init__(self, may_be_negative: Callable[[Form], bool]) -> None:
        self._may_be_negative = may_be_negative
        self._measures = self.of, self._times_torn, self._divides_negative, self._reading
        """What forms are compared by: the first that differs tells, and no other is asked."""
        self._costs: dict[Key, int] = {}
        self._operations: dict[Atom, Operations] = {}
        self._torn: dict[Atom, int] = {}
        self._readings: dict[Atom, tuple[int, int]] = {}

    def prefers(self, form: Form, other: Form) -> bool:
        """Whether a form is cheaper than an equal one or, at the same cost, reads better."""
        return _is_less(form, other, self._measures)

    def precedes(self, form: Form, other: Form) -> bool:
        """Whether a form is the better of two equal ones; of two alike, the first by structure."""
        return _is_less(form, other, (*self._measures, attrgetter("order")))

    def rank(self, form: Form) -> tuple[object, ...]:
        """Sorts equal forms: the best first."""
        return *[measure(form) for measure in self._measures], form.order

    def operators(self, form: Form) -> int:
        """The operators of a form as it is printed."""
        return self._reading(form)[0]

    def _reading(self, form: Form) -> tuple[int, int]:
        known = self._readings
        for atom in _unknown(form, known):
            inside = [_reading_of_sum(each, known) for each in atom.arguments]
            operators, signs = map(sum, zip(*inside, strict=True))
            known[atom] = operators + _weight(atom) + operators_inside(atom), signs
        operators, signs = _reading_of_sum(form, known)
        own = 0 if forms.negated(form) else operators_as_written(form)
        return operators + own, signs

    def _times_torn(self, form: Form) -> int:
        """How often digits are torn.

        They are where a sum reads a number twice, or where they are written the other way round:
        ``(x mod 12) floordiv 4``.
        """
        known = self._torn
        for atom in _unknown(form, known):
            inside = [_times_torn_in_sum(each, known) for each in atom.arguments]
            known[atom] = sum(inside) + _is_reversed_digit(atom)
        return _times_torn_in_sum(form, known)

    def _divides_negative(self, form: Form) -> bool:
        return any(map(self._may_be_negative, dividends(form)))

    def of(self, form: Form) -> int:
        """The cost of a form."""
        found = self._costs.get(form.key)
        if found is None:
            found = self._costs[form.key] = sum(self.operations(form).values())
        return found

    def operations(self, form: Form) -> Operations:
        """The operations inside a form, each with its price."""
        known = self._operations
        found: Operations = {}
        for atom in form.terms:
            if atom.arguments:
                found.update(known.get(atom) or self._find(atom))
        _add_sum(found, form)
        return found

    def _find(self, outer: Atom) -> Operations:
        """The operations of an atom and of those inside it, these first."""
        known, inside = self._operations, outer.inside
        if inside is None or outer.depth > MAX_DEPTH:
            # To keep the operations of each atom would take the square of the levels.
            found: Operations = {}
            for atom in forms.postorder((Form(0, {outer: 1}),)):
                self._add_atom(found, atom)
            return found
        for atom in (*inside, outer):
            if atom.arguments and atom not in known:
                found = {}
                for argument in atom.arguments:
                    for inner in argument.terms:
                        if inner.arguments:
                            found.update(known[inner])
                self._add_atom(found, atom)
                known[atom] = found
        return known[outer]

    def _add_atom(self, found: Operations, atom: Atom) -> None:
        """Add an operation and the sums that it is applied to, without what is inside these."""
        for each in _sums_in(atom):
            if each.terms:
                _add_sum(found, each)
        if atom.kind in DIVISIONS:
            self._add_division(found, atom)
        elif atom.arguments:
            price = _PRICES.get(atom.kind, ADDITION)
            found[atom] = price * max(len(atom.arguments) - 1, 1)

    def _add_division(self, found: Operations, atom: Atom) -> None:
        """A remainder and a quotient of the same numbers share one division.

        ``x ceildiv 8`` is ``(x + 7) floordiv 8``.
        """
        dividend, divisor = atom.arguments
        size = abs(atom.divisor)
        if atom.divisor < 0:
            found[atom, "sign"] = NEGATION
        if atom.kind is AtomKind.CEILDIV:
            dividend = dividend.plus(divisor).plus_constant(-1)
            _add_sum(found, dividend)
        if size and is_power_of_two(size):
            found[atom.kind is AtomKind.MOD, dividend.key, size] = BY_POWER
            return
        price = DIVISION
        if self._may_be_negative(dividend) or (divisor.terms and self._may_be_negative(divisor)):
            price += MAY_BE_NEGATIVE
        found[dividend.key, divisor.key] = price
        if atom.kind is AtomKind.MOD:
            found[atom] = REMAINDER


_COMPARISONS: Final = {AtomKind.NONNEGATIVE: ">=", AtomKind.ZERO: "=="}

_PRICES: Final[Mapping[AtomKind, int]] = {
    **dict.fromkeys(EXTREMA, EXTREMUM),
    AtomKind.PRODUCT: MULTIPLICATION,
    AtomKind.SELECT: CHOICE // 2,
    AtomKind.CALL: CALL,
    AtomKind.SUM: 0,
}
"""Prices for each operand after the first, or for the only one."""


def _sums_in(atom: Atom) -> Sequence[Form]:
    """The sums that an operation is applied to; a comparison has two sides."""
    if atom.kind not in _COMPARISONS:
        return atom.arguments
    left, _, right = sides(atom.numerator, _COMPARISONS[atom.kind])
    return left, right


def _add_sum(found: Operations, form: Form) -> None:
    """The additions, multiplications and the sign of a sum. A negation in a choice is free."""
    terms, constant = form.terms, form.constant
    additions = len(terms) - (not constant)
    is_negative = constant <= 0
    for atom, factor in terms.items():
        if atom.arguments and atom.kind in CONDITIONS:
            if is_condition(form):
                return
            found[atom, "as a number"] = CHOICE
        if factor == 1:
            is_negative = False
        elif factor != -1:
            size = abs(factor)
            found[atom, size] = BY_POWER if is_power_of_two(size) else MULTIPLICATION
            is_negative = False
    additions += is_negative and bool(terms)
    if additions > 0:
        found[form.key] = additions * ADDITION


def cost_of_form(form: Form) -> int:
    """The cost of a form as it stands; no dividend counts as negative.

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("x floordiv 8 + y", "x floordiv 7 + x mod 7", "(x mod 7) * 3 - x"):
    ...     print(cost_of_form(parse_form(text)))
    2
    7
    9
    """
    if form.cost is None:
        form.cost = Costs(lambda _: False).of(form)
    return form.cost


# Of equal cost: strides that can be read off.


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
    if len(terms) <= 1:
        return 0
    readings: dict[Key, list[tuple[Digits, int]]] = {}
    for atom, factor in terms.items():
        if atom.divisor > 0:
            for digits in atom.digits or digits_of(atom):
                readings.setdefault(digits.number, []).append((digits, factor * digits.sign))
    cost = 0
    for found in readings.values():
        source = found[0][0].source
        weight = forms.common_weight(terms, source)
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
        if _is_remainder_beside(found):
            return cost + BESIDE_DIVIDEND
        cost += sum(starmap(_cost_of_overlap, combinations(found, 2)))
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


def dividends(form: Form) -> Iterator[Form]:
    """What is divided in a form."""
    return (atom.numerator for atom in forms.postorder((form,)) if atom.kind in DIVISIONS)


def _is_less(form: Form, other: Form, measures: Iterable[Callable[[Form], Any]]) -> bool:
    """Whether a form is less than another by the first measure by which they differ."""
    for measure in measures:
        one, another = measure(form), measure(other)
        if one != another:
            return one < another
    return False


def _unknown(form: Form, known: Container[Atom]) -> list[Atom]:
    """The operations in a form of which nothing is known, each after those inside it."""
    return [atom for atom in forms.postorder((form,)) if atom.arguments and atom not in known]


def _reading_of_sum(form: Form, known: Mapping[Atom, tuple[int, int]]) -> tuple[int, int]:
    """How many operators and signs a sum holds, where it is known of its operations.

    Its own operators do not count.
    """
    operators, signs = 0, int(form.constant < 0)
    for atom, factor in form.terms.items():
        signs += factor < 0
        if atom.arguments:
            inside = known[atom]
            operators, signs = operators + inside[0], signs + inside[1]
    return operators, signs


def _times_torn_in_sum(form: Form, known: Mapping[Atom, int]) -> int:
    """How often digits are torn in a sum, where it is known of its operations."""
    terms, torn = form.terms, overlaps(form)
    for atom in terms:
        if atom.arguments:
            torn += known[atom]
            if len(terms) > 1 and atom.kind is not AtomKind.PRODUCT:
                torn += sum(inner in terms for each in atom.arguments for inner in each.terms)
    return torn


def _is_reversed_digit(atom: Atom) -> bool:
    kinds = [inner.kind for inner in atom.numerator.terms]
    return atom.kind is FLOORDIV and kinds == [AtomKind.MOD]


# How many operators an expression has as it is written, weighted: a measure to compare by.
#
# Nothing is shared, and digits that overlap cost no more.

_OPERATOR: Final = 1
_DIVISION: Final = 3


_WEIGHTS: Final[Mapping[AtomKind, int]] = {
    AtomKind.PRODUCT: _OPERATOR,
    AtomKind.CEILDIV: _DIVISION + _OPERATOR,
    AtomKind.SUM: 0,
    **dict.fromkeys(CONDITIONS, _OPERATOR),
}
"""Costs for each operand after the first, or for the only one; of others :data:`_DIVISION`."""


def _weight(atom: Atom) -> int:
    """Cost of an operation without its operands; of a choice or a call it is one for all."""
    is_one = atom.kind in (AtomKind.SELECT, AtomKind.CALL)
    return _WEIGHTS.get(atom.kind, _DIVISION) * (1 if is_one else max(len(atom.arguments) - 1, 1))


def operators_as_written(form: Form) -> int:
    """The additions, multiplications and the sign of a sum."""
    count = len(form.terms) + (form.constant != 0)
    if not count:
        return 0
    factors = form.terms.values()
    multipliers = set(map(abs, factors))
    multipliers.discard(1)
    cost = count - 1 + len(multipliers)
    conditions = sum(atom.kind in CONDITIONS for atom in form.terms)
    if conditions and not is_condition(form):
        cost += _DIVISION * conditions
    if form.constant <= 0 and max(factors, default=0) < 0 and not (count == 1 and multipliers):
        cost += 1
    return cost


def operators_inside(atom: Atom) -> int:
    """The operators of an atom's sums; a negation costs nothing."""
    return sum(operators_as_written(each) for each in _sums_in(atom) if not forms.negated(each))


def operator_count_of_form(form: Form) -> int:
    """The weighted number of operators of a form, each counted wherever it stands.

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("x mod 8 + x floordiv 8", "min(x, y, 3) * 5", "select(x > y, x + 1, 0)"):
    ...     print(operator_count_of_form(parse_form(text)))
    7
    7
    5
    """
    return Costs(lambda _: False).operators(form)


class CostsToReaders(Costs):
    """What a reader of strides pays: operators as printed, and digits that are torn.

    By these costs sums stay digits times strides, whatever a machine executes.
    """

    __slots__ = ()

    def of(self, form: Form) -> int:
        """The cost of a form."""
        return self.operators(form) + _TORN * self._times_torn(form)


_TORN: Final = 4
"""What it costs a reader that a number is read twice, in operators."""
