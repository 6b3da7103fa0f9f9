"""Which thread of a warp reads which element, as a picture: a row for each line of the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from indexing import IndexingMap
from indexing.layout import ElementType
from indexing.pictures.svg import (
    GAP,
    LINE,
    MAX_WIDTH,
    Colors,
    Panel,
    Picture,
    beside,
    document,
    legend_item,
    paragraphs,
    path,
    rectangle,
    text,
    text_width,
)
from ops.limits import Device
from ops.performance.coalescing import BITS, survey
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

    def svg(self) -> str:
        """A row for each line of the cache, with a legend."""
        panels = (
            paragraphs([self.title], "shape"),
            paragraphs([self._summary], "label"),
            self._lines(),
            self._legend(),
            paragraphs(self._notes(), "label"),
        )
        return document("load-picture", self.title, str(self), panels, _COLORS, _FIXED)

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

    def _lines(self) -> Panel:
        lines = self.lines[:_MAX_LINES]
        starts = [f"byte {line * self.bytes_of_line:,}" for line in lines]
        left = max((text_width(start, "label") for start in starts), default=0) + 8
        width = 20 if self.elements_of_line <= _MAX_NUMBERED else 9
        xs = [
            left + number * width + number // self.elements_of_sector * _SECTOR_GAP
            for number in range(self.elements_of_line)
        ]
        cells = [
            (x, row * _HEIGHT, line * self.elements_of_line + number)
            for row, line in enumerate(lines)
            for number, x in enumerate(xs)
        ]
        elements = (
            *(
                text(left - 8, row * _HEIGHT + 14, start, "label", "end")
                for row, start in enumerate(starts)
            ),
            *self._drawn(cells, width),
        )
        return Panel(xs[-1] + width, len(lines) * _HEIGHT, elements)

    def _drawn(self, cells: Sequence[tuple[float, float, int]], width: float) -> Iterator[str]:
        for class_ in _MEANINGS:
            here = ((x, y) for x, y, offset in cells if self._class_of(offset) == class_)
            yield from path((rectangle(x, y, width, _HEIGHT) for x, y in here), class_)
        yield from path((rectangle(x, y, width, _HEIGHT) for x, y, _ in cells), "edge")
        if self.elements_of_line > _MAX_NUMBERED:
            return
        for x, y, offset in cells:
            wanted_by = self.threads.get(offset, ())
            if wanted_by:
                content = str(wanted_by[0]) if len(wanted_by) == 1 else f"{len(wanted_by)}x"
                yield text(x + width / 2, y + _HEIGHT / 2 + 4, content, "thread", "middle")

    def _class_of(self, offset: int) -> str:
        if offset in self.threads:
            return "wanted" if len(self.threads[offset]) == 1 else "shared"
        return "loaded" if offset // self.elements_of_sector in self.sectors else "untouched"

    def _legend(self) -> Panel:
        classes = {
            self._class_of(line * self.elements_of_line + number)
            for line in self.lines
            for number in range(self.elements_of_line)
        }
        cell = rectangle(1, 1, 24, 14)
        items = [
            legend_item(meaning, cell, class_)
            for class_, meaning in _MEANINGS.items()
            if class_ in classes
        ]
        return beside(items, GAP, MAX_WIDTH) if items else Panel(0, LINE, ())


_MEANINGS: Final = {
    "wanted": "wanted by the thread with this number",
    "shared": "wanted by several threads",
    "loaded": "loaded because sectors come whole",
    "untouched": "not loaded",
}

_COLORS: Final[Colors] = {
    ".wanted": ("fill", "#3182bd", "#7fb8e3"),
    ".shared": ("fill", "#08519c", "#cfe3f7"),
    ".loaded": ("fill", "#f6d9a8", "#6b4a16"),
    ".untouched": ("fill", "#eceff2", "#242b33"),
    ".thread": ("fill", "#ffffff", "#14181d"),
}

_FIXED: Final = """\
.{0} .thread{{font-size:11px}}
"""


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
    return LoadPicture(str(found), threads, in_line, in_sector, memory.line_bits // BITS)


def _threads(offsets: list[int], is_active: list[bool], width: int) -> dict[int, tuple[int, ...]]:
    """The threads that want each element, of ``width`` neighbours for each of them."""
    found: dict[int, tuple[int, ...]] = {}
    for thread, (offset, wants) in enumerate(zip(offsets, is_active, strict=True)):
        for each in range(offset, offset + width * wants):
            found[each] = (*found.get(each, ()), thread)
    return found
