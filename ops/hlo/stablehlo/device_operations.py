"""Operations of StableHLO between devices, and between a device and its host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from indexing.layout import ElementType, Shape
from ops.hlo.replica_groups import ListedGroups
from ops.hlo.shape_inference import one_or_tuple
from ops.hlo.stablehlo.construction import one_instruction
from ops.mlir.dense_elements import DenseElements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.construction import AttributesOf, Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter


def _collective(given: GivenOperation) -> dict[str, Any]:
    """The groups of devices, and the channel that they share."""
    found: dict[str, Any] = {}
    if given.has("channel_handle"):
        channel = given.fields("channel_handle").integer("handle")
        found |= {"channel_id": channel} if channel > 0 else {}
    groups = given.get("replica_groups", None)
    if isinstance(groups, DenseElements):
        width = groups.shape.dimensions[-1] if groups.shape.rank else 1
        rows = given.rows("replica_groups", max(width, 1))
        found["replica_groups"] = ListedGroups(tuple(tuple(n for n in r if n >= 0) for r in rows))
    if given.flag("use_global_device_ids"):
        found["use_global_device_ids"] = True
    return found


def _along(name: str) -> AttributesOf:
    """A collective along a dimension."""
    return lambda given: _collective(given) | {"dimensions": given.integers(name)}


def _all_to_all(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """Parts along one dimension, that are joined along another one."""
    split, joined = given.integer("split_dimension"), given.integer("concat_dimension")
    count, operand = given.integer("split_count"), given.operand
    sizes = list(operand.shape.dimensions)
    is_inside = 0 <= split < len(sizes) and 0 <= joined < len(sizes)
    if not is_inside or count < 1 or sizes[split] % count:
        given.fail(f"dimension {split} of {operand.shape} does not split in {count}")
    if split == joined:
        return writer.results(given, "all-to-all", _along("split_dimension")(given))
    apart = [*sizes[:split], count, sizes[split] // count, *sizes[split + 1 :]]
    parts = writer.shaped(given, "reshape", operand, apart, name="parts")
    attributes = _collective(given) | {"dimensions": (split,)}
    moved = writer.shaped(given, "all-to-all", parts, apart, attributes, name="moved")
    order = [axis for axis in range(len(apart)) if axis != split]
    order.insert(order.index(joined + (joined > split)), split)
    turned = writer.shaped(
        *(given, "transpose", moved, [apart[axis] for axis in order]),
        {"dimensions": tuple(order)},
        name="turned",
    )
    return writer.results(given, "reshape", {}, [turned])


def _permute(given: GivenOperation) -> dict[str, Any]:
    return _collective(given) | {"source_target_pairs": given.rows("source_target_pairs", 2)}


# Transfers.


def _transfer(
    opcode: str,
    write: Callable[[OperationWriter, GivenOperation, dict[str, Any]], Sequence[Instruction]],
) -> Construction:
    """What sends, receives, or talks to the host: data goes with a token."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        attributes = _collective(given)
        if given.flag("is_host_transfer"):
            attributes["is_host_transfer"] = True
        config = given.get(f"{opcode}_config", "")
        if isinstance(config, str) and config:
            attributes[f"{opcode}_config"] = config
        return write(writer, given, attributes)

    return construct


def _outfeed(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    given.at_least(1)
    *data, token = given.operands
    attributes.pop("channel_id", None)
    sent = writer.bundled(given, data)
    return writer.results(given, "outfeed", attributes, [sent, token])


def _infeed(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    *data, token = _fed(given)
    shape = Shape.of_tuple([one_or_tuple(data), token])
    fed = writer.add(given, "infeed", shape, given.operands, attributes, name="infeed")
    return _unpacked(writer, given, fed, data)


def _fed(given: GivenOperation) -> tuple[Shape, ...]:
    """The shapes of data and of the token behind it."""
    if len(given.shapes) < 2:  # noqa: PLR2004 - some data and a token
        given.fail("expected data and a token as results")
    return given.shapes


def _send(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    given.at_least(1)
    *data, token = given.operands
    sent = writer.bundled(given, data)
    shape = Shape.of_tuple([sent.shape, Shape(ElementType.U32), token.shape])
    begun = writer.add(given, "send", shape, [sent, token], attributes, name="send")
    return writer.results(given, "send-done", attributes, [begun])


def _recv(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    *data, token = _fed(given)
    received = one_or_tuple(data)
    begun_shape = Shape.of_tuple([received, Shape(ElementType.U32), token])
    begun = writer.add(given, "recv", begun_shape, given.operands, attributes, name="recv")
    shape = Shape.of_tuple([received, token])
    done = writer.add(given, "recv-done", shape, [begun], attributes, name="recv-done")
    return _unpacked(writer, given, done, data)


def _unpacked(
    writer: OperationWriter, given: GivenOperation, made: Instruction, data: Sequence[Shape]
) -> Sequence[Instruction]:
    """The arrays of the first element of a tuple, and the token behind it."""
    first, token = (writer.element(given, made, place) for place in range(2))
    return [*writer.elements(given, first, len(data)), token]


DEVICE_OPERATIONS: Final[Mapping[str, Construction]] = {
    "all_gather": one_instruction("all-gather", _along("all_gather_dim")),
    "all_reduce": one_instruction("all-reduce", _collective, "to_apply"),
    "collective_broadcast": one_instruction("collective-broadcast", _collective),
    "collective_permute": one_instruction("collective-permute", _permute),
    "reduce_scatter": one_instruction("reduce-scatter", _along("scatter_dimension"), "to_apply"),
    "all_to_all": _all_to_all,
    "infeed": _transfer("infeed", _infeed),
    "outfeed": _transfer("outfeed", _outfeed),
    "recv": _transfer("recv", _recv),
    "send": _transfer("send", _send),
}
"""Operations by their names without the dialect."""
