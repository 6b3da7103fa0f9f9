"""Strings of einsum, such as ``bij,bjk->bik``: a relation from the result to each operand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from string import ascii_letters
from typing import TYPE_CHECKING, Final

import sympy

from indexing.errors import MapError
from indexing.formats.named_axes import AxisSizes, NamedAxis, NamedIndices, expression_of, related
from indexing.relation import Relation, check_without_parameters
from indexing.validation import read_sizes
from simplifier.errors import Span, TextError, beginning_of, check_type
from simplifier.expr.printer import format_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.validation import Size

_ELLIPSIS: Final = "..."
_LETTER: Final = re.compile(r"\.\.\.|[A-Za-z]|\S")
_NAME: Final = re.compile(r"\.\.\.|\w+|\S")
_SEPARATED: Final = re.compile(r"[A-Za-z_]\w*[ \t]+[A-Za-z_.]")
"""Names with blanks between: einops' einsum."""


def read_einsum(text: str, shapes: Sequence[Sequence[Size]]) -> list[NamedIndices]:
    """What a string says of operands with shapes; see :func:`indexing.from_einsum`."""
    check_type(text, str, "from_einsum: the text", "a string such as 'ij,jk->ik'")
    for shape in shapes:
        read_sizes("shapes", shape)
    left, arrow, right = text.partition("->")
    pattern = _NAME if _SEPARATED.search(text) else _LETTER
    starts = [0, *(found.end() for found in re.finditer(",", left))]
    parts = left.split(",")
    if len(parts) != len(shapes):
        message = f"{len(parts)} operands are here; expected {len(shapes)}, one for each shape"
        raise TextError(message, Span(text, 0, len(left)))
    operands = [
        _expanded(_labels(text, pattern, start, part), len(shape))
        for start, part, shape in zip(starts, parts, shapes, strict=True)
    ]
    most = max((sum(not axis.is_named for axis in each) for each in operands), default=0)
    if arrow:
        labels = _labels(text, pattern, len(left) + len(arrow), right)
        _check_result(labels, operands, most)
        result = _expanded(labels, sum(axis.name != _ELLIPSIS for axis in labels) + most)
    else:
        result = _implicit(operands)
    sizes = AxisSizes(_sizes(operands, shapes))
    return [
        _of_operand(operand, shape, result, sizes)
        for operand, shape in zip(operands, shapes, strict=True)
    ]


def _labels(text: str, pattern: re.Pattern[str], start: int, part: str) -> list[NamedAxis]:
    found: list[NamedAxis] = []
    for match in pattern.finditer(part):
        span = Span(text, start + match.start(), start + match.end())
        label = match[0]
        if label != _ELLIPSIS and not label.isidentifier():
            raise TextError("expected a label of an axis, '...', ',' or one '->'", span)
        if label == _ELLIPSIS and any(axis.name == _ELLIPSIS for axis in found):
            raise TextError("a second '...'", span)
        found.append(NamedAxis(label, span))
    return found


def _expanded(labels: Sequence[NamedAxis], rank: int) -> list[NamedAxis]:
    """The axes of an operand or a result, whose ellipsis stands for what is left of its rank.

    Axes of ellipses are counted from the last one, since those of several operands broadcast.
    """
    more = rank - sum(axis.name != _ELLIPSIS for axis in labels)
    if more < 0 or (more and all(axis.name != _ELLIPSIS for axis in labels)):
        span = labels[-1].span if labels else None
        message = f"{len(labels)} labels are here; expected {rank}, one for each size of the shape"
        if span is None:
            raise MapError(f"from_einsum: {message}")
        raise TextError(message, Span(span.source, labels[0].span.start, span.stop))
    found: list[NamedAxis] = []
    for axis in labels:
        if axis.name == _ELLIPSIS:
            numbers = reversed(range(more))
            found += (NamedAxis(f"...{n}", axis.span, is_named=False) for n in numbers)
        else:
            found.append(axis)
    return found


def _check_result(
    labels: Sequence[NamedAxis], operands: Sequence[Sequence[NamedAxis]], most: int
) -> None:
    known = {axis.name for axis in chain(*operands)}
    times = Counter(axis.name for axis in labels)
    for axis in labels:
        if times[axis.name] > 1:
            raise TextError(f"{axis.name} stands twice in the result", axis.span)
        if axis.name not in known and axis.name != _ELLIPSIS:
            raise TextError(f"{axis.name} is in no operand", axis.span)
    if most and _ELLIPSIS not in times:
        span = next(axis.span for axis in chain(*operands) if not axis.is_named)
        raise TextError("the axes of '...' are not in the result", span)


def _implicit(operands: Sequence[Sequence[NamedAxis]]) -> list[NamedAxis]:
    """The result where none is given: ellipses first, then what stands once, by letter."""
    axes = {axis.name: axis for axis in chain(*operands)}
    times = Counter(axis.name for axis in chain(*operands))
    unnamed = [axes[name] for name in axes if not axes[name].is_named]
    named = [axes[name] for name in sorted(axes) if axes[name].is_named and times[name] == 1]
    return [*sorted(unnamed, key=lambda axis: -int(axis.name[len(_ELLIPSIS) :])), *named]


def _sizes(
    operands: Sequence[Sequence[NamedAxis]], shapes: Sequence[Sequence[Size]]
) -> dict[str, sympy.Expr]:
    """The size of each axis; one of 1 broadcasts."""
    sizes: dict[str, sympy.Expr] = {}
    for operand, shape in zip(operands, shapes, strict=True):
        for axis, given in zip(operand, shape, strict=True):
            size, known = expression_of(given), sizes.get(axis.name, sympy.S.One)
            if known not in (sympy.S.One, size) and size != sympy.S.One:
                message = f"{axis.name} has the size {size} here, and {known} before"
                raise TextError(message, axis.span)
            sizes[axis.name] = size if known == sympy.S.One else known
    return sizes


def _of_operand(
    operand: Sequence[NamedAxis],
    shape: Sequence[Size],
    result: Sequence[NamedAxis],
    sizes: AxisSizes,
) -> NamedIndices:
    groups = [
        () if size == 1 and sizes.sizes[axis.name] != sympy.S.One else (axis,)
        for axis, size in zip(operand, shape, strict=True)
    ]
    there = {axis.name for axis in result}
    summed = {axis.name: axis for axis in chain(*groups) if axis.name not in there}
    return related(groups, [(axis,) for axis in result], [*summed.values()], sizes)


def to_einsum(maps: Iterable[Relation]) -> str:
    """The string of einsum whose operands are read as maps say, one map for each operand.

    All maps come from the elements of one result. Their results are variables, each a label;
    ranges with the same name are one label, which is summed.

    Raises:
        ArgumentError: the maps are no maps.
        MapError: a map has parameters or constraints, or a result that is no variable, or sizes
            do not fit; the message names the map.

    >>> from indexing import parse_map
    >>> domain = "domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 5]"
    >>> left = parse_map(f"(d0, d1)[s0] -> (d0, s0), {domain}")
    >>> to_einsum([left, parse_map(f"(d0, d1)[s0] -> (s0, d1), {domain}")])
    'ac,cb->ab'
    """
    check_type(maps, Iterable, "to_einsum: the maps", "maps, one for each operand")
    given = [*maps]
    for each in given:
        check_type(each, Relation, "to_einsum: a map", "an IndexingMap")
    if not given:
        raise MapError("to_einsum: there are no maps; expected one for each operand")
    sizes: dict[str, object] = {}
    operands = [_checked_labels(number, each, sizes) for number, each in enumerate(given)]
    result = [variable.name for variable in given[0].dims]
    labels = [*dict.fromkeys(chain(result, *operands))]
    if len(labels) > len(ascii_letters):
        raise MapError(f"to_einsum: {len(labels)} labels; there are {len(ascii_letters)} letters")
    are_letters = all(len(label) == 1 and label in ascii_letters for label in labels)
    letters = dict(zip(labels, labels if are_letters else ascii_letters, strict=False))
    texts = ["".join(letters[label] for label in each) for each in (*operands, result)]
    return f"{','.join(texts[:-1])}->{texts[-1]}"


def _checked_labels(number: int, given: Relation, sizes: dict[str, object]) -> list[str]:
    """The label of each result of a map, whose variables have the sizes of those before."""
    where = f"to_einsum: map {number}"
    check_without_parameters(given, where)
    if given.runtime or given.domain.constraints:
        raise MapError(f"{where} has runtime variables or constraints; einsum has none")
    variables = {each.name: each.bounds for each in (*given.dims, *given.ranges)}
    if number and not {each.name for each in given.dims} <= sizes.keys():
        raise MapError(f"{where} comes from another result than the first")
    for name, bounds in variables.items():
        if sizes.setdefault(name, bounds) != bounds or bounds.lower != 0:
            raise MapError(f"{where}: {name} in {bounds} does not count what the others do from 0")
    names = [format_form(given.domain.named(form)) for form in given.forms]
    for position, name in enumerate(names):
        if name not in variables:
            raise MapError(
                f"{where}: result {position} is {beginning_of(name)}; expected a variable"
            )
    return names
