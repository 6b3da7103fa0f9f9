"""Collectives: what devices send each other although less, or nothing, is used of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from indexing.layout import Kind, Shape
from ops.advice.waste import (
    RECEIVED,
    Rule,
    Subject,
    Waste,
    at_most,
    bytes_of,
    leading_from,
    names_of,
    received_by_device,
    remove_unread,
)
from ops.analysis.queries import output_to_input
from ops.dependence.dependence import AnyDependence
from ops.devices import groups_of
from ops.hlo import EditError, HloModule, Instruction, ModuleEditor, edit
from ops.hlo.opcodes import PASS_ELEMENTS
from ops.index_maps import index_map
from ops.performance.kernels import moves_something
from ops.rules.constant_folding import value_of
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.registry import Registry
from ops.rules.rule import Unknown
from simplifier import forms


def used_in_part(subject: Subject) -> Iterator[Waste]:
    """Collectives of whose results each device uses only its own part, or something smaller."""
    for each in subject.running:
        is_one = each.opcode.removesuffix("-start") in _MENDED and len(each.operands) == 1
        if is_one and received_by_device(each):
            yield from [*_found(subject, each)] or _found_within(subject, each)


def _found(subject: Subject, whole: Instruction) -> Iterator[Waste]:
    if whole.opcode in _MENDED:
        yield from _of_own_part(subject, whole) or _of_something_smaller(subject, whole)
        yield from _of_something_larger(subject, whole)


# Behind fusions.


def _found_within(subject: Subject, whole: Instruction) -> Iterator[Waste]:
    """What is found where the fusions that read a collective are gone, and so is its delay."""
    done = whole.users if whole.opcode.endswith("-start") else ()
    readers = [user for each in done or (whole,) for user in each.users]
    behind = dict.fromkeys([*readers, *(user for each in readers for user in each.users)])
    fusions = [each for each in behind if each.opcode == "fusion" and each.shape.is_array]
    if not (fusions or done) or len(done) > 1:
        return
    editor, name = edit(subject.module), whole.name
    if done:
        opcode = whole.opcode.removesuffix("-start")
        plain = editor.clone(whole, opcode=opcode, shape=done[0].shape, backend_config=None)
        editor.replace(done[0], plain)
        editor.remove(whole)
        name = plain.name
    inside = [(each, {new.name for new in editor.inline(each)}) for each in fusions]
    plainer = editor.finish()
    computation = plainer.computation(whole.computation.name)
    for waste in _found(subject.edited(plainer), computation[name]):
        mended = partial(_fused_again, waste.edit, plainer, inside)
        yield replace(waste, instruction=whole, edit=mended)


def _fused_again(
    mended: Callable[[HloModule], HloModule],
    plainer: HloModule,
    inside: Sequence[tuple[Instruction, Collection[str]]],
    _: HloModule,
) -> HloModule:
    """A mended module in which what is left of fusions is in fusions again."""
    module = mended(plainer)
    editor = edit(module)
    for fusion, names in inside:
        instructions = module.computation(fusion.computation.name).instructions
        left = [each for each in instructions if each.name in names]
        if any(map(moves_something, left)):
            editor.outline(left, name=fusion.name, kind=fusion.attributes["kind"])
    return editor.finish()


# The own part.


def _of_own_part(subject: Subject, whole: Instruction) -> Sequence[Waste]:
    """A gathered array or a sum over devices, where each device goes on with its own part."""
    if whole.opcode not in _IN_PARTS:
        return ()
    slices = [each for each in leading_from([whole]) if _own_dimension(whole, each) is not None]
    if not slices:
        return ()
    names = names_of(slices)
    of_sum = whole.opcode == "all-reduce"
    mend = "Scatter the sum" if of_sum else f"Compute it of %{whole.operands[0].name}"
    return (
        _waste(
            subject,
            whole,
            why=f"Each device has all of %{whole.name}, but {names} is its own part alone.",
            mend=f"{mend}, so that each device computes its own part.",
            edit=partial(on_own_part, whole=whole, slices=slices, registry=subject.registry),
        ),
    )


def on_own_part(
    module: HloModule, *, whole: Instruction, slices: Sequence[Instruction], registry: Registry
) -> HloModule:
    """The module that computes the own part of a device from its own part of a collective."""
    editor = edit(module)
    for own in slices:
        parts = _Parts(editor, whole, registry, own)
        axis = _own_dimension(whole, own)
        new = parts.of(own.operands[0], axis or 0)
        if new is not None:
            editor.replace(own, new)
    remove_unread(editor, [whole])
    return editor.finish()


def _own_dimension(whole: Instruction, own: Instruction) -> int | None:
    """The only dimension of which a slice takes the part of the device that runs it."""
    if own.opcode != "dynamic-slice" or own.operands[1].shape.rank:
        return None
    sizes, parts = own.operands[0].shape.dimensions, own.shape.dimensions
    axes = [axis for axis, size in enumerate(sizes) if size != parts[axis]]
    if len(axes) != 1:
        return None
    (axis,), groups = axes, groups_of(whole)
    is_own = all(
        len(group) * parts[axis] == sizes[axis]
        and _value_on(own.operands[1 + axis], device) == place * parts[axis]
        for group in groups
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
    found = value_of(scalar, place, forms.constant(device))
    return found.constant if found is not None and found.is_constant else None


class _Parts:
    """Parts of arrays: what an instruction gives of its result where a dimension is cut.

    Of what does not come from the collective the ``own`` slice takes a part, if there is one.
    """

    def __init__(
        self,
        editor: ModuleEditor,
        whole: Instruction,
        registry: Registry,
        own: Instruction | None = None,
    ) -> None:
        self._editor = editor
        self._whole = whole
        self._registry = registry
        self._own = own
        self._behind = {whole, *leading_from([whole])}
        self._size = len(groups_of(whole)[0])
        self._known: dict[tuple[Instruction, int], Instruction | None] = {}

    def of(self, each: Instruction, axis: int) -> Instruction | None:
        """The part of an array; ``None`` if nobody can compute it alone."""
        key = each, axis
        if key not in self._known:
            self._known[key] = self._found(each, axis)
        return self._known[key]

    def _found(self, each: Instruction, axis: int) -> Instruction | None:
        if each is self._whole:
            return self._of_collective(axis)
        axes = _operand_axes(each, axis, self._registry)
        if axes is None:
            return self._cut(each, axis)
        pairs = zip(each.operands, axes, strict=True)
        parts = [self._whole_or_part(operand, at) for operand, at in pairs]
        operands = [part for part in parts if part is not None]
        if len(operands) < len(parts):
            return self._cut(each, axis)
        shape = _with_size(each.shape, axis, each.shape.dimensions[axis] // self._size)
        try:
            changes = _part_of_sizes(each, axis, shape.dimensions[axis])
            return self._editor.clone(each, operands=operands, shape=shape, **changes)
        except EditError:  # an operation that takes no such part
            return self._cut(each, axis)

    def _whole_or_part(self, operand: Instruction, axis: int | None) -> Instruction | None:
        """The part of an operand; all of it where it is needed, if this device has it alone.

        What is computed for another device has to be the same there.
        """
        if axis is not None:
            return self.of(operand, axis)
        is_known = operand not in self._behind and (self._own or _is_same_everywhere(operand))
        return operand if is_known else None

    def _of_collective(self, axis: int) -> Instruction | None:
        whole = self._whole
        if whole.opcode == "all-reduce":
            shape = _with_size(whole.shape, axis, whole.shape.dimensions[axis] // self._size)
            return self._editor.clone(
                whole, opcode="reduce-scatter", shape=shape, dimensions=(axis,)
            )
        return whole.operands[0] if whole.attributes["dimensions"] == (axis,) else None

    def _cut(self, each: Instruction, axis: int) -> Instruction | None:
        """The part as the slice takes it."""
        if self._own is None:
            return None
        ours = self._own.operands[1 + (_own_dimension(self._whole, self._own) or 0)]
        zero = self._editor.constant(0, ours.shape, into=each.computation)
        starts = [ours if at == axis else zero for at in range(each.shape.rank)]
        sizes = _with_size(each.shape, axis, each.shape.dimensions[axis] // self._size).dimensions
        return self._editor.insert("dynamic-slice", [each, *starts], dynamic_slice_sizes=sizes)


def _operand_axes(each: Instruction, axis: int, registry: Registry) -> Sequence[int | None] | None:
    """For each operand, the dimension that a dimension of the result comes from, if any.

    ``None`` if places along the dimension need others, or if it is not known.
    """
    are_arrays = all(one.shape.is_array for one in (each, *each.operands))
    if not each.operands or not are_arrays or each.opcode in _MENDED:
        return None
    found: list[int | None] = []
    for number, dependence in enumerate(output_to_input(each, registry=registry).indexing):
        at, sizes = _axis_in(dependence, axis), each.operands[number].shape.dimensions
        if at is not None and (at == _SEVERAL or sizes[at] != each.shape.dimensions[axis]):
            return None
        found.append(at)
    return found


def _is_same_everywhere(instruction: Instruction) -> bool:
    """Whether all devices compute the same, as it comes from constants alone."""
    if not instruction.operands:
        return instruction.opcode in {"constant", "iota"}
    is_plain = instruction.opcode in ELEMENTWISE | PASS_ELEMENTS
    return is_plain and all(map(_is_same_everywhere, instruction.operands))


def _axis_in(dependence: AnyDependence, axis: int) -> int | None:
    """The dimension of an operand that is one of the result; several, if places need others."""
    if isinstance(dependence, Unknown):
        return _SEVERAL
    found: set[int | None] = set()
    for way in dependence.indexings:
        domain = way.map.domain
        name = domain.by_role(domain.identifiers)[0][axis]
        places = [at for at, form in enumerate(way.map.forms) if name in forms.variables_of([form])]
        limited = name in forms.variables_of(form for form, _ in domain.constraints)
        is_same = [way.map.forms[at] for at in places] == [forms.variable(name)]
        is_apart = not limited and way.replica_id is None and not way.approximation
        found.add(places[0] if is_same else None if not places and is_apart else _SEVERAL)
        if not is_apart:
            return _SEVERAL
    return found.pop() if len(found) == 1 else None if not found else _SEVERAL


_SEVERAL: Final = -1


def _part_of_sizes(each: Instruction, axis: int, size: int) -> Mapping[str, Any]:
    """The attributes that hold the sizes of a result, for a part of it."""
    if each.opcode == "slice":
        limits = each.attributes["slice"]
        return {"slice": (*limits[:axis], (0, size, 1), *limits[axis + 1 :])}
    if each.opcode == "dynamic-slice":
        return {"dynamic_slice_sizes": _with_size(each.shape, axis, size).dimensions}
    return {}


def _with_size(shape: Shape, axis: int, size: int) -> Shape:
    sizes = shape.dimensions
    return replace(shape, dimensions=(*sizes[:axis], size, *sizes[axis + 1 :]))


# Something smaller.


def _of_something_smaller(subject: Subject, whole: Instruction) -> Iterator[Waste]:
    """A collective of which only something smaller is used, that each device can compute alone."""
    chain, size = [*_only_users(whole)], bytes_of(whole)
    smaller = [each for each in chain if bytes_of(each) < size]
    for last in sorted(smaller, key=bytes_of):
        steps = chain[: chain.index(last) + 1]
        mended = partial(narrowed_first, whole=whole, steps=steps, registry=subject.registry)
        module = mended(subject.module)
        if module is not subject.module:
            is_split = _reductions(module) > _reductions(subject.module) and _rounds(last)
            yield _waste(
                subject,
                whole,
                why=f"%{whole.name} brings {size:,} bytes to each device, of which only"
                f" %{last.name} is used, {bytes_of(last):,} bytes.",
                mend=f"Compute %{last.name} before the {whole.opcode}.",
                edit=mended,
                price="Parts are summed up first, which rounds otherwise." if is_split else "",
            )
            return


def _reductions(module: HloModule) -> int:
    return sum(each.opcode == "all-reduce" for each in module.instructions)


def _rounds(reduction: Instruction) -> bool:
    combiner = reduction.attributes["to_apply"].root
    return combiner.opcode not in _SAME_TWICE and combiner.shape.element_type.kind is Kind.FLOAT


def narrowed_first(
    module: HloModule, *, whole: Instruction, steps: Sequence[Instruction], registry: Registry
) -> HloModule:
    """The module in which devices compute alone what they then send; itself if they cannot."""
    editor, (first, *_, last) = edit(module), (steps[0], *steps)
    for alike in editor.users(whole):
        editor.replace(alike, first)
    if whole.opcode == "all-gather":
        new = _gathered_later(_Parts(editor, whole, registry), editor, whole, last)
    else:
        part = _computed_before(editor, whole, steps)
        new = part and editor.clone(whole, operands=[part], shape=last.shape)
    if new is None:
        return module
    editor.replace(last, new)
    remove_unread(editor, [whole])
    return editor.finish()


def _gathered_later(
    parts: _Parts, editor: ModuleEditor, whole: Instruction, last: Instruction
) -> Instruction | None:
    """A result that each device computes of its own part, gathered or summed up."""
    for axis in range(last.shape.rank):
        part = parts.of(last, axis)
        if part:
            return editor.clone(whole, operands=[part], shape=last.shape, dimensions=(axis,))
    if _may_be_split(last):
        for axis in last.attributes["dimensions"]:
            part = parts.of(last.operands[0], axis)
            if part:
                sums = editor.clone(last, operands=[part, last.operands[1]])
                given = {"opcode": "all-reduce", "to_apply": last.attributes["to_apply"]}
                return editor.clone(whole, operands=[sums], shape=last.shape, **given)
    return None


def _may_be_split(reduction: Instruction) -> bool:
    """Whether an array is reduced to what its parts are reduced to, reduced again."""
    if reduction.opcode != "reduce" or not reduction.shape.is_array:
        return False
    combiner, start = reduction.attributes["to_apply"].root, reduction.operands[1].literal
    neutral = _NEUTRAL.get(combiner.opcode)
    is_plain = all(each.parameter_number is not None for each in combiner.operands)
    known = start is not None and str(start.text) in (neutral or ())
    return is_plain and (known or combiner.opcode in _SAME_TWICE)


_NEUTRAL: Final = {"add": ("0", "0.0"), "multiply": ("1", "1.0")}
_SAME_TWICE: Final = ("and", "maximum", "minimum", "or")


def _computed_before(
    editor: ModuleEditor, whole: Instruction, steps: Sequence[Instruction]
) -> Instruction | None:
    """What follows a collective of its operand; ``None`` if it does not commute with it."""
    part = whole.operands[0]
    for step in steps:
        if step.opcode not in _COMMUTE[whole.opcode] or len(step.operands) > 1:
            return None
        part = editor.clone(step, operands=[part])
    return part


def _only_users(whole: Instruction) -> Iterator[Instruction]:
    """What is computed of an array one after the other, as long as nothing else reads it."""
    while not whole.is_root:
        users = whole.users
        is_narrowed = all(
            each.opcode == "convert" and each.shape == users[0].shape for each in users
        )
        if not users or not users[0].shape.is_array or not (is_narrowed or len(users) == 1):
            return
        whole = users[0]
        if whole.opcode in _MENDED:
            return
        yield whole
        if len(users) > 1:
            return


# Something larger than what it is computed from.


def _of_something_larger(subject: Subject, whole: Instruction) -> Iterator[Waste]:
    """A collective of what is wider than its source, and says no more."""
    (wide,) = whole.operands
    if wide.opcode in _WIDEN[whole.opcode]:
        (source,) = wide.operands
        size, least = bytes_of(wide), bytes_of(source)
        if least < size:
            yield _waste(
                subject,
                whole,
                why=f"%{whole.name} sends %{wide.name}, {size:,} bytes of a device, which"
                f" is computed of %{source.name}, {least:,} bytes.",
                mend=f"Let the {whole.opcode} take %{source.name}, and compute %{wide.name} of it.",
                edit=partial(widened_later, whole=whole),
            )


def widened_later(module: HloModule, *, whole: Instruction) -> HloModule:
    """The module that widens what devices get, not what they send; itself if this differs."""
    editor, (wide,) = edit(module), whole.operands
    (source,) = wide.operands
    shape = source.shape
    changes: dict[str, Any] = {}
    if whole.opcode == "all-gather":
        axes: tuple[int, ...] = wide.attributes.get("dimensions", tuple(range(shape.rank)))
        axis = int(whole.attributes["dimensions"][0])
        if axis not in axes:
            return module
        shape = _with_size(shape, axes.index(axis), whole.shape.dimensions[axis])
        changes = {"dimensions": (axes.index(axis),)}
    elif wide.opcode == "convert":
        shape = whole.shape.with_element_type(shape.element_type)
    narrow = editor.clone(whole, operands=[source], shape=shape, **changes)
    editor.replace(whole, editor.clone(wide, operands=[narrow], shape=whole.shape))
    return editor.finish()


# Both.


def _waste(
    subject: Subject,
    whole: Instruction,
    why: str,
    mend: str,
    edit: Callable[[HloModule], HloModule],
    price: str = "",
) -> Waste:
    return Waste(
        kind="collective",
        instruction=whole,
        why=why,
        mend=mend,
        measure=RECEIVED,
        expected=at_most(received_by_device(whole)) * subject.runs_of(whole),
        edit=edit,
        price=price,
    )


_IN_PARTS: Final = ("all-gather", "all-reduce")
_MENDED: Final = (*_IN_PARTS, "all-to-all", "collective-permute")
_MOVES: Final = frozenset(("bitcast", "copy", "reshape", "slice", "transpose"))
_COMMUTE: Final = {
    "all-reduce": _MOVES,
    "all-to-all": ELEMENTWISE | {"copy"},
    "collective-permute": _MOVES | {"convert"},
}
"""What commutes with a collective, if it has one operand.

Sums are rounded where they are added, and a device that nobody sends to has zeros.
"""

_WIDEN: Final = {
    "all-gather": ("broadcast", "convert"),
    "all-reduce": ("broadcast",),
    "all-to-all": ("convert",),
    "collective-permute": ("broadcast", "convert"),
}
"""What may follow a collective as well as stand before it."""

RULES: Final[tuple[Rule, ...]] = (used_in_part,)
