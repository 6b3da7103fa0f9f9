"""Triton kernels that people wrote: their loads and stores as maps."""

from __future__ import annotations

from ops.triton.access import KernelAccess, OutOfBoundsElement
from ops.triton.expressions import TritonError
from ops.triton.read_kernel import KernelAccesses, read_kernel

__all__ = [
    "KernelAccess",
    "KernelAccesses",
    "OutOfBoundsElement",
    "TritonError",
    "read_kernel",
]
