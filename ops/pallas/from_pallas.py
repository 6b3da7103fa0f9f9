"""The calls of Pallas in a JAX function, read off its jaxpr."""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from indexing import Variable
from indexing.layout import ShapeError
from ops.jaxpr.from_jax import traced
from ops.jaxpr.jaxpr_builder import shape_of
from ops.pallas.block_spec import BlockSpec, ElementBlock, axis_names
from ops.pallas.blocked_array import BlockedArray
from ops.pallas.errors import PallasError
from ops.pallas.index_map_jaxpr import read_index_map
from ops.pallas.pallas_call import ARBITRARY, PARALLEL, PallasCall, semantics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ops.jaxpr.primitives import OfJax
    from ops.pallas.block_spec import BlockSize


def pallas_calls(function: Callable[..., Any], *arguments: OfJax) -> tuple[PallasCall, ...]:
    """The calls of ``pallas_call`` in what a JAX function does with arguments of some shapes.

    Arguments are arrays, ``jax.ShapeDtypeStruct``, or trees of these. The function is traced, not
    run. Calls inside of functions, loops and branches are found, too, each once.

    Raises:
        PallasError: JAX is not installed, or a grid, a block or an index map cannot be read.
        ArgumentError: the function cannot be called.
    """
    closed = traced("pallas_calls", PallasError, function, arguments)
    constants = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    return tuple(starmap(_read_call, _equations(closed.jaxpr, constants)))


def _equations(
    jaxpr: OfJax, constants: Mapping[OfJax, OfJax]
) -> Iterator[tuple[OfJax, Mapping[OfJax, OfJax]]]:
    """The calls of Pallas in a jaxpr, and in those that it contains, with constants around."""
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "pallas_call":
            yield equation, constants
            continue
        if name in _UNREAD:
            raise PallasError(f"pallas_calls: the function has {name}, which cannot be read")
        for parameter in equation.params.values():
            for inner, own in _jaxprs(parameter):
                pairs = zip(equation.invars, inner.invars, strict=False) if name == "jit" else ()
                passed = {
                    there: constants[here]
                    for here, there in pairs
                    if not hasattr(here, "val") and here in constants
                }
                yield from _equations(inner, {**own, **passed})


_UNREAD: Final = ("core_map", "mpmd_map")
"""Kernels that have no blocks by index maps."""


def _jaxprs(parameter: OfJax) -> Iterator[tuple[OfJax, Mapping[OfJax, OfJax]]]:
    """The jaxprs that a parameter holds, with their constants."""
    is_several = type(parameter) in (tuple, list)
    items: Iterable[OfJax] = parameter if is_several else (parameter,)
    for item in items:
        if hasattr(item, "eqns"):
            jaxpr = item if hasattr(item, "invars") else item.jaxpr
            yield jaxpr, dict(zip(jaxpr.constvars, getattr(item, "consts", ()), strict=False))


def _read_call(equation: OfJax, constants: Mapping[OfJax, OfJax]) -> PallasCall:
    mapping, given = equation.params["grid_mapping"], equation.params
    grid = tuple(map(_size_of_axis, mapping.grid))
    first = mapping.num_index_operands
    atoms = equation.invars[:first]
    values = [None if hasattr(atom, "val") else constants.get(atom) for atom in atoms]
    prefetched = [
        f"prefetched {number}" if value is None else value for number, value in enumerate(values)
    ]
    arrays = [
        _read_array(each, grid, prefetched, _name(number, mapping.num_inputs))
        for number, each in enumerate(mapping.block_mappings)
    ]
    inputs = arrays[: mapping.num_inputs]
    is_direct = _is_of_gpu(given["compiler_params"])
    outputs = [
        replace(each, is_filled=_fills(given["jaxpr"], first + place))
        if is_direct or not each.buffers
        else each
        for place, each in enumerate(arrays)
        if place >= mapping.num_inputs
    ]
    return PallasCall(
        grid,
        tuple(inputs),
        tuple(outputs),
        _semantics(given["compiler_params"], grid),
        tuple((operand - first, result) for operand, result in given["input_output_aliases"]),
        sum(map(_scratch_bytes, mapping.scratch_avals)),
    )


def _size_of_axis(size: OfJax) -> int:
    if not isinstance(size, int):
        raise PallasError("pallas_calls: a size of the grid is known only while the program runs")
    return size


def _name(number: int, inputs: int) -> str:
    return f"input {number}" if number < inputs else f"output {number - inputs}"


def _read_array(
    mapping: OfJax, grid: Sequence[int], prefetched: Sequence[OfJax], name: str
) -> BlockedArray:
    """The blocks of an array, as Pallas keeps them."""
    where = f"pallas_calls: {name} ({mapping.origin})"
    steps = [Variable.of_size(*axis) for axis in zip(grid, axis_names(len(grid)), strict=True)]
    shape = shape_of(mapping.array_aval)
    spec = BlockSpec([_block_size(each, where) for each in mapping.block_shape])
    indices, origins = read_index_map(mapping.index_map_jaxpr, steps, prefetched, where)
    buffers = 0 if _is_left(mapping) else getattr(mapping.pipeline_mode, "buffer_count", 2)
    return BlockedArray(name, shape, spec.block_of(shape), indices, buffers, origins)


def _block_size(size: OfJax, where: str) -> BlockSize:
    kind = type(size).__name__
    if kind not in _BLOCK_SIZES:
        raise PallasError(
            f"{where}: a dimension of the block is a {kind}, of unknown place or size"
        )
    return _BLOCK_SIZES[kind](size)


_BLOCK_SIZES: Final[Mapping[str, Callable[[OfJax], BlockSize]]] = {
    "int": lambda size: size,
    "Blocked": lambda size: size.block_size,
    "Element": lambda size: ElementBlock(size.block_size, tuple(size.padding)),
    "Squeezed": lambda _: None,
    "NoneType": lambda _: None,
}
"""The dimensions of blocks, by the names of Pallas's types."""

_LEFT: Final = ("any", "hbm")
"""The memories from which Pallas does not copy blocks: the kernel does it by itself."""


def _is_left(mapping: OfJax) -> bool:
    memory = getattr(mapping.transformed_block_aval, "memory_space", None)
    return str(memory).lower() in _LEFT


def _is_of_gpu(parameters: OfJax) -> bool:
    """Whether kernels write to the arrays themselves, and no blocks are copied."""
    module = type(parameters).__module__
    return "triton" in module or "mosaic_gpu" in module


def _fills(kernel: OfJax, place: int) -> bool:
    """Whether each step of a kernel certainly writes all of a reference."""
    reference = kernel.invars[place]
    return any(
        equation.primitive.name in ("swap", "addupdate")
        and equation.invars[0] is reference
        and equation.invars[1].aval.shape == reference.aval.shape
        and not any(index.aval.shape for index in equation.invars[2:])
        for equation in kernel.eqns
    )


def _semantics(parameters: OfJax, grid: Sequence[int]) -> tuple[str, ...]:
    """Of each axis: as the call says, or as all are on its device."""
    given = getattr(parameters, "dimension_semantics", None) or ()
    if not given and _is_of_gpu(parameters):
        return (PARALLEL[0],) * len(grid)
    names = [str(getattr(each, "value", each)) for each in given]
    return semantics_of([ARBITRARY if each == "sequential" else each for each in names], grid)


def _scratch_bytes(aval: OfJax) -> int:
    """The bytes of scratch memory; a semaphore has none."""
    try:
        shape = shape_of(aval.inner_aval if hasattr(aval, "inner_aval") else aval)
    except ShapeError:
        return 0
    return shape.element_count * shape.element_type.bytes
