"""Real modules, of several targets and in all of XLA's printing styles."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import hlo
from ops.hlo import HloModule
from ops.rules.elementwise import ELEMENTWISE
from simplifier.errors import IndexingError
from tests.cases import for_all, for_table
from tests.extent import in_ci
from tests.hlo.module_structure import NOT_COMPUTED, Structures
from tests.hlo.modules import ALL, COVER, NAMES, STYLED, module_text

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.hlo"))
BY_MODULE = {
    module: list(names)
    for module, names in itertools.groupby(
        [name for name in NAMES if name.startswith(STYLED)], lambda name: name.rsplit(".", 1)[0]
    )
}


T = TypeVar("T")
Feature: TypeAlias = "str | tuple[str, str]"


def features(name: str) -> Iterator[Feature]:
    """What a module has that others may lack: a style, operations and fusions of its target.

    Elementwise operations are alike, whatever the target.
    """
    target, _, rest = name.partition("/")
    yield target, rest.partition(".")[2]
    for instruction in hlo.parse(module_text(name)).instructions:
        yield instruction.opcode
        if instruction.opcode == "custom-call":
            yield instruction.attributes["custom_call_target"]
        if instruction.opcode == "fusion":
            yield target, instruction.attributes["kind"]
        if target != STYLED and instruction.opcode not in ELEMENTWISE:
            yield target, instruction.opcode


@in_ci
def test_the_cover_has_what_all_modules_have() -> None:
    """And would not without any of its modules, but for the styles, all of one small module."""
    has = {name: {*features(name)} for name in ALL}
    every = set[Feature]().union(*has.values())
    for left_out in (None, *(name for name in COVER if not name.startswith(STYLED))):
        found = set[Feature]().union(*(has[name] for name in COVER if name != left_out))
        assert (found == every) is (left_out is None), left_out


def check_printed(text: str) -> HloModule:
    """What is printed says the same as what was read."""
    module, structures = hlo.parse(text), Structures()
    again = hlo.parse(str(module))
    assert structures.of(again) == structures.of(module)
    assert str(again) == str(module)
    assert [each.name for each in again.computations] == [each.name for each in module.computations]
    return module


@pytest.mark.parametrize("name", NAMES)
def test_module_is_read_and_printed(name: str) -> None:
    module = check_printed(module_text(name))
    assert module.entry in module.computations


def test_a_name_or_an_instruction_is_in_a_module() -> None:
    called = "f { b = s32[] parameter(0) }"
    text = f"{called} ENTRY e {{ a = s32[] parameter(0) c = s32[] call(a), to_apply=f }}"
    module, other = hlo.parse(text), hlo.parse(text)
    inner, entry = module.computation("f"), module.entry
    asked = ("a", "%b", "c", "d", "f", "", 1, entry)
    assert [each for each in asked if each in module] == ["a", "%b", "c"]
    assert [each for each in asked if each in inner] == ["%b"]
    assert [each for each in asked if each in entry] == ["a", "c"]
    for each in module:
        assert each in module
        assert each not in other
        assert (each in inner) is (each.computation is inner)


@for_table("""
negate(a) => abs(a) => differ
transpose(a), dimensions={0,1} => transpose(a), dimensions={1,0} => differ
negate(a), metadata={op_name='x'} => negate(a), metadata={op_name='y'} => differ
negate(a) => negate(f32[2,2] %a) => equal
""")
def test_structures_tell_modules_apart(left: str, right: str, verdict: str) -> None:
    structures, entry = Structures(), "ENTRY e {{ a = f32[2,2] parameter(0) ROOT r = f32[2,2] {} }}"
    one, other = (structures.of(hlo.parse(entry.format(text))) for text in (left, right))
    assert (one == other) is (verdict == "equal")


ODD = ("constants_degenerate", "low_precision")
"""Here XLA reads the constant -0 as 0, and drops E(4) from the layout of a constant."""


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("name", NAMES)
def test_xla_reads_what_is_printed_and_says_the_same(name: str) -> None:
    xla: Any = import_module("jaxlib._hlo")

    def as_xla_says(text: str) -> HloModule:
        return hlo.parse(xla.hlo_module_from_text(text).to_string())

    module = hlo.parse(module_text(name))
    is_odd = name.partition("/")[2].startswith(ODD)
    said = as_xla_says(module_text(name)) if is_odd else module
    structures = Structures(ignored=frozenset(["metadata"]))  # XLA numbers the stack frames anew
    assert structures.of(as_xla_says(str(module))) == structures.of(said)


@for_all([*BY_MODULE])
def test_styles_say_the_same(module: str) -> None:
    for layouts in (True, False):
        structures = Structures(ignored=NOT_COMPUTED, layouts=layouts)
        names = [name for name in BY_MODULE[module] if not layouts or "nolayout" not in name]
        assert len({structures.of(hlo.parse(module_text(name))) for name in names}) == 1
        assert len(names) > 1


@for_all(EXAMPLES)
def test_examples_are_read(path: Path) -> None:
    module = hlo.load(path)
    assert module.file == str(path)
    opcodes = {instruction.opcode for instruction in module.entry.instructions}
    assert opcodes & {"fusion", "while"}


def test_operands_come_before_their_users() -> None:
    module = hlo.parse(module_text("unoptimized/transformer_block_fwd"))
    for computation in module.computations:
        seen: set[hlo.Instruction] = set()
        for instruction in computation.instructions:
            assert instruction.computation is computation
            assert seen.issuperset(instruction.operands)
            seen.add(instruction)
        assert computation.module is module
        assert computation.root in seen


def again(thing: T) -> T:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


def test_a_long_module_is_pickled_and_an_instruction_keeps_its_module() -> None:
    module = hlo.parse(module_text("unoptimized/big_transformer12_train"))
    assert len([*module]) == len(module.instructions) == 8099
    assert str(again(module)) == str(module)
    root = hlo.parse(module_text("cpu/softmax"), "softmax.hlo").entry.root
    copy, parameter = again((root, root.computation.parameters[0]))
    assert (str(copy), copy.span) == (str(root), root.span)
    assert copy.computation is parameter.computation


def test_a_deep_chain_is_read_printed_and_pickled() -> None:
    lines = "\n".join(f"n{i + 1} = f32[2] negate(n{i})" for i in range(8000))
    root = hlo.parse(f"ENTRY e {{ n0 = f32[2] parameter(0)\n{lines} }}").entry.root
    assert repr(root) == "<%n8000 = f32[2]{0} negate(%n7999)>"
    assert again(root).name == "n8000"


PLAIN = """HloModule m

StackFrames
1 {file_location_id=1 parent_frame_id=7}
2 {}

ENTRY e {
  a = f32[4] parameter(0), metadata={op_name="x[\'a, (%b)\']" source_line=12}
  %b.1 = f32[4] negate(%a), metadata={}
  ROOT r = f32[4] add(%b.1, %a), metadata={op_name=""}, backend_config={"a":"(%b"}
}"""

LESS_PLAIN = {
    "blanks": {"{file": "{ file", "(%b.1, ": "( %b.1,", "12}": "12 }"},
    "blanks before commas": {", metadata": " , metadata"},
    "comments": {"_id=7": "_id=/**/7", "(%a)": "(/**/%a)", "metadata=": "metadata/**/="},
    "a comma": {"']\" source": "']\", source"},
    "escapes": {"x[": r"\x78["},
    "operands with shapes": {"(%b.1, %a)": "(f32[4] %b.1, f32[4] %a)"},
    "no percent signs": {"(%b.1, %a)": "(b.1, a)"},
}


@for_all(LESS_PLAIN)
def test_what_is_read_at_once_is_read_alike_token_by_token(changes: dict[str, str]) -> None:
    text = PLAIN
    for plain, other in changes.items():
        assert plain in text
        text = text.replace(plain, other)
    assert str(hlo.parse(text)) == str(hlo.parse(PLAIN))


def test_the_header_and_the_tables_are_kept_and_parts_know_their_places() -> None:
    module = hlo.parse(module_text("cpu/softmax"), "softmax.hlo")
    root = module.entry.root
    assert module.name == "jit_softmax"
    assert module.attributes["is_scheduled"] is True
    assert str(module.attributes["entry_computation_layout"].result) == "f32[8,16,128]{2,1,0}"
    assert module.tables["FileNames"] == {1: "model.py"}
    assert module.tables["FunctionNames"][4] == "softmax"
    assert module.tables["StackFrames"][4] == {"file_location_id": 4, "parent_frame_id": 4}
    assert root.attributes["metadata"]["stack_frame_id"] == 4
    assert root.is_root
    assert module.entry.is_entry
    assert not root.operands[0].is_root
    assert str(root.span) == "softmax.hlo:71:3"
    assert root.attributes["calls"].name == "fused_computation.2"
    assert [p.parameter_number for p in root.attributes["calls"].parameters] == [0, 1]
    assert repr(module.entry) == "<computation %main.3 of 5 instructions>"
    assert repr(module) == "<HLO module jit_softmax of 7 computations>"


# Each damaged text is read as a module, or refused with one clear message.
damaged = pytest.mark.filterwarnings("ignore::simplifier.TextWarning")
SMALL = [name for name in NAMES if len(module_text(name)) < 12_000]

PIECES = st.sampled_from(
    [*'{}()[]",=%:_x-.?<>*#\\/\n\0é', "ROOT ", "f32", "1e9", "9" * 40, "/*", "//", "-start", "nan"]
)


@st.composite
def corrupted(draw: st.DrawFn) -> str:
    """A real module with some characters lost, doubled or replaced."""
    text = module_text(draw(st.sampled_from(SMALL)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 80)))
        middle = draw(st.sampled_from(["", text[start:stop] * 2]) | PIECES)
        text = text[:start] + middle + text[stop:]
    return text


def outcome(text: str) -> hlo.HloModule | IndexingError:
    """The module, or the error; anything else that is raised fails the test."""
    try:
        return hlo.parse(text)
    except IndexingError as error:
        return error


@damaged
@given(text=corrupted())
def test_a_corrupted_module_is_read_or_refused(text: str) -> None:
    result = outcome(text)
    assert len(str(result)) > 0
    if isinstance(result, hlo.HloModule):
        assert str(hlo.parse(str(result))) == str(result)


@damaged
@given(name=st.sampled_from(SMALL), data=st.data())
def test_a_module_that_is_cut_off_is_refused(name: str, data: st.DataObject) -> None:
    text = module_text(name).rstrip()
    assert "entry_computation_layout" in text  # without it, a text may end between computations
    stop = data.draw(st.integers(1, len(text) - 1))
    result = outcome(text[:stop])
    assert isinstance(result, hlo.HloTextError)
    assert result.span.start <= stop


@damaged
@given(text=st.lists(PIECES, max_size=200).map("".join))
def test_noise_is_refused(text: str) -> None:
    assert isinstance(outcome(text), hlo.HloTextError)


@damaged
@for_all(range(1, 300, 3))
def test_every_prefix_of_a_module_is_refused(stop: int) -> None:
    text = "ENTRY e { a = (f32[2]{0:T(2)S(1)}, pred[]) parameter(0), sharding={{replicated}, {m}} "
    text += (
        "b = f32[2] get-tuple-element(a), index=0, metadata={op_name='x' source_line=3} /* b */ "
    )
    text += 'ROOT c = f32[2] slice(b), slice={[0:2:1]}, frontend_attributes={k={a = [1]},l="\\""} }'
    if stop < len(text):
        assert isinstance(outcome(text[:stop]), hlo.HloTextError)
    assert isinstance(outcome(text), hlo.HloModule)
