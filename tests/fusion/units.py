"""Small programs that compilers fuse, and fusions of them, by what they are made of."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from indexing.formats.text import format_head
from ops import Fusion, Unknown, hlo
from ops.dependence.dependence import Indexings
from ops.hlo import Computation, HloModule, Instruction
from tests.hlo.modules import NAMES, module_text

ADD = "sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }"
MAXIMUM = "top { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] maximum(x, y) }"


def named(module: HloModule, name: str) -> Instruction:
    """The instruction of a name, ``computation.name`` where several have it."""
    owner, _, own = name.rpartition(".")
    (found,) = (
        each
        for each in module.instructions
        if each.name == own and owner in {"", each.computation.name}
    )
    return found


def computation(module: HloModule, name: str) -> Computation:
    (found,) = (each for each in module.computations if each.name == name)
    return found


def fusion_in(module: HloModule, unit: str) -> Fusion:
    """A fusion from words: ``computation f``, ``instruction r``, ``pair t r``, ``set a b c``."""
    kind, *names = unit.split()
    if kind == "computation":
        return Fusion.of_computation(computation(module, names[0]))
    members = [named(module, name) for name in names]
    if kind == "set":
        return Fusion.of_instructions(members)
    return {"instruction": Fusion.of_instruction, "pair": Fusion.of_pair}[kind](*members)


def entry(body: str, computations: str = "") -> HloModule:
    """A module of an entry, maybe with computations; ``sum`` and ``top`` are there where called."""
    given = f"{computations}\nENTRY e {{\n{body}\n}}"
    called = [text for text in (ADD, MAXIMUM) if f"to_apply={text.split()[0]}" in given]
    missing = [text for text in called if text not in given]
    return hlo.parse("\n".join(["HloModule m", *missing, given]))


def whole(body: str, computations: str = "") -> Fusion:
    return Fusion.of_computation(entry(body, computations).entry)


def fused(body: str) -> HloModule:
    """A module whose entry is a fusion ``r`` of ``f``, which has this body, parameters in order."""
    shapes = re.findall(r"= (\S+) parameter", body)
    (result,) = re.findall(r"ROOT \w+ = (\(.*?\)|\S+)", body)
    given = [f"g{k} = {shape} parameter({k})" for k, shape in enumerate(shapes)]
    names = ", ".join(f"g{k}" for k in range(len(shapes)))
    call = f"ROOT r = {result} fusion({names}), kind=kLoop, calls=f"
    return entry("\n".join([*given, call]), f"f {{\n{body}\n}}")


@dataclass(frozen=True)
class Row:
    """A question to a fusion and its answers, by the names of instructions."""

    name: str
    module: HloModule
    unit: str
    answers: dict[str, list[str]]
    start: str | None = None
    output: int = 0

    @property
    def fusion(self) -> Fusion:
        return fusion_in(self.module, self.unit)

    @property
    def first(self) -> Instruction:
        return named(self.module, self.start) if self.start else self.fusion.roots[0]

    def __str__(self) -> str:
        return self.name


def heads(answer: Indexings) -> list[str]:
    """The maps without domains."""
    assert not isinstance(answer, Unknown)
    return sorted(
        "EMPTY" if way.map.is_known_empty else format_head(way.map).partition(", domain")[0]
        for way in answer
    )


REAL = [name for name in NAMES if name.startswith(("cpu/", "gpu/", "tpu/"))]
"""Modules that a compiler has fused."""


def fusions_of(name: str) -> list[Fusion]:
    fusions = hlo.parse(module_text(name)).find(opcode="fusion")
    return [Fusion.of_computation(each.attributes["calls"]) for each in fusions]


@contextmanager
def few_frames() -> Generator[None]:
    """The stack has room for a hundred calls in calls."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
