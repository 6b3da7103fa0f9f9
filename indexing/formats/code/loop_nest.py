"""A loop nest while it is written: blocks in blocks, each with what is known in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.formats.code.coder import Coder, Ranges, alone, is_narrow, is_usable
from indexing.formats.code.language import NARROW, WIDE
from indexing.formats.code.loop_bounds import plain_steps, steps_of
from indexing.simplify import scope_with_facts
from indexing.variable import Variable
from simplifier import Interval
from simplifier.expr.form import Form, variable, variables_of
from simplifier.fixpoint import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.domain import Constraint
    from indexing.formats.code.language import Language
    from indexing.formats.code.loop_bounds import CounterSteps


class LocalNames:
    """The names of one function, each given once."""

    def __init__(self, language: Language, taken: Iterable[str] = ()) -> None:
        self.language = language
        self.taken = {*language.reserved, *taken}

    def fresh(self, wish: str) -> str:
        """The wished name, made one of the language, with a number where it is taken."""
        base = "".join(letter if letter.isalnum() else "_" for letter in wish)
        base = base if is_usable(base, self.language.reserved) else f"v_{base}"
        name, number = base, 1
        while name in self.taken or not is_usable(name, self.language.reserved):
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


@dataclass(eq=False)
class LoopBlock:
    """Lines in one loop or condition, the variables of all loops around them, and known facts."""

    names: LocalNames
    variables: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    parent: LoopBlock | None = None
    is_guarded: bool = False
    """Whether a condition is around the block, so that nothing may move out of it."""
    steps: CounterSteps | None = None
    """Of the loop that the block is in, where they are not the bounds of its variable."""
    lines: list[str] = field(default_factory=list[str])
    values: dict[object, str] = field(default_factory=dict[object, str])
    """The names of what is computed in the block."""

    def __post_init__(self) -> None:
        self.language = self.names.language
        self.domain = Domain.of(self.variables).constrained(self.constraints)
        self._ranges = Ranges(self.domain)

    # Blocks inside.

    def loop(
        self, bounds: Interval, wish: str, facts: Iterable[Constraint] = ()
    ) -> tuple[LoopBlock, Form]:
        """A block inside a loop, and the variable of the loop.

        The loop goes where ``facts`` hold, which :func:`~.loop_bounds.solving` has found. They end
        a loop that has no upper bound.
        """
        form = variable(f"d{len(self.variables)}")
        facts = tuple(facts)
        steps = steps_of(f"d{len(self.variables)}", bounds, facts) if facts else None
        if bounds.upper is None and steps is not None:
            bounds = Interval(bounds.lower, self.range_of(steps.last).upper)
        counter = Variable(bounds, self.names.fresh(wish))
        constraints = (*self.constraints, *facts)
        inner = LoopBlock(self.names, (*self.variables, counter), constraints, self, steps=steps)
        return inner, form

    def guarded(self, constraints: Iterable[Constraint]) -> LoopBlock:
        """A block inside a condition."""
        facts = (*self.constraints, *constraints)
        return LoopBlock(self.names, self.variables, facts, self, is_guarded=True)

    # What is known.

    def learn(self, facts: Iterable[Constraint]) -> None:
        """Takes constraints that hold in the block, and in those that are made inside from now."""
        if more := tuple(facts):
            self.constraints += more
            self.domain = self.domain.constrained(more)
            self._ranges = Ranges(self.domain)

    def range_of(self, form: Form) -> Interval:
        """An interval with all values of a form, as far as it is quickly known."""
        return self._ranges.of(form)

    def simplified(self, form: Form) -> Form:
        """The form as short as what is known here allows."""
        if self.domain.is_known_empty:
            return form
        return simplified(scope_with_facts(self.domain), form)

    def holds(self, constraint: Constraint) -> bool:
        """Whether a constraint is met everywhere in the block."""
        form, interval = constraint
        return interval.contains(self._ranges.of(form))

    def fails(self, constraint: Constraint) -> bool:
        """Whether a constraint is met nowhere in the block."""
        form, interval = constraint
        return interval.intersect(self._ranges.of(form)).is_empty

    def left_to_ask(self, constraint: Constraint) -> Interval:
        """The interval of a constraint, without an end that is met everywhere in the block."""
        return self._ranges.left_to_ask(constraint)

    def knows(self, forms: Iterable[Form]) -> bool:
        """Whether forms have only variables of the loops around the block."""
        return self._known.issuperset(variables_of(forms))

    @property
    def _known(self) -> set[str]:
        return {f"d{position}" for position in range(len(self.variables))}

    def home_of(self, index: Sequence[Form]) -> LoopBlock:
        """The outermost block where an index is known: what it reads does not change inside."""
        block = self
        while block.parent is not None and not block.is_guarded and block.parent.knows(index):
            block = block.parent
        return block

    def find(self, key: object) -> str | None:
        """The name of what is computed in this block or around it."""
        block: LoopBlock | None = self
        while block is not None:
            if key in block.values:
                return block.values[key]
            block = block.parent
        return None

    # Texts.

    def texts(self, wanted: Sequence[Form]) -> tuple[str, ...]:
        """The texts of forms, after the lines that they need."""
        return self.texts_and_bits(wanted)[0]

    def texts_and_bits(self, wanted: Sequence[Form]) -> tuple[tuple[str, ...], list[int]]:
        """The texts of forms, after the lines that they need, and the bits of each."""
        coder = Coder(self.domain, self.language, taken=self.names.taken)
        found = coder.write_all(wanted)
        self.lines += coder.lines
        self.names.taken |= coder.given
        return found, [coder.bits_of(form) for form in wanted]

    def type_of(self, bounds: Interval) -> str:
        """The type of a loop's variable; the end of the loop has to fit, too."""
        is_small = is_narrow(bounds) and is_narrow(bounds + 1)
        return self.language.integer.get(NARROW if is_small else WIDE, "")

    # Ends.

    def close_loop(self, inner: LoopBlock, pragma: str = "") -> None:
        """Adds the loop over a block's last variable, with the lines of the block in it.

        A ``pragma`` for the compiler stands right in front of the loop.
        """
        counter = inner.variables[-1]
        steps = inner.steps or plain_steps(counter.bounds)
        first, stop = self.ends_of(inner)
        step, values = steps.step, counter.bounds
        for each in (steps.first, steps.last):
            values = values.union(self._ranges.of(each))
        kind = self.type_of(values.union(values + (step - 1)))
        if self.language.has_typed_numbers and kind == self.language.integer[WIDE]:
            first, stop = (self.language.cast.format(end, type=kind) for end in (first, stop))
        span = f"{first}, {stop}" if first != "0" or step > 1 else stop
        head = self.language.loop.format(
            type=kind,
            name=counter.name,
            first=first,
            stop=stop,
            next=f"++{counter.name}" if step == 1 else f"{counter.name} += {step}",
            span=span if step == 1 else f"{span}, {step}",
        )
        self.lines += [pragma, head] if pragma else [head]
        self._close(inner)

    def ends_of(self, inner: LoopBlock) -> tuple[str, str]:
        """The texts of the first value of a loop's counter, and of that behind the last."""
        name, steps = inner.variables[-1].name, inner.steps
        if steps is None:
            steps = plain_steps(inner.variables[-1].bounds)
        forms = self.simplified(steps.first), self.simplified(steps.last + 1)
        texts, bits = self.texts_and_bits(forms)
        first, stop = map(alone, texts)
        if forms[1].is_constant or stop.isidentifier():
            return first, stop
        end = self.names.fresh(f"{name}_stop")
        kind = self.language.integer.get(bits[1], "")
        self.lines.append(self.language.statement.format(type=kind, name=end, value=stop))
        return first, end

    def close_guard(self, inner: LoopBlock, condition: str) -> None:
        """Adds a condition with the lines of a block in it."""
        self.lines.append(self.language.condition.format(condition))
        self._close(inner)

    def _close(self, inner: LoopBlock) -> None:
        indent, ends = self.language.indent, self.language.ends
        self.lines += [*(f"{indent}{line}" for line in inner.lines), *([ends] if ends else [])]
