"""Random programs that read one array at places that values decide, and what warps load of it.

XLA runs them for all values. The array that is read holds its own offsets, so the result says which
element each thread of a loop has read, whatever the maps say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np

from ops import hlo, schedule_of
from ops.performance import A100, coalescing
from simplifier import Interval
from tests.ops import oracle
from tests.performance.simulation import Gpu, Totals, totals

Array: TypeAlias = Any
Sizes: TypeAlias = tuple[int, ...]

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

FLAGS: Final = range(2)


@dataclass
class Program:
    """A computation that is being written, of elements of one type.

    Attributes:
        sizes: the sizes of each array.
        choices: for each parameter that decides about places, the values of its elements.
        given: the parameters that are not read for what is counted.
        called: the computations that are called.
    """

    random: Random
    element_type: str
    lines: list[str] = field(default_factory=list[str])
    parameters: list[str] = field(default_factory=list[str])
    sizes: dict[str, Sizes] = field(default_factory=dict[str, Sizes])
    choices: dict[str, range] = field(default_factory=dict[str, range])
    called: set[str] = field(default_factory=set[str])

    # Writing.

    def parameter(self, sizes: Sizes, kind: str = "", values: range | None = None) -> str:
        name = f"p{len(self.parameters)}"
        shape = f"{kind or self.element_type}[{_joined(sizes)}]"
        self.parameters.append(f"{name} = {shape} parameter({len(self.parameters)})")
        self.sizes[name] = sizes
        if values is not None:
            self.choices[name] = values
        return name

    def indices(self, sizes: Sizes, upper: int) -> str:
        return self.parameter(sizes, "s32", range(upper + 1))

    def add(self, text: str, sizes: Iterable[int], kind: str = "") -> str:
        name = f"v{len(self.lines)}"
        self.sizes[name] = tuple(sizes)
        shape = f"{kind or self.element_type}[{_joined(self.sizes[name])}]"
        self.lines.append(f"{name} = {shape} {text}")
        return name

    # Steps that move elements.

    def moved(self, name: str) -> str:
        """The array after an operation that only moves elements."""
        ways = [self.transposed, self.reshaped, self.cut, self.cut, self.turned, self.repeated]
        return self.random.choice([*ways, self.padded])(name) if self.sizes[name] else name

    def transposed(self, name: str) -> str:
        sizes = self.sizes[name]
        order = self.random.sample(range(len(sizes)), len(sizes))
        text = f"transpose({name}), dimensions={{{_joined(order)}}}"
        return self.add(text, (sizes[each] for each in order))

    def reshaped(self, name: str) -> str:
        count = prod(self.sizes[name])
        rows = self.random.choice([each for each in range(1, count + 1) if count % each == 0])
        return self.add(f"reshape({name})", (rows, count // rows))

    def cut(self, name: str) -> str:
        sizes = self.sizes[name]
        axis = self.random.randrange(len(sizes))
        kept = [range(size) for size in sizes]
        kept[axis] = kept[axis][self.random.randrange(sizes[axis]) :: self.random.choice([1, 1, 2])]
        ends = ", ".join(f"[{each.start}:{each.stop}:{each.step}]" for each in kept)
        return self.add(f"slice({name}), slice={{{ends}}}", map(len, kept))

    def turned(self, name: str) -> str:
        axis = self.random.randrange(len(self.sizes[name]))
        return self.add(f"reverse({name}), dimensions={{{axis}}}", self.sizes[name])

    def repeated(self, name: str) -> str:
        sizes = self.sizes[name]
        if prod(sizes) > MANY:
            return name
        times, is_outer = self.random.choice([2, 3]), self.random.random() < HALF
        dimensions = _joined(range(is_outer, len(sizes) + is_outer))
        new = (times, *sizes) if is_outer else (*sizes, times)
        return self.add(f"broadcast({name}), dimensions={{{dimensions}}}", new)

    def padded(self, name: str) -> str:
        sizes = self.sizes[name]
        edges = [(0, 0)] * len(sizes)
        edges[self.random.randrange(len(sizes))] = self.random.choice([(1, 0), (0, 2), (2, 1)])
        nothing = self.add(f"constant({NOTHING})", ())
        padding = "x".join(f"{low}_{high}" for low, high in edges)
        new = (size + sum(edge) for size, edge in zip(sizes, edges, strict=True))
        return self.add(f"pad({name}, {nothing}), padding={padding}", new)

    # Steps that read at places which values decide.

    def read_at_values(self, name: str) -> str:
        sizes = self.sizes[name]
        if not sizes:
            return name
        ways = [self.sliced, self.sliced, self.rows, self.windows]
        if len(sizes) > 1:
            ways += [self.elements, self.along]
        return self.random.choice(ways)(name)

    def sliced(self, name: str) -> str:
        sizes = self.sizes[name]
        new = tuple(max(1, size - self.random.choice([0, 1, 2, 5])) for size in sizes)
        text = f"dynamic-slice({name}, {self.starts(sizes, new)}), dynamic_slice_sizes="
        return self.add(f"{text}{{{_joined(new)}}}", new)

    def updated(self, name: str) -> str:
        """The array with another one in it, or with one of which nothing is counted."""
        sizes = self.sizes[name]
        new = tuple(self.random.randint(1, size) for size in sizes)
        fitting = [
            each
            for each, others in self.sizes.items()
            if each not in self.choices and len(others) == len(sizes)
            if all(other <= size for other, size in zip(others, sizes, strict=True))
        ]
        part = self.random.choice([*fitting, None]) or self.parameter(new)
        starts = self.starts(sizes, self.sizes[part])
        return self.add(f"dynamic-update-slice({name}, {part}, {starts})", sizes)

    def chosen(self, name: str) -> str:
        """One array as it is, or the other one turned."""
        sizes = self.sizes[name]
        other = self.random.choice([each for each in self.sizes if self.sizes[each] == sizes])
        flags = [each for each, values in self.choices.items() if values == FLAGS]
        flag = self.random.choice([*flags, None]) or self.parameter((), "pred", FLAGS)
        shape, number = f"{self.element_type}[{_joined(sizes)}]", "x".join(map(str, sizes))
        turn = f"{shape} reverse(a), dimensions={{0}}"
        for branch, text in (("same", f"{shape} negate(n)"), ("turned", turn)):
            before = f"a = {shape} parameter(0) n = {shape} negate(a)"
            self.called.add(f"{branch}{number} {{ {before} ROOT r = {text} }}")
        branches = f"true_computation=same{number}, false_computation=turned{number}"
        return self.add(f"conditional({flag}, {name}, {other}), {branches}", sizes)

    def starts(self, sizes: Sizes, parts: Sizes) -> str:
        """Scalars, also such that were used before, which may lie beyond the last place."""
        uppers = [size - part for size, part in zip(sizes, parts, strict=True)]
        return _joined(self.known_start(upper) or self.start(upper) for upper in uppers)

    def start(self, upper: int) -> str:
        return self.parameter((), "s32", range(-1, upper + 1))

    def known_start(self, upper: int) -> str | None:
        scalars = [each for each in self.choices if not self.sizes[each]]
        scalars = [each for each in scalars if self.choices[each] != FLAGS]
        if not scalars or self.random.random() > HALF:
            return None
        chosen = self.random.choice(scalars)
        self.choices[chosen] = range(-1, max(self.choices[chosen].stop, upper + 1))
        return chosen

    def vectors(self, count: int, components: int, upper: int) -> str:
        """Index vectors: a parameter, moved, or looked up in another one."""
        which = self.random.randrange(6) if components == 1 else 0
        if which == 1:
            wide = self.widened(self.indices((self.random.choice([1, 2, 3]),), upper), count)
            return self.add(f"reshape({wide})", (count, 1), "s32")
        if which == 2:
            table, places = self.indices((2,), upper), self.indices((count, 1), 1)
            text = f"gather({table}, {places}), offset_dims={{1}}, collapsed_slice_dims={{}}, "
            text += "start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
            return self.add(text, (count, 1), "s32")
        if which == 3:
            text = f"transpose({self.indices((1, count), upper)}), dimensions={{1,0}}"
            return self.add(text, (count, 1), "s32")
        return self.indices((count, components), upper)

    def widened(self, given: str, count: int) -> str:
        """A vector of this length that repeats some values."""
        (few,) = self.sizes[given]
        times, is_outer = -(-count // few), self.random.random() < HALF
        sizes = (times, few) if is_outer else (few, times)
        wide = self.add(f"broadcast({given}), dimensions={{{int(is_outer)}}}", sizes, "s32")
        flat = self.add(f"reshape({wide})", (times * few,), "s32")
        return self.add(f"slice({flat}), slice={{[0:{count}]}}", (count,), "s32")

    def gather(self, name: str, vectors: str, sizes: Sizes, slices: Sizes, dimensions: str) -> str:
        """Slices at index vectors, one after the other."""
        offset, slice_sizes = _joined(range(1, len(sizes))), _joined(slices)
        text = f"gather({name}, {vectors}), offset_dims={{{offset}}}, {dimensions}, "
        text += f"index_vector_dim=1, slice_sizes={{{slice_sizes}}}"
        return self.add(text, sizes)

    def rows(self, name: str) -> str:
        """Whole rows, or elements of a vector."""
        first, *rest = self.sizes[name]
        count = self.random.choice([1, 2, 3, 4])
        vectors = self.vectors(count, 1, first - 1)
        dimensions = "collapsed_slice_dims={0}, start_index_map={0}"
        return self.gather(name, vectors, (count, *rest), (1, *rest), dimensions)

    def windows(self, name: str) -> str:
        """Windows along the first dimension."""
        first, *rest = self.sizes[name]
        count, width = self.random.choice([1, 2, 3]), self.random.randint(1, first)
        vectors = self.vectors(count, 1, first - width)
        dimensions = "collapsed_slice_dims={}, start_index_map={0}"
        return self.gather(name, vectors, (count, width, *rest), (width, *rest), dimensions)

    def elements(self, name: str) -> str:
        """Elements by two components of an index vector."""
        first, second, *rest = self.sizes[name]
        count = self.random.choice([1, 2])
        vectors = self.vectors(count, 2, max(first, second) - 1)
        dimensions = "collapsed_slice_dims={0,1}, start_index_map={0,1}"
        return self.gather(name, vectors, (count, *rest), (1, 1, *rest), dimensions)

    def along(self, name: str) -> str:
        """One element of each row."""
        first, second, *rest = self.sizes[name]
        if first > 4:
            return self.rows(name)
        vectors = self.vectors(first, 1, second - 1)
        dimensions = "collapsed_slice_dims={1}, start_index_map={1}, "
        dimensions += "operand_batching_dims={0}, start_indices_batching_dims={0}"
        return self.gather(name, vectors, (first, *rest), (1, 1, *rest), dimensions)

    # Running.

    @property
    def combinations(self) -> int:
        """How many values there are for all index arrays together."""
        return prod(len(each) ** prod(self.sizes[name]) for name, each in self.choices.items())

    def is_small(self, result: str, most: int) -> bool:
        """Whether its last step gives this result, and can be run for all values."""
        is_last = bool(self.lines) and result == f"v{len(self.lines) - 1}"
        return is_last and self.combinations <= most and prod(self.sizes[result]) <= 60

    def text(self, head: str = "ENTRY e", after: str = "") -> str:
        *before, root = [*self.parameters, *self.lines]
        body = "\n".join([*before, f"ROOT {root}"])
        return "\n".join(["HloModule m", *sorted(self.called), f"{head} {{ {body} }}", after])

    def fusion(self) -> str:
        shape = self.lines[-1].split(" ")[2]
        call = f"ROOT r = {shape} fusion({_joined(self.names)}), kind=kLoop, calls=f"
        return self.text("f", "\n".join(["ENTRY e {", *self.parameters, f"{call} }}"]))

    @property
    def names(self) -> list[str]:
        return [f"p{number}" for number in range(len(self.parameters))]

    def results(self) -> Iterator[Array]:
        """What the program reads, for all values of the index arrays."""
        run, shapes = oracle.program(self.text()), oracle.parameters(self.text())
        arrays = [np.full(each.dimensions, NOTHING, oracle.dtype_of(each)) for each in shapes]
        arrays[0] = np.arange(arrays[0].size, dtype=arrays[0].dtype).reshape(arrays[0].shape)
        decide = [number for number, name in enumerate(self.names) if name in self.choices]
        every = (product(self.choices[f"p{n}"], repeat=arrays[n].size) for n in decide)
        for chosen in product(*every):
            for number, each in zip(decide, chosen, strict=True):
                arrays[number] = np.array(each, arrays[number].dtype).reshape(arrays[number].shape)
            yield run(*arrays)[0].reshape(-1)


def random_program(random: Random, most: int = 3000) -> Program:
    """A program with some values, and no more combinations of them than ``most``."""
    while True:
        program = Program(random, random.choice([*BITS_OF]))
        rank = random.choice([1, 1, 2, 2, 3])
        sizes = tuple(random.randint(2, 12 if rank == 1 else 5) for _ in range(rank))
        name = program.parameter(sizes)
        for step in random.choice(["v", "vm", "mv", "mvm", "vv", "vmv"]):
            name = (program.read_at_values if step == "v" else program.moved)(name)
        if program.choices and program.is_small(name, most):
            return program


def random_updates(random: Random) -> Program:
    """A program on a vector with parts that are taken, written over and chosen."""
    while True:
        program = Program(random, "f32")
        ways = [program.turned, program.padded, *(program.sliced, program.updated) * 2]
        name = program.parameter((random.randint(2, 5),))
        for way in random.choices([*ways, *[program.chosen] * 2], k=random.randint(2, 6)):
            name = way(name)
        if program.is_small(name, 500):
            return program


def counted(program: Program, unroll: int, width: int) -> dict[str, Interval]:
    """The least and the most of each figure over all values."""
    size = BITS_OF[program.element_type] // 8
    rows = np.unique(np.array([*program.results()]), axis=0)
    figures = [totals([*_loads(offsets, unroll, width)], width, size, GPU) for offsets in rows]
    ends = [Interval(min(each), max(each)) for each in zip(*figures, strict=True)]
    return dict(zip(Totals._fields, ends, strict=True))


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


def complaints(seed: int) -> tuple[list[str], str]:
    """What is wrong with the answer to a random program, and the program.

    Figures are other ones if they are exact, else they leave some out.
    """
    random = Random(seed)  # noqa: S311 - a test
    program = random_program(random)
    unroll = random.choice([1, 1, 1, 2, 4])
    module = hlo.parse(program.fusion())
    (access,) = schedule_of(module.entry.root, unroll=unroll).reads(0)
    found = coalescing(access, SMALL)
    if access.map.ranges[-1].bounds != Interval(0, unroll - 1):
        return [], ""  # vectors begin elsewhere
    wrong: list[str] = []
    for name, right in counted(program, unroll, found.vector_width).items():
        given = Interval.of(getattr(found, name))
        if not (given.contains(right) if name in found.bounds else given == right):
            wrong.append(f"{name}: {given}, right is {right}")
    return wrong, f"seed {seed}, unroll {unroll}\n{module}\n{access}\n{found}"


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
