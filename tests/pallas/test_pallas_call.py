"""Grids and blocks against a model that runs them step by step."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# ruff: noqa: ARG005
# Index maps are functions of all axes of a grid, and of numbers as well as of symbols.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, product
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import parse_map
from ops.pallas import BlockSpec, ElementBlock, PallasCall, PallasError, pallas_call
from simplifier import FloorDiv, Min
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows
from tests.extent import examples

Step = tuple[int, ...]


@dataclass(frozen=True)
class GridModel:
    """An array in blocks of plain sizes, and the steps of a grid in the order in which they run."""

    grid: tuple[int, ...]
    shape: tuple[int, ...]
    block: tuple[int, ...]
    index: Callable[..., Step]

    @property
    def steps(self) -> list[Step]:
        return [*np.ndindex(self.grid)]

    def _start(self, step: Step) -> Step:
        return tuple(n * size for n, size in zip(self.index(*step), self.block, strict=True))

    def _is_inside(self, place: Step) -> bool:
        return all(0 <= at < size for at, size in zip(place, self.shape, strict=True))

    def elements(self, step: Step) -> set[Step]:
        start = self._start(step)
        offsets = product(*map(range, self.block))
        places = (tuple(map(add, start, offset)) for offset in offsets)
        return {*filter(self._is_inside, places)}

    def first_out_of_bounds(self) -> Step | None:
        """The first step whose block does not begin within the array."""
        return next((step for step in self.steps if not self._is_inside(self._start(step))), None)

    def unwritten(self) -> set[Step]:
        return {*np.ndindex(self.shape)}.difference(*map(self.elements, self.steps))

    def first_race(self, parallel: Sequence[int]) -> tuple[Step, Step] | None:
        """The first two steps that differ along a parallel axis and write a common element."""
        for first, second in combinations(self.steps, 2):
            differ = any(first[axis] != second[axis] for axis in parallel)
            if differ and self.elements(first) & self.elements(second):
                return first, second
        return None

    def first_late_revisit(self) -> tuple[Step, Step] | None:
        """The first step that begins a block that an earlier step had, and the first of these."""
        for number, step in enumerate(self.steps):
            changed = not number or self.index(*step) != self.index(*self.steps[number - 1])
            for earlier in self.steps[:number] if changed else ():
                if self.elements(earlier) & self.elements(step):
                    return earlier, step
        return None

    def copies(self) -> tuple[int, int]:
        """How often a block is copied, and how many elements these have."""
        runs = groupby(self.steps, lambda step: self.index(*step))
        copied = [len(self.elements(next(steps))) for _, steps in runs]
        return len(copied), sum(copied)


SEMANTICS = ("parallel", "arbitrary")
IN_PARALLEL = ", and run in parallel along axis 1 of the grid"


Number = Any
"""An integer, or an expression."""

ONE: Number = np.int64(1)


def index_function(rows: list[tuple[list[int], int, int, int]]) -> Callable[..., tuple[int, ...]]:
    """An index map: of each dimension, the factors of the axes, a constant, a divisor, an end.

    It takes numbers as well as symbols.
    """

    def index(*step: Number) -> tuple[Number, ...]:
        found: list[Number] = []
        for factors, constant, divisor, end in rows:
            value = sum(f * at for f, at in zip(factors, step, strict=True)) + constant
            if all(isinstance(at, int) for at in step):
                found.append(min(value // divisor, end))
            else:
                found.append(Min(FloorDiv(value, divisor), end))
        return tuple(found)

    return index


@st.composite
def models(draw: st.DrawFn) -> GridModel:
    """Small grids, arrays and index maps: in bounds or not, with blocks taken again or not."""
    grid = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    rank = draw(st.integers(1, 2))
    factors = st.lists(st.integers(-1, 2), min_size=len(grid), max_size=len(grid))
    row = st.tuples(factors, st.integers(0, 1), st.integers(1, 2), st.integers(1, 4))
    rows = draw(st.lists(row, min_size=rank, max_size=rank))
    block = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    shape = tuple(draw(st.integers(1, 7)) for _ in range(rank))
    return GridModel(grid, shape, block, index_function(rows))


def call_of(model: GridModel, semantics: tuple[str, ...] = ()) -> PallasCall:
    spec = BlockSpec(model.block, model.index)
    sizes = ",".join(map(str, model.shape))
    return pallas_call(model.grid, {}, {"out": (f"f32[{sizes}]", spec)}, semantics=semantics)


@examples(30)
@given(models(), st.data())
def test_answers_are_those_of_the_model(model: GridModel, data: st.DataObject) -> None:
    drawn = [data.draw(st.sampled_from(SEMANTICS)) for _ in model.grid]
    call = call_of(model, tuple(drawn))
    (array,) = call.outputs
    beyond = array.out_of_bounds()
    assert (beyond and beyond.step) == model.first_out_of_bounds()
    left = array.unwritten()
    assert left is not None
    assert {*left} == model.unwritten()
    parallel = [axis for axis, each in enumerate(drawn) if each == "parallel"]
    races = [(race.first, race.second) for race in call.races()]
    expected = model.first_race(parallel)
    assert races == ([expected] if expected else [])
    for race in call.races():
        assert race.element in model.elements(race.first) & model.elements(race.second)
    late = model.first_late_revisit()
    if not races:
        found = [(each.first, each.second) for each in call.late_revisits()]
        assert found == ([late] if late else [])
    copies, elements = model.copies()
    traffic = array.traffic()
    assert traffic is not None
    assert (traffic.copies, traffic.bytes) == (copies, 4 * elements)


@examples(15)
@given(models())
def test_each_step_has_the_elements_of_its_block(model: GridModel) -> None:
    (array,) = call_of(model).outputs
    points = {(dims, results) for dims, _, _, results in array.elements.points()}
    assert points == {(step, place) for step in model.steps for place in model.elements(step)}


Index = Callable[..., Any]
Block = tuple[int | ElementBlock, ...]


def reading(grid: tuple[int, ...], shape: str, block: Block, index: Index) -> PallasCall:
    return pallas_call(grid, {"x": (shape, BlockSpec(block, index))}, {})


def writing(
    grid: tuple[int, ...], shape: str, block: Block, index: Index, semantics: str = ""
) -> PallasCall:
    spec = BlockSpec(block, index)
    return pallas_call(grid, {}, {"o": (shape, spec)}, semantics=tuple(semantics.split()))


def in_place(read: Index) -> PallasCall:
    """A call that writes the blocks of an array, in order, over those that it reads."""
    operand, result = BlockSpec((32,), read), BlockSpec((32,), lambda i: i)
    arrays = {"x": ("f32[128]", operand)}, {"o": ("f32[128]", result)}
    return pallas_call((4,), *arrays, aliases={"x": "o"})


def one_cell(steps: int) -> PallasCall:
    return pallas_call((steps,), {}, {"r": ("s32[1,1]", BlockSpec())}, semantics=("parallel",))


PADDED: Block = (ElementBlock(6, (1, 1)),)

AFTER_THE_LAST = reading((3,), "f32[16,128]", (4, 128), lambda i: (i + 2, 0))

CASES: list[tuple[str, PallasCall, str]] = [
    # Calls, and the problem that each has, if any.
    ("a block beyond the array, as in jax-ml/jax issue 23181",
     reading((1, 2, 2, 4, 3), "f32[1,2,1,512]", (1, 1, 1, 128), lambda n, m, i, j, k: (1, m, 1, j)),
     "x: step (0, 0, 0, 0, 0) takes block (1, 0, 1, 0); expected [0, 0] along dimension 0"),
    ("the block after the last", AFTER_THE_LAST,
     "x: step (2,) takes block (4, 0); expected [0, 3] along dimension 0"),
    ("a race along a parallel axis",
     writing((2, 4), "f32[256]", (128,), lambda i, k: i, "parallel parallel"),
     f"o: steps (0, 0) and (0, 1) both write element (0,){IN_PARALLEL}"),
    ("one cell that all steps write, as in jax-ml/jax pull request 37183", one_cell(4),
     f"r: steps (0,) and (1,) both write element (0, 0){IN_PARALLEL}".replace("1 of", "0 of")),
    ("the same with one step, as it was mended", one_cell(1), ""),
    ("a window that is larger than the array",
     reading((1,), "f32[8]", (ElementBlock(9),), lambda i: i),
     "x: step (0,) takes block (0,); no block fits along dimension 0"),
    ("axes with the names of places, and numbers of NumPy",
     reading((2, 2), "f32[8,2]", (2, 2), lambda b0, rt0: (2 * b0 + rt0, ONE)),
     "x: step (0, 0) takes block (0, 1); expected [0, 0] along dimension 1"),
    ("a sum over the last axis",
     writing((2, 4), "f32[256]", (128,), lambda i, k: i, "parallel arbitrary"), ""),
    ("a sum over the first axis", writing((4, 2), "f32[256]", (128,), lambda k, i: i),
     "o: step (1, 0) writes element (0,) of step (0, 0) again, after another block"),
    ("an element that no step writes", writing((3,), "f32[100]", (32,), lambda i: i),
     "o: no step writes element (96,) and 3 others"),
    ("an edge that is padding", writing((4,), "f32[100]", (32,), lambda i: i), ""),
    ("windows that overlap", writing((3,), "f32[8]", (ElementBlock(4),), lambda i: 2 * i),
     "o: step (1,) writes element (2,) of step (0,) again, after another block"),
    ("a window within the padding", reading((3,), "f32[8]", PADDED, lambda i: 2 * i), ""),
    ("a window beyond the padding", reading((4,), "f32[8]", PADDED, lambda i: 2 * i),
     "x: step (3,) takes block (6,); expected [0, 4] along dimension 0"),
    ("an update in place", in_place(lambda i: i), ""),
    ("an alias that is read after it is written", in_place(lambda i: 3 - i),
     "x: step (3,) reads element (0,) that step (0,) writes as o"),
]  # fmt: skip


@for_rows(CASES)
def test_problems_name_the_step(call: PallasCall, problem: str) -> None:
    assert [*map(str, call.problems())] == ([problem] if problem else [])


def test_memory_has_the_buffers_and_the_scratch_memory() -> None:
    spec = BlockSpec((None, 64), lambda i: (i, 0), buffers=1)
    whole = BlockSpec()
    arrays = {"x": ("bf16[2,64]", spec)}, {"o": ("f32[2,64]", whole)}
    call = pallas_call((2,), *arrays, scratch_bytes=9)
    assert call.memory_bytes == 128 + 2 * 512 + 9
    traffic = [(each.copies, each.bytes) for each in call.traffic().values() if each]
    assert traffic == [(2, 256), (1, 512)]


def of_map(text: str) -> PallasCall:
    return reading((4,), "f32[4]", (1,), parse_map(text))


def of_two(shape: str, block: Block, index: Index | None = None) -> PallasCall:
    return pallas_call((2,), {"x": (shape, BlockSpec(block, index))}, {})


WHOLE = ("f32[4]", BlockSpec())
NO_ARRAY: Any = ("f32[4]",)

WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: pallas_call((0,), {}, {}), "grid is (0,); expected sizes of at least 1"),
    (lambda: pallas_call((2,), {}, {}, semantics=("serial",)),
     "expected one of parallel, core_parallel, subcore_parallel, arbitrary for each of the 1"),
    (lambda: of_two("f32[4,4]", (2,), lambda i: i),
     "block_shape has 1 dimensions, the array f32[4,4]"),
    (lambda: of_two("f32[4]", (2,), lambda i, j: i),
     "index_map takes 2 arguments; expected 1, one for each axis of the grid"),
    (lambda: of_two("f32[4]", (2,), lambda i: (i, 0)), "index_map gives 2 results; expected 1"),
    (lambda: pallas_call((2,), {"x": NO_ARRAY}, {}),
     "inputs: x has 1 parts; expected a shape and a BlockSpec"),
    (lambda: of_two("(f32[2], f32[2])", (1,)),
     "f32[2]); expected an array whose sizes are known"),
    (lambda: of_two("f32[?]", (1,)), "f32[?]; expected an array whose sizes are known"),
    (lambda: pallas_call((1,), {"x": WHOLE}, {"x": WHOLE}),
     "'x' is the name of an operand and of a result"),
    (lambda: pallas_call((2,), {}, {}, scratch_bytes=-1), "scratch_bytes is -1"),
    (lambda: BlockSpec(buffers=-1), "buffers is -1; expected at least 0"),
    (lambda: ElementBlock(0), "size is 0; expected at least 1"),
    (lambda: ElementBlock(2, (-1, 0)), "padding is (-1, 0); expected two numbers"),
    (lambda: of_map("(d0) -> (d0), domain: d0 in [0, 1]"),
     "d0 of index_map is in [0, 1]; expected all 4 steps along axis 0 of the grid"),
    (lambda: of_map("(d0) -> (d0), domain: d0 in [0, 3], d0 mod 2 in [0, 0]"),
     "expected no other variables or conditions"),
    (lambda: of_map("(b0) -> (b0), domain: b0 in [0, 3]"), "no dimension named b0, b1"),
    (lambda: BlockSpec((0,)), "block_shape has the size 0; expected at least 1"),
    (lambda: pallas_call((2,), {}, {}, aliases={"x": "o"}), "aliases have 'x'"),
]  # fmt: skip


@for_all(WRONG)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PallasError, match=re.escape(message)):
        make()


def test_arguments_of_other_kinds_are_refused() -> None:
    call: Any = pallas_call
    for array in (("f32[4]", 3), (5, BlockSpec())):
        with pytest.raises(ArgumentError, match="expected a shape and a BlockSpec"):
            call((2,), {"x": array}, {})
    with pytest.raises(ArgumentError, match="expected a mapping from operands to results"):
        call((2,), {}, {}, aliases=[1])
    with pytest.raises(ArgumentError, match="expected an integer of at least 0"):
        call((2,), {}, {}, scratch_bytes="5")


def test_a_call_shows_itself_and_says_what_is_not_known_where_blocks_multiply_axes() -> None:
    assert "takes block (4, 0)" in AFTER_THE_LAST._repr_html_()
    assert repr(AFTER_THE_LAST).startswith("<PallasCall: grid (3,), arbitrary;")
    call = writing((3, 4), "f32[24,512]", (8, 128), lambda i, j: (i * j, j))
    reason = "not known: i * j: is a product of variables"
    for line in ("copies are", "problems are"):
        assert f"{line} {reason}" in str(call)
        assert f"{line} {reason}" in call._repr_html_()
