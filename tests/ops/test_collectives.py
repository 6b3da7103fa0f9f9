"""Collective operations: every pair of elements on devices, in both directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ops
from ops import hlo
from ops.dependence.operand_indexing import OperandIndexing
from simplifier import Interval
from tests.extent import examples
from tests.ops import replicas
from tests.ops.labelled_elements import Array
from tests.ops.replicas import Element, Groups, operands, relation_of, relation_read, relation_told

Relation = set[tuple[Element, Element]]


def check(indexing: ops.OpIndexing, expected: list[Array]) -> None:
    """Compare maps of operand 0 with a simulation, both ways."""
    assert indexing.output_sizes == expected[0].shape
    check_operand(indexing, 0, relation_of(expected), len(expected))


def check_operand(indexing: ops.OpIndexing, number: int, relation: Relation, devices: int) -> None:
    there = indexing.output_to_input[number], indexing.output_replicas[number]
    back = indexing.input_to_output[number], indexing.input_replicas[number]
    told = (relation_told([OperandIndexing(way, (), on)], devices) for way, on in (there, back))
    assert [*told] == [relation, turned(relation)]


def turned(relation: Relation) -> Relation:
    return {(end, begin) for begin, end in relation}


GROUPS: dict[str, Groups] = {
    "one": [[0]],
    "all": [[0, 1, 2, 3]],
    "halves": [[0, 1], [2, 3]],
    "strided": [[0, 2], [1, 3]],
    "each_alone": [[0], [1], [2], [3]],
    "backwards": [[3, 2, 1, 0]],
    "ring": [[0, 1, 3, 2], [4, 5, 7, 6]],
    "transposed": [[0, 4, 2, 6], [1, 5, 3, 7]],
    "no_pattern": [[0, 5, 3], [4, 1, 2]],
    "three_of_two": [[5, 0], [4, 1], [3, 2]],
}


def count_of(groups: Groups) -> int:
    return sum(map(len, groups))


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
@pytest.mark.parametrize("axis", [0, 1])
def test_operations_of_even_groups(groups: Groups, axis: int) -> None:
    size, devices = len(groups[0]), count_of(groups)
    sizes = [3, 3]
    sizes[axis] = 2 * size
    given = operands(sizes, devices)
    for name in ("all_reduce", "collective_broadcast", "collective_reduce"):
        check(getattr(ops, name)(sizes, groups), getattr(replicas, name)(given, groups))
    for name in ("all_gather", "reduce_scatter", "all_to_all"):
        check(getattr(ops, name)(sizes, axis, groups), getattr(replicas, name)(given, groups, axis))
    turned = replicas.all_to_all(given, groups, axis, 1 - axis)
    check(ops.all_to_all(sizes, axis, groups, concat_dimension=1 - axis), turned)


UNEVEN: dict[str, tuple[Groups, int]] = {
    "uneven": ([[0, 1, 2], [3], [5, 4]], 6),
    "without_some": ([[1, 3]], 6),
    "uneven_without_some": ([[6, 1], [2, 4, 5]], 8),
}


@pytest.mark.parametrize(("groups", "devices"), UNEVEN.values(), ids=UNEVEN)
def test_operations_of_uneven_groups(groups: Groups, devices: int) -> None:
    values = operands([2], devices)
    for name in ("all_reduce", "collective_broadcast"):
        check(getattr(ops, name)([2], groups, devices), getattr(replicas, name)(values, groups))


PAIRS: dict[str, tuple[Groups, int]] = {
    "ring": ([[0, 1], [1, 2], [2, 3], [3, 0]], 4),
    "shift": ([[0, 1], [1, 2], [2, 3]], 4),
    "swap_of_far": ([[0, 3], [3, 0]], 8),
    "halves": ([[0, 4], [1, 5], [2, 6], [3, 7]], 8),
    "evens": ([[0, 2], [2, 4], [4, 6], [6, 0]], 8),
    "lone": ([[5, 2]], 7),
    "no_pattern": ([[0, 3], [1, 0], [4, 6], [6, 1]], 7),
    "none": ([], 3),
}


@pytest.mark.parametrize(("pairs", "devices"), PAIRS.values(), ids=PAIRS)
def test_permutations(pairs: Groups, devices: int) -> None:
    values = operands([3], devices)
    moved = replicas.collective_permute(values, pairs)
    check(ops.collective_permute([3], pairs, devices), moved)


@examples(40)
@given(st.data())
def test_any_permutation(data: st.DataObject) -> None:
    devices = data.draw(st.integers(1, 7))
    numbers = st.lists(st.integers(0, devices - 1), unique=True, max_size=devices)
    pairs = [*zip(data.draw(numbers), data.draw(numbers), strict=False)]
    moved = replicas.collective_permute(operands([2], devices), pairs)
    check(ops.collective_permute([2], pairs, devices), moved)


@examples(40)
@given(st.data())
def test_any_groups(data: st.DataObject) -> None:
    size, number = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    order = data.draw(st.permutations(range(size * number)))
    groups = [order[start : start + size] for start in range(0, len(order), size)]
    values = operands([size], len(order))
    check(ops.all_to_all([size], 0, groups), replicas.all_to_all(values, groups, 0))
    check(ops.all_reduce([size], groups), replicas.all_reduce(values, groups))


@pytest.mark.parametrize("groups", [GROUPS["halves"], GROUPS["strided"], GROUPS["ring"]])
def test_the_tuple_form_of_all_to_all(groups: Groups) -> None:
    size, devices = len(groups[0]), count_of(groups)
    place = {device: place for group in groups for place, device in enumerate(group)}
    own = {device: group for group in groups for device in group}
    for result, indexing in enumerate(ops.all_to_all_of_tuple([2], size, groups)):
        for operand in range(size):
            asking = [device for device in range(devices) if place[device] == operand]
            pairs = ((device, own[device][result]) for device in asking)
            expected = {((a, (at,)), (b, (at,))) for a, b in pairs for at in range(2)}
            check_operand(indexing, operand, expected, devices)


# Runtime variables: values that are read on a device.

SENT = [
    # by device: where rows begin, how many there are, where they are written
    [[0, 2], [2, 1], [1, 0]],
    [[3, 0], [1, 3], [0, 1]],
]


@pytest.mark.parametrize("groups", [[[0, 1]], [[1, 0]], [[0, 1], [3, 2]]])
def test_rows_are_sent_where_vectors_say(groups: Groups) -> None:
    devices = count_of(groups)
    vectors = [np.array(SENT[device % 2]) for device in range(devices)]
    empty = replicas.nothing_like(operands([4], devices))
    sent = replicas.ragged_all_to_all(operands([5], devices), empty, groups, vectors)
    indexing = ops.ragged_all_to_all([5], [4], 2, groups)
    check_read(indexing, sent, lambda operand, device: vectors[device][operand - 2])


def test_one_device_sends_rows_to_itself() -> None:
    (read, *_) = ops.ragged_all_to_all([5], [4], 1, [[0]]).output_to_input
    assert read.domain.bounds["d0"] == Interval(0, 3)


def test_roots_are_the_last_operand() -> None:
    text = """ENTRY e { p = f32[2,6] parameter(0) roots = s32[1] parameter(1)
      ROOT r = f32[2,6] collective-broadcast(p, roots), replica_groups={{0,1}},
        has_dynamic_root=true }"""
    maps = ops.output_to_input(hlo.parse(text).entry.root).indexing
    assert not any(isinstance(each, ops.Unknown) for each in maps)


@pytest.mark.parametrize("groups", [[[0, 1, 2]], [[0, 2], [3, 1]], [[2, 1], [0], [3]]])
@pytest.mark.parametrize("place", [0, 1])
def test_roots_are_chosen_at_run_time(groups: Groups, place: int) -> None:
    devices, roots = count_of(groups), np.array([7, place])
    chosen = [group for group in groups if place < len(group)]
    values = operands([2], devices)
    first = [[group[place], *group] for group in chosen]
    sent = replicas.collective_broadcast(values, first)
    indexing = ops.collective_broadcast([2], groups, root=ops.Root(2, 1))
    check_read(indexing, sent, lambda _, __: roots)
    total = replicas.all_reduce(values, chosen)
    kept = replicas.nothing_like(values)
    for group in chosen:
        kept[group[place]] = total[group[place]]
    indexing = ops.collective_reduce([2], groups, root=ops.Root(2, 1))
    check_read(indexing, kept, lambda _, __: roots)


def check_read(
    indexing: ops.OpIndexing, expected: list[Array], values: Callable[[int, int], Array]
) -> None:
    relation = relation_of(expected)
    there = indexing.output_to_input, indexing.output_origins, indexing.output_replicas
    back = indexing.input_to_output, indexing.input_origins, indexing.input_replicas
    read = (
        relation_read(maps[0], origins[0], holders[0], len(expected), values)
        for maps, origins, holders in (there, back)
    )
    assert [*read] == [relation, turned(relation)]
