"""MLIR's affine expressions, which simplify when they are built and know no bounds."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks import peers
from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Native, Peer, UnsupportedError, Words
from benchmarks.problems import Problem
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form


def load() -> Peer:
    """The peer in jaxlib."""
    adapter = Adapter(importlib.import_module("jaxlib.mlir.ir"))
    return Peer("MLIR", "of jaxlib " + importlib.metadata.version("jaxlib"), adapter.solve)


class Adapter:
    """Builds and reads affine expressions."""

    def __init__(self, ir: Native) -> None:
        self._ir = ir
        self._words: Words = {
            "//": _guarded(ir.AffineExpr.get_floor_div),
            "%": _guarded(ir.AffineExpr.get_mod),
        }

    def solve(self, problem: Problem) -> Answer:
        """The result of ``simplify_affine_expr``; the time includes building the expression."""
        names = [name for name, _ in problem.bounds]
        with self._ir.Context():
            result, seconds = timed(lambda: self._simplified(problem.text, names))
            return Answer((self._read(result, names),), seconds)

    def _simplified(self, text: str, names: list[str]) -> Native:
        get = self._ir.AffineDimExpr.get
        dimensions: dict[str, Native] = {name: get(place) for place, name in enumerate(names)}
        constant = self._ir.AffineConstantExpr.get
        language = Language(lambda name: dimensions[name], constant, self._words)
        return self._ir.AffineExpr.simplify_affine_expr(language.read(text), len(names), 0)

    def _read(self, expression: Native, names: Sequence[str]) -> Form:
        expression = expression.maybe_downcast()
        kind = type(expression).__name__
        if kind == "AffineConstantExpr":
            return forms.constant(expression.value)
        if kind == "AffineDimExpr":
            return forms.variable(names[int(expression.position)])
        return _READERS[kind](self._read(expression.lhs, names), self._read(expression.rhs, names))


def _guarded(divide: Callable[..., Native]) -> Callable[..., Native]:
    """Allows only positive constant divisors, because MLIR may crash for others."""

    def division(numerator: Native, divisor: Native) -> Native:
        by = divisor.maybe_downcast()
        if type(by).__name__ != "AffineConstantExpr" or by.value < 1:
            raise UnsupportedError(f"division by {by}")
        return divide(numerator, divisor)

    return division


_READERS: Final[Mapping[str, Callable[..., Form]]] = {
    "AffineAddExpr": Form.plus,
    "AffineMulExpr": peers.product,
    "AffineFloorDivExpr": operations.floordiv,
    "AffineCeilDivExpr": operations.ceildiv,
    "AffineModExpr": operations.mod,
}
