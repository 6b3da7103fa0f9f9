"""What is known of forms beyond the bounds of variables: constraints, made ready for ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.budget import MOST_FACTS
from simplifier.form import Atom, Form, Kind, content
from simplifier.interval import NEGATIVE_INFINITY, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.interval import End, Range
    from simplifier.scope import Scope


_ROUNDS: Final = 3
"""How often facts and bounds may sharpen each other."""


class Fact(NamedTuple):
    """The form lies in the range.

    The form is primitive: no constant, coefficients without a common factor, the first one
    positive. So one fact serves every multiple and every shift of it.
    """

    form: Form
    lead: Atom
    ends: Range

    @classmethod
    def of(cls, form: Form, ends: Range) -> Fact | None:
        """The fact that a canonical form lies in a range; ``None`` if the form is a constant."""
        if not form.terms:
            return None
        lead, first = next(iter(form.terms.items()))
        scale = content(form)
        lower, upper = ends[0] - form.constant, ends[1] - form.constant
        if first < 0:
            scale = -scale
            lower, upper = upper, lower
        primitive = Form(0, {atom: value // scale for atom, value in form.terms.items()})
        return cls(primitive, lead, (-(lower // -scale), upper // scale))

    @property
    def value(self) -> int | None:
        """The only value of the form, where the fact is an equation."""
        lower, upper = self.ends
        return lower if isinstance(lower, int) and lower == upper else None

    def multiple_in(self, form: Form) -> int:
        """How many times the fact's form is contained in another; 0 if it is not."""
        multiple, remainder = divmod(form.terms.get(self.lead, 0), self.form.terms[self.lead])
        if remainder:
            return 0
        contained = all(
            form.terms.get(atom) == multiple * value for atom, value in self.form.terms.items()
        )
        return multiple if contained else 0

    def multiples_near(self, form: Form) -> Iterator[int]:
        """Multiples of the fact's form, if it is affine, that cancel some term of another."""
        found: dict[int, None] = {}
        if any(atom.kind is not Kind.VARIABLE for atom in self.form.terms):
            return iter(found)
        for atom, value in self.form.terms.items():
            multiple, remainder = divmod(form.terms.get(atom, 0), value)
            if multiple and not remainder:
                found[multiple] = None
        return iter(found)

    def range_within(self, scope: Scope, form: Form, multiple: int, depth: int) -> Range:
        """The range of a form, read as a multiple of the fact's form and the rest."""
        low, high = self.ends if multiple > 0 else (self.ends[1], self.ends[0])
        lower, upper = scope.range_of(form.plus(self.form, -multiple), depth - 1)
        return lower + multiple * low, upper + multiple * high


class Knowledge(NamedTuple):
    """What a problem's constraints come to: sharper bounds of variables, and facts."""

    bounds: dict[str, Interval]
    facts: tuple[Fact, ...]


def known(scope: Scope, constraints: Iterable[tuple[Form, Interval]]) -> Knowledge | None:
    """What constraints say beside the bounds of a scope without facts.

    ``None`` if some form has no value left: they contradict the bounds, or each other.
    """
    lesson = _Lesson(scope)
    for form, interval in constraints:
        lesson.add(scope.canonical(form), interval.ends)
    for _ in range(_ROUNDS):
        if not lesson.is_new or lesson.is_contradictory:
            break
        lesson.go_through()
    if lesson.is_contradictory:
        return None
    return Knowledge(dict(scope.bounds) | lesson.bounds(), lesson.others())


class _Lesson:
    """Facts and ranges of atoms while they sharpen each other."""

    def __init__(self, scope: Scope) -> None:
        self.is_new = False
        """Whether something came in since the facts were last gone through."""
        self.is_contradictory = False
        self._scope = scope
        self._facts: dict[Form, Fact] = {}
        self._narrowed: dict[Atom, Range] = {}
        """Ranges that are narrower than in the scope."""

    def add(self, form: Form, ends: Range) -> None:
        """Learn that a canonical form lies in a range."""
        fact = Fact.of(form, ends)
        if fact is None:
            self.is_contradictory |= not ends[0] <= form.constant <= ends[1]
            return
        old = self._facts.get(fact.form)
        met = fact.ends if old is None else _met(old.ends, fact.ends)
        self.is_contradictory |= met[0] > met[1]
        if old is None or met != old.ends:
            self._facts[fact.form] = fact._replace(ends=met)
            self.is_new = True

    def go_through(self) -> None:
        """Narrow each atom of each fact by what the fact leaves to it."""
        self.is_new = False
        for fact in list(self._facts.values()):
            for atom in fact.form.terms:
                self._narrow(atom, self._left_to(atom, fact))

    def bounds(self) -> dict[str, Interval]:
        """Bounds of the variables that were narrowed."""
        return {
            atom.name: Interval.from_range(ends)
            for atom, ends in self._narrowed.items()
            if atom.kind is Kind.VARIABLE
        }

    def others(self) -> tuple[Fact, ...]:
        """The facts that say more than bounds of variables do."""
        return tuple(
            fact
            for fact in self._facts.values()
            if len(fact.form.terms) > 1 or fact.lead.kind is not Kind.VARIABLE
        )

    def _range(self, atom: Atom) -> Range:
        return self._narrowed.get(atom) or self._scope.ranges[atom]

    def _narrow(self, atom: Atom, ends: Range) -> None:
        old = self._range(atom)
        narrow = _met(old, ends)
        if narrow == old:
            return
        self._narrowed[atom] = narrow
        self.is_new = True
        self.is_contradictory |= narrow[0] > narrow[1]
        if atom.kind is not Kind.VARIABLE and len(self._facts) < MOST_FACTS:
            self.add(Form(0, {atom: 1}), narrow)
            for form, within in _inside(atom, narrow):
                self.add(form, within)

    def _left_to(self, atom: Atom, fact: Fact) -> Range:
        """What a fact leaves to one of its atoms when all the others take any value."""
        low, high = self._rest_range(fact.form.without(atom))
        lower, upper = fact.ends[0] - high, fact.ends[1] - low
        factor = fact.form.terms[atom]
        if factor < 0:
            lower, upper, factor = -upper, -lower, -factor
        return -(-lower // factor), upper // factor

    def _rest_range(self, form: Form) -> Range:
        lower: End = form.constant
        upper: End = form.constant
        for atom, factor in form.terms.items():
            low, high = self._range(atom) if factor > 0 else self._range(atom)[::-1]
            lower, upper = lower + factor * low, upper + factor * high
        return _met((lower, upper), self._scope.range_of(form))


def _inside(atom: Atom, ends: Range) -> Iterator[tuple[Form, Range]]:
    """What the range of an operation says of its operands.

    ``floor(N/c)`` in ``[l, u]`` is ``N`` in ``[c*l, c*u + c - 1]``. ``max(A, B) <= u`` holds for
    ``A`` and for ``B``; where a constant ``A`` is less than ``l``, ``max(A, B) >= l`` is
    ``B >= l``.
    """
    lower, upper = ends
    if atom.kind is Kind.FLOORDIV:
        yield atom.numerator, (lower * atom.divisor, upper * atom.divisor + (atom.divisor - 1))
    if atom.kind is Kind.MAX:
        able = [form for form in atom.arguments if not form.is_constant or form.constant >= lower]
        for argument in atom.arguments:
            yield argument, (lower if able == [argument] else NEGATIVE_INFINITY, upper)


def _met(old: Range, new: Range) -> Range:
    return max(old[0], new[0]), min(old[1], new[1])
