"""What JSON says of maps, in fields that ``schema.json`` describes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ops.cli.json_text import Written, dumped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing import IndexingMap, Variable
    from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
    from simplifier import Interval

Fields: TypeAlias = "dict[str, Any]"
"""What JSON says of something."""

_REMEMBERED: Final = 1024
"""How many maps are remembered with what is written of them."""


def way_of(way: OperandIndexing) -> Fields | Written:
    """One way in which elements depend on elements."""
    return _way_fields(way) if way.runtime else _written_way(way)


@lru_cache(maxsize=_REMEMBERED)
def _written_way(way: OperandIndexing) -> Written:
    """A way without origins, which would hold on to their module."""
    return Written(dumped(_way_fields(way)))


def _way_fields(way: OperandIndexing) -> Fields:
    whole = map_fields(way.map)
    origins = [
        {"variable": variable["name"]} | _origin_fields(origin)
        for variable, origin in zip(whole["runtime"], way.runtime, strict=True)
    ]
    return whole | {
        "runtime_origins": origins,
        "replica_id": _optional_map(way.replica_id),
        "approximation": way.approximation or None,
    }


def _origin_fields(origin: RuntimeOrigin) -> Fields:
    return {
        "instruction": origin.instruction.name,
        "callers": [caller.name for caller in origin.callers],
        "text": str(origin),
        "map": map_fields(origin.map),
        "clamp": None if origin.clamp is None else _ends(origin.clamp),
        "replica_id": _optional_map(origin.replica_id),
    }


def _optional_map(indexing_map: IndexingMap | None) -> Fields | None:
    return None if indexing_map is None else map_fields(indexing_map)


def map_fields(indexing_map: IndexingMap) -> Fields:
    """A map for programs, whole and in its parts."""
    domain = indexing_map.domain
    names = iter(domain.names)

    def declared(variables: Iterable[Variable]) -> list[Fields]:
        return [{"name": next(names), "bounds": _ends(each.bounds)} for each in variables]

    return {
        "text": str(indexing_map),
        "results": [domain.text_of(form) for form in indexing_map.forms],
        "dims": declared(domain.dims),
        "ranges": declared(domain.ranges),
        "runtime": declared(domain.runtime),
        "constraints": [
            {"expression": text, "bounds": _ends(interval)}
            for text, (_, interval) in domain.constraint_texts()
        ],
        "known_empty": indexing_map.is_known_empty,
    }


def _ends(interval: Interval) -> list[int | None]:
    return [interval.lower, interval.upper]
