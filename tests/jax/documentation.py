"""The table in docs/jax.md of what is known of each primitive; run as a program, it writes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

import ops
from ops import hlo, loops
from ops.rules.elementwise import ELEMENTWISE
from tests.jax.test_primitives import FUNCTIONS, called_targets
from tests.of_jax import OfJax, jax
from tests.ops.opcode_programs import PROGRAMS
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "jax.md"
TABLE: Final = "primitives"
"""The name of the marks between which the table is generated."""

_ROWS: Final = {
    "exact": "exact",
    "contained": "contained: they hold what values decide",
    "unknown": "unknown",
}


def table() -> str:
    """A row for each answer, with the primitives that have it."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, answer in sorted(answers().items()):
        names[answer].append(f"`{name}`")
    rows = (f"| {text} | {', '.join(names[answer])} |" for answer, text in _ROWS.items())
    return "\n".join(["| the maps are | of |", "| --- | --- |", *rows])


def answers() -> dict[str, str]:
    """The answer for each primitive that the functions reach: the worst of its equations.

    A call, as of ``jit``, says no more than what is called; its best answer is its own.
    """
    given, calls = defaultdict[str, list[str]](list), set[str]()
    for function, values in FUNCTIONS.values():
        for name, module, is_call in _equations(jax.jit(function).trace(*values).jaxpr.jaxpr, None):
            given[name].append(_answer(module))
            calls |= {name} if is_call else set()
    order = [*_ROWS].index
    return {name: (min if name in calls else max)(each, key=order) for name, each in given.items()}


def _equations(
    jaxpr: OfJax, around: hlo.HloModule | None
) -> Iterator[tuple[str, hlo.HloModule, bool]]:
    """Each primitive, the module of its equation or of that around it, and whether it is a call."""
    core = import_module("jax.extend.core")
    unnamed = jaxpr.debug_info.with_unknown_names()
    for equation in jaxpr.eqns:
        taken = [each for each in equation.invars if not isinstance(each, core.Literal)]
        parts = {"constvars": [], "invars": taken, "outvars": equation.outvars, "eqns": [equation]}
        alone = jaxpr.replace(**parts, debug_info=unnamed)
        run = core.jaxpr_as_fun(core.ClosedJaxpr(alone, ()))
        module = around
        with suppress(NameError):
            module = ops.from_jax(run, *(each.aval for each in taken))
        called = [*core.jaxprs_in_params(equation.params)]
        if module is not None:
            yield equation.primitive.name, module, bool(called)
        for each in called:
            yield from _equations(each, module)


def _answer(module: hlo.HloModule) -> str:
    if called_targets(module):
        return "unknown"
    counted = {loop.instruction for loop in loops(module) if loop.trip_count is not None}
    asked = (each for each in module.instructions if each not in counted)
    return "contained" if any(map(_is_wider, asked)) else "exact"


def _is_wider(instruction: hlo.Instruction) -> bool:
    if instruction.opcode == "scan":
        steps = {each.opcode for each in instruction.attributes["to_apply"].instructions}
        return not steps <= {*ELEMENTWISE, "parameter", "tuple"}
    return bool(instruction.opcode != "custom-call" and PROGRAMS[instruction.opcode].wider)


def with_table(page: str) -> str:
    """The page with the table of all primitives."""
    return with_generated(page, TABLE, table())


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
