"""Kernels of fusions in C, compiled and compared with what JAX computes, element by element."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from indexing import MapError
from indexing.layout import Kind
from ops import Fusion, emit_kernel, hlo
from ops.hlo import HloModule
from ops.kernels import KernelError
from tests.hlo.modules import NAMES, module_text
from tests.ops import oracle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from indexing.layout import Shape
    from ops.hlo import Computation

Array = np.ndarray[Any, Any]

METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}')

RUNNABLE = [name for name in NAMES if name.startswith(("cpu/", "gpu/"))]
"""Modules whose arrays are not tiled: memory has their elements alone."""

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")


def emitted(computations: Sequence[Computation], language: str = "c") -> dict[Computation, str]:
    """The kernels of those that can be emitted; what is refused says which instruction, and why."""
    found: dict[Computation, str] = {}
    for number, each in enumerate(computations):
        with suppress(KernelError):
            found[each] = emit_kernel(Fusion.of_computation(each), language, f"kernel{number}")
    return found


def fusions_of(name: str) -> list[Computation]:
    """The computations of the fusions of a module."""
    instructions = hlo.parse(module_text(name)).instructions
    called = (each.attributes["calls"] for each in instructions if each.opcode == "fusion")
    return list(dict.fromkeys(called))


def alone(computation: Computation) -> str:
    """The text of a module that is this computation and what it calls."""
    called: dict[Computation, None] = {}

    def visit(each: Computation) -> None:
        for instruction in each.instructions:
            for inner in instruction.computations:
                visit(inner)
        called[each] = None

    visit(computation)
    text = str(HloModule("alone", tuple(called), computation, {}, ""))
    return METADATA.sub("", text).replace(" bitcast(", " reshape(")


def runs_in_jax(computation: Computation) -> bool:
    """Whether JAX can run it by itself: on the CPU, a bitcast is only run as the reshape it is."""
    is_plain = all(
        minor_to_major(array) == tuple(range(array.rank))[::-1]
        for each in computation.instructions
        for array in each.shape.arrays
    )
    return is_plain or all(each.opcode != "bitcast" for each in computation.instructions)


def drawn(shape: Shape, random: np.random.Generator) -> Array:
    if shape.element_type.kind is Kind.FLOAT:
        return random.normal(size=shape.dimensions).astype(oracle.dtype_of(shape))
    return random.integers(
        0, 2 + 5 * (shape.element_type.kind is not Kind.BOOLEAN), shape.dimensions
    ).astype(oracle.dtype_of(shape))


def in_memory(values: Array, shape: Shape) -> Array:
    """The elements in the order of the layout."""
    return np.ascontiguousarray(values.transpose(minor_to_major(shape)[::-1]))


def minor_to_major(shape: Shape) -> tuple[int, ...]:
    return shape.layout.minor_to_major if shape.layout else tuple(range(shape.rank))[::-1]


def check(library: ctypes.CDLL, name: str, computation: Computation) -> None:
    random = np.random.default_rng(7)
    shapes = [each.shape for each in computation.parameters]
    operands = [drawn(shape, random) for shape in shapes]
    right = oracle.program(alone(computation))(*operands)
    results = [
        np.empty(in_memory(each, array).shape, each.dtype)
        for each, array in zip(right, computation.root.shape.arrays, strict=True)
    ]
    held = [in_memory(each, shape) for each, shape in zip(operands, shapes, strict=True)]
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (*held, *results)]
    getattr(library, name)(*pointers)
    for found, each, array in zip(results, right, computation.root.shape.arrays, strict=True):
        expected = in_memory(each, array)
        if array.element_type.kind is Kind.FLOAT:
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(found, expected)


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
    kernels = emitted([each for each in fusions_of(name) if runs_in_jax(each)])
    if not kernels:
        return
    library = compiled(list(kernels.values()), tmp_path)
    for computation, text in kernels.items():
        (kernel,) = re.findall(r"void (kernel\d+)\(", text)
        check(library, kernel, computation)


REDUCERS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
arg { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  less = pred[] compare(a, b), direction=GT
  value = f32[] select(less, a, b) place = s32[] select(less, i, j)
  ROOT r = (f32[], s32[]) tuple(value, place) }
total { a = f32[] parameter(0) b = f32[] parameter(1)
  less = pred[] compare(a, b), direction=GT, type=TOTALORDER ROOT r = f32[] select(less, a, b) }
"""

CHAINS = [
    (
        "softmax",
        """x = f32[5,37] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
        peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
        peaks = f32[5,37] broadcast(peak), dimensions={0} less = f32[5,37] subtract(x, peaks)
        grown = f32[5,37] exponential(less)
        total = f32[5] reduce(grown, zero), dimensions={1}, to_apply=add
        totals = f32[5,37] broadcast(total), dimensions={0}
        ROOT share = f32[5,37] divide(grown, totals)""",
    ),
    (
        "pad inside, between and behind",
        """x = f32[4,8] parameter(0) c = f32[] constant(3)
        ROOT d = f32[6,18] pad(x, c), padding=1_1x1_2_1""",
    ),
    (
        "negative pad",
        """x = f32[4,8] parameter(0) c = f32[] constant(3)
        ROOT d = f32[3,7] pad(x, c), padding=-1_0x1_-2""",
    ),
    (
        "concatenate of pad",
        """x = f32[4,8] parameter(0) y = f32[3,10] parameter(1) c = f32[] constant(3)
        d = f32[4,10] pad(x, c), padding=0_0x1_1 n = f32[3,10] negate(y)
        ROOT both = f32[7,10] concatenate(d, n), dimensions={0}""",
    ),
    (
        "windows with dilation",
        """x = f32[9,11] parameter(0) zero = f32[] constant(0)
        ROOT r = f32[8,11] reduce-window(x, zero),
        window={size=2x3 stride=2x2 pad=0_1x2_1 lhs_dilate=2x2 rhs_dilate=2x1}, to_apply=add""",
    ),
    (
        "max pool",
        """x = f32[2,9,9,3] parameter(0) low = f32[] constant(-inf)
        ROOT r = f32[2,5,5,3] reduce-window(x, low),
        window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}, to_apply=max""",
    ),
    (
        "two values at once",
        """x = f32[6,7] parameter(0) low = f32[] constant(-inf) none = s32[] constant(-1)
        i = s32[6,7] iota(), iota_dimension=1
        ROOT r = (f32[6], s32[6]) reduce(x, i, low, none), dimensions={1}, to_apply=arg""",
    ),
    (
        "columns",
        """x = f32[6,7] parameter(0) zero = f32[] constant(0)
        ROOT r = f32[7] reduce(x, zero), dimensions={0}, to_apply=add""",
    ),
    (
        "heads apart",
        """x = f32[8,48] parameter(0) cut = f32[8,3,16] reshape(x)
        turned = f32[3,8,16] transpose(cut), dimensions={1,0,2}
        ROOT flat = f32[384] reshape(turned)""",
    ),
    (
        "no powers",
        """x = f32[6,10] parameter(0) flat = f32[60] reshape(x)
        back = f32[60] reverse(flat), dimensions={0}
        ROOT cut = f32[4,15] reshape(back)""",
    ),
    (
        "two results",
        """x = s32[6,10] parameter(0) y = s32[6,10] multiply(x, x) z = f32[6,10] convert(x)
        t = f32[10,6] transpose(z), dimensions={1,0}
        ROOT both = (s32[6,10], f32[10,6]) tuple(y, t)""",
    ),
    (
        "layouts",
        """x = f32[6,10]{0,1} parameter(0) c = f32[6,10]{1,0} copy(x)
        ROOT s = f32[3,5]{0,1} slice(c), slice={[0:6:2], [1:10:2]}""",
    ),
    ("one element", "x = f32[] parameter(0) ROOT y = f32[] tanh(x)"),
    (
        "names of C",
        "float = f32[3] parameter(0) int.1 = f32[3] negate(float) ROOT d0 = f32[3] sine(int.1)",
    ),
    (
        "names of functions",
        "expf = f32[3] parameter(0) NAN = f32[3] exponential(expf) ROOT tanhf = f32[3] tanh(NAN)",
    ),
]
by_chain = pytest.mark.parametrize("body", [r[1] for r in CHAINS], ids=[r[0] for r in CHAINS])


def chain(body: str) -> Computation:
    return hlo.parse(f"HloModule m\n{REDUCERS}\nENTRY e {{ {body} }}").entry


@needs_compiler
@pytest.mark.needs("jax")
@by_chain
def test_chains_compute_what_jax_does(body: str, tmp_path: Path) -> None:
    computation = chain(body)
    text = emit_kernel(Fusion.of_computation(computation))
    flags = ("-fsanitize=undefined", "-fno-sanitize-recover")
    check(compiled([text], tmp_path, *flags), "kernel", computation)


@needs_nvcc
def test_chains_are_read_by_nvcc(tmp_path: Path) -> None:
    computations = [chain(body) for _, body in CHAINS]
    source = tmp_path / "kernels.cu"
    source.write_text("".join(emitted(computations, "cuda").values()))
    command = ["nvcc", "-ptx", "-o", str(tmp_path / "kernels.ptx"), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    written = (tmp_path / "kernels.ptx").read_text()
    assert written.count(".entry") == len(CHAINS)


REFUSED = [
    ("x = c64[3] parameter(0) ROOT y = c64[3] negate(x)", "%y: the element type of c64"),
    ("x = f32[3,3] parameter(0) ROOT y = f32[3,3] cholesky(x)", "%y: cholesky of f32"),
    ("x = f32[3] parameter(0) ROOT y = s32[3] convert(x)", "%y: convert of s32"),
    ("x = f32[0] parameter(0) ROOT y = f32[0] negate(x)", "%y: an array without elements"),
    ("ROOT y = f32[2] constant({1, 2})", "%y: a constant array of different values"),
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
        emit_kernel(Fusion.of_computation(chain(body)))


def test_most_fusions_of_real_modules_are_emitted() -> None:
    """The others have dots, gathers, sorts, or types that C does not have."""
    found = [fusions_of(name) for name in RUNNABLE]
    count = sum(len(emitted(each)) for each in found)
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
