"""HLO modules as values: :class:`HloModule`, its computations, their instructions, and their text.

A module never changes. An instruction belongs to the first computation that is made of it, and a
computation to the first module; others that are made of them hold copies. Instructions and
computations are equal only to themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from itertools import chain
from re import compile as compiled
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from indexing.layout import Shape
from indexing.passes import Constraint
from ops.hlo.attributes import ATTRIBUTES, METADATA, MODULE_ATTRIBUTES, Codec, Reference
from ops.hlo.errors import (
    AmbiguousNameError,
    DetachedError,
    NoSuchComputationError,
    NoSuchInstructionError,
)
from ops.hlo.lexer import escape
from ops.hlo.literal import Literal
from ops.hlo.opcodes import bare, check_opcode, near_names
from ops.index_maps import Size, in_order
from simplifier.errors import Span, check_type
from simplifier.tools.display import Displayed, html_of_sections

NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})

INSTRUCTION: Final = "an Instruction of a module, such as those of hlo.load or hlo.parse"
"""The argument that functions of instructions expect, for messages."""
MODULE: Final = "an HloModule, such as that of hlo.load or hlo.parse"
"""Likewise of modules."""

_MAX_LITERAL: Final = 40
"""Definitions leave out the values of longer constants."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Instruction(Displayed):
    """One operation on values: ``%sum = f32[4]{0} add(%a, %b)``.

    ``attributes`` have their names in HLO as keys; a called computation is a :class:`Computation`.
    ``literal`` is the value of a constant, ``parameter_number`` the number of a parameter. The
    text of the instruction is ``source[start:stop]`` of its module. ``sizes`` are those of the
    arrays of the result where a frontend knows what the shape leaves open (``?``): forms over
    parameters, of which each is a size or part of one in a parameter of the entry, and at least 1.
    """

    name: str
    opcode: str
    shape: Shape
    operands: tuple[Instruction, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    literal: Literal | None = None
    parameter_number: int | None = None
    start: int = 0
    stop: int = 0
    sizes: tuple[tuple[Size, ...], ...] | None = None
    _computation: Computation | None = field(default=None, init=False)

    @property
    def computation(self) -> Computation:
        """The computation that the instruction belongs to.

        Raises:
            DetachedError: it belongs to none.
        """
        if self._computation is None:
            raise _detached(f"instruction %{self.name}", "computation")
        return self._computation

    @property
    def is_root(self) -> bool:
        """Whether the instruction is the result of its computation."""
        return self._computation is not None and self._computation.root is self

    @property
    def span(self) -> Span:
        """The place of the instruction in the text, for messages; or its own text."""
        module = self._computation and self._computation.own_module
        if module is None or not self.stop:
            text = str(self)
            return Span(text, 0, len(text))
        return Span(module.source, self.start, self.stop, module.file)

    def result_text(self, output: int | None = None) -> str:
        """The result, all of it or one array, with the kind of a fusion, for people to read.

        >>> from ops.hlo import parse
        >>> text = "ENTRY e { p = f32[2] parameter(0) ROOT t = (f32[2]) tuple(p) }"
        >>> root = parse(text).entry.root
        >>> print(root.result_text(), "|", root.result_text(0))
        %t = (f32[2]) tuple | result 0 of %t = f32[2] tuple
        """
        arrays, is_tuple = self.shape.arrays, self.shape.is_tuple
        shown = arrays if output is None else [arrays[output]]
        shape = ", ".join(each.short_text for each in shown)
        which = f"result {output} of " if is_tuple and output is not None else ""
        given = f"({shape})" if is_tuple and output is None else shape
        kind = self.attributes.get("kind") if self.opcode == "fusion" else None
        opcode = f"{self.opcode} {kind}" if kind else self.opcode
        return f"{which}%{self.name} = {given} {opcode}"

    @property
    def users(self) -> tuple[Instruction, ...]:
        """The instructions that read this one, in order, each once.

        Raises:
            DetachedError: it belongs to no computation.

        >>> from ops.hlo import parse
        >>> module = parse("ENTRY e { a = f32[] parameter(0) ROOT b = f32[] multiply(a, a) }")
        >>> module["a"].users
        (<%b = f32[] multiply(%a, %a)>,)
        """
        return self.computation.users().get(self, ())

    @property
    def computations(self) -> tuple[Computation, ...]:
        """The computations among the attributes, in order."""
        parts: list[object] = []
        for value in self.attributes.values():
            parts += cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        return tuple(part for part in parts if isinstance(part, Computation))

    @property
    def branches(self) -> tuple[Computation, ...]:
        """The branches of a conditional, in the order of their operands."""
        pair = (self.attributes.get(name) for name in ("true_computation", "false_computation"))
        return self.attributes.get("branch_computations", tuple(filter(None, pair)))

    def __str__(self) -> str:
        attributes = (f"{name}={text}" for name, text in self.attribute_texts())
        return ", ".join([self._assignment(self._arguments), *attributes])

    def attribute_texts(self) -> Iterator[tuple[str, str]]:
        """The attributes as HLO writes them."""
        for name, value in self.attributes.items():
            yield name, _attribute_text(name, value)

    @property
    def definition(self) -> str:
        """The text without attributes, and without the values of a large constant."""
        arguments = self._arguments
        is_large = self.literal is not None and len(arguments) > _MAX_LITERAL
        return self._assignment("{...}" if is_large else arguments)

    def _assignment(self, arguments: str) -> str:
        return f"%{self.name} = {self.shape} {self.opcode}({arguments})"

    @property
    def _arguments(self) -> str:
        if self.literal is not None:
            return self.literal.text
        if self.parameter_number is not None:
            return str(self.parameter_number)
        return ", ".join(f"%{operand.name}" for operand in self.operands)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._computation is None:
            attributes, literal = dict(self.attributes), self.literal
            values = self.operands, attributes, literal, self.parameter_number, 0, 0, self.sizes
            return _unpickled, (self.name, self.opcode, self.shape, *values)
        home = self.computation
        return _member, (home, "instructions", home.instructions.index(self))


def parameter(name: str, shape: Shape, number: int, start: int = 0, stop: int = 0) -> Instruction:
    """A parameter that belongs to no computation yet."""
    return Instruction(name, "parameter", shape, (), NO_ATTRIBUTES, None, number, start, stop)


@dataclass(slots=True, eq=False, repr=False)
class Draft(Displayed):
    """An instruction whose fields are set one after another; with all of them, it becomes one.

    To set the fields of one that is frozen takes six times as long.
    """

    name: str
    opcode: str
    shape: Shape | None
    start: int
    operands: tuple[Instruction, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    literal: Literal | None = None
    parameter_number: int | None = None
    stop: int = 0
    sizes: tuple[tuple[Size, ...], ...] | None = None
    _computation: Computation | None = None

    def completed(self) -> Instruction:
        """This object as an instruction, which has the same fields."""
        made: Any = self
        made.__class__ = Instruction
        return made


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Computation(Displayed):
    """Instructions in order, each after its operands, and the root, which is the result.

    ``parameters`` are in the order of their numbers. Instructions that belong to another
    computation are copied.

    >>> from ops.hlo import parse
    >>> entry = parse("ENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }").entry
    >>> again = Computation("again", entry.instructions, entry.root)
    >>> again.root is entry.root, again.root.computation is again, entry.root.is_root
    (False, True, True)
    """

    name: str
    instructions: tuple[Instruction, ...]
    root: Instruction
    execution_thread: str = "main"
    parameters: tuple[Instruction, ...] = field(init=False)
    own_module: HloModule | None = field(default=None, init=False)
    """The module, if the computation belongs to one."""
    _by_name: dict[str, list[Instruction]] = field(
        default_factory=dict[str, list[Instruction]], init=False
    )
    _users: dict[Instruction, tuple[Instruction, ...]] = field(
        default_factory=dict[Instruction, "tuple[Instruction, ...]"], init=False
    )

    def __post_init__(self) -> None:
        if any(each._computation is not None for each in self.instructions):  # noqa: SLF001 - its own
            copies = _copies(self.instructions, {})
            object.__setattr__(self, "instructions", tuple(copies.values()))
            object.__setattr__(self, "root", copies[self.root])
        for instruction in self.instructions:
            object.__setattr__(instruction, "_computation", self)
        numbered = [(i.parameter_number, i) for i in self.instructions]
        found = {number: i for number, i in numbered if number is not None}
        object.__setattr__(self, "parameters", in_order(found))

    @property
    def module(self) -> HloModule:
        """The module that the computation belongs to.

        Raises:
            DetachedError: it belongs to none.
        """
        if self.own_module is None:
            raise _detached(f"computation %{self.name}", "module")
        return self.own_module

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions)

    def __getitem__(self, name: str) -> Instruction:
        """The instruction with a name, with or without ``%``.

        Raises:
            NoSuchInstructionError: there is none.
        """
        return _one_named(self, name, f"%{self.name}[...]")

    def __contains__(self, each: object) -> bool:
        """Whether an instruction is among these, or one with a name, with or without ``%``."""
        return _holds(self, each)

    def find(self, pattern: str = "*", *, opcode: str | None = None) -> tuple[Instruction, ...]:
        """The instructions with names that match ``pattern``, and with an ``opcode``, in order.

        In a pattern, ``*`` is any text, ``?`` any character, and ``[12]`` one of some.

        Raises:
            ArgumentError: there is no such opcode.

        >>> from ops.hlo import load
        >>> entry = load("examples/softmax.hlo").entry
        >>> [each.name for each in entry.find("ynn*", opcode="fusion")]
        ['ynn_fusion.1', 'ynn_fusion']
        """
        return _matching(self.instructions, pattern, opcode)

    def users(self) -> Mapping[Instruction, tuple[Instruction, ...]]:
        """Users of each instruction that others read, in order, each once."""
        if not self._users:
            found: dict[Instruction, dict[Instruction, None]] = {}
            for each in self.instructions:
                for operand in each.operands:
                    found.setdefault(operand, {})[each] = None
            self._users.update({read: tuple(readers) for read, readers in found.items()})
        return self._users

    @property
    def is_entry(self) -> bool:
        """Whether the program starts here."""
        return self.own_module is not None and self.own_module.entry is self

    def __str__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.shape.text(layout=False)}" for p in self.parameters)
        entry, result = "ENTRY " * self.is_entry, self.root.shape.text(layout=False)
        lines = ((each.is_root, str(each)) for each in self.instructions)
        thread = self.execution_thread
        return computation_text(f"{entry}%{self.name} ({parameters}) -> {result}", lines, thread)

    def __repr__(self) -> str:
        return f"<computation %{self.name} of {len(self.instructions)} instructions>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.own_module is None:
            copies = _copies(self.instructions, {})
            parts = self.name, (*copies.values(),), copies[self.root], self.execution_thread
            return Computation, parts
        return _member, (self.module, "computations", self.module.computations.index(self))


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class HloModule:
    """A program: its computations, callees before their callers, and the entry among them.

    Computations that belong to another module are copied.

    ``source`` is the text it was read from and ``file`` where that came from. ``tables`` are the
    tables of source locations that ``stack_frame_id`` in the metadata of instructions points into.
    ``size_facts`` is what a frontend says of symbolic sizes beside their origins.
    ``str(module)`` is a text in the form that XLA prints by default; it reads back as the same
    module, but for the sizes that a frontend gives.

    >>> from ops.hlo import parse
    >>> module = parse("HloModule m ENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }")
    >>> module.name, module.entry.root.opcode, module.entry.root.operands
    ('m', 'negate', (<%a = f32[2]{0} parameter(0)>,))
    """

    name: str
    computations: tuple[Computation, ...]
    entry: Computation
    attributes: Mapping[str, Any]
    source: str
    file: str = ""
    tables: Mapping[str, Mapping[int, str | Mapping[str, int]]] = field(
        default_factory=lambda: NO_ATTRIBUTES
    )
    size_facts: tuple[Constraint, ...] = ()
    _by_name: dict[str, list[Instruction]] = field(
        default_factory=dict[str, list[Instruction]], init=False
    )

    def __post_init__(self) -> None:
        if any(each.own_module is not None for each in self.computations):
            copies: dict[Computation, Computation] = {}
            for each in self.computations:
                copies[each] = _copy_of(each, copies)
            object.__setattr__(self, "computations", tuple(copies.values()))
            object.__setattr__(self, "entry", copies[self.entry])
        for computation in self.computations:
            object.__setattr__(computation, "own_module", self)

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions of all computations, in order, as iterating over the module gives."""
        return (*chain.from_iterable(each.instructions for each in self.computations),)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions)

    def __getitem__(self, name: str) -> Instruction:
        """The instruction with a name, with or without ``%``, wherever it stands.

        Raises:
            NoSuchInstructionError: there is none.
            AmbiguousNameError: there is one in each of several computations.

        >>> from ops.hlo import load
        >>> module = load("examples/softmax.hlo")
        >>> module["%ynn_fusion.1"].attributes["calls"]
        <computation %fused_computation.1 of 6 instructions>
        >>> module["ynn_fusion.7"]
        Traceback (most recent call last):
            ...
        ops.hlo.errors.NoSuchInstructionError: examples/softmax.hlo: no instruction is called
        %ynn_fusion.7
        hint: there is %ynn_fusion.1, %ynn_fusion
        """
        return _one_named(self, name, f"{self.name}[...]")

    def __contains__(self, each: object) -> bool:
        """Whether an instruction is among these, or one with a name, with or without ``%``.

        >>> from ops.hlo import load
        >>> module = load("examples/softmax.hlo")
        >>> "%ynn_fusion.1" in module, "ynn_fusion.7" in module, module.entry.root in module
        (True, False, True)
        """
        return _holds(self, each)

    def named(self, name: str) -> tuple[Instruction, ...]:
        """The instructions with a name, with or without ``%``: at most one of each computation.

        Raises:
            NoSuchInstructionError: there is none.
        """
        return _all_named(self, name, "named")

    def computation(self, name: str) -> Computation:
        """The computation with a name, with or without ``%``.

        Raises:
            NoSuchComputationError: there is none.

        >>> from ops.hlo import load
        >>> load("examples/softmax.hlo").computation("fused_computation.2")
        <computation %fused_computation.2 of 4 instructions>
        """
        wanted = bare(name, "computation")
        found = next((each for each in self.computations if each.name == wanted), None)
        if found is None:
            near = near_names(wanted, [each.name for each in self.computations])
            raise NoSuchComputationError(wanted, tuple(near))
        return found

    def find(self, pattern: str = "*", *, opcode: str | None = None) -> tuple[Instruction, ...]:
        """The instructions of all computations that :meth:`Computation.find` finds.

        Raises:
            ArgumentError: there is no such opcode.

        >>> from ops.hlo import load
        >>> [each.name for each in load("examples/softmax.hlo").find(opcode="reduce")]
        ['reduce_sum.0', 'reduce_max.0']
        """
        return _matching(self.instructions, pattern, opcode)

    def __str__(self) -> str:
        given = self.attributes.items()
        attributes = (f"{name}={_attribute_text(name, value)}" for name, value in given)
        head = ", ".join([f"HloModule {self.name}", *attributes])
        tables = (table_text(name, rows.items()) for name, rows in self.tables.items())
        return "\n\n".join([head, *tables, *map(str, self.computations)]) + "\n"

    def _repr_html_(self) -> str:
        """The computations, folded up but for the entry, which is first."""
        ordered = sorted(self.computations, key=lambda each: not each.is_entry)
        sections = ((repr(each)[1:-1], str(each), each.is_entry) for each in ordered)
        return html_of_sections(repr(self), sections)

    def __repr__(self) -> str:
        return f"<HLO module {self.name} of {len(self.computations)} computations>"


# Finding instructions: by exact name, or by a pattern with `*`.


def _index(among: Computation | HloModule) -> Mapping[str, list[Instruction]]:
    index = among._by_name  # noqa: SLF001 - of this module
    if not index:
        found: dict[str, list[Instruction]] = {}
        for each in among.instructions:
            found.setdefault(each.name, []).append(each)
        index.update(found)  # at once: another thread sees all of it, or none
    return index


def _holds(among: Computation | HloModule, each: object) -> bool:
    if isinstance(each, Instruction):
        return any(each is other for other in _index(among).get(each.name, ()))
    return isinstance(each, str) and bare(each, "in") in _index(among)


def _all_named(among: Computation | HloModule, name: str, where: str) -> tuple[Instruction, ...]:
    wanted, index = bare(name, where), _index(among)
    if wanted not in index:
        file = among.file if isinstance(among, HloModule) else ""
        raise NoSuchInstructionError(wanted, tuple(near_names(wanted, index)), file)
    return tuple(index[wanted])


def _one_named(among: Computation | HloModule, name: str, where: str) -> Instruction:
    first, *others = _all_named(among, name, where)
    if others:
        raise AmbiguousNameError(first.name, [each.computation.name for each in (first, *others)])
    return first


def _matching(
    instructions: Iterable[Instruction], pattern: str, opcode: str | None
) -> tuple[Instruction, ...]:
    matches = compiled(translate(bare(pattern, "find"))).match
    if opcode is not None:
        check_opcode(opcode, "find")
    kept = (each for each in instructions if opcode is None or each.opcode == opcode)
    return tuple(each for each in kept if matches(each.name))


def _detached(what: str, owner: str) -> DetachedError:
    expected = "expected one of a module, such as those of hlo.load or hlo.parse"
    return DetachedError(f"{what} belongs to no {owner}; {expected}")


def _copy_of(
    computation: Computation, computations: Mapping[Computation, Computation]
) -> Computation:
    copies = _copies(computation.instructions, computations)
    instructions = tuple(copies.values())
    root, thread = copies[computation.root], computation.execution_thread
    return Computation(computation.name, instructions, root, thread)


def _copies(
    instructions: Iterable[Instruction], computations: Mapping[Computation, Computation]
) -> dict[Instruction, Instruction]:
    """Copies that belong to no computation, and read, call and follow copies."""
    copies: dict[Any, Any] = dict(computations)
    for each in instructions:
        attributes = attributes_with_copies(each, copies)
        operands = with_copies(each.operands, copies)
        copies[each] = detached(each, operands=operands, attributes=attributes)
    return {each: copies[each] for each in instructions}


def with_callees(computations: Iterable[Computation]) -> list[Computation]:
    """Some computations and all that they run, each once."""
    found: dict[Computation, None] = {}
    waiting = [*computations]
    while waiting:
        computation = waiting.pop(0)
        if computation not in found:
            found[computation] = None
            waiting += [called for i in computation.instructions for called in i.computations]
    return [*found]


def detached(
    instruction: Instruction,
    *,
    attributes: Mapping[str, Any],
    **changes: Any,  # noqa: ANN401 - of any field
) -> Instruction:
    """A changed copy that belongs to no computation; nothing changes its attributes."""
    known = MappingProxyType(attributes) if attributes else NO_ATTRIBUTES
    return replace(instruction, attributes=known, start=0, stop=0, **changes)


def with_copies(value: Any, copies: Mapping[Any, Any]) -> Any:  # noqa: ANN401  (one type for each format)
    """A value of an attribute, with copies of instructions and computations in their place."""
    if isinstance(value, tuple):
        return tuple(with_copies(each, copies) for each in cast("tuple[Any, ...]", value))
    return copies.get(value, value) if isinstance(value, Instruction | Computation) else value


def attributes_with_copies(
    instruction: Instruction, copies: Mapping[Any, Any], without: Collection[str] = ()
) -> dict[str, Any]:
    """The attributes of an instruction but for some, with copies in the place of what they name."""
    given = instruction.attributes.items()
    return {name: with_copies(value, copies) for name, value in given if name not in without}


def _unpickled(*fields: Any) -> Instruction:  # noqa: ANN401 - of any field
    made = Instruction(*fields)
    return detached(made, attributes=made.attributes)


def _member(owner: HloModule | Computation, part: str, position: int) -> Computation | Instruction:
    return getattr(owner, part)[position]


def computation_text(head: str, lines: Iterable[tuple[bool, str]], thread: str) -> str:
    """A computation as HLO writes it; of each instruction, whether it is the root, and its text."""
    tail = "}" if thread == "main" else f"}}, execution_thread={escape(thread)}"
    return "\n".join([f"{head} {{", *(f"  {'ROOT ' * root}{text}" for root, text in lines), tail])


def table_text(name: str, rows: Iterable[tuple[int, str | Mapping[str, int]]]) -> str:
    """A table of source locations as HLO writes it."""
    texts = ((n, escape(row) if isinstance(row, str) else METADATA.write(row)) for n, row in rows)
    return "\n".join([name, *(f"{number} {text}" for number, text in texts)])


def _attribute_text(name: str, value: Any) -> str:  # noqa: ANN401  (one type for each format)
    form = ATTRIBUTES.get(name) or MODULE_ATTRIBUTES.get(name)
    if isinstance(form, Codec):
        return form.write(value)
    if form in {Reference.LITERAL, None}:
        return str(value)
    if form is Reference.COMPUTATION:
        return f"%{value.name}"
    return f"{{{', '.join(f'%{item.name}' for item in value)}}}"


# Where in the source of a program an instruction comes from, as its metadata says.


class SourceLocation(NamedTuple):
    """A line of a source file, and the function around it if that is known.

    >>> print(SourceLocation("model.py", 41, "loss"))
    model.py:41 in loss
    """

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} in {self.function}" if self.function else place


def name_of_array(instruction: Instruction, element: int | None) -> str:
    """Name and shape of an operand; of a tuple, those of one array if it is known."""
    arrays = instruction.shape.arrays
    if element is None:
        return f"%{instruction.name} {', '.join(each.short_text for each in arrays)}"
    return f"%{instruction.name} element {element} {arrays[element].short_text}"


def source_locations(instruction: Instruction) -> tuple[SourceLocation, ...]:
    """The line that an instruction comes from, and those that called it, innermost first.

    Empty if the metadata says nothing, or names rows that the tables of the module do not have.

    >>> from ops.hlo import parse
    >>> text = 'ENTRY e { p = f32[] parameter(0), metadata={source_file="a.py" source_line=3} }'
    >>> print(*source_locations(parse(text).entry.root))
    a.py:3
    """
    check_type(instruction, Instruction, "source_locations: the instruction", "an Instruction")
    metadata: Mapping[str, Any] = instruction.attributes.get("metadata", {})
    if "stack_frame_id" in metadata:
        found = tuple(_of_frames(instruction.computation.module, metadata["stack_frame_id"]))
        if found:
            return found
    if "source_file" in metadata:
        return (SourceLocation(metadata["source_file"], metadata.get("source_line", 0)),)
    return ()


def _of_frames(module: HloModule, number: int) -> Iterator[SourceLocation]:
    """A frame and its callers, as far as the tables know them."""
    names = "StackFrames", "FileLocations", "FileNames", "FunctionNames"
    frames, locations, files, functions = (module.tables.get(name, {}) for name in names)
    offset = _offset_of_parents(frames)
    while number in frames:
        frame: Any = frames[number]
        place: Any = locations.get(frame.get("file_location_id"), {})
        file: Any = files.get(place.get("file_name_id"))
        if file is not None:
            function: Any = functions.get(place.get("function_name_id"), "")
            yield SourceLocation(file, place.get("line", 0), function)
        parent = frame.get("parent_frame_id", 0) - offset
        number = parent if parent < number else 0


def _offset_of_parents(frames: Mapping[int, Any]) -> int:
    """Number to subtract from that of a parent: XLA prints most of them one too high.

    Then the outermost frame, whose parent is 0, seems to be its own.
    """
    first: Any = frames.get(1, {})
    return 1 if first.get("parent_frame_id") == 1 else 0
