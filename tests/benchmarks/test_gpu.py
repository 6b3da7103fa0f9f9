"""The programs that ask a GPU, without one: what ncu prints and what a clock says is given."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import counters, kernels, page
from benchmarks.gpu.accesses import ACCESSES, Access, Counts, predicted, program
from benchmarks.gpu.counters import METRICS, NotMeasuredError
from benchmarks.gpu.fusions import EXPRESSIONS
from benchmarks.gpu.kernels import TILED, Gpu
from tests.cases import for_all

BYTES = {"s8": 1, "f16": 2, "f32": 4, "f64": 8, "c128": 16}
REQUESTS, SECTORS, CONFLICTS = METRICS


def counted(access: Access) -> Counts:
    """The counts of an access, warp by warp, from the text of its offset."""
    formula = access.offset.replace("floordiv", "//").replace("mod", "%")
    size, first = BYTES[access.element_type], range(0, access.threads, 32)
    loads: list[Any] = []
    for block, step, thread in product(range(access.blocks), range(access.steps), first):
        lanes = np.arange(thread, min(thread + 32, access.threads))
        offsets = eval(formula, {"th_x": lanes, "bl_x": block, "s0": step})  # noqa: S307 - our table
        loads.append(np.unique(np.asarray(offsets)) * size)
    if access.is_shared:
        words = [np.unique(each[:, None] // 4 + np.arange(-(-size // 4))) for each in loads]
        waits = (np.bincount(each % 32).max() - -(-each.size // 32) for each in words)
        return Counts(bank_conflicts=int(sum(waits)))
    touched = (np.unique([each // 32, (each + size - 1) // 32]).size for each in loads)
    return Counts(len(loads), sum(touched))


@for_all(ACCESSES)
def test_an_access_is_predicted_as_it_is_counted_warp_by_warp(access: Access) -> None:
    assert predicted(access) == counted(access)


def test_forty_accesses_and_thirty_kernels_have_names() -> None:
    assert len({access.name for access in ACCESSES}) == len(ACCESSES) == 40
    assert len(EXPRESSIONS) == 30


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_each_kernel_loads_once_in_each_step(tmp_path: Path) -> None:
    source, code = tmp_path / "accesses.cu", tmp_path / "accesses.ptx"
    source.write_text(program(), "utf-8")
    command = ["nvcc", "-w", "-O2", "-ptx", "-arch=sm_80", "-o", code, source]
    subprocess.run(command, check=True)
    entries = code.read_text("utf-8").split(".visible .entry ")[1:]
    loads = [len(re.findall(r"\bld\.(?:global|volatile\.shared)", each)) for each in entries]
    assert loads == [access.steps for access in ACCESSES]


HEAD = """==PROF== Connected to process 7
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"""
SEVERAL = f"""{HEAD}"1","access_10(int)","{CONFLICTS}","","31.000000"
"0","access_2(int)","{REQUESTS}","request","8"
"0","access_2(int)","other","","n/a"
"""
PRINTED: list[tuple[str, int, str]] = [
    (
        f'{HEAD}"0","access_0(const float *)","{SECTORS}","sector","2,048"\n',
        0,
        "[(None, 2048, None)]",
    ),
    (SEVERAL, 0, "[(8, None, None), (None, None, 31)]"),
    (
        "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n",
        1,
        "ncu may not read the counters here (ERR_NVGPUCTRPERM): they are for administrators",
    ),
    (
        "==ERROR== Cuda driver is not compatible\n",
        1,
        "ncu: ==ERROR== Cuda driver is not compatible",
    ),
    ("", 0, "ncu: nothing was printed"),
]


def asked(printed: str, code: int, missing: str = "") -> str:
    """What is said where ncu prints this."""

    def run(command: Sequence[str]) -> tuple[int, str]:
        return (code, printed) if command[0] == "ncu" else (0, "")

    try:
        found = counters.measured(run, lambda tool: None if tool == missing else tool)
    except NotMeasuredError as error:
        return str(error).partition(",")[0]
    return str([tuple(each) for each in found])


@for_all(PRINTED)
def test_what_ncu_prints_is_read_or_the_reason_said(printed: str, code: int, said: str) -> None:
    assert asked(printed, code) == said


def test_a_missing_tool_is_named() -> None:
    assert asked("", 0, "ncu") == "ncu is not installed"


class RecordedGpu(Gpu):
    """A GPU whose times are given; tiles with a side of 64 do not run on it."""

    def random(self, *sizes: int, dtype: str = "float32") -> tuple[tuple[int, ...], str]:
        return sizes, dtype

    def module(self, text: str) -> SimpleNamespace:
        assert "def kernel(" in text
        return SimpleNamespace(kernel=defaultdict(lambda: self.launch))

    def launch(self, *_: object, **sizes: int) -> None:
        if 64 in sizes.values():
            raise MemoryError


def nothing(*_: object, **__: object) -> None:
    """An array that nobody looks at."""


def gpu(step: int) -> RecordedGpu:
    clock, torch = count(1000, step), SimpleNamespace(empty=nothing)
    return RecordedGpu("H100", Path(), torch, lambda _: float(next(clock)), lambda each: each)


@pytest.mark.parametrize(("step", "order"), [(1, 1.0), (-1, -1.0), (0, None)])
def test_the_order_of_tiles_is_compared_with_that_of_their_times(
    step: int, order: float | None
) -> None:
    found = [*kernels.ranking_rows(gpu(step), 128, 6)]
    assert [row["fusion"] for row in found] == [tiled.name for tiled in TILED]
    assert {row["spearman"] for row in found} == {order}
    assert all(len(row["tiles"]) + len(row["problems"]) == 6 for row in found)
    assert any("64" in each and "MemoryError" in each for row in found for each in row["problems"])


@pytest.mark.needs("torch")
@pytest.mark.needs("triton")
def test_kernels_are_right_in_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    here = Gpu("CPU", tmp_path, importlib.import_module("torch"), run_once, lambda f: f, "cpu")
    found = [*kernels.emitted_rows(here, 16, 32)]
    assert [row["fusion"] for row in found] == [*EXPRESSIONS]
    outside = {row["fusion"] for row in found if "problem" in row}
    assert outside == {"hyperbolic tangent", "gelu with bias"}  # it has no libdevice
    assert all(row["is_right"] for row in found if "problem" not in row)
    assert not any(row["problems"] for row in kernels.ranking_rows(here, 32, 3))


def run_once(call: Callable[[], object]) -> float:
    call()
    return 1.0


# The page.

REPORT = {
    "machine": "NVIDIA H100",
    "accesses": [{"access": "row", "predicted": {}, "measured": {"sectors": 2049}}],
    "kernels": [
        {"fusion": "add", "is_right": True, "emitted_ms": 0.1, "torch_ms": 2, "compiled_ms": 0.25},
        {"fusion": "relu", "is_right": False, "emitted_ms": 1, "torch_ms": 1, "compiled_ms": 1},
        {"fusion": "pad", "problem": "OutOfResources: shared memory"},
    ],
    "rankings": [
        {
            "fusion": "dot",
            "spearman": 0.75,
            "tiles": [{"sizes": [16, 16, 32], "ms": 3}, {"sizes": [32, 32, 32], "ms": 1}],
            "problems": ["(64, 64, 64): OutOfResources"],
        }
    ],
}
LINES = """
| transposes: row, f32 | `b * 256 + t` | 512 requests, 2,048 sectors | 2,049 sectors |
| strides: stride 2, f32 | `(b * 256 + t) * 2` | 256 requests, 2,048 sectors | - |
| add | `x + y` | right: 0.1 / 2 / 0.25 |
| relu | `torch.relu(x)` | **wrong**: 1 / 1 / 1 |
| pad | `functional.pad(x, (1, 2))` | OutOfResources: shared memory |
| dot | 0.75 of 2 tiles; fastest (32, 32, 32); 1 did not run |
Measured on: NVIDIA H100.
"""


def test_the_page_shows_what_was_measured() -> None:
    lines = page.text([REPORT]).splitlines()
    assert [line for line in LINES.strip().splitlines() if line not in lines] == []
    refused = page.text([REPORT | {"accesses": "ncu is not installed"}])
    assert "NVIDIA H100: not measured, as ncu is not installed." in refused


def test_the_page_is_that_of_the_files() -> None:
    files = sorted(page.MEASURED.glob("*.json"))
    reports = [json.loads(each.read_text("utf-8")) for each in files]
    assert page.PAGE.read_text("utf-8") == page.text(reports), "python -m benchmarks.gpu.page"
