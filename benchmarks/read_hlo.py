"""Prints the time to parse HLO text, and its ratio to that of jaxlib's C++ parser.

    python benchmarks/read_hlo.py [FILE ...]

The default files are the largest real modules of examples/ and tests/data, and synthetic modules of
growing size up to 3 MB; the time for an instruction must not grow with them. The least processor
time of several runs counts. There is no ratio if jaxlib is missing.
"""

from __future__ import annotations

import gzip
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ops import hlo

ROOT = Path(__file__).parents[1]
LARGEST = 8
RUNS = 3
SYNTHETIC_BYTES = (100_000, 300_000, 1_000_000, 3_000_000)

Reader = Callable[[str], object]


def main(arguments: list[str]) -> None:
    """Print one line a module."""
    xla = xla_reader()
    titles = ("module", "kB", "instr.", "ms", "us/instr.", "XLA ms", "ratio")
    print("{:60} {:>5} {:>6} {:>7} {:>9} {:>7} {:>6}".format(*titles))
    for name, text in named_texts(arguments):
        print(line(name, text, xla))


def xla_reader() -> Reader | None:
    """XLA's parser in jaxlib, a private function that has moved before; ``None`` if not found."""
    try:
        return importlib.import_module("jaxlib._hlo").hlo_module_from_text
    except (ImportError, AttributeError):
        print("no ratio: jaxlib._hlo.hlo_module_from_text is missing; pip install 'jaxlib>=0.10'")
        return None


def named_texts(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """The modules to parse: the files in the arguments, or the largest available ones."""
    if arguments:
        yield from ((name, text_of(Path(name))) for name in arguments)
        return
    paths = [*ROOT.glob("examples/*.hlo"), *ROOT.glob("tests/data/hlo/**/*.hlo.gz")]
    texts = sorted(((text_of(path), path) for path in paths), key=lambda found: -len(found[0]))
    for text, path in texts[:LARGEST]:
        yield str(path.relative_to(ROOT)), text
    for size in SYNTHETIC_BYTES:
        yield f"synthetic, {size:,} bytes", synthetic(size)


def text_of(path: Path) -> str:
    """The text of a file, which may be compressed."""
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")


def synthetic(size: int) -> str:
    """A module of about ``size`` bytes: one long chain of common instructions."""
    head = "HloModule synthetic\n\nENTRY %main (x.0: f32[128,256]) -> f32[128,256] {\n"
    lines = ["  %x.0 = f32[128,256]{1,0} parameter(0)"]
    block = sum(map(len, step(10_000)))
    for index in range(size // block):
        lines += step(index)
    lines[-1] = lines[-1].replace("  %", "  ROOT %")
    return head + "\n".join(lines) + "\n}\n"


def step(index: int) -> list[str]:
    """Some instructions from ``%x.<index>`` to the next."""
    where = (
        f'metadata={{op_name="jit(step)/layer_{index}/mul" source_file="model.py" source_line=3}}'
    )
    return [
        f"  %t.{index} = f32[256,128]{{0,1}} transpose(%x.{index}), dimensions={{1,0}}, {where}",
        f"  %c.{index} = f32[] constant({index}.5)",
        f"  %b.{index} = f32[256,128]{{0,1}} broadcast(%c.{index}), dimensions={{}}, {where}",
        f"  %m.{index} = f32[256,128]{{0,1}} multiply(%t.{index}, %b.{index}), {where}",
        f"  %x.{index + 1} = f32[128,256]{{1,0}} bitcast(%m.{index}), {where}",
    ]


def line(name: str, text: str, xla: Reader | None) -> str:
    """Sizes and times of one module."""
    count = sum(1 for _ in hlo.parse(text).instructions)
    ours = seconds(hlo.parse, text)
    theirs = seconds(xla, text) if xla else float("nan")
    return (
        f"{name:60} {len(text) / 1e3:5.0f} {count:6} {ours * 1e3:7.1f} {ours / count * 1e6:9.1f} "
        f"{theirs * 1e3:7.1f} {ours / theirs:6.1f}"
    )


def seconds(read: Reader, text: str) -> float:
    """The least processor time to parse a text."""
    times: list[float] = []
    for _ in range(RUNS):
        start = time.process_time()
        read(text)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main(sys.argv[1:])
