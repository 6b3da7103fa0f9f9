"""Dynamic slices and their updates: maps against XLA, starts that are known, and origins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ops
from ops import OperandIndexing, fusion_indexing, hlo, input_to_output, output_to_input
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import examples
from tests.ops.answers import only
from tests.ops.labelled_elements import Sizes, shapes
from tests.ops.oracle import felt, moved
from tests.ops.programs import array, braced
from tests.ops.reached_elements import related_given

EXAMPLES = examples(60)


@dataclass(frozen=True)
class Part:
    """A part of a tensor, and where it is said to begin."""

    sizes: Sizes
    part: Sizes
    starts: tuple[int, ...]
    known: tuple[bool, ...]
    """Which starts are constants; the others are parameters."""

    def starts_text(self, first: int) -> str:
        """The instructions that give the starts, the parameters numbered from one on."""
        numbers = iter(range(first, first + len(self.starts)))
        pairs = enumerate(zip(self.starts, self.known, strict=True))
        return " ".join(
            f"i{at} = s32[] {f'constant({start})' if known else f'parameter({next(numbers)})'}"
            for at, (start, known) in pairs
        )

    def text(self, opcode: str) -> str:
        """The operation in a module, on parameters ``x`` and, to be written, ``u``."""
        names = "".join(f", i{place}" for place in range(len(self.starts)))
        declared = f"x = {array('s32', self.sizes)} parameter(0)"
        if opcode == "dynamic-slice":
            given, starts, result = f"x{names}", self.starts_text(1), self.part
            attribute = f", dynamic_slice_sizes={braced(self.part)}"
        else:
            declared += f" u = s32{list(self.part)} parameter(1)"
            given, starts, result = f"x, u{names}", self.starts_text(2), self.sizes
            attribute = ""
        root = f"ROOT r = s32{list(result)} {opcode}({given}){attribute}"
        return f"HloModule m ENTRY e {{ {declared} {starts} {root} }}"

    def given(self, first: int) -> dict[int, int]:
        pairs = zip(self.starts, self.known, strict=True)
        return dict(enumerate((start for start, known in pairs if not known), first))


@st.composite
def parts(draw: st.DrawFn, least_rank: int = 0) -> Part:
    """Parts of tensors of rank up to 6; starts lie inside, and outside at either end."""
    sizes = draw(shapes(6).filter(lambda sizes: len(sizes) >= least_rank))
    return Part(
        sizes,
        tuple(draw(st.integers(0, size)) for size in sizes),
        tuple(draw(st.integers(-2, 7)) for _ in sizes),
        tuple(draw(st.booleans()) for _ in sizes),
    )


def pairs_of(way: OperandIndexing, given: dict[int, int]) -> set[Pair]:
    """What a dependence says if the scalar parameters have these values."""
    values = {number: np.array(value) for number, value in given.items()}
    return related_given(
        way.map, way.runtime, lambda origin: values[origin.instruction.parameter_number or 0]
    )


def both_ways(text: str, operand: int, given: dict[int, int]) -> set[Pair]:
    """What the maps of the root say of an operand, if both directions say the same."""
    root = hlo.parse(text).entry.root
    there = pairs_of(only(output_to_input(root).indexing[operand]), given)
    (answer,) = input_to_output(root, operand).indexing
    assert pairs_of(only(answer), given) == {(second, first) for first, second in there}
    return there


@pytest.mark.needs("jaxlib")
@EXAMPLES
@given(parts(least_rank=1))
def test_a_slice_is_read_where_xla_reads_it(part: Part) -> None:
    """Of a scalar, StableHLO, through which programs are handed over, has no slice."""
    text, given = part.text("dynamic-slice"), part.given(1)
    assert both_ways(text, 0, given) == moved(text, 0, given)


@pytest.mark.needs("jaxlib")
@EXAMPLES
@given(parts())
def test_an_update_is_written_where_xla_writes_it(part: Part) -> None:
    text, given = part.text("dynamic-update-slice"), part.given(2)
    assert both_ways(text, 1, given) == moved(text, 1, given)
    assert both_ways(text, 0, given) == moved(text, 0, given)


@pytest.mark.needs("jaxlib")
@examples(20)
@given(parts(least_rank=1))
def test_starts_are_felt_where_the_maps_say(part: Part) -> None:
    for opcode, first in (("dynamic-slice", 1), ("dynamic-update-slice", 2)):
        text, given = part.text(opcode), part.given(first)
        starts = [place for place, known in enumerate(part.known) if not known]
        for parameter, place in enumerate(starts, first):
            assert felt(text, parameter, given) <= both_ways(text, first + place, given)


@EXAMPLES
@given(parts())
def test_simplified_maps_say_the_same(part: Part) -> None:
    for indexing in (
        ops.dynamic_slice(part.sizes, part.part),
        ops.dynamic_update_slice(part.sizes, part.part, part.starts),
    ):
        for way in (*indexing.output_to_input, *indexing.input_to_output):
            assert related(way.simplify()) == related(way)


UNCOVERED = [
    # sizes, part, starts, where the operand is kept
    ((3, 1, 33), (1, 1, 8), (1, 1, 31), "(d2 >= 25 and d0 == 1) in [0, 0]"),
    ((9,), (2,), (None,), "(d0 < rt0 + 2 and d0 >= rt0) in [0, 0]"),
    ((9, 5), (1, 1), (None, 2), "(d0 == rt0 and d1 == 2) in [0, 0]"),
    ((9, 5), (3, 5), (4, 0), "(d0 < 7 and d0 >= 4) in [0, 0]"),
    ((9, 5), (3, 5), (6, 0), "d0 in [0, 5]"),
    ((9, 5), (1, 5), (0, None), "d0 in [1, 8]"),
    ((9, 5), (1, 5), (8, None), "d0 in [0, 7]"),
    ((9, 5), (9, 5), (None, 0), "KNOWN EMPTY"),
]


@for_all(UNCOVERED)
def test_what_an_update_leaves_is_a_condition_without_maxima(
    sizes: Sizes, part: Sizes, starts: Sequence[int | None], kept: str
) -> None:
    own = ops.dynamic_update_slice(sizes, part, starts).output_to_input[0].simplify()
    assert kept in str(own).partition("domain: ")[2]
    assert "max" not in str(own)
    assert "min" not in str(own)
    places = [
        range(size - each + 1) if start is None else [min(start, size - each)]
        for size, each, start in zip(sizes, part, starts, strict=True)
    ]
    left: set[Sizes] = set()
    for first in product(*places):
        is_left = np.ones(sizes, dtype=bool)
        is_left[tuple(map(slice, first, np.add(first, part)))] = False
        left |= {*map(tuple, np.argwhere(is_left).tolist())}
    assert related(own) == {(index, index) for index in left}


KNOWN_STARTS = [
    # size, part, start, where the part begins
    *((9, 4, start, min(max(start, 0), 5)) for start in (-7, -1, 0, 2, 5, 6, 99)),
    *((9, 9, -3, 0), (9, 0, -3, 0), (9, 0, 12, 9)),
]


@for_all(KNOWN_STARTS)
def test_a_known_start_is_clamped_at_each_end(size: int, part: int, start: int, first: int) -> None:
    covered = {((at,), (first + at,)) for at in range(part)}
    turned = {(there, here) for here, there in covered}
    kept = {((at,), (at,)) for at in range(size) if not first <= at < first + part}
    slicing = ops.dynamic_slice((size,), (part,), (start,))
    assert related(slicing.output_to_input[0]) == covered
    assert related(slicing.input_to_output[0]) == turned
    update = ops.dynamic_update_slice((size,), (part,), (start,))
    assert [related(way) for way in update.output_to_input[:2]] == [kept, turned]
    assert [related(way) for way in update.input_to_output[:2]] == [kept, covered]


# One after the other.


@st.composite
def nested(draw: st.DrawFn) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """Sizes of a tensor, of a part, of a part of that, and all starts."""
    sizes = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    middle = tuple(draw(st.integers(1, size)) for size in sizes)
    inner = tuple(draw(st.integers(1, size)) for size in middle)
    return sizes, middle, inner, tuple(draw(st.integers(-1, 5)) for _ in (*sizes, *sizes))


@pytest.mark.needs("jaxlib")
@examples(30)
@given(nested())
def test_a_slice_of_a_slice_has_both_starts(drawn: tuple[Sizes, Sizes, Sizes, Sizes]) -> None:
    """Without a barrier between them XLA adds the starts before it clamps them."""
    sizes, middle, inner, starts = drawn
    names = [f"i{number}" for number in range(len(starts))]
    declared = " ".join(f"{name} = s32[] parameter({n})" for n, name in enumerate(names, 1))
    first, second = ", ".join(names[: len(sizes)]), ", ".join(names[len(sizes) :])
    text = f"""HloModule m ENTRY e {{ x = s32{list(sizes)} parameter(0) {declared}
      y = s32{list(middle)} dynamic-slice(x, {first}), dynamic_slice_sizes={braced(middle)}
      m = s32{list(middle)} opt-barrier(y)
      ROOT r = s32{list(inner)} dynamic-slice(m, {second}), dynamic_slice_sizes={braced(inner)}
    }}"""
    given = dict(enumerate(starts, 1))
    entry = hlo.parse(text).entry
    way = only(fusion_indexing(entry.root)[entry.parameters[0]])
    assert pairs_of(way, given) == moved(text, 0, given)


def test_origins_are_printed_below_the_map() -> None:
    text = """ENTRY e { x = s32[2,2,258] parameter(0) of1 = s32[] parameter(1)
          of2 = s32[] constant(0) of3 = s32[8]{0} parameter(2) s = s32[1] slice(of3), slice={[3:4]}
          t = s32[] reshape(s)
          ROOT r = s32[1,2,32] dynamic-slice(x, of1, of2, t), dynamic_slice_sizes={1,2,32} }"""
    root = hlo.parse(text).entry.root
    assert str(only(output_to_input(root).indexing[0])) == (
        "(d0, d1, d2){rt0, rt1} -> (d0 + rt0, d1, d2 + rt1), domain: d0 in [0, 0], "
        "d1 in [0, 1], d2 in [0, 31], rt0 in [0, 1], rt1 in [0, 226]\n"
        "rt0: %of1 = s32[] parameter(1); (d0, d1, d2) -> ()\n"
        "rt1: %t = s32[] reshape(%s); (d0, d1, d2) -> ()"
    )


def test_a_notebook_shows_origins_below_the_map() -> None:
    text = """ENTRY e { x = s32[9] parameter(0) i = s32[8] parameter(1)
          s = s32[1] slice(i), slice={[3:4]}
          t = s32[] reshape(s) ROOT r = s32[2] dynamic-slice(x, t), dynamic_slice_sizes={2} }"""
    root = hlo.parse(text).entry.root
    shown = only(output_to_input(root).indexing[0])._repr_html_()
    assert "\nrt0: %t = s32[] reshape(%s); (d0) -&gt; ()</pre>" in shown


def test_one_vector_may_hold_all_starts() -> None:
    root = hlo.parse("""HloModule m ENTRY e { x = s32[9,9] parameter(0) i = s32[2] parameter(1)
          ROOT r = s32[2,3] dynamic-slice(x, i), dynamic_slice_sizes={2,3} }""").entry.root
    operand, starts = map(only, output_to_input(root).indexing)
    origin = "%i = s32[2]{0} parameter(1); (d0, d1) -> "
    assert [*map(str, operand.runtime)] == [f"{origin}(0)", f"{origin}(1)"]
    assert str(starts) == ("(d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 1]")
