"""Boxes of strided intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from simplifier import Interval
from simplifier.exact import Space
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy

    from indexing.domain import Constraint


@dataclass(frozen=True, slots=True)
class StridedInterval:
    """Every ``step``-th integer from ``lower`` to ``upper``, which is one of them.

    An end may be ``None`` for unbounded; of a step other than 1 only one may be.

    >>> list(StridedInterval(3, 9, 2)), 5 in StridedInterval(3, 9, 2)
    ([3, 5, 7, 9], True)
    >>> print(StridedInterval(3, 9, 2))
    [3, 9] step 2
    """

    lower: int | None
    upper: int | None
    step: int = 1

    @property
    def bounds(self) -> Interval:
        """The closed interval between the ends."""
        return Interval(self.lower, self.upper)

    @property
    def size(self) -> int | None:
        """How many integers these are; ``None`` if infinitely many."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) // self.step + 1

    def __contains__(self, value: int) -> bool:
        return value in self.bounds and (value - self.anchor) % self.step == 0

    def __iter__(self) -> Iterator[int]:
        return islice(self.bounds, 0, None, self.step)

    @property
    def anchor(self) -> int:
        """One of the integers, or 0 where all are."""
        return self.lower if self.lower is not None else self.upper or 0

    def constraints(self, name: str) -> Iterator[Constraint]:
        """What a variable of that name meets if its value is one of the integers."""
        variable = forms.variable(name)
        yield variable, self.bounds
        if self.step > 1:
            remainder = operations.mod(variable, forms.constant(self.step))
            yield remainder, Interval.of(self.anchor % self.step)

    def __str__(self) -> str:
        return f"{self.bounds} step {self.step}" if self.step > 1 else str(self.bounds)


Box: TypeAlias = "tuple[StridedInterval, ...]"
"""The points with each coordinate in its interval."""


def box_size(box: Box) -> int | None:
    """The number of points; ``None`` if infinitely many."""
    sizes = [interval.size for interval in box if interval.size is not None]
    return prod(sizes) if len(sizes) == len(box) else None


def box_order(box: Box) -> tuple[object, ...]:
    """Sorts disjoint boxes by their least corners."""
    return tuple((interval.bounds.ends, interval.step) for interval in box)


def whole(interval: Interval) -> StridedInterval:
    """All integers of an interval."""
    return StridedInterval(interval.lower, interval.upper)


def strided(lower: int | None, upper: int | None, step: int) -> StridedInterval:
    """The strided interval; a single value has the step 1."""
    return StridedInterval(lower, upper, 1 if lower is not None and lower == upper else step)


def box_set(box: Box, context: islpy.Context) -> islpy.Set:
    """The points of a box as isl's set."""
    names = [f"d{place}" for place in range(len(box))]
    space = Space(
        {name: interval.bounds for name, interval in zip(names, box, strict=True)}, context
    )
    rows = (interval.constraints(name) for name, interval in zip(names, box, strict=True))
    return space.domain([*chain.from_iterable(rows)])
