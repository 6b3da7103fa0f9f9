"""The text of kernels: functions by name, and errors that point at a place in it."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, NoReturn

from simplifier import Span, TextError
from simplifier.errors import ArgumentError, check_type, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class TritonError(TextError):
    """A kernel that cannot be read: what stands where, and what was expected."""


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
        self.functions: Mapping[str, ast.FunctionDef] = {
            node.name: node for node in module.body if isinstance(node, ast.FunctionDef)
        }
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
            raise ArgumentError(f"{message}; expected one of: {listed([*self.functions])}")
        return found

    def span(self, node: ast.AST) -> Span:
        """Where a part of the text stands; of several lines, the first."""
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
    start = 0
    for _ in range(line - 1):
        start = source.find("\n", start) + 1
    end = source.find("\n", start)
    text = source[start : end if end >= 0 else len(source)]
    return start + len(text.encode()[:column].decode(errors="ignore"))


def _constants(module: ast.Module) -> list[tuple[str, ast.expr]]:
    """The variables of the module that are assigned once each, with what they are."""
    outside = [node for node in module.body if not isinstance(node, _FUNCTIONS)]
    assigned = Counter(names_assigned(outside))
    found: list[tuple[str, ast.expr]] = []
    for node in outside:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.append((name, value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.append((name, value))
            case _:
                pass
    return [(name, value) for name, value in found if assigned[name] == 1]


def parameters_of(function: ast.FunctionDef) -> list[ast.arg]:
    """All parameters of a function."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def defaults_of(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The defaults of the parameters that have some."""
    places = [*function.args.posonlyargs, *function.args.args]
    given = function.args.defaults
    last = places[len(places) - len(given) :]
    found = {each.arg: value for each, value in zip(last, given, strict=True)}
    only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return found | {each.arg: value for each, value in only if value is not None}


def names_assigned(body: Iterable[ast.stmt]) -> list[str]:
    """The variables that statements assign, in order, as often as they do."""
    nodes = (node for statement in body for node in ast.walk(statement))
    names = (node for node in nodes if isinstance(node, ast.Name))
    return [each.id for each in names if isinstance(each.ctx, ast.Store)]


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""What has variables of its own."""
