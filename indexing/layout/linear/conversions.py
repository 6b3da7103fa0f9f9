"""Data moved between two linear layouts, and reads of shared memory by a warp through them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from indexing.errors import ShapeError
from indexing.exact.bits import Elimination
from indexing.layout.linear.layout import BLOCK, LANE, OFFSET, REGISTER, WARP, LinearLayout
from simplifier.errors import INTEGER, check_type, listed, quoted
from simplifier.tools.display import Displayed

BANKS: Final = 32
"""Of the shared memory of NVIDIA's GPUs since Fermi; each gives one word at a time."""

WORD_BYTES: Final = 4
"""Of a word of a bank."""

MAX_ACCESS_BYTES: Final = 16
"""Greatest number of bytes that one instruction of a thread reads, as ``ld.shared.v4.b32``."""


def invert_and_compose(layout: LinearLayout, outer: LinearLayout) -> LinearLayout:
    """Map from a place of ``layout`` to a place of ``outer`` that has the same element.

    Where both have the same basis, the place stays; otherwise bits that change nothing are 0.

    Raises:
        ArgumentError: an argument is no layout.
        ShapeError: the out-dimensions differ, or ``outer`` lacks elements.

    >>> from indexing.layout.linear import LinearLayout
    >>> rows = LinearLayout({"register": [(1, 0)], "lane": [(0, 1)]}, ["dim0", "dim1"])
    >>> columns = LinearLayout({"register": [(0, 1)], "lane": [(1, 0)]}, ["dim0", "dim1"])
    >>> invert_and_compose(rows, columns)(register=1, lane=0)
    {'register': 0, 'lane': 1}
    """
    for each in (layout, outer):
        check_type(each, LinearLayout, "invert_and_compose: the layout", "a LinearLayout")
    if layout.out_dims != outer.out_dims:
        message = f"elements of {layout.out_dims} and of {outer.out_dims}"
        raise ShapeError(f"invert_and_compose: {message}; expected the same out-dimensions")
    aligned = layout.with_out_dims(list(outer.out_dims))
    elimination = Elimination(outer.matrix)
    places = {bit: (1 << place, image) for place, (bit, image) in enumerate(_images(outer).items())}
    found: list[int] = []
    for bit, column in _images(aligned).items():
        place, same = places.get(bit, (0, -1))
        number = place if same == column else elimination.solution(column)
        if number is None:
            raise ShapeError(f"invert_and_compose: the outer layout lacks elements of {bit[0]}")
        found.append(number)
    return LinearLayout.of_matrix(found, layout.in_bits, outer.in_bits)


def _images(layout: LinearLayout) -> dict[tuple[str, int], int]:
    """The image of each bit of each in-dimension: the matrix by names."""
    bits = ((name, bit) for name, count in layout.in_bits.items() for bit in range(count))
    return dict(zip(bits, layout.matrix, strict=True))


@dataclass(frozen=True, slots=True, repr=False)
class LayoutConversion(Displayed):
    """Way of data from one distributed layout into another.

    ``places`` leads from a place in the source to that in the destination. ``moves`` says by what
    means, the most costly that is needed:

    * ``"nothing"``: each element stays.
    * ``"register"``: threads rename their registers.
    * ``"lane"``: lanes of a warp exchange elements, by shuffles.
    * ``"warp"``: warps exchange elements, through shared memory.
    * ``"block"``: blocks of a cluster do, through distributed shared memory.
    """

    places: LinearLayout
    moves: str

    def __str__(self) -> str:
        return f"moves: {self.moves}\n{self.places}"


def conversion(source: LinearLayout, destination: LinearLayout) -> LayoutConversion:
    """The way of data from a distributed layout into another.

    A place of the destination takes its element from the nearest place of the source that has it:
    its own, another register of its thread, another lane of its warp, and so on.

    Raises:
        ArgumentError: an argument is no layout.
        ShapeError: an in-dimension is none of register, lane, warp and block, the source lacks
            elements, or as :func:`invert_and_compose`.

    >>> from indexing.layout.linear import blocked, nvidia_mma
    >>> rows = blocked((32, 32), (1, 2), (8, 4), (1, 1), (1, 0))
    >>> conversion(rows, nvidia_mma((32, 32), 2, (1, 1), (16, 8))).moves
    'register'
    >>> conversion(rows, blocked((32, 32), (1, 4), (8, 4), (1, 1), (1, 0))).moves
    'lane'
    """
    places = invert_and_compose(source, destination)
    for each in (source, destination):
        other = [name for name in each.in_dims if name not in _LEVELS]
        if other:
            message = f"the in-dimension {quoted(other[0])}; expected one of {listed(_LEVELS)}"
            raise ShapeError(f"conversion: {message}; shared_access is for shared memory")
    if not source.is_surjective:
        raise ShapeError("conversion: the source has no place for some elements")
    aligned = source.with_out_dims([*destination.out_dims])
    return LayoutConversion(places, _moves(aligned, destination))


_LEVELS = (REGISTER, LANE, WARP, BLOCK)


def _moves(source: LinearLayout, destination: LinearLayout) -> str:
    """The nearest level from which each place of the destination finds its element."""
    given, wanted = _images(source), _images(destination)
    if all(given.get(bit) == element for bit, element in wanted.items()):
        return "nothing"
    for number, level in enumerate(_LEVELS):
        near = _LEVELS[: number + 1]
        reached = Elimination([element for bit, element in given.items() if bit[0] in near])
        if all(
            (bit[0] in near or bit in given)
            and reached.solution(element ^ (0 if bit[0] in near else given[bit])) is not None
            for bit, element in wanted.items()
        ):
            return level
    return BLOCK


def vector_width(distributed: LinearLayout, shared: LinearLayout | None = None) -> int:
    """The number of elements that a thread holds side by side and aligned, for one access.

    Side by side along the last out-dimension, or in shared memory if its layout is given.

    Raises:
        ArgumentError: an argument is no layout.
        ShapeError: as :func:`invert_and_compose`.

    >>> from indexing.layout.linear import blocked, swizzled_shared
    >>> rows = blocked((32, 32), (1, 8), (8, 4), (1, 1), (1, 0))
    >>> vector_width(rows)
    8
    >>> vector_width(rows, swizzled_shared((32, 32), vec=4, per_phase=1, max_phase=8))
    4
    """
    check_type(distributed, LinearLayout, "vector_width: the layout", "a LinearLayout")
    return _width_of(distributed if shared is None else _offsets(distributed, shared))


def _width_of(offsets: LinearLayout) -> int:
    """The elements side by side: each doubling is one bit of the register, and of nothing else."""
    images = _images(offsets)
    place = sum(list(offsets.out_bits.values())[:-1])
    width = 1
    while True:
        holders = [bit for bit, image in images.items() if image >> place & width]
        is_alone = len(holders) == 1 and images[holders[0]] == width << place
        if not is_alone or holders[0][0] != REGISTER:
            return width
        width *= 2


def _offsets(distributed: LinearLayout, shared: LinearLayout) -> LinearLayout:
    """Map from a place in registers to the offset in shared memory."""
    found = invert_and_compose(distributed, shared)
    return found.sublayout(found.in_dims, [OFFSET])


@dataclass(frozen=True, slots=True, repr=False)
class SharedAccess(Displayed):
    """One access of each thread of a warp to shared memory.

    ``vector_width`` elements of a thread are read at once. ``wavefronts`` is how often the banks
    work for it, ``ideal_wavefronts`` how often they would without conflicts.
    """

    vector_width: int
    wavefronts: int
    ideal_wavefronts: int

    @property
    def bank_conflicts(self) -> int:
        """The wavefronts that conflicts add."""
        return self.wavefronts - self.ideal_wavefronts

    def __str__(self) -> str:
        conflicts = f"{self.bank_conflicts} of them for bank conflicts"
        return f"{self.vector_width} elements at once, {self.wavefronts} wavefronts, {conflicts}"


def shared_access(
    distributed: LinearLayout, shared: LinearLayout, element_bytes: int
) -> SharedAccess:
    """Accesses of a warp to registers of a distributed layout in a shared one.

    All accesses of all warps are alike: others differ by an exclusive or, which permutes the banks.
    Lanes that touch the same word share it. Accesses of 8 or 16 bytes go in 2 or 4 parts of a warp.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.
        ShapeError: as :func:`invert_and_compose`, or elements of not 1, 2, 4, 8 or 16 bytes.

    >>> from indexing.layout.linear import blocked, swizzled_shared
    >>> columns = blocked((32, 32), (1, 1), (32, 1), (1, 1), (0, 1))
    >>> plain = swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=1)
    >>> print(shared_access(columns, plain, 4))
    4 elements at once, 32 wavefronts, 28 of them for bank conflicts
    >>> swizzled = swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=32)
    >>> shared_access(columns, swizzled, 4).bank_conflicts
    0
    """
    check_type(distributed, LinearLayout, "shared_access: the layout", "a LinearLayout")
    check_type(shared, LinearLayout, "shared_access: the shared layout", "a LinearLayout")
    check_type(element_bytes, INTEGER, "shared_access: element_bytes", "an integer")
    if element_bytes not in (1, 2, 4, 8, 16):
        message = f"shared_access: elements of {element_bytes} bytes; expected 1, 2, 4, 8 or 16"
        raise ShapeError(message)
    offsets = _offsets(distributed, shared)
    width = min(_width_of(offsets), MAX_ACCESS_BYTES // element_bytes)
    lanes = range(offsets.in_dims.get(LANE, 1))
    starts = [offsets(lane=lane)[OFFSET] if LANE in offsets.in_dims else 0 for lane in lanes]
    access = width * element_bytes
    at_once = len(lanes) * WORD_BYTES // max(WORD_BYTES, access)
    wavefronts = ideal = 0
    for first in range(0, len(lanes), at_once):
        words = _words(starts[first : first + at_once], width, element_bytes)
        wavefronts += max(map(len, words.values()))
        ideal += -(-sum(map(len, words.values())) // BANKS)
    return SharedAccess(width, wavefronts, ideal)


def _words(starts: list[int], width: int, element_bytes: int) -> dict[int, set[int]]:
    """The words of each bank that accesses touch; they begin at these elements."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for start in starts:
        aligned = start // width * width * element_bytes
        for byte in range(aligned, aligned + width * element_bytes):
            found[byte // WORD_BYTES % BANKS].add(byte // WORD_BYTES)
    return found
