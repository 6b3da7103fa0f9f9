"""StableHLO: ``stablehlo.parse(text)`` gives a module like those of ``hlo.parse``."""

from __future__ import annotations

from ops.hlo.stablehlo import is_stablehlo, parse
from ops.mlir import MlirTextError

__all__ = ["MlirTextError", "is_stablehlo", "parse"]
