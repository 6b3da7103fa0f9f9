"""The page of what was measured on GPUs, of the files that ``python -m benchmarks.gpu`` writes.

python -m benchmarks.gpu.page
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from benchmarks.gpu.accesses import ACCESSES, Counts, predicted
from benchmarks.gpu.fusions import EXPRESSIONS
from benchmarks.gpu.kernels import TILED

MEASURED: Final = Path(__file__).with_name("measured")
PAGE: Final = Path(__file__).parents[2] / "docs" / "hardware.md"

_HEAD: Final = """# On the hardware

Does a GPU do what this library predicts? On a machine with an NVIDIA GPU, one command asks it:

```sh
python -m benchmarks.gpu
```

In less than ten minutes it writes a file with the name of the machine to the folder `measured`
beside its programs, and this page. It needs a checkout; to count sectors and conflicts `nvcc` and
`ncu`, to measure times PyTorch and Triton. It says what is missing, or that `ncu` may
not read the counters (`ERR_NVGPUCTRPERM`), and does the rest.
"""

_NOTHING: Final = """
**No measurement has been made so far.** The command compares:

| what | predicted by | measured |
| --- | --- | --- |
| {accesses} kernels that load | [`coalescing`](coalescing.md): sectors, conflicts | its counters |
| {kernels} fusions | [`emit_kernel`](code.md) in Triton | results, and times beside PyTorch |
| {tiled} fusions in tiles | the order of [`ops.tilings`](tiles.md) | the order of times |
"""

_ACCESSES: Final = """
## Accesses

Each of {count} kernels loads from one array: thread `t` of block `b`, in the step `s` of a loop, at
the offset that is shown. *Requests* are loads of warps, *sectors* the blocks of 32 bytes that these
touch, and *conflicts* the cycles that loads from shared memory wait for a bank: see
[coalescing](coalescing.md).

"""

_KERNELS: Final = """
## Emitted kernels

[`emit_kernel`](code.md) writes {count} fusions of `f32[4096,4096]` in Triton. Each result is
compared with PyTorch's. The three times are milliseconds: of the emitted kernel, of PyTorch, and of
its compiler.

"""

_RANKINGS: Final = """
## The order of tiles

`ops.tilings` puts the tiles of a fusion in order, those that move the fewest bytes first. Some of
them, from the first to the last, are run by a kernel that takes any tile. The figure is Spearman's
rank correlation of their order and that of their times: 1 where both agree, 0 where they have
nothing to do with each other.

"""


def text(reports: Sequence[Mapping[str, Any]]) -> str:
    """The page of some reports, one for each machine."""
    if not reports:
        counts = {"accesses": len(ACCESSES), "kernels": len(EXPRESSIONS), "tiled": len(TILED)}
        return _HEAD + _NOTHING.format(**counts)
    machines = "".join(f"\nMeasured on: {each['machine']}.\n" for each in reports)
    parts = chain([_HEAD, machines], _accesses(reports), _kernels(reports))
    return "".join(chain(parts, _rankings(reports)))


def _accesses(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _ACCESSES.format(count=len(ACCESSES))
    names = [each["machine"] for each in reports]
    yield _table(["access", "offset", "predicted", *names], _access_rows(reports))
    yield from _reasons(reports, "accesses")


def _access_rows(reports: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    measured = [_by_name(each["accesses"], "access") for each in reports]
    for access in ACCESSES:
        offset = access.offset.replace("th_x", "t").replace("bl_x", "b").replace("s0", "s")
        row = [f"{access.group}: {access.name}, {access.element_type}", f"`{offset}`"]
        found = (rows.get(access.name, {}).get("measured") for rows in measured)
        yield [*row, _counts(predicted(access)), *(_counts(Counts(**each or {})) for each in found)]


def _counts(counts: Counts) -> str:
    said = (
        f"{value:,} {name.split('_')[-1]}"
        for name, value in counts._asdict().items()
        if value is not None
    )
    return ", ".join(said) or "-"


def _kernels(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _KERNELS.format(count=len(EXPRESSIONS))
    measured = [_by_name(each["kernels"], "fusion") for each in reports]
    rows = (
        [name, f"`{expression}`", *(_kernel(rows.get(name)) for rows in measured)]
        for name, expression in EXPRESSIONS.items()
    )
    yield _table(["fusion", "PyTorch", *(each["machine"] for each in reports)], rows)
    yield from _reasons(reports, "kernels")


def _kernel(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    if "problem" in row:
        return str(row["problem"])
    verdict = "right" if row["is_right"] else "**wrong**"
    times = (f"{row[key]:.3g}" for key in ("emitted_ms", "torch_ms", "compiled_ms"))
    return f"{verdict}: {' / '.join(times)}"


def _rankings(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _RANKINGS
    measured = [_by_name(each["rankings"], "fusion") for each in reports]
    rows = ([tiled.name, *(_ranking(rows.get(tiled.name)) for rows in measured)] for tiled in TILED)
    yield _table(["fusion", *(each["machine"] for each in reports)], rows)
    yield from _reasons(reports, "rankings")


def _ranking(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    fastest = min(row["tiles"], key=lambda tile: tile["ms"], default=None)
    best = f"; fastest {tuple(fastest['sizes'])}" if fastest else ""
    failed = f"; {len(row['problems'])} did not run" if row["problems"] else ""
    return f"{row['spearman']} of {len(row['tiles'])} tiles{best}{failed}"


def _by_name(rows: str | Sequence[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    """The rows by their names; none if a reason stands for them."""
    return {} if isinstance(rows, str) else {str(row[key]): row for row in rows}


def _reasons(reports: Iterable[Mapping[str, Any]], part: str) -> Iterator[str]:
    """Why a machine has no figures."""
    for each in reports:
        if isinstance(each[part], str):
            yield f"\n{each['machine']}: not measured, as {each[part]}.\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write() -> None:
    """Write the page."""
    files = sorted(MEASURED.glob("*.json"))
    PAGE.write_text(text([json.loads(each.read_text("utf-8")) for each in files]), "utf-8")


if __name__ == "__main__":
    write()
