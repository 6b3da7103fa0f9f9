"""Points of maps and the elements that they lead to, counted within a time.

A map has a closed form where its results tell its variables, or where its result is a sum, as in
everyday maps. Any other is gone through by NumPy if it has few points, else asked of isl; what is
left is gone through while there is time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from math import gcd, isnan, prod
from time import process_time
from typing import Any, Final, NamedTuple, TypeAlias, overload

import simplifier
from indexing import IndexingMap, MapError, VariableKind, passes
from indexing.layout import UNBOUNDED_SIZE
from indexing.passes import GRID, MAX_INT64, Constraint, Domain
from ops.fusion.reads import tells_ranges
from ops.hlo import Instruction
from ops.hlo.true_sizes import true_sizes
from simplifier import forms
from simplifier.errors import ArgumentError, check_type
from simplifier.exact import ATTEMPT, Budget, BudgetError, NotQuasiAffineError
from simplifier.forms import VARIABLE, Atom, Form, Interval, np, points_in, substitute, variables_of
from simplifier.tools.graphs import united
from simplifier.tools.late import sympy

Column: TypeAlias = Any
"""An array of NumPy."""

_FEW: Final = 1 << 18
"""Points that are gone through before isl is asked: milliseconds."""

MAX_POINTS: Final = 1 << 30
"""Points that are gone through while there is time."""

MAX_MARKS: Final = 1 << 27
"""Elements that are marked one by one: 128 MB."""

_YEAR: Final = 365 * 24 * 3600
"""Seconds: more is as good as forever."""

REMEMBERED: Final = 1 << 12
"""Maps whose numbers are remembered: the layers of a model repeat them."""


class OutOfTimeError(Exception):
    """There is no exact answer within the time."""


class Deadline:
    """Seconds of processor time from now on, as isl counts them; ``None`` is forever."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else process_time() + seconds

    @classmethod
    def of(cls, op: str, seconds: float | None) -> Deadline:
        """The time that somebody gives an operation.

        Raises:
            ArgumentError: it is no number.
        """
        if seconds is not None:
            check_type(seconds, (int, float), f"{op}: seconds", "a number, or None for no limit")
            if isnan(seconds):
                raise ArgumentError(f"{op}: seconds is nan; expected a number, or None")
        return cls(seconds)

    def check(self) -> None:
        """Raise an :class:`OutOfTimeError` unless there is time left."""
        if self._end is not None and process_time() >= self._end:
            raise OutOfTimeError

    @property
    def budget(self) -> Budget:
        """Operations left for isl.

        Raises:
            OutOfTimeError: that is nothing.
        """
        self.check()
        if self._end is None:
            return None
        return timedelta(seconds=min(self._end - process_time(), _YEAR))


class Tally(NamedTuple):
    """Numbers of points of some maps, and of elements that they lead to."""

    points: int
    elements: int


def tally_of(maps: Sequence[IndexingMap], deadline: Deadline, *, times: int = 1) -> Tally:
    """The points of some maps of dimensions alone, and the elements that one of them leads to.

    Where as much is asked ``times`` times, no points are gone through if there are too many in all.

    Raises:
        MapError: a map has parameters.
        OutOfTimeError: they cannot be counted within the time.
        NotQuasiAffineError: there are too many to go through, and isl cannot express the maps.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 2]")
    >>> tally_of([windows], Deadline(1))
    Tally(points=30, elements=12)
    """
    for each in maps:
        passes.check_without_parameters(each, "tally")
    found = _at_a_glance(*maps) if len(maps) == 1 else None
    if found is None:
        deadline.check()
        found = _quickly(tuple(maps))
    if found is not None:
        return found
    total = sum(map(volume, maps))
    if times > 1 and total * times > MAX_POINTS:
        raise OutOfTimeError
    if total <= MAX_POINTS and size_of(passes.hull_of(maps)) <= MAX_MARKS:
        points, is_reached = marked(maps, (), passes.hull_of(maps), deadline)
        return Tally(int(points.sum()), int(is_reached.sum()))
    try:
        return _by_isl(maps, deadline.budget)
    except BudgetError:
        raise OutOfTimeError from None


@lru_cache(maxsize=REMEMBERED)
def _at_a_glance(part: IndexingMap) -> Tally | None:
    """The numbers where no two points lead to one element, or where elements are sums."""
    if part.domain.constraints:
        return None
    points = volume(part)
    if tells_ranges(passes.arranged(part, (), part.domain.identifiers)):
        return Tally(points, points)
    strides = strides_of_sum(part)
    if strides is None:
        return None if part.forms else Tally(points, 1)
    sizes = [part.domain.bounds[name].size for name in strides]
    known = [size for size in sizes if size is not None]
    elements = number_of_sums(strides.values(), known) if len(known) == len(sizes) else None
    return None if elements is None else Tally(points, elements)


@lru_cache(maxsize=REMEMBERED)
def _quickly(maps: tuple[IndexingMap, ...]) -> Tally | None:
    """The numbers by going through the points if they are few, or by isl if that is quick."""
    if sum(map(volume, maps)) <= _FEW:
        counts, rows = [*map(passes.few_points.count, maps)], passes.few_points.reached(maps)
        points = sum(count for count in counts if count is not None)
        if rows is not None and None not in counts:
            return Tally(points, len(rows))
    try:
        return _by_isl(maps, ATTEMPT)
    except (BudgetError, NotQuasiAffineError):
        return None


def _by_isl(maps: Sequence[IndexingMap], budget: Budget) -> Tally:
    points = sum(passes.number_of_points(each, budget) for each in maps)
    return Tally(points, passes.number_of_results(maps, budget))


# Sums.


def strides_of_sum(part: IndexingMap) -> dict[str, int] | None:
    """The factor of each variable, if the only result is a sum of multiples of variables."""
    if len(part.forms) != 1 or any(atom.kind is not VARIABLE for atom in part.forms[0].terms):
        return None
    factors = {str(atom.name): factor for atom, factor in part.forms[0].terms.items()}
    return {name: factors.get(name, 0) for name in part.domain.identifiers}


def number_of_sums(strides: Iterable[int], sizes: Iterable[int]) -> int | None:
    """Number of values of a sum of ``stride * x`` with ``0 <= x < size``; ``None`` if unknown.

    Small terms together are a digit of what follows, or they fill the gaps of the next stride.

    >>> number_of_sums([1, 1], [10, 3])
    12
    >>> number_of_sums([100, 2, 1], [4, 10, 3])
    84
    """
    pairs = [(abs(stride), size) for stride, size in zip(strides, sizes, strict=True)]
    if not all(size for _, size in pairs):
        return 0
    terms = sorted((stride, size) for stride, size in pairs if stride and size > 1)
    below, unit, run, span = 1, 1, 1, 0  # the sums so far are digits, and a run of units above
    for number, (stride, size) in enumerate(terms):
        if span < gcd(*(each for each, _ in terms[number:])):
            below, unit, run = below * run, stride, size
        elif stride % unit == 0 and stride <= unit * run:
            run += stride // unit * (size - 1)
        else:
            return None
        span += stride * (size - 1)
    return below * run


# Going through points.


def marked(
    maps: Sequence[IndexingMap],
    rows: Sequence[Interval],
    columns: Sequence[Interval],
    deadline: Deadline,
) -> tuple[Column, Column]:
    """Number of points that lead to each row of a table, and the columns that they lead to.

    The results of each map are an index of a row, and behind it one of a column.

    Raises:
        OutOfTimeError: there are too many points or columns, or no time is left.
    """
    height, width = size_of(rows), size_of(columns)
    if height * width > MAX_MARKS or sum(map(volume, maps)) > MAX_POINTS:
        raise OutOfTimeError
    points = np.zeros(height, dtype=np.int64)
    is_reached = np.zeros((height, width), dtype=bool)
    for each in maps:
        for count, found in passes.result_columns(each):
            deadline.check()
            row = np.broadcast_to(passes.numbered(found[: len(rows)], rows), count)
            points += np.bincount(row, minlength=height)
            is_reached[row, passes.numbered(found[len(rows) :], columns)] = True
    return points, is_reached


def volume(whole: IndexingMap) -> int:
    """The points of dimensions and ranges within the bounds."""
    dims, ranges, _ = whole.domain.by_role(whole.domain.identifiers)
    return size_of(whole.domain.bounds[name] for name in (*dims, *ranges))


def size_of(box: Iterable[Interval]) -> int:
    """The points of a box, very many if it is not bounded."""
    sizes = [each.size for each in box]
    return MAX_INT64 if None in sizes else prod(size or 0 for size in sizes)


# Counts: numbers, expressions over symbolic sizes, or the least and the most that may be.

Size: TypeAlias = "int | sympy.Expr"
"""A number, or an expression over the symbolic sizes of arrays."""

Count: TypeAlias = "Size | Interval"
"""A number, or the least and the most over all offsets; without upper end nobody knows the most."""

BITS_OF_BYTE: Final = 8


def count_of(interval: Interval) -> Count:
    """The number, if an interval has only one."""
    return interval.lower if interval.size == 1 and interval.lower is not None else interval


def at_least(count: Count) -> int:
    """The least that a count may be: 0 for one over symbolic sizes."""
    found = count.lower if isinstance(count, Interval) else count
    return found if isinstance(found, int) else 0


def at_most(count: Count) -> int:
    """The most that a count may be."""
    found = count.upper if isinstance(count, Interval) else count
    return found if isinstance(found, int) else MAX_INT64


def text_of_count(count: Count) -> str:
    """A number, an expression, or ends in words.

    >>> print(text_of_count(3), "and", text_of_count(Interval(1, 4)))
    3 and 1 to 4
    """
    if isinstance(count, int):
        return str(count)
    if not isinstance(count, Interval):
        return simplifier.format_expr(count)
    if count.upper is None:
        return f"at least {count.lower}" if count.lower else "any number of"
    return f"{count.lower} to {count.upper}"


def cell_of_count(count: Count) -> str:
    """The text where it stands alone: the condition comes last if the count is zero elsewhere.

    >>> from simplifier import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> print(cell_of_count(4 * sympy.Piecewise((N, sympy.Eq(M, N)), (0, True))))
    N * 4 if M == N
    """
    if isinstance(count, int | Interval):
        return text_of_count(count)
    for piece in count.atoms(sympy.Piecewise):
        (value, condition), *others = (each.args for each in piece.args)
        if [each[0] for each in others] == [0] and not count.subs(piece, 0):
            whole = simplest(count.subs(piece, value))
            holds = simplifier.format_expr(condition)
            bare = holds.removeprefix("(").removesuffix(")")
            return f"{text_of_count(whole)} if {holds if '(' in bare else bare}"
    return text_of_count(count)


def ends_of_count(count: Count) -> list[int | str | None]:
    """The least and the most, as numbers or texts of expressions; ``None`` where nobody knows.

    >>> from simplifier import symbol
    >>> ends_of_count(Interval(1, None)), ends_of_count(symbol("N") * 4)
    ([1, None], ['N * 4', 'N * 4'])
    """
    if isinstance(count, Interval):
        return [count.lower, count.upper]
    return [count if isinstance(count, int) else text_of_count(count)] * 2


def sum_of_counts(counts: Iterable[Count]) -> Count:
    """The sum of numbers, expressions and intervals; beside intervals, expressions are at least 0.

    >>> from simplifier import symbol
    >>> print(sum_of_counts([3, Interval(1, 4)]), sum_of_counts([3, 4, symbol("N") * 4]))
    [4, 7] 4*N + 7
    """
    listed = [*counts]
    numbers = sum(each for each in listed if isinstance(each, int))
    between = [each for each in listed if isinstance(each, Interval)]
    symbolic = [each for each in listed if not isinstance(each, int | Interval)]
    if not between:
        return simplest(sum(symbolic, sympy.Integer(0)) + numbers) if symbolic else numbers
    unknown = [Interval(0, None)] if symbolic else []
    return count_of(sum((*between, *unknown), Interval(numbers, numbers)))


def elements_of(operand: Instruction, number: int) -> Count:
    """Number of elements of an array of a result.

    >>> from ops import hlo
    >>> entry = hlo.parse("ENTRY e { ROOT x = f32[<=8,4] parameter(0) }").entry
    >>> elements_of(entry.root, 0)
    4*x_0
    """
    array = operand.shape.arrays[number]
    if not array.dynamic_dimensions:
        return array.element_count
    sizes = true_sizes(operand, number)
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        return simplest(sympy.Mul(*known))
    is_bounded = UNBOUNDED_SIZE not in array.dimensions
    return Interval(0, array.element_count if is_bounded else None)


@overload
def bytes_of(elements: Size, bits: int) -> Size: ...
@overload
def bytes_of(elements: Count, bits: int) -> Count: ...
def bytes_of(elements: Count, bits: int) -> Count:
    """The bytes of so many elements of some bits.

    >>> from simplifier import symbol
    >>> bytes_of(3, 4), bytes_of(symbol("N"), 32)
    (2, 4*N)
    """
    if isinstance(elements, Interval):
        return count_of(-(-(elements * bits) // BITS_OF_BYTE))
    if isinstance(elements, int):
        return -(-elements * bits // BITS_OF_BYTE)
    return simplest(simplifier.CeilDiv(elements * bits, sympy.Integer(BITS_OF_BYTE)))


def ratio(one: Count, other: Count) -> float | None:
    """Factor between two counts; ``None`` if it depends on values or parameters."""
    if isinstance(one, Interval) or isinstance(other, Interval):
        return None
    if isinstance(one, int) and isinstance(other, int):
        return one / other if other else 0.0
    found = sympy.cancel((sympy.Integer(0) + one) / other)
    if not isinstance(found, sympy.Rational):
        return None
    above, below = found.as_numer_denom()
    return int(above) / int(below)


def simplest(expression: Size) -> Size:
    """An expression over sizes, which are not negative; an integer if it is one."""
    if isinstance(expression, int):
        return expression
    sizes = {each: Interval(0, None) for each in expression.free_symbols}
    found = simplifier.simplify(expression, sizes)
    return int(found) if isinstance(found, sympy.Integer) else found


# The loads of the warps of a launch: which elements the lanes of each one touch.
#
# A warp is the threads of a block whose numbers, ``th_x`` fastest, follow each other. It loads once
# for each point of the ranges: the loops that its threads run. Blocks and iterations that touch the
# same elements, moved by a whole period of memory, are looked at once.

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
            first, kind = kinds_of(marks)
            counts = np.bincount(kind, counts).astype(np.int64)
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


def kinds_of(marks: Sequence[Column]) -> tuple[Column, Column]:
    """The first point of each kind, and the kind of each point: all marks of a kind are equal.

    As ``np.unique`` of all of them together, which takes ten times as long.
    """
    first, kind = np.zeros(1, dtype=np.int64), np.zeros(len(marks[0]), dtype=np.int64)
    for mark in marks:
        if (mark != mark[0]).any():
            code = np.unique(mark, return_inverse=True)[1]
            both = kind * len(mark) + code
            _, first, kind = np.unique(both, return_index=True, return_inverse=True)
    return first, kind


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
