"""Prints how long it takes to judge pairs of instructions for fusion, in models of growing depth.

    python -m benchmarks.pairs [--layers 1,3,12] [--pairs 2000]

A pair is a producer and a consumer in a training step of a transformer. To judge it is to count
what each of its operands is read, as :func:`ops.utilization` does for the two as one kernel. The
time for a pair must not grow with the model: the last column is its ratio to that of the first
model. It needs JAX.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from benchmarks.clock import timed
from benchmarks.transformer import train_step
from ops import Fusion, hlo, utilization
from ops.hlo import HloModule, Instruction

_LINE: Final = "{:>6} {:>7} {:>6} {:>7} {:>7} {:>8} {:>6}"


class Judged(NamedTuple):
    """Pairs of a model, the rows that are bounds alone, and the seconds that all took."""

    instructions: int
    pairs: int
    bounds: int
    seconds: float

    @property
    def milliseconds(self) -> float:
        """Of one pair."""
        return 1000 * self.seconds / max(self.pairs, 1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a model."""
    options = _options(arguments)
    print(_LINE.format("layers", "instr.", "pairs", "bounds", "s", "ms/pair", "ratio"))
    first: Judged | None = None
    for layers in map(int, options.layers.split(",")):
        found = judged(hlo.parse(train_step(layers)), options.pairs)
        first = first or found
        ratio = found.milliseconds / first.milliseconds
        seconds, milliseconds = f"{found.seconds:.2f}", f"{found.milliseconds:.2f}"
        counts = layers, found.instructions, found.pairs, found.bounds
        print(_LINE.format(*counts, seconds, milliseconds, f"{ratio:.2f}"))


def judged(module: HloModule, most: int) -> Judged:
    """So many pairs of a module, drawn at random, or all."""
    every = [*pairs_of(module)]
    chosen = random.Random(0).sample(every, min(most, len(every)))  # noqa: S311 - no secret
    bounds, seconds = timed(lambda: sum(map(_bounds_of, chosen)))
    return Judged(sum(1 for _ in module.instructions), len(chosen), bounds, seconds)


def pairs_of(module: HloModule) -> Iterable[tuple[Instruction, Instruction]]:
    """Each instruction with each of its operands, the producer first."""
    for consumer in module.instructions:
        for producer in dict.fromkeys(consumer.operands):
            yield producer, consumer


def _bounds_of(pair: tuple[Instruction, Instruction]) -> int:
    """How many operands of a pair have bounds in place of counts."""
    return sum(bool(row.bounds) for row in utilization(Fusion.of_pair(*pair)))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", default="1,3,12", help="depths of the models (1,3,12)")
    parser.add_argument("--pairs", type=int, default=2000, help="pairs of each model, at most")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
