"""Loops of JAX functions: their maps, against what changes with each element when JAX runs them."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ops
from tests.evaluation import Pair
from tests.jax.test_jaxpr import Function, arguments, pairs
from tests.of_jax import OfJax, jax, jnp, lax

pytestmark = pytest.mark.needs("jax")


def sums(xs: OfJax, start: OfJax) -> OfJax:
    """The sums of the rows before each, and of the first row."""
    return lax.scan(lambda sum_, x: (sum_ + x, sum_ * 2), start, xs)[1]


def delayed(xs: OfJax) -> OfJax:
    """Each row, two rows later."""
    nothing = jnp.zeros_like(xs[0])
    return lax.scan(lambda carry, x: ((x, carry[0]), carry[1]), (nothing, nothing), xs)[1]


def products(xs: OfJax, w: OfJax) -> OfJax:
    return lax.map(lambda x: x @ w, xs)


def countdown(x: OfJax) -> OfJax:
    start = (jnp.int32(6), x)
    return lax.while_loop(lambda s: s[0] > 1, lambda s: (s[0] - 2, jnp.roll(s[1], 1)), start)[1]


def nested(xs: OfJax) -> OfJax:
    """The last row is that of each table."""
    zero = jnp.float32(0)
    return lax.map(lambda row: lax.scan(lambda sum_, x: (sum_ + x, sum_), zero, row)[1], xs)


LOOPS: dict[str, Function] = {
    "scan": (sums, ("4, 3", "3")),
    "scan, in reverse":
        (lambda xs: lax.scan(lambda c, x: (x, c), xs[1], xs, reverse=True)[1], ("4, 3",)),
    "scan with a delay": (delayed, ("5, 2",)),
    "scan without outputs":
        (lambda xs: lax.scan(lambda c, x: (c * 2 + x, None), xs[0], xs)[0], ("4, 2",)),
    "map": (products, ("4, 3", "3, 2")),
    "map of a scan": (nested, ("3, 4",)),
    "fori_loop": (lambda x: lax.fori_loop(1, 4, lambda _, v: jnp.roll(v, 2), x), ("5",)),
    "while_loop": (countdown, ("5",)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "shapes"), LOOPS.values(), ids=LOOPS)
def test_a_loop_reads_what_its_results_feel(
    function: Callable[..., OfJax], shapes: tuple[str, ...]
) -> None:
    module = ops.from_jax(function, *arguments(shapes))
    assert any(each.opcode == "while" for each in module.instructions)
    assert all(loop.trip_count for loop in ops.loops(module))
    assert pairs(module, {}) == felt(function, shapes)


SYMBOLIC: dict[str, tuple[Function, bool]] = {
    "scan": ((sums, ("n, 3", "3")), True),
    "scan with a delay": ((delayed, ("n, 2",)), True),
    "map": ((products, ("n, 3", "3, 2")), False),
    "map of rows of any size": ((lambda xs: lax.map(lambda x: -x, xs), ("4, n",)), True),
    "fori_loop": ((lambda x: lax.fori_loop(0, 3, lambda _, v: v[::-1], x), ("n",)), False),
}
"""Functions, and whether the maps say exactly what is read."""


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize(("row", "is_exact"), SYMBOLIC.values(), ids=SYMBOLIC)
def test_a_loop_of_symbolic_length_reads_what_its_results_feel(
    row: Function, is_exact: bool, size: int
) -> None:
    function, shapes = row
    said = pairs(ops.from_jax(function, *arguments(shapes)), {"n": size})
    seen = felt(function, tuple(each.replace("n", str(size)) for each in shapes))
    assert all(some <= every for some, every in zip(seen, said, strict=True))
    if is_exact:
        assert said == seen


def felt(function: Callable[..., OfJax], shapes: tuple[str, ...]) -> list[set[Pair]]:
    """What changes in the result with each element of each argument."""
    given = [
        np.random.default_rng(0).normal(size=each.shape).astype("f4")
        for each in arguments(shapes, {})
    ]
    run = jax.jit(function)
    before = np.asarray(run(*given))
    found: list[set[Pair]] = []
    for number, argument in enumerate(given):
        found.append(set())
        for place in np.ndindex(argument.shape):
            changed = [each.copy() for each in given]
            changed[number][place] += 1000
            differs = np.argwhere(np.asarray(run(*changed)) != before)
            found[-1] |= {(tuple(map(int, index)), place) for index in differs}
    return found


def test_iterations_of_a_scan_are_those_of_a_loop() -> None:
    (loop,) = ops.loops(ops.from_jax(sums, *arguments(("8, 3", "3"))))
    assert str(loop) == "%while.1 runs 8 times, array 1 counts from 0 by 1"
    assert [*map(str, loop.dependences())] == ["array 2: (k) -> (k + 1), domain: k in [0, 6]"]
    assert [update.is_disjoint() for update in loop.updates()] == [True]


def test_a_truth_that_is_carried_decides_and_data_may_be_a_limit() -> None:
    """The condition is an element of the state, and computes nothing."""

    def step(state: OfJax) -> OfJax:
        x, _ = state
        return x * 2, x[0] < 9

    def function(x: OfJax) -> OfJax:
        return lax.while_loop(lambda state: state[1], step, (x, x[0] < 9))[0]

    module = ops.from_jax(function, *arguments(("3",)))
    (loop,) = ops.loops(module)
    assert loop.unknown == "array 1 decides, and its start is not known"
    assert pairs(module, {}) == [{((i,), (j,)) for i in range(3) for j in {0, i}}]
    limited = lambda x, n: lax.fori_loop(0, n, lambda _, v: v * 2, x)  # noqa: E731
    (loop,) = ops.loops(ops.from_jax(limited, *arguments(("5", "; int32"))))
    assert loop.unknown == "array 1 is a limit that is not known"
