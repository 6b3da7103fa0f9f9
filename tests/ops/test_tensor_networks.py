"""Contractions of tensors of high rank, on which XLA's indexing analysis did not end.

Issues 35646 and 35958 of JAX, https://github.com/openxla/xla/issues/41173. The programs are the
gradient of a closed chain of ten tensors with an operator between, as JAX writes it and as XLA
compiles it for the CPU, with tensors up to rank 22; and a chain of any length, written here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import ops
from ops import hlo
from ops.dependence.dependence import Indexings
from tests.ops.answers import known
from tests.ops.programs import array, braced

PROGRAMS = Path(__file__).parents[1] / "data" / "networks"


def chain(length: int) -> str:
    """Tensors of rank 4 that are contracted one after the other, to rank ``2 * length``.

    Then all dimensions are turned, and put together to two, and all taken apart again.
    """
    given = " ".join(f"h{n} = f32[2,2,2,2] parameter({n})" for n in range(length))
    products = "\n".join(
        f"""y{n} = {array("f32", [1] + [2] * (2 * n + 3))} dot(y{n - 1}, h{n}),
          lhs_contracting_dims={{{2 * n + 1}}}, rhs_contracting_dims={{0}}"""
        for n in range(1, length)
    )
    rank = 2 * length + 2
    back, wide = (array("f32", each) for each in ([2] * (rank - 1) + [1], [1] + [2] * (rank - 1)))
    return f"""ENTRY e {{ {given} y0 = f32[1,2,2,2] slice(h0), slice={{[0:1],[0:2],[0:2],[0:2]}}
      {products}
      turned = {back} transpose(y{length - 1}), dimensions={braced(reversed(range(rank)))}
      matrix = f32[{2 ** (rank // 2)},{2 ** (rank - rank // 2 - 1)}] reshape(turned)
      ROOT r = {wide} reshape(matrix) }}"""


NETWORKS = {
    "the gradient as it is written": ((PROGRAMS / "gradient.hlo").read_text(), 300),
    "the gradient as it is compiled": ((PROGRAMS / "gradient.compiled.hlo").read_text(), 800),
    "a chain of rank 22": (chain(10), 60),
    "a chain of rank 42": (chain(20), 120),
}


@pytest.mark.parametrize(("text", "most"), NETWORKS.values(), ids=NETWORKS)
def test_bounded_work_both_ways(text: str, most: int, composed: list[ops.OperandIndexing]) -> None:
    module = hlo.parse(text)
    needed = ops.fusion_indexing(module.entry.root)
    takes_part_in = ops.Fusion.of_computation(module.entry).epilogue(module.entry.parameters[0])
    assert known(takes_part_in)
    are_exact([*needed.values(), takes_part_in])
    assert len(composed) < most


def test_every_fusion_has_maps_in_both_directions(composed: list[ops.OperandIndexing]) -> None:
    module = hlo.parse((PROGRAMS / "gradient.compiled.hlo").read_text())
    fusions = [each for each in module.entry.instructions if each.opcode == "fusion"]
    assert max(each.shape.rank for each in module.instructions if each.shape.is_array) == 22
    for fusion in fusions:
        are_exact(ops.output_to_input(fusion).indexing)
        are_exact(ops.Fusion.of_instruction(fusion).indexing().values())
        for number in range(len(fusion.operands)):
            are_exact(ops.input_to_output(fusion, number).indexing)
    assert len(composed) < 20 * len(fusions)


def are_exact(answers: Iterable[Indexings]) -> None:
    for answer in answers:
        assert not any(way.approximation for way in known(answer))
