"""How the tile of a map is found: which results are alone, and which are digits of one variable.

Whatever is in the way of a box of elements, its variables have one value in a tile. Or the box has
other elements, too: those of the tile are known by the inverse of the map, or are its image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Final

from indexing.domain import substituted_constraints
from indexing.errors import TileError
from indexing.exact.exact_relation import ExactRelation
from indexing.exact.inversion import inverse
from indexing.relation import Relation
from indexing.tile.axes import read_axes
from indexing.tile.digit_systems import Refusal, digits_of
from indexing.tile.monotone import monotone, stepped
from indexing.tile.progressions import Progression, ResultTiles, box, of_monotone
from indexing.tile.tile import Formulas, Tile
from indexing.tile.tile_constraints import TileConstraints, conditions_of, renamed
from indexing.variable import Variable, is_symbolic
from simplifier import Interval
from simplifier.errors import check_type, listed
from simplifier.exact import NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.expr.functions import symbol
from simplifier.fixpoint import range_of, simplified

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.tile.axes import Axes, Sizes, TileAxis
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


_NATURAL: Final = Interval(0, None)


def tile_of(
    relation: Relation, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint] = ()
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
    tile = _simplest(relation, axes, found)
    if tile.constraints.is_unsatisfiable:
        raise TileError(f"tile: {_unmet(relation, dims, sizes, facts)}")
    return tile


def masked_tile_of(
    relation: Relation, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint]
) -> Tile:
    """The same, or else a tile whose box may have other elements: there is one of numbers.

    Raises:
        TileError: there is none with these sizes, with the reason.
    """
    try:
        return tile_of(relation, dims, sizes, facts)
    except TileError as error:
        refusal = error
    axes = read_axes(relation.domain, dims, sizes, facts)
    attempt = _Masked(relation, axes, frozenset())
    try:
        return _simplest(relation, axes, attempt.parts())
    except TileError:
        if not all(each.size.is_constant for each in axes.sizes):
            raise refusal from None
    boxes = ResultTiles(attempt.boxes(range(len(relation.forms))))
    return replace(_simplest(relation, axes, boxes), image=attempt.image())


def _simplest(relation: Relation, axes: Axes, found: ResultTiles) -> Tile:
    """The tile with simplified formulas and constraints."""
    results = (found.results[number] for number in range(len(relation.forms)))
    rows = tuple((each.offset, each.size, each.stride) for each in results)
    formulas = Formulas(rows, operations.conjunction(found.conditions)).simplified(axes.known)
    free = tuple(each for each in axes.sizes if not each.size.is_constant)
    given = replace(TileConstraints.of(found.clauses), sizes=free)
    constraints = given.simplified(axes.known.scope())
    counts = tuple(each.size for each in axes.sizes)
    return Tile(relation.domain, counts, axes.grid, axes.known, formulas, constraints)


def _unmet(
    relation: Relation, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint]
) -> str:
    """What numbers do not meet, with the names of dimensions for them."""
    names = {f"#{place}": name for place, name in enumerate(relation.domain.names[: len(sizes)])}
    keyed = dict(zip(names, sizes, strict=True))
    numbers = {names[key]: int(size) for key, size in keyed.items() if not is_symbolic(size)}
    if not numbers:
        return "no size meets the constraints"
    named = [size if is_symbolic(size) else symbol(key) for key, size in keyed.items()]
    shown = renamed(tile_of(relation, dims, named, facts).constraints, names)
    if len(numbers) == len(sizes):
        return shown.reason(numbers) or f"no size meets {shown}"
    known = listed([f"{name} is {number}" for name, number in numbers.items()])
    return f"no size meets {shown}, where {known}"


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

    def used(self, *parts: Form) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of(parts) if name in self.axes)

    @cached_property
    def points(self) -> Scope:
        """What is known of the points of the map."""
        bounds = {name: self.domain.bounds[name] for name in self.axes}
        known = self.all_axes.known
        return known.bounded(bounds)._replace(facts=(*known.facts, *self.constraints)).scope()

    def parts(self) -> ResultTiles | Refusal:
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
        values, conditions = digits.told()
        found |= digits.progressions()
        for each in found.values():
            values |= each.values
            conditions += each.conditions
        for number, form, interval in of_results:
            element = found[number].element(_position(number))
            conditions += conditions_of(element + form, interval)
        for form, interval in others:
            unknown = self.used(form) - values.keys()
            if unknown:
                return Refusal(unknown, f"{form} is limited, and no result tells it")
            conditions += conditions_of(operations.substitute((form,), values)[0], interval)
        conditions += self._nonempty()
        clauses = [each.clause for each in (*found.values(), *digits.radices.values())]
        clauses += [
            ((axis.limited(Interval.of(1)),),)
            for name in self.single
            if not (axis := self.all_axes.by_name[name]).is_range
        ]
        return ResultTiles(found, conditions, tuple(clauses))

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
        names = self.used(form)
        if not names:
            return Progression(form, forms.ONE, forms.ZERO)
        rising = None if any(self.users[name] > 1 for name in names) else monotone(form, self.axes)
        if rising is None:
            return None
        found = of_monotone(form, rising, self.axes, self.points, _position(number))
        limiting = [limit for limit in others if names & self.used(limit[0])]
        if not limiting or found.values:
            return found
        if len(names) > 1 or not {*limiting} <= {*self._constraints_among(names)}:
            return None
        with suppress(TileError):
            found = replace(found, conditions=self.met({number: found}, names))
            others[:] = [limit for limit in others if limit not in limiting]
            return found
        return None

    def met(self, boxes: Mapping[int, Progression], among: Collection[str]) -> list[Form]:
        """When elements have a point in the tile, whose variables are these and no others.

        Raises:
            TileError: there is no such condition.
        """
        names = [name for name in self.axes if name in among]
        fixed = {number: stepped(self.forms[number], self.axes)[0] for number in boxes}
        found = self._inverse(names, [self.forms[n] - form for n, form in fixed.items()])
        here = (each.element(_position(n)) - fixed[n] for n, each in boxes.items())
        elements = {f"d{place}": element for place, element in enumerate(here)}
        free = {f"s{n}": f"#s{n}" for n in range(len(found.ranges))}
        elements |= {name: forms.variable(other) for name, other in free.items()}
        bounds = ((forms.variable(name), each) for name, each in found.domain.bounds.items())
        limits = substituted_constraints((*found.domain.constraints, *bounds), elements)
        values = operations.substitute(found.forms, elements)
        for name, value in zip(names, values, strict=True):
            limits += self._within(value, self.axes[name])
        for name in free.values():
            limits = _without(name, limits)
        return [condition for limit in limits for condition in conditions_of(*limit)]

    def _inverse(self, names: Sequence[str], results: Iterable[Form]) -> Relation:
        """The map from results to these variables."""
        places = {name: forms.variable(f"d{place}") for place, name in enumerate(names)}
        dims = (Variable(self.domain.bounds[name]) for name in names)
        limits = substituted_constraints(self._constraints_among(names), places)
        domain = self.domain.over(dims, (), self.domain.runtime).constrained(limits)
        read = operations.substitute(results, places)
        if not domain.bounds.keys() >= {*forms.variables_of(read)}:
            raise TileError(f"tile: a size is inside {read}; expected variables")
        try:
            return inverse(Relation.from_forms(read, domain))
        except NotQuasiAffineError as error:
            raise TileError(f"tile: {error}") from error

    def _constraints_among(self, names: Collection[str]) -> tuple[Constraint, ...]:
        """The constraints on these variables and on what is the same for all points."""
        inner = len(self.domain.dims) + len(self.domain.ranges)
        return self.domain.constraints_among({*names, *self.domain.identifiers[inner:]})

    def _within(self, value: Form, axis: TileAxis) -> list[Constraint]:
        """That a value is in the tile."""
        atom, place = value.only_atom, value - axis.begin
        if atom is not None and atom.kind is AtomKind.MOD:
            end = range_of(self.points, axis.begin + axis.count)
            if Interval(0, atom.divisor).contains(end):  # no tile goes round
                place = operations.mod(atom.numerator - axis.begin, atom.arguments[1])
        return [(place, _NATURAL), (axis.count - place, Interval(1, None))]

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


class _Masked(_Attempt):
    """The tile whose box may have other elements: the inverse says which have a point in it."""

    def parts(self) -> ResultTiles:
        """The boxes around results, and when elements have a point in the tile.

        Raises:
            TileError: there is no such condition.
        """
        limited = self.used(*(form for form, _ in self.constraints))
        found: dict[int, Progression] = {}
        for number, form in enumerate(self.forms):
            its_own = None if limited & self.used(form) else self._alone(number, form, [])
            if its_own is not None:
                found[number] = its_own
        boxes = self.boxes(number for number in range(len(self.forms)) if number not in found)
        alone = self.used(*(self.forms[number] for number in found))
        conditions = self.met(boxes, self.axes.keys() - alone)
        for each in found.values():
            conditions += each.conditions
        return ResultTiles(found | boxes, conditions)

    def boxes(self, numbers: Iterable[int]) -> dict[int, Progression]:
        """The boxes around results."""
        return {number: box(self.forms[number], self.axes, self.points) for number in numbers}

    def image(self) -> ExactRelation:
        """The map from the points of a tile, whose ids are the last runtime variables."""
        first, known = len(self.domain.runtime), dict(self.all_axes.known.bounds)
        ids = {f"t{n}": forms.variable(f"rt{first + n}") for n in range(len(self.domain.dims))}
        runtime = (*self.domain.runtime, *(Variable(known[name], name) for name in ids))
        domain = self.domain.over(self.domain.dims, self.domain.ranges, runtime)
        limits = [
            (forms.variable(name) - axis.begin, Interval(0, axis.count.constant - 1))
            for name, axis in self.axes.items()
            if not axis.is_range
        ]
        limits = [*self.domain.constraints, *substituted_constraints(limits, ids)]
        return ExactRelation.from_forms(self.forms, domain.constrained(limits))


def _without(name: str, limits: Iterable[Constraint]) -> list[Constraint]:
    """When there is an integer within limits: each lower one is at most each upper one.

    Raises:
        TileError: it is inside an operation.
    """
    atom = forms.variable_atom(name)
    least: list[Form] = []
    """It is at least minus these."""
    greatest: list[tuple[Form, int]] = []
    """Multiples of it are at most these."""
    others: list[Constraint] = []
    for form, interval in limits:
        if name in forms.variables_of((form.without(atom),)):
            raise TileError(f"tile: {form} is limited; expected sums")
        if atom not in form.terms:
            others.append((form, interval))
            continue
        for side, end in ((form, interval.lower), (-form, (-interval).lower)):
            factor, rest = side.terms[atom], side.without(atom).plus_constant(-(end or 0))
            if end is not None and factor > 0:
                least.append(operations.floordiv(rest, forms.constant(factor)))
            elif end is not None:
                greatest.append((rest, -factor))
    room = (most + low.times(factor) for low, (most, factor) in product(least, greatest))
    return [*others, *((each, _NATURAL) for each in room)]


def _position(number: int) -> Form:
    return forms.variable(f"i{number}")
