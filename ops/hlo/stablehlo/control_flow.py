"""Loops and branches of StableHLO. Their regions may read values around them; HLO's may not.

What a region reads is passed to its computation: a loop carries it along unchanged, and a branch
takes it as its operand. Constants are copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.hlo.shape_inference import one_or_tuple
from ops.hlo.stablehlo.operation_writer import is_constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo.module import Computation, Instruction
    from ops.hlo.stablehlo.construction import Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter
    from ops.mlir.operation import MlirBlock


def _while(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    regions = given.operation.regions
    if len(regions) != 2:  # noqa: PLR2004 - the condition and the body
        given.fail(f"expected a condition and a body, not {len(regions)} regions")
    condition, body = (writer.block_of(given, region) for region in regions)
    around = _read_around(writer, (condition, body))
    state = [*given.operands, *around.values()]
    carried = writer.bundled(given, state)
    name = writer.name_of(given)
    computations: dict[str, Computation] = {}
    for part, block in (("condition", condition), ("body", body)):
        if len(block.arguments) != len(given.operands):
            message = f"the {part} takes {len(block.arguments)} values"
            given.fail(f"{message}, but the loop carries {len(given.operands)}")
        names = [*(argument.name.text for argument in block.arguments), *around]
        inside, passed = _with_state(writer, names, carried)
        _keep_values(writer, around.values(), passed[len(given.operands) :])
        results = inside.run(block)
        kept = passed[len(given.operands) :] if part == "body" else []
        computations[part] = inside.finished(f"{name}.{part}", [*results, *kept])
    loop = writer.add(given, "while", carried.shape, [carried], computations)
    if len(state) == 1:
        return [loop]
    return [writer.element(given, loop, place) for place in range(len(given.operands))]


def _with_state(
    writer: OperationWriter, names: Sequence[str], carried: Instruction
) -> tuple[OperationWriter, list[Instruction]]:
    """A writer whose one parameter is a value or a tuple of several, with a name for each."""
    inside = writer.inside()
    parameter = inside.builder.made(
        *("parameter", carried.shape, carried.sizes), number=0, name="arguments"
    )
    if len(names) == 1:
        inside.values[names[0]] = parameter
        return inside, [parameter]
    for place, (name, shape) in enumerate(zip(names, carried.shape.elements, strict=True)):
        inside.values[name] = inside.builder.made(
            *("get-tuple-element", shape, None, [parameter], {"index": place}),
            name=f"arguments.{place}",
        )
    return inside, [inside.values[name] for name in names]


def _keep_values(
    writer: OperationWriter, around: Iterable[Instruction], passed: Iterable[Instruction]
) -> None:
    """What is passed to a computation has the values there that it has around it."""
    sizes = writer.module.sizes
    for outside, inside in zip(around, passed, strict=True):
        values = sizes.values(outside)
        if values is not None:
            sizes.set_values(inside, values)


def _read_around(writer: OperationWriter, blocks: Iterable[MlirBlock]) -> dict[str, Instruction]:
    """What blocks read from around them, but for constants, in the order of reading."""
    found: dict[str, Instruction] = {}
    for block in blocks:
        own = {argument.name.text for argument in block.arguments}
        operations = [inner for each in block.operations for inner in each.walk()]
        for operation in operations:
            own.update(operation.results)
            own.update(
                argument.name.text
                for region in operation.regions
                for inner in region
                for argument in inner.arguments
            )
        for operation in operations:
            for name in operation.operands:
                value = None if name.text in own else writer.find(name.text)
                if value is not None and not is_constant(value):
                    found[name.text] = writer.value(name)
    return found


def _branches(
    writer: OperationWriter, given: GivenOperation
) -> list[tuple[Instruction, Computation]]:
    """The operand and the computation of each branch."""
    pairs: list[tuple[Instruction, Computation]] = []
    for number, region in enumerate(given.operation.regions):
        block = writer.block_of(given, region)
        if block.arguments:
            given.fail("a branch takes no arguments")
        around = _read_around(writer, (block,))
        operand = writer.bundled(given, [*around.values()], f"read{number}")
        inside, passed = _with_state(writer, [*around], operand)
        _keep_values(writer, around.values(), passed)
        results = inside.run(block)
        pairs.append((operand, inside.finished(f"{writer.name_of(given)}.branch{number}", results)))
    return pairs


def _case(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    pairs = _branches(writer, given)
    if not pairs:
        given.fail("expected a branch")
    attributes = {"branch_computations": tuple(computation for _, computation in pairs)}
    operands = [*given.operands, *(operand for operand, _ in pairs)]
    return writer.results(given, "conditional", attributes, operands)


def _if(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    pairs = _branches(writer, given)
    if len(pairs) != 2:  # noqa: PLR2004 - for true and for false
        given.fail(f"expected two branches, not {len(pairs)}")
    names = "true_computation", "false_computation"
    attributes: dict[str, Any] = dict(zip(names, (called for _, called in pairs), strict=True))
    operands = [*given.operands, *(operand for operand, _ in pairs)]
    return writer.results(given, "conditional", attributes, operands)


def _manual_computation(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """A part that each device runs on its part of arrays; custom calls convert them, as in XLA."""
    region = given.region
    block = writer.block_of(given, region)
    if len(block.arguments) != len(given.operands):
        given.fail(f"the region takes {len(block.arguments)} values, not {len(given.operands)}")
    locals_ = [writer.module.shape_of(argument) for argument in block.arguments]
    parts = _converted(writer, given, "xla.sdy.GlobalToLocalShape", given.operands, locals_)
    body = writer.region(given, region, f"{writer.name_of(given)}.body")
    made = writer.add(given, "call", body.root.shape, parts, {"to_apply": body}, name="call")
    results = writer.elements(given, made, len(given.operation.types))
    return _converted(writer, given, "xla.sdy.LocalToGlobalShape", results, given.shapes)


def _converted(
    writer: OperationWriter,
    given: GivenOperation,
    target: str,
    operands: Sequence[Instruction],
    shapes: Sequence[Shape],
) -> list[Instruction]:
    """Arrays of all devices as those of one, or back."""
    if not shapes:
        return []
    attributes = {"custom_call_target": target}
    name = target.rpartition(".")[2]
    shape = one_or_tuple(shapes)
    made = writer.add(given, "custom-call", shape, operands, attributes, name=name)
    return writer.elements(given, made, len(shapes))


CONTROL_FLOW: Final[Mapping[str, Construction]] = {
    "case": _case,
    "if": _if,
    "manual_computation": _manual_computation,
    "while": _while,
}
"""Operations by their names without the dialect."""
