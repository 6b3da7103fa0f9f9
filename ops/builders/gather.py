"""Gather: windows of a tensor, from starts that are known only while the program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.builders.building import (
    check_count,
    checked_integers,
    checked_sizes,
    dim,
    index_map,
    symbol,
)
from ops.builders.indexed_windows import IndexedWindows, Names, check_windows_fit
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from ops.builders.building import Sizes

_NAMES: Final = Names(
    op="gather",
    windows="the result",
    window_dims="offset_dims",
    dropped_dims="collapsed_slice_dims",
    indexed_dims="start_index_map",
    operand_batching_dims="operand_batching_dims",
    indices_batching_dims="start_indices_batching_dims",
)


def gather(  # noqa: PLR0913 - the attributes of the operation
    operand_sizes: Sizes,
    indices_sizes: Sizes,
    *,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    start_index_map: Sequence[int],
    index_vector_dim: int,
    slice_sizes: Sizes,
    operand_batching_dims: Sequence[int] = (),
    start_indices_batching_dims: Sequence[int] = (),
) -> OpIndexing:
    """Slices of one size, each from the start that an index vector gives.

    The elements along ``index_vector_dim`` of the indices are a vector; if that is the rank of the
    indices, each element is one. Component ``k`` is where the slice begins in dimension
    ``start_index_map[k]`` of the operand, clamped so that the slice lies in the operand: runtime
    variable ``k`` of the maps to and from the operand. An element of ``operand_batching_dims`` is
    read for its like in ``start_indices_batching_dims``; in the other dimensions slices begin at 0.

    Shapes:
        operand: ``(n_0, ...)`` with ``0 <= slice_sizes[i] <= n_i``.
        indices: any, with as many entries of ``start_index_map`` as an index vector is long.
        result: in ``offset_dims`` the sizes of a slice, without ``collapsed_slice_dims`` and
            ``operand_batching_dims``, where it has size 1; around them the sizes of the indices,
            without ``index_vector_dim``.

    Source:
        XLA operation semantics, Gather; StableHLO specification, gather.

    Raises:
        ShapeError: sizes and attributes do not fit together.

    >>> indexing = gather((10, 4), (6, 1), offset_dims=(1,), collapsed_slice_dims=(0,),
    ...                   start_index_map=(0,), index_vector_dim=1, slice_sizes=(1, 3))
    >>> print(indexing.output_to_input[0])
    (d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 5], d1 in [0, 2], rt0 in [0, 9]
    >>> print(indexing.output_origins[0][0].map)
    (d0, d1) -> (d0, 0), domain: d0 in [0, 5], d1 in [0, 2]
    >>> print(indexing.output_to_input[1])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 5], d1 in [0, 2], s0 in [0, 0]
    >>> print(indexing.input_to_output[0])
    (d0, d1)[s0]{rt0} -> (s0, d1), domain: d0 in [0, 9], d1 in [0, 2], s0 in [0, 5], rt0 in [0, 9],
    d0 - rt0 in [0, 0]
    >>> print(indexing.input_origins[0][0].map)
    (d0, d1)[s0] -> (s0, 0), domain: d0 in [0, 9], d1 in [0, 2], s0 in [0, 5]
    """
    operand = checked_sizes("gather", "operand", operand_sizes)
    check_count("gather", "slice_sizes", slice_sizes, len(operand))
    slices = IndexedWindows(
        _NAMES,
        indices=1,
        is_clamped=True,
        operand_sizes=operand,
        indices_sizes=checked_sizes("gather", "indices", indices_sizes),
        window_sizes=checked_sizes("gather", "slice", slice_sizes),
        window_dims=checked_integers("gather", "offset_dims", offset_dims),
        dropped_dims=checked_integers("gather", "collapsed_slice_dims", collapsed_slice_dims),
        indexed_dims=checked_integers("gather", "start_index_map", start_index_map),
        index_vector_dim=index_vector_dim,
        operand_batching_dims=tuple(operand_batching_dims),
        indices_batching_dims=tuple(start_indices_batching_dims),
    )
    check_windows_fit(slices, range(len(operand)))
    from_operand, origins = slices.windows_to_operand()
    to_result, starts = slices.operand_to_windows()
    return OpIndexing(
        slices.sizes,
        (from_operand, _result_to_indices(slices)),
        (to_result, _indices_to_result(slices)),
        output_origins=(origins, ()),
        input_origins=(starts, ()),
    )


def _result_to_indices(slices: IndexedWindows) -> IndexingMap:
    """From an element of the result to the index vector of its slice."""
    batch = [dim(place) for place in slices.batch_dims]
    return index_map(slices.vector_element(batch, symbol(0)), slices.sizes, slices.component_sizes)


def _indices_to_result(slices: IndexedWindows) -> IndexingMap:
    """From a component of an index vector to all elements of its slice."""
    results = dict(zip(slices.batch_dims, slices.batch_of_vector(), strict=True))
    for number, place in enumerate(slices.window_dims):
        results[place] = symbol(number)
    return index_map(
        (results[place] for place in range(len(results))),
        slices.indices_sizes,
        [slices.sizes[place] for place in slices.window_dims],
    )
