"""Reports of maps: text for people, and fields for programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import format_map
from indexing.formats.text import format_head
from ops.cli.documents import Row
from ops.hlo.source_location import source_locations
from ops.performance.summary import text_of_result, text_of_shape
from ops.rules.op_indexing import Unknown
from simplifier import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexing import IndexingMap, Variable
    from indexing.symbolic_bounds import Ends
    from ops.cli.documents import Fields
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
    from ops.hlo import Instruction, SizeOrigin

_MAX_CACHED: Final = 1024
"""Most maps of a module are equal; the reports of the latest ones are kept."""


# Maps between tensors.

Sizes: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"
"""Of the tensor that maps lead from, and of the one that they lead to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The maps between array ``output`` of an instruction and an operand of it, or a parameter.

    ``role`` says whether ``number`` counts operands or parameters, ``element`` which array of a
    tuple is meant, ``caller`` is the fusion that gives parameters their values.
    """

    of: Instruction
    output: int
    role: str
    number: int
    answer: AnyDependence
    element: int | None = None
    caller: Instruction | None = None
    is_back: bool = False
    """Whether the maps lead from the operand to the result."""
    is_whole: bool = True
    """Whether the maps are over the dimensions of the shapes."""

    @property
    def source(self) -> Instruction:
        """The operand or parameter."""
        if self.role == "operand":
            return self.of.operands[self.number]
        return self.of.computation.parameters[self.number]

    @property
    def about(self) -> Fields:
        """Which pair of arrays it is."""
        about = {"result": self.output, self.role: self.number, "name": self.source.name}
        return about if self.element is None else about | {"element": self.element}

    @property
    def title(self) -> str:
        """The same, for people."""
        title = f"{self._result}{self.role} {self.number} %{self.source.name}"
        return title if self.element is None else f"{title} element {self.element}"

    @property
    def label(self) -> str:
        """The name that the operand has outside, and its shape."""
        outer = self.caller.operands[self.number] if self.caller else self.source
        result = self._result if self.role == "operand" else ""
        if self.element is None:
            return f"{result}%{outer.name} {', '.join(map(text_of_shape, outer.shape.arrays))}"
        shape = text_of_shape(outer.shape.arrays[self.element])
        return f"{result}%{outer.name} element {self.element} {shape}"

    @property
    def _result(self) -> str:
        return f"result {self.output}, " if len(self.of.shape.arrays) > 1 else ""

    @property
    def sizes(self) -> Sizes | None:
        """Those of the tensor that maps lead from, and of the other one."""
        arrays = self.of.shape.arrays[self.output], self.source.shape.arrays[self.element or 0]
        if not self.is_whole or any(not array.is_array for array in arrays):
            return None
        result, operand = (array.dimensions for array in arrays)
        return (operand, result) if self.is_back else (result, operand)

    def text(self, of: str) -> str:
        """The maps, indented under a title; ``of`` is the owner of the pair."""
        if isinstance(self.answer, Unknown):
            return f"{of}, {self.title}: {self.answer}"
        texts = map(_indexing_text, self.answer)
        return "\n".join([f"{of}, {self.title}:", *texts])

    def lines(self) -> Iterator[str]:
        """A line for each map, with its notes below it."""
        if isinstance(self.answer, Unknown):
            yield f"  {self.label}: {self.answer}"
            return
        label, sizes = self.label, self.sizes
        for indexing in self.answer:
            yield f"  {label}: {short_text(indexing.map, sizes)}"
            yield from (f"    {name}: {note}" for name, note in indexing.notes())

    @property
    def parameters(self) -> Iterator[str]:
        """The names of the parameters in the maps."""
        for indexing in self.answer.indexings:
            yield from (each.name for each in indexing.map.parameters)

    def fields(self) -> Fields:
        """``maps``, or the reason why they are ``unknown``."""
        if isinstance(self.answer, Unknown):
            return self.about | {"unknown": self.answer.reason}
        return self.about | {"maps": list(map(indexing_fields, self.answer))}


@lru_cache(maxsize=_MAX_CACHED)
def short_text(indexing_map: IndexingMap, sizes: Sizes | None = None) -> str:
    """A map on one line, without what the sizes of the tensors say of its domain.

    >>> from indexing import parse_map
    >>> window = "(d0, d1)[s0, s1] -> (d0 + s0, s1), domain: "
    >>> window += "d0 in [0, 7], d1 in [0, 3], s0 in [0, 2], s1 in [0, 4], d0 + s0 in [1, 8]"
    >>> print(short_text(parse_map(window), ((8, 4), (9, 5))))
    (d0, d1)[s0, s1] -> (d0 + s0, s1), s0 in [0, 2], d0 + s0 in [1, 8]
    """
    domain = indexing_map.domain
    if sizes is None or domain.parameters or domain.is_known_empty:
        return format_map(indexing_map)
    said = set(_whole(indexing_map, *sizes))
    of_variables = zip(domain.identifiers, domain.names, domain, strict=True)
    parts = [f"{name} in {each.bounds}" for key, name, each in of_variables if key not in said]
    parts += [f"{text} in {interval}" for text, (_, interval) in domain.constraint_texts()]
    return ", ".join([format_head(indexing_map), *parts])


def _whole(
    indexing_map: IndexingMap, start: tuple[int, ...], end: tuple[int, ...]
) -> Iterator[str]:
    """The variables that run over a whole dimension of the one tensor or the other."""
    domain = indexing_map.domain
    names, ranges, _ = domain.by_role(domain.identifiers)
    places = [*zip(names, start, strict=True)] if len(names) == len(start) else []
    results = (
        zip(indexing_map.forms, end, strict=True) if len(indexing_map.forms) == len(end) else ()
    )
    places += [(form.single_variable(), size) for form, size in results]
    for name, size in places:
        if (name in names or name in ranges) and domain.bounds[name] == Interval(0, size - 1):
            yield name


@dataclass(frozen=True, slots=True)
class Section(Row):
    """The answer about one instruction or computation.

    A heading with the ``subject``, or array ``output`` of it, stands above the lines of the
    entries, behind the ``place`` if there is one. Where they are long, ``title`` stands before each
    of them. ``origins`` says where the program gets the sizes that are parameters of the maps, by
    name.
    """

    title: str
    place: str
    subject: Instruction
    output: int | None
    entries: Sequence[Entry]
    about: Fields
    origins: Mapping[str, SizeOrigin]
    is_long: bool

    def text(self) -> str:
        """The entries, one after another, and where parameters come from."""
        return "\n".join(self._long_lines() if self.is_long else self._lines())

    def _lines(self) -> Iterator[str]:
        """A line for each map; what depends on nothing has none."""
        if self.entries:
            yield f"{self.place}{heading_of(self.subject, self.output)}"
            for entry in self.entries:
                yield from entry.lines()
            yield from (f"  {name}: {origin}" for name, origin in self.origins.items())

    def _long_lines(self) -> Iterator[str]:
        if not self.entries:
            yield f"{self.title}: depends on nothing"
        yield from (entry.text(self.title) for entry in self.entries)
        if self.origins:
            yield f"{self.title}, parameters:"
            yield from (f"  {name}: {origin}" for name, origin in self.origins.items())

    @property
    def is_unknown(self) -> bool:
        """Whether there is a pair without maps."""
        return any(isinstance(entry.answer, Unknown) for entry in self.entries)

    def fields(self) -> Fields:
        """The entries are called ``indexing``; ``parameter_origins`` if maps have parameters."""
        found = self.about | {"indexing": [entry.fields() for entry in self.entries]}
        if self.origins:
            found["parameter_origins"] = [
                _size_origin_fields(*each) for each in self.origins.items()
            ]
        return found


def heading_of(instruction: Instruction, output: int | None = None) -> str:
    """What the instruction gives, and the source line if there is one."""
    lines = source_locations(instruction)
    source = f", {lines[0]}" if lines else ""
    return text_of_result(instruction, output) + source


def fields_of_instruction(instruction: Instruction) -> Fields:
    """Which instruction an answer is about."""
    return {
        "computation": instruction.computation.name,
        "instruction": instruction.name,
        "opcode": instruction.opcode,
        "shape": str(instruction.shape),
    }


def _size_origin_fields(name: str, origin: SizeOrigin) -> Fields:
    return {
        "parameter": name,
        "instruction": origin.instruction.name,
        "computation": origin.instruction.computation.name,
        "dimension": origin.dimension,
        "element": origin.element,
        "text": str(origin),
    }


@dataclass(frozen=True, slots=True)
class MapReport(Row):
    """A map by itself."""

    map: IndexingMap

    def text(self) -> str:
        """The map, a line for each part of its domain."""
        return map_text(self.map)

    def fields(self) -> Fields:
        """The map, whole and in its parts."""
        return map_fields(self.map)


# Runtime origins hold on to their module, so only indexings without them are cached.


def _indexing_text(indexing: OperandIndexing) -> str:
    return (_uncached_text if indexing.runtime else _cached_text)(indexing)


def _uncached_text(indexing: OperandIndexing) -> str:
    return indented(indexing.text(multiline=True))


_cached_text: Final = lru_cache(maxsize=_MAX_CACHED)(_uncached_text)


def indented(text: str) -> str:
    """The lines of a text with an indent."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def map_text(indexing_map: IndexingMap) -> str:
    """A map for people, with a line for each part of its domain."""
    return format_map(indexing_map, multiline=True)


# Fields of maps.


def indexing_fields(indexing: OperandIndexing) -> Fields:
    """A map with its notes for programs."""
    return (_uncached_fields if indexing.runtime else _cached_fields)(indexing)


def _uncached_fields(indexing: OperandIndexing) -> Fields:
    whole = map_fields(indexing.map)
    origins = [
        {"variable": variable["name"]} | _origin_fields(origin)
        for variable, origin in zip(whole["runtime"], indexing.runtime, strict=True)
    ]
    return whole | {
        "runtime_origins": origins,
        "replica_id": _optional_map(indexing.replica_id),
        "approximation": indexing.approximation or None,
    }


_cached_fields: Final = lru_cache(maxsize=_MAX_CACHED)(_uncached_fields)


def _origin_fields(origin: RuntimeOrigin) -> Fields:
    return {
        "instruction": origin.instruction.name,
        "callers": [caller.name for caller in origin.callers],
        "text": str(origin),
        "map": map_fields(origin.map),
        "clamp": None if origin.clamp is None else _numbers(origin.clamp),
        "replica_id": _optional_map(origin.replica_id),
    }


def _optional_map(indexing_map: IndexingMap | None) -> Fields | None:
    return None if indexing_map is None else map_fields(indexing_map)


def map_fields(indexing_map: IndexingMap) -> Fields:
    """A map for programs, whole and in its parts."""
    domain = indexing_map.domain
    names = iter(domain.names)

    def declared(variables: Iterable[Variable]) -> list[Fields]:
        return [{"name": next(names), "bounds": _ends(each.bounds)} for each in variables]

    return {
        "text": str(indexing_map),
        "results": [domain.text_of(form) for form in indexing_map.forms],
        "dims": declared(domain.dims),
        "ranges": declared(domain.ranges),
        "runtime": declared(domain.runtime),
        "parameters": declared(domain.parameters),
        "constraints": [
            {"expression": text, "bounds": _ends(interval)}
            for text, (_, interval) in domain.constraint_texts()
        ],
        "known_empty": indexing_map.is_known_empty,
    }


def _numbers(interval: Interval | Ends) -> list[int | None]:
    """The ends that are numbers; those over parameters are constraints of the map."""
    if isinstance(interval, Interval):
        return _ends(interval)
    return [end.constant if end is not None and end.is_constant else None for end in interval]


def _ends(interval: Interval) -> list[int | None]:
    return [interval.lower, interval.upper]
