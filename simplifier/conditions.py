"""Conditions, selects and functions of bits, simplified from the outside in.

A branch of a select is read with its condition as a fact, and a part of ``and`` with the other
parts as facts. The rest becomes a variable of which only the range is known, so that the laws of
arithmetic need not know of conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from simplifier.bounds.context import Bounds, Constraints
from simplifier.bounds.interval import EMPTY, Interval
from simplifier.canonical import comparisons
from simplifier.canonical.bitwise import divided_bits
from simplifier.canonical.scope import Scope, relevant
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import BITWISE, CONDITIONS, LOGICAL, ONE, ZERO, Atom, AtomKind, Form
from simplifier.extraction import costs_of, sharing
from simplifier.extraction.cost import DIVISIONS, cost_of_form
from simplifier.laws.catalogue import conditions as law
from simplifier.laws.catalogue.bitwise import DIVIDED_BITS
from simplifier.laws.catalogue.comparisons import CHOICE_OF_NUMBERS
from simplifier.laws.law import Law
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import MAX_CONDITIONS, MAX_CONDITIONS_JOINED, MAX_NESTED_CHOICES

_Laws: TypeAlias = "tuple[Law, ...]"
_Readings: TypeAlias = "tuple[Form, ...]"
"""Of a condition, choice or function of bits: that by digits, and the cheapest if it is another."""


class Questions(NamedTuple):
    """Questions about forms in a scope."""

    simplified: Callable[[Scope, Form], Form]
    range_of: Callable[[Scope, Form], Interval]


def step(scope: Scope, form: Form, asks: Questions) -> Form:
    """The form with its conditions and selects simplified, and the form around them."""
    found = [*_readings(scope, form, asks)]
    by_branches = (law.DIVIDED, divided(form, _divided_branches))
    by_bits = (DIVIDED_BITS, divided(form, divided_bits))
    for reason, rearranged in ((law.JOINED, joined(form)), by_branches, by_bits):
        if rearranged is not None:
            readings = _readings(scope, rearranged, asks)
            found += [((reason, *laws), read) for laws, read in readings]
    rank = _rank(scope, form)
    laws, result = min(found, key=lambda reading: rank(reading[1]))
    if result == form or rank(result) > rank(form):
        return form
    return logged(scope, laws, form, result)


def _rank(scope: Scope, form: Form) -> Callable[[Form], tuple[int, int]]:
    """What forms equal to one are chosen by: their costs or, of choices, operators as printed.

    A choice computes one branch: what its branches share counts twice.
    """
    costs = costs_of(scope)
    if any(atom.kind is AtomKind.SELECT for atom in forms.postorder((form,))):
        return lambda each: (costs.operators(each), costs.of(each))
    return lambda each: (costs.of(each), costs.operators(each))


def logged(scope: Scope, laws: _Laws, form: Form, result: Form) -> Form:
    """The result of a form, which needs no more steps."""
    scope.rewrote("read", Rewrite(laws, form, result))
    if scope.log is not None:
        scope.log.parts[result.key] = []
    return result


def with_values(scope: Scope, form: Form) -> Form:
    """The form with the only values of variables that have one."""
    values = scope.once(_only_values)
    return operations.substitute([form], values)[0] if values else form


def _only_values(scope: Scope) -> dict[str, Form]:
    points = ((name, ends.lower or 0) for name, ends in scope.bounds.items() if ends.is_point)
    return {name: forms.constant(value) for name, value in points}


def _readings(scope: Scope, form: Form, asks: Questions) -> Iterator[tuple[_Laws, Form]]:
    """The form with its functions of bits split into digits, and as they stand."""
    reader = _Reader(scope, asks)
    for reading in reader.readings(form):
        abstraction = without_logic(scope, reading, reader.range_of)
        restored = abstraction.restored(asks.simplified(abstraction.scope, abstraction.form))
        result = sharing(scope, restored).after
        laws = (*reader.laws, *abstraction.laws, *laws_logged(abstraction.scope))
        yield tuple(dict.fromkeys(laws)), result


def joined(form: Form) -> Form | None:
    """The sum with one choice for all choices by one condition; ``None`` if there are no two.

    >>> from simplifier.expr.text import parse_form
    >>> print(joined(parse_form("select(x > 5, y, 0) * 2 + select(x > 5, 1, z)")))
    select(x >= 6, y * 2 + 1, z)
    """
    choices: dict[Form, list[Atom]] = {}
    for atom in form.terms:
        if atom.kind is AtomKind.SELECT:
            choices.setdefault(atom.arguments[0], []).append(atom)
    total = form
    for condition, atoms in choices.items():
        if len(atoms) > 1:
            branches = (
                forms.weighted_sum((form.terms[atom], atom.arguments[place]) for atom in atoms)
                for place in (1, 2)
            )
            total = total.without(*atoms).plus(operations.select(condition, *branches))
    return None if total is form else total


def divided(form: Form, divide: Callable[[AtomKind, Form, Form], Form]) -> Form | None:
    """The form with the operands of what is divided divided instead; ``None`` if there are none.

    >>> from simplifier.expr.text import parse_form
    >>> print(divided(parse_form("select(x > 5, y * 4, 8) floordiv 4 + z"), _divided_branches))
    z + select(x >= 6, (y * 4) floordiv 4, 2)
    >>> print(divided(parse_form("bitxor(x, y) floordiv 8 + z"), divided_bits))
    z + bitxor(x floordiv 8, y floordiv 8)
    """
    quotients = {
        atom: divide(atom.kind, atom.numerator, atom.arguments[1])
        for atom in forms.postorder((form,))
        if atom.kind in (AtomKind.FLOORDIV, AtomKind.MOD) and atom.divisor
    }
    found = _replaced(form, quotients)
    return None if found is form else found


def _is_choice(form: Form) -> bool:
    """Whether a form is a multiple of a choice, and perhaps a number."""
    return len(form.terms) == 1 and next(iter(form.terms)).kind is AtomKind.SELECT


def _divided_branches(
    kind: AtomKind, form: Form, divisor: Form, depth: int = MAX_NESTED_CHOICES
) -> Form:
    """A quotient or remainder of a multiple of a choice, as a choice of quotients."""
    if not depth or not _is_choice(form):
        return operations.build(kind, (form, divisor))
    ((atom, factor),) = form.terms.items()
    condition, *branches = atom.arguments
    multiples = (branch.times(factor).plus_constant(form.constant) for branch in branches)
    return operations.select(
        condition, *(_divided_branches(kind, each, divisor, depth - 1) for each in multiples)
    )


def range_of(scope: Scope, form: Form, asks: Questions) -> Interval:
    """An interval that holds every value of a form with conditions or choices."""
    reader = _Reader(scope, asks)
    by_digits, *_ = reader.readings(form)
    abstraction = without_logic(scope, by_digits, reader.range_of)
    return asks.range_of(abstraction.scope, abstraction.form)


# Conditions, choices and bits.


class _Reader:
    """Reader of a form under one scope, which knows the ranges of its opaque terms."""

    def __init__(self, scope: Scope, asks: Questions) -> None:
        self._scope = scope
        self._asks = asks
        self.laws: dict[Law, None] = {}
        """The laws applied, in order; collected during a trace."""
        remembers = scope.log is None
        self._known: dict[Atom, _Readings] = scope.memory("choices") if remembers else {}
        self._ranges: dict[Atom, Interval] = scope.memory("of choices") if remembers else {}

    def readings(self, form: Form) -> Iterable[Form]:
        """The form with each outermost condition, choice and function of bits simplified.

        First with all functions of bits by digits, so that equal digits cancel.
        """
        form = with_values(self._scope, form)
        found = {atom: self._simplified_atom(atom) for atom in outermost([form])}
        places = (0, -1) if any(len(each) > 1 for each in found.values()) else (0,)
        ways = ({atom: each[place] for atom, each in found.items()} for place in places)
        return dict.fromkeys(_replaced(form, each) for each in ways)

    def _simplified_atom(self, atom: Atom) -> _Readings:
        if atom not in self._known:
            self._known[atom] = self._of_atom(atom)
        return self._known[atom]

    def range_of(self, atom: Atom) -> Interval:
        """The range of a simplified condition, select or function of bits."""
        if atom.kind in CONDITIONS:
            return Interval(0, 1)
        if atom not in self._ranges:
            self._ranges[atom] = self._range_of(atom)
        return self._ranges[atom]

    def _range_of(self, atom: Atom) -> Interval:
        if atom.kind is AtomKind.SELECT and not _is_deep(atom):
            return self._range_of_choice(atom)
        canonical = self._scope.canonical(Form(0, {atom: 1}))
        return Interval.from_range(self._scope.range_of(canonical))

    def _range_of_choice(self, atom: Atom) -> Interval:
        *branches, (_, last) = _branches(atom)
        scope, found = self._scope.of_variables_in(Form(0, {atom: 1})), EMPTY
        for condition, value in branches:
            found = found.union(self._asks.range_of(scope.under(condition), value))
            scope = scope.under(operations.negation(condition))
        return found.union(self._asks.range_of(scope, last))

    def _of_atom(self, atom: Atom) -> _Readings:
        whole = Form(0, {atom: 1})
        if _is_deep(atom):
            return (whole,)
        within = self._scope.of_variables_in(whole)
        if within is not self._scope:
            reader = _Reader(within, self._asks)
            found = reader._simplified_atom(atom)
            self.laws |= reader.laws
            return found
        if atom.kind is AtomKind.SELECT:
            return (self._choice(_branches(atom)),)
        if atom.kind is AtomKind.AND:
            return (self._conjunction(list(atom.arguments)),)
        return self._operation(atom)

    def _operation(self, atom: Atom) -> _Readings:
        """A comparison or a function: on simplified operands, or in canonical form."""
        direct = self._on_simplified(atom)
        canonical = self._scope.canonical(direct)
        self._note(self._scope)
        inside = {inner: self._on_simplified(inner) for inner in outermost([canonical])}
        found = operations.replace(canonical, inside)
        if atom.kind in BITWISE or atom.kind is AtomKind.CALL:
            return tuple(dict.fromkeys((found, min(found, direct, key=cost_of_form))))
        return (min(found, direct, key=_cost_of_condition),)

    def _on_simplified(self, atom: Atom) -> Form:
        """The operation on simplified operands."""
        operands = tuple([self._asks.simplified(self._scope, each) for each in atom.arguments])
        return operations.rebuilt(atom, operands)

    # Parts of ``and``.

    def _conjunction(self, joined: list[Form]) -> Form:
        """Each condition where all others hold."""
        for place in range(min(len(joined), MAX_CONDITIONS_JOINED)):
            others = [*joined[:place], *joined[place + 1 :]]
            within = self._scope.under(operations.conjunction(others[:MAX_CONDITIONS_JOINED]))
            if within.is_empty:
                self._fired(law.UNDER_OTHERS)
                return ZERO
            found = self._asks.simplified(within, joined[place])
            if found != joined[place]:
                self._fired(law.UNDER_OTHERS)
                self._note(within)
            joined[place] = found
        whole = operations.conjunction(joined)
        return self._scope.canonical(whole) if whole.is_constant else whole

    # Choices.

    def _choice(self, branches: Sequence[tuple[Form, Form]]) -> Form:
        """Each branch where its condition holds, and none of those before it."""
        kept: list[_Branch] = []
        failing: list[Form] = []
        scope = self._scope
        for condition, value in branches:
            holds = self._asks.simplified(scope, condition)
            self._note(scope)
            within = scope.under(holds)
            if holds == ZERO or within.is_empty:
                continue
            found = self._asks.simplified(within, value)
            if found != value:
                self._fired(law.CHOSEN)
                self._note(within)
            failing.append(operations.negation(holds))
            scope = self._scope.under(operations.conjunction(failing[-MAX_CONDITIONS:]))
            kept.append(_Branch(holds, found, within, scope))
            if holds == ONE or scope.is_empty:
                break
        if not kept:
            return branches[-1][1]  # no values reach the choice
        return reduce(self._chosen, reversed(kept[:-1]), kept[-1].value)

    def _chosen(self, other: Form, branch: _Branch) -> Form:
        """The select of a branch and the rest, which holds where the branch does not."""
        found = self._agreed(branch, other) or self._computed(branch, other)
        if found is not None:
            return found
        condition, value, *_ = branch
        inner = other.only_atom
        if inner and inner.kind is AtomKind.SELECT and inner.arguments[1] == value:
            self._fired(law.CHOSEN_TWICE)
            either = operations.disjunction((condition, inner.arguments[0]))
            return self._select(either, value, inner.arguments[2])
        inner = value.only_atom
        if inner and inner.kind is AtomKind.SELECT and inner.arguments[2] == other:
            self._fired(law.CHOSEN_TWICE)
            both = operations.conjunction((condition, inner.arguments[0]))
            return self._select(both, inner.arguments[1], other)
        return self._select(condition, value, other)

    def _agreed(self, branch: _Branch, other: Form) -> Form | None:
        """The branch that equals the other one where that is chosen."""
        _, value, within, elsewhere = branch
        if value == other:
            return value
        for scope, one, another in ((elsewhere, value, other), (within, other, value)):
            if self._asks.simplified(scope, one) == another:
                self._fired(law.CHOSEN)
                return one
        return None

    def _computed(self, branch: _Branch, other: Form) -> Form | None:
        """The remainder, minimum or maximum that a choice is; no branch may be without a value.

        Nor may it be a choice itself: each would be read where the others hold, again and again.
        """
        _, value, within, elsewhere = branch
        if any(map(_is_chosen_or_undefined, forms.postorder((value, other)))):
            return None
        difference = value - other
        if not difference.terms:
            size = abs(difference.constant)
            residues, chosen = Interval(0, size - 1), ((within, value), (elsewhere, other))
            if not all(residues.contains(self._asks.range_of(*each)) for each in chosen):
                return None
            self._fired(law.CHOSEN_RESIDUE)
            return operations.mod(other, forms.constant(size))
        here, there = (self._asks.range_of(scope, difference) for scope in (within, elsewhere))
        for extremum, sign in ((operations.maximum, 1), (operations.minimum, -1)):
            if _NATURAL.contains(here * sign) and _NATURAL.contains(there * -sign):
                self._fired(law.CHOSEN_GREATEST)
                return extremum((value, other))
        return None

    def _select(self, condition: Form, chosen: Form, other: Form) -> Form:
        """The select, with common terms of both branches outside."""
        common, chosen, other = comparisons.apart(self._scope, chosen, other)
        scale, parts = comparisons.in_lowest_terms(self._scope, chosen, other)
        self._note(self._scope)
        return operations.select(condition, *parts).times(scale).plus(common)

    # Traces.

    def _note(self, scope: Scope) -> None:
        """Take over the laws that a scope has logged."""
        self.laws |= dict.fromkeys(laws_logged(scope))

    def _fired(self, law: Law) -> None:
        self._scope.fired(law)
        self.laws[law] = None


_NATURAL: Final = Interval(0, None)


def _is_chosen_or_undefined(atom: Atom) -> bool:
    """Whether the value is one of several, or none where a divisor is 0."""
    divides_by_symbols = atom.kind in DIVISIONS and bool(atom.arguments[1].terms)
    return divides_by_symbols or atom.kind is AtomKind.SELECT


def _replaced(form: Form, values: dict[Atom, Form]) -> Form:
    """The form with the values in place of those atoms that are not their own."""
    return operations.replace(
        form, {atom: value for atom, value in values.items() if value.only_atom is not atom}
    )


def _cost_of_condition(form: Form) -> int:
    """The cost of a condition, or of its negation: that costs no more."""
    return cost_of_form(operations.negation(form) if form.constant else form)


class _Branch(NamedTuple):
    """A value where a condition holds, and the scope of these points.

    The other scope is that of the points where neither it nor a condition before it holds.
    """

    condition: Form
    value: Form
    scope: Scope
    elsewhere: Scope


def laws_logged(scope: Scope) -> Iterator[Law]:
    """All laws in the log of a scope."""
    log = scope.log
    if log is not None:
        rewrites = (log.rewrites[how].values() for how in ("extracted", "read"))
        for rewrite in chain(log.canonical.values(), *rewrites):
            if rewrite.before != rewrite.after:
                yield from rewrite.laws
        yield from log.laws


def _branches(atom: Atom) -> list[tuple[Form, Form]]:
    """The conditions and values of a choice, and of the choices that its last branch is."""
    found: list[tuple[Form, Form]] = []
    last = Form(0, {atom: 1})
    while (inner := last.only_atom) is not None and inner.kind is AtomKind.SELECT:
        condition, chosen, last = inner.arguments
        found.append((condition, chosen))
    return [*found, (ONE, last)]


def _is_deep(atom: Atom) -> bool:
    """Whether conditions and selects are nested deep; branches of one select are side by side."""

    def of_atom(atom: Atom, inner: tuple[int, ...]) -> int:
        if atom.kind is AtomKind.SELECT:
            last = atom.arguments[2].only_atom
            is_chain = last is not None and last.kind is AtomKind.SELECT
            return max(inner[0] + 1, inner[1] + 1, inner[2] + (not is_chain))
        return max(inner, default=0) + (atom.kind in LOGICAL)

    def of_form(form: Form, known: Mapping[Atom, int]) -> int:
        return max(map(known.__getitem__, form.terms), default=0)

    whole = Form(0, {atom: 1})
    return of_form(whole, forms.fold((whole,), of_atom, of_form)) > MAX_NESTED_CHOICES


def guarded(form: Form) -> Form:
    """The form with 1 in place of a divisor that is zero where its branch is not chosen.

    So that all branches of a choice can be computed before one of them is chosen.

    >>> from simplifier.expr.text import parse_form
    >>> print(guarded(parse_form("select(n != 0, x floordiv n, 0)")))
    select(n != 0, x floordiv (n + (n == 0)), 0)
    """
    choices = outermost([form], (AtomKind.SELECT,))
    return operations.replace(form, {atom: _guarded_choice(atom) for atom in choices})


def _guarded_choice(atom: Atom) -> Form:
    values = forms.fold(atom.arguments, _guarded_atom, forms.combine)
    return operations.select(*(forms.combine(argument, values) for argument in atom.arguments))


def _guarded_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    if atom.kind in DIVISIONS and arguments[1].terms:
        numerator, divisor = arguments
        return operations.rebuilt(atom, (numerator, divisor + operations.zero(divisor)))
    return operations.rebuilt(atom, arguments)


# A form with variables in place of operations, and back.
#
# Only the range of such a variable is known, so the laws of arithmetic need not know of conditions,
# and cost no time where there are none. Uninterpreted functions become variables, too.


def has_logic(form: Form) -> bool:
    """Whether there are conditions, choices or functions of bits in a form."""
    return any(atom.kind in LOGICAL for atom in forms.postorder((form,)))


class Abstraction(NamedTuple):
    """A form with variables in place of operations, of which only the ranges are known."""

    form: Form
    scope: Scope
    meanings: Mapping[str, Form]
    """What stands for each new variable."""
    laws: tuple[Law, ...] = ()

    def restored(self, form: Form) -> Form:
        """The form with the replaced terms put back; numbers times conditions become selects."""
        (result,) = operations.substitute([form], self.meanings)
        return result if operations.is_condition(result) else _with_choices_of_numbers(result)


def abstracted(
    scope: Scope,
    form: Form,
    names: Mapping[Atom, str],
    range_of: Callable[[Atom], Interval],
    known: tuple[Bounds, Constraints],
) -> Abstraction:
    """The form with a variable for each of some operations; of the rest, bounds and constraints.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> form, scope = parse_form("((x mod 5) * 3 + y) floordiv 2"), scope_of(())
    >>> names = {atom: "a" for atom in parse_form("x mod 5").terms}
    >>> found = abstracted(scope, form, names, lambda _: Interval(0, 4), ((), ()))
    >>> print(found.form, found.scope.bounds["a"], found.restored(found.form) == form)
    (a * 3 + y) floordiv 2 [0, 4] True
    """
    bounds, constraints = known
    outside = operations.replace(form, {atom: forms.variable(name) for atom, name in names.items()})
    ends = ((name, range_of(atom)) for atom, name in names.items())
    every = tuple(sorted((*bounds, *ends), key=itemgetter(0)))
    meanings = {name: Form(0, {atom: 1}) for atom, name in names.items()}
    return Abstraction(outside, scope.beside(*relevant([outside], every, constraints)), meanings)


def without_logic(scope: Scope, form: Form, range_of: Callable[[Atom], Interval]) -> Abstraction:
    """The form with a variable for each condition, choice and function of bits.

    A choice of two numbers is its condition times their difference. The variables are numbered, so
    that forms that differ in the meanings alone share a scope.
    """
    linear = {atom: _of_numbers(atom) for atom in outermost([form])}
    inner = dict.fromkeys(each for value in linear.values() for each in value.terms)
    names = {atom: f"{_MARK}{number}" for number, atom in enumerate(inner)}
    variables = {atom: forms.variable(name) for atom, name in names.items()}
    bounds, constraints = scope.given
    facts = _arithmetic(
        constraints, {atom: forms.combine(value, variables) for atom, value in linear.items()}
    )
    found = abstracted(
        scope, operations.replace(form, linear), names, range_of, (bounds, tuple(facts))
    )
    are_numbers = any(atom not in inner for atom in linear)
    return found._replace(laws=(CHOICE_OF_NUMBERS,)) if are_numbers else found


def _arithmetic(
    constraints: Constraints, replacements: Mapping[Atom, Form]
) -> Iterator[tuple[Form, Interval]]:
    """The constraints without logic, or that have none with variables for it."""
    for fact, ends in constraints:
        outside = operations.replace(fact, replacements)
        if not has_logic(outside):
            yield outside, ends


def hidden(form: Form) -> Form:
    """The form with a variable for each condition, choice and function of bits; of any value.

    >>> from simplifier.expr.text import parse_form
    >>> hidden(parse_form("x * 2 + select(x > 5, y, 0)")).is_affine
    True
    """
    names = {
        atom: forms.variable(f"{_MARK}{number}") for number, atom in enumerate(outermost([form]))
    }
    return operations.replace(form, names)


_MARK: Final = "\0"
"""Begins the names of variables, so that no other variable has such a name."""


def outermost(wanted: Iterable[Form], kinds: Collection[AtomKind] = LOGICAL) -> list[Atom]:
    """Conditions, choices and functions of bits that stand in no other one, in their order.

    Of ``kinds`` alone: a choice counts that stands in a condition, but in no other choice.

    >>> from simplifier.expr.text import parse_form
    >>> outermost([parse_form("bitor(x, select(x > 5, y, 0))")], [AtomKind.SELECT])
    [<select select(x >= 6, y, 0)>]
    """
    found: dict[Atom, None] = {}
    seen: set[Atom] = set()
    stack = [atom for form in wanted for atom in form.terms]
    while stack:
        atom = stack.pop()
        if atom in seen:
            continue
        seen.add(atom)
        if atom.kind in kinds:
            found[atom] = None
        else:
            stack += [inner for argument in atom.arguments for inner in argument.terms]
    return sorted(found)


def _of_numbers(atom: Atom) -> Form:
    """A choice of two numbers as a multiple of its condition."""
    if atom.kind is AtomKind.SELECT:
        condition, chosen, other = atom.arguments
        if chosen.is_constant and other.is_constant:
            return condition.times(chosen.constant - other.constant) + other.constant
    return Form(0, {atom: 1})


def _with_choices_of_numbers(form: Form) -> Form:
    """The form with a choice in place of each multiple of a condition; one has the constant."""
    for atom, factor in form.terms.items():
        if atom.kind in CONDITIONS and (factor != 1 or form.constant):
            first, rest = Form(0, {atom: 1}), form.without(atom)
            numbers = forms.constant(factor + form.constant), forms.constant(form.constant)
            choice = operations.select(first, *numbers)
            return _with_choices_of_numbers(rest.plus_constant(-form.constant)).plus(choice)
    return form
