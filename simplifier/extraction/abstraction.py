"""Abstraction: what an expression comes to, whatever the values of its inner operations are.

In ``((x mod 5) * 3 + x floordiv 5) floordiv 2`` the digits of ``x`` become variables of their own,
``(a * 3 + b) floordiv 2`` with ``a`` in [0, 4]. Nothing is known of them but their ranges, so
digits stay digits. The canonical form, which knows that both belong to ``x``, may multiply them
out into quotients that nobody reads, of greater numbers than the expression computes.
"""

from __future__ import annotations

from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from simplifier.bounds.interval import Interval
from simplifier.expr import operations
from simplifier.expr.form import (
    EXTREMA,
    FLOORDIV,
    Atom,
    Form,
    postorder,
    variable,
    variables_of,
)

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from simplifier.bounds.context import Bounds
    from simplifier.canonical.scope import Scope


class Abstraction(NamedTuple):
    """A form with variables in place of its inner operations."""

    form: Form
    bounds: Bounds
    meanings: Mapping[str, Form]
    """What stands for each new variable."""

    def only_renames(self, canonical: Form, original: Form) -> bool:
        """Whether its canonical form is that of the original with variables for operations.

        A search in it would start from the same form.

        >>> from simplifier.canonical.scope import scope_of
        >>> from simplifier.expr.parser import parse_form
        >>> scope = scope_of(())
        >>> for text in ("(x floordiv 4) * y * z", "(x mod 4) * y * z"):
        ...     form = parse_form(text)
        ...     found = abstraction_of(scope, form, inner_operations(form))
        ...     print(found.only_renames(found.form, scope.canonical(form)))
        True
        False
        """
        return operations.substitute([canonical], self.meanings) == (original,)


def abstraction_of(scope: Scope, form: Form, inner: Sequence[Atom]) -> Abstraction:
    """The form with a variable for each inner operation.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.parser import parse_form
    >>> scope = scope_of((("x", Interval(0, 59)),))
    >>> form = parse_form("((x mod 5) * 3 + x floordiv 5) floordiv 2")
    >>> found = abstraction_of(scope, form, inner_operations(form))
    >>> print(found.form)
    (inner.1 * 3 + inner.0) floordiv 2
    >>> print(*(f"{name} in {interval}: {found.meanings[name]}" for name, interval in found.bounds))
    inner.0 in [0, 11]: x floordiv 5 inner.1 in [0, 4]: x mod 5
    """
    taken = {*scope.bounds, *variables_of((form,))}
    free = (name for index in count() if (name := f"{_PREFIX}{index}") not in taken)
    names = dict(zip(inner, free, strict=False))
    abstract = operations.replace(form, {atom: variable(name) for atom, name in names.items()})
    used = {*variables_of((abstract,))}
    bounds = [(name, interval) for name, interval in scope.bounds.items() if name in used]
    bounds += [(name, _interval(scope, atom)) for atom, name in names.items()]
    bounds.sort(key=itemgetter(0))
    return Abstraction(
        abstract, tuple(bounds), {name: Form(0, {atom: 1}) for atom, name in names.items()}
    )


_PREFIX = "inner."
"""No text can name such a variable, but a symbol of SymPy may be called so."""


def inner_operations(form: Form) -> list[Atom]:
    """Digits of numbers, and extrema of such, that stand in other operations."""
    simple: set[Atom] = set()
    inner: dict[Atom, None] = {}
    for atom in postorder((form,)):
        inside = [each for argument in atom.arguments for each in argument.terms if each.arguments]
        if _is_simple(atom, inside, simple):
            simple.add(atom)
        else:
            inner.update((each, None) for each in inside if each in simple)
    return list(inner)


def _is_simple(atom: Atom, inside: list[Atom], simple: set[Atom]) -> bool:
    """Whether an operation is a digit of a number without operations, or an extremum of numbers."""
    if atom.kind in EXTREMA:
        return all(each.kind in EXTREMA and each in simple for each in inside)
    if atom.divisor <= 0:
        return False
    return not inside or (atom.numerator.only_atom in simple and inside[0].divisor > 0)


def lasting_operations(scope: Scope, form: Form) -> list[Atom]:
    """The inner operations, less those that stand only in sums that are numbers.

    As a variable each of them would hide the number, which ``(x floordiv 3) * 3 + x mod 3`` is.
    """
    inner = inner_operations(form)
    if not inner:
        return inner
    lasting = {
        each
        for atom in postorder((form,))
        for argument in atom.arguments
        if not scope.canonical(argument).is_affine
        for each in argument.terms
    }
    return [each for each in inner if each in lasting]


def subtracts(form: Form) -> bool:
    """Whether a coefficient is negative, also inside.

    >>> from simplifier.expr.parser import parse_form
    >>> subtracts(parse_form("(x - y) floordiv 4")), subtracts(parse_form("x floordiv 4 + y"))
    (True, False)
    """
    inside = (argument for atom in postorder((form,)) for argument in atom.arguments)
    return any(factor < 0 for each in (form, *inside) for factor in each.terms.values())


def inner_extrema(form: Form) -> list[Atom]:
    """The outermost extrema in divisions by numbers; products are not looked into.

    >>> from simplifier.expr.parser import parse_form
    >>> found = inner_extrema(parse_form("max(min(max(x, 1), 9) mod 4, max(y, 2), 0) + max(x, 3)"))
    >>> print(*(Form(0, {atom: 1}) for atom in found))
    min(max(x, 1), 9)
    """
    found: dict[Atom, None] = {}
    seen: set[tuple[Atom, bool]] = set()
    waiting = [(atom, False) for atom in form.terms]
    while waiting:
        atom, is_inside = waiting.pop()
        is_extremum = atom.kind in EXTREMA
        if is_extremum and is_inside:
            found[atom] = None
        elif (is_extremum or atom.divisor) and (atom, is_inside) not in seen:
            seen.add((atom, is_inside))
            waiting += [
                (each, not is_extremum) for argument in atom.arguments for each in argument.terms
            ]
    return list(found)


def quotients_of(form: Form, names: Container[str]) -> list[Atom]:
    """The quotients of multiples of one of the named variables.

    >>> from simplifier.expr.parser import parse_form
    >>> form = parse_form("((x + 1) floordiv 2 + z floordiv 4 + (x + y) floordiv 3) mod 5")
    >>> print(*(Form(0, {atom: 1}) for atom in quotients_of(form, {"x", "y"})))
    (x + 1) floordiv 2
    """
    found: list[Atom] = []
    for atom in postorder((form,)):
        if atom.kind is FLOORDIV and len(atom.numerator.terms) == 1:
            (inner,) = atom.numerator.terms
            if inner.name in names:
                found.append(atom)
    return found


def _interval(scope: Scope, atom: Atom) -> Interval:
    return Interval.from_range(scope.range_of(scope.canonical(Form(0, {atom: 1}))))
