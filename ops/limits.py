"""Limits on the analyses of programs, and the figures of devices.

No limit makes a result wrong: what is beyond one is widened and marked as an approximation, found
again, or left in a longer form. Each entry names the test that shows why it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Final

from simplifier.errors import INTEGER, IndexingError, check_type, quoted

# How many maps there may be.

MAX_MAPS: Final = 128
"""If more different maps lead to an array, one map that holds them all takes their place.

A chain of shifts or butterflies doubles its maps with each step. So does a chain of updates, whose
maps depend on more and more values, too: one of ``n`` values counts ``n**2`` times.
Test: ``test_budgets.test_one_map_takes_the_place_of_many_and_is_marked``."""

MAX_MAPS_OF_LOOP: Final = 64
"""If a loop leads along more different maps between two arrays, one map takes their place.

A loop that moves an element by one has as many maps as iterations, and often that is millions.
Test: ``test_budgets.test_one_map_takes_the_place_of_rounds_without_end``."""

MAX_COMPOSITIONS: Final = 4096
"""So many different compositions are made for a question; beyond, each set of maps becomes one map.

It bounds the time of a question to seconds, whatever the program is.
Test: ``test_budgets.test_what_is_exact_is_held``."""

FEW_SINKS: Final = 8
"""Results of a module that read no more parameters are answered without the others.
Test: ``test_budgets.test_results_that_read_little_do_not_wait_for_the_others``."""

USUAL_WEIGHT: Final = 16
"""An indexing with so many terms costs one composition; with more, it costs their square.

Test: ``test_budgets.test_one_map_takes_the_place_of_rounds_without_end``."""

MAX_INLINED: Final = 1 << 14
"""So many arrays are followed run by run into what a fusion calls; beyond, a call is one step.

Calls of calls double the runs with each level.
Test: ``test_reads.test_calls_without_end_are_one_step``."""

# How long a formula may be.

MAX_TERMS: Final = 160
"""A formula that compositions have made longer becomes a table of its values, or else a range.

Shuffled bits nest deeper with each operation; simplifying them takes the square of their length.
Tests: ``test_budgets.test_what_is_exact_is_held``, ``test_bounded_work`` (shuffles of thirty
elements)."""

MAX_CONSTRAINTS: Final = 8
"""A map that compositions have given more leads everywhere, but where a dimension alone tells.

Each strided convolution adds two for each dimension, with quotients that nothing simplifies; a
training step has dozens on a path.
Test: ``test_budgets.test_constraints_do_not_pile_up``."""

MAX_TERMS_OF_WIDE: Final = 8
"""Where no compositions are left, formulas have no more terms than this.

Test: ``test_budgets.test_one_map_takes_the_place_of_rounds_without_end``."""

# Sizes of caches.

MAX_REMEMBERED_COMPOSITIONS: Final = 1 << 14
"""So many compositions of maps are remembered: the layers of a model repeat them.

It only saves time, and mostly between questions; no test fails without it."""

MAX_INTERNED: Final = 1 << 16
"""When so many dependences are interned, all are forgotten, and memory stays bounded.

Equal ones are then found again, no more.
Test: ``test_budgets.test_what_is_forgotten_is_found_again``."""

MAX_REMEMBERED_INSTRUCTIONS: Final = 1 << 15
"""So many different instructions are remembered with their maps, for the next modules.

After that a module begins with none, and finds again what it needs. Test:
``test_value_numbering.test_modules_that_are_alike_ask_rules_once``."""

MAX_REMEMBERED_MODULES: Final = 4
"""So many modules are remembered with what was found about them: questions come in groups.

Test: ``test_budgets.test_equal_maps_are_composed_once`` fails if none is."""

MAX_REMEMBERED_COMPUTATIONS: Final = 64
"""So many computations are remembered with the users of their instructions.

Test: ``test_work_of_fusions.test_a_question_goes_through_no_other_instructions`` fails if none
is."""

# How much other tools do.

MAX_STEPS_OF_COMPARISON: Final = 100_000
"""isl spends so many operations to see that one map is a part of another.

A comparison that is given up leaves one map more. Tests:
``test_control_flow.test_a_loop_runs_any_number_of_rounds``,
``test_dependence.test_what_takes_long_to_compare_stays``."""

MAX_PATHS: Final = 8
"""So many paths of provenance are listed unless somebody asks for more.

Test: ``test_why.test_more_paths_than_anyone_can_list_are_counted``."""

MAX_OPERANDS: Final = 100_000
"""An operation that is described by numbers alone has no more operands, of which each takes a map.

Test: ``test_refusals.test_odd_arguments_are_refused_in_words``."""


# Accelerators: the figures that decide how fast memory is read.


class DeviceError(IndexingError, ValueError):
    """A device with an impossible figure, or without one that a question needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Figures of an accelerator for questions about memory; ``None`` is not known.

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
        ops.limits.DeviceError: coalescing: TPU v5e has no warp_size;
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
