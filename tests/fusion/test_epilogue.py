"""From a hero to the root of its fusion, and from the root to the hero's operands."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import Fusion, FusionError, Unknown
from ops.dependence.dependence import Indexings
from ops.hlo import HloModule
from tests.cases import for_all, for_rows
from tests.evaluation import Pair
from tests.fusion.enumeration import pairs_of
from tests.fusion.random_programs import Program, programs
from tests.fusion.units import entry, fused, fusion_in, fusions_of, heads, named
from tests.hlo.modules import NAMES

TRANSPOSE_AND_LOG = fused("""p = f32[6,4] parameter(0)
    t = f32[4,6]{0,1} transpose(p), dimensions={1,0}
    a = f32[24] bitcast(t)  ROOT log = f32[24] log(a)""")
TWO_WAYS = entry("""p = f32[4,6] parameter(0)  hero = f32[4,6] exponential(p)
    t = f32[6,4] transpose(hero), dimensions={1,0}  line = f32[24] reshape(t)
    same = f32[24] reshape(hero)  ROOT sum = f32[24] add(line, same)""")
SEVERAL_ROOTS = entry("""p = f32[4,6] parameter(0)  zero = f32[] constant(0)
    hero = f32[4] reduce(p, zero), dimensions={1}, to_apply=sum
    b = f32[4,6] broadcast(hero), dimensions={0} ROOT both = (f32[4,6], f32[4]) tuple(b, hero)""")
BOTH_SUMS = entry(
    """p = f32[3,5] parameter(0) q = f32[3,5] parameter(1) z = f32[] constant(0)
    hero = (f32[3], f32[3]) reduce(p, q, z, z), dimensions={1}, to_apply=both
    one = f32[3] get-tuple-element(hero), index=1  ROOT r = f32[3] reverse(one), dimensions={0}""",
    """both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2)
    d = f32[] parameter(3) x = f32[] add(a, c) y = f32[] add(b, d)
    ROOT z = (f32[], f32[]) tuple(x, y) }""",
)
NOT_ALL = entry("""p = f32[9] parameter(0)  hero = f32[9] negate(p)
    ROOT s = f32[3] slice(hero), slice={[2:8:2]}""")
IN_A_BRANCH = entry(
    """p = f32[4] parameter(0) c = pred[] parameter(1)
    r = f32[4] conditional(c, p, p), true_computation=f, false_computation=g
    ROOT v = f32[4] reverse(r), dimensions={0}""",
    """f { a = f32[4] parameter(0) hero = f32[4] negate(a) ROOT e = f32[4] exponential(hero) }
    g { a = f32[4] parameter(0) ROOT other = f32[4] abs(a) }""",
)
IN_A_LOOP = entry(
    """n = s32[] parameter(0) x = f32[4] parameter(1) s = (s32[], f32[4], f32[4]) tuple(n, x, x)
    w = (s32[], f32[4], f32[4]) while(s), condition=goes_on, body=round
    ROOT r = f32[4] get-tuple-element(w), index=1""",
    """goes_on { s = (s32[], f32[4], f32[4]) parameter(0)
      n = s32[] get-tuple-element(s), index=0 z = s32[] constant(9)
      ROOT c = pred[] compare(n, z), direction=LT }
    round { s = (s32[], f32[4], f32[4]) parameter(0) n = s32[] get-tuple-element(s), index=0
      x = f32[4] get-tuple-element(s), index=1 y = f32[4] get-tuple-element(s), index=2
      one = s32[] constant(1) more = s32[] add(n, one) hero = f32[4] reverse(x), dimensions={0}
      ROOT next = (s32[], f32[4], f32[4]) tuple(more, hero, y) }""",
)


@for_rows([
    ("to a line", TRANSPOSE_AND_LOG, "computation f", "t", None, ["(d0, d1) -> (d1 * 4 + d0)"]),
    ("out of it", TRANSPOSE_AND_LOG, "instruction r", "t", None, ["(d0, d1) -> (d1 * 4 + d0)"]),
    ("no epilogue", TRANSPOSE_AND_LOG, "computation f", "t", "t", ["(d0, d1) -> (d0, d1)"]),
    ("two ways", TWO_WAYS, "computation e", "hero", None,
     ["(d0, d1) -> (d0 * 6 + d1)", "(d0, d1) -> (d1 * 4 + d0)"]),
    ("two results", SEVERAL_ROOTS, "computation e", "hero", None,
     ["(d0) -> (d0)", "(d0)[s0] -> (d0, s0)"]),
    ("a part", NOT_ALL, "computation e", "hero", None, ["(d0) -> (d0 floordiv 2 - 1)"]),
    ("before the root", SEVERAL_ROOTS, "set hero b", "hero", "b", ["(d0)[s0] -> (d0, s0)"]),
    ("never", IN_A_BRANCH, "computation f", "e", "hero", []),
    ("out of a branch", IN_A_BRANCH, "computation e", "hero", None, ["(d0){rt0} -> (-d0 + 3)"]),
    ("out of a round of a loop", IN_A_LOOP, "computation e", "hero", None,
     ["(d0) -> (-d0 + 3)", "(d0) -> (d0)"]),
    ("what decides about rounds", IN_A_LOOP, "computation e", "c", "w",
     ["()[s0] -> (s0)", "() -> ()"]),
])  # fmt: skip
def test_maps_from_the_hero_to_the_root(
    module: HloModule, unit: str, hero: str, root: str | None, expected: list[str]
) -> None:
    end = named(module, root) if root else None
    found = fusion_in(module, unit).epilogue(named(module, hero), end)
    assert heads(found) == sorted(expected)


def test_results_of_heroes_and_arrays_of_roots_are_told_apart() -> None:
    fusion, hero = Fusion.of_computation(BOTH_SUMS.entry), named(BOTH_SUMS, "hero")
    assert fusion.epilogue(hero, output=0) == ()
    assert heads(fusion.epilogue(hero, output=1)) == ["(d0) -> (-d0 + 2)"]
    found = Fusion.of_computation(SEVERAL_ROOTS.entry).epilogue(named(SEVERAL_ROOTS, "hero"))
    assert not isinstance(found, Unknown)
    expected = {0: ["(d0)[s0] -> (d0, s0)"], 1: ["(d0) -> (d0)"]}
    assert {way.element: heads((way,)) for way in found} == expected


@for_all([TRANSPOSE_AND_LOG, TWO_WAYS, NOT_ALL, IN_A_BRANCH])
def test_the_epilogue_is_the_way_from_the_root_backwards(module: HloModule) -> None:
    hero = named(module, "t" if module is TRANSPOSE_AND_LOG else "hero")
    fusion = Fusion.of_computation(module.entry)
    assert pairs_of(fusion.epilogue(hero)) == turned(pairs_of(fusion.indexing()[hero]))


def turned(pairs: set[Pair]) -> set[Pair]:
    return {(end, start) for start, end in pairs}


@given(programs(), st.data())
def test_epilogues_are_indexings_backwards(program: Program, data: st.DataObject) -> None:
    fusion = Fusion.of_computation(program.module.entry)
    indexing = fusion.indexing()
    hero = data.draw(st.sampled_from([*indexing]))
    assert pairs_of(fusion.epilogue(hero)) == turned(pairs_of(indexing[hero]))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("gpu/")])
def test_epilogues_of_real_fusions_are_their_indexing_backwards(name: str) -> None:
    for fusion in fusions_of(name):
        answers = fusion.indexing_of_results()
        for hero in (each for each in fusion.instructions if each.shape.is_array):
            forth = fusion.epilogue(hero)
            back = [(output, answer.get(hero, ())) for (_, output), answer in answers.items()]
            if all(map(_is_small, (forth, *(answer for _, answer in back)))):
                for output, answer in back:
                    assert pairs_of(forth, output) == turned(pairs_of(answer))


def _is_small(answer: Indexings) -> bool:
    """Whether all that the maps relate can be gone through."""
    return not isinstance(answer, Unknown) and not any(
        way.runtime
        or way.replica_id
        or prod(variable.bounds.size or 0 for variable in way.map.domain) > 1000
        for way in answer
    )


@for_rows([
    ("a turned hero", TRANSPOSE_AND_LOG, "t", [["(d0) -> (d0 floordiv 4, d0 mod 4)"]]),
    ("a hero that is needed twice", TWO_WAYS, "hero",
     [["(d0) -> (d0 floordiv 6, d0 mod 6)", "(d0) -> (d0 mod 4, d0 floordiv 4)"]]),
    ("the root", NOT_ALL, "s", [["(d0) -> (d0 * 2 + 2)"]]),
    ("one result of two", BOTH_SUMS, "hero",
     [["(d0)[s0] -> (-d0 + 2, s0)"]] * 2 + [["(d0) -> ()"]] * 2),
])  # fmt: skip
def test_maps_to_hero_operands(module: HloModule, hero: str, expected: list[list[str]]) -> None:
    answers = Fusion.of_computation(module.entry).hero_inputs(named(module, hero))
    assert [heads(answer) for answer in answers] == [sorted(maps) for maps in expected]


def test_heroes_and_roots_are_in_the_fusion() -> None:
    fusion = Fusion.of_instruction(named(TWO_WAYS, "t"))
    with pytest.raises(FusionError, match="%sum is neither in it nor read"):
        fusion.epilogue(named(TWO_WAYS, "hero"), named(TWO_WAYS, "sum"))
    with pytest.raises(FusionError, match="%line is neither in it nor read"):
        fusion.hero_inputs(named(TWO_WAYS, "line"))
