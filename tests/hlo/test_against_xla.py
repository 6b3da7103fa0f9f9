"""XLA reads what the printer writes, and says the same with it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from ops import hlo
from tests.hlo.module_structure import Structures
from tests.hlo.modules import NAMES, module_text

ODD = ("constants_degenerate", "low_precision")
"""Here XLA reads the constant -0 as 0, and drops E(4) from the layout of a constant."""

PRINTED = [
    name
    for name in NAMES
    if name.startswith(("cpu/", "gpu/", "tpu/", "unoptimized/")) and not name.endswith(ODD)
]


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("name", PRINTED)
def test_xla_reads_what_is_printed(name: str) -> None:
    xla: Any = importlib.import_module("jaxlib._hlo")
    module = hlo.parse(module_text(name))
    printed_by_xla: str = xla.hlo_module_from_text(str(module)).to_string()
    structures = Structures(ignored=frozenset(["metadata"]))  # XLA numbers the stack frames anew
    assert structures.of(hlo.parse(printed_by_xla)) == structures.of(module)
