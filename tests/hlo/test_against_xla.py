"""XLA reads what the printer writes, and says the same with it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from ops import hlo
from ops.hlo import HloModule
from tests.hlo.module_structure import Structures
from tests.hlo.modules import NAMES, module_text

ODD = ("constants_degenerate", "low_precision")
"""Here XLA reads the constant -0 as 0, and drops E(4) from the layout of a constant."""


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("name", NAMES)
def test_xla_reads_what_is_printed(name: str) -> None:
    xla: Any = importlib.import_module("jaxlib._hlo")

    def as_xla_says(text: str) -> HloModule:
        return hlo.parse(xla.hlo_module_from_text(text).to_string())

    module = hlo.parse(module_text(name))
    is_odd = name.partition("/")[2].startswith(ODD)
    said = as_xla_says(module_text(name)) if is_odd else module
    structures = Structures(ignored=frozenset(["metadata"]))  # XLA numbers the stack frames anew
    assert structures.of(as_xla_says(str(module))) == structures.of(said)
