"""What a problem's constraints come to: sharper bounds, facts, and perhaps a smaller problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.bounds.equations import Solution, solution
from simplifier.bounds.facts import Fact
from simplifier.bounds.interval import NEGATIVE_INFINITY, Interval
from simplifier.bounds.ranges import term_by_term
from simplifier.expr.form import Atom, Form, Kind, variable
from simplifier.laws.catalogue.constraints import LOWER_FACT, QUOTIENT_FACT, UPPER_FACT
from simplifier.laws.catalogue.ranges import FACT_RANGE
from simplifier.limits import MOST_FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simplifier.bounds.interval import Range
    from simplifier.canonical.scope import Bounds, Constraints, Scope
    from simplifier.laws.law import Law

_READINGS: Final = 3
"""How often constraints are read again under the bounds that they have narrowed."""

_ROUNDS: Final = 3
"""How often facts and ranges may sharpen each other in one reading."""


class Smaller(NamedTuple):
    """An equal problem, with the solution of an equation in place of one variable."""

    solution: Solution
    scope: Scope


class Knowledge(NamedTuple):
    """Bounds that constraints narrow, facts beyond bounds, and an equal problem that is smaller."""

    bounds: dict[str, Interval]
    facts: tuple[Fact, ...] = ()
    smaller: Smaller | None = None


def learned(
    scope_of: Callable[..., Scope], bounds: Bounds, constraints: Constraints, solvable: int
) -> Knowledge | None:
    """What is known under bounds and constraints, of which so many equations may be solved.

    ``None`` if the constraints contradict the bounds, or each other.
    """
    knowledge: Knowledge | None = None
    for _ in range(_READINGS):
        plain = scope_of(bounds)
        knowledge = _read(plain, constraints)
        if knowledge is None or knowledge.bounds == plain.bounds:
            break
        bounds = tuple(knowledge.bounds.items())
    if knowledge is None or not solvable:
        return knowledge
    solved = solution(knowledge.facts, knowledge.bounds)
    if solved is None:
        return knowledge
    scope = scope_of(*_with_solution(solved, knowledge.bounds, constraints), solvable - 1)
    return None if scope.is_empty else _with_smaller(knowledge, Smaller(solved, scope))


def _with_solution(
    solved: Solution, bounds: dict[str, Interval], constraints: Constraints
) -> tuple[Bounds, Constraints]:
    """The problem without the unknown; its bounds become those of its value."""
    name = solved.unknown.name
    known = [(solved.substituted(form), interval) for form, interval in constraints]
    if name in bounds:
        known.append((solved.value, bounds[name]))
    return tuple((other, ends) for other, ends in bounds.items() if other != name), tuple(known)


def _with_smaller(knowledge: Knowledge, smaller: Smaller) -> Knowledge:
    """What the smaller problem says of the bounds of this one."""
    solved, scope = smaller
    bounds = dict(knowledge.bounds)
    values = [(name, variable(name)) for name in bounds]
    for name, form in values:
        value = scope.canonical(solved.substituted(form))
        bounds[name] = bounds[name].intersect(Interval.from_range(scope.range_of(value)))
    return Knowledge(bounds, knowledge.facts, smaller)


def _read(scope: Scope, constraints: Constraints) -> Knowledge | None:
    """What constraints say beside the bounds of a scope that knows nothing else."""
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


class _Narrowed(dict["Atom", "Range"]):
    """Ranges that are narrower than in a scope; of all other atoms there is the scope's."""

    def __init__(self, wider: Mapping[Atom, Range]) -> None:
        super().__init__()
        self._wider = wider

    def __missing__(self, atom: Atom) -> Range:
        return self._wider[atom]


class _Lesson:
    """Facts and ranges of atoms while they sharpen each other."""

    def __init__(self, scope: Scope) -> None:
        self.is_new = False
        """Whether something came in since the facts were last gone through."""
        self.is_contradictory = False
        self._scope = scope
        self._facts: dict[Form, Fact] = {}
        self._ranges = _Narrowed(scope.ranges)
        self._gone_through: dict[Form, tuple[Range, list[Range]]] = {}
        """Facts in the state in which they have nothing more to say."""

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
            known = (fact.ends, [self._ranges[atom] for atom in fact.form.terms])
            if self._gone_through.get(fact.form) != known:
                self._gone_through[fact.form] = known
                for atom in fact.form.terms:
                    self._narrow(atom, self._left_to(atom, fact))

    def bounds(self) -> dict[str, Interval]:
        """Bounds of the variables that were narrowed."""
        return {
            atom.name: Interval.from_range(ends)
            for atom, ends in self._ranges.items()
            if atom.kind is Kind.VARIABLE
        }

    def others(self) -> tuple[Fact, ...]:
        """The facts that say more than bounds of variables do."""
        return tuple(
            fact
            for fact in self._facts.values()
            if len(fact.form.terms) > 1 or fact.lead.kind is not Kind.VARIABLE
        )

    def _narrow(self, atom: Atom, ends: Range) -> None:
        old = self._ranges[atom]
        narrow = _met(old, ends)
        if narrow == old:
            return
        self._scope.used(FACT_RANGE)
        self._ranges[atom] = narrow
        self.is_new = True
        self.is_contradictory |= narrow[0] > narrow[1]
        if atom.kind is not Kind.VARIABLE and len(self._facts) < MOST_FACTS:
            self.add(Form(0, {atom: 1}), narrow)
            for law, form, within in _inside(atom, narrow):
                self._scope.used(law)
                self.add(form, within)

    def _left_to(self, atom: Atom, fact: Fact) -> Range:
        """What a fact leaves to one of its atoms when all the others take any value."""
        rest = fact.form.without(atom)
        low, high = term_by_term(self._ranges, rest)
        if not rest.is_affine:
            low, high = _met((low, high), self._scope.range_of(rest))
        lower, upper = fact.ends[0] - high, fact.ends[1] - low
        factor = fact.form.terms[atom]
        if factor < 0:
            lower, upper, factor = -upper, -lower, -factor
        return -(-lower // factor), upper // factor


def _inside(atom: Atom, ends: Range) -> Iterator[tuple[Law, Form, Range]]:
    """What the range of an operation says of its operands.

    ``floor(N/c)`` in ``[l, u]`` is ``N`` in ``[c*l, c*u + c - 1]``. ``max(A, B) <= u`` holds for
    ``A`` and for ``B``; where a constant ``A`` is less than ``l``, ``max(A, B) >= l`` is
    ``B >= l``.
    """
    lower, upper = ends
    if atom.kind is Kind.FLOORDIV:
        within = lower * atom.divisor, upper * atom.divisor + (atom.divisor - 1)
        yield QUOTIENT_FACT, atom.numerator, within
    if atom.kind is Kind.MAX:
        able = [form for form in atom.arguments if not form.is_constant or form.constant >= lower]
        for argument in atom.arguments:
            is_greatest = able == [argument]
            law = LOWER_FACT if is_greatest else UPPER_FACT
            yield law, argument, (lower if is_greatest else NEGATIVE_INFINITY, upper)


def _met(old: Range, new: Range) -> Range:
    return max(old[0], new[0]), min(old[1], new[1])
