"""What fusions are as values: roots, results, what is refused; and maps by producer."""

from __future__ import annotations

import pickle

from ops import Fusion, FusionError, ShapeError, Unknown, by_producer
from ops.hlo import HloModule
from tests.cases import for_rows
from tests.fusion.small_programs import NESTED, REDUCE_OF_BROADCAST, SUM_WITH_TRANSPOSE
from tests.fusion.units import entry, fusion_in, heads, named
from tests.indexing.tables import refusals


def test_results_are_all_arrays_of_all_roots() -> None:
    fusion = Fusion.of_computation(named(NESTED, "all").computation)
    answers = fusion.indexing_of_results()
    assert [(root.name, output) for root, output in answers] == [("all", 0), ("all", 1), ("all", 2)]
    found = [[heads(each.get(of, ())) for of in fusion.operands] for each in answers.values()]
    assert found == [
        [["(d0, d1) -> (d1, d0)"], []],
        [["(d0) -> (d0 mod 2, d0 floordiv 2)"], ["(d0) -> (d0)"]],
        [["(d0, d1) -> (d1, -d0 + 2)"], []],
    ]


def test_what_others_read_is_a_root_too() -> None:
    module = entry("""p = f32[4,6] parameter(0)  n = f32[4,6] negate(p)
        t = f32[6,4] transpose(n), dimensions={1,0}  u = f32[4,6] exponential(n)
        ROOT both = (f32[6,4], f32[4,6]) tuple(t, u)""")
    n, t = named(module, "n"), named(module, "t")
    assert Fusion.of_instructions([t, n]).roots == (n, t)
    assert Fusion.of_instructions([t, n]).instructions == (n, t)
    assert Fusion.of_pair(n, t).roots == (t,)
    answers = Fusion.of_instructions([t, n]).indexing_of_results()
    found = {root.name: heads(answer[named(module, "p")]) for (root, _), answer in answers.items()}
    assert found == {"n": ["(d0, d1) -> (d0, d1)"], "t": ["(d0, d1) -> (d1, d0)"]}


def test_what_nobody_reads_is_a_root_if_nothing_else_is() -> None:
    read = "p = f32[] parameter(0) a = f32[] negate(p) b = f32[] abs(a) ROOT r = f32[] tan(p)"
    dead = fusion_in(entry(read), "set a b")
    assert [root.name for root in dead.roots] == ["b"]


READ_BY_A_FUSION = entry(
    "p = f32[4] parameter(0) q = f32[4] parameter(1) "
    "ROOT r = f32[4] fusion(p, q, p), kind=kLoop, calls=f",
    """f { a = f32[4] parameter(0) b = f32[4] parameter(1) c = f32[4] parameter(2)
    v = f32[4] reverse(c), dimensions={0} d = f32[4] add(a, b) ROOT s = f32[4] add(d, v) }""",
)


@for_rows([
    ("sum", SUM_WITH_TRANSPOSE, {"p": ["(d0, d1) -> (d0, d1)"], "t": ["(d0, d1) -> (d0, d1)"]}),
    ("dot", entry("""p = f32[3,3] parameter(0) q = f32[3,3] parameter(1)
        ROOT d = f32[3,3] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
     {"p": ["(d0, d1)[s0] -> (d0, s0)", "(d0, d1)[s0] -> (s0, d1)"]}),
    ("fusion", READ_BY_A_FUSION,
     {"p": ["(d0) -> (d0)", "(d0) -> (-d0 + 3)"], "q": ["(d0) -> (d0)"]}),
    ("both ends",
     entry("p = f32[4] parameter(0) ROOT c = f32[8] concatenate(p, p), dimensions={0}"),
     {"p": ["(d0) -> (d0)", "(d0) -> (d0 - 4)"]}),
])  # fmt: skip
def test_equal_operands_have_one_set(module: HloModule, expected: dict[str, list[str]]) -> None:
    answers = by_producer(module.entry.root)
    found = {producer.name: heads(answer) for producer, answer in answers.items()}
    assert found == {name: sorted(maps) for name, maps in expected.items()}


def test_one_operand_without_map_leaves_its_producer_without() -> None:
    module = entry(
        """p = f32[4] parameter(0) ROOT r = f32[4] fusion(p, p), kind=kLoop, calls=f""",
        """f { a = f32[4] parameter(0) b = f32[4] parameter(1)
        c = f32[4] custom-call(b), custom_call_target="x" ROOT r = f32[4] add(a, c) }""",
    )
    (answer,) = by_producer(module.entry.root).values()
    assert answer == Unknown("custom-call: no indexing map of x")


NAMES = {
    **{name: named(SUM_WITH_TRANSPOSE, name) for name in "tap"},
    **{name: named(REDUCE_OF_BROADCAST, name) for name in ("g0", "b")},
    "Fusion": Fusion,
}

test_what_is_no_fusion_or_no_question = refusals(NAMES, FusionError, ShapeError)("""
Fusion.of_instructions([g0, b]) => instructions of %e, %f are given; expected some of one
Fusion.of_instructions([]) => no instructions are given
Fusion((t,), ()) => are its roots; expected some of %t
Fusion((t,), (a,)) => are its roots; expected some of %t
Fusion.of_pair(a, p) => %p does not read %a
Fusion.of_instruction(t).indexing(a) => %a is neither in it nor read
Fusion.of_instruction(t).indexing(t, 1) => %t: there is no output 1 among 1
Fusion((t, a), (t, a)).indexing() => %t, %a are its roots; say which one is meant
""")


def test_fusions_are_values() -> None:
    t, a = named(SUM_WITH_TRANSPOSE, "t"), named(SUM_WITH_TRANSPOSE, "a")
    fusion = Fusion.of_pair(t, a)
    assert fusion == Fusion.of_instructions([a, t])
    assert len({fusion, Fusion.of_instructions([a, t])}) == 1
    assert str(fusion) == "fusion of %t, %a that reads %p"
    assert str(Fusion.of_computation(a.computation)) == "fusion of %e that reads %p"


def test_fusions_are_pickled_with_their_module_alone() -> None:
    """The tables of the library are named, not sent."""
    fusion = Fusion.of_computation(REDUCE_OF_BROADCAST.entry)
    pickled = pickle.dumps(fusion)
    assert len(pickled) < len(REDUCE_OF_BROADCAST.source) + 500
    again = pickle.loads(pickled)  # noqa: S301 - our own
    assert again.registry is fusion.registry
    before, after = ([*map(heads, each.indexing().values())] for each in (fusion, again))
    assert before == after
