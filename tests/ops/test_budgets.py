"""Programs whose maps multiply: every answer ends, is marked, and holds what is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops import OperandIndexing, Unknown, fusion_indexing, hlo
from ops.analysis import chaining
from tests.evaluation import related

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.evaluation import Pair

# Programs. Each has one parameter, and is as deep as it is told.


def program(sizes: Iterable[int], lines: Iterable[str], computations: str = "") -> str:
    """A module whose lines make an array ``y`` of one array ``x`` of these sizes."""
    shape = f"f32[{','.join(map(str, sizes))}]"
    written = "\n".join(["x = SHAPE parameter(0) zero = f32[] constant(0)", *lines])
    text = f"{computations} ENTRY e {{ {written} ROOT r = SHAPE negate(y) }}"
    return text.replace("SHAPE", shape)


def layers(depth: int, layer: Callable[[int, str, str], str]) -> list[str]:
    """Lines that make ``y`` of ``x``, layer by layer; each has its number and two names."""
    names = ["x", *(f"y{number}" for number in range(1, depth)), "y"]
    return [layer(number, *names[number : number + 2]) for number in range(depth)]


def shifted(depth: int, size: int = 5000) -> str:
    """Each array is the last one and the same moved to the right by one more step."""

    def layer(number: int, last: str, new: str) -> str:
        return (
            f"p{number} = SHAPE pad({last}, zero), padding={number + 1}_{-number - 1}\n"
            f"{new} = SHAPE add({last}, p{number})"
        )

    return program([size], layers(depth, layer))


def doubling(depth: int) -> str:
    """A network of butterflies: each element with the one whose number differs in one bit."""

    def layer(number: int, last: str, new: str) -> str:
        split = f"f32[{2 ** (depth - 1 - number)},2,{2**number}]"
        return (
            f"pairs{number} = {split} reshape({last})\n"
            f"turned{number} = {split} reverse(pairs{number}), dimensions={{1}}\n"
            f"other{number} = SHAPE reshape(turned{number})\n"
            f"{new} = SHAPE add({last}, other{number})"
        )

    return program([2**depth], layers(depth, layer))


def permuted(depth: int, rank: int) -> str:
    """A swap and a rotation of all dimensions but the first, which give all their permutations."""
    swap = (0, 2, 1, *range(3, rank))
    turn = (0, *range(2, rank), 1)

    def layer(number: int, last: str, new: str) -> str:
        permuted = (
            f"{name}{number} = SHAPE transpose({last}), dimensions={{{','.join(map(str, order))}}}"
            for name, order in (("swap", swap), ("turn", turn))
        )
        return "\n".join([*permuted, f"{new} = SHAPE add(swap{number}, turn{number})"])

    return program([9, *[2] * (rank - 1)], layers(depth, layer))


def diamond(depth: int) -> str:
    """Each layer uses the last one twice, and both ways there are the same."""

    def layer(number: int, last: str, new: str) -> str:
        return (
            f"t{number} = SHAPE transpose({last}), dimensions={{1,0}}\n"
            f"{new} = SHAPE add(t{number}, t{number})"
        )

    return program([7, 7], layers(depth, layer))


def parameter_ways(text: str) -> tuple[OperandIndexing, ...]:
    """The ways from the root to the first parameter."""
    module = hlo.parse(text)
    answer = fusion_indexing(module.entry.root)[module.entry.parameters[0]]
    assert not isinstance(answer, Unknown)
    return answer


BLOW_UPS = [
    (
        "copies that are shifted",
        shifted(1000),
        "(d0)[s0] -> (s0), domain: d0 in [0, 4999], s0 in [0, 4999]",
    ),
    (
        "butterflies",
        doubling(12),
        "(d0)[s0] -> (s0), domain: d0 in [0, 4095], s0 in [0, 4095]",
    ),
    (
        "permutations of dimensions",
        permuted(100, 7),
        (
            "(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2, s3, s4, s5] -> (d0, s1, s0, s2, s3, s4, s5), "
            "domain: d0 in [0, 8], d1 in [0, 1], d2 in [0, 1], d3 in [0, 1], d4 in [0, 1], "
            "d5 in [0, 1], d6 in [0, 1], s0 in [0, 1], s1 in [0, 1], s2 in [0, 1], s3 in [0, 1], "
            "s4 in [0, 1], s5 in [0, 1]"
        ),
    ),
]


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in BLOW_UPS], ids=[row[0] for row in BLOW_UPS]
)
def test_one_map_takes_the_place_of_many_and_is_marked(text: str, expected: str) -> None:
    (way,) = parameter_ways(text)
    assert way.approximation == "more than 128 different maps"
    assert str(way.map) == expected


SMALL = [
    ("copies that are shifted", shifted(5, 20)),
    ("butterflies", doubling(4)),
    ("permutations of dimensions", permuted(6, 4)),
]


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("limit", ["MOST_MAPS", "MOST_COMPOSITIONS"])
@pytest.mark.parametrize("text", [row[1] for row in SMALL], ids=[row[0] for row in SMALL])
def test_what_is_exact_is_held(
    text: str, limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = parameter_ways(text)
    assert not any(way.approximation for way in exact)
    monkeypatch.setattr(chaining, limit, most)
    wide = parameter_ways(text)
    assert any(way.approximation for way in wide)
    assert relation(exact) <= relation(wide)


def relation(ways: Iterable[OperandIndexing]) -> set[Pair]:
    """All pairs of elements that some way relates."""
    return {pair for way in ways for pair in related(way.map)}
