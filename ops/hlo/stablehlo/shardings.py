"""Shardings of Shardy, ``#sdy.sharding<@mesh, [{"x"}, {}]>``, as the shardings of HLO."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

from ops.mlir.mlir_attributes import DialectAttribute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.layout import Shape

Mesh: TypeAlias = "Mapping[str, int]"
"""How many devices there are along each axis, in order."""

_AXIS: Final = re.compile(r'"([^"]*)"\s*=\s*(\d{1,9})')
_SHARDING: Final = re.compile(r"@(\w+)\s*,\s*\[((?:\s*\{[^{}]*\}(?:p\d+)?\s*,?)*)\]")
_DIMENSION: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r'"([^"]*)"\s*(:)?')


def mesh_of(text: str) -> Mesh:
    """The axes of a mesh.

    >>> mesh_of('["x"=2, "y"=4]')
    {'x': 2, 'y': 4}
    """
    return {name: int(size) for name, size in _AXIS.findall(text)}


def sharding_of(value: object, shape: Shape, meshes: Mapping[str, Mesh]) -> str:
    """The text of a sharding in HLO; empty if there is none that says the same.

    >>> from indexing.layout import Shape
    >>> given = DialectAttribute("sdy.sharding", '@m, [{"x"}, {}]', 0)
    >>> sharding_of(given, Shape.parse("f32[8,4]"), {"m": {"x": 2, "y": 4}})
    '{devices=[2,1,4]<=[8] last_tile_dim_replicate}'
    """
    if not isinstance(value, DialectAttribute):
        return ""
    found = _SHARDING.findall(value.body)
    if len(found) != 1 or not shape.is_array:
        return ""
    name, dimensions = found[0]
    mesh = meshes.get(name)
    rows = [_NAME.findall(each) for each in _DIMENSION.findall(dimensions)]
    axes = [[axis for axis, _ in row] for row in rows]
    used = [axis for row in axes for axis in row]
    is_plain = mesh is not None and len(axes) == shape.rank and all(axis in mesh for axis in used)
    if mesh is None or not is_plain or any(part for row in rows for _, part in row):
        return ""
    return _written(axes, used, mesh)


def _written(axes: list[list[str]], used: list[str], mesh: Mesh) -> str:
    if not used:
        return "{replicated}"
    tiles = [prod(mesh[axis] for axis in row) for row in axes]
    rest = [axis for axis in mesh if axis not in used]
    copies = prod(mesh[axis] for axis in rest)
    order = [[*mesh].index(axis) for axis in (*used, *rest)]
    devices = ",".join(map(str, [*tiles, copies] if copies > 1 else tiles))
    turned = order != sorted(order)
    sizes = ",".join(map(str, mesh.values())) if turned else str(prod(mesh.values()))
    permutation = f"T({','.join(map(str, order))})" * turned
    last = " last_tile_dim_replicate" * (copies > 1)
    return f"{{devices=[{devices}]<=[{sizes}]{permutation}{last}}}"
