"""Modules that run: XLA of an installed JAX compiles them for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, TypeAlias

from indexing.layout import ElementType, Kind, Shape
from ops.hlo.editor import ModuleEditor, edit
from ops.hlo.errors import RunError
from ops.hlo.literal import NUMPY_STEMS
from ops.hlo.module import MODULE, HloModule, Instruction
from simplifier.errors import check_type
from simplifier.forms import np

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

Program: TypeAlias = "Callable[..., list[Array]]"
"""From the arrays of the parameters to those of the result."""


def run(module: HloModule, *arguments: object) -> list[Array]:
    """The arrays of the result of a module, which JAX compiles and runs on the CPU.

    Arguments are arrays, or what NumPy makes arrays of, one for each parameter of the entry. A
    module is compiled once. This shows whether an edit changes a result.

    Raises:
        RunError: JAX is not installed, an argument does not fit its parameter, or XLA refuses the
            module.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[2,3] parameter(0)
    ...   ROOT t = f32[3,2] transpose(x), dimensions={1,0} }''')
    >>> (result,) = hlo.run(module, [[1, 2, 3], [4, 5, 6]])  # doctest: +SKIP
    >>> result.tolist()  # doctest: +SKIP
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    check_type(module, HloModule, "run: the module", MODULE)
    parameters = module.entry.parameters
    if len(arguments) != len(parameters):
        message = f"run: {len(arguments)} arguments for {len(parameters)} parameters"
        raise RunError(f"{message}; expected one for each")
    compiled = program(str(for_cpu(module)))
    pairs = zip(parameters, arguments, strict=True)
    return compiled(*(_array(each.name, each.shape, given) for each, given in pairs))


def for_cpu(module: HloModule) -> HloModule:
    """A module with the same results that XLA takes for CPUs.

    Fusions become calls, as it knows few kinds. Bitcasts, which would fix layouts, become
    transposes and reshapes: the elements stay as they are in memory.
    """
    editor = edit(module)
    for each in module.instructions:
        if each.opcode == "fusion":
            body, without = each.attributes["calls"], dict.fromkeys(_OF_FUSIONS)
            editor.replace(each, editor.clone(each, opcode="call", to_apply=body, **without))
        elif each.opcode == "bitcast":
            editor.replace(each, _moved(editor, each))
    return editor.finish()


_OF_FUSIONS: Final = ("kind", "calls", "output_to_operand_aliasing")


def _moved(editor: ModuleEditor, bitcast: Instruction) -> Instruction:
    """The elements of an operand in the order of its memory, put where the result has them."""
    (before,), made = editor.operands(bitcast), bitcast.shape
    flat = editor.insert("transpose", [before], dimensions=_order(before.shape))
    if before.shape.element_type is not made.element_type:
        flat = _read_as(editor, flat, made)
    order = _order(made)
    flat = _reshaped(editor, flat, [made.dimensions[axis] for axis in order])
    places = [order.index(axis) for axis in range(len(order))]
    return editor.clone(editor.insert("transpose", [flat], dimensions=places), shape=made)


def _order(shape: Shape) -> tuple[int, ...]:
    return shape.layout.major_to_minor if shape.layout else tuple(range(shape.rank))


def _read_as(editor: ModuleEditor, array: Instruction, made: Shape) -> Instruction:
    """The bits of an array as numbers of another type, of which there may be more or fewer."""
    before, after = array.shape.element_count, made.element_count
    bits = _reshaped(editor, array, [after, before // after] if before > after else [before])
    sizes = [before, after // before] if after > before else [after]
    return editor.insert("bitcast-convert", [bits], Shape(made.element_type, tuple(sizes)))


def _reshaped(editor: ModuleEditor, array: Instruction, sizes: Sequence[int]) -> Instruction:
    return editor.insert("reshape", [array], Shape(array.shape.element_type, tuple(sizes)))


def _array(name: str, shape: Shape, given: object) -> Array:
    """An argument as an array of the type of its parameter."""
    if shape.is_tuple:
        raise RunError(f"run: %{name} is a tuple, {shape}; expected parameters that are arrays")
    array = np.asarray(given).astype(dtype_of(shape.element_type))
    if array.shape != shape.dimensions:
        message = f"run: %{name} is {shape.arrays[0].short_text}, but its argument has the shape"
        raise RunError(f"{message} {list(array.shape)}")
    return array


def dtype_of(element_type: ElementType) -> np.dtype[Any]:
    """The type of NumPy's arrays for elements; the narrow ones are those that JAX adds."""
    name = str(element_type)
    if element_type.kind is Kind.BOOLEAN:
        return np.dtype("bool")
    if element_type.bits < _BITS or name.startswith(("bf", "f8")):
        _of_jax("ml_dtypes")
    if name.startswith(("bf", "f8")):
        return np.dtype(name.replace("bf", "bfloat").replace("f8", "float8_"))
    return np.dtype(f"{NUMPY_STEMS[element_type.kind]}{element_type.bits}")


_BITS: Final = 8


@lru_cache(maxsize=64)
def program(text: str, **debugging: object) -> Program:
    """The compiled entry of a module: arrays in, the arrays of the result out.

    ``debugging`` sets fields of XLA's ``DebugOptions``.
    """
    jax, client, extension = map(_of_jax, ("jax", "jaxlib.xla_client", "jaxlib._jax"))
    device = jax.devices("cpu")[0]
    options = client.CompileOptions()
    for name, value in debugging.items():
        setattr(options.executable_build_options.debug_options, name, value)
    try:
        parsed = _of_jax("jaxlib._hlo").hlo_module_from_text(text)
        computation = client.XlaComputation(parsed.as_serialized_hlo_module_proto())
        module = extension.mlir.xla_computation_to_mlir_module(computation)
        compiled = device.client.compile_and_load(module, extension.DeviceList((device,)), options)
    except (RuntimeError, ValueError) as error:  # those of XLA
        raise RunError(f"run: XLA refuses the module: {error}") from error

    def run_on(*operands: Array) -> list[Array]:
        with jax.enable_x64(True):  # noqa: FBT003 - as JAX has it
            given = [jax.device_put(operand, device) for operand in operands]
        results = compiled.execute_sharded(given).disassemble_into_single_device_arrays()
        return [np.asarray(result[0]) for result in results]

    return run_on


def _of_jax(name: str) -> Any:  # noqa: ANN401 - untyped
    """A module of JAX, or one that comes with it."""
    try:
        return import_module(name)
    except ImportError:
        message = "run: JAX is not installed; expected it, as after pip install jax"
        raise RunError(message) from None
