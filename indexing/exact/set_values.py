"""What sets are made of: sides of boxes, domains, points, and isl's sets with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import MapError
from indexing.exact.boxes import StridedInterval, strided
from indexing.exact.isl_sets import EVERYTHING, rank_of, united
from indexing.variable import interval_of
from simplifier.exact import Space
from simplifier.exact.isl import integer, load_isl
from simplifier.expr import form as forms
from simplifier.expr.form import AtomKind
from simplifier.expr.operations import substitute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.domain import Constraint, Domain
    from indexing.exact.boxes import Box
    from indexing.exact.set_reading import SetNames
    from simplifier.bounds.interval import IntervalLike


def side_of(side: IntervalLike | StridedInterval | range, where: str) -> StridedInterval:
    """The side of a box that a user gave.

    >>> print(side_of(range(9, 0, -4), "side"))
    [1, 9] step 4
    """
    if isinstance(side, StridedInterval):
        if side.step < 1 or (side.step > 1 and side.bounds == EVERYTHING):
            raise MapError(f"{where} is {side!r}; expected a positive step, counted from an end")
        return _in_class(side.lower, side.upper, side.step, side.anchor) or StridedInterval(0, -1)
    if isinstance(side, range):
        values = side if side.step > 0 else side[::-1]
        return strided(values[0], values[-1], values.step) if values else StridedInterval(0, -1)
    bounds = interval_of(side, where)
    return StridedInterval(bounds.lower, bounds.upper)


def box_of(piece: Domain) -> Box | None:
    """The box of a domain whose only constraints are remainders of coordinates, if it is one.

    >>> from indexing.formats.set_text import read_set_text
    >>> (piece,) = read_set_text("(i, j): i in [0, 9], j mod 3 in [2, 2], j in [0, 9]").pieces
    >>> print(*box_of(piece), sep=", ")
    [0, 9], [2, 8] step 3
    """
    classes: dict[str, tuple[int, int]] = {}
    for form, interval in piece.constraints:
        atom = form.only_atom
        if atom is None or atom.kind is not AtomKind.MOD or not atom.divisor:
            return None
        shift = atom.numerator.constant
        name = atom.numerator.plus_constant(-shift).single_variable()
        if name is None or name in classes or not interval.is_point:
            return None
        classes[name] = (atom.divisor, (interval.lower or 0) - shift)
    sides = [
        _in_class(bounds.lower, bounds.upper, *classes.get(name, (1, 0)))
        for name, bounds in piece.bounds.items()
    ]
    found = [side for side in sides if side is not None]
    return tuple(found) if len(found) == len(sides) else None


def _in_class(
    lower: int | None, upper: int | None, step: int, residue: int
) -> StridedInterval | None:
    """The integers of a residue class between two ends, if a strided interval can say that."""
    if step < 1 or (step > 1 and lower is None and upper is None):
        return None
    lower = None if lower is None else lower + (residue - lower) % step
    upper = None if upper is None else upper - (upper - residue) % step
    is_empty = lower is not None and upper is not None and lower > upper
    return None if is_empty else strided(lower, upper, step)


def limits_of(piece: Domain) -> Iterator[Constraint]:
    """The bounds of all variables, then the constraints."""
    for identifier, bounds in piece.bounds.items():
        yield forms.variable(identifier), bounds
    for _, constraint in piece.constraint_texts():
        yield constraint


def holds(piece: Domain, element: Sequence[int]) -> bool:
    """Whether an element meets the bounds and constraints."""
    values = dict(zip(piece.identifiers, map(forms.constant, element), strict=True))
    limits = list(limits_of(piece))
    found = substitute((form for form, _ in limits), values)
    return all(form.constant in interval for form, (_, interval) in zip(found, limits, strict=True))


def elements_of(box: Box) -> Iterator[tuple[int, ...]]:
    """The points of a box in lexicographic order."""
    if not box:
        yield ()
        return
    first, *others = box
    for value in first:
        for rest in elements_of(tuple(others)):
            yield (value, *rest)


# isl's sets: coordinates without names, parameters by name.


def isl_of(names: SetNames, pieces: Sequence[Domain], context: islpy.Context) -> islpy.Set:
    """The points of some domains of the same variables; what they depend on are parameters."""
    isl = load_isl()
    kinds, rank = isl.dim_type, len(names.coordinates)
    nothing = Space(dict.fromkeys(map(str, range(rank + len(names.given))), EVERYTHING), context)
    given = [Space(piece.bounds, context).domain(piece.constraints) for piece in pieces]
    points = united([isl.Set.empty(nothing.domain().get_space()), *given])
    points = points.move_dims(kinds.param, 0, kinds.set, rank, len(names.given))
    for axis, name in enumerate(names.given):
        points = points.set_dim_name(kinds.param, axis, name)
    return points


def parameters_last(points: islpy.Set, names: SetNames) -> islpy.Set:
    """The set with what it depends on as its last coordinates, in the order of the names."""
    kinds = load_isl().dim_type
    for name in names.given:
        place = points.find_dim_by_name(kinds.param, name)
        if place < 0:
            points = points.add_dims(kinds.set, 1)
        else:
            points = points.move_dims(kinds.set, rank_of(points), kinds.param, place, 1)
    return points


def coordinates_of(point: islpy.Set) -> tuple[int, ...]:
    """The coordinates of the only point of a set."""
    found, kind = point.sample_point(), load_isl().dim_type.set
    return tuple(integer(found.get_coordinate_val(kind, axis)) for axis in range(rank_of(point)))
