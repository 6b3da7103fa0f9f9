"""The text of expressions, both ways: ``(d0 * 8 + s0) floordiv 3``.

Reading takes ``floordiv``, ``/`` and ``//``, ``mod`` and ``%``, ``ceildiv``, ``min(a, b)`` and
``max(a, b)``; writing follows XLA's habits. Neither recurses, so nesting may be as deep as memory
allows, and nothing is ever evaluated as Python.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simplifier import form as forms
from simplifier import operations
from simplifier.errors import Span, TextError
from simplifier.form import Atom, Form, Kind, natural_order, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Token(NamedTuple):
    """A word of the text; ``kind`` is ``number``, ``name``, ``symbol`` or ``end``."""

    kind: str
    text: str
    start: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<symbol>->|//|[-+*/%()\[\]{},:])|(?P<bad>\S)|$)"
)
_EXTREMA: Final = {"min": operations.minimum, "max": operations.maximum}
_RESERVED: Final = frozenset({"floordiv", "ceildiv", "mod", "in", *_EXTREMA})


class Reader:
    """A text as tokens, read one after the other; every complaint points at its place."""

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        self.tokens = list(self._scan())
        self._position = 0

    def _scan(self) -> list[Token]:
        tokens: list[Token] = []
        for match in _TOKEN.finditer(self.source):
            kind = match.lastgroup
            if kind is None:
                break
            token = Token(kind, match[kind], match.start(kind))
            tokens.append(token)
            if kind == "number" and self._is_glued(match.end()):
                token = Token("bad", self.source[match.end()], match.end())
            if token.kind == "bad":
                raise self.error(f"unexpected character {token.text!r}", token)
        tokens.append(Token("end", "", len(self.source.rstrip()) if self.source.strip() else 0))
        return tokens

    def _is_glued(self, end: int) -> bool:
        """Whether a number runs on into something else, as in ``3.5`` or ``2x``."""
        return end < len(self.source) and (self.source[end].isalpha() or self.source[end] in "._")

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self._position]

    def advance(self) -> Token:
        """The next token, which is then done with."""
        token = self.tokens[self._position]
        if token.kind != "end":
            self._position += 1
        return token

    def accept(self, text: str) -> bool:
        """Go past the next token if it reads ``text``."""
        if self.token.text == text and self.token.kind != "end":
            self._position += 1
            return True
        return False

    def accept_all(self, *texts: str) -> bool:
        """Go past the next tokens if they read these texts."""
        ahead = self.tokens[self._position : self._position + len(texts)]
        matches = [token.text for token in ahead] == list(texts)
        self._position += len(texts) if matches else 0
        return matches

    def expect(self, text: str, purpose: str = "") -> Token:
        """Go past the next token, which must read ``text``."""
        if self.token.text != text or self.token.kind == "end":
            raise self.expected(f"{text!r}{purpose and ' ' + purpose}")
        return self.advance()

    def name(self, purpose: str) -> Token:
        """Go past the next token, which must be a name that is free for variables."""
        if self.token.kind != "name" or self.token.text in _RESERVED:
            raise self.expected(purpose)
        return self.advance()

    def integer(self) -> int:
        """Go past an integer, which may have a sign."""
        negative = self.accept("-")
        if self.token.kind != "number":
            raise self.expected("an integer")
        value = self._value(self.advance())
        return -value if negative else value

    def _value(self, token: Token) -> int:
        limit = sys.get_int_max_str_digits()
        if limit and len(token.text) > limit:
            raise self.error(
                f"integer of {len(token.text)} digits; Python reads at most {limit}", token
            )
        return int(token.text)

    def finish(self) -> None:
        """Nothing may be left."""
        if self.token.kind != "end":
            raise self.expected("the end of the text")

    def expected(self, what: str, hint: str = "") -> TextError:
        """The complaint that something else stands where ``what`` was expected."""
        token = self.token
        found = "the text ends" if token.kind == "end" else f"found {token.text!r}"
        return self.error(f"expected {what}, but {found}", token, hint)

    def error(self, message: str, token: Token, hint: str = "") -> TextError:
        """A complaint about a token."""
        stop = token.start + max(1, len(token.text))
        return TextError(message, Span(self.source, token.start, stop, self.file), hint)


Resolve: TypeAlias = "Callable[[Token], Form]"
"""Gives the form of a name, or raises."""


@dataclass(frozen=True, slots=True)
class _Operator:
    rank: int
    apply: Callable[[Form, Form], Form]


_BINARY: Final[Mapping[str, _Operator]] = {
    "+": _Operator(1, Form.plus),
    "-": _Operator(1, lambda left, right: left.plus(right, -1)),
    "*": _Operator(2, lambda left, right: operations.product((left, right))),
    "floordiv": _Operator(2, operations.floordiv),
    "//": _Operator(2, operations.floordiv),
    "/": _Operator(2, operations.floordiv),
    "ceildiv": _Operator(2, operations.ceildiv),
    "mod": _Operator(2, operations.mod),
    "%": _Operator(2, operations.mod),
}
_NEGATE_RANK: Final = 3


@dataclass(slots=True)
class _Group:
    """An open parenthesis or extremum: what has been read inside it and is not yet joined."""

    opening: Token
    values: list[Form] = field(default_factory=list[Form])
    operators: list[str] = field(default_factory=list[str])
    arguments: list[Form] = field(default_factory=list[Form])

    def reduce(self, rank: int) -> None:
        """Apply the pending operators that bind at least as tightly as ``rank``."""
        while self.operators:
            operator = self.operators[-1]
            own = _NEGATE_RANK if operator == "negate" else _BINARY[operator].rank
            if own < rank:
                return
            self.operators.pop()
            right = self.values.pop()
            if operator == "negate":
                self.values.append(-right)
            else:
                self.values.append(_BINARY[operator].apply(self.values.pop(), right))

    def close_argument(self) -> None:
        """What was read becomes one argument."""
        self.reduce(0)
        self.arguments.append(self.values.pop())


class _ExpressionParser:
    """Operator precedence with an explicit stack of open groups."""

    def __init__(self, reader: Reader, resolve: Resolve) -> None:
        self._reader = reader
        self._resolve = resolve
        self._groups = [_Group(reader.token)]

    def parse(self) -> Form:
        while True:
            self._operand()
            while self._closes_group():
                pass
            operator = self._reader.token.text
            if operator in _BINARY and self._reader.token.kind != "end":
                group = self._groups[-1]
                group.reduce(_BINARY[operator].rank)
                group.operators.append(operator)
                self._reader.advance()
            elif len(self._groups) > 1 and self._is_extremum() and self._reader.accept(","):
                self._groups[-1].close_argument()
            elif len(self._groups) > 1:
                raise self._unclosed()
            else:
                self._groups[0].reduce(0)
                return self._groups[0].values[0]

    def _operand(self) -> None:
        """Signs and openings, up to a number or name."""
        reader = self._reader
        while True:
            token = reader.token
            group = self._groups[-1]
            if token.kind == "number":
                group.values.append(forms.constant(reader.integer()))
                return
            if token.kind == "name" and token.text not in _RESERVED:
                group.values.append(self._resolve(reader.advance()))
                return
            if token.text == "-" and token.kind == "symbol":
                group.operators.append("negate")
                reader.advance()
            elif token.text == "(" or token.text in _EXTREMA:
                self._groups.append(_Group(reader.advance()))
                if token.text in _EXTREMA:
                    reader.expect("(", f"after {token.text!r}")
            else:
                raise reader.expected("an expression")

    def _is_extremum(self) -> bool:
        return self._groups[-1].opening.text in _EXTREMA

    def _closes_group(self) -> bool:
        if len(self._groups) == 1 or not self._reader.accept(")"):
            return False
        group = self._groups.pop()
        group.close_argument()
        join = _EXTREMA.get(group.opening.text)
        self._groups[-1].values.append(join(group.arguments) if join else group.arguments[0])
        return True

    def _unclosed(self) -> TextError:
        opening = self._groups[-1].opening
        what = "',' or ')'" if self._is_extremum() else "')'"
        place = Span(self._reader.source, opening.start, opening.start + 1)
        return self._reader.expected(f"{what} for the parenthesis opened at {place}")


def read_expression(reader: Reader, resolve: Resolve) -> Form:
    """Read one expression from where the reader stands; stops at what cannot continue it."""
    return _ExpressionParser(reader, resolve).parse()


def parse_form(text: str, names: Sequence[str] | None = None) -> Form:
    """The form of a text; with ``names``, only these variables may occur."""
    reader = Reader(text)
    known = None if names is None else frozenset(names)

    def resolve(token: Token) -> Form:
        if known is not None and token.text not in known:
            raise unknown_name(reader, token, names or ())
        return forms.variable(token.text)

    form = read_expression(reader, resolve)
    reader.finish()
    return form


def unknown_name(reader: Reader, token: Token, names: Sequence[str]) -> TextError:
    """The complaint about a name that was not declared."""
    declared = ", ".join(names) or "none"
    return reader.error(
        f"{token.text!r} is not a declared variable", token, f"declared: {declared}"
    )


# Writing.


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the operators are written."""

    floordiv: str = "floordiv"
    mod: str = "mod"
    ceildiv: str = "ceildiv"


DOCUMENT: Final = Spelling()
"""The indexing document's words."""


def format_form(form: Form, variables: Sequence[str] = (), spelling: Spelling = DOCUMENT) -> str:
    """The text of a form; the variables named in ``variables`` come first, in that order.

    Sums are written as XLA does: products first, then remainders, quotients, extrema and variables,
    negative terms after positive ones, the constant last.
    """
    return Writer(variables, spelling).write(form)


_RANKS: Final = {
    Kind.MOD: 0,
    Kind.FLOORDIV: 1,
    Kind.QUOTIENT: 1,
    Kind.CEILDIV: 2,
    Kind.MAX: 3,
    Kind.MIN: 4,
    Kind.PRODUCT: 5,
    Kind.OPAQUE: 6,
    Kind.VARIABLE: 7,
}


_LONG: Final = 1000


class Writer:
    """Texts of atoms, each made once from the texts of the atoms inside it."""

    def __init__(self, variables: Sequence[str] = (), spelling: Spelling = DOCUMENT) -> None:
        self.texts: dict[Atom, str] = {}
        self._places = {name: place for place, name in enumerate(variables)}
        self._symbols = {
            Kind.FLOORDIV: spelling.floordiv,
            Kind.QUOTIENT: spelling.floordiv,
            Kind.MOD: spelling.mod,
            Kind.CEILDIV: spelling.ceildiv,
        }

    def write(self, form: Form) -> str:
        """The text of a form."""
        for atom in postorder((form,)):
            if atom not in self.texts:
                self.texts[atom] = self.atom(atom)
        return self.sum(form)

    def atom(self, atom: Atom) -> str:
        """The text of an atom whose inner atoms have theirs."""
        if not atom.arguments:
            return atom.name
        if atom.kind in self._symbols:
            numerator, divisor = atom.arguments
            return f"{self._left(numerator)} {self._symbols[atom.kind]} {self._operand(divisor)}"
        if atom.kind is Kind.PRODUCT:
            return " * ".join(
                self._operand(factor) for factor in sorted(atom.arguments, key=self._factor_order)
            )
        operands = ", ".join(self.sum(argument) for argument in atom.arguments)
        return f"{atom.kind.name.lower()}({operands})"

    def sum(self, form: Form) -> str:
        """The text of a form whose atoms have theirs."""
        pieces: list[str] = []
        terms = form.terms.items()
        for atom, factor in sorted(terms, key=self._term_order) if len(terms) > 1 else terms:
            text = self.scaled(atom, abs(factor) if pieces else factor)
            pieces.append(f" {'-' if factor < 0 else '+'} {text}" if pieces else text)
        if form.constant or not pieces:
            sign = " - " if form.constant < 0 else " + "
            pieces.append(f"{sign}{abs(form.constant)}" if pieces else str(form.constant))
        return "".join(pieces)

    def scaled(self, atom: Atom, factor: int) -> str:
        """The text of a term."""
        text = self.texts[atom]
        if factor == 1:
            return text
        if atom.kind is Kind.PRODUCT:
            return f"-({text})" if factor == -1 else f"{text} * {factor}"
        enclosed = f"({text})" if atom.kind in self._symbols else text
        return f"-{enclosed}" if factor == -1 else f"{enclosed} * {factor}"

    def _left(self, form: Form) -> str:
        """The left operand of a division: a negated variable needs no parentheses."""
        text = self.sum(form)
        if not form.constant and len(form.terms) == 1:
            ((atom, factor),) = form.terms.items()
            if factor == -1 and atom.kind is Kind.VARIABLE:
                return text
        return self._enclosed(form, text)

    def _operand(self, form: Form) -> str:
        return self._enclosed(form, self.sum(form))

    def _enclosed(self, form: Form, text: str) -> str:
        if not form.terms:
            return text
        ((atom, factor), *others) = form.terms.items()
        composite = (
            others
            or form.constant
            or factor != 1
            or atom.kind in self._symbols
            or atom.kind is Kind.PRODUCT
        )
        return f"({text})" if composite else text

    def _term_order(self, term: tuple[Atom, int]) -> tuple[object, ...]:
        atom, factor = term
        is_product = abs(factor) != 1 or atom.kind is Kind.PRODUCT
        return (factor < 0, not is_product, _RANKS[atom.kind], *self._atom_order(atom))

    def _factor_order(self, form: Form) -> tuple[object, ...]:
        if form.terms and not form.constant:
            ((atom, _), *others) = form.terms.items()
            if not others:
                return (1, _RANKS[atom.kind], *self._atom_order(atom))
        return (0, 0, 0, natural_order(self.sum(form)))

    def _atom_order(self, atom: Atom) -> tuple[object, ...]:
        """Declared variables by place, others by their text; very long texts by their structure."""
        place = self._places.get(atom.name, len(self._places))
        text = self.texts[atom]
        return (place, len(text) > _LONG, atom.order if len(text) > _LONG else natural_order(text))
