"""Kernels that run on a GPU: emitted ones beside PyTorch's, and tiles in the order of `tilings`."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.gpu.accesses import DEVICE
from benchmarks.gpu.counters import NotMeasuredError
from benchmarks.gpu.fusions import ARGUMENTS, EXPRESSIONS, arguments, fusion
from benchmarks.triton_code import imported
from ops import Fusion, TilingCandidate, emit_kernel, hlo, tilings
from ops.performance import DEVICES

Row: TypeAlias = dict[str, Any]
"""What was measured, by the names of the columns."""


@dataclass(frozen=True)
class Gpu:
    """A GPU as PyTorch and Triton see it."""

    name: str
    folder: Path
    """For the texts of kernels, which Triton reads from files."""
    torch: Any
    milliseconds: Callable[[Callable[[], object]], float]
    """The time of a call, as a median."""
    compiled: Callable[[Any], Any]
    """A function by PyTorch's compiler."""
    device: str = "cuda"

    @classmethod
    def found(cls, folder: Path) -> Gpu:
        """That of this machine.

        Raises:
            NotMeasuredError: there is none, or PyTorch or Triton is missing.
        """
        for name in ("torch", "triton"):
            if importlib.util.find_spec(name) is None:
                raise NotMeasuredError(f"{name} is not installed")
        torch: Any = importlib.import_module("torch")
        if not torch.cuda.is_available():
            raise NotMeasuredError("PyTorch finds no GPU")
        testing: Any = importlib.import_module("triton.testing")

        def milliseconds(call: Callable[[], object]) -> float:
            return float(testing.do_bench(call, warmup=10, rep=50, return_mode="median"))

        name = str(torch.cuda.get_device_name())
        return cls(name, folder, torch, milliseconds, torch.compile)

    def module(self, text: str) -> Any:  # noqa: ANN401 - a module has any names
        """A module with this text."""
        number = len([*self.folder.iterdir()])
        return imported(text, self.folder / f"kernels_{number}.py")

    def random(self, *sizes: int, dtype: str = "float32") -> Any:  # noqa: ANN401 - PyTorch's
        """An array of numbers from 0 to 1."""
        return self.torch.rand(*sizes, device=self.device).to(getattr(self.torch, dtype))


# Emitted kernels.


def emitted_rows(gpu: Gpu, n: int = 4096, m: int = 4096) -> Iterator[Row]:
    """Whether each emitted kernel is right, and its time beside PyTorch's."""
    sizes = {"n": n, "m": m}
    arrays = {
        name: gpu.random(*(sizes[size] for size in sizes if f"{{{size}}}" in shape))
        for name, shape in ARGUMENTS.items()
    }
    for name in EXPRESSIONS:
        row: Row = {"fusion": name}
        try:
            given = [arrays[each] for each in arguments(name)]
            yield row | _compared(gpu, name, (n, m), given)
        except Exception as error:  # noqa: BLE001 - one kernel does not stop the others
            reason = (str(error).splitlines() or [""])[0]
            yield row | {"problem": f"{type(error).__name__}: {reason}"}


def _compared(gpu: Gpu, name: str, sizes: tuple[int, int], given: Sequence[Any]) -> Row:
    expression = f"def expression({', '.join(arguments(name))}):\n    return {EXPRESSIONS[name]}\n"
    head = "import torch\nfrom torch.nn import functional\n\n\n"
    theirs = gpu.module(head + expression).expression
    ours = gpu.module(emit_kernel(fusion(name, *sizes), "triton", "kernel"))
    wanted = theirs(*given)
    result = gpu.torch.empty(wanted.shape, dtype=wanted.dtype, device=gpu.device)

    def launch() -> None:
        ours.kernel[(ours.kernel_programs,)](*given, result, num_warps=ours.kernel_warps)

    launch()
    fast = gpu.compiled(theirs)
    return {
        "is_right": bool(gpu.torch.allclose(result, wanted, rtol=1e-3, atol=1e-3)),
        "emitted_ms": gpu.milliseconds(launch),
        "torch_ms": gpu.milliseconds(lambda: theirs(*given)),
        "compiled_ms": gpu.milliseconds(lambda: fast(*given)),
    }


# The ranking of tiles.

TILES: Final = 24
"""Tiles of each fusion that are measured, from the first to the last of the ranking."""

MAX_ELEMENTS: Final = 1 << 14
"""Of a tile: Triton takes minutes to compile larger ones."""

_HEAD: Final = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
_TRANSPOSE: Final = """def kernel(x, y, N: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr):
    i = tl.program_id(0) // (N // T1) * T0 + tl.arange(0, T0)[:, None]
    j = tl.program_id(0) % (N // T1) * T1 + tl.arange(0, T1)[None, :]
    tl.store(y + i * N + j, tl.load(x + j * N + i))
"""
_ROW_SUM: Final = """def kernel(x, y, N: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr):
    i = tl.program_id(0) * T0 + tl.arange(0, T0)
    total = tl.zeros([T0], tl.float32)
    for first in range(0, N, T1):
        total += tl.sum(tl.load(x + i[:, None] * N + first + tl.arange(0, T1)[None, :]), 1)
    tl.store(y + i, total)
"""
_DOT: Final = """def kernel(
    x, y, z, N: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr, T2: tl.constexpr
):
    i = tl.program_id(0) // (N // T1) * T0 + tl.arange(0, T0)[:, None]
    j = tl.program_id(0) % (N // T1) * T1 + tl.arange(0, T1)[None, :]
    k = tl.arange(0, T2)
    total = tl.zeros([T0, T1], tl.float32)
    for first in range(0, N, T2):
        left = tl.load(x + i * N + first + k[None, :])
        total += tl.dot(left, tl.load(y + (first + k[:, None]) * N + j))
    tl.store(z + i * N + j, total)
"""


@dataclass(frozen=True)
class Tiled:
    """A fusion of ``f32[N,N]``, or ``f16[N,N]``, by a kernel whose tiles are its parameters."""

    name: str
    hlo: str
    kernel: str
    operands: tuple[str, ...]
    """Their element types."""
    least: int = 1
    """The least size of a tile: 16 where Triton multiplies."""

    def fusion(self, n: int) -> Fusion:
        """The fusion on arrays of ``n`` by ``n``."""
        return Fusion.of_computation(hlo.parse(re.sub(r"\bN\b", str(n), self.hlo)).entry)


_SUM: Final = "sum { a = f32[] parameter(0) o = f32[] parameter(1) ROOT s = f32[] add(a, o) }\n"
TILED: Final = (
    Tiled(
        "transpose",
        "ENTRY e { x = f32[N,N] parameter(0) ROOT t = f32[N,N] transpose(x), dimensions={1,0} }",
        _TRANSPOSE,
        ("float32",),
    ),
    Tiled(
        "row sum",
        f"{_SUM}ENTRY e {{ x = f32[N,N] parameter(0) zero = f32[] constant(0)"
        " ROOT r = f32[N] reduce(x, zero), dimensions={1}, to_apply=sum }",
        _ROW_SUM,
        ("float32",),
    ),
    Tiled(
        "dot",
        "ENTRY e { x = f16[N,N] parameter(0) y = f16[N,N] parameter(1)"
        " ROOT d = f32[N,N] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
        _DOT,
        ("float16", "float16"),
        least=16,
    ),
)


def ranking_rows(gpu: Gpu, n: int = 2048, tiles: int = TILES) -> Iterator[Row]:
    """For each fusion the tiles in our order, their times, and how far the orders agree."""
    device = next((each for each in DEVICES.values() if each.name in gpu.name), DEVICE)
    for tiled in TILED:
        candidates = _spread(tilings(tiled.fusion(n), device), tiled.least, tiles)
        yield {"fusion": tiled.name} | _ranked(gpu, tiled, n, candidates)


def _ranked(gpu: Gpu, tiled: Tiled, n: int, candidates: Sequence[TilingCandidate]) -> Row:
    operands = [gpu.random(n, n, dtype=each) for each in tiled.operands]
    result = gpu.torch.empty(n, n, device=gpu.device)
    kernel = gpu.module(_HEAD + tiled.kernel).kernel
    measured: list[Row] = []
    problems: list[str] = []
    for each in candidates:
        sizes = {f"T{axis}": size for axis, size in enumerate(each.sizes)}
        launch = partial(kernel[(each.programs,)], *operands, result, N=n, **sizes)
        try:
            launch()
            measured.append({"sizes": each.sizes, "ms": gpu.milliseconds(launch)})
        except Exception as error:  # noqa: BLE001 - one tile does not stop the others
            problems.append(f"{each.sizes}: {type(error).__name__}")
    order = spearman([*range(len(measured))], [each["ms"] for each in measured])
    return {"spearman": order, "tiles": measured, "problems": problems}


def _spread(found: Sequence[TilingCandidate], least: int, count: int) -> list[TilingCandidate]:
    """Some candidates, evenly from the first to the last of those that a kernel can have."""
    usable = [each for each in found if min(each.sizes) >= least and each.registers <= MAX_ELEMENTS]
    places = np.linspace(0, len(usable) - 1, min(count, len(usable)))
    return [usable[round(place)] for place in places]


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The rank correlation of two columns; ``None`` if one has no order.

    >>> spearman([1, 2, 3, 4], [10, 20, 40, 30]), spearman([1, 2, 3], [3, 2, 1])
    (0.8, -1.0)
    >>> spearman([1, 2, 3], [5, 5, 5]) is None
    True
    """
    ranks = [_ranks(np.asarray(each, float)) for each in (one, other)]
    if any(len({*each.tolist()}) < 2 for each in ranks):  # noqa: PLR2004 - an order
        return None
    return round(float(np.corrcoef(ranks)[0, 1]), 3)


def _ranks(values: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, Any]:
    """The place of each value in order; equal values share the middle of theirs."""
    less = (values[:, None] > values).sum(1)
    return less + ((values[:, None] == values).sum(1) - 1) / 2
