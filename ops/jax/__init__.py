"""JAX functions as HLO modules, also for shapes with symbolic sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, TypeVar

from indexing.layout import Shape, ShapeError
from indexing.passes import Constraint
from ops.hlo.builder import CONTROL, InstructionBuilder, legal_name
from ops.hlo.module import (
    NO_ATTRIBUTES,
    Computation,
    HloModule,
    Instruction,
    attributes_with_copies,
)
from ops.hlo.opcodes import neutral_element
from ops.hlo.parser import parse
from ops.index_maps import Size
from ops.jax import primitives
from ops.jax.primitives import FOLDS, JaxprBuilder, JaxprEquation, OfJax, library, shape_of, size_of
from simplifier.errors import ArgumentError, IndexingError, quoted
from simplifier.forms import Form, Interval
from simplifier.tools.graphs import postorder

__all__ = ["OfJax", "evaluated", "from_jax", "shape_of", "traced"]

T = TypeVar("T")


# Runs a jaxpr once, equation after equation, and adds an instruction for each.
#
# JAX exports such functions as StableHLO that computes its shapes while it runs. The jaxpr that
# it exports has the sizes as expressions. So each equation of the jaxpr becomes an instruction
# with dimensions of unknown size, `?`, and with these expressions as its sizes.


def from_jax(function: Callable[..., Any], *arguments: OfJax, **named: OfJax) -> HloModule:
    """The HLO module of a JAX function called with arguments of some shapes.

    Arguments are those of ``jax.jit(function).lower``: arrays, ``jax.ShapeDtypeStruct``, or trees
    of these, and static ones if the function is compiled with such. Their sizes may be symbolic,
    as ``jax.export.symbolic_shape("b, 4*s")`` and ``jax.export.symbolic_args_specs`` make them:
    ``b`` and ``s`` are parameters of the maps, and constraints of ``symbolic_shape`` are facts
    about them. Nothing is fused. Functions that the function calls are part of it, and loops are
    loops of the module: a ``scan`` becomes a ``while`` that counts, or if its length is symbolic
    the operation ``scan``. An equation without a rule here is the program that JAX lowers it to.
    Where that calls what nobody knows, as Python, it is a custom call of unknown maps.

    Raises:
        ShapeError: JAX is not installed, or a size or type has no place in HLO.
    """
    closed = traced("from_jax", ShapeError, function, arguments, named)
    name = re.sub(r"\W", "_", getattr(function, "__name__", "function"), flags=re.ASCII)
    return _Builder(_facts(closed.jaxpr.invars)).module(legal_name(name), closed)


def traced(
    where: str,
    error: type[IndexingError],
    function: Callable[..., Any],
    arguments: Iterable[OfJax],
    named: Mapping[str, OfJax] = NO_ATTRIBUTES,
) -> OfJax:
    """The closed jaxpr of a function, for whoever begins his messages with ``where``.

    Raises:
        ArgumentError: the function is none.
        error: JAX is not installed.
    """
    if not callable(function):
        raise ArgumentError(f"{where}: the function is {quoted(function)}; expected a callable")
    try:
        jax = library()
    except ImportError:
        message = f"{where}: JAX is not installed; expected it, as after pip install jax"
        raise error(message) from None
    compiled: OfJax = function if hasattr(function, "trace") else jax.jit(function)
    return compiled.trace(*arguments, **named).jaxpr


def evaluated(
    jaxpr: OfJax,
    constants: Iterable[OfJax],
    arguments: Iterable[T],
    constant: Callable[[OfJax, OfJax], T],
    apply: Callable[[OfJax, list[T]], Iterable[T]],
) -> list[T]:
    """The results of a jaxpr: ``apply`` gives those of an equation for some operands.

    ``constant`` gives the value of a constant, of which JAX knows the abstract value.
    """
    known: dict[Any, T] = dict(zip(jaxpr.invars, arguments, strict=True))
    rows = zip(jaxpr.constvars, constants, strict=True)
    known |= {variable: constant(variable.aval, value) for variable, value in rows}

    def read(atom: OfJax) -> T:
        return constant(atom.aval, atom.val) if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        found = apply(equation, [read(atom) for atom in equation.invars])
        known |= zip(equation.outvars, found, strict=True)
    return [read(atom) for atom in jaxpr.outvars]


class _Builder(JaxprBuilder):
    """Makes the entry of a module, and the computations that it calls."""

    def __init__(self, facts: Iterable[Constraint]) -> None:
        super().__init__()
        self._facts = dict.fromkeys(facts)
        self._size_forms: dict[Instruction, Form] = {}
        self._programs: dict[tuple[Any, ...], Computation | None] = {}

    def module(self, name: str, closed: OfJax) -> HloModule:
        """The module of a closed jaxpr."""
        avals = [variable.aval for variable in closed.jaxpr.invars]
        parameters = self.parameters(avals, _names_of_arguments(closed.jaxpr))
        results = self.run(closed, parameters)
        root = self.root_of(results, is_tuple=len(results) != 1)
        entry = Computation("main", tuple(self.instructions), root)
        facts = tuple(self._facts)
        return HloModule(name, (*self.computations, entry), entry, {}, "", size_facts=facts)

    def run(self, closed: OfJax, arguments: Sequence[Instruction]) -> list[Instruction]:
        """The results of a jaxpr for some arguments; one that is not closed has no constants."""
        jaxpr, constants = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
        return evaluated(jaxpr, constants, arguments, self.constant, self._apply)

    def _apply(self, of_jax: OfJax, operands: list[Instruction]) -> list[Instruction]:
        """The results of an equation."""
        equation = JaxprEquation.of(of_jax, operands)
        name, given, _, _, avals = equation
        if not avals:
            return []
        if name in primitives.CALLS:
            return self.run(given.get("jaxpr") or given["call_jaxpr"], operands)
        if name == "dim_as_value":
            return [self._value(size_of(given["dim"]), avals[0])]
        if place := primitives.INDEXED.get(name):
            self._facts |= dict.fromkeys(self._fitting(operands[0], operands[place:]))
        composite = primitives.COMPOSITES.get(name)
        made = composite and composite(self, equation)
        if made is not None:
            return made
        keys = (primitives.is_key(each.aval) for each in (*of_jax.invars, *of_jax.outvars))
        if name not in primitives.RULES or any(keys):
            return self._lowered(of_jax, equation)
        opcode, attributes = primitives.RULES[name](given)
        if name in FOLDS:
            attributes = {**attributes, "to_apply": self.fold(FOLDS[name], operands[0].shape)}
        if name in primitives.ELEMENTWISE or name in primitives.COMPARISONS:
            operands = [self._stretched(operand, avals[0]) for operand in operands]
        operands = self._operands(equation._replace(operands=operands))
        return self.elements(self.add(opcode, avals, operands, attributes))

    def _lowered(self, of_jax: OfJax, equation: JaxprEquation) -> list[Instruction]:
        """The results of an equation as JAX lowers it; without that, of a custom call."""
        name, _, operands, before, after = equation
        symbols = symbols_of((*before, *after))
        program = self._program(of_jax, symbols)
        if program is None:
            return self.elements(self.unknown(name, after, operands))
        parameters = arrays(program.parameters)
        given = dict(zip(parameters[len(symbols) :], operands, strict=True))
        sizes = dict(zip(parameters, symbols, strict=False))

        def instead(each: Instruction) -> Instruction | None:
            if each.opcode == "get-dimension-size" and each.operands[0] in sizes:
                return self._value(size_of(sizes[each.operands[0]]), _SIZE)
            if each.opcode == "parameter" and not each.shape.is_array:
                return self.made("after-all", each.shape, ((),))
            return given.get(each)

        root = program.root
        return inlined(self, arrays(root.operands if root.opcode == "tuple" else [root]), instead)

    def _program(self, of_jax: OfJax, symbols: Sequence[OfJax]) -> Computation | None:
        """What JAX lowers an equation to; equal ones are lowered once."""
        avals = [each.aval for each in (*of_jax.invars, *of_jax.outvars)]
        key = of_jax.primitive, *of_jax.params.items(), *avals
        try:
            if key not in self._programs:
                self._programs[key] = lowered(of_jax, symbols)
        except TypeError:  # a parameter cannot be hashed
            return lowered(of_jax, symbols)
        return self._programs[key]

    def _operands(self, equation: JaxprEquation) -> list[Instruction]:
        """The operands as HLO has them: a fold begins with a constant there."""
        name, _, operands, _, avals = equation
        if name in FOLDS:
            first = neutral_element(FOLDS[name], operands[0].shape.element_type)
            return [*operands, self.constant(primitives.array_like(avals[0]), first)]
        if name == "select_n":  # what is taken for false comes first in JAX
            which, *cases = operands
            return [which, *reversed(cases)]
        return operands

    def _stretched(self, operand: Instruction, aval: OfJax) -> Instruction:
        """An operand of an elementwise operation, repeated where it is a scalar or of size 1."""
        result, own = primitives.sizes_of(aval), operand.sizes or ()
        if own == (result,):
            return operand
        dimensions = {"dimensions": tuple(range(operand.shape.rank))}
        shape = Shape(operand.shape.element_type, shape_of(aval).dimensions)
        return self.made("broadcast", shape, (result,), [operand], dimensions)

    def _value(self, size: Size, aval: OfJax) -> Instruction:
        """A size as a value, or a custom call if sizes of arguments do not tell it."""
        values = primitives.SizeValues(self, aval, self._facts)
        value = values.of(size)
        self._size_forms |= values.forms
        return value or self.unknown("dim_as_value", [aval])

    def _fitting(
        self, operand: Instruction, indices: Iterable[Instruction]
    ) -> Iterator[Constraint]:
        """The condition that sizes fit into the integers of indices that the program computes.

        JAX computes the indices of ``x[::2]`` in 32 bits: it has no place for greater sizes.
        """
        waiting, seen, counted = [*indices], set[Instruction](), list[Form]()
        types = dict.fromkeys(index.shape.element_type for index in waiting)
        while waiting:
            one = waiting.pop()
            if one in seen or one.opcode == "constant":
                continue
            seen.add(one)
            if one.opcode != "get-dimension-size":
                waiting += one.operands
            if one.opcode == "iota":
                counted += _symbolic(one)
            elif one in self._size_forms:
                counted.append(self._size_forms[one])
            elif not one.operands:
                return
        for size in dict.fromkeys((*(_symbolic(operand) if counted else ()), *counted)):
            for element_type in types:
                yield size, Interval(None, element_type.value_range.upper)


# Sizes.

_SIZE: Final = SimpleNamespace(shape=(), dtype="int32")
"""A size as a value."""


def _symbolic(operand: Instruction) -> list[Form]:
    return [size for sizes in operand.sizes or () for size in sizes if isinstance(size, Form)]


def _facts(arguments: Iterable[OfJax]) -> tuple[Constraint, ...]:
    """The constraints of ``symbolic_shape``, which its scope keeps to itself."""
    sizes = (size for each in arguments for size in each.aval.shape if not isinstance(size, int))
    scopes = {id(size.scope): size.scope for size in sizes}
    told = (each for scope in scopes.values() for each in getattr(scope, _CONSTRAINTS, ()))
    pairs = ((size_of(each.diff), each.cmp.name) for each in told)
    facts = ((form, _COMPARED[name]) for form, name in pairs if isinstance(form, Form))
    return tuple(dict.fromkeys(facts))


_CONSTRAINTS: Final = "_explicit_constraints"
"""JAX tells them nowhere else."""

_COMPARED: Final = {"EQ": Interval(0, 0), "GEQ": Interval(0, None)}


def _names_of_arguments(jaxpr: OfJax) -> list[str]:
    """The names of the arguments in the function, as far as JAX tells them."""
    told = getattr(getattr(jaxpr, "debug_info", None), "arg_names", None) or ()
    names = [re.sub(r"\W+", "_", each or "", flags=re.ASCII).strip("_") for each in told]
    if len(names) != len(jaxpr.invars) or not all(names):
        return [f"arg{number}" for number in range(len(jaxpr.invars))]
    return names


# Equations that JAX lowers itself: its own program for one of them, as instructions.

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
    own = equation.replace(invars=same.invars[len(symbols) :])
    alone = same.replace(eqns=[own], outvars=equation.outvars, effects=equation.effects)
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
    read: list[OfJax] = [*map(primitives.written, sizes)]
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
    operands = [copies[operand] for operand in instruction.operands]
    attributes = attributes_with_copies(instruction, inside, without=_LEFT_OUT)
    fields = instruction.opcode, instruction.shape, _sizes(instruction), operands, attributes
    literal, number = instruction.literal, instruction.parameter_number
    return builder.made(*fields, literal=literal, number=number)


def _sizes(instruction: Instruction) -> tuple[tuple[Size, ...], ...] | None:
    """The sizes of arrays, if all are known."""
    arrays = instruction.shape.arrays
    if instruction.sizes is None and not any(array.is_unbounded for array in arrays):
        return tuple(array.dimensions for array in arrays)
    return instruction.sizes


_LEFT_OUT: Final = frozenset(["metadata", "sharding", CONTROL])
"""Attributes that tell nothing about the function."""


def _computation(builder: InstructionBuilder, called: Computation) -> Computation:
    inside = builder.nested()
    parameters = {each: _copy(inside, each, {}) for each in called.parameters}
    (root,) = inlined(inside, [called.root], parameters.get)
    return inside.computation(called.name, inside.instructions, root)
