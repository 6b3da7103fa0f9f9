"""Values of a form at all points of a domain, where isl takes long and there are few points."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simplifier.bounds.interval import EMPTY, Interval
from simplifier.evaluation import MAX_INT64, OPERATIONS, magnitudes, points_in, values_of
from simplifier.expr import form as forms
from simplifier.expr.form import FOREIGN, AtomKind
from simplifier.extraction.cost import DIVISIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simplifier.expr.form import Atom, Form

Column: TypeAlias = Any
"""An array of NumPy."""

Columns: TypeAlias = "dict[str, Column]"
"""Points: the values of each variable."""

Chunk: TypeAlias = "tuple[Columns, Column]"
"""Points, and the values of a form there."""

Constraint: TypeAlias = "tuple[Form, Interval]"

MAX_VALUES: Final = 1 << 25
"""Values of operations, at all points together, that are computed: half a second."""

_CHUNK: Final = 1 << 14
"""Points that are looked at together: columns of them fit into the cache of a core."""


def points_with_values(
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[Constraint],
    most: int = MAX_VALUES,
) -> Iterator[Chunk] | None:
    """All points in order, some thousands at a time, with the values of a quasi-affine form there.

    ``None`` if there are many points, more than ``most``, or a value may not fit into 64 bits.

    >>> from simplifier.expr.parser import parse_form
    >>> found = points_with_values(parse_form("(x * 5) mod 7"), {"x": Interval(1, 3)}, ())
    >>> [(columns["x"].tolist(), values.tolist()) for columns, values in found or ()]
    [([1, 2, 3], [5, 3, 1])]
    """
    points = prod(interval.size or 0 for interval in bounds.values())
    is_listed = points <= most and _are_few(form, bounds, constraints)
    return _chunks(form, bounds, constraints) if is_listed else None


def extent(chunks: Iterable[Chunk]) -> Interval:
    """The least and the greatest value; empty if there is no point."""
    ends = [(int(values.min()), int(values.max())) for _, values in chunks if len(values)]
    return Interval(min(map(min, ends)), max(map(max, ends))) if ends else EMPTY


def first_other_than_zero(chunks: Iterable[Chunk]) -> dict[str, int] | None:
    """The first point where the value is not 0."""
    for columns, values in chunks:
        others = values.nonzero()[0]
        if len(others):
            return {name: int(column[others[0]]) for name, column in columns.items()}
    return None


def _are_few(form: Form, bounds: Mapping[str, Interval], constraints: Sequence[Constraint]) -> bool:
    sizes = [interval.size for interval in bounds.values()]
    wanted = (form, *(limited for limited, _ in constraints))
    atoms = forms.postorder(wanted)
    is_known = all(map(_is_computed, atoms))
    work = prod(size or 0 for size in sizes) * (len(atoms) or 1)
    if not is_known or None in sizes or work > MAX_VALUES:
        return False
    far = {name: _magnitude(interval) for name, interval in bounds.items()}
    return max(magnitudes(wanted, far)) <= MAX_INT64


def _magnitude(interval: Interval) -> int:
    return max(abs(interval.lower or 0), abs(interval.upper or 0))


def _is_computed(atom: Atom) -> bool:
    """Whether the atom has a value at every point."""
    if atom.kind in DIVISIONS:
        return atom.divisor != 0
    return atom.kind in (AtomKind.VARIABLE, AtomKind.SELECT) or (
        atom.kind in OPERATIONS and atom.kind not in FOREIGN
    )


def _chunks(
    form: Form, bounds: Mapping[str, Interval], constraints: Sequence[Constraint]
) -> Iterator[Chunk]:
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    wanted = (form, *(limited for limited, _ in constraints))
    total = prod(interval.size or 0 for interval in bounds.values())
    for start in range(0, total, _CHUNK):
        columns = points_in(bounds, np.arange(start, min(start + _CHUNK, total), dtype=np.int64))
        values, *limited = values_of(wanted, columns)
        is_inside = np.ones(min(_CHUNK, total - start), dtype=bool)
        for value, (_, interval) in zip(limited, constraints, strict=True):
            lower, upper = interval.ends
            is_inside &= np.asarray((value >= lower) & (value <= upper), dtype=bool)
        inside = {name: column[is_inside] for name, column in columns.items()}
        yield inside, np.broadcast_to(values, is_inside.shape)[is_inside]
