"""Values of a program, numbered: what computes the same from the same has one number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from ops.hlo import Computation, Instruction
from ops.hlo.attributes import COMMON_ATTRIBUTES


class ValueNumbers:
    """Numbers of the values of a module; a fusion has the number of what it computes.

    Attributes:
        bytes: the number that each array in memory shares with its bitcasts, where there are any.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8] parameter(0) ROOT e = f32[8] exponential(p) }
    ... ENTRY e { p = f32[8] parameter(0) a = f32[8] fusion(p), kind=kLoop, calls=f
    ...   b = f32[8] exponential(p) ROOT c = f32[2,4] bitcast(b) }''')
    >>> values = ValueNumbers()
    >>> p, a, b, c = values.of(module.entry).values()
    >>> a == b, b == c, b == values.bytes[c]
    (True, False, True)
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.bytes: dict[int, int] = {}

    def of(
        self, computation: Computation, arguments: Sequence[int] | None = None
    ) -> Mapping[Instruction, int]:
        """The number of each instruction, for some values of the parameters."""
        found: dict[Instruction, int] = {}
        for each in computation.instructions:
            read = [found[operand] for operand in each.operands]
            if each.parameter_number is not None and arguments is not None:
                found[each] = arguments[each.parameter_number]
            elif each.opcode == "fusion":
                (body,) = each.computations
                found[each] = self.of(body, read)[body.root]
            else:
                found[each] = self.number(each, read)
                if each.opcode == "bitcast":
                    self.bytes[found[each]] = self.bytes.get(read[0], read[0])
        return found

    def number(self, instruction: Instruction, read: Sequence[Hashable]) -> int:
        """The number of an instruction by what it reads; not that of the channel matters."""
        attributes = instruction.attributes
        named = [(name, self._plain(attributes[name])) for name in attributes if name not in _NOTES]
        own = instruction if instruction.opcode in _SINGLE else instruction.parameter_number
        key = instruction.opcode, instruction.shape, own, instruction.literal, *named
        return self._numbers.setdefault((*key, *read), len(self._numbers))

    def _plain(self, value: Any) -> Hashable:  # noqa: ANN401 - one type for each attribute
        if isinstance(value, Computation):
            return self.of(value)[value.root]
        return value


_NOTES: Final = frozenset((*COMMON_ATTRIBUTES, "channel_id"))
"""Attributes that no value depends on."""

_SINGLE: Final = frozenset(
    (
        *("after-all", "call", "conditional", "custom-call", "infeed", "outfeed", "recv"),
        *("recv-done", "rng", "rng-bit-generator", "rng-get-and-update-state", "send", "send-done"),
        *("async-start", "while"),
    )
)
"""Opcodes of what is never the same twice, or would be compared by what it runs."""
