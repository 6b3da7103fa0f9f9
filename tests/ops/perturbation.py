"""What the maps of a computation say, compared with which results change with which elements.

The computation runs as a program of its own, on several sets of operands. In each of them one
element at a time becomes another one: no number, one far away, or the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from indexing.layout import Kind
from ops import REGISTRY, Unknown, fusion_indexing, input_to_output, output_to_input
from ops.builders.building import arrays_of
from tests.ops.oracle import dtype_of, program, same
from tests.ops.reach import every_element, numbers_of, reached, relation
from tests.ops.standalone import inputs_of, leading_to, shapes_of_inputs, standalone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout import Shape
    from ops import OperandIndexing, RuntimeOrigin
    from ops.analysis.answers import Answer
    from ops.hlo import Computation, HloModule, Instruction
    from tests.evaluation import Pair
    from tests.ops.reach import Array

Ways: TypeAlias = "tuple[OperandIndexing, ...]"


class UnknownMapError(Exception):
    """There is no map to compare with."""


@dataclass(frozen=True)
class Tally:
    """How array ``output`` of the result and array ``operand`` of the operands depend.

    Attributes:
        said: how many pairs of elements the maps relate.
        felt: in how many of these the one changed with the other.
        missed: pairs that changed, though they are not said to depend.
        one_way: pairs that are said to depend by some answers only: inside of the computation,
            of its caller, or of its caller from operands to results.
    """

    output: int
    operand: int
    said: int
    felt: int
    missed: tuple[Pair, ...]
    one_way: tuple[Pair, ...]

    @property
    def is_sound(self) -> bool:
        """Whether all that changed is said to depend, by all answers."""
        return not self.missed and not self.one_way

    @property
    def is_exact(self) -> bool:
        """Whether also all that is said to depend changed."""
        return self.is_sound and self.felt == self.said


class Subject:
    """A computation, what is said of it, and its program.

    ``caller`` is the fusion or call that runs it, if one does; what is said of the caller counts,
    too, in both directions. Arrays are numbered through all operands, and through all results.
    """

    def __init__(self, computation: Computation, caller: Instruction | None = None) -> None:
        self.computation = computation
        self.caller = caller
        self.inputs = inputs_of(computation)
        self.operands = shapes_of_inputs(computation)
        self.results = arrays_of(computation.root.shape)

    @cached_property
    def said(self) -> dict[tuple[int, int], list[Ways]]:
        """For each result and operand, the maps from the result: of the root, and of the caller."""
        found: dict[tuple[int, int], list[Ways]] = {}
        for output in range(len(self.results)):
            inside = fusion_indexing(self.computation.root, output)
            outside = output_to_input(self.caller, output).indexing if self.caller else ()
            for operand, (parameter, element) in enumerate(self.inputs):
                answers = [inside.get(parameter, ())]
                answers += [outside[parameter.parameter_number or 0]] if outside else []
                found[output, operand] = [_ways(answer, element) for answer in answers]
        return found

    @cached_property
    def said_back(self) -> dict[tuple[int, int], Ways]:
        """For each result and operand, the maps from the operand."""
        caller = self.caller
        if not caller:
            return {}
        answers = [input_to_output(caller, each).indexing for each in range(len(caller.operands))]
        return {
            (output, operand): _ways(answers[parameter.parameter_number or 0][output], element)
            for output in range(len(self.results))
            for operand, (parameter, element) in enumerate(self.inputs)
        }

    @cached_property
    def watched(self) -> list[Instruction]:
        """The instructions that give the values of runtime variables."""
        every = [ways for several in self.said.values() for ways in several]
        ways = (way for several in (*every, *self.said_back.values()) for way in several)
        found = (self.source(origin) for way in ways for origin in way.runtime)
        return list(dict.fromkeys(each for each in found if each))

    def source(self, origin: RuntimeOrigin) -> Instruction | None:
        """The instruction of the computation itself that gives a value, if one does."""
        instruction: Instruction | None = origin.instruction
        for caller in reversed(origin.callers):
            if instruction and caller is not self.caller:
                instruction = _argument(instruction, caller)
        is_own = instruction and instruction.computation is self.computation
        return instruction if is_own else None

    @cached_property
    def indices(self) -> dict[int, Computation]:
        """What computes the operands, by number, that hold several integers.

        In their values there may be an order that the maps know.
        """
        return {
            number: leading_to(self.caller.operands[parameter.parameter_number or 0])
            for number, (parameter, _) in enumerate(self.inputs)
            if self.caller and not parameter.shape.is_tuple and parameter.shape.rank
            if parameter.shape.element_type.kind in _INTEGERS
        }

    def varies(self, output: int, operand: int) -> bool:
        """Whether what depends on what is decided by values."""
        return any(way.runtime for ways in self.said[output, operand] for way in ways)

    @cached_property
    def _text(self) -> str:
        return standalone(self.computation, self.watched)

    @cached_property
    def far(self) -> tuple[float, ...]:
        """Numbers that are far away, those first that are felt most widely.

        A convolution may multiply its padding by what is no number.
        """
        return _FAR[1:] if "convolution(" in self._text else _FAR

    def run(self, operands: Sequence[Array]) -> list[Array]:
        """The results, and then the arrays of what is watched."""
        return program(self._text)(*operands)


def subjects_in(module: HloModule) -> Iterator[tuple[str, Subject]]:
    """What fusions, calls, loops and choices run, each text once, by the names of what runs it."""
    seen: set[str] = set()
    for instruction in module.instructions:
        calls = REGISTRY.calls(instruction)
        caller = instruction if instruction.opcode in {"fusion", "call"} else None
        for computation in calls.computations if calls else ():
            text = standalone(computation)
            if text not in seen:
                seen.add(text)
                yield f"%{instruction.name} %{computation.name}", Subject(computation, caller)


def _argument(instruction: Instruction, caller: Instruction) -> Instruction | None:
    """What a parameter of a computation, or an element of it, is where that is called."""
    if instruction.opcode == "get-tuple-element":
        whole = _argument(instruction.operands[0], caller)
        index: int = instruction.attributes["index"]
        return whole.operands[index] if whole else None
    calls, number = REGISTRY.calls(caller), instruction.parameter_number
    if calls is None or number is None:
        return None
    choices = (each for each in calls.choices if each.computation is instruction.computation)
    return caller.operands[next(choices).operands[number]]


def _ways(answer: Answer, element: int) -> Ways:
    if isinstance(answer, Unknown):
        raise UnknownMapError(answer.reason)
    return tuple(way for way in answer if way.element == element)


class Trial:
    """A run of a subject, of which the elements of operands are to be changed one by one."""

    def __init__(self, subject: Subject, number: int) -> None:
        self.subject = subject
        drawn = _drawn(number, subject.operands)
        for place, before in subject.indices.items():
            given = _drawn(number, shapes_of_inputs(before))
            drawn[place] = program(standalone(before))(*given)[0]
        self.operands = drawn
        self.before = subject.run(self.operands)
        arrays = self.before[len(subject.results) :]
        self._watched = dict(zip(subject.watched, arrays, strict=True))

    def array_of(self, origin: RuntimeOrigin) -> Array | None:
        """The array that holds a runtime variable's value: on the only device, or watched."""
        if origin.instruction.opcode in {"partition-id", "replica-id"}:
            return np.array(0)
        source = self.subject.source(origin)
        return self._watched[source] if source else None

    def said(self, output: int, operand: int, places: Array) -> list[Array]:
        """Matrices of which elements of a result, in rows, are said to depend on those in places.

        One for each answer.
        """
        subject = self.subject
        result, source = subject.results[output], subject.operands[operand]
        every = every_element(result)
        found = [
            relation(ways, every, places, source, self.array_of)
            for ways in subject.said[output, operand]
        ]
        if subject.said_back:
            ways = subject.said_back[output, operand]
            found.append(relation(ways, places, every, result, self.array_of).T)
        return found

    def felt(self, operand: int, place: Array, wanted: Sequence[Array]) -> list[Array]:
        """Which elements of each result change with one of an operand.

        No more is tried as soon as all ``wanted`` ones have changed.
        """
        count, at = len(self.subject.results), tuple(place.tolist())
        found = [np.zeros(result.size, dtype=bool) for result in self.before[:count]]
        for other in _others(self.operands[operand][at], self.subject.far):
            if all((changed >= each).all() for changed, each in zip(found, wanted, strict=True)):
                break
            operands = [each.copy() for each in self.operands]
            operands[operand][at] = other
            after = self.subject.run(operands)
            differs = (~same(*pair).reshape(-1) for pair in zip(self.before, after, strict=True))
            found = [changed | now for changed, now in zip(found, differs, strict=False)]
        return found


def tallies(subject: Subject, *, trials: int = 2, most: int = 64) -> list[Tally]:
    """What is said and what is felt, for each operand and result.

    Of each operand ``most`` elements at most are changed, among them some that are said to matter.

    Raises:
        UnknownMapError: there is no map.
    """
    made = [Trial(subject, number) for number in range(trials)]
    return [
        tally
        for operand, shape in enumerate(subject.operands)
        for tally in _tallies_of(made, operand, _chosen(made[0], operand, shape, most))
    ]


def _tallies_of(trials: Sequence[Trial], operand: int, places: Array) -> Iterator[Tally]:
    subject = trials[0].subject
    outputs = range(len(subject.results))
    said = [[trial.said(output, operand, places) for output in outputs] for trial in trials]
    felt = [[np.zeros_like(matrices[0]) for matrices in several] for several in said]
    for number, trial in enumerate(trials):
        # What values do not decide is the same in every trial.
        first = [number if subject.varies(output, operand) else 0 for output in outputs]
        for column, place in enumerate(places):
            wanted = [
                said[number][output][0][:, column] & ~felt[first[output]][output][:, column]
                for output in outputs
            ]
            for output, changed in enumerate(trial.felt(operand, place, wanted)):
                felt[first[output]][output][:, column] |= changed
    for output in outputs:
        kept = len(trials) if subject.varies(output, operand) else 1
        pairs = [(said[number][output], felt[number][output]) for number in range(kept)]
        yield _tally(subject, output, operand, places, pairs)


def _tally(
    subject: Subject,
    output: int,
    operand: int,
    places: Array,
    pairs: Sequence[tuple[list[Array], Array]],
) -> Tally:
    every = every_element(subject.results[output])

    def listed(matrix: Array) -> Iterator[Pair]:
        for row, column in np.argwhere(matrix):
            yield tuple(every[row].tolist()), tuple(places[column].tolist())

    return Tally(
        output,
        operand,
        sum(int(said[0].sum()) for said, _ in pairs),
        sum(int((felt & said[0]).sum()) for said, felt in pairs),
        tuple(pair for said, felt in pairs for each in said for pair in listed(felt & ~each)),
        tuple(pair for said, _ in pairs for each in said[1:] for pair in listed(said[0] ^ each)),
    )


# Which elements.


def _chosen(trial: Trial, operand: int, shape: Shape, most: int) -> Array:
    """Elements of an operand: all, or half of them at random, and half where maps lead."""
    every = every_element(shape)
    if len(every) <= most:
        return every
    random = np.random.default_rng(operand)
    needed = random.permutation(_needed(trial, operand, shape, random))[: most // 2]
    rest = np.setdiff1d(random.permutation(len(every)), needed)
    numbers = [*needed, *random.permutation(rest)[: most - len(needed)]]
    return every[np.sort(numbers)]


def _needed(trial: Trial, operand: int, shape: Shape, random: np.random.Generator) -> Array:
    """The numbers of elements that some elements of the results are said to depend on."""
    found: list[Array] = [np.zeros(0, dtype=np.int64)]
    for output, result in enumerate(trial.subject.results):
        begin = random.permutation(every_element(result))[:20]
        for way in trial.subject.said[output, operand][0]:
            found += [
                numbers_of(places, shape) for _, places in reached(way, begin, trial.array_of)
            ]
    return np.unique(np.concatenate(found))


# Values.


def _drawn(trial: int, shapes: Iterable[Shape]) -> list[Array]:
    return [values_for(shape, (trial, place)) for place, shape in enumerate(shapes)]


def values_for(shape: Shape, seed: tuple[int, int]) -> Array:
    """Some values of an operand: numbers around 1, or indices of small arrays."""
    random = np.random.default_rng(seed)
    dtype, sizes, kind = dtype_of(shape), shape.dimensions, shape.element_type.kind
    if kind is Kind.BOOLEAN:
        return np.asarray(random.integers(0, 2, sizes)).astype(dtype)
    if kind in _INTEGERS:
        most = min((3, 7, 40)[seed[0] % 3], 1 << (shape.element_type.bits - 1))
        return np.asarray(random.integers(0, most, sizes)).astype(dtype)
    drawn = random.normal(0, 2, sizes) if seed[0] % 2 else random.uniform(0.5, 1.5, sizes)
    return np.asarray(drawn).astype(dtype)


def _others(value: Any, far: Iterable[float]) -> Iterable[Any]:  # noqa: ANN401 - of NumPy
    """Other values in the place of one."""
    if value.dtype.kind == "b":
        return (~value,)
    is_integer = value.dtype.kind in "iu" or value.dtype.name.startswith(("int", "uint"))
    others = [int(value) + 1, int(value) - 1, 0, int(value) + 100] if is_integer else far
    return (np.array(other).astype(value.dtype) for other in others)


_INTEGERS = frozenset({Kind.SIGNED, Kind.UNSIGNED})
_FAR = (np.nan, 1000, -1000)
