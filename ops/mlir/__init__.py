"""The syntax of MLIR: text to operations, whatever dialects they are of; those of ``linalg``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias, cast

import simplifier
from indexing import IndexingMap, MapError, from_affine_map
from indexing.layout import UNBOUNDED_SIZE
from ops.mlir.operations import OperationDraft, OperationReader
from ops.mlir.text import DialectAttribute, MlirTextError, Type, integers_of
from simplifier.errors import Span, TextError, check_type, listed
from simplifier.tools.display import Displayed
from simplifier.tools.late import sympy

__all__ = ["LinalgGeneric", "MlirTextError", "read_generics"]


# `linalg.generic` of MLIR as indexing maps: from points of its iteration space to operands.
#
# A `linalg.generic` names the maps of its operands, and of each loop whether it is parallel. The
# computation of its region is left out. Named operations stand for one each.

Dimensions: TypeAlias = "tuple[int, ...]"
Shapes: TypeAlias = "Sequence[Dimensions]"

_DIALECT: Final = "linalg"
_GENERIC: Final = "generic"
_GIVEN: Final = re.compile(r"\s*=(?!=)")
"""Behind the name of an alias that is given a value."""

ITERATOR_TYPES: Final = ("parallel", "reduction", "window")
"""The kinds of loops."""


@dataclass(frozen=True, slots=True, repr=False)
class LinalgGeneric(Displayed):
    """The loops of a ``linalg.generic`` and the elements that each iteration touches.

    ``sizes`` and ``iterator_types`` have an entry for each loop. ``maps`` lead from a point of the
    iteration space to an element of each operand, inputs first; the last ones are ``outputs``. A
    size that the text leaves open (``?``) is a parameter: ``n1`` is the size of loop 1.

    Raises:
        MapError: the maps have other dimensions than there are loops, or a loop is of no kind.

    >>> (matmul,) = read_generics('''
    ... #a = affine_map<(m, n, k) -> (m, k)>
    ... #b = affine_map<(m, n, k) -> (k, n)>
    ... #c = affine_map<(m, n, k) -> (m, n)>
    ... %0 = linalg.generic {indexing_maps = [#a, #b, #c],
    ...     iterator_types = ["parallel", "parallel", "reduction"]}
    ...   ins(%x, %y : tensor<4x8xf32>, tensor<8x16xf32>) outs(%z : tensor<4x16xf32>) {
    ...   ^bb0(%i: f32, %j: f32, %o: f32): linalg.yield %o : f32 } -> tensor<4x16xf32>''')
    >>> print(matmul.maps[1])
    (d0, d1, d2) -> (d2, d1), domain: d0 in [0, 3], d1 in [0, 15], d2 in [0, 7]
    >>> print(matmul.reads()[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 15], s0 in [0, 7]
    """

    sizes: tuple[sympy.Expr | int, ...]
    maps: tuple[IndexingMap, ...]
    iterator_types: tuple[str, ...]
    outputs: int = 1

    def __post_init__(self) -> None:
        for kind in self.iterator_types:
            if kind not in ITERATOR_TYPES:
                expected = listed(ITERATOR_TYPES)
                raise MapError(f"an iterator is {kind!r}; expected one of {expected}")
        loops = len(self.sizes)
        if len(self.iterator_types) != loops:
            message = f"there are {loops} loops, but {len(self.iterator_types)} iterators"
            raise MapError(message)
        for number, each in enumerate(self.maps):
            if len(each.dims) != loops or each.ranges or each.runtime:
                raise MapError(f"map {number} is {each}; expected {loops} dimensions alone")
        if not 0 < self.outputs <= len(self.maps):
            raise MapError(f"{self.outputs} of {len(self.maps)} operands are outputs")

    def reads(self, output: int = 0) -> tuple[IndexingMap, ...]:
        """Maps from an element of an output to the elements of each input that it needs.

        Loops that the output does not name, as reductions, become ranges. A dimension of the output
        may be kept with size 1, as ``0``.

        Raises:
            MapError: there is no such output, or its map does not name each dimension by a loop of
                its own.
        """
        if not 0 <= output < self.outputs:
            raise MapError(f"reads: output is {output}; expected a number below {self.outputs}")
        inputs = len(self.maps) - self.outputs
        written = self.maps[inputs + output]
        loops = _loops_of(written)
        named = [loop for loop in loops if loop is not None]
        kept = sum(str(result) == "0" for result in written.results)
        if len({*named}) + kept < len(loops):
            raise MapError(f"reads: the output is {written}; expected a loop for each dimension")
        rest = [loop for loop in range(len(self.sizes)) if loop not in named]
        point: dict[int, sympy.Expr] = {
            loop: simplifier.symbol(f"d{n}") for n, loop in enumerate(loops) if loop is not None
        }
        point |= {loop: simplifier.symbol(f"s{n}") for n, loop in enumerate(rest)}
        index = [point[loop] for loop in range(len(self.sizes))]
        dims = [1 if loop is None else self.sizes[loop] for loop in loops]
        ranges = [self.sizes[loop] for loop in rest]
        iteration = IndexingMap.from_sizes(index, dims=dims, ranges=ranges)
        return tuple((each @ iteration).simplify() for each in self.maps[:inputs])

    def __str__(self) -> str:
        """The attributes in MLIR's text.

        >>> text = '''linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
        ...   iterator_types = ["parallel"]} outs(%0 : tensor<4xf32>) {}'''
        >>> print(read_generics(text)[0])
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        """
        anywhere = [1] * len(self.sizes)  # an affine map has no sizes, nor parameters in them
        bare = (IndexingMap.from_sizes(each.results, dims=anywhere) for each in self.maps)
        maps = ", ".join(each.to_affine_map() for each in bare)
        kinds = ", ".join(f'"{kind}"' for kind in self.iterator_types)
        return f"{_DIALECT}.{_GENERIC} {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"


def _loops_of(indexing_map: IndexingMap) -> list[int | None]:
    """The loop that each result is, or ``None`` for one that is more than a loop."""
    loops = {variable.name: loop for loop, variable in enumerate(indexing_map.dims)}
    return [loops.get(str(result)) for result in indexing_map.results]


def read_generics(text: str, file: str = "") -> tuple[LinalgGeneric, ...]:
    """Each ``linalg.generic`` in a text of MLIR, in the form of the dialect or the generic one.

    A named operation, such as ``linalg.matmul``, is the ``linalg.generic`` that does the same; its
    loops are those of the result, then the others. The text around them is skipped. The size of a
    loop is that of a dimension of an operand which the loop alone indexes.

    Raises:
        MlirTextError: one does not follow the grammar, or a loop has no size.

    >>> (pooling,) = read_generics('''
    ... %0 = linalg.pooling_nwc_max {strides = dense<2> : vector<1xi64>}
    ...   ins(%x, %window : tensor<1x8x3xf32>, tensor<2xf32>) outs(%y : tensor<1x4x3xf32>)''')
    >>> print(pooling.reads()[0])
    (d0, d1, d2)[s0] -> (0, d1 * 2 + s0, d2), domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 2],
    s0 in [0, 1]
    """
    check_type(text, str, "read_generics: the text", "a string")
    return tuple(_GenericReader(text, file, {}).generics())


class _GenericReader(OperationReader):
    """Finds operations in a text, and the names of maps and types before them."""

    def generics(self) -> Iterator[LinalgGeneric]:
        """Take a whole text."""
        while self.kind != "end":
            if self.kind == "alias" and _GIVEN.match(self.source, self.stop):
                self.alias()
                continue
            word, stop = self.advance(), self.previous_stop
            dialect, _, name = word.strip('"').partition(".")
            is_generic = word[0] == '"' and self.text == "("
            is_operation = is_generic or word[0] != '"'
            if is_operation and dialect == _DIALECT and _is_known(name):
                yield self._operation(OperationDraft(name, stop - len(word)), is_generic=is_generic)

    def _operation(self, draft: OperationDraft, *, is_generic: bool) -> LinalgGeneric:
        if is_generic:
            types, outputs = self._in_generic_form(draft)
        else:
            if self.kind == "alias":
                draft.attributes |= self._named_attributes()
            self._bare_attributes(draft)
            if draft.name in _WITH_BODY and self.text == "{":
                self.balanced("'{' before an operation")
            while self.text == "{":
                self.attribute_dictionary(draft)
            inputs, results = self._typed_operands("ins"), self._typed_operands("outs")
            self._bare_attributes(draft)
            types, outputs = (*inputs, *results), len(results)
        dimensions: list[Dimensions | None] = [getattr(each, "dimensions", None) for each in types]
        if None in dimensions:
            raise self._error(draft, "the operands are no arrays")
        return self._made(draft, [each for each in dimensions if each is not None], outputs)

    def _bare_attributes(self, draft: OperationDraft) -> None:
        """Take attributes that stand without braces, such as ``permutation = [1, 0]``."""
        while self.text in _BARE:
            name = self.advance()
            self.expect("=", f"after {name}")
            draft.attributes[name] = self.value()

    def _named_attributes(self) -> Mapping[str, Any]:
        """Take the name of attributes, such as ``#matmul_trait``."""
        found = self.aliases.get(self.text[1:])
        if not isinstance(found, dict):
            raise self.expected("a name of attributes")
        self.advance()
        return cast("dict[str, Any]", found)

    def _in_generic_form(self, draft: OperationDraft) -> tuple[tuple[Type, ...], int]:
        self.listed_operands()
        self.attribute_dictionary(draft)
        self.balanced("'(' before the region")
        self.attribute_dictionary(draft)
        self.expect(":", "before the type of an operation")
        found = self.function_type()
        segments = draft.attributes.get("operandSegmentSizes")
        operands = len(found.inputs)
        counts = [(operands - outputs, outputs) for outputs in range(operands + 1)]
        if segments not in counts:
            message = f"expected operandSegmentSizes = array<i32: n, m> of {operands} operands"
            raise self._error(draft, message)
        return found.inputs, counts.index(segments)

    def _typed_operands(self, word: str) -> tuple[Type, ...]:
        """Take ``ins(%a, %b : type, type)``, if it is there."""
        if not self.accept(word):
            return ()
        self.expect("(", f"after {word}")
        names = self.operands()
        self.expect(":", "before the types of operands")
        types = self.types()
        self.expect(")", "after the types of operands")
        if len(types) != len(names):
            raise self.error(f"there are {len(names)} operands, but {len(types)} types")
        return types

    def _made(self, draft: OperationDraft, shapes: Shapes, outputs: int) -> LinalgGeneric:
        given = self.resolved(draft.attributes.get("indexing_maps"))
        try:
            if draft.name != _GENERIC and given is None:
                texts = _named_maps(draft.name, draft.attributes, shapes, outputs)
            else:
                named = cast("tuple[object, ...]", given) if isinstance(given, tuple) else ()
                texts = [self._map(draft, each) for each in named]
            if not texts or len(texts) != len(shapes):
                message = f"expected indexing_maps with a map for each of {len(shapes)} operands"
                raise self._error(draft, message)
            sizes = _sizes(texts, shapes)
            maps = tuple(each @ IndexingMap.identity(sizes) for each in texts)
            return LinalgGeneric(sizes, maps, self._kinds(draft, texts[-outputs:]), outputs)
        except MapError as error:
            raise self._error(draft, str(error)) from None

    def _kinds(self, draft: OperationDraft, written: Sequence[IndexingMap]) -> tuple[str, ...]:
        """The kinds of loops: given, or else those that no output names are reductions."""
        given = draft.attributes.get("iterator_types")
        if isinstance(given, tuple):
            return tuple(map(_word, cast("tuple[object, ...]", given)))
        if draft.name == _GENERIC:
            raise self._error(draft, 'expected iterator_types, such as ["parallel", "reduction"]')
        loops = range(len(written[0].dims))
        named = {loop for each in written for loop in _loops_of(each)}
        return tuple(ITERATOR_TYPES[loop not in named] for loop in loops)

    def _map(self, draft: OperationDraft, value: object) -> IndexingMap:
        """An affine map without sizes."""
        value = self.resolved(value)
        if not isinstance(value, DialectAttribute) or value.name != "affine_map":
            raise self._error(draft, "expected affine maps as indexing_maps")
        try:
            return from_affine_map(value.body)
        except TextError as error:
            begin = value.start + error.span.start
            span = Span(self.source, begin, begin + 1, self.file)
            raise MlirTextError(error.message, span, error.hint) from None

    def _error(self, draft: OperationDraft, message: str) -> MlirTextError:
        name = f"{_DIALECT}.{draft.name}"
        span = self.span_of(draft.start, draft.start + len(name))
        return self.error(f"{name}: {message}", span)


def _word(kind: object) -> str:
    """A kind of loop, however it is written."""
    return kind.body.strip() if isinstance(kind, DialectAttribute) else str(kind)


def _sizes(maps: Sequence[IndexingMap], shapes: Shapes) -> tuple[sympy.Expr | int, ...]:
    """The size of each loop: that of a dimension which it alone indexes."""
    found: dict[int, sympy.Expr | int] = {}
    loops = len(maps[0].dims)
    for each, shape in zip(maps, shapes, strict=True):
        if len(each.dims) != loops:
            raise MapError(f"a map has {len(each.dims)} dimensions, but the first has {loops}")
        if len(each.results) != len(shape):
            message = f"a map has {len(each.results)} results for an operand of rank {len(shape)}"
            raise MapError(message)
        for loop, size in zip(_loops_of(each), shape, strict=True):
            if loop is None:
                continue
            known = found.setdefault(loop, size)
            if known == UNBOUNDED_SIZE:
                found[loop] = size
            elif size not in {known, UNBOUNDED_SIZE}:
                raise MapError(f"loop {loop} runs over {known} and over {size} elements")
    missing = [loop for loop in range(loops) if loop not in found]
    if missing:
        raise MapError(f"the size of loop {missing[0]} follows from no operand")
    return tuple(
        simplifier.symbol(f"n{loop}") if found[loop] == UNBOUNDED_SIZE else found[loop]
        for loop in sorted(found)
    )


# Named operations: the maps of the `linalg.generic` that does the same.
#
# An operand is indexed by a list of terms, a loop or an affine expression of loops each.

_Terms: TypeAlias = "Sequence[str]"

_BARE: Final = ("indexing_maps", "kind", "dimensions", "permutation")
_WITH_BODY: Final = ("map", "reduce")
"""These may have their body before the operands: ``linalg.reduce { arith.addf } ins(...)``."""

_CONTRACTIONS: Final = {
    "matmul": "mk,kn->mn",
    "matmul_transpose_a": "km,kn->mn",
    "matmul_transpose_b": "mk,nk->mn",
    "quantized_matmul": "mk,kn->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn",
    "quantized_batch_matmul": "bmk,bkn->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "matvec": "mk,k->m",
    "vecmat": "k,kn->n",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "dot": "k,k->",
    "mmt4d": "mkac,nkbc->mnab",
    "batch_mmt4d": "zmkac,znkbc->zmnab",
}
"""Loops of each operand, as einsum writes them."""

_ELEMENTWISE: Final = re.compile(
    "abs|add|ceil|copy|div|div_unsigned|elementwise|erf|exp|fill|floor|log|map|max|min|mul|negf|powf"
    "|reciprocal|round|rsqrt|select|sqrt|square|sub|tanh"
)

_WINDOW: Final = re.compile(
    r"(?:depthwise_)?conv_(?P<rank>[123])d(?:_(?P<image>[ncgdhw]+)_(?P<kernel>[cfgmdhw]+?))?(?:_q)?"
    r"|pooling_(?P<pooled>[ncdhw]+)_(?:sum|max|min)(?:_unsigned)?"
)
"""Names of convolutions and poolings tell the dimensions of the image and of the kernel."""

_SPATIAL: Final = "dhw"


def _is_known(name: str) -> bool:
    """Whether an operation is a ``linalg.generic``, or stands for one."""
    if name == _GENERIC or name in _CONTRACTIONS or name in _STRUCTURAL:
        return True
    return any(names.fullmatch(name) for names in (_ELEMENTWISE, _WINDOW))


def _named_maps(
    name: str, attributes: Mapping[str, Any], shapes: Shapes, outputs: int
) -> list[IndexingMap]:
    """The maps of the operands of a named operation, without sizes.

    Raises:
        MapError: it needs maps, dimensions or operands that are not given.
    """
    if not outputs:
        raise MapError("there are no outputs")
    if name in _CONTRACTIONS:
        inputs, _, output = _CONTRACTIONS[name].partition("->")
        terms: list[_Terms] = [*inputs.split(","), output]
    elif window := _WINDOW.fullmatch(name):
        terms = [*_of_window(window, attributes)]
    elif _ELEMENTWISE.fullmatch(name):
        loops = _loops(len(shapes[-1]))
        terms = [loops if shape else () for shape in shapes]
    else:
        listed_dimensions = _integers(attributes.get("dimensions", attributes.get("permutation")))
        terms = [*_STRUCTURAL[name](shapes, outputs, listed_dimensions)]
    scalars: list[_Terms] = [()] * (len(shapes) - len(terms))  # zero points of a quantized operand
    terms = [*terms[:-outputs], *scalars, *terms[-outputs:]]
    if len(terms) != len(shapes):
        raise MapError(f"there are {len(shapes)} operands; expected {len(terms)}, with outputs")
    order = dict.fromkeys(term for each in reversed(terms) for term in each if term.isalnum())
    return [from_affine_map(f"({', '.join(order)}) -> ({', '.join(each)})") for each in terms]


def _of_window(window: re.Match[str], attributes: Mapping[str, Any]) -> Iterator[_Terms]:
    """The terms of a convolution's or a pooling's image, kernel and result."""
    pooled, spatial = window["pooled"], _SPATIAL[-int(window["rank"] or 0) :]
    image = pooled or window["image"] or spatial
    kernel = window["kernel"] or "".join(each for each in image if each in _SPATIAL)
    places = [each for each in image if each in _SPATIAL]
    strides, dilations = (_steps(places, attributes, name) for name in ("strides", "dilations"))
    reached = {each: f"{each} * {strides[each]} + k{each} * {dilations[each]}" for each in places}
    yield [reached.get(each, each) for each in image]
    yield ["k" + each if each in places else each for each in kernel]
    features = "f" if "f" in kernel else "c"
    yield [*image.replace("c", features), *("m" * kernel.count("m"))]


def _steps(places: Sequence[str], attributes: Mapping[str, Any], name: str) -> dict[str, int]:
    steps = _integers(attributes.get(name)) or (1,) * len(places)
    if len(steps) != len(places):
        raise MapError(f"{name} has {len(steps)} entries; expected {len(places)}")
    return dict(zip(places, steps, strict=True))


def _integers(value: object) -> tuple[int, ...]:
    """The numbers of ``[1, 2]``, ``array<i64: 1, 2>`` or ``dense<1> : tensor<2xi64>``."""
    numbers = None if isinstance(value, int) else integers_of(() if value is None else value)
    if numbers is None:
        raise MapError("expected integers as dimensions, strides and dilations")
    return numbers


def _loops(count: int) -> list[str]:
    return [f"i{place}" for place in range(count)]


def _contracted(*_: object) -> NoReturn:
    raise MapError("expected indexing_maps")


def _transposed(shapes: Shapes, _: int, permutation: Sequence[int]) -> Iterator[_Terms]:
    loops = _loops(len(shapes[-1]))
    if sorted(permutation) != [*range(len(loops))]:
        raise MapError(f"permutation is {[*permutation]}; expected one of {len(loops)} dimensions")
    yield [loops[permutation.index(place)] for place in range(len(loops))]
    yield loops


def _broadcast(shapes: Shapes, _: int, added: Sequence[int]) -> Iterator[_Terms]:
    loops = _loops(len(shapes[-1]))
    yield [loop for place, loop in enumerate(loops) if place not in added]
    yield loops


def _reduced(shapes: Shapes, outputs: int, reduced: Sequence[int]) -> Iterator[_Terms]:
    loops = _loops(len(shapes[0]))
    yield from [loops] * (len(shapes) - outputs)
    yield from [[each for place, each in enumerate(loops) if place not in reduced]] * outputs


_STRUCTURAL: Final[Mapping[str, Callable[..., Iterator[_Terms]]]] = {
    "broadcast": _broadcast,
    "contract": _contracted,
    "reduce": _reduced,
    "transpose": _transposed,
}
