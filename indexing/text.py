"""The text of maps, both ways, as XLA writes it.

``(d0)[s0]{rt0} -> (d0 * 8, rt0), domain: d0 in [0, 3], ..., (d0 + s0) mod 2 in [0, 0]``:
dimensions, ranges, runtime variables, results; then the bounds of every variable in order, then
constraints. A map without points reads ``... -> (0), domain: KNOWN EMPTY``, one that is undefined
``UNDEFINED: reason``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.map import IndexingMap
from indexing.undefined import read_undefined
from indexing.variable import Variable, VariableKind
from simplifier import Interval
from simplifier.form import ZERO
from simplifier.text import read_expression
from simplifier.tokens import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.domain import Constraint
    from simplifier.form import Form
    from simplifier.tokens import Token

_EMPTY: Final = "KNOWN EMPTY"
_BRACKETS: Final = ("()", "[]", "{}")


def format_map(indexing_map: IndexingMap, *, separator: str = ", ", lead: str = " ") -> str:
    r"""The text of a map: on one line, or with other separators between the parts of its domain.

    >>> print(format_map(IndexingMap.identity([4]), separator=",\n", lead="\n"))
    (d0) -> (d0),
    domain:
    d0 in [0, 3]
    """
    if indexing_map.is_undefined:
        return str(indexing_map)
    domain = indexing_map.domain
    results = ", ".join(domain.text_of(form) for form in indexing_map.forms)
    head = f"{_declarations(domain)} -> ({results})"
    parts = [_EMPTY] if indexing_map.is_known_empty else list(_domain_texts(domain))
    return f"{head}{separator}domain:{lead}{separator.join(parts)}" if parts else head


def _declarations(domain: Domain) -> str:
    return "".join(
        f"{opening}{', '.join(names)}{closing}"
        for (opening, closing), names in zip(_BRACKETS, domain.by_role(domain.names), strict=True)
        if names or opening == "("
    )


def _domain_texts(domain: Domain) -> Iterator[str]:
    for name, variable in zip(domain.names, domain, strict=True):
        yield f"{name} in {variable.bounds}"
    for text, (_, interval) in domain.constraint_texts():
        yield f"{text} in {interval}"


def parse_map(text: str, file: str = "") -> IndexingMap:
    """The map that a text describes.

    Operators are read in every spelling (``floordiv``, ``/``, ``//``; ``mod``, ``%``); ``-inf`` and
    ``inf`` are ends without bound; white space and line breaks mean nothing.
    ``parse_map(str(m)) == m`` for every map.

    Raises:
        TextError: with line, column, and a caret under the place.

    >>> print(parse_map("(d0)[s0] -> (d0 * 8 + s0, d0 % 2), domain: d0 in [0, 3], s0 in [0, 7]"))
    (d0)[s0] -> (d0 * 8 + s0, d0 mod 2), domain: d0 in [0, 3], s0 in [0, 7]
    >>> parse_map("(d0) -> (d7), domain: d0 in [0, 3]")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:10: 'd7' is not a declared variable
    (d0) -> (d7), domain: d0 in [0, 3]
             ^^
    hint: declared: d0
    """
    return read_undefined(text) or _MapParser(Reader(text, file)).parse()


_KINDS: Final = {kind.value: kind for kind in VariableKind if kind is not VariableKind.DEFAULT}


class _MapParser:
    """Recursive descent; the variables get their places as soon as they are declared."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._declared: list[list[Token]] = [[], [], []]
        self._known: dict[str, Form] = {}

    def parse(self) -> IndexingMap:
        reader = self._reader
        for bracket, tokens in zip(_BRACKETS, self._declared, strict=True):
            self._variables(bracket, tokens)
        self._known = self._domain([Interval(0, 0)] * self._count()).by_name
        reader.expect("->", "before the results")
        results = self._results()
        bounds, constraints = self._domain_clause()
        reader.finish()
        return IndexingMap.from_forms(results, self._domain(bounds).constrained(constraints))

    def _count(self) -> int:
        return sum(map(len, self._declared))

    def _domain(self, bounds: list[Interval]) -> Domain:
        left = iter(bounds)
        dims, ranges, runtime = (
            [
                Variable(next(left), token.text, _KINDS.get(token.text, VariableKind.DEFAULT))
                for token in tokens
            ]
            for tokens in self._declared
        )
        return Domain.of(dims, ranges, runtime)

    def _variables(self, bracket: str, tokens: list[Token]) -> None:
        reader = self._reader
        opening, closing = bracket
        if opening == "(":
            reader.expect(opening, "before the dimensions")
        elif not reader.accept(opening):
            return
        if reader.accept(closing):
            return
        while True:
            token = reader.name("the name of a variable")
            if any(token.text == other.text for declared in self._declared for other in declared):
                raise reader.error(f"{token.text!r} is declared twice", token)
            tokens.append(token)
            if reader.accept(closing):
                return
            if not reader.accept(","):
                raise reader.expected(f"',' or {closing!r}")

    def _results(self) -> list[Form]:
        reader = self._reader
        reader.expect("(", "before the results")
        results: list[Form] = []
        while not reader.accept(")"):
            results.append(self._expression())
            if reader.token.text != ")" and not reader.accept(","):
                raise reader.expected("',' or ')'")
        return results

    def _expression(self) -> Form:
        return read_expression(self._reader, self._known)

    def _domain_clause(self) -> tuple[list[Interval], list[Constraint]]:
        """Bounds of the variables in order, and the constraints."""
        reader = self._reader
        if reader.token.kind == "end" and not self._count():
            return [], []
        if not reader.accept(","):
            raise reader.expected("', domain:'", "the bounds of every variable must be given")
        reader.expect("domain")
        reader.expect(":")
        if reader.accept("KNOWN"):
            reader.expect("EMPTY")
            return [Interval(0, -1)] * self._count(), [(ZERO, Interval(1, 1))]
        bounds = [self._bounds_of(token) for tokens in self._declared for token in tokens]
        constraints: list[Constraint] = []
        while reader.token.kind != "end":
            form = self._expression()
            constraints.append((form, self._interval()))
            self._separator()
        return bounds, constraints

    def _bounds_of(self, variable: Token) -> Interval:
        reader = self._reader
        if reader.token.text != variable.text:
            raise reader.expected(
                f"the bounds of {variable.text!r}", "bounds stand in the order of declaration"
            )
        reader.advance()
        interval = self._interval()
        self._separator()
        return interval

    def _separator(self) -> None:
        if self._reader.token.kind != "end" and not self._reader.accept(","):
            raise self._reader.expected("',' before the next part of the domain")

    def _interval(self) -> Interval:
        reader = self._reader
        reader.expect("in", "before an interval")
        reader.expect("[")
        lower = self._end("lower")
        reader.expect(",", "between the ends of an interval")
        upper = self._end("upper")
        reader.expect("]")
        return Interval(lower, upper)

    def _end(self, side: str) -> int | None:
        """An integer, or the infinity of that side."""
        reader = self._reader
        if side == "upper" and reader.accept("inf"):
            return None
        if side == "lower" and reader.accept_all("-", "inf"):
            return None
        return reader.integer()
