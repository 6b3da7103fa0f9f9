"""A map as a function of NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import MapError
from indexing.formats.code import reason_against_64_bits
from indexing.transform.evaluate import checked_value, compute, evaluate, is_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.relation import Relation
    from indexing.transform.evaluate import Value
    from simplifier import Interval


class CompiledMap:
    """The results of a map as a function of its variables, for NumPy arrays that broadcast.

    It takes the dimensions, then the ranges, then the runtime variables, one argument each. Values
    within the bounds are computed in 64-bit integers. If 64 bits may not be enough, or a value lies
    outside the bounds, :meth:`IndexingMap.evaluate` looks at the values first and computes in
    Python integers if it must.

    Raises:
        MapError: when called with a wrong number of values, values that are no integers, or where
            it divides by zero.
    """

    __slots__ = ("_is_safe", "_map")

    def __init__(self, indexing_map: Relation) -> None:
        self._map = indexing_map
        domain = indexing_map.domain
        self._is_safe = reason_against_64_bits(indexing_map.forms, domain) is None

    def __call__(self, *values: Value) -> tuple[Value, ...]:
        """The results, one for each dimension of the other tensor."""
        domain = self._map.domain
        if len(values) != len(domain.identifiers):
            message = f"to_numpy: got {len(values)} values; expected {len(domain.identifiers)}"
            raise MapError(message)
        values = tuple(checked_value(value, "to_numpy") for value in values)
        if not (self._is_safe and _all_within(values, tuple(domain.bounds.values()))):
            return evaluate(self._map, *domain.by_role(values))
        return compute(self._map.forms, dict(zip(domain.identifiers, values, strict=True)), "int64")

    def __reduce__(self) -> tuple[type[CompiledMap], tuple[Relation]]:
        return CompiledMap, (self._map,)

    def __repr__(self) -> str:
        return f"CompiledMap({self._map!r})"


def _all_within(values: Sequence[Value], bounds: Sequence[Interval]) -> bool:
    return all(_is_within(value, interval) for value, interval in zip(values, bounds, strict=True))


def _is_within(value: Value, interval: Interval) -> bool:
    if not is_array(value):
        return value in interval
    return not value.size or (value.min() in interval and value.max() in interval)
