"""Several maps as one: one after the other, in XLA's order of variables, and one that holds all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, compose, parse_map
from indexing.relation import terms_in
from indexing.transform.hull import holds, hull
from simplifier import symbol
from simplifier.expr import form as forms
from simplifier.expr.form import Form
from tests.call_counts import calls_of
from tests.evaluation import Pair, related
from tests.extent import seldom
from tests.indexing.tables import each_named, each_row
from tests.strategies import expressions, maps


def test_all_spellings_are_one() -> None:
    consumer, producer = IndexingMap.identity([4]), IndexingMap.from_sizes("d0 * 2", [10])
    expected = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 3]")
    assert compose(consumer, producer) == expected
    assert consumer.compose(producer) == expected
    assert producer @ consumer == expected


@st.composite
def three_maps(draw: st.DrawFn) -> tuple[IndexingMap, IndexingMap, IndexingMap]:
    """Maps whose arities meet one after the other."""
    third = draw(maps(results=1))
    second = draw(maps(results=len(third.dims)))
    return draw(maps(results=len(second.dims))), second, third


def joined(first: set[Pair], second: set[Pair]) -> set[Pair]:
    """The pairs that two relations reach one after the other."""
    onward: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    for middle, end in second:
        onward[middle].append(end)
    return {(start, end) for start, middle in first for end in onward[middle]}


@given(three_maps())
def test_composition_is_associative(chain: tuple[IndexingMap, IndexingMap, IndexingMap]) -> None:
    first, second, third = chain
    early, late = compose(compose(first, second), third), compose(first, compose(second, third))
    expected = joined(joined(related(first), related(second)), related(third))
    assert related(early) == related(late) == related(early.simplify()) == expected
    assert set(early.points()) == set(late.points())


@given(maps())
def test_the_identity_changes_nothing(made: IndexingMap) -> None:
    identity = IndexingMap([symbol(name) for name in made.names[0]], made.dims)
    assert related(compose(identity, made)) == related(made)


def test_roles_are_ordered_from_the_last_producer_to_the_first_consumer() -> None:
    """The order in which ``ops`` keeps the origins of runtime variables."""
    first, second, third = (
        IndexingMap.from_sizes(
            f"d0 + {name}s + {name}t", [144], {f"{name}s": 2}, {f"{name}t": size}
        )
        for name, size in (("a", 3), ("b", 4), ("c", 5))
    )
    for chain in (
        compose(compose(first, second), third),
        compose(first, compose(second, third)),
        compose(compose(first, second).simplify(preserve_ranges=True), third),
    ):
        assert chain.domain.names == ("d0", "cs", "bs", "as", "ct", "bt", "at")
        assert [variable.bounds.size for variable in chain.runtime] == [5, 4, 3]


def test_empty_maps_absorb_and_keep_all_variables() -> None:
    empty = SHIFT.with_constraint(0, (1, 1))
    for chain in (compose(empty, SHIFT), compose(SHIFT, empty), compose(empty, empty)):
        assert str(chain) == "(d0)[s0, s1]{rt0, rt1} -> (0), domain: KNOWN EMPTY"
        assert parse_map(str(chain)) == chain
    assert compose(IndexingMap((), ()), IndexingMap([1], (), constraints=[(0, 1)])).is_known_empty


def test_variables_come_in_xla_s_order() -> None:
    consumer = "(d0)[a]{t} -> (d0 + a + t), domain: d0 in [0, 1], a in [0, 2], t in [0, 3]"
    producer = "(d0)[b]{u} -> (d0 - b - u), domain: d0 in [0, 9], b in [0, 4], u in [0, 5]"
    assert str(compose(parse_map(consumer), parse_map(producer))) == (
        "(d0)[b, a]{u, t} -> (d0 + a + t - b - u), domain: d0 in [0, 1], b in [0, 4], a in [0, 2], "
        "u in [0, 5], t in [0, 3], d0 + a + t in [0, 9]"
    )


# results of the consumer => of the producer => names of variables
@each_row("""
# both use the name n: the second one goes
(d0)[n] -> (d0 + n) => (d0)[n] -> (d0 * n) => d0, n, s1
# a name that is the identifier of another variable goes, one that is a free identifier stays
(s0)[n] -> (s0 + n) => (d0)[s0] -> (d0 * s0) => d0, s0, n
(s0)[n] -> (s0 + n) => (d0)[m] -> (d0 * m) => s0, m, n
# a name that is an identifier needed once another name goes
(s1)[n] -> (s1 + n) => (d0)[n] -> (d0 * n) => d0, n, s1
# a coordinate of a launch keeps its name and kind once
(d0)[th_x] -> (d0 + th_x) => (d0)[th_x] -> (d0 * th_x) => d0, th_x, s1
""")
def test_names_stay_different(consumer: str, producer: str, names: str) -> None:
    def parse(text: str) -> IndexingMap:
        first, second = text[1 : text.index(")")], text[text.index("[") + 1 : text.index("]")]
        return parse_map(f"{text}, domain: {first} in [0, 3], {second} in [0, 1]")

    composed = compose(parse(consumer), parse(producer))
    composed.verify()
    assert ", ".join(composed.domain.names) == names
    assert related(composed) == joined(related(parse(consumer)), related(parse(producer)))


def test_arities_must_meet() -> None:
    message = "the consumer has 2 results, but the producer has 1 dimensions; expected as many"
    with pytest.raises(MapError, match=f"^compose: {message}$"):
        compose(IndexingMap.identity([4, 4]), IndexingMap.identity([4]))
    with pytest.raises(TypeError):
        IndexingMap.identity([4]) @ 3  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]


SPLIT = parse_map("(d0) -> (d0 floordiv 12, d0 mod 12), domain: d0 in [0, 143]")
JOIN = parse_map("(d0, d1) -> (d0 * 12 + d1), domain: d0 in [0, 11], d1 in [0, 11]")
SHIFT = IndexingMap.from_sizes("d0 + s0 + rt0", [144], [2], [3])


def chained(steps: Iterable[IndexingMap], *, simplified: bool = False) -> IndexingMap:
    """The steps one after the other, each the producer of what is before it."""
    chain = IndexingMap.identity([144])
    for step in steps:
        chain = chain.compose(step)
        if simplified:
            chain = chain.simplify()
    return chain


def test_long_chains_end_where_they_began_whenever_they_are_simplified() -> None:
    assert chained([SPLIT, JOIN] * 500, simplified=True) == IndexingMap.identity([144])
    assert chained([SPLIT, JOIN] * 50).simplify() == IndexingMap.identity([144])


def parts_of(made: IndexingMap) -> int:
    """Different variables and operations in results and constraints."""
    limited = (form for form, _ in made.domain.constraints)
    return len(forms.postorder([*made.forms, *limited]))


@pytest.mark.parametrize("steps", [[SPLIT, JOIN], [SHIFT]], ids=["reshapes", "slices"])
def test_every_step_adds_the_same_to_a_chain(steps: list[IndexingMap]) -> None:
    """A quotient and a remainder; a range and an offset."""
    sizes = [parts_of(chained(steps * count)) for count in (20, 21, 40)]
    assert [size - sizes[0] for size in sizes] == [0, 2, 40]


@pytest.mark.parametrize("simplified", [False, True], ids=["as it is", "simplified"])
def test_every_step_of_a_chain_costs_the_same(*, simplified: bool) -> None:
    chained([SPLIT, JOIN], simplified=simplified)
    few, many = (
        calls_of(partial(chained, [SPLIT, JOIN] * count, simplified=simplified))
        for count in (50, 500)
    )
    assert many <= 12 * few  # a new constraint finds its place by bisection


# One map in the place of several: what it keeps, and that it holds them.


@each_named("""
a dimension on which all agree is kept: (d0, d1) -> (d0, d1); (d0, d1) -> (d0, -d1 + 3)
    (d0, d1)[s0] -> (d0, s0), domain: SQUARE, s0 in [0, 3]
other dimensions are told apart no longer: (d0, d1) -> (d0, d1); (d0, d1) -> (d1, d0)
    (d0, d1)[s0, s1] -> (s0, s1), domain: SQUARE, s0 in [0, 3], s1 in [0, 3]
a range reaches from the least index to the greatest: (d0) -> (d0 + 2), domain: d0 in [0, 3]; (d0)
        -> (d0 + 8), domain: d0 in [0, 3]; (d0) -> (d0 * 2 + 3), domain: d0 in [0, 3]
    (d0 < 4)[s0 in [2, 11]] -> (s0)
bounds hold all elements that lead anywhere: (d0) -> (d0), domain: d0 in [0, 3]; (d0) -> (d0 - 6),
        domain: d0 in [6, 9] => (d0 < 10)[s0 < 4] -> (s0)
a constraint is kept as far as it holds in all: (d0, d1) -> (d0, d1), domain: SQUARE, d0 +
        d1 in [1, 3]; (d0, d1) -> (d0, d1 + 1), domain: SQUARE, d0 + d1 in [2, 4], d0 - d1 in [0, 0]
    (d0, d1)[s0] -> (d0, s0), domain: SQUARE, s0 in [0, 3], d0 + d1 in [1, 4]
ranges and runtime variables in what is kept are kept: ()[s0]{rt0} -> (s0 + rt0, 0), domain: s0 in
        [0, 2], rt0 in [0, 4]; ()[s0]{rt0} -> (s0 + rt0, 7), domain: s0 in [0, 5], rt0 in [0, 4]
    ()[s0 < 6, s1 < 8]{rt0 < 5} -> (s0 + rt0, s1)
nothing is lost where all agree: () -> (), domain:; () -> (), domain: => () -> (), domain:
""")
def test_the_hull_keeps_what_all_agree_on(texts: str, expected: str) -> None:
    found = hull([on_square(text) for text in texts.split(";")])
    assert str(found) == str(on_square(expected))


def on_square(text: str) -> IndexingMap:
    """A map, where ``SQUARE`` stands for a domain, and nothing for it alone."""
    whole = text if "domain" in text else f"{text}, domain: SQUARE"
    return parse_map(whole.replace("SQUARE", "d0 in [0, 3], d1 in [0, 3]"))


@seldom
@given(st.lists(maps(results=2, dims=1), min_size=1, max_size=4))
def test_the_hull_holds_every_map_and_is_its_own_hull(given_maps: list[IndexingMap]) -> None:
    whole = hull(given_maps)
    assert all(related(each) <= related(whole) for each in given_maps)
    assert hull([whole, whole]) == whole.simplify()


# a map => another => whether that lies within it
@each_named("""
within its ranges: WIDE => (d0 < 6) -> (d0, d0 + 3) => True
for fewer elements: WIDE => (d0 in [1, 5]) -> (d0, d0 + 3) => True
with a constraint: WIDE => (d0 < 6) -> (d0, d0), domain: d0 mod 3 in [2, 2] => True
empty: WIDE => (d0 in [0, -1]) -> (0, 0) => True
beyond its ranges: WIDE => (d0 < 6) -> (d0, d0 + 4) => False
for more elements: WIDE => (d0 < 7) -> (d0, 4) => False
at another index: WIDE => (d0 < 6) -> (1, 4) => False
one range for two dimensions: (d0 < 6)[s0 < 6] -> (s0, s0) => (d0 < 6) -> (d0, 3) => False
a range with a constraint: (d0 < 6)[s0 < 6] -> (s0), domain: s0 + d0 in [0, 5] => (d0 < 6) -> (d0)
    False
one constraint within the other: (d0 < 6)[s0 < 6] -> (s0), domain: d0 mod 3 in [0, 1]
    (d0 < 6) -> (d0), domain: d0 mod 3 in [1, 1] => True
""")
def test_what_is_held_is_seen(wide: str, narrow: str, expected: str) -> None:
    whole = wide.replace("WIDE", "(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [2, 8]")
    assert str(holds(parse_map(whole), parse_map(narrow))) == expected


@given(maps(results=2, dims=1), maps(results=2, dims=1))
def test_what_is_seen_to_be_held_is_held(one: IndexingMap, other: IndexingMap) -> None:
    wide = hull([one, other])
    for narrow in (one, other):
        assert not holds(wide, narrow) or related(narrow) <= related(wide)
    assert not holds(one, other) or related(other) <= related(one)


def written_terms(form: Form) -> int:
    """The terms one by one, with those inside."""
    inner = (sum(map(written_terms, atom.arguments)) for atom in form.terms)
    return sum(1 + count for count in inner)


@given(expressions())
def test_terms_are_counted_as_they_are_written(form: Form) -> None:
    assert terms_in(form) == written_terms(form)
    bare = Form(0, {atom: 1 for atom in form.terms if not atom.arguments})
    assert terms_in(bare) == written_terms(bare)
