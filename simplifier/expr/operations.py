"""Operations on forms, as they are written: only constants are evaluated.

:mod:`simplifier.canonical.scope` says what an operation means under bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from functools import partial, reduce
from math import gcd, prod
from typing import Any

from simplifier.expr.form import (
    CONDITIONS,
    FLOORDIV,
    ONE,
    VARIABLE,
    ZERO,
    Atom,
    AtomKind,
    Form,
    Key,
    atom_of,
    call,
    combine,
    constant,
    content,
    fold,
    negated,
    postorder,
)
from simplifier.limits import MAX_FACTORS_JOINED


def floordiv(numerator: Form, divisor: Form) -> Form:
    """``numerator floordiv divisor``; only constants are evaluated."""
    if not divisor.terms and divisor.constant:
        if not numerator.terms:
            return constant(numerator.constant // divisor.constant)
        return Form(0, {atom_of(AtomKind.FLOORDIV, (numerator, divisor)): 1})
    return Form(0, {atom_of(AtomKind.QUOTIENT, (numerator, divisor)): 1})


def mod(numerator: Form, divisor: Form) -> Form:
    """``numerator mod divisor``, with the sign of the divisor; only constants are evaluated."""
    if not numerator.terms and not divisor.terms and divisor.constant:
        return constant(numerator.constant % divisor.constant)
    return Form(0, {atom_of(AtomKind.MOD, (numerator, divisor)): 1})


def ceildiv(numerator: Form, divisor: Form) -> Form:
    """``numerator ceildiv divisor``; only constants are evaluated."""
    if not numerator.terms and not divisor.terms and divisor.constant:
        return constant(-(-numerator.constant // divisor.constant))
    return Form(0, {atom_of(AtomKind.CEILDIV, (numerator, divisor)): 1})


def minimum(arguments: Iterable[Form]) -> Form:
    """The least of the arguments; equal ones count once, constants are folded into one."""
    return _extremum(AtomKind.MIN, arguments)


def maximum(arguments: Iterable[Form]) -> Form:
    """The greatest of the arguments; equal ones count once, constants are folded into one."""
    return _extremum(AtomKind.MAX, arguments)


def _extremum(kind: AtomKind, arguments: Iterable[Form]) -> Form:
    operands = extremum_operands(kind, arguments)
    if not operands:
        raise ValueError(f"{kind.name.lower()} of nothing")
    operands.sort(key=lambda form: (bool(form.terms), form.order))
    return operands[0] if len(operands) == 1 else Form(0, {atom_of(kind, tuple(operands)): 1})


def extremum_operands(kind: AtomKind, arguments: Iterable[Form]) -> list[Form]:
    """The operands that are left of a minimum or maximum, in any order."""
    choose = min if kind is AtomKind.MIN else max
    distinct = {argument.key: argument for argument in arguments}
    constants = [argument.constant for argument in distinct.values() if argument.is_constant]
    others = [argument for argument in distinct.values() if argument.terms]
    return [constant(choose(constants)), *others] if constants else others


def product(factors: Iterable[Form]) -> Form:
    """The product; a constant multiplies a sum out, sums are not multiplied with each other."""
    factors = tuple(factors)
    scale = prod([factor.constant for factor in factors if not factor.terms])
    others = [factor for factor in factors if factor.terms]
    if not others or not scale:
        return constant(scale)
    if len(others) == 1:
        return others[0].times(scale)
    parts: list[Form] = []
    for factor in others:
        if not factor.constant and len(factor.terms) == 1:
            ((atom, value),) = factor.terms.items()
            scale *= value
            is_joined = atom.kind is AtomKind.PRODUCT and len(atom.arguments) < MAX_FACTORS_JOINED
            parts += atom.arguments if is_joined else (Form(0, {atom: 1}),)
        else:
            parts.append(factor)
    parts.sort(key=lambda form: form.order)
    return Form(0, {atom_of(AtomKind.PRODUCT, tuple(parts)): scale})


# Conditions: 1 where they are true, 0 elsewhere.


def nonnegative(form: Form) -> Form:
    """``form >= 0``; only constants are evaluated.

    The first coefficient becomes positive: ``-x >= 0`` is ``not x - 1 >= 0``.
    """
    if not form.terms:
        return constant(int(form.constant >= 0))
    if next(iter(form.terms.values())) < 0:
        return negation(nonnegative((-form).plus_constant(-1)))
    return Form(0, {atom_of(AtomKind.NONNEGATIVE, (form,)): 1})


def zero(form: Form) -> Form:
    """``form == 0``; only constants are evaluated, and the first coefficient becomes positive."""
    if not form.terms:
        return constant(int(form.constant == 0))
    turned = -form if next(iter(form.terms.values())) < 0 else form
    return Form(0, {atom_of(AtomKind.ZERO, (turned,)): 1})


def is_condition(form: Form) -> bool:
    """Whether a form is 0 or 1, a condition, or the negation of one."""
    if not form.terms:
        return form.constant in (0, 1)
    atom = form.only_atom or negated(form)
    return atom is not None and atom.kind in CONDITIONS


def negation(condition: Form) -> Form:
    """``not condition``."""
    return (-condition).plus_constant(1)


RELATIONS: Mapping[str, Callable[[Form], Form]] = {
    ">=": nonnegative,
    "<=": lambda difference: nonnegative(-difference),
    ">": lambda difference: nonnegative(difference.plus_constant(-1)),
    "<": lambda difference: nonnegative((-difference).plus_constant(-1)),
    "==": zero,
    "!=": lambda difference: negation(zero(difference)),
}
"""Comparisons of integers, as conditions on the difference of left and right side."""


def conjunction(conditions: Iterable[Form]) -> Form:
    """Whether all conditions hold; equal ones count once, only constants are evaluated."""
    distinct: dict[Key, Form] = {}
    for condition in conditions:
        atom = condition.only_atom
        parts = atom.arguments if atom and atom.kind is AtomKind.AND else (condition,)
        distinct.update((part.key, part) for part in parts)
    if constant(0).key in distinct:
        return constant(0)
    distinct.pop(constant(1).key, None)
    operands = sorted(distinct.values(), key=lambda form: form.order)
    if len(operands) > 1:
        return Form(0, {atom_of(AtomKind.AND, tuple(operands)): 1})
    return operands[0] if operands else constant(1)


def disjunction(conditions: Iterable[Form]) -> Form:
    """Whether some condition holds: not, that none does."""
    return negation(conjunction(map(negation, conditions)))


def select(condition: Form, chosen: Form, other: Form) -> Form:
    """``chosen`` where the condition holds, else ``other``; only constants are evaluated.

    A condition is 1 where it holds, and 0 elsewhere, so the choice of these is the condition.
    """
    if not condition.terms:
        return chosen if condition.constant else other
    if chosen == other:
        return chosen
    if (chosen, other) == (ONE, ZERO):
        return condition
    if (chosen, other) == (ZERO, ONE):
        return negation(condition)
    return Form(0, {atom_of(AtomKind.SELECT, (condition, chosen, other)): 1})


# Bit by bit.

ON_BITS: Mapping[AtomKind, Callable[[Any, Any], Any]] = {
    AtomKind.BITAND: lambda left, right: left & right,
    AtomKind.BITOR: lambda left, right: left | right,
    AtomKind.BITXOR: lambda left, right: left ^ right,
}
"""Of two integers, or arrays of them."""


def bitwise(kind: AtomKind, arguments: Iterable[Form]) -> Form:
    """``a & b``, ``a | b`` or ``a ^ b`` of two or more; only constants are evaluated."""
    first, *others = arguments
    return reduce(lambda left, right: _bitwise_of_two(kind, left, right), others, first)


def _bitwise_of_two(kind: AtomKind, left: Form, right: Form) -> Form:
    if not left.terms and not right.terms:
        return constant(ON_BITS[kind](left.constant, right.constant))
    operands = sorted((left, right), key=lambda form: (not form.terms, form.order))
    return Form(0, {atom_of(kind, tuple(operands)): 1})


_CONSTRUCTORS: Mapping[AtomKind, Callable[[Sequence[Form]], Form]] = {
    AtomKind.FLOORDIV: lambda arguments: floordiv(*arguments),
    AtomKind.QUOTIENT: lambda arguments: floordiv(*arguments),
    AtomKind.MOD: lambda arguments: mod(*arguments),
    AtomKind.CEILDIV: lambda arguments: ceildiv(*arguments),
    AtomKind.MIN: minimum,
    AtomKind.MAX: maximum,
    AtomKind.PRODUCT: product,
    AtomKind.SUM: lambda arguments: arguments[0],
    AtomKind.NONNEGATIVE: lambda arguments: nonnegative(*arguments),
    AtomKind.ZERO: lambda arguments: zero(*arguments),
    AtomKind.AND: conjunction,
    AtomKind.SELECT: lambda arguments: select(*arguments),
    **{kind: partial(bitwise, kind) for kind in ON_BITS},
}


def build(kind: AtomKind, arguments: Sequence[Form]) -> Form:
    """The form of an operation on forms; only constants are evaluated."""
    return _CONSTRUCTORS[kind](arguments)


# Replacing, without recursion: forms may be nested as deep as memory allows.


def substitute(forms: Iterable[Form], replacements: Mapping[str, Form]) -> tuple[Form, ...]:
    """The forms with a form in place of each named variable; only constants are evaluated.

    >>> from simplifier.expr.form import variable
    >>> x = variable("x")
    >>> substitute([floordiv(x + 1, constant(2))], {"x": constant(6)})
    (Form(3),)
    """
    forms = tuple(forms)
    if not replacements:
        return forms
    values: dict[Atom, Form] = {}
    for atom in postorder(forms):  # a fold takes half as long again, and compositions wait for this
        if atom.kind is VARIABLE and atom.name in replacements:
            values[atom] = replacements[atom.name]
        else:
            arguments = tuple([combine(argument, values) for argument in atom.arguments])
            values[atom] = rebuilt(atom, arguments)
    return tuple([combine(form, values) for form in forms])


def replace(form: Form, replacements: Mapping[Atom, Form]) -> Form:
    """The form with forms in place of atoms, wherever they occur; only constants are evaluated."""
    replaced = replacements.keys()
    if not any(atom in replaced or _may_hold(atom, replaced) for atom in form.terms):
        return form
    atoms = postorder((form,))
    values = {atom: Form(0, {atom: 1}) for atom in atoms} | dict(replacements)
    for atom in atoms:
        if atom not in replaced and _may_hold(atom, replaced):
            values[atom] = rebuilt(atom, tuple([combine(each, values) for each in atom.arguments]))
    return combine(form, values)


def _may_hold(atom: Atom, others: KeysView[Atom]) -> bool:
    """Whether one of the others may stand inside an atom; yes if the atom does not keep a list."""
    return atom.inside is None or not others.isdisjoint(atom.inside)


def rebuilt(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    """The atom's operation on other arguments."""
    if arguments == atom.arguments:
        return Form(0, {atom: 1})
    if atom.function is not None:
        return call(atom.name, atom.function, arguments)
    return build(atom.kind, arguments)


def without_common_factors(form: Form) -> Form:
    """The form with common factors of a numerator and its divisor divided out.

    >>> from simplifier.expr.text import parse_form
    >>> print(without_common_factors(parse_form("((x floordiv 2) * 6 + 3) floordiv 4 + y mod 4")))
    y mod 4 + ((x floordiv 2) * 3 + 1) floordiv 2
    """
    if not any(map(_common_factor, postorder((form,)))):
        return form
    return combine(form, fold((form,), _in_lowest_terms, combine))


def _common_factor(atom: Atom) -> int:
    """The common factor of a numerator and its divisor, if that is more than 1."""
    if atom.kind is not FLOORDIV or atom.divisor <= 1:
        return 0
    common = gcd(atom.divisor, content(atom.numerator))
    return common if common > 1 else 0


def _in_lowest_terms(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    whole = rebuilt(atom, arguments)
    quotient = whole.only_atom
    if quotient is None or not (common := _common_factor(quotient)):
        return whole
    numerator, divisor = quotient.numerator, quotient.divisor // common
    rest = numerator.exactly_divided(common)
    return rest if divisor == 1 else floordiv(rest, constant(divisor))
