"""The C that the library writes for real fusions computes what NumPy does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import ops
from benchmarks import code
from benchmarks.kernels import KERNELS, Kernel
from benchmarks.native import COMPILER, Workshop, check

pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER) is None, reason=f"there is no C compiler: {COMPILER}"
)


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    with TemporaryDirectory() as folder:
        yield Workshop(Path(folder))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_emitted_c_is_right(kernel: Kernel, workshop: Workshop) -> None:
    check(kernel, workshop.emitted(kernel, ops.emit_kernel(kernel.fusion, "c")), "emitted C")


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    code.main(["square", "first_rows", "--rounds", "1"])
    printed = capsys.readouterr().out
    assert "square                  cpu/mlp_adam_step wrapped_multiply.2" in printed
    assert "2 fusions: ratio" in printed


def test_an_unknown_function_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        code.main(["cube"])
    assert "there is no function cube; expected one of scale_rows" in capsys.readouterr().err
