"""Consequences of constraints: narrower bounds, facts, and perhaps a smaller problem.

Facts and ranges narrow each other until nothing new follows. An equation is solved: an equal
problem has one variable less. ``x mod c = r`` is ``x = c*q + r`` for a new variable ``q``, which is
``x floordiv c``; ``x - 16*y = 3`` is ``x = 16*y + 3``. In the smaller problem every law applies to
what used to be ``x``; the result is restored afterwards. Residues of one variable by several
divisors meet by themselves, as in the Chinese remainder theorem: the second congruence is one of
``q``.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd
from typing import Generic, NamedTuple, TypeVar

from simplifier.bounds.context import Bounds, Constraints, Context, Fact, term_by_term
from simplifier.bounds.interval import EVERYTHING, INFINITY, NEGATIVE_INFINITY, Interval, Range
from simplifier.bounds.ranges import LinearFacts, product_range
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, AtomKind, Form
from simplifier.laws.catalogue import propagation as law
from simplifier.laws.catalogue.ranges import FACT_RANGE, FACTS_RANGE
from simplifier.laws.law import Law
from simplifier.limits import MAX_FACTS, MAX_PROPAGATIONS, MAX_ROUNDS_OF_FACTS

ContextT = TypeVar("ContextT", bound="Context")


class Smaller(NamedTuple, Generic[ContextT]):
    """An equal problem, with the solution of an equation in place of one variable."""

    solution: SolvedVariable
    context: ContextT


class Knowledge(NamedTuple, Generic[ContextT]):
    """Bounds that constraints narrow, facts beyond bounds, and an equal problem that is smaller."""

    bounds: dict[str, Interval]
    facts: tuple[Fact, ...] = ()
    smaller: Smaller[ContextT] | None = None


def propagated(
    context_of: Callable[..., ContextT], bounds: Bounds, constraints: Constraints, solvable: int
) -> Knowledge[ContextT] | None:
    """The consequences of bounds and constraints; at most ``solvable`` equations are solved.

    ``None`` if the constraints contradict the bounds, or each other.
    """
    knowledge: Knowledge[ContextT] | None = None
    constraints = _under_affine_ones(context_of, bounds, constraints)
    for _ in range(MAX_PROPAGATIONS):
        plain = context_of(bounds)
        knowledge = _read(plain, constraints)
        if knowledge is None or knowledge.bounds == plain.bounds:
            break
        bounds = tuple(knowledge.bounds.items())
    if knowledge is None or not solvable:
        return knowledge
    solved = solution(knowledge.facts, knowledge.bounds)
    if solved is None:
        return knowledge
    context = context_of(*_with_solution(solved, knowledge.bounds, constraints), solvable - 1)
    return None if context.is_empty else _with_smaller(knowledge, Smaller(solved, context))


def _under_affine_ones(
    context_of: Callable[..., ContextT], bounds: Bounds, constraints: Constraints
) -> Constraints:
    """Constraints, where the affine ones simplify the others: with ``c >= a``, ``max(c, a)``."""
    affine = tuple(each for each in constraints if each[0].is_affine)
    if len(affine) == len(constraints) or all(len(form.terms) < 2 for form, _ in affine):  # noqa: PLR2004 - a bound
        return constraints
    context = context_of(bounds, affine, 0)
    if context.is_empty:
        return constraints
    others = ((form, ends) for form, ends in constraints if not form.is_affine)
    return (*affine, *((context.canonical(form), ends) for form, ends in others))


def _with_solution(
    solved: SolvedVariable, bounds: dict[str, Interval], constraints: Constraints
) -> tuple[Bounds, Constraints]:
    """The problem without the unknown; its bounds become those of its value."""
    name = solved.unknown.name
    known = [(solved.substituted(form), interval) for form, interval in constraints]
    if name in bounds:
        known.append((solved.value, bounds[name]))
    return tuple((other, ends) for other, ends in bounds.items() if other != name), tuple(known)


def _with_smaller(
    knowledge: Knowledge[ContextT], smaller: Smaller[ContextT]
) -> Knowledge[ContextT]:
    """The bounds of this problem, narrowed by those of the smaller one."""
    solved, context = smaller
    bounds: dict[str, Interval] = {}
    for name, interval in knowledge.bounds.items():
        value = context.canonical(solved.substituted(forms.variable(name)))
        bounds[name] = interval.intersect(Interval.from_range(context.range_of(value)))
    return Knowledge(bounds, knowledge.facts, smaller)


def _read(context: ContextT, constraints: Constraints) -> Knowledge[ContextT] | None:
    """The consequences of constraints in a context that has only bounds."""
    propagator = _Propagator(context)
    for form, interval in constraints:
        propagator.add(context.canonical(form), interval.ends)
    for _ in range(MAX_ROUNDS_OF_FACTS):
        if not propagator.is_new or propagator.is_contradictory:
            break
        propagator.propagate()
    propagator.combine()
    if propagator.is_contradictory:
        return None
    return Knowledge(dict(context.bounds) | propagator.bounds(), propagator.others())


# Propagation.


class _Propagator:
    """Facts and ranges of atoms while they narrow each other."""

    def __init__(self, context: Context) -> None:
        self.is_new = False
        """Whether something came in since the facts were last propagated."""
        self.is_contradictory = False
        self._context = context
        self._facts: dict[Form, Fact] = {}
        self._narrowed: dict[Atom, Range] = {}
        self._ranges = ChainMap(self._narrowed, context.ranges)
        self._propagated: dict[Form, tuple[Range, list[Range]]] = {}
        """Facts and ranges from which nothing more follows."""

    def add(self, form: Form, ends: Range) -> None:
        """Add the fact that a canonical form lies in a range."""
        fact = Fact.of(form, ends)
        if fact is None:
            self.is_contradictory |= not ends[0] <= form.constant <= ends[1]
            return
        old = self._facts.get(fact.form)
        ends = fact.ends if old is None else _intersection(old.ends, fact.ends)
        self.is_contradictory |= ends[0] > ends[1]
        if old is None or ends != old.ends:
            self._facts[fact.form] = fact._replace(ends=ends)
            self.is_new = True

    def propagate(self) -> None:
        """Narrow the range of each atom of each fact by that fact."""
        self.is_new = False
        for fact in list(self._facts.values()):
            known = (fact.ends, [self._ranges[atom] for atom in fact.form.terms])
            if self._propagated.get(fact.form) != known:
                self._propagated[fact.form] = known
                self._unround(fact)
                for atom in fact.form.terms:
                    self._narrow(atom, self._left_to(atom, fact))

    def combine(self) -> None:
        """Narrow the variables of several facts by the facts together."""
        for atom, ends in LinearFacts(self._facts.values()).narrowed(self._ranges.__getitem__):
            self._narrow(atom, ends, FACTS_RANGE)

    def _unround(self, fact: Fact) -> None:
        """Range of ``c*R + N`` from that of ``R + floor(N/c) == floor((c*R + N)/c)``."""
        for form, ends in fact.numerators() if len(fact.form.terms) > 1 else ():
            if len(self._facts) < MAX_FACTS:
                self._context.used(law.QUOTIENT_FACT)
                self.add(self._context.canonical(form), ends)

    def bounds(self) -> dict[str, Interval]:
        """Bounds of the variables that were narrowed."""
        variables = [atom for atom in self._narrowed if atom.kind is AtomKind.VARIABLE]
        return {atom.name: Interval.from_range(self._ranges[atom]) for atom in variables}

    def others(self) -> tuple[Fact, ...]:
        """The facts that are not bounds of variables."""
        return tuple(fact for fact in self._facts.values() if not fact.form.single_variable())

    def _narrow(self, atom: Atom, ends: Range, reason: Law = FACT_RANGE) -> None:
        old = self._ranges[atom]
        narrow = _intersection(old, ends)
        if narrow == old:
            return
        self._context.used(reason)
        self._ranges[atom] = narrow
        self.is_new = True
        self.is_contradictory |= narrow[0] > narrow[1]
        if atom.kind is not AtomKind.VARIABLE and len(self._facts) < MAX_FACTS:
            self.add(Form(0, {atom: 1}), narrow)
            for lemma, form, within in _inside(self._context, atom, narrow):
                self._context.used(lemma)
                self.add(form, within)

    def _left_to(self, atom: Atom, fact: Fact) -> Range:
        """The range that a fact leaves to one of its atoms, whatever the others are."""
        rest = fact.form.without(atom)
        low, high = term_by_term(self._ranges, rest)
        if not rest.is_affine:
            low, high = _intersection((low, high), self._context.range_of(rest))
        lower, upper = fact.ends[0] - high, fact.ends[1] - low
        factor = fact.form.terms[atom]
        if factor < 0:
            lower, upper, factor = -upper, -lower, -factor
        return -(-lower // factor), upper // factor


def _inside(context: Context, atom: Atom, ends: Range) -> Iterator[tuple[Law, Form, Range]]:
    """Bounds of the operands that the range of an operation implies.

    ``floor(N/c)`` in ``[l, u]`` is ``N`` in ``[c*l, c*u + c - 1]``. ``max(A, B) <= u`` holds for
    ``A`` and for ``B``; where a constant ``A`` is less than ``l``, ``max(A, B) >= l`` is
    ``B >= l``. A form that is not zero is beyond an end of its range that is zero.
    """
    lower, upper = ends
    if atom.kind is AtomKind.FLOORDIV:
        within = lower * atom.divisor, upper * atom.divisor + (atom.divisor - 1)
        yield law.QUOTIENT_FACT, atom.numerator, within
    if atom.kind is AtomKind.PRODUCT:
        yield from _of_factors(context, atom.arguments, ends)
    if atom.kind is AtomKind.MAX:
        able = [form for form in atom.arguments if not form.is_constant or form.constant >= lower]
        for argument in atom.arguments:
            is_greatest = able == [argument]
            lemma = law.LOWER_FACT if is_greatest else law.UPPER_FACT
            yield lemma, argument, (lower if is_greatest else NEGATIVE_INFINITY, upper)
    if atom.kind is AtomKind.ZERO and upper == 0:
        least, most = context.range_of(atom.numerator)
        if least == 0:
            yield law.NOT_ZERO, atom.numerator, (1, most)
        elif most == 0:
            yield law.NOT_ZERO, atom.numerator, (least, -1)


def _of_factors(
    context: Context, arguments: Sequence[Form], ends: Range
) -> Iterator[tuple[Law, Form, Range]]:
    """``A*B >= l`` is ``u*B >= l`` for ``0 <= A <= u`` and ``l >= 1``; so with other signs."""
    for least, sign in ((ends[0], 1), (-ends[1], -1)):
        for place, factor in enumerate(arguments if isinstance(least, int) and least > 0 else ()):
            others = (*arguments[:place], *arguments[place + 1 :])
            low, high = reduce(product_range, map(context.range_of, others))
            most = max(high, -low)
            share = -(-least // most) if isinstance(most, int) and most else 1
            if low >= 0 or high <= 0:
                itself = factor.times(sign if low >= 0 else -sign)
                yield law.PRODUCT_FACT, itself, (share, INFINITY)


def _intersection(old: Range, new: Range) -> Range:
    return max(old[0], new[0]), min(old[1], new[1])


# Equations.

_MARK = "\0"
"""Ends the names of quotients, so that no other variable has such a name."""


class Quotient(NamedTuple):
    """A variable that stands for ``floor(numerator/divisor)``, where the remainder is known."""

    atom: Atom
    numerator: Form
    divisor: int
    remainder: int

    @classmethod
    def of(cls, numerator: Form, divisor: int, remainder: int) -> Quotient:
        """The quotient of a numerator that is ``remainder`` modulo the divisor."""
        name = numerator.single_variable() or numerator
        (atom,) = forms.variable(f"{name} floordiv {divisor}{_MARK}").terms
        return cls(atom, numerator, divisor, remainder)

    def restored(self, factor: int) -> Form:
        """``factor`` times the quotient: of the numerator, or of a quotient by less, if possible.

        With ``N = c*q + r``: ``k*q`` is ``(k/c)*(N - r)`` where ``c`` divides ``k``, and
        ``floor(N/(c/k)) - floor(r/(c/k))`` where ``k`` divides ``c``.
        """
        numerator, divisor, remainder = self.numerator, self.divisor, self.remainder
        if factor % divisor == 0:
            return numerator.plus_constant(-remainder).times(factor // divisor)
        if divisor % factor:
            return numerator // divisor * factor
        smaller = divisor // abs(factor)
        return (numerator // smaller - remainder // smaller) * (1 if factor > 0 else -1)


class SolvedVariable(NamedTuple):
    """A variable and its value in terms of others, one of which may be the quotient."""

    unknown: Atom
    value: Form
    laws: tuple[Law, ...]
    quotient: Quotient | None = None

    def substituted(self, form: Form) -> Form:
        """The form with the value in place of the unknown."""
        return operations.replace(form, {self.unknown: self.value})

    def laws_for(self, form: Form) -> tuple[Law, ...]:
        """Laws by which a form of the smaller problem is equal to the restored one."""
        return self.laws if self.restored(form) == form else (*self.laws, law.RESTORED)

    def restored(self, form: Form) -> Form:
        """The form with the quotient written out."""
        quotient = self.quotient
        if quotient is None:
            return form
        itself = Form(0, {quotient.atom: 1})

        def of_form(part: Form, values: Mapping[Atom, Form]) -> Form:
            found = {atom: factors for atom in part.terms if itself in (factors := _factors(atom))}
            total = forms.combine(part.without(*found), values)
            for atom, factors in found.items():
                others = list(factors)
                others.remove(itself)
                whole = (of_form(other, values) for other in others)
                multiple = quotient.restored(part.terms[atom])
                total = total.plus(operations.product((multiple, *whole)))
            return total

        return of_form(form, forms.fold((form,), operations.rebuilt, of_form))


def _factors(atom: Atom) -> tuple[Form, ...]:
    return atom.arguments if atom.kind is AtomKind.PRODUCT else (Form(0, {atom: 1}),)


def solution(facts: Iterable[Fact], bounds: dict[str, Interval]) -> SolvedVariable | None:
    """The first equation that can be solved for a variable.

    Of all variables it can be solved for an unbounded one is taken, if there is one.
    """
    for fact in facts:
        if fact.value is not None:
            found = [*_by_itself(fact.form, fact.value), *_by_residues(fact.form, fact.value)]
            if found:
                return min(found, key=lambda each: _ends(bounds, each.unknown))
    return None


def _ends(bounds: dict[str, Interval], atom: Atom) -> int:
    """Number of ends that the bounds of a variable have."""
    interval = bounds.get(atom.name, EVERYTHING)
    return (interval.lower is not None) + (interval.upper is not None)


def _unknowns(form: Form) -> Iterator[Atom]:
    """Variables that have a coefficient of 1 or -1 and occur nowhere else; the last ones first."""
    nested = set(forms.variables_of(argument for atom in form.terms for argument in atom.arguments))
    for atom, factor in reversed(form.terms.items()):
        if atom.kind is AtomKind.VARIABLE and factor in (1, -1) and atom.name not in nested:
            yield atom


def _by_itself(form: Form, value: int) -> Iterator[SolvedVariable]:
    """``x + B = v`` is ``x = v - B``."""
    for atom in _unknowns(form):
        rest = form.without(atom).plus_constant(-value)
        yield SolvedVariable(atom, rest.times(-form.terms[atom]), (law.EQUATION,))


def _by_residues(form: Form, value: int) -> Iterator[SolvedVariable]:
    """``c*A + N = v`` says that ``N`` is ``v`` modulo ``c``."""
    divisors = sorted({abs(factor) for factor in form.terms.values()} - {1}, reverse=True)
    for divisor in divisors:
        terms = {atom: factor for atom, factor in form.terms.items() if factor % divisor}
        found = list(_by_residue(Form(0, terms), divisor, value % divisor))
        if found:
            yield from found
            return


def _by_residue(form: Form, divisor: int, remainder: int) -> Iterator[SolvedVariable]:
    """``N`` is ``c*q + r``; where ``b*x`` is ``r`` modulo ``c``, ``x`` is ``r/b`` modulo ``c``."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        common = gcd(factor, divisor)
        if atom.kind is AtomKind.VARIABLE and remainder % common == 0:
            modulus = divisor // common
            inverse = pow(factor // common, -1, modulus)
            itself, residue = Form(0, {atom: 1}), remainder // common * inverse
            inverted = () if factor == 1 else (law.INVERSE,)
            laws = (law.RESIDUE, *inverted, law.CONGRUENCE)
            yield _with_quotient(atom, itself, modulus, residue, laws)
        return
    for atom in _unknowns(form):
        yield _with_quotient(atom, form, divisor, remainder, (law.RESIDUE, law.CONGRUENCE))


def _with_quotient(
    atom: Atom, numerator: Form, divisor: int, remainder: int, laws: tuple[Law, ...]
) -> SolvedVariable:
    quotient = Quotient.of(numerator, divisor, remainder % divisor)
    value = Form(quotient.remainder, {quotient.atom: divisor}).plus(numerator.without(atom), -1)
    return SolvedVariable(atom, value.times(numerator.terms[atom]), laws, quotient)
