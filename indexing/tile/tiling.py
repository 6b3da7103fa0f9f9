"""How the tile of a map is found: which results are alone, and which are digits of one variable.

Whatever is in the way of a box of elements, its variables have one value in a tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.domain import substituted_constraints
from indexing.errors import TileError
from indexing.tile.axes import read_axes
from indexing.tile.monotone import monotone
from indexing.tile.progressions import (
    Progression,
    of_digits,
    of_every_nth,
    of_monotone,
    within_ends,
)
from indexing.tile.radices import digit_of, radices_of
from indexing.tile.tile import Formulas, Tile
from indexing.tile.tile_constraints import TileConstraints, conditions_of
from indexing.variable import is_symbolic
from simplifier import Interval
from simplifier.errors import check_type, listed
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.functions import symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import sympy

    from indexing.domain import Constraint
    from indexing.relation import Relation
    from indexing.tile.axes import Axes
    from indexing.tile.radices import Radices, TileDigit
    from indexing.variable import Variable
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
    while isinstance(found := _Attempt(relation, axes, frozenset(single)).parts(), _Refusal):
        ranges = [name for name in found.names if axes.by_name[name].is_range]
        if ranges or found.names <= single:
            raise TileError(f"tile: {found.reason}; expected digits, or sums that reach all values")
        single |= found.names
    given = TileConstraints.of(found.clauses)
    constraints = given.simplified(axes.known.scope())
    if constraints.is_unsatisfiable:
        raise _no_tile(relation, dims, sizes, facts)
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


def _no_tile(
    relation: Relation,
    dims: Sequence[Variable],
    sizes: Sequence[sympy.Expr | int],
    facts: tuple[Constraint, ...],
) -> TileError:
    """Why no tile has these sizes: what they would have to meet."""
    numbers = {f"size{place}": size for place, size in enumerate(sizes) if not is_symbolic(size)}
    if not numbers:
        return TileError("tile: no size meets the constraints")
    named = [
        symbol(f"size{place}") if f"size{place}" in numbers else size
        for place, size in enumerate(sizes)
    ]
    constraints = tile_of(relation, dims, named, facts).constraints
    if len(numbers) < len(sizes):
        return TileError(f"tile: no size meets {constraints}")
    return TileError(f"tile: {constraints.reason(numbers)}")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Variables of which a tile must have one value, and why."""

    names: frozenset[str]
    reason: str


@dataclass(frozen=True, slots=True)
class _Unsimplified:
    """A tile before it is simplified."""

    results: tuple[Progression, ...]
    conditions: tuple[Form, ...]
    clauses: tuple[tuple[tuple[Constraint, ...], ...], ...]


class _Attempt:
    """The tile if some variables have one value: their axes are one value each."""

    def __init__(self, relation: Relation, axes: Axes, single: frozenset[str]) -> None:
        self.all_axes = axes
        self.single = single
        fixed = {name: axes.by_name[name].begin for name in single}
        self.axes = {name: axis for name, axis in axes.by_name.items() if name not in single}
        self.forms = operations.substitute(relation.forms, fixed)
        self.constraints = substituted_constraints(axes.constraints, fixed)
        self.users = Counter(name for form in self.forms for name in self.used(form))

    def used(self, form: Form) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of((form,)) if name in self.axes)

    def parts(self) -> _Unsimplified | _Refusal:
        """The tile of each result, the mask, and the constraints; or what is in the way."""
        of_results, others = self._matched()
        found: dict[int, Progression] = {}
        for number, form in enumerate(self.forms):
            progression = self._alone(number, form, others)
            if progression is not None:
                found[number] = progression
        radices = self._by_digits(found)
        if isinstance(radices, _Refusal):
            return radices
        places = {digit: at for each in found.values() for digit, at in each.places.items()}
        conditions = [condition for each in found.values() for condition in each.conditions]
        values = {name: at for each in found.values() for name, at in each.values.items()}
        for name, each in radices.items():
            value = each.axis.begin + forms.weighted_sum(
                (digit.weight, places[digit]) for digit in each.digits
            )
            conditions += _within(value, each)
            if each.is_complete:
                values[name] = value
        for number, form, interval in of_results:
            element = found[number].element(_position(number))
            conditions += conditions_of(element + form, interval)
        for form, interval in others:
            unknown = self.used(form) - values.keys()
            if unknown:
                return _Refusal(unknown, f"{form} is limited, and no result tells it")
            conditions += conditions_of(operations.substitute((form,), values)[0], interval)
        conditions += self._nonempty()
        results = tuple(found[number] for number in range(len(self.forms)))
        clauses = [each.clause for each in (*results, *radices.values())]
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

    def _by_digits(self, found: dict[int, Progression]) -> dict[str, Radices] | _Refusal:
        """The digits of all results that are not found yet, whose tiles are added."""
        sums: dict[int, list[tuple[int, TileDigit]]] = {}
        for number, form in enumerate(self.forms):
            if number in found:
                continue
            sums[number] = []
            for atom, factor in form.terms.items():
                names = self.used(forms.Form(0, {atom: 1}))
                digit = digit_of(atom)
                if names and digit is None:
                    return _Refusal(names, f"{forms.Form(0, {atom: 1})} is no digit of a variable")
                if names and digit is not None:
                    sums[number].append((factor, digit))
        counted = Counter(digit for terms in sums.values() for _, digit in terms)
        radices: dict[str, Radices] = {}
        for name in dict.fromkeys(digit.variable for digit in counted):
            digits = [digit for digit in counted if digit.variable == name]
            each = None
            if all(counted[digit] == 1 for digit in digits):
                each = radices_of(self.axes[name], digits)
            if each is None or not self._can_be_cut(each):
                texts = listed(sorted(str(form) for form in self.forms if name in self.used(form)))
                return _Refusal(frozenset([name]), f"{texts} depend on each other")
            radices[name] = each
        for number, terms in sums.items():
            found[number] = of_digits(self.forms[number], terms, radices, _position(number))
        return radices

    def _can_be_cut(self, radices: Radices) -> bool:
        """Whether some size has a box of digits, and the digits tell where the axis begins."""
        clause = TileConstraints.of([radices.clause]).simplified(self.all_axes.known.scope())
        if clause.is_unsatisfiable and radices.axis.is_range:
            return False
        return radices.is_complete or radices.axis.lower is None or radices.axis.is_range

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


def _within(value: Form, radices: Radices) -> list[Form]:
    """The conditions that a value is within the ends of its axis, which digits may pass."""
    axis = radices.axis
    if radices.is_cut and axis.upper is None and axis.extent is not None:
        axis = replace(axis, upper=forms.constant(axis.origin + axis.extent - 1))
    return within_ends(value, axis)
