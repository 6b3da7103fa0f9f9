"""StableHLO as modules of HLO: each operation becomes the instruction that does the same."""

from ops.hlo.stablehlo.stablehlo_reader import is_stablehlo, parse

__all__ = ["is_stablehlo", "parse"]
