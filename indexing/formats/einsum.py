"""The strings of einsum and einops as maps, both ways."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from keyword import iskeyword
from math import prod
from string import ascii_letters, ascii_lowercase
from typing import Final, NamedTuple, NoReturn, TypeAlias

import simplifier
from indexing.errors import MapError
from indexing.relation import Relation, check_without_parameters
from indexing.simplify.constraints import scope_with_facts
from indexing.simplify.smallest import digit_of
from indexing.validation import Size, read_sizes
from simplifier import forms
from simplifier.errors import Span, TextError, beginning_of, check_type
from simplifier.forms import Form, Interval, format_form, in_digits, is_name
from simplifier.tools.late import sympy

# Patterns of einops, such as `b (h w) c -> b c h w`, as relations from result to operand.

_TOKEN: Final = re.compile(r"\.\.\.|->|[()]|\w+|\S")
MAX_SIZE_DIGITS: Final = 18
"""Of an axis without a name: what 64 bits count."""

_ARROW: Final = "->"
_ELLIPSIS: Final = "..."
_TWO_CALLS: Final = "einops.repeat and einops.reduce are two calls"
_OPERATIONS: Final = "einops.rearrange, reduce and repeat have patterns such as b (h w) -> h w b"


def read_pattern(pattern: str, shape: Sequence[Size], sizes: Mapping[str, Size]) -> NamedIndices:
    """The reading of a pattern for an operand with a shape; see :func:`indexing.from_einops`."""
    check_type(pattern, str, "from_einops: the pattern", "a string")
    expected = _expressions("shape", shape)
    left, right = _PatternSide.both(pattern)
    named = len(left.groups) - left.has_ellipsis
    rank = len(shape) - named
    if rank < 0 or (rank and not left.has_ellipsis):
        sizes_there = f"{named} or more" if left.has_ellipsis else f"{named}"
        raise left.error(f"{len(shape)} sizes are in the shape; expected {sizes_there}")
    if right.has_ellipsis and not left.has_ellipsis:
        raise TextError("the axes of '...' are not in the operand", right.spans[_ELLIPSIS])
    operand, result = left.expanded(rank), right.expanded(rank)
    reduced = _without(operand, result)
    new = _without(result, operand)
    if reduced and new:
        span = reduced[0].span
        missing = f"{span.source[span.start : span.stop]} is reduced"
        raise TextError(f"the axis is new, but {missing}; {_TWO_CALLS}", new[0].span)
    axes = {axis.name: axis for axis in chain(*operand, *result)}
    written = {name: sympy.Integer(axis.size) for name, axis in axes.items() if axis.size}
    known = AxisSizes(_given(sizes, axes) | written)
    for group, size in zip(operand, expected, strict=True):
        known.fit(group, size, group[0].span if group else left.span)
    if unsized := [axis for axis in new if axis.name not in known.sizes]:
        raise TextError(f"the size of {unsized[0].name} is not known", unsized[0].span)
    return related(operand, result, reduced, known)


def _expressions(argument: str, sizes: Sequence[Size]) -> list[sympy.Expr]:
    """Sizes as expressions, checked as those of :meth:`indexing.IndexingMap.from_sizes`."""
    read_sizes(argument, sizes)
    return [expression_of(size) for size in sizes]


def _given(sizes: Mapping[str, Size], names: Container[str]) -> dict[str, sympy.Expr]:
    for name in sizes:
        if name not in names:
            raise MapError(f"from_einops: {name!r} has a size, but is no axis of the pattern")
    return {name: _expressions(name, [size])[0] for name, size in sizes.items()}


def _without(groups: Sequence[Group], others: Sequence[Group]) -> list[NamedAxis]:
    """The axes of groups that are not in others."""
    there = {axis.name for axis in chain(*others)}
    return [axis for axis in chain(*groups) if axis.name not in there]


class _PatternSide:
    """One side of a pattern: a group of axes for each dimension, and maybe an ellipsis."""

    def __init__(self, tokens: Sequence[NamedAxis], span: Span, *, is_operand: bool) -> None:
        self.span = span
        self.spans: dict[str, Span] = {}
        self.groups: list[list[NamedAxis]] = []
        self._is_operand = is_operand
        self._read(tokens)

    @classmethod
    def both(cls, pattern: str) -> tuple[_PatternSide, _PatternSide]:
        """The sides of a pattern."""
        tokens = _words(_TOKEN, pattern, 0, len(pattern))
        arrows = [number for number, token in enumerate(tokens) if token.name == _ARROW]
        if len(arrows) != 1:
            span = tokens[arrows[1]].span if arrows else Span(pattern, 0, len(pattern))
            raise TextError("expected one '->', from operand to result", span, _OPERATIONS)
        (arrow,) = arrows
        place = tokens[arrow].span
        before, after = Span(pattern, 0, place.start), Span(pattern, place.stop, len(pattern))
        left = cls(tokens[:arrow], before, is_operand=True)
        return left, cls(tokens[arrow + 1 :], after, is_operand=False)

    def _read(self, tokens: Sequence[NamedAxis]) -> None:
        is_open = False
        for token in tokens:
            if token.name == "(":
                if is_open:
                    raise TextError("groups are not nested", token.span)
                self.groups.append([])
                is_open = True
            elif token.name == ")":
                if not is_open:
                    raise TextError("no '(' before this", token.span)
                is_open = False
            else:
                self._check(token.name, token.span, is_open=is_open)
                if not is_open:
                    self.groups.append([])
                self.groups[-1].append(token)
        if is_open:
            raise self.error("expected a ')'")

    def _check(self, text: str, span: Span, *, is_open: bool) -> None:
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

    def error(self, message: str) -> TextError:
        """An error about the whole side."""
        text = self.span.source[self.span.start : self.span.stop]
        start = self.span.start + len(text) - len(text.lstrip())
        return TextError(message, Span(self.span.source, start, start + len(text.strip())))

    def expanded(self, rank: int) -> list[Group]:
        """The groups, with so many axes in place of the ellipsis."""
        found: list[Group] = []
        for group in self.groups:
            axes = tuple(_axes_of(group, rank))
            if [token.name for token in group] == [_ELLIPSIS] and not self._is_grouped(group[0]):
                found += ((axis,) for axis in axes)
            else:
                found.append(axes)
        return found

    def _is_grouped(self, token: NamedAxis) -> bool:
        """Whether a token stands in parentheses."""
        return token.span.source[: token.span.start].rstrip().endswith("(")


def _axes_of(words: Iterable[NamedAxis], rank: int) -> Iterator[NamedAxis]:
    """The axes that words stand for: an ellipsis for so many, which count from the right."""
    for word in words:
        text, span = word.name, word.span
        if text == _ELLIPSIS:
            for number in reversed(range(rank)):
                yield NamedAxis(f"...{number}", span, is_named=False)
        elif not text.isdecimal():
            yield word
        elif int(text) > 1:
            yield NamedAxis(f"{text} at {span.start}", span, int(text), is_named=False)


def _words(pattern: re.Pattern[str], text: str, start: int, stop: int) -> list[NamedAxis]:
    """The words between two places of a text."""
    found = pattern.finditer(text, start, stop)
    return [NamedAxis(each[0], Span(text, *each.span())) for each in found]


# The pattern of einops for a map, where there is one.


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
    sizes = {each.name: _size(each.name, each.bounds) for each in relation.dims + relation.ranges}
    scope = scope_with_facts(domain)
    results = [domain.named(in_digits(scope, form)) for form in relation.forms]
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


def _terms(result: Form, sizes: Mapping[str, int]) -> list[tuple[_VariablePart, int]]:
    """The digits that a result is a sum of, with their factors."""
    found: list[tuple[_VariablePart, int]] = []
    for atom, factor in result.terms.items():
        digit = digit_of(atom)
        size = sizes[digit.variable] if digit else 1
        if digit is None or digit.shift or size % (digit.end or digit.weight):
            _refuse(f"{_shown(Form(0, {atom: factor}))} in a result")
        count = digit.radix or size // digit.weight
        found.append((_VariablePart(digit.variable, digit.weight, count), factor))
    if result.constant:
        _refuse(f"{result.constant} in a result")
    return found


def _shown(form: Form) -> str:
    return beginning_of(str(forms.to_sympy(form)))


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
    result: Form,
    terms: Sequence[tuple[_VariablePart, int]],
    axes: Mapping[str, Sequence[_VariablePart]],
) -> list[_VariablePart]:
    """The axes of one dimension of the operand, the slowest first."""
    weight_of: Counter[_VariablePart] = Counter()
    for digit, factor in terms:
        for axis in axes[digit.variable]:
            if digit.stride <= axis.stride < digit.stride * digit.size:
                weight_of[axis] += factor * axis.stride // digit.stride
    if min(weight_of.values(), default=0) < 0:
        taken = next(Form(0, {atom: factor}) for atom, factor in result.terms.items() if factor < 0)
        _refuse(f"{_shown(taken)} in a result")
    weights = sorted(((weight, axis) for axis, weight in weight_of.items() if weight), reverse=True)
    expected = 1
    for weight, axis in reversed(weights):
        if weight != expected:
            _refuse(f"the result {_shown(result)}, which leaves gaps or overlaps")
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
    return (f"{letter}{number or ''}" for number in count() for letter in ascii_lowercase)


# Strings of einsum, such as `bij,bjk->bik`: a relation from the result to each operand.

_LETTER: Final = re.compile(r"\.\.\.|[A-Za-z]|\S")
_NAME: Final = re.compile(r"\.\.\.|\w+|\S")
_SEPARATED: Final = re.compile(r"[A-Za-z_]\w*[ \t]+[A-Za-z_.]")
"""Names with blanks between: einops' einsum."""


def read_einsum(text: str, shapes: Sequence[Sequence[Size]]) -> list[NamedIndices]:
    """The reading of a string for operands with shapes; see :func:`indexing.from_einsum`."""
    check_type(text, str, "from_einsum: the text", "a string such as 'ij,jk->ik'")
    for shape in shapes:
        read_sizes("shapes", shape)
    left, arrow, right = text.partition("->")
    pattern = _NAME if _SEPARATED.search(text) else _LETTER
    commas = [-1, *(found.start() for found in re.finditer(",", left)), len(left)]
    if len(commas) - 1 != len(shapes):
        counts = f"{len(commas) - 1} operands are here; expected {len(shapes)}"
        raise TextError(f"{counts}, one for each shape", Span(text, 0, len(left)))
    operands = [
        _expanded(_labels(pattern, text, before + 1, after), len(shape))
        for (before, after), shape in zip(pairwise(commas), shapes, strict=True)
    ]
    most = max((sum(not axis.is_named for axis in each) for each in operands), default=0)
    if arrow:
        labels = _labels(pattern, text, len(text) - len(right), len(text))
        _check_result(labels, operands, most)
        result = _expanded(labels, sum(axis.name != _ELLIPSIS for axis in labels) + most)
    else:
        result = _implicit(operands)
    sizes = AxisSizes(_sizes(operands, shapes))
    pairs = zip(operands, shapes, strict=True)
    return [_of_operand(operand, shape, result, sizes) for operand, shape in pairs]


def _labels(pattern: re.Pattern[str], text: str, start: int, stop: int) -> list[NamedAxis]:
    labels = _words(pattern, text, start, stop)
    ellipses = [axis for axis in labels if axis.name == _ELLIPSIS]
    for axis in labels:
        if axis.name != _ELLIPSIS and not axis.name.isidentifier():
            raise TextError("expected a label of an axis, '...', ',' or one '->'", axis.span)
        if axis in ellipses[1:]:
            raise TextError("a second '...'", axis.span)
    return labels


def _expanded(labels: Sequence[NamedAxis], rank: int) -> list[NamedAxis]:
    """The axes of an operand or a result, where the ellipsis stands for the rest of its rank.

    Axes of ellipses are counted from the last one, since those of several operands broadcast.
    """
    more = rank - sum(axis.name != _ELLIPSIS for axis in labels)
    if more < 0 or (more and all(axis.name != _ELLIPSIS for axis in labels)):
        span = labels[-1].span if labels else None
        message = f"{len(labels)} labels are here; expected {rank}, one for each size of the shape"
        if span is None:
            raise MapError(f"from_einsum: {message}")
        raise TextError(message, Span(span.source, labels[0].span.start, span.stop))
    return [*_axes_of(labels, more)]


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
    """The result where none is given: ellipses first, then axes that stand once, by letter."""
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
            raise MapError(f"{where}: {name} in {bounds}; expected the size of that name, from 0")
    names = [format_form(given.domain.named(form)) for form in given.forms]
    for position, name in enumerate(names):
        if name not in variables:
            message = f"{where}: result {position} is {beginning_of(name)}; expected a variable"
            raise MapError(message)
    return names


# Axes by name, as in einops and einsum: what a text says of them becomes variables and results.

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
    """Reading of a text: variables with their sizes, results, and conditions on the sizes."""

    dims: Mapping[str, Size]
    ranges: Mapping[str, Size]
    results: Sequence[sympy.Expr]
    constraints: Sequence[Constraint] = ()


def expression_of(size: Size) -> sympy.Expr:
    """A size as an expression; no text is one."""
    return size if isinstance(size, sympy.Expr) else sympy.Integer(size)


@dataclass(slots=True)
class AxisSizes:
    """The sizes of axes, as far as they are known: from the text, the caller, and the shapes."""

    sizes: dict[str, sympy.Expr]
    constraints: list[Constraint] = field(default_factory=list["Constraint"])

    def of(self, group: Iterable[NamedAxis]) -> sympy.Expr:
        """The product of the sizes of axes that are all known."""
        return prod((self.sizes[axis.name] for axis in group), start=sympy.S.One)

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
        if left_over.is_Integer and left_over != sympy.S.Zero:
            raise TextError(f"the size is {self.of(group)} here, but {size} in the shape", where)
        if left_over != sympy.S.Zero:
            self.constraints.append((left_over, (0, 0)))


def _quotient(size: sympy.Expr, known: sympy.Expr, axis: NamedAxis) -> sympy.Expr:
    if known == sympy.S.Zero:
        raise TextError(f"the size of {axis.name} may be any, beside a size of 0", axis.span)
    quotient = sympy.cancel(size / known)
    if sympy.fraction(quotient)[1] != sympy.S.One:
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
    reduced = [(axis,) for axis in ranges]
    dims = names_of(result, "d", taken)
    runs = names_of(reduced, "s", {*taken, *dims})
    values: dict[str, sympy.Expr] = {}
    for group, name in zip((*result, *reduced), (*dims, *runs), strict=True):
        values.update(_digits(group, simplifier.symbol(name), sizes))
    return NamedIndices(
        dims={name: sizes.of(group) for name, group in zip(dims, result, strict=True)},
        ranges={name: sizes.of(group) for name, group in zip(runs, reduced, strict=True)},
        results=[_index(group, values, sizes) for group in operand],
        constraints=sizes.constraints,
    )


def _digits(group: Group, index: sympy.Expr, sizes: AxisSizes) -> dict[str, sympy.Expr]:
    """The index on each axis of a group, for an index on their dimension."""
    found: dict[str, sympy.Expr] = {}
    for position, axis in enumerate(group):
        stride = sizes.of(group[position + 1 :])
        digit = index if stride == sympy.S.One else simplifier.FloorDiv(index, stride)
        found[axis.name] = simplifier.Mod(digit, sizes.sizes[axis.name]) if position else digit
    return found


def _index(group: Group, values: Mapping[str, sympy.Expr], sizes: AxisSizes) -> sympy.Expr:
    """The index on a dimension, for the index on each axis of its group."""
    numbered = enumerate(group)
    parts = (values[axis.name] * sizes.of(group[position + 1 :]) for position, axis in numbered)
    return sum(parts, start=sympy.S.Zero)
