"""Random programs that read one array at places that values decide, and what warps load of it.

A program is HLO text beside a function of NumPy. The array that is read holds its own offsets, so
the result says which element each thread of a loop has read, whatever the maps say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np

from ops import hlo, schedule_of
from ops.hlo import HloModule
from ops.performance import A100, Coalescing, coalescing
from simplifier import Interval
from tests.performance.simulation import Gpu, units, waits

Array: TypeAlias = Any
Values: TypeAlias = "dict[str, Array]"

SIZES: Final[dict[str, Any]] = {"warp_size": 4, "bank_count": 4, "vector_bytes": 16}
SMALL: Final = replace(A100, name="small", sector_bytes=16, transaction_bytes=32, **SIZES)
"""A device whose warps, sectors and lines are so small that small programs fill some of them."""

GPU: Final = Gpu(lanes=4, sector=16, line=32, banks=4)

BITS_OF: Final = {"s8": 8, "f32": 32, "f64": 64}
HALF: Final = 0.5
MANY: Final = 12
"""Elements that are not repeated."""

NOTHING: Final = -1
"""In the place of an offset: an element that is not read."""

FIGURES: Final = (
    *("loads", "sectors", "ideal_sectors", "wasted_sectors", "most_sectors"),
    *("transactions", "bank_conflicts"),
)


@dataclass
class Program:
    """A fusion that is being written, and how to run it.

    Attributes:
        choices: for each index array its sizes, and the values that its elements may have.
    """

    random: Random
    element_type: str
    lines: list[str] = field(default_factory=list[str])
    parameters: list[str] = field(default_factory=list[str])
    choices: dict[str, tuple[tuple[int, ...], range]] = field(default_factory=dict[str, Any])
    steps: list[Callable[[Values], None]] = field(default_factory=list[Any])
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, Any])

    # Writing.

    def parameter(self, sizes: tuple[int, ...], element_type: str) -> str:
        name = f"p{len(self.parameters)}"
        shape = f"{element_type}[{_joined(sizes)}]"
        self.parameters.append(f"{name} = {shape} parameter({len(self.parameters)})")
        self.sizes[name] = sizes
        return name

    def add(
        self, text: str, sizes: tuple[int, ...], run: Callable[[Values], Array], kind: str
    ) -> str:
        """An instruction, with the function that computes its array from those before."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {kind}[{_joined(sizes)}] {text}")
        self.sizes[name] = sizes
        self.steps.append(lambda values: values.__setitem__(name, run(values)))
        return name

    def indices(self, sizes: tuple[int, ...], upper: int) -> str:
        name = self.parameter(sizes, "s32")
        self.choices[name] = (sizes, range(upper + 1))
        return name

    # Steps.

    def moved(self, name: str, kind: str) -> str:
        """The array after an operation that only moves elements."""
        ways = [self.transposed, self.reshaped, self.cut, self.cut, self.turned, self.repeated]
        return self.random.choice([*ways, self.padded])(name, kind) if self.sizes[name] else name

    def transposed(self, name: str, kind: str) -> str:
        sizes = self.sizes[name]
        order = self.random.sample(range(len(sizes)), len(sizes))
        text = f"transpose({name}), dimensions={{{_joined(order)}}}"
        new = tuple(sizes[each] for each in order)
        return self.add(text, new, lambda v: v[name].transpose(order), kind)

    def reshaped(self, name: str, kind: str) -> str:
        count = prod(self.sizes[name])
        rows = self.random.choice([each for each in range(1, count + 1) if count % each == 0])
        new = (rows, count // rows)
        return self.add(f"reshape({name})", new, lambda v: v[name].reshape(new), kind)

    def cut(self, name: str, kind: str) -> str:
        sizes = self.sizes[name]
        axis = self.random.randrange(len(sizes))
        kept = [range(size) for size in sizes]
        kept[axis] = kept[axis][self.random.randrange(sizes[axis]) :: self.random.choice([1, 1, 2])]
        ends = ", ".join(f"[{each.start}:{each.stop}:{each.step}]" for each in kept)
        slices = tuple(slice(each.start, each.stop, each.step) for each in kept)
        text = f"slice({name}), slice={{{ends}}}"
        return self.add(text, tuple(map(len, kept)), lambda v: v[name][slices], kind)

    def turned(self, name: str, kind: str) -> str:
        axis = self.random.randrange(len(self.sizes[name]))
        text = f"reverse({name}), dimensions={{{axis}}}"
        return self.add(text, self.sizes[name], lambda v: np.flip(v[name], axis), kind)

    def repeated(self, name: str, kind: str) -> str:
        sizes = self.sizes[name]
        if prod(sizes) > MANY:
            return name
        times, is_outer = self.random.choice([2, 3]), self.random.random() < HALF
        new, one = ((times, *sizes), (1, *sizes)) if is_outer else ((*sizes, times), (*sizes, 1))
        dimensions = range(is_outer, len(sizes) + is_outer)
        text = f"broadcast({name}), dimensions={{{_joined(dimensions)}}}"
        return self.add(text, new, lambda v: np.broadcast_to(v[name].reshape(one), new), kind)

    def padded(self, name: str, kind: str) -> str:
        sizes = self.sizes[name]
        edges = [(0, 0)] * len(sizes)
        edges[self.random.randrange(len(sizes))] = self.random.choice([(1, 0), (0, 2), (2, 1)])
        zero = self.add("constant(0)", (), lambda _: np.array(NOTHING), kind)
        text = f"pad({name}, {zero}), padding={'x'.join(f'{low}_{high}' for low, high in edges)}"
        new = tuple(size + sum(edge) for size, edge in zip(sizes, edges, strict=True))
        return self.add(text, new, lambda v: np.pad(v[name], edges, constant_values=NOTHING), kind)

    def read_at_values(self, name: str) -> str:
        """The array after an operation whose places values decide."""
        sizes = self.sizes[name]
        if not sizes:
            return name
        ways = [self.dynamic_slice, self.dynamic_slice, self.rows, self.windows]
        if len(sizes) > 1:
            ways += [self.elements, self.along]
        return self.random.choice(ways)(name)

    def dynamic_slice(self, name: str) -> str:
        sizes = self.sizes[name]
        new = tuple(max(1, size - self.random.choice([0, 1, 2, 5])) for size in sizes)
        starts = [
            self.known_start(size - part) or self.indices((), size - part)
            for size, part in zip(sizes, new, strict=True)
        ]
        text = f"dynamic-slice({name}, {_joined(starts)}), dynamic_slice_sizes={{{_joined(new)}}}"

        def run(values: Values) -> Array:
            at = [
                min(max(int(values[start]), 0), size - part)
                for start, size, part in zip(starts, sizes, new, strict=True)
            ]
            return values[name][tuple(slice(a, a + p) for a, p in zip(at, new, strict=True))]

        return self.add(text, new, run, self.element_type)

    def known_start(self, upper: int) -> str | None:
        """A scalar that was used before, maybe: it may lie beyond the last place."""
        scalars = [each for each, (sizes, _) in self.choices.items() if not sizes]
        if not scalars or self.random.random() > HALF:
            return None
        chosen = self.random.choice(scalars)
        _, values = self.choices[chosen]
        self.choices[chosen] = (), range(max(values.stop, upper + 1))
        return chosen

    def vectors(self, count: int, components: int, upper: int) -> str:
        """Index vectors: a parameter, moved, or looked up in another one."""
        which = self.random.randrange(6) if components == 1 else 0
        if which == 1:
            wide = self.widened(self.indices((self.random.choice([1, 2, 3]),), upper), count)
            text = f"reshape({wide})"
            return self.add(text, (count, 1), lambda v: v[wide].reshape(count, 1), "s32")
        if which == 2:
            table, places = self.indices((2,), upper), self.indices((count, 1), 1)
            text = f"gather({table}, {places}), offset_dims={{1}}, collapsed_slice_dims={{}}, "
            text += "start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
            return self.add(text, (count, 1), lambda v: v[table][v[places]], "s32")
        if which == 3:
            given = self.indices((1, count), upper)
            text = f"transpose({given}), dimensions={{1,0}}"
            return self.add(text, (count, 1), lambda v: v[given].T, "s32")
        return self.indices((count, components), upper)

    def widened(self, given: str, count: int) -> str:
        """A vector of this length that repeats some values."""
        (few,) = self.sizes[given]
        times, is_outer = -(-count // few), self.random.random() < HALF
        sizes = (times, few) if is_outer else (few, times)
        text = f"broadcast({given}), dimensions={{{int(is_outer)}}}"

        def run(values: Values) -> Array:
            return np.broadcast_to(values[given] if is_outer else values[given][:, None], sizes)

        wide = self.add(text, sizes, run, "s32")
        flat = self.add(f"reshape({wide})", (times * few,), lambda v: v[wide].reshape(-1), "s32")
        text = f"slice({flat}), slice={{[0:{count}]}}"
        return self.add(text, (count,), lambda v: v[flat][:count], "s32")

    def gathered(
        self,
        name: str,
        vectors: str,
        sizes: tuple[int, ...],
        slices: Iterable[int],
        run: Callable[[Values], Array],
        *,
        dimensions: str = "collapsed_slice_dims={0}, start_index_map={0}",
    ) -> str:
        """Slices at index vectors, one after the other."""
        offset, slice_sizes = _joined(range(1, len(sizes))), _joined(slices)
        text = f"gather({name}, {vectors}), offset_dims={{{offset}}}, {dimensions}, "
        text += f"index_vector_dim=1, slice_sizes={{{slice_sizes}}}"
        return self.add(text, sizes, run, self.element_type)

    def rows(self, name: str) -> str:
        """Whole rows, or elements of a vector."""
        first, *rest = self.sizes[name]
        count = self.random.choice([1, 2, 3, 4])
        vectors = self.vectors(count, 1, first - 1)

        def run(values: Values) -> Array:
            return values[name][values[vectors][:, 0].clip(0, first - 1)]

        return self.gathered(name, vectors, (count, *rest), [1, *rest], run)

    def windows(self, name: str) -> str:
        """Windows along the first dimension."""
        first, *rest = self.sizes[name]
        count, width = self.random.choice([1, 2, 3]), self.random.randint(1, first)
        vectors = self.vectors(count, 1, first - width)

        def run(values: Values) -> Array:
            starts = values[vectors][:, 0].clip(0, first - width)
            return np.stack([values[name][start : start + width] for start in starts])

        dimensions = "collapsed_slice_dims={}, start_index_map={0}"
        sizes, slices = (count, width, *rest), [width, *rest]
        return self.gathered(name, vectors, sizes, slices, run, dimensions=dimensions)

    def elements(self, name: str) -> str:
        """Elements by two components of an index vector."""
        first, second, *rest = self.sizes[name]
        count = self.random.choice([1, 2])
        vectors = self.vectors(count, 2, max(first, second) - 1)

        def run(values: Values) -> Array:
            rows, columns = values[vectors].T
            return values[name][rows.clip(0, first - 1), columns.clip(0, second - 1)]

        dimensions = "collapsed_slice_dims={0,1}, start_index_map={0,1}"
        sizes, slices = (count, *rest), [1, 1, *rest]
        return self.gathered(name, vectors, sizes, slices, run, dimensions=dimensions)

    def along(self, name: str) -> str:
        """One element of each row."""
        first, second, *rest = self.sizes[name]
        if first > 4:
            return self.rows(name)
        vectors = self.vectors(first, 1, second - 1)

        def run(values: Values) -> Array:
            return values[name][np.arange(first), values[vectors][:, 0].clip(0, second - 1)]

        dimensions = "collapsed_slice_dims={1}, start_index_map={1}, "
        dimensions += "operand_batching_dims={0}, start_indices_batching_dims={0}"
        sizes, slices = (first, *rest), [1, 1, *rest]
        return self.gathered(name, vectors, sizes, slices, run, dimensions=dimensions)

    # Running.

    @property
    def combinations(self) -> int:
        """How many values there are for all index arrays together."""
        return prod(len(values) ** prod(sizes) for sizes, values in self.choices.values())

    def module(self) -> HloModule:
        """The text, read."""
        body = [*self.parameters, *self.lines]
        *before, root = body
        names = [f"p{number}" for number in range(len(self.parameters))]
        shape = root.split(" = ")[1].split(" ")[0]
        fused = "\n".join([*before, f"ROOT {root}"])
        entry = "\n".join([*self.parameters, f"ROOT r = {shape} fusion({_joined(names)}),"])
        return hlo.parse(f"HloModule m\nf {{ {fused} }}\nENTRY e {{ {entry} kind=kLoop, calls=f }}")

    def results(self) -> Iterator[Array]:
        """What the program reads, for all values of the index arrays."""
        arrays = [
            (name, sizes, product(values, repeat=prod(sizes)))
            for name, (sizes, values) in self.choices.items()
        ]
        count = prod(self.sizes["p0"])
        for chosen in product(*(each for _, _, each in arrays)):
            values: Values = {"p0": np.arange(count).reshape(self.sizes["p0"])}
            for (name, sizes, _), each in zip(arrays, chosen, strict=True):
                values[name] = np.array(each, dtype=np.int64).reshape(sizes)
            for step in self.steps:
                step(values)
            yield values[f"v{len(self.lines) - 1}"].reshape(-1)


def random_program(random: Random, most: int = 3000) -> Program:
    """A program with some values, and no more combinations of them than ``most``."""
    while True:
        program = Program(random, random.choice([*BITS_OF]))
        rank = random.choice([1, 1, 2, 2, 3])
        sizes = tuple(random.randint(2, 12 if rank == 1 else 5) for _ in range(rank))
        name = program.parameter(sizes, program.element_type)
        for step in random.choice(["v", "vm", "mv", "mvm", "vv", "vmv"]):
            if step == "v":
                name = program.read_at_values(name)
            else:
                name = program.moved(name, program.element_type)
        if not program.lines or name != f"v{len(program.lines) - 1}":
            continue
        if program.choices and program.combinations <= most and prod(program.sizes[name]) <= 60:
            return program


# What warps load.


def counted(program: Program, unroll: int, width: int) -> dict[str, Interval]:
    """The least and the most of each figure over all values."""
    bits = BITS_OF[program.element_type]
    rows = np.array([*program.results()])
    figures = [_figures(offsets, bits, unroll, width) for offsets in np.unique(rows, axis=0)]
    return {
        name: Interval(min(each[number] for each in figures), max(each[number] for each in figures))
        for number, name in enumerate(FIGURES)
    }


def _figures(offsets: Array, bits: int, unroll: int, width: int) -> tuple[int, ...]:
    loads = [*_loads(offsets, unroll, width)]
    size = width * bits // 8
    sectors = [len(units(load.values(), bits // 8, GPU.sector, width)) for load in loads]
    ideal = [-(-len({*load.values()}) * size // GPU.sector) for load in loads]
    return (
        len(loads),
        sum(sectors),
        sum(ideal),
        sum(sectors) - sum(ideal),
        max(sectors, default=0),
        sum(len(units(load.values(), bits // 8, GPU.line, width)) for load in loads),
        sum(waits(load, width, bits // 8, GPU) for load in loads),
    )


def _loads(offsets: Array, unroll: int, width: int) -> Iterator[dict[int, int]]:
    """The first elements that the lanes of each load take, which are read."""
    threads = [offsets[first : first + unroll] for first in range(0, len(offsets), unroll)]
    for start in range(0, len(threads), GPU.lanes):
        for step in range(0, unroll, width):
            of_warp = enumerate(threads[start : start + GPU.lanes])
            load = {lane: int(each[step]) for lane, each in of_warp if step < len(each)}
            read = {lane: offset for lane, offset in load.items() if offset != NOTHING}
            if read:
                yield read


def differences(found: Coalescing, expected: dict[str, Interval]) -> list[str]:
    """The figures that are wrong: other ones if they are exact, else ones that are left out."""
    wrong: list[str] = []
    for name in FIGURES:
        given = Interval.of(getattr(found, name))
        is_bound = name in found.bounds
        is_right = given.contains(expected[name]) if is_bound else given == expected[name]
        if not is_right:
            wrong.append(f"{name}: {given}, right is {expected[name]}")
    return wrong


def check(seed: int) -> tuple[bool, list[str], str]:
    """Whether the answer to a random program is exact, what is wrong with it, and the program."""
    random = Random(seed)  # noqa: S311 - a test
    program = random_program(random)
    unroll = random.choice([1, 1, 1, 2, 4])
    module = program.module()
    (access,) = schedule_of(module.entry.root, unroll=unroll).reads(0)
    found = coalescing(access, SMALL)
    if access.map.ranges[-1].bounds != Interval(0, unroll - 1):
        return False, [], ""  # vectors begin elsewhere
    wrong = differences(found, counted(program, unroll, found.vector_width))
    return not found.bounds, wrong, f"seed {seed}, unroll {unroll}\n{module}\n{access}\n{found}"


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
