"""A form with variables for what laws of arithmetic do not look into, and back.

Conditions, choices, functions of bits and foreign ones become variables of which only the range is
known, so that the laws of arithmetic need not know of them, and cost no time where there are none.
"""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.canonical.scope import relevant
from simplifier.expr import operations
from simplifier.expr.form import (
    CONDITIONS,
    LOGICAL,
    Atom,
    AtomKind,
    Form,
    combine,
    constant,
    postorder,
    variable,
)
from simplifier.laws.catalogue.conditions import CHOICE_OF_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from simplifier.bounds.context import Constraints
    from simplifier.bounds.interval import Interval
    from simplifier.canonical.scope import Scope
    from simplifier.laws.law import Law


_REMEMBERED_FACTS: Final = 512
"""The same facts are asked about with every form."""


def is_logical(atoms: Iterable[Atom]) -> bool:
    """Whether there are conditions, choices or functions of bits among atoms."""
    return any(atom.kind in LOGICAL for atom in atoms)


class Surroundings(NamedTuple):
    """A form with variables for what laws of arithmetic do not look into."""

    form: Form
    scope: Scope
    meanings: dict[str, Form]
    laws: tuple[Law, ...] = ()

    def restored(self, form: Form) -> Form:
        """The form with what the variables stand for; numbers times conditions become choices."""
        (result,) = operations.substitute([form], self.meanings)
        return result if operations.is_condition(result) else _with_choices_of_numbers(result)


def abstracted(scope: Scope, form: Form, range_of: Callable[[Atom], Interval]) -> Surroundings:
    """The form with a variable for each condition, choice and function of bits.

    A choice of two numbers is its condition times their difference. The variables are numbered, so
    that forms that differ in the meanings alone share a scope.
    """
    atoms = outermost([form])
    linear = {atom: _of_numbers(atom) for atom in atoms}
    inner = dict.fromkeys(each for value in linear.values() for each in value.terms)
    names = {atom: variable(f"{_MARK}{number}") for number, atom in enumerate(inner)}
    replacements = {atom: combine(value, names) for atom, value in linear.items()}
    bounds, constraints = scope.given
    ends = [(f"{_MARK}{number}", range_of(atom)) for number, atom in enumerate(inner)]
    known = tuple(_arithmetic(constraints, replacements))
    are_numbers = any(atom not in inner for atom in linear)
    outside = operations.replace(form, replacements)
    every = tuple(sorted((*bounds, *ends), key=itemgetter(0)))
    return Surroundings(
        outside,
        scope.beside(*relevant([outside], every, known)),
        {f"{_MARK}{number}": Form(0, {atom: 1}) for number, atom in enumerate(inner)},
        (CHOICE_OF_NUMBERS,) if are_numbers else (),
    )


def _arithmetic(
    constraints: Constraints, replacements: Mapping[Atom, Form]
) -> Iterator[tuple[Form, Interval]]:
    """The constraints without logic, or that have none with variables for it."""
    for fact, ends in constraints:
        if not _has_logic(fact):
            yield fact, ends
        elif not is_logical(postorder(((outside := operations.replace(fact, replacements)),))):
            yield outside, ends


@lru_cache(maxsize=_REMEMBERED_FACTS)
def _has_logic(fact: Form) -> bool:
    return is_logical(postorder((fact,)))


def hidden(form: Form) -> Form:
    """The form with a variable for each condition, choice and function of bits; of any value.

    >>> from simplifier.expr.parser import parse_form
    >>> hidden(parse_form("x * 2 + select(x > 5, y, 0)")).is_affine
    True
    """
    names = {atom: variable(f"{_MARK}{number}") for number, atom in enumerate(outermost([form]))}
    return operations.replace(form, names)


_MARK: Final = "\0"
"""Begins the names of variables, so that no other variable has such a name."""


def outermost(forms: Iterable[Form], kinds: Collection[AtomKind] = LOGICAL) -> list[Atom]:
    """Conditions, choices and functions of bits that stand in no other one, in their order.

    Of ``kinds`` alone: a choice counts that stands in a condition, but in no other choice.

    >>> from simplifier.expr.parser import parse_form
    >>> outermost([parse_form("bitor(x, select(x > 5, y, 0))")], [AtomKind.SELECT])
    [<select select(x >= 6, y, 0)>]
    """
    found: dict[Atom, None] = {}
    seen: set[Atom] = set()
    stack = [atom for form in forms for atom in form.terms]
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
            numbers = constant(factor + form.constant), constant(form.constant)
            choice = operations.select(first, *numbers)
            return _with_choices_of_numbers(rest.plus_constant(-form.constant)).plus(choice)
    return form
