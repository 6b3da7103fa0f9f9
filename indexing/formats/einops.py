"""Patterns of einops, such as ``b (h w) c -> b c h w``, as relations from result to operand."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from sympy import Integer

from indexing.errors import MapError
from indexing.formats.named_axes import (
    AxisSizes,
    Group,
    NamedAxis,
    NamedIndices,
    expression_of,
    related,
)
from indexing.validation import read_sizes
from simplifier.errors import Span, TextError, check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import sympy

    from indexing.validation import Size

_TOKEN: Final = re.compile(r"\.\.\.|->|[()]|\w+|\S")
MAX_SIZE_DIGITS: Final = 18
"""Of an axis without a name: what 64 bits count."""

_ARROW: Final = "->"
_ELLIPSIS: Final = "..."
_TWO_CALLS: Final = "einops.repeat and einops.reduce are two calls"
_OPERATIONS: Final = "einops.rearrange, reduce and repeat have patterns such as b (h w) -> h w b"


def read_pattern(pattern: str, shape: Sequence[Size], sizes: Mapping[str, Size]) -> NamedIndices:
    """What a pattern says of an operand with a shape; see :func:`indexing.from_einops`."""
    check_type(pattern, str, "from_einops: the pattern", "a string")
    expected = _expressions("shape", shape)
    left, right = _PatternSide.both(pattern)
    rank = len(shape) - (len(left.groups) - left.has_ellipsis)
    if rank < 0 or (rank and not left.has_ellipsis):
        raise left.error(f"{len(shape)} sizes are in the shape; expected {left.count()}")
    if right.has_ellipsis and not left.has_ellipsis:
        raise TextError("the axes of '...' are not in the operand", right.spans[_ELLIPSIS])
    operand, result = left.expanded(rank), right.expanded(rank)
    reduced = _without(operand, result)
    new = _without(result, operand)
    if reduced and new:
        span = reduced[0].span
        missing = f"{span.source[span.start : span.stop]} is reduced"
        raise TextError(f"the axis is new, but {missing}; {_TWO_CALLS}", new[0].span)
    known = AxisSizes(_given(sizes, {axis.name for axis in chain(*operand, *result)}))
    known.sizes.update(
        {axis.name: Integer(axis.size) for axis in chain(*operand, *result) if axis.size}
    )
    for group, size in zip(operand, expected, strict=True):
        known.fit(group, size, group[0].span if group else left.span)
    if unsized := [axis for axis in new if axis.name not in known.sizes]:
        raise TextError(f"the size of {unsized[0].name} is not known", unsized[0].span)
    return related(operand, result, reduced, known)


def _expressions(argument: str, sizes: Sequence[Size]) -> list[sympy.Expr]:
    """Sizes as expressions, checked as those of :meth:`indexing.IndexingMap.from_sizes`."""
    read_sizes(argument, sizes)
    return [expression_of(size) for size in sizes]


def _given(sizes: Mapping[str, Size], names: set[str]) -> dict[str, sympy.Expr]:
    for name in sizes:
        if name not in names:
            raise MapError(f"from_einops: {name!r} has a size, but is no axis of the pattern")
    return {name: _expressions(name, [size])[0] for name, size in sizes.items()}


def _without(groups: Sequence[Group], others: Sequence[Group]) -> list[NamedAxis]:
    """The axes of groups that are not in others."""
    there = {axis.name for axis in chain(*others)}
    return [axis for axis in chain(*groups) if axis.name not in there]


class _Token(NamedTuple):
    text: str
    span: Span


class _PatternSide:
    """One side of a pattern: a group of axes for each dimension, and maybe an ellipsis."""

    def __init__(self, tokens: Sequence[_Token], span: Span, *, is_operand: bool) -> None:
        self.span = span
        self.spans: dict[str, Span] = {}
        self.groups: list[list[_Token]] = []
        self._is_operand = is_operand
        self._read(tokens)

    @classmethod
    def both(cls, pattern: str) -> tuple[_PatternSide, _PatternSide]:
        """The sides of a pattern."""
        tokens = list(_tokens(pattern))
        arrows = [number for number, token in enumerate(tokens) if token.text == _ARROW]
        if len(arrows) != 1:
            span = tokens[arrows[1]].span if arrows else Span(pattern, 0, len(pattern))
            raise TextError("expected one '->', from operand to result", span, _OPERATIONS)
        (arrow,) = arrows
        place = tokens[arrow].span
        before, after = Span(pattern, 0, place.start), Span(pattern, place.stop, len(pattern))
        left = cls(tokens[:arrow], before, is_operand=True)
        return left, cls(tokens[arrow + 1 :], after, is_operand=False)

    def _read(self, tokens: Sequence[_Token]) -> None:
        is_open = False
        for token in tokens:
            if token.text == "(":
                if is_open:
                    raise TextError("groups are not nested", token.span)
                self.groups.append([])
                is_open = True
            elif token.text == ")":
                if not is_open:
                    raise TextError("no '(' before this", token.span)
                is_open = False
            else:
                self._check(token, is_open=is_open)
                if is_open:
                    self.groups[-1].append(token)
                else:
                    self.groups.append([token])
        if is_open:
            raise self.error("expected a ')'")

    def _check(self, token: _Token, *, is_open: bool) -> None:
        text, span = token
        if text == _ELLIPSIS and is_open and self._is_operand:
            raise TextError("the operand's '...' stands outside of parentheses", span)
        if text != _ELLIPSIS and not (text.isdecimal() or text.isidentifier()):
            raise TextError("expected the name of an axis, '1', '...' or '('", span, _OPERATIONS)
        if text.isdecimal():
            if len(text) > MAX_SIZE_DIGITS:
                raise TextError(f"a size has at most {MAX_SIZE_DIGITS} digits", span)
            if int(text) == 0:
                raise TextError("the size of an axis is 1 or more", span)
            return
        if text in self.spans:
            raise TextError(f"{text} stands twice on this side", span)
        self.spans[text] = span

    @property
    def has_ellipsis(self) -> bool:
        """Whether the side has an ellipsis."""
        return _ELLIPSIS in self.spans

    def count(self) -> str:
        """How many dimensions the side has, for messages."""
        more = " or more" if self.has_ellipsis else ""
        return f"{len(self.groups) - self.has_ellipsis}{more}"

    def error(self, message: str) -> TextError:
        """An error about the whole side."""
        text = self.span.source[self.span.start : self.span.stop]
        start = self.span.start + len(text) - len(text.lstrip())
        return TextError(message, Span(self.span.source, start, start + len(text.strip())))

    def expanded(self, rank: int) -> list[Group]:
        """The groups, with so many axes in place of the ellipsis."""
        found: list[Group] = []
        for group in self.groups:
            axes = tuple(chain.from_iterable(_axes(token, rank) for token in group))
            if [token.text for token in group] == [_ELLIPSIS] and not self._is_grouped(group[0]):
                found += ((axis,) for axis in axes)
            else:
                found.append(axes)
        return found

    def _is_grouped(self, token: _Token) -> bool:
        """Whether a token stands in parentheses."""
        return token.span.source[: token.span.start].rstrip().endswith("(")


def _axes(token: _Token, rank: int) -> Iterator[NamedAxis]:
    text, span = token
    if text == _ELLIPSIS:
        for number in range(rank):
            yield NamedAxis(f"...{number}", span, is_named=False)
    elif not text.isdecimal():
        yield NamedAxis(text, span)
    elif int(text) > 1:
        yield NamedAxis(f"{text} at {span.start}", span, int(text), is_named=False)


def _tokens(pattern: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(pattern):
        yield _Token(found[0], Span(pattern, *found.span()))
