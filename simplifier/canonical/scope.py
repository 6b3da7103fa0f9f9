"""The scope of a problem: it turns forms into canonical ones, under bounds and facts.

Canonical forms hold only variables, quotients, ``max(0, ...)``, products and foreign terms:
``x mod c`` is ``x - c*floor(x/c)``, and a minimum is a negated maximum. So everything linear in
quotients cancels without a law. A law looks only at canonical forms, bounds and facts, never at
what happens to be remembered, so results do not depend on earlier questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from simplifier.bounds import context, digits, ranges
from simplifier.bounds.context import Bounds, Constraint, Constraints, Context, DigitView
from simplifier.bounds.interval import Range
from simplifier.bounds.propagation import Smaller, propagated
from simplifier.canonical import bitwise, comparisons, floordiv, maxima, nonlinear
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import BITWISE, FOREIGN, ZERO, Atom, AtomKind, Form, Key, combine
from simplifier.laws.catalogue import floordiv as law
from simplifier.laws.catalogue.maxima import MINIMUM
from simplifier.laws.catalogue.ranges import CORNERS
from simplifier.laws.law import Law
from simplifier.laws.rewrite_log import RewriteLog
from simplifier.limits import MAX_EQUATIONS, MAX_RANGE_DEPTH
from simplifier.tools.graphs import connected_components

_REMEMBERED_SCOPES: Final = 512
"""Problems whose scopes are kept; a module of a model has some hundreds."""


class Scope(Context):
    """Canonical forms and their ranges under one set of bounds and facts.

    Use :func:`scope_of`, which gives the same scope for the same problem. With ``lemmas`` it logs
    the laws applied in it, and there those that bound ranges.
    """

    def __init__(
        self,
        bounds: Bounds,
        constraints: Constraints = (),
        solvable: int = MAX_EQUATIONS,
        lemmas: dict[Law, None] | None = None,
    ) -> None:
        super().__init__(bounds, None if lemmas is None else RewriteLog(lemmas))
        self.given = bounds, constraints
        """The problem, as it was given."""
        self.smaller: Smaller[Scope] | None = None
        """An equal problem, where some constraint is an equation that can be solved."""
        self._canonical: dict[Atom, Form] = {}
        self._fixed: set[Atom] = set()
        """Atoms that are their own canonical forms."""
        self._quotients: dict[tuple[Key, int | Key], Form] = {}
        self._views: dict[Key, DigitView] = {}
        self._sums: list[dict[Key, Range]] = [{} for _ in range(MAX_RANGE_DEPTH + 1)]
        """The ranges of sums, by the depth to which they were looked into."""
        if constraints:
            self._propagate(bounds, constraints, solvable)

    def _propagate(self, bounds: Bounds, constraints: Constraints, solvable: int) -> None:
        """Take over the consequences of the constraints."""
        knowledge = propagated(self.beside, bounds, _in_order(constraints), solvable)
        if knowledge is None:
            self.is_empty = True
            return
        self.bounds, self.facts, self.smaller = knowledge
        for atom in {atom: None for fact in self.facts for atom in fact.form.terms}:
            variables = context.variables_multiplied(atom)
            for each in variables:
                self.remember(each, self.variable_range(each))
            if variables:
                self.monomial(variables)
        for fact in self.facts:
            self.canonical(fact.form)  # so that what facts imply together never depends on memory

    @property
    def beside(self) -> Callable[..., Scope]:
        """Makes the scope of another problem, which logs if this one does."""
        return scope_of if self.log is None else partial(Scope, lemmas=self.log.lemmas)

    def under(self, condition: Form) -> Scope:
        """The scope of the points at which a condition holds."""
        bounds, constraints = self.given
        more = context.facts_of(condition)
        return self.beside(bounds, (*constraints, *more)) if more else self

    def of_variables_in(self, *wanted: Form) -> Scope:
        """The scope of the forms' variables, and of those that facts relate to them.

        So that what is asked of each of many parts does not grow with the number of parts, and is
        remembered for all problems that know the same of it.
        """
        given = relevant(wanted, *self.given)
        return self if given == self.given else self.beside(*given)

    # Canonical forms.

    def canonical(self, form: Form) -> Form:
        """The canonical form that is equal on the domain."""
        if self.log is None and form.terms.keys() <= self._fixed:
            return form
        known = self._canonical
        if self.log is not None or not form.terms.keys() <= known.keys():
            self._find_meanings(form)
        return combine(form, known)

    def _find_meanings(self, form: Form) -> None:
        """Work out the canonical forms of all atoms in a form, from the inside out."""
        known = self._canonical
        if self.log is not None:
            self.log.laws.clear()
        for outer in form.terms:
            if outer in known:
                continue
            inside = outer.inside
            if inside is None:
                inside = forms.postorder(outer.arguments, skip=known.__contains__)
            for atom in (*inside, outer):
                if atom not in known:
                    value = self._meaning(atom)
                    if value.terms.get(atom) == 1 == len(value.terms) and not value.constant:
                        self._fixed.add(atom)
                    known[atom] = value

    def _meaning(self, atom: Atom) -> Form:
        """The canonical form of an atom; those of the atoms inside it are known."""
        known = self._canonical
        arguments = tuple([combine(argument, known) for argument in atom.arguments])
        value = _MEANINGS[atom.kind](self, atom, arguments)
        if arguments and forms.is_crowded(value):
            value = self.kept(atom.kind, arguments, value)
        if self.log is not None:
            self.log.end(atom, arguments, value)
        return value

    def is_canonical(self, atom: Atom) -> bool:
        """Whether the atom may stand in canonical forms as it is."""
        if atom not in self._canonical:
            self._find_meanings(Form(0, {atom: 1}))
        return atom in self._fixed

    def kept(self, kind: AtomKind, arguments: tuple[Form, ...], value: Form) -> Form:
        """An operation whose value holds too many quotients, as one term."""
        if kind not in (AtomKind.FLOORDIV, AtomKind.MOD) or arguments[1].constant < 1:
            return self.single(value)
        return self.remember(forms.atom_of(kind, arguments), self.range_of(value))

    def single(self, form: Form) -> Form:
        """The form as one term, which laws do not look into."""
        if len(form.terms) + (form.constant != 0) <= 1:
            return form
        return self.remember(forms.atom_of(AtomKind.SUM, (form,)), self.range_of(form))

    def variable(self, atom: Atom, _: tuple[Form, ...] = ()) -> Form:
        """A variable, or its only value."""
        ends = lower, upper = self.variable_range(atom)
        if lower == upper and isinstance(lower, int):
            self.fired(law.ONLY_VALUE)
            return forms.constant(lower)
        return self.remember(atom, ends)

    def view(self, form: Form) -> DigitView:
        """The digits of a canonical form."""
        view = self._views.get(form.key)
        if view is None:
            view = self._views[form.key] = digits.digit_view(self, form)
        return view

    def range_of(self, form: Form, depth: int = MAX_RANGE_DEPTH) -> Range:
        """Lowest and highest value of a canonical form; the true range may be narrower."""
        if len(form.terms) <= 1:
            atom = form.only_atom
            return ranges.range_of(self, form, depth) if atom is None else self.ranges[atom]
        sums = self._sums[depth]
        known = sums.get(form.key)
        if known is None:
            known = sums[form.key] = ranges.range_of(self, form, depth)
        return known

    # Operations on canonical forms.

    def floordiv(self, numerator: Form, divisor: int) -> Form:
        """``floor(numerator / divisor)`` for a divisor other than zero."""
        if divisor < 0:
            self.fired(law.NEGATIVE_DIVISOR)
            numerator, divisor = -numerator, -divisor
        if divisor == 1:
            self.fired(law.UNIT_DIVISOR)
            return numerator
        key = (numerator.key, divisor)
        quotient = self._quotients.get(key)
        if quotient is None or self.log is not None:
            quotient = self._quotients[key] = floordiv.floordiv(self, numerator, divisor)
        return quotient

    def quotient_atom(self, numerator: Form, divisor: int) -> Form:
        """A quotient in normal shape as an atom, or its only value."""
        atom = forms.atom_of(AtomKind.FLOORDIV, (numerator, forms.constant(divisor)))
        if atom not in self.ranges:
            lower, upper = ranges.range_of(self, numerator)
            ends = lower // divisor, upper // divisor
            if ends[0] == ends[1] and isinstance(ends[0], int):
                self.fired(law.ONE_VALUE)
                return forms.constant(ends[0])
            self.used(CORNERS)
            return self.remember(atom, ends)
        return self.units[atom].value

    def quotient(self, numerator: Form, divisor: Form) -> Form:
        """``floor(numerator / divisor)`` for any divisor."""
        if not divisor.terms and divisor.constant:
            return self.floordiv(numerator, divisor.constant)
        key = (numerator.key, divisor.key)
        found = self._quotients.get(key)
        if found is None or self.log is not None:
            found = self._quotients[key] = nonlinear.quotient(self, numerator, divisor)
        return found

    def mod(self, numerator: Form, divisor: Form) -> Form:
        """``numerator - divisor * floor(numerator / divisor)``."""
        if not divisor.terms and divisor.constant:
            if forms.is_deep(numerator):
                return floordiv.kept_remainder(self, numerator, divisor.constant)
            self.fired(law.REMAINDER)
            return numerator.plus(self.floordiv(numerator, divisor.constant), -divisor.constant)
        return nonlinear.mod(self, numerator, divisor)

    product = nonlinear.product
    monomial = nonlinear.monomial
    maximum = maxima.maximum

    def minimum(self, arguments: Iterable[Form]) -> Form:
        """The least of canonical forms, as the negated greatest of the negated ones."""
        self.fired(MINIMUM)
        return -maxima.maximum(self, [-argument for argument in arguments])


@lru_cache(maxsize=_REMEMBERED_SCOPES)
def _names_in(fact: Form) -> frozenset[str]:
    return _names((fact,))


def _names(wanted: Iterable[Form]) -> frozenset[str]:
    """Atoms in forms that are no operations: variables, and uninterpreted functions."""
    return frozenset(atom.name for atom in forms.postorder(wanted) if not atom.arguments)


def _in_order(constraints: Constraints) -> Constraints:
    """Constraints sorted by structure, so that no answer depends on the order they came in.

    Those of few variables come first: the first equations are solved.
    """
    return tuple(sorted(constraints, key=lambda fact: (len(_names_in(fact[0])), fact[0].order)))


def relevant(
    wanted: Iterable[Form], bounds: Bounds, constraints: Constraints
) -> tuple[Bounds, Constraints]:
    """The bounds and constraints that say something of forms, in their order.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.expr.form import variable
    >>> x, y, z, every = variable("x"), variable("y"), variable("z"), Interval(0, None)
    >>> facts = ((z, every), (y + x, every))
    >>> bounds, facts = relevant([x], (("x", every), ("y", every), ("z", every)), facts)
    >>> [name for name, _ in bounds], [str(form) for form, _ in facts]
    (['x', 'y'], ['x + y'])
    """
    if not constraints:
        return _bounds_of(_names(wanted), bounds), ()
    named = ((_names_in(each[0]), each) for each in constraints)
    related, *_ = connected_components([(_names(wanted), None), *named], itemgetter(0))
    names = frozenset[str]().union(*map(itemgetter(0), related))
    return _bounds_of(names, bounds), tuple(each for _, each in related if each is not None)


def _bounds_of(names: frozenset[str], bounds: Bounds) -> Bounds:
    return tuple(each for each in bounds if each[0] in names)


def _names_of(facts: Iterable[Constraint]) -> frozenset[str]:
    return frozenset[str]().union(*(_names_in(form) for form, _ in facts))


class FactGroup(NamedTuple):
    """Facts that were given together, and the names in them."""

    facts: Constraints
    names: frozenset[str]

    @classmethod
    def of(cls, facts: Iterable[Constraint]) -> FactGroup:
        """The group of some facts."""
        facts = tuple(facts)
        return cls(facts, _names_of(facts))


def scope_about(
    wanted: Sequence[Form],
    bounds: Bounds,
    groups: Sequence[FactGroup],
    make: Callable[[Bounds, Constraints], Scope],
) -> Scope | None:
    """The scope of facts about forms; ``None`` if no value is left to some variable.

    Facts that were given together are read once for all forms of which they say nothing. If one
    variable links them to those about the forms, only its bounds count: in ``x < n``, how large
    ``n`` may be. Where ``x < n`` says more of ``n`` than they do, all are read together.
    """
    names = _names(wanted)
    others = [group for group in groups if names.isdisjoint(group.names)]
    near = _facts_of(group for group in groups if not names.isdisjoint(group.names))
    far = _facts_of(others)
    about = frozenset[str]().union(*(group.names for group in others))
    apart = _apart(_bounds_of(about, bounds), far) if far else ()
    if any(part.is_empty for part, _ in apart):
        return None
    reached = _names_of(near)
    touched = [(part, own & reached) for part, own in apart if own & reached]
    linked = dict(_linked(touched, near))
    unlinked = (part.given[1] for part, _ in touched if part not in linked)
    known = dict(bounds) | {name: part.bounds[name] for part, name in linked.items()}
    scope = make(*relevant(wanted, tuple(sorted(known.items())), tuple(chain(near, *unlinked))))
    if any(
        not _is_one_sided(near, name) and (scope.smaller or scope.bounds[name] != part.bounds[name])
        for part, name in linked.items()
        if name in scope.bounds
    ):
        scope = make(*relevant(wanted, bounds, (*near, *far)))
    return None if scope.is_empty else scope


def _facts_of(groups: Iterable[FactGroup]) -> Constraints:
    return tuple(chain.from_iterable(group.facts for group in groups))


@lru_cache(maxsize=_REMEMBERED_SCOPES)
def _apart(bounds: Bounds, constraints: Constraints) -> tuple[tuple[Scope, frozenset[str]], ...]:
    """The scopes of facts in groups that have no variable in common, and the names in each."""
    groups = connected_components(constraints, lambda each: _names_in(each[0]))
    named = ((tuple(each), _names_of(each)) for each in groups)
    return tuple((scope_of(_bounds_of(names, bounds), each), names) for each, names in named)


def _linked(
    scopes: Iterable[tuple[Scope, frozenset[str]]], near: Constraints
) -> Iterator[tuple[Scope, str]]:
    """Scopes that one variable links to facts, of which it is no operand; and the variable.

    Not those that solve an equation, which says more than bounds, but where all that is said of the
    variable is how large, or how small, it must be at least: there its greatest value counts.
    """
    operands = _names(each for form, _ in near for atom in form.terms for each in atom.arguments)
    for scope, (name, *others) in scopes:
        is_bounded = name in scope.bounds and (scope.smaller is None or _is_one_sided(near, name))
        if is_bounded and not others and name not in operands:
            yield scope, name


def _is_one_sided(facts: Constraints, name: str) -> bool:
    """Whether one fact alone is about a variable, and bounds it from one side."""
    about = [interval for form, interval in facts if name in _names_in(form)]
    return len(about) == 1 and None in (about[0].lower, about[0].upper)


def _foreign(scope: Scope, atom: Atom, arguments: tuple[Form, ...]) -> Form:
    """A foreign term, in the range that sympy's assumptions leave to it."""
    form = operations.rebuilt(atom, arguments)
    (foreign,) = form.terms
    return scope.remember(foreign, context.assumed(foreign.function or foreign.expression).ends)


def _ceildiv(scope: Scope, _: Atom, arguments: tuple[Form, ...]) -> Form:
    numerator, divisor = arguments
    if divisor == ZERO:
        return nonlinear.by_zero(scope, AtomKind.CEILDIV, numerator)
    scope.fired(law.CEILING)
    return -scope.quotient(-numerator, divisor)


_MEANINGS: Final[Mapping[AtomKind, Callable[[Scope, Atom, tuple[Form, ...]], Form]]] = {
    AtomKind.VARIABLE: Scope.variable,
    AtomKind.FLOORDIV: lambda scope, _, arguments: scope.quotient(*arguments),
    AtomKind.QUOTIENT: lambda scope, _, arguments: scope.quotient(*arguments),
    AtomKind.MOD: lambda scope, _, arguments: scope.mod(*arguments),
    AtomKind.CEILDIV: _ceildiv,
    AtomKind.MIN: lambda scope, _, arguments: scope.minimum(arguments),
    AtomKind.MAX: lambda scope, _, arguments: scope.maximum(arguments),
    AtomKind.PRODUCT: lambda scope, _, arguments: nonlinear.product_of_all(scope, arguments),
    AtomKind.SUM: lambda scope, _, arguments: scope.single(*arguments),
    **dict.fromkeys(FOREIGN, _foreign),
    AtomKind.NONNEGATIVE: lambda scope, _, arguments: comparisons.nonnegative(scope, *arguments),
    AtomKind.ZERO: lambda scope, _, arguments: comparisons.zero(scope, *arguments),
    AtomKind.AND: lambda scope, _, arguments: comparisons.conjunction(scope, arguments),
    AtomKind.SELECT: lambda scope, _, arguments: comparisons.select(scope, *arguments),
    **dict.fromkeys(
        BITWISE, lambda scope, atom, arguments: bitwise.bitwise(scope, atom.kind, arguments)
    ),
}


@lru_cache(maxsize=_REMEMBERED_SCOPES)
def scope_of(bounds: Bounds, constraints: Constraints = (), solvable: int = MAX_EQUATIONS) -> Scope:
    """The scope of a problem. Equal problems share one scope and its memory.

    So many equations among the constraints may be solved.
    """
    return Scope(bounds, constraints, solvable)


def traced_scope(bounds: Bounds, constraints: Constraints = ()) -> Scope:
    """A scope of its own that logs the laws applied in it."""
    return Scope(bounds, constraints, lemmas={})
