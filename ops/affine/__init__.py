"""Programs of MLIR's dialects ``affine``, ``memref`` and ``tensor``: the elements they access."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TypeAlias

from indexing import IndexingMap, IndexRelation, MapError
from ops.affine.reader import AccessReader, ArrayAccess
from ops.mlir.text import MlirTextError
from ops.rules.rule import Unknown
from simplifier.errors import IndexingError, check_type
from simplifier.tools.display import Displayed

__all__ = ["ArrayAccess", "FunctionAccesses", "MlirTextError", "read_accesses"]

Relation: TypeAlias = "IndexRelation[IndexingMap]"


@dataclass(frozen=True, slots=True, repr=False)
class FunctionAccesses(Displayed):
    """The accesses of a function in the order of its text, and operations that are not known.

    Arrays of different names are taken to be different arrays, but for views of one another.

    >>> (sweep,) = read_accesses('''
    ... func.func @sweep(%a: memref<?xf32>, %n: index) {
    ...   affine.for %t = 0 to 10 {
    ...     affine.for %i = 1 to %n {
    ...       %x = affine.load %a[%i - 1] : memref<?xf32>
    ...       affine.store %x, %a[%i] : memref<?xf32>
    ...     }
    ...   }
    ...   return
    ... }''')
    >>> for access in sweep.accesses:
    ...     print(access)
    line 5: affine.load reads %a: (t, i)<n> -> (i - 1), domain: t in [0, 9], i in [1, n - 1],
    n in [2, inf]
    line 6: affine.store writes %a: (t, i)<n> -> (i), domain: t in [0, 9], i in [1, n - 1],
    n in [2, inf]
    >>> print(sweep.conflicts("i")["%a"])
    (t, i)<n> -> (t, i + 1), domain: t in [0, 9], i in [1, n - 2], n in [3, inf]
    """

    name: str
    accesses: tuple[ArrayAccess, ...]
    _taken: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)

    def __str__(self) -> str:
        return "\n".join([f"function {self.name}", *map(str, self.accesses)])

    def reads(self, write: ArrayAccess) -> Mapping[str, Relation | Unknown]:
        """Relations from an element that is written to the elements of each array read for it.

        They are those that an iteration reads in which it is written, be it needed or not, as for a
        ``linalg.generic``. Where loops of a read are further inside, all of their iterations count.

        Raises:
            MapError: the access is no write of this function.

        >>> (copy,) = read_accesses('''
        ... affine.for %i = 0 to 4 { affine.for %j = 0 to 8 {
        ...   %x = affine.load %a[%j, %i] : memref<8x4xf32>
        ...   affine.store %x, %b[%i, %j] : memref<4x8xf32> } }''')
        >>> print(copy.reads(copy.accesses[1])["%a"])
        (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]
        """
        if write not in self.accesses or write.kind != "write":
            raise MapError("reads: the access is no write of this function; expected one")
        found: dict[str, list[ArrayAccess]] = defaultdict(list)
        for each in self.accesses:
            depth = min(len(each.loops), len(write.loops))
            if each.kind == "read" and each.loops[:depth] == write.loops[:depth]:
                found[each.array].append(each)
        return {array: _asked(_needed, write, *reads) for array, reads in found.items()}

    def conflicts(self, loop: str) -> Mapping[str, Relation | Unknown]:
        """Pairs of iterations of a loop, after those around it, that may not run at the same time.

        One of the two writes an element of the array that the other writes or reads, in the same
        iteration of the loops around. Without conflicts the loop is parallel. An array that an
        operation takes or makes which is not followed has no answer but the reason.

        Raises:
            MapError: there is no such loop.
        """
        inside = [each for each in self.accesses if loop in each.loops]
        if not inside:
            raise MapError(f"conflicts: there is no loop {loop!r} around an access; expected one")
        found: dict[str, Relation | Unknown] = {}
        for array in dict.fromkeys(each.array for each in inside if each.kind == "write"):
            own = (each for each in inside if each.array == array and each.kind != "view")
            taken, meeting = self._taken.get(array), partial(_meeting, loop)
            answer = Unknown(f"{taken} may change {array}") if taken else _asked(meeting, *own)
            if isinstance(answer, Unknown) or answer:
                found[array] = answer
        return found


def read_accesses(text: str, file: str = "") -> tuple[FunctionAccesses, ...]:
    """The accesses of each function in a text of MLIR, in the form that MLIR prints.

    Loops are those of ``affine.for``, ``affine.parallel``, ``scf.for``, ``scf.parallel`` and
    ``scf.forall``; an ``affine.if`` constrains them. Loads and stores are those of ``affine`` and
    ``memref``. A view of an array, as ``memref.subview`` makes it, is followed to the elements of
    the array. An operation on tensors reads its operands for each element of its result. Sizes and
    values from outside of loops are parameters, what an iteration computes is a runtime variable.

    Operations of these dialects that are not known are listed by name. Operations of other dialects
    are passed over, and what stands in their regions may happen any number of times.

    Raises:
        MlirTextError: an operation does not follow the grammar.

    >>> (function,) = read_accesses('''
    ... func.func @f(%t: tensor<8x16xf32>, %n: index) -> tensor<4x?xf32> {
    ...   %s = tensor.extract_slice %t[2, 0] [4, %n] [1, 2] : tensor<8x16xf32> to tensor<4x?xf32>
    ...   return %s : tensor<4x?xf32>
    ... }''')
    >>> print(function.accesses[0].map)
    (d0, d1)<n> -> (d0 + 2, d1 * 2), domain: d0 in [0, 3], d1 in [0, n - 1], n in [1, inf]
    """
    check_type(text, str, "read_accesses: the text", "a string")
    found = (each for each in AccessReader(text, file).read() if each.accesses)
    return tuple(FunctionAccesses(each.name, tuple(each.accesses), each.taken) for each in found)


# Relations between iterations and elements.


def _asked(question: Callable[..., Relation], *accesses: ArrayAccess) -> Relation | Unknown:
    """The answer to a question about known accesses, or the reason why there is none."""
    unknown = [each.map for each in accesses if isinstance(each.map, Unknown)]
    try:
        return unknown[0] if unknown else question(*accesses)
    except IndexingError as error:
        return Unknown(str(error))


def _over(access: ArrayAccess, loops: int) -> IndexingMap:
    """The map of an access from its outer loops alone; the others are ranges."""
    dims, ranges = access.map.dims, access.map.ranges
    return access.map.replace(dims=dims[:loops], ranges=(*dims[loops:], *ranges))


def _needed(write: ArrayAccess, *reads: ArrayAccess) -> Relation:
    """The elements that are read in the iterations which write one."""

    def needed(read: ArrayAccess) -> Relation:
        depth = min(len(write.loops), len(read.loops))
        return IndexRelation(_over(write, depth)).inverse().compose(_over(read, depth))

    return reduce(lambda one, other: one | other, map(needed, reads))


def _meeting(loop: str, *accesses: ArrayAccess) -> Relation:
    """Pairs of different iterations of a loop that meet in an element, where one writes it."""
    maps = [_over(each, each.loops.index(loop) + 1) for each in accesses]
    # Outer loops are results, too, so that only equal iterations of them meet.
    keyed = [
        IndexingMap.from_forms((*each.domain.by_role_as_forms[0][:-1], *each.forms), each.domain)
        for each in maps
    ]
    kinds = zip(accesses, keyed, strict=True)
    written = IndexRelation(*(each for access, each in kinds if access.kind == "write"))
    both = written.compose(IndexRelation(*keyed).inverse())
    return both.to_later() | both.to_earlier()
