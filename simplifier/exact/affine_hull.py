"""Every linear equation between variables and sub-expressions that holds on a domain.

isl finds them all at once, as the affine hull of the points ``(variables, values of the
sub-expressions)``: that a quotient is constant, that a remainder is affine, that two quotients are
equal or differ by a third one.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Final

from simplifier.exact.isl import integer
from simplifier.expr import form as forms
from simplifier.expr.form import Form
from simplifier.extraction.cost import cost_of_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import islpy

    from simplifier.exact.isl import Space
    from simplifier.expr.form import Atom


_GROUP: Final = 8
"""So many sub-expressions are asked about at once: isl's time grows steeply with their number."""


def relations(space: Space, domain: islpy.Set, atoms: Sequence[Atom]) -> dict[Atom, Form]:
    """Forms that are 0 on the domain, each by its dearest atom, which occurs in no other.

    Of up to eight atoms they imply every equation ``constant + sum(coefficient * atom) = 0`` over
    atoms and variables that holds on the domain; more atoms are looked at eight at a time.
    """
    groups = (atoms[start : start + _GROUP] for start in range(0, len(atoms) or 1, _GROUP))
    return solved(row for group in groups for row in _equations(space, domain, group))


def _equations(space: Space, domain: islpy.Set, atoms: Sequence[Atom]) -> Iterator[Form]:
    graph = space.isl.Map.from_domain(domain)
    for value in space.expressions([Form(0, {atom: 1}) for atom in atoms]):
        graph = graph.flat_range_product(space.isl.Map.from_pw_aff(value))
    hull = graph.wrap().flatten().affine_hull().remove_divs()
    unknowns = [*map(forms.variable_atom, space.bounds), *atoms]
    return (_equation(space, row, unknowns) for row in hull.get_constraints() if row.is_equality())


def _equation(space: Space, row: islpy.Constraint, unknowns: Sequence[Atom]) -> Form:
    kind = space.isl.dim_type.set
    factors = (integer(row.get_coefficient_val(kind, place)) for place in range(len(unknowns)))
    terms = dict(zip(unknowns, factors, strict=True))
    return forms.collected(integer(row.get_constant_val()), terms)


def solved(rows: Iterable[Form]) -> dict[Atom, Form]:
    """The same equations, solved for their dearest atoms; by falling price.

    >>> x, y, z = map(forms.variable, "xyz")
    >>> list(solved([x + y + z - 3, y + z - 2]).values())
    [Form(y + z - 2), Form(x - 1)]
    """
    left = list(rows)
    found: dict[Atom, Form] = {}
    while left := [row for row in left if row.terms]:
        atom = max((atom for row in left for atom in row.terms), key=price)
        pivot = min(
            (row for row in left if atom in row.terms), key=lambda row: abs(row.terms[atom])
        )
        left = [_without(row, atom, pivot) for row in left if row is not pivot]
        found = {known: _without(row, atom, pivot) for known, row in found.items()}
        found[atom] = pivot
    return {atom: row if row.terms[atom] > 0 else -row for atom, row in found.items()}


def price(atom: Atom) -> tuple[int, forms.Key]:
    """Sorts atoms by cost; what is inside an atom comes before it."""
    return cost_of_form(Form(0, {atom: 1})), atom.order


def _without(row: Form, atom: Atom, pivot: Form) -> Form:
    """The equation less a multiple of another, so that the atom is gone."""
    factor, unit = row.terms.get(atom, 0), pivot.terms[atom]
    if not factor:
        return row
    common = gcd(factor, unit)
    rest = row.times(unit // common).plus(pivot, -factor // common)
    return rest.exactly_divided(gcd(rest.constant, *rest.terms.values()) or 1)


def reduced(form: Form, equations: Mapping[Atom, Form]) -> Form:
    """The cheapest form found that is equal where the equations hold."""
    everywhere = form
    best = form
    for atom, equation in equations.items():
        everywhere = _substituted(everywhere, atom, equation)
        best = min(best, _substituted(best, atom, equation), key=rank)
    return min(best, everywhere, key=rank)


def _substituted(form: Form, atom: Atom, equation: Form) -> Form:
    times, rest = divmod(form.terms.get(atom, 0), equation.terms[atom])
    return form if rest else form.plus(equation, -times)


def rank(form: Form) -> tuple[int, int]:
    """What a form costs; of equally dear ones, the one of fewer terms is better."""
    return cost_of_form(form), len(form.terms)
