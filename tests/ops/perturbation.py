"""What the maps of a computation say, compared with which results change with which elements.

The computation runs as a program of its own, on several sets of operands. In each of them one
element at a time becomes another one: no number, one far away, or the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexing.layout import Shape
from ops import RuntimeOrigin
from ops.devices import is_number_of_device
from tests.evaluation import Pair
from tests.ops.oracle import program, same
from tests.ops.reached_elements import Array, every_element, numbers_of, reached, relation
from tests.ops.standalone_programs import shapes_of_inputs, standalone
from tests.ops.tested_computations import Subject, drawn, others


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
        return self.is_sound and self.felt == self.said


class Trial:
    """A run of a subject, of which the elements of operands are to be changed one by one."""

    def __init__(self, subject: Subject, number: int) -> None:
        self.subject = subject
        self.operands = drawn(number, subject.operands)
        for place, before in subject.indices.items():
            given = drawn(number, shapes_of_inputs(before))
            self.operands[place] = program(standalone(before))(*given)[0]
        self.before = subject.run(self.operands)
        arrays = self.before[len(subject.results) :]
        self._watched = dict(zip(subject.watched, arrays, strict=True))

    def array_of(self, origin: RuntimeOrigin) -> Array | None:
        """The array that holds a runtime variable's value: on the only device, or watched."""
        if is_number_of_device(origin.instruction):
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
        there, back = subject.said[output, operand], subject.said_back.get((output, operand))
        found = [relation(ways, every, places, source, self.array_of) for ways in there]
        if back is not None:
            found.append(relation(back, places, every, result, self.array_of).T)
        return found

    def felt(self, operand: int, place: Array, wanted: Sequence[Array]) -> list[Array]:
        """Which elements of each result change with one of an operand.

        No more is tried as soon as all ``wanted`` ones have changed.
        """
        count, at = len(self.subject.results), tuple(place.tolist())
        is_convolved = "convolution(" in self.subject.text
        found = [np.zeros(result.size, dtype=bool) for result in self.before[:count]]
        for other in others(self.operands[operand][at], is_convolved=is_convolved):
            operands = [each.copy() for each in self.operands]
            operands[operand][at] = other
            after = self.subject.run(operands)
            differs = (~same(*pair).reshape(-1) for pair in zip(self.before, after, strict=True))
            found = [changed | now for changed, now in zip(found, differs, strict=False)]
            if all((changed >= each).all() for changed, each in zip(found, wanted, strict=True)):
                break
        return found


def tallies(subject: Subject, *, trials: int = 2, most: int = 64) -> list[Tally]:
    """What is said and what is felt, for each operand and result; without a map it is an error.

    Of each operand ``most`` elements at most are changed, among them some that are said to matter.
    """
    made = [Trial(subject, number) for number in range(trials)]
    shapes = enumerate(subject.operands)
    chosen = ((operand, _chosen(made[0], operand, shape, most)) for operand, shape in shapes)
    return [tally for pair in chosen for tally in _tallies_of(made, *pair)]


def _tallies_of(trials: Sequence[Trial], operand: int, places: Array) -> Iterator[Tally]:
    subject = trials[0].subject
    outputs = range(len(subject.results))
    said = [[trial.said(output, operand, places) for output in outputs] for trial in trials]
    felt = [[np.zeros_like(matrices[0]) for matrices in several] for several in said]
    for number, trial in enumerate(trials):
        # What values do not decide is the same in every trial.
        seen = [felt[number if subject.varies(each, operand) else 0][each] for each in outputs]
        for column, place in enumerate(places):
            pairs = zip(said[number], seen, strict=True)
            wanted = [told[0][:, column] & ~known[:, column] for told, known in pairs]
            for known, changed in zip(seen, trial.felt(operand, place, wanted), strict=True):
                known[:, column] |= changed
    for output in outputs:
        kept = len(trials) if subject.varies(output, operand) else 1
        pairs = [(said[number][output], felt[number][output]) for number in range(kept)]
        yield _tally((output, operand), every_element(subject.results[output]), places, pairs)


def _tally(
    arrays: tuple[int, int], every: Array, places: Array, pairs: Sequence[tuple[list[Array], Array]]
) -> Tally:
    def listed(matrix: Array) -> Iterator[Pair]:
        for row, column in np.argwhere(matrix):
            yield tuple(every[row].tolist()), tuple(places[column].tolist())

    return Tally(
        *arrays,
        sum(int(said[0].sum()) for said, _ in pairs),
        sum(int((felt & said[0]).sum()) for said, felt in pairs),
        tuple(pair for said, felt in pairs for each in said for pair in listed(felt & ~each)),
        tuple(pair for said, _ in pairs for each in said[1:] for pair in listed(said[0] ^ each)),
    )


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
            ends = (places for _, places in reached(way, begin, trial.array_of))
            found += [numbers_of(places, shape) for places in ends]
    return np.unique(np.concatenate(found))
