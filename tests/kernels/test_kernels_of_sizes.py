"""Kernels that take sizes as arguments: one text computes what the kernels of all numbers do."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# JAX is untyped.

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from indexing.layout import UNBOUNDED_SIZE, Shape
from ops import FusionSchedule, emit_kernel, from_jax, hlo, schedule_of
from ops.hlo import Computation, size_origins
from ops.kernels import KernelError
from ops.kernels.array_kernels import BLOCK
from tests.cases import texts_with_values
from tests.kernels import fusions
from tests.kernels.fusions import Array, check_close, in_memory, kernel_of, run_in_numpy
from tests.kernels.test_kernels_in_c import compiled, needs_compiler, pointers
from tests.kernels.test_kernels_of_fusions import REWRITERS
from tests.kernels.triton_stand_in import run
from tests.of_jax import OfJax, jax, jnp, lax
from tests.ops import oracle

# Sizes in programs are formulas of n and m, which have no bounds but those behind their names.

Sizes = dict[str, int]

PROGRAMS = texts_with_values("""
# elementwise | {}
x = f32[n,4] parameter(0) ROOT y = f32[n,4] exponential(x)
# softmax | {}
x = f32[n,m] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
peak = f32[n] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[n,m] broadcast(peak), dimensions={0}
less = f32[n,m] subtract(x, peaks) grown = f32[n,m] exponential(less)
total = f32[n] reduce(grown, zero), dimensions={1}, to_apply=add
totals = f32[n,m] broadcast(total), dimensions={0} ROOT share = f32[n,m] divide(grown, totals)
# transpose | {}
x = f32[n,m,3] parameter(0) t = f32[3,n,m] transpose(x), dimensions={2,0,1}
ROOT y = f32[3,n,m] abs(t)
# columns | {}
x = s32[n,m] parameter(0) zero = s32[] constant(0)
ROOT r = s32[m] reduce(x, zero), dimensions={0}, to_apply=sum
# few columns | {}
x = f32[n,7] parameter(0) zero = f32[] constant(0)
ROOT r = f32[7] reduce(x, zero), dimensions={0}, to_apply=add
# all elements | {}
x = f32[n,m] parameter(0) one = f32[] constant(1)
ROOT r = f32[] reduce(x, one), dimensions={0,1}, to_apply=add
# greatest of none | dict(n=8)
x = s32[n,3] parameter(0) low = s32[] constant(-2147483648)
ROOT r = s32[3] reduce(x, low), dimensions={0}, to_apply=greatest
# concatenate | dict(n=8)
x = f32[n,4] parameter(0) y = f32[3,4] parameter(1)
ROOT c = f32[n + 3,4] concatenate(x, y), dimensions={0}
# concatenate of two sizes | dict(n=8)
x = f32[2,n] parameter(0) y = f32[2,m] parameter(1) z = f32[2,m] negate(y)
ROOT c = f32[2,n + m + n] concatenate(x, z, x), dimensions={1}
# pad | dict(m=6)
x = f32[n,m] parameter(0) c = f32[] constant(3)
ROOT d = f32[n + 2,2 * m + 2] pad(x, c), padding=1_1x1_2_1
# reverse | dict(n=8, m=6)
x = f32[n,m] parameter(0) ROOT r = f32[n,m] reverse(x), dimensions={0,1}
# places | {}
x = f32[n,m] parameter(0) low = f32[] constant(-inf)
i = s32[n,m] iota(), iota_dimension=1 none = s32[] constant(-1)
ROOT r = (f32[n], s32[n]) reduce(x, i, low, none), dimensions={1}, to_apply=arg
# layouts | {}
x = f32[n,m,2]{0,2,1} parameter(0) c = f32[n,m,2]{2,1,0} copy(x)
ROOT s = f32[n,m,2]{1,0,2} negate(c)
# two results | {}
x = s32[n,5] parameter(0) y = s32[n,5] multiply(x, x) t = s32[5,n] transpose(x), dimensions={1,0}
ROOT both = (s32[n,5], s32[5,n]) tuple(y, t)
# heads | {}
x = f32[n,8] parameter(0) h = f32[n,2,4] reshape(x)
t = f32[2,n,4] transpose(h), dimensions={1,0,2} ROOT y = f32[2,n,4] abs(t)
# windows | {}
x = f32[n] parameter(0) zero = f32[] constant(0)
ROOT r = f32[(n + 1) // 2] reduce-window(x, zero), window={size=3 stride=2 pad=1_1}, to_apply=add
# names of C | {}
int = f32[n] parameter(0) ROOT int_0 = f32[n] negate(int)
# the size itself | dict(n=8)
x = s32[n] parameter(0) s = s32[] get-dimension-size(x), dimensions={0}
b = s32[n] broadcast(s), dimensions={} ROOT y = s32[n] add(x, b)
""")

NUMBERS: list[Sizes] = [{"n": 1, "m": 1}, {"n": 2, "m": 5}, {"n": 8, "m": 6}, {"n": 5, "m": 3}]
NONE = {"n": 0, "m": 2}
LONG = {"n": 3, "m": 2500}

_SIZES = re.compile(r"(?<=[a-z]\d\d\[)[^\]]+")
_FOLDS = """
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
greatest { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] maximum(a, b) }
"""


def symbolic(name: str) -> Computation:
    body, bounds = PROGRAMS[name]

    def size(text: str) -> str:
        if text.isdigit():
            return text
        return f"<={value}" if (value := _value(text, bounds)) is not None else "?"

    return _parsed(body, size)


def numeric(name: str, sizes: Sizes) -> Computation:
    """The program for some numbers."""
    return _parsed(PROGRAMS[name][0], lambda text: str(_value(text, sizes)))


def _parsed(body: str, size: Callable[[str], str]) -> Computation:
    text = _SIZES.sub(lambda found: ",".join(map(size, found[0].split(","))), body)
    return hlo.parse(f"HloModule m\n{fusions.REDUCERS}{_FOLDS}\nENTRY e {{ {text} }}").entry


def _value(text: str, sizes: Sizes) -> int | None:
    """What a formula gives, if all that it names is known."""
    with suppress(NameError):
        return int(eval(text, dict(sizes)))  # noqa: S307 - of the table above
    return None


class Run(NamedTuple):
    """The arguments of one run of a kernel, and what it has to give."""

    operands: Sequence[Array]
    sizes: Sequence[int]
    expected: Sequence[Array]


def run_of(name: str, sizes: Sizes) -> Run:
    """What XLA computes for these numbers; the sizes are in the order of the arguments."""
    plain = numeric(name, sizes)
    operands = fusions.operands_of(plain)
    known = {
        size: plain[origin.instruction.name].shape.dimensions[origin.dimension or 0]
        for size, origin in size_origins(symbolic(name).module).items()
    }
    expected = oracle.program(str(plain.module), REWRITERS)(*operands)
    return Run(operands, [known[size] for size in sorted(known)], expected)


# Memory.

UNTOUCHED = 55


def held(values: Array, shape: Shape) -> Array:
    """An array in memory, which has a place for as many elements as bounds say."""
    whole = np.full(_places(values, shape), UNTOUCHED).astype(values.dtype)
    whole[tuple(map(slice, values.shape))] = values
    return in_memory(whole, shape)


def _places(values: Array, shape: Shape) -> list[int]:
    pairs = zip(shape.dimensions, values.shape, strict=True)
    return [size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs]


def check_results(results: Sequence[Array], wanted: Run, computation: Computation) -> None:
    """All elements are right, and none beyond the sizes is written."""
    shapes = computation.root.shape.arrays
    for found, values, shape in zip(results, wanted.expected, shapes, strict=True):
        check_close(found.reshape(-1), held(values, shape).reshape(-1))


def empty_results(wanted: Run, computation: Computation) -> list[Array]:
    shapes = computation.root.shape.arrays
    pairs = zip(wanted.expected, shapes, strict=True)
    return [np.full(prod(_places(*each)), UNTOUCHED).astype(each[0].dtype) for each in pairs]


def held_operands(wanted: Run, computation: Computation) -> list[Array]:
    pairs = zip(wanted.operands, computation.parameters, strict=True)
    return [held(values, each.shape).reshape(-1) for values, each in pairs]


# Sizes.


def runs_of(name: str) -> list[Run]:
    """Also for none, and for more than a vector of Triton has where there is no bound."""
    long = [] if PROGRAMS[name][1] else [LONG]
    return [run_of(name, sizes) for sizes in (*NUMBERS, NONE, *long)]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_text_is_right_for_all_sizes(name: str) -> None:
    computation, runs = symbolic(name), runs_of(name)
    check_numpy(computation, runs)
    check_triton(computation, runs)


@needs_compiler
@pytest.mark.needs("jax")
def test_one_text_in_c_is_right_for_all_sizes(tmp_path: Path) -> None:
    check_c([(symbolic(name), runs_of(name)) for name in PROGRAMS], tmp_path)


def check_numpy(computation: Computation, runs: Sequence[Run]) -> None:
    text = kernel_of(computation, "numpy")
    for each in runs:
        results = run_in_numpy(text, "kernel", [*each.operands, *each.sizes])
        for found, expected in zip(results, each.expected, strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            check_close(found, expected)


def check_triton(computation: Computation, runs: Sequence[Run]) -> None:
    text = kernel_of(computation, "triton")
    for each in runs:
        results = empty_results(each, computation)
        run(text, "kernel", [*held_operands(each, computation), *results], each.sizes)
        check_results(results, each, computation)


def check_c(rows: Sequence[tuple[Computation, Sequence[Run]]], folder: Path) -> None:
    texts = [
        kernel_of(computation, "c", f"kernel{number}")
        for number, (computation, _) in enumerate(rows)
    ]
    library = compiled(texts, folder)
    for number, (text, (computation, runs)) in enumerate(zip(texts, rows, strict=True)):
        kernel, kinds = getattr(library, f"kernel{number}"), size_types(text)
        for each in runs:
            results = empty_results(each, computation)
            arrays = pointers(*held_operands(each, computation), *results)
            sizes = [kind(size) for kind, size in zip(kinds, each.sizes, strict=True)]
            kernel(*arrays, *sizes)
            check_results(results, each, computation)


def size_types(text: str) -> list[Any]:
    """The types of the arguments that are no pointers."""
    head = next(line for line in text.splitlines() if line.startswith("void "))
    return [
        getattr(ctypes, f"c_int{bits}") for bits in re.findall(r"int(32|64)_t \w+(?=[,)])", head)
    ]


# Functions of JAX with symbolic sizes.


def heads_apart(x: OfJax) -> OfJax:
    return x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(0, 2, 1, 3).reshape(-1, 4) * 2


def causal(x: OfJax) -> OfJax:
    return jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), x, -1e9)


def windows(*arguments: OfJax) -> OfJax:
    return lax.reduce_window(*arguments)


FUNCTIONS: dict[str, tuple[Callable[..., OfJax], str]] = {
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), "b, s"),
    "softmax of columns": (lambda x: jax.nn.softmax(x, axis=0), "b, s"),
    "layer norm": (lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), "b, s"),
    "causal mask": (causal, "b, s, s"),
    "heads apart": (heads_apart, "b, s, 8"),
    "padded and joined": (
        lambda x: jnp.concatenate([x, jnp.pad(x, ((0, 0), (x.shape[0], 2)))], axis=1),
        "b, s",
    ),
    "halves swapped": (lambda x: jnp.concatenate(jnp.split(x, 2, axis=1)[::-1], axis=1), "b, 2*s"),
    "rows of a product": (lambda x: x.reshape(x.shape[0], -1, 4).sum(axis=1), "b, 4*s"),
    "sum of all": (lambda x: x.reshape(-1).sum(), "b, s"),
    "place of the greatest": (lambda x: jnp.argmax(x, axis=1), "b, s"),
    "rolled": (lambda x: jnp.roll(x, 1, axis=1), "b, s"),
    "tiled": (lambda x: jnp.tile(x, (2, 3)), "b, s"),
    "windows of any size": (
        lambda x: windows(
            *(x, 0.0, lax.add, (x.shape[0], 1), (1, 1), ((x.shape[0] - 1, 0), (0, 0)))
        ),
        "b, s",
    ),
    "windows in steps of any size": (
        lambda x: windows(x, 0.0, lax.add, (1, 2), (1, x.shape[0]), "VALID"),
        "b, s + 1",
    ),
    "pooling": (lambda x: windows(x, -np.inf, lax.max, (1, 3), (1, 2), ((0, 0), (1, 1))), "b, s"),
}


def computation_of(name: str) -> Computation:
    function, sizes = FUNCTIONS[name]
    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape(sizes), "float32")
    return from_jax(function, shape).entry


def runs_in_jax(name: str) -> list[Run]:
    """What JAX computes for some numbers."""
    function, text = FUNCTIONS[name]
    runs: list[Run] = []
    for given in ({"b": 1, "s": 1}, {"b": 3, "s": 5}, {"b": 2, "s": 1030}):
        if text.count("s") == 2 and given["s"] > BLOCK:
            continue  # a square of so many elements takes long
        sizes = [_value(each, given) or 0 for each in text.split(",")]
        x = np.random.default_rng(3).normal(size=sizes).astype(np.float32)
        used = [given[letter] for letter in "bs" if letter in text]
        runs.append(Run([x], used, [np.asarray(function(jnp.asarray(x)))]))
    return runs


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_text_for_all_sizes_computes_what_jax_does(name: str) -> None:
    computation, runs = computation_of(name), runs_in_jax(name)
    check_numpy(computation, runs)
    check_triton(computation, runs)


@needs_compiler
@pytest.mark.needs("jax")
def test_one_text_in_c_computes_what_jax_does(tmp_path: Path) -> None:
    check_c([(computation_of(name), runs_in_jax(name)) for name in FUNCTIONS], tmp_path)


# What texts say.


def test_arguments_have_comments() -> None:
    text = kernel_of(symbolic("concatenate"), "cuda")
    assert "/* x_0 in [0, 8]: size of dimension 0 of %x = f32[<=8,4]" in text
    assert "float *__restrict__ c, int32_t x_0)" in text


def test_offsets_of_a_row_have_no_division() -> None:
    for language in ("c", "triton", "numpy"):
        text = kernel_of(symbolic("softmax"), language)
        assert not re.search(r"[/%] *x_[01]", text)


@pytest.mark.needs("jax")
def test_facts_shorten_formulas_and_choose_bits() -> None:
    """A row of 4 * n elements is a number of fours, and no offset passes 32 bits."""
    facts = ["mod(s, 4) == 0", "s <= 512", "b <= 64"]
    b, s = jax.export.symbolic_shape("b, s", constraints=facts)
    shape = jax.ShapeDtypeStruct((b, s), "float32")

    def turned(x: OfJax) -> OfJax:
        return x.reshape(b, s // 4, 4).transpose(0, 2, 1)

    module = from_jax(turned, shape)
    text = kernel_of(module.entry)
    assert "/* s mod 4 in [0, 0] */" in text
    assert "int32_t b, int32_t s)" in text
    assert "x[s * d0 + d2 * 4 + d1]" in text
    assert "int64_t" not in text


def test_a_size_that_a_program_sets_is_an_argument() -> None:
    module = hlo.parse("""ENTRY e { x = f32[8,4] parameter(0) s = s32[] parameter(1)
        d = f32[<=8,4] set-dimension-size(x, s), dimensions={0}
        ROOT r = f32[<=8,4] reverse(d), dimensions={0} }""")
    text = kernel_of(module.entry, "numpy")
    assert "# s_2 in [0, 8]: value of %s = s32[] parameter(1)" in text
    x = np.arange(32).reshape(8, 4)
    (found,) = run_in_numpy(text, "kernel", [x, np.array(3), 3])
    assert found.tolist() == x[2::-1].tolist()


@pytest.mark.parametrize("name", ["np", "max", "tl", "kernel_programs", "program"])
def test_a_size_may_have_any_name(name: str) -> None:
    """Also one that the count of programs would call, or that other languages reserve."""
    module = hlo.parse(f"""add {{ a = s32[] parameter(0) b = s32[] parameter(1)
        ROOT r = s32[] add(a, b) }}
        fused {{ p = s32[<=8,4] parameter(0) q = s32[2000] parameter(1) zero = s32[] constant(0)
        r = s32[<=8] reduce(p, zero), dimensions={{1}}, to_apply=add n = s32[2000] negate(q)
        ROOT t = (s32[<=8], s32[2000]) tuple(r, n) }}
        ENTRY e {{ x = s32[8,4] parameter(0) {name} = s32[] parameter(1) q = s32[2000] parameter(2)
        d = s32[<=8,4] set-dimension-size(x, {name}), dimensions={{0}}
        ROOT f = (s32[<=8], s32[2000]) fusion(d, q), kind=kLoop, calls=fused }}""")
    text = emit_kernel(module["f"], "triton")
    x, q = np.arange(32, dtype=np.int32), np.arange(2000, dtype=np.int32)
    sums, negatives = np.full(8, UNTOUCHED, np.int32), np.full(2000, UNTOUCHED, np.int32)
    run(text, "kernel", [x, q, sums, negatives], [5])
    assert sums.tolist() == [*x.reshape(8, 4).sum(axis=1)[:5], *[UNTOUCHED] * 3]
    assert negatives.tolist() == [*-q]


@pytest.mark.needs("jax")
def test_conditions_have_constants_on_one_side() -> None:
    text = kernel_of(computation_of("rolled"))
    assert "if (d1 < 1) {" in text
    assert "if (d1 >= 1) {" in text


def test_a_size_with_several_values_is_refused() -> None:
    module = hlo.parse("""fused { p = f32[?] parameter(0) ROOT n = f32[?] negate(p) }
        ENTRY e { x = f32[?] parameter(0) y = f32[?] parameter(1)
        f = f32[?] fusion(x), kind=kLoop, calls=fused g = f32[?] fusion(y), kind=kLoop, calls=fused
        ROOT t = (f32[?], f32[?]) tuple(f, g) }""")
    with pytest.raises(KernelError, match="%n: the size of dimension 0 of %n differs"):
        emit_kernel(module["f"])


def test_a_schedule_is_for_numbers() -> None:
    module = hlo.parse("""fused { x = f32[8,4] parameter(0) ROOT y = f32[8,4] exponential(x) }
        ENTRY e { x = f32[8,4] parameter(0)
        ROOT f = f32[8,4] fusion(x), kind=kLoop, calls=fused }""")
    schedule = schedule_of(module.entry.root)
    assert isinstance(schedule, FusionSchedule)
    with pytest.raises(KernelError, match="%y: a schedule is for sizes that are numbers"):
        emit_kernel(symbolic("elementwise").root, schedule=schedule)
