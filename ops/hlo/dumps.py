"""XLA's dumps: the modules in a folder of ``--xla_dump_to``, by number, name and stage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.hlo.files import files_in
from ops.hlo.module_reader import load

if TYPE_CHECKING:
    import os

    from ops.hlo.module import HloModule

_STAGES: Final = (
    r"before_optimizations",
    r"\d{4}\..+",  # between passes: 0003.fusion.after_dce.before_layout
    r"(?:sm_\d+\.\d+_)?\w*after_optimizations",
    r"(?:snapshot|execution_\d+)\..+|[^.]+",  # snapshots, and what is asked for by hand
)
"""How stages are written, in the order of compilation."""
_FILE: Final = re.compile(rf"(?:.+\.)?module_(\d+)\.(?:(.+?)\.)?({'|'.join(_STAGES)})")
_ENDINGS: Final = (".gz", ".txt", ".pb", ".hlo")


@dataclass(frozen=True, slots=True)
class DumpedModule:
    """A module in a dump: the stage of a compilation, and the file that holds it."""

    path: str
    number: int
    """Counts the modules that a process compiled."""
    name: str
    """Such as ``jit_softmax``."""
    stage: str
    """Such as ``before_optimizations``, or ``sm_9.0_gpu_after_optimizations``."""

    def load(self) -> HloModule:
        """The module itself; see :func:`ops.hlo.load`."""
        return load(self.path)


def dumped_modules(folder: str | os.PathLike[str]) -> tuple[DumpedModule, ...]:
    """The modules of XLA's dumps in a folder and the folders in it.

    They are sorted by number, then by stage in the order of compilation. Other files are left out:
    modules that XLA did not name, assignments of buffers, code of LLVM. Nothing is parsed before
    :meth:`DumpedModule.load`::

        XLA_FLAGS="--xla_dump_to=dump --xla_dump_hlo_as_text" python model.py

        for dumped in hlo.dumped_modules("dump"):
            if dumped.stage.endswith("after_optimizations"):
                print(dumped.name, dumped.load())

    Raises:
        HloFileError: a folder cannot be listed.

    >>> dumped_modules("examples")
    ()
    """
    found = [_dumped(path) for path in files_in(folder)]
    return tuple(sorted(filter(None, found), key=_order))


def _dumped(path: str) -> DumpedModule | None:
    name = Path(path).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    found = _FILE.fullmatch(name)
    return found and DumpedModule(path, int(found[1]), found[2] or "", found[3])


def _order(dumped: DumpedModule) -> tuple[int, str, int, str, str]:
    rank = next(i for i, stage in enumerate(_STAGES) if re.fullmatch(stage, dumped.stage))
    return dumped.number, dumped.name, rank, dumped.stage, dumped.path
