"""The passes of ``examples/passes`` on real modules, which are run before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from examples.passes.cancel_moves import MOVES, cancel_moves
from examples.passes.choose_layouts import best_to_move, choose_layouts
from examples.passes.choose_layouts import moved as moved_by_transposes
from examples.passes.fuse_by_bytes import fuse_by_bytes, moved
from examples.passes.halos import halos
from examples.passes.uncoalesced import uncoalesced
from ops import hlo
from ops.hlo import HloModule, Instruction
from tests.cases import for_all
from tests.hlo.modules import module_text
from tests.hlo.running import RUNNING, assert_same, results, results_of
from tests.ops import oracle

Pass: TypeAlias = Callable[[HloModule], HloModule]

RUNS = [
    (name, change)
    for name in RUNNING
    for change in (cancel_moves, fuse_by_bytes, choose_layouts)
    if change is not choose_layouts or name.startswith("unoptimized/")  # others have layouts
]


@pytest.mark.needs("jax")
@pytest.mark.parametrize(("name", "change"), RUNS)
def test_a_pass_keeps_the_results(name: str, change: Pass) -> None:
    assert_same(results_of(name), results(change(hlo.parse(module_text(name)))))


def moves(module: HloModule) -> int:
    return sum(each.opcode in MOVES for each in module.instructions)


def bytes_of_kernels(module: HloModule) -> int:
    return sum(moved(frozenset([each])) for each in module.entry.instructions)


@for_all([
    # a pass, what it makes less, in which module, before, after
    (cancel_moves, moves, "cpu/einsum_zoo", 49, 39),
    (cancel_moves, moves, "cpu/layout_shuffle", 42, 33),
    (cancel_moves, moves, "tpu/sort_topk", 42, 29),
    (cancel_moves, moves, "tpu/roll", 8, 6),
    (fuse_by_bytes, bytes_of_kernels, "cpu/transformer_block_fwd", 597_016, 431_120),
    (fuse_by_bytes, bytes_of_kernels, "gpu/embedding_grad", 15_200, 8_800),
])  # fmt: skip
def test_a_pass_leaves_less(
    change: Pass, measure: Callable[[HloModule], int], name: str, before: int, after: int
) -> None:
    module = hlo.parse(module_text(name))
    assert (measure(module), measure(change(module))) == (before, after)


def test_dynamic_arrays_are_read_whole_at_most() -> None:
    text = "ENTRY e { x = f32[<=64,4] parameter(0) ROOT y = f32[<=64,4] negate(x) }"
    assert bytes_of_kernels(hlo.parse(text)) == 2 * 64 * 4 * 4


@for_all([
    ("mha_causal", 65536, 16384),
    ("mlp_adam_step", 54272, 54272),
    ("low_precision", 1024, 1024),
])  # fmt: skip
def test_chosen_layouts_move_less(name: str, before: int, after: int) -> None:
    entry = hlo.parse(module_text(f"unoptimized/{name}")).entry
    assert moved_by_transposes(entry, entry.find(opcode="transpose")) == before
    assert moved_by_transposes(entry, best_to_move(entry)) == after


TURN = "transpose(a), dimensions={1,0}"
BACK = "transpose(b), dimensions={1,0}"
THREE = "b = f32[2,1,3] reshape(a) c = f32[3,1,2]{2,1,0} transpose(b), dimensions={2,1,0}"
TURNED = f"b = f32[4,N]{{1,0}} {TURN} c = f32[4,N]{{1,0}} copy(b)"


@for_all([
    # the shape of a, moves, those that are left
    ("2,3", f"b = f32[3,2] {TURN} ROOT c = f32[2,3]{{1,0}} {BACK}", ""),
    ("2,3", f"b = f32[3,2] {TURN} ROOT c = f32[2,3]{{0,1}} {BACK}", "copy"),
    ("2,3", "b = f32[6] reshape(a) ROOT c = f32[3,2] reshape(b)", "reshape"),
    ("2,3", f"{THREE} ROOT d = f32[3,2] reshape(c)", "transpose"),
    ("2,3", f"b = f32[3,2] reshape(a) ROOT c = f32[2,3]{{1,0}} {BACK}", "reshape transpose"),
    ("N,4", f"b = f32[4,N] {TURN} ROOT c = f32[N,4]{{1,0}} {BACK}", ""),
    ("N,4", "ROOT b = f32[N,4] reshape(a)", ""),
    ("N,4", f"{TURNED} ROOT d = f32[N,4]{{0,1}} transpose(c), dimensions={{1,0}}", "copy"),
    ("N,4", "b = f32[N,2,2] reshape(a) ROOT c = f32[N,4,1] reshape(b)", "reshape reshape"),
])  # fmt: skip
def test_moves_that_cancel_at_any_size(shape: str, moves: str, left: str) -> None:
    for size in ("<=64", "?"):
        text = f"a = f32[{shape}] parameter(0) {moves}".replace("N", size)
        module = cancel_moves(hlo.parse(f"ENTRY e {{ {text} }}"))
        assert [each.opcode for each in module.entry.instructions[1:]] == left.split()


@pytest.mark.needs("jax")
@for_all(["unoptimized/conv_zoo", "unoptimized/resnet_block_fwd", "cpu/conv_zoo"])
def test_a_shard_feels_what_it_needs_and_nothing_else(name: str) -> None:
    for convolution in hlo.parse(module_text(name)).find(opcode="convolution"):
        run = alone(convolution)
        read, kernel = (np.ones(each.shape.dimensions, "f4") for each in convolution.operands)
        for halo in halos(convolution, 3):
            made, needs = (tuple(np.array([*each]).T) for each in (halo.made, {*halo.needs}))
            if not made:
                continue
            without = np.full_like(read, np.nan)
            without[needs] = 1
            assert not np.isnan(run(without, kernel)[0][made]).any()
            lacks = [*halo.lacks]
            for element in lacks[:: max(1, len(lacks) // 5)]:
                changed = read.copy()
                changed[element] = np.nan
                assert np.isnan(run(changed, kernel)[0][made]).any()


def alone(instruction: Instruction) -> oracle.Program:
    numbered = enumerate(instruction.operands)
    operands = [f"%{each.name} = {each.shape} parameter({number})" for number, each in numbered]
    return oracle.program("\n".join(["ENTRY e {", *operands, f"ROOT {instruction}", "}"]))


@for_all(["roll", "one_hot", "interior_pad", "softmax"])
def test_what_is_wasted_is_what_warps_load(name: str) -> None:
    for waste in uncoalesced(hlo.parse(module_text(f"gpu/{name}"))):
        if waste.loaded.vector_width > 1:
            continue
        found: dict[object, set[int]] = defaultdict(set)
        lines = waste.access.in_memory()
        size = waste.access.shape.element_type.bytes
        for point in lines.points():
            (thread, _, _, *block), ranges, _, (offset,) = point
            found[thread // 32, *block, *ranges].add(offset * size // 32)
        assert sum(map(len, found.values())) == waste.loaded.sectors
    assert uncoalesced(hlo.parse(module_text("gpu/softmax"))) == []


def test_waste_comes_from_what_turns_not_from_the_root() -> None:
    operands = "x = f32[65536,4] parameter(0) y = f32[4,65536] parameter(1)"
    module = hlo.parse(f"""HloModule small_transpose
fused {{ {operands}
  t = f32[4,65536] transpose(x), dimensions={{1,0}}, metadata={{op_name="jit(step)/transpose"}}
  n = f32[4,65536] tanh(t), metadata={{op_name="jit(step)/tanh"}}
  ROOT s = f32[4,65536] add(n, y), metadata={{op_name="jit(step)/add"}} }}
ENTRY main {{ {operands}
  ROOT f = f32[4,65536] fusion(x, y), kind=kLoop, calls=fused, metadata={{op_name="jit(step)/add"}}
}}""")
    (waste,) = uncoalesced(module)
    assert str(waste).endswith("98304 wasted; from jit(step)/transpose")


def test_a_pass_is_short() -> None:
    folder = Path(__file__).parents[2] / "examples" / "passes"
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in folder.glob("*.py")}
    assert lengths
    assert [name for name, length in lengths.items() if length >= 100] == []
