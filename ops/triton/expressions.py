"""Expressions of a kernel, evaluated on formulas instead of numbers."""

# Methods of ast.NodeVisitor are called as the nodes are.
# ruff: noqa: N815

from __future__ import annotations

import ast
import inspect
import operator
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from textwrap import dedent
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, cast

import sympy

from simplifier import BitAnd, BitOr, BitXor, FloorDiv, Max, Mod, bounds_of, errors, symbol
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


# Values of a kernel's expressions: blocks of integers by formula, and unknown ones.
#
# A block has a shape. Its value is an expression over the place in the block, `axis(0)` and so
# on, and over program ids, counters of loops and arguments. A pointer is such a value, too: the
# address, in elements, is a sum of a pointer argument and an offset.

Formula: TypeAlias = Any
"""An expression of sympy over integers, or one of its conditions."""

BlockShape: TypeAlias = "tuple[int, ...]"

MAX_AXES: Final = 3
"""Of a grid, as GPUs have them."""

MAX_RANK: Final = 8
"""Dimensions of a block: Triton has at most 5."""

MAX_FACTORS: Final = 32
"""Of a term that is multiplied out: a formula has more terms with each factor."""

MAX_PARTS: Final = 200
"""Of a formula as it is written: an address has a few dozen, and 200 are simplified in a second."""

INT32: Final = Interval(-(1 << 31), (1 << 31) - 1)
"""Range of an integer unless a kernel asks for 64 bits: program ids, ranges and arguments."""

_RESERVED: Final = re.compile(r"(pid|i|num_programs)\d+|_before_.*|register\d*|th_x|bl_[xyz]")


def is_reserved(name: str) -> bool:
    """Whether maps of kernels have a variable of this name, so that no argument may have it."""
    return _RESERVED.fullmatch(name) is not None


class ShapesDifferError(Exception):
    """Two blocks whose shapes do not fit; whoever asked knows the place."""


class Kept(sympy.Function):
    """A value that has to fit in the bits of its type: ``Kept(x)`` is x if ``INT32`` holds it."""

    is_integer = True


def unmarked(formula: Formula) -> Formula:
    """A formula without the marks of numbers that have to fit."""
    return formula.replace(Kept, _value, simultaneous=False)


def _value(kept: Formula) -> Formula:
    return kept


@dataclass(frozen=True, slots=True)
class IntegerBlock:
    """A block of integers, addresses or conditions, by a formula; a scalar has no dimension.

    Sums and products of 32 bits, or of 64 if it ``is_wide``, may leave out what does not fit. Where
    a value has to fit, it is :class:`Kept`.
    """

    shape: BlockShape
    formula: Formula
    is_wide: bool = False

    @property
    def is_condition(self) -> bool:
        """Whether it holds conditions."""
        return is_relation(self.formula)


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of numbers that are known only while the kernel runs.

    Attributes:
        reason: where they come from.
        implied: of conditions, what holds wherever they do.
    """

    shape: BlockShape
    reason: str
    implied: Formula = sympy.true


@dataclass(frozen=True, slots=True)
class TensorPointer:
    """A block of a tensor, by its offsets: ``tl.make_block_ptr``, or a tensor descriptor.

    An access leaves out what lies outside of the tensor: of a descriptor along all dimensions,
    otherwise along those that it checks.
    """

    base: Formula
    sizes: tuple[Formula, ...]
    strides: tuple[Formula, ...]
    offsets: tuple[Formula, ...]
    block: BlockShape
    is_descriptor: bool = False

    def moved(self, by: Sequence[Formula]) -> TensorPointer:
        """The block so many elements further along each dimension."""
        offsets = tuple(one + other for one, other in zip(self.offsets, by, strict=True))
        return replace(self, offsets=offsets)

    def address(self) -> IntegerBlock:
        """The addresses of the elements of the block."""
        steps = map(operator.mul, self._places(), self.strides)
        return IntegerBlock(self.block, self.base + sum(steps), is_wide=True)

    def within(self, checked: Sequence[int]) -> Formula:
        """The condition that a place lies in the tensor along some dimensions."""
        places = self._places()
        pairs = [(places[number], self.sizes[number]) for number in checked]
        return sympy.And(*(sympy.And(place >= 0, place < size) for place, size in pairs))

    def _places(self) -> list[Formula]:
        own = [axis(number) if size > 1 else 0 for number, size in enumerate(self.block)]
        return [offset + place for offset, place in zip(self.offsets, own, strict=True)]


Value: TypeAlias = Any
"""One of the above, a tuple of values, or a number, text or ``None`` that is known."""


@cache
def axis(number: int) -> sympy.Symbol:
    """The place in a block along a dimension."""
    return symbol(f"i{number}")


def multiplied_out(formula: Formula) -> Formula | None:
    """A formula as a sum of terms; ``None`` if one may have more than ``MAX_FACTORS`` factors."""
    return None if _degree(formula) > MAX_FACTORS else sympy.expand(formula)


def _degree(formula: Formula) -> int:
    """Number of variables that a term of a formula may multiply."""
    if formula.is_Symbol:
        return 1
    degrees = [_degree(each) for each in formula.args]
    if isinstance(formula, sympy.Pow) and formula.exp.is_Integer:
        return degrees[0] * int(formula.exp)
    return sum(degrees) if isinstance(formula, sympy.Mul) else max(degrees, default=0)


def as_block(value: Value) -> IntegerBlock | UnknownBlock:
    """A number as a scalar; a value that is no integer is unknown."""
    if isinstance(value, (IntegerBlock, UnknownBlock)):
        return value
    if isinstance(value, bool):
        return IntegerBlock((), sympy.true if value else sympy.false)
    if isinstance(value, int):
        return IntegerBlock((), sympy.Integer(value), not is_narrow(value))
    return UnknownBlock((), "a value that is no integer")


class RuntimeInteger(int):
    """A number that is known, and that is kept in 32 bits while the kernel runs."""


def is_narrow(number: int) -> bool:
    """Whether an integer that is known has 32 bits."""
    return isinstance(number, RuntimeInteger) or number in INT32


def is_integer(value: Value) -> bool:
    """Whether a value is an integer that is known."""
    return isinstance(value, int) and not isinstance(value, bool)


def number_of(value: Value) -> Value:
    """The value of a scalar, if it is a number or a truth value that is known."""
    if not isinstance(value, IntegerBlock) or value.shape:
        return value
    if value.formula in (sympy.true, sympy.false):
        return value.formula is sympy.true
    is_narrow_number = value.formula.is_Integer and not value.is_wide
    return RuntimeInteger(value.formula) if is_narrow_number else value


def items_of(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple; ``None`` for anything else."""
    return cast("tuple[Value, ...]", value) if isinstance(value, tuple) else None


def known(value: Value) -> bool:
    """Whether a value is no block, but something that the compiler knows, and that fits."""
    if isinstance(value, RuntimeInteger):
        return value in INT32
    return not isinstance(value, (IntegerBlock, UnknownBlock, TensorPointer))


# Shapes.


def common_shape(shapes: Sequence[BlockShape]) -> BlockShape:
    """The shape that all of them are broadcast to.

    Raises:
        ShapesDifferError: there is none.

    >>> common_shape([(16, 1), (1, 32), ()])
    (16, 32)
    """
    rank = max(map(len, shapes), default=0)
    if rank > MAX_RANK:
        raise ShapesDifferError(f"a block has {rank} dimensions; expected at most {MAX_RANK}")
    found: list[int] = []
    for sizes in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        several = {*sizes} - {1}
        if len(several) > 1:
            texts = ", ".join(map(str, shapes))
            raise ShapesDifferError(f"blocks of the shapes {texts} do not fit")
        found.append(several.pop() if several else 1)
    return tuple(found)


def combined(
    apply: Callable[..., Formula], *values: IntegerBlock | UnknownBlock
) -> IntegerBlock | UnknownBlock:
    """A function of the elements of some blocks, which are broadcast.

    Raises:
        ShapesDifferError: the shapes do not fit.
    """
    shape = common_shape([value.shape for value in values])
    for value in values:
        if isinstance(value, UnknownBlock):
            return UnknownBlock(shape, value.reason)
    blocks = [value for value in values if isinstance(value, IntegerBlock)]
    found = apply(*(aligned(value, len(shape)) for value in blocks))
    if parts_of(found) > MAX_PARTS:
        return UnknownBlock(shape, f"a formula of more than {MAX_PARTS} parts")
    return IntegerBlock(shape, found, any(value.is_wide for value in blocks))


@lru_cache(maxsize=1 << 14)
def parts_of(formula: Formula) -> int:
    """Number of parts of a formula as it is written, where equal ones count again."""
    return 1 + sum(map(parts_of, formula.args))


def aligned(value: IntegerBlock, rank: int) -> Formula:
    """The formula of a block among blocks of more dimensions: its own are the last."""
    more = rank - len(value.shape)
    return moved(value.formula, {old: old + more for old in range(len(value.shape))})


def moved(formula: Formula, places: dict[int, int]) -> Formula:
    """A formula with its dimensions at other places."""
    return formula.xreplace({axis(old): axis(new) for old, new in places.items()})


def with_axes(value: Value, items: Sequence[int | None]) -> IntegerBlock | UnknownBlock:
    """A block with its dimensions in some order, and a new one of size 1 for each ``None``."""
    shape = common_shape([tuple(1 if item is None else value.shape[item] for item in items)])
    if isinstance(value, UnknownBlock):
        return UnknownBlock(shape, value.reason)
    places = {item: new for new, item in enumerate(items) if item is not None}
    return replace(value, shape=shape, formula=moved(value.formula, places))


# Operators on numbers that the compiler knows: constants, and arguments that have values.

MAX_BITS: Final = 4096
"""Of a number that constants make: no kernel has sizes of more."""


def of_numbers(op: ast.operator, left: Value, right: Value) -> Value:
    """An operator on two numbers that are known.

    Raises:
        ArithmeticError: the result is too large or does not exist, or it depends on whether they
            are constants or arguments.
        TypeError: they are no numbers, or the operator does not take them.
    """
    for each in (left, right):
        if not isinstance(each, (int, float)):
            raise TypeError(f"this operator has {quoted(each)} beside it; expected numbers")
    if isinstance(left, int) and isinstance(right, int):
        _check_size(op, left, right)
        _check_rounding(op, left, right)
    known_operator = _OPERATORS.get(type(op))
    if known_operator is None:
        raise TypeError(f"the operator {type(op).__name__} cannot be read")
    apply: Callable[[Value, Value], Value] = getattr(operator, known_operator.name)
    try:
        found = apply(left, right)
    except OverflowError:
        raise ArithmeticError("this number is too large") from None
    return _of_type(found, left, right) if isinstance(found, int) else found


def of_number(op: ast.unaryop, operand: Value) -> Value:
    """An operator on one number that is known.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(operand, (int, float)) and not isinstance(op, ast.Not):
        raise TypeError(f"this operator is before {quoted(operand)}; expected a number")
    found = _UNARY[type(op)](operand)
    return found if isinstance(found, (bool, float)) else _of_type(found, operand)


def _of_type(found: Value, *operands: Value) -> Value:
    """A result of operands that have 32 bits while the kernel runs, or are constants."""
    is_runtime = any(isinstance(each, RuntimeInteger) for each in operands)
    return RuntimeInteger(found) if is_runtime and all(map(is_narrow, operands)) else found


def _check_size(op: ast.operator, left: int, right: int) -> None:
    if not isinstance(op, (ast.Pow, ast.LShift, ast.Mult)):
        return
    bits = left.bit_length()
    if isinstance(op, ast.Mult):
        bits += right.bit_length()
    else:
        bits = right * max(1, bits) if isinstance(op, ast.Pow) else bits + right
    if bits > MAX_BITS or (right < 0 and not isinstance(op, ast.Mult)):
        raise ArithmeticError(f"this number has more than {MAX_BITS} bits, or is no integer")


def _check_rounding(op: ast.operator, left: int, right: int) -> None:
    """Triton rounds quotients of constants down, and those of arguments toward zero."""
    is_division = isinstance(op, (ast.FloorDiv, ast.Mod)) and right
    if is_division and (left < 0) != (right < 0) and left % right:
        rounding = "constants are rounded down, and arguments toward zero"
        raise ArithmeticError(f"{left} is divided by {right}: {rounding}; expected one sign")


_UNARY: Final[Mapping[type, Callable[[Value], Value]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


# Evaluation.

MAX_SHIFT: Final = 63
"""Bits by which an integer is moved: it has no more than 64."""


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

    @abstractmethod
    def call(
        self, node: ast.Call, function: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> Value:
        """The value of a function call."""

    @abstractmethod
    def accessed(self, node: ast.Call, kind: str, address: Value, mask: Value) -> UnknownBlock:
        """The block in memory at some addresses, where a mask holds."""

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
        try:
            return number_of(self.visit(node))
        except (ShapesDifferError, ArithmeticError, TypeError, ValueError) as error:
            if isinstance(error, errors.IndexingError):
                raise
            self.text.refuse(node, str(error))

    def generic_visit(self, node: ast.AST) -> NoReturn:
        """Refuse what no method reads."""
        kind = type(node).__name__
        what = f"the statement {kind}" if isinstance(node, ast.stmt) else f"a {kind}"
        self.text.refuse(node, f"a kernel with {what} cannot be read")

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
        return self.text.refuse(node, f"{node.id!r} has no value")

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

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        """An operator on two values."""
        left, right = self.read(node.left), self.read(node.right)
        if known(left) and known(right):
            return of_numbers(node.op, left, right)
        known_operator = _OPERATORS.get(type(node.op))
        apply = known_operator and known_operator.of_formulas
        blocks = as_block(left), as_block(right)
        if isinstance(node.op, ast.BitAnd):
            implied = _implied_by_both(*blocks)
            if implied is not None:
                return implied
        if known_operator is None or apply is None:
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
        return combined(known_operator.of_bits or apply, *map(_as_number, blocks))

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

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        """An operator on one value."""
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
            items = items_of(right)
            if items is None or not all(map(known, (left, *items))):
                raise TypeError("'in' takes a value and a tuple of values that are known")
            return (left in items) is isinstance(op, ast.In)
        compare, compare_blocks = _COMPARISONS[type(op)]
        if known(left) and known(right):
            return compare(left, right)
        blocks = (self.kept(_as_number(as_block(each))) for each in (left, right))
        return number_of(combined(compare_blocks, *blocks))

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``, of which a value that is known may decide."""
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

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        """One of two values."""
        test = self.read(node.test)
        if known(test):
            return self.read(node.body if test else node.orelse)
        return self.chosen(test, self.read(node.body), self.read(node.orelse))

    def chosen(self, test: Value, first: Value, second: Value) -> Value:
        """``tl.where``, of numbers and of conditions."""
        blocks = [as_block(each) for each in (test, first, second)]
        return combined(_where, *blocks)

    def unknown(self, reason: str, *blocks: Value) -> UnknownBlock:
        """A value known only while the kernel runs, of the shape of some blocks together."""
        found = combined(lambda *_: sympy.Integer(0), *blocks)
        return UnknownBlock(found.shape, getattr(found, "reason", reason))

    # Indices and calls.

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        """An item of a tuple, or a block with other dimensions."""
        value = self.read(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if known(value):
            at = self.read(node.slice)
            if not is_integer(at):
                expected = "this is no number that is known; expected a constexpr"
                self.text.refuse(node.slice, expected)
            given = items_of(value)
            if given is None or not -len(given) <= at < len(given):
                self.text.refuse(node, "expected a tuple, and the place of one of its items")
            return given[at]
        block = as_block(value)
        return with_axes(block, self._axes(node, items, len(block.shape)))

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

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Value:  # noqa: ARG002 - any will do
        """A text that nobody reads."""
        return ""


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
        message = f"bits are moved by {exponent}; expected a number from 0 to {MAX_SHIFT}"
        raise ArithmeticError(message)
    return 2**exponent


class _Operator(NamedTuple):
    """An operator on numbers that are known, and on formulas.

    Without ``of_formulas`` the result is no integer; ``of_bits`` is for other than conditions.
    """

    name: str
    """In :mod:`operator`."""
    of_formulas: Callable[..., Formula] | None = None
    of_bits: Callable[..., Formula] | None = None


_OPERATORS: Final[Mapping[type, _Operator]] = {
    ast.Add: _Operator("add", operator.add),
    ast.Sub: _Operator("sub", operator.sub),
    ast.Mult: _Operator("mul", operator.mul),
    ast.Div: _Operator("truediv"),
    ast.FloorDiv: _Operator("floordiv", FloorDiv),
    ast.Mod: _Operator("mod", Mod),
    ast.Pow: _Operator("pow"),
    ast.BitAnd: _Operator("and_", _all, BitAnd),
    ast.BitOr: _Operator("or_", _either, BitOr),
    ast.BitXor: _Operator("xor", sympy.Xor, BitXor),
    ast.LShift: _Operator("lshift", _shifted_left),
    ast.RShift: _Operator("rshift", _shifted_right),
}

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
