"""True sizes: of dimensions for which a shape has a bound, ``<=n``, or nothing, ``?``.

They are expressions over parameters. A parameter is a size that the program gets from outside or
computes; its :class:`SizeOrigin` says where. Operations make sizes of the sizes of their operands,
so the sizes of a module are found in one pass, as XLA does it before it compiles.

A parameter has one value in a run of the program. So a size has none where that differs: in a
computation that several calls give different sizes, or that computes sizes and runs more than once.

Source: XLA's dynamic dimension inference and dynamic padder.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, count
from typing import Final, NamedTuple, TypeAlias, TypeVar

from indexing import Variable
from indexing.layout import UNBOUNDED_SIZE
from indexing.passes import PARAMETER, POSITIONAL, Constraint, other_use, parameter_identifier
from ops import limits
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.opcodes import CALLEE_ATTRIBUTES
from ops.hlo.shape_inference import Found, Known, sizes_of_result
from ops.index_maps import Size, as_form, difference, plain, product, shown_sizes, total
from simplifier import forms
from simplifier.errors import naming_wrong_arguments
from simplifier.forms import EVERYTHING, Form, Interval, is_name, substitute
from simplifier.tools.late import sympy

Answer = TypeVar("Answer")


ArraySizes: TypeAlias = "tuple[Size | None, ...]"
"""The sizes of an array; ``None`` where it differs from run to run of a computation."""


@dataclass(frozen=True, slots=True)
class SizeOrigin:
    """Origin of a size that is a parameter of maps.

    It is the size of ``dimension`` in what ``instruction`` gives, in the array of number
    ``element`` if that is a tuple; without a dimension, it is the value that the instruction gives.
    """

    instruction: Instruction
    dimension: int | None = None
    element: int = 0
    size: sympy.Expr | None = None
    """The size of the dimension, where that is more than the parameter, such as ``4*s``."""

    def __str__(self) -> str:
        if self.dimension is None:
            return f"value of {self.instruction.definition}"
        array = f" of array {self.element}" if self.instruction.shape.is_tuple else ""
        size = "size" if self.size is None else f"size {self.size}"
        return f"{size} of dimension {self.dimension}{array} of {self.instruction.definition}"


@dataclass(frozen=True, slots=True, eq=False)
class TrueSizes:
    """The sizes of a module's arrays that have dynamic dimensions, and its parameters."""

    arrays: Mapping[Instruction, tuple[ArraySizes, ...]]
    origins: Mapping[str, SizeOrigin]
    parameters: Mapping[str, Variable]


@naming_wrong_arguments
def size_origins(module: HloModule) -> Mapping[str, SizeOrigin]:
    """Origins of the parameters of a module's maps, by name.

    >>> from ops import hlo, output_to_input
    >>> module = hlo.parse('''ENTRY e { p = f32[<=8,4] parameter(0)
    ...   ROOT r = f32[<=8,4] reverse(p), dimensions={0} }''')
    >>> ((indexing,),) = output_to_input(module.entry.root).indexing
    >>> print(indexing)
    (d0, d1)<p_0> -> (p_0 - d0 - 1, d1), domain: d0 in [0, p_0 - 1], d1 in [0, 3], p_0 in [0, 8]
    >>> print(hlo.size_origins(module)["p_0"])
    size of dimension 0 of %p = f32[<=8,4]{1,0} parameter(0)
    """
    return _of_module(module).origins


@naming_wrong_arguments
def true_sizes(instruction: Instruction, element: int = 0) -> tuple[sympy.Expr | int | None, ...]:
    """The sizes of an array of a result, as expressions; ``None`` where it has several.

    >>> from ops.hlo import parse
    >>> root = parse('''ENTRY e { p = f32[<=8,4] parameter(0) q = f32[3,4] parameter(1)
    ...   ROOT r = f32[<=11,4] concatenate(p, q), dimensions={0} }''').entry.root
    >>> true_sizes(root)
    (p_0 + 3, 4)
    """
    sizes = array_sizes(instruction, element)
    return tuple(None if size is None else shown_sizes((size,))[0] for size in sizes)


def array_sizes(instruction: Instruction, element: int = 0) -> ArraySizes:
    """The sizes of an array of a result, as rules compute with them."""
    shape = instruction.shape
    array = shape.arrays[element] if shape.is_tuple else shape
    if not array.dynamic_dimensions:
        return array.dimensions
    if instruction.sizes is not None:
        return instruction.sizes[element]
    return _of_module(instruction.computation.module).arrays[instruction][element]


def bounded_parameters(instruction: Instruction, names: Iterable[str]) -> tuple[Variable, ...]:
    """The parameters of these names, with the bounds that shapes of the module give them."""
    known = _of_module(instruction.computation.module).parameters
    return tuple(known[name] for name in names if name in known)


def parameters_of(module: HloModule) -> tuple[Variable, ...]:
    """The sizes that are known at run time only, with their bounds."""
    has_some = _has_dynamic_sizes(module)
    return tuple(_of_module(module).parameters.values()) if has_some else ()


@lru_cache(maxsize=limits.MAX_REMEMBERED_MODULES)
def _has_dynamic_sizes(module: HloModule) -> bool:
    """A quick look: most modules have none."""
    return any(
        array.dynamic_dimensions for each in module.instructions for array in each.shape.arrays
    )


def size_facts(instruction: Instruction, names: Iterable[str]) -> tuple[Constraint, ...]:
    """The facts of the module about these parameters alone."""
    known = {*map(parameter_identifier, names)}
    facts = instruction.computation.module.size_facts
    return tuple(fact for fact in facts if known.issuperset(forms.variables_of(fact[:1])))


@lru_cache(maxsize=limits.MAX_REMEMBERED_MODULES)
def _of_module(module: HloModule) -> TrueSizes:
    """The true sizes of a module."""
    return _Inference(module).result()


_Arrays: TypeAlias = "Sequence[Sequence[Size | None]]"
"""The sizes of the arrays in a tuple."""


class _Run(NamedTuple):
    """A computation, the sizes of the arrays in its operands, and whether it may run repeatedly."""

    computation: Computation
    operands: Sequence[_Arrays]
    is_repeated: bool = False


class _Inference:
    """Finds the sizes in each computation from those of its parameters, then these from the calls.

    Computations stand before their callers. So all sizes are forms over the sizes of the parameters
    of their own computation first; in the end those that callers give take their places.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._sizes: dict[Instruction, tuple[tuple[Size, ...], ...]] = {}
        self._values: dict[Instruction, Size] = {}
        self._origins: dict[str, SizeOrigin] = {}
        self._names: dict[SizeOrigin, str] = {}
        self._bounds: dict[str, Interval] = {}

    def result(self) -> TrueSizes:
        """The sizes of all arrays, and the parameters that are left in them."""
        self._take_given()
        for instruction in self._module.instructions:
            self._sizes[instruction] = tuple(self._of_instruction(instruction))
        given = self._given_by_callers()
        arrays = {each: tuple(_put_all(found, given)) for each, found in self._sizes.items()}
        left = [name for name in self._origins if parameter_identifier(name) not in given]
        origins = {name: self._origins[name] for name in left}
        return TrueSizes(arrays, origins, {n: Variable(self._bounds[n], n) for n in left})

    def _take_given(self) -> None:
        """The parameters in sizes that a frontend gives; they are at least 1, as in JAX."""
        rows = [
            (SizeOrigin(each, axis, element), size)
            for each in self._module.entry.parameters
            for element, sizes in enumerate(each.sizes or ())
            for axis, size in enumerate(sizes)
            if isinstance(size, Form)
        ]
        for origin, size in sorted(rows, key=lambda row: not _only_parameter(row[1])):
            for identifier in forms.variables_of((size,)):
                name = identifier.removeprefix(PARAMETER)
                whole = None if _only_parameter(size) else shown_sizes((size,))[0]
                self._origins.setdefault(name, replace(origin, size=whole))
                self._bounds[name] = Interval(1, None)

    # In one computation. Rules of sizes ask for the sizes and values of operands.

    def sizes(self, instruction: Instruction, element: int = 0) -> tuple[Size, ...]:
        """The sizes of an array of a result."""
        return self._sizes[instruction][element]

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar."""
        if instruction not in self._values:
            is_followed = instruction.opcode in _OF_SCALARS
            found = self._by_rule(values_of_result, instruction) if is_followed else None
            value = found[0] if found else None
            self._values[instruction] = (
                self._parameter(SizeOrigin(instruction)) if value is None else value
            )
        return self._values[instruction]

    def values(self, instruction: Instruction) -> Sequence[Size] | None:
        """The value of a scalar; others are not followed."""
        return None if instruction.shape.rank else (self.value(instruction),)

    def _of_instruction(self, instruction: Instruction) -> Iterator[tuple[Size, ...]]:
        arrays = instruction.shape.arrays
        if instruction.sizes is not None:
            yield from instruction.sizes
            return
        is_dynamic = any(array.dynamic_dimensions for array in arrays)
        found = self._of_result(instruction) if is_dynamic else ()
        for element, array in enumerate(arrays):
            if not array.dynamic_dimensions:
                yield array.dimensions
                continue
            known = found[element] if element < len(found) else ()
            if len(known) != array.rank:  # that does not fit, as who asks for maps is told
                known = (None,) * array.rank
            yield tuple(
                self._of_dimension(SizeOrigin(instruction, axis, element), size)
                if array.dynamic_dimensions[axis]
                else array.dimensions[axis]
                for axis, size in enumerate(known)
            )

    def _of_dimension(self, origin: SizeOrigin, found: Size | None) -> Size:
        """A dynamic size: the one that a rule has found, or a parameter."""
        size = self._parameter(origin) if found is None else found
        bound = origin.instruction.shape.arrays[origin.element].dimensions[origin.dimension or 0]
        name = _only_parameter(size)
        if name and (found is None or origin.instruction.computation.is_entry):
            limit = Interval(0, None if bound == UNBOUNDED_SIZE else bound)
            self._bounds[name] = self._bounds[name].intersect(limit)
        return size

    def _of_result(self, instruction: Instruction) -> Sequence[Found]:
        """The sizes of the arrays of a result, as far as they follow."""
        if instruction.opcode == "while":
            return self._state(instruction)
        results = [self._after(run) for run in self._runs(instruction)]
        if not results:
            return self._by_rule(sizes_of_result, instruction) or ()
        if instruction.opcode == "async-start":
            return ()
        return [[*map(_common, *each)] for each in zip(*results, strict=True)]

    def _by_rule(
        self, rule: Callable[[Instruction, _Inference], Answer | None], instruction: Instruction
    ) -> Answer | None:
        """The answer of a rule; ``None`` for an instruction that does not fit.

        Whoever asks for its maps is told what is wrong, and where.
        """
        try:
            return rule(instruction, self)
        except (LookupError, ValueError):
            return None

    def _after(self, run: _Run) -> list[tuple[Size | None, ...]]:
        """The sizes of the result of a computation."""
        return [*_put_all(self._sizes[run.computation.root], self._given_in(run))]

    def _state(self, loop: Instruction) -> _Arrays:
        """The sizes of a loop's state; ``None`` where an iteration changes one."""
        body: Computation = loop.attributes["body"]
        state: _Arrays = self._sizes[loop.operands[0]]
        while True:
            after = self._after(_Run(body, (state,)))
            kept = [tuple(map(_common, *pair)) for pair in zip(state, after, strict=True)]
            if kept == [*state]:
                return state
            state = kept

    def _runs(self, instruction: Instruction) -> Iterator[_Run]:
        """The computations that an instruction runs on its operands."""
        operands = [self._sizes[operand] for operand in instruction.operands]
        named, opcode = instruction.attributes, instruction.opcode
        if opcode in CALLEE_ATTRIBUTES:
            yield _Run(named[CALLEE_ATTRIBUTES[opcode]], operands)
        elif opcode == "async-start":
            yield _Run(named["calls"], operands)
        elif opcode == "conditional":
            pairs = zip(instruction.branches, operands[1:], strict=True)
            yield from (_Run(branch, (operand,)) for branch, operand in pairs)
        elif opcode == "while":
            state = (self._state(instruction),)
            yield from (
                _Run(named[each], state, is_repeated=True) for each in ("body", "condition")
            )

    # From callers to what they call.

    def _given_in(self, run: _Run) -> dict[str, Size | None]:
        """The sizes that take the places of those of a computation's own parameters."""
        given: dict[str, Size | None] = {}
        for parameter, operand in zip(run.computation.parameters, run.operands, strict=True):
            for mine, sizes in zip(self._sizes[parameter], operand, strict=True):
                given |= {
                    next(forms.variables_of((own,))): size
                    for own, size in zip(mine, sizes, strict=True)
                    if isinstance(own, Form)
                }
        return given

    def _given_by_callers(self) -> dict[str, Size | None]:
        """Values of the parameters that are none of the whole program's.

        Nothing does where a parameter may have several values in one run of the program.
        """
        own: dict[Computation, list[str]] = defaultdict(list)
        for name, origin in self._origins.items():
            own[origin.instruction.computation].append(parameter_identifier(name))
        runs: dict[Computation, list[_Run]] = defaultdict(list)
        given: dict[str, Size | None] = {}
        several: set[Computation] = set()
        for computation in reversed(self._module.computations):
            if not computation.is_entry:
                found = runs[computation]
                if len(found) != 1 or found[0].is_repeated:
                    several.add(computation)
                    given |= dict.fromkeys(own[computation])
                given |= self._agreed(found, given)
            for instruction in computation.instructions:
                for run in self._runs(instruction):
                    is_repeated = run.is_repeated or computation in several
                    runs[run.computation].append(run._replace(is_repeated=is_repeated))
        return given

    def _agreed(
        self, runs: Sequence[_Run], given: Mapping[str, Size | None]
    ) -> dict[str, Size | None]:
        """The sizes of the parameters of a computation on which all that run it agree."""
        found = [self._given_in(run) for run in runs]
        return {
            name: _common(*(_put(each[name], given) for each in found))
            for name in (found[0] if found else ())
        }

    # Parameters.

    def _parameter(self, origin: SizeOrigin) -> Form:
        """The parameter for a size that follows from no others."""
        name = self._names.get(origin)
        if name is None:
            name = next(each for each in _names_for(origin) if each not in self._origins)
            self._names[origin] = name
            self._origins[name] = origin
            self._bounds[name] = EVERYTHING
        return forms.variable(parameter_identifier(name))


def _names_for(origin: SizeOrigin) -> Iterator[str]:
    """Names for a parameter, such as ``p_0`` for dimension 0 of ``%p``, the best first."""
    instruction = origin.instruction
    parts = [instruction.name]
    if instruction.shape.is_tuple:
        parts.append(str(origin.element))
    if origin.dimension is not None:
        parts.append(str(origin.dimension))
    for more in ([], [instruction.computation.name]):
        name = re.sub(r"\W", "_", "_".join((*more, *parts)), flags=re.ASCII)
        if is_name(name) and not (other_use(name) or POSITIONAL.fullmatch(name)):
            yield name
    yield from (f"size_of_{name}_{number}" for number in count(2))


def _only_parameter(size: Size) -> str:
    """The name of the parameter that a size is, if it is one."""
    identifier = None if isinstance(size, int) else size.single_variable()
    return (identifier or "").removeprefix(PARAMETER)


def _put(size: Size | None, given: Mapping[str, Size | None]) -> Size | None:
    """A size with its parameters replaced; ``None`` where one of them has no value."""
    if not isinstance(size, Form):
        return size
    values = {name: given[name] for name in forms.variables_of((size,)) if name in given}
    known = {name: as_form(value) for name, value in values.items() if value is not None}
    if len(known) < len(values):
        return None
    return plain(substitute((size,), known)[0]) if known else size


def _put_all(
    arrays: Iterable[tuple[Size, ...]], given: Mapping[str, Size | None]
) -> Iterator[ArraySizes]:
    return (tuple(_put(size, given) for size in sizes) for sizes in arrays)


def _common(first: Size | None, *others: Size | None) -> Size | None:
    """The size that all are, if they are equal."""
    return first if all(other == first for other in others) else None


# The values of small arrays of integers, which may be sizes.


def values_of_result(instruction: Instruction, known: Known) -> Found | None:
    """The elements of a result, as far as they follow from those of operands."""
    rule = _VALUES.get(instruction.opcode)
    return rule(instruction, known) if rule else None


def _constant(instruction: Instruction, _: Known) -> Found | None:
    values = instruction.literal.values if instruction.literal else None
    if values is None:
        return None
    return [value if isinstance(value, int) else None for value in values]


def _dimension_size(instruction: Instruction, known: Known) -> Found | None:
    axis: int = instruction.attributes["dimensions"][0]
    size = known.sizes(instruction.operands[0])[axis]
    return None if size == UNBOUNDED_SIZE else [size]


def _same(instruction: Instruction, known: Known) -> Found | None:
    """The values of the operand; a single one may be repeated."""
    found = known.values(instruction.operands[0])
    count = instruction.shape.element_count
    return found if found is None or len(found) != 1 else [*found] * count


def _part(instruction: Instruction, known: Known) -> Found | None:
    found = known.values(instruction.operands[0])
    return None if found is None else found[slice(*instruction.attributes["slice"][0])]


_Values: TypeAlias = "Callable[[Instruction, Known], Found | None]"


def _of_all(
    combine: Callable[[Sequence[Sequence[Size]]], Found], instruction: Instruction, known: Known
) -> Found | None:
    """The values by those of all operands, if all are known."""
    columns = [known.values(operand) for operand in instruction.operands]
    listed = [column for column in columns if column is not None]
    return combine(listed) if len(listed) == len(columns) else None


def _combined(combine: Callable[[Iterable[Size]], Size]) -> _Values:
    return partial(_of_all, lambda columns: [*map(combine, zip(*columns, strict=True))])


_OF_SCALARS: Final[Mapping[str, _Values]] = {
    "add": _combined(total),
    "constant": _constant,
    "copy": _same,
    "get-dimension-size": _dimension_size,
    "multiply": _combined(product),
    "reshape": _same,
    "subtract": _combined(lambda sizes: difference(*sizes)),
}
"""By opcode; scalars of other opcodes are parameters of the sizes that they tell."""

_VALUES: Final = {
    **_OF_SCALARS,
    "broadcast": _same,
    "concatenate": partial(_of_all, lambda columns: [*chain.from_iterable(columns)]),
    "convert": _same,
    "maximum": _combined(lambda sizes: plain(forms.maximum(map(as_form, sizes)))),
    "minimum": _combined(lambda sizes: plain(forms.minimum(map(as_form, sizes)))),
    "slice": _part,
}
