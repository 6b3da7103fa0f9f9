"""Inverts maps that permute the bits of their dimensions or flip some by others, as swizzles do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.exact.bit_forms import Rows, input_bits, read_rows, write_rows
from indexing.exact.bit_matrix import right_inverse, transposed
from indexing.variable import Variable

if TYPE_CHECKING:
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
    counts = list(map(len, known))
    if len(known) < len(read) or sum(counts) != sum(sizes.values()):
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
