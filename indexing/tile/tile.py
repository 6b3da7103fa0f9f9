"""Symbolic tiles: the elements of one tensor that belong to a tile of another.

A tile of the dimensions has the values ``t * T + k`` with ``0 <= k < T`` of each, where ``t`` is
the id of the tile and ``T`` its size. The elements that a map touches from there are, for each
result, ``offset + stride * i`` at the positions ``i`` that meet the mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import simplifier
from indexing.domain import Constraint, Domain, conditions_of, substituted_constraints
from indexing.errors import TileError
from indexing.exact.index_set import IndexSet
from indexing.exact.inverse import inverse
from indexing.exact.questions import ExactRelation
from indexing.formats.text import format_map
from indexing.relation import Relation
from indexing.simplify.constraints import scope_with_facts
from indexing.tile.constraints import (
    Assumptions,
    Axes,
    Sizes,
    TileAxis,
    TileConstraints,
    bounds_of_ids,
    read_axes,
    renamed,
)
from indexing.tile.digits import Progression, Refusal, ResultTiles, between, box, digits_of, stepped
from indexing.transform.evaluate import checked_value
from indexing.validation import Boolean
from indexing.variable import Variable, is_symbolic
from simplifier import forms
from simplifier.errors import check_type, listed
from simplifier.exact import NotQuasiAffineError
from simplifier.forms import AtomKind, Form, Interval, Scope
from simplifier.tools.display import Displayed, html_of_table
from simplifier.tools.late import sympy

Row: TypeAlias = "tuple[Form, Form, Form]"
"""The offset, the size and the stride of one result."""


class Formulas(NamedTuple):
    """The tiles of all results, and the condition on the positions that are touched."""

    results: tuple[Row, ...]
    condition: Form

    def substituted(self, values: Mapping[str, Form]) -> Formulas:
        """The formulas with values for some symbols."""
        rows = tuple(forms.substitute(row, values) for row in self.results)
        (condition,) = forms.substitute((self.condition,), values)
        return Formulas(tuple((row[0], row[1], row[2]) for row in rows), condition)

    def simplified(self, known: Assumptions) -> Formulas:
        """The formulas in their smallest form."""
        scope = known.scope()
        simplified = partial(forms.simplified, scope)
        rows = tuple(
            (simplified(offset), simplified(size), _simplified_choice(scope, stride))
            for offset, size, stride in self.results
        )
        positions = {
            f"i{number}": Interval(0, forms.range_of(scope, size - 1).upper)
            for number, (_, size, _) in enumerate(rows)
        }
        inner = known.bounded(positions).scope()
        atom = self.condition.only_atom
        parts = atom.arguments if atom and atom.kind is AtomKind.AND else (self.condition,)
        kept = [part if _is_long(part) else forms.simplified(inner, part) for part in parts]
        return Formulas(rows, forms.conjunction(kept))


_MAX_OPERATIONS: Final = 40
"""A condition of more operations stays as it was built: simplifying it takes up to a second."""


def _is_long(condition: Form) -> bool:
    return len(forms.postorder((condition,))) > _MAX_OPERATIONS


def _simplified_choice(scope: Scope, form: Form) -> Form:
    """Nested choices with each condition simplified by itself: there may be one for each digit."""
    choices: list[tuple[Form, Form]] = []
    while (atom := form.only_atom) is not None and atom.kind is AtomKind.SELECT:
        condition, chosen, form = atom.arguments
        choices.append((forms.simplified(scope, condition), chosen))
    form = forms.simplified(scope, form)
    for condition, chosen in reversed(choices):
        form = forms.select(condition, chosen, form)
    return form


@dataclass(frozen=True, slots=True, repr=False)
class Tile(Displayed):
    """The elements that a map touches from one tile of its dimensions, as formulas.

    Result ``r`` is ``offsets[r] + strides[r] * i_r`` for the positions ``0 <= i_r < sizes[r]`` that
    meet the mask. Formulas are over the tile ids ``t0, t1, ...``, the symbols of the sizes, runtime
    variables and parameters. They hold for all sizes that meet the constraints.

    >>> from indexing import parse_map
    >>> from simplifier import symbol
    >>> rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
    >>> print(rows.tile([symbol("T")]))
    offsets: (T * t0) floordiv 6, (T * t0) mod 6
    sizes: (T + 5) floordiv 6, min(T, 6)
    strides: 1, 1
    mask: (T * t0 + i0 * 6 + i1 < 48)
    constraints: 6 mod T in [0, 0] || T mod 6 in [0, 0]
    """

    domain: Domain
    """That of the map."""
    counts: tuple[Form, ...]
    """The size of the tile along each dimension."""
    tiles: tuple[Form | None, ...]
    """How many tiles there are along each dimension; ``None`` if there is no end."""
    known: Assumptions
    formulas: Formulas
    constraints: TileConstraints
    """When the formulas hold."""
    image: ExactRelation | None = None
    """The map from a tile with the ids ``t0, t1, ...``, where no mask tells elements of the box."""

    @property
    def offsets(self) -> tuple[sympy.Expr, ...]:
        """The index of each result at position 0."""
        return tuple(forms.to_sympy(self._named(offset)) for offset, _, _ in self.formulas.results)

    @property
    def sizes(self) -> tuple[sympy.Expr, ...]:
        """The positions of each result, the same for all tiles."""
        return tuple(forms.to_sympy(self._named(size)) for _, size, _ in self.formulas.results)

    @property
    def strides(self) -> tuple[sympy.Expr, ...]:
        """Growth of the index from one position to the next."""
        return tuple(forms.to_sympy(self._named(stride)) for _, _, stride in self.formulas.results)

    @property
    def mask(self) -> Boolean | None:
        """The condition on the positions ``i0, i1, ...`` that are touched; ``None`` if all are.

        Raises:
            TileError: no condition tells them; :meth:`elements` does.
        """
        if self.image is not None:
            raise TileError("mask: no condition tells the elements of the box; see elements(ids)")
        condition = self.formulas.condition
        return None if condition == forms.ONE else forms.to_condition(self._named(condition))

    @property
    def grid(self) -> tuple[sympy.Expr | None, ...]:
        """Number of tiles along each dimension; ``None`` for one without end."""
        return tuple(count and forms.to_sympy(self._named(count)) for count in self.tiles)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in the sizes, sorted."""
        return tuple(sorted(set(forms.variables_of(self.counts)), key=forms.natural_order))

    def substitute(self, sizes: Mapping[str, int]) -> Tile:
        """The tile with numbers for all symbols of the sizes.

        Raises:
            TileError: a symbol has no number, or the sizes do not meet the constraints; the message
                says which.

        >>> from indexing import parse_map
        >>> from simplifier import symbol
        >>> rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
        >>> tile = rows.tile([symbol("T")])
        >>> print(tile.substitute({"T": 12}))
        offsets: t0 * 2, 0
        sizes: 2, 6
        strides: 1, 1
        >>> tile.substitute({"T": 8})
        Traceback (most recent call last):
        indexing.errors.TileError: tile: 6 mod T is 6, and T mod 6 is 2; expected 6 mod T in [0, 0]
        || T mod 6 in [0, 0]
        """
        missing = [name for name in self.symbols if name not in sizes]
        if missing:
            raise TileError(f"substitute: there is no size {listed(missing)}; expected one")
        numbers = {name: checked_value(sizes[name], f"substitute: {name}") for name in self.symbols}
        reason = self.constraints.reason(numbers)
        if reason is not None:
            raise TileError(f"tile: {reason}")
        values = {name: forms.constant(value) for name, value in numbers.items()}
        tiles = tuple(each and forms.substitute((each,), values)[0] for each in self.tiles)
        known = self.known.substituted(values).bounded(bounds_of_ids(tiles))
        return replace(
            self,
            counts=forms.substitute(self.counts, values),
            tiles=tiles,
            known=known,
            formulas=self.formulas.substituted(values).simplified(known),
            constraints=TileConstraints(),
        )

    def elements(self, ids: Sequence[int], runtime: Sequence[int] = ()) -> IndexSet:
        """The elements that the map touches from the tile with these ids.

        Raises:
            TileError: the sizes are symbols, or there is no such tile.

        >>> from indexing import parse_map
        >>> halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
        >>> print(halves.tile([4]).elements([2]))
        (d0): d0 in [4, 4]
        """
        self._check_ids(ids)
        names = [f"t{number}" for number in range(len(ids))]
        values = dict(zip(names, map(forms.constant, ids), strict=True))
        runs = self.domain.runtime
        if len(runtime) != len(runs):
            raise TileError(f"elements: {len(runtime)} runtime values; expected {len(runs)}")
        values |= {f"rt{number}": forms.constant(value) for number, value in enumerate(runtime)}
        if self.image is not None:
            fixed = enumerate((*runtime, *ids))
            limits = [(forms.variable(f"rt{place}"), Interval.of(value)) for place, value in fixed]
            domain = self.image.domain.constrained(limits)
            return ExactRelation.from_forms(self.image.forms, domain).image()
        rows = range(len(self.formulas.results))
        values |= {f"i{number}": forms.variable(f"s{number}") for number in rows}
        positions = [
            forms.product((stride, forms.variable(f"i{number}"))) + offset
            for number, (offset, _, stride) in enumerate(self.formulas.results)
        ]
        *results, condition = forms.substitute((*positions, self.formulas.condition), values)
        ranges = [Variable(Interval(0, size.constant - 1)) for _, size, _ in self.formulas.results]
        domain = Domain.of((), ranges).constrained(forms.facts_of(condition))
        return ExactRelation.from_forms(results, domain).image()

    def _check_ids(self, ids: Sequence[int]) -> None:
        check_type(ids, Sized, "elements: ids", "one integer for each dimension")
        names = (*self.symbols, *(each.name for each in self.domain.parameters))
        if names:
            message = f"elements: the sizes have the symbols {listed(names)}; expected numbers"
            raise TileError(message)
        if len(ids) != len(self.tiles):
            expected = f"expected {len(self.tiles)}, one for each dimension"
            raise TileError(f"elements: {len(ids)} ids are given; {expected}")
        for number, (id_, count) in enumerate(zip(ids, self.tiles, strict=True)):
            if id_ < 0 or (count is not None and id_ >= count.constant):
                last = "0 or more" if count is None else f"0 to {count.constant - 1}"
                raise TileError(f"elements: ids[{number}] is {id_}; expected {last}")

    def _named(self, form: Form) -> Form:
        """The form with the names of parameters and runtime variables."""
        renamed = {
            known: forms.variable(name)
            for known, name in zip(self.domain.identifiers, self.domain.names, strict=True)
            if known[0] in "r~"
        }
        return forms.substitute((form,), renamed)[0]

    def __str__(self) -> str:
        columns = zip(*self._texts(), strict=True) if self.formulas.results else ((), (), ())
        lines = [
            f"{title}: {', '.join(column)}".rstrip()
            for title, column in zip(("offsets", "sizes", "strides"), columns, strict=True)
        ]
        return "\n".join([*lines, *self._conditions()])

    def _repr_html_(self) -> str:
        rows = [(str(number), *texts) for number, texts in enumerate(self._texts())]
        heading = ("result", "offset", "size", "stride")
        return html_of_table(heading, rows, below=self._conditions())

    def _texts(self) -> list[tuple[str, ...]]:
        """Offset, size and stride of each result."""
        return [
            tuple(forms.format_form(self._named(form)) for form in each)
            for each in self.formulas.results
        ]

    def _conditions(self) -> Iterator[str]:
        """The mask and the constraints, where there are some."""
        if self.image is not None:
            yield f"elements: those of {format_map(self.image)}"
        if self.formulas.condition != forms.ONE:
            yield f"mask: {forms.format_form(self._named(self.formulas.condition))}"
        if not self.constraints.is_always_satisfied:
            yield f"constraints: {self.constraints}"


# How the tile of a map is found: which results are alone, and which are digits of one variable.
#
# Whatever is in the way of a box of elements, its variables have one value in a tile. Or the box
# has other elements, too: those of the tile are known by the inverse of the map, or are its
# image.

_NATURAL: Final = Interval(0, None)


def tile_of(
    relation: Relation, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint] = ()
) -> Tile:
    """The tile of a simplified relation; ``dims`` have the bounds that tiles are counted from.

    Raises:
        TileError: there is none with these sizes, with the reason.
    """
    relation = _in_digits(relation)
    check_type(sizes, Sized, "tile: sizes", "a sequence of integers or expressions")
    facts = tuple(facts)
    axes = read_axes(relation.domain, dims, sizes, facts)
    single = {name for name, axis in axes.by_name.items() if axis.count == forms.ONE}
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
    relation = _in_digits(relation)
    try:
        return tile_of(relation, dims, sizes, facts)
    except TileError as error:
        refusal = error
    axes = read_axes(relation.domain, dims, sizes, facts)
    attempt = _Attempt(relation, axes, frozenset())
    boxes = {n: box(form, attempt.axes, attempt.points) for n, form in enumerate(relation.forms)}
    try:
        return _simplest(relation, axes, ResultTiles(boxes, attempt.met(boxes, attempt.axes)))
    except (TileError, NotQuasiAffineError):
        if not all(each.size.is_constant for each in axes.sizes):
            raise refusal from None
    return replace(_simplest(relation, axes, ResultTiles(boxes)), image=attempt.image())


def _in_digits(relation: Relation) -> Relation:
    """The relation with results whose digits and linear indices can be read off."""
    scope = scope_with_facts(relation.domain)
    results = [forms.in_digits(scope, form) for form in relation.forms]
    return relation.derived(results, relation.domain)


def _simplest(relation: Relation, axes: Axes, found: ResultTiles) -> Tile:
    """The tile with simplified formulas and constraints."""
    results = (found.results[number] for number in range(len(relation.forms)))
    rows = tuple((each.offset, each.size, each.stride) for each in results)
    formulas = Formulas(rows, forms.conjunction(found.conditions)).simplified(axes.known)
    free = tuple(each for each in axes.sizes if not each.size.is_constant)
    constraints = TileConstraints.of(found.clauses).simplified(axes.known.scope())
    constraints = replace(constraints, sizes=free)
    counts = tuple(each.size for each in axes.sizes)
    return Tile(relation.domain, counts, axes.grid, axes.known, formulas, constraints)


def _unmet(
    relation: Relation, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint]
) -> str:
    """The conditions that numbers do not meet, with the names of dimensions for them."""
    keyed = {f"#{place}": size for place, size in enumerate(sizes)}
    names = dict(zip(keyed, relation.domain.names, strict=False))
    given = {names[key]: int(size) for key, size in keyed.items() if not is_symbolic(size)}
    if not given:
        return "no size meets the constraints"
    named = [size if is_symbolic(size) else simplifier.symbol(key) for key, size in keyed.items()]
    shown = renamed(tile_of(relation, dims, named, facts).constraints, names)
    known = listed([f"{name} is {number}" for name, number in given.items()])
    reason = shown.reason(given) if len(given) == len(sizes) else None
    return reason or f"no size meets {shown}, where {known}"


class _Attempt:
    """The tile if some variables have one value: their axes are one value each."""

    def __init__(self, relation: Relation, axes: Axes, single: frozenset[str]) -> None:
        self.domain = relation.domain
        self.all_axes = axes
        self.single = single
        fixed = {name: axes.by_name[name].begin for name in single}
        self.axes = {name: axis for name, axis in axes.by_name.items() if name not in single}
        self.constraints = substituted_constraints(axes.constraints, fixed)
        found = forms.substitute(relation.forms, fixed)
        self.forms = (
            tuple(forms.simplified(self.points, form) for form in found) if fixed else found
        )
        self.users = Counter(name for form in self.forms for name in self.used(form))

    def used(self, *parts: Form) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of(parts) if name in self.axes)

    @cached_property
    def points(self) -> Scope:
        """The points of the map as a scope."""
        bounds = {name: self.domain.bounds[name] for name in self.axes}
        known = self.all_axes.known
        return known.bounded(bounds)._replace(facts=(*known.facts, *self.constraints)).scope()

    def parts(self) -> ResultTiles | Refusal:
        """The tile of each result, the mask and the constraints; or the reason against them."""
        of_results, others = self._matched()
        alone = ((n, self._alone(n, form, others)) for n, form in enumerate(self.forms))
        found = {number: each for number, each in alone if each is not None}
        left = {each: form for each, form in enumerate(self.forms) if each not in found}
        digits = digits_of(left, self.axes, self.points, self.all_axes.known.scope())
        if isinstance(digits, Refusal):
            return digits
        results, values, conditions = digits.told()
        found |= results
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
            conditions += conditions_of(forms.substitute((form,), values)[0], interval)
        conditions += self._nonempty()
        clauses = [each.clause for each in (*found.values(), *digits.radices.values())]
        axes = (self.all_axes.by_name[name] for name in self.single)
        clauses += [((axis.limited(Interval.of(1)),),) for axis in axes if not axis.is_range]
        return ResultTiles(found, conditions, tuple(clauses))

    def _matched(self) -> tuple[list[tuple[int, Form, Interval]], list[Constraint]]:
        """The constraints on results, with the terms to add to these; and the others."""
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
        if any(self.users[name] > 1 for name in names):
            return None
        found = between(form, self.axes, self.points, _position(number))
        limiting = [limit for limit in others if names & self.used(limit[0])]
        if found is None or not limiting or found.values:
            return found
        if len(names) > 1 or not {*limiting} <= {*self._constraints_among(names)}:
            return None
        with suppress(TileError, NotQuasiAffineError):
            found = replace(found, conditions=self.met({number: found}, names))
            others[:] = [limit for limit in others if limit not in limiting]
            return found
        return None

    def met(self, boxes: Mapping[int, Progression], among: Collection[str]) -> list[Form]:
        """Conditions under which elements have a point in the tile with these variables alone.

        Raises:
            TileError: there is no such condition.
        """
        names = [name for name in self.axes if name in among]
        fixed = {number: stepped(self.forms[number], self.axes)[0] for number in boxes}
        found = self._inverse(names, [self.forms[n] - form for n, form in fixed.items()])
        here = (each.element(_position(n)) - fixed[n] for n, each in boxes.items())
        elements = {f"d{place}": element for place, element in enumerate(here)}
        elements |= {f"s{n}": forms.variable(f"#s{n}") for n in range(len(found.ranges))}
        bounds = ((forms.variable(name), each) for name, each in found.domain.bounds.items())
        limits = substituted_constraints((*found.domain.constraints, *bounds), elements)
        values = forms.substitute(found.forms, elements)
        for name, value in zip(names, values, strict=True):
            limits += self._within(value, self.axes[name])
        for number in range(len(found.ranges)):
            limits = _without(f"#s{number}", limits)
        return [condition for limit in limits for condition in conditions_of(*limit)]

    def _inverse(self, names: Sequence[str], results: Iterable[Form]) -> Relation:
        """The map from results to these variables."""
        places = {name: forms.variable(f"d{place}") for place, name in enumerate(names)}
        dims = (Variable(self.domain.bounds[name]) for name in names)
        limits = substituted_constraints(self._constraints_among(names), places)
        domain = self.domain.over(dims, (), self.domain.runtime).constrained(limits)
        read = forms.substitute(results, places)
        if not domain.bounds.keys() >= {*forms.variables_of(read)}:
            raise TileError(f"tile: a size is inside {read}; expected variables")
        return inverse(Relation.from_forms(read, domain))

    def _constraints_among(self, names: Collection[str]) -> tuple[Constraint, ...]:
        """The constraints on these variables and on terms that are the same for all points."""
        inner = len(self.domain.dims) + len(self.domain.ranges)
        return self.domain.constraints_among({*names, *self.domain.identifiers[inner:]})

    def _within(self, value: Form, axis: TileAxis) -> list[Constraint]:
        """The condition that a value is in the tile."""
        atom, place = value.only_atom, value - axis.begin
        if atom is not None and atom.kind is AtomKind.MOD:
            end = forms.range_of(self.points, axis.begin + axis.count)
            if Interval(0, atom.divisor).contains(end):  # no tile goes round
                place = forms.mod(atom.numerator - axis.begin, atom.arguments[1])
        return [(place, _NATURAL), (axis.count - place, Interval(1, None))]

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

    def _nonempty(self) -> list[Form]:
        """The condition that tiles have values of the dimensions that no position determines."""
        found: list[Form] = []
        for name, axis in self.all_axes.by_name.items():
            if name in self.users or axis.is_range:
                continue
            if axis.lower is not None:
                last = (axis.begin + axis.count).plus_constant(-1)
                found.append(forms.nonnegative(last - axis.lower))
            if axis.upper is not None and not axis.ends_with_tensor:
                found.append(forms.nonnegative(axis.upper - axis.begin))
        return found


def _without(name: str, limits: Iterable[Constraint]) -> list[Constraint]:
    """Conditions for an integer within limits: each lower one is at most each upper one.

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
                least.append(rest // factor)
            elif end is not None:
                greatest.append((rest, -factor))
    room = (most + low.times(factor) for low, (most, factor) in product(least, greatest))
    return [*others, *((each, _NATURAL) for each in room)]


def _position(number: int) -> Form:
    return forms.variable(f"i{number}")
