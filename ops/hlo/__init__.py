"""HLO modules from their text: ``hlo.parse(text)``, ``hlo.load(path)``."""

from ops.hlo.errors import HloFileError, HloTextError
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.parser import load, parse
from ops.hlo.replica_groups import ReplicaGroups
from ops.hlo.values import DimensionLabels, Window

__all__ = [
    "Computation",
    "DimensionLabels",
    "HloFileError",
    "HloModule",
    "HloTextError",
    "Instruction",
    "Literal",
    "ReplicaGroups",
    "Window",
    "load",
    "parse",
]
