"""The syntax of MLIR: text to operations, whatever dialects they are of; ``linalg.generic``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import simplifier
from indexing import IndexingMap, MapError, from_affine_map
from indexing.layout import UNBOUNDED_SIZE, Shape
from ops.mlir.operations import OperationDraft, OperationReader
from ops.mlir.text import DialectAttribute, MlirLexer, MlirTextError, Type, shapes_of
from simplifier.errors import Span, TextError, check_type, listed
from simplifier.tools.late import sympy

__all__ = ["LinalgGeneric", "MlirTextError", "read_generics"]


# `linalg.generic` of MLIR as indexing maps: from points of its iteration space to operands.
#
# A `linalg.generic` names the maps of its operands, and of each loop whether it is parallel. The
# computation of its region is left out.

_NAME: Final = "linalg.generic"

ITERATOR_TYPES: Final = ("parallel", "reduction", "window")
"""The kinds of loops."""


@dataclass(frozen=True, slots=True)
class LinalgGeneric:
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
        loops = [_loop_of(written, place) for place in range(len(written.results))]
        named = [loop for loop in loops if loop is not None]
        kept = sum(str(result) == "0" for result in written.results)
        if len({*named}) + kept < len(loops):
            raise MapError(f"reads: the output is {written}; expected a loop for each dimension")
        rest = [loop for loop in range(len(self.sizes)) if loop not in named]
        point: dict[int, sympy.Expr] = {
            loop: simplifier.symbol(f"d{n}") for n, loop in enumerate(loops) if loop is not None
        }
        point |= {loop: simplifier.symbol(f"s{n}") for n, loop in enumerate(rest)}
        iteration = IndexingMap.from_sizes(
            [point[loop] for loop in range(len(self.sizes))],
            dims=[1 if loop is None else self.sizes[loop] for loop in loops],
            ranges=[self.sizes[loop] for loop in rest],
        )
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
        return f"{_NAME} {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"


def _loop_of(indexing_map: IndexingMap, place: int) -> int | None:
    """The loop that is one of the results, if a result is a loop alone."""
    names = [variable.name for variable in indexing_map.dims]
    text = str(indexing_map.results[place])
    return names.index(text) if text in names else None


def read_generics(text: str, file: str = "") -> tuple[LinalgGeneric, ...]:
    """Each ``linalg.generic`` in a text of MLIR, in the form of the dialect or the generic one.

    The text around them is skipped. The size of a loop is that of a dimension of an operand
    which the loop alone indexes.

    Raises:
        MlirTextError: one does not follow the grammar, or a loop has no size.
    """
    check_type(text, str, "read_generics: the text", "a string")
    return tuple(_GenericReader(MlirLexer(text, file), {}).generics())


class _GenericReader(OperationReader):
    """Finds operations in a text, and the names of maps and types before them."""

    def generics(self) -> Iterator[LinalgGeneric]:
        """Take a whole text."""
        lexer = self.lexer
        while lexer.kind != "end":
            if lexer.kind == "alias" and lexer.source[lexer.stop : lexer.stop + 2].strip() == "=":
                self.alias()
                continue
            word, start = lexer.advance(), lexer.previous_stop
            if word == _NAME:
                yield self._operation_at(start - len(word), is_generic=False)
            elif word == f'"{_NAME}"' and lexer.text == "(":
                yield self._operation_at(start - len(word), is_generic=True)

    def _operation_at(self, start: int, *, is_generic: bool) -> LinalgGeneric:
        draft = OperationDraft(_NAME, start)
        if is_generic:
            types, outputs = self._in_generic_form(draft)
        else:
            if self.lexer.kind == "alias":
                draft.attributes |= self._named_attributes()
            self.attribute_dictionary(draft)
            inputs, results = self._typed_operands("ins"), self._typed_operands("outs")
            types, outputs = (*inputs, *results), len(results)
        shapes = shapes_of(types)
        if shapes is None:
            raise self._error(start, "the operands are no arrays")
        return self._made(draft, shapes, outputs)

    def _named_attributes(self) -> Mapping[str, Any]:
        """Take the name of attributes, such as ``#matmul_trait``."""
        found = self.aliases.get(self.lexer.text[1:])
        if not isinstance(found, dict):
            raise self.lexer.expected("a name of attributes")
        self.lexer.advance()
        return cast("dict[str, Any]", found)

    def _in_generic_form(self, draft: OperationDraft) -> tuple[tuple[Type, ...], int]:
        lexer = self.lexer
        self.listed_operands()
        self.attribute_dictionary(draft)
        lexer.balanced("'(' before the region")
        self.attribute_dictionary(draft)
        lexer.expect(":", "before the type of an operation")
        found = self.function_type()
        segments = draft.attributes.get("operandSegmentSizes")
        operands = len(found.inputs)
        counts = [(operands - outputs, outputs) for outputs in range(operands + 1)]
        if segments not in counts:
            message = f"expected operandSegmentSizes = array<i32: n, m> of {operands} operands"
            raise self._error(draft.start, message)
        return found.inputs, counts.index(segments)

    def _typed_operands(self, word: str) -> tuple[Type, ...]:
        """Take ``ins(%a, %b : type, type)``, if it is there."""
        lexer = self.lexer
        if not lexer.accept(word):
            return ()
        lexer.expect("(", f"after {word}")
        names = self.operands()
        lexer.expect(":", "before the types of operands")
        types = self.types()
        lexer.expect(")", "after the types of operands")
        if len(types) != len(names):
            raise lexer.error(f"there are {len(names)} operands, but {len(types)} types")
        return types

    def _made(self, draft: OperationDraft, shapes: Sequence[Shape], outputs: int) -> LinalgGeneric:
        start, given = draft.start, draft.attributes.get("indexing_maps")
        named = cast("tuple[object, ...]", given) if isinstance(given, tuple) else ()
        texts = [self._map(start, each) for each in named]
        if not texts or len(texts) != len(shapes):
            message = f"expected indexing_maps with a map for each of {len(shapes)} operands"
            raise self._error(start, message)
        given = draft.attributes.get("iterator_types")
        if not isinstance(given, tuple):
            raise self._error(start, 'expected iterator_types, such as ["parallel", "reduction"]')
        kinds = map(_word, cast("tuple[object, ...]", given))
        try:
            sizes = _sizes(texts, shapes)
            maps = tuple(_on(each, sizes) for each in texts)
            return LinalgGeneric(sizes, maps, tuple(kinds), outputs)
        except MapError as error:
            raise self._error(start, str(error)) from None

    def _map(self, start: int, value: object) -> IndexingMap:
        """An affine map without sizes."""
        if isinstance(value, DialectAttribute) and not value.body:
            value = self.aliases.get(value.name)
        if not isinstance(value, DialectAttribute) or value.name != "affine_map":
            raise self._error(start, "expected affine maps as indexing_maps")
        try:
            return from_affine_map(value.body)
        except TextError as error:
            begin = value.start + error.span.start
            span = Span(self.lexer.source, begin, begin + 1, self.lexer.file)
            raise MlirTextError(error.message, span, error.hint) from None

    def _error(self, start: int, message: str) -> MlirTextError:
        span = self.lexer.span_of(start, start + len(_NAME))
        return self.lexer.error(f"{_NAME}: {message}", span)


def _word(kind: object) -> str:
    """A kind of loop, however it is written."""
    return kind.body.strip() if isinstance(kind, DialectAttribute) else str(kind)


def _sizes(maps: Sequence[IndexingMap], shapes: Sequence[Shape]) -> tuple[sympy.Expr | int, ...]:
    """The size of each loop: that of a dimension which it alone indexes."""
    found: dict[int, sympy.Expr | int] = {}
    loops = len(maps[0].dims)
    for each, shape in zip(maps, shapes, strict=True):
        if len(each.dims) != loops:
            raise MapError(f"a map has {len(each.dims)} dimensions, but the first has {loops}")
        if len(each.results) != shape.rank:
            raise MapError(f"a map has {len(each.results)} results for {shape.text(layout=False)}")
        for place, size in enumerate(shape.dimensions):
            loop = _loop_of(each, place)
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


def _on(affine: IndexingMap, sizes: Sequence[sympy.Expr | int]) -> IndexingMap:
    """An affine map on an iteration space."""
    return affine @ IndexingMap.from_sizes(
        [simplifier.symbol(f"d{loop}") for loop in range(len(sizes))], dims=list(sizes)
    )
