"""How the tile of a map is found: which results are alone, and which are digits of one variable.

Whatever is in the way of a box of elements, its variables have one value in a tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from indexing.domain import substituted_constraints
from indexing.errors import TileError
from indexing.tile.axes import read_axes
from indexing.tile.digit_systems import Refusal, digits_of
from indexing.tile.monotone import monotone
from indexing.tile.progressions import Progression, of_every_nth, of_monotone
from indexing.tile.radices import digit_of
from indexing.tile.tile import Formulas, Tile
from indexing.tile.tile_constraints import TileConstraints, conditions_of, renamed
from indexing.variable import is_symbolic
from simplifier import Interval
from simplifier.errors import check_type, listed
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.functions import symbol
from simplifier.fixpoint import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import sympy

    from indexing.domain import Constraint
    from indexing.relation import Relation
    from indexing.tile.axes import Axes
    from indexing.variable import Variable
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def tile_of(
    relation: Relation,
    dims: Sequence[Variable],
    sizes: Sequence[sympy.Expr | int],
    facts: Iterable[Constraint] = (),
) -> Tile:
    """The tile of a simplified relation; ``dims`` have the bounds that tiles are counted from.

    Raises:
        TileError: there is none with these sizes, with the reason.
    """
    check_type(sizes, Sized, "tile: sizes", "a sequence of integers or expressions")
    facts = tuple(facts)
    axes = read_axes(relation.domain, dims, sizes, facts)
    single = {name for name, axis in axes.by_name.items() if axis.has_one_value}
    while isinstance(found := _Attempt(relation, axes, frozenset(single)).parts(), Refusal):
        ranges = [name for name in found.names if axes.by_name[name].is_range]
        if ranges or found.names <= single:
            raise TileError(f"tile: {found.reason}; expected digits, or sums that reach all values")
        single |= found.names
    free = tuple(each for each in axes.sizes if not each.size.is_constant)
    given = replace(TileConstraints.of(found.clauses), sizes=free)
    constraints = given.simplified(axes.known.scope())
    if constraints.is_unsatisfiable:
        return _of_numbers(relation, dims, sizes, facts)
    rows = [(each.offset, each.size, each.stride) for each in found.results]
    names = [name for name in relation.domain.identifiers if name[0] == "d"]
    formulas = Formulas(tuple(rows), operations.conjunction(found.conditions))
    return Tile(
        relation.domain,
        tuple(axes.by_name[name].count for name in names),
        axes.grid,
        axes.known,
        formulas.simplified(axes.known),
        constraints,
    )


def _of_numbers(
    relation: Relation,
    dims: Sequence[Variable],
    sizes: Sequence[sympy.Expr | int],
    facts: tuple[Constraint, ...],
) -> Tile:
    """The tile with symbols for numbers, which then take their place.

    Raises:
        TileError: what the sizes would have to meet, with the names of dimensions for numbers.
    """
    keyed = {f"#{place}": size for place, size in enumerate(sizes)}
    numbers = {key: int(size) for key, size in keyed.items() if not is_symbolic(size)}
    if not numbers:
        raise TileError("tile: no size meets the constraints")
    named = [symbol(key) if key in numbers else size for key, size in keyed.items()]
    tile = tile_of(relation, dims, named, facts)
    names = dict(zip(keyed, relation.domain.names, strict=False))
    shown = renamed(tile.constraints, names)
    given = {names[key]: number for key, number in numbers.items()}
    if len(numbers) < len(sizes):
        known = listed([f"{name} is {number}" for name, number in given.items()])
        raise TileError(f"tile: no size meets {shown}, where {known}")
    reason = shown.reason(given)
    if reason is not None:
        raise TileError(f"tile: {reason}")
    return tile.substitute(numbers)


@dataclass(frozen=True, slots=True)
class _Unsimplified:
    """A tile before it is simplified."""

    results: tuple[Progression, ...]
    conditions: tuple[Form, ...]
    clauses: tuple[tuple[tuple[Constraint, ...], ...], ...]


class _Attempt:
    """The tile if some variables have one value: their axes are one value each."""

    def __init__(self, relation: Relation, axes: Axes, single: frozenset[str]) -> None:
        self.domain = relation.domain
        self.all_axes = axes
        self.single = single
        fixed = {name: axes.by_name[name].begin for name in single}
        self.axes = {name: axis for name, axis in axes.by_name.items() if name not in single}
        self.constraints = substituted_constraints(axes.constraints, fixed)
        found = operations.substitute(relation.forms, fixed)
        self.forms = tuple(simplified(self.points, form) for form in found) if fixed else found
        self.users = Counter(name for form in self.forms for name in self.used(form))

    def used(self, form: Form) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of((form,)) if name in self.axes)

    @cached_property
    def points(self) -> Scope:
        """What is known of the points of the map."""
        bounds = {name: self.domain.bounds[name] for name in self.axes}
        known = self.all_axes.known
        return known.bounded(bounds)._replace(facts=(*known.facts, *self.constraints)).scope()

    def parts(self) -> _Unsimplified | Refusal:
        """The tile of each result, the mask, and the constraints; or what is in the way."""
        of_results, others = self._matched()
        found: dict[int, Progression] = {}
        for number, form in enumerate(self.forms):
            progression = self._alone(number, form, others)
            if progression is not None:
                found[number] = progression
        left = {each: form for each, form in enumerate(self.forms) if each not in found}
        digits = digits_of(left, self.axes, self.points, self.all_axes.known.scope())
        if isinstance(digits, Refusal):
            return digits
        found |= digits.progressions()
        places = {digit: at for each in found.values() for digit, at in each.places.items()}
        values, limits = digits.told(places)
        values |= {name: at for each in found.values() for name, at in each.values.items()}
        conditions = [condition for each in found.values() for condition in each.conditions]
        conditions += limits
        for number, form, interval in of_results:
            element = found[number].element(_position(number))
            conditions += conditions_of(element + form, interval)
        for form, interval in others:
            unknown = self.used(form) - values.keys()
            if unknown:
                return Refusal(unknown, f"{form} is limited, and no result tells it")
            conditions += conditions_of(operations.substitute((form,), values)[0], interval)
        conditions += self._nonempty()
        results = tuple(found[number] for number in range(len(self.forms)))
        clauses = [each.clause for each in (*results, *digits.radices.values())]
        clauses += [
            ((axis.limited(Interval.of(1)),),)
            for name in self.single
            if not (axis := self.all_axes.by_name[name]).is_range
        ]
        return _Unsimplified(results, tuple(conditions), tuple(clauses))

    def _matched(self) -> tuple[list[tuple[int, Form, Interval]], list[Constraint]]:
        """The constraints on results, with what to add to these; and the others."""
        of_results: list[tuple[int, Form, Interval]] = []
        others: list[Constraint] = []
        for form, interval in self.constraints:
            for number, result in enumerate(self.forms):
                if not self.used(form - result) and self.used(form):
                    of_results.append((number, form - result, interval))
                    break
                if not self.used(form + result) and self.used(form):
                    of_results.append((number, -(form + result), -interval))
                    break
            else:
                others.append((form, interval))
        return of_results, others

    def _alone(self, number: int, form: Form, others: list[Constraint]) -> Progression | None:
        """The tile of a result whose variables no other result uses."""
        names, position = self.used(form), _position(number)
        if not names:
            return Progression(form, forms.ONE, forms.ZERO)
        if any(self.users[name] > 1 for name in names):
            return None
        limiting = [limit for limit in others if names & self.used(limit[0])]
        if len(names) == 1 and len(limiting) == 1:
            nth = self._every_nth(form, limiting[0], position)
            if nth is not None:
                others.remove(limiting[0])
                return nth
        rising = monotone(form, self.axes)
        if rising is None:
            return None
        found = of_monotone(rising, self.axes, position)
        return found if not limiting or found.values else None

    def _every_nth(self, form: Form, limit: Constraint, position: Form) -> Progression | None:
        """The tile of a quotient of values with one remainder, as of interior padding."""
        (name,) = self.used(form)
        atom, interval = limit[0].only_atom, limit[1]
        digit = None if atom is None else digit_of(atom)
        terms = [atom for atom in form.terms if self.used(forms.Form(0, {atom: 1}))]
        if digit is None or not interval.is_point or len(terms) != 1:
            return None
        quotient = terms[0]
        inner = digit_of(quotient)
        if inner is None or inner.radix is not None or digit.weight != 1:
            return None
        if inner.variable != name or digit.variable != name or inner.weight != digit.radix:
            return None
        if self.axes[name].is_range:
            return None
        divided = digit._replace(weight=inner.weight, radix=None)
        return of_every_nth(form, divided, interval.lower or 0, self.axes[name], position)

    def _nonempty(self) -> list[Form]:
        """That tiles have values of the dimensions that no position tells."""
        found: list[Form] = []
        for name, axis in self.all_axes.by_name.items():
            if name in self.users or axis.is_range:
                continue
            if axis.lower is not None:
                last = (axis.begin + axis.count).plus_constant(-1)
                found.append(operations.nonnegative(last - axis.lower))
            if axis.upper is not None and not axis.ends_with_tensor:
                found.append(operations.nonnegative(axis.upper - axis.begin))
        return found


def _position(number: int) -> Form:
    return forms.variable(f"i{number}")
