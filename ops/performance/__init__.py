"""Use of a device's memory by a kernel."""

from __future__ import annotations

from ops.limits import A100, DEVICES, H100, MI300X, RTX_A6000, TPU_V5E, Device, DeviceError
from ops.performance.coalescing import (
    Coalescing,
    LoadPicture,
    bandwidth_utilization,
    coalescing,
    load_picture,
)
from ops.performance.kernels import AccessKind, is_likely_coalesced
from ops.performance.summary import KernelSummary, Summary, summary
from ops.performance.utilization import OperandUtilization, Utilization, utilization

__all__ = [
    "A100",
    "DEVICES",
    "H100",
    "MI300X",
    "RTX_A6000",
    "TPU_V5E",
    "AccessKind",
    "Coalescing",
    "Device",
    "DeviceError",
    "KernelSummary",
    "LoadPicture",
    "OperandUtilization",
    "Summary",
    "Utilization",
    "bandwidth_utilization",
    "coalescing",
    "is_likely_coalesced",
    "load_picture",
    "summary",
    "utilization",
]
