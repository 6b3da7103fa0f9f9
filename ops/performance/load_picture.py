"""Picture of the elements that the threads of a warp read: a row for each line of the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from indexing import IndexingMap
from indexing.layout import ElementType
from indexing.pictures.grids import Box, Cell, painted
from indexing.pictures.svg import Panel, Picture, legend, paragraphs, text, text_width
from ops.limits import Device
from ops.performance.coalescing import survey
from ops.performance.tally import BITS_OF_BYTE
from ops.performance.warps import loads_of_warps
from ops.xla_gpu import Access

_MAX_LINES: Final = 32
"""Of the cache: as many as the threads of most warps."""

_HEIGHT: Final = 20
_SECTOR_GAP: Final = 4
_MAX_NUMBERED: Final = 32
"""Elements of a line that have room for the number of a thread."""


@dataclass(frozen=True, slots=True, repr=False)
class LoadPicture(Picture):
    """One load of a warp: the elements that its threads want, and the sectors that come.

    Attributes:
        title: what all loads of the access cost.
        threads: for each element that is wanted, by its offset, the threads that want it.
        elements_of_line: how many elements a line of the cache has.
        elements_of_sector: how many come together.
        bytes_of_line: of a line of the cache.
    """

    title: str
    threads: Mapping[int, tuple[int, ...]]
    elements_of_line: int
    elements_of_sector: int
    bytes_of_line: int

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the cache that are touched, by number."""
        return tuple(sorted({offset // self.elements_of_line for offset in self.threads}))

    @property
    def sectors(self) -> frozenset[int]:
        """The sectors that come, by number."""
        return frozenset(offset // self.elements_of_sector for offset in self.threads)

    def panels(self) -> Iterator[Panel]:
        """A row for each line of the cache, with a legend."""
        lines = self.lines[:_MAX_LINES]
        cells = {
            line: [self._cell(offset) for offset in self._offsets(line)] for line in self.lines
        }
        used = {cell.color for row in cells.values() for cell in row}
        yield paragraphs([self._summary], "label")
        yield self._rows({line: cells[line] for line in lines})
        yield legend({class_: meaning for class_, meaning in _MEANINGS.items() if class_ in used})
        yield paragraphs(self._notes(), "label")

    def __str__(self) -> str:
        return "\n".join([self.title, self._summary, *self._notes()])

    @property
    def _summary(self) -> str:
        come = len(self.sectors) * self.elements_of_sector
        return (
            f"the load of a warp that touches most: {len(self.threads)} elements wanted, "
            f"{come} loaded, in {len(self.sectors)} sectors of {len(self.lines)} lines"
        )

    def _notes(self) -> list[str]:
        left_out = len(self.lines) - _MAX_LINES
        return [f"The first {_MAX_LINES} of {len(self.lines)} lines are shown."] * (left_out > 0)

    def _rows(self, cells: Mapping[int, Sequence[Cell]]) -> Panel:
        """The lines of the cache by number, each behind the address at which it begins."""
        starts = [f"byte {line * self.bytes_of_line:,}" for line in cells]
        left = max((text_width(start, "label") for start in starts), default=0) + 8
        width = 20 if self.elements_of_line <= _MAX_NUMBERED else 9
        xs = [
            left + number * width + number // self.elements_of_sector * _SECTOR_GAP
            for number in range(self.elements_of_line)
        ]
        boxes = [
            Box(x, row * _HEIGHT, width, _HEIGHT, cell)
            for row, line in enumerate(cells.values())
            for x, cell in zip(xs, line, strict=True)
        ]
        labels = (
            text(left - 8, row * _HEIGHT + 14, start, "label", "end")
            for row, start in enumerate(starts)
        )
        return Panel(xs[-1] + width, len(cells) * _HEIGHT, (*labels, *painted(boxes)))

    def _offsets(self, line: int) -> range:
        return range(line * self.elements_of_line, (line + 1) * self.elements_of_line)

    def _cell(self, offset: int) -> Cell:
        threads = self.threads.get(offset, ())
        if not threads:
            is_loaded = offset // self.elements_of_sector in self.sectors
            return Cell("loaded" if is_loaded else "untouched")
        color, label = (
            ("wanted", str(threads[0])) if len(threads) == 1 else ("shared", f"{len(threads)}x")
        )
        return Cell(color, label if self.elements_of_line <= _MAX_NUMBERED else "", "thread")


_MEANINGS: Final = {
    "wanted": "wanted by the thread with this number",
    "shared": "wanted by several threads",
    "loaded": "loaded because sectors come whole",
    "untouched": "not loaded",
}


def load_picture(
    access: Access | IndexingMap, device: Device, *, element_type: ElementType | str | None = None
) -> LoadPicture:
    """The load of a warp that touches the most sectors, the first of them.

    Arguments are as for :func:`ops.coalescing`, whose counts are the title. Runtime variables have
    values with which a load touches most.

    Raises:
        MapError, DeviceError, ArgumentError: as :func:`ops.coalescing`.

    >>> from indexing import parse_map
    >>> from ops.performance import A100
    >>> columns = parse_map("(th_x) -> (th_x * 64), domain: th_x in [0, 31]")
    >>> print(load_picture(columns, A100, element_type="f32"))
    32 sectors for 4, ratio 8; 1 loads of 1, not coalesced for XLA
    the load of a warp that touches most: 32 elements wanted, 256 loaded, in 32 sectors of 32 lines
    """
    found, memory, offsets = survey(access, device, element_type)
    width = found.vector_width
    threads: dict[int, tuple[int, ...]] = {}
    most = 0
    for loads in loads_of_warps(offsets, memory.warp_size, memory.period, width):
        _, sectors, *_ = memory.touched(loads.offsets, loads.is_active, width)
        if sectors.max(initial=0) > most:
            row = int(sectors.argmax())
            most = int(sectors[row])
            threads = _threads(loads.offsets[row].tolist(), loads.is_active[row].tolist(), width)
    in_sector, in_line = memory.sector_bits // memory.bits, memory.line_bits // memory.bits
    return LoadPicture(str(found), threads, in_line, in_sector, memory.line_bits // BITS_OF_BYTE)


def _threads(offsets: list[int], is_active: list[bool], width: int) -> dict[int, tuple[int, ...]]:
    """The threads that want each element, of ``width`` neighbours for each of them."""
    found: dict[int, tuple[int, ...]] = {}
    for thread, (offset, wants) in enumerate(zip(offsets, is_active, strict=True)):
        for each in range(offset, offset + width * wants):
            found[each] = (*found.get(each, ()), thread)
    return found
