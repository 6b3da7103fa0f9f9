"""What JAX lowered and compiled is read as it is, without a detour over text."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

import importlib
from typing import Any

import pytest

from ops import hlo, summary
from simplifier.errors import ArgumentError
from tests.cases import for_all


def lowered() -> Any:  # noqa: ANN401 - untyped
    jax, np = map(importlib.import_module, ("jax", "numpy"))
    return jax.jit(lambda x: jax.nn.softmax(x, axis=-1)).lower(np.ones((4, 8), np.float32))


@pytest.mark.needs("jax")
def test_lowered_is_the_program_as_it_was_written() -> None:
    program = lowered()
    module = hlo.parse(program)
    assert str(module) == str(hlo.parse(program.as_text("hlo")))
    assert len(module.entry.find(opcode="reduce")) == 2
    assert not module.find(opcode="fusion")


@pytest.mark.needs("jax")
def test_compiled_is_what_runs() -> None:
    program = lowered().compile()
    module = hlo.parse(program)
    assert str(module) == str(hlo.parse(program.as_text()))
    assert module.find(opcode="fusion")
    assert len(summary(module)) < len(summary(hlo.parse(lowered())))


@pytest.mark.needs("jax")
def test_the_text_of_lowered_programs_is_read_and_their_objects_of_mlir_are_refused() -> None:
    assert hlo.parse(lowered().as_text()).entry.root.shape == hlo.parse(lowered()).entry.root.shape
    with pytest.raises(ArgumentError, match="what JAX lowered or compiled"):
        hlo.parse(lowered().compiler_ir("stablehlo"))


class _Silent:
    """A program of which there is no text, as of some compiled ones."""

    def as_text(self) -> None:
        """Nothing."""


@for_all([None, 3, b"HloModule m", _Silent(), _Silent])
def test_what_prints_no_text(program: Any) -> None:  # noqa: ANN401 - whatever people pass
    with pytest.raises(ArgumentError, match=r"hlo\.parse: .*expected a string, or what JAX"):
        hlo.parse(program)
