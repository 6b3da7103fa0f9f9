"""Custom calls that compilers and frameworks write themselves: builders by target.

Of all others nothing is known, until somebody registers a builder for them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from indexing import UndefinedMap
from indexing.layout import ShapeError
from ops.hlo.opcodes import Arity
from ops.rules.broadcast import broadcast
from ops.rules.convolution import convolution_of
from ops.rules.dot import dot
from ops.rules.elementwise import elementwise
from ops.rules.op_indexing import OpIndexing, Unknown
from ops.rules.rule import OpRule, arrays_in_operands, sizes_of
from ops.rules.sort import top_k

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo import Instruction
    from ops.rules.rule import Builder, Maps


def _no_map(instruction: Instruction, why: str) -> Unknown:
    target = instruction.attributes["custom_call_target"]
    return Unknown(f"custom-call: no indexing map of {target}, because {why}")


def _arrays_in(instruction: Instruction) -> Iterator[Shape]:
    """All arrays in the operands, in order."""
    return (
        instruction.operands[operand].shape.arrays[element]
        for operand, element in arrays_in_operands(instruction)
    )


def _passed_on(instruction: Instruction) -> Maps:
    """Every array as it is, with a note on how it lies; or of a part on each device."""
    results, given = instruction.shape.arrays, [*_arrays_in(instruction)]
    if len(results) != len(given):
        return _no_map(instruction, f"it has {len(given)} arrays, but gives {len(results)}")
    parted = UndefinedMap(_no_map(instruction, "each device has a part of its own").reason)
    return {
        (number, number): elementwise([array.dimensions])
        if array.dimensions == result.dimensions
        else OpIndexing(result.dimensions, (parted,), (parted,))
        for number, (array, result) in enumerate(zip(given, results, strict=True))
    }


def _computed(instruction: Instruction) -> Maps:
    """Every result element by element from all operands."""
    sizes = {array.dimensions for array in (*instruction.shape.arrays, *_arrays_in(instruction))}
    if len(sizes) != 1:
        return _no_map(instruction, "operands and results differ in size")
    return elementwise([array.dimensions for array in _arrays_in(instruction)])


def _checked(build: Builder, arity: Arity, *attributes: str) -> Builder:
    """The builder for calls that are what the target takes; nothing is known of others."""

    def adapted(instruction: Instruction) -> Maps:
        missing = [name for name in attributes if name not in instruction.attributes]
        if missing or len(instruction.operands) not in arity:
            expected = " and ".join((str(arity), *missing))
            return _no_map(instruction, f"it takes {expected}")
        try:
            return build(instruction)
        except ShapeError as error:
            return _no_map(instruction, f"its operands do not fit: {error}")

    return adapted


def _top_k(instruction: Instruction) -> Maps:
    """The largest elements along the last dimension, and where they were."""
    (operand,) = instruction.operands
    (count,) = instruction.shape.arrays[0].dimensions[-1:] or (1,)
    return top_k(sizes_of(operand), count)


# Libraries of a GPU: the result, and memory to work in, which holds nothing of interest.


def _convolution(instruction: Instruction) -> Maps:
    """A convolution, to which a bias of each feature and another tensor may be added."""
    _, _, *added = instruction.operands
    product = convolution_of(instruction)
    labels = instruction.attributes["dim_labels"]
    return _first_result(instruction, product, added, labels.output.index("f"))


def _matrix_product(instruction: Instruction) -> Maps:
    """A dot, to which a bias of each column or another tensor may be added."""
    lhs, rhs, *added = instruction.operands
    dimensions = _dimension_numbers(instruction)
    if dimensions is None:
        return _no_map(instruction, "its backend_config names no dimensions")
    product = dot(sizes_of(lhs), sizes_of(rhs), **dimensions)
    return _first_result(instruction, product, added, len(product.output_sizes) - 1)


_DOT_DIMENSIONS: Final = {
    "lhs_contracting_dims": "lhs_contracting_dimensions",
    "rhs_contracting_dims": "rhs_contracting_dimensions",
    "lhs_batch_dims": "lhs_batch_dimensions",
    "rhs_batch_dims": "rhs_batch_dimensions",
}


def _dimension_numbers(instruction: Instruction) -> dict[str, list[int]] | None:
    """What a backend's configuration says of a dot."""
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
    """The maps of a product and of what is added to it; nothing of the other results."""
    sizes = product.output_sizes
    if instruction.shape.arrays[0].dimensions != sizes:
        return _no_map(instruction, f"the result has other sizes than {sizes}")
    terms = [(product, number) for number in range(len(product.output_to_input))]
    for operand in added:
        places = range(len(sizes)) if operand.shape.rank == len(sizes) else (feature,)
        terms.append((broadcast(sizes_of(operand), sizes, places), 0))
    return {
        (0, number): OpIndexing(
            sizes, (term.output_to_input[place],), (term.input_to_output[place],)
        )
        for number, (term, place) in enumerate(terms)
    }


_ANNOTATIONS: Final = (
    "AssumeGatherIndicesInBound",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PinToDevice",
    "PinToDeviceSram",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "Sharding",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "xla.sdy.PropagationBarrier",
    "xla.sdy.Sharding",
)

_ELEMENTWISE: Final = (
    "X64Combine",
    "X64SplitHigh",
    "X64SplitLow",
    "cu_threefry2x32",
    "cu_threefry2x32_ffi",
    "hip_threefry2x32",
    "hip_threefry2x32_ffi",
)

_CONVOLUTIONS: Final = (
    "__cudnn$convBiasActivationForward",
    "__cudnn$convForward",
)

_MATRIX_PRODUCTS: Final = ("__cublas$gemm", "__cublas$lt$matmul")

CUSTOM_CALLS: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(_ANNOTATIONS, OpRule(_passed_on)),
    **dict.fromkeys(_ELEMENTWISE, OpRule(_computed)),
    **dict.fromkeys(_CONVOLUTIONS, OpRule(_checked(_convolution, Arity(2, 4), "dim_labels"))),
    **dict.fromkeys(_MATRIX_PRODUCTS, OpRule(_checked(_matrix_product, Arity(2, 4)))),
    **dict.fromkeys(("TopK", "__gpu$TopK"), OpRule(_checked(_top_k, Arity(1)))),
}
"""Target of a custom call -> the maps of what it does."""
