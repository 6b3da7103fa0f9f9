"""Programs for all opcodes of XLA, from tests/data/operations."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from ops import hlo
from ops.hlo.opcodes import OPCODES
from ops.rules.elementwise import ELEMENTWISE

_FOLDER: Final = Path(__file__).parents[1] / "data" / "operations"
_COMPUTATIONS: Final = (_FOLDER / "computations.txt").read_text("utf-8")

ALL_OPCODES: Final = tuple((_FOLDER / "opcodes.txt").read_text("utf-8").split())
"""The opcodes that XLA lists in xla/hlo/ir/hlo_opcode.h."""


class Program(NamedTuple):
    """A program whose result is that of one opcode.

    ``family`` is the function that makes its maps; ``wider`` says why these hold more than what one
    run does, if they do.
    """

    opcode: str
    family: str
    wider: str
    body: str

    @property
    def text(self) -> str:
        """The whole module, for four replicas."""
        head = f"HloModule {self.opcode}, replica_count=4"
        return f"{head}\n\n{_COMPUTATIONS}\nENTRY main {{\n{self.body}\n}}\n"

    @property
    def root(self) -> hlo.Instruction:
        return hlo.parse(self.text).entry.root


def _written() -> dict[str, Program]:
    programs: dict[str, Program] = {}
    for part in (_FOLDER / "programs.txt").read_text("utf-8").split("\n== ")[1:]:
        head, body = part.split("\n", 1)
        opcode, family, *wider = head.split(" | ")
        programs[opcode] = Program(opcode, family, "".join(wider), body.strip())
    return programs


def _elementwise(opcode: str) -> Program:
    """An operation on as many tensors of one size as the opcode takes."""
    operands = ["x", "y", "z"][: OPCODES[opcode].arity.least]
    parameters = "".join(
        f"{name} = {_OPERANDS.get(opcode, 'f32')}[2,3] parameter({number})\n"
        for number, name in enumerate(operands)
    )
    call = f"{opcode}({', '.join(operands)}){_ATTRIBUTES.get(opcode, '')}"
    body = f"{parameters}ROOT r = {_RESULTS.get(opcode, 'f32')}[2,3] {call}"
    return Program(opcode, "elementwise", "", body)


_OF_INTEGERS: Final = (
    *("and", "count-leading-zeros", "mulhi", "not", "or", "popcnt", "shift-left"),
    *("shift-right-arithmetic", "shift-right-logical", "xor"),
)
_INTEGERS: Final = dict.fromkeys(_OF_INTEGERS, "s32")
_OPERANDS: Final = {**_INTEGERS, "imag": "c64", "real": "c64"}
_OTHERS: Final = {"compare": "pred", "complex": "c64", "convert": "f16", "is-finite": "pred"}
_RESULTS: Final = _INTEGERS | _OTHERS
_ATTRIBUTES: Final = {
    "compare": ", direction=LT",
    "reduce-precision": ", exponent_bits=8, mantissa_bits=7",
}

_WRITTEN: Final = _written()

PROGRAMS: Final = {
    opcode: _WRITTEN.get(opcode) or _elementwise(opcode)
    for opcode in dict.fromkeys((*ALL_OPCODES, *OPCODES))
    if opcode in _WRITTEN or opcode in ELEMENTWISE
}
"""Opcode -> a program of it."""
