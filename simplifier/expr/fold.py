"""One walk over forms: the value of an atom follows from the values of its arguments.

What a value is, the caller says: an integer or an array (evaluation), a form (substitution), an
interval (bounds), a text or an expression of another library (export). Nothing recurses, so forms
may be nested as deep as memory allows, and what several forms share is worked out once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from simplifier.expr.form import VARIABLE, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simplifier.expr.form import Atom, AtomKind, Form

    Value = TypeVar("Value")


def fold(
    forms: Iterable[Form],
    of_atom: Callable[[Atom, tuple[Value, ...]], Value],
    of_form: Callable[[Form, Mapping[Atom, Value]], Value],
    values: dict[Atom, Value] | None = None,
) -> dict[Atom, Value]:
    """The values of all atoms inside some forms.

    ``of_atom`` gives the value of an atom from those of its arguments, ``of_form`` that of a form
    from those of its atoms. ``values`` holds what is known already, and takes what is found.

    >>> from simplifier.expr.parser import parse_form
    >>> form = parse_form("(x * 2) mod 8 + max(x, y)")
    >>> depths = fold(
    ...     [form],
    ...     lambda atom, inner: 1 + max(inner, default=0),
    ...     lambda form, depths: max(map(depths.__getitem__, form.terms), default=0),
    ... )
    >>> sorted(depths.values())
    [1, 1, 2, 2]
    """
    atoms = postorder(forms, skip=values.__contains__ if values else None)
    values = {} if values is None else values
    for atom in atoms:
        arguments = tuple([of_form(argument, values) for argument in atom.arguments])
        values[atom] = of_atom(atom, arguments)
    return values


def evaluate(
    forms: Iterable[Form],
    variables: Mapping[str, Any],
    operations: Mapping[AtomKind, Callable[[Atom, tuple[Any, ...]], Any]],
    known: dict[Atom, Any] | None = None,
) -> tuple[Any, ...]:
    """The values of forms where the variables have some values: integers, or arrays of them.

    ``operations`` says what each kind of atom computes from the values of its arguments; those of
    atoms that are ``known`` are not computed.

    >>> from simplifier.expr.form import AtomKind
    >>> from simplifier.expr.parser import parse_form
    >>> remainder = {AtomKind.MOD: lambda atom, values: values[0] % values[1]}
    >>> evaluate([parse_form("(x + 5) mod 8 - y")], {"x": 6, "y": 2}, remainder)
    (1,)
    """
    forms = tuple(forms)

    def of_atom(atom: Atom, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401 - whatever is computed with
        if atom.kind is VARIABLE:
            return variables[atom.name]
        return operations[atom.kind](atom, arguments)

    values = fold(forms, of_atom, linear_combination, known)
    return tuple(linear_combination(form, values) for form in forms)


def linear_combination(form: Form, values: Mapping[Atom, Any]) -> Any:  # noqa: ANN401 - as above
    """The value of a form whose atoms have these values: numbers, or what adds like numbers."""
    total = None
    for atom, factor in form.terms.items():
        value = values[atom]
        term = value if factor == 1 else value * factor
        total = term if total is None else total + term
    if total is None:
        return form.constant
    return total + form.constant if form.constant else total
