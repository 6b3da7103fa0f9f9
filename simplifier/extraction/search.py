"""The search for the cheapest spelling: the cheapest candidate of one step, as long as it helps.

A *spelling* is a form whose atoms stand for themselves and whose arguments are still canonical; the
arguments are extracted in the end. Remainders are tried first, because they are the natural digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from simplifier.bounds.branches import maxima
from simplifier.bounds.polynomials import is_symbolic_quotient
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, AtomKind, Form, postorder
from simplifier.expr.size import is_deep, nests_extrema
from simplifier.extraction.candidates import Limit
from simplifier.extraction.clamps import extremum_steps
from simplifier.extraction.cost import (
    FINE,
    Prices,
    cost_of_operation,
    fine_cost,
    least_cost_at_a_glance,
)
from simplifier.extraction.divisions import (
    quotient_steps,
    remainder_steps,
    sum_steps,
)
from simplifier.extraction.natural import is_plain, natural_reading
from simplifier.extraction.products import product_steps
from simplifier.extraction.width import natural_width
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import MAX_EXTRACTED_TERMS, MAX_QUOTIENTS_SEARCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key
    from simplifier.extraction.candidates import Candidates, CostOf

    Steps: TypeAlias = Callable[[Scope, Form, Limit], Iterator[Candidates]]
    """Yields candidates that are equal to the form and may be below the limit."""


def extracted(scope: Scope, form: Form) -> Form:
    """The cheapest spelling found for a canonical form, arguments and all."""
    if form.is_affine:
        return form
    extractor = scope.memory(_extractor_of)
    known = extractor.results.get(form.key)
    if known is None:
        known = extractor.results[form.key] = _with_arguments(extractor, form)
    return known


def _with_arguments(extractor: Extractor, form: Form) -> Form:
    """The cheapest spelling with its arguments extracted, from the inside out."""
    for atom in postorder((form,)):
        extractor.cost(atom)
    finished: dict[Atom, Form] = {}
    spelling = extractor.extract(form)
    stack = list(spelling.terms)
    while stack:
        atom = stack[-1]
        if atom in finished:
            stack.pop()
            continue
        arguments = tuple(map(extractor.extract, atom.arguments))
        missing = [
            inner for argument in arguments for inner in argument.terms if inner not in finished
        ]
        if missing:
            stack += missing
            continue
        stack.pop()
        parts = tuple(forms.combine(argument, finished) for argument in arguments)
        finished[atom] = operations.build(atom.kind, parts) if parts else Form(0, {atom: 1})
    return forms.combine(spelling, finished)


class Extractor:
    """Finds the cheapest spellings by some kinds of steps, and remembers them.

    The cost of a candidate includes the cost of what it brings in, which has to be extracted first.
    That is left to a helper, which makes no steps: it takes the natural reading where that is
    cheaper. Otherwise the work would grow exponentially with nesting.
    """

    def __init__(self, scope: Scope, steps: Sequence[Steps], helper: Extractor | None) -> None:
        self.results: dict[Key, Form] = {}
        """The cheapest forms found, arguments and all."""
        self._scope = scope
        self._steps = steps
        self._helper = helper
        self.cost: CostOf = _Costs(self).__getitem__
        """The cost of an atom, its arguments extracted."""
        self._extracted: dict[Key, Form] = {}

    def cost_of(self, kind: AtomKind, operands: Sequence[Form]) -> int:
        """The cost of an operation, its operands extracted."""
        cost = cost_of_operation(kind, len(operands)) * FINE
        for operand in operands:
            cost += fine_cost(self.extract(operand), self.cost)
        return cost

    def extract(self, form: Form) -> Form:
        """The cheapest spelling of a form, its arguments left as they are."""
        if form.is_affine:
            return form
        found = self._extracted.get(form.key)
        if found is None:
            steps = self._search(form) if self._helper else self._read(form)
            found = self._extracted[form.key] = _end(form, steps)
            if self._helper:
                for rewrite in steps:
                    self._scope.extracted(rewrite)
        return found

    def _read(self, form: Form) -> list[Rewrite]:
        """The natural reading, where that is cheaper."""
        if _is_large(form):
            return []
        natural = natural_reading(self._scope, form, self.cost)
        after = _end(form, natural)
        return natural if fine_cost(after, self.cost) < fine_cost(form, self.cost) else []

    def _search(self, form: Form) -> list[Rewrite]:
        """The natural reading, where it is plain; else the cheapest end of two descents."""
        if _is_large(form):
            return []
        assert self._helper is not None
        natural = natural_reading(self._scope, form, self.cost)
        start = _end(form, natural)
        if is_plain(start):
            return natural
        kinds = _affordable_steps(form)
        if not kinds:
            return natural
        cost_of = _SearchCosts(self, self._helper, form).__getitem__
        prices = Prices(self._scope, cost_of, natural_width(self._scope, form))
        order = self._steps[:kinds]
        descents = [self._descent(form, order, prices)]
        if natural:
            descents.append([*natural, *self._descent(start, order, prices)])
        if len(form.terms) > 1 and maxima(form) and (descents[0] or kinds == 1):
            # A term that first moves into an extremum may become a remainder there.
            descents.append(self._descent(form, (extremum_steps, *order), prices))
        return min(descents, key=lambda descent: prices.sum(_end(form, descent)))

    def _descent(self, form: Form, order: Sequence[Steps], prices: Prices) -> list[Rewrite]:
        """Steps to cheaper and cheaper spellings, one kind of steps at a time, until none helps."""
        assert self._helper is not None
        descent: list[Rewrite] = []
        current, cost, least = form, prices.sum(form), least_cost_at_a_glance(form)
        kind = 0
        while kind < len(order) and cost > least:
            limit = Limit(cost, prices, self._helper)
            found = limit.cheapest(current, order[kind](self._scope, current, limit))
            # A candidate whose cost was found before it was built may cost more.
            following = cost if found is None else prices.sum(found.after)
            if found is None or following >= cost:
                kind += 1
            else:
                descent.append(found)
                current, cost, kind = found.after, following, 0
        return descent


def _end(form: Form, descent: Sequence[Rewrite]) -> Form:
    return descent[-1].after if descent else form


def _is_large(form: Form) -> bool:
    size = len(form.terms)
    for atom in form.terms:
        for argument in atom.arguments:
            size += len(argument.terms)
    return size > MAX_EXTRACTED_TERMS or is_deep(form)


def _affordable_steps(form: Form) -> int:
    """How many kinds of steps to try: their number grows with the square of a sum's quotients."""
    quotients = sum(atom.kind is AtomKind.FLOORDIV for atom in form.terms)
    few, many = MAX_QUOTIENTS_SEARCHED
    kinds = 2 if quotients <= few else 1 if quotients <= many else 0
    return min(kinds, 1) if nests_extrema(form) else kinds


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


def _extractor_of(scope: Scope) -> Extractor:
    """The extractor of a scope, with its helper."""
    return Extractor(scope, (_digit_steps, _other_steps), Extractor(scope, (), None))


def _digit_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form, scope.memory(_extractor_of).extract)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form, limit)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is AtomKind.PRODUCT or is_symbolic_quotient(atom)


def _other_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    yield from quotient_steps(form, limit)
    yield from extremum_steps(scope, form, limit)
