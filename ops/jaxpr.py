"""JAX functions as HLO modules, also for shapes with symbolic sizes such as ``(b, 4*s)``.

JAX exports such functions as StableHLO that computes its shapes while it runs. The jaxpr that it
exports has the sizes as expressions. So each equation of the jaxpr becomes an instruction with
dimensions of unknown size, ``?``, and with these expressions as its sizes.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape, ShapeError
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.primitives import (
    CALLS,
    COMPARISONS,
    ELEMENTWISE,
    FOLDS,
    SELECTED,
    rule_of,
    written,
)
from ops.sizes import as_form, read_integer
from simplifier import Interval
from simplifier.expr.form import Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from indexing.domain import Constraint
    from ops.primitives import OfJax
    from ops.sizes import Size


def from_jax(function: Callable[..., Any], *arguments: OfJax) -> HloModule:
    """The HLO module of what a JAX function does with arguments of some shapes.

    Arguments are arrays, ``jax.ShapeDtypeStruct``, or trees of these. Their sizes may be symbolic,
    as ``jax.export.symbolic_shape("b, 4*s")`` and ``jax.export.symbolic_args_specs`` make them:
    ``b`` and ``s`` are parameters of the maps, and constraints of ``symbolic_shape`` are facts
    about them. Nothing is fused. Functions that the function calls
    are part of it. Loops and whatever else has no rule here are custom calls, of which the maps
    are unknown.

    Raises:
        ShapeError: JAX is not installed, or a size or type has no place in HLO.
    """
    try:
        import jax  # noqa: PLC0415  (an extra)
    except ImportError:
        message = "from_jax: JAX is not installed; expected it, as after pip install jax"
        raise ShapeError(message) from None
    make_jaxpr: OfJax = jax.make_jaxpr  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    name = re.sub(r"\W", "_", getattr(function, "__name__", "function"))
    return _Builder().module(name, make_jaxpr(function)(*arguments))


class _Builder:
    """Makes the entry of a module, and the computations that it calls."""

    def __init__(self) -> None:
        self._instructions: list[Instruction] = []
        self._folds: dict[tuple[str, ElementType], Computation] = {}
        self._names: Counter[str] = Counter()

    def module(self, name: str, closed: OfJax) -> HloModule:
        """The module of a closed jaxpr."""
        names = _names_of_arguments(closed.jaxpr)
        parameters = [
            self._add("parameter", [variable.aval], number=number, name=names[number])
            for number, variable in enumerate(closed.jaxpr.invars)
        ]
        results = self._run(closed, parameters)
        if len(results) == 1:
            root = self._made("copy", results[0].shape, results[0].sizes, results)
        else:
            sizes = tuple(size for each in results for size in each.sizes or ())
            shape = Shape.of_tuple([each.shape for each in results])
            root = self._made("tuple", shape, sizes, results)
        entry = Computation("main", tuple(self._instructions), root)
        facts = _facts(closed.jaxpr.invars)
        return HloModule(name, (*self._folds.values(), entry), entry, {}, "", size_facts=facts)

    def _run(self, closed: OfJax, arguments: Sequence[Instruction]) -> list[Instruction]:
        """The results of a jaxpr for some arguments."""
        jaxpr = closed.jaxpr
        known: dict[Any, Instruction] = dict(zip(jaxpr.invars, arguments, strict=True))
        known |= {variable: self._constant(variable.aval) for variable in jaxpr.constvars}

        def read(atom: OfJax) -> Instruction:
            return self._constant(atom.aval, atom.val) if hasattr(atom, "val") else known[atom]

        for equation in jaxpr.eqns:
            found = self._apply(equation, [read(atom) for atom in equation.invars])
            known |= zip(equation.outvars, found, strict=True)
        return [read(atom) for atom in jaxpr.outvars]

    def _apply(self, equation: OfJax, operands: list[Instruction]) -> list[Instruction]:
        """The results of an equation."""
        name, given = equation.primitive.name, equation.params
        avals = [variable.aval for variable in equation.outvars]
        if name in CALLS:
            called = given[CALLS[name]]
            return self._run(called if hasattr(called, "jaxpr") else _closed(called), operands)
        if name == "split":
            return self._parts(avals, given["axis"], operands[0])
        if name == "dim_as_value":
            return [self._value(_size(given["dim"]), avals[0])]
        opcode, attributes = rule_of(name)(given)
        if name in FOLDS:
            attributes = {**attributes, "to_apply": self._fold(FOLDS[name], operands[0].shape)}
        if name == "gather":
            attributes = {**attributes, "index_vector_dim": operands[1].shape.rank - 1}
        if name in ELEMENTWISE or name in COMPARISONS:
            operands = [self._stretched(operand, avals[0]) for operand in operands]
        operands = self._operands(name, given, operands, _scalar(avals[0]))
        return self._results(self._add(opcode, avals, operands, attributes), avals)

    def _operands(
        self,
        name: str,
        given: Mapping[str, Any],
        operands: list[Instruction],
        scalar: OfJax,
    ) -> list[Instruction]:
        """The operands as HLO has them: some that are parameters in JAX are constants there."""
        if name in FOLDS:
            return [*operands, self._constant(scalar)]
        match name:
            case "select_n" if len(operands) == len(SELECTED):
                return [operands[number] for number in SELECTED]
            case "integer_pow":
                return [*operands, self._constant(scalar, given["y"])]
            case "exp2":
                return [self._constant(scalar, 2), *operands]
            case "square":
                return operands * 2
            case _:
                return operands

    def _stretched(self, operand: Instruction, aval: OfJax) -> Instruction:
        """An operand of an elementwise operation, repeated where its size alone is 1."""
        result, own = _sizes(aval), operand.sizes or ()
        if not operand.shape.rank or own == (result,):
            return operand
        dimensions = {"dimensions": tuple(range(len(result)))}
        shape = Shape(operand.shape.element_type, _shape(aval).dimensions)
        return self._made("broadcast", shape, (result,), [operand], dimensions)

    def _results(self, made: Instruction, avals: Sequence[OfJax]) -> list[Instruction]:
        """What an instruction gives: itself, or the elements of a tuple."""
        if not made.shape.is_tuple:
            return [made]
        return [
            self._add("get-tuple-element", [aval], [made], {"index": number})
            for number, aval in enumerate(avals)
        ]

    def _value(self, size: Size, aval: OfJax) -> Instruction:
        """A size as a value: a sum of sizes of arguments, or a custom call if it is none."""
        rest, found = as_form(size), list[Instruction]()
        for given, argument, axis in self._sizes_of_arguments():
            atom, factor = next(iter(given.terms.items()))
            times, left = divmod(rest.terms.get(atom, 0), factor)
            if times and not left:
                asked = {"dimensions": (axis,)}
                own = self._add("get-dimension-size", [aval], [argument], asked)
                found.append(self._times(own, times, aval))
                rest -= given * times
        if not rest.is_constant:
            return self._add("custom-call", [aval], (), {"custom_call_target": "dim_as_value"})
        if rest.constant or not found:
            found.append(self._constant(aval, rest.constant))
        return reduce(lambda one, other: self._add("add", [aval], [one, other]), found)

    def _sizes_of_arguments(self) -> list[tuple[Form, Instruction, int]]:
        """The symbolic sizes, the argument and the dimension; simple ones first."""
        rows = [
            (size, each, axis)
            for each in self._instructions
            if each.opcode == "parameter"
            for sizes in each.sizes or ()
            for axis, size in enumerate(sizes)
            if isinstance(size, Form)
        ]
        return sorted(rows, key=lambda row: (len(row[0].terms), sum(row[0].terms.values())))

    def _times(self, value: Instruction, factor: int, aval: OfJax) -> Instruction:
        if factor == 1:
            return value
        return self._add("multiply", [aval], [value, self._constant(aval, factor)])

    def _parts(self, avals: Sequence[OfJax], axis: int, operand: Instruction) -> list[Instruction]:
        """Slices that follow each other along a dimension."""
        found: list[Instruction] = []
        begin: Any = 0
        for aval in avals:
            rows = [(0, written(size), 1) for size in aval.shape]
            rows[axis] = (begin, begin + rows[axis][1], 1)
            found.append(self._add("slice", [aval], [operand], {"slice": tuple(rows)}))
            begin = rows[axis][1]
        return found

    def _fold(self, opcode: str, shape: Shape) -> Computation:
        """The computation of a fold, on scalars."""
        key = opcode, shape.element_type
        if key not in self._folds:
            scalar = Shape(shape.element_type)
            pair = tuple(
                Instruction(name, "parameter", scalar, parameter_number=number)
                for number, name in enumerate("ab")
            )
            root = Instruction("r", opcode, scalar, pair)
            name = f"{opcode}_{shape.element_type}"
            self._folds[key] = Computation(name, (*pair, root), root)
        return self._folds[key]

    # Instructions.

    def _add(
        self,
        opcode: str,
        avals: Sequence[OfJax],
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        number: int | None = None,
        name: str = "",
    ) -> Instruction:
        """An instruction that gives an array, or a tuple of them."""
        shapes = [_shape(aval) for aval in avals]
        shape = shapes[0] if len(shapes) == 1 else Shape.of_tuple(shapes)
        sizes = tuple(map(_sizes, avals))
        return self._made(opcode, shape, sizes, operands, attributes, number=number, name=name)

    def _constant(self, aval: OfJax, value: OfJax = None) -> Instruction:
        """A constant; the values of an array are left out."""
        shape, known = _shape(aval), None
        if value is not None and not shape.rank:
            known = (_plain(value),)
        text = "{...}" if known is None else str(known[0]).lower()
        return self._made(
            "constant", shape, (_sizes(aval),), literal=Literal(shape, known, (), text)
        )

    def _made(  # noqa: PLR0913 - the fields of an instruction
        self,
        opcode: str,
        shape: Shape,
        sizes: tuple[tuple[Size, ...], ...] | None,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        literal: Literal | None = None,
        number: int | None = None,
        name: str = "",
    ) -> Instruction:
        base = name or opcode
        self._names[base] += 1
        unique = base if name and self._names[base] == 1 else f"{base}.{self._names[base]}"
        fields = (unique, opcode, shape, tuple(operands), attributes or {}, literal, number)
        made = Instruction(*fields, sizes=sizes)
        self._instructions.append(made)
        return made


# Values.


def _plain(value: OfJax) -> bool | complex:
    """A value of Python, of one of NumPy or JAX."""
    if hasattr(value, "item"):
        return value.item()
    return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)


def _facts(arguments: Iterable[OfJax]) -> tuple[Constraint, ...]:
    """The constraints of ``symbolic_shape``, which its scope keeps to itself."""
    sizes = (size for each in arguments for size in each.aval.shape if not isinstance(size, int))
    scopes = {id(size.scope): size.scope for size in sizes}
    told = (each for scope in scopes.values() for each in getattr(scope, _CONSTRAINTS, ()))
    pairs = ((_size(each.diff), each.cmp.name) for each in told)
    facts = ((form, _COMPARED[name]) for form, name in pairs if isinstance(form, Form))
    return tuple(dict.fromkeys(facts))


_CONSTRAINTS: Final = "_explicit_constraints"
"""JAX tells them nowhere else."""

_COMPARED: Final = {"EQ": Interval(0, 0), "GEQ": Interval(0, None)}


# Shapes.


def _shape(aval: OfJax) -> Shape:
    """The shape of an array, with dimensions of unknown size for expressions."""
    letters, bits = re.match(r"([a-z]*)(.*)", str(aval.dtype)).groups()  # pyright: ignore[reportOptionalMemberAccess] - it matches every text
    try:
        element_type = ElementType(_TYPES.get(letters, letters) + bits.replace("_", ""))
    except ValueError:
        raise ShapeError(f"from_jax: HLO has no elements of type {aval.dtype}") from None
    sizes = tuple(size if isinstance(size, int) else UNBOUNDED_SIZE for size in _sizes(aval))
    return Shape(element_type, sizes)


_TYPES: Final = {
    "float": "f",
    "int": "s",
    "uint": "u",
    "bool": "pred",
    "complex": "c",
    "bfloat": "bf",
}
"""What NumPy's types are called in HLO, before their width."""


def _sizes(aval: OfJax) -> tuple[Size, ...]:
    return tuple(map(_size, aval.shape))


def _size(size: OfJax) -> Size:
    """A size as rules compute with it."""
    return read_integer(written(size))


def _scalar(aval: OfJax) -> OfJax:
    return SimpleNamespace(shape=(), dtype=aval.dtype)


def _closed(jaxpr: OfJax) -> OfJax:
    return SimpleNamespace(jaxpr=jaxpr)


def _names_of_arguments(jaxpr: OfJax) -> list[str]:
    """The names of the arguments in the function, as far as JAX tells them."""
    told = getattr(getattr(jaxpr, "debug_info", None), "arg_names", None) or ()
    names = [re.sub(r"\W+", "_", each or "").strip("_") for each in told]
    if len(names) != len(jaxpr.invars) or not all(names):
        return [f"arg{number}" for number in range(len(jaxpr.invars))]
    return names
