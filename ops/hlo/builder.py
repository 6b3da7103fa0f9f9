"""Instructions that are made: one that fits its operands, drafts of computations, users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from types import MappingProxyType, NoneType
from typing import Any, Final, Self, TypeVar, cast

from indexing.layout import ElementType, Kind, Shape, ShapeError, bitcast_map
from indexing.passes import SHAPE_TYPES
from ops.hlo.attributes import Codec, Reference
from ops.hlo.errors import AttributeValueError, EditError
from ops.hlo.lexer import HloLexer
from ops.hlo.literal import Literal, read_literal
from ops.hlo.module import Computation, HloModule, Instruction, attributes_with_copies, detached
from ops.hlo.opcodes import CONTINUE_CALLS, OPCODES, Opcode, bare, check_opcode, nearby
from ops.hlo.shape_inference import infer_shape, verify
from ops.index_maps import Size
from simplifier.errors import TextError, check_type, quoted
from simplifier.tools.graphs import CircleError, postorder


def made(
    opcode: str,
    operands: Sequence[Instruction],
    shape: Shape | str | None,
    attributes: Mapping[str, Any],
    value: object = None,
) -> Instruction:
    """An instruction that fits together, without a name.

    Raises:
        EditError: it does not.
    """
    check_opcode(opcode, "insert")
    known = OPCODES.get(opcode)
    if known is None or opcode == "parameter":
        raise EditError(f"insert: {opcode} cannot be inserted")
    if opcode == "constant" and value is None:
        raise EditError("insert: a constant has a value; expected constant(value, shape)")
    expected = "a Shape, or its text, such as 'f32[2,3]'"
    check_type(shape, (Shape, str, NoneType), "insert: the shape", expected)
    if len(operands) not in known.arity:
        raise EditError(f"insert: {opcode} takes {known.arity}, not {len(operands)}")
    try:
        given = Shape.parse(shape) if isinstance(shape, str) else shape
        check_operands(opcode, operands)
        read = _attributes(opcode, known, operands, attributes)
        found = _shape(opcode, operands, read, given)
        literal = _literal(value, found) if opcode == "constant" else None
        new = Instruction(opcode, opcode, found, tuple(operands), read, literal)
        verify(new)
        if opcode == "bitcast":
            check_bitcast(new)
    except (AttributeValueError, ShapeError, TextError) as error:
        raise EditError(f"insert: {opcode}: {error}") from None
    return new


def _attributes(
    opcode: str, known: Opcode, operands: Sequence[Instruction], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    if opcode == "broadcast" and operands[0].shape.is_array and not operands[0].shape.rank:
        given = {"dimensions": (), **given}
    if opcode in CONTINUE_CALLS:
        given = {"calls": operands[0].attributes["calls"], **given}
    for name in known.required:
        if name not in given:
            raise AttributeValueError(f"expected attribute {name}")
    found: dict[str, Any] = {}
    for name, value in given.items():
        form = known.codecs.get(name)
        if form is None:
            hint = nearby(name, known.codecs)
            raise AttributeValueError(f"there is no attribute {name}" + f"; {hint}" * bool(hint))
        found[name] = _read_back(name, value, form) if isinstance(form, Codec) else value
        if isinstance(form, Reference):
            _check_reference(name, value, form)
    return MappingProxyType(found)


def _read_back(name: str, value: object, codec: Codec) -> Any:  # noqa: ANN401
    """The value of an attribute, as HLO has it: it is written, and read again."""
    try:
        text = codec.write(value)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        text = str(value)
    if isinstance(value, str) and value[:1] in {"{", "["}:
        text = value
    lexer = HloLexer(text)
    found = codec.value(lexer)
    if lexer.kind != "end":
        raise AttributeValueError(f"attribute {name} is {quoted(value)}; expected {found} alone")
    return found


def _check_reference(name: str, value: object, form: Reference) -> None:
    kind, expected = _REFERENCES[form]
    shown = quoted(value)
    is_list = form in {Reference.COMPUTATIONS, Reference.INSTRUCTIONS}
    several = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
    is_of_kind = all(isinstance(each, kind) for each in several)
    if is_list is not isinstance(value, tuple) or not is_of_kind:
        raise AttributeValueError(f"attribute {name} is {shown}; expected {expected}")


_REFERENCES: Final[Mapping[Reference, tuple[type, str]]] = {
    Reference.COMPUTATION: (Computation, "a Computation, such as module.computation(name)"),
    Reference.COMPUTATIONS: (Computation, "a tuple of Computations"),
    Reference.INSTRUCTIONS: (Instruction, "a tuple of Instructions"),
    Reference.LITERAL: (Literal, "a Literal"),
}
"""Type of an attribute that refers to something, and its name in messages."""


def _shape(
    opcode: str, operands: Sequence[Instruction], attributes: Mapping[str, Any], given: Shape | None
) -> Shape:
    """The shape that follows, or the given one, if it does not contradict."""
    shapes = [each.shape for each in operands]
    found = infer_shape(opcode, shapes, attributes, given)
    if given is None:
        return found
    is_open = any(each.is_unbounded for each in (*shapes, given))
    if not is_open and not _agrees(found, given, any_type=opcode in _OF_ANY_TYPE):
        raise AttributeValueError(f"the result is {found}, not {given}")
    return given


_OF_ANY_TYPE: Final = {"convolution", "dot", "ragged-dot", "scaled-dot"}
"""Opcodes of which the type is chosen: a dot of ``s8`` may sum up in ``s32``."""


def _agrees(found: Shape, given: Shape, *, any_type: bool) -> bool:
    """Whether shapes are equal up to layouts and, as on TPUs, the width of numbers with a point."""

    def is_like(one: ElementType, other: ElementType) -> bool:
        return any_type or one is other or one.kind is other.kind is Kind.FLOAT

    return len(found.arrays) == len(given.arrays) and all(
        mine.dimensions == theirs.dimensions and is_like(mine.element_type, theirs.element_type)
        for mine, theirs in zip(found.arrays, given.arrays, strict=True)
    )


def _literal(value: object, shape: Shape) -> Literal:
    if isinstance(value, Literal):
        if value.shape.is_compatible_with(shape):
            return value
        value = value.text
    lexer = HloLexer(_text_of(value, is_tuple=shape.is_tuple))
    literal = read_literal(lexer, shape)
    if lexer.kind != "end":
        raise lexer.expected("the end of the value")
    return literal


def _text_of(value: object, *, is_tuple: bool = False) -> str:
    """The text of a value in HLO: of a number, an array of NumPy, or lists of lists of numbers."""
    given: object = getattr(value, "tolist", lambda: value)()
    if isinstance(given, list | tuple):
        begin, end = "()" if is_tuple else "{}"
        items = map(_text_of, cast("Sequence[object]", given))
        return f"{begin}{', '.join(items)}{end}"
    if isinstance(given, complex):
        return f"({given.real}, {given.imag})"
    return str(given).lower() if isinstance(given, bool) else str(given)


def checked_name(name: str) -> str:
    """A name without its percent sign, if the text of a module can have it.

    Raises:
        EditError: it cannot.
    """
    lexer = HloLexer(bare(name, "edit"))
    try:
        found = lexer.name("a name")
    except TextError:
        found = ""
    if not found or lexer.kind != "end":
        raise EditError(f"edit: the name is {quoted(name)}; expected one such as 'add.1'")
    return found


def sharded_as(like: Instruction, new: Instruction, given: Mapping[str, Any]) -> Instruction:
    """A new instruction, without the sharding of one that it is like but not as large as."""
    sizes = [[array.dimensions for array in each.shape.arrays] for each in (like, new)]
    if "sharding" in given or sizes[0] == sizes[1]:
        return new
    kept = {key: value for key, value in new.attributes.items() if key != "sharding"}
    return detached(new, attributes=kept)


# Instructions of HLO made one after the other, with names that no other one has.
#
# Frontends use it: what they read becomes such instructions.


class InstructionBuilder:
    """The instructions of a computation so far, and the computations that they call."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.computations: list[Computation] = []
        self._folds: dict[tuple[str, ElementType], Computation] = {}
        self._names: Counter[str] = Counter()
        self._called_names: Counter[str] = Counter()

    def nested(self) -> Self:
        """A builder for a computation that is called in the same module.

        Its instructions may have the names of those in other computations.
        """
        inside = copy(self)
        inside.instructions, inside._names = [], Counter()  # noqa: SLF001 - of the same class
        return inside

    def made(  # noqa: PLR0913 - the fields of an instruction
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
        place: tuple[int, int] = (0, 0),
    ) -> Instruction:
        """An instruction with a name that no other one has; ``place`` is where its text stands."""
        unique = _unused(self._names, legal_name(name or opcode), is_numbered=not name)
        fields = (unique, opcode, shape, tuple(operands), attributes or {}, literal, number)
        made = Instruction(*fields, *place, sizes=sizes)
        self.instructions.append(made)
        return made

    def fold(self, opcode: str, shape: Shape) -> Computation:
        """The computation of a fold, on scalars."""
        key = opcode, shape.element_type
        if key not in self._folds:
            scalar = Shape(shape.element_type)
            pair = tuple(
                Instruction(name, "parameter", scalar, parameter_number=number)
                for number, name in enumerate("ab")
            )
            made = Instruction("r", opcode, scalar, pair)
            self._folds[key] = self.computation(f"{opcode}_{shape.element_type}", (*pair, made))
        return self._folds[key]

    def computation(
        self, name: str, instructions: Sequence[Instruction], root: Instruction | None = None
    ) -> Computation:
        """A computation that others call; without a ``root``, the last instruction is it."""
        unique = _unused(self._called_names, name)
        made = Computation(unique, tuple(instructions), root or instructions[-1])
        self.computations.append(made)
        return made


def legal_name(name: str) -> str:
    """A name that XLA takes: words of its language are none, and ``__`` begins its own.

    >>> legal_name("pred"), legal_name("__x"), legal_name("add.1")
    ('pred_', 'a_x', 'add.1')
    """
    if name in _WORDS:
        return f"{name}_"
    return f"a{name[1:]}" if name.startswith("__") and not name.startswith("__xla_") else name


_MODULE_WORDS: Final = """HloModule ENTRY ROOT true false inf nan replicated maximal manual shard_as
shard_like last_tile_dim_replicate unknown unreduced"""

_WORDS: Final = {*SHAPE_TYPES, *_MODULE_WORDS.split()}
"""Of the language of HLO: types cannot name instructions, and none of them names a module."""


def _unused(names: Counter[str], base: str, *, is_numbered: bool = False) -> str:
    """A name, or the first one with a number behind it that is not taken; now it is."""
    while True:
        names[base] += 1
        if names[base] == 1 and not is_numbered:
            return base
        found = f"{base}.{names[base]}"
        if not names[found]:
            names[found] += 1
            return found


# A module that is being changed: its instructions, and who reads whom at the moment.

_N = TypeVar("_N", Instruction, Computation)

CONTROL: Final = "control-predecessors"


class ModuleDraft:
    """The instructions of a module with their computations, operands and users, as they are by now.

    A change takes time for the uses that it changes, however large the module is.
    """

    __slots__ = ("_instead", "_users", "homes", "members", "names", "operands", "roots")

    def __init__(self, module: HloModule) -> None:
        self.roots: dict[Computation, Instruction] = {}
        self.members: dict[Computation, dict[Instruction, None]] = {}
        self.homes: dict[Instruction, Computation] = {}
        self.operands: dict[Instruction, list[Instruction]] = {}
        self._users: dict[Instruction, dict[Instruction, list[int]]] = {}
        self.names: dict[Computation, UnusedNames] = {}
        self._instead: dict[Instruction, tuple[Instruction, ...]] = {}
        for each in module.computations:
            self.include(each)

    def include(self, computation: Computation) -> None:
        """Take in a computation."""
        self.roots[computation] = computation.root
        self.members[computation] = {}
        self.names[computation] = UnusedNames(each.name for each in computation.instructions)
        for each in computation.instructions:
            self.add(computation, each)

    def users(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that read this one, each once."""
        return tuple(self._users[instruction])

    def is_used(self, instruction: Instruction) -> bool:
        """Whether something reads the instruction, or it is the result."""
        return bool(self._users[instruction]) or self.is_result(instruction)

    def is_result(self, instruction: Instruction) -> bool:
        """Whether the instruction is the result of its computation."""
        return self.roots[self.homes[instruction]] is instruction

    def add(self, computation: Computation, instruction: Instruction) -> None:
        """Take in an instruction, of which all operands are there."""
        self.members[computation][instruction] = None
        self.homes[instruction] = computation
        self.operands[instruction] = [*instruction.operands]
        self._users[instruction] = {}
        for place, operand in enumerate(instruction.operands):
            self._users[operand].setdefault(instruction, []).append(place)

    def replace_uses(
        self, old: Instruction, new: Instruction, users: Iterable[Instruction]
    ) -> None:
        """Let some users of an instruction read another one."""
        for user in users:
            places = self._users[old].pop(user, [])
            for place in places:
                self.operands[user][place] = new
            if places:
                self._users[new].setdefault(user, []).extend(places)

    def replace_result(self, old: Instruction, new: Instruction) -> None:
        """Let an instruction be the result of a computation, if another one was it."""
        if self.is_result(old):
            self.roots[self.homes[old]] = new

    def discard(
        self, instruction: Instruction, instead: tuple[Instruction, ...] | None = None
    ) -> list[Instruction]:
        """Take out an instruction that nothing reads; the operands that nothing else reads.

        Who waited for it waits for those ``instead`` of it, or for what it waited for.
        """
        operands = dict.fromkeys(self.operands.pop(instruction))
        del self._users[instruction], self.members[self.homes[instruction]][instruction]
        for operand in operands:
            del self._users[operand][instruction]
        waits = instruction.attributes.get(CONTROL, ())
        self._instead[instruction] = waits if instead is None else instead
        return [operand for operand in operands if not self.is_used(operand)]

    def predecessors(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that one waits for by now, without reading them."""
        if CONTROL not in instruction.attributes:
            return ()
        found: dict[Instruction, None] = {}
        waiting: list[Instruction] = [*instruction.attributes[CONTROL]]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found[each] = None
                waiting += self._instead.get(each, ())
        return tuple(each for each in found if each in self.operands)

    def needs(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that one reads or waits for."""
        return (*self.operands[instruction], *self.predecessors(instruction))

    def ordered(self, computation: Computation) -> list[Instruction]:
        """The instructions, each after those that it reads and waits for, else in their order.

        Raises:
            EditError: some need each other.
        """
        return ordered(self.members[computation], self.needs)

    def built(
        self, computation: Computation, called: Mapping[Computation, Computation]
    ) -> Computation:
        """The changed computation, which calls the new computations.

        Raises:
            EditError: some instructions need each other.
        """
        copies: dict[Instruction, Instruction] = {}
        for each in self.ordered(computation):
            operands = tuple(copies[operand] for operand in self.operands[each])
            waits = tuple(copies[earlier] for earlier in self.predecessors(each))
            copies[each] = copy_of(each, each.name, operands, waits, called)
        root, thread = copies[self.roots[computation]], computation.execution_thread
        return Computation(computation.name, tuple(copies.values()), root, thread)


def copy_of(
    instruction: Instruction,
    name: str,
    operands: tuple[Instruction, ...],
    waits: tuple[Instruction, ...],
    called: Mapping[Computation, Computation] = MappingProxyType({}),
) -> Instruction:
    """A copy that belongs to no computation yet."""
    attributes = attributes_with_copies(instruction, called, without={CONTROL})
    attributes |= {CONTROL: waits} if waits else {}
    return detached(instruction, name=name, operands=operands, attributes=attributes)


class UnusedNames:
    """Names that are taken, and new ones like them."""

    __slots__ = ("_counts", "_taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}
        self._counts = Counter[str]()

    def like(self, stem: str) -> str:
        """The name itself, or with a number behind it, if it is taken."""
        name, base = stem, stem.rstrip("0123456789").removesuffix(".") or stem
        while name in self._taken:
            self._counts[base] += 1
            name = f"{base}.{self._counts[base]}"
        self._taken.add(name)
        return name


def ordered(things: Iterable[_N], needs: Callable[[_N], Iterable[_N]]) -> list[_N]:
    """Each thing after those that it needs, otherwise in the order given.

    Raises:
        EditError: some need each other.
    """
    try:
        return postorder(things, needs)
    except CircleError as error:
        names = [f"%{each.name}" for each in error.circle]
        shown = names if len(names) < 6 else [*names[:3], "...", *names[-2:]]  # noqa: PLR2004
        message = f"edit: each of these needs the next one: {' -> '.join(shown)}"
        raise EditError(message) from None


# Demands of an instruction on its operands, beyond shapes: arrays, places in memory, starts.

_ASYNC: Final = frozenset({"async-start", "async-update"})

STARTS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(CONTINUE_CALLS, _ASYNC),
    **{
        f"{each}-done": frozenset({f"{each}-start"})
        for each in ("all-gather", "all-reduce", "collective-permute", "copy")
    },
}
"""Possible operands of an instruction that continues an asynchronous operation."""

_OF_TUPLES: Final = """
    add-dependency after-all async-start call collective-permute collective-permute-start
    conditional copy custom-call domain fusion get-tuple-element infeed opt-barrier outfeed recv
    recv-done send send-done tuple while
"""

_TAKE_TUPLES: Final = frozenset((*STARTS, *_OF_TUPLES.split()))
"""The opcodes whose operands may be tuples or tokens; others take arrays."""


def check_operands(opcode: str, operands: Sequence[Instruction]) -> None:
    """Raise an :class:`AttributeValueError` unless an operation takes operands of these kinds."""
    for each in operands:
        if not each.shape.is_array and opcode not in _TAKE_TUPLES:
            raise AttributeValueError(f"%{each.name} is {each.shape}; expected an array")
        if each.opcode not in STARTS.get(opcode, (each.opcode,)):
            expected = " or ".join(sorted(STARTS[opcode]))
            raise AttributeValueError(f"%{each.name} is {each.opcode}; expected {expected}")


def check_bitcast(instruction: Instruction) -> None:
    """Raise an :class:`AttributeValueError` if a bitcast changes how much memory there is."""
    before, after = instruction.operands[0].shape, instruction.shape
    if not after.is_array:
        raise AttributeValueError(f"the result is {after}; expected an array")
    if not any(each.dynamic_dimensions for each in (before, after)) and before.bytes != after.bytes:
        sizes = f"{before} has {before.bytes} bytes, but {after} has {after.bytes}"
        raise AttributeValueError(f"a bitcast keeps the memory as it is: {sizes}")


def check_use(asker: str, user: Instruction, old: Instruction, new: Instruction) -> None:
    """Raise an :class:`EditError` unless ``new`` may take the place of ``old`` in a user.

    A bitcast finds elements by their places in memory, and the continuation of an asynchronous
    operation reads its start.
    """
    if user.opcode == "bitcast" and not _finds_the_same(user, old, new):
        read = f"%{new.name} is {new.shape}, but %{old.name}, which it reads, is {old.shape}"
        message = f"{asker}: bitcast %{user.name} would find other elements: {read}"
        raise EditError(f"{message}; expected the same layout")
    starts = STARTS.get(user.opcode, ())
    is_same = new.opcode in starts and new.attributes.get("calls") is old.attributes.get("calls")
    if old.opcode in starts and not is_same:
        message = f"{asker}: %{user.name} continues %{old.name}, but %{new.name} is {new.opcode}"
        raise EditError(f"{message}; expected the start of the same operation")


def check_together(chosen: Collection[Instruction], draft: ModuleDraft) -> None:
    """Raise an :class:`EditError` if only one of a start and its end is chosen."""
    reads = [(each, operand) for each in chosen for operand in draft.operands[each]]
    uses = [(user, each) for each in chosen for user in draft.users(each)]
    together = {*chosen}
    for user, read in (*reads, *uses):
        is_one = (user in together) is not (read in together)
        if is_one and read.opcode in STARTS.get(user.opcode, ()):
            pair = f"%{user.name} continues %{read.name}"
            raise EditError(f"outline: {pair}; expected both of them or none")


def check_inlined(call: Instruction, body: Computation, draft: ModuleDraft) -> None:
    """Raise an :class:`EditError` unless the body may read operands instead of parameters.

    Who reads the call then reads the root.
    """
    given, root = dict(zip(body.parameters, draft.operands[call], strict=True)), draft.roots[body]
    for parameter, operand in given.items():
        for user in draft.users(parameter):
            check_use("inline", user, parameter, operand)
    for user in draft.users(call):
        check_use("inline", user, call, given.get(root, root))


def _finds_the_same(bitcast: Instruction, old: Instruction, new: Instruction) -> bool:
    if old.shape == new.shape:
        return True
    if any(each.shape.dynamic_dimensions for each in (bitcast, old, new)):
        return False
    before, after = (bitcast_map(each.shape, bitcast.shape).simplify() for each in (old, new))
    return not before.is_undefined and before == after
