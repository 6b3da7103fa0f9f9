"""The syntax of MLIR: text to operations, whatever dialects they are of."""

from ops.mlir.mlir_lexer import MlirTextError

__all__ = ["MlirTextError"]
