"""Questions about modules whose answers are tables: how fusions use memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from indexing import MapError
from indexing.layout import ShapeError
from ops.cli.reports import TableRow, table
from ops.fusion import FusionError, schedule_of
from ops.hlo import HloTextError
from ops.performance import DEVICES, coalescing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ops.cli.documents import Fields
    from ops.hlo import HloModule, Instruction
    from ops.modules.analysis import ModuleAnalysis
    from ops.performance import Coalescing
    from ops.schedules import Access

WITH_WARPS: Final = tuple(name for name, device in DEVICES.items() if device.warp_size)
"""The names of the devices whose threads run in warps."""

_HEADING: Final = ("wasted", "sectors", "ideal", "ratio", "vector", "XLA", "access")


@dataclass(frozen=True, slots=True)
class FusionCoalescing:
    """What the warps of each fusion load of its operands and results, the most wasteful first."""

    name: ClassVar = "accesses"

    device: str
    unroll: int

    def about(self) -> Fields:
        """The device, and how many neighbours a thread handles."""
        return {"device": self.device, "unroll": self.unroll}

    def subjects(self, module: HloModule) -> Sequence[TableRow | HloTextError]:
        """A row for each access, then one for each fusion without a schedule, then errors."""
        fusions = (each for each in module.instructions if each.opcode == "fusion")
        found = [row for fusion in fusions for row in self._rows(fusion)]
        rows = [row for row in found if isinstance(row, _AccessRow)]
        rows.sort(key=lambda row: -row.wasted)
        errors = [error for error in found if isinstance(error, HloTextError)]
        return [*table(_HEADING, [(row.cells, row.fields) for row in rows]), *errors]

    def answer(self, analysis: ModuleAnalysis, subject: TableRow | HloTextError) -> TableRow:  # noqa: ARG002 - as all questions
        """The row, or the error."""
        if isinstance(subject, HloTextError):
            raise subject
        return subject

    def _rows(self, fusion: Instruction) -> Iterator[_AccessRow | HloTextError]:
        try:
            yield from list(self._accesses(fusion))
        except HloTextError as error:
            yield error
        except (FusionError, MapError, ShapeError) as error:
            yield _AccessRow.without(fusion, str(error))

    def _accesses(self, fusion: Instruction) -> Iterator[_AccessRow]:
        schedule = schedule_of(fusion, unroll=self.unroll)
        sides: tuple[tuple[str, int, Callable[[int], Sequence[Access]]], ...] = (
            ("operand", len(fusion.operands), schedule.reads),
            ("result", len(fusion.shape.arrays), schedule.writes),
        )
        for role, count, accesses in sides:
            for number in range(count):
                for access in accesses(number):
                    found = coalescing(access, DEVICES[self.device])
                    yield _AccessRow.of(fusion, role, number, access, found)


class _AccessRow(NamedTuple):
    """The cells of an access and its fields; a fusion without a schedule comes last."""

    wasted: int
    cells: Sequence[str]
    fields: Fields

    @classmethod
    def of(
        cls, fusion: Instruction, role: str, number: int, access: Access, found: Coalescing
    ) -> _AccessRow:
        wasted = found.sectors - found.ideal_sectors
        cells = (
            str(wasted),
            str(found.sectors),
            str(found.ideal_sectors),
            f"{found.ratio:.2f}",
            str(found.vector_width),
            "yes" if found.is_coalesced else "no",
            f"%{fusion.name}, {role} {number}, {access.shape}",
        )
        about = {"fusion": fusion.name, role: number, "shape": str(access.shape)}
        return cls(wasted, cells, about | {"wasted_sectors": wasted} | asdict(found))

    @classmethod
    def without(cls, fusion: Instruction, reason: str) -> _AccessRow:
        cells = ("",) * (len(_HEADING) - 1) + (reason,)
        return cls(-1, cells, {"fusion": fusion.name, "unknown": reason})
