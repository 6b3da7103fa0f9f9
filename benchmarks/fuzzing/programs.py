"""Random JAX programs of a few operations on small arrays, and their HLO.

A program is a chain of steps of some families. Programs depend on the seed alone, and so do their
first steps.
"""

# pyright: basic
# JAX says nothing of the types of what its functions take and give.

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.fuzzing.program_families import FAMILIES, Array, Step, array

jax: Any = importlib.import_module("jax")


@dataclass(frozen=True, eq=False)
class Program:
    """The steps of a program, by the names of their families, and the shapes of all inputs."""

    families: tuple[str, ...]
    steps: tuple[Step, ...]
    first: Array

    @property
    def inputs(self) -> list[Array]:
        """The shapes of all inputs."""
        return [self.first, *(spec for step in self.steps for spec in step.inputs)]

    @property
    def is_exact(self) -> bool:
        """Whether every dependence can be felt; a product hides it where the other factor is 0."""
        is_hiding = any(name in {"convolution", "dot"} for name in self.families[1:])
        return not is_hiding and all(step.is_exact for step in self.steps)

    def __call__(self, value: Any, *others: Any) -> Any:  # noqa: ANN401 - of JAX
        """The result, from values of the inputs."""
        rest = iter(others)
        for step in self.steps:
            value = step.apply(value, *(next(rest) for _ in step.inputs))
        return value

    def texts(self) -> dict[str, str]:
        """The HLO as JAX makes it, and as XLA compiles it for the CPU."""
        with jax.enable_x64(True):  # noqa: FBT003 - JAX's own
            lowered = jax.jit(self, keep_unused=True).lower(*self.inputs)
            unoptimized = lowered.compiler_ir("hlo").as_hlo_text()
            return {"unoptimized": unoptimized, "compiled": _plain(lowered.compile().as_text())}


def _plain(text: str) -> str:
    """The text without the places in Python that its instructions come from."""
    tables = re.sub(r"\nFileNames\n.*?(?=\n\n\n)", "", text, flags=re.DOTALL)
    return re.sub(r", metadata=\{[^}]*\}", "", tables)


def drawn(random: Random, *, most: int | None = None) -> Program:
    """A program of one to three steps, or of the first few of them."""
    name, count = random.choice(list(FAMILIES)), random.choice((1, 1, 2, 2, 3))
    first, step = _begun(random, name)
    names, steps, result = [name], [step], _result(first, step)
    while len(steps) < count:
        name = random.choice(list(FAMILIES))
        following = FAMILIES[name](random, result)
        if following is not None:
            names.append(name)
            steps.append(following)
            result = _result(result, following)
    kept = count if most is None else most
    return Program(tuple(names[:kept]), tuple(steps[:kept]), first)


def _begun(random: Random, family: str) -> tuple[Array, Step]:
    """An array, and a step of a family that takes it."""
    while True:
        first = array(random)
        step = FAMILIES[family](random, first)
        if step is not None:
            return first, step


def _result(operand: Array, step: Step) -> Array:
    with jax.enable_x64(True):  # noqa: FBT003 - JAX's own
        return jax.eval_shape(step.apply, operand, *step.inputs)
