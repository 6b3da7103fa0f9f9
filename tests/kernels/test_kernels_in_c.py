"""Kernels of fusions in C, compiled and compared with what JAX computes, element by element."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from indexing import MapError
from ops import hlo
from ops.hlo import Computation
from ops.kernels import KernelError
from ops.kernels.operations import SMALL_FLOATS
from tests.extent import in_ci
from tests.kernels.fusions import (
    CHAINS,
    RUNNABLE,
    SMALL,
    Array,
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
    runs_in_jax,
)
from tests.ops import oracle
from tests.texts import texts_with_values

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")


def check(library: ctypes.CDLL, name: str, computation: Computation) -> None:
    right = oracle.program(alone(computation))(*operands_of(computation))
    expected = held_results(computation, right)
    results = [np.full_like(each, 55) for each in expected]
    getattr(library, name)(*pointers(*held_operands(computation), *results))
    is_small = any(each.element_type in SMALL_FLOATS for each in computation.root.shape.arrays)
    for found, wanted in zip(results, expected, strict=True):
        check_close(found, wanted, is_small)


def pointers(*arrays: Array) -> list[ctypes.c_void_p]:
    return [each.ctypes.data_as(ctypes.c_void_p) for each in arrays]


STRICT = ("-std=c11", "-Wall", "-Werror", "-Wno-unused-variable", "-O1", "-fopenmp-simd")
SANITIZED = ("-fsanitize=undefined", "-fno-sanitize-recover")


def compiled(texts: Sequence[str], folder: Path, *flags: str) -> ctypes.CDLL:
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text("".join(texts))
    command = ["cc", *STRICT, *flags, "-shared", "-fPIC", "-o", str(target), str(source), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_compute_what_jax_does(name: str, tmp_path: Path) -> None:
    kernels = emitted([each for each in fusions_of(name) if runs_in_jax(each)], "c")
    if not kernels:
        return
    library = compiled([text for _, text in kernels.values()], tmp_path)
    for computation, (kernel, _) in kernels.items():
        check(library, kernel, computation)


def check_alone(computation: Computation, folder: Path, *flags: str) -> None:
    check(compiled([kernel_of(computation)], folder, *flags), "kernel", computation)


@needs_compiler
@pytest.mark.needs("jax")
@by_chain
def test_chains_compute_what_jax_does(body: str, tmp_path: Path) -> None:
    check_alone(chain(body), tmp_path, *SANITIZED)


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("body", SMALL.values(), ids=SMALL)
def test_floats_of_16_bits_are_stored_as_such(body: str, tmp_path: Path) -> None:
    check_alone(chain(body), tmp_path)


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
    computations = [chain(body) for body in (*CHAINS.values(), *SMALL.values())]
    texts = [text for _, text in emitted(computations, "cuda").values()]
    assert entries_by_nvcc(texts, tmp_path) == len(computations)


REFUSED = [
    ("x = c64[3] parameter(0) ROOT y = c64[3] negate(x)", "%y: the element type of c64"),
    ("x = f32[3,3] parameter(0) ROOT y = f32[3,3] cholesky(x)", "%y: cholesky of f32"),
    ("x = f32[3] parameter(0) ROOT y = s32[3] convert(x)", "%y: convert of s32"),
    ("x = f32[0] parameter(0) ROOT y = f32[0] negate(x)", "%y: an array without elements"),
    ("ROOT y = f32[2] constant({1, 2})", "%y: a constant array of different values"),
    (
        "x = f32[?,8]{1,0:T(2,2)} parameter(0) ROOT y = f32[?,8] negate(x)",
        "%x: the steps between elements of f32.* are unknown",
    ),
    (
        """x = f32[4] parameter(0) c = f32[] constant(0) p = f32[6] pad(x, c), padding=1_1
        ROOT y = s32[6] bitcast(p)""",
        "%y: a bitcast to another element type",
    ),
    (
        """x = f32[4] parameter(0) c = f32[] constant(0)
        ROOT y = f32[] reduce(x, c), dimensions={0}, to_apply=total""",
        "%y: compare in its computation",
    ),
]


@pytest.mark.parametrize(("body", "message"), REFUSED)
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
    found = [fusions_of(name) for name in RUNNABLE]
    count = sum(len(emitted(each, "c")) for each in found)
    assert count >= 0.55 * sum(map(len, found))


def test_reductions_are_computed_outside_of_loops_that_do_not_change_them() -> None:
    text = kernel_of(CHAINS["softmax"])
    assert text.index("peak") < text.index("for (int32_t d1")


def test_loops_are_split_where_that_spares_divisions() -> None:
    text = kernel_of(CHAINS["heads apart"])
    assert "/" not in text
    assert "%" not in text


def test_conditions_ask_what_can_be_false() -> None:
    body = """x = f32[4] parameter(0) y = f32[3] parameter(1)
        ROOT z = f32[7] concatenate(x, y), dimensions={0}"""
    text = kernel_of(body)
    assert re.findall(r"if \((.*)\)", text) == ["d0 < 4", "d0 >= 4"]


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(KernelError, match="language is 'basic'; expected c, cuda"):
        kernel_of(CHAINS["softmax"], "basic")


def test_a_name_that_c_cannot_use_is_refused() -> None:
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


KEEPING_NAN = {
    "the maximum of a row": "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=maximum",
    "the minimum of a row": "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=minimum",
    "beside a number": """zs = f32[40] broadcast(z), dimensions={} m = f32[40] maximum(x, zs)
        n = f32[40] minimum(zs, m) ROOT r = f32[] reduce(n, z), dimensions={0}, to_apply=add""",
}


@needs_compiler
@pytest.mark.parametrize("lines", KEEPING_NAN.values(), ids=KEEPING_NAN)
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


JOINED = texts_with_values("""
# all that is read moves along them as along one | [30, 7]
x = f32[5,6,7] parameter(0) y = f32[7] parameter(1)
b = f32[5,6,7] broadcast(y), dimensions={2} ROOT s = f32[5,6,7] add(x, b)
# what is read twice is read once | [5, 42]
x = f32[5,6,7] parameter(0) y = f32[5] parameter(1)
b = f32[5,6,7] broadcast(y), dimensions={0} ROOT s = f32[5,6,7] add(x, b)
# an index that counts one of them | [5, 6]
x = f32[5,6] parameter(0) i = f32[5,6] iota(), iota_dimension=1
ROOT s = f32[5,6] add(x, i)
# a border | [5, 7, 7]
x = f32[5,6,7] parameter(0) y = f32[5,1,7] parameter(1)
ROOT s = f32[5,7,7] concatenate(x, y), dimensions={1}
""")


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize(("body", "sizes"), JOINED.values(), ids=JOINED)
def test_dimensions_are_one_loop_where_nothing_tells_them_apart(
    body: str, sizes: list[int], tmp_path: Path
) -> None:
    assert [int(size) for size in re.findall(r"d\d+ < (\d+); \+\+", kernel_of(body))] == sizes
    check_alone(chain(body), tmp_path)


BORDERS = {
    "shifted and cut": """p = f32[3,6,9] pad(x, c), padding=0_0x1_0x2_0
        ROOT s = f32[3,6,7] slice(p), slice={[0:3], [0:6], [1:8]}""",
    "cut in front": """p = f32[3,7,9] pad(x, c), padding=0_0x1_1x2_0
        ROOT s = f32[2,6,5] slice(p), slice={[1:3], [1:7], [4:9]}""",
    "whole rows": "ROOT p = f32[3,8,7] pad(x, c), padding=0_0x1_2x0_0",
    "whole rows, cut": """p = f32[3,8,7] pad(x, c), padding=0_0x1_2x0_0
        ROOT s = f32[3,5,6] slice(p), slice={[0:3], [3:8], [1:7]}""",
    "in front only": "ROOT p = f32[4,5,7] pad(x, c), padding=1_0x0_0x0_0",
    "negative": "ROOT p = f32[3,4,9] pad(x, c), padding=0_0x-1_0x1_1",
    "turned": """p = f32[3,5,9] pad(x, c), padding=0_0x0_0x1_1
        ROOT t = f32[9,3,5] transpose(p), dimensions={2,0,1}""",
    "laid out in another order": """p = f32[3,5,9] pad(x, c), padding=0_0x0_0x1_1
        ROOT t = f32[3,5,9]{0,1,2} copy(p)""",
    "padded columns": "ROOT p = f32[3,6,9]{0,2,1} pad(x, c), padding=0_0x1_0x1_1",
    "with holes": "ROOT p = f32[3,9,9] pad(x, c), padding=0_0x0_0_1x1_1",
    "backwards": """p = f32[3,5,9] pad(x, c), padding=0_0x0_0x2_0
        ROOT r = f32[3,5,9] reverse(p), dimensions={2}""",
    "as one row": """p = f32[3,5,9] pad(x, c), padding=0_0x0_0x2_0
        ROOT r = f32[135] reshape(p)""",
    "of a sum": """y = f32[3,5,7] add(x, x)
        ROOT p = f32[3,6,9] pad(y, c), padding=0_0x1_0x1_1""",
}


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("body", BORDERS.values(), ids=BORDERS)
def test_borders_are_written_once_and_what_is_inside_too(body: str, tmp_path: Path) -> None:
    computation = chain(f"x = f32[3,5,7] parameter(0) c = f32[] constant(3) {body}")
    check_alone(computation, tmp_path, *SANITIZED)


def test_what_is_inside_is_not_filled_before() -> None:
    body = """x = f32[2,5,7] parameter(0) c = f32[] constant(3)
        ROOT p = f32[2,6,7] pad(x, c), padding=0_0x1_0x0_0"""
    text = kernel_of(body)
    assert re.findall(r"(\w+) < (\d+); \+\+", text) == [("d0", "2"), ("i", "7"), ("d1", "35")]
