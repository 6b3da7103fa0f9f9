"""Asks the GPU of this machine whether what the library predicts is so, in less than ten minutes.

    python -m benchmarks.gpu

writes ``benchmarks/gpu/measured/MACHINE.json`` and docs/hardware.md. The counts of accesses need
nvcc and ncu, the times PyTorch and Triton; what is missing is said, and the rest is done.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gpu import counters, kernels, page
from benchmarks.gpu.accesses import ACCESSES, predicted
from benchmarks.gpu.counters import NotMeasuredError


def report(folder: Path) -> dict[str, Any]:
    """All that can be measured here, and the reasons for what cannot."""

    def part(name: str, measure: Callable[[], list[kernels.Row]]) -> list[kernels.Row] | str:
        try:
            rows = measure()
        except NotMeasuredError as error:
            rows = str(error)
        print(f"{name}: {rows if isinstance(rows, str) else f'{len(rows)} measured'}")
        return rows

    return {
        "machine": machine(),
        "accesses": part("accesses", access_rows),
        "kernels": part("kernels", lambda: [*kernels.emitted_rows(kernels.Gpu.found(folder))]),
        "rankings": part("rankings", lambda: [*kernels.ranking_rows(kernels.Gpu.found(folder))]),
    }


def access_rows() -> list[kernels.Row]:
    """The counts of each access, predicted and measured."""
    pairs = zip(ACCESSES, counters.measured(), strict=True)
    return [
        {"access": each.name, "predicted": predicted(each)._asdict(), "measured": counts._asdict()}
        for each, counts in pairs
    ]


def machine(run: counters.Run = counters.run) -> str:
    r"""The name of the GPU, by its driver.

    >>> machine(lambda command: (0, "NVIDIA H100 80GB HBM3\n"))
    'NVIDIA H100 80GB HBM3'
    >>> machine(lambda command: (127, "not found"))
    ''
    """
    code, said = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return "" if code else said.splitlines()[0]


def main() -> int:
    """Measure, and write the file and the page."""
    with TemporaryDirectory() as folder:
        found = report(Path(folder))
    if not found["machine"]:
        print("no GPU: nvidia-smi finds none; nothing is written")
        return 1
    page.MEASURED.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "_", found["machine"].lower())
    file = page.MEASURED / f"{name}.json"
    file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    page.write()
    print(f"written: {file}, {page.PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
