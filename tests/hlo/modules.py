"""The real modules in ``tests/data/hlo``, dumped by JAX for several targets, in several styles."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "hlo"
NAMES = sorted(
    str(path.relative_to(FOLDER)).removesuffix(".hlo.gz") for path in FOLDER.rglob("*.hlo.gz")
)
"""Such as ``cpu/softmax`` or ``printing_styles/softmax.opt.short``."""


@lru_cache(maxsize=16)
def module_text(name: str) -> str:
    """The text of a module."""
    return gzip.decompress((FOLDER / f"{name}.hlo.gz").read_bytes()).decode("utf-8")
