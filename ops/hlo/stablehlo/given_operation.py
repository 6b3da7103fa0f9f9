"""An operation of StableHLO with its operands as instructions, and its attributes by kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from indexing.layout import Shape, ShapeError
from ops.mlir.dense_elements import DenseElements
from ops.mlir.mlir_attributes import AttributeReader, DialectAttribute, Keyword, SymbolReference
from ops.mlir.mlir_lexer import MlirLexer, MlirTextError
from ops.mlir.mlir_types import shapes_of
from simplifier.errors import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo.module import Instruction
    from ops.mlir.operation import MlirBlock, MlirModule, MlirOperation

_T = TypeVar("_T")

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class GivenOperation:
    """An operation of a module; ``operands`` are the instructions of what it reads."""

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
            self.fail("the results are no arrays, tuples or tokens")
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

    def _only(self, found: tuple[_T, ...], what: str) -> _T:
        if len(found) != 1:
            self.fail(f"expected 1 {what}, not {len(found)}")
        return found[0]

    def at_least(self, count: int) -> None:
        """Check that there are so many operands or more."""
        if len(self.operands) < count:
            self.fail(f"expected at least {count} operands, not {len(self.operands)}")

    def _as_xla_says(self, found: tuple[Shape, ...]) -> tuple[Shape, ...]:
        """With the layouts that XLA noted when it wrote the text."""
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
        """An attribute, or what the text calls by its name.

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
        found = self.get(name)
        if not isinstance(found, int | float):
            self.fail(f"attribute {name} is no number")
        return float(found)

    def flag(self, name: str) -> bool:
        """A truth value; false if it is not there."""
        found = self.get(name, False)
        if not isinstance(found, bool):
            self.fail(f"attribute {name} is neither true nor false")
        return found

    def word(self, name: str, default: Any = _ABSENT) -> str:  # noqa: ANN401
        """A word, such as ``GT`` or that of ``#stablehlo<comparison_direction GT>``."""
        return self._word(self.get(name, default), name)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words; empty if it is not there."""
        found = self.get(name, ())
        if not isinstance(found, tuple):
            self.fail(f"attribute {name} is no list")
        return tuple(self._word(each, name) for each in cast("tuple[object, ...]", found))

    def _word(self, value: object, name: str) -> str:
        if isinstance(value, Keyword | SymbolReference):
            return value[0]
        if isinstance(value, DialectAttribute) and value.body.split():
            return value.body.split()[-1]
        if not isinstance(value, str):
            self.fail(f"attribute {name} is no word")
        return value

    def rows(self, name: str, columns: int) -> tuple[tuple[int, ...], ...]:
        """Rows of so many integers, as the paddings of dimensions; none if it is not there."""
        value = self.get(name, ())
        rows = value
        if isinstance(value, DenseElements):
            flat = value.all_values()
            if flat is None:
                self.fail(f"attribute {name} has no values, or too many")
            rows = tuple(flat[start : start + columns] for start in range(0, len(flat), columns))
        if not isinstance(rows, tuple):
            self.fail(f"attribute {name} is no list")
        found = [integers_of(row) for row in cast("tuple[object, ...]", rows)]
        if not all(row is not None and len(row) == columns for row in found):
            self.fail(f"attribute {name} is no list of {columns} integers each")
        return tuple(row for row in found if row is not None)

    def fields(self, name: str) -> GivenOperation:
        """The fields of ``#stablehlo.gather<offset_dims = [0], ...>``, as attributes."""
        found = self.get(name)
        if isinstance(found, dict):
            return self._with(found)  # pyright: ignore[reportUnknownArgumentType] - read so
        if not isinstance(found, DialectAttribute):
            self.fail(f"attribute {name} has no fields")
        lexer = MlirLexer(self.module.source, self.module.file, found.start)
        return self._with(AttributeReader(lexer).fields(">"))

    def _with(self, attributes: Mapping[str, Any]) -> GivenOperation:
        return replace(self, operation=replace(self.operation, attributes=attributes))


def integers_of(value: object) -> tuple[int, ...] | None:
    """Integers, however they are written; ``None`` if it is something else."""
    if isinstance(value, DenseElements):
        value = value.all_values()
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    found = tuple(int(each) for each in items if isinstance(each, int))
    return found if len(found) == len(items) else None
