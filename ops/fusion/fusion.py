"""A fused unit as a value: some instructions that run as one, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from math import prod
from typing import Final

import simplifier
from indexing import IndexSet, MapError, Tile, TileError
from indexing.layout import UNBOUNDED_SIZE, ArrayShape
from ops import limits
from ops.analysis.calls import arrays_of, by_instruction, check_output, union_of
from ops.analysis.dataflow import Array
from ops.analysis.queries import output_to_input
from ops.dependence.dependence import NOTHING, AnyDependence, Unknown
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion.reads import Reads, reads_of
from ops.fusion.slicing import Provenance, Region, backward_slice, forward_slice, provenance_of
from ops.hlo.module import INSTRUCTION, Computation, Instruction, name_of_array
from ops.rules.registry import REGISTRY, Registry, check_registry
from ops.rules.rule import if_known, known
from simplifier.errors import (
    INTEGER,
    ArgumentError,
    IndexingError,
    check_integers,
    check_type,
    listed,
)
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.tools.display import AnswerDict, AnswerTuple, Displayed, html_of_table, in_one_line
from simplifier.tools.late import sympy


class FusionError(IndexingError, ValueError):
    """Error for instructions that are no fusion, or a question about one that is not in it."""


@dataclass(frozen=True, slots=True, repr=False)
class Fusion(Displayed):
    """Instructions of one computation that run as one, whether the program says so or not.

    What they call is looked through, nested fusions as well as loops and choices.

    Attributes:
        instructions: in their order in the computation.
        roots: those whose results are the results of the fusion.
        registry: what is known of operations.

    Raises:
        FusionError: there are no instructions, they are of several computations, or there is no
            root among them.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   n = f32[20,20] negate(p)
    ...   ROOT sum = f32[20,20] add(n, t)
    ... }''')
    >>> p, t, n, sum = module.entry.instructions
    >>> fusion = Fusion.of_pair(t, sum)
    >>> print(fusion)
    fusion of %t, %sum that reads %p, %n
    >>> for indexing in fusion.indexing()[p]:
    ...     print(indexing)
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
    """

    instructions: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    registry: Registry = REGISTRY
    _region: Region = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for each in self.instructions:
            check_type(each, Instruction, "fusion: an instruction", INSTRUCTION)
        check_registry("fusion", self.registry)
        computations = dict.fromkeys(each.computation for each in self.instructions)
        if len(computations) != 1:
            given = f"instructions of {_names(computations)}" if computations else "no instructions"
            raise FusionError(f"fusion: {given} are given; expected some of one computation")
        object.__setattr__(self, "_region", Region(self.instructions, self.registry))
        if not self.roots or not self._region.members.issuperset(self.roots):
            message = f"fusion: {_names(self.roots)} are its roots"
            raise FusionError(f"{message}; expected some of {_names(self.instructions)}")

    @classmethod
    def of(cls, given: Fusion | Instruction) -> Fusion:
        """One kernel: a fusion itself, the body of a fusion instruction, or one other instruction.

        >>> from ops import hlo
        >>> print(Fusion.of(hlo.parse("ENTRY e { p = f32[2] parameter(0) }").entry.root))
        fusion of %e that reads %p
        """
        if isinstance(given, Fusion):
            return given
        check_type(given, Instruction, "fusion", "a fusion or an instruction")
        if given.opcode == "fusion":
            return cls.of_computation(given.attributes["calls"])
        return cls.of_instruction(given)

    @classmethod
    def of_computation(cls, computation: Computation, *, registry: Registry = REGISTRY) -> Fusion:
        """A whole computation: of a fusion instruction, of a loop, or the entry."""
        check_type(computation, Computation, "fusion: the computation", "one of a module")
        return cls(computation.instructions, (computation.root,), registry)

    @classmethod
    def of_instruction(cls, instruction: Instruction, *, registry: Registry = REGISTRY) -> Fusion:
        """One instruction with all that it calls; its operands lie outside."""
        return cls((instruction,), (instruction,), registry)

    @classmethod
    def of_pair(
        cls, producer: Instruction, consumer: Instruction, *, registry: Registry = REGISTRY
    ) -> Fusion:
        """A producer fused into one of its consumers: it is computed again for the others.

        Raises:
            FusionError: the consumer does not read the producer.
        """
        check_type(consumer, Instruction, "fusion: the consumer", INSTRUCTION)
        check_type(producer, Instruction, "fusion: the producer", INSTRUCTION)
        if producer not in consumer.operands:
            raise FusionError(f"fusion: %{consumer.name} does not read %{producer.name}")
        return cls((producer, consumer), (consumer,), registry)

    @classmethod
    def of_instructions(
        cls, instructions: Iterable[Instruction], *, registry: Registry = REGISTRY
    ) -> Fusion:
        """Any instructions of one computation.

        Its results are the arrays that others read or that the computation gives; if there are
        none, those that none of these instructions reads.

        Raises:
            FusionError: there are none, or they are of several computations.
        """
        members = _in_order(instructions)
        return cls(members, _roots(members), registry)

    @property
    def computation(self) -> Computation:
        """The computation that the instructions are of."""
        return self.instructions[0].computation

    @property
    def operands(self) -> tuple[Instruction, ...]:
        """The operands: parameters among the instructions by number, then instructions outside.

        >>> from ops import hlo
        >>> text = "ENTRY e { b = f32[] parameter(1) a = f32[] parameter(0) r = f32[] add(a, b) }"
        >>> [operand.name for operand in Fusion.of_computation(hlo.parse(text).entry).operands]
        ['a', 'b']
        """
        members = self._region.members
        parameters = [each for each in self.instructions if each.parameter_number is not None]
        parameters.sort(key=lambda each: each.parameter_number or 0)
        read = (operand for each in self.instructions for operand in each.operands)
        return (*parameters, *dict.fromkeys(each for each in read if each not in members))

    @property
    def results(self) -> tuple[Array, ...]:
        """Each array of the roots, with its number in a tuple, counted through nested tuples."""
        return tuple(arrays_of(self.roots))

    def indexing(
        self, start: Instruction | str | None = None, output: int = 0, *, minimal: bool = False
    ) -> dict[Instruction, AnyDependence]:
        """Maps from an element of ``start`` to the elements that it needs of everything it reaches.

        From array ``output`` of the result of ``start``, by default of the only root, the maps to
        each instruction that it depends on, down to :attr:`operands`. Each set holds every map
        once, in its smallest form; ``start`` itself has the identity. Of a tuple, ``element`` tells
        which array is meant. ``start`` may be of a computation that is called, and then stands for
        all runs of it. With ``minimal``, maps go that another map to the same array contains.

        Raises:
            FusionError: ``start`` is not in the fusion; or there are several roots, and it is not
                said which one is meant.
            ShapeError: it has no such array.
            HloTextError: what a rule of the user answers does not fit an instruction.

        Source:
            XLA's ``ComputeGroupedOutputToInputIndexing``.
        """
        found = by_instruction(union_of(backward_slice(self._array(start, output), self._region)))
        if not minimal:
            return found
        return AnswerDict((key, each.simplify().minimal()) for key, each in found.items())

    def indexing_of_results(self) -> dict[Array, dict[Instruction, AnyDependence]]:
        """The answers of :meth:`indexing` from each of the :attr:`results`.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { p = f32[2,3] parameter(0)
        ...   t = f32[3,2] transpose(p), dimensions={1,0}
        ...   inner = (f32[3,2]) tuple(t)
        ...   ROOT all = (f32[2,3], (f32[3,2])) tuple(p, inner) }''')
        >>> answers = Fusion.of_computation(module.entry).indexing_of_results()
        >>> for (root, output), answer in answers.items():
        ...     print(root.name, output, *answer[module.entry.parameters[0]])
        all 0 (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]
        all 1 (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
        """
        return AnswerDict((result, self.indexing(*result)) for result in self.results)

    def why(
        self,
        target: Instruction | str,
        start: Instruction | str | None = None,
        output: int = 0,
        *,
        most: int = limits.MAX_PATHS,
    ) -> tuple[Provenance, ...]:
        """Along which instructions the maps to ``target`` were made.

        One :class:`Provenance` for each of the maps of :meth:`indexing`, with all paths counted
        and the shortest listed, so many at ``most``. Costs about what the analysis itself does,
        however many paths there are.

        Raises:
            FusionError, ShapeError, HloTextError: as :meth:`indexing`.

        >>> from ops import hlo
        >>> levels = "".join(f'''a{n} = f32[8] negate(x{n}) b{n} = f32[8] abs(x{n})
        ...   x{n + 1} = f32[8] add(a{n}, b{n}) ''' for n in range(1000))
        >>> module = hlo.parse(f"ENTRY e {{ x0 = f32[8] parameter(0) {levels} }}")
        >>> (found,) = Fusion.of_computation(module.entry).why(module.entry.parameters[0], most=0)
        >>> print(found)
        (d0) -> (d0), domain: d0 in [0, 7]
          and at least 2**1000 more
        """
        found = self._found(target)
        region = self._region.towards(found)
        return provenance_of(found, self._array(start, output), region, most)

    def reads(
        self,
        target: Instruction | str,
        start: Instruction | str | None = None,
        output: int | None = None,
        *,
        element: int = 0,
    ) -> Reads | Unknown:
        """Number of times that elements of ``target`` are read, or computed if it is in the fusion.

        By array ``output`` of ``start``, as for :meth:`indexing`; without either, by all
        :attr:`results`: those of one operation at once, others each on its own. ``element`` says
        which array of the target is meant.

        Raises:
            FusionError, ShapeError, HloTextError: as :meth:`indexing`.
        """
        array = self._array(self._found(target), element)
        is_any = start is None and output is None
        starts = self.results if is_any else (self._array(start, output or 0),)
        return reads_of([array], starts, self._region.towards(array[0]))[array]

    def reads_of_operands(
        self, starts: Sequence[Array] | None = None
    ) -> dict[Array, Reads | Unknown]:
        """The answers of :meth:`reads` for each array of the :attr:`operands`, by all results.

        Or by some arrays that are evaluated instead.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
        ...   ROOT d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
        >>> found = Fusion.of_instruction(module.entry.root).reads_of_operands()
        >>> for (operand, _), reads in found.items():
        ...     print(operand.name, reads.histogram())
        x {2: 32}
        y {4: 16}
        """
        return self._reads_of_all(self.operands, self.results if starts is None else starts)

    def reads_inside(self) -> dict[Array, Reads | Unknown]:
        """The answers of :meth:`reads` for each array of the instructions, by all results.

        Of what is in the fusion, they say how often each element is computed.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { v = f32[8] parameter(0) e = f32[8] exponential(v)
        ...   ROOT b = f32[4,8] broadcast(e), dimensions={1} }''')
        >>> found = Fusion.of_computation(module.entry).reads_inside()
        >>> print(*(f"%{each.name}: {reads.total()}" for (each, _), reads in found.items()))
        %v: 32 %e: 32 %b: 32
        """
        return self._reads_of_all(self.instructions, self.results)

    def _reads_of_all(
        self, instructions: Iterable[Instruction], starts: Sequence[Array]
    ) -> dict[Array, Reads | Unknown]:
        every = arrays_of(instructions)
        arrays = [(each, number) for each, number in every if each.shape.arrays[number].is_array]
        return reads_of(arrays, starts, self._region)

    def epilogue(
        self, hero: Instruction | str, root: Instruction | str | None = None, output: int = 0
    ) -> AnyDependence:
        """Maps from an element of the hero's result to the elements of a root that need it.

        The hero is the instruction that a kernel is made for; the epilogue is what users make of
        its result. From array ``output`` of ``hero``, one map for each different chain of users,
        in its smallest form; the identity if the hero is the root. ``element`` tells which array of
        the root is meant. The hero may be of a computation that is called.

        Raises:
            FusionError, ShapeError, HloTextError: as :meth:`indexing`.

        Source:
            XLA's ``ComputeEpilogueInputToOutputIndexing``.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { p = f32[8,8] parameter(0)
        ...   hero = f32[8,8] transpose(p), dimensions={1,0}
        ...   line = f32[64] reshape(hero)
        ...   ROOT log = f32[64] log(line) }''')
        >>> fusion = Fusion.of_computation(module.entry)
        >>> print(*fusion.epilogue(module.entry.instructions[1]))
        (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]
        """
        end = self._one_root() if root is None else self._found(root)
        frames = forward_slice(self._array(self._found(hero), output), self._region)
        return by_instruction(union_of(frames)).get(end, NOTHING)

    def hero_inputs(
        self, hero: Instruction | str, root: Instruction | str | None = None, output: int = 0
    ) -> tuple[AnyDependence, ...]:
        """Maps from an element of a root to the elements of each operand of the hero.

        These are read for the hero; what else the root needs of an operand is not in them.

        Raises:
            FusionError, ShapeError, HloTextError: as :meth:`indexing`.
        """
        made = self._found(hero)
        wanted = union_of(backward_slice(self._array(root, output), self._region))
        inputs: list[AnyDependence] = [NOTHING] * len(made.operands)
        for number in made.shape.array_indices:
            found = output_to_input(made, number, registry=self.registry).indexing
            for operand, dependence in enumerate(found):
                more = wanted.get((made, number), NOTHING).compose(dependence)
                inputs[operand] = inputs[operand].union(more)
        return tuple(inputs)

    def __contains__(self, instruction: Instruction) -> bool:
        """Whether it is one of the instructions, or of a computation that they call."""
        return instruction in self._region

    def __repr__(self) -> str:
        return f"<{in_one_line(str(self))}>"

    def _repr_html_(self) -> str:
        rows = (
            (
                f"%{each.name}",
                each.shape.text(layout=False),
                each.opcode,
                ", ".join(f"%{operand.name}" for operand in each.operands),
            )
            for each in self.instructions
        )
        heading = ("instruction", "shape", "opcode", "operands")
        return html_of_table(heading, rows, title=str(self), total=len(self.instructions))

    def __str__(self) -> str:
        is_whole = self.instructions == self.computation.instructions
        members = [self.computation] if is_whole else self.instructions
        return f"fusion of {_names(members)} that reads {_names(self.operands)}"

    def _one_root(self) -> Instruction:
        if len(self.roots) != 1:
            raise FusionError(f"fusion: {_names(self.roots)} are its roots; say which one is meant")
        return self.roots[0]

    def _array(self, start: Instruction | str | None, output: int) -> Array:
        """The array that a question begins at."""
        instruction = self._one_root() if start is None else self._found(start)
        check_type(output, INTEGER, "fusion: the number of the array", "an integer")
        check_output(instruction, output)
        return instruction, output

    def _found(self, given: Instruction | str) -> Instruction:
        """An instruction of the fusion, or one that it reads; by name, if it is of its computation.

        Raises:
            FusionError: it is another one.
        """
        found = self.computation[given] if isinstance(given, str) else given
        check_type(found, Instruction, "fusion: the instruction", f"{INSTRUCTION}, or its name")
        if found not in self and found not in self.operands:
            raise FusionError(f"fusion: %{found.name} is neither in it nor read")
        return found


def by_producer(
    instruction: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, AnyDependence]:
    """Maps from an element of a result to the elements of each operand that it needs.

    What :func:`ops.output_to_input` says, in the smallest form, with the maps of all operands that
    are the same instruction in one set; each map stands there once.

    Raises:
        ShapeError: there is no such output.
        HloTextError: what a rule of the user answers does not fit an instruction.

    Source:
        XLA's ``GroupIndexingMapsByProducers``.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[4,4] parameter(0) ROOT r = f32[4,4] dot(p, p), "
    >>> text += "lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
    >>> root = hlo.parse(text).entry.root
    >>> for indexing in by_producer(root)[root.operands[0]]:
    ...     print(indexing)
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]
    """
    answers = output_to_input(instruction, output, registry=registry).indexing
    together: AnswerDict[Instruction, AnyDependence] = AnswerDict()
    for operand, answer in zip(instruction.operands, answers, strict=True):
        together[operand] = together.get(operand, NOTHING).union(answer.simplify())
    return together


def _in_order(instructions: Iterable[Instruction]) -> tuple[Instruction, ...]:
    """The instructions, each once, as their computations list them."""
    check_type(instructions, Iterable, "fusion: instructions", "a list of instructions")
    by_computation: dict[Computation, dict[Instruction, None]] = {}
    for each in instructions:
        check_type(each, Instruction, "fusion: an instruction", INSTRUCTION)
        by_computation.setdefault(each.computation, {})[each] = None
    lists = (sorted(one, key=_positions(of).__getitem__) for of, one in by_computation.items())
    return tuple(chain.from_iterable(lists))


@lru_cache(maxsize=limits.MAX_REMEMBERED_COMPUTATIONS)
def _positions(computation: Computation) -> Mapping[Instruction, int]:
    """Positions of the instructions of a computation, found once for all questions."""
    return {each: position for position, each in enumerate(computation.instructions)}


def _roots(members: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """The members wanted outside; or those that no member reads, if none is."""
    inside = frozenset(members)
    roots = tuple(each for each in members if each.is_root or not inside.issuperset(each.users))
    return roots or tuple(each for each in members if inside.isdisjoint(each.users))


def _names(named: Iterable[Instruction | Computation]) -> str:
    return listed([f"%{each.name}" for each in named])


# Reasons of an instruction for its reads: each map to an operand, and the paths behind it.

FEW_PATHS: Final = 3
"""Paths that are listed for each map unless somebody wants more."""


@dataclass(frozen=True, slots=True, repr=False)
class Reason(Displayed):
    """One map from a result of an instruction to elements that it needs, with its paths.

    Attributes:
        instruction: whose result it is.
        output: the number of the array in the result.
        target: what is needed.
        provenance: the map, and the paths of instructions.
    """

    instruction: Instruction
    output: int
    target: Instruction
    provenance: Provenance

    @property
    def indexing(self) -> OperandIndexing | Unknown:
        """The map with its notes; or why there is none."""
        return self.provenance.indexing

    def __str__(self) -> str:
        head = f"result {self.output} of " if self.instruction.shape.is_tuple else ""
        return f"{head}%{self.instruction.name} needs %{self.target.name}: {self.provenance}"


def why(
    instruction: Instruction,
    target: Instruction | None = None,
    *,
    element: Sequence[int] | None = None,
    needed: Sequence[int] | None = None,
    paths: int = FEW_PATHS,
    registry: Registry = REGISTRY,
) -> AnswerTuple[Reason]:
    """Reasons why an instruction needs elements that it reads: along which instructions.

    Of each operand, by itself; or of a ``target`` in the same computation, on all ways that lead
    there. One reason for each map, with so many of the shortest ``paths``. With the index of an
    ``element`` of the result, or of an element that is ``needed``, only the maps that relate them.

    Raises:
        ArgumentError: an argument is of another kind, or there is no element of this index.
        FusionError: the target is in another computation.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for reason in why(module["sum"], module["p"], element=(3, 4), needed=(4, 3)):
    ...     print(reason)
    %sum needs %p: (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
      %p <- %t transpose <- %sum add
    """
    check_type(instruction, Instruction, "why: the instruction", INSTRUCTION)
    if target is None:
        fusion = Fusion.of_instruction(instruction, registry=registry)
        targets = fusion.operands
    else:
        check_type(target, Instruction, "why: the target", INSTRUCTION)
        fusion, targets = _between(instruction, target, registry), (target,)
    _check_index(element, (instruction,), "element")
    if needed is not None:
        _check_index(needed, targets, "needed element")
    reasons = (one for each in targets for one in _reasons(fusion, instruction, each, paths))
    return AnswerTuple(reason for reason in reasons if _relates(reason, element, needed))


def _between(instruction: Instruction, target: Instruction, registry: Registry) -> Fusion:
    """The instructions that a path may lead through."""
    home = instruction.computation
    if target.computation is not home:
        message = f"why: %{target.name} is in %{target.computation.name}"
        raise FusionError(f"{message}; expected an instruction of %{home.name}")
    return Fusion.of_computation(home, registry=registry)


def _reasons(
    fusion: Fusion, instruction: Instruction, target: Instruction, paths: int
) -> Iterator[Reason]:
    for output in instruction.shape.array_indices:
        if fusion.indexing(instruction, output).get(target, NOTHING) != NOTHING:
            for found in fusion.why(target, instruction, output, most=paths):
                yield Reason(instruction, output, target, found)


def _relates(reason: Reason, element: Sequence[int] | None, needed: Sequence[int] | None) -> bool:
    """Whether the map may relate two elements; true if nobody can tell."""
    indexing = reason.indexing
    if isinstance(indexing, Unknown):
        return True
    result = reason.instruction.shape.arrays[reason.output]
    operand = reason.target.shape.arrays[indexing.element]
    if not has_element(element, result) or not has_element(needed, operand):
        return False
    found = indexing.map
    if element is not None:
        found = found.restrict(_point(element))
    if needed is not None:
        found = found.restrict_results(_point(needed))
    try:
        return not found.is_empty()
    except (NotQuasiAffineError, BudgetError):
        return True


def _point(index: Iterable[int]) -> IndexSet:
    return IndexSet.box(*((each, each) for each in index))


def has_element(index: Sequence[int] | None, shape: ArrayShape) -> bool:
    """Whether an array has an element of this index; without one it may be any."""
    if index is None:
        return True
    return _is_index(index, shape.dimensions if shape.is_array else ())


def _is_index(index: Sequence[int], sizes: Sequence[int]) -> bool:
    pairs = zip(index, sizes, strict=False)
    return len(index) == len(sizes) and all(0 <= each < size for each, size in pairs)


def _check_index(index: Sequence[int] | None, of: Sequence[Instruction], what: str) -> None:
    if index is not None:
        check_integers(index, f"why: the {what}")
    if not any(has_element(index, shape) for each in of for shape in each.shape.arrays):
        given = f"why: the {what} is {tuple(index or ())}"
        places = [f"{shape} of %{each.name}" for each in of for shape in each.shape.arrays]
        raise ArgumentError(f"{given}; expected an index in {listed(places) or 'none'}")


# Reads of each operand by a tile of a result, as formulas over the tile and as elements.


@dataclass(frozen=True, slots=True, repr=False)
class TileRead(Displayed):
    """Elements of an array that a tile of a result needs along one map.

    Attributes:
        instruction: whose result it is.
        output: the number of the array in the result.
        operand: what is read.
        sizes: of the tile of the result.
        indexing: the map with its notes; or why there is none.
        tile: which part of the operand it is, over the tile ids ``t0, t1, ...``; or why no
            progressions of indices are this part.
    """

    instruction: Instruction
    output: int
    operand: Instruction
    sizes: tuple[int, ...]
    indexing: OperandIndexing | Unknown
    tile: Tile | TileError | Unknown

    @property
    def count(self) -> int | sympy.Expr | None:
        """Number of elements that a whole tile reads; ``None`` if tiles differ."""
        if not isinstance(self.tile, Tile) or self.tile.mask is not None:
            return None
        return prod(self.tile.sizes)

    def elements(self, ids: Sequence[int]) -> IndexSet:
        """The elements that the tile of these ids reads, whatever runtime values are.

        Raises:
            ArgumentError: there is no such tile.
            MapError: the map is unknown, or it has parameters.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { x = f32[8,6] parameter(0)
        ...   ROOT t = f32[6,8] transpose(x), dimensions={1,0} }''')
        >>> (read,) = reads(module["t"], (2, 4))
        >>> print(read.elements((2, 1)))
        (d0, d1): d0 in [4, 7], d1 in [4, 5]
        """
        shape = self.instruction.shape.arrays[self.output]
        check_integers(ids, "reads: the tile")
        if shape.is_unbounded:
            raise MapError(f"reads: the reads of {shape} depend on its sizes, which are parameters")
        tiles = [-(-size // tile) for size, tile in zip(shape.dimensions, self.sizes, strict=True)]
        if not _is_index(ids, tiles):
            below = f"ids below {', '.join(map(str, tiles))}" if tiles else "none"
            given = f"there is no tile {tuple(ids)} of {shape}"
            raise ArgumentError(f"reads: {given}; expected {below}")
        message = f"reads: the map to %{self.operand.name} is {self.indexing}"
        indexing = known(self.indexing, lambda _: MapError(message))
        rows = zip(ids, self.sizes, shape.dimensions, strict=True)
        box = ((id_ * size, min((id_ + 1) * size, end) - 1) for id_, size, end in rows)
        return indexing.map.apply(IndexSet.box(*box))

    def __str__(self) -> str:
        """The part of the operand as a slice, as the command ``reads`` prints it.

        >>> from ops import hlo
        >>> text = "ENTRY e { x = f32[8] parameter(0) "
        >>> text += "ROOT s = f32[4] slice(x), slice={[0:8:2]} }"
        >>> print(*reads(hlo.parse(text)["s"], (2,)))
        %x f32[8]: [t0 * 4:t0 * 4 + 3:2], 2 elements
        """
        is_whole = isinstance(self.indexing, Unknown) or not self.operand.shape.is_tuple
        name = name_of_array(self.operand, None if is_whole else self.indexing.element)
        if isinstance(self.tile, Tile):
            many = "" if self.count in {None, 1} else f", {self.count} elements"
            return f"{name}: {slice_text(self.tile)}{many}"
        is_refused = isinstance(self.tile, TileError)
        return f"{name}: {f'unknown ({self.tile})' if is_refused else self.tile}"


def slice_text(tile: Tile) -> str:
    """A tile as a slice of an array, where it is not masked."""
    rows = zip(tile.offsets, tile.sizes, tile.strides, strict=True)
    where = "" if tile.mask is None else f" where {simplifier.format_expr(tile.mask)}"
    return f"[{', '.join(_slice(*row) for row in rows)}]{where}"


def _slice(offset: sympy.Expr, size: sympy.Expr, stride: sympy.Expr) -> str:
    if size == sympy.S.One:
        return simplifier.format_expr(offset)
    end = offset + (size - 1) * stride + 1
    step = "" if stride == sympy.S.One else f":{simplifier.format_expr(stride)}"
    return f"{simplifier.format_expr(offset)}:{simplifier.format_expr(end)}{step}"


def reads(
    instruction: Instruction, sizes: Sequence[int] | None = None, *, registry: Registry = REGISTRY
) -> AnswerTuple[TileRead]:
    """Reads of its operands by each tile of the results of an instruction: one row a map.

    Maps by which each tile reads the same elements have one row, with the first of them. A tile has
    these ``sizes``, or that of the array where it is less; by default it is one element.
    An array without elements has no tiles.

    Raises:
        ArgumentError: an argument is of another kind, or no result has as many dimensions.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.load("examples/softmax.hlo")
    >>> for read in reads(module["ynn_fusion.1"], (1, 8, 128)):
    ...     print(read)
    %x.1 f32[8,16,128]: [t0, t1 * 8:t1 * 8 + 8, 0:128], 1024 elements
    >>> for read in reads(module["ynn_fusion.1"]):
    ...     print(read)
    %x.1 f32[8,16,128]: [t0, t1, t2]
    %x.1 f32[8,16,128]: [t0, t1, 0:128], 128 elements
    """
    check_type(instruction, Instruction, "reads: the instruction", INSTRUCTION)
    ranks = [shape.rank for shape in instruction.shape.arrays if shape.is_array]
    if sizes is not None:
        check_integers(sizes, "reads: the sizes")
        if len(sizes) not in ranks or any(size < 1 for size in sizes):
            message = f"reads: the sizes are {tuple(sizes)}"
            expected = f"expected a positive one for each dimension of {instruction.shape}"
            raise ArgumentError(f"{message}; {expected}, %{instruction.name}")
    return AnswerTuple(_reads(Fusion.of_instruction(instruction, registry=registry), sizes))


def _reads(kernel: Fusion, sizes: Sequence[int] | None) -> Iterator[TileRead]:
    for instruction, output in kernel.results:
        shape = instruction.shape.arrays[output]
        wanted = (1,) * shape.rank if sizes is None else tuple(sizes)
        if not shape.is_array or len(wanted) != shape.rank or 0 in shape.dimensions:
            continue
        bounds = zip(wanted, shape.dimensions, strict=True)
        given = tuple(size if end == UNBOUNDED_SIZE else min(size, end) for size, end in bounds)
        found = kernel.indexing(instruction, output)
        for operand in kernel.operands:
            answer = found.get(operand, NOTHING).simplify()
            rows: dict[object, TileRead] = {}
            for each in answer.only(lambda each: not each.map.is_known_empty).entries:
                tile = if_known(partial(_tile, given), each)
                is_tile = isinstance(tile, Tile)
                same = (tile.formulas, tile.tiles, tile.image, *each.notes()) if is_tile else each
                rows.setdefault(same, TileRead(instruction, output, operand, given, each, tile))
            yield from rows.values()


def _tile(sizes: Sequence[int], indexing: OperandIndexing) -> Tile | TileError:
    try:
        tile = indexing.map.tile(sizes)
    except TileError as error:
        return error
    return tile if tile.image is None else TileError("tile: no mask tells its elements")
