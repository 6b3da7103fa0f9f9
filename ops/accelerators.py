"""Accelerators: the figures that decide how fast memory is read."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simplifier.errors import INTEGER, IndexingError, check_type, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping


class DeviceError(IndexingError, ValueError):
    """A device with an impossible figure, or without one that a question needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What a question about memory needs to know of an accelerator; ``None`` is not known.

    Bytes are bytes, and all figures are positive integers.

    Attributes:
        name: what people call it.
        warp_size: threads that run in step: a warp, or a wavefront.
        sector_bytes: the least that the caches load.
        transaction_bytes: the most that one transaction of a warp loads: a line of the cache.
        dram_transaction_bytes: what moves at once from the memory of the device into its cache.
        vector_bytes: the most that a thread loads with one instruction.
        bank_count: banks of shared memory.
        bank_bytes: what a bank of shared memory gives at once.
        core_count: multiprocessors, compute units or cores.
        threads_per_core: threads that a core holds at a time.
        shared_memory_bytes: the most shared memory of a block.
        registers: registers of 32 bits of a block.
        bytes_per_second: how fast the memory of the device is read.

    Raises:
        DeviceError: a figure is not positive.
        ArgumentError: a figure is no integer.

    >>> A100.warp_size, A100.sector_bytes, A100.transaction_bytes
    (32, 32, 128)
    >>> Device(name="mine", warp_size=32, sector_bytes=32).bank_count is None
    True
    """

    name: str
    warp_size: int | None = None
    sector_bytes: int | None = None
    transaction_bytes: int | None = None
    dram_transaction_bytes: int | None = None
    vector_bytes: int | None = None
    bank_count: int | None = None
    bank_bytes: int | None = None
    core_count: int | None = None
    threads_per_core: int | None = None
    shared_memory_bytes: int | None = None
    registers: int | None = None
    bytes_per_second: int | None = None

    def __post_init__(self) -> None:
        check_type(self.name, str, "Device: name", "a string")
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value is None:
                continue
            check_type(value, INTEGER, f"Device: {field.name}", "a positive integer")
            if value < 1:
                message = f"Device: {field.name} is {quoted(value)}; expected a positive integer"
                raise DeviceError(message)

    def figure(self, name: str, question: str) -> int:
        """A figure that a question needs.

        Raises:
            DeviceError: it is not known.

        >>> TPU_V5E.figure("warp_size", "coalescing")
        Traceback (most recent call last):
        ops.accelerators.DeviceError: coalescing: TPU v5e has no warp_size;
        expected a device that has one
        """
        value: int | None = getattr(self, name)
        if value is None:
            message = f"{question}: {self.name} has no {name}; expected a device that has one"
            raise DeviceError(message)
        return value


_KIB: Final = 1 << 10

_OF_GPUS: Final = Device(
    name="what GPUs have in common",
    warp_size=32,
    sector_bytes=32,
    transaction_bytes=128,
    dram_transaction_bytes=64,
    vector_bytes=16,
    bank_count=32,
    bank_bytes=4,
    threads_per_core=2048,
    registers=1 << 16,
)

RTX_A6000: Final = replace(
    _OF_GPUS,
    name="RTX A6000",
    core_count=84,
    threads_per_core=1536,
    shared_memory_bytes=99 * _KIB,
    bytes_per_second=768 * 10**9,
)
"""NVIDIA RTX A6000 (Ampere), which XLA's tests of coalescing take."""

A100: Final = replace(
    _OF_GPUS,
    name="A100",
    core_count=108,
    shared_memory_bytes=163 * _KIB,
    bytes_per_second=2_039 * 10**9,
)
"""NVIDIA A100 SXM with 80 GB (Ampere)."""

H100: Final = replace(
    _OF_GPUS,
    name="H100",
    core_count=132,
    shared_memory_bytes=227 * _KIB,
    bytes_per_second=3_350 * 10**9,
)
"""NVIDIA H100 SXM (Hopper)."""

MI300X: Final = replace(
    _OF_GPUS,
    name="MI300X",
    warp_size=64,
    sector_bytes=64,
    dram_transaction_bytes=128,
    core_count=304,
    shared_memory_bytes=64 * _KIB,
    bytes_per_second=5_300 * 10**9,
)
"""AMD Instinct MI300X (CDNA 3)."""

TPU_V5E: Final = Device(
    name="TPU v5e",
    core_count=1,
    shared_memory_bytes=128 * _KIB * _KIB,
    bytes_per_second=819 * 10**9,
)
"""Google TPU v5e: no warps; its shared memory is the vector memory."""

DEVICES: Final[Mapping[str, Device]] = MappingProxyType(
    {device.name: device for device in (A100, H100, MI300X, RTX_A6000, TPU_V5E)}
)
"""The devices that are known, by name."""
