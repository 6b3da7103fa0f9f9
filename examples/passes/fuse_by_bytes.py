"""Fuses a producer with its consumer where that moves fewer bytes and computes nothing twice.

Every instruction begins as a kernel of its own. From the results back to the parameters, a kernel
goes into the only one that reads it. Fusions that go into others are dissolved there.

    python examples/passes/fuse_by_bytes.py FILE.hlo
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

from indexing import MapError
from ops import Fusion, Reads, hlo, utilization
from ops.hlo import Computation, HloModule, Instruction
from simplifier import Interval

Kernel: TypeAlias = frozenset[Instruction]

FREE = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element"}
"""What moves nothing by itself."""

FUSIBLE = """abs add and atan2 bitcast broadcast ceil clamp compare concatenate convert cosine
divide dot exponential floor fusion iota log logistic maximum minimum multiply negate not or pad
power reduce remainder reshape reverse rsqrt select sine slice sqrt subtract tanh transpose xor"""


def fuse_by_bytes(module: HloModule) -> HloModule:
    """The module with larger fusions, and the same results."""
    editor = hlo.edit(module)
    for kernel in kernels(module.entry):
        if len(kernel) > 1:
            fusions = [each for each in kernel if each.opcode == "fusion"]
            inside = [new for each in fusions for new in editor.inline(each)]
            editor.outline([*kernel.difference(fusions), *inside])
    return editor.finish()


def kernels(computation: Computation) -> Iterable[Kernel]:
    """The instructions of a computation, together where that is better."""
    kernel_of = {each: frozenset([each]) for each in computation.instructions}
    for producer in reversed(computation.instructions):
        readers = {kernel_of[user] for user in producer.users}
        if len(readers) == 1 and not producer.is_root:
            both = kernel_of[producer].union(*readers)
            if is_better(both, kernel_of[producer], *readers):
                kernel_of |= dict.fromkeys(both, both)
    return dict.fromkeys(kernel_of.values())


def is_better(both: Kernel, producer: Kernel, consumer: Kernel) -> bool:
    """Whether one kernel moves fewer bytes than two, and computes no element twice."""
    if any(each.opcode not in FUSIBLE.split() for each in both):
        return False
    if moved(both) >= moved(producer) + moved(consumer):
        return False
    fusion = Fusion.of_instructions(both)
    try:
        reads = [fusion.reads(root) for root in Fusion.of_instructions(producer).roots]
        return all(isinstance(each, Reads) and each.total() == each.distinct() for each in reads)
    except MapError:  # it depends on values that are known when the program runs
        return False


@cache
def moved(kernel: Kernel) -> int:
    """The bytes that a kernel reads and writes, at most."""
    if all(each.opcode in FREE for each in kernel):
        return 0
    fusion = Fusion.of_instructions(kernel)
    read = utilization(fusion).bytes
    written = sum(root.shape.bytes for root in fusion.roots)
    most = read.upper if isinstance(read, Interval) else read
    if not isinstance(most, int):  # sizes are dynamic
        most = sum(operand.shape.bytes for operand in fusion.operands)
    return written + most


def summary(module: HloModule) -> str:
    """How many kernels the entry runs, and the bytes that all of them move."""
    each = [moved(frozenset([instruction])) for instruction in module.entry.instructions]
    return f"{sum(map(bool, each))} kernels move {sum(each)} bytes"


def main(path: str) -> None:
    """Print what the kernels of a module move, before and after."""
    module = hlo.load(path)
    print(f"before: {summary(module)}")
    print(f"after:  {summary(fuse_by_bytes(module))}")


if __name__ == "__main__":
    main(sys.argv[1])
