"""The search: the cheapest rewriting of one step, as long as there is a cheaper one.

Remainders are tried first, they are the natural digits. What a step yields is a *spelling*, a form
whose atoms stand for themselves and whose arguments are still canonical; the arguments are spelled
in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier import form as forms
from simplifier import operations
from simplifier.budget import affordable_steps
from simplifier.clamps import maxima
from simplifier.cost import cost_of_operation, cost_of_sum
from simplifier.form import EXTREMA, Atom, Form, Kind, postorder
from simplifier.laws.announcing import Fact
from simplifier.laws.catalogue.spellings import TURNED_SIGNS
from simplifier.symbolic_digits import is_symbolic_quotient
from simplifier.writing.extrema import extremum_steps
from simplifier.writing.products import product_steps
from simplifier.writing.quotients import quotient_steps
from simplifier.writing.remainders import joining_steps, remainder_steps
from simplifier.writing.sums import sum_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplifier.form import Key
    from simplifier.scope import Scope
    from simplifier.writing.rewriting import Rewriting, Steps

_UNIT: Final = 256
"""The price of an operator, when a negative number costs one more."""

_ODD: Final = 2
"""What a negative divisor costs beside: nobody likes to read one."""


def written(scope: Scope, form: Form) -> Form:
    """The cheapest spelling found for a canonical form, arguments and all."""
    if form.is_affine:
        return form
    speller = _speller(scope)
    known = speller.finished.get(form.key)
    if known is None:
        known = speller.finished[form.key] = _written(speller, form)
    return known


def _written(speller: Speller, form: Form) -> Form:
    for atom in postorder((form,)):
        speller.cost(atom)
    finished: dict[Atom, Form] = {}
    spelling = speller.spelling(form)
    stack = list(spelling.terms)
    while stack:
        atom = stack[-1]
        if atom in finished:
            stack.pop()
            continue
        arguments = speller.arguments(atom.kind, atom.arguments)
        missing = [
            inner for argument in arguments for inner in argument.terms if inner not in finished
        ]
        if missing:
            stack += missing
            continue
        stack.pop()
        speller.announce_signs(atom)
        parts = tuple(forms.combine(argument, finished) for argument in arguments)
        finished[atom] = operations.build(atom.kind, parts) if parts else Form(0, {atom: 1})
    return forms.combine(spelling, finished)


class Speller:
    """Finds spellings by some steps, and remembers them.

    Pricing a candidate means pricing what it brings in, which again means spelling it: so each
    speller leaves new atoms to a helper, and the last helper makes no steps. Otherwise the work
    would grow exponentially with nesting.
    """

    def __init__(
        self, scope: Scope, level: int, steps: Sequence[Steps], helper: Speller | None
    ) -> None:
        self.finished: dict[Key, Form] = {}
        """Forms written out, arguments and all."""
        self._scope = scope
        self._level = level
        self._steps = steps
        self._helper = helper
        self._costs: dict[Atom, int] = {}
        self._spellings: dict[Key, Form] = {}

    def cost(self, atom: Atom) -> int:
        """What it costs to write the atom, its arguments spelled."""
        cost = self._costs.get(atom)
        if cost is None:
            cost = self._costs[atom] = self.cost_of(atom.kind, atom.arguments)
        return cost

    def cost_of(self, kind: Kind, operands: tuple[Form, ...]) -> int:
        """What it costs to write an operation, its operands spelled."""
        if not operands:
            return 0
        spelled = self.arguments(kind, operands)
        inner = 0
        for operand in spelled:
            inner += _price(operand, self.cost)
        if kind in _DIVISIONS and spelled[1].constant < 0 and not spelled[1].terms:
            inner += _ODD
        return cost_of_operation(kind, len(operands), _UNIT) + inner

    def arguments(self, kind: Kind, operands: tuple[Form, ...]) -> tuple[Form, ...]:
        """The operands in their cheapest spelling; a quotient of negative terms turns signs."""
        spelled = tuple(map(self.spelling, operands))
        if kind in _QUOTIENTS and _turns_signs(spelled):
            return tuple([self.spelling(-operand) for operand in operands])
        return spelled

    def announce_signs(self, atom: Atom) -> None:
        """Say that an atom's quotient turned its signs, if it did."""
        if atom.kind in _QUOTIENTS and _turns_signs(tuple(map(self.spelling, atom.arguments))):
            itself = Form(0, {atom: 1})
            turned = operations.build(atom.kind, tuple(-operand for operand in atom.arguments))
            if turned != itself:
                self._scope.spelled(Fact((TURNED_SIGNS,), itself, turned))

    def spelling(self, form: Form) -> Form:
        """The cheapest spelling of a form, its arguments left as they are."""
        if not self._steps or form.is_affine:
            return form
        found = self._spellings.get(form.key)
        if found is None:
            found = self._spellings[form.key] = self._search(form)
        return found

    def _search(self, form: Form) -> Form:
        kinds = affordable_steps(form, self._level)
        if not kinds:
            return form
        orders = [self._steps[:kinds]]
        if len(form.terms) > 1 and maxima(form):
            # What first moves into an extremum may become a remainder there.
            orders.append((extremum_steps, *orders[0]))
        own = frozenset(postorder((form,)))
        helper = self._helper or self

        def cost_of(atom: Atom) -> int:
            return self.cost(atom) if atom in own else helper.cost(atom)

        ways = [self._descended(form, order, cost_of, helper) for order in orders]
        ends = [way[-1].after if way else form for way in ways]
        best = 0
        if len(ends) > 1:
            best = min(range(len(ends)), key=lambda place: _price(ends[place], cost_of))
        if self._level == 0:
            for fact in ways[best]:
                self._scope.spelled(fact)
        return ends[best]

    def _descended(
        self, form: Form, order: Sequence[Steps], cost_of: Callable[[Atom], int], helper: Speller
    ) -> list[Fact]:
        """The steps from which none leads to a cheaper spelling, one kind of steps at a time."""
        way: list[Fact] = []
        current, price, least = form, _price(form, cost_of), _least_price(form) * _UNIT
        place = 0
        while place < len(order) and price > least:
            candidates = order[place](self._scope, current)
            found = _cheapest(current, candidates, price, cost_of, helper)
            # What was priced unbuilt may turn out dearer.
            paid = price if found is None else _price(found.after, cost_of)
            if found is None or paid >= price:
                place += 1
            else:
                way.append(found)
                current, price, place = found.after, paid, 0
        return way


_QUOTIENTS: Final = (Kind.FLOORDIV, Kind.QUOTIENT)
_DIVISIONS: Final = (Kind.FLOORDIV, Kind.MOD, Kind.CEILDIV)


def _cheapest(
    form: Form,
    rewritings: Iterator[Rewriting],
    price: int,
    cost_of: Callable[[Atom], int],
    helper: Speller,
) -> Fact | None:
    """The cheapest of the form's spellings that cost less than ``price``, and why it is equal."""
    best: tuple[Rewriting, tuple[Form, ...]] | None = None
    for rewriting in rewritings:
        price_of = _pricing(rewriting, price, cost_of, helper)
        if price_of is None:
            continue
        for operands in rewriting.alternatives:
            own = price_of(operands)
            if own < price:
                best, price = (rewriting, operands), own
    if best is None:
        return None
    rewriting, operands = best
    return Fact(rewriting.laws_for(operands), form, rewriting.built(operands))


def _turns_signs(operands: tuple[Form, ...]) -> bool:
    """Whether a quotient has no positive term in the divisor or, over a constant, above it."""
    numerator, divisor = operands
    sign = divisor if divisor.terms else numerator
    return not sign.has_positive_term


def _pricing(
    rewriting: Rewriting, price: int, cost_of: Callable[[Atom], int], helper: Speller
) -> Callable[[tuple[Form, ...]], int] | None:
    """What tells the price for operands; ``None`` if it is too high, whatever they are.

    Divisions and extrema are priced unbuilt, unless one of their kind stands beside them: the two
    may turn out to be one.
    """
    rest, weight, kind = rewriting.rest, rewriting.weight, rewriting.kind
    if kind not in _UNBUILT:
        return lambda operands: _price(rewriting.built(operands), cost_of)
    beside = _price_beside(rest, weight, cost_of)
    if beside + _LEAST_DIVISION > price:
        return None
    for atom in rest.terms:
        if atom.kind is kind:
            return lambda operands: _price(rewriting.built(operands), cost_of)
    if kind in EXTREMA:
        return lambda operands: beside + _price_of_extremum(kind, operands, helper)
    return lambda operands: beside + helper.cost_of(kind, operands)


_UNBUILT: Final = (Kind.MOD, Kind.FLOORDIV, *EXTREMA)


def _price_of_extremum(kind: Kind, operands: tuple[Form, ...], helper: Speller) -> int:
    """What the operands that are left cost; one that is left alone is a term of the sum."""
    left = operations.extremum_operands(kind, operands)
    if len(left) > 1:
        return helper.cost_of(kind, tuple(left))
    return _price(helper.spelling(left[0]), helper.cost)


def _price(form: Form, cost_of: Callable[[Atom], int]) -> int:
    """The cost in fine units: of equally dear spellings the one with fewer signs is better."""
    return cost_of_sum(form, cost_of, _UNIT, 1)


def _price_beside(rest: Form, weight: int, cost_of: Callable[[Atom], int]) -> int:
    """The price of a sum with one more term that has this weight, but for the term itself."""
    return cost_of_sum(rest, cost_of, _UNIT, 1, further=weight)


_LEAST_DIVISION: Final = cost_of_operation(Kind.MOD, 2, _UNIT)


def _speller(scope: Scope) -> Speller:
    if scope.speller is None:
        plain = Speller(scope, 2, (), None)
        brief = Speller(scope, 1, (_digit_steps, _other_steps), plain)
        scope.speller = Speller(scope, 0, (_digit_steps, _other_steps), brief)
    return scope.speller


def _least_price(form: Form) -> int:
    """What any spelling costs: one division, and every variable once."""
    quotients = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
    if not quotients:
        return 0
    seen = {inner for atom in quotients for inner in atom.numerator.terms}
    seen.update(atom for atom in form.terms if atom not in quotients)
    return 2 + sum(atom.kind is Kind.VARIABLE for atom in seen)


def _digit_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is Kind.PRODUCT or is_symbolic_quotient(atom)


def _other_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    yield from joining_steps(scope, form)
    yield from quotient_steps(form)
    yield from extremum_steps(scope, form)
