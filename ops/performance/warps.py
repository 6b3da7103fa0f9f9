"""The loads of the warps of a launch: which elements the lanes of each one touch.

A warp is the threads of a block whose numbers, ``th_x`` fastest, follow each other. It loads once
for each point of the ranges: the loops that its threads run. Blocks and iterations that touch the
same elements, moved by a whole period of memory, are looked at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, MapError, VariableKind, passes
from indexing.passes import GRID, MAX_INT64, Constraint, Domain
from ops.performance.tally import Column, size_of
from simplifier import forms
from simplifier.forms import Atom, Form, Interval, np, points_in, substitute, variables_of
from simplifier.tools.graphs import united

Columns: TypeAlias = "Mapping[str, Column]"
"""Values of variables of a map, by identifier."""

MAX_LOADS: Final = 1 << 26
"""Loads of threads that are gone through: some seconds."""

_CHUNK: Final = 1 << 18
"""Loads of threads that are looked at together, so that memory stays small."""

_MET: Final = MAX_INT64
"""In the place of the value of a constraint that all threads meet; if none does, its negative."""


class Loads(NamedTuple):
    """Some loads of warps.

    Attributes:
        offsets: a row for each load, with the element that each lane touches.
        is_active: the lanes that load at all.
        counts: how many loads of the launch each row stands for.
        others: what else the map leads to, for each lane.
    """

    offsets: Column
    is_active: Column
    counts: Column
    others: Sequence[Column] = ()


def loads_of_warps(
    indexing_map: IndexingMap, warp_size: int, period: int, vector: int = 1
) -> Iterator[Loads]:
    """The loads of all warps; of ``vector`` neighbours of the innermost loop only the first.

    Offsets a multiple of ``period`` apart are looked at once. Behind the offset the map
    may lead to more.

    Raises:
        MapError: there are more than :data:`MAX_LOADS` different loads.
    """
    launch = _Launch.of(indexing_map).strided(vector)
    for columns, counts in launch.rounds(period):
        yield _in_warps(*launch.values(columns), counts, warp_size)


def vector_width(indexing_map: IndexingMap, most: int, period: int) -> int:
    """Number of neighbours of the innermost loop that each thread can load at once.

    A power of two: the neighbours lie side by side in memory, the first at a multiple of their
    number, and a thread loads all or none. Results of the map behind the offset are the same.
    """
    launch = _Launch.of(indexing_map)
    while most > 1 and not launch.is_of_vectors(most, period):
        most //= 2
    return most


class _Launch(NamedTuple):
    """A map from the coordinates of a launch, to be evaluated at some blocks and iterations.

    Attributes:
        domain: the coordinates that there are, and the loops, without constraints.
        results: what the map leads to.
        constraints: what holds where a thread loads at all.
    """

    domain: Domain
    results: Sequence[Form]
    constraints: Sequence[Constraint]

    @classmethod
    def of(cls, indexing_map: IndexingMap) -> _Launch:
        domain = indexing_map.domain
        return cls(domain.with_constraints(), indexing_map.forms, domain.constraints)

    def values(self, columns: Columns) -> tuple[Sequence[Column], Column]:
        """The results at some points and all threads, and where the constraints are met."""
        threads = self._threads
        numbers = np.arange(size_of(threads.values()))
        every = points_in(threads, numbers) | {name: at[:, None] for name, at in columns.items()}
        found = self._evaluated((*self.results, *(form for form, _ in self.constraints)), every)
        shape = np.broadcast_shapes((1, len(numbers)), *map(np.shape, every.values()))
        is_active = np.ones(shape, dtype=bool)
        limited = [*found[len(self.results) :], *every.values()]
        bounds = (self.domain.bounds[name] for name in every)
        limits = [*(interval for _, interval in self.constraints), *bounds]
        for column, interval in zip(limited, limits, strict=True):
            lower, upper = interval.ends
            is_active &= np.asarray((column >= lower) & (column <= upper), dtype=bool)
        return [np.broadcast_to(each, shape) for each in found[: len(self.results)]], is_active

    def _evaluated(self, wanted: Sequence[Form], columns: Columns) -> Sequence[Column]:
        """Values of forms, with 0 for variables that are not given."""
        every = {**dict.fromkeys(self.domain.identifiers, 0), **columns}
        dims, ranges, _ = self.domain.by_role([every[name] for name in self.domain.identifiers])
        return IndexingMap.from_forms(wanted, self.domain).evaluate(dims, ranges)

    @property
    def _threads(self) -> dict[str, Interval]:
        """The coordinates of the threads of a block, which begin at 0, ``th_x`` fastest."""
        return {name: Interval(0, each.upper) for name, each in self._box(GRID[2::-1]).items()}

    def _box(self, kinds: Iterable[VariableKind]) -> dict[str, Interval]:
        """The coordinates of these kinds that there are."""
        identifiers = zip(self.domain.identifiers, self.domain.dims, strict=False)
        places = {variable.kind: name for name, variable in identifiers}
        return {places[kind]: self.domain.bounds[places[kind]] for kind in kinds if kind in places}

    # Blocks and iterations.

    def rounds(self, period: int) -> Iterator[tuple[Columns, Column]]:
        """Blocks and iterations, some at a time, and how many each of them stands for."""
        threads, box = self._threads, self._box(GRID[:2:-1]) | self._loops
        beside_threads = self._beside(threads)
        apart = {name: each for name, each in box.items() if name not in beside_threads}
        others = {name: each for name, each in box.items() if name in beside_threads}
        numbers, counts = self._kinds(apart, period)
        lanes, repeats = size_of(threads.values()), size_of(others.values())
        total, step = len(counts) * repeats, max(1, _CHUNK // max(lanes, 1))
        _check_work(total * lanes)
        for start in range(0, total, step):
            kind, place = np.divmod(np.arange(start, min(start + step, total)), repeats)
            yield points_in(apart, numbers[kind]) | points_in(others, place), counts[kind]

    def _beside(self, threads: Iterable[str]) -> Collection[str]:
        """The variables that some term has together with a thread, or with another one of these."""
        wanted = (*self.results, *(form for form, _ in self.constraints))
        terms = (Form(0, {atom: 1}) for form in wanted for atom in form.terms)
        return united([{*threads}, *({*variables_of((term,))} for term in terms)])[0]

    def _kinds(self, box: Mapping[str, Interval], period: int) -> tuple[Column, Column]:
        """The numbers of points of a box that differ, and how many are like each."""
        total = size_of(box.values())
        _check_work(total)
        numbers = counts = np.arange(0)
        start = 0
        while start < total:
            stop = min(total, start + max(_CHUNK >> 4, len(numbers)))
            numbers = np.concatenate([numbers, np.arange(start, stop)])
            counts = np.concatenate([counts, np.ones(stop - start, dtype=np.int64)])
            columns = points_in(box, numbers)
            marks = [np.broadcast_to(mark, len(numbers)) for mark in self._marks(columns, period)]
            _, first, kind = np.unique(marks, axis=1, return_index=True, return_inverse=True)
            counts = np.bincount(kind.ravel(), counts).astype(np.int64)
            numbers, start = numbers[first], stop
        return numbers, counts

    def _marks(self, columns: Columns, period: int) -> Iterator[Column]:
        """Columns that are equal for points that are alike, without threads.

        A constraint is met by all threads, or by none, or the part of it that depends on the point
        tells which ones meet it.
        """
        limited = [form for form, _ in self.constraints]
        pairs = [parted(form, columns) or (form, form) for form in (*self.results, *limited)]
        of_points, of_threads = zip(*pairs, strict=True)
        found, first = self._evaluated(of_points, columns), len(self.results)
        yield from (offset % period for offset in found[:first])
        around = IndexingMap.from_forms(of_threads[first:], self.domain).result_bounds()
        limits = (interval for _, interval in self.constraints)
        for column, inner, limit in zip(found[first:], around, limits, strict=True):
            (least, most), (lower, upper) = inner.ends, limit.ends
            is_met = (column + least >= lower) & (column + most <= upper)
            is_missed = (column + most < lower) | (column + least > upper)
            yield np.where(is_met, _MET, np.where(is_missed, -_MET, column))

    # Vectors.

    @property
    def _loops(self) -> dict[str, Interval]:
        _, ranges, _ = self.domain.by_role(self.domain.identifiers)
        return {name: self.domain.bounds[name] for name in ranges}

    def strided(self, vector: int, step: int = 0) -> _Launch:
        """The launch at one of so many iterations of the last loop that runs more than once."""
        if vector == 1:
            return self
        loops = {name: each for name, each in self._loops.items() if (each.size or 0) > 1}
        innermost, bounds = [*loops.items()][-1]
        iteration = forms.variable(innermost) * vector + ((bounds.lower or 0) + step)
        number = self.domain.identifiers.index(innermost)
        variables = [*self.domain.variables]
        variables[number] = variables[number].within(Interval(0, (bounds.size or 0) // vector - 1))
        domain = self.domain.with_variables(variables)
        results = substitute(self.results, {innermost: iteration})
        constraints = passes.substituted_constraints(self.constraints, {innermost: iteration})
        return _Launch(domain, results, constraints)

    def is_of_vectors(self, width: int, period: int) -> bool:
        """Whether each thread can load so many neighbours of the innermost loop at once."""
        sizes = [size for each in self._loops.values() if (size := each.size or 0) > 1]
        if not sizes or sizes[-1] % width:
            return False
        neighbours = [self.strided(width, step) for step in range(width)]
        results = [form for each in neighbours for form in each.results]
        limits = [limit for each in neighbours for limit in each.constraints]
        every = _Launch(neighbours[0].domain, results, limits)
        for columns, _ in every.rounds(period):
            ((first, *same), is_active), *others = (each.values(columns) for each in neighbours)
            if (first[is_active] % width).any():
                return False
            for step, (results, is_active_there) in enumerate(others, 1):
                pairs = zip(results, (first + step, *same), strict=True)
                if (is_active != is_active_there).any() or any(
                    (other != expected)[is_active].any() for other, expected in pairs
                ):
                    return False
        return True


def _in_warps(
    results: Sequence[Column], is_active: Column, counts: Column, warp_size: int
) -> Loads:
    """Rows of lanes, from arrays with the threads of a block as the last axis."""
    rounds, threads = is_active.shape
    warps = -(-threads // warp_size)

    def rows(column: Column) -> Column:
        padding = [(0, 0), (0, warps * warp_size - threads)]
        return np.pad(column, padding).reshape(rounds * warps, warp_size)

    offsets, *others = map(rows, results)
    return Loads(offsets, rows(is_active), np.repeat(counts, warps), others)


def parted(form: Form, names: Collection[str]) -> tuple[Form, Form] | None:
    """The terms over some variables, and those without any; ``None`` where a term has both."""
    within: list[Atom] = []
    for atom in form.terms:
        found = {name in names for name in variables_of((Form(0, {atom: 1}),))}
        if len(found) > 1:
            return None
        if True in found:
            within.append(atom)
    rest = form.without(*within)
    return form - rest, rest


def _check_work(loads: int) -> None:
    if loads > MAX_LOADS:
        message = f"coalescing: there are {loads} different loads; expected at most {MAX_LOADS}"
        raise MapError(message)


def check_launch(indexing_map: IndexingMap) -> None:
    """Raise a :class:`MapError` unless a map is bounded, and from coordinates of a launch."""
    passes.check_without_parameters(indexing_map, "coalescing")
    for variable, name in zip(indexing_map.dims, indexing_map.domain.names, strict=False):
        if variable.kind not in GRID:
            expected = "expected th_x, th_y, th_z, bl_x, bl_y, bl_z"
            raise MapError(f"coalescing: {name} is no coordinate of a launch; {expected}")
    for variable, name in zip(indexing_map.domain, indexing_map.domain.names, strict=True):
        if variable.bounds.size is None:
            expected = "expected a bounded variable"
            raise MapError(f"coalescing: {name} has the bounds {variable.bounds}; {expected}")
