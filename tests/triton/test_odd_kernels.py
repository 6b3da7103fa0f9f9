"""Kernels that are odd: what each access touches, or where it is refused, one case for each bug."""

from __future__ import annotations

from contextlib import suppress
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ops.triton import KernelAccesses, TritonError, read_kernel
from simplifier.errors import ArgumentError
from tests.call_counts import calls_of
from tests.cases import for_all, for_rows, texts, texts_with_values


def read(body: str, module: str = "", n: object = 3) -> KernelAccesses:
    """The accesses of a kernel with a pointer and a number, in ten programs."""
    text = f"{module}\ndef kernel(x_ptr, n):\n{indent(body.strip(), '    ')}\n"
    return read_kernel(text, {"n": n}, grid=(10,))


def offsets(kernel: KernelAccesses) -> list[int]:
    points = (results for each in kernel.accesses for *_, results in each.map.points())
    return sorted({result for (result,) in points})


@for_all(texts_with_values("""
# a return in a branch of a branch | [0, 1, 2, 6, 7, 8, 9]
pid = tl.program_id(0)
if pid > 2:
    if pid < 6:
        return
tl.load(x_ptr + pid)
# a pointer that moves by the counter | [0, 3, 9, 18, 30]
for k in range(6):
    tl.load(x_ptr)
    x_ptr += k * n
# a pointer that moves by squares, and what it is then | [14]
for k in range(1, 4):
    x_ptr += k * k
tl.load(x_ptr)
# a pointer that moves by what moves | [0, 1, 4, 9, 16]
step = 1
for k in range(5):
    tl.load(x_ptr)
    x_ptr += step
    step += 2
# a loop in a loop that adds the outer counter | [0, 1, 2, 4, 6, 9]
for i in range(4):
    for j in range(2):
        tl.load(x_ptr)
        x_ptr += i
# a variable of the module beside an argument of its name | [8]
tl.load(x_ptr + size)
# a step by name | [0, 3, 6]
for k in tl.range(0, 7, step=n):
    tl.load(x_ptr + k)
# a boundary check by its place | [4, 5]
block = tl.make_block_ptr(x_ptr, (6,), (1,), (4,), (4,), (0,))
tl.load(block, None, None, (0,))
# a counter with the name of a program id | [*range(20)]
for pid0 in range(2):
    tl.load(x_ptr + pid0 + tl.program_id(0) * 2)
"""))  # fmt: skip
def test_odd_kernels_touch_what_they_say(body: str, expected: list[int]) -> None:
    assert offsets(read(body, "n = 4\nsize = n * 2")) == expected


def test_values_may_decide_about_the_rest_and_counters_keep_their_names() -> None:
    body = "if n > 2:\n    if tl.load(x_ptr) > 0: return\ntl.load(x_ptr + 1)"
    assert [each.is_exact for each in read(body).accesses] == [True, False]
    body = "for i in range(3):\n    for j in range(2): tl.load(x_ptr + i * 2 + j)"
    (access,) = read(body).accesses
    assert [each.name for each in access.map.ranges] == ["i", "j"]


REFUSED = texts("""
# a loop that may be left
for k in range(8):
    if tl.program_id(0) > k: return
# the address depends on a condition that a loop changes
flag = True
for k in range(4):
    tl.load(x_ptr)
    if flag: x_ptr += 4
    flag = False
# the address depends on n, whose value in a loop has no closed form
for k in range(4):
    tl.load(x_ptr + n)
    n *= 2
# the address depends on p, whose value in a loop has no closed form
p = tl.arange(0, 4)[:, None] + tl.arange(0, 4)[None, :] * 4
for k in range(4):
    tl.load(x_ptr + p)
    p = tl.trans(p)
# the address depends on a, whose value in a loop has no closed form
a = 0
for i in range(3):
    b = a
    a = a + 5
    for j in range(2):
        tl.load(x_ptr + a)
        a = b
# a loop that may not run
k = 7
for k in range(n - 3): pass
tl.load(x_ptr + k)
# -7 is divided by 4: constants are rounded down
tl.load(x_ptr + (n - 10) // 4)
# the divisor is -2; expected at least 1
tl.load(x_ptr + tl.program_id(0) // (n - 5))
# the divisor is 0; expected at least 1
tl.load(x_ptr + tl.program_id(0) % (n - 3))
# bits are moved by -1; expected a number
tl.load(x_ptr + (tl.program_id(0) << -1))
# tl.load has no argument 'mask_'
tl.load(x_ptr, mask_=n > 2)
# arguments behind ** cannot be read
tl.load(x_ptr, **n)
# expected a tuple
tl.load(x_ptr, *n)
# the address depends on 'changed', which has no value, in line 4
tl.load(x_ptr + changed)
# 'in' takes a value and a tuple of values
tl.load(x_ptr, mask=tl.arange(0, 4) in (1, 2))
# only None can be read beside 'is'
tl.load(x_ptr, mask=n is 3)
# this operator has 'a' beside it; expected numbers
a = 'a' * 10 ** 9
# this operator is before None; expected a number
a = -None
# this number is too large
a = 2.0 ** 10000
# expected an end, or a start and an end
for k in range(): pass
# blocks of the shapes (), (32,), (16,) do not fit
x = tl.arange(0, 16)
if tl.program_id(0) > 2:
    x = tl.arange(0, 32)
# blocks of the shapes (8,), (16,)
tl.store(x_ptr + tl.arange(0, 8), tl.arange(0, 16))
# does not fit
tl.store(x_ptr + tl.arange(0, 8)[:, None], tl.zeros((8, 4), tl.int32))
# (16,) does not fit pointers of ()
tl.store(x_ptr, value=tl.arange(0, 16))
# (4,) does not fit pointers of ()
tl.load(x_ptr, mask=tl.arange(0, 4) < n)
# blocks of the shapes (8,), (4,)
tl.load(x_ptr + tl.arange(0, 8), other=tl.arange(0, 4))
# blocks of the shapes (4,), (8,)
p = tl.make_block_ptr(x_ptr, (6,), (1,), (0,), (4,), (0,))
tl.store(p, tl.arange(0, 8))
""")
SQUARES = "\ny = y * y + 1" * 8
ALSO_REFUSED = [
    (f"def kernel(x_ptr): x = {'-' * 200_000}1", "this is not Python"),
    ("for k in range(0, n, 1, 1): pass", "expected an end, or a start and an end"),
    ("tl.arange(0, 2)" + "[:, None]" * 16, "a block has 17 dimensions; expected at most 16"),
    ("a = 3\n" + "a = a * a\n" * 20, "this number has more than 4096 bits"),
    ("tl.atomic_add(x_ptr + tl.arange(0, 8), tl.arange(0, 4))", "blocks of the shapes (8,), (4,)"),
    ("d = tl.make_tensor_descriptor(x_ptr, (6,), (1,), (4,))\nd.store((0,), tl.arange(0, 8))",
     "blocks of the shapes (4,), (8,)"),
    (f"y = tl.program_id(0){SQUARES}\ntl.load(x_ptr + y)", "a product of more than 32 factors"),
    (f"y = n + tl.program_id(0){SQUARES}\nfor k in range(n):\n    x_ptr += y\n    tl.load(x_ptr)",
     "x_ptr, whose value in a loop has no closed form"),
    ("y = tl.program_id(0)" + "\ny = tl.minimum(y, 9 - y)" * 60 + "\ntl.load(x_ptr + y)",
     "the address depends on a formula of more than 200 parts"),
    ("".join("    " * k + f"for k{k} in range(2):\n" for k in range(14)) + "    " * 14 + "pass",
     "this kernel runs more than 5000 statements"),
]  # fmt: skip


@for_all([*((text, message) for message, text in REFUSED.items()), *ALSO_REFUSED])
def test_odd_kernels_are_refused(body: str, message: str) -> None:
    with pytest.raises(TritonError) as refused:
        read(body, "changed = 1\nchanged += 1")
    assert message in refused.value.message


@for_all([((0,),), ((-1,),), ((1, 2, 3, 4),), ("ab",), (4,)])
def test_grids_have_one_to_three_sizes(row: tuple[Any]) -> None:
    with pytest.raises(ArgumentError, match="read_kernel: grid is"):
        read_kernel("def kernel(x_ptr): pass", grid=row[0])


def test_arguments_are_numbers_also_of_numpy() -> None:
    assert offsets(read("tl.load(x_ptr + n)", n=np.int64(5))) == [5]
    with pytest.raises(ArgumentError, match="arguments: n is 'a'; expected a number"):
        read_kernel("def kernel(x_ptr, n): pass", arguments={"n": "a"})  # pyright: ignore[reportArgumentType]


def branches(count: int, step: str) -> str:
    """A number that each of some branches changes, in a kernel whose argument has no value."""
    lines = [f"    if n > {each}: y = {step.format(each)}\n" for each in range(count)]
    first, last = "    y = tl.program_id(0)\n", "    tl.load(x_ptr + y)"
    return f"def kernel(x_ptr, n):\n{first}{''.join(lines)}{last}"


@for_rows([
    ("branches-13", 13, "y + {}"), ("branches of 18", 18, "y + {}"),
    ("branches that choose", 18, "{} - 0 * y"), ("branches that double", 3, "y * 2 + {}"),
    ("choices", 8, "tl.where(n > 2 * {0}, y + {0}, y)"),
])  # fmt: skip
def test_branches_give_what_they_compute(count: int, step: str) -> None:
    (access,) = read_kernel(branches(count, step), grid=(3,)).accesses
    module = SimpleNamespace(where=np.where)
    for n in range(count + 3):
        (result,) = access.map.substitute({"n": n}).evaluate([2])
        y = 2
        for each in range(count):
            y = eval(step.format(each), {"tl": module}, {"n": n, "y": y}) if n > each else y  # noqa: S307 - of this file
        assert result == y


@pytest.mark.parametrize("step", ["y + {}", "y * 2 + {}", "tl.maximum(y, {} - y)", "y ^ {}"])
def test_twice_as_many_branches_are_no_more_than_three_times_the_work(step: str) -> None:
    def work(count: int) -> int:
        def run() -> None:
            with suppress(TritonError):
                read_kernel(branches(count, step), grid=(3,))

        run()
        return calls_of(run)

    assert work(48) < 3 * work(24)
