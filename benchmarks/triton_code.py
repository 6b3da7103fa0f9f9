"""Counts what Triton makes of kernels that `ops.emit_kernel` writes, beside those of an expert.

    python -m benchmarks.triton_code
    python -m benchmarks.triton_code --tilings
    python -m benchmarks.triton_code --vectors [STEP]

Kernels by hand are those of `triton_by_hand.py`. Triton lowers both to PTX for two generations of
GPUs, which takes none. Fewer instructions and fewer loads are better: a load of a vector counts as
one of a single element does.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.emitted import fusions
from benchmarks.triton_by_hand import KERNELS, HandWritten
from indexing.layout import ElementType
from ops import Fusion, KernelError, TilingCandidate, emit_kernel, tilings
from ops.hlo import Instruction
from ops.performance import A100

COMPUTE_CAPABILITIES: Final = (80, 90)

BLOCK: Final = 1024
"""The elements of a tile that `ops.emit_kernel` plans, as far as sizes allow."""

POINTERS: Final = {
    ElementType.PRED: "*i1", ElementType.F16: "*fp16", ElementType.BF16: "*bf16",
    ElementType.F32: "*fp32", ElementType.F64: "*fp64",
    **{ElementType(f"s{bits}"): f"*i{bits}" for bits in (8, 16, 32, 64)},
    **{ElementType(f"u{bits}"): f"*u{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Triton's types of pointers to elements."""


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

    @property
    def loads(self) -> int:
        """All loads."""
        return self.scalar + self.vector


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


def counts_of_both(
    kernel: HandWritten, folder: Path, capability: int, tiling: TilingCandidate | None = None
) -> list[Counts]:
    """What stands in the kernel that is emitted, and in the one by hand."""
    pointers = ["*fp32"] * (len(kernel.fusion.operands) + 1)
    found: list[Counts] = []
    ours = emit_kernel(kernel.fusion, "triton", tiling=tiling)
    for who, text in (("emitted", ours), ("hand", kernel.text)):
        name = re.sub(r"\W", "_", f"{kernel.name} {who} {capability}")
        module = imported(text, folder / f"{name}.py")
        warps = getattr(module, "kernel_warps", WARPS)
        found.append(counts_of(lowered(module.kernel, pointers, capability, warps)["ptx"]))
    return found


WARPS: Final = 4
"""Those of a program where nothing is said."""


def lowered(
    function: Any,  # noqa: ANN401 - Triton's, of any signature
    pointers: Sequence[str],
    capability: int = COMPUTE_CAPABILITIES[0],
    warps: int = WARPS,
) -> Mapping[str, str]:
    """What Triton makes of a function of pointers to aligned arrays: ``ttgir``, ``ptx``, ..."""
    triton: Any = importlib.import_module("triton")
    compiler: Any = importlib.import_module("triton.compiler")
    backend: Any = importlib.import_module("triton.backends.compiler")
    source = compiler.ASTSource(
        fn=function,
        signature=dict(zip(function.arg_names, pointers, strict=True)),
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(pointers))},
    )
    target = backend.GPUTarget("cuda", capability, 32)
    options = {"enable_fp_fusion": True, "num_warps": warps}
    texts: Mapping[str, str] = triton.compile(source, target=target, options=options).asm
    return texts


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


def first_tiling(fusion: Fusion) -> TilingCandidate:
    """The first one whose tiles have at most so many elements of 32 bits as planned ones."""
    return next(each for each in tilings(fusion, A100) if each.registers <= BLOCK)


# Why kernels load no vectors.

THREADS: Final = 32
"""Of a warp."""

_LAYOUT: Final = re.compile(
    r"^#(\w+) = #ttg\.blocked<\{sizePerThread = \[([\d, ]+)\]", re.MULTILINE
)
_LOAD: Final = re.compile(
    r"tt\.load (.*) : (?:tensor<([\dx]+)x)?!tt\.ptr<[a-z]+(\d+)>(?:, .*#(\w+))?.* loc"
)
_LOADED: Final = re.compile(r"ld\.global[\w.:]*?(?:\.v(\d))?\.b(\d+)")


def loads_of(texts: Mapping[str, str], warps: int) -> str:
    """Whether a kernel loads several elements at once, or the first reason why it does not.

    >>> loads_of({"ttgir": "tt.load %x : !tt.ptr<f32> loc", "ptx": "ld.global.b32"}, 4)
    'one number at a place'
    """
    widths = {
        name: max(map(int, sizes.split(","))) for name, sizes in _LAYOUT.findall(texts["ttgir"])
    }
    loads = [
        (text, prod(map(int, sizes.split("x"))) if sizes else 1, int(bits), widths.get(layout, 1))
        for text, sizes, bits, layout in _LOAD.findall(texts["ttgir"])
    ]
    together = [int(count or 1) * int(bits) for count, bits in _LOADED.findall(texts["ptx"])]
    tiles = [each for each in loads if each[1] > 1]
    wide = [each for each in tiles if each[3] > 1]
    if not loads:
        return "nothing"
    if any(most > min(each[2] for each in wide) for most in together if wide):
        return "vectors"
    if not tiles:
        return "one number at a place"
    if all(count < 2 * THREADS * warps for _, count, _, _ in tiles):
        return "less than two elements for each thread"
    if any("," in text for text, _, _, _ in wide):
        return "a mask that ends inside of vectors"
    return (
        "elements with gaps, or in another order" if wide else "rows that begin inside of vectors"
    )


def loads_by_reason(given: Iterable[Instruction], folder: Path) -> Counter[str]:
    """How many kernels of fusions load vectors, and why others do not."""
    found: Counter[str] = Counter()
    for number, each in enumerate(given):
        fusion = Fusion.of(each)
        try:
            text = emit_kernel(fusion, "triton")
        except KernelError:
            continue
        arrays = [*(one.shape for one in fusion.operands), *each.shape.arrays]
        module = imported(text, folder / f"kernel{number}.py")
        pointers = [POINTERS[one.element_type] for one in arrays]
        warps = getattr(module, "kernel_warps", WARPS)
        found[loads_of(lowered(module.kernel, pointers, warps=warps), warps)] += 1
    return found


# The program.


def main(arguments: Sequence[str]) -> None:
    """Print one line for each kernel and generation, or for each reason."""
    if importlib.util.find_spec("triton") is None:
        print("skipped: pip install 'symbolic-indexing[benchmarks]'")
        return
    if arguments[:1] == ["--vectors"]:
        with TemporaryDirectory() as folder:
            step = int(arguments[1]) if arguments[1:] else 13
            reasons = loads_by_reason(fusions()[::step], Path(folder))
        print(f"{reasons.total()} kernels load")
        for reason, count in reasons.most_common():
            print(f"{count:6} {reason}")
        return
    print(f"{'kernel':16}{'for':>8}{'instructions':>16}{'loads':>12}{'of vectors':>12}{'ratio':>8}")
    worst = 0.0
    with TemporaryDirectory() as folder:
        for kernel in KERNELS:
            tiling = first_tiling(kernel.fusion) if "--tilings" in arguments else None
            for capability in COMPUTE_CAPABILITIES:
                both = counts_of_both(kernel, Path(folder), capability, tiling)
                ratio = both[0].instructions / both[1].instructions
                worst = max(worst, ratio)
                instructions, loads, vectors = (
                    " / ".join(map(str, map(figure, both)))
                    for figure in map(attrgetter, ("instructions", "loads", "vector"))
                )
                cells = f"sm_{capability:<5}{instructions:>16}{loads:>12}{vectors:>12}{ratio:8.2f}"
                print(f"{kernel.name:16}{cells}")
    print(f"emitted / by hand; at most {worst:.2f} times the instructions of those by hand")


if __name__ == "__main__":
    main(sys.argv[1:])
