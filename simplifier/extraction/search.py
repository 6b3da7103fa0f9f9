"""The search for the cheapest spelling: the cheapest candidate of one step, as long as it helps.

A *spelling* is a form whose atoms stand for themselves and whose arguments are still canonical; the
arguments are extracted in the end. Remainders are tried first, because they are the natural digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.bounds.branches import maxima
from simplifier.bounds.polynomials import is_symbolic_quotient
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, AtomKind, Form, postorder
from simplifier.expr.size import is_deep, nests_extrema
from simplifier.extraction.candidates import Limit, fine_cost_of_operation
from simplifier.extraction.clamps import extremum_steps
from simplifier.extraction.cost import FINE, Prices, fine_cost, least_cost_at_a_glance, plain_cost
from simplifier.extraction.width import natural_width
from simplifier.extraction.divisions import (
    joining_steps,
    quotient_steps,
    remainder_steps,
    sum_steps,
)
from simplifier.extraction.products import product_steps
from simplifier.laws.catalogue.spellings import TURNED_SIGNS
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
    return forms.combine(spelling, finished)


class Extractor:
    """Finds the cheapest spellings by some kinds of steps, and remembers them.

    The cost of a candidate includes the cost of what it brings in, which has to be extracted first.
    So each extractor leaves new atoms to a helper, and the last helper makes no steps. Otherwise
    the work would grow exponentially with nesting.
    """

    def __init__(
        self, scope: Scope, level: int, steps: Sequence[Steps], helper: Extractor | None
    ) -> None:
        self.results: dict[Key, Form] = {}
        """The cheapest forms found, arguments and all."""
        self._scope = scope
        self._level = level
        self._steps = steps
        self._helper = helper
        self.cost: CostOf = _Costs(self).__getitem__
        """The cost of an atom, its arguments extracted."""
        self._extracted: dict[Key, Form] = {}

    def cost_of(self, kind: AtomKind, operands: Sequence[Form]) -> int:
        """The cost of an operation, its operands extracted."""
        operands = self.arguments(kind, operands)
        cost = fine_cost_of_operation(kind, operands)
        for operand in operands:
            cost += fine_cost(operand, self.cost)
        return cost

    def least(self, form: Form) -> int:
        """What any multiple of the form costs at least."""
        return least_cost_at_a_glance(form) if self._steps else plain_cost(form, self.cost)

    def keeps(self, form: Form) -> bool:
        """Whether there is nothing to search for."""
        return not self._steps or form.is_affine

    def arguments(self, kind: AtomKind, operands: Sequence[Form]) -> tuple[Form, ...]:
        """The operands in their cheapest spelling; a quotient of negative terms turns signs."""
        found = tuple(map(self.extract, operands))
        return found

    def record_signs(self, atom: Atom) -> None:
        """Record that a quotient turned its signs, if it did."""
        if atom.kind in _QUOTIENTS and _turns_signs(tuple(map(self.extract, atom.arguments))):
            itself = Form(0, {atom: 1})
            turned = operations.build(atom.kind, tuple(-operand for operand in atom.arguments))
            if turned != itself:
                self._scope.extracted(Rewrite((TURNED_SIGNS,), itself, turned))

    def extract(self, form: Form) -> Form:
        """The cheapest spelling of a form, its arguments left as they are."""
        if self.keeps(form):
            return form
        found = self._extracted.get(form.key)
        if found is None:
            found = self._extracted[form.key] = self._search(form)
        return found

    def _search(self, form: Form) -> Form:
        kinds = _affordable_steps(form, self._level)
        if not kinds:
            return form
        helper = self._helper or self
        cost_of = _SearchCosts(self, helper, form).__getitem__
        prices = Prices(cost_of, self._scope, natural_width(self._scope, form))

        order = self._steps[:kinds]
        MODE = __import__("os").environ.get("MODE", "both")
        best = self._descent(form, order, prices, helper) if MODE not in ("nat","short") else []
        start = _natural(self._scope, form)
        if start is None and MODE in ("nat", "short"): best = self._descent(form, order, prices, helper)
        if start is not None and MODE != "canon":
            first = Rewrite((), form, start)
            further = [first, *self._descent(start, order[1:] if MODE == "short" else order, prices, helper)]
            if prices.sum(_end(form, further)) < prices.sum(_end(form, best)):
                best = further
        if self._level == 0 and len(form.terms) > 1 and maxima(form) and (best or kinds == 1):
            # A term that first moves into an extremum may become a remainder there.
            other = self._descent(form, (extremum_steps, *order), prices, helper)
            best = min(best, other, key=lambda descent: prices.sum(_end(form, descent)))
        if MODE == "stat":
            nat = start if start is not None else form
            clean = _is_clean(self._scope, form, nat)
            win = prices.sum(_end(form, best)) < prices.sum(nat)
            STAT[self._level, clean, win] = STAT.get((self._level, clean, win), 0) + 1
            if clean and win: print("CLEAN", self._level, nat, " | ", _end(form, best), " | ", form)
        if self._level == 0:
            for rewrite in best:
                self._scope.extracted(rewrite)
        return _end(form, best)

    def _descent(
        self, form: Form, order: Sequence[Steps], prices: Prices, helper: Extractor
    ) -> list[Rewrite]:
        """Steps to cheaper and cheaper spellings, one kind of steps at a time, until none helps."""
        descent: list[Rewrite] = []
        current, cost, least = form, prices.sum(form), least_cost_at_a_glance(form)
        kind = 0
        while kind < len(order) and cost > least:
            limit = Limit(cost, prices, helper)
            found = limit.cheapest(current, order[kind](self._scope, current, limit))
            # A candidate whose cost was found before it was built may cost more.
            following = cost if found is None else prices.sum(found.after)
            if found is None or following >= cost:
                kind += 1
            else:
                descent.append(found)
                current, cost, kind = found.after, following, 0
        return descent


STAT = {}

def _is_clean(scope, form, nat):
    from simplifier.extraction.cost import overlaps
    if nat.constant < 0 or any(f < 0 for f in nat.terms.values()): return False
    if any(a.kind not in (AtomKind.VARIABLE, AtomKind.FLOORDIV, AtomKind.MOD) for a in nat.terms): return False
    if overlaps(nat): return False
    if nat.constant and any(a.kind is AtomKind.FLOORDIV and nat.constant % f == 0 for a, f in nat.terms.items()): return False
    for a, f in nat.terms.items():
        if a.arguments:
            if any(v < 0 for v in a.numerator.terms.values()): return False
            if a.kind is AtomKind.FLOORDIV:
                if any(o in nat.terms and nat.terms[o] % f == 0 for o in a.numerator.terms): return False
    return True

def _natural(scope, form):
    if not all(atom in scope.ranges for atom in form.terms): return None
    units = [(w, u) for w, u in scope.view(form).units if u.quotient is not None]
    if not units: return None
    for w, u in units:
        src = u.value.plus_atom(u.quotient, u.radix)
        form = form.plus(u.value, -w).plus(operations.mod(_best_residue(src, u.radix), forms.constant(u.radix)), w)
    return form


def _best_residue(source, radix):
    from simplifier.extraction.divisions import _residues
    best = None
    for num, _ in _residues(source, radix, radix):
        c = fine_cost(num, lambda atom: FINE*3 if atom.arguments else 0)
        if best is None or c < best[0]: best = (c, num)
    return best[1]


def _end(form: Form, descent: Sequence[Rewrite]) -> Form:
    return descent[-1].after if descent else form


def _affordable_steps(form: Form, level: int) -> int:
    """How many kinds of steps to try: their number grows with the square of a sum's quotients."""
    size = len(form.terms)
    for atom in form.terms:
        for argument in atom.arguments:
            size += len(argument.terms)
    if size > MAX_EXTRACTED_TERMS or is_deep(form):
        return 0
    quotients = sum(atom.kind is AtomKind.FLOORDIV for atom in form.terms)
    few, many = MAX_QUOTIENTS_SEARCHED[level]
    kinds = 2 if quotients <= few else 1 if quotients <= many else 0
    if kinds and nests_extrema(form):
        return 0 if level else 1
    return kinds


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


_QUOTIENTS: Final = (AtomKind.FLOORDIV, AtomKind.QUOTIENT)


def _turns_signs(operands: tuple[Form, ...]) -> bool:
    """Whether a quotient has no positive term in the divisor or, over a constant, above it."""
    numerator, divisor = operands
    sign = divisor if divisor.terms else numerator
    return not sign.has_positive_term


def _extractor_of(scope: Scope) -> Extractor:
    """The extractor of a scope, with its helper and the helper's helper."""
    plain = Extractor(scope, 2, (), None)
    brief = Extractor(scope, 1, (_digit_steps, _other_steps), plain)
    return Extractor(scope, 0, (_digit_steps, _other_steps), brief)


def _digit_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form, scope.memory(_extractor_of).extract)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form, limit)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is AtomKind.PRODUCT or is_symbolic_quotient(atom)


def _other_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    yield from joining_steps(scope, form, limit)
    yield from quotient_steps(form, limit)
    yield from extremum_steps(scope, form, limit)
