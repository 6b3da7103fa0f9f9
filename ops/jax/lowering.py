"""Equations that JAX lowers itself: its own program for one of them, as instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ops.hlo.builder import CONTROL, InstructionBuilder
from ops.hlo.module import Computation, Instruction, with_copies
from ops.hlo.parser import parse
from ops.index_maps import Size
from ops.jax.primitives import OfJax, library, written
from simplifier.tools.graphs import postorder

_OPAQUE: Final = frozenset(["ffi_call", "io_callback", "pure_callback"])
"""The primitives that call something of which JAX knows nothing."""

_PLATFORMS: Final = ("tpu", "cpu")
"""Whose programs are asked for, until one calls no library."""


def lowered(equation: OfJax, symbols: Sequence[OfJax]) -> Computation | None:
    """JAX's program for an equation, if it has one and the sizes of its results are known.

    Its parameters are an array of each size in ``symbols``, which tells the size, and the operands.
    """
    if equation.primitive.name in _OPAQUE:
        return None
    jax = library()
    given = [jax.ShapeDtypeStruct((size,), "bool") for size in symbols]
    given += [jax.ShapeDtypeStruct(each.aval.shape, each.aval.dtype) for each in equation.invars]
    same = jax.make_jaxpr(_same)(*given).jaxpr
    alone = same.replace(
        eqns=[equation.replace(invars=same.invars[len(symbols) :])],
        outvars=equation.outvars,
        effects=equation.effects,
    )
    core = jax.extend.core
    function = jax.jit(core.jaxpr_as_fun(core.ClosedJaxpr(alone, ())), keep_unused=True)
    first: Computation | None = None
    for platform in _PLATFORMS:
        program = _program(function, given, platform, is_symbolic=bool(symbols))
        first = first or program
        if program is not None and not program.find(opcode="custom-call"):
            return program
    return first


def _same(*values: OfJax) -> OfJax:
    return values


def _program(
    function: OfJax, given: Sequence[OfJax], platform: str, *, is_symbolic: bool
) -> Computation | None:
    """The program of a compiled function for a platform, if it says what the function does."""
    try:
        if is_symbolic:
            text = library().export.export(function, platforms=[platform])(*given).mlir_module()
        else:
            text = function.trace(*given).lower(lowering_platforms=(platform,)).as_text()
        entry = parse(text).entry
    except Exception:  # noqa: BLE001 - JAX raises what its rules do
        return None
    is_whole = _sizes(entry.root) is not None and len(arrays(entry.parameters)) == len(given)
    return entry if is_whole else None


def arrays(values: Sequence[Instruction]) -> list[Instruction]:
    """The arrays among values: programs whose effects have an order take and give tokens, too."""
    return [each for each in values if each.shape.is_array]


def symbols_of(avals: Sequence[OfJax]) -> list[OfJax]:
    """The symbols in the sizes of arrays, as sizes."""
    sizes = [size for aval in avals for size in aval.shape if not isinstance(size, int)]
    read: list[OfJax] = [*map(written, sizes)]
    names = sorted({str(symbol) for size in read for symbol in size.free_symbols})
    scope = sizes[0].scope if sizes else None
    return [*library().export.symbolic_shape(", ".join(names), scope=scope)] if names else []


def inlined(
    builder: InstructionBuilder,
    results: Sequence[Instruction],
    instead: Callable[[Instruction], Instruction | None],
) -> list[Instruction]:
    """The results of a computation that becomes part of another one, with what they need.

    ``instead`` gives what takes the place of an instruction, as that of a parameter.
    """
    copies: dict[Instruction, Instruction] = {}

    def needed(each: Instruction) -> Sequence[Instruction]:
        found = instead(each)
        if found is None:
            return each.operands
        copies[each] = found
        return ()

    def made(each: Instruction) -> Instruction:
        if each.opcode != "call":
            return _copy(builder, each, copies)
        (called,) = each.computations
        given = dict(zip(called.parameters, map(copies.get, each.operands), strict=True))
        return inlined(builder, [called.root], given.get)[0]

    for each in postorder(results, needed):
        if each not in copies:
            copies[each] = made(each)
    return [copies[each] for each in results]


def _copy(
    builder: InstructionBuilder, instruction: Instruction, copies: Mapping[Instruction, Instruction]
) -> Instruction:
    inside = {each: _computation(builder, each) for each in instruction.computations}
    attributes = {
        name: with_copies(value, inside)
        for name, value in instruction.attributes.items()
        if name not in _LEFT_OUT
    }
    return builder.made(
        *(instruction.opcode, instruction.shape, _sizes(instruction)),
        [copies[operand] for operand in instruction.operands],
        attributes,
        literal=instruction.literal,
        number=instruction.parameter_number,
    )


def _sizes(instruction: Instruction) -> tuple[tuple[Size, ...], ...] | None:
    """The sizes of arrays, if all are known."""
    arrays = instruction.shape.arrays
    if instruction.sizes is None and not any(array.is_unbounded for array in arrays):
        return tuple(array.dimensions for array in arrays)
    return instruction.sizes


_LEFT_OUT: Final = frozenset(["metadata", "sharding", CONTROL])
"""Attributes that tell nothing about the function."""


def _computation(builder: InstructionBuilder, called: Computation) -> Computation:
    inside = builder.nested(own_names=True)
    parameters = {each: _copy(inside, each, {}) for each in called.parameters}
    (root,) = inlined(inside, [called.root], parameters.get)
    return inside.computation(called.name, inside.instructions, root)
