"""What people see when a text is wrong: each case shows the line, the carets, and the message."""

# ruff: noqa: E501  (the message stands in one line with its carets)

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from ops import hlo
from simplifier.errors import IndexingError
from tests.carets import DrawnError, drawn_errors
from tests.cases import for_all, for_table

INSTRUCTIONS = """
b = f32[2,3]{1,0,2} negate(a)
    ^^^^^^^^^^^^^^^ %b: the shape has 2 dimensions, but the layout {1,0,2} orders 3
b = f32[2,3]{0,2} negate(a)
    ^^^^^^^^^^^^^ %b: the layout {0,2} is no permutation of the dimensions 0 to 1
b = f32[9223372036854775808] negate(a)
    ^^^^^^^^^^^^^^^^^^^^^^^^ %b: dimension 9223372036854775808 does not fit in 64 bits
b = f33[2] negate(a)
    ^^^ %b: there is no type f33
b = negate(zero_)
           ^^^^^ %b: operand %zero_ is not defined before this
b = f32[2,3] negate(f32[3,2] a)
                    ^^^^^^^^^^ %b: operand %a is f32[2,3]{1,0}, not f32[3,2]{1,0}
b = f32[2,3] negate(a
= f32[]
^ %b: expected ',' or ')' after one of the operands, but found '='
b = f32[2,3] transpose(a) dimensions={0,1}
                          ^^^^^^^^^^ %b: expected attribute dimensions of transpose before this
b = f32[2,3] transpose(a), dimension={0,1}
                           ^^^^^^^^^ %b: expected an attribute of transpose, but found 'dimension'
b = f32[2,3] transpose(a), dimensions={0,1}, dimensions={0,1}
                                             ^^^^^^^^^^ %b: attribute dimensions stands here for the second time
b = f32[2,3] transpose(a), dimensions={0,1.5}
                                         ^^^ %b: expected a number, but found '1.5'
b = f32[2,3] transpose(a), dimensions={0 1}
                                         ^ %b: expected ',' or '}' after one of the numbers, but found '1'
b = f32[2,3] add(a, g)
                    ^ %b: operand %g is not defined before this
b = f32[2,3] call(a), to_apply=h
                               ^ %b: computation %h is not defined before this
a = f32[2,3] negate(a)
^ instruction %a is defined already, in line 4
b = f32[2] parameter(0)
                     ^ %b: parameter number 0 is that of %a already
b = f32[2] parameter(-1)
                     ^^ %b: parameter number -1 is negative
b = f32[2] parameter(7)
^^^^^^^^^^^^^^^^^^^^^^^ %b: %e has no parameter 7; expected 0 to 1
b = s8[2] constant({1, 300})
                       ^^^ %b: 300 does not fit in s8, which holds the integers in [-128, 127]
b = f32[2] constant({1, 2, 3})
                            ^ %b: expected 2 elements in these braces, but there are 3
b = f32[] constant({1})
                   ^ %b: expected a number as a value of type f32, but found '{'
b = f32[2,2] constant({1, 2})
                       ^ %b: expected braces nested 2 deep for f32[2,2]
b = f32[2] constant((1))
                    ^ %b: expected a number as a value of type f32, but found '('
b = f16[] constant(-65520)
                   ^^^^^^ %b: the number is too large for f16
b = c64[] constant((0, -1e100))
                       ^^^^^^ %b: the number is too large for f32
b = bf16[] constant(nan(0x3ff))
                    ^^^^^^^^^^ %b: the payload of the nan does not fit in bf16
b = u32[] constant(-1)
                   ^^ %b: -1 does not fit in u32, which holds the integers in [0, 4294967295]
b = f32[2,3] compare(a, a), direction=LESS
                                      ^^^^ %b: expected one of EQ, NE, GE, GT, LE, LT, but found 'LESS'
b = f32[2,3] convolution(a, a), dim_labels=00_01->10
                                           ^^^^^^^^^ %b: 00 in the labels 00_01->10 has other dimensions; expected 0, 0 once
b = f32[2,3] convolution(a, a), dim_labels=b0f_01io->b0f
                                           ^^^^^^^^^^^^^ %b: 01io in the labels b0f_01io->b0f has other dimensions; expected 0, i, o once
b = f32[2,3] negate(a), sharding={devices=[2,2}
                                              ^ %b: the bracket '}' closes another one than the last that was opened
b = f32[2,3] negate(a), sharding={mesh["a(]"=2], [{a)]}}
                                                    ^ %b: the bracket ')' closes another one than the last that was opened
b = f32[2,3] custom-call(a), custom_call_target="t", literal=(f32[] 1, f32[2]{0} {1})
                                                                                   ^ %b: expected 2 elements in these braces, but there are 1
b = f32[2,3] broadcast(a)
= f32[]
^ %b: expected attribute dimensions of broadcast before this
b = f32[] constant(1e400)
                   ^^^^^ %b: the number is too large for f32
b = c64[] constant(3)
                   ^ %b: expected '(' before a value of type c64, but found '3'
b = token[] constant(3)
                     ^ %b: a constant of type token has no value
b = f32[2,3] negate(a), metadata={op_name="x}
                                          ^ %b: a string is not closed
b = f32[2,3] negate(a), sharding={{{replicated}
                                 ^ %b: the brace is not closed
b = f32[2,3] negate(a) /* and so on
                       ^ a comment is not closed
b = f32[2] reduce-window(a, a), window={size=2 stride=1x1}, to_apply=g
                                       ^^^^^^^^^^^^^^^^^^^ %b: the window has 1 sizes, but stride has 2
b = f32[2] reduce-window(a, a), window={size=2 step=1}, to_apply=g
                                               ^^^^ %b: expected '}' or a new one of size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal, but found 'step'
b = f32[2,3] all-gather(a), dimensions={0}, replica_groups=[2,2]<=[3]
                                                           ^^^^^^^^^^ %b: [2,2] and [3] differ in size
b = f32[2,3] all-gather(a), dimensions={0}, replica_groups=mesh['x'=2] {'y'}
                                                           ^^^^^^^^^^^^^^^^^ %b: the mesh has no axis 'y'
b = f32[2,3] negate(a) # and so on
                       ^ expected '}' or an instruction, but found '#'
"""
"""Lines of a computation after ``a = f32[2,3] parameter(0)``."""

MODULES = """
HloModule m, is_scheduled=true, slice=true
                                ^^^^^ expected an attribute of the module, but found 'slice'
HloModule m is_scheduled=true
            ^^^^^^^^^^^^ expected a computation, but found 'is_scheduled'
HloModule m
           ^ expected a computation, but the text ends
f32[2] add
          ^ %instruction: expected '(' before the operands, but the text ends
y = f32[2] add(f32[2] a, f32[3] a)
                         ^^^^^^^^ %y: operand %a is f32[2]{0}, not f32[3]{0}
y = f32[2] reverse(a), dimensions={0}
                   ^ %y: operand %a is not defined before this
y = call(f32[2] a), to_apply=g
    ^^^^ %y: the shape must be written, for %g is not shown
y = f32[2] parameter(0) }
                        ^ expected an instruction, but found '}'
multiply(f32[2] a, f32[2] b)
            ^ expected ':' after parameter f32, but found '['
HloModule m y = f32[2] parameter(0)
            ^ expected a computation, but found 'y'
ENTRY e { %inf = f32[2] parameter(0) ROOT r = f32[2] negate(inf) }
                                                            ^^^ %r: expected an operand, but found 'inf'
ENTRY e { %f32 = f32[2] parameter(0) ROOT r = f32[2] negate(f32) }
                                                               ^ %r: expected '[', but found ')'
ENTRY e { }
          ^ computation %e has no instructions
ENTRY e { a = f32[] parameter(0)
                                ^ the text ends inside of computation %e, which no '}' closes
ENTRY e { a = f32[2] parameter(
                               ^ %a: expected the number of the parameter, but the text ends
ENTRY e (a: f32[2]) -> f32[3] { a = f32[2] parameter(0) }
                       ^^^^^^ the result of %e is f32[2], not f32[3]{0}
e { a = f32[2] parameter(0) } e { a = f32[2] parameter(0) }
                              ^ computation %e is defined already
ENTRY e { a = f32[2] parameter(0) } ENTRY f { a = f32[2] parameter(0) }
                                          ^ %e is the entry already
HloModule m, entry_computation_layout={(f32[])->f32[]} e { a = f32[2] parameter(0) }
                                                                                    ^ %e is (f32[2]{0})->f32[2]{0}, but the module declares (f32[])->f32[] as its entry
ENTRY e { a = f32[2] parameter(0) } }
                                    ^ expected a computation, but found '}'
"""
"""Whole texts."""


def check(before: str, drawn: DrawnError, after: str) -> None:
    """The text is refused with a message whose carets stand where they are drawn."""
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(f"{before}{drawn.text}{after}")
    assert caught.value.message == drawn.message
    assert caught.value.span.excerpt().splitlines()[1] == drawn.carets


@for_all(drawn_errors(INSTRUCTIONS), lambda drawn: drawn.text)
def test_a_wrong_instruction_is_shown(drawn: DrawnError) -> None:
    g, a = "g { ROOT x = f32[2,3] parameter(0) }", "a = f32[2,3] parameter(0)"
    check(f"HloModule m\n{g}\nENTRY e {{\n{a}\n", drawn, "\n}\n")


@for_all(drawn_errors(MODULES), lambda drawn: drawn.text)
def test_a_wrong_module_is_shown(drawn: DrawnError) -> None:
    check("", drawn, "")


COMPUTATIONS = """
lt { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), direction=LT }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
more { x = s32[] parameter(0) ROOT r = pred[] constant(true) }
next { x = s32[] parameter(0) ROOT r = s32[] negate(x) }
wide { x = s32[] parameter(0) ROOT r = s64[] convert(x) }
g { ROOT x = f32[2,3] parameter(0) }
"""


@for_table("""
f32[2,3] add(a) => add takes 2 operands, not 1
f32[2,3] reduce(a, a, a), dimensions={1}, to_apply=g => reduce takes 2, 4, 6, ... operands, not 3
f32[2,2] reshape(a) => reshape keeps the number of elements, but f32[2,3]{1,0} has 6 and f32[2,2]{1,0} has 4
f32[6] reshap(a) => there is no opcode reshap
reshape(a) => the shape of reshape cannot be inferred, so it has to be written
f32[2,3] call(a, a), to_apply=g => computation %g takes 1 operand, not 2
f32[4] call(a), to_apply=g => computation %g gives f32[2,3]{1,0}, not f32[4]{0}
f32[3] iota(), iota_dimension=3 => iota_dimension is 3, but f32[3]{0} has rank 1
f32[2,3] while(a), condition=g, body=g => computation %g gives f32[2,3]{1,0}, not pred[]
f32[2,3] reduce(a, a), dimensions={1}, to_apply=g => computation %g takes 1 operand, not 2
f32[2,3] reduce-window(a, a), window={size=1x1}, to_apply=g => computation %g takes 1 operand, not 2
f32[2,3] sort(a), dimensions={0}, to_apply=g => computation %g takes 1 operand, not 2
f32[2,3] select-and-scatter(a, a, a), window={size=1x1}, select=g, scatter=g => computation %g takes 1 operand, not 2
f32[2,3] compare(a, a), direction=LT => compare gives an array of pred, not f32[2,3]{1,0}
f32[2,3] select(a, a, a) => select chooses by an array of pred, not by f32[2,3]{1,0}
f32[2,3] fusion(), kind=kLoop, calls=g => computation %g takes 1 operand, not 0
f32[2] get-tuple-element(a), index=0 => get-tuple-element takes an element of a tuple, but the operand is f32[2,3]{1,0}
(f32[2,3], f32[]) parameter(1), parameter_replication={true,false,true} => parameter_replication has 3 entries for 2 arrays of the parameter
f32[2,3] custom-call(a), custom_call_target="t", operand_layout_constraints={} => operand_layout_constraints has 0 shapes for 1 operands
f32[2,3] custom-call(a), custom_call_target="t", operand_layout_constraints={f32[3]{0}} => operand %a is f32[2,3]{1,0}, not f32[3]{0} as operand_layout_constraints says
f32[2,3] conditional(a, a), branch_computations={g} => the first operand is f32[2,3]{1,0}; expected pred[] or s32[]
constant(3) => the shape of a constant cannot be inferred, so it has to be written
f32[1] dynamic-slice(a, a, a, a), dynamic_slice_sizes={1} => f32[2,3]{1,0} takes 2 start indices, not 3
f32[1] dynamic-slice(a), dynamic_slice_sizes={1} => f32[2,3]{1,0} takes 2 start indices, not 0
(f32[2,3], f32[2,3]) tuple(a) => (f32[2,3]{1,0}, f32[2,3]{1,0}) does not have one element for each of 1 operands
f32[2,3] negate-start(a) => the shape of negate-start is ((operands), outputs, state...)
f32[2,3] negate-done(a) => async-done continues an asynchronous operation, not parameter
f32[2,3] async-done(((f32[2,3]), f32[2,3]) abs-start(a)), calls=g => the operand calls %async_wrapped, not %g
s32[] while(i), condition=more, body=wide => computation %wide gives s64[], not s32[]
s64[] while(i), condition=more, body=next => computation %next gives s32[], not s64[]
f32[] while(f), condition=more, body=next => parameter 0 of %more is s32[], not f32[]
s32[] while(i), condition=next, body=next => computation %next gives s32[], not pred[]
f32[] call(f), to_apply=next => parameter 0 of %next is s32[], not f32[]
f32[] fusion(f), kind=kLoop, calls=next => parameter 0 of %next is s32[], not f32[]
s32[] conditional(i, i, i), branch_computations={next, wide}
    computation %wide gives s64[], not s32[]
f32[4] sort(v), dimensions={0}, to_apply=add => computation %add gives f32[], not pred[]
f32[4] sort(v), dimensions={1}, to_apply=lt => dimensions is 1, but f32[4]{0} has rank 1
f32[4] select-and-scatter(v, v, f), window={size=1}, select=add, scatter=add
    computation %add gives f32[], not pred[]
""")
def test_what_does_not_fit_is_shown_at_its_opcode(text: str, message: str) -> None:
    parameters = "i = s32[] parameter(2) f = f32[] parameter(3) v = f32[4] parameter(4)"
    before = f"HloModule m {COMPUTATIONS} ENTRY e {{ a = f32[2,3] parameter(0) {parameters}"
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(f"{before}\nROOT b = {text}\n}}")
    first, line, carets = str(caught.value).splitlines()[:3]
    assert first.endswith(f" %b: {message}")
    assert line[carets.index("^") : len(carets)] == re.findall(r"\b(?<!\S)([a-z-]+)\(", text)[0]


def test_a_message_names_file_line_column_and_instruction() -> None:
    text = "HloModule m\nENTRY e {\n  %zero = f32[] constant(0)\n  ROOT %r = f32[] abs(%zeor)\n}\n"
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(text, "examples/abs.hlo")
    assert str(caught.value) == (
        "examples/abs.hlo:4:23: %r: operand %zeor is not defined before this\n"
        "  ROOT %r = f32[] abs(%zeor)\n"
        "                      ^^^^^\n"
        "hint: did you mean zero?"
    )
    assert caught.value.instruction == "r"
    assert isinstance(caught.value, IndexingError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301


@for_all([
    ("ENTRY e { a = " + "(" * 100_000, "shapes are nested more than 50 deep"),
    ("ENTRY e { a = f32[] " + "abs(" * 100_000, "instructions are nested more than 50 deep"),
    ("ENTRY e { " + "a = f32[] call(), to_apply={ " * 1000,
     "instructions are nested more than 50"),
    ("ENTRY e { a = f32[1] constant(" + "{" * 100_000, "expected braces nested 1 deep"),
    ("ENTRY e { a = f32[] abs(), sharding=" + "{" * 100_000, "abs takes 1 operand"),
    ("ENTRY e { a = () tuple(), sharding=" + "{" * 100_000, "the brace is not closed"),
    ("(" * 100_000, "shapes are nested more than 50 deep"),
    ("ENTRY e { c = f32[] custom-call(), literal=" + "(" * 100_000, "literals are nested more"),
    ("ENTRY e { a = f32[1]" + "{0:P(f32[1]" * 10_000, "shapes are nested more than 50 deep"),
    ("ENTRY e { a = f32[] constant(" + "9" * 10_000, "the number is too large for f32"),
    ("ENTRY e { a = f32[" + "9" * 10_000, "does not fit in 64 bits"),
    ("", "expected an HLO module, but the text is empty"),
    (" // nothing\n", "expected an HLO module, but the text is empty"),
    ("HloModule m\n\0", r"expected a computation, but found '\x00'"),
    # Each of all that may be nested, as deep as it may be.
    (f"ENTRY e {{ {'a = f32[] call(), to_apply={ ' * 50} b = {'(' * 50}{')' * 50} parameter(0)",
     "the text ends inside of computation %_"),
    # Other formats than HLO.
    ("{ lambda ; a:f32[4]. let b:f32[4] = neg a in (b,) }",
     "hint: this looks like a jaxpr; ops.from_jax"),
    ('{"name": "m"}', "hint: this looks like JSON"),
    ('hlo_module {\n  name: "jit_f"\n}', "expected a computation, but the text ends"),
    ("\x0a\x0bjit__lambda\x12\x06main.4", "hint: this looks like a protobuf"),
    ("examples/softmax.hlo", "this is the path of a file; hlo.load reads it"),
])  # fmt: skip
def test_odd_texts_end_in_one_short_message(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=re.escape(message)) as caught:
        hlo.parse(text)
    assert len(str(caught.value)) < 1000


def test_hints_about_formats_do_not_replace_others() -> None:
    """A module that begins as MLIR might is HLO if a line further on is wrong."""
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse("module { p = f32[] parameter(0)\n  q = f32[2] negat(p) }")
    assert "MLIR" not in str(caught.value)


AS_TEXT = "XLA dumps modules as text with --xla_dump_hlo_as_text"


NO_TEXTS: dict[bytes | None, str] = {
    b"\x7fELF\x02\x00\x00": f"the file is binary, and no protobuf of a module; {AS_TEXT}",
    b"HloModule m \xff": f"the file is binary, or not in UTF-8: see byte 12; {AS_TEXT}",
    None: "No such file or directory",
}


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    for number, (content, reason) in enumerate(NO_TEXTS.items()):
        path = tmp_path / f"{number}.hlo"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(hlo.HloFileError) as caught:
            hlo.load(path)
        assert (str(caught.value), caught.value.path) == (f"{path}: {reason}", str(path))


def test_a_file_may_begin_with_a_byte_order_mark_and_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "module.hlo"
    path.write_bytes(b"\xef\xbb\xbfENTRY e { a = f32[] parameter(0) }")
    assert hlo.load(path).name == "module_e"
    with pytest.raises(hlo.HloFileError, match="this is a folder"):
        hlo.load(tmp_path)
