"""Gather and scatter: windows of a tensor, read or changed where indices say."""

from __future__ import annotations

from itertools import count
from math import prod
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.index_maps import (
    check_count,
    check_sizes,
    checked_dimensions,
    checked_integers,
    checked_sizes,
    dim,
    dimensions_of,
    index_map,
    symbol,
)
from ops.rules.indexed_windows import IndexedWindows, Names, check_windows_fit
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import Doubt, OpRule, bounds_of, sizes_and_part, sizes_of
from ops.rules.sources import routed_from
from simplifier.tools.postorder import postorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing import IndexingMap
    from ops.hlo import Computation, Instruction
    from ops.index_maps import CheckedSizes, Sizes
    from ops.sizes import Size


_GATHER_NAMES: Final = Names(
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
    """Takes slices of one size, each from the start that an index vector gives.

    The elements along ``index_vector_dim`` of the indices are a vector; if that is the rank of the
    indices, each element is one. Component ``k`` is where the slice begins in dimension
    ``start_index_map[k]`` of the operand, clamped so that the slice lies in the operand: runtime
    variable ``k`` of the maps to and from the operand. Dimensions
    ``operand_batching_dims`` have the index of ``start_indices_batching_dims``; in all others
    slices begin at 0.

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
        _GATHER_NAMES,
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
    fitting = check_windows_fit(slices, range(len(operand)))
    from_operand, origins = slices.windows_to_operand()
    to_result, starts = slices.operand_to_windows()
    return OpIndexing(
        slices.sizes,
        (from_operand, _gathered_to_indices(slices)),
        (to_result, _indices_to_gathered(slices)),
        output_origins=(origins, ()),
        input_origins=(starts, ()),
    ).on_condition([*slices.conditions, *fitting])


def _gathered_to_indices(slices: IndexedWindows) -> IndexingMap:
    """From an element of the result to the index vector of its slice."""
    batch = [dim(axis) for axis in slices.batch_dims]
    return index_map(slices.vector_element(batch, symbol(0)), slices.sizes, slices.component_sizes)


def _indices_to_gathered(slices: IndexedWindows) -> IndexingMap:
    """From a component of an index vector to all elements of its slice."""
    results = dict(zip(slices.batch_dims, slices.batch_of_vector(), strict=True))
    for number, axis in enumerate(slices.window_dims):
        results[axis] = symbol(number)
    return index_map(
        (results[axis] for axis in range(len(results))),
        slices.indices_sizes,
        [slices.sizes[axis] for axis in slices.window_dims],
    )


_SCATTER_NAMES: Final = Names(
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
    """Folds windows of updates into the operand, from the starts that index vectors give.

    The elements along ``index_vector_dim`` of the indices are a vector; if that is the rank of the
    indices, each element is one. Component ``k`` is where the window begins in dimension
    ``scatter_dims_to_operand_dims[k]``: runtime variable ``k`` of the maps to and from the updates.
    A window that does not lie in the operand is dropped as a whole: a start out of bounds is not
    clamped, the map has no point there. Dimensions ``input_batching_dims`` have the index of
    ``scatter_indices_batching_dims``; in all others windows begin at 0.

    An element of the result may depend on the operand's element at its index, on the updates that
    land there, and on every index that could make one land there, whatever the computation does. A
    variadic scatter folds several inputs of one shape together; each of its results has these same
    maps. The operands are the inputs, the indices, then an update for each input.

    Shapes:
        inputs, results: ``operand_sizes``.
        indices: any, with as many entries of ``scatter_dims_to_operand_dims`` as an index vector
            is long.
        updates: in ``update_window_dims`` the sizes of a window, without ``inserted_window_dims``
            and ``input_batching_dims``, where it has size 1; around them the sizes of the
            indices, without ``index_vector_dim``.

    Source:
        XLA operation semantics, Scatter; StableHLO specification, scatter. XLA drops windows that
        lie in the operand only in part. If index vectors have no components, all windows begin at
        0 and every update lands, as specified; XLA's CPU compiler loses some of them.

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
        _SCATTER_NAMES,
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
    given = "as indices and windows have"
    conditions = [
        *windows.conditions,
        *check_windows_fit(windows, windows.kept_dims),
        *check_sizes("scatter", "the updates", updates, windows.sizes, given),
    ]
    identity = index_map(dimensions_of(operand), operand)
    to_updates, origins = windows.operand_to_windows()
    from_updates, starts = windows.windows_to_operand()
    return OpIndexing(
        operand,
        (identity,) * inputs + (_scattered_to_indices(windows),) + (to_updates,) * inputs,
        (identity,) * inputs + (_indices_to_scattered(windows),) + (from_updates,) * inputs,
        output_origins=((),) * (inputs + 1) + (origins,) * inputs,
        input_origins=((),) * (inputs + 1) + (starts,) * inputs,
    ).on_condition(conditions)


def _scattered_to_indices(windows: IndexedWindows) -> IndexingMap:
    """From an element to the index vectors that could move a window there."""
    batch, others = windows.batch_of_operand()
    component = symbol(len(others))
    return index_map(
        windows.vector_element(batch, component),
        windows.reached_sizes,
        [*others, *windows.component_sizes],
    )


def _indices_to_scattered(windows: IndexedWindows) -> IndexingMap:
    """From a component of an index vector to all elements that its window could be moved to."""
    known = windows.operand_of_batch(windows.batch_of_vector())
    numbers = count()
    axes = range(len(windows.operand_sizes))
    return index_map(
        [known[axis] if axis in known else symbol(next(numbers)) for axis in axes],
        windows.indices_sizes,
        [windows.reached_sizes[axis] for axis in axes if axis not in known],
    )


def _window_sizes(
    rank: int, updates: CheckedSizes, window_dims: Sequence[int], dropped: Sequence[int]
) -> tuple[Size, ...]:
    """The sizes of a window in all dimensions of the operand."""
    kept = (updates[axis] for axis in window_dims)
    return tuple(1 if axis in dropped else next(kept, 0) for axis in range(rank))


# Reading instructions.

_GATHER_ATTRIBUTES: Final = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "index_vector_dim",
    "slice_sizes",
)

_GATHER_BATCHING: Final = ("operand_batching_dims", "start_indices_batching_dims")

_SCATTER_ATTRIBUTES: Final = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
)

_SCATTER_BATCHING: Final = ("input_batching_dims", "scatter_indices_batching_dims")


def _gather(instruction: Instruction) -> OpIndexing:
    attributes = instruction.attributes
    given = {name: attributes[name] for name in _GATHER_ATTRIBUTES}
    batching = {name: attributes.get(name, ()) for name in _GATHER_BATCHING}
    operand, indices = instruction.operands
    sizes = sizes_of(operand)
    if operand.shape.dynamic_dimensions:
        sizes, given["slice_sizes"] = sizes_and_part(operand, attributes["slice_sizes"])
    return gather(sizes, sizes_of(indices), **given, **batching)


def _scatter(instruction: Instruction) -> OpIndexing:
    attributes, inputs = instruction.attributes, len(instruction.operands) // 2
    given = {name: attributes[name] for name in _SCATTER_ATTRIBUTES}
    batching = {name: attributes.get(name, ()) for name in _SCATTER_BATCHING}
    for alike in (instruction.operands[:inputs], instruction.operands[inputs + 1 :]):
        _check_alike(alike)
    sizes = [sizes_of(operand) for operand in instruction.operands]
    target = _with_bounds(instruction.operands[0], attributes["scatter_dims_to_operand_dims"])
    return scatter(target, sizes[inputs], sizes[-1], **given, **batching, inputs=inputs)


def _with_bounds(operand: Instruction, indexed: Sequence[int]) -> Sizes:
    """The sizes of the operand; updates are left out where they do not fit into the bounds."""
    pairs = zip(sizes_of(operand), bounds_of(operand), strict=True)
    return [bound if axis in indexed else size for axis, (size, bound) in enumerate(pairs)]


def _check_alike(operands: Sequence[Instruction]) -> None:
    first = operands[0]
    for other in operands:
        if sizes_of(other) != sizes_of(first):
            message = f"scatter: %{other.name} is {other.shape}, but %{first.name} {first.shape}"
            raise ShapeError(f"{message}; expected the same sizes")


def _may_be_overwritten(instruction: Instruction, output: int, operand: int) -> Doubt | None:
    """An update may take the place of an element, or fold others into it."""
    inputs = len(instruction.operands) // 2
    combiner: Computation = instruction.attributes["to_apply"]
    folded, _ = routed_from((combiner.root, output))
    used = postorder([folded], lambda each: each.operands)
    if operand >= inputs or (operand == output and combiner.parameters[output] in used):
        return None
    reason = "the indices decide which elements are overwritten"
    updates = prod(instruction.operands[-1].shape.dimensions)
    return Doubt(reason, updates if operand == output else None)


RULES: Final[Mapping[str, OpRule]] = {
    "gather": OpRule(_gather),
    "scatter": OpRule(_scatter, doubt=_may_be_overwritten),
}
