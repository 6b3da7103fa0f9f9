"""Inverts a map: from results back to the dimensions that lead to them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from indexing.domain import Domain, distinctly_named, substituted_constraints
from indexing.exact.bit_inversion import inverse_of_bits
from indexing.exact.isl_sets import check_quasi_affine
from indexing.exact.solving import Equation, solved
from indexing.exact.symbolic_inversion import symbolic_inverse
from indexing.simplify import result_bounds, simplified
from indexing.transform.unused import without_unused_symbols
from indexing.variable import Variable
from simplifier.canonical.scope import scope_of
from simplifier.exact import NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.fixpoint import range_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.exact.solving import GeneralSolution
    from indexing.relation import Relation, RelationT
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def inverse(indexing_map: RelationT) -> RelationT:
    """The map from results to dimensions that relates the same elements the other way round.

    :meth:`IndexingMap.inverse` says what becomes of the variables.

    Raises:
        NotQuasiAffineError: naming the first term that is not quasi-affine.

    >>> from indexing import parse_map
    >>> print(inverse(parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")))
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    simplest = simplified(indexing_map, preserve_ranges=True)
    if simplest.is_known_empty:
        nowhere = Domain.of(Variable.of_size(0) for _ in simplest.forms)
        return simplest.derived((forms.ZERO for _ in simplest.dims), nowhere.emptied())
    try:
        check_quasi_affine(simplest.domain, simplest.forms)
    except NotQuasiAffineError:
        found = symbolic_inverse(simplest)
        found = inverse_of_bits(simplest) if found is None else found
        if found is None:
            raise
        return found
    found = without_unused_symbols(simplified(solved_for_dims(simplest, indexing_map.forms)))
    # A permutation of bits, written as a sum whose terms share bits, is solved by no equation.
    return (inverse_of_bits(simplest) if found.ranges else None) or found


def solved_for_dims(simplest: RelationT, given_results: Sequence[Form]) -> RelationT:
    """The inverse before it is simplified: it relates exactly the same elements, read backwards.

    Assumes that the map is quasi-affine and not known to be empty, and that ``given_results`` have
    the values of its results on its domain: they are the results before they were simplified, and
    tell which sums were split. Neither has to be simplified.

    Proof: the equations ``result = y``, ``sum = n``, and those among the constraints are true for
    exactly the elements that the map relates; :mod:`indexing.exact.solving` solves them for all
    variables but runtime ones and parameters, which are known. The other constraints become
    conditions. They are rewritten by equations only.
    """
    domain = simplest.domain
    numerators = _shared_numerators(given_results)
    scope = _scope_with(domain, numerators)
    results = _over_numerators(given_results, numerators) if numerators else simplest.forms
    outputs = [
        Equation(scope.canonical(form), forms.variable(f"y{position}"))
        for position, form in enumerate(results)
    ]
    sums = [
        Equation(whole - forms.variable(name), forms.ZERO) for name, whole in numerators.items()
    ]
    known = domain.identifiers[len(domain.dims) + len(domain.ranges) :]
    sought = {name: ends for name, ends in scope.bounds.items() if name not in known}
    solution = solved(scope, [*outputs, *sums, *_equalities(domain)], sought)
    others = substituted_constraints(_inequalities(scope, domain, outputs), solution.values)
    values = [solution.values[identifier] for identifier in domain.identifiers[: len(domain.dims)]]
    free = _in_order(values, solution)
    ranges = _ranges_of(domain, solution, free)
    made = distinctly_named(_dims_of(simplest), ranges, domain.runtime, domain.parameters)
    old = (*(f"y{position}" for position in range(len(outputs))), *free)
    renaming = dict(zip(old, map(forms.variable, made.identifiers), strict=False))
    constraints = substituted_constraints([*solution.conditions, *others], renaming)
    return simplest.derived(operations.substitute(values, renaming), made.constrained(constraints))


def _shared_numerators(given_results: Sequence[Form]) -> dict[str, Form]:
    """Sums that several quotients and remainders divide: indices that are split.

    They are called ``n0 n1 ...`` and solved for like variables. Canonical forms would split their
    terms into digits instead.
    """
    numerators = Counter(
        atom.numerator
        for atom in forms.postorder(given_results)
        if atom.divisor and len(atom.numerator.terms) > 1 and atom.numerator.is_affine
    )
    shared = (form for form, times in numerators.items() if times > 1)
    return {f"n{position}": form for position, form in enumerate(shared)}


def _over_numerators(given_results: Sequence[Form], numerators: Mapping[str, Form]) -> list[Form]:
    """The forms with a variable for each shared numerator."""
    names = {whole: forms.variable(name) for name, whole in numerators.items()}
    replacements = {
        atom: operations.build(atom.kind, (names[atom.numerator], atom.arguments[1]))
        for atom in forms.postorder(given_results)
        if atom.divisor and atom.numerator in names
    }
    return [operations.replace(form, replacements) for form in given_results]


def _scope_with(domain: Domain, numerators: Mapping[str, Form]) -> Scope:
    """The scope of the bounds of variables and shared numerators."""
    bounds = tuple(domain.bounds.items())
    plain = scope_of(bounds)
    if not numerators:
        return plain
    ranges = ((name, range_of(plain, whole)) for name, whole in numerators.items())
    return scope_of((*bounds, *ranges))


def _equalities(domain: Domain) -> Iterator[Equation]:
    for form, interval in domain.constraints:
        if interval.lower is not None and interval.is_point:
            yield Equation(form, forms.constant(interval.lower))


def _inequalities(
    scope: Scope, domain: Domain, outputs: Sequence[Equation]
) -> Iterator[Constraint]:
    for form, interval in domain.constraints:
        if not interval.is_point:
            yield _by_results(scope.canonical(form), outputs) or form, interval


def _by_results(form: Form, outputs: Sequence[Equation]) -> Form | None:
    """The form with a result for terms that make it up, if there is such a result."""
    for terms, result in outputs:
        lead, unit = next(iter(terms.terms.items()), (None, 1))
        times, rest = divmod(form.terms.get(lead, 0) if lead else 0, unit)
        shorter = form.plus(terms, -times).plus(result, times)
        if times and not rest and len(shorter.terms) < len(form.terms):
            return shorter
    return None


def _in_order(values: Sequence[Form], solution: GeneralSolution) -> list[str]:
    """The free variables in the order in which the inverse uses them."""
    used = [name for name in forms.variables_of(values) if name in solution.free]
    return [*used, *(name for name in solution.free if name not in used)]


def _dims_of(simplest: Relation) -> Iterator[Variable]:
    """A dimension for each result; a result that is a variable gives its name."""
    known = dict(zip(simplest.domain.identifiers, simplest.domain, strict=True))
    for form, bounds in zip(simplest.forms, result_bounds(simplest), strict=True):
        variable = known.get(form.single_variable() or "")
        yield Variable(bounds) if variable is None else variable.within(bounds)


def _ranges_of(
    domain: Domain, solution: GeneralSolution, free: Sequence[str]
) -> Iterator[Variable]:
    """A range for each free variable; a variable whose values it takes gives its name."""
    taken = {
        solution.values[identifier].single_variable(): variable
        for identifier, variable in zip(domain.identifiers, domain, strict=True)
        if identifier in solution.values
    }
    for name in free:
        bounds = solution.free[name]
        yield taken[name].within(bounds) if name in taken else Variable(bounds)
