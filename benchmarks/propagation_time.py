"""Prints how long it takes to propagate tiles along chains of contractions of growing rank.

    python -m benchmarks.propagation_time [--ranks 6,12,24]

Each link of a chain contracts one dimension, and all tile sizes are symbols. The time must not grow
exponentially with the rank, as that of constraints which are multiplied out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from benchmarks.clock import timed
from ops import Fusion, hlo, propagate
from simplifier import symbol

_LINE: Final = "{:>6} {:>10} {:>7} {:>8}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="6,12,24", help="of the chains (default %(default)s)")
    options = parser.parse_args(arguments)
    print(_LINE.format("rank", "dimensions", "arrays", "s"))
    for rank in map(int, options.ranks.split(",")):
        fusion = contraction_chain(rank, rank)
        sizes = [symbol(f"T{number}") for number in range(2 * rank)]
        found, seconds = timed(lambda fusion=fusion, sizes=sizes: propagate(fusion, sizes).check())
        print(_LINE.format(rank, len(found.space.dimensions), len(found), f"{seconds:.2f}"))


def contraction_chain(rank: int, links: int) -> Fusion:
    """A tensor of sizes 2 of which one dimension after the other is contracted with a matrix."""
    sizes = ",".join(["2"] * rank)
    lines = [f"v0 = f32[{sizes}] parameter(0)"]
    for number in range(links):
        lines.append(f"w{number} = f32[2,2] parameter({number + 1})")
        attributes = f"lhs_contracting_dims={{{number % rank}}}, rhs_contracting_dims={{0}}"
        root = "ROOT " if number + 1 == links else ""
        result = f"{root}v{number + 1} = f32[{sizes}]"
        lines.append(f"{result} dot(v{number}, w{number}), {attributes}")
    text = "\n".join(lines)
    return Fusion.of_computation(hlo.parse(f"ENTRY e {{ {text} }}").entry)


if __name__ == "__main__":
    main()
