"""A fusion as a kernel of Triton: each program computes a tile of a result.

A dimension of a result is an axis of the tile, and a reduction folds along one, so that a value has
only the axes that it needs. Neighbours in memory are neighbours along an axis: loads and stores
are of vectors, and a transpose goes through a tile that has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from itertools import product as cartesian_product
from math import gcd, prod
from typing import Final

from indexing.code import LocalNames, LoopBlock, helpers_in, is_narrow
from indexing.layout import Shape
from indexing.passes import Constraint, Ends
from ops.analysis.dataflow import Array
from ops.fusion import Fusion
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import neutral_element
from ops.index_maps import Extent, Size, as_form, in_order, plain, product
from ops.kernels import elements, tiles
from ops.kernels.array_kernels import ArrayWriter
from ops.kernels.elements import Index, Steps, shape_of
from ops.kernels.operations import TRITON
from ops.kernels.tiles import (
    BlockAxis,
    ReadParts,
    TiledPart,
    TileShape,
    WantedTiles,
    greatest,
    is_ragged,
    power_above,
    runs,
    width_beside,
)
from simplifier import forms
from simplifier.forms import AtomKind, Form, Interval, constant, variable, variables_of

_UNROLLED: Final = 32
"""The most iterations of loops that Triton unrolls."""

_CALLED: Final = ("float", "libdevice", "range")
_LIBDEVICE: Final = "from triton.language.extra import libdevice"
_NAME: Final = re.compile(r"[^\W\d]\w*")
_NUMBER: Final = re.compile(r"tl\.full\(\(\), (.*), tl\.\w+\)")


class TritonKernel(ArrayWriter):
    """Writes one fusion in Triton."""

    def __init__(self, fusion: Fusion, name: str, wanted: WantedTiles | None = None) -> None:
        told = (f"{name}_programs", f"{name}_warps")
        names = LocalNames(TRITON.language, [*_CALLED, *TRITON.helpers, name, *told])
        super().__init__(fusion, TRITON, names)
        self._name = name
        self._wanted = wanted
        """The tiles that are asked for; else they are planned."""
        self._axes: dict[LoopBlock, BlockAxis] = {}
        """The axes of tiles, by the blocks whose last variable goes along them."""
        self._inner: dict[LoopBlock, dict[object, LoopBlock]] = {}
        """The blocks in blocks that have the same lines, or are closed last."""
        self._heads: dict[LoopBlock, tuple[Sequence[str], Sequence[str]]] = {}
        """What begins a block that has its own lines: those around it, and its first ones."""
        scalars = (*self.pointers.values(), *(each.name for each in self.sizes.arguments))
        self._shapes: dict[str, TileShape] = dict.fromkeys(scalars, TileShape())
        """The shapes of what has names."""
        self._masked: dict[str, frozenset[str]] = {}
        """The masks of what is loaded in the last line."""
        self._folds: dict[Computation, tuple[str, list[str]]] = {}
        """The functions that fold, by what they compute."""
        self._programs: Size = 1
        self._rank = 1
        """The most axes that a result has."""
        self._largest = self._pieces = 1
        """The elements of the largest tile that is loaded or stored, and how often it has lines."""

    def text(self) -> str:
        """The whole text."""
        name = self._name
        results = self.named_results()
        plans = {pointer: self._plan(array) for pointer, array in results.items()}
        top = self.sizes.top()
        top.lines += self._arguments_in_their_types(top)
        counts = [product(each.programs for each in plan) for plan in plans.values()]
        most = forms.maximum(as_form(each) for each in counts)
        self._programs = plain(top.simplified(most))
        self._rank = max(map(len, plans.values()))
        for pointer, plan in sorted(plans.items(), key=lambda each: -len(each[1])):
            self._write_result(top, plan, pointer, results[pointer])
        self._close_all(top)
        given = [*self.pointers.values(), *results, *(each.name for each in self.sizes.arguments)]
        told = self.sizes.comments(self.dialect.language)
        body = ["@triton.jit", f"def {name}({', '.join(given)}):", *_indented(top.lines)]
        functions = [lines for _, lines in self._folds.values()]
        written = [line for lines in (*functions, body) for line in lines]
        known = {**self.dialect.language.helpers, **self.dialect.helpers}
        helpers = [[text] for text in helpers_in(written, known)]
        uses_libdevice = any("libdevice." in line for line in written)
        head = [*self.dialect.language.head, *([_LIBDEVICE] if uses_libdevice else [])]
        blocks = [head, *helpers, *functions, [*told, *body], self._launch()]
        return "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n"

    def _arguments_in_their_types(self, top: LoopBlock) -> Iterator[str]:
        """Lines that widen sizes, to which Triton gives the type of a value, and say what divides.

        So rows whose length is a multiple of four begin where a vector of four may. Triton sees
        that in a product, but not in ``tl.multiple_of`` an argument.
        """
        divisors = {
            atom.arguments[0].single_variable(): atom.divisor
            for form, interval in top.constraints
            if (atom := form.only_atom) is not None and atom.kind is AtomKind.MOD
            if interval == Interval(0, 0)
        }
        for number, each in enumerate(self.sizes.arguments):
            value = top.language.cast.format(each.name, type=top.type_of(each.bounds))
            divisor = divisors.get(f"d{number}", 1)
            value = f"{value} // {divisor} * {divisor}" if divisor > 1 else value
            yield top.language.statement.format(name=each.name, value=value)

    def _launch(self) -> list[str]:
        """The lines that say how many warps a program has, and how many programs there are.

        The programs are a number, or a function of sizes.
        """
        name, programs = f"{self._name}_programs", self._programs
        lines = [f"{self._name}_warps = {tiles.warps_for(self._pieces * self._largest)}"]
        if isinstance(programs, int):
            return [f"{name} = {programs}", *lines]
        return [*lines, "", "", *self.sizes.python_function(name, programs)]

    # Results.

    def _write_result(
        self, top: LoopBlock, plan: Sequence[TiledPart], pointer: str, array: Array
    ) -> None:
        """Writes a tile of a result, in blocks that results of the same tiles share."""
        counts = [each.programs for each in plan]
        block, tile = self._program(top, counts)
        counters: dict[int, Form] = {}
        order = sorted(range(len(plan)), key=lambda each: plan[each].is_looped)
        for number in order:
            place = sum(each.width > 1 for each in plan[number + 1 :])
            is_first = all(each.width == 1 for each in plan[:number])
            places = range(place, self._rank if is_first else place + 1)
            block, counters[number] = self._along(block, plan[number], places, tile[number])
        self._pieces = max(self._pieces, prod(len(part.pieces) for part in plan))
        for pieces in cartesian_product(*(part.pieces for part in plan)):
            moved = [piece + each for piece, each in zip(pieces, in_order(counters), strict=True)]
            self._store(block, pointer, array, self._index_along(array, plan, moved, block))

    def _index_along(
        self, array: Array, parts: Sequence[TiledPart], counters: Sequence[Form], block: LoopBlock
    ) -> Index:
        """The index of an element that has a place along each part."""
        places: dict[tuple[int, ...], Form] = {}
        for part, counter in zip(parts, counters, strict=True):
            known = places.get(part.dimensions, constant(0))
            places[part.dimensions] = known + counter * part.stride
        index: dict[int, Form] = {}
        for dimensions, place in places.items():
            index |= self.index_of(array, place, block, dimensions)
        return in_order(index)

    def _program(self, top: LoopBlock, counts: Sequence[Size]) -> tuple[LoopBlock, list[Form]]:
        """The block of programs that count tiles, and the numbers of the tiles."""
        total = plain(top.simplified(as_form(product(counts))))
        if total == self._programs == 1:
            return top, [constant(0)] * len(counts)
        place = forms.variable(f"d{len(top.variables)}")
        key = tuple(each for each in counts if each != 1)
        inner = self._inner.setdefault(top, {}).get(key)
        if inner is None:
            inner, _ = self.looped(top, total, "program")
            self._inner[top][key] = inner
            (text,) = top.texts([as_form(total)])
            name = inner.variables[-1].name
            line = f"{name} = {_program_in_bits(inner.variables[-1].bounds)}"
            if total == self._programs:
                inner.lines = top.lines
                top.lines.append(line)
            else:
                self._heads[inner] = (line, f"if {name} < {text}:"), ()
        return inner, elements.digits(place, counts, inner)

    def _along(
        self, block: LoopBlock, part: TiledPart, places: Sequence[int], number: Form
    ) -> tuple[LoopBlock, Form]:
        """The block of a tile along a part of a result, and the counter along it.

        An axis of another result that has one of some places is shared; a new one has the first.
        """
        if part.size in (0, 1) or part.is_unrolled:
            return block, constant(0)
        if part.width == 1 and not part.is_looped:
            return block, number
        counter = forms.variable(f"d{len(block.variables)}")
        keys = [(part.size, part.width, number, place) for place in places]
        known = self._inner.setdefault(block, {})
        inner = next((known[key] for key in keys if key in known), None)
        if inner is None:
            wish = f"d{part.dimensions[0]}"
            start = None if part.is_looped else number * part.width
            inner, _ = self._axis(block, part.size, part.width, wish, places[0], start)
            known[keys[0]] = inner
        return inner, counter

    def _store(self, block: LoopBlock, pointer: str, array: Array, index: Index) -> None:
        index = tuple(map(block.simplified, index))
        value = self.value(array, index, block)
        offset = self.offset(array, index, block)
        place, shape = self._place(pointer, offset, block, self._shapes[value])
        mask = self._mask_text(self._masks_along(offset, block), shape, block)
        value = self._shapes[value].raised(value, shape.rank)
        block.lines.append(f"tl.store({place}, {value}{mask})")

    def _close_all(self, block: LoopBlock) -> None:
        """Adds the lines of blocks in a block that have their own."""
        for inner in self._inner.get(block, {}).values():
            self._close_all(inner)
            if inner.lines is not block.lines:
                self.close_loop(block, inner, "")

    def close_loop(self, block: LoopBlock, inner: LoopBlock, pragma: str) -> None:
        """Adds the lines of a block behind what begins it, if these are not there already."""
        if inner in self._heads:
            head, first = self._heads[inner]
            block.lines += [*head, *_indented([*first, *inner.lines])]
        elif inner.lines is not block.lines:
            super().close_loop(block, inner, pragma)
            if self._iterations(inner) <= _UNROLLED:
                head = len(block.lines) - len(inner.lines) - 1
                block.lines[head] = block.lines[head].replace("range(", "tl.static_range(")

    def _iterations(self, block: LoopBlock) -> int:
        """How often a block in plain loops runs in a tile."""
        sizes = [
            tiles.UNBOUNDED if each.steps else each.variables[-1].bounds.size or tiles.UNBOUNDED
            for each in block.outward()
            if each.parent and not each.asked and each not in self._heads
            if each.lines is not each.parent.lines
        ]
        return prod(sizes)

    # Axes.

    def _axis(
        self,
        block: LoopBlock,
        size: Size,
        width: int,
        wish: str,
        place: int,
        start: Form | None = None,
    ) -> tuple[LoopBlock, Form]:
        """A block along an axis from a start on, or in a loop over all tiles."""
        inner, counter = self.looped(block, size, wish)
        name = inner.variables[-1].name
        if width == 1 and start is None:
            (limit,) = block.texts([as_form(size)])
            self._heads[inner] = (f"for {name} in range({limit}):",), ()
            return inner, counter
        is_whole = start is not None and greatest(size, block) <= width
        if start is not None:
            inner.lines = block.lines
        first, lines = self._start_of(block, inner, size, width, start)
        new = "" if not place else f"[:{', None' * place}]"
        lines.append(f"{name} = {first}tl.arange(0, {width}){new}")
        mask = ""
        if is_ragged(size, width):
            mask = self.names.fresh("is_inside")
            (limit,) = block.texts([as_form(size)])
            lines.append(f"{mask} = {name} < {limit}")
        axis = self._axes[inner] = BlockAxis(place, width, size, is_whole, mask)
        for each in filter(None, (name, mask)):
            self._shapes[each] = TileShape(frozenset([axis]), place + 1)
        return inner, counter

    def _start_of(
        self, block: LoopBlock, inner: LoopBlock, size: Size, width: int, start: Form | None
    ) -> tuple[str, list[str]]:
        """The text in front of the first tile's indices, and the lines that these go to."""
        if start is not None:
            (text,) = block.texts([block.simplified(start)])
            return "" if text == "0" else f"{text} + ", block.lines
        name = self.names.fresh("start")
        self._shapes[name] = TileShape()
        (limit,) = block.texts([as_form(size)])
        lines: list[str] = []
        self._heads[inner] = (f"for {name} in range(0, {limit}, {width}):",), lines
        return f"{name} + ", lines

    def _axis_for(
        self, block: LoopBlock, size: Size, index: Index
    ) -> tuple[LoopBlock, Form] | None:
        """A whole axis of so many elements that the index does not move along."""
        used = self._shape_along(index, block).axes
        for each in block.outward():
            name = f"d{len(each.variables) - 1}"
            if each.asked:
                break
            axis = self._axes.get(each)
            if axis is not None and axis not in used and axis.has_all(size):
                return block, forms.variable(name)
        left = [block]
        while left:
            for inner in self._inner.get(left.pop(0), {}).values():
                if inner.lines is not block.lines:
                    continue
                if inner in self._axes and self._axes[inner].has_all(size):
                    return inner, forms.variable(f"d{len(inner.variables) - 1}")
                left.append(inner)
        return None

    def _axes_in(self, block: LoopBlock) -> dict[str, BlockAxis]:
        """The axes around a block, by their variables."""
        return {
            f"d{len(each.variables) - 1}": self._axes[each]
            for each in block.outward()
            if each in self._axes
        }

    # Shapes.

    def _shape_along(self, index: Iterable[Form], block: LoopBlock) -> TileShape:
        """The shape of what has these variables."""
        found = TileShape()
        for used in variables_of(index):
            found |= self._shapes.get(block.variables[int(used[1:])].name, TileShape())
        return found

    def _shape_of(self, text: str, block: LoopBlock) -> TileShape:
        """The shape of an expression."""
        found = TileShape()
        for name in _NAME.findall(text):
            if name in self._shapes or name in self.names.taken:
                found |= self._shape_of_name(name, block)
        return found

    def _shape_of_name(self, name: str, block: LoopBlock) -> TileShape:
        if name not in self._shapes:
            start = f"{name} = "
            lines = (line for each in block.outward() for line in reversed(each.lines))
            line = next((each for each in lines if each.startswith(start)), start)
            self._shapes[name] = TileShape()
            self._shapes[name] = self._shape_of(line.removeprefix(start), block)
        return self._shapes[name]

    def named(self, source: Instruction, block: LoopBlock, text: str) -> str:
        """A name for a value of an instruction."""
        return self._shaped(super().named(source, block, text), text, block)

    def declared(self, source: Instruction, array: Shape, block: LoopBlock, text: str) -> str:
        """A name for a value that changes."""
        return self._shaped(super().declared(source, array, block, text), text, block)

    def _shaped(
        self, name: str, text: str, block: LoopBlock, shape: TileShape | None = None
    ) -> str:
        """A name, whose shape is remembered: that of a text unless one is given."""
        self._shapes[name] = self._shape_of(text, block) if shape is None else shape
        return name

    def _line(self, source: Instruction, block: LoopBlock, text: str, shape: TileShape) -> str:
        """A name for a value on the way to that of an instruction."""
        name = self.names.fresh(source.name)
        block.lines.append(f"{name} = {text}")
        return self._shaped(name, text, block, shape)

    # Elements.

    def loaded(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        """The name of elements of an operand."""
        offset = self.offset((source, 0), index, block)
        masks = self._masks_along(offset, block)
        if not self._is_inside_everywhere(source, index, block):
            masks += [self.masks[each] for each in block.outward() if each in self.masks]
        wanted = TileShape()
        for each in masks:
            wanted |= self._shape_of_name(each, block)
        place, shape = self._place(self.pointers[source], offset, block, wanted)
        text = f"tl.load({place}{self._mask_text(masks, shape, block)})"
        template = self.dialect.loaded.get(source.shape.element_type, "{0}")
        name = self._shaped(super().named(source, block, template.format(text)), "", block, shape)
        self._masked = {name: frozenset(masks)} if template == "{0}" else {}
        return name

    def _is_inside_everywhere(self, source: Instruction, index: Index, block: LoopBlock) -> bool:
        """Whether an operand has this element also where the conditions around do not hold."""
        asked = [each for each in block.outward() if each.asked]
        if not asked:
            return True
        free = asked[-1].parent or block
        if not free.knows(index) or self.sizes.may_be_empty((source, 0)):
            return False
        ends = zip(index, self.sizes.of((source, 0)), strict=True)
        return all(
            free.holds((free.simplified(form), Interval(0, None)))
            and free.holds((free.simplified(form - as_form(size)), Interval(None, -1)))
            for form, size in ends
        )

    def _masks_along(self, offset: Form, block: LoopBlock) -> list[str]:
        """The masks of the axes that an offset moves along."""
        used = self._shape_along((offset,), block).axes
        axes = [*self._axes_in(block).values()]
        return [axis.mask for axis in reversed(axes) if axis in used and axis.mask]

    def _place(
        self, pointer: str, offset: Form, block: LoopBlock, wanted: TileShape
    ) -> tuple[str, TileShape]:
        """Pointers to elements, at least of a shape, and their shape."""
        (text,) = block.texts([offset])
        place = pointer if text == "0" else f"{pointer} + {text}"
        shape = self._shape_along((offset,), block)
        self._largest = max(self._largest, (shape | wanted).elements)
        return shape.spread(place, wanted), shape | wanted

    def _mask_text(self, masks: Sequence[str], shape: TileShape, block: LoopBlock) -> str:
        """The argument that says which elements are wanted."""
        if not masks:
            return ""
        own = TileShape()
        for each in masks:
            own |= self._shape_of_name(each, block)
        return f", mask={own.raised(' & '.join(masks), shape.rank)}"

    def known_as(
        self, block: LoopBlock, text: str, extent: Extent, wish: str
    ) -> tuple[LoopBlock, Form]:
        """The block that knows an integer for each element of a tile."""
        inner, form = super().known_as(block, text, extent, wish)
        self._shaped(inner.variables[-1].name, text, block)
        return inner, form

    # Conditions.

    def condition(self, facts: Sequence[Constraint], block: LoopBlock) -> str:
        """The text of a question: what is asked along one axis is asked first."""
        alike: dict[frozenset[str], list[Constraint]] = {}
        for row in facts:
            alike.setdefault(frozenset(variables_of(row[:1])), []).append(row)
        asked = [super(TritonKernel, self).condition(rows, block) for rows in alike.values()]
        return " & ".join(f"({each})" for each in asked) if asked[1:] else asked[0]

    def assign(self, block: LoopBlock, values: Mapping[str, str]) -> None:
        """Gives names new values, where the mask of a block is true."""
        mask = self.masks.get(block, "")
        for name, value in values.items():
            text = self._chosen_by([mask] if mask else [], value, name, block)
            block.lines.append(f"{name} = {text}")
            self._shaped(name, text, block)

    def _chosen_by(self, masks: Sequence[str], value: str, other: str, block: LoopBlock) -> str:
        """One value where all masks are true, and another elsewhere: of a load, if it is the last.

        Elements outside of other masks may have any value.
        """
        if not masks:
            return value
        line = block.lines[-1] if block.lines else ""
        if self._masked.get(value, frozenset()).issuperset(masks) and line.startswith(f"{value} ="):
            own, shape = self._shapes[value], self._shape_of(other, block)
            if own | shape == own:
                number = _NUMBER.fullmatch(other)
                text = number[1] if number else shape.raised(other, own.rank)
                block.lines[-1] = f"{line[:-1]}, other={text})"
                self._masked = {}
                return value
        return f"tl.where({' & '.join(masks)}, {value}, {other})"

    # Reductions.

    def reduced_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> Steps[list[str] | None]:
        """The reduced elements by folds along axes; windows are short, and loops."""
        found = self.map_of(source, 0)
        if source.opcode != "reduce" or not found.ranges:
            return None
        operation, computation = elements.operation_of(source), source.attributes["to_apply"]
        nothing = yield self._nothing(source, operation, block)
        inner, counters, axes = self._along_ranges(source, index, block)
        point = (*index, *counters)
        body = self.guarded(inner, self.asked(found, point, inner))
        inputs = source.operands[: len(nothing)]
        values = yield self.elements(inputs, self.applied(found, point), body)
        masks = [*filter(None, (self.masks.get(body), *(axis.mask for axis in axes)))]
        pairs = zip(values, nothing, strict=True)
        values = [self._chosen_by(masks, value, other, body) for value, other in pairs]
        self.close(body, inner)
        rank = max((axis.place + 1 for axis in axes), default=0)
        wanted = TileShape(frozenset(axes), rank)
        if inner.lines is not block.lines:
            shape = wanted | self._shape_along(index, block)
            partial = [
                self._line(source, block, TileShape().spread(each, shape), shape)
                for each in nothing
            ]
            self.combine(source, computation, partial, values, inner)
            values = partial
        self.close(inner, block)
        shapes = [self._shape_of(each, block) for each in values]
        whole = wanted
        for each in shapes:
            whole |= each
        values = [shape.spread(each, whole) for shape, each in zip(shapes, values, strict=True)]
        for axis in sorted(axes, key=lambda each: -each.place):
            values, whole = self._folded_along(source, block, values, axis, whole)
        return [(yield self.from_start(source, operation, values[0], block)), *values[1:]]

    def _nothing(self, source: Instruction, operation: str, block: LoopBlock) -> Steps[list[str]]:
        """The neutral element of a fold, which XLA demands of the start, too."""
        if not operation:
            starts = source.operands[len(source.operands) // 2 :]
            return (yield self.elements(starts, (), block))
        element_type = source.shape.element_type
        return [self.dialect.number(neutral_element(operation, element_type), element_type)]

    def _along_ranges(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> tuple[LoopBlock, list[Form], list[BlockAxis]]:
        """A block along all that is reduced, the index of it, and the axes.

        Neighbours in memory go along one axis. The last ones have all their elements in the tile
        as long as it is not too large.
        """
        extents = self.ranges_of(self.map_of(source, 0))
        numbers = self._ranges_by_dimension(source)
        sizes = {each: size_of(extents[number]) for each, number in numbers.items()}
        held = prod(axis.width for axis in self._shape_along(index, block).axes)
        groups = self._neighbours(source, sizes)
        wanted = self._wanted and self._wanted.along(source)
        if wanted:
            groups = [run for each in groups for run in runs(each, wanted, sizes)]
        widths: list[tuple[Size, int, int | None]] = []
        for group in reversed(groups):
            size = product(sizes[each] for each in group)
            most = greatest(size, block)
            width = width_beside(held, most)
            if wanted:
                width = power_above(prod(wanted[each] for each in group))
            held *= width
            widths.append((size, width, 0 if most <= width else None))
        counters: dict[int, Form] = {}
        axes: list[BlockAxis] = []
        for group, each in zip(groups, reversed(widths), strict=True):
            used = (*index, *counters.values())
            block, counter = self._along_range(block, *each, used)
            digits = elements.digits(counter, [sizes[each] for each in group], block)
            counters |= zip((numbers[each] for each in group), digits, strict=True)
            around = self._axes_in(block)
            axes += [around[name] for name in variables_of((counter,)) if name in around]
        return block, [*in_order(counters)], axes

    def _along_range(
        self, block: LoopBlock, size: Size, width: int, start: int | None, used: Index
    ) -> tuple[LoopBlock, Form]:
        """A block along what is reduced: an axis that is there already, or a new one."""
        if size == 1:
            return block, constant(0)
        known = self._axis_for(block, size, used)
        if known is not None:
            return known
        taken = {axis.place for axis in self._axes_in(block).values()}
        place = next(each for each in count() if each not in taken)
        begin = None if start is None else constant(start)
        inner, counter = self._axis(block, size, width, "s0", place, begin)
        if start is not None:
            self._inner.setdefault(block, {})["s", size] = inner
        return inner, counter

    def _ranges_by_dimension(self, source: Instruction) -> dict[int, int]:
        """The numbers of the ranges of a reduction, by the dimensions of what it reduces."""
        found = self.map_of(source, 0)
        names = [*found.domain.identifiers[len(found.dims) :]]
        used = enumerate(form.single_variable() for form in found.forms)
        return {dimension: names.index(name) for dimension, name in used if name in names}

    def _neighbours(self, source: Instruction, sizes: Mapping[int, Size]) -> list[list[int]]:
        """The dimensions that are reduced, the major ones first, those together that are one."""
        groups: list[list[int]] = []
        last = -1
        for dimension in elements.major_first(source.operands[0].shape):
            if dimension in sizes and last in sizes:
                groups[-1].append(dimension)
            elif dimension in sizes:
                groups.append([dimension])
            last = dimension
        return groups

    def _folded_along(
        self,
        source: Instruction,
        block: LoopBlock,
        values: Sequence[str],
        axis: BlockAxis,
        shape: TileShape,
    ) -> tuple[list[str], TileShape]:
        """Values of a shape, folded along an axis, and their shape then."""
        fold = self._fold(source, source.attributes["to_apply"])
        number = shape.rank - 1 - axis.place
        kept = ", keep_dims=True" if number else ""
        left = TileShape(shape.axes - {axis}, shape.rank - (not number))
        given = values[0] if len(values) == 1 else f"({', '.join(values)})"
        totals = [self._shaped(self.names.fresh(source.name), "", block, left) for _ in values]
        block.lines.append(f"{', '.join(totals)} = tl.reduce({given}, {number}, {fold}{kept})")
        return totals, left

    def accumulator(
        self, source: Instruction, array: Shape, index: Index, block: LoopBlock, start: str
    ) -> str:
        """A name for a value that a loop changes, but not its shape."""
        shape = self._shape_along(index, block)
        text = self._shape_of(start, block).spread(start, shape)
        return self._shaped(super().declared(source, array, block, text), "", block, shape)

    def combine(
        self,
        source: Instruction,
        computation: Computation,
        totals: Sequence[str],
        values: Sequence[str],
        block: LoopBlock,
    ) -> None:
        """Folds values into totals; those outside of a mask change nothing."""
        operation, mask = elements.operation_of(source), self.masks.get(block, "")
        if not (operation and mask):
            super().combine(source, computation, totals, values, block)
            return
        element_type = source.shape.element_type
        nothing = self.dialect.number(neutral_element(operation, element_type), element_type)
        chosen = [self._chosen_by([mask], each, nothing, block) for each in values]
        results = self.folded(source, computation, [*totals, *chosen], block)
        block.lines += [f"{name} = {value}" for name, value in zip(totals, results, strict=True)]

    def _fold(self, source: Instruction, computation: Computation) -> str:
        """The name of the function that folds two values, or two tuples."""
        if computation not in self._folds:
            name = self.names.fresh(computation.name)
            given = [self.names.fresh(each.name) for each in computation.parameters]
            self._shapes |= dict.fromkeys((name, *given), TileShape())
            block = LoopBlock(self.names)
            results = self.folded(source, computation, given, block)
            lines = [*block.lines, f"return {', '.join(results)}"]
            head = ["@triton.jit", f"def {name}({', '.join(given)}):"]
            self._folds[computation] = name, [*head, *_indented(lines)]
        return self._folds[computation][0]

    # Plans: which part of a result is a tile, and what goes along the rest of it.

    def _plan(self, array: Array) -> tuple[TiledPart, ...]:
        """The parts of a result, the major ones first, with the tiles of a program."""
        if self._wanted is not None:
            return (*self._parts_in(array, self._wanted.of(array)),)
        parts = self._parts(array)
        most = [greatest(each.size, self.sizes.top()) for each in parts]
        return tiles.planned(parts, most, self._reads(array, parts))

    def _parts_in(self, array: Array, tile: Mapping[int, int]) -> Iterator[TiledPart]:
        """The parts of a result, with tiles that have so many elements along each dimension."""
        sizes = dict(enumerate(self.sizes.of(array)))
        for group in self.joined_dimensions(array):
            for run in runs(group, tile, sizes):
                if tile[run[0]] == sizes[run[0]]:
                    for part in self._parts_of(array, run):
                        most = greatest(part.size, self.sizes.top())
                        yield replace(part, width=1 if part.is_unrolled else power_above(most))
                else:
                    width = power_above(prod(tile[each] for each in run))
                    yield TiledPart((*run,), product(sizes[each] for each in run), 1, width)

    def _parts(self, array: Array) -> list[TiledPart]:
        """The dimensions of a result, those together that all that is read is dense along."""
        whole = elements.major_first(shape_of(array))
        groups = [whole] if self._is_flat(array) else self.joined_dimensions(array)
        return [part for group in groups for part in self._parts_of(array, group)]

    def _parts_of(self, array: Array, group: Sequence[int]) -> list[TiledPart]:
        """Dimensions of a result that lie in memory as one, or the digits of one of them.

        A dimension of few equal pieces, each computed in its own way, has a digit that counts them.
        """
        sizes = self.sizes.of(array)
        size = product(sizes[each] for each in group)
        piece = self._piece_of(array, group[0]) if len(group) == 1 else 0
        if isinstance(size, int) and piece >= tiles.SQUARE and piece < size <= tiles.PIECES * piece:
            pieces = TiledPart((*group,), size // piece, piece, is_unrolled=True)
            return [pieces, TiledPart((*group,), piece, 1)]
        split = self.split(array, group, size)
        return [TiledPart((*group,), size, stride) for size, stride in split]

    def _is_flat(self, array: Array) -> bool:
        """Whether a result of any sizes is read element by element, in the order of its memory."""
        if not self.sizes.arguments:
            return False
        top = self.sizes.top(LocalNames(self.dialect.language))
        block, place = self.looped(top, product(self.sizes.of(array)), "i")
        index = in_order(self.index_of(array, place, block))
        reads = [
            (source, self.offset((source, 0), point, inner))
            for source, point, inner in self.sources_of(array, index, block)
            if source in self.pointers or source.opcode == "iota"
        ]
        return self.offset(array, index, block) == place and all(
            source.opcode != "iota" and read in (place, forms.ZERO) for source, read in reads
        )

    def _piece_of(self, array: Array, dimension: int) -> int:
        """The size of equal pieces of a dimension in which no map ends; 0 if there are none."""
        if self.sizes.arguments or not self.is_computed(array):
            return 0
        ends = [
            bounds
            for dependence in self.fusion.indexing(*array).values()
            for each in dependence.indexings
            for bounds in (each.map.dims[dimension].bounds,)
        ]
        return gcd(
            shape_of(array).dimensions[dimension],
            *(each.lower or 0 for each in ends),
            *((each.upper or 0) + 1 for each in ends),
        )

    def _reads(self, array: Array, parts: Sequence[TiledPart]) -> ReadParts:
        """Where a result is neighbours in memory, and what is reduced."""
        top = self.sizes.top(LocalNames(self.dialect.language))
        probe, counters = self.nested(top, {k: each.size or 1 for k, each in enumerate(parts)})
        numbers = {f"d{len(top.variables) + number}": number for number in counters}
        index = self._index_along(array, parts, [*counters.values()], probe)
        offsets = [(self.offset(array, index, probe), probe)]
        kept, reduced = set[str](), 1
        for source, point, block in self.sources_of(array, index, probe):
            if source in self.pointers:
                offsets.append((self.offset((source, 0), point, block), block))
            elif source.opcode == "reduce":
                kept.update(variables_of(point))
                ranges = map(size_of, self.ranges_of(self.map_of(source, 0)))
                reduced = max(reduced, greatest(product(ranges), block))
        moved = [{*variables_of((each,))} - self.sizes.identifiers for each, _ in offsets]
        lengths = [
            prod(greatest(variable(name), block) + 1 for name in names)
            for names, (_, block) in zip(moved, offsets, strict=True)
        ]
        close = {
            name
            for (offset, _), length in zip(offsets, lengths, strict=True)
            for name in _dense_along(offset)
            if length == max(lengths)
        }
        near, decides = (
            frozenset(numbers[name] for name in names if name in numbers) for names in (close, kept)
        )
        return ReadParts(near, decides, reduced)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{TRITON.language.indent}{line}" for line in lines]


def _dense_along(offset: Form) -> Iterator[str]:
    """The variables whose neighbours are neighbours in memory."""
    for atom, step in offset.terms.items():
        if atom.kind is AtomKind.VARIABLE and abs(step) == 1:
            yield atom.name


def size_of(extent: Extent) -> Size:
    """Number of values of a range that begins at 0."""
    if isinstance(extent, Ends):
        return plain((extent.upper or constant(0)) + 1)
    return extent.size or 0 if isinstance(extent, Interval) else 0


def _program_in_bits(values: Interval) -> str:
    """The number of a program, in as many bits as the values computed from it need."""
    return "tl.program_id(0)" if is_narrow(values) else "tl.program_id(0).to(tl.int64)"
