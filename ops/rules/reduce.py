"""Operations along dimensions: reduce, batch norm, sort, top-k."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from indexing import IndexingMap
from indexing.layout import ElementType, ShapeError
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.errors import AttributeValueError
from ops.hlo.shape_inference import Application, Sized, checked_axes, one_or_together
from ops.index_maps import Size, SizeLike, Sizes
from ops.rules import rule
from ops.rules.elementwise import elementwise
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule


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
        same = [(axis, axis) for axis in range(len(self.sizes))]
        return index_maps.paired(
            self.sizes, operand.sizes, same if need == "same" else [(self.feature, operand.feature)]
        )


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
    (sorted_dimension,) = index_maps.checked_dimensions(
        "sort", "dimensions", [dimension], len(sizes)
    )
    same = [(axis, axis) for axis in range(len(sizes)) if axis != sorted_dimension]
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


RULES: Final[Mapping[str, OpRule]] = {
    "reduce": OpRule(_reduce, shape=_reduce_shape),
    "batch-norm-grad": OpRule(_normalization(batch_norm_grad, 0, 4), shape=_batch_norm_shape),
    "batch-norm-inference": OpRule(_normalization(batch_norm_inference, 0)),
    "batch-norm-training": OpRule(_normalization(batch_norm_training, 0), shape=_batch_norm_shape),
    "sort": OpRule(_sort),
    "topk": OpRule(_top_k, shape=_topk_shape),
}
