"""Linear layouts of Triton: which element a register of a lane of a warp holds, bit by bit.

The element of a place is the exclusive or of the elements of its bits, so a layout is given by
these: its *bases*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias

from indexing.domain import Domain
from indexing.errors import MapError, ShapeError
from indexing.exact import bits
from indexing.exact.inverse import bits_of_dims
from indexing.map import IndexingMap
from indexing.pictures.grids import LabelGrid
from indexing.variable import Variable
from simplifier.errors import INTEGER, TextError, check_type, listed, naming_wrong_arguments, quoted
from simplifier.forms import Form
from simplifier.tools.display import Displayed
from simplifier.tools.lexer import ScanningLexer

REGISTER, LANE, WARP, BLOCK, OFFSET = "register", "lane", "warp", "block", "offset"
"""The in-dimensions of Triton's layouts."""

Basis: TypeAlias = "tuple[int, ...]"
"""An element: its index along each out-dimension."""


@dataclass(frozen=True, slots=True, repr=False, init=False)
class LinearLayout(Displayed):
    """A function that is linear in bits, from places in hardware to elements.

    ``bases`` are, for each in-dimension such as ``register``, ``lane`` or ``warp``, the elements of
    the places 1, 2, 4, ...; ``out_dims`` are the sizes of the out-dimensions, all powers of two. If
    only their names are given, sizes are as large as the bases need.

    Source: Triton (include/triton/Tools/LinearLayout.h) and arXiv 2505.23819.

    Raises:
        ArgumentError: a name is no string or a number no integer.
        ShapeError: a size is no power of two, a basis lies outside of the sizes, or has not one
            index for each out-dimension.

    >>> layout = LinearLayout({"register": [(0, 1)], "lane": [(0, 2), (1, 0), (2, 0)]},
    ...                       ["dim0", "dim1"])
    >>> layout.in_dims, layout.out_dims
    ({'register': 2, 'lane': 8}, {'dim0': 4, 'dim1': 4})
    >>> layout(register=1, lane=3)
    {'dim0': 1, 'dim1': 3}
    """

    _bases: tuple[tuple[str, tuple[Basis, ...]], ...]
    _sizes: tuple[tuple[str, int], ...]

    def __init__(
        self,
        bases: Mapping[str, Iterable[Sequence[int]]],
        out_dims: Mapping[str, int] | Sequence[str],
    ) -> None:
        """Check the bases and sizes."""
        names = tuple(out_dims)
        _check_names("in-dimension", tuple(bases))
        _check_names("out-dimension", names)
        given = {
            name: tuple(_basis(name, vector, names) for vector in vectors)
            for name, vectors in bases.items()
        }
        sizes = _sizes(out_dims, [*chain(*given.values())])
        for name, vectors in given.items():
            for vector in vectors:
                _check_inside(name, vector, sizes)
        object.__setattr__(self, "_bases", tuple(given.items()))
        object.__setattr__(self, "_sizes", tuple(sizes.items()))

    @classmethod
    def identity(cls, size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """The layout of so many places, each with the element of its number.

        Raises:
            ShapeError: the size is no power of two.

        >>> print(LinearLayout.identity(4, "lane", "dim0"))
         - lane=1 -> (1)
           lane=2 -> (2)
        where out dims are: [dim0 (size 4)]
        """
        count = bit_count(size, f"identity: the size of {in_dim}")
        return cls({in_dim: [(1 << bit,) for bit in range(count)]}, {out_dim: size})

    @classmethod
    def zeros(cls, size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """The layout of so many places that all have element 0: a broadcast.

        Raises:
            ShapeError: the size is no power of two.

        >>> LinearLayout.zeros(4, "lane", "dim0")(lane=3)
        {'dim0': 0}
        """
        count = bit_count(size, f"zeros: the size of {in_dim}")
        return cls({in_dim: [(0,)] * count}, {out_dim: 1})

    @classmethod
    def empty(cls) -> LinearLayout:
        """The layout without dimensions, with which products begin."""
        return cls({}, {})

    # Parts.

    @property
    def bases(self) -> dict[str, tuple[Basis, ...]]:
        """Elements of the places 1, 2, 4, ... of each in-dimension."""
        return dict(self._bases)

    @property
    def in_dims(self) -> dict[str, int]:
        """The size of each in-dimension."""
        return {name: 1 << len(vectors) for name, vectors in self._bases}

    @property
    def out_dims(self) -> dict[str, int]:
        """The size of each out-dimension."""
        return dict(self._sizes)

    @property
    def in_bits(self) -> dict[str, int]:
        """The number of bits of each in-dimension."""
        return {name: len(vectors) for name, vectors in self._bases}

    @property
    def out_bits(self) -> dict[str, int]:
        """The number of bits of each out-dimension."""
        return {name: size.bit_length() - 1 for name, size in self._sizes}

    @property
    def matrix(self) -> tuple[int, ...]:
        """The image of each bit of all in-dimensions: a number of the bits of all out-dimensions.

        The first dimensions have the lowest bits.
        """
        places = _places(self.out_bits)
        return tuple(
            sum(index << place for index, place in zip(vector, places, strict=True))
            for _, vectors in self._bases
            for vector in vectors
        )

    @classmethod
    def of_matrix(
        cls, matrix: Iterable[int], in_bits: Mapping[str, int], out_bits: Mapping[str, int]
    ) -> LinearLayout:
        """The layout of a :attr:`matrix` whose dimensions have these numbers of bits."""
        columns = iter(matrix)
        bases = {
            name: [_split(next(columns), out_bits) for _ in range(count)]
            for name, count in in_bits.items()
        }
        return cls(bases, {name: 1 << count for name, count in out_bits.items()})

    def __call__(self, **place: int) -> dict[str, int]:
        """The element at a place; in-dimensions that are not given are 0.

        Raises:
            ArgumentError: a place is no integer.
            ShapeError: there is no such in-dimension, or the place lies outside.
        """
        number = 0
        for name, value in place.items():
            check_type(value, INTEGER, f"LinearLayout: {name}", "an integer")
        _check_known("LinearLayout: the place", place, self.in_dims)
        for (name, size), first in zip(self.in_dims.items(), _places(self.in_bits), strict=True):
            value = place.get(name, 0)
            if not 0 <= value < size:
                raise ShapeError(f"LinearLayout: {name}={value}; expected 0 to {size - 1}")
            number |= value << first
        found = _split(bits.image(self.matrix, number), self.out_bits)
        return dict(zip(self.out_dims, found, strict=True))

    # Questions.

    @property
    def is_surjective(self) -> bool:
        """Whether each element is somewhere."""
        return bits.Elimination(self.matrix).rank == sum(self.out_bits.values())

    @property
    def is_injective(self) -> bool:
        """Whether no element is at two places."""
        return bits.Elimination(self.matrix).rank == sum(self.in_bits.values())

    @property
    def is_invertible(self) -> bool:
        """Whether each element is at exactly one place."""
        return self.is_surjective and self.is_injective

    # Other layouts.

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """The layout that applies this one first: ``outer`` takes its elements.

        Raises:
            ShapeError: the in-dimensions of ``outer`` are no out-dimensions of this layout, in
                their order and as large or larger.

        >>> swap = LinearLayout({"lane": [(2,), (1,)]}, ["lane"])
        >>> swap.compose(swap) == LinearLayout.identity(4, "lane", "lane")
        True
        """
        check_type(outer, LinearLayout, "compose: the outer layout", "a LinearLayout")
        ins, outs = outer.in_dims, self.out_dims
        if list(ins) != list(outs) or any(size > ins[name] for name, size in outs.items()):
            expected = f"expected {_sized(outs)}"
            raise ShapeError(f"compose: the outer layout takes {_sized(ins)}; {expected}")
        wide = LinearLayout(self.bases, ins)
        matrix = bits.composed(outer.matrix, wide.matrix)
        return LinearLayout.of_matrix(matrix, self.in_bits, outer.out_bits)

    def inverse(self) -> LinearLayout:
        """The layout from elements to the places where they are.

        Raises:
            ShapeError: some element is at no place or at several.

        >>> rows = LinearLayout({"offset": [(0, 1), (0, 2), (1, 1), (2, 2)]}, ["dim0", "dim1"])
        >>> print(rows.inverse())
         - dim0=1 -> (5)
           dim0=2 -> (10)
         - dim1=1 -> (1)
           dim1=2 -> (2)
        where out dims are: [offset (size 16)]
        """
        if not self.is_injective:
            message = "inverse: the layout has elements at several places; pseudo_inverse picks one"
            raise ShapeError(message)
        return self.pseudo_inverse()

    def pseudo_inverse(self) -> LinearLayout:
        """The layout from each element to one of its places: bits that change nothing are 0.

        Raises:
            ShapeError: some element is at no place.

        >>> both = LinearLayout({"register": [(1,)], "lane": [(0,), (2,)]}, ["dim0"])
        >>> both.pseudo_inverse()(dim0=3)
        {'register': 1, 'lane': 2}
        """
        back = bits.right_inverse(self.matrix, sum(self.out_bits.values()))
        if back is None:
            raise ShapeError("pseudo_inverse: the layout has elements that are at no place")
        return LinearLayout.of_matrix(back, self.out_bits, self.in_bits)

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The product: the other layout takes the higher bits of dimensions that both have.

        >>> registers = LinearLayout.identity(2, "register", "dim0")
        >>> print(registers * LinearLayout.identity(4, "lane", "dim0"))
         - register=1 -> (1)
         - lane=1 -> (2)
           lane=2 -> (4)
        where out dims are: [dim0 (size 8)]
        """
        if not isinstance(other, LinearLayout):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            return NotImplemented
        mine, theirs = self.out_dims, other.out_dims
        sizes = {name: mine.get(name, 1) * theirs.get(name, 1) for name in mine | theirs}
        bases = self._over(sizes)
        for name, vectors in other._over(sizes).items():
            bases.setdefault(name, []).extend(
                tuple(mine.get(out, 1) * index for out, index in zip(sizes, vector, strict=True))
                for vector in vectors
            )
        return LinearLayout(bases, sizes)

    def with_out_dims(self, names: Sequence[str]) -> LinearLayout:
        """The layout with its out-dimensions in another order.

        Raises:
            ShapeError: the names are not those of all out-dimensions.
        """
        sizes = self.out_dims
        if sorted(names) != sorted(sizes):
            message = f"with_out_dims: {listed(names)}; expected {listed(sizes)} in any order"
            raise ShapeError(message)
        return LinearLayout(self._over(names), {name: sizes[name] for name in names})

    def sublayout(self, in_dims: Iterable[str], out_dims: Iterable[str]) -> LinearLayout:
        """The layout of some in-dimensions, with some indices of the elements.

        Raises:
            ShapeError: there is no such dimension.
        """
        ins, outs = set(in_dims), set(out_dims)
        _check_known("sublayout: the in-dimensions", ins, self.in_dims)
        _check_known("sublayout: the out-dimensions", outs, self.out_dims)
        sizes = {name: size for name, size in self._sizes if name in outs}
        bases = {name: vectors for name, vectors in self._over(sizes).items() if name in ins}
        return LinearLayout(bases, sizes)

    def _over(self, names: Collection[str]) -> dict[str, list[Basis]]:
        """The bases over other out-dimensions, 0 along new ones."""
        place = {name: number for number, name in enumerate(self.out_dims)}
        return {
            name: [
                tuple(vector[place[out]] if out in place else 0 for out in names)
                for vector in vectors
            ]
            for name, vectors in self._bases
        }

    def __str__(self) -> str:
        outs = f"[{', '.join(f'{name} (size {size})' for name, size in self._sizes)}]"
        if not self._bases:
            return f"(empty layout{f' with out-dims {outs}' * bool(self._sizes)})"
        lines = map(_lines, *zip(*self._bases, strict=True))
        return "\n".join([*lines, f"where out dims are: {outs}"])


def _lines(name: str, vectors: Sequence[Basis]) -> str:
    if not vectors:
        return f" - {name} is a size 1 dimension"
    lines = (
        f"{name}={1 << bit} -> ({', '.join(map(str, vector))})"
        for bit, vector in enumerate(vectors)
    )
    return " - " + "\n   ".join(lines)


def _places(counts: Mapping[str, int]) -> list[int]:
    """The first bit of each dimension."""
    return [*accumulate(counts.values(), initial=0)][:-1]


def _split(number: int, counts: Mapping[str, int]) -> Basis:
    """The bits of each dimension of a number."""
    return tuple(
        number >> first & ((1 << count) - 1)
        for first, count in zip(_places(counts), counts.values(), strict=True)
    )


def _sizes(out_dims: Mapping[str, int] | Sequence[str], vectors: Sequence[Basis]) -> dict[str, int]:
    if isinstance(out_dims, Mapping):
        for name, size in out_dims.items():
            bit_count(size, f"LinearLayout: the size of {name}")
        return {name: int(size) for name, size in out_dims.items()}
    return {
        name: 1 << max((vector[number].bit_length() for vector in vectors), default=0)
        for number, name in enumerate(out_dims)
    }


def bit_count(size: int, what: str) -> int:
    """The number of bits of the places of a size, which messages call ``what``.

    Raises:
        ArgumentError: it is no integer.
        ShapeError: it is no power of two.
    """
    check_type(size, INTEGER, what, "an integer")
    if size < 1 or size & (size - 1):
        raise ShapeError(f"{what} is {size}; expected a power of two")
    return int(size).bit_length() - 1


def _check_names(what: str, names: Sequence[object]) -> None:
    for number, name in enumerate(names):
        check_type(name, str, f"LinearLayout: an {what}", "a name")
        if name in names[:number]:
            raise ShapeError(f"LinearLayout: the {what} {quoted(name)} is there twice")


def _basis(name: str, given: Sequence[int], outs: Sequence[str]) -> Basis:
    """A basis of plain integers; it may be given with those of NumPy."""
    vector = tuple(given)
    for index in vector:
        check_type(index, INTEGER, f"LinearLayout: an index in a basis of {name}", "an integer")
    if len(vector) != len(outs):
        expected = f"expected an index for each of {listed(outs)}"
        raise ShapeError(f"LinearLayout: basis {vector} of {name}; {expected}")
    if min(vector, default=0) < 0:
        raise ShapeError(f"LinearLayout: basis {vector} of {name} is negative")
    return tuple(map(int, vector))


def _check_inside(name: str, vector: Basis, sizes: Mapping[str, int]) -> None:
    for index, (out, size) in zip(vector, sizes.items(), strict=True):
        if index >= size:
            raise ShapeError(f"LinearLayout: basis {vector} of {name}; {out} has size {size}")


def _check_known(where: str, names: Iterable[str], known: Mapping[str, int]) -> None:
    for name in names:
        if name not in known:
            raise ShapeError(f"{where}: {quoted(name)}; expected one of {listed(known)}")


def _sized(dims: Mapping[str, int]) -> str:
    return ", ".join(f"{name} of size {size}" for name, size in dims.items()) or "nothing"


# Triton's text of linear layouts, as `LinearLayout::toString` prints it.


def parse(text: str) -> LinearLayout:
    """The layout that Triton printed.

    Raises:
        TextError: the text is none, with a caret under the place.

    >>> layout = parse('''
    ... - register=1 -> (0, 1)
    ...   register=2 -> (8, 0)
    ... - lane=1 -> (0, 2)
    ... - warp is a size 1 dimension
    ... where out dims are: [dim0 (size 16), dim1 (size 4)]''')
    >>> layout.in_dims, layout.out_dims
    ({'register': 4, 'lane': 2, 'warp': 1}, {'dim0': 16, 'dim1': 4})
    >>> parse(str(layout)) == layout
    True
    >>> parse("- lane=3 -> (0, 1)")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:8: expected lane=1, the next power of two
    - lane=3 -> (0, 1)
           ^
    """
    check_type(text, str, "linear: the text", "a string")
    lexer = LayoutLexer(text)
    bases: dict[str, list[Basis]] = {}
    sizes: tuple[tuple[str, int], ...] = ()
    if lexer.accept("("):
        lexer.words("empty layout")
        if lexer.accept("with"):
            lexer.words("out - dims")
            sizes = _read_sizes(lexer)
        lexer.expect(")")
    else:
        while lexer.accept("-"):
            _read_dimension(lexer, bases)
        lexer.words("where out dims are :", "of 'where out dims are:'")
        sizes = _read_sizes(lexer)
    lexer.finish()
    try:
        return LinearLayout(bases, dict(sizes))
    except ShapeError as error:
        raise TextError(str(error), lexer.span_of(0, len(text))) from None


class LayoutLexer(ScanningLexer):
    """Integers, names, marks and arrows, as Triton's texts have them."""

    pattern = re.compile(
        r"\s*(?:(?P<integer>[0-9]{1,18})|(?P<word>[A-Za-z_]\w*)|(?P<mark>->|\S)|(?P<end>\Z))"
    )

    def integer(self, expected: str = "an integer") -> int:
        """Go past an integer."""
        return int(self.taken("integer", expected))

    def words(self, texts: str, purpose: str = "") -> None:
        """Go past tokens that must read as these texts."""
        for text in texts.split():
            self.expect(text, purpose)

    def name(self) -> str:
        """Go past a name."""
        return self.taken("word", "the name of a dimension")


def _read_dimension(lexer: LayoutLexer, bases: dict[str, list[Basis]]) -> None:
    """``register=1 -> (0, 1) register=2 -> (8, 0)``, or ``register is a size 1 dimension``."""
    span, name = lexer.span, lexer.name()
    if name in bases:
        raise lexer.error(f"{name} is there twice", span)
    found = bases[name] = []
    if lexer.accept("is"):
        lexer.words("a size 1 dimension", "of 'is a size 1 dimension'")
        return
    while True:
        lexer.expect("=")
        if lexer.text != str(1 << len(found)):
            raise lexer.error(f"expected {name}={1 << len(found)}, the next power of two")
        lexer.advance()
        lexer.words("-> (")
        found.append(lexer.separated(lexer.integer, ")"))
        if not lexer.accept(name):
            return


def _read_sizes(lexer: LayoutLexer) -> tuple[tuple[str, int], ...]:
    def read() -> tuple[str, int]:
        name = lexer.name()
        lexer.expect("(", "before the size")
        lexer.expect("size")
        size = lexer.integer()
        lexer.expect(")", "after the size")
        return name, size

    return lexer.listed(read, "[", "]", "the out-dimensions")


# Linear layouts as maps with exclusive ors, and the layouts that maps are.


def to_map(layout: LinearLayout) -> IndexingMap:
    """The map from a place to its element; its dimensions have the names of the in-dimensions.

    >>> from indexing.layout.linear import swizzled_shared
    >>> print(to_map(swizzled_shared((8, 8), vec=1, per_phase=1, max_phase=8)))
    (offset, block) -> (offset floordiv 8, bitxor(offset floordiv 8, offset mod 8)),
    domain: offset in [0, 63], block in [0, 0]
    """
    check_type(layout, LinearLayout, "to_map: the layout", "a LinearLayout")
    counts = {f"d{number}": count for number, count in enumerate(layout.in_bits.values())}
    results = bits.written(layout.matrix, counts, layout.out_bits)
    variables = (Variable.of_size(size, name) for name, size in layout.in_dims.items())
    return IndexingMap.from_forms(results, Domain.of(variables))


def dimension_names(rank: int) -> list[str]:
    """The out-dimensions of a tensor: ``dim0``, ``dim1``, ..."""
    return [f"dim{dim}" for dim in range(rank)]


@naming_wrong_arguments
def from_map(indexing_map: IndexingMap, out_dims: Sequence[str] = ()) -> LinearLayout:
    """The layout that a map is; names of out-dimensions are ``dim0, dim1, ...`` unless given.

    The out-dimensions are as large as the results need.

    Raises:
        ArgumentError: the argument is no map.
        MapError: the map is not linear in bits, or has another number of results than names.

    >>> from indexing import parse_map
    >>> print(from_map(parse_map("(d0) -> (bitxor(d0, (d0 floordiv 4) mod 2)), "
    ...                          "domain: d0 in [0, 7]"), ["offset"]))
     - d0=1 -> (1)
       d0=2 -> (2)
       d0=4 -> (5)
    where out dims are: [offset (size 8)]
    """
    check_type(indexing_map, IndexingMap, "from_map: the map", "an IndexingMap")
    simplest = indexing_map.simplify(preserve_ranges=True)
    counts = bits_of_dims(simplest)
    if counts is None:
        expected = "expected only dimensions from 0 to a power of two less 1, without constraints"
        raise MapError(f"from_map: {indexing_map}; {expected}")
    inputs = bits.input_bits(counts)
    read = [_rows(simplest, form, inputs) for form in simplest.forms]
    widths = list(map(len, read))
    names = tuple(out_dims) or dimension_names(len(widths))
    if len(names) != len(widths):
        raise MapError(f"from_map: {len(names)} names for {len(widths)} results")
    dims = [variable.name for variable in simplest.dims]
    in_bits = dict(zip(dims, counts.values(), strict=True))
    out_bits = dict(zip(names, widths, strict=True))
    columns = bits.transposed([row for rows in read for row in rows], sum(counts.values()))
    return LinearLayout.of_matrix(columns, in_bits, out_bits)


def _rows(indexing_map: IndexingMap, form: Form, inputs: Sequence[bits.InputBits]) -> bits.Rows:
    rows = bits.read_rows(form, inputs)
    if rows is None:
        named = indexing_map.domain.named(form)
        raise MapError(f"from_map: {named} is not linear in the bits of the dimensions")
    return rows


# Linear layouts as tables: which register of which thread holds an element, or its offset.

_MATRIX = 2


def picture(layout: LinearLayout) -> LabelGrid:
    """The first two out-dimensions as rows and columns, and where each element is.

    ``T5:2`` is register 2 of thread 5, counted through the warps of a block; threads have colors.
    For a shared layout it is the offset. Of several places, one is shown: see
    :meth:`LinearLayout.pseudo_inverse`.

    Raises:
        ArgumentError: the argument is no layout.
        ShapeError: the layout has less than two out-dimensions, or elements that are at no place.

    >>> from indexing.layout.linear import blocked, swizzled_shared
    >>> print(picture(blocked((2, 4), (1, 2), (2, 2), (1, 1), (1, 0))))
          0    1    2    3
    0  T0:0 T0:1 T1:0 T1:1
    1  T2:0 T2:1 T3:0 T3:1
    >>> print(picture(swizzled_shared((2, 4), vec=2, per_phase=1, max_phase=2)))
       0 1 2 3
    0  0 1 2 3
    1  6 7 4 5
    """
    check_type(layout, LinearLayout, "picture: the layout", "a LinearLayout")
    sizes = layout.out_dims
    if len(sizes) < _MATRIX:
        raise ShapeError(f"picture: a layout of {len(sizes)} out-dimensions; expected two or more")
    (rows, height), (columns, width), *_ = sizes.items()
    places = layout.pseudo_inverse()

    def cell(row: int, column: int) -> tuple[str, int]:
        place = places(**{rows: row, columns: column})
        if LANE not in place:
            offset = next(iter(place.values()))
            return str(offset), offset
        thread = place[LANE] + place.get(WARP, 0) * layout.in_dims[LANE]
        return f"T{thread}:{place.get(REGISTER, 0)}", thread

    return LabelGrid(f"{height} x {width}", (height, width), cell)
