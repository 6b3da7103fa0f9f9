"""Values that are no formulas of integers, loaded numbers, descriptors and chosen pointers."""

from __future__ import annotations

import re
from textwrap import indent
from types import SimpleNamespace

import pytest

from indexing import MapError
from ops.performance import A100
from ops.triton import KernelAccesses, TensorDescriptor, TritonError, read_kernel
from simplifier.errors import ArgumentError
from simplifier.forms import Interval
from tests.cases import for_all, texts


def read(body: str, *, arguments: dict[str, object] | None = None) -> KernelAccesses:
    """A kernel with two pointers and a number, in blocks of 64, of eight programs."""
    head = "p = tl.program_id(0)\ni = p * B + tl.arange(0, B)\nr = tl.arange(0, 32)"
    lines = indent(f"{head}\n{body.strip()}", "    ")
    text = f"def k(A, O, n, B: tl.constexpr):\n{lines}\n"
    return read_kernel(text, {"B": 64}, arguments, grid=(8,))  # pyright: ignore[reportArgumentType] - wrong ones, too


@for_all(texts("""
# kernel-cast
v = v.cast(tl.float32)
# kernel-rsqrt
v = rsqrt(v)
# kernel-libdevice
v = libdevice.asin(v)
# kernel-scalar-type
m = tl.float32(0.0)
# kernel-scalar-zeros
m = tl.zeros((), tl.float32) + tl.full((), 2, tl.int32)
# kernel-split
a, b = tl.split(tl.reshape(v, [B // 2, 2]))
# kernel-join
w = tl.join(v, v)
# kernel-topk
w = tl.topk(v, 4)[:, None] + 1
# kernel-scan
v = tl.associative_scan(v, 0, f)
# kernel-inline-asm
v = tl.inline_asm_elementwise('x', '=r,r', [v], tl.float32, True, 1)
# kernel-dot-scaled
w = tl.dot_scaled(v, None, 'e2m1', v, None, 'e2m1')
# kernel-isinstance
if isinstance(A, tl.tensor) and not isinstance(B, tl.tensor):
    v = v
else:
    tl.store(O, v)
# kernel-step-down
for t in tl.static_range(3, 0, -1):
    v = v + t
# several results, and what nobody knows of them
m, at = tl.max(v, 0, return_indices=True)
x = tl.zeros([at.size, 4], tl.float32).T + m.strange * other
# shapes that cannot be told
w = tl.trans(f(v)) + tl.broadcast_to(f(v)[:, None], (B, 2)) + tl.dot(f(v), v[:, None])
# bits of a number without bounds
w = n << n
# a context for the compiler
with tl.async_task([0]) as task:
    w = v * 2
# an attribute of a constant
w = B.value
"""))  # fmt: skip
def test_values_that_reach_no_address_may_be_anything(statements: str) -> None:
    kernel = read(f"v = tl.load(A + i)\n{statements.strip()}\ntl.store(O + i, v)")
    texts = [re.sub(r"line \d+: ", "", str(each)) for each in kernel.accesses]
    where = "(pid0, i0) -> (pid0 * 64 + i0), domain: pid0 in [0, 7], i0 in [0, 63]"
    assert texts == [f"load A: {where}", f"store O: {where}"]


@for_all(texts("""
# kernel-cast-of-program
tl.load(A + p.cast(tl.int64) * B + tl.arange(0, B))
    => load A: (pid0, i0) -> (pid0 * 64 + i0), domain: pid0 in [0, 7], i0 in [0, 63]
# shift-by-a-variable
tl.load(A + r % (2 << (r // 16)))
    => load A: (pid0, i0) -> (i0 mod (select(i0 floordiv 16 == 0, 1, 2) * 2)), domain: pid0 in
       [0, 7], i0 in [0, 31]
# kernel-host-descriptor
O.store([p * B, 0], A.load([p * B, 0]))
    => load A: (pid0) -> (pid0 * 64, 0), domain: pid0 in [0, 7]
    => store O: (pid0) -> (pid0 * 64, 0), domain: pid0 in [0, 7]
# descriptors of older versions
v = tl._experimental_descriptor_load(A, [p * B, 0], [B, 16], tl.float32)
tl._experimental_descriptor_store(O, v, [p * B, 0])
    => load A: (pid0) -> (pid0 * 64, 0), domain: pid0 in [0, 7]
    => store O: (pid0) -> (pid0 * 64, 0), domain: pid0 in [0, 7]
# one of two pointers
P = A
if p < 4:
    P = O + 16
tl.load(P + i)
    => load O: (pid0, i0) -> (pid0 * 64 + i0 + 16), domain: pid0 in [0, 3], i0 in [0, 63]
    => load A: (pid0, i0) -> (pid0 * 64 + i0), domain: pid0 in [4, 7], i0 in [0, 63]
# a step down, with what it adds
for k in range(6, 0, -2):
    tl.load(A + k)
    A += k
tl.load(A + k)
    => load A: (pid0)[k] -> ((-k + 5) * k + 6), domain: pid0 in [0, 7], k in [0, 2]
    => load A: (pid0) -> (14), domain: pid0 in [0, 7]
# casts to few bits
tl.load(A + (r * 16).to(tl.uint8) + tl.int8(r + 112) + r.to(tl.int16))
    => load A: (pid0, i0) -> ((i0 mod 16) * 32 - i0 * 14 + 112), domain: pid0 in [0, 7], i0 in
       [0, 31]
# a loop that a condition ends
k = p
while k < n:
    tl.load(A + k)
    k += 8
    => load A, at most: (pid0)[iteration]<n> -> (iteration * 8 + pid0), domain: pid0 in [0,
       7], iteration in [0, inf], n in [1, inf], iteration * 8 + pid0 - n in [-inf, -1],
    => may wrap unless iteration * 8 + pid0 in [0, 2147483647]
# a block of another shape
tl.load(A + tl.reshape(tl.trans(tl.reshape(r, [4, 8])), [32]))
    => load A: (pid0, i0) -> ((i0 mod 4) * 8 + i0 floordiv 4), domain: pid0 in [0, 7], i0 in
       [0, 31]
# one value or another
x = tl.load(A) if p > 2 else tl.load(O) if n > 8 else 0
    => load A: (pid0) -> (0), domain: pid0 in [3, 7]
    => load O: (pid0)<n> -> (0), domain: pid0 in [0, 2], n in [9, inf]
# a loaded place
tl.load(A + tl.load(O + i) * 4)
    => load O: (pid0, i0) -> (pid0 * 64 + i0), domain: pid0 in [0, 7], i0 in [0, 63]
    => load A: (pid0, i0){rt0} -> (rt0 * 4), domain: pid0 in [0, 7], i0 in [0, 63], rt0 in
       [-inf, inf],
    => rt0: O in line 5 at (pid0, i0) -> (pid0 * 64 + i0), domain: pid0 in [0, 7], i0 in [0,
       63]
# a loaded place by a loaded place, in an order of its own
rows = tl.load(O + tl.load(O + r))
tl.load(A + rows[:, None] + r[None, :])
    => load O: (pid0, i0) -> (i0), domain: pid0 in [0, 7], i0 in [0, 31]
    => load O: (pid0, i0){rt0} -> (rt0), domain: pid0 in [0, 7], i0 in [0, 31], rt0 in [-inf,
       inf],
    => rt0: O in line 5 at (pid0, i0) -> (i0), domain: pid0 in [0, 7], i0 in [0, 31]
    => load A: (pid0, i0, i1){rt1} -> (i1 + rt1), domain: pid0 in [0, 7], i0 in [0, 31], i1 in
       [0, 31], rt1 in [-inf, inf],
    => rt1: O in line 5 at (pid0, i0, i1){rt0} -> (rt0), domain: pid0 in [0, 7], i0 in [0,
       31], i1 in [0, 31], rt0 in [-inf, inf],
    => rt0: O in line 5 at (pid0, i0, i1) -> (i0), domain: pid0 in [0, 7], i0 in [0, 31], i1
       in [0, 31]
# a loop of a loaded length
for k in range(tl.load(O), tl.load(O + 1)):
    tl.load(A + k)
    => load O: (pid0) -> (0), domain: pid0 in [0, 7]
    => load O: (pid0) -> (1), domain: pid0 in [0, 7]
    => load A: (pid0)[k]{rt0, rt1} -> (k + rt0), domain: pid0 in [0, 7], k in [0, inf], rt0 in
       [-inf, inf], rt1 in [-inf, inf], k + rt0 - rt1 in [-inf, -1],
    => rt0: O in line 5 at (pid0) -> (0), domain: pid0 in [0, 7],
    => rt1: O in line 5 at (pid0) -> (1), domain: pid0 in [0, 7]
"""))  # fmt: skip
def test_accesses_are_these(body: str) -> None:
    statements, *expected = re.split(r"\n +=> ", body.rstrip())
    lines = "\n".join(map(str, read(statements).accesses)).split("\n")
    assert [re.sub(r"^line \d+: ", "", line) for line in lines] == [
        re.sub(r"\s+", " ", each) for each in expected
    ]


X = TensorDescriptor(shape=(500, 16), strides=(16, 1), block_shape=(64, 16))
COPY = "O.store([p * B, 0], A.load([p * B, 0]))"


def test_descriptors_are_arguments_with_a_shape_strides_and_a_block() -> None:
    others = SimpleNamespace(base=None, shape=[500, 16], strides=[16, 1], block_shape=[64, 16])
    load, store = read(COPY, arguments={"A": X, "O": others}).accesses
    assert load.map == store.map
    assert (load.block, load.map.count()) == ((64, 16), 500 * 16)
    assert load.out_of_bounds((500, 16)) is None
    assert str(load.out_of_bounds((400, 16))).endswith(
        "accesses element 6400 at place (16, 0) of its block"
    )


@for_all([
    ("A", TensorDescriptor((4,), (1,), (4, 1)), "as many sizes, strides and sizes of a block"),
    ("A", "x", "arguments: A is 'x'; expected a number, a TensorDescriptor or a type"),
])  # fmt: skip
def test_wrong_arguments_say_what_was_expected(name: str, value: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        read(COPY, arguments={name: value})


def test_a_descriptor_without_a_value_has_no_offsets() -> None:
    (load, _) = read(COPY).accesses
    for ask in (lambda: load.out_of_bounds((8, 8)), lambda: load.coalescing(A100, "f32")):
        with pytest.raises(MapError, match="A is a descriptor without a value; expected a Tensor"):
            ask()


MASKED = "x = tl.load(O + i)\ntl.load(A + x * 2, mask=(x >= 0) & (x < 100))"


def test_a_mask_on_a_loaded_place_is_a_proof() -> None:
    load = read(MASKED).accesses[-1]
    assert load.is_exact
    assert load.out_of_bounds((200,)) is None
    found = load.out_of_bounds((190,))
    assert found is not None
    assert found.values == (("rt0", 95),)


def test_a_mask_on_a_loaded_value_may_be_no_integer_s() -> None:
    load = read("tl.load(A + i, mask=(tl.load(O + i) > 0) & (i < 100))").accesses[-1]
    assert not load.is_exact
    assert (load.runtime, load.map.runtime) == ((), ())
    assert load.map.count() == 100


TYPED = "x = tl.load(O + i)\ntl.load(A + x + n, mask=tl.load(O + 8) > x)"


def test_pointers_may_have_a_type_that_tells_what_is_loaded() -> None:
    *_, load = read(TYPED, arguments={"O": "*i16", "n": 32768}).accesses
    assert load.is_exact
    bounds = [Interval(-32768, 32766), Interval(-32767, 32767)]  # one is less than the other
    assert [each.bounds for each in load.map.runtime] == bounds
    assert load.out_of_bounds((65536,)) is None
    assert not read(TYPED, arguments={"n": 0}).accesses[-1].is_exact
    with pytest.raises(TritonError, match=r"depends on a number of the type fp16, in line 5"):
        read(TYPED, arguments={"O": "*fp16", "n": 32768})
