"""Linear algebra: products, Cholesky decomposition, triangular solve, Fourier transform."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo import Instruction, shape_inference
from ops.hlo.errors import AttributeValueError
from ops.hlo.shape_inference import Application, Sized
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules.rule import Doubt, OpIndexing, OpRule, bounds_of, reading, sizes_of
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval


def dot(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    *,
    lhs_contracting_dims: Sequence[int] = (),
    rhs_contracting_dims: Sequence[int] = (),
    lhs_batch_dims: Sequence[int] = (),
    rhs_batch_dims: Sequence[int] = (),
) -> OpIndexing:
    """Sums products of both operands along contracting dimensions.

    Shapes:
        operands: equal sizes in each pair of contracting dimensions and in each pair of batch
            dimensions.
        result: batch dimensions, then the other dimensions of the left operand, then those of
            the right.

    Source:
        XLA operation semantics, DotGeneral.

    Raises:
        ShapeError: a pair of dimensions differs in size, or a dimension is listed twice.

    >>> matmul = dot((128, 256), (256, 64), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    >>> print(matmul.output_to_input[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 127], d1 in [0, 63], s0 in [0, 255]
    >>> print(matmul.input_to_output[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 255], d1 in [0, 63], s0 in [0, 127]
    """
    lhs = _Side("dot", "lhs", lhs_sizes, lhs_contracting_dims, lhs_batch_dims)
    rhs = _Side("dot", "rhs", rhs_sizes, rhs_contracting_dims, rhs_batch_dims)
    return _product(lhs, rhs, _check_operands("dot", lhs, rhs))


def scaled_dot(  # noqa: PLR0913 - these are the operation's attributes
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    lhs_scale_sizes: Sizes,
    rhs_scale_sizes: Sizes,
    *,
    lhs_contracting_dims: Sequence[int] = (),
    rhs_contracting_dims: Sequence[int] = (),
    lhs_batch_dims: Sequence[int] = (),
    rhs_batch_dims: Sequence[int] = (),
) -> OpIndexing:
    """Multiplies two tensors block by block with scales, and computes their dot.

    The operands are both tensors, then their scales. Along each dimension a scale is for a block of
    ``size // scale_size`` elements; a scalar scales all elements.

    Shapes:
        tensors, result: as for :func:`dot`.
        scales: scalars, or sizes that divide those of their tensor.

    Source:
        XLA's operation ScaledDot.

    Raises:
        ShapeError: as for :func:`dot`, or a size of a scale does not divide that of its tensor.

    >>> scaled = scaled_dot(
    ...     (4, 64), (64, 2), (4, 2), (2, 2), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)
    ... )
    >>> print(scaled.output_to_input[2])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 1], s0 in [0, 1]
    >>> print(scaled.input_to_output[2])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 1], s0 in [0, 1]
    """
    lhs = _Side("scaled-dot", "lhs", lhs_sizes, lhs_contracting_dims, lhs_batch_dims)
    rhs = _Side("scaled-dot", "rhs", rhs_sizes, rhs_contracting_dims, rhs_batch_dims)
    product = _product(lhs, rhs, _check_operands("scaled-dot", lhs, rhs))
    blocks = [_blocks(lhs, lhs_scale_sizes), _blocks(rhs, rhs_scale_sizes)]
    tensors = [*zip(product.output_to_input, product.input_to_output, strict=True)]
    scales = (
        (_after(to_input, each.to_scale), _after(each.to_elements, to_output))
        for each, (to_input, to_output) in zip(blocks, tensors, strict=True)
    )
    conditions = [condition for each in blocks for condition in each.conditions]
    return OpIndexing.between(product.output_sizes, *tensors, *scales).on_condition(conditions)


def _after(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    return consumer.compose(producer).simplify().without_unused_symbols()


class _Blocks(NamedTuple):
    """Maps from the elements of a tensor to their scales, and back; and conditions for them."""

    to_scale: IndexingMap
    to_elements: IndexingMap
    conditions: Sequence[Constraint] = ()


def _blocks(side: _Side, scale_sizes: Sizes) -> _Blocks:
    scales = index_maps.checked_sizes("scaled-dot", f"{side.name}_scale", scale_sizes)
    if not scales:
        return _Blocks(*index_maps.paired(side.sizes, ()))
    index_maps.check_count("scaled-dot", f"{side.name}_scale", scales, len(side.sizes))
    widths: list[Size] = []
    conditions: list[Constraint] = []
    for axis, (size, scale) in enumerate(zip(side.sizes, scales, strict=True)):
        message = f"scaled-dot: dimension {axis} of {side.name} has size {size}"
        message = f"{message}, but {side.name}_scale has {scale}; expected a divisor"
        width, needed = index_maps.divided(size, scale, message)
        widths.append(width)
        conditions += needed
        if isinstance(scale, Form):  # A tensor without scales has no elements.
            conditions.append((scale, Interval(1, None)))
    pairs = [(index_maps.dim(axis), width) for axis, width in enumerate(widths)]
    block = [index_maps.block_and_offset(*pair)[0] for pair in pairs]
    first = [index_maps.scaled(*pair) for pair in pairs]
    element = (start + index_maps.symbol(axis) for axis, start in enumerate(first))
    there = index_maps.index_map(block, side.sizes)
    back = index_maps.index_map(element, scales, widths)
    known = index_maps.on_condition(there, conditions).simplify()
    return _Blocks(known, index_maps.on_condition(back, conditions), conditions)


def ragged_dot(  # noqa: PLR0913 - these are the operation's attributes
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    group_sizes: Sizes,
    *,
    lhs_ragged_dims: Sequence[int] = (),
    rhs_group_dims: Sequence[int] = (),
    lhs_contracting_dims: Sequence[int] = (),
    rhs_contracting_dims: Sequence[int] = (),
    lhs_batch_dims: Sequence[int] = (),
    rhs_batch_dims: Sequence[int] = (),
) -> OpIndexing:
    """Computes a dot along a ragged dimension, cut into groups whose sizes are operands.

    The operands are both tensors and the group sizes. If the ragged dimension is a free one of the
    left operand, its elements meet the part of the right operand for their group, which may be
    any group. If it is contracting, the result has a sum for each group, over elements that may be
    any. If it is a batch dimension, this is a dot, and group sizes do not matter.

    Shapes:
        operands: as for :func:`dot`, but ``rhs_group_dims`` for a free ragged dimension, which has
            the number of groups for its size.
        group sizes: ``(..., groups)``: one list for all, or one for each element of the left
            operand's batch dimensions and of those free or contracting dimensions before the ragged
            one.
        result: as for :func:`dot`, behind a dimension of groups if the ragged dimension is
            contracting.

    Source:
        XLA's operation RaggedDot; JAX, ``jax.lax.ragged_dot_general``.

    Raises:
        ShapeError: as for :func:`dot`, or the numbers of ragged and of group dimensions or the
            shape of the group sizes do not fit.

    >>> experts = ragged_dot(
    ...     (11, 5), (3, 5, 7), (3,), lhs_ragged_dims=(0,), rhs_group_dims=(0,),
    ...     lhs_contracting_dims=(1,), rhs_contracting_dims=(1,),
    ... )
    >>> print(experts.output_to_input[1])
    (d0, d1)[s0, s1] -> (s1, s0, d1), domain: d0 in [0, 10], d1 in [0, 6], s0 in [0, 4],
    s1 in [0, 2]
    >>> print(experts.output_to_input[2])
    (d0, d1)[s0] -> (s0), domain: d0 in [0, 10], d1 in [0, 6], s0 in [0, 2]
    """
    op = "ragged-dot"
    lhs = _Side(op, "lhs", lhs_sizes, lhs_contracting_dims, lhs_batch_dims)
    rhs = _Side(op, "rhs", rhs_sizes, rhs_contracting_dims, rhs_batch_dims, rhs_group_dims)
    ragged = _checked_ragged(lhs, lhs_ragged_dims)
    counts = index_maps.checked_sizes(op, "group_sizes", group_sizes)
    before, conditions = _checked_lists(lhs, ragged, counts)
    conditions += _check_groups(rhs, ragged in lhs.free, counts[-1])
    conditions += _check_operands(op, lhs, rhs)
    leading = counts[-1:] if ragged in lhs.contracting else ()
    product = _product(lhs, rhs, conditions, leading)
    kept = lhs.kept_axes(len(leading), len(leading) + len(lhs.batch))
    same = [(kept[axis], number) for number, axis in enumerate(before) if axis in kept]
    to_counts, to_output = (
        index_maps.unrelated(product.output_sizes, counts)
        if ragged in lhs.batch
        else index_maps.paired(product.output_sizes, counts, same)
    )
    if leading:  # a group's sum needs its own size and those before it, which say where it begins
        begin, counted = Interval(0, None), index_maps.dim(len(counts) - 1)
        own = index_maps.dim(0) - to_counts.forms[-1]
        to_counts = index_maps.constrained(to_counts, own, begin)
        to_output = index_maps.constrained(to_output, to_output.forms[0] - counted, begin)
    tensors = zip(product.output_to_input, product.input_to_output, strict=True)
    maps = OpIndexing.between(product.output_sizes, *tensors, (to_counts, to_output))
    return maps.on_condition(conditions)


def _checked_ragged(lhs: _Side, dimensions: Sequence[int]) -> int:
    op, role = "ragged-dot", "lhs_ragged_dims"
    checked = index_maps.checked_dimensions(op, role, dimensions, len(lhs.sizes))
    if len(checked) != 1:
        raise ShapeError(f"{op}: {role} has {len(checked)} entries; expected 1")
    return checked[0]


def _checked_lists(
    lhs: _Side, ragged: int, counts: Sequence[Size]
) -> tuple[tuple[int, ...], list[Constraint]]:
    """The dimensions of the left operand that have group sizes of their own, and that they fit."""
    if not counts:
        raise ShapeError("ragged-dot: group_sizes is a scalar; expected 1 dimension or more")
    choices = (lhs.batch, (*lhs.batch, *lhs.free), (*lhs.batch, *lhs.contracting))
    before = next(each[: each.index(ragged)] for each in choices if ragged in each)
    if len(counts) == 1:
        return (), []
    expected = (*(lhs.sizes[axis] for axis in before), counts[-1])
    shapes = dict.fromkeys(map(index_maps.shown_sizes, (counts[-1:], expected)))
    given, wanted = index_maps.shown_sizes(counts), " or ".join(map(str, shapes))
    message = f"ragged-dot: group_sizes has sizes {given}; expected {wanted}"
    if len(counts) != len(expected):
        raise ShapeError(message)
    pairs = zip(counts, expected, strict=True)
    return before, [condition for pair in pairs for condition in index_maps.equal(*pair, message)]


def _check_groups(rhs: _Side, has_groups: bool, count: Size) -> Iterator[Constraint]:  # noqa: FBT001
    """The condition that the right operand has a part for each group."""
    if len(rhs.group) != has_groups:
        message = f"ragged-dot: rhs_group_dims has {len(rhs.group)} entries"
        raise ShapeError(f"{message}; expected {int(has_groups)} for this ragged dimension")
    for axis in rhs.group:
        message = f"ragged-dot: group dimension {axis} of rhs has size {rhs.sizes[axis]}"
        message = f"{message}, but there are {count} groups; expected the same"
        yield from index_maps.equal(rhs.sizes[axis], count, message)


def _product(
    lhs: _Side, rhs: _Side, conditions: Sequence[Constraint], leading: Sizes = ()
) -> OpIndexing:
    """The maps of a dot whose result may have further dimensions in front."""
    output_sizes = (
        *leading,
        *(lhs.sizes[axis] for axis in (*lhs.batch, *lhs.free)),
        *(rhs.sizes[axis] for axis in rhs.free),
    )
    first_lhs = len(leading) + len(lhs.batch)
    return OpIndexing.between(
        output_sizes,
        lhs.maps_to(output_sizes, lhs.kept_axes(len(leading), first_lhs)),
        rhs.maps_to(output_sizes, rhs.kept_axes(len(leading), first_lhs + len(lhs.free))),
    ).on_condition(conditions)


class _Side:
    """One operand: its sizes, and its dimensions by their role."""

    def __init__(
        self,
        op: str,
        name: str,
        sizes: Sizes,
        contracting: Sequence[int],
        batch: Sequence[int],
        group: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.sizes = index_maps.checked_sizes(op, name, sizes)
        roles = {"contracting": contracting, "batch": batch, "group": group}
        self.contracting, self.batch, self.group = (
            index_maps.checked_dimensions(op, f"{name}_{role}_dims", given, len(self.sizes))
            for role, given in roles.items()
        )
        taken = self.batch + self.contracting + self.group
        named = " and ".join(f"{name}_{role}_dims" for role in ("batch", "contracting"))
        index_maps.checked_dimensions(op, named, taken, len(self.sizes))
        self.free = tuple(axis for axis in range(len(self.sizes)) if axis not in taken)

    def kept_axes(self, first_batch: int, first_free: int) -> dict[int, int]:
        """The dimensions that the result has, too, and their numbers there."""
        batch = {axis: number for number, axis in enumerate(self.batch, first_batch)}
        return batch | {axis: number for number, axis in enumerate(self.free, first_free)}

    def maps_to(
        self, output_sizes: Sizes, kept: Mapping[int, int]
    ) -> tuple[IndexingMap, IndexingMap]:
        """From the result to this operand, and back: there all of the other one's free indices."""
        summed = self.contracting + self.group
        element = {axis: index_maps.dim(number) for axis, number in kept.items()}
        element |= {axis: index_maps.symbol(number) for number, axis in enumerate(summed)}
        index, ranges = index_maps.in_order(element), [self.sizes[axis] for axis in summed]
        same = ((there, axis) for axis, there in kept.items())
        _, to_output = index_maps.paired(output_sizes, self.sizes, same)
        return index_maps.index_map(index, output_sizes, ranges), to_output


def _check_operands(op: str, lhs: _Side, rhs: _Side) -> list[Constraint]:
    """The conditions that the operands fit together."""
    return [
        *index_maps.not_negative((*lhs.sizes, *rhs.sizes)),
        *_check_pairs(op, "contracting", lhs, lhs.contracting, rhs, rhs.contracting),
        *_check_pairs(op, "batch", lhs, lhs.batch, rhs, rhs.batch),
    ]


def _check_pairs(
    op: str, role: str, lhs: _Side, lhs_dims: Sequence[int], rhs: _Side, rhs_dims: Sequence[int]
) -> Iterator[Constraint]:
    if len(lhs_dims) != len(rhs_dims):
        message = f"{op}: lhs has {len(lhs_dims)} {role} dimensions, but rhs has {len(rhs_dims)}"
        raise ShapeError(f"{message}; expected as many")
    for left, right in zip(lhs_dims, rhs_dims, strict=True):
        message = (
            f"{op}: {role} dimension {left} of lhs has size {lhs.sizes[left]}, "
            f"but dimension {right} of rhs has size {rhs.sizes[right]}; expected the same"
        )
        yield from index_maps.equal(lhs.sizes[left], rhs.sizes[right], message)


PAIRED_DIMENSIONS: Final = (
    "lhs_contracting_dims",
    "rhs_contracting_dims",
    "lhs_batch_dims",
    "rhs_batch_dims",
)
"""The attributes of a dot: both contracting ones, and both batch ones."""


def _dot_shape(op: Application) -> Sized:
    """A batch is dynamic if that of one operand is: two dynamic sizes have to be equal."""
    lhs, rhs = op.operands[:2]
    left: Sequence[int] = op.attributes.get("lhs_batch_dims", ())
    right: Sequence[int] = op.attributes.get("rhs_batch_dims", ())
    sizes = [*lhs.own]
    batches = ((lhs.shape, left), (rhs.shape, right))
    axes = [shape_inference.checked_axes(*batch) for batch in batches]
    for axis, other in zip(*axes, strict=False):
        if sizes[axis] == lhs.shape.dimensions[axis]:
            sizes[axis] = rhs.own[other]
    batch = [sizes[axis] for axis in left]
    free = (*_free("lhs", sizes, op.attributes), *_free("rhs", rhs.own, op.attributes))
    return Sized.array(shape_inference.widest((lhs, rhs)), (*batch, *free))


def _free(side: str, sizes: Sequence[Size], attributes: Mapping[str, Any]) -> list[Size]:
    """The sizes of the dimensions of an operand that are not shared."""
    kinds = (f"{side}_batch_dims", f"{side}_contracting_dims")
    gone = {axis for kind in kinds for axis in attributes.get(kind, ())}
    return [size for axis, size in enumerate(sizes) if axis not in gone]


def _ragged_dot_shape(op: Application) -> Sized:
    groups, named = op.operands[2], op.attributes
    ragged: tuple[int, ...] = named.get("lhs_ragged_dims", ())
    if len(ragged) != 1:
        raise AttributeValueError(f"lhs_ragged_dims has {len(ragged)} entries; expected 1")
    gone = (*named.get("rhs_contracting_dims", ()), *named.get("rhs_group_dims", ()))
    dot = _dot_shape(op._replace(attributes={**named, "rhs_contracting_dims": gone}))
    if ragged[0] not in named.get("lhs_contracting_dims", ()):
        return dot
    return Sized.array(dot.shape.element_type, (*groups.own[groups.shape.rank - 1 :], *dot.own))


def _dot_of_two(instruction: Instruction) -> OpIndexing:
    """A static dimension is read as far as the dynamic one that it is paired with.

    XLA fills what is beyond a dynamic size with zeros, up to the bound, which is the static size.
    """
    attributes = {name: instruction.attributes.get(name, ()) for name in PAIRED_DIMENSIONS}
    lhs, rhs = (dict(enumerate(sizes_of(operand))) for operand in instruction.operands)
    lhs_bounds, rhs_bounds = (dict(enumerate(bounds_of(each))) for each in instruction.operands)
    contracting_and_batch = zip(PAIRED_DIMENSIONS[::2], PAIRED_DIMENSIONS[1::2], strict=True)
    pairs = (zip(attributes[a], attributes[b], strict=False) for a, b in contracting_and_batch)
    for left, right in chain.from_iterable(pairs):  # the builder checks them
        if left in lhs and right in rhs and lhs_bounds[left] == rhs_bounds[right]:
            dynamic = [size for size in (lhs[left], rhs[right]) if isinstance(size, Form)]
            if len(dynamic) == 1:
                lhs[left] = rhs[right] = dynamic[0]
    return dot([*lhs.values()], [*rhs.values()], **attributes)


def _may_be_of_group(instruction: Instruction, _: int, operand: int) -> Doubt | None:
    """A group has any part of the ragged dimension, unless that is a batch dimension."""
    attributes = instruction.attributes
    is_batch = {*attributes.get("lhs_ragged_dims", ())} <= {*attributes.get("lhs_batch_dims", ())}
    is_sizes = operand == len(instruction.operands) - 1
    return None if is_batch or is_sizes else Doubt("the sizes decide which group a row is in")


# Cholesky decomposition, triangular solve and Fourier transform.

_Entry: TypeAlias = "tuple[Form, Form]"
"""The row and the column of an element of a matrix."""

_Relation: TypeAlias = Callable[[_Entry, _Entry], "tuple[Constraint, ...]"]
"""Conditions on an element of the result and an element of an operand that it needs."""


def cholesky(operand_sizes: Sizes, *, lower: bool = False) -> OpIndexing:
    """Computes the triangular factor of positive definite matrices.

    With ``lower`` it is the ``l`` of ``a = l @ l.T``, with elements where ``i >= j``, and the lower
    triangle of ``a`` is read: for ``l[i, j]`` the rows up to ``j``, and row ``i`` up to column
    ``j``. Without, ``a = u.T @ u``, and rows and columns are swapped. The maps leave out the other
    triangle of the result, because the implementation is free to put anything there.

    Shapes:
        operand, result: ``(..., n, n)``.

    Source:
        XLA operation semantics, Cholesky; the elements from the recurrence of the
        Cholesky-Banachiewicz algorithm, put into itself.

    Raises:
        ShapeError: the operand has less than two dimensions, or the last two differ in size.

    >>> print(cholesky((3, 3), lower=True).output_to_input[0])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 2], s0 in [0, 2], s1 in [0, 2],
    d0 - d1 in [0, 2], d0 - s0 in [0, 2], d1 - s1 in [0, 2], min(d0 - s0, s0 - d1) in [-2, 0],
    s0 - s1 in [0, 2]
    """
    sizes, conditions = _checked_matrices("cholesky", "operand", operand_sizes)
    within = _up_to(sizes[-1])

    def needed(result: _Entry, operand: _Entry) -> tuple[Constraint, ...]:
        (i, j), (row, column) = (entry if lower else entry[::-1] for entry in (result, operand))
        inside = tuple((form, within) for form in (i - j, row - column, i - row, j - column))
        return *inside, (forms.minimum((row - j, i - row)), -within)

    return OpIndexing.between(sizes, _both_ways(sizes, sizes, needed)).on_condition(conditions)


def triangular_solve(
    a_sizes: Sizes,
    b_sizes: Sizes,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: str = "NO_TRANSPOSE",
    unit_diagonal: bool = False,
) -> OpIndexing:
    """Solves ``op(a) @ x = b``, or ``x @ op(a) = b``, for ``x`` and triangular ``a``.

    Element ``i`` of a column of ``x`` (of a row, without ``left_side``) needs the elements of ``b``
    in that column up to ``i`` in the order of substitution, and the triangle of ``a`` between them.
    Only the triangle of ``a`` that ``lower`` names is read, without its diagonal if
    ``unit_diagonal`` says that it holds ones.

    Shapes:
        a: ``(..., n, n)``.
        b, result: ``(..., n, m)`` with ``left_side``, else ``(..., m, n)``.

    Source:
        XLA operation semantics, TriangularSolve.

    Raises:
        ShapeError: sizes of ``a`` and ``b`` do not fit, or ``transpose_a`` is none of
            ``NO_TRANSPOSE TRANSPOSE ADJOINT``.

    >>> solve = triangular_solve((3, 3), (3, 5), left_side=True, lower=True)
    >>> print(solve.output_to_input[0])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], s1 in [0, 2],
    d0 - s0 in [0, 2], s0 - s1 in [0, 2]
    >>> print(solve.output_to_input[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], d0 - s0 in [0, 2]
    >>> print(solve.input_to_output[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], d0 - s0 in [-2, 0]
    """
    a, conditions = _checked_matrices("triangular-solve", "a", a_sizes)
    sizes = index_maps.checked_sizes("triangular-solve", "b", b_sizes)
    conditions += _check_solvable(a, sizes, left_side=left_side)
    _check_choice("triangular-solve: transpose_a", transpose_a, _TRANSPOSED)
    # x @ a = b is a.T @ x.T = b.T, and the transpose of a lower triangle is an upper one.
    check_type(lower, bool, "triangular-solve: lower", "True or False")
    is_forward = lower ^ _TRANSPOSED[transpose_a] ^ (not left_side)
    within, solved = _up_to(a[-1]), 0 if left_side else 1
    triangle = _up_to(a[-1], first=1) if unit_diagonal else within

    def needed_of_a(result: _Entry, operand: _Entry) -> tuple[Constraint, ...]:
        low, high = operand[::-1] if lower else operand
        reached = result[solved] - high if is_forward else low - result[solved]
        return (high - low, triangle), (reached, within)

    axis = len(sizes) - _MATRIX_RANK + solved
    earlier, later = (_on_one_side(sizes, axis, sign * within) for sign in (1, -1))
    maps = _both_ways(sizes, a, needed_of_a), (earlier, later) if is_forward else (later, earlier)
    return OpIndexing.between(sizes, *maps).on_condition(conditions)


_TRANSPOSED = {"NO_TRANSPOSE": False, "TRANSPOSE": True, "ADJOINT": True}

_MATRIX_RANK = 2


def _check_choice(what: str, given: str, choices: Collection[str]) -> None:
    check_type(given, str, what, "a string")
    if given not in choices:
        raise ShapeError(f"{what} is {given!r}; expected one of {', '.join(choices)}")


def _up_to(size: Size, first: int = 0) -> Interval:
    """The distances from an element of a matrix to one that is not before it.

    Those from ``first`` on. They end with the matrix, so that an end over parameters says no more.
    """
    return Interval(first, max(0, size - 1) if isinstance(size, int) else None)


def _both_ways(
    result_sizes: Sizes, operand_sizes: Sizes, relation: _Relation
) -> tuple[IndexingMap, IndexingMap]:
    """From the result to the operand, and back."""
    return (
        _matrix_map(result_sizes, operand_sizes, relation),
        _matrix_map(operand_sizes, result_sizes, lambda here, there: relation(there, here)),
    )


def _matrix_map(sizes: Sizes, others: Sizes, relation: _Relation) -> IndexingMap:
    """Map from an element of a batch of matrices to the related elements of another batch."""
    batch = [index_maps.dim(axis) for axis in range(len(sizes) - _MATRIX_RANK)]
    here = index_maps.dim(len(batch)), index_maps.dim(len(batch) + 1)
    there = index_maps.symbol(0), index_maps.symbol(1)
    within, related = others[-_MATRIX_RANK:], relation(here, there)
    return index_maps.index_map((*batch, *there), sizes, within, related).simplify()


def _on_one_side(sizes: Sizes, axis: int, distance: Interval) -> IndexingMap:
    """Map from an element to those along an axis that lie at this distance before it."""
    same = [(each, each) for each in range(len(sizes)) if each != axis]
    found, _ = index_maps.paired(sizes, sizes, same)
    before = index_maps.dim(axis) - index_maps.symbol(0)
    return index_maps.constrained(found, before, distance).simplify()


def _checked_matrices(
    op: str, role: str, sizes: Sizes
) -> tuple[tuple[Size, ...], list[Constraint]]:
    """The sizes, and the condition that matrices are square."""
    checked = index_maps.checked_sizes(op, role, sizes)
    rank = len(checked)
    if rank < _MATRIX_RANK:
        raise ShapeError(f"{op}: {role} has rank {rank}; expected 2 or more")
    message = f"{op}: {role} dimension {rank - 2} has size {checked[-2]}"
    message = f"{message}, but dimension {rank - 1} has size {checked[-1]}; expected the same"
    return checked, index_maps.equal(checked[-1], checked[-2], message)


def _check_solvable(a: CheckedSizes, b: CheckedSizes, *, left_side: bool) -> Iterator[Constraint]:
    if len(a) != len(b):
        message = f"triangular-solve: a has rank {len(a)}, but b has rank {len(b)}"
        raise ShapeError(f"{message}; expected the same")
    axes = (*range(len(a) - _MATRIX_RANK), len(a) - (2 if left_side else 1))
    for axis in axes:
        message = f"triangular-solve: dimension {axis} of a has size {a[axis]}"
        message = f"{message}, but dimension {axis} of b has {b[axis]}; expected the same"
        yield from index_maps.equal(a[axis], b[axis], message)


def fft(operand_sizes: Sizes, fft_type: str, fft_length: Sizes) -> OpIndexing:
    """Transforms the trailing dimensions: each element sums all elements along them.

    Shapes:
        operand, result: the trailing dimensions have the sizes ``fft_length``. Only the last one of
            the result of an ``RFFT`` and of the operand of an ``IRFFT`` is shorter: it has
            ``n // 2 + 1`` of ``n`` elements, or none of none.

    Source:
        XLA operation semantics, Fft; StableHLO specification, fft.

    Raises:
        ShapeError: the type is none of ``FFT IFFT RFFT IRFFT``, there are not one to three
            lengths, or a trailing dimension of the operand has another size.

    >>> spectrum = fft((5, 16), "RFFT", (16,))
    >>> print(spectrum.output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 8], s0 in [0, 15]
    >>> print(spectrum.input_to_output[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 15], s0 in [0, 8]
    """
    sizes, output_sizes, batch, conditions = _fft_sizes(operand_sizes, fft_type, fft_length)
    maps = index_maps.paired(output_sizes, sizes, [(axis, axis) for axis in range(batch)])
    return OpIndexing.between(output_sizes, maps).on_condition(conditions)


def _fft_shape(op: Application) -> Sized:
    (operand,), kind = op.operands, op.attributes["fft_type"]
    sizes = _fft_sizes(operand.own, kind, op.attributes["fft_length"]).output
    turned = {"RFFT": shape_inference.complex_of_parts, "IRFFT": shape_inference.real_part}
    like = turned[kind](op) if kind in turned else operand
    return like if tuple(like.own) == sizes else Sized.array(like.shape.element_type, sizes)


class _FftSizes(NamedTuple):
    """The sizes of the operand and the result of a transform, and how many dimensions are batches.

    ``conditions`` on parameters say that the operand has the sizes that are transformed.
    """

    operand: Sequence[Size]
    output: tuple[Size, ...]
    batch: int
    conditions: Sequence[Constraint]


def _fft_sizes(operand_sizes: Sizes, fft_type: str, fft_length: Sizes) -> _FftSizes:
    """The sizes of a transform, and the errors it raises.

    >>> _fft_sizes((5, 9), "IRFFT", (17,)).output
    (5, 17)
    """
    sizes = index_maps.checked_sizes("fft", "operand", operand_sizes)
    lengths = _checked_lengths(fft_length, len(sizes))
    _check_choice("fft: the type", fft_type, _TYPES)
    halved = (*lengths[:-1], _half(lengths[-1]))
    batch = sizes[: len(sizes) - len(lengths)]
    conditions = index_maps.not_negative((*sizes, *lengths))
    expected = (*batch, *(halved if fft_type == "IRFFT" else lengths))
    for axis, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        message = f"fft: operand dimension {axis} has size {size}; expected {wanted}"
        conditions += index_maps.equal(size, wanted, message)
    output = (*batch, *(halved if fft_type == "RFFT" else lengths))
    return _FftSizes(sizes, output, len(batch), conditions)


_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")

_MAX_LENGTHS = 3
"""XLA transforms up to three dimensions at once."""


def _half(length: Size) -> Size:
    """Number of frequencies of a real signal: 0 of 0, or else half of the length and one."""
    return index_maps.least(length, index_maps.floor_divided(length, 2) + 1)


def _checked_lengths(fft_length: Sizes, rank: int) -> tuple[Size, ...]:
    lengths = index_maps.checked_numbers("fft", "fft_length", fft_length)
    most = min(rank, _MAX_LENGTHS)
    if not 1 <= len(lengths) <= most:
        message = f"fft: fft_length has {len(lengths)} entries for an operand of rank {rank}"
        raise ShapeError(f"{message}; expected 1 to {_MAX_LENGTHS}, and no more than the rank")
    return lengths


RULES: Final[Mapping[str, OpRule]] = {
    "dot": OpRule(_dot_of_two, shape=_dot_shape),
    "ragged-dot": OpRule(
        reading(ragged_dot, *PAIRED_DIMENSIONS, "lhs_ragged_dims", "rhs_group_dims"),
        doubt=_may_be_of_group,
        shape=_ragged_dot_shape,
    ),
    "scaled-dot": OpRule(reading(scaled_dot, *PAIRED_DIMENSIONS), shape=_dot_shape),
    "cholesky": OpRule(reading(cholesky, "lower")),
    "fft": OpRule(reading(fft, "fft_type", "fft_length"), shape=_fft_shape),
    "triangular-solve": OpRule(
        reading(triangular_solve, "left_side", "lower", "transpose_a", "unit_diagonal")
    ),
}
