"""Data moved between two linear layouts, and reads of shared memory by a warp through them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import inf
from typing import Final, TypeAlias

from indexing.errors import ShapeError
from indexing.exact import bits
from indexing.layout.linear.layout import BLOCK, LANE, OFFSET, REGISTER, WARP, LinearLayout
from simplifier.errors import INTEGER, check_type, listed, naming_wrong_arguments, quoted
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
    elimination = bits.Elimination(outer.matrix)
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
        reached = bits.Elimination([element for bit, element in given.items() if bit[0] in near])
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
    _check_bytes("shared_access", element_bytes)
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


def _check_bytes(where: str, element_bytes: int) -> None:
    check_type(element_bytes, INTEGER, f"{where}: element_bytes", "an integer")
    if element_bytes not in (1, 2, 4, 8, 16):
        message = f"elements of {element_bytes} bytes; expected 1, 2, 4, 8 or 16"
        raise ShapeError(f"{where}: {message}")


def _words(starts: list[int], width: int, element_bytes: int) -> dict[int, set[int]]:
    """The words of each bank that accesses touch; they begin at these elements."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for start in starts:
        aligned = start // width * width * element_bytes
        for byte in range(aligned, aligned + width * element_bytes):
            found[byte // WORD_BYTES % BANKS].add(byte // WORD_BYTES)
    return found


# The best layout of a buffer in shared memory, over the field of two elements.
#
# The lowest bits of an offset count in a vector, the next ones choose a bank, the others a row of
# all banks. Elements in one bank differ by a sum of the bases of the row. So lanes that work at the
# same time are in conflict only if some of their sums are such sums: the subspace of the rows has
# to avoid the subspaces of the lanes. What it cannot avoid doubles the wavefronts for each bit.


_Images: TypeAlias = "Mapping[tuple[str, int], int]"
"""The element of each bit of a place."""


@dataclass(frozen=True, slots=True, repr=False)
class SharedChoice(Displayed):
    """A layout of shared memory, and how a warp gets at all elements through some layouts.

    Attributes:
        layout: from an offset to the element.
        accesses: one of each of the given layouts.
        wavefronts: how often the banks work for all registers of all of them.
        least: how often they do at least, in any layout with vectors that all of them have; or in
            any layout at all, as they give no more than a word at a time.
    """

    layout: LinearLayout
    accesses: tuple[SharedAccess, ...]
    wavefronts: int
    least: int

    @property
    def is_least(self) -> bool:
        """Whether it is proved that no such layout needs fewer."""
        return self.wavefronts <= self.least

    def __str__(self) -> str:
        proof = "and none needs fewer" if self.is_least else f"and at least {self.least} are needed"
        head = f"{self.wavefronts} wavefronts, {proof}"
        return "\n".join([head, *map(str, self.accesses), str(self.layout)])


@naming_wrong_arguments
def best_shared(accesses: Sequence[LinearLayout], element_bytes: int) -> SharedChoice:
    """The layout of a buffer with the fewest bank conflicts for reads and writes of a warp.

    ``accesses`` are the distributed layouts through which the buffer is read and written. Vectors
    are those that all of them have. Two accesses never need to be in conflict. For more, all
    layouts of a small buffer are tried; of a large one, swizzles by up to three bits.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.
        ShapeError: there is no access, or as :func:`shared_access`.

    Source:
        arXiv 2505.23819, on optimal swizzles.

    >>> from indexing.layout.linear import blocked, to_map
    >>> rows = blocked((32, 32), (1, 1), (1, 32), (1, 1), (1, 0))
    >>> columns = blocked((32, 32), (1, 1), (32, 1), (1, 1), (0, 1))
    >>> found = best_shared([rows, columns], 4)
    >>> [each.bank_conflicts for each in found.accesses], found.is_least
    ([0, 0], True)
    >>> print(to_map(found.layout))
    (offset) -> (bitxor(offset floordiv 32, offset mod 32), offset floordiv 32),
    domain: offset in [0, 1023]
    """
    for each in accesses:
        check_type(each, LinearLayout, "best_shared: an access", "a LinearLayout")
    _check_bytes("best_shared", element_bytes)
    if not accesses:
        raise ShapeError("best_shared: no access is given; expected one or more")
    names, size = [*accesses[0].out_dims], sum(accesses[0].out_bits.values())
    images = [_images(each.with_out_dims(names)) for each in accesses]
    vector = _common_vector(images, element_bytes)
    width = 1 << len(vector)
    words, row = WORD_BYTES // element_bytes, BANKS * WORD_BYTES // element_bytes
    lane_bits = [(row // max(width, words)).bit_length() - 1] * len(images)
    lanes = [
        [image for (name, bit), image in each.items() if name == LANE and bit < count]
        for each, count in zip(images, lane_bits, strict=True)
    ]
    word = _completed(vector, (lane for each in lanes for lane in each), words.bit_length() - 1)
    search = _RowSearch(word, lanes, [_turns(each, width, element_bytes) for each in accesses])
    rows = search.rows(size, max(0, size - row.bit_length() + 1))
    columns = _completed([*rows, *word], (1 << bit for bit in range(size)), size)[len(rows) :]
    layout = LinearLayout.of_matrix([*columns, *rows], {OFFSET: size}, accesses[0].out_bits)
    found = tuple(shared_access(each, layout, element_bytes) for each in accesses)
    total = sum(
        each.in_dims.get(REGISTER, 1) // one.vector_width * one.wavefronts
        for each, one in zip(accesses, found, strict=True)
    )
    is_bound = width >= words and search.least <= total
    least = search.least if is_bound else sum(map(_moved, images)) * element_bytes // _ROW_BYTES
    return SharedChoice(layout, found, total, least)


def _moved(images: _Images) -> int:
    """The different elements that a warp has."""
    held = [image for (name, _), image in images.items() if name in (REGISTER, LANE)]
    return 1 << bits.Elimination(held).rank


_ROW_BYTES: Final = BANKS * WORD_BYTES


def _common_vector(images: Sequence[_Images], element_bytes: int) -> list[int]:
    """The elements next to each other that all accesses have in registers of one thread."""
    most = (MAX_ACCESS_BYTES // element_bytes).bit_length() - 1
    held = [{image for (name, _), image in each.items() if name == REGISTER} for each in images]
    common = held[0].intersection(*held[1:]) - {0}
    return sorted(common)[:most]


def _completed(basis: Sequence[int], candidates: Iterable[int], size: int) -> list[int]:
    """A basis with the first candidates that are independent of it, up to a size."""
    found = [*basis]
    for each in candidates:
        if len(found) < size and bits.Elimination(found).solution(each) is None:
            found.append(each)
    return found


def _turns(access: LinearLayout, width: int, element_bytes: int) -> int:
    """How often a warp works for all registers, in parts of 128 bytes at most."""
    lanes, registers = access.in_dims.get(LANE, 1), access.in_dims.get(REGISTER, 1)
    at_once = BANKS * WORD_BYTES // max(WORD_BYTES, width * element_bytes)
    return max(1, registers // width) * max(1, lanes // at_once)


class _RowSearch:
    """Looks for bases of the rows of banks that no sums of lanes are in."""

    def __init__(
        self, word: Sequence[int], lanes: Sequence[Sequence[int]], turns: Sequence[int]
    ) -> None:
        self._word = [*word]
        self._lanes = [[*word, *each] for each in lanes]
        self._turns = turns
        self.least = 0

    def rows(self, size: int, count: int) -> list[int]:
        """So many bases of numbers of ``size`` bits; ``least`` is the cost of the best ones."""
        banks = size - count - len(self._word)
        over = (bits.Elimination(each).rank - len(self._word) - banks for each in self._lanes)
        needed = (turns << max(0, each) for turns, each in zip(self._turns, over, strict=True))
        self.least = sum(needed)
        is_small = size <= _SMALL
        picked = range(1, (size if is_small else MAX_BITS) + 1)
        choices = chain.from_iterable(combinations(range(size), each) for each in picked)
        candidates = [sum(1 << bit for bit in each) for each in choices]
        best, is_proved = self._best(candidates, count)
        if is_small and is_proved:
            self.least = self._cost(best)
        return best

    def _cost(self, rows: Sequence[int]) -> int:
        """The wavefronts: each sum of lanes that is one of rows doubles them."""
        apart = bits.Elimination([*self._word, *rows]).rank
        shared = (
            bits.Elimination(each).rank + apart - bits.Elimination([*each, *rows]).rank
            for each in self._lanes
        )
        both = zip(self._turns, shared, strict=True)
        return sum(turns << (common - len(self._word)) for turns, common in both)

    def _best(self, candidates: Sequence[int], count: int) -> tuple[list[int], bool]:
        """The rows of least cost, found by depth first, and whether all were tried."""
        best, limit = list[int](), inf
        stack: list[tuple[list[int], int]] = [([], 0)]
        steps = 0
        while stack and limit > self.least and (steps < _MAX_STEPS or not best):
            steps += 1
            rows, first = stack.pop()
            if self._cost(rows) >= limit:
                continue
            if len(rows) == count:
                best, limit = rows, self._cost(rows)
                continue
            apart = bits.Elimination([*self._word, *rows])
            following = [
                ([*rows, each], place + 1)
                for place, each in enumerate(candidates[first:], first)
                if apart.solution(each) is None
            ]
            following.reverse()  # of equal ones, the simplest is tried first
            stack += sorted(following, key=lambda option: self._cost(option[0]), reverse=True)
        return best, not stack or limit <= self.least


_SMALL: Final = 8
"""The bits of a buffer of which all layouts are tried."""

_MAX_STEPS: Final = 2000
"""The subspaces of rows that are tried; the best one so far is the answer, without a proof."""

MAX_BITS: Final = 3
"""The bits of a row that are flipped in a swizzle of a larger buffer."""
