"""Reports the reads and writes of GPU kernels that waste what their warps load, and where from.

A schedule tells which element each thread touches, a layout where it lies, and so which sectors of
memory each warp loads; what is wasted are the sectors beyond the fewest.

    python examples/passes/uncoalesced.py FILE.hlo
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from indexing import MapError
from ops import Coalescing, FusionError, coalescing, hlo, schedule_of
from ops.hlo import HloModule, Instruction
from ops.performance import A100
from ops.xla_gpu import Access
from simplifier import Interval

TURNING = ("transpose", "copy", "reverse", "gather", "slice", "dynamic-slice")
"""Opcodes that read elsewhere than they write."""


@dataclass(frozen=True)
class Waste:
    """An access of a kernel, and what its warps load."""

    kernel: Instruction
    array: str
    access: Access
    loaded: Coalescing

    @property
    def sectors(self) -> int:
        """Sectors that are loaded, but would not have to be; at most, if that depends on values."""
        wasted = self.loaded.wasted_sectors
        return wasted.upper or 0 if isinstance(wasted, Interval) else int(wasted)

    @property
    def origin(self) -> Instruction:
        """The instruction of the kernel that turns the access: the root may come from elsewhere."""
        body = self.kernel.attributes.get("calls")
        inside = body.instructions if body else ()
        turning = (
            each for each in inside if each.opcode in TURNING and "metadata" in each.attributes
        )
        return next(turning, self.kernel)

    def __str__(self) -> str:
        place = self.origin.attributes.get("metadata", {}).get("op_name", "somewhere")
        ratio = self.loaded.ratio
        times = "" if ratio is None else f"{ratio:.3g} times the sectors that it needs, "
        wasted = f"{'up to ' * (ratio is None)}{self.sectors} wasted"
        return f"%{self.kernel.name}, {self.array}: {times}{wasted}; from {place}"


def uncoalesced(module: HloModule) -> list[Waste]:
    """The accesses that waste something, the worst first."""
    found = [each for kernel in module.find(opcode="fusion") for each in accesses(kernel)]
    return sorted((each for each in found if each.sectors), key=lambda each: -each.sectors)


def accesses(kernel: Instruction) -> Iterator[Waste]:
    """What a kernel reads and writes, if XLA's own emitters make it."""
    try:
        schedule = schedule_of(kernel)
        operands, results = range(len(kernel.operands)), range(len(kernel.shape.arrays))
        found = [
            (f"operand {number}", each) for number in operands for each in schedule.reads(number)
        ]
        found += [
            (f"result {number}", each) for number in results for each in schedule.writes(number)
        ]
        yield from [Waste(kernel, name, each, coalescing(each, A100)) for name, each in found]
    except (FusionError, MapError):  # a library makes it, or what it touches depends on values
        return


def main(path: str) -> None:
    """Print what the kernels of a module waste."""
    print(*uncoalesced(hlo.load(path)) or ["nothing is wasted"], sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
