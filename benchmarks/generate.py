"""Random problems, like those in the index arithmetic of tensor programs.

A problem depends only on the seed and its own number, so the first hundred problems of a thousand
are the same hundred. Expressions are written operation by operation, as a compiler that composes
maps produces them; nothing is simplified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Final, NamedTuple

from benchmarks.problems import Ends, Movement, Problem, Step, happens, seeded

SIZES: Final = (
    *(24, 35, 36, 48, 60, 64, 96, 105, 120, 128, 180, 210, 256, 360, 384, 420, 512),
    *(630, 720, 768, 840, 1024, 1152, 1260, 1440, 1536, 2048, 2520, 3072, 4096, 5040, 6144),
)
"""Numbers of elements: powers of two, multiples of three, odd numbers, many mixed divisors."""

POWERS: Final = tuple(1 << power for power in range(6, 21))
"""Numbers of elements that are powers of two alone."""

LEAST_OPERATORS: Final = 3
"""The least number of operators, as in ``((x + 2) // 3) * 3``. It must not depend on what results
cost: otherwise each objective would have problems of its own."""


class Drawn(NamedTuple):
    """An expression, the bounds of its variables, and a program whose result reads there."""

    text: str
    ends: dict[str, Ends]
    movement: Movement | None = None


def problems(seed: int, count: int) -> list[Problem]:
    """This many problems, the kinds in turn."""
    kinds = list(KINDS)
    return [problem(seed, number, kinds[number % len(kinds)]) for number in range(count)]


def problem(seed: int, number: int, kind: str) -> Problem:
    """The problem with this number; trivial expressions are drawn again."""
    random = seeded(seed, number)
    while True:
        drawn = KINDS[kind](random)
        if operators_in(drawn.text) >= LEAST_OPERATORS:
            text = _without_parentheses(drawn.text)
            return Problem(f"{kind}-{number}", text, drawn.ends, drawn.movement)


def operators_in(expression: str) -> int:
    """How many operators are written.

    >>> operators_in("min((x + 2) // 3 * 3, 5)")
    4
    """
    return len(re.findall(r"//|[-+*%]|min|max", expression))


def _without_parentheses(text: str) -> str:
    return text[1:-1] if text.startswith("(") and _closes_at_end(text) else text


def _closes_at_end(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return place == len(text) - 1
    return False


# Text of operations.


def _plus(left: str, right: str | int) -> str:
    if isinstance(right, int) and right <= 0:
        return f"({left} - {-right})" if right else left
    return f"({left} + {right})"


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {factor}"


def _over(text: str, divisor: int) -> str:
    return text if divisor == 1 else f"({text} // {divisor})"


def _mod(text: str, divisor: int) -> str:
    return f"({text} % {divisor})"


def _sum(terms: Sequence[str]) -> str:
    return f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]


def _linear(index: Sequence[str], strides: Sequence[int]) -> str:
    """The offset of an index under strides."""
    return _sum([_times(text, stride) for text, stride in zip(index, strides, strict=True)])


# Chains of operations that move elements: from the index of the last result back to the operand.


@dataclass(frozen=True, slots=True)
class _Array:
    """An array within a chain: its shape, and the index into it."""

    shape: tuple[int, ...]
    index: tuple[str, ...]
    steps: tuple[Step, ...] | None = ()
    """What makes the result from this array; nothing if it is more than reshapes and transposes."""

    @property
    def linear(self) -> str:
        """The offset in row-major order."""
        return _linear(self.index, _strides(self.shape))

    @property
    def movement(self) -> Movement | None:
        """The program from this array to the result."""
        return None if self.steps is None else Movement(self.shape, self.steps)

    def before(self, step: Step, shape: tuple[int, ...], index: tuple[str, ...]) -> _Array:
        """The operand of a step whose result is this array."""
        return _Array(shape, index, None if self.steps is None else (step, *self.steps))

    @property
    def ends(self) -> dict[str, Ends]:
        """The bounds of an index made of variables."""
        return {name: (0, size - 1) for name, size in zip(self.index, self.shape, strict=True)}


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[place + 1 :]) for place in range(len(shape))]


def _start(random: Random, size: int) -> _Array:
    shape = _shape(random, size)
    return _Array(shape, tuple(f"d{place}" for place in range(len(shape))))


def _shape(random: Random, size: int) -> tuple[int, ...]:
    """One to four sizes greater than 1 with this product."""
    shape: list[int] = []
    for _ in range(random.choice((0, 1, 1, 2, 2, 3))):
        divisors = [divisor for divisor in range(2, size) if size % divisor == 0]
        if divisors:
            shape.append(random.choice(divisors))
            size //= shape[-1]
    shape.append(size)
    random.shuffle(shape)
    return tuple(shape)


def _split(offset: str, shape: Sequence[int]) -> tuple[str, ...]:
    """The index of an offset in row-major order; the first digit needs no remainder."""
    parts = [_over(offset, stride) for stride in _strides(shape)]
    rest = [_mod(part, extent) for part, extent in zip(parts[1:], shape[1:], strict=True)]
    return (parts[0], *rest)


def _reshape(random: Random, array: _Array) -> _Array:
    shape = _shape(random, prod(array.shape))
    return array.before(("reshape", array.shape), shape, _split(array.linear, shape))


def _transpose(random: Random, array: _Array) -> _Array:
    order = list(range(len(array.shape)))
    random.shuffle(order)
    back = tuple(order.index(place) for place in range(len(order)))
    shape = tuple(array.shape[place] for place in order)
    return array.before(("transpose", back), shape, tuple(array.index[place] for place in order))


def _slice(random: Random, array: _Array) -> _Array:
    """The operand of a slice is larger: ``index * stride + start``."""
    place = random.randrange(len(array.shape))
    start, stride = random.choice((0, 1, 3, 4, 8, 16)), random.choice((1, 1, 1, 2, 3))
    extent = start + (array.shape[place] - 1) * stride + 1
    extent += -extent % random.choice((4, 6, 8, 8, 10, 32))
    return _with(array, place, extent, _plus(_times(array.index[place], stride), start))


def _pad(random: Random, array: _Array) -> _Array:
    """The operand of a pad is smaller: ``(index - low) floordiv (interior + 1)``."""
    place = random.randrange(len(array.shape))
    low, step = random.choice((0, 1, 2, 5, 16)), random.choice((1, 1, 1, 2, 3))
    extent = max(1, (array.shape[place] - 1 - low) // step + 1)
    extent -= extent % random.choice((2, 3, 4, 8)) if extent > low else 0
    return _with(array, place, extent, _over(_plus(array.index[place], -low), step))


def _reverse(random: Random, array: _Array) -> _Array:
    place = random.randrange(len(array.shape))
    last = array.shape[place] - 1
    return _with(array, place, last + 1, f"({last} - {array.index[place]})")


def _broadcast(random: Random, array: _Array) -> _Array:
    """The operand lacks a dimension."""
    if len(array.shape) == 1:
        return array
    place = random.randrange(len(array.shape))
    return _Array(
        array.shape[:place] + array.shape[place + 1 :],
        array.index[:place] + array.index[place + 1 :],
        None,
    )


def _with(array: _Array, place: int, extent: int, text: str) -> _Array:
    shape, index = list(array.shape), list(array.index)
    shape[place], index[place] = extent, text
    return _Array(tuple(shape), tuple(index), None)


def _concatenate(random: Random, array: _Array) -> _Array:
    """One operand of a concatenation, clamped like the operands of a select."""
    place = random.randrange(len(array.shape))
    extent = array.shape[place]
    before = extent // random.choice((2, 3, 4))
    own = before + extent // 4 + 1
    own -= own % 4 if own > extent // 3 + 4 else 0
    text = f"min(max({_plus(array.index[place], -before)}, 0), {own - 1})"
    return _with(array, place, own, text)


def _chain(
    *steps: Callable[[Random, _Array], _Array], sizes: Sequence[int] = SIZES
) -> Callable[[Random], Drawn]:
    """A chain of reshapes with some of these steps between them."""

    def draw(random: Random) -> Drawn:
        first = array = _start(random, random.choice(sizes))
        for _ in range(random.choice((1, 1, 2, 2, 3))):
            if steps:
                array = random.choice(steps)(random, array)
            array = _reshape(random, array)
        return Drawn(random.choice((*array.index, array.linear)), first.ends, array.movement)

    return draw


def _flat(random: Random) -> Drawn:
    """The flat index in the operand of a transpose, from that in the result, or its digits."""
    size = random.choice((*SIZES, *POWERS))
    array = _Array((size,), ("d0",))
    for _ in range(random.choice((1, 1, 2))):
        shape = _shape(random, size)
        unflattened = array.before(("reshape", array.shape), shape, _split(array.linear, shape))
        array = _transpose(random, unflattened)
    if happens(random, 0.7):
        return Drawn(array.linear, {"d0": (0, size - 1)}, array.movement)
    return Drawn(random.choice(_split(array.linear, _shape(random, size))), {"d0": (0, size - 1)})


# Layouts.

_TILES: Final = ((8, 128), (4, 128), (2, 128), (1, 128), (16, 64), (4, 32), (8, 16))


def _tiled(random: Random) -> Drawn:
    """Offsets under a tiled layout, or what a row-major reader computes from them."""
    rows, columns = random.choice(_TILES)
    shape = (rows * random.randint(1, 6), columns * random.randint(1, 5))
    array = _start(random, prod(shape)) if happens(random, 0.5) else _Array(shape, ("d0", "d1"))
    row, column = _split(array.linear, shape) if array.shape != shape else array.index
    packed = random.choice((1, 1, 2, 4))
    offset = _tiled_offset((row, column), shape[1] // columns, (rows, columns), packed)
    if happens(random, 0.4):
        return Drawn(offset, array.ends)
    if happens(random, 0.5):
        return Drawn(random.choice(_split(offset, shape)), array.ends)
    other = random.choice([tile for tile in _TILES if prod(shape) % prod(tile) == 0])
    digits = _split(offset, (prod(shape) // prod(other), *other))
    return Drawn(random.choice((*digits, _linear(digits[1:], (other[1], 1)))), array.ends)


def _tiled_offset(index: tuple[str, str], tiles: int, tile: tuple[int, int], packed: int) -> str:
    """``T(tile)``, and ``T(tile)(packed,1)`` for packed rows."""
    (row, column), (rows, columns) = index, tile
    number = [_times(_over(row, rows), tiles * rows * columns)]
    number.append(_times(_over(column, columns), rows * columns))
    inner_row, inner_column = _mod(row, rows), _mod(column, columns)
    if packed == 1 or rows % packed:
        return _sum([*number, _times(inner_row, columns), inner_column])
    return _sum(
        [
            *number,
            _times(_over(inner_row, packed), columns * packed),
            _times(inner_column, packed),
            _mod(inner_row, packed),
        ]
    )


def _untiled(random: Random) -> Drawn:
    """The index of an offset under a tiled layout, linearized in another way."""
    rows, columns = random.choice(_TILES)
    tile_rows, tile_columns = random.randint(1, 6), random.randint(1, 5)
    digits = _split("d0", (tile_rows, tile_columns, rows, columns))
    row = _linear((digits[0], digits[2]), (rows, 1))
    column = _linear((digits[1], digits[3]), (columns, 1))
    shape = (tile_rows * rows, tile_columns * columns)
    ends: dict[str, Ends] = {"d0": (0, prod(shape) - 1)}
    if happens(random, 0.4):
        return Drawn(_tiled_offset((row, column), tile_columns, (rows, columns), 1), ends)
    return Drawn(random.choice((row, column, _Array(shape, (row, column)).linear)), ends)


def _vectorized(random: Random) -> Drawn:
    """Elements of threads, blocks, unrolled loops and vectors, split into a shape."""
    vector, threads = random.choice((1, 2, 4, 8)), random.choice((32, 64, 128, 256))
    unroll, blocks = random.choice((1, 2, 4, 6)), random.choice((4, 7, 12, 30, 64, 1008))
    extents = (blocks, unroll, threads, vector)
    array = _Array(extents, ("bl", "u", "th", "v"))
    total = prod(extents)
    shape = _shape(random, total)
    digits = _split(array.linear, shape)
    digit = random.choice((*digits, _linear(digits, [1, *_strides(shape)[1:]])))
    return Drawn(digit, array.ends)


def _transposed_tiles(random: Random) -> Drawn:
    """Where a thread of a kernel that transposes tiles reads or writes.

    A block has one tile of the matrix, its threads some rows of it, and it loops over the others.
    """
    tile, rows = random.choice((16, 32, 32, 64)), random.choice((2, 4, 8))
    across, down = random.choice(_COUNTS), random.choice(_COUNTS)
    block, row, column = (
        _split("bl", (down, across)),
        f"({_over('th', tile)} + {_times('loop', rows)})",
        _mod("th", tile),
    )
    ends: dict[str, Ends] = {
        "bl": (0, down * across - 1),
        "loop": (0, tile // rows - 1),
        "th": (0, rows * tile - 1),
    }
    inner = (column, row) if happens(random, 0.5) else (row, column)
    height, width = down * tile, across * tile
    if happens(random, 0.5):
        block, height, width = (block[1], block[0]), width, height
    index = [_plus(_times(number, tile), part) for number, part in zip(block, inner, strict=True)]
    array = _Array((height, width), tuple(index))
    if happens(random, 0.6):
        return Drawn(array.linear, ends)
    return Drawn(random.choice(_split(array.linear, _shape(random, height * width))), ends)


_COUNTS: Final = (3, 4, 6, 8, 10, 16, 64)


# Arithmetic.


def _rounded(random: Random) -> Drawn:
    """Sizes rounded up to whole tiles, the padding, and what is left beyond the last tile."""
    size, tile = random.choice((*SIZES, *POWERS)), random.choice((3, 4, 7, 8, 12, 32, 100, 128))
    inner = random.choice(("x", "x", _plus(_times("x", random.choice((2, 3, 6))), "y")))
    tiles = _over(_plus(inner, tile - 1), tile)
    padded = f"({_times(tiles, tile)})"
    text = random.choice(
        (
            padded,
            f"({padded} - {inner})",
            f"((-{inner}) % {tile} + {inner})",
            f"(({padded} - {inner}) // {random.choice((2, 3, 4))})",
            f"({tiles} - {_over(inner, tile)})",
            f"min({padded}, {size})",
            f"min({tile}, {size} - {_times(_over(inner, tile), tile)})",
        )
    )
    return Drawn(text, {"x": (0, size - 1), "y": (0, random.choice((1, 3, 11)))})


def _digits(random: Random) -> Drawn:
    """Digits of one number, with new weights."""
    size = random.choice(SIZES) * random.choice((1, 1, 4))
    shape = _shape(random, size)
    source = random.choice(("x", "(x * 2 + y)", "(x * 3 + y + 1)", "(y - x)", "(x + 5)"))
    digits = list(_split(source, shape))
    weights = random.choice((_strides(shape), [random.choice((1, 2, 3, 8)) for _ in shape]))
    terms = [_times(digit, weight) for digit, weight in zip(digits, weights, strict=True)]
    if happens(random, 0.3):
        terms.append(_times(_over(source, random.choice((2, 3, 4, 12))), random.choice((1, 2, 6))))
    return Drawn(_sum(terms), {"x": (0, size - 1), "y": (0, random.choice((1, 2, 7)))})


def _arithmetic(random: Random) -> Drawn:
    """Any operations on one to four variables with any bounds."""
    names = random.sample(("x", "y", "z", "w"), random.randint(1, 4))
    ends = {name: _ends(random) for name in sorted(names)}
    return Drawn(_drawn(random, names, random.randint(2, 6), ("+", "+", "//", "%", "*")), ends)


def _extrema(random: Random) -> Drawn:
    """Clamps, rounding, and shifted minima and maxima."""
    names = random.sample(("x", "y", "z"), random.randint(1, 3))
    ends = {name: _ends(random) for name in sorted(names)}
    signs = ("+", "+", "//", "%", "min", "max", "min", "max")
    return Drawn(_drawn(random, names, random.randint(2, 5), signs), ends)


def _ends(random: Random) -> Ends:
    lower = random.choice((0, 0, 0, 1, -3, -8, 5))
    return lower, lower + random.choice((1, 2, 3, 7, 9, 15, 31, 63, 99, 127, 419, 1233)) - 0


def _drawn(random: Random, names: Sequence[str], leaves: int, signs: Sequence[str]) -> str:
    """An expression with at most this many leaves."""
    if leaves <= 1:
        return random.choice(names)
    here = random.randint(1, leaves - 1)
    sign = random.choice(signs)
    left = _drawn(random, names, here, signs)
    if sign == "//":
        return _over(left, random.choice(_DIVISORS))
    if sign == "%":
        return _mod(left, random.choice(_DIVISORS))
    if sign == "*":
        return f"({_times(left, random.choice((2, 3, 4, 6, 32, -1, -3)))})"
    right = _drawn(random, names, leaves - here, signs)
    if sign == "+":
        joined = f"({left} {random.choice('+-')} {right})"
        return _plus(joined, random.choice((0, 0, 0, 1, -1, 7, -12)))
    if happens(random, 0.4):
        right = str(random.choice((0, 1, 7, 31)))
    return f"{sign}({left}, {right})"


_DIVISORS: Final = (2, 2, 3, 4, 5, 6, 7, 8, 12, 16, 18, 32, 35, 64, 128, 420)


KINDS: Final[Mapping[str, Callable[[Random], Drawn]]] = {
    "reshape": _chain(),
    "transpose": _chain(_transpose),
    "power": _chain(_transpose, sizes=POWERS),
    "flat": _flat,
    "slice": _chain(_slice, _slice, _transpose, _broadcast),
    "pad": _chain(_pad, _reverse, _pad, _transpose),
    "concatenate": _chain(_concatenate, _transpose, _slice),
    "tiled": _tiled,
    "untiled": _untiled,
    "vectorized": _vectorized,
    "transposed tiles": _transposed_tiles,
    "rounded": _rounded,
    "digits": _digits,
    "arithmetic": _arithmetic,
    "extrema": _extrema,
}
"""The kinds of problems; each draws an expression and its bounds."""
