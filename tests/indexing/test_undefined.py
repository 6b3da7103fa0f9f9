"""The undefined map: it absorbs, says why, and is a value like any other."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from indexing import IndexingMap, MapError, UndefinedMap, compose, format_map, parse_map
from simplifier import symbol

WHY = UndefinedMap("a sort's order is not known")
OTHER = UndefinedMap("no layout")
FOUR = IndexingMap.identity([4])

ABSORBED: list[tuple[str, Callable[[Any], IndexingMap]]] = [
    ("simplify", lambda made: made.simplify()),
    ("simplify exact", lambda made: made.simplify(exact=True)),
    ("before", lambda made: made.compose(FOUR)),
    ("after", FOUR.compose),
    ("@ left", lambda made: made @ FOUR),
    ("@ right", lambda made: FOUR @ made),
    ("another arity", lambda made: IndexingMap.identity([4, 4]).compose(made)),
    ("first of two reasons", lambda made: compose(made, OTHER)),
    ("with_constraint", lambda made: made.with_constraint(symbol("d0"), (0, 3))),
    ("without_unused_symbols", lambda made: made.without_unused_symbols()),
    ("without_unused_variables", lambda made: made.without_unused_variables()),
    ("ranges_to_dims", lambda made: made.ranges_to_dims([0])),
    ("symbols_to_dims", lambda made: made.symbols_to_dims()),
    ("rescale_symbols", lambda made: made.rescale_symbols()),
    ("rename", lambda made: made.rename(d0="a")),
    ("substitute", lambda made: made.substitute({"d0": 1})),
    ("select_results", lambda made: made.select_results([0])),
    ("first", lambda made: made.concatenate_results(FOUR)),
    ("second", FOUR.concatenate_results),
]


@pytest.mark.parametrize("make", [make for _, make in ABSORBED], ids=[name for name, _ in ABSORBED])
def test_what_is_made_of_it_is_undefined_for_the_same_reason(
    make: Callable[[IndexingMap], IndexingMap],
) -> None:
    assert make(WHY) is WHY


ASKED: list[tuple[str, Callable[[IndexingMap], object]]] = [
    *[
        (name, lambda made, name=name: getattr(made, name))
        for name in ("results", "dims", "ranges", "runtime", "constraints", "domain", "forms")
    ],
    ("is_known_empty", lambda made: made.is_known_empty),
    ("is_empty", lambda made: made.is_empty()),
    ("equals", lambda made: made.equals(FOUR)),
    ("equalled", FOUR.equals),
    ("evaluate", lambda made: made.evaluate([0])),
    ("contains", lambda made: made.contains([0])),
    ("points", lambda made: list(made.points())),
    ("result_bounds", lambda made: made.result_bounds()),
    ("verify", lambda made: made.verify()),
]


@pytest.mark.parametrize("ask", [ask for _, ask in ASKED], ids=[name for name, _ in ASKED])
def test_what_is_asked_of_it_raises_the_reason(ask: Callable[[IndexingMap], object]) -> None:
    with pytest.raises(MapError) as caught:
        ask(WHY)
    assert str(caught.value) == "the map is undefined: a sort's order is not known"


def test_without_a_reason_the_message_ends_earlier() -> None:
    with pytest.raises(MapError) as caught:
        _ = UndefinedMap().results
    assert str(caught.value) == "the map is undefined"


def test_undefined_is_not_empty() -> None:
    assert WHY.is_undefined
    assert not parse_map("(d0) -> (d0), domain: KNOWN EMPTY").is_undefined


def test_equal_for_the_same_reason() -> None:
    again = UndefinedMap("  a sort's order\n is not known ")
    assert again == WHY
    assert hash(again) == hash(WHY)
    assert repr(WHY) == 'UndefinedMap("a sort\'s order is not known")'
    assert len({WHY, OTHER, UndefinedMap(), FOUR}) == 4
    assert FOUR != WHY
    assert WHY != "UNDEFINED"


@pytest.mark.parametrize("made", [WHY, OTHER, UndefinedMap(), UndefinedMap("a: [b] -> $7%_{x}")])
def test_copies_and_texts_are_equal(made: UndefinedMap) -> None:
    pickled = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    for other in (pickled, copy.deepcopy(made), parse_map(str(made)), parse_map(f" {made}\n")):
        assert other == made
        assert isinstance(other, UndefinedMap)
        assert other.reason == made.reason


TEXTS = [
    # XLA prints its one undefined map like the first, and reads none.
    (UndefinedMap(), "UNDEFINED"),
    (UndefinedMap("a sort"), "UNDEFINED: a sort"),
    (UndefinedMap("first\n\tsecond"), "UNDEFINED: first second"),
]


@pytest.mark.parametrize(("made", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_the_text_tells_the_reason(made: UndefinedMap, text: str) -> None:
    assert str(made) == format_map(made) == text


def test_the_reason_is_text_in_a_notebook_too() -> None:
    assert UndefinedMap(r"50% of {a_b} \ x^2")._repr_latex_() == (
        r"$\text{UNDEFINED: 50\% of \{a\_b\} \textbackslash{} x\textasciicircum{}2}$"
    )


def test_nothing_can_be_changed() -> None:
    with pytest.raises(AttributeError):
        WHY.reason = ""  # pyright: ignore[reportAttributeAccessIssue]
