"""Dimensions that may be one loop: all that is read moves along them as along one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.layout import logical_to_linear
from ops.kernels.element_writer import array_of
from ops.kernels.indices import major_first
from ops.rules.op_indexing import Unknown
from simplifier import Interval
from simplifier.expr.form import AtomKind, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import ElementWriter


def joined_dimensions(
    writer: ElementWriter, source: Instruction, output: int = 0
) -> list[list[int]]:
    """The dimensions of an array, the major ones first; those that may be one loop together."""
    shape = array_of(source, output)
    if writer.sizes.arguments:  # they say only when the kernel runs whether dimensions join
        return [[dimension] for dimension in major_first(shape)]
    moves = [_Moves.of(each, shape) for each in _offsets(writer, source, output)]
    groups: list[list[int]] = []
    order = major_first(shape)
    for dimension in order:
        size = shape.dimensions[dimension]
        is_fit = dimension != order[-1] or all(each.is_dense(dimension) for each in moves)
        if groups and is_fit and all(each.joins(groups[-1][-1], dimension, size) for each in moves):
            groups[-1].append(dimension)
        else:
            groups.append([dimension])
    return groups


@dataclass(frozen=True, slots=True)
class _Moves:
    """How an offset moves with each dimension: by a multiple, or in another way."""

    steps: dict[str, int]
    others: frozenset[str]

    @classmethod
    def of(cls, offset: IndexingMap, shape: Shape) -> _Moves:
        sizes = enumerate(shape.dimensions)
        whole = {f"d{number}": Interval(0, size - 1) for number, size in sizes}
        (form,) = offset.forms
        plain = {
            atom.name: step for atom, step in form.terms.items() if atom.kind is AtomKind.VARIABLE
        }
        atoms = (atom for atom in form.terms if atom.kind is not AtomKind.VARIABLE)
        inner = [argument for atom in atoms for argument in atom.arguments]
        asked = [form for form, _ in offset.domain.constraints]
        bounds = offset.domain.bounds.items()
        cut = {name for name, each in bounds if name in whole and each != whole[name]}
        return cls(plain, frozenset(variables_of([*inner, *asked])) | cut)

    def is_dense(self, dimension: int) -> bool:
        """Whether neighbours are neighbours: else, compilers do better with a short inner loop."""
        return self.steps.get(f"d{dimension}", 0) in (0, 1)

    def joins(self, outer: int, inner: int, size: int) -> bool:
        """Whether a step of the outer dimension is as many of the inner one as that has."""
        names = f"d{outer}", f"d{inner}"
        first, second = (self.steps.get(name, 0) for name in names)
        return first == second * size and self.others.isdisjoint(names)


def _offsets(writer: ElementWriter, source: Instruction, output: int) -> Iterator[IndexingMap]:
    """Where in memory the element of an array lies, and all that it is computed from."""
    yield logical_to_linear(array_of(source, output))
    fusion = writer.fusion
    if source in writer.pointers or source not in fusion.instructions:
        return
    for read, dependence in fusion.indexing(source, output).items():
        is_index = read.opcode == "iota"
        if isinstance(dependence, Unknown) or not (is_index or read in writer.pointers):
            continue
        for each in dependence.indexings:
            if is_index:
                yield from map(each.map.select_results, ([k] for k in range(len(each.map.forms))))
            else:
                yield (logical_to_linear(read.shape) @ each.map).simplify()
