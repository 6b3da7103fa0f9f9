"""The values of attributes that are more than a number, a name or a list."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexing.layout import Shape
from ops.hlo.errors import AttributeValueError


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over an operand; every field holds one entry for each dimension.

    ``pad`` are the padding before and after, which may be negative; ``lhs_dilate`` and ``rhs_dilate`` dilate
    the operand (base) and the window; ``rhs_reversal`` turns the window around.

    >>> print(Window(size=(3, 3), stride=(2, 1), pad=((0, 1), (-1, 1))))
    size=3x3 stride=2x1 pad=0_1x-1_1
    """

    size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    pad: tuple[tuple[int, int], ...] = ()
    lhs_dilate: tuple[int, ...] = ()
    rhs_dilate: tuple[int, ...] = ()
    rhs_reversal: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, standard in _WINDOW_DEFAULTS.items():
            if not getattr(self, name):
                object.__setattr__(self, name, (standard,) * self.rank)
            if len(getattr(self, name)) != self.rank:
                raise AttributeValueError(f"the window has {self.rank} sizes, but {name} has {len(getattr(self, name))}")

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.size)

    def __str__(self) -> str:
        names = [name for name in _WINDOW_DEFAULTS if self._is_special(name)]
        return " ".join(self._written(name) for name in (["size", *names] if self.size else names))

    def _is_special(self, name: str) -> bool:
        return any(value != _WINDOW_DEFAULTS[name] for value in getattr(self, name))

    def _written(self, name: str) -> str:
        if name == "pad":
            return "pad=" + "x".join(f"{low}_{high}" for low, high in self.pad)
        return f"{name}=" + "x".join(map(str, getattr(self, name)))


_WINDOW_DEFAULTS = {"stride": 1, "pad": (0, 0), "lhs_dilate": 1, "rhs_dilate": 1, "rhs_reversal": 0}
"""What a window without the field has in each dimension, in the order of the text."""


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """What the dimensions of a convolution are: ``b`` batch, ``f`` feature, ``i`` and ``o`` of the kernel, digits.

    >>> print(DimensionLabels("b01f", "01io", "b01f"))
    b01f_01io->b01f
    """

    input: str
    kernel: str
    output: str

    def __str__(self) -> str:
        return f"{self.input}_{self.kernel}->{self.output}"


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Groups of devices that are written out; no groups mean one group of all devices.

    >>> print(ListedGroups(((0, 1), (2, 3))))
    {{0,1},{2,3}}
    """

    groups: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return integer_lists(self.groups)


@dataclass(frozen=True, slots=True)
class IotaGroups:
    """Groups of devices that a formula gives: ``0, 1, 2, ...`` reshaped, transposed, and reshaped to the groups.

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
            raise AttributeValueError(f"[{_list(self.sizes)}] and [{_list(self.reshape_sizes)}] differ in size")

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        return _cut(_iota(self.reshape_sizes, self.permutation), self.sizes[-1])

    def __str__(self) -> str:
        return f"[{_list(self.sizes)}]<={_iota_text(self.reshape_sizes, self.permutation)}"


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """An axis of a mesh by its name; with a ``size``, the part of it that ``before`` major steps precede."""

    name: str
    before: int = 1
    size: int = 0

    def __str__(self) -> str:
        return f"'{self.name}':({self.before}){self.size}" if self.size else f"'{self.name}'"


@dataclass(frozen=True, slots=True)
class MeshGroups:
    """Groups of devices that differ only in some axes of a mesh.

    The device at each place of the mesh is given by ``0, 1, 2, ...`` reshaped to ``reshape_sizes`` and transposed,
    or listed as ``device_ids``; with none of both, devices stand in order.

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
            raise AttributeValueError(f"the mesh has no axis '{axis.name}'")
        if axis.size < 0 or axis.before < 1 or (axis.size and size % (axis.before * axis.size)):
            raise AttributeValueError(f"{axis} is no part of an axis of size {size}")

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        parts = [part for name, size in self.mesh for part in self._parts(name, size)]
        chosen = [place for axis in self.axes for place, part in enumerate(parts) if _is_in(part, axis)]
        others = [place for place in range(len(parts)) if place not in chosen]
        places = _iota(tuple(size for _, _, size in parts), (*others, *chosen))
        group_size = math.prod(parts[place][2] for place in chosen)
        return _cut(map(self._devices().__getitem__, places), group_size)

    def _devices(self) -> Sequence[int]:
        """The device at each place of the mesh."""
        if self.reshape_sizes:
            return tuple(_iota(self.reshape_sizes, self.permutation))
        return self.device_ids or range(math.prod(size for _, size in self.mesh))

    def _parts(self, name: str, size: int) -> list[tuple[str, int, int]]:
        """The pieces (name, steps before, size) into which the references to an axis cut it."""
        mine = [axis for axis in self.axes if axis.name == name and axis.size]
        cuts = sorted({1, size, *(axis.before for axis in mine), *(axis.before * axis.size for axis in mine)})
        return [(name, low, high // low) for low, high in itertools.pairwise(cuts)]

    def __str__(self) -> str:
        mesh = ",".join(f"'{name}'={size}" for name, size in self.mesh)
        order = _iota_text(self.reshape_sizes, self.permutation) if self.reshape_sizes else _list(self.device_ids)
        devices = f", device_ids=({order})" if order else ""
        return f"mesh[{mesh}]{devices} {{{_list(self.axes)}}}"


ReplicaGroups = ListedGroups | IotaGroups | MeshGroups
"""Which devices take part in a collective operation together; ``groups`` lists them."""


@dataclass(frozen=True, slots=True)
class Aliasing:
    """An output that shares the memory of an operand; the indices lead into tuples."""

    output_index: tuple[int, ...]
    operand: int
    operand_index: tuple[int, ...]
    kind: str = ""

    def __str__(self) -> str:
        kind = f", {self.kind}" if self.kind else ""
        return f"{{{_list(self.output_index)}}}: ({self.operand}, {{{_list(self.operand_index)}}}{kind})"


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """The shapes of the parameters and of the result of a program."""

    parameters: tuple[Shape, ...]
    result: Shape

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})->{self.result}"


def integer_lists(lists: tuple[tuple[int, ...], ...]) -> str:
    """``{{0,1},{2,3}}``."""
    return f"{{{','.join(f'{{{_list(inner)}}}' for inner in lists)}}}"


def _is_in(part: tuple[str, int, int], axis: MeshAxis) -> bool:
    name, before, size = part
    end = axis.before * axis.size if axis.size else math.inf
    return name == axis.name and before >= axis.before and before * size <= end


def _check_iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> None:
    if any(size < 1 for size in sizes):
        raise AttributeValueError(f"[{_list(sizes)}] has a size below 1")
    if permutation and sorted(permutation) != list(range(len(sizes))):
        raise AttributeValueError(f"T({_list(permutation)}) is no permutation of the dimensions of [{_list(sizes)}]")


def _iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> Iterator[int]:
    """``0, 1, 2, ...`` reshaped to ``sizes``, transposed, and read in order."""
    strides = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    order = permutation or range(len(sizes))
    steps = [range(0, sizes[place] * strides[place], strides[place]) for place in order]
    return map(sum, itertools.product(*steps))


def _iota_text(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> str:
    return f"[{_list(sizes)}]" + (f"T({_list(permutation)})" if permutation else "")


def _cut(devices: Iterable[int], size: int) -> tuple[tuple[int, ...], ...]:
    listed = tuple(devices)
    return tuple(listed[start : start + size] for start in range(0, len(listed), size))


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
