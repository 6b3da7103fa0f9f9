"""Removes reshapes and transposes that cancel, and makes one of several in a row.

A chain of moves has one map from its end to its beginning: the composition of their maps. If that
is the identity, the end is the beginning. If it is the map of one transpose or reshape, that takes
the place of the chain.

    python examples/passes/cancel_moves.py FILE.hlo
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import ops
from indexing import IndexingMap
from ops import hlo
from ops.hlo import HloModule, Instruction, ModuleEditor

MOVES = ("bitcast", "copy", "reshape", "transpose")


def cancel_moves(module: HloModule) -> HloModule:
    """The module with fewer moves, and the same results."""
    editor = hlo.edit(module)
    for end in module.instructions:
        if end.opcode in MOVES:
            shorten(editor, end)
    editor.remove_dead_code()
    return editor.finish()


def shorten(editor: ModuleEditor, end: Instruction) -> None:
    """Let the users of a move read what no move, or one, makes of an array far before it."""
    for length, (start, way) in reversed([*enumerate(chain(end), 1)]):
        if is_identity(way) and start.shape == end.shape:
            editor.replace_uses(end, start)
            return
        if length > 1 and (move := one_move(editor, start, end, way)):
            editor.replace_uses(end, move)
            return


def chain(end: Instruction) -> Iterator[tuple[Instruction, IndexingMap]]:
    """The arrays that a move comes from, and the maps there, up to a bitcast that cuts padding."""
    start, way = end, identity_like(ops.output_to_input(end).map())
    while start.opcode in MOVES:
        step = ops.output_to_input(start).map()
        (start,), way = start.operands, (step @ way).simplify()
        if start.shape.element_count != end.shape.element_count:
            return
        yield start, way


def one_move(
    editor: ModuleEditor, start: Instruction, end: Instruction, way: IndexingMap
) -> Instruction | None:
    """A single move from one array to another along a map, if there is one."""
    if is_identity(way):
        return editor.insert("copy", [start], end.shape, like=end)
    read, dims = [str(result) for result in way.results], [f"d{n}" for n in range(end.shape.rank)]
    if sorted(read) == dims:
        order = [read.index(dim) for dim in dims]
        return editor.insert("transpose", [start], end.shape, like=end, dimensions=order)
    if end.shape.dynamic_dimensions:
        return None
    if way == ops.reshape(start.shape.dimensions, end.shape.dimensions).output_to_input[0]:
        return editor.insert("reshape", [start], end.shape, like=end)
    return None


def identity_like(way: IndexingMap) -> IndexingMap:
    """The identity on the elements that a map comes from, whatever their number."""
    return way.with_results([dim.name for dim in way.dims])


def is_identity(way: IndexingMap) -> bool:
    """Whether every element of an array stays where it is."""
    return way == identity_like(way).simplify()


def count(module: HloModule) -> str:
    """How many moves of each kind a module has."""
    found = Counter(each.opcode for each in module.instructions if each.opcode in MOVES)
    return ", ".join(f"{number} {opcode}" for opcode, number in sorted(found.items())) or "no moves"


def main(path: str) -> None:
    """Print how many moves a module has before and after."""
    module = hlo.load(path)
    print(f"before: {count(module)}")
    print(f"after:  {count(cancel_moves(module))}")


if __name__ == "__main__":
    main(sys.argv[1])
