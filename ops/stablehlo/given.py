"""Parts of an operation of StableHLO: operands as instructions, attributes, shardings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import prod
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, TypeVar, cast

from indexing.layout import Layout, Shape, ShapeError
from ops.hlo.attributes import Aliasing
from ops.hlo.module import Instruction
from ops.mlir.operations import Argument, MlirBlock, MlirModule, MlirOperation
from ops.mlir.text import (
    AttributeReader,
    DenseElements,
    DialectAttribute,
    Keyword,
    Location,
    MlirTextError,
    OtherType,
    SymbolReference,
    integers_of,
    parts_of,
    shapes_of,
)
from simplifier.errors import Span

_T = TypeVar("_T")

_ABSENT = object()


class NoCounterpartError(Exception):
    """HLO has no instruction for an operation, which is kept by its name: its maps are unknown."""


@dataclass(frozen=True, slots=True)
class SourceOperation:
    """An operation of a module; ``operands`` are the instructions that it reads."""

    operation: MlirOperation
    module: MlirModule
    operands: tuple[Instruction, ...] = ()

    @property
    def name(self) -> str:
        """The name without the dialect."""
        return self.operation.name.rpartition(".")[2]

    def fail(self, message: str) -> NoReturn:
        """Raise an error that points at the first line of the operation."""
        source, start = self.module.source, self.operation.start
        line_end = source.find("\n", start)
        stop = min(self.operation.stop or len(source), len(source) if line_end < 0 else line_end)
        span = Span(source, start, max(stop, start + 1), self.module.file)
        raise MlirTextError(f"{self.operation.name}: {message}", span)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the results."""
        found = shapes_of(self.operation.types)
        if found is None:
            texts = (each.text for each in self.operation.types if isinstance(each, OtherType))
            self.fail(f"HLO has no values of type {next(texts, 'function')}")
        return self._as_xla_says(found)

    @property
    def shape(self) -> Shape:
        """The shape of the only result."""
        return self._only(self.shapes, "result")

    @property
    def operand(self) -> Instruction:
        """The only operand."""
        return self._only(self.operands, "operand")

    @property
    def region(self) -> tuple[MlirBlock, ...]:
        """The blocks of the only region."""
        if len(self.operation.regions) != 1:
            self.fail(f"expected a region, not {len(self.operation.regions)}")
        return self.operation.regions[0]

    def block_of(self, blocks: tuple[MlirBlock, ...]) -> MlirBlock:
        """The only block of a region."""
        if len(blocks) != 1:
            self.fail(f"expected regions of one block, not of {len(blocks)}")
        return blocks[0]

    def _only(self, found: tuple[_T, ...], what: str) -> _T:
        if len(found) != 1:
            self.fail(f"expected 1 {what}, not {len(found)}")
        return found[0]

    def at_least(self, count: int) -> None:
        """Check that there are so many operands or more."""
        if len(self.operands) < count:
            self.fail(f"expected at least {count} operands, not {len(self.operands)}")

    def _as_xla_says(self, found: tuple[Shape, ...]) -> tuple[Shape, ...]:
        """The shapes with the layouts that XLA noted when it wrote the text."""
        text = self.operation.attributes.get("xla_shape")
        if not isinstance(text, str):
            return found
        try:
            shape = Shape.parse(text)
        except (ShapeError, ValueError):
            return found
        noted = shape.elements if len(found) > 1 and shape.is_tuple else (shape,)
        pairs = [*zip(found, noted, strict=False)]
        fits = len(noted) == len(found) and all(one.is_compatible_with(two) for one, two in pairs)
        return tuple(noted) if fits else found

    # Attributes

    def has(self, name: str) -> bool:
        """Whether there is such an attribute."""
        return name in self.operation.attributes

    def get(self, name: str, default: Any = _ABSENT) -> Any:  # noqa: ANN401 - one type for each
        """An attribute, or the part that the text calls by its name.

        Raises:
            MlirTextError: there is none, and no default.
        """
        found = self.operation.attributes.get(name, default)
        if found is _ABSENT:
            self.fail(f"expected attribute {name}")
        if isinstance(found, DialectAttribute) and not found.body:
            return self.module.aliases.get(found.name, found)
        return found

    def integers(self, name: str, default: Any = _ABSENT) -> tuple[int, ...]:  # noqa: ANN401
        """A list of integers, however it is written."""
        found = integers_of(self.get(name, default))
        if found is None:
            self.fail(f"attribute {name} is no list of integers, such as [0, 1]")
        return found

    def integer(self, name: str, default: Any = _ABSENT) -> int:  # noqa: ANN401
        """A single integer."""
        found = self.integers(name, default)
        if len(found) != 1:
            self.fail(f"attribute {name} is no integer")
        return found[0]

    def number(self, name: str) -> float:
        """A number with a point."""
        return float(self._of_kind(name, self.get(name), (int, float), "no number"))

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A truth value."""
        return self._of_kind(name, self.get(name, default), bool, "neither true nor false")

    def _of_kind(self, name: str, value: object, kind: Any, fault: str) -> Any:  # noqa: ANN401
        if not isinstance(value, kind):
            self.fail(f"attribute {name} is {fault}")
        return value

    def word(self, name: str, default: Any = _ABSENT) -> str:  # noqa: ANN401
        """A word, such as ``GT`` or that of ``#stablehlo<comparison_direction GT>``."""
        return self._word(self.get(name, default), name)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words; empty if it is not there."""
        found: tuple[object, ...] = self._of_kind(name, self.get(name, ()), tuple, "no list")
        return tuple(self._word(each, name) for each in found)

    def _word(self, value: object, name: str) -> str:
        if isinstance(value, Keyword | SymbolReference):
            return value[0]
        if isinstance(value, DialectAttribute) and value.body.split():
            return value.body.split()[-1]
        return self._of_kind(name, value, str, "no word")

    def rows(self, name: str, columns: int) -> tuple[tuple[int, ...], ...]:
        """Rows of so many integers, such as the paddings of dimensions; empty if absent."""
        rows = self.get(name, ())
        if isinstance(rows, DenseElements):
            flat = rows.all_values()
            if flat is None:
                self.fail(f"attribute {name} has no values, or too many")
            rows = tuple(flat[start : start + columns] for start in range(0, len(flat), columns))
        listed: tuple[object, ...] = self._of_kind(name, rows, tuple, "no list")
        found = [*map(integers_of, listed)]
        if not all(row is not None and len(row) == columns for row in found):
            self.fail(f"attribute {name} is no list of {columns} integers each")
        return tuple(row for row in found if row is not None)

    def fields(self, name: str) -> SourceOperation:
        """The fields of ``#stablehlo.gather<offset_dims = [0], ...>``, as attributes."""
        found = self.get(name)
        if isinstance(found, dict):
            return self._with(found)  # pyright: ignore[reportUnknownArgumentType] - read so
        if not isinstance(found, DialectAttribute):
            self.fail(f"attribute {name} has no fields")
        reader = AttributeReader(self.module.source, self.module.file, found.start)
        return self._with(reader.fields(">"))

    def _with(self, attributes: Mapping[str, Any]) -> SourceOperation:
        return replace(self, operation=replace(self.operation, attributes=attributes))


# Notes on any operation: its origin, its sharding, and those of frontends.


class ModuleContext(NamedTuple):
    """Names that hold for a whole text: locations, as metadata, and meshes of devices."""

    metadata: Callable[[Location], Mapping[str, str | int]]
    meshes: Mapping[str, Mesh]


def common_attributes(
    source: MlirOperation | Argument, shape: Shape, context: ModuleContext
) -> dict[str, Any]:
    """The attributes in HLO that stand for a location, shardings and frontend attributes."""
    found, given = dict[str, Any](), source.attributes
    if source.location is not None and (metadata := context.metadata(source.location)):
        found["metadata"] = metadata
    if not given:
        return found
    sharding = given.get("mhlo.sharding")
    if not isinstance(sharding, str):
        of_shardy = given.get("sdy.sharding", given.get("sharding"))
        sharding = sharding_of(of_shardy, shape, context.meshes)
    if sharding[:1] == "{" and sharding[-1] == "}":
        found["sharding"] = sharding
    notes = given.get("mhlo.frontend_attributes")
    if isinstance(notes, dict):
        kept = {str(name): value for name, value in notes.items() if isinstance(value, str)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - read so
        found |= {"frontend_attributes": MappingProxyType(kept)} if kept else {}
    return found


def metadata_of(locations: Mapping[str, Location], location: Location) -> Mapping[str, str | int]:
    """The first name and the first line of a location, the innermost of nested calls."""
    parts, found = [*parts_of(location, locations)], dict[str, str | int]()
    for each in parts:
        if each.name:
            found.setdefault("op_name", each.name)
    place = next((each for each in parts if each.file), None)
    found |= {"source_file": place.file, "source_line": place.line} if place else {}
    return MappingProxyType(found)


# Shardings of Shardy, `#sdy.sharding<@mesh, [{"x"}, {}]>`, as the shardings of HLO.

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


# Attributes of arguments and of the module about the entry: layouts and donations.

# Layouts.


def entry_layouts(attributes: Mapping[str, Any]) -> tuple[Layout | None, ...]:
    """The layouts of the parameters of the entry, from the attributes of the module.

    >>> from indexing.layout import ElementType, Shape
    >>> order = DenseElements(Shape(ElementType.S64, (2,)), (0, 1))
    >>> [str(each) for each in entry_layouts({_LAYOUTS: (order,)})]
    ['{0,1}']
    """
    orders, tiles = (_listed(attributes.get(name)) for name in (_LAYOUTS, _TILES))
    return tuple(map(_layout, orders, chain(tiles, repeat(()))))


def _listed(value: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()


_LAYOUTS: Final = "mhlo.xla_entry_computation_parameter_layouts"
_TILES: Final = "mhlo.xla_entry_computation_parameter_tiles"


def _layout(order: object, tiles: object) -> Layout | None:
    """A layout from its dense elements; ``None`` for a tuple's, or for one that is none."""
    found = [_integers(each) for each in (order, *_listed(tiles))]
    if any(each is None for each in found):
        return None
    minor_to_major, *tiled = (each for each in found if each is not None)
    try:
        return Layout(minor_to_major, tiles=tuple(tiled))
    except ShapeError:
        return None


def _integers(value: object) -> tuple[int, ...] | None:
    """The values of dense elements of rank 1, if all are integers."""
    is_list = isinstance(value, DenseElements) and value.shape.rank == 1
    return integers_of(value) if is_list else None


def laid_out(shape: Shape, layout: Layout | None) -> Shape:
    """The shape with a layout, if it is one of an array of this rank."""
    if layout is None or not shape.is_array:
        return shape
    try:
        return shape.with_layout(layout)
    except ShapeError:
        return shape


# Donations.


def donations(
    arguments: Sequence[Argument], result: Shape
) -> Iterator[tuple[str, Aliasing | tuple[int, tuple[int, ...]]]]:
    """Arguments whose memory results may take, each with the attribute of the module for it.

    JAX writes ``tf.aliasing_output`` with the number of a result, or ``jax.buffer_donor``.

    Raises:
        ShapeError: there is no such result.
    """
    count = len(result.elements) if result.is_tuple else 1
    for number, argument in enumerate(arguments):
        place = argument.attributes.get("tf.aliasing_output")
        if isinstance(place, int) and not isinstance(place, bool):
            if not 0 <= place < count:
                raise ShapeError(f"tf.aliasing_output is {place}, but there are {count} results")
            index = (place,) if result.is_tuple else ()
            yield "input_output_alias", Aliasing(index, number, (), "may-alias")
        if argument.attributes.get("jax.buffer_donor") is True:
            yield "buffer_donor", (number, ())
