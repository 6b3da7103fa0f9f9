"""Maps as isl's relations and sets of points, and a look at such sets one coordinate at a time.

Ranges and runtime variables are projected out. Parameters, and runtime variables that are such,
become coordinates behind the others. An axis is the number of a coordinate, from 0; ``None`` is a
missing least or greatest value.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact.bits import in_digits
from indexing.relation import Relation, RelationT
from simplifier import forms
from simplifier.errors import Span, TextError, beginning_of
from simplifier.exact import NotQuasiAffineError, Space, integer, load_isl, number, quasi_affine
from simplifier.forms import Form, Interval, is_name

if TYPE_CHECKING:
    import islpy

    T = TypeVar("T", islpy.Set, islpy.Map)


def telling_runtime(relation: RelationT) -> RelationT:
    """The map with its runtime variables as further results, to ask for each of their values.

    Two maps relate the same elements for each value if, with them as results, they relate the same.
    """
    *_, runtime = relation.domain.by_role_as_forms
    return relation.derived((*relation.forms, *runtime), relation.domain) if runtime else relation


def relation_of(indexing_map: Relation, context: islpy.Context) -> islpy.Map:
    """All pairs of ``dims`` and ``results``; parameters follow the ``dims``."""
    domain = indexing_map.domain
    dims, *_ = domain.by_role_as_forms
    limited, intervals = zip(*domain.constraints, strict=True) if domain.constraints else ((), ())
    written = in_digits((*indexing_map.forms, *limited), domain.bounds)
    results, limits = written[: len(indexing_map.forms)], written[len(indexing_map.forms) :]
    domain = domain.with_constraints(zip(limits, intervals, strict=True))
    return _pairs(domain, (*dims, *parameters_of(domain)), results, context)


def relation_at_runtime(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool
) -> islpy.Map:
    """All pairs of ``dims`` and ``results``; runtime variables, if wanted, follow the ``dims``."""
    if not runtime_as_parameters:
        return relation_of(indexing_map, context)
    kinds, domain = load_isl().dim_type, indexing_map.domain
    dims, results, count = len(domain.dims), len(indexing_map.forms), len(domain.runtime)
    pairs = relation_of(telling_runtime(indexing_map), context)
    return pairs.move_dims(kinds.in_, dims, kinds.out, results, count)


def accesses_of(indexing_map: Relation, context: islpy.Context) -> islpy.Map:
    """All pairs of ``(dims, ranges)`` and ``results``; parameters follow the ``results``."""
    domain = indexing_map.domain
    dims, ranges, _ = domain.by_role_as_forms
    targets = (*indexing_map.forms, *parameters_of(domain))
    return _pairs(domain, (*dims, *ranges), targets, context)


def graph_of(indexing_map: Relation, context: islpy.Context) -> islpy.Map:
    """All pairs of a point of the domain and its ``results``."""
    domain = indexing_map.domain
    variables = [*map(forms.variable, domain.identifiers)]
    return _pairs(domain, variables, indexing_map.forms, context)


def points_of(indexing_map: Relation, context: islpy.Context) -> islpy.Set:
    """Every point of the domain: the values of all its variables."""
    domain = indexing_map.domain
    with _naming_terms(domain):
        return Space(domain.bounds, context).domain(domain.constraints)


def image_of(indexing_map: Relation, context: islpy.Context) -> islpy.Set:
    """The values of the results at all points; parameters follow them."""
    domain = indexing_map.domain
    return _tuples(domain, (*indexing_map.forms, *parameters_of(domain)), context)


def parameters_of(domain: Domain) -> tuple[Form, ...]:
    """Parameters of a question: it is about each of their values."""
    return tuple(map(forms.variable, domain.parameter_identifiers))


def _tuples(domain: Domain, wanted: Iterable[Form], context: islpy.Context) -> islpy.Set:
    """The tuples of values that forms have at the points of a domain."""
    values = tuple(wanted)
    with _naming_terms(domain, values):
        space = Space(domain.bounds, context)
        graph = space.isl.Map.from_domain(space.domain(domain.constraints))
        for value in space.expressions(values):
            graph = graph.flat_range_product(space.isl.Map.from_pw_aff(value))
        return graph.range()


@contextmanager
def _naming_terms(domain: Domain, wanted: Sequence[Form] = ()) -> Generator[None]:
    """Let an error about a term that is not quasi-affine show it in the names of the variables."""
    try:
        yield
    except NotQuasiAffineError:
        check_quasi_affine(domain, wanted)
        raise


def check_quasi_affine(domain: Domain, wanted: Iterable[Form]) -> None:
    """Raise an error that names the first term beyond quasi-affine arithmetic."""
    checked = (*wanted, *(form for form, _ in domain.constraints))
    bounds = dict(zip(domain.names, domain.bounds.values(), strict=True))
    quasi_affine(bounds, map(domain.named, checked))


def _pairs(
    domain: Domain, sources: Sequence[Form], targets: Sequence[Form], context: islpy.Context
) -> islpy.Map:
    """The pairs of values that two tuples of forms have at the points of a domain."""
    joint = load_isl().Map.from_range(_tuples(domain, (*sources, *targets), context))
    kind = load_isl().dim_type
    return joint.move_dims(kind.in_, 0, kind.out, 0, len(sources))


# One coordinate at a time.


def coordinates() -> islpy.dim_type:
    """Name in isl of the coordinates of a set's points."""
    return load_isl().dim_type.set


def rank_of(points: islpy.Set | islpy.BasicSet) -> int:
    """The number of coordinates."""
    return points.dim(coordinates())


def extent(points: islpy.Set, axis: int) -> Interval:
    """The least and the greatest value of a coordinate, in a set that has points."""
    return Interval(least(points, axis), greatest(points, axis))


def least(points: islpy.Set, axis: int) -> int | None:
    """The least value of a coordinate."""
    return _finite(min, (piece.dim_min_val(axis) for piece in _conjunctions(points)))


def greatest(points: islpy.Set, axis: int) -> int | None:
    """The greatest value of a coordinate."""
    return _finite(max, (piece.dim_max_val(axis) for piece in _conjunctions(points)))


def _conjunctions(points: islpy.Set) -> Iterator[islpy.Set]:
    """The parts of a union, one by one.

    Asked for an extremum of the whole, isl also counts what it tries on parts without points.
    """
    return (piece.to_set() for piece in points.get_basic_sets())


def _finite(choose: Callable[[list[int]], int], extremes: Iterable[islpy.Val]) -> int | None:
    """The least or greatest of the extremes, if all are finite."""
    found = [value for value in extremes if not value.is_nan()]
    are_finite = found and all(value.is_int() for value in found)
    return choose([integer(value) for value in found]) if are_finite else None


def at(points: islpy.Set, axis: int, value: int) -> islpy.Set:
    """The points with this value of a coordinate."""
    return points.fix_val(coordinates(), axis, number(value, points.get_ctx()))


def from_value(points: islpy.Set, axis: int, value: int) -> islpy.Set:
    """The points with at least this value of a coordinate."""
    return points.lower_bound_val(coordinates(), axis, number(value, points.get_ctx()))


def line_of(points: islpy.Set, axis: int) -> islpy.Set:
    """The values of one coordinate."""
    behind = rank_of(points) - axis - 1
    return points.project_out(coordinates(), axis + 1, behind).project_out(coordinates(), 0, axis)


def slice_at(points: islpy.Set, axis: int, value: int) -> islpy.Set:
    """The other coordinates of the points with this value of one."""
    return at(points, axis, value).project_out(coordinates(), axis, 1)


def first_point(points: islpy.Set) -> tuple[int, ...]:
    """The lexicographically first point of a set that has some.

    A coordinate without least value takes its least value of at least 0, or else its greatest.
    """
    found: list[int] = []
    for axis in range(rank_of(points)):
        found.append(_first_value(points, axis))
        points = at(points, axis, found[-1])
    return tuple(found)


def _first_value(points: islpy.Set, axis: int) -> int:
    found = least(points, axis)
    if found is None:
        found = least(from_value(points, axis, 0), axis)
    return greatest(points, axis) or 0 if found is None else found


def values(line: islpy.Set) -> Iterator[int]:
    """The values of a set of rank 1 that has a least one, upwards."""
    while (value := least(line, 0)) is not None:
        yield value
        line = from_value(line, 0, value + 1)


def in_order(points: islpy.Set) -> Iterator[tuple[int, ...]]:
    """The points of a bounded set in lexicographic order; one integer programme for each."""
    if not rank_of(points):
        yield from () if points.is_empty() else ((),)
        return
    for value in values(line_of(points, 0)):
        for rest in in_order(slice_at(points, 0, value)):
            yield (value, *rest)


def nothing(rank: int, context: islpy.Context) -> islpy.Set:
    """The empty set of tuples of so many coordinates."""
    return load_isl().Set.empty(load_isl().Space.set_alloc(context, 0, rank))


def united_parts(parts: Sequence[T]) -> T:
    """The union of sets or maps; a few are coalesced, for isl compares each with each.

    Neighbours are united first, for isl copies what it unites.
    """
    is_few = len(parts) <= _MAX_COALESCED
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*(one.union(other) for one, other in pairs), *parts[len(parts) & ~1 :]]
    return parts[0].coalesce() if is_few else parts[0]


_MAX_COALESCED: Final = 100
"""Pieces; hundreds take seconds."""


def point_set(values: Sequence[int], space: islpy.Space) -> islpy.Set:
    """The set of one point."""
    point = load_isl().Point.zero(space)
    for axis, value in enumerate(values):
        point = point.set_coordinate_val(coordinates(), axis, number(value, space.get_ctx()))
    return load_isl().Set.from_point(point)


def shifted(points: islpy.Set, axis: int, by: int) -> islpy.Set:
    """The points moved along one axis."""
    step = [by if axis == other else 0 for other in range(rank_of(points))]
    return points.sum(point_set(step, points.get_space()))


def check_bounded(points: islpy.Set, names: Sequence[str], question: str) -> None:
    """Raise a :class:`MapError` that names the first coordinate without least or greatest value."""
    if points.is_empty():
        return
    for axis in range(rank_of(points)):
        if extent(points, axis).size is None:
            message = f"{question}: {names[axis]} is not bounded"
            raise MapError(f"{message}; expected finitely many values")


# isl's text of sets and relations: what is checked before isl reads it, and names it can hold.

_MAX_NESTING: Final = 200
"""Nesting of brackets in a text: isl reads them recursively, and would crash the process."""

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_WORDS: Final = frozenset(
    [
        *("and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infinity"),
        *("infty", "max", "min", "mod", "NaN", "not", "or", "rat", "true"),
    ]
)
"""Words that isl does not read as the name of a variable."""

_MAX_SHOWN: Final = 60
"""Characters of a value in a message: one line."""


def isl_set(
    points: str | islpy.Set | islpy.BasicSet, context: islpy.Context, asker: str = "from_isl"
) -> islpy.Set:
    """A set of isl's in a context, with a name neither for itself nor for the parts of its tuples.

    No budget may count in the context: isl takes its end for an error in the text.

    Raises:
        TextError: the text is not isl's.
        MapError: it is something else, or holds rational numbers.
    """
    isl = load_isl()
    if isinstance(points, str):
        check_isl_text(points)
    elif not isinstance(points, isl.Set | isl.BasicSet):
        raise MapError(f"{asker}: {shown(points)} is no set; expected islpy's Set, or isl's text")
    text = str(points)
    try:
        found = isl.Set.read_from_str(context, text).reset_tuple_id().flatten()
    except isl.Error:
        hint = "expected such as { [i, j] : 0 <= i < j }"
        message = "isl does not read this as a set"
        raise TextError(message, Span(text, 0, len(text)), hint) from None
    if any(piece.is_rational() for piece in found.get_basic_sets()):
        raise MapError(f"{asker}: the set has rational numbers; expected integers alone")
    return found


def readable(name: str | None) -> str:
    """The name if both isl's texts and ours can hold it, else an empty one."""
    is_read = name is not None and name.isascii() and is_name(name) and name not in _WORDS
    return name if name is not None and is_read else ""


def shown(value: object) -> str:
    """A value for a message, on one line."""
    return beginning_of(f"{type(value).__name__} {value}", _MAX_SHOWN)


def check_isl_text(text: str) -> None:
    """Refuse texts that isl rejects without a place, does not read on, or crashes of."""
    if unreadable := re.search("[\0\ud800-\udfff]", text):
        raise _error(f"unexpected character {unreadable[0]!r}", unreadable)
    for digits in re.finditer(r"\d+", text):
        if 0 < sys.get_int_max_str_digits() < len(digits[0]):
            raise _error(f"integer of {len(digits[0])} digits; Python reads fewer", digits)
    opened: list[re.Match[str]] = []
    for mark in re.finditer(r"[()\[\]{}^]", text):
        if mark[0] in _CLOSING:
            opened.append(mark)
        elif mark[0] == "^":
            raise _error("a power; expected the number itself", mark)
        elif not opened or _CLOSING[opened.pop()[0]] != mark[0]:
            raise _error(f"{mark[0]!r} closes nothing", mark)
        if len(opened) > _MAX_NESTING:
            raise _error(f"more than {_MAX_NESTING} brackets in each other", mark)
    if opened:
        raise _error(f"expected a {_CLOSING[opened[-1][0]]!r} for this", opened[-1])


def _error(message: str, mark: re.Match[str]) -> TextError:
    return TextError(message, Span(mark.string, *mark.span()))
