"""This project as a peer, and the time of each of its stages."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Final

from benchmarks.clock import timed
from benchmarks.peers import Answer, Peer
from benchmarks.problems import Problem
from simplifier import parse_expr, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.sympy import to_sympy
from simplifier.fixpoint import simplified

REPEATS: Final = 1000
"""A cached answer takes about as long as reading the clock, so this many are timed at once."""


def load() -> Peer:
    """This project; its time includes parsing and extraction."""
    return Peer("ours", "", _solve, forget)


def forget() -> None:
    """Clear all caches, so that the next problem is cold."""
    scope_of.cache_clear()
    gc.collect(1)  # scopes are reference cycles, all of them young


def _solve(problem: Problem) -> Answer:
    form, seconds = timed(lambda: simplified(scope_of(problem.bounds), problem.form))
    return Answer((form,), seconds)


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds that the stages of one cold problem took."""

    canonical: float
    """From text to the canonical form."""
    spelled: float
    """From the canonical form to the cheapest form."""
    exported: float
    """From there to a sympy expression."""
    again: float
    """The whole question from sympy to sympy, asked again."""


def stages(problem: Problem) -> Stages:
    """One cold run."""
    forget()
    bounds = problem.bounds
    _, canonical = timed(lambda: scope_of(bounds).canonical(problem.form))
    form, spelled = timed(lambda: simplified(scope_of(bounds), problem.form))
    _, exported = timed(lambda: to_sympy(form))
    question, box = parse_expr(problem.text), dict(bounds)
    simplify(question, box)
    _, again = timed(lambda: [simplify(question, box) for _ in range(REPEATS)])
    return Stages(canonical, spelled, exported, again / REPEATS)
