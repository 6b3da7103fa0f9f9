"""Questions about dependences of instructions, computations and whole programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from itertools import islice
from typing import Any, Final, NamedTuple

from indexing import IndexingMap, MapError
from indexing.layout import Shape, ShapeError, logical_to_linear, logical_to_tiled, tiled_to_logical
from ops import limits
from ops.analysis import calls
from ops.analysis.calls import CallFrame, DataFlow, ValueNumbering
from ops.dependence.dependence import NOTHING, AnyDependence, Unknown, of_element
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.hlo import HloModule, Instruction
from ops.hlo.errors import NoSuchInstructionError
from ops.hlo.module import INSTRUCTION, MODULE
from ops.hlo.opcodes import near_names
from ops.rules.registry import REGISTRY, Registry, check_registry
from ops.rules.rule import Direction, known
from simplifier.errors import INTEGER, check_type, listed, quoted
from simplifier.tools.display import MAX_ROWS, Displayed, html_of_table


def output_to_input(
    instruction: Instruction,
    output: int = 0,
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Maps from an element of the result to the elements of every operand that it needs.

    Args:
        instruction: any instruction; a fusion or call is followed through the computation that
            it calls.
        output: which array of the result, where that is a tuple, counted through nested tuples.
        physical_layout: tell elements by the dimensions in memory, major first, with all tiles
            cut (:func:`indexing.layout.tiled_sizes`), instead of by the dimensions that their
            shapes list. Where an array has padding, maps are not defined.
        linear_offsets: end every map at the offset in memory, counted in elements, and not at an
            index; those of the origins of runtime variables, too.
        registry: what is known of operations; by default, what the library knows.

    Returns:
        ``indexing[k]`` is, for operand ``k``, a tuple of :class:`OperandIndexing`, empty if the
        operand is not needed, or :class:`Unknown` with the reason: the error with its place, where
        shapes and attributes of an instruction do not fit. Maps along a fusion or call, and
        those in memory, are simplified; others of one operation are as its rule makes them.

    Raises:
        ShapeError: there is no such output.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> ((indexing,),) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(indexing)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    >>> text = "ENTRY e { p = f32[9,200]{1,0:T(8,128)} parameter(0)"
    >>> text += "ROOT r = f32[200,9]{0,1:T(8,128)} transpose(p), dimensions={1,0} }"
    >>> root = hlo.parse(text).entry.root
    >>> ((indexing,),) = output_to_input(root, physical_layout=True).indexing
    >>> print(indexing)
    (d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 7],
    d3 in [0, 127], d0 * 8 + d2 in [0, 8], d1 * 128 + d3 in [0, 199]
    >>> ((indexing,),) = output_to_input(root, linear_offsets=True).indexing
    >>> print(indexing)
    (d0, d1) -> ((d0 floordiv 128) * 1024 + (d1 floordiv 8) * 1024 + d1 * 128 + d0 mod 128),
    domain: d0 in [0, 199], d1 in [0, 8]
    """
    module = _module_of("output_to_input", instruction, output, registry)
    question = Question(Direction.OUTPUT_TO_INPUT, output, physical_layout, linear_offsets)
    return findings_in(module, registry).answer(instruction, question).of(instruction)


def input_to_output(
    instruction: Instruction,
    input: int | str | Instruction = 0,  # noqa: A002 - the name of the thing
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Maps from an element of operand ``input`` to the elements of every result that need it.

    The operand is given by its number or name, or is itself given, if it is read once. Other
    arguments and errors are those of :func:`output_to_input`. ``indexing[k]`` is the answer for
    array ``k`` of the result, of which there are several where that is a tuple.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> print(input_to_output(hlo.parse(text).entry.root, "p").map())
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """
    number = calls.operand_number("input_to_output", instruction, input)
    module = _module_of("input_to_output", instruction, number, registry)
    question = Question(Direction.INPUT_TO_OUTPUT, number, physical_layout, linear_offsets)
    return findings_in(module, registry).answer(instruction, question)


def fusion_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, AnyDependence]:
    """Maps from an element of one instruction to the elements of every other that it needs.

    From array ``output`` of the result of ``root``, such as the root of a fused computation,
    the maps to every instruction that it depends on: in the same computation, and in the
    computations that these instructions call. Each set holds every map once, however many paths
    lead there; ``root`` itself has the identity. Of a tuple, only the arrays that are needed
    count, and ``element`` tells which. ``registry`` holds what is known of operations.

    Raises:
        ShapeError: ``root`` has no such result.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for indexing in fusion_indexing(module.entry.root)[module.entry.parameters[0]]:
    ...     print(indexing)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
    """
    module = _module_of("fusion_indexing", root, output, registry)
    return slice_from(flow_in(module, Direction.OUTPUT_TO_INPUT, registry), root, output)


def slice_from(flow: DataFlow, root: Instruction, output: int) -> dict[Instruction, AnyDependence]:
    """The answer of :func:`fusion_indexing` by a data flow from results to operands."""
    calls.check_output(root, output)
    frames = calls.frames_inside(CallFrame.at((root, output)), flow)
    return calls.by_instruction(calls.union_of(frames))


def parameter_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, AnyDependence]:
    """Maps from an element of a result to the elements of the parameters that it needs.

    The part of :func:`fusion_indexing` that is about the parameters of the computation of ``root``,
    in their order, at a fraction of its cost: parameters that are not needed are left out.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,10] parameter(0)
    ...   t = f32[10,20] transpose(p), dimensions={1,0}
    ...   ROOT r = f32[20,10] reshape(t)
    ... }''')
    >>> ((parameter, (indexing,)),) = parameter_indexing(module.entry.root).items()
    >>> print(parameter.name, indexing)
    p (d0, d1) -> ((d0 mod 2) * 10 + d1, d0 floordiv 2), domain: d0 in [0, 19], d1 in [0, 9]
    """
    module = _module_of("parameter_indexing", root, output, registry)
    return parameters_from(flow_in(module, Direction.OUTPUT_TO_INPUT, registry), root, output)


def parameters_from(
    flow: DataFlow, root: Instruction, output: int
) -> dict[Instruction, AnyDependence]:
    """The answer of :func:`parameter_indexing` by a data flow from results to operands."""
    calls.check_output(root, output)
    return calls.by_instruction(flow.follow_through((root, output)))


def _module_of(asker: str, instruction: Instruction, number: int, registry: Registry) -> HloModule:
    """The module of an instruction, after the arguments of the question were checked.

    Raises:
        ArgumentError: it is no instruction, an array of it is not named by its number, or no
            registry is given.
        DetachedError: the instruction belongs to no module.
    """
    check_type(instruction, Instruction, f"{asker}: the instruction", INSTRUCTION)
    check_type(number, INTEGER, f"{asker}: the number of the array", "an integer")
    check_registry(asker, registry)
    return instruction.computation.module


# Answers about the instructions of a module; equal instructions share one answer.


@lru_cache(maxsize=limits.MAX_REMEMBERED_MODULES)
def findings_in(_: HloModule, registry: Registry) -> Findings:
    """The answers about a module, kept for the next question about it."""
    return Findings(registry)


def flow_in(module: HloModule, direction: Direction, registry: Registry) -> DataFlow:
    """The data flow of a module in one direction, kept with the answers."""
    return findings_in(module, registry).flows[direction]


class Addressing(NamedTuple):
    """Names of elements in an answer: index, tiled dimensions, or offset.

    ``physical_layout`` holds for both ends of every map. ``linear_offsets`` holds for the far end
    alone, where it goes first.
    """

    physical_layout: bool = False
    linear_offsets: bool = False

    def of(self, dependence: AnyDependence, source: Shape, target: Shape) -> AnyDependence:
        """A dependence between two arrays; unknown if a layout has no places for elements."""
        if self == Addressing() or not dependence.indexings:
            return dependence
        try:
            begin, end = self._near_end(source), self._far_end(target)
            return dependence.apply(
                lambda indexing: self._with_origins(begin.compose(indexing).compose(end))
            )
        except ShapeError as error:
            return Unknown(str(error))

    def _near_end(self, shape: Shape) -> OperandIndexing:
        is_tiled = self.physical_layout and shape.is_array
        identity = IndexingMap.identity(shape.dimensions)
        return OperandIndexing(tiled_to_logical(shape) if is_tiled else identity)

    def _far_end(self, shape: Shape) -> OperandIndexing:
        if not shape.is_array:
            return OperandIndexing(IndexingMap.identity(()))  # a token is nowhere
        place_of = logical_to_linear if self.linear_offsets else logical_to_tiled
        return OperandIndexing(place_of(shape))

    def _with_origins(self, indexing: OperandIndexing) -> OperandIndexing:
        return replace(indexing, runtime=tuple(map(self._origin, indexing.runtime)))

    def _origin(self, origin: RuntimeOrigin) -> RuntimeOrigin:
        end = self._far_end(origin.instruction.shape).map
        return replace(origin, map=origin.map.compose(end).simplify(preserve_ranges=True))


@dataclass(frozen=True, slots=True, repr=False)
class InstructionIndexing(Displayed):
    """The answers for one instruction: for each operand, or for each array of its result.

    ``operands`` are the names of the operands, if the answers are about these.
    """

    indexing: tuple[AnyDependence, ...]
    operands: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def map(self, number: int | str = 0) -> IndexingMap:
        """The only map to the operand, or to the array of the result, with a number.

        An operand may also be given by its name.

        Raises:
            MapError: the map is unknown; the message says why. Or there is another number of maps.

        >>> from ops import hlo, output_to_input
        >>> module = hlo.parse('ENTRY e { a = f32[2,3] parameter(0) ROOT b = f32[6] reshape(a) }')
        >>> print(output_to_input(module["b"]).map("a"))
        (d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]
        """
        number = self._number_of(number) if isinstance(number, str) else number
        check_type(number, INTEGER, "map: the number", "an integer, or the name of an operand")
        count = len(self.indexing)
        if not 0 <= number < count:
            expected = f"expected one from 0 to {count - 1}" if count else "there are no maps"
            raise MapError(f"map: the number is {number}; {expected}")
        found = known(self.indexing[number], lambda reason: MapError(f"map: {reason}"))
        if len(found.indexings) != 1:
            count = len(found.indexings)
            raise MapError(f"map: {count} maps lead to number {number}; see indexing")
        return found.indexings[0].map

    def _number_of(self, name: str) -> int:
        numbers = [n for n, each in enumerate(self.operands) if each == name.removeprefix("%")]
        if len(numbers) == 1:
            return numbers[0]
        if numbers:
            places = listed([*map(str, numbers)])
            raise MapError(f"map: {quoted(name)} is operand {places}; expected one of the numbers")
        known = f"expected {listed(self.operands)}" if self.operands else "expected a number"
        raise MapError(f"map: no operand is called {quoted(name)}; {known}")

    def of(self, instruction: Instruction) -> InstructionIndexing:
        """The same answers, about the operands of this one of the instructions that share them."""
        return replace(self, operands=tuple(each.name for each in instruction.operands))

    def __str__(self) -> str:
        lines = (line for title, answer in self._titled() for line in (title, *_lines(answer)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape(title)}</p>{answer._repr_html_() or 'nothing'}"
            for title, answer in self._titled()
        )

    def _titled(self) -> Iterator[tuple[str, AnyDependence]]:
        for number, answer in enumerate(self.indexing):
            name = f" %{self.operands[number]}" if self.operands else ""
            yield f"{number}{name}:", answer

    def __reduce__(self) -> tuple[Callable[..., InstructionIndexing], tuple[object, ...]]:
        """Pickle only the needed part: each result of a wide tuple depends on few operands."""
        needed = {number: each for number, each in enumerate(self.indexing) if each != NOTHING}
        return _indexing_of, (len(self.indexing), needed, self.operands)


def _lines(answer: AnyDependence) -> list[str]:
    texts = [*map(str, answer.entries)]
    return [f"  {line}" for text in texts or ["nothing"] for line in text.splitlines()]


def _indexing_of(
    count: int, needed: Mapping[int, AnyDependence], operands: tuple[str, ...]
) -> InstructionIndexing:
    found = tuple(needed.get(number, NOTHING) for number in range(count))
    return InstructionIndexing(found, operands)


class Question(NamedTuple):
    """Direction of a question: elements that a result needs, or that an operand takes part in.

    The last two say what elements are named by, as an :class:`Addressing` has it.
    """

    direction: Direction
    number: int
    physical_layout: bool
    linear_offsets: bool


class Finding(NamedTuple):
    """An answer, and the position in the module of an instruction that it is about."""

    position: int
    question: Question
    answer: InstructionIndexing


class Findings:
    """Answers questions about the instructions of one module, and remembers the answers."""

    def __init__(self, registry: Registry) -> None:
        self.numbering = ValueNumbering(registry)
        self.flows = {each: DataFlow(each, registry, self.numbering) for each in Direction}
        self._answers: dict[tuple[int, Question], InstructionIndexing] = {}

    def answer(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        """The dependences of an instruction's result or operand.

        Raises:
            ShapeError: there is no such result or operand.
            HloTextError: what a rule of the user answers does not fit an instruction.
        """
        key = self.numbering.number(instruction), question
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._found(instruction, question)
        return found

    def collected(self, module: HloModule) -> list[Finding]:
        """All answers, each once, equal parts of them as one object."""
        answers = self._answers.copy()  # at once: others may be asking
        positions: dict[int, int] = {}
        for position, instruction in enumerate(module.instructions):
            if instruction in self.numbering.numbers:
                positions.setdefault(self.numbering.numbers[instruction], position)
        same: dict[object, Any] = {}

        def merged(indexing: InstructionIndexing) -> InstructionIndexing:
            parts = (same.setdefault(each, each) for each in indexing.indexing)
            return InstructionIndexing(tuple(parts))

        return [
            Finding(positions[number], same.setdefault(question, question), merged(answer))
            for (number, question), answer in answers.items()
        ]

    def learn(self, module: HloModule, found: Iterable[Finding]) -> None:
        """Take over answers that were collected from a module with the same text."""
        instructions = [*module.instructions]
        for position, question, answer in found:
            number = self.numbering.number(instructions[position])
            self._answers.setdefault((number, question), answer)

    def _found(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        direction, number, *view = question
        addressing = Addressing(*view)
        is_backward = direction is Direction.OUTPUT_TO_INPUT
        (calls.check_output if is_backward else calls.check_operand)(instruction, number)
        found: dict[int, list[AnyDependence]] = {}
        for link in self.flows[direction].links_from(instruction, number):
            result = instruction.shape.arrays[link.output]
            operand = instruction.operands[link.operand].shape.arrays[link.element]
            shapes = (result, operand) if is_backward else (operand, result)
            seen = of_element(addressing.of(link.dependence, *shapes), link.element)
            found.setdefault(link.operand if is_backward else link.output, []).append(seen)
        far_ends = range(len(instruction.operands if is_backward else instruction.shape.arrays))
        answers = (NOTHING.union(*found[end]) if end in found else NOTHING for end in far_ends)
        return InstructionIndexing(tuple(answers))


# A module and the answers about its instructions: `analyze`.


def analyze(module: HloModule, *, registry: Registry = REGISTRY) -> ModuleAnalysis:
    """The analysis of a module, which computes every answer when it is asked for.

    ``registry`` holds the rules of operations; the default has those of the library.

    >>> from ops import hlo
    >>> analysis = analyze(hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[4,8] parameter(0)
    ...   ROOT r = f32[32] reshape(p)
    ... }'''))
    >>> analysis
    <analysis of 2 instructions of m>
    >>> ((indexing,),) = analysis["r"].output_to_input().indexing
    >>> print(indexing)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    check_type(module, HloModule, "analyze: the module", MODULE)
    check_registry("analyze", registry)
    return ModuleAnalysis(module, registry)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ModuleAnalysis:
    """A module and the answers about its instructions; it never changes.

    Iterating gives the :class:`InstructionAnalysis` of every instruction in order;
    ``analysis[instruction]`` and ``analysis["%name"]`` give one. Answers are kept and shared
    between instructions.
    """

    module: HloModule
    registry: Registry = REGISTRY
    """The rules of operations."""
    findings: Findings = field(init=False)
    """The answers so far."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", Findings(self.registry))

    def __len__(self) -> int:
        return sum(len(computation.instructions) for computation in self.module.computations)

    def __iter__(self) -> Iterator[InstructionAnalysis]:
        return (InstructionAnalysis(self, each) for each in self.module.instructions)

    def __getitem__(self, which: Instruction | str) -> InstructionAnalysis:
        """The analysis of one instruction, given itself or its name.

        Raises:
            NoSuchInstructionError: the module has no such instruction.
            AmbiguousNameError: instructions of several computations have the name.
        """
        if isinstance(which, str):
            return InstructionAnalysis(self, self.module[which])
        if which.computation.module is not self.module:
            near = near_names(which.name, [each.name for each in self.module.instructions])
            raise NoSuchInstructionError(which.name, near, self.module.file)
        return InstructionAnalysis(self, which)

    def groups(self) -> list[tuple[InstructionAnalysis, ...]]:
        """Groups of instructions with equal maps, in the order of the first ones.

        Instructions are in one group if all that their maps depend on is equal. Names, operands and
        computed values make no difference.

        >>> from ops import hlo
        >>> analysis = analyze(hlo.parse('''ENTRY e {
        ...   p = f32[8] parameter(0)
        ...   sum = f32[8] add(p, p)
        ...   half = f32[4] slice(sum), slice={[0:4]}
        ...   ROOT next = f32[8] add(sum, p)
        ... }'''))
        >>> for group in analysis.groups():
        ...     print(*(each.instruction.name for each in group))
        p
        sum next
        half
        """
        groups: dict[int, list[InstructionAnalysis]] = {}
        for each in self:
            groups.setdefault(self.findings.numbering.number(each.instruction), []).append(each)
        return [tuple(group) for group in groups.values()]

    def __reduce__(self) -> tuple[Callable[..., ModuleAnalysis], tuple[object, ...]]:
        """A pickle holds the module, and each answer so far once."""
        given = self.findings.collected(self.module)
        return _analysis_of, (self.module, self.registry, given)

    def __repr__(self) -> str:
        count = f"{len(self)} instruction{'s' * (len(self) != 1)}"
        return f"<analysis of {count} of {self.module.name}>"

    def _repr_html_(self) -> str:
        rows = (
            (each.computation.name, each.name, each.opcode, str(each.shape))
            for each in islice(self.module.instructions, MAX_ROWS)
        )
        return html_of_table(_COLUMNS, rows, title=repr(self), total=len(self))


def _analysis_of(module: HloModule, registry: Registry, given: Iterable[Finding]) -> ModuleAnalysis:
    analysis = ModuleAnalysis(module, registry)
    analysis.findings.learn(module, given)
    return analysis


@dataclass(frozen=True, slots=True, repr=False)
class InstructionAnalysis:
    """The answers about one instruction of a module.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> reshape = analyze(hlo.parse(text))["r"]
    >>> reshape
    <analysis of %r = f32[32]{0} reshape(%p)>
    >>> ((indexing,),) = reshape.input_to_output().indexing
    >>> print(indexing)
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """

    analysis: ModuleAnalysis
    instruction: Instruction

    def output_to_input(
        self, output: int = 0, *, physical_layout: bool = False, linear_offsets: bool = False
    ) -> InstructionIndexing:
        """Maps from a result to the elements of the operands: see :func:`ops.output_to_input`."""
        question = Question(Direction.OUTPUT_TO_INPUT, output, physical_layout, linear_offsets)
        return self.analysis.findings.answer(self.instruction, question).of(self.instruction)

    def input_to_output(
        self,
        input: int | str | Instruction = 0,  # noqa: A002 - the name of the thing
        *,
        physical_layout: bool = False,
        linear_offsets: bool = False,
    ) -> InstructionIndexing:
        """Maps from an operand to the elements of the results: see :func:`ops.input_to_output`."""
        number = calls.operand_number("input_to_output", self.instruction, input)
        question = Question(Direction.INPUT_TO_OUTPUT, number, physical_layout, linear_offsets)
        return self.analysis.findings.answer(self.instruction, question)

    def fusion_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Maps from a result to every instruction: see :func:`ops.fusion_indexing`."""
        flow = self.analysis.findings.flows[Direction.OUTPUT_TO_INPUT]
        return slice_from(flow, self.instruction, output)

    def parameter_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Maps from a result to parameters: see :func:`ops.parameter_indexing`."""
        flow = self.analysis.findings.flows[Direction.OUTPUT_TO_INPUT]
        return parameters_from(flow, self.instruction, output)

    def parameters_reached(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """The parameters of :meth:`parameter_indexing`, each unknown or not, without the maps."""
        flow = self.analysis.findings.flows[Direction.OUTPUT_TO_INPUT]
        return calls.by_instruction(flow.reach((self.instruction, output)))

    def __repr__(self) -> str:
        return f"<analysis of {self.instruction.definition}>"

    def _repr_html_(self) -> str:
        pairs = [*islice(_pairs(self), MAX_ROWS + 1)]
        answers = (f"<p>{title}</p>{answer._repr_html_()}" for title, answer in pairs[:MAX_ROWS])
        rest = "<p>and more</p>" if len(pairs) > MAX_ROWS else ""
        nothing = "" if pairs else "<p>depends on nothing</p>"
        return f"<div><p>{escape(repr(self))}</p>{''.join(answers)}{rest}{nothing}</div>"


# HTML for notebooks.

_COLUMNS: Final = ("computation", "instruction", "opcode", "shape")


def _pairs(part: InstructionAnalysis) -> Iterator[tuple[str, AnyDependence]]:
    """A title for each result and operand that it needs, and the answer."""
    instruction = part.instruction
    outputs = instruction.shape.array_indices
    for output in outputs:
        result = f"result {output}" if len(outputs) > 1 else "result"
        for number, answer in enumerate(part.output_to_input(output).indexing):
            if answer != ():
                name = escape(instruction.operands[number].name)
                yield f"{result} to operand {number}, %{name}", answer.simplify()
