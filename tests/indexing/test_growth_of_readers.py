"""Texts are read with work in proportion to their length, or refused at once."""

from __future__ import annotations

from collections.abc import Callable

import islpy
import pytest

from indexing import IndexSet, parse_map, parse_relation
from indexing.tile.constraints import TileConstraints
from simplifier import TextError, parse_expr
from simplifier.expr.text import parse_form
from tests.call_counts import calls_of


def joined(joint: str, part: str, count: int) -> str:
    """Copies of a part, with their numbers in it."""
    return joint.join(part.replace("#", str(number)) for number in range(1, count + 1))


READERS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "set-alternatives": (IndexSet.parse, lambda n: "(d0): " + joined(" or ", "d0 in [#0, #1]", n)),
    "alternatives that are no boxes": (
        IndexSet.parse,
        lambda n: "(d0, d1): " + joined(" or ", "d0 + d1 in [#0, #1]", n),
    ),
    "tile-constraint-clauses": (
        TileConstraints.parse,
        lambda n: joined(" && ", "(d0 mod #0 in [0, 0])", n),
    ),
    "alternatives of tiles": (
        TileConstraints.parse,
        lambda n: joined(" || ", "d0 mod #0 in [0, 0]", n),
    ),
    "tile clauses beside limits": (
        TileConstraints.parse,
        lambda n: joined(" && ", "(a# in [0, 1] || b# in [0, 1]) && c# in [0, 2]", n),
    ),
    "nested-choices": (parse_expr, lambda n: joined("", "select(x > #, #, ", n) + "x" + ")" * n),
    "nested sums": (parse_form, lambda n: joined("", "(x# - 2 * (y# + ", n) + "x" + "))" * n),
    "signs": (parse_form, lambda n: joined("", "-(", n) + "x" + ")" * n),
    "products of sums": (parse_expr, lambda n: joined(" * ", "(x# + #)", 4 * n)),
    "relations": (
        parse_relation,
        lambda n: joined(" or ", "(d0) -> (d0 + #), domain: d0 in [#0, #5]", n),
    ),
    "parameters": (
        parse_map,
        lambda n: f"()<{joined(', ', 'N#', n)}> -> (N1), domain: {joined(', ', 'N# in [0, 3]', n)}",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_work_grows_as_the_text(name: str) -> None:
    read, text = READERS[name]
    read(text(2))  # what is done once is done
    short, long = (calls_of(lambda count=count: read(text(count))) for count in (40, 160))
    assert long < 4.6 * short


@pytest.mark.parametrize(
    "name", ["set-alternatives", "alternatives that are no boxes", "relations"]
)
def test_isl_compares_no_pieces_of_a_long_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, text = READERS[name]

    def refused(*_: object) -> None:
        pytest.fail("isl compares each piece with each")

    for kind in (islpy.Set, islpy.Map):
        monkeypatch.setattr(kind, "coalesce", refused)
    read(text(200))


REFUSED = {
    "shifts": (parse_form, "x" + " << 1000" * 100, "1:67: expected numbers of at most 8192 bits"),
    "shifted sums": (parse_form, "(" * 99 + "x" + " + 1 << 900)" * 99, "numbers of at most 8192"),
    "conditions": (parse_form, "(" * 999 + "x > 0" + " and y < x)" * 999, "more than 100 deep"),
    "conditions of both kinds": (
        parse_form,
        joined("", "(x > # and (y > # or ", 400) + "x > 0" + "))" * 400,
        "conditions are nested more than 100 deep",
    ),
    "negations": (
        parse_form,
        "select(" + "not (" * 999 + "x > 0" + ")" * 999 + ", x, y)",
        "100 deep",
    ),
    "nested constraints": (
        TileConstraints.parse,
        "(" * 999 + "x in [0, 1]" + ")" * 999,
        "1:101: constraints are nested more than 100 deep",
    ),
    "multiplied constraints": (
        TileConstraints.parse,
        joined(" || ", "((a# in [0, 1] || b# in [0, 1]) && (c# in [0, 1] || d# in [0, 1]))", 12),
        "1:1: there are more than 1024 alternatives",
    ),
    "many alternatives": (
        TileConstraints.parse,
        joined(" || ", "a in [#, #]", 2000),
        "1:1: there are more than 1024 alternatives",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_grow_faster_is_refused(name: str) -> None:
    read, text, message = REFUSED[name]
    with pytest.raises(TextError, match=message):
        read(text)
