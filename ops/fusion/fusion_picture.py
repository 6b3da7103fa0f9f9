"""What some elements of a result need of everything in a fusion, as a row of grids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from indexing import IndexingMap
from indexing.pictures.access_picture import AccessPicture, chosen_points, grid_of_results
from indexing.pictures.element_grid import ElementGrid
from ops.fusion.fusion import Fusion, FusionError
from ops.rules.op_indexing import Unknown
from simplifier.errors import INTEGER, check_type, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.layout import Shape
    from indexing.pictures.access_picture import Choices
    from indexing.pictures.element_grid import PlaneChoice, Position
    from ops.analysis.dataflow import Array
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.hlo.module import Instruction


def access_picture(
    of: Fusion | Instruction,
    at: Choices = (),
    *,
    output: int = 0,
    planes: Mapping[str, PlaneChoice] | None = None,
    parameters: Mapping[str, int] | None = None,
) -> AccessPicture:
    """The elements of everything inside a fusion, and of what it reads, that its result needs.

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
    grids = [
        ElementGrid(
            first,
            points.sizes,
            points.dims,
            points.names,
            is_chosen=True,
            plane=chosen.get(root.name, ()),
        )
    ]
    notes = dict[str, None]()
    for instruction in _from_root(fusion, needed):
        if instruction is root or not instruction.shape.dimensions:
            continue
        title = _title(instruction, instruction.shape)
        answer = needed[instruction]
        if isinstance(answer, Unknown):
            notes[f"{title}: {answer.reason}"] = None
            continue
        indexings = [_with_numbers(each, title, parameters or {}) for each in answer.indexings]
        counts, more = _counted(indexings, at)
        plane = chosen.get(instruction.name, ())
        grid, outside = grid_of_results(title, instruction.shape.dimensions, counts, plane)
        grids.append(grid)
        notes.update(dict.fromkeys((*more, *outside)))
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


def _title(instruction: Instruction, shape: Shape) -> str:
    return f"%{instruction.name} {shape.text(layout=False)}"


def _from_root(
    fusion: Fusion, needed: Mapping[Instruction, AnyDependence]
) -> Iterator[Instruction]:
    """What is needed and lies in the fusion itself, from the root on; then what it reads."""
    inside = [each for each in reversed(fusion.instructions) if each not in fusion.operands]
    return (each for each in (*inside, *fusion.operands) if each in needed)


def _with_numbers(indexing: OperandIndexing, title: str, numbers: Mapping[str, int]) -> IndexingMap:
    """The map with numbers in place of its parameters."""
    names = [each.name for each in indexing.map.parameters]
    missing = [name for name in names if name not in numbers]
    if missing:
        example = ", ".join(f"{name!r}: 8" for name in missing)
        message = f"access_picture: the maps to {title} depend on {listed(missing)}"
        raise FusionError(f"{message}; expected numbers, as parameters={{{example}}}")
    return indexing.map.substitute({name: numbers[name] for name in names})


def _counted(maps: Iterable[IndexingMap], at: Choices) -> tuple[Counter[Position], list[str]]:
    """How often each element is read, and what is to be said of it."""
    counts: Counter[Position] = Counter()
    notes: list[str] = []
    for each in maps:
        points = chosen_points(each, at)
        counts.update(points.results)
        if each.runtime:
            notes.append("Values known at run time are taken as the least that they can be.")
    return counts, notes
