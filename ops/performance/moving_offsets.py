"""Offsets that runtime values move: which values make a difference, and how far they lead.

A runtime variable has one value for each index of its origin. If that is one index, the value moves
all threads alike, and of those that differ by whole periods of memory one is tried. If there are
several, such as those of a gather, all values may be the same, or as different as they can.
"""

from __future__ import annotations

from itertools import chain, combinations
from math import gcd
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap
from indexing.transform.substitute import over_domain
from ops.devices.joint_indexing import deciding
from ops.performance.tally import numbered, size_of
from ops.performance.warps import parted
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.op_indexing import Origin
from simplifier import Interval
from simplifier.evaluation import points_in, values_of
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.schedules.schedule import AnyOrigin
    from simplifier.expr.form import Form

MAX_TRIED: Final = 1 << 9
"""Values that are looked at one by one: each takes some milliseconds."""

_CYCLE: Final = 1 << 10
"""Different values in a row; no block has more threads, and powers of 2 go well with launches."""


class Apart(NamedTuple):
    """Offsets without what values add.

    Attributes:
        map: to such an offset, and to what tells the values of a thread from those of others.
        shifts: what values add, up to whole periods of memory.
        hull: what they add, from the least to the most.
    """

    map: IndexingMap
    shifts: Sequence[int]
    hull: Interval


class MovingOffsets(NamedTuple):
    """The offsets of a launch, and where the values of their runtime variables come from.

    Attributes:
        map: from the coordinates of a launch.
        origins: of the runtime variables, if they are known.
        indices: of the values, by runtime variable.
    """

    map: IndexingMap
    origins: Sequence[AnyOrigin]
    indices: Mapping[str, tuple[Form, ...]]

    @classmethod
    def of(cls, offsets: IndexingMap, origins: Sequence[AnyOrigin]) -> MovingOffsets:
        """The offsets with these origins; without any, a value is the same for all threads."""
        *_, names = offsets.domain.by_role(offsets.domain.identifiers)
        found = (origin.map.forms for origin in origins) if origins else [()] * len(names)
        index = dict(zip(names, found, strict=True))
        used = {*forms.variables_of((*offsets.forms, *(f for f, _ in offsets.domain.constraints)))}
        for name in names:  # what leads to an index comes behind it
            used.update(forms.variables_of(index[name]) if name in used else ())
        is_empty = offsets.domain.is_known_empty
        kept = {name: index[name] for name in names if name in used and not is_empty}
        return cls(offsets, origins, kept)

    # What is known of the values.

    @property
    def may_be_nothing(self) -> bool:
        """Whether values that the program may give lead nowhere."""
        plain = self.map.domain.with_constraints()
        return bool(self.origins) and any(deciding(plain, self.origins))

    @property
    def is_limited(self) -> bool:
        """Whether values say which threads load."""
        limited = forms.variables_of(form for form, _ in self.map.domain.constraints)
        return not self.indices.keys().isdisjoint(limited)

    @property
    def is_same_for_all(self) -> bool:
        """Whether all threads have the same values."""
        return all(form.is_constant for key in self._keys for form in key)

    @property
    def is_free(self) -> bool:
        """Whether no value depends on another one, as far as we see."""
        known = {"parameter", *ELEMENTWISE}
        pairs = combinations(self.origins, 2)
        return not any(_may_be_same(*pair) for pair in pairs) and all(
            isinstance(each, Origin) or each.instruction.opcode in known for each in self.origins
        )

    @property
    def _keys(self) -> list[tuple[Form, ...]]:
        """What tells each value from others: its index, or the coordinates that lead there."""
        keys: dict[str, tuple[Form, ...]] = {}
        for name, index in reversed([*self.indices.items()]):  # what leads to an index is behind it
            used = [*dict.fromkeys(forms.variables_of(index))]
            parts = [parted(form, self.indices) for form in index]
            places = (forms.variable(other) for other in used if other not in self.indices)
            own = [each[1] for each in parts if each] if all(parts) else places
            keys[name] = (*own, *chain.from_iterable(keys.get(other, ()) for other in used))
        return [*keys.values()]

    @property
    def _parts(self) -> tuple[Form, Form] | None:
        """What values add to an offset, and the rest; ``None`` where both are mixed."""
        return parted(self.map.forms[0], self.indices)

    @property
    def _shift(self) -> Form | None:
        """What values add, if they do nothing else."""
        return self._parts[0] if self._parts and not self.is_limited else None

    def _factor(self, name: str) -> int:
        """What an offset has for each 1 of a value."""
        return self._parts[0].terms.get(forms.variable_atom(name), 0) if self._parts else 0

    # What is tried.

    def at(self, values: Mapping[str, Form]) -> IndexingMap:
        """The offsets at some values, which may depend on the coordinates."""
        plain = self.map.domain.over(self.map.dims, self.map.ranges, ())
        return over_domain(self.map, plain, values)

    def constants(self, period: int) -> tuple[list[dict[str, Form]], bool]:
        """Values that are the same for all threads, and whether all others are like one of them."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        box = {name: self.map.domain.bounds[name] for name in self.indices}
        if self._shift is not None and self._shift.is_affine:
            for name, bounds in box.items():
                distinct = period // gcd(period, self._factor(name))
                first = bounds.lower or 0
                box[name] = bounds.intersect(Interval(first, first + distinct - 1))
        count = size_of(box.values())
        columns = points_in(box, np.linspace(0, count - 1, min(count, MAX_TRIED), dtype=np.int64))
        if self._shift is not None and box:
            added = values_of([self._shift], columns)[0] % period
            _, first = np.unique(np.broadcast_to(added, count), return_index=True)
            columns = {name: column[first] for name, column in columns.items()}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        found = [dict(zip(box, map(forms.constant, row), strict=True)) for row in rows]
        return found if box else [{}], count <= MAX_TRIED

    def spread(self, base: Mapping[str, Form], unit: int) -> IndexingMap:
        """The offsets where values differ from key to key, by multiples of ``unit`` elements."""
        everywhere = self.map.domain.with_constraints()
        values: dict[str, Form] = {}
        for name, index in self.indices.items():
            step = unit // gcd(unit, self._factor(name) or 1)
            size = Interval(base[name].constant, self.map.domain.bounds[name].upper).size or 1
            box = IndexingMap.from_forms(index, everywhere).result_bounds()
            count = forms.constant(min((size - 1) // step + 1, _CYCLE))
            values[name] = (
                operations.mod(forms.ZERO + numbered(index, box), count) * step + base[name]
            )
        for _ in values:
            values = dict(zip(values, operations.substitute(values.values(), values), strict=True))
        return self.at(values).simplify(preserve_ranges=True)

    def where_least(
        self, constants: Sequence[Mapping[str, Form]], counts: Sequence[int], period: int
    ) -> str:
        """Where a count is least; empty if that is everywhere, or takes more than a remainder."""
        if self._shift is None or len({*counts}) == 1:
            return ""
        added = [operations.substitute((self._shift,), each)[0].constant for each in constants]
        pairs = [*zip(added, counts, strict=True)]
        for modulus in (number for number in range(2, period + 1) if period % number == 0):
            least = {each % modulus for each, count in pairs if count == min(counts)}
            others = {each % modulus for each, count in pairs if count > min(counts)}
            if least.isdisjoint(others) and max(least) - min(least) < len(least):
                remainder = operations.mod(self._shift, forms.constant(modulus))
                return f"{self.map.domain.text_of(remainder)} in [{min(least)}, {max(least)}]"
        return ""

    def apart(self, constants: Sequence[Mapping[str, Form]] | None, period: int) -> Apart:
        """The offsets without what values add.

        ``constants`` are all that make a difference; ``None`` if nobody knows. Where values and
        coordinates are mixed, each thread is led anywhere.
        """
        domain = self.map.domain
        plain = domain.over(domain.dims, domain.ranges, ())
        dims, ranges, _ = domain.by_role(domain.identifiers)
        inside = plain.constrained(domain.constraints_among((*dims, *ranges)))
        if self._parts is None:
            places = [forms.ZERO, *map(forms.variable, (*dims, *ranges))]
            return Apart(IndexingMap.from_forms(places, inside), (0,), *self.map.result_bounds())
        moved, still = self._parts
        keys = dict.fromkeys(chain.from_iterable(self._keys))
        shifts = {
            operations.substitute([moved], each)[0].constant % period for each in constants or ()
        }
        added = IndexingMap.from_forms([moved], domain.with_constraints())
        whole = IndexingMap.from_forms([still, *keys], inside)
        return Apart(whole, sorted(shifts) or range(period), *added.result_bounds())


def _may_be_same(one: AnyOrigin, other: AnyOrigin) -> bool:
    """Whether two values may be one element of an array."""
    if isinstance(one, Origin) or isinstance(other, Origin):
        is_one = (
            isinstance(one, Origin) and isinstance(other, Origin) and one.operand == other.operand
        )
    else:
        is_one = (one.instruction, one.callers) == (other.instruction, other.callers)
    pairs = zip(one.map.forms, other.map.forms, strict=False)
    return is_one and not any((here - there).is_constant and here != there for here, there in pairs)
