"""All indexings from one array to another, as one value that composes and unites."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from ops import limits
from ops.dependence.containment import joined, without_contained
from ops.dependence.operand_indexing import OperandIndexing
from ops.dependence.widening import is_part_at_a_glance, shortened, widened
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ops.hlo import Instruction


class Dependence(tuple[OperandIndexing, ...]):  # noqa: SLOT001 - it remembers its hash
    """All indexings from one array to another, each once; without any, it does not depend on it.

    If nobody can tell, an :class:`Unknown` takes its place, which has the same methods. The hash is
    remembered, as dependences are keys of whatever is looked up.

    >>> from indexing import parse_map
    >>> head = OperandIndexing(parse_map("(d0) -> (d0), domain: d0 in [0, 3]"))
    >>> back = OperandIndexing(parse_map("(d0) -> (-d0 + 3), domain: d0 in [0, 3]"))
    >>> both = Dependence((head,)).union(Dependence((back, head)))
    >>> len(both), both.compose(Dependence((back,))) == (back, head)
    (2, True)
    >>> print(both.compose(Unknown("sort: no indexing map")))
    unknown (sort: no indexing map)
    """

    def compose(self, producer: AnyDependence) -> AnyDependence:
        """Every indexing of the producer after every one of these, each once.

        If these are more than :data:`ops.limits.MAX_COMPOSITIONS`, both are :meth:`widened` before.
        """
        return combined(self, producer, _composed)

    def union(self, *others: AnyDependence, sizes: Sequence[int] | None = None) -> AnyDependence:
        """All indexings of several dependences, each once; unknown if one of them is.

        Of approximate indexings to an array one is left, which holds them all. It also takes the
        place of what is seen to be a part of it, and of all others if they are more than
        :data:`ops.limits.MAX_MAPS`. ``sizes`` are those of the array that all of them lead to.
        """
        found: dict[OperandIndexing, None] = dict.fromkeys(self)
        for other in others:
            if isinstance(other, Unknown):
                return other
            found.update(dict.fromkeys(other))
        left, most = joined(_existing(found)), limits.MAX_MAPS
        many = f"more than {most}" if len(left) > most else f"{len(left)}"
        suffix = "" if len(left) > most else " that depend on many values"
        return _limited(left, most, f"{many} different maps{suffix}", sizes)

    def widened(self) -> Dependence:
        """One indexing to each array that holds all, in short formulas; marked if it holds more.

        This is what becomes of those that take part in more than
        :data:`ops.limits.MAX_COMPOSITIONS`.
        """
        reason = f"more than {limits.MAX_COMPOSITIONS} compositions of maps"
        return Dependence(shortened(each, reason) for each in _limited(self, 1, reason))

    def singles(self) -> list[Dependence]:
        """A dependence for each indexing."""
        return [Dependence((indexing,)) for indexing in self]

    def apply(self, change: Callable[[OperandIndexing], OperandIndexing]) -> Dependence:
        """The same with each indexing changed; those that become equal are one."""
        changed = [*map(change, self)]
        is_same = all(before is after for before, after in zip(self, changed, strict=True))
        return self if is_same else Dependence(dict.fromkeys(changed))

    def simplify(self) -> Dependence:
        """The same with each indexing in its smallest form."""
        return self if self._smaller is None else self._smaller

    @cached_property
    def _smaller(self) -> Dependence | None:
        """What :meth:`simplify` gives, if that is another one: no value holds itself."""
        simplified = self.apply(OperandIndexing.simplify)
        return None if simplified is self else simplified

    def minimal(self) -> Dependence:
        """The same without indexings that another one contains; equal ones are one.

        What isl cannot compare within :data:`ops.limits.MAX_STEPS_OF_COMPARISON` stays.
        """
        return Dependence(without_contained(self)) if len(self) > 1 else self

    @property
    def indexings(self) -> Dependence:
        """The indexings that are known: all."""
        return self

    @cached_property
    def burden(self) -> int:
        """What long formulas add to the cost of a composition: the square of their weight."""
        beyond = (max(0, indexing.weight - limits.USUAL_WEIGHT) for indexing in self)
        return sum(weight**2 // 64 for weight in beyond)

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dependence) and self._hash != other._hash:
            return False
        return super().__eq__(other)

    def _repr_html_(self) -> str:
        return "".join(indexing._repr_html_() for indexing in self)

    def __reduce__(self) -> tuple[type[Dependence], tuple[tuple[OperandIndexing, ...]]]:
        return Dependence, (tuple(self),)


AnyDependence: TypeAlias = "Dependence | Unknown"

Indexings: TypeAlias = "tuple[OperandIndexing, ...] | Unknown"
"""What those who ask get: any dependence is one, and they need no method of it."""

NOTHING: Final = Dependence()
"""No dependence at all."""


def combined(
    first: AnyDependence,
    second: AnyDependence,
    combine: Callable[[Dependence, Dependence], Dependence],
) -> AnyDependence:
    """What two dependences are together; unknown if one of them is."""
    if isinstance(first, Unknown):
        return first
    return second if isinstance(second, Unknown) else combine(first, second)


def cost(consumer: AnyDependence, producer: AnyDependence) -> int:
    """What a composition costs: one for each pair of indexings, more if they are long."""
    first, second = (len(each.indexings) or 1 for each in (consumer, producer))
    return first * second + consumer.burden * second + producer.burden * first


def of_element(dependence: AnyDependence, element: int) -> AnyDependence:
    """The dependence on one array of a tuple."""
    if all(indexing.element == element for indexing in dependence.indexings):
        return dependence
    return dependence.apply(lambda indexing: indexing.of_element(element))


def called_by(caller: Instruction, dependence: AnyDependence) -> AnyDependence:
    """What holds inside of a computation, seen from where it is called."""
    return dependence.apply(lambda indexing: indexing.called_by(caller))


def _composed(consumer: Dependence, producer: Dependence) -> Dependence:
    if len(consumer) * len(producer) > limits.MAX_COMPOSITIONS:
        consumer, producer = consumer.widened(), producer.widened()
    pairs = dict.fromkeys(first.compose(second) for first in consumer for second in producer)
    return Dependence(_existing(pairs))


def _existing(indexings: Collection[OperandIndexing]) -> Collection[OperandIndexing]:
    """The indexings without empty ones, but to an array to which no other leads."""
    if not any(each.map.is_known_empty for each in indexings):
        return indexings
    led_to = {each.element for each in indexings if not each.map.is_known_empty}
    left: list[OperandIndexing] = []
    for each in indexings:
        if not each.map.is_known_empty or each.element not in led_to:
            left.append(each)
            led_to.add(each.element)
    return left


def _limited(
    indexings: Collection[OperandIndexing],
    most: int,
    reason: str,
    sizes: Sequence[int] | None = None,
) -> Dependence:
    """The indexings, or one instead of those to an array that are more than ``most``."""
    if _number(indexings) <= most and not any(each.approximation for each in indexings):
        return Dependence(indexings)
    targets: dict[tuple[int, bool], list[OperandIndexing]] = defaultdict(list)
    for each in indexings:
        targets[each.element, each.replica_id is None].append(each)
    limited = (_limited_to_one_array(each, most, reason, sizes) for each in targets.values())
    return Dependence(chain.from_iterable(limited))


def _limited_to_one_array(
    indexings: Sequence[OperandIndexing], most: int, reason: str, sizes: Sequence[int] | None
) -> Sequence[OperandIndexing]:
    """Indexings that are all on the device that asks, or all on others: see the union."""
    exact = [each for each in indexings if not each.approximation]
    marked = [each for each in indexings if each.approximation]
    if marked:
        wide = widened(marked, marked[0].approximation, sizes)
        is_exact = replace(wide, approximation="") in exact
        marked = [] if is_exact else [wide]
        exact = [each for each in exact if is_exact or not is_part_at_a_glance(each, wide)]
    left = [*exact, *marked]
    return left if _number(left) <= most else [widened(left, reason, sizes)]


def _number(indexings: Collection[OperandIndexing]) -> int:
    """How many there are; along n updates at unknown places are 2**n, each with n values."""
    return sum(max(1, len(each.runtime) ** 2) for each in indexings)
