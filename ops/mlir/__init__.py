"""The syntax of MLIR: text to operations, whatever dialects they are of; ``linalg.generic``."""

from __future__ import annotations

from ops.mlir.linalg import LinalgGeneric, read_generics
from ops.mlir.text import MlirTextError

__all__ = ["LinalgGeneric", "MlirTextError", "read_generics"]
