"""A map as a compiled function of NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from indexing.errors import MapError
from indexing.evaluation import checked_value, evaluate, is_array
from indexing.interchange.program import DIVISIONS, Language, code_of, reason_against_64_bits
from simplifier.form import Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexing.evaluation import Value
    from indexing.map import IndexingMap
    from simplifier import Interval

_NUMPY: Final = Language(
    general={
        Kind.FLOORDIV: "{0} // {1}",
        Kind.QUOTIENT: "{0} // {1}",
        Kind.MOD: "{0} % {1}",
        Kind.CEILDIV: "-(-({0}) // ({1}))",
        Kind.MIN: "minimum({0}, {1})",
        Kind.MAX: "maximum({0}, {1})",
    },
    natural={},
    infix=frozenset({Kind.FLOORDIV, Kind.QUOTIENT, Kind.MOD}),
    reserved=frozenset({"minimum", "maximum"}),
    statement="{name} = {value}",
)


class CompiledMap:
    """The results of a map as a function of its variables, for NumPy arrays that broadcast.

    It takes the dimensions, then the ranges, then the runtime variables, one argument each. Values
    within the bounds are computed in 64-bit integers by :attr:`source`, with quotients rounded down
    exactly at any size; where 64 bits might not do, or a value lies outside the bounds, the answer
    comes from :meth:`IndexingMap.evaluate`, which is slower and as exact.

    Raises:
        MapError: when called with a wrong number of values, values that are no integers, or where
            it divides by zero.
    """

    __slots__ = ("_function", "_map", "source")

    source: str
    """The function that computes in 64 bits, as Python text."""

    def __init__(self, indexing_map: IndexingMap) -> None:
        self._map = indexing_map
        self.source = _source(indexing_map)
        self._function = _compiled(self.source) if _is_safe(indexing_map) else None

    def __call__(self, *values: Value) -> tuple[Value, ...]:
        """The results, one for each dimension of the other tensor."""
        domain = self._map.domain
        if len(values) != len(domain.places):
            message = f"to_numpy: got {len(values)} values; expected {len(domain.places)}"
            raise MapError(message)
        values = tuple(checked_value(value, "to_numpy") for value in values)
        if self._function is None or not _all_within(values, tuple(domain.bounds.values())):
            return evaluate(self._map, *domain.by_role(values))
        widened = (
            value.astype("int64", copy=False) if is_array(value) else value for value in values
        )
        return self._function(*widened)

    def __reduce__(self) -> tuple[type[CompiledMap], tuple[IndexingMap]]:
        return CompiledMap, (self._map,)

    def __repr__(self) -> str:
        return f"CompiledMap({self._map!r})"


def _source(indexing_map: IndexingMap) -> str:
    code = code_of(indexing_map.forms, indexing_map.domain, _NUMPY)
    # The unary plus of a variable is a copy: no result is an argument's own memory.
    values = [f"+{value}" if value in code.parameters else value for value in code.values]
    lines = [*code.statements, f"return {_tuple(values)}"]
    body = "".join(f"    {line}\n" for line in lines)
    return f"def indexing_map({', '.join(code.parameters)}):\n{body}"


def _tuple(values: Sequence[str]) -> str:
    return f"{values[0]}," if len(values) == 1 else ", ".join(values) or "()"


def _compiled(source: str) -> Callable[..., tuple[Value, ...]]:
    """The function that a text made here defines; it sees two functions and nothing else."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    seen: dict[str, Any] = {"minimum": np.minimum, "maximum": np.maximum, "__builtins__": {}}
    exec(source, seen)  # noqa: S102 - our own text of operators, numbers and checked names
    return seen["indexing_map"]


def _is_safe(indexing_map: IndexingMap) -> bool:
    """Whether no value within the bounds overflows 64 bits or divides by zero."""
    never_zero = all(
        atom.divisor for atom in postorder(indexing_map.forms) if atom.kind in DIVISIONS
    )
    return never_zero and reason_against_64_bits(indexing_map.forms, indexing_map.domain) is None


def _all_within(values: Sequence[Value], bounds: Sequence[Interval]) -> bool:
    """Whether there are arrays, and all their values and the other ones lie within the bounds."""
    return any(map(is_array, values)) and all(
        _is_within(value, interval) for value, interval in zip(values, bounds, strict=True)
    )


def _is_within(value: Value, interval: Interval) -> bool:
    if not is_array(value):
        return value in interval
    return not value.size or (value.min() in interval and value.max() in interval)
