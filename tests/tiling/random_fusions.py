"""Random small fusions: chains of elementwise operations, moves of elements, and sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final, TypeAlias

from hypothesis import strategies as st

Sizes: TypeAlias = tuple[int, ...]
Made: TypeAlias = tuple[Sizes, str]
"""The sizes of a result, and its instruction without the name: ``{x}`` is the operand."""

LARGEST: Final = 200
"""Elements of an array."""


@st.composite
def swapped(draw: st.DrawFn) -> str:
    """The text of an array plus itself with the elements of each run at other places.

    A broadcast may have made the runs, and a sum may go through them in steps.
    """
    run, runs = draw(st.integers(2, 4)), draw(st.integers(2, 8))
    long, split = _type((run * runs,)), _type((runs, run))
    repeated = f"s = {split} broadcast(p), dimensions={{1}} x = {long} reshape(s)"
    begins = [(long, f"x = {long} negate(p)"), (_type((run,)), repeated)]
    source, begin = draw(st.sampled_from(begins))
    cut = draw(st.integers(1, run - 1))
    rows = f"slice={{[0:{runs}], "
    rolled = f"""a = {_type((runs, run - cut))} slice(r), {rows}[{cut}:{run}]}}
        b = {_type((runs, cut))} slice(r), {rows}[0:{cut}]}}
        t = {split} concatenate(a, b), dimensions={{1}}"""
    turned = [f"t = {split} reverse(r), dimensions={{{axes}}}" for axes in ("1", "0,1")]
    end = f"{long} add(x, y)"
    summed = f"sum = {end} ROOT e = f32[] reduce(sum, zero), dimensions={{0}}, to_apply=sum"
    return f"""p = {source} parameter(0) zero = f32[] constant(0) {begin}
        r = {split} reshape(x) {draw(st.sampled_from([*turned, rolled]))} y = {long} reshape(t)
        {draw(st.sampled_from([f"ROOT sum = {end}", summed]))}"""


@st.composite
def fusions(draw: st.DrawFn, begin: Sequence[Sizes] = (), kinds: Sequence[str] = ()) -> str:
    """The text of a chain over ``x``, with some additions of what is already there."""
    any_sizes = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)
    sizes = draw(st.sampled_from(begin) if begin else any_sizes)
    arrays = [("x", sizes)]
    lines = [f"x = {_type(sizes)} parameter(0) zero = f32[] constant(0) y = f32[5,3] parameter(1)"]
    for number in range(draw(st.integers(1, 5))):
        last, sizes = arrays[-1]
        made = OPERATIONS[draw(st.sampled_from(kinds or [*OPERATIONS]))](draw, sizes)
        if made is None or prod(made[0]) > LARGEST:
            others = [name for name, own in arrays if own == sizes]
            made = sizes, f"add({{x}}, {draw(st.sampled_from(others))})"
        new, text = made
        lines.append(f"v{number} = {_type(new)} {text.format(x=last)}")
        arrays.append((f"v{number}", new))
    return "\n".join([*lines[:-1], f"ROOT {lines[-1]}"])


def _type(sizes: Sizes) -> str:
    return f"f32[{_listed(sizes)}]"


def _listed(numbers: Sizes) -> str:
    return ",".join(map(str, numbers))


def _transposed(draw: st.DrawFn, sizes: Sizes) -> Made:
    order = tuple(draw(st.permutations(range(len(sizes)))))
    text = f"transpose({{x}}), dimensions={{{{{_listed(order)}}}}}"
    return tuple(sizes[axis] for axis in order), text


def _reshaped(draw: st.DrawFn, sizes: Sizes) -> Made:
    rest, found = prod(sizes), list[int]()
    while len(found) < 2 and rest > 1:
        found.append(draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0])))
        rest //= found[-1]
    return (*found, rest), "reshape({x})"


def _broadcast(draw: st.DrawFn, sizes: Sizes) -> Made:
    at = draw(st.integers(0, len(sizes)))
    kept = tuple(axis + (axis >= at) for axis in range(len(sizes)))
    new = (*sizes[:at], draw(st.integers(1, 4)), *sizes[at:])
    return new, f"broadcast({{x}}), dimensions={{{{{_listed(kept)}}}}}"


def _summed(draw: st.DrawFn, sizes: Sizes) -> Made | None:
    if not sizes:
        return None
    at = draw(st.integers(0, len(sizes) - 1))
    text = f"reduce({{x}}, zero), dimensions={{{{{at}}}}}, to_apply=sum"
    return (*sizes[:at], *sizes[at + 1 :]), text


def _sliced(draw: st.DrawFn, sizes: Sizes) -> Made:
    parts, new = list[str](), list[int]()
    for size in sizes:
        begin = draw(st.integers(0, size - 1))
        end, step = draw(st.integers(begin + 1, size)), draw(st.integers(1, 2))
        parts.append(f"[{begin}:{end}:{step}]")
        new.append(-(-(end - begin) // step))
    return tuple(new), f"slice({{x}}), slice={{{{{', '.join(parts)}}}}}"


def _reversed(draw: st.DrawFn, sizes: Sizes) -> Made:
    axes = tuple(axis for axis in range(len(sizes)) if draw(st.booleans()))
    return sizes, f"reverse({{x}}), dimensions={{{{{_listed(axes)}}}}}"


def _padded(draw: st.DrawFn, sizes: Sizes) -> Made | None:
    if not sizes:
        return None
    edges = [draw(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 1))) for _ in sizes]
    new = tuple(
        low + high + size + (size - 1) * inner
        for size, (low, high, inner) in zip(sizes, edges, strict=True)
    )
    return new, f"pad({{x}}, zero), padding={'x'.join('_'.join(map(str, each)) for each in edges)}"


def _doubled(draw: st.DrawFn, sizes: Sizes) -> Made | None:
    if not sizes:
        return None
    at = draw(st.integers(0, len(sizes) - 1))
    new = (*sizes[:at], 2 * sizes[at], *sizes[at + 1 :])
    return new, f"concatenate({{x}}, {{x}}), dimensions={{{{{at}}}}}"


def _multiplied(draw: st.DrawFn, sizes: Sizes) -> Made | None:
    axes = [axis for axis, size in enumerate(sizes) if size == 5]
    if not axes:
        return None
    at = draw(st.sampled_from(axes))
    text = f"dot({{x}}, y), lhs_contracting_dims={{{{{at}}}}}, rhs_contracting_dims={{{{0}}}}"
    return (*sizes[:at], *sizes[at + 1 :], 3), text


OPERATIONS: Final[dict[str, Callable[[st.DrawFn, Sizes], Made | None]]] = {
    "add": lambda _, sizes: None,  # noqa: ARG005 - what no other operation takes is added
    "broadcast": _broadcast,
    "concatenate": _doubled,
    "dot": _multiplied,
    "pad": _padded,
    "reduce": _summed,
    "reshape": _reshaped,
    "reverse": _reversed,
    "slice": _sliced,
    "transpose": _transposed,
}
