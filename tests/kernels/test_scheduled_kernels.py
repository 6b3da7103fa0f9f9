"""Kernels over schedules: what all threads of a launch write is what JAX computes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.fuzzing.kernel_search import RUNNERS
from indexing.layout import Shape
from ops import FusionError, emit_kernel, hlo, schedule_of
from ops.hlo import Computation
from ops.kernels import KernelError
from ops.xla_gpu import LaunchDimensions, loop_schedule
from tests.cases import for_all
from tests.extent import in_ci
from tests.hlo.modules import module_text
from tests.kernels.fusions import CHAINS, chain, kernel_of
from tests.kernels.test_kernels_in_c import entries_by_nvcc, needs_compiler, needs_nvcc
from tests.kernels.test_kernels_of_fusions import case_of

LAUNCHES = {
    "a thread for each element": (LaunchDimensions.of(2, threads=128), 1),
    "four elements a thread": (LaunchDimensions.of(1, threads=64), 4),
    "too few threads": (LaunchDimensions.of(3, threads=8), 1),
    "too many threads": (LaunchDimensions.of(9, threads=128), 1),
}


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize(("launch", "unroll"), LAUNCHES.values(), ids=LAUNCHES)
def test_every_launch_computes_what_jax_does(launch: LaunchDimensions, unroll: int) -> None:
    computation = chain(CHAINS["softmax"])
    schedule = loop_schedule(computation.root.shape, launch, unroll=unroll)
    check([(kernel_of(computation, name="kernel0", schedule=schedule), computation)])


def check(kernels: Sequence[tuple[str, Computation]]) -> None:
    """Kernels ``kernel0``, ``kernel1``, ... write what JAX computes."""
    cases = {case_of(f"kernel{n}", each): text for n, (text, each) in enumerate(kernels)}
    assert not [f"{case.name}: {said}" for case, said in RUNNERS["c"](cases) if said]


SCHEDULED = ["gpu/softmax", "gpu/layout_shuffle", "gpu/concat_pad_rev_slice", "gpu/mha_causal"]


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", SCHEDULED)
def test_the_schedules_of_real_fusions_write_what_jax_computes(name: str) -> None:
    kernels = scheduled([name], "c")
    assert kernels
    check(kernels)


def scheduled(names: Sequence[str], language: str) -> list[tuple[str, Computation]]:
    found: list[tuple[str, Computation]] = []
    for name in names:
        for each in hlo.parse(module_text(name)).find(opcode="fusion"):
            with suppress(KernelError, FusionError):
                kernel = f"kernel{len(found)}"
                text = emit_kernel(each, language, kernel, schedule=schedule_of(each))
                found.append((text, each.attributes["calls"]))
    return found


@in_ci
@needs_nvcc
def test_scheduled_kernels_are_read_by_nvcc(tmp_path: Path) -> None:
    texts = [text for text, _ in scheduled(SCHEDULED, "cuda")]
    assert entries_by_nvcc(texts, tmp_path) == len(texts) > 0


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


@for_all([
    ("triton", "f32[6,128]", "schedule: a schedule has threads, and triton has none"),
    ("c", "f32[768]", r"%y: the schedule writes f32\[768\]\{0\}; expected one of f32\[6,128\]"),
])  # fmt: skip
def test_a_schedule_of_something_else_is_refused(language: str, shape: str, message: str) -> None:
    schedule = loop_schedule(Shape.parse(shape), LaunchDimensions.of(6, threads=128))
    with pytest.raises(KernelError, match=f"emit_kernel: {message}"):
        kernel_of(NEGATED, language, schedule=schedule)
