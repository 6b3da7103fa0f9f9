"""What attributes of arguments and of the module say about the entry: layouts and donations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from indexing.layout import Layout, ShapeError
from ops.hlo.stablehlo.given_operation import integers_of
from ops.hlo.values import Aliasing
from ops.mlir.dense_elements import DenseElements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.mlir.operation import Argument

# Layouts.


def entry_layouts(attributes: Mapping[str, Any]) -> tuple[Layout | None, ...]:
    """The layouts of the parameters of the entry, from the attributes of the module.

    >>> from indexing.layout import ElementType, Shape
    >>> order = DenseElements(Shape(ElementType.S64, (2,)), (0, 1))
    >>> [str(each) for each in entry_layouts({_LAYOUTS: (order,)})]
    ['{0,1}']
    """
    orders, tiles = (attributes.get(name, ()) for name in (_LAYOUTS, _TILES))
    if not isinstance(orders, tuple):
        return ()
    rows = cast("tuple[object, ...]", tiles if isinstance(tiles, tuple) else ())
    missing = len(cast("tuple[object, ...]", orders)) - len(rows)
    pairs = zip(cast("tuple[object, ...]", orders), (*rows, *((),) * missing), strict=False)
    return tuple(_layout(order, tiled) for order, tiled in pairs)


_LAYOUTS: Final = "mhlo.xla_entry_computation_parameter_layouts"
_TILES: Final = "mhlo.xla_entry_computation_parameter_tiles"


def _layout(order: object, tiles: object) -> Layout | None:
    """A layout from its dense elements; ``None`` for a tuple's, or for one that is none."""
    rows = cast("tuple[object, ...]", tiles if isinstance(tiles, tuple) else ())
    found = [_integers(each) for each in (order, *rows)]
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
