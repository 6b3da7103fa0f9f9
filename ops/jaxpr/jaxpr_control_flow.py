"""Loops and branches of JAX as those of HLO.

Loops are ``while`` and ``scan``, and so ``map`` and most of ``fori_loop``. Branches are ``cond``,
and so ``switch``.

A scan of a known length is a ``while`` that counts, with slices and updates in its body. One of
symbolic length or sizes is the operation ``scan``, whose rule looks at what one step uses.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.layout import Shape
from ops.jaxpr.jaxpr_builder import shape_of, sizes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo.module import Computation, Instruction
    from ops.jaxpr.jaxpr_builder import JaxprBuilder
    from ops.jaxpr.primitives import OfJax


def _while(
    builder: JaxprBuilder, equation: OfJax, operands: list[Instruction]
) -> list[Instruction]:
    """A loop that runs while a jaxpr gives true; its state begins with what both jaxprs read."""
    given, state = equation.params, _avals(equation.invars)
    condition, body = given["cond_nconsts"], given["cond_nconsts"] + given["body_nconsts"]

    def next_state(inside: JaxprBuilder, before: list[Instruction]) -> list[Instruction]:
        read = before[condition:]
        return [*before[:body], *inside.run(given["body_jaxpr"], read)]

    def goes_on(inside: JaxprBuilder, before: list[Instruction]) -> list[Instruction]:
        return inside.run(given["cond_jaxpr"], before[:condition] + before[body:])

    return _loop(builder, state, operands, next_state, goes_on)[body:]


def _cond(builder: JaxprBuilder, equation: OfJax, operands: list[Instruction]) -> list[Instruction]:
    """Jaxprs of which the first operand chooses one; each takes all other operands."""
    chosen, *given = operands
    state, after = _avals(equation.invars[1:]), _avals(equation.outvars)

    def branch(closed: OfJax) -> InsideOfCall:
        return lambda inside, arguments: inside.run(closed, arguments)

    jaxprs = equation.params["branches"]
    branches = tuple(_called(builder, "branch", state, branch(each)) for each in jaxprs)
    arguments = [_tuple(builder, given)] * len(branches)
    attributes = {"branch_computations": branches}
    return _elements(
        builder, builder.made("conditional", *_state(after), [chosen, *arguments], attributes)
    )


def _scan(builder: JaxprBuilder, equation: OfJax, operands: list[Instruction]) -> list[Instruction]:
    """A jaxpr for slice after slice, which carries values from each to the next."""
    avals = _avals(equation.outvars)
    scanned = _Scan(equation.params, _avals(equation.invars), avals)
    if scanned.is_symbolic and scanned.has_rows:
        return scanned.at_once(builder, operands)
    if isinstance(scanned.length, int):
        return scanned.step_by_step(builder, operands)
    target = {"custom_call_target": "scan of symbolic length without rows"}
    return _elements(builder, builder.add("custom-call", avals, operands, target))


InsideOfCall: TypeAlias = "Callable[[JaxprBuilder, list[Instruction]], list[Instruction]]"
"""Adds what a loop or branch computes of the arrays of its state to a computation it calls."""

CONTROL_FLOW: Final[Mapping[str, Callable[..., list[Instruction]]]] = {
    "cond": _cond,
    "scan": _scan,
    "while": _while,
}
"""The primitives that choose jaxprs or run them again and again, and what is made of each."""


class _Scan:
    """The parts of a scan: what its jaxpr reads, carries, takes slices of, and stacks up."""

    def __init__(
        self, given: Mapping[str, Any], before: Sequence[OfJax], after: Sequence[OfJax]
    ) -> None:
        self.jaxpr = given["jaxpr"]
        self.length = given["length"]
        self.is_reverse = given["reverse"]
        self.before = before
        self.carries = given["num_carry"]
        self.fixed = given["num_consts"]
        self.kept = self.fixed + self.carries
        self.stacked = after[self.carries :]
        self.integer = SimpleNamespace(shape=(), dtype="int32")

    @property
    def has_rows(self) -> bool:
        """Whether anything is sliced or stacked up."""
        return len(self.before) > self.kept or bool(self.stacked)

    @property
    def is_symbolic(self) -> bool:
        """Whether the length or a size is an expression."""
        arrays = [each.shape for each in (*self.before, *self.stacked)]
        sizes = (size for shape in (*arrays, (self.length,)) for size in shape)
        return not all(isinstance(size, int) for size in sizes)

    # A loop that counts.

    def step_by_step(self, builder: JaxprBuilder, operands: list[Instruction]) -> list[Instruction]:
        """A loop with slices and updates; of its state, the counter comes first."""
        start = builder.constant(self.integer, 0)
        nothing = [builder.constant(aval) for aval in self.stacked]
        avals = [self.integer, *self.before, *self.stacked]
        state = [start, *operands, *nothing]
        after = _loop(builder, avals, state, self._next_state, self._goes_on)
        return after[1 + self.fixed : 1 + self.kept] + after[1 + len(operands) :]

    def _goes_on(self, inside: JaxprBuilder, state: list[Instruction]) -> list[Instruction]:
        end = inside.constant(self.integer, self.length)
        truth = SimpleNamespace(shape=(), dtype="bool")
        return [inside.add("compare", [truth], [state[0], end], {"direction": "LT"})]

    def _next_state(self, inside: JaxprBuilder, state: list[Instruction]) -> list[Instruction]:
        counter, kept = state[0], state[1 : 1 + self.kept]
        inputs, outputs = state[1 + self.kept : 1 + len(self.before)], state[1 + len(self.before) :]
        place = self._place(inside, counter)
        slices = [
            self._slice(inside, array, aval, place)
            for array, aval in zip(inputs, self.before[self.kept :], strict=True)
        ]
        results = inside.run(self.jaxpr, [*kept, *slices])
        updated = [
            self._update(inside, array, made, aval, place)
            for array, made, aval in zip(
                outputs, results[self.carries :], self.stacked, strict=True
            )
        ]
        one = inside.constant(self.integer, 1)
        after = inside.add("add", [self.integer], [counter, one])
        carried = results[: self.carries]
        return [after, *kept[: self.fixed], *carried, *inputs, *updated]

    def _place(self, inside: JaxprBuilder, counter: Instruction) -> Instruction:
        if not self.is_reverse:
            return counter
        last = inside.constant(self.integer, self.length - 1)
        return inside.add("subtract", [self.integer], [last, counter])

    def _slice(
        self, inside: JaxprBuilder, array: Instruction, aval: OfJax, place: Instruction
    ) -> Instruction:
        row = _aval(aval, (1, *aval.shape[1:]))
        sizes = {"dynamic_slice_sizes": row.shape}
        taken = inside.add(
            "dynamic-slice", [row], [array, *self._start(inside, aval, place)], sizes
        )
        return inside.add("reshape", [_aval(aval, aval.shape[1:])], [taken])

    def _update(
        self,
        inside: JaxprBuilder,
        array: Instruction,
        made: Instruction,
        aval: OfJax,
        place: Instruction,
    ) -> Instruction:
        row = inside.add("reshape", [_aval(aval, (1, *aval.shape[1:]))], [made])
        start = self._start(inside, aval, place)
        return inside.add("dynamic-update-slice", [aval], [array, row, *start])

    def _start(self, inside: JaxprBuilder, aval: OfJax, place: Instruction) -> list[Instruction]:
        return [place, *(inside.constant(self.integer, 0) for _ in aval.shape[1:])]

    # Any length.

    def at_once(self, builder: JaxprBuilder, operands: list[Instruction]) -> list[Instruction]:
        """The operation ``scan``: what the jaxpr only reads is carried as it is."""
        kept, inputs = operands[: self.kept], operands[self.kept :]
        rows = [_aval(aval, aval.shape[1:]) for aval in self.before[self.kept :]]
        inside = builder.nested()
        parameters = [
            inside.add("parameter", [aval], number=number)
            for number, aval in enumerate([*rows, *self.before[: self.kept]])
        ]
        slices, carried = parameters[: len(rows)], parameters[len(rows) :]
        results = inside.run(self.jaxpr, [*carried, *slices])
        after = [*results[self.carries :], *carried[: self.fixed], *results[: self.carries]]
        _tuple(inside, after)
        attributes: dict[str, Any] = {
            "dimensions": (0,),
            "num_carries": self.kept,
            "is_reverse": self.is_reverse,
            "to_apply": inside.computation("step", inside.instructions),
        }
        avals = [*self.stacked, *self.before[: self.kept]]
        found = _elements(builder, builder.add("scan", avals, [*inputs, *kept], attributes))
        outputs, last = found[: len(self.stacked)], found[len(self.stacked) :]
        return [*last[self.fixed :], *outputs]


def _loop(
    builder: JaxprBuilder,
    avals: Sequence[OfJax],
    state: Sequence[Instruction],
    next_state: InsideOfCall,
    goes_on: InsideOfCall,
) -> list[Instruction]:
    """The arrays of a state after a ``while``, and so the results of these functions in it."""
    attributes = {
        "condition": _called(builder, "condition", avals, goes_on, is_tuple=False),
        "body": _called(builder, "body", avals, next_state),
    }
    before = _tuple(builder, state)
    return _elements(
        builder, builder.made("while", before.shape, before.sizes, [before], attributes)
    )


def _called(
    builder: JaxprBuilder,
    name: str,
    avals: Sequence[OfJax],
    make: InsideOfCall,
    *,
    is_tuple: bool = True,
) -> Computation:
    """A computation of a tuple of arrays, which gives a tuple, or one array."""
    inside = builder.nested()
    shape, sizes = _state(avals)
    given = inside.made("parameter", shape, sizes, number=0)
    results = make(inside, _elements(inside, given))
    if is_tuple:
        _tuple(inside, results)
    else:
        inside.made("copy", results[0].shape, results[0].sizes, results)
    return inside.computation(name, inside.instructions)


def _tuple(builder: JaxprBuilder, arrays: Sequence[Instruction]) -> Instruction:
    sizes = tuple(size for each in arrays for size in each.sizes or ())
    shape = Shape.of_tuple([each.shape for each in arrays])
    return builder.made("tuple", shape, sizes, arrays)


def _elements(builder: JaxprBuilder, made: Instruction) -> list[Instruction]:
    """The elements of a tuple, or an array itself."""
    if not made.shape.is_tuple:
        return [made]
    return [
        builder.made("get-tuple-element", shape, (size,), [made], {"index": number})
        for number, (shape, size) in enumerate(
            zip(made.shape.elements, made.sizes or (), strict=True)
        )
    ]


def _state(avals: Sequence[OfJax]) -> tuple[Shape, tuple[Any, ...]]:
    return Shape.of_tuple([shape_of(each) for each in avals]), tuple(map(sizes_of, avals))


def _avals(atoms: Sequence[OfJax]) -> list[OfJax]:
    return [each.aval for each in atoms]


def _aval(like: OfJax, shape: Sequence[OfJax]) -> OfJax:
    return SimpleNamespace(shape=tuple(shape), dtype=like.dtype)
