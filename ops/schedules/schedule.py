"""A schedule: which elements each thread of a launch reads and writes, and whether that is all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from indexing import IndexingMap
from indexing.exact.counting import number_of_points
from indexing.layout import logical_to_linear
from ops.index_maps import check_count, runtime_value, symbol
from simplifier.exact import BUDGET
from simplifier.expr.operations import substitute
from simplifier.tools.display import Displayed

if TYPE_CHECKING:
    from typing import TypeAlias

    from indexing.layout import Shape
    from ops.dependence.runtime_origin import RuntimeOrigin
    from ops.rules.op_indexing import Origin
    from ops.schedules.launch import LaunchDimensions

    AnyOrigin: TypeAlias = Origin | RuntimeOrigin


@dataclass(frozen=True, slots=True, repr=False)
class Access(Displayed):
    """The elements of an array that each thread of a launch reads or writes.

    ``map`` leads from the six coordinates of a thread, ``th_x th_y th_z bl_x bl_y bl_z``, to the
    index of an element of an array of this shape. Its ranges are the loops that the thread runs;
    its runtime variables are values that the kernel has read before. ``origins`` say where each
    comes from; without them, each has one value for all threads.

    Raises:
        ShapeError: the map has another number of results than the array has dimensions.
    """

    map: IndexingMap
    shape: Shape
    origins: tuple[AnyOrigin, ...] = ()

    def __post_init__(self) -> None:
        check_count("access", f"the index of {self.shape}", self.map.forms, self.shape.rank)

    def through(
        self, indexing: IndexingMap, shape: Shape, origins: tuple[AnyOrigin, ...] = ()
    ) -> Access:
        """What a thread accesses of another array, for the elements that it accesses of this one.

        ``indexing`` is a map from an element of this array to those of an array of that ``shape``.
        A map from a result to an operand gives what a thread reads for what it writes; a map from a
        hero to the root of its fusion gives where the epilogue writes. ``origins`` are those of its
        runtime variables.

        Raises:
            MapError: ``indexing`` does not have one dimension for each of this array.

        >>> from indexing.layout import Shape
        >>> from ops import broadcast
        >>> from ops.schedules import LaunchDimensions, loop_schedule
        >>> result, operand = Shape.parse("f32[10,20,30]"), Shape.parse("f32[20]")
        >>> launch = LaunchDimensions.for_elements(result.element_count)
        >>> (written,) = loop_schedule(result, launch).writes
        >>> indexing = broadcast((20,), (10, 20, 30), (1,)).output_to_input[0]
        >>> print(written.through(indexing, operand).map)
        (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
        (((bl_x * 128 + th_x) floordiv 30) mod 20),
        domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0],
        bl_x in [0, 46], bl_y in [0, 0], bl_z in [0, 0],
        chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 5999]
        """
        found, *behind = (
            self.map.compose(each).simplify(preserve_ranges=True)
            for each in (indexing, *(origin.map for origin in origins))
        )
        before = {f"s{n}": symbol(n + len(indexing.ranges)) for n in range(len(self.map.ranges))}
        for number in range(len(self.map.runtime)):
            before[f"rt{number}"] = runtime_value(number + len(indexing.runtime))
        own = (substitute(origin.map.forms, before) for origin in self.origins)
        maps = (*behind, *(IndexingMap.from_forms(index, found.domain) for index in own))
        every = zip((*origins, *self.origins), maps, strict=True)
        return Access(found, shape, tuple(replace(origin, map=index) for origin, index in every))

    def in_memory(self) -> IndexingMap:
        """Where in memory a thread accesses the array, in elements, with its tiles.

        Raises:
            ShapeError: as :func:`indexing.layout.tiling_steps`.

        >>> from indexing.layout import Shape
        >>> from ops.schedules import LaunchDimensions, loop_schedule
        >>> column_major = Shape.parse("f32[64,32]{0,1}")
        >>> launch = LaunchDimensions.of(4, threads=128)
        >>> print(loop_schedule(column_major, launch, unroll=4).writes[0].in_memory())
        (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
        (th_x * 4 + bl_x * 512 + unroll_id),
        domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 3], bl_y in [0, 0],
        bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 3]
        """
        return self.map.compose(logical_to_linear(self.shape)).simplify(preserve_ranges=True)

    def __str__(self) -> str:
        """The map without the coordinates and loops that have one value only.

        >>> from indexing.layout import Shape
        >>> from ops.schedules import LaunchDimensions, loop_schedule
        >>> launch = LaunchDimensions.of(6, threads=128)
        >>> print(loop_schedule(Shape.parse("f32[6,128]"), launch).writes[0])
        (th_x, bl_x) -> (bl_x, th_x), domain: th_x in [0, 127], bl_x in [0, 5]
        """
        return str(without_points(self.map))

    def covers(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element is accessed; see :meth:`IndexingMap.covers`."""
        return self.map.covers(self.shape.dimensions, budget=budget)

    def is_exactly_once(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element is accessed exactly once: by one thread, in one iteration."""
        return self.map.is_bijective_onto(self.shape.dimensions, budget=budget)

    def never_twice(self, *, budget: int | None = BUDGET) -> bool:
        """Whether no element is accessed twice, for any values of the runtime variables."""
        return self.map.is_injective(budget=budget, runtime_as_parameters=True)

    def meets(self, other: Access, *, budget: int | None = BUDGET) -> bool:
        """Whether there is an element of the array that both access."""
        return not self.map.compose(other.map.inverse()).is_empty(budget=budget)


@dataclass(frozen=True, slots=True, repr=False)
class Schedule(Displayed):
    """How a kernel divides its work among the threads of a launch.

    Attributes:
        launch: how many threads and blocks there are.
        reads: what each thread reads of each operand of the hero, the operation that the schedule
            is made for; ``None`` if the schedule does not decide it.
        writes: what each thread writes of the result; several accesses if the kernel writes it
            part by part.
    """

    launch: LaunchDimensions
    reads: tuple[Access | None, ...]
    writes: tuple[Access, ...]

    def __str__(self) -> str:
        reads = (
            f"reads operand {number}: {'as it likes' if access is None else access}"
            for number, access in enumerate(self.reads)
        )
        writes = (f"writes: {access}" for access in self.writes)
        return "\n".join([str(self.launch), *reads, *writes])

    def writes_exactly_once(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element of the result is written exactly once.

        The answer is exact: milliseconds to seconds of isl, see :class:`indexing.relation.Relation`
        for what it raises. A schedule that updates in place writes only a part of the result: check
        it with :meth:`never_writes_twice`.

        >>> from indexing.layout import Shape
        >>> from ops.schedules import LaunchDimensions, loop_schedule
        >>> matrix, launch = Shape.parse("f32[100,30]"), LaunchDimensions.of(6, threads=128)
        >>> loop_schedule(matrix, launch, unroll=4).writes_exactly_once()
        True
        """
        if len(self.writes) == 1:
            return self.writes[0].is_exactly_once(budget=budget)
        counts = [_counts(access, budget) for access in self.writes]
        every, inside = (sum(column) for column in zip(*counts, strict=True))
        return every == inside == self.writes[0].shape.element_count and self.never_writes_twice(
            budget=budget
        )

    def never_writes_twice(self, *, budget: int | None = BUDGET) -> bool:
        """Whether no element of the result is written twice, for any runtime variables."""
        return all(access.never_twice(budget=budget) for access in self.writes) and not any(
            one.meets(other, budget=budget) for one, other in combinations(self.writes, 2)
        )


def without_points(accessed: IndexingMap) -> IndexingMap:
    """The map without the coordinates and loops that have one value only: for people to read."""
    variables = (*accessed.dims, *accessed.ranges)
    names = accessed.domain.names[: len(variables)]
    points = {
        name: variable.bounds.lower
        for name, variable in zip(names, variables, strict=True)
        if variable.bounds.size == 1 and variable.bounds.lower is not None
    }
    return accessed.substitute(points) if points else accessed


def _counts(access: Access, budget: int | None) -> tuple[int, int]:
    """How many accesses there are, and how many of them are in the array."""
    inside = access.map.compose(IndexingMap.identity(access.shape.dimensions))
    return number_of_points(access.map, budget), number_of_points(inside, budget)
