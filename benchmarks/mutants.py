"""Faults that can be planted in functions, and how they are planted in a running process.

A fault is one small change in the body of a function, such as ``<=`` for ``<``, ``x + 1`` for
``x``, ``first`` for ``last``, or an argument of ``max`` that is left out. Texts, annotations,
defaults, checks and what is raised stay as they are: they hold no answer.
"""

from __future__ import annotations

import ast
import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, TypeAlias, cast

Key: TypeAlias = "tuple[str, int]"
"""The qualified name and the first line of a piece of code; no other of its module has both."""

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"

_COMPARED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_TURNED: Final = {
    **{one: other for pair in (("min", "max"), ("any", "all")) for one, other in (pair, pair[::-1])}
}
_LEFT_OUT: Final = {"min", "max", "abs", "sorted", "reversed", "set"}
"""Functions whose arguments may stand for the call."""
_OPPOSITE: Final = {
    one: other
    for pair in (
        ("first", "last"),
        ("lower", "upper"),
        ("least", "greatest"),
        ("INFINITY", "NEGATIVE_INFINITY"),
        ("output_to_input", "input_to_output"),
        ("dims", "ranges"),
    )
    for one, other in (pair, pair[::-1])
}
"""Names of which one may be taken for the other."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: the module, the function, what is written for what, and which of such changes."""

    path: str
    function: str
    change: str
    number: int
    line: int

    @property
    def name(self) -> tuple[str, str, str, int]:
        """What finds it again when lines have moved."""
        return self.path, self.function, self.change, self.number

    def __str__(self) -> str:
        which = f" #{self.number}" if self.number else ""
        return f"{self.path}:{self.line} {self.function}: {self.change}{which}"


class _Place(NamedTuple):
    """A node, the function whose code it changes, and the list or field that holds it."""

    function: str
    root: Function
    parent: ast.AST
    field: str
    position: int | None
    node: ast.AST

    def hold(self, node: ast.AST) -> None:
        """Put a node there."""
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


class Source:
    """A module: the faults that can be planted in it, and the code that it has with each."""

    def __init__(self, folder: Path, path: str) -> None:
        self._folder, self.path, self._file = folder, path, str(folder / path)
        self._tree = ast.parse((folder / path).read_text("utf-8"))
        self._code = self._compiled()
        self._changes: dict[Mutant, tuple[_Place, ast.AST]] = {}
        times = Counter[tuple[str, str]]()
        for place in _places(self._tree):
            for node in alternatives(place.node):
                change = f"{_shown(place.node)} -> {_shown(node)}"
                number = times[place.function, change]
                times[place.function, change] += 1
                line: int = getattr(place.node, "lineno", 0)
                mutant = Mutant(path, place.function, change, number, line)
                self._changes[mutant] = place, ast.copy_location(node, place.node)

    @property
    def mutants(self) -> list[Mutant]:
        """All faults."""
        return [*self._changes]

    def mutated(self, mutant: Mutant) -> dict[Key, CodeType]:
        """The code that differs with a fault: of the function, and of what is nested in it."""
        place, node = self._changes[mutant]
        place.hold(ast.fix_missing_locations(node))
        try:
            code = self._compiled()
        finally:
            place.hold(place.node)
        return {key: each for key, each in code.items() if each != self._code.get(key)}

    def watching(self, numbers: Mapping[Mutant, int]) -> dict[Key, CodeType]:
        """Code that tells which of the numbered faults would change something.

        It calls ``mutation_watch`` with numbers, what computes a value, and what computes it with
        each fault; or ``mutation_reached`` where a fault changes what is done instead of a value.
        The process defines both, for example among its builtins.
        """
        fresh = Source(self._folder, self.path)
        places = defaultdict[int, list[tuple[_Place, ast.AST, int]]](list)
        for mutant, (place, node) in fresh._changes.items():
            if mutant in numbers:
                places[id(place)].append((place, node, numbers[mutant]))
        for changes in sorted(places.values(), key=lambda each: not _is_value(each[0][0])):
            _watch(changes)
        ast.fix_missing_locations(fresh._tree)
        return fresh._compiled()

    def _compiled(self) -> dict[Key, CodeType]:
        """The code of all functions, but of those that have name and line in common."""
        codes = [*_nested(compile(self._tree, self._file, "exec", dont_inherit=True))]
        times = Counter(map(_key, codes))
        return {_key(code): code for code in codes if times[_key(code)] == 1}


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno


def _nested(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _nested(constant)


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


# Where faults can be.


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """The functions that are in no other."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + child.name, child
            case ast.Lambda():
                yield f"{prefix}<lambda>", child
            case ast.ClassDef():
                yield from _functions(child, f"{prefix}{child.name}.")
            case _:
                yield from _functions(child, prefix)


def _places(tree: ast.AST) -> Iterator[_Place]:
    for name, function in _functions(tree):
        parents: list[ast.AST] = [function]
        for parent in parents:
            for field, position, child in _children(parent):
                if parent is not function or field == "body":
                    yield _Place(name, function, parent, field, position, child)
                    parents.append(child)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    is_check = isinstance(node, ast.keyword) and node.arg == "strict"  # of lengths, in zip
    if is_check or isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        held = (
            enumerate(cast("list[object]", value)) if isinstance(value, list) else [(None, value)]
        )
        for position, child in held:
            if isinstance(child, ast.AST):
                yield field, position, child


# What may stand there.


def alternatives(node: ast.AST) -> Iterable[ast.AST]:
    """What a programmer could have written there by mistake.

    >>> for change in alternatives(ast.parse("max(x, y)", mode="eval").body):
    ...     print(ast.unparse(change))
    min(x, y)
    x
    y
    """
    change = _CHANGES.get(type(node))
    return change(node) if change else ()


def _of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for number, op in enumerate(node.ops):
        ops = [*node.ops[:number], _COMPARED[type(op)](), *node.ops[number + 1 :]]
        yield ast.Compare(node.left, ops, node.comparators)


def _of_operation(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in _COMPUTED:
        yield ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)


def _of_update(node: ast.AugAssign) -> Iterator[ast.AST]:
    if type(node.op) in _COMPUTED:
        yield ast.AugAssign(node.target, _COMPUTED[type(node.op)](), node.value)


def _of_connective(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _of_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _of_choice(node: ast.IfExp) -> Iterator[ast.AST]:
    yield node.body
    yield node.orelse


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    name, arguments = _shown(node.func), node.args
    if name in _TURNED:
        yield ast.Call(ast.Name(_TURNED[name], ast.Load()), arguments, node.keywords)
    are_many = any(isinstance(each, ast.Starred) for each in arguments)
    if name in _LEFT_OUT and not are_many and (name not in _TURNED or len(arguments) > 1):
        yield from arguments


def _of_name(node: ast.Attribute | ast.Name) -> Iterator[ast.AST]:
    match node:
        case ast.Attribute(value, name, ast.Load()) if name in _OPPOSITE:
            yield ast.Attribute(value, _OPPOSITE[name], ast.Load())
        case ast.Name("INFINITY" | "NEGATIVE_INFINITY" as name):
            yield ast.Name(_OPPOSITE[name], ast.Load())
        case _:
            pass


def _of_comprehension(node: ast.comprehension) -> Iterator[ast.AST]:
    for number in range(len(node.ifs)):
        ifs = [*node.ifs[:number], *node.ifs[number + 1 :]]
        yield ast.comprehension(node.target, node.iter, ifs, node.is_async)


def _of_statement(node: ast.Expr) -> Iterator[ast.AST]:
    if isinstance(node.value, ast.Call):
        yield ast.Pass()


_CHANGES: Final[Mapping[type[ast.AST], Callable[[Any], Iterable[ast.AST]]]] = {
    ast.Compare: _of_comparison,
    ast.BinOp: _of_operation,
    ast.AugAssign: _of_update,
    ast.BoolOp: _of_connective,
    ast.UnaryOp: _of_sign,
    ast.Constant: _of_constant,
    ast.IfExp: _of_choice,
    ast.Call: _of_call,
    ast.Attribute: _of_name,
    ast.Name: _of_name,
    ast.comprehension: _of_comprehension,
    ast.Expr: _of_statement,
    ast.Break: lambda _: [ast.Continue()],
    ast.Continue: lambda _: [ast.Break()],
}


# Which faults would change something.


def _is_value(place: _Place) -> bool:
    """Whether a lambda can compute what is there: it binds no name of its function."""
    own = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return (
        isinstance(place.node, ast.expr)
        and not isinstance(place.parent, ast.pattern)
        and not any(
            isinstance(each, own) or (isinstance(each, ast.Name) and each.id == "super")
            for each in ast.walk(place.node)
        )
    )


def _watch(changes: Sequence[tuple[_Place, ast.AST, int]]) -> None:
    place = changes[0][0]
    numbers = [number for *_, number in changes]
    match place.node:
        case ast.expr() as node if _is_value(place):
            place.hold(
                _watched(numbers, node, [cast("ast.expr", other) for _, other, _ in changes])
            )
        case ast.comprehension(ifs=ifs) as node:
            always = [ast.Constant(value=True) for _ in numbers]
            node.ifs = [_watched(numbers, each, always) for each in ifs]
        case ast.Expr() | ast.AugAssign() as node:
            node.value = ast.BoolOp(ast.Or(), [_reached(numbers), node.value])
        case ast.Break() | ast.Continue() as node:
            place.hold(ast.If(ast.UnaryOp(ast.Not(), _reached(numbers)), [node], []))
        case ast.expr() as node if not isinstance(place.parent, ast.pattern):
            place.hold(ast.BoolOp(ast.Or(), [_reached(numbers), node]))
        case _ if not isinstance(place.root, ast.Lambda):  # a pattern
            place.root.body.insert(0, ast.Expr(_reached(numbers)))
        case _:
            pass


def _watched(numbers: Sequence[int], node: ast.expr, others: Sequence[ast.expr]) -> ast.expr:
    none = ast.arguments([], [], None, [], [], None, [])
    computed = [ast.Lambda(none, each) for each in (node, *others)]
    held = ast.Tuple([ast.Constant(number) for number in numbers], ast.Load())
    return ast.Call(ast.Name("mutation_watch", ast.Load()), [held, *computed], [])


def _reached(numbers: Sequence[int]) -> ast.expr:
    return ast.parse(f"mutation_reached({numbers})", mode="eval").body


# Planting.


class Functions:
    """All functions of some modules that a process holds, whatever else holds them, too."""

    def __init__(self, files: Iterable[str]) -> None:
        wanted = set(files)
        self._held: dict[tuple[str, Key], list[FunctionType]] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename in wanted:
                code = each.__code__
                self._held.setdefault((code.co_filename, _key(code)), []).append(each)

    def plant(self, codes: Mapping[Key, CodeType]) -> None:
        """Give the functions other code."""
        for key, code in codes.items():
            for function in self._held.get((code.co_filename, key), ()):
                if len(function.__code__.co_freevars) == len(code.co_freevars):
                    function.__code__ = code
