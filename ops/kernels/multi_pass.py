"""Results that are written in more than one pass: columns of a reduction, and padding."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from indexing.formats.code.loop_nest import LoopBlock
from indexing.layout import logical_to_linear
from ops.kernels.element_writer import VIEWS
from ops.kernels.indices import in_order, index_of, major_first
from ops.kernels.joined_loops import joined_dimensions
from simplifier import Interval
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, constant, variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import ElementWriter
    from ops.sizes import Extent

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
    size, columns = writer.sizes.of(source, 0)[kept], found.dims[kept].bounds.size
    is_whole = columns is not None and size == columns <= _MAX_COLUMNS
    return found.forms[read] == variable(column) and not is_asked and is_whole


def write_columns(writer: ElementWriter, top: LoopBlock, pointer: str, source: Instruction) -> None:
    """Adds row to row, where a loop for each column would jump from row to row."""
    shape, sizes = source.shape, writer.sizes.of(source, 0)
    *others, kept = major_first(shape)
    columns = Interval(0, shape.dimensions[kept] - 1)
    block, index, close = _nested(writer, top, {number: sizes[number] for number in others})
    total = writer.names.fresh(source.name)
    start = writer.value(source.operands[1], 0, (), block)
    block.lines.append(f"{writer.type_of(source, shape)} {total}[{shape.dimensions[kept]}];")
    first, _ = block.loop(columns, f"d{kept}")
    first.lines.append(f"{total}[{_counter(first)}] = {start};")
    block.close_loop(first)
    _fold_rows(writer, source, total, {**index, kept: Form(0, {})}, block)
    last, index[kept] = block.loop(columns, f"d{kept}")
    offset = writer.place(source, 0, in_order(index), last)
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
    read = writer.applied(found, (*in_order({**index, kept: place}), *counters))
    value = writer.value(source.operands[0], 0, read, column)
    cell = f"{total}[{_counter(column)}]"
    writer.combine(source, source.attributes["to_apply"], [cell], [value], column)
    body.close_loop(column, "#pragma omp simd")
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
    if pad.opcode != "pad" or pad in writer.pointers or is_cast or source.shape.dynamic_dimensions:
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
    """Writes the border, and what is padded, without a condition for each element."""
    operand = pad.operands[0]
    padding = writer.stored(source.shape, writer.value(pad.operands[1], 0, (), top))
    index: dict[int, Form] = {}

    def store(block: LoopBlock, place: Form) -> None:
        value = writer.stored(source.shape, writer.value(operand, 0, in_order(index), block))
        (offset,) = block.texts([block.simplified(place)])
        block.lines.append(f"{pointer}[{offset}] = {value};")

    def fill(block: LoopBlock, place: Form, count: int) -> None:
        if count == 1:
            (offset,) = block.texts([block.simplified(place)])
            block.lines.append(f"{pointer}[{offset}] = {padding};")
        elif count:
            filled, counter = block.loop(Interval(0, count - 1), "i")
            (offset,) = filled.texts([filled.simplified(place + counter)])
            filled.lines.append(f"{pointer}[{offset}] = {padding};")
            block.close_loop(filled)

    def write(block: LoopBlock, levels: Sequence[_BoxLevel], place: Form) -> None:
        if not levels:
            store(block, place)
            return
        level, *rest = levels
        size = prod(each.total for each in rest)
        fill(block, place, level.low * size)
        inner, counter = block.loop(Interval(0, level.count - 1), f"d{level.dimensions[0]}")
        first = counter + level.first
        order = major_first(operand.shape)
        sizes = operand.shape.dimensions
        index.update(index_of(first, sizes, order, inner, level.dimensions))
        write(inner, rest, place + (counter + level.low) * size)
        block.close_loop(inner)
        behind = level.low + level.count
        fill(block, place + constant(behind * size), (level.total - behind) * size)

    levels = _levels(writer, source.shape, operand, to)
    if levels is not None:
        write(top, levels, constant(0))
        return
    fill(top, constant(0), prod(source.shape.dimensions))
    bounds = {number: to.dims[number].bounds for number in major_first(operand.shape)}
    block, found, close = _nested(writer, top, bounds)
    index.update(found)
    known = dict(zip(to.domain.identifiers, in_order(index), strict=True))
    store(block, writer.offset(source, 0, operations.substitute(to.forms, known), block))
    close()


@dataclass(frozen=True, slots=True)
class _BoxLevel:
    """Some dimensions as one: ``count`` of ``total``, from ``low``, are padded from ``first``."""

    first: int
    low: int
    count: int
    total: int
    dimensions: tuple[int, ...]
    """Of what is padded."""

    def joined(self, inner: _BoxLevel) -> _BoxLevel:
        """This level and one inside that has no border, as one."""
        size = inner.total
        dimensions = self.dimensions + inner.dimensions
        return _BoxLevel(
            self.first * size, self.low * size, self.count * size, self.total * size, dimensions
        )


def _levels(
    writer: ElementWriter, shape: Shape, operand: Instruction, to: IndexingMap
) -> list[_BoxLevel] | None:
    """What is padded as a box of the result, the largest steps first, if it is one."""
    (memory,) = logical_to_linear(shape).forms
    if any(atom.kind is not AtomKind.VARIABLE for atom in memory.terms):
        return None
    together = joined_dimensions(writer, operand)
    levels: list[_BoxLevel] = []
    for number in major_first(shape):
        form, total = to.forms[number], shape.dimensions[number]
        name = (form - form.constant).single_variable()
        if name is None or form - form.constant != variable(name):
            return None
        own = int(name[1:])
        bounds = to.dims[own].bounds
        first, count = bounds.lower or 0, bounds.size or 0
        level = _BoxLevel(first, form.constant + first, count, total, (own,))
        is_whole = count == total == operand.shape.dimensions[own]
        pair = [levels[-1].dimensions[-1], own] if levels else []
        is_joined = any(pair == group[k : k + 2] for group in together for k in range(len(group)))
        if pair and is_joined and is_whole:
            levels[-1] = levels[-1].joined(level)
        else:
            levels.append(level)
    order = [each for level in levels for each in level.dimensions]
    return levels if order == major_first(operand.shape) else None


# Loops.


def _nested(
    writer: ElementWriter, top: LoopBlock, extents: Mapping[int, Extent]
) -> tuple[LoopBlock, dict[int, Form], Callable[[], None]]:
    """The block in loops over numbered variables, their forms, and what closes the loops."""
    block, forms, loops = top, dict[int, Form](), list[tuple[LoopBlock, LoopBlock]]()
    for number, extent in extents.items():
        inner, forms[number] = writer.looped(block, extent, f"d{number}")
        loops.append((block, inner))
        block = inner

    def close() -> None:
        for outer, inner in reversed(loops):
            outer.close_loop(inner)

    return block, forms, close


def _counter(block: LoopBlock) -> str:
    return block.variables[-1].name
