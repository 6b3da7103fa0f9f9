"""Kernels near 2**31: what does not fit in 32 bits is no proof."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from ops.triton import KernelAccess, TritonError, read_kernel
from tests.cases import for_all, texts_with_values

BLOCK = 4
TALL = 24901 * 131072
"""Elements of a tensor of more than 2**31."""


def read(body: str, n: int | None = None, grid: int = 24901) -> KernelAccess:
    """The last access of a kernel with two pointers and a number."""
    text = f"def kernel(A, O, n):\n    pid = tl.program_id(0)\n    i = tl.arange(0, {BLOCK})\n"
    text += "".join(f"    {line}\n" for line in body.split("\n"))
    return read_kernel(text, arguments={} if n is None else {"n": n}, grid=(grid,)).accesses[-1]


@for_all(texts_with_values(
    """
# address-beyond-32-bits | None, AT_16384
tl.load(A + (pid * 131072 + i))
# a range of its own | None, AT_16384
tl.load(A + pid * 131072 + i)
# 32 bits again | None, "(16384,) accesses element -2147483648"
tl.load(A + (pid.to(tl.int64) * 131072).to(tl.int32))
# an argument | None, "does not fit in 32 bits"
tl.load(A + n * 4 // 8, mask=n < 1 << 30)
# arguments that are known | 50000, "(0,) computes 2500000000"
tl.load(A + pid * 0 + n * n)
# a mask | None, AT_16384
tl.load(A + i, mask=pid * 131072 < 3)
# a quotient | None, AT_16384
tl.load(A + (pid * 131072 + i) // 131072)
# a loop | 1 << 30, "(0,) computes 3221225472"
for k in range(4):
    A += n * k
tl.load(A)
# a counter | 1 << 30, "of k computes 2147483648"
for k in range(4):
    A += n * k
    tl.load(A)
# a branch | None, AT_16384
x = pid.to(tl.int64)
if pid > 100:
    x = pid * 131072 + x
tl.load(A + x)
# offsets of a block | None, AT_16384
p = tl.make_block_ptr(A, (TALL,), (1,), (pid * 131072,), (4,), (0,))
tl.load(p)
""".replace("AT_16384", '"(16384,) computes 2147483648"').replace("TALL", str(TALL))
))  # fmt: skip
def test_what_does_not_fit_in_32_bits_is_no_proof(body: str, n: int | None, expected: str) -> None:
    assert expected in str(read(body, n).out_of_bounds((3 * TALL,)))


@for_all({
    "64 bits": "tl.load(A + pid.to(tl.int64) * 131072 + i)",
    "64 bits of a cast": "tl.load(A + (tl.cast(pid, tl.int64) * 131072 + i))",
    "steps of a pointer": "tl.load(A + pid * 65536 + pid * 65536 + i)",
    "sums that come back": "tl.load(A + (pid * 131072 - pid * 131000 + i))",
    "where the mask holds": "tl.load(A + pid * 131072, mask=pid < 100)",
    "another access": "tl.load(A + pid * 131072)\ntl.store(O + i, i)",
    "zeros of 64 bits": "tl.load(A + (tl.zeros((4,), tl.int64) + pid) * 131072)",
})  # fmt: skip
def test_what_fits_is_a_proof(body: str) -> None:
    assert read(body).out_of_bounds((TALL,)) is None


# Programs by chance, run with numbers of 32 and 64 bits.

Numbers = dict[str, int]


@dataclass(frozen=True, slots=True)
class Code:
    """An expression: its text, and what the machine and integers without an end make of it."""

    text: str
    machine: Callable[[Numbers], int]
    ideal: Callable[[Numbers], int]
    bits: int = 32
    is_constant: bool = False


def wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def divided(value: int, by: int) -> int:
    return abs(value) // abs(by) * (1 if (value < 0) == (by < 0) else -1)


BINARY: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "add": ("({} + {})", lambda a, b: a + b), "subtract": ("({} - {})", lambda a, b: a - b),
    "multiply": ("({} * {})", lambda a, b: a * b), "divide": ("({} // {})", divided),
    "remainder": ("({} % {})", lambda a, b: a - b * divided(a, b)),
    "shift": ("({} >> {})", lambda a, b: a >> b), "minimum": ("tl.minimum({}, {})", min),
    "maximum": ("tl.maximum({}, {})", max),
}  # fmt: skip
SUMS = ("add", "subtract", "multiply")


def constant(chance: random.Random, most: int) -> Code:
    value = chance.choice([chance.randrange(1, 9), chance.randrange(1, most)])
    return Code(str(value), lambda _: value, lambda _: value, is_constant=True)


def expression(chance: random.Random, depth: int) -> Code:
    """Arithmetic on a program id, a range, an argument and constants."""
    if not depth:
        name = chance.choice(["pid", "i", "n"])
        return Code(name, lambda at: at[name], lambda at: at[name])
    one = expression(chance, depth - 1)
    if chance.random() < 0.15:
        bits = chance.choice([32, 64])
        text = f"({one.text}).to(tl.int{bits})"
        low = bits if bits == 32 else 128  # more than there are
        machine, ideal = one.machine, one.ideal
        return Code(
            text, lambda at: wrapped(machine(at), bits), lambda at: wrapped(ideal(at), low), bits
        )
    name = chance.choice([*SUMS, *SUMS, *BINARY])
    most = 12 if name == "shift" else chance.choice([1000, 1 << 27])
    other = constant(chance, most)
    if name not in ("divide", "remainder", "shift") and chance.random() < 0.6:
        other = expression(chance, depth - 1)
    text, apply = BINARY[name]
    bits = max(one.bits, other.bits)
    return Code(
        text.format(one.text, other.text),
        lambda at: wrapped(apply(one.machine(at), other.machine(at)), bits),
        lambda at: apply(one.ideal(at), other.ideal(at)),
        bits,
    )


@for_all(range(60))
def test_a_proof_holds_for_the_machine(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - programs, no secrets
    offset, mask = expression(chance, 3), expression(chance, 2)
    n, grid = chance.choice([1, 3, 70000, (1 << 31) - 1]), chance.choice([3, 5])
    size = 1 << chance.choice([20, 31, 40, 62])
    body = f"tl.load(A + i * 0 + {offset.text}, mask={mask.text} < 1000)"
    try:
        access = read(body, n, grid)
    except TritonError:  # it divides numbers of different signs that are known
        return
    found = access.out_of_bounds((size,))

    def touched(at: Numbers, of: str) -> int | None:
        is_held: bool = getattr(mask, of)(at) < 1000
        return getattr(offset, of)(at) if is_held else None

    points = [{"pid": pid, "i": i, "n": n} for pid in range(grid) for i in range(BLOCK)]
    if found is None:
        for at in points:
            element = touched(at, "machine")
            assert element == touched(at, "ideal")
            assert element is None or 0 <= element < size
    else:
        at = {"pid": found.program[0], "i": found.place[0], "n": n}
        assert found.offset == offset.ideal(at)
        if found.overflow is None:
            assert touched(at, "ideal") == found.offset
            assert not 0 <= found.offset < size
        else:
            assert wrapped(found.overflow, 32) != found.overflow
