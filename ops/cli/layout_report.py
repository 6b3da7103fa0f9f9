"""The report of a layout: where the elements of an array lie in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing.layout import (
    array_size,
    format_of,
    linear_to_logical,
    logical_to_linear,
    logical_to_tiled,
    order_in_words,
    size_in_words,
    strides,
    tile_format,
    tiled_sizes,
    tiling_steps,
)
from indexing.layout.view.layout_text import text_of_layout
from ops.cli.documents import Row
from ops.cli.reports import indented, map_fields, map_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.layout import Shape
    from ops.cli.documents import Fields

_MAPS: Final = {
    "from an index to the offset": logical_to_linear,
    "from an index to the tiled dimensions": logical_to_tiled,
    "from an offset to the index": linear_to_logical,
}


@dataclass(frozen=True, slots=True)
class LayoutReport(Row):
    """The layout of an array."""

    shape: Shape

    def text(self) -> str:
        """A line for each fact, the maps, the grid."""
        facts = (f"{name}: {value}" for name, value in self._facts())
        maps = (f"{title}:\n{indented(map_text(of(self.shape)))}" for title, of in _MAPS.items())
        parts = "\n".join([*facts, *maps, text_of_layout(self.shape)])
        return f"{self.shape}:\n{indented(parts)}"

    def _facts(self) -> Iterator[tuple[str, str]]:
        shape, layout = self.shape, self.shape.array_layout
        known = format_of(layout)
        yield "order", order_in_words(shape)
        yield "size", size_in_words(shape)
        yield "physical shape", f"{shape.element_type}[{','.join(map(str, tiled_sizes(shape)))}]"
        if tiling_steps(shape):
            yield "steps", ", ".join(map(str, tiling_steps(shape)))
        if shape.dimensions:
            yield "strides", ", ".join(map(_stride, shape.dimension_names, strides(shape)))
        yield "format", f"{known.name if known else 'none with a name'}; {_on_tpu(shape)}"
        yield "memory space", f"{layout.memory_space}, {layout.memory_space_name}"

    def fields(self) -> Fields:
        """The same in numbers; a stride is null where a tile cuts its dimension."""
        shape, layout, size = self.shape, self.shape.array_layout, array_size(self.shape)
        known = format_of(layout)
        return {
            "shape": str(shape),
            "order": order_in_words(shape),
            "physical_shape": list(tiled_sizes(shape)),
            "steps": list(map(str, tiling_steps(shape))),
            "places": size.elements,
            "padding": size.padding,
            "element_bits": size.element_bits,
            "bits": size.bits,
            "bytes": size.bytes,
            "strides": list(strides(shape)),
            "format": known.name if known else None,
            "tpu_format": tile_format(shape).name,
            "memory_space": layout.memory_space,
            "memory_space_name": layout.memory_space_name,
            "maps": {of.__name__: map_fields(of(shape)) for of in _MAPS.values()},
        }


def _stride(name: str, stride: int | None) -> str:
    return f"{name} {'varies' if stride is None else stride}"


def _on_tpu(shape: Shape) -> str:
    return f"XLA picks {tile_format(shape).name} on a TPU"
