"""The modules of ``tests/data/hlo/unoptimized`` as StableHLO, as XLA converts them.

JAX 0.10.2 wrote them: ``xla_computation_to_mlir_module`` of ``jaxlib._jax.mlir`` takes the module
that ``hlo_module_from_text`` of ``jaxlib._hlo`` reads.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from ops import OperandIndexing, Unknown, parameter_indexing
from ops.hlo import HloModule, Instruction

FOLDER = Path(__file__).parents[1] / "data" / "stablehlo"
NAMES = sorted(path.name.removesuffix(".mlir.gz") for path in FOLDER.glob("*.mlir.gz"))


@cache
def stablehlo_text(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.mlir.gz").read_bytes()).decode("utf-8")


def maps_of(module: HloModule) -> list[dict[int, list[str]]]:
    """For each result, the maps to each parameter."""
    root = module.entry.root
    results = root.operands if root.opcode == "tuple" else (root,)
    return [_maps(result, array) for result in results for array in result.shape.array_indices]


def _maps(result: Instruction, array: int) -> dict[int, list[str]]:
    return {
        parameter.parameter_number or 0: [str(answer)]
        if isinstance(answer, Unknown)
        else sorted(map(_text, answer))
        for parameter, answer in parameter_indexing(result, array).items()
    }


def _text(indexing: OperandIndexing) -> str:
    """The map with those to the elements that it reads; instructions have other names."""
    return "; ".join(map(str, [indexing.map, *(origin.map for origin in indexing.runtime)]))
