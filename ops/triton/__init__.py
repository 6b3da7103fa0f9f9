"""Triton kernels that people wrote: their loads and stores as maps."""

from ops.triton.kernel_access import KernelAccess, OutOfBoundsElement
from ops.triton.kernel_text import TritonError
from ops.triton.read_kernel import KernelAccesses, read_kernel

__all__ = [
    "KernelAccess",
    "KernelAccesses",
    "OutOfBoundsElement",
    "TritonError",
    "read_kernel",
]
