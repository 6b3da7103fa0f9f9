"""Changing a module: :func:`edit` gives an editor, which makes the changed module at the end.

The module stays as it is. Its instructions name the parts to change, also after other changes: a
replaced instruction stands for its replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from indexing.layout import Shape
from ops.hlo import builder
from ops.hlo.builder import CONTROL, ModuleDraft, UnusedNames
from ops.hlo.errors import EditError
from ops.hlo.module import MODULE, Computation, HloModule, Instruction, detached, parameter
from ops.hlo.opcodes import CALLEE_ATTRIBUTES, OPCODES, check_opcode
from simplifier.errors import check_type, quoted

_ABOUT_THE_PROGRAM: Final = ("sharding", "frontend_attributes", "metadata")
"""Attributes that a new instruction takes over from one that it is like."""


def edit(module: HloModule) -> ModuleEditor:
    """An editor that makes a changed module.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   a = f32[2,3] parameter(0)
    ...   b = f32[3,2] transpose(a), dimensions={1,0}
    ...   c = f32[2,3]{1,0} transpose(b), dimensions={1,0}
    ...   ROOT d = f32[2,3] negate(c)
    ... }''')
    >>> editor = hlo.edit(module)
    >>> editor.replace(module["c"], module["a"])
    >>> print(editor.finish().entry)
    ENTRY %e (a: f32[2,3]) -> f32[2,3] {
      %a = f32[2,3]{1,0} parameter(0)
      ROOT %d = f32[2,3]{1,0} negate(%a)
    }
    """
    check_type(module, HloModule, "edit: the module", MODULE)
    return ModuleEditor(module)


class ModuleEditor:
    """Changes of a module; :meth:`finish` makes the changed one.

    A change takes time for the uses that it changes, not for the module. Changes of a computation
    that several instructions call hold for all of them.
    """

    __slots__ = ("_draft", "_effects", "_is_changed", "_module", "_names", "_stands_for")

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._draft = ModuleDraft(module)
        self._stands_for: dict[Instruction, Instruction] = {}
        self._names = UnusedNames(each.name for each in module.computations)
        self._effects = SideEffects()
        self._is_changed = False
        for each in module.computations:
            self._effects.note(each, each.instructions)

    def __repr__(self) -> str:
        return f"<ModuleEditor of {self._module!r}>"

    # The current state.

    def users(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The instructions that read one by now, each once."""
        return self._draft.users(self._found(instruction))

    def operands(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Current operands of an instruction."""
        return tuple(self._draft.operands[self._found(instruction)])

    def root(self, computation: Computation | None = None) -> Instruction:
        """The result of a computation by now; without one, of the entry."""
        return self._draft.roots[self._home(computation)]

    def instructions(self, computation: Computation | None = None) -> tuple[Instruction, ...]:
        """The instructions of a computation by now, in an order in which they can run."""
        return tuple(self._draft.ordered(self._home(computation)))

    # Replace and remove.

    def replace(self, old: Instruction, new: Instruction) -> None:
        """Put an instruction in the place of another one, which goes with those only it read.

        A parameter stays, unused.

        Raises:
            EditError: the shapes differ, or the new one reads the old one.
        """
        old, new = self._pair(old, new)
        if old is new:
            return
        if old in self._draft.operands[new]:
            hint = "replace_uses keeps both"
            raise EditError(f"replace: %{new.name} reads %{old.name}, which would go; {hint}")
        self._put(old, new, self._draft.users(old))
        if old.opcode != "parameter":
            self._stands_for[old] = new
            self._sweep(self._draft.discard(old), kept=new)

    def replace_uses(
        self, old: Instruction, new: Instruction, users: Iterable[Instruction] | None = None
    ) -> None:
        """Let users of an instruction, or all but ``new``, read another one; both stay.

        Without ``users`` the new one also becomes the result in place of the old one.

        Raises:
            EditError: the shapes differ.
        """
        old, new = self._pair(old, new)
        readers = self._draft.users(old)
        if users is not None:
            chosen = self._all_found(users)
            self._move_uses(old, new, [each for each in chosen if each in readers])
        else:
            self._put(old, new, [each for each in readers if each is not new])

    def remove(self, instruction: Instruction) -> None:
        """Take out an instruction that nothing reads, and those that only it read.

        Raises:
            EditError: something reads it, it is the result, or a parameter.
        """
        found = self._found(instruction)
        readers = ", ".join(f"%{each.name}" for each in self._draft.users(found)[:3])
        reason = (
            (readers and f"{readers} read it")
            or (self._draft.is_result(found) and "it is the result")
            or (found.opcode == "parameter" and "it is a parameter")
        )
        if reason:
            raise EditError(f"remove: %{found.name} is needed: {reason}")
        self._is_changed = True
        self._sweep(self._draft.discard(found))

    def remove_dead_code(self) -> None:
        """Take out all that nothing needs, and that does nothing but give a result."""
        draft = self._draft
        for computation in self._reached():
            self._sweep([each for each in draft.members[computation] if not draft.is_used(each)])

    # New instructions.

    def insert(
        self,
        opcode: str,
        operands: Sequence[Instruction] = (),
        shape: Shape | str | None = None,
        *,
        name: str = "",
        like: Instruction | None = None,
        into: Computation | None = None,
        **attributes: Any,  # noqa: ANN401 - one type for each attribute
    ) -> Instruction:
        """A new instruction, which stands before its first user.

        The shape may be left out where it follows. Attributes are values or their text in HLO. The
        new one takes sharding, metadata and frontend attributes from one that it is ``like``. It
        stands in the computation of its operands; one without any, ``into`` another than the entry.

        Raises:
            EditError: opcode, operands, attributes and shape do not fit together.

        >>> from ops import hlo
        >>> editor = hlo.edit(hlo.parse("ENTRY e { ROOT a = f32[2,3] parameter(0) }"))
        >>> editor.insert("transpose", [editor.root()], dimensions=(1, 0))
        <%transpose = f32[3,2]{0,1} transpose(%a), dimensions={1,0}>
        """
        reads = self._all_found(operands)
        home = self._draft.homes[reads[0]] if reads else self._home(into)
        if any(self._draft.homes[each] is not home for each in reads):
            raise EditError(f"insert: the operands of {opcode} stand in different computations")
        given = {key: attributes[key] for key in attributes if attributes[key] is not None}
        if like is not None:
            check_type(like, Instruction, "insert: like", "an Instruction")
            kept = {k: like.attributes[k] for k in _ABOUT_THE_PROGRAM if k in like.attributes}
            given = {**kept, **given}
        new = builder.made(opcode, reads, shape, given)
        new = new if like is None else builder.sharded_as(like, new, attributes)
        return self._added(home, new, name, opcode)

    def constant(
        self, value: object, shape: Shape | str, *, name: str = "", into: Computation | None = None
    ) -> Instruction:
        """A new constant, of a number, or of the text of a value in HLO.

        Raises:
            EditError: the value does not fit the shape.
        """
        home = self._home(into)
        new = builder.made("constant", (), shape, {}, value)
        return self._added(home, new, name, "constant")

    def clone(
        self,
        instruction: Instruction,
        *,
        opcode: str = "",
        operands: Sequence[Instruction] | None = None,
        shape: Shape | str | None = None,
        name: str = "",
        **attributes: Any,  # noqa: ANN401 - one type for each attribute
    ) -> Instruction:
        """A copy with changes, beside the original; ``None`` takes an attribute away.

        Raises:
            EditError: what is given does not fit together, or it is a parameter.
        """
        found = self._found(instruction)
        if found.opcode == "parameter":
            raise EditError(f"clone: %{found.name} is a parameter, of which there is one")
        reads = self._all_found(self._draft.operands[found] if operands is None else operands)
        wanted = opcode or found.opcode
        check_opcode(wanted, "clone")
        lost = {"backend_config", "origin"} if wanted != found.opcode else set[str]()
        known = OPCODES[wanted].codecs.keys() - lost
        kept = {key: value for key, value in found.attributes.items() if key in known}
        given = {key: value for key, value in {**kept, **attributes}.items() if value is not None}
        result = found.shape if shape is None else shape
        new = builder.made(wanted, reads, result, given, found.literal)
        new, home = builder.sharded_as(found, new, attributes), self._draft.homes[found]
        return self._added(home, new, name, found.name)

    # Calls.

    def inline(self, call: Instruction) -> tuple[Instruction, ...]:
        """Put the body of a call or fusion in its place; the new instructions.

        Raises:
            EditError: it calls nothing that could stand here.
        """
        draft, found = self._draft, self._found(call)
        if found.opcode not in CALLEE_ATTRIBUTES:
            raise EditError(f"inline: %{found.name} is {found.opcode}; expected call or fusion")
        body, home = found.attributes[CALLEE_ATTRIBUTES[found.opcode]], draft.homes[found]
        builder.check_inlined(found, body, draft)
        waits = draft.predecessors(found)
        copies: dict[Instruction, Instruction] = {}
        new: list[Instruction] = []
        for each in draft.ordered(body):
            if each.parameter_number is not None:
                copies[each] = draft.operands[found][each.parameter_number]
                continue
            reads = tuple(copies[operand] for operand in draft.operands[each])
            before = (*waits, *(copies[earlier] for earlier in draft.predecessors(each)))
            name = draft.names[home].like(each.name)
            copies[each] = builder.copy_of(each, name, reads, before)
            self._enter(home, copies[each])
            new.append(copies[each])
        root = copies[draft.roots[body]]
        self._put(found, root, draft.users(found))
        self._stands_for[found] = root
        self._sweep(draft.discard(found, tuple(new) or waits), kept=root)
        return tuple(each for each in new if each in draft.operands)

    def outline(
        self,
        instructions: Iterable[Instruction],
        opcode: str = "fusion",
        *,
        name: str = "",
        kind: str = "kLoop",
    ) -> Instruction:
        """Put instructions into a computation of their own; the fusion or call that runs it.

        Results that are read outside become elements of a tuple if there are several. Instructions
        that nobody reads are gone, unless they have side effects.

        Raises:
            EditError: they cannot stand in one computation of their own.
        """
        check_type(opcode, str, "outline: the opcode", "'fusion' or 'call'")
        if opcode not in CALLEE_ATTRIBUTES:
            raise EditError(f"outline: the opcode is {quoted(opcode)}; expected 'fusion' or 'call'")
        outline = Outline.around(self._draft, self._chosen(instructions, opcode), self._effects.of)
        attribute = CALLEE_ATTRIBUTES[opcode]
        stem = builder.checked_name(name) if name else f"{opcode}_computation"
        body = outline.body(self._names.like(stem))
        self._draft.include(body)
        self._effects.note(body, body.instructions)
        given: dict[str, Any] = {attribute: body, CONTROL: outline.waits or None}
        given |= {"kind": kind} if opcode == "fusion" else {}
        last = outline.results[-1]
        given |= {"like": last, "name": name, "into": self._draft.homes[last]}
        call = self.insert(opcode, outline.outside, body.root.shape, **given)
        self._lead_to(outline, call)
        return call

    # Loops.

    def carry(self, loop: Instruction, values: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """Let a loop carry more values, passed on as they are; the instructions that its body has.

        Raises:
            EditError: it is no loop, or others run its body or condition, too.

        >>> from ops import hlo
        >>> module = hlo.load("examples/running_sum.hlo")
        >>> editor = hlo.edit(module)
        >>> editor.carry(module["loop"], [module["no_sum"]])
        (<%no_sum = f32[4]{0} get-tuple-element(%state), index=4>,)
        """
        draft, found = self._draft, self._found(loop)
        parts = found.computations
        callers = [each for each in self._module.instructions if {*each.computations} & {*parts}]
        if found.opcode != "while" or len(callers) != 1:
            raise EditError(f"carry: %{found.name}: expected a while with a body of its own")
        first, added = len(found.shape.elements), [each.shape for each in values]
        shape = Shape.of_tuple([*found.shape.elements, *added])
        body: Computation = found.attributes["body"]
        self._widen(found.attributes["condition"].parameters[0], shape)
        state = self._widen(body.parameters[0], shape)
        inside = tuple(
            self._element(state, number, each.name) for number, each in enumerate(values, first)
        )
        root, (before,) = draft.roots[body], draft.operands[found]
        draft.roots[body] = self._longer(root, inside)
        self._sweep([root])
        self._widen(found, shape, self._longer(before, values))
        self._sweep([before])
        return inside

    def _widen(self, old: Instruction, shape: Shape, *operands: Instruction) -> Instruction:
        """A parameter or loop with more elements in its result; who read the old one reads them."""
        draft = self._draft
        kept = {key: value for key, value in old.attributes.items() if key != "sharding"}
        new = detached(old, attributes=kept, shape=shape, operands=operands)
        self._enter(draft.homes[old], new)
        readers = [each for each in draft.users(old) if each.opcode == "get-tuple-element"]
        draft.replace_uses(old, new, readers)
        if draft.is_used(old):
            same = self.insert("tuple", self._elements(new)[: len(old.shape.elements)], old.shape)
            draft.replace_uses(old, same, draft.users(old))
            draft.replace_result(old, same)
        draft.discard(old, (new,))
        return new

    def _longer(self, whole: Instruction, values: Sequence[Instruction]) -> Instruction:
        """A tuple with more elements behind those of another one."""
        elements = [*self._elements(whole), *values]
        shape = Shape.of_tuple(each.shape for each in elements)
        return self.insert("tuple", elements, shape, name=whole.name)

    def _elements(self, whole: Instruction) -> tuple[Instruction, ...]:
        """The elements of a tuple."""
        if whole.opcode == "tuple":
            return self.operands(whole)
        return tuple(self._element(whole, number) for number in range(len(whole.shape.elements)))

    def _element(self, whole: Instruction, number: int, name: str = "") -> Instruction:
        shape = whole.shape.elements[number]
        return self.insert("get-tuple-element", [whole], shape, index=number, name=name)

    # The end.

    def finish(self) -> HloModule:
        """The changed module, without computations that nothing calls any more.

        Without any change it is the module itself.

        Raises:
            EditError: some instructions need each other.
        """
        if not self._is_changed:
            return self._module
        changed: dict[Computation, Computation] = {}
        for each in self._reached():
            changed[each] = self._draft.built(each, changed)
        entry, computations = changed[self._module.entry], tuple(changed.values())
        return replace(self._module, computations=computations, entry=entry, source="", file="")

    # The steps of the methods above.

    def _reached(self) -> list[Computation]:
        """The computations that are there by now, callees first."""
        called = {part for each in self._module.instructions for part in each.computations}
        first = [each for each in self._module.computations if each not in called]
        reached = builder.ordered([*first, self._module.entry], self._callees)
        kept = filter(set(reached).__contains__, self._module.computations)
        return builder.ordered(kept, self._callees)

    def _callees(self, computation: Computation) -> Iterable[Computation]:
        return (part for each in self._draft.members[computation] for part in each.computations)

    def _home(self, computation: Computation | None) -> Computation:
        """A computation, or the entry."""
        home = computation or self._module.entry
        check_type(home, Computation, "edit: the computation", "a Computation")
        if home not in self._draft.roots:
            raise EditError(f"edit: computation %{home.name} is of another module")
        return home

    def _found(self, instruction: Instruction) -> Instruction:
        """The current instruction in the place of another."""
        check_type(instruction, Instruction, "edit: the instruction", "an Instruction")
        found, passed = instruction, list[Instruction]()
        while found in self._stands_for:
            passed.append(found)
            found = self._stands_for[found]
        for each in passed:
            self._stands_for[each] = found
        home = self._home(self._draft.homes.get(found) or found.computation)
        if found not in self._draft.operands:
            raise EditError(f"edit: %{found.name} was removed from %{home.name}")
        return found

    def _all_found(self, instructions: Iterable[Instruction]) -> list[Instruction]:
        check_type(instructions, Iterable, "edit: the list of instructions", "a list or tuple")
        return [self._found(each) for each in instructions]

    def _pair(self, old: Instruction, new: Instruction) -> tuple[Instruction, Instruction]:
        before, after = self._found(old), self._found(new)
        home, other = (self._draft.homes[each] for each in (before, after))
        if home is not other:
            places = f"%{home.name} and %{other.name}"
            raise EditError(f"replace: %{before.name} and %{after.name} stand in {places}")
        if not after.shape.is_compatible_with(before.shape):
            shapes = f"%{after.name} is {after.shape}, but %{before.name} is {before.shape}"
            raise EditError(f"replace: {shapes}; expected equal sizes and types")
        return before, after

    def _put(self, old: Instruction, new: Instruction, users: Sequence[Instruction]) -> None:
        """Let users read another instruction, which is the result if the old one was it."""
        self._move_uses(old, new, users)
        self._draft.replace_result(old, new)

    def _move_uses(self, old: Instruction, new: Instruction, users: Sequence[Instruction]) -> None:
        """Let users read another instruction; nothing is moved if one of them may not."""
        for each in users:
            builder.check_use("replace", each, old, new)
        self._is_changed = True
        self._draft.replace_uses(old, new, users)

    def _sweep(self, unused: Iterable[Instruction], kept: Instruction | None = None) -> None:
        """Take out instructions that nothing reads any more, and those that served only them."""
        draft, waiting = self._draft, [*unused]
        while waiting:
            each = waiting.pop()
            is_needed = each is kept or each not in draft.operands or draft.is_used(each)
            if not is_needed and each.opcode != "parameter" and not self._effects.of(each):
                self._is_changed = True
                waiting += draft.discard(each)

    def _added(
        self, home: Computation, instruction: Instruction, name: str, otherwise: str
    ) -> Instruction:
        waits = instruction.attributes.get(CONTROL, ())
        for each in waits:
            if self._draft.homes[self._found(each)] is not home:
                raise EditError(f"insert: %{each.name} stands in another computation")
        for each in instruction.computations:
            self._home(each)
        stem = builder.checked_name(name) if name else otherwise
        unused = self._draft.names[home].like(stem)
        named = builder.copy_of(instruction, unused, instruction.operands, waits)
        self._enter(home, named)
        return named

    def _enter(self, home: Computation, instruction: Instruction) -> None:
        self._is_changed = True
        self._draft.add(home, instruction)
        if self._effects.of(instruction) and home not in self._effects:
            for each in self._reached():
                self._effects.note(each, self._draft.members[each])

    def _chosen(self, instructions: Iterable[Instruction], opcode: str) -> list[Instruction]:
        """Instructions that may stand in a computation of their own."""
        chosen = self._all_found(instructions)
        if len({self._draft.homes[each] for each in chosen}) != 1:
            raise EditError("outline: expected instructions of one computation")
        for each in chosen:
            if each.opcode == "parameter":
                raise EditError(f"outline: %{each.name} is a parameter")
            if opcode == "fusion" and self._effects.of(each):
                raise EditError(f"outline: %{each.name} has side effects; expected opcode 'call'")
        builder.check_together(chosen, self._draft)
        return chosen

    def _lead_to(self, outline: Outline, call: Instruction) -> None:
        """Let the rest of the computation read the results of a call in place of its insides."""
        for number, each in enumerate(outline.results):
            new = call
            if len(outline.results) > 1:
                new = self.insert("get-tuple-element", [call], like=each, index=number)
            self._put(each, new, outline.readers(each))
            self._stands_for[each] = new
        for each in reversed([*outline.inside]):
            self._draft.discard(each, (call,))


# Instructions that move into a computation of their own: what they read, and who reads them.


class Outline(NamedTuple):
    """The instructions inside, each after its operands; their reads of the outside; and results.

    Results are the instructions that the outside reads, or the last one if it reads none. An
    instruction is ``copied`` if it leads to them or ``stays``. ``waits`` are the instructions
    outside that instructions inside wait for.
    """

    draft: ModuleDraft
    inside: Mapping[Instruction, None]
    copied: tuple[Instruction, ...]
    outside: tuple[Instruction, ...]
    results: tuple[Instruction, ...]
    waits: tuple[Instruction, ...]

    @classmethod
    def around(
        cls, draft: ModuleDraft, chosen: Iterable[Instruction], stays: Callable[[Instruction], bool]
    ) -> Outline:
        """The outline of some instructions of a computation."""
        wanted = dict.fromkeys(chosen)

        def needed(each: Instruction) -> Iterable[Instruction]:
            return filter(wanted.__contains__, draft.needs(each))

        inside = dict.fromkeys(builder.ordered(wanted, needed))
        read = [e for e in inside if draft.is_result(e) or {*draft.users(e)} - inside.keys()]
        results = tuple(read) or ([*inside][-1],)
        needed_inside = {*builder.ordered((*filter(stays, inside), *results), needed)}
        copied = tuple(filter(needed_inside.__contains__, inside))
        reads = (operand for each in copied for operand in draft.operands[each])
        earlier = (before for each in copied for before in draft.predecessors(each))
        outside, waits = (
            tuple(dict.fromkeys(each for each in others if each not in inside))
            for others in (reads, earlier)
        )
        return cls(draft, inside, copied, outside, results, waits)

    def readers(self, result: Instruction) -> tuple[Instruction, ...]:
        """The instructions outside that read a result."""
        return tuple(user for user in self.draft.users(result) if user not in self.inside)

    def body(self, name: str) -> Computation:
        """The computation of copies, with a parameter for each operand outside."""
        names, copies = UnusedNames(), dict[Instruction, Instruction]()
        for number, operand in enumerate(self.outside):
            copies[operand] = parameter(names.like(f"param_{number}"), operand.shape, number)
        for each in self.copied:
            reads = tuple(copies[operand] for operand in self.draft.operands[each])
            earlier = filter(self.inside.__contains__, self.draft.predecessors(each))
            waits = tuple(copies[before] for before in earlier)
            copies[each] = builder.copy_of(each, names.like(each.name), reads, waits)
        results = tuple(copies[each] for each in self.results)
        if len(results) == 1:
            return Computation(name, tuple(copies.values()), results[0])
        shape = Shape.of_tuple(each.shape for each in results)
        root = Instruction(names.like("tuple"), "tuple", shape, results)
        return Computation(name, (*copies.values(), root), root)


# Instructions that do more than to give a result, so that they stay though nothing reads them.

_OPCODES: Final = """
    all-gather-done all-gather-start all-reduce-done all-reduce-start collective-broadcast
    collective-permute-done collective-permute-start infeed outfeed recv recv-done rng
    rng-get-and-update-state send send-done
"""

_HAVE_EFFECTS: Final = frozenset(_OPCODES.split())

_FLAGS: Final = ("constrain_layout", "custom_call_has_side_effect")
"""Attributes that bind an instruction to the outside if they are true."""


class SideEffects(set[Computation]):
    """Computations with side effects, also by calls; callees are noted before their callers.

    Source: XLA's ``HasSideEffect``; what has a channel counts always.
    """

    __slots__ = ()

    def of(self, instruction: Instruction) -> bool:
        """Whether an instruction has side effects."""
        return (
            instruction.opcode in _HAVE_EFFECTS
            or "channel_id" in instruction.attributes
            or any(instruction.attributes.get(flag) for flag in _FLAGS)
            or not self.isdisjoint(instruction.computations)
        )

    def note(self, computation: Computation, instructions: Iterable[Instruction]) -> None:
        """Take in a computation, and its current instructions, for those who call it."""
        if any(map(self.of, instructions)):
            self.add(computation)
