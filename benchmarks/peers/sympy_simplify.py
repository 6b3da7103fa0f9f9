"""``sympy.simplify`` on sympy's own ``floor``, ``Mod``, ``Min`` and ``Max``."""

from __future__ import annotations

import importlib
from typing import Final

import sympy

from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Native, Peer, UnsupportedError, Words
from benchmarks.problems import Problem
from simplifier.bounds.interval import Interval
from simplifier.expr.sympy import from_sympy


def load() -> Peer:
    """The peer; it is always there."""
    forget = importlib.import_module("sympy.core.cache").clear_cache
    return Peer("sympy.simplify", sympy.__version__, _solve, forget)


def _solve(problem: Problem) -> Answer:
    symbols = {name: _symbol(name, interval) for name, interval in problem.bounds}
    expression = Language(symbols.__getitem__, sympy.Integer, _WORDS).read(problem.text)
    result, seconds = timed(lambda: sympy.simplify(expression))
    try:
        return Answer((from_sympy(result),), seconds)
    except ValueError as error:
        raise UnsupportedError(str(error)) from error


def _symbol(name: str, interval: Interval) -> sympy.Symbol:
    """A symbol with its sign; sympy knows no other bounds."""
    if interval.lower is not None and interval.lower >= 0:
        return sympy.Symbol(name, integer=True, nonnegative=True)
    return sympy.Symbol(name, integer=True)


def _floordiv(numerator: Native, divisor: Native) -> Native:
    return sympy.floor(numerator / divisor)


_WORDS: Final[Words] = {"//": _floordiv, "%": sympy.Mod, "min": sympy.Min, "max": sympy.Max}
