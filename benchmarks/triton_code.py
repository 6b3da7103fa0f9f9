"""Counts what Triton makes of kernels that `ops.emit_kernel` writes, beside those of an expert.

    python -m benchmarks.triton_code

Kernels by hand are those of `triton_by_hand.py`. Triton lowers both to PTX for two generations of
GPUs, which takes none. Fewer instructions and fewer loads are better: a load of a vector counts as
one of a single element does.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.triton_by_hand import KERNELS, HandWritten
from ops import emit_kernel

COMPUTE_CAPABILITIES: Final = (80, 90)


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


def counts_of_both(kernel: HandWritten, folder: Path, capability: int) -> list[Counts]:
    """What stands in the kernel that is emitted, and in the one by hand."""
    pointers = ["*fp32"] * (len(kernel.fusion.operands) + 1)
    found: list[Counts] = []
    for who, text in (("emitted", emit_kernel(kernel.fusion, "triton")), ("hand", kernel.text)):
        name = re.sub(r"\W", "_", f"{kernel.name} {who} {capability}")
        function = imported(text, folder / f"{name}.py").kernel
        found.append(counts_of(lowered(function, pointers, capability)))
    return found


def lowered(
    function: Any,  # noqa: ANN401 - Triton's, of any signature
    pointers: Sequence[str],
    capability: int = COMPUTE_CAPABILITIES[0],
) -> str:
    """A function of pointers to aligned arrays in PTX, by Triton."""
    triton: Any = importlib.import_module("triton")
    compiler: Any = importlib.import_module("triton.compiler")
    backend: Any = importlib.import_module("triton.backends.compiler")
    source = compiler.ASTSource(
        fn=function,
        signature=dict(zip(function.arg_names, pointers, strict=True)),
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(pointers))},
    )
    target = backend.GPUTarget("cuda", capability, 32)
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
    """Print one line for each kernel and generation."""
    if importlib.util.find_spec("triton") is None:
        print("skipped: pip install 'symbolic-indexing[benchmarks]'")
        return
    print(f"{'kernel':16}{'for':>8}{'instructions':>16}{'loads':>12}{'of vectors':>12}{'ratio':>8}")
    worst = 0.0
    with TemporaryDirectory() as folder:
        for kernel in KERNELS:
            for capability in COMPUTE_CAPABILITIES:
                both = counts_of_both(kernel, Path(folder), capability)
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
    main()
