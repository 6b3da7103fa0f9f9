"""PyTorch Inductor's simplification of index expressions, on sympy with its own functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import sympy

from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Native, Peer, UnsupportedError, Words
from benchmarks.problems import Problem
from simplifier import ConversionError
from simplifier.expr.form import Form, variable
from simplifier.expr.operations import substitute
from simplifier.expr.sympy import from_sympy

FAR: Final = 1 << 40
"""The size of unbounded variables, because Inductor requires sizes."""


def load() -> Peer:
    """The peer."""
    sizevars = importlib.import_module("torch._inductor.sizevars")
    functions = importlib.import_module("torch.utils._sympy.functions")
    ranges = importlib.import_module("torch.utils._sympy.value_ranges")
    adapter = Adapter(sizevars.SizeVarAllocator, functions, ranges.ValueRanges)
    version = importlib.import_module("torch").__version__
    forget = importlib.import_module("sympy.core.cache").clear_cache
    return Peer("PyTorch Inductor", version, adapter.solve, forget)


class Adapter:
    """Builds and reads expressions of Inductor; its variables begin at 0."""

    def __init__(
        self, allocator: Callable[[], Native], functions: Native, interval: Callable[..., Native]
    ) -> None:
        self._allocator = allocator
        self._interval = interval
        self._words: Words = {
            "//": functions.FloorDiv,
            "%": partial(_remainder, functions),
            "min": functions.Min,
            "max": functions.Max,
        }

    def solve(self, problem: Problem) -> Answer:
        """Two results: simplified, and multiplied out and simplified again."""
        bounds = problem.bounds
        symbols = {name: sympy.Symbol(name, integer=True, nonnegative=True) for name, _ in bounds}
        starts = {name: interval.lower or 0 for name, interval in bounds}
        sizes = {symbols[name]: _size(starts[name], interval.upper) for name, interval in bounds}
        language = Language(lambda name: symbols[name] + starts[name], sympy.Integer, self._words)
        expression, allocator = language.read(problem.text), self._allocator()
        known = {symbol: self._interval(0, size - 1) for symbol, size in sizes.items()}
        allocator.shape_env.var_to_range.update(known)
        result, seconds = timed(lambda: allocator.simplify_with_ranges(expression, sizes))
        again = allocator.simplify_with_ranges(sympy.expand(result), sizes)
        return Answer(tuple(_read(found, starts) for found in (result, again)), seconds)


def _size(start: int, upper: int | None) -> int:
    return FAR if upper is None else upper - start + 1


def _remainder(functions: Native, numerator: Native, divisor: Native) -> Native:
    """Inductor's own remainder only takes non-negative numbers."""
    if numerator.is_nonnegative:
        return functions.ModularIndexing(numerator, 1, divisor)
    return functions.PythonMod(numerator, divisor)


def _read(expression: Native, starts: Mapping[str, int]) -> Form:
    """The form of an expression of Inductor."""
    try:
        form = from_sympy(expression)
    except ConversionError as error:
        raise UnsupportedError(str(error)) from error
    shifted = {name: variable(name).plus_constant(-start) for name, start in starts.items()}
    return substitute([form], shifted)[0]
