"""Dependences of loop nests from the polyhedral literature: as the books say, and as isl finds."""

from __future__ import annotations

import islpy as isl
import pytest

from benchmarks.loop_nests import NESTS, SIZES, Nest, accesses, isl_dependences
from indexing import IndexingMap, IndexRelation, MapError, flow_dependences, parse_relation


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_dependences_are_those_of_isl(nest: Nest) -> None:
    writes, reads = accesses(nest.writes), accesses(nest.reads)
    found = flow_dependences(parse_relation(writes), parse_relation(reads))
    expected = isl_dependences(isl.UnionMap(writes), isl.UnionMap(reads))
    assert isl.UnionMap(str(found.to_isl())).is_equal(expected)
    assert found.to_later() == found, "sources come first"


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_dependences_are_those_of_a_run(nest: Nest) -> None:
    writes, reads = (at_sizes(accesses(text)) for text in (nest.writes, nest.reads))
    found = flow_dependences(writes, reads)
    assert pairs_of(found) == run(writes, reads)
    if nest.distances:
        assert str(found.distances()) == nest.distances


def at_sizes(text: str) -> IndexRelation[IndexingMap]:
    """A relation with numbers for its parameters."""
    sized = isl.Map(text)
    for name, value in SIZES.items():
        place = sized.find_dim_by_name(isl.dim_type.param, name)
        sized = sized.fix_val(isl.dim_type.param, place, isl.Val(value))
    return parse_relation(str(sized.project_out(isl.dim_type.param, 0, len(SIZES))))


def run(
    writes: IndexRelation[IndexingMap], reads: IndexRelation[IndexingMap]
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Who reads what who wrote: every iteration in order, first its reads and then its writes."""
    writer: dict[tuple[int, ...], tuple[int, ...]] = {}
    found: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    written, read = by_iteration(writes), by_iteration(reads)
    for iteration in sorted({*written, *read}):
        elements = read.get(iteration, ())
        found |= {(writer[each], iteration) for each in elements if each in writer}
        writer |= dict.fromkeys(written.get(iteration, ()), iteration)
    return found


def by_iteration(
    accessed: IndexRelation[IndexingMap],
) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The elements that each iteration accesses."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for iteration, element in pairs_of(accessed):
        found.setdefault(iteration, []).append(element)
    return found


def pairs_of(relation: IndexRelation[IndexingMap]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The dimensions and results of all maps."""
    points = (point for made in relation.maps if made for point in made.points())
    return {(point[0], point[3]) for point in points}


def test_accesses_are_of_one_array() -> None:
    rows = parse_relation("{ [i, j] -> [i] : 0 <= i, j < 4 }")
    with pytest.raises(MapError, match="flow_dependences: writes have 1 dimensions and 1 results"):
        flow_dependences(IndexingMap.identity([4]), rows)
    with pytest.raises(MapError, match="flow_dependences: reads is 3; expected an IndexingMap"):
        flow_dependences(rows, 3)  # pyright: ignore[reportArgumentType] - that is the error
