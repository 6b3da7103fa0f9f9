"""Expressions as text: ``(d0 * 8 + s0) floordiv 3``, in the order and shape that XLA writes.

The printer does not recurse, so nesting may be as deep as memory allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from simplifier.expr import form as forms
from simplifier.expr.form import BITWISE, CONDITIONS, EXTREMA, FOREIGN, Atom, AtomKind, Form

Operand = TypeVar("Operand")


@dataclass(frozen=True, slots=True)
class Syntax:
    """Syntax of the operators."""

    floordiv: str = "floordiv"
    mod: str = "mod"
    ceildiv: str = "ceildiv"


PYTHON_MOD: Final = "%"
"""The remainder with the sign of the divisor."""

DOCUMENT: Final = Syntax()
"""The indexing document's words."""

DIALECTS: Final[Mapping[str, Syntax]] = {
    "floordiv": DOCUMENT,
    "/": Syntax("/"),
    "//": Syntax("//", PYTHON_MOD),
}
"""Called after their quotient: the document's words, XLA's newest, Python's operators.

Rounding up has no operator in any of them. All are read alike.
"""


def format_form(form: Form, variables: Sequence[str] = (), syntax: Syntax = DOCUMENT) -> str:
    """The text of a form; the variables named in ``variables`` come first, in that order.

    Sums are written as XLA does: products first, then remainders, quotients, extrema and variables,
    negative terms after positive ones, the constant last; so is a constant in a minimum or maximum.
    """
    return Printer(variables, syntax).write(form)


def as_written(atom: Atom, operands: Sequence[Operand]) -> Sequence[Operand]:
    """The operands of an atom in the order of its text: ``min(d0, 5)``, constant last."""
    if atom.kind in EXTREMA and not atom.arguments[0].terms:
        return (*operands[1:], operands[0])
    return operands


def sides(difference: Form, relation: str) -> tuple[Form, str, Form]:
    """Two forms and a relation that say ``difference >= 0``, or another ``relation`` to zero.

    The left side has the terms that are not subtracted, the right side has the constant.

    >>> from simplifier.expr.text import parse_form
    >>> print(*sides(parse_form("x * 2 - y - 1"), ">="))
    x * 2 > y
    >>> print(*sides(parse_form("5 - y"), ">="))
    y <= 5
    """
    constant = difference.constant
    left = Form(0, {atom: factor for atom, factor in difference.terms.items() if factor > 0})
    right = Form(0, {atom: -factor for atom, factor in difference.terms.items() if factor < 0})
    if not left.terms:
        return right, _TURNED[relation], Form(constant, {})
    if right.terms and constant == -1 and relation in _STRICT:
        return left, _STRICT[relation], right
    return left, relation, right.plus_constant(-constant)


def compared(comparison: Atom, *, holds: bool) -> tuple[Form, str, Form]:
    """The sides of a comparison with zero and the relation between them, where it holds or not."""
    return sides(comparison.numerator, _RELATIONS[comparison.kind][not holds])


_RELATIONS: Final = {AtomKind.NONNEGATIVE: (">=", "<"), AtomKind.ZERO: ("==", "!=")}
"""The relations that conditions are, and those that their negations are."""

_TURNED: Final = {">=": "<=", "<": ">", "==": "==", "!=": "!="}
_STRICT: Final = {">=": ">", "<": "<="}
"""Where one is subtracted from the left side."""


_RANKS: Final = {
    AtomKind.MOD: 0,
    AtomKind.FLOORDIV: 1,
    AtomKind.QUOTIENT: 1,
    AtomKind.CEILDIV: 2,
    AtomKind.MAX: 3,
    AtomKind.MIN: 4,
    AtomKind.PRODUCT: 5,
    **dict.fromkeys(FOREIGN, 6),
    AtomKind.VARIABLE: 7,
    AtomKind.SUM: 8,
    AtomKind.SELECT: 9,
    **dict.fromkeys(BITWISE, 10),
    **dict.fromkeys(CONDITIONS, 11),
}
"""The order of operations in a sum."""


_LONG: Final = 1000


class Printer:
    """Texts of atoms, each made once from the texts of the atoms inside it."""

    writes_relations = True
    """Whether conditions are written with ``<``, ``and``, ``or``, so that negations are, too."""

    def __init__(self, variables: Sequence[str] = (), syntax: Syntax = DOCUMENT) -> None:
        self.texts: dict[Atom, str] = {}
        self._positions = {name: position for position, name in enumerate(variables)}
        self._symbols = {
            AtomKind.FLOORDIV: syntax.floordiv,
            AtomKind.QUOTIENT: syntax.floordiv,
            AtomKind.MOD: syntax.mod,
            AtomKind.CEILDIV: syntax.ceildiv,
        }

    def write(self, form: Form) -> str:
        """The text of a form."""
        for atom in forms.postorder((form,)):
            if atom not in self.texts:
                self.texts[atom] = self.atom(atom)
        return self.sum(form)

    def atom(self, atom: Atom) -> str:
        """The text of an atom whose inner atoms have theirs."""
        if not atom.arguments:
            is_foreign = atom.kind is AtomKind.OPAQUE and atom.expression is not None
            return str(atom.expression) if is_foreign else atom.name
        if atom.kind in self._symbols:
            numerator, divisor = map(self.operand, atom.arguments)
            return f"{numerator} {self._symbol(atom)} {divisor}"
        if atom.kind is AtomKind.PRODUCT:
            factors = sorted(atom.arguments, key=self._factor_order)
            return " * ".join(map(self.operand, factors))
        if atom.kind is AtomKind.SUM:
            return f"({self.sum(*atom.arguments)})"
        if atom.kind in CONDITIONS:
            return f"({self.condition(Form(0, {atom: 1}))})"
        name = atom.function.__name__ if atom.function else atom.kind.name.lower()
        return f"{name}({', '.join(self._operands(atom))})"

    def _operands(self, atom: Atom) -> Sequence[str]:
        if atom.kind is AtomKind.SELECT:
            condition, *values = atom.arguments
            return self.condition(condition), *map(self.sum, values)
        return tuple(map(self.sum, as_written(atom, atom.arguments)))

    def condition(self, form: Form, joint: str = "") -> str:
        """The text of a condition, in parentheses where it joins others in another way."""
        atom = form.only_atom or forms.negated(form)
        if atom is None or atom.kind not in CONDITIONS:
            return self.sum(form)
        holds = not form.constant
        if atom.kind is AtomKind.AND:
            own = "and" if holds else "or"
            parts = [each if holds else 1 - each for each in atom.arguments]
            text = f" {own} ".join(self.condition(part, own) for part in parts)
            return f"({text})" if joint not in ("", own) else text
        left, relation, right = compared(atom, holds=holds)
        return f"{self.sum(left)} {relation} {self.sum(right)}"

    def _symbol(self, atom: Atom) -> str:
        """The operator; ``%`` has the sign of the divisor in every dialect, XLA's ``mod`` not."""
        is_signed = atom.kind is AtomKind.MOD and atom.divisor < 0
        return PYTHON_MOD if is_signed else self._symbols[atom.kind]

    def sum(self, form: Form) -> str:
        """The text of a form whose atoms have theirs."""
        if form.constant == 1 and self.writes_relations and forms.negated(form):
            return f"({self.condition(form)})"
        pieces: list[str] = []
        terms = form.terms.items()
        for atom, factor in sorted(terms, key=self.term_order) if len(terms) > 1 else terms:
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
        if atom.kind is AtomKind.PRODUCT:
            return f"-({text})" if factor == -1 else f"{text} * {factor}"
        enclosed = f"({text})" if self.is_infix(atom) else text
        return f"-{enclosed}" if factor == -1 else f"{enclosed} * {factor}"

    def is_infix(self, atom: Atom) -> bool:
        """Whether the atom's text is an operator between operands, enclosed inside a product."""
        return atom.kind in self._symbols

    def operand(self, form: Form) -> str:
        """The text of a form, in parentheses where it is composed."""
        text = self.sum(form)
        if not form.terms or (self.writes_relations and forms.negated(form)):
            return text
        atom = form.only_atom
        is_composed = atom is None or self.is_infix(atom) or atom.kind is AtomKind.PRODUCT
        return f"({text})" if is_composed else text

    def term_order(self, term: tuple[Atom, int]) -> tuple[object, ...]:
        """A key that sorts the terms of a sum."""
        atom, factor = term
        is_product = abs(factor) != 1 or atom.kind is AtomKind.PRODUCT
        return (factor < 0, not is_product, _RANKS[atom.kind], *self._atom_order(atom))

    def _factor_order(self, form: Form) -> tuple[object, ...]:
        if len(form.terms) == 1 and not form.constant:
            (atom,) = form.terms
            return (1, _RANKS[atom.kind], *self._atom_order(atom))
        return (0, 0, 0, forms.natural_order(self.sum(form)))

    def _atom_order(self, atom: Atom) -> tuple[object, ...]:
        """Declared variables by position, others by text, or by structure if the text is long."""
        position = self._positions.get(atom.name, len(self._positions))
        text = self.texts[atom]
        is_long = len(text) > _LONG
        return position, is_long, atom.order if is_long else forms.natural_order(text)
