"""The explorer: one page to look at a program, to click on instructions, and to see their reads.

The folder ``page`` holds the page itself: markup, style, and modules of JavaScript. ``page.py``
puts them together, and says what a page knows of instructions and of their maps.
"""

from __future__ import annotations

import json
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from html import escape
from importlib.resources import files as resources
from itertools import accumulate
from os import PathLike
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from indexing import IndexingMap, MapError, Variable, emit_loops, format_map
from indexing.passes import MAX_INT64, Domain
from indexing.pictures.access_picture import formula_of
from ops.analysis.queries import parameter_indexing
from ops.dependence.dependence import AnyDependence
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion, by_producer, fusion_graph
from ops.hlo import Computation, HloModule, Instruction
from ops.hlo.files import write_text
from ops.hlo.module import MODULE, source_locations, with_callees
from ops.performance.summary import KernelSummary, summary
from ops.performance.tally import Count, at_least, at_most
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.rule import Unknown
from simplifier.errors import IndexingError, beginning_of, check_type, naming_wrong_arguments

if TYPE_CHECKING:
    from anywidget import AnyWidget

__all__ = ["Exploration", "Explored", "explore"]


# The page as a value: written to a file, or shown by a notebook as a widget.


@dataclass(frozen=True, slots=True, repr=False)
class Exploration:
    """A page about a program.

    Attributes:
        title: the name of the program.
        data: the facts of the page about the program, as JSON.
        code: the functions of its maps, in JavaScript.
        first: the fusion or computation that it begins with.
    """

    title: str
    data: str
    code: str
    first: Fusion

    @property
    def html(self) -> str:
        """The page: one document that loads nothing, and runs no script but its own."""
        style, script = page_file("explorer.css"), f"{self.script}\n{page_file('start.js')}"
        parts = {"title": escape(self.title), "data": self.data, "style": style, "script": script}
        hashes = {"style_hash": _hash(style), "script_hash": _hash(script)}
        return Template(page_file("page.html")).substitute(parts, **hashes)

    @property
    def script(self) -> str:
        """The modules of the page as one, with the functions of its maps."""
        return f"{modules()}\n{self.code}"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Raises:
            HloFileError: the file cannot be written.
        """
        write_text(path, self.html)

    def widget(self) -> AnyWidget:
        """The page as a widget for notebooks; a notebook shows it by itself.

        Raises:
            MissingPackageError: anywidget is not installed.
        """
        try:
            from anywidget import AnyWidget  # noqa: PLC0415 - an extra
            from traitlets import Unicode  # noqa: PLC0415 - an extra, too
        except ModuleNotFoundError:
            install = "pip install 'symbolic-indexing[widget]'"
            message = f"the explorer in a notebook needs anywidget: {install}"
            raise MissingPackageError(message) from None
        script = f"{self.script}\n{page_file('widget.js')}"

        class ExplorerWidget(AnyWidget):
            """The explorer; each has a module of its own, since that holds the code of its maps."""

            _esm = script
            _css = page_file("explorer.css")
            data = Unicode().tag(sync=True)

        return ExplorerWidget(data=self.data)

    def _repr_mimebundle_(self, **_: object) -> Any:  # noqa: ANN401 - Jupyter's
        """For notebooks: the widget; where anywidget is not installed, the graph as a picture."""
        try:
            shown: Any = self.widget()  # anywidget's types leave parts open
        except MissingPackageError as error:
            picture = fusion_graph(self.first)
            note = f"<p>{escape(str(error))}</p>"
            return {"text/plain": repr(self), "text/html": f"{picture.svg()}\n{note}"}
        return shown._repr_mimebundle_()

    def __repr__(self) -> str:
        return f"<page about {self.title}>"


@naming_wrong_arguments
def explore(
    thing: Explored,
    *,
    notes: Mapping[Instruction, str] = MappingProxyType({}),
    kernels: Sequence[KernelSummary] = (),
) -> Exploration:
    """A page to look at a program: its graphs, its text, and the reads of each element.

    Args:
        thing: a module; a computation; or a fusion or an instruction, with all that it calls.
        notes: texts that mark instructions, such as the advice about them.
        kernels: those of a module, if they are counted already, as :func:`ops.advise` does.

    Raises:
        ArgumentError: ``thing`` is of another kind.

    >>> from ops import explore, hlo
    >>> page = explore(hlo.load("examples/softmax.hlo"))
    >>> page
    <page about jit_softmax: main.3>
    >>> page.html.splitlines()[0]
    '<!DOCTYPE html>'
    """
    views = views_of(thing)
    if isinstance(thing, HloModule) and not kernels:
        kernels = summary(thing).kernels
    data = PageData(views, notes, kernels)
    fields = data.fields()
    title = f"{fields['module']}: {views[0].name}" if fields["module"] else views[0].name
    return Exploration(title, _json(fields), function_list(data.codes), views[0].fusion)


def _json(fields: Json) -> str:
    """JSON in which nothing ends the element that holds it."""
    return json.dumps(fields, separators=(",", ":")).replace("<", "\\u003c")


def _hash(content: str) -> str:
    """Name of a script or style in the page."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


class MissingPackageError(IndexingError, ImportError):
    """A package is not installed that comes with an extra."""


# Data of the explorer page: the instructions of a program, and the elements that each one reads.
#
# The page gets one JSON value. Data that many instructions share stand there once, and are
# referred to by number: indexings, their code, lines of the program's source.

Json: TypeAlias = "dict[str, Any]"

MAX_FOLLOWED: Final = 128
"""Instructions of a graph whose maps are followed up to its parameters: in longer ones, as in the
entry of a whole model, these are many and long, and the page follows one instruction at a time.
"""

MAX_OUTPUTS: Final = 64
"""Arrays of a result that the page can ask about: the roots of training steps have thousands."""

FOLDED: Final = {
    **dict.fromkeys(sorted(ELEMENTWISE), "elementwise"),
    **{each: each for each in ("bitcast", "bitcast-convert", "broadcast", "constant", "copy")},
    **{each: each for each in ("get-tuple-element", "iota", "reshape")},
}
"""Opcodes of instructions that large graphs fold to groups, and what those call them."""

_MAX_LINE: Final = 2_000
"""Characters of a line of HLO: large constants have millions."""

_MAX_FORMULA: Final = 2_000
"""Characters of a map: longer ones are cut, as nobody reads them to their end."""


class PageData:
    """The tables of a page, filled by looking at each instruction of its graphs once.

    Attributes:
        codes: the functions that indexings name by their numbers.
    """

    def __init__(
        self,
        views: Sequence[ProgramView],
        notes: Mapping[Instruction, str],
        kernels: Sequence[KernelSummary],
    ) -> None:
        self._views = views
        self._kernels = kernels
        self._notes = notes
        self._number_of_view = {each.fusion.computation: n for n, each in enumerate(views)}
        members = (each for view in views for each in (*view.fusion.instructions, *view.outside))
        self._numbers = {each: number for number, each in enumerate(dict.fromkeys(members))}
        self._indexings = _Numbered()
        self._sources = _Numbered()
        self.codes = _Numbered()

    def fields(self) -> Json:
        """All that the page knows, as JSON."""
        module = self._views[0].fusion.computation.own_module
        lines, place = _text_of(module, self._numbers, self._number_of_view)
        opcodes = {each.opcode for each in self._numbers}
        return {
            "module": module.name if module else "",
            "file": module.file if module else "",
            "lines": lines,
            "kernels": [*self._ranked()],
            "folded": {each: word for each, word in FOLDED.items() if each in opcodes},
            "views": [self._view(each) for each in self._views],
            "instructions": [*self._instructions(place)],
            "indexings": [_description(each) | self._code(each.map) for each in self._indexings],
            "sources": [*self._sources],
        }

    def _ranked(self) -> Iterator[Json]:
        """The kernels, those first that move most bytes; what nobody knows counts its least."""
        rows = [
            (each, [_known_bytes(count) for count in (each.bytes_read, each.bytes_written)])
            for each in self._kernels
        ]
        for kernel, moved in sorted(rows, key=lambda row: -sum(row[1])):
            yield {
                "instruction": self._numbers[kernel.fusion.roots[0]],
                "bytes": moved,
                "is_bound": kernel.is_unknown,
                "reuse": kernel.reuse and round(kernel.reuse, 2),
            }

    def _view(self, view: ProgramView) -> Json:
        return {
            "name": view.name,
            "kind": view.kind,
            "is_scalar": _is_scalar(view.fusion.computation),
            "members": [self._numbers[each] for each in view.fusion.instructions],
            "outside": [self._numbers[each] for each in view.outside],
            "roots": [self._numbers[each] for each in view.fusion.roots],
        }

    def _instructions(self, place: Mapping[Instruction, int]) -> Iterator[Json]:
        for number, view in enumerate(self._views):
            for each in view.fusion.instructions:
                outputs = each.shape.array_indices[:MAX_OUTPUTS]
                results = [self._result(each, output, view) for output in outputs]
                yield self._instruction(each, place) | {"view": number, "results": results}
            for each in view.outside:
                alone: Json = {"view": number, "operands": [], "results": []}
                yield self._instruction(each, place) | alone

    def _instruction(self, instruction: Instruction, place: Mapping[Instruction, int]) -> Json:
        locations = source_locations(instruction)
        called = (self._number_of_view.get(each) for each in instruction.computations)
        return {
            "name": instruction.name,
            "opcode": instruction.opcode,
            "shape": instruction.shape.text(layout=False),
            "arrays": [
                [*each.dimensions] if each.is_array and not each.is_unbounded else None
                for each in instruction.shape.arrays[:MAX_OUTPUTS]
            ],
            "line": place.get(instruction, 0),
            "operands": [self._numbers[each] for each in instruction.operands],
            "calls": [each for each in called if each is not None],
            "source": self._sources.number(str(locations[0])) if locations else None,
            "note": self._notes.get(instruction),
        }

    def _result(self, instruction: Instruction, output: int, view: ProgramView) -> Json:
        """Reads of an array of a result: of the operands, and up to the parameters."""
        fusion = view.fusion
        try:
            near = by_producer(instruction, output, registry=fusion.registry)
            if len(fusion.instructions) > MAX_FOLLOWED or near.keys() <= {*fusion.operands}:
                return {"operands": self._reads(near)}
            far = _of_inputs(instruction, output, view)
        except IndexingError as error:
            return {"operands": [], "error": str(error)}
        return {"operands": self._reads(near), "parameters": self._reads(far)}

    def _reads(self, found: Mapping[Instruction, AnyDependence]) -> list[Json]:
        return [
            each for of, answer in found.items() for each in self._reads_of(of, answer.simplify())
        ]

    def _reads_of(self, instruction: Instruction, answer: AnyDependence) -> Iterator[Json]:
        """An entry for each array of an instruction that is read."""
        number = self._numbers[instruction]
        if isinstance(answer, Unknown):
            yield {"of": number, "array": 0, "unknown": answer.reason}
            return
        arrays: dict[int, list[int]] = {}
        for each in answer.only(lambda each: not each.map.is_known_empty):
            arrays.setdefault(each.element, []).append(self._indexings.number(each))
        for array, indexings in arrays.items():
            yield {"of": number, "array": array, "indexings": indexings}

    def _code(self, indexing_map: IndexingMap) -> Json:
        """The number of the function of a map, or why it has none."""
        try:
            return {"code": self.codes.number(code_of_map(indexing_map))}
        except MapError as error:
            return {"no_code": str(error).removeprefix("emit_loops: ")}


def _known_bytes(count: Count) -> int:
    """The most, or the least where nobody knows the most."""
    most = at_most(count)
    return at_least(count) if most == MAX_INT64 else most


class _Numbered(dict[Any, int]):
    """Values with numbers, in the order in which they are met."""

    def number(self, value: object) -> int:
        """The number of a value."""
        return self.setdefault(value, len(self))


def _of_inputs(
    instruction: Instruction, output: int, view: ProgramView
) -> dict[Instruction, AnyDependence]:
    """Dependences of a result on the inputs of its graph."""
    if view.is_whole:
        return parameter_indexing(instruction, output, registry=view.fusion.registry)
    found = view.fusion.indexing(instruction, output)
    return {each: found[each] for each in view.fusion.operands if each in found}


def _description(indexing: OperandIndexing) -> Json:
    """The text of an indexing for people, and the bounds that its function does not check."""
    domain = indexing.map.domain
    found: Json = {
        "formula": beginning_of(formula_of(indexing.map), _MAX_FORMULA),
        "map": beginning_of(format_map(indexing.map), _MAX_FORMULA),
        "dims": _bounds(domain.dims),
        "runtime": _bounds(domain.runtime),
        "where": [beginning_of(each, _MAX_FORMULA) for each in _where(domain)],
        "notes": [beginning_of(f"{name}: {note}", _MAX_FORMULA) for name, note in indexing.notes()],
    }
    return {name: value for name, value in found.items() if value or name == "dims"}


def _bounds(variables: Iterable[Variable]) -> list[list[int | None]]:
    return [[each.bounds.lower, each.bounds.upper] for each in variables]


def _where(domain: Domain) -> Iterator[str]:
    """The bounds of ranges and runtime variables, and the constraints."""
    dims = len(domain.dims)
    others = zip(domain.names[dims:], [*domain][dims:], strict=True)
    yield from (f"{name} in {each.bounds}" for name, each in others)
    yield from (f"{text} in {interval}" for text, (_, interval) in domain.constraint_texts())


# The text.


def _text_of(
    module: HloModule | None,
    instructions: Collection[Instruction],
    computations: Iterable[Computation],
) -> tuple[list[str], dict[Instruction, int]]:
    """The lines of the program, and at which of them, counted from 0, instructions begin.

    A module without a text of its own, as one from JAX, is printed.
    """
    if module is not None and module.source and all(each.stop for each in instructions):
        lines = module.source.split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        place = {each: bisect_right(starts, each.start) - 1 for each in instructions}
    else:
        lines, place = _printed(computations)
    return [beginning_of(line, _MAX_LINE) for line in lines], place


def _printed(computations: Iterable[Computation]) -> tuple[list[str], dict[Instruction, int]]:
    lines: list[str] = []
    place: dict[Instruction, int] = {}
    for computation in computations:
        first = len(lines) + 1
        place |= {each: first + number for number, each in enumerate(computation.instructions)}
        lines += [*str(computation).split("\n"), ""]
    return lines, place


# The JavaScript of a page: functions made from maps, and the modules that are stored beside it.

MODULES: Final = (
    *("dom.js", "evaluation.js", "grid.js", "address.js", "search.js", "theme.js"),
    *("graph_groups.js", "graph_layout.js", "array_view.js", "reads_view.js", "graph_view.js"),
    *("text_view.js", "list_view.js", "panels.js", "explorer.js"),
)
"""The modules of the page, each after those that it imports."""

_LIBRARY: Final = ("vendor/dagre.LICENSE.txt", "vendor/dagre.min.js")

_MAX_CODE: Final = 20_000
"""Characters of a map's function: real ones have hundreds, tables of values more than a page
should carry.
"""

_VISIT: Final = "visit"


def code_of_map(indexing_map: IndexingMap) -> str:
    """A function of the dimensions, the runtime variables and ``visit``, as an expression.

    It calls ``visit`` with the results at each point of the ranges where the constraints hold,
    until that returns ``true``. The bounds of dimensions and runtime variables are not asked.

    Raises:
        MapError: sizes are symbols, or the code is too long or needs more than 53 bits.

    >>> from indexing import parse_map
    >>> print(code_of_map(parse_map("(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]")))
    (() => { function r_loops(d0, visit) {
      const r0 = d0;
      for (let s0 = 0; s0 < 8; ++s0) {
        const r1 = s0;
        if (visit([r0, r1])) return;
      }
    } return r_loops; })()
    """
    if indexing_map.parameters:
        raise MapError("its sizes are symbols")
    count = len(indexing_map.forms)
    results = ["r"] if count == 1 else [f"r{number}" for number in range(count)]
    body = f"if ({_VISIT}([{', '.join(results)}])) return;"
    text = emit_loops(indexing_map, "javascript", body, "r", parameters=_VISIT)
    lines = (line for line in text.splitlines() if line and not line.startswith("//"))
    code = "\n".join(lines)
    if len(code) > _MAX_CODE:
        raise MapError(f"its code has {len(code):,} characters")
    return f"(() => {{ {code} return r_loops; }})()"


def function_list(codes: Iterable[str]) -> str:
    """A constant with all functions, for the modules."""
    joined = ",\n".join(codes)
    return f"const FUNCTIONS = [\n{joined}\n];\n"


def modules() -> str:
    """The modules of the page as one, behind the library that lays out graphs, with its licence.

    Each imports only names of those before it and exports its own, so that one text of all needs
    neither word.
    """
    library = "\n".join(map(page_file, _LIBRARY))
    own = "\n".join(map(_joined, MODULES))
    return f"{library.partition('//# sourceMappingURL')[0]}\n{own}"


def page_file(name: str) -> str:
    """A file of the page."""
    return resources("ops.explorer").joinpath("page", name).read_text("utf-8")


def _joined(name: str) -> str:
    lines = page_file(name).splitlines()
    kept = (line for line in lines if not line.startswith("import "))
    return "\n".join(line.removeprefix("export ") for line in kept)


# The graphs of a page: one for each computation of a program, or a fusion and what it calls.

Explored: TypeAlias = HloModule | Computation | Fusion | Instruction
"""Kinds of programs that a page shows."""


@dataclass(frozen=True)
class ProgramView:
    """Instructions that are one graph, and the word for them."""

    kind: str
    fusion: Fusion

    @property
    def name(self) -> str:
        """The name of the computation; of a part of it, the names of its first and last one."""
        if self.is_whole:
            return self.fusion.computation.name
        first, *others = (each.name for each in self.fusion.instructions)
        return f"{first} to {others[-1]}" if others else first

    @property
    def is_whole(self) -> bool:
        """Whether they are a whole computation."""
        return self.fusion.instructions == self.fusion.computation.instructions

    @cached_property
    def outside(self) -> tuple[Instruction, ...]:
        """Instructions that they read and do not hold."""
        members = frozenset(self.fusion.instructions)
        return tuple(each for each in self.fusion.operands if each not in members)


def views_of(thing: Explored) -> tuple[ProgramView, ...]:
    """The graphs of a page, the one to begin with first.

    Raises:
        ArgumentError: a page cannot be about this.
        FusionError: a computation has no instructions.

    >>> from ops import hlo
    >>> for view in views_of(hlo.load("examples/softmax.hlo")):
    ...     print(view.name, "-", view.kind)
    main.3 - entry
    fused_computation.1 - fusion
    fused_computation - fusion
    fused_computation.3 - fusion
    fused_computation.2 - fusion
    region_0.1 - reduce
    region_1.2 - reduce
    """
    expected = f"a computation, a fusion or an instruction, or {MODULE}"
    check_type(thing, get_args(Explored), "explore", expected)
    if isinstance(thing, HloModule):
        every = dict.fromkeys([*with_callees([thing.entry]), *thing.computations])
        return tuple(_of_computations(sorted(every, key=_is_scalar)))
    if isinstance(thing, Computation):
        return tuple(_of_computations(with_callees([thing])))
    fusion = Fusion.of(thing)
    called = [each for member in fusion.instructions for each in member.computations]
    return (ProgramView("fusion", fusion), *_of_computations(with_callees(called)))


def _of_computations(computations: Iterable[Computation]) -> Iterator[ProgramView]:
    given = [*computations]
    module = next((each.own_module for each in given), None)
    callers = reversed([*module.instructions] if module else [])
    kinds = {called: caller.opcode for caller in callers for called in caller.computations}
    for each in given:
        kind = "entry" if each.is_entry else kinds.get(each, "computation")
        yield ProgramView(kind, Fusion.of_computation(each))


def _is_scalar(computation: Computation) -> bool:
    """Whether it computes single numbers for another one, as a reduction's: there are many."""
    has_dimensions = any(array.dimensions for array in computation.root.shape.arrays)
    return not (computation.is_entry or has_dimensions)
