"""Instructions of HLO for the equations of a jaxpr, with sizes that are expressions.

Their shapes are those of JAX's abstract values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from indexing.layout import UNBOUNDED_SIZE, ElementType, Kind, Shape, ShapeError
from ops.hlo.instruction_builder import InstructionBuilder
from ops.hlo.literal import Literal
from ops.hlo.shape_inference import one_or_tuple
from ops.jaxpr.primitives import written
from ops.rules.constant_folding import MAX_TABLE
from ops.sizes import read_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.jaxpr.primitives import OfJax
    from ops.sizes import Size


class JaxprBuilder(InstructionBuilder, ABC):
    """A builder that knows JAX's abstract values."""

    @abstractmethod
    def run(self, closed: OfJax, arguments: Sequence[Instruction]) -> list[Instruction]:
        """The results of a jaxpr for some arguments."""

    def add(
        self,
        opcode: str,
        avals: Sequence[OfJax],
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        number: int | None = None,
        name: str = "",
    ) -> Instruction:
        """An instruction that gives an array, or a tuple of them."""
        shape = one_or_tuple([shape_of(aval) for aval in avals])
        sizes = tuple(map(sizes_of, avals))
        return self.made(opcode, shape, sizes, operands, attributes, number=number, name=name)

    def constant(self, aval: OfJax, value: OfJax = None) -> Instruction:
        """A constant; of arrays, the values are there if they may be indices, and not too many."""
        shape = shape_of(aval)
        is_index = shape.element_type.kind in _INDICES and shape.element_count <= MAX_TABLE
        is_kept = value is not None and (not shape.rank or is_index)
        values = tuple(_flat(_plain(value))) if is_kept else None
        literal = Literal.of(shape, values)
        return self.made("constant", shape, (sizes_of(aval),), literal=literal)


_INDICES: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}


# Values.


def _plain(value: OfJax) -> OfJax:
    """A value of Python, or lists of them, of one of NumPy or JAX."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)


def _flat(values: OfJax) -> Iterator[OfJax]:
    """The elements of nested lists, in order."""
    if isinstance(values, list):
        for each in cast("list[OfJax]", values):
            yield from _flat(each)
    else:
        yield values


# Shapes.


def shape_of(aval: OfJax) -> Shape:
    """The shape of an array, with dimensions of unknown size for expressions."""
    letters, bits = re.match(r"([a-z]*)(.*)", str(aval.dtype)).groups()  # pyright: ignore[reportOptionalMemberAccess] - it matches every text
    try:
        element_type = ElementType(_TYPES.get(letters, letters) + bits.replace("_", ""))
    except ValueError:
        raise ShapeError(f"from_jax: HLO has no elements of type {aval.dtype}") from None
    return array_shape(element_type, sizes_of(aval))


def array_shape(element_type: ElementType, sizes: Iterable[Size]) -> Shape:
    """The shape of an array of such sizes, with ``?`` where they are no numbers."""
    known = (size if isinstance(size, int) else UNBOUNDED_SIZE for size in sizes)
    return Shape(element_type, tuple(known))


_TYPES: Final = {
    "float": "f",
    "int": "s",
    "uint": "u",
    "bool": "pred",
    "complex": "c",
    "bfloat": "bf",
}
"""What NumPy's types are called in HLO, before their width."""


def sizes_of(aval: OfJax) -> tuple[Size, ...]:
    """The sizes of an array as rules compute with them."""
    return tuple(map(size_of, aval.shape))


def size_of(size: OfJax) -> Size:
    """A size as rules compute with it."""
    return read_integer(written(size))


def scalar_of(aval: OfJax) -> OfJax:
    """One element of an array."""
    return SimpleNamespace(shape=(), dtype=aval.dtype)
