"""Where a loop begins and ends, so that constraints on its counter hold without being asked.

``d0 + s0 in [1, 16]`` bounds ``s0`` by ``1 - d0`` and ``16 - d0``. ``(d0 + s0) mod 2 in [0, 0]``
makes it go in steps of 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, constant, postorder, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint
    from simplifier import Interval


@dataclass(frozen=True, slots=True)
class CounterSteps:
    """The values of a counter: from ``first`` to ``last``, in steps."""

    first: Form
    last: Form
    step: int = 1


def plain_steps(bounds: Interval) -> CounterSteps:
    """All values within bounds."""
    return CounterSteps(constant(bounds.lower or 0), constant(bounds.upper or 0))


def steps_of(counter: str, bounds: Interval, constraints: Iterable[Constraint]) -> CounterSteps:
    """The values of a counter that meet constraints, which :func:`solving` has found.

    The counter has a first value, or is not negative; it has a last value, or a constraint that
    ends it.

    >>> from simplifier.expr.form import variable
    >>> from simplifier import Interval
    >>> form = variable("d0") + variable("s0") * 2
    >>> steps = steps_of("s0", Interval(0, 9), [(form, Interval(1, 16))])
    >>> print(steps.first, "to", steps.last)
    max((-d0 + 1) ceildiv 2, 0) to min((-d0 + 16) floordiv 2, 9)
    """
    lower = [constant(bounds.lower or 0)]
    upper = [] if bounds.upper is None else [constant(bounds.upper)]
    residues: list[tuple[Form, int]] = []
    for form, interval in constraints:
        residue = _residue(counter, form, interval)
        if residue is not None:
            residues.append(residue)
            continue
        factor, rest = _linear(counter, form) or (0, form)
        for end, is_lower in ((interval.lower, factor > 0), (interval.upper, factor < 0)):
            if end is not None:
                (lower if is_lower else upper).append(_solved(factor, rest, end, is_lower=is_lower))
    first = operations.maximum(lower)
    last = operations.minimum(upper)
    if not residues:
        return CounterSteps(first, last)
    ((residue, step),) = residues
    return CounterSteps(first + operations.mod(residue - first, constant(step)), last, step)


def solving(counter: str, constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that the steps of a loop can meet: linear ones, and one of a residue."""
    found: list[Constraint] = []
    has_residue = False
    for form, interval in constraints:
        is_residue = _residue(counter, form, interval) is not None
        if (is_residue and not has_residue) or _linear(counter, form) is not None:
            found.append((form, interval))
        has_residue |= is_residue
    return found


def divisors_of(forms: Iterable[Form], counter: str, size: int) -> set[int]:
    """The numbers that a counter is divided by, where they divide its size."""
    divided = {
        atom.divisor
        for atom in postorder(tuple(forms))
        if atom.kind in (AtomKind.FLOORDIV, AtomKind.MOD)
        and atom.arguments[0].single_variable() == counter
    }
    return {each for each in divided if 1 < each < size and size % each == 0}


def digits_of(divisors: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Sizes and strides of loops over the digits of a counter, the greatest stride first.

    >>> digits_of([4, 8, 12], 96)
    [(12, 8), (2, 4), (4, 1)]
    """
    chain = [1]
    for divisor in sorted(divisors):
        if divisor % chain[-1] == 0:
            chain.append(divisor)
    ends = (*chain[1:], size)
    return [(upper // lower, lower) for lower, upper in zip(chain, ends, strict=True)][::-1]


def _linear(counter: str, form: Form) -> tuple[int, Form] | None:
    """A form as a multiple of the counter and a rest without it."""
    for atom, factor in form.terms.items():
        if atom.kind is AtomKind.VARIABLE and atom.name == counter:
            rest = form.without(atom)
            return None if counter in variables_of((rest,)) else (factor, rest)
    return None


def _residue(counter: str, form: Form, interval: Interval) -> tuple[Form, int] | None:
    """What the counter is modulo a number, if a constraint says that."""
    atom = form.only_atom
    if atom is None or atom.kind is not AtomKind.MOD or not interval.is_point:
        return None
    found = _linear(counter, atom.arguments[0])
    wanted = interval.lower or 0
    if found is None or abs(found[0]) != 1 or not 0 <= wanted < atom.divisor:
        return None  # what no remainder is, no step reaches
    factor, rest = found
    return (constant(wanted) - rest) * factor, atom.divisor


def _solved(factor: int, rest: Form, end: int, *, is_lower: bool) -> Form:
    """The least or greatest counter for which ``factor * counter + rest`` does not pass an end."""
    divide = operations.ceildiv if is_lower else operations.floordiv
    numerator = (constant(end) - rest) * (1 if factor > 0 else -1)
    return numerator if abs(factor) == 1 else divide(numerator, constant(abs(factor)))
