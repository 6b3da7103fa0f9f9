"""HLO text of one instruction on the parameters of its module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def array(element_type: str, sizes: Sequence[object]) -> str:
    """The shape of an array."""
    return f"{element_type}[{','.join(map(str, sizes))}]"


def braced(values: Iterable[object]) -> str:
    """A list as the value of an attribute."""
    return "{" + ",".join(map(str, values)) + "}"


def module(
    result: str, opcode: str, operands: Sequence[str], attributes: str = "", computations: str = ""
) -> str:
    """A module whose root takes the parameters in their order."""
    parameters = "\n".join(
        f"  p{number} = {shape} parameter({number})" for number, shape in enumerate(operands)
    )
    names = ", ".join(f"p{number}" for number in range(len(operands)))
    written = f", {attributes}" if attributes else ""
    return f"""HloModule m
{computations}
ENTRY e {{
{parameters}
  ROOT r = {result} {opcode}({names}){written}
}}"""
