"""Fusions as kernels: the text of one function, with a pointer for each operand and result."""

from ops.kernels.kernel import KernelError, emit_kernel

__all__ = ["KernelError", "emit_kernel"]
