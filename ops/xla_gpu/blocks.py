"""Block schedules: a block computes a tile, and its threads share each array that it touches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, cast

from indexing import IndexingMap, Tile, TileError
from indexing.layout import Shape
from indexing.passes import Constraint, tile_of
from ops.fusion.fusion import FusionError
from ops.hlo import Instruction
from ops.index_maps import check_count
from ops.xla_gpu.launch import (
    WARP_SIZE,
    Access,
    AnyOrigin,
    LaunchDimensions,
    Schedule,
    block_number,
    check_positive,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from simplifier import forms
from simplifier.forms import Form, facts_of

VECTOR_BITS: Final = 128
"""The most that a thread loads with one instruction."""


@dataclass(frozen=True, slots=True)
class BlockSchedule(Schedule):
    """A :class:`Schedule` in which each block computes one tile of the result.

    Attributes:
        tile: the sizes of a tile of the result.
        result: the array that is written.
    """

    tile: tuple[int, ...]
    result: Shape

    def load(
        self,
        indexing: IndexingMap,
        operand: Shape,
        steps: Sequence[int] = (),
        origins: tuple[AnyOrigin, ...] = (),
    ) -> Access:
        """Loads of an operand by each thread, if a block loads the tile that belongs to its own.

        ``indexing`` leads from elements of the result to those of the operand. A block goes through
        its last ranges in ``steps`` of so many values, as through the contracted dimension of a
        dot. ``origins`` are those of its runtime variables. Where the elements form no tile, or
        have values of their own, a thread loads those that its own elements of the result need.

        >>> from indexing.layout import Shape
        >>> from ops import broadcast
        >>> result, bias = Shape.parse("f32[64,256]"), Shape.parse("f32[256]")
        >>> schedule = block_schedule(result, (16, 64), warps=4)
        >>> print(schedule.load(broadcast((256,), (64, 256), (1,)).output_to_input[0], bias))
        (th_x, bl_x) -> ((bl_x mod 4) * 64 + th_x mod 64), domain: th_x in [0, 127],
        bl_x in [0, 15]
        """
        ranges = len(indexing.ranges)
        stepped = indexing.ranges_to_dims(range(ranges - len(steps), ranges))
        try:
            tile = tile_of(stepped.simplify(), stepped.dims, [*self.tile, *steps])
        except TileError:
            tile = None
        indices = [form for origin in origins for form in origin.map.forms]
        sizes = [size for _, size, _ in tile.formulas.results] if tile else []
        if tile is None or not all(form.is_constant for form in (*indices, *sizes)):
            return self.writes[0].through(indexing, operand, origins)
        return Access(self._loaded(tile, operand), operand, origins)

    def _loaded(self, tile: Tile, operand: Shape) -> IndexingMap:
        """The elements of a tile that each thread loads, in every round.

        Tiles are numbered as far as the map reaches, which may be less than the result.
        """
        counts = [count.constant if count else 1 for count in tile.tiles]
        rounds = counts[self.result.rank :]
        rows = tile.formulas.results
        sizes = [size.constant for _, size, _ in rows]
        shared = _Distribution.of(sizes, operand, self.launch.threads[0])
        first = len(rounds)
        positions = shared.positions(first)
        ids = (*self._ids(), *map(loop_id, range(first)))
        values = {f"t{number}": id_ for number, id_ in enumerate(ids)}
        values |= {f"i{number}": position for number, position in enumerate(positions)}
        found = [
            offset + forms.product((stride, forms.variable(f"i{number}")))
            for number, (offset, _, stride) in enumerate(rows)
        ]
        *results, condition = forms.substitute((*found, tile.formulas.condition), values)
        loops = {f"step_id{number or ''}": count for number, count in enumerate(rounds)}
        limits = [*within(counts, ids), *within(sizes, positions), *facts_of(condition)]
        names = tile.domain.runtime, tile.domain.parameters
        return self.launch.map(results, loops | shared.loops, limits, *names)

    def _ids(self) -> tuple[Form, ...]:
        """The number of the tile of a block along each dimension."""
        pairs = zip(self.result.dimensions, self.tile, strict=True)
        return unflattened(block_number(self.launch), [step_count(*pair) for pair in pairs])


def block_schedule(result: Shape, tile: Sequence[int], *, warps: int = 4) -> BlockSchedule:
    """Each block computes a tile of the result, as a program of Triton does.

    A tile has power-of-two sizes in the registers of a block; what is beyond the sizes given, or
    beyond the array, is masked. Lanes lie along the minor dimension, each with up to 16 bytes of
    neighbours, then along the next. If a tile has fewer elements than the block has threads, the
    first threads write.

    Shapes:
        result: any array. Its layout says which dimension is the minor one; tiles are numbered in
            row-major order.
        launch: a block of so many ``warps`` for each tile.

    Source:
        XLA's Triton emitter; the distribution among threads is that of Triton's blocked layout as
        its coalescing pass sets it. The rest of Triton's compiler may choose another.

    Raises:
        ShapeError: there is not a positive size for each dimension, or no warp.

    >>> from indexing.layout import Shape
    >>> schedule = block_schedule(Shape.parse("f32[8,16,100]"), (1, 2, 100), warps=2)
    >>> schedule.launch
    LaunchDimensions(threads=(64, 1, 1), blocks=(64, 1, 1))
    >>> print(schedule.writes[0])
    (th_x, bl_x)[vector_id] ->
    (bl_x floordiv 8, (bl_x mod 8) * 2 + th_x floordiv 32, (th_x mod 32) * 4 + vector_id),
    domain: th_x in [0, 56], bl_x in [0, 63], vector_id in [0, 3], th_x mod 32 in [0, 24]
    >>> schedule.writes_exactly_once()
    True
    """
    check_count("block", "the tile", tile, result.rank)
    check_positive("block", "warps", warps)
    for size in tile:
        check_positive("block", "a size of the tile", size)
    counts = [step_count(*pair) for pair in zip(result.dimensions, tile, strict=True)]
    launch = LaunchDimensions.of(prod(counts), warps * WARP_SIZE)
    shared = _Distribution.of(tile, result, warps * WARP_SIZE)
    own = shared.positions(0)
    ids = unflattened(block_number(launch), counts)
    index = [id_ * size + part for id_, size, part in zip(ids, tile, own, strict=True)]
    limits = [*within(result.dimensions, index), *within(tile, own), *shared.first_threads()]
    written = launch.map(index, shared.loops, limits)
    return BlockSchedule(launch, (), (Access(written, result),), tuple(tile), result)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Division of a tile among the threads of a block.

    Attributes:
        sizes: of the tile, rounded up to powers of 2.
        order: its dimensions, minor ones first.
        vector: neighbours along the minor dimension that a thread has.
        threads: how many lie along each dimension, in the lanes of a warp and in warps.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    vector: int
    threads: tuple[tuple[int, ...], tuple[int, ...]]

    @classmethod
    def of(cls, tile: Sequence[int], array: Shape, count: int) -> _Distribution:
        """The distribution of a tile of an array among so many threads."""
        sizes = tuple(1 << (size - 1).bit_length() for size in tile)
        order = array.array_layout.minor_to_major
        vector = _vector_size(sizes, array, count)
        lanes, warps = [1] * len(sizes), [1] * len(sizes)
        left_lanes, left_warps = WARP_SIZE, count // WARP_SIZE
        for axis in order:
            own = vector if axis == order[0] else 1
            wanted = max(1, sizes[axis] // own)
            lanes[axis] = min(wanted, left_lanes)
            warps[axis] = min(max(1, wanted // lanes[axis]), left_warps)
            left_lanes //= lanes[axis]
            left_warps //= warps[axis]
        if order:  # the outermost dimension takes what is left
            lanes[order[-1]] *= left_lanes
            warps[order[-1]] *= left_warps
        return cls(sizes, order, vector, (tuple(lanes), tuple(warps)))

    @property
    def loops(self) -> dict[str, int]:
        """The loops of a thread: through the tile, and along its vector."""
        return {"repeat_id": prod(self._repeats), "vector_id": self.vector}

    def positions(self, first_loop: int) -> list[Form]:
        """The index in the tile of an element of a thread; its loops begin with this one."""
        repeats = self._digits(loop_id(first_loop), self._repeats)
        return [
            forms.mod(own, forms.constant(size)) + repeat * covered
            for own, size, repeat, covered in zip(
                self._own(first_loop), self.sizes, repeats, self._covered, strict=True
            )
        ]

    def first_threads(self) -> list[Constraint]:
        """Leaves the first thread of those that have the same elements, if a tile is small."""
        if not self.order:
            return within([1], [thread_id()])
        ends = [min(pair) for pair in zip(self.sizes, self._covered, strict=True)]
        return within(ends, self._own(0))

    def _own(self, first_loop: int) -> list[Form]:
        """The place of a thread along each dimension, before the tile ends."""
        lane = forms.mod(thread_id(), forms.constant(WARP_SIZE))
        warp = forms.floordiv(thread_id(), forms.constant(WARP_SIZE))
        lanes, warps = self.threads
        digits = zip(self._digits(warp, warps), lanes, self._digits(lane, lanes), strict=True)
        own = [warp * count + lane for warp, count, lane in digits]
        if self.order:
            minor = self.order[0]
            own[minor] = own[minor] * self.vector + loop_id(first_loop + 1)
        return own

    def _digits(self, number: Form, sizes: Sequence[int]) -> list[Form]:
        """The index of a number along each dimension, minor ones fastest."""
        outer_first = self.order[::-1]
        digits = unflattened(number, [sizes[axis] for axis in outer_first])
        by_axis = dict(zip(outer_first, digits, strict=True))
        return [by_axis[axis] for axis in range(len(sizes))]

    @property
    def _covered(self) -> tuple[int, ...]:
        """Number of elements along each dimension that all threads have at a time."""
        lanes, warps = self.threads
        counts = [lane * warp for lane, warp in zip(lanes, warps, strict=True)]
        if self.order:
            counts[self.order[0]] *= self.vector
        return tuple(counts)

    @property
    def _repeats(self) -> tuple[int, ...]:
        """Number of repetitions along each dimension."""
        pairs = zip(self.sizes, self._covered, strict=True)
        return tuple(max(1, size // covered) for size, covered in pairs)


def _vector_size(sizes: Sequence[int], array: Shape, threads: int) -> int:
    """Number of neighbours of a thread: as one instruction loads, where rows are aligned."""
    if not sizes:
        return 1
    minor = array.array_layout.minor_to_major[0]
    most = [VECTOR_BITS // array.element_size_in_bits, prod(sizes) // threads, sizes[minor]]
    if array.rank > 1:
        most.append(array.dimensions[minor] & -array.dimensions[minor])
    return max(1, min(most))


# The `backend_config` of a kernel of tiles: its library, its tiles, and its warps.


@dataclass(frozen=True, slots=True)
class BlockLevel:
    """The parameters of a fusion whose blocks compute tiles.

    Attributes:
        kind: what XLA calls the library, such as ``__triton``.
        output_tiles: the tile of each array of the result; empty if the library chooses.
        warps: how many warps a block has.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8,128] parameter(0) ROOT r = f32[8,128] negate(p) }
    ... ENTRY e { p = f32[8,128] parameter(0)
    ...   ROOT r = f32[8,128] fusion(p), kind=kCustom, calls=f, backend_config={
    ...     "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
    ...       "num_warps":"2","output_tiles":[{"sizes":["1","128"]}]}}} }''')
    >>> block_level(module.entry.root)
    BlockLevel(kind='__triton', output_tiles=((1, 128),), warps=2)
    """

    kind: str
    output_tiles: tuple[tuple[int, ...], ...]
    warps: int


def block_level(fusion: Instruction) -> BlockLevel | None:
    """The block level in the ``backend_config`` of a fusion; ``None`` if it names no library.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    try:
        return _read(_config(fusion).get("fusion_backend_config") or {})
    except (AttributeError, TypeError, ValueError):
        raise _unreadable(fusion) from None


def _read(config: Any) -> BlockLevel | None:  # noqa: ANN401 - JSON
    if not config.get("kind"):
        return None
    blocks: Any = config.get("block_level_fusion_config") or {}
    tiles = tuple(_numbers(tile.get("sizes", ())) for tile in blocks.get("output_tiles", ()))
    return BlockLevel(str(config["kind"]), tiles, int(blocks.get("num_warps", 1)))


def contracted_tile(dot: Instruction) -> tuple[int, ...]:
    """The tile of each contracted dimension that the ``backend_config`` of a dot names.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    try:
        return _numbers(_config(dot).get("sizes", ()))
    except (TypeError, ValueError):
        raise _unreadable(dot) from None


def _unreadable(instruction: Instruction) -> FusionError:
    message = f"fusion: the backend_config of %{instruction.name} names no tiles that can be read"
    return FusionError(f"{message}; expected lists of sizes, and a number of warps")


def _config(instruction: Instruction) -> dict[str, Any]:
    """The object of a ``backend_config``, which older texts hold as a string; or an empty one."""
    value: Any = instruction.attributes.get("backend_config", "")
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _numbers(texts: Iterable[str | int]) -> tuple[int, ...]:
    return tuple(map(int, texts))
