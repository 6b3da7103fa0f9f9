"""The families of steps of random programs: each draws its attributes, and shapes of inputs."""

# pyright: basic
# JAX says nothing of the types of what its functions take and give.

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.problems import happens

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = importlib.import_module("jax.lax")

MAX_ELEMENTS: Final = 48
"""Arrays have so many elements at most: each of them is changed, and the program runs again."""

MAX_RANK: Final = 10
"""XLA takes more dimensions; ten show what depends on the rank."""

Spec: Any = jax.ShapeDtypeStruct
Array: TypeAlias = Any
"""A shape, or a value that JAX traces."""


@dataclass(frozen=True, eq=False)
class Step:
    """An operation on the result so far, and further inputs.

    ``is_exact`` says that every dependence can be felt: nothing is hidden by values.
    """

    apply: Callable[..., Any]
    inputs: Sequence[Array] = ()
    is_exact: bool = True


# Shapes.

_TYPES: Final = ("float32", "float32", "float32", "float64", "complex64", "int32", "bool", "int4")


def array(random: Random) -> Array:
    """An array of rank up to ten, sometimes without elements."""
    rank = random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, MAX_RANK))
    return Spec(_sizes(random, rank), jnp.dtype(random.choice(_TYPES)))


def _sizes(random: Random, rank: int) -> tuple[int, ...]:
    sizes: list[int] = []
    for _ in range(rank):
        sizes.append(random.randint(1, max(1, min(6, MAX_ELEMENTS // 2 // prod(sizes)))))
    if sizes and happens(random, 0.04):
        sizes[0] = 0
    random.shuffle(sizes)
    return tuple(sizes)


def _fits(sizes: Sequence[int]) -> bool:
    return prod(sizes) <= MAX_ELEMENTS and len(sizes) <= MAX_RANK


def _is_float(spec: Array) -> bool:
    return spec.dtype in (jnp.float32, jnp.float64)


def _indices(sizes: Sequence[int]) -> Array:
    return Spec(tuple(sizes), jnp.dtype("int32"))


# Families: from an array to a step on it, or to none.


def _elementwise(random: Random, x: Array) -> Step | None:
    if not _is_float(x):
        return None
    if happens(random, 0.5):
        return Step(lambda v: jnp.exp(v * 0.1) + v)
    return Step(lambda v, w: v + w * 0.5, [x])


def _converted(random: Random, x: Array) -> Step | None:
    if x.dtype == jnp.dtype("int4"):
        return Step(lambda v: v.astype(jnp.int32) * 3)
    if x.dtype == jnp.bool_:
        return Step(lambda v: jnp.where(v, 1.5, 2.5).astype(jnp.float32))
    if x.dtype == jnp.complex64:
        return Step(lambda v: v.real * 2 + v.imag, is_exact=False)
    if x.dtype == jnp.int32 and happens(random, 0.5):
        return Step(lambda v: v.astype(jnp.int4), is_exact=False)
    return Step(lambda v: lax.complex(v, -v)) if x.dtype == jnp.float32 else None


def _slice(random: Random, x: Array) -> Step:
    bounds = [sorted((random.randint(0, n), random.randint(0, n))) for n in x.shape]
    strides = [random.choice((1, 1, 2, 3)) for _ in x.shape]
    starts, limits = [a for a, _ in bounds], [b for _, b in bounds]
    return Step(lambda v: lax.slice(v, starts, limits, strides))


def _pad(random: Random, x: Array) -> Step | None:
    padding: list[tuple[int, int, int]] = []
    for size in x.shape:
        low, high = (random.choice((0, 0, 1, 2, -1, -2)) for _ in range(2))
        inner = random.choice((0, 0, 1, 2))
        padding.append((low, high, inner))
        if size + max(0, size - 1) * inner + low + high < 0:
            return None
    sizes = [n + max(0, n - 1) * k + a + b for n, (a, b, k) in zip(x.shape, padding, strict=True)]
    if not _fits(sizes):
        return None
    return Step(lambda v, w: lax.pad(v, w, padding), [Spec((), x.dtype)])


def _reshape(random: Random, x: Array) -> Step:
    sizes, rest = [], prod(x.shape)
    while rest > 1 and len(sizes) < MAX_RANK - 1:
        factor = random.choice([n for n in range(2, rest + 1) if rest % n == 0])
        sizes.append(factor)
        rest //= factor
    sizes += [1] * random.randint(0, max(0, 3 - len(sizes))) + [rest] * (rest != 1)
    random.shuffle(sizes)
    return Step(lambda v: lax.reshape(v, sizes))


def _transpose(random: Random, x: Array) -> Step:
    order = random.sample(range(len(x.shape)), len(x.shape))
    return Step(lambda v: lax.transpose(v, order))


def _reverse(random: Random, x: Array) -> Step:
    axes = [axis for axis in range(len(x.shape)) if happens(random, 0.5)]
    return Step(lambda v: lax.rev(v, axes))


def _broadcast(random: Random, x: Array) -> Step | None:
    rank = len(x.shape) + random.randint(0, 2)
    axes = sorted(random.sample(range(rank), len(x.shape)))
    sizes = [random.randint(1, 3) for _ in range(rank)]
    for axis, size in zip(axes, x.shape, strict=True):
        sizes[axis] = size
    if not _fits(sizes):
        return None
    return Step(lambda v: lax.broadcast_in_dim(v, sizes, axes))


def _concatenate(random: Random, x: Array) -> Step | None:
    if not x.shape:
        return None
    axis = random.randrange(len(x.shape))
    other = Spec((*x.shape[:axis], random.randint(0, 3), *x.shape[axis + 1 :]), x.dtype)
    total = (*x.shape[:axis], 2 * x.shape[axis] + other.shape[axis], *x.shape[axis + 1 :])
    if not _fits(total):
        return None
    return Step(lambda v, w: lax.concatenate([v, w, v], axis), [other])


def _dot(random: Random, x: Array) -> Step | None:
    if not _is_float(x) or not x.shape:
        return None
    axes = random.sample(range(len(x.shape)), random.randint(0, len(x.shape)))
    cut = random.randint(0, len(axes))
    contracted, batch = axes[:cut], axes[cut:]
    free = [random.randint(1, 3) for _ in range(random.randint(0, 2))]
    shuffled = [*((axis, x.shape[axis]) for axis in axes), *((-1, size) for size in free)]
    random.shuffle(shuffled)
    place = {axis: number for number, (axis, _) in enumerate(shuffled) if axis >= 0}
    other = Spec(tuple(size for _, size in shuffled), x.dtype)
    kept = [size for axis, size in enumerate(x.shape) if axis not in contracted]
    if not _fits([*kept, *free]) or not _fits(other.shape):
        return None
    numbers = (
        (contracted, [place[axis] for axis in contracted]),
        (batch, [place[axis] for axis in batch]),
    )
    return Step(lambda v, w: lax.dot_general(v, w, numbers), [other])


def _convolution(random: Random, x: Array) -> Step | None:
    """Dimensions in any order, with groups, strides, dilations, reversal, and negative padding."""
    if x.dtype != jnp.float32 or not 2 <= len(x.shape) <= 5 or not prod(x.shape):  # noqa: PLR2004
        return None
    lhs = random.sample(range(len(x.shape)), len(x.shape))
    batch, features, spatial = x.shape[lhs[0]], x.shape[lhs[1]], [x.shape[k] for k in lhs[2:]]
    groups = random.choice([n for n in (1, 2, 3) if features % n == 0])
    batches = random.choice([n for n in (1, 2, 3) if batch % n == 0]) if groups == 1 else 1
    window = [random.randint(1, 3) for _ in spatial]
    outputs = random.randint(1, 2) * groups * batches
    order = random.sample(range(len(x.shape)), len(x.shape))
    sizes = [0] * len(order)
    for axis, size in zip(order, (outputs, features // groups, *window), strict=True):
        sizes[axis] = size
    result = random.sample(range(len(x.shape)), len(x.shape))
    numbers = lax.ConvDimensionNumbers(tuple(lhs), tuple(order), tuple(result))
    padding = [tuple(random.choice((0, 1, 2, -1)) for _ in range(2)) for _ in spatial]
    strides, dilations, spreads = ([random.choice((1, 1, 2, 3)) for _ in spatial] for _ in range(3))
    reversal = tuple(happens(random, 0.2) for _ in spatial)

    def apply(v: Any, w: Any) -> Any:  # noqa: ANN401 - of JAX
        flipped = lax.rev(
            w, [axis for axis, turned in zip(order[2:], reversal, strict=True) if turned]
        )
        return lax.conv_general_dilated(
            v, flipped, strides, padding, dilations, spreads, numbers, groups, batches
        )

    step = Step(apply, [Spec(tuple(sizes), x.dtype)])
    return step if _makes_little(step, x) else None


def _makes_little(step: Step, x: Array) -> bool:
    """Whether the step is possible, and its result is small."""
    try:
        result = jax.eval_shape(step.apply, x, *step.inputs)
    except (TypeError, ValueError):
        return False
    return all(_fits(each.shape) for each in jax.tree.leaves([result, *step.inputs]))


def _reduce(random: Random, x: Array) -> Step | None:
    if not _is_float(x):
        return None
    axes = tuple(axis for axis in range(len(x.shape)) if happens(random, 0.5))
    if happens(random, 0.6):
        return Step(lambda v: jnp.sum(v, axis=axes))
    if prod(x.shape) and happens(random, 0.5):
        return Step(lambda v: jnp.max(v, axis=axes), is_exact=False)
    if not x.shape or not prod(x.shape):
        return None
    axis = random.randrange(len(x.shape))
    return Step(lambda v: jnp.argmax(v, axis=axis).astype(v.dtype), is_exact=False)


def _reduce_window(random: Random, x: Array) -> Step | None:
    if x.dtype != jnp.float32:
        return None
    window, strides, dilations, spreads = (
        [random.choice(choices) for _ in x.shape]
        for choices in ((1, 1, 2, 3), (1, 1, 2, 3), (1, 1, 2), (1, 1, 2))
    )
    padding = [tuple(random.choice((0, 0, 1, 2)) for _ in range(2)) for _ in x.shape]

    def apply(v: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.reduce_window(
            v, np.float32(0), lax.add, window, strides, padding, dilations, spreads
        )

    step = Step(apply)
    return step if _makes_little(step, x) else None


def _max_pool_gradient(random: Random, x: Array) -> Step | None:
    """A select-and-scatter."""
    if x.dtype != jnp.float32 or not x.shape or not prod(x.shape):
        return None
    window = [random.choice((1, 2, 3)) for _ in x.shape]
    strides = [random.choice((1, 2)) for _ in x.shape]

    def pool(v: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.reduce_window(v, -np.float32(np.inf), lax.max, window, strides, "VALID")

    def apply(v: Any, w: Any) -> Any:  # noqa: ANN401 - of JAX
        return jax.vjp(pool, v)[1](w)[0]

    pooled = jax.eval_shape(pool, x)
    return (
        Step(apply, [Spec(pooled.shape, x.dtype)], is_exact=False) if prod(pooled.shape) else None
    )


def _cumulative(random: Random, x: Array) -> Step | None:
    if not _is_float(x) or not x.shape:
        return None
    axis, reverse = random.randrange(len(x.shape)), happens(random, 0.5)
    return Step(lambda v: lax.cumsum(v, axis, reverse=reverse))


def _sort(random: Random, x: Array) -> Step | None:
    if not _is_float(x) or not x.shape:
        return None
    axis = random.randrange(len(x.shape))
    return Step(lambda v: lax.sort(v, dimension=axis), is_exact=False)


def _dynamic_slice(random: Random, x: Array) -> Step:
    sizes = [random.randint(min(1, n), n) for n in x.shape]
    room = [n - size for n, size in zip(x.shape, sizes, strict=True)]

    def apply(v: Any, *at: Any) -> Any:  # noqa: ANN401 - of JAX
        # XLA adds the starts of two slices without the clamps: they have to fit, and stay apart.
        starts = [jnp.clip(start, 0, most) for start, most in zip(at, room, strict=True)]
        return lax.optimization_barrier(lax.dynamic_slice(v, starts, sizes))

    return Step(apply, [_indices(())] * len(x.shape), is_exact=False)


def _dynamic_update(random: Random, x: Array) -> Step:
    update = Spec(tuple(random.randint(0, n) for n in x.shape), x.dtype)
    starts = [_indices(())] * len(x.shape)

    def apply(v: Any, w: Any, *at: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.dynamic_update_slice(v, w, at)

    return Step(apply, [update, *starts], is_exact=False)


def _windows(random: Random, x: Array) -> tuple[list[int], list[int], list[int], list[int]] | None:
    """Dropped, batching and indexed dimensions, and the sizes of a batch that begins with these."""
    roles = [random.choice(("kept", "kept", "dropped", "batching")) for _ in x.shape]
    if any(role == "dropped" and n == 0 for role, n in zip(roles, x.shape, strict=True)):
        return None
    dropped = [axis for axis, role in enumerate(roles) if role == "dropped"]
    batching = [axis for axis, role in enumerate(roles) if role == "batching"]
    others = [axis for axis in range(len(x.shape)) if axis not in batching]
    indexed = random.sample(others, random.randint(0, len(others)))
    batch = [x.shape[axis] for axis in batching]
    batch += [random.randint(1, 3) for _ in range(random.randint(0, 2))]
    return dropped, batching, indexed, batch


def _gather(random: Random, x: Array) -> Step | None:
    found = _windows(random, x)
    if found is None:
        return None
    dropped, batching, indexed, batch = found
    kept = [axis for axis in range(len(x.shape)) if axis not in (*dropped, *batching)]
    sizes = [random.randint(min(1, n), n) if axis in kept else 1 for axis, n in enumerate(x.shape)]
    rank = len(batch) + len(kept)
    if not _fits([*batch, *(sizes[axis] for axis in kept)]) or any(
        x.shape[axis] == 0 for axis in batching
    ):
        return None
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(sorted(random.sample(range(rank), len(kept)))),
        collapsed_slice_dims=tuple(dropped),
        start_index_map=tuple(indexed),
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=tuple(range(len(batching))),
    )
    mode = random.choice(("clip", "fill"))

    def apply(v: Any, at: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.gather(v, at, numbers, sizes, mode=mode)

    step = Step(apply, [_indices((*batch, len(indexed)))], is_exact=False)
    return step if _makes_little(step, x) else None


def _scatter(random: Random, x: Array) -> Step | None:
    found = _windows(random, x)
    if found is None or x.dtype not in (jnp.float32, jnp.int32):
        return None
    dropped, batching, indexed, batch = found
    if not indexed and not batching:
        return None  # XLA's compiler loses updates that all land in one place
    kept = [axis for axis in range(len(x.shape)) if axis not in (*dropped, *batching)]
    window = iter([random.randint(min(1, x.shape[axis]), x.shape[axis]) for axis in kept])
    rank = len(batch) + len(kept)
    places, rest = sorted(random.sample(range(rank), len(kept))), iter(batch)
    updates = [next(window) if axis in places else next(rest) for axis in range(rank)]
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(places),
        inserted_window_dims=tuple(dropped),
        scatter_dims_to_operand_dims=tuple(indexed),
        operand_batching_dims=tuple(batching),
        scatter_indices_batching_dims=tuple(range(len(batching))),
    )

    def apply(v: Any, at: Any, w: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.scatter_add(v, at, w, numbers)

    inputs = [_indices((*batch, len(indexed))), Spec(tuple(updates), x.dtype)]
    step = Step(apply, inputs, is_exact=False)
    return step if _fits(updates) and prod(x.shape) > 1 and _makes_little(step, x) else None


def _loop(random: Random, x: Array) -> Step | None:
    if not _is_float(x) or not x.shape:
        return None
    axis, count = random.randrange(len(x.shape)), random.randint(0, 3)
    shift = random.choice((0, 1, -1))

    def body(_: Any, v: Any) -> Any:  # noqa: ANN401 - of JAX
        return v + jnp.roll(v, shift, axis)

    return Step(lambda v: lax.fori_loop(0, count, body, v), is_exact=False)


def _scan(random: Random, x: Array) -> Step | None:
    if not _is_float(x) or not x.shape:
        return None
    reverse, which = happens(random, 0.5), random.choice(("sum", "last", "both"))

    def body(carry: Any, row: Any) -> Any:  # noqa: ANN401 - of JAX
        return carry + row, {"sum": carry, "last": row, "both": carry * row}[which]

    def apply(v: Any, w: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.scan(body, w, v, reverse=reverse)[1]

    return Step(apply, [Spec(x.shape[1:], x.dtype)], is_exact=False)


def _choice(random: Random, x: Array) -> Step | None:
    if not x.shape:
        return None
    axis = random.randrange(len(x.shape))

    def apply(v: Any, w: Any) -> Any:  # noqa: ANN401 - of JAX
        return lax.cond(w, lambda each: lax.rev(each, (axis,)), lambda each: each, v)

    return Step(apply, [Spec((), jnp.dtype("bool"))], is_exact=False)


def _masked(random: Random, x: Array) -> Step:
    if happens(random, 0.5):
        inputs = [x, Spec(x.shape, jnp.dtype("bool"))]
        return Step(lambda v, w, m: jnp.where(m, v, w), inputs, is_exact=False)
    return Step(lambda v, w: v == w, [x], is_exact=False)


FAMILIES: Final[Mapping[str, Callable[[Random, Array], Step | None]]] = {
    "elementwise": _elementwise,
    "convert": _converted,
    "slice": _slice,
    "pad": _pad,
    "reshape": _reshape,
    "transpose": _transpose,
    "reverse": _reverse,
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "dot": _dot,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "select-and-scatter": _max_pool_gradient,
    "cumulative": _cumulative,
    "sort": _sort,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update,
    "gather": _gather,
    "scatter": _scatter,
    "loop": _loop,
    "scan": _scan,
    "conditional": _choice,
    "mask": _masked,
}
