"""What is bounded, so that every problem ends in time that grows with its size alone.

Each bound is a property of the forms at hand, never of the work done so far: so results do not
depend on what was asked before. Beyond a bound forms are read term by term, which is always sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.expr.form import EXTREMA, Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplifier.expr.form import Atom, Form

READINGS: Final = 3
"""How often a reading of a range may ask for the range of a smaller form."""

DEEPEST: Final = 20
"""Operations on forms that are nested deeper are kept as they stand."""

MOST_QUOTIENTS: Final = 24
"""A form of more quotients is crowded: comparing each with each would take too long."""

MOST_TERMS: Final = 24
"""A product that would have more terms is not multiplied out."""

MOST_CONTENT: Final = 16
"""How great a common factor of what was divided is looked for where digits are put together."""

MOST_FACTORS: Final = 16
"""A product of more atoms is not multiplied out: powers of powers would never end."""

MOST_JOINED: Final = 64
"""A product with more factors is one factor of another product."""

MOST_BITS: Final = 1 << 13
"""A product whose ends need more bits counts as unbounded, and is not multiplied out."""

MOST_FLATTENED: Final = 8
"""A quotient of a quotient by symbols is not flattened where more products would come up."""

MOST_OPERANDS: Final = 24
"""Of more operands an extremum compares only those that differ by a constant."""

MOST_COMPARED: Final = 6
"""Of more operands an extremum compares only each with each, never with two others together."""

MOST_CASES: Final = 8
"""How many cases are told apart to see which of several forms is the greatest."""

MOST_FACTS: Final = 32
"""Facts from which no more are concluded about what is inside their atoms."""

MOST_EQUATIONS: Final = 8
"""How many equations of a problem are solved, one after the other."""

MOST_WRITTEN: Final = 128
"""A sum with more terms, those inside its operations counted, is written as it stands."""

WORTH_ANOTHER_WAY: Final = 8
"""What a spelling costs at least for the form to be read in another way: two divisions or so."""

MOST_SPELLED: Final = ((5, 8), (1, 4), (0, 0))
"""How many quotients a sum may have for all steps of writing, and for remainders alone.

The first pair is for the sum itself, the second for what a step brings in, the third for what a
step inside that brings in.
"""

MOST_NESTED: Final = 10
"""Variables and operations in a form of extrema inside extrema that is compared with others."""

NESTED_EXTREMA_DEPTH: Final = 3
"""How deep a term is at least in which an extremum of a quotient of an extremum stands."""


def is_deep(form: Form) -> bool:
    """Whether operations are nested too deeply in a form to look into it."""
    for atom in form.terms:  # noqa: SIM110 - twice as fast as any(), and asked all the time
        if atom.depth > DEEPEST:
            return True
    return False


def is_large(form: Form) -> bool:
    """Whether a form has too many operations, or too deeply nested, to be read in every way."""
    return is_deep(form) or len(postorder((form,))) > MOST_WRITTEN


def is_crowded(form: Form) -> bool:
    """Whether a form holds more quotients than are compared with each other."""
    if len(form.terms) <= MOST_QUOTIENTS:
        return False
    return sum(atom.kind is Kind.FLOORDIV for atom in form.terms) > MOST_QUOTIENTS


def affordable_steps(form: Form, level: int) -> int:
    """How many kinds of steps to try: their number grows with the square of a sum's quotients."""
    size = len(form.terms)
    for atom in form.terms:
        for argument in atom.arguments:
            size += len(argument.terms)
    if size > MOST_WRITTEN or is_deep(form):
        return 0
    quotients = sum(atom.kind is Kind.FLOORDIV for atom in form.terms)
    few, many = MOST_SPELLED[level]
    kinds = 2 if quotients <= few else 1 if quotients <= many else 0
    if kinds and nests_extrema(form):
        return 0 if level else 1
    return kinds


def nests_extrema(form: Form) -> bool:
    """Whether an extremum stands inside another: each spelling of one asks for all of the other."""
    if all(atom.depth < NESTED_EXTREMA_DEPTH for atom in form.terms):
        return False
    holding: set[Atom] = set()
    for atom in postorder((form,)):
        is_extremum = atom.kind in EXTREMA
        if any(inner in holding for argument in atom.arguments for inner in argument.terms):
            if is_extremum:
                return True
            holding.add(atom)
        elif is_extremum:
            holding.add(atom)
    return False


def is_tangled(form: Form) -> bool:
    """Whether so much stands in extrema inside extrema that others are not compared with it."""
    return nests_extrema(form) and len(postorder((form,))) > MOST_NESTED


def are_many(operands: Sequence[Form]) -> bool:
    """Whether an extremum has more operands than are compared with each other."""
    return len(operands) > MOST_OPERANDS
