"""Linear indices: sums of dimensions whose digits are results, as of a reshape from 6x8 to 4x12.

``(d0 * 8 + d1) floordiv 12`` and ``(d0 * 8 + d1) mod 12`` are the digits of ``d0 * 8 + d1``. Its
tile is a run of values if only ``d1`` has several, or all of it; the run is a box of digits if
its size divides 12, or is a multiple of 12.
"""

from __future__ import annotations

from itertools import permutations
from math import gcd, prod
from sys import maxsize
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.tile.axes import TileAxis
from indexing.tile.digit_sums import DigitRun
from indexing.tile.radices import Radices, TileDigit, cuts_of, greatest_count, levels
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.fixpoint import range_of, simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indexing.domain import Constraint
    from indexing.tile.digit_sums import DigitSum
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom, Form


_TWO: Final = 2

_ALL: Final = DigitRun(0, maxsize, ())
"""All digits are whole."""


class IndexDigit(NamedTuple):
    """An atom that is a digit of a number, or what is missing from it to the greatest digit."""

    atom: Atom
    weight: int
    size: int | None
    """It lies in ``[0, size - 1]``, if that is known."""
    is_reversed: bool = False

    def digit(self, name: str, *, is_highest: bool) -> TileDigit:
        """The digit of a variable with this name; the highest is the whole quotient."""
        return TileDigit(name, 0, self.weight, None if is_highest else self.size)


class LinearIndex(NamedTuple):
    """A number, and atoms that are its digits, the lowest first."""

    form: Form
    parts: tuple[IndexDigit, ...]

    @property
    def size(self) -> int | None:
        """It lies in ``[0, size - 1]``, if that is known."""
        sizes = [part.size for part in self.parts if part.size is not None]
        return prod(sizes) if len(sizes) == len(self.parts) else None

    @property
    def used(self) -> frozenset[str]:
        """The variables in it."""
        return frozenset(forms.variables_of((self.form,)))

    def reversed(self) -> LinearIndex:
        """What is missing from a number of known size to the greatest one."""
        form = forms.constant((self.size or 1) - 1) - self.form
        parts = (part._replace(is_reversed=not part.is_reversed) for part in self.parts)
        return LinearIndex(form, tuple(parts))


def linear_indices(atoms: Iterable[Atom], scope: Scope) -> list[LinearIndex]:
    """The indices that become simpler when digits are put together.

    >>> from simplifier import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.parser import parse_form
    >>> scope = scope_of((("d0", Interval(0, 7)), ("d1", Interval(0, 2))))
    >>> texts = "(d0 * 3 + d1) floordiv 4", "(d1 - d0) mod 4"
    >>> (index,) = linear_indices([parse_form(text).only_atom for text in texts], scope)
    >>> index.form, [(part.atom.arguments[0], part.weight) for part in index.parts]
    (Form(d0 * 3 + d1), [(Form(d1 - d0), 1), (Form(d0 * 3 + d1), 4)])
    """
    indices = [_of_atom(atom, scope) for atom in atoms]
    while (pair := _first_pair(indices, scope)) is not None:
        low, high, joined = pair
        indices = [joined if each is high else each for each in indices if each is not low]
    return [each for each in indices if len(each.parts) > 1]


def _of_atom(atom: Atom, scope: Scope) -> LinearIndex:
    form = forms.Form(0, {atom: 1})
    values = range_of(scope, form)
    part = IndexDigit(atom, 1, values.size if values.lower == 0 else None)
    if atom.kind is AtomKind.MOD and atom.divisor == _TWO and atom.numerator.constant % _TWO:
        other = operations.mod(atom.numerator.plus_constant(1), forms.constant(_TWO))
        form = forms.ONE - other  # (x + 1) mod 2 == 1 - x mod 2
    return LinearIndex(form, (part,))


def _first_pair(
    indices: list[LinearIndex], scope: Scope
) -> tuple[LinearIndex, LinearIndex, LinearIndex] | None:
    """The lower digits, the higher ones, and both together; neighbours first."""
    places = permutations(range(len(indices)), 2)
    for low, high in sorted(places, key=lambda pair: (abs(pair[0] - pair[1]), pair)):
        joined = _joined(indices[low], indices[high], scope)
        if joined is not None:
            return indices[low], indices[high], joined
    return None


def _joined(low: LinearIndex, high: LinearIndex, scope: Scope) -> LinearIndex | None:
    """One index for two, if that has fewer quotients."""
    if low.size is None or low.used.isdisjoint(high.used):
        return None
    before = _quotients([low.form, high.form], scope)
    raised = tuple(part._replace(weight=part.weight * low.size) for part in high.parts)
    for lower in (low, low.reversed()):
        form = lower.form + high.form.times(low.size)
        if _quotients([form], scope) < before:
            return LinearIndex(simplified(scope, form), (*lower.parts, *raised))
    return None


def _quotients(parts: Iterable[Form], scope: Scope) -> int:
    """How many different operations the canonical forms have."""
    atoms = forms.postorder(map(scope.canonical, parts))
    return sum(atom.kind is not AtomKind.VARIABLE for atom in atoms)


# The tile of an index.


def radices_of_index(
    name: str,
    index: DigitSum,
    digits: Iterable[TileDigit],
    radices: Mapping[str, Radices],
    *,
    is_nested: bool,
) -> Radices | None:
    """The digits of an index, which is a sum of digits, and when a tile of it is a box of them.

    ``None`` if a tile has no run of values. If another index adds its digits up, a run must begin
    at a multiple of its size.
    """
    ordered = tuple(sorted(digits, key=lambda digit: digit.weight))
    cuts, extent = cuts_of(ordered), _extent(index, radices)
    is_cut = extent is not None and any(extent % cut for cut in cuts)
    runs = [run for run in index.runs(radices) if abs(index.terms[run.first][0]) == 1]
    if not runs:
        return None
    clause: list[tuple[Constraint, ...]] = []
    for run in runs:
        clause += _boxes(index, run, radices, cuts, is_nested=is_nested)
    if is_cut and _is_aligned(_step(index, _ALL, radices), cuts[-1], is_nested=is_nested):
        clause.append(index.wholes(radices))
    axis = TileAxis(name, index.base(radices, 1), index.size(radices), 0, extent)
    return Radices(axis, ordered, tuple(clause), is_complete=True, is_cut=is_cut)


def _extent(index: DigitSum, radices: Mapping[str, Radices]) -> int | None:
    """How many values an index has, if they follow each other."""
    reach = 1
    for factor, digit in index.terms:
        count = greatest_count(radices[digit.variable].axis, digit)
        if abs(factor) != reach or count is None:
            return None
        reach *= count
    return reach


def _boxes(
    index: DigitSum,
    run: DigitRun,
    radices: Mapping[str, Radices],
    cuts: list[int],
    *,
    is_nested: bool,
) -> Iterator[tuple[Constraint, ...]]:
    """When the values of a run are a box of digits."""
    factor, digit = index.terms[run.last]
    count, step = radices[digit.variable].count(digit), _step(index, run, radices)
    for level in levels(count, cuts, abs(factor), step):
        yield *run.limits, *level, *([_divides(count.times(factor), step)] if is_nested else [])


def _is_aligned(step: int, cut: int, *, is_nested: bool) -> bool:
    return step == 0 if is_nested else step % cut == 0


def _divides(count: Form, number: int) -> Constraint:
    return operations.mod(forms.constant(number), count), Interval(0, 0)


def _step(index: DigitSum, run: DigitRun, radices: Mapping[str, Radices]) -> int:
    """Runs begin at multiples of this number plus multiples of their size."""
    offset, *steps = index.fixed.constant, *index.fixed.terms.values()
    for number, (factor, digit) in enumerate(index.terms):
        axis = radices[digit.variable].axis
        first = digit.of(axis.begin if axis.is_range else forms.constant(axis.origin))
        if not run.first <= number <= run.last:
            steps.append(factor)
        elif not first.is_constant:
            steps.append(1)
        else:
            offset += first.constant * factor
            if factor < 0:  # it begins with the last value of a tile: at a multiple less one
                offset -= factor
                whole = greatest_count(axis, digit) if number < run.last else None
                offset += factor * whole if whole is not None else 0
    return gcd(offset, *steps)
