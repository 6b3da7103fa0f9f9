"""Results that are written in more than one pass: columns of a reduction, and padding."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, Protocol

from indexing.formats.code.loop_nest import LoopBlock
from simplifier import Interval
from simplifier.expr import operations
from simplifier.expr.form import Form, variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from indexing.formats.code.loop_nest import LocalNames
    from indexing.layout import Shape
    from ops.hlo.module import Computation, Instruction

VIEWS: Final = ("bitcast", "broadcast", "reshape", "reverse", "slice", "transpose")
"""Operations that only say which element of their first operand an element is."""

_MAX_COLUMNS: Final = 1 << 12
"""Of accumulators on the stack."""

Index = tuple[Form, ...]


class ElementWriter(Protocol):
    """Writes the values of a kernel."""

    @property
    def names(self) -> LocalNames:
        """The names of the function."""
        ...

    def is_loaded(self, source: Instruction) -> bool:
        """Whether an instruction is an operand of the kernel."""
        ...

    def map_of(self, source: Instruction, operand: int) -> IndexingMap:
        """From an element of the result to those of an operand."""
        ...

    def forward_map(self, source: Instruction) -> IndexingMap | None:
        """From an element of the first operand to that of the result, if that is known."""
        ...

    def value(self, source: Instruction, output: int, index: Index, block: LoopBlock) -> str:
        """The name of an element."""
        ...

    def offset(self, shape: Shape, index: Index, block: LoopBlock) -> str:
        """Where in memory an element lies."""
        ...

    def type_of(self, source: Instruction, shape: Shape) -> str:
        """The type of an element."""
        ...

    def asked(
        self, found: IndexingMap, index: Index, counters: Sequence[Form], block: LoopBlock
    ) -> list[Constraint]:
        """What has to be asked of a point so that a map is defined there."""
        ...

    def condition(self, facts: Sequence[Constraint], block: LoopBlock) -> str:
        """The text of a question."""
        ...

    def combine(
        self,
        source: Instruction,
        computation: Computation,
        totals: Sequence[str],
        values: Sequence[str],
        block: LoopBlock,
    ) -> None:
        """Folds values into totals."""
        ...


# Columns.


def has_columns(writer: ElementWriter, source: Instruction) -> bool:
    """Whether neighbours in the result come from neighbours in the operand of a reduction."""
    if source.opcode not in ("reduce", "reduce-window") or source.shape.is_tuple:
        return False
    if writer.is_loaded(source) or not source.shape.rank:
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
    offset = writer.offset(shape, _in_order(index), last)
    last.lines.append(f"{pointer}[{offset}] = {total}[{_counter(last)}];")
    block.close_loop(last)
    close()


def _fold_rows(
    writer: ElementWriter, source: Instruction, total: str, index: dict[int, Form], block: LoopBlock
) -> None:
    """Loops over what is reduced, and inside over the columns."""
    found, kept = writer.map_of(source, 0), major_first(source.shape)[-1]
    ranges = {number: each.bounds for number, each in enumerate(found.ranges)}
    row, counters, close = _nested(block, ranges, "s")
    facts = writer.asked(found, _in_order(index), _in_order(counters), row)
    body = row.guarded(facts) if facts else row
    column, place = body.loop(Interval(0, source.shape.dimensions[kept] - 1), f"d{kept}")
    known = dict(zip(found.domain.identifiers, _in_order({**index, kept: place}), strict=False))
    known |= {f"s{number}": form for number, form in counters.items()}
    read = operations.substitute(found.forms, known)
    value = writer.value(source.operands[0], 0, read, column)
    cell = f"{total}[{_counter(column)}]"
    writer.combine(source, source.attributes["to_apply"], [cell], [value], column)
    body.lines.append("#pragma omp simd")
    body.close_loop(column)
    if facts:
        row.close_guard(body, writer.condition(facts, row))
    close()


# Padding.


def inside_of(writer: ElementWriter, source: Instruction) -> tuple[Instruction, IndexingMap] | None:
    """The padding that a result is a part of, and where what is padded lies in the result."""
    pad, views = source, list["Instruction"]()
    while pad.opcode in VIEWS and not writer.is_loaded(pad):
        views.append(pad)
        pad = pad.operands[0]
    is_cast = any(view.shape.element_type is not pad.shape.element_type for view in views)
    if pad.opcode != "pad" or writer.is_loaded(pad) or is_cast:
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
    filled.lines.append(f"{pointer}[{_counter(filled)}] = {padding};")
    top.close_loop(filled)
    operand = pad.operands[0]
    bounds = {number: to.dims[number].bounds for number in major_first(operand.shape)}
    block, index, close = _nested(top, bounds)
    value = writer.value(operand, 0, _in_order(index), block)
    known = dict(zip(to.domain.identifiers, _in_order(index), strict=True))
    offset = writer.offset(source.shape, operations.substitute(to.forms, known), block)
    block.lines.append(f"{pointer}[{offset}] = {value};")
    close()


# Loops.


def _nested(
    top: LoopBlock, bounds: dict[int, Interval], letter: str = "d"
) -> tuple[LoopBlock, dict[int, Form], Callable[[], None]]:
    """The block in loops over numbered variables, their forms, and what closes the loops."""
    block, forms, loops = top, dict[int, Form](), list[tuple[LoopBlock, LoopBlock]]()
    for number, interval in bounds.items():
        inner, forms[number] = block.loop(interval, f"{letter}{number}")
        loops.append((block, inner))
        block = inner

    def close() -> None:
        for outer, inner in reversed(loops):
            outer.close_loop(inner)

    return block, forms, close


def _counter(block: LoopBlock) -> str:
    return block.variables[-1].name


def _in_order(forms: dict[int, Form]) -> Index:
    return tuple(forms[number] for number in sorted(forms))


def major_first(shape: Shape) -> list[int]:
    """The dimensions, the one with the largest steps in memory first."""
    layout = shape.layout
    order = layout.minor_to_major if layout is not None else range(shape.rank - 1, -1, -1)
    return [*reversed(order)]
