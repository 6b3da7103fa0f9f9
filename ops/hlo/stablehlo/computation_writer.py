"""Writes one computation of HLO: the instructions for the operations of a function or a region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.hlo.errors import AttributeValueError
from ops.hlo.stablehlo.common_attributes import common_attributes
from ops.hlo.stablehlo.constructions import CONSTRUCTIONS
from ops.hlo.stablehlo.entry_attributes import laid_out
from ops.hlo.stablehlo.given_operation import GivenOperation
from ops.hlo.stablehlo.operation_writer import OperationWriter, name_in_hlo
from ops.hlo.stablehlo.tracked_sizes import note_division

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.layout import Layout
    from ops.hlo.module import Computation, Instruction
    from ops.mlir.operation import Argument, MlirBlock, MlirOperation
    from ops.sizes import Size

_DIALECTS: Final = frozenset(["stablehlo", "chlo", "mhlo", "func", "sdy"])


class ComputationWriter(OperationWriter):
    """Writes blocks, and with them the operations in them."""

    # Blocks

    def parameters(
        self,
        arguments: Sequence[Argument],
        sizes: Mapping[int, tuple[Size, ...]] | None = None,
        layouts: Sequence[Layout | None] = (),
    ) -> None:
        """A parameter for each argument; ``sizes`` and ``layouts`` are those of some."""
        for number, argument in enumerate(arguments):
            layout = layouts[number] if number < len(layouts) else None
            shape = laid_out(self.module.shape_of(argument), layout)
            attributes = common_attributes(
                argument.attributes, argument.location, shape, self.module.context
            )
            self.values[argument.name.text] = self.builder.made(
                *("parameter", shape, (sizes[number],) if sizes and number in sizes else None),
                (),
                attributes,
                number=number,
                name=name_in_hlo(argument.name.text[1:], "v."),
                place=(argument.name.start, argument.name.start + len(argument.name.text)),
            )

    def run(self, block: MlirBlock) -> list[Instruction]:
        """What the block returns."""
        for operation in block.operations:
            if operation.name.rpartition(".")[2] == "return":
                return [self.value(name) for name in operation.operands]
            self.operation(operation)
        return []

    # Operations

    def operation(self, operation: MlirOperation) -> None:
        """Write the instructions of an operation."""
        operands = tuple(self.value(name) for name in operation.operands)
        given = GivenOperation(operation, self.module.text, operands)
        try:
            made = self._made(given)
        except (AttributeValueError, ShapeError) as error:
            given.fail(str(error))
        if len(made) != len(operation.types):
            given.fail(f"expected {len(made)} results, not {len(operation.types)}")
        self.values |= zip(operation.results, made, strict=False)

    def _made(self, given: GivenOperation) -> Sequence[Instruction]:
        dialect, _, _ = given.operation.name.rpartition(".")
        construct = CONSTRUCTIONS.get(given.name) if dialect in _DIALECTS else None
        if construct is None:
            given.fail("the operation has no counterpart in HLO")
        return construct(self, given)

    def region(
        self,
        given: GivenOperation,
        blocks: tuple[MlirBlock, ...],
        name: str,
        layouts: Sequence[Layout | None] = (),
    ) -> Computation:
        """A computation with the arguments of a region as parameters, in these layouts."""
        inside = self.inside()
        block = self.block_of(given, blocks)
        inside.parameters(block.arguments, layouts=layouts)
        return inside.finished(name, inside.run(block))

    def inlined(self, given: GivenOperation, name: str) -> Sequence[Instruction]:
        """The results of a function, whose instructions become part of this computation."""
        block = self.module.entered(name, given)
        if len(block.arguments) != len(given.operands):
            given.fail(f"@{name} takes {len(block.arguments)} values, not {len(given.operands)}")
        around, self.values = self.values, {}
        for argument, operand in zip(block.arguments, given.operands, strict=True):
            self.values[argument.name.text] = operand
            self.module.note_symbol(argument, operand)
        results = self.run(block)
        self.values = around
        self.module.left()
        note_division(self.module.sizes, name, given.operands, results)
        return results
