"""Kernels of Triton in its own interpreter, beside the stand-in; and what it gets wrong itself."""

# pyright: basic
# Triton and torch are untyped.

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.triton_code import imported, lowered
from tests.cases import texts
from tests.kernels import fusions
from tests.kernels.fusions import chain, check_close, kernel_of
from tests.kernels.triton_stand_in import run
from tests.ops import oracle

pytestmark = [pytest.mark.needs("torch"), pytest.mark.needs("triton")]

ROUNDED = texts("""
# rounded sums
x = bf16[64] parameter(0) y = bf16[64] parameter(1) ROOT s = bf16[64] add(x, y)
# rounded on the way
x = f32[64] parameter(0) y = bf16[64] convert(x) z = f32[64] convert(y)
ROOT s = f32[64] multiply(z, x)
# integers without a sign
x = u8[64] parameter(0) y = u32[64] convert(x) z = u32[64] negate(y) q = u32[64] divide(z, y)
ROOT s = u32[64] shift-right-logical(q, y)
""")
BODIES = fusions.CHAINS | ROUNDED | {name: body for name, (body, _) in fusions.JOINED.items()}

TRUNCATED = 2**-7
"""The interpreter cuts a bfloat16 off, see the first fault below; GPUs round to the nearest."""


def interpreted(text: str, tensors: Sequence[Any], programs: int, path: Path) -> None:
    kernel = imported(text, path / f"{path.name}.py").kernel
    with np.errstate(all="ignore"):
        kernel[(programs,)](*tensors)


@pytest.mark.parametrize("name", BODIES)
def test_kernels_compute_what_the_stand_in_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    torch: Any = importlib.import_module("torch")
    computation = chain(BODIES[name])
    text = kernel_of(computation, "triton")
    if "libdevice." in text:
        pytest.skip("the interpreter has no libdevice")
    drawn = zip(fusions.operands_of(computation), computation.parameters, strict=True)
    operands = [fusions.in_memory(values, each.shape).reshape(-1) for values, each in drawn]
    shapes = computation.root.shape.arrays
    expected = [np.zeros(each.element_count, oracle.dtype_of(each)) for each in shapes]
    found = [each.copy() for each in expected]
    run(text, "kernel", [*operands, *expected])
    arrays = [*operands, *found]
    bits = [torch.from_numpy(each.view(f"i{each.itemsize}")) for each in arrays]
    kinds = [getattr(torch, each.dtype.name) for each in arrays]
    tensors = [each.view(kind) for each, kind in zip(bits, kinds, strict=True)]
    interpreted(text, tensors, int(text.rpartition("kernel_programs = ")[2]), tmp_path)
    for one, other in zip(found, expected, strict=True):
        if "bf16" in BODIES[name]:
            np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=TRUNCATED)
        else:
            check_close(one, other)


FAULTS = {
    "a bfloat16 is cut off": (
        *("tl.load(x).to(tl.bfloat16)", "float32 fp32 bfloat16 bf16", 1.00585938),
        *(1.0, "cvt.rn.bf16"),
    ),
    "an integer is the bits of a bfloat16": (
        *("tl.load(x).to(tl.bfloat16)", "int16 i16 bfloat16 bf16", 0x3FC0),
        *(1.5, "cvt.rn.bf16"),
    ),
    "what has no sign has no complement": ("~tl.load(x)", "uint8 u8 uint8 u8", 3, None, "not.b"),
}
"""What is stored, of which types; of what, what the interpreter gives; and what a GPU runs."""


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_interpreter_are_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version of Triton without one fails here: then nothing has to be tolerated."""
    value, types, given, wrong, opcode = FAULTS[name]
    text = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x, y):\n"
    text += f"    tl.store(y, {value})\n"
    torch: Any = importlib.import_module("torch")
    of, type_of, to, type_to = types.split()
    compiled = imported(text, tmp_path / f"compiled_{tmp_path.name}.py").kernel
    assert opcode in lowered(compiled, [f"*{type_of}", f"*{type_to}"])
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    x, y = torch.tensor([given], dtype=getattr(torch, of)), torch.zeros(1, dtype=getattr(torch, to))
    if wrong is None:
        with pytest.raises(Exception, match="out of bounds for uint8"):
            interpreted(text, [x, y], 1, tmp_path)
    else:
        interpreted(text, [x, y], 1, tmp_path)
        assert y.item() == wrong
