"""TVM's arithmetic analyzer: rewrite rules, canonical form, and both in turn."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks import peers
from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Native, Peer, UnsupportedError, Words
from benchmarks.problems import Problem
from simplifier.bounds.context import Bounds
from simplifier.bounds.interval import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

INTEGER: Final = "int64"
STEPS: Final = 8
"""The most rounds of rewriting and canonical form."""


def load() -> Peer:
    """The peer; older releases name its modules ``tir`` and ``arith``."""
    tvm = importlib.import_module("tvm")
    adapter = Adapter(_first("tvm.tirx", "tvm.tir"), _first("tvm.sym", "tvm.arith"))
    return Peer("TVM", tvm.__version__, adapter.solve)


def _first(*names: str) -> Native:
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return importlib.import_module(names[-1])


class Adapter:
    """Builds and reads expressions of TVM."""

    def __init__(self, tir: Native, arith: Native) -> None:
        self._tir = tir
        self._arith = arith
        self._words: Words = {"//": tir.floordiv, "%": tir.floormod, "min": tir.min, "max": tir.max}

    def solve(self, problem: Problem) -> Answer:
        """The results of all entry points; the time is that of ``simplify``."""
        variables = {name: self._tir.Var(name, INTEGER) for name, _ in problem.bounds}
        language = Language(variables.__getitem__, self._constant, self._words)
        expression = language.read(problem.text)
        analyzer = self._analyzer(problem.bounds, variables)
        result, seconds = timed(lambda: analyzer.simplify(expression))
        others = [
            analyzer.simplify(expression, STEPS),
            analyzer.rewrite_simplify(expression),
            analyzer.canonical_simplify(expression),
        ]
        return Answer(tuple(map(_read, (result, *others))), seconds)

    def _constant(self, value: int) -> Native:
        if not -(1 << 63) <= value < 1 << 63:
            raise UnsupportedError(f"{value} has more than 64 bits")
        return self._tir.IntImm(INTEGER, value)

    def _analyzer(self, bounds: Bounds, variables: Mapping[str, Native]) -> Native:
        analyzer = self._arith.Analyzer()
        for name, interval in bounds:
            analyzer.update(variables[name], self._bound(interval))
        return analyzer

    def _bound(self, interval: Interval) -> Native:
        bound = self._arith.ConstIntBound
        return bound(
            bound.NEG_INF if interval.lower is None else interval.lower,
            bound.POS_INF if interval.upper is None else interval.upper,
        )


def _read(expression: Native) -> Form:
    """The form of an expression of TVM."""
    kind = type(expression).__name__
    if kind == "IntImm":
        return forms.constant(int(expression.value))
    if kind == "Var":
        return forms.variable(str(expression.name))
    if kind not in _READERS:
        raise UnsupportedError(kind)
    return _READERS[kind](_read(expression.a), _read(expression.b))


_READERS: Final[Mapping[str, Callable[..., Form]]] = {
    "Add": Form.plus,
    "Sub": peers.difference,
    "Mul": peers.product,
    "FloorDiv": operations.floordiv,
    "FloorMod": operations.mod,
    "Min": peers.minimum,
    "Max": peers.maximum,
}
