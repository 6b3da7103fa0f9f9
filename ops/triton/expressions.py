"""Expressions of a kernel, evaluated on formulas instead of numbers."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import sympy

from ops.triton.kernel_values import (
    INT32,
    IntegerBlock,
    Kept,
    ShapesDifferError,
    UnknownBlock,
    aligned,
    as_block,
    combined,
    is_integer,
    items_of,
    known,
    number_of,
    parts_of,
    unmarked,
    with_axes,
)
from ops.triton.known_numbers import of_number, of_numbers
from simplifier import (
    BitAnd,
    BitOr,
    BitXor,
    FloorDiv,
    IndexingError,
    Interval,
    Max,
    Mod,
    bounds_of,
    symbol,
)
from simplifier.expr.sympy_reading import is_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.triton.kernel_text import KernelText
    from ops.triton.kernel_values import Formula, Value

MAX_SHIFT: Final = 63
"""Bits by which an integer is moved: it has no more than 64."""


class ExpressionReader(ABC):
    """Evaluates expressions; whoever inherits calls functions, and keeps what they access.

    ``values`` are those of the variables of the function that is read.
    """

    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.values: dict[str, Value] = {}
        self.bounds: dict[str, Interval] = {}
        """Of the program ids, counters and arguments, by name."""
        self.arguments: frozenset[str] = frozenset()
        """The names of arguments without values: integers and pointers."""

    @abstractmethod
    def call(
        self, node: ast.Call, function: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> Value:
        """What a function gives."""

    @abstractmethod
    def program_id(self, number: int) -> sympy.Symbol:
        """The program id along an axis of the grid."""

    @abstractmethod
    def num_programs(self, number: int) -> Formula:
        """The size of the grid along an axis."""

    @abstractmethod
    def accessed(self, node: ast.Call, kind: str, address: Value, mask: Value) -> UnknownBlock:
        """What is in memory at some addresses, where a mask holds."""

    def formula(self, node: ast.AST, value: Value) -> Formula:
        """The formula of a scalar.

        Raises:
            TritonError: it is no integer, or known only while the kernel runs.
        """
        block = self.kept(as_block(value))
        if not isinstance(block, IntegerBlock) or block.shape or block.is_condition:
            self.text.refuse(node, "expected integers that are known before values are loaded")
        return block.formula

    def read(self, node: ast.expr) -> Value:
        """The value of an expression.

        Raises:
            TritonError: it cannot be read, or its shapes do not fit.
        """
        reader = self._readers.get(type(node))
        if reader is None:
            self.text.refuse(node, f"a kernel with {_name_of(node)} cannot be read")
        try:
            return number_of(reader(self, node))
        except (ShapesDifferError, ArithmeticError, TypeError, ValueError) as error:
            if isinstance(error, IndexingError):
                raise
            self.text.refuse(node, str(error))

    def kept(self, block: Value) -> Value:
        """A block whose values have to fit in their bits: its formula says so if that is open."""
        if not isinstance(block, IntegerBlock) or block.is_wide or block.is_condition:
            return block
        found = bounds_of(unmarked(block.formula), narrow_bounds(self.bounds))
        return block if INT32.contains(found) else replace(block, formula=Kept(block.formula))

    def _may_point(self, block: Value) -> bool:
        """Whether an argument or a mark is added in a block, which may be a pointer."""
        terms: tuple[Any, ...] = sympy.Add.make_args(getattr(block, "formula", sympy.Integer(0)))
        names = map(str, terms)
        return any(name in self.arguments or name.startswith("_before_") for name in names)

    def integer(self, node: ast.expr) -> int:
        """A number that is known, as for a size."""
        found = self.read(node)
        if not is_integer(found):
            self.text.refuse(node, "this is no number that is known; expected a constexpr")
        return found

    # Leaves.

    def _constant(self, node: ast.Constant) -> Value:
        return node.value

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.values:
            return self.values[node.id]
        if node.id in self.text.globals:
            return self.of_module(self.text.globals[node.id])
        if node.id in _BUILTINS or node.id in self.text.functions:
            return node.id
        return self.text.refuse(node, f"{node.id!r} has no value")

    def of_module(self, node: ast.expr) -> Value:
        """An expression of the module, which sees no variables of the function."""
        values, self.values = self.values, {}
        try:
            return self.read(node)
        finally:
            self.values = values

    def _tuple(self, node: ast.Tuple | ast.List) -> Value:
        return tuple(self.read(item) for item in node.elts)

    def _attribute(self, node: ast.Attribute) -> Value:
        path = self.path(node)
        if path is not None:
            return path
        found = self.read(node.value)
        if node.attr == "T" and not known(found):
            return with_axes(found, tuple(reversed(range(len(found.shape)))))
        if node.attr == "shape" and not known(found):
            return found.shape
        if node.attr in ("dtype", "type", "element_ty"):
            return f"the type of {ast.unparse(node.value)}"
        return self.text.refuse(node, f"a value has no attribute {node.attr!r} that can be read")

    def path(self, node: ast.expr) -> str | None:
        """The name of something of a module, such as ``tl.load``; ``None`` for a value's."""
        match node:
            case ast.Name(id=name):
                return None if name in self.values else name
            case ast.Attribute(value=value, attr=attribute):
                before = self.path(value)
                return before and f"{before}.{attribute}"
            case _:
                return None

    # Operators.

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.read(node.left), self.read(node.right)
        if known(left) and known(right):
            return of_numbers(node.op, left, right)
        apply = _OPERATORS.get(type(node.op))
        blocks = as_block(left), as_block(right)
        if isinstance(node.op, ast.BitAnd):
            implied = _implied_by_both(*blocks)
            if implied is not None:
                return implied
        if apply is None:
            return self.unknown("a number that is no integer", *blocks)
        is_sum = not isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.RShift))
        if not is_sum or any(
            getattr(each, "is_wide", True) or self._may_point(each) for each in blocks
        ):
            blocks = self.kept(blocks[0]), self.kept(blocks[1])
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            divide = self._quotient if isinstance(node.op, ast.FloorDiv) else self._remainder
            return combined(divide, *blocks)
        conditions = [isinstance(each, IntegerBlock) and each.is_condition for each in blocks]
        if all(conditions):
            return combined(apply, *blocks)
        return combined(_OF_BITS.get(type(node.op), apply), *map(_as_number, blocks))

    def quotient(self, left: Value, right: Value) -> Value:
        """``//``, which rounds toward zero as in C; divisors are positive."""
        return combined(self._quotient, self.kept(as_block(left)), self.kept(as_block(right)))

    def _quotient(self, numerator: Formula, divisor: Formula) -> Formula:
        if divisor.is_Integer and divisor < 1:
            raise ArithmeticError(f"the divisor is {divisor}; expected at least 1")
        if is_nonnegative(numerator, self.bounds):
            return FloorDiv(numerator, divisor)
        return Max(FloorDiv(numerator, divisor), 0) - Max(FloorDiv(-numerator, divisor), 0)

    def _remainder(self, numerator: Formula, divisor: Formula) -> Formula:
        quotient = self._quotient(numerator, divisor)
        if is_nonnegative(numerator, self.bounds):
            return Mod(numerator, divisor)
        return numerator - divisor * quotient

    def _unary(self, node: ast.UnaryOp) -> Value:
        operand = self.read(node.operand)
        if known(operand):
            return of_number(node.op, operand)
        if isinstance(node.op, (ast.Not, ast.Invert)):
            block = as_block(operand)
            if isinstance(block, IntegerBlock) and block.is_condition:
                return IntegerBlock(block.shape, sympy.Not(block.formula))
            return self.unknown("bits of integers", block)
        if isinstance(node.op, ast.UAdd):
            return operand
        return combined(operator.neg, as_block(operand))

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.read(each) for each in (node.left, *node.comparators)]
        found: Value = True
        for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
            found = self._both(found, self._compared(op, left, right))
        return found

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if left is not None and right is not None:
                raise TypeError("only None can be read beside 'is'")
            return (left is right) is isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            items = items_of(right)
            if items is None or not all(map(known, (left, *items))):
                raise TypeError("'in' takes a value and a tuple of values that are known")
            return (left in items) is isinstance(op, ast.In)
        compare, compare_blocks = _COMPARISONS[type(op)]
        if known(left) and known(right):
            return compare(left, right)
        blocks = (self.kept(_as_number(as_block(each))) for each in (left, right))
        return number_of(combined(compare_blocks, *blocks))

    def _boolean(self, node: ast.BoolOp) -> Value:
        found = self.read(node.values[0])
        for each in node.values[1:]:
            is_or = isinstance(node.op, ast.Or)
            if known(found):
                found = found if bool(found) is is_or else self.read(each)
            elif is_or:
                found = combined(_either, as_block(found), as_block(self.read(each)))
            else:
                found = self._both(found, self.read(each))
        return found

    def _both(self, left: Value, right: Value) -> Value:
        if known(left):
            return right if left else left
        blocks = as_block(left), as_block(right)
        return _implied_by_both(*blocks) or combined(_all, *blocks)

    def _choice(self, node: ast.IfExp) -> Value:
        test = self.read(node.test)
        if known(test):
            return self.read(node.body if test else node.orelse)
        return self.chosen(test, self.read(node.body), self.read(node.orelse))

    def chosen(self, test: Value, first: Value, second: Value) -> Value:
        """``tl.where``, of numbers and of conditions."""
        blocks = [as_block(each) for each in (test, first, second)]
        return combined(_where, *blocks)

    def unknown(self, reason: str, *blocks: Value) -> UnknownBlock:
        """What is known only while the kernel runs, of the shape of some blocks together."""
        found = combined(lambda *_: sympy.Integer(0), *blocks)
        return UnknownBlock(found.shape, getattr(found, "reason", reason))

    # Indices and calls.

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.read(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if known(value):
            at = self.integer(node.slice)
            given = items_of(value)
            if given is None or not -len(given) <= at < len(given):
                self.text.refuse(node, "expected a tuple, and the place of one of its items")
            return given[at]
        block = as_block(value)
        return with_axes(block, self._axes(node, items, len(block.shape)))

    def _axes(self, node: ast.Subscript, items: Sequence[ast.expr], rank: int) -> list[int | None]:
        """Which dimension each item of an index stands for; ``None`` is a new one."""
        found: list[int | None] = []
        number = 0
        for item in items:
            match item:
                case ast.Constant(value=None):
                    found.append(None)
                case ast.Slice(lower=None, upper=None, step=None):
                    found.append(number)
                    number += 1
                case _:
                    self.text.refuse(item, "expected ':' or None, as in [:, None]")
        if number > rank:
            self.text.refuse(node, f"the block has {rank} dimensions, the index {number}")
        return found + list(range(number, rank))

    def _call(self, node: ast.Call) -> Value:
        arguments: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                items = items_of(self.read(each.value))
                if items is None:
                    self.text.refuse(each, "expected a tuple")
                arguments += items
            else:
                arguments.append(self.read(each))
        for each in node.keywords:
            if each.arg is None:
                self.text.refuse(each.value, "arguments behind ** cannot be read")
        named = {each.arg: self.read(each.value) for each in node.keywords if each.arg}
        path = self.path(node.func)
        if path is None and isinstance(node.func, ast.Attribute):  # a method
            arguments.insert(0, self.read(node.func.value))
            path = f".{node.func.attr}"
        return self.call(node, path or "", arguments, named)

    def _text(self, _node: ast.JoinedStr) -> Value:
        return ""

    _readers: ClassVar[Mapping[type, Callable[..., Value]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Tuple: _tuple,
        ast.List: _tuple,
        ast.Attribute: _attribute,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BoolOp: _boolean,
        ast.IfExp: _choice,
        ast.Subscript: _subscript,
        ast.Call: _call,
        ast.JoinedStr: _text,
    }
    """How each kind of expression is read."""


def is_nonnegative(formula: Formula, bounds: Mapping[str, Interval]) -> bool:
    """Whether a formula is known to be at least 0, if divisors are positive."""
    formula = unmarked(formula)
    known_parts = {
        part: symbol(f"part{number}")
        for number, part in enumerate(sorted(formula.atoms(Mod, FloorDiv), key=str))
        if not part.args[1].is_Integer
        and (isinstance(part, Mod) or is_nonnegative(part.args[0], bounds))
    }
    parts = {each.name: Interval(0, None) for each in known_parts.values()}
    least = bounds_of(formula.xreplace(known_parts), {**bounds, **parts}).lower
    return least is not None and least >= 0


def narrow_bounds(bounds: Mapping[str, Interval]) -> dict[str, Interval]:
    """The bounds of variables that are kept in 32 bits."""
    return {name: each.intersect(INT32) for name, each in bounds.items()}


def _as_number(block: Value) -> Value:
    """Conditions as 0 and 1."""
    if isinstance(block, IntegerBlock) and block.is_condition:
        return IntegerBlock(block.shape, sympy.Piecewise((1, block.formula), (0, True)))
    return block


def _implied_by_both(left: Value, right: Value) -> UnknownBlock | None:
    """A condition of which only a part is known, or ``None`` if all of it is."""
    if not (isinstance(left, UnknownBlock) or isinstance(right, UnknownBlock)):
        return None
    both = combined(lambda *_: sympy.true, left, right)
    rank = len(both.shape)
    parts = [_implied(each, rank) for each in (left, right)]
    return UnknownBlock(both.shape, "a condition on values", sympy.And(*parts))


def _implied(block: Value, rank: int) -> Formula:
    from_block = block.implied if isinstance(block, UnknownBlock) else block.formula
    if not is_relation(from_block):
        return sympy.true
    return aligned(IntegerBlock(block.shape, from_block), rank)


def _where(test: Formula, first: Formula, second: Formula) -> Formula:
    if all(map(is_relation, (first, second))):
        return sympy.Or(sympy.And(test, first), sympy.And(sympy.Not(test), second))
    if not any(map(is_relation, (first, second))):
        change = first - second  # so that what both share is written once
        if parts_of(change) < parts_of(first):
            return second + sympy.Piecewise((change, test), (0, True))
    return sympy.Piecewise((first, test), (second, True))


def _all(*conditions: Formula) -> Formula:
    return sympy.And(*map(condition_of, conditions))


def _either(*conditions: Formula) -> Formula:
    return sympy.Or(*map(condition_of, conditions))


def condition_of(formula: Formula) -> Formula:
    """A condition; a number is true unless it is 0."""
    return formula if is_relation(formula) else sympy.Ne(formula, 0)


def _shifted_left(value: Formula, by: Formula) -> Formula:
    return value * _power_of_two(by)


def _shifted_right(value: Formula, by: Formula) -> Formula:
    return FloorDiv(value, _power_of_two(by))


def _power_of_two(exponent: Formula) -> Formula:
    if not exponent.is_Integer or not 0 <= exponent <= MAX_SHIFT:
        raise ArithmeticError(
            f"bits are moved by {exponent}; expected a number from 0 to {MAX_SHIFT}"
        )
    return 2**exponent


def _name_of(node: ast.AST) -> str:
    return f"a {type(node).__name__}"


_OPERATORS: Final[Mapping[type, Callable[..., Formula]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.BitAnd: _all,
    ast.BitOr: _either,
    ast.BitXor: sympy.Xor,
    ast.LShift: _shifted_left,
    ast.RShift: _shifted_right,
}

_OF_BITS: Final[Mapping[type, Callable[..., Formula]]] = {
    ast.BitAnd: BitAnd,
    ast.BitOr: BitOr,
    ast.BitXor: BitXor,
}
"""The operators that work on bits, unless both sides are conditions."""

_COMPARISONS: Final[Mapping[type, tuple[Callable[..., Value], Callable[..., Formula]]]] = {
    ast.Eq: (operator.eq, sympy.Eq),
    ast.NotEq: (operator.ne, sympy.Ne),
    ast.Lt: (operator.lt, operator.lt),
    ast.LtE: (operator.le, operator.le),
    ast.Gt: (operator.gt, operator.gt),
    ast.GtE: (operator.ge, operator.ge),
}
"""Comparisons of numbers that are known, and of formulas."""

_BUILTINS: Final = ("min", "max", "abs", "range", "int", "float", "bool", "len", "print")
"""Functions of Python that kernels call, which no module has to have."""
