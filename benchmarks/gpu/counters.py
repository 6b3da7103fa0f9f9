"""What the counters of a GPU say of the accesses: compiled by nvcc, counted by ncu.

Whoever may not read the counters gets the reason in place of the counts.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from benchmarks.gpu.accesses import KERNEL_NAME, Counts, program

Run: TypeAlias = "Callable[[Sequence[str]], tuple[int, str]]"
"""From a command to its exit code and what it printed."""

METRICS: Final[Mapping[str, str]] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sectors",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "bank_conflicts",
}
"""Counters of ncu, and what we call them."""

SECONDS: Final = 300
"""That one command may take."""


class NotMeasuredError(Exception):
    """There is no measurement on this machine, for a reason."""


def run(command: Sequence[str]) -> tuple[int, str]:
    """Run a command."""
    try:
        ran = subprocess.run(
            command, stdout=-1, stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return 1, f"{command[0]} took longer than {SECONDS} seconds"
    except FileNotFoundError:
        return 1, f"{command[0]} is not installed"
    return ran.returncode, ran.stdout


def measured(run: Run = run, find: Callable[[str], str | None] = shutil.which) -> list[Counts]:
    """The counts of all accesses, in order.

    Raises:
        NotMeasuredError: a tool is missing, or the counters are not for this user.
    """
    for tool in ("nvcc", "ncu"):
        if find(tool) is None:
            raise NotMeasuredError(f"{tool} is not installed")
    with TemporaryDirectory() as folder:
        source, made = Path(folder) / "accesses.cu", Path(folder) / "accesses"
        source.write_text(program(), "utf-8")
        code, said = run(["nvcc", "-O2", "-arch=native", "-o", str(made), str(source)])
        if code:
            raise NotMeasuredError(f"nvcc: {_last_line(said)}")
        code, said = run(["ncu", "--csv", "--metrics", ",".join(METRICS), str(made)])
    if "ERR_NVGPUCTRPERM" in said:
        raise NotMeasuredError(
            "ncu may not read the counters here (ERR_NVGPUCTRPERM): they are for administrators, "
            "who change that by the option NVreg_RestrictProfilingToAdminUsers=0 of the driver"
        )
    counts = counts_of(said)
    if code or not counts:
        raise NotMeasuredError(f"ncu: {_last_line(said)}")
    return counts


def counts_of(text: str) -> list[Counts]:
    """The counts of all kernels, in the order of their numbers, that ncu printed as CSV.

    >>> counts_of('''==PROF== Connected to process 1
    ... "Kernel Name","Metric Name","Metric Value"
    ... "access_0(const float *)","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","2,048"
    ... ''')
    [Counts(requests=None, sectors=2048, bank_conflicts=None)]
    """
    table = "\n".join(line for line in text.splitlines() if line.startswith('"'))
    kernels: dict[int, dict[str, int]] = {}
    for row in csv.DictReader(io.StringIO(table)):
        known = METRICS.get(row["Metric Name"])
        number = re.match(KERNEL_NAME.format(r"(\d+)") + r"\b", row["Kernel Name"])
        if known and number:
            value = int(float(row["Metric Value"].replace(",", "")))
            kernels.setdefault(int(number[1]), {})[known] = value
    return [Counts(**kernels[number]) for number in sorted(kernels)]


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was printed"])[-1]
