"""Results that are written in more than one pass: columns of a reduction, and padding."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from indexing.formats.code.loop_nest import LoopBlock
from ops.kernels.element_writer import VIEWS, applied, in_order, major_first
from simplifier import Interval
from simplifier.expr import operations
from simplifier.expr.form import Form, variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexing import IndexingMap
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import ElementWriter

_MAX_COLUMNS: Final = 1 << 12
"""Of accumulators on the stack."""


# Columns.


def has_columns(writer: ElementWriter, source: Instruction) -> bool:
    """Whether neighbours in the result come from neighbours in the operand of a reduction."""
    if source.opcode not in ("reduce", "reduce-window") or source.shape.is_tuple:
        return False
    if source in writer.pointers or not source.shape.rank:
        return False
    kept, read = major_first(source.shape)[-1], major_first(source.operands[0].shape)[-1]
    found, column = writer.map_of(source, 0), f"d{kept}"
    is_asked = any(column in variables_of((form,)) for form, _ in found.domain.constraints)
    is_wide = source.shape.dimensions[kept] > _MAX_COLUMNS
    return found.forms[read] == variable(column) and not is_asked and not is_wide


def write_columns(writer: ElementWriter, top: LoopBlock, pointer: str, source: Instruction) -> None:
    """Adds row to row, where a loop for each column would jump from row to row."""
    shape = source.shape
    *others, kept = major_first(shape)
    columns = Interval(0, shape.dimensions[kept] - 1)
    bounds = {number: Interval(0, shape.dimensions[number] - 1) for number in others}
    block, index, close = _nested(top, bounds)
    total = writer.names.fresh(source.name)
    start = writer.value(source.operands[1], 0, (), block)
    block.lines.append(f"{writer.type_of(source, shape)} {total}[{shape.dimensions[kept]}];")
    first, _ = block.loop(columns, f"d{kept}")
    first.lines.append(f"{total}[{_counter(first)}] = {start};")
    block.close_loop(first)
    _fold_rows(writer, source, total, {**index, kept: Form(0, {})}, block)
    last, index[kept] = block.loop(columns, f"d{kept}")
    offset = writer.place(shape, in_order(index), last)
    value = f"{total}[{_counter(last)}]"
    last.lines.append(f"{pointer}[{offset}] = {writer.stored(shape, value)};")
    block.close_loop(last)
    close()


def _fold_rows(
    writer: ElementWriter, source: Instruction, total: str, index: dict[int, Form], block: LoopBlock
) -> None:
    """Loops over what is reduced, and inside over the columns."""
    found, kept = writer.map_of(source, 0), major_first(source.shape)[-1]
    opened, counters, facts = writer.loops_over(found, in_order(index), block)
    row = opened[-1] if opened else block
    body = row.guarded(facts) if facts else row
    column, place = body.loop(Interval(0, source.shape.dimensions[kept] - 1), f"d{kept}")
    read = applied(found, (*in_order({**index, kept: place}), *counters))
    value = writer.value(source.operands[0], 0, read, column)
    cell = f"{total}[{_counter(column)}]"
    writer.combine(source, source.attributes["to_apply"], [cell], [value], column)
    body.lines.append("#pragma omp simd")
    body.close_loop(column)
    if facts:
        writer.close_guard(row, body, facts)
    for around, within in reversed([*zip((block, *opened), opened, strict=False)]):
        around.close_loop(within)


# Padding.


def inside_of(writer: ElementWriter, source: Instruction) -> tuple[Instruction, IndexingMap] | None:
    """The padding that a result is a part of, and where what is padded lies in the result."""
    pad, views = source, list["Instruction"]()
    while pad.opcode in VIEWS and pad not in writer.pointers:
        views.append(pad)
        pad = pad.operands[0]
    is_cast = any(view.shape.element_type is not pad.shape.element_type for view in views)
    if pad.opcode != "pad" or pad in writer.pointers or is_cast:
        return None
    found = writer.forward_map(pad)
    for view in reversed(views):
        step = writer.forward_map(view)
        found = step @ found if found is not None and step is not None else None
    if found is None:
        return None
    found = found.simplify()
    is_plain = not (found.ranges or found.domain.constraints)
    return (pad, found) if is_plain and not found.is_known_empty else None


def write_inside(
    writer: ElementWriter,
    top: LoopBlock,
    pointer: str,
    source: Instruction,
    pad: Instruction,
    to: IndexingMap,
) -> None:
    """Fills the result, and then stores what is padded, without a condition for each element."""
    padding = writer.value(pad.operands[1], 0, (), top)
    filled, _ = top.loop(Interval(0, prod(source.shape.dimensions) - 1), "i")
    filled.lines.append(f"{pointer}[{_counter(filled)}] = {writer.stored(source.shape, padding)};")
    top.close_loop(filled)
    operand = pad.operands[0]
    bounds = {number: to.dims[number].bounds for number in major_first(operand.shape)}
    block, index, close = _nested(top, bounds)
    value = writer.value(operand, 0, in_order(index), block)
    known = dict(zip(to.domain.identifiers, in_order(index), strict=True))
    offset = writer.place(source.shape, operations.substitute(to.forms, known), block)
    block.lines.append(f"{pointer}[{offset}] = {writer.stored(source.shape, value)};")
    close()


# Loops.


def _nested(
    top: LoopBlock, bounds: dict[int, Interval]
) -> tuple[LoopBlock, dict[int, Form], Callable[[], None]]:
    """The block in loops over numbered variables, their forms, and what closes the loops."""
    block, forms, loops = top, dict[int, Form](), list[tuple[LoopBlock, LoopBlock]]()
    for number, interval in bounds.items():
        inner, forms[number] = block.loop(interval, f"d{number}")
        loops.append((block, inner))
        block = inner

    def close() -> None:
        for outer, inner in reversed(loops):
            outer.close_loop(inner)

    return block, forms, close


def _counter(block: LoopBlock) -> str:
    return block.variables[-1].name
