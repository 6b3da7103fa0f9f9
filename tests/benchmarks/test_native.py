"""Kernels by hand compute what JAX computes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from benchmarks.kernels import KERNELS, Kernel
from benchmarks.native import COMPILER, Workshop, check
from tests.cases import for_all
from tests.ops.oracle import program
from tests.ops.standalone_programs import standalone

needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER) is None, reason=f"there is no C compiler: {COMPILER}"
)


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    with TemporaryDirectory() as folder:
        yield Workshop(Path(folder))


def test_there_are_forty() -> None:
    assert len({(kernel.module, kernel.fusion_name) for kernel in KERNELS}) == 40


@pytest.mark.needs("jax")
@for_all(KERNELS, lambda kernel: kernel.name)
def test_numpy_computes_what_jax_does(kernel: Kernel) -> None:
    (expected,) = program(standalone(kernel.computation))(*kernel.operands)
    np.testing.assert_allclose(kernel.by_numpy(), expected, rtol=1e-4, atol=1e-4)


@needs_compiler
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_c_by_hand_is_right(kernel: Kernel, workshop: Workshop) -> None:
    check(kernel, workshop.by_hand(kernel), "C by hand")


@needs_compiler
def test_a_text_is_compiled(workshop: Workshop) -> None:
    (square,) = (kernel for kernel in KERNELS if kernel.name == "square")
    text = "void f(float *x, float *y) { for (int i = 0; i < 2048; ++i) y[i] = x[i] * x[i]; }"
    check(square, workshop.emitted(square, text), "a text")


@needs_compiler
def test_a_wrong_result_is_seen(workshop: Workshop) -> None:
    (square,) = (kernel for kernel in KERNELS if kernel.name == "square")
    text = "void f(float *x, float *y) { for (int i = 0; i < 2047; ++i) y[i] = x[i] * x[i]; }"
    with pytest.raises(ArithmeticError, match=r"square: a text gives nan at \[31, 63\]; NumPy has"):
        check(square, workshop.emitted(square, text), "a text")
