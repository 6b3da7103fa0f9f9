"""Accesses to memory, what the library predicts of each, and the kernels in CUDA that make them.

>>> print(ACCESSES[0])
row: (th_x, bl_x) -> (bl_x * 256 + th_x), domain: th_x in [0, 255], bl_x in [0, 63]
>>> predicted(ACCESSES[0])
Counts(requests=512, sectors=2048, bank_conflicts=None)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from indexing import IndexingMap, emit_loops, parse_map
from ops import coalescing
from ops.performance import A100, Device

DEVICE: Final[Device] = A100
"""Warps of 32, sectors of 32 bytes and 32 banks of 4 bytes: as all of NVIDIA's since Volta."""


class Counts(NamedTuple):
    """What the counters of a kernel say, or what is predicted of it."""

    requests: int | None = None
    """Instructions of warps that load from global memory."""
    sectors: int | None = None
    """Sectors of 32 bytes that these touch."""
    bank_conflicts: int | None = None
    """Cycles that loads from shared memory wait for a bank."""


@dataclass(frozen=True)
class Access:
    """Each thread loads the elements at some offsets: one, or one for each value of ``s0``."""

    group: str
    name: str
    element_type: str
    offset: str
    threads: int
    blocks: int = 1
    steps: int = 1

    @property
    def is_shared(self) -> bool:
        """Whether the array lies in shared memory, else in global memory."""
        return self.group.startswith("shared")

    @cached_property
    def map(self) -> IndexingMap:
        """From the thread, the block and the step to the offset of an element."""
        ranges, known = ("[s0]", f", s0 in [0, {self.steps - 1}]") if self.steps > 1 else ("", "")
        ends = f"th_x in [0, {self.threads - 1}], bl_x in [0, {self.blocks - 1}]{known}"
        return parse_map(f"(th_x, bl_x){ranges} -> ({self.offset}), domain: {ends}")

    @property
    def elements(self) -> int:
        """The size of the array."""
        (offsets,) = self.map.result_bounds()
        return int(offsets.upper or 0) + 1

    def __str__(self) -> str:
        return f"{self.name}: {self.map}"


def predicted(access: Access) -> Counts:
    """What the library says."""
    found = coalescing(access.map, DEVICE, element_type=access.element_type)
    if access.is_shared:
        return Counts(bank_conflicts=_number(found.bank_conflicts))
    return Counts(_number(found.loads), _number(found.sectors))


def _number(count: object) -> int:
    if not isinstance(count, int):
        raise TypeError(f"a count is {count}; expected a number, as no access depends on values")
    return count


_TABLE: Final[dict[str, list[tuple[str, str, str, int, int, int]]]] = {
    "transposes": [
        ("row", "f32", "bl_x * 256 + th_x", 256, 64, 1),
        ("column", "f32", "th_x * 64 + bl_x", 256, 64, 1),
        ("column of halves", "f16", "th_x * 64 + bl_x", 256, 64, 1),
        ("column of doubles", "f64", "th_x * 64 + bl_x", 256, 64, 1),
        ("column of bytes", "s8", "th_x * 64 + bl_x", 256, 64, 1),
        ("8 columns of 4", "f32", "th_x mod 4 * 64 + th_x floordiv 4 + bl_x * 256", 256, 16, 1),
        ("planes swapped", "f32", "th_x floordiv 16 + th_x mod 16 * 512 + bl_x * 16", 256, 32, 1),
    ],
    "strides": [
        *(
            (f"stride {stride}", "f32", f"(bl_x * 256 + th_x) * {stride}", 256, 32, 1)
            for stride in (2, 3, 4, 5, 8, 33)
        ),
        ("shifted by 1", "f32", "bl_x * 256 + th_x + 1", 256, 32, 1),
        ("backwards", "f32", "8191 - bl_x * 256 - th_x", 256, 32, 1),
        ("vectors of 16 bytes", "c128", "bl_x * 256 + th_x", 256, 32, 1),
        ("48 threads", "f32", "bl_x * 48 + th_x", 48, 32, 1),
    ],
    "gathers": [
        ("one element for all", "f32", "bl_x", 256, 32, 1),
        ("each element four times", "f32", "bl_x * 64 + th_x floordiv 4", 256, 32, 1),
        (
            "rows of 8 by a permutation",
            "f32",
            "th_x floordiv 8 * 37 mod 32 * 8 + th_x mod 8",
            256,
            1,
            1,
        ),
        ("elements by a permutation", "f32", "(bl_x * 256 + th_x) * 37 mod 8192", 256, 32, 1),
        ("halves by a permutation", "f16", "(bl_x * 256 + th_x) * 37 mod 8192", 256, 32, 1),
    ],
    "reductions": [
        ("down the columns", "f32", "s0 * 256 + th_x + bl_x * 16384", 256, 16, 64),
        ("rows of 8 apart", "f32", "th_x * 512 + s0 * 8 + bl_x", 256, 8, 64),
        (
            "a warp along a row",
            "f32",
            "(bl_x * 8 + th_x floordiv 32) * 1024 + s0 * 32 + th_x mod 32",
            256,
            16,
            32,
        ),
        ("windows of 3 by 3", "f32", "bl_x * 34 + th_x + s0 floordiv 3 * 34 + s0 mod 3", 32, 32, 9),
        ("pairs of rows", "f32", "(bl_x * 2 + s0) * 256 + th_x", 256, 32, 2),
    ],
    "shared memory": [
        *(
            (f"column of a tile {row} wide", "f32", f"th_x * {row}", 32, 1, 1)
            for row in (32, 33, 34, 36, 40, 48)
        ),
        ("column of a tile of halves", "f16", "th_x * 64", 32, 1, 1),
        ("row of doubles", "f64", "th_x", 32, 1, 1),
        ("stride 2 of doubles", "f64", "th_x * 2", 32, 1, 1),
    ],
    "shared memory, swizzled": [
        ("column, rotated", "f32", "th_x * 32 + (th_x + s0) mod 32", 32, 1, 32),
        (
            "8 rows of 4, rotated",
            "f32",
            "th_x mod 8 * 32 + (th_x mod 8 + th_x floordiv 8) mod 8 * 4",
            32,
            1,
            1,
        ),
        ("8 rows of 4", "f32", "th_x mod 8 * 32 + th_x floordiv 8 * 4", 32, 1, 1),
        ("tiles of 4 by 8", "f32", "th_x floordiv 8 * 8 + th_x mod 8 * 32", 32, 1, 1),
    ],
}
ACCESSES: Final = tuple(Access(group, *row) for group, rows in _TABLE.items() for row in rows)


# CUDA.

_TYPES: Final = {
    "c128": "double2",
    "f16": "unsigned short",
    "f32": "float",
    "f64": "double",
    "s8": "signed char",
}

_HEAD: Final = """#include <cstdio>
#include <cuda_runtime.h>

template <typename T> __host__ __device__ float number(T value) { return (float)value / 2; }
__host__ __device__ float number(double2 value) { return (float)(value.x + value.y); }
"""

_MAIN: Final = """
int main() {{
  void *memory;
  float *out;
  cudaMalloc(&memory, {bytes});
  cudaMalloc(&out, 4);
  cudaMemset(memory, 0, {bytes});
{launches}
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::fprintf(stderr, "%s\\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}}
"""
_BYTES: Final = 1 << 26
"""More than any access touches."""

KERNEL_NAME: Final = "access_{}"


def program() -> str:
    """All kernels in CUDA, each launched once."""
    kernels = (_kernel(KERNEL_NAME.format(n), each) for n, each in enumerate(ACCESSES))
    launches = (
        f"  {KERNEL_NAME.format(n)}<<<{each.blocks}, {each.threads}>>>"
        f"(({_TYPES[each.element_type]} *)memory, out);"
        for n, each in enumerate(ACCESSES)
    )
    main = _MAIN.format(bytes=_BYTES, launches="\n".join(launches))
    return "\n".join(chain([_HEAD], kernels, [main]))


def _kernel(name: str, access: Access) -> str:
    """A kernel; its sum is never 1.5, but the compiler does not know that."""
    element, given = _TYPES[access.element_type], "given"
    array = f"const {element} *memory"
    declared = ""
    if access.is_shared:
        array = f"const volatile {element} *memory"
        given, declared = "shared", f"  __shared__ volatile {element} shared[{access.elements}];\n"
    loops = emit_loops(
        access.map,
        "cuda",
        "sum += number(memory[place]);",
        "place",
        parameters=f"{array}, float &sum",
    ).replace("place_loops", f"{name}_loops")
    return f"""{loops}
__global__ void {name}(const {element} *given, float *out) {{
  float sum = 0;
{declared}  {name}_loops(threadIdx.x, blockIdx.x, {given}, sum);
  if (sum == 1.5f) *out = sum;
}}
"""
