"""Kernels near 2**31: what does not fit in 32 bits is no proof."""

from __future__ import annotations

import importlib
import operator
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.triton_code import imported
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


@for_all(texts_with_values("""
# a sum of a number without bounds | None, "n * 4 + pid0 in [0, 2147483647]"
tl.load(A + (n * 4 + pid))
# a mask | None, "i0 + n in [0, 2147483647]"
tl.load(A + i, mask=i + n < 5)
# what bounds exclude | 5, ""
tl.load(A + (n * 4 + pid))
# what the mask excludes | None, ""
tl.load(A + (pid * 131072 + n), mask=(n < 5) & (pid < 9))
# what wraps | None, ""
tl.load(A + (pid * 131072 + i))
# 64 bits | None, ""
tl.load(A + n.to(tl.int64) * 4)
# sums of what wraps | 1 << 30, "k * 1073741824 - 1073741824 in [-1073741824, 2147483647]"
for k in range(4):
    A += n * k
    tl.load(A)
"""))  # fmt: skip
def test_what_nobody_knows_is_said(body: str, n: int | None, expected: str) -> None:
    _, _, said = str(read(body, n)).partition(",\n")
    assert said == (expected and f"may wrap unless {expected}")


# Programs by chance, run with numbers of as many bits as their types have.

Numbers = dict[str, int]


@dataclass(frozen=True, slots=True)
class Code:
    """An expression: its text, what the machine makes of it, and its type; constants have none."""

    text: str
    machine: Callable[[Numbers], int]
    type: str = "i32"


def wrapped(value: int, element_type: str) -> int:
    size = 1 << int(element_type[1:])
    least = 0 if element_type[0] == "u" else -size // 2
    return (value - least) % size + least


def divided(value: int, by: int) -> int:
    return abs(value) // abs(by) * (1 if (value < 0) == (by < 0) else -1)


def remainder(value: int, by: int) -> int:
    return value - by * divided(value, by)


BINARY: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "add": ("({} + {})", operator.add), "subtract": ("({} - {})", operator.sub),
    "multiply": ("({} * {})", operator.mul), "bits": ("({} & {})", lambda a, b: a & b),
    "left": ("({} << {})", lambda a, b: a << b), "shift": ("({} >> {})", lambda a, b: a >> b),
    "divide": ("({} // {})", divided), "remainder": ("({} % {})", remainder),
    "minimum": ("tl.minimum({}, {})", min), "maximum": ("tl.maximum({}, {})", max),
}  # fmt: skip
SUMS = ("add", "subtract", "multiply")
BY_CONSTANTS = ("divide", "remainder", "left", "shift")
TYPES = {"i64": 4, "i32": 3, "u32": 3, "i16": 1, "u8": 1}
"""How often a cast is to each."""
NAMES = {each: each.replace("i", "int").replace("u", "uint") for each in TYPES}


def constant(chance: random.Random, operation: str, beside: str) -> Code:
    most = 7 if operation in ("left", "shift") else 100
    if most == 100 and int(beside[1:]) >= 32:
        most = chance.choice([1000, 1 << 27])
    value = chance.choice([chance.randrange(1, min(9, most)), chance.randrange(1, most)])
    return Code(str(value), lambda _: value, "")


def expression(chance: random.Random, depth: int) -> Code:
    """Arithmetic on a program id, a range, an argument and constants."""
    if not depth:
        name = chance.choice(["pid", "i", "n"])
        return Code(name, lambda at: at[name])
    one = expression(chance, depth - 1)
    if chance.random() < 0.25:
        (to,) = chance.choices([*TYPES], [*TYPES.values()])
        return Code(f"({one.text}).to(tl.{NAMES[to]})", lambda at: wrapped(one.machine(at), to), to)
    name = chance.choice([*SUMS, *SUMS, *BINARY])
    other = constant(chance, name, one.type)
    if name not in BY_CONSTANTS and chance.random() < 0.6:
        other = expression(chance, depth - 1)
    return together(name, one, other)


def together(name: str, one: Code, other: Code) -> Code:
    text, apply = BINARY[name]
    both = max((each.type for each in (one, other) if each.type), key=lambda t: (int(t[1:]), t[0]))

    def machine(at: Numbers) -> int:
        return wrapped(apply(*(wrapped(each.machine(at), both) for each in (one, other))), both)

    return Code(text.format(one.text, other.text), machine, both)


@for_all(range(120))
def test_maps_hold_for_the_machine(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - programs, no secrets
    here = together("multiply", Code("i", lambda at: at["i"]), Code("0", lambda _: 0, ""))
    offset, mask = together("add", here, expression(chance, 3)), expression(chance, 2)
    n, grid = chance.choice([2, 3, 70000, (1 << 31) - 1]), chance.choice([3, 5])
    size = 1 << chance.choice([20, 31, 40, 62])
    body = f"tl.load(A + {offset.text}, mask={mask.text} < 100)"
    try:
        access = read(body, n, grid)
    except TritonError:  # it divides numbers of different signs that are known
        return
    places = [{"pid": pid, "i": i, "n": n} for pid in range(grid) for i in range(BLOCK)]
    held = [at for at in places if mask.machine(at) < 100]
    touched = {(at["pid"], at["i"]): offset.machine(at) for at in held}
    assert {dims: element for dims, _, _, (element,) in access.map.points()} == touched
    found = access.out_of_bounds((size,))
    if found is None:
        assert all(0 <= element < size for element in touched.values())
    elif found.overflow is None:
        assert touched[found.program[0], found.place[0]] == found.offset
        assert not 0 <= found.offset < size


# Triton's own interpreter, of which only the addresses are noted: nothing has so many elements.

INTERPRETED = {
    "a sum of 32 bits": "tl.load(A + (p * 131072 + i))",
    "a product of 64": "tl.load(A + p.to(tl.int64) * 131072 + i)",
    "a constant beside 64": "tl.load(A + (p.to(tl.int64) + i) * 131072)",
    "an argument of 64 bits": "tl.load(A + p * m + i, mask=i < m)",
    "no sign": "tl.load(A + (p * 131072 + i).to(tl.uint32))",
    "half of no sign": "tl.load(A + (p.to(tl.uint32) * 262144 >> 1))",
    "a sign and none": "tl.load(A + (p.to(tl.uint32) - n * i))",
    "16 bits": "tl.load(A + (p.to(tl.int16) * 5 + i.to(tl.int16)))",
    "8 bits beside 16": "tl.load(A + (i.to(tl.uint8) * 100 + p.to(tl.int16)))",
    "a flag beside 8 bits": "tl.load(A + (i.to(tl.uint8) + (p > 1)) * 100)",
    "a quotient": "tl.load(A + (p * 131072 + i) // 4096)",
    "a remainder": "tl.load(A + (p * n * n) % 1000)",
    "a minimum": "tl.load(A + tl.minimum(p * 131072, i * 8))",
    "a mask": "tl.load(A + i, mask=p * 131072 < 3)",
    "a choice": "tl.load(A + tl.where(i > 1, p * 131072, p.to(tl.int64)))",
    "low bits": "tl.load(A + ((p * 2654435 ^ i * 97) & 1023))",
    "hashes": "h = p * 1103515245 + 12345 + i\ntl.load(A + (h ^ (h >> 16)) % 4096)",
    "shifted out": "tl.load(A + (p << 20) + (i << 30))",
    "a sum of iterations": "for k in range(4):\n    p += n * k\ntl.load(A + p * 9)",
    "a step of a pointer": "for k in range(3):\n    A += p * 131072\n    tl.load(A + i)",
    "a counter of 64 bits": "for k in range(0, m, 1 << 33):\n    tl.load(A + k * 2)",
}  # fmt: skip
"""Kernels on a program id of thousands, a range, and numbers of 32 and of 64 bits."""

HEAD = f"""import triton
import triton.language as tl


@triton.jit
def kernel(A, n, m):
    p = tl.program_id(0) * 8192 + tl.num_programs(0)
    i = tl.arange(0, {BLOCK})
"""


@pytest.mark.needs("torch")
@pytest.mark.needs("triton")
@pytest.mark.parametrize("name", INTERPRETED)
def test_addresses_are_those_of_triton_s_interpreter(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + indent(INTERPRETED[name], "    ") + "\n"
    numbers = {"n": 123456789, "m": (1 << 34) + 5}
    read = read_kernel(text, arguments=numbers, grid=(4,)).accesses[-1]
    found = Counter((dims[0], element) for dims, _, _, (element,) in read.map.points())
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    interpreter: Any = importlib.import_module("triton.runtime.interpreter")
    torch: Any = importlib.import_module("torch")
    memory = torch.zeros(1, dtype=torch.int8)
    noted: Counter[tuple[int, int]] = Counter()

    def load(pointers: Any, mask: Any, _other: Any, dtype: Any) -> Any:  # noqa: ANN401
        program = interpreter.interpreter_builder.grid_idx[0]
        places = pointers[mask.astype(bool)].astype(np.int64) - memory.data_ptr()
        noted.update((program, int(place)) for place in places.ravel())
        return np.zeros(pointers.shape, dtype)

    monkeypatch.setattr(interpreter, "_interpreter", SimpleNamespace(load=load))
    module = imported(text, tmp_path / f"{tmp_path.name}.py")
    with np.errstate(all="ignore"):
        module.kernel[(4,)](memory, **numbers)
    assert found == noted
