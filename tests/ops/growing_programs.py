"""Programs whose maps multiply or grow; each has one parameter and the given depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random


def program(sizes: Iterable[int], lines: Iterable[str], computations: str = "") -> str:
    """A module whose lines make an array ``y`` of one array ``x`` of these sizes."""
    shape = f"f32[{','.join(map(str, sizes))}]"
    written = "\n".join(["x = SHAPE parameter(0) zero = f32[] constant(0)", *lines])
    text = f"{computations} ENTRY e {{ {written} ROOT r = SHAPE negate(y) }}"
    return text.replace("SHAPE", shape)


def layers(depth: int, layer: Callable[[int, str, str], str]) -> list[str]:
    """Lines that make ``y`` of ``x``, layer by layer; each has its number and two names."""
    names = ["x", *(f"y{number}" for number in range(1, depth)), "y"]
    return [layer(number, *names[number : number + 2]) for number in range(depth)]


def shifted(depth: int, size: int = 5000) -> str:
    """Each array is the last one and the same moved to the right by one more step."""

    def layer(number: int, last: str, new: str) -> str:
        return (
            f"p{number} = SHAPE pad({last}, zero), padding={number + 1}_{-number - 1}\n"
            f"{new} = SHAPE add({last}, p{number})"
        )

    return program([size], layers(depth, layer))


def doubling(depth: int) -> str:
    """A network of butterflies: each element with the one whose number differs in one bit."""

    def layer(number: int, last: str, new: str) -> str:
        split = f"f32[{2 ** (depth - 1 - number)},2,{2**number}]"
        return (
            f"pairs{number} = {split} reshape({last})\n"
            f"turned{number} = {split} reverse(pairs{number}), dimensions={{1}}\n"
            f"other{number} = SHAPE reshape(turned{number})\n"
            f"{new} = SHAPE add({last}, other{number})"
        )

    return program([2**depth], layers(depth, layer))


def permuted(depth: int, rank: int) -> str:
    """A swap and a rotation of all dimensions but the first, which give all their permutations."""
    swap = (0, 2, 1, *range(3, rank))
    turn = (0, *range(2, rank), 1)

    def layer(number: int, last: str, new: str) -> str:
        permuted = (
            f"{name}{number} = SHAPE transpose({last}), dimensions={{{','.join(map(str, order))}}}"
            for name, order in (("swap", swap), ("turn", turn))
        )
        return "\n".join([*permuted, f"{new} = SHAPE add(swap{number}, turn{number})"])

    return program([9, *[2] * (rank - 1)], layers(depth, layer))


def diamond(depth: int) -> str:
    """Each layer uses the last one twice, and both ways there are the same."""

    def layer(number: int, last: str, new: str) -> str:
        return (
            f"t{number} = SHAPE transpose({last}), dimensions={{1,0}}\n"
            f"{new} = SHAPE add(t{number}, t{number})"
        )

    return program([7, 7], layers(depth, layer))


def shuffled(depth: int, rank: int) -> str:
    """The bits of an element's number change places, again and again."""
    bits = f"f32[{','.join(['2'] * rank)}]"
    order = [*range(rank)]
    random = Random(0)  # noqa: S311 - a program, no secret

    def layer(number: int, last: str, new: str) -> str:
        random.shuffle(order)
        return (
            f"bits{number} = {bits} reshape({last})\n"
            f"turned{number} = {bits} transpose(bits{number}), "
            f"dimensions={{{','.join(map(str, order))}}}\n"
            f"{new} = SHAPE reshape(turned{number})"
        )

    return program([2**rank], layers(depth, layer))


def looked_up(depth: int, size: int = 40) -> str:
    """Each array is the last one, and what the program finds in it at places that it computes."""

    def layer(number: int, last: str, new: str) -> str:
        return (
            f"places{number} = s32[{size},1] parameter({number + 1})\n"
            f"found{number} = SHAPE gather({last}, places{number}), offset_dims={{}}, "
            "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
            f"{new} = SHAPE add({last}, found{number})"
        )

    return program([size], layers(depth, layer))


# Loops.


def loop(body: str, shape: str) -> str:
    """A loop that nobody knows the end of; its body has lines that make ``r`` of ``v``."""
    return f"""HloModule m
        add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
        body {{ v = {shape} parameter(0) zero = f32[] constant(0) {body} }}
        condition {{ v = {shape} parameter(0) ROOT r = pred[] constant(true) }}
        ENTRY e {{ v = {shape} parameter(0)
                   ROOT r = {shape} while(v), condition=condition, body=body }}"""


def windows(size: int) -> str:
    """Each round adds the next element to each; so what it needs is more and more."""
    sums = f"ROOT r = f32[{size}] reduce-window(v, zero), window={{size=2 pad=0_1}}, to_apply=add"
    return loop(sums, f"f32[{size}]")


def moved(size: int) -> str:
    """Each round moves all elements by one place."""
    return loop(f"ROOT r = f32[{size}] pad(v, zero), padding=1_-1", f"f32[{size}]")


def sent(pairs: Sequence[tuple[int, int]]) -> str:
    """Each round sends all elements from devices to others."""
    listed = ",".join(f"{{{source},{target}}}" for source, target in pairs)
    permute = f"collective-permute(v), channel_id=1, source_target_pairs={{{listed}}}"
    return loop(f"ROOT r = f32[8] {permute}", "f32[8]")


def ring(count: int) -> list[tuple[int, int]]:
    """Each device sends to the next one."""
    return [(device, (device + 1) % count) for device in range(count)]


def broken_ring(count: int) -> list[tuple[int, int]]:
    """One device of a ring is replaced by another one, which nobody sends to."""
    middle = count // 2
    return [(count + 3 if source == middle else source, to) for source, to in ring(count)]


def exchanged(count: int) -> list[tuple[int, int]]:
    """Each device sends to some other one, in no order."""
    targets = [*range(count)]
    Random(0).shuffle(targets)  # noqa: S311 - a program, no secret
    return [*enumerate(targets)]


def rotating(count: int) -> str:
    """Each round moves every array to the place of the next one, and transposes it."""
    shape = f"({','.join(['f32[8,8]'] * count)})"
    lines = [
        f"g{n} = f32[8,8] get-tuple-element(v), index={n} "
        f"t{n} = f32[8,8] transpose(g{n}), dimensions={{1,0}}"
        for n in range(count)
    ]
    turned = ", ".join(f"t{(n + 1) % count}" for n in range(count))
    return loop("\n".join([*lines, f"ROOT r = {shape} tuple({turned})"]), shape)


def decoded(layers: int) -> str:
    """Each layer writes a row of a cache, each at the place that data says, and reads it whole."""
    steps = "".join(
        f"""less{n} = pred[] compare(p, zero), direction=LT
        past{n} = s32[] add(p, eight) at{n} = s32[] select(less{n}, past{n}, p)
        row{n} = f32[1,4] reshape(x{n})
        kept{n} = f32[8,4] dynamic-update-slice(cache, row{n}, at{n}, zero)
        x{n + 1} = f32[4] reduce(kept{n}, none), dimensions={{0}}, to_apply=sum """
        for n in range(layers)
    )
    return f"""sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
    ENTRY e {{ x0 = f32[4] parameter(0) p = s32[] parameter(1) cache = f32[8,4] parameter(2)
      zero = s32[] constant(0) eight = s32[] constant(8) none = f32[] constant(0)
      {steps} ROOT y = f32[4] negate(x{layers}) }}"""


def updated(updates: int) -> str:
    """A part of an array is written over another part of it, at a place that data says."""
    starts = "".join(f"i{n} = s32[] parameter({n + 1}) " for n in range(updates))
    steps = "".join(
        f"""r{n} = f32[8] slice(x{n}), slice={{[{n}:{n + 8}]}}
        x{n + 1} = f32[64] dynamic-update-slice(x{n}, r{n}, i{n}) """
        for n in range(updates)
    )
    root = f"ROOT y = f32[64] negate(x{updates})"
    return f"ENTRY e {{ x0 = f32[64] parameter(0) {starts} {steps} {root} }}"


def strided_convolutions(count: int, size: int) -> str:
    """Convolutions in a row, of which every second one dilates what the next one strides over."""
    lines = [f"x = f32[1,{size},1] parameter(0)", "k = f32[3,1,1] parameter(1)"]
    before = "x"
    for number in range(count):
        is_dilated = number % 2 == 0
        size = size * 2 - 1 if is_dilated else (size + 1) // 2
        window = "{size=3 pad=1_1 lhs_dilate=2}" if is_dilated else "{size=3 stride=2 pad=1_1}"
        name = f"c{number}"
        lines.append(
            f"{name} = f32[1,{size},1] convolution({before}, k), window={window}, "
            "dim_labels=b0f_0io->b0f"
        )
        before = name
    return f"ENTRY e {{ {' '.join(lines[:-1])} ROOT {lines[-1]} }}"
