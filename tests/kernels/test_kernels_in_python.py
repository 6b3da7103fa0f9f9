"""Kernels in NumPy compute what JAX does, and those in Triton what those in NumPy do."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks.triton_code import counts_of, imported, lowered
from indexing.layout import ElementType, Shape
from ops.hlo import Computation
from ops.kernels import KernelError
from tests.kernels.fusions import (
    CHAINS,
    RUNNABLE,
    SMALL,
    alone,
    by_chain,
    chain,
    check_close,
    emitted,
    fusions_of,
    held_operands,
    held_results,
    kernel_of,
    operands_of,
    run_in_numpy,
    runs_in_jax,
)
from tests.kernels.triton_stand_in import run
from tests.ops import oracle

needs_triton = pytest.mark.skipif(
    find_spec("triton") is None, reason="pip install -e '.[benchmarks]'"
)


# NumPy.


def check(text: str, name: str, computation: Computation, *, is_small: bool = False) -> None:
    operands = operands_of(computation)
    results = run_in_numpy(text, name, operands)
    expected = oracle.program(alone(computation))(*operands)
    for result, right in zip(results, expected, strict=True):
        assert (result.dtype, result.shape) == (right.dtype, right.shape)
        check_close(result, right, is_small)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_compute_what_jax_does(name: str) -> None:
    computations = [each for each in fusions_of(name) if runs_in_jax(each)]
    for computation, (kernel, text) in emitted(computations, "numpy").items():
        check(text, kernel, computation)


@pytest.mark.needs("jax")
@by_chain
def test_chains_compute_what_jax_does(body: str) -> None:
    computation = chain(body)
    check(kernel_of(computation, "numpy"), "kernel", computation)


@pytest.mark.needs("jax")
def test_halves_are_stored_as_such() -> None:
    computation = chain(SMALL["f16"])
    check(kernel_of(computation, "numpy"), "kernel", computation, is_small=True)


def test_what_is_reduced_is_computed_once_for_each_row() -> None:
    body = """x = f32[5,37] parameter(0) low = f32[] constant(-inf)
        peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
        peaks = f32[5,37] broadcast(peak), dimensions={0}
        ROOT less = f32[5,37] subtract(x, peaks)"""
    text = kernel_of(body, "numpy")
    assert text.index("np.maximum.reduce") < text.index("d1 = np.arange(37)")


def test_operands_may_be_anything_that_is_an_array() -> None:
    text = kernel_of("x = f32[2,3] parameter(0) ROOT y = f32[2,3] add(x, x)", "numpy")
    (found,) = run_in_numpy(text, "kernel", [np.arange(6).reshape(3, 2).T])
    assert found.tolist() == [[0, 4, 8], [2, 6, 10]]
    assert found.dtype == np.float32


REFUSED = [
    ("x = f32[3] parameter(0) ROOT y = f32[3] erf(x)", "%y: erf of f32"),
    ("x = bf16[3] parameter(0) ROOT y = bf16[3] negate(x)", "the element type of bf16"),
]


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_what_numpy_does_not_have_is_refused(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=f"emit_kernel: .*{message}"):
        kernel_of(body, "numpy")


# Triton on a stand-in.


def check_in_triton(text: str, name: str, computation: Computation) -> None:
    try:
        by_numpy = kernel_of(computation, "numpy")
    except KernelError:
        return  # erf, for one, is in Triton alone
    laid_out = held_results(computation, run_in_numpy(by_numpy, "kernel", operands_of(computation)))
    results = [np.full(each.size, 55).astype(each.dtype) for each in laid_out]
    run(text, name, [*(each.reshape(-1) for each in held_operands(computation)), *results])
    for found, wanted in zip(results, laid_out, strict=True):
        check_close(found, wanted.reshape(-1))


@pytest.mark.needs("ml_dtypes")
@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_compute_what_those_in_numpy_do(name: str) -> None:
    small = [each for each in fusions_of(name) if _elements(each) < 1 << 13]
    for computation, (kernel, text) in emitted(small, "triton").items():
        check_in_triton(text, kernel, computation)


def _elements(computation: Computation) -> int:
    return max(
        array.element_count for each in computation.instructions for array in each.shape.arrays
    )


LONG = {
    "a long row": """x = f32[3,2500] parameter(0) low = f32[] constant(-inf)
        peak = f32[3] reduce(x, low), dimensions={1}, to_apply=max
        peaks = f32[3,2500] broadcast(peak), dimensions={0}
        ROOT less = f32[3,2500] subtract(x, peaks)""",
    "a long row with places": """x = f32[2,1100] parameter(0) low = f32[] constant(-inf)
        i = s32[2,1100] iota(), iota_dimension=1 none = s32[] constant(-1)
        ROOT r = (f32[2], s32[2]) reduce(x, i, low, none), dimensions={1}, to_apply=arg""",
    "columns that are read again": """x = f32[9,40] parameter(0) zero = f32[] constant(0)
        total = f32[40] reduce(x, zero), dimensions={0}, to_apply=add
        totals = f32[9,40] broadcast(total), dimensions={1}
        ROOT less = f32[9,40] subtract(x, totals)""",
    "all elements": """x = f32[30,50] parameter(0) one = f32[] constant(1)
        ROOT r = f32[] reduce(x, one), dimensions={0,1}, to_apply=add""",
    "results of several sizes": """x = f32[5,700] parameter(0) zero = f32[] constant(0)
        total = f32[5] reduce(x, zero), dimensions={1}, to_apply=add
        y = f32[5,700] negate(x) ROOT both = (f32[5], f32[5,700]) tuple(total, y)""",
    "names of functions": """max = f32[8] parameter(0) zero = f32[] constant(0)
        range = f32[8] negate(max) kernel = f32[8] exponential(range)
        ROOT add = f32[] reduce(kernel, zero), dimensions={0}, to_apply=add""",
    "padded before it is reduced": """x = f32[4,8] parameter(0) c = f32[] constant(3)
        zero = f32[] constant(0) d = f32[4,10] pad(x, c), padding=0_0x1_1
        ROOT r = f32[4] reduce(d, zero), dimensions={1}, to_apply=add""",
    "a scalar that is chosen": """x = f32[4] parameter(0) y = f32[1] parameter(1)
        b = f32[4] concatenate(y, y, y, y), dimensions={0} ROOT r = f32[4] add(x, b)""",
}


CHAINS_AND_LONG = {**CHAINS, **LONG}


@pytest.mark.needs("ml_dtypes")
@pytest.mark.parametrize("body", CHAINS_AND_LONG.values(), ids=CHAINS_AND_LONG)
def test_chains_compute_what_those_in_numpy_do(body: str) -> None:
    computation = chain(body)
    check_in_triton(kernel_of(computation, "triton"), "kernel", computation)


# Triton itself.

_SIGNATURES = {
    ElementType.PRED: "*i1",
    ElementType.F16: "*fp16",
    ElementType.BF16: "*bf16",
    ElementType.F32: "*fp32",
    ElementType.F64: "*fp64",
    **{ElementType(f"s{bits}"): f"*i{bits}" for bits in (8, 16, 32, 64)},
    **{ElementType(f"u{bits}"): f"*u{bits}" for bits in (8, 16, 32, 64)},
}


def ptx_of(text: str, name: str, computation: Computation, folder: Path) -> str:
    arrays: Sequence[Shape] = [
        *(each.shape for each in computation.parameters),
        *computation.root.shape.arrays,
    ]
    function = getattr(imported(text, folder / f"{name}.py"), name)
    return lowered(function, [_SIGNATURES[array.element_type] for array in arrays])


@needs_triton
def test_chains_are_lowered(tmp_path: Path) -> None:
    for number, body in enumerate((*CHAINS_AND_LONG.values(), *SMALL.values())):
        name = f"kernel{number}"
        text = kernel_of(body, "triton", name)
        assert f".entry {name}" in ptx_of(text, name, chain(body), tmp_path)


@needs_triton
@pytest.mark.parametrize("name", RUNNABLE[::6])
def test_kernels_of_real_fusions_are_lowered(name: str, tmp_path: Path) -> None:
    for computation, (kernel, text) in emitted(fusions_of(name), "triton").items():
        assert f".entry {kernel}" in ptx_of(text, kernel, computation, tmp_path)


@needs_triton
def test_neighbours_are_loaded_as_vectors(tmp_path: Path) -> None:
    computation = chain("x = f32[64,128] parameter(0) ROOT y = f32[64,128] negate(x)")
    text = kernel_of(computation, "triton")
    counts = counts_of(ptx_of(text, "kernel", computation, tmp_path))
    assert (counts.scalar, counts.vector) == (0, 2)
