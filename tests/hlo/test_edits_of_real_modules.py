"""Real modules after all kinds of edits: XLA reads them, and they compute what they computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ops import hlo
from ops.hlo import Computation, HloModule, ModuleEditor
from tests.hlo.modules import module_text
from tests.hlo.running import RUNNING, assert_same, results, results_of

MAX_OUTLINED = 5
"""Instructions in a row that become a computation of their own."""


def inlined(editor: ModuleEditor, module: HloModule) -> None:
    """No call is left, and no fusion."""
    for each in module.instructions:
        if each.opcode in {"call", "fusion"}:
            editor.inline(each)
    editor.remove_dead_code()


def cloned(editor: ModuleEditor, module: HloModule) -> None:
    """A clone takes every use of each instruction; the originals go."""
    for each in module.instructions:
        if each.opcode != "parameter":
            editor.replace_uses(each, editor.clone(each))
    editor.remove_dead_code()


def called(editor: ModuleEditor, module: HloModule) -> None:
    """Neighbours become calls; dead code goes."""
    for computation in (module.entry, *bodies_of_loops(module)):
        free = [each for each in computation.instructions if each.opcode != "parameter"]
        for first in range(0, len(free), MAX_OUTLINED):
            editor.outline(free[first : first + MAX_OUTLINED], "call")
    editor.remove_dead_code()


def negated_twice(editor: ModuleEditor, module: HloModule) -> None:
    """Every user of a parameter reads what two negations make of it."""
    for parameter in module.entry.parameters:
        if parameter.shape.is_array and parameter.shape.element_type.kind.name == "FLOAT":
            users = editor.users(parameter)
            once = editor.insert("negate", [parameter])
            editor.replace_uses(parameter, editor.insert("negate", [once]), users)


def bodies_of_loops(module: HloModule) -> list[Computation]:
    return [each.attributes["body"] for each in module.find(opcode="while")]


OPTIMIZED = [name for name in RUNNING if not name.startswith("unoptimized/")]
OTHERS = [name for name in RUNNING if name not in OPTIMIZED]
CASES = [
    *((name, inlined) for name in OPTIMIZED),
    *((name, change) for name in OTHERS for change in (cloned, called, negated_twice)),
]


@pytest.mark.needs("jax")
@pytest.mark.parametrize(("name", "change"), CASES)
def test_a_real_module_computes_the_same_after(
    name: str, change: Callable[[ModuleEditor, HloModule], None]
) -> None:
    module = hlo.parse(module_text(name))
    editor = hlo.edit(module)
    change(editor, module)
    after = editor.finish()
    assert_same(results_of(name), results(after))
    assert change is not inlined or not after.find(opcode="fusion")


@pytest.mark.needs("jax")
def test_a_module_that_computes_another_thing_is_not_the_same() -> None:
    module = hlo.parse(module_text("unoptimized/softmax"))
    editor = hlo.edit(module)
    editor.replace_uses(editor.root(), editor.insert("negate", [editor.root()]))
    with pytest.raises(AssertionError):
        assert_same(results_of("unoptimized/softmax"), results(editor.finish()))
