"""How kernels read arrays, and how arrays lie in memory: sectors, tails of tiles, padding, copies.

A layout is edited where all that read the array can read it in another order of dimensions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, permutations
from math import inf, prod
from typing import Any, Final, NamedTuple

from indexing import IndexingMap
from indexing.layout import Shape, copy_is_bitcast, logical_to_linear, transpose_is_bitcast
from ops import xla_gpu
from ops.advice import waste
from ops.advice.kernels import separated
from ops.advice.waste import Measure, Rule, Subject, Waste, bytes_of, changed
from ops.fusion import Fusion
from ops.hlo import HloModule, Instruction, ModuleEditor, edit
from ops.performance.coalescing import Coalescing, coalescing
from ops.performance.kernels import emission_of, tile_of, with_midpoints
from ops.performance.tally import Count, at_least, at_most, sum_of_counts
from ops.rules.control import only_caller
from ops.rules.elementwise import ELEMENTWISE
from ops.tiling import TilingSpace, tilings
from ops.xla_gpu import KERNELS, Access, Emitter, emitter_and_heroes, schedule_of
from simplifier.errors import IndexingError

# Sectors of memory that warps touch.


class KernelSectors(NamedTuple):
    """What the warps of a kernel touch.

    Attributes:
        emitter: of the kernel.
        reads: the reads of each operand, by its number, each with its cost.
        writes: the cost of the writes of all results.
    """

    emitter: Emitter
    reads: tuple[Sequence[tuple[Access, Coalescing]], ...]
    writes: Sequence[Coalescing]


def _sectors(costs: Iterable[Coalescing]) -> Count:
    return sum_of_counts(each.sectors for each in costs)


def sectors_by(subject: Subject, kernel: Instruction) -> KernelSectors | None:
    """What a kernel of XLA's emitters touches, asked once for those that are alike.

    ``None`` if nobody knows its threads, or the device has no sectors.
    """
    if kernel.opcode != "fusion" or subject.device.sector_bytes is None:
        return None
    fusion = Fusion.of_instruction(kernel, registry=subject.registry)
    key = KernelSectors, emission_of(fusion)
    if key not in subject.remembered:
        subject.remembered[key] = _counted(kernel, partial(coalescing, device=subject.device))
    return subject.remembered[key]


def _counted(kernel: Instruction, cost: Callable[[Access], Coalescing]) -> KernelSectors | None:
    try:
        schedule = schedule_of(kernel)
        reads = map(schedule.reads, range(len(kernel.operands)))
        costs = tuple([(access, cost(access)) for access in each] for each in reads)
        writes = [cost(each) for n in kernel.shape.array_indices for each in schedule.writes(n)]
    except IndexingError:  # no threads, or no maps, that could be counted
        return None
    return KernelSectors(schedule.emitter, costs, writes)


def _touched(subject: Subject, kernel: Instruction) -> Count:
    """Sectors that a kernel touches; where nobody knows its threads, those that hold what moves."""
    if known := sectors_by(subject, kernel):
        costs = (cost for _, cost in chain.from_iterable(known.reads))
        return _sectors(chain(costs, known.writes)) * subject.runs_of(kernel)
    moved = at_most(waste.bytes_moved_by(subject, kernel))
    return -(-moved // (subject.device.sector_bytes or 1))


def _touched_by_all(subject: Subject) -> Count:
    return sum_of_counts(_touched(subject, each) for each in subject.summaries)


def sectors_read(subject: Subject, array: Instruction) -> Count:
    """The sectors that all kernels read of an array."""
    return sum_of_counts(
        cost.sectors * subject.runs_of(user)
        for user in array.users
        if (known := sectors_by(subject, user))
        for operand, reads in zip(user.operands, known.reads, strict=True)
        for _, cost in (reads if operand is array else ())
    )


def _of_array(subject: Subject, array: Instruction) -> Measure:
    """The sectors read of an array, among all that kernels touch."""
    figure, bytes_each = waste.of_each([array], sectors_read), subject.device.sector_bytes or 0
    return Measure(f"sectors read of %{array.name}", figure, _touched_by_all, bytes_each)


def uncoalesced(subject: Subject) -> Iterator[Waste]:
    """Reads by warps that touch more sectors than hold what they read.

    Where a reduction or a transpose is kept from its emitter, the fusion should end behind it; else
    the array should lie in another order.
    """
    seen = set[Instruction]()
    has_warps = subject.device.sector_bytes and not subject.is_for_processor
    for kernel in subject.summaries if has_warps else ():
        for array, access in _wasteful(subject, kernel):
            if array not in seen:
                seen.add(array)
                found = _refused(subject, kernel, array) or _turned(subject, kernel, array, access)
                yield from [found] if found else []


def _wasteful(subject: Subject, kernel: Instruction) -> Iterator[tuple[Instruction, Access]]:
    """Operands of which sectors are wasted, with the read that wastes most.

    What fits into the cache of a core is read from there. How lanes lie in a tile is up to Triton.
    """
    cache = subject.device.shared_memory_bytes or 0
    sized = (each for each in kernel.operands if each.shape.is_array)
    large = {each for each in sized if not each.shape.is_unbounded and bytes_of(each) > cache}
    found = sectors_by(subject, kernel) if large else None
    if found is None or found.emitter is Emitter.TRITON:
        return
    for array, reads in zip(kernel.operands, found.reads, strict=True):
        wasted = [at_least(cost.wasted_sectors) for _, cost in reads]
        touched = at_most(_sectors(cost for _, cost in reads))
        if array in large and _MIN_WASTED * sum(wasted) > touched:
            access, _ = reads[wasted.index(max(wasted))]
            if not access.map.parameters:
                yield array, access


_MIN_WASTED: Final = 5
"""A read wastes sectors if more than a fifth of them need not be touched."""


# Arrays that should lie in another order.


def _turned(
    subject: Subject, kernel: Instruction, array: Instruction, access: Access
) -> Waste | None:
    """The array in the order in which threads walk through it.

    All that touches it is counted again: fusions that read it, and one that writes it.
    """
    now, order = array.shape.array_layout.minor_to_major, _order_of_threads(access)
    kernels = [*array.users, *_writer(array)]
    is_free = array.opcode == "fusion" or waste.is_passed(array)
    is_bound = array.is_root or _is_turned_first(array)
    if order == now or not is_free or is_bound or not _are_own(subject, kernels):
        return None
    edited = relaid(subject.module, array=array, order=order)
    touched = waste.of_each(kernels, _touched)
    if at_most(touched(subject.edited(edited))) >= at_most(touched(subject)):
        return None
    turning = _turning(kernel, array)
    readers = waste.names_of(each for each in array.users if each is not kernel)
    return Waste(
        kind="uncoalesced",
        instruction=turning,
        why=f"%{array.name} lies in {_text(now)}, and %{turning.name} reads it in {_text(order)}:"
        " the lanes of a warp are far apart.",
        mend=f"Lay %{array.name} in {_text(order)}.",
        measure=_of_array(subject, array),
        expected=at_least(sectors_read(subject, array)),
        edit=lambda _: edited,
        price=f"%{array.name} is read in that layout by {readers}, too." if readers else "",
    )


def _are_own(subject: Subject, kernels: Iterable[Instruction]) -> bool:
    """Whether XLA's emitters make all kernels, each of a body of its own."""
    return all(
        (known := sectors_by(subject, each))
        and known.emitter is not Emitter.TRITON
        and all(map(only_caller, each.computations))
        for each in kernels
    )


def _writer(array: Instruction) -> list[Instruction]:
    return [array] if array.opcode == "fusion" else []


def _order_of_threads(access: Access) -> tuple[int, ...]:
    """The dimensions of an array in the order in which neighbouring threads leave an element."""
    walked = with_midpoints(access.map)
    loops = range(6, 6 + len(walked.ranges))
    now = access.shape.array_layout.minor_to_major
    return _order_of_walk(walked, (0, 1, 2, *reversed(loops), 3, 4, 5), now)


def _order_of_walk(
    walked: IndexingMap, variables: Iterable[int], now: Sequence[int]
) -> tuple[int, ...]:
    """The dimensions in the order in which their index changes where variables grow, in turn."""
    sizes = [each.bounds.size or 1 for each in (*walked.dims, *walked.ranges)]
    powers = ((v, 1 << n) for v in variables for n in range((sizes[v] - 1).bit_length()))
    count = len(walked.dims)
    first = walked.evaluate([0] * count, [0] * len(walked.ranges))
    moved: dict[int, int] = {}
    for number, (variable, power) in enumerate(powers):
        place = [power if each == variable else 0 for each in range(len(sizes))]
        index = walked.evaluate(place[:count], place[count:])
        for axis in (axis for axis in now if index[axis] != first[axis]):
            moved.setdefault(axis, number)
    return tuple(sorted(now, key=lambda axis: moved.get(axis, inf)))


def _turning(kernel: Instruction, array: Instruction) -> Instruction:
    """The instruction in a fusion that leads from order in memory to another one."""
    behind = waste.leading_from(waste.passed_to(kernel, array))
    moves = (each for each in behind if each.opcode not in ELEMENTWISE | {"bitcast"})
    return next((each for each in moves if not _is_bitcast(each)), kernel)


def relaid(module: HloModule, *, array: Instruction, order: Sequence[int]) -> HloModule:
    """The module where an array lies in another order, which fusions write and read."""
    before, after = array.shape, _in_order(array.shape, order)
    readers = [each for user in array.users for each in waste.passed_to(user, array)]
    editor = edit(module)
    for each in readers:
        if others := [user for user in each.users if user.opcode not in _OF_ANY_LAYOUT]:
            editor.replace_uses(each, editor.insert("copy", [each], before), others)
    for root in (each.attributes["calls"].root for each in _writer(array)):
        if root.opcode not in _OF_ANY_LAYOUT:
            editor.replace_uses(root, editor.insert("copy", [root], before, like=root))
    edited = editor.finish()
    places = [each for each in map(partial(waste.again, edited), (array, *readers)) if each]
    roots = [each.attributes["calls"].root for each in places if each.opcode == "fusion"]
    changes: waste.Changes = {each: {"shape": after} for each in (*places, *roots)}
    turns = {user for each in changes for user in each.users if user.opcode == "transpose"}
    for turn in turns.difference(changes):
        if transpose_is_bitcast(after, turn.shape, xla_gpu.permutation_of(turn)):
            kept = {key: turn.attributes[key] for key in turn.attributes if key != "dimensions"}
            changes[turn] = {"opcode": "bitcast", "attributes": kept}
    return changed(edited, changes)[0]


_OF_ANY_LAYOUT: Final = frozenset({"broadcast", "copy", "iota", "reduce", "transpose"})
"""Opcodes of which operand and result may lie in different orders."""


def _is_bitcast(turn: Instruction) -> bool:
    """Whether a transpose or copy moves nothing in memory."""
    shapes = turn.operands[0].shape, turn.shape
    is_turn = turn.opcode in {"copy", "transpose"}
    return is_turn and transpose_is_bitcast(*shapes, xla_gpu.permutation_of(turn))


def _in_order(shape: Shape, order: Sequence[int]) -> Shape:
    return replace(shape, layout=replace(shape.array_layout, minor_to_major=tuple(order)))


def _text(order: Iterable[int]) -> str:
    return f"{{{','.join(map(str, order))}}}"


# Fusions that keep an emitter away.


def _refused(subject: Subject, kernel: Instruction, array: Instruction) -> Waste | None:
    """The fusion ended behind reductions or transposes that another emitter makes a loop of."""
    known = sectors_by(subject, kernel)
    behind = waste.leading_from(waste.passed_to(kernel, array))
    heroes = [(each, emitter) for each in behind if (emitter := _emitter_of(each))]
    ends = [*dict.fromkeys(_end_of_epilogue(each) for each, _ in heroes)]
    reason = next((user for end in ends[:1] for user in end.users), None)
    if reason is None or (known and known.emitter in waste.IN_ORDER):
        return None
    hero, emitter = heroes[0]
    edited = waste.edited_by(separated, kernels=[kernel], places=[ends])(subject.module)
    measure = _of_array(subject, array)
    after = at_most(measure.figure(subject.edited(edited)))
    saved = at_least(measure.figure(subject)) - after
    if saved * measure.bytes_each <= 2 * sum(each.shape.bytes for each in ends):
        return None
    return Waste(
        kind="emitter lost",
        instruction=reason,
        why=f"The {reason.opcode} %{reason.name} behind %{hero.name} keeps XLA from its"
        f" {emitter.value} emitter: each thread of a loop walks through %{array.name}, and"
        " the lanes of a warp are far apart.",
        mend=f"End the fusion at {waste.names_of(ends)}; the rest is a second kernel.",
        measure=measure,
        expected=saved,
        edit=lambda _: edited,
    )


def _emitter_of(hero: Instruction) -> Emitter | None:
    """The emitter that could be made for an instruction."""
    return next((each for each in waste.IN_ORDER if KERNELS[each].is_hero(hero)), None)


def _end_of_epilogue(hero: Instruction) -> Instruction:
    """The last instruction before the root that a kernel made for a hero can compute with it."""
    end, users = hero, hero.users
    while len(users) == 1 and not users[0].is_root and hero in emitter_and_heroes(users[0])[1]:
        end, users = users[0], users[0].users
    return end


# Tails: what tiles have beyond the end of an array.


def tails(subject: Subject) -> Iterator[Waste]:
    """Tiles, named by a configuration, that do not divide the array, where others do."""
    for root, kernel in ((each, found.fusion) for each, found in subject.summaries.items()):
        tile = tile_of(kernel)
        if not tile or not _masked(root, tile):
            continue
        key = tails, emission_of(kernel)
        if key not in subject.remembered:
            subject.remembered[key] = _better_tile(subject, kernel, tile)
        if better := subject.remembered[key]:
            (array, *_) = root.shape.arrays
            before, after = (_programs(array, each) for each in (tile, better))
            yield Waste(
                kind="tail",
                instruction=root,
                why=f"Tiles of {_by(tile)} reach beyond the {_by(array.dimensions)} elements of"
                f" %{root.name}; what is beyond is masked.",
                mend=f"Take tiles of {_by(better)}.",
                measure=Measure(
                    "masked elements of tiles", waste.of_each([root], _masked_in), _places, 0
                ),
                expected=_masked(root, tile) * subject.runs_of(root),
                edit=waste.edit_of({root: _tiled(root, better)}),
                price=f"{after} programs run instead of {before}." if after != before else "",
            )


def _by(sizes: Iterable[int]) -> str:
    return " x ".join(map(str, sizes))


def _programs(array: Shape, tile: Sequence[int]) -> int:
    return prod(-(-size // part) for size, part in zip(array.dimensions, tile, strict=True))


def _masked(kernel: Instruction, tile: Sequence[int] | None) -> int:
    """Elements of all tiles, padded to powers of two, that are none of the results."""
    if not tile:
        return 0
    places = prod(1 << (size - 1).bit_length() for size in tile)
    return sum(_programs(each, tile) * places - each.element_count for each in kernel.shape.arrays)


def _masked_in(subject: Subject, kernel: Instruction) -> int:
    return _masked(kernel, tile_of(Fusion.of_instruction(kernel))) * subject.runs_of(kernel)


def _places(subject: Subject) -> int:
    """Elements that all kernels compute, and masked ones."""
    computed = (
        subject.runs_of(kernel) * sum(each.element_count for each in kernel.shape.arrays)
        for kernel in subject.summaries
    )
    return sum(computed) + sum(_masked_in(subject, kernel) for kernel in subject.summaries)


def _better_tile(subject: Subject, kernel: Fusion, now: tuple[int, ...]) -> tuple[int, ...] | None:
    """The tile with the fewest masked elements, and with as much for blocks and threads to do.

    All programs may move no more bytes. A dot has tiles as its unit wants them.
    """
    (root,), (array, *_) = kernel.roots, kernel.roots[0].shape.arrays
    if any(each.opcode == "dot" for each in root.attributes["calls"].instructions):
        return None
    choices = [
        (min(size, part), size, *(1 << log for log in range(size.bit_length())))
        for size, part in zip(array.dimensions, now, strict=True)
    ]
    try:
        others = TilingSpace.of(kernel).dimensions[array.rank :]
        found = tilings(kernel, subject.device, sizes=[*choices, *([None] * len(others))])
    except IndexingError:  # an array has no tile, or the device lacks a figure
        return None
    by_tile = {each.sizes[: array.rank]: each for each in reversed(found)}
    moved = by_tile.get(tuple(first for first, *_ in choices))
    blocks = xla_gpu.block_level(root)
    threads = min(prod(now), blocks.warps * xla_gpu.WARP_SIZE if blocks else 1)
    fitting = (
        tile
        for tile, each in by_tile.items()
        if moved and each.programs >= moved.programs and each.bytes <= moved.bytes
        if prod(tile) >= threads
    )
    best = min(fitting, key=lambda tile: (_masked(root, tile), _programs(array, tile)), default=now)
    return best if _masked(root, best) < _masked(root, now) else None


def _tiled(kernel: Instruction, tile: Sequence[int]) -> Mapping[str, Any]:
    """A fusion with another tile in its configuration, as a change."""
    config: Any = kernel.attributes["backend_config"]
    while isinstance(config, str):
        config = json.loads(config)
    tiles = [{"sizes": [*map(str, tile)]}] * len(kernel.shape.arrays)
    config["fusion_backend_config"]["block_level_fusion_config"]["output_tiles"] = tiles
    text = json.dumps(config, separators=(",", ":"))
    return {"attributes": {**kernel.attributes, "backend_config": text}}


# Padding: what the tiles of a layout have beyond the end of an array.


def padding(subject: Subject) -> Iterator[Waste]:
    """Arrays with small dimensions that are padded, where all may lie in another order."""
    seen = set[Instruction]()
    for each in reversed([*_in_memory(subject)]):
        if each not in seen and _is_padded(each):
            alike = _lying_alike(each)
            seen |= {each, *alike}
            yield from _better_order(subject, alike) if alike else ()


def _in_memory(subject: Subject) -> Iterator[Instruction]:
    """The instructions that give arrays of their own."""
    return (each for each in subject.running if each.opcode not in _OF_NO_MEMORY)


_OF_NO_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "tuple", "while"})


def _bytes_in_memory(subject: Subject) -> int:
    return sum(each.shape.bytes for each in _in_memory(subject))


def _is_padded(array: Instruction) -> bool:
    layout = array.shape.layout
    is_tiled = layout is not None and bool(layout.tiles) and array.shape.rank <= MAX_RANK
    return is_tiled and array.shape.bytes > 2 * bytes_of(array)


MAX_RANK: Final = 6
"""All orders of so many dimensions are tried: 720.

Test: ``test_accesses.test_orders_of_many_dimensions_are_not_tried``.
"""


def _better_order(subject: Subject, alike: Sequence[Instruction]) -> Iterator[Waste]:
    """The order of dimensions with the fewest bytes for arrays that lie alike."""
    shown = [each for each in alike if each.computation in subject.runs]
    array = max(shown, key=bytes_of)
    now = array.shape.array_layout.minor_to_major

    def weight(order: Sequence[int]) -> tuple[int, int]:
        pairs = combinations(map(now.index, order), 2)
        total = sum(_in_order(each.shape, order).bytes for each in shown)
        return total, sum(one > other for one, other in pairs)

    order = min(permutations(now), key=weight)
    passed = waste.names_of(each for each in shown if each.opcode == "parameter")
    if order != now:
        yield Waste(
            kind="padding",
            instruction=array,
            why=f"{array.shape} is padded: {array.shape.bytes:,} bytes hold {bytes_of(array):,}.",
            mend=f"Layout {_text(order)} for {waste.names_of(shown)}.",
            measure=Measure(
                f"bytes of %{array.name} in memory",
                waste.of_each([array], lambda _, each: each.shape.bytes),
                _bytes_in_memory,
            ),
            expected=array.shape.bytes - _in_order(array.shape, order).bytes,
            edit=waste.edit_of({each: {"shape": _in_order(each.shape, order)} for each in alike}),
            price=f"The program is passed {passed} in that layout." if passed else "",
        )


def _lying_alike(array: Instruction) -> tuple[Instruction, ...]:
    """The arrays that lie in one order because of what is computed; none if one is bound."""
    found, waiting = {array: None}, [array]
    while waiting:
        linked = _linked(waiting.pop())
        if linked is None:
            return ()
        fresh = [each for each in linked if each not in found]
        found |= dict.fromkeys(fresh)
        waiting += fresh
    return tuple(found)


def _linked(array: Instruction) -> list[Instruction] | None:
    """The arrays that lie in the order of this one; ``None`` if it cannot lie in another one."""
    caller = only_caller(array.computation)
    others = [each for each in array.users if each.opcode not in _OF_ANY_LAYOUT]
    linked = [each for each in others if each.opcode in _KEEP_ORDER]
    inside = [each for each in others if each.opcode == "fusion"]
    is_bound = len(linked) + len(inside) < len(others)
    linked += [each for user in inside for each in waste.passed_to(user, array)]
    linked += [caller] if caller and array.is_root else []
    if array.opcode in _KEEP_ORDER:
        linked += [each for each in array.operands if each.shape.rank == array.shape.rank]
    elif array.opcode == "fusion":
        linked.append(array.attributes["calls"].root)
    elif caller and array.parameter_number is not None:
        linked.append(caller.operands[array.parameter_number])
    elif array.opcode not in _OF_ANY_LAYOUT and not waste.is_passed(array):
        return None
    is_fused = not caller or caller.opcode == "fusion"
    is_one = is_fused and all(each.shape.is_array for each in linked)
    orders = {each.shape.array_layout.minor_to_major for each in (array, *linked) if is_one}
    return None if is_bound or len(orders) != 1 else linked


_KEEP_ORDER: Final = ELEMENTWISE | frozenset(
    ("concatenate", "dynamic-slice", "dynamic-update-slice", "pad", "reverse", "slice")
)


# Relayouts: copies that only bring an array into another order.


def relayouts(subject: Subject) -> Iterator[Waste]:
    """Copies around a gather that could do with one, and copies of parameters in each call."""
    around = [*_around_gathers(subject)]
    yield from around
    known = {operand for each in around for operand in each.instruction.operands}
    for array in subject.module.entry.parameters:
        if _is_turned_first(array) and known.isdisjoint(array.users):
            yield from _of_parameter(subject, array)


def _is_turned_first(array: Instruction) -> bool:
    """Whether relayouts alone read a parameter, and none writes a result."""
    users = array.users
    is_turned = all(map(_is_relayout, users)) and not any(map(_is_result, users))
    return bool(users) and is_turned and waste.is_passed(array)


def _is_result(value: Instruction) -> bool:
    """Whether it is a result of the program, maybe in another shape."""
    passed = [each for each in value.users if each.opcode in {"bitcast", "tuple"}]
    return value.is_root or any(each.opcode == "tuple" or _is_result(each) for each in passed)


def _is_relayout(kernel: Instruction) -> bool:
    """Whether a kernel does no more than to bring its only operand into another order."""
    if len(kernel.operands) != 1 or not kernel.shape.is_array or kernel.shape.is_unbounded:
        return False
    if kernel.opcode == "fusion":
        inside = {each.opcode for each in kernel.attributes["calls"].instructions}
        return inside <= {"bitcast", "copy", "parameter", "transpose"}
    if kernel.opcode not in {"copy", "transpose"}:
        return False
    spaces = {each.shape.array_layout.memory_space for each in (kernel, *kernel.operands)}
    return len(spaces) == 1 and not _is_bitcast(kernel)


def _bytes_of(relayout: Instruction) -> int:
    """Bytes, with padding, that a relayout reads and writes."""
    return relayout.shape.bytes + relayout.operands[0].shape.bytes


def _bytes_of_all(subject: Subject) -> int:
    relayouts = filter(_is_relayout, subject.summaries)
    return sum(_bytes_of(each) * subject.runs_of(each) for each in relayouts)


def _bytes(subject: Subject) -> Count:
    """Bytes that the module moves, and those of padding that relayouts move."""
    others = [each for each in subject.summaries if not _is_relayout(each)]
    return sum_of_counts([waste.bytes_moved(subject, others), _bytes_of_all(subject)])


def _of_parameter(subject: Subject, array: Instruction) -> Iterator[Waste]:
    """The parameter in the order in which all that read it want to have it."""
    users = array.users
    shapes = {_as_wanted(subject, array, each) for each in users}
    shape, names = shapes.pop(), waste.names_of(users)
    if shapes or shape is None or copy_is_bitcast(array.shape, shape):
        return
    sizes = f"{shape.bytes:,} bytes of memory instead of {array.shape.bytes:,}"
    yield Waste(
        kind="layout",
        instruction=users[0],
        why=f"%{array.name} comes in {_text(array.shape.array_layout.minor_to_major)}, and"
        f" {names} brings it into another order in each call.",
        mend=f"Pass %{array.name} as {shape}.",
        measure=Measure(
            f"bytes moved by {names} a call",
            waste.of_each(users, lambda _, each: _bytes_of(each)),
            _bytes,
        ),
        expected=sum(map(_bytes_of, users)),
        edit=partial(_passed_as, array=array, shape=shape, users=users),
        price=f"%{array.name} takes {sizes}." if shape.bytes != array.shape.bytes else "",
    )


def _as_wanted(subject: Subject, array: Instruction, relayout: Instruction) -> Shape | None:
    """The array as a relayout would have nothing to do; ``None`` if there is no such order."""
    after, ways = relayout.shape, subject.summaries[relayout].operands[0].ways
    if len(ways) != 1 or ways[0].map.parameters:
        return None
    (way,) = ways
    layouts = after.array_layout, array.shape.array_layout
    order = _order_of_walk(way.map, *(each.minor_to_major for each in layouts))
    like = layouts[after.rank != array.shape.rank]
    shape = replace(array.shape, layout=replace(like, minor_to_major=order))
    there = way.map.compose(logical_to_linear(shape))
    is_same = shape.bytes == after.bytes and there.equals(logical_to_linear(after))
    return shape if is_same else None


def _passed_as(
    module: HloModule, *, array: Instruction, shape: Shape, users: Iterable[Instruction]
) -> HloModule:
    """The module where a parameter comes as relayouts of it make it."""
    edited, copies = changed(module, {array: {"shape": shape}})
    editor, given = edit(edited), copies[array]
    for each in users:
        is_same = each.shape == shape
        new = given if is_same else editor.insert("bitcast", [given], each.shape)
        editor.replace(copies[each], new)
    return editor.finish()


def _around_gathers(subject: Subject) -> Iterator[Waste]:
    """Gathers of copies in another order, whose result is copied back."""
    for kernel in (each for each in subject.summaries if each.opcode == "all-gather"):
        before, after = kernel.operands[0], (*kernel.users, kernel)[0]
        (axis,) = kernel.attributes["dimensions"]
        is_one = len(kernel.operands) == len(kernel.users) == 1
        is_alone = is_one and axis < len(kernel.shape.dimensions)
        is_copied = all(each.opcode == "copy" and _is_relayout(each) for each in (before, after))
        if not (is_alone and is_copied) or after.shape.array_layout.tiles:
            continue
        if before.operands[0].shape.array_layout == after.shape.array_layout:
            yield Waste(
                kind="layout",
                instruction=kernel,
                why=f"%{before.name} brings what %{kernel.name} reads into another order, and"
                f" %{after.name} its result back.",
                mend=f"Run %{kernel.name} along a new major dimension, and turn the result once.",
                measure=Measure("bytes moved by relayouts", _bytes_of_all, _bytes),
                expected=_bytes_of(before) * subject.runs_of(kernel),
                edit=waste.edited_by(_gathered, kernel=kernel, back=after),
            )


def _gathered(editor: ModuleEditor, *, kernel: Instruction, back: Instruction) -> None:
    """Let a gather put what devices have one behind the other, for one transpose."""
    (axis,), (source,) = kernel.attributes["dimensions"], kernel.operands[0].operands
    axis = int(axis)
    sizes, order = source.shape.dimensions, source.shape.array_layout.minor_to_major
    count = kernel.shape.dimensions[axis] // sizes[axis]

    def stacked(many: int) -> Shape:
        shape = replace(source.shape, dimensions=(many, *sizes), layout=None)
        return _in_order(shape, (*(each + 1 for each in order), 0))

    parts = editor.insert("bitcast", [source], stacked(1))
    parts = editor.clone(kernel, operands=[parts], shape=stacked(count), dimensions=(0,))
    turn = [*range(1, axis + 1), 0, *range(axis + 1, len(sizes) + 1)]
    nested = [one for each in order for one in ((each + 1, 0) if each == axis else (each + 1,))]
    turned_sizes = tuple(parts.shape.dimensions[each] for each in turn)
    shape = replace(parts.shape, dimensions=turned_sizes, layout=None)
    shape = _in_order(shape, [*map(turn.index, nested)])
    turned = editor.insert("transpose", [parts], shape, dimensions=turn, like=back)
    editor.replace(back, editor.insert("bitcast", [turned], back.shape))
    editor.remove(kernel)


RULES: Final[tuple[Rule, ...]] = (uncoalesced, tails, padding, relayouts)
