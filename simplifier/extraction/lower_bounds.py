"""What a spelling costs at least: by it the search rejects candidates before they are built."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from simplifier.expr.form import EXTREMA, Atom, AtomKind, Form, postorder
from simplifier.expr.printer import negated
from simplifier.extraction.cost import (
    DIVISION,
    DIVISIONS,
    USED_AGAIN,
    cost_of_form,
    cost_of_operation,
    operators_as_written,
)
from simplifier.extraction.prices import FINE
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simplifier.expr.form import Key


def least_cost_at_a_glance(form: Form) -> int:
    """The cost of one division, if there is any, and of every variable once."""
    quotients = [atom for atom in form.terms if atom.kind is AtomKind.FLOORDIV]
    if not quotients:
        return 0
    seen = {inner for atom in quotients for inner in atom.numerator.terms}
    seen.update(atom for atom in form.terms if atom not in quotients)
    return (2 + sum(atom.kind is AtomKind.VARIABLE for atom in seen)) * FINE


def least_cost(form: Form) -> int:
    """The least cost of parts without a variable in common, which stay apart in any spelling.

    Each holds every variable once, and a division if there was one. Numbers that are multiplied are
    seen in how the form grows; if none is added, the form is zero where all variables are.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x * 2 - (x floordiv 3) * 3", "(y floordiv 3) * 9 + x * 2"):
    ...     print(least_cost(parse_form(text)) // FINE)
    4
    6
    """
    if form.is_affine:
        return _least_of_affine(form)
    if not all(map(_is_simple, form.terms)):
        return _least_of_kinds(form)
    parts = connected_components(form.terms, _variables)
    operators = len(parts) - 1 + (_at_zero(form) != 0)
    factors: set[int] = set()
    for atoms in parts:
        variables = {variable for atom in atoms for variable in _variables(atom)}
        quotients = [atom for atom in atoms if atom.arguments]
        operators += len(variables) - 1 + (DIVISION if quotients else 0)
        if len(atoms) == 1 and abs(form.terms[atoms[0]]) != atoms[0].divisor:
            factors.add(abs(form.terms[atoms[0]]))
        if len(quotients) == 1:
            factors.update(_growths(form, quotients[0]))
    return (operators + len(factors - {1})) * FINE


def _least_of_affine(form: Form) -> int:
    if not form.terms:
        return 0
    factors = set(map(abs, form.terms.values()))
    factors.discard(1)
    return (len(form.terms) - 1 + (form.constant != 0) + len(factors)) * FINE


def least_cost_as_written(form: Form, enough: float = inf) -> int:
    """The cost of a form as it stands, without what sums cost in extrema and digits that overlap.

    Of the divisions of a number one is paid in full, and the others as if they shared its work.
    What is outside is counted first, and nothing more once that is enough.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x mod 8 + x floordiv 8", "(x + y) floordiv 3 + max(x, y)"):
    ...     print(least_cost_as_written(parse_form(text)) // FINE)
    5
    8
    """
    cost = 0 if negated(form) else operators_as_written(form)
    divided: set[Key] = set()
    seen: set[Atom] = set()
    waiting = [*form.terms]
    while waiting and cost * FINE < enough:
        atom = waiting.pop()
        if atom in seen:
            continue
        seen.add(atom)
        if atom.kind not in DIVISIONS:
            cost += cost_of_operation(atom.kind, len(atom.arguments))
        elif atom.numerator.key in divided:
            cost += USED_AGAIN
        else:
            divided.add(atom.numerator.key)
            cost += DIVISION + operators_as_written(atom.numerator)
        for argument in atom.arguments:
            waiting += argument.terms
    return cost * FINE


def is_no_costlier(result: Form, form: Form) -> bool:
    """Whether a result costs at most as much as a form; mostly that is seen at a glance."""
    cost = cost_of_form(result)
    least = cost * FINE
    return least_cost_as_written(form, least) >= least or cost <= cost_of_form(form)


def least_cost_of_parts(form: Form, canonical: Callable[[Form], Form]) -> int:
    """What the form costs at least when its operations stay, and only their operands are extracted.

    Nothing is said where terms may vanish: where an extremum may lose all operands but one, or two
    operations have one value.
    """
    total = -FINE
    seen: set[Key] = set()
    for atom in form.terms:
        value = canonical(Form(0, {atom: 1}))
        if value.key in seen or (atom.kind in _VANISHING and value.is_affine):
            return 0
        seen.add(value.key)
        if value.terms:
            total += FINE + _least_of_operation(atom, value, canonical)
    return max(total, 0)


def _least_of_operation(atom: Atom, value: Form, canonical: Callable[[Form], Form]) -> int:
    least = least_cost(value)
    if atom.kind not in DIVISIONS:
        return least
    operands = sum(least_cost(canonical(operand)) for operand in atom.arguments)
    return max(least, DIVISION * FINE + operands)


_VANISHING: Final = (AtomKind.SUM, *EXTREMA)


def _least_of_kinds(form: Form) -> int:
    """Each extremum once, a division if there is one, and every variable once."""
    inside = postorder((form,))
    kinds = [atom.kind for atom in inside]
    extrema = sum(len(atom.arguments) - 1 for atom in inside if atom.kind in EXTREMA)
    joints = max(kinds.count(AtomKind.VARIABLE) - 1 - extrema, 0)
    return (DIVISION * (extrema + (AtomKind.FLOORDIV in kinds)) + joints) * FINE


def _is_simple(atom: Atom) -> bool:
    return atom.kind is AtomKind.VARIABLE or (
        atom.kind is AtomKind.FLOORDIV and atom.numerator.is_affine
    )


def _variables(atom: Atom) -> Iterable[Atom]:
    return atom.numerator.terms if atom.arguments else (atom,)


def _growths(form: Form, quotient: Atom) -> Iterator[int]:
    """How fast the form grows with a variable, in units of the divisor, if that takes a number.

    It needs none to grow like a fraction ``x floordiv k``, or not at all, like a remainder.
    """
    divisor, factor = quotient.divisor, form.terms[quotient]
    for variable, value in quotient.numerator.terms.items():
        growth = abs(form.terms.get(variable, 0) * divisor + factor * value)
        if growth == divisor or (growth and divisor % growth):
            yield growth


def _at_zero(form: Form) -> int:
    """The value where all variables are zero."""
    value = form.constant
    for atom, factor in form.terms.items():
        if atom.arguments:
            value += factor * (atom.numerator.constant // atom.divisor)
    return value
