"""Calls of Pallas read off JAX functions: index maps point by point, and kernels of JAX."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# ruff: noqa: ARG005
# JAX is untyped, and index maps are functions of all axes of a grid.

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pytest

from ops.pallas import PallasError, pallas_calls
from tests.cases import for_all
from tests.of_jax import OfJax, imported, jax, jnp, lax, pl, tpu

pytestmark = pytest.mark.needs("jax")

GRID = (3, 4)
triton: OfJax = imported("jax.experimental.pallas.triton")


def array(*sizes: int) -> OfJax:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def does_nothing(*_references: OfJax) -> None:
    """A kernel of which only the blocks matter."""


def call_with(index_map: Callable[..., OfJax], **options: OfJax) -> OfJax:
    """A function with a call whose operand has blocks by an index map."""
    block = options.pop("block", (8, 128))
    return pl.pallas_call(
        does_nothing,
        out_shape=array(24, 512),
        grid=GRID,
        in_specs=[pl.BlockSpec(block, index_map)],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
        **options,
    )


INDEX_MAPS: dict[str, Callable[..., OfJax]] = {
    "plain": lambda i, j: (i, j),
    "constants": lambda i, j: (0 * i, j + 1),
    "python's division": lambda i, j: ((i - j) // 2, (i - 2 * j) % 3),
    "truncating division": lambda i, j: (lax.div(i - j, 2), lax.rem(i - j, -2)),
    "extrema": lambda i, j: (jnp.minimum(i, 1), jnp.maximum(j - 1, 0)),
    "clamped": lambda i, j: (lax.clamp(0, i - 1, 1), abs(i - j)),
    "choice": lambda i, j: (jnp.where(i < j, i, 0), jnp.where((i == 1) & (j > 1), 3, j)),
    "case of several": lambda i, j: (lax.select_n(i, j, 2, 0), jnp.sign(i - j)),
    "a condition as a number": lambda i, j: ((i >= j) * 2, (~(i != j)).astype(int)),
    "one division for both": lambda i, j: divmod(i * 4 + j, 5),
    "pallas-xor": lambda i, j: (i ^ 1, i ^ j),
    "bits": lambda i, j: ((i & 1) | (j & 2), (i | 4) & (j + 3)),
    "other bits": lambda i, j: (~i + 4, ~(i ^ j) & 7),
    "conditions": lambda i, j: (jnp.where((i > 0) ^ (j > 1), 1, 0), (~(i > j)).astype(int)),
    "moved bits": lambda i, j: ((i << 2) - j, (i * 5 - j) >> 1),
    "moved bits without a sign": lambda i, j: (lax.shift_right_logical(i * 7, 2), j >> 0),
    "a square": lambda i, j: (i**2, j * 3 - 1),
    "a function": lambda i, j: (jax.jit(lambda a, b: a * 2 - b)(i, j), j),
}


@for_all(INDEX_MAPS)
def test_index_maps_are_what_jax_computes(index_map: Callable[..., OfJax]) -> None:
    (call,) = pallas_calls(call_with(index_map), array(24, 512))
    steps = np.indices(GRID).reshape(2, -1)
    computed = jax.vmap(index_map)(*map(jnp.asarray, steps))
    found = call.inputs[0].indices.evaluate([*steps])
    for here, there in zip(found, computed, strict=True):
        assert np.array_equal(np.broadcast_to(here, there.shape), there)


OF_BITS: dict[str, Callable[[OfJax], OfJax]] = {
    "pallas-xor of a step": lambda i: i ^ 1,
    "and": lambda i: i & 5,
    "or": lambda i: i | 2,
    "not": lambda i: ~i & 7,
    "of two steps": lambda i: (i * 3 ^ i >> 1) & 7,
    "of a negative number": lambda i: (i - 3 & -2) + 4,
}


@for_all(OF_BITS)
def test_exact_questions_know_bits(index_map: Callable[[OfJax], OfJax]) -> None:
    maps: list[Callable[[OfJax], OfJax]] = [lambda i: (i,), lambda i: (index_map(i),)]
    read, written = (pl.BlockSpec((8,), each) for each in maps)
    arrays = {"grid": (8,), "in_specs": [read], "out_specs": written}
    function = pl.pallas_call(does_nothing, array(64), **arrays)
    (call,) = pallas_calls(function, array(64))
    blocks = [index_map(step) for step in range(8)]
    left = call.outputs[0].unwritten()
    assert left is not None
    assert left.count() == 8 * len({*range(8)} - {*blocks})
    changes = sum(one != other for one, other in pairwise(blocks)) + 1
    assert [each and each.copies for each in call.traffic().values()] == [8, changes]
    assert bool(call.late_revisits()) == any(
        blocks[step] != blocks[step - 1] and blocks[step] in blocks[:step] for step in range(1, 8)
    )


def softmax(x: OfJax) -> OfJax:
    """A softmax of rows; the last block of rows is padded."""

    def kernel(x_ref: OfJax, o_ref: OfJax) -> None:
        powers = jnp.exp(x_ref[...] - x_ref[...].max(axis=1, keepdims=True))
        o_ref[...] = powers / powers.sum(axis=1, keepdims=True)

    rows = pl.BlockSpec((8, 256), lambda i: (i, 0))
    return pl.pallas_call(
        kernel, out_shape=array(100, 256), grid=(13,), in_specs=[rows], out_specs=rows
    )(x)


def test_a_softmax_for_a_batch_and_in_a_loop() -> None:
    (call,) = pallas_calls(jax.vmap(softmax), array(3, 100, 256))
    assert (call.grid, call.problems()) == ((3, 13), ())
    assert call.inputs[0].block == (None, 8, 256)

    def repeated(x: OfJax) -> OfJax:
        return lax.fori_loop(0, 3, lambda _, each: softmax(each), x)

    (inner,) = pallas_calls(repeated, array(100, 256))
    assert (inner.grid, inner.problems()) == ((13,), ())


def test_prefetched_operands_are_runtime_variables() -> None:
    spec = tpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4,),
        in_specs=[pl.BlockSpec((64, 128), lambda i, starts: (starts[i] % 4, 0))],
        out_specs=pl.BlockSpec((64, 128), lambda i, _: (i, 0)),
        scratch_shapes=[tpu.VMEM((8, 128), jnp.float32), tpu.SemaphoreType.DMA],
    )
    call_of_jax = pl.pallas_call(
        does_nothing, out_shape=array(256, 128), grid_spec=spec, input_output_aliases={1: 0}
    )
    starts = jax.ShapeDtypeStruct((4,), jnp.int32)
    (call,) = pallas_calls(call_of_jax, starts, array(256, 128))
    (x,) = call.inputs
    assert str(x.indices).startswith("(i){rt0} -> (rt0 mod 4, 0)")
    (origin,) = x.prefetched
    assert (origin.operand, str(origin.map)) == ("prefetched 0", "(i) -> (i), domain: i in [0, 3]")
    assert (x.out_of_bounds(), call.aliases, call.scratch_bytes) == (None, ((0, 0),), 8 * 128 * 4)
    (problem,) = call.problems()
    expected = "step (1,) may read element (0, 0) that step (0,) writes as output 0"
    assert str(problem) == f"input 0: {expected}"


def test_a_call_shows_itself_where_its_problems_take_too_long() -> None:
    spec = tpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4,),
        in_specs=[],
        out_specs=pl.BlockSpec((8, 128), lambda i, s: ((s[i] ^ s[i + 1]) & 15, 0)),
    )
    call_of_jax = pl.pallas_call(does_nothing, out_shape=array(32, 128), grid_spec=spec)
    (call,) = pallas_calls(call_of_jax, jax.ShapeDtypeStruct((5,), jnp.int32))
    assert "problems are not known: budget:" in str(call)


def test_windows_squeezed_dimensions_and_buffers() -> None:
    block = (pl.Element(10, (1, 1)), None)
    (call,) = pallas_calls(call_with(lambda i, j: (8 * i, j), block=block), array(24, 4))
    (x,) = call.inputs
    assert str(x).startswith("input 0 f32[24,4] in blocks (Element(10, padding (1, 1)), None)")
    assert str(x.elements).startswith("(i, j)[b0, b1] -> (i * 8 + b0 - 1, j)")
    assert call.problems() == ()


def moved_without_sign(i: OfJax, j: OfJax) -> OfJax:
    return lax.shift_right_logical(i - j, 1), 0


def test_a_bounded_slice_takes_as_many_elements_as_the_index_map_says() -> None:
    def rows(i: OfJax, j: OfJax) -> OfJax:
        return pl.ds(i * 9, jnp.minimum(8, 21 - 9 * i)), j

    (call,) = pallas_calls(call_with(rows, block=(pl.BoundedSlice(8), 128)), array(24, 512))
    (x,) = call.inputs
    assert "blocks (BoundedSlice(8, Min(8, 21 - 9*i) taken), 128)" in str(x)
    taken = [[*range(9 * i, 9 * i + min(8, 21 - 9 * i))] for i in range(3)]
    assert [[row for row, _ in x.elements.image([i, 0])][::128] for i in range(3)] == taken
    assert call.problems() == ()
    too_far = call_with(lambda i, j: (pl.ds(i * 9, 8), j), block=(pl.BoundedSlice(8), 128))
    (problem,) = pallas_calls(too_far, array(24, 512))[0].problems()
    assert str(problem).startswith("input 0: step (2, 0) takes block (18, 0)")


def dynamic(size: OfJax, x: OfJax) -> OfJax:
    """Each step of a grid whose first size is an operand writes a row, and the last axis adds."""
    rows = pl.BlockSpec((1, 128), lambda i, j: (i, 0))
    shape = array(8, 128)
    return pl.pallas_call(does_nothing, shape, grid=(size, 2), in_specs=[rows], out_specs=rows)(x)


def test_a_size_of_the_grid_that_the_program_computes_is_a_parameter() -> None:
    (call,) = pallas_calls(dynamic, jax.ShapeDtypeStruct((), jnp.int32), array(8, 128))
    assert str(call.grid) == "(n0, 2)"
    (x,), (o,) = call.inputs, call.outputs
    assert str(x.indices).startswith("(i, j)<n0> -> (i, 0), domain: i in [0, n0 - 1], j in [0, 1]")
    where = "step (8, 0) takes block (8, 0), for n0 = 9; expected [0, 7] along dimension 0"
    assert [*map(str, call.problems())] == [f"input 0: {where}", f"output 0: {where}"]
    assert (x.traffic(), o.unwritten()) == (None, None)
    assert "the size of the grid decides what is copied" in str(call)
    (known,) = pallas_calls(lambda x: dynamic(jnp.arange(9)[-1], x), array(8, 128))
    assert known.grid == (8, 2)


@for_all([
    (lambda: call_with(lambda i, j: (lax.population_count(i), 0)),
     "input 0 (args[0]): the index map has the operation population_count"),
    (lambda: call_with(lambda i, j: (1 << i, 0)),
     "the index map has shift_left of 1 by i; expected a number from 0 to 31"),
    (lambda: call_with(moved_without_sign),
     "the index map has shift_right_logical of i - j by 1"),
    (lambda: call_with(lambda i, j: (lax.div(i, j), 0)),
     "input 0 (args[0]): the index map divides by j; expected a number other than 0"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(make: Callable[[], OfJax], message: str) -> None:
    with pytest.raises(PallasError, match=re.escape(message)):
        pallas_calls(make(), array(24, 512))


def table_of(*values: int) -> OfJax:
    """The blocks of a table of constants, of an array of 64 elements in blocks of 16."""
    spec = tpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4,),
        in_specs=[pl.BlockSpec((16,), lambda i, table: (table[i],))],
        out_specs=pl.BlockSpec((16,), lambda i, _: (i,)),
    )
    inner = pl.pallas_call(does_nothing, out_shape=array(64), grid_spec=spec)
    return lambda x: inner(np.array(values, np.int32), x)


@for_all(range(3))
def test_a_table_of_constants_has_its_values(depth: int) -> None:
    """Also in a function, and in a function of one."""
    function = table_of(3, 1, 0, 2)
    for _ in range(depth):
        function = jax.jit(function)
    (call,) = pallas_calls(function, array(64))
    (x,) = call.inputs
    assert (x.prefetched, x.depends_on_values) == ((), False)
    assert [x.indices.evaluate([step]) for step in range(4)] == [(3,), (1,), (0,), (2,)]
    assert call.problems() == ()


def test_a_table_of_constants_may_lead_outside_but_not_be_too_short() -> None:
    (call,) = pallas_calls(table_of(3, 1, 4, 2), array(64))
    (problem,) = call.problems()
    assert str(problem) == "input 0: step (2,) takes block (4,); expected [0, 3] along dimension 0"
    with pytest.raises(PallasError, match="reads a table of 3 at i; expected an index inside"):
        pallas_calls(table_of(0, 1, 2), array(64))


Write: TypeAlias = Callable[[OfJax, OfJax], None]
"""What a step does with the array; it is given its number, too."""


def in_turns(
    write: Callable[[OfJax, OfJax, OfJax], None], turns: Callable[[OfJax], OfJax]
) -> Write:
    """A loop, whose body is given the turn."""
    return lambda o, i: lax.fori_loop(0, turns(i), lambda t, _: write(o, i, t), None)


def under(condition: Callable[[OfJax], OfJax], write: Write) -> Write:
    return lambda o, i: pl.when(condition(i))(lambda: write(o, i))


def add(o: OfJax, places: OfJax) -> None:
    o[places] += 1


def add_where(o: OfJax, places: OfJax, mask: OfJax) -> None:
    view = o.at[places]
    triton.store(view, triton.load(view, mask=mask, other=0) + 1, mask=mask)


def lanes(start: OfJax) -> OfJax:
    return start + jnp.arange(16)


def of_a_view(o: OfJax, i: OfJax) -> None:
    view = o.at[pl.ds(16 * i, 16)].at[pl.ds(1, 7, 2)]
    view[...] += 1


WRITES: dict[str, Write] = {
    "pallas-false-race": lambda o, i: add(o, pl.ds(i * 16, 16)),
    "with overlap": lambda o, i: add(o, pl.ds(i * 15, 16)),
    "with gaps": lambda o, i: add(o, pl.ds(i * 16, 4)),
    "with a stride": lambda o, i: add(o, pl.ds(i, 16, 4)),
    "backwards": lambda o, i: add(o, pl.ds(48 - i * 16, 16)),
    "all": lambda o, i: add(o, ...),
    "one element": lambda o, i: add(o, i * 5 % 3),
    "of a view": of_a_view,
    "by an array": lambda o, i: add(o, lanes(i * 16)),
    "by an array, twice": lambda o, i: add(o, lanes(i * 16) // 2),
    "by an array of two dimensions": lambda o, i: add(
        o, (lanes(0)[:, None] // 4 * 4 + jnp.arange(2)[None, :] + i * 16)
    ),
    "under a mask": lambda o, i: add_where(o, pl.ds(i * 8, 16), lanes(0) < 8),
    "in one step": under(lambda i: i == 2, lambda o, i: add(o, ...)),
    "in other steps": under(lambda i: (i != 2) & (i > 0), lambda o, i: add(o, pl.ds(i * 8, 16))),
    "in a loop": in_turns(lambda o, i, t: add(o, pl.ds(i * 16 + t * 4, 4)), lambda i: 4),
    "in loops with overlap": in_turns(lambda o, i, t: add(o, i * 8 + t), lambda i: 9),
    "as often as the step": in_turns(lambda o, i, t: add(o, i * 16 + t), lambda i: i * 3),
    "elements of a triangle": in_turns(lambda o, i, t: add(o, i * 4 + t), lambda i: i + 1),
    "by a choice": lambda o, i: add(o, pl.ds(jnp.where(i > 1, i * 16, 16 - i * 16), 16)),
    "by a switch": lambda o, i: lax.switch(
        i // 2, [lambda: add(o, pl.ds(i, 2)), lambda: add(o, pl.ds(i * 16, 8))]
    ),
    "nothing": lambda o, i: None,
}


def of_one_array(write: Write, **options: OfJax) -> OfJax:
    """Four steps that may add to any element of an array of 64, on a GPU."""

    def kernel(_: OfJax, o: OfJax) -> None:
        write(o, pl.program_id(0))

    parameters = {"grid": (4,), "input_output_aliases": {0: 0}, **options}
    parameters.setdefault("compiler_params", triton.CompilerParams())
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct((64,), jnp.int32), **parameters)


@for_all(WRITES)
def test_races_are_elements_to_which_two_steps_add(write: Write) -> None:
    """As the interpreter of Pallas counts them: no step adds to an element twice."""
    zeros = jnp.zeros(64, jnp.int32)
    counts = np.asarray(of_one_array(write, interpret=True)(zeros))
    (call,) = pallas_calls(of_one_array(write), zeros)
    left = call.outputs[0].unwritten()
    assert left is not None
    assert [element for (element,) in left] == [*np.flatnonzero(counts == 0)]
    races = call.races()
    assert bool(races) == (counts > 1).any()
    assert all(counts[race.element] > 1 and not race.may for race in races)
    assert (call.accesses_out_of_bounds(), call.late_revisits()) == ((), ())


UNCERTAIN: dict[str, Write] = {
    "where a value says so": lambda o, i: pl.when(o[0] > 0)(lambda: add(o, ...)),
    "at a place that a value says": lambda o, i: add(o, o[i]),
    "as often as a value says": lambda o, i: in_turns(
        lambda o, i, t: add(o, pl.ds(0, 16)), lambda i: o[i]
    )(o, i),
}


@for_all(UNCERTAIN)
def test_what_values_decide_may_be_a_race(write: Write) -> None:
    (race,) = pallas_calls(of_one_array(write), jnp.zeros(64, jnp.int32))[0].races()
    assert (race.first, race.second, race.element, race.may) == ((0,), (1,), (0,), True)


def test_steps_that_add_atomically_are_in_no_race_and_those_of_a_tpu_write_whole_blocks() -> None:
    zeros = jnp.zeros(64, jnp.int32)
    atomic = of_one_array(lambda o, i: triton.atomic_add(o, (pl.ds(0, 8),), jnp.ones(8, jnp.int32)))
    (call,) = pallas_calls(atomic, zeros)
    left = call.outputs[0].unwritten()
    assert (call.races(), left and left.count()) == ((), 56)
    options = {"compiler_params": tpu.CompilerParams(dimension_semantics=("parallel",))}
    (call,) = pallas_calls(of_one_array(WRITES["pallas-false-race"], **options), zeros)
    (race,) = call.races()
    assert (race.element, race.may) == ((0,), False)


@for_all([
    (lambda o, i: add(o, pl.ds(i * 20, 16)), "step (3,) reads element (64,)"),
    (lambda o, i: add(o, i - 1), "step (0,) reads element (-1,)"),
    (under(lambda i: i == 3, lambda o, i: o.__setitem__(i * 22, 1)),
     "step (3,) writes element (66,)"),
])  # fmt: skip
def test_a_kernel_may_leave_its_block(write: Write, expected: str) -> None:
    (call,) = pallas_calls(of_one_array(write), jnp.zeros(64, jnp.int32))
    (problem,) = call.accesses_out_of_bounds()
    where = "of its block; expected [0, 63] along dimension 0"
    assert str(problem) == f"output 0: {expected} {where}"


@pytest.mark.parametrize("name", ["mpmd_map", "core_map"])
def test_kernels_without_blocks_are_named(name: str) -> None:
    core = importlib.import_module("jax.extend.core")
    primitive = core.Primitive(name)  # a stand-in, as kernels of several cores need a TPU
    primitive.def_abstract_eval(lambda x: x)
    with pytest.raises(PallasError, match=f"the function has {name}, which cannot be read; exp"):
        pallas_calls(jax.jit(primitive.bind), array(8))


def semantics_with(parameters: OfJax) -> tuple[str, ...]:
    function = call_with(lambda i, j: (i, j), compiler_params=parameters)
    (call,) = pallas_calls(function, array(24, 512))
    return call.semantics


def test_all_steps_of_a_gpu_run_in_parallel_but_for_sequential_axes_of_mosaic() -> None:
    assert semantics_with(triton.CompilerParams(num_warps=4)) == ("parallel", "parallel")
    for given, expected in ((None, "parallel"), (("parallel", "sequential"), "arbitrary")):
        # A stand-in, as Mosaic GPU needs packages that JAX for the CPU does not have.
        names = {"__module__": "jax._src.pallas.mosaic_gpu.core", "dimension_semantics": given}
        parameters = type("CompilerParams", (triton.CompilerParams,), names)
        assert semantics_with(parameters()) == ("parallel", expected)


def test_without_jax_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    message = "JAX is not installed; expected it, as after pip install"
    with pytest.raises(PallasError, match=message):
        pallas_calls(abs)
