"""Values of a map: at one point, on arrays, over the whole domain."""

from __future__ import annotations

import operator
from functools import reduce
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.errors import MapError
from simplifier.form import Form, Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from indexing.domain import Domain
    from indexing.map import IndexingMap
    from indexing.variable import Variable
    from simplifier.form import Atom

Value: TypeAlias = Any
"""A Python integer, or a NumPy array of integers."""

Index: TypeAlias = "Sequence[Value]"
Point: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]"

_CHUNK: Final = 1 << 14
"""Points that are evaluated at a time."""

_LARGEST: Final = (1 << 63) - 1


def evaluate(
    indexing_map: IndexingMap, dims: Index, ranges: Index = (), runtime: Index = ()
) -> tuple[Value, ...]:
    """The results at one point, or on arrays that broadcast; the domain is not checked.

    Arrays are computed in 64 bits where that is enough for the values given, else in
    Python integers.

    Raises:
        MapError: a wrong number of values, values that are no integers, or a division by zero.
    """
    values = _environment(indexing_map, dims, ranges, runtime)
    return _evaluated(indexing_map.forms, values)


def contains(
    indexing_map: IndexingMap, dims: Index, ranges: Index = (), runtime: Index = ()
) -> bool:
    """Whether one point lies within the bounds of the variables and meets all constraints."""
    values = _environment(indexing_map, dims, ranges, runtime)
    bounds = indexing_map.domain.bounds
    if not all(values[place] in bounds[place] for place in values):
        return False
    constraints = indexing_map.domain.constraints
    found = _evaluated([form for form, _ in constraints], values)
    return all(value in interval for value, (_, interval) in zip(found, constraints, strict=True))


def points(indexing_map: IndexingMap) -> Iterator[Point]:
    """Every point of the domain in order, the last variable fastest, with its results.

    A point is ``(dims, ranges, runtime, results)``.

    Raises:
        MapError: a variable is not bounded.
    """
    for chunk, columns in _chunks(indexing_map.domain):
        found = _evaluated(indexing_map.forms, columns)
        results = [
            [result] * len(chunk) if isinstance(result, int) else result.tolist()
            for result in found
        ]
        rows = zip(*results, strict=True) if results else [()] * len(chunk)
        for point, row in zip(chunk, rows, strict=True):
            yield (*indexing_map.domain.by_role(point), tuple(row))


def has_point(domain: Domain, budget: int = _CHUNK) -> bool | None:
    """Whether the domain holds a point; ``None`` if none is among ``budget`` candidates."""
    if domain.is_known_empty:
        return False
    if not domain.constraints:
        return True
    if any(variable.bounds.size is None for variable in domain):
        return None
    tried = 0
    for chunk, _ in _chunks(domain, keep_empty=True):
        if chunk:
            return True
        tried += _CHUNK
        if tried >= budget and tried < prod(variable.bounds.size or 0 for variable in domain):
            return None
    return False


def _chunks(
    domain: Domain, *, keep_empty: bool = False
) -> Iterator[tuple[list[tuple[int, ...]], dict[str, Value]]]:
    """The points of the domain, some thousands at a time, as rows and as columns by place."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    candidates = _candidates(domain)
    while rows := list(islice(candidates, _CHUNK)):
        table = np.array(rows, dtype=object).reshape(len(rows), len(domain.places))
        keep = np.ones(len(rows), dtype=bool)
        columns = dict(zip(domain.places, table.T, strict=True))
        found = _evaluated([form for form, _ in domain.constraints], columns)
        for value, (_, interval) in zip(found, domain.constraints, strict=True):
            lower, upper = interval.ends
            keep &= np.asarray((value >= lower) & (value <= upper), dtype=bool)
        if keep.any() or keep_empty:
            chosen = [row for row, inside in zip(rows, keep.tolist(), strict=True) if inside]
            yield chosen, {place: column[keep] for place, column in columns.items()}


def _candidates(domain: Domain) -> Iterator[tuple[int, ...]]:
    """The points within the bounds; ``itertools.product`` would store every range first."""
    steps = [_steps(variable, name) for variable, name in zip(domain, domain.names, strict=True)]
    nothing: Iterator[tuple[int, ...]] = iter([()])
    return reduce(_extended, steps, nothing)


def _extended(points: Iterator[tuple[int, ...]], steps: range) -> Iterator[tuple[int, ...]]:
    return ((*point, step) for point in points for step in steps)


def _steps(variable: Variable, name: str) -> range:
    bounds = variable.bounds
    if bounds.lower is None or bounds.upper is None:
        message = f"points: {name} has the bounds {bounds}; expected a bounded variable"
        raise MapError(message)
    return range(bounds.lower, bounds.upper + 1)


def _environment(
    indexing_map: IndexingMap, dims: Index, ranges: Index, runtime: Index
) -> dict[str, Value]:
    names = ("dims", "ranges", "runtime")
    values: list[Value] = []
    for role, given, variables in zip(
        names, (dims, ranges, runtime), indexing_map.domain.roles, strict=True
    ):
        if len(given) != len(variables):
            message = f"evaluate: {role} has {len(given)} values; expected {len(variables)}"
            raise MapError(message)
        values += [_checked(value, role) for value in given]
    return dict(zip(indexing_map.domain.places, values, strict=True))


def _checked(value: Value, role: str) -> Value:
    """A Python integer, or an array of integers."""
    if hasattr(value, "dtype") and value.dtype.kind in "iuO":
        return value if value.ndim else int(value)
    if hasattr(value, "__index__") and not hasattr(value, "dtype"):
        return operator.index(value)
    message = (
        f"evaluate: {role} has the value {value!r}; expected an integer or an array of integers"
    )
    raise MapError(message)


def _evaluated(wanted: Iterable[Form], environment: Mapping[str, Value]) -> tuple[Value, ...]:
    wanted = tuple(wanted)
    atoms = postorder(wanted)
    arrays = [value for value in environment.values() if hasattr(value, "dtype")]
    dtype: object = "int64" if arrays and _fits(atoms, wanted, environment) else object
    known: dict[Atom, Value] = {}

    def value_of(form: Form) -> Value:
        return sum(
            (factor * known[atom] for atom, factor in form.terms.items()), start=form.constant
        )

    for atom in atoms:
        if atom.kind is Kind.VARIABLE:
            value = environment[atom.name]
            known[atom] = value.astype(dtype) if hasattr(value, "dtype") else value
        else:
            operation = _OPERATIONS[atom.kind]
            known[atom] = operation(atom, [value_of(argument) for argument in atom.arguments])
    return tuple(value_of(form) for form in wanted)


def _fits(atoms: Sequence[Atom], wanted: Sequence[Form], environment: Mapping[str, Value]) -> bool:
    """Whether nothing that is computed on the way can leave 64 bits."""
    sizes: dict[Atom, int] = {}

    def size_of(form: Form) -> int:
        return abs(form.constant) + sum(
            abs(factor) * sizes[atom] for atom, factor in form.terms.items()
        )

    for atom in atoms:
        if atom.kind is Kind.VARIABLE:
            sizes[atom] = _magnitude(environment[atom.name])
        else:
            largest = [size_of(argument) for argument in atom.arguments]
            sizes[atom] = prod(largest) if atom.kind is Kind.PRODUCT else max(largest, default=0)
    return all(size <= _LARGEST for size in (*sizes.values(), *map(size_of, wanted)))


def _magnitude(value: Value) -> int:
    if not hasattr(value, "dtype"):
        return abs(value)
    return max(abs(int(value.max())), abs(int(value.min()))) if value.size else 0


def _divided(operate: Callable[[Value, Value], Value]) -> Callable[[Atom, list[Value]], Value]:
    """A division that refuses zero, whether it meets a number or an array."""

    def divide(atom: Atom, values: list[Value]) -> Value:
        numerator, divisor = values
        has_zero = bool((divisor == 0).any()) if hasattr(divisor, "dtype") else divisor == 0
        if has_zero:
            message = f"evaluate: division by zero in {Form(0, {atom: 1})}"
            raise MapError(message)
        return operate(numerator, divisor)

    return divide


def _folded(
    name: str, on_integers: Callable[[Value, Value], Value]
) -> Callable[[Atom, list[Value]], Value]:
    """An extremum, by NumPy where an array takes part."""

    def choose(left: Value, right: Value) -> Value:
        if hasattr(left, "dtype") or hasattr(right, "dtype"):
            import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

            return getattr(np, name)(left, right)
        return on_integers(left, right)

    return lambda _, values: reduce(choose, values)


def _opaque(atom: Atom, _: list[Value]) -> Value:
    message = f"evaluate: {atom.name} is not integer arithmetic"
    raise MapError(message)


_OPERATIONS: Final[Mapping[Kind, Callable[[Atom, list[Value]], Value]]] = {
    Kind.FLOORDIV: _divided(lambda numerator, divisor: numerator // divisor),
    Kind.QUOTIENT: _divided(lambda numerator, divisor: numerator // divisor),
    Kind.MOD: _divided(lambda numerator, divisor: numerator % divisor),
    Kind.CEILDIV: _divided(lambda numerator, divisor: -(-numerator // divisor)),
    Kind.MIN: _folded("minimum", min),
    Kind.MAX: _folded("maximum", max),
    Kind.PRODUCT: lambda _, values: reduce(operator.mul, values),
    Kind.OPAQUE: _opaque,
}
