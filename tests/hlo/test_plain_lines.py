"""Lines as XLA writes them are read at once; all others, and what is wrong, token by token."""

from __future__ import annotations

import re
from itertools import product

import pytest

from ops import hlo
from tests.cases import for_all, for_table, rows
from tests.hlo.modules import module_text

MODULES = ("gpu/softmax", "tpu/softmax", "cpu/softmax", "unoptimized/transformer_block_fwd")

ENDS = ("\n", "\r\n")
"""Of lines, on Linux and on Windows."""

SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"


def with_comments(text: str) -> str:
    """The text with a comment before each line, so that it is read token by token."""
    return text.replace("\n  ", "\n/**/")


def message(text: str) -> str:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(text)
    return caught.value.message


def entry(*lines: str) -> str:
    """A module of some lines behind a parameter ``p``."""
    body = "\n  ".join(["p = f32[4]{0} parameter(0)", *lines])
    return f"HloModule m\n\n{SUM}\nENTRY e {{\n  {body}\n}}\n"


@for_all([*product(("gpu/mlp_adam_step", "cpu/softmax", "tpu/sort_topk"), ENDS)])
def test_the_place_of_an_instruction_is_its_text(name: str, end: str) -> None:
    text = module_text(name)
    module = hlo.parse(text.replace("\n", end))
    lines = re.findall(r"^  (?:ROOT )?(%\S+ = .*)", text, re.MULTILINE)
    places = [(each.start, each.stop) for each in module.instructions]
    assert [module.source[start:stop].removeprefix("ROOT ") for start, stop in places] == lines
    for each, line in zip(module.instructions, lines, strict=True):
        assert each.span.excerpt().removeprefix("  ").removeprefix("ROOT ").startswith(line[:50])
        assert line.startswith(f"%{each.name} = ")
        assert f" {each.opcode}(" in line


UNUSUAL = rows("""
a = f32[4]{0} negate(p)
    , metadata={op_name='b'}
a = f32[4]{0} negate(p), metadata={op_name='b'}
    , sharding={}
a = f32[] constant(1 /* ) */)
a = f32[4]{0} negate(p), control-predecessors={p}
a = f32[] constant(0)
    b = f32[4]{0} broadcast(a)
    c = f32[4]{0} broadcast(a)
%f32 = f32[4]{0} negate(p)
    a = f32[4]{0} negate(%f32)
a = f32[] constant(0)
    b = f32[] reduce(p, a), dimensions={0}, to_apply=sum
a = (f32[4]{0}, f32[4]{0}) tuple(f32[4]{0} p, /*index=1*/p)
a = f32[4]{0} call(p), to_apply={ x = f32[4] parameter(0) }
""")


# What else is wrong is in ``test_errors``.
@for_table("""
ROOT a = f32[4]{0} negate(p)
    ROOT b = f32[4]{0} negate(p)
a = f32[4]{0} negate(p), sharding={(}
a = f32[4]{0} negate(p), sharding={}, sharding={}
a = f32[4]{0} call(p), to_apply=f32
%f32 = f32[4]{0} negate(p)
    a = f32[4]{0} negate(f32)
a = f32[] constant(1 // one)
    b = f32[] negate(a)
""")
def test_what_is_wrong_is_said_as_if_it_were_read_token_by_token(lines: tuple[str, ...]) -> None:
    assert message(entry(*lines)) == message(with_comments(entry(*lines)))


@for_all([*(entry(*lines) for lines in UNUSUAL), *map(module_text, MODULES)])
def test_other_lines_read_the_same(text: str) -> None:
    assert str(hlo.parse(text)) == str(hlo.parse(with_comments(text)))


def test_each_computation_in_braces_is_another_one() -> None:
    called = "f32[4]{0} call(p), to_apply={ x = f32[4] parameter(0) }"
    module = hlo.parse(entry(f"a = {called}", f"b = {called}"))
    assert module.entry["a"].attributes["to_apply"] is not module.entry["b"].attributes["to_apply"]


@pytest.mark.parametrize("end", ENDS)
def test_equal_attributes_are_read_once_and_cannot_change(end: str) -> None:
    lines = [f"{name} = f32[4]{{0}} reverse(p), dimensions={{0}}" for name in "ab"]
    module = hlo.parse(entry(*lines).replace("\n", end))
    attributes = module.entry["a"].attributes
    assert attributes is module.entry["b"].attributes
    with pytest.raises(TypeError):
        attributes["dimensions"] = ()  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


def test_an_instruction_that_was_read_does_not_change() -> None:
    instruction = hlo.parse(entry("a = f32[4]{0} negate(p)")).entry["a"]
    assert type(instruction) is hlo.Instruction
    with pytest.raises(AttributeError):
        instruction.name = "b"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
