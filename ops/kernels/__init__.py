"""Fusions as kernels: the text of one function, with a pointer for each operand and result."""

from ops.kernels.errors import KernelError
from ops.kernels.kernel import emit_kernel

__all__ = ["KernelError", "emit_kernel"]
