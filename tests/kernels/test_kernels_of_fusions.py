"""Kernels in each language, and over schedules, compute what JAX does; and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.emitted import fusions as real_fusions
from benchmarks.emitted import refusals
from benchmarks.fuzzing.kernel_search import RUNNERS, SIMPLIFIERS, Case, Tally, complaints, runnable
from benchmarks.triton_code import POINTERS, counts_of, imported, lowered
from indexing import TileError
from indexing.layout import Shape
from ops import Fusion, FusionError, emit_kernel, hlo, schedule_of, tilings
from ops.hlo import Computation
from ops.hlo.running import for_cpu
from ops.kernels import KernelError
from ops.performance import A100
from ops.xla_gpu import LaunchDimensions, loop_schedule
from simplifier.errors import ArgumentError
from tests.cases import for_all, texts_with_values
from tests.extent import in_ci
from tests.hlo.modules import module_text
from tests.kernels import fusions
from tests.kernels.fusions import CHAINS, RUNNABLE, alone, chain, emitted, fusions_of, kernel_of
from tests.kernels.test_kernels_in_c import compiled, entries_by_nvcc, needs_compiler, needs_nvcc
from tests.kernels.triton_stand_in import run
from tests.ops import oracle

needs_triton = pytest.mark.skipif(
    find_spec("triton") is None, reason="pip install -e '.[benchmarks]'"
)

INSIDE = "x = f32[3,5,7] parameter(0) c = f32[] constant(3)"
BODIES = {
    **fusions.CHAINS,
    **fusions.SMALL,
    **{name: body for name, (body, _) in fusions.JOINED.items()},
    **{name: f"{INSIDE} {body}" for name, body in fusions.BORDERS.items()},
}


REWRITERS = f"{SIMPLIFIERS},tree_reduction_rewriter"
"""Passes of XLA that change where a fold starts, and how often."""


def case_of(name: str, computation: Computation) -> Case:
    """What JAX computes of some operands."""
    text, operands = str(for_cpu(alone(computation))), fusions.operands_of(computation)
    return Case(name, text, computation, operands, oracle.program(text, REWRITERS)(*operands))


def check(cases: Sequence[Case], language: str) -> Tally:
    """Compare what can be emitted of the cases with what JAX computes."""
    tally = Tally()
    wrong = [f"{case.name}: {said}" for case, said in complaints(cases, language, tally)]
    assert not wrong
    return tally


ANGLES = {"acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh"}
"""What XLA has for GPUs alone; below, kernels are compared with NumPy."""


def has_angles(computation: Computation) -> bool:
    return not ANGLES.isdisjoint(each.opcode for each in computation.instructions)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_compute_what_jax_does(name: str) -> None:
    kernels = emitted(fusions_of(name), "c").items()
    cases = [case_of(kernel, each) for each, (kernel, _) in kernels if not has_angles(each)]
    for language in runnable()[:3]:
        found = check(cases, language)
        assert found.right[language] + found.refused.total() == len(cases)


@in_ci
def test_few_real_fusions_are_refused() -> None:
    found = refusals(real_fusions(), "triton")
    assert found.total() - found[""] <= 54


@pytest.mark.needs("jax")
@pytest.mark.parametrize("language", runnable())
def test_chains_compute_what_jax_does(language: str) -> None:
    """NumPy alone has no bfloat16, and does not count zeros."""
    found = check([case_of(name, chain(body)) for name, body in BODIES.items()], language)
    assert found.right[language] == len(BODIES) - 2 * (language == "numpy")


@pytest.mark.parametrize("language", runnable())
def test_functions_of_angles_are_those_of_numpy(language: str) -> None:
    computation = chain(fusions.ANGLES)
    operands = fusions.operands_of(computation)
    right = fusions.run_in_numpy(kernel_of(computation, "numpy"), "kernel", operands)
    assert check([Case("angles", "", computation, operands, right)], language).right[language] == 1


@needs_compiler
def test_chains_are_compiled_without_warnings(tmp_path: Path) -> None:
    compiled(
        [kernel_of(each, name=f"kernel{k}") for k, each in enumerate(BODIES.values())], tmp_path
    )


def test_what_is_reduced_is_computed_once_for_each_row() -> None:
    body = """x = f32[5,37] parameter(0) low = f32[] constant(-inf)
        peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
        peaks = f32[5,37] broadcast(peak), dimensions={0}
        ROOT less = f32[5,37] subtract(x, peaks)"""
    text = kernel_of(body, "numpy")
    assert text.index("np.maximum.reduce") < text.index("d1 = np.arange(37)")


def test_operands_may_be_anything_that_is_an_array() -> None:
    text = kernel_of("x = f32[2,3] parameter(0) ROOT y = f32[2,3] add(x, x)", "numpy")
    (found,) = fusions.run_in_numpy(text, "kernel", [np.arange(6).reshape(3, 2).T])
    assert found.tolist() == [[0, 4, 8], [2, 6, 10]]
    assert found.dtype == np.float32


@for_all([
    ("x = f32[3] parameter(0) ROOT y = f32[3] erf(x)", "%y: erf of f32"),
    ("x = bf16[3] parameter(0) ROOT y = bf16[3] negate(x)", "the element type of bf16"),
])  # fmt: skip
def test_what_numpy_does_not_have_is_refused(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=f"emit_kernel: .*{message}"):
        kernel_of(body, "numpy")


def ptx_of(text: str, name: str, computation: Computation, folder: Path) -> str:
    arrays: Sequence[Shape] = [
        *(each.shape for each in computation.parameters),
        *computation.root.shape.arrays,
    ]
    module = imported(text, folder / f"{name}.py")
    function, warps = (getattr(module, each) for each in (name, f"{name}_warps"))
    return lowered(function, [POINTERS[array.element_type] for array in arrays], warps=warps)["ptx"]


@needs_triton
def test_chains_are_lowered(tmp_path: Path) -> None:
    for number, body in enumerate((*fusions.CHAINS.values(), *fusions.SMALL.values())):
        name = f"kernel{number}"
        text = kernel_of(body, "triton", name)
        assert f".entry {name}" in ptx_of(text, name, chain(body), tmp_path)


@needs_triton
@pytest.mark.parametrize("name", RUNNABLE[::6])
def test_kernels_of_real_fusions_are_lowered(name: str, tmp_path: Path) -> None:
    for computation, (kernel, text) in emitted(fusions_of(name), "triton").items():
        assert f".entry {kernel}" in ptx_of(text, kernel, computation, tmp_path)


@needs_triton
@pytest.mark.parametrize(("shape", "vectors"), [("f32[64,128]", 2), ("f32[8,16]", 1)])
def test_neighbours_are_loaded_as_vectors(shape: str, vectors: int, tmp_path: Path) -> None:
    """Few elements are loaded by few warps."""
    computation = chain(f"x = {shape} parameter(0) ROOT y = {shape} negate(x)")
    text = kernel_of(computation, "triton")
    counts = counts_of(ptx_of(text, "kernel", computation, tmp_path))
    assert (counts.scalar, counts.vector) == (0, vectors)


TILES = texts_with_values("""
# one axis for all dimensions | (1, 0, 0)
x = f32[64,128] parameter(0) ROOT y = f32[64,128] negate(x)
# a mask where tiles do not divide a size | (1, 2, 0)
x = f32[37,50] parameter(0) ROOT y = f32[37,50] negate(x)
# a row is loaded once for all that is reduced | (1, 0, 0)
x = f32[64,128] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
peak = f32[64] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[64,128] broadcast(peak), dimensions={0} less = f32[64,128] subtract(x, peaks)
total = f32[64] reduce(less, zero), dimensions={1}, to_apply=add
totals = f32[64,128] broadcast(total), dimensions={0} ROOT y = f32[64,128] divide(less, totals)
# what is reduced is reduced before the loop that reads it | (2, 0, 2)
x = f32[4096,64] parameter(0) zero = f32[] constant(0)
total = f32[64] reduce(x, zero), dimensions={0}, to_apply=add
totals = f32[4096,64] broadcast(total), dimensions={1} ROOT y = f32[4096,64] subtract(x, totals)
# results of rows and of their sums share a tile | (1, 0, 0)
x = f32[64,128] parameter(0) zero = f32[] constant(0)
total = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
totals = f32[64,128] broadcast(total), dimensions={0} y = f32[64,128] subtract(x, totals)
ROOT both = (f32[64], f32[64,128]) tuple(total, y)
# halves that are swapped have no condition, and are loaded once | (2, 0, 0)
x = f32[64,128] parameter(0) a = f32[64,64] slice(x), slice={[0:64], [0:64]}
b = f32[64,64] slice(x), slice={[0:64], [64:128]}
t = f32[64,128] concatenate(b, a), dimensions={1} ROOT y = f32[64,128] add(x, t)
""")
"""Loads, masks and loops."""


@pytest.mark.parametrize(("body", "counts"), TILES.values(), ids=TILES)
def test_a_tile_is_loaded_once_and_has_masks_where_it_is_ragged(
    body: str, counts: tuple[int, int, int]
) -> None:
    text = kernel_of(body, "triton")
    assert tuple(map(text.count, ("tl.load", "mask=", "for "))) == counts


ROWS = """x = f32[6,40] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
peak = f32[6] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[6,40] broadcast(peak), dimensions={0} less = f32[6,40] subtract(x, peaks)
total = f32[6] reduce(less, zero), dimensions={1}, to_apply=add
totals = f32[6,40] broadcast(total), dimensions={0} ROOT y = f32[6,40] divide(less, totals)"""
PRODUCT = """x = f32[40,36] parameter(0) y = f32[36,33] parameter(1)
ROOT d = f32[40,33] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
SWAPPED = """x = f32[6,64] parameter(0) a = f32[6,32] slice(x), slice={[0:6], [0:32]}
b = f32[6,32] slice(x), slice={[0:6], [32:64]} c = f32[6,32] negate(b)
ROOT y = f32[6,64] concatenate(c, a), dimensions={1}"""
SUMS = """x = f32[5,8,16] parameter(0) zero = f32[] constant(0)
ROOT y = f32[5] reduce(x, zero), dimensions={1,2}, to_apply=add"""

WANTED = [
    (
        ROWS,
        (4, 40, 40, 40),
        ["d0 = program * 4 + tl.arange(0, 4)[:, None]", "d1 = tl.arange(0, 64)"],
    ),
    (ROWS, (1, 16, 8, 8), ["range(0, 40, 8)", "(program % 3) * 16 + tl.arange(0, 16)"]),
    (PRODUCT, (16, 32, 16), ["tl.arange(0, 32)", "static_range(3)", "tl.dot"]),
    (PRODUCT, (8, 33, 36), ["tl.arange(0, 8)", "kernel_programs = 5\n"]),
    (SWAPPED, (2, 64), ["tl.arange(0, 2)", "kernel_programs = 3\n"]),
    (SWAPPED, (6, 16), ["tl.arange(0, 8)", "kernel_programs = 4\n"]),
    (SUMS, (1, 4, 16), ["range(0, 128, 64)", "kernel_programs = 5\n"]),
    (SUMS, (4, 2, 4), ["range(0, 8, 2)", "range(0, 16, 4)", "kernel_programs = 2\n"]),
]
"""Fusions, sizes of tiles, and what the kernels have."""


@for_all(WANTED)
def test_a_tiling_says_what_a_program_computes(
    body: str, sizes: tuple[int, ...], parts: list[str]
) -> None:
    computation = chain(body)
    text = emit_kernel(Fusion.of_computation(computation), "triton", tiling=sizes)
    assert [part for part in parts if part not in text] == []
    operands = fusions.operands_of(computation)
    (expected,) = fusions.run_in_numpy(kernel_of(computation, "numpy"), "kernel", operands)
    found = np.zeros(expected.size, np.float32)
    run(text, "kernel", [*(each.reshape(-1) for each in operands), found])
    np.testing.assert_allclose(found, expected.reshape(-1), rtol=1e-4, atol=1e-4)


def test_the_best_tiling_is_emitted() -> None:
    fusion = Fusion.of_computation(chain(PRODUCT))
    best = tilings(fusion, A100, sizes=[[16], [32], [16, 32]])[0]
    assert best.sizes == (16, 32, 32)
    assert emit_kernel(fusion, "triton", tiling=best).count("static_range(2)") == 1


@for_all([
    ("triton", (2, 3), KernelError, "tiling: parallel .* has 3 values; expected a power"),
    ("triton", (2,), TileError, "1 sizes are given; expected 2"),
    ("triton", (2, 2.5), ArgumentError, "emit_kernel: tiling"),
    ("triton", 2, ArgumentError, "emit_kernel: tiling"),
    ("c", (2, 4), KernelError, "tiling: c has no tiles; expected triton"),
])  # fmt: skip
def test_a_tiling_of_something_else_is_refused(
    language: str,
    tiling: Any,  # noqa: ANN401 - also what is no tiling
    error: type[Exception],
    message: str,
) -> None:
    fusion = Fusion.of_computation(chain(NEGATED))
    with pytest.raises(error, match=message):
        emit_kernel(fusion, language, tiling=tiling)


def test_what_is_updated_in_place_has_no_tiles() -> None:
    update = Fusion.of_instruction(hlo.load("examples/running_sum.hlo")["new_sums"])
    with pytest.raises(KernelError, match="tiling: %new_sums has no tiles"):
        emit_kernel(update, "triton", tiling=(1, 4))


# Over schedules: what all threads of a launch write.

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
    check_scheduled([(kernel_of(computation, name="kernel0", schedule=schedule), computation)])


def check_scheduled(kernels: Sequence[tuple[str, Computation]]) -> None:
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
    check_scheduled(kernels)


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


def test_coordinates_are_those_of_cuda_and_what_they_decide_is_asked_outside_of_loops() -> None:
    schedule = loop_schedule(Shape.parse("f32[6,128]"), LaunchDimensions.of(6, threads=128))
    text = kernel_of(NEGATED, "cuda", schedule=schedule)
    assert "const int32_t bl_x = blockIdx.x;\n  const int32_t th_x = threadIdx.x;" in text
    assert "x[bl_x * 128 + th_x]" in text
    assert "if" not in text.partition("{")[2]
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
