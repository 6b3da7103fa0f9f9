"""HLO modules: ``hlo.parse(text)``, ``hlo.load(path)``, ``hlo.files_in(folder)``."""

from ops.hlo.errors import DetachedError, HloFileError, HloTextError
from ops.hlo.files import files_in
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.module_reader import load, parse
from ops.hlo.replica_groups import ReplicaGroups
from ops.hlo.true_sizes import SizeOrigin, size_origins, true_sizes
from ops.hlo.values import DimensionLabels, Window

__all__ = [
    "Computation",
    "DetachedError",
    "DimensionLabels",
    "HloFileError",
    "HloModule",
    "HloTextError",
    "Instruction",
    "Literal",
    "ReplicaGroups",
    "SizeOrigin",
    "Window",
    "files_in",
    "load",
    "parse",
    "size_origins",
    "true_sizes",
]
