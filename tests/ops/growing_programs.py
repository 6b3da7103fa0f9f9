"""Programs whose maps multiply or grow; each has one parameter and the given depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random


def program(sizes: Sequence[int], depth: int, layer: Callable[[int], str], called: str = "") -> str:
    """A module that makes an array of one array of these sizes, layer by layer.

    The text of a layer has ``LAST`` for the array before it, ``NEW`` for its own, and ``SHAPE``.
    """
    names = [f"y{number}" for number in range(depth + 1)]
    layers = "\n".join(
        layer(number).replace("LAST", last).replace("NEW", new)
        for number, (last, new) in enumerate(pairwise(names))
    )
    text = f"""{called} ENTRY e {{ y0 = SHAPE parameter(0) zero = f32[] constant(0)
      {layers} ROOT r = SHAPE negate(y{depth}) }}"""
    return text.replace("SHAPE", f"f32[{_listed(sizes)}]")


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def shifted(depth: int, size: int = 5000) -> str:
    """Each array is the last one and the same moved to the right by one more step."""
    layer = "p{0} = SHAPE pad(LAST, zero), padding={1}_-{1} NEW = SHAPE add(LAST, p{0})"
    return program([size], depth, lambda n: layer.format(n, n + 1))


def doubling(depth: int) -> str:
    """A network of butterflies: each element with the one whose number differs in one bit."""
    layer = """a{0} = f32[{1},2,{2}] reshape(LAST)
      b{0} = f32[{1},2,{2}] reverse(a{0}), dimensions={{1}}
      c{0} = SHAPE reshape(b{0}) NEW = SHAPE add(LAST, c{0})"""
    return program([2**depth], depth, lambda n: layer.format(n, 2 ** (depth - 1 - n), 2**n))


def permuted(depth: int, rank: int) -> str:
    """A swap and a rotation of all dimensions but the first, which give all their permutations."""
    swap, turn = _listed([0, 2, 1, *range(3, rank)]), _listed([0, *range(2, rank), 1])
    layer = f"""a{{0}} = SHAPE transpose(LAST), dimensions={{{{{swap}}}}}
      b{{0}} = SHAPE transpose(LAST), dimensions={{{{{turn}}}}} NEW = SHAPE add(a{{0}}, b{{0}})"""
    return program([9, *[2] * (rank - 1)], depth, layer.format)


def diamond(depth: int) -> str:
    """Each layer uses the last one twice, and both ways there are the same."""
    layer = "t{0} = SHAPE transpose(LAST), dimensions={{1,0}} NEW = SHAPE add(t{0}, t{0})"
    return program([7, 7], depth, layer.format)


def mirrored(depth: int) -> str:
    """Each array is its predecessor and the same transposed: two maps."""
    layer = "t{0} = SHAPE transpose(LAST), dimensions={{1,0}} NEW = SHAPE add(LAST, t{0})"
    return program([8, 8], depth, layer.format)


def chain(depth: int) -> str:
    """One elementwise operation after the other."""
    return program([8, 8], depth, lambda _: "NEW = SHAPE negate(LAST)")


def nested(depth: int) -> str:
    """Each computation transposes and calls the next."""
    levels = " ".join(
        f"""n{level} {{ a = f32[8,8] parameter(0) t = f32[8,8] transpose(a), dimensions={{1,0}}
        ROOT c = f32[8,8] call(t), to_apply=n{level - 1} }}"""
        for level in range(1, depth)
    )
    inner = "n0 { a = f32[8,8] parameter(0) ROOT b = f32[8,8] negate(a) }"
    call = f"NEW = SHAPE call(LAST), to_apply=n{depth - 1}"
    return program([8, 8], 1, lambda _: call, f"{inner} {levels}")


def shuffled(depth: int, rank: int) -> str:
    """The bits of an element's number change places, again and again."""
    order, random = [*range(rank)], Random(0)  # noqa: S311 - a program, no secret

    def layer(number: int) -> str:
        random.shuffle(order)
        return f"""a{number} = BITS reshape(LAST)
          b{number} = BITS transpose(a{number}), dimensions={{{_listed(order)}}}
          NEW = SHAPE reshape(b{number})"""

    return program([2**rank], depth, layer).replace("BITS", f"f32[{_listed([2] * rank)}]")


def looked_up(depth: int, size: int = 40) -> str:
    """Each array is the last one, and what the program finds in it at places that it computes."""
    layer = """a{0} = s32[{1},1] parameter({2}) b{0} = SHAPE gather(LAST, a{0}), offset_dims={{}},
      collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
      NEW = SHAPE add(LAST, b{0})"""
    return program([size], depth, lambda n: layer.format(n, size, n + 1))


def gradient(depth: int) -> str:
    """Each layer multiplies with weights and adds; each weight's update is a result."""
    numbers = range(1, depth + 1)
    weights = (f"w{n} = SHAPE parameter({n})" for n in numbers)
    steps = (
        f"""d{n} = SHAPE dot(x{n - 1}, w{n}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
        x{n} = SHAPE add(x{n - 1}, d{n})"""
        for n in numbers
    )
    updates = (
        f"""g{n} = SHAPE dot(x{depth}, x{n}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
        v{n} = SHAPE subtract(w{n}, g{n})"""
        for n in numbers
    )
    results = ", ".join(f"v{n}" for n in numbers)
    return f"""ENTRY e {{ x0 = SHAPE parameter(0) {" ".join((*weights, *steps, *updates))}
      ROOT r = ({", ".join(["SHAPE"] * depth)}) tuple({results}) }}""".replace("SHAPE", "f32[8,8]")


def rows(depth: int) -> str:
    """Each result is another row of an array that many layers make: no two ask the same."""
    layer = "m{0} = SHAPE reverse(LAST), dimensions={{1}} NEW = SHAPE add(LAST, m{0})"
    results = (f"r{n} = f32[1,8] slice(r), slice={{[{n}:{n + 1}],[0:8]}}" for n in range(8))
    names, row_shapes = ", ".join(f"r{n}" for n in range(8)), ", ".join(["f32[1,8]"] * 8)
    text = program([8, 8], depth, layer.format).replace("ROOT r", "r").removesuffix("}")
    return f"{text} {' '.join(results)} ROOT all = ({row_shapes}) tuple({names}) }}"


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
    return [(device, (device + 1) % count) for device in range(count)]


def broken_ring(count: int) -> list[tuple[int, int]]:
    """One device of a ring is replaced by another one, which nobody sends to."""
    middle = count // 2
    return [(count + 3 if source == middle else source, to) for source, to in ring(count)]


def rotating(count: int) -> str:
    """Each round moves every array to the place of the next one, and transposes it."""
    shape = f"({','.join(['f32[8,8]'] * count)})"
    line = """g{0} = f32[8,8] get-tuple-element(v), index={0}
        t{0} = f32[8,8] transpose(g{0}), dimensions={{1,0}}"""
    turned = ", ".join(f"t{(n + 1) % count}" for n in range(count))
    lines = "\n".join(map(line.format, range(count)))
    return loop(f"{lines} ROOT r = {shape} tuple({turned})", shape)


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
    text = f"ENTRY e {{ c0 = f32[1,{size},1] parameter(0) k = f32[3,1,1] parameter(1)"
    for number in range(count):
        is_dilated = number % 2 == 0
        size = size * 2 - 1 if is_dilated else (size + 1) // 2
        window = "lhs_dilate=2" if is_dilated else "stride=2"
        text += f""" c{number + 1} = f32[1,{size},1] convolution(c{number}, k),
          window={{size=3 pad=1_1 {window}}}, dim_labels=b0f_0io->b0f"""
    return f"{text} ROOT r = f32[1,{size},1] copy(c{count}) }}"
