"""What an analysis answers: maps, or that there is none and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from indexing import IndexingMap
    from ops.hlo import Instruction


@dataclass(frozen=True, slots=True)
class OpIndexing:
    """The maps of one operation, in both directions.

    ``output_to_input[k]`` leads from an element of the result to the elements of operand ``k`` that it is computed
    from; ``input_to_output[k]`` from an element of operand ``k`` to the elements of the result that it takes part in.
    The two are the same relation between elements, read from either side. An operation with several results, such as
    a variadic reduce, has results of one size, and each of them has these same maps.

    ``output_sizes`` are the sizes of the result.
    """

    output_sizes: tuple[int, ...]
    output_to_input: tuple[IndexingMap, ...] = ()
    input_to_output: tuple[IndexingMap, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """No map, and the reason.

    >>> print(Unknown("sort: no indexing map"))
    unknown (sort: no indexing map)
    """

    reason: str

    def __str__(self) -> str:
        return f"unknown ({self.reason})"


@dataclass(frozen=True, slots=True)
class RuntimeOrigin:
    """Where the value of a runtime variable comes from: an element of the result of ``instruction``.

    ``map`` leads there from the dimensions and ranges of the map that has the variable. The value that is found is
    clamped into the bounds of the variable.
    """

    instruction: Instruction
    map: IndexingMap


@dataclass(frozen=True, slots=True)
class OperandIndexing:
    """One way in which elements of a tensor depend on elements of another.

    ``runtime`` has one origin for each runtime variable of ``map``. ``replica_id``, a map with one result from the
    same dimensions and ranges, says which replica holds the element, if not the one that asks. ``element`` is the
    number of the array that is meant where the operand is a tuple, counted through nested tuples.
    """

    map: IndexingMap
    runtime: tuple[RuntimeOrigin, ...] = ()
    replica_id: IndexingMap | None = None
    element: int = 0

    def __str__(self) -> str:
        return str(self.map)


Answer: TypeAlias = "tuple[OperandIndexing, ...] | Unknown"
"""All the ways in which one tensor depends on another, each once; none means that it does not depend on it."""


@dataclass(frozen=True, slots=True)
class InstructionIndexing:
    """The answers for one instruction: one for each operand, or one for each result."""

    indexing: tuple[Answer, ...]
