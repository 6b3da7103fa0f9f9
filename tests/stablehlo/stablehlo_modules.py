"""The modules of ``tests/data/hlo/unoptimized`` as StableHLO, as XLA converts them.

JAX 0.10.2 wrote them: ``xla_computation_to_mlir_module`` of ``jaxlib._jax.mlir`` takes the module
that ``hlo_module_from_text`` of ``jaxlib._hlo`` reads.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "stablehlo"
NAMES = sorted(path.name.removesuffix(".mlir.gz") for path in FOLDER.glob("*.mlir.gz"))


@cache
def stablehlo_text(name: str) -> str:
    """The text of a module."""
    return gzip.decompress((FOLDER / f"{name}.mlir.gz").read_bytes()).decode("utf-8")
