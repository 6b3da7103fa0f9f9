"""Collective operations: their builders, from the groups that instructions name in many ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.adapters.shared import sizes_of
from ops.builders.building import check_sizes, index_map, symbol
from ops.builders.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_of_tuple,
    reduce_scatter,
)
from ops.builders.op_indexing import OpIndexing, Unknown
from ops.builders.pointwise import elementwise
from ops.builders.ragged_exchange import ragged_all_to_all
from ops.builders.transfers import Root, collective_broadcast, collective_permute, collective_reduce
from ops.devices.groups import checked_replica_count
from ops.devices.modes import Groups, Mode, devices_by_number, mode_of, numbers_in
from ops.devices.numbering import devices_of
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.adapters.shared import Builder, Maps, Pair
    from ops.builders.building import Sizes
    from ops.devices.numbering import Devices
    from ops.hlo import Instruction


def _all_reduce(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    return all_reduce(sizes, _groups(instruction), _count(instruction))


def _all_gather(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    axis = _dimension(instruction)
    return all_gather(sizes, axis, _groups(instruction), _count(instruction))


def _reduce_scatter(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    axis = _dimension(instruction)
    return reduce_scatter(sizes, axis, _groups(instruction), _count(instruction))


def _collective_permute(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    return collective_permute(sizes, _listed(instruction), _count(instruction))


def _groups(instruction: Instruction) -> Groups:
    """The groups of devices; none listed mean one of all replicas, or partitions."""
    if numbers_in(instruction):
        return _listed(instruction)
    devices, mode = _devices(instruction), mode_of(instruction)
    if mode is Mode.DEVICES:
        return [range(devices.total)]
    count = devices.partitions if mode is Mode.PARTITIONS else devices.replicas
    return devices_by_number(mode, [range(count)], *devices)


def _listed(instruction: Instruction) -> Groups:
    return devices_by_number(mode_of(instruction), numbers_in(instruction), *_devices(instruction))


def _count(instruction: Instruction) -> int:
    return _devices(instruction).total


def _devices(instruction: Instruction) -> Devices:
    """The devices that run the program, if these are not too many to be listed."""
    devices = devices_of(instruction.computation.module)
    checked_replica_count(instruction.opcode, (), devices.total)
    return devices


def _dimension(instruction: Instruction) -> int:
    dimensions = instruction.attributes["dimensions"]
    if len(dimensions) != 1:
        count = len(dimensions)
        raise ShapeError(f"{instruction.opcode}: there are {count} dimensions; expected 1")
    return dimensions[0]


def _each(build: Callable[[Instruction, Sizes], OpIndexing]) -> Builder:
    """Every operand has a result of its own."""

    def adapted(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        return {
            (number, number): build(instruction, sizes_of(operand))
            for number, operand in enumerate(instruction.operands)
        }

    return adapted


def _rooted(build: Callable[..., OpIndexing]) -> Builder:
    """If a last operand chooses the root of each array, their results depend on it too."""

    def adapted(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        has_roots = bool(instruction.attributes.get("has_dynamic_root"))
        data = instruction.operands[: len(instruction.operands) - has_roots]
        if has_roots:
            roots = sizes_of(instruction.operands[-1])
            check_sizes(instruction.opcode, "the vector of roots", roots, (len(data),))
        maps: dict[Pair, OpIndexing] = {}
        for place, operand in enumerate(data):
            sizes, root = sizes_of(operand), Root(len(data), place) if has_roots else None
            maps[place, place] = build(sizes, _groups(instruction), _count(instruction), root)
            if has_roots:
                maps[place, len(data)] = _from_element(place, sizes)
        return maps

    return adapted


def _from_element(number: int, sizes: Sizes) -> OpIndexing:
    """Every element of a result depends on one element of a vector."""
    chosen = forms.constant(number)
    places = (symbol(place) for place in range(len(sizes)))
    back = index_map(places, [Interval(number, number)], sizes)
    return OpIndexing(tuple(sizes), (index_map([chosen], sizes),), (back,))


def _started(build: Callable[[Instruction, Sizes], OpIndexing]) -> Builder:
    """The operands themselves, then the results; contexts behind them hold nothing."""

    def adapted(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        count = len(instruction.operands)
        every = [sizes_of(operand) for operand in instruction.operands]
        themselves = {(place, place): elementwise([sizes]) for place, sizes in enumerate(every)}
        results = {
            (count + place, place): build(instruction, sizes) for place, sizes in enumerate(every)
        }
        return themselves | results

    return adapted


def _on_arrays(builder: Builder) -> Builder:
    """Of permutations with buffers for slices of them, nothing is known."""

    def adapted(instruction: Instruction) -> Maps:
        if "slice_sizes" in instruction.attributes:
            return Unknown(f"{instruction.opcode}: no indexing map of slices that move in place")
        return builder(instruction)

    return adapted


def _all_to_all(instruction: Instruction) -> Maps:
    groups, count = _groups(instruction), _count(instruction)
    every = [sizes_of(operand) for operand in instruction.operands]
    if "dimensions" in instruction.attributes:
        axis = _dimension(instruction)
        return {
            (place, place): all_to_all(sizes, axis, groups, count)
            for place, sizes in enumerate(every)
        }
    elementwise(every)
    return all_to_all_of_tuple(every[0], len(every), groups, count)


def _ragged_all_to_all(instruction: Instruction) -> OpIndexing:
    operand, output, *offsets = instruction.operands
    return ragged_all_to_all(
        sizes_of(operand),
        sizes_of(output),
        sizes_of(offsets[0])[0],
        _groups(instruction),
        _count(instruction),
    )


BUILDERS: Final[Mapping[str, Builder]] = {
    "all-gather": _each(_all_gather),
    "all-gather-start": _started(_all_gather),
    "all-reduce": _each(_all_reduce),
    "all-reduce-start": _each(_all_reduce),
    "all-to-all": _all_to_all,
    "collective-broadcast": _rooted(collective_broadcast),
    "collective-permute": _on_arrays(_each(_collective_permute)),
    "collective-permute-start": _on_arrays(_started(_collective_permute)),
    "collective-reduce": _rooted(collective_reduce),
    "ragged-all-to-all": _ragged_all_to_all,
    "reduce-scatter": _each(_reduce_scatter),
}
