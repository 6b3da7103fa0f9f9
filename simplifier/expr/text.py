"""The text of expressions, both ways: ``(d0 * 8 + s0) floordiv 3``.

Reading takes ``floordiv``, ``/`` and ``//``, ``mod`` and ``%``, ``ceildiv``, ``min(a, b)`` and
``max(a, b)``; writing follows XLA's habits. Neither recurses, so nesting may be as deep as memory
allows, and nothing is ever evaluated as Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.errors import Span, TextError, listed, quoted
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, Form, Kind, natural_order, postorder
from simplifier.tools.lexer import RESERVED, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Operation: TypeAlias = Callable[[Form, Form], Form]

# Reading.


_DIVISIONS: Final[Mapping[str, Operation]] = {
    "floordiv": operations.floordiv,
    "//": operations.floordiv,
    "/": operations.floordiv,
    "ceildiv": operations.ceildiv,
    "mod": operations.mod,
    "%": operations.mod,
}
_SIGNS: Final = {"+": 1, "-": -1}
_EXTREMA: Final = {"min": operations.minimum, "max": operations.maximum}


class _Group:
    """What has been read since a parenthesis was opened, or since the last comma in it.

    It is the sum of ``terms`` and of ``sign * scale * left``, the last term; what comes next
    multiplies that, or divides ``scale * left`` by ``operation``. So a sum becomes a form only when
    it ends.
    """

    __slots__ = ("arguments", "left", "opening", "operation", "scale", "sign", "terms")

    def __init__(self, opening: int, arguments: list[Form]) -> None:
        self.opening = opening
        """The position of the parenthesis."""
        self.arguments = arguments
        """Those before the last comma."""
        self.terms: list[tuple[int, Form | None]] = []
        self.sign = self.scale = 1
        self.left: Form | None = None
        """``None`` stands for 1."""
        self.operation: Operation | None = None

    def negate(self) -> None:
        """A sign before an operand."""
        if self.operation is None:
            self.scale = -self.scale
        else:
            self.operation = partial(_by_negative, self.operation)

    def operand(self, value: Form | int) -> None:
        """A number, a name, or what stood in parentheses."""
        if self.operation is not None:
            numerator = _scaled(self.left, self.scale)
            divisor = forms.constant(value) if isinstance(value, int) else value
            self.left, self.scale = self.operation(numerator, divisor), 1
            self.operation = None
        elif isinstance(value, int):
            self.scale *= value
        elif self.left is None:
            self.left = value
        else:
            self.left, self.scale = operations.product((self.left.times(self.scale), value)), 1

    def add(self, sign: int) -> None:
        """The last term is finished; another one with this sign follows."""
        self.terms.append((self.sign * self.scale, self.left))
        self.left, self.scale, self.sign = None, 1, sign

    def total(self) -> Form:
        """The whole sum."""
        last = self.sign * self.scale
        if not self.terms:
            return _scaled(self.left, last)
        constant = 0
        terms: dict[Atom, int] = {}
        for factor, form in (*self.terms, (last, self.left)):
            if form is None:
                constant += factor
            elif factor:
                constant += factor * form.constant
                forms.accumulate(terms, form, factor)
        return Form(constant, forms.in_order(terms))


def _scaled(form: Form | None, factor: int) -> Form:
    return forms.constant(factor) if form is None else form.times(factor)


def _by_negative(operation: Operation, numerator: Form, divisor: Form) -> Form:
    return operation(numerator, -divisor)


class _ExpressionParser:
    """Operator precedence with an explicit stack of open groups."""

    def __init__(self, reader: Reader, names: Mapping[str, Form] | None) -> None:
        self._reader = reader
        self._names = names
        self._leaves: dict[str, Form | int] = dict(names or ())
        """What the names and numbers read so far stand for."""
        self._groups = [_Group(reader.position, [])]

    def parse(self) -> Form:
        """Read as far as an expression goes."""
        words, position = self._reader.words, self._reader.position
        groups, leaf_of = self._groups, self._leaves.get
        while True:
            while (word := words[position]) == "(":
                groups.append(_Group(position, []))
                position += 1
            leaf = leaf_of(word) or self._leaf(word, position)
            position += 1
            if leaf is None:
                continue
            group = groups[-1]
            group.operand(leaf)
            while (word := words[position]) == ")" and len(groups) > 1:
                group = self._close_group()
                position += 1
            if word in _DIVISIONS:
                group.operation = _DIVISIONS[word]
            elif word in _SIGNS:
                group.add(_SIGNS[word])
            elif word != "*":
                self._reader.position = position
                if len(groups) == 1:
                    return group.total()
                self._next_argument(word)
            position += 1

    def _leaf(self, word: str, position: int) -> Form | int | None:
        """What a number or name stands for; ``None`` for a sign or the name of an extremum."""
        leaf = None
        if word.isdigit():
            leaf = self._leaves[word] = self._reader.value(position)
        elif word.isidentifier() and word not in RESERVED:
            if self._names is not None:
                raise self._unknown_name(position, self._names)
            leaf = self._leaves[word] = forms.variable(word)
        elif word == "-":
            self._groups[-1].negate()
        else:
            self._expect_extremum(word, position)
        return leaf

    def _expect_extremum(self, word: str, position: int) -> None:
        reader = self._reader
        reader.position = position
        if word not in _EXTREMA:
            raise reader.expected("an expression")
        reader.position += 1
        if reader.word != "(":
            raise reader.expected(f"'(' after {word!r}")

    def _close_group(self) -> _Group:
        """Hand what stood in parentheses to the group around them."""
        group = self._groups.pop()
        around, value = self._groups[-1], group.total()
        join = _EXTREMA.get(self._name(group))
        around.operand(join([*group.arguments, value]) if join else value)
        return around

    def _name(self, group: _Group) -> str:
        """The word before a parenthesis, which may name an extremum."""
        return self._reader.words[group.opening - 1]

    def _next_argument(self, word: str) -> None:
        """Begin another argument after the comma that must stand here."""
        group = self._groups[-1]
        if word != "," or self._name(group) not in _EXTREMA:
            raise self._unclosed(group)
        group.arguments.append(group.total())
        self._groups[-1] = _Group(group.opening, group.arguments)

    def _unclosed(self, group: _Group) -> TextError:
        is_extremum = self._name(group) in _EXTREMA
        what = "',' or ')'" if is_extremum else "')'"
        start = self._reader.token_at(group.opening - is_extremum).start
        place = Span(self._reader.source, start, start + 1)
        return self._reader.expected(f"{what} for the parenthesis opened at {place}")

    def _unknown_name(self, position: int, names: Mapping[str, Form]) -> TextError:
        token = self._reader.token_at(position)
        message = f"{quoted(token.text)} is not a declared variable"
        return self._reader.error(message, token, f"declared: {listed(names)}")


def read_expression(reader: Reader, names: Mapping[str, Form] | None = None) -> Form:
    """Read one expression from where the reader stands; stops at what cannot continue it.

    With ``names``, only these names may occur, and each stands for its form.
    """
    return _ExpressionParser(reader, names).parse()


def parse_form(text: str, names: Sequence[str] | None = None) -> Form:
    """The form of a text; with ``names``, only these variables may occur."""
    reader = Reader(text)
    known = None if names is None else {name: forms.variable(name) for name in names}
    form = read_expression(reader, known)
    reader.finish()
    return form


# Writing.


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the operators are written."""

    floordiv: str = "floordiv"
    mod: str = "mod"
    ceildiv: str = "ceildiv"


DOCUMENT: Final = Spelling()
"""The indexing document's words."""

DIALECTS: Final[Mapping[str, Spelling]] = {
    "floordiv": DOCUMENT,
    "/": Spelling("/"),
    "//": Spelling("//", "%"),
}
"""Called after their quotient: the document's words, XLA's newest, Python's operators.

Rounding up has no operator in any of them. All are read alike.
"""


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
    Kind.SUM: 8,
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
            return f"{self._left(numerator)} {self._symbols[atom.kind]} {self.operand(divisor)}"
        if atom.kind is Kind.PRODUCT:
            return " * ".join(
                self.operand(factor) for factor in sorted(atom.arguments, key=self._factor_order)
            )
        if atom.kind is Kind.SUM:
            return f"({self.sum(*atom.arguments)})"
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
        enclosed = f"({text})" if self.is_infix(atom) else text
        return f"-{enclosed}" if factor == -1 else f"{enclosed} * {factor}"

    def is_infix(self, atom: Atom) -> bool:
        """Whether the atom's text is an operator between operands, enclosed inside a product."""
        return atom.kind in self._symbols

    def _left(self, form: Form) -> str:
        """The left operand of a division: a negated variable needs no parentheses."""
        text = self.sum(form)
        if not form.constant and len(form.terms) == 1:
            ((atom, factor),) = form.terms.items()
            if factor == -1 and atom.kind is Kind.VARIABLE:
                return text
        return self._enclosed(form, text)

    def operand(self, form: Form) -> str:
        """The text of a form, in parentheses where it is composed."""
        return self._enclosed(form, self.sum(form))

    def _enclosed(self, form: Form, text: str) -> str:
        if not form.terms:
            return text
        ((atom, factor), *others) = form.terms.items()
        composite = (
            others
            or form.constant
            or factor != 1
            or self.is_infix(atom)
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
