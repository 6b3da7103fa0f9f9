"""Scatter: windows of a tensor changed, at starts that are known only while the program runs."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap
from ops.builders.building import (
    check_sizes,
    checked_dimensions,
    checked_integers,
    checked_sizes,
    index_map,
    symbol,
)
from ops.builders.indexed_windows import IndexedWindows, Names, check_windows_fit
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.builders.building import Sizes

_NAMES: Final = Names(
    op="scatter",
    windows="the updates",
    window_dims="update_window_dims",
    dropped_dims="inserted_window_dims",
    indexed_dims="scatter_dims_to_operand_dims",
    operand_batching_dims="input_batching_dims",
    indices_batching_dims="scatter_indices_batching_dims",
)


def scatter(  # noqa: PLR0913 - the attributes of the operation
    operand_sizes: Sizes,
    indices_sizes: Sizes,
    updates_sizes: Sizes,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    index_vector_dim: int,
    input_batching_dims: Sequence[int] = (),
    scatter_indices_batching_dims: Sequence[int] = (),
    inputs: int = 1,
) -> OpIndexing:
    """The operand, with windows of updates folded in where index vectors say.

    The elements along ``index_vector_dim`` of the indices are a vector; if that is the rank of the
    indices, each element is one. Component ``k`` is where the window begins in dimension
    ``scatter_dims_to_operand_dims[k]``: runtime variable ``k`` of the maps to and from the updates.
    A window that does not lie in the operand is dropped as a whole: values outside of the bounds
    of these variables are not clamped, but have no point. An element of ``input_batching_dims`` is
    changed by its like in ``scatter_indices_batching_dims``; in the other dimensions windows begin
    at 0.

    The maps say what an element may depend on, whatever the computation does with its arguments:
    on the operand's element in the same place, on the updates that land there, and on every
    index that could make one land there. A variadic scatter folds several inputs of one shape
    together, and has as many results, each with these same maps. The operands are the inputs, the
    indices, then an update for each input.

    Shapes:
        inputs, results: ``operand_sizes``.
        indices: any, with as many entries of ``scatter_dims_to_operand_dims`` as an index vector
            is long.
        updates: in ``update_window_dims`` the sizes of a window, without ``inserted_window_dims``
            and ``input_batching_dims``, where it has size 1; around them the sizes of the
            indices, without ``index_vector_dim``.

    Source:
        XLA operation semantics, Scatter; StableHLO specification, scatter, but for windows that
        lie in the operand in part, of which XLA drops all.

    Raises:
        ShapeError: sizes and attributes do not fit together.

    >>> indexing = scatter((10, 4), (6, 1), (6, 3), update_window_dims=(1,),
    ...                    inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,),
    ...                    index_vector_dim=1)
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 3]
    >>> print(indexing.output_to_input[2])
    (d0, d1)[s0]{rt0} -> (s0, d1), domain: d0 in [0, 9], d1 in [0, 2], s0 in [0, 5], rt0 in [0, 9],
    d0 - rt0 in [0, 0]
    >>> print(indexing.output_origins[2][0].map)
    (d0, d1)[s0] -> (s0, 0), domain: d0 in [0, 9], d1 in [0, 2], s0 in [0, 5]
    >>> print(indexing.output_to_input[1])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], d1 in [0, 2], s0 in [0, 5], s1 in [0, 0]
    >>> print(indexing.input_to_output[2])
    (d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 5], d1 in [0, 2], rt0 in [0, 9]
    """
    operand = checked_sizes("scatter", "operand", operand_sizes)
    updates = checked_sizes("scatter", "updates", updates_sizes)
    window_dims = checked_dimensions(
        "scatter", "update_window_dims", update_window_dims, len(updates)
    )
    dropped = checked_integers("scatter", "inserted_window_dims", inserted_window_dims)
    batching = checked_integers("scatter", "input_batching_dims", input_batching_dims)
    windows = IndexedWindows(
        _NAMES,
        indices=inputs,
        is_clamped=False,
        operand_sizes=operand,
        indices_sizes=checked_sizes("scatter", "indices", indices_sizes),
        window_sizes=_window_sizes(len(operand), updates, window_dims, (*dropped, *batching)),
        window_dims=window_dims,
        dropped_dims=dropped,
        indexed_dims=checked_integers(
            "scatter", "scatter_dims_to_operand_dims", scatter_dims_to_operand_dims
        ),
        index_vector_dim=index_vector_dim,
        operand_batching_dims=batching,
        indices_batching_dims=tuple(scatter_indices_batching_dims),
    )
    check_windows_fit(windows, windows.kept_dims)
    check_sizes("scatter", "the updates", updates, windows.sizes, "as indices and windows have")
    identity = IndexingMap.identity(operand)
    to_updates, origins = windows.operand_to_windows()
    from_updates, starts = windows.windows_to_operand()
    return OpIndexing(
        operand,
        (identity,) * inputs + (_result_to_indices(windows),) + (to_updates,) * inputs,
        (identity,) * inputs + (_indices_to_result(windows),) + (from_updates,) * inputs,
        output_origins=((),) * (inputs + 1) + (origins,) * inputs,
        input_origins=((),) * (inputs + 1) + (starts,) * inputs,
    )


def _result_to_indices(windows: IndexedWindows) -> IndexingMap:
    """From an element to the index vectors that could move a window there."""
    batch, others = windows.batch_of_operand()
    component = symbol(len(others))
    return index_map(
        windows.vector_element(batch, component),
        windows.reached_sizes,
        [*others, *windows.component_sizes],
    )


def _indices_to_result(windows: IndexedWindows) -> IndexingMap:
    """From a component of an index vector to all elements that its window could be moved to."""
    known = windows.operand_of_batch(windows.batch_of_vector())
    numbers = count()
    places = range(len(windows.operand_sizes))
    return index_map(
        [known[place] if place in known else symbol(next(numbers)) for place in places],
        windows.indices_sizes,
        [windows.reached_sizes[place] for place in places if place not in known],
    )


def _window_sizes(rank: int, updates: Sizes, window_dims: Sizes, dropped: Sizes) -> tuple[int, ...]:
    """The sizes of a window in all dimensions of the operand."""
    kept = (updates[place] for place in window_dims)
    return tuple(1 if place in dropped else next(kept, 0) for place in range(rank))
