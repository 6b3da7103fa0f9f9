"""Runtime variables that are no variables: their values are known before the program runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from indexing import IndexingMap
from indexing.domain import Domain
from indexing.variables import substitute
from ops.adapters.values import clamped, value_of
from ops.answers import OperandIndexing
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.answers import RuntimeOrigin
    from simplifier.form import Form


def with_known_values(way: OperandIndexing) -> OperandIndexing:
    """The same with the values that are known in place of their runtime variables, simplified.

    A value is clamped as the operation does it, and what the map says of the variable holds for
    the value. Where none is known, the dependence stays as it is.

    >>> from ops import hlo, output_to_input
    >>> text = "ENTRY e { x = f32[9] parameter(0) i = s32[4] iota(), iota_dimension=0 ROOT r = "
    >>> text += "f32[4,7] gather(x, i), offset_dims={1}, collapsed_slice_dims={}, "
    >>> text += "start_index_map={0}, index_vector_dim=1, slice_sizes={7} }"
    >>> ((way,), _) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(way)
    (d0, d1) -> (min(2, d0) + d1), domain: d0 in [0, 3], d1 in [0, 6]
    """
    known = dict(_known_values(way))
    while known:
        way = _with_values(way, known)
        known = dict(_known_values(way))
    return way


def _known_values(way: OperandIndexing) -> Iterator[tuple[int, Form]]:
    """The numbers and values of the runtime variables of which the values are known.

    None of them depends on another one of these.
    """
    found = {number: _value(origin) for number, origin in enumerate(way.runtime)}
    known = {f"rt{number}" for number, value in found.items() if value is not None}
    for number, value in found.items():
        if value is not None and known.isdisjoint(forms.variables_of([value])):
            yield number, value


def _value(origin: RuntimeOrigin) -> Form | None:
    value = value_of(origin.instruction, origin.map)
    if value is None or origin.clamp is None:
        return value
    return clamped(value, origin.clamp, origin.map)


def _with_values(way: OperandIndexing, known: dict[int, Form]) -> OperandIndexing:
    domain = way.map.domain
    _, _, names = domain.by_role(domain.names)
    values = {names[number]: domain.named(form) for number, form in known.items()}
    parts = [way.map, *(origin.map for origin in way.runtime), *filter(None, [way.replica_id])]
    together = IndexingMap.from_forms((form for part in parts for form in part.forms), domain)
    whole = substitute(together, values, ((), (), ())).simplify()
    results = iter(whole.forms)
    first, *others = (
        IndexingMap.from_forms(islice(results, len(part.forms)), whole.domain) for part in parts
    )
    beside = map(without_unused_runtime, others)
    runtime = [
        replace(origin, map=place) for origin, place in zip(way.runtime, beside, strict=False)
    ]
    left = (origin for number, origin in enumerate(runtime) if number not in known)
    return OperandIndexing(first, tuple(left), next(beside, None), way.element)


def without_unused_runtime(indexing_map: IndexingMap) -> IndexingMap:
    """The map without its runtime variables, if no result depends on them."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(domain.places)
    if not {*runtime}.isdisjoint(forms.variables_of(indexing_map.forms)):
        return indexing_map
    others = {*dims, *ranges}
    kept = (pair for pair in domain.constraints if others.issuperset(forms.variables_of(pair[:1])))
    left = Domain(domain.dims, domain.ranges, (), tuple(kept))
    return IndexingMap.from_forms(indexing_map.forms, left)
