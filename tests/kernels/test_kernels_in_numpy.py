"""Kernels of fusions in NumPy compute what JAX does, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from ops import Fusion, emit_kernel
from ops.hlo import Computation
from ops.kernels import KernelError
from tests.kernels.fusions import (
    RUNNABLE,
    SMALL,
    alone,
    by_chain,
    chain,
    check_close,
    emitted,
    fusions_of,
    operands_of,
    run_in_numpy,
    runs_in_jax,
)
from tests.ops import oracle


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
    check(emit_kernel(Fusion.of_computation(computation), "numpy"), "kernel", computation)


@pytest.mark.needs("jax")
def test_halves_are_stored_as_such() -> None:
    computation = chain(SMALL["f16"])
    text = emit_kernel(Fusion.of_computation(computation), "numpy")
    check(text, "kernel", computation, is_small=True)


def test_what_is_reduced_is_computed_once_for_each_row() -> None:
    body = """x = f32[5,37] parameter(0) low = f32[] constant(-inf)
        peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
        peaks = f32[5,37] broadcast(peak), dimensions={0}
        ROOT less = f32[5,37] subtract(x, peaks)"""
    text = emit_kernel(Fusion.of_computation(chain(body)), "numpy")
    assert text.index("np.maximum.reduce") < text.index("d1 = np.arange(37)")


def test_operands_may_be_anything_that_is_an_array() -> None:
    computation = chain("x = f32[2,3] parameter(0) ROOT y = f32[2,3] add(x, x)")
    text = emit_kernel(Fusion.of_computation(computation), "numpy")
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
        emit_kernel(Fusion.of_computation(chain(body)), "numpy")
