"""Groups of devices that take part in a collective operation together, in HLO's three forms."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ops.hlo.errors import AttributeValueError
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ops.hlo.hlo_lexer import HloLexer


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Groups of devices as lists; no groups mean one group of all devices.

    >>> print(ListedGroups(((0, 1), (2, 3))))
    {{0,1},{2,3}}
    """

    groups: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return f"{{{','.join(f'{{{_list(group)}}}' for group in self.groups)}}}"


@dataclass(frozen=True, slots=True)
class IotaGroups:
    """Groups of devices by a formula: ``0, 1, 2, ...`` reshaped, transposed, cut into groups.

    >>> groups = IotaGroups((2, 4), (4, 2), (1, 0))
    >>> print(groups, groups.groups)
    [2,4]<=[4,2]T(1,0) ((0, 2, 4, 6), (1, 3, 5, 7))
    """

    sizes: tuple[int, ...]
    reshape_sizes: tuple[int, ...]
    permutation: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check_iota(self.reshape_sizes, self.permutation)
        if not self.sizes or math.prod(self.sizes) != math.prod(self.reshape_sizes):
            raise AttributeValueError(
                f"[{_list(self.sizes)}] and [{_list(self.reshape_sizes)}] differ in size"
            )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        return _cut(_iota(self.reshape_sizes, self.permutation), self.sizes[-1])

    def __str__(self) -> str:
        return f"[{_list(self.sizes)}]<={_iota_text(self.reshape_sizes, self.permutation)}"


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """An axis of a mesh; with a ``size``, the part of it behind ``before`` major steps."""

    name: str
    before: int = 1
    size: int = 0

    def __str__(self) -> str:
        return f"'{self.name}':({self.before}){self.size}" if self.size else f"'{self.name}'"


@dataclass(frozen=True, slots=True)
class MeshGroups:
    """Groups of devices that differ only in some axes of a mesh.

    The devices of the mesh are ``0, 1, 2, ...`` reshaped to ``reshape_sizes`` and transposed, or
    those of ``device_ids``, or in order.

    >>> groups = MeshGroups((("x", 2), ("y", 2)), (MeshAxis("x"),))
    >>> print(groups, groups.groups)
    mesh['x'=2,'y'=2] {'x'} ((0, 2), (1, 3))
    """

    mesh: tuple[tuple[str, int], ...]
    axes: tuple[MeshAxis, ...]
    reshape_sizes: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    device_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        count = math.prod(size for _, size in self.mesh)
        _check_iota(self.reshape_sizes, self.permutation)
        listed = len(self.device_ids) or math.prod(self.reshape_sizes)
        if (self.device_ids or self.reshape_sizes) and listed != count:
            raise AttributeValueError(f"the mesh has {count} devices, but {listed} are listed")
        for axis in self.axes:
            self._check_axis(axis)

    def _check_axis(self, axis: MeshAxis) -> None:
        size = dict(self.mesh).get(axis.name)
        if size is None:
            raise AttributeValueError(f"the mesh has no axis {quoted(axis.name)}")
        if axis.size < 0 or axis.before < 1 or (axis.size and size % (axis.before * axis.size)):
            raise AttributeValueError(f"{axis} is no part of an axis of size {size}")

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        parts = [part for name, size in self.mesh for part in self._parts(name, size)]
        chosen = [
            number for axis in self.axes for number, part in enumerate(parts) if _is_in(part, axis)
        ]
        others = [number for number in range(len(parts)) if number not in chosen]
        positions = _iota(tuple(size for _, _, size in parts), (*others, *chosen))
        group_size = math.prod(parts[number][2] for number in chosen)
        return _cut(map(self._devices().__getitem__, positions), group_size)

    def _devices(self) -> Sequence[int]:
        """The device at each position of the mesh."""
        if self.reshape_sizes:
            return tuple(_iota(self.reshape_sizes, self.permutation))
        return self.device_ids or range(math.prod(size for _, size in self.mesh))

    def _parts(self, name: str, size: int) -> list[tuple[str, int, int]]:
        """The parts (name, steps before, size) into which ``axes`` cut an axis."""
        mine = [axis for axis in self.axes if axis.name == name and axis.size]
        cuts = sorted(
            {1, size, *(axis.before for axis in mine), *(axis.before * axis.size for axis in mine)}
        )
        return [(name, low, high // low) for low, high in itertools.pairwise(cuts)]

    def __str__(self) -> str:
        mesh = ",".join(f"'{name}'={size}" for name, size in self.mesh)
        order = (
            _iota_text(self.reshape_sizes, self.permutation)
            if self.reshape_sizes
            else _list(self.device_ids)
        )
        devices = f", device_ids=({order})" if order else ""
        return f"mesh[{mesh}]{devices} {{{_list(self.axes)}}}"


ReplicaGroups: TypeAlias = ListedGroups | IotaGroups | MeshGroups
"""Groups of devices that take part in a collective operation together; ``groups`` lists them."""


def read_replica_groups(lexer: HloLexer) -> ReplicaGroups:
    """Take groups of devices in any form."""
    if lexer.text == "{":
        return ListedGroups(lexer.braced(lambda: _read_group(lexer), "the groups"))
    if lexer.text == "[":
        return _read_iota_groups(lexer)
    if lexer.accept("mesh"):
        return _read_mesh_groups(lexer)
    raise lexer.expected("replica groups such as {{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2] {'x'}")


def _read_group(lexer: HloLexer) -> tuple[int, ...]:
    return lexer.braced(lexer.integer, "the devices of a group")


def _read_bracketed(lexer: HloLexer) -> tuple[int, ...]:
    return lexer.listed(lexer.integer, "[", "]", "the sizes")


def _read_permutation(lexer: HloLexer) -> tuple[int, ...]:
    if not lexer.accept("T"):
        return ()
    return lexer.listed(lexer.integer, "(", ")", "the permutation")


def _read_iota_groups(lexer: HloLexer) -> IotaGroups:
    sizes = _read_bracketed(lexer)
    lexer.expect("<=", "after the sizes of the groups")
    return IotaGroups(sizes, _read_bracketed(lexer), _read_permutation(lexer))


def _read_mesh_groups(lexer: HloLexer) -> MeshGroups:
    mesh = lexer.listed(lambda: _read_axis_size(lexer), "[", "]", "the axes of the mesh")
    order: dict[str, tuple[int, ...]] = {}
    if lexer.accept(","):
        order = _read_device_ids(lexer)
    return MeshGroups(mesh, lexer.braced(lambda: _read_axis(lexer), "the axes"), **order)


def _read_axis_size(lexer: HloLexer) -> tuple[str, int]:
    name = lexer.string("the name of an axis in quotes")
    lexer.expect("=", "after the name of an axis")
    return name, lexer.integer("the size of an axis")


def _read_device_ids(lexer: HloLexer) -> dict[str, tuple[int, ...]]:
    lexer.expect("device_ids", "after the mesh")
    lexer.expect("=", "after device_ids")
    if lexer.source.startswith("([", lexer.start):
        lexer.advance()
        order = {"reshape_sizes": _read_bracketed(lexer), "permutation": _read_permutation(lexer)}
        lexer.expect(")", "after device_ids")
        return order
    return {"device_ids": lexer.listed(lexer.integer, "(", ")", "the devices")}


def _read_axis(lexer: HloLexer) -> MeshAxis:
    name = lexer.string("the name of an axis in quotes")
    if not lexer.accept(":"):
        return MeshAxis(name)
    lexer.expect("(", "before the steps that precede a part of an axis")
    before = lexer.integer()
    lexer.expect(")", "after the steps that precede a part of an axis")
    return MeshAxis(name, before, lexer.integer())


def _is_in(part: tuple[str, int, int], axis: MeshAxis) -> bool:
    name, before, size = part
    end = axis.before * axis.size if axis.size else math.inf
    return name == axis.name and before >= axis.before and before * size <= end


def _check_iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> None:
    if any(size < 1 for size in sizes):
        raise AttributeValueError(f"[{_list(sizes)}] has a size below 1")
    if permutation and sorted(permutation) != list(range(len(sizes))):
        raise AttributeValueError(
            f"T({_list(permutation)}) is no permutation of the dimensions of [{_list(sizes)}]"
        )


def _iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> Iterator[int]:
    """``0, 1, 2, ...`` reshaped to ``sizes``, transposed, and read in order."""
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    order = permutation or range(len(sizes))
    steps = [range(0, sizes[axis] * strides[axis], strides[axis]) for axis in order]
    return map(sum, itertools.product(*steps))


def _iota_text(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> str:
    return f"[{_list(sizes)}]" + (f"T({_list(permutation)})" if permutation else "")


def _cut(devices: Iterable[int], size: int) -> tuple[tuple[int, ...], ...]:
    listed = tuple(devices)
    return tuple(listed[start : start + size] for start in range(0, len(listed), size))


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
