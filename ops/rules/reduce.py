"""Operations along dimensions: reduce, batch norm, sort, top-k, scan."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Final, cast

from indexing import IndexingMap
from indexing.layout import ElementType, Shape, ShapeError
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo import Computation, Instruction
from ops.hlo.errors import AttributeValueError
from ops.hlo.shape_inference import Application, Sized, array_shape, checked_axes, one_or_together
from ops.hlo.true_sizes import array_sizes
from ops.index_maps import Size, SizeLike, Sizes
from ops.rules import rule
from ops.rules.elementwise import ELEMENTWISE, elementwise
from ops.rules.rule import Doubt, Maps, MapsFunction, OpIndexing, OpRule
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval


def reduce(operand_sizes: Sizes, dimensions: Sequence[int], inputs: int = 1) -> OpIndexing:
    """Folds an input along some dimensions, from an initial value on.

    A variadic reduce folds several inputs of one shape together and has as many results. Each
    result may depend on every input and on every initial value. The operands are the inputs, then
    their initial values.

    Shapes:
        inputs: ``operand_sizes``; initial values: scalars.
        results: the sizes of the dimensions that are not in ``dimensions``.

    Source:
        XLA operation semantics, Reduce.

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> indexing = reduce((150, 20, 10, 50), (3, 1))
    >>> print(indexing.output_to_input[0])
    (d0, d1)[s0, s1] -> (d0, s0, d1, s1), domain: d0 in [0, 149], d1 in [0, 9], s0 in [0, 19],
    s1 in [0, 49]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2, d3) -> (d0, d2), domain: d0 in [0, 149], d1 in [0, 19], d2 in [0, 9], d3 in [0, 49]
    >>> print(indexing.input_to_output[1])
    ()[s0, s1] -> (s0, s1), domain: s0 in [0, 149], s1 in [0, 9]
    """
    sizes = index_maps.checked_sizes("reduce", "operand", operand_sizes)
    inputs = index_maps.checked_operand_count("reduce", "inputs", inputs)
    folded = sorted(index_maps.checked_dimensions("reduce", "dimensions", dimensions, len(sizes)))
    kept = [axis for axis in range(len(sizes)) if axis not in folded]
    output_sizes = tuple(sizes[axis] for axis in kept)
    operand = index_maps.paired(output_sizes, sizes, enumerate(kept))
    initial = index_maps.paired(output_sizes, ())
    return OpIndexing.between(output_sizes, *(operand,) * inputs, *(initial,) * inputs)


def _reduce(instruction: Instruction) -> OpIndexing:
    inputs = rule.folded_inputs(instruction)
    return reduce(rule.sizes_of(inputs[0]), instruction.attributes["dimensions"], len(inputs))


# Batch normalization: in training, in inference, and its gradient.
#
# All three work on each feature by itself: on its elements in a tensor, and on its element in
# vectors with one number for each feature, such as the means.


def batch_norm_training(
    operand_sizes: Sizes, feature_index: int
) -> tuple[OpIndexing, OpIndexing, OpIndexing]:
    """Normalizes each feature by its mean and variance, and gives these, too.

    The results are the normalized tensor, the means and the variances. A normalized element needs
    all elements of its feature. The operands are the tensor, the scales and the offsets; means and
    variances need only the tensor.

    Shapes:
        tensors: ``operand_sizes``.
        means, variances, scales, offsets: the size of the dimension ``feature_index``.

    Source:
        XLA operation semantics, BatchNormTraining.

    Raises:
        ShapeError: the operand has no dimension ``feature_index``.

    >>> normalized, mean, _ = batch_norm_training((8, 3), 1)
    >>> print(normalized.output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 7], d1 in [0, 2], s0 in [0, 7]
    >>> print(mean.output_to_input[0])
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 7]
    >>> print(mean.output_to_input[1])
    (d0) -> (0), domain: KNOWN EMPTY
    """
    tensor, vector = _tensor_and_vector("batch-norm-training", operand_sizes, feature_index)
    operands = (tensor, vector, vector)
    return (
        tensor.needing(operands, "all all all"),
        vector.needing(operands, "all - -"),
        vector.needing(operands, "all - -"),
    )


def batch_norm_inference(operand_sizes: Sizes, feature_index: int) -> OpIndexing:
    """Normalizes each feature by a given mean and variance.

    A normalized element needs the element at its index, and the vectors at its feature. The
    operands are the tensor, the scales, the offsets, the means and the variances.

    Shapes:
        tensor, result: ``operand_sizes``.
        the other operands: the size of the dimension ``feature_index``.

    Source:
        XLA operation semantics, BatchNormInference.

    Raises:
        ShapeError: the operand has no dimension ``feature_index``.

    >>> print(batch_norm_inference((8, 3), 1).output_to_input[1])
    (d0, d1) -> (d1), domain: d0 in [0, 7], d1 in [0, 2]
    """
    tensor, vector = _tensor_and_vector("batch-norm-inference", operand_sizes, feature_index)
    return tensor.needing((tensor, vector, vector, vector, vector), "same all all all all")


def batch_norm_grad(
    operand_sizes: Sizes, feature_index: int
) -> tuple[OpIndexing, OpIndexing, OpIndexing]:
    """Computes the gradients of :func:`batch_norm_training`.

    The results are the gradients of the tensor, of the scales and of the offsets. The operands are
    the tensor, the scales, the means, the variances and the gradient of the normalized tensor. A
    gradient needs all elements of its feature. The gradient of a scale does not need the scale; the
    gradient of an offset needs only the given gradient.

    Shapes:
        tensors: ``operand_sizes``.
        scales, offsets, means, variances: the size of the dimension ``feature_index``.

    Source:
        XLA operation semantics, BatchNormGrad.

    Raises:
        ShapeError: the operand has no dimension ``feature_index``.

    >>> _, _, of_offsets = batch_norm_grad((8, 3), 1)
    >>> print(of_offsets.output_to_input[4])
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 7]
    >>> print(of_offsets.input_to_output[4])
    (d0, d1) -> (d1), domain: d0 in [0, 7], d1 in [0, 2]
    """
    tensor, vector = _tensor_and_vector("batch-norm-grad", operand_sizes, feature_index)
    operands = (tensor, vector, vector, vector, tensor)
    return (
        tensor.needing(operands, "all all all all all"),
        vector.needing(operands, "all - all all all"),
        vector.needing(operands, "- - - - all"),
    )


@dataclass(frozen=True, slots=True)
class _FeatureArray:
    """Sizes, and the number of the feature dimension."""

    sizes: tuple[Size, ...]
    feature: int

    def needing(self, operands: Sequence[_FeatureArray], needs: str) -> OpIndexing:
        """The maps of this result, with a word for each operand.

        The words: ``all`` elements of the feature, the element at the ``same`` index, none: ``-``.
        """
        pairs = zip(operands, needs.split(), strict=True)
        maps = (self._maps_between(operand, need) for operand, need in pairs)
        return OpIndexing.between(self.sizes, *maps)

    def _maps_between(self, operand: _FeatureArray, need: str) -> tuple[IndexingMap, IndexingMap]:
        if need == "-":
            return index_maps.unrelated(self.sizes, operand.sizes)
        every = [(axis, axis) for axis in range(len(self.sizes))]
        same = every if need == "same" else [(self.feature, operand.feature)]
        return index_maps.paired(self.sizes, operand.sizes, same)


def _tensor_and_vector(
    op: str, operand_sizes: Sizes, feature_index: int
) -> tuple[_FeatureArray, _FeatureArray]:
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    (feature,) = index_maps.checked_dimensions(op, "feature_index", [feature_index], len(sizes))
    return _FeatureArray(sizes, feature), _FeatureArray((sizes[feature],), 0)


def _normalization(build: Callable[[Sizes, int], Maps], *tensors: int) -> MapsFunction:
    """Reads operands: those numbered ``tensors`` are tensors, the others vectors of features."""

    def maps(instruction: Instruction) -> Maps:
        elementwise([rule.sizes_of(instruction.operands[number]) for number in tensors])
        feature: int = instruction.attributes.get("feature_index", 0)
        found = build(rule.sizes_of(instruction.operands[0]), feature)
        for number, operand in enumerate(instruction.operands):
            if number not in tensors:
                _check_features(instruction, operand, feature)
        return found

    return maps


def _check_features(instruction: Instruction, vector: Instruction, feature: int) -> None:
    tensor = instruction.operands[0]
    count = rule.sizes_of(tensor)[feature]
    if rule.sizes_of(vector) != (count,):
        message = f"{instruction.opcode}: %{vector.name} is {vector.shape}, but dimension {feature}"
        raise ShapeError(f"{message} of %{tensor.name} has size {count}; expected one number each")


# Sort and top-k: elements put in order along one dimension.


def sort(operand_sizes: Sizes, dimension: int, inputs: int = 1) -> OpIndexing:
    """Sorts the elements along a dimension.

    The values decide where an element goes, so an element of the result may be any element along
    the dimension. A variadic sort moves the elements of several inputs in the same way: each result
    may depend on every input, because any of them may be compared.

    Shapes:
        inputs, results: ``operand_sizes``.

    Source:
        XLA operation semantics, Sort.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(sort((4, 10), 1).output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 9], s0 in [0, 9]
    >>> sort((4, 10), 1).input_to_output == sort((4, 10), 1).output_to_input
    True
    """
    sizes = index_maps.checked_sizes("sort", "operand", operand_sizes)
    inputs = index_maps.checked_operand_count("sort", "inputs", inputs)
    (along,) = index_maps.checked_dimensions("sort", "dimensions", [dimension], len(sizes))
    same = [(axis, axis) for axis in range(len(sizes)) if axis != along]
    return OpIndexing.between(sizes, *(index_maps.paired(sizes, sizes, same),) * inputs)


def top_k(operand_sizes: Sizes, k: SizeLike) -> OpIndexing:
    """Finds the ``k`` greatest values along the last dimension, and their indices.

    The two results, values and indices, have these same maps.

    Shapes:
        operand: ``(..., n)``.
        results: ``(..., k)``.

    Source:
        XLA operation semantics, TopK.

    Raises:
        ShapeError: the operand is a scalar, or ``k`` is not between 0 and the size of its last
            dimension.

    >>> print(top_k((4, 32), 5).output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 31]
    >>> print(top_k((4, 32), 5).input_to_output[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 31], s0 in [0, 4]
    """
    sizes = index_maps.checked_sizes("topk", "operand", operand_sizes)
    if not sizes:
        raise ShapeError("topk: the operand is a scalar; expected a dimension to choose along")
    (chosen,) = index_maps.checked_numbers("topk", "k", [k])
    last = len(sizes) - 1
    message = f"topk: k is {chosen}, but operand dimension {last} has size {sizes[last]}"
    message = f"{message}; expected 0 to {sizes[last]}"
    conditions = [
        *index_maps.at_most(0, chosen, message),
        *index_maps.at_most(chosen, sizes[last], message),
    ]
    output_sizes = (*sizes[:last], chosen)
    maps = index_maps.paired(output_sizes, sizes, [(axis, axis) for axis in range(last)])
    return OpIndexing.between(output_sizes, maps).on_condition(conditions)


def _sort(instruction: Instruction) -> tuple[OpIndexing, ...]:
    inputs = [rule.sizes_of(operand) for operand in instruction.operands]
    elementwise(inputs)
    return (sort(inputs[0], rule.only_dimension(instruction), len(inputs)),) * len(inputs)


def _top_k(instruction: Instruction) -> tuple[OpIndexing, OpIndexing]:
    (operand,) = instruction.operands
    indexing = top_k(rule.sizes_of(operand), instruction.attributes["k"])
    return indexing, indexing


# Shapes of results, as far as those of operands and attributes tell.


def _reduce_shape(op: Application) -> Sized:
    inputs, reduced = op.operands[: len(op.operands) // 2], op.attributes["dimensions"]
    checked_axes(inputs[0].shape, reduced)
    kept = [dimension for dimension in range(inputs[0].shape.rank) if dimension not in reduced]
    results = op.attributes["to_apply"].root.shape.arrays
    if len(results) != len(inputs):
        raise AttributeValueError(f"to_apply has {len(results)} results for {len(inputs)} inputs")
    pairs = zip(inputs, results, strict=True)
    return one_or_together([Sized.array(each.element_type, i.taken(kept)) for i, each in pairs])


def _topk_shape(op: Application) -> Sized:
    operand, k = op.operands[0], op.attributes["k"]
    (last,) = checked_axes(operand.shape, (operand.shape.rank - 1,))
    values = Sized.array(operand.shape.element_type, index_maps.with_value(operand.own, last, k))
    return Sized.together([values, values.of_type(ElementType.S32)])


def _batch_norm_shape(op: Application) -> Sized:
    """The operand normalised, and two statistics of each feature."""
    operand = op.operands[0]
    sizes = operand.taken((op.attributes["feature_index"],))
    feature = Sized.array(operand.shape.element_type, sizes)
    return Sized.together([operand, feature, feature])


# Scan: a computation that takes slice after slice and carries values from each to the next.


class StepUse(enum.IntEnum):
    """Use of an array of a step of a scan by an array that the step computes."""

    NONE = 0
    """Not at all."""
    ELEMENTWISE = 1
    """Each element uses the element at its own index; both arrays have one shape."""
    ANY = 2
    """Each element may use every element."""

    def then(self, other: StepUse) -> StepUse:
        """Use of an array by one that reaches it through another."""
        return max(self, other) if self and other else StepUse.NONE


def scan(  # noqa: PLR0913 - the attributes of the operation, and its computation
    input_sizes: Sequence[Sizes],
    output_sizes: Sequence[Sizes],
    carry_sizes: Sequence[Sizes],
    dimension: int,
    *,
    is_reverse: bool = False,
    is_elementwise: bool = False,
    uses: Sequence[Sequence[StepUse]] | None = None,
) -> tuple[OpIndexing, ...]:
    """Applies a computation to slice after slice, and carries values from one to the next.

    The operands are the inputs and the first carried values; the results are the outputs and the
    last carried values. ``uses`` has a row for each result and a column for each operand: how one
    step's output or next carried value uses the step's slice or carried value. So a result needs a
    slice of an earlier step only if a chain of carried values leads there. Without ``uses``,
    everything may need everything; within slices at its own index, if the computation is
    elementwise on slices of one shape. The number of steps may be over parameters: then the maps
    hold for every number of them, and a use that only more steps would come to counts, too.

    Shapes:
        inputs, outputs: one size along ``dimension``, which is cut into slices.
        carried values: any; they stay as they are.

    Source:
        XLA's operation Scan, as its CPU compiler runs it.

    Raises:
        ShapeError: an input or an output has no such dimension, or two differ in size there, or
            slices differ in shape that are used element by element.

    >>> sums, last = scan([(5, 3)], [(5, 3)], [(3,)], 0, is_elementwise=True)
    >>> print(sums.output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 4], d1 in [0, 2], s0 in [0, 4], d0 - s0 in [0, 4]
    >>> print(last.output_to_input[0])
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 4]
    >>> delay = [[StepUse.NONE, StepUse.ELEMENTWISE], [StepUse.ELEMENTWISE, StepUse.NONE]]
    >>> shifted, _ = scan([(5, 3)], [(5, 3)], [(3,)], 0, uses=delay)
    >>> print(shifted.output_to_input[0])
    (d0, d1) -> (d0 - 1, d1), domain: d0 in [1, 4], d1 in [0, 2]
    >>> from simplifier import symbol
    >>> sums, _ = scan([(symbol("N"),)], [(symbol("N"),)], [()], 0)
    >>> print(sums.output_to_input[0])
    (d0)[s0]<N> -> (s0), domain: d0 in [0, N - 1], s0 in [0, N - 1], N in [1, inf],
    d0 - s0 in [0, inf]
    """
    for role, listed in ("input", input_sizes), ("output", output_sizes), ("carry", carry_sizes):
        check_type(listed, Iterable, f"scan: {role} sizes", "the sizes of each array")
    inputs = [_stacked("input", sizes, dimension) for sizes in input_sizes]
    outputs = [_stacked("output", sizes, dimension) for sizes in output_sizes]
    carries = [index_maps.checked_sizes("scan", "carry", sizes) for sizes in carry_sizes]
    length, conditions = _common_length(inputs + outputs)
    ends = (0, length - 1 if length else 0)
    first, last = reversed(ends) if is_reverse else ends
    operands = inputs + [_Slices(sizes, None, first) for sizes in carries]
    results = outputs + [_Slices(sizes, None, last) for sizes in carries]
    if uses is None:
        use = StepUse.ELEMENTWISE if is_elementwise else StepUse.ANY
        uses = [[use] * len(operands)] * len(results)
    conditions += _check_slices(operands, results, uses)
    steps = _Steps(uses, len(inputs), len(outputs), length)
    found: list[OpIndexing] = []
    for row, result in enumerate(results):
        past = steps.past(row)
        used = [past.used(column) for column in range(len(operands))]
        kept = steps.kept_without_steps(row)
        if isinstance(length, Form) and kept is not None:
            used[kept] = used[kept].or_kept(length)
        behind = [each.reversed() if is_reverse else each for each in used]
        columns = [*zip(operands, behind, strict=True)]
        there = (_way(result, operand, each) for operand, each in columns)
        back = (_way(operand, result, each.reversed()) for operand, each in columns)
        made = OpIndexing(result.sizes, tuple(there), tuple(back))
        found.append(made.on_condition(conditions))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Slices:
    """Sizes, and the dimension that is cut into slices; carried values have a place along it."""

    sizes: tuple[Size, ...]
    steps: int | None = None
    place: Size = 0

    @property
    def within(self) -> list[int]:
        """The dimensions of a slice."""
        return [axis for axis in range(len(self.sizes)) if axis != self.steps]

    @property
    def of_slice(self) -> tuple[Size, ...]:
        """The sizes of a slice."""
        return tuple(self.sizes[axis] for axis in self.within)

    def place_of(self, index: Sequence[Form]) -> Form:
        """Position of an element along the dimension that is cut."""
        return index_maps.as_form(self.place) if self.steps is None else index[self.steps]


def _way(source: _Slices, target: _Slices, used: _Used) -> IndexingMap:
    """The map to the elements of a target that lie so many steps before the source."""
    if used.use is StepUse.NONE:
        return index_maps.unrelated(source.sizes, target.sizes)[0]
    is_elementwise = used.use is StepUse.ELEMENTWISE
    same = [*zip(source.within, target.within, strict=True)] if is_elementwise else []
    if used.is_single and source.steps is not None and target.steps is not None:
        same.append((source.steps, target.steps))
        found, _ = index_maps.paired(source.sizes, target.sizes, same)
        place = index_maps.dim(source.steps) - used.first * used.sign
        moved = (place if axis == target.steps else each for axis, each in enumerate(found.forms))
        within = index_maps.inside(place, target.sizes[target.steps])
        found = type(found).from_forms(moved, found.domain)
    else:
        found, _ = index_maps.paired(source.sizes, target.sizes, same)
        place = source.place_of(index_maps.dimensions_of(source.sizes))
        within = used.constraints(place - target.place_of(found.forms))
        if used.length_if_kept is not None and not is_elementwise:
            within += _kept_without_steps(source, found.forms, used.length_if_kept)
    return index_maps.on_condition(found, within).simplify(preserve_size_one=True)


def _kept_without_steps(
    source: _Slices, element: Sequence[Form], length: Form
) -> Iterator[Constraint]:
    """Conditions that a carried value has steps behind it, or is the same element as before."""
    some = forms.nonnegative(length - 1)
    for index, other in zip(index_maps.dimensions_of(source.sizes), element, strict=True):
        same = forms.zero(index - other)
        neither = forms.conjunction(map(forms.negation, (some, same)))
        yield neither, Interval(0, 0)


# Steps that reach others.

MAX_EXACT_STEPS: Final = 64
"""So many steps are followed exactly. Carried values come back to where they were much earlier, but
for long rotations of many of them; then all that may be reached counts as reached."""


@dataclass(frozen=True, slots=True)
class _Steps:
    """A step that is repeated: how its results use its operands."""

    uses: Sequence[Sequence[StepUse]]
    inputs: int
    outputs: int
    length: Size

    def kept_without_steps(self, result: int) -> int | None:
        """The operand that a result is if there are no steps: carried values stay as they are."""
        return result - self.outputs + self.inputs if result >= self.outputs else None

    def past(self, result: int) -> _Past:
        """Uses of a result."""
        if not self.length:
            kept = self.kept_without_steps(result)
            columns = range(len(self.uses[result]))
            return _Past([[StepUse(column == kept) for column in columns]], 0, 1)
        rows = [self.uses[result]]
        while isinstance(self.length, Form) or len(rows) < self.length:
            row = self._before(rows[-1])
            if row in rows:
                return _Past(rows, len(rows) - rows.index(row), self.length)
            if len(rows) == MAX_EXACT_STEPS:
                return _Past([*rows, self._ever(row)], 1, self.length)
            rows.append(row)
        return _Past(rows, 0, self.length)

    def _before(self, row: Sequence[StepUse]) -> list[StepUse]:
        """Uses of a row one step earlier, through the carried values."""
        carried = [*zip(row[self.inputs :], self.uses[self.outputs :], strict=True)]
        return [
            max((use.then(each[column]) for use, each in carried), default=StepUse.NONE)
            for column in range(len(row))
        ]

    def _ever(self, row: Sequence[StepUse]) -> Sequence[StepUse]:
        """Uses of a row and all rows before it."""
        while (wider := [*map(max, row, self._before(row))]) != row:
            row = wider
        return row


@dataclass(frozen=True, slots=True)
class _Past:
    """``rows[k]``: the uses of a result in the step that is ``k`` steps before its own.

    The last ``period`` rows repeat up to the first step.
    """

    rows: Sequence[Sequence[StepUse]]
    period: int
    length: Size

    def used(self, column: int) -> _Used:
        """Distances at which an operand is used: the least progression that holds all of them."""
        near = [distance for distance, row in enumerate(self.rows) if row[column]]
        use = max(row[column] for row in self.rows)
        if not near:
            return _Used(StepUse.NONE)
        is_repeated = any(row[column] for row in self.rows[len(self.rows) - self.period :])
        repeats = [self.period] if is_repeated else []
        stride = gcd(*(distance - near[0] for distance in near), *repeats)
        if isinstance(self.length, Form):
            last = None if is_repeated else near[-1]
        else:
            ending = range(self.length - 1, self.length - 1 - self.period, -1)
            last = max([near[-1], *(each for each in ending if self[each][column])])
        return _Used(use, near[0], last, stride or 1)

    def __getitem__(self, distance: int) -> Sequence[StepUse]:
        beyond = distance - len(self.rows)
        return self.rows[distance if beyond < 0 else beyond % self.period - self.period]


@dataclass(frozen=True, slots=True)
class _Used:
    """Use of an operand by a result, and the number of steps that one may be behind the other.

    They are ``first``, and every ``stride`` on up to ``last``, or as many as there are; all of them
    times ``sign``. ``length_if_kept`` is the number of steps of an operand that the result is if
    there are none.
    """

    use: StepUse
    first: int = 0
    last: int | None = 0
    stride: int = 1
    sign: int = 1
    length_if_kept: Form | None = None

    @property
    def is_single(self) -> bool:
        """Whether there is one distance."""
        return self.first == self.last

    def reversed(self) -> _Used:
        """The same, seen from the other end."""
        return replace(self, sign=-self.sign)

    def or_kept(self, length: Form) -> _Used:
        """The same for a carried value that stays as it is if there are no steps.

        Its last place then is one before its first.
        """
        use = max(self.use, StepUse.ELEMENTWISE)
        if not self.use:
            return _Used(use, -1, -1, length_if_kept=length)
        stride = gcd(self.stride, self.first + 1)
        return replace(self, use=use, first=-1, stride=stride, length_if_kept=length)

    def constraints(self, distance: Form) -> list[Constraint]:
        """The conditions that a number of steps is one of these."""
        interval = Interval(self.first, self.last)
        from_first = distance - self.first * self.sign
        return [
            (distance, interval if self.sign > 0 else -interval),
            (forms.mod(from_first, forms.constant(self.stride)), Interval(0, 0)),
        ]


# Checks.


def _stacked(role: str, sizes: Sizes, dimension: int) -> _Slices:
    checked = index_maps.checked_sizes("scan", role, sizes)
    (steps,) = index_maps.checked_dimensions("scan", "dimensions", [dimension], len(checked))
    return _Slices(checked, steps)


def _common_length(stacked: Sequence[_Slices]) -> tuple[Size, list[Constraint]]:
    """The number of steps, and the conditions that all have it: numbers tell more than forms."""
    lengths = [array.sizes[array.steps or 0] for array in stacked]
    if not lengths:
        message = "scan: there is neither an input nor an output; expected one to step along"
        raise ShapeError(message)
    chosen = min(lengths, key=lambda length: isinstance(length, Form))
    conditions = index_maps.not_negative(size for array in stacked for size in array.sizes)
    for length in lengths:
        message = f"scan: dimension {stacked[0].steps} has size {chosen} in one input"
        message = f"{message}, but {length} in another or in an output; expected the same"
        conditions += index_maps.equal(chosen, length, message)
    return chosen, conditions


def _check_slices(
    operands: Sequence[_Slices], results: Sequence[_Slices], uses: Sequence[Sequence[StepUse]]
) -> Iterator[Constraint]:
    """The conditions that slices are of one shape where they are used element by element."""
    index_maps.check_count("scan", "the result of to_apply", uses, len(results), "result")
    for result, row in zip(results, uses, strict=True):
        index_maps.check_count("scan", "the parameters of to_apply", row, len(operands), "operand")
        for operand, use in zip(operands, row, strict=True):
            if use is not StepUse.ELEMENTWISE:
                continue
            one, other = result.of_slice, operand.of_slice
            shown = f"{index_maps.shown_sizes(one)} and {index_maps.shown_sizes(other)}"
            message = f"scan: an elementwise computation takes slices {shown}"
            message = f"{message}; expected one shape"
            if len(one) != len(other):
                raise ShapeError(message)
            for size, wanted in zip(one, other, strict=True):
                yield from index_maps.equal(size, wanted, message)


# Reading instructions.


def _scan(instruction: Instruction) -> tuple[OpIndexing, ...]:
    carries = instruction.attributes.get("num_carries", 0)
    operands = [rule.sizes_of(operand) for operand in instruction.operands]
    inputs = operands[: len(operands) - carries]
    outputs = [
        cast("tuple[Size, ...]", array_sizes(instruction, number))  # rules are asked if known
        for number in range(len(instruction.shape.arrays) - carries)
    ]
    return scan(
        inputs,
        outputs,
        operands[len(inputs) :],
        rule.only_dimension(instruction),
        is_reverse=instruction.attributes.get("is_reverse", False),
        uses=_uses(instruction.attributes["to_apply"]),
    )


def _uses(computation: Computation) -> list[list[StepUse]]:
    """Uses of each parameter by each array of a computation's result."""
    found: dict[Instruction, list[list[StepUse]]] = {}
    parameters = len(computation.parameters)
    for each in computation.instructions:
        found[each] = _uses_of(each, [found[operand] for operand in each.operands], parameters)
    return found[computation.root]


def _uses_of(
    instruction: Instruction, operands: Sequence[list[list[StepUse]]], parameters: int
) -> list[list[StepUse]]:
    """The same of each array of an instruction, from those of its operands."""
    if instruction.parameter_number is not None:
        return [[StepUse(number == instruction.parameter_number) for number in range(parameters)]]
    arrays = [row for operand in operands for row in operand]
    if instruction.opcode == "tuple":
        return arrays
    if instruction.opcode == "get-tuple-element":
        return [arrays[instruction.attributes["index"]]]
    uses = [max(column) for column in zip(*arrays, strict=True)] or [StepUse.NONE] * parameters
    if not _is_elementwise(instruction, operands):
        uses = [StepUse.ANY if use else use for use in uses]
    return [uses] * len(instruction.shape.arrays)


def _is_elementwise(instruction: Instruction, operands: Sequence[list[list[StepUse]]]) -> bool:
    """Whether all uses of a parameter are combined element by element; constants do not matter."""
    pairs = zip(instruction.operands, operands, strict=True)
    used = [operand.shape for operand, rows in pairs if any(use for row in rows for use in row)]
    shapes = [instruction.shape, *used]
    sizes = {array.dimensions for shape in shapes for array in shape.arrays}
    return instruction.opcode in ELEMENTWISE and len(sizes) == 1


def _may_be_used(instruction: Instruction, _: int, __: int) -> Doubt | None:
    uses = (use for row in _uses(instruction.attributes["to_apply"]) for use in row)
    reason = "a step that is not elementwise may use any element of what it takes"
    return Doubt(reason) if StepUse.ANY in uses else None


def _scan_shape(op: Application) -> Sized:
    """Outputs have a slice for each step, as inputs do; carried values stay as large."""
    carries: int = op.attributes.get("num_carries", 0)
    result: Shape = op.attributes["to_apply"].root.shape
    inputs = len(op.operands) - carries
    if inputs <= 0:
        if op.result is None:
            raise AttributeValueError("the shape of a scan without inputs has to be written")
        return Sized(op.result, tuple(each.own for each in op.operands))
    axes = op.attributes["dimensions"][:1] or (0,)
    (axis,), (steps,) = axes, op.operands[0].taken(axes)
    outputs = max(0, len(result.arrays) - carries)
    several = [_all_steps(shape, axis, steps) for shape in result.arrays[:outputs]]
    pairs = zip(result.arrays[outputs:], op.operands[inputs:], strict=False)
    several += [Sized(shape, operand.sizes) for shape, operand in pairs]
    return Sized.together(several) if result.is_tuple else several[0]


def _all_steps(shape: Shape, axis: int, steps: Size) -> Sized:
    """Slices along an axis, one for each step; of their own sizes the operands say nothing."""
    before, after = shape.dimensions[:axis], shape.dimensions[axis:]
    whole = array_shape(shape.element_type, (*before, steps, *after))
    return Sized(whole, ([*[None] * len(before), steps, *[None] * len(after)],))


RULES: Final[Mapping[str, OpRule]] = {
    "reduce": OpRule(_reduce, shape=_reduce_shape),
    "batch-norm-grad": OpRule(_normalization(batch_norm_grad, 0, 4), shape=_batch_norm_shape),
    "batch-norm-inference": OpRule(_normalization(batch_norm_inference, 0)),
    "batch-norm-training": OpRule(_normalization(batch_norm_training, 0), shape=_batch_norm_shape),
    "sort": OpRule(_sort),
    "topk": OpRule(_top_k, shape=_topk_shape),
    "scan": OpRule(_scan, doubt=_may_be_used, shape=_scan_shape),
}
