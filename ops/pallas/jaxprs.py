"""Index maps and kernels of Pallas as JAX traces them: which blocks and elements a step takes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from indexing import IndexingMap, Variable
from ops.index_maps import quotient_toward_zero
from ops.jax import OfJax, evaluated
from ops.pallas.blocks import (
    AccessKind,
    BlockAccess,
    GridSize,
    PallasError,
    PrefetchedScalar,
    over_grid,
    steps_of,
)
from simplifier import BitAnd, BitOr, BitXor, FloorDiv, Max, Min, Mod, bounds_of, symbol
from simplifier.forms import Interval, from_sympy, is_relation, np, relation_of, tabulated, to_sympy
from simplifier.tools.graphs import postorder

Value: TypeAlias = Any
"""An expression of sympy, one of its booleans, or a prefetched operand: its name, or its values
if they are known."""


# Index maps as JAX traces them: scalar integer arithmetic, as expressions.
#
# Each equation becomes an expression over the step of the grid. What an index map reads from a
# prefetched operand is a runtime variable.


def read_index_map(
    mapping: OfJax, grid: Sequence[GridSize], prefetched: Sequence[Value], where: str
) -> tuple[IndexingMap, tuple[Value | None, ...], tuple[PrefetchedScalar, ...]]:
    """The map from a step to the index of its block, lengths, and origins of runtime variables.

    A dimension in which the map gives a slice has the length of the slice. Integers of the map are
    taken to fit their types.

    Raises:
        PallasError: the map does more than integer arithmetic; ``where`` begins the message.
    """
    closed = mapping.index_map_jaxpr
    reader = _IndexMapReader(grid, where)
    found = reader.run(closed.jaxpr, closed.consts, [*reader.steps, *prefetched])
    indices = [*unflattened(mapping.index_map_out_tree, found)]
    starts = [each.start if _is_slice(each) else each for each in indices]
    lengths = tuple(_number(each.size) if _is_slice(each) else None for each in indices)
    read = over_grid([*map(_number, starts)], grid, runtime=reader.runtime)
    return read, lengths, tuple(reader.origins)


def unflattened(tree: OfJax, leaves: Iterable[Value]) -> OfJax:
    """The values of a tree of JAX."""
    import jax  # noqa: PLC0415  (an extra)

    unflatten: OfJax = jax.tree_util.tree_unflatten  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    return unflatten(tree, leaves)


def _is_slice(index: OfJax) -> bool:
    return hasattr(index, "stride")


class _IndexMapReader:
    """The values of a jaxpr's variables, and the runtime variables met so far."""

    def __init__(self, grid: Sequence[GridSize], where: str) -> None:
        self.runtime: list[Variable] = []
        self.origins: list[PrefetchedScalar] = []
        self._grid = grid
        self._where = where
        dims = steps_of(grid)
        self.steps = [symbol(each.name) for each in dims]
        self._bounds: dict[str, Interval] = {each.name: each.bounds for each in dims}
        self._known: dict[tuple[str, tuple[Value, ...]], Value] = {}

    def run(self, jaxpr: OfJax, constants: Sequence[Any], arguments: Sequence[Value]) -> list[Any]:
        """The results of a jaxpr for some arguments."""
        return evaluated(
            jaxpr, constants, arguments, lambda _, value: _number(value), self._results
        )

    def _results(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        name, given = equation.primitive.name, equation.params
        if name == "get":
            return [self._prefetched(equation, *operands)]
        if name in _CALLS:
            called = given[_CALLS[name]]
            known = _known_function(given.get("name"), called.jaxpr)
            if known is not None:
                return [known(*operands)]
            return self.run(called.jaxpr, called.consts, operands)
        if name in _DIVISIONS:
            return [self._divided(name, *operands)]
        if name in _SHIFTS:
            return [self._shifted(name, *operands)]
        has_arrays = any(isinstance(each, str) or getattr(each, "shape", ()) for each in operands)
        if name not in _PRIMITIVES or has_arrays:
            raise PallasError(f"{self._where}: the index map has the operation {name}")
        powers = [given["y"]] if name == "integer_pow" else []
        return [_PRIMITIVES[name](*operands, *powers)]

    def _divided(self, name: str, numerator: Value, divisor: Value) -> Value:
        """A quotient rounded toward zero, and its remainder."""
        if not divisor.is_Integer or divisor == 0:
            message = f"{self._where}: the index map divides by {divisor}"
            raise PallasError(f"{message}; expected a number other than 0")
        size = abs(divisor)
        is_nonnegative = self._is_nonnegative(numerator)
        quotient = quotient_toward_zero(numerator, size, is_nonnegative=is_nonnegative)
        quotient = quotient if divisor > 0 else -quotient
        return quotient if name == "div" else numerator - divisor * quotient

    def _is_nonnegative(self, value: Value) -> bool:
        least = bounds_of(value, self._bounds).lower
        return least is not None and least >= 0

    def _shifted(self, name: str, value: Value, by: Value) -> Value:
        """Bits moved by a number; to the right, the sign or zeros come in."""
        if (
            not by.is_Integer
            or not 0 <= by < _BITS
            or (name == "shift_right_logical" and not self._is_nonnegative(value))
        ):
            message = f"{self._where}: the index map has {name} of {value} by {by}"
            raise PallasError(f"{message}; expected a number from 0 to {_BITS - 1}")
        return value * 2**by if name == "shift_left" else FloorDiv(value, 2**by)

    def _prefetched(self, equation: OfJax, operand: Value, *leaves: Value) -> sympy.Expr:
        """The element of a prefetched operand, as a runtime variable."""
        transforms = unflattened(equation.params["tree"], leaves)
        aval = equation.outvars[0].aval
        if len(transforms) != 1 or aval.shape or not np.issubdtype(aval.dtype, np.integer):
            raise PallasError(f"{self._where}: the index map reads more than an integer")
        index = tuple(map(_number, transforms[0].indices))
        if not isinstance(operand, str):
            flat = sympy.Integer(0)
            for each, size in zip(index, operand.shape, strict=True):
                if not Interval(0, size - 1).contains(bounds_of(each, self._bounds)):
                    message = f"{self._where}: the index map reads a table of {size} at {each}"
                    raise PallasError(f"{message}; expected an index inside")
                flat = flat * size + each
            return to_sympy(tabulated([*map(int, operand.ravel())], from_sympy(flat)))
        key = operand, index
        if key not in self._known:
            limits = np.iinfo(aval.dtype)
            bounds = Interval(int(limits.min), int(limits.max))
            name = f"rt{len(self.runtime)}"
            of_steps = over_grid(index, self._grid, runtime=self.runtime)
            self.origins.append(PrefetchedScalar(operand, of_steps.without_unused_symbols()))
            self.runtime.append(Variable(bounds, name))
            self._bounds[name] = bounds
            self._known[key] = symbol(name)
        return self._known[key]


def _number(value: OfJax) -> Value:
    if getattr(value, "shape", ()):
        return value
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return sympy.true if plain else sympy.false
    return sympy.Integer(plain) if isinstance(plain, int) else plain


def _chosen(which: Value, *cases: Value) -> Value:
    """``select_n``: the case of a number, or the second case where a condition holds."""
    conditions = (
        [sympy.Not(relation_of(which))]
        if is_relation(which)
        else [sympy.Eq(which, n) for n in range(len(cases) - 1)]
    )
    chosen = zip(cases, conditions, strict=False)
    if not all(map(is_relation, cases)):
        return sympy.Piecewise(*chosen, (cases[-1], True))
    otherwise = cases[-1]
    for case, condition in reversed([*chosen]):
        otherwise = sympy.Or(sympy.And(condition, case), sympy.And(sympy.Not(condition), otherwise))
    return otherwise


def _of_bits(
    of_conditions: Callable[..., Value], of_integers: Callable[..., Value]
) -> Callable[..., Value]:
    """An operation on conditions, and on the bits of integers."""
    return lambda *operands: (of_conditions if all(map(is_relation, operands)) else of_integers)(
        *operands
    )


def _converted(value: Value) -> Value:
    return sympy.Piecewise((1, value), (0, True)) if is_relation(value) else value


def _complement(value: Value) -> Value:
    return -value - 1


def _clamped(lower: Value, value: Value, upper: Value) -> Value:
    return Min(Max(value, lower), upper)


_OF_ONE: Final[Mapping[str, Callable[[Value], Value]]] = {
    "abs": lambda value: Max(value, -value),
    "broadcast_in_dim": lambda value: value,
    "convert_element_type": _converted,
    "neg": lambda value: -value,
    "reshape": lambda value: value,
    "sign": lambda value: Max(Min(value, 1), -1),
    "square": lambda value: value * value,
    "squeeze": lambda value: value,
}

_PRIMITIVES: Final[Mapping[str, Callable[..., Value]]] = {
    **_OF_ONE,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": Max,
    "min": Min,
    "clamp": _clamped,
    "integer_pow": sympy.Pow,
    "eq": sympy.Eq,
    "ne": sympy.Ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": _of_bits(sympy.And, BitAnd),
    "or": _of_bits(sympy.Or, BitOr),
    "xor": _of_bits(sympy.Xor, BitXor),
    "not": _of_bits(sympy.Not, _complement),
    "select_n": _chosen,
}
"""The operations on scalars."""

_DIVISIONS: Final = ("div", "rem")

_SHIFTS: Final = ("shift_left", "shift_right_arithmetic", "shift_right_logical")

_BITS: Final = 32
"""Of an integer of an index map."""

_CALLS: Final = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr"}
"""The primitives that call a jaxpr, and the parameter that has it."""

_FUNCTIONS: Final[Mapping[str, tuple[frozenset[str], Callable[..., Value]]]] = {
    "floor_divide": (
        frozenset({"convert_element_type", "div", "sign", "ne", "rem", "and", "sub", "jit"}),
        FloorDiv,
    ),
    "remainder": (
        frozenset(
            {"convert_element_type", "eq", "jit", "rem", "ne", "lt", "and", "add", "select_n"}
        ),
        Mod,
    ),
}
"""The functions of JAX that have an operator here, with the primitives that they consist of."""


def _known_function(name: object, jaxpr: OfJax) -> Callable[..., Value] | None:
    """The operator that a function of JAX is, such as ``//``; one of a user has other equations."""
    if name not in _FUNCTIONS:
        return None
    made_of, known = _FUNCTIONS[str(name)]
    used = {equation.primitive.name for equation in jaxpr.eqns}
    return known if used <= made_of and {"rem", "ne"} <= used else None


# Kernels as JAX traces them: which elements of their blocks they read and write.
#
# A step runs the kernel once. Integers are expressions over the step, the turns of loops and, in
# an array, over the place along each of its axes: `x0`, `x1` and so on. Everything else is unknown.
# What is done with a reference is an access. It is certain if its indices, its mask and all
# conditions around are known; with an unknown index it is one to any element.

UNKNOWN: Final[Value] = sympy.S.NaN
"""A value that is no integer, or of which nothing is known."""


def read_kernel(
    kernel: OfJax, grid: Sequence[GridSize], batch_axes: Iterable[int], prefetched: Sequence[Value]
) -> list[tuple[BlockAccess, ...]]:
    """The accesses of a kernel to each of its references, the prefetched operands first.

    ``batch_axes`` are the axes of the grid that the kernel does not see, as of a ``vmap``.
    """
    references = [_KernelReference(each) for each in kernel.invars]
    for reference, value in zip(references, prefetched, strict=False):
        reference.prefetched = value
    _KernelReader(grid, batch_axes).run(kernel, (), references)
    return [tuple(each.accesses) for each in references]


class _KernelReference:
    """A reference of a kernel: its shape, its values if it is prefetched, its accesses so far."""

    def __init__(self, variable: OfJax) -> None:
        self.sizes: tuple[int, ...] = tuple(getattr(variable.aval, "shape", ()))
        self.prefetched: Value = None
        self.accesses: list[BlockAccess] = []


_MASKED: Final[Mapping[str, AccessKind]] = {
    "masked_load": "read",
    "masked_swap": "write",
    "atomic_rmw": "update",
}
"""The accesses that have a mask."""

Lanes: TypeAlias = "tuple[list[Value], Sequence[int]]"
"""Indices of a reference over the places of an array, and the sizes of that."""


class _KernelReader(_IndexMapReader):
    """Reads a kernel: the loops and conditions around, and the values of variables."""

    def __init__(self, grid: Sequence[GridSize], batch_axes: Iterable[int]) -> None:
        super().__init__(grid, "read_kernel")
        hidden = {*batch_axes}
        self._axes = [axis for axis in range(len(grid)) if axis not in hidden]
        self._loops: list[Variable] = []
        self._conditions: list[Value] = []
        self._bounds |= {f"x{axis}": Interval(0, None) for axis in range(_MAX_RANK)}
        self._readers: Mapping[str, Callable[[OfJax, list[Value]], list[Value]]] = {
            "program_id": self._program_id,
            "num_programs": self._num_programs,
            "iota": self._iota,
            **dict.fromkeys(("broadcast_in_dim", "reshape", "squeeze", "expand_dims"), self._moved),
            "multiple_of": self._same,
            "get": self._get,
            **dict.fromkeys(("swap", "addupdate"), self._swap),
            **dict.fromkeys(_MASKED, self._masked),
            "dma_start": self._copied,
            "dma_wait": self._nothing,
            "cond": self._branches,
            "scan": self._scan,
            "while": self._while,
            "run_scoped": self._scoped,
        }

    def _results(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        name = equation.primitive.name
        if name in self._readers:
            return self._readers[name](equation, operands)
        called = _called(equation)
        is_known = all(each is not UNKNOWN for each in operands)
        references = [each for each in operands if isinstance(each, _KernelReference)]
        if called and (references or not is_known):
            return self.run(*called, operands)
        for reference in references:
            self._note("read", reference, None)
            self._note("write", reference, None)
        if is_known and not references and all(map(_is_integer, equation.outvars)):
            with suppress(PallasError, TypeError):
                return super()._results(equation, operands)
        return [UNKNOWN] * len(equation.outvars)

    # Integers: of the grid, and in arrays.

    def _program_id(self, equation: OfJax, _: list[Value]) -> list[Value]:
        return [self.steps[self._axes[equation.params["axis"]]]]

    def _num_programs(self, equation: OfJax, _: list[Value]) -> list[Value]:
        return [_number(self._grid[self._axes[equation.params["axis"]]])]

    def _iota(self, equation: OfJax, _: list[Value]) -> list[Value]:
        axis, sizes = equation.params["dimension"], equation.params["shape"]
        if not _is_integer(equation.outvars[0]) or len(sizes) > _MAX_RANK:
            return [UNKNOWN]
        return [_lane(axis) if sizes[axis] > 1 else sympy.S.Zero]

    def _moved(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        """An array with its axes at others; those of size 1 come and go."""
        before, after = equation.invars[0].aval.shape, equation.outvars[0].aval.shape
        old: Iterable[int] = range(len(before))
        new: Iterable[int] | None = equation.params.get("broadcast_dimensions")
        if new is None:
            old, new = ([a for a, size in enumerate(each) if size > 1] for each in (before, after))
            if [before[axis] for axis in old] != [after[axis] for axis in new]:
                return [UNKNOWN]
        if not isinstance(operands[0], sympy.Basic):
            return [UNKNOWN]
        renamed = {_lane(axis): _lane(other) for axis, other in zip(old, new, strict=True)}
        return [operands[0].xreplace(renamed)]

    def _same(self, _: OfJax, operands: list[Value]) -> list[Value]:
        return operands[:1]

    # References.

    def _get(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        reference, *leaves = operands
        transforms = unflattened(equation.params["tree"], leaves)
        self._note("read", reference, self._lanes(reference, transforms))
        used = {name for leaf in leaves for name in _names_in(leaf)}
        known = {*map(str, self.steps), *(each.name for each in self.runtime)}
        if reference.prefetched is not None and used <= known and UNKNOWN not in leaves:
            with suppress(PallasError):
                return [self._prefetched(equation, reference.prefetched, *leaves)]
        return [UNKNOWN]

    def _swap(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        reference, _, *leaves = operands
        transforms = unflattened(equation.params["tree"], leaves)
        self._note("write", reference, self._lanes(reference, transforms))
        return [UNKNOWN] * len(equation.outvars)

    def _masked(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        """A load, a store, or an atomic operation, under a mask."""
        name = equation.primitive.name
        reference, transforms, *others = unflattened(equation.params["args_tree"], operands)
        mask = others[0] if name == "masked_load" else others[-1]
        lanes = self._lanes(reference, transforms)
        condition = sympy.true if mask is None else mask
        self._note(_MASKED[name], reference, lanes, condition)
        return [UNKNOWN] * len(equation.outvars)

    def _copied(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        """A copy that begins: from a reference to another, which may be of another device."""
        source, target, *_, device = unflattened(equation.params["tree"], operands)
        self._note("read", *self._viewed(source))
        reference, lanes = self._viewed(target)
        self._note("write", reference, lanes if device is None else None)
        return []

    def _viewed(self, part: OfJax) -> tuple[_KernelReference, Lanes | None]:
        """A reference, and the indices of a view of it."""
        if isinstance(part, _KernelReference):
            return part, self._lanes(part, ())
        return part.ref, self._lanes(part.ref, part.transforms)

    def _nothing(self, equation: OfJax, _: list[Value]) -> list[Value]:
        return [UNKNOWN] * len(equation.outvars)

    def _lanes(self, reference: _KernelReference, transforms: Sequence[OfJax]) -> Lanes | None:
        """The indices of a reference after some views of it, one after the other."""
        sizes: Sequence[int] = reference.sizes
        indices: list[Value] = [*map(_lane, range(len(sizes)))]
        for view in transforms:
            if not hasattr(view, "int_indexer_shape"):
                return None
            places, sizes = _chosen_by(view)
            renamed = {_lane(axis): place for axis, place in enumerate(places)}
            indices = [each.xreplace(renamed) for each in indices]
        return None if UNKNOWN in indices else (indices, sizes)

    def _note(
        self,
        kind: AccessKind,
        reference: _KernelReference,
        lanes: Lanes | None,
        mask: Value = sympy.true,
    ) -> None:
        """Note what is read or written, under the mask and all conditions around."""
        whole = [*map(_lane, range(len(reference.sizes)))], reference.sizes
        indices, sizes = lanes or whole
        around = [*self._conditions, mask]
        conditions = [each for each in around if isinstance(each, Boolean)]
        if sympy.false in conditions:
            return
        known = [each for each in conditions if each != sympy.true]
        used = {name for part in (*indices, *known) for name in _names_in(part)}
        axes = (Variable.of_size(size, f"x{axis}") for axis, size in enumerate(sizes))
        places = over_grid(
            indices,
            self._grid,
            ranges=[each for each in (*self._loops, *axes) if each.name in used],
            runtime=[each for each in self.runtime if each.name in used],
            constraints=known,
        )
        is_certain = lanes is not None and len(conditions) == len(around)
        reference.accesses.append(BlockAccess(kind, places, is_certain))

    # Control flow.

    @contextmanager
    def _under(self, condition: Value) -> Generator[None]:
        self._conditions.append(condition)
        yield
        self._conditions.pop()

    @contextmanager
    def _turns(self, last: int | None) -> Generator[sympy.Symbol]:
        """The number of the turn in a loop."""
        turn = Variable(Interval(0, last), f"t{len(self._loops)}")
        self._loops.append(turn)
        self._bounds[turn.name] = turn.bounds
        yield symbol(turn.name)
        self._loops.pop()

    def _branches(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        which, *arguments = operands
        found: list[list[Value]] = []
        branches = equation.params["branches"]
        for number, branch in enumerate(branches):
            with self._under(_is_case(which, number, len(branches))):
                found.append(self.run(branch.jaxpr, branch.consts, arguments))
        rows = zip(*found, strict=True)
        return [first if all(each is first for each in rest) else UNKNOWN for first, *rest in rows]

    def _scan(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        given, body = equation.params, equation.params["jaxpr"]
        first, behind = given["num_consts"], given["num_consts"] + given["num_carry"]
        with self._turns(given["length"] - 1) as turn:
            carried = _carried(body.jaxpr, first, operands[first:behind], turn)
            elements = [UNKNOWN] * (len(operands) - behind)
            self.run(body.jaxpr, body.consts, [*operands[:first], *carried, *elements])
        return [UNKNOWN] * len(equation.outvars)

    def _while(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        """A loop whose condition compares a counter: it holds in a turn, and in those before."""
        given, body = equation.params, equation.params["body_jaxpr"]
        first, goes_on = given["cond_nconsts"], given["cond_jaxpr"]
        behind = first + given["body_nconsts"]
        with self._turns(None) as turn:
            carried = _carried(body.jaxpr, given["body_nconsts"], operands[behind:], turn)
            (holds,) = self.run(goes_on.jaxpr, goes_on.consts, [*operands[:first], *carried])
            condition: Value = holds if len(goes_on.jaxpr.eqns) == 1 else UNKNOWN
            at_first: Value = condition.xreplace({turn: sympy.S.Zero})
            with self._under(condition), self._under(at_first):
                self.run(body.jaxpr, body.consts, [*operands[first:behind], *carried])
        return [UNKNOWN] * len(equation.outvars)

    def _scoped(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        """A part of the kernel that has references of its own."""
        jaxpr = equation.params["jaxpr"]
        return self.run(jaxpr, operands, [*map(_KernelReference, jaxpr.invars)])


def _called(equation: OfJax) -> tuple[OfJax, Sequence[OfJax]] | None:
    """The jaxpr that an equation runs with its operands, and the constants of that."""
    for parameter in equation.params.values():
        jaxpr = getattr(parameter, "jaxpr", parameter)
        if hasattr(jaxpr, "eqns") and len(jaxpr.invars) == len(equation.invars):
            return jaxpr, getattr(parameter, "consts", ())
    return None


def _is_integer(variable: OfJax) -> bool:
    return getattr(getattr(variable.aval, "dtype", None), "kind", "") in ("i", "b")


_MAX_RANK: Final = 8
"""Of arrays whose integers are known."""


def _lane(axis: int) -> sympy.Symbol:
    """The place along an axis of an array."""
    return symbol(f"x{axis}")


def _names_in(value: Value) -> set[str]:
    return {*map(str, getattr(value, "free_symbols", ()))}


def _chosen_by(view: OfJax) -> Lanes:
    """The index along each axis of what is viewed, and the sizes of the view.

    Arrays of indices have the first axes of the view, slices the others.
    """
    sizes = [*view.int_indexer_shape]
    places: list[Value] = []
    for index in view.indices:
        start = _number(index.start if _is_slice(index) else index)
        is_known = isinstance(start, sympy.Expr)
        if _is_slice(index):
            is_known = is_known and isinstance(index.size, int)
            start += index.stride * _lane(len(sizes)) if is_known else 0
            sizes.append(index.size)
        places.append(start if is_known else UNKNOWN)
    return places, sizes


def _is_case(which: Value, number: int, count: int) -> Value:
    """Whether a value selects a branch; one beyond the last selects that."""
    if not isinstance(which, sympy.Expr) or which is UNKNOWN:
        return UNKNOWN
    if isinstance(which, sympy.Piecewise) and [case for case, _ in which.args] == [1, 0]:
        condition: Value = which.args[0][1]
        return condition if number else sympy.Not(condition)
    if number == count - 1:
        return which >= number
    return sympy.Eq(which, number) if number else which <= 0


def _carried(jaxpr: OfJax, first: int, initial: Sequence[Value], turn: sympy.Symbol) -> list[Value]:
    """The values at a turn of what a loop carries: of counters, and of what stays."""
    added = {
        equation.outvars[0]: equation.invars
        for equation in jaxpr.eqns
        if equation.primitive.name == "add"
    }
    found: list[Value] = []
    for before, after, value in zip(jaxpr.invars[first:], jaxpr.outvars, initial, strict=True):
        operands = None if hasattr(after, "val") else added.get(after)
        if after is before:
            found.append(value)
        elif operands and operands[0] is before and hasattr(operands[1], "val"):
            found.append(value + turn * _number(operands[1].val))
        else:
            found.append(UNKNOWN)
    return found


# Arrays that do not depend on the arguments of a function, such as tables of blocks.

Constant: TypeAlias = "OfJax | _Computed"
"""An array, or a result of an equation of constants."""


@dataclass(frozen=True, eq=False)
class _OfConstants:
    """An equation whose operands are constants."""

    of_jax: OfJax
    operands: Sequence[Constant]


class _Computed(NamedTuple):
    equation: _OfConstants
    number: int


def constant_results(equation: OfJax, constants: Mapping[OfJax, Constant]) -> dict[OfJax, Constant]:
    """The results of an equation as constants, if all of its operands are."""
    atoms, results = equation.invars, equation.outvars
    is_small = all(
        getattr(each.aval, "size", math.inf) <= _MAX_TABLE for each in (*atoms, *results)
    )
    operands = [each.val if hasattr(each, "val") else constants.get(each) for each in atoms]
    if equation.effects or not is_small or any(each is None for each in operands):
        return {}
    node = _OfConstants(equation, operands)
    return {each: _Computed(node, number) for number, each in enumerate(results)}


_MAX_TABLE: Final = 2**16
"""The elements of an array that is computed."""


def values_of(atoms: Iterable[OfJax], constants: Mapping[OfJax, Constant]) -> list[OfJax | None]:
    """The values of constants as arrays of NumPy; ``None`` for what depends on arguments.

    All that has to be computed is one program.
    """
    found: list[OfJax] = [
        each.val if hasattr(each, "val") else constants.get(each) for each in atoms
    ]
    computed: dict[_Computed, OfJax] = {each: each for each in found if isinstance(each, _Computed)}
    if computed:
        import jax  # noqa: PLC0415  (an extra)

        run: OfJax = jax.jit(partial(_run, [*computed]))  # pyright: ignore[reportUnknownMemberType] - untyped
        computed = dict(zip(computed, run(), strict=True))
    plain = (computed[each] if isinstance(each, _Computed) else each for each in found)
    return [None if each is None else np.asarray(each) for each in plain]


def _run(wanted: Sequence[_Computed]) -> list[OfJax]:
    """The results of equations, each run after those that it needs."""
    results: dict[_OfConstants, OfJax] = {}

    def read(constant: Constant) -> OfJax:
        is_computed = isinstance(constant, _Computed)
        return results[constant.equation][constant.number] if is_computed else constant

    for each in postorder((each.equation for each in wanted), _equations_before):
        primitive, given = each.of_jax.primitive, each.of_jax.params
        found = primitive.bind(*map(read, each.operands), **primitive.get_bind_params(given))
        results[each] = found if primitive.multiple_results else [found]
    return [*map(read, wanted)]


def _equations_before(equation: _OfConstants) -> Iterator[_OfConstants]:
    computed = (each for each in equation.operands if isinstance(each, _Computed))
    return (each.equation for each in computed)
