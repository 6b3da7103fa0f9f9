"""Kernels that are odd: what each access touches, or where it is refused, one case for each bug."""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest

from ops.triton import KernelAccesses, TritonError, read_kernel
from simplifier.errors import ArgumentError


def read(body: str, module: str = "", n: object = 3) -> KernelAccesses:
    """The accesses of a kernel with a pointer and a number, in ten programs."""
    text = f"{module}\ndef kernel(x_ptr, n):\n{indent(body.strip(), '    ')}\n"
    return read_kernel(text, {"n": n}, grid=(10,))


def offsets(kernel: KernelAccesses) -> list[int]:
    """The different offsets of all accesses."""
    points = (results for each in kernel.accesses for *_, results in each.map.points())
    return sorted({result for (result,) in points})


TOUCHED: dict[str, tuple[str, list[int]]] = {
    "a return in a branch of a branch": (
        """
pid = tl.program_id(0)
if pid > 2:
    if pid < 6:
        return
tl.load(x_ptr + pid)
""",
        [0, 1, 2, 6, 7, 8, 9],
    ),
    "a pointer that moves by the counter": (
        """
for k in range(6):
    tl.load(x_ptr)
    x_ptr += k * n
""",
        [0, 3, 9, 18, 30],
    ),
    "a pointer that moves by squares, and what it is then": (
        """
for k in range(1, 4):
    x_ptr += k * k
tl.load(x_ptr)
""",
        [14],
    ),
    "a pointer that moves by what moves": (
        """
step = 1
for k in range(5):
    tl.load(x_ptr)
    x_ptr += step
    step += 2
""",
        [0, 1, 4, 9, 16],
    ),
    "a loop in a loop that adds the outer counter": (
        """
for i in range(4):
    for j in range(2):
        tl.load(x_ptr)
        x_ptr += i
""",
        [0, 1, 2, 4, 6, 9],
    ),
    "a variable of the module beside an argument of its name": ("tl.load(x_ptr + size)", [8]),
    "a step by name": (
        """
for k in tl.range(0, 7, step=n):
    tl.load(x_ptr + k)
""",
        [0, 3, 6],
    ),
    "a boundary check by its place": (
        """
block = tl.make_block_ptr(x_ptr, (6,), (1,), (4,), (4,), (0,))
tl.load(block, None, None, (0,))
""",
        [4, 5],
    ),
    "a counter with the name of a program id": (
        """
for pid0 in range(2):
    tl.load(x_ptr + pid0 + tl.program_id(0) * 2)
""",
        [*range(20)],
    ),
}


@pytest.mark.parametrize("name", TOUCHED)
def test_odd_kernels_touch_what_they_say(name: str) -> None:
    body, expected = TOUCHED[name]
    assert offsets(read(body, "n = 4\nsize = n * 2")) == expected


def test_a_return_that_values_decide_makes_the_rest_inexact() -> None:
    kernel = read(
        """
if n > 2:
    if tl.load(x_ptr) > 0:
        return
tl.load(x_ptr + 1)
"""
    )
    assert [each.is_exact for each in kernel.accesses] == [True, False]


def test_counters_keep_their_names_in_nested_loops() -> None:
    (access,) = read(
        "for i in range(3):\n    for j in range(2): tl.load(x_ptr + i * 2 + j)"
    ).accesses
    assert [each.name for each in access.map.ranges] == ["i", "j"]


REFUSED: list[tuple[str, str]] = [
    (
        "y = tl.program_id(0)" + "\ny = y * y + 1" * 8 + "\ntl.load(x_ptr + y)",
        "a product of more than 32 factors",
    ),
    (
        "y = n + tl.program_id(0)" + "\ny = y * y + 1" * 8 + "\nfor k in range(n):\n"
        "    x_ptr += y\n    tl.load(x_ptr)",
        "x_ptr, whose value in a loop has no closed form",
    ),
    ("for k in range(8):\n    if tl.program_id(0) > k: return", "a loop that may be left"),
    (
        (
            "flag = True\nfor k in range(4):\n    tl.load(x_ptr)\n"
            "    if flag: x_ptr += 4\n    flag = False"
        ),
        "the address depends on a condition that a loop changes",
    ),
    (
        "for k in range(4):\n    tl.load(x_ptr + n)\n    n *= 2",
        "the address depends on n, whose value in a loop has no closed form",
    ),
    (
        (
            "p = tl.arange(0, 4)[:, None] + tl.arange(0, 4)[None, :] * 4\n"
            "for k in range(4):\n    tl.load(x_ptr + p)\n    p = tl.trans(p)"
        ),
        "the address depends on p, whose value in a loop has no closed form",
    ),
    (
        (
            "a = 0\nfor i in range(3):\n    b = a\n    a = a + 5\n    for j in range(2):\n"
            "        tl.load(x_ptr + a)\n        a = b"
        ),
        "the address depends on a, whose value in a loop has no closed form",
    ),
    ("k = 7\nfor k in range(n - 3): pass\ntl.load(x_ptr + k)", "a loop that may not run"),
    ("tl.load(x_ptr + (n - 10) // 4)", "-7 is divided by 4: constants are rounded down"),
    ("tl.load(x_ptr + tl.program_id(0) // (n - 5))", "the divisor is -2; expected at least 1"),
    ("tl.load(x_ptr + tl.program_id(0) % (n - 3))", "the divisor is 0; expected at least 1"),
    ("tl.load(x_ptr + (tl.program_id(0) << -1))", "bits are moved by -1; expected a number"),
    ("tl.load(x_ptr, mask_=n > 2)", "tl.load has no argument 'mask_'"),
    ("tl.load(x_ptr, **n)", "arguments behind ** cannot be read"),
    ("tl.load(x_ptr, *n)", "expected a tuple"),
    ("tl.load(x_ptr + changed)", "'changed' has no value"),
    ("tl.load(x_ptr, mask=tl.arange(0, 4) in (1, 2))", "'in' takes a value and a tuple of values"),
    ("tl.load(x_ptr, mask=n is 3)", "only None can be read beside 'is'"),
    ("a = 'a' * 10 ** 9", "this operator has 'a' beside it; expected numbers"),
    ("a = -None", "this operator is before None; expected a number"),
    ("a = 2.0 ** 10000", "this number is too large"),
    ("a = 3\n" + "a = a * a\n" * 20, "this number has more than 4096 bits"),
    ("for k in range(): pass", "expected an end, or a start and an end"),
    ("for k in range(0, n, 1, 1): pass", "expected an end, or a start and an end"),
    ("tl.arange(0, 2)" + "[:, None]" * 8, "a block has 9 dimensions; expected at most 8"),
    (
        "".join("    " * k + f"for k{k} in range(2):\n" for k in range(14)) + "    " * 14 + "pass",
        "this kernel runs more than 5000 statements",
    ),
]


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_odd_kernels_are_refused(body: str, message: str) -> None:
    with pytest.raises(TritonError) as refused:
        read(body, "changed = 1\nchanged += 1")
    assert message in refused.value.message


@pytest.mark.parametrize("grid", [(0,), (-1,), (1, 2, 3, 4), "ab", 4])
def test_grids_have_one_to_three_sizes(grid: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match="read_kernel: grid is"):
        read_kernel("def kernel(x_ptr): pass", grid=grid)


def test_arguments_are_numbers_also_of_numpy() -> None:
    assert offsets(read("tl.load(x_ptr + n)", n=np.int64(5))) == [5]
    with pytest.raises(ArgumentError, match="arguments: n is 'a'; expected a number"):
        read_kernel("def kernel(x_ptr, n): pass", arguments={"n": "a"})  # pyright: ignore[reportArgumentType]


def test_texts_that_nest_too_deeply_are_refused() -> None:
    with pytest.raises(TritonError, match="this is not Python"):
        read_kernel(f"def kernel(x_ptr): x = {'-' * 200_000}1")
