"""Counts what Triton makes of indices that `indexing.emit` writes, beside indices by hand.

    python -m benchmarks.triton_code

Ten fusions of tests/data/hlo become two kernels each. They differ only in their indices and masks:
those by hand, and those of the maps from the flat index of the result to that of each operand.
Triton lowers both to PTX, which takes no GPU. Fewer operations on 64 bits and fewer loads of single
elements are better: a mask or an index that hides what is contiguous costs the loads of vectors.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import ops
from benchmarks.kernels import KERNELS, Kernel
from indexing import IndexingMap, emit

BLOCK: Final = 1024
"""Elements of a program; each of its 128 threads has eight of them."""

COMPUTE_CAPABILITY: Final = 80


@dataclass(frozen=True)
class Indices:
    """How each operand is read by hand, for element ``i`` of the result, and what is made of it.

    Attributes:
        by_hand: the index of each operand, in Triton.
        value: of the operands ``x0``, ``x1``, ...
        mask: where elements are read by hand, if not everywhere.
    """

    by_hand: tuple[str, ...]
    value: str
    mask: str = ""


INDICES: Final[dict[str, Indices]] = {
    "scale_rows": Indices(("i", "i // 128"), "x0 * x1"),
    "center": Indices(("i", "i // 64"), "x0 - x1 * 0.015625"),
    "normalize": Indices(
        ("i % 64", "i % 64", "i // 64", "i", "i // 64"), "(x3 - x4 * 0.015625) * x2 * x1 + x0"
    ),
    "batch_norm": Indices(
        ("i % 8", "i % 8", "i % 8", "i", "i % 8"),
        "tl.maximum((x3 - x4 * 0.001953125) * (x1 * x2) + x0, 0.0)",
    ),
    "residual_with_bias": Indices(("i % 64", "i", "i"), "x1 + x2 + x0"),
    "batch_inside": Indices(("i // 8 % 2 * 2048 + i // 16 * 8 + i % 8",), "x0"),
    "heads_of_queries": Indices(
        ("(i // 1024 * 16 + i // 16 % 16) * 192 + i // 256 % 4 * 16 + i % 16",), "x0"
    ),
    "channels_first": Indices(("(i // 6912 * 256 + i % 256) * 27 + i // 256 % 27",), "x0"),
    "scale_and_regroup": Indices(
        ("(i // 512 * 32 + i % 32) * 16 + i // 32 % 16", "i // 512 * 32 + i % 32"), "x0 * x1"
    ),
    "shift_right": Indices(
        ("(i // 2312 * 16 + i // 136 % 17) * 128 + i % 136 - 16",),
        "x0",
        "(i % 136 >= 16) & (i // 136 % 17 < 16)",
    ),
}
"""By the names of the functions in hand_written.c."""


class Counts(NamedTuple):
    """What a kernel in PTX has."""

    wide: int
    """Operations on 64 bits."""
    scalar: int
    """Loads of single elements."""
    vector: int
    """Loads of vectors."""
    instructions: int
    """All instructions but declarations and moves of parameters."""


# Kernels.

_KERNEL: Final = """import triton
import triton.language as tl


@triton.jit
def kernel({parameters}, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    is_inside = i < {count}
{body}
    tl.store(y + i, {value}, mask=is_inside)
"""


def by_hand(kernel: Kernel) -> str:
    """The kernel with indices by hand."""
    indices = INDICES[kernel.name]
    mask = f"is_inside & {indices.mask}" if indices.mask else "is_inside"
    loads = [_load(number, index, mask) for number, index in enumerate(indices.by_hand)]
    return _kernel(kernel, loads)


def emitted(kernel: Kernel) -> str:
    """The kernel with the indices and masks of its maps."""
    maps = flat_maps(kernel)
    names = [f"index{number}" for number in range(len(maps))]
    call = f"{'_'.join(names)}(i)"
    several = len(maps) > 1
    loads = [f"    found = {call}"]
    for number, name in enumerate(names):
        index = f"found[{number}][0]" if several else "found"
        loads.append(_load(number, index, f"{name}_mask(i)"))
    head, _, functions = emit(maps, "triton", names).partition("@triton.jit")
    kernel_head, _, own = _kernel(kernel, loads).partition("@triton.jit")
    return f"{head}@triton.jit{functions}\n\n@triton.jit{own}" if head else kernel_head + own


def flat_maps(kernel: Kernel) -> list[IndexingMap]:
    """From the flat index of the result to that of each operand.

    >>> kernel = next(each for each in KERNELS if each.name == "center")
    >>> [str(each).partition(",")[0] for each in flat_maps(kernel)]
    ['(d0) -> (d0)', '(d0) -> (d0 floordiv 64)']
    """
    root = kernel.computation.root
    sizes = root.shape.dimensions
    unflatten = ops.reshape(sizes, (prod(sizes),)).output_to_input[0]
    found = kernel.fusion.indexing(root)
    maps: list[IndexingMap] = []
    for parameter in kernel.computation.parameters:
        ways = found[parameter]
        if isinstance(ways, ops.Unknown):
            raise TypeError(f"{kernel.name} has no maps: {ways.reason}")
        (way,) = ways
        of = parameter.shape.dimensions
        flatten = ops.reshape((prod(of),), of).output_to_input[0]
        maps.append((flatten @ way.map @ unflatten).simplify())
    return maps


def _load(number: int, index: str, mask: str) -> str:
    return f"    x{number} = tl.load(p{number} + ({index}), mask={mask}, other=0.0)"


def _kernel(kernel: Kernel, loads: list[str]) -> str:
    parameters = ", ".join(f"p{number}" for number in range(len(kernel.operands)))
    return _KERNEL.format(
        parameters=parameters,
        count=prod(kernel.result.shape),
        body="\n".join(loads),
        value=INDICES[kernel.name].value,
    )


# PTX.


def counts_of(ptx: str) -> Counts:
    """What stands in a kernel.

    >>> counts_of(\"\"\"
    ...   mov.u32 %r1, %tid.x;
    ...   mul.wide.s32 %rd2, %r1, 4;
    ...   @%p1 ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd2 + 0];
    ...   ld.global.b32 %r6, [%rd2 + 16];\"\"\")
    Counts(wide=1, scalar=1, vector=1, instructions=4)
    """
    opcodes = _OPCODE.findall(ptx)
    loads = [each for each in opcodes if each.startswith("ld.global")]
    vectors = [each for each in loads if re.search(r"\.v[248]\.", each)]
    return Counts(
        wide=sum(bool(_WIDE.search(each)) for each in opcodes),
        scalar=len(loads) - len(vectors),
        vector=len(vectors),
        instructions=len(opcodes),
    )


_OPCODE: Final = re.compile(
    r"^\s*(?:@!?%\w+\s+)?((?!ld\.param|ret|bra)[a-z]\w*\.[\w.:]+)\s", re.MULTILINE
)
_WIDE: Final = re.compile(r"^(?!mov|cvta|ld|st).*\.(?:[sub]64\b|wide)")


def ptx_of(kernel: Kernel, text: str, path: Path) -> str:
    """The text of a kernel, written to a file, in PTX, by Triton."""
    function = imported(text, path).kernel
    return lowered(function, ["*fp32"] * (len(kernel.operands) + 1), {"BLOCK": BLOCK})


def lowered(
    function: Any,  # noqa: ANN401 - Triton's, of any signature
    pointers: Sequence[str],
    constants: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """A function in PTX, by Triton; its first parameters are pointers to aligned arrays."""
    triton: Any = importlib.import_module("triton")
    compiler: Any = importlib.import_module("triton.compiler")
    backend: Any = importlib.import_module("triton.backends.compiler")
    names = function.arg_names
    source = compiler.ASTSource(
        fn=function,
        signature={
            **dict(zip(names, pointers, strict=False)),
            **dict.fromkeys(constants, "constexpr"),
        },
        constexprs=dict(constants),
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(pointers))},
    )
    target = backend.GPUTarget("cuda", COMPUTE_CAPABILITY, 32)
    options = {"enable_fp_fusion": True}
    ptx: str = triton.compile(source, target=target, options=options).asm["ptx"]
    return ptx


def imported(text: str, path: Path) -> Any:  # noqa: ANN401 - a module has any names
    """A module with this text: Triton reads the source of its functions from their file."""
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


# The program.


def main() -> None:
    """Print one line a fusion."""
    if importlib.util.find_spec("triton") is None:
        print("skipped: pip install 'symbolic-indexing[benchmarks]'")
        return
    kernels = {kernel.name: kernel for kernel in KERNELS}
    print(f"{'function':24}{'64-bit':>14}{'scalar loads':>16}{'vector loads':>16}{'all':>12}")
    worse = 0
    with TemporaryDirectory() as folder:
        for name in INDICES:
            ours, hand = (
                counts_of(ptx_of(kernels[name], text, Path(folder) / f"{name}_{who}.py"))
                for who, text in (
                    ("ours", emitted(kernels[name])),
                    ("hand", by_hand(kernels[name])),
                )
            )
            worse += ours.wide > hand.wide or ours.scalar > hand.scalar
            pairs = (f"{mine} / {theirs}" for mine, theirs in zip(ours, hand, strict=True))
            print("{:24}{:>14}{:>16}{:>16}{:>12}".format(name, *pairs))
    print(f"emitted / by hand; more 64-bit operations or scalar loads than by hand: {worse}")


if __name__ == "__main__":
    main()
