"""What XLA's compiler adds to StableHLO, in the dialect MHLO: fusions, and bitcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.construction import Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter


def _fusion(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """A fusion; the parameters of its computation have the layouts of its operands."""
    region, layouts = given.region, [each.shape.layout for each in given.operands]
    name = f"{writer.name_of(given)}.calls"
    kind = given.word("fusion_kind", "kLoop")
    calls = writer.region(given, region, name, layouts)
    return writer.results(given, "fusion", {"kind": kind, "calls": calls})


def _bitcast(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """The same bytes as another array; attributes say the layout of each side."""
    operand, shape = given.operand, given.shape
    if given.has("source_layout"):
        operand = _in_layout(writer, given, operand)
    if given.has("result_layout"):
        shape = shape.with_layout(Layout(given.integers("result_layout")))
    return [writer.add(given, "bitcast", shape, [operand], {})]


def _in_layout(writer: OperationWriter, given: GivenOperation, operand: Instruction) -> Instruction:
    """The operand in the layout that a bitcast reads: a copy, if it has another one."""
    order = given.integers("source_layout")
    if operand.shape.array_layout.minor_to_major == order:
        return operand
    shape = operand.shape.with_layout(Layout(order))
    return writer.add(given, "copy", shape, [operand], {}, name="source")


COMPILED_OPERATIONS: Final[Mapping[str, Construction]] = {"bitcast": _bitcast, "fusion": _fusion}
"""Operations by their names without the dialect."""
