"""Commands about maps: those of a module, simplified texts, and how reports show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, Final, TypeAlias, TypeVar

import simplifier
from indexing import IndexingMap, Variable, format_map, parse_map
from indexing.passes import Ends, format_head
from ops import InstructionAnalysis, ModuleAnalysis, hlo, limits
from ops.analysis.queries import Addressing, slice_from
from ops.cli.documents import Extent, Fields, Lines, SelectedQuery
from ops.cli.files import read_input
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, of_element
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.hlo import Computation, HloModule, Instruction, SizeOrigin
from ops.hlo.module import name_of_array, source_locations
from ops.rules.rule import Direction, Unknown
from simplifier.errors import ArgumentError, IndexingError, Span, TextError
from simplifier.forms import Interval, is_name, natural_order, parse_form

# Queries of modules whose answers are maps: of instructions, and of fusions.


@dataclass(frozen=True, slots=True)
class View:
    """Direction of maps, and the names of elements that they lead between."""

    direction: str
    physical_layout: bool
    linear_offsets: bool

    @property
    def is_back(self) -> bool:
        """Whether maps lead from operands to results."""
        return self.direction != DIRECTIONS[0]

    @property
    def addressing(self) -> Addressing:
        """Names of the elements."""
        return Addressing(self.physical_layout, self.linear_offsets)


# Instructions.


@dataclass(frozen=True, slots=True)
class InstructionMaps(SelectedQuery):
    """The maps of the instructions that are selected, in one direction."""

    name: ClassVar = "instructions"

    view: View
    minimal: bool
    """Whether a map is left out that another map to the same array contains."""

    def about(self) -> Fields:
        """The view."""
        return asdict(self.view)

    def subjects(self, module: HloModule) -> Sequence[Instruction]:
        """The instructions."""
        return self.selection.of(module)

    def answer(self, analysis: ModuleAnalysis, subject: Instruction) -> Lines:
        """The maps of one instruction."""
        about = fields_of_instruction(subject)
        pairs = _between(analysis[subject], self.view)
        read = (pair for pair in pairs if self.selection.is_read(pair.source))
        given = (pair.minimal() for pair in read) if self.minimal else read
        entries = tuple(entry for pair in given for entry in _split(pair))
        title = f"%{subject.name} {subject.opcode}"
        return _Section(title, "", subject, None, entries, about).item(_rank(subject.computation))


_SMALL: Final = 4
"""Number of instructions of the function of a reduction."""


def _rank(computation: Computation) -> int:
    """Whether people see the entry first, or what is folded with last."""
    instructions = computation.instructions
    is_scalar = all(each.shape.is_array and not each.shape.rank for each in instructions)
    is_entry = computation is computation.module.entry
    return 0 if is_entry else 2 if is_scalar and len(instructions) <= _SMALL else 1


def _between(asked: InstructionAnalysis, view: View) -> Iterator[Entry]:
    """The maps between each result and each operand of an instruction."""
    instruction = asked.instruction
    ask = asked.input_to_output if view.is_back else asked.output_to_input
    operands = range(len(instruction.operands))
    for begin in operands if view.is_back else instruction.shape.array_indices:
        for end, answer in enumerate(ask(begin, **view.addressing._asdict()).indexing):
            output, number = (end, begin) if view.is_back else (begin, end)
            yield Entry(instruction, output, "operand", number, answer.simplify(), view)


DIRECTIONS: Final = ("output-to-input", "input-to-output")
"""The values of ``--direction``, the default first."""


# Computations.

Result: TypeAlias = "tuple[Computation, Instruction | None, int]"
"""A computation, the fusion that calls it if it is not the entry, the number of a result."""


@dataclass(frozen=True, slots=True)
class FusionMaps(SelectedQuery):
    """The maps from root to parameters: of the entry, and of the computation of each fusion."""

    name: ClassVar = "results"

    view: View
    minimal: bool
    """Whether a map is left out that another map to the same array contains."""

    def about(self) -> Fields:
        """Form of the maps."""
        return {"minimal": self.minimal} | asdict(self.view)

    def subjects(self, module: HloModule) -> Sequence[Result]:
        """The results of all these computations."""
        self.selection.check(module)
        fusions = [each for each in module.instructions if each.opcode == "fusion"]
        called = [(each.computations[0], each) for each in fusions if self.selection.has(each)]
        entry = [(module.entry, None)] if self.selection.is_everything else []
        return [
            (computation, caller, output)
            for computation, caller in (*entry, *called)
            for output in computation.root.shape.array_indices
        ]

    def answer(self, analysis: ModuleAnalysis, subject: Result) -> Lines:
        """The maps from one result."""
        section = partial(self._section, analysis, subject)
        is_whole = subject[1] is not None or bool(self.selection.parameters)
        read: Mapping[int, AnyDependence] = {} if is_whole else self._read(analysis, subject)
        if len(read) <= limits.FEW_SINKS:
            return section().item()
        counted = _counted(len(read), subject)
        is_unknown = any(isinstance(each, Unknown) for each in read.values())
        return Lines(
            lambda at: section().seen(at) if at.is_long or not at.is_brief else counted,
            lambda: section().fields(),
            is_unknown,
        )

    def _read(self, analysis: ModuleAnalysis, subject: Result) -> Mapping[int, AnyDependence]:
        """The parameters of the entry that a result needs, by number, each unknown or not."""
        computation, _, output = subject
        if self.view.is_back or self.view.addressing != Addressing():
            return {entry.number: entry.answer for entry in self._entries(analysis, subject)}
        found = analysis[computation.root].parameters_reached(output).items()
        return {each.parameter_number or 0: known for each, known in found if known != NOTHING}

    def _section(self, analysis: ModuleAnalysis, subject: Result) -> _Section:
        """The maps from one result, one after another."""
        computation, caller, output = subject
        fusion = caller.name if caller else None
        about = {"computation": computation.name, "fusion": fusion, "result": output}
        entries = tuple(self._entries(analysis, subject))
        of = f"%{computation.name} of %{caller.name}" if caller else f"ENTRY %{computation.name}"
        place = "" if caller else f"{of}, "
        return _Section(of, place, caller or computation.root, output, entries, about)

    def _entries(self, analysis: ModuleAnalysis, subject: Result) -> Iterator[Entry]:
        """The maps between a result and each parameter that is meant."""
        (computation, caller, output), is_back = subject, self.view.is_back
        asked = analysis[root := computation.root]
        found = _to_result(asked, output) if is_back else asked.parameter_indexing(output)
        for parameter, maps in found.items():
            number = parameter.parameter_number or 0
            outer = caller.operands[number] if caller else parameter
            if self.selection.is_read(parameter, outer):
                entry = Entry(
                    root, output, "parameter", number, maps.simplify(), self.view, caller=caller
                )
                yield from map(self._seen, _split(entry.minimal() if self.minimal else entry))

    def _seen(self, entry: Entry) -> Entry:
        """The maps between the names of elements that are asked for."""
        result = entry.of.shape.arrays[entry.output]
        parameter = entry.source.shape.arrays[entry.element or 0]
        ends = (parameter, result) if self.view.is_back else (result, parameter)
        addressing = self.view.addressing
        answer = of_element(addressing.of(entry.answer, *ends), entry.element or 0)
        return entry if answer is entry.answer else replace(entry, answer=answer)


def _counted(read: int, subject: Result) -> Sequence[str]:
    """How many parameters a result of the entry needs, where these are many."""
    entry, _, output = subject
    count = len(entry.parameters)
    share = "all" if read == count else f"{read:,}"
    advice = f"  reads {share} of {count:,} parameters: --parameter NAME, or --all"
    return f"ENTRY %{entry.name}, {heading_of(entry.root, output)}", advice


def _to_result(root: InstructionAnalysis, output: int) -> dict[Instruction, AnyDependence]:
    """Maps from an element of a parameter to the elements of a result that need it."""
    flow = root.analysis.findings.flows[Direction.INPUT_TO_OUTPUT]
    found: dict[Instruction, AnyDependence] = {}
    for parameter in root.instruction.computation.parameters:
        for element in parameter.shape.array_indices:
            reached = slice_from(flow, parameter, element).get(root.instruction, NOTHING)
            reached = reached.only(lambda each: each.element == output)
            found[parameter] = found.get(parameter, NOTHING).union(of_element(reached, element))
    return {parameter: each for parameter, each in found.items() if each != NOTHING}


# Entries.


def _split(whole: Entry) -> Iterator[Entry]:
    """The entries of a result and an operand: one for each array that is needed."""
    if not whole.source.shape.is_tuple or not whole.answer.indexings:
        if whole.answer != NOTHING:
            yield whole
        return
    for element in dict.fromkeys(indexing.element for indexing in whole.answer.indexings):
        of_element = (each for each in whole.answer.indexings if each.element == element)
        yield replace(whole, answer=Dependence(of_element), element=element)


# Reports of maps: text for people, and fields for programs.

T = TypeVar("T")

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
    view: View
    element: int | None = None
    caller: Instruction | None = None

    def minimal(self) -> Entry:
        """The same without maps that another map to the same array contains."""
        return replace(self, answer=self.answer.minimal().simplify())

    @property
    def source(self) -> Instruction:
        """The operand or parameter."""
        if self.role == "operand":
            return self.of.operands[self.number]
        return self.of.computation.parameters[self.number]

    @property
    def about(self) -> Fields:
        """The pair of arrays."""
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
        return f"{result}{name_of_array(outer, self.element)}"

    @property
    def _result(self) -> str:
        return f"result {self.output}, " if len(self.of.shape.arrays) > 1 else ""

    @property
    def sizes(self) -> Sizes | None:
        """Sizes of the tensor that maps lead from, and of the other one, if they are over these."""
        arrays = self.of.shape.arrays[self.output], self.source.shape.arrays[self.element or 0]
        is_whole = self.view.addressing == Addressing()
        if not is_whole or any(not array.is_array for array in arrays):
            return None
        result, operand = (array.dimensions for array in arrays)
        return (operand, result) if self.view.is_back else (result, operand)

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
            is_empty = indexing.map.is_known_empty
            yield f"  {label}: {'reads nothing' if is_empty else short_text(indexing.map, sizes)}"
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
    """A map on one line, without the parts of its domain that the sizes of the tensors say.

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
    forms = indexing_map.forms if len(indexing_map.forms) == len(end) else ()
    places += [(form.single_variable(), size) for form, size in zip(forms, end, strict=False)]
    for name, size in places:
        if (name in names or name in ranges) and domain.bounds[name] == Interval(0, size - 1):
            yield name


@dataclass(frozen=True, slots=True)
class _Section:
    """The answer about one instruction or computation.

    A heading with the ``subject``, or array ``output`` of it, stands above the lines of the
    entries, behind the ``place`` if there is one. Where they are long, ``title`` stands before each
    of them.
    """

    title: str
    place: str
    subject: Instruction
    output: int | None
    entries: Sequence[Entry]
    about: Fields

    def item(self, rank: int = 0) -> Lines:
        """The entries, one after another, and where parameters come from."""
        is_unknown = any(isinstance(entry.answer, Unknown) for entry in self.entries)
        return Lines(self.seen, self.fields, is_unknown, rank=rank)

    def seen(self, extent: Extent) -> Iterator[str]:
        """The lines that people get to see."""
        return self._long_lines() if extent.is_long else self._lines()

    def _origins(self) -> Mapping[str, SizeOrigin]:
        """Where the program gets the sizes that are parameters of the maps, by name."""
        used = sorted({name for entry in self.entries for name in entry.parameters})
        if not used:
            return {}
        known = hlo.size_origins(self.subject.computation.module)
        return {name: known[name] for name in used if name in known}

    def _lines(self) -> Iterator[str]:
        """A line for each map; a dependence on nothing has none."""
        if self.entries:
            yield f"{self.place}{heading_of(self.subject, self.output)}"
            for entry in self.entries:
                yield from entry.lines()
            yield from (f"  {name}: {origin}" for name, origin in self._origins().items())

    def _long_lines(self) -> Iterator[str]:
        if not self.entries:
            yield f"{self.title}: depends on nothing"
        yield from (entry.text(self.title) for entry in self.entries)
        origins = [f"  {name}: {origin}" for name, origin in self._origins().items()]
        yield from [f"{self.title}, parameters:", *origins] if origins else ()

    def fields(self) -> Fields:
        """The entries are called ``indexing``; ``parameter_origins`` if maps have parameters."""
        origins = [_size_origin_fields(*each) for each in self._origins().items()]
        found = self.about | {"indexing": [entry.fields() for entry in self.entries]}
        return found | {"parameter_origins": origins} if origins else found


def heading_of(instruction: Instruction, output: int | None = None) -> str:
    """The results of the instruction, and the source line if there is one."""
    lines = source_locations(instruction)
    source = f", {lines[0]}" if lines else ""
    return instruction.result_text(output) + source


def fields_of_instruction(instruction: Instruction, **answer: object) -> Fields:
    """The instruction of an answer, and what is answered about it, as fields."""
    return {
        "computation": instruction.computation.name,
        "instruction": instruction.name,
        "opcode": instruction.opcode,
        "shape": str(instruction.shape),
        **answer,
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


# Runtime origins hold on to their module, so only indexings without them are cached.


def _kept(make: Callable[[OperandIndexing], T]) -> Callable[[OperandIndexing], T]:
    kept = lru_cache(maxsize=_MAX_CACHED)(make)
    return lambda indexing: (make if indexing.runtime else kept)(indexing)


@_kept
def _indexing_text(indexing: OperandIndexing) -> str:
    return indented(indexing.text(multiline=True))


def indented(text: str) -> str:
    """The lines of a text with an indent."""
    return "\n".join(f"  {line}" for line in text.splitlines())


# Fields of maps.


@_kept
def indexing_fields(indexing: OperandIndexing) -> Fields:
    """A map with its notes for programs."""
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


# Texts of maps and of expressions, and their smallest forms.


_SEPARATOR: Final = re.compile(r"^---[ \t\r]*$", re.MULTILINE)


def spans_of(file: str, texts: Sequence[str]) -> list[Span]:
    """The texts between lines of ``---``, without blank ones; without any, those of a file.

    Raises:
        HloFileError: there is no such file, or it is not text.
        ArgumentError: there is nothing but blanks.
    """
    given = [(text, "") for text in texts] or [read_input(file)]
    found = [span for each in given for span in _spans(*each)]
    if not found:
        raise ArgumentError("simplify: the text is empty; expected maps or expressions")
    return found


def _spans(text: str, name: str) -> list[Span]:
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(text))]
    stops = [*(match.start() for match in _SEPARATOR.finditer(text)), len(text)]
    ends = zip(starts, stops, strict=True)
    return [Span(text, *span, name) for span in ends if text[slice(*span)].strip()]


def simplified(span: Span) -> Lines:
    """The smallest form of a map or an expression.

    Raises:
        TextError: the text is neither, or has no value.
    """
    text = span.source[span.start : span.stop]
    for found in _BY_ZERO.finditer(text):
        raise _moved(TextError("division by zero", Span(text, *found.span("zero"))), span, 0)
    if "->" in text:
        found = _read(text, span, 0, len(text)).simplify()
        return Lines([format_map(found, multiline=True)], partial(map_fields, found))
    expression = _simplified_expression(text, span)
    return Lines([expression], lambda: {"expression": expression})


_BY_ZERO: Final = re.compile(r"(?:[/%]|\b(?:floordiv|ceildiv|mod))\s*(?P<zero>0)\b")
_DOMAIN: Final = re.compile(r"\s*,?\s*domain\s*:\s*")
_WORD: Final = re.compile(r"[^\W\d]\w*")


def _simplified_expression(text: str, span: Span) -> str:
    """An expression, followed by ``domain:`` and facts about its variables if it has them.

    They are read as a map of one result from all of its variables, also those that cancel.
    """
    known = _DOMAIN.search(text)
    expression = text[: known.start()] if known else text
    facts = text[known.end() :].strip().rstrip(".") if known else ""
    try:
        parse_form(expression)
    except TextError as error:
        raise _moved(error, span, 0) from None
    names = sorted(filter(is_name, {*_WORD.findall(expression)}), key=natural_order)
    head = f"({', '.join(names)}) -> ("
    bounds = ", ".join(f"{name} in [-inf, inf]" for name in names)
    begin = f"{head}{' '.join(expression.split())}), domain: {bounds}"
    whole = f"{begin}, {facts}" if facts and names else begin
    at = known.end() if known else 0
    found = _read(whole, span, at - len(begin) - 2, at)
    return simplifier.format_expr(found.simplify().results[0])


def _read(text: str, span: Span, shift: int, least: int) -> IndexingMap:
    """The map from its text, which stands in the span, moved by so many characters.

    Raises:
        TextError: the text is no map.
    """
    try:
        return parse_map(text)
    except TextError as error:
        raise _moved(error, span, shift) from None
    except IndexingError as error:
        raise TextError(str(error), replace(span, start=span.start + least)) from None


def _moved(error: TextError, span: Span, shift: int) -> TextError:
    """The error at its place in the whole text."""
    ends = (
        max(span.start, span.start + end + shift) for end in (error.span.start, error.span.stop)
    )
    start, stop = (min(end, span.stop) for end in ends)
    return TextError(error.message, replace(span, start=start, stop=stop), error.hint)
