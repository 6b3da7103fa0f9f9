"""Kernels by formula against the same kernels, run program by program on arrays."""

# pyright: reportUnknownMemberType=false
# Kernels by hand are untyped.

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from indexing import IndexingMap
from indexing.layout import ShapeError, linear
from indexing.layout.linear import LinearLayout, blocked, blocked_for, nvidia_mma
from ops.performance import A100
from ops.triton import KernelAccesses, TritonError, by_thread, read_kernel
from simplifier.errors import ArgumentError
from tests.carets import DrawnError
from tests.cases import for_all
from tests.indexing.tables import marked_errors, refusals
from tests.kernels.triton_stand_in import Pointer
from tests.triton import kernels_by_hand as by_hand
from tests.triton.tl_model import Touched, run

Values = dict[str, Any]

STRIDES = {"am": 7, "ak": 1, "bk": 1, "bn": 7, "cm": 10, "cn": 1}
MATMUL = {"M": 13, "N": 10, "K": 7, **{f"stride_{of}": step for of, step in STRIDES.items()}}
MATMUL_SIZES = {"BM": 4, "BN": 4, "BK": 4}
LAYER_NORM = {"stride": 12, "N": 10, "eps": 1}
ATTENTION = {"stride_h": 40, "stride_m": 4, "length": 10}
SOFTMAX = {"in_stride": 9, "out_stride": 6, "rows": 7, "columns": 6}
WHOLE = {"DEPTH": 4, "BLOCK_M": 4, "BLOCK_N": 4, "CAUSAL": False}
CAUSAL = {"DEPTH": 4, "BLOCK_M": 4, "BLOCK_N": 2, "CAUSAL": True}
MOVED = {"BLOCK": 4, "MODE": "move"}
STRIDED = {"STEP": 3, "BLOCK": 4}

CASES: dict[str, tuple[Any, str, Values, Values, tuple[int, ...]]] = {
    "add": (by_hand.add, "x_ptr y_ptr out_ptr", {"BLOCK": 8}, {"n": 19}, (3,)),
    "softmax": (by_hand.softmax, "in_ptr out_ptr", {"BLOCK": 8}, SOFTMAX, (3,)),
    "matmul": (by_hand.matmul, "a_ptr b_ptr c_ptr", MATMUL_SIZES, MATMUL, (12,)),
    "layer norm": (by_hand.layer_norm, "X Y W B Mean", {"BLOCK": 4}, LAYER_NORM, (3,)),
    "attention": (by_hand.attention, "Q K V Out", WHOLE, ATTENTION, (3, 2)),
    "causal attention": (by_hand.attention, "Q K V Out", CAUSAL, ATTENTION, (3, 2)),
    "branches": (by_hand.guarded, "x_ptr out_ptr", {"BLOCK": 4}, {"n": 14}, (6,)),
    "descriptors": (by_hand.transposed, "x_ptr out_ptr", {"BLOCK": 4}, {"M": 6, "N": 5}, (2, 2)),
    "bits": (by_hand.swizzled, "x_ptr out_ptr", MOVED, {}, (2,)),
    "loops in loops": (by_hand.strided, "x_ptr out_ptr", STRIDED, {"n": 5}, (2,)),
}
"""A kernel, its pointers, its constants, its numbers and its grid."""


def points_of(kernel: KernelAccesses, given: Values) -> dict[tuple[int, str, str], list[Touched]]:
    """What a kernel touches by its maps, as the model notes it."""
    found: dict[tuple[int, str, str], list[Touched]] = defaultdict(list)
    for access in kernel.accesses:
        names = {each.name for each in access.map.parameters}
        values = {name: value for name, value in given.items() if name in names}
        at_values = access.map.substitute(values).simplify(preserve_ranges=True)
        for dims, _, _, results in at_values.points():
            found[access.line, access.kind, access.argument].append((*dims, *results))
    return {key: sorted(points) for key, points in found.items()}


def run_by_hand(name: str) -> dict[tuple[int, str, str], list[Touched]]:
    kernel, pointers, constants, integers, grid = CASES[name]
    return run(kernel, grid, {**constants, **integers, **{p: Pointer(p) for p in pointers.split()}})


@pytest.mark.parametrize("name", CASES)
def test_maps_touch_what_the_kernel_touches(name: str) -> None:
    kernel, _, constants, integers, grid = CASES[name]
    read = read_kernel(kernel, constants, integers, grid=grid)
    assert all(access.is_exact for access in read.accesses)
    assert points_of(read, {}) == run_by_hand(name)


@pytest.mark.parametrize("name", ["add", "layer norm", "softmax"])
def test_arguments_without_values_are_parameters(name: str) -> None:
    kernel, _, constants, integers, grid = CASES[name]
    assert points_of(read_kernel(kernel, constants, grid=grid), integers) == run_by_hand(name)


def matmul(**integers: int) -> KernelAccesses:
    return read_kernel(by_hand.matmul, MATMUL_SIZES, MATMUL | integers, grid=(12,))


def test_an_access_within_its_tensor_is_proved() -> None:
    a, b, c = matmul().accesses
    assert a.out_of_bounds((13, 7)) is None
    assert b.out_of_bounds((7, 10), (1, 7)) is None
    assert c.out_of_bounds((13, 10)) is None


COPY = """
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)
"""


def test_an_access_beyond_its_tensor_names_the_program() -> None:
    kernel = read_kernel(COPY, {"BLOCK": 64}, {"n": 1000}, grid=(16,))
    load, store = kernel.accesses
    assert store.out_of_bounds((1000,)) is None
    found = load.out_of_bounds((1000,))
    assert found is not None
    assert (found.program, found.place, found.offset) == ((15,), (40,), 1000)
    where = "program (15,) accesses element 1000 at place (40,) of its block"
    assert str(found) == f"line 4: x_ptr: {where}"
    beyond = str(store.out_of_bounds((990,)))
    assert beyond == f"line 4: out_ptr: {where}".replace("1000", "990").replace("40", "30")


def test_an_access_between_the_rows_of_a_tensor_is_found() -> None:
    kernel = read_kernel(by_hand.softmax, {"BLOCK": 8}, SOFTMAX, grid=(3,))
    (load,) = kernel.of("in_ptr")
    assert load.out_of_bounds((7, 6), (9, 1)) is None
    found = load.out_of_bounds((7, 5), (9, 1))
    assert found is not None
    ((loop, iteration),) = found.loops
    assert (loop, found.place, found.offset % 9) == ("row", (5,), 5)
    assert found.offset == 9 * (found.program[0] + 3 * iteration) + 5
    assert f"program {found.program}, iteration {iteration} of row accesses" in str(found)


CLIPPED = """
def clipped(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * 2, mask=(offsets < n) & (x > 0))
"""


def test_a_mask_on_values_is_at_most_what_is_known() -> None:
    kernel = read_kernel(CLIPPED, {"BLOCK": 64}, {"n": 50})
    load, store = kernel.accesses
    assert (load.is_exact, store.is_exact) == (True, False)
    assert store.out_of_bounds((50,)) is None
    assert str(store).startswith("line 5: store x_ptr, at most: (i0) -> (i0)")


ROWS = """
def rows(x_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.arange(0, N)
    block = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])
    tl.store(x_ptr + rows[:, None] + columns[None, :] * stride, block)
"""


BY_ROW, BY_COLUMN = read_kernel(ROWS, {"M": 64, "N": 64}, {"stride": 64}, grid=(1,)).accesses


def test_the_layout_of_the_coalescing_pass_follows_memory() -> None:
    by_row, by_column = (each.coalescing(A100, "f32") for each in (BY_ROW, BY_COLUMN))
    assert (by_row.vector_width, by_row.ratio, by_row.sectors) == (4, 1.0, 512)
    assert (by_column.vector_width, by_column.ratio) == (4, 1.0)
    by_rows = blocked((64, 64), (1, 4), (2, 16), (4, 1), (1, 0))
    assert BY_ROW.coalescing(A100, "f32", layout=by_rows) == by_row
    assert (BY_COLUMN.coalescing(A100, "f32", layout=by_rows).ratio or 0) > 2
    assert BY_ROW.coalescing(A100, "f32", num_warps=8).ratio == 1


@for_all({
    "smaller than the block": blocked_for((64, 32), 4, size_per_thread=(1, 4)),
    "columns first": blocked_for((8, 16), 2, size_per_thread=(2, 1), order=(0, 1)),
    "larger than the block": blocked_for((4, 4), 1, size_per_thread=(1, 2)),
    "one dimension": blocked_for((512,), 2, size_per_thread=(4,)),
    "three": blocked_for((2, 4, 8), 1, size_per_thread=(1, 2, 2), order=(2, 0, 1)),
    "mma": nvidia_mma((32, 32), 2, (2, 1), (16, 8)),
})  # fmt: skip
def test_threads_hold_the_elements_of_their_layout(layout: LinearLayout) -> None:
    block = tuple(layout.out_dims.values())
    sizes = {f"i{number}": size for number, size in enumerate(block)}
    offset = " + ".join(f"i{k} * {prod(block[k + 1 :])}" for k in range(len(block)))
    threads = by_thread(IndexingMap([offset], sizes), block, layout)
    held = Counter((dims[0], *results) for dims, _, _, results in threads.points())
    names = "register", "lane", "warp"
    expected: Counter[tuple[int, ...]] = Counter()
    for register, lane, warp in product(*(range(layout.in_dims[name]) for name in names)):
        element = [*layout(register=register, lane=lane, warp=warp).values()]
        thread = warp * layout.in_dims["lane"] + lane
        expected[thread, int(np.ravel_multi_index(element, block))] += 1
    assert held == expected
    assert {place for _, place in held} == {*range(prod(block))}


@for_all([
    (((64, 64), 4, (1, 4), (1, 0), 32), ((2, 16), (4, 1))),
    (((8, 16), 2, (2, 1), (0, 1), 32), ((4, 8), (1, 2))),
    (((512, 1), 4, (1, 1), (1, 0), 32), ((32, 1), (4, 1))),
    (((16, 256), 4, (1, 2), (1, 0), 32), ((1, 32), (1, 4))),
    (((2, 4, 8), 1, (1, 2, 2), (2, 0, 1), 64), ((2, 8, 4), (1, 1, 1))),
])  # fmt: skip
def test_lanes_and_warps_follow_an_order(given: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    shape, warps, sizes, order, lanes = given
    found = blocked_for(shape, warps, size_per_thread=sizes, order=order, lanes=lanes)
    assert found == blocked(shape, sizes, expected[0], expected[1], order)


NAMES: dict[str, Any] = {
    **{name: getattr(linear, name) for name in dir(linear)},
    "read_kernel": read_kernel, "add": by_hand.add,
    "of_rows": partial(BY_ROW.coalescing, A100, "f32"),
}  # fmt: skip

test_layouts_that_do_not_fit_are_refused = refusals(NAMES, ShapeError)("""
of_rows(layout=blocked_for((64, 32), 4)) => the layout is of the shape (64, 32); expected (64, 64)
of_rows(layout=swizzled_shared((64, 64), vec=1, per_phase=1, max_phase=1))
    the layout is from offset
of_rows(layout=blocked((64, 64), (1, 1), (1, 32), (4, 1), (1, 0), blocks=BlockSplit((2, 1))))
    block (size 2); expected register, lane and warp, and one block
of_rows(num_warps=0) => num_warps is 0; expected a power of two
blocked_for((64, 64), 3) => num_warps is 3; expected a power of two
blocked_for((64, 64), 0) => num_warps is 0; expected a power of two
blocked_for((64, 64), 4, order=(0, 0)) => expected the dimensions 0 to 1
blocked_for((64, 64), 4, size_per_thread=(0, 1)) => a size per thread is 0
""")


def test_a_scalar_is_one_thread_s() -> None:
    kernel = read_kernel("def kernel(x_ptr): tl.load(x_ptr + tl.program_id(0) * 8)", grid=(4,))
    assert kernel.accesses[0].coalescing(A100, "f32").sectors == 4


@for_all(marked_errors("""
x = tl.load(«x_ptr + tl.sum(x_ptr, 0)») => the address depends on a reduction, in line 2
x = tl.load(«x_ptr + (n / 2)») => the address depends on a number that is no integer, in line 2
x = tl.load(«x_ptr + erf(n / 2)») => the address depends on the result of erf, in line 2
x = «tl.load(x_ptr + tl.where(tl.load(x_ptr) > 0, 1, 0))»
    the address depends on a condition on a value that is loaded, in line 2
x = «other(x_ptr)» => the function other cannot be read, and may access x_ptr
x = «tl.load(x_ptr + n + m)» => x_ptr or n or m is the pointer of this address; expected one
x = «tl.load(n * 4)» => no argument is the pointer of this address; expected one
x = «tl.arange(0, n)» => tl.arange: end is no number that is known; expected a constexpr
x = «tl.arange(0, 8) + tl.arange(0, 16)» => blocks of the shapes (8,), (16,) do not fit
x = tl.arange(0, 8)[«0»] => expected ':' or None, as in [:, None]
x = «lambda y: y» => a kernel with a Lambda cannot be read
x = tl.load(«x_ptr + y») => the address depends on 'y', which has no value, in line 2
while n > 0: x = tl.load(«x_ptr + tl.exp(n)») => the address depends on tl.exp of numbers, in line 2
for k in «x_ptr»: pass => expected range, tl.range or tl.static_range
for k in «range(8, 0, 0)»: pass => the step is 0; expected another number
«x, y» = 1 => expected 2 values
if «tl.arange(0, 8) > 4»: pass => a branch has one condition for all elements; expected a scalar
x = «tl.program_id(3)» => a grid has no axis 3; expected 0, 1 or 2
x = «2 ** 5000» => this number has more than 4096 bits, or is no integer
x = «1 // 0» => integer division or modulo by zero
«del x_ptr» => a kernel with the statement Delete cannot be read
"""), lambda drawn: drawn.message)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_place(drawn: DrawnError) -> None:
    with pytest.raises(TritonError) as refused:
        read_kernel(f"def kernel(x_ptr, n, m):\n    {drawn.text}\n")
    span = refused.value.span
    assert refused.value.message == drawn.message
    assert (span.line, span.column) == (2, 4 + drawn.column)
    assert span.excerpt().endswith(f" {drawn.carets.strip()}")


def test_a_text_that_is_no_python_is_refused() -> None:
    with pytest.raises(TritonError, match="this is not Python") as refused:
        read_kernel("def kernel(:\n    pass")
    assert refused.value.span.line == 1


test_wrong_calls_say_what_was_expected = refusals(NAMES, ArgumentError)("""
read_kernel("") => the text has no function ''
read_kernel(3) => the kernel is 3; expected its text, or a function
read_kernel(add) => BLOCK is a constexpr without a value; expected one in
read_kernel("def k(i0): pass") => 'i0' is the name of a variable of the maps
read_kernel("def k(): pass", name="other") => no function 'other'; expected one of: k
""")


def test_a_recursion_is_refused() -> None:
    with pytest.raises(TritonError, match="call each other again and again"):
        read_kernel("def f(x):\n    return f(x)\ndef kernel(x_ptr):\n    f(x_ptr)")


def test_a_kernel_shows_itself() -> None:
    kernel = matmul()
    assert repr(kernel).startswith("<KernelAccesses: kernel matmul; line")
    assert "a_ptr" in kernel._repr_html_()
