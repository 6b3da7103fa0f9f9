"""Gather and scatter: windows of a tensor, read or changed where indices say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from math import prod
from typing import Any, Final, NamedTuple

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint, Ends
from ops import index_maps
from ops.hlo import Computation, Instruction
from ops.hlo.errors import AttributeValueError
from ops.hlo.shape_inference import Application, Sized, sizes_of_part
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules import rule
from ops.rules.control import routed_from
from ops.rules.rule import Doubt, MapOfOperand, OpIndexing, OpRule, Origin
from simplifier import forms
from simplifier.errors import INTEGER, check_type, naming_wrong_arguments
from simplifier.forms import Form, Interval
from simplifier.tools.graphs import postorder

# Windows of a tensor that begin where another tensor says: the core of gather and scatter.
#
# A gather reads such windows into its result, a scatter writes them from its updates. Either way
# the windows lie in one tensor, and the relation between that tensor and the operand is the same.


class Names(NamedTuple):
    """The names of an operation, its tensor of windows and its attributes."""

    op: str
    windows: str
    window_dims: str
    dropped_dims: str
    indexed_dims: str
    operand_batching_dims: str
    indices_batching_dims: str


@dataclass(frozen=True)
class IndexedWindows:
    """Windows of an operand, in one tensor of windows, that begin where indices say.

    An index vector lies along ``index_vector_dim`` of the indices, or is a single element if
    that is their rank. The other dimensions number the vectors: the batch. Component ``k``
    of a vector says where the window of this batch index begins in dimension ``indexed_dims[k]``
    of the operand. Dimension ``operand_batching_dims[j]`` of the operand has the batch index
    of ``indices_batching_dims[j]``. In all other dimensions windows begin at 0.

    The tensor of windows has the batch and, in ``window_dims``, the dimensions of the operand
    that are neither ``dropped_dims`` nor batching dimensions. Windows have one size in each
    dimension of the operand, ``window_sizes``. ``indices`` is the number of the operand that
    holds the indices. Windows that would not lie in the operand are moved so that they do if
    ``is_clamped``, and else are none.
    """

    names: Names
    indices: int
    operand_sizes: tuple[Size, ...]
    indices_sizes: tuple[Size, ...]
    window_sizes: tuple[Size, ...]
    index_vector_dim: int
    window_dims: tuple[int, ...]
    dropped_dims: tuple[int, ...]
    indexed_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...]
    indices_batching_dims: tuple[int, ...]
    is_clamped: bool

    def checked(self) -> list[Constraint]:
        """The conditions on parameters in sizes.

        Raises:
            ShapeError: the numbers of dimensions and the sizes do not fit together.
        """
        _check_vectors(self)
        _check_operand_dimensions(self)
        sizes = (*self.operand_sizes, *self.indices_sizes, *self.window_sizes)
        conditions = [*index_maps.not_negative(sizes), *_check_batching(self)]
        _check_window_dims(self)
        return [*conditions, *_check_single(self)]

    @cached_property
    def kept_dims(self) -> tuple[int, ...]:
        """The dimensions of the operand that the tensor of windows has."""
        gone = (*self.dropped_dims, *self.operand_batching_dims)
        return tuple(axis for axis in range(len(self.operand_sizes)) if axis not in gone)

    @cached_property
    def batch_sizes(self) -> tuple[Size, ...]:
        """The sizes of the indices without the dimension of the index vectors."""
        before, after = self.index_vector_dim, self.index_vector_dim + 1
        return (*self.indices_sizes[:before], *self.indices_sizes[after:])

    @cached_property
    def batch_dims(self) -> tuple[int, ...]:
        """The dimensions of the tensor of windows that number the windows."""
        rank = len(self.batch_sizes) + len(self.window_dims)
        return tuple(axis for axis in range(rank) if axis not in self.window_dims)

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of the tensor of windows."""
        sizes = dict(zip(self.batch_dims, self.batch_sizes, strict=True))
        for axis, kept in zip(self.window_dims, self.kept_dims, strict=True):
            sizes[axis] = self.window_sizes[kept]
        return index_maps.in_order(sizes)

    @cached_property
    def reached_sizes(self) -> tuple[Size, ...]:
        """Sizes that windows can reach in each dimension of the operand."""
        pairs = zip(self.operand_sizes, self.window_sizes, strict=True)
        moved = (*self.indexed_dims, *self.operand_batching_dims)
        return tuple(
            size if window and axis in moved else index_maps.least(size, window)
            for axis, (size, window) in enumerate(pairs)
        )

    # Maps. A batch index is a tuple of forms, one for each dimension of the batch.

    def windows_to_operand(self) -> MapOfOperand:
        """Map from the elements of windows to their indices in the operand."""
        batch = [index_maps.dim(axis) for axis in self.batch_dims]
        results = self._starts(batch)
        for axis, kept in zip(self.window_dims, self.kept_dims, strict=True):
            results[kept] += index_maps.dim(axis)
        gone = (*self.dropped_dims, *self.operand_batching_dims)
        within = self._in_windows(dict.fromkeys(gone, forms.ZERO))
        found = index_maps.index_map(results, self.sizes, (), within, self._runtime())
        return MapOfOperand(found, self._origins(batch, self.sizes))

    def operand_to_windows(self) -> MapOfOperand:
        """Map from an index in the operand to the elements of windows that lie there."""
        batch, others = self._batch_of_operand()
        distances = [index_maps.dim(axis) - start for axis, start in enumerate(self._starts(batch))]
        results = dict(zip(self.batch_dims, batch, strict=True))
        for axis, kept in zip(self.window_dims, self.kept_dims, strict=True):
            results[axis] = distances[kept]
        within = self._in_windows({axis: distances[axis] for axis in self.indexed_dims})
        sizes, index = self.reached_sizes, index_maps.in_order(results)
        found = index_maps.index_map(index, sizes, others, within, self._runtime())
        return MapOfOperand(found, self._origins(batch, sizes, others))

    def _in_windows(self, places: Mapping[int, Form]) -> list[Constraint]:
        """The constraints that windows hold places, by dimension of the operand."""
        return [
            limit
            for axis, place in places.items()
            for limit in index_maps.inside(place, self.window_sizes[axis])
        ]

    def _batch_of_operand(self) -> tuple[list[Form], list[Size]]:
        """The batch indices of the windows that may hold an element of the operand.

        Second are the sizes of the ranges over which they run.
        """
        known = {number: index_maps.dim(axis) for axis, number in self._batching.items()}
        numbers = count()
        batch = [
            known[axis] if axis in known else index_maps.symbol(next(numbers))
            for axis in range(len(self.batch_sizes))
        ]
        others = [size for axis, size in enumerate(self.batch_sizes) if axis not in known]
        return batch, others

    def windows_and_indices(self) -> tuple[IndexingMap, IndexingMap]:
        """Maps between the elements of a window and the components of its index vector."""
        axes = (axis for axis in range(len(self.indices_sizes)) if axis != self.index_vector_dim)
        same = zip(self.batch_dims, axes, strict=True)
        return index_maps.paired(self.sizes, self.indices_sizes, same)

    def _vector_element(self, batch: Sequence[Form], component: Form) -> tuple[Form, ...]:
        """The index, in the indices, of a component of the vector of a batch index."""
        axis = self.index_vector_dim
        if axis == len(self.indices_sizes):
            return tuple(batch)
        return (*batch[:axis], component, *batch[axis:])

    def _starts(self, batch: Sequence[Form]) -> list[Form]:
        """Begin of the window of a batch index in each dimension of the operand."""
        known = {
            axis: index_maps.runtime_value(number) for number, axis in enumerate(self.indexed_dims)
        }
        known |= {axis: batch[number] for axis, number in self._batching.items()}
        return [known.get(axis, forms.constant(0)) for axis in range(len(self.operand_sizes))]

    @cached_property
    def _batching(self) -> dict[int, int]:
        """Number of each batching dimension of the operand among the batch dimensions."""
        pairs = zip(self.operand_batching_dims, self.indices_batching_dims, strict=True)
        return {axis: number - (number > self.index_vector_dim) for axis, number in pairs}

    def _runtime(self) -> list[Interval | Ends]:
        """Valid begins of windows in the dimensions that are indexed, within the operand."""
        return [
            index_maps.between(0, self.operand_sizes[axis] - self.window_sizes[axis])
            for axis in self.indexed_dims
        ]

    def _origins(
        self, batch: Sequence[Form], dims: Sizes, ranges: Sizes = ()
    ) -> tuple[Origin, ...]:
        """The components of the index vector of a batch index."""
        return tuple(
            Origin(
                self.indices,
                index_maps.index_map(
                    self._vector_element(batch, forms.constant(number)), dims, ranges
                ),
                bounds if self.is_clamped else None,
            )
            for number, bounds in enumerate(self._runtime())
        )


# Checks.


def _check_vectors(windows: IndexedWindows) -> None:
    """There is a component of the index vector for each dimension that is indexed."""
    rank, axis, names = len(windows.indices_sizes), windows.index_vector_dim, windows.names
    check_type(axis, INTEGER, f"{names.op}: index_vector_dim", "an integer")
    if not 0 <= axis <= rank:
        message = f"{names.op}: index_vector_dim is {axis}, but the indices have rank {rank}"
        raise ShapeError(f"{message}; expected 0 to {rank}")
    given, depth = len(windows.indexed_dims), (*windows.indices_sizes, 1)[axis]
    if given != depth:
        of_size = f"dimension {axis} of the indices has size {depth}"
        source = of_size if axis < rank else "each index is a vector by itself"
        message = f"{names.op}: {names.indexed_dims} has {given} entries, but {source}"
        raise ShapeError(f"{message}; expected {depth}")


def _check_operand_dimensions(windows: IndexedWindows) -> None:
    """Every dimension of the operand has one role, and a start that is known in one way."""
    names, rank = windows.names, len(windows.operand_sizes)
    dropped = (names.dropped_dims, windows.dropped_dims)
    indexed = (names.indexed_dims, windows.indexed_dims)
    batching = (names.operand_batching_dims, windows.operand_batching_dims)
    for role, listed in (dropped, indexed, batching):
        index_maps.checked_dimensions(names.op, role, listed, rank)
    for role, listed in (dropped, batching):
        _check_ascending(names.op, role, listed)
    for role, listed in (dropped, indexed):
        for axis in listed:
            if axis in windows.operand_batching_dims:
                message = f"{names.op}: dimension {axis} is in {role} and in {batching[0]}"
                raise ShapeError(f"{message}; expected it in one of them")


def _check_batching(windows: IndexedWindows) -> Iterator[Constraint]:
    """Batching dimensions of operand and indices are pairs of one size."""
    names, operand, indices = windows.names, windows.operand_sizes, windows.indices_sizes
    role = names.indices_batching_dims
    index_maps.checked_dimensions(names.op, role, windows.indices_batching_dims, len(indices))
    if windows.index_vector_dim in windows.indices_batching_dims:
        message = f"{names.op}: {role} lists dimension {windows.index_vector_dim}"
        raise ShapeError(f"{message}, which is index_vector_dim; expected others")
    index_maps.check_count(
        names.op, role, windows.indices_batching_dims, len(windows.operand_batching_dims)
    )
    for axis, number in zip(
        windows.operand_batching_dims, windows.indices_batching_dims, strict=True
    ):
        message = (
            f"{names.op}: batching dimension {axis} of the operand has size {operand[axis]}, "
            f"but dimension {number} of the indices has {indices[number]}; expected the same"
        )
        yield from index_maps.equal(operand[axis], indices[number], message)


def _check_window_dims(windows: IndexedWindows) -> None:
    """The tensor of windows has the dimensions of the operand that are kept, in their order."""
    names, kept = windows.names, windows.kept_dims
    given = len(windows.window_dims)
    if given != len(kept):
        message = f"{names.op}: {names.window_dims} has {given} entries, but windows keep"
        raise ShapeError(f"{message} dimensions {kept} of the operand; expected {len(kept)}")
    rank = len(windows.batch_sizes) + len(kept)
    index_maps.checked_dimensions(names.op, names.window_dims, windows.window_dims, rank)
    _check_ascending(names.op, names.window_dims, windows.window_dims)


def _check_single(windows: IndexedWindows) -> Iterator[Constraint]:
    """Windows are one element wide where the tensor of windows has no dimension for them."""
    for axis, size in enumerate(windows.window_sizes):
        if axis not in windows.kept_dims:
            message = f"{windows.names.op}: windows have size {size} in dimension {axis}"
            message = f"{message}, which {windows.names.windows} lacks; expected 1 or 0"
            yield from index_maps.at_most(size, 1, message)


def _checked_dims(names: Names, *given: Sequence[int]) -> list[tuple[int, ...]]:
    """The attributes with dimensions, in the order of their names."""
    named = zip(names[2:], given, strict=True)
    return [index_maps.checked_integers(names.op, name, dims) for name, dims in named]


def _check_windows_fit(windows: IndexedWindows, axes: Iterable[int]) -> Iterator[Constraint]:
    """Raise a :class:`ShapeError` unless windows fit into the operand in these dimensions.

    An inequality of parameters is a condition.
    """
    for axis in axes:
        size, most = windows.window_sizes[axis], windows.operand_sizes[axis]
        message = f"{windows.names.op}: windows have size {size} in dimension {axis} of the operand"
        message = f"{message}, which has size {most}; expected {most} or less"
        yield from index_maps.at_most(size, most, message)


def _check_ascending(op: str, role: str, dimensions: Sequence[int]) -> None:
    for before, after in pairwise(dimensions):
        if before > after:
            message = f"{op}: {role} lists dimension {before} before {after}"
            raise ShapeError(f"{message}; expected them in ascending order")


# Gathers and scatters.

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
    operand = index_maps.checked_sizes("gather", "operand", operand_sizes)
    index_maps.check_count("gather", "slice_sizes", slice_sizes, len(operand))
    indices = index_maps.checked_sizes("gather", "indices", indices_sizes)
    window = index_maps.checked_sizes("gather", "slice", slice_sizes)
    dims = _checked_dims(
        _GATHER_NAMES,
        *(offset_dims, collapsed_slice_dims, start_index_map),
        *(operand_batching_dims, start_indices_batching_dims),
    )
    given = (operand, indices, window, index_vector_dim, *dims)
    slices = IndexedWindows(_GATHER_NAMES, 1, *given, is_clamped=True)
    conditions = [*slices.checked(), *_check_windows_fit(slices, range(len(operand)))]
    return OpIndexing.between(
        slices.sizes,
        (slices.windows_to_operand(), slices.operand_to_windows()),
        slices.windows_and_indices(),
    ).on_condition(conditions)


_SCATTER_NAMES: Final = Names(
    op="scatter",
    windows="the updates",
    window_dims="update_window_dims",
    dropped_dims="inserted_window_dims",
    indexed_dims="scatter_dims_to_operand_dims",
    operand_batching_dims="input_batching_dims",
    indices_batching_dims="scatter_indices_batching_dims",
)


@naming_wrong_arguments
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
    operand = index_maps.checked_sizes("scatter", "operand", operand_sizes)
    updates = index_maps.checked_sizes("scatter", "updates", updates_sizes)
    dims = _checked_dims(
        _SCATTER_NAMES,
        *(update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims),
        *(input_batching_dims, scatter_indices_batching_dims),
    )
    window_dims, dropped, _, batching, _ = dims
    index_maps.checked_dimensions("scatter", "update_window_dims", window_dims, len(updates))
    indices = index_maps.checked_sizes("scatter", "indices", indices_sizes)
    window = _window_sizes(len(operand), updates, window_dims, (*dropped, *batching))
    given = (operand, indices, window, index_vector_dim, *dims)
    windows = IndexedWindows(_SCATTER_NAMES, inputs, *given, is_clamped=False)
    reason = "as indices and windows have"
    conditions = [
        *windows.checked(),
        *_check_windows_fit(windows, windows.kept_dims),
        *index_maps.check_sizes("scatter", "the updates", updates, windows.sizes, reason),
    ]
    identity = index_maps.index_map(index_maps.dimensions_of(operand), operand)
    # An element depends on the index vectors that could move a window there, whatever they are.
    batching = zip(windows.operand_batching_dims, windows.indices_batching_dims, strict=True)
    moved = index_maps.paired(windows.reached_sizes, indices, batching)
    updated = windows.operand_to_windows(), windows.windows_to_operand()
    return OpIndexing.between(
        operand, *[(identity, identity)] * inputs, moved, *[updated] * inputs
    ).on_condition(conditions)


def _window_sizes(
    rank: int, updates: CheckedSizes, window_dims: Sequence[int], dropped: Sequence[int]
) -> tuple[Size, ...]:
    """The sizes of a window in all dimensions of the operand."""
    kept = (updates[axis] for axis in window_dims)
    return tuple(1 if axis in dropped else next(kept, 0) for axis in range(rank))


# Reading instructions.


def _given(instruction: Instruction, names: Names, *others: str) -> dict[str, Any]:
    """The attributes of an instruction that describe its windows, as far as they are written."""
    wanted = (*names[2:], "index_vector_dim", *others)
    return {name: instruction.attributes[name] for name in wanted if name in instruction.attributes}


def _gather(instruction: Instruction) -> OpIndexing:
    operand, indices = instruction.operands
    given, sizes = _given(instruction, _GATHER_NAMES, "slice_sizes"), rule.sizes_of(operand)
    if operand.shape.dynamic_dimensions:
        sizes, given["slice_sizes"] = rule.sizes_and_part(operand, given["slice_sizes"])
    return gather(sizes, rule.sizes_of(indices), **given)


def _scatter(instruction: Instruction) -> OpIndexing:
    given, inputs = _given(instruction, _SCATTER_NAMES), len(instruction.operands) // 2
    for alike in (instruction.operands[:inputs], instruction.operands[inputs + 1 :]):
        _check_alike(alike)
    sizes = [rule.sizes_of(operand) for operand in instruction.operands]
    target = _with_bounds(instruction.operands[0], given[_SCATTER_NAMES.indexed_dims])
    return scatter(target, sizes[inputs], sizes[-1], **given, inputs=inputs)


def _with_bounds(operand: Instruction, indexed: Sequence[int]) -> Sizes:
    """The sizes of the operand; updates are left out where they do not fit into the bounds."""
    pairs = zip(rule.sizes_of(operand), rule.bounds_of(operand), strict=True)
    return [bound if axis in indexed else size for axis, (size, bound) in enumerate(pairs)]


def _check_alike(operands: Sequence[Instruction]) -> None:
    first = operands[0]
    for other in operands:
        if rule.sizes_of(other) != rule.sizes_of(first):
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


def _gather_shape(op: Application) -> Sized:
    """Batches come from the indices."""
    (operand, indices), named = op.operands, op.attributes
    dropped = {*named["collapsed_slice_dims"], *named.get("operand_batching_dims", ())}
    part = enumerate(sizes_of_part(operand, named["slice_sizes"]))
    window = [size for axis, size in part if axis not in dropped]
    batch = [size for axis, size in enumerate(indices.own) if axis != named["index_vector_dim"]]
    rank, windows, batches = len(named["offset_dims"]) + len(batch), iter(window), iter(batch)
    found = [
        next(windows if axis in named["offset_dims"] else batches, None) for axis in range(rank)
    ]
    if any(size is None for size in found):
        message = "offset_dims, collapsed_slice_dims and slice_sizes do not fit together"
        raise AttributeValueError(message)
    return Sized.array(operand.shape.element_type, found)


RULES: Final[Mapping[str, OpRule]] = {
    "gather": OpRule(_gather, shape=_gather_shape),
    "scatter": OpRule(_scatter, doubt=_may_be_overwritten),
}
