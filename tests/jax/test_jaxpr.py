"""JAX functions with symbolic sizes: for numbers, they have the maps of the program for these."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.
# ruff: noqa: PLW0108 - JAX is imported when a test asks it, not before

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sympy import sympify

import ops
from ops import ShapeError, Unknown, hlo, parameter_indexing, stablehlo
from ops.dependence.dependence import Dependence
from ops.jax.primitives import expression
from simplifier import symbol
from tests.cases import for_all, for_rows
from tests.evaluation import Pair, related
from tests.of_jax import OfJax, jax, jnp, lax
from tests.stablehlo.stablehlo_modules import maps_of

pytestmark = pytest.mark.needs("jax")

# What JAX is asked. Arguments are shapes, as JAX writes them.

Function = tuple["Callable[..., Any]", tuple[str, ...]]


def attention(x: OfJax, w: OfJax) -> OfJax:
    batch, length, _ = x.shape
    heads = (x @ w).reshape(batch, length, 2, 2).transpose(0, 2, 1, 3)
    scores = jnp.einsum("bhqd,bhkd->bhqk", heads, heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), heads)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, 4)


def convolved(x: OfJax, w: OfJax, steps: OfJax = 1, padding: str = "VALID") -> OfJax:
    return lax.conv_general_dilated(x, w, (steps,), padding)


def summed(
    x: OfJax, sizes: OfJax, steps: OfJax, padding: OfJax = "VALID", **dilation: OfJax
) -> OfJax:
    return lax.reduce_window(x, 0.0, lax.add, sizes, steps, padding, **dilation)


def branches_of(i: OfJax, *branches: OfJax) -> OfJax:
    return lax.cond(i > 0, *branches)


FUNCTIONS: dict[str, Function] = {
    "elementwise": (lambda x: -x * 2 + x**2, ("b, 3*s",)),
    "reshape": (lambda x: x.reshape(x.shape[0], -1, 4), ("b, 4*s",)),
    "flatten": (lambda x: x.reshape(-1), ("b, s, 2",)),
    "transpose": (lambda x: x.T, ("b, s",)),
    "sum": (lambda x: x.sum(axis=0), ("b, s + 1",)),
    "mean": (lambda x: x.mean(axis=1), ("b, s",)),
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), ("b, s",)),
    "matmul": (lambda x, y: x @ y, ("b, s", "s, 3")),
    "concatenate": (lambda x, y: jnp.concatenate([x, y, x], axis=1), ("b, s", "b, 2")),
    "slice": (lambda x: lax.slice_in_dim(x, 1, x.shape[1] - 1, axis=1), ("b, 2*s",)),
    "flip": (lambda x: lax.rev(x, (1,)), ("b, s",)),
    "pad": (lambda x: jnp.pad(x, ((0, 2), (x.shape[1], 1))), ("b, s",)),
    "outer": (lambda x, y: x[:, None] + y[None, :], ("b", "s")),
    "take": (lambda x, i: x[i], ("s, 2", "b; int32")),
    "sort": (lambda x: jnp.sort(x, axis=0), ("b, s",)),
    "pooling": (lambda x: summed(x, (1, 2), (1, 2)), ("b, 2*s",)),
    "attention": (attention, ("b, s, 4", "4, 4")),
    "flattened rest": (lambda x: x.reshape(-1, 2), ("b, 2*s",)),
    "two lengths": (lambda x, y: jnp.concatenate([x, y]), ("b", "2*b")),
    "counting": (lambda x: x + jnp.arange(x.shape[0]), ("b",)),
    "columns": (lambda x: x * lax.broadcasted_iota("float32", x.shape, 1), ("b, s",)),
    "one of each": (lambda x: jax.nn.one_hot(x, x.shape[0]), ("b; int32",)),
    "first half": (lambda x: x[: x.shape[0] // 2], ("b",)),
    "second half": (lambda x: x[x.shape[0] // 2 :], ("b",)),
    "every second": (lambda x: x[::2], ("b",)),
    "every third from one": (lambda x: x[1::3], ("b",)),
    "reversed": (lambda x: x[::-1], ("b",)),
    "the last": (lambda x: x[-1], ("b, s",)),
    "differences": (lambda x: x[1:] - x[:-1], ("b + 1",)),
    "broadcast": (lambda x: jnp.broadcast_to(x[:, None], (x.shape[0], 3)), ("b",)),
    "take rows": (lambda x, i: jnp.take(x, i, axis=0), ("b, s", "3; int32")),
    "take along": (lambda x, i: jnp.take_along_axis(x, i, axis=0), ("b, s", "b, s; int32")),
    "place of the greatest": (lambda x: jnp.argmax(x, axis=0), ("b, s",)),
    "place of the least": (lambda x: x.argmin(), ("b, s",)),
    "running sum": (lambda x: jnp.cumsum(x, axis=0), ("b, s",)),
    "running sum from behind": (lambda x: lax.cumsum(x, axis=1, reverse=True), ("b, s",)),
    "running maximum": (lambda x: lax.cummax(x, axis=0), ("b, s",)),
    "edges": (lambda x: jnp.pad(x, (1, 2), mode="edge"), ("b",)),
    "reflected": (lambda x: jnp.pad(x, (1, 1), mode="reflect"), ("b + 2",)),
    "padded by itself": (lambda x: jnp.pad(x, (0, x.shape[0])), ("b",)),
    "cut and dilated": (lambda x: lax.pad(x, 0.0, ((-1, 2, 1),)), ("b + 2",)),
    "rolled": (lambda x: jnp.roll(x, -1, axis=1), ("b, s",)),
    "tiled": (lambda x: jnp.tile(x, (2, 3)), ("b, s",)),
    "repeated": (lambda x: jnp.repeat(x, 2, axis=0), ("b, s",)),
    "stacked": (lambda x, y: jnp.stack([x, y], axis=1), ("b, s", "b, s")),
    "split": (lambda x: jnp.split(x, 2, axis=1)[1], ("b, 2*s",)),
    "rotated": (lambda x: jnp.rot90(x), ("b, s",)),
    "row by row": (lambda x, y: -jax.vmap(jnp.dot)(x, y), ("b, s", "b, s")),
    "convolution": (lambda x, w: convolved(x, w, 2), ("b, 2, s + 2", "3, 2, 3")),
    "convolution of channels last": (lambda x, w: lax.conv_general_dilated(
        x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=2),
        ("b, s, 2", "3, 1, 4")),
    "convolution with any kernel": (lambda x, w: convolved(x, w), ("2, 2, b + s", "3, 2, s")),
    "convolution of the same size with any kernel":
        (lambda x, w: convolved(x, w, padding="SAME"), ("1, 2, b", "3, 2, s")),
    "convolution in steps of any size":
        (lambda x, w: convolved(x, w, w.shape[2]), ("1, 2, b*s", "3, 2, s")),
    "windows of any size": (lambda x: summed(
        x, (x.shape[0], 1), (1, 1), ((x.shape[0] - 1, 0), (0, 0))), ("b, s",)),
    "windows in steps of any size": (lambda x: summed(x, (1, 2), (1, x.shape[0])), ("b, s + 1",)),
    "windows with gaps in steps of any size": (lambda x: summed(
        x, (1, 2), (1, x.shape[0]), window_dilation=(1, 2)), ("b, s + 2",)),
    "one window for all": (lambda x: summed(x, x.shape, (1, 1)), ("b, s",)),
    "one row replaced": (lambda x: x.at[0].set(1.0), ("b, s",)),
    "rows added to": (lambda x, i: x.at[i].add(1.0), ("b, s", "3; int32")),
    "rows multiplied": (lambda x, i: x.at[i].multiply(2.0), ("b, s", "3; int32")),
    "rows subtracted": (lambda x, i: x.at[i].subtract(2.0), ("b, s", "3; int32")),
    "every second multiplied": (lambda x: x.at[::2].multiply(2.0), ("b",)),
    "rows limited": (lambda x, i: x.at[i].min(2.0).at[i].max(0.0), ("b, s", "3; int32")),
    "branches": (lambda x, y, i: branches_of(i[0], lambda: x[::-1] + y, lambda: y * 2),
        ("b, s", "b, s", "1; int32")),
    "branches of several results": (lambda x, y, i: sum(
        branches_of(i[0], lambda a, b: (a, b), lambda a, b: (b.T, a.T), x, y)[:1]),
        ("b, b", "b, b", "1; int32")),
    "one of three branches": (lambda x, i: lax.switch(
        i[0], [lambda a: a.sum(0), lambda a: a[0], lambda a: jnp.sort(a[0])], x),
        ("b, s", "1; int32")),
    "branches in a branch": (lambda x, i: branches_of(
        i[0], lambda: branches_of(i[0] - 1, lambda: x[::-1], lambda: x), lambda: x * 2),
        ("b", "1; int32")),
    "layer norm": (lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), ("b, s",)),
    "gradient": (lambda x: x * jax.grad(lambda y: (jax.nn.softmax(y) ** 2).sum())(x), ("b, s",)),
    "masked attention": (lambda x, mask: jax.nn.dot_product_attention(x, x, x, mask=mask),
        ("b, s, 2, 4", "b, 1, s, s; bool")),
    "every second replaced": (lambda x: x.at[::2].set(0.0), ("b",)),
    "second half added to": (lambda x: x.at[x.shape[0] // 2 :].add(2.0), ("b",)),
    "bits": (lambda x: lax.bitcast_convert_type(x, "int16"), ("b",)),
    "parities": (lambda x: -lax.population_count(x), ("b; int32",)),
    "rows of a cache": (lambda x, y, i: lax.dynamic_update_slice(x, y, (i[0], 0)),
        ("b + s, 2", "b, 2", "1; int32")),
    "medians": (lambda x: jnp.median(x, axis=1), ("b, s",)),
    "spectrum": (lambda x: jnp.fft.rfft(x).real, ("b, 8",)),
    "the greatest two": (lambda x: lax.top_k(x, 2)[0], ("b, s + 2",)),
    "the greater half": (lambda x: lax.top_k(x, x.shape[1] // 2)[0], ("b, 2*s",)),
    "steps of a size": (lambda x: lax.slice(x, (0, 0), x.shape, (1, x.shape[0])), ("b, 3*s",)),
}  # fmt: skip


def at(start: Callable[..., OfJax]) -> Function:
    """One element, at an offset that is computed from the sizes."""
    return lambda x: lax.dynamic_slice(x, (jnp.int32(start(*x.shape)), 0), (1, x.shape[1])), (
        "2*b + s, s",
    )


AT_SIZES: dict[str, Function] = {
    "what an update replaces": (
        lambda x, y: lax.dynamic_update_slice(x, y, (x.shape[0] // 2, 0)), ("2*b, s", "1, s")),
    "b // 2": at(lambda rows, s: (rows - s) // 2),
    "rows // 3": at(lambda rows, _: rows // 3),
    "half of s": at(lambda _, s: s // 2),
    "a remainder": at(lambda rows, _: rows % 3),
    "a remainder below zero": at(lambda _, s: (s - 5) % 3),
    "a quotient by a size": at(lambda rows, s: rows // s),
    "a remainder by a size": at(lambda rows, s: rows % s),
    "the greater": at(lambda rows, s: jax.core.max_dim(rows - 4, s)),
    "the lesser": at(lambda rows, s: jax.core.min_dim(rows - 2, 2 * s)),
}  # fmt: skip

NOT_FOLLOWED: dict[str, Function] = {
    "a sum that may overflow on the way": at(lambda rows, s: rows + (s - 5) // 2 - 2),
    "a product that may be greater than the size": at(lambda rows, s: rows - s * s),
}


def arguments(shapes: tuple[str, ...], given: dict[str, int] | None = None) -> list[Any]:
    """The arguments of these shapes; numbers take the places of symbols, if they are given."""
    dtypes = [text.partition("; ")[2] or "float32" for text in shapes]
    texts = [text.partition("; ")[0] for text in shapes]
    if given is None:
        scope = jax.export.SymbolicScope()
        sizes = [jax.export.symbolic_shape(text, scope=scope) for text in texts]
    else:
        numbers = {symbol(name): value for name, value in given.items()}
        parts = ([sympify(expression(part)) for part in text.split(", ")] for text in texts)
        sizes = [tuple(int(part.subs(numbers)) for part in each) for each in parts]
    return [jax.ShapeDtypeStruct(*pair) for pair in zip(sizes, dtypes, strict=True)]


def answer_of(module: hlo.HloModule) -> Dependence:
    found = parameter_indexing(module.entry.root)[module.entry.parameters[0]]
    assert not isinstance(found, Unknown)
    return found


def pairs(module: hlo.HloModule, given: dict[str, int]) -> list[set[Pair]]:
    """What the result reads of each parameter."""
    found = parameter_indexing(module.entry.root)
    rows: list[set[Pair]] = []
    for parameter in module.entry.parameters:
        reached = found.get(parameter, ())
        assert not isinstance(reached, Unknown)
        maps = (
            each.map.substitute({one.name: given[one.name] for one in each.map.parameters})
            for each in reached
        )
        rows.append({pair for each in maps for pair in related(each)})
    return rows


NUMBERS = ({"b": 1, "s": 1}, {"b": 2, "s": 3}, {"b": 3, "s": 2})


@pytest.mark.parametrize(
    ("function", "shapes"), [*FUNCTIONS.values(), *AT_SIZES.values()], ids=[*FUNCTIONS, *AT_SIZES]
)
def test_numbers_for_sizes(function: Callable[..., Any], shapes: tuple[str, ...]) -> None:
    """The maps are those of the program that JAX gives to XLA for these numbers."""
    symbolic = ops.from_jax(function, *arguments(shapes))
    programs = [jax.jit(function).lower(*arguments(shapes, sizes)) for sizes in NUMBERS]
    modules = [hlo.parse(each.as_text("hlo")) for each in programs]
    for sizes, module in zip(NUMBERS, modules, strict=True):
        assert pairs(symbolic, sizes) == pairs(module, {}), sizes
    assert maps_of(stablehlo.parse(programs[-1].as_text())) == maps_of(modules[-1])


def test_sizes_have_origins() -> None:
    module = ops.from_jax(lambda x, y: x @ y, *arguments(("b, 4*s", "4*s, t")))
    assert {name: str(origin) for name, origin in hlo.size_origins(module).items()} == {
        "b": "size of dimension 0 of %x = f32[?,?]{1,0} parameter(0)",
        "t": "size of dimension 1 of %y = f32[?,?]{1,0} parameter(1)",
        "s": "size 4*s of dimension 1 of %x = f32[?,?]{1,0} parameter(0)",
    }


MAPS: list[tuple[str, Callable[..., Any], tuple[str, ...], str]] = [
    ("a product", lambda x, y: x @ y, ("b, 4*s", "4*s, t"),
     ("(d0, d1)[s0]<b, s, t> -> (d0, s0), domain: d0 in [0, b - 1], d1 in [0, t - 1], "
     "s0 in [0, s * 4 - 1], b in [1, inf], s in [1, inf], t in [1, inf]")),
    ("an offset over the size of another array, which becomes a parameter",
     lambda x, y: lax.dynamic_index_in_dim(x, jnp.int32(y.shape[0] // 2)), ("10", "b"),
     "(d0)<b> -> (min(b floordiv 2, 9)), domain: d0 in [0, 0], b in [1, 2147483647]"),
    ("a size with the name of a variable", lambda x: -x, ("b, s0",),
     ("(d0, d1)<b, s0> -> (d0, d1), domain: d0 in [0, b - 1], d1 in [0, s0 - 1], "
     "b in [1, inf], s0 in [1, inf]")),
    ("sizes that fit into the integers that an offset is computed with", lambda x: x[::2], ("b",),
     ("(d0)<b> -> (d0 * 2), domain: d0 in [0, 1073741823], b in [1, 2147483647], "
     "d0 * 2 - b in [-inf, -1]")),
]  # fmt: skip


@for_rows(MAPS)
def test_maps_have_sizes_as_parameters(
    function: Callable[..., Any], shapes: tuple[str, ...], expected: str
) -> None:
    assert [*map(str, answer_of(ops.from_jax(function, *arguments(shapes))))] == [expected]


def test_trees_several_results_names_and_complex_numbers_are_those_of_hlo() -> None:
    shapes = arguments(("s, 2", "b"))
    module = ops.from_jax(lambda tree: (tree["w"].T, -tree["x"]), {"w": shapes[0], "x": shapes[1]})
    assert [each.name for each in module.entry.parameters] == ["tree_w", "tree_x"]
    assert hlo.true_sizes(module.entry.root, 1) == (symbol("b"),)

    def f32(pred: OfJax) -> OfJax:
        return pred * (1 - 2j)

    module = ops.from_jax(f32, *arguments(("2",)))
    assert (module.name, [each.name for each in module.entry.parameters]) == ("f32_", ["pred_"])
    (constant,) = module.find(opcode="constant")
    assert str(constant).endswith("constant((1.0, -2.0))")
    importlib.import_module("jaxlib._hlo").hlo_module_from_text(str(module))


def printed(x: OfJax, result: OfJax, **options: OfJax) -> OfJax:
    """The result, behind a call of Python."""
    importlib.import_module("jax.experimental").io_callback(print, None, x, **options)
    return result


def noted(x: OfJax, result: OfJax) -> OfJax:
    jax.debug.print("{}", x)
    return result


EFFECTS: dict[str, Callable[..., Any]] = {
    "jax-debug-print": lambda x: noted(x, x * 2),
    "a callback in order": lambda x: printed(x, x * 2, ordered=True),
    "a callback in order, in a loop": lambda x: lax.scan(
        lambda n, row: (n, printed(row, row * 2, ordered=True)), 0, x)[1],
    "in a function": lambda x: (jax.jit(lambda y: jax.debug.print("{}", y))(x), x * 2)[1],
    "in a branch": lambda x: (
        lax.cond(x[0, 0] > 0, lambda: jax.debug.print("!"), lambda: None), x * 2)[1],
    "in a loop": lambda x: lax.scan(lambda n, row: (n + 1, noted(n, row * 2)), 0, x)[1],
}  # fmt: skip


@for_all(EFFECTS)
def test_an_equation_may_have_no_results(function: Callable[..., Any]) -> None:
    module = ops.from_jax(function, *arguments(("4, 8",)))
    text = "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]"
    assert [str(each.map) for each in answer_of(module)] == [text]


def test_a_window_with_a_symbolic_dilation_is_unknown() -> None:
    module = ops.from_jax(
        lambda x: summed(x, (1, 2), (1, 1), window_dilation=(1, x.shape[0])),
        *arguments(("b, s + b",)),
    )
    (found,) = parameter_indexing(module.entry.root).values()
    assert isinstance(found, Unknown)
    assert "reduce-window with a symbolic dilation: elements would lie" in found.reason


def test_without_jax_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without_jax(name: str, *rest: OfJax) -> OfJax:
        if name == "jax":
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_jax)
    with pytest.raises(ShapeError, match="from_jax: JAX is not installed; expected it, as after"):
        ops.from_jax(abs, 1)


def constrained(*constraints: str) -> OfJax:
    scope = jax.export.SymbolicScope(constraints)
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 4*s", scope=scope), "float32")


def negated(*constraints: str) -> str:
    module = ops.from_jax(lambda x: -x, constrained(*constraints))
    (indexing,) = answer_of(module)
    return str(indexing)


CONSTRAINTS = {
    (): "b in [1, inf], s in [1, inf]",
    ("b >= 3",): "b in [3, inf], s in [1, inf]",
    ("b >= 5",): "b in [5, inf], s in [1, inf]",  # equal instructions with other facts are others
    ("b <= 8", "s <= 4*b"): "b in [1, 8], s in [1, 32], b * 4 - s in [0, inf]",
    ("mod(s, 4) == 0",): "b in [1, inf], s in [4, inf], s mod 4 in [0, 0]",
    ("b == 2",): "d0 in [0, 1], d1 in [0, s * 4 - 1], s in [1, inf]",
}


@for_all(CONSTRAINTS.items())
def test_constraints_of_shapes_are_constraints_of_maps(
    constraints: tuple[str, ...], expected: str
) -> None:
    assert negated(*constraints).replace("\n", " ").endswith(expected)


def test_a_size_as_a_value_is_asked_of_an_argument() -> None:
    def last_row(x: OfJax) -> OfJax:
        rows, columns = x.shape
        return lax.dynamic_slice(x, (jnp.int32(2 * columns + rows - 1), 0), (1, 1))

    module = ops.from_jax(last_row, constrained())
    assert "custom-call" not in {each.opcode for each in module.entry.instructions}
    values = [each for each in module.entry.instructions if each.opcode == "get-dimension-size"]
    assert {each.attributes["dimensions"] for each in values} == {(0,), (1,)}
    assert {each.operands[0] for each in values} == {module.entry.parameters[0]}


@for_all(NOT_FOLLOWED)
def test_other_offsets_are_any(function: Callable[..., Any], shapes: tuple[str, ...]) -> None:
    symbolic = ops.from_jax(function, *arguments(shapes))
    given = {"b": 2, "s": 2}
    lowered = jax.jit(function).lower(*arguments(shapes, given))
    wide, *rest = pairs(symbolic, given)
    exact, *others = pairs(hlo.parse(lowered.as_text("hlo")), {})
    assert wide > exact
    assert rest == others


@for_all([("b*s + b", True), ("b*s + b - 1", True), ("b*b, b + s", False)])
def test_sizes_that_arguments_tell(shape: str, is_told: bool) -> None:
    """A third of a size that is no product of known ones."""

    def thirds(x: OfJax) -> OfJax:
        size = x.shape[0] + 1 if x.ndim == 1 else x.shape[1] - x.shape[0]
        return x * (size // 3)

    opcodes = {each.opcode for each in ops.from_jax(thirds, *arguments((shape,))).instructions}
    assert ("custom-call" not in opcodes) == is_told


INDICES: dict[str, Callable[[OfJax], OfJax]] = {
    "jax-constant-take": lambda x: jnp.take(x, np.array([2])),
    "jax-constant-take of several": lambda x: jnp.take(x, np.array([5, 15, 7])),
    "from the end": lambda x: x[np.array([-1])],
    "a quotient": lambda x: x[jnp.arange(8) // 2],
    "a quotient below zero": lambda x: x[(jnp.arange(8) - 4) // 2],
    "a remainder": lambda x: x[jnp.arange(8) % 4],
    "bits": lambda x: x[jnp.arange(8) & 3],
    "other bits": lambda x: x[jnp.arange(8) ^ 1],
    "shifted": lambda x: x[jnp.arange(8) >> 1],
    "a choice": lambda x: x[jnp.where(jnp.arange(8) < 4, 3, 0)],
    "joined": lambda x: x[jnp.roll(jnp.arange(8), 2)],
}
"""Elements at indices that are known."""


@for_all(INDICES)
def test_known_indices_are_folded_as_in_the_lowered_program(function: Callable[..., Any]) -> None:
    x = jnp.arange(16)
    expected = {((place,), (int(each),)) for place, each in enumerate(function(x))}
    lowered = jax.jit(function).lower(x).as_text("hlo")
    for module in (ops.from_jax(function, x), hlo.parse(lowered)):
        assert not any(way.runtime for way in answer_of(module))
        assert pairs(module, {}) == [expected]
