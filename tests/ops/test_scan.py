"""Scan: a result needs the slices that a chain of carried values leads to, as XLA computes it."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import StepUse, hlo, output_to_input, scan
from ops.rules.reduce import MAX_EXACT_STEPS
from tests.cases import for_all
from tests.evaluation import related
from tests.extent import examples
from tests.ops.agreement import check_felt
from tests.ops.answers import only
from tests.ops.labelled_elements import Sizes, shapes
from tests.ops.programs import array, braced, module


def summing(slices: Sizes) -> str:
    """A computation that adds to what is carried, and gives the sum as a slice of the result."""
    shape = array("f32", slices)
    return f"""sum {{ a = {shape} parameter(0) b = {shape} parameter(1) c = {shape} add(a, b)
      ROOT r = ({shape}, {shape}) tuple(c, c) }}"""


@pytest.mark.needs("jaxlib")
@examples(25)
@given(data=st.data())
def test_scans_need_what_came_before(data: st.DataObject) -> None:
    sizes = data.draw(shapes(4, smallest=1, most_elements=30).filter(len))
    steps = data.draw(st.integers(0, len(sizes) - 1))
    is_reverse = data.draw(st.booleans())
    slices = sizes[:steps] + sizes[steps + 1 :]
    stacked, carried = array("f32", sizes), array("f32", slices)
    attributes = f"dimensions={braced([steps])}, num_carries=1, to_apply=sum"
    attributes += f", is_reverse={str(is_reverse).lower()}"
    result, operands = f"({stacked}, {carried})", [stacked, carried]
    check_felt(module(result, "scan", operands, attributes, summing(slices)))


# What one step does, element by element: its results, as sums of its inputs and carried values.

STEPS: dict[str, tuple[str, str]] = {
    "slices-pass-through": ("x", "x c"),
    "carried-values-pass-through": ("x", "c c"),
    "output-is-the-value-before": ("x", "c x"),
    "sum-of-all": ("x", "xc xc"),
    "nothing-is-used": ("x", "- -"),
    "only-the-last-is-carried": ("x", "x x"),
    "two-steps-late": ("x", "d x c"),
    "values-change-places": ("x", "xc d c"),
    "every-other-slice": ("x", "c d xc"),
    "only-from-the-third-on": ("x", "d x cd"),
    "two-inputs-two-outputs": ("xy", "xc y yc"),
    "no-input": ("", "c c"),
}
"""Inputs, and what the outputs and then the next values of the carried ``c``, ``d`` are."""


def stepping(inputs: str, results: str, length: int, *, is_reverse: bool = False) -> str:
    """A scan along the second dimension of arrays of two columns."""
    rows = results.split()
    carries = "cd"[: sum(letter in results for letter in "cd") or 1]
    letters = inputs + carries
    lines = [f"{each} = f32[2] parameter({number})" for number, each in enumerate(letters)]
    lines += ["zero = f32[] constant(0)", "none = f32[2] broadcast(zero), dimensions={}"]
    names: list[str] = []
    for number, row in enumerate(rows):
        names.append(f"none.{number}")
        lines.append(f"none.{number} = f32[2] add(none, none)")
        for letter in row.replace("-", ""):
            lines.append(f"{names[-1]}{letter} = f32[2] add({names[-1]}, {letter})")
            names[-1] += letter
    shapes = [f"f32[2,{length}]"] * (len(rows) - len(carries)) + ["f32[2]"] * len(carries)
    operands = [f"f32[2,{length}]"] * len(inputs) + ["f32[2]"] * len(carries)
    of_step = ", ".join(["f32[2]"] * len(rows))
    lines.append(f"ROOT r = ({of_step}) tuple({', '.join(names)})")
    attributes = f"dimensions={{1}}, num_carries={len(carries)}, to_apply=step"
    attributes += f", is_reverse={str(is_reverse).lower()}"
    body = "\n".join(["step {", *lines, "}"])
    return module(f"({', '.join(shapes)})", "scan", operands, attributes, body)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_results_need_what_steps_use(step: tuple[str, str], length: int, is_reverse: bool) -> None:
    check_felt(stepping(*step, length, is_reverse=is_reverse))


def first_map(step: str, length: int = 5) -> str:
    root = hlo.parse(stepping(*STEPS[step], length)).entry.root
    first, *_ = output_to_input(root).indexing
    return "; ".join(map(str, first.indexings))


def test_a_slice_arrives_as_many_steps_late_as_it_is_carried() -> None:
    in_place = "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 4]"
    late = "(d0, d1) -> (d0, d1 - 2), domain: d0 in [0, 1], d1 in [2, 4]"
    assert (first_map("slices-pass-through"), first_map("two-steps-late")) == (in_place, late)


@pytest.mark.needs("jax")
@examples(25)
@given(data=st.data())
def test_no_step_uses_more_than_is_said(data: st.DataObject) -> None:
    letters = st.sets(st.sampled_from("xycd")).map(lambda found: "".join(sorted(found)) or "-")
    results = " ".join([*data.draw(st.lists(letters, max_size=2)), "cd", data.draw(letters)])
    length, is_reverse = data.draw(st.integers(1, 6)), data.draw(st.booleans())
    check_felt(stepping("xy", results, length, is_reverse=is_reverse), wider=range(4))


NONE, ELEMENTWISE = StepUse.NONE, StepUse.ELEMENTWISE
Place = tuple[int, ...]
Needs = dict[Place, set[tuple[int, Place]]]
"""The elements of the operands that each element of an array needs."""

WIDTH = 2


def stepped(uses: list[list[StepUse]], length: int, *, is_reverse: bool) -> list[Needs]:
    """What results of a scan need, step by step: of an input, an output and two carried values."""
    carried: list[Needs] = [{(at,): {(place, (at,))} for at in range(WIDTH)} for place in (1, 2)]
    output: Needs = {}
    for step in range(length)[:: -1 if is_reverse else 1]:
        taken: list[Needs] = [{(at,): {(0, (step, at))} for at in range(WIDTH)}, *carried]
        made: list[Needs] = [{(at,): set() for at in range(WIDTH)} for _ in uses]
        for result, row in zip(made, uses, strict=True):
            for use, operand in zip(row, taken, strict=True):
                for at in range(WIDTH):
                    places = {NONE: [], ELEMENTWISE: [at], StepUse.ANY: range(WIDTH)}[use]
                    result[at,] |= {need for place in places for need in operand[place,]}
        output |= {(step, at): made[0][at,] for at in range(WIDTH)}
        carried = made[1:]
    return [output, *carried]


@for_all(range(40))
def test_scans_need_what_their_steps_need(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a sample
    uses = [random.choices([NONE, ELEMENTWISE, StepUse.ANY], [4, 3, 1], k=3) for _ in range(3)]
    length, is_reverse = random.randint(0, 5), random.random() < 0.5
    stacked, carry = (length, WIDTH), (WIDTH,)
    results = scan([stacked], [stacked], [carry] * 2, 0, is_reverse=is_reverse, uses=uses)
    for made, needs in zip(results, stepped(uses, length, is_reverse=is_reverse), strict=True):
        for place in range(3):
            exact = {(at, there) for at in needs for each, there in needs[at] if each == place}
            said = related(made.output_to_input[place])
            assert said >= exact
            assert related(made.input_to_output[place]) == {(there, at) for at, there in said}
            assert ends_of_distances(said) == ends_of_distances(exact)


def ends_of_distances(pairs: Iterable[tuple[Place, Place]]) -> list[int]:
    """How many steps slices are behind others, at least and at most."""
    distances = {at[0] - there[0] for at, there in pairs if len(at) == len(there) == 2}
    return [min(distances), max(distances)] if distances else []


def rotation(carries: int) -> list[list[StepUse]]:
    """The output is the first carried value, each becomes the next, the input the last."""
    order, places = [*range(1, carries + 1), 0], range(carries + 1)
    return [[ELEMENTWISE if at == wanted else NONE for at in places] for wanted in order]


@pytest.mark.parametrize("carries", [1, 7, MAX_EXACT_STEPS + 1])
def test_what_is_carried_long_is_found_or_marked_as_possible(carries: int) -> None:
    length = 3 * carries
    delayed, *_ = scan([(length,)], [(length,)], [()] * carries, 0, uses=rotation(carries))
    said = related(delayed.output_to_input[0])
    exact = {((at,), (at - carries,)) for at in range(carries, length)}
    assert said >= exact
    assert (said == exact) == (carries < MAX_EXACT_STEPS)


def test_constants_of_other_shapes_leave_a_step_elementwise() -> None:
    """A truth that is known to the program chooses between whole slices."""
    text = """HloModule m step { a = f32[3] parameter(0) b = f32[3] parameter(1)
          yes = pred[] constant(true) s = f32[3] select(yes, a, b) c = f32[3] add(s, b)
          ROOT r = (f32[3], f32[3]) tuple(c, c) }
        ENTRY e { x = f32[5,3] parameter(0) z = f32[3] parameter(1)
          ROOT r = (f32[5,3], f32[3]) scan(x, z), dimensions={0}, num_carries=1, to_apply=step }"""
    first, carried = output_to_input(hlo.parse(text).entry.root).indexing
    domain = "domain: d0 in [0, 4], d1 in [0, 2]"
    summed = f"(d0, d1)[s0] -> (s0, d1), {domain}, s0 in [0, 4], d0 - s0 in [0, 4]"
    assert str(only(first)) == summed
    assert str(only(carried)) == f"(d0, d1) -> (d1), {domain}"
