"""What facts imply together: ``a >= b``, ``b >= c`` and ``c >= d`` bound ``a - d``.

If facts and bounds, each taken a number of times that is not negative, add up to a form, they bound
it. The best such numbers are the dual solution of a linear program. The simplex method finds them:
it starts from the bounds of the atoms, which is interval arithmetic, and exchanges one inequality
at a time, as long as the bound gets better. So each step is sound, and any step may be the last.

Atoms count as variables, about which more is known: ``floor(N/c)`` is at most ``N/c`` and greater
than ``N/c - 1``, and a maximum is at least each of its operands.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from operator import mul
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.bounds.context import Fact
from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, End, Range, meet
from simplifier.expr.form import EXTREMA, FLOORDIV, MAX, VARIABLE, Atom, Form, content
from simplifier.limits import MAX_LINKED_ATOMS, MAX_PIVOTS, MAX_TERMS_LINKED
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


_REMEMBERED_PROGRAMS: Final = 1 << 12
"""Scopes that differ in a fact ask the same of all others."""


class LinearFacts:
    """Facts about several atoms each, and what holds of the operations among these atoms."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        known = list(facts)
        atoms = {atom: None for fact in known for atom in fact.form.terms}
        known += _defining(_of_extremum, atoms)
        self._groups = _in_groups(known)
        known += _defining(_of_quotient, atoms)
        self._about: dict[Atom, list[tuple[int, Fact]]] = {}
        self._group_of: dict[Atom, int] = {}
        numbers = count()
        for group_number, group in enumerate(_in_groups(known)):
            for fact in group:
                numbered = next(numbers), fact
                for atom in fact.form.terms:
                    self._about.setdefault(atom, []).append(numbered)
                    self._group_of[atom] = group_number

    def narrowed(self, range_of: Callable[[Atom], Range]) -> Iterator[tuple[Atom, Range]]:
        """The ranges that facts leave to variables, where facts without quotients form a cycle.

        Elsewhere facts one after the other narrow bounds as far as all together, or nearly so.
        """
        for group in self._groups:
            atoms = {atom: None for fact in group for atom in fact.form.terms}
            is_cyclic = sum(len(fact.form.terms) - 1 for fact in group) >= len(atoms)
            if is_cyclic and all(atom.kind is not FLOORDIV for atom in atoms):
                for atom in atoms:
                    if atom.kind is VARIABLE:
                        yield atom, _range_by(Form(0, {atom: 1}), self._near([atom]), range_of)

    def range_of(self, form: Form, range_of: Callable[[Atom], Range]) -> Range | None:
        """The range that facts and the ranges of atoms leave; ``None`` if no facts link atoms.

        Nor of a sum of many terms: of these the facts one after the other tell most.
        """
        if len(form.terms) > MAX_TERMS_LINKED:
            return None
        facts = self._linking(form)
        return _range_by(form, facts, range_of) if facts else None

    def _linking(self, form: Form) -> list[Fact]:
        """The facts of groups that speak of two atoms of the form, if there are any."""
        own = _defining(definition, (atom for atom in form.terms if atom not in self._about))
        atoms = [*form.terms, *(atom for fact in own for atom in fact.form.terms)]
        groups = [self._group_of[atom] for atom in dict.fromkeys(atoms) if atom in self._about]
        if len(set(groups)) == len(groups):
            return []
        return [*own, *self._near(atoms)]

    def _near(self, atoms: Iterable[Atom]) -> list[Fact]:
        """Facts about some atoms, about other atoms in these, and so on, not too many."""
        about, found = self._about, dict[int, Fact]()
        waiting = list(dict.fromkeys(atoms))
        seen = set(waiting)
        for atom in waiting:
            for number, fact in about.get(atom, ()):
                if number in found:
                    continue
                new = [other for other in fact.form.terms if other not in seen]
                if not new or len(seen) + len(new) <= MAX_LINKED_ATOMS:
                    found[number] = fact
                    seen.update(new)
                    waiting += new
        return list(found.values())


def definition(atom: Atom) -> Iterator[tuple[Form, Range]]:
    """What holds of an operation and its operands: forms, and the ranges that they lie in.

    >>> from simplifier.expr.parser import parse_form
    >>> (quotient,) = parse_form("x floordiv 4").terms
    >>> list(definition(quotient))
    [(Form(x - (x floordiv 4) * 4), (0, 3))]
    """
    yield from _of_extremum(atom)
    yield from _of_quotient(atom)


def _in_groups(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Facts about several atoms, one about each form, in groups that have no atom in common."""
    found: dict[Form, Fact] = {}
    for fact in facts:
        if len(fact.form.terms) > 1:
            old = found.get(fact.form, fact)
            found[fact.form] = fact._replace(ends=meet(old.ends, fact.ends))
    return connected_components(found.values(), lambda fact: fact.form.terms)


def _defining(
    define: Callable[[Atom], Iterable[tuple[Form, Range]]], atoms: Iterable[Atom]
) -> list[Fact]:
    """What holds of operations and their operands, as facts."""
    facts = (Fact.of(form, ends) for atom in atoms for form, ends in define(atom))
    return [fact for fact in facts if fact is not None]


def _of_extremum(atom: Atom) -> Iterator[tuple[Form, Range]]:
    if atom.kind in EXTREMA:
        sign = 1 if atom.kind is MAX else -1
        for operand in atom.arguments:
            yield operand.plus_atom(atom, -1).times(sign), (NEGATIVE_INFINITY, 0)


def _of_quotient(atom: Atom) -> Iterator[tuple[Form, Range]]:
    if atom.kind is FLOORDIV and atom.divisor > 0:
        yield atom.numerator.plus_atom(atom, -atom.divisor), (0, atom.divisor - 1)


# Linear programming.


def _range_by(form: Form, facts: Sequence[Fact], range_of: Callable[[Atom], Range]) -> Range:
    atoms = dict.fromkeys([*form.terms, *(atom for fact in facts for atom in fact.form.terms)])
    return _range_within(form, tuple(facts), tuple((atom, range_of(atom)) for atom in atoms))


@lru_cache(maxsize=_REMEMBERED_PROGRAMS)
def _range_within(
    form: Form, facts: tuple[Fact, ...], ranges: tuple[tuple[Atom, Range], ...]
) -> Range:
    atoms, ends = zip(*ranges, strict=True)
    scale = content(form)
    places = {atom: at for at, atom in enumerate(atoms)}
    known: list[Inequality] = []
    others = len(atoms) - 1
    for at, each in enumerate(ends):
        known += _inequalities([*[0] * at, 1, *[0] * (others - at)], each)
    for fact in facts:
        known += _inequalities(_factors(fact.form, places), fact.ends)
    wanted = [factor // scale for factor in _factors(form, places)]
    upper = LinearProgram(wanted, ends, known).minimum()
    lower = -LinearProgram([-factor for factor in wanted], ends, known).minimum()
    return form.constant + scale * lower, form.constant + scale * upper


def _factors(form: Form, places: Mapping[Atom, int]) -> list[int]:
    factors = [0] * len(places)
    for atom, factor in form.terms.items():
        factors[places[atom]] = factor
    return factors


Inequality: TypeAlias = "tuple[Sequence[int], int]"
"""Factors of the atoms, and what their sum is at most."""


def _inequalities(factors: Sequence[int], ends: Range) -> list[Inequality]:
    """One for each end."""
    lower, upper = ends
    above: list[Inequality] = [(factors, upper)] if isinstance(upper, int) else []
    if isinstance(lower, int):
        return [*above, ([-factor for factor in factors], -lower)]
    return above


class LinearProgram:
    """The dual program: inequalities, how often each is taken, and what they add up to.

    A tableau of integers over one denominator: a row for each atom, which holds how often its
    basic inequality is taken, and each inequality as a combination of the basic ones. Two further
    rows hold what each inequality would change the bound by: how many infinite ends, and how much.
    """

    def __init__(
        self, wanted: Sequence[int], ends: Sequence[Range], known: Iterable[Inequality]
    ) -> None:
        signs, infinite, finite = zip(*map(_basic, wanted, ends), strict=True)
        has_infinite = any(infinite)

        def column(factors: Sequence[int], end: int) -> list[int]:
            taken = list(map(mul, factors, signs))
            endless = sum(map(mul, infinite, taken)) if has_infinite else 0
            return [*taken, -endless, end - sum(map(mul, finite, taken))]

        columns = [column(wanted, 0), *(column(factors, end) for factors, end in known)]
        table = list(map(list, zip(*columns, strict=True)))
        self._rows, self._bound = table[:-2], table[-2:]
        self._denominator = 1

    def minimum(self) -> End:
        """The least bound: rounded down, as what is bounded is an integer."""
        for _ in range(MAX_PIVOTS):
            changes = list(zip(*self._bound, strict=True))[1:]
            best = min(changes, default=(0, 0))
            if best >= (0, 0):
                break
            column = changes.index(best) + 1
            leaving = self._leaving(column)
            if leaving is None:
                return NEGATIVE_INFINITY
            self._exchange(leaving, column)
        infinite, finite = self._bound
        return INFINITY if infinite[0] else -finite[0] // self._denominator

    def _leaving(self, column: int) -> int | None:
        """The row of the inequality that is used up first."""
        best: int | None = None
        for at, row in enumerate(self._rows):
            if row[column] > 0:
                other = self._rows[best] if best is not None else None
                if other is None or row[0] * other[column] < other[0] * row[column]:
                    best = at
        return best

    def _exchange(self, leaving: int, column: int) -> None:
        """Take another inequality in place of a basic one; all divisions are exact."""
        pivots = self._rows[leaving]
        pivot, denominator = pivots[column], self._denominator
        for row in (*self._rows, *self._bound):
            factor = row[column]
            if row is not pivots and (factor or pivot != denominator):
                row[:] = [
                    (own * pivot - factor * other) // denominator
                    for own, other in zip(row, pivots, strict=True)
                ]
        self._denominator = pivot


def _basic(factor: int, ends: Range) -> tuple[int, int, int]:
    """Which end of an atom bounds it at first: 1 for the upper, -1 for the lower.

    And how many infinite ends it adds, and how much. Of an atom that is not asked for, it is a
    finite end.
    """
    lower, upper = ends
    if factor > 0 or (not factor and isinstance(upper, int)):
        return (1, 0, upper) if isinstance(upper, int) else (1, 1, 0)
    return (-1, 0, -lower) if isinstance(lower, int) else (-1, 1, 0)
