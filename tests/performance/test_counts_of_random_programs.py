"""Elements that random programs read, least and most, against all values of their scalars."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

from ops import Fusion, hlo, utilization
from simplifier import Interval

Uses: TypeAlias = "list[np.ndarray[Any, np.dtype[np.int64]]]"
"""For each way to the operand: the element that each element of a value needs; -1 for none."""

STARTS: Final = range(-1, 5)
FLAGS: Final = (0, 1)
NONE: Final = -1


@dataclass(frozen=True)
class Value:
    """An array of a program, and what it needs when the scalars have values."""

    name: str
    size: int
    uses: Callable[[Mapping[str, int]], Uses]


@dataclass
class Writer:
    """Writes a random program on ``x``, instruction by instruction."""

    choose: random.Random
    lines: list[str] = field(default_factory=list[str])
    scalars: dict[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    updates: int = 0

    def value(self, size: int, text: str, uses: Callable[[Mapping[str, int]], Uses]) -> Value:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = f32[{size}] {text}")
        return Value(name, size, uses)

    def parameter(self, name: str, shape: str, values: tuple[int, ...] = ()) -> str:
        if name not in self.scalars:
            number = 1 + len(self.scalars) + self.updates
            self.lines.append(f"{name} = {shape} parameter({number})")
            if values:
                self.scalars[name] = values
            else:
                self.updates += 1
        return name

    def start(self) -> str:
        return self.parameter(self.choose.choice("ij"), "s32[]", tuple(STARTS))


def reversed_(writer: Writer, one: Value, _: Value) -> Value:
    text = f"reverse({one.name}), dimensions={{0}}"
    return writer.value(one.size, text, lambda at: [each[::-1] for each in one.uses(at)])


def padded(writer: Writer, one: Value, _: Value) -> Value:
    low = writer.choose.randrange(3)
    text = f"pad({one.name}, zero), padding={low}_1"

    def uses(at: Mapping[str, int]) -> Uses:
        return [np.pad(each, (low, 1), constant_values=NONE) for each in one.uses(at)]

    return writer.value(one.size + low + 1, text, uses)


def sliced(writer: Writer, one: Value, _: Value) -> Value:
    start, size = writer.start(), writer.choose.randint(1, one.size)
    text = f"dynamic-slice({one.name}, {start}), dynamic_slice_sizes={{{size}}}"

    def uses(at: Mapping[str, int]) -> Uses:
        first = min(max(at[start], 0), one.size - size)
        return [each[first : first + size] for each in one.uses(at)]

    return writer.value(size, text, uses)


def updated(writer: Writer, one: Value, other: Value) -> Value:
    start = writer.start()
    if other.size > one.size:
        size = writer.choose.randint(1, one.size)
        name = writer.parameter(f"y{writer.updates}", f"f32[{size}]")
        other = Value(name, size, lambda _: [])
    text = f"dynamic-update-slice({one.name}, {other.name}, {start})"

    def uses(at: Mapping[str, int]) -> Uses:
        first = min(max(at[start], 0), one.size - other.size)
        part = slice(first, first + other.size)
        kept, written = one.uses(at), other.uses(at)
        whole = [each.copy() for each in kept] + [np.full(one.size, NONE) for _ in written]
        for number, each in enumerate(whole):
            each[part] = written[number - len(kept)] if number >= len(kept) else NONE
        return whole

    return writer.value(one.size, text, uses)


def chosen(writer: Writer, one: Value, other: Value) -> Value:
    flag = writer.parameter("p", "pred[]", FLAGS)
    if other.size != one.size:
        other = one
    text = f"conditional({flag}, {one.name}, {other.name}), "
    text += f"true_computation=same{one.size}, false_computation=turned{one.size}"

    def uses(at: Mapping[str, int]) -> Uses:
        return one.uses(at) if at[flag] else [each[::-1] for each in other.uses(at)]

    return writer.value(one.size, text, uses)


STEPS: Final = (reversed_, padded, sliced, sliced, updated, updated, chosen, chosen)
MAX_SIZE: Final = 20
BRANCHES: Final = "\n".join(
    f"same{size} {{ a = f32[{size}] parameter(0) ROOT r = f32[{size}] negate(a) }} "
    f"turned{size} {{ a = f32[{size}] parameter(0) "
    f"ROOT r = f32[{size}] reverse(a), dimensions={{0}} }}"
    for size in range(1, MAX_SIZE)
)


@pytest.mark.parametrize("seed", range(24))
def test_least_and_most_are_those_of_all_values(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311 - a program, no secret
    writer, size = Writer(choose), choose.randint(2, 5)
    values = [Value("x", size, lambda _: [np.arange(size)])]
    for _ in range(choose.randint(1, 5)):
        one, other = choose.choice(values[-2:]), choose.choice(values)
        values.append(choose.choice(STEPS)(writer, one, other))
    root = values[-1]
    *lines, last = [f"x = f32[{size}] parameter(0) zero = f32[] constant(0)", *writer.lines]
    text = "\n".join(["HloModule m", BRANCHES, "ENTRY e {", *lines, f"ROOT {last} }}"])
    names = [*writer.scalars]
    counts: list[int] = []
    for chosen_values in product(*writer.scalars.values()):
        found = root.uses(dict(zip(names, chosen_values, strict=True)))
        counts.append(len({int(each) for way in found for each in way} - {NONE}))
    rows = utilization(Fusion.of_computation(hlo.parse(text).entry), seconds=None)
    (row,) = (each for each in rows if each.operand.name == "x")
    read = row.elements_read
    ends = read.ends if isinstance(read, Interval) else (read, read)
    assert (ends, row.bounds) == ((min(counts), max(counts)), ""), text
