"""Extraction: the cheapest form that is equal to a canonical one.

:mod:`~simplifier.extraction` looks for it; the other modules say, one kind of operation
each, which forms are equal: remainders, minima and factored products come back. A good form is
defined in :mod:`~simplifier.extraction.cost` and :mod:`~simplifier.extraction.prices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Final, NamedTuple, TypeAlias

from simplifier.bounds.digits import is_symbolic_quotient
from simplifier.canonical.scope import Scope
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import MAX, Atom, AtomKind, Form, Key, is_deep, nests_extrema, postorder
from simplifier.extraction.cost import cost_of_operation
from simplifier.extraction.natural import is_plain, natural_reading, says_more
from simplifier.extraction.prices import FINE, NO_LIMIT, WIDE, CostOf, Prices, Width, fine_cost
from simplifier.extraction.steps import (
    Candidates,
    Limit,
    extremum_steps,
    product_steps,
    quotient_steps,
    remainder_steps,
    source_steps,
    sum_steps,
)
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import MAX_EXTRACTED_TERMS, MAX_MAXIMA_SEARCHED, MAX_QUOTIENTS_SEARCHED
from simplifier.tools.graphs import connected_components

# The search for the cheapest form: step by step to the cheapest candidate, as long as it helps.
#
# In an *extracted form* atoms stand for themselves. During the search their arguments are
# canonical; these are extracted in the end. Remainders are tried first, because they are the
# natural digits.

Steps: TypeAlias = "Callable[[Scope, Form, Limit], Iterator[Candidates]]"
"""Yields candidates that are equal to the form and may be below the limit."""


def extracted(scope: Scope, form: Form) -> Form:
    """The cheapest form found for a canonical form, arguments and all."""
    if form.is_affine:
        return form
    extractor = scope.once(_extractor_of)
    known = extractor.results.get(form.key)
    if known is None:
        known = extractor.results[form.key] = _with_arguments(extractor, form)
    return known


def extracted_within(scope: Scope, form: Form, limit: float) -> Form:
    """The cheapest form found for a canonical form in which no term is beyond the limit."""
    return _with_arguments(_extractor_of(scope, limit), form)


def natural_cost(scope: Scope, form: Form) -> int:
    """The cost of the mixed-radix form of a canonical form, arguments and all."""
    reader = scope.once(_extractor_of).reader
    reader.prepare(form)
    return fine_cost(reader.extract(form), reader.cost) // FINE


def _with_arguments(extractor: Extractor, form: Form) -> Form:
    """The cheapest form with its arguments extracted, from the inside out."""
    extractor.prepare(form)
    finished: dict[Atom, Form] = {}
    cheapest = extractor.extract(form)
    stack = list(cheapest.terms)
    while stack:
        atom = stack[-1]
        if atom in finished:
            stack.pop()
            continue
        arguments = extractor.arguments(atom.kind, atom.arguments)
        missing = [
            inner for argument in arguments for inner in argument.terms if inner not in finished
        ]
        if missing:
            stack += missing
            continue
        stack.pop()
        parts = tuple(forms.combine(argument, finished) for argument in arguments)
        finished[atom] = operations.build(atom.kind, parts) if parts else Form(0, {atom: 1})
    return forms.combine(cheapest, finished)


class Extractor:
    """Finds the cheapest forms by some kinds of steps, and remembers them.

    The cost of a candidate includes the cost of what it brings in, which has to be extracted first.
    That is left to the first helper, which makes no steps: it takes the mixed-radix form where that
    is cheaper. The last helper makes steps; it serves forms of few maxima. Otherwise the work would
    grow exponentially with nesting.
    """

    def __init__(
        self,
        scope: Scope,
        steps: Sequence[Steps] = (),
        helpers: Sequence[Extractor] = (),
        limit: float = inf,
    ) -> None:
        self.results: dict[Key, Form] = {}
        """The cheapest forms found, arguments and all."""
        self.reader = helpers[0] if helpers else self
        """Takes mixed-radix forms and searches nothing."""
        self._scope = scope
        self._steps = steps
        self._helpers = helpers
        self._limit = limit
        self.cost: CostOf = _Costs(self).__getitem__
        """The cost of an atom, its arguments extracted."""
        self._extracted: dict[Key, Form] = {}
        self._parts: dict[tuple[Key, Key], list[Rewrite]] = {}

    def prepare(self, form: Form) -> None:
        """Work out the costs of nested atoms from the inside out, so that no call goes deep."""
        if form.depth > _SHALLOW:
            for atom in postorder((form,)):
                self.cost(atom)

    def cost_of(self, kind: AtomKind, operands: Sequence[Form], limit: int = NO_LIMIT) -> int:
        """The cost of an operation, its operands extracted; beyond the limit a part of it."""
        cost = cost_of_operation(kind, len(operands)) * FINE
        if kind is AtomKind.QUOTIENT:
            return cost + sum(self._cost_of_sum(part) for part in self.arguments(kind, operands))
        for operand in operands:
            if cost >= limit:
                break
            cost += self._cost_of_sum(self.extract(operand))
        return cost

    def _cost_of_sum(self, form: Form) -> int:
        return fine_cost(form, self.cost)

    def arguments(self, kind: AtomKind, operands: Sequence[Form]) -> tuple[Form, ...]:
        """The operands in their cheapest form; a symbolic divisor has a positive term."""
        found = tuple([self.extract(operand) for operand in operands])
        if kind is AtomKind.QUOTIENT and not found[1].has_positive_term:
            return tuple([self.extract(-operand) for operand in operands])
        return found

    def extract(self, form: Form) -> Form:
        """The cheapest form equal to another, its arguments left as they are."""
        if form.is_affine:
            return form
        found = self._extracted.get(form.key)
        if found is None:
            steps = self._search(form) if self._helpers else self._read(form)
            found = self._extracted[form.key] = _end(form, steps)
            if len(self._helpers) > 1:
                for rewrite in steps:
                    self._scope.extracted(rewrite)
        return found

    def _read(self, form: Form) -> list[Rewrite]:
        """The mixed-radix form, where that is cheaper."""
        if _is_large(form):
            return []
        natural = natural_reading(self._scope, form, self.cost)
        after = _end(form, natural)
        return natural if fine_cost(after, self.cost) < fine_cost(form, self.cost) else []

    def _search(self, form: Form) -> list[Rewrite]:
        """The cheapest steps found for each part of the form that has its own variables."""
        if _is_large(form):
            return []
        parts = _parts(form)
        if len(parts) == 1:
            return self._search_part(form, form)
        steps: list[Rewrite] = []
        whole = form
        for part in self._with_constant(form, parts):
            for laws, before, after in self._search_part(part, form):
                following = whole.plus(before, -1).plus(after)
                steps.append(Rewrite(laws, whole, following))
                whole = following
        return steps

    def _with_constant(self, form: Form, parts: list[Form]) -> list[Form]:
        """The parts; one of them with the constant, if it gets cheaper by it."""
        constant = form.constant
        best, saved = -1, 0
        for index, part in enumerate(parts) if constant else ():
            alone = _end(part, self._search_part(part, form))
            if not is_plain(alone.plus_constant(constant)):
                joined = part.plus_constant(constant)
                together = _end(joined, self._search_part(joined, form))
                gain = self._cost_beside(form, part, alone.plus_constant(constant))
                gain -= self._cost_beside(form, part, together)
                if gain > saved:
                    best, saved = index, gain
        return [
            part.plus_constant(constant) if index == best else part
            for index, part in enumerate(parts)
        ]

    def _cost_beside(self, form: Form, part: Form, found: Form) -> int:
        return fine_cost(found, self.cost, is_alone=_is_alone(form, part))

    def _search_part(self, part: Form, form: Form) -> list[Rewrite]:
        """The mixed-radix form of a part, where it is plain; else the cheapest end of descents."""
        if part.is_affine:
            return []
        natural = natural_reading(self._scope, part, self.cost)
        start = _end(part, natural)
        if is_plain(start) and not says_more(self._scope, part, start):
            return natural
        kinds = _affordable_steps(part, len(self._helpers) - 1)
        if not kinds:
            return natural
        key = part.key, form.key
        found = self._parts.get(key)
        if found is None:
            helper = self._helpers[-1 if 0 < count_maxima(part) <= MAX_MAXIMA_SEARCHED else 0]
            cost_of = _SearchCosts(self, helper, part).__getitem__
            width = Width(self._scope, form, self._limit)
            prices = Prices(self._scope, cost_of, width, is_alone=_is_alone(form, part))
            search = _Search(self._scope, prices, helper, self._steps[:kinds], {})
            found = self._parts[key] = search.descend(part, natural)
        return found


_SHALLOW: Final = 3
"""Nests that are no deeper are worked out when they are asked for, if they are."""


class _Search(NamedTuple):
    """One search for a cheaper form, by steps of some kinds."""

    scope: Scope
    prices: Prices
    helper: Extractor
    order: Sequence[Steps]
    known: dict[tuple[Key, int, Steps], Rewrite | None]
    """The cheapest step of a kind from a form: descents meet."""

    def descend(self, form: Form, natural: list[Rewrite]) -> list[Rewrite]:
        """The cheapest end of descents from the form itself, and from its mixed-radix form."""
        start = _end(form, natural)
        cost = self._cost_to_undercut(form, start)
        descents = [self._descent(form, cost, self.order)]
        if natural:
            descents.append([*natural, *self._descent(start, self.prices.sum(start), self.order)])
        if _has_operation_beside_maximum(form) and (descents[0] or len(self.order) == 1):
            # A term that first moves into an extremum may become a remainder there.
            descents.append(self._descent(form, cost, (extremum_steps, *self.order)))
        return min(descents, key=lambda descent: self.prices.sum(_end(form, descent)))

    def _cost_to_undercut(self, form: Form, start: Form) -> int:
        """The cost of a form; a wide one is no measure, so at most that of its mixed-radix form."""
        cost = self.prices.sum(form)
        return cost if cost < WIDE else min(cost, self.prices.sum(start) + 1)

    def _descent(self, form: Form, cost: int, order: Sequence[Steps]) -> list[Rewrite]:
        """Steps from a form to cheaper and cheaper ones, one kind at a time, until none helps."""
        descent: list[Rewrite] = []
        current = form
        kind = 0
        while kind < len(order):
            found = self._cheapest_step(current, cost, order[kind])
            # A candidate whose cost was found before it was built may cost more.
            following = cost if found is None else self.prices.sum(found.after)
            if found is None or following >= cost:
                kind += 1
            else:
                descent.append(found)
                current, cost, kind = found.after, following, 0
        return descent

    def _cheapest_step(self, form: Form, cost: int, steps: Steps) -> Rewrite | None:
        """The cheapest step of a kind from a form to one below this cost."""
        key = form.key, cost, steps
        if key not in self.known:
            limit = Limit(cost, self.prices, self.helper)
            self.known[key] = limit.cheapest(form, steps(self.scope, form, limit))
        return self.known[key]


def _has_operation_beside_maximum(form: Form) -> bool:
    kinds = {atom.kind for atom in form.terms if atom.arguments}
    return MAX in kinds and len(kinds) > 1


def count_maxima(form: Form) -> int:
    """Number of maxima in a form: much can be moved in and out of each."""
    return sum(atom.kind is MAX for atom in postorder((form,)))


def _variables_in(atom: Atom) -> list[Atom]:
    return [inner for inner in postorder((Form(0, {atom: 1}),)) if not inner.arguments]


def _parts(form: Form) -> list[Form]:
    """Sums of terms without a variable in common, which stay apart in any extracted form."""
    terms = form.terms
    if len(terms) == 1:
        return [form]
    groups = connected_components(terms, _variables_in)
    if len(groups) == 1:
        return [form]
    affine = [
        atom for group in groups if len(group) == 1 and not group[0].arguments for atom in group
    ]
    parts = [
        Form(0, forms.in_order({atom: terms[atom] for atom in group}))
        for group in groups
        if group[0] not in affine
    ]
    if len(parts) == 1 and not affine:
        return [form]
    return [*parts, Form(0, {atom: terms[atom] for atom in affine})] if affine else parts


def _is_alone(form: Form, part: Form) -> bool:
    """Whether no positive term stands beside a part of a form."""
    return not any(factor > 0 for atom, factor in form.terms.items() if atom not in part.terms)


def _end(form: Form, descent: Sequence[Rewrite]) -> Form:
    return descent[-1].after if descent else form


def _is_large(form: Form) -> bool:
    size = len(form.terms)
    for atom in form.terms:
        for argument in atom.arguments:
            size += len(argument.terms)
    return size > MAX_EXTRACTED_TERMS or is_deep(form)


def _affordable_steps(form: Form, helpers: int) -> int:
    """Number of kinds of steps to try: they grow with the square of a sum's quotients."""
    quotients = sum(atom.kind is AtomKind.FLOORDIV for atom in form.terms)
    few, many = MAX_QUOTIENTS_SEARCHED[helpers]
    kinds = 2 if quotients <= few else 1 if quotients <= many else 0
    return min(kinds, helpers) if nests_extrema(form) else kinds


class _Costs(dict[Atom, int]):
    """The costs of atoms; each is worked out when it is asked for."""

    def __init__(self, extractor: Extractor) -> None:
        super().__init__()
        self._extractor = extractor

    def __missing__(self, atom: Atom) -> int:
        operands = atom.arguments
        cost = self[atom] = self._extractor.cost_of(atom.kind, operands) if operands else 0
        return cost


class _SearchCosts(dict[Atom, int]):
    """The costs of atoms in one search: a form's own by the extractor, new ones by its helper."""

    def __init__(self, extractor: Extractor, helper: Extractor, form: Form) -> None:
        super().__init__((atom, extractor.cost(atom)) for atom in form.terms)
        self._extractor = extractor
        self._helper = helper
        self._form = form
        self._own: frozenset[Atom] = frozenset()

    def __missing__(self, atom: Atom) -> int:
        if not self._own:
            self._own = frozenset(postorder((self._form,)))
        extractor = self._extractor if atom in self._own else self._helper
        cost = self[atom] = extractor.cost(atom)
        return cost


def _extractor_of(scope: Scope, limit: float = inf) -> Extractor:
    """The extractor of a scope, with its helpers: one reads, one, for maxima, makes steps."""
    steps = _digit_steps, _other_steps
    reader = Extractor(scope)
    helper = Extractor(scope, steps, (reader,), limit)
    return Extractor(scope, steps, (reader, helper), limit)


def _digit_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form, scope.once(_extractor_of).extract)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form, limit)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is AtomKind.PRODUCT or is_symbolic_quotient(atom)


def _other_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    yield from quotient_steps(form, limit)
    yield from source_steps(scope, form)
    yield from extremum_steps(scope, form, limit)
