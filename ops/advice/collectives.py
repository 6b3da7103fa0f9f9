"""Collectives: what devices send each other although less, or nothing, is used of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from indexing.layout import Kind, Shape
from ops.advice import waste
from ops.advice.waste import RECEIVED, Rule, Subject, Waste, bytes_of, leading_from
from ops.analysis.queries import output_to_input
from ops.dependence.dependence import AnyDependence
from ops.devices import groups_of
from ops.hlo import EditError, HloModule, Instruction, ModuleEditor, edit
from ops.hlo.opcodes import NEUTRAL, PASS_ELEMENTS
from ops.index_maps import index_map
from ops.performance.kernels import moves_something
from ops.performance.tally import at_most
from ops.rules.constant_folding import Element, value_of
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.registry import Registry
from ops.rules.rule import Unknown
from simplifier import forms


def used_in_part(subject: Subject) -> Iterator[Waste]:
    """Collectives of whose results each device uses only its own part, or something smaller."""
    for each in subject.running:
        is_known = each.opcode.removesuffix("-start") in _COMMUTE and len(each.operands) == 1
        if is_known and waste.received_by_device(each):
            yield from _found(subject, each)


def _found(subject: Subject, whole: Instruction) -> Iterator[Waste]:
    """What is found where fusions around a collective are gone, and so is its delay."""
    done = whole.users if whole.opcode.endswith("-start") else ()
    readers = [user for each in done or (whole,) for user in each.users]
    behind = dict.fromkeys([*readers, *(user for each in readers for user in each.users)])
    fusions = [each for each in behind if each.opcode == "fusion" and each.shape.is_array]
    if len(done) > 1:
        return
    editor, plain = edit(subject.module), whole
    for each in done:
        opcode = whole.opcode.removesuffix("-start")
        plain = editor.clone(whole, opcode=opcode, shape=each.shape, backend_config=None)
        editor.replace(each, plain)
        editor.remove(whole)
    inside = {each: {new.name for new in editor.inline(each)} for each in fusions}
    plainer = editor.finish()
    plain = plainer.computation(whole.computation.name)[plain.name]

    def fused_again(mended: Callable[[HloModule], HloModule], _: HloModule) -> HloModule:
        """A mended module in which what is left of fusions is in fusions again."""
        module = mended(plainer)
        editor = edit(module)
        for fusion, names in inside.items():
            instructions = module.computation(fusion.computation.name).instructions
            left = [each for each in instructions if each.name in names]
            if any(map(moves_something, left)):
                editor.outline(left, name=fusion.name, kind=fusion.attributes["kind"])
        return editor.finish()

    bare = subject.edited(plainer)
    found = [*_of_own_part(bare, plain)] or [*_of_something_smaller(bare, plain)]
    for each in (*found, *_of_something_larger(plain)):
        yield Waste(
            kind="collective",
            instruction=whole,
            why=each.why,
            mend=each.mend,
            measure=RECEIVED,
            expected=at_most(waste.received_by_device(whole)) * subject.runs_of(whole),
            edit=partial(fused_again, each.mended),
            price=each.price,
        )


class _Found(NamedTuple):
    """Why a collective is a waste, what mends it, the mended module, and the price."""

    why: str
    mend: str
    mended: Callable[[HloModule], HloModule]
    price: str = ""


# The own part.


def _of_own_part(subject: Subject, whole: Instruction) -> Iterator[_Found]:
    """A gathered array or a sum over devices, where each device goes on with its own part."""
    behind = leading_from([whole]) if whole.opcode in {"all-gather", "all-reduce"} else ()
    if slices := [each for each in behind if _own_dimension(whole, each) is not None]:
        of_sum = whole.opcode == "all-reduce"
        mend = "Scatter the sum" if of_sum else f"Compute it of %{whole.operands[0].name}"
        yield _Found(
            why=f"Each device has all of %{whole.name}, but {waste.names_of(slices)} is its own"
            " part alone.",
            mend=f"{mend}, so that each device computes its own part.",
            mended=waste.edited_by(
                on_own_part, whole=whole, slices=slices, registry=subject.registry
            ),
        )


def on_own_part(
    editor: ModuleEditor, *, whole: Instruction, slices: Sequence[Instruction], registry: Registry
) -> None:
    """Compute the own part of a device from its own part of a collective."""
    for own in slices:
        axis = _own_dimension(whole, own) or 0
        part = _Parts(editor, whole, registry, own.operands[1 + axis]).of(own.operands[0], axis)
        if part is not None:
            editor.replace(own, part)
    waste.remove_unread(editor, [whole])


def _own_dimension(whole: Instruction, own: Instruction) -> int | None:
    """The only dimension of which a slice takes the part of the device that runs it."""
    if own.opcode != "dynamic-slice" or own.operands[1].shape.rank:
        return None
    sizes, parts = own.operands[0].shape.dimensions, own.shape.dimensions
    axes = [axis for axis, size in enumerate(sizes) if size != parts[axis]]
    if len(axes) != 1:
        return None
    (axis,) = axes
    is_own = all(
        len(group) * parts[axis] == sizes[axis]
        and _value_on(own.operands[1 + axis], device) == place * parts[axis]
        for group in groups_of(whole)
        for place, device in enumerate(group)
    )
    return axis if is_own else None


def _value_on(scalar: Instruction, device: int) -> int | None:
    """The value of a scalar on a device, also one that stands in a table; ``None`` if unknown."""
    while scalar.opcode in _MOVES:
        scalar = scalar.operands[0]
    place = index_map((), ())
    if scalar.opcode == "dynamic-slice" and scalar.operands[0].shape.rank == 1:
        number = _value_on(scalar.operands[1], device)
        if number is None:
            return None
        scalar, place = scalar.operands[0], index_map([forms.constant(number)], ())
    found = value_of(scalar, Element(place, forms.constant(device)))
    return found.constant if found is not None and found.is_constant else None


@dataclass(eq=False)
class _Parts:
    """Parts of arrays: what an instruction gives of its result where a dimension is cut.

    Of what does not come from the collective a slice takes a part that begins at ``start``, the own
    place of the device, if there is one.
    """

    _editor: ModuleEditor
    _whole: Instruction
    _registry: Registry
    _start: Instruction | None = None

    def __post_init__(self) -> None:
        self._behind = {self._whole, *leading_from([self._whole])}
        self._size = len(groups_of(self._whole)[0])
        self._known: dict[tuple[Instruction, int], Instruction | None] = {}

    def of(self, each: Instruction, axis: int) -> Instruction | None:
        """The part of an array; ``None`` if nobody can compute it alone."""
        key = each, axis
        if key not in self._known:
            self._known[key] = self._computed(each, axis) or self._cut(each, axis)
        return self._known[key]

    def gathered(self, last: Instruction) -> Instruction | None:
        """A result that each device computes of its own part, gathered or summed up."""
        whole, clone = self._whole, self._editor.clone
        for axis in range(last.shape.rank):
            if part := self.of(last, axis):
                return clone(whole, operands=[part], shape=last.shape, dimensions=(axis,))
        for axis in last.attributes["dimensions"] if _may_be_split(last) else ():
            if part := self.of(last.operands[0], axis):
                sums = clone(last, operands=[part, last.operands[1]])
                given = {"opcode": "all-reduce", "to_apply": last.attributes["to_apply"]}
                return clone(whole, operands=[sums], shape=last.shape, **given)
        return None

    def _computed(self, each: Instruction, axis: int) -> Instruction | None:
        """The part, computed of parts of operands as the array is computed of them."""
        shape = _with_size(each.shape, axis, each.shape.dimensions[axis] // self._size)
        if each is self._whole:
            return self._of_collective(axis, shape)
        axes = _operand_axes(each, axis, self._registry)
        pairs = zip(each.operands, axes, strict=True) if axes else ()
        parts = [self._alone(one) if at is None else self.of(one, at) for one, at in pairs]
        operands = [part for part in parts if part is not None]
        if axes and len(operands) == len(axes):
            with suppress(EditError):  # an operation that takes no such part
                changes = _part_of_sizes(each, axis, shape)
                return self._editor.clone(each, operands=operands, shape=shape, **changes)
        return None

    def _alone(self, operand: Instruction) -> Instruction | None:
        """An operand that is needed as it is, if this device has it alone.

        What is computed for another device has to be the same there.
        """
        is_known = self._start is not None or _is_same_everywhere(operand)
        return operand if is_known and operand not in self._behind else None

    def _of_collective(self, axis: int, shape: Shape) -> Instruction | None:
        whole = self._whole
        if whole.opcode == "all-reduce":
            changes: dict[str, Any] = {"opcode": "reduce-scatter", "dimensions": (axis,)}
            return self._editor.clone(whole, shape=shape, **changes)
        return whole.operands[0] if whole.attributes["dimensions"] == (axis,) else None

    def _cut(self, each: Instruction, axis: int) -> Instruction | None:
        """The part as the slice takes it."""
        start = self._start
        if start is None or each is self._whole:
            return None
        zero = self._editor.constant(0, start.shape, into=each.computation)
        starts = [start if at == axis else zero for at in range(each.shape.rank)]
        sizes = _with_size(each.shape, axis, each.shape.dimensions[axis] // self._size).dimensions
        return self._editor.insert("dynamic-slice", [each, *starts], dynamic_slice_sizes=sizes)


def _operand_axes(each: Instruction, axis: int, registry: Registry) -> Sequence[int | None]:
    """For each operand, the dimension that a dimension of the result comes from, if any.

    None at all if places along the dimension need others, or if it is not known.
    """
    are_arrays = all(one.shape.is_array for one in (each, *each.operands))
    if not each.operands or not are_arrays or each.opcode in _COMMUTE:
        return ()
    found: list[int | None] = []
    dependences = output_to_input(each, registry=registry).indexing
    for operand, dependence in zip(each.operands, dependences, strict=True):
        at, *others = {*_axes_in(dependence, axis)} or {None}
        length = None if at is None else operand.shape.dimensions[at]
        if others or at == _SEVERAL or length not in (None, each.shape.dimensions[axis]):
            return ()
        found.append(at)
    return found


def _is_same_everywhere(instruction: Instruction) -> bool:
    """Whether all devices compute the same, as it comes from constants alone."""
    if not instruction.operands:
        return instruction.opcode in {"constant", "iota"}
    is_plain = instruction.opcode in ELEMENTWISE | PASS_ELEMENTS
    return is_plain and all(map(_is_same_everywhere, instruction.operands))


def _axes_in(dependence: AnyDependence, axis: int) -> Iterator[int | None]:
    """The dimension of an operand that is one of the result, by each map; none if all is needed."""
    if isinstance(dependence, Unknown):
        yield _SEVERAL
    for way in dependence.indexings:
        domain = way.map.domain
        name = domain.by_role(domain.identifiers)[0][axis]
        places = [at for at, form in enumerate(way.map.forms) if name in forms.variables_of([form])]
        is_limited = name in forms.variables_of(form for form, _ in domain.constraints)
        is_same = all(way.map.forms[at] == forms.variable(name) for at in places)
        is_apart = not is_limited and way.replica_id is None and not way.approximation
        at, *others = places or [None]
        yield at if is_same and is_apart and not others else _SEVERAL


_SEVERAL: Final = -1
"""In the place of a dimension, if places along one need those along others."""


def _part_of_sizes(each: Instruction, axis: int, part: Shape) -> Mapping[str, Any]:
    """The attributes that hold the sizes of a result, for a part of it."""
    if each.opcode == "slice":
        limits = each.attributes["slice"]
        return {"slice": (*limits[:axis], (0, part.dimensions[axis], 1), *limits[axis + 1 :])}
    return {"dynamic_slice_sizes": part.dimensions} if each.opcode == "dynamic-slice" else {}


def _with_size(shape: Shape, axis: int, size: int) -> Shape:
    sizes = shape.dimensions
    return replace(shape, dimensions=(*sizes[:axis], size, *sizes[axis + 1 :]))


# Something smaller.


def _of_something_smaller(subject: Subject, whole: Instruction) -> Iterator[_Found]:
    """A collective of which only something smaller is used, that each device can compute alone."""
    steps, size = [*_only_users(whole)], bytes_of(whole)
    for last in sorted((each for each in steps if bytes_of(each) < size), key=bytes_of):
        editor = edit(subject.module)
        new = narrowed_first(editor, whole, steps[: steps.index(last) + 1], subject.registry)
        if new is not None:
            break
    else:
        return
    edited, is_split = editor.finish(), new.opcode != whole.opcode and _rounds(last)

    def mended(_: HloModule) -> HloModule:
        return edited

    yield _Found(
        why=f"%{whole.name} brings {size:,} bytes to each device, of which only %{last.name} is"
        f" used, {bytes_of(last):,} bytes.",
        mend=f"Compute %{last.name} before the {whole.opcode}.",
        mended=mended,
        price="Parts are summed up first, which rounds otherwise." if is_split else "",
    )


def _rounds(reduction: Instruction) -> bool:
    combiner = reduction.attributes["to_apply"].root
    return combiner.opcode not in _SAME_TWICE and combiner.shape.element_type.kind is Kind.FLOAT


def narrowed_first(
    editor: ModuleEditor, whole: Instruction, steps: Sequence[Instruction], registry: Registry
) -> Instruction | None:
    """Let devices compute alone what they then send: the collective of that, if they can."""
    first, last = steps[0], steps[-1]
    for alike in editor.users(whole):
        editor.replace(alike, first)
    if whole.opcode == "all-gather":
        new = _Parts(editor, whole, registry).gathered(last)
    else:
        new = _computed_before(editor, whole, steps)
    if new:
        editor.replace(last, new)
        waste.remove_unread(editor, [whole])
    return new


def _may_be_split(reduction: Instruction) -> bool:
    """Whether an array is reduced to what its parts are reduced to, reduced again."""
    if reduction.opcode != "reduce" or not reduction.shape.is_array:
        return False
    combiner, start = reduction.attributes["to_apply"].root, reduction.operands[1].literal
    is_plain = all(each.parameter_number is not None for each in combiner.operands)
    is_neutral = start is not None and start.values == (NEUTRAL.get(combiner.opcode),)
    return is_plain and (is_neutral or combiner.opcode in _SAME_TWICE)


_SAME_TWICE: Final = ("and", "maximum", "minimum", "or")


def _computed_before(
    editor: ModuleEditor, whole: Instruction, steps: Sequence[Instruction]
) -> Instruction | None:
    """A collective of what follows it; ``None`` if it does not commute with that."""
    (part,), opcodes = whole.operands, _COMMUTE[whole.opcode]
    if not all(each.opcode in opcodes and len(each.operands) == 1 for each in steps):
        return None
    for each in steps:
        part = editor.clone(each, operands=[part])
    return editor.clone(whole, operands=[part], shape=steps[-1].shape)


def _only_users(whole: Instruction) -> Iterator[Instruction]:
    """What is computed of an array one after the other, as long as nothing else reads it."""
    users = whole.users
    while users and not whole.is_root:
        is_narrowed = all(
            each.opcode == "convert" and each.shape == users[0].shape for each in users
        )
        is_one = len(users) == 1
        whole = users[0]
        if not whole.shape.is_array or whole.opcode in _COMMUTE or not (is_one or is_narrowed):
            return
        yield whole
        users = whole.users if is_one else ()


# Something larger than what it is computed from.


def _of_something_larger(whole: Instruction) -> Iterator[_Found]:
    """A collective of what is wider than its source, and says no more."""
    (wide,) = whole.operands
    if wide.opcode in _COMMUTE[whole.opcode] and len(wide.operands) == 1:
        (source,) = wide.operands
        if bytes_of(source) < bytes_of(wide):
            yield _Found(
                why=f"%{whole.name} sends %{wide.name}, {bytes_of(wide):,} bytes of a device, which"
                f" is computed of %{source.name}, {bytes_of(source):,} bytes.",
                mend=f"Let the {whole.opcode} take %{source.name}, and compute %{wide.name} of it.",
                mended=waste.edited_by(widened_later, whole=whole),
            )


def widened_later(editor: ModuleEditor, *, whole: Instruction) -> None:
    """Widen what devices get, not what they send; change nothing if this differs."""
    (wide,) = whole.operands
    (source,) = wide.operands
    shape = whole.shape.with_element_type(source.shape.element_type)
    changes: dict[str, Any] = {}
    if wide.opcode == "broadcast":
        shape = source.shape
        axes: tuple[int, ...] = wide.attributes["dimensions"]
        along: tuple[int, ...] = whole.attributes.get("dimensions", ())
        for axis in along:
            if axis not in axes:
                return
            changes = {"dimensions": (axes.index(axis),)}
            shape = _with_size(shape, axes.index(axis), whole.shape.dimensions[axis])
    narrow = editor.clone(whole, operands=[source], shape=shape, **changes)
    editor.replace(whole, editor.clone(wide, operands=[narrow], shape=whole.shape))


_MOVES: Final = frozenset(("bitcast", "copy", "reshape", "slice", "transpose"))
_COMMUTE: Final = {
    "all-gather": frozenset(("broadcast", "convert")),
    "all-reduce": _MOVES | {"broadcast"},
    "all-to-all": ELEMENTWISE | {"copy"},
    "collective-permute": _MOVES | {"broadcast", "convert"},
}
"""Collectives that are mended, and the opcodes of what may follow them as well as stand before.

Sums are rounded where they are added, and a device that nobody sends to has zeros.
"""

RULES: Final[tuple[Rule, ...]] = (used_in_part,)
