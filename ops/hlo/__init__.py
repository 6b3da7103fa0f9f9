"""HLO modules: ``hlo.parse(text)``, ``hlo.load(path)``, ``hlo.files_in(folder)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from ops.hlo.attributes import DimensionLabels as DimensionLabels
    from ops.hlo.attributes import ReplicaGroups as ReplicaGroups
    from ops.hlo.attributes import Window as Window
    from ops.hlo.editor import ModuleEditor as ModuleEditor
    from ops.hlo.editor import edit as edit
    from ops.hlo.errors import AmbiguousNameError as AmbiguousNameError
    from ops.hlo.errors import DetachedError as DetachedError
    from ops.hlo.errors import EditError as EditError
    from ops.hlo.errors import HloFileError as HloFileError
    from ops.hlo.errors import HloTextError as HloTextError
    from ops.hlo.errors import NoSuchComputationError as NoSuchComputationError
    from ops.hlo.errors import NoSuchInstructionError as NoSuchInstructionError
    from ops.hlo.errors import RunError as RunError
    from ops.hlo.files import files_in as files_in
    from ops.hlo.literal import Literal as Literal
    from ops.hlo.module import Computation as Computation
    from ops.hlo.module import HloModule as HloModule
    from ops.hlo.module import Instruction as Instruction
    from ops.hlo.parser import DumpedModule as DumpedModule
    from ops.hlo.parser import dumped_modules as dumped_modules
    from ops.hlo.parser import load as load
    from ops.hlo.parser import parse as parse
    from ops.hlo.running import run as run
    from ops.hlo.true_sizes import SizeOrigin as SizeOrigin
    from ops.hlo.true_sizes import size_origins as size_origins
    from ops.hlo.true_sizes import true_sizes as true_sizes
else:
    # Else the module of this name would take its place, once it is loaded.
    from ops.hlo.true_sizes import true_sizes as true_sizes

    __all__, __getattr__, __dir__ = exports(__name__)
