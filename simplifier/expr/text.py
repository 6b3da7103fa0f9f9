"""Expressions from text: ``(d0 * 8 + s0) floordiv 3``.

The parser takes ``floordiv``, ``/`` and ``//``, ``mod`` and ``%``, ``ceildiv``, ``min(a, b)`` and
``max(a, b)``; ``select(x >= 5 and not y == 0, a, b)``, ``bitand(a, b)``, ``bitor``, ``bitxor``; and
conditions in parentheses, such as ``(x < y) * 8``, which are 1 where they hold, else 0. Also
``floorDiv`` and ``ceilDiv``, and ``8d0`` where ``d0`` is a declared name. ``x >> 3`` is
``x floordiv 8`` and ``x << 2`` is ``x * 4``; as in Python, a sum is shifted as a whole. The parser
does not recurse, so nesting may be as deep as memory allows, and nothing is ever evaluated as
Python.

``mod`` and ``%`` differ for a negative number as divisor: ``x mod -3`` is XLA's, never negative,
which is ``x mod 3``; ``x % -3`` is Python's, with the sign of the divisor. The printer writes each
as it means it.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from simplifier.errors import Span, TextError, TextWarning, listed, quoted
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, AtomKind, Form
from simplifier.tools.lexer import Lexer

Operation: TypeAlias = "Callable[[Form, Form], Form]"


# The tokens of expressions and maps: `(d0 * 8 + s0) floordiv 3`.

_TOKEN = re.compile(r"[A-Za-z0-9_]++|[()\[\]{},:*+%]|->|//|<<|>>|&&|\|\||[<>=!]=|[-/<>=]")
_TEXT = re.compile(r"(?>(?:[A-Za-z0-9_\s()\[\]{},:*+%\-/<>=]++|&&|\|\||!=)*)")
"""As much of a text as consists of tokens and blanks."""


def is_name(text: str) -> bool:
    """Whether a text can be the name of a variable.

    >>> is_name("th_x"), is_name("mod"), is_name("2x")
    (True, False, False)
    """
    return text.isascii() and text.isidentifier() and text not in RESERVED


class ExpressionLexer(Lexer):
    """The tokens of expressions and maps, found all at once; ``tokens[position]`` is current.

    The last token is empty.
    """

    __slots__ = ("_starts", "position", "tokens")

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        self._check_characters()
        self.tokens: list[str] = _TOKEN.findall(source)
        self.tokens.append("")
        self._starts: list[int] = []
        self.jump(0)

    def jump(self, position: int) -> None:
        """Go to the token with this number."""
        self.position = position
        self.text = self.tokens[position]

    def advance(self) -> str:
        """Go to the next token; the token that was current."""
        text = self.text
        if text:
            self.position += 1
            self.text = self.tokens[self.position]
        return text

    @property
    def span(self) -> Span:
        """Place of the current token."""
        return self.span_at(self.position)

    @property
    def begins_line(self) -> bool:
        """Whether the current token is the first one of its line."""
        start = self.span.start
        return not self.source[self.source.rfind("\n", 0, start) + 1 : start].strip()

    def span_at(self, position: int) -> Span:
        """Place of the token with this number."""
        if not self._starts:
            self._starts = [match.start() for match in _TOKEN.finditer(self.source)]
            self._starts.append(len(self.source.rstrip()))
        start = self._starts[position]
        stop = start + max(1, len(self.tokens[position]))
        return Span(self.source, start, stop, self.file)

    def accept_all(self, *texts: str) -> bool:
        """Go past the next tokens if they read these texts."""
        stop = self.position + len(texts)
        matches = self.tokens[self.position : stop] == list(texts)
        if matches:
            self.jump(stop)
        return matches

    def name(self, purpose: str) -> str:
        """Go past a name that is free for variables."""
        if not is_name(self.text):
            raise self.expected(purpose)
        return self.advance()

    def integer(self) -> int:
        """Go past an integer, which may have a sign."""
        negative = self.accept("-")
        if not self.text.isdigit():
            raise self.expected("an integer")
        value = self.value_at(self.position)
        self.advance()
        return -value if negative else value

    def value_at(self, position: int, digits: str = "") -> int:
        """The integer that the token with this number is, or that some digits in it are."""
        text = digits or self.tokens[position]
        try:
            return int(text)
        except ValueError:
            limit = sys.get_int_max_str_digits()
            message = f"integer of {len(text)} digits; Python reads at most {limit}"
            raise self.error(message, self.span_at(position)) from None

    def _check_characters(self) -> None:
        right = _TEXT.match(self.source)
        start = right.end() if right else 0
        if start < len(self.source):
            message = f"unexpected character {self.source[start]!r}"
            hint = "all numbers are integers" if self.source[start] == "." else ""
            raise self.error(message, Span(self.source, start, start + 1, self.file), hint)


# Expressions from text: `(d0 * 8 + s0) floordiv 3`.

_COEFFICIENT = re.compile(r"([0-9]+)([A-Za-z_][A-Za-z0-9_]*)")
"""A number times a name, as in ``8d0``."""


def _mod(numerator: Form, divisor: Form) -> Form:
    """XLA's ``mod``, which is never negative."""
    is_negative = divisor.is_constant and divisor.constant < 0
    return operations.mod(numerator, -divisor if is_negative else divisor)


XLA_DIVISIONS: Final[Mapping[str, Operation]] = {
    **dict.fromkeys(("floordiv", "floorDiv", "//", "/"), operations.floordiv),
    **dict.fromkeys(("ceildiv", "ceilDiv"), operations.ceildiv),
    "mod": _mod,
    "%": operations.mod,
}
_DIVIDING_WORDS: Final = frozenset(filter(str.isalpha, XLA_DIVISIONS))
_SIGNS: Final = {"+": 1, "-": -1}
_SHIFTS: Final[Mapping[str, Callable[[Form, int], Form]]] = {
    "<<": lambda form, count: form.times(1 << count),
    ">>": lambda form, count: operations.floordiv(form, forms.constant(1 << count)),
}
_MAX_SHIFT: Final = 4096
"""Bits; no index is moved so far."""
_MAX_SHIFTED: Final = 2 * _MAX_SHIFT
"""Bits; wider numbers are mistakes, and fill the memory."""
_MAX_CONDITIONS: Final = 100
"""Conditions around each other: what joins them is sorted for each, and sympy's recurse."""
_FUNCTIONS: Final[Mapping[str, Callable[[list[Form]], Form]]] = {
    "min": operations.minimum,
    "max": operations.maximum,
    "select": lambda arguments: operations.select(*arguments),
    "bitand": partial(operations.bitwise, AtomKind.BITAND),
    "bitor": partial(operations.bitwise, AtomKind.BITOR),
    "bitxor": partial(operations.bitwise, AtomKind.BITXOR),
}
_ARGUMENTS_OF_SELECT: Final = 3

RESERVED: Final = frozenset({*_DIVIDING_WORDS, *_FUNCTIONS, "and", "or", "not", "in"})
"""Words that cannot name a variable."""

_AND, _NOT, _RELATION, _SHIFT = range(2, 6)
_LEVELS: Final[Mapping[str, int]] = {
    "or": 1,
    "and": _AND,
    "not": _NOT,
    **dict.fromkeys(operations.RELATIONS, _RELATION),
    **dict.fromkeys(_SHIFTS, _SHIFT),
}
"""Operators between sums; of a greater level is what binds its operands closer."""
_JOINTS: Final = frozenset({*operations.RELATIONS, "and", "or"})


class _Waiting(NamedTuple):
    """An operator between sums with its left operand, which waits for the right one."""

    word: str
    level: int
    left: Form
    position: int


class _Group:
    """The text since a parenthesis was opened, or since the last comma in it.

    It is the sum of ``terms`` and of ``sign * scale * left``, the last term; what comes next
    multiplies that, or divides ``scale * left`` by ``operation``. So a sum becomes a form only when
    it ends.
    """

    def __init__(self, opening: int, arguments: tuple[Form, ...] = (), depth: int = 0) -> None:
        self.opening = opening
        """The position of the parenthesis."""
        self.arguments = arguments
        """The arguments before the last comma."""
        self.depth = depth
        """Of conditions inside of it."""
        self.terms: list[tuple[int, Form | _Group | None]] = []
        self.sign = self.scale = 1
        self.left: Form | _Group | None = None
        """``None`` stands for 1, a group for a sum in parentheses: sums of sums become one form."""
        self.operation: Operation | None = None
        self.waiting: tuple[_Waiting, ...] = ()
        """The operators before the sum."""

    @property
    def begins_condition(self) -> bool:
        """Whether ``not`` may stand before the next operand: it begins the side of a condition."""
        is_begun = self.terms or self.left is not None or self.scale != 1 or self.operation
        return not is_begun and not (self.waiting and self.waiting[-1].level > _NOT)

    def wait(self, word: str, left: Form, position: int) -> None:
        """Begin the sum that is the right operand of an operator."""
        self.waiting += (_Waiting(word, _LEVELS[word], left, position),)
        self.terms, self.left, self.sign, self.scale = [], None, 1, 1

    def negate(self) -> None:
        """A sign before an operand."""
        if self.operation is None:
            self.scale = -self.scale
        else:
            self.operation = partial(_by_negative, self.operation)

    def operand(self, value: Form | _Group | int) -> None:
        """Add a number, a name, or a group in parentheses."""
        if self.operation is not None:
            numerator = _scaled(self.left, self.scale)
            divisor = forms.constant(value) if isinstance(value, int) else _scaled(value)
            self.left, self.scale = self.operation(numerator, divisor), 1
            self.operation = None
        elif isinstance(value, int):
            self.scale *= value
        elif self.left is not None:
            factors = _scaled(self.left, self.scale), _scaled(value)
            self.left, self.scale = operations.product(factors), 1
        elif isinstance(value, _Group) and not value.terms and value.left is not None:
            # One term in parentheses is that term: so parentheses around it do not nest groups.
            self.left = value.left
            self.scale *= value.sign * value.scale
        else:
            self.left = value

    def add(self, sign: int) -> None:
        """The last term is finished; another one with this sign follows."""
        self.terms.append((self.sign * self.scale, self.left))
        self.left, self.scale, self.sign = None, 1, sign

    def total(self) -> Form:
        """The whole sum."""
        if not self.terms:
            return _scaled(self.left, self.sign * self.scale)
        constant = 0
        terms: dict[Atom, int] = {}
        parts = [*self.terms, (self.sign * self.scale, self.left)]
        for factor, part in parts:
            if part is None:
                constant += factor
            elif isinstance(part, _Group):
                last = (part.sign * part.scale, part.left)
                parts += [(factor * inner, each) for inner, each in (*part.terms, last)]
            elif factor:
                constant += factor * part.constant
                forms.accumulate(terms, part, factor)
        return Form(constant, forms.in_order(terms))


def _scaled(value: Form | _Group | None, factor: int = 1) -> Form:
    if value is None:
        return forms.constant(factor)
    form = value.total() if isinstance(value, _Group) else value
    return form if factor == 1 else form.times(factor)


def _by_negative(operation: Operation, numerator: Form, divisor: Form) -> Form:
    return operation(numerator, -divisor)


@dataclass
class _ExpressionParser:
    """Operator precedence with an explicit stack of open groups."""

    _lexer: ExpressionLexer
    _names: Mapping[str, Form] | None
    _divisions: Mapping[str, Operation]
    _takes_conditions: bool

    def __post_init__(self) -> None:
        self._leaves: dict[str, Form | int] = dict(self._names or ())
        """Values of the names and numbers read so far."""
        self._groups = [_Group(self._lexer.position)]

    def parse(self) -> Form:
        """Read as far as an expression goes."""
        words, position = self._lexer.tokens, self._lexer.position
        groups, leaf_of, divisions = self._groups, self._leaves.get, self._divisions
        group = groups[-1]
        while True:
            while (word := words[position]) == "(":
                group = _Group(position)
                groups.append(group)
                position += 1
            leaf = leaf_of(word) or self._leaf(word, position)
            position += 1
            if leaf is None:
                continue
            group.operand(leaf)
            while (word := words[position]) == ")" and len(groups) > 1:
                group = self._close_group(position)
                position += 1
            if word in _SIGNS:
                group.add(_SIGNS[word])
            elif word in divisions:
                group.operation = divisions[word]
            elif word != "*":
                if not self._begins_sum(group, word, position):
                    return self._ended(group, position)
                group = groups[-1]
            position += 1

    def _begins_sum(self, group: _Group, word: str, position: int) -> bool:
        """Begin the sum after a word, if another one follows."""
        self._lexer.jump(position)
        is_inside = len(self._groups) > 1 or self._takes_conditions
        if word in _SHIFTS or (word in _JOINTS and is_inside):
            left = self._ended(group, position, min(_LEVELS[word], _RELATION))
            if _LEVELS[word] <= _AND:
                self._check_condition(left, position)
            group.wait(word, left, position)
        elif len(self._groups) == 1:
            return False
        else:
            self._next_argument(word)
        return True

    def _leaf(self, word: str, position: int) -> Form | int | None:
        """The value of a number or name; ``None`` for a sign or the name of a function."""
        leaf = None
        if word.isdigit():
            leaf = self._leaves[word] = self._lexer.value_at(position)
        elif word.isidentifier() and word not in RESERVED:
            if self._names is not None:
                raise self._unknown_name(position, self._names)
            leaf = self._leaves[word] = forms.variable(word)
        elif word == "-":
            self._groups[-1].negate()
        elif word == "not":
            self._negate(position)
        elif coefficient := _COEFFICIENT.fullmatch(word):
            leaf = self._leaves[word] = self._product(coefficient, position)
        else:
            self._expect_function(word, position)
        return leaf

    def _product(self, coefficient: re.Match[str], position: int) -> Form:
        """The value of ``8d0``; a text without declared names might as well mean ``0x10``."""
        digits, name = coefficient.groups()
        if self._names is None or name in RESERVED:
            start = self._lexer.span_at(position).start + len(digits)
            span = Span(self._lexer.source, start, start + 1, self._lexer.file)
            raise self._lexer.error(f"unexpected character {name[0]!r}", span)
        if name not in self._names:
            raise self._unknown_name(position, self._names, name)
        return self._names[name].times(self._lexer.value_at(position, digits))

    def _expect_function(self, word: str, position: int) -> None:
        lexer = self._lexer
        lexer.jump(position)
        if word not in _FUNCTIONS:
            raise lexer.expected("an expression")
        lexer.advance()
        if lexer.text != "(":
            raise lexer.expected(f"'(' after {word!r}")

    def _close_group(self, position: int) -> _Group:
        """Hand the value in parentheses to the group around them."""
        group = self._groups.pop()
        around, name = self._groups[-1], self._lexer.tokens[group.opening - 1]
        if group.depth or group.waiting:
            around.depth = max(around.depth, self._depth(group))
        if name == "-" and self._lexer.tokens[position + 1] in _DIVIDING_WORDS:
            self._warn_of_minus(group, position)
        if name in _FUNCTIONS:
            self._check_arguments(group)
            arguments = [*group.arguments, self._ended(group, position)]
            around.operand(_FUNCTIONS[name](arguments))
        else:
            around.operand(self._ended(group, position) if group.waiting else group)
        return around

    def _depth(self, group: _Group) -> int:
        """Number of conditions joined inside each other in a group."""
        depth = group.depth + any(each.level <= _NOT for each in group.waiting)
        if depth > _MAX_CONDITIONS:
            message = f"conditions are nested more than {_MAX_CONDITIONS} deep"
            raise self._lexer.error(message, self._lexer.span_at(group.opening))
        return depth

    def _warn_of_minus(self, group: _Group, closing: int) -> None:
        """Warn that a sign, though not a difference, is taken before the division."""
        tokens = self._lexer.tokens
        before, word = tokens[group.opening - 2], tokens[closing + 1]
        if before != ")" and (before in RESERVED or not before.isalnum()):
            message = f"-(x) {word} y is read as (-(x)) {word} y, not as -((x) {word} y)"
            warnings.warn(message, TextWarning, stacklevel=2)

    def _ended(self, group: _Group, position: int, level: int = 0) -> Form:
        """The sum that ends at a position, with all operators before it of a greater level."""
        value, waiting = group.total(), group.waiting
        while waiting and waiting[-1].level > level:
            own = waiting[-1].level
            first = next(at for at, each in enumerate(waiting) if each.level >= own)
            if own <= _NOT:
                self._check_condition(value, position)
            value = self._joined(waiting[first:], value)
            waiting = waiting[:first]
        group.waiting = waiting
        return value

    def _joined(self, equal: Sequence[_Waiting], last: Form) -> Form:
        """The value of operators of one level and their operands."""
        operands, level = [*(each.left for each in equal), last], equal[0].level
        if level == _SHIFT:
            return self._shifted(equal[0], last)
        if level == _NOT:
            return operations.negation(last) if len(equal) % 2 else last
        if level == _RELATION:
            pairs = zip(equal, operands[1:], strict=True)
            compared = (operations.RELATIONS[each.word](each.left - right) for each, right in pairs)
            return operations.conjunction(compared)
        join = operations.conjunction if level == _AND else operations.disjunction
        return join(operands)

    def _check_condition(self, form: Form, position: int) -> None:
        """Check that what ``and``, ``or`` and ``not`` join is a condition; it ends here."""
        if not operations.is_condition(form):
            self._lexer.jump(position)
            raise self._lexer.expected("a comparison")

    def _shifted(self, sign: _Waiting, count: Form) -> Form:
        if not (count.is_constant and 0 <= count.constant <= _MAX_SHIFT):
            message = f"expected a constant from 0 to {_MAX_SHIFT} to shift by"
            raise self._lexer.error(message, self._lexer.span_at(sign.position + 1))
        value = _SHIFTS[sign.word](sign.left, count.constant)
        if max(map(int.bit_length, (value.constant, *value.terms.values()))) > _MAX_SHIFTED:
            message = f"expected numbers of at most {_MAX_SHIFTED} bits"
            raise self._lexer.error(message, self._lexer.span_at(sign.position))
        return value

    def _negate(self, position: int) -> None:
        """``not`` before a comparison."""
        group = self._groups[-1]
        self._lexer.jump(position)
        is_inside = len(self._groups) > 1 or self._takes_conditions
        if not (is_inside and group.begins_condition):
            raise self._lexer.expected("an expression")
        group.wait("not", forms.ZERO, position)

    def _check_arguments(self, group: _Group) -> None:
        """``select`` takes a condition and two values, functions of bits two or more."""
        name, count = self._name(group), len(group.arguments) + 1
        span = self._lexer.span_at(group.opening - 1)
        if name == "select" and count != _ARGUMENTS_OF_SELECT:
            message = f"select has {count} arguments; expected a condition and two values"
            raise self._lexer.error(message, span)
        if name == "select" and not operations.is_condition(group.arguments[0]):
            message = "select begins with a value; expected a condition such as x >= 5"
            raise self._lexer.error(message, span)
        if name.startswith("bit") and count == 1:
            raise self._lexer.error(f"{name} has 1 argument; expected 2 or more", span)

    def _name(self, group: _Group) -> str:
        """The word before a parenthesis, which may name a function."""
        return self._lexer.tokens[group.opening - 1]

    def _next_argument(self, word: str) -> None:
        """Begin another argument after the comma that must stand here."""
        group = self._groups[-1]
        if word != "," or self._name(group) not in _FUNCTIONS:
            raise self._unclosed(group)
        depth = self._depth(group)
        arguments = (*group.arguments, self._ended(group, self._lexer.position))
        self._groups[-1] = _Group(group.opening, arguments, depth)

    def _unclosed(self, group: _Group) -> TextError:
        is_call = self._name(group) in _FUNCTIONS
        what = "',' or ')'" if is_call else "')'"
        opening = self._lexer.span_at(group.opening - is_call)
        position = f"{opening.line}:{opening.column}"
        return self._lexer.expected(f"{what} for the parenthesis opened at {position}")

    def _unknown_name(self, position: int, names: Mapping[str, Form], name: str = "") -> TextError:
        message = f"{quoted(name or self._lexer.tokens[position])} is not a declared variable"
        hint = f"declared: {listed(names)}"
        return self._lexer.error(message, self._lexer.span_at(position), hint)


def read_expression(
    lexer: ExpressionLexer,
    names: Mapping[str, Form] | None = None,
    divisions: Mapping[str, Operation] = XLA_DIVISIONS,
    *,
    takes_conditions: bool = False,
) -> Form:
    """Read one expression from the current token on; stops at a token that cannot continue it.

    With ``names``, only these names may occur, and each stands for its form. ``divisions`` says
    what quotients and remainders mean. A comparison stands in parentheses, unless the whole
    expression may be one.
    """
    return _ExpressionParser(lexer, names, divisions, takes_conditions).parse()


def parse_form(text: str, names: Sequence[str] | None = None) -> Form:
    """The form of a text; with ``names``, only these variables may occur."""
    lexer = ExpressionLexer(text)
    known = None if names is None else {name: forms.variable(name) for name in names}
    form = read_expression(lexer, known, takes_conditions=True)
    lexer.finish()
    return form
