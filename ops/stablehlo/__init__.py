"""StableHLO as modules of HLO: each operation becomes the instruction that does the same.

``stablehlo.parse(text)`` gives a module like those of ``hlo.parse``, which reads such text, too.
"""

from __future__ import annotations

from ops.hlo.parser import OTHER_READERS, TextReader
from ops.mlir.text import MlirTextError
from ops.stablehlo.modules import is_stablehlo, parse

__all__ = ["MlirTextError", "is_stablehlo", "parse"]

OTHER_READERS.append(TextReader(is_stablehlo, parse))
