"""XLA's indexing maps, as its CPU compiler prints them while it compiles a program.

XLA reads no expressions: it composes the maps of operations and simplifies them. So this peer only
answers problems that come with a program that moves elements. The program is compiled; of the maps
that the compiler prints, those count that have the problem's value. How long XLA took to simplify
them is not known.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Iterator
from itertools import permutations
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.peers import Answer, Native, Peer, UnsupportedError
from benchmarks.problems import Movement, Problem, seeded
from indexing import parse_map
from simplifier.expr import form as forms
from simplifier.expr.form import Form
from simplifier.expr.operations import substitute
from tests.evaluation import first_difference

POINTS: Final = 200
_MAP: Final = re.compile(r'#xla\.indexing_map<"([^"]*)">')


def load() -> Peer:
    """The peer in jaxlib."""
    adapter = Adapter(importlib.import_module("jax"))
    return Peer("XLA", "of jaxlib " + importlib.metadata.version("jaxlib"), adapter.solve)


class Adapter:
    """Builds and compiles programs, and reads the maps."""

    def __init__(self, jax: Native) -> None:
        self._jax = jax

    def solve(self, problem: Problem) -> Answer:
        """Every map that the compiler printed for the problem."""
        if problem.movement is None:
            raise UnsupportedError("an expression without a program")
        points = problem.points(seeded(problem.name), POINTS)
        printed = dict.fromkeys(_printed(self._log(problem.movement)))
        candidates = {form.key: form for text in printed for form in _forms(text, problem)}
        found = tuple(
            form
            for form in candidates.values()
            if first_difference(problem.form, form, points) is None
        )
        if not found:
            raise UnsupportedError("the compiler composed no such map")
        return Answer(found, nan)

    def _log(self, movement: Movement) -> str:
        """What the compiler prints for a program that moves elements and computes something."""

        def program(array: Native) -> Native:
            for kind, numbers in movement.steps:
                array = getattr(array, kind)(numbers)
            return self._jax.numpy.exp(array)

        operand = self._jax.ShapeDtypeStruct(movement.operand, "float32")
        with TemporaryDirectory() as folder:
            dump = {"xla_dump_to": folder, "xla_dump_emitter_re": ".*"}
            self._jax.jit(program).lower(operand).compile(compiler_options=dump)
            logs = sorted(Path(folder).glob("*mlir-passes.log"))
            return "".join(log.read_text("utf-8") for log in logs)


def _printed(log: str) -> Iterator[str]:
    """The texts of the maps; XLA prints ``/`` for quotients rounded down."""
    return (text.replace(" / ", " floordiv ") for text in _MAP.findall(log))


def _forms(text: str, problem: Problem) -> Iterator[Form]:
    """The results of a map, whichever variables of the problem its dimensions may be.

    The compiler turns the dimensions and drops those that a map does not use.
    """
    found = parse_map(text)
    if found.constraints or len(found.domain.bounds) > len(problem.bounds):
        return
    for chosen in permutations(problem.bounds, len(found.domain.bounds)):
        if [interval for _, interval in chosen] == [*found.domain.bounds.values()]:
            names = (forms.variable(name) for name, _ in chosen)
            renamed = dict(zip(found.domain.bounds, names, strict=True))
            yield from substitute(found.forms, renamed)
