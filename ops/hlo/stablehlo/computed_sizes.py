"""Operations of StableHLO with sizes that the program computes, as ``jax.export`` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import UNBOUNDED_SIZE
from ops.hlo.result_sizes import padded_size
from ops.hlo.stablehlo.attribute_conversions import gather_numbers
from ops.hlo.stablehlo.tracked_sizes import fact
from ops.sizes import ceil_divided, difference, shown_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.construction import Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter
    from ops.sizes import Size

ASSERTION: Final = "shape_assertion"
"""What checks in exported programs that sizes are as JAX assumes."""


def assert_sizes(writer: OperationWriter, given: GivenOperation) -> None:
    """Keep what a program checks of sizes as a fact about them."""
    checked = given.operands[0] if given.operands else None
    if checked is None or checked.opcode != "compare":
        return
    left, right = (writer.module.sizes.values(operand) for operand in checked.operands)
    if left is not None and right is not None:
        found = fact(left[0], right[0], checked.attributes["direction"])
        writer.module.sizes.facts |= {} if found is None else {found: None}


def _given_sizes(writer: OperationWriter, given: GivenOperation, place: int) -> tuple[Size, ...]:
    """The values of an operand that has sizes."""
    given.at_least(place + 1)
    found = writer.module.sizes.values(given.operands[place])
    if found is None:
        given.fail("the sizes are computed by what is no arithmetic on sizes of arguments")
    return found


def _dynamic_reshape(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    sizes = _given_sizes(writer, given, 1)
    return [writer.add(given, "reshape", given.shape, given.operands[:1], {}, sizes=sizes)]


def _dynamic_broadcast(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    sizes = _given_sizes(writer, given, 1)
    axes = given.integers("broadcast_dimensions")
    return [writer.broadcast(given, given.operands[0], given.shape, axes, sizes=sizes)]


def _dynamic_iota(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    sizes = _given_sizes(writer, given, 0)
    attributes = {"iota_dimension": given.integer("iota_dimension")}
    return [writer.add(given, "iota", given.shape, (), attributes, sizes=sizes)]


def _dynamic_gather(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    sizes = shown_sizes(_given_sizes(writer, given, 2))
    attributes = gather_numbers(given)
    return writer.results(given, "gather", attributes | {"slice_sizes": sizes}, given.operands[:2])


def _real_dynamic_slice(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    columns = [_given_sizes(writer, given, place) for place in (1, 2, 3)]
    rows = [*zip(*columns, strict=True)]
    sizes = tuple(
        size if size != UNBOUNDED_SIZE else _taken(given, row)
        for size, row in zip(given.shape.dimensions, rows, strict=True)
    )
    attributes = {"slice": tuple(map(shown_sizes, rows))}
    return [writer.add(given, "slice", given.shape, given.operands[:1], attributes, sizes=sizes)]


def _taken(given: GivenOperation, row: Sequence[Size]) -> Size:
    """How many elements a slice takes along a dimension."""
    start, limit, stride = row
    if not isinstance(stride, int) or stride < 1:
        given.fail("a stride is computed while the program runs")
    return ceil_divided(difference(limit, start), stride)


def _dynamic_pad(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    columns = [_given_sizes(writer, given, place) for place in (2, 3, 4)]
    rows = [*zip(*columns, strict=True)]
    before = writer.module.sizes.sizes(given.operands[0])
    sizes = tuple(padded_size(size, *row) for size, row in zip(before, rows, strict=True))
    attributes = {"padding": tuple(map(shown_sizes, rows))}
    return [writer.add(given, "pad", given.shape, given.operands[:2], attributes, sizes=sizes)]


COMPUTED_SIZES: Final[Mapping[str, Construction]] = {
    "dynamic_broadcast_in_dim": _dynamic_broadcast,
    "dynamic_gather": _dynamic_gather,
    "dynamic_iota": _dynamic_iota,
    "dynamic_pad": _dynamic_pad,
    "dynamic_reshape": _dynamic_reshape,
    "real_dynamic_slice": _real_dynamic_slice,
}
"""Operations by their names without the dialect."""
