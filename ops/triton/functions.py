"""The functions of ``triton.language``: the formula of each, and the accesses to memory."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, Final, NoReturn

import sympy

from ops.triton import symbolic
from ops.triton.expressions import ExpressionReader
from ops.triton.symbolic import Formula, IntegerBlock, UnknownBlock, Value
from simplifier import FloorDiv, Max, Min, Mod


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call, with its arguments by place and by name."""

    reader: ExpressionReader
    node: ast.Call
    function: str
    arguments: Sequence[Value]
    named: Mapping[str, Value]

    def get(self, place: int, name: str, default: Value = None) -> Value:
        """An argument, by its place or its name."""
        if place < len(self.arguments):
            return self.arguments[place]
        return self.named.get(name, default)

    def block(self, place: int, name: str) -> IntegerBlock | UnknownBlock:
        """An argument as a block."""
        return symbolic.as_block(self.get(place, name))

    def formulas(self, values: Sequence[Value]) -> tuple[Formula, ...]:
        """The formulas of scalars."""
        return tuple(self.reader.formula(self.node, each) for each in values)

    def refuse(self, message: str) -> NoReturn:
        """Raise an error that points at the call."""
        self.reader.text.refuse(self.node, message)


def _of_grid(ask: Callable[[ExpressionReader, int], Formula]) -> Handler:
    def handler(call: FunctionCall) -> Value:
        found = _known_number(call, 0, "axis")
        if not 0 <= found < symbolic.MAX_AXES:
            call.refuse(f"a grid has no axis {found}; expected 0, 1 or 2")
        return IntegerBlock((), ask(call.reader, found))

    return handler


def _arange(call: FunctionCall) -> Value:
    start = _known_number(call, 0, "start")
    size = _known_number(call, 1, "end") - start
    if size < 1:
        call.refuse(f"this range has {size} elements; expected at least 1")
    return IntegerBlock((size,), sympy.Integer(start) + (symbolic.axis(0) if size > 1 else 0))


def _known_number(call: FunctionCall, place: int, name: str) -> int:
    found = call.get(place, name)
    if not symbolic.is_integer(found):
        call.refuse(f"{call.function}: {name} is no number that is known; expected a constexpr")
    return found


def _elementwise(apply: Callable[..., Formula]) -> Handler:
    def handler(call: FunctionCall) -> Value:
        named = (value for name, value in call.named.items() if name in _OPERANDS)
        blocks = map(symbolic.as_block, (*call.arguments, *named))
        return symbolic.combined(apply, *call.reader.alike(*blocks))

    return handler


def _ceiling(call: FunctionCall) -> Value:
    numerator, divisor = call.reader.alike(call.block(0, "x"), call.block(1, "div"), fit=False)
    return call.reader.quotient(symbolic.combined(_before_next, numerator, divisor), divisor)


def _before_next(numerator: Formula, divisor: Formula) -> Formula:
    return numerator + divisor - 1


def _absolute(value: Formula) -> Formula:
    return Max(value, -value)


def _where(call: FunctionCall) -> Value:
    return call.reader.chosen(call.get(0, "condition"), call.get(1, "x"), call.get(2, "y"))


def _expand_dims(call: FunctionCall) -> Value:
    value, place = call.block(0, "input"), call.get(1, "axis")
    if value.shape is None:
        return value
    items: list[int | None] = [*range(len(value.shape))]
    items.insert(place if place >= 0 else place + len(items) + 1, None)
    return symbolic.with_axes(value, items)


def _broadcast_to(call: FunctionCall) -> Value:
    value = call.block(0, "input")
    if value.shape is None:
        return replace(value, shape=_shape_behind(call))
    found = symbolic.common_shape([value.shape, _shape_behind(call)])
    if isinstance(value, UnknownBlock):
        return replace(value, shape=found)
    return replace(value, shape=found, formula=symbolic.aligned(value, len(found)))


def _transposed(call: FunctionCall) -> Value:
    value = call.block(0, "input")
    given = call.named.get("dims") or _shape_behind(call)
    if value.shape is None:
        return value
    return symbolic.with_axes(value, given or tuple(reversed(range(len(value.shape)))))


def _shape_behind(call: FunctionCall) -> tuple[int, ...]:
    """A shape behind the first argument: a tuple, or one argument for each dimension."""
    given = symbolic.items_of(call.get(1, "shape", ()))
    return tuple(call.arguments[1:]) if given is None else given


def _first(call: FunctionCall) -> Value:
    return call.get(0, "input")


def _nothing(_call: FunctionCall) -> Value:
    return None


def _filled(call: FunctionCall) -> Value:
    """A block of one value: of zeros, if the function takes none."""
    is_zero = call.function.endswith("zeros")
    value = symbolic.as_block(0) if is_zero else call.block(1, "value")
    dtype, shape = str(call.get(1 if is_zero else 2, "dtype")), _shape(call)
    if not isinstance(value, IntegerBlock) or shape is None:
        return UnknownBlock(shape, "a number that is no integer")
    return _of_type(call, replace(value, shape=shape), dtype)


def _cast(call: FunctionCall) -> Value:
    """A value of another type; of a smaller one, the low bits."""
    dtype = call.get(1, "dtype")
    if isinstance(dtype, UnknownBlock):
        return call.reader.unknown(f"a value of the type {dtype.reason}", call.block(0, "input"))
    return _of_type(call, call.block(0, "input"), str(dtype))


def _of_its_type(call: FunctionCall) -> Value:
    """``tl.int64(value)``."""
    return _of_type(call, call.block(0, "input"), call.function)


def _of_type(call: FunctionCall, value: Value, dtype: str) -> Value:
    name = dtype.rpartition(".")[2]
    if not isinstance(value, IntegerBlock) or name == "int1":
        return value
    limits = _LIMITS.get(name)
    if limits is None:
        return UnknownBlock(value.shape, f"a value of the type {name}")
    element_type = name.replace("uint", "u").replace("int", "i")
    if value.element_type == element_type:
        return value
    value = call.reader.of_type(symbolic.as_number(value), element_type)
    if not limits.contains(call.reader.bounds_of(value)):
        return symbolic.combined(partial(symbolic.low_bits, limits), value)
    return value


def _shape(call: FunctionCall) -> symbolic.BlockShape | None:
    given = call.get(0, "shape")
    items = symbolic.items_of(given)
    return _told((given,) if items is None else items)


def _told(shape: Sequence[Value]) -> symbolic.BlockShape | None:
    """A shape if all of its sizes are known."""
    return tuple(shape) if all(map(symbolic.is_integer, shape)) else None


def _reshaped(call: FunctionCall) -> Value:
    """A block of another shape, with its elements in the same order."""
    value = call.block(0, "input")
    count = prod(value.shape or ())
    shape = (count,) if call.function.endswith("ravel") else _told(_shape_behind(call))
    if isinstance(value, UnknownBlock):
        return replace(value, shape=shape if value.shape is not None else None)
    if shape is None or call.function.endswith("view") or call.named.get("can_reorder"):
        return UnknownBlock(shape, "a block in any order")
    if prod(shape) != count:
        call.refuse(f"a block of the shape {value.shape} has no shape {shape}")
    place = sum(
        symbolic.axis(number) * prod(shape[number + 1 :])
        for number, size in enumerate(shape)
        if size > 1
    )
    old = {
        symbolic.axis(number): Mod(FloorDiv(place, prod(value.shape[number + 1 :])), size)
        for number, size in enumerate(value.shape)
    }
    return replace(value, shape=shape, formula=value.formula.xreplace(old))


def _dot(call: FunctionCall) -> Value:
    left, right = call.block(0, "input"), call.block(1, "other")
    if left.shape is None or right.shape is None:
        return UnknownBlock(None, "a product of matrices")
    return UnknownBlock((*left.shape[:-1], right.shape[-1]), "a product of matrices")


def _reduced(call: FunctionCall) -> Value:
    if symbolic.items_of(call.get(0, "input")) is not None or call.named.get("return_indices"):
        return UnknownBlock(None, "a reduction")
    value = call.block(0, "input")
    place = call.get(1, "axis")
    if not value.shape or place is None:
        return UnknownBlock(value.shape and (), "a reduction")
    place = place % max(1, len(value.shape))
    kept = 1 if call.named.get("keep_dims") else None
    sizes = [kept if number == place else size for number, size in enumerate(value.shape)]
    return UnknownBlock(tuple(size for size in sizes if size is not None), "a reduction")


def _unread(call: FunctionCall) -> Value:
    """A function of numbers, element by element."""
    given = (value for value in call.arguments if not isinstance(value, (str, tuple)))
    blocks = map(symbolic.as_block, given)
    return UnknownBlock(call.reader.unknown("", *blocks).shape, f"{call.function} of numbers")


def unknown_function(call: FunctionCall) -> Value:
    """What a function gives that nobody knows: it has no pointer, by which it could read."""
    for value in _flat([*call.arguments, *call.named.values()]):
        call.reader.passed(call.node, call.function, value)
    return UnknownBlock(None, f"the result of {call.function or 'a function'}")


def _flat(values: Iterable[Value]) -> Iterator[Value]:
    for value in values:
        items = symbolic.items_of(value)
        yield from [value] if items is None else _flat(items)


def _is_instance(call: FunctionCall) -> Value:
    """Whether a value is of some types of Triton or Python."""
    value, types = call.arguments
    if isinstance(value, symbolic.TensorPointer):
        kind = "descriptor" if value.is_descriptor else "block_ptr"
    else:
        is_runtime = isinstance(value, symbolic.RuntimeInteger) or not symbolic.known(value)
        kind = "tensor" if is_runtime else "constexpr"
    names = [str(each) for each in _flat([types])]
    return any(f".{each}".endswith((f".{kind}", f"_{kind}")) for each in names)


def _random(call: FunctionCall) -> Value:
    return UnknownBlock(call.block(1, "offset").shape, "a random number")


# Memory.


def _accessed(call: FunctionCall) -> Value:
    """A load, a store or an atomic operation, by addresses or by a block pointer."""
    kind = _KINDS.get(call.function, call.function.rpartition(".")[2])
    other = sorted({*call.named} - _ARGUMENTS_OF_MEMORY)
    if other:
        call.refuse(f"{call.function} has no argument {other[0]!r}")
    pointer = call.get(0, "pointer")
    if isinstance(pointer, symbolic.TensorPointer) and not pointer.strides:
        address = IntegerBlock((), pointer.base)
        return call.reader.accessed(call.node, kind, address, None, pointer)
    if isinstance(pointer, symbolic.TensorPointer):
        every = range(len(pointer.offsets)) if pointer.is_descriptor else ()
        checked = every or call.get(_PLACE_OF_CHECK, "boundary_check", ())
        address, held = pointer.address(), pointer.within(checked)
        mask = IntegerBlock(address.shape, held)
    else:
        mask = call.get(_PLACE_OF_MASK.get(kind, 2), "mask")
        address = symbolic.as_block(pointer)
    if address.shape is not None:
        _check_shapes(call, address.shape)
    return call.reader.accessed(call.node, kind, address, mask)


def _check_shapes(call: FunctionCall, shape: symbolic.BlockShape) -> None:
    """Check a stored value and a mask, which are broadcast to the pointers, not the reverse."""
    for value in (*call.arguments[1:], *call.named.values()):
        if symbolic.known(value) or value.shape is None:
            continue
        if symbolic.common_shape([shape, value.shape]) != shape:
            call.refuse(f"a block of the shape {value.shape} does not fit pointers of {shape}")


def _tensor_pointer(*names: str) -> Handler:
    """A block of a tensor, by arguments of these names; without offsets, it is a descriptor."""

    def handler(call: FunctionCall) -> Value:
        given = {name: call.get(place, name, ()) for place, name in enumerate(names)}
        block = given["block_shape"]
        parts = [given["shape"], given["strides"], given.get("offsets", (0,) * len(block))]
        is_fitting = all(len(part) == len(block) for part in parts)
        if not is_fitting or not all(map(symbolic.is_integer, block)):
            expected = "expected as many sizes, strides, offsets and sizes of a block"
            call.refuse(f"{call.function}: {expected}")
        (base,) = call.formulas([given["base"]])
        sizes, strides, offsets = map(call.formulas, parts)
        found = symbolic.TensorPointer(base, sizes, strides, offsets, tuple(block))
        return replace(found, is_descriptor="offsets" not in names)

    return handler


def _advanced(call: FunctionCall) -> Value:
    return _moved(call, call.get(0, "base"), call.get(1, "offsets"), "block pointer")


def _by_descriptor(call: FunctionCall) -> Value:
    """``descriptor.load(offsets)`` and ``descriptor.store(offsets, value)``."""
    pointer, offsets, *others = call.arguments
    if call.function.endswith("descriptor_load"):  # behind the offsets is the block
        pointer, others = _described(call, pointer, offsets, others[0]), []
    elif call.function.endswith("descriptor_store"):  # the value is before the offsets
        offsets, others = others[0], [offsets]
    pointer = _described(call, pointer, offsets)
    moved = _moved(call, pointer, offsets, "tensor descriptor")
    return _accessed(replace(call, arguments=(moved, *others)))


def _described(
    call: FunctionCall, value: Value, offsets: Sequence[Value], block: Sequence[int] | None = None
) -> Value:
    """An argument as a descriptor of which nothing is known but its rank, and maybe its block."""
    is_argument = isinstance(value, IntegerBlock) and call.reader.may_point(value)
    if not is_argument or not value.formula.is_Symbol:
        return value
    start = (sympy.Integer(0),) * len(offsets)
    block = None if block is None else tuple(block)
    return symbolic.TensorPointer(value.formula, (), (), start, block, is_descriptor=True)


def _moved(
    call: FunctionCall, pointer: Value, by: Sequence[Value], what: str
) -> symbolic.TensorPointer:
    """A block of a tensor at other offsets."""
    if not isinstance(pointer, symbolic.TensorPointer):
        call.refuse(f"this is no {what}")
    return pointer.moved(call.formulas(by))


Handler = Any
"""From a call to a value."""

_OPERANDS: Final = ("x", "y", "div", "input")
"""Names of arguments that are operands, beside others such as ``dtype``."""

_OF_BLOCKS: Final = ("base", "shape", "strides")

_PLACE_OF_MASK: Final = {"load": 1, "atomic_cas": 3}
"""Where the mask stands, if not behind the pointer and the value."""

_PLACE_OF_CHECK: Final = 3

_ARGUMENTS_OF_MEMORY: Final = frozenset(
    (
        *("pointer", "mask", "other", "value", "val", "cmp", "boundary_check", "padding_option"),
        *("cache", "cache_modifier", "eviction_policy", "volatile", "sem", "scope"),
    )
)
"""Names of arguments of loads, stores and atomic operations."""

_MEMORY: Final = (
    "load",
    "store",
    *(f"atomic_{kind}" for kind in ("add", "max", "min", "and", "or", "xor", "xchg", "cas")),
)

_KINDS: Final = {
    "tl.load_tensor_descriptor": "load",
    "tl.store_tensor_descriptor": "store",
    "tl._experimental_descriptor_load": "load",
    "tl._experimental_descriptor_store": "store",
}
"""Functions of descriptors, as what their accesses are."""

_LIMITS: Final = {
    f"{sign}int{bits}": symbolic.limits_of(f"{sign or 'i'}{bits}")
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
"""Ranges of the types of integers."""

_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")

_REDUCTIONS: Final = ("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "reduce_or")

_OF_NUMBERS: Final = (
    *("exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "sin", "cos", "tanh", "erf"),
    *("sigmoid", "softmax", "floor", "ceil", "fma", "fdiv", "div_rn", "clamp"),
    *("cumsum", "cumprod", "sort", "flip"),
)
"""Functions of numbers that are no integers, or are known only while the kernel runs."""

_KEPT: Final = ("tl.multiple_of", "tl.max_contiguous", "tl.max_constancy", "tl.constexpr")
"""Functions that only tell the compiler something of a value."""

_STATEMENTS: Final = (
    *("tl.static_assert", "tl.static_print", "tl.device_assert", "tl.device_print"),
    *("tl.debug_barrier", "tl.assume"),
)
"""Functions without a value."""

FUNCTIONS: Final[Mapping[str, Handler]] = {
    "tl.program_id": _of_grid(ExpressionReader.program_id),
    "tl.num_programs": _of_grid(ExpressionReader.num_programs),
    "tl.arange": _arange,
    "tl.cdiv": _ceiling,
    **dict.fromkeys(("min", "tl.minimum"), _elementwise(Min)),
    **dict.fromkeys(("max", "tl.maximum"), _elementwise(Max)),
    **dict.fromkeys(("abs", "tl.abs"), _elementwise(_absolute)),
    "tl.where": _where,
    "tl.expand_dims": _expand_dims,
    "tl.broadcast_to": _broadcast_to,
    **dict.fromkeys(("tl.trans", "tl.permute", ".trans", ".permute"), _transposed),
    **dict.fromkeys(("tl.reshape", "tl.view", "tl.ravel", ".reshape"), _reshaped),
    **dict.fromkeys(("tl.zeros", "tl.full"), _filled),
    "tl.dot": _dot,
    **dict.fromkeys(("tl.cast", ".to", ".cast"), _cast),
    **{f"tl.{name}": _of_its_type for name in (*_LIMITS, "int1", *_FLOATS)},
    "isinstance": _is_instance,
    **dict.fromkeys(("int", *_KEPT), _first),
    **dict.fromkeys(("tl.rand", "tl.randn", "tl.randint"), _random),
    **dict.fromkeys(("print", *_STATEMENTS), _nothing),
    "tl.make_block_ptr": _tensor_pointer(*_OF_BLOCKS, "offsets", "block_shape"),
    "tl.advance": _advanced,
    "tl.make_tensor_descriptor": _tensor_pointer(*_OF_BLOCKS, "block_shape"),
    **{f"tl.{name}": _accessed for name in _MEMORY},
    **{f"{home}.{name}": _reduced for home in ("tl", "") for name in _REDUCTIONS},
    **{f"{home}.{name}": _unread for home in ("tl", "", "tl.math") for name in _OF_NUMBERS},
    **dict.fromkeys(("tl.zeros_like", "float"), _unread),
    **dict.fromkeys((*_KINDS, *(f".{name}" for name in _MEMORY)), _by_descriptor),
    "tl._experimental_make_tensor_descriptor": _tensor_pointer(*_OF_BLOCKS, "block_shape"),
}
"""The functions by name; the name of a method begins with a point."""

_ALIASES: Final = {"triton.language.": "tl.", "triton.": "tl.", "libdevice.": "tl.math."}
"""Other names of the module, with the one of the table."""


def plain_name(function: str) -> str:
    """The name of a function in the table.

    >>> plain_name("triton.language.load"), plain_name("triton.cdiv"), plain_name("tl.load")
    ('tl.load', 'tl.cdiv', 'tl.load')
    """
    for prefix, plain in _ALIASES.items():
        if function.startswith(prefix):
            return plain + function.removeprefix(prefix)
    return function
