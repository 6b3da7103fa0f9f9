"""Collective instructions and chains of them: what a simulation says, and what XLA does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import hlo, input_to_output, output_to_input
from tests.cases import for_all
from tests.extent import examples
from tests.ops import replicas
from tests.ops.answers import known
from tests.ops.labelled_elements import Array
from tests.ops.many_devices import Program, relations
from tests.ops.replicas import Element, Groups, operands, relation_of, relation_told

Simulation: TypeAlias = "Callable[[list[Array]], list[Array]]"

SIZES = (2, 6)
HALVES = [[0, 1], [2, 3]]
STRIDED = [[0, 2], [1, 3]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
ALL = [[0, 1, 2, 3]]

NOT_ON_CPU = ("-start", "collective-broadcast", "mesh")
"""What XLA's CPU client does not run, or read."""


@dataclass(frozen=True)
class Case:
    """Instructions from ``p`` to ``r``, what they do, and how many replicas and partitions run."""

    simulate: Simulation
    instructions: str
    replicas: int = 4
    partitions: int = 1
    sizes: Sequence[int] = SIZES

    @property
    def devices(self) -> int:
        return self.replicas * self.partitions

    @property
    def is_runnable(self) -> bool:
        return not any(part in self.instructions for part in NOT_ON_CPU)

    def text(self, *, is_called: bool) -> str:
        """The program; if called, the chain is one instruction of the entry."""
        note = "" if self.partitions == 1 else ", sharding={manual}"
        parameter = f"p = f32[{','.join(map(str, self.sizes))}] parameter(0)"
        chain = f"{parameter}\n{self.instructions}"
        chain = re.sub(r"\n\s*(?=\w+ = )", f"{note}\n", chain) + note
        chain = chain.replace("\nr =", "\nROOT r =")
        entry = f"ENTRY e {{ {chain} }}"
        if is_called:
            call = "ROOT r = call(p), to_apply=chain"
            entry = f"chain {{ {chain} }} ENTRY e {{ {parameter} {call} }}"
        return f"""HloModule m, replica_count={self.replicas}, num_partitions={self.partitions}
            add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
            {entry}"""


def gathered(values: list[Array], groups: Groups) -> list[Array]:
    return replicas.all_gather(values, groups, 0)


def turned(values: list[Array]) -> list[Array]:
    return [array.T for array in values]


def own_columns(values: Sequence[Array], width: int, starts: Sequence[int]) -> list[Array]:
    """Each device has the columns that begin at its start."""
    pairs = zip(values, starts, strict=True)
    return [array[:, start : start + width] for array, start in pairs]


CHAINS = {
    # what a program drawn at random has not: XLA runs it, or it has other instructions between
    "scatter_of_transpose_of_exchange": Case(
        lambda values: replicas.collective_permute(
            replicas.reduce_scatter(turned(replicas.all_to_all(values, HALVES, 1)), STRIDED, 0),
            RING,
        ),
        """x = f32[2,6] all-to-all(p), replica_groups=[2,2]<=[4], dimensions={1}
            t = f32[6,2] transpose(x), dimensions={1,0}
            s = f32[3,2] reduce-scatter(t), replica_groups=[2,2]<=[2,2]T(1,0), dimensions={0},
              to_apply=add
            r = f32[3,2] collective-permute(s), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}""",
    ),
    "scatter_then_gather": Case(
        lambda values: replicas.all_reduce(values, HALVES),
        """s = f32[1,6] reduce-scatter(p), replica_groups={{0,1},{2,3}}, dimensions={0},
              to_apply=add
            r = f32[2,6] all-gather(s), replica_groups={{0,1},{2,3}}, dimensions={0}""",
    ),
    "started": Case(
        lambda values: replicas.all_reduce(
            replicas.collective_permute(gathered(values, HALVES), RING), STRIDED
        ),
        """s = (f32[2,6], f32[4,6]) all-gather-start(p), replica_groups={{0,1},{2,3}},
              dimensions={0}
            d = f32[4,6] all-gather-done(s)
            c = (f32[4,6], f32[4,6], u32[], u32[]) collective-permute-start(d),
              source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
            e = f32[4,6] collective-permute-done(c)
            a = f32[4,6] all-reduce-start(e), replica_groups={{0,2},{1,3}}, to_apply=add
            r = f32[4,6] all-reduce-done(a)""",
    ),
    "wrapped": Case(
        lambda values: replicas.reduce_scatter(replicas.all_to_all(values, HALVES, 1), STRIDED, 0),
        """s = ((f32[2,6]), f32[2,6], u32[]) all-to-all-start(p), dimensions={1},
              replica_groups={{0,1},{2,3}}
            u = ((f32[2,6]), f32[2,6], u32[]) all-to-all-update(s)
            d = f32[2,6] all-to-all-done(u)
            t = ((f32[2,6]), f32[1,6]) reduce-scatter-start(d), replica_groups={{0,2},{1,3}},
              dimensions={0}, to_apply=add
            r = f32[1,6] reduce-scatter-done(t)""",
    ),
    "own_slice_of_all": Case(
        lambda values: own_columns(replicas.all_reduce(values, ALL), 2, [0, 2, 4, 4]),
        """a = f32[2,6] all-reduce(p), replica_groups={}, to_apply=add
            i = u32[] replica-id()
            two = u32[] constant(2)
            o = u32[] multiply(i, two)
            z = u32[] constant(0)
            r = f32[2,2] dynamic-slice(a, z, o), dynamic_slice_sizes={2,2}""",
    ),
    "all_of_own_slices": Case(
        lambda values: gathered(own_columns(values, 3, [0, 1, 2, 3]), HALVES),
        """i = u32[] partition-id()
            z = u32[] constant(0)
            s = f32[2,3] dynamic-slice(p, z, i), dynamic_slice_sizes={2,3}
            r = f32[4,3] all-gather(s), channel_id=1, replica_groups={{0,1},{2,3}},
              dimensions={0}, use_global_device_ids=true""",
        *(1, 4),
    ),
}

CHANNEL = "channel_id=1"
GLOBAL = "channel_id=1, use_global_device_ids=true"


def permuted(pairs: str, *more: str) -> str:
    listed = [f"source_target_pairs={{{pairs}}}", *more]
    return f"r = f32[2,6] collective-permute(p), {', '.join(listed)}"


def reduced(groups: str, *more: str) -> str:
    listed = [f"replica_groups={groups}", *more, "to_apply=add"]
    return f"r = f32[2,6] all-reduce(p), {', '.join(listed)}"


def sums(*groups: Sequence[int]) -> Simulation:
    return lambda values: replicas.all_reduce(values, groups)


def sends(*pairs: Sequence[int]) -> Simulation:
    return lambda values: replicas.collective_permute(values, pairs)


MODES = {
    "replicas": Case(sums([0, 2], [1, 3]), reduced("{{0,1}}"), 2, 2),
    "replicas_alone": Case(sums([0], [1], [2], [3]), reduced("{{0},{1}}"), 2, 2),
    "every_replica": Case(sums([0, 2], [1, 3]), reduced("{}"), 2, 2),
    "with_partitions": Case(sums([0, 1], [2, 3]), reduced("{{0},{1}}", CHANNEL), 2, 2),
    "all_with_partitions": Case(sums([0, 1, 2, 3]), reduced("{{1,0}}", CHANNEL), 2, 2),
    "every_device": Case(sums([0, 1, 2, 3]), reduced("{}", CHANNEL), 2, 2),
    "devices": Case(sums([0, 3], [1, 2]), reduced("{{0,3},{1,2}}", GLOBAL), 2, 2),
    "devices_of_4": Case(sums([0, 3], [1, 2]), reduced("{{0,3},{1,2}}", GLOBAL), 1, 4),
    "iota": Case(sums([0, 2], [1, 3]), reduced("[2,2]<=[2,2]T(1,0)", GLOBAL), 1, 4),
    "mesh": Case(sums([0, 2], [1, 3]), reduced("mesh['x'=2,'y'=2] {'x'}", GLOBAL), 1, 4),
    "permuted_replicas": Case(sends([0, 2], [1, 3]), permuted("{0,1}"), 2, 2),
    "permuted_partitions": Case(sends([1, 0], [3, 2]), permuted("{1,0}", CHANNEL), 2, 2),
    "exchange_of_partitions": Case(
        lambda values: replicas.all_to_all(values, [[0, 1], [2, 3]], 0),
        "r = f32[2,6] all-to-all(p), channel_id=1, replica_groups={{0,1}}, dimensions={0}",
        *(2, 2),
    ),
    "gather_of_uneven_order": Case(
        lambda values: gathered(values, [[3, 0], [2, 1]]),
        """r = f32[4,6] all-gather(p), channel_id=1, replica_groups={{3,0},{2,1}},
          dimensions={0}, use_global_device_ids=true""",
        *(2, 2),
    ),
}

CASES = CHAINS | MODES
RUNNABLE = {name: case for name, case in CASES.items() if case.is_runnable}


@for_all(CASES)
def test_maps_tell_what_a_simulation_does(case: Case) -> None:
    assert told(case) == relation_of(case.simulate(operands(SIZES, case.devices)))


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("name", RUNNABLE)
def test_maps_tell_what_xla_does(name: str) -> None:
    assert told(CASES[name]) == seen()[name]


def told(case: Case) -> set[tuple[Element, Element]]:
    """The pairs that the maps of the chain relate, which are the same both ways."""
    root = hlo.parse(case.text(is_called=True)).entry.root
    (there,) = output_to_input(root).indexing
    (back,) = input_to_output(root).indexing
    relation = relation_told(known(there), case.devices)
    assert relation_told(known(back), case.devices) == {(end, begin) for begin, end in relation}
    return relation


@lru_cache(maxsize=1)
def seen() -> dict[str, set[tuple[Element, Element]]]:
    programs = [
        Program(case.text(is_called=False), SIZES, case.replicas, case.partitions)
        for case in RUNNABLE.values()
    ]
    return dict(zip(RUNNABLE, relations(programs), strict=True))


# Loops, and programs that do not fit.


def test_a_loop_passes_elements_round_a_ring() -> None:
    text = """HloModule m, replica_count=4
    round { s = (s32[], f32[3]) parameter(0) i = get-tuple-element(s), index=0
      v = get-tuple-element(s), index=1 one = s32[] constant(1) next = add(i, one)
      w = f32[3] collective-permute(v), source_target_pairs={{0,2},{2,0},{1,3},{3,1}}
      ROOT t = (s32[], f32[3]) tuple(next, w) }
    more { s = (s32[], f32[3]) parameter(0) i = get-tuple-element(s), index=0
      n = s32[] constant(9) ROOT c = pred[] compare(i, n), direction=LT }
    loop { z = s32[] constant(0) p = f32[3] parameter(0) s = tuple(z, p)
      l = (s32[], f32[3]) while(s), condition=more, body=round
      ROOT r = get-tuple-element(l), index=1 }
    ENTRY e { p = f32[3] parameter(0) ROOT r = call(p), to_apply=loop }"""
    (there,) = output_to_input(hlo.parse(text).entry.root).indexing
    near, far = operands([3], 4), [[0, 2], [2, 0], [1, 3], [3, 1]]
    moved = replicas.collective_permute(near, far)
    assert relation_told(known(there), 4) == relation_of(near) | relation_of(moved)


ONE_IS_NO_LIMIT = [
    # declared counts, what an instruction lists, pairs of devices
    ("num_partitions=2", "{{0,1},{1,0}}", [[0, 2], [1, 3], [2, 0], [3, 1]]),
    ("replica_count=2", "{{0,1},{1,0}}, channel_id=1", [[0, 1], [1, 0], [2, 3], [3, 2]]),
]


@for_all(ONE_IS_NO_LIMIT)
def test_a_count_of_1_is_no_limit(head: str, sent: str, moves: list[list[int]]) -> None:
    """As in XLA's verifier: its own tests leave a count where an instruction names more."""
    text = f"""HloModule m, {head}
    ENTRY e {{ p = f32[3] parameter(0)
      ROOT r = f32[3] collective-permute(p), source_target_pairs={sent} }}"""
    (there,) = output_to_input(hlo.parse(text).entry.root).indexing
    moved = replicas.collective_permute(operands([3], 4), moves)
    assert relation_told(known(there), 4) == relation_of(moved)


# Chains of any operations.


KINDS: dict[str, Callable[[list[Array], Groups, int], list[Array]]] = {
    "all-reduce(LAST), GROUPS, to_apply=add": lambda v, g, _: replicas.all_reduce(v, g),
    "collective-broadcast(LAST), GROUPS": lambda v, g, _: replicas.collective_broadcast(v, g),
    "collective-permute(LAST), PAIRS": lambda v, g, _: replicas.collective_permute(v, pairs_in(g)),
    "all-gather(LAST), GROUPS, AXIS": replicas.all_gather,
    "all-to-all(LAST), GROUPS, AXIS": replicas.all_to_all,
    "reduce-scatter(LAST), GROUPS, AXIS, to_apply=add": replicas.reduce_scatter,
}
"""What operations do to values in groups, along an axis; the last two cut their operand."""


def pairs_in(groups: Groups) -> Groups:
    """Everybody in a group, and who is next."""
    return [pair for group in groups for pair in pairwise(group)]


def listed(lists: Groups) -> str:
    return ",".join(f"{{{','.join(map(str, each))}}}" for each in lists)


@examples(12)
@given(st.data())
def test_any_chain(data: st.DataObject) -> None:
    values, lines, name = operands((4, 4), 4), list[str](), "p"
    for number in range(data.draw(st.integers(1, 3))):
        size, axis = data.draw(st.sampled_from([1, 2, 4])), data.draw(st.integers(0, 1))
        order = data.draw(st.permutations(range(4)))
        groups = [order[start : start + size] for start in range(0, 4, size)]
        fitting = 4 if values[0].shape[axis] % size else 6
        text = data.draw(st.sampled_from([*KINDS][:fitting]))
        values, last, name = KINDS[text](values, groups, axis), name, f"v{number}"
        text = text.replace("LAST", last).replace("AXIS", f"dimensions={{{axis}}}")
        text = text.replace("GROUPS", f"replica_groups={{{listed(groups)}}}")
        text = text.replace("PAIRS", f"source_target_pairs={{{listed(pairs_in(groups))}}}")
        lines.append(f"{name} = f32[{','.join(map(str, values[0].shape))}] {text}")
    lines[-1] = lines[-1].replace(name, "r", 1)
    assert told(Case(lambda given: given, "\n".join(lines), sizes=(4, 4))) == relation_of(values)
