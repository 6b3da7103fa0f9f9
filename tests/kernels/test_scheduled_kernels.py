"""Kernels over schedules: what all threads of a launch write is what JAX computes."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from indexing.layout import Shape
from ops import FusionError, emit_kernel, hlo, schedule_of
from ops.hlo import Computation
from ops.kernels import KernelError
from ops.xla_gpu import LaunchDimensions, loop_schedule
from tests.extent import in_ci
from tests.hlo.modules import module_text
from tests.kernels.fusions import CHAINS, chain, kernel_of, runs_in_jax
from tests.kernels.test_kernels_in_c import (
    SANITIZED,
    check,
    compiled,
    entries_by_nvcc,
    needs_compiler,
    needs_nvcc,
)

LAUNCHES = {
    "a thread for each element": (LaunchDimensions.of(2, threads=128), 1),
    "four elements a thread": (LaunchDimensions.of(1, threads=64), 4),
    "too few threads": (LaunchDimensions.of(3, threads=8), 1),
    "too many threads": (LaunchDimensions.of(9, threads=128), 1),
}


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize(("launch", "unroll"), LAUNCHES.values(), ids=LAUNCHES)
def test_every_launch_computes_what_jax_does(
    launch: LaunchDimensions, unroll: int, tmp_path: Path
) -> None:
    computation = chain(CHAINS["softmax"])
    schedule = loop_schedule(computation.root.shape, launch, unroll=unroll)
    text = kernel_of(computation, schedule=schedule)
    check(compiled([text], tmp_path, *SANITIZED), "kernel", computation)


SCHEDULED = ["gpu/softmax", "gpu/layout_shuffle", "gpu/concat_pad_rev_slice", "gpu/mha_causal"]


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", SCHEDULED)
def test_the_schedules_of_real_fusions_write_what_jax_computes(name: str, tmp_path: Path) -> None:
    texts = scheduled(name, "c")
    assert texts
    library = compiled([text for text, _ in texts.values()], tmp_path)
    for kernel, (_, computation) in texts.items():
        check(library, kernel, computation)


def scheduled(name: str, language: str) -> dict[str, tuple[str, Computation]]:
    """Kernels of the fusions of a module over their own schedules."""
    found: dict[str, tuple[str, Computation]] = {}
    instructions = hlo.parse(module_text(name)).instructions
    for number, each in enumerate(each for each in instructions if each.opcode == "fusion"):
        computation = each.attributes["calls"]
        with suppress(KernelError, FusionError):
            kernel = f"kernel{number}"
            text = emit_kernel(each, language, kernel, schedule=schedule_of(each))
            if runs_in_jax(computation):
                found[kernel] = text, computation
    return found


@in_ci
@needs_nvcc
def test_scheduled_kernels_are_read_by_nvcc(tmp_path: Path) -> None:
    texts = [text for name in SCHEDULED for text, _ in scheduled(name, "cuda").values()]
    renamed = [re.sub(r"kernel\d+", f"kernel{number}", text) for number, text in enumerate(texts)]
    assert entries_by_nvcc(renamed, tmp_path) == len(texts) > 0


NEGATED = "x = f32[6,128] parameter(0) ROOT y = f32[6,128] negate(x)"


def test_coordinates_are_those_of_cuda() -> None:
    schedule = loop_schedule(Shape.parse("f32[6,128]"), LaunchDimensions.of(6, threads=128))
    text = kernel_of(NEGATED, "cuda", schedule=schedule)
    assert "const int32_t bl_x = blockIdx.x;\n  const int32_t th_x = threadIdx.x;" in text
    assert "x[bl_x * 128 + th_x]" in text
    assert "if" not in text.partition("{")[2]


def test_what_only_the_thread_decides_is_asked_outside_of_its_loops() -> None:
    launch = LaunchDimensions.of(2, threads=128)
    schedule = loop_schedule(Shape.parse("f32[1000]"), launch, unroll=4)
    body = "x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)"
    text = kernel_of(body, "cuda", schedule=schedule)
    assert text.index("if (bl_x * 128 + th_x < 250)") < text.index("for (")


REFUSED = [
    ("triton", "f32[6,128]", "schedule: a schedule has threads, and triton has none"),
    ("c", "f32[768]", r"%y: the schedule writes f32\[768\]\{0\}; expected one of f32\[6,128\]"),
]


@pytest.mark.parametrize(("language", "shape", "message"), REFUSED)
def test_a_schedule_of_something_else_is_refused(language: str, shape: str, message: str) -> None:
    schedule = loop_schedule(Shape.parse(shape), LaunchDimensions.of(6, threads=128))
    with pytest.raises(KernelError, match=f"emit_kernel: {message}"):
        kernel_of(NEGATED, language, schedule=schedule)
