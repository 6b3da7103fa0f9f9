"""How many points of a map's domain lead to each element, where isl can tell it for all at once.

isl cannot count the points of a fibre, those that lead to one element; but where they lie on a
line, a step apart from each other, the first and the last of them tell how many there are.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from indexing.exact.relations import relation_of
from simplifier.exact.isl import integer, load_isl, number

if TYPE_CHECKING:
    import islpy

    from indexing.relation import Relation

_MOST_LEVELS: Final = 64
"""So many different numbers of points are told apart."""


def levels_of(indexing_map: Relation, context: islpy.Context) -> dict[int, islpy.Set] | None:
    """For each number of points the elements that so many lead to; ``None`` if isl cannot tell.

    The map has dimensions only.
    """
    pairs = relation_of(indexing_map, context)
    if pairs.is_injective():
        return {1: pairs.range()}
    fibres = pairs.reverse().compute_divs().make_disjoint().get_basic_maps()
    sizes = [_sizes(each.to_map()) for each in fibres]
    known = [each for each in sizes if each is not None]
    if len(known) < len(sizes):
        return None
    return _level_sets(reduce(load_isl().PwAff.union_add, known))


def _level_sets(sizes: islpy.PwAff) -> dict[int, islpy.Set] | None:
    """Where an expression has each of its values, if these are few."""
    values = load_isl().Map.from_pw_aff(sizes).range()
    first, last = integer(values.dim_min_val(0)), integer(values.dim_max_val(0))
    if last - first >= _MOST_LEVELS:
        return None
    context = sizes.get_ctx()
    return {
        value: sizes.add_constant_val(number(-value, context)).zero_set()
        for value in range(first, last + 1)
    }


def _sizes(fibres: islpy.Map) -> islpy.PwAff | None:
    """How many points each element is related to, if one coordinate tells them apart."""
    kind = load_isl().dim_type
    rank = fibres.dim(kind.out)
    for place in range(rank):
        element_and_place = fibres.move_dims(kind.in_, fibres.dim(kind.in_), kind.out, place, 1)
        if element_and_place.is_single_valued():
            behind = fibres.project_out(kind.out, place + 1, rank - place - 1)
            sizes = _sizes_of_lines(behind.project_out(kind.out, 0, place))
            if sizes is not None:
                return sizes
    return None


def _sizes_of_lines(lines: islpy.Map) -> islpy.PwAff | None:
    """How many numbers each element is related to, if all are the same step apart."""
    step = lines.reverse().apply_range(lines).deltas().get_stride(0)
    next_ = _shift(lines, step)
    beyond = lines.apply_range(next_).subtract(lines)
    if not beyond.is_subset(lines.lexmax().apply_range(next_)):
        return None
    last, first = (
        found.get_pw_aff(0) for found in (lines.lexmax_pw_multi_aff(), lines.lexmin_pw_multi_aff())
    )
    steps = last.sub(first).scale_down_val(step).floor()
    return steps.add_constant_val(number(1, lines.get_ctx()))


def _shift(lines: islpy.Map, by: islpy.Val) -> islpy.Map:
    """From a number to the one that is so much greater."""
    isl = load_isl()
    line = isl.LocalSpace.from_space(lines.range().get_space())
    return isl.Map.from_aff(isl.Aff.var_on_domain(line, isl.dim_type.set, 0).add_constant_val(by))
