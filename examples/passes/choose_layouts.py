"""Chooses layouts for a module that has none yet, so that transposes move fewer bytes.

A transpose of which the result lies in memory as the operand does is a bitcast: it moves nothing,
but who needs rows reads a copy. For each transpose the pass takes what moves less in all.

    python examples/passes/choose_layouts.py FILE.hlo
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace

from indexing.layout import Layout, Shape, reorder_dimensions
from ops import hlo
from ops.hlo import Computation, HloModule, Instruction

READ_ANY_ORDER = {"dot", "reduce", "transpose"}
KEEP_THE_ORDER = """abs add and cosine divide exponential log maximum minimum multiply negate not or
power remainder rsqrt select sine sqrt subtract tanh xor"""


def choose_layouts(module: HloModule) -> HloModule:
    """The module with layouts in its entry, and the same results."""
    moving = best_to_move(module.entry)
    shapes, editor = shapes_if(module.entry, moving), hlo.edit(module)
    made = {(each, shape): each for each, shape in shapes.items()}
    for each, shape in shapes.items():
        wanted = [(operand, needed(each, operand, shapes)) for operand in each.operands]
        for key in [key for key in wanted if key not in made]:
            now = made[key[0], shapes[key[0]]]
            made[key] = editor.insert("copy", [now], key[1], like=now)
        reads = [made[key] for key in wanted]
        if each.opcode == "transpose" and each not in moving:
            made[each, shape] = editor.insert("bitcast", reads, shape, like=each)
        elif shape != each.shape:
            made[each, shape] = editor.clone(each, operands=reads, shape=shape)
        else:
            for operand, read in zip(each.operands, reads, strict=True):
                editor.replace_uses(operand, read, [each])
    editor.remove_dead_code()
    return editor.finish()


def best_to_move(entry: Computation) -> Collection[Instruction]:
    """The transposes that had better move their bytes."""
    moving = frozenset(entry.find(opcode="transpose"))
    for each in [each for each in entry.find(opcode="transpose") if not each.is_root]:
        moving = min(moving, moving - {each}, key=lambda trial: moved(entry, trial))
    return moving


def shapes_if(entry: Computation, moving: Collection[Instruction]) -> dict[Instruction, Shape]:
    """The shapes with their layouts, from the parameters on, if these transposes move bytes."""
    shapes: dict[Instruction, Shape] = {}
    for each in entry.instructions:
        if each.is_root or each.opcode == "parameter":
            shapes[each] = each.shape
        elif each.opcode == "transpose" and each not in moving:
            order = each.attributes["dimensions"]
            shapes[each] = reorder_dimensions(shapes[each.operands[0]], order)
        else:
            shapes[each] = laid_out(each.shape, followed(each), shapes)
    return shapes


def followed(each: Instruction) -> Instruction | None:
    """The operand that the result has the order of, if there is one."""
    arrays = [operand for operand in each.operands if operand.shape.rank and not each.is_root]
    alike = {array.shape.dimensions for array in arrays} == {each.shape.dimensions}
    return arrays[0] if alike and each.opcode in KEEP_THE_ORDER.split() else None


def needed(user: Instruction, operand: Instruction, shapes: dict[Instruction, Shape]) -> Shape:
    """The shape of an operand, with the layout that its user needs."""
    if user.opcode in READ_ANY_ORDER:
        return shapes[operand]
    return laid_out(operand.shape, user if followed(user) else None, shapes)


def laid_out(shape: Shape, like: Instruction | None, shapes: dict[Instruction, Shape]) -> Shape:
    """An array in the order of another one, or else in rows."""
    layout = shapes[like].layout if like and shape.rank else Layout.default(shape.rank)
    return replace(shape, layout=layout) if shape.is_array else shape


def moved(entry: Computation, moving: Collection[Instruction]) -> int:
    """The bytes that transposes move, and copies for those that need another layout."""
    shapes = shapes_if(entry, moving)
    reads = {(op, needed(each, op, shapes)) for each in entry.instructions for op in each.operands}
    copied = [op for op, shape in reads if shape != shapes[op]]
    return 2 * sum(each.shape.bytes for each in (*moving, *copied))


if __name__ == "__main__":
    entry = hlo.load(sys.argv[1]).entry
    print("before:", moved(entry, entry.find(opcode="transpose")), "bytes")
    print("after: ", moved(entry, best_to_move(entry)), "bytes")
