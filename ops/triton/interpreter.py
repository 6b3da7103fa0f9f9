"""Statements of a kernel, run once on formulas: loops by closed forms, branches by conditions."""

# Methods of ast.NodeVisitor are called as the nodes are.
# ruff: noqa: N802, N815

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import factorial
from typing import Final

import sympy

from ops.triton import expressions, symbolic
from ops.triton.expressions import ExpressionReader
from ops.triton.functions import FUNCTIONS, FunctionCall, plain_name, unknown_function
from ops.triton.symbolic import Formula, IntegerBlock, Loaded, UnknownBlock, Value
from simplifier import FloorDiv, Max, symbol
from simplifier.forms import Interval

Amounts = Mapping[str, tuple[Formula, ...] | UnknownBlock]
"""Amounts that earlier iterations add to each variable, over the counter of the loop."""


MAX_DEPTH: Final = 32
"""Functions that call each other: more is a recursion, which Triton does not have, either."""

MAX_STATEMENTS: Final = 5000
"""That are run, with those of functions and of trials: a kernel of a thousand lines has fewer."""


@dataclass(frozen=True, slots=True)
class KernelLoop:
    """A loop around an access: its counter runs from 0 to one less than its trip count.

    A trip count of ``None`` may be any number.
    """

    counter: sympy.Symbol
    trip_count: Formula | None


def trip_counts(loops: Iterable[KernelLoop]) -> Iterator[Formula]:
    """The trip counts of loops that have a formula."""
    return (each.trip_count for each in loops if each.trip_count is not None)


def with_trip_counts(
    loops: Iterable[KernelLoop], change: Callable[[Formula], Formula | None]
) -> tuple[KernelLoop, ...]:
    """The loops with other formulas of their trip counts."""
    return tuple(
        replace(each, trip_count=None if each.trip_count is None else change(each.trip_count))
        for each in loops
    )


@dataclass(frozen=True, slots=True)
class AccessRecord:
    """An access as the interpreter meets it.

    Attributes:
        condition: under which the elements are accessed: the mask, and the branches around.
        is_exact: whether all of the condition is known.
        descriptor: of which the block is, if it is an argument without a value.
    """

    node: ast.Call
    kind: str
    address: IntegerBlock
    condition: Formula
    loops: tuple[KernelLoop, ...]
    is_exact: bool
    descriptor: symbolic.TensorPointer | None = None


class _Returned(Exception):  # noqa: N818 - no error: the function is left
    """A ``return``, with its value."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class KernelInterpreter(ExpressionReader):
    """Runs a kernel once, for all programs together, and keeps its accesses."""

    def __init__(self, text: expressions.KernelText, grid: Sequence[int] | None) -> None:
        super().__init__(text, grid)
        self.bounds |= {f"i{number}": Interval(0, None) for number in range(symbolic.MAX_RANK)}
        self.records: list[AccessRecord] = []
        self._loops: tuple[KernelLoop, ...] = ()
        self._conditions: tuple[Formula, ...] = ()
        self._is_exact = True
        self._is_trial = False
        self._may_be_left = False
        """Whether values have decided that some programs left the function."""
        self._trials = 0
        self._loads = 0
        self._line_of_load: dict[sympy.Integer, int] = {}
        self.passed_on: list[tuple[ast.Call, str, frozenset[str]]] = []
        """Calls of functions that nobody knows, with arguments that may be pointers."""
        self._statements = 0
        self._depth = 0

    # Memory.

    def accessed(
        self,
        node: ast.Call,
        kind: str,
        address: Value,
        mask: Value,
        of: symbolic.TensorPointer | None = None,
    ) -> Value:
        """Keep an access; its value is that of a variable, if an address or a loop needs it."""
        if isinstance(address, UnknownBlock):
            place = node.args[0] if node.args else node
            self.text.refuse(place, f"the address depends on {address}")
        held = symbolic.as_block(True if mask is None else mask)
        shape = symbolic.common_shape([address.shape, held.shape or ()])
        implied = held.implied if isinstance(held, UnknownBlock) else held.formula
        whole = IntegerBlock(held.shape or (), implied)
        holds = symbolic.condition_of(symbolic.aligned(whole, len(shape)))
        placed = IntegerBlock(shape, symbolic.aligned(self.kept(address), len(shape)))
        integers = symbolic.integers_of(
            placed.formula, *(of.offsets if of else ()), *trip_counts(self._loops)
        )
        integers |= {each for each in placed.formula.atoms(Loaded) if self._is_typed(each)}
        others = placed.formula.atoms(Loaded) - integers
        if others:
            lines = sorted({self._line_of_load[each.args[0]] for each in others})
            message = "the address depends on a condition on a value that is loaded, in line"
            self.text.refuse(node, f"{message} {', '.join(map(str, lines))}")
        conditions = symbolic.conjuncts(sympy.And(*self._conditions, holds))
        told = [
            each
            for each in conditions
            if all(load in integers or self._is_typed(load) for load in each.atoms(Loaded))
        ]
        is_certain = self._is_exact and not self._may_be_left and len(told) == len(conditions)
        is_exact = is_certain and isinstance(held, IntegerBlock)
        if not self._is_trial:
            record = node, kind, placed, sympy.And(*told), self._loops, is_exact, of
            self.records.append(AccessRecord(*record))
        if of is not None:
            return UnknownBlock(of.block, "a block of a descriptor without a value")
        return self._loaded(node, placed)

    def _is_typed(self, load: Formula) -> bool:
        """Whether the pointer of a load is known to be of integers."""
        return symbolic.name_of_load(load.args[0]) in self.bounds

    def _loaded(self, node: ast.Call, address: IntegerBlock) -> Value:
        """What an access gives."""
        terms = map(str, sympy.Add.make_args(symbolic.unmarked(address.formula)))
        element_type = next(filter(None, map(self.element_types.get, terms)), "")
        limits = symbolic.limits_of(element_type)
        if element_type and limits is None:
            return UnknownBlock(address.shape, f"a number of the type {element_type}")
        self._loads += 1
        number = sympy.Integer(-self._loads if self._is_trial else len(self.records) - 1)
        self._line_of_load[number] = node.lineno
        if limits is not None:
            self.bounds[symbolic.name_of_load(number)] = limits
        counters = (each.counter for each in self._loops)
        places = (symbolic.axis(n) if size > 1 else 0 for n, size in enumerate(address.shape))
        is_flag = element_type == "i1"  # which has no arithmetic of its own
        element_type = "i64" if limits is None else "" if is_flag else element_type
        return IntegerBlock(address.shape, Loaded(number, *counters, *places), element_type)

    def passed(self, node: ast.Call, function: str, value: Value) -> None:
        """Keep which arguments a function gets that nobody knows."""
        formula = getattr(value, "base", getattr(value, "formula", sympy.Integer(0)))
        names = frozenset(each.name for each in formula.free_symbols) & self.arguments
        self.passed_on.append((node, function, names))

    # Functions.

    def run_kernel(self, function: ast.FunctionDef, values: Mapping[str, Value]) -> None:
        """Run a kernel with values of its parameters.

        Raises:
            TritonError: it cannot be read, or a value is of no parameter.
        """
        try:
            self.values = self.bound(function, (), values, function)
            self.run(function.body)
        except _Returned:
            pass
        except RecursionError:
            self.text.refuse(function, "this kernel is nested too deeply")

    def call(
        self, node: ast.Call, function: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> Value:
        """The value of a function of the text or of ``tl``.

        Raises:
            TritonError: nobody knows the function, or it does not take the arguments.
        """
        given = FunctionCall(self, node, function, arguments, named)
        if function in self.text.functions:
            return self._inlined(given)
        handler = FUNCTIONS.get(plain_name(function))
        if handler is None:
            return unknown_function(given)
        if function in _OF_NUMBERS and all(map(symbolic.known, arguments)):
            return _OF_NUMBERS[function](*arguments)
        try:
            return handler(given)
        except (TypeError, IndexError, AttributeError):
            given.refuse(f"{function} does not take these arguments")

    def _inlined(self, call: FunctionCall) -> Value:
        """The value of a function of the text, run here."""
        if self._depth >= MAX_DEPTH:
            call.refuse("the functions call each other again and again")
        function = self.text.functions[call.function]
        outside = self.values, self._conditions, self._may_be_left
        self.values = self.bound(function, call.arguments, call.named, call.node)
        self._depth += 1
        try:
            self.run(function.body)
        except _Returned as returned:
            return returned.value
        finally:
            self._depth -= 1
            self.values, self._conditions, self._may_be_left = outside
        return None

    def bound(
        self,
        function: ast.FunctionDef,
        arguments: Sequence[Value],
        named: Mapping[str, Value],
        node: ast.AST,
    ) -> dict[str, Value]:
        """The parameters of a function with their values."""
        names = [each.arg for each in expressions.parameters_of(function)]
        found = dict(zip(names, arguments, strict=False)) | dict(named)
        for name, default in expressions.defaults_of(function).items():
            if name not in found:
                found[name] = self.of_module(default)
        if {*found} != {*names} or len(arguments) > len(names):
            self.text.refuse(node, f"{function.name} takes {', '.join(names) or 'nothing'}")
        return found

    # Statements.

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Run statements one after the other."""
        for statement in body:
            self._statements += 1
            if self._statements > MAX_STATEMENTS:
                message = f"this kernel runs more than {MAX_STATEMENTS} statements"
                self.text.refuse(statement, message)
            try:
                self.visit(statement)
            except symbolic.ShapesDifferError as error:
                self.text.refuse(statement, str(error))

    def visit_Assign(self, node: ast.Assign) -> None:
        """Give values to variables."""
        value = self.read(node.value)
        for target in node.targets:
            self._bind(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Give a value to a variable of a type."""
        if node.value is not None:
            self._bind(node.target, self.read(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Give the result of an operator to its first operand."""
        if not isinstance(node.target, ast.Name):
            self.text.refuse(node.target, "expected the name of a variable")
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        sum_of_both = ast.copy_location(ast.BinOp(name, node.op, node.value), node)
        self.values[node.target.id] = self.read(sum_of_both)

    def _bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.values[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = symbolic.items_of(value)
                if isinstance(value, UnknownBlock):
                    items = (replace(value, shape=None),) * len(targets)
                if items is None or len(items) != len(targets):
                    self.text.refuse(target, f"expected {len(targets)} values")
                for each, item in zip(targets, items, strict=True):
                    self._bind(each, item)
            case _:
                self.text.refuse(target, "expected the name of a variable")

    def visit_Expr(self, node: ast.Expr) -> None:
        """Evaluate an expression for what it accesses."""
        self.read(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        """Leave the function."""
        raise _Returned(None if node.value is None else self.read(node.value))

    def visit_With(self, node: ast.With) -> None:
        """Run the body: what it stands in tells the compiler something, and accesses nothing."""
        for each in node.items:
            value = self.read(each.context_expr)
            if each.optional_vars is not None:
                self._bind(each.optional_vars, value)
        self.run(node.body)

    # Branches.

    def visit_If(self, node: ast.If) -> None:
        """Run both branches, each under its condition."""
        test = self.read(node.test)
        if symbolic.known(test):
            self.run(node.body if test else node.orelse)
            return
        condition = self._condition_of(node, test)
        before = dict(self.values)
        ended_first = self._guarded(node.body, condition)
        first, self.values = self.values, dict(before)
        opposite = None if condition is None else sympy.Not(condition)
        ended_second = self._guarded(node.orelse, opposite)
        if ended_first or ended_second:
            if ended_first and ended_second:
                raise _Returned(None)
            self.values = self.values if ended_first else first
            if condition is None:
                self._may_be_left = True
            else:
                self._conditions = (*self._conditions, opposite if ended_first else condition)
            return
        self.values = {
            name: self._merged(test, first.get(name, value), value)
            for name, value in (first | self.values).items()
        }

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        """One of two values: a branch that gives it to a variable."""
        target = ast.Name(_CHOSEN, ast.Store())
        given: list[ast.stmt] = [
            ast.copy_location(ast.Assign([target], each), each) for each in (node.body, node.orelse)
        ]
        self.visit_If(ast.copy_location(ast.If(node.test, given[:1], given[1:]), node))
        return self.values.pop(_CHOSEN)

    def _condition_of(self, node: ast.If | ast.While, test: Value) -> Formula | None:
        """The condition of a branch; ``None`` if values decide it."""
        block = symbolic.as_block(test)
        if block.shape:
            message = "a branch has one condition for all elements; expected a scalar"
            self.text.refuse(node.test, message)
        return None if isinstance(block, UnknownBlock) else symbolic.condition_of(block.formula)

    def _guarded(self, body: Sequence[ast.stmt], condition: Formula | None) -> bool:
        """Run a branch under its condition; whether it ends the function."""
        conditions, is_exact = self._conditions, self._is_exact
        inside = conditions if condition is None else (*conditions, condition)
        self._conditions, self._is_exact = inside, is_exact and condition is not None
        try:
            self.run(body)
        except _Returned as returned:
            if returned.value is not None:
                self.text.refuse(body[-1], "a value is returned only under a condition")
            return True
        finally:
            remaining = self._conditions[len(inside) :]
            self._conditions, self._is_exact = conditions, is_exact
        # Some programs may have left the function inside of the branch.
        if condition is None:
            self._may_be_left |= bool(remaining)
        elif remaining:
            self._conditions = (*conditions, sympy.Or(sympy.Not(condition), sympy.And(*remaining)))
        return False

    def _merged(self, test: Value, first: Value, second: Value) -> Value:
        if first is second or (type(first) is type(second) and first == second):
            return first
        if isinstance(first, _NOT_CHOSEN) or isinstance(second, _NOT_CHOSEN):
            return UnknownBlock(None, "a value that a branch decides")
        return symbolic.number_of(self.chosen(test, first, second))

    # Loops.

    def visit_For(self, node: ast.For) -> None:
        """Run the body once for all iterations."""
        (start, stop, step), element_type = self._range(node)
        if not isinstance(node.target, ast.Name):
            self.text.refuse(node.target, "expected the name of a variable")
        own = node.target.id
        sign = -1 if step.is_negative else 1
        size = step * sign
        trips = FloorDiv((stop - start) * sign + size - 1, size)
        counter = self._fresh(own, symbolic.bounds_with_loads(trips - 1, self.bounds).upper)
        self.values[own] = IntegerBlock((), start + counter * step, element_type)
        before = dict(self.values)
        amounts = self._iterations(node, KernelLoop(counter, trips))
        last, is_run = {counter: trips - 1}, symbolic.is_nonnegative(trips - 1, self.bounds)
        count = {counter: trips if is_run else Max(trips, 0)}
        after = {name: substituted(value, last) for name, value in self.values.items()}
        if not is_run:
            after[own] = UnknownBlock(
                (), "the counter of a loop that may not run", line=node.lineno
            )
        sums = {name: after_iterations(amounts, before, name, count) for name in amounts}
        self.values = after | sums

    def visit_While(self, node: ast.While) -> None:
        """Run the body once for all iterations, as far as its condition may hold."""
        if node.orelse:
            self.text.refuse(node.orelse[0], "a loop with an else cannot be read")
        is_exact, self._is_exact = self._is_exact, False
        self._iterations(node, KernelLoop(self._fresh("iteration"), None))
        self._is_exact = is_exact
        for name in expressions.names_assigned(node.body):
            reason = f"{name}, which a loop changes that may end at any time"
            self.values[name] = UnknownBlock(None, reason, line=node.lineno)

    def _iterations(self, node: ast.For | ast.While, loop: KernelLoop) -> Amounts:
        """Run the body for all iterations; what each adds to variables that it hands on."""
        before, outside = dict(self.values), self._loops
        self._loops = (*outside, loop)
        amounts = self._amounts(node, loop.counter, before)
        self.values = {name: after_iterations(amounts, before, name, {}) for name in before}
        self._iteration(node)
        self._loops = outside
        return amounts

    def _range(self, node: ast.For) -> tuple[tuple[Formula, Formula, Formula], str]:
        """The start, the end and the step of a loop, and the type of its counter."""
        call = node.iter
        if not isinstance(call, ast.Call) or plain_name(self.path(call.func) or "") not in _RANGES:
            self.text.refuse(call, "expected range, tl.range or tl.static_range")
        if node.orelse:
            self.text.refuse(node.orelse[0], "a loop with an else cannot be read")
        named = {each.arg: each.value for each in call.keywords}
        nodes = [*call.args]
        if "step" in named and len(nodes) == _STEP:
            nodes.append(named["step"])
        ends = [self.read(each) for each in nodes]
        given = [*map(self.formula, nodes, ends)]
        if not 1 <= len(given) <= _STEP + 1 or named.keys() & _OTHER_ENDS:
            self.text.refuse(call, "expected an end, or a start and an end, and maybe a step")
        if len(given) == 1:
            given.insert(0, sympy.Integer(0))
        start, stop, step = (*given, sympy.Integer(1))[:3]
        if step == 0:
            self.text.refuse(call, "the step is 0; expected another number")
        blocks = map(symbolic.as_block, ends)
        element_types = (each.element_type for each in blocks if isinstance(each, IntegerBlock))
        return (start, stop, step), symbolic.common_type([*element_types, "i32"])

    def _fresh(self, name: str, most: int | None = None) -> sympy.Symbol:
        """A counter of a name that nothing has yet."""
        found, number = name, 1
        while symbolic.is_reserved(found) or found in self.bounds:
            found, number = f"{name}_{number}", number + 1
        self.bounds[found] = Interval(0, None if most is None else max(0, most))
        return symbol(found)

    def _iteration(self, node: ast.For | ast.While) -> None:
        before = self._conditions, self._may_be_left
        try:
            if isinstance(node, ast.For):
                self.run(node.body)
            elif self._guarded(node.body, self._condition_of(node, self.read(node.test))):
                self._may_be_left = not self._may_be_left
        except _Returned:
            self._may_be_left = not self._may_be_left
        if (self._conditions, self._may_be_left) != before:
            self.text.refuse(node.body[0], "a loop that may be left in between cannot be read")

    def _amounts(
        self, node: ast.For | ast.While, counter: sympy.Symbol, before: Mapping[str, Value]
    ) -> Amounts:
        """Amounts that iterations add to the variables: the body runs once on marks of them."""
        own = getattr(getattr(node, "target", None), "id", "")
        assigned = dict.fromkeys(expressions.names_assigned(node.body))
        carried = [name for name in assigned if name in before and name != own]
        self._trials += 1
        marks = {name: marked(before[name], f"_before_{self._trials}_{name}") for name in carried}
        outside = self._is_trial, dict(self.bounds)
        self._is_trial, self.values = True, {**before, **marks}
        self._iteration(node)
        after, self.values = self.values, dict(before)
        self._is_trial, self.bounds = outside
        return amounts_of(before, marks, after, counter)

    def visit_Pass(self, node: ast.stmt) -> None:
        """Nothing that touches memory."""

    visit_Assert = visit_Import = visit_ImportFrom = visit_Pass


_CHOSEN: Final = "if else"
"""No name that a kernel could have."""

_NOT_CHOSEN: Final = (str, tuple, symbolic.TensorPointer)
"""Values that a branch cannot choose by a formula."""

_STEP: Final = 2
"""The place of the step among the arguments of a range."""

_OTHER_ENDS: Final = {"start", "stop", "end", "arg1", "arg2", None}
"""Arguments of ranges that are read by their places alone."""

_RANGES: Final = ("range", "tl.range", "tl.static_range")

_OF_NUMBERS: Final = {"min": min, "max": max, "abs": abs, "int": int}


# Values that the iterations of a loop hand on, in closed form: sums of what each iteration adds.
#
# The body of a loop runs once with a *mark*, a symbol, for each value before an iteration. What
# it adds to the mark is the change. A change that is a polynomial of the counter has a sum:
#
#     for k in range(6):
#         ptr += k * stride            # ptr + stride * (k * (k - 1) // 2)

MAX_DEGREE: Final = 4
"""Of what an iteration adds, as a polynomial of the counter: kernels add constants, or count."""


def marked(value: Value, name: str) -> Value:
    """A value with symbols in its place; one that is no integer may be anything in an iteration.

    The mark of a block has a symbol for each dimension, so that a transposed mark is another one.
    """
    if isinstance(value, symbolic.TensorPointer):
        marks = tuple(symbol(f"{name}_{place}") for place in range(len(value.offsets)))
        return replace(value, offsets=marks)
    block = symbolic.as_block(value)
    if isinstance(block, UnknownBlock):
        return block
    if block.is_condition:
        return UnknownBlock(block.shape, "a condition that a loop changes")
    long = (number for number, size in enumerate(block.shape) if size > 1)
    places = (symbolic.axis(number) * symbol(f"{name}_{number + 1}") for number in long)
    return replace(block, formula=symbol(f"{name}_0") + sum(places))


def amounts_of(
    before: Mapping[str, Value],
    marks: Mapping[str, Value],
    after: Mapping[str, Value],
    counter: sympy.Symbol,
) -> Amounts:
    """Amounts that iterations add to each marked variable, from one iteration on the marks.

    The amount that one variable adds to another is known once its own sum is.
    """
    changes = {name: _changes(mark, after[name]) for name, mark in marks.items()}
    parts = (part for mark in marks.values() for part in _parts(mark))
    moving = {each for part in parts for each in part.free_symbols} - _PLACES
    found: dict[str, tuple[Formula, ...] | UnknownBlock] = {}
    in_closed_form: dict[sympy.Symbol, Formula] = {}
    for _ in changes:  # each round finds at least one more, if any
        for name, change in changes.items():
            if name in found or change is None:
                continue
            sums = [_sum(each.xreplace(in_closed_form), counter, moving) for each in change]
            if not sums or None in sums:
                continue
            found[name] = tuple(sums)
            mark, start = marks[name], symbolic.as_block(before[name])
            is_scalar = isinstance(mark, IntegerBlock) and not mark.shape
            if is_scalar and isinstance(start, IntegerBlock):
                in_closed_form[mark.formula] = start.formula + sums[0]
    others = (name for name in marks if name not in found)
    return found | {name: _unknown(name, before[name], after[name]) for name in others}


def after_iterations(
    amounts: Amounts, before: Mapping[str, Value], name: str, given: Mapping[sympy.Symbol, Formula]
) -> Value:
    """A variable after as many iterations as the counter of the loop is given to be."""
    value = before[name]
    amount = amounts.get(name)
    if amount is None:
        return value
    if isinstance(amount, UnknownBlock):
        return amount
    added = [each.xreplace(given) for each in amount]
    if isinstance(value, symbolic.TensorPointer):
        return value.moved(added)
    block = symbolic.as_block(value)
    by = IntegerBlock(block.shape or (), added[0], getattr(block, "element_type", "") or "i32")
    return symbolic.number_of(symbolic.combined(operator.add, block, by))


def substituted(value: Value, given: Mapping[sympy.Symbol, Formula]) -> Value:
    """A value with a formula in the place of a symbol."""
    items = symbolic.items_of(value)
    if items is not None:
        return tuple(substituted(each, given) for each in items)
    parts = tuple(each.xreplace(given) for each in _parts(value))
    if isinstance(value, symbolic.TensorPointer):
        return replace(value, offsets=parts)
    return replace(value, formula=parts[0]) if parts else value


def _parts(value: Value) -> tuple[Formula, ...]:
    """The formulas of a value: the offsets of a block pointer, or the one of a block."""
    if isinstance(value, symbolic.TensorPointer):
        return value.offsets
    return (value.formula,) if isinstance(value, IntegerBlock) else ()


_PLACES: Final = frozenset(map(symbolic.axis, range(symbolic.MAX_RANK)))


def _changes(mark: Value, after: Value) -> tuple[Formula, ...] | None:
    """Amounts that an iteration adds to each part of a mark; ``None`` if the two are not alike."""
    found = after if isinstance(after, symbolic.TensorPointer) else symbolic.as_block(after)
    if type(found) is not type(mark) or isinstance(found, UnknownBlock):
        return None
    is_alike = (
        replace(found, offsets=mark.offsets) == mark
        if isinstance(found, symbolic.TensorPointer)
        else not found.is_condition and found.shape == mark.shape
    )
    return tuple(map(operator.sub, _parts(found), _parts(mark))) if is_alike else None


def _sum(change: Formula, counter: sympy.Symbol, moving: set[sympy.Symbol]) -> Formula | None:
    """The sum of a polynomial over the numbers below the counter; ``None`` if there is no such.

    By Newton's forward differences, whose binomial coefficients are integers. Values that have to
    fit in an iteration are added as 0, for the sum is right only where they do.
    """
    last = change.xreplace({counter: counter - 1}).atoms(symbolic.Kept)
    marks = sum(_fits(each) for each in last if {counter} == each.free_symbols & {counter, *moving})
    without_end = partial(_without_end, {counter, *moving})
    change = change.replace(symbolic.Kept, without_end, simultaneous=False)
    expanded = symbolic.multiplied_out(change)
    if expanded is None or expanded.free_symbols & moving or not expanded.is_polynomial(counter):
        return None
    degree = _degree_in(counter, expanded)
    if degree > MAX_DEGREE:
        return None
    row = [expanded.xreplace({counter: sympy.Integer(n)}) for n in range(degree + 1)]
    integral: Formula = sympy.Integer(0)
    rational: Formula = sympy.Integer(0)
    factors: Formula = sympy.Integer(1)
    for order in range(1, degree + 2):
        factors = sympy.expand(factors * (counter - order + 1))
        integral += row[0] * FloorDiv(factors, factorial(order))
        rational += row[0] * factors / factorial(order)
        row = [after - before for before, after in pairwise(row)]
    simplest = sympy.expand(rational)
    has_fractions = any(not each.is_Integer for each in simplest.atoms(sympy.Rational))
    return (integral if has_fractions else simplest) + marks


def _without_end(changing: set[sympy.Symbol], value: Formula, *limits: Formula) -> Formula:
    """A value that has to fit, as one that does if it changes with the iterations."""
    return value if value.free_symbols & changing else symbolic.Kept(value, *limits)


def _fits(kept: symbolic.Kept) -> Formula:
    """Zero, with a mark of a value that has to fit."""
    value = kept.without_end()
    return symbolic.Kept(value, *kept.args[1:3], 0) - value


def _degree_in(variable: sympy.Symbol, polynomial: Formula) -> int:
    """The largest power of a variable in a polynomial that is multiplied out."""
    powers = (each for each in polynomial.atoms(sympy.Pow) if each.base == variable)
    return max([int(each.exp) for each in powers], default=int(variable in polynomial.free_symbols))


def _unknown(name: str, before: Value, after: Value) -> UnknownBlock:
    shape = getattr(after, "shape", getattr(before, "shape", ()))
    for value in (before, after):
        if isinstance(value, UnknownBlock):
            return UnknownBlock(shape, value.reason)
    return UnknownBlock(shape, f"{name}, whose value in a loop has no closed form")
