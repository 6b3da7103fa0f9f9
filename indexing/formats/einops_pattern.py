"""The pattern of einops for a map, where there is one."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from keyword import iskeyword
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from sympy import Add, S

from indexing.errors import MapError
from indexing.relation import check_without_parameters
from simplifier.errors import beginning_of
from simplifier.expr.functions import FloorDiv, Mod
from simplifier.expr.sympy_writing import to_sympy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import sympy

    from indexing.relation import Relation
    from simplifier import Interval


class EinopsPattern(NamedTuple):
    """A pattern, and the sizes of axes that a shape does not tell.

    ``einops.rearrange(operand, pattern, **sizes)`` calls einops; likewise ``reduce``, ``repeat``.
    """

    pattern: str
    sizes: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join([self.pattern, *(f"{name}={size}" for name, size in self.sizes.items())])


class _VariablePart(NamedTuple):
    """``variable floordiv stride mod size``."""

    variable: str
    stride: int
    size: int


def to_einops(relation: Relation) -> EinopsPattern:
    """The pattern of a map; see :meth:`indexing.IndexingMap.to_einops`."""
    check_without_parameters(relation, "to_einops")
    domain = relation.domain
    if relation.runtime or domain.constraints:
        _refuse("runtime variables or constraints")
    sizes = {
        each.name: _size(each.name, each.bounds) for each in domain.called[0] + domain.called[1]
    }
    results = [to_sympy(domain.named(form)) for form in relation.forms]
    terms = [_terms(result, sizes) for result in results]
    axes = _axes([digit for digit, _ in chain(*terms)], sizes)
    operand = [_group(result, found, axes) for result, found in zip(results, terms, strict=True)]
    result = [axes[each.name] for each in relation.dims]
    _check_uses(operand, result, [axes[each.name] for each in relation.ranges])
    return _written(operand, result)


def _refuse(what: str) -> NoReturn:
    raise MapError(f"to_einops: the map has {what}; einops has no pattern for it")


def _size(name: str, bounds: Interval) -> int:
    if bounds.lower != 0 or bounds.upper is None:
        _refuse(f"{name} in {bounds}, which does not count from 0")
    if bounds.upper < 0:
        _refuse(f"{name} in {bounds}, which has no element")
    return bounds.upper + 1


def _terms(result: sympy.Expr, sizes: Mapping[str, int]) -> list[tuple[_VariablePart, int]]:
    """The digits that a result is a sum of, and what they are multiplied with."""
    found: list[tuple[_VariablePart, int]] = []
    for term in Add.make_args(result):
        factor, rest = term.as_coeff_Mul()
        if term == S.Zero:
            continue
        digit = _digit(rest, sizes)
        if digit is None or factor <= 0:
            _refuse(f"{beginning_of(str(term))} in a result")
        found.append((digit, int(factor)))
    return found


def _digit(part: sympy.Expr, sizes: Mapping[str, int]) -> _VariablePart | None:
    if part.is_Symbol:
        return _VariablePart(str(part), 1, sizes[str(part)])
    if not isinstance(part, (FloorDiv, Mod)) or not part.args[1].is_Integer:
        return None
    inner, divisor = _digit(part.args[0], sizes), int(part.args[1])
    if inner is None or divisor < 1 or inner.size % divisor:
        return None
    if isinstance(part, Mod):
        return _VariablePart(inner.variable, inner.stride, divisor)
    return _VariablePart(inner.variable, inner.stride * divisor, inner.size // divisor)


def _axes(
    digits: Sequence[_VariablePart], sizes: Mapping[str, int]
) -> dict[str, list[_VariablePart]]:
    """The axes that each variable is made of, the slowest first: between all ends of digits."""
    cuts = {name: {1, size} for name, size in sizes.items()}
    for variable, stride, size in digits:
        cuts[variable] |= {stride, stride * size}
    axes: dict[str, list[_VariablePart]] = {}
    for name, places in cuts.items():
        ends = sorted(places)
        if any(high % low for low, high in pairwise(ends)):
            _refuse(f"digits of {name} that overlap")
        axes[name] = [_VariablePart(name, low, high // low) for low, high in pairwise(ends)][::-1]
    return axes


def _group(
    result: sympy.Expr,
    terms: Sequence[tuple[_VariablePart, int]],
    axes: Mapping[str, Sequence[_VariablePart]],
) -> list[_VariablePart]:
    """The axes of one dimension of the operand, the slowest first."""
    weights = [
        (factor * axis.stride // digit.stride, axis)
        for digit, factor in terms
        for axis in axes[digit.variable]
        if digit.stride <= axis.stride < digit.stride * digit.size
    ]
    weights.sort(key=lambda weighted: -weighted[0])
    expected = 1
    for weight, axis in reversed(weights):
        if weight != expected:
            _refuse(f"the result {beginning_of(str(result))}, which leaves gaps or overlaps")
        expected *= axis.size
    return [axis for _, axis in weights]


def _check_uses(
    operand: Sequence[Sequence[_VariablePart]],
    result: Sequence[Sequence[_VariablePart]],
    ranges: Sequence[Sequence[_VariablePart]],
) -> None:
    read = [*chain(*operand)]
    if len({*read}) < len(read):
        _refuse("a diagonal: a variable stands twice in its results")
    if not {*chain(*ranges)} <= {*read}:
        _refuse("a range that no result has")
    if any(ranges) and not {*chain(*result)} <= {*read}:
        _refuse("ranges, and dimensions that no result has: einops.reduce and repeat are two calls")


_BY_DEFAULT: Final = re.compile(r"[ds]\d+|_.*|.*_")
"""Names that a map gives by itself, or that einops refuses."""


def _written(
    operand: Sequence[Sequence[_VariablePart]], result: Sequence[Sequence[_VariablePart]]
) -> EinopsPattern:
    every = [*dict.fromkeys(chain(*operand, *result))]
    parts = [axis.variable for axis in every]
    own = {
        axis: axis.variable
        for axis in every
        if parts.count(axis.variable) == 1
        and not (iskeyword(axis.variable) or _BY_DEFAULT.fullmatch(axis.variable))
    }
    free = (letter for letter in _letters() if letter not in own.values())
    names = {axis: own.get(axis) or next(free) for axis in every}
    left, right = (
        " ".join(_group_text([names[axis] for axis in group]) for group in side)
        for side in (operand, result)
    )
    read = {*chain(*operand)}
    needed = [
        *(axis for group in operand for axis in group[1:]),
        *(axis for axis in chain(*result) if axis not in read),
    ]
    return EinopsPattern(f"{left} -> {right}", {names[axis]: axis.size for axis in needed})


def _group_text(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({' '.join(names)})" if names else "1"


def _letters() -> Iterator[str]:
    """``a`` to ``z``, ``a1`` to ``z1``, and so on without end."""
    yield from ascii_lowercase
    number = 0
    while number := number + 1:
        yield from (f"{letter}{number}" for letter in ascii_lowercase)
