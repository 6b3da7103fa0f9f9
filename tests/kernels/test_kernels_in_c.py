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
from ops import Fusion, emit_kernel, hlo
from ops.hlo import Computation
from ops.kernels import KernelError
from ops.kernels.operations import SMALL_FLOATS
from tests.extent import in_ci
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
    in_memory,
    operands_of,
    runs_in_jax,
)
from tests.ops import oracle

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")


def check(library: ctypes.CDLL, name: str, computation: Computation) -> None:
    operands = operands_of(computation)
    right = oracle.program(alone(computation))(*operands)
    shapes = computation.root.shape.arrays
    expected = [in_memory(each, shape) for each, shape in zip(right, shapes, strict=True)]
    results = [np.full_like(each, 55) for each in expected]
    pairs = zip(operands, computation.parameters, strict=True)
    held = [in_memory(each, parameter.shape) for each, parameter in pairs]
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (*held, *results)]
    getattr(library, name)(*pointers)
    is_small = any(array.element_type in SMALL_FLOATS for array in shapes)
    for found, wanted in zip(results, expected, strict=True):
        check_close(found, wanted, is_small)


def compiled(texts: Sequence[str], folder: Path, *flags: str) -> ctypes.CDLL:
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text("".join(texts))
    strict = [
        "-std=c11",
        "-Wall",
        "-Werror",
        "-Wno-unused-variable",
        "-O1",
        "-fopenmp-simd",
        *flags,
    ]
    command = ["cc", *strict, "-shared", "-fPIC", "-o", str(target), str(source), "-lm"]
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


@needs_compiler
@pytest.mark.needs("jax")
@by_chain
def test_chains_compute_what_jax_does(body: str, tmp_path: Path) -> None:
    computation = chain(body)
    text = emit_kernel(Fusion.of_computation(computation))
    flags = ("-fsanitize=undefined", "-fno-sanitize-recover")
    check(compiled([text], tmp_path, *flags), "kernel", computation)


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize("body", SMALL.values(), ids=SMALL)
def test_floats_of_16_bits_are_stored_as_such(body: str, tmp_path: Path) -> None:
    computation = chain(body)
    text = emit_kernel(Fusion.of_computation(computation))
    check(compiled([text], tmp_path), "kernel", computation)


@needs_compiler
def test_every_float_is_rounded_to_the_nearest_bfloat(tmp_path: Path) -> None:
    """Of two that are as near, to the even one; what is no number stays none."""
    body = "x = f32[65536] parameter(0) ROOT y = bf16[65536] convert(x)"
    kernel = compiled([emit_kernel(Fusion.of_computation(chain(body)))], tmp_path).kernel
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        bits = high | np.uint32(low)
        found = np.empty(1 << 16, np.uint16)
        kernel(*(each.ctypes.data_as(ctypes.c_void_p) for each in (bits, found)))
        odd = (bits >> 16) & 1
        nearest = ((bits.astype(np.uint64) + 0x7FFF + odd) >> 16).astype(np.uint16)
        is_number = ~np.isnan(bits.view(np.float32))
        assert (found[is_number] == nearest[is_number]).all()
        nans = (found[~is_number].astype(np.uint32) << 16).view(np.float32)
        assert np.isnan(nans).all()


@in_ci
@needs_nvcc
def test_chains_are_read_by_nvcc(tmp_path: Path) -> None:
    computations = [chain(body) for body in (*dict(CHAINS).values(), *SMALL.values())]
    source = tmp_path / "kernels.cu"
    source.write_text("".join(text for _, text in emitted(computations, "cuda").values()))
    command = ["nvcc", "-ptx", "-o", str(tmp_path / "kernels.ptx"), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    written = (tmp_path / "kernels.ptx").read_text()
    assert written.count(".entry") == len(computations)


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

UNKNOWN_SIZES = [
    (
        """x = f32[8] parameter(0) s = s32[] parameter(1) n = s32[] abs(s)
        ROOT y = f32[<=8] set-dimension-size(x, n), dimensions={0}""",
        "%n: the kernel computes it, and it is the size n of an array",
    )
]


@pytest.mark.parametrize("language", ["c", "cuda", "triton", "numpy"])
@pytest.mark.parametrize(("body", "message"), UNKNOWN_SIZES)
def test_sizes_that_are_not_known_are_refused(body: str, message: str, language: str) -> None:
    with pytest.raises(KernelError, match=f"emit_kernel: {message}"):
        emit_kernel(Fusion.of_computation(chain(body)), language)


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_what_is_not_emitted_is_refused_with_its_instruction(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=f"emit_kernel: {message}"):
        emit_kernel(Fusion.of_computation(chain(body)))


@in_ci
def test_most_fusions_of_real_modules_are_emitted() -> None:
    """The others have dots, gathers, sorts, or types that C does not have."""
    found = [fusions_of(name) for name in RUNNABLE]
    count = sum(len(emitted(each, "c")) for each in found)
    assert count >= 0.55 * sum(map(len, found))


def test_reductions_are_computed_outside_of_loops_that_do_not_change_them() -> None:
    text = emit_kernel(Fusion.of_computation(chain(CHAINS[0][1])))
    assert text.index("peak") < text.index("for (int32_t d1")


def test_loops_are_split_where_that_spares_divisions() -> None:
    text = emit_kernel(Fusion.of_computation(chain(CHAINS[8][1])))
    assert "/" not in text
    assert "%" not in text


def test_conditions_ask_what_can_be_false() -> None:
    body = """x = f32[4] parameter(0) y = f32[3] parameter(1)
        ROOT z = f32[7] concatenate(x, y), dimensions={0}"""
    text = emit_kernel(Fusion.of_computation(chain(body)))
    assert re.findall(r"if \((.*)\)", text) == ["d0 < 4", "d0 >= 4"]


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(KernelError, match="language is 'basic'; expected c, cuda"):
        emit_kernel(Fusion.of_computation(chain(CHAINS[0][1])), "basic")


def test_a_name_that_c_cannot_use_is_refused() -> None:
    with pytest.raises(MapError, match="emit_kernel: 'a b' cannot name a function"):
        emit_kernel(Fusion.of_computation(chain(CHAINS[0][1])), name="a b")


@needs_compiler
def test_a_sum_of_truths_is_whether_one_is_true(tmp_path: Path) -> None:
    text = emit_kernel(
        Fusion.of_computation(
            hlo.parse("""
            any { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] add(a, b) }
            ENTRY e { x = pred[256] parameter(0) none = pred[] constant(false)
              ROOT r = pred[] reduce(x, none), dimensions={0}, to_apply=any }""").entry
        )
    )
    kernel = compiled([text], tmp_path, "-O3").kernel
    result = np.zeros((), np.uint8)
    row = np.ones(256, np.uint8)
    kernel(*(each.ctypes.data_as(ctypes.c_void_p) for each in (row, result)))
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
    text = emit_kernel(Fusion.of_computation(hlo.parse(folds + body).entry))
    kernel = compiled([text], tmp_path, "-O3").kernel
    result = np.zeros((), np.float32)
    for place in range(40):
        row = np.linspace(-1, 1, 40, dtype=np.float32)
        row[place] = np.nan
        kernel(*(each.ctypes.data_as(ctypes.c_void_p) for each in (row, result)))
        assert np.isnan(result), place


JOINED = {
    "all that is read moves along them as along one": (
        """x = f32[5,6,7] parameter(0) y = f32[7] parameter(1)
        b = f32[5,6,7] broadcast(y), dimensions={2} ROOT s = f32[5,6,7] add(x, b)""",
        [30, 7],
    ),
    "what is read twice is read once": (
        """x = f32[5,6,7] parameter(0) y = f32[5] parameter(1)
        b = f32[5,6,7] broadcast(y), dimensions={0} ROOT s = f32[5,6,7] add(x, b)""",
        [5, 42],
    ),
    "an index that counts one of them": (
        """x = f32[5,6] parameter(0) i = f32[5,6] iota(), iota_dimension=1
        ROOT s = f32[5,6] add(x, i)""",
        [5, 6],
    ),
    "a border": (
        """x = f32[5,6,7] parameter(0) y = f32[5,1,7] parameter(1)
        ROOT s = f32[5,7,7] concatenate(x, y), dimensions={1}""",
        [5, 7, 7],
    ),
}


@needs_compiler
@pytest.mark.needs("jax")
@pytest.mark.parametrize(("body", "sizes"), JOINED.values(), ids=JOINED)
def test_dimensions_are_one_loop_where_nothing_tells_them_apart(
    body: str, sizes: list[int], tmp_path: Path
) -> None:
    computation = chain(body)
    text = emit_kernel(Fusion.of_computation(computation))
    assert [int(size) for size in re.findall(r"d\d+ < (\d+); \+\+", text)] == sizes
    check(compiled([text], tmp_path), "kernel", computation)


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
    text = emit_kernel(Fusion.of_computation(computation))
    flags = ("-fsanitize=undefined", "-fno-sanitize-recover")
    check(compiled([text], tmp_path, *flags), "kernel", computation)


def test_what_is_inside_is_not_filled_before() -> None:
    body = """x = f32[2,5,7] parameter(0) c = f32[] constant(3)
        ROOT p = f32[2,6,7] pad(x, c), padding=0_0x1_0x0_0"""
    text = emit_kernel(Fusion.of_computation(chain(body)))
    assert re.findall(r"(\w+) < (\d+); \+\+", text) == [("d0", "2"), ("i", "7"), ("d1", "35")]
