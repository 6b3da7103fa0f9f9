"""The reader of ``affine``, ``memref`` and ``tensor``: regions, integers, arrays, and accesses.

A text is read operation by operation. What is not known is passed over to the next operation: its
results are known by name alone, and what stands in its regions may happen any number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, cast

from indexing import IndexingMap, MapError, Variable, from_affine_map, passes
from indexing.layout import UNBOUNDED_SIZE, ShapeError
from ops import index_maps
from ops.index_maps import Size, dim, dimensions_of, plain, product
from ops.mlir.operations import OperationReader
from ops.mlir.text import VALUE, DialectAttribute
from ops.rules.data_movement import concatenate, pad, reshape, strided_numbers
from ops.rules.rule import Unknown
from simplifier import forms
from simplifier.errors import TextError
from simplifier.forms import EVERYTHING, Form, Interval, is_name
from simplifier.tools.display import Displayed

Index: TypeAlias = "Sequence[Form]"
Sizes: TypeAlias = "Sequence[Size]"
Axes: TypeAlias = "Sequence[int]"
"""Numbers of axes, or sizes as a type has them: -1 is one that it leaves open."""

Limits: TypeAlias = "Sequence[passes.Constraint]"


@dataclass(frozen=True, slots=True, repr=False)
class ArrayAccess(Displayed):
    """The elements of an array that an operation reads or writes, or that are those of a view.

    Attributes:
        kind: ``read``, ``write`` or ``view``; or ``unknown`` for an operation whose maps are not
            known, which has no array and no value.
        operation: its name, such as ``affine.load``.
        array: the name of the array that has the elements, not of a view of it.
        value: the name of what is read, written or made.
        map: from the iteration of the loops around, and the index of an element if ``value`` is an
            array, to the element. Sizes and values from outside of the loops are parameters, what
            an iteration computes is a runtime variable.
        line: of the text, counted from 1.
        loops: the names of the loops around, the outer ones first; no two of a function have one
            name.
        approximation: why it may be less than that; empty if it is not.
    """

    kind: str
    operation: str
    array: str
    value: str
    map: IndexingMap | Unknown
    line: int
    loops: tuple[str, ...] = ()
    approximation: str = ""

    def __str__(self) -> str:
        what = f" {self.kind}s {self.array}" * bool(self.array)
        reason = f"\nat most: {self.approximation}" * bool(self.approximation)
        return f"line {self.line}: {self.operation}{what}: {self.map}{reason}"


# Operations, regions, and what is known of values.


class _Statement(NamedTuple):
    """An operation: what is not followed may change all arrays that it takes."""

    results: Sequence[str] = ()
    operation: str = "module"
    start: int = 0
    is_followed: bool = True


@dataclass(slots=True)
class _OpenRegion:
    """Operations in braces: the loops that run them, and when."""

    loops: Sequence[str] = ()
    limits: Limits = ()
    otherwise: Limits | None = None
    doubt: str = ""
    statement: _Statement = field(default_factory=_Statement)


class Buffer(NamedTuple):
    """The sizes of an array, and the place in its root of its element ``d0, d1, ...``."""

    root: str
    sizes: Sizes
    element: Index | Unknown


@dataclass(slots=True)
class FunctionDraft:
    """A function whose text is being read, and what is known of its values by their names."""

    name: str = ""
    accesses: list[ArrayAccess] = field(default_factory=list[ArrayAccess])
    taken: dict[str, str] = field(default_factory=dict[str, str])
    integers: dict[str, Form] = field(default_factory=dict[str, Form])
    arrays: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    loops: set[str] = field(default_factory=set[str])
    inner: dict[Form, bool] = field(default_factory=dict[Form, bool])
    """Whether the value of a variable is computed by iterations."""


_NAMES: Final = re.compile(VALUE, re.ASCII)
_RESULTS: Final = re.compile(rf"(?>(?:{VALUE}(?::\d++)?\s*+,?\s*+){{1,500}})=(?!=)", re.ASCII)
"""The names of at most 500 results, and the mark behind them."""

_ARGUMENT: Final = re.compile(rf"({VALUE})\s*[:=]", re.ASCII)
_GIVEN: Final = re.compile(r"\s*=\s*(?:affine_|memref|tensor)")
"""Behind names that stand for maps, sets and types of arrays."""

_SKIPPED: Final = re.compile(
    r"(?>(?:\s*+(?:overflow\s*<[^>]*>|alignment\s*=\s*\d+|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\]))*)"
)
"""What may stand before the colon of types: flags, attributes and symbols."""

_ATTRIBUTES: Final = re.compile(r"""\{\s*(?:[\w$.]+|"[^"\n]*")\s*(?:=(?!=)|,|\})""")
"""The begin of a dictionary of attributes, in the place of a region."""

_BEGIN: Final = re.compile(
    r"""\w+\.[\w.$]+|"[\w.$]+"(?=\s*\()|(?:return|func|call|call_indirect|store)\b"""
)
"""Names that begin an operation wherever they stand."""

_FOLLOWED: Final = re.compile(r"(?:(?:affine|arith|func|memref|tensor|scf(?!\.if))\.)?(\w+)")
_ONCE: Final = ("module", "scope", "func", "execute_region")
"""How names of operations end that run their region once."""

_HARMLESS: Final = ("return", "yield", ".dealloc", ".assume_alignment", ".global", ".prefetch")
"""How names of operations end that touch no elements of the arrays that they take."""

_INTEGERS: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "addi": Form.__add__,
    "subi": Form.__sub__,
    "muli": lambda one, other: forms.product((one, other)),
    "maxsi": lambda one, other: forms.maximum((one, other)),
    "minsi": lambda one, other: forms.minimum((one, other)),
    "floordivsi": forms.floordiv,
    "ceildivsi": forms.ceildiv,
}


class AccessReader(OperationReader):
    """Reads the accesses of the functions of a text."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file, {})
        self._function, self._regions = FunctionDraft(), [_OpenRegion()]
        self._functions = [self._function]
        self._statement, self._opening = _Statement(), cast("_OpenRegion | None", None)

    def read(self) -> list[FunctionDraft]:
        """Take a whole text."""
        while self.kind != "end":
            take = self._TOKENS.get(self.text) or self._TOKENS.get(self.kind)
            take(self) if take else self.advance()
        return self._functions

    # Operations and regions.

    def _attribute_name(self) -> None:
        """Take a name, and the map, set or type that it is given, if it is."""
        self.alias() if _GIVEN.match(self.source, self.stop) else self.advance()

    def _operation(self) -> None:
        """Take an operation up to what is alike in all, or an operand."""
        if found := _RESULTS.match(self.source, self.start):
            self.jump(found.end())
        elif self.kind == "value":
            self._take([self.advance()] * (not self._statement.is_followed))
            return
        results = _NAMES.findall(found[0]) if found else []
        self._define(results)
        start, begins = self.start, _BEGIN.match(self.source, self.start)
        word = self.advance()
        if not begins and not results:
            return
        followed, name = _FOLLOWED.fullmatch(word), word.strip('"')
        known = self._FORMS.get(followed[1]) if followed else None
        is_followed, reason = bool(known) or name.endswith(_HARMLESS), f"{name} is not known"
        self._statement, self._opening = _Statement(results, name, start, is_followed), None
        try:
            if known:
                known[1](self, *self._parts(known[0]))
        except (MapError, ShapeError) as error:
            self.jump(start + len(word))
            reason, self._opening = str(error), None
            self._statement = _Statement(results, name, start, is_followed=False)
        self._take(results * (not self._statement.is_followed))
        if name.startswith(("affine.", "memref.", "tensor.")) and not self._statement.is_followed:
            self._access("unknown", Buffer("", (), Unknown(reason)), "", ())

    def _take(self, names: Iterable[str]) -> None:
        """Note arrays that an operation may change, or have by another name."""
        arrays = self._function.arrays
        roots = (arrays[name].root if name in arrays else name for name in names)
        self._function.taken |= dict.fromkeys(roots, self._statement.operation)

    def _open(self) -> None:
        """Take attributes, or the begin of a region."""
        if _ATTRIBUTES.match(self.source, self.start):
            self.balanced("'{'")
            return
        self.advance()
        operation = self._statement.operation
        doubt = "" if operation.endswith(_ONCE) else f"{operation} is not followed"
        self._regions.append(self._opening or _OpenRegion(doubt=doubt))
        self._regions[-1].statement, self._opening = self._statement, None

    def _close(self) -> None:
        self.advance()
        if len(self._regions) > 1:
            region = self._regions.pop()
            self._statement = region.statement
            if region.otherwise is not None and self.accept("else"):
                self._opening = _OpenRegion(limits=region.otherwise)

    def _block(self) -> None:
        """Take the name of a block, and its arguments if it begins here."""
        is_first = self.source.endswith("{", 0, self.previous_stop)
        self.advance()
        arguments = self.balanced("'('") if self.text == "(" else ""
        if self.accept(":"):
            self._regions[-1].doubt += "" if is_first else "a block may run any number of times"
            self._define(_ARGUMENT.findall(arguments))

    # Values.

    def _define(self, names: Iterable[str]) -> None:
        function = self._function
        is_inner = any(region.loops or region.doubt for region in self._regions)
        for name in names:
            function.integers.pop(name, None)
            function.arrays.pop(name, None)
            function.inner[_variable(name)] = is_inner

    def _integer(self, name: str) -> Form:
        return self._function.integers.get(name, _variable(name))

    def _set_integer(self, form: Form) -> None:
        self._function.integers |= dict.fromkeys(self._statement.results, form)

    @property
    def _made(self) -> str:
        """The name of the result."""
        return next(iter(self._statement.results), "")

    def _array_of(self, name: str, sizes: Axes) -> Buffer:
        """The array of a name, which may be a view of another one."""
        array = self._function.arrays.get(name)
        if array is None or len(array.sizes) != len(sizes):
            array = self._new_array(name, _sizes_of(name, sizes))
        return array

    def _new_array(self, name: str, sizes: Sizes) -> Buffer:
        made = self._function.arrays[name] = Buffer(name, sizes, dimensions_of(sizes))
        return made

    # Parts of forms.

    def _parts(self, form: str) -> Iterator[Any]:
        """Take what a form lists: words as they stand, and parts, whose values these are."""
        for word in form.split():
            if word in self._PARTS:
                yield self._PARTS[word](self)
            elif word[0] == "?":
                self.accept(word[1:])
            else:
                self.matching(_SKIPPED, f"{word!r}")
                self.expect(word)

    def _type_sizes(self) -> Axes:
        """Take the type of an array."""
        if (sizes := getattr(self.type(), "dimensions", None)) is None:
            raise MapError("an array has a type without sizes")
        return sizes

    def _groups(self) -> Sequence[Axes]:
        """Take axes that belong together: ``[[0, 1], [2]]``."""
        parts = self.balanced("'[' before axes")[1:-1].split("]")[:-1]
        return [[*map(int, re.findall(r"\d{1,9}", part))] for part in parts]

    def _listed(self) -> list[str]:
        """Take values in parentheses, if they are there."""
        return [each.text for each in self.listed_operands()] if self.text == "(" else []

    def _expressions(self) -> Index:
        """Take affine expressions of values in brackets."""
        start = self.start
        body = self.balanced("'[' before indices")[1:-1]
        names = [*dict.fromkeys(_NAMES.findall(body))]
        words = {name: f"x{place}" for place, name in enumerate(names)}
        written = _NAMES.sub(lambda each: words[each[0]], body).replace("symbol", "")
        if "min" in written or "max" in written:
            raise MapError("bounds are minima or maxima")
        read = self._read_map(f"()[{', '.join(words.values())}] -> ({written})", "", start)
        return forms.substitute(read.forms, self._values(read, names))

    def _applied(self, kind: str) -> tuple[IndexingMap, Mapping[str, Form]]:
        """Take a map or a set and its operands: the values of its variables."""
        start = self.start
        found = self.resolved(self.value())
        if not isinstance(found, DialectAttribute) or found.name != kind:
            raise self.error_since(start, f"expected an {kind}")
        head, colon, _ = found.body.partition(":")
        read = self._read_map(head + " -> ()" * bool(colon), found.body * bool(colon), start)
        operands = self._listed()
        if self.text == "[":
            operands += [each.text for each in self.listed(self.operand, "[", "]", "symbols")]
        return read, self._values(read, operands)

    def _read_map(self, text: str, affine_set: str, start: int) -> IndexingMap:
        """The map of a part of the text that was taken; an error about it points there."""
        try:
            return from_affine_map(text, affine_set=affine_set)
        except TextError as error:
            raise self.error_since(start, error.message, error.hint) from None

    def _values(self, read: IndexingMap, operands: Sequence[str]) -> Mapping[str, Form]:
        rows = _rows(read.domain.identifiers, operands)
        return {identifier: self._integer(name) for identifier, name in rows}

    def _results(self) -> Index:
        """Take a map and its operands: its results."""
        read, values = self._applied("affine_map")
        if not read.forms:
            raise MapError("a map has no results")
        return forms.substitute(read.forms, values)

    def _bound(self) -> Index:
        """Take a bound of a loop: one expression, or several whose extremum it is."""
        if self.kind == "value":
            return (self._integer(self.advance()),)
        if self.kind == "number":
            return (forms.constant(self.integer("a bound")),)
        return self._results()

    # Loops and conditions.

    def _for(self, name: str, lower: Index, upper: Index) -> None:
        step, *_ = self._bound() if self.accept("step") else (forms.ONE,)
        self._enter([(name, lower, upper, step)])

    def _parallel(self, names: Sequence[str]) -> None:
        accept, ones = self.accept, [forms.ONE] * len(names)
        *_, lowers = [forms.ZERO] * len(names), *(() if accept("in") else self._parts("= [] to"))
        uppers = self._expressions()
        rows = _rows(names, lowers, uppers, self._expressions() if accept("step") else ones)
        self._enter((name, [lower], [upper], step) for name, lower, upper, step in rows)

    def _enter(self, rows: Iterable[tuple[str, Index, Index, Form]]) -> None:
        """Have the next region run in loops: their variables, bounds and steps."""
        loops, limits, doubt = list[str](), list[passes.Constraint](), ""
        for name, lower, upper, step in rows:
            self._define([name])
            loops.append(_word(name))
            while loops[-1] in self._function.loops:
                loops[-1] += "_"
            self._function.loops.add(loops[-1])
            loop = self._function.integers[name] = forms.variable(f"~{loops[-1]}")
            limits += [(loop - each, Interval(0, None)) for each in lower]
            limits += [(loop - each, Interval(None, -1)) for each in upper]
            if not step.is_constant or step.constant < 1:
                doubt = f"the step of {name} is not known to be a positive number"
            elif step.constant > 1:
                apart = forms.mod(loop - forms.maximum(lower), step)
                limits.append((apart, Interval(0, 0)))
        self._opening = _OpenRegion(loops, limits, doubt=doubt)
        if self.accept("iter_args"):
            given = self.balanced("'('")
            self._take((*_NAMES.findall(given), *self._statement.results))
            self._define(_ARGUMENT.findall(given))

    def _if(self) -> None:
        read, values = self._applied("affine_set")
        holds = passes.substituted_constraints(read.domain.limits(), values)
        self._opening = _OpenRegion(limits=holds, otherwise=[_unless(holds)])

    # Integers.

    def _constant(self) -> None:
        if self.text.lstrip("-").isdecimal():
            self._set_integer(forms.constant(self.integer("a constant")))

    def _arithmetic(self, *operands: Form) -> None:
        """Compute with integers of the type ``index``; others may overflow."""
        self.matching(_SKIPPED, "':'")
        if self.accept(":") and self.accept("index"):
            self._set_integer(_INTEGERS[self._statement.operation.rpartition(".")[2]](*operands))

    def _apply(self, found: Index) -> None:
        extrema = {"affine.max": forms.maximum, "affine.min": forms.minimum}
        extremum = extrema.get(self._statement.operation)
        self._set_integer(extremum(found) if extremum else found[0])

    def _size(self, name: str, axis: Form, sizes: Axes) -> None:
        known = self._array_of(name, sizes).sizes
        if axis.is_constant and 0 <= axis.constant < len(known):
            self._set_integer(index_maps.as_form(known[axis.constant]))

    # Loads, stores, views, and tensors that are made of others.

    def _load(self, name: str, index: Index, sizes: Axes) -> None:
        self._access("read", self._array_of(name, sizes), self._made, index)

    def _store(self, value: str, name: str, index: Index, sizes: Axes) -> None:
        self._access("write", self._array_of(name, sizes), value, index)

    def _allocate(self, given: Sequence[str], sizes: Axes) -> None:
        _rows([size for size in sizes if size < 0], given)
        rest = map(self._integer, given)
        self._new_array(self._made, [plain(next(rest)) if size < 0 else size for size in sizes])

    def _show(self, sizes: Sizes, *parts: tuple[Buffer, Index, Limits]) -> None:
        """Have the result be a tensor that is made of parts of others, or a view of an array."""
        if self._statement.operation.startswith("tensor."):
            for array, index, inside in parts:
                self._access("read", array, self._made, index, sizes, inside)
            self._new_array(self._made, sizes)
            return
        ((root, source, element), index, _), *_ = parts
        _rows(source, index)
        shown = element if isinstance(element, Unknown) else _at(element, index)
        view = self._function.arrays[self._made] = Buffer(root, sizes, shown)
        self._access("view", view, self._made, dimensions_of(sizes), sizes)

    def _slice(self, name: str, offsets: Index, sizes: Index, steps: Index, *types: Axes) -> None:
        kept = _kept(sizes, types[1])
        own = {axis: dim(place) for place, axis in enumerate(kept)}
        rows = enumerate(_rows(offsets, steps, sizes))
        index = [at + forms.product((own.get(axis, forms.ZERO), by)) for axis, (at, by, _) in rows]
        left = [plain(sizes[axis]) for axis in kept]
        self._show(left, (self._array_of(name, types[0]), index, ()))

    def _insert(self, name: str, into: str, *rest: Any) -> None:  # noqa: ANN401 - parts of a form
        *rows, part, around = rest
        source, whole = self._array_of(name, part), self._array_of(into, around)
        starts, sizes, steps = ([*map(plain, row)] for row in rows)
        ends = [at + product((n - 1, by)) for at, n, by, _ in _rows(starts, sizes, steps, around)]
        held = strided_numbers([*map(index_maps.between, starts, ends)], starts, steps)
        inside, index = held.domain.limits(), [held.forms[axis] for axis in _kept(rows[1], part)]
        rest_of_it = whole, dimensions_of(around), [_unless(inside)]
        self._show(whole.sizes, (source, index, inside), rest_of_it)

    def _pad(self, name: str, low: Index, high: Index, _: str, *types: Axes) -> None:
        source = self._array_of(name, types[0])
        rows = [(plain(before), plain(after), 0) for before, after in _rows(low, high)]
        held = pad(source.sizes, rows).output_to_input[0]
        padded = [size + sum(row) for size, row in _rows(source.sizes, rows)]
        self._show(_merged(types[1], padded), (source, held.forms, held.domain.limits()))

    def _concatenate(self, axes: Index, names: Sequence[str], *types: Any) -> None:  # noqa: ANN401
        arrays = [self._array_of(*row) for row in _rows(names, types[0])]
        axis = sum(each.constant for each in axes)
        made = concatenate([each.sizes for each in arrays], axis).output_to_input
        sizes = [*arrays[0].sizes]
        sizes[axis] = index_maps.total(each.sizes[axis] for each in arrays)
        parts = [(each, held.forms, held.domain.limits()) for each, held in _rows(arrays, made)]
        self._show(sizes, *parts)

    def _cast(self, name: str, before: Axes, after: Axes) -> None:
        source = self._array_of(name, before)
        self._show(_merged(after, source.sizes), (source, dimensions_of(after), ()))

    def _reshape(self, name: str, groups: Sequence[Axes], given: Index, *types: Axes) -> None:
        source, (before, after) = self._array_of(name, types[0]), types
        coarse, fine = sorted(types, key=len)
        if len(groups) != len(coarse) or (groups and [*chain(*groups)] != [*range(len(fine))]):
            raise MapError(f"expected {len(coarse)} groups of the axes 0 to {len(fine) - 1}")
        sizes = [*map(plain, given)] or _sizes_of(self._made, after)
        for place, group in enumerate(groups):
            open_axes = [axis for axis in group if fine is after and after[axis] == UNBOUNDED_SIZE]
            if fine is before:
                sizes[place] = product(source.sizes[axis] for axis in group)
            elif len(open_axes) == 1:  # its size is what the others leave
                others = product(sizes[axis] for axis in group if axis not in open_axes)
                sizes[open_axes[0]] = index_maps.floor_divided(source.sizes[place], others)
        held = reshape(source.sizes, sizes).output_to_input[0]
        self._show(sizes, (source, held.forms, ()))

    def _transpose(self, name: str, before: str, after: str, *types: Axes) -> None:
        source = self._array_of(name, types[0])
        read = self._read_map(f"{before} -> {after}", "", self._statement.start)
        order = dimensions_of(source.sizes)
        if sorted(map(str, read.forms)) != sorted(map(str, order)):
            raise MapError("the axes are no permutation of those of the array")
        sizes = [source.sizes[order.index(each)] for each in read.forms]
        self._show(sizes, (source, [dim(read.forms.index(each)) for each in order], ()))

    def _reinterpret(self, name: str, offset: Index, sizes: Index, steps: Index) -> None:
        """Take a new index for the memory of an array, which lies there without gaps."""
        start, source = self.start, self._array_of(name, self._type_sizes())
        found: Index | Unknown = Unknown(f"the memory of {name} is not known")
        if source.root == name and "," not in self.source[start : self.start]:
            flat = reshape((product(source.sizes),), source.sizes).input_to_output[0]
            ways = [forms.product((dim(axis), step)) for axis, step in enumerate(steps)]
            found = _at(flat.forms, [sum([*offset, *ways], forms.ZERO)])
        memory = (Buffer(source.root, steps, found), dimensions_of(sizes), ())
        self._show([*map(plain, sizes)], memory)

    def _begin_function(self, name: str, _: str) -> None:
        """Begin a function; its arguments are known by name alone."""
        self._function = FunctionDraft(name)
        self._functions.append(self._function)

    # Maps.

    def _access(
        self, kind: str, array: Buffer, value: str, index: Index, sizes: Sizes = (), at: Limits = ()
    ) -> None:
        """Note an access, from the iteration and the index of an element of a value."""
        _rows(array.sizes, index)
        found, (_, operation, start, _) = array.element, self._statement
        if not isinstance(found, Unknown):
            found = self._map(_at(found, index), sizes, at)
        line = self.span_of(start, start).line
        loops = tuple(chain.from_iterable(each.loops for each in self._regions))
        doubt = next((each.doubt for each in self._regions if each.doubt), "")
        made = ArrayAccess(kind, operation, array.root, value, found, line, loops, doubt)
        self._function.accesses.append(made)

    def _map(self, results: Index, sizes: Sizes = (), inside: Limits = ()) -> IndexingMap:
        """The map from the loops around, and from an own index, where all conditions hold."""
        loops = [*chain.from_iterable(each.loops for each in self._regions)]
        own = [(dim(axis) - size, Interval(None, -1)) for axis, size in enumerate(sizes)]
        limits = [*chain.from_iterable(each.limits for each in self._regions), *inside, *own]
        used = forms.variables_of((*results, *(form for form, _ in limits)))
        inner = self._function.inner
        varying = [each[1:] for each in used if inner.get(forms.variable(each))]
        varying = [each for each in varying if each not in loops]
        moved = {f"d{axis}": dim(len(loops) + axis) for axis in range(len(sizes))}
        for role, names in ((dim, loops), (index_maps.runtime_value, varying)):
            moved |= {f"~{name}": role(place) for place, name in enumerate(names)}
        limits = passes.substituted_constraints(limits, moved)
        results = forms.substitute(results, moved)
        dims = [Variable(EVERYTHING, loop) for loop in loops]
        dims += [Variable(Interval(0, None)) for _ in sizes]
        parameters = index_maps.parameters_in((*results, *(form for form, _ in limits)), ())
        runtime = [Variable(EVERYTHING, name) for name in varying]
        domain = passes.Domain.of(dims, (), runtime, map(passes.bare, limits), parameters)
        return IndexingMap.from_forms(results, domain).simplify()

    _TOKENS: ClassVar[Mapping[str, Callable[..., None]]] = {
        "{": _open,
        "}": _close,
        "alias": _attribute_name,
        "block": _block,
        **dict.fromkeys(("name", "string", "value"), _operation),
    }
    """What begins with a token, or with a token of a kind."""

    _PARTS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "value": lambda self: self.operand().text,
        "values": lambda self: [each.text for each in self.operands()],
        "(values)": _listed,
        "integer": lambda self: self._bound()[0],
        "[]": _expressions,
        "shape": lambda self: self._expressions() if self.accept("output_shape") else (),
        "bound": _bound,
        "results": _results,
        "groups": _groups,
        "symbol": lambda self: self.symbol("the name of a function"),
        "(axes)": lambda self: self.balanced("'('"),
        "{}": lambda self: self.balanced("'{'"),
        "type": _type_sizes,
        "(types)": lambda self: self.listed(self._type_sizes, "(", ")", "types"),
    }
    """How the parts of forms are taken."""

    _FORMS: ClassVar[Mapping[str, tuple[str, Callable[..., None]]]] = {
        **dict.fromkeys(_INTEGERS, ("integer , integer", _arithmetic)),
        **dict.fromkeys(("index_cast", "index_castui"), ("integer", _set_integer)),
        "constant": ("", _constant),
        **dict.fromkeys(("apply", "max", "min"), ("results", _apply)),
        "for": ("value = ?max bound to ?min bound", _for),
        **dict.fromkeys(("forall", "parallel"), ("(values)", _parallel)),
        "if": ("", _if),
        **dict.fromkeys(("extract", "load"), ("value [] : type", _load)),
        "store": ("value , value [] : type", _store),
        **dict.fromkeys(("alloc", "alloca", "empty"), ("(values) : type", _allocate)),
        "dim": ("value , integer : type", _size),
        **dict.fromkeys(("extract_slice", "subview"), ("value [] [] [] : type to type", _slice)),
        "insert_slice": ("value into value [] [] [] : type into type", _insert),
        "pad": ("value ?nofold low [] high [] {} : type to type", _pad),
        "concat": ("dim [] values : (types) -> type", _concatenate),
        "cast": ("value : type to type", _cast),
        "collapse_shape": ("value groups shape : type into type", _reshape),
        "expand_shape": ("value groups shape : type into type", _reshape),
        "transpose": ("value (axes) -> (axes) : type to type", _transpose),
        "reinterpret_cast": ("value to offset : [] , sizes : [] , strides : [] :", _reinterpret),
        "func": ("?private ?public ?nested symbol (axes)", _begin_function),
    }
    """The form of each operation behind its name, and what is done with its parts."""


def _word(name: str, of: str = "") -> str:
    """The name in maps of a value, or of a size of it."""
    word = re.sub(r"\W", lambda each: f"_{ord(each[0]):x}_", name[1:]) + of
    word = word if word[:1].isalpha() else f"_{word}"
    is_taken = not is_name(word) or passes.POSITIONAL.fullmatch(word) or passes.other_use(word)
    return word + "_" * bool(is_taken)


def _variable(name: str, of: str = "") -> Form:
    return forms.variable(f"~{_word(name, of)}")


def _sizes_of(name: str, sizes: Axes) -> list[Size]:
    """The sizes of an array, with parameters for those that its type leaves open."""
    rows = enumerate(sizes)
    return [_variable(name, f"_size{axis}") if size < 0 else size for axis, size in rows]


def _rows(*columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The entries of lists side by side.

    Raises:
        MapError: there are not as many of each.
    """
    if len({*map(len, columns)}) > 1:
        raise MapError(f"there are {[*map(len, columns)]} entries; expected as many of each")
    return [*zip(*columns, strict=True)]


def _at(element: Index, own: Index) -> Index:
    """The element that belongs to another own index."""
    return forms.substitute(element, {f"d{axis}": form for axis, form in enumerate(own)})


def _merged(sizes: Axes, known: Sizes) -> list[Size]:
    """The sizes of a type; those that it leaves open are known."""
    return [other if size == UNBOUNDED_SIZE else size for size, other in _rows(sizes, known)]


def _kept(sizes: Index, wanted: Axes) -> list[int]:
    """The axes of a slice that stay; those of size 1 may be left out."""
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        is_spare = size == forms.ONE and axis - len(kept) < len(sizes) - len(wanted)
        if not is_spare or wanted[len(kept) :][:1] == (1,):
            kept.append(axis)
    _rows(kept, wanted)
    return kept


def _unless(limits: Limits) -> passes.Constraint:
    """The condition that one of some constraints does not hold."""
    depths = [-depth - 1 for depth in passes.depths_of(limits)]
    return forms.maximum((forms.constant(-1), *depths)), Interval(0, None)
