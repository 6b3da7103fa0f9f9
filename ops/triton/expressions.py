"""Expressions of a kernel, evaluated on formulas instead of numbers."""

# Methods of ast.NodeVisitor are called as the nodes are.
# ruff: noqa: N815

from __future__ import annotations

import ast
import inspect
import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import dedent
from typing import Any, Final, NoReturn

import sympy

from ops.index_maps import quotient_toward_zero
from ops.triton import symbolic
from ops.triton.symbolic import (
    Formula,
    IntegerBlock,
    UnknownBlock,
    Value,
    as_block,
    combined,
    known,
)
from simplifier import Mod, errors, symbol
from simplifier.errors import ArgumentError, Span, TextError, check_type, quoted
from simplifier.forms import Interval, is_relation

# The text of kernels: functions by name, and errors that point at a place in it.


class TritonError(TextError):
    """A kernel that cannot be read: its place, its text, and the expected one."""


class KernelText:
    """The text of a module with kernels. It is parsed, and never run.

    Raises:
        TritonError: the text is not Python.
    """

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        try:
            module = ast.parse(source)
        except SyntaxError as error:
            place = _offset(source, error.lineno or 1, 0) + max(0, (error.offset or 1) - 1)
            span = Span(source, place, place + 1, file)
            raise TritonError(f"this is not Python: {error.msg}", span) from None
        except (ValueError, RecursionError, MemoryError) as error:  # a null byte, or deep nesting
            reason = str(error) or "it is nested too deeply"
            raise TritonError(f"this is not Python: {reason}", Span(source, 0, 1, file)) from None
        functions = (node for node in module.body if isinstance(node, ast.FunctionDef))
        self.functions: Mapping[str, ast.FunctionDef] = {each.name: each for each in functions}
        self.globals: Mapping[str, ast.expr] = dict(_constants(module))

    @classmethod
    def of(cls, kernel: object) -> tuple[KernelText, str]:
        """The text of a kernel, and the name of the function if the kernel is one.

        A function of a module comes with the text of the module, and so with the functions that it
        calls.

        Raises:
            ArgumentError: there is no text.
        """
        if isinstance(kernel, str):
            return cls(kernel), ""
        function: Any = getattr(kernel, "fn", kernel)
        name = getattr(function, "__name__", "")
        try:
            module, file = inspect.getmodule(function), inspect.getsourcefile(function) or ""
            whole = None if module is None else cls(inspect.getsource(module), file)
            if whole is not None and name in whole.functions:
                return whole, name
            return cls(dedent(inspect.getsource(function))), name
        except (OSError, TypeError):
            message = f"read_kernel: the kernel is {quoted(kernel)}"
            expected = "expected its text, or a function that has one"
            raise ArgumentError(f"{message}; {expected}") from None

    def kernel(self, name: str) -> ast.FunctionDef:
        """The function of this name; the last one, if the name is empty.

        Raises:
            ArgumentError: there is none.
        """
        check_type(name, str, "read_kernel: name", "the name of a function")
        found = self.functions.get(name or "".join([*self.functions][-1:]))
        if found is None:
            message = f"read_kernel: the text has no function {quoted(name)}"
            raise ArgumentError(f"{message}; expected one of: {errors.listed([*self.functions])}")
        return found

    def span(self, node: ast.AST) -> Span:
        """Place of a part of the text; of several lines, the first."""
        first: int = getattr(node, "lineno", 1)
        begin = _offset(self.source, first, getattr(node, "col_offset", 0))
        last: int = getattr(node, "end_lineno", None) or first
        end = _offset(self.source, last, getattr(node, "end_col_offset", None) or 0)
        return Span(self.source, begin, max(end, begin + 1), self.file)

    def refuse(self, node: ast.AST, message: str, hint: str = "") -> NoReturn:
        """Raise an error that points at a part of the text."""
        raise TritonError(message, self.span(node), hint)


def _offset(source: str, line: int, column: int) -> int:
    """The character at a line and a column, which Python counts in bytes of UTF-8."""
    *before, last = source.split("\n")[:line]
    return len("\n".join([*before, last.encode()[:column].decode(errors="ignore")]))


def _constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The variables of the module that are assigned once each, with their expressions."""
    outside = [node for node in module.body if not isinstance(node, _FUNCTIONS)]
    assigned = Counter(names_assigned(outside))
    for node in outside:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if assigned[name] == 1:
                yield name, value
            case _:
                pass


def parameters_of(function: ast.FunctionDef) -> list[ast.arg]:
    """All parameters of a function."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def defaults_of(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The defaults of the parameters that have some."""
    given = [*function.args.defaults, *function.args.kw_defaults]
    last = parameters_of(function)[-len(given) :] if given else []
    pairs = zip(last, given, strict=True)
    return {each.arg: value for each, value in pairs if value is not None}


def names_assigned(body: Iterable[ast.stmt]) -> list[str]:
    """The variables that statements assign, in order, as often as they do."""
    nodes = (node for statement in body for node in ast.walk(statement))
    names = (node for node in nodes if isinstance(node, ast.Name))
    return [each.id for each in names if isinstance(each.ctx, ast.Store)]


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Nodes with variables of their own."""


# Evaluation.


class ExpressionReader(ast.NodeVisitor, ABC):
    """Evaluator of expressions; a subclass calls functions, and keeps their accesses.

    ``values`` are those of the variables of the function that is read.
    """

    def __init__(self, text: KernelText, grid: Sequence[int] | None) -> None:
        self.text = text
        self.grid = grid
        self.axes = len(grid or ())
        """How many axes of the grid there are, as far as the kernel asks for them."""
        self.values: dict[str, Value] = {}
        self.bounds: dict[str, Interval] = {}
        """Of the program ids, counters and arguments, by name."""
        self.arguments: frozenset[str] = frozenset()
        """The names of arguments without values: integers and pointers."""
        self.element_types: Mapping[str, str] = {}
        """Of pointers, such as ``i32``, as far as they are told."""

    @abstractmethod
    def call(
        self, node: ast.Call, function: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> Value:
        """The value of a function call."""

    @abstractmethod
    def accessed(
        self,
        node: ast.Call,
        kind: str,
        address: Value,
        mask: Value,
        of: symbolic.TensorPointer | None = None,
    ) -> Value:
        """The block in memory at some addresses where a mask holds, or of a descriptor."""

    @abstractmethod
    def passed(self, node: ast.Call, function: str, value: Value) -> None:
        """A value for a function that nobody knows, which may be a pointer."""

    def program_id(self, number: int) -> sympy.Symbol:
        """The program id along an axis of the grid, and that there is such an axis."""
        name = f"pid{number}"
        self.axes = max(self.axes, number + 1)
        size = None if self.grid is None or number >= len(self.grid) else self.grid[number] - 1
        self.bounds[name] = Interval(0, size)
        return symbol(name)

    def num_programs(self, number: int) -> Formula:
        """The size of the grid along an axis: a number, or an argument of a name of its own."""
        if self.grid is not None and number < len(self.grid):
            return sympy.Integer(self.grid[number])
        name = f"num_programs{number}"
        self.bounds[name] = Interval(1, None)
        return symbol(name)

    def formula(self, node: ast.AST, value: Value) -> Formula:
        """The formula of a scalar.

        Raises:
            TritonError: it is no integer, or unknown.
        """
        block = self.kept(as_block(value))
        if isinstance(block, UnknownBlock):
            self.text.refuse(node, f"expected integers that can be told; one is {block}")
        if block.shape or block.is_condition:
            self.text.refuse(node, "expected integers; one is a block or a condition")
        return block.formula

    def read(self, node: ast.expr) -> Value:
        """The value of an expression.

        Raises:
            TritonError: it cannot be read, or its shapes do not fit.
        """
        try:
            found = symbolic.number_of(self.visit(node))
        except (symbolic.ShapesDifferError, ArithmeticError, TypeError, ValueError) as error:
            if isinstance(error, errors.IndexingError):
                raise
            self.text.refuse(node, str(error))
        is_new = isinstance(found, UnknownBlock) and not found.line
        return replace(found, line=node.lineno) if is_new else found

    def generic_visit(self, node: ast.AST) -> NoReturn:
        """Refuse what no method reads."""
        kind = type(node).__name__
        what = f"the statement {kind}" if isinstance(node, ast.stmt) else f"a {kind}"
        self.text.refuse(node, f"a kernel with {what} cannot be read")

    def kept(self, block: Value) -> Value:
        """A block whose values have to fit in their bits: its formula says so if that is open.

        What does not fit wraps, if all variables have bounds. Otherwise the formula stays short,
        and is right only for values that fit; numbers of 64 bits are taken to fit.
        """
        if not isinstance(block, IntegerBlock) or block.is_condition:
            return block
        limits = symbolic.limits_of(block.element_type) or symbolic.INT32
        if limits.contains(self.bounds_of(block)):
            return block
        wraps = self._bounds_of(block, self.bounds).size is not None
        if not wraps and symbolic.bits_of(block.element_type) > symbolic.MAX_NARROW_BITS:
            return block
        kept = symbolic.Kept(block.formula, limits.lower, limits.upper, int(wraps))
        return replace(block, formula=kept)

    def alike(self, *blocks: Value, fit: bool = True) -> list[Value]:
        """Operands in the type that they have together, and whose values have to fit, or may not.

        Those of fewer bits have to fit in any case.
        """
        numbers = [each for each in blocks if isinstance(each, IntegerBlock)]
        common = symbolic.type_of(*numbers)
        found = [self.of_type(each, common) for each in blocks]
        return [self.kept(each) for each in found] if fit else found

    def of_type(self, block: Value, element_type: str) -> Value:
        """A block as one of another type, whose bits hold its low ones."""
        if not isinstance(block, IntegerBlock) or block.is_condition:
            return block
        is_wider = symbolic.bits_of(element_type) > symbolic.bits_of(block.element_type)
        block = self.kept(block) if is_wider else block  # else the same bits are left
        return replace(block, element_type=element_type)

    def bounds_of(self, block: Value) -> Interval:
        """The bounds of a block whose variables have 32 bits."""
        return self._bounds_of(block, symbolic.narrow_bounds(self.bounds))

    def _bounds_of(self, block: Value, bounds: Mapping[str, Interval]) -> Interval:
        if not isinstance(block, IntegerBlock):
            return symbolic.ANY
        places = {
            symbolic.axis(number).name: Interval(0, size - 1)
            for number, size in enumerate(block.shape)
        }
        return symbolic.bounds_with_loads(symbolic.unmarked(block.formula), {**bounds, **places})

    def may_point(self, block: Value) -> bool:
        """Whether an argument or a mark is added in a block, which may be a pointer."""
        formula = symbolic.unmarked(getattr(block, "formula", sympy.Integer(0)))
        names = map(str, sympy.Add.make_args(formula))
        return any(name in self.arguments or name.startswith("_before_") for name in names)

    # Leaves.

    def visit_Constant(self, node: ast.Constant) -> Value:
        """A number, text or ``None``."""
        return node.value

    def visit_Name(self, node: ast.Name) -> Value:
        """A variable of the function or of the module, or the name of a function."""
        if node.id in self.values:
            return self.values[node.id]
        if node.id in self.text.globals:
            return self.of_module(self.text.globals[node.id])
        if node.id in _BUILTINS or node.id in self.text.functions:
            return node.id
        return UnknownBlock(None, f"{node.id!r}, which has no value")

    def of_module(self, node: ast.expr) -> Value:
        """An expression of the module, which sees no variables of the function."""
        values, self.values = self.values, {}
        try:
            return self.read(node)
        finally:
            self.values = values

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> Value:
        """A tuple of values."""
        return tuple(self.read(item) for item in node.elts)

    visit_List = visit_Tuple

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        """A name of a module, or what is known of a value's type."""
        path = self.path(node)
        if path is not None:
            return path
        found = self.read(node.value)
        if node.attr in ("dtype", "type", "element_ty"):
            return f"the type of {ast.unparse(node.value)}"
        if node.attr == "value" and known(found):
            return found
        if node.attr == "block_shape" and isinstance(found, symbolic.TensorPointer):
            return found.block
        if node.attr in ("shape", "T") and getattr(found, "shape", None) is not None:
            axes = range(len(found.shape))
            return found.shape if node.attr == "shape" else symbolic.with_axes(found, axes[::-1])
        return UnknownBlock(None, f"the attribute {node.attr} of {ast.unparse(node.value)}")

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

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        """An operator on two values."""
        left, right = self.read(node.left), self.read(node.right)
        if known(left) and known(right):
            return symbolic.of_numbers(node.op, left, right)
        known_operator = symbolic.OPERATORS.get(type(node.op))
        apply = known_operator and known_operator.of_formulas
        blocks = as_block(left), as_block(right)
        if isinstance(node.op, ast.BitAnd):
            implied = symbolic.implied_by_both(*blocks)
            if implied is not None:
                return implied
        if known_operator is None or apply is None:
            return self.unknown("a number that is no integer", *blocks)
        is_sum = not isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.RShift))
        if is_sum and any(map(self.may_point, blocks)):  # pointers do not change an offset's type
            blocks = self.kept(blocks[0]), self.kept(blocks[1])
        else:
            blocks = self.alike(*blocks, fit=not is_sum)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            divide = self._quotient if isinstance(node.op, ast.FloorDiv) else self._remainder
            return combined(divide, *blocks)
        if isinstance(node.op, (ast.LShift, ast.RShift)):
            blocks = blocks[0], self._power_of_two(blocks[1])
        conditions = [isinstance(each, IntegerBlock) and each.is_condition for each in blocks]
        if all(conditions):
            return combined(apply, *blocks)
        return combined(known_operator.of_bits or apply, *map(symbolic.as_number, blocks))

    def quotient(self, left: Value, right: Value) -> Value:
        """``//``, which rounds toward zero as in C; divisors are positive."""
        return combined(self._quotient, *self.alike(left, right))

    def _quotient(self, numerator: Formula, divisor: Formula) -> Formula:
        if divisor.is_Integer and divisor < 1:
            raise ArithmeticError(f"the divisor is {divisor}; expected at least 1")
        is_nonnegative = symbolic.is_nonnegative(numerator, self.bounds)
        return quotient_toward_zero(numerator, divisor, is_nonnegative=is_nonnegative)

    def _remainder(self, numerator: Formula, divisor: Formula) -> Formula:
        quotient = self._quotient(numerator, divisor)
        if symbolic.is_nonnegative(numerator, self.bounds):
            return Mod(numerator, divisor)
        return numerator - divisor * quotient

    def _power_of_two(self, exponent: IntegerBlock | UnknownBlock) -> IntegerBlock | UnknownBlock:
        bounds = self.bounds_of(exponent)
        is_open = not symbolic.SHIFTS.contains(bounds) and not bounds.is_point
        if is_open and isinstance(exponent, IntegerBlock):
            exponent = UnknownBlock(exponent.shape, "bits moved by a number without bounds")
        return combined(partial(symbolic.power_of_two, bounds=bounds), exponent)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        """An operator on one value."""
        operand = self.read(node.operand)
        if known(operand):
            return symbolic.of_number(node.op, operand)
        if isinstance(node.op, ast.Not):
            return combined(_is_false, as_block(operand))
        if isinstance(node.op, ast.Invert):
            return combined(_complement, as_block(operand))
        if isinstance(node.op, ast.UAdd):
            return operand
        return combined(operator.neg, as_block(operand))

    def visit_Compare(self, node: ast.Compare) -> Value:
        """A chain of comparisons."""
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
            items = symbolic.items_of(right)
            if items is None or not all(map(known, (left, *items))):
                raise TypeError("'in' takes a value and a tuple of values that are known")
            return (left in items) is isinstance(op, ast.In)
        compare, compare_blocks = symbolic.COMPARISONS[type(op)]
        if known(left) and known(right):
            return compare(left, right)
        blocks = self.alike(*(symbolic.as_number(as_block(each)) for each in (left, right)))
        return symbolic.number_of(combined(compare_blocks, *blocks))

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``, of which a value that is known may decide."""
        found = self.read(node.values[0])
        for each in node.values[1:]:
            is_or = isinstance(node.op, ast.Or)
            if known(found):
                found = found if bool(found) is is_or else self.read(each)
            elif is_or:
                found = combined(symbolic.any_of, as_block(found), as_block(self.read(each)))
            else:
                found = self._both(found, self.read(each))
        return found

    def _both(self, left: Value, right: Value) -> Value:
        if known(left):
            return right if left else left
        blocks = as_block(left), as_block(right)
        return symbolic.implied_by_both(*blocks) or combined(symbolic.all_of, *blocks)

    def chosen(self, test: Value, first: Value, second: Value) -> Value:
        """``tl.where``, of numbers and of conditions."""
        chosen = self.alike(as_block(first), as_block(second), fit=False)
        return combined(symbolic.where, as_block(test), *chosen)

    def unknown(self, reason: str, *blocks: Value) -> UnknownBlock:
        """A value known only while the kernel runs, of the shape of some blocks together."""
        found = combined(lambda *_: sympy.Integer(0), *blocks)
        return found if isinstance(found, UnknownBlock) else UnknownBlock(found.shape, reason)

    # Indices and calls.

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        """An item of a tuple, or a block with other dimensions."""
        value = self.read(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if known(value):
            at = self.read(node.slice)
            if not symbolic.is_integer(at):
                expected = "this is no number that is known; expected a constexpr"
                self.text.refuse(node.slice, expected)
            given = symbolic.items_of(value)
            if given is None or not -len(given) <= at < len(given):
                self.text.refuse(node, "expected a tuple, and the place of one of its items")
            return given[at]
        block = as_block(value)
        if block.shape is None:
            return block
        return symbolic.with_axes(block, self._axes(node, items, len(block.shape)))

    def _axes(self, node: ast.Subscript, items: Sequence[ast.expr], rank: int) -> list[int | None]:
        """The dimension of each item of an index; ``None`` is a new one."""
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

    def visit_Call(self, node: ast.Call) -> Value:
        """The value of a function or of a method."""
        arguments: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                items = symbolic.items_of(self.read(each.value))
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

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Value:  # noqa: ARG002 - any will do
        """A text that nobody reads."""
        return ""


def _is_false(value: Formula) -> Formula:
    return sympy.Not(symbolic.condition_of(value))


def _complement(value: Formula) -> Formula:
    return _is_false(value) if is_relation(value) else -value - 1


_BUILTINS: Final = ("min", "max", "abs", "range", "int", "float", "bool", "len", "print")
"""Functions of Python that kernels call, which no module has to have."""
