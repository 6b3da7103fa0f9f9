"""tinygrad's symbolic rewriting of UOps."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks import peers
from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Native, Peer, UnsupportedError, Words
from benchmarks.problems import Problem
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form

FAR: Final = 1 << 40
"""The bound of unbounded variables, because tinygrad requires bounds."""


def load() -> Peer:
    """The peer, if division of its UOps rounds down (0.13 and later)."""
    ops = importlib.import_module("tinygrad.uop.ops")
    if not hasattr(ops.Ops, "FLOORDIV"):
        raise ImportError("its division rounds towards zero; tinygrad>=0.13 rounds down")
    adapter = Adapter(ops)
    rules = importlib.import_module("tinygrad.uop.divandmod")
    version = importlib.metadata.version("tinygrad")
    return Peer("tinygrad", version, adapter.solve, rules.fold_divmod_general.cache_clear)


class Adapter:
    """Builds and reads UOps."""

    def __init__(self, ops: Native) -> None:
        self._uop = ops.UOp
        self._words: Words = {
            "//": self._uop.__floordiv__,
            "%": self._uop.__mod__,
            "min": self._uop.minimum,
            "max": self._uop.maximum,
        }

    def solve(self, problem: Problem) -> Answer:
        """The result of ``UOp.simplify``."""
        variables = {
            name: self._uop.variable(
                name,
                -FAR if interval.lower is None else interval.lower,
                FAR if interval.upper is None else interval.upper,
            )
            for name, interval in problem.bounds
        }
        language = Language(variables.__getitem__, self._uop.const, self._words)
        expression = language.read(problem.text)
        result, seconds = timed(expression.simplify)
        return Answer((_read(result),), seconds)


def _read(root: Native) -> Form:
    """The form of a UOp."""
    known: dict[Native, Form] = {}
    for uop in root.toposort():
        name = uop.op.name
        if name == "CONST":
            known[uop] = forms.constant(int(uop.arg))
        elif name in ("BUFFER", "PARAM", "DEFINE_VAR"):
            known[uop] = forms.variable(uop.arg.name)
        elif name in _READERS:
            known[uop] = _READERS[name](*(known[source] for source in uop.src))
        elif name != "STACK":
            raise UnsupportedError(name)
    return known[root]


def _flipped(form: Form, mask: Form) -> Form:
    """``~x = -x - 1``; tinygrad writes ``min(a, b)`` as ``~max(~a, ~b)``."""
    if mask != forms.constant(-1):
        raise UnsupportedError("XOR")
    (atom, factor), *others = form.terms.items() or [(None, 0)]
    if atom and atom.kind is AtomKind.MAX and factor == 1 and not others and not form.constant:
        return operations.minimum(_flipped(operand, mask) for operand in atom.arguments)
    return (-form).plus_constant(-1)


_READERS: Final[Mapping[str, Callable[..., Form]]] = {
    "ADD": Form.plus,
    "MUL": peers.product,
    "FLOORDIV": operations.floordiv,
    "FLOORMOD": operations.mod,
    "MAX": peers.maximum,
    "XOR": _flipped,
}
