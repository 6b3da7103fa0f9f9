"""Which laws led to a result: one simplification, step by step.

A trace works on a scope of its own, so it does not depend on earlier simplifications. It follows
the rewrite log of that scope from the input to the result and leaves out what did not contribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, overload

from simplifier.canonical.scope import Scope, traced_scope
from simplifier.expr.form import ZERO, Form
from simplifier.expr.printer import format_form
from simplifier.fixpoint import simplified, whole_or_parts
from simplifier.laws.rewrite_log import Rewrite, RewriteLog
from simplifier.tools.display import html_of_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sympy

    from simplifier.laws.law import Law
    from simplifier.problem import Problem


@dataclass(frozen=True, slots=True)
class Step:
    """``before`` was rewritten to ``after``, by one law or by several at once.

    Where no law is named, the text says why the two are equal: what is too large to be looked into
    was kept as one term, or isl has proved it.
    """

    laws: tuple[Law, ...]
    before: sympy.Expr
    after: sympy.Expr
    text: str
    """Before, after and the names of the laws, as they are printed."""

    def __str__(self) -> str:
        return self.text


class Trace(Sequence[Step]):
    """The steps that lead from an expression to its simplest form.

    First each operation of the expression, inner ones first, comes into canonical form: it is shown
    on canonical arguments, with all laws that were applied to it. Then the canonical form is
    written out, one spelling after the other. Both come again as often as that changes something.

    >>> from simplifier import parse_expr, simplify
    >>> trace = Trace()
    >>> simplify(parse_expr("(x floordiv 8) * 8 + x mod 8"), {}, trace=trace)
    x
    >>> print(trace)
    x mod 8
      -> x - (x floordiv 8) * 8  (remainder)
    """

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] - it changes

    def __init__(self) -> None:
        self._steps: tuple[Step, ...] = ()
        self.lemmas: tuple[Law, ...] = ()
        """What is said of ranges and was used, in the order of first use."""

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws of all steps, each once, in the order of first use."""
        return tuple(dict.fromkeys(law for step in self for law in step.laws))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<trace of {len(self)} step{'s' * (len(self) != 1)}>"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))

    def follow(self, problem: Problem) -> Form:
        """The simplest form of a problem; the steps to it replace those of the trace."""
        self._steps, self.lemmas = (), ()
        scope = problem.scope(traced_scope)
        if scope is None:
            return ZERO
        result = simplified(scope, problem.form)
        rewrites = dict.fromkeys(rewrites_of(scope, problem.form))
        self._steps = tuple(_step(rewrite, problem, "kept as one term") for rewrite in rewrites)
        self.lemmas = tuple(_log(scope).lemmas)
        return result

    def finish(self, problem: Problem, before: Form, after: Form) -> None:
        """One more step, that no law but isl has proved."""
        if after != before:
            self._steps += (_step(Rewrite((), before, after), problem, "proved by isl"),)


def _step(rewrite: Rewrite, problem: Problem, otherwise: str) -> Step:
    before, after = format_form(rewrite.before), format_form(rewrite.after)
    names = ", ".join(law.name for law in rewrite.laws) or otherwise
    text = f"{before}\n  -> {after}  ({names})"
    return Step(
        rewrite.laws, problem.restored(rewrite.before), problem.restored(rewrite.after), text
    )


def _log(scope: Scope) -> RewriteLog:
    return scope.log or RewriteLog()


def rewrites_of(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """The steps from a form to its cheapest one, which the scope has found already."""
    log = _log(scope)
    for begun in log.iterations[form.key][:-1]:
        yield from _solved(scope, begun)


def _solved(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """By the smaller problem, where that was taken: all its steps at once."""
    rewrite = _log(scope).solved.get(form.key)
    if rewrite is None or scope.smaller is None:
        yield from _read(scope, form)
        return
    solution, smaller = scope.smaller
    inner = [law for step in rewrites_of(smaller, solution.substituted(form)) for law in step.laws]
    yield from _changed(tuple(dict.fromkeys((*rewrite.laws, *inner))), *rewrite[1:])
    yield from whole_or_parts(scope, rewrite.after)


def _read(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """Read in another way first, where that was taken."""
    rewrite = _log(scope).read.get(form.key)
    if rewrite is not None:
        yield rewrite
        form = rewrite.after
    yield from whole_or_parts(scope, form)


def _changed(laws: tuple[Law, ...], before: Form, after: Form) -> Iterator[Rewrite]:
    if before != after:
        yield Rewrite(laws, before, after)
