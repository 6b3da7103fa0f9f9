"""Operations of MLIR as values: operands, attributes, regions, and the types of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.mlir.locations import Location
    from ops.mlir.mlir_attributes import Attribute
    from ops.mlir.mlir_types import Type


class Name(NamedTuple):
    """A value by its name, ``%0`` or ``%0#1``, and where that stands in the text."""

    text: str
    start: int


class Argument(NamedTuple):
    """An argument of a block or a function."""

    name: Name
    type: Type
    attributes: Mapping[str, Attribute]
    location: Location | None


@dataclass(frozen=True, slots=True)
class MlirBlock:
    """Operations in order, and the arguments that they may read."""

    arguments: tuple[Argument, ...]
    operations: tuple[MlirOperation, ...]


@dataclass(frozen=True, slots=True)
class MlirOperation:
    """An operation such as ``%1 = stablehlo.add %0, %0 : tensor<2xf32>``.

    ``results`` are the names that it defines: ``%1:2`` defines ``%1#0`` and ``%1#1``. ``regions``
    are lists of blocks. The text of the operation is ``source[start:stop]``.
    """

    name: str
    start: int
    stop: int = 0
    results: tuple[str, ...] = ()
    operands: tuple[Name, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, "Attribute"])
    regions: tuple[tuple[MlirBlock, ...], ...] = ()
    types: tuple[Type, ...] = ()
    location: Location | None = None

    def walk(self) -> Iterator[MlirOperation]:
        """The operation and all in its regions, in order."""
        waiting: list[MlirOperation] = [self]
        while waiting:
            each = waiting.pop()
            yield each
            inner = [op for region in each.regions for block in region for op in block.operations]
            waiting += reversed(inner)


@dataclass(frozen=True, slots=True)
class MlirModule:
    """The operations of a text, and the names that it gives to attributes and locations."""

    operations: tuple[MlirOperation, ...]
    aliases: Mapping[str, Attribute]
    source: str
    file: str
