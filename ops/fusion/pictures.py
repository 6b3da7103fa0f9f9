"""A fusion as a picture: the graph of its instructions, and the elements that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap
from indexing.layout import Shape
from indexing.pictures import svg
from indexing.pictures.access_picture import (
    AccessPicture,
    Choices,
    PlaneChoice,
    Position,
    chosen_points,
    formula_of,
    grid_of_results,
)
from indexing.pictures.svg import Panel, Picture
from ops.analysis.dataflow import Array
from ops.analysis.queries import output_to_input
from ops.dependence.dependence import AnyDependence
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion.fusion import Fusion, FusionError
from ops.hlo.module import Instruction
from ops.rules.rule import Unknown
from simplifier.errors import INTEGER, check_type, listed, quoted

MAX_INSTRUCTIONS: Final = 60
"""More do not fit on a page: those next to the root are shown."""

_MAX_MAP: Final = 48
"""Characters of a map above its reader."""

_BOX: Final = 56
"""The height of an instruction: its maps, its name and shape, its opcode."""

_LAYER: Final = 96
"""From the top of a layer to that of the next."""

_BESIDE: Final = 24
_SWEEPS: Final = 4


class ReadOperand(NamedTuple):
    """An operand that an instruction reads, and the maps to it in short."""

    operand: Instruction
    maps: str


@dataclass(frozen=True, slots=True, repr=False)
class FusionGraph(Picture):
    """The instructions of a fusion, the reads of each, and notes on those left out.

    ``print`` lists them; notebooks show a graph with operands above their readers.
    """

    title: str
    reads: Mapping[Instruction, tuple[ReadOperand, ...]]
    notes: tuple[str, ...] = ()

    def panels(self) -> Iterator[Panel]:
        """A graph of layers, with the maps where an edge meets its reader."""
        drawn = _GraphDrawing(self.reads)
        yield Panel(drawn.width, drawn.height, tuple(drawn.elements()))
        yield svg.paragraphs(self.notes, "label")

    def __str__(self) -> str:
        lines = [self.title]
        for instruction, reads in self.reads.items():
            listed = ", ".join(f"%{read.operand.name} {read.maps}" for read in reads)
            head = f"{_title(instruction)} {instruction.opcode}"
            lines.append(f"{head} <- {listed}" if reads else head)
        return "\n".join([*lines, *self.notes])


def fusion_graph(of: Fusion | Instruction) -> FusionGraph:
    """Reads of each instruction of a fusion, with the maps from its result to its operands.

    Of a fusion instruction, the body is shown; of a map the results, since its dimensions are those
    of the reader.

    Raises:
        ArgumentError: ``of`` is of another kind.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e { p = f32[4,6] parameter(0)
    ...   t = f32[6,4] transpose(p), dimensions={1,0}
    ...   ROOT line = f32[24] reshape(t) }''')
    >>> print(fusion_graph(Fusion.of_computation(module.entry)))
    fusion of %e that reads %p
    %line f32[24] reshape <- %t (d0 floordiv 4, d0 mod 4)
    %t f32[6,4] transpose <- %p (d1, d0)
    %p f32[4,6] parameter
    """
    fusion = Fusion.of(of)
    inside = [*reversed(fusion.instructions)]
    outside = [each for each in fusion.operands if each not in inside]
    shown = [*inside, *outside][:MAX_INSTRUCTIONS]
    left_out = len(inside) + len(outside) - len(shown)
    reads = {each: tuple(_reads(each, fusion, shown)) for each in shown}
    notes = (f"{left_out} more instructions are left out.",) if left_out else ()
    return FusionGraph(str(fusion), reads, notes)


def _reads(
    instruction: Instruction, fusion: Fusion, shown: Sequence[Instruction]
) -> Iterator[ReadOperand]:
    """The shown operands that an instruction of a fusion reads."""
    if instruction.parameter_number is not None or instruction not in fusion:
        return
    answers = output_to_input(instruction, registry=fusion.registry).indexing
    for operand, answer in zip(instruction.operands, answers, strict=True):
        if operand in shown:
            yield ReadOperand(operand, _in_short(answer))


def _in_short(answer: AnyDependence) -> str:
    """The results of the only map; how many there are, or that nothing is known."""
    if isinstance(answer, Unknown):
        return "unknown"
    if len(answer.indexings) != 1:
        return f"{len(answer.indexings)} maps" if answer.indexings else "not needed"
    written = formula_of(answer.indexings[0].map)
    return written if len(written) <= _MAX_MAP else f"{written[: _MAX_MAP - 4]} ...)"


def _title(instruction: Instruction, shape: Shape | None = None) -> str:
    """The name with the shape of all or of one of its arrays."""
    return f"%{instruction.name} {(shape or instruction.shape).text(layout=False)}"


# Drawing: layers from operands to readers. An edge over several layers has a place in each.

_Place: TypeAlias = "Instruction | int"
"""An instruction; or, where an edge passes, the number of the place."""


class _InstructionBox(NamedTuple):
    """Position of a place of a layer."""

    x: float
    y: float
    width: float


class _GraphDrawing:
    """The graph in layers, ordered so that few edges cross."""

    def __init__(self, reads: Mapping[Instruction, tuple[ReadOperand, ...]]) -> None:
        self._reads = reads
        self._from_operands = [*reads][::-1]
        self._ways: list[tuple[list[_Place], Instruction, int]] = []
        layers = self._layers()
        self._order(layers)
        self._boxes = self._placed(layers)
        self.width = max((box.x + box.width for box in self._boxes.values()), default=0)
        self.height = len(layers) * _LAYER - (_LAYER - _BOX)

    def _layers(self) -> list[list[_Place]]:
        """The layers; an instruction lies above all that reads it, and next to one of these."""
        upwards: dict[Instruction, int] = {}
        for each in self._reads:
            after = (upwards[user] + 1 for user in each.users if user in upwards)
            upwards[each] = max(after, default=0)
        last = max(upwards.values(), default=-1)
        layers: list[list[_Place]] = [[] for _ in range(last + 1)]
        for each in self._from_operands:
            layers[last - upwards[each]].append(each)
        passing = count()
        for each in self._from_operands:
            for number, read in enumerate(self._reads[each]):
                between = range(last - upwards[read.operand] + 1, last - upwards[each])
                middle = [next(passing) for _ in between]
                for layer, place in zip(between, middle, strict=True):
                    layers[layer].append(place)
                self._ways.append(([read.operand, *middle, each], each, number))
        return layers

    def _order(self, layers: list[list[_Place]]) -> None:
        """Order each layer by the middle of its neighbours, downwards and upwards in turn."""
        near: dict[_Place, list[_Place]] = {}
        for way, *_ in self._ways:
            for upper, lower in pairwise(way):
                near.setdefault(lower, []).append(upper)
                near.setdefault(upper, []).append(lower)
        for ordered in (layers, layers[::-1]) * _SWEEPS:
            for layer, neighbours in pairwise(ordered):
                _sort(neighbours, near, layer)

    def _placed(self, layers: Sequence[Sequence[_Place]]) -> dict[_Place, _InstructionBox]:
        widths = [[self._width(place) for place in layer] for layer in layers]
        totals = [sum(layer) + _BESIDE * (len(layer) - 1) for layer in widths]
        boxes: dict[_Place, _InstructionBox] = {}
        for number, layer in enumerate(layers):
            x = (max(totals) - totals[number]) / 2
            for place, width in zip(layer, widths[number], strict=True):
                boxes[place] = _InstructionBox(x, number * _LAYER, width)
                x += width + _BESIDE
        return boxes

    def _width(self, place: _Place) -> float:
        if isinstance(place, int):
            return 0
        maps = sum(svg.text_width(read.maps, "label") + 12 for read in self._reads[place])
        return max(maps, svg.text_width(_title(place)) + 16)

    def elements(self) -> Iterator[str]:
        """Edges, then boxes."""
        for way in self._ways:
            yield from svg.path([self._curve(*way)], "way")
        for place, box in self._boxes.items():
            if not isinstance(place, int):
                yield from self._drawn(place, box)

    def _curve(self, way: Sequence[_Place], reader: Instruction, number: int) -> str:
        """From below the operand to the map of its reader; straight past the layers between."""
        first, *middle, last = (self._boxes[place] for place in way)
        x, y = first.x + first.width / 2, first.y + _BOX
        commands = [f"M{x:.7g} {y:.7g}"]
        for box in middle:
            commands += [_bend(x, y, box.x, box.y), f"V{box.y + _BOX:.7g}"]
            x, y = box.x, box.y + _BOX
        return "".join([*commands, _bend(x, y, self._port(reader, number), last.y)])

    def _port(self, reader: Instruction, number: int) -> float:
        """Point where an edge meets its reader: above the middle of its map."""
        box = self._boxes[reader]
        return box.x + box.width * (number + 0.5) / len(self._reads[reader])

    def _drawn(self, instruction: Instruction, box: _InstructionBox) -> Iterator[str]:
        reads = self._reads[instruction]
        kind = "source" if not reads else "box"
        yield svg.element("path", d=svg.rectangle(box.x, box.y, box.width, _BOX), class_=kind)
        for number, read in enumerate(reads):
            yield svg.text(self._port(instruction, number), box.y + 14, read.maps, "map", "middle")
        middle = box.x + box.width / 2
        yield svg.text(middle, box.y + 33, _title(instruction), "", "middle")
        yield svg.text(middle, box.y + 49, instruction.opcode, "label", "middle")


def _bend(x: float, y: float, next_x: float, next_y: float) -> str:
    """A curve that leaves and arrives upright."""
    half = (y + next_y) / 2
    return "C" + " ".join(f"{each:.7g}" for each in (x, half, next_x, half, next_x, next_y))


def _sort(
    layer: list[_Place], near: Mapping[_Place, Sequence[_Place]], fixed: Sequence[_Place]
) -> None:
    """Order a layer by the middle of near places in a neighbouring layer, whose order is fixed."""
    rank = {place: number / len(fixed) for number, place in enumerate(fixed)}
    own = {place: number / len(layer) for number, place in enumerate(layer)}

    def middle(place: _Place) -> float:
        ranks = [rank[each] for each in near.get(place, ()) if each in rank]
        return sum(ranks) / len(ranks) if ranks else own[place]

    layer.sort(key=middle)


# Elements of everything in a fusion that some elements of a result need, as a row of grids.


def access_picture(
    of: Fusion | Instruction,
    at: Choices = (),
    *,
    output: int = 0,
    planes: Mapping[str, PlaneChoice] | None = None,
    parameters: Mapping[str, int] | None = None,
) -> AccessPicture:
    """The elements of everything inside a fusion, and of its operands, that its result needs.

    ``at`` chooses the elements of the result: a number or a ``range`` for each dimension. Without
    it, all are chosen. Each map to an array counts once, so an element that two paths read in the
    same way is read once. Of a fusion instruction, its body is shown. Scalars are left out.
    ``planes`` says by names of instructions what is shown of more than two dimensions, as for
    :meth:`indexing.IndexingMap.picture`. ``parameters`` are numbers for the sizes that are known
    only when the program runs, by the names that the maps have for them.

    Raises:
        FusionError, ShapeError, HloTextError: as :meth:`Fusion.indexing`.
        FusionError: a size of this kind has no number.
        MapError: as :meth:`indexing.IndexingMap.picture`.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e { p = f32[2,6] parameter(0)
    ...   t = f32[6,2] transpose(p), dimensions={1,0}
    ...   ROOT line = f32[12] reshape(t) }''')
    >>> print(access_picture(Fusion.of_computation(module.entry), at=[range(2, 7)]))
    %line at d0 in [2, 6]
    %line f32[12]: 5 of 12 elements
    %t f32[6,2]: 5 of 12 elements, read once
    %p f32[2,6]: 5 of 12 elements, read once
    """
    fusion = Fusion.of(of)
    root, number = _result(fusion, output)
    chosen = _planes(fusion, {} if planes is None else planes)
    needed = fusion.indexing(root, number)
    points = chosen_points(IndexingMap.identity(root.shape.arrays[number].dimensions), at)
    first = _title(root, root.shape.arrays[number])
    grids = [points.grid(first, chosen.get(root.name, ()))]
    notes = dict[str, None]()
    inside = [each for each in reversed(fusion.instructions) if each not in fusion.operands]
    for instruction in (*inside, *fusion.operands):
        if instruction not in needed or instruction is root or not instruction.shape.dimensions:
            continue
        title = _title(instruction)
        answer = needed[instruction]
        if isinstance(answer, Unknown):
            notes[f"{title}: {answer.reason}"] = None
            continue
        maps = [_with_numbers(each, title, parameters or {}) for each in answer.indexings]
        if any(each.runtime for each in maps):
            notes["Values known at run time are taken as the least that they can be."] = None
        counts: Counter[Position] = Counter()
        for each in maps:
            counts.update(chosen_points(each, at).results)
        plane = chosen.get(instruction.name, ())
        grid, outside = grid_of_results(title, instruction.shape.dimensions, counts, plane)
        grids.append(grid)
        notes.update(dict.fromkeys(outside))
    return AccessPicture(f"%{root.name}{points.words}", tuple(grids), tuple(notes))


def _result(fusion: Fusion, output: int) -> Array:
    check_type(output, INTEGER, "access_picture: output", "the number of a result")
    results = fusion.results
    if not 0 <= output < len(results):
        raise FusionError(f"access_picture: output is {output}; expected one of {len(results)}")
    return results[output]


def _planes(fusion: Fusion, planes: Mapping[str, PlaneChoice]) -> Mapping[str, PlaneChoice]:
    check_type(planes, Mapping, "access_picture: planes", "indices by names of instructions")
    names = dict.fromkeys(each.name for each in (*fusion.instructions, *fusion.operands))
    for name in planes:
        if name not in names:
            message = f"access_picture: planes name {quoted(name)}"
            raise FusionError(f"{message}; expected some of {listed(names)}")
    return planes


def _with_numbers(indexing: OperandIndexing, title: str, numbers: Mapping[str, int]) -> IndexingMap:
    """The map with numbers in place of its parameters."""
    names = [each.name for each in indexing.map.parameters]
    missing = [name for name in names if name not in numbers]
    if missing:
        example = ", ".join(f"{name!r}: 8" for name in missing)
        message = f"access_picture: the maps to {title} depend on {listed(missing)}"
        raise FusionError(f"{message}; expected numbers, as parameters={{{example}}}")
    return indexing.map.substitute({name: numbers[name] for name in names})
