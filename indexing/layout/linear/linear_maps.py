"""Linear layouts as maps with exclusive ors, and the layouts that maps are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact.bit_forms import input_bits, read_rows, write_rows
from indexing.exact.bit_inversion import bits_of_dims
from indexing.exact.bit_matrix import transposed
from indexing.layout.linear.encoding_parts import dimension_names
from indexing.layout.linear.linear_layout import LinearLayout
from indexing.map import IndexingMap
from indexing.variable import Variable
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.exact.bit_forms import InputBits, Rows
    from simplifier.expr.form import Form


def to_map(layout: LinearLayout) -> IndexingMap:
    """The map from a place to its element; its dimensions have the names of the in-dimensions.

    >>> from indexing.layout.linear import swizzled_shared
    >>> print(to_map(swizzled_shared((8, 8), vec=1, per_phase=1, max_phase=8)))
    (offset, block) -> (offset floordiv 8, bitxor(offset floordiv 8, offset mod 8)),
    domain: offset in [0, 63], block in [0, 0]
    """
    check_type(layout, LinearLayout, "to_map: the layout", "a LinearLayout")
    counts = {f"d{number}": count for number, count in enumerate(layout.in_bits.values())}
    inputs = input_bits(counts)
    rows = transposed(layout.matrix, sum(layout.out_bits.values()))
    outputs = input_bits(layout.out_bits)
    results = (write_rows(rows[out.first : out.first + out.count], inputs) for out in outputs)
    variables = (Variable.of_size(size, name) for name, size in layout.in_dims.items())
    return IndexingMap.from_forms(results, Domain.of(variables))


def from_map(indexing_map: IndexingMap, out_dims: Sequence[str] = ()) -> LinearLayout:
    """The layout that a map is; names of out-dimensions are ``dim0, dim1, ...`` unless given.

    The out-dimensions are as large as the results need.

    Raises:
        ArgumentError: the argument is no map.
        MapError: the map is not linear in bits, or has another number of results than names.

    >>> from indexing import parse_map
    >>> print(from_map(parse_map("(d0) -> (bitxor(d0, (d0 floordiv 4) mod 2)), "
    ...                          "domain: d0 in [0, 7]"), ["offset"]))
     - d0=1 -> (1)
       d0=2 -> (2)
       d0=4 -> (5)
    where out dims are: [offset (size 8)]
    """
    check_type(indexing_map, IndexingMap, "from_map: the map", "an IndexingMap")
    simplest = indexing_map.simplify(preserve_ranges=True)
    counts = bits_of_dims(simplest)
    if counts is None:
        expected = "expected only dimensions from 0 to a power of two less 1, without constraints"
        raise MapError(f"from_map: {indexing_map}; {expected}")
    inputs = input_bits(counts)
    read = [_rows(simplest, form, inputs) for form in simplest.forms]
    widths = list(map(len, read))
    names = tuple(out_dims) or dimension_names(len(widths))
    if len(names) != len(widths):
        raise MapError(f"from_map: {len(names)} names for {len(widths)} results")
    dims = [variable.name for variable in simplest.dims]
    in_bits = dict(zip(dims, counts.values(), strict=True))
    out_bits = dict(zip(names, widths, strict=True))
    columns = transposed([row for rows in read for row in rows], sum(counts.values()))
    return LinearLayout.of_matrix(columns, in_bits, out_bits)


def _rows(indexing_map: IndexingMap, form: Form, inputs: Sequence[InputBits]) -> Rows:
    rows = read_rows(form, inputs)
    if rows is None:
        named = indexing_map.domain.named(form)
        raise MapError(f"from_map: {named} is not linear in the bits of the dimensions")
    return rows
