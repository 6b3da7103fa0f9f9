"""New instructions that fit together: the opcode, operands, attributes and shape of one."""

from __future__ import annotations

from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, Final, cast

from indexing.layout import ElementType, Kind, Shape, ShapeError
from ops.hlo.attributes import Codec, Reference, read_value
from ops.hlo.errors import AttributeValueError, EditError
from ops.hlo.hlo_lexer import HloLexer
from ops.hlo.literal import Literal, read_literal
from ops.hlo.module import Computation, Instruction
from ops.hlo.names import bare, check_opcode, nearby
from ops.hlo.opcodes import OPCODES
from ops.hlo.shape_inference import INFERRED, infer_shape
from ops.hlo.uses import check_bitcast, check_operands
from ops.hlo.verifier import verify
from simplifier.errors import TextError, check_type, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.opcodes import Opcode


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
    required = known.required
    if opcode == "broadcast":
        is_scalar = operands[0].shape.is_array and not operands[0].shape.rank
        given = {"dimensions": (), **given} if is_scalar else given
        required = ("dimensions",)
    if opcode in _CONTINUE_CALLS:
        given = {"calls": operands[0].attributes["calls"], **given}
    for name in required:
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
    found = read_value(lexer, codec)
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
"""What an attribute that refers to something takes, and how messages call it."""


def _shape(
    opcode: str,
    operands: Sequence[Instruction],
    attributes: Mapping[str, Any],
    given: Shape | None,
) -> Shape:
    """The shape that follows, or the given one, if it does not contradict."""
    shapes = [each.shape for each in operands]
    if opcode in _PARTS_OF_STARTS:
        return _part_of_start(opcode, shapes[0], given)
    if given is None:
        return infer_shape(opcode, shapes, attributes)
    if opcode == "broadcast":
        _check_broadcast(shapes[0], given, attributes["dimensions"])
    if opcode in _OF_ANY_SHAPE or any(each.is_unbounded for each in (*shapes, given)):
        return given
    found = shapes[0] if opcode in _CONVERSIONS else infer_shape(opcode, shapes, attributes)
    if not _agrees(found, given, any_type=opcode in _OF_ANY_TYPE):
        raise AttributeValueError(f"the result is {found}, not {given}")
    return given


_CONTINUE_CALLS: Final = frozenset({"async-done", "async-update"})

_PARTS_OF_STARTS: Final[Mapping[str, int | None]] = {
    "async-done": 1,
    "async-update": None,
    "copy-done": 0,
}
"""Which element of what a start gives is the result; ``None`` is all of it."""


def _part_of_start(opcode: str, start: Shape, given: Shape | None) -> Shape:
    place = _PARTS_OF_STARTS[opcode]
    if place is not None and len(start.elements if start.is_tuple else ()) <= place:
        raise AttributeValueError(f"the operand is {start}; expected a tuple of what was started")
    found = start if place is None else start.elements[place]
    if given is not None and not _agrees(found, given):
        raise AttributeValueError(f"the result is {found}, not {given}")
    return given or found


_CONVERSIONS: Final = frozenset({"convert", "reduce-precision", "stochastic-convert"})

_OF_ANY_TYPE: Final = _CONVERSIONS | {"convolution", "dot", "ragged-dot", "scaled-dot"}
"""Opcodes of which the type is chosen: a dot of ``s8`` may sum up in ``s32``."""

_OF_ANY_SHAPE: Final = OPCODES.keys() - INFERRED - _CONVERSIONS | {"broadcast", "scan"}
"""Opcodes of which the shape does not follow, or not always: what is given is taken."""


def _agrees(found: Shape, given: Shape, *, any_type: bool = False) -> bool:
    """Whether shapes are equal up to layouts and, as on TPUs, the width of numbers with a point."""
    pairs = [*zip(found.arrays, given.arrays, strict=False)]
    return len(found.arrays) == len(given.arrays) and all(
        mine.dimensions == theirs.dimensions
        and (any_type or _same_kind(mine.element_type, theirs.element_type))
        for mine, theirs in pairs
    )


def _same_kind(one: ElementType, other: ElementType) -> bool:
    return one is other or one.kind is other.kind is Kind.FLOAT


def _check_broadcast(operand: Shape, result: Shape, dimensions: Sequence[int]) -> None:
    fits = (
        operand.is_array
        and len(dimensions) == operand.rank
        and all(
            0 <= axis < result.rank and result.dimensions[axis] == size
            for axis, size in zip(dimensions, operand.dimensions, strict=False)
        )
    )
    if not fits:
        message = f"dimensions {tuple(dimensions)} do not lead from {operand} to {result}"
        raise AttributeValueError(message)


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


def is_sharded_alike(one: Shape, other: Shape) -> bool:
    """Whether a sharding of the one has a meaning for the other."""
    return [each.dimensions for each in one.arrays] == [each.dimensions for each in other.arrays]


def without(instruction: Instruction, name: str, unless: Mapping[str, Any]) -> Instruction:
    """An instruction without an attribute, unless the attribute was given."""
    if name in unless or name not in instruction.attributes:
        return instruction
    kept = {key: value for key, value in instruction.attributes.items() if key != name}
    return Instruction(
        *(instruction.name, instruction.opcode, instruction.shape, instruction.operands),
        MappingProxyType(kept),
        instruction.literal,
    )
