"""Axes by name, as in einops and einsum: what a text says of them becomes variables and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from sympy import Expr, Integer, S, cancel, fraction

from simplifier.errors import Span, TextError
from simplifier.expr.expression_lexer import is_name
from simplifier.expr.functions import FloorDiv, Mod, symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import sympy

    from indexing.validation import Size

Constraint: TypeAlias = "tuple[sympy.Expr, tuple[int, int]]"


@dataclass(frozen=True, slots=True)
class NamedAxis:
    """An axis in a text: its name, unique in the text, and where it stands.

    ``size`` is what the text itself says, such as ``1``; ``is_named`` is false for what the text
    does not call by a name.
    """

    name: str
    span: Span
    size: int | None = None
    is_named: bool = True


Group: TypeAlias = "tuple[NamedAxis, ...]"
"""Axes that one dimension of a tensor holds, the last one fastest; none for a size of 1."""


@dataclass(frozen=True, slots=True)
class NamedIndices:
    """What a text says: variables with their sizes, results, and what has to hold of the sizes."""

    dims: Mapping[str, Size]
    ranges: Mapping[str, Size]
    results: Sequence[sympy.Expr]
    constraints: Sequence[Constraint] = ()


def expression_of(size: Size) -> sympy.Expr:
    """A size as an expression; no text is one."""
    return size if isinstance(size, Expr) else Integer(size)


@dataclass(slots=True)
class AxisSizes:
    """The sizes of axes, as far as they are known: from the text, the caller, and the shapes."""

    sizes: dict[str, sympy.Expr]
    constraints: list[Constraint] = field(default_factory=list["Constraint"])

    def of(self, group: Iterable[NamedAxis]) -> sympy.Expr:
        """The product of the sizes of axes that are all known."""
        return prod((self.sizes[axis.name] for axis in group), start=S.One)

    def fit(self, group: Group, size: sympy.Expr, where: Span) -> None:
        """Let a dimension of a tensor, of some size, hold a group of axes; find the one unknown.

        Raises:
            TextError: at ``where`` or at an axis, if the sizes do not fit.
        """
        unknown = [axis for axis in group if axis.name not in self.sizes]
        if len(unknown) > 1:
            named = " and ".join(axis.name for axis in unknown)
            raise TextError(f"the sizes of {named} are not known; expected all but one", where)
        if unknown:
            known = self.of(axis for axis in group if axis is not unknown[0])
            self.sizes[unknown[0].name] = _quotient(size, known, unknown[0])
            return
        left_over = (self.of(group) - size).expand()
        if left_over.is_Integer and left_over != S.Zero:
            raise TextError(f"the size is {self.of(group)} here, but {size} in the shape", where)
        if left_over != S.Zero:
            self.constraints.append((left_over, (0, 0)))


def _quotient(size: sympy.Expr, known: sympy.Expr, axis: NamedAxis) -> sympy.Expr:
    if known == S.Zero:
        raise TextError(f"the size of {axis.name} may be any, beside a size of 0", axis.span)
    quotient = cancel(size / known)
    if fraction(quotient)[1] != S.One:
        raise TextError(f"the size of {axis.name} is {size} / {known}; expected a whole", axis.span)
    return quotient


def names_of(groups: Sequence[Group], default: str, taken: Iterable[str]) -> list[str]:
    """A name for the variable of each group: that of its axis, or ``d0``, ``d1``.

    All have the names that a map gives by itself if one of the axes cannot lend its own.
    """
    named = [
        group[0].name if len(group) == 1 and group[0].is_named else f"{default}{number}"
        for number, group in enumerate(groups)
    ]
    is_fine = len({*named, *taken}) == len(named) + len({*taken}) and all(map(is_name, named))
    return named if is_fine else [f"{default}{number}" for number in range(len(groups))]


def related(
    operand: Sequence[Group], result: Sequence[Group], ranges: Sequence[NamedAxis], sizes: AxisSizes
) -> NamedIndices:
    """The map from a result to an operand, whose dimensions hold groups of axes."""
    taken = {str(each) for size in sizes.sizes.values() for each in size.free_symbols}
    dims = names_of(result, "d", taken)
    runs = names_of([(axis,) for axis in ranges], "s", {*taken, *dims})
    values: dict[str, sympy.Expr] = {
        axis.name: symbol(name) for axis, name in zip(ranges, runs, strict=True)
    }
    for group, name in zip(result, dims, strict=True):
        values.update(_digits(group, symbol(name), sizes))
    return NamedIndices(
        dims={name: sizes.of(group) for name, group in zip(dims, result, strict=True)},
        ranges={name: sizes.sizes[axis.name] for name, axis in zip(runs, ranges, strict=True)},
        results=[_index(group, values, sizes) for group in operand],
        constraints=sizes.constraints,
    )


def _digits(group: Group, index: sympy.Expr, sizes: AxisSizes) -> dict[str, sympy.Expr]:
    """The index on each axis of a group, for an index on their dimension."""
    found: dict[str, sympy.Expr] = {}
    for position, axis in enumerate(group):
        stride = sizes.of(group[position + 1 :])
        digit = index if stride == S.One else FloorDiv(index, stride)
        found[axis.name] = Mod(digit, sizes.sizes[axis.name]) if position else digit
    return found


def _index(group: Group, values: Mapping[str, sympy.Expr], sizes: AxisSizes) -> sympy.Expr:
    """The index on a dimension, for the index on each axis of its group."""
    parts = (
        values[axis.name] * sizes.of(group[position + 1 :]) for position, axis in enumerate(group)
    )
    return sum(parts, start=S.Zero)
