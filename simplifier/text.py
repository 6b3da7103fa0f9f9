"""The text of expressions, both ways: ``(d0 * 8 + s0) floordiv 3``.

Reading takes ``floordiv``, ``/`` and ``//``, ``mod`` and ``%``, ``ceildiv``, ``min(a, b)`` and
``max(a, b)``; writing follows XLA's habits. Neither recurses, so nesting may be as deep as memory
allows, and nothing is ever evaluated as Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier import form as forms
from simplifier import operations
from simplifier.errors import Span, TextError, listed, quoted
from simplifier.form import Atom, Form, Kind, natural_order, postorder
from simplifier.tokens import RESERVED, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Operation: TypeAlias = Callable[[Form, Form], Form]

# Reading.


def _times(left: Form, right: Form) -> Form:
    if not right.terms:
        return left.times(right.constant)
    return right.times(left.constant) if not left.terms else operations.product((left, right))


_SIGNS: Final = {"+": 1, "-": -1}
_PRODUCTS: Final[Mapping[str, Operation]] = {
    "*": _times,
    "floordiv": operations.floordiv,
    "//": operations.floordiv,
    "/": operations.floordiv,
    "ceildiv": operations.ceildiv,
    "mod": operations.mod,
    "%": operations.mod,
}
_EXTREMA: Final = {"min": operations.minimum, "max": operations.maximum}


class _Group:
    """What has been read since a parenthesis was opened, or since the text began.

    ``constant`` and ``terms`` are the finished part of a sum, ``sign * left`` its last term; what
    comes next is joined to ``left`` by ``operation``.
    """

    __slots__ = (
        "arguments",
        "constant",
        "left",
        "negative",
        "opening",
        "operation",
        "sign",
        "terms",
    )

    def __init__(self, opening: int) -> None:
        self.opening = opening
        """The position of the opening word."""
        self.arguments: list[Form] = []
        self._clear()

    def _clear(self) -> None:
        self.constant = 0
        self.terms: dict[Atom, int] = {}
        self.sign = 1
        self.left: Form | None = None
        self.operation: Operation = _times
        self.negative = False

    def operand(self, value: Form) -> None:
        """A number, a name, or what stood in parentheses."""
        if self.negative:
            value, self.negative = -value, False
        self.left = value if self.left is None else self.operation(self.left, value)

    def add(self, sign: int) -> None:
        """The last term is finished; another one with this sign follows."""
        left = self.left or forms.ZERO
        self.constant += self.sign * left.constant
        forms.accumulate(self.terms, left, self.sign)
        self.left, self.sign = None, sign

    def close_argument(self) -> None:
        """What was read becomes one argument."""
        if self.left is not None and self.sign == 1 and not self.terms and not self.constant:
            self.arguments.append(self.left)
        else:
            self.add(1)
            self.arguments.append(Form(self.constant, forms.in_order(self.terms)))
        self._clear()


class _ExpressionParser:
    """Operator precedence with an explicit stack of open groups."""

    def __init__(self, reader: Reader, names: Mapping[str, Form] | None) -> None:
        self._reader = reader
        self._names = names
        self._leaves: dict[str, Form] = dict(names or ())
        self._groups = [_Group(reader.position)]

    def parse(self) -> Form:
        """Read as far as an expression goes."""
        reader, words = self._reader, self._reader.words
        while True:
            self._operand()
            while words[reader.position] == ")" and len(self._groups) > 1:
                self._close_group()
            word = words[reader.position]
            group = self._groups[-1]
            if word in _PRODUCTS:
                group.operation = _PRODUCTS[word]
            elif word in _SIGNS:
                group.add(_SIGNS[word])
            elif len(self._groups) == 1:
                group.close_argument()
                return group.arguments[0]
            elif word == "," and words[group.opening] in _EXTREMA:
                group.close_argument()
            else:
                raise self._unclosed()
            reader.position += 1

    def _operand(self) -> None:
        """Signs and openings, up to a number or name."""
        words, position = self._reader.words, self._reader.position
        leaf = self._leaves.get(words[position])
        while leaf is None:
            self._reader.position = position
            leaf = self._leaf(words[position])
            if leaf is None:
                position = self._open(words[position])
                leaf = self._leaves.get(words[position])
        self._groups[-1].operand(leaf)
        self._reader.position = position + 1

    def _open(self, word: str) -> int:
        """A sign, or what opens a group; the position after it."""
        reader = self._reader
        if word == "(":
            self._groups.append(_Group(reader.position))
        elif word == "-":
            self._groups[-1].negative ^= True
        elif word in _EXTREMA:
            self._groups.append(_Group(reader.position))
            reader.position += 1
            if reader.word != "(":
                raise reader.expected(f"'(' after {word!r}")
        else:
            raise reader.expected("an expression")
        return reader.position + 1

    def _leaf(self, word: str) -> Form | None:
        """The form of a number or of a variable."""
        if word[:1].isdigit():
            leaf = forms.constant(self._reader.value(self._reader.position))
        elif word.isidentifier() and word not in RESERVED:
            if self._names is not None:
                raise self._unknown_name(self._names)
            leaf = forms.variable(word)
        else:
            return None
        self._leaves[word] = leaf
        return leaf

    def _close_group(self) -> None:
        group = self._groups.pop()
        group.close_argument()
        join = _EXTREMA.get(self._reader.words[group.opening])
        self._groups[-1].operand(join(group.arguments) if join else group.arguments[0])
        self._reader.position += 1

    def _unclosed(self) -> TextError:
        opening = self._reader.token_at(self._groups[-1].opening)
        what = "',' or ')'" if opening.text in _EXTREMA else "')'"
        place = Span(self._reader.source, opening.start, opening.start + 1)
        return self._reader.expected(f"{what} for the parenthesis opened at {place}")

    def _unknown_name(self, names: Mapping[str, Form]) -> TextError:
        token = self._reader.token
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
