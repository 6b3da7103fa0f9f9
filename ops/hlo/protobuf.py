"""HLO text of XLA's protocol buffers: modules, in binary form and as text.

Both forms become a :class:`Message`, and the text of its module is for the parser.
``messages.proto`` lists the fields that are read; all others are skipped.

Source: XLA's ``hlo.proto`` and ``xla_data.proto``; what it prints for the module of a message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files as resources
from itertools import chain, count
from typing import Any, Final, NamedTuple, cast

from indexing.layout import UNBOUNDED_SIZE, ElementType, Kind, Layout, Shape, SplitConfig
from ops.hlo import attributes
from ops.hlo.attributes import listed
from ops.hlo.errors import AttributeValueError, HloTextError
from ops.hlo.lexer import HloLexer, escape
from ops.hlo.literal import Literal, Scalar
from ops.hlo.module import computation_text, table_text
from ops.hlo.opcodes import NEW_OPCODE, find_opcode
from ops.mlir.text import numbers_of
from simplifier.errors import IndexingError, Span, quoted
from simplifier.forms import np

# Messages.


class Field(NamedTuple):
    """A field of a message; ``attribute`` is its name in HLO text, if that is another one."""

    is_list: str
    kind: str
    name: str
    number: str
    attribute: str


_BLOCK: Final = re.compile(r"(?:message|enum) (\w+) \{(.*?)\}", re.DOTALL)
_FIELD: Final = re.compile(r"^  (repeated )?(\w+) (\w+) = (\d+);(?:  // (\w+))?", re.MULTILINE)
_WORD: Final = re.compile(r"^  (\w+) = \d+;(?:  // ([\w-]+))?", re.MULTILINE)
_BLOCKS: Final = _BLOCK.findall(resources("ops.hlo").joinpath("messages.proto").read_text("utf-8"))
_FIELDS: Final = {
    name: [*map(Field._make, _FIELD.findall(body))] for name, body in _BLOCKS if _FIELD.search(body)
}
_KNOWN: Final = {
    name: {key: field for field in fields for key in (field.name, int(field.number))}
    for name, fields in _FIELDS.items()
}
"""The fields of each message by name, and by number."""
_WORDS: Final = {
    n: {w: t or w for w, t in _WORD.findall(body)} for n, body in _BLOCKS if n not in _FIELDS
}
"""How HLO text writes the words of each enumeration, for 0, 1, 2, ..."""
_FORMATS: Final = {"float": "<f", "double": "<d"}
_TEXTS: Final = {"string": "", "bytes": b""}


def _word(words: Sequence[str], number: int) -> str:
    """The word for a number; the number itself, if a newer version has a word for it."""
    return words[number] if 0 <= number < len(words) else str(number)


_NUMBERS: Final[Mapping[str, Callable[[int], Any]]] = {
    "bool": bool,
    "int64": lambda number: (number + (1 << 63)) % (1 << 64) - (1 << 63),
    "uint64": int,
    **{kind: partial(_word, [*words.values()]) for kind, words in _WORDS.items()},
}
"""What an integer stands for in a field of each type; 0 is the default."""


class ProtobufError(AttributeValueError):
    """A message that cannot be read, or that makes no module; with the path of the field."""


class Message(dict[str, Any]):
    """The fields of a message by name; one that is not there has the default of its type.

    ``path`` is where the message stands, with a dot: ``computations[0].instructions[2].``.
    """

    __slots__ = ("kind", "path")

    def __init__(self, kind: str, path: str = "") -> None:
        super().__init__()
        self.kind = kind
        self.path = path

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - one type for each field
        field = _KNOWN[self.kind][name]
        if field.is_list or field.kind in _FIELDS:
            return () if field.is_list else self.inner(field)
        return _NUMBERS[field.kind](0) if field.kind in _NUMBERS else _TEXTS.get(field.kind, 0.0)

    def inner(self, field: Field) -> Message:
        """An empty message for a field; for the next item, of a list."""
        item = f"[{len(self[field.name])}]" if field.is_list else ""
        if self.path.count(".") == _MAX_NESTING:
            raise self.error(f"messages are nested more than {_MAX_NESTING} deep")
        return Message(field.kind, f"{self.path}{field.name}{item}.")

    def put(self, field: Field, values: Iterable[object]) -> None:
        """Append to a field, if that is a list; else the last value is its value."""
        if field.is_list:
            self.setdefault(field.name, []).extend(values)
        else:
            self.update((field.name, value) for value in values)

    def error(self, message: str, name: str = "") -> ProtobufError:
        """An error about a field, or the whole message."""
        path = f"{self.path}{name}".removesuffix(".") or self.kind
        return ProtobufError(f"{path}: {message}")


_MAX_NESTING: Final = 100
"""Messages in each other, as Google's readers have it."""


# The binary form: `number << 3 | wire type`, then the value, as often as there are fields.

_VARINT, _CONTENT = 0, 2
_LENGTHS: Final = {1: 8, 5: 4}
"""Wire types: integers, texts with their length before them, and what has so many bytes."""


class _WireError(Exception):
    """Bytes that are no field."""


def _read_wire(content: bytes, message: Message) -> Message:
    """Fill a message."""
    place, field = 0, None
    while place < len(content):
        try:
            key, place = _varint(content, place)
            field = _KNOWN[message.kind].get(key >> 3)
            raw, place = _raw(content, place, key & 7)
            if field is not None:
                message.put(field, _meaning(message, field, raw))
        except (_WireError, struct.error) as error:
            raise message.error(str(error), field.name if field else f"byte {place}") from None
    return message


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """An integer of at most ten digits of seven bits, the lowest first, and where it ends."""
    number = 0
    for shift, digit in enumerate(content[place : place + 10]):
        number |= (digit & 0x7F) << 7 * shift
        if digit < 0x80:  # noqa: PLR2004 - the bit that says that digits follow
            return number & (1 << 64) - 1, place + shift + 1
    raise _WireError("a number does not end")


def _raw(content: bytes, place: int, wire: int) -> tuple[int | bytes, int]:
    """The value of a field, whatever it means, and where it ends."""
    if wire == _VARINT:
        return _varint(content, place)
    if wire != _CONTENT and wire not in _LENGTHS:
        raise _WireError(f"there is no wire type {wire}")
    length, place = _varint(content, place) if wire == _CONTENT else (_LENGTHS[wire], place)
    if length > len(content) - place:
        raise _WireError(f"expected {length} bytes, but there are {len(content) - place}")
    return content[place : place + length], place + length


def _meaning(message: Message, field: Field, raw: int | bytes) -> Iterable[object]:
    """The values of a field; of a list, some of them."""
    kind = field.kind
    if isinstance(raw, int) and kind not in _NUMBERS:
        raise _WireError(f"this is a {kind}, but written as an integer")
    if isinstance(raw, int):
        return (_NUMBERS[kind](raw),)
    if kind in _FIELDS:
        return (_read_wire(raw, message.inner(field)),)
    if kind in _TEXTS:
        return (raw if kind == "bytes" else raw.decode("utf-8", "surrogateescape"),)
    return _packed(raw, kind)


def _packed(raw: bytes, kind: str) -> Iterator[object]:
    """Numbers one behind the other; of 32 bits, with as many decimal digits as XLA writes."""
    if kind in _FORMATS:
        for (number,) in struct.iter_unpack(_FORMATS[kind], raw):
            few = float(f"{number:.6g}") if kind == "float" else number
            yield few if kind == "double" or np.float32(few) == number else float(f"{number:.9g}")
    place = 0
    while kind in _NUMBERS and place < len(raw):
        number, place = _varint(raw, place)
        yield _NUMBERS[kind](number)


# The form as text: `name: "m" computations { id: 3 }`.


class _TextReader(HloLexer):
    pattern = re.compile(
        r"""(?>(?:\s|\#[^\n]*+)*)(?:(?P<mark>[{}<>\[\]:;,])|(?P<name>(?!inf|nan)[A-Za-z_]\w*+)
        |(?P<number>-?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|inf\b|nan\b))
        |(?P<string>"(?>(?:[^"\\\n]++|\\.)*)"|'(?>(?:[^'\\\n]++|\\.)*)')
        |(?P<end>\Z)|(?P<strange>.))""",
        re.VERBOSE | re.DOTALL | re.ASCII,
    )
    path = ""

    def fill(self, message: Message, closing: str = "") -> Message:
        """Take the fields of a message, up to and including ``closing``."""
        while self.text != closing:
            self.path = message.path
            name = self.taken("name", "the name of a field")
            field = _KNOWN.get(message.kind, {}).get(name, Field("", "", name, "", ""))
            if not self.accept(":") and self.text not in _CLOSING:
                raise self.expected(f"':' after {name}")
            read = partial(self._value, message, field)
            self.path = f"{message.path}{name}"
            values = self.separated(read, "]") if self.accept("[") else (read(),)
            if field.kind:
                message.put(field, values)
            self.accept(";" if self.text == ";" else ",")
        self.advance()
        return message

    def _value(self, message: Message, field: Field) -> object:
        """Take a value, and anything for a field that is not known."""
        kind, is_known = field.kind, bool(field.kind)
        if self.text in _CLOSING and (kind in _FIELDS or not is_known):
            return self.fill(message.inner(field), _CLOSING[self.advance()])
        if self.kind == "string" and (kind in _TEXTS or not is_known):
            text = self.string()
            while self.kind == "string":
                text += self.string()
            return text.encode("utf-8", "surrogateescape") if kind == "bytes" else text
        if self.kind == "number" and kind in _NUMBERS:
            return _NUMBERS[kind](self.integer())
        if self.kind == "number" and (kind in _FORMATS or not is_known):
            return float(self.advance())
        if self.kind == "name" and (kind in _WORDS or not is_known):
            word = self.advance()
            return _WORDS.get(kind, {}).get(word, word)
        if kind == "bool":
            return self.one_of(_TRUTH, "true or false")[0] in "tT"
        raise self.expected(f"a value of type {kind}" if kind else "a value")

    def error(self, message: str, span: Span | None = None, hint: str = "") -> HloTextError:
        """An error that names the field."""
        path = self.path.removesuffix(".")
        return HloTextError(f"{path}: {message}" if path else message, span or self.span, hint)


_CLOSING: Final = {"{": "}", "<": ">"}
_TRUTH: Final = ("true", "True", "t", "false", "False", "f")


# HLO text of a module.


def text_of(form: bytes | str, file: str) -> str:
    """The HLO text of an ``HloModuleProto`` in binary form, or as text, maybe in other messages.

    Raises:
        HloTextError: a text does not follow the grammar.
        AttributeValueError: it is no such message, or makes no module; with the path of the field.

    >>> print(text_of('''
    ...     name: "m"
    ...     computations { name: "e" instructions { name: "p" opcode: "parameter" shape {
    ...       element_type: F32 dimensions: 2 layout { minor_to_major: 0 } } } }
    ... ''', "m.pbtxt"))
    HloModule m
    <BLANKLINE>
    ENTRY %e {
      ROOT %p = f32[2]{0} parameter(0)
    }
    <BLANKLINE>
    """
    whole = Message("HloModuleProto")
    is_binary = isinstance(form, bytes)
    message = _read_wire(form, whole) if is_binary else _TextReader(form, file).fill(whole)
    for around in ("hlo", "hlo_module"):
        message = message.get(around, message)
    message["by_id"] = {each["id"]: each for each in message["computations"]}
    message["texts"] = {number: str(text) for number, text in enumerate(message["payloads"])}
    message["orders"] = {each["key"]: each["value"] for each in message["schedule"]["sequences"]}
    known = attributes.MODULE_ATTRIBUTES.items()
    found = ((name, codec.write, _plain([message], name)) for name, codec in known)
    header = [f"{name}={write(value)}" for name, write, value in found if value]
    scheduled = ["is_scheduled=true"] * ("schedule" in message)
    head = ", ".join([f"HloModule {_name(message)}", *scheduled, *header])
    computations = (_computation(each, message) for each in message["computations"])
    return "\n\n".join([head, *_tables(message["stack_frame_index"]), *computations]) + "\n"


def _computation(computation: Message, module: Message) -> str:
    known = {each["id"]: each for each in computation["instructions"]}
    for each in known.values():
        each["operands"] = _found(each, "operand_ids", known)
        each["before"] = _found(each, "control_predecessor_ids", known)
        each["called"] = _found(each, "called_computation_ids", module["by_id"])
        each["payloads"] = _found(each["backend_config_payload"], "id", module["texts"])
    number, root, thread = (computation[name] for name in ("id", "root_id", "execution_thread"))
    order = module["orders"].get(number, {"instruction_ids": known})
    entry = "ENTRY " * (number == module["entry_computation_id"])
    listed = _found(order, "instruction_ids", known)
    lines = ((each["id"] == root, _instruction(each)) for each in listed)
    return computation_text(f"{entry}%{_name(computation)}", lines, thread or "main")


def _found(message: Message, field: str, known: Mapping[int, Any]) -> list[Any]:
    for number in message[field]:
        if number not in known:
            raise message.error(f"nothing has the id {number}", field)
    return [known[number] for number in message[field]]


def _name(message: Message, field: str = "name") -> str:
    """A field that is a name; no other text may come in its place."""
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", message[field], re.ASCII):
        raise message.error(f"{quoted(message[field])} is no name", field)
    return message[field]


def _tables(index: Message) -> Iterator[str]:
    """The tables of source locations; XLA writes the parent of a frame one too high."""
    for frame in index["stack_frames"]:
        frame["parent_frame_id"] += 1
    for field, found in index.items():
        rows = enumerate(cast("list[Any]", found), 1)
        yield table_text(field.title().replace("_", ""), rows)


def _instruction(instruction: Message) -> str:
    opcode, shape = _name(instruction, "opcode"), _native(instruction["shape"])
    if opcode == "parameter":
        arguments = str(instruction["parameter_number"])
    elif opcode == "constant":
        arguments = _literal(instruction["literal"], shape) if "literal" in instruction else "{...}"
    else:
        arguments = _names(instruction["operands"])
    named = "".join(f", {name}={text}" for name, text in _attributes(instruction))
    return f"%{_name(instruction)} = {shape} {opcode}({arguments}){named}"


def _names(instructions: Iterable[Message]) -> str:
    return ", ".join(f"%{_name(each)}" for each in instructions)


def _native(value: Any) -> Any:  # noqa: ANN401 - of any type
    """What a message is for the attributes: a tuple of its fields, unless there is a maker."""
    if isinstance(value, list | tuple):
        return tuple(map(_native, cast("list[Any]", value)))
    try:
        return _MAKERS.get(value.kind, _fields)(value) if isinstance(value, Message) else value
    except IndexingError as error:
        raise error if isinstance(error, ProtobufError) else value.error(str(error)) from None


def _fields(message: Message) -> Any:  # noqa: ANN401 - of any type
    """The fields; if there is only one, its value."""
    fields = tuple(_native(message[field.name]) for field in _FIELDS[message.kind])
    return fields[0] if len(fields) == 1 else fields


# Shapes and literals.


def _shape(message: Message) -> Shape:
    element_type = ElementType.__members__.get(message["element_type"])
    if element_type is None:
        raise message.error(f"there is no type {message['element_type']}", "element_type")
    is_array = element_type.kind not in {Kind.CONTAINER, Kind.HANDLE}
    # the least integer is the size of a dimension of which no bound is known
    sizes = tuple(UNBOUNDED_SIZE if size == -(1 << 63) else size for size in message["dimensions"])
    flags = tuple(message["is_dynamic_dimension"])
    layout = _native(message["layout"]) if "layout" in message and is_array else None
    inner = _native(message["tuple_shapes"])
    return Shape(element_type, sizes, layout, flags if any(flags) else (), inner)


def _layout(message: Message) -> Layout:
    fields = {field.name: _native(message[field.name]) for field in _FIELDS[message.kind]}
    aligned = "tail_padding_alignment_in_elements"
    fields[aligned] = max(1, fields[aligned])
    return Layout(**fields)


def _literal(message: Message, shape: Shape, form: str = "{1}") -> str:
    """The text of a constant of a shape; in a message its elements lie as the layout says."""
    if shape.is_tuple:
        elements = zip(message["tuple_literals"], shape.elements, strict=False)
        return f"({', '.join(_literal(*each) for each in elements)})"
    size, rank = shape.element_count, shape.rank
    values = _values(message, shape.element_type, size)
    if len(values) != size:
        raise message.error(f"{shape.text(layout=False)} has {size} elements, not {len(values)}")
    order = message["shape"]["layout"]["minor_to_major"][::-1]
    order = order if sorted(order) == [*range(rank)] else range(rank)
    places = np.arange(size).reshape([shape.dimensions[axis] for axis in order])
    rows = places.transpose(np.argsort(order)).ravel().tolist()
    return form.format(shape, Literal.of(shape, tuple(values[place] for place in rows)).text)


def _values(message: Message, element_type: ElementType, size: int) -> Sequence[Scalar]:
    """The elements, in the order of the message."""
    values: Any = message.get(f"{element_type}s", ())
    if not isinstance(values, bytes):
        pairs = map(complex, values[::2], values[1::2])
        return [*pairs] if element_type.kind is Kind.COMPLEX else values
    if element_type.bits < 8 and len(values) != size:  # noqa: PLR2004 - several in a byte
        shifts = range(8 - element_type.bits, -1, -element_type.bits)
        values = bytes(byte >> shift for byte in values for shift in shifts)[:size]
    return numbers_of(values, element_type) if len(values) == size * element_type.bytes else values


# Attributes of instructions.


def _attributes(instruction: Message) -> Iterator[tuple[str, str]]:
    """The attributes with their texts."""
    opcode = find_opcode(instruction["opcode"]) or NEW_OPCODE
    yield from _called(instruction, opcode.codecs)
    holders = _holders(instruction)
    is_custom = opcode is NEW_OPCODE or instruction["opcode"] == "custom-call"
    for name, codec in opcode.codecs.items():
        value: Any = _READERS[name](instruction) if name in _READERS else _plain(holders, name)
        is_said = value not in _NOTHING or name in opcode.required or name in _ALWAYS
        if is_said and value is not None and not (is_custom and name in _NOT_CUSTOM):
            yield name, codec.write(value) if isinstance(codec, attributes.Codec) else value


_FIRST: Final = [next(iter(words.values())) for words in _WORDS.values()]
_NOTHING: Final[tuple[Any, ...]] = ("", 0, (), {}, *_FIRST)
"""Values of attributes that are left out, unless the operation requires them."""
_ALWAYS: Final = ("api_version", "largest", "lhs_contracting_dims", "rhs_contracting_dims")
"""Other attributes that XLA writes whatever they are."""
_NOT_CUSTOM: Final = ("constrain_layout", "domain", "largest", "replica_groups")
"""Attributes that custom calls may have, and that are not meant by fields that these have."""


def _holders(message: Message) -> list[Message]:
    """An instruction, and the messages in it with values of attributes."""
    named = (each for name, each in message.items() if name.endswith(_HOLDING))
    inside = (_holders(each) for each in named if isinstance(each, Message))
    return [message, *chain.from_iterable(inside)]


_HOLDING: Final = ("_config", "_list", "_numbers", "_options")


def _plain(holders: Iterable[Message], attribute: str) -> Any:  # noqa: ANN401 - of any attribute
    """The value of an attribute, from the first field that has one."""
    value = None
    for holder in holders:
        for field in _fields_of(holder.kind, attribute):
            if value in (None, *_NOTHING) and (field.name in holder or field.kind not in _FIELDS):
                value = _native(holder[field.name])
    return value


@cache
def _fields_of(kind: str, attribute: str) -> list[Field]:
    return [each for each in _FIELDS[kind] if attribute == (each.attribute or each.name)]


def _called(instruction: Message, codecs: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The computations that an instruction calls, and the instructions that run before."""
    opcode, called = instruction["opcode"], [f"%{_name(each)}" for each in instruction["called"]]
    names = _CALLED.get(opcode, ["calls" if "calls" in codecs else "to_apply"])
    if opcode == "conditional" and _kind(instruction) is not Kind.BOOLEAN:
        names = ["branch_computations"]
    if called and names[0].endswith("_computations"):
        called = [f"{{{', '.join(called)}}}"]
    if called and len(names) != len(called):
        raise instruction.error(f"expected {len(names)} for {opcode}", "called_computation_ids")
    yield from zip(names, called, strict=False)
    if instruction["before"]:
        yield "control-predecessors", f"{{{_names(instruction['before'])}}}"


_CALLED: Final = {
    "conditional": ["true_computation", "false_computation"],
    "custom-call": ["called_computations"],
    "select-and-scatter": ["select", "scatter"],
    "while": ["body", "condition"],
}
"""The attributes of computations, in the order of the calls; most operations have one."""


def _kind(instruction: Message) -> Kind | None:
    """The kind of the elements of the first operand."""
    return next((_native(op["shape"]).element_type.kind for op in instruction["operands"]), None)


def _comparison(instruction: Message) -> str:
    """The order that values are compared by, if it is not that of their type."""
    kind, word = _kind(instruction), instruction["comparison_type"]
    usual = {Kind.BOOLEAN: "UNSIGNED", Kind.FLOAT: "FLOAT", Kind.COMPLEX: "FLOAT"}
    return "" if kind and word == usual.get(kind, kind.name) else word


def _labels(numbers: Message) -> attributes.DimensionLabels:
    i, o, kernel, b_in, f_in, b_out, f_out, *others = _fields(numbers)
    rows = ("bf", b_in, f_in, *others[0]), ("io", i, o, *kernel), ("bf", b_out, f_out, *others[1])
    return attributes.DimensionLabels(*(_roles(*row) for row in rows))


def _roles(roles: str, *places: int) -> str:
    labels = dict(zip(places, chain(roles, map(str, count())), strict=False))
    return "".join(labels[place] for place in sorted(labels))


def _window(message: Message) -> attributes.Window | None:
    if not message["dimensions"]:
        return None
    size, stride, low, high, inner, base, flags = zip(*_native(message["dimensions"]), strict=True)
    pad = tuple(zip(low, high, strict=True))
    return attributes.Window(size, stride, pad, base, inner, tuple(map(int, flags)))


# Devices: groups, meshes, and shardings.


def _groups(instruction: Message) -> attributes.ReplicaGroups:
    found = _plain(_holders(instruction), "replica_groups")
    return found if hasattr(found, "groups") else attributes.ListedGroups(found or ())


def _iota_groups(message: Message) -> attributes.IotaGroups:
    count, size, *order = _fields(message)
    return attributes.IotaGroups((count, size), *_iota(*order))


def _iota(sizes: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes that ``0, 1, 2, ...`` is reshaped to, and how it is transposed, if it is."""
    return tuple(sizes), () if [*order] == [*range(len(order))] else tuple(order)


def _mesh(mesh: Message, axes: Iterable[Message]) -> attributes.MeshGroups:
    sizes, devices, order = _native(mesh)
    names = {number: name for number, (name, _) in enumerate(sizes)}
    pairs = [(names.get(number, f"number {number}"), part) for number, part in map(_native, axes)]
    parts = tuple(attributes.MeshAxis(name, *(part if any(part) else ())) for name, part in pairs)
    return attributes.MeshGroups(sizes, parts, *_iota(*order), devices)


def _sharding(sharding: Message) -> str:
    """The text of a sharding, in braces."""
    if sharding["type"] == "tuple":
        return f"{{{', '.join(map(_sharding, sharding['tuple_shardings']))}}}"
    if "named_sharding" in sharding:
        return f"{{{', '.join(_named_sharding(sharding['named_sharding']))}}}"
    return f"{{{' '.join(_parts(sharding))}}}"


def _parts(sharding: Message) -> list[str]:
    """The parts of the text; what devices do behind those of dimensions, a list says."""
    kind: str = sharding["type"]
    devices = listed(sharding["tile_assignment_devices"])
    sizes, order = _iota(sharding["iota_reshape_dims"], sharding["iota_transpose_perm"])
    if sizes:
        devices = f"<=[{listed(sizes)}]" + f"T({listed(order)})" * bool(order)
    tiles = f"devices=[{listed(sharding['tile_assignment_dimensions'])}]{devices}"
    head = {"other": tiles, "maximal": f"maximal device={devices}"}.get(kind, kind)
    form = "{{{}}}" if len(sharding["metadata"]) > 1 else "{}"
    metadata = form.format(_metadata_list(sharding))
    group = f"shard_{sharding['shard_group_type']} {sharding['shard_group_id']}"
    parts = {
        "last_tile_dim_replicate": sharding["replicate_on_last_tile_dim"],
        f"last_tile_dims={{{', '.join(sharding['last_tile_dims'])}}}": sharding["last_tile_dims"],
        group: sharding["is_shard_group"],
        f"metadata={metadata}": metadata,
    }
    return [head, *(text for text, is_there in parts.items() if is_there)]


def _named_sharding(sharding: Message) -> Iterator[str]:
    mesh, words = sharding["mesh"], ("replicated", "unreduced", "manual")
    used = {word: axes for word in words if (axes := sharding[f"{word}_axes"])}
    rows = [_axes(mesh, d["axes"], *"?" * (not d["is_closed"])) for d in sharding["dim_shardings"]]
    if mesh["device_ids"] and not mesh["axes"]:
        yield f"maximal_mesh[device_id={listed(mesh['device_ids'])}]"
    else:
        yield str(_mesh(mesh, ())).removesuffix(" {}")
        if rows or len(used) > 1 or "replicated" in used:
            yield f"[{', '.join(rows)}]"
            yield from (f"{word}={_axes(mesh, axes)}" for word, axes in used.items())
        else:
            yield "".join(used) or "replicated"
    if sharding["metadata"]:
        yield f"metadata={{{_metadata_list(sharding)}}}"


def _metadata_list(sharding: Message) -> str:
    return ", ".join(attributes.METADATA.write(_metadata(each)) for each in sharding["metadata"])


def _axes(mesh: Message, axes: Iterable[Message], *others: str) -> str:
    return f"{{{', '.join([*map(str, _mesh(mesh, axes).axes), *others])}}}"


# Other texts, and the table of all.


def _metadata(message: Message) -> dict[str, str | int]:
    found = {name: value for name, value in message.items() if value}
    return {n: v if isinstance(v, str | int) else f"{{{listed(v)}}}" for n, v in found.items()}


def _accuracy(message: Message) -> str:
    texts = (_accuracy(v) if isinstance(v, Message) else str(v) for v in message.values())
    rows = (f"{name}={text}".removesuffix(".0") for name, text in zip(message, texts, strict=True))
    return f"{{{','.join(rows)}}}"


def _backend_config(instruction: Message) -> str:
    """The text of the backend: as it is, if it stands in braces that match, else in quotes."""
    payload = instruction["backend_config_payload"]["value"]
    text = "".join([instruction["backend_config"] or payload, *instruction["payloads"]])
    with suppress(IndexingError):
        if HloLexer(text).balanced("a text in braces") == text:
            return text
    return text and escape(text)


def _unless(value: object, nothing: object) -> object:
    return None if value == nothing else value


_MAKERS: Final[Mapping[str, Callable[[Message], Any]]] = {
    "AliasEntryProto": lambda message: attributes.Aliasing(*_fields(message)),
    "ConvolutionDimensionNumbers": _labels,
    "FrontendAttributes": lambda message: dict(_fields(message)),
    "IotaReplicaGroupListProto": _iota_groups,
    "LayoutProto": _layout,
    "LiteralProto": lambda message: _literal(message, _native(message["shape"]), "{} {}"),
    "MeshAxesReplicaGroupListProto": lambda message: _mesh(message["mesh"], message["axes"]),
    "OpMetadata": _metadata,
    "OpSharding": _sharding,
    "OutputOperandAliasing": lambda message: attributes.Aliasing(*_fields(message)),
    "ProgramShapeProto": lambda message: attributes.ProgramShape(*_fields(message)),
    "ResultAccuracy": _accuracy,
    "ShapeProto": _shape,
    "SplitConfigProto": lambda message: SplitConfig(*_fields(message)),
    "Window": _window,
}
"""What messages are for the attributes."""
_READERS: Final[Mapping[str, Callable[[Message], Any]]] = {
    "api_version": lambda each: _unless(each["custom_call_api_version"], "API_VERSION_ORIGINAL"),
    "backend_config": _backend_config,
    "batch_group_count": lambda each: _unless(each["batch_group_count"], 1) or None,
    "cross_program_prefetch_index": lambda each: listed(each["cross_program_prefetch_index"]),
    "domain": lambda each: '{{kind="sharding", entry={}, exit={}}}'.format(
        *(_sharding(each[f"domain_{end}_sharding"]) for end in ("exit", "entry"))  # as XLA has it
    ),
    "feature_group_count": lambda each: _unless(each["feature_group_count"], 1) or None,
    "inferred_dimension": lambda each: listed(each["dimensions"]) * (each["opcode"] == "reshape"),
    "iota_dimension": lambda each: sum(each["dimensions"]) if each["opcode"] == "iota" else 0,
    "operand_precision": lambda each: _unless(
        found := each["precision_config"]["operand_precision"], ["default"] * len(found)
    ),
    "replica_groups": _groups,
    "type": _comparison,
}
"""The values of attributes that no field holds as they are; ``None`` is no value."""
