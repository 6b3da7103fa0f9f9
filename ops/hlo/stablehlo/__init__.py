"""StableHLO as modules of HLO: each operation becomes the instruction that does the same."""

from __future__ import annotations

from ops.hlo.stablehlo.modules import is_stablehlo, parse

__all__ = ["is_stablehlo", "parse"]
