"""Paths through graphs: as if every way were followed by itself, but with little work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import REGISTRY, fusion_indexing, hlo, limits, parameter_indexing
from ops.analysis.queries import flow_in
from ops.hlo import Computation, HloModule
from ops.rules.rule import Direction
from tests.extent import seldom
from tests.hlo.modules import module_text
from tests.ops.programs import by_paragraph, drawn
from tests.ops.reference_paths import agrees, slow_paths
from tests.ops.test_models import MODULES

MAX_RESULTS = 8
"""Of more results of a computation, some are compared: the slow way takes its time."""


def check(computation: Computation) -> None:
    count = len(computation.root.shape.arrays)
    for output in range(0, count, -(-count // MAX_RESULTS) or 1):
        expected = slow_paths(computation.root, output)
        found = fusion_indexing(computation.root, output)
        own = {each: found[each] for each in found if each.computation is computation}
        assert own.keys() == expected.keys()
        assert [each.name for each in own if not agrees(expected[each], own[each])] == []
        to_parameters = parameter_indexing(computation.root, output)
        needed = [each for each in computation.parameters if each in expected]
        assert [*to_parameters] == needed
        assert all(agrees(expected[each], to_parameters[each]) for each in needed)


# Real programs.


@pytest.mark.parametrize("name", MODULES)
def test_real_programs_are_followed_as_the_slow_way_does(name: str) -> None:
    for computation in hlo.parse(module_text(name)).computations:
        check(computation)


# Random programs.

HEAD = """HloModule m sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
two { x = ARRAY parameter(0) y = ARRAY parameter(1) t = ARRAY transpose(x), dimensions={1,0}
  s = ARRAY subtract(t, y) ROOT both = (ARRAY, ARRAY) tuple(s, y) }
ENTRY e { p = ARRAY parameter(0) q = ARRAY parameter(1) i = s32[] parameter(2)
  j = s32[] parameter(3) zero = f32[] constant(0)"""

MAKERS = by_paragraph("""
NEW = ARRAY negate(A)

NEW = ARRAY add(A, B)

NEW = ARRAY transpose(A), dimensions={1,0}

NEW = ARRAY reverse(A), dimensions={0}

NEW.1 = f32[5,4] pad(A, zero), padding=1_0x0_0
NEW = ARRAY slice(NEW.1), slice={[0:4],[0:4]}

NEW.1 = f32[4] reduce(A, zero), dimensions={0}, to_apply=sum
NEW = ARRAY broadcast(NEW.1), dimensions={0}

NEW.1 = f32[2,4] dynamic-slice(A, i, j), dynamic_slice_sizes={2,4}
NEW = ARRAY concatenate(NEW.1, NEW.1), dimensions={0}

NEW.1 = (ARRAY, ARRAY) call(A, B), to_apply=two
NEW = ARRAY get-tuple-element(NEW.1), index=0

NEW.1 = (ARRAY, ARRAY) call(B, A), to_apply=two
NEW.2 = ((ARRAY, ARRAY), ARRAY) tuple(NEW.1, A)
NEW.3 = (ARRAY, ARRAY) get-tuple-element(NEW.2), index=0
NEW = ARRAY get-tuple-element(NEW.3), index=1
""")
"""Lines that make a new array of two others."""


@st.composite
def programs(draw: st.DrawFn) -> HloModule:
    """Arrays made of arrays before them; some of them are the results."""
    names = ["p", "q"]
    lines = [HEAD, *(drawn(draw, names, MAKERS) for _ in range(draw(st.integers(1, 9))))]
    results = draw(st.lists(st.sampled_from(names), min_size=1, max_size=5))
    shapes = ", ".join(["ARRAY"] * len(results))
    lines.append(f"ROOT all = ({shapes}) tuple({', '.join(results)}) }}")
    return hlo.parse("\n".join(lines).replace("ARRAY", "f32[4,4]"))


@given(programs())
def test_random_programs_are_followed_as_the_slow_way_does(module: HloModule) -> None:
    check(module.entry)


@seldom
@given(programs(), st.sampled_from(["MAX_MAPS", "MAX_COMPOSITIONS"]), st.integers(1, 8))
def test_questions_together_are_as_each_alone(module: HloModule, limit: str, most: int) -> None:
    """Also where a budget ends, which is that of each question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, limit, most)
        flow = flow_in(module, Direction.OUTPUT_TO_INPUT, REGISTRY)
        root = module.entry.root
        begins = [(root, output) for output in range(len(root.shape.arrays))]
        together = flow._across(module.entry, begins, flow._interner)
        alone = [flow._across(module.entry, [begin], flow._interner) for begin in begins]
        assert together == {place: links for each in alone for place, links in each.items()}
