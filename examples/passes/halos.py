"""Tells what the shards of a convolution have to get from others: their halos.

A convolution is divided among devices along one dimension of its result and of its input,
each in equal parts. What a shard needs is the image of its part of the result; its halo is that
without what it has.

    python examples/passes/halos.py FILE.hlo [SHARDS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing import IndexSet
from ops import hlo, output_to_input
from ops.hlo import HloModule, Instruction


@dataclass(frozen=True)
class Halo:
    """What one shard makes of the result, what it has and needs of the input, and lacks."""

    made: IndexSet
    has: IndexSet
    needs: IndexSet

    @property
    def lacks(self) -> IndexSet:
        """What comes from other shards."""
        return self.needs - self.has


def halos(convolution: Instruction, shards: int, spatial: int = 0) -> Iterator[Halo]:
    """The halo of each shard of a convolution that is divided along a spatial dimension."""
    labels = convolution.attributes["dim_labels"]
    way = output_to_input(convolution).map()
    for shard in range(shards):
        made = part(convolution.shape.dimensions, labels.output.index(str(spatial)), shard, shards)
        read = convolution.operands[0].shape.dimensions
        has = part(read, labels.input.index(str(spatial)), shard, shards)
        yield Halo(made, has, way.apply(made))


def part(sizes: Sequence[int], axis: int, shard: int, shards: int) -> IndexSet:
    """An equal part of an array along one dimension; the last ones may be smaller, or empty."""
    each = -(-sizes[axis] // shards)
    sides = [range(size) for size in sizes]
    sides[axis] = sides[axis][shard * each : (shard + 1) * each]
    return IndexSet.box(*sides)


def report(module: HloModule, shards: int) -> Iterator[str]:
    """What crosses the devices for each convolution of a module."""
    for each in module.find(opcode="convolution"):
        lacking = [halo.lacks for halo in halos(each, shards)]
        size = each.operands[0].shape.element_type.bytes
        yield f"%{each.name}: {sum(lacks.count() for lacks in lacking) * size} bytes in all"
        for number, lacks in enumerate(lacking):
            yield f"  shard {number} lacks {lacks or 'nothing'}"


def main(path: str, shards: str = "2") -> None:
    """Print the halos of all convolutions."""
    print(*report(hlo.load(path), int(shards)), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
