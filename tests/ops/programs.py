"""HLO text of one instruction on the parameters of its module, and of instructions at random."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hypothesis import strategies as st


def array(element_type: str, sizes: Sequence[object]) -> str:
    return f"{element_type}[{','.join(map(str, sizes))}]"


def braced(values: Iterable[object]) -> str:
    """A list as the value of an attribute."""
    return "{" + ",".join(map(str, values)) + "}"


def module(
    result: str, opcode: str, operands: Sequence[str], attributes: str = "", computations: str = ""
) -> str:
    """A module whose root takes the parameters in their order."""
    parameters = "\n".join(f"p{n} = {shape} parameter({n})" for n, shape in enumerate(operands))
    names = ", ".join(f"p{number}" for number in range(len(operands)))
    written = f", {attributes}" if attributes else ""
    root = f"ROOT r = {result} {opcode}({names}){written}"
    return f"HloModule m\n{computations}\nENTRY e {{\n{parameters}\n{root}\n}}"


def drawn(draw: st.DrawFn, names: list[str], makers: Sequence[str]) -> str:
    """Lines that make ``NEW`` of ``A`` and ``B``, arrays with names; the new name joins these.

    Numbers are written with their ends, as in ``constant(-3..8)``.
    """
    arrays = {letter: draw(st.sampled_from(names)) for letter in "AB" if names}
    arrays["NEW"] = f"y{len(names)}"
    names.append(arrays["NEW"])
    maker = draw(st.sampled_from(makers))

    def number(ends: re.Match[str]) -> str:
        return str(draw(st.integers(int(ends[1]), int(ends[2]))))

    text = re.sub(r"(-?\d+)\.\.(\d+)", number, maker)
    return re.sub(r"\b(NEW|A|B)\b", lambda found: arrays[found[0]], text)


def by_paragraph(text: str) -> list[str]:
    return text.strip().split("\n\n")
