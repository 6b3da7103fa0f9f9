"""CuTe's layouts: shapes and strides that are nested in the same way, of integers or of symbols.

What is asked of symbols is answered by :class:`KnownSizes`: by the facts, for all of their values.

Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar, Union, cast, overload

import simplifier
from indexing.errors import ShapeError
from indexing.variable import is_symbolic
from simplifier import forms
from simplifier.errors import ArgumentError, quoted
from simplifier.tools.display import Displayed
from simplifier.tools.late import sympy

if TYPE_CHECKING:
    from simplifier import Facts

# CuTe's integer tuples: an integer, or a tuple of integer tuples, such as `((2, 4), 8)`.

IntTuple: TypeAlias = Union[int, "tuple[IntTuple, ...]"]
"""An integer or a tuple of these; a rank-1 tuple is no integer."""

Number: TypeAlias = Union[int, "sympy.Expr"]
"""An integer, or an expression with symbols."""

NumberTuple: TypeAlias = Union[Number, "tuple[NumberTuple, ...]"]
"""A number or a tuple of these."""

N = TypeVar("N", bound=Number)
Nested: TypeAlias = Union[N, "tuple[Nested[N], ...]"]

Condition: TypeAlias = Any
"""A truth value, or a condition of sympy on numbers, of which type checkers know no type."""

MAX_DEPTH = 50
"""Tuples are nested down to this depth: no layout is deeper, and Python's stack holds it."""


def flattened(value: Nested[N]) -> tuple[N, ...]:
    """The numbers from left to right as one tuple.

    >>> flattened(((2, 4), 8))
    (2, 4, 8)
    """
    return tuple(chain(*map(flattened, value))) if isinstance(value, tuple) else (value,)


def product(value: NumberTuple) -> Number:
    """The product of all numbers.

    >>> product(((2, 4), 8))
    64
    """
    return prod(flattened(value))


def depth(value: NumberTuple) -> int:
    """Number of tuples around the innermost number.

    >>> depth(8), depth((2, 4)), depth(((2, 4), 8))
    (0, 1, 2)
    """
    return 1 + max(map(depth, value), default=0) if isinstance(value, tuple) else 0


def parts(value: Nested[N]) -> tuple[Nested[N], ...]:
    """The modes: the parts of a tuple; a number is its only one."""
    return value if isinstance(value, tuple) else (value,)


def unflattened(values: Iterator[N], profile: NumberTuple) -> Nested[N]:
    """The next numbers, nested as a profile is.

    >>> unflattened(iter((1, 8, 2)), ((2, 4), 8))
    ((1, 8), 2)
    """
    if isinstance(profile, tuple):
        return tuple(unflattened(values, part) for part in profile)
    return next(values)


def is_congruent(value: NumberTuple, other: NumberTuple) -> bool:
    """Whether both are nested in the same way.

    >>> is_congruent(((2, 4), 8), ((1, 8), 2)), is_congruent((2, 4), 8)
    (True, False)
    """
    if not isinstance(value, tuple) or not isinstance(other, tuple):
        return isinstance(value, tuple) is isinstance(other, tuple)
    return len(value) == len(other) and all(map(is_congruent, value, other))


def compact_strides(shape: Nested[N]) -> Nested[N]:
    """The strides of a shape whose first number is the most minor one.

    >>> compact_strides(((2, 4), 8))
    ((1, 2), 8)
    """
    sizes = flattened(shape)
    strides = [prod(sizes[:position]) for position in range(len(sizes))]
    return unflattened(iter(cast("list[N]", strides)), shape)


def offset_of(coordinate: NumberTuple, shape: NumberTuple, stride: NumberTuple) -> Number:
    """The inner product of a coordinate with strides.

    An integer stands for the coordinate of a whole tuple, the first part fastest; what goes beyond
    the shape goes on in the last part.

    Raises:
        ShapeError: the coordinate is nested deeper than the shape.

    >>> offset_of((3, 1), ((2, 4), 8), ((1, 8), 2)), offset_of(11, ((2, 4), 8), ((1, 8), 2))
    (11, 11)
    """
    if not isinstance(shape, tuple) or not isinstance(stride, tuple):
        if isinstance(coordinate, tuple) or isinstance(stride, tuple):
            raise ShapeError(f"coordinate {text_of(coordinate)}; expected an integer here")
        return coordinate * stride
    return sum(map(offset_of, _split(coordinate, shape), shape, stride))


def _split(coordinate: NumberTuple, shape: tuple[NumberTuple, ...]) -> tuple[NumberTuple, ...]:
    if isinstance(coordinate, tuple):
        if len(coordinate) != len(shape):
            expected = f"expected {len(shape)} parts, as in {text_of(shape)}"
            raise ShapeError(f"coordinate {text_of(coordinate)}; {expected}")
        return coordinate
    split: list[NumberTuple] = []
    for part in shape[:-1]:
        size = product(part)
        split.append(coordinate % size)
        coordinate //= size
    return (*split, coordinate)


def text_of(value: NumberTuple) -> str:
    """The text, as CuTe prints it: without blanks.

    >>> from simplifier import symbol
    >>> print(text_of(((2, 4), (8,))), text_of((symbol("M") // 8, 8)))
    ((2,4),(8)) (M/8,8)
    """
    if isinstance(value, tuple):
        return f"({','.join(map(text_of, value))})"
    if isinstance(value, int):
        return str(value)
    text = forms.format_form(forms.read(value).form, syntax=forms.DIALECTS["/"])
    return _NEEDLESS_BLANK.sub("", text)


_NEEDLESS_BLANK: Final = re.compile(r" (?=\W)|(?<=\W) ")


# Layouts of CuTe: a nested shape and nested strides, as `((2,4),8):((1,8),2)`.
#
# A layout is a function from coordinates to offsets. A coordinate may be one integer for the
# whole shape, one for each mode, or as deeply nested as the shape; the first part counts fastest.


@dataclass(frozen=True, slots=True, repr=False, init=False)
class SymbolicLayout(Displayed):
    """A layout whose sizes and strides may be expressions with symbols, such as ``(M,K):(K,1)``.

    What is said of it, and made of it, holds for all values of the symbols that the facts allow;
    that every size is at least 1 is a fact, too. A quotient rounds down. Operations decide by the
    facts what they must know, such as whether 8 divides ``M``, and refuse what these leave open.

    Raises:
        ArgumentError: the shape or the strides are no numbers or tuples of these.
        ConversionError: an expression is no integer arithmetic.
        ShapeError: a size is less than 1, or the strides are nested in another way.

    >>> from sympy import Eq
    >>> from simplifier import Facts, symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> layout = SymbolicLayout(((8, M // 8), N), ((1, 8), M), Facts({}, [Eq(M % 8, 0)]))
    >>> print(layout, layout.size, layout.cosize, layout.rank, layout.depth)
    ((8,M/8),N):((1,8),M) M*N M*N 2 2
    >>> layout(11), layout(3, 1), layout((3, 0), N - 1)
    (11, M + 3, M*N - M + 3)
    """

    shape: NumberTuple
    stride: NumberTuple
    facts: Facts | None
    """What is known of the symbols; ``None`` for integers, of which nothing needs to be known."""

    def __init__(
        self, shape: NumberTuple, stride: NumberTuple | None = None, facts: Facts | None = None
    ) -> None:
        """Check them, take compact strides for ``None``, and write all as simply as facts allow."""
        self._set(shape, stride, simplifier.Facts.joined(facts or {}, ()))

    def _set(self, shape: NumberTuple, stride: NumberTuple | None, facts: Facts | None) -> None:
        for value, what in ((shape, "the shape"), (stride, "the strides")):
            if value is not None:
                _check(value, what, has_symbols=facts is not None)
        facts = _with_sizes(facts, shape)
        strides = compact_strides(shape) if stride is None else stride
        if not is_congruent(shape, strides):
            given = f"shape {text_of(shape)} and strides {text_of(strides)}"
            raise ShapeError(f"CuteLayout: {given}; expected both nested in the same way")
        if facts is not None:
            known = KnownSizes(facts)
            shape = unflattened(map(known.simplest, flattened(shape)), shape)
            strides = unflattened(map(known.simplest, flattened(strides)), shape)
        for name, value in (("shape", shape), ("stride", strides), ("facts", facts)):
            object.__setattr__(self, name, value)

    @property
    def modes(self) -> tuple[Self, ...]:
        """The layout of each mode; a layout whose shape is an integer has itself.

        >>> [str(mode) for mode in CuteLayout(((2, 4), 8), ((1, 8), 2)).modes]
        ['(2,4):(1,8)', '8:2']
        """
        pairs = zip(parts(self.shape), parts(self.stride), strict=True)
        return tuple(made(*pair, [self]) for pair in pairs)

    @property
    def leaves(self) -> tuple[tuple[Number, Number], ...]:
        """Size and stride of each number of the shape, from left to right."""
        return tuple(zip(flattened(self.shape), flattened(self.stride), strict=True))

    @property
    def size(self) -> Number:
        """The number of coordinates."""
        return KnownSizes(self.facts).simplest(product(self.shape))

    @property
    def cosize(self) -> Number:
        """One more than the offset of the last coordinate."""
        last = sum((size - 1) * stride for size, stride in self.leaves)
        return KnownSizes(self.facts).simplest(last + 1)

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(parts(self.shape))

    @property
    def depth(self) -> int:
        """Number of tuples around the innermost size."""
        return depth(self.shape)

    def __call__(self, *coordinate: NumberTuple) -> Number:
        """The offset of a coordinate, which may lie beyond the last mode, and may have symbols.

        Raises:
            ArgumentError: the coordinate is no number or tuple of these.
            ShapeError: the coordinate is nested in another way than the shape.

        >>> CuteLayout((4, 8), (8, 1))(2, 3)
        19
        """
        _check(coordinate, "the coordinate", has_symbols=True)
        (one, *others) = coordinate or ((),)
        offset = offset_of(coordinate if others else one, self.shape, self.stride)
        return KnownSizes(self.facts).simplest(offset)

    def flat(self) -> Self:
        """The layout with all sizes in one tuple.

        >>> print(CuteLayout(((2, 4), 8), ((1, 8), 2)).flat())
        (2,4,8):(1,8,2)
        """
        return made(flattened(self.shape), flattened(self.stride), [self])

    def subs(self, values: Mapping[Any, int]) -> CuteLayout:
        """The layout of integers that it is for these values of all symbols, or of their names.

        Raises:
            ArgumentError: a symbol has no value.
            ShapeError: a fact does not hold for the values.

        >>> from simplifier import symbol
        >>> M, K = symbol("M"), symbol("K")
        >>> print(SymbolicLayout((M, K), (K, 1)).subs({M: 4, "K": 8}))
        (4,8):(8,1)
        """
        point = simplifier.Facts({name: (value, value) for name, value in values.items()})
        for fact, interval in self.facts or ():
            if simplifier.bounds_of(fact, point).intersect(interval).is_empty:
                raise ShapeError(f"subs: {self}: {fact} is not in {interval} for these values")
        at_point = SymbolicLayout(self.shape, self.stride, point)
        return CuteLayout(*cast("tuple[IntTuple, IntTuple]", (at_point.shape, at_point.stride)))

    def __str__(self) -> str:
        return f"{text_of(self.shape)}:{text_of(self.stride)}"

    def __repr__(self) -> str:
        return f"cute.parse_symbolic('{self}', {self.facts!r})"


LayoutT = TypeVar("LayoutT", bound=SymbolicLayout)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class CuteLayout(SymbolicLayout):
    """A shape and strides that are nested in the same way; strides are compact unless given.

    Strides count elements and may be 0 or negative.

    Source: CuTe's layout documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md).

    Raises:
        ArgumentError: the shape or the strides are no integers or tuples of these.
        ShapeError: a size is less than 1, or the strides are nested in another way.

    >>> layout = CuteLayout(((2, 4), 8), ((1, 8), 2))
    >>> print(layout, layout.size, layout.cosize, layout.rank, layout.depth)
    ((2,4),8):((1,8),2) 64 40 2 2
    >>> layout(11), layout(3, 1), layout((1, 1), 1)
    (11, 11, 11)
    >>> print(CuteLayout((4, 8)))
    (4,8):(1,4)
    """

    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None:
        """Check the two and take compact strides for ``None``."""
        self._set(shape, stride, None)

    @classmethod
    def of_modes(cls, modes: Iterable[CuteLayout]) -> CuteLayout:
        """The layout that has these layouts as its modes.

        Raises:
            ShapeError: there are none.

        >>> print(CuteLayout.of_modes([CuteLayout((2, 4), (1, 8)), CuteLayout(8, 2)]))
        ((2,4),8):((1,8),2)
        """
        return of_modes(modes)

    if TYPE_CHECKING:  # what is made of integers alone is one

        @property
        def leaves(self) -> tuple[tuple[int, int], ...]: ...  # noqa: D102 - as above
        @property
        def size(self) -> int: ...  # noqa: D102
        @property
        def cosize(self) -> int: ...  # noqa: D102
        @overload
        def __call__(self, *coordinate: IntTuple) -> int: ...
        @overload
        def __call__(self, *coordinate: NumberTuple) -> Number: ...
        def __call__(self, *coordinate: Any) -> Any: ...  # noqa: D102

    def __repr__(self) -> str:
        return f"cute.parse('{self}')"


def made(shape: NumberTuple, stride: NumberTuple | None, of: Iterable[LayoutT]) -> LayoutT:
    """The layout of a shape and strides that were made of some layouts: of symbols, if one is."""
    known = dict.fromkeys(layout.facts for layout in of if layout.facts is not None)
    facts = reduce(lambda facts, more: facts & more, known) if known else None
    kind: Any = partial(SymbolicLayout, facts=facts) if facts else CuteLayout
    return kind(shape, stride)


def of_modes(modes: Iterable[LayoutT]) -> LayoutT:
    """The layout that has these layouts as its modes."""
    given = tuple(modes)
    return made(tuple(mode.shape for mode in given), tuple(mode.stride for mode in given), given)


def _check(value: object, what: str, level: int = 0, *, has_symbols: bool) -> None:
    """Raise an error unless a value is a number, or a tuple of numbers of some depth."""
    if isinstance(value, tuple):
        if level > MAX_DEPTH:
            raise ShapeError(f"CuteLayout: {what}: tuples are nested deeper than {MAX_DEPTH}")
        for part in cast("tuple[object, ...]", value):
            _check(part, what, level + 1, has_symbols=has_symbols)
        return
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number and not (has_symbols and isinstance(value, sympy.Expr)):
        found = f"{quoted(value)} of {type(value).__name__}"
        expected = "expected integers in tuples; SymbolicLayout has symbols, too"
        raise ArgumentError(f"CuteLayout: {what}: {found}; {expected}")


def _with_sizes(facts: Facts | None, shape: NumberTuple) -> Facts | None:
    """The facts, and that each size is at least 1."""
    for size in flattened(shape):
        if isinstance(size, int) and size >= 1:
            continue
        is_size = KnownSizes(facts).holds(size >= 1)
        if is_size is False:
            message = f"CuteLayout: shape {text_of(shape)} has the size {size}; expected 1 or more"
            raise ShapeError(message)
        if facts and not is_size:
            facts &= simplifier.Facts({}, [(size, (1, None))])
    if "()" in text_of(shape):
        raise ShapeError(f"CuteLayout: shape {text_of(shape)} has a tuple without sizes")
    return facts


# What is known of numbers, and decided by it.


def equal(left: Number, right: Number) -> Condition:
    """The condition that two numbers are equal."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return sympy.Eq(left, right) if is_symbolic(left - right) else left == right


@dataclass(frozen=True, slots=True)
class KnownSizes:
    """What facts tell an operation; the name and the operands of this begin the errors."""

    facts: Facts | None
    where: Callable[[], str] = str

    def simplest(self, number: Number) -> Number:
        """The number as simply as the facts allow."""
        if isinstance(number, int):
            return number
        found = simplifier.simplify(number, self.facts or {})
        return int(found) if found.is_number else found

    def holds(self, condition: Condition) -> bool | None:
        """Whether a condition holds for all values, or for none; else ``None``."""
        if isinstance(condition, bool):
            return condition
        found = simplifier.simplify(condition, self.facts or {})
        return bool(found) if found in (True, False) else None

    def decided(self, condition: Condition) -> bool:
        """Whether a condition holds for all values, or for none.

        Raises:
            ShapeError: the facts do not tell.
        """
        found = self.holds(condition)
        if found is None:
            raise self.refusal(f"it is not known whether {condition}", condition)
        return found

    def refusal(self, message: str, condition: Condition) -> ShapeError:
        """The error that a condition does not hold, or not for all values that facts allow."""
        hint = "" if self.facts is None else f"; the fact {condition} would help"
        return ShapeError(f"{self.where()}: {message}{hint}")

    def at_most(self, one: Number, other: Number) -> bool | None:
        """Whether a number is known to be at most another, maybe as its divisor."""
        is_divisor = self.holds(one >= 1) and self.holds(other // one >= 1)
        return is_divisor or self.holds(one <= other)

    def compared(self, one: Sequence[Number], other: Sequence[Number]) -> int:
        """Of two leaves that begin with strides, -1 if the first comes first, else 1."""
        if self.at_most(one[0], other[0]):
            return -1
        return 1 if self.at_most(other[0], one[0]) else self.decided(one[0] <= other[0])
