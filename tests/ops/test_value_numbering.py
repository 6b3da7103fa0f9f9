"""Which instructions are alike, and that those which are have one answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from operator import attrgetter
from random import Random
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.layout import Shape
from ops import REGISTRY, OpIndexing, Registry, analyze, elementwise, hlo, limits
from ops.analysis.calls import ValueNumbering, _Answers
from ops.dependence.dependence import reads_operands
from ops.hlo.true_sizes import ArraySizes, array_sizes
from ops.rules.rule import Maps
from tests.cases import for_all
from tests.hlo.modules import NAMES, module_text
from tests.ops.opcode_programs import PROGRAMS, Program
from tests.ops.unfit import only_reason
from tests.ops.unshared import UNSHARED, all_answers

COMPUTATIONS: Final = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = add(a, b) }
sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = add(x, y), metadata={op_name="z"} }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = maximum(a, b) }
flip { a = M parameter(0) b = M parameter(1) t = transpose(a), dimensions={1,0} ROOT r = add(t, b) }
turn { x = M parameter(0) y = M parameter(1) u = transpose(x), dimensions={1,0} ROOT v = add(u, y) }
swap { a = M parameter(0) b = M parameter(1) t = transpose(b), dimensions={1,0} ROOT r = add(t, a) }
left { b = M parameter(1) a = M parameter(0) t = transpose(b), dimensions={1,0}
  ROOT r = subtract(a, t) }
right { b = M parameter(1) a = M parameter(0) t = transpose(b), dimensions={1,0}
  ROOT r = subtract(t, a) }
inner { a = M parameter(0) b = M parameter(1) ROOT r = M fusion(a, b), kind=kLoop, calls=flip }
outer { a = M parameter(0) b = M parameter(1) ROOT r = M fusion(a, b), kind=kLoop, calls=turn }
other { a = M parameter(0) b = M parameter(1) ROOT r = M fusion(a, b), kind=kLoop, calls=swap }
cut { a = M parameter(0) n = s32[] parameter(1)
  ROOT r = dynamic-slice(a, n, n), dynamic_slice_sizes={2,2} }""".replace("M ", "f32[4,4] ")
PARAMETERS: Final = """p = f32[4,4] parameter(0)  q = f32[4,4] parameter(1)  z = f32[] parameter(2)
    i = s32[] parameter(3)  j = s32[] constant(1)  pair = (f32[4,4], f32[4,4]) tuple(p, q)
    k = s32[] constant(1)  twice = s32[] add(j, j) column = f32[4,4]{0,1} parameter(4)
    half = bf16[4,4] parameter(5)"""


def parsed(*definitions: str) -> list[hlo.Instruction]:
    named = "\n".join(f"r{number} = {text}" for number, text in enumerate(definitions))
    head = f"HloModule m, replica_count=4 {COMPUTATIONS}"
    module = hlo.parse(f"{head} ENTRY e {{ {PARAMETERS} {named} }}")
    return [*module.entry.instructions[-len(definitions) :]]


ALIKE: Final = {
    "another operand": "f32[4,4] negate(<p|q>)",
    "metadata": 'f32[4,4] negate(p)<|, metadata={op_name="layer1/neg" source_line=7}>',
    "a sharding": "f32[4,4] negate(p)<|, sharding={replicated}>",
    "frontend attributes": 'f32[4,4] negate(p)<|, frontend_attributes={a="b"}>',
    "a control predecessor": "f32[4,4] negate(p)<|, control-predecessors={q}>",
    "a backend's notes": 'f32[4,4] negate(p)<|, backend_config={"cycles":"12"}>',
    "a channel id": "f32[4,4] all-reduce(p), channel_id=<1|2>, replica_groups={}, to_apply=add",
    "names in what is applied": "f32[4] reduce(p, z), dimensions={0}, to_apply=<add|sum>",
    "a source": "f32[2,4] dynamic-slice(<p, j|q, k>, j), dynamic_slice_sizes={2,4}",
    "names in what is called": "f32[4,4] fusion(p, q), kind=kLoop, calls=<flip|turn>",
    "names in what is called by what is called": "f32[4,4] call(p, q), to_apply=<inner|outer>",
}
"""Two instructions in one text, ``<of the one|of the other>``; no map depends on the difference."""

UNLIKE: Final = {
    "the opcode": "f32[4,4] <negate|cosine>(p)",
    "the type": "<f32[4,4] negate(p)|bf16[4,4] negate(half)>",
    "the type of an operand": "f32[4,4] convert(<p|half>)",
    "the result's layout": "f32[4,4]<|{0,1}> negate(p)",
    "an operand's layout": "f32[4,4] copy(<p|column>)",
    "the result's sizes": "f32[<2,8|8,2>] reshape(p)",
    "the number of operands": "(f32[4,4]<|, f32[4,4]>) tuple(p<|, p>)",
    "a permutation": "f32[4,4] transpose(p), dimensions={<0,1|1,0>}",
    "a dimension": "f32[4,4,2] broadcast(p), dimensions={<0,1|1,0>}",
    "a bound": "f32[2,4] slice(p), slice={[<0:2|1:3>],[0:4]}",
    "a stride": "f32[2,4] slice(p), slice={[0:<2|4:2>],[0:4]}",
    "padding": "f32[5,4] pad(p, z), padding=<1_0x0_0|0_1x0_0>",
    "what is applied": "f32[4] reduce(p, z), dimensions={0}, to_apply=<add|max>",
    "contracted": "f32[4,4] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={<0|1>}",
    "an index": "f32[4,4] get-tuple-element(pair), index=<0|1>",
    "groups": "f32[4,4] all-reduce(p), replica_groups={{0,1<,|},{>2,3}}, to_apply=add",
    "a channel": "f32[4,4] all-reduce(p), <|channel_id=1, >replica_groups={{0}}, to_apply=add",
    "a target": 'f32[4,4] custom-call(p), custom_call_target="<Sharding|Unheard>"',
    "notes": 'f32[4,4] custom-call(p), custom_call_target="Sharding", backend_config="<a|b>"',
    "a parameter in what is called": "f32[4,4] fusion(p, q), kind=kLoop, calls=<flip|swap>",
    "the order of operands inside": "f32[4,4] fusion(p, q), kind=kLoop, calls=<left|right>",
    "what is called by what is called": "f32[4,4] call(p, q), to_apply=<inner|other>",
    "a known value": "f32[2,4] dynamic-slice(p, <j|twice>, j), dynamic_slice_sizes={2,4}",
    "an unknown value": "f32[2,4] dynamic-slice(p, <i, j|j, i>), dynamic_slice_sizes={2,4}",
}
"""Two that differ in one thing that maps may depend on."""


def both(text: str) -> list[str]:
    return [re.sub(r"<(.*?)\|(.*?)>", rf"\{number}", text) for number in (1, 2)]


Forget = Callable[[], None]


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Forget:
    """Forgets what is remembered of modules, now and whenever it is called."""

    def forget() -> None:
        monkeypatch.setattr(_Answers, "_current", None)

    forget()
    return forget


def numbers(*instructions: hlo.Instruction) -> set[int]:
    numbering = ValueNumbering(REGISTRY)
    return {numbering.number(each) for each in instructions}


def numbers_in_two_modules(one: str, other: str) -> set[int]:
    return {number for text in (one, other) for number in numbers(*parsed(text))}


@pytest.mark.parametrize(("rows", "count"), [(ALIKE, 1), (UNLIKE, 2)], ids=["alike", "unlike"])
def test_what_maps_may_feel_counts(rows: Mapping[str, str], count: int, forgotten: Forget) -> None:
    """In one module, and in two."""

    @for_all(rows)
    def check(text: str) -> None:
        assert len(numbers(*parsed(*both(text)))) == count
        forgotten()
        assert len(numbers_in_two_modules(*both(text))) == count

    check()


def test_what_reads_values_is_like_nothing_in_another_module() -> None:
    text = "f32[2,4] dynamic-slice(p, i, j), dynamic_slice_sizes={2,4}"
    assert len(numbers_in_two_modules(text, text)) == 2


COLLECTIVES: Final = [
    "f32[4,4] all-reduce(p), replica_groups={}, to_apply=add",
    "f32[16,4] all-gather(p), replica_groups={}, dimensions={0}",
    "f32[1,4] reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=add",
    "f32[4,4] all-to-all(p), replica_groups={}, dimensions={0}",
    "f32[4,4] collective-permute(p), source_target_pairs={{0,1}}",
    "f32[4,4] collective-broadcast(p), replica_groups={{0,1}}",
]
"""What they do depends on how many devices run the program."""


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("text", COLLECTIVES)
def test_another_number_of_devices_makes_a_difference(text: str) -> None:
    program = f"{COMPUTATIONS} ENTRY e {{ {PARAMETERS} ROOT r = {text} }}"
    roots = [
        hlo.parse(f"HloModule m, {devices} {program}").entry.root
        for devices in ("replica_count=4", "replica_count=4, num_partitions=2")
    ]
    found, alone = (
        [[*all_answers(analyze(root.computation.module, registry=each)[root])] for root in roots]
        for each in (REGISTRY, UNSHARED)
    )
    assert found == alone
    assert found[0] != found[1]


@pytest.mark.usefixtures("forgotten")
def test_another_bound_of_a_size_makes_a_difference() -> None:
    text = "ENTRY e {{ p = f32[?] parameter(0) n = f32[?] negate(p) ROOT r = f32[{}] negate(n) }}"
    for bound, most in (("<=8", 8), ("<=4", 4), ("?", "inf")):
        found = analyze(hlo.parse(text.format(bound)))["n"].output_to_input().map()
        assert str(found) == f"(d0)<p_0> -> (d0), domain: d0 in [0, p_0 - 1], p_0 in [0, {most}]"


def numbers_of_rules_asked(names: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For the fusions and the entry of each module, how often a rule is asked for maps."""
    asked, maps = Counter[str](), Registry.maps

    def counted(registry: Registry, instruction: hlo.Instruction) -> Maps:
        asked[name] += 1
        return maps(registry, instruction)

    monkeypatch.setattr(Registry, "maps", counted)
    for name in names:
        for each in analyze(hlo.parse(module_text(name))):
            each.parameter_indexing()
    monkeypatch.setattr(Registry, "maps", maps)
    return [asked[name] for name in names]


STYLES: Final = [f"printing_styles/softmax.pre.{style}" for style in ("default", "short")]
"""One module twice, in texts that differ much."""


def test_alike_modules_ask_rules_once(monkeypatch: pytest.MonkeyPatch, forgotten: Forget) -> None:
    """What is too much to remember is found again."""
    first, second = numbers_of_rules_asked(STYLES, monkeypatch)
    assert (first > 0, second) == (True, 0)
    forgotten()
    monkeypatch.setattr(limits, "MAX_REMEMBERED_INSTRUCTIONS", 3)
    assert numbers_of_rules_asked(STYLES, monkeypatch) == [first, first]


ONCE: Final = {"parameter", "async-start"}
"""A number is that of one parameter, and one asynchronous operation calls a computation."""


@for_all([each for each in PROGRAMS.values() if each.opcode not in ONCE], attrgetter("opcode"))
def test_copies_are_alike_unless_they_read_values(program: Program) -> None:
    head, _, last = program.text.rpartition("ROOT r = ")
    text = last.rpartition("\n}")[0]
    twice = f'{head} copied = {text}, metadata={{op_name="x"}}\nROOT r = {text}\n}}'
    *_, copied, root = hlo.parse(twice).entry.instructions
    routes, calls = REGISTRY.routes(root), REGISTRY.calls(root)
    is_chosen = calls is not None and calls.selector is not None
    reads = is_chosen or (routes is None and reads_operands(REGISTRY.maps(root)))
    assert len(numbers(root, copied)) == 1 + reads


@pytest.mark.parametrize("name", [name for name in NAMES if "styles" not in name])
def test_sharing_changes_no_answer(name: str) -> None:
    """Nor, in some modules, what leads through what is called."""
    module = hlo.parse(module_text(name))
    shared, alone = analyze(module), analyze(module, registry=UNSHARED)
    for one, other in zip(shared, alone, strict=True):
        assert [*all_answers(one)] == [*all_answers(other)], one.instruction
    for computation in module.computations if name.startswith(("cpu", "tpu")) else ():
        for output in range(len(computation.root.shape.arrays)):
            mine, theirs = shared[computation.root], alone[computation.root]
            assert mine.parameter_indexing(output) == theirs.parameter_indexing(output)


STARTS: Final = ("i", "j", "twice")
VARIANTS: Final = [
    *(f"f32[4,4]{{{layout}}} negate(p)" for layout in ("0,1", "1,0")),
    *(f"f32[4,4] copy({source})" for source in ("p", "column")),
    *(f"f32[4,4] transpose({source}), dimensions={{1,0}}" for source in ("p", "q", "column")),
    *(f"f32[4,4,4] broadcast(p), dimensions={{{places}}}" for places in ("0,1", "1,2", "2,0")),
    *(f"f32[2,4] slice(p), slice={{[{first}:{first + 2}],[0:4]}}" for first in range(3)),
    *(f"f32[6,4] pad(p, z), padding={low}_{2 - low}x0_0" for low in range(3)),
    *(f"f32[4] reduce(p, z), dimensions={{{place}}}, to_apply=max" for place in range(2)),
    *(f"f32[4,4] fusion(p, q), kind=kLoop, calls={name}" for name in ("flip", "turn", "swap")),
    *(
        f"f32[2,2] dynamic-slice(p, {first}, {second}), dynamic_slice_sizes={{2,2}}"
        for first, second in product(STARTS, repeat=2)
    ),
    *(f"f32[2,2] call(p, {start}), to_apply=cut" for start in STARTS),
]
"""Instructions of which many are alike, and others nearly; values are known in some."""


@given(st.lists(st.sampled_from(VARIANTS), min_size=2, max_size=8), st.randoms())
def test_neither_what_is_alike_nor_order_changes_answers(texts: list[str], random: Random) -> None:
    module = parsed(*texts)[0].computation.module
    shared, alone = analyze(module), [*analyze(module, registry=UNSHARED)]
    random.shuffle(alone)
    for each in alone:
        mine = shared[each.instruction]
        assert [*all_answers(mine)] == [*all_answers(each)]
        in_memory = [*all_answers(mine, physical_layout=True)]
        assert in_memory == [*all_answers(each, physical_layout=True)]
        assert mine.fusion_indexing() == each.fusion_indexing()


def test_what_users_register_is_asked_for_every_instruction() -> None:
    asked: list[str] = []

    def same(instruction: hlo.Instruction) -> OpIndexing:
        asked.append(instruction.name)
        return elementwise([instruction.shape.dimensions])

    text = 'f32[4,4] custom-call(p), custom_call_target="mine"'
    one, other = parsed(text, text)
    analysis = analyze(one.computation.module, registry=REGISTRY.with_custom_call("mine", same))
    assert analysis[one].output_to_input() == analysis[other].output_to_input()
    assert {*asked} == {one.name, other.name}


def test_an_error_names_each_instruction_that_is_wrong() -> None:
    text = "f32[4,3] transpose(p), dimensions={1,0}"
    for each in parsed(text, text):
        reason = only_reason(analyze(each.computation.module)[each].output_to_input())
        assert reason.startswith(f"{each.span}: %{each.name}: ")


class OnlyShape(NamedTuple):
    """All that a rule may see of an operand."""

    shape: Shape
    sizes: tuple[ArraySizes, ...]


def all_sizes(instruction: hlo.Instruction) -> tuple[ArraySizes, ...]:
    return tuple(array_sizes(instruction, k) for k in instruction.shape.array_indices)


BUILT: Final = [
    program
    for program in PROGRAMS.values()
    if (rule := REGISTRY.opcodes.get(program.opcode)) and not rule.calls and not rule.values
]


@for_all(BUILT, attrgetter("opcode"))
def test_rules_look_at_nothing_but_shapes_and_attributes(program: Program) -> None:
    root = program.root
    operands: Any = tuple(OnlyShape(each.shape, all_sizes(each)) for each in root.operands)
    sizes: Any = all_sizes(root)
    written = root.opcode, root.shape, operands, root.attributes
    alone = hlo.Instruction("alone", *written, sizes=sizes)
    shapes = (each.shape for each in (root, *root.operands))
    if any(array.dynamic_dimensions for shape in shapes for array in shape.arrays):
        object.__setattr__(alone, "_computation", root.computation)
    assert REGISTRY.routes(alone) == REGISTRY.routes(root)
    assert REGISTRY.maps(alone) == REGISTRY.maps(root)
