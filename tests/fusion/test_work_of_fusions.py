"""A question to a fusion costs as much as its instructions do, however many are around them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pytest

from ops import REGISTRY, Fusion, hlo
from ops.hlo import HloModule, Instruction
from ops.rules.registry import Registry
from ops.rules.rule import Calls
from tests.call_counts import calls_of
from tests.fusion.units import entry


def program(size: int) -> HloModule:
    """A chain of additions and of calls, with a transpose and its user in the middle."""
    called = "{ a = f32[8] parameter(0) ROOT b = f32[8] negate(a) }"
    inner = [f"inner{n} {called}" for n in range(size)]
    chain = [
        f"y{n} = f32[8] call(x{n}), to_apply=inner{n} x{n + 1} = f32[8] add(y{n}, x{n})"
        for n in range(size)
    ]
    chain.insert(
        size // 2,
        """p = f32[4,8] parameter(1) producer = f32[8,4] transpose(p), dimensions={1,0}
        called = f32[8] call(x0), to_apply=inner0 wide = f32[8,4] broadcast(called), dimensions={0}
        consumer = f32[8,4] multiply(producer, wide)""",
    )
    return entry("\n".join(["x0 = f32[8] parameter(0)", *chain]), "\n".join(inner))


Named = Mapping[str, "Instruction"]


def places(module: HloModule) -> Named:
    """The instructions of the entry, and the root of the first computation, by their names."""
    return {each.name: each for each in (module.computations[0].root, *module.entry.instructions)}


def _set(at: Named) -> Fusion:
    return Fusion.of_instructions(at[name] for name in ("consumer", "called", "wide", "producer"))


QUESTIONS: Final[dict[str, Callable[[Named], object]]] = {
    "make a pair": lambda at: Fusion.of_pair(at["producer"], at["consumer"]),
    "make a set": _set, "operands": lambda at: _set(at).operands,
    "indexing": lambda at: _set(at).indexing(),
    "results": lambda at: _set(at).indexing_of_results(), "why": lambda at: _set(at).why(at["p"]),
    "reads": lambda at: _set(at).reads(at["p"]),
    "epilogue": lambda at: _set(at).epilogue(at["producer"]),
    "hero inputs": lambda at: _set(at).hero_inputs(at["producer"]),
    "inside": lambda at: at["b"] in _set(at),
}  # fmt: skip
every_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


class Closed(tuple["Instruction", ...]):
    """Instructions that nobody may go through."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Instruction]:
        raise AssertionError("somebody goes through all instructions")


@every_question
def test_a_question_goes_through_no_other_instructions(question: Callable[[Named], object]) -> None:
    """Whoever goes through them is seen."""
    module = program(4)
    at = places(module)
    question(at)
    object.__setattr__(module.entry, "instructions", Closed(module.entry.instructions))
    question(at)
    with pytest.raises(AssertionError, match="somebody"):
        Fusion.of_computation(module.entry).indexing()


@every_question
def test_questions_cost_no_more_in_large_programs(question: Callable[[Named], object]) -> None:
    def calls(size: int) -> int:
        at = places(program(size))
        question(at)
        return calls_of(lambda: question(at))

    assert calls(200) <= 1.05 * calls(10)


def test_a_fusion_that_was_asked_is_pickled() -> None:
    fusion = _set(places(program(3)))
    answer = fusion.indexing()
    again = pickle.loads(pickle.dumps(fusion))  # noqa: S301 - our own
    assert [each.name for each in again.instructions] == [each.name for each in fusion.instructions]
    assert [*map(str, again.indexing().values())] == [*map(str, answer.values())]


LOOP: Final = """
body{n} {{ p = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1 one = s32[] constant(1) next = s32[] add(i, one)
  y = f32[8] negate(x) ROOT r = (s32[], f32[8]) tuple(next, y) }}
goes_on{n} {{ p = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(p), index=0
  limit = s32[] constant(10) ROOT r = pred[] compare(i, limit), direction=LT }}
"""


@pytest.mark.parametrize("number", [1, 8], ids=["fusion-beside-a-loop", "fusion-beside-loops"])
def test_the_loops_beside_a_fusion_are_not_looked_at(number: int) -> None:
    loops = [
        f"""w{n} = (s32[], f32[8]) while(t{n}), condition=goes_on{n}, body=body{n}
        q{n} = f32[8] get-tuple-element(w{n}), index=1 t{n + 1} = (s32[], f32[8]) tuple(z, q{n})"""
        for n in range(number)
    ]
    text = f"""inner {{ c = f32[] constant(0) ROOT b = f32[8] broadcast(c), dimensions={{}} }}
      {"".join(LOOP.format(n=n) for n in range(number))}
      ENTRY e {{ x = f32[8] parameter(0) z = s32[] constant(0)
        g = f32[8] fusion(), kind=kLoop, calls=inner t0 = (s32[], f32[8]) tuple(z, x)
        {" ".join(loops)} ROOT all = (f32[8], f32[8]) tuple(g, q{number - 1}) }}"""
    asked: list[str] = []

    class Watched(Registry):
        def calls(self, instruction: Instruction) -> Calls | None:
            asked.append(instruction.name)
            return super().calls(instruction)

    watched = Watched(REGISTRY.opcodes, REGISTRY.custom_calls)
    module = hlo.parse(text)
    Fusion.of_instruction(module["g"], registry=watched).indexing()
    assert not {name for name in asked if name[0] in "wq"}
