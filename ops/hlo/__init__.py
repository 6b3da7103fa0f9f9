"""HLO modules: ``hlo.parse(text)``, ``hlo.load(path)``, ``hlo.files_in(folder)``."""

from __future__ import annotations

from ops.hlo.attributes import DimensionLabels, ReplicaGroups, Window
from ops.hlo.editor import ModuleEditor, edit
from ops.hlo.errors import (
    AmbiguousNameError,
    DetachedError,
    EditError,
    HloFileError,
    HloTextError,
    NoSuchComputationError,
    NoSuchInstructionError,
    RunError,
)
from ops.hlo.files import files_in
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.parser import DumpedModule, dumped_modules, load, parse
from ops.hlo.running import run
from ops.hlo.true_sizes import SizeOrigin, size_origins, true_sizes

__all__ = [
    "AmbiguousNameError",
    "Computation",
    "DetachedError",
    "DimensionLabels",
    "DumpedModule",
    "EditError",
    "HloFileError",
    "HloModule",
    "HloTextError",
    "Instruction",
    "Literal",
    "ModuleEditor",
    "NoSuchComputationError",
    "NoSuchInstructionError",
    "ReplicaGroups",
    "RunError",
    "SizeOrigin",
    "Window",
    "dumped_modules",
    "edit",
    "files_in",
    "load",
    "parse",
    "run",
    "size_origins",
    "true_sizes",
]
