"""Bounded dynamic dimensions: where a size that only the program knows decides, nothing is said."""

from __future__ import annotations

import pytest

from ops import Unknown, hlo, input_to_output, output_to_input

PARAMETERS = """p = f32[<=6,4] parameter(0) q = f32[<=6,4] parameter(1) z = f32[] constant(0)
i = s32[] parameter(2) j = s32[3,1] parameter(3) u = f32[3,4] parameter(4)
c = f32[2,<=6,4] parameter(5) k = f32[<=3,4,5] parameter(6) x = f32[2,8,4] parameter(7)
v = f32[3,2] parameter(8) w = f32[<=3,4] parameter(9) s = f32[4] parameter(10)
"""

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"
STEP = """step { a = f32[4] parameter(0) b = f32[4] parameter(1) c = f32[4] add(a, b)
ROOT r = (f32[4], f32[4]) tuple(c, c) }"""

DECIDED = {
    "reverse": ("f32[<=6,4] reverse(p), dimensions={0}", "dimension 0 of operand 0"),
    "reshape-within": ("f32[48] reshape(c)", "dimension 1 of operand 0"),
    "reshape-into": ("f32[4,<=6] reshape(p)", "dimension 1 of the result"),
    "concatenate": ("f32[<=12,4] concatenate(p, q), dimensions={0}", "dimension 0 of operand 0"),
    "pad": ("f32[<=7,4] pad(p, z), padding=0_1x0_0", "dimension 0 of operand 0"),
    "dynamic-slice": (
        "f32[2,4] dynamic-slice(p, i, i), dynamic_slice_sizes={2,4}",
        "dimension 0 of operand 0",
    ),
    "dynamic-update-slice": (
        "f32[<=6,4] dynamic-update-slice(p, u, i, i)",
        "dimension 0 of operand 0",
    ),
    "dynamic-update-slice-of-less": (
        "f32[2,8,4] dynamic-update-slice(x, c, i, i, i)",
        "dimension 1 of operand 1",
    ),
    "gather": (
        """f32[3,4] gather(p, j), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}""",
        "dimension 0 of operand 0",
    ),
    "scatter": (
        """f32[<=6,4] scatter(p, j, u), update_window_dims={1}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum""",
        "dimension 0 of operand 0",
    ),
    "all-gather": (
        "f32[<=12,4] all-gather(p), replica_groups={{0,1}}, dimensions={0}",
        "dimension 0 of operand 0",
    ),
    "all-to-all": (
        "f32[<=6,4] all-to-all(p), replica_groups={{0,1}}, dimensions={0}",
        "dimension 0 of operand 0",
    ),
    "reduce-scatter": (
        "f32[<=3,4] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=sum",
        "dimension 0 of operand 0",
    ),
    "convolution": (
        "f32[2,6,5] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f",
        "dimension 0 of operand 1",
    ),
    "scan": (
        "(f32[<=6,4], f32[4]) scan(p, s), dimensions={0}, num_carries=1, to_apply=step",
        "dimension 0 of operand 0",
    ),
    "shuffle": (
        "f32[<=6,4] shuffle(p), dimensions={0}, mode=rotate, shifts={1}",
        "dimension 0 of operand 0",
    ),
}

HELD = {
    "reverse-of-another": "f32[<=6,4] reverse(p), dimensions={1}",
    "reshape-behind": "f32[<=6,2,2] reshape(p)",
    "reshape-of-the-first": "f32[<=24] reshape(p)",
    "reshape-in-a-block-of-its-own": "f32[2,<=24] reshape(c)",
    "concatenate-of-another": "f32[<=6,8] concatenate(p, q), dimensions={1}",
    "concatenate-at-the-end": "f32[<=9,4] concatenate(u, p), dimensions={0}",
    "pad-before": "f32[<=16,4] pad(p, z), padding=5_0_1x0_0",
    "pad-of-another": "f32[<=6,6] pad(p, z), padding=0_0x1_1",
    "slice": "f32[2,4] slice(p), slice={[1:3],[0:4]}",
    "dynamic-slice-of-another": "f32[<=6,1] dynamic-slice(p, i, i), dynamic_slice_sizes={6,1}",
    "transpose": "f32[4,<=6] transpose(p), dimensions={1,0}",
    "reduce": "f32[4] reduce(p, z), dimensions={0}, to_apply=sum",
    "negate": "f32[<=6,4] negate(p)",
    "all-gather-of-another": "f32[<=6,8] all-gather(p), replica_groups={{0,1}}, dimensions={1}",
}


def root_of(text: str) -> hlo.Instruction:
    head = f"HloModule m, replica_count=2 {SUM} {STEP}"
    return hlo.parse(f"{head} ENTRY e {{ {PARAMETERS} ROOT r = {text} }}").entry.root


@pytest.mark.parametrize(("text", "size"), DECIDED.values(), ids=DECIDED)
def test_nothing_is_said_where_a_size_decides(text: str, size: str) -> None:
    root = root_of(text)
    for answer in (*output_to_input(root).indexing, *input_to_output(root).indexing):
        assert isinstance(answer, Unknown)
        assert answer.reason.startswith(
            f"{root.opcode}: positions depend on the run-time size of {size}"
        )


@pytest.mark.parametrize("text", HELD.values(), ids=HELD)
def test_maps_hold_what_lies_within_the_bounds(text: str) -> None:
    root = root_of(text)
    for answer in (*output_to_input(root).indexing, *input_to_output(root).indexing):
        assert not isinstance(answer, Unknown)


def test_static_shapes_are_not_asked() -> None:
    root = root_of("f32[3,4] reverse(u), dimensions={0}")
    assert not isinstance(output_to_input(root).indexing[0], Unknown)
