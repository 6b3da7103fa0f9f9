"""Real modules: every instruction is answered, for four targets; the page counts them."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.coverage import TARGETS, Coverage, coverage_of
from ops import hlo
from tests.extent import in_ci
from tests.hlo.modules import NAMES, module_text
from tests.ops.documentation import PAGE, with_coverage

MODULES = [name for name in NAMES if name.partition("/")[0] in TARGETS]

WITHOUT_MAP = {
    "custom-call: no indexing map of GatherScatterIndicesBitpacked",
    "custom-call: no indexing map of xla_ffi_python_cpu_callback",
    *(
        f"custom-call: no indexing map of {target}, because each device has a part of its own"
        for target in ("xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape")
    ),
}
"""All reasons for which there is no map, less the numbers in them."""


@cache
def coverage_named(name: str) -> Coverage:
    return coverage_of(hlo.parse(module_text(name)))


@pytest.mark.parametrize("name", MODULES)
def test_every_instruction_is_answered(name: str) -> None:
    assert {reason for _, reason in coverage_named(name).reasons} <= WITHOUT_MAP


@in_ci
def test_nearly_all_have_maps_and_the_page_says_so() -> None:
    coverage = sum(map(coverage_named, MODULES), Coverage())
    assert coverage.share_unknown < 0.001
    assert {reason for _, reason in coverage.reasons} == WITHOUT_MAP
    page = PAGE.read_text("utf-8")
    assert page == with_coverage(page, coverage), "run python -m tests.ops.documentation"
