"""Inverts maps that permute the bits of their dimensions or flip some by others, as swizzles do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.exact.bit_forms import Rows, input_bits, read_rows, write_rows
from indexing.exact.bit_matrix import right_inverse, transposed
from indexing.exact.few_points import elements
from indexing.variable import Variable
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.exact.bit_forms import InputBits
    from indexing.relation import Relation, RelationT


def inverse_of_bits(simplest: RelationT) -> RelationT | None:
    """The inverse of a bijection between boxes that is linear in bits; none for other maps.

    >>> from indexing import parse_map
    >>> print(inverse_of_bits(parse_map("(d0, d1) -> (d0, bitxor(d0, d1)), "
    ...                                 "domain: d0 in [0, 7], d1 in [0, 7]")))
    (d0, d1) -> (d0, bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]
    """
    sizes = bits_of_dims(simplest)
    if sizes is None:
        return None
    inputs = input_bits(sizes)
    read = [read_rows(form, inputs) for form in simplest.forms]
    known: list[Rows] = [rows for rows in read if rows is not None]
    if len(known) < len(read):
        known = _rows_of_points(simplest, inputs)
    counts = list(map(len, known))
    if not known or sum(counts) != sum(sizes.values()):
        return None
    rows = [row for each in known for row in each]
    back = right_inverse(transposed(rows, len(rows)), len(rows))
    if back is None:
        return None
    outputs = input_bits({f"d{number}": count for number, count in enumerate(counts)})
    rows_back = transposed(back, len(rows))
    results = [
        write_rows(rows_back[digits.first : digits.first + digits.count], outputs)
        for digits in inputs
    ]
    return simplest.derived(results, Domain.of(Variable.of_size(1 << count) for count in counts))


def _rows_of_points(simplest: Relation, inputs: Iterable[InputBits]) -> list[Rows]:
    """The rows of results that are linear in bits at each of few points; none of other results."""
    place = forms.weighted_sum([(1 << digits.first, digits.variable) for digits in inputs])
    table = elements(simplest, (place, *simplest.forms), MAX_POINTS_READ)
    columns_of_values: list[list[int]] = [] if table is None else table.T[1:].tolist()
    found: list[Rows] = []
    for values in columns_of_values:
        if min(values) < 0 or any(
            value != (values[at & (at - 1)] ^ values[at & -at] if at else 0)
            for at, value in enumerate(values)
        ):
            return []
        columns = [values[1 << bit] for bit in range((len(values) - 1).bit_length())]
        found.append(transposed(columns, max(values).bit_length()))
    return found


MAX_POINTS_READ: Final = 1 << 12
"""Points at which a map is looked at for bits: a thousandth of a second."""


def bits_of_dims(indexing_map: Relation) -> dict[str, int] | None:
    """The number of bits of each dimension, if all run over these and there is nothing else."""
    domain = indexing_map.domain
    sizes: dict[str, int] = {}
    if indexing_map.ranges or indexing_map.runtime or domain.parameters or domain.constraints:
        return None
    for number, variable in enumerate(indexing_map.dims):
        lower, upper = variable.bounds.lower, variable.bounds.upper
        if lower != 0 or upper is None or upper < 0 or upper & (upper + 1):
            return None
        sizes[f"d{number}"] = upper.bit_length()
    return sizes
