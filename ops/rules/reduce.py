"""Reduce and batch norm: folds along dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from indexing import IndexingMap
from indexing.layout import ShapeError
from ops import index_maps
from ops.hlo import Instruction
from ops.index_maps import Size, Sizes
from ops.rules.elementwise import elementwise
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, folded_inputs, sizes_of


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
    to_input, to_output = index_maps.paired(output_sizes, sizes, enumerate(kept))
    return OpIndexing(
        output_sizes,
        (to_input,) * inputs + (index_maps.no_dimensions(output_sizes),) * inputs,
        (to_output,) * inputs + (index_maps.every_element(output_sizes),) * inputs,
    )


# Reading instructions.


def _reduce(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce(sizes_of(inputs[0]), instruction.attributes["dimensions"], len(inputs))


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
        maps = [self._maps_between(operand, need) for operand, need in pairs]
        to_inputs, to_outputs = zip(*maps, strict=True)
        return OpIndexing(self.sizes, to_inputs, to_outputs)

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


# Reading instructions.


def _normalization(build: Callable[[Sizes, int], Maps], *tensors: int) -> MapsFunction:
    """Reads operands: those numbered ``tensors`` are tensors, the others vectors of features."""

    def maps(instruction: Instruction) -> Maps:
        elementwise([sizes_of(instruction.operands[number]) for number in tensors])
        feature: int = instruction.attributes.get("feature_index", 0)
        found = build(sizes_of(instruction.operands[0]), feature)
        for number, operand in enumerate(instruction.operands):
            if number not in tensors:
                _check_features(instruction, operand, feature)
        return found

    return maps


def _check_features(instruction: Instruction, vector: Instruction, feature: int) -> None:
    tensor = instruction.operands[0]
    count = sizes_of(tensor)[feature]
    if sizes_of(vector) != (count,):
        message = f"{instruction.opcode}: %{vector.name} is {vector.shape}, but dimension {feature}"
        raise ShapeError(f"{message} of %{tensor.name} has size {count}; expected one number each")


RULES: Final[Mapping[str, OpRule]] = {
    "reduce": OpRule(_reduce),
    "batch-norm-grad": OpRule(_normalization(batch_norm_grad, 0, 4)),
    "batch-norm-inference": OpRule(_normalization(batch_norm_inference, 0)),
    "batch-norm-training": OpRule(_normalization(batch_norm_training, 0)),
}
