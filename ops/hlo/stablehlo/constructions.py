"""The operations of StableHLO that become something else than one instruction, and all tables.

Each is a function of what writes a computation and of the operation, to one instruction for each
result. :data:`CONSTRUCTIONS` names them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from indexing.layout import Shape
from ops.hlo.hlo_lexer import escape
from ops.hlo.stablehlo.attribute_conversions import CONVERTED, compare_attributes
from ops.hlo.stablehlo.compiled_operations import COMPILED_OPERATIONS
from ops.hlo.stablehlo.computed_sizes import ASSERTION, COMPUTED_SIZES, assert_sizes
from ops.hlo.stablehlo.control_flow import CONTROL_FLOW
from ops.hlo.stablehlo.device_operations import DEVICE_OPERATIONS
from ops.hlo.stablehlo.operation_table import TABLED
from ops.mlir.dense_elements import DenseElements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.construction import Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter

# Broadcasts.


def _broadcast_in_dim(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    axes = given.integers("broadcast_dimensions")
    return [writer.broadcast(given, given.operand, given.shape, axes)]


def _broadcast(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """The sizes of new dimensions stand in front."""
    operand, shape = given.operand, given.shape
    new = shape.rank - operand.shape.rank
    return [writer.broadcast(given, operand, shape, tuple(range(new, shape.rank)))]


def _implicit_broadcast(opcode: str) -> Construction:
    """Operands stretched as NumPy does, then an operation on elements."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        shape = given.shape
        stretched = [
            writer.broadcast(given, each, shape, _trailing(given, each, shape), name=f"side{place}")
            for place, each in enumerate(given.operands)
        ]
        if opcode not in _ELEMENTWISE_OF_CHLO:
            attributes = compare_attributes(given) if opcode == "compare" else {}
            return writer.results(given, opcode, attributes, stretched)
        return [writer.elementwise(given, opcode, stretched)]

    return construct


def _trailing(given: GivenOperation, operand: Instruction, shape: Shape) -> tuple[int, ...]:
    rank = operand.shape.rank
    if rank < shape.rank and given.has("broadcast_dimensions"):
        return given.integers("broadcast_dimensions")
    return tuple(range(shape.rank - rank, shape.rank))


def _elementwise(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """An operation on elements for which HLO has no opcode."""
    return [writer.elementwise(given, given.operation.name, given.operands)]


# Constants, calls and the rest.


def _constant(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    value = given.get("value")
    if not isinstance(value, DenseElements):
        given.fail("expected dense elements as the value")
    return [writer.constant(given, value.shape, value.values)]


def _arc_tangent(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """The angle of a point at distance 1, since XLA has no opcode for it."""
    shape = given.operand.shape
    one = writer.constant(given, Shape(shape.element_type, shape.dimensions), (1.0,))
    return writer.results(given, "atan2", {}, [given.operand, one])


def _custom_call(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    target = given.word("call_target_name")
    if target == ASSERTION and writer.module.is_polymorphic:
        assert_sizes(writer, given)
        return ()
    attributes: dict[str, Any] = {"custom_call_target": target}
    if given.flag("has_side_effect"):
        attributes["custom_call_has_side_effect"] = True
    version = given.integer("api_version", 1)
    if version in _API_VERSIONS:
        attributes["api_version"] = _API_VERSIONS[version]
    config = given.get("backend_config", "")
    if isinstance(config, str) and config:
        attributes["backend_config"] = escape(config)
    called = given.get("called_computations", ())
    if isinstance(called, tuple) and called:
        names = given.words("called_computations")
        attributes["called_computations"] = tuple(
            writer.module.function(name, given) for name in names
        )
    return writer.results(given, "custom-call", attributes)


_API_VERSIONS: Final = {
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}
"""By number; the first one is not written."""


def _called(attribute: str) -> Construction:
    """A function that is called, by the attribute that names it."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        if writer.module.is_polymorphic:  # sizes are those of one call
            return writer.inlined(given, given.word(attribute))
        called = writer.module.function(given.word(attribute), given)
        composite = {"is_composite": True} if attribute == "decomposition" else {}
        return writer.results(given, "call", {"to_apply": called, **composite})

    return construct


def _sharding_constraint(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    return writer.results(given, "copy", {})


def _barrier(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """Values that wait for each other, as one tuple."""
    return writer.results(given, "opt-barrier", {}, [writer.bundled(given, given.operands)])


def _nothing(_: OperationWriter, __: GivenOperation) -> Sequence[Instruction]:
    return ()


_ELEMENTWISE_OF_CHLO: Final = (
    *("bessel_i1e", "conj", "digamma", "erf_inv", "erfc", "is_inf", "is_neg_inf", "is_pos_inf"),
    *("lgamma", "next_after", "polygamma", "square", "zeta", "asin_acos_kernel"),
)
"""Operations on elements for which HLO has no opcode."""

_BROADCAST_OF_CHLO: Final = (
    *("add", "and", "atan2", "clamp", "compare", "complex", "divide", "maximum", "minimum"),
    *("multiply", "next_after", "or", "polygamma", "power", "remainder", "select", "shift_left"),
    *("shift_right_arithmetic", "shift_right_logical", "subtract", "xor", "zeta"),
)
"""Operations of CHLO that stretch their operands."""

CONSTRUCTIONS: Final[Mapping[str, Construction]] = {
    **TABLED,
    **COMPILED_OPERATIONS,
    **COMPUTED_SIZES,
    **CONTROL_FLOW,
    **CONVERTED,
    **DEVICE_OPERATIONS,
    **dict.fromkeys(_ELEMENTWISE_OF_CHLO, _elementwise),
    **{
        f"broadcast_{name}": _implicit_broadcast(
            name if name in _ELEMENTWISE_OF_CHLO else name.replace("_", "-")
        )
        for name in _BROADCAST_OF_CHLO
    },
    "atan": _arc_tangent,
    "broadcast": _broadcast,
    "broadcast_in_dim": _broadcast_in_dim,
    "call": _called("callee"),
    "composite": _called("decomposition"),
    "constant": _constant,
    "custom_call": _custom_call,
    "mesh": _nothing,
    "optimization_barrier": _barrier,
    "sharding_constraint": _sharding_constraint,
}
"""Operations by their names without the dialect."""
