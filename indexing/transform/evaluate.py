"""Values of a map: at one point, on NumPy arrays, over the whole domain."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import repeat
from math import prod
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from indexing.domain import ROLES, ByRole, Constraint, Domain
from indexing.errors import MapError
from indexing.relation import Relation, check_without_parameters
from indexing.validation import ByName, in_order
from simplifier import forms
from simplifier.errors import check_type, listed
from simplifier.forms import MAX_INT64, AtomKind, EvaluationError, Form, Interval

Value: TypeAlias = Any
"""A Python integer, or a NumPy array of integers."""

Index: TypeAlias = "Sequence[Value]"
Unordered: TypeAlias = "ByRole[Value] | tuple[Index | ByName[Value], ...]"
"""Values for the variables of each role: in order, or by name."""
Point: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]"

_CHUNK: Final = 1 << 14
"""Points that are evaluated at a time: columns of them fit into the cache of a core."""

NO_PARAMETERS: Final[Mapping[str, Value]] = MappingProxyType({})


def evaluate(
    indexing_map: Relation, by_role: Unordered, parameters: Mapping[str, Value] = NO_PARAMETERS
) -> tuple[Value, ...]:
    """The results at one point, or on arrays that broadcast; the domain is not checked.

    Arrays are computed in 64 bits where that is enough for the values given, else in
    Python integers.

    Raises:
        MapError: a wrong number of values, values that are no integers, or a division by zero.
    """
    values = _environment(indexing_map, by_role, parameters)
    return evaluate_forms(indexing_map.forms, values)


def contains(indexing_map: Relation, by_role: Unordered, parameters: Mapping[str, Value]) -> Value:
    """Whether points lie within the bounds of the variables and meet all constraints."""
    return _is_inside(indexing_map, _environment(indexing_map, by_role, parameters))


def called(indexing_map: Relation, dims: Index, by_name: Mapping[str, Value]) -> tuple[Value, ...]:
    """The results at points of the domain: values in order of declaration, the others by name.

    Raises:
        MapError: as :func:`evaluate`, or a point lies outside the domain.
    """
    names = indexing_map.domain.names
    left = names[len(dims) :]
    if len(dims) > len(names) or sorted(left) != sorted(by_name):
        given = f"{len(dims)} values in order and those of {listed([*by_name])}"
        raise MapError(f"call: {given} are given; expected one for each of {listed(names)}")
    values = [*dims, *(by_name[name] for name in left)]
    checked = [checked_value(value, "call") for value in values]
    environment = dict(zip(indexing_map.domain.identifiers, checked, strict=True))
    _check_is_inside(indexing_map, environment)
    return evaluate_forms(indexing_map.forms, environment)


def _is_inside(indexing_map: Relation, values: Mapping[str, Value]) -> Value:
    """Whether a point lies in the domain; of arrays, for each point."""
    domain = indexing_map.domain
    bounded = [(values[identifier], bounds) for identifier, bounds in domain.bounds.items()]
    return _meeting(domain.constraints, values, _are_within(bounded))


def _meeting(
    constraints: Iterable[Constraint], values: Mapping[str, Value], inside: Value
) -> Value:
    """Truth of constraints at points that are inside; elsewhere they may have no value.

    So what divides by a variable comes last, and is computed only where all others are met.
    """
    rows = [(form, interval, _divides_by_variables(form)) for form, interval in constraints]
    total = [(form, interval) for form, interval, is_partial in rows if not is_partial]
    if forms.is_array(inside) or inside:
        inside = inside & _met(total, values)
    for form, interval, is_partial in rows:
        if is_partial:
            inside = _met_inside((form, interval), values, inside)
    return inside


def _met(constraints: Sequence[Constraint], values: Mapping[str, Value]) -> Value:
    found = evaluate_forms([form for form, _ in constraints], values)
    return _are_within(zip(found, (interval for _, interval in constraints), strict=True))


def _met_inside(constraint: Constraint, values: Mapping[str, Value], inside: Value) -> Value:
    """Truth of a constraint, computed at the points inside alone."""
    if not forms.is_array(inside):
        return inside and _met([constraint], values)
    used = forms.variables_of([constraint[0]])
    columns = {name: forms.np.broadcast_to(values[name], inside.shape)[inside] for name in used}
    met = forms.np.zeros_like(inside)
    met[inside] = _met([constraint], columns)
    return met


def _are_within(bounded: Iterable[tuple[Value, Interval]]) -> Value:
    """Whether each value lies in its interval; of arrays, at each point."""
    within: Value = True
    for value, interval in bounded:
        lower, upper = interval.ends
        inside = (value >= lower) & (value <= upper)
        within = within & (inside.astype(bool) if forms.is_array(inside) else inside)
    return within


def _divides_by_variables(form: Form) -> bool:
    """Whether a form has no value at some points."""
    return any(atom.kind in _PARTIAL for atom in forms.postorder((form,)))


_PARTIAL: Final = frozenset({AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV, AtomKind.SELECT})
"""Forms that may divide by zero; branches that are never chosen are not excluded."""


def _check_is_inside(indexing_map: Relation, values: Mapping[str, Value]) -> None:
    inside = forms.np.asarray(_is_inside(indexing_map, values))
    if inside.all():
        return
    place = tuple(forms.np.argwhere(~inside)[0].tolist())
    each = (forms.np.broadcast_to(value, inside.shape)[place] for value in values.values())
    pairs = zip(indexing_map.domain.names, each, strict=False)
    point = ", ".join(f"{name} = {value}" for name, value in pairs)
    raise MapError(f"call: {point} is outside the domain; see contains()")


def points(indexing_map: Relation) -> Iterator[Point]:
    """Every point of the domain in order, the last variable fastest, with its results.

    A point is ``(dims, ranges, runtime, results)``.

    Raises:
        MapError: a variable is not bounded, or there are parameters.
    """
    check_without_parameters(indexing_map, "points")
    domain = indexing_map.domain
    for count, columns in _chunks(domain):
        index = evaluate_forms(indexing_map.forms, columns)
        by_role = (rows(role, count) for role in domain.by_role(columns.values()))
        yield from zip(*by_role, rows(index, count), strict=True)


def result_columns(indexing_map: Relation) -> Iterator[tuple[int, tuple[Value, ...]]]:
    """The results at all points of the domain: numbers of points, and a column for each result.

    A column of equal values may be one integer.

    Raises:
        MapError: a variable is not bounded.
    """
    for count, columns in _chunks(indexing_map.domain):
        yield count, evaluate_forms(indexing_map.forms, columns)


def numbered(columns: Iterable[Value], box: Iterable[Interval]) -> Value:
    """The numbers of tuples in a box, the last coordinate fastest.

    >>> numbered([4, 1], [Interval(3, 5), Interval(0, 9)])
    11
    """
    number: Value = 0
    for column, interval in zip(columns, box, strict=True):
        number = number * (interval.size or 0) + (column - (interval.lower or 0))
    return number


def rows(columns: Sequence[Value], count: int) -> Iterable[tuple[int, ...]]:
    """The rows of a table, from its columns; a column of equal values may be one integer."""
    lists = [[column] * count if isinstance(column, int) else column.tolist() for column in columns]
    return zip(*lists, strict=True) if lists else repeat((), count)


def has_point(domain: Domain) -> bool | None:
    """Whether the domain has a point; ``None`` if some thousands of candidates do not tell."""
    if domain.is_known_empty:
        return False
    if not domain.constraints:
        return True
    sizes = [variable.bounds.size for variable in domain]
    if None in sizes:
        return None
    if next(_chunks(domain, _CHUNK), None) is not None:
        return True
    return None if prod(size or 0 for size in sizes) > _CHUNK else False


def _chunks(domain: Domain, budget: int | None = None) -> Iterator[tuple[int, dict[str, Value]]]:
    """The points of the domain in order, some thousands at a time: how many, and their columns.

    Columns are by identifier. Without variables there are none, and the one point is a chunk.
    """
    if unbounded := _unbounded(domain):
        raise MapError(f"points: {unbounded}")
    box = domain.bounds
    total = prod(interval.size or 0 for interval in box.values())
    stop = total if budget is None else min(budget, total)
    for start in range(0, stop, _CHUNK):
        columns = columns_of(box, range(start, min(start + _CHUNK, stop)))
        everywhere = forms.np.ones(len(next(iter(columns.values()), (0,))), dtype=bool)
        keep = _meeting(domain.constraints, columns, everywhere)
        if count := int(keep.sum()):
            yield count, {identifier: column[keep] for identifier, column in columns.items()}


def columns_of(box: Mapping[str, Interval], numbers: range) -> dict[str, Value]:
    """The points of a box with these numbers: in 64 bits if that is enough, else of any size."""
    widest = (abs(interval.lower or 0) + (interval.size or 0) for interval in box.values())
    fits = max((numbers.stop, *widest)) <= MAX_INT64
    dtype = forms.np.int64 if fits else object
    return forms.points_in(box, forms.np.arange(numbers.start, numbers.stop, dtype=dtype))


def _unbounded(domain: Domain) -> str | None:
    """What is wrong with the first variable without bounds."""
    for bounds, name in zip(domain.bounds.values(), domain.names, strict=True):
        if bounds.size is None:
            return f"{name} has the bounds {bounds}; expected a bounded variable"
    return None


def _environment(
    indexing_map: Relation, by_role: Unordered, parameters: Mapping[str, Value]
) -> dict[str, Value]:
    values: list[Value] = []
    domain = indexing_map.domain
    names = domain.by_role(domain.names)
    for role, unordered, variables in zip(ROLES, by_role, names, strict=True):
        given = in_order(unordered, variables, f"evaluate: {role}")
        check_type(given, Sized, f"evaluate: {role}", f"{len(variables)} integers or arrays")
        if len(given) != len(variables):
            message = f"evaluate: {role} has {len(given)} values; expected {len(variables)}"
            raise MapError(message)
        values += [checked_value(value, f"evaluate: {role}") for value in given]
    if parameters or indexing_map.parameters:
        values += _values_of_parameters(indexing_map, parameters)
    return dict(zip(indexing_map.domain.identifiers, values, strict=True))


def _values_of_parameters(indexing_map: Relation, given: Mapping[str, Value]) -> Iterator[Value]:
    names = [parameter.name for parameter in indexing_map.parameters]
    if names != sorted(given):
        expected = f"expected values of {listed(names)}" if names else "the map has none"
        raise MapError(f"evaluate: parameters are {listed(sorted(given)) or 'missing'}; {expected}")
    for name in names:
        yield checked_value(given[name], f"evaluate: parameter {name}")


def checked_value(value: Value, where: str) -> Value:
    """A Python integer or an array of integers; a message begins with ``where``.

    Raises:
        MapError: it is neither.
    """
    if hasattr(value, "dtype") and value.dtype.kind in "iuO":
        return value if value.ndim else int(value)
    if hasattr(value, "__index__") and not hasattr(value, "dtype"):
        return operator.index(value)
    message = f"{where} has the value {value!r}; expected an integer or an array of integers"
    raise MapError(message)


def compute(
    wanted: Iterable[Form], environment: Mapping[str, Value], dtype: object
) -> tuple[Value, ...]:
    """The values of forms where the variables have these; arrays are computed in the dtype."""
    wanted = tuple(wanted)
    used = {name: _converted(environment[name], dtype) for name in forms.variables_of(wanted)}
    # The unary plus copies an array: no result is an argument's own memory.
    try:
        return tuple(+value for value in forms.values_of(wanted, used))
    except EvaluationError as error:
        raise MapError(f"evaluate: {error}") from None


def _converted(value: Value, dtype: object) -> Value:
    return value.astype(dtype, copy=False) if forms.is_array(value) else value


def evaluate_forms(wanted: Iterable[Form], environment: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of forms; arrays are computed in 64 bits if nothing on the way can leave them."""
    wanted = tuple(wanted)
    if not any(map(forms.is_array, environment.values())):
        return compute(wanted, environment, object)
    used = forms.variables_of(wanted)
    sizes = {name: max(map(abs, least_and_greatest(environment[name]))) for name in used}
    fits = max(forms.magnitudes(wanted, sizes), default=0) <= MAX_INT64
    return compute(wanted, environment, "int64" if fits else object)


def reason_against_bits(wanted: Sequence[Form], domain: Domain, bits: int = 64) -> str | None:
    """The reason why a value within the bounds may need more bits; ``None`` if none does."""
    if unbounded := _unbounded(domain):
        return unbounded
    box = domain.bounds.items()
    sizes = {name: max(abs(bounds.lower or 0), abs(bounds.upper or 0)) for name, bounds in box}
    for form in wanted:
        if max(forms.magnitudes([form], sizes), default=0) >> (bits - 1):
            said = f"{bits - 1} bits and a sign" if bits < 64 else "64 bits"  # noqa: PLR2004
            return f"{domain.text_of(form)} may need more than {said}"
    return None


def least_and_greatest(value: Value) -> tuple[int, int]:
    """The ends of an integer or of the integers of an array; those of an empty interval of none."""
    if not forms.is_array(value):
        return value, value
    return (int(value.min()), int(value.max())) if value.size else (0, -1)


# Many calls.


class CompiledMap:
    """The results of a map as a function of its variables, for NumPy arrays that broadcast.

    It takes the dimensions, then the ranges, then the runtime variables, one argument each, and
    parameters by name. Values within the bounds are computed in 64-bit integers. If 64 bits may not
    be enough, a value lies outside the bounds, or there are parameters,
    :meth:`IndexingMap.evaluate` looks at the values first and computes in Python integers if it
    must.

    Raises:
        MapError: when called with a wrong number of values, values that are no integers, or where
            it divides by zero.
    """

    __slots__ = ("_is_safe", "_map")

    def __init__(self, indexing_map: Relation) -> None:
        self._map = indexing_map
        domain = indexing_map.domain
        self._is_safe = reason_against_bits(indexing_map.forms, domain) is None

    def __call__(self, *values: Value, **parameters: Value) -> tuple[Value, ...]:
        """The results, one for each dimension of the other tensor."""
        domain = self._map.domain
        expected = len(domain.identifiers) - len(domain.parameters)
        if len(values) != expected:
            raise MapError(f"to_numpy: got {len(values)} values; expected {expected}")
        values = tuple(checked_value(value, "to_numpy") for value in values)
        is_safe = self._is_safe and not (parameters or domain.parameters)
        if not (is_safe and all(map(_is_within, values, domain.bounds.values()))):
            return evaluate(self._map, domain.by_role(values), parameters)
        return compute(self._map.forms, dict(zip(domain.identifiers, values, strict=True)), "int64")

    def __repr__(self) -> str:
        return f"CompiledMap({self._map!r})"


def _is_within(value: Value, interval: Interval) -> bool:
    if not forms.is_array(value):
        return value in interval
    return not value.size or all(end in interval for end in least_and_greatest(value))
