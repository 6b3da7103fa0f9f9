"""Custom calls that compilers and frameworks write: a rule for each target.

The maps of any other target are unknown, until a user registers a rule for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from indexing import UndefinedMap
from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from ops.hlo import Instruction
from ops.hlo.opcodes import Arity
from ops.rules import rule
from ops.rules.data_movement import broadcast
from ops.rules.elementwise import elementwise
from ops.rules.linear_algebra import dot
from ops.rules.reduce import top_k
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, Unknown
from ops.rules.windows import convolution_of


def _no_map(instruction: Instruction, why: str) -> Unknown:
    target = instruction.attributes["custom_call_target"]
    return Unknown(f"custom-call: no indexing map of {target}, because {why}")


def _arrays_in(instruction: Instruction) -> Iterator[Shape]:
    """All arrays in the operands, in order."""
    return (
        instruction.operands[operand].shape.arrays[element]
        for operand, element in rule.arrays_in_operands(instruction)
    )


def _passed_on(instruction: Instruction) -> Maps:
    """Passes every array on; a result of another size is a part of it on each device."""
    results, given = instruction.shape.arrays, [*_arrays_in(instruction)]
    if len(results) != len(given):
        return _no_map(instruction, f"it has {len(given)} arrays, but gives {len(results)}")
    if any(array.is_unbounded for array in (*results, *given)):
        return _no_map(instruction, "its sizes have no bound")
    parted = UndefinedMap(_no_map(instruction, "each device has a part of its own").reason)
    return {
        (number, number): elementwise([array.dimensions])
        if array.dimensions == result.dimensions
        else OpIndexing(result.dimensions, (parted,), (parted,))
        for number, (array, result) in enumerate(zip(given, results, strict=True))
    }


def _computed(instruction: Instruction) -> Maps:
    """Computes every result element by element from all operands."""
    sizes = {array.dimensions for array in (*instruction.shape.arrays, *_arrays_in(instruction))}
    if any(UNBOUNDED_SIZE in each for each in sizes):
        return _no_map(instruction, "its sizes have no bound")
    if len(sizes) != 1:
        return _no_map(instruction, "operands and results differ in size")
    return elementwise([array.dimensions for array in _arrays_in(instruction)])


def target_rule(build: MapsFunction, arity: Arity, *attributes: str) -> OpRule:
    """The rule of a target, which is unknown for calls that the target does not take.

    A target is only a name: somebody else may use it with other operands, attributes or sizes.
    """

    def maps(instruction: Instruction) -> Maps:
        missing = [name for name in attributes if name not in instruction.attributes]
        if missing or len(instruction.operands) not in arity:
            expected = " and ".join((str(arity), *missing))
            return _no_map(instruction, f"it takes {expected}")
        try:
            return build(instruction)
        except ShapeError as error:
            return _no_map(instruction, f"its operands do not fit: {error}")

    return OpRule(maps)


def _top_k(instruction: Instruction) -> Maps:
    """Finds the largest elements along the last dimension, and their indices."""
    (operand,) = instruction.operands
    (count,) = instruction.shape.arrays[0].dimensions[-1:] or (1,)
    return top_k(rule.sizes_of(operand), count)


# Libraries of a GPU. Behind the result stands scratch memory, which depends on nothing.


def _convolution(instruction: Instruction) -> Maps:
    """Computes a convolution, and may add a bias for each feature and another tensor."""
    _, _, *added = instruction.operands
    product = convolution_of(instruction)
    labels = instruction.attributes["dim_labels"]
    return _first_result(instruction, product, added, labels.output.index("f"))


def _matrix_product(instruction: Instruction) -> Maps:
    """Computes a dot, and may add a bias for each column or another tensor."""
    lhs, rhs, *added = instruction.operands
    dimensions = _dimension_numbers(instruction)
    if dimensions is None:
        return _no_map(instruction, "its backend_config names no dimensions")
    product = dot(rule.sizes_of(lhs), rule.sizes_of(rhs), **dimensions)
    return _first_result(instruction, product, added, len(product.output_sizes) - 1)


_DOT_DIMENSIONS: Final = {
    "lhs_contracting_dims": "lhs_contracting_dimensions",
    "rhs_contracting_dims": "rhs_contracting_dimensions",
    "lhs_batch_dims": "lhs_batch_dimensions",
    "rhs_batch_dims": "rhs_batch_dimensions",
}


def _dimension_numbers(instruction: Instruction) -> dict[str, list[int]] | None:
    """The dimension numbers of a dot in the configuration of a backend."""
    try:
        config: Any = json.loads(instruction.attributes["backend_config"])
        numbers = config["gemm_backend_config"]["dot_dimension_numbers"]
        return {
            name: [int(number) for number in numbers.get(key, ())]
            for name, key in _DOT_DIMENSIONS.items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _first_result(
    instruction: Instruction, product: OpIndexing, added: Sequence[Instruction], feature: int
) -> Maps:
    """The maps of a product and of its addends. The other results depend on nothing."""
    sizes = product.output_sizes
    if instruction.shape.arrays[0].dimensions != sizes:
        return _no_map(instruction, f"the result has other sizes than {sizes}")
    terms = [(product, number) for number in range(len(product.output_to_input))]
    for operand in added:
        axes = range(len(sizes)) if operand.shape.rank == len(sizes) else (feature,)
        terms.append((broadcast(rule.sizes_of(operand), sizes, axes), 0))
    return {
        (0, number): OpIndexing(
            sizes, (term.output_to_input[index],), (term.input_to_output[index],)
        )
        for number, (term, index) in enumerate(terms)
    }


_OF_SHARDY: Final = (
    *("FuncResultSharding", "GlobalToLocalShape", "LocalToGlobalShape", "PropagationBarrier"),
    "Sharding",
)

_ANNOTATIONS: Final = (
    *("AssumeGatherIndicesInBound", "LayoutConstraint", "MoveToDevice", "MoveToHost"),
    *("PinToDevice", "PinToDeviceSram", "SPMDFullToShardShape", "SPMDShardToFullShape"),
    *("Sharding", "annotate_device_placement"),
    *(f"xla.sdy.{name}" for name in _OF_SHARDY),
)

_ELEMENTWISE: Final = (
    *("X64Combine", "X64SplitHigh", "X64SplitLow"),
    *(f"{gpu}_threefry2x32{kind}" for gpu in ("cu", "hip") for kind in ("", "_ffi")),
)

_CONVOLUTIONS: Final = ("__cudnn$convBiasActivationForward", "__cudnn$convForward")

_MATRIX_PRODUCTS: Final = ("__cublas$gemm", "__cublas$lt$matmul")

CUSTOM_CALLS: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(_ANNOTATIONS, OpRule(_passed_on)),
    **dict.fromkeys(_ELEMENTWISE, OpRule(_computed)),
    **dict.fromkeys(_CONVOLUTIONS, target_rule(_convolution, Arity(2, 4), "dim_labels")),
    **dict.fromkeys(_MATRIX_PRODUCTS, target_rule(_matrix_product, Arity(2, 4))),
    **dict.fromkeys(("TopK", "__gpu$TopK"), target_rule(_top_k, Arity(1))),
}
"""Target of a custom call -> its rule."""
