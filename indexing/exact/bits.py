"""Forms whose bits are exclusive ors of bits of variables, such as ``bitxor(d0, d0 floordiv 8)``.

They are read into matrices over the field of two elements (:mod:`indexing.exact.bits`) and
written back, as few digits of variables as possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, zip_longest
from typing import Final, TypeAlias

from simplifier import forms
from simplifier.forms import Atom, AtomKind, Form, Interval, fold, range_of, scope_of
from simplifier.tools.graphs import connected_components

Rows = tuple[int, ...]
"""For each bit of a value, the lowest first, the input bits of which it is the exclusive or."""


@dataclass(frozen=True, slots=True)
class InputBits:
    """The bits of a variable among all input bits: from ``first`` on, ``count`` of them."""

    variable: Form
    first: int
    count: int


def input_bits(sizes: Mapping[str, int]) -> tuple[InputBits, ...]:
    """The digits of variables with these numbers of bits, one after another."""
    places = accumulate(sizes.values(), initial=0)
    return tuple(
        InputBits(forms.variable(name), first, count)
        for (name, count), first in zip(sizes.items(), places, strict=False)
    )


# In digits.

_MAX_DIGITS: Final = 16
"""Bits of the operands of a function that is written in digits: isl takes seconds for more."""


def in_digits(wanted: Sequence[Form], bounds: Mapping[str, Interval]) -> tuple[Form, ...]:
    """The forms with sums of binary digits, which isl can express, in place of functions of bits.

    A function of an operand without bounds stays.

    >>> from simplifier import Interval
    >>> from simplifier.forms import parse_form
    >>> print(*in_digits([parse_form("bitand(x, y)")], dict.fromkeys("xy", Interval(0, 1))))
    (x + y - (x + y) mod 2) floordiv 2
    """
    scope = scope_of(tuple(bounds.items()))

    def written(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        if atom.kind not in forms.ON_BITS:
            return forms.rebuilt(atom, arguments)
        sides = [range_of(scope, operand) for operand in atom.arguments]
        ends = [end for side in sides for end in (side.lower, side.upper) if end is not None]
        count = max((max(end, ~end).bit_length() for end in ends), default=0)
        if len(ends) < 2 * len(sides) or count > _MAX_DIGITS:
            return forms.rebuilt(atom, arguments)
        total = arguments[0] + arguments[1]
        differing = _digits_that_differ(arguments, count, is_signed=min(ends) < 0)
        if atom.kind is AtomKind.BITXOR:
            return differing
        twice = total + differing if atom.kind is AtomKind.BITOR else total - differing
        return twice // 2

    values = fold(wanted, written, forms.combine)
    return tuple(forms.combine(form, values) for form in wanted)


def _digits_that_differ(operands: Sequence[Form], count: int, *, is_signed: bool) -> Form:
    """The exclusive or of the lowest bits of two operands, and of their signs."""

    def digit(place: int) -> Form:
        one, other = (each // (1 << place) for each in operands)
        return (one + other) % 2

    digits = [(1 << place, digit(place)) for place in range(count)]
    return forms.weighted_sum([*digits, (-is_signed << count, digit(count))])


# Reading.


def read_rows(form: Form, inputs: Iterable[InputBits]) -> Rows | None:
    """The rows of a form; ``None`` if its bits are no exclusive ors of input bits.

    >>> from simplifier.forms import variable
    >>> (x,) = inputs = input_bits({"x": 4})
    >>> half = forms.floordiv(variable("x"), forms.constant(4))
    >>> read_rows(forms.bitwise(AtomKind.BITXOR, (variable("x"), half)), inputs)
    (5, 10, 4, 8)
    """
    known = {str(digits.variable): digits for digits in inputs}
    return _rows_of_sum(form, known)


def _rows_of_sum(form: Form, known: Mapping[str, InputBits]) -> Rows | None:
    """Terms add without a carry if each input parity has a weight and no weights share bits."""
    weights: Counter[int] = Counter()
    for atom, factor in form.terms.items():
        rows = _rows_of_atom(atom, known)
        if rows is None:
            return None
        for position, row in enumerate(rows):
            weights[row] += factor << position if row else 0

    if form.constant or any(weight < 0 for weight in weights.values()):
        return None
    total = weights.total()
    places = {position: row for row, weight in weights.items() for position in bits(weight)}
    if total.bit_count() != sum(weight.bit_count() for weight in weights.values()):
        return None
    return tuple(places.get(position, 0) for position in range(total.bit_length()))


def _rows_of_atom(atom: Atom, known: Mapping[str, InputBits]) -> Rows | None:
    if atom.kind is AtomKind.VARIABLE:
        digits = known.get(str(forms.Form(0, {atom: 1})))
        return digits and tuple(1 << digits.first + bit for bit in range(digits.count))
    if atom.kind is AtomKind.BITXOR:
        return _exclusive_or([_rows_of_sum(each, known) for each in atom.arguments])
    if atom.kind is AtomKind.BITAND:
        return _masked(atom.arguments, known)
    if atom.kind in {AtomKind.FLOORDIV, AtomKind.MOD}:
        return _part(atom, known)
    return None


def _part(atom: Atom, known: Mapping[str, InputBits]) -> Rows | None:
    """The higher bits of a quotient by a power of two, or the lower ones of a remainder."""
    numerator, divisor = atom.arguments
    rows, size = _rows_of_sum(numerator, known), divisor.constant
    if rows is None or not divisor.is_constant or size < 1 or size & (size - 1):
        return None
    place = size.bit_length() - 1
    return rows[place:] if atom.kind is AtomKind.FLOORDIV else rows[:place]


def _exclusive_or(operands: Sequence[Rows | None]) -> Rows | None:
    total: Rows = ()
    for rows in operands:
        if rows is None:
            return None
        total = tuple(left ^ right for left, right in zip_longest(total, rows, fillvalue=0))
    return total


def _masked(operands: Sequence[Form], known: Mapping[str, InputBits]) -> Rows | None:
    masks = [each.constant for each in operands if each.is_constant]
    others = [each for each in operands if not each.is_constant]
    if len(masks) != 1 or len(others) != 1 or masks[0] < 0:
        return None
    rows = _rows_of_sum(others[0], known)
    return rows and tuple(row * (masks[0] >> place & 1) for place, row in enumerate(rows))


# Writing.


@dataclass(frozen=True, slots=True)
class _Term:
    """A digit of a variable at some place of the value: bits ``first`` to ``first + count``."""

    digit: Form
    first: int
    count: int

    @property
    def places(self) -> int:
        return (1 << self.count) - 1 << self.first


def write_rows(rows: Sequence[int], inputs: Iterable[InputBits]) -> Form:
    """A form with these rows: digits that share no bits are added, the others go into a bitxor.

    >>> print(write_rows((5, 10, 4, 8), input_bits({"x": 4})))
    bitxor(x, x floordiv 4)
    """
    terms = [term for digits in inputs for term in _terms(rows, digits)]
    groups = connected_components(terms, lambda term: bits(term.places))
    return sum(map(_joined, groups), forms.ZERO)


def written(matrix: Matrix, sources: Mapping[str, int], targets: Mapping[str, int]) -> list[Form]:
    """The numbers that a matrix makes of variables; both have these numbers of bits."""
    inputs, rows = input_bits(sources), transposed(matrix, sum(targets.values()))
    parts = (rows[digits.first : digits.first + digits.count] for digits in input_bits(targets))
    return [write_rows(part, inputs) for part in parts]


def _terms(rows: Sequence[int], digits: InputBits) -> Iterator[_Term]:
    """The longest digits of a variable that are moved as one to some place."""
    for shift in range(1 - digits.count, len(rows)):
        run = 0
        for source in range(digits.count + 1):
            place = source + shift
            is_inside = source < digits.count and 0 <= place < len(rows)
            if is_inside and rows[place] >> digits.first + source & 1:
                run += 1
            elif run:
                start = source - run
                yield _Term(_digit(digits, start, run), start + shift, run)
                run = 0


def _digit(digits: InputBits, start: int, count: int) -> Form:
    form = digits.variable // (1 << start)
    return form % (1 << count) if start + count < digits.count else form


def _joined(terms: Sequence[_Term]) -> Form:
    """The exclusive or of terms, of as few sums as possible."""
    layers: list[tuple[int, Form]] = []
    for term in sorted(terms, key=lambda each: -each.count):
        shifted = term.digit * (1 << term.first)
        for number, (places, total) in enumerate(layers):
            if not places & term.places:
                layers[number] = (places | term.places, total + shifted)
                break
        else:
            layers.append((term.places, shifted))
    sums = tuple(total for _, total in layers)
    return sums[0] if len(sums) == 1 else forms.bitwise(AtomKind.BITXOR, sums)


# Matrices over the field of two elements, as the images of the bits of a number.
#
# A matrix is a tuple of integers: entry `i` is the image of bit `i`, and the image of a number is
# the exclusive or of the images of its bits.

Matrix: TypeAlias = "Sequence[int]"
"""The image of each bit, the lowest bit first."""


def bits(number: int) -> Iterator[int]:
    """The positions of the bits that are set, the lowest first.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def image(matrix: Matrix, number: int) -> int:
    """The image of a number under a matrix.

    >>> image((1, 2, 4 | 1), 0b110)
    7
    """
    return reduce(lambda total, position: total ^ matrix[position], bits(number), 0)


def composed(outer: Matrix, inner: Matrix) -> tuple[int, ...]:
    """The matrix that applies ``inner`` first."""
    return tuple(image(outer, column) for column in inner)


def transposed(matrix: Matrix, size: int) -> tuple[int, ...]:
    """The matrix that has columns for the rows; images have ``size`` bits.

    >>> transposed((1, 2, 4 | 1), 3)
    (5, 2, 4)
    """
    return tuple(
        sum(1 << column for column, value in enumerate(matrix) if value >> row & 1)
        for row in range(size)
    )


class Elimination:
    """The columns of a matrix in echelon form, to find preimages.

    >>> found = Elimination((3, 2, 1))
    >>> found.rank, found.solution(1), found.solution(4)
    (2, 3, None)
    """

    __slots__ = ("_reduced",)

    def __init__(self, matrix: Matrix) -> None:
        """Reduce the columns in order: later ones that depend on earlier ones are left out."""
        self._reduced: dict[int, tuple[int, int]] = {}
        for position, column in enumerate(matrix):
            rest, used = self._rest(column)
            if rest:
                self._reduced[rest.bit_length()] = (rest, used ^ (1 << position))

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self._reduced)

    def solution(self, number: int) -> int | None:
        """A number with this image, of bits of independent columns; ``None`` if there is none."""
        rest, used = self._rest(number)
        return None if rest else used

    def _rest(self, number: int) -> tuple[int, int]:
        """The rest of a number after all columns, and the columns used."""
        used = 0
        for leading in sorted(self._reduced, reverse=True):
            if number >> (leading - 1) & 1:
                vector, combination = self._reduced[leading]
                number ^= vector
                used ^= combination
        return number, used


def right_inverse(matrix: Matrix, size: int) -> tuple[int, ...] | None:
    """A number with this image for each of ``size`` bits; ``None`` if some bit has none.

    It is the inverse of a matrix that has one.

    >>> right_inverse((3, 2, 1), 2), right_inverse((3,), 2)
    ((3, 2), None)
    """
    elimination = Elimination(matrix)
    found = [elimination.solution(1 << position) for position in range(size)]
    known = tuple(number for number in found if number is not None)
    return known if len(known) == size else None
