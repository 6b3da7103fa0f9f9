"""What kernels in C say, how their compilers read them, and what only C decides."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzzing.kernel_search import STRICT
from indexing import MapError
from ops import hlo
from ops.kernels import KernelError
from tests.cases import for_all, rows
from tests.extent import in_ci
from tests.kernels import fusions
from tests.kernels.fusions import CHAINS, Array, chain, emitted, fusions_of, kernel_of

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")


def pointers(*arrays: Array) -> list[ctypes.c_void_p]:
    return [each.ctypes.data_as(ctypes.c_void_p) for each in arrays]


def compiled(texts: Sequence[str], folder: Path, *flags: str) -> ctypes.CDLL:
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text("".join(texts))
    optimised = ("-std=c11", *STRICT, "-O1", "-fopenmp-simd", *flags)
    command = ["cc", *optimised, "-shared", "-fPIC", "-o", str(target), str(source), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


@needs_compiler
def test_every_float_is_rounded_to_the_nearest_bfloat(tmp_path: Path) -> None:
    """Of two that are as near, to the even one; what is no number stays none."""
    body = "x = f32[65536] parameter(0) ROOT y = bf16[65536] convert(x)"
    kernel = compiled([kernel_of(body)], tmp_path).kernel
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        bits = high | np.uint32(low)
        found = np.empty(1 << 16, np.uint16)
        kernel(*pointers(bits, found))
        odd = (bits >> 16) & 1
        nearest = ((bits.astype(np.uint64) + 0x7FFF + odd) >> 16).astype(np.uint16)
        is_number = ~np.isnan(bits.view(np.float32))
        assert (found[is_number] == nearest[is_number]).all()
        nans = (found[~is_number].astype(np.uint32) << 16).view(np.float32)
        assert np.isnan(nans).all()


def entries_by_nvcc(texts: Sequence[str], folder: Path) -> int:
    """The kernels that are in what NVIDIA's compiler makes of all texts."""
    source, target = folder / "kernels.cu", folder / "kernels.ptx"
    source.write_text("".join(texts))
    command = ["nvcc", "-ptx", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_text().count(".entry")


@in_ci
@needs_nvcc
def test_chains_are_read_by_nvcc(tmp_path: Path) -> None:
    computations = [chain(body) for body in (*CHAINS.values(), *fusions.SMALL.values())]
    texts = [text for _, text in emitted(computations, "cuda").values()]
    assert entries_by_nvcc(texts, tmp_path) == len(computations)


@pytest.mark.parametrize(("body", "message"), rows("""
x = c64[3] parameter(0) ROOT y = c64[3] negate(x) => %y: the element type of c64
x = f32[3,3] parameter(0) ROOT y = f32[3,3] cholesky(x) => %y: cholesky of f32
x = f32[3] parameter(0) ROOT y = f8e5m2[3] convert(x) => %y: the element type of f8e5m2
x = f32[5] parameter(0) a = (f32[5], f32[5]) call(x, x), to_apply=pair
        b = f32[5] get-tuple-element(a), index=0 ROOT c = (f32[5], f32[5]) call(b, x), to_apply=pair
    %b: its computation is called at several places
x = f32[0] parameter(0) ROOT y = f32[0] negate(x) => %y: an array without elements
ROOT y = f32[2] constant({1, 2}) => %y: a constant array of different values
x = f32[?,8]{1,0:T(2,2)} parameter(0) ROOT y = f32[?,8] negate(x)
    %x: the steps between elements of f32.* are unknown
x = f32[4] parameter(0) c = f32[] constant(0) p = f32[6] pad(x, c), padding=1_1
        ROOT y = s16[12] bitcast(p) => %y: bitcast
x = f32[4] parameter(0) c = f32[] constant(0)
        ROOT y = f32[] reduce(x, c), dimensions={0}, to_apply=total
    %y: compare in its computation
"""))  # fmt: skip
def test_what_is_not_emitted_is_refused_with_its_instruction(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=f"emit_kernel: {message}"):
        kernel_of(body)


@pytest.mark.parametrize("language", ["c", "cuda", "triton", "numpy"])
def test_sizes_that_are_not_known_are_refused(language: str) -> None:
    body = """x = f32[8] parameter(0) s = s32[] parameter(1) n = s32[] abs(s)
        ROOT y = f32[<=8] set-dimension-size(x, n), dimensions={0}"""
    message = "emit_kernel: %n: the kernel computes it, and it is the size n of an array"
    with pytest.raises(KernelError, match=message):
        kernel_of(body, language)


@in_ci
def test_most_fusions_of_real_modules_are_emitted() -> None:
    """The others have dots, gathers, sorts, or types that C does not have."""
    found = [fusions_of(name) for name in fusions.RUNNABLE]
    count = sum(len(emitted(each, "c")) for each in found)
    assert count >= 0.55 * sum(map(len, found))


def test_loops_have_nothing_in_them_that_may_stand_outside() -> None:
    """Reductions that they do not change, and divisions that splitting them spares."""
    text = kernel_of(CHAINS["softmax"])
    assert text.index("peak") < text.index("for (int32_t d1")
    assert not {*"/%"} & {*kernel_of(CHAINS["heads apart"])}


def test_conditions_ask_what_can_be_false_and_what_is_inside_is_not_filled() -> None:
    body = """x = f32[4] parameter(0) y = f32[3] parameter(1)
        ROOT z = f32[7] concatenate(x, y), dimensions={0}"""
    assert re.findall(r"if \((.*)\)", kernel_of(body)) == ["d0 < 4", "d0 >= 4"]
    text = kernel_of("""x = f32[2,5,7] parameter(0) c = f32[] constant(3)
        ROOT p = f32[2,6,7] pad(x, c), padding=0_0x1_0x0_0""")
    assert re.findall(r"(\w+) < (\d+); \+\+", text) == [("d0", "2"), ("i", "7"), ("d1", "35")]


def test_unknown_languages_and_names_that_c_cannot_use_are_refused() -> None:
    with pytest.raises(KernelError, match="language is 'basic'; expected c, cuda"):
        kernel_of(CHAINS["softmax"], "basic")
    with pytest.raises(MapError, match="emit_kernel: 'a b' cannot name a function"):
        kernel_of(CHAINS["softmax"], name="a b")


@needs_compiler
def test_a_sum_of_truths_is_whether_one_is_true(tmp_path: Path) -> None:
    module = hlo.parse("""
        any { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] add(a, b) }
        ENTRY e { x = pred[256] parameter(0) none = pred[] constant(false)
          ROOT r = pred[] reduce(x, none), dimensions={0}, to_apply=any }""")
    kernel = compiled([kernel_of(module.entry)], tmp_path, "-O3").kernel
    result = np.zeros((), np.uint8)
    row = np.ones(256, np.uint8)
    kernel(*pointers(row, result))
    assert result == 1


@needs_compiler
@pytest.mark.parametrize("lines", [
    "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=maximum",
    "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=minimum",
    """zs = f32[40] broadcast(z), dimensions={} m = f32[40] maximum(x, zs)
        n = f32[40] minimum(zs, m) ROOT r = f32[] reduce(n, z), dimensions={0}, to_apply=add""",
], ids=["maximum", "minimum", "beside a number"])  # fmt: skip
def test_no_number_is_kept_wherever_it_stands(lines: str, tmp_path: Path) -> None:
    folds = "".join(
        f"{fold} {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] {fold}(a, b) }}\n"
        for fold in ("maximum", "minimum", "add")
    )
    body = f"ENTRY e {{ x = f32[40] parameter(0) z = f32[] constant(0) {lines} }}"
    kernel = compiled([kernel_of(hlo.parse(folds + body).entry)], tmp_path, "-O3").kernel
    result = np.zeros((), np.float32)
    for place in range(40):
        row = np.linspace(-1, 1, 40, dtype=np.float32)
        row[place] = np.nan
        kernel(*pointers(row, result))
        assert np.isnan(result), place


@for_all(fusions.JOINED)
def test_dimensions_are_one_loop_where_they_can(body: str, sizes: list[int]) -> None:
    assert [int(size) for size in re.findall(r"d\d+ < (\d+); \+\+", kernel_of(body))] == sizes
