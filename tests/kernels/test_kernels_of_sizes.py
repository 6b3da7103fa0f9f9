"""Kernels that take sizes as arguments: one text computes what the kernels of all numbers do."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# JAX is untyped.

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from indexing.layout import UNBOUNDED_SIZE, Shape
from ops import FusionSchedule, emit_kernel, from_jax, hlo, schedule_of
from ops.hlo import Computation, size_origins
from ops.kernels import KernelError
from ops.kernels.tiles import BLOCK
from tests.cases import rows, texts_with_values
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
peaks = f32[n,m] broadcast(peak), dimensions={0} less = f32[n,m] subtract(x, peaks)
grown = f32[n,m] exponential(less) total = f32[n] reduce(grown, zero), dimensions={1}, to_apply=add
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


def _parsed(body: str, size: Callable[[str], str]) -> Computation:
    text = _SIZES.sub(lambda found: ",".join(map(size, found[0].split(","))), body)
    return hlo.parse(f"HloModule m\n{fusions.REDUCERS}{_FOLDS}\nENTRY e {{ {text} }}").entry


def _value(text: str, sizes: Sizes) -> int | None:
    """What a formula gives, if all that it names is known."""
    with suppress(NameError):
        return int(eval(text, dict(sizes)))  # noqa: S307 - of the table above
    return None


FUNCTIONS = {
    formula: sizes
    for sizes, formula in rows("""
b, s => jax.nn.softmax(x, axis=-1)
b, s => jax.nn.softmax(x, axis=0)
# a layer norm
b, s => (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
# a causal mask
b, s, s => jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), x, -1e9)
# heads apart
b, s, 8 => x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(0, 2, 1, 3).reshape(-1, 4) * 2
# padded and joined
b, s => jnp.concatenate([x, jnp.pad(x, ((0, 0), (x.shape[0], 2)))], axis=1)
# halves swapped
b, 2*s => jnp.concatenate(jnp.split(x, 2, axis=1)[::-1], axis=1)
# rows of a product
b, 4*s => x.reshape(x.shape[0], -1, 4).sum(axis=1)
b, s => x.reshape(-1).sum()
b, s => jnp.argmax(x, axis=1)
b, s => jnp.roll(x, 1, axis=1)
b, s => jnp.tile(x, (2, 3))
# windows of any size, windows in steps of any size, and pooling
b, s => reduce_window(x, 0.0, lax.add, (x.shape[0], 1), (1, 1), ((x.shape[0] - 1, 0), (0, 0)))
b, s + 1 => reduce_window(x, 0.0, lax.add, (1, 2), (1, x.shape[0]), "VALID")
b, s => reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 2), ((0, 0), (1, 1)))
""")
}
"""Functions of JAX of an array ``x`` with these sizes."""


def computation_of(formula: str) -> Computation:
    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape(FUNCTIONS[formula]), "float32")
    return from_jax(_function(formula), shape).entry


def _function(formula: str) -> Callable[[OfJax], OfJax]:
    names = {"jax": jax, "jnp": jnp, "lax": lax, "reduce_window": lax.reduce_window}
    return eval(f"lambda x: {formula}", names)  # noqa: S307 - of the table above


class Run(NamedTuple):
    """The arguments of one run of a kernel, and what it has to give."""

    computation: Computation
    operands: Sequence[Array]
    sizes: Sequence[int]
    expected: Sequence[Array]

    @property
    def held(self) -> list[Array]:
        pairs = zip(self.operands, self.computation.parameters, strict=True)
        return [in_places(values, each.shape) for values, each in pairs]

    @property
    def wanted(self) -> list[Array]:
        """The memory of the results, of which nothing is written beyond the sizes."""
        return [*map(in_places, self.expected, self.computation.root.shape.arrays)]


UNTOUCHED = 55


def in_places(values: Array, shape: Shape) -> Array:
    """An array in memory, which has a place for as many elements as bounds say."""
    pairs = zip(shape.dimensions, values.shape, strict=True)
    places = [size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs]
    whole = np.full(places, UNTOUCHED).astype(values.dtype)
    whole[tuple(map(slice, values.shape))] = values
    return in_memory(whole, shape).reshape(-1)


def runs_of_program(name: str) -> Iterator[Run]:
    """Also for none, and for more than a vector of Triton has where there is no bound."""
    body, bounds = PROGRAMS[name]
    computation = symbolic(name)
    for sizes in (*NUMBERS, NONE, *([] if bounds else [LONG])):
        plain = _parsed(body, lambda text, sizes=sizes: str(_value(text, sizes)))
        operands = fusions.operands_of(plain)
        known = {
            size: plain[origin.instruction.name].shape.dimensions[origin.dimension or 0]
            for size, origin in size_origins(computation.module).items()
        }
        expected = oracle.program(str(plain.module), REWRITERS)(*operands)
        yield Run(computation, operands, [known[size] for size in sorted(known)], expected)


def runs_of_function(formula: str) -> Iterator[Run]:
    text, computation = FUNCTIONS[formula], computation_of(formula)
    for given in ({"b": 1, "s": 1}, {"b": 3, "s": 5}, {"b": 2, "s": 1030}):
        if text.count("s") == 2 and given["s"] > BLOCK:
            continue  # a square of so many elements takes long
        sizes = [_value(each, given) or 0 for each in text.split(",")]
        x = np.random.default_rng(3).normal(size=sizes).astype(np.float32)
        used = [given[letter] for letter in "bs" if letter in text]
        yield Run(computation, [x], used, [np.asarray(_function(formula)(jnp.asarray(x)))])


def runs_of(name: str) -> list[Run]:
    return [*(runs_of_program if name in PROGRAMS else runs_of_function)(name)]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", [*PROGRAMS, *FUNCTIONS])
def test_one_text_is_right_for_all_sizes(name: str) -> None:
    runs = runs_of(name)
    in_numpy, in_triton = (kernel_of(runs[0].computation, each) for each in ("numpy", "triton"))
    for each in runs:
        found = run_in_numpy(in_numpy, "kernel", [*each.operands, *each.sizes])
        for values, expected in zip(found, each.expected, strict=True):
            assert (values.dtype, values.shape) == (expected.dtype, expected.shape)
            check_close(values, expected)
        results = [np.full_like(wanted, UNTOUCHED) for wanted in each.wanted]
        run(in_triton, "kernel", [*each.held, *results], each.sizes)
        check_all(results, each)


def check_all(results: Sequence[Array], wanted: Run) -> None:
    for pair in zip(results, wanted.wanted, strict=True):
        check_close(*pair)


@needs_compiler
@pytest.mark.needs("jax")
def test_one_text_in_c_is_right_for_all_sizes(tmp_path: Path) -> None:
    found = {f"kernel{k}": runs_of(name) for k, name in enumerate((*PROGRAMS, *FUNCTIONS))}
    texts = {name: kernel_of(runs[0].computation, "c", name) for name, runs in found.items()}
    library = compiled([*texts.values()], tmp_path)
    for name, text in texts.items():
        (head,) = re.findall(r"^void .*", text, re.MULTILINE)
        bits = re.findall(r"int(32|64)_t \w+(?=[,)])", head)
        for each in found[name]:
            results = [np.full_like(wanted, UNTOUCHED) for wanted in each.wanted]
            pairs = zip(bits, each.sizes, strict=True)
            sizes = [getattr(ctypes, f"c_int{width}")(size) for width, size in pairs]
            getattr(library, name)(*pointers(*each.held, *results), *sizes)
            check_all(results, each)


def test_arguments_have_comments_and_offsets_of_a_row_no_division() -> None:
    text = kernel_of(symbolic("concatenate"), "cuda")
    assert "/* x_0 in [0, 8]: size of dimension 0 of %x = f32[<=8,4]" in text
    assert "float *__restrict__ c, int32_t x_0)" in text
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
    assert "s = tl.cast(s, tl.int32) // 4 * 4" in kernel_of(module.entry, "triton")


def test_a_size_that_a_program_sets_is_an_argument() -> None:
    module = hlo.parse("""ENTRY e { x = f32[8,4] parameter(0) s = s32[] parameter(1)
        d = f32[<=8,4] set-dimension-size(x, s), dimensions={0}
        ROOT r = f32[<=8,4] reverse(d), dimensions={0} }""")
    text = kernel_of(module.entry, "numpy")
    assert "# s_2 in [0, 8]: value of %s = s32[] parameter(1)" in text
    x = np.arange(32).reshape(8, 4)
    (found,) = run_in_numpy(text, "kernel", [x, np.array(3), 3])
    assert found.tolist() == x[2::-1].tolist()


@pytest.mark.parametrize("name", ["np", "max", "tl", "kernel_programs", "kernel_warps", "program"])
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
    text = kernel_of(computation_of("jnp.roll(x, 1, axis=1)"))
    assert "if (d1 < 1) {" in text
    assert "if (d1 >= 1) {" in text


def test_sizes_with_several_values_or_over_a_schedule_are_refused() -> None:
    module = hlo.parse("""fused { p = f32[?] parameter(0) ROOT n = f32[?] negate(p) }
        ENTRY e { x = f32[?] parameter(0) y = f32[?] parameter(1)
        f = f32[?] fusion(x), kind=kLoop, calls=fused g = f32[?] fusion(y), kind=kLoop, calls=fused
        ROOT t = (f32[?], f32[?]) tuple(f, g) }""")
    with pytest.raises(KernelError, match="%n: the size of dimension 0 of %n differs"):
        emit_kernel(module["f"])
    module = hlo.parse("""fused { x = f32[8,4] parameter(0) ROOT y = f32[8,4] exponential(x) }
        ENTRY e { x = f32[8,4] parameter(0)
        ROOT f = f32[8,4] fusion(x), kind=kLoop, calls=fused }""")
    schedule = schedule_of(module.entry.root)
    assert isinstance(schedule, FusionSchedule)
    with pytest.raises(KernelError, match="%y: a schedule is for sizes that are numbers"):
        emit_kernel(symbolic("elementwise").root, schedule=schedule)
