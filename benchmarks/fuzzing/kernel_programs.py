"""Random programs for whole kernels: a few instructions over small arrays of all element types.

Results are exact, or no number: what is only near, such as an exponential, stands at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import prod
from random import Random
from typing import Final, NamedTuple

from benchmarks.problems import happens
from indexing.layout import ElementType, Kind
from ops.hlo.opcodes import NEUTRAL, neutral_element
from ops.kernels.operations import SMALL_FLOATS

MAX_ELEMENTS: Final = 400
"""Of an array: kernels of these run in microseconds."""

MAX_RANK: Final = 5
"""Of a reshape; other dimensions come from broadcasts."""

TYPES: Final = (
    *("f32",) * 8,
    *("f64", "s32", "pred", "f16", "bf16"),
    *("s8", "s16", "s64", "u8", "u16", "u32", "u64"),
)


class Value(NamedTuple):
    """An array of a program."""

    name: str
    kind: ElementType
    sizes: tuple[int, ...]
    layout: str = ""

    def __str__(self) -> str:
        return f"{self.kind}[{_listed(self.sizes)}]{self.layout}"


@dataclass
class Draft:
    """A program while it is drawn."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])
    folds: dict[str, str] = field(default_factory=dict[str, str])
    parameters: int = 0
    numbers: Iterator[int] = field(default_factory=count)

    def add(self, kind: ElementType, sizes: Sequence[int], text: str, layout: str = "") -> Value:
        """An instruction more."""
        value = Value(f"v{next(self.numbers)}", kind, tuple(sizes), layout)
        self.lines.append(f"{value.name} = {value} {text}")
        self.values.append(value)
        return value

    def parameter(self, kind: ElementType, sizes: Sequence[int]) -> Value:
        """A parameter more."""
        number, self.parameters = self.parameters, self.parameters + 1
        return self.add(kind, sizes, f"parameter({number})", self.layout(len(sizes)))

    def layout(self, rank: int) -> str:
        """Seldom, another order in memory than that of the dimensions."""
        if not rank or not happens(self.random, 0.15):
            return ""
        return f"{{{_listed(self.random.sample(range(rank), rank))}}}"

    def scalar(self, kind: ElementType) -> Value:
        """A scalar: a constant, or a parameter."""
        if happens(self.random, 0.3):
            return self.parameter(kind, ())
        return self.constant(kind, (), self.number(kind))

    def constant(self, kind: ElementType, sizes: Sequence[int], text: str) -> Value:
        """A constant whose elements are all the same."""
        whole = text
        for size in reversed(sizes):
            whole = f"{{{', '.join([whole] * size)}}}"
        return self.add(kind, sizes, f"constant({whole})")

    def number(self, kind: ElementType) -> str:
        """The text of a constant."""
        if kind.kind is Kind.BOOLEAN:
            return self.random.choice(("true", "false"))
        if kind.kind is Kind.FLOAT:
            return self.random.choice(("0", "1", "-1", "2", "0.5", "-3", "nan", "inf", "-inf"))
        ends = kind.value_range
        return str(self.random.choice((0, 1, 2, 3, 7, ends.lower, ends.upper)))

    def like(self, value: Value, kind: ElementType | None = None) -> Value:
        """An array of the same sizes: an old one, or a new one."""
        kind = kind or value.kind
        old = [each for each in self.values if each[1:3] == (kind, value.sizes)]
        if old and happens(self.random, 0.6):
            return self.random.choice(old)
        if happens(self.random, 0.3):
            return _broadcast_scalar(self, kind, value.sizes)
        if prod(value.sizes) and happens(self.random, 0.1):
            return self.constant(kind, value.sizes, self.number(kind))
        if value.sizes and happens(self.random, 0.2):
            return _iota(self, kind, value.sizes)
        return self.parameter(kind, value.sizes)

    def fold(self, opcode: str, kind: ElementType, form: str = "") -> str:
        """The name of a computation that folds two numbers: plain, turned, or in other words."""
        forms = [_PLAIN, *_FORMS_OF_FOLDS]
        if kind.kind in (Kind.SIGNED, Kind.UNSIGNED):
            forms.append(_EXTREMA_IN_OTHER_WORDS.get(opcode, _PLAIN))
        form = form or self.random.choice(forms)
        body = form.format(o=opcode, k=kind, last=kind.value_range.upper)
        name = f"{opcode}_{kind}_{forms.index(form)}"
        self.folds[name] = (
            f"{name} {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) {body} }}"
        )
        return name


_PLAIN: Final = "ROOT r = {k}[] {o}(a, b)"
_FORMS_OF_FOLDS: Final = ("ROOT r = {k}[] {o}(b, a)", "c = {k}[] copy(b) ROOT r = {k}[] {o}(a, c)")
_EXTREMA_IN_OTHER_WORDS: Final[Mapping[str, str]] = {
    "maximum": "l = {k}[] constant({last}) ROOT r = {k}[] clamp(a, b, l)",
    "minimum": "c = pred[] compare(b, a), direction=LT ROOT r = {k}[] select(c, b, a)",
}


def text_of(random: Random) -> str:
    """The text of a program."""
    draft = Draft(random)
    draft.parameter(_kind(random), _sizes(random))
    for _ in range(random.randint(1, 6)):
        step = random.choice(STEPS)
        step(draft, random.choice(draft.values[-3:]))
    rows = [_finished(draft, draft.values[-1])]
    while happens(random, 0.25):
        rows.append(_finished(draft, random.choice(draft.values)))
    if rows[1:]:
        names, shapes = ", ".join(row.name for row in rows), ", ".join(map(str, rows))
        draft.lines.append(f"ROOT all = ({shapes}) tuple({names})")
    else:
        last = next(n for n, line in enumerate(draft.lines) if line.startswith(rows[0].name + " "))
        draft.lines.append(f"ROOT {draft.lines.pop(last)}")
    body = "\n  ".join(draft.lines)
    return "\n".join(("HloModule m", *draft.folds.values(), f"ENTRY e {{\n  {body}\n}}", ""))


def _kind(random: Random) -> ElementType:
    return ElementType(random.choice(TYPES))


def _sizes(random: Random) -> tuple[int, ...]:
    if happens(random, 0.03):
        return (random.choice((130, 300)),)
    rank, least = random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4)), 0 if happens(random, 0.05) else 1
    return tuple(random.choice((least, 1, 2, 3, 4, 5, 7)) for _ in range(rank))


def _fits(sizes: Sequence[int]) -> bool:
    return prod(sizes) <= MAX_ELEMENTS and min(sizes, default=0) >= 0


# Steps: each adds instructions that read an array, if they fit.


def _unary(draft: Draft, x: Value) -> None:
    opcode = draft.random.choice(_UNARY[x.kind.kind])
    draft.add(x.kind, x.sizes, f"{opcode}({x.name})")


def _binary(draft: Draft, x: Value) -> None:
    opcode = draft.random.choice(_BINARY[x.kind.kind])
    names = [x.name, draft.like(x).name]
    draft.random.shuffle(names)
    draft.add(x.kind, x.sizes, f"{opcode}({', '.join(names)})")


def _compare(draft: Draft, x: Value) -> None:
    direction = draft.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
    if x.kind.kind is Kind.FLOAT and happens(draft.random, 0.2):
        draft.add(ElementType.PRED, x.sizes, f"is-finite({x.name})")
        return
    other = draft.like(x)
    draft.add(ElementType.PRED, x.sizes, f"compare({x.name}, {other.name}), direction={direction}")


def _select(draft: Draft, x: Value) -> None:
    sizes = x.sizes if happens(draft.random, 0.8) else ()
    asked = draft.like(Value("", ElementType.PRED, sizes))
    draft.add(x.kind, x.sizes, f"select({asked.name}, {x.name}, {draft.like(x).name})")


def _clamp(draft: Draft, x: Value) -> None:
    if x.kind.kind is Kind.BOOLEAN:
        return
    if happens(draft.random, 0.6):
        ends = [draft.scalar(x.kind).name for _ in range(2)]
    else:
        ends = [draft.like(x).name for _ in range(2)]
    draft.add(x.kind, x.sizes, f"clamp({ends[0]}, {x.name}, {ends[1]})")


def _convert(draft: Draft, x: Value) -> None:
    kind = _kind(draft.random)
    draft.add(kind, x.sizes, f"convert({x.name})")


def _iota(draft: Draft, kind: ElementType, sizes: Sequence[int]) -> Value:
    if kind is ElementType.PRED:
        return draft.parameter(kind, sizes)
    dimension = draft.random.randrange(len(sizes))
    return draft.add(kind, sizes, f"iota(), iota_dimension={dimension}")


def _counted(draft: Draft, x: Value) -> None:
    if x.sizes:
        _iota(draft, x.kind, x.sizes)


def _broadcast_scalar(draft: Draft, kind: ElementType, sizes: Sequence[int]) -> Value:
    return draft.add(kind, sizes, f"broadcast({draft.scalar(kind).name}), dimensions={{}}")


def _broadcast(draft: Draft, x: Value) -> None:
    random, sizes, dimensions = draft.random, list[int](), list[int]()
    for size in x.sizes:
        while happens(random, 0.3):
            sizes.append(random.choice((1, 2, 3, 4)))
        dimensions.append(len(sizes))
        sizes.append(size)
    while happens(random, 0.3):
        sizes.append(random.choice((1, 2, 3, 4)))
    if _fits(sizes):
        draft.add(x.kind, sizes, f"broadcast({x.name}), dimensions={{{_listed(dimensions)}}}")


def _reshape(draft: Draft, x: Value) -> None:
    left, sizes = prod(x.sizes), list[int]()
    if not left:
        return
    while left > 1 or happens(draft.random, 0.2):
        factors = [each for each in range(1, left + 1) if left % each == 0]
        sizes.append(draft.random.choice(factors))
        left //= sizes[-1]
    if len(sizes) <= MAX_RANK:
        draft.add(x.kind, sizes, f"reshape({x.name})")


def _transpose(draft: Draft, x: Value) -> None:
    order = draft.random.sample(range(len(x.sizes)), len(x.sizes))
    sizes = [x.sizes[each] for each in order]
    layout = draft.layout(len(sizes))
    draft.add(x.kind, sizes, f"transpose({x.name}), dimensions={{{_listed(order)}}}", layout)


def _copy(draft: Draft, x: Value) -> None:
    draft.add(x.kind, x.sizes, f"copy({x.name})", draft.layout(len(x.sizes)))


def _slice(draft: Draft, x: Value) -> None:
    rows, sizes = list[str](), list[int]()
    least = 0 if happens(draft.random, 0.03) else 1
    for size in x.sizes:
        start, step = draft.random.randrange(max(size, 1)), draft.random.choice((1, 1, 2, 3))
        limit = draft.random.randint(min(start + least, size), size)
        rows.append(f"[{start}:{limit}:{step}]")
        sizes.append(-(-(limit - start) // step))
    draft.add(x.kind, sizes, f"slice({x.name}), slice={{{', '.join(rows)}}}")


def _reverse(draft: Draft, x: Value) -> None:
    draft.add(x.kind, x.sizes, f"reverse({x.name}), dimensions={{{_listed(_some(draft, x))}}}")


def _some(draft: Draft, x: Value) -> list[int]:
    """Some of the dimensions of an array."""
    return [each for each in range(len(x.sizes)) if happens(draft.random, 0.5)]


def _pad(draft: Draft, x: Value) -> None:
    rows, sizes = list[str](), list[int]()
    for size in x.sizes:
        low, high = (draft.random.choice((0, 0, 0, 1, 2, -1)) for _ in range(2))
        between = draft.random.choice((0, 0, 0, 1, 2))
        rows.append(f"{low}_{high}_{between}")
        sizes.append(low + size + max(size - 1, 0) * between + high)
    if rows and _fits(sizes):
        value = draft.scalar(x.kind)
        draft.add(x.kind, sizes, f"pad({x.name}, {value.name}), padding={'x'.join(rows)}")


def _concatenate(draft: Draft, x: Value) -> None:
    if not x.sizes:
        return
    dimension, parts = draft.random.randrange(len(x.sizes)), [x]
    for _ in range(draft.random.randint(1, 2)):
        sizes = [*x.sizes]
        sizes[dimension] = draft.random.choice((x.sizes[dimension], 1, 2, 3))
        parts.append(draft.like(Value("", x.kind, tuple(sizes))))
    draft.random.shuffle(parts)
    sizes = [*x.sizes]
    sizes[dimension] = sum(part.sizes[dimension] for part in parts)
    names = ", ".join(part.name for part in parts)
    if _fits(sizes):
        draft.add(x.kind, sizes, f"concatenate({names}), dimensions={{{dimension}}}")


def _folding(draft: Draft, kind: ElementType, *, is_any: bool = True) -> tuple[str, str]:
    """The computation that folds, and where it starts.

    A start that changes values is one of plain folds: XLA takes it once, or never where nothing is
    folded, and says that it may take it more often.
    """
    is_small = kind in SMALL_FLOATS  # their products are those of f32, without overflow
    opcode = draft.random.choice(_FOLDS[kind.kind][is_small:])
    if is_any and happens(draft.random, 0.3):
        return draft.fold(opcode, kind, _PLAIN), draft.scalar(kind).name
    value = neutral_element(opcode, kind)
    text = str(bool(value)).lower() if kind is ElementType.PRED else str(value)
    return draft.fold(opcode, kind), draft.constant(kind, (), text).name


def _reduce(draft: Draft, x: Value) -> None:
    dimensions = _some(draft, x)
    fold, start = _folding(draft, x.kind, is_any=bool(dimensions))
    sizes = [size for each, size in enumerate(x.sizes) if each not in dimensions]
    given = f"dimensions={{{_listed(dimensions)}}}, to_apply={fold}"
    draft.add(x.kind, sizes, f"reduce({x.name}, {start}), {given}")


def _reduce_two(draft: Draft, x: Value) -> None:
    """The greatest number and its last place; or, where no number is, that and a sum."""
    if x.kind is ElementType.PRED or not x.sizes:
        return
    opcode, dimensions = "reduce", _some(draft, x)
    given = f"dimensions={{{_listed(dimensions)}}}"
    sizes = [size for each, size in enumerate(x.sizes) if each not in dimensions]
    found = _window(draft, x) if happens(draft.random, 0.3) else None
    if found is not None:
        opcode, (given, sizes) = "reduce-window", found
    is_float = x.kind.kind is Kind.FLOAT
    draft.folds[f"both_{x.kind}"] = (
        f"both_{x.kind} {{ a = {x.kind}[] parameter(0) i = s32[] parameter(1) "
        f"b = {x.kind}[] parameter(2) j = s32[] parameter(3) v = {x.kind}[] maximum(a, b) "
        f"{_SUM if is_float else _PLACE} ROOT t = ({x.kind}[], s32[]) tuple(v, p) }}"
    )
    low = draft.constant(x.kind, (), str(neutral_element("maximum", x.kind)))
    places = draft.like(x, ElementType.S32)
    none = draft.constant(ElementType.S32, (), "0" if is_float else "-2147483648")
    both = f"t{next(draft.numbers)}"
    shapes = f"({Value('', x.kind, tuple(sizes))}, {Value('', ElementType.S32, tuple(sizes))})"
    operands = f"{x.name}, {places.name}, {low.name}, {none.name}"
    draft.lines.append(f"{both} = {shapes} {opcode}({operands}), {given}, to_apply=both_{x.kind}")
    for number, kind in enumerate((x.kind, ElementType.S32)):
        draft.add(kind, sizes, f"get-tuple-element({both}), index={number}")


_SUM: Final = "p = s32[] add(i, j)"
_PLACE: Final = """c = pred[] compare(a, b), direction=GT d = pred[] compare(a, b), direction=EQ
  k = s32[] maximum(i, j) l = s32[] select(d, k, j) p = s32[] select(c, i, l)"""


def _window(draft: Draft, x: Value) -> tuple[str, list[int]] | None:
    """The attribute of a window, and the sizes of the result."""
    random = draft.random
    rows, sizes = list[tuple[str, ...]](), list[int]()
    for size in x.sizes:
        window, stride = random.choice((1, 1, 2, 3)), random.choice((1, 1, 1, 2))
        low, high = (random.choice((0, 0, 0, 1, 2, -1)) for _ in range(2))
        holes, spread = random.choice((1, 1, 1, 2, 3)), random.choice((1, 1, 1, 2))
        dilated, reach = max(size - 1, -1) * holes + 1 + low + high, (window - 1) * spread + 1
        sizes.append((dilated - reach) // stride + 1 if dilated >= reach else 0)
        rows.append((str(window), str(stride), f"{low}_{high}", str(holes), str(spread)))
    if not rows or not _fits(sizes) or not prod(x.sizes):
        return None
    columns = map("x".join, zip(*rows, strict=True))
    parts = " ".join(f"{name}={each}" for name, each in zip(_WINDOW, columns, strict=True))
    return f"window={{{parts}}}", sizes


def _reduce_window(draft: Draft, x: Value) -> None:
    found = _window(draft, x)
    if found is not None:
        fold, start = _folding(draft, x.kind)
        given = f"{found[0]}, to_apply={fold}"
        draft.add(x.kind, found[1], f"reduce-window({x.name}, {start}), {given}")


_WINDOW: Final = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate")


def _shared(draft: Draft, x: Value) -> None:
    """Folds that all elements read which are folded."""
    _reduce(draft, x)
    total = draft.values[-1]
    if x.sizes[: len(total.sizes)] != total.sizes:
        return
    dimensions = _listed(range(len(total.sizes)))
    spread = draft.add(x.kind, x.sizes, f"broadcast({total.name}), dimensions={{{dimensions}}}")
    opcode = "or" if x.kind is ElementType.PRED else "add"
    draft.add(x.kind, x.sizes, f"{opcode}({x.name}, {spread.name})")


# What is read where values say, and sums of products.


def _index(draft: Draft, sizes: Sequence[int] = ()) -> Value:
    """Starts: XLA on CPUs takes those of ``u32`` from ``2**31`` on for negative ones."""
    kind = ElementType(draft.random.choice(("s32", "s32", "u8", "s64")))
    return draft.like(Value("", kind, tuple(sizes)))


def _part(draft: Draft, x: Value) -> tuple[list[int], str]:
    """The sizes of a part of an array, and the names of its starts, of one type."""
    starts = [_index(draft)]
    starts += [draft.scalar(starts[0].kind) for _ in x.sizes[1:]]
    sizes = [draft.random.randint(min(size, 1), size) for size in x.sizes]
    return sizes, "".join(f", {each.name}" for each in starts[: len(x.sizes)])


def _dynamic_slice(draft: Draft, x: Value) -> None:
    sizes, starts = _part(draft, x)
    given = f"dynamic_slice_sizes={{{_listed(sizes)}}}"
    draft.add(x.kind, sizes, f"dynamic-slice({x.name}{starts}), {given}")


def _dynamic_update(draft: Draft, x: Value) -> None:
    sizes, starts = _part(draft, x)
    part = draft.like(Value("", x.kind, tuple(sizes)))
    draft.add(x.kind, x.sizes, f"dynamic-update-slice({x.name}, {part.name}{starts})")


def _gather(draft: Draft, x: Value) -> None:
    """Slices of all but one dimension, which indices count."""
    if not x.sizes or 0 in x.sizes:
        return
    axis, count = draft.random.randrange(len(x.sizes)), draft.random.choice((1, 2, 3, 5))
    places = _index(draft, (count,))
    sizes = [draft.random.randint(1, size) for size in x.sizes]
    sizes[axis] = 1
    kept = [count, *(size for number, size in enumerate(sizes) if number != axis)]
    if _fits(kept):
        given = (
            f"offset_dims={{{_listed(range(1, len(kept)))}}}, collapsed_slice_dims={{{axis}}}, "
            f"start_index_map={{{axis}}}, index_vector_dim=1, slice_sizes={{{_listed(sizes)}}}"
        )
        draft.add(x.kind, kept, f"gather({x.name}, {places.name}), {given}")


def _dot(draft: Draft, x: Value) -> None:
    """A product with an array that has the summed dimensions, and others; sums are exact."""
    if x.kind in (ElementType.PRED, *SMALL_FLOATS) or 0 in x.sizes:
        return
    summed = _some(draft, x)
    rest = [number for number in range(len(x.sizes)) if number not in summed]
    batch = [number for number in rest if happens(draft.random, 0.3)]
    columns = [draft.random.choice((1, 2, 5, 17)) for _ in range(draft.random.randint(0, 2))]
    own = [number for number in rest if number not in batch]
    sizes = [x.sizes[number] for number in (*batch, *summed)] + columns
    result = [x.sizes[number] for number in (*batch, *own)] + columns
    if not (_fits(sizes) and _fits(result)):
        return
    other = draft.parameter(x.kind, sizes)
    theirs = [*range(len(batch) + len(summed))]
    given = (
        f"lhs_batch_dims={{{_listed(batch)}}}, rhs_batch_dims={{{_listed(theirs[: len(batch)])}}}, "
        f"lhs_contracting_dims={{{_listed(summed)}}}, "
        f"rhs_contracting_dims={{{_listed(theirs[len(batch) :])}}}"
    )
    draft.add(x.kind, result, f"dot({x.name}, {other.name}), {given}")


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _finished(draft: Draft, x: Value) -> Value:
    """A result: seldom, a function that is only near; XLA's ``logistic`` of a constant NaN is 1."""
    is_near = happens(draft.random, 0.15) and not any("nan" in line for line in draft.lines)
    if x.kind.kind is Kind.FLOAT and is_near:
        return draft.add(x.kind, x.sizes, f"{draft.random.choice(_NEAR)}({x.name})")
    return x


_ON_BITS: Final = ("and", "or", "xor")
_UNARY: Final[Mapping[Kind, Sequence[str]]] = {
    Kind.BOOLEAN: ("not",),
    Kind.SIGNED: ("negate", "abs", "not", "sign", "popcnt"),
    Kind.UNSIGNED: ("negate", "not", "popcnt"),
    Kind.FLOAT: (
        *("negate", "abs", "sign", "sqrt"),
        *("floor", "ceil", "round-nearest-even", "round-nearest-afz"),
    ),
}
_SHIFTS: Final = ("shift-left", "shift-right-arithmetic", "shift-right-logical")
_NUMBERS: Final = ("add", "subtract", "multiply", "maximum", "minimum")
_BINARY: Final[Mapping[Kind, Sequence[str]]] = {
    Kind.BOOLEAN: (*_ON_BITS, "add", "multiply", "maximum", "minimum"),
    Kind.SIGNED: (*_NUMBERS, *_ON_BITS, *_SHIFTS, "divide", "remainder"),
    Kind.UNSIGNED: (*_NUMBERS, *_ON_BITS, *_SHIFTS, "divide", "remainder"),
    Kind.FLOAT: (*_NUMBERS, "divide", "remainder"),
}
_FOLDS: Final[Mapping[Kind, Sequence[str]]] = {
    Kind.BOOLEAN: ("and", "or", "xor", "maximum", "minimum"),
    Kind.SIGNED: [*NEUTRAL],
    Kind.UNSIGNED: [*NEUTRAL],
    Kind.FLOAT: ("multiply", "add", "maximum", "minimum"),
}
_NEAR: Final = (
    *("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic"),
    *("tanh", "sine", "cosine", "rsqrt", "cbrt"),
)

STEPS: Final[Sequence[Callable[[Draft, Value], None]]] = (
    *(_unary, _binary, _binary, _compare, _select, _clamp, _convert, _counted),
    *(_broadcast, _broadcast, _reshape, _transpose, _copy, _slice, _reverse),
    *(_pad, _pad, _concatenate, _reduce, _reduce, _reduce, _reduce_two, _shared),
    *(_reduce_window, _reduce_window),
    *(_dynamic_slice, _dynamic_update, _gather, _gather, _dot, _dot),
)
