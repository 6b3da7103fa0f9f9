"""isl's sets read back: as boxes, or as constraints."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.exact.points import EVERYTHING, extent, rank_of
from indexing.exact.sets import IndexSet
from indexing.exact.slabs import boxes_of, lone_box
from indexing.simplify import simplified_domain
from indexing.variable import Variable
from simplifier import Interval
from simplifier.exact import BudgetError, Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.domain import Constraint
    from indexing.exact.boxes import Box


def read_set(
    points: islpy.Set, space: Space, names: Sequence[str] = (), parameters: Sequence[str] = ()
) -> IndexSet:
    """The set within the budget of the space; coordinates beyond the names have none.

    The last coordinates are the parameters. Boxes that would take more than the budget are left
    out.

    Raises:
        BudgetError: the constraints take more operations of isl than the budget.
    """
    with space.within_budget():
        hull = _hull(points, names, parameters)
        lone = None if points.is_empty() or parameters else lone_box(points)
        if lone is not None:
            return _set_of_boxes(hull, (lone,))
        points = points.compute_divs().coalesce()
        pieces = sorted(_pieces(points, hull), key=_order)
    if not parameters:
        with suppress(BudgetError), space.within_budget():
            boxes = boxes_of(points)
            if boxes is not None:
                return _set_of_boxes(hull, boxes)
    return IndexSet(hull, tuple(pieces))


def _set_of_boxes(hull: Domain, boxes: tuple[Box, ...]) -> IndexSet:
    return IndexSet(hull, tuple(_piece_of_box(box, hull) for box in boxes), boxes)


def _hull(points: islpy.Set, names: Sequence[str], parameters: Sequence[str]) -> Domain:
    """The variables within the least bounds."""
    rank = rank_of(points) - len(parameters)
    called = [*names, *[""] * (rank - len(names)), *parameters]
    is_empty = points.is_empty()
    variables = [
        Variable(Interval(0, -1) if is_empty else extent(points, place), name)
        for place, name in enumerate(called)
    ]
    return Domain.of(variables[:rank], (), variables[rank:])


def _pieces(points: islpy.Set, hull: Domain) -> Iterator[Domain]:
    """The conjunctions that a set is made of."""
    space = Space(dict.fromkeys(hull.places, EVERYTHING), points.get_ctx())
    for conjunction in points.get_basic_sets():
        if not conjunction.is_empty():
            yield simplified_domain(hull.constrained(limits_of(conjunction, space)))


def limits_of(conjunction: islpy.BasicSet, space: Space) -> Iterator[Constraint]:
    """The equations and inequalities, without their constants."""
    for row in conjunction.get_constraints():
        if row.is_div_constraint():
            continue
        form = space.form_of(row.get_aff())
        limit = Interval(-form.constant, -form.constant if row.is_equality() else None)
        sum_ = form.plus_constant(-form.constant)
        is_negative = next(iter(sum_.terms.values()), 1) < 0
        yield (-sum_, -limit) if is_negative else (sum_, limit)


def _order(piece: Domain) -> tuple[object, ...]:
    """Sorts pieces by their bounds, and then as texts."""
    texts = [f"{text} in {interval}" for text, (_, interval) in piece.constraint_texts()]
    return [bounds.ends for bounds in piece.bounds.values()], texts


def _piece_of_box(box: Box, hull: Domain) -> Domain:
    rows = (interval.constraints(place) for place, interval in zip(hull.places, box, strict=True))
    return hull.constrained(chain.from_iterable(rows))
