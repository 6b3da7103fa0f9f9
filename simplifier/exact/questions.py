"""Exact questions, by isl: equality of two expressions, their differences, the values of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from math import gcd, prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from simplifier import evaluation
from simplifier.bounds.context import Constraint
from simplifier.bounds.interval import EMPTY, EVERYTHING, Interval
from simplifier.canonical.scope import Scope
from simplifier.evaluation import MAX_INT64, OPERATIONS, np
from simplifier.exact import isl
from simplifier.exact.isl import BUDGET, Allowance, Answer, Budget, BudgetError, Space
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, FOREIGN, ZERO, Atom, AtomKind, Form, combine, postorder
from simplifier.extraction import width
from simplifier.extraction.cost import DIVISIONS, cost_of_form
from simplifier.fixpoint import simplified
from simplifier.limits import MAX_EXACT_ATOMS, MAX_EXACT_GROUP, MAX_EXACT_PIECES, MAX_TABLE

if TYPE_CHECKING:
    import islpy


Constraints: TypeAlias = "Sequence[Constraint]"
_Question: TypeAlias = "Callable[[Space, islpy.Set, islpy.PwAff], Answer]"


def differing_point(
    a: Form,
    b: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints = (),
    budget: Budget = BUDGET,
) -> dict[str, int] | None:
    """A point where two forms differ, or ``None``; terms that both share may be anything."""
    return _asked(_nonzero_point, first_other_than_zero, a - b, bounds, constraints, budget)


def exact_range(
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints = (),
    budget: Budget = BUDGET,
) -> Interval:
    """The least and the greatest value of a form; ``None`` is an end that it really goes beyond."""
    return _asked(_extent, extent, form, bounds, constraints, budget)


def range_within(
    allowance: Allowance, form: Form, bounds: Mapping[str, Interval], constraints: Constraints
) -> Interval:
    """The same, as one attempt of a greater question."""
    with allowance.attempt() as context:
        space = Space(all_bounds((form,), bounds, constraints), context)
        return _answer(_extent, space, form, constraints)


def _nonzero_point(space: Space, domain: islpy.Set, value: islpy.PwAff) -> dict[str, int] | None:
    return space.sample(domain.intersect(value.non_zero_set()))


def _extent(space: Space, domain: islpy.Set, value: islpy.PwAff) -> Interval:
    return space.extent(value.intersect_domain(domain))


def _asked(
    question: _Question[Answer],
    of_points: Callable[[Iterable[Chunk]], Answer],
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints,
    budget: Budget,
) -> Answer:
    """The answer to a question about a space, the domain in it, and the value of a form there.

    Where isl takes long, all points answer if there are few.
    """
    known = all_bounds((form,), bounds, constraints)

    def enumerated(most: int) -> tuple[Answer] | None:
        simpler, *limited = isl.quasi_affine(known, (form, *(each for each, _ in constraints)))
        intervals = [interval for _, interval in constraints]
        found = points_with_values(simpler, known, [*zip(limited, intervals, strict=True)], most)
        return None if found is None else (of_points(found),)

    def by_isl(context: islpy.Context) -> tuple[Answer]:
        return (_answer(question, Space(known, context), form, constraints),)

    (answer,) = isl.asked(by_isl, budget, otherwise=enumerated)
    return answer


def _answer(
    question: _Question[Answer], space: Space, form: Form, constraints: Constraints
) -> Answer:
    (value,) = space.expressions([form])
    return question(space, space.domain(constraints), value)


def all_bounds(
    wanted: Iterable[Form], bounds: Mapping[str, Interval], constraints: Iterable[Constraint]
) -> dict[str, Interval]:
    """Bounds of every variable that is bounded or occurs."""
    involved = forms.variables_of(chain(wanted, (form for form, _ in constraints)))
    return {**dict.fromkeys(involved, EVERYTHING), **bounds}


# Values of a form at all points of a domain, where isl takes long and there are few points.

Column: TypeAlias = Any
"""An array of NumPy."""

Columns: TypeAlias = "dict[str, Column]"
"""Points: the values of each variable."""

Chunk: TypeAlias = "tuple[Columns, Column]"
"""Points, and the values of a form there."""

MAX_VALUES: Final = 1 << 25
"""Values of operations, at all points together, that are computed: half a second."""

_CHUNK: Final = 1 << 14
"""Points that are looked at together: columns of them fit into the cache of a core."""


def points_with_values(
    form: Form, bounds: Mapping[str, Interval], constraints: Constraints, most: int = MAX_VALUES
) -> Iterator[Chunk] | None:
    """All points in order, some thousands at a time, with the values of a quasi-affine form there.

    ``None`` if there are many points, more than ``most``, or a value may not fit into 64 bits.

    >>> from simplifier.expr.text import parse_form
    >>> found = points_with_values(parse_form("(x * 5) mod 7"), {"x": Interval(1, 3)}, ())
    >>> [(columns["x"].tolist(), values.tolist()) for columns, values in found or ()]
    [([1, 2, 3], [5, 3, 1])]
    """
    points = prod(interval.size or 0 for interval in bounds.values())
    is_listed = points <= most and _are_few(form, bounds, constraints)
    return _chunks(form, bounds, constraints) if is_listed else None


def extent(chunks: Iterable[Chunk]) -> Interval:
    """The least and the greatest value; empty if there is no point."""
    ends = [(int(values.min()), int(values.max())) for _, values in chunks if len(values)]
    return Interval(min(map(min, ends)), max(map(max, ends))) if ends else EMPTY


def first_other_than_zero(chunks: Iterable[Chunk]) -> dict[str, int] | None:
    """The first point where the value is not 0."""
    for columns, values in chunks:
        others = values.nonzero()[0]
        if len(others):
            return {name: int(column[others[0]]) for name, column in columns.items()}
    return None


def _are_few(form: Form, bounds: Mapping[str, Interval], constraints: Constraints) -> bool:
    sizes = [interval.size for interval in bounds.values()]
    wanted = (form, *(limited for limited, _ in constraints))
    atoms = postorder(wanted)
    work = prod(size or 0 for size in sizes) * (len(atoms) or 1)
    if None in sizes or work > MAX_VALUES or not all(map(_is_computed, atoms)):
        return False
    far = {name: width.magnitude(interval.ends) or 0 for name, interval in bounds.items()}
    return max(evaluation.magnitudes(wanted, far)) <= MAX_INT64


def _is_computed(atom: Atom) -> bool:
    """Whether the atom has a value at every point."""
    if atom.kind in DIVISIONS:
        return atom.divisor != 0
    is_operation = atom.kind in OPERATIONS and atom.kind not in FOREIGN
    return is_operation or atom.kind in (AtomKind.VARIABLE, AtomKind.SELECT)


def _chunks(
    form: Form, bounds: Mapping[str, Interval], constraints: Constraints
) -> Iterator[Chunk]:
    wanted = (form, *(limited for limited, _ in constraints))
    total = prod(interval.size or 0 for interval in bounds.values())
    for start in range(0, total, _CHUNK):
        numbers = np.arange(start, min(start + _CHUNK, total), dtype=np.int64)
        columns = evaluation.points_in(bounds, numbers)
        values, *limited = evaluation.values_of(wanted, columns)
        is_inside = np.ones(len(numbers), dtype=bool)
        for value, (_, interval) in zip(limited, constraints, strict=True):
            lower, upper = interval.ends
            is_inside &= np.asarray((value >= lower) & (value <= upper), dtype=bool)
        inside = {name: column[is_inside] for name, column in columns.items()}
        yield inside, np.broadcast_to(values, is_inside.shape)[is_inside]


# Improvements by isl of an expression that is already simplified.
#
# Four methods are tried in turn, each with a share of the allowance: linear equations between the
# parts of the expression; operations with parts left out; pieces of the value that isl merges;
# tables of parts of one variable that have few steps. A finding is simplified, proved equal by
# isl or at each of few points, and taken if it is cheaper; then all begins again. The result is
# what no method improves, so a second run changes nothing.
#
# isl finds every linear equation between variables and sub-expressions at once, as the affine
# hull of the points `(variables, values of the sub-expressions)`: that a quotient is constant,
# that a remainder is affine, that two quotients are equal or differ by a third one.


class Task(NamedTuple):
    """A form to improve, and the points where it has to stay equal."""

    form: Form
    space: Space
    domain: islpy.Set
    constraints: Constraints

    @property
    def atoms(self) -> list[Atom]:
        """The operations of the form, each after those inside it."""
        return [atom for atom in postorder((self.form,)) if atom.kind is not AtomKind.VARIABLE]

    def allows(self, old: Form, new: Form) -> bool:
        """Whether the new form is cheaper, and equal on the domain: at each of few points."""
        if rank(new) >= rank(old):
            return False
        points = points_with_values(old - new, self.space.bounds, self.constraints, MAX_TABLE)
        if points is None:
            return self.space.agree(old, new, self.domain)
        return first_other_than_zero(points) is None


def finished(
    scope: Scope,
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints,
    allowance: Allowance,
) -> Form:
    """The form, or a cheaper one that isl proves equal within bounds and constraints.

    ``scope`` holds the same bounds and constraints. Each method is an attempt: one that takes more
    than its share of the allowance finds nothing.

    Raises:
        NotQuasiAffineError: naming the part of the form or of a constraint.
    """
    everything = all_bounds((form,), bounds, constraints)
    isl.quasi_affine(everything, (form, *(known for known, _ in constraints)))
    if len(postorder((form,))) > MAX_EXACT_ATOMS:
        return form

    def improved(form: Form) -> Form | None:
        """A cheaper form by the first method that finds one."""
        for improve in _METHODS:
            with suppress(BudgetError), allowance.attempt() as context:
                space = Space(everything, context)
                task = Task(form, space, space.domain(constraints), constraints)
                better = simplified(scope, improve(task))
                if task.allows(form, better) and _is_as_good(scope, better, form):
                    return better
        return None

    while (better := improved(form)) is not None:
        form = better
    return form


def _is_as_good(scope: Scope, better: Form, form: Form) -> bool:
    """Whether a cheaper form needs no wider integers, and divides by no negative number."""
    widest = max(width.natural_width(scope, form) or 0, width.width_as_written(scope, form))
    is_allowed = not width.divides_by_negative(better) or width.divides_by_negative(form)
    return is_allowed and width.width_as_written(scope, better) <= widest


# By linear relations.


def _by_relations(task: Task) -> Form:
    """The form, with each sum in it rewritten by equations into its cheapest parts."""
    if task.domain.is_empty():
        return ZERO
    equations = relations(task.space, task.domain, task.atoms)
    values = {forms.variable_atom(name): forms.variable(name) for name in task.space.bounds}
    for atom in sorted(task.atoms, key=_order):
        arguments = (combine(reduced(argument, equations), values) for argument in atom.arguments)
        values[atom] = operations.rebuilt(atom, tuple(arguments))
    return combine(reduced(task.form, equations), values)


# By leaving out.


def _by_leaving_out(task: Task) -> Form:
    """Every operation replaced by the first that has less in it and is equal."""
    found: dict[Atom, Form] = {}
    for atom in task.atoms:
        whole = Form(0, {atom: 1})
        for less in sorted(_less(atom), key=rank):
            if task.allows(whole, less):
                found[atom] = less
                break
    return operations.replace(task.form, found)


def _less(atom: Atom) -> Iterator[Form]:
    """The operation without one of its operands or terms, or on multiples of a common factor."""
    if atom.kind in EXTREMA:
        for operand in atom.arguments:
            others = tuple(other for other in atom.arguments if other is not operand)
            yield operations.build(atom.kind, others)
    elif atom.divisor:
        yield from _shorter(atom)
        if atom.kind is not AtomKind.CEILDIV:
            yield from _coarser(atom)


def _shorter(atom: Atom) -> Iterator[Form]:
    """The operation on the numerator less one term, or less the constant."""
    numerator, divisor = atom.arguments
    rests = [numerator.without(term) for term in numerator.terms]
    for rest in (*rests, numerator.plus_constant(-numerator.constant)):
        yield operations.build(atom.kind, (rest, divisor))


def _coarser(atom: Atom) -> Iterator[Form]:
    """The operation on units of a factor that some coefficients share with the divisor."""
    numerator, divisor = atom.arguments
    for unit in sorted({gcd(factor, atom.divisor) for factor in numerator.terms.values()} - {1}):
        multiples = {term: factor for term, factor in numerator.terms.items() if not factor % unit}
        whole = Form(numerator.constant, multiples).exactly_divided(unit)
        rest = numerator.plus(whole, -unit)
        on_units = operations.build(atom.kind, (whole, forms.constant(divisor.constant // unit)))
        yield on_units if atom.kind is AtomKind.FLOORDIV else on_units.times(unit).plus(rest)


# By pieces, and by steps.


def _by_parts(task: Task, shorter: Callable[[Task, Form], Form]) -> Form:
    """The form, or each operation in it, in a shorter way."""
    whole = shorter(task, task.form)
    if whole is not task.form:
        return whole
    found = {atom: shorter(task, Form(0, {atom: 1})) for atom in task.atoms}
    return operations.replace(task.form, found)


def _merged(task: Task, form: Form) -> Form:
    """The only piece of the form, or the least or greatest of a few; or the form."""
    (value,) = task.space.expressions([form])
    pieces = value.coalesce().gist(task.domain).coalesce().get_pieces()
    if 0 < len(pieces) <= MAX_EXACT_PIECES:
        parts = [task.space.form_of(part) for _, part in pieces]
        for merged in (operations.maximum(parts), operations.minimum(parts)):
            if task.allows(form, merged):
                return merged
    return form


def _stepwise(task: Task, form: Form) -> Form:
    """The form as a table of few steps, if it has one variable and that has few values."""
    names = [*forms.variables_of((form,))]
    bounds = {name: task.space.bounds[name] for name in names}
    points = points_with_values(form, bounds, (), MAX_TABLE) if len(names) == 1 else None
    values = [int(value) for _, found in points or () for value in found]
    if not values:
        return form
    first = bounds[names[0]].lower or 0
    table = evaluation.tabulated(values, forms.variable(names[0]).plus_constant(-first))
    return table if len(table.terms) <= MAX_EXACT_PIECES and task.allows(form, table) else form


_by_pieces = partial(_by_parts, shorter=_merged)
_by_steps = partial(_by_parts, shorter=_stepwise)
_METHODS: Final = (_by_relations, _by_leaving_out, _by_pieces, _by_steps)


# Linear equations.


def relations(space: Space, domain: islpy.Set, atoms: Sequence[Atom]) -> dict[Atom, Form]:
    """Forms that are 0 on the domain, each by its most expensive atom, which occurs in no other.

    Of up to eight atoms they imply every equation ``constant + sum(coefficient * atom) = 0`` over
    atoms and variables that holds on the domain; more atoms are looked at eight at a time.
    """
    starts = range(0, len(atoms) or 1, MAX_EXACT_GROUP)
    groups = (atoms[start : start + MAX_EXACT_GROUP] for start in starts)
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
    factors = [row.get_coefficient_val(kind, position) for position in range(len(unknowns))]
    terms = dict(zip(unknowns, map(isl.integer, factors), strict=True))
    return forms.collected(isl.integer(row.get_constant_val()), terms)


def solved(rows: Iterable[Form]) -> dict[Atom, Form]:
    """The same equations, solved for their most expensive atoms; by falling cost.

    >>> x, y, z = map(forms.variable, "xyz")
    >>> list(solved([x + y + z - 3, y + z - 2]).values())
    [Form(y + z - 2), Form(x - 1)]
    """
    left = list(rows)
    found: dict[Atom, Form] = {}
    while left := [row for row in left if row.terms]:
        atom = max((atom for row in left for atom in row.terms), key=_order)
        holding = (row for row in left if atom in row.terms)
        pivot = min(holding, key=lambda row: abs(row.terms[atom]))
        left = [_without(row, atom, pivot) for row in left if row is not pivot]
        found = {known: _without(row, atom, pivot) for known, row in found.items()}
        found[atom] = pivot
    return {atom: row if row.terms[atom] > 0 else -row for atom, row in found.items()}


def _order(atom: Atom) -> tuple[int, forms.Key]:
    """Key that sorts atoms by cost; the atoms inside an atom come before it."""
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
    """Cost of a form; of equal cost, the one of fewer terms is better."""
    return cost_of_form(form), len(form.terms)
