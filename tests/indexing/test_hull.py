"""One map in the place of several: what it keeps, and that it holds them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.relation import terms_in
from indexing.transform.hull import holds, hull
from simplifier.expr.form import Form
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import each_named
from tests.strategies import expressions, maps


# maps => what holds them
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
