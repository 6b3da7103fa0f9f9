"""What every operation may say: where it comes from, how it is sharded, and notes of frontends."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ops.hlo.stablehlo.shardings import sharding_of
from ops.mlir.locations import Location, SourcePlace, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.layout import Shape
    from ops.hlo.stablehlo.shardings import Mesh


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """What a text says once for all operations: locations by name, and meshes of devices."""

    locations: Mapping[str, Location]
    meshes: Mapping[str, Mesh]
    _places: dict[Location, Mapping[str, str | int]] = field(
        default_factory=dict[Location, "Mapping[str, str | int]"]
    )

    def metadata(self, location: Location) -> Mapping[str, str | int]:
        """A location as metadata; many operations share one."""
        found = self._places.get(location)
        if found is None:
            found = _metadata(place_of(location, self.locations))
            self._places[location] = found
        return found


def common_attributes(
    given: Mapping[str, Any], location: Location | None, shape: Shape, context: ModuleContext
) -> dict[str, Any]:
    """The attributes in HLO that stand for a location, shardings and frontend attributes."""
    found: dict[str, Any] = {}
    if location is not None and (metadata := context.metadata(location)):
        found["metadata"] = metadata
    if not given:
        return found
    sharding = given.get("mhlo.sharding")
    if not isinstance(sharding, str):
        sharding = sharding_of(
            given.get("sdy.sharding", given.get("sharding")), shape, context.meshes
        )
    if sharding[:1] == "{" and sharding[-1] == "}":
        found["sharding"] = sharding
    notes = given.get("mhlo.frontend_attributes")
    if isinstance(notes, dict):
        kept = {str(name): value for name, value in notes.items() if isinstance(value, str)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - read so
        found |= {"frontend_attributes": MappingProxyType(kept)} if kept else {}
    return found


def _metadata(place: SourcePlace) -> Mapping[str, str | int]:
    found: dict[str, str | int] = {}
    if place.name:
        found["op_name"] = place.name
    if place.file:
        found |= {"source_file": place.file, "source_line": place.line}
    return MappingProxyType(found)
