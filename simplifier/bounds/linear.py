"""What facts imply together: ``a >= b``, ``b >= c`` and ``c >= d`` bound ``a - d``.

If facts and bounds, each taken a number of times that is not negative, add up to a form, they bound
it. The best such numbers are the dual solution of a linear program. The simplex method finds them:
it starts from the bounds of the atoms, which is interval arithmetic, and exchanges one inequality
at a time, as long as the bound gets better. So each step is sound, and any step may be the last.

Atoms count as variables, about which more is known: ``floor(N/c)`` is at most ``N/c`` and greater
than ``N/c - 1``, and a maximum is at least each of its operands.
"""

from __future__ import annotations

from itertools import chain
from operator import mul
from typing import TYPE_CHECKING

from simplifier.bounds.context import Fact
from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, End, Infinity, Range, meet
from simplifier.expr.form import FLOORDIV, MAX, VARIABLE, Atom, Form, content
from simplifier.limits import MAX_LINKED_ATOMS, MAX_PIVOTS
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


class LinearFacts:
    """Facts about several atoms each, and what holds of the operations among these atoms."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        known = list(facts)
        atoms = {atom: None for fact in known for atom in fact.form.terms}
        known += chain.from_iterable(map(_of_maximum, atoms))
        self._groups = _in_groups(known)
        known += chain.from_iterable(map(_of_quotient, atoms))
        self._about: dict[Atom, list[Fact]] = {}
        self._group_of: dict[Atom, int] = {}
        for number, group in enumerate(_in_groups(known)):
            for fact in group:
                for atom in fact.form.terms:
                    self._about.setdefault(atom, []).append(fact)
                    self._group_of[atom] = number

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
        """The range that facts and the ranges of atoms leave; ``None`` if no facts link atoms."""
        facts = self._linking(form)
        return _range_by(form, facts, range_of) if facts else None

    def _linking(self, form: Form) -> list[Fact]:
        """The facts of groups that speak of two atoms of the form, if there are any."""
        own = [each for atom in form.terms if atom not in self._about for each in _definition(atom)]
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
            for fact in about.get(atom, ()):
                new = fact.form.terms.keys() - seen
                if len(seen) + len(new) <= MAX_LINKED_ATOMS:
                    found[id(fact)] = fact
                    seen |= new
                    waiting += [other for other in fact.form.terms if other in new]
        return list(found.values())


def _in_groups(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Facts about several atoms, one about each form, in groups that have no atom in common."""
    found: dict[Form, Fact] = {}
    for fact in facts:
        if len(fact.form.terms) > 1:
            old = found.get(fact.form, fact)
            found[fact.form] = fact._replace(ends=meet(old.ends, fact.ends))
    return connected_components(found.values(), lambda fact: fact.form.terms)


def _definition(atom: Atom) -> Iterator[Fact]:
    """What holds of an operation and its operands."""
    yield from _of_maximum(atom)
    yield from _of_quotient(atom)


def _of_maximum(atom: Atom) -> Iterator[Fact]:
    if atom.kind is MAX:
        for operand in atom.arguments:
            yield from _fact(operand.plus_atom(atom, -1), (NEGATIVE_INFINITY, 0))


def _of_quotient(atom: Atom) -> Iterator[Fact]:
    if atom.kind is FLOORDIV:
        yield from _fact(atom.numerator.plus_atom(atom, -atom.divisor), (0, atom.divisor - 1))


def _fact(form: Form, ends: Range) -> Iterator[Fact]:
    fact = Fact.of(form, ends)
    if fact is not None:
        yield fact


# Linear programming.


def _range_by(form: Form, facts: Sequence[Fact], range_of: Callable[[Atom], Range]) -> Range:
    scale = content(form)
    terms = {atom: factor // scale for atom, factor in form.terms.items()}
    turned = {atom: -factor for atom, factor in terms.items()}
    upper = _least_upper_bound(terms, facts, range_of)
    lower = -_least_upper_bound(turned, facts, range_of)
    return form.constant + scale * lower, form.constant + scale * upper


def _least_upper_bound(
    terms: Mapping[Atom, int],
    facts: Sequence[Fact],
    range_of: Callable[[Atom], Range],
) -> End:
    """The least upper bound of a sum of terms; minus infinity where nothing satisfies all."""
    atoms = list(dict.fromkeys([*terms, *(atom for fact in facts for atom in fact.form.terms)]))
    program = _Program([terms.get(atom, 0) for atom in atoms], list(map(range_of, atoms)))
    for fact in facts:
        program.add([fact.form.terms.get(atom, 0) for atom in atoms], fact.ends)
    return program.minimum()


class _Program:
    """The dual program: inequalities, how often each is taken, and what they add up to.

    A tableau of integers over one denominator: a row for each atom, which holds how often its
    basic inequality is taken, and each inequality as a combination of the basic ones. Two further
    rows hold what each inequality would change the bound by: how many infinite ends, and how much.
    """

    def __init__(self, wanted: Sequence[int], ends: Sequence[Range]) -> None:
        self._signs = [_side(factor, each) for factor, each in zip(wanted, ends, strict=True)]
        self._costs = [_cost(sign, each) for sign, each in zip(self._signs, ends, strict=True)]
        taken = list(map(abs, wanted))
        self._rows = [[factor] for factor in taken]
        self._bound = [[-sum(map(mul, costs, taken))] for costs in zip(*self._costs, strict=True)]
        self._denominator = 1
        for at, each in enumerate(ends):
            self.add([int(at == other) for other in range(len(ends))], each)

    def add(self, factors: Sequence[int], ends: Range) -> None:
        """Add a fact, an inequality for each end; all of them come before the minimum."""
        taken = [factor * sign for factor, sign in zip(factors, self._signs, strict=True)]
        saved = [sum(map(mul, costs, taken)) for costs in zip(*self._costs, strict=True)]
        for sign, end in ((1, ends[1]), (-1, -ends[0])):
            if isinstance(end, int):
                for row, factor in zip(self._rows, taken, strict=True):
                    row.append(sign * factor)
                for row, cost, less in zip(self._bound, (0, end), saved, strict=True):
                    row.append(cost - sign * less)

    def minimum(self) -> End:
        """The least bound: rounded down, as what is bounded is an integer."""
        for _ in range(MAX_PIVOTS):
            changes = zip(*(row[1:] for row in self._bound), strict=True)
            numbered = ((change, at) for at, change in enumerate(changes, 1))
            best, column = min(numbered, default=((0, 0), 0))
            if best >= (0, 0):
                break
            leaving = self._leaving(column)
            if leaving is None:
                return NEGATIVE_INFINITY
            self._exchange(leaving, column)
        infinite, finite = (-row[0] for row in self._bound)
        return INFINITY if infinite else finite // self._denominator

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
            if row is not pivots:
                row[:] = [
                    (own * pivot - factor * other) // denominator
                    for own, other in zip(row, pivots, strict=True)
                ]
        self._denominator = pivot


def _side(factor: int, ends: Range) -> int:
    """1 for the upper end and -1 for the lower; of an atom that is not asked for, a finite one."""
    if factor:
        return 1 if factor > 0 else -1
    return 1 if isinstance(ends[1], int) else -1


def _cost(sign: int, ends: Range) -> tuple[int, int]:
    """How many infinite ends and how much one bound of an atom adds."""
    end = ends[1] if sign > 0 else -ends[0]
    return (1, 0) if isinstance(end, Infinity) else (0, end)
