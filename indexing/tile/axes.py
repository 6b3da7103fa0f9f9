"""The axes of a tile: for each variable of a map, which of its values a tile has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

import sympy

from indexing.domain import Constraint, Domain, Ends, ends_and_constraints, substituted_constraints
from indexing.errors import TileError
from indexing.tile.constraints import TileSize
from indexing.variable import Variable, is_symbolic, parameter_identifier
from simplifier import forms
from simplifier.errors import quoted
from simplifier.forms import Form, Interval, Scope, from_sympy, range_of, scope_of, simplified

Sizes: TypeAlias = "Sequence[sympy.Expr | int]"

_RESERVED: Final = re.compile(r"(t|i|rt)[0-9]+")
"""Names of tile ids, of positions in the tile, and of runtime variables."""


@dataclass(frozen=True, slots=True)
class TileAxis:
    """The values ``begin + k`` of one variable with ``0 <= k < count``, cut off at its bounds.

    A dimension has as many as its tile size says, counted from the beginning of the tensor; a range
    has all its values.
    """

    name: str
    begin: Form
    count: Form
    origin: int
    """The origin of the values: the begin of the first tile."""
    extent: int | None
    """How many values there are from the origin on."""
    lower: Form | None = None
    """The least value, if a tile may begin before it."""
    upper: Form | None = None
    """The greatest value, if a tile may end behind it."""

    @property
    def is_range(self) -> bool:
        """Whether all values are in every tile."""
        return self.name.startswith("s")

    @property
    def whole(self) -> int | None:
        """Number of values of every tile, if each has all values, and it is known."""
        if not self.count.is_constant or not (self.is_range or self.count.constant == self.extent):
            return None
        if self.is_range:
            return self.count.constant
        lower = self.lower or forms.constant(self.origin)
        upper = self.upper or forms.constant(self.origin + self.count.constant - 1)
        values = (upper - lower).plus_constant(1)
        return values.constant if values.is_constant else None

    @property
    def has_one_value(self) -> bool:
        """Whether a tile has one value, whatever its size."""
        return self.count == forms.ONE

    @property
    def ends_with_tensor(self) -> bool:
        """Whether the greatest value is that of the tensor, so that each tile begins before it."""
        if self.extent is None or self.upper is None:
            return True
        return self.upper == forms.constant(self.origin + self.extent - 1)

    def limited(self, interval: Interval) -> Constraint:
        """The condition that the size lies in an interval."""
        return self.count, interval.intersect(Interval(1, self.extent))


class Assumptions(NamedTuple):
    """Bounds of the symbols of sizes, tile ids, runtime variables and parameters; and facts."""

    bounds: tuple[tuple[str, Interval], ...]
    facts: tuple[Constraint, ...]

    def scope(self) -> Scope:
        """The assumptions as a scope of the simplifier."""
        return scope_of(self.bounds, self.facts)

    def bounded(self, more: Mapping[str, Interval]) -> Assumptions:
        """The assumptions with bounds of more symbols, or with others."""
        return self._replace(bounds=tuple(sorted({**dict(self.bounds), **more}.items())))

    def substituted(self, values: Mapping[str, Form]) -> Assumptions:
        """The assumptions with values for some symbols."""
        left = tuple((name, bounds) for name, bounds in self.bounds if name not in values)
        return Assumptions(left, tuple(substituted_constraints(self.facts, values)))


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a map, its other constraints, and assumptions about sizes and tile ids."""

    by_name: dict[str, TileAxis]
    constraints: tuple[Constraint, ...]
    known: Assumptions
    grid: tuple[Form | None, ...]
    """How many tiles there are along each dimension; ``None`` if there is no end."""
    sizes: tuple[TileSize, ...]
    """Of all dimensions."""


def read_axes(
    domain: Domain, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint]
) -> Axes:
    """The axes of a tile with these sizes; tiles are counted in the bounds of ``dims``.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
    """
    if len(sizes) != len(domain.dims):
        expected = f"expected {len(domain.dims)}, one for each dimension"
        raise TileError(f"tile: {len(sizes)} sizes are given; {expected}")
    ends, rest = ends_and_constraints(domain)
    parameters = {
        each.name: forms.variable(parameter_identifier(each.name)) for each in domain.parameters
    }
    bounds = {name: domain.bounds[name] for name in domain.identifiers if name[0] not in "ds"}
    known = list(facts)
    axes: dict[str, TileAxis] = {}
    grid: list[Form | None] = []
    fitting: list[TileSize] = []
    for number, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
        name = f"d{number}"
        lower, upper = dim.bounds.lower, dim.bounds.upper
        if lower is None:
            expected = "expected one to count tiles from"
            raise TileError(f"tile: {domain.names[number]} has no lower bound; {expected}")
        origin = min(lower, 0)
        extent = None if upper is None else upper + 1 - origin
        count = _read_size(size, f"sizes[{number}]", domain.names[number], extent, parameters)
        fitting.append(TileSize(count, extent, domain.names[number]))
        _bound_size(count, extent, bounds, known)
        end = ends[name].upper if upper is None else forms.constant(upper)
        tiles = None if end is None else forms.ceildiv(end.plus_constant(1 - origin), count)
        grid.append(tiles)
        begin = forms.product((forms.variable(f"t{number}"), count)).plus_constant(origin)
        axes[name] = TileAxis(
            name, begin, count, origin, extent, ends[name].lower, ends[name].upper
        )
    for number, variable in enumerate(domain.ranges):
        name = f"s{number}"
        axes[name] = _range_axis(name, domain, variable.bounds, ends[name])
    bounds |= bounds_of_ids(grid)
    assumptions = Assumptions(tuple(sorted(bounds.items())), tuple(known))
    scope = assumptions.scope()
    needed = {name: _with_needed_ends(axis, scope) for name, axis in axes.items()}
    return Axes(needed, rest.constraints, assumptions, tuple(grid), tuple(fitting))


def bounds_of_ids(grid: Sequence[Form | None]) -> dict[str, Interval]:
    """The values of tile ids, for the number of tiles along each dimension."""
    return {
        f"t{number}": Interval(0, tiles.constant - 1 if tiles and tiles.is_constant else None)
        for number, tiles in enumerate(grid)
    }


def _bound_size(
    count: Form, extent: int | None, bounds: dict[str, Interval], known: list[Constraint]
) -> None:
    """Add that symbols are at least 1, and that the size fits into its dimension."""
    for used in forms.variables_of((count,)):
        bounds.setdefault(used, Interval(1, None))
    own = count.single_variable()
    if own is not None:
        bounds[own] = bounds[own].intersect(Interval(1, extent))
    elif not count.is_constant:
        known.append((count, Interval(1, extent)))


def _read_size(
    size: sympy.Expr | int,
    where: str,
    name: str,
    extent: int | None,
    parameters: dict[str, Form],
) -> Form:
    """A size as a form; a number must fit into the dimension."""
    if not is_symbolic(size):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TileError(
                f"tile: {where} is {quoted(size)}; expected an integer or an expression"
            )
        number = int(size)
        count = forms.constant(number)
        if (refusal := TileSize(count, extent, name).refusal(where, number)) is not None:
            raise TileError(f"tile: {refusal}")
        return count
    form = from_sympy(size)
    for used in forms.variables_of((form,)):
        if _RESERVED.fullmatch(used):
            message = f"tile: {where} uses the name {quoted(used)}"
            raise TileError(f"{message}; expected another: t0, i0 and rt0 mean something in a tile")
    return forms.substitute((form,), parameters)[0]


def _range_axis(name: str, domain: Domain, bounds: Interval, ends: Ends) -> TileAxis:
    """All values of a range."""
    if ends.lower is None or ends.upper is None:
        called = domain.names[domain.identifiers.index(name)]
        raise TileError(f"tile: {called} is not bounded; expected bounded ranges")
    count = (ends.upper - ends.lower).plus_constant(1)
    return TileAxis(name, ends.lower, count, bounds.lower or 0, bounds.size)


def _with_needed_ends(axis: TileAxis, scope: Scope) -> TileAxis:
    """The axis without the ends that no tile passes: the size divides that of the dimension."""
    lower, upper = axis.lower, axis.upper
    if lower is not None and lower.is_constant and lower.constant <= axis.origin:
        lower = None
    if upper is not None and axis.ends_with_tensor and not axis.is_range:
        rest = forms.mod(upper.plus_constant(1 - axis.origin), axis.count)
        if range_of(scope, simplified(scope, rest)) == Interval(0, 0):
            upper = None
    return replace(axis, lower=lower, upper=upper)
