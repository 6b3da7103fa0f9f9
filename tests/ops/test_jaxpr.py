"""JAX functions with symbolic sizes: for numbers, they have the maps of the program for these."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

import builtins
import importlib
from typing import TYPE_CHECKING, Any

import pytest
from sympy import sympify

import ops
from indexing import MapError
from ops import ShapeError, Unknown, hlo, parameter_indexing
from ops.primitives import expression
from simplifier import symbol
from tests.evaluation import related

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation import Pair

# What JAX is asked. Arguments are shapes, as JAX writes them.

OfJax = Any
"""A value of JAX, which is untyped."""

Function = tuple["Callable[..., Any]", tuple[str, ...]]


def jax() -> OfJax:
    return importlib.import_module("jax")


def numpy() -> OfJax:
    return importlib.import_module("jax.numpy")


def attention(x: OfJax, w: OfJax) -> OfJax:
    jnp = numpy()
    batch, length, _ = x.shape
    heads = (x @ w).reshape(batch, length, 2, 2).transpose(0, 2, 1, 3)
    scores = jnp.einsum("bhqd,bhkd->bhqk", heads, heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax().nn.softmax(scores), heads)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, 4)


FUNCTIONS: dict[str, Function] = {
    "elementwise": (lambda x: -x * 2 + x**2, ("b, 3*s",)),
    "reshape": (lambda x: x.reshape(x.shape[0], -1, 4), ("b, 4*s",)),
    "flatten": (lambda x: x.reshape(-1), ("b, s, 2",)),
    "transpose": (lambda x: x.T, ("b, s",)),
    "sum": (lambda x: x.sum(axis=0), ("b, s + 1",)),
    "mean": (lambda x: x.mean(axis=1), ("b, s",)),
    "softmax": (lambda x: jax().nn.softmax(x, axis=-1), ("b, s",)),
    "matmul": (lambda x, y: x @ y, ("b, s", "s, 3")),
    "concatenate": (lambda x, y: numpy().concatenate([x, y, x], axis=1), ("b, s", "b, 2")),
    "slice": (lambda x: jax().lax.slice_in_dim(x, 1, x.shape[1] - 1, axis=1), ("b, 2*s",)),
    "flip": (lambda x: jax().lax.rev(x, (1,)), ("b, s",)),
    "pad": (lambda x: numpy().pad(x, ((0, 2), (x.shape[1], 1))), ("b, s",)),
    "outer": (lambda x, y: x[:, None] + y[None, :], ("b", "s")),
    "take": (lambda x, i: x[i], ("s, 2", "b; int32")),
    "sort": (lambda x: numpy().sort(x, axis=0), ("b, s",)),
    "pooling": (
        lambda x: jax().lax.reduce_window(x, 0.0, jax().lax.add, (1, 2), (1, 2), "VALID"),
        ("b, 2*s",),
    ),
    "attention": (attention, ("b, s, 4", "4, 4")),
}


def arguments(shapes: tuple[str, ...], given: dict[str, int] | None = None) -> list[Any]:
    """The arguments of these shapes; numbers take the places of symbols, if they are given."""
    dtypes = [text.partition("; ")[2] or "float32" for text in shapes]
    texts = [text.partition("; ")[0] for text in shapes]
    if given is None:
        scope = jax().export.SymbolicScope()
        sizes = [jax().export.symbolic_shape(text, scope=scope) for text in texts]
    else:
        numbers = {symbol(name): value for name, value in given.items()}
        parts = ([sympify(expression(part)) for part in text.split(", ")] for text in texts)
        sizes = [tuple(int(part.subs(numbers)) for part in each) for each in parts]
    return [jax().ShapeDtypeStruct(*pair) for pair in zip(sizes, dtypes, strict=True)]


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


@pytest.mark.needs("jax")
@pytest.mark.parametrize("sizes", [{"b": 1, "s": 1}, {"b": 2, "s": 3}, {"b": 3, "s": 2}], ids=str)
@pytest.mark.parametrize(("function", "shapes"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_numbers_for_sizes(
    function: Callable[..., Any], shapes: tuple[str, ...], sizes: dict[str, int]
) -> None:
    """The maps are those of the program that JAX gives to XLA for these numbers."""
    symbolic = ops.from_jax(function, *arguments(shapes))
    lowered = jax().jit(function).lower(*arguments(shapes, sizes))
    assert pairs(symbolic, sizes) == pairs(hlo.parse(lowered.as_text("hlo")), {})


@pytest.mark.needs("jax")
def test_sizes_have_origins() -> None:
    module = ops.from_jax(lambda x, y: x @ y, *arguments(("b, 4*s", "4*s, t")))
    assert {name: str(origin) for name, origin in hlo.size_origins(module).items()} == {
        "b": "size of dimension 0 of %x = f32[?,?]{1,0} parameter(0)",
        "t": "size of dimension 1 of %y = f32[?,?]{1,0} parameter(1)",
        "s": "size 4*s of dimension 1 of %x = f32[?,?]{1,0} parameter(0)",
    }
    indexing, _ = ops.output_to_input(module.entry.root.operands[0]).indexing
    assert not isinstance(indexing, Unknown)
    assert str(indexing[0]) == (
        "(d0, d1)[s0]<b, s, t> -> (d0, s0), domain: d0 in [0, b - 1], d1 in [0, t - 1], "
        "s0 in [0, s * 4 - 1], b in [1, inf], s in [1, inf], t in [1, inf]"
    )


@pytest.mark.needs("jax")
def test_trees_and_several_results() -> None:
    shapes = arguments(("s, 2", "b"))
    module = ops.from_jax(lambda tree: (tree["w"].T, -tree["x"]), {"w": shapes[0], "x": shapes[1]})
    assert [each.name for each in module.entry.parameters] == ["tree_w", "tree_x"]
    assert hlo.true_sizes(module.entry.root, 1) == (symbol("b"),)


@pytest.mark.needs("jax")
def test_what_has_no_rule_is_unknown() -> None:
    module = ops.from_jax(lambda x: numpy().cumsum(x, axis=0), *arguments(("b, s",)))
    found = parameter_indexing(module.entry.root)[module.entry.parameters[0]]
    assert isinstance(found, Unknown)
    assert found.reason == "custom-call: no indexing map of cumsum"


@pytest.mark.needs("jax")
def test_a_size_that_is_called_like_a_variable_is_refused() -> None:
    with pytest.raises(MapError, match="parameter 0 is called s0, as a variable is by its positi"):
        ops.from_jax(lambda x: -x, *arguments(("b, s0",)))


def test_without_jax_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without_jax(name: str, *rest: OfJax) -> OfJax:
        if name == "jax":
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_jax)
    with pytest.raises(ShapeError, match="from_jax: JAX is not installed; expected it, as after"):
        ops.from_jax(abs, 1)


# Constraints, and sizes as values.


def constrained(*constraints: str) -> OfJax:
    scope = jax().export.SymbolicScope(constraints)
    return jax().ShapeDtypeStruct(jax().export.symbolic_shape("b, 4*s", scope=scope), "float32")


def negated(*constraints: str) -> str:
    """The map of an elementwise function under constraints."""
    module = ops.from_jax(lambda x: -x, constrained(*constraints))
    found = parameter_indexing(module.entry.root)[module.entry.parameters[0]]
    assert not isinstance(found, Unknown)
    (indexing,) = found
    return str(indexing)


@pytest.mark.needs("jax")
@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        ((), "b in [1, inf], s in [1, inf]"),
        (("b >= 3",), "b in [3, inf], s in [1, inf]"),
        (("b <= 8", "s <= 4*b"), "b in [1, 8], s in [1, 32], b * 4 - s in [0, inf]"),
        (("mod(s, 4) == 0",), "b in [1, inf], s in [4, inf], s mod 4 in [0, 0]"),
        (("b == 2",), "d0 in [0, 1], d1 in [0, s * 4 - 1], s in [1, inf]"),
    ],
    ids=str,
)
def test_constraints_of_shapes_are_constraints_of_maps(
    constraints: tuple[str, ...], expected: str
) -> None:
    assert negated(*constraints).replace("\n", " ").endswith(expected)


@pytest.mark.needs("jax")
def test_equal_instructions_with_other_facts_are_other_instructions() -> None:
    for least in (2, 5):
        assert f"b in [{least}, inf]" in negated(f"b >= {least}")


@pytest.mark.needs("jax")
def test_a_size_as_a_value_is_asked_of_an_argument() -> None:
    def last_row(x: OfJax) -> OfJax:
        rows, columns = x.shape
        start = numpy().int32(2 * columns + rows - 1)
        return jax().lax.dynamic_slice(x, (start, 0), (1, 1))

    module = ops.from_jax(last_row, constrained())
    assert "custom-call" not in {each.opcode for each in module.entry.instructions}
    values = [each for each in module.entry.instructions if each.opcode == "get-dimension-size"]
    assert {each.attributes["dimensions"] for each in values} == {(0,), (1,)}
    assert {each.operands[0] for each in values} == {module.entry.parameters[0]}


@pytest.mark.needs("jax")
def test_a_size_that_is_no_sum_stays_unknown() -> None:
    module = ops.from_jax(lambda x: x * (x.shape[0] // 2), constrained())
    (value,) = (each for each in module.entry.instructions if each.opcode == "custom-call")
    assert value.attributes["custom_call_target"] == "dim_as_value"
